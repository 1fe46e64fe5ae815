--
-- Values of chain data that other systems lose, and the questions that
-- explorers ask (numbers as in peers_skipping)
--
SET client_min_messages = warning;
SET timezone = 'UTC';
SELECT hotblocks.create_dataset('pv', 'evm', linkage => 'links');

-- A block with transactions whose members are given, as a document
CREATE FUNCTION block(number int, transactions jsonb DEFAULT '[]', receipts jsonb DEFAULT '[]',
	more jsonb DEFAULT '{}') RETURNS text LANGUAGE sql AS $$
	SELECT (jsonb_build_object('block', jsonb_build_object('number', '0x' || to_hex(number),
			'hash', '0x' || lpad(to_hex(number), 64, '0'), 'parentHash', '0x' || lpad(to_hex(number - 1), 64, '0'),
			'timestamp', '0x65000000', 'transactions', transactions),
		'receipts', receipts) || more)::text
$$;
CREATE FUNCTION tx(index int, number int, more jsonb DEFAULT '{}') RETURNS jsonb LANGUAGE sql AS $$
	SELECT jsonb_build_object('hash', '0x' || lpad(to_hex(number * 1000 + index), 64, 'a'),
		'transactionIndex', '0x' || to_hex(index), 'from', '0x' || repeat('11', 20), 'input', '0x') || more
$$;
CREATE FUNCTION receipt(index int, number int, logs jsonb DEFAULT '[]', more jsonb DEFAULT '{}') RETURNS jsonb LANGUAGE sql AS $$
	SELECT jsonb_build_object('transactionHash', '0x' || lpad(to_hex(number * 1000 + index), 64, 'a'), 'logs', logs) || more
$$;

-- 148, 152: 256 bits, exactly; also as a filter, in order and in a sum
SELECT (hotblocks.extend('pv', block(1,
	jsonb_build_array(tx(0, 1, '{"value": "0xffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"}'),
		tx(1, 1, '{"value": "0x0"}'), tx(2, 1, '{"value": "0x8000000000000000000000000000000000000000000000000000000000000000"}'),
		tx(3, 1, '{"value": "0xde0b6b3a7640001"}'), tx(4, 1, '{"value": "0x7fffffffffffffff"}'), tx(5, 1, '{"value": "0x8000000000000000"}'),
		tx(6, 1)),
	jsonb_build_array(receipt(0, 1), receipt(1, 1), receipt(2, 1), receipt(3, 1), receipt(4, 1), receipt(5, 1), receipt(6, 1))))).head;
SELECT transaction_index, value FROM pv.transactions ORDER BY value DESC NULLS LAST;
SELECT transaction_index FROM pv.transactions WHERE value = 115792089237316195423570985008687907853269984665640564039457584007913129639935;
SELECT count(*) FROM pv.transactions WHERE value > 9223372036854775807;
SELECT count(*) FROM pv.transactions WHERE value >= 9223372036854775807;
SELECT count(*) FROM pv.transactions WHERE value > 9223372036854775807.5;
SELECT sum(value), max(value), min(value) FROM pv.transactions;
-- negative ones come from INSERT only
SELECT hotblocks.create_dataset('pvf', 'free');
CREATE FOREIGN TABLE pvf.q (n bigint, v numeric(78, 0), u numeric) SERVER pvf OPTIONS (block_column 'n', sort_key 'n');
INSERT INTO pvf.q VALUES (1, -2::numeric ^ 255, round(-2::numeric ^ 255, 16)), (2, 2::numeric ^ 256 - 1, 1e-20), (3, 0, 1.50), (4, NULL, 'NaN');
SELECT * FROM pvf.q ORDER BY n;
SELECT n FROM pvf.q WHERE v = -57896044618658097711785492504343953926634992332820282019728792003956564819968;
SELECT n FROM pvf.q WHERE v < -9223372036854775808 OR u = 1.5 ORDER BY n;

-- 158: NULL, empty and zero are three things
SELECT (hotblocks.extend('pv', block(2,
	jsonb_build_array(tx(0, 2, '{"to": null, "input": "0x", "gas": "0x0"}'), tx(1, 2, '{"to": "0x0000000000000000000000000000000000000000", "input": "0x00"}'),
		tx(2, 2, '{"input": null}')),
	jsonb_build_array(receipt(0, 2, '[]', '{"gasUsed": "0x0", "status": "0x0"}'), receipt(1, 2, '[]', '{"gasUsed": null}'), receipt(2, 2)))
)).head;
SELECT transaction_index, "to", input, gas, gas_used, status FROM pv.transactions WHERE block_number = 2 ORDER BY 1;
SELECT count(*) FILTER (WHERE input = '\x'), count(*) FILTER (WHERE input IS NULL), count(*) FILTER (WHERE "to" IS NULL)
FROM pv.transactions WHERE block_number = 2;
SELECT transaction_index FROM pv.transactions WHERE input = '\x' AND block_number = 2;
SELECT transaction_index FROM pv.transactions WHERE input IS NULL AND block_number = 2;

