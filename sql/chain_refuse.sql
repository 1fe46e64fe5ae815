-- What a feed refuses, and what it says then: every message names the block
-- and the member.
SET client_min_messages = warning;
SELECT hotblocks.create_dataset('refuse', 'evm', linkage => 'none', make_tables => false);
SELECT hotblocks.create_dataset('refuse_strict', 'evm', make_tables => false);
SELECT hotblocks.create_dataset('refuse_free', 'free', make_tables => false);
SET client_min_messages = notice;

-- A document with changes: path, new value (NULL removes the member).
CREATE FUNCTION pg_temp.doc(VARIADIC changes text[] DEFAULT '{}') RETURNS text
	LANGUAGE plpgsql AS $$
DECLARE
	d jsonb := jsonb_build_object(
		'block', jsonb_build_object('number', '0x7', 'hash', '0x' || repeat('77', 32),
			'transactions', jsonb_build_array(
				jsonb_build_object('hash', '0x' || repeat('a0', 32), 'transactionIndex', '0x0', 'value', '0x1'),
				jsonb_build_object('hash', '0x' || repeat('a1', 32), 'transactionIndex', '0x1', 'value', '0x2'))),
		'receipts', jsonb_build_array(
			jsonb_build_object('transactionHash', '0x' || repeat('a0', 32), 'status', '0x1', 'logs', jsonb_build_array(
				jsonb_build_object('logIndex', '0x0', 'address', '0x' || repeat('bb', 20), 'data', '0x',
					'topics', jsonb_build_array('0x' || repeat('cc', 32)), 'transactionIndex', '0x0'),
				jsonb_build_object('logIndex', '0x1', 'address', '0x' || repeat('bb', 20), 'data', '0x',
					'topics', jsonb_build_array(), 'removed', false))),
			jsonb_build_object('transactionHash', '0x' || repeat('a1', 32), 'status', '0x0', 'logs', '[]'::jsonb)));
BEGIN
	FOR i IN 1 .. coalesce(cardinality(changes), 0) BY 2 LOOP
		d := CASE WHEN changes[i + 1] IS NULL THEN d #- changes[i]::text[]
			ELSE jsonb_set(d, changes[i]::text[], changes[i + 1]::jsonb) END;
	END LOOP;
	RETURN d::text;
END
$$;

CREATE PROCEDURE pg_temp.refused(what text, document text, dataset text DEFAULT 'refuse')
	LANGUAGE plpgsql AS $$
DECLARE
	state text; message text; detail text; hint text;
BEGIN
	PERFORM hotblocks.extend(dataset, document);
	RAISE EXCEPTION USING MESSAGE = 'rolled back', ERRCODE = 'ZZ000';
EXCEPTION
	WHEN SQLSTATE 'ZZ000' THEN
		RAISE NOTICE '%: accepted', what;
	WHEN OTHERS THEN
		GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT,
			detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
		RAISE NOTICE '%: % % | % %', what, state, message, detail, hint;
END
$$;

-- the document as it is, and values in other spellings
CALL pg_temp.refused('as it is', pg_temp.doc());
CALL pg_temp.refused('leading zeros, capitals', pg_temp.doc('{block,gasUsed}', '"0X00AbC"', '{block,miner}', '"0xABCDEFabcdef0123456789ABCDEFabcdef012345"'));
CALL pg_temp.refused('integers', pg_temp.doc('{block,number}', '7', '{block,difficulty}', '115792089237316195423570985008687907853269984665640564039457584007913129639935'));
CALL pg_temp.refused('nulls', pg_temp.doc('{block,gasUsed}', 'null', '{block,miner}', 'null', '{receipts}', 'null'));
CALL pg_temp.refused('unknown members', pg_temp.doc('{block,frobnication}', '{"a": [1, {"b": null}]}'));
CALL pg_temp.refused('no receipts', pg_temp.doc('{receipts}', NULL));
CALL pg_temp.refused('logs in any order', pg_temp.doc('{receipts,0,logs,0,logIndex}', '"0x1"', '{receipts,0,logs,1,logIndex}', '"0x0"'));

