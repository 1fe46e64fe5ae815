/*
 * hb_batch.c
 *		Output columns of the rows that passed, as datums.
 *
 * Only the rows asked for are made.  Where a page's column is decoded anyway
 * (integers, codes) the loop is over it; byte strings are fetched for the
 * rows and put into one allocation per column and batch.  A dictionary's
 * entries become datums once per chunk, up to HB_DATUM_BYTES per cursor;
 * everything else is in batch_cxt, which the next batch resets.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/numeric.h"

#include "compat.h"
#include "scan/hb_scan_int.h"

/* Datums of dictionary entries that one cursor may keep. */
#define HB_DATUM_BYTES	(4 * 1024 * 1024)

/* How an integer becomes a datum. */
typedef enum IntMaker
{
	MAKE_INT2,
	MAKE_INT4,
	MAKE_INT8,
	MAKE_BOOL,
	MAKE_NUMERIC,
	MAKE_OTHER
} IntMaker;

void
hb_batch_init(HbScan *scan)
{
	scan->values = palloc(sizeof(Datum *) * Max(scan->ncolumns, 1));
	scan->isnull = palloc(sizeof(bool *) * Max(scan->ncolumns, 1));
	for (int i = 0; i < scan->ncolumns; i++)
	{
		scan->values[i] = palloc0(sizeof(Datum) * HB_PAGE_ROWS);
		scan->isnull[i] = palloc0(sizeof(bool) * HB_PAGE_ROWS);
	}
	scan->rowid = palloc0(sizeof(int64) * HB_PAGE_ROWS);
	scan->rows_buf = palloc(sizeof(uint16) * HB_PAGE_ROWS);
	scan->outpos_buf = palloc(sizeof(uint16) * HB_PAGE_ROWS);
	scan->sub_buf = palloc(sizeof(uint16) * HB_PAGE_ROWS);
	scan->row_buf = palloc(sizeof(uint32) * HB_PAGE_ROWS);
	scan->int_buf = palloc(sizeof(int64) * HB_PAGE_ROWS);
	scan->length_buf = palloc(sizeof(uint32) * HB_PAGE_ROWS);
	scan->slice_buf = palloc(sizeof(HbSlice) * HB_PAGE_ROWS);
	scan->datum_buf = palloc(sizeof(Datum) * HB_PAGE_ROWS);
	scan->null_buf = palloc(sizeof(bool) * HB_PAGE_ROWS);
}

static IntMaker
int_maker(const HbColumn *column)
{
	switch (column->type)
	{
		case INT2OID:
			return MAKE_INT2;
		case INT4OID:
		case DATEOID:
			return MAKE_INT4;
		case INT8OID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			return MAKE_INT8;
		case BOOLOID:
			return MAKE_BOOL;
		case NUMERICOID:
			return MAKE_NUMERIC;
		default:
			return MAKE_OTHER;
	}
}

/* A column's place in the batch for the i-th row. */
#define OUT(i)	(outpos != NULL ? outpos[i] : (i))

static inline bool
row_is_null(const uint64 *nulls, uint16 row)
{
	return nulls != NULL && ((nulls[row / 64] >> (row % 64)) & 1) != 0;
}

/*
 * Integers at v[row - base].  Numerics repeat within a page more often than
 * not: a small table by value saves making them again.
 */
static void
fill_ints(HbScan *scan, HbColumn *column, const int64 *v, int base,
		  const uint64 *nulls, const uint16 *rows, int n, const uint16 *outpos,
		  Datum *values, bool *isnull)
{
	IntMaker	maker = int_maker(column);
	int64		keys[64];
	Datum		made[64] = {0};

	for (int i = 0; i < n; i++)
	{
		int			out = OUT(i);
		int64		value = v[rows[i] - base];

		isnull[out] = row_is_null(nulls, rows[i]);
		if (isnull[out])
		{
			values[out] = (Datum) 0;
			continue;
		}
		switch (maker)
		{
			case MAKE_INT2:
				values[out] = Int16GetDatum((int16) value);
				break;
			case MAKE_INT4:
				values[out] = Int32GetDatum((int32) value);
				break;
			case MAKE_INT8:
				values[out] = Int64GetDatum(value);
				break;
			case MAKE_BOOL:
				values[out] = BoolGetDatum(value != 0);
				break;
			case MAKE_NUMERIC:
				{
					int			slot = ((uint64) value * UINT64CONST(0x9E3779B97F4A7C15)) >> 58;

					if (made[slot] == 0 || keys[slot] != value)
					{
						made[slot] = hb_value_from_int(&column->value, value);
						keys[slot] = value;
					}
					values[out] = made[slot];
					break;
				}
			case MAKE_OTHER:
				values[out] = hb_value_from_int(&column->value, value);
				break;
		}
	}
	scan->stats.values_decoded += n;
}

