--
-- Columns that follow from others take no bytes, where they do
--
SET client_min_messages = warning;
SELECT hotblocks.create_dataset('der', 'evm', 'none');
SET hotblocks.missing_data = ignore;
CREATE FUNCTION der.stored(name text, columns text[]) RETURNS TABLE (column_name text, encodings text)
	LANGUAGE sql AS $$
	SELECT c.column_name, string_agg(CASE c.encoding WHEN 'derived' THEN 'derived' ELSE 'stored' END, ' ' ORDER BY chunk_id)
	FROM hotblocks.chunk_columns('der', name) c WHERE c.column_name = ANY (columns)
	GROUP BY 1 ORDER BY 1 $$;

INSERT INTO der.blocks (number, hash, parent_hash, timestamp)
	SELECT g, sha256(('b' || g)::bytea), sha256(('b' || g - 1)::bytea), to_timestamp(g * 12)
	FROM generate_series(1, 100) g;
INSERT INTO der.transactions (block_number, block_timestamp, transaction_index, hash, input, sighash)
	SELECT b, to_timestamp(b * 12), i, sha256((b || '/' || i)::bytea),
		decode(lpad(to_hex(b * i), 8, '0') || 'ff', 'hex'), decode(lpad(to_hex(b * i), 8, '0'), 'hex')
	FROM generate_series(1, 100) b, generate_series(0, 9) i;
-- all of it follows
INSERT INTO der.logs (block_number, block_timestamp, transaction_index, log_index, transaction_hash, address, topic0)
	SELECT b, to_timestamp(b * 12), i, i, sha256((b || '/' || i)::bytea), '\x01', '\x02'
	FROM generate_series(1, 50) b, generate_series(0, 9) i;
SELECT * FROM der.stored('transactions', '{block_timestamp,sighash,logs_bloom}');
SELECT * FROM der.stored('logs', '{block_timestamp,transaction_hash}');
SELECT count(*) FROM der.logs
	WHERE transaction_hash = sha256((block_number || '/' || transaction_index)::bytea)
		AND block_timestamp = to_timestamp(block_number * 12);
SELECT block_number, log_index FROM der.logs WHERE transaction_hash = sha256('7/3');
-- one value that does not, or has no source, and the chunk stores them
INSERT INTO der.logs (block_number, block_timestamp, transaction_index, log_index, transaction_hash, address)
	SELECT b, to_timestamp(b * 12 + CASE b WHEN 77 THEN 1 ELSE 0 END), i, i,
		CASE WHEN b = 80 AND i = 1 THEN NULL ELSE sha256((b || '/' || i)::bytea) END, '\x01'
	FROM generate_series(51, 100) b, generate_series(0, 9) i;
INSERT INTO der.logs (block_number, transaction_index, log_index, address) VALUES (200, 0, 0, '\x01');
SELECT * FROM der.stored('logs', '{block_timestamp,transaction_hash}');
SELECT count(*), count(transaction_hash), count(block_timestamp) FROM der.logs;
-- rows that come later to the same positions change nothing
INSERT INTO der.blocks (number, hash, timestamp) VALUES (5, '\x05', to_timestamp(5)), (200, '\x06', to_timestamp(200));
INSERT INTO der.transactions (block_number, transaction_index, hash) VALUES (5, 5, '\x0505'), (200, 0, '\x0200');
SELECT count(*) FROM der.logs
	WHERE transaction_hash = sha256((block_number || '/' || transaction_index)::bytea)
		AND block_timestamp = to_timestamp(block_number * 12);
SELECT block_timestamp, transaction_hash FROM der.logs WHERE block_number = 200;
SELECT block_number, log_index FROM der.logs WHERE transaction_hash = '\x0505';
-- in the transaction that writes both, and not after it is rolled back
BEGIN;
INSERT INTO der.transactions (block_number, transaction_index, hash) VALUES (300, 0, '\x0300');
INSERT INTO der.logs (block_number, transaction_index, log_index, transaction_hash, address) VALUES (300, 0, 0, '\x0300', '\x01');
SELECT * FROM der.stored('logs', '{transaction_hash}');
SELECT block_number FROM der.logs WHERE transaction_hash = '\x0300';
ROLLBACK;
SELECT count(*) FROM der.logs WHERE block_number = 300;
-- a slot's bytes from its text
INSERT INTO der.state_diffs (block_number, transaction_index, address, key, kind, slot) VALUES
	(1, 0, '\x01', '0x' || repeat('0a', 32), '+', decode(repeat('0a', 32), 'hex')),
	(1, 0, '\x01', 'balance', '*', NULL);
