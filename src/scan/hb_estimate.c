/*
 * hb_estimate.c
 *		What a scan of a block range would touch, for the planner.
 *
 * The chunk list answers alone: it is cached per backend, so that planning
 * costs no I/O.  Within a chunk rows are taken to be spread evenly over its
 * blocks.
 */
#include "postgres.h"

#include "scan/hb_scan.h"

/* The part of a chunk's blocks that lo..hi covers. */
static double
covered_part(const HbChunkRow *row, int64 lo, int64 hi)
{
	double		from;
	double		to;

	if (!row->has_blocks || (lo <= row->first_block && hi >= row->last_block))
		return 1.0;
	from = (double) Max(lo, row->first_block);
	to = (double) Min(hi, row->last_block);
	return (to - from + 1.0) /
		((double) row->last_block - (double) row->first_block + 1.0);
}

void
hb_scan_estimate(HbTable *table, Snapshot snapshot, int64 lo, int64 hi,
				 HbScanEstimate *estimate)
{
	HbChunkSet *set = hb_chunk_set(table, snapshot, PG_INT64_MIN, PG_INT64_MAX);
	int64		last = 0;
	bool		any = false;
	uint64		pending;
	uint64		bytes;

	memset(estimate, 0, sizeof(*estimate));
	estimate->chunks_total = set->nchunks;
	estimate->rows_total = set->total_rows;
	estimate->bytes_total = set->total_bytes;

	if (table->block_col >= 0)
		lo = Max(lo, HB_FLOOR(set));

	for (int i = 0; i < set->nchunks; i++)
	{
		const HbChunkRow *row = &set->chunks[i];
		double		part;

		if (row->has_blocks && row->first_block > hi)
			break;
		if (lo > hi || (row->has_blocks && row->last_block < lo))
			continue;
		part = covered_part(row, lo, hi);
		estimate->chunks++;
		estimate->rows += part * row->nrows;
		estimate->bytes += part * row->bytes;
		if (any && (!row->has_blocks || row->first_block <= last))
			estimate->overlaps = true;
		last = any ? Max(last, row->last_block) : row->last_block;
		any = true;
	}

	/* Rows of a running statement may be in any block, and in any order. */
	pending = hb_pending_count(table, snapshot, HB_ROWS_ALL, &bytes);
	if (pending > 0)
	{
		estimate->rows_total += pending;
		estimate->bytes_total += bytes;
		if (lo <= hi)
		{
			estimate->rows += pending;
			estimate->bytes += bytes;
			estimate->overlaps = estimate->overlaps || any;
		}
	}

	if (estimate->rows > 0)
		estimate->row_width = estimate->bytes / estimate->rows;
	else if (estimate->rows_total > 0)
		estimate->row_width = estimate->bytes_total / estimate->rows_total;

	hb_chunk_set_release(set);
}
