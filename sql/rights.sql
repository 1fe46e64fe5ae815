--
-- A stranger who may make servers of his own, rights that come and go, and
-- what runs between the caller and the foreign table
--
SET client_min_messages = warning;
CREATE ROLE regress_hb_keeper;
CREATE ROLE regress_hb_stranger;
CREATE ROLE regress_hb_caller;
DO $$ BEGIN
	EXECUTE format('GRANT CREATE ON DATABASE %I TO regress_hb_keeper, regress_hb_stranger', current_database());
END $$;
GRANT USAGE ON FOREIGN DATA WRAPPER hotblocks TO regress_hb_keeper, regress_hb_stranger;

SET ROLE regress_hb_keeper;
SELECT hotblocks.create_dataset('secret', 'free');
CREATE FOREIGN TABLE secret.t (n bigint NOT NULL, v text) SERVER secret OPTIONS (block_column 'n');
INSERT INTO secret.t SELECT g, 'v' || g FROM generate_series(1, 1000) g;
SELECT hotblocks.create_dataset('chain', 'evm');
SELECT hotblocks.create_dataset('other', 'free');
CREATE FOREIGN TABLE other.t (n bigint NOT NULL, v text) SERVER other OPTIONS (block_column 'n');
INSERT INTO other.t VALUES (7, 'other');
RESET ROLE;

--
-- The stranger: whatever he declares, he is told no more than that
--
SET ROLE regress_hb_stranger;
CREATE SCHEMA stranger;
CREATE SERVER stranger FOREIGN DATA WRAPPER hotblocks OPTIONS (dataset 'secret');
CREATE SERVER stranger_chain FOREIGN DATA WRAPPER hotblocks OPTIONS (dataset 'chain');
CREATE FOREIGN TABLE stranger.t (n bigint NOT NULL, v text) SERVER stranger;
CREATE FOREIGN TABLE stranger.wrong_column (n bigint, guess text) SERVER stranger OPTIONS ("table" 't');
CREATE FOREIGN TABLE stranger.wrong_type (n bigint, v integer) SERVER stranger OPTIONS ("table" 't');
CREATE FOREIGN TABLE stranger.wrong_key (n bigint, v text) SERVER stranger OPTIONS ("table" 't', sort_key 'v');
CREATE FOREIGN TABLE stranger.wrong_table (n bigint) SERVER stranger OPTIONS ("table" 'guess');
CREATE FOREIGN TABLE stranger.chain_guess (n bigint) SERVER stranger_chain OPTIONS ("table" 'guess');
CREATE FOREIGN TABLE stranger.feed (block text) SERVER stranger_chain OPTIONS ("table" 'block_feed');
SELECT * FROM stranger.t;
SELECT count(*) FROM stranger.wrong_column;
SELECT count(*) FROM stranger.wrong_type;
SELECT count(*) FROM stranger.wrong_key;
SELECT count(*) FROM stranger.wrong_table;
SELECT count(*) FROM stranger.chain_guess;
SELECT count(*) FROM stranger.feed;
EXPLAIN SELECT * FROM stranger.t WHERE n < 10;
EXPLAIN SELECT * FROM stranger.wrong_column;
EXPLAIN (ANALYZE) SELECT * FROM stranger.t;
EXPLAIN INSERT INTO stranger.t VALUES (1, 'x');
PREPARE stranger_read AS SELECT * FROM stranger.t WHERE n = $1;
EXECUTE stranger_read(1);
INSERT INTO stranger.t VALUES (1, 'x');
INSERT INTO stranger.wrong_type VALUES (1, 1);
INSERT INTO stranger.feed VALUES ('{}');
COPY stranger.t FROM stdin;
1	x
\.
COPY (SELECT * FROM stranger.t) TO stdout;
TRUNCATE stranger.t;
TRUNCATE stranger.wrong_table;
UPDATE stranger.t SET v = 'x';
DELETE FROM stranger.t;
ANALYZE stranger.t;
ANALYZE stranger.wrong_table;
-- of a partitioned or an inheritance parent too
CREATE TABLE stranger.parent (n bigint NOT NULL, v text) PARTITION BY RANGE (n);
CREATE FOREIGN TABLE stranger.part PARTITION OF stranger.parent FOR VALUES FROM (0) TO (100)
	SERVER stranger OPTIONS ("table" 't');
