/*
 * hb_share.c
 *		Several processes at one scan.
 *
 * All of them have the same chunk set, since they have the same snapshot; the
 * shared counter runs over its chunks, times the parts that each is cut into.
 * The places of parts depend on nothing but the set and that number, which
 * whoever comes first decides: so each row belongs to one part whatever else
 * the processes may think of the predicate.  That the sets are the same is
 * checked.
 *
 * A part is bound to the predicate and counted like its whole chunk, only
 * the pages outside are not looked at (hb_select_rewind).  Parts are worth the
 * repeated opening while there are too few chunks to go round.
 */
#include "postgres.h"

#include "scan/hb_scan_int.h"

/* As many parts as leave nobody waiting long for the last one. */
#define HB_SHARE_PARTS		32

/* Pages below which a part is not worth the opening of its chunk. */
#define HB_SHARE_MIN_PAGES	16

static uint32
parts_of_chunk(int nchunks)
{
	int			parts = (HB_SHARE_PARTS + nchunks - 1) / Max(nchunks, 1);

	return Max(1, Min(parts, HB_MAX_PAGES / HB_SHARE_MIN_PAGES));
}

double
hb_scan_share_parts(double chunks, double rows)
{
	return Max(chunks, Min((double) HB_SHARE_PARTS,
						   rows / (HB_SHARE_MIN_PAGES * HB_PAGE_ROWS)));
}

void
hb_scan_share_init(HbScanShare *share)
{
	memset(share, 0, sizeof(*share));
	SpinLockInit(&share->mutex);
	pg_atomic_init_u64(&share->next, 0);
}

void
hb_scan_share(HbScan *scan, HbScanShare *share)
{
	Assert(!scan->started);
	Assert(share == NULL || scan->order == HB_ORDER_NONE);
	scan->share = share;
}

/* The (re)scan begins: agrees with the others on the parts. */
void
hb_share_start(HbScan *scan)
{
	HbScanShare *share = scan->share;
	HbChunkSet *set = scan->set;
	uint32		parts = parts_of_chunk(scan->chunk_hi - scan->chunk_lo + 1);
	uint64		chunk_ids = 0;
	bool		first;
	bool		same;

	for (int i = 0; i < set->nchunks; i++)
		chunk_ids += set->chunks[i].chunk_id;

	SpinLockAcquire(&share->mutex);
	first = !share->begun;
	if (first)
	{
		share->begun = true;
		share->parts = parts;
		share->nchunks = set->nchunks;
		share->chunk_ids = chunk_ids;
	}
	parts = share->parts;
	same = share->nchunks == set->nchunks && share->chunk_ids == chunk_ids;
	SpinLockRelease(&share->mutex);

	if (!same)
		elog(ERROR, "parallel scan of table \"%s\" has another set of chunks",
			 NameStr(scan->table->name));
	scan->share_parts = parts;
	if (first)
		hb_scan_count_range(scan);
}

/* The pages of a part; false if it has none. */
static bool
set_part(HbScan *scan, int index, uint32 part)
{
	uint32		pages = (scan->set->chunks[index].nrows + HB_PAGE_ROWS - 1) /
		HB_PAGE_ROWS;
	uint32		step = Max((pages + scan->share_parts - 1) / scan->share_parts,
						   HB_SHARE_MIN_PAGES);

	scan->part = part;
	scan->page_from = part * step;
	scan->page_to = (part + 1) * step >= pages ? HB_MAX_PAGES :
		(part + 1) * step;
	return part == 0 || scan->page_from < pages;
}

/*
 * Takes the next part that has rows of the blocks in question: its chunk goes
 * to *index, its pages to the scan.  False when all are taken.
 */
bool
hb_share_take(HbScan *scan, int *index)
{
	int			nchunks = scan->set->nchunks;
	uint64		end = (uint64) nchunks * scan->share_parts;

	for (;;)
	{
		uint64		next = pg_atomic_fetch_add_u64(&scan->share->next, 1);
		uint32		part = next % scan->share_parts;
		int			chunk;

		if (next >= end)
			return false;
		chunk = (int) (next / scan->share_parts);
		if (chunk < scan->chunk_lo || chunk > scan->chunk_hi)
			continue;
		if (!set_part(scan, chunk, part))
			continue;
		*index = chunk;
		return true;
	}
}

void
hb_scan_stats_add(HbScanStats *sum, const HbScanStats *stats)
{
	sum->chunks_total += stats->chunks_total;
	sum->chunks_read += stats->chunks_read;
	sum->chunks_skipped_range += stats->chunks_skipped_range;
	sum->chunks_skipped_minmax += stats->chunks_skipped_minmax;
	sum->chunks_skipped_dictionary += stats->chunks_skipped_dictionary;
	sum->chunks_skipped_hash += stats->chunks_skipped_hash;
	sum->pages_total += stats->pages_total;
	sum->pages_read += stats->pages_read;
	sum->pages_skipped_range += stats->pages_skipped_range;
	sum->pages_skipped_minmax += stats->pages_skipped_minmax;
	sum->pages_skipped_list += stats->pages_skipped_list;
	sum->pages_skipped_filter += stats->pages_skipped_filter;
	sum->rows_tested += stats->rows_tested;
	sum->rows_returned += stats->rows_returned;
	sum->values_decoded += stats->values_decoded;
	sum->bytes_total = Max(sum->bytes_total, stats->bytes_total);
	for (int i = 0; i < HB_NPARTS; i++)
	{
		sum->read.reads[i] += stats->read.reads[i];
		sum->read.bytes[i] += stats->read.bytes[i];
	}
}
