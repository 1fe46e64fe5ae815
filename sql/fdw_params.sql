--
-- Values that are known only when the scan begins
--
SET client_min_messages = warning;
SET hotblocks.chunk_rows = 1000;
SELECT hotblocks.create_dataset('par', 'free');
CREATE FOREIGN TABLE par.t (n bigint NOT NULL, i int NOT NULL, h bytea, x text)
	SERVER par OPTIONS (block_column 'n', sort_key 'n,i');
CREATE FOREIGN TABLE par.u (n bigint NOT NULL, i int NOT NULL, h bytea, y text)
	SERVER par OPTIONS (block_column 'n', sort_key 'n,i');
INSERT INTO par.t SELECT g / 5, g % 5, decode(md5(g::text), 'hex'), 'x' || g % 50 FROM generate_series(0, 9999) g;
INSERT INTO par.u SELECT g / 5, g % 5, decode(md5(g::text), 'hex'), 'y' || g % 70 FROM generate_series(0, 9999) g;
CREATE TABLE pick (k int, m bigint, h bytea);
INSERT INTO pick SELECT g, g * 37, decode(md5((g * 100)::text), 'hex') FROM generate_series(1, 5) g;
INSERT INTO pick VALUES (6, NULL, NULL);
ANALYZE pick;

-- prepared statements, custom and generic plans
PREPARE byblock (bigint, int) AS SELECT n, i, x FROM par.t WHERE n = $1 AND i < $2;
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE byblock (7, 2);
EXECUTE byblock (7, 2);
EXECUTE byblock (NULL, 2);
EXECUTE byblock (99999, 2);
PREPARE bylist (bigint[], bytea) AS SELECT n, i, x FROM par.t WHERE n = ANY ($1) OR h = $2 ORDER BY n, i;
EXPLAIN (COSTS OFF) EXECUTE bylist ('{3,NULL}', NULL);
EXECUTE bylist ('{3,NULL}', decode(md5('777'), 'hex'));
EXECUTE bylist (NULL, NULL);
SET plan_cache_mode = force_custom_plan;
EXPLAIN (COSTS OFF) EXECUTE byblock (7, 2);
RESET plan_cache_mode;
-- a plan outlives changes of the foreign table
ALTER FOREIGN TABLE par.t RENAME COLUMN h TO hh;
EXECUTE byblock (7, 1);
ALTER FOREIGN TABLE par.t ALTER COLUMN hh OPTIONS (ADD "column" 'h');
EXECUTE byblock (7, 1);
ALTER FOREIGN TABLE par.t ALTER COLUMN hh OPTIONS (DROP "column");
ALTER FOREIGN TABLE par.t RENAME COLUMN hh TO h;

-- nested loops and LATERAL
SET enable_hashjoin = off;
SET enable_mergejoin = off;
EXPLAIN (COSTS OFF) SELECT k, t.i FROM pick JOIN par.t t ON t.n = pick.m;
SELECT k, t.n, t.i FROM pick JOIN par.t t ON t.n = pick.m ORDER BY 1, 2, 3 LIMIT 7;
SELECT count(*) FROM pick JOIN par.t t ON t.n = pick.k WHERE t.i = 0;
EXPLAIN (COSTS OFF) SELECT k, t.n FROM pick JOIN par.t t ON t.h = pick.h;
SELECT k, t.n, t.i FROM pick JOIN par.t t ON t.h = pick.h ORDER BY 1;
EXPLAIN (COSTS OFF)
SELECT t.x, u.y FROM par.t t JOIN par.u u USING (n, i) WHERE t.h = decode(md5('4242'), 'hex');
SELECT t.x, u.y FROM par.t t JOIN par.u u USING (n, i) WHERE t.h = decode(md5('4242'), 'hex');
EXPLAIN (COSTS OFF)
SELECT k, l.* FROM pick, LATERAL (SELECT n, i FROM par.t WHERE n <= pick.m ORDER BY n DESC, i DESC LIMIT 1) l;
SELECT k, l.* FROM pick, LATERAL (SELECT n, i FROM par.t WHERE n <= pick.m ORDER BY n DESC, i DESC LIMIT 1) l ORDER BY k;
SELECT k, l.* FROM pick LEFT JOIN LATERAL (SELECT n, i FROM par.t WHERE n = pick.m AND i = pick.k LIMIT 1) l ON true ORDER BY k;
-- subqueries, stable functions
SELECT count(*) FROM par.t WHERE n = (SELECT max(m) FROM pick);
SELECT k, (SELECT count(*) FROM par.t WHERE n BETWEEN pick.k AND pick.m) FROM pick ORDER BY k;
CREATE FUNCTION stable_block() RETURNS bigint LANGUAGE sql STABLE AS 'SELECT 42::bigint';
CREATE FUNCTION volatile_block() RETURNS bigint LANGUAGE plpgsql VOLATILE AS 'BEGIN RETURN 42; END';
EXPLAIN (COSTS OFF) SELECT * FROM par.t WHERE n = volatile_block();
SELECT count(*) FROM par.t WHERE n = stable_block() + length(current_user) - length(current_user);
SELECT count(*) FROM par.t WHERE n = volatile_block();
-- semi and anti joins, outer joins
SELECT count(*) FROM pick WHERE EXISTS (SELECT FROM par.t WHERE n = m AND i = k - 1);
SELECT count(*) FROM pick WHERE NOT EXISTS (SELECT FROM par.t WHERE n = m);
SELECT count(*), count(t.n) FROM pick LEFT JOIN par.t t ON t.n = m AND t.i = 1;
RESET enable_hashjoin;
RESET enable_mergejoin;

-- row locks: of other tables, yes
SELECT pick.k FROM pick JOIN par.t t ON t.n = m AND t.i = 0 WHERE k = 1 FOR UPDATE OF pick;
UPDATE pick SET k = k + 100 FROM par.t t WHERE t.n = m AND t.i = 0 AND k = 1 RETURNING pick.k, t.n;
SELECT n FROM par.t WHERE n = 1 FOR UPDATE;
SELECT n FROM par.t WHERE n = 1 AND i = 0 FOR SHARE;

DROP TABLE pick;
DROP FUNCTION stable_block, volatile_block;
DEALLOCATE ALL;
SELECT hotblocks.drop_dataset('par');
