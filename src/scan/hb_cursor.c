/*
 * hb_cursor.c
 *		One chunk of a scan: opening it, binding the predicate, keeping it.
 *
 * A cursor that is done with its chunk stays open for a while, so that the
 * next rescan (a nested loop comes back to the same chunks thousands of
 * times) finds its decoded pages and datums again.  The oldest idle one of
 * HB_MAX_IDLE_CURSORS goes to the next chunk that is needed.  Chunks are
 * closed by hb_cursor_close_all, or by the resource owner on error.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "scan/hb_scan_int.h"

static HbCursor *
cursor_create(HbScan *scan)
{
	MemoryContext old = MemoryContextSwitchTo(scan->cxt);
	HbCursor   *cur = palloc0(sizeof(HbCursor));

	cur->scan = scan;
	cur->index = -1;
	cur->cxt = AllocSetContextCreate(scan->cxt, "hotblocks chunk",
									 ALLOCSET_SMALL_SIZES);
	cur->datum_cxt = AllocSetContextCreate(scan->cxt, "hotblocks chunk values",
										   ALLOCSET_SMALL_MINSIZE,
										   ALLOCSET_DEFAULT_INITSIZE,
										   ALLOCSET_DEFAULT_MAXSIZE);
	cur->columns = palloc0(sizeof(HbColumnState) * scan->table->ncolumns);
	if (scan->ncursors == scan->maxcursors)
	{
		scan->maxcursors = Max(scan->maxcursors * 2, HB_MAX_IDLE_CURSORS);
		if (scan->cursors == NULL)
			scan->cursors = palloc(sizeof(HbCursor *) * scan->maxcursors);
		else
			scan->cursors = repalloc(scan->cursors,
									 sizeof(HbCursor *) * scan->maxcursors);
	}
	scan->cursors[scan->ncursors++] = cur;
	MemoryContextSwitchTo(old);
	return cur;
}

/* Adds what the cursor's reader has read since it was opened here. */
void
hb_cursor_add_stats(const HbCursor *cur, HbReadStats *stats)
{
	HbReadStats now;

	hb_reader_stats(cur->reader, &now);
	for (int i = 0; i < HB_NPARTS; i++)
	{
		stats->reads[i] += now.reads[i] - cur->stats_at_open.reads[i];
		stats->bytes[i] += now.bytes[i] - cur->stats_at_open.bytes[i];
	}
}

static void
cursor_close(HbCursor *cur)
{
	if (cur->index < 0)
		return;
	hb_cursor_add_stats(cur, &cur->scan->stats.read);
	hb_chunk_close(cur->chunk);
	cur->index = -1;
	cur->chunk = NULL;
	cur->reader = NULL;
	for (int i = 0; i < cur->scan->table->ncolumns; i++)
	{
		cur->columns[i].resolved = false;
		cur->columns[i].datums.groups = NULL;
	}
	cur->datum_bytes = 0;
	MemoryContextReset(cur->datum_cxt);
}

void
hb_cursor_close_all(HbScan *scan)
{
	for (int i = 0; i < scan->ncursors; i++)
	{
		cursor_close(scan->cursors[i]);
		scan->cursors[i]->in_use = false;
	}
}

/* An idle cursor, at this chunk if there is one; else the oldest, closed. */
static HbCursor *
cursor_acquire(HbScan *scan, int index)
{
	HbCursor   *oldest = NULL;
	int			idle = 0;

	for (int i = 0; i < scan->ncursors; i++)
	{
		HbCursor   *cur = scan->cursors[i];

		if (cur->in_use)
			continue;
		if (cur->index == index)
			return cur;
		idle++;
		if (oldest == NULL || cur->last_used < oldest->last_used)
			oldest = cur;
	}
	if (oldest == NULL || (idle < HB_MAX_IDLE_CURSORS && oldest->index >= 0))
		return cursor_create(scan);
	cursor_close(oldest);
	return oldest;
}

