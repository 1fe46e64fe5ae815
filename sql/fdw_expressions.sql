--
-- Conditions on expressions of a column, evaluated by the scan
--
SET client_min_messages = warning;
\getenv sample SAMPLE_DATA
SELECT hotblocks.create_dataset('expr', 'evm');
SELECT count(*) > 0 AS loaded FROM hotblocks.load_file('expr', :'sample' || '/sample-evm.ndjson.gz');
SET search_path = expr, pg_catalog;
SET bytea_output = hex;

-- EXPLAIN says who evaluates them
EXPLAIN (COSTS OFF) SELECT count(*) FROM transactions WHERE octet_length(input) > 4 AND length(input) <= 68 AND substr(input, 1, 4) = '\xa9059cbb';
EXPLAIN (COSTS OFF) SELECT count(*) FROM transactions WHERE substring(input from 1 for 4) <> '\xa9059cbb' OR octet_length(input) IN (0, 4);
EXPLAIN (COSTS OFF) SELECT count(*) FROM logs WHERE hotblocks.topic_to_address(topic1) = '\x0102030405060708090a0b0c0d0e0f1011121314'
	AND hotblocks.address(data) <> hotblocks.hex('0x0102030405060708090a0b0c0d0e0f1011121314') AND hotblocks.uint256(data) BETWEEN 1 AND 1e18;
-- not these
EXPLAIN (COSTS OFF) SELECT count(*) FROM logs WHERE hotblocks.uint256(data, 1) > 5 AND hotblocks.int256(data, 0) > 5;
EXPLAIN (COSTS OFF) SELECT count(*) FROM logs WHERE hotblocks.topic_to_address(topic1) > '\x01' AND substr(data, 2, 4) = '\x00000000' AND substr(data, 1, 4) < '\x01';
EXPLAIN (COSTS OFF) SELECT count(*) FROM logs WHERE substr(data, 1, log_index) = '\x00' AND hotblocks.topic_to_address(topic1) IS NULL;

-- the views' columns
EXPLAIN (COSTS OFF) SELECT * FROM erc20_transfers WHERE "from" = '\x0102030405060708090a0b0c0d0e0f1011121314' AND value >= 1000000;
EXPLAIN (COSTS OFF) SELECT * FROM erc20_transfers WHERE "to" IN ('\x0102030405060708090a0b0c0d0e0f1011121314', '\x00') AND address = '\x0102030405060708090a0b0c0d0e0f1011121314'
	AND block_number BETWEEN 5 AND 10;
EXPLAIN (COSTS OFF) SELECT * FROM erc721_transfers WHERE token_id = 5 AND ("from" = '\x0102030405060708090a0b0c0d0e0f1011121314' OR "to" = '\x0102030405060708090a0b0c0d0e0f1011121314');
EXPLAIN (COSTS OFF) SELECT * FROM erc20_approvals WHERE owner = '\x0102030405060708090a0b0c0d0e0f1011121314' AND spender <> owner;

