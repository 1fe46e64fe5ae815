
/*
 * What of a dataset may be changed; NULL leaves a setting as it is.  Only its
 * owner may.
 */
CREATE FUNCTION hotblocks.set_linkage(dataset name, linkage text) RETURNS void
	LANGUAGE c STRICT AS 'MODULE_PATHNAME', 'hotblocks_set_linkage';

CREATE FUNCTION hotblocks.alter_dataset(name text, linkage text DEFAULT NULL)
	RETURNS hotblocks.dataset_status
	LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
BEGIN
	IF name IS NULL THEN
		RAISE null_value_not_allowed USING
			MESSAGE = 'the name of the dataset must not be null';
	END IF;
	PERFORM hotblocks.set_linkage(name::name, linkage);
	RETURN hotblocks.status(name);
END
$$;