SELECT * FROM der.stored('state_diffs', '{slot,transaction_hash}');
SELECT key, slot, transaction_hash FROM der.state_diffs ORDER BY key;

DROP FUNCTION der.stored;
SELECT hotblocks.drop_dataset('der');

-- rows of a source that come later, to a position that has one, change nothing
SELECT hotblocks.create_dataset('late', 'evm', linkage => 'links');
CREATE FUNCTION late_hash(int) RETURNS bytea LANGUAGE sql IMMUTABLE AS $$ SELECT decode(repeat(lpad($1::text, 2, '0'), 32), 'hex') $$;
BEGIN;
INSERT INTO late.transactions (block_number, transaction_index, hash) VALUES (1, 0, late_hash(11));
INSERT INTO late.logs (block_number, transaction_index, log_index, address, transaction_hash) VALUES (1, 0, 0, '\xaa', late_hash(11));
INSERT INTO late.transactions (block_number, transaction_index, hash) VALUES (0, 0, late_hash(0)), (1, 0, late_hash(22));
SELECT left(transaction_hash::text, 6) FROM late.logs;
COMMIT;
SELECT left(transaction_hash::text, 6) FROM late.logs;
SELECT count(*) FILTER (WHERE transaction_hash = late_hash(11)), count(*) FILTER (WHERE transaction_hash = late_hash(22)) FROM late.logs;
SELECT count(*) FROM late.logs WHERE transaction_hash = late_hash(11);
SELECT count(*) FROM late.logs WHERE transaction_hash = late_hash(22);
-- a function of the statement that writes the logs writes the later transaction
CREATE FUNCTION late_meanwhile(n int) RETURNS bytea LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO late.transactions (block_number, transaction_index, hash) VALUES (n - 1, 0, late_hash(0)), (n, 0, late_hash(33));
	RETURN '\xbb';
END $$;
INSERT INTO late.transactions (block_number, transaction_index, hash) VALUES (3, 0, late_hash(31));
INSERT INTO late.logs (block_number, transaction_index, log_index, address, transaction_hash) SELECT 3, 0, 0, late_meanwhile(3), late_hash(31);
SELECT left(transaction_hash::text, 6) FROM late.logs WHERE block_number = 3;
SELECT count(*) FROM late.logs WHERE transaction_hash = late_hash(33);
-- transactions that are there before their block is fed
INSERT INTO late.transactions (block_number, transaction_index, hash) VALUES (5, 0, late_hash(55)), (4, 0, late_hash(44));
SELECT (hotblocks.extend('late', format(
	'{"block": {"number": "0x5", "hash": "0x%1$s", "parentHash": "0x%1$s", "timestamp": "0x64", "transactions": [{"hash": "0x%2$s", "transactionIndex": "0x0"}]},
	"receipts": [{"transactionHash": "0x%2$s", "logs": [{"logIndex": "0x0", "address": "0x%3$s", "topics": [], "data": "0x"}]}]}',
	encode(late_hash(50), 'hex'), encode(late_hash(51), 'hex'), repeat('aa', 20)))).head;
SELECT left(transaction_hash::text, 6), block_timestamp FROM late.logs WHERE block_number = 5;
SELECT count(*) FROM late.logs WHERE transaction_hash = late_hash(51);
-- a block's time that comes after logs which have none
INSERT INTO late.blocks (number, hash, timestamp) VALUES (10, late_hash(10), '2020-01-01');
INSERT INTO late.logs (block_number, transaction_index, log_index, address, block_timestamp) VALUES (10, 0, 0, '\xaa', '2020-01-01'), (11, 0, 0, '\xaa', NULL);
INSERT INTO late.blocks (number, hash, timestamp) VALUES (11, late_hash(12), '2020-01-02');
SELECT block_number, block_timestamp IS NULL AS unknown FROM late.logs WHERE block_number >= 10 ORDER BY 1;
SELECT block_number FROM late.logs WHERE block_timestamp = '2020-01-02';
SELECT block_number FROM late.logs WHERE block_timestamp >= '2020-01-01';
DROP FUNCTION late_meanwhile, late_hash;
SELECT hotblocks.drop_dataset('late');
