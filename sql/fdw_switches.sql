--
-- Switches of what the planner is offered: other plans, the same rows
--
\getenv inputdir PG_ABS_SRCDIR
\set explain :inputdir '/test/sql/explain.sql'
\set ECHO none
\i :explain
\set ECHO all
SET client_min_messages = warning;
SET hotblocks.chunk_rows = 1000;
SELECT hotblocks.create_dataset('swi', 'free');
CREATE FOREIGN TABLE swi.t (n bigint NOT NULL, i int NOT NULL, h bytea, x text)
	SERVER swi OPTIONS (block_column 'n', sort_key 'n,i');
INSERT INTO swi.t SELECT g / 5, g % 5, decode(md5(g::text), 'hex'), 'x' || g % 50 FROM generate_series(0, 9999) g;
CREATE TABLE pick (m bigint);
INSERT INTO pick VALUES (7), (1234), (NULL);
ANALYZE pick;

-- conditions: those of joins and LATERAL references too
EXPLAIN (COSTS OFF) SELECT count(*) FROM swi.t WHERE n BETWEEN 10 AND 20 AND x = 'x3';
SELECT count(*) FROM swi.t WHERE n BETWEEN 10 AND 20 AND x = 'x3';
SET hotblocks.enable_filter_pushdown = off;
EXPLAIN (COSTS OFF) SELECT count(*) FROM swi.t WHERE n BETWEEN 10 AND 20 AND x = 'x3';
SELECT count(*) FROM swi.t WHERE n BETWEEN 10 AND 20 AND x = 'x3';
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_material = off;
SELECT replace(p, 't.n = pick.m', 'pick.m = t.n') AS p FROM pg_temp.explain('SELECT t.n, i FROM pick JOIN swi.t ON n = m') p;
SELECT t.n, i FROM pick JOIN swi.t ON n = m ORDER BY 1, 2 LIMIT 3;
SELECT m, i FROM pick, LATERAL (SELECT i FROM swi.t WHERE n = m ORDER BY i DESC LIMIT 1) l ORDER BY 1;
RESET hotblocks.enable_filter_pushdown;

-- parameters of nested loops; those of LATERAL references are no choice
EXPLAIN (COSTS OFF) SELECT t.n, i FROM pick JOIN swi.t ON n = m;
SET hotblocks.enable_parameterized_scan = off;
SELECT p FROM pg_temp.explain('SELECT t.n, i FROM pick JOIN swi.t ON n = m') p WHERE p !~ 'Join Filter';
SELECT t.n, i FROM pick JOIN swi.t ON n = m ORDER BY 1, 2 LIMIT 3;
EXPLAIN (COSTS OFF) SELECT m, i FROM pick, LATERAL (SELECT i FROM swi.t WHERE n = m ORDER BY i DESC LIMIT 1) l;
SELECT m, i FROM pick, LATERAL (SELECT i FROM swi.t WHERE n = m ORDER BY i DESC LIMIT 1) l ORDER BY 1;
RESET hotblocks.enable_parameterized_scan;
RESET enable_hashjoin;
RESET enable_mergejoin;
RESET enable_material;

-- order
EXPLAIN (COSTS OFF) SELECT n, i FROM swi.t ORDER BY n DESC, i DESC LIMIT 3;
SELECT n, i FROM swi.t ORDER BY n DESC, i DESC LIMIT 3;
SET hotblocks.enable_ordered_scan = off;
EXPLAIN (COSTS OFF) SELECT n, i FROM swi.t ORDER BY n DESC, i DESC LIMIT 3;
SELECT n, i FROM swi.t ORDER BY n DESC, i DESC LIMIT 3;
RESET hotblocks.enable_ordered_scan;

DROP TABLE pick;
DROP SERVER swi CASCADE;
SELECT hotblocks.drop_dataset('swi');
