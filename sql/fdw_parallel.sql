--
-- Scans in parallel workers: the rows of a serial scan, each of them once
--
SET client_min_messages = warning;
SET hotblocks.chunk_rows = 40000;
SELECT hotblocks.create_dataset('parl', 'free');
CREATE FOREIGN TABLE parl.t (n bigint NOT NULL, i int NOT NULL, h bytea, x text, q numeric)
	SERVER parl OPTIONS (block_column 'n', sort_key 'n,i');
-- several chunks, of several parts each; one small chunk; chunks that overlap
INSERT INTO parl.t SELECT g / 100, g % 100, decode(md5(g::text), 'hex'), 'x' || g % 50, NULLIF(g % 7, 3)
	FROM generate_series(0, 99999) g;
INSERT INTO parl.t SELECT g * 20, 100 + g % 3, decode(md5(g::text), 'hex'), 'y' || g % 5, g FROM generate_series(0, 49) g;
CREATE TABLE heap AS SELECT * FROM parl.t;
CREATE FOREIGN TABLE parl.one (n bigint NOT NULL, i int NOT NULL)
	SERVER parl OPTIONS (block_column 'n', sort_key 'n,i');
SET hotblocks.chunk_rows = 200000;
INSERT INTO parl.one SELECT g / 100, g % 100 FROM generate_series(0, 69999) g;
ANALYZE parl.t, parl.one, heap;

SELECT current_setting('hotblocks.executor_mode');
SET hotblocks.executor_mode = 'shared';

-- small tables are not worth workers
EXPLAIN (COSTS OFF) SELECT count(*), sum(i) FROM parl.t;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
EXPLAIN (COSTS OFF) SELECT count(*), sum(i) FROM parl.t;
-- nor are lookups
SET parallel_setup_cost = 1000;
EXPLAIN (COSTS OFF) SELECT * FROM parl.t WHERE n = 17 AND i = 3;
SET parallel_setup_cost = 0;
SET hotblocks.enable_parallel_scan = off;
EXPLAIN (COSTS OFF) SELECT count(*), sum(i) FROM parl.t;
RESET hotblocks.enable_parallel_scan;

-- each number of workers, the leader taking part or not
CREATE FUNCTION compare(query text) RETURNS TABLE (workers int, leader bool, fault text) LANGUAGE plpgsql AS $$
DECLARE
	missing bigint;
	extra bigint;
BEGIN
	FOREACH workers IN ARRAY '{0,1,2,3,8}'::int[] LOOP
		PERFORM set_config('max_parallel_workers_per_gather', workers::text, true);
		FOREACH leader IN ARRAY '{t,f}'::bool[] LOOP
			PERFORM set_config('parallel_leader_participation', leader::text, true);
			EXECUTE format('CREATE TEMP TABLE got AS %s', format(query, 'parl.t'));
			PERFORM set_config('max_parallel_workers_per_gather', '0', true);
			EXECUTE format('CREATE TEMP TABLE want AS %s', format(query, 'heap'));
			SELECT count(*) FROM (TABLE want EXCEPT ALL TABLE got) d INTO missing;
			SELECT count(*) FROM (TABLE got EXCEPT ALL TABLE want) d INTO extra;
			DROP TABLE got, want;
			PERFORM set_config('max_parallel_workers_per_gather', workers::text, true);
			IF missing + extra > 0 THEN
				fault := format('%s missing, %s too many', missing, extra);
				RETURN NEXT;
			END IF;
		END LOOP;
	END LOOP;
END $$;
SELECT * FROM compare('SELECT * FROM %s WHERE i BETWEEN 90 AND 101');
SELECT * FROM compare('SELECT x, count(*), count(q) AS q, sum(q) FROM %s WHERE n > 33 GROUP BY x');
SELECT * FROM compare('SELECT count(*) FROM %s WHERE n BETWEEN 100 AND 820');
SELECT * FROM compare('SELECT count(*) FROM %s');
SELECT * FROM compare('SELECT a.n, b.i, a.x FROM %1$s a JOIN %1$s b ON a.h = b.h AND a.q IS NOT NULL WHERE b.i > 97');

-- one chunk is dealt out by pages
SET max_parallel_workers_per_gather = 3;
EXPLAIN (COSTS OFF) SELECT count(*), sum(n * i) FROM parl.one WHERE i <> 5;
SELECT count(*), sum(n * i) FROM parl.one WHERE i <> 5;
SELECT count(*) FROM parl.one;
SELECT count(*), sum(n) FROM parl.one WHERE n BETWEEN 150 AND 650;
SET max_parallel_workers_per_gather = 0;
SELECT count(*), sum(n * i) FROM parl.one WHERE i <> 5;
SELECT count(*), sum(n) FROM parl.one WHERE n BETWEEN 150 AND 650;
SET max_parallel_workers_per_gather = 3;

-- what EXPLAIN counts is the sum over leader and workers
CREATE FUNCTION counters(query text) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
	plan jsonb;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF, FORMAT json) ' || query INTO plan;
	RETURN jsonb_path_query_first(plan, '$.** ? (exists (@."Pages Read"))') -
		'{Node Type,Async Capable,Parent Relationship,Actual Rows,Actual Loops,Workers,Disabled,Alias}'::text[];
