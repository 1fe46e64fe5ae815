/*
 * hb_store.h
 *		Datasets, their tables and chunks, as PostgreSQL stores them.
 *
 * A dataset is a row of hotblocks.dataset plus ordinary heap tables in schema
 * hotblocks_NAME owned by the dataset's owner:
 *	 head		one row: the chain's state, its version, the layout number; the
 *				row that every transition locks
 *	 chunk		a row per chunk: table, block bounds, rows, directory
 *	 piece_hot	the bodies, cut into pieces of at most 2 MiB
 *	 stored_column	the columns that each table stores, by number
 *	 coverage, gap, transition	see chain/
 * Every transaction that changes the chunk table raises head.layout in the
 * same transaction (at pre-commit for INSERT and COPY), so under one snapshot
 * the head row's (layout, xmin) names one set of chunks: backends cache the
 * chunk list and parsed directories under that name, except in a transaction
 * that has itself written to the dataset.
 */
#ifndef HB_STORE_H
#define HB_STORE_H

#include "postgres.h"
#include "access/attnum.h"
#include "nodes/pg_list.h"
#include "storage/itemptr.h"
#include "utils/rel.h"
#include "utils/snapshot.h"
#include "utils/uuid.h"

#include "chunk/hb_chunk.h"
#include "store/hb_value.h"

#define HB_PIECE_MAX	(2 * 1024 * 1024)	/* serialized, framing included */

/* How the value of a column that a chunk leaves out is found. */
typedef enum HbDerive
{
	HB_DERIVE_NONE = 0,
	HB_DERIVE_LOOKUP_ITEM = 1,	/* source table's column at the same (block,
								 * second sort column): transaction_hash */
	HB_DERIVE_LOOKUP_BLOCK = 2, /* source table's column at the same block:
								 * block_timestamp */
	HB_DERIVE_PREFIX4 = 3,		/* first 4 bytes of another column of the row;
								 * NULL where that is shorter or NULL: sighash */
	HB_DERIVE_COALESCE = 4,		/* the first non-null of other columns of the
								 * row: traces."from" and its like */
	HB_DERIVE_HEX_WORD = 5,		/* bytes of a 0x text of 64 digits, else NULL:
								 * state_diffs.slot */
	HB_DERIVE_BLOOM_BLOCK = 6,	/* bloom of the block's logs */
	HB_DERIVE_BLOOM_ITEM = 7	/* bloom of the transaction's logs */
} HbDerive;

typedef struct HbColumn
{
	int16		number;			/* in chunk directories */
	NameData	name;
	Oid			type;			/* as stored */
	int32		typmod;
	Oid			collation;
	HbValueType value;
	uint8		domain;
	uint16		width;
	bool		hash_index;
	bool		wide;			/* int8 with physical class NUM */
	bool		not_null;
	int			prev_of;		/* index of a column of this table, -1 none */
	HbDerive	derive;			/* what this column may be derived from */
	NameData	source_table;	/* LOOKUP_* and BLOOM_*: a table of the dataset */
	List	   *source_columns; /* names (String nodes): one, or several */
} HbColumn;

typedef struct HbTable
{
	struct HbDataset *dataset;
	NameData	name;
	int			ncolumns;
	HbColumn   *columns;
	int			block_col;		/* index into columns, -1 none */
	int			nsort;
	int			sort_cols[HB_MAX_SORT_COLS];
	bool		is_block_table;
	bool		is_item_table;	/* rows belong to blocks of the block table */
	uint64		generation;		/* no other descriptor that this backend makes
								 * has the same: what is made of this one may
								 * be kept under it */
} HbTable;

typedef struct HbHead
{
	int64		version;		/* logical transitions */
	int64		layout;			/* changes of the chunk table */
	bool		empty;
	int64		first_block;
	int64		head_number;
	bytea	   *head_hash;		/* NULL: not known */
	bool		has_finalized;
	int64		finalized_number;
	int64		floor_block;	/* retention: blocks below are not seen */
	TransactionId xmin;			/* of the row version */
	ItemPointerData tid;		/* of the row version */
	bool		has_anchor;		/* the position below the first block */
	int64		anchor_number;
	bytea	   *anchor_hash;	/* NULL: not known */
	bytea	   *finalized_hash;	/* NULL: not known */
	bytea	   *head_parent_hash;	/* NULL: not known */
} HbHead;

typedef struct HbDataset
{
	pg_uuid_t	id;
	NameData	name;
	NameData	kind;
	char		linkage;		/* 's'trict, 'l'inks, 'n'one */
	Oid			owner;			/* of the chunk table */
	Oid			schema;
	Oid			head_relid;
	Oid			chunk_relid;
	Oid			piece_relid;
	Oid			column_relid;
	Oid			coverage_relid;
	Oid			gap_relid;
	Oid			transition_relid;
	Oid			feed_relid;
	MemoryContext cxt;			/* owns this descriptor and its tables */
	List	   *tables;			/* HbTable *, as they have been opened */
} HbDataset;

