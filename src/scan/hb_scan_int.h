/*
 * hb_scan_int.h
 *		What the files of the scan layer share.
 *
 * hb_compile.c turns an HbPred into a tree of HbNodes once per (re)scan:
 * constants in physical form, nested ANDs and ORs flattened.  hb_bind.c asks
 * the tree of one chunk: each node gets an HbBound, a verdict for the whole
 * chunk or a test on what the chunk stores.  hb_select.c runs the tests page
 * by page over a bitmap of rows.  hb_batch.c reads the output columns of the
 * rows that remain.  hb_cursor.c is the state of one open chunk in a scan,
 * hb_order.c merges cursors.
 *
 * The tree has no NOT, so a row passes when the tree is true with "unknown"
 * taken as false in every leaf: two values are enough below the compiler.
 *
 * Memory: HbScan.cxt owns everything; pred_cxt what depends on the
 * predicate, batch_cxt what the caller sees until its next call, eval_cxt
 * what lives while one page is looked at; each cursor has a context that is
 * reset when it goes to another chunk.
 */
#ifndef HB_SCAN_INT_H
#define HB_SCAN_INT_H

#include "postgres.h"

#include "fmgr.h"
#include "port/pg_bitutils.h"

#include "scan/hb_scan.h"

#define HB_MAX_PAGES	((HB_CHUNK_MAX_ROWS + HB_PAGE_ROWS - 1) / HB_PAGE_ROWS)
#define HB_MASK_WORDS	((HB_MAX_PAGES + 63) / 64)
#define HB_NO_PAGE		PG_UINT32_MAX

/* A set of byte strings: sorted and unique, with a hash table when large. */
typedef struct HbSliceSet
{
	int			n;
	HbSlice    *slices;
	uint32	   *table;			/* index + 1 by hash; NULL: search */
	uint32		mask;
} HbSliceSet;

/* What non-null values of a physical class must be. */
typedef enum HbFormKind
{
	HB_FORM_NONE,
	HB_FORM_ALL,
	HB_FORM_RANGE,
	HB_FORM_NE,					/* all but lo */
	HB_FORM_SET
} HbFormKind;

typedef struct HbIntForm
{
	HbFormKind	kind;
	int64		lo;				/* closed */
	int64		hi;
	int			n;
	int64	   *set;			/* sorted, unique */
} HbIntForm;

typedef struct HbByteForm
{
	HbFormKind	kind;
	bool		has_lo;
	bool		has_hi;
	bool		lo_open;
	bool		hi_open;
	HbSlice		lo;
	HbSlice		hi;
	HbSliceSet	set;
} HbByteForm;

/* A closed range of block numbers; a range of rows first .. last - 1. */
typedef struct HbBlockRun
{
	int64		lo;
	int64		hi;
} HbBlockRun;

typedef struct HbRowRange
{
	uint32		first;
	uint32		last;
} HbRowRange;

typedef struct HbPosition
{
	int64		block;
	int64		index;
	bool		has_index;
} HbPosition;

/*
 * A leaf: a test of one column.  ints serves INT columns and NUM columns in
 * chunks that store integers; bytes serves the others.  Values in a form
 * without a byte order ("exotic": first byte 0xFF of a NUM or int4[] column)
 * are compared as datums with consts.
 */
typedef struct HbLeaf
{
	int			column;
	bool		is_null;		/* IS NULL; else a test of non-null values */
	bool		negated;		/* the forms say which of them do not pass */
	bool		of_length;		/* ints is of the bytes' number */
	HbPhys		phys;
	HbIntForm	ints;
	HbByteForm	bytes;

	bool		exotic;			/* values may be exotic */
	bool		by_datum;		/* the constant is: compare all as datums */
	HbCmpOp		op;
	int			nconsts;
	Datum	   *consts;
	bool		consts_sorted;
	HbValueType *exotic_type;
	FmgrInfo	cmp;

	const HbPred *pred;			/* where it came from */

	/* columns that chunks may leave out; filled when a chunk first does */
	bool		have_positions;
	int			npositions;
	HbPosition *positions;		/* ascending */
	bool		have_runs;
	bool		runs_exact;		/* for who derives from all chunks of: */
	int			nsources;
	HbChunkRow *sources;		/* ascending, disjoint, if exact */
	int			nruns;
	HbBlockRun *runs;			/* ascending, disjoint */
} HbLeaf;

