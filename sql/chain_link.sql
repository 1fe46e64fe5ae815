-- Linkage, redelivery, conflicts, gaps, coverage, transitions, status.
SET client_min_messages = warning;
SET bytea_output = hex;

-- Block n of branch b: hash and parent from n and b.
CREATE FUNCTION pg_temp.hash(n int, branch text DEFAULT 'a') RETURNS text
	LANGUAGE sql AS $$ SELECT '0x' || repeat(branch || branch, 28) || lpad(to_hex(n), 8, '0') $$;
CREATE FUNCTION pg_temp.block(n int, branch text DEFAULT 'a', parent text DEFAULT 'a', rest jsonb DEFAULT '{"receipts": []}') RETURNS text
	LANGUAGE sql AS $$
	SELECT (jsonb_build_object('block', jsonb_build_object('number', '0x' || to_hex(n), 'hash', pg_temp.hash(n, branch),
		'parentHash', pg_temp.hash(n - 1, parent), 'timestamp', '0x' || to_hex(1000 + n), 'transactions', '[]'::jsonb)) || rest)::text
$$;
CREATE FUNCTION pg_temp.st(dataset text) RETURNS text
	LANGUAGE sql AS $$
	SELECT format('version %s, %s..%s (%s blocks, %s gaps), head %s, anchor %s %s, traces %s', s.version, s.first_block, s.head, s.blocks,
		s.gaps, right(encode(s.head_hash, 'hex'), 10), s.anchor, right(encode(s.anchor_hash, 'hex'), 10), s.trace_format)
	FROM hotblocks.status(dataset) s
$$;

-- strict: one after the other
SELECT hotblocks.create_dataset('ls', 'evm');
SELECT pg_temp.st('ls');
SELECT first_block, head, blocks FROM hotblocks.extend('ls', pg_temp.block(5), pg_temp.block(6), pg_temp.block(7));
SELECT pg_temp.st('ls');
SELECT number, right(encode(hash, 'hex'), 10) AS hash FROM hotblocks.head('ls');
-- redelivery, alone and with what is new
SELECT head, version FROM hotblocks.extend('ls', pg_temp.block(6));
SELECT head, version FROM hotblocks.extend('ls', pg_temp.block(5), pg_temp.block(6), pg_temp.block(7), pg_temp.block(8), pg_temp.block(8), pg_temp.block(7), pg_temp.block(9));
-- not the next
SELECT hotblocks.extend('ls', pg_temp.block(11));
\echo :LAST_ERROR_SQLSTATE
SELECT hotblocks.extend('ls', pg_temp.block(4));
\echo :LAST_ERROR_SQLSTATE
-- another branch: at the head, at a stored block, within the call
SELECT hotblocks.extend('ls', pg_temp.block(10, 'b', 'b'));
\echo :LAST_ERROR_SQLSTATE
SELECT hotblocks.extend('ls', pg_temp.block(7, 'b'));
\echo :LAST_ERROR_SQLSTATE
SELECT hotblocks.extend('ls', pg_temp.block(10), pg_temp.block(11, 'b', 'b'));
\echo :LAST_ERROR_SQLSTATE
SELECT hotblocks.extend('ls', pg_temp.block(10), pg_temp.block(10, 'b'));
\echo :LAST_ERROR_SQLSTATE
SELECT pg_temp.st('ls');
-- all or nothing: the second document is refused, so the first is not there
SELECT hotblocks.extend('ls', pg_temp.block(10), 'x');
SELECT pg_temp.st('ls');
-- within a transaction, and rolled back
BEGIN;
SELECT head FROM hotblocks.extend('ls', pg_temp.block(10));
SAVEPOINT s;
SELECT head FROM hotblocks.extend('ls', pg_temp.block(11));
SELECT count(*), max(number) FROM ls.blocks;
ROLLBACK TO s;
SELECT count(*), max(number) FROM ls.blocks;
SELECT head FROM hotblocks.extend('ls', pg_temp.block(11), pg_temp.block(12));
COMMIT;
SELECT pg_temp.st('ls');
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT head FROM hotblocks.extend('ls', pg_temp.block(13));
SELECT count(*), max(number) FROM ls.blocks;
ROLLBACK;
-- twice in one command
SELECT n, (hotblocks.extend('ls', pg_temp.block(n))).head FROM generate_series(12, 14) n;
-- more blocks than are kept in memory, then an old one of the same call
SELECT head, blocks FROM hotblocks.extend('ls', VARIADIC ARRAY(SELECT pg_temp.block(n) FROM generate_series(15, 1600) n)
	|| pg_temp.block(15) || pg_temp.block(1599) || pg_temp.block(5) || pg_temp.block(1601) || pg_temp.block(1601));
