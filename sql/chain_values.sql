-- What goes in comes out: exact values, absent against null against empty,
-- canonical spelling, derived columns, both trace formats, state diffs.
SET client_min_messages = warning;
SET bytea_output = hex;
SET timezone = 'UTC';
SET datestyle = 'ISO';
SET hotblocks.missing_data = ignore;

CREATE FUNCTION pg_temp.h(c text) RETURNS text LANGUAGE sql AS $$ SELECT '0x' || repeat(c, 32) $$;
CREATE FUNCTION pg_temp.a(c text) RETURNS text LANGUAGE sql AS $$ SELECT '0x' || repeat(c, 20) $$;
SELECT hotblocks.create_dataset('cv', 'evm', linkage => 'none');

-- the largest values, and spellings that are not canonical
SELECT rows FROM hotblocks.extend('cv', jsonb_build_object(
	'block', jsonb_build_object('number', '0x0001', 'hash', upper(pg_temp.h('ab')), 'timestamp', '0x0', 'nonce', '0x00000000000000FF',
		'extraData', '0x', 'uncles', '[]'::jsonb, 'withdrawals', '[]'::jsonb, 'difficulty', '0x' || repeat('f', 64),
		'gasLimit', '0xffffffffffffffff', 'gasUsed', '0x7fffffffffffffff', 'size', '0x0', 'totalDifficulty', '0x000',
		'baseFeePerGas', 115792089237316195423570985008687907853269984665640564039457584007913129639935,
		'transactions', jsonb_build_array(
			jsonb_build_object('hash', pg_temp.h('01'), 'value', '0x' || repeat('f', 64), 'input', '0x', 'r', '0x1', 's', '0x' || repeat('0', 70) || 'ff',
				'nonce', '0x8000000000000000', 'gas', '0x0', 'accessList', '[]'::jsonb, 'blobVersionedHashes', '[]'::jsonb, 'to', NULL,
				'chainId', 1, 'type', '0x7f', 'v', '0x25'),
			jsonb_build_object('hash', pg_temp.h('02'), 'value', '0x0', 'input', '0xA9059CBB', 'to', pg_temp.a('02'), 'from', pg_temp.a('01'),
				'accessList', '[{"address": "0xAB", "storageKeys": ["0x00"], "new": {"x": [1.50, null, true, "\u00e9"]}}]'::jsonb,
				'blobVersionedHashes', jsonb_build_array(pg_temp.h('03'), pg_temp.h('04'))),
			jsonb_build_object('hash', pg_temp.h('03'), 'input', '0xa9059c'))),
	'receipts', jsonb_build_array(
		jsonb_build_object('transactionHash', pg_temp.h('03'), 'logs', '[]'::jsonb, 'root', '0x12'),
		jsonb_build_object('transactionHash', pg_temp.h('01'), 'status', '0x0', 'contractAddress', pg_temp.a('cc'), 'l1FeeScalar', '0.684', 'l1Fee', '0x10', 'logs', '[]'::jsonb),
		jsonb_build_object('transactionHash', pg_temp.h('02'), 'status', '0x1', 'logs', jsonb_build_array(
			jsonb_build_object('logIndex', '0x2', 'address', pg_temp.a('0a'), 'data', '0x', 'topics', jsonb_build_array(pg_temp.h('0b'), pg_temp.h('0c'), pg_temp.h('0d'), pg_temp.h('0e'))),
			jsonb_build_object('logIndex', '0x0', 'address', pg_temp.a('0A'), 'data', '0xFF00', 'topics', '[]'::jsonb)))),
	'traces', '[]'::jsonb, 'stateDiffs', '[]'::jsonb)::text);
\x on
SELECT number, hash, parent_hash, timestamp, nonce, extra_data, extra_data = '' AS extra_empty, uncles, withdrawals, difficulty, gas_used, size,
	total_difficulty, base_fee_per_gas, miner, logs_bloom FROM cv.blocks;