typedef enum HbNodeKind
{
	HB_NODE_NEVER,
	HB_NODE_ALWAYS,
	HB_NODE_AND,
	HB_NODE_OR,
	HB_NODE_LEAF
} HbNodeKind;

typedef struct HbNode
{
	HbNodeKind	kind;
	int			id;				/* of its HbBound in a cursor */
	int			nchildren;
	struct HbNode **children;
	HbLeaf	   *leaf;
	struct HbNode *alt;			/* the same asked of the columns that this one
								 * is made of, for chunks that leave it out */
} HbNode;

typedef struct HbTree
{
	HbNode	   *root;			/* never NULL */
	int			nnodes;
	int64		lo;				/* blocks that can match at all */
	int64		hi;
	bool		range_only;		/* nothing but the block range */
	HbLeaf	   *position;		/* lo == hi and this leaf (second sort column
								 * = constant) give one row range; or NULL */
	List	   *columns;		/* indexes of the columns that it tests */
} HbTree;

typedef enum HbVerdict
{
	HB_IS_FALSE,
	HB_IS_TRUE,
	HB_IS_TEST
} HbVerdict;

typedef enum HbBoundTest
{
	HB_BOUND_ROWS,				/* rows in ranges */
	HB_BOUND_INT_RANGE,
	HB_BOUND_INT_NE,
	HB_BOUND_INT_SET,
	HB_BOUND_INT_BITMAP,
	HB_BOUND_CODE_RANGE,
	HB_BOUND_CODE_NE,
	HB_BOUND_CODE_SET,
	HB_BOUND_BYTES,
	HB_BOUND_NULL,
	HB_BOUND_NOT_NULL,
	HB_BOUND_DERIVED			/* values of rows in ranges (if any are given)
								 * are made and compared */
} HbBoundTest;

/* A node as it stands for one chunk. */
typedef struct HbBound
{
	HbVerdict	verdict;
	HbVerdict	page_verdict;	/* for the page that is looked at */
	HbBoundTest test;
	HbNode	   *alt;			/* evaluate this instead */
	bool		negated;		/* rows of non-null values that do not pass the
								 * test (of integers or codes) */
	double		rank;			/* cost over rows removed: order in an AND */
	HbNode	  **seq;			/* AND and OR: children to test, in order */
	int			nseq;

	int64		lo;				/* INT_RANGE, INT_NE, INT_BITMAP's base */
	int64		hi;
	const int64 *set;			/* INT_SET: the part that can occur */
	int			nset;
	uint64	   *bitmap;			/* INT_BITMAP, CODE_SET */
	uint32		code_lo;		/* CODE_RANGE: closed; CODE_NE */
	uint32		code_hi;
	uint32	   *codes;			/* CODE_SET: which, if few */
	int			ncodes;
	bool		has_ranges;
	HbRowRange *ranges;			/* ascending, disjoint */
	int			nranges;
} HbBound;

typedef enum HbSkip
{
	HB_SKIP_NONE,
	HB_SKIP_RANGE,
	HB_SKIP_MINMAX,
	HB_SKIP_DICTIONARY,
	HB_SKIP_HASH
} HbSkip;

/* Datums of dictionary entries, made once per chunk, by code. */
#define HB_CODE_GROUP	256
typedef struct HbCodeDatums
{
	uint32		ngroups;
	Datum	  **groups;			/* 0: not made yet */
} HbCodeDatums;

/*
 * A column of the chunk that a cursor is at.  Pages are decoded once, for
 * tests, sort keys and output alike.
 */