-- no document
CALL pg_temp.refused('empty', '');
CALL pg_temp.refused('no JSON', 'block');
CALL pg_temp.refused('cut off', left(pg_temp.doc(), 100));
CALL pg_temp.refused('two documents', pg_temp.doc() || pg_temp.doc());
CALL pg_temp.refused('trailing comma', '{"block": {"number": "0x1",}}');
CALL pg_temp.refused('bad escape', '{"block": {"\q": 1}}');
CALL pg_temp.refused('bad number', '{"block": {"number": 01}}');
CALL pg_temp.refused('control character', '{"block": "' || chr(10) || '"}');
CALL pg_temp.refused('array', '[]');
CALL pg_temp.refused('scalar', '17');
CALL pg_temp.refused('no block', pg_temp.doc('{block}', NULL));
CALL pg_temp.refused('null block', pg_temp.doc('{block}', 'null'));
CALL pg_temp.refused('block is an array', pg_temp.doc('{block}', '[]'));
CALL pg_temp.refused('member twice', '{"block": {"number": "0x7", "hash": "0x' || repeat('77', 32) || '", "size": "0x1", "size": "0x1"}}');
CALL pg_temp.refused('block twice', '{"block": {}, "block": {}}');

-- pending blocks, and what linkage needs
CALL pg_temp.refused('null number', pg_temp.doc('{block,number}', 'null'));
CALL pg_temp.refused('no number', pg_temp.doc('{block,number}', NULL));
CALL pg_temp.refused('null hash', pg_temp.doc('{block,hash}', 'null'));
CALL pg_temp.refused('strict without parent', pg_temp.doc(), 'refuse_strict');
CALL pg_temp.refused('strict without timestamp', pg_temp.doc('{block,parentHash}', to_jsonb('0x' || repeat('66', 32))::text), 'refuse_strict');
CALL pg_temp.refused('strict', pg_temp.doc('{block,parentHash}', to_jsonb('0x' || repeat('66', 32))::text, '{block,timestamp}', '"0x0"'), 'refuse_strict');
CALL pg_temp.refused('no chain', pg_temp.doc(), 'refuse_free');
CALL pg_temp.refused('no dataset', pg_temp.doc(), 'refuse_nothing');
CALL pg_temp.refused('null document', NULL);

-- values
CALL pg_temp.refused('bad digit', pg_temp.doc('{block,transactions,1,value}', '"0xfg"'));
CALL pg_temp.refused('no 0x', pg_temp.doc('{block,transactions,1,value}', '"12"'));
CALL pg_temp.refused('no digits', pg_temp.doc('{block,transactions,1,value}', '"0x"'));
CALL pg_temp.refused('empty string', pg_temp.doc('{block,transactions,1,value}', '""'));
CALL pg_temp.refused('negative', pg_temp.doc('{block,transactions,1,value}', '-1'));
CALL pg_temp.refused('fraction', pg_temp.doc('{block,transactions,1,value}', '1.5'));
CALL pg_temp.refused('boolean', pg_temp.doc('{block,transactions,1,value}', 'true'));
CALL pg_temp.refused('object', pg_temp.doc('{block,transactions,1,value}', '{}'));
CALL pg_temp.refused('2^256', pg_temp.doc('{block,transactions,1,value}', to_jsonb('0x1' || repeat('0', 64))::text));
CALL pg_temp.refused('2^256 in decimal', pg_temp.doc('{block,transactions,1,value}', '115792089237316195423570985008687907853269984665640564039457584007913129639936'));
CALL pg_temp.refused('2^256 - 1', pg_temp.doc('{block,transactions,1,value}', to_jsonb('0x000' || repeat('f', 64))::text));
CALL pg_temp.refused('odd data', pg_temp.doc('{block,transactions,1,input}', '"0xabc"'));
CALL pg_temp.refused('bad data', pg_temp.doc('{block,transactions,1,input}', '"0xabxy"'));
CALL pg_temp.refused('data as number', pg_temp.doc('{block,transactions,1,input}', '12'));
CALL pg_temp.refused('short hash', pg_temp.doc('{block,stateRoot}', '"0x1234"'));
CALL pg_temp.refused('short address', pg_temp.doc('{block,transactions,0,from}', '"0x"'));
CALL pg_temp.refused('long r', pg_temp.doc('{block,transactions,0,r}', to_jsonb('0x01' || repeat('00', 32))::text));
CALL pg_temp.refused('short r', pg_temp.doc('{block,transactions,0,r}', '"0x1"'));
CALL pg_temp.refused('status above smallint', pg_temp.doc('{receipts,1,status}', '"0x8000"'));
CALL pg_temp.refused('number above bigint', pg_temp.doc('{block,number}', '"0x8000000000000000"'));
CALL pg_temp.refused('timestamp', pg_temp.doc('{block,timestamp}', '"0x7fffffffffffffff"'));
CALL pg_temp.refused('uncles', pg_temp.doc('{block,uncles}', '["0x12"]'));
CALL pg_temp.refused('uncles is no array', pg_temp.doc('{block,uncles}', '"0x"'));

