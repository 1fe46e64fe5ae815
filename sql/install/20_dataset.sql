/*
 * Datasets.  The extension keeps one row; the data is in ordinary tables of
 * schema hotblocks_NAME, named here by regclass so that dump and restore keep
 * them connected.  Columns ending in _table are those tables.
 */
CREATE TABLE hotblocks.dataset (
	id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
	name name NOT NULL UNIQUE,
	kind text NOT NULL REFERENCES hotblocks.kind,
	linkage text NOT NULL DEFAULT 'strict' CHECK (linkage IN ('strict', 'links', 'none')),
	head_table regclass NOT NULL,
	chunk_table regclass NOT NULL UNIQUE,
	piece_hot_table regclass NOT NULL,
	column_table regclass NOT NULL,
	coverage_table regclass NOT NULL,
	gap_table regclass NOT NULL,
	transition_table regclass NOT NULL
);

