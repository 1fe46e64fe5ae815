--
-- Values of every kind of type go in and come out as they were
--
SET client_min_messages = warning;
SELECT hotblocks.create_dataset('val', 'free', make_tables => false);
CREATE SERVER val FOREIGN DATA WRAPPER hotblocks OPTIONS (dataset 'val');
CREATE SCHEMA val;
CREATE TYPE val.mood AS ENUM ('sad', 'ok', 'happy');
CREATE TYPE val.pair AS (a int, b text);
CREATE DOMAIN val.posint AS int CHECK (VALUE > 0);
CREATE DOMAIN val.dpair AS val.pair;
CREATE TABLE val.heap (n bigint, b bool, c "char", i2 int2, i4 int4, i8 int8,
	o oid, rc regclass, f4 float4, f8 float8, d date, t time, tt timetz,
	ts timestamp, tz timestamptz, iv interval, mo money, num numeric,
	num2 numeric(20, 3), by bytea, tx text, vc varchar(10), bc char(10), nm name,
	ia int4[], ba bytea[], ta text[], na numeric[], u uuid, js json, jb jsonb,
	ine inet, mac macaddr, bi bit(5), vb varbit, pt point, lsn pg_lsn, x8 xid8,
	e val.mood, p val.pair, dp val.posint, r int4range, mr int8multirange,
	ea val.mood[], tv tsvector, td tid, dd val.dpair, pa val.pair[], i8a int8[],
	jp jsonpath, tb text COLLATE "C");
SELECT format('CREATE FOREIGN TABLE val.ft (%s) SERVER val OPTIONS (table ''all'', block_column ''n'', sort_key ''n'')',
	string_agg(format('%I %s%s', attname, format_type(atttypid, atttypmod),
		CASE WHEN attcollation = '"C"'::regcollation AND attname = 'tb' THEN ' COLLATE "C"' ELSE '' END),
		', ' ORDER BY attnum))
	FROM pg_attribute WHERE attrelid = 'val.heap'::regclass AND attnum > 0 \gexec
INSERT INTO val.heap VALUES (1, true, 'x', -5, -100000, 9223372036854775807,
	4294967295, 'pg_class', -0.0, 'NaN', 'infinity', '24:00:00', '12:00:00+02',
	'-infinity', '2024-01-01 00:00:00.123456+00', '1 mon -2 days 3.5 sec', '-12.34',
	'115792089237316195423570985008687907853269984665640564039457584007913129639935',
	'12.345', '\x00ff', 'héé', 'abc', 'de', 'nm', '{}', '{NULL,"\\x01",""}',
	'{a,NULL,"b,c"}', '{1.5,NaN}', '00000000-0000-0000-0000-000000000001',
	'{"a": 1}', '{"b":[1,2,null]}', '10.0.0.0/8', '08:00:2b:01:02:03', '10101',
	'101', '(1,2)', 'FFFFFFFF/FFFFFFFF', '18446744073709551615', 'happy',
	'(1,"x y")', 5, '[1,5)', '{[1,2),[5,9)}', '{sad,happy}', 'a:1 b:2', '(1,2)',
	'(3,z)', '{"(1,a)","(2,b)"}', '{9223372036854775807,-1}', '$.a[*]', 'c');
INSERT INTO val.heap (n) VALUES (2);
INSERT INTO val.heap (n, ia, num, f4, f8, i8, lsn, iv, bc, tx, by) VALUES
	(3, '{1,2,-3}', 0, '-Infinity', -1e-300, -9223372036854775808, '0/0', '-1 year', '', '', ''),
	(4, '{{1,2},{3,4}}', -5, 'NaN', '-0', 0, '1/0', '@ 0', 'x ', ' ', '\x00'),
	(5, '[2:3]={5,6}', 'NaN', 1e-40, 1e300, 1, NULL, NULL, NULL, NULL, NULL),
	(6, '{1,NULL}', 'Infinity', 0, 0, 0, NULL, NULL, NULL, NULL, NULL),
	(7, '{2147483647,-2147483648}', '1e-10', 0, 0, 0, NULL, NULL, NULL, NULL, NULL),
	(8, NULL, '115792089237316195423570985008687907853269984665640564039457584007913129639936',
		0, 0, 0, NULL, NULL, NULL, NULL, NULL),
	(9, NULL, '1e76', 0, 0, 0, NULL, NULL, NULL, NULL, NULL),
	(10, NULL, '1.50', 0, 0, 0, NULL, NULL, NULL, NULL, NULL),
	(11, NULL, '9223372036854775808', 0, 0, 0, NULL, NULL, NULL, NULL, NULL),
	(12, NULL, '10000000000000000', 0, 0, 0, NULL, NULL, NULL, NULL, NULL),
	(13, NULL, '0.000', 0, 0, 0, NULL, NULL, NULL, NULL, NULL),
	(14, NULL, '18446744073709551616', 0, 0, 0, NULL, NULL, NULL, NULL, NULL);
-- what is stored does not depend on the writer's settings, nor on the reader's
SET intervalstyle = 'sql_standard';
SET datestyle = 'SQL, DMY';
SET extra_float_digits = 0;
INSERT INTO val.ft SELECT * FROM val.heap;
RESET intervalstyle;
RESET datestyle;
RESET extra_float_digits;
SELECT n, num, ia, f4, f8, lsn, iv FROM val.ft ORDER BY n;
SELECT count(*), count(*) FILTER (WHERE h::text IS DISTINCT FROM f::text) AS different
	FROM val.heap h FULL JOIN val.ft f USING (n);

-- numbers of every size
CREATE TABLE val.numbers AS
	SELECT g AS n, (CASE g % 7
		WHEN 0 THEN trunc(random()::numeric * 1e10)
		WHEN 1 THEN trunc(random()::numeric * 2::numeric ^ 256)
		WHEN 2 THEN random()::numeric * 1e20::numeric
		WHEN 3 THEN trunc(random()::numeric * 10::numeric ^ (g % 90))
		WHEN 4 THEN trunc(random()::numeric * 1e4) * 10000::numeric ^ (g % 21)
		WHEN 5 THEN 2::numeric ^ (g % 260) - g % 3
		ELSE 10000::numeric ^ (g % 25) - 1 END)::numeric AS v
	FROM generate_series(1, 10000) g;
UPDATE val.numbers SET v = v::numeric(100, 0) WHERE n % 2 = 0;
CREATE FOREIGN TABLE val.fnumbers (n bigint, v numeric) SERVER val
	OPTIONS (table 'numbers', block_column 'n', sort_key 'n');
INSERT INTO val.fnumbers SELECT * FROM val.numbers;
SELECT count(*), count(*) FILTER (WHERE h.v::text IS DISTINCT FROM f.v::text) AS different
	FROM val.numbers h FULL JOIN val.fnumbers f USING (n);

-- a value much larger than a piece
CREATE FOREIGN TABLE val.large (n bigint, v bytea) SERVER val
	OPTIONS (block_column 'n', sort_key 'n');
INSERT INTO val.large SELECT g, (SELECT string_agg(sha256((g * i)::text::bytea), '') FROM generate_series(1, 200000) i)
	FROM generate_series(1, 2) g;
SELECT n, length(v), v = (SELECT string_agg(sha256((n * i)::text::bytea), '') FROM generate_series(1, 200000) i) AS same
	FROM val.large ORDER BY n;
SELECT max(length(data)) <= 2 * 1024 * 1024 AS bounded, count(*) > 5 AS several
	FROM hotblocks_val.piece_hot;

DROP SCHEMA val CASCADE;
DROP SERVER val CASCADE;
SELECT hotblocks.drop_dataset('val');