static Datum
datum_of_bytes(HbColumn *column, HbSlice bytes)
{
	struct varlena *v;

	if (column->type != BYTEAOID)
		return hb_value_from_bytes(&column->value, bytes, NameStr(column->name));
	v = palloc(VARHDRSZ + bytes.len);
	SET_VARSIZE(v, VARHDRSZ + bytes.len);
	memcpy(VARDATA(v), bytes.data, bytes.len);
	return PointerGetDatum(v);
}

/* The datum of a code, from the cursor's cache while that may grow. */
static Datum
datum_of_code(HbCursor *cur, HbColumnState *cs, HbColumn *column, uint32 code)
{
	HbCodeDatums *cache = &cs->datums;
	MemoryContext old;
	Datum	   *group;
	HbSlice		bytes;
	Datum		result;

	if (cache->groups == NULL)
	{
		cache->ngroups = hb_reader_dict_size(cur->reader, cs->info->dict) /
			HB_CODE_GROUP + 1;
		cache->groups = MemoryContextAllocZero(cur->datum_cxt,
											   sizeof(Datum *) * cache->ngroups);
	}
	group = cache->groups[code / HB_CODE_GROUP];
	if (group != NULL && group[code % HB_CODE_GROUP] != 0)
		return group[code % HB_CODE_GROUP];

	HB_READ(cur, hb_reader_dict_entry(cur->reader, cs->rcol, code, &bytes));
	if (cur->datum_bytes > HB_DATUM_BYTES)
		return datum_of_bytes(column, bytes);

	old = MemoryContextSwitchTo(cur->datum_cxt);
	if (group == NULL)
	{
		group = palloc0(sizeof(Datum) * HB_CODE_GROUP);
		cache->groups[code / HB_CODE_GROUP] = group;
		cur->datum_bytes += sizeof(Datum) * HB_CODE_GROUP;
	}
	result = datum_of_bytes(column, bytes);
	group[code % HB_CODE_GROUP] = result;
	cur->datum_bytes += bytes.len + 32;
	MemoryContextSwitchTo(old);
	return result;
}

static void
fill_codes(HbCursor *cur, HbColumnState *cs, HbColumn *column, uint32 page,
		   const uint16 *rows, int n, const uint16 *outpos,
		   Datum *values, bool *isnull)
{
	const uint32 *codes = hb_page_codes(cur, cs, page);

	for (int i = 0; i < n; i++)
	{
		int			out = OUT(i);
		uint32		code = codes[rows[i]];

		isnull[out] = (code == 0);
		values[out] = code == 0 ? (Datum) 0 :
			datum_of_code(cur, cs, column, code);
	}
	cur->scan->stats.values_decoded += n;
}

static void
fill_bytes(HbCursor *cur, HbColumnState *cs, HbColumn *column, uint32 page,
		   const uint16 *rows, int n, const uint16 *outpos,
		   Datum *values, bool *isnull)
{
	HbScan	   *scan = cur->scan;
	const uint64 *nulls = hb_page_nulls(cur, cs, page);
	HbSlice    *slices = scan->slice_buf;
	uint16	   *present = scan->sub_buf;
	uint16		places[HB_PAGE_ROWS];
	int			m = 0;
	Size		total = 0;
	char	   *room;

	for (int i = 0; i < n; i++)
	{
		int			out = OUT(i);

		isnull[out] = row_is_null(nulls, rows[i]);
		if (isnull[out])
		{
			values[out] = (Datum) 0;
			continue;
		}
		present[m] = rows[i];
		places[m++] = out;
	}
	if (m == 0)
		return;
	HB_READ(cur, hb_reader_bytes(cur->reader, cs->rcol, page, present, m, slices));
	scan->stats.values_decoded += m;

	/* text is checked as it is read */
	if (column->type != BYTEAOID)
	{
		for (int i = 0; i < m; i++)
			values[places[i]] = datum_of_bytes(column, slices[i]);
		return;
	}
	for (int i = 0; i < m; i++)
		total += MAXALIGN(VARHDRSZ + slices[i].len);
	room = MemoryContextAllocHuge(scan->batch_cxt, total);
	for (int i = 0; i < m; i++)
	{
		SET_VARSIZE(room, VARHDRSZ + slices[i].len);
		memcpy(VARDATA(room), slices[i].data, slices[i].len);
		values[places[i]] = PointerGetDatum(room);
		room += MAXALIGN(VARHDRSZ + slices[i].len);
	}
}

static void
fill_derived(HbCursor *cur, int col, uint32 page, const uint16 *rows, int n,
			 const uint16 *outpos, Datum *values, bool *isnull)
{
	HbScan	   *scan = cur->scan;
	bool		direct = (outpos == NULL);

	for (int i = 0; i < n; i++)
		scan->row_buf[i] = page * HB_PAGE_ROWS + rows[i];
	hb_deriver_get(hb_scan_deriver(scan), cur->chunk, col, scan->row_buf, n,
				   direct ? values : scan->datum_buf,
				   direct ? isnull : scan->null_buf);
	scan->stats.values_decoded += n;
	if (direct)
		return;
	for (int i = 0; i < n; i++)
	{
		values[outpos[i]] = scan->datum_buf[i];
		isnull[outpos[i]] = scan->null_buf[i];
	}
}