SELECT transaction_index, hash, block_timestamp, value, input, sighash, r, s, gas, access_list, blob_versioned_hashes, "to", "from", chain_id, type, v,
	status, contract_address, l1_fee_scalar, l1_fee, y_parity, logs_bloom FROM cv.transactions ORDER BY transaction_index;
SELECT * FROM cv.logs ORDER BY log_index;
\x off
-- a quantity that bigint cannot hold is stored, and says how to read it
SELECT gas_limit FROM cv.blocks;
SELECT nonce FROM cv.transactions WHERE transaction_index = 0;
SELECT gas_used FROM cv.blocks;
ALTER FOREIGN TABLE cv.blocks ALTER gas_limit TYPE numeric;
ALTER FOREIGN TABLE cv.transactions ALTER nonce TYPE numeric;
SELECT gas_limit FROM cv.blocks WHERE gas_limit = 18446744073709551615;
SELECT transaction_index, nonce FROM cv.transactions WHERE nonce > 9223372036854775807;

-- blooms: derived where the logs give them, stored where they do not
CREATE FUNCTION pg_temp.bloomed(n int, bloom text, receipts text) RETURNS text
	LANGUAGE sql AS $$
	SELECT jsonb_build_object('block', jsonb_build_object('number', '0x' || to_hex(n), 'hash', pg_temp.h(lpad(n::text, 2, '0')),
		'transactions', jsonb_build_array(jsonb_build_object('hash', pg_temp.h('0' || n))), 'logsBloom', bloom),
		'receipts', jsonb_build_array(jsonb_build_object('transactionHash', pg_temp.h('0' || n), 'logsBloom', bloom, 'logs', receipts::jsonb)))::text
$$;
-- the bloom of an address of twenty 0a and topic of thirty-two 0b, by hand
CREATE FUNCTION pg_temp.bloom(VARIADIC items bytea[] DEFAULT '{}') RETURNS text
	LANGUAGE plpgsql AS $$
DECLARE
	b bytea := decode(repeat('00', 256), 'hex');
	k bytea;
BEGIN
	FOR i IN 1 .. coalesce(cardinality(items), 0) LOOP
		k := hotblocks.keccak256(items[i]);
		FOR j IN 0 .. 2 LOOP
			DECLARE bit int := (get_byte(k, 2 * j) << 8 | get_byte(k, 2 * j + 1)) & 2047;
			BEGIN
				b := set_byte(b, 255 - bit / 8, get_byte(b, 255 - bit / 8) | 1 << (bit % 8));
			END;
		END LOOP;
	END LOOP;
	RETURN '0x' || encode(b, 'hex');
END
$$;
SELECT rows FROM hotblocks.extend('cv',
	pg_temp.bloomed(2, pg_temp.bloom(hotblocks.hex(pg_temp.a('0a')), hotblocks.hex(pg_temp.h('0b'))),
		'[{"logIndex": "0x0", "address": "' || pg_temp.a('0a') || '", "data": "0x", "topics": ["' || pg_temp.h('0b') || '"]}]'),
	pg_temp.bloomed(3, pg_temp.bloom(), '[]'));
SELECT rows FROM hotblocks.extend('cv', pg_temp.bloomed(4, pg_temp.bloom('\x01'), '[]'), pg_temp.bloomed(5, pg_temp.bloom(), '[]'));
SELECT rows FROM hotblocks.extend('cv', pg_temp.bloomed(6, pg_temp.bloom(), '[]'), pg_temp.bloomed(7, NULL, '[]'), pg_temp.bloomed(8, pg_temp.bloom(), '[]'));
SELECT b.number, '0x' || encode(b.logs_bloom, 'hex') = pg_temp.bloom() AS zero, md5(b.logs_bloom), b.logs_bloom IS NOT DISTINCT FROM t.logs_bloom AS same
FROM cv.blocks b JOIN cv.transactions t ON t.block_number = b.number WHERE b.number > 1 ORDER BY 1;
SELECT c.chunk_id - min(c.chunk_id) OVER () AS chunk, c.rows, c.encoding FROM hotblocks.chunk_columns('cv', 'blocks') c WHERE column_name = 'logs_bloom' ORDER BY 1;

