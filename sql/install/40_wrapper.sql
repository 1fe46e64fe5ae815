
/*
 * The foreign-data wrapper.  Who may make servers is the owner's to say, by
 * GRANT USAGE ON FOREIGN DATA WRAPPER hotblocks.
 */
CREATE FUNCTION hotblocks.fdw_handler() RETURNS fdw_handler
	LANGUAGE C STRICT
	AS 'MODULE_PATHNAME', 'hotblocks_fdw_handler';

CREATE FUNCTION hotblocks.fdw_validator(options text[], catalog oid) RETURNS void
	LANGUAGE C STRICT
	AS 'MODULE_PATHNAME', 'hotblocks_fdw_validator';

CREATE FOREIGN DATA WRAPPER hotblocks
	HANDLER hotblocks.fdw_handler
	VALIDATOR hotblocks.fdw_validator;

COMMENT ON FOREIGN DATA WRAPPER hotblocks IS
	'columnar chunks of blockchain data, in datasets of schema hotblocks';