SELECT * FROM stranger.parent;
INSERT INTO stranger.parent VALUES (1, 'x');
-- nothing is told of tables, kinds or columns
IMPORT FOREIGN SCHEMA free FROM SERVER stranger INTO stranger;
IMPORT FOREIGN SCHEMA guess FROM SERVER stranger INTO stranger;
IMPORT FOREIGN SCHEMA evm FROM SERVER stranger_chain INTO stranger;
-- the functions ask for the caller's own rights
SELECT hotblocks.status('secret');
SELECT * FROM hotblocks.head('chain');
SELECT * FROM hotblocks.chunk_list('secret');
SELECT * FROM hotblocks.chunk_columns('secret', 't');
SELECT * FROM hotblocks.chunk_columns('secret', 'guess');
SELECT hotblocks.extend('chain', '{}');
SELECT hotblocks.extend('chain', ARRAY['{}'], ARRAY['logs']);
SELECT hotblocks.load_file('chain', '/nonexistent');
SELECT hotblocks.declare_coverage('chain', 'logs', 1, 2);
SELECT hotblocks.declare_coverage('chain', 'guess', 1, 2);
SELECT hotblocks.alter_dataset('chain', linkage => 'none');
SELECT hotblocks.set_linkage('chain', 'none');
SELECT hotblocks.drop_dataset('secret');
-- views show nothing of them
SELECT name FROM hotblocks.datasets WHERE name IN ('secret', 'chain', 'other');
SELECT * FROM hotblocks.chunks WHERE dataset IN ('secret', 'chain', 'other');
SELECT * FROM hotblocks.coverage WHERE dataset IN ('secret', 'chain', 'other');
SELECT * FROM hotblocks.gaps WHERE dataset IN ('secret', 'chain', 'other');
SELECT dataset FROM hotblocks.transitions WHERE dataset IN ('secret', 'chain', 'other');
SELECT * FROM hotblocks.unknown_members WHERE dataset IN ('secret', 'chain', 'other');
SELECT * FROM hotblocks.replaced_characters WHERE dataset IN ('secret', 'chain', 'other');
-- neither the catalogs nor the tables can be written around the functions
UPDATE hotblocks.dataset SET name = 'mine' WHERE name = 'secret';
DELETE FROM hotblocks.dataset WHERE name = 'secret';
TRUNCATE hotblocks.dataset;
INSERT INTO hotblocks.dataset (name, kind, head_table, chunk_table, piece_hot_table,
		column_table, coverage_table, gap_table, transition_table, feed_table)
	SELECT 'mine', kind, head_table, chunk_table, piece_hot_table,
		column_table, coverage_table, gap_table, transition_table, feed_table
	FROM hotblocks.dataset WHERE name = 'secret';
INSERT INTO hotblocks.kind VALUES ('mine', 'mine');
INSERT INTO hotblocks.kind_column (kind, table_name, column_no, column_name, column_type)
	VALUES ('evm', 'logs', 999, 'mine', 'text');
SELECT * FROM hotblocks_secret.chunk;
-- a server may name what is not there
ALTER SERVER stranger OPTIONS (SET dataset 'nothing');
SELECT * FROM stranger.t;
ALTER SERVER stranger OPTIONS (SET dataset 'secret');
-- his own dataset, of tables in two schemas or of another owner's
SELECT hotblocks.create_dataset('his', 'free');
CREATE TABLE stranger.chunk (LIKE hotblocks_his.chunk INCLUDING ALL);
INSERT INTO hotblocks.dataset (name, kind, head_table, chunk_table, piece_hot_table,
		column_table, coverage_table, gap_table, transition_table, feed_table)
	SELECT 'mixed', kind, head_table, 'stranger.chunk', piece_hot_table,
		column_table, coverage_table, gap_table, transition_table, feed_table
	FROM hotblocks.dataset WHERE name = 'his';
-- a foreign table cannot be given to somebody who may read
\set VERBOSITY sqlstate
ALTER FOREIGN TABLE stranger.t OWNER TO regress_hb_keeper;
\set VERBOSITY default
RESET ROLE;

