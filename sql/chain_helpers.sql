-- Helpers for EVM data, against known vectors.
SET search_path = pg_catalog;
SET bytea_output = hex;

-- Keccak-256, not SHA3-256; around the block length of 136 bytes too (the
-- values are those of a reference implementation in Python, whose hashes with
-- SHA-3's padding are hashlib's)
SELECT hotblocks.keccak256('');
SELECT hotblocks.keccak256('abc');
SELECT hotblocks.keccak256('The quick brown fox jumps over the lazy dog');
SELECT n, hotblocks.keccak256(convert_to(repeat('a', n), 'UTF8')) FROM unnest(ARRAY[135, 136, 137, 272, 1000]) n;

-- signatures
SELECT hotblocks.topic0('Transfer(address,address,uint256)');
SELECT hotblocks.topic0(' Transfer ( address , address,uint ) ') = hotblocks.topic0('Transfer(address,address,uint256)') AS same;
SELECT hotblocks.topic0('Approval(address,address,uint256)');
SELECT hotblocks.selector('transfer(address,uint256)'), hotblocks.selector('balanceOf(address)');
SELECT hotblocks.selector('name()'), hotblocks.selector('f((uint256,bytes)[],int[2])') = hotblocks.selector('f((uint256,bytes)[],int256[2])') AS same;
SELECT hotblocks.topic0('Transfer');
SELECT hotblocks.topic0('Transfer(address from, address to)');
SELECT hotblocks.topic0('Transfer(address indexed)');
SELECT hotblocks.topic0('Transfer(address');
SELECT hotblocks.topic0('Transfer(address))');
SELECT hotblocks.topic0('(address)');
SELECT hotblocks.topic0('Transfer(address);');
SELECT hotblocks.topic0('');

-- 0x text
SELECT hotblocks.hex('0x00fF'), hotblocks.hex('0XAB'), hotblocks.hex('ab'), hotblocks.hex('0x') = '' AS empty;
SELECT hotblocks.hex('0x123');
SELECT hotblocks.hex('0x1g');
SELECT hotblocks.to_hex('\x00ff'), hotblocks.to_hex('');

-- EIP-55's own test cases
SELECT hotblocks.checksum(hotblocks.hex(lower(a))) = a AS same FROM unnest(ARRAY[
	'0x52908400098527886E0F7030069857D2E4169EE7', '0x8617E340B3D01FA5F11F306F4090FD50E238070D',
	'0xde709f2102306220921060314715629080e2fb77', '0x27b1fdb04752bbc536007a920d24acb045561c26',
	'0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed', '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
	'0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB', '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb']) a;
SELECT hotblocks.checksum('\x1234');

-- addresses in topics
SELECT hotblocks.address_to_topic('\x52908400098527886e0f7030069857d2e4169ee7');
SELECT hotblocks.topic_to_address(hotblocks.address_to_topic('\x52908400098527886e0f7030069857d2e4169ee7'));
SELECT hotblocks.topic_to_address('\x000000000000000000000001000000000000000000000000000000000000ffff') IS NULL AS no_address,
	hotblocks.topic_to_address('\x00') IS NULL AS no_topic;
SELECT hotblocks.address_to_topic('\x12');

-- words
SELECT hotblocks.uint256(decode(repeat('ff', 32), 'hex'), 0), hotblocks.int256(decode(repeat('ff', 32), 'hex'), 0);
SELECT hotblocks.uint256(decode(repeat('00', 32), 'hex')), hotblocks.int256(decode(repeat('00', 32), 'hex'));
SELECT hotblocks.int256(decode('80' || repeat('00', 31), 'hex')), hotblocks.int256(decode('7f' || repeat('ff', 31), 'hex'));
SELECT w, hotblocks.uint256(decode(lpad('1', 64, '0') || lpad('abc0', 64, '0') || '00', 'hex'), w),
	hotblocks.address(decode(lpad('1', 64, '0') || lpad('abc0', 64, '0') || '00', 'hex'), w)
FROM unnest(ARRAY[-1, 0, 1, 2, 67108863, 2147483647]) w;
SELECT hotblocks.address(decode(repeat('ff', 32), 'hex'), 0) IS NULL AS no_address;

-- the values that everybody knows
SELECT hotblocks.keccak256('') = '\xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470' AS keccak_of_nothing,
	hotblocks.topic0('Transfer(address,address,uint256)') = '\xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef' AS transfer,
	hotblocks.topic0('Approval(address,address,uint256)') = '\x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925' AS approval,
	hotblocks.selector('transfer(address,uint256)') = '\xa9059cbb' AS call_transfer, hotblocks.selector('approve(address,uint256)') = '\x095ea7b3' AS call_approve,
	hotblocks.int256(decode(repeat('ff', 31) || 'fe', 'hex')) = -2 AS minus_two, hotblocks.int256(decode('80' || repeat('00', 31), 'hex')) = -(2::numeric ^ 255) AS least,
	hotblocks.uint256(decode(repeat('ff', 32), 'hex')) = 2::numeric ^ 256 - 1 AS greatest;

-- too short, or NULL
SELECT hotblocks.uint256('\x'), hotblocks.uint256(decode(repeat('00', 31), 'hex')), hotblocks.int256('\x01'), hotblocks.address(decode(repeat('00', 31), 'hex'), 0),
	hotblocks.uint256(decode(repeat('00', 63), 'hex'), 1), hotblocks.topic_to_address('\x'), hotblocks.topic_to_address(decode(repeat('00', 33), 'hex'));
SELECT num_nulls(hotblocks.keccak256(NULL), hotblocks.topic0(NULL), hotblocks.selector(NULL), hotblocks.hex(NULL), hotblocks.to_hex(NULL), hotblocks.checksum(NULL),
	hotblocks.address_to_topic(NULL), hotblocks.topic_to_address(NULL), hotblocks.uint256(NULL), hotblocks.uint256('\x', NULL), hotblocks.int256(NULL), hotblocks.address(NULL)) AS nulls_of_12;

-- how they may be used
SELECT proname, provolatile, proparallel, proisstrict FROM pg_proc
WHERE pronamespace = 'hotblocks'::regnamespace AND proname IN ('keccak256', 'topic0', 'selector', 'hex',
	'to_hex', 'checksum', 'address_to_topic', 'topic_to_address', 'uint256', 'int256', 'address')
ORDER BY proname COLLATE "C";
