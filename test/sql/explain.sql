-- For tests of pg_regress: plans that read the same on every version.
--
--     \getenv inputdir PG_ABS_SRCDIR
--     \set explain :inputdir '/test/sql/explain.sql'
--     \i :explain
--     SELECT pg_temp.explain('SELECT ...');
--     SELECT pg_temp.explain_analyze('SELECT ...');
--
-- 18 counts rows in fractions and shows buffers unasked; 17 no longer says which
-- parameter an InitPlan returns.  Where plans themselves differ, take the lines
-- that matter: SELECT trim(p) FROM pg_temp.explain('...') p WHERE p ~ 'Order'.
CREATE FUNCTION pg_temp.explain(query text, options text DEFAULT 'COSTS OFF') RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE format('EXPLAIN (%s) %s', options, query) LOOP
		line := regexp_replace(line, '\(actual rows=(\d+)\.00 ', '(actual rows=\1 ');
		RETURN NEXT regexp_replace(line, '(InitPlan \d+) \(returns .*\)', '\1');
	END LOOP;
END $$;
CREATE FUNCTION pg_temp.explain_analyze(query text) RETURNS SETOF text LANGUAGE sql
	RETURN pg_temp.explain(query, 'ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF');
