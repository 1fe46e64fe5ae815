/*
 * hb_derived.c
 *		Leaves on columns that a chunk leaves out.
 *
 * A column looked up by (block, index), such as a log's transaction hash:
 * equality finds the source's rows through their hash index, and their
 * positions become rows of the chunk.  A column looked up by block, such as a
 * log's timestamp: a scan of the source table gives runs of blocks.  A
 * coalescing column, and one with the first bytes of another: the same question
 * of its sources (the node's alt).  All
 * others, and whatever is not exact, have their values made for the rows that
 * the other leaves let pass.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "nodes/value.h"
#include "utils/memutils.h"

#include "scan/hb_scan_int.h"

#define COST_DERIVED		400.0

/* The source table's column, if it is of the same form as this one. */
static int
source_column(HbTable *table, const HbColumn *column, HbTable **source)
{
	int			col;

	*source = hb_table_open(table->dataset, NameStr(column->source_table), true);
	if (*source == NULL || list_length(column->source_columns) != 1)
		return -1;
	col = hb_table_column(*source, strVal(linitial(column->source_columns)));
	if (col < 0 || (*source)->columns[col].type != column->type ||
		(*source)->columns[col].wide != column->wide)
		return -1;
	return col;
}

/* Positions being collected. */
typedef struct Positions
{
	int			n;
	int			room;
	HbPosition *items;
} Positions;

static void
add_position(void *arg, int64 block, int64 index, bool has_index)
{
	Positions  *p = arg;

	if (p->n == p->room)
	{
		p->room *= 2;
		p->items = repalloc_huge(p->items, sizeof(HbPosition) * (Size) p->room);
	}
	p->items[p->n].block = block;
	p->items[p->n].index = has_index ? index : 0;
	p->items[p->n++].has_index = has_index;
}

static int
compare_positions(const void *a, const void *b)
{
	const HbPosition *x = a;
	const HbPosition *y = b;

	if (x->block != y->block)
		return x->block < y->block ? -1 : 1;
	if (x->has_index != y->has_index)
		return x->has_index ? 1 : -1;
	return (x->index > y->index) - (x->index < y->index);
}

/* Once per predicate: where the source has the values that a leaf wants. */
static void
find_positions(HbScan *scan, HbLeaf *leaf, HbTable *source, int col)
{
	MemoryContext old = MemoryContextSwitchTo(scan->pred_cxt);
	Positions	p = {0, 8, NULL};

	p.items = palloc(sizeof(HbPosition) * p.room);
	for (int i = 0; i < leaf->bytes.set.n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		hb_lookup_hash(source, scan->snapshot, col, leaf->bytes.set.slices[i],
					   add_position, &p);
	}
	qsort(p.items, p.n, sizeof(HbPosition), compare_positions);
	leaf->positions = p.items;
	leaf->npositions = p.n;
	leaf->have_positions = true;
	MemoryContextSwitchTo(old);
}

/*
 * Rows at the leaf's positions.  They are candidates: where the source has
 * two rows at one position, the deriver decides whose value counts.
 */
static HbVerdict
bind_positions(HbCursor *cur, HbLeaf *leaf, HbBound *b)
{
	const HbChunkRow *row = cur->chunk->row;
	HbRowRange *ranges;
	HbVerdict	verdict;
	int			from = 0;
	int			to = leaf->npositions;
	int			n = 0;

	while (from < to)
	{
		int			mid = (from + to) / 2;

		if (leaf->positions[mid].block < row->first_block)
			from = mid + 1;
		else
			to = mid;
	}
	for (to = from; to < leaf->npositions &&
		 leaf->positions[to].block <= row->last_block; to++)
		 /* count */ ;
	if (from == to)
	{
		cur->skip = HB_SKIP_HASH;
		return HB_IS_FALSE;
	}

	ranges = MemoryContextAlloc(cur->cxt, sizeof(HbRowRange) * (to - from));
	for (int i = from; i < to; i++)
	{
		const HbPosition *p = &leaf->positions[i];

		if (p->has_index)
			HB_READ(cur, hb_reader_position(cur->reader, p->block, p->index,
											&ranges[n].first, &ranges[n].last));
		else
			HB_READ(cur, hb_reader_block_rows(cur->reader, p->block, p->block,
											  &ranges[n].first, &ranges[n].last));
		if (ranges[n].first < ranges[n].last)
			n++;
	}
	verdict = hb_bind_ranges(cur, b, ranges, n);
	if (verdict == HB_IS_FALSE)
		cur->skip = HB_SKIP_HASH;
	return verdict;
}

/*
 * Once per predicate: the blocks whose row in the source table passes.  Exact
 * if each block has one row there.
 */
