--
-- Options of the wrapper's objects, and how a foreign table finds its columns
--
\getenv inputdir PG_ABS_SRCDIR
\set explain :inputdir '/test/sql/explain.sql'
\set ECHO none
\i :explain
\set ECHO all
\set VERBOSITY default
SET client_min_messages = warning;
SELECT hotblocks.create_dataset('opt', 'free');
SELECT hotblocks.create_dataset('optevm', 'evm', make_tables => false);

-- servers
CREATE SERVER bad FOREIGN DATA WRAPPER hotblocks;
CREATE SERVER bad FOREIGN DATA WRAPPER hotblocks OPTIONS (dataste 'opt');
CREATE SERVER bad FOREIGN DATA WRAPPER hotblocks OPTIONS (nothing_like_it 'opt');
CREATE SERVER bad FOREIGN DATA WRAPPER hotblocks OPTIONS (dataset '');
CREATE SERVER bad FOREIGN DATA WRAPPER hotblocks
	OPTIONS (dataset 'a123456789012345678901234567890123456789012345678901234567890123');
CREATE SERVER bad FOREIGN DATA WRAPPER hotblocks OPTIONS (dataset 'opt', "column" 'x');
ALTER SERVER opt OPTIONS (DROP dataset);
ALTER SERVER opt OPTIONS (ADD "table" 'x');
ALTER FOREIGN DATA WRAPPER hotblocks OPTIONS (ADD dataset 'x');
CREATE USER MAPPING FOR CURRENT_USER SERVER opt OPTIONS (user 'x');

-- a dataset is looked for when it is used
CREATE SERVER optnone FOREIGN DATA WRAPPER hotblocks OPTIONS (dataset 'none_such');
CREATE FOREIGN TABLE optnone (n bigint) SERVER optnone;
SELECT * FROM optnone;

-- tables
CREATE FOREIGN TABLE bad (n bigint) SERVER opt OPTIONS (tabel 't');
CREATE FOREIGN TABLE bad (n bigint) SERVER opt OPTIONS (blockcolumn 'n');
CREATE FOREIGN TABLE bad (n bigint) SERVER opt OPTIONS (dataset 'opt');
CREATE FOREIGN TABLE bad (n bigint) SERVER opt OPTIONS (sort_key '');
CREATE FOREIGN TABLE bad (n bigint) SERVER opt OPTIONS (sort_key 'n,');
CREATE FOREIGN TABLE bad (n bigint) SERVER opt OPTIONS (sort_key 'n,n');
CREATE FOREIGN TABLE bad (n bigint) SERVER opt OPTIONS (sort_key 'a,b,c,d,e,f,g,h,i');
CREATE FOREIGN TABLE bad (n bigint, i int) SERVER opt
	OPTIONS (block_column 'n', sort_key 'i,n');
CREATE FOREIGN TABLE bad (n bigint OPTIONS (columm 'x')) SERVER opt;
CREATE FOREIGN TABLE bad (n bigint OPTIONS ("column" '')) SERVER opt;

-- a table of the dataset that is not there
CREATE FOREIGN TABLE optlogs (block_number bigint) SERVER opt;
CREATE SERVER optevm FOREIGN DATA WRAPPER hotblocks OPTIONS (dataset 'optevm');
CREATE FOREIGN TABLE optlog (block_number bigint) SERVER optevm;
SELECT * FROM optlog;
ALTER FOREIGN TABLE optlog OPTIONS (ADD "table" 'logs');
SELECT * FROM optlog;
ALTER FOREIGN TABLE optlog OPTIONS (ADD block_column 'block_number');
SELECT * FROM optlog;
ALTER FOREIGN TABLE optlog OPTIONS (DROP block_column);
ALTER FOREIGN TABLE optlog ADD COLUMN adress bytea;
SELECT * FROM optlog;
ALTER FOREIGN TABLE optlog ALTER COLUMN adress OPTIONS (ADD "column" 'address');
SELECT * FROM optlog;
ALTER FOREIGN TABLE optlog ADD COLUMN address bytea;
SELECT * FROM optlog;
DROP FOREIGN TABLE optlog;

