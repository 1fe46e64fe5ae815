--
-- What a scan skips, and that it gives the same rows when it may not skip.
--
\getenv inputdir PG_ABS_SRCDIR
\set explain :inputdir '/test/sql/explain.sql'
\set ECHO none
\i :explain
\set ECHO all
SET client_min_messages = warning;
SELECT hotblocks.create_dataset('scan', 'free', make_tables => false);
CREATE SERVER scan FOREIGN DATA WRAPPER hotblocks OPTIONS (dataset 'scan');
CREATE SCHEMA scan;
SET search_path = scan, public;

-- one chunk of 200,000 rows, 40 a block; rows' places are random elsewhere
CREATE FOREIGN TABLE events (
	block bigint NOT NULL,
	i integer NOT NULL,
	who bytea,						-- 5,000 values
	kind bytea,						-- 3 values, one of them rare
	rising bigint,					-- grows with the block
	amount numeric,
	note text COLLATE "C"
) SERVER scan OPTIONS (block_column 'block', sort_key 'block,i');

CREATE TABLE events_heap AS
SELECT g / 40 + 1000 AS block, (g % 40)::int AS i,
	substr(sha256(int4send((hashint4(g) & 2147483647) % 5000)), 1, 20) AS who,
	CASE WHEN g % 20000 = 77 THEN '\x03'::bytea WHEN g % 3 = 0 THEN '\x01'::bytea ELSE '\x02'::bytea END AS kind,
	CASE WHEN g % 11 > 0 THEN g * 10::bigint END AS rising,
	CASE g % 5 WHEN 0 THEN g WHEN 1 THEN -g WHEN 2 THEN g + 0.5 WHEN 3 THEN g * 1e20::numeric(30,0) END AS amount,
	CASE WHEN g % 4 > 0 THEN 'n' || g END AS note
FROM generate_series(0, 189999) g;
INSERT INTO events SELECT * FROM events_heap;
SELECT count(*) AS chunks FROM hotblocks.chunks WHERE dataset = 'scan';

-- only the pages of a block range
SELECT p FROM pg_temp.explain_analyze('SELECT * FROM events WHERE block BETWEEN 2000 AND 2010') p WHERE p !~ 'Dataset|Table:|Chunks:';
-- a value that is not in the dictionary
SELECT p FROM pg_temp.explain_analyze($$SELECT * FROM events WHERE who = '\x0000000000000000000000000000000000000000'$$) p WHERE p !~ 'Dataset|Table:|Chunks:';
-- a rare value: its pages only
SELECT p FROM pg_temp.explain_analyze($$SELECT * FROM events WHERE kind = '\x03'$$) p WHERE p !~ 'Dataset|Table:|Chunks:';
-- bounds of pages
SELECT p FROM pg_temp.explain_analyze('SELECT * FROM events WHERE rising BETWEEN 500000 AND 500100') p WHERE p !~ 'Dataset|Table:|Chunks:';
-- bounds of the chunk
SELECT p FROM pg_temp.explain_analyze('SELECT * FROM events WHERE rising > 100000000') p WHERE p !~ 'Dataset|Table:|Chunks:';
-- the last rows, without a Sort
SELECT p FROM pg_temp.explain_analyze('SELECT * FROM events ORDER BY block DESC, i DESC LIMIT 10') p WHERE p !~ 'Dataset|Table:|Chunks:';
-- nothing but a count
SELECT p FROM pg_temp.explain_analyze('SELECT count(*) FROM events') p WHERE p !~ 'Dataset|Table:|Chunks:';
-- no row can match
SELECT p FROM pg_temp.explain_analyze('SELECT * FROM events WHERE block > 10 AND block < 5') p WHERE p !~ 'Dataset|Table:|Chunks:';
SELECT p FROM pg_temp.explain_analyze('SELECT * FROM events WHERE who = ANY (ARRAY[NULL]::bytea[])') p WHERE p !~ 'Dataset|Table:|Chunks:';