-- parameters, of statements and of joins; functions of them are computed once
PREPARE by_from(text) AS SELECT count(*) FROM erc20_transfers WHERE "from" = hotblocks.hex($1);
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE by_from('0x00');
RESET plan_cache_mode;
CREATE FUNCTION plan_lines(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	RETURN QUERY EXECUTE 'EXPLAIN (COSTS OFF) ' || query;
END $$;
-- (how an InitPlan's result is written differs between versions)
SELECT count(*) AS pushed FROM plan_lines('SELECT count(*) FROM logs WHERE topic1 = hotblocks.address_to_topic((SELECT "from" FROM transactions WHERE block_number = 1 LIMIT 1))') l
WHERE l LIKE '%Pushed Filter: (topic1 = hotblocks.address_to_topic(%';
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_material = off;
CREATE TABLE wanted (a bytea, t bytea);
INSERT INTO wanted SELECT DISTINCT "from", topic1 FROM erc20_transfers JOIN logs USING (block_number, log_index) WHERE block_number % 10 = 0;
ANALYZE wanted;
EXPLAIN (COSTS OFF) SELECT count(*) FROM wanted JOIN logs ON hotblocks.topic_to_address(logs.topic1) = wanted.a;
SELECT (SELECT count(*) FROM wanted JOIN logs ON hotblocks.topic_to_address(logs.topic1) = wanted.a) =
	(SELECT count(*) FROM wanted JOIN logs ON logs.topic1 = wanted.t) AS same, (SELECT count(*) > 0 FROM wanted) AS any;
RESET enable_hashjoin;
RESET enable_mergejoin;
RESET enable_material;

-- against a copy: words and prefixes of all kinds
CREATE FUNCTION differs(h text, f text, cond text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	rows bigint;
	sum_h numeric;
	sum_f numeric;
	n bigint;
BEGIN
	EXECUTE format('SELECT count(*), sum(id) FROM %s WHERE %s', h, cond) INTO rows, sum_h;
	EXECUTE format('SELECT count(*), sum(id) FROM %s WHERE %s', f, cond) INTO n, sum_f;
	RETURN CASE WHEN n = rows AND sum_h IS NOT DISTINCT FROM sum_f THEN rows::text ELSE format('(%s: %s instead of %s)', cond, n, rows) END;
END $$;
SELECT hotblocks.create_dataset('words', 'free', make_tables => false);
CREATE SERVER words FOREIGN DATA WRAPPER hotblocks OPTIONS (dataset 'words');
CREATE FOREIGN TABLE words (id bigint NOT NULL, d bytea, t text) SERVER words OPTIONS (block_column 'id');
CREATE TABLE heap_words (id bigint, d bytea, t text);
-- every kind of first word, of every length around a word, stored in dictionaries, as values, and as values of one length
INSERT INTO heap_words SELECT row_number() OVER (), CASE WHEN n = 99 THEN NULL ELSE substr(w || '\x00ff01'::bytea || w, 1, n) END,
	CASE WHEN n = 99 THEN NULL ELSE left('añb%_\' || encode(w, 'hex'), n / 2) END
FROM (VALUES (decode(repeat('00', 32), 'hex')), (decode(repeat('00', 31) || '01', 'hex')), (decode(repeat('00', 31) || 'ff', 'hex')),
	(decode(repeat('00', 30) || '0100', 'hex')), (decode(repeat('ff', 32), 'hex')), (decode(repeat('ff', 31) || 'fe', 'hex')),
	(decode(repeat('00', 12) || repeat('ff', 20), 'hex')), (decode(repeat('00', 12) || repeat('12', 20), 'hex')), (decode(repeat('00', 11) || '01' || repeat('12', 20), 'hex')),
	(decode('80' || repeat('00', 31), 'hex')), (decode('a9059cbb' || repeat('12', 28), 'hex')), (decode('ffffffff' || repeat('00', 28), 'hex'))) w(w),
	unnest('{0,1,3,4,5,12,13,19,20,21,31,32,33,36,64,66,99}'::int[]) n;
INSERT INTO words SELECT * FROM heap_words;
-- unique values
INSERT INTO heap_words SELECT 1000 + g, decode(repeat('00', g % 30) || lpad(to_hex(g), 8, '0') || repeat('ab', g % 40), 'hex'), g || 'x' || g FROM generate_series(1, 3000) g;
INSERT INTO words SELECT * FROM heap_words WHERE id BETWEEN 1001 AND 4000;
INSERT INTO heap_words SELECT 5000 + g, decode(lpad(to_hex(g::bigint * g * g), 64, '0'), 'hex'), 'same length ' || g FROM generate_series(1001, 3000) g;
INSERT INTO words SELECT * FROM heap_words WHERE id > 5000;
-- all of one length, few values
INSERT INTO heap_words SELECT 9000 + g, decode(lpad(to_hex(g % 7), 64, '0'), 'hex'), NULL FROM generate_series(1, 300) g;
INSERT INTO words SELECT * FROM heap_words WHERE id > 9000;
SET client_min_messages = error;
SELECT form, op, string_agg(differs('heap_words', 'words', format(form, op, v)), ' ' ORDER BY v) AS rows
FROM (VALUES ('hotblocks.uint256(d) %s %L::numeric'), ('NOT hotblocks.uint256(d, 0) %s %L::numeric')) f(form), unnest('{<,<=,=,<>,>=,>}'::text[]) op,
	unnest(ARRAY['-1', '-0.5', '0', '0.5', '1', '255', '255.5', '256', '1e9', '1e70', (2::numeric ^ 256 - 2)::text, (2::numeric ^ 256 - 1)::text, (2::numeric ^ 256)::text, '1e80', 'NaN', 'Infinity', '-Infinity', (2::numeric ^ 255)::text]) v
GROUP BY form, op ORDER BY form, op;
SELECT form, op, string_agg(differs('heap_words', 'words', format(form, op, v)), ' ' ORDER BY v COLLATE "C") AS rows
FROM unnest(ARRAY['hotblocks.topic_to_address(d) %s %L', 'hotblocks.address(d, 0) %s %L', 'substr(d, 1, 4) %s %L', 'substring(d from 1 for 1) %s %L', 'substr(d, 1, 12) %s %L', 'substr(d, 1, 40) %s %L', 'NOT hotblocks.topic_to_address(d) %s %L']) form,
	unnest('{=,<>}'::text[]) op,
	unnest(ARRAY['\x', '\x00', '\x' || repeat('00', 4), '\x' || repeat('00', 12), '\x' || repeat('00', 20), '\x' || repeat('ff', 20), '\x' || repeat('12', 20), '\x' || repeat('ff', 40), '\xa9059cbb', '\xffffffff', '\xff', '\x000000ff', '\x' || repeat('00', 32)]) v
GROUP BY form, op ORDER BY form, op;
SELECT e, op, string_agg(differs('heap_words', 'words', format('%s %s %s', e, op, v)), ' ' ORDER BY v) AS rows
FROM unnest('{octet_length(d),length(d),octet_length(t)}'::text[]) e, unnest('{<,<=,=,<>,>=,>,IS DISTINCT FROM,IS NOT DISTINCT FROM}'::text[]) op, unnest('{-1,0,1,12,13,31,32,33,64,1000000}'::int[]) v
GROUP BY e, op ORDER BY e, op;
SELECT form, string_agg(differs('heap_words', 'words', format(form, v)), ' ' ORDER BY v COLLATE "C") AS rows
FROM unnest(ARRAY['t LIKE %L || ''%%''', 't NOT LIKE %L || ''%%''', 't ILIKE %L || ''%%''', 't LIKE %L', 'starts_with(t, %L)', 't ^@ %L', 'NOT t ^@ %L', 'substr(t, 1, 2) = %L', 'left(t, 3) = %L', 'left(t, 3) <> %L']) form,
	unnest(ARRAY['', 'a', 'añ', 'añb', 'añb\%', 'añb%', 'añb_', '1', '12', '12x', 'same', 'Same', 'ñ', 'a\ñ']) v
GROUP BY form ORDER BY form;
SELECT differs('heap_words', 'words', cond), cond FROM unnest(ARRAY[
	'hotblocks.uint256(d) IN (0, 1, 255, 0.5, 1e90)', 'hotblocks.uint256(d) NOT IN (0, 1, 0.5)', 'hotblocks.uint256(d) = ANY (ARRAY[1, NULL])',
	'hotblocks.topic_to_address(d) IN (decode(repeat(''12'', 20), ''hex''), ''\x00'')', 'hotblocks.topic_to_address(d) NOT IN (decode(repeat(''12'', 20), ''hex''), ''\x00'')',
	'hotblocks.address(d) IN (decode(repeat(''12'', 20), ''hex''), decode(repeat(''ff'', 20), ''hex''))', 'hotblocks.address(d) <> ALL (ARRAY[decode(repeat(''12'', 20), ''hex'')])',
	'substr(d, 1, 4) IN (''\xa9059cbb'', ''\x00'', ''\x'')', 'substr(d, 1, 4) NOT IN (''\xa9059cbb'', ''\x00'', ''\x'')', 'substr(d, 1, 4) IS DISTINCT FROM ''\xa9059cbb''',
	'hotblocks.topic_to_address(d) IS DISTINCT FROM ''\x00''', 'octet_length(d) IN (0, 32, 33)', 'octet_length(d) NOT IN (0, 32, 33)', 'octet_length(d) <> 0 AND octet_length(d) <> 32 AND d <> ''\x00''',
	'octet_length(d) IS NULL', 'substr(d, 1, 4) IS NOT NULL', 'octet_length(d) > 12 AND octet_length(d) < 33 AND octet_length(t) > 8', 'octet_length(d) = 1 OR octet_length(t) = 1',
	'octet_length(d) BETWEEN 1::smallint AND 9::bigint']) cond;
-- lengths are found without reading values
CREATE FUNCTION values_read(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	plan jsonb;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) ' || query INTO plan;
	RETURN CASE WHEN (plan->0->'Plan'->'Plans'->0->'Bytes Read by Part'->>'Values')::bigint = 0 THEN 'none' ELSE 'some' END;
END $$;
\c -
SET search_path = expr, pg_catalog;
SELECT values_read('SELECT count(*) FROM words WHERE id BETWEEN 1001 AND 4000 AND octet_length(d) = 20'),
	values_read('SELECT count(*) FROM words WHERE id BETWEEN 1001 AND 4000 AND d <> ''\x00''');

-- a column that has the first bytes of another one, and takes no space
INSERT INTO transactions (block_number, transaction_index, hash, input, sighash)
	SELECT 1000, row_number() OVER (), sha256(i), i, CASE WHEN length(i) >= 4 THEN substr(i, 1, 4) END
	FROM unnest('{"\\x","\\x01","\\xffffff","\\xffffffff","\\xffffffff00","\\xfffffffe","\\xfffffffeff","\\xa9059cbb","\\xa9059cbbff","\\xa9059cbc","\\xa9059cba00"}'::bytea[]) i;
-- one that does not have them is stored
INSERT INTO transactions (block_number, transaction_index, hash, input, sighash) VALUES (1001, 0, sha256('1'), '\xa9059cbb', '\xffffffff'), (1001, 1, sha256('2'), '\x01', NULL);
CREATE TABLE heap_transactions AS SELECT transaction_index + block_number AS id, sighash FROM transactions WHERE block_number >= 1000;
CREATE VIEW some_transactions AS SELECT transaction_index + block_number AS id, sighash FROM transactions WHERE block_number >= 1000;
SET client_min_messages = error;
SELECT differs('heap_transactions', 'some_transactions', cond), cond FROM unnest(ARRAY['sighash = ''\xa9059cbb''', 'sighash = ''\xffffffff''', 'sighash = ''\xfffffffe''',
	'sighash = ''\x01''', 'sighash IS NULL', 'sighash IS NOT NULL', 'sighash IN (''\xa9059cbb'', ''\xffffffff'', ''\x01'')', 'sighash NOT IN (''\xa9059cbb'', ''\xffffffff'')',
	'sighash <> ''\xa9059cbb''', 'sighash > ''\xa9059cbb''', 'sighash IS DISTINCT FROM ''\xa9059cbb''', 'octet_length(sighash) = 4', 'substr(sighash, 1, 1) = ''\xff''',
	'sighash = ''\xa9059cbb'' OR sighash IS NULL', 'NOT (sighash = ''\xa9059cbb'')', 'sighash >= ''\xa9059cbb'' AND sighash < ''\xffffffff''']) cond;
SET client_min_messages = warning;

-- a constant whose length no value has
SELECT count(*) FROM logs WHERE address = '0xdAC17F958D2ee523a2206206994597C13D831ec7';
SELECT count(*) FROM logs WHERE topic0 IN ('\x01', '\x02');
SELECT count(*) FROM transactions WHERE hash = ANY (ARRAY['\x01'::bytea]);
SELECT count(*) > 0 AS some FROM logs WHERE address <> '\x01';
SELECT count(*) FROM logs WHERE data = '\x01' AND block_number = 1;

DROP FOREIGN TABLE words;
DROP SERVER words;
SELECT hotblocks.drop_dataset('words');
SET client_min_messages = warning;
SELECT hotblocks.drop_dataset('expr');
DROP SCHEMA expr CASCADE;
DROP SERVER IF EXISTS expr CASCADE;
