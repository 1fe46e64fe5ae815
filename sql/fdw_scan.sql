--
-- Which conditions the scan takes over, and that it answers them right
--
\getenv inputdir PG_ABS_SRCDIR
\set explain :inputdir '/test/sql/explain.sql'
\set ECHO none
\i :explain
\set ECHO all
SET client_min_messages = warning;
SET hotblocks.chunk_rows = 3000;
SELECT hotblocks.create_dataset('sc', 'free');
CREATE FOREIGN TABLE sc.t (
	n bigint NOT NULL, i int NOT NULL, s smallint, ok boolean, b bytea,
	q numeric, c text COLLATE "C", x text, v varchar(20), bp character(4),
	d date, ts timestamptz, f double precision, u uuid, j jsonb, a int[]
) SERVER sc OPTIONS (block_column 'n', sort_key 'n,i');
CREATE TABLE heap (LIKE sc.t);
INSERT INTO heap
SELECT g / 10, g % 10, nullif(g % 7, 3), nullif(g % 3, 2) = 1,
	CASE WHEN g % 11 <> 0 THEN decode(lpad(to_hex(g % 40), 40, '0'), 'hex') END,
	CASE g % 13 WHEN 0 THEN NULL WHEN 1 THEN 'NaN' WHEN 2 THEN 2::numeric ^ 200 + g
		ELSE g % 50 END,
	'c' || g % 20, nullif('x' || g % 30, 'x7'), 'v' || g % 15, 'b' || g % 3,
	date '2020-01-01' + g % 100, timestamptz '2020-01-01 00:00:00+00' + g * interval '1 second',
	g / 3.0, md5((g % 25)::text)::uuid, jsonb_build_object('g', g), ARRAY[g % 4, g % 6]
FROM generate_series(0, 9999) g;
INSERT INTO sc.t SELECT * FROM heap ORDER BY n, i;
SELECT count(*) FROM sc.t;
SELECT * FROM sc.t WHERE n = 77 AND i = 3;

-- same answer as the heap's, and what was pushed
CREATE FUNCTION probe(cond text) RETURNS TABLE (rows bigint, same boolean, plan text)
LANGUAGE plpgsql AS $$
DECLARE
	line text;
	h text; f text;
BEGIN
	EXECUTE format('SELECT count(*), md5(string_agg(t::text, '','' ORDER BY n, i)) FROM heap t WHERE %s', cond)
		INTO rows, h;
	EXECUTE format('SELECT md5(string_agg(t::text, '','' ORDER BY n, i)) FROM sc.t t WHERE %s', cond)
		INTO f;
	same := h IS NOT DISTINCT FROM f;
	plan := '';
	FOR line IN EXECUTE format('EXPLAIN (COSTS OFF) SELECT * FROM sc.t WHERE %s', cond) LOOP
		IF line ~ '(Pushed |^ *)Filter:|Block Range|One-Time' THEN
			plan := plan || trim(line) || '; ';
		END IF;
	END LOOP;
	RETURN NEXT;
END $$;

