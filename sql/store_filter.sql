-- A lookup by hash over a stack of small chunks opens those that may have the
-- hash: from the second question on, whatever came and went in between.
SET client_min_messages = warning;
SELECT hotblocks.create_dataset('stack', 'evm', linkage => 'none');
SET hotblocks.missing_data = 'ignore';
SET hotblocks.chunk_rows = 5;
CREATE FUNCTION pg_temp.h(n int) RETURNS bytea LANGUAGE sql IMMUTABLE
	AS $$SELECT sha256(convert_to(n::text, 'UTF8'))$$;
CREATE PROCEDURE pg_temp.fill(lo int, hi int) LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO stack.transactions (block_number, transaction_index, hash, "from", nonce, gas)
	SELECT n / 5, n % 5, pg_temp.h(n), '\x00', n, n FROM generate_series(lo, hi) n;
	INSERT INTO stack.logs (block_number, transaction_index, log_index, transaction_hash, address, data)
	SELECT n / 5, n % 5, n % 5, pg_temp.h(n), '\x00', '' FROM generate_series(lo, hi) n;
END $$;
CREATE FUNCTION pg_temp.chunks_read(q text, OUT got text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	FOR got IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || q LOOP
		got := trim(got);
		IF got ~ '^Chunks (Read|Skipped)' THEN RETURN NEXT; END IF;
	END LOOP;
END $$;
CALL pg_temp.fill(0, 299);
SELECT count(*) FROM hotblocks.chunk_list('stack') WHERE table_name = 'transactions';

-- the first question asks each chunk, the second knows
SELECT nonce FROM stack.transactions WHERE hash = pg_temp.h(123);
SELECT * FROM pg_temp.chunks_read('SELECT nonce FROM stack.transactions WHERE hash = pg_temp.h(123)');
SELECT nonce FROM stack.transactions WHERE hash = pg_temp.h(123);
SELECT nonce FROM stack.transactions WHERE hash = pg_temp.h(1000);
SELECT nonce FROM stack.transactions
	WHERE hash IN (pg_temp.h(7), pg_temp.h(250), pg_temp.h(1000)) ORDER BY block_number DESC;
SELECT nonce FROM stack.transactions WHERE hash = pg_temp.h(7) OR nonce = 8 ORDER BY 1;
SELECT nonce FROM stack.transactions WHERE hash = pg_temp.h(7) AND block_number > 1;

-- every value, both ways, as a parameter
CREATE TEMP TABLE wanted AS SELECT n, pg_temp.h(n) AS hash FROM generate_series(-5, 310) n;
ANALYZE wanted;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SELECT count(*), count(*) FILTER (WHERE w.n = t.nonce) AS right
	FROM wanted w JOIN stack.transactions t ON t.hash = w.hash;
SELECT count(*), count(*) FILTER (WHERE w.n = l.block_number * 5 + l.log_index) AS right
	FROM wanted w JOIN stack.logs l ON l.transaction_hash = w.hash;
SET hotblocks.enable_hash_index = off;
SELECT count(*), count(*) FILTER (WHERE w.n = t.nonce) AS right
	FROM wanted w JOIN stack.transactions t ON t.hash = w.hash;
RESET hotblocks.enable_hash_index;

-- chunks come, are rolled back, and go
BEGIN;
CALL pg_temp.fill(300, 304);
SELECT nonce FROM stack.transactions WHERE hash = pg_temp.h(302);
ROLLBACK;
SELECT nonce FROM stack.transactions WHERE hash = pg_temp.h(302);
CALL pg_temp.fill(300, 309);
SELECT nonce FROM stack.transactions WHERE hash = pg_temp.h(302);
SELECT nonce FROM stack.transactions WHERE hash = pg_temp.h(309);
SELECT block_number, log_index FROM stack.logs WHERE transaction_hash = pg_temp.h(309);
TRUNCATE stack.transactions, stack.logs, stack.traces, stack.state_diffs;
SELECT nonce FROM stack.transactions WHERE hash = pg_temp.h(302);
CALL pg_temp.fill(400, 699);
SELECT nonce FROM stack.transactions WHERE hash = pg_temp.h(302);
SELECT nonce FROM stack.transactions WHERE hash = pg_temp.h(402);
SELECT nonce FROM stack.transactions WHERE hash = pg_temp.h(698);

-- most of the chunks that it knew are gone: it begins anew
TRUNCATE stack.transactions, stack.logs, stack.traces, stack.state_diffs;
CALL pg_temp.fill(10000, 14999);
SELECT nonce FROM stack.transactions WHERE hash = pg_temp.h(10001);
SELECT nonce FROM stack.transactions WHERE hash = pg_temp.h(14998);
TRUNCATE stack.transactions, stack.logs, stack.traces, stack.state_diffs;
CALL pg_temp.fill(20000, 20299);
SELECT nonce FROM stack.transactions WHERE hash = pg_temp.h(20001);
SELECT nonce FROM stack.transactions WHERE hash = pg_temp.h(20298);
SELECT nonce FROM stack.transactions WHERE hash = pg_temp.h(20298);
SELECT nonce FROM stack.transactions WHERE hash = pg_temp.h(14998);
SELECT nonce FROM stack.transactions
	WHERE hash <> ALL (ARRAY[pg_temp.h(20298), pg_temp.h(20299)]) AND nonce >= 20296 ORDER BY 1;

-- no room: every chunk is asked
SET hotblocks.directory_cache_size = '64kB';
SELECT hotblocks.drop_dataset('stack');
SELECT hotblocks.create_dataset('stack', 'evm', linkage => 'none');
CALL pg_temp.fill(0, 19999);
SELECT nonce FROM stack.transactions WHERE hash = pg_temp.h(19998);
SELECT nonce FROM stack.transactions WHERE hash = pg_temp.h(3);
SELECT nonce FROM stack.transactions WHERE hash = pg_temp.h(19997);
SELECT hotblocks.drop_dataset('stack');