#define HB_ERRCODE_NO_DATASET	ERRCODE_UNDEFINED_OBJECT

/*
 * An error, with a hint, unless the extension's SQL objects are of the
 * library's version.  hb_dataset_open does it; functions that do not open a
 * dataset call it themselves.
 */
extern void hb_check_version(void);

/*
 * hb_dataset_open returns the descriptor of a dataset; ERROR (HB_ERRCODE_
 * NO_DATASET) with a hint if there is none and not missing_ok.  It lives to
 * the end of the transaction at least; descriptors are cached per backend and
 * checked against hotblocks.dataset's row at each open.  Takes
 * AccessShareLock on the dataset's tables, kept to the end of the transaction.
 * hb_dataset_check_acl raises an error unless role has mode (ACL_SELECT,
 * ACL_INSERT, ...) on the chunk table, or owns it when mode is 0.
 * hb_datasets_readable: descriptors of all that role may read, by name.
 */
extern HbDataset *hb_dataset_open(const char *name, bool missing_ok);
extern void hb_dataset_check_acl(HbDataset *ds, Oid role, uint64 mode);
extern List *hb_datasets_readable(Oid role);
extern HbTable *hb_table_open(HbDataset *ds, const char *table, bool missing_ok);
extern List *hb_dataset_table_names(HbDataset *ds);	/* C strings */
extern int	hb_table_column(const HbTable *table, const char *name);	/* -1 none */

/* Has this transaction written to the dataset (then caches do not hold)? */
extern bool hb_dataset_is_dirty(HbDataset *ds);

/* The head row under a snapshot; hashes are palloc'd in the current context. */
extern void hb_head_read(HbDataset *ds, Snapshot snapshot, HbHead *head);

/*
 * A transition (extend, finalize, ...) locks the head row first, which waits
 * for every other one, and then reads the state that the last one committed:
 * hb_head_lock does both and fills *head (unless NULL), whatever the isolation
 * level; rows of other tables are then to be read under a snapshot taken
 * after it (GetLatestSnapshot).  The lock is kept to the end of the
 * (sub)transaction.  Modes: KEY_SHARE for writers of rows, NO_KEY_UPDATE for
 * transitions that only add, UPDATE for those that remove.
 *
 * hb_head_update writes *head back (all but layout, which it raises by one,
 * xmin and tid, which it sets to the new row version's); the caller holds
 * NO_KEY_UPDATE or UPDATE and sets version + 1 itself when the transition is
 * a logical one.  It ends with a CommandCounterIncrement.
 */
typedef enum HbHeadLock
{
	HB_HEAD_KEY_SHARE,
	HB_HEAD_NO_KEY_UPDATE,
	HB_HEAD_UPDATE
} HbHeadLock;

extern void hb_head_lock(HbDataset *ds, HbHeadLock mode, HbHead *head);
extern void hb_head_update(HbDataset *ds, HbHead *head);

/*
 * Rows of the small tables.  The caller holds NO_KEY_UPDATE on the head.
 * coverage_add: table was delivered for blocks first..last, or, unless
 * missing_column is "", its rows there came without values of that column;
 * ranges that touch or overlap are merged.  transition_add: a row of hotblocks.transitions; old
 * is the head before, head the head after (its version is the row's);
 * from_block PG_INT64_MIN when the rows had no blocks.
 */
extern void hb_coverage_add(HbDataset *ds, const char *table,
							const char *missing_column, int64 first, int64 last);
extern void hb_gap_add(HbDataset *ds, int64 first, int64 last);
extern void hb_transition_add(HbDataset *ds, const char *kind, int64 from_block,
							  const HbHead *old, const HbHead *head);

/*
 * The table of what a dataset remembers of its feeds (fact, name, count), with
 * its columns checked: its owner may have altered it.  Closed by table_close
 * with NoLock.  feed_put writes a row: the count is added to the one that is
 * there.  The caller holds NO_KEY_UPDATE on the head.
 */
extern Relation hb_feed_table_open(HbDataset *ds, LOCKMODE lock);
extern void hb_feed_table_put(HbDataset *ds, const char *fact, const char *name,
							  int64 count);

/*
 * The parts of first..last for which the table was not delivered, under a
 * snapshot: a list of HbBlockRange *, ascending; NIL when all of it was.
 */
typedef struct HbBlockRange
{
	int64		first;
	int64		last;
} HbBlockRange;

extern List *hb_coverage_missing(HbDataset *ds, Snapshot snapshot,
								 const char *table, int64 first, int64 last);