-- transactions
CALL pg_temp.refused('hashes only', pg_temp.doc('{block,transactions,0}', to_jsonb('0x' || repeat('a0', 32))::text));
CALL pg_temp.refused('transactions is no array', pg_temp.doc('{block,transactions}', '{}'));
CALL pg_temp.refused('transaction without hash', pg_temp.doc('{block,transactions,0,hash}', NULL));
CALL pg_temp.refused('same index', pg_temp.doc('{block,transactions,1,transactionIndex}', '"0x0"'));
CALL pg_temp.refused('of another block', pg_temp.doc('{block,transactions,1,blockNumber}', '"0x8"'));
CALL pg_temp.refused('of another hash', pg_temp.doc('{block,transactions,1,blockHash}', to_jsonb('0x' || repeat('78', 32))::text));

-- receipts and logs
CALL pg_temp.refused('a receipt too few', pg_temp.doc('{receipts,1}', NULL));
CALL pg_temp.refused('no receipts for transactions', pg_temp.doc('{receipts}', '[]'));
CALL pg_temp.refused('receipts without transactions', pg_temp.doc('{block,transactions}', NULL));
CALL pg_temp.refused('receipt of no transaction', pg_temp.doc('{receipts,1,transactionHash}', to_jsonb('0x' || repeat('a2', 32))::text));
CALL pg_temp.refused('receipt twice', pg_temp.doc('{receipts,1,transactionHash}', to_jsonb('0x' || repeat('a0', 32))::text));
CALL pg_temp.refused('receipt without hash', pg_temp.doc('{receipts,1,transactionHash}', NULL));
CALL pg_temp.refused('receipt of another index', pg_temp.doc('{receipts,1,transactionIndex}', '"0x0"'));
CALL pg_temp.refused('receipt without logs', pg_temp.doc('{receipts,1,logs}', NULL));
CALL pg_temp.refused('removed log', pg_temp.doc('{receipts,0,logs,1,removed}', 'true'));
CALL pg_temp.refused('log without index', pg_temp.doc('{receipts,0,logs,1,logIndex}', NULL));
CALL pg_temp.refused('log without address', pg_temp.doc('{receipts,0,logs,1,address}', NULL));
CALL pg_temp.refused('log without topics', pg_temp.doc('{receipts,0,logs,1,topics}', NULL));
CALL pg_temp.refused('same log index', pg_temp.doc('{receipts,0,logs,1,logIndex}', '"0x0"'));
CALL pg_temp.refused('log index against transactions', pg_temp.doc('{receipts,1,logs}',
	'[{"logIndex": "0x0", "address": "0xbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb", "topics": [], "data": "0x"}]',
	'{receipts,0,logs,0,logIndex}', '"0x2"'));
CALL pg_temp.refused('five topics', pg_temp.doc('{receipts,0,logs,1,topics}', '[' || rtrim(repeat('"0x' || repeat('cc', 32) || '",', 5), ',') || ']'));
CALL pg_temp.refused('short topic', pg_temp.doc('{receipts,0,logs,0,topics,0}', '"0xcc"'));
CALL pg_temp.refused('null topic', pg_temp.doc('{receipts,0,logs,0,topics,0}', 'null'));
CALL pg_temp.refused('log of another transaction', pg_temp.doc('{receipts,0,logs,0,transactionIndex}', '"0x1"'));
CALL pg_temp.refused('log of another block', pg_temp.doc('{receipts,0,logs,0,blockNumber}', '"0x1"'));

