--
-- Orders that the scan gives without a Sort
--
\getenv inputdir PG_ABS_SRCDIR
\set explain :inputdir '/test/sql/explain.sql'
\set ECHO none
\i :explain
\set ECHO all
SET client_min_messages = warning;
SET hotblocks.chunk_rows = 1000;
SELECT hotblocks.create_dataset('ord', 'free');
CREATE FOREIGN TABLE ord.t (n bigint NOT NULL, i int NOT NULL, a int, c text COLLATE "C", x text)
	SERVER ord OPTIONS (block_column 'n', sort_key 'n,i,a,c');
CREATE FOREIGN TABLE ord.loc (k text COLLATE "en-x-icu", v int)
	SERVER ord OPTIONS (sort_key 'k');
INSERT INTO ord.t SELECT g / 5, g % 5, nullif(g % 3, 1), 'c' || g % 4, 'x' || g FROM generate_series(0, 4999) g;
-- chunks that overlap the others
INSERT INTO ord.t SELECT g, 9, 1, 'late', 'late' FROM generate_series(0, 999, 100) g;
INSERT INTO ord.loc VALUES ('b', 1), ('A', 2), ('a', 3);

EXPLAIN (COSTS OFF) SELECT * FROM ord.t ORDER BY n;
EXPLAIN (COSTS OFF) SELECT * FROM ord.t ORDER BY n, i, a, c;
EXPLAIN (COSTS OFF) SELECT * FROM ord.t ORDER BY n DESC, i DESC LIMIT 3;
SELECT n, i, x FROM ord.t ORDER BY n DESC, i DESC LIMIT 3;
SELECT n, i, x FROM ord.t ORDER BY n, i LIMIT 3 OFFSET 4;
-- nulls: last ascending, first descending, either where there are none
EXPLAIN (COSTS OFF) SELECT * FROM ord.t ORDER BY n NULLS FIRST, i;
EXPLAIN (COSTS OFF) SELECT * FROM ord.t ORDER BY n DESC NULLS LAST, i DESC, a DESC;
EXPLAIN (COSTS OFF) SELECT * FROM ord.t ORDER BY n, i, a NULLS FIRST;
EXPLAIN (COSTS OFF) SELECT * FROM ord.t ORDER BY n, i DESC;
EXPLAIN (COSTS OFF) SELECT * FROM ord.t ORDER BY n, c;
EXPLAIN (COSTS OFF) SELECT * FROM ord.t ORDER BY n, x;
EXPLAIN (COSTS OFF) SELECT * FROM ord.t ORDER BY n, i, a, c COLLATE "en-x-icu";
EXPLAIN (COSTS OFF) SELECT * FROM ord.loc ORDER BY k;
SELECT * FROM ord.loc ORDER BY k;
-- a column that is constant does not count
EXPLAIN (COSTS OFF) SELECT * FROM ord.t WHERE n = 5 ORDER BY i, a;
EXPLAIN (COSTS OFF) SELECT * FROM ord.t WHERE i = 3 ORDER BY n, a;
SELECT n, i, a FROM ord.t WHERE n = 500 ORDER BY i DESC;
-- minimum, maximum, grouping, distinct
SELECT trim(p) AS plan FROM pg_temp.explain('SELECT min(n), max(n) FROM ord.t') p WHERE p ~ 'Limit|Scan|Order';
SELECT min(n), max(n) FROM ord.t;
SELECT trim(p) AS plan FROM pg_temp.explain('SELECT DISTINCT ON (n) n, i FROM ord.t ORDER BY n, i LIMIT 2') p WHERE p ~ 'Unique|Sort|Scan|Order';
-- merge join
SET enable_hashjoin = off;
SET enable_nestloop = off;
EXPLAIN (COSTS OFF) SELECT count(*) FROM ord.t t JOIN ord.t u USING (n, i);
SELECT count(*) FROM ord.t t JOIN ord.t u USING (n, i);
RESET enable_hashjoin;
RESET enable_nestloop;
-- LIMIT stops early
SELECT pg_temp.explain_analyze('SELECT n, i FROM ord.t ORDER BY n DESC LIMIT 1');
-- cursors
BEGIN;
DECLARE cur SCROLL CURSOR FOR SELECT n, i FROM ord.t ORDER BY n, i;
FETCH 2 FROM cur;
FETCH BACKWARD 1 FROM cur;
COMMIT;
-- partitions: an ordered append
CREATE TABLE part (n bigint NOT NULL, i int NOT NULL) PARTITION BY RANGE (n);
CREATE FOREIGN TABLE part_lo PARTITION OF part FOR VALUES FROM (0) TO (500)
	SERVER ord OPTIONS ("table" 'lo', block_column 'n', sort_key 'n,i');
CREATE FOREIGN TABLE part_hi PARTITION OF part FOR VALUES FROM (500) TO (1000)
	SERVER ord OPTIONS ("table" 'hi', block_column 'n', sort_key 'n,i');
INSERT INTO part SELECT g / 3, g % 3 FROM generate_series(0, 2999) g;
SELECT tableoid::regclass, count(*), min(n), max(n) FROM part GROUP BY 1 ORDER BY 1;
EXPLAIN (COSTS OFF) SELECT * FROM part ORDER BY n, i LIMIT 5;
SELECT * FROM part ORDER BY n DESC, i DESC LIMIT 2;
SELECT * FROM part WHERE n = 499;
INSERT INTO part_lo VALUES (700, 1);
DROP TABLE part;
SELECT hotblocks.drop_dataset('ord');
