--
-- What a query may do with a table: the same rows as from a heap table
--
SET client_min_messages = warning;
SET hotblocks.chunk_rows = 300;
SELECT hotblocks.create_dataset('rd', 'free');
CREATE SCHEMA rdh;
CREATE TABLE rdh.t (n bigint NOT NULL, i int, h bytea, x text COLLATE "C", q numeric, b bool);
CREATE FOREIGN TABLE rd.t (n bigint NOT NULL, i int, h bytea, x text COLLATE "C", q numeric, b bool)
	SERVER rd OPTIONS (block_column 'n', sort_key 'n,i,x');
CREATE TABLE rdh.u (n bigint NOT NULL, i int NOT NULL, h bytea, y text);
CREATE FOREIGN TABLE rd.u (n bigint NOT NULL, i int NOT NULL, h bytea, y text)
	SERVER rd OPTIONS (block_column 'n', sort_key 'n,i');
INSERT INTO rdh.t SELECT g / 10, NULLIF(g % 10, 4), decode(md5(g::text), 'hex'), NULLIF('x' || g % 7, 'x5'), g % 13, NULLIF(g % 3, 2)::bool
	FROM generate_series(0, 999) g;
-- a chunk whose sort column is NULL throughout, and one that overlaps
INSERT INTO rdh.t SELECT 200 + g, NULL, NULL, NULL, NULL, NULL FROM generate_series(0, 299) g;
INSERT INTO rdh.u SELECT g / 5, g % 5, decode(md5((g * 3)::text), 'hex'), 'y' || g % 11 FROM generate_series(0, 499) g;
INSERT INTO rd.t SELECT * FROM rdh.t;
INSERT INTO rd.t SELECT n, i + 5, h, x, q, b FROM rdh.t WHERE n % 9 = 0;
INSERT INTO rdh.t SELECT n, i + 5, h, x, q, b FROM rdh.t WHERE n % 9 = 0;
INSERT INTO rd.u SELECT * FROM rdh.u;
CREATE TABLE k (a bigint, c int, h bytea);
INSERT INTO k SELECT g * 7, g % 4, decode(md5((g * 70)::text), 'hex') FROM generate_series(1, 20) g;
INSERT INTO k VALUES (NULL, NULL, NULL);
ANALYZE rdh.t, rdh.u, rd.t, rd.u, k;

-- The rows of a query, or its error, with the tables of each schema; in order
-- if the query has one.
CREATE FUNCTION rows_in(schema text, query text) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
	result text[];
BEGIN
	PERFORM set_config('search_path', schema || ', public', true);
	EXECUTE 'SELECT array_agg(s::text) FROM (' || query || ') s' INTO result;
	IF query !~* 'order by' THEN
		SELECT array_agg(r ORDER BY r COLLATE "C") FROM unnest(result) r INTO result;
	END IF;
	RETURN result;
EXCEPTION WHEN OTHERS THEN
	RETURN ARRAY[SQLSTATE];
