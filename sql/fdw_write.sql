--
-- INSERT, COPY, TRUNCATE; and what is refused
--
SET client_min_messages = warning;
SELECT hotblocks.create_dataset('wr', 'free');
CREATE FOREIGN TABLE wr.t (n bigint NOT NULL, i int DEFAULT 7, x text,
	g bigint GENERATED ALWAYS AS (n * 2) STORED, CONSTRAINT positive CHECK (n >= 0))
	SERVER wr OPTIONS (block_column 'n', sort_key 'n,i');
INSERT INTO wr.t (n, x) VALUES (2, 'two'), (1, 'one') RETURNING *;
INSERT INTO wr.t (n, i, x) SELECT g, 1, 'many' FROM generate_series(3, 5) g RETURNING n, g;
COPY wr.t (n, x) FROM stdin;
6	six
7	\N
\.
SELECT * FROM wr.t ORDER BY n, i;
SELECT tableoid::regclass, count(*) FROM wr.t GROUP BY 1;

-- constraints
INSERT INTO wr.t (n) VALUES (NULL);
INSERT INTO wr.t (n) VALUES (8), (-1);
COPY wr.t (n) FROM stdin;
9
-9
\.
SELECT max(n) FROM wr.t;

-- rolled back, savepoints
BEGIN;
INSERT INTO wr.t (n) VALUES (10);
SAVEPOINT s;
INSERT INTO wr.t (n) VALUES (11);
ROLLBACK TO s;
INSERT INTO wr.t (n) VALUES (12);
SELECT n FROM wr.t WHERE n >= 10 ORDER BY n;
COMMIT;
SELECT n FROM wr.t WHERE n >= 10 ORDER BY n;

-- a statement does not see its own rows
INSERT INTO wr.t (n, i) SELECT n + 100, i FROM wr.t;
SELECT count(*) FROM wr.t;
-- WITH
WITH ins AS (INSERT INTO wr.t (n) VALUES (200), (201) RETURNING n)
SELECT (SELECT count(*) FROM ins), (SELECT count(*) FROM wr.t);
SELECT count(*) FROM wr.t;

-- triggers
CREATE FUNCTION trg() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF TG_WHEN = 'BEFORE' THEN
		NEW.x := coalesce(NEW.x, 'filled');
		RETURN NEW;
	END IF;
	RAISE INFO '% % sees % row(s)', TG_WHEN, TG_LEVEL, (SELECT count(*) FROM wr.t WHERE n >= 300);
	RETURN NULL;
END $$;
CREATE TRIGGER b BEFORE INSERT ON wr.t FOR EACH ROW EXECUTE FUNCTION trg();
INSERT INTO wr.t (n) VALUES (300) RETURNING x;
CREATE TRIGGER a AFTER INSERT ON wr.t FOR EACH ROW EXECUTE FUNCTION trg();
CREATE TRIGGER s AFTER INSERT ON wr.t FOR EACH STATEMENT EXECUTE FUNCTION trg();
INSERT INTO wr.t (n) VALUES (301), (302);
COPY wr.t (n) FROM stdin;
303
\.
DROP TRIGGER a ON wr.t;
DROP TRIGGER s ON wr.t;
DROP TRIGGER b ON wr.t;

-- views with a check option
CREATE VIEW wr.v AS SELECT n, x FROM wr.t WHERE n < 500 WITH CHECK OPTION;
INSERT INTO wr.v VALUES (499, 'in');
INSERT INTO wr.v VALUES (500, 'out');
SELECT is_insertable_into, is_updatable FROM information_schema.views
WHERE table_schema = 'wr' AND table_name = 'v';
DROP VIEW wr.v;

-- EXPLAIN writes nothing
EXPLAIN (COSTS OFF) INSERT INTO wr.t (n) VALUES (900);
SELECT count(*) FROM wr.t WHERE n = 900;

-- what does not work says why
UPDATE wr.t SET x = 'y';
DELETE FROM wr.t;
INSERT INTO wr.t (n) VALUES (1) ON CONFLICT DO NOTHING;
INSERT INTO wr.t (n) VALUES (1) ON CONFLICT (n) DO NOTHING;
MERGE INTO wr.t USING (VALUES (1)) s (k) ON n = k WHEN NOT MATCHED THEN INSERT (n) VALUES (1);

-- ANALYZE
ANALYZE wr.t;
SELECT attname, null_frac, n_distinct FROM pg_stats WHERE schemaname = 'wr' AND attname IN ('n', 'x') ORDER BY 1;
SELECT reltuples FROM pg_class WHERE oid = 'wr.t'::regclass;

-- TRUNCATE
BEGIN;
TRUNCATE wr.t;
SELECT count(*) FROM wr.t;
ROLLBACK;
SELECT count(*) > 0 AS back FROM wr.t;
BEGIN;
INSERT INTO wr.t (n) VALUES (1000);
TRUNCATE wr.t;
INSERT INTO wr.t (n) VALUES (1001);
COMMIT;
SELECT n FROM wr.t;
SELECT count(*) FROM hotblocks_wr.chunk;

-- an item table and what derives from it go together
SELECT hotblocks.create_dataset('wrevm', 'evm');
INSERT INTO wrevm.blocks (number, hash, timestamp) VALUES (5, '\x05', '2020-01-01 00:00:00+00');
INSERT INTO wrevm.transactions (block_number, transaction_index, hash, block_timestamp)
VALUES (5, 0, '\x0501', '2020-01-01 00:00:00+00');
INSERT INTO wrevm.traces (block_number, transaction_index, trace_address, type) VALUES (5, 0, '{1,2}', 'call');
INSERT INTO wrevm.traces (block_number, transaction_index, trace_address, type) VALUES (5, 0, '{1,NULL}', 'call');
INSERT INTO wrevm.traces (block_number, transaction_index, trace_address) VALUES (5, 0, '{}');
SELECT * FROM wrevm.block_feed;
TRUNCATE wrevm.block_feed;
TRUNCATE wrevm.blocks;
TRUNCATE wrevm.blocks, wrevm.transactions, wrevm.logs, wrevm.traces, wrevm.state_diffs;
SELECT (SELECT count(*) FROM wrevm.blocks), (SELECT count(*) FROM wrevm.transactions);
SELECT hotblocks.drop_dataset('wrevm');
DROP FUNCTION trg CASCADE;
SELECT hotblocks.drop_dataset('wr');