-- each condition, on the heap and both ways
CREATE FUNCTION agree(condition text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	heap text;
	hot text;
	plain text;
	query text := 'SELECT count(*) || '' '' || coalesce(md5(string_agg(e::text, chr(10) ORDER BY block, i)), '''') FROM %s e WHERE ' || condition;
BEGIN
	EXECUTE format(query, 'events_heap') INTO heap;
	EXECUTE format(query, 'events') INTO hot;
	SET LOCAL hotblocks.enable_page_skipping = off;
	SET LOCAL hotblocks.enable_dictionary_filter = off;
	SET LOCAL hotblocks.enable_page_lists = off;
	SET LOCAL hotblocks.enable_hash_index = off;
	EXECUTE format(query, 'events') INTO plain;
	RESET hotblocks.enable_page_skipping;
	RESET hotblocks.enable_dictionary_filter;
	RESET hotblocks.enable_page_lists;
	RESET hotblocks.enable_hash_index;
	RETURN CASE WHEN heap = hot AND heap = plain THEN 'ok, ' || split_part(heap, ' ', 1) || ' rows'
		ELSE format('heap %s, hotblocks %s, switches off %s', heap, hot, plain) END;
END
$$;
SELECT condition, agree(condition) FROM (VALUES
	('true'),
	('block = 1234 AND i = 7'),
	('block = 1234 AND i IN (7, 8, 9, 100)'),
	('block IN (1, 1000, 1003, 5749, 5750)'),
	('block <> 1000'),
	('(block, i) > (5749, 30)'),
	($$who = substr(sha256(int4send(17)), 1, 20)$$),
	($$who IN (SELECT substr(sha256(int4send(g)), 1, 20) FROM generate_series(1, 100) g)$$),
	($$who = ANY (ARRAY(SELECT substr(sha256(int4send(g)), 1, 20) FROM generate_series(2500, 30000) g))$$),
	($$who < '\x01'$$),
	($$who >= '\xff'$$),
	($$kind <> '\x01' AND rising IS NULL$$),
	($$kind = '\x03' OR rising < 100$$),
	($$kind = '\x03' OR note IS NULL AND block = 1001$$),
	('rising = 100'),
	('rising IN (10, 20, 30, 1899990, 7)'),
	('rising NOT IN (10, 20)'),
	('amount = 5'),
	('amount = 5.0'),
	('amount < 0'),
	('amount > 12.5 AND amount < 30'),
	('amount >= 1e24'),
	('amount > 1e80'),
	($$amount < 'NaN'$$),
	('amount IN (0, 5, -6, 7.5, 13, 8e20)'),
	('amount IS NULL AND i < 5'),
	($$note = 'n5'$$),
	($$note > 'n99'$$),
	($$note IN ('n1', 'n4', 'n189999', 'x')$$),
	('note IS NOT NULL AND block < 1002')) c (condition);

-- descending is ascending backwards
SELECT (SELECT array_agg(e::text) FROM (SELECT * FROM events WHERE block < 1100 ORDER BY block, i) e)
	= (SELECT array_agg(e ORDER BY k DESC) FROM
		(SELECT e::text AS e, row_number() OVER () AS k FROM
			(SELECT * FROM events WHERE block < 1100 ORDER BY block DESC, i DESC) e) e) AS reversed;

-- loads that overlap are merged
CREATE FOREIGN TABLE parts (block bigint NOT NULL, i integer, part integer) SERVER scan
	OPTIONS (block_column 'block', sort_key 'block,i');
INSERT INTO parts SELECT g, g % 3, 1 FROM generate_series(0, 3000, 2) g;
INSERT INTO parts SELECT g, g % 3, 2 FROM generate_series(1, 3001, 2) g;
INSERT INTO parts SELECT g, NULL, 3 FROM generate_series(500, 510) g;
SELECT p FROM pg_temp.explain_analyze('SELECT * FROM parts WHERE block BETWEEN 500 AND 505 ORDER BY block, i') p WHERE p !~ 'Dataset|Table:|Chunks:';
SELECT * FROM parts WHERE block BETWEEN 500 AND 503 ORDER BY block, i;
SELECT * FROM parts WHERE block BETWEEN 500 AND 503 ORDER BY block DESC, i DESC;
SELECT * FROM parts ORDER BY block DESC, i DESC LIMIT 3;
SELECT count(*), count(DISTINCT block) FROM (SELECT block FROM parts ORDER BY block) p;

-- a nested loop's parameters
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_material = off;
SELECT count(*), sum(e.i), min(e.rising) FROM generate_series(1000, 5749, 50) g, events e WHERE e.block = g AND e.i = g % 40;
RESET ALL;

SET client_min_messages = warning;
SELECT hotblocks.drop_dataset('scan');
DROP SCHEMA scan CASCADE;