-- traces, flat
SELECT hotblocks.create_dataset('cf', 'evm', linkage => 'none');
SELECT rows FROM hotblocks.extend('cf', replace(jsonb_build_object(
	'block', jsonb_build_object('number', 1, 'hash', pg_temp.h('ab'), 'timestamp', '0x10', 'transactions', jsonb_build_array(
		jsonb_build_object('hash', pg_temp.h('01')), jsonb_build_object('hash', pg_temp.h('02')))),
	'traces', jsonb_build_array(
		jsonb_build_object('type', 'call', 'traceAddress', '[]'::jsonb, 'subtraces', 2, 'transactionHash', pg_temp.h('02'), 'transactionPosition', 1,
			'action', jsonb_build_object('callType', 'delegateCall', 'from', pg_temp.a('01'), 'to', pg_temp.a('02'), 'value', '0x0', 'gas', '0xffffffffffffffff', 'input', '0xa9059cbb00'),
			'result', jsonb_build_object('gasUsed', '0x5', 'output', '0x')),
		jsonb_build_object('type', 'create', 'traceAddress', '[0]'::jsonb, 'subtraces', 0, 'transactionHash', pg_temp.h('02'), 'transactionPosition', 1,
			'action', jsonb_build_object('from', pg_temp.a('01'), 'value', '0x1', 'gas', '0x2', 'init', '0x6000', 'creationMethod', 'create2'),
			'result', jsonb_build_object('gasUsed', '0x6', 'code', '0xfe', 'address', pg_temp.a('03'))),
		jsonb_build_object('type', 'suicide', 'traceAddress', '[1, 0]'::jsonb, 'subtraces', 0, 'transactionHash', pg_temp.h('02'), 'transactionPosition', 1,
			'action', jsonb_build_object('address', pg_temp.a('04'), 'refundAddress', pg_temp.a('05'), 'balance', '0x' || repeat('f', 64)), 'result', NULL),
		jsonb_build_object('type', 'call', 'traceAddress', '[]'::jsonb, 'subtraces', 0, 'transactionPosition', 0, 'error', 'ERROR_TEXT', 'result', NULL,
			'action', jsonb_build_object('callType', 'call', 'from', pg_temp.a('01'))),
		jsonb_build_object('type', 'reward', 'traceAddress', '[]'::jsonb, 'subtraces', 0, 'transactionHash', NULL, 'transactionPosition', NULL, 'result', NULL,
			'action', jsonb_build_object('author', pg_temp.a('06'), 'value', '0x1bc16d674ec80000', 'rewardType', 'block')))
	)::text, 'ERROR_TEXT', 'a \u0000 b \ud800 c \ud83d\ude00 \"d\" \u00e9 \n \udc00'));
ALTER FOREIGN TABLE cf.traces ALTER gas TYPE numeric, ALTER call_gas TYPE numeric;
\x on
SELECT * FROM cf.traces ORDER BY transaction_index, trace_address;
\x off
SELECT count FROM hotblocks.replaced_characters WHERE dataset = 'cf';

-- traces, nested: an entry without txHash is of the transaction at its place
SELECT hotblocks.create_dataset('cn', 'evm', linkage => 'none');
SELECT rows FROM hotblocks.extend('cn', jsonb_build_object(
	'block', jsonb_build_object('number', 1, 'hash', pg_temp.h('ab'), 'transactions', jsonb_build_array(
		jsonb_build_object('hash', pg_temp.h('01')), jsonb_build_object('hash', pg_temp.h('02')))),
	'traceFormat', 'callTracer',
	'traces', jsonb_build_array(
		jsonb_build_object('result', jsonb_build_object('type', 'CREATE2', 'from', pg_temp.a('01'), 'to', pg_temp.a('02'), 'value', '0x1', 'gas', '0x2',
			'gasUsed', '0x1', 'input', '0x60', 'output', '0x61', 'error', 'execution reverted', 'revertReason', 'no',
			'calls', jsonb_build_array(
				jsonb_build_object('type', 'SELFDESTRUCT', 'from', pg_temp.a('03'), 'to', pg_temp.a('04'), 'value', '0x5', 'gas', '0x0', 'gasUsed', '0x0', 'input', '0x'),
				jsonb_build_object('type', 'STATICCALL', 'from', pg_temp.a('03'), 'to', pg_temp.a('05'), 'gas', '0x7', 'input', '0xabcdef01', 'calls',
					jsonb_build_array(jsonb_build_object('type', 'CALLCODE', 'calls', '[]'::jsonb)))))),
		jsonb_build_object('result', jsonb_build_object('type', 'CALL', 'from', pg_temp.a('01'))))
	)::text);
