/*
 * hb_scan.c
 *		A scan: which chunks, in which order, batch by batch.
 *
 * The chunk set of the whole table is taken once and kept over rescans; the
 * block range that the predicate implies selects from it by binary search.
 * Without an order, and where chunks share no blocks, chunks are visited one
 * after another (from the last when descending) and a page's surviving rows
 * become batches; a cluster of chunks that share blocks is merged when an
 * order is asked for (hb_order.c).  Batches grow from a few rows to a whole
 * page, so that a LIMIT above costs little.
 *
 * Everything is in the scan's context.  The chunk set and open chunks are the
 * store's and go with hb_scan_end or the resource owner.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "scan/hb_scan_int.h"

bool		hb_enable_page_skipping = true;
bool		hb_enable_dictionary_filter = true;
bool		hb_enable_page_lists = true;
bool		hb_enable_hash_index = true;

/* Rows of the first batch, and how the next ones grow. */
#define HB_FIRST_BATCH	32
#define HB_BATCH_GROWTH	4

/* A lookup of at most so many hashes asks which chunks may have them. */
#define HB_CANDIDATE_VALUES	16

static void
init_set(HbScan *scan, HbRows rows)
{
	HbChunkSet *set = hb_chunk_set_rows(scan->table, scan->snapshot, PG_INT64_MIN,
										PG_INT64_MAX, rows);

	scan->set = set;
	scan->floor = HB_FLOOR(set);
	scan->stats.bytes_total = set->total_bytes;
	if (set->overlaps)
	{
		scan->max_last = MemoryContextAllocHuge(scan->cxt, sizeof(int64) *
												(Size) Max(set->nchunks, 1));
		for (int i = 0; i < set->nchunks; i++)
			scan->max_last[i] = i == 0 ? set->chunks[0].last_block :
				Max(scan->max_last[i - 1], set->chunks[i].last_block);
	}
}

