-- Datasets as a user makes, alters, sees and drops them.
BEGIN;
SELECT plan(38);
SET client_min_messages = warning;

-- ---- creating ----
SELECT lives_ok($$SELECT hotblocks.create_dataset('tap_eth', 'evm')$$, 'a dataset of kind evm');
SELECT has_schema('tap_eth', 'its foreign tables have a schema');
SELECT has_schema('hotblocks_tap_eth', 'its storage has a schema');
SELECT results_eq(
	$$SELECT foreign_table_name::text COLLATE "default" FROM information_schema.foreign_tables
		WHERE foreign_table_schema = 'tap_eth' ORDER BY 1$$,
	ARRAY['block_feed', 'blocks', 'logs', 'state_diffs', 'traces', 'transactions'],
	'it has the tables of its kind, and the feed');
SELECT results_eq(
	$$SELECT array_to_string(srvoptions, ',') COLLATE "default" FROM pg_foreign_server WHERE srvname = 'tap_eth'$$,
	ARRAY['dataset=tap_eth'], 'the server names the dataset');
SELECT results_eq(
	$$SELECT table_name::text COLLATE "default" FROM information_schema.views WHERE table_schema = 'tap_eth' ORDER BY 1$$,
	ARRAY['erc20_approvals', 'erc20_transfers', 'erc721_transfers'], 'it has views of tokens');
SELECT results_eq(
	$$SELECT name, kind, linkage, owner, chunks, rows FROM hotblocks.datasets WHERE name = 'tap_eth'$$,
	$$SELECT 'tap_eth'::name, 'evm', 'strict', current_user, 0::bigint, 0::bigint$$,
	'view datasets shows it');
SELECT results_eq(
	$$SELECT dataset, head, version, rows FROM hotblocks.status('tap_eth')$$,
	$$VALUES ('tap_eth'::name, NULL::bigint, 0::bigint, 0::bigint)$$, 'its status is that of an empty one');
SELECT is_empty('SELECT * FROM tap_eth.blocks', 'it is empty');
SELECT lives_ok($$SELECT hotblocks.create_dataset('tap_bare', 'evm', 'links', false)$$, 'a dataset without tables');
SELECT hasnt_schema('tap_bare', 'which has no schema for them');
SELECT lives_ok(
	$$CREATE SERVER tap_bare FOREIGN DATA WRAPPER hotblocks OPTIONS (dataset 'tap_bare');
	CREATE SCHEMA tap_bare;
	IMPORT FOREIGN SCHEMA evm LIMIT TO (blocks, logs) FROM SERVER tap_bare INTO tap_bare$$,
	'tables are imported by hand');
SELECT has_foreign_table('tap_bare', 'logs', 'one that was asked for is there');
SELECT hasnt_foreign_table('tap_bare', 'traces', 'one that was not is not');

-- ---- refusals ----
SELECT throws_ok($$SELECT hotblocks.create_dataset('tap_eth', 'evm')$$, '42710', NULL, 'a name is taken once');
SELECT throws_ok($$SELECT hotblocks.create_dataset('Tap', 'evm')$$, '42602', NULL, 'names are lower case');
SELECT throws_ok($$SELECT hotblocks.create_dataset('1tap', 'evm')$$, '42602', NULL, 'names do not start with a digit');
SELECT throws_ok($$SELECT hotblocks.create_dataset('', 'evm')$$, '42602', NULL, 'names are not empty');
SELECT throws_ok($$SELECT hotblocks.create_dataset(repeat('x', 60), 'evm')$$, '42622', NULL, 'names fit');
SELECT throws_ok($$SELECT hotblocks.create_dataset('tap_x', 'nothing')$$, '42704', NULL, 'the kind exists');
SELECT throws_ok($$SELECT hotblocks.create_dataset('tap_x', 'evm', 'loose')$$, '22023', NULL, 'the linkage is one of three');
SELECT throws_ok($$SELECT hotblocks.create_dataset(NULL, 'evm')$$, '22004', NULL, 'arguments are not null');
SELECT throws_ok($$SELECT hotblocks.status('tap_none')$$, NULL, NULL, 'status of a dataset that is not there');
SELECT throws_ok($$SELECT hotblocks.drop_dataset('tap_none')$$, '42704', NULL, 'dropping one that is not there');

-- ---- altering ----
SELECT lives_ok($$SELECT hotblocks.alter_dataset('tap_bare', linkage => 'none')$$, 'another linkage');
SELECT results_eq($$SELECT linkage FROM hotblocks.datasets WHERE name = 'tap_bare'$$, ARRAY['none'], 'is kept');
SELECT throws_ok($$SELECT hotblocks.alter_dataset('tap_bare', linkage => 'loose')$$, '22023', NULL, 'which is one of three');

-- ---- rows ----
SELECT lives_ok(
	$$INSERT INTO tap_eth.logs (block_number, transaction_index, log_index, address, topic0, data)
	SELECT g / 10, 0, g % 10, decode(lpad(to_hex(g % 3), 40, '0'), 'hex'), hotblocks.keccak256('\x01'), '\x' FROM generate_series(0, 99) g$$,
	'rows go in');
SELECT results_eq($$SELECT count(*), max(log_index) FROM tap_eth.logs WHERE block_number BETWEEN 3 AND 4$$,
	$$VALUES (20::bigint, 9)$$, 'and are there at once');
SELECT throws_ok($$INSERT INTO tap_eth.logs (block_number) VALUES (1)$$, '23502', NULL, 'NOT NULL holds');
SELECT throws_ok($$UPDATE tap_eth.logs SET data = '\x00'$$, NULL, NULL, 'rows are not updated');
SELECT throws_ok($$DELETE FROM tap_eth.logs$$, NULL, NULL, 'or deleted');
SELECT results_eq($$SELECT count(*) FROM hotblocks.coverage WHERE dataset = 'tap_eth' AND table_name = 'logs'$$,
	$$VALUES (0::bigint)$$, 'coverage is recorded when the transaction ends');

-- ---- dropping ----
SELECT lives_ok($$SELECT hotblocks.drop_dataset('tap_eth')$$, 'a dataset is dropped');
SELECT hasnt_schema('tap_eth', 'with its tables');
SELECT hasnt_schema('hotblocks_tap_eth', 'and its storage');
DROP SCHEMA hotblocks_tap_bare CASCADE;
SELECT is_empty($$SELECT name FROM hotblocks.dataset WHERE name LIKE 'tap%'$$,
	'a dataset whose storage is dropped is forgotten');
SELECT throws_ok($$SELECT count(*) FROM tap_bare.logs$$, NULL, NULL, 'and its tables say so');

SELECT * FROM finish();
ROLLBACK;
