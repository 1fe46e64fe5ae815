-- What make demo shows of dataset "demo"; run by tools/demo.
\set QUIET on
\pset footer off
\pset null -
SET client_min_messages = warning;
-- Some tables may not have been delivered; for a demo that is fine.
SET hotblocks.missing_data = 'ignore';

-- A heap copy with the btrees that such tables usually have: the sort key, the
-- hashes, and what filters name.
CREATE SCHEMA heap;
DO $$
DECLARE
	t record;
	c record;
BEGIN
	FOR t IN SELECT k.table_name, k.sort_key FROM hotblocks.kind_table k WHERE k.kind = 'evm' ORDER BY k.ordinal LOOP
		EXECUTE format('CREATE TABLE heap.%1$I AS SELECT * FROM demo.%1$I', t.table_name);
		EXECUTE format('CREATE INDEX ON heap.%I (%s)', t.table_name,
			(SELECT string_agg(quote_ident(s), ', ') FROM unnest(t.sort_key) s));
		FOR c IN SELECT column_name FROM hotblocks.kind_column k
				WHERE k.kind = 'evm' AND k.table_name = t.table_name
					AND (k.hash_index OR k.column_name IN ('address', 'topic0', 'topic1', 'topic2', 'from', 'to')) LOOP
			EXECUTE format('CREATE INDEX ON heap.%I (%I)', t.table_name, c.column_name);
		END LOOP;
	END LOOP;
END
$$;

ANALYZE;

CREATE TEMP TABLE heap_column (table_name text, column_name text, bytes bigint);
DO $$
DECLARE
	c record;
BEGIN
	FOR c IN SELECT k.table_name, k.column_name FROM hotblocks.kind_column k WHERE k.kind = 'evm' LOOP
		EXECUTE format('INSERT INTO heap_column SELECT %L, %L, coalesce(sum(pg_column_size(%I)), 0) FROM heap.%I',
			c.table_name, c.column_name, c.column_name, c.table_name);
	END LOOP;
END
$$;
CREATE TEMP TABLE hot_column AS
	SELECT t.table_name, c.column_name, sum(c.bytes)::bigint AS bytes,
		string_agg(DISTINCT c.encoding, ', ' ORDER BY c.encoding) AS encoding
	FROM hotblocks.kind_table t, hotblocks.chunk_columns('demo', t.table_name) c
	WHERE t.kind = 'evm'
	GROUP BY 1, 2;
CREATE TEMP TABLE table_size AS
	SELECT t.ordinal, t.table_name, coalesce(c.rows, 0) AS rows, coalesce(c.chunks, 0) AS chunks,
		coalesce(c.bytes, 0) AS hot, pg_table_size('heap.' || quote_ident(t.table_name)) AS heap,
		pg_indexes_size('heap.' || quote_ident(t.table_name)) AS indexes
	FROM hotblocks.kind_table t
		LEFT JOIN (SELECT table_name, sum(rows) AS rows, count(*) AS chunks, sum(bytes) AS bytes
			FROM hotblocks.chunks WHERE dataset = 'demo' GROUP BY 1) c USING (table_name)
	WHERE t.kind = 'evm';

\echo
\echo What is stored (bytes; heap is the same rows in ordinary tables, indexes are their btrees):
SELECT table_name AS "table", rows, chunks, hot AS hotblocks, heap, indexes,
	round(hot / nullif((heap + indexes)::numeric, 0), 2) AS ratio
FROM (
	SELECT * FROM table_size WHERE rows > 0
	UNION ALL
	SELECT 99, 'all, as on disk', sum(rows), sum(chunks),
		(SELECT bytes FROM hotblocks.datasets WHERE name = 'demo'), sum(heap), sum(indexes)
	FROM table_size WHERE rows > 0) s
ORDER BY ordinal;

\echo The largest columns (bytes):
SELECT h.table_name AS "table", h.column_name AS "column", coalesce(c.bytes, 0) AS hotblocks, h.bytes AS heap,
	round(coalesce(c.bytes, 0) / nullif(h.bytes::numeric, 0), 2) AS ratio, c.encoding AS "stored as"
FROM heap_column h LEFT JOIN hot_column c USING (table_name, column_name)
ORDER BY h.bytes DESC, 1, 2 LIMIT 10;

-- A contract with an event that has some of the logs but not most of them, and
-- a tenth of the blocks around the middle one of them.  A chain without logs has
-- the middle tenth of its blocks, and the rest is about its transactions.
SELECT EXISTS (SELECT FROM demo.logs WHERE topic0 IS NOT NULL) AS has_logs,
	min(number) + (max(number) - min(number)) * 45 / 100 AS lo,
	min(number) + (max(number) - min(number)) * 55 / 100 AS hi
FROM demo.blocks \gset
\if :has_logs
SELECT hotblocks.to_hex(address) AS address, hotblocks.to_hex(topic0) AS topic0,
	middle - span / 20 AS lo, middle + span / 20 AS hi
FROM (SELECT address, topic0, count(*) AS n, sum(count(*)) OVER () AS total,
		min(octet_length(data)) AS data_length,
		percentile_disc(0.5) WITHIN GROUP (ORDER BY block_number) AS middle
	FROM demo.logs WHERE topic0 IS NOT NULL GROUP BY 1, 2) l,
	(SELECT max(number) - min(number) AS span FROM demo.blocks) b
ORDER BY data_length < 32, abs(n - total / 10.0), 1, 2 LIMIT 1 \gset
\endif

\echo A range of blocks:
\set ECHO queries
SELECT number, "timestamp", gas_used, base_fee_per_gas,
    (SELECT count(*) FROM demo.transactions t WHERE t.block_number = b.number) AS transactions
FROM demo.blocks b WHERE number BETWEEN :lo AND :hi ORDER BY number LIMIT 4;
\set ECHO none

\if :has_logs
\echo The last logs of a contract and an event:
\set ECHO queries
SELECT block_number, log_index, hotblocks.topic_to_address(topic1) AS topic1, hotblocks.uint256(data, 0) AS value
FROM demo.logs
WHERE address = hotblocks.hex(:'address')
  AND topic0 = hotblocks.hex(:'topic0')
ORDER BY block_number DESC, transaction_index DESC, log_index DESC LIMIT 4;
\set ECHO none

\echo Those logs with their transactions:
\set ECHO queries
SELECT l.block_number, l.log_index, t."from", t.nonce, t.gas_used
FROM demo.logs l JOIN demo.transactions t USING (block_number, transaction_index)
WHERE l.address = hotblocks.hex(:'address')
  AND l.topic0 = hotblocks.hex(:'topic0')
ORDER BY l.block_number, l.log_index LIMIT 4;
\set ECHO none

\pset tuples_only on
\echo What a filter in a range of blocks reads, and what it skips:
\set ECHO queries
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF)
SELECT log_index, data FROM demo.logs
WHERE address = hotblocks.hex(:'address') AND block_number BETWEEN :lo AND :hi;
\set ECHO none
\else
\pset tuples_only on
\echo The chain has no logs.  What transactions of a range of blocks read, and what that skips:
\set ECHO queries
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF)
SELECT hash, "from", "to", value FROM demo.transactions
WHERE value > 0 AND block_number BETWEEN :lo AND :hi;
\set ECHO none
\endif