HbScan *
hb_scan_begin(const HbScanSpec *spec)
{
	MemoryContext cxt = AllocSetContextCreate(CurrentMemoryContext,
											  "hotblocks scan",
											  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(cxt);
	HbScan	   *scan = palloc0(sizeof(HbScan));

	scan->cxt = cxt;
	scan->pred_cxt = AllocSetContextCreate(cxt, "hotblocks predicate",
										   ALLOCSET_SMALL_SIZES);
	scan->batch_cxt = AllocSetContextCreate(cxt, "hotblocks batch",
											ALLOCSET_DEFAULT_SIZES);
	scan->eval_cxt = AllocSetContextCreate(cxt, "hotblocks page",
										   ALLOCSET_SMALL_SIZES);
	scan->table = spec->table;
	scan->snapshot = spec->snapshot;
	scan->order = spec->table->nsort > 0 ? spec->order : HB_ORDER_NONE;
	scan->ncolumns = spec->ncolumns;
	scan->columns = palloc(sizeof(int) * Max(spec->ncolumns, 1));
	if (spec->ncolumns > 0)
		memcpy(scan->columns, spec->columns, sizeof(int) * spec->ncolumns);
	scan->pred = spec->pred;
	hb_value_type_init(&scan->numeric_type, NUMERICOID, -1, false, cxt);
	hb_batch_init(scan);
	init_set(scan, spec->rows);
	MemoryContextSwitchTo(old);
	return scan;
}

/* Asks for the rows of which a compiled leaf is true, instead of pred. */
void
hb_scan_ask_leaf(HbScan *scan, HbLeaf *leaf)
{
	MemoryContext old = MemoryContextSwitchTo(scan->pred_cxt);
	HbTree	   *tree = palloc0(sizeof(HbTree));
	HbNode	   *node = palloc0(sizeof(HbNode));

	node->kind = HB_NODE_LEAF;
	node->leaf = leaf;
	tree->root = node;
	tree->nnodes = 1;
	tree->lo = PG_INT64_MIN;
	tree->hi = PG_INT64_MAX;
	scan->tree = tree;
	MemoryContextSwitchTo(old);
}

HbDeriver *
hb_scan_deriver(HbScan *scan)
{
	if (scan->deriver == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(scan->cxt);

		scan->deriver = hb_deriver_begin(scan->table, scan->snapshot);
		MemoryContextSwitchTo(old);
	}
	return scan->deriver;
}

/* Can chunk `index` have rows in the blocks in question? */
bool
hb_scan_touches(const HbScan *scan, int index)
{
	const HbChunkRow *row = &scan->set->chunks[index];

	return !row->has_blocks ||
		(row->first_block <= scan->tree->hi &&
		 row->last_block >= Max(scan->tree->lo, scan->floor));
}

/* Highest last block of chunks 0 .. i. */
static inline int64
last_block_to(const HbScan *scan, int i)
{
	return scan->max_last != NULL ? scan->max_last[i] :
		scan->set->chunks[i].last_block;
}

/* Counts the chunk as skipped when it need not be opened. */
bool
hb_scan_rules_out(HbScan *scan, int index)
{
	if (!hb_scan_touches(scan, index))
	{
		if (scan->part == 0)
			scan->stats.chunks_skipped_range++;
		return true;
	}
	if (scan->candidates != NULL &&
		((scan->candidates[index / 64] >> (index % 64)) & 1) == 0)
	{
		if (scan->part == 0)
			scan->stats.chunks_skipped_hash++;
		return true;
	}
	return false;
}

/* The leaf that asks a hash-indexed column for a few values, if all must. */
static HbLeaf *
find_hash_leaf(HbScan *scan)
{
	HbNode	   *root = scan->tree->root;
	int			n = root->kind == HB_NODE_AND ? root->nchildren : 1;

	for (int i = 0; i < n; i++)
	{
		HbNode	   *node = root->kind == HB_NODE_AND ? root->children[i] : root;
		HbLeaf	   *leaf = node->leaf;

		if (node->kind == HB_NODE_LEAF && !leaf->is_null &&
			!leaf->negated && !leaf->exotic &&
			leaf->phys == HB_PHYS_BYTES && leaf->bytes.kind == HB_FORM_SET &&
			leaf->bytes.set.n <= HB_CANDIDATE_VALUES &&
			scan->table->columns[leaf->column].hash_index)
			return leaf;
	}
	return NULL;
}

/* Which chunks of chunk_lo .. chunk_hi are worth opening, if that is known. */
static void
find_candidates(HbScan *scan)
{
	HbLeaf	   *leaf;
	uint64	   *chunks;

	scan->candidates = NULL;
	if (!hb_enable_hash_index || scan->chunk_hi <= scan->chunk_lo)
		return;
	leaf = find_hash_leaf(scan);
	if (leaf == NULL)
		return;
	chunks = MemoryContextAllocZero(scan->pred_cxt,
									(scan->set->nchunks / 64 + 1) * sizeof(uint64));
	if (hb_chunk_set_candidates(scan->set, leaf->column, leaf->bytes.set.slices,
								leaf->bytes.set.n, chunks))
		scan->candidates = chunks;
}

/* Counts the chunks that the predicate's block range leaves out. */
void
hb_scan_count_range(HbScan *scan)
{
	scan->stats.chunks_total += scan->set->nchunks;
	scan->stats.chunks_skipped_range += scan->set->nchunks -
		(scan->chunk_hi + 1 - scan->chunk_lo);
}

/* Selects the chunks that the predicate's block range touches. */
static void
start(HbScan *scan)
{
	HbChunkSet *set = scan->set;
	HbTree	   *tree;
	int			lo = 0;
	int			hi = set->nchunks;

	if (scan->tree == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(scan->pred_cxt);

		scan->tree = hb_tree_compile(scan, scan->pred);
		MemoryContextSwitchTo(old);
	}
	tree = scan->tree;
	scan->started = true;
	scan->step = HB_FIRST_BATCH;
	scan->current = NULL;
	scan->bulk_rows = 0;
	scan->part = 0;
	scan->page_from = 0;
	scan->page_to = HB_MAX_PAGES;

	if (tree->root->kind == HB_NODE_NEVER)
		hi = 0;
	else if (scan->table->block_col >= 0)
	{
		int64		from = Max(tree->lo, scan->floor);
		int			end = set->nchunks;

		while (lo < end)
		{
			int			mid = (lo + end) / 2;

			if (last_block_to(scan, mid) < from)
				lo = mid + 1;
			else
				end = mid;
		}
		end = set->nchunks;
		hi = lo;
		while (hi < end)
		{
			int			mid = (hi + end) / 2;

			if (set->chunks[mid].first_block <= tree->hi)
				hi = mid + 1;
			else
				end = mid;
		}
	}
	scan->chunk_lo = lo;
	scan->chunk_hi = hi - 1;
	find_candidates(scan);
	if (scan->share != NULL)
		hb_share_start(scan);
	else
		hb_scan_count_range(scan);
}

static inline bool
chunks_overlap(const HbScan *scan, int i)
{
	/* does chunk i share a block with one before it? */
	const HbChunkRow *row = &scan->set->chunks[i];

	return !row->has_blocks || row->first_block <= last_block_to(scan, i - 1);
}

/*
 * When the next chunks to visit overlap and order matters: merges them.
 */
static bool
start_merge(HbScan *scan)
{
	int			from;
	int			to;

	if (scan->order == HB_ORDER_NONE || !scan->set->overlaps)
		return false;
	if (scan->order == HB_ORDER_ASC)
	{
		from = to = scan->chunk_lo;
		while (to < scan->chunk_hi && chunks_overlap(scan, to + 1))
			to++;
	}
	else
	{
		from = to = scan->chunk_hi;
		while (from > scan->chunk_lo && chunks_overlap(scan, from))
			from--;
	}
	if (from == to)
		return false;
	scan->merge = hb_merge_begin(scan, from, to);
	if (scan->order == HB_ORDER_ASC)
		scan->chunk_lo = to + 1;
	else
		scan->chunk_hi = from - 1;
	return true;
}

/* A chunk whose rows all pass, when no column is asked for. */
static bool
count_whole(HbScan *scan, int index)
{
	const HbChunkRow *row = &scan->set->chunks[index];
	const HbTree *tree = scan->tree;

	if (scan->ncolumns > 0 || !tree->range_only)
		return false;
	if (row->has_blocks &&
		(row->first_block < Max(tree->lo, scan->floor) ||
		 row->last_block > tree->hi))
		return false;
	scan->bulk_rows = Min(row->nrows, scan->page_to * HB_PAGE_ROWS) -
		Min(row->nrows, scan->page_from * HB_PAGE_ROWS);
	if (scan->part == 0)
		scan->stats.chunks_read++;
	return true;
}

/* Goes to the next chunk, or cluster of chunks; false at the end. */
static bool
next_chunk(HbScan *scan)
{
	while (scan->chunk_lo <= scan->chunk_hi)
	{
		int			index;

		CHECK_FOR_INTERRUPTS();
		if (scan->share != NULL)
		{
			if (!hb_share_take(scan, &index))
				return false;
		}
		else if (start_merge(scan))
			return true;
		else
			index = scan->order == HB_ORDER_DESC ?
				scan->chunk_hi-- : scan->chunk_lo++;
		if (hb_scan_rules_out(scan, index))
			continue;
		if (count_whole(scan, index))
			return true;
		scan->current = hb_cursor_open(scan, index);
		if (scan->current != NULL)
			return true;
	}
	return false;
}

/* Fills the batch from the current cursor's page. */
static int
batch_from_page(HbScan *scan, int max)
{
	HbCursor   *cur = scan->current;
	bool		descending = scan->order == HB_ORDER_DESC;
	const uint16 *outpos = NULL;
	uint16	   *rows = scan->rows_buf;
	int			n;
	int			limit;

	if (scan->ncolumns == 0)
	{
		n = Min(cur->nselected, max);
		if (n == cur->nselected)
			cur->nselected = 0;
		else
			n = hb_select_take(cur, n, rows);
		return n;
	}
	n = hb_select_take(cur, max, rows);
	limit = hb_batch_limit(cur, rows, n);
	if (limit < n)
	{
		/* give the rest back: the last ones in the scan's order */
		for (int i = limit; i < n; i++)
		{
			uint16		row = rows[descending ? n - 1 - i : i];

			cur->selected[row / 64] |= UINT64CONST(1) << (row % 64);
		}
		cur->nselected += n - limit;
		if (descending)
			rows += n - limit;
		n = limit;
	}
	if (descending)
	{
		for (int i = 0; i < n; i++)
			scan->outpos_buf[i] = n - 1 - i;
		outpos = scan->outpos_buf;
	}
	hb_batch_fill(cur, rows, n, outpos);
	return n;
}

/* The next batch's number of rows; 0 at the end of the scan. */
static int
next_rows(HbScan *scan)
{
	int			max = scan->ncolumns == 0 ? HB_PAGE_ROWS : scan->step;
	int			n;

	for (;;)
	{
		CHECK_FOR_INTERRUPTS();
		if (scan->bulk_rows > 0)
		{
			n = Min(scan->bulk_rows, HB_PAGE_ROWS);
			scan->bulk_rows -= n;
			return n;
		}
		if (scan->merge != NULL)
		{
			n = hb_merge_next(scan->merge, max);
			if (n > 0)
				return n;
			hb_merge_end(scan->merge);
			scan->merge = NULL;
		}
		else if (scan->current != NULL)
		{
			if (scan->current->nselected > 0 || hb_select_next_page(scan->current))
				return batch_from_page(scan, max);
			hb_cursor_release(scan->current);
			scan->current = NULL;
		}
		if (!next_chunk(scan))
			return 0;
	}
}

bool
hb_scan_next(HbScan *scan, HbBatch *batch)
{
	int			n;

	MemoryContextReset(scan->batch_cxt);
	if (!scan->started)
		start(scan);
	n = next_rows(scan);
	if (n == 0)
		return false;

	scan->step = Min(scan->step * HB_BATCH_GROWTH, HB_PAGE_ROWS);
	scan->stats.rows_returned += n;
	batch->nrows = n;
	batch->values = scan->values;
	batch->isnull = scan->isnull;
	batch->rowid = scan->rowid;
	return true;
}

/*
 * Starts again with another predicate (or the same).  Open chunks, decoded
 * pages and datums of dictionary entries are kept.
 */
void
hb_scan_rescan(HbScan *scan, HbPred *pred)
{
	if (scan->merge != NULL)
	{
		hb_merge_end(scan->merge);
		scan->merge = NULL;
	}
	if (scan->current != NULL)
	{
		hb_cursor_release(scan->current);
		scan->current = NULL;
	}
	MemoryContextReset(scan->pred_cxt);
	scan->pred = pred;
	scan->tree = NULL;
	scan->started = false;
}

void
hb_scan_stats(const HbScan *scan, HbScanStats *stats)
{
	*stats = scan->stats;
	for (int i = 0; i < scan->ncursors; i++)
	{
		if (scan->cursors[i]->index >= 0)
			hb_cursor_add_stats(scan->cursors[i], &stats->read);
	}
}

void
hb_scan_end(HbScan *scan)
{
	hb_cursor_close_all(scan);
	if (scan->deriver != NULL)
		hb_deriver_end(scan->deriver);
	hb_chunk_set_release(scan->set);
	MemoryContextDelete(scan->cxt);
}