--
-- Rights that are given and taken are noticed by what is prepared and cached
--
SET plan_cache_mode = force_generic_plan;
GRANT USAGE ON SCHEMA stranger, secret TO regress_hb_caller;
SET ROLE regress_hb_stranger;
GRANT SELECT, INSERT ON stranger.t TO regress_hb_caller;
RESET ROLE;
GRANT SELECT ON hotblocks_secret.chunk TO regress_hb_stranger;
SET ROLE regress_hb_caller;
PREPARE caller_read AS SELECT v FROM stranger.t WHERE n = $1;
PREPARE caller_write AS INSERT INTO stranger.t VALUES ($1, 'written');
EXECUTE caller_read(1);
EXECUTE caller_read(2);
EXECUTE caller_write(5001);
RESET ROLE;
GRANT INSERT ON hotblocks_secret.chunk TO regress_hb_stranger;
SET ROLE regress_hb_caller;
EXECUTE caller_write(5001);
EXECUTE caller_read(5001);
RESET ROLE;
REVOKE SELECT ON hotblocks_secret.chunk FROM regress_hb_stranger;
SET ROLE regress_hb_caller;
EXECUTE caller_read(1);
EXPLAIN EXECUTE caller_read(1);
EXECUTE caller_write(5002);
RESET ROLE;
REVOKE INSERT ON hotblocks_secret.chunk FROM regress_hb_stranger;
SET ROLE regress_hb_caller;
EXECUTE caller_write(5003);
RESET ROLE;
-- rights on columns of the chunk table are not rights on the dataset
GRANT SELECT (chunk_id, table_name, directory, body) ON hotblocks_secret.chunk TO regress_hb_stranger;
SET ROLE regress_hb_caller;
EXECUTE caller_read(1);
RESET ROLE;
REVOKE SELECT (chunk_id, table_name, directory, body) ON hotblocks_secret.chunk FROM regress_hb_stranger;
-- a new owner's rights count from then on
ALTER FOREIGN TABLE stranger.t OWNER TO regress_hb_keeper;
SET ROLE regress_hb_caller;
EXECUTE caller_read(1);
RESET ROLE;
ALTER FOREIGN TABLE stranger.t OWNER TO regress_hb_stranger;
SET ROLE regress_hb_caller;
EXECUTE caller_read(1);
RESET ROLE;
-- membership counts, as everywhere
GRANT regress_hb_keeper TO regress_hb_stranger;
SET ROLE regress_hb_caller;
EXECUTE caller_read(1);
RESET ROLE;
REVOKE regress_hb_keeper FROM regress_hb_stranger;
GRANT pg_read_all_data TO regress_hb_stranger;
SET ROLE regress_hb_caller;
EXECUTE caller_read(1);
EXECUTE caller_write(5003);
RESET ROLE;
GRANT pg_write_all_data TO regress_hb_stranger;
SET ROLE regress_hb_caller;
EXECUTE caller_write(5003);
RESET ROLE;
REVOKE pg_read_all_data, pg_write_all_data FROM regress_hb_stranger;
SET ROLE regress_hb_caller;
EXECUTE caller_read(1);
RESET ROLE;

-- a server that is turned to another dataset takes prepared plans with it
SET ROLE regress_hb_keeper;
PREPARE keeper_read AS SELECT v FROM secret.t WHERE n = $1;
EXECUTE keeper_read(7);
ALTER SERVER secret OPTIONS (SET dataset 'other');
EXECUTE keeper_read(7);
SELECT count(*) FROM secret.t;
ALTER SERVER secret OPTIONS (SET dataset 'secret');
EXECUTE keeper_read(7);
RESET ROLE;
GRANT SELECT ON hotblocks_other.chunk TO regress_hb_stranger;
SET ROLE regress_hb_stranger;
ALTER SERVER stranger OPTIONS (SET dataset 'other');
RESET ROLE;
SET ROLE regress_hb_caller;
EXECUTE caller_read(7);
RESET ROLE;
SET ROLE regress_hb_stranger;
ALTER SERVER stranger OPTIONS (SET dataset 'secret');
RESET ROLE;
SET ROLE regress_hb_caller;
EXECUTE caller_read(7);
RESET ROLE;
RESET plan_cache_mode;

--
-- Views and functions between the caller and the table
--
SET ROLE regress_hb_keeper;
CREATE VIEW secret.some WITH (security_barrier) AS SELECT n, v FROM secret.t WHERE n <= 3;
CREATE FUNCTION secret.how_many() RETURNS bigint LANGUAGE sql SECURITY DEFINER
	SET search_path = pg_catalog AS 'SELECT count(*) FROM secret.t';
CREATE FUNCTION secret.how_many_of_caller() RETURNS bigint LANGUAGE sql
	SET search_path = pg_catalog AS 'SELECT count(*) FROM secret.t';