/*
 * Kind free: the columns of a table come from the foreign table that first
 * writes it.  Adds the table if the dataset has none of that name, else the
 * columns that it lacks; a column of the same name must have the same type
 * and collation, and the block column and sort key must be the ones that the
 * table was made with (errors with hints).  block_column may be NULL;
 * sort_key is a list of String nodes, whose first is the block column if
 * there is one.  Returns the table as it is then.  Needs no more than the
 * caller's INSERT on the chunk table, which the caller checks.
 */
typedef struct HbColumnDef
{
	const char *name;
	Oid			type;			/* a domain is stored as its base type */
	int32		typmod;
	Oid			collation;
	bool		not_null;		/* of a new table; a definition without it lets
								 * nulls into a column that had it */
	bool		hash_index;		/* index by row, for columns that identify */
} HbColumnDef;

extern HbTable *hb_table_register(HbDataset *ds, const char *table,
								  const char *block_column, List *sort_key,
								  List *columns);

/*
 * TRUNCATE: removes all rows of the given tables (HbTable *) of one dataset,
 * as a transition.  Without the block table's rows there is no chain.  ERROR
 * if a table that is not among them may derive values from one that is.
 */
extern void hb_dataset_truncate(HbDataset *ds, List *tables);

/*
 * A row of the chunk table.  Bounds are 0..0 and has_blocks false for a table
 * without a block column.
 */
typedef struct HbChunkRow
{
	int64		chunk_id;
	bool		has_blocks;
	int64		first_block;
	int64		last_block;
	uint32		nrows;
	uint64		body_len;
	uint64		bytes;			/* directory and body */
	int64		batch;			/* from the sequence of chunk ids: values that
								 * it leaves out derive from chunks below */
	int32		directory_bytes;
	int16		level;			/* 0: as written; compaction's are above */
	int16		format;
	struct HbChunkEntry *entry; /* the store's */
	struct HbPendingImage *image;	/* the store's: a chunk in memory only */
} HbChunkRow;

/*
 * Is a chunk of a source table one that a chunk of this batch derives from?
 * Those with lower ids are, and those of the same feed.  Ids of chunks in
 * memory are negative.
 */
static inline bool
hb_chunk_counts(const HbChunkRow *source, int64 batch)
{
	return source->batch == batch ||
		(source->chunk_id > 0 && source->chunk_id < batch);
}

/*
 * The chunks of a table under a snapshot that touch blocks lo..hi, ordered by
 * (first_block, last_block, chunk_id).  overlaps tells whether any two of
 * them share a block.  Belongs to the cache: valid until hb_chunk_set_release
 * (which also the end of the resource owner does).
 */
typedef struct HbChunkSet
{
	HbTable    *table;
	Snapshot	snapshot;
	int64		floor_block;
	int			nchunks;
	HbChunkRow *chunks;
	bool		overlaps;
	uint64		total_rows;		/* of these chunks */
	uint64		total_bytes;
} HbChunkSet;

extern HbChunkSet *hb_chunk_set(HbTable *table, Snapshot snapshot, int64 lo, int64 hi);

/*
 * The same with rows that running statements of this backend have written and
 * not stored yet, where the snapshot sees them: chunks that are in memory only
 * (hb_pending.c).  SOURCE is for deriving values: a feed's chunks may derive
 * from rows that it has yet to store; other statements' do not.
 *
 * hb_pending_count is how many such rows there are, and the memory that they
 * take, about; hb_pending_any whether there are any at all.  Parallel workers
 * do not see them, so that while there are any, no query may use workers.
 */
typedef enum HbRows
{
	HB_ROWS_STORED,
	HB_ROWS_SOURCE,
	HB_ROWS_ALL
} HbRows;

extern HbChunkSet *hb_chunk_set_rows(HbTable *table, Snapshot snapshot, int64 lo,
									 int64 hi, HbRows which);
extern uint64 hb_pending_count(HbTable *table, Snapshot snapshot, HbRows which,
							   uint64 *bytes);
extern bool hb_pending_any(void);
extern void hb_chunk_set_release(HbChunkSet *set);

/*
 * Of a set of the whole table: which chunks may hold a value of a hash-indexed
 * column (values in physical form).  Sets the bits of those chunks, of
 * (nchunks + 63) / 64 zeroed words; false when it cannot tell, and every chunk
 * has to be asked.  The first question of a backend about a column is always
 * answered so; later ones remember (hb_filter.c).
 */
extern bool hb_chunk_set_candidates(HbChunkSet *set, int col, const HbSlice *values,
									int nvalues, uint64 *chunks);

/*
 * An open chunk: its reader, with a source that reads pieces under the set's
 * snapshot.  Damage found through it is raised by hb_chunk_damaged
 * (ERRCODE_DATA_CORRUPTED; the detail names dataset, table, chunk, column and
 * page).  Close it when done; open readers come from a cache per backend
 * bounded by hotblocks.directory_cache_size.
 */