SELECT hotblocks.extend('ls', VARIADIC ARRAY(SELECT pg_temp.block(n) FROM generate_series(1602, 3000) n) || pg_temp.block(1602, 'b'));
SELECT pg_temp.st('ls');
SELECT version, kind, from_block, old_head, new_head FROM hotblocks.transitions WHERE dataset = 'ls' ORDER BY version;
SELECT * FROM hotblocks.coverage WHERE dataset = 'ls' ORDER BY 1, 2, 3;
SELECT * FROM hotblocks.gaps WHERE dataset = 'ls';

-- links: holes, with the parents of neighbours
SELECT hotblocks.create_dataset('ll', 'evm', linkage => 'links');
SELECT head, gaps FROM hotblocks.extend('ll', pg_temp.block(5), pg_temp.block(6), pg_temp.block(10), pg_temp.block(20, 'b', 'c'), pg_temp.block(21, 'b', 'b'));
SELECT hotblocks.extend('ll', pg_temp.block(22));
SELECT hotblocks.extend('ll', pg_temp.block(8));
SELECT head, version FROM hotblocks.extend('ll', pg_temp.block(10));
SELECT hotblocks.extend('ll', '{"block": {"number": "0x1e", "hash": "0x' || repeat('ee', 32) || '"}}');
SELECT pg_temp.st('ll');
SELECT * FROM hotblocks.gaps WHERE dataset = 'll' ORDER BY from_block;

-- none: no parents, no timestamps
SELECT hotblocks.create_dataset('ln', 'evm', linkage => 'none');
SELECT head, gaps FROM hotblocks.extend('ln', '{"block": {"number": "0x1e", "hash": "0x' || repeat('ee', 32) || '"}}',
	pg_temp.block(31, 'b', 'c'), pg_temp.block(33));
SELECT pg_temp.st('ln');
SELECT number, parent_hash, timestamp, logs_bloom FROM ln.blocks ORDER BY number;

-- what was not delivered is not empty
SELECT hotblocks.create_dataset('lc', 'evm');
SELECT head FROM hotblocks.extend('lc', pg_temp.block(1), pg_temp.block(2, rest => '{"receipts": null}'), pg_temp.block(3, rest => '{}'),
	pg_temp.block(4), pg_temp.block(5, rest => '{"receipts": [], "traces": []}'), pg_temp.block(6, rest => '{"stateDiffs": [], "traces": null}'));
SELECT table_name, from_block, to_block FROM hotblocks.coverage WHERE dataset = 'lc' ORDER BY 1, 2;
SET client_min_messages = notice;
SHOW hotblocks.missing_data;
SELECT count(*) FROM lc.logs;
SELECT count(*) FROM lc.logs WHERE block_number BETWEEN 4 AND 5;
SELECT count(*) FROM lc.logs WHERE block_number > 6;
-- once for each scan, however often it is repeated
SELECT count(l.block_number) FROM generate_series(1, 6) n LEFT JOIN LATERAL
	(SELECT * FROM lc.logs WHERE block_number = n OFFSET 0) l ON true;
SELECT count(*) FROM lc.blocks;
SELECT count(*) FROM lc.transactions;
SET hotblocks.missing_data = error;
SELECT count(*) FROM lc.traces WHERE block_number >= 5;
\echo :LAST_ERROR_SQLSTATE
SELECT count(*) FROM lc.logs WHERE block_number = 4;
SET hotblocks.missing_data = ignore;
SELECT count(*) FROM lc.traces;
RESET hotblocks.missing_data;
SET hotblocks.missing_data = perhaps;
SELECT hotblocks.declare_coverage('lc', 'logs', 2, 3);
SELECT count(*) FROM lc.logs WHERE block_number < 6;
-- tables named: an absent member means none, null still means not available
SELECT head FROM hotblocks.extend('lc', ARRAY[pg_temp.block(7, rest => '{}'), pg_temp.block(8, rest => '{"receipts": null}')], '{logs,traces}');
SELECT table_name, from_block, to_block FROM hotblocks.coverage WHERE dataset = 'lc' ORDER BY 1, 2;

