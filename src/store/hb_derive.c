/*
 * hb_derive.c
 *		Derived columns: values that a chunk leaves out because they follow
 *		from others.
 *
 * hb_compare decides when a chunk is written: a column is left out when for
 * each of its rows the value is what the reader will compute, from the chunks
 * that the writer sees (which every later reader of the new chunk sees too)
 * and that every reader will look at (hb_settle.c).
 * For values of other tables' rows each row must have a source row: a missing
 * one might come later.
 *
 * HbDeriver computes them for a scan.
 */
#include "postgres.h"

#include "codec/hb_hex.h"
#include "compat.h"
#include "store/hb_store_int.h"

#include "miscadmin.h"
#include "nodes/value.h"
#include "utils/memutils.h"

#define HB_DERIVE_MAX_SOURCES 8

/* How one column is derived: made when it is first asked for. */
typedef struct HbDerivePlan
{
	bool		ready;
	bool		possible;
	int			nsources;		/* of the same row */
	int			sources[HB_DERIVE_MAX_SOURCES];
	HbLookup   *lookup;
	HbBloomLookup *bloom;
} HbDerivePlan;

struct HbDeriver
{
	HbTable    *table;
	Snapshot	snapshot;
	MemoryContext cxt;
	MemoryContext batch_cxt;	/* reset for each call */
	HbDerivePlan *plans;		/* by column */
};

struct HbComparer
{
	HbDeriver  *deriver;
	int64		batch;
};

static inline bool
hb_derive_by_item(HbDerive derive)
{
	return derive == HB_DERIVE_LOOKUP_ITEM || derive == HB_DERIVE_BLOOM_ITEM;
}

static void
hb_derive_plan_lookup(HbDeriver *d, HbColumn *column, HbDerivePlan *plan)
{
	bool		by_item = hb_derive_by_item(column->derive);
	HbTable    *source;
	int			col;

	source = hb_table_open(d->table->dataset, NameStr(column->source_table), true);
	if (source == NULL || source->block_col < 0 || d->table->block_col < 0)
		return;
	if (by_item && (source->nsort < 2 || d->table->nsort < 2))
		return;
	if (column->derive == HB_DERIVE_BLOOM_BLOCK || column->derive == HB_DERIVE_BLOOM_ITEM)
	{
		if (column->value.class != HB_VALUE_VARLENA)
			return;
		plan->bloom = hb_bloom_begin(source, column->source_columns, by_item, d->snapshot);
		plan->possible = true;
		return;
	}
	col = hb_table_column(source, strVal(linitial(column->source_columns)));
	if (col < 0 || source->columns[col].value.class != column->value.class ||
		source->columns[col].value.type != column->value.type)
		return;
	plan->lookup = hb_lookup_begin(source, col, by_item, d->snapshot);
	plan->possible = true;
}

/* Columns of the same row: each must be stored itself, and be of the right kind. */
static void
hb_derive_plan_row(HbDeriver *d, HbColumn *column, HbDerivePlan *plan)
{
	ListCell   *lc;

	foreach(lc, column->source_columns)
	{
		int			col = hb_table_column(d->table, strVal(lfirst(lc)));
		HbColumn   *source;

		if (col < 0 || plan->nsources == HB_DERIVE_MAX_SOURCES)
			return;
		source = &d->table->columns[col];
		if (source->derive != HB_DERIVE_NONE)
			return;
		/* a wide bigint may be shown as numeric: the stored form is the same */
		if (column->derive == HB_DERIVE_COALESCE ?
			source->value.class != column->value.class ||
			(source->value.type != column->value.type &&
			 column->value.class != HB_VALUE_NUM) :
			source->value.class != HB_VALUE_VARLENA || column->value.class != HB_VALUE_VARLENA)
			return;
		plan->sources[plan->nsources++] = col;
	}
	plan->possible = plan->nsources > 0;
}