-- types are the stored ones; a wide bigint may be numeric
CREATE FOREIGN TABLE opttx (block_number bigint, gas_used numeric, value numeric)
	SERVER optevm OPTIONS ("table" 'transactions');
SELECT * FROM opttx;
ALTER FOREIGN TABLE opttx ALTER COLUMN gas_used TYPE int;
SELECT * FROM opttx;
ALTER FOREIGN TABLE opttx ALTER COLUMN gas_used TYPE numeric;
ALTER FOREIGN TABLE opttx ALTER COLUMN block_number TYPE int;
SELECT * FROM opttx;

-- the feed
CREATE FOREIGN TABLE optfeed (block json) SERVER optevm OPTIONS ("table" 'block_feed');
SELECT * FROM optfeed;
ALTER FOREIGN TABLE optfeed ALTER COLUMN block TYPE text;
SELECT * FROM optfeed;

-- kind free: the first write makes the table, what comes later reads NULL
CREATE FOREIGN TABLE opt.t (n bigint, i int, a text) SERVER opt
	OPTIONS (block_column 'n', sort_key 'n, i');
SELECT * FROM opt.t;
SELECT * FROM opt.t WHERE n = 1;
INSERT INTO opt.t VALUES (1, 1, 'a'), (2, 1, 'b');
SELECT * FROM opt.t WHERE n = 1;
ALTER FOREIGN TABLE opt.t ADD COLUMN b numeric;
SELECT * FROM opt.t;
SELECT * FROM opt.t WHERE b IS NULL AND n = 2;
INSERT INTO opt.t VALUES (3, 1, 'c', 1.50);
SELECT * FROM opt.t ORDER BY n;

-- a renamed column does not silently read NULL
ALTER FOREIGN TABLE opt.t RENAME COLUMN a TO "A";
SELECT * FROM opt.t;
INSERT INTO opt.t VALUES (4, 1, 'd', 2);
ALTER FOREIGN TABLE opt.t ALTER COLUMN "A" OPTIONS (ADD "column" 'a');
SELECT * FROM opt.t ORDER BY n;

-- dropped columns, system columns, whole rows
ALTER FOREIGN TABLE opt.t DROP COLUMN i;
SELECT t, t.tableoid::regclass FROM opt.t ORDER BY n LIMIT 1;
SELECT xmin FROM opt.t;

-- options that contradict what is stored
ALTER FOREIGN TABLE opt.t OPTIONS (SET sort_key 'n');
SELECT * FROM opt.t;
ALTER FOREIGN TABLE opt.t OPTIONS (DROP sort_key, DROP block_column);
SELECT count(*) FROM opt.t;
ALTER FOREIGN TABLE opt.t OPTIONS (ADD block_column 'x');
SELECT count(*) FROM opt.t;
ALTER FOREIGN TABLE opt.t OPTIONS (DROP block_column);

-- NOT NULL: stored where the first foreign table has it, until one lets nulls in
CREATE FOREIGN TABLE opt.nn (n bigint, a text NOT NULL) SERVER opt OPTIONS (block_column 'n');
INSERT INTO opt.nn VALUES (1, 'a');
CREATE FOREIGN TABLE nn (n bigint, a text) SERVER opt;
SELECT pg_temp.explain_analyze('SELECT count(*) FROM opt.nn');
INSERT INTO nn VALUES (2, NULL);
SELECT count(a) FROM nn;
SELECT count(*) FROM opt.nn;
DROP FOREIGN TABLE nn;

-- otherwise NOT NULL is checked as rows are read
ALTER FOREIGN TABLE opt.t ALTER COLUMN b SET NOT NULL;
SELECT n FROM opt.t WHERE n = 3;
SELECT n FROM opt.t WHERE n = 1;

DROP SERVER optnone CASCADE;
DROP SERVER optevm CASCADE;
SELECT hotblocks.drop_dataset('opt');
SELECT hotblocks.drop_dataset('optevm');
