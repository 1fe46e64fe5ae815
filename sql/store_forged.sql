--
-- Bytes that were stored as another type: an error or a value, never a crash
--
SET client_min_messages = warning;
SELECT hotblocks.create_dataset('fg', 'free');
CREATE FOREIGN TABLE fg.raw (n bigint, v bytea) SERVER fg OPTIONS (table 't', block_column 'n', sort_key 'n');
INSERT INTO fg.raw VALUES (1, '\x7fffffff00'), (2, '\x'), (3, '\xff'), (4, decode(repeat('ff', 40), 'hex')),
	(5, '\x00000001ffffff7f17000000ffffff7f0100000001000000'), (6, '\x0100000000000000140000007fffffff0100000001000000'),
	(7, '\x01000000000000001400000001000000010000000100000000000000'), (8, '\x3030'), (9, '\x7b7d'), (10, '\xc328'),
	(11, '\x02000000000000001400000000010000000100000100000001000000'), (12, decode(repeat('00', 16), 'hex')), (13, '\x61006200');
INSERT INTO fg.raw SELECT 100 + g, decode(substr(md5(g::text) || md5((g * 7)::text), 1, 2 * (g % 32)), 'hex') FROM generate_series(1, 300) g;

-- every value as every type; how many are errors does not matter, but of which kinds
CREATE FUNCTION forged(type text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	states text[] := '{}'; good int := 0; state text; i bigint; x text;
BEGIN
	UPDATE hotblocks_fg.stored_column SET column_type = type::regtype,
		collation_schema = CASE WHEN type IN ('text', 'varchar', 'bpchar') THEN 'pg_catalog' END,
		collation_name = CASE WHEN type IN ('text', 'varchar', 'bpchar') THEN 'default' END
	WHERE table_name = 't' AND name = 'v';
	EXECUTE format('CREATE FOREIGN TABLE fg.t (n bigint, v %s) SERVER fg OPTIONS (block_column ''n'', sort_key ''n'')', type);
	FOR i IN SELECT g FROM generate_series(1, 13) g UNION ALL SELECT 100 + g FROM generate_series(1, 300) g LOOP
		BEGIN
			EXECUTE 'SELECT v::text FROM fg.t WHERE n = $1' INTO x USING i;
			good := good + 1;
		EXCEPTION WHEN OTHERS THEN
			GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE;
			IF NOT state = ANY (states) THEN
				states := states || state;
			END IF;
		END;
	END LOOP;
	DROP FOREIGN TABLE fg.t;
	RETURN CASE WHEN 'XX000' = ANY (states) THEN 'internal error' ELSE 'survived' END;
END $$;
SELECT type, forged(type) FROM unnest(ARRAY['jsonb', 'json', 'text', 'varchar', 'bpchar', 'name', 'int4[]', 'int8[]', 'int2[]', 'float8[]', 'bool[]', 'date[]',
	'timestamptz[]', 'text[]', 'bytea[]', 'numeric[]', 'jsonb[]', 'numeric', 'tsvector', 'tsquery', 'bit', 'varbit', 'inet', 'cidr', 'path', 'polygon',
	'uuid', 'macaddr', 'interval', 'timetz', 'point', 'box', 'circle', 'xml', 'int4range', 'tid']) AS type;
DROP FUNCTION forged;
SELECT hotblocks.drop_dataset('fg');
