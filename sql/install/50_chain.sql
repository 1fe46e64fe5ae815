
/*
 * The state of a dataset.  Hashes are NULL where they are not known; a kind
 * without a chain has only the columns that mean something to it.
 */
CREATE TYPE hotblocks.dataset_status AS (
	dataset name,
	kind text,
	linkage text,
	version bigint,			-- logical transitions so far
	layout bigint,			-- changes of what is stored
	first_block bigint,
	first_hash bytea,
	head bigint,			-- the last block
	head_hash bytea,
	finalized bigint,
	finalized_hash bytea,
	anchor bigint,			-- the position below the first block
	anchor_hash bytea,
	trace_format text,
	blocks bigint,			-- rows of the block table
	rows bigint,			-- of all tables
	bytes bigint,			-- of their chunks
	gaps bigint				-- runs of numbers that were left out
);

CREATE FUNCTION hotblocks.status(dataset text) RETURNS hotblocks.dataset_status
	LANGUAGE c STABLE AS 'MODULE_PATHNAME', 'hotblocks_status';

CREATE FUNCTION hotblocks.head(dataset text, OUT number bigint, OUT hash bytea)
	LANGUAGE sql STABLE
	SET search_path = pg_catalog, pg_temp
	AS 'SELECT s.head, s.head_hash FROM hotblocks.status(dataset) s';

/*
 * Block documents to the head of the chain, all or nothing.  tables: the item
 * tables that the documents are complete for, where a member that is absent
 * means none; without it an absent member means not available.
 */
CREATE FUNCTION hotblocks.extend(dataset text, VARIADIC blocks text[])
	RETURNS hotblocks.dataset_status
	LANGUAGE c AS 'MODULE_PATHNAME', 'hotblocks_extend';

CREATE FUNCTION hotblocks.extend(dataset text, blocks text[], tables text[])
	RETURNS hotblocks.dataset_status
	LANGUAGE c AS 'MODULE_PATHNAME', 'hotblocks_extend';

CREATE FUNCTION hotblocks.load_file(dataset text, path text)
	RETURNS hotblocks.dataset_status
	LANGUAGE c AS 'MODULE_PATHNAME', 'hotblocks_load_file';

CREATE FUNCTION hotblocks.declare_coverage(dataset text, table_name text,
	from_block bigint, to_block bigint) RETURNS void
	LANGUAGE c AS 'MODULE_PATHNAME', 'hotblocks_declare_coverage';

/* What the tables beside the chunks hold, of all datasets one may read. */
CREATE FUNCTION hotblocks.small_tables(which text) RETURNS SETOF record
	LANGUAGE c STABLE STRICT AS 'MODULE_PATHNAME', 'hotblocks_small_tables';

CREATE VIEW hotblocks.coverage AS
	SELECT t.dataset, t.table_name, t.from_block, t.to_block
	FROM hotblocks.small_tables('coverage')
		AS t (dataset name, table_name text, from_block bigint, to_block bigint,
			missing_column text)
	WHERE t.missing_column = '';

/* Columns whose values a portal's documents left out of the rows of blocks. */
CREATE VIEW hotblocks.incomplete_columns AS
	SELECT t.dataset, t.table_name, t.missing_column AS column_name,
		t.from_block, t.to_block
	FROM hotblocks.small_tables('coverage')
		AS t (dataset name, table_name text, from_block bigint, to_block bigint,
			missing_column text)
	WHERE t.missing_column <> '';

CREATE VIEW hotblocks.gaps AS
	SELECT t.dataset, t.from_block, t.to_block
	FROM hotblocks.small_tables('gap')
		AS t (dataset name, from_block bigint, to_block bigint);

CREATE VIEW hotblocks.transitions AS
	SELECT t.dataset, t.version, t.kind, t.from_block, t.old_head, t.old_head_hash,
		t.new_head, t.new_head_hash, t.removed_numbers, t.removed_hashes,
		t.finalized, t.finalized_hash, t.at
	FROM hotblocks.small_tables('transition')
		AS t (dataset name, version bigint, kind text, from_block bigint,
			old_head bigint, old_head_hash bytea, new_head bigint, new_head_hash bytea,
			removed_numbers bigint[], removed_hashes bytea[],
			finalized bigint, finalized_hash bytea, at timestamptz);

/* Members of block documents that no column takes, and how many there were. */
CREATE VIEW hotblocks.unknown_members AS
	SELECT t.dataset, t.name AS member, t.count
	FROM hotblocks.small_tables('feed')
		AS t (dataset name, fact text, name text, count bigint)
	WHERE t.fact = 'unknown_member';

/* Characters that no text can hold, and that became U+FFFD. */
CREATE VIEW hotblocks.replaced_characters AS
	SELECT t.dataset, t.count
	FROM hotblocks.small_tables('feed')
		AS t (dataset name, fact text, name text, count bigint)
	WHERE t.fact = 'replaced_character';

GRANT SELECT ON hotblocks.coverage, hotblocks.incomplete_columns, hotblocks.gaps,
	hotblocks.transitions, hotblocks.unknown_members, hotblocks.replaced_characters
	TO PUBLIC;
