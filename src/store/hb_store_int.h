/*
 * hb_store_int.h
 *		What the files of the store share among themselves.
 */
#ifndef HB_STORE_INT_H
#define HB_STORE_INT_H

#include "store/hb_keccak.h"
#include "store/hb_store.h"

#include "access/genam.h"
#include "access/skey.h"
#include "lib/ilist.h"
#include "utils/rel.h"

/*
 * The tables of a dataset (hb_storage.c).  Their owner may alter them, so
 * their columns are compared with what the library expects at each open.
 */
typedef enum HbStorage
{
	HB_STORAGE_HEAD,
	HB_STORAGE_CHUNK,
	HB_STORAGE_PIECE,
	HB_STORAGE_COLUMN,
	HB_STORAGE_COVERAGE,
	HB_STORAGE_GAP,
	HB_STORAGE_TRANSITION,
	HB_STORAGE_FEED,
	HB_NSTORAGE
} HbStorage;

/* Attribute numbers of the tables; sql/install/20_dataset.sql makes them. */
enum
{
	HB_HEAD_ONE = 1,
	HB_HEAD_VERSION,
	HB_HEAD_LAYOUT,
	HB_HEAD_FIRST_BLOCK,
	HB_HEAD_NUMBER,
	HB_HEAD_HASH,
	HB_HEAD_PARENT_HASH,
	HB_HEAD_ANCHOR_NUMBER,
	HB_HEAD_ANCHOR_HASH,
	HB_HEAD_FINALIZED_NUMBER,
	HB_HEAD_FINALIZED_HASH,
	HB_HEAD_FLOOR_BLOCK,
	HB_HEAD_RETENTION,
	HB_HEAD_RETENTION_BLOCKS,
	HB_HEAD_NATTS = HB_HEAD_RETENTION_BLOCKS
};

enum
{
	HB_CHUNK_ID = 1,
	HB_CHUNK_FIRST_BLOCK,
	HB_CHUNK_LAST_BLOCK,
	HB_CHUNK_BODY_LEN,
	HB_CHUNK_BYTES,
	HB_CHUNK_BATCH,
	HB_CHUNK_NROWS,
	HB_CHUNK_LEVEL,
	HB_CHUNK_FORMAT,
	HB_CHUNK_TABLE_NAME,
	HB_CHUNK_DIRECTORY,
	HB_CHUNK_BODY,
	HB_CHUNK_NATTS = HB_CHUNK_BODY
};

enum
{
	HB_PIECE_CHUNK_ID = 1,
	HB_PIECE_SEQ,
	HB_PIECE_DATA,
	HB_PIECE_NATTS = HB_PIECE_DATA
};

enum
{
	HB_COLUMN_TABLE_NAME = 1,
	HB_COLUMN_NO,
	HB_COLUMN_NAME,
	HB_COLUMN_TYPE,
	HB_COLUMN_TYPMOD,
	HB_COLUMN_COLLATION_SCHEMA,
	HB_COLUMN_COLLATION_NAME,
	HB_COLUMN_NOT_NULL,
	HB_COLUMN_SORT_POSITION,
	HB_COLUMN_BLOCK_COLUMN,
	HB_COLUMN_WIDTH,
	HB_COLUMN_HASH_INDEX,
	HB_COLUMN_DOMAIN,
	HB_COLUMN_WIDE,
	HB_COLUMN_DERIVE,
	HB_COLUMN_SOURCE_TABLE,
	HB_COLUMN_SOURCE_COLUMNS,
	HB_COLUMN_NATTS = HB_COLUMN_SOURCE_COLUMNS
};

enum
{
	HB_COVERAGE_TABLE_NAME = 1,
	HB_COVERAGE_FIRST_BLOCK,
	HB_COVERAGE_LAST_BLOCK,
	HB_COVERAGE_MISSING_COLUMN, /* '': the rows themselves were delivered */
	HB_COVERAGE_NATTS = HB_COVERAGE_MISSING_COLUMN
};

enum
{
	HB_GAP_FIRST_BLOCK = 1,
	HB_GAP_LAST_BLOCK,
	HB_GAP_NATTS = HB_GAP_LAST_BLOCK
};

