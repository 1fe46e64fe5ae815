/*
 * hb_fetch.c
 *		Stored values of a few rows, in whatever form the chunk has them.
 *
 * For derived values and the lookups behind them, which want the values of
 * given rows; a scan, which wants columns of many, does it its own way.
 */
#include "postgres.h"

#include "store/hb_numeric.h"
#include "store/hb_store_int.h"

/*
 * Values of n rows of one page, ascending.  Bytes stay valid until the next
 * fetch of the same column.  reader_col -1: a column that the chunk does not
 * have, because it is older than the column.
 */
void
hb_fetch(HbOpenChunk *chunk, int reader_col, uint32 page, const uint16 *rows, int n,
		 HbFetched *values)
{
	HbReader   *reader = chunk->reader;
	const HbColumnInfo *info;
	uint64_t	nulls[HB_PAGE_WORDS];
	bool		any_null = false;

	memset(values, 0, n * sizeof(HbFetched));
	info = reader_col < 0 ? NULL : hb_reader_info(reader, reader_col);
	if (info == NULL || info->stored == HB_STORED_NULL)
	{
		for (int i = 0; i < n; i++)
			values[i].isnull = true;
		return;
	}
	if (info->stored == HB_STORED_DERIVED)
		elog(ERROR, "column %d of chunk " INT64_FORMAT " is not stored",
			 reader_col, chunk->row->chunk_id);

	if (info->stored == HB_STORED_DICT)
	{
		uint32_t	codes[HB_PAGE_ROWS];

		if (!hb_reader_codes(reader, reader_col, page, codes))
			hb_chunk_damaged(chunk);
		for (int i = 0; i < n; i++)
		{
			values[i].isnull = codes[rows[i]] == 0;
			if (!values[i].isnull &&
				!hb_reader_dict_entry(reader, reader_col, codes[rows[i]], &values[i].bytes))
				hb_chunk_damaged(chunk);
		}
		return;
	}

	if (!hb_reader_nulls(reader, reader_col, page, nulls, &any_null))
		hb_chunk_damaged(chunk);
	for (int i = 0; any_null && i < n; i++)
		values[i].isnull = (nulls[rows[i] / 64] >> (rows[i] % 64)) & 1;

	if (info->stored == HB_STORED_INT)
	{
		int64_t		ints[HB_PAGE_ROWS];

		if (!hb_reader_ints(reader, reader_col, page, ints))
			hb_chunk_damaged(chunk);
		for (int i = 0; i < n; i++)
		{
			values[i].isint = true;
			values[i].i = ints[rows[i]];
		}
	}
	else
	{
		HbSlice		slices[HB_PAGE_ROWS];

		if (!hb_reader_bytes(reader, reader_col, page, rows, n, slices))
			hb_chunk_damaged(chunk);
		for (int i = 0; i < n; i++)
			values[i].bytes = slices[i];
	}
}

/* A non-null value as a datum in the current context. */
Datum
hb_fetched_datum(HbColumn *column, const HbFetched *value)
{
	if (value->isint)
		return hb_value_from_int(&column->value, value->i);
	return hb_value_from_bytes(&column->value, value->bytes, NameStr(column->name));
}

/*
 * Are two values of one column the same?  A number may be an integer in one
 * place and in the num form in the other.
 */
bool
hb_fetched_equal(const HbFetched *a, const HbFetched *b)
{
	uint8_t		num[HB_NUM_MAX];
	HbSlice		abytes = a->bytes;
	HbSlice		bbytes = b->bytes;

	if (a->isnull || b->isnull)
		return a->isnull && b->isnull;
	if (a->isint && b->isint)
		return a->i == b->i;
	if (a->isint)
	{
		abytes.data = num;
		abytes.len = hb_uint64_to_num((uint64) a->i, num);
	}
	if (b->isint)
	{
		bbytes.data = num;
		bbytes.len = hb_uint64_to_num((uint64) b->i, num);
	}
	return abytes.len == bbytes.len && memcmp(abytes.data, bbytes.data, abytes.len) == 0;
}