GRANT SELECT ON secret.some TO regress_hb_caller;
RESET ROLE;
SET ROLE regress_hb_caller;
CREATE FUNCTION pg_temp.leak(text) RETURNS boolean LANGUAGE plpgsql COST 0.0001
	AS $$ BEGIN RAISE WARNING 'leaked %', $1; RETURN true; END $$;
SELECT n FROM secret.some WHERE pg_temp.leak(v) ORDER BY n;
SELECT count(*) FROM secret.some WHERE v = 'v900';
SELECT count(*) FROM secret.t;
SELECT secret.how_many();
SELECT secret.how_many_of_caller();
RESET ROLE;
-- a view of somebody who may not read the table
SET ROLE regress_hb_stranger;
CREATE VIEW stranger.over AS SELECT * FROM stranger.t;
GRANT SELECT ON stranger.over TO regress_hb_caller;
RESET ROLE;
SET ROLE regress_hb_caller;
SELECT count(*) FROM stranger.over;
RESET ROLE;
-- column privileges on the foreign table are core's
GRANT SELECT (n) ON secret.t TO regress_hb_caller;
SET ROLE regress_hb_caller;
SELECT max(n) FROM secret.t;
SELECT max(v) FROM secret.t;
INSERT INTO secret.t (n) VALUES (6000);
RESET ROLE;
GRANT INSERT (n) ON secret.t TO regress_hb_caller;
SET ROLE regress_hb_caller;
INSERT INTO secret.t (n) VALUES (6000);
INSERT INTO secret.t (n, v) VALUES (6001, 'x');
TRUNCATE secret.t;
RESET ROLE;
-- statistics are shown to who may read the column
ANALYZE secret.t;
SET ROLE regress_hb_caller;
SELECT attname FROM pg_stats WHERE schemaname = 'secret' AND tablename = 't' ORDER BY 1;
RESET ROLE;
-- row security is not for foreign tables, but for a partitioned parent
ALTER FOREIGN TABLE secret.t ENABLE ROW LEVEL SECURITY;
SET ROLE regress_hb_keeper;
CREATE TABLE secret.parent (n bigint NOT NULL, v text) PARTITION BY RANGE (n);
CREATE FOREIGN TABLE secret.part PARTITION OF secret.parent FOR VALUES FROM (0) TO (10000)
	SERVER secret OPTIONS ("table" 't');
ALTER TABLE secret.parent ENABLE ROW LEVEL SECURITY;
CREATE POLICY few ON secret.parent TO regress_hb_caller USING (n IN (2, 900)) WITH CHECK (n > 7000);
GRANT SELECT, INSERT ON secret.parent TO regress_hb_caller;
RESET ROLE;
SET ROLE regress_hb_caller;
SELECT * FROM secret.parent WHERE n < 1000 AND pg_temp.leak(v) ORDER BY n;
INSERT INTO secret.parent VALUES (6500, 'x');
INSERT INTO secret.parent VALUES (7500, 'x');
RESET ROLE;
SELECT n FROM secret.t WHERE n > 6400;
-- no user mapping is asked for, and its options are none
CREATE USER MAPPING FOR regress_hb_caller SERVER secret;
CREATE USER MAPPING FOR regress_hb_keeper SERVER secret OPTIONS (password 'x');
SET ROLE regress_hb_caller;
SELECT count(*) FROM secret.some;
RESET ROLE;

--
-- What a caller puts in the way of names is not found
--
SET ROLE regress_hb_stranger;
CREATE FUNCTION stranger.format(text, VARIADIC text[]) RETURNS text LANGUAGE plpgsql
	AS $$ BEGIN RAISE EXCEPTION 'trapped'; END $$;
CREATE FUNCTION stranger.octet_length(text) RETURNS integer LANGUAGE plpgsql
	AS $$ BEGIN RAISE EXCEPTION 'trapped'; END $$;
CREATE FUNCTION stranger.regexp_ne(text, text) RETURNS boolean LANGUAGE plpgsql
	AS $$ BEGIN RAISE EXCEPTION 'trapped'; END $$;