static HbDerivePlan *
hb_derive_plan(HbDeriver *d, int col)
{
	HbDerivePlan *plan = &d->plans[col];
	HbColumn   *column = &d->table->columns[col];
	MemoryContext old;

	if (plan->ready)
		return plan;
	old = MemoryContextSwitchTo(d->cxt);
	switch (column->derive)
	{
		case HB_DERIVE_LOOKUP_ITEM:
		case HB_DERIVE_LOOKUP_BLOCK:
		case HB_DERIVE_BLOOM_BLOCK:
		case HB_DERIVE_BLOOM_ITEM:
			hb_derive_plan_lookup(d, column, plan);
			break;
		case HB_DERIVE_PREFIX4:
		case HB_DERIVE_COALESCE:
		case HB_DERIVE_HEX_WORD:
			hb_derive_plan_row(d, column, plan);
			break;
		case HB_DERIVE_NONE:
			break;
	}
	MemoryContextSwitchTo(old);
	plan->ready = true;
	return plan;
}

/* The bytes of a 0x text of 64 digits. */
static bool
hb_derive_hex_word(HbSlice text, uint8_t word[HB_DERIVE_SPACE])
{
	if (text.len != 2 + 2 * HB_DERIVE_SPACE || text.data[0] != '0' || text.data[1] != 'x')
		return false;
	for (int i = 0; i < HB_DERIVE_SPACE; i++)
	{
		int			hi = hb_hex_digit(text.data[2 + 2 * i]);
		int			lo = hb_hex_digit(text.data[3 + 2 * i]);

		if (hi < 0 || lo < 0)
			return false;
		word[i] = (uint8_t) (hi << 4 | lo);
	}
	return true;
}

/* A value from others of the same row; its bytes may be in theirs or in space. */
void
hb_derive_row(HbDerive derive, const HbFetched *sources, int n, HbFetched *value,
			  uint8_t space[HB_DERIVE_SPACE])
{
	memset(value, 0, sizeof(*value));
	value->isnull = true;
	switch (derive)
	{
		case HB_DERIVE_PREFIX4:
			if (sources[0].isnull || sources[0].bytes.len < 4)
				return;
			value->isnull = false;
			value->bytes.data = sources[0].bytes.data;
			value->bytes.len = 4;
			return;
		case HB_DERIVE_COALESCE:
			for (int i = 0; i < n && value->isnull; i++)
				*value = sources[i];
			return;
		case HB_DERIVE_HEX_WORD:
			if (sources[0].isnull || !hb_derive_hex_word(sources[0].bytes, space))
				return;
			value->isnull = false;
			value->bytes.data = space;
			value->bytes.len = HB_DERIVE_SPACE;
			return;
		default:
			elog(ERROR, "unrecognized derivation: %d", (int) derive);
	}
}

HbDeriver *
hb_deriver_begin(HbTable *table, Snapshot snapshot)
{
	MemoryContext cxt = AllocSetContextCreate(CurrentMemoryContext, "hotblocks deriver",
											  ALLOCSET_DEFAULT_SIZES);
	HbDeriver  *d = MemoryContextAllocZero(cxt, sizeof(HbDeriver));

	d->table = table;
	d->snapshot = snapshot;
	d->cxt = cxt;
	d->batch_cxt = AllocSetContextCreate(cxt, "hotblocks deriver batch",
										 ALLOCSET_DEFAULT_SIZES);
	d->plans = MemoryContextAllocZero(cxt, table->ncolumns * sizeof(HbDerivePlan));
	return d;
}

void
hb_deriver_end(HbDeriver *d)
{
	for (int i = 0; i < d->table->ncolumns; i++)
	{
		if (d->plans[i].lookup != NULL)
			hb_lookup_end(d->plans[i].lookup);
		if (d->plans[i].bloom != NULL)
			hb_bloom_end(d->plans[i].bloom);
	}
	MemoryContextDelete(d->cxt);
}

/*
 * The keys of rows of one page: their block numbers, and the values of the
 * second sort column.
 */
static void
hb_derive_keys(HbDeriver *d, HbOpenChunk *chunk, bool by_item, uint32 page,
			   const uint16 *rows, int n, int64 *blocks, int64 *indexes, bool *no_index)
{
	uint32		first = page * HB_PAGE_ROWS + rows[0];
	uint32		span = rows[n - 1] - rows[0] + 1;
	int64_t		all[HB_PAGE_ROWS];

	if (!hb_reader_row_blocks(chunk->reader, first, span, all))
		hb_chunk_damaged(chunk);
	for (int i = 0; i < n; i++)
		blocks[i] = all[rows[i] - rows[0]];
	if (by_item)
	{
		HbColumn   *column = &d->table->columns[d->table->sort_cols[1]];
		HbFetched  *values = palloc_array(HbFetched, n);

		hb_fetch(chunk, hb_reader_column(chunk->reader, column->number), page, rows, n,
				 values);
		for (int i = 0; i < n; i++)
		{
			no_index[i] = values[i].isnull || !values[i].isint;
			indexes[i] = values[i].i;
		}
	}
}

