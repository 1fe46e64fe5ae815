
/*
 * Helpers for EVM data.  What data does not have is NULL: a word behind its
 * end, the address in a word that holds more than one.
 */
CREATE FUNCTION hotblocks.keccak256(data bytea) RETURNS bytea
	LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'hotblocks_keccak256';

CREATE FUNCTION hotblocks.topic0(signature text) RETURNS bytea
	LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'hotblocks_topic0';

CREATE FUNCTION hotblocks.selector(signature text) RETURNS bytea
	LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'hotblocks_selector';

CREATE FUNCTION hotblocks.hex(hex text) RETURNS bytea
	LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'hotblocks_hex';

CREATE FUNCTION hotblocks.to_hex(data bytea) RETURNS text
	LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'hotblocks_to_hex';

CREATE FUNCTION hotblocks.checksum(address bytea) RETURNS text
	LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'hotblocks_checksum';

CREATE FUNCTION hotblocks.address_to_topic(address bytea) RETURNS bytea
	LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'hotblocks_address_to_topic';

CREATE FUNCTION hotblocks.topic_to_address(topic bytea) RETURNS bytea
	LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'hotblocks_topic_to_address';

CREATE FUNCTION hotblocks.uint256(data bytea, word integer DEFAULT 0) RETURNS numeric
	LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'hotblocks_uint256';

CREATE FUNCTION hotblocks.int256(data bytea, word integer DEFAULT 0) RETURNS numeric
	LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'hotblocks_int256';

CREATE FUNCTION hotblocks.address(data bytea, word integer DEFAULT 0) RETURNS bytea
	LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'hotblocks_address';

/*
 * Views over the table logs of a schema, for those who ask for tokens.
 * ERC-20 and ERC-721 use the same event; what tells them apart is whether the
 * third argument is indexed.  Conditions are on stored columns only, so that
 * all of them are the scan's.
 */
CREATE FUNCTION hotblocks.make_views(schema_name text) RETURNS void
	LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	EXECUTE format($ddl$
		CREATE VIEW %1$I.erc20_transfers AS
			SELECT block_number, block_timestamp, transaction_index, log_index,
				transaction_hash, address,
				hotblocks.topic_to_address(topic1) AS "from",
				hotblocks.topic_to_address(topic2) AS "to",
				hotblocks.uint256(data, 0) AS value
			FROM %1$I.logs
			WHERE topic0 = %2$L::bytea AND topic2 IS NOT NULL AND topic3 IS NULL
				AND octet_length(data) = 32$ddl$,
		schema_name, hotblocks.topic0('Transfer(address,address,uint256)'));
	EXECUTE format($ddl$
		CREATE VIEW %1$I.erc721_transfers AS
			SELECT block_number, block_timestamp, transaction_index, log_index,
				transaction_hash, address,
				hotblocks.topic_to_address(topic1) AS "from",
				hotblocks.topic_to_address(topic2) AS "to",
				hotblocks.uint256(topic3, 0) AS token_id
			FROM %1$I.logs
			WHERE topic0 = %2$L::bytea AND topic3 IS NOT NULL$ddl$,
		schema_name, hotblocks.topic0('Transfer(address,address,uint256)'));
	EXECUTE format($ddl$
		CREATE VIEW %1$I.erc20_approvals AS
			SELECT block_number, block_timestamp, transaction_index, log_index,
				transaction_hash, address,
				hotblocks.topic_to_address(topic1) AS owner,
				hotblocks.topic_to_address(topic2) AS spender,
				hotblocks.uint256(data, 0) AS value
			FROM %1$I.logs
			WHERE topic0 = %2$L::bytea AND topic2 IS NOT NULL AND topic3 IS NULL
				AND octet_length(data) = 32$ddl$,
		schema_name, hotblocks.topic0('Approval(address,address,uint256)'));
END
$$;