\x on
SELECT * FROM cn.traces ORDER BY transaction_index, trace_address;
\x off

-- state diffs
SELECT rows FROM hotblocks.extend('cn', jsonb_build_object(
	'block', jsonb_build_object('number', 2, 'hash', pg_temp.h('ac'), 'transactions', jsonb_build_array(jsonb_build_object('hash', pg_temp.h('01')))),
	'stateDiffs', jsonb_build_array(jsonb_build_object('transactionHash', pg_temp.h('01'), 'stateDiff', jsonb_build_object(
		upper(pg_temp.a('0b')), '{"balance": {"+": "0x0"}, "nonce": {"*": {"from": "0xff", "to": "0x100"}}, "code": {"+": "0x"}, "storage": {"0xA": {"*": {"from": "0x0", "to": "0x00abc"}}, "0xb": "="}}'::jsonb,
		pg_temp.a('0a'), '{"balance": {"-": "0x123"}, "nonce": "=", "code": {"-": "0x60"}, "storage": {}}'::jsonb))))::text);
SELECT address, key, kind, prev, next, slot, transaction_index, transaction_hash FROM cn.state_diffs ORDER BY block_number, transaction_index, address, key;

-- token views
SELECT hotblocks.create_dataset('ck', 'evm', linkage => 'none');
SELECT rows FROM hotblocks.extend('ck', jsonb_build_object(
	'block', jsonb_build_object('number', 1, 'hash', pg_temp.h('ab'), 'transactions', jsonb_build_array(jsonb_build_object('hash', pg_temp.h('01')))),
	'receipts', jsonb_build_array(jsonb_build_object('transactionHash', pg_temp.h('01'), 'logs', (
		SELECT jsonb_agg(jsonb_build_object('logIndex', '0x' || to_hex(i), 'address', pg_temp.a('0a'), 'data', d, 'topics', to_jsonb(t)) ORDER BY i)
		FROM (SELECT hotblocks.to_hex(hotblocks.topic0('Transfer(address,address,uint256)')) AS transfer,
				hotblocks.to_hex(hotblocks.topic0('Approval(address,address,uint256)')) AS approval,
				hotblocks.to_hex(hotblocks.address_to_topic(hotblocks.hex(pg_temp.a('01')))) AS a1,
				hotblocks.to_hex(hotblocks.address_to_topic(hotblocks.hex(pg_temp.a('02')))) AS a2, pg_temp.h('ff') AS big) c,
			LATERAL (VALUES (0, big, ARRAY[transfer, a1, a2]), (1, '0x', ARRAY[transfer, a1, a2, big]),
				(2, '0x' || lpad('7', 64, '0'), ARRAY[approval, a1, a2]), (3, '0x', ARRAY[transfer, a1, a2]), (4, big, ARRAY[transfer, big, a2])) v (i, d, t)))))::text);
SELECT log_index, transaction_hash, address, "from", "to", value FROM ck.erc20_transfers ORDER BY 1;
SELECT log_index, "from", "to", token_id FROM ck.erc721_transfers ORDER BY 1;
SELECT log_index, owner, spender, value FROM ck.erc20_approvals ORDER BY 1;

SELECT hotblocks.drop_dataset(d) FROM unnest(ARRAY['cv', 'cf', 'cn', 'ck']) d;