enum
{
	HB_TRANSITION_VERSION = 1,
	HB_TRANSITION_KIND,
	HB_TRANSITION_FROM_BLOCK,
	HB_TRANSITION_OLD_HEAD_NUMBER,
	HB_TRANSITION_OLD_HEAD_HASH,
	HB_TRANSITION_NEW_HEAD_NUMBER,
	HB_TRANSITION_NEW_HEAD_HASH,
	HB_TRANSITION_REMOVED_NUMBERS,
	HB_TRANSITION_REMOVED_HASHES,
	HB_TRANSITION_FINALIZED_NUMBER,
	HB_TRANSITION_FINALIZED_HASH,
	HB_TRANSITION_AT,
	HB_TRANSITION_NATTS = HB_TRANSITION_AT
};

enum
{
	HB_FEED_FACT = 1,
	HB_FEED_NAME,
	HB_FEED_COUNT,
	HB_FEED_NATTS = HB_FEED_COUNT
};

/* Columns of hotblocks.dataset. */
enum
{
	HB_DATASET_ID = 1,
	HB_DATASET_NAME,
	HB_DATASET_KIND,
	HB_DATASET_LINKAGE,
	HB_DATASET_HEAD_TABLE,
	HB_DATASET_CHUNK_TABLE,
	HB_DATASET_PIECE_TABLE,
	HB_DATASET_COLUMN_TABLE,
	HB_DATASET_COVERAGE_TABLE,
	HB_DATASET_GAP_TABLE,
	HB_DATASET_TRANSITION_TABLE,
	HB_DATASET_FEED_TABLE,
	HB_DATASET_NATTS = HB_DATASET_FEED_TABLE
};

extern Oid	hb_storage_relid(const HbDataset *ds, HbStorage which);
extern Relation hb_storage_open(HbDataset *ds, HbStorage which, LOCKMODE lock);
extern bool hb_storage_check(const HbDataset *ds, HbStorage which, Relation rel,
							 int elevel);
extern Oid	hb_storage_pkey(Relation rel);
extern Oid	hb_storage_index(Relation rel, const AttrNumber *attnums, int n);
extern void hb_storage_insert(Relation rel, HbStorage which, const Datum *values,
							  const bool *nulls, CommandId cid);
extern void hb_storage_update(Relation rel, ItemPointer tid, HeapTuple tuple,
							  ItemPointer newtid);
extern void hb_storage_delete(Relation rel, ItemPointer tid);

/* hb_dataset.c */
extern Oid	hb_catalog_relid(const char *name);
extern List *hb_dataset_names(void);	/* C strings: all, in order of name */
extern bool hb_dataset_has_table(const char *name, Oid relid);
extern void hb_dataset_store_linkage(HbDataset *ds, const char *linkage);


/* hb_table.c */
extern int	hb_list_strcmp(const ListCell *a, const ListCell *b);
extern HbTable *hb_table_load(HbDataset *ds, const char *table);

/* hb_memory.c: an allocator over a memory context */
extern void hb_mem_init(HbMem *mem, MemoryContext cxt);

/* hb_settle.c: who writes chunks, and who looks for those of others */
typedef enum HbSettle
{
	HB_SETTLE_WRITE,
	HB_SETTLE_LOOK
} HbSettle;

extern void hb_settle_lock(HbDataset *ds, HbSettle who);
extern void hb_settle_unlock(HbDataset *ds, HbSettle who);
extern bool hb_settled(HbDataset *ds, const char *source, int64 lo, int64 hi,
					   Snapshot snapshot, int64 batch);

/*
 * hb_raise.c: what this transaction has written, dataset by dataset, and what
 * is to be done about it at pre-commit.
 */
extern void hb_xact_dirty(HbDataset *ds);
/* hb_raise.c, for the block table's rows of a load */
typedef struct HbBlockRef
{
	int64		number;
	bytea	   *hash;			/* NULL: not known */
	bytea	   *parent_hash;
} HbBlockRef;

extern void hb_xact_load(HbTable *table, const HbWriterResult *result,
						 const HbBlockRef *lowest, const HbBlockRef *highest);
extern void hb_xact_forget_load(HbTable *table);

/*
 * Pieces (hb_piece.c): the frame around a part of a chunk's body.
 */
#define HB_PIECE_HEADER		32
#define HB_PIECE_PAYLOAD	(HB_PIECE_MAX - HB_PIECE_HEADER)
#define HB_PIECE_DIRECTORY	(-1)	/* seq of a directory's piece */

/* directory and body are kept in the chunk's row up to this size together */
#define HB_INLINE_MAX		1800

extern void hb_piece_frame(uint8_t *header, int64 chunk_id, int32 seq, uint32 len);
extern const char *hb_piece_check(const uint8_t *header, int64 chunk_id, int32 seq,
								  uint32 *len);