typedef struct HbOpenChunk
{
	HbChunkSet *set;
	HbChunkRow *row;
	HbReader   *reader;
	void	   *private_data;
} HbOpenChunk;

extern HbOpenChunk *hb_chunk_open(HbChunkSet *set, int index);
extern void hb_chunk_close(HbOpenChunk *chunk);
extern void hb_chunk_damaged(HbOpenChunk *chunk) HB_NORETURN;

/*
 * Writing rows of one table.  Values are given by the table's column index
 * (HbTable.columns), all of them.  Rows are kept until a chunk is full
 * (hotblocks.chunk_rows, hotblocks.build_memory) or finish; chunks are cut at
 * a block's end where one is near.  NOT NULL is checked here (23502).
 * Derived columns that are equal to what they derive from, in the chunks that
 * the statement's snapshot shows, are left out.  Everything is ordinary heap
 * inserts of the current (sub)transaction with the statement's command id; an
 * abort leaves nothing.  The layout number is
 * raised once, at pre-commit.
 */
typedef struct HbWriter HbWriter;

typedef struct HbWriterResult
{
	int64		rows;
	int64		chunks;
	bool		has_blocks;
	int64		first_block;	/* lowest and highest seen */
	int64		last_block;
} HbWriterResult;

/*
 * hb_writer_begin is for INSERT and COPY: it takes KEY_SHARE on the head row,
 * and pre-commit records a transition of kind load (rows of the block table
 * raise the head, rows of item tables count as delivered).
 * hb_writer_begin_transition is for transitions, which hold the head's lock,
 * and update the head, coverage and transitions themselves.
 *
 * cid is the command id of the statement: its rows are seen by snapshots with
 * a higher one from the moment that hb_writer_row returns, whether stored or
 * not.  snapshot is the statement's, which must stay until finish; derived
 * columns are compared under it.  batch is one number of hb_next_chunk_id for
 * all writers of a feed: their chunks may derive from one another's rows,
 * whichever is stored first.
 */
extern HbWriter *hb_writer_begin(HbTable *table, CommandId cid, Snapshot snapshot);
extern HbWriter *hb_writer_begin_transition(HbTable *table, CommandId cid,
											Snapshot snapshot, int64 batch);
extern int64 hb_next_chunk_id(HbDataset *ds);
extern void hb_writer_row(HbWriter *w, const Datum *values, const bool *isnull);
extern void hb_writer_finish(HbWriter *w, HbWriterResult *result);

/*
 * The same with values in physical form already (store/hb_value.h), for feeds
 * that decode them from text: i for HB_PHYS_INT, bytes for the others (copied;
 * HB_PHYS_NUM in its num form, also where it fits an int64).  This is how a
 * wide int8 column is given a value that a Datum of its type cannot hold.
 */
typedef struct HbPhysValue
{
	bool		isnull;
	int64_t		i;
	HbSlice		bytes;
} HbPhysValue;

extern void hb_writer_row_phys(HbWriter *w, const HbPhysValue *values);

/*
 * Rows of this transaction that are known to derive (the feed compared them
 * itself): column col's values are left out without a comparison.
 */
extern void hb_writer_assume_derived(HbWriter *w, int col);

/*
 * Derived columns of stored rows: for n rows of an open chunk, starting
 * anywhere, given by position (ascending), the value of column col (whose
 * HB_STORED_DERIVED code says how) as datums in the current context.
 * HbDeriver caches what it has open of the source tables; one per scan.
 */
typedef struct HbDeriver HbDeriver;

extern HbDeriver *hb_deriver_begin(HbTable *table, Snapshot snapshot);
extern void hb_deriver_get(HbDeriver *d, HbOpenChunk *chunk, int col,
						   const uint32 *rows, int n, Datum *values, bool *isnull);
extern void hb_deriver_end(HbDeriver *d);

/*
 * The (block, index) position of the item of table `table` whose hash-indexed
 * column equals value; for equality on derived hashes.  Calls found for each.
 */
extern void hb_lookup_hash(HbTable *table, Snapshot snapshot, int col, HbSlice value,
						   void (*found) (void *arg, int64 block, int64 index, bool has_index),
						   void *arg);

/* GUCs, defined by the entry (hotblocks.c). */
extern int	hb_chunk_rows;			/* hotblocks.chunk_rows */
extern int	hb_build_memory;		/* hotblocks.build_memory, kB */
extern int	hb_directory_cache_size;	/* hotblocks.directory_cache_size, kB */
extern int	hb_compression;			/* hotblocks.compression */
extern int	hb_compression_level;	/* hotblocks.compression_level */

#endif							/* HB_STORE_H */