typedef struct HbColumnState
{
	bool		resolved;
	int			rcol;			/* in the reader; -1: not stored, all NULL */
	const HbColumnInfo *info;	/* NULL if not stored */
	uint32		ints_page;
	uint32		codes_page;
	uint32		nulls_page;
	bool		any_null;
	int64	   *ints;
	uint32	   *codes;
	uint64	   *nulls;
	HbCodeDatums datums;
} HbColumnState;

/* Sort keys of the rows that a cursor in a merge stands at. */
typedef struct HbSortKeys
{
	bool		bytes;
	int64	   *ints;
	HbSlice    *slices;
	bool	   *isnull;
} HbSortKeys;

typedef struct HbCursor
{
	struct HbScan *scan;
	int			index;			/* chunk in the set, -1: none open */
	bool		in_use;
	uint64		last_used;
	HbOpenChunk *chunk;
	HbReader   *reader;
	HbReadStats stats_at_open;
	uint32		nrows;
	uint32		npages;
	MemoryContext cxt;			/* of this chunk, for one binding */
	MemoryContext datum_cxt;	/* datums of codes: as long as it is open */
	Size		datum_bytes;
	HbColumnState *columns;		/* by HbTable.columns index */

	HbTree	   *tree;
	HbBound    *bounds;			/* by node id */
	int			nbounds;
	HbSkip		skip;			/* why the last binding was false */

	uint32		row_lo;			/* rows that the block range leaves */
	uint32		row_hi;
	uint64		mask[HB_MASK_WORDS];	/* pages still to look at */
	uint32		page;			/* where it stands */
	uint64		selected[HB_PAGE_WORDS];	/* rows of it not returned yet */
	int			nselected;

	/* merging */
	MemoryContext key_cxt;
	HbSortKeys *keys;			/* by sort column */
	uint16	   *rows;			/* selected, in scan order */
	int			nrows_page;
	int			pos;
	int			first_pending;	/* rows[first_pending .. pos - 1] are in the
								 * batch but not materialized */
	uint16	   *outpos;			/* their places in the batch */
	bool		weighed;
	uint64	   *weights;		/* by rows, if weighed: bytes of large values */
} HbCursor;

#define HB_MAX_IDLE_CURSORS	16

struct HbMerge;

struct HbScan
{
	MemoryContext cxt;
	MemoryContext pred_cxt;
	MemoryContext batch_cxt;
	MemoryContext eval_cxt;

	HbTable    *table;
	Snapshot	snapshot;
	HbScanOrder order;
	int			ncolumns;
	int		   *columns;
	HbPred	   *pred;
	HbTree	   *tree;			/* NULL: to be compiled */
	HbValueType numeric_type;

	HbChunkSet *set;			/* the whole table */
	int64		floor;			/* blocks below are not seen */
	int64	   *max_last;		/* highest last_block of chunks 0..i, where
								 * they overlap; else NULL */
	HbDeriver  *deriver;

	int			ncursors;
	int			maxcursors;
	HbCursor  **cursors;
	uint64		clock;

	/* where the scan stands */
	bool		started;
	uint64	   *candidates;		/* bits of chunks worth opening; NULL: all */
	int			chunk_lo;		/* chunks still to visit, both included */
	int			chunk_hi;
	HbScanShare *share;			/* with other processes; NULL: none */
	uint32		share_parts;	/* of each chunk */
	uint32		part;			/* of the chunk it stands at: 0 the first */
	uint32		page_from;		/* the part's pages, page_to not included */
	uint32		page_to;
	HbCursor   *current;
	uint64		bulk_rows;		/* rows of a chunk that need no look */
	int			step;			/* rows that the next batch may have */
	struct HbMerge *merge;		/* active on a cluster of overlapping chunks */

	/* the batch */
	Datum	  **values;
	bool	  **isnull;
	int64	   *rowid;