/* Derived values of rows of one page, in physical form. */
static void
hb_derive_page(HbDeriver *d, HbOpenChunk *chunk, int col, uint32 page,
			   const uint16 *rows, int n, HbFetched *values)
{
	HbColumn   *column = &d->table->columns[col];
	HbDerivePlan *plan = hb_derive_plan(d, col);

	if (!plan->possible)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("column \"%s\" of chunk " INT64_FORMAT " of table \"%s\" of dataset \"%s\" cannot be derived",
						NameStr(column->name), chunk->row->chunk_id,
						NameStr(d->table->name), NameStr(d->table->dataset->name)),
				 errdetail("What it was derived from is no longer described in the dataset's stored_column table.")));

	if (plan->nsources > 0)
	{
		HbFetched  *sources = palloc_array(HbFetched, plan->nsources * n);
		uint8_t    *space = palloc((Size) n * HB_DERIVE_SPACE);
		HbFetched	row[HB_DERIVE_MAX_SOURCES];

		for (int s = 0; s < plan->nsources; s++)
			hb_fetch(chunk, hb_reader_column(chunk->reader,
											 d->table->columns[plan->sources[s]].number),
					 page, rows, n, sources + (Size) s * n);
		for (int i = 0; i < n; i++)
		{
			for (int s = 0; s < plan->nsources; s++)
				row[s] = sources[(Size) s * n + i];
			hb_derive_row(column->derive, row, plan->nsources, &values[i],
						  space + (Size) i * HB_DERIVE_SPACE);
		}
	}
	else
	{
		int64	   *blocks = palloc_array(int64, n);
		int64	   *indexes = palloc0_array(int64, n);
		bool	   *flags = palloc0_array(bool, n);
		bool	   *found = palloc_array(bool, n);

		hb_derive_keys(d, chunk, hb_derive_by_item(column->derive), page, rows, n,
					   blocks, indexes, flags);
		if (plan->lookup != NULL)
			hb_lookup_get(plan->lookup, chunk->row->batch, n, blocks, indexes, flags,
						  values, found);
		else
		{
			for (int i = 0; i < n; i++)
			{
				uint8_t    *bits = palloc(HB_BLOOM_LEN);

				memset(&values[i], 0, sizeof(HbFetched));
				(void) hb_bloom_get(plan->bloom, chunk->row->batch, blocks[i], indexes[i],
									bits);
				values[i].bytes.data = bits;
				values[i].bytes.len = HB_BLOOM_LEN;
			}
		}
	}
}

void
hb_deriver_get(HbDeriver *d, HbOpenChunk *chunk, int col, const uint32 *rows, int n,
			   Datum *values, bool *isnull)
{
	HbColumn   *column = &d->table->columns[col];
	MemoryContext result_cxt = CurrentMemoryContext;
	int			done = 0;

	while (done < n)
	{
		uint32		page = rows[done] / HB_PAGE_ROWS;
		uint16		in_page[HB_PAGE_ROWS];
		HbFetched	fetched[HB_PAGE_ROWS];
		int			m = 0;

		CHECK_FOR_INTERRUPTS();
		while (done + m < n && rows[done + m] / HB_PAGE_ROWS == page)
		{
			in_page[m] = rows[done + m] % HB_PAGE_ROWS;
			m++;
		}
		MemoryContextSwitchTo(d->batch_cxt);
		hb_derive_page(d, chunk, col, page, in_page, m, fetched);
		MemoryContextSwitchTo(result_cxt);
		for (int i = 0; i < m; i++)
		{
			isnull[done + i] = fetched[i].isnull;
			values[done + i] = fetched[i].isnull ? (Datum) 0 :
				hb_fetched_datum(column, &fetched[i]);
		}
		MemoryContextReset(d->batch_cxt);
		done += m;
	}
}

/*
 * Comparing, when a chunk is written.
 */