-- 149: three topics and data are an ERC-20 transfer, four topics an ERC-721 one
SELECT (hotblocks.extend('pv', block(3, jsonb_build_array(tx(0, 3)), jsonb_build_array(receipt(0, 3, jsonb_build_array(
	jsonb_build_object('address', '0x' || repeat('22', 20), 'logIndex', '0x0', 'data', '0x' || repeat('f', 64),
		'topics', jsonb_build_array('0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
			'0x' || lpad('1', 64, '0'), '0x' || lpad('2', 64, '0'))),
	jsonb_build_object('address', '0x' || repeat('33', 20), 'logIndex', '0x1', 'data', '0x',
		'topics', jsonb_build_array('0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
			'0x' || lpad('1', 64, '0'), '0x' || lpad('2', 64, '0'), '0x' || repeat('f', 64))),
	jsonb_build_object('address', '0x' || repeat('44', 20), 'logIndex', '0x2', 'data', '0x01', 'topics', '[]'::jsonb))))))).head;
SELECT value, "from", "to" FROM pv.erc20_transfers;
SELECT token_id FROM pv.erc721_transfers;
SELECT count(*) FROM pv.logs WHERE topic0 IS NULL;

-- 154: the same transfer twice; a root trace has an empty address
SELECT (hotblocks.extend('pv', block(4, jsonb_build_array(tx(0, 4)), jsonb_build_array(receipt(0, 4)),
	'{"traceFormat": "trace_block", "traces": [
		{"type": "call", "transactionPosition": 0, "traceAddress": [], "subtraces": 1, "action": {"callType": "call", "from": "0x1111111111111111111111111111111111111111", "to": "0x2222222222222222222222222222222222222222", "value": "0xffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff", "gas": "0x1", "input": "0x"}, "result": {"gasUsed": "0x0", "output": "0x"}},
		{"type": "call", "transactionPosition": 0, "traceAddress": [0], "subtraces": 0, "error": "out of gas", "action": {"callType": "call", "from": "0x1111111111111111111111111111111111111111", "to": "0x2222222222222222222222222222222222222222", "value": "0x0", "gas": "0x1", "input": "0x"}}]}'))).head;
SELECT trace_address, value, gas_used, output, error FROM pv.traces ORDER BY trace_address;
SELECT count(*) FROM pv.traces WHERE trace_address = '{}';
SELECT count(*) FROM pv.traces WHERE trace_address > '{}';

-- 157: numbers with holes, and whose parent is checked
SELECT (hotblocks.extend('pv', block(1000))).head;
SELECT from_block, to_block FROM hotblocks.gaps WHERE dataset = 'pv';
SELECT number FROM pv.blocks WHERE number > 4 AND number < 1001;
SELECT hotblocks.extend('pv', replace(block(1001), lpad('3e8', 64, '0'), lpad('bad', 64, '0')));

-- 134, 142: explorers' questions go to few pages, and come in order without a sort
CREATE FUNCTION explained(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	l text;
BEGIN
	FOR l IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		IF l ~ 'Scan|Sort|Filter|Join|Limit|Range' THEN
			RETURN NEXT regexp_replace(l, '\s+$', '');
		END IF;
	END LOOP;
END $$;
SELECT explained($$SELECT * FROM pv.logs WHERE address = '\x2222222222222222222222222222222222222222' ORDER BY block_number DESC LIMIT 51$$);
SELECT explained($$SELECT * FROM pv.transactions WHERE hash = '\x2222222222222222222222222222222222222222222222222222222222222222'$$);
SELECT explained($$SELECT * FROM pv.logs WHERE transaction_hash = '\x2222222222222222222222222222222222222222222222222222222222222222'$$);
SELECT explained($$SELECT * FROM pv.traces WHERE block_number = 5 AND transaction_index = 7 AND trace_address = '{0,1}'$$);
SELECT explained($$SELECT * FROM pv.transactions WHERE "from" = '\x2222222222222222222222222222222222222222' OR "to" = '\x2222222222222222222222222222222222222222' ORDER BY block_number DESC, transaction_index DESC LIMIT 50$$);

DROP FUNCTION block, tx, receipt, explained;
SELECT hotblocks.drop_dataset('pv');
SELECT hotblocks.drop_dataset('pvf');
