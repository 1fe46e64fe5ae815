/*
 * Kinds: what a family of chains looks like.  Rows, not code; a dataset's
 * tables are made from them when the dataset is created.
 */
CREATE TABLE hotblocks.kind (
	kind text PRIMARY KEY,
	description text NOT NULL,
	block_table text,				-- NULL: the kind has no chain (free)
	numbers_have_holes boolean NOT NULL DEFAULT false
);

CREATE TABLE hotblocks.kind_table (
	kind text NOT NULL REFERENCES hotblocks.kind,
	table_name text NOT NULL,
	ordinal smallint NOT NULL,		-- order of creation and of delivery
	sort_key text[] NOT NULL,		-- the first is the block number
	PRIMARY KEY (kind, table_name)
);

/*
 * width, hash_index, domain: how values are encoded (docs/format.md).
 * wide: a bigint whose source is a 256-bit quantity; larger values are kept.
 * derive: how a chunk may do without the values: 'item' and 'block' look
 * source_columns[1] of source_table up by (block, second sort column) or by
 * block; 'prefix4', 'coalesce' and 'hex_word' compute from source_columns of
 * the same row; 'bloom_block' and 'bloom_item' from the logs in source_table;
 * 'previous' repeats source_columns[1] of the row before.
 * json: the member that the feed takes the value from, and how; the grammar is
 * with kind evm, whose feed is the only one so far.
 */
CREATE TABLE hotblocks.kind_column (
	kind text NOT NULL,
	table_name text NOT NULL,
	column_no smallint NOT NULL,
	column_name text NOT NULL,
	column_type text NOT NULL,
	not_null boolean NOT NULL DEFAULT false,
	width smallint NOT NULL DEFAULT 0,
	hash_index boolean NOT NULL DEFAULT false,
	domain smallint NOT NULL DEFAULT 0,
	wide boolean NOT NULL DEFAULT false,
	derive text CHECK (derive IN ('item', 'block', 'prefix4', 'coalesce',
		'hex_word', 'bloom_block', 'bloom_item', 'previous')),
	source_table text,
	source_columns text[],
	json text,
	PRIMARY KEY (kind, table_name, column_no),
	UNIQUE (kind, table_name, column_name),
	FOREIGN KEY (kind, table_name) REFERENCES hotblocks.kind_table
);

CREATE TABLE hotblocks.kind_relation (
	kind text NOT NULL,
	table_name text NOT NULL,
	relation text NOT NULL,
	relation_type text NOT NULL CHECK (relation_type IN ('join', 'children', 'parents')),
	target_table text NOT NULL,
	key_columns text[] NOT NULL,
	target_columns text[] NOT NULL,
	path_column text,
	PRIMARY KEY (kind, table_name, relation),
	FOREIGN KEY (kind, table_name) REFERENCES hotblocks.kind_table,
	FOREIGN KEY (kind, target_table) REFERENCES hotblocks.kind_table (kind, table_name)
);