END $$;
CREATE TABLE counted AS
	SELECT query, counters(query) AS parallel, NULL::jsonb AS serial
	FROM (VALUES ('SELECT count(*) FROM parl.t'),
		('SELECT count(*), sum(i) FROM parl.t WHERE n BETWEEN 250 AND 900 AND x <> ''x3'''),
		('SELECT count(*), max(i) FROM parl.t WHERE q = 40 OR x = ''none'''),
		('SELECT count(*) FROM parl.t WHERE n < -1'),
		('SELECT count(*), sum(i) FROM parl.one WHERE n BETWEEN 100 AND 500')) v (query);
SET max_parallel_workers_per_gather = 0;
UPDATE counted SET serial = counters(query);
SELECT query, p ->> 'Parallel Aware' AS aware, p ->> 'Rows Returned' AS returned,
	CASE WHEN p - 'Parallel Aware' <> serial - 'Parallel Aware' THEN jsonb_build_array(p, serial) END AS different
	FROM (SELECT query, parallel AS p, serial FROM counted) c;
SET max_parallel_workers_per_gather = 3;

-- rows of this transaction, in a subtransaction too; serializable
BEGIN;
INSERT INTO parl.t SELECT 5000 + g / 100, g % 100, '\x00', 'own', 1 FROM generate_series(0, 999) g;
SAVEPOINT s;
INSERT INTO parl.t SELECT 6000 + g / 100, g % 100, '\x00', 'own', 1 FROM generate_series(0, 999) g;
SELECT count(*), sum(i) FROM parl.t WHERE x = 'own';
ROLLBACK TO s;
SELECT count(*), sum(i) FROM parl.t WHERE x = 'own';
SELECT count(*) FROM parl.t;
ROLLBACK;
SELECT count(*), sum(i) FROM parl.t WHERE x = 'own';
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT count(*), sum(i) FROM parl.t WHERE n > 500;
COMMIT;

-- Gather again and again, stopped early, in a cursor
SET enable_material = off;
SET enable_memoize = off;
EXPLAIN (COSTS OFF) SELECT v, (SELECT count(*) FROM parl.t WHERE i > 98 OFFSET v - v) FROM generate_series(1, 3) v;
SELECT v, (SELECT count(*) FROM parl.t WHERE i > 98 OFFSET v - v) FROM generate_series(1, 3) v;
SELECT v, s.* FROM generate_series(1, 3) v LEFT JOIN LATERAL (SELECT count(*), sum(i + v) FROM parl.t WHERE i > 98) s ON true;
SELECT count(*) FROM (SELECT h FROM parl.t WHERE i > 3 LIMIT 10) s;
SELECT v, (SELECT count(*) FROM (SELECT h FROM parl.t WHERE i > 98 LIMIT 10 + v) l) FROM generate_series(1, 3) v;
SELECT count(*) FROM parl.t WHERE n < (SELECT max(n) / 2 FROM parl.one);
BEGIN;
DECLARE c CURSOR FOR SELECT count(*), sum(i) FROM parl.t;
FETCH 1 FROM c;
FETCH 1 FROM c;
COMMIT;
RESET enable_material;
RESET enable_memoize;

-- joins and partitions
EXPLAIN (COSTS OFF) SELECT count(*) FROM parl.t JOIN heap USING (h);
SELECT count(*) FROM parl.t JOIN heap USING (h);
SELECT count(*) FROM heap JOIN parl.t USING (h);
CREATE TABLE parts (n bigint NOT NULL, i int NOT NULL) PARTITION BY RANGE (n);
CREATE FOREIGN TABLE parl.low PARTITION OF parts FOR VALUES FROM (0) TO (400) SERVER parl OPTIONS (block_column 'n', sort_key 'n,i');
CREATE FOREIGN TABLE parl.high PARTITION OF parts FOR VALUES FROM (400) TO (700) SERVER parl OPTIONS (block_column 'n', sort_key 'n,i');
INSERT INTO parts SELECT * FROM parl.one;
EXPLAIN (COSTS OFF) SELECT count(*), sum(i) FROM parts;
SELECT count(*), sum(i) FROM parts;
SELECT count(*), sum(i) FROM parts WHERE n > 300;

-- errors and warnings of workers
SET parallel_leader_participation = off;
\set VERBOSITY terse
SELECT count(1 / (i - 50)) FROM parl.t;
SELECT count(*) FROM parl.t;
SELECT hotblocks.create_dataset('parle', 'evm');
INSERT INTO parle.blocks (number, hash, parent_hash, timestamp)
	SELECT g, decode(md5(g::text) || md5(g::text), 'hex'), decode(md5((g - 1)::text) || md5((g - 1)::text), 'hex'), to_timestamp(g)
	FROM generate_series(0, 999) g;
INSERT INTO parle.logs (block_number, transaction_index, log_index, address, data)
	SELECT g / 50, 0, g % 50, '\x1234567890123456789012345678901234567890', '' FROM generate_series(0, 39999) g;
SELECT count(*), sum(log_index) FROM parle.logs;
RESET parallel_leader_participation;
SELECT count(*), sum(log_index) FROM parle.logs;
SET hotblocks.missing_data = error;
SELECT count(*), sum(log_index) FROM parle.logs;
SET hotblocks.missing_data = ignore;
SELECT count(*), sum(log_index) FROM parle.logs;

SET client_min_messages = error;
DROP SERVER parle CASCADE;
SELECT hotblocks.drop_dataset('parle');
DROP FUNCTION compare, counters;
DROP TABLE heap, counted, parts;
DROP SERVER parl CASCADE;
SELECT hotblocks.drop_dataset('parl');