-- traces
CREATE FUNCTION pg_temp.flat(VARIADIC changes text[] DEFAULT '{}') RETURNS text
	LANGUAGE plpgsql AS $$
DECLARE
	t jsonb := jsonb_build_object('type', 'call', 'traceAddress', '[]'::jsonb, 'subtraces', 0,
		'transactionHash', '0x' || repeat('a0', 32), 'transactionPosition', 0,
		'action', jsonb_build_object('from', '0x' || repeat('bb', 20), 'callType', 'call'), 'result', NULL, 'error', 'Reverted');
BEGIN
	FOR i IN 1 .. coalesce(cardinality(changes), 0) BY 2 LOOP
		t := CASE WHEN changes[i + 1] IS NULL THEN t #- changes[i]::text[]
			ELSE jsonb_set(t, changes[i]::text[], changes[i + 1]::jsonb) END;
	END LOOP;
	RETURN pg_temp.doc('{traces}', jsonb_build_array(t)::text);
END
$$;
CREATE FUNCTION pg_temp.frame(VARIADIC changes text[] DEFAULT '{}') RETURNS text
	LANGUAGE plpgsql AS $$
DECLARE
	t jsonb := jsonb_build_object('txHash', '0x' || repeat('a0', 32),
		'result', jsonb_build_object('type', 'CALL', 'from', '0x' || repeat('bb', 20), 'gas', '0x1',
			'calls', jsonb_build_array(jsonb_build_object('type', 'STATICCALL'))));
BEGIN
	FOR i IN 1 .. coalesce(cardinality(changes), 0) BY 2 LOOP
		t := CASE WHEN changes[i + 1] IS NULL THEN t #- changes[i]::text[]
			ELSE jsonb_set(t, changes[i]::text[], changes[i + 1]::jsonb) END;
	END LOOP;
	RETURN pg_temp.doc('{traces}', jsonb_build_array(t)::text);
END
$$;
CALL pg_temp.refused('trace', pg_temp.flat());
CALL pg_temp.refused('reward', pg_temp.flat('{type}', '"reward"', '{transactionHash}', NULL, '{transactionPosition}', NULL));
CALL pg_temp.refused('trace without transaction', pg_temp.flat('{transactionHash}', NULL, '{transactionPosition}', NULL));
CALL pg_temp.refused('trace of no transaction', pg_temp.flat('{transactionHash}', to_jsonb('0x' || repeat('a2', 32))::text));
CALL pg_temp.refused('trace of another position', pg_temp.flat('{transactionPosition}', '1'));
CALL pg_temp.refused('trace of no position', pg_temp.flat('{transactionHash}', NULL, '{transactionPosition}', '2'));
CALL pg_temp.refused('trace without type', pg_temp.flat('{type}', NULL));
CALL pg_temp.refused('trace of no type', pg_temp.flat('{type}', '"jump"'));
CALL pg_temp.refused('trace without action', pg_temp.flat('{action}', NULL));
CALL pg_temp.refused('trace without address', pg_temp.flat('{traceAddress}', NULL));
CALL pg_temp.refused('trace address', pg_temp.flat('{traceAddress}', '[-1]'));
CALL pg_temp.refused('trace of another block', pg_temp.flat('{blockNumber}', '8'));
CALL pg_temp.refused('frames', pg_temp.frame());
CALL pg_temp.refused('frame of no type', pg_temp.frame('{result,calls,0,type}', '"JUMP"'));
CALL pg_temp.refused('frame without type', pg_temp.frame('{result,calls,0,type}', NULL));
CALL pg_temp.refused('frame is an array', pg_temp.frame('{result}', '[]'));
CALL pg_temp.refused('tracer failed', pg_temp.frame('{result}', NULL, '{error}', '"execution timeout"'));
CALL pg_temp.refused('tracer answered nothing', pg_temp.frame('{result}', NULL));
CALL pg_temp.refused('error beside a result', pg_temp.frame('{result,error}', '"execution reverted"'));
CALL pg_temp.refused('calls is no array', pg_temp.frame('{result,calls}', '{}'));
CALL pg_temp.refused('trace format', jsonb_set(pg_temp.frame()::jsonb, '{traceFormat}', '"flatCallTracer"')::text);
CALL pg_temp.refused('trace format and traces differ', jsonb_set(pg_temp.frame()::jsonb, '{traceFormat}', '"trace_block"')::text);
CALL pg_temp.refused('traces is no array', pg_temp.doc('{traces}', '{}'));
CALL pg_temp.refused('deep frames', replace(pg_temp.frame(), '{"type": "STATICCALL"}',
	repeat('{"type": "CALL", "calls": [', 50000) || repeat(']}', 50000)));
