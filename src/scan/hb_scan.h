/*
 * hb_scan.h
 *		Scanning a table's chunks: predicates on encoded data, selection,
 *		order, late materialization.
 *
 * A predicate is a tree over columns (HbTable.columns indexes) and constants,
 * evaluated exactly (three-valued logic: a row passes when it is true), so
 * the executor need not check it again.  The scan looks first at the block
 * range it implies, then at page bounds, dictionaries, page lists and hash
 * indexes, then compares encoded values, and reads output columns only for
 * the rows that remain.
 */
#ifndef HB_SCAN_H
#define HB_SCAN_H

#include "postgres.h"

#include "port/atomics.h"
#include "storage/spin.h"

#include "store/hb_store.h"

typedef enum HbPredKind
{
	HB_PRED_AND,
	HB_PRED_OR,
	HB_PRED_CMP,				/* column op value */
	HB_PRED_IN,					/* column = any of values (nulls removed);
								 * negated: column is not null and none */
	HB_PRED_IS_NULL,
	HB_PRED_IS_NOT_NULL,
	HB_PRED_BOOL,				/* boolean column is true / false by op EQ value */
	HB_PRED_NEVER,				/* false or null for every row */
	HB_PRED_ALWAYS
} HbPredKind;

typedef enum HbCmpOp
{
	HB_LT, HB_LE, HB_EQ, HB_GE, HB_GT, HB_NE
} HbCmpOp;

/*
 * Values are datums of value_type: the column's stored type, or, for integer
 * columns, any of int2, int4, int8, and for numeric (and wide int8) columns
 * also any of these and numeric.  Comparisons that pass through are: integers
 * and timestamps; numeric; bytea by bytes; text = and <> for deterministic
 * collations, order only for C; bool; uuid; date.
 */
typedef struct HbPred
{
	HbPredKind	kind;
	int			column;
	HbCmpOp		op;
	Oid			value_type;
	bool		negated;		/* IN */
	bool		of_length;		/* CMP, IN: of the length in bytes of a value
								 * that is stored as bytes; values are integers */
	int			nvalues;
	Datum	   *values;
	int			nchildren;
	struct HbPred **children;
} HbPred;

/* Can the scan evaluate `column op constant of value_type` with collation? */
extern bool hb_pred_supported(const HbTable *table, int column, HbCmpOp op,
							  Oid value_type, Oid collation);

/*
 * The closed block range that a predicate implies, from bounds on the block
 * column; false if it can match nothing.  Full range if it implies none.
 */
extern bool hb_pred_block_range(const HbTable *table, const HbPred *pred,
								int64 *lo, int64 *hi);

/*
 * The retention floor: 0 is none, since a table without a chain may have
 * negative block numbers.
 */
#define HB_FLOOR(set) \
	((set)->floor_block > 0 ? (set)->floor_block : PG_INT64_MIN)

typedef enum HbScanOrder
{
	HB_ORDER_NONE,
	HB_ORDER_ASC,				/* by the table's sort key */
	HB_ORDER_DESC				/* exactly the reverse */
} HbScanOrder;

/*
 * What a scan is asked for.  columns: indexes of the columns to return, in
 * the order of the batch's arrays.  pred may be NULL.
 */
typedef struct HbScanSpec
{
	HbTable    *table;
	Snapshot	snapshot;
	HbScanOrder order;
	int			ncolumns;
	const int  *columns;
	HbPred	   *pred;
	HbRows		rows;			/* 0: stored ones */
} HbScanSpec;

/*
 * A batch of at most HB_PAGE_ROWS rows.  values[c][r], isnull[c][r] for the
 * c-th requested column; memory belongs to the scan until the next call.
 */
typedef struct HbBatch
{
	int			nrows;
	Datum	  **values;
	bool	  **isnull;
	int64	   *rowid;			/* unused for now: 0 */
} HbBatch;