	/* room for one page */
	uint16	   *rows_buf;
	uint16	   *outpos_buf;
	uint16	   *sub_buf;
	uint32	   *row_buf;
	int64	   *int_buf;
	uint32	   *length_buf;
	HbSlice    *slice_buf;
	Datum	   *datum_buf;
	bool	   *null_buf;

	HbScanStats stats;
};

/* Read through a cursor's reader; damage is an error that names the place. */
#define HB_READ(cur, call) \
	do { \
		if (unlikely(!(call))) \
			hb_chunk_damaged((cur)->chunk); \
	} while (0)

static inline bool
hb_slice_eq(HbSlice a, HbSlice b)
{
	return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

static inline bool
hb_slice_exotic(HbSlice s)
{
	return s.len > 0 && s.data[0] == 0xFF;
}

/* hb_compile.c */
extern HbTree *hb_tree_compile(HbScan *scan, const HbPred *pred);

/* hb_test.c: single values against a leaf */
extern void hb_slice_set_build(HbSliceSet *set, HbSlice *slices, int n);
extern bool hb_slice_set_has(const HbSliceSet *set, HbSlice value);
extern bool hb_leaf_test_int(const HbLeaf *leaf, int64 value);
extern bool hb_leaf_test_bytes(HbScan *scan, HbLeaf *leaf, HbSlice value);
extern bool hb_leaf_test_datum(HbScan *scan, HbLeaf *leaf, Datum value);

/* hb_bind.c */
extern HbVerdict hb_bind(HbCursor *cur, HbNode *node);
extern void hb_bind_pages(HbCursor *cur, HbNode *node, uint64 *mask);
extern HbVerdict hb_bind_ranges(HbCursor *cur, HbBound *b, HbRowRange *ranges, int n);

/* hb_derived.c */
extern HbVerdict hb_bind_derived(HbCursor *cur, HbNode *node, HbBound *b);

/* hb_select.c */
extern bool hb_select_next_page(HbCursor *cur);
extern void hb_select_rewind(HbCursor *cur);
extern int	hb_select_take(HbCursor *cur, int max, uint16 *rows);
extern int64 *hb_page_ints(HbCursor *cur, HbColumnState *cs, uint32 page);
extern uint32 *hb_page_codes(HbCursor *cur, HbColumnState *cs, uint32 page);
extern const uint64 *hb_page_nulls(HbCursor *cur, HbColumnState *cs, uint32 page);

/* hb_cursor.c */
extern HbCursor *hb_cursor_open(HbScan *scan, int index);
extern void hb_cursor_release(HbCursor *cur);
extern void hb_cursor_close_all(HbScan *scan);
extern HbColumnState *hb_cursor_column(HbCursor *cur, int column);
extern void hb_cursor_add_stats(const HbCursor *cur, HbReadStats *stats);

/* hb_batch.c */

/* Large values make a batch shorter: it stays near this many bytes. */
#define HB_BATCH_BYTES	(8 * 1024 * 1024)

extern void hb_batch_init(HbScan *scan);
extern bool hb_batch_weights(HbCursor *cur, const uint16 *rows, int n, uint64 *weights);
extern int	hb_batch_limit(HbCursor *cur, const uint16 *rows, int n);
extern void hb_batch_fill(HbCursor *cur, const uint16 *rows, int n, const uint16 *outpos);

/* hb_order.c */
extern struct HbMerge *hb_merge_begin(HbScan *scan, int from, int to);
extern int	hb_merge_next(struct HbMerge *merge, int max);
extern void hb_merge_end(struct HbMerge *merge);

/* hb_share.c */
extern void hb_share_start(HbScan *scan);
extern bool hb_share_take(HbScan *scan, int *index);

/* hb_scan.c */
extern HbDeriver *hb_scan_deriver(HbScan *scan);
extern bool hb_scan_touches(const HbScan *scan, int index);
extern bool hb_scan_rules_out(HbScan *scan, int index);
extern void hb_scan_count_range(HbScan *scan);
extern void hb_scan_ask_leaf(HbScan *scan, HbLeaf *leaf);

#endif							/* HB_SCAN_INT_H */
