--
-- What EXPLAIN (ANALYZE) counts: a block range of a chunk of 200,000 rows
--
\getenv inputdir PG_ABS_SRCDIR
\set explain :inputdir '/test/sql/explain.sql'
\set ECHO none
\i :explain
\set ECHO all
SET client_min_messages = warning;
SELECT hotblocks.create_dataset('ex', 'free');
CREATE FOREIGN TABLE ex.t (n bigint NOT NULL, i int NOT NULL, a bytea, v bigint, note text)
	SERVER ex OPTIONS (block_column 'n', sort_key 'n,i');
INSERT INTO ex.t
SELECT g / 200, g % 200, decode(md5((g % 5000)::text), 'hex'), g * 3, repeat('note', 5) || g
FROM generate_series(0, 199999) g;
SELECT table_name, first_block, last_block, rows FROM hotblocks.chunks WHERE dataset = 'ex';

EXPLAIN (COSTS OFF) SELECT * FROM ex.t WHERE n BETWEEN 500 AND 510;
EXPLAIN (COSTS OFF) SELECT * FROM ex.t WHERE n > 500;
EXPLAIN (COSTS OFF, VERBOSE) SELECT * FROM ex.t WHERE n < 5 AND note LIKE '%7' ORDER BY n DESC;
-- 2,200 rows: the pages of the range, and no others
SELECT pg_temp.explain_analyze('SELECT n, v FROM ex.t WHERE n BETWEEN 500 AND 510');
-- one address: its pages by the page list
SELECT pg_temp.explain_analyze($$SELECT n, note FROM ex.t WHERE a = decode(md5('4321'), 'hex')$$);
-- none: by the dictionary
SELECT pg_temp.explain_analyze($$SELECT n, note FROM ex.t WHERE a = '\x1234'$$);
-- a range of values: by minimum and maximum
SELECT pg_temp.explain_analyze('SELECT n, note FROM ex.t WHERE v BETWEEN 3000 AND 3010');
-- outside: by the chunk's range
SELECT pg_temp.explain_analyze('SELECT n, note FROM ex.t WHERE n > 5000');

-- bytes: of the range little, and every label as a number in JSON
CREATE FUNCTION explain_json(query text) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
	result json;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, BUFFERS OFF, FORMAT json) ' || query INTO result;
	RETURN result->0->'Plan';
END $$;
SELECT p->>'Dataset' AS dataset, p->>'Table' AS "table", p->>'Block Range' AS range,
	p->'Chunks Read' AS chunks, p->'Pages Read' AS pages,
	p->'Pages Skipped by Block Range' AS skipped,
	(p->>'Bytes Read')::bigint < (p->>'Bytes Skipped')::bigint / 50 AS little,
	(SELECT sum(value::bigint) FROM jsonb_each_text(p->'Bytes Read by Part')) = (p->>'Bytes Read')::bigint AS adds_up
FROM explain_json('SELECT n, v FROM ex.t WHERE n BETWEEN 500 AND 510') p;
SELECT k FROM explain_json('SELECT n FROM ex.t WHERE n = 5') p, jsonb_object_keys(p) k
WHERE k !~ ' Blocks$|^Disabled$' ORDER BY 1;

DROP FUNCTION explain_json;
SELECT hotblocks.drop_dataset('ex');