/* Counters for EXPLAIN (ANALYZE); cumulative over rescans. */
typedef struct HbScanStats
{
	uint64		chunks_total;		/* chunks of the table in the snapshot */
	uint64		chunks_read;
	uint64		chunks_skipped_range;	/* by block range */
	uint64		chunks_skipped_minmax;
	uint64		chunks_skipped_dictionary;
	uint64		chunks_skipped_hash;
	uint64		pages_total;		/* pages of the chunks read */
	uint64		pages_read;
	uint64		pages_skipped_range;
	uint64		pages_skipped_minmax;
	uint64		pages_skipped_list;	/* page lists, hash positions */
	uint64		pages_skipped_filter;	/* looked at, no row remained */
	uint64		rows_tested;
	uint64		rows_returned;
	uint64		values_decoded;		/* output values materialized */
	uint64		bytes_total;		/* of the chunks in the snapshot */
	HbReadStats read;				/* bytes by part */
} HbScanStats;

typedef struct HbScan HbScan;

/*
 * begin allocates in the current memory context, which must outlive the scan
 * and owns everything it holds.  A predicate, with its values, must live until
 * the scan ends or is given another.  Chunk sets and open chunks are released by
 * end, and by the resource owner on error.  next returns false at the end.
 * Checks for interrupts at every page.
 */
extern HbScan *hb_scan_begin(const HbScanSpec *spec);
extern bool hb_scan_next(HbScan *scan, HbBatch *batch);
extern void hb_scan_rescan(HbScan *scan, HbPred *pred);
extern void hb_scan_stats(const HbScan *scan, HbScanStats *stats);
extern void hb_scan_stats_add(HbScanStats *sum, const HbScanStats *stats);
extern void hb_scan_end(HbScan *scan);

/*
 * Processes that run the same scan, without order, under the same snapshot and
 * with the same predicate, may share its work: each row comes to one of them.
 * They take parts from a common counter in shared memory; a part is a chunk,
 * or, where there are few chunks, some pages of one.
 *
 * hb_scan_share_init prepares the shared state for another (re)scan, while no
 * process uses it.  hb_scan_share makes a scan that is at its beginning take
 * part (NULL: read everything itself).  A chunk counts in the statistics of
 * the process that took its first part, so that their sum is that of a scan
 * that is not shared.
 */
typedef struct HbScanShare
{
	slock_t		mutex;			/* of the fields up to next */
	bool		begun;			/* the fields below are set */
	uint32		parts;			/* of each chunk */
	int			nchunks;		/* of the set that all must have */
	uint64		chunk_ids;		/* their sum */
	pg_atomic_uint64 next;		/* part to be taken next */
} HbScanShare;

/* Of how many parts can there be, of rows in chunks? */
extern double hb_scan_share_parts(double chunks, double rows);
extern void hb_scan_share_init(HbScanShare *share);
extern void hb_scan_share(HbScan *scan, HbScanShare *share);

/*
 * For the planner: what a scan of blocks lo..hi touches, from the chunk list
 * alone (no chunk is opened).  Chunks that the range cuts count with the part
 * of their blocks that it covers, so rows is exact where it cuts none.
 */
typedef struct HbScanEstimate
{
	int64		chunks;			/* that blocks lo..hi touch */
	double		rows;
	double		bytes;			/* stored, directories included */
	double		row_width;		/* stored bytes of a row of these chunks */
	bool		overlaps;		/* two of them share a block (or there are no
								 * blocks): an ordered scan merges */
	int64		chunks_total;	/* the whole table */
	double		rows_total;
	double		bytes_total;
} HbScanEstimate;

extern void hb_scan_estimate(HbTable *table, Snapshot snapshot, int64 lo, int64 hi,
							 HbScanEstimate *estimate);

/*
 * Switches (GUCs): each turns one way of skipping off, for comparison; results
 * are the same.
 */
extern bool hb_enable_page_skipping;	/* hotblocks.enable_page_skipping */
extern bool hb_enable_dictionary_filter;	/* hotblocks.enable_dictionary_filter */
extern bool hb_enable_page_lists;	/* hotblocks.enable_page_lists */
extern bool hb_enable_hash_index;	/* hotblocks.enable_hash_index */

#endif							/* HB_SCAN_H */