CREATE OPERATOR stranger.!~ (LEFTARG = text, RIGHTARG = text, FUNCTION = stranger.regexp_ne);
CREATE TABLE stranger.pg_class (oid oid);
GRANT USAGE ON SCHEMA stranger TO PUBLIC;
RESET ROLE;
SET search_path = stranger, pg_catalog;
SET ROLE regress_hb_keeper;
SELECT hotblocks.create_dataset('trap', 'evm');
SELECT hotblocks.alter_dataset('trap', linkage => 'none');
SELECT head FROM hotblocks.status('trap');
SELECT number FROM hotblocks.head('trap');
SELECT name FROM hotblocks.datasets WHERE name = 'trap';
SELECT count(*) FROM trap.logs;
SELECT hotblocks.drop_dataset('trap');
SET search_path = '';
SELECT hotblocks.create_dataset('trap', 'evm');
SELECT name FROM hotblocks.datasets WHERE name = 'trap';
SELECT count(*) FROM trap.logs;
SELECT hotblocks.drop_dataset('trap');
RESET search_path;
RESET ROLE;
-- every function that runs SQL says where its names are
SELECT p.oid::regprocedure FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang
WHERE p.pronamespace = 'hotblocks'::regnamespace AND l.lanname NOT IN ('c', 'internal')
	AND NOT coalesce(p.proconfig::text LIKE '%search_path=pg_catalog%', false);
-- none of them runs with another's rights
SELECT oid::regprocedure FROM pg_proc
WHERE pronamespace = 'hotblocks'::regnamespace AND prosecdef;

-- the dataset goes to another owner with its tables
SET client_min_messages = error;
SET ROLE regress_hb_keeper;
\set VERBOSITY sqlstate
ALTER TABLE hotblocks_other.chunk OWNER TO regress_hb_stranger;
\set VERBOSITY default
RESET ROLE;
ALTER TABLE hotblocks_other.chunk OWNER TO regress_hb_stranger;
SET ROLE regress_hb_keeper;
SELECT count(*) FROM other.t;
RESET ROLE;
ALTER TABLE hotblocks_other.chunk OWNER TO regress_hb_keeper;
SET ROLE regress_hb_keeper;
SELECT count(*) FROM other.t;
RESET ROLE;

--
-- An owner who takes his dataset apart does not take the views from others
--
SET client_min_messages = warning;
SET ROLE regress_hb_keeper;
GRANT SELECT ON hotblocks_chain.chunk, hotblocks_other.chunk, hotblocks_secret.chunk TO regress_hb_caller;
ALTER TABLE hotblocks_other.gap SET SCHEMA other;
RESET ROLE;
SET ROLE regress_hb_caller;
SELECT name FROM hotblocks.datasets WHERE name IN ('secret', 'chain', 'other') AND rows > 0 ORDER BY 1;
SELECT dataset, count(*) > 0 AS shown FROM hotblocks.chunks GROUP BY 1 ORDER BY 1;
SELECT count(*) FROM hotblocks.gaps;
RESET ROLE;
SET ROLE regress_hb_keeper;
ALTER TABLE other.gap SET SCHEMA hotblocks_other;
ALTER TABLE hotblocks_other.gap RENAME COLUMN last_block TO upto;
RESET ROLE;
SET ROLE regress_hb_caller;
SELECT dataset, count(*) > 0 AS shown FROM hotblocks.chunks GROUP BY 1 ORDER BY 1;
SELECT count(*) FROM hotblocks.gaps;
RESET ROLE;
SET ROLE regress_hb_keeper;
ALTER TABLE hotblocks_other.gap RENAME COLUMN upto TO last_block;
ALTER TABLE hotblocks_other.gap ADD COLUMN remark text DEFAULT 'none';
RESET ROLE;
SET ROLE regress_hb_caller;
SELECT dataset, count(*) > 0 AS shown FROM hotblocks.chunks GROUP BY 1 ORDER BY 1;
SELECT count(*) FROM hotblocks.gaps;
RESET ROLE;

REASSIGN OWNED BY regress_hb_keeper TO regress_hb_stranger;
SELECT name, owner FROM hotblocks.datasets WHERE name IN ('secret', 'chain', 'other') ORDER BY 1;
SET ROLE regress_hb_stranger;
SELECT count(*) FROM secret.t;
SELECT count(*) FROM stranger.t;
SELECT hotblocks.drop_dataset('other');
RESET ROLE;
DROP OWNED BY regress_hb_stranger CASCADE;
SELECT name FROM hotblocks.dataset WHERE name IN ('secret', 'chain', 'other', 'his');
SELECT nspname FROM pg_namespace WHERE nspname ~ 'secret|chain|other';
DROP OWNED BY regress_hb_keeper, regress_hb_caller CASCADE;
DROP ROLE regress_hb_keeper, regress_hb_stranger, regress_hb_caller;