/*
 * A piece as a reader knows it (hb_toast.c).  An external one is read row by
 * row of the TOAST table; tids remembers where those rows are, as they are
 * met.  Others (short, or compressed by somebody's ALTER TABLE) are copied.
 */
typedef struct HbPieceRef
{
	bool		known;			/* the piece's row has been looked up */
	bool		checked;		/* its header has been verified */
	Oid			valueid;		/* external: the TOAST value */
	Oid			toastrelid;
	uint32		size;			/* header and payload */
	uint32		payload;		/* from the header */
	ItemPointerData *tids;		/* by TOAST sequence; invalid: not met yet */
	uint8_t    *data;			/* not external: header and payload */
} HbPieceRef;

typedef struct HbPieceReader
{
	HbDataset  *ds;
	const char *table;			/* for messages */
	int64		chunk_id;
	Snapshot	snapshot;
	MemoryContext cxt;			/* owns refs and what is in them */
	int			npieces;
	HbPieceRef *refs;			/* npieces of the body, then the directory's */
} HbPieceReader;

extern void hb_piece_reader_init(HbPieceReader *r, uint64 body_len);
extern void hb_piece_reader_reset(HbPieceReader *r);
extern void hb_piece_read(HbPieceReader *r, uint64 off, uint32 len, uint8_t *dst);
extern uint8_t *hb_piece_read_directory(HbPieceReader *r, uint32 *len);

/*
 * Readers (hb_cache.c).  An entry stands for a chunk and holds its readers:
 * usually one; more when one backend has the chunk open more than once, since
 * a reader serves one user at a time.
 */
typedef struct HbReaderHandle
{
	struct HbReaderHandle *next;	/* of the entry */
	struct HbChunkEntry *entry; /* NULL: not cached, dies when closed */
	MemoryContext cxt;
	HbReader   *reader;
	HbMem		mem;
	HbSource	source;
	HbPieceReader pieces;
	uint8_t    *body;			/* of a chunk without pieces, else NULL */
	uint64		body_len;
	struct HbPendingImage *image;	/* what it reads, if that is not stored */
	bool		pinned;
	bool		fresh;			/* used for the first time */
	bool		doomed;			/* free it as soon as nobody uses it */
	Oid			piece_file;		/* what the pieces' positions hold for */
	Oid			toast_file;
	Size		size;			/* as accounted */
	dlist_node	lru;			/* linked when not pinned */
} HbReaderHandle;

typedef struct HbChunkEntry HbChunkEntry;

/* What a set tells when it opens a chunk. */
typedef struct HbReaderAsk
{
	HbTable    *table;
	Snapshot	snapshot;
	HbChunkRow *row;
	Oid			piece_file;
	Oid			toast_file;
} HbReaderAsk;

extern HbChunkEntry *hb_cache_entry(HbDataset *ds, int64 chunk_id);
extern void hb_cache_entry_release(HbChunkEntry *entry);
extern HbReaderHandle *hb_cache_get(HbChunkEntry *entry, const HbReaderAsk *ask);
extern void hb_cache_put(HbReaderHandle *handle, bool keep);
extern void hb_cache_forget(Oid column_relid);

/*
 * hb_pending.c: rows that a running statement of this backend has written and
 * not stored.  An image is a chunk in memory of some of them.
 */
typedef struct HbPendingImage
{
	MemoryContext cxt;
	int			refs;			/* the writer, and sets that have it */
	uint32		first;			/* of the builder's rows */
	HbChunkRow	row;
	uint8	   *dir;
	Size		dir_len;
	uint8	   *body;
	HbReaderHandle *idle;		/* a reader that nobody uses, or NULL */
} HbPendingImage;

#define HB_PENDING_MAX_IMAGES	32

/* A writer's place in the list of those that hold rows. */
typedef struct HbPending
{
	HbTable    *table;
	CommandId	cid;			/* of the statement */
	bool		transition;		/* a feed's: stored chunks derive from these
								 * rows before they are stored */
	int64		batch;
	HbBuilder  *builder;
	const bool *assumed;		/* by column: as the writer's */

	SubTransactionId subid;		/* the rest is hb_pending.c's */
	bool		listed;
	bool		unsettled;
	dlist_node	node;
	MemoryContextCallback callback;
	int			nimages;
	HbPendingImage *images[HB_PENDING_MAX_IMAGES];	/* by first */
} HbPending;

extern void hb_pending_begin(HbPending *p, MemoryContext cxt);
extern void hb_pending_changed(HbPending *p);
extern void hb_pending_check(const HbPending *p);
extern void hb_pending_end(HbPending *p);
extern void hb_pending_collect(HbTable *table, Snapshot snapshot, HbRows which,
							   void (*add) (void *arg, HbPendingImage *image),
							   void *arg);