SELECT cond, p.* FROM unnest(ARRAY[
	-- ranges on the block column, integers of all widths
	'n = 5', '5 = n', 'n BETWEEN 10 AND 12', 'n > 990::smallint', '990::int < n', 'n <> 5 AND n < 8',
	'n IN (3, 5, 2000)', 'n = ANY (ARRAY[3, NULL]::int[])', 'n = ANY (NULL::bigint[])', 'n NOT IN (1, 2) AND n < 4',
	'n NOT IN (1, NULL)', 'n <> ALL (''{}''::bigint[]) AND n < 2', 'n < 3 OR n > 997', 'NOT (n >= 3 AND n <= 997)',
	'n = NULL', 'n > 5 AND n < 3', 'n < -1', 'n < 99999999999', 's = 4::bigint', 's < 2', 's IS NULL', 's IS NOT NULL AND n < 3',
	'n = 5.0', 'n + 1 = 5', 'i = s',
	-- rows
	'(n, i) > (998, 5)', '(n, i) <= (1, 3)', '(n, i) = (5, 5)', '(n, i, s) < (0, 5, 4)', 'NOT ((n, i) > (0, 5))',
	-- booleans
	'ok', 'NOT ok', 'ok IS TRUE', 'ok IS NOT TRUE', 'ok IS FALSE', 'ok IS NOT FALSE', 'ok IS UNKNOWN', 'ok IS NOT UNKNOWN', 'ok = false', 'ok <> true',
	-- bytes
	'b = ''\x0000000000000000000000000000000000000007''', 'b < ''\x0000000000000000000000000000000000000003''',
	'b IN (''\x01'', ''\x0000000000000000000000000000000000000009'')', 'b IS NULL', 'b <> ''\x0000000000000000000000000000000000000007''',
	'b >= ''\x00000000000000000000000000000000000000'' AND b < ''\x000000000000000000000000000000000000000301''',
	'b IS DISTINCT FROM ''\x0000000000000000000000000000000000000007''', 'b IS NOT DISTINCT FROM NULL',
	-- numeric
	'q = 7', 'q > 40', 'q > 1e60', 'q = ''NaN''', 'q < 3.5', 'q <= 12::bigint', 'q IN (1, 2, 3)',
	-- text
	'c = ''c7''', 'c < ''c11''', 'c >= ''c8'' AND c IN (''c8'', ''c9'', ''zz'')', 'x = ''x5''', 'x <> ''x5''', 'x < ''x11''', 'x COLLATE "C" < ''x11''',
	'c LIKE ''c1%''', 'v = ''v3''', 'v IN (''v3'', ''v4'')', 'bp = ''b1''', 'bp = ''b1  ''', 'x IS NULL',
	-- times
	'd = ''2020-02-01''', 'd >= ''2020-04-01''', 'd < timestamp ''2020-01-02 12:00''',
	'ts < ''2020-01-01 00:01:00+00''', 'ts BETWEEN ''2020-01-01 01:00:00+00'' AND ''2020-01-01 01:00:09+00''',
	'ts < now() - interval ''10 years'' AND n < 3',
	-- other types
	'f < 10', 'u = md5(''7'')::uuid', 'j = ''{"g": 5}''', 'j IS NOT NULL AND n = 1', 'a = ARRAY[1, 1]', 'a < ARRAY[0, 3]', 'a[1] = 2 AND n < 2',
	-- trees
	'(n = 5 AND i = 2) OR (n = 7 AND b IS NULL)', 'NOT (n > 5 OR s = 2)', 'n < 10 AND (x LIKE ''%1'' OR s = 2)',
	'CASE WHEN n < 3 THEN i = 1 ELSE false END', 'n < 3 AND random() >= 0'
]) WITH ORDINALITY AS t (cond, o), probe(cond) p ORDER BY o;

-- nothing is read for count(*) but the rows' number, and no row for false
SELECT pg_temp.explain_analyze('SELECT count(*) FROM sc.t');
SELECT pg_temp.explain_analyze('SELECT * FROM sc.t WHERE n > 10 AND n < 10');
SELECT pg_temp.explain_analyze($$SELECT i FROM sc.t WHERE n = 10 AND b = '\x55'$$);

-- functions that leak must not run before a security barrier's condition
CREATE VIEW barrier WITH (security_barrier) AS SELECT n, i, x FROM sc.t WHERE lower(x) LIKE 'x1%';
CREATE FUNCTION peek(bigint) RETURNS boolean LANGUAGE plpgsql COST 0.0001 AS $$
BEGIN
	RAISE NOTICE 'saw %', $1;
	RETURN true;
END $$;
EXPLAIN (COSTS OFF) SELECT * FROM barrier WHERE n = 4 AND peek(i);
EXPLAIN (COSTS OFF) SELECT * FROM barrier WHERE n = 4 AND (n, i) > (4, 2);

-- a chunk whose blocks are further apart than a bigint holds
CREATE FOREIGN TABLE sc.far (n bigint, x int) SERVER sc OPTIONS (block_column 'n', sort_key 'n');
INSERT INTO sc.far VALUES (-9223372036854775808, 1), (-1, 2), (0, 3), (9223372036854775807, 4), (9223372036854775807, 5);
INSERT INTO sc.far VALUES (5, 6);
SELECT count(*), min(n), max(n) FROM sc.far;
SELECT x FROM sc.far WHERE n > -5 ORDER BY n DESC, x;
SELECT x FROM sc.far WHERE n <= -1 ORDER BY x;
SELECT x FROM sc.far WHERE n = 9223372036854775807 ORDER BY x;
INSERT INTO sc.far SELECT CASE WHEN g < 20 THEN -9223372036854775808 WHEN g > 39980 THEN 9223372036854775807 ELSE g END, g FROM generate_series(1, 40000) g;
ANALYZE sc.far;
SELECT reltuples FROM pg_class WHERE oid = 'sc.far'::regclass;

DROP VIEW barrier;
DROP TABLE heap;
DROP FUNCTION probe, peek;
SELECT hotblocks.drop_dataset('sc');
