/*
 * hb_analyze.c
 *		ANALYZE: a sample of a table's rows.
 *
 * A small table is read whole.  Of a large one, runs of blocks are read that
 * hold about a page of rows each: every chunk is cut into strata in proportion
 * to its rows, and a run is taken at a random place of each stratum, so that
 * runs never share a block and come in block order.  From what is read, a
 * reservoir keeps the rows of the sample, each with equal chance.
 *
 * Core derives the correlation of a column with the order of storage from the
 * order in which it gets the rows, so they are put back into it at the end.
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "commands/vacuum.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/memutils.h"
#include "utils/sampling.h"
#include "utils/snapmgr.h"

#include "compat.h"
#include "fdw/hb_fdw.h"

#define HB_ANALYZE_RUNS			1000	/* runs of blocks to read */
#define HB_ANALYZE_WHOLE_ROWS	(2 * HB_ANALYZE_RUNS * HB_PAGE_ROWS)

typedef struct SampleRow
{
	HeapTuple	tuple;
	uint64		seq;			/* place among the rows that were read */
} SampleRow;

typedef struct Sample
{
	HbForeign  *foreign;
	TupleDesc	desc;
	int			natts;			/* attributes that are stored */
	int		   *attnums;
	int		   *columns;
	Datum	   *values;			/* of a row, by attribute */
	bool	   *isnull;
	SampleRow  *rows;
	int			nrows;
	int			target;
	uint64		seen;			/* rows read */
	double		to_skip;		/* before the next goes in; -1: not yet known */
	ReservoirStateData reservoir;
	MemoryContext cxt;			/* owns the tuples */
	MemoryContext batch_cxt;	/* values of the batch that were converted */
} Sample;

static void
sample_init(Sample *sample, Relation relation, int target)
{
	memset(sample, 0, sizeof(Sample));
	sample->foreign = hb_foreign_open(relation, ACL_SELECT);
	sample->desc = RelationGetDescr(relation);
	sample->target = target;
	sample->to_skip = -1;
	sample->cxt = CurrentMemoryContext;
	sample->rows = palloc(sizeof(SampleRow) * Max(target, 1));
	sample->attnums = palloc(sizeof(int) * Max(sample->desc->natts, 1));
	sample->columns = palloc(sizeof(int) * Max(sample->desc->natts, 1));
	sample->values = palloc0(sizeof(Datum) * Max(sample->desc->natts, 1));
	sample->isnull = palloc(sizeof(bool) * Max(sample->desc->natts, 1));
	memset(sample->isnull, true, sizeof(bool) * sample->desc->natts);
	for (int i = 0; i < sample->desc->natts; i++)
	{
		if (sample->foreign->columns[i] < 0)
			continue;
		sample->attnums[sample->natts] = i + 1;
		sample->columns[sample->natts] = sample->foreign->columns[i];
		sample->natts++;
	}
	reservoir_init_selection_state(&sample->reservoir, Max(target, 1));
}

/* Puts a row of a batch into a place of the sample. */
static void
sample_put(Sample *sample, int place, const HbBatch *batch, int row)
{
	MemoryContext old;

	for (int c = 0; c < sample->natts; c++)
	{
		sample->values[sample->attnums[c] - 1] = batch->values[c][row];
		sample->isnull[sample->attnums[c] - 1] = batch->isnull[c][row];
	}
	if (place < sample->nrows)
		heap_freetuple(sample->rows[place].tuple);
	else
		sample->nrows++;
	old = MemoryContextSwitchTo(sample->cxt);
	sample->rows[place].tuple = heap_form_tuple(sample->desc, sample->values,
												sample->isnull);
	sample->rows[place].seq = sample->seen;
	MemoryContextSwitchTo(old);
}

/* Vitter's algorithm, as core samples the rows of a heap. */
static void
sample_batch(Sample *sample, HbBatch *batch)
{
	MemoryContextReset(sample->batch_cxt);
	hb_spell_batch(sample->foreign, sample->natts, sample->attnums, batch,
				   sample->batch_cxt);
	for (int row = 0; row < batch->nrows; row++)
	{
		if (sample->nrows < sample->target)
			sample_put(sample, sample->nrows, batch, row);
		else
		{
			if (sample->to_skip < 0)
				sample->to_skip = reservoir_get_next_S(&sample->reservoir,
													   (double) sample->seen,
													   sample->target);
			if (sample->to_skip <= 0)
				sample_put(sample,
						   (int) (sample->target *
								  sampler_random_fract(&sample->reservoir.randstate)),
						   batch, row);
			sample->to_skip -= 1;
		}
		sample->seen++;
	}
}

static void
read_all(Sample *sample, HbScan *scan)
{
	HbBatch		batch;

	while (hb_scan_next(scan, &batch))
	{
		hb_vacuum_delay_point();
		sample_batch(sample, &batch);
	}
}

/* block >= lo AND block <= hi */
static HbPred *
block_range_pred(const HbTable *table, int64 lo, int64 hi)
{
	HbPred	   *pred = palloc0(sizeof(HbPred));

	pred->kind = HB_PRED_AND;
	pred->column = -1;
	pred->nchildren = 2;
	pred->children = palloc(sizeof(HbPred *) * 2);
	for (int i = 0; i < 2; i++)
	{
		HbPred	   *bound = palloc0(sizeof(HbPred));

		bound->kind = HB_PRED_CMP;
		bound->column = table->block_col;
		bound->op = i == 0 ? HB_GE : HB_LE;
		bound->value_type = INT8OID;
		bound->nvalues = 1;
		bound->values = palloc(sizeof(Datum));
		bound->values[0] = Int64GetDatum(i == 0 ? lo : hi);
		pred->children[i] = bound;
	}
	return pred;
}