HbColumnState *
hb_cursor_column(HbCursor *cur, int column)
{
	HbColumnState *cs = &cur->columns[column];

	if (unlikely(!cs->resolved))
	{
		cs->rcol = hb_reader_column(cur->reader,
									cur->scan->table->columns[column].number);
		cs->info = cs->rcol >= 0 ? hb_reader_info(cur->reader, cs->rcol) : NULL;
		cs->ints_page = HB_NO_PAGE;
		cs->codes_page = HB_NO_PAGE;
		cs->nulls_page = HB_NO_PAGE;
		cs->resolved = true;
	}
	return cs;
}

/*
 * Rows that the blocks in question, the retention floor and the chunk's own
 * bounds leave.  A fork narrows the bounds of a chunk that it cuts; its rows
 * are then more than the chunk row counts.
 */
static bool
find_rows(HbCursor *cur)
{
	HbScan	   *scan = cur->scan;
	HbTree	   *tree = scan->tree;
	const HbChunkRow *row = cur->chunk->row;
	int64		lo;
	int64		hi;

	cur->row_lo = 0;
	cur->row_hi = cur->nrows;
	if (!row->has_blocks)
		return cur->nrows > 0;

	lo = Max(Max(tree->lo, scan->floor), row->first_block);
	hi = Min(tree->hi, row->last_block);
	if (lo > hi)
		return false;
	if (tree->position != NULL && lo == hi)
		HB_READ(cur, hb_reader_position(cur->reader, lo, tree->position->ints.lo,
										&cur->row_lo, &cur->row_hi));
	else if (lo > row->first_block || hi < row->last_block ||
			 row->nrows != cur->nrows)
		HB_READ(cur, hb_reader_block_rows(cur->reader, lo, hi, &cur->row_lo,
										  &cur->row_hi));
	return cur->row_lo < cur->row_hi;
}

static void
count_skipped(HbScanStats *stats, HbSkip why)
{
	switch (why)
	{
		case HB_SKIP_NONE:
		case HB_SKIP_RANGE:
			stats->chunks_skipped_range++;
			break;
		case HB_SKIP_MINMAX:
			stats->chunks_skipped_minmax++;
			break;
		case HB_SKIP_DICTIONARY:
			stats->chunks_skipped_dictionary++;
			break;
		case HB_SKIP_HASH:
			stats->chunks_skipped_hash++;
			break;
	}
}

/*
 * A cursor at the chunk's first page to be looked at; NULL when no row of the
 * chunk can pass.  To be released.
 */
HbCursor *
hb_cursor_open(HbScan *scan, int index)
{
	HbCursor   *cur = cursor_acquire(scan, index);
	HbTree	   *tree = scan->tree;

	if (cur->index < 0)
	{
		cur->chunk = hb_chunk_open(scan->set, index);
		cur->reader = cur->chunk->reader;
		cur->index = index;
		hb_reader_stats(cur->reader, &cur->stats_at_open);
		cur->nrows = hb_reader_rows(cur->reader);
		cur->npages = hb_reader_pages(cur->reader);
		if (cur->npages > HB_MAX_PAGES)
			elog(ERROR, "chunk " INT64_FORMAT " has %u pages",
				 cur->chunk->row->chunk_id, cur->npages);
	}
	cur->in_use = true;
	cur->last_used = ++scan->clock;
	cur->tree = tree;
	cur->skip = HB_SKIP_NONE;
	MemoryContextReset(cur->cxt);
	if (cur->nbounds < tree->nnodes)
	{
		if (cur->bounds != NULL)
			pfree(cur->bounds);
		cur->bounds = MemoryContextAllocZero(scan->cxt,
											 sizeof(HbBound) * tree->nnodes);
		cur->nbounds = tree->nnodes;
	}

	if (!find_rows(cur) || hb_bind(cur, tree->root) == HB_IS_FALSE)
	{
		if (scan->part == 0)
			count_skipped(&scan->stats, cur->skip);
		hb_cursor_release(cur);
		return NULL;
	}
	if (scan->part == 0)
		scan->stats.chunks_read++;
	hb_select_rewind(cur);
	return cur;
}

void
hb_cursor_release(HbCursor *cur)
{
	cur->in_use = false;
}