extern void hb_pending_image_unref(HbPendingImage *image);
extern void hb_pending_forbid_truncate(HbTable *table);

/* hb_writer.c */
extern HbBuilder *hb_table_builder(const HbTable *table, HbMem *mem, bool packed);
extern void hb_table_limit_error(const HbTable *table, const HbError *error) HB_NORETURN;

/* hb_head.c: what names the set of chunks under a snapshot */
extern bool hb_head_layout(HbDataset *ds, Snapshot snapshot, int64 *layout,
						   TransactionId *xmin, int64 *floor_block);

/* hb_chunkset.c */
extern void hb_chunk_lists_forget(Oid column_relid);

/* hb_filter.c */
typedef struct HbFilter HbFilter;

typedef struct HbFilterMap
{
	struct HbFilterMap *next;
	HbFilter   *filter;			/* counted */
	int16		column;
	uint32		nslots;			/* that the list may know */
	int		   *rows;			/* of the list, by slot; -1: not in it */
	int			nothers;		/* chunks that are always named */
	int		   *others;
} HbFilterMap;

extern HbFilter *hb_filter_create(int16 column);
extern void hb_filter_unref(HbFilter *filter);
extern HbFilter *hb_filter_find(HbFilter *filters, int16 column);
extern HbFilter *hb_filter_push(HbFilter *filters, HbFilter *filter);
extern HbFilter *hb_filter_next(const HbFilter *filter);
extern bool hb_filter_crowded(const HbFilter *filter, int nchunks);
extern bool hb_filter_wanted(HbFilter *filter);
extern HbFilterMap *hb_filter_map(HbFilter *filter, HbChunkSet *set, MemoryContext cxt);
extern void hb_filter_probe(const HbFilterMap *map, HbSlice value, uint64 *chunks);
extern int	hb_chunk_set_find(HbChunkSet *set, int64 block, int from);

/*
 * A value in physical form as a chunk or a builder gives it: an integer, or
 * bytes (also for HB_PHYS_NUM, unless the chunk stores integers).
 */
typedef struct HbFetched
{
	bool		isnull;
	bool		isint;
	int64		i;
	HbSlice		bytes;
} HbFetched;

/*
 * Values of another table's rows (hb_lookup.c): for each of n keys, the value
 * of column col of the row with that block number, and index if by_item.
 * found tells whether there is such a row.  Keys in ascending order are fast.
 */
typedef struct HbLookup HbLookup;

extern HbLookup *hb_lookup_begin(HbTable *source, int col, bool by_item,
								 Snapshot snapshot);
extern void hb_lookup_get(HbLookup *lookup, int64 batch, int n, const int64 *blocks,
						  const int64 *indexes, const bool *no_index,
						  HbFetched *values, bool *found);
extern void hb_lookup_end(HbLookup *lookup);

/* The same for the bloom of a block's or an item's logs; found: there are logs */
typedef struct HbBloomLookup HbBloomLookup;

extern HbBloomLookup *hb_bloom_begin(HbTable *source, List *columns, bool by_item,
									 Snapshot snapshot);
extern bool hb_bloom_get(HbBloomLookup *lookup, int64 batch, int64 block, int64 index,
						 uint8_t bloom[HB_BLOOM_LEN]);
extern void hb_bloom_end(HbBloomLookup *lookup);

/* Values of stored columns: n rows of one page, ascending (hb_fetch.c). */
extern void hb_fetch(HbOpenChunk *chunk, int reader_col, uint32 page,
					 const uint16 *rows, int n, HbFetched *values);
extern Datum hb_fetched_datum(HbColumn *column, const HbFetched *value);
extern bool hb_fetched_equal(const HbFetched *a, const HbFetched *b);

/* Columns computed from others of the same row (hb_derive.c). */
#define HB_DERIVE_SPACE 32
extern void hb_derive_row(HbDerive derive, const HbFetched *sources, int n,
						  HbFetched *value, uint8_t space[HB_DERIVE_SPACE]);

/* hb_compare.c: which columns of the builder's first n rows may be left out */
typedef struct HbComparer HbComparer;

extern HbComparer *hb_comparer_begin(HbTable *table, Snapshot snapshot, int64 batch);
extern bool hb_comparer_equal(HbComparer *c, HbBuilder *builder, int col, uint32 nrows);
extern void hb_comparer_end(HbComparer *c);

#endif							/* HB_STORE_INT_H */