CALL pg_temp.refused('deep unknown member', replace(jsonb_set(pg_temp.doc()::jsonb, '{block,deep}', '"DEEP"')::text, '"DEEP"',
	repeat('[', 500000) || repeat(']', 500000)));

-- state diffs
CREATE FUNCTION pg_temp.diff(account text, VARIADIC changes text[] DEFAULT '{}') RETURNS text
	LANGUAGE sql AS $$
	SELECT pg_temp.doc(VARIADIC ARRAY['{stateDiffs}', jsonb_build_array(jsonb_build_object(
		'transactionHash', '0x' || repeat('a0', 32),
		'stateDiff', jsonb_build_object('0x' || repeat('dd', 20), account::jsonb)))::text] || changes)
$$;
CALL pg_temp.refused('state diff', pg_temp.diff('{"balance": {"+": "0x0"}, "code": "=", "nonce": {"*": {"from": "0x1", "to": "0x2"}}, "storage": {"0x1": {"-": "0x2"}}}'));
CALL pg_temp.refused('neither + nor -', pg_temp.diff('{"balance": {"/": "0x0"}}'));
CALL pg_temp.refused('both + and -', pg_temp.diff('{"balance": {"+": "0x0", "-": "0x0"}}'));
CALL pg_temp.refused('diff is a string', pg_temp.diff('{"balance": "0x0"}'));
CALL pg_temp.refused('from without to', pg_temp.diff('{"balance": {"*": {"from": "0x1"}}}'));
CALL pg_temp.refused('long slot', pg_temp.diff('{"storage": {"0x' || repeat('11', 33) || '": "="}}'));
CALL pg_temp.refused('bad slot', pg_temp.diff('{"storage": {"slot": {"+": "0x1"}}}'));
CALL pg_temp.refused('diff of no transaction', pg_temp.diff('{}', '{stateDiffs,0,transactionHash}', to_jsonb('0x' || repeat('a2', 32))::text));

-- nothing of all that is there
SELECT blocks, rows, version FROM hotblocks.status('refuse');
SELECT * FROM hotblocks.unknown_members WHERE dataset LIKE 'refuse%';

-- arguments
SELECT hotblocks.extend(NULL, 'x');
SELECT hotblocks.extend('refuse', VARIADIC NULL);
SELECT hotblocks.extend('refuse', ARRAY[pg_temp.doc()], '{receipts}');
SELECT hotblocks.extend('refuse', ARRAY[pg_temp.doc()], ARRAY[NULL]);
SELECT blocks FROM hotblocks.extend('refuse', VARIADIC '{}');
SELECT hotblocks.declare_coverage('refuse', 'blocks', 1, 2);
SELECT hotblocks.declare_coverage('refuse', 'logs', 2, 1);
SELECT hotblocks.declare_coverage('refuse', 'logs', NULL, 1);
SELECT hotblocks.load_file('refuse', '/nonexistent/file.ndjson');
SELECT hotblocks.load_file('refuse', '/');

SET client_min_messages = warning;
SELECT hotblocks.drop_dataset('refuse');
SELECT hotblocks.drop_dataset('refuse_strict');
SELECT hotblocks.drop_dataset('refuse_free');