static void
find_runs(HbScan *scan, HbLeaf *leaf, HbTable *source, int col)
{
	MemoryContext old = MemoryContextSwitchTo(scan->pred_cxt);
	HbScanSpec	spec = {0};
	HbScan	   *inner;
	HbBatch		batch;
	HbLeaf	   *asked = palloc(sizeof(HbLeaf));
	int			room = 16;

	*asked = *leaf;
	asked->column = col;
	spec.table = source;
	spec.snapshot = scan->snapshot;
	spec.order = HB_ORDER_ASC;
	spec.ncolumns = 1;
	spec.columns = &source->block_col;
	spec.rows = HB_ROWS_SOURCE;
	inner = hb_scan_begin(&spec);
	hb_scan_ask_leaf(inner, asked);

	leaf->runs = palloc(sizeof(HbBlockRun) * room);
	leaf->nruns = 0;
	leaf->runs_exact = !inner->set->overlaps;
	leaf->nsources = inner->set->nchunks;
	leaf->sources = palloc_array(HbChunkRow, Max(leaf->nsources, 1));
	memcpy(leaf->sources, inner->set->chunks, leaf->nsources * sizeof(HbChunkRow));
	while (hb_scan_next(inner, &batch))
	{
		for (int i = 0; i < batch.nrows; i++)
		{
			int64		block = DatumGetInt64(batch.values[0][i]);
			HbBlockRun *run = &leaf->runs[Max(leaf->nruns - 1, 0)];

			if (leaf->nruns > 0 && block == run->hi)
				leaf->runs_exact = false;	/* two rows of one block */
			else if (leaf->nruns > 0 && block == run->hi + 1)
				run->hi = block;
			else
			{
				if (leaf->nruns == room)
				{
					room *= 2;
					leaf->runs = repalloc_huge(leaf->runs,
											   sizeof(HbBlockRun) * (Size) room);
				}
				leaf->runs[leaf->nruns].lo = block;
				leaf->runs[leaf->nruns++].hi = block;
			}
		}
	}
	hb_scan_end(inner);
	leaf->have_runs = true;
	MemoryContextSwitchTo(old);
}

/* Does the chunk derive from all of the source's rows of its blocks? */
static bool
derives_from_all(const HbLeaf *leaf, const HbChunkRow *row)
{
	int			lo = 0;
	int			hi = leaf->nsources;

	while (lo < hi)
	{
		int			mid = (lo + hi) / 2;

		if (leaf->sources[mid].last_block < row->first_block)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < leaf->nsources && leaf->sources[lo].first_block <= row->last_block; lo++)
	{
		if (!hb_chunk_counts(&leaf->sources[lo], row->batch))
			return false;
	}
	return true;
}

static HbVerdict
bind_runs(HbCursor *cur, HbLeaf *leaf, HbBound *b)
{
	const HbChunkRow *row = cur->chunk->row;
	HbRowRange *ranges;
	int			from = 0;
	int			to = leaf->nruns;
	int			n = 0;

	while (from < to)
	{
		int			mid = (from + to) / 2;

		if (leaf->runs[mid].hi < row->first_block)
			from = mid + 1;
		else
			to = mid;
	}
	for (to = from; to < leaf->nruns && leaf->runs[to].lo <= row->last_block; to++)
		 /* count */ ;
	if (from == to)
	{
		cur->skip = HB_SKIP_RANGE;
		return HB_IS_FALSE;
	}
	ranges = MemoryContextAlloc(cur->cxt, sizeof(HbRowRange) * (to - from));
	for (int i = from; i < to; i++)
	{
		if (leaf->runs[i].lo <= row->first_block &&
			leaf->runs[i].hi >= row->last_block)
		{
			ranges[n].first = 0;
			ranges[n].last = cur->nrows;
		}
		else
			HB_READ(cur, hb_reader_block_rows(cur->reader, leaf->runs[i].lo,
											  leaf->runs[i].hi,
											  &ranges[n].first, &ranges[n].last));
		if (ranges[n].first < ranges[n].last)
			n++;
	}
	return hb_bind_ranges(cur, b, ranges, n);
}

/* The verdict of a leaf on a column that the cursor's chunk leaves out. */
HbVerdict
hb_bind_derived(HbCursor *cur, HbNode *node, HbBound *b)
{
	HbScan	   *scan = cur->scan;
	HbLeaf	   *leaf = node->leaf;
	HbColumn   *column = &scan->table->columns[leaf->column];
	HbColumnState *cs = hb_cursor_column(cur, leaf->column);
	HbDerive	code = (HbDerive) cs->info->derive_code;
	bool		exact = false;
	HbVerdict	verdict = HB_IS_TEST;
	HbTable    *source;
	int			col;

	if ((code == HB_DERIVE_COALESCE || code == HB_DERIVE_PREFIX4) &&
		node->alt != NULL)
	{
		b->alt = node->alt;
		verdict = hb_bind(cur, node->alt);
		b->rank = cur->bounds[node->alt->id].rank;
		return verdict;
	}

	if (code == HB_DERIVE_LOOKUP_ITEM && hb_enable_hash_index &&
		!leaf->is_null && !leaf->negated && leaf->phys == HB_PHYS_BYTES && !leaf->exotic &&
		leaf->bytes.kind == HB_FORM_SET)
	{
		col = source_column(scan->table, column, &source);
		if (col >= 0 && source->columns[col].hash_index)
		{
			if (!leaf->have_positions)
				find_positions(scan, leaf, source, col);
			verdict = bind_positions(cur, leaf, b);
		}
	}
	else if (code == HB_DERIVE_LOOKUP_BLOCK && hb_enable_page_skipping &&
			 !leaf->is_null)
	{
		col = source_column(scan->table, column, &source);
		if (col >= 0 && source->block_col >= 0 && source != scan->table)
		{
			if (!leaf->have_runs)
				find_runs(scan, leaf, source, col);
			verdict = bind_runs(cur, leaf, b);
			exact = leaf->runs_exact && derives_from_all(leaf, cur->chunk->row);
		}
	}

	if (verdict == HB_IS_FALSE || exact)
		return verdict;
	b->test = HB_BOUND_DERIVED;
	b->rank = COST_DERIVED;
	return HB_IS_TEST;
}