END $$;
CREATE FUNCTION same(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	hot text[] := rows_in('rd', query);
	heap text[] := rows_in('rdh', query);
BEGIN
	RETURN CASE WHEN hot IS NOT DISTINCT FROM heap THEN coalesce(cardinality(heap), 0) || ' rows' ELSE
		format('hot has %s, heap %s; %s instead of %s', cardinality(hot), cardinality(heap), hot[1:3], heap[1:3]) END;
END $$;
CREATE TABLE queries (id serial, q text);
INSERT INTO queries (q) VALUES
-- parameters
('SELECT k.*, l.* FROM k, LATERAL (SELECT n, x FROM t WHERE n = a AND i = c) l'),
('SELECT k.*, l.* FROM k LEFT JOIN LATERAL (SELECT n, i FROM t WHERE n > a AND (i = c OR h = k.h) ORDER BY n, i LIMIT 2) l ON true'),
('SELECT k.a, l.* FROM k, LATERAL (SELECT k.c + t.i AS s, n FROM t WHERE n = k.a OFFSET 0) l'),
('SELECT k.a, s.* FROM k, LATERAL (SELECT t.n, u.y, k.c AS z FROM t LEFT JOIN u ON t.n = u.n AND u.i = k.c WHERE t.n = k.a) s'),
('SELECT * FROM t WHERE n = (SELECT max(a) - 100 FROM k) AND i < (SELECT max(c) FROM k)'),
('SELECT * FROM k WHERE EXISTS (SELECT FROM t WHERE t.n = a AND t.i = c) AND NOT EXISTS (SELECT FROM u WHERE u.n = a AND u.i = c)'),
('SELECT * FROM t WHERE (n, i) IN (SELECT a, c FROM k)'),
('SELECT * FROM t WHERE n NOT IN (SELECT a FROM k WHERE a IS NOT NULL) AND n < 30'),
('SELECT a, (SELECT x FROM t WHERE n = a ORDER BY i, x LIMIT 1), ARRAY(SELECT i FROM t WHERE n = a ORDER BY n, i) FROM k'),
-- operators, arrays, rows
('SELECT * FROM t WHERE n = 7::int2 AND i >= 2::int8'),
('SELECT * FROM t WHERE n < 5.5 AND q = 3::int2'),
('SELECT * FROM t WHERE n = ANY (''{3,NULL,4}''::int[]) AND i = ANY (''{1,2}''::int2[])'),
('SELECT * FROM t WHERE n = ANY (NULL::bigint[]) OR i = ANY (''{}'')'),
('SELECT * FROM t WHERE n <> ALL (''{3,NULL}'') OR x <> ALL (''{x1,x2}'')'),
('SELECT count(*), sum(n) FROM t WHERE n = ANY (ARRAY(SELECT g::bigint * 3 FROM generate_series(1, 21821) g))'),
('SELECT count(*) FROM t WHERE h = ANY (ARRAY(SELECT decode(md5(g::text), ''hex'') FROM generate_series(-21000, 821) g))'),
('SELECT n, i FROM t WHERE (n, i) > (55, 3) ORDER BY n, i, x LIMIT 20'),
('SELECT n, i, x FROM t WHERE (n, i, x) <= (3, 4, ''x3'')'),
('SELECT n, i FROM t WHERE (n, i) < (55, 3) AND (n, i) >= (54, 8)'),
('SELECT n, i FROM t WHERE NOT (n, i) > (5, 3)'),
('SELECT * FROM t WHERE b IS NOT TRUE AND NOT (i = 3 OR x IS NULL)'),
('SELECT * FROM t WHERE i IS DISTINCT FROM NULL AND x IS NOT DISTINCT FROM NULL'),
-- order and nulls
('SELECT n, i, x FROM t ORDER BY n, i, x'),
('SELECT n, i, x FROM t ORDER BY n DESC, i DESC, x DESC'),
('SELECT n, i, x FROM t ORDER BY n, i NULLS FIRST, x NULLS FIRST'),
('SELECT n, i, x FROM t ORDER BY n DESC NULLS LAST, i DESC NULLS LAST, x DESC NULLS LAST'),
('SELECT n, i FROM t WHERE n > 190 ORDER BY n, i LIMIT 5'),
('SELECT n, i FROM t WHERE n > 190 ORDER BY n DESC, i DESC NULLS LAST LIMIT 5'),
('SELECT i, x FROM t WHERE n = 45 ORDER BY i NULLS FIRST, x LIMIT 4'),
('SELECT i, x FROM t WHERE n = 45 ORDER BY i DESC NULLS LAST, x DESC NULLS LAST LIMIT 4'),
('SELECT DISTINCT ON (n) n, i FROM t WHERE n < 60 ORDER BY n, i DESC'),
-- whole rows, no columns
('SELECT t FROM t WHERE i = 3'),
('SELECT (t).x, t IS NULL, t IS NOT NULL, row_to_json(t) FROM t WHERE n % 50 = 1'),
('SELECT k.a, t FROM k LEFT JOIN t ON t.n = k.a AND t.i = 1'),
('SELECT count(t), count(*), count(DISTINCT t) FROM t'),
('SELECT FROM t WHERE n = 3'),
('SELECT count(*) FROM (SELECT FROM t) s'),
('SELECT 1 WHERE EXISTS (SELECT FROM t) AND EXISTS (SELECT FROM t WHERE n = 3)'),
-- joins
('SELECT t.n, u.y, k.c FROM t LEFT JOIN u ON t.h = u.h RIGHT JOIN k ON k.a = t.n'),
('SELECT t.n, u.i, k.a FROM t FULL JOIN u ON t.n = u.n AND t.i = u.i FULL JOIN k ON k.a = u.n AND k.c = u.i'),
('SELECT k.a, s.v, s.n FROM k LEFT JOIN (SELECT n, coalesce(x, ''none'') AS v FROM t WHERE i = 2) s ON s.n = k.a'),
('SELECT k.a, s.v FROM k LEFT JOIN (SELECT u.n, coalesce(t.x, u.y) AS v FROM u LEFT JOIN t ON t.n = u.n AND t.i = u.i) s ON s.n = k.a WHERE s.v IS NULL OR s.v > ''x2'''),
('SELECT a.n, a.i, b.i FROM t a JOIN t b ON a.n = b.n AND a.i < b.i WHERE a.n BETWEEN 20 AND 25'),
('SELECT * FROM t NATURAL JOIN u'),
('SELECT * FROM t JOIN u USING (n, i) WHERE t.n = 33'),
-- queries over queries
('SELECT x, b, count(*), grouping(x, b) FROM t GROUP BY GROUPING SETS ((x, b), (x), ())'),
('SELECT n, x, sum(i) FROM t WHERE n < 9 GROUP BY CUBE (n, x)'),
('SELECT n, i, row_number() OVER (PARTITION BY n ORDER BY i, x), sum(q) OVER (ORDER BY n, i, x ROWS 3 PRECEDING) FROM t WHERE n < 40'),
('SELECT n, i FROM t WHERE n < 30 INTERSECT ALL SELECT n, i FROM u EXCEPT SELECT a, c FROM k'),
('SELECT n FROM t UNION SELECT n FROM u UNION ALL SELECT a FROM k'),
('WITH w AS MATERIALIZED (SELECT * FROM t WHERE n < 20) SELECT w.n, v.i FROM w JOIN w v USING (n, x)'),
('WITH w AS NOT MATERIALIZED (SELECT * FROM t) SELECT w.n, v.i FROM w JOIN w v USING (n, x) WHERE w.n = 12'),
('WITH RECURSIVE r AS (SELECT n, i FROM u WHERE n = 0 UNION SELECT u.n, u.i FROM r JOIN u ON u.n = r.n + 1 AND u.i = r.i WHERE r.n < 15) SELECT * FROM r'),
('SELECT o, n FROM ROWS FROM (generate_series(3, 5), unnest(ARRAY[''a'', ''b''])) WITH ORDINALITY AS f (g, w, o) JOIN t ON n = g AND i = o'),
('SELECT n, i FROM t ORDER BY n, i, x OFFSET 1200 LIMIT 7'),
('SELECT n FROM t WHERE n < 50 GROUP BY n HAVING count(*) FILTER (WHERE i > 4) > 4 ORDER BY n FETCH FIRST 3 ROWS WITH TIES');

SELECT id, same(q), q FROM queries WHERE id > 0 ORDER BY id;
-- only faults from here on: with other joins, orders, workers, code
CREATE FUNCTION faults(step int) RETURNS TABLE (id int, fault text) LANGUAGE sql AS
	$$ SELECT id, s FROM queries, LATERAL (SELECT same(q) AS s) l WHERE id % step = 0 AND s !~ ' rows$' ORDER BY id $$;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SELECT * FROM faults(1);
SET enable_nestloop = off;
SET enable_mergejoin = on;
SET enable_hashagg = off;
SELECT * FROM faults(1);
RESET enable_nestloop;
RESET enable_hashjoin;
RESET enable_hashagg;
SET jit_above_cost = 0;
SET jit_optimize_above_cost = 0;
SELECT * FROM faults(20);
RESET jit_above_cost;
RESET jit_optimize_above_cost;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET enable_sort = off;
SELECT * FROM faults(5);
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
RESET enable_sort;

-- prepared statements: the plan is generic from the sixth time on, or always
PREPARE p (bigint, int, bytea[], text) AS
	SELECT n, i FROM rd.t WHERE (n = $1 AND i <= $2) OR h = ANY ($3) OR (x = $4 AND n < 10) ORDER BY n, i, x;
CREATE FUNCTION executed() RETURNS bigint[] LANGUAGE plpgsql AS $$
DECLARE
	counts bigint[];
	one bigint;
	r record;
BEGIN
	FOR run IN 1..7 LOOP
		one := 0;
		FOR r IN EXECUTE format('EXECUTE p (%s, %s, %L, %L)', run, run, ARRAY[decode(md5((run * 11)::text), 'hex'), NULL]::bytea[], 'x' || run) LOOP
			one := one + r.n * 100 + coalesce(r.i, 0);
		END LOOP;
		counts := counts || one;
	END LOOP;
	RETURN counts;
END $$;
SELECT executed();
SELECT generic_plans > 0 AS generic FROM pg_prepared_statements WHERE name = 'p';
SET plan_cache_mode = force_generic_plan;
SELECT executed();
EXPLAIN (COSTS OFF) EXECUTE p (1, 2, NULL, NULL);
SET plan_cache_mode = force_custom_plan;
SELECT executed();
RESET plan_cache_mode;
DEALLOCATE p;

-- system columns
SELECT tableoid::regclass, ctid, xmin, cmax FROM rd.t WHERE n = 3 AND i = 3;
SELECT count(*) FROM rd.t WHERE tableoid = 'rd.t'::regclass;
SELECT DISTINCT tableoid::regclass FROM rd.t;

-- cursors
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT n, i FROM rd.u WHERE n < 3 ORDER BY n, i;
FETCH 3 FROM c;
FETCH BACKWARD 2 FROM c;
FETCH LAST FROM c;
FETCH PRIOR FROM c;
FETCH ABSOLUTE 2 FROM c;
DECLARE d NO SCROLL CURSOR FOR SELECT n, i FROM rd.u WHERE i = 0;
FETCH 1 FROM d;
FETCH BACKWARD 1 FROM d;
ROLLBACK;
BEGIN;
DECLARE w CURSOR WITH HOLD FOR SELECT n, i, h, y FROM rd.u WHERE n >= 99;
FETCH 1 FROM w;
DELETE FROM k WHERE a IS NULL;
COMMIT;
FETCH ALL FROM w;
CLOSE w;

-- row locks and samples
SELECT n FROM rd.u FOR UPDATE;
SELECT n FROM rd.u TABLESAMPLE system (100);
SELECT n, i FROM rd.u WHERE n = 3 AND i = 1 FOR SHARE;
SELECT u.n, k.a FROM rd.u JOIN k ON u.n = k.a WHERE i = 0 AND a < 20 ORDER BY 1 FOR UPDATE OF k;
WITH w AS (UPDATE k SET c = c + 1 FROM rd.u WHERE u.n = k.a AND u.i = 0 AND a < 20 RETURNING k.a, k.c, u.y) SELECT * FROM w ORDER BY a;
WITH w AS (DELETE FROM k USING rd.u WHERE u.n = k.a AND u.y = 'y3' RETURNING k.a) SELECT * FROM w ORDER BY a;

-- columns added, dropped, renamed, retyped
ALTER FOREIGN TABLE rd.u DROP COLUMN h;
SELECT u FROM rd.u WHERE n = 5 AND i < 2;
ALTER FOREIGN TABLE rd.u ADD COLUMN h bytea, ADD COLUMN z int DEFAULT 5;
SELECT u, u.h = decode(md5('75'), 'hex') AS again FROM rd.u WHERE n = 5 AND i < 2;
SELECT count(*) FROM rd.u WHERE z IS NULL;
SELECT count(*) FROM rd.u WHERE z = 5;
INSERT INTO rd.u (n, i) VALUES (1000, 0);
SELECT n, i, z FROM rd.u WHERE z = 5;
ALTER FOREIGN TABLE rd.u RENAME COLUMN y TO why;
SELECT count(*) FROM rd.u;
ALTER FOREIGN TABLE rd.u ALTER COLUMN why OPTIONS (ADD "column" 'y');
SELECT why FROM rd.u WHERE n = 5 AND i = 1;
ALTER FOREIGN TABLE rd.u ALTER COLUMN i TYPE bigint;
SELECT u FROM rd.u WHERE n = 5 AND i = 1;
ALTER FOREIGN TABLE rd.u ALTER COLUMN i TYPE int;

-- views with a barrier: a function that tells what it sees gets no other rows
CREATE FUNCTION leak(bigint) RETURNS bool LANGUAGE plpgsql COST 0.0000001 AS $$ BEGIN RAISE WARNING 'leaked %', $1; RETURN true; END $$;
CREATE VIEW barrier WITH (security_barrier) AS SELECT n, i FROM rd.u WHERE n = 7 AND i > 2;
EXPLAIN (COSTS OFF) SELECT * FROM barrier WHERE leak(n * 10 + i) AND i <> 3;
SELECT * FROM barrier WHERE leak(n * 10 + i) AND i <> 3;

-- a child of a heap table, and a parent
CREATE TABLE top (n bigint NOT NULL, i int NOT NULL);
INSERT INTO top VALUES (-1, -1);
CREATE FOREIGN TABLE rd.mid () INHERITS (top) SERVER rd OPTIONS ("table" 'u', block_column 'n', sort_key 'n,i');
CREATE FOREIGN TABLE rd.leaf (x text COLLATE "C") INHERITS (rd.mid) SERVER rd OPTIONS ("table" 't', block_column 'n', sort_key 'n,i,x');
ALTER TABLE top ALTER i DROP NOT NULL;
ALTER FOREIGN TABLE rd.leaf ALTER i DROP NOT NULL;
SELECT tableoid::regclass, count(*), sum(i) FROM top GROUP BY 1 ORDER BY 1;
SELECT tableoid::regclass, * FROM top WHERE n = 7 AND i < 2 ORDER BY 1, 2, 3;
SELECT top FROM ONLY top;
SELECT count(*) FROM ONLY rd.mid;
ANALYZE top;
SELECT count(*) > 0 AS statistics FROM pg_stats WHERE tablename = 'top' AND inherited;

-- partitions, one with another order of columns, one a heap table
CREATE TABLE pt (n bigint NOT NULL, i int NOT NULL, h bytea) PARTITION BY RANGE (n);
CREATE FOREIGN TABLE rd.p1 PARTITION OF pt FOR VALUES FROM (0) TO (100) SERVER rd OPTIONS (block_column 'n', sort_key 'n,i');
CREATE FOREIGN TABLE rd.p2 (gone int, h bytea, i int NOT NULL, n bigint NOT NULL) SERVER rd OPTIONS (block_column 'n', sort_key 'n,i');
ALTER FOREIGN TABLE rd.p2 DROP COLUMN gone;
ALTER TABLE pt ATTACH PARTITION rd.p2 FOR VALUES FROM (100) TO (200);
CREATE TABLE p3 PARTITION OF pt FOR VALUES FROM (200) TO (300);
CREATE INDEX ON p3 (n, i);
CREATE TABLE pt2 (LIKE pt) PARTITION BY RANGE (n);
CREATE FOREIGN TABLE rd.r1 PARTITION OF pt2 FOR VALUES FROM (0) TO (100) SERVER rd OPTIONS ("table" 'p1', block_column 'n', sort_key 'n,i');
CREATE TABLE r2 PARTITION OF pt2 FOR VALUES FROM (100) TO (200);
CREATE TABLE r3 PARTITION OF pt2 FOR VALUES FROM (200) TO (300);
CREATE TABLE rdh.pt AS SELECT g / 4::bigint AS n, g % 4 AS i, decode(md5(g::text), 'hex') AS h FROM generate_series(0, 1199) g;
CREATE TABLE rdh.pt2 AS SELECT g / 4::bigint AS n, g % 4 AS i, decode(md5(g::text), 'hex') AS h FROM generate_series(0, 1199) g;
INSERT INTO pt SELECT * FROM rdh.pt;
INSERT INTO pt2 SELECT * FROM rdh.pt2 WHERE n >= 100;
ANALYZE pt, pt2;
SELECT tableoid::regclass, count(*), min(n), max(n) FROM pt GROUP BY 1 ORDER BY 1;
EXPLAIN (COSTS OFF) SELECT n, i FROM pt ORDER BY n, i LIMIT 3;
EXPLAIN (COSTS OFF) SELECT n, i FROM pt WHERE n = 150;
SET enable_partitionwise_join = on;
SET enable_partitionwise_aggregate = on;
TRUNCATE queries;
INSERT INTO queries (q) VALUES
('SELECT n, i, h FROM pt'),
('SELECT pt FROM pt'),
('SELECT n, i FROM pt ORDER BY n, i'),
('SELECT n, i FROM pt ORDER BY n DESC, i DESC LIMIT 450'),
('SELECT n, i, h FROM pt WHERE n = ANY (''{3,150,250,99,100}'') AND i > 1'),
('SELECT pt.n, pt.i, pt2.h FROM pt JOIN pt2 USING (n, i)'),
('SELECT pt.n, pt2.i FROM pt LEFT JOIN pt2 ON pt.n = pt2.n AND pt.h = pt2.h AND pt2.i = 1'),
('SELECT n, count(*), sum(i) FROM pt GROUP BY n'),
('SELECT k.a, pt.i FROM k JOIN pt ON pt.n = k.a'),
('SELECT k.a, l.i, l.v FROM k, LATERAL (SELECT pt.i, pt2.i + k.c AS v FROM pt JOIN pt2 USING (n, i) WHERE n = k.a) l'),
('SELECT count(*) FROM pt WHERE n < (SELECT 150)');
ALTER TABLE pt SET SCHEMA rd;
ALTER TABLE pt2 SET SCHEMA rd;
SELECT same(q), q FROM queries ORDER BY id;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SELECT * FROM faults(1);
RESET enable_hashjoin;
RESET enable_mergejoin;
-- row security of the parent
CREATE ROLE rd_reader;
GRANT USAGE ON SCHEMA rd TO rd_reader;
GRANT SELECT ON rd.pt TO rd_reader;
ALTER TABLE rd.pt ENABLE ROW LEVEL SECURITY;
CREATE POLICY reader ON rd.pt USING (n % 100 = 1);
SET ROLE rd_reader;
SELECT n, i FROM rd.pt WHERE i = 2 AND leak(n) ORDER BY n;
RESET ROLE;

SET client_min_messages = error;
DROP OWNED BY rd_reader;
DROP ROLE rd_reader;
DROP FUNCTION faults(int), same, rows_in, executed;
DROP VIEW barrier;
DROP FUNCTION leak;
DROP TABLE queries, k, rd.pt, rd.pt2, top CASCADE;
DROP SCHEMA rdh CASCADE;
DROP SERVER rd CASCADE;
SELECT hotblocks.drop_dataset('rd');
DROP SCHEMA rd;