/* The block that many after the chunk's first, at most its last. */
static int64
block_after(const HbChunkRow *chunk, double distance)
{
	uint64		range = (uint64) chunk->last_block - (uint64) chunk->first_block;

	if (distance >= (double) range)
		return chunk->last_block;
	return (int64) ((uint64) chunk->first_block + (uint64) distance);
}

/*
 * The runs of one chunk.  A stratum is at least as long as the run in it, so
 * that the runs together are what HB_ANALYZE_RUNS promises.
 */
static void
read_runs(Sample *sample, HbScan *scan, const HbChunkRow *chunk,
		  double rows_per_run)
{
	double		blocks = (double) chunk->last_block - chunk->first_block + 1;
	int			strata = (int) Max(1, rint(chunk->nrows / rows_per_run));
	double		stratum;
	double		length;
	MemoryContext cxt;
	MemoryContext old;

	strata = (int) Min(strata, blocks);
	stratum = blocks / strata;
	length = Max(1.0, floor(blocks * HB_PAGE_ROWS / chunk->nrows));
	length = Min(length, Max(1.0, floor(stratum)));

	cxt = AllocSetContextCreate(CurrentMemoryContext, "hotblocks analyze run",
								ALLOCSET_SMALL_SIZES);
	old = MemoryContextSwitchTo(cxt);
	for (int i = 0; i < strata; i++)
	{
		double		room = Max(floor(stratum) - length, 0.0);
		double		from = floor(stratum * i) +
			floor((room + 1) *
				  sampler_random_fract(&sample->reservoir.randstate));
		int64		lo = block_after(chunk, from);
		int64		hi = block_after(chunk, from + length - 1);

		hb_scan_rescan(scan, block_range_pred(sample->foreign->table, lo, hi));
		read_all(sample, scan);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(cxt);
}

static int
compare_rows(const void *a, const void *b)
{
	uint64		x = ((const SampleRow *) a)->seq;
	uint64		y = ((const SampleRow *) b)->seq;

	return (x > y) - (x < y);
}

static int
acquire_sample(Relation relation, int elevel, HeapTuple *rows, int targrows,
			   double *totalrows, double *totaldeadrows)
{
	Sample		sample;
	HbTable    *table;
	HbChunkSet *set;
	HbScanSpec	spec;
	HbScan	   *scan;
	MemoryContext cxt;
	MemoryContext old;
	int64		next;

	*totalrows = 0;
	*totaldeadrows = 0;
	sample_init(&sample, relation, targrows);
	table = sample.foreign->table;
	if (table == NULL)
		return 0;

	cxt = AllocSetContextCreate(CurrentMemoryContext, "hotblocks analyze",
								ALLOCSET_DEFAULT_SIZES);
	sample.batch_cxt = AllocSetContextCreate(cxt, "hotblocks analyze spelling",
											 ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(cxt);
	set = hb_chunk_set_rows(table, GetActiveSnapshot(), PG_INT64_MIN, PG_INT64_MAX,
							HB_ROWS_ALL);
	memset(&spec, 0, sizeof(spec));
	spec.table = table;
	spec.snapshot = GetActiveSnapshot();
	spec.order = HB_ORDER_NONE;
	spec.ncolumns = sample.natts;
	spec.columns = sample.columns;
	spec.rows = HB_ROWS_ALL;
	scan = hb_scan_begin(&spec);
	if (table->block_col < 0 || set->total_rows <= HB_ANALYZE_WHOLE_ROWS)
		read_all(&sample, scan);
	else
	{
		next = HB_FLOOR(set);
		for (int i = 0; i < set->nchunks; i++)
		{
			HbChunkRow	chunk = set->chunks[i];

			/* A run sees all chunks; what an earlier one had is not read again. */
			chunk.first_block = Max(chunk.first_block, next);
			if (chunk.first_block > chunk.last_block)
				continue;
			read_runs(&sample, scan, &chunk,
					  (double) set->total_rows / HB_ANALYZE_RUNS);
			if (chunk.last_block == PG_INT64_MAX)
				break;
			next = chunk.last_block + 1;
		}
	}
	*totalrows = set->total_rows;
	hb_scan_end(scan);
	hb_chunk_set_release(set);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(cxt);

	qsort(sample.rows, sample.nrows, sizeof(SampleRow), compare_rows);
	for (int i = 0; i < sample.nrows; i++)
		rows[i] = sample.rows[i].tuple;
	ereport(elevel,
			(errmsg("\"%s\": read %llu of %.0f rows; %d rows in sample",
					RelationGetRelationName(relation),
					(unsigned long long) sample.seen, *totalrows,
					sample.nrows)));
	return sample.nrows;
}

bool
hotblocksAnalyzeForeignTable(Relation relation, AcquireSampleRowsFunc *func,
							 BlockNumber *totalpages)
{
	HbForeign  *foreign = hb_foreign_open(relation, ACL_SELECT);
	double		pages = 1;

	if (foreign->feed)
		return false;
	if (foreign->table != NULL)
	{
		HbChunkSet *set = hb_chunk_set(foreign->table, GetActiveSnapshot(),
									   PG_INT64_MIN, PG_INT64_MAX);

		pages = ceil((double) set->total_bytes / BLCKSZ);
		hb_chunk_set_release(set);
	}
	*func = acquire_sample;
	*totalpages = (BlockNumber) Min(Max(pages, 1), MaxBlockNumber);
	return true;
}
