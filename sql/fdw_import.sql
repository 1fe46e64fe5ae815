--
-- IMPORT FOREIGN SCHEMA
--
SET client_min_messages = warning;
SELECT hotblocks.create_dataset('imp', 'evm', make_tables => false);
CREATE SERVER imp FOREIGN DATA WRAPPER hotblocks OPTIONS (dataset 'imp');
CREATE SCHEMA imp;

IMPORT FOREIGN SCHEMA public FROM SERVER imp INTO imp;
IMPORT FOREIGN SCHEMA evm FROM SERVER imp INTO imp OPTIONS (import_default 'true');
IMPORT FOREIGN SCHEMA evm FROM SERVER imp INTO imp OPTIONS (spelling 'upper');
IMPORT FOREIGN SCHEMA evm LIMIT TO (logs, block_feed) FROM SERVER imp INTO imp;
\d imp.logs
\d imp.block_feed
IMPORT FOREIGN SCHEMA evm EXCEPT (logs, block_feed) FROM SERVER imp INTO imp;
SELECT c.relname, t.ftoptions,
	(SELECT count(*) FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0) AS columns,
	(SELECT count(*) FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0
		AND a.attfdwoptions = ARRAY['column=' || a.attname]) AS named
FROM pg_class c JOIN pg_foreign_table t ON t.ftrelid = c.oid
WHERE c.relnamespace = 'imp'::regnamespace ORDER BY c.relname;

-- a renamed table and a renamed column still show what they did
ALTER FOREIGN TABLE imp.logs RENAME TO events;
ALTER FOREIGN TABLE imp.events RENAME COLUMN address TO contract;
SELECT count(contract) FROM imp.events;

-- text in place of bytea
CREATE SCHEMA imphex;
IMPORT FOREIGN SCHEMA evm FROM SERVER imp INTO imphex OPTIONS (spelling 'hex');
SELECT a.atttypid::regtype AS shown, b.atttypid::regtype AS stored, count(*) FROM pg_attribute a
	JOIN pg_attribute b ON b.attrelid = ('imp.' || replace(a.attrelid::regclass::text, 'imphex.', ''))::regclass AND b.attname = a.attname
WHERE a.attrelid = ANY ('{imphex.blocks,imphex.transactions,imphex.traces,imphex.state_diffs}'::regclass[]) AND a.attnum > 0
GROUP BY 1, 2 ORDER BY 1, 2;
SELECT hash, uncles, number FROM imphex.blocks;
DROP SCHEMA imphex CASCADE;

-- kind free gives what has been written
SELECT hotblocks.create_dataset('impfree', 'free');
CREATE FOREIGN TABLE impfree."T" (n bigint, "Odd name" varchar(5), c text COLLATE "C")
	SERVER impfree OPTIONS (block_column 'n');
INSERT INTO impfree."T" VALUES (1, 'x', 'y');
CREATE SCHEMA imp2;
IMPORT FOREIGN SCHEMA free FROM SERVER impfree INTO imp2;
\d imp2.*
SELECT * FROM imp2."T";

DROP SCHEMA imp2 CASCADE;
SELECT hotblocks.drop_dataset('impfree');
DROP SERVER imp CASCADE;
DROP SCHEMA imp;
SELECT hotblocks.drop_dataset('imp');
