--
-- What a backend remembers of a dataset never shows anything that is not there
--
SET client_min_messages = warning;
SELECT hotblocks.create_dataset('mem', 'free');
CREATE FOREIGN TABLE mem.t (n bigint, v text) SERVER mem
	OPTIONS (block_column 'n', sort_key 'n');
INSERT INTO mem.t SELECT g, 'a' FROM generate_series(1, 10) g;
SELECT count(*), max(n) FROM mem.t;

-- rows of a transaction that ends badly, and of its savepoints
BEGIN;
INSERT INTO mem.t VALUES (11, 'b');
SAVEPOINT s;
INSERT INTO mem.t VALUES (12, 'c');
SELECT count(*), max(n) FROM mem.t;
ROLLBACK TO s;
SELECT count(*), max(n) FROM mem.t;
ROLLBACK;
SELECT count(*), max(n) FROM mem.t;
BEGIN;
INSERT INTO mem.t VALUES (11, 'b');
SAVEPOINT s;
INSERT INTO mem.t VALUES (12, 'c');
ROLLBACK TO s;
INSERT INTO mem.t VALUES (13, 'd');
COMMIT;
SELECT count(*), max(n) FROM mem.t;

-- one transition for a transaction, whatever it wrote
SELECT version, kind, from_block FROM hotblocks.transitions WHERE dataset = 'mem' ORDER BY 1;

-- a snapshot keeps its chunks
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT count(*) FROM mem.t;
DECLARE c CURSOR FOR SELECT n FROM mem.t ORDER BY n DESC;
FETCH 2 FROM c;
INSERT INTO mem.t VALUES (14, 'e');
FETCH 2 FROM c;
SELECT count(*) FROM mem.t;
ROLLBACK;

-- a table read while it is written
INSERT INTO mem.t SELECT n + 100, v FROM mem.t;
SELECT count(*), max(n) FROM mem.t;

-- readers are shared between scans of one table, and bounded
SET hotblocks.directory_cache_size = 0;
SELECT count(*) FROM mem.t a JOIN mem.t b ON a.n = b.n + 100;
RESET hotblocks.directory_cache_size;
SELECT count(*) FROM mem.t a JOIN mem.t b ON a.n = b.n + 100;

-- what the owner changes by hand shows at once
UPDATE hotblocks_mem.chunk SET first_block = 5 WHERE first_block = 1;
SELECT count(*) FROM mem.t WHERE n < 5;
UPDATE hotblocks_mem.chunk SET first_block = 1 WHERE first_block = 5;
SELECT count(*) FROM mem.t WHERE n < 5;
BEGIN;
DELETE FROM hotblocks_mem.chunk;
SELECT count(*) FROM mem.t;
ROLLBACK;
SELECT count(*) FROM mem.t;

-- damage is told, with its place, and never shown as rows
CREATE FUNCTION mem.hides_damage(part text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	size int;
	hidden bigint := 0;
	good text;
	now text;
BEGIN
	EXECUTE format('SELECT octet_length(%I) FROM hotblocks_mem.chunk WHERE first_block = 1', part) INTO size;
	SELECT string_agg(t::text, ' ' ORDER BY n) INTO good FROM mem.t;
	FOR i IN 0 .. size - 1 LOOP
		BEGIN
			EXECUTE format('UPDATE hotblocks_mem.chunk SET %1$I = set_byte(%1$I, %2$s, get_byte(%1$I, %2$s) # 16)
				WHERE first_block = 1', part, i);
			SELECT string_agg(t::text, ' ' ORDER BY n) INTO now FROM mem.t;
			IF now IS DISTINCT FROM good THEN
				hidden := hidden + 1;
			END IF;
			RAISE SQLSTATE 'ZZ000';
		EXCEPTION WHEN data_corrupted OR feature_not_supported OR SQLSTATE 'ZZ000' THEN
			NULL;
		END;
	END LOOP;
	RETURN hidden;
END
$$;
SELECT mem.hides_damage('directory'), mem.hides_damage('body');
UPDATE hotblocks_mem.chunk SET directory = set_byte(directory, 20, get_byte(directory, 20) # 1)
	WHERE first_block = 1 AND last_block = 10;
\set VERBOSITY sqlstate
SELECT count(v) FROM mem.t;
\set VERBOSITY default
DELETE FROM hotblocks_mem.chunk WHERE last_block < 100;

-- pieces: a chunk that is larger than its row
CREATE FOREIGN TABLE mem.big (n bigint, v bytea) SERVER mem
	OPTIONS (block_column 'n', sort_key 'n');
INSERT INTO mem.big SELECT g, sha256(g::text::bytea) FROM generate_series(1, 5000) g;
SELECT pieces FROM hotblocks.chunks WHERE dataset = 'mem' AND table_name = 'big';
SELECT count(*) FROM mem.big WHERE v = sha256(n::text::bytea);
\set VERBOSITY sqlstate
BEGIN;
UPDATE hotblocks_mem.piece_hot SET data = set_byte(data, 3, 0);
SELECT count(v) FROM mem.big;
ROLLBACK;
BEGIN;
UPDATE hotblocks_mem.piece_hot SET data = set_byte(data, 8, 77);
SELECT count(v) FROM mem.big;
ROLLBACK;
BEGIN;
UPDATE hotblocks_mem.piece_hot SET data = substr(data, 1, 100000);
SELECT count(v) FROM mem.big;
ROLLBACK;
BEGIN;
UPDATE hotblocks_mem.piece_hot SET data = set_byte(data, 100000, get_byte(data, 100000) # 1);
SELECT count(v) FROM mem.big;
ROLLBACK;
BEGIN;
DELETE FROM hotblocks_mem.piece_hot;
SELECT count(v) FROM mem.big;
ROLLBACK;
\set VERBOSITY default
SELECT count(*) FROM mem.big WHERE v = sha256(n::text::bytea);

-- the tables' files may be written anew, and their storage changed
VACUUM FULL hotblocks_mem.piece_hot;
SELECT count(*) FROM mem.big WHERE v = sha256(n::text::bytea);
ALTER TABLE hotblocks_mem.piece_hot ALTER data SET STORAGE EXTENDED;
UPDATE hotblocks_mem.piece_hot SET data = data || '';
SELECT count(*) FROM mem.big WHERE v = sha256(n::text::bytea);

-- columns that are not the library's are refused, not misread
ALTER TABLE hotblocks_mem.piece_hot ADD COLUMN note text;
SELECT count(*) FROM mem.big WHERE n > 4000;
INSERT INTO mem.big VALUES (6000, '\x00');
ALTER TABLE hotblocks_mem.chunk ALTER COLUMN level TYPE text;
INSERT INTO mem.big VALUES (6001, '\x00');

SELECT hotblocks.drop_dataset('mem');
DROP SCHEMA mem CASCADE;
