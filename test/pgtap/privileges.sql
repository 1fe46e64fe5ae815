-- Who may do what: a foreign table acts with its owner's rights on the dataset,
-- functions check their caller.
BEGIN;
SELECT plan(23);
SET client_min_messages = warning;
SET hotblocks.missing_data = 'ignore';

CREATE ROLE tap_owner;
CREATE ROLE tap_reader;
CREATE ROLE tap_writer;
CREATE ROLE tap_nobody;
CREATE FUNCTION pg_temp.doc(n int) RETURNS text LANGUAGE sql AS $$
	SELECT format('{"block":{"number":"0x%s","hash":"0x%s","parentHash":"0x%s","timestamp":"0x%s","transactions":[]},"receipts":[]}',
		to_hex(n), lpad(to_hex(n), 64, 'a'), lpad(to_hex(n - 1), 64, 'a'), to_hex(1000 + n)) $$;
DO $$
BEGIN
	EXECUTE format('GRANT CREATE ON DATABASE %I TO tap_owner', current_database());
	EXECUTE format('GRANT USAGE, CREATE ON SCHEMA %I TO tap_owner, tap_reader, tap_writer, tap_nobody',
		(SELECT nspname FROM pg_namespace WHERE oid = pg_my_temp_schema()));
END
$$;

SET ROLE tap_nobody;
SELECT throws_ok($$SELECT hotblocks.create_dataset('tap_p', 'evm')$$, '42501', NULL,
	'a dataset needs rights on the wrapper and the database');
RESET ROLE;
GRANT USAGE ON FOREIGN DATA WRAPPER hotblocks TO tap_owner;
SET ROLE tap_owner;
SELECT lives_ok($$SELECT hotblocks.create_dataset('tap_p', 'evm')$$, 'which a role may be granted');
SELECT results_eq($$SELECT owner FROM hotblocks.datasets WHERE name = 'tap_p'$$, $$VALUES ('tap_owner'::name)$$, 'it owns what it makes');
SELECT lives_ok($$SELECT hotblocks.extend('tap_p', pg_temp.doc(1))$$, 'the owner extends');
SELECT lives_ok($$SELECT count(*) FROM tap_p.blocks$$, 'the owner reads');
SELECT throws_ok($$SELECT hotblocks.load_file('tap_p', '/etc/passwd')$$, '42501', NULL, 'but reads no files of the server');
SELECT throws_ok($$INSERT INTO hotblocks.dataset SELECT gen_random_uuid(), 'tap_q', kind, linkage,
	'pg_class'::regclass, 'pg_class'::regclass, 'pg_class'::regclass, 'pg_class'::regclass, 'pg_class'::regclass, 'pg_class'::regclass, 'pg_class'::regclass
	FROM hotblocks.dataset WHERE name = 'tap_p'$$, NULL, NULL, 'and takes nobody''s tables for a dataset');
RESET ROLE;

SET ROLE tap_reader;
SELECT throws_ok($$SELECT count(*) FROM tap_p.blocks$$, '42501', NULL, 'others need rights on the foreign table');
SELECT throws_ok($$SELECT hotblocks.status('tap_p')$$, '42501', NULL, 'status needs SELECT on the dataset');
SELECT is_empty($$SELECT * FROM hotblocks.datasets WHERE name = 'tap_p'$$, 'views show what one may read');
SELECT is_empty($$SELECT * FROM hotblocks.chunks WHERE dataset = 'tap_p'$$, 'chunks too');
SELECT is_empty($$SELECT * FROM hotblocks.transitions WHERE dataset = 'tap_p'$$, 'transitions too');
SELECT throws_ok($$SELECT hotblocks.drop_dataset('tap_p')$$, '42501', NULL, 'dropping is the owner''s');
SELECT throws_ok($$SELECT hotblocks.alter_dataset('tap_p', linkage => 'none')$$, '42501', NULL, 'altering too');
RESET ROLE;

GRANT USAGE ON SCHEMA tap_p TO tap_reader;
GRANT SELECT ON tap_p.blocks TO tap_reader;
SET ROLE tap_reader;
SELECT results_eq($$SELECT count(*) FROM tap_p.blocks$$, $$VALUES (1::bigint)$$, 'rights on the foreign table are enough, as with a view');
SELECT throws_ok($$SELECT count(*) FROM tap_p.logs$$, '42501', NULL, 'on that table');
SELECT throws_ok($$INSERT INTO tap_p.blocks (number, hash) VALUES (9, '\x09')$$, '42501', NULL, 'reading is not writing');
RESET ROLE;

GRANT USAGE ON SCHEMA hotblocks_tap_p TO tap_writer;
GRANT SELECT, INSERT ON hotblocks_tap_p.chunk TO tap_writer;
SET ROLE tap_writer;
SELECT lives_ok($$SELECT hotblocks.status('tap_p')$$, 'SELECT on the chunk table is SELECT on the dataset');
SELECT lives_ok($$SELECT hotblocks.extend('tap_p', pg_temp.doc(2))$$, 'INSERT on it is extending');
SELECT throws_ok($$SELECT hotblocks.drop_dataset('tap_p')$$, '42501', NULL, 'but not dropping');
SELECT throws_ok($$TRUNCATE hotblocks_tap_p.chunk$$, '42501', NULL, 'nor what core keeps to the owner');
RESET ROLE;

-- a foreign table of somebody who has no rights on the dataset
GRANT USAGE ON FOREIGN SERVER tap_p TO tap_nobody;
CREATE SCHEMA tap_n AUTHORIZATION tap_nobody;
SET ROLE tap_nobody;
SELECT lives_ok($$CREATE FOREIGN TABLE tap_n.blocks (number bigint) SERVER tap_p OPTIONS (table 'blocks')$$, 'a table can be declared');
SELECT throws_ok($$SELECT * FROM tap_n.blocks$$, '42501', NULL, 'but shows nothing that its owner may not read');
RESET ROLE;

SELECT * FROM finish();
ROLLBACK;
