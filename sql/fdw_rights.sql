--
-- Whose rights count
--
SET client_min_messages = warning;
CREATE ROLE regress_hb_owner;
CREATE ROLE regress_hb_reader;
CREATE ROLE regress_hb_other;
GRANT CREATE ON SCHEMA public TO regress_hb_reader, regress_hb_other;
DO $$ BEGIN
	EXECUTE format('GRANT CREATE ON DATABASE %I TO regress_hb_owner', current_database());
END $$;

SET ROLE regress_hb_other;
CREATE SERVER regress_hb FOREIGN DATA WRAPPER hotblocks OPTIONS (dataset 'own');
RESET ROLE;
GRANT USAGE ON FOREIGN DATA WRAPPER hotblocks TO regress_hb_owner;
SET ROLE regress_hb_owner;
SELECT hotblocks.create_dataset('own', 'free');
CREATE FOREIGN TABLE own.t (n bigint) SERVER own OPTIONS (block_column 'n');
INSERT INTO own.t VALUES (1), (2);
GRANT USAGE ON SCHEMA own TO regress_hb_reader, regress_hb_other;
GRANT USAGE ON FOREIGN SERVER own TO regress_hb_other;
GRANT SELECT ON own.t TO regress_hb_reader;
RESET ROLE;

-- the caller needs rights on the foreign table, and no others
SET ROLE regress_hb_reader;
SELECT count(*) FROM own.t;
INSERT INTO own.t VALUES (3);
SELECT * FROM hotblocks_own.chunk;
RESET ROLE;
SET ROLE regress_hb_other;
SELECT count(*) FROM own.t;
-- the foreign table's owner needs rights on the dataset
CREATE FOREIGN TABLE mine (n bigint) SERVER own OPTIONS ("table" 't');
SELECT count(*) FROM mine;
EXPLAIN SELECT count(*) FROM mine;
INSERT INTO mine VALUES (4);
TRUNCATE mine;
ANALYZE mine;
IMPORT FOREIGN SCHEMA free FROM SERVER own INTO public;
RESET ROLE;
GRANT USAGE ON SCHEMA hotblocks_own TO regress_hb_other;
GRANT SELECT ON hotblocks_own.chunk TO regress_hb_other;
SET ROLE regress_hb_other;
SELECT count(*) FROM mine;
INSERT INTO mine VALUES (4);
TRUNCATE mine;
GRANT SELECT, INSERT, TRUNCATE ON mine TO regress_hb_reader;
RESET ROLE;
GRANT INSERT ON hotblocks_own.chunk TO regress_hb_other;
SET ROLE regress_hb_reader;
INSERT INTO mine VALUES (4);
SELECT count(*) FROM mine;
TRUNCATE mine;
RESET ROLE;
GRANT TRUNCATE ON hotblocks_own.chunk TO regress_hb_other;
SET ROLE regress_hb_reader;
TRUNCATE mine;
SELECT count(*) FROM mine;
RESET ROLE;

DROP OWNED BY regress_hb_other, regress_hb_reader;
SET ROLE regress_hb_owner;
SELECT hotblocks.drop_dataset('own');
RESET ROLE;
DROP OWNED BY regress_hb_owner, regress_hb_reader, regress_hb_other;
DROP ROLE regress_hb_owner, regress_hb_reader, regress_hb_other;
