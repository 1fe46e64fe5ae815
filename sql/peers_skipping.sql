--
-- Wrong results from skipping, as other column stores had them (the numbers
-- are those of docs/architecture.md, "What went wrong elsewhere")
--
SET client_min_messages = warning;
SELECT hotblocks.create_dataset('pk_hb', 'free');
CREATE SCHEMA pk_heap;

-- A query on both, rows in order: are they the same, and how many?
CREATE FUNCTION same(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	h text; f text; n bigint;
BEGIN
	PERFORM set_config('search_path', 'pk_heap,public', true);
	EXECUTE 'SELECT md5(string_agg(q::text, E''\n'' ORDER BY q::text COLLATE "C")), count(*) FROM (' || query || ') q' INTO h, n;
	PERFORM set_config('search_path', 'pk_hb,public', true);
	EXECUTE 'SELECT md5(string_agg(q::text, E''\n'' ORDER BY q::text COLLATE "C")) FROM (' || query || ') q' INTO f;
	PERFORM set_config('search_path', 'public', true);
	IF h IS DISTINCT FROM f THEN
		RETURN 'DIFFERENT: ' || query;
	END IF;
	RETURN n || ' rows';
END $$;

-- 1: extremes, where max + 1 or min - 1 wraps
CREATE TABLE pk_heap.ext (n bigint, i2 smallint, i4 int, i8 bigint, q numeric, d date, ts timestamp);
CREATE FOREIGN TABLE pk_hb.ext (n bigint, i2 smallint, i4 int, i8 bigint, q numeric, d date, ts timestamp)
	SERVER pk_hb OPTIONS (block_column 'n', sort_key 'n');
INSERT INTO pk_heap.ext VALUES
	(9223372036854775807, 32767, 2147483647, 9223372036854775807, 2::numeric ^ 256 - 1, 'infinity', 'infinity'),
	(9223372036854775806, 32766, 2147483646, 9223372036854775806, 2::numeric ^ 256 - 2, '5874897-12-31', '294276-12-31 23:59:59.999999'),
	(-9223372036854775808, -32768, -2147483648, -9223372036854775808, -2::numeric ^ 255, '-infinity', '-infinity'),
	(-9223372036854775807, -32767, -2147483647, -9223372036854775807, -2::numeric ^ 255 + 1, '4713-01-01 BC', '4713-01-01 00:00:00 BC'),
	(0, 0, 0, 0, 0, '2000-01-01', '2000-01-01'), (1, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO pk_hb.ext SELECT * FROM pk_heap.ext WHERE n > 1;
INSERT INTO pk_hb.ext SELECT * FROM pk_heap.ext WHERE n <= 1;
SELECT count(*) AS different
FROM (VALUES
	('n', '9223372036854775807'), ('n', '-9223372036854775808'), ('n', '9223372036854775808'),
	('i2', '32767'), ('i2', '32768'), ('i2', '(-32768)::smallint'), ('i2', '-32769'),
	('i4', '2147483647'), ('i4', '2147483648'), ('i4', '-2147483648'),
	('i8', '9223372036854775807'), ('i8', '-9223372036854775808'), ('i8', '0'),
	('q', '(2::numeric ^ 256 - 1)'), ('q', '(2::numeric ^ 256)'), ('q', '(-2::numeric ^ 255)'),
	('q', '9223372036854775807'), ('q', '''NaN''::numeric'), ('q', '''Infinity''::numeric'),
	('d', '''infinity''::date'), ('d', '''-infinity''::date'), ('ts', '''infinity''::timestamp'),
	('ts', '''-infinity''::timestamp')) AS v (c, v),
	unnest(ARRAY['=', '<>', '<', '<=', '>', '>=']) AS op
WHERE same(format('SELECT * FROM ext WHERE %s %s %s', c, op, v)) LIKE 'DIFF%';
SELECT same('SELECT * FROM ext WHERE n BETWEEN 9223372036854775806 AND 9223372036854775807'),
	same('SELECT * FROM ext WHERE n BETWEEN -9223372036854775808 AND -9223372036854775807'),
	same('SELECT * FROM ext WHERE i8 BETWEEN -9223372036854775808 AND 9223372036854775807'),
	same('SELECT * FROM ext WHERE n = ANY (ARRAY[9223372036854775807, -9223372036854775808])'),
	same('SELECT max(n), min(n), max(i8), min(i8), max(q), min(q), max(d), min(ts) FROM ext'),
	same('SELECT n FROM ext ORDER BY n DESC LIMIT 1');

-- 2, 4, 5: nulls: chunks of nulls only, of none, and of both; a whole page of each
CREATE TABLE pk_heap.nul (n bigint, i int, b bytea, t text, q numeric, z int);
CREATE FOREIGN TABLE pk_hb.nul (n bigint, i int, b bytea, t text, q numeric, z int)
	SERVER pk_hb OPTIONS (block_column 'n', sort_key 'n,i');
INSERT INTO pk_heap.nul SELECT g,
	CASE WHEN g < 3000 THEN NULL WHEN g < 6000 THEN g % 9 WHEN g / 1024 % 2 = 0 THEN NULL ELSE g % 5 END,
	CASE WHEN g >= 3000 AND g % 7 > 0 THEN decode(lpad(to_hex(g % 300), 8, '0'), 'hex') END,
	CASE WHEN g >= 3000 THEN 't' || g % 3 END, CASE WHEN g >= 6000 THEN g % 11 END, NULL
FROM generate_series(0, 9999) g;
INSERT INTO pk_hb.nul SELECT * FROM pk_heap.nul WHERE n < 3000;
INSERT INTO pk_hb.nul SELECT * FROM pk_heap.nul WHERE n >= 3000 AND n < 6000;
INSERT INTO pk_hb.nul SELECT * FROM pk_heap.nul WHERE n >= 6000;
SELECT c, same(format('SELECT * FROM nul WHERE %s IS NULL', c)) AS "null",
	same(format('SELECT * FROM nul WHERE %s IS NOT NULL', c)) AS "not null",
	same(format('SELECT * FROM nul WHERE %s IS NULL OR n = 7', c)) AS "or",
	same(format('SELECT * FROM nul WHERE NOT (%s IS NULL AND n < 5000)', c)) AS "not"
FROM unnest(ARRAY['i', 'b', 't', 'q', 'z']) AS c;
SELECT o, same(format('SELECT * FROM (SELECT n, i FROM nul ORDER BY %s LIMIT 20) q', o)) AS result
FROM unnest(ARRAY['i NULLS FIRST, n', 'i NULLS LAST, n', 'i DESC NULLS FIRST, n', 'i DESC NULLS LAST, n',
	'z NULLS LAST, n', 'n, i NULLS FIRST', 'n DESC, i DESC NULLS LAST', 'q DESC NULLS LAST, n DESC']) AS o;

-- 11: zero bytes end nothing
CREATE TABLE pk_heap.zero (n bigint, b bytea);
CREATE FOREIGN TABLE pk_hb.zero (n bigint, b bytea) SERVER pk_hb OPTIONS (block_column 'n', sort_key 'n');
INSERT INTO pk_heap.zero SELECT g, CASE g % 6 WHEN 0 THEN '\x' WHEN 1 THEN '\x00' WHEN 2 THEN '\x0000'
	WHEN 3 THEN decode('00' || lpad(to_hex(g % 200), 4, '0'), 'hex')
	WHEN 4 THEN decode('ff00' || lpad(to_hex(g % 99), 2, '0'), 'hex') ELSE decode('ff' || lpad(to_hex(g), 62, '0'), 'hex') END
FROM generate_series(1, 5000) g;
INSERT INTO pk_hb.zero SELECT * FROM pk_heap.zero;
SELECT count(*) AS different FROM unnest(ARRAY['=', '<>', '<', '<=', '>', '>=']) AS op,
	unnest(ARRAY['', '00', '0000', '000000', '000005', 'ff', 'ff00', 'ff0005', 'ff01',
		'ff000000000000000000000000000000000000000000000000000000000000fd']) AS v
WHERE same(format('SELECT * FROM zero WHERE b %s ''\x%s''', op, v)) LIKE 'DIFF%';

-- 13: NaN, infinities and minus zero
CREATE TABLE pk_heap.nan (n bigint, f8 float8, f4 float4, q numeric);
CREATE FOREIGN TABLE pk_hb.nan (n bigint, f8 float8, f4 float4, q numeric) SERVER pk_hb OPTIONS (block_column 'n', sort_key 'n');
INSERT INTO pk_heap.nan SELECT g, v::float8, v::float4, CASE WHEN v = '-0' THEN '0' ELSE v END::numeric
FROM generate_series(1, 3000) g, LATERAL (SELECT (ARRAY['NaN', 'Infinity', '-Infinity', '-0', '0', NULL, '1.5', '-2.25'])[g % 8 + 1]) AS x (v);
INSERT INTO pk_hb.nan SELECT * FROM pk_heap.nan;
SELECT count(*) AS different FROM unnest(ARRAY['=', '<>', '<', '<=', '>', '>=', 'IS DISTINCT FROM']) AS op,
	unnest(ARRAY['NaN', 'Infinity', '-Infinity', '0', '-0', '1.5']) AS v,
	(VALUES ('f8', 'float8'), ('f4', 'float4'), ('q', 'numeric')) AS c (name, type)
WHERE same(format('SELECT * FROM nan WHERE %s %s ''%s''::%s', name, op, v, type)) LIKE 'DIFF%';
SELECT same('SELECT max(f8), min(f8), max(f4), min(q), max(q), count(DISTINCT f8), count(DISTINCT q) FROM nan'),
	same('SELECT sum(f8) FROM nan WHERE f8 > 0 AND f8 < ''Infinity''');

-- 17, 22: empty and null arguments
SELECT q AS condition, same('SELECT * FROM nul WHERE ' || q) AS result FROM unnest(ARRAY[
	'i = ANY (NULL::int[])', 'i = ANY (''{}''::int[])', 'i = ANY (''{NULL}''::int[])', 'i = ANY (''{1,NULL,2}''::int[])',
	'i <> ALL (NULL::int[])', 'i <> ALL (''{}''::int[])', 'i <> ALL (''{1,NULL}''::int[])', 'i NOT IN (1, 2)', 'i NOT IN (1, NULL)',
	'b = ANY (NULL::bytea[])', 'b = NULL', 'b = ''\x''', 'b IS DISTINCT FROM NULL', 't = ANY (''{}''::text[])', 't = ''''',
	'i = ANY (''{{1,2},{3,NULL}}''::int[])', 'NOT (i = ANY (''{1,NULL,2}''::int[]))']) AS q;

-- 19: the last page is not whole, and the filter skips all but the last chunk
CREATE TABLE pk_heap.part (n bigint, i int, h bytea);
CREATE FOREIGN TABLE pk_hb.part (n bigint, i int, h bytea) SERVER pk_hb OPTIONS (block_column 'n', sort_key 'n');
INSERT INTO pk_heap.part SELECT g, g, decode(md5(g::text), 'hex') FROM generate_series(1, 181000) g;
SET hotblocks.chunk_rows = 150001;
INSERT INTO pk_hb.part SELECT * FROM pk_heap.part ORDER BY n;
RESET hotblocks.chunk_rows;
SELECT same('SELECT * FROM part WHERE i > 180000'), same('SELECT * FROM part WHERE n >= 181000'),
	same('SELECT * FROM part WHERE n BETWEEN 149998 AND 150004'), same('SELECT * FROM part WHERE i % 50000 = 0'),
	same('SELECT * FROM part WHERE h = decode(md5(''180999''), ''hex'')'), same('SELECT count(*) FROM part WHERE i > 150001');

-- 20: through a parent whose columns are in another order, after dropped ones
CREATE TABLE pk_heap.parent (h bytea, gone int, i int, n bigint) PARTITION BY RANGE (n);
CREATE TABLE pk_hb.parent (gone2 text, i int, h bytea, gone int, n bigint) PARTITION BY RANGE (n);
ALTER TABLE pk_heap.parent DROP gone;
ALTER TABLE pk_hb.parent DROP gone, DROP gone2;
CREATE TABLE pk_heap.parent_1 PARTITION OF pk_heap.parent FOR VALUES FROM (0) TO (1000000);
INSERT INTO pk_heap.parent (h, i, n) SELECT h, i, n FROM pk_heap.part;
ALTER TABLE pk_hb.parent ATTACH PARTITION pk_hb.part FOR VALUES FROM (0) TO (1000000);
SELECT same('SELECT n, i, h FROM parent WHERE i > 180000'), same('SELECT n, i, h FROM parent WHERE h = decode(md5(''5''), ''hex'') AND n < 100'),
	same('SELECT i FROM parent WHERE n = 150001 OR i = 3'), same('SELECT n FROM parent ORDER BY n DESC LIMIT 3');
ALTER TABLE pk_hb.parent DETACH PARTITION pk_hb.part;

-- 23: skipped pages are not read: one page of each of two chunks
CREATE FUNCTION explained(query text, line text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	l text;
BEGIN
	FOR l IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) ' || query LOOP
		IF l ~ line THEN
			RETURN NEXT trim(l);
		END IF;
	END LOOP;
END $$;
SELECT explained('SELECT h FROM pk_hb.part WHERE n BETWEEN 149998 AND 150004', 'Pages');
SELECT explained('SELECT h FROM pk_hb.part WHERE i = 180500', 'Pages');

DROP TABLE pk_hb.parent;
SELECT hotblocks.drop_dataset('pk_hb');
DROP SCHEMA pk_heap CASCADE;
DROP FUNCTION same, explained;