-- one trace format
CREATE FUNCTION pg_temp.traces(n int, format text) RETURNS text
	LANGUAGE sql AS $$
	SELECT (pg_temp.block(n, rest => CASE format
		WHEN 'none' THEN '{"traces": [], "traceFormat": "callTracer"}'
		WHEN 'callTracer' THEN '{"traces": [{"txHash": "0x' || repeat('aa', 32) || '", "result": {"type": "CALL"}}]}'
		WHEN 'trace_block' THEN '{"traces": [{"type": "reward", "action": {}, "traceAddress": []}]}'
		END::jsonb)::jsonb #- '{block,transactions}')::text
$$;
SELECT hotblocks.create_dataset('lt', 'evm');
SELECT trace_format FROM hotblocks.extend('lt', pg_temp.traces(1, 'none'));
SELECT trace_format FROM hotblocks.extend('lt', pg_temp.traces(2, 'trace_block'));
SELECT trace_format FROM hotblocks.extend('lt', pg_temp.traces(3, 'none'));
SELECT hotblocks.extend('lt', pg_temp.traces(4, 'callTracer'));
\echo :LAST_ERROR_SQLSTATE
SELECT trace_format, head FROM hotblocks.status('lt');
SELECT block_number, transaction_index, transaction_hash, trace_address, type FROM lt.traces;
SELECT hotblocks.create_dataset('lu', 'evm');
SELECT hotblocks.extend('lu', pg_temp.traces(1, 'callTracer'), pg_temp.traces(2, 'trace_block'));
SELECT trace_format FROM hotblocks.extend('lu', pg_temp.traces(1, 'callTracer'), pg_temp.traces(2, 'none'), pg_temp.traces(3, 'callTracer'));
SELECT block_number, transaction_index, right(encode(transaction_hash, 'hex'), 4) AS hash, trace_address, type, call_type, subtraces FROM lu.traces;

-- unknown members are counted, under their own names
SELECT head FROM hotblocks.extend('lu', pg_temp.block(4, rest => '{"receipts": [], "chain": "x", "source": "y", "foo": {"bar": 1}, "b\u0061r": 1}'));
SELECT head FROM hotblocks.extend('lu', pg_temp.block(5, rest => '{"receipts": [], "foo": 1}'));
SELECT member, count FROM hotblocks.unknown_members WHERE dataset = 'lu' ORDER BY member COLLATE "C";

-- rights
CREATE ROLE chain_reader;
CREATE ROLE chain_writer;
CREATE ROLE chain_none;
GRANT USAGE ON SCHEMA hotblocks_ls TO chain_reader, chain_writer;
GRANT SELECT ON hotblocks_ls.chunk TO chain_reader;
GRANT INSERT ON hotblocks_ls.chunk TO chain_writer;
SET client_min_messages = notice;
SET ROLE chain_none;
SELECT hotblocks.status('ls');
SELECT hotblocks.extend('ls', 'x');
SELECT count(*) FROM hotblocks.coverage;
SET ROLE chain_reader;
SELECT head FROM hotblocks.status('ls');
SELECT DISTINCT dataset FROM hotblocks.coverage;
SELECT hotblocks.extend('ls', 'x');
SET ROLE chain_writer;
SELECT head FROM hotblocks.extend('ls', '{"block": {"number": "0x642", "hash": "0x' || repeat('ab', 32)
	|| '", "parentHash": "0xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa00000641", "timestamp": "0x1", "transactions": []}, "odd": 1}');
SELECT hotblocks.load_file('ls', '/etc/passwd');
SELECT hotblocks.declare_coverage('ls', 'logs', 1, 2);
SELECT hotblocks.status('ls');
RESET ROLE;
SELECT head, version FROM hotblocks.status('ls');

SET client_min_messages = warning;
DROP OWNED BY chain_reader, chain_writer, chain_none;
DROP ROLE chain_reader, chain_writer, chain_none;
SELECT hotblocks.drop_dataset(d) FROM unnest(ARRAY['ls', 'll', 'ln', 'lc', 'lt', 'lu']) d;