HbComparer *
hb_comparer_begin(HbTable *table, Snapshot snapshot, int64 batch)
{
	HbComparer *c = palloc0_object(HbComparer);

	c->deriver = hb_deriver_begin(table, snapshot);
	c->batch = batch;
	return c;
}

void
hb_comparer_end(HbComparer *c)
{
	hb_deriver_end(c->deriver);
	pfree(c);
}

static void
hb_compare_fetch(HbTable *table, HbBuilder *builder, int col, uint32 row, HbFetched *value)
{
	memset(value, 0, sizeof(*value));
	if (table->columns[col].value.phys == HB_PHYS_INT)
	{
		value->isint = true;
		value->isnull = !hb_builder_get_int(builder, col, row, &value->i);
	}
	else
		value->isnull = !hb_builder_get_bytes(builder, col, row, &value->bytes);
}

/* Rows first .. first + n - 1 of the builder. */
static bool
hb_compare_rows(HbComparer *c, HbBuilder *builder, int col, uint32 first, int n,
				bool *any_found)
{
	HbDeriver  *d = c->deriver;
	HbTable    *table = d->table;
	HbColumn   *column = &table->columns[col];
	HbDerivePlan *plan = hb_derive_plan(d, col);
	bool		by_item = hb_derive_by_item(column->derive);
	HbFetched  *values = palloc_array(HbFetched, n);
	int64	   *blocks = palloc_array(int64, n);
	int64	   *indexes = palloc0_array(int64, n);
	bool	   *flags = palloc0_array(bool, n);
	bool	   *found = palloc_array(bool, n);
	HbFetched	given;

	if (plan->nsources == 0)
	{
		for (int i = 0; i < n; i++)
		{
			(void) hb_builder_get_int(builder, table->block_col, first + i, &blocks[i]);
			if (by_item && !hb_builder_get_int(builder, table->sort_cols[1], first + i,
											   &indexes[i]))
				return false;
		}
	}
	if (plan->lookup != NULL)
		hb_lookup_get(plan->lookup, c->batch, n, blocks, indexes, flags, values, found);

	for (int i = 0; i < n; i++)
	{
		uint8_t		space[HB_BLOOM_LEN];

		if (plan->lookup != NULL)
		{
			if (!found[i])
				return false;
			*any_found = true;
		}
		else if (plan->bloom != NULL)
		{
			memset(&values[i], 0, sizeof(HbFetched));
			if (hb_bloom_get(plan->bloom, c->batch, blocks[i], indexes[i], space))
				*any_found = true;
			values[i].bytes.data = space;
			values[i].bytes.len = HB_BLOOM_LEN;
		}
		else
		{
			HbFetched	sources[HB_DERIVE_MAX_SOURCES];

			for (int s = 0; s < plan->nsources; s++)
				hb_compare_fetch(table, builder, plan->sources[s], first + i, &sources[s]);
			hb_derive_row(column->derive, sources, plan->nsources, &values[i], space);
			*any_found = true;
		}
		hb_compare_fetch(table, builder, col, first + i, &given);
		if (!hb_fetched_equal(&given, &values[i]))
			return false;
	}
	return true;
}

/*
 * May the column be left out of a chunk of the builder's first nrows rows?  A
 * bloom that no log has gone into anywhere is not: it costs nothing to store.
 */
bool
hb_comparer_equal(HbComparer *c, HbBuilder *builder, int col, uint32 nrows)
{
	HbDeriver  *d = c->deriver;
	bool		any_found = false;
	bool		equal = hb_derive_plan(d, col)->possible;
	HbTable    *table = d->table;

	if (equal && hb_derive_by_item(table->columns[col].derive) &&
		table->columns[table->sort_cols[1]].value.phys != HB_PHYS_INT)
		equal = false;
	for (uint32 first = 0; equal && first < nrows; first += HB_PAGE_ROWS)
	{
		MemoryContext old = MemoryContextSwitchTo(d->batch_cxt);

		CHECK_FOR_INTERRUPTS();
		equal = hb_compare_rows(c, builder, col, first, Min(HB_PAGE_ROWS, nrows - first),
								&any_found);
		MemoryContextSwitchTo(old);
		MemoryContextReset(d->batch_cxt);
	}
	return equal && any_found;
}