static void
fill_blocks(HbCursor *cur, HbColumn *column, uint32 page, const uint16 *rows,
			int n, const uint16 *outpos, Datum *values, bool *isnull)
{
	HbScan	   *scan = cur->scan;

	HB_READ(cur, hb_reader_row_blocks(cur->reader, page * HB_PAGE_ROWS + rows[0],
									  rows[n - 1] - rows[0] + 1, scan->int_buf));
	fill_ints(scan, column, scan->int_buf, rows[0], NULL, rows, n, outpos,
			  values, isnull);
}

static void
fill_column(HbCursor *cur, int col, const uint16 *rows, int n,
			const uint16 *outpos, Datum *values, bool *isnull)
{
	HbScan	   *scan = cur->scan;
	HbColumn   *column = &scan->table->columns[col];
	uint32		page = cur->page;
	HbColumnState *cs;

	if (col == scan->table->block_col)
	{
		fill_blocks(cur, column, page, rows, n, outpos, values, isnull);
		return;
	}
	cs = hb_cursor_column(cur, col);
	switch (cs->info != NULL ? cs->info->stored : HB_STORED_NULL)
	{
		case HB_STORED_NULL:
			for (int i = 0; i < n; i++)
			{
				values[OUT(i)] = (Datum) 0;
				isnull[OUT(i)] = true;
			}
			break;
		case HB_STORED_INT:
			fill_ints(scan, column, hb_page_ints(cur, cs, page), 0,
					  hb_page_nulls(cur, cs, page), rows, n, outpos,
					  values, isnull);
			break;
		case HB_STORED_DICT:
			fill_codes(cur, cs, column, page, rows, n, outpos, values, isnull);
			break;
		case HB_STORED_FIXED:
		case HB_STORED_VAR:
			fill_bytes(cur, cs, column, page, rows, n, outpos, values, isnull);
			break;
		case HB_STORED_DERIVED:
			fill_derived(cur, col, page, rows, n, outpos, values, isnull);
			break;
	}
}

/*
 * Bytes that each of n rows of the cursor's page will take in large
 * variable-width columns, into weights.  False, and nothing is read, when no
 * such column is asked for.
 */
bool
hb_batch_weights(HbCursor *cur, const uint16 *rows, int n, uint64 *weights)
{
	HbScan	   *scan = cur->scan;
	bool		any = false;

	for (int c = 0; c < scan->ncolumns; c++)
	{
		HbColumnState *cs;

		if (scan->columns[c] == scan->table->block_col)
			continue;
		cs = hb_cursor_column(cur, scan->columns[c]);
		/* stored in few bytes a row: will not be much larger decoded */
		if (cs->info == NULL || cs->info->stored != HB_STORED_VAR ||
			cs->info->bytes / cur->nrows < 64)
			continue;
		if (!any)
			memset(weights, 0, n * sizeof(uint64));
		any = true;
		HB_READ(cur, hb_reader_lengths(cur->reader, cs->rcol, cur->page,
									   scan->length_buf));
		for (int i = 0; i < n; i++)
			weights[i] += scan->length_buf[rows[i]];
	}
	return any;
}

/*
 * How many of n rows of the cursor's page (the first ones in the scan's
 * order) a batch may take, at least one, to stay near HB_BATCH_BYTES.
 */
int
hb_batch_limit(HbCursor *cur, const uint16 *rows, int n)
{
	uint64	   *weights = (uint64 *) cur->scan->int_buf;
	bool		descending = cur->scan->order == HB_ORDER_DESC;
	uint64		total = 0;

	if (n <= 1 || !hb_batch_weights(cur, rows, n, weights))
		return n;
	for (int i = 0; i < n; i++)
	{
		total += weights[descending ? n - 1 - i : i];
		if (total > HB_BATCH_BYTES)
			return Max(i, 1);
	}
	return n;
}

/*
 * Makes the output columns of n rows (ascending) of the cursor's page.  The
 * i-th goes to the batch's row outpos[i], or i if outpos is NULL.
 */
void
hb_batch_fill(HbCursor *cur, const uint16 *rows, int n, const uint16 *outpos)
{
	HbScan	   *scan = cur->scan;
	MemoryContext old;

	if (n == 0 || scan->ncolumns == 0)
		return;
	old = MemoryContextSwitchTo(scan->batch_cxt);
	for (int c = 0; c < scan->ncolumns; c++)
		fill_column(cur, scan->columns[c], rows, n, outpos,
					scan->values[c], scan->isnull[c]);
	MemoryContextSwitchTo(old);
}
