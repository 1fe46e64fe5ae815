/*
 * hb_lookup_hash.c
 *		From a value to positions: the (block, index) of rows whose column has
 *		it, in every chunk of the table.
 *
 * A chunk answers through its hash index, or its dictionary and page lists,
 * or, where it has neither, by looking at all values.
 */
#include "postgres.h"

#include "compat.h"
#include "store/hb_store_int.h"

#include "miscadmin.h"

#define HB_LOOKUP_ROWS	64		/* rows of a value in one chunk, usually one */

typedef struct HbHashLookup
{
	HbTable    *table;
	HbOpenChunk *chunk;
	void		(*found) (void *arg, int64 block, int64 index, bool has_index);
	void	   *arg;
} HbHashLookup;

static void
hb_hash_report(HbHashLookup *l, uint32 row)
{
	HbReader   *reader = l->chunk->reader;
	int64_t		block = 0;
	HbFetched	index = {.isnull = true};

	if (l->table->block_col >= 0 && !hb_reader_row_blocks(reader, row, 1, &block))
		hb_chunk_damaged(l->chunk);
	if (l->table->nsort >= 2)
	{
		uint16		in_page = row % HB_PAGE_ROWS;
		HbColumn   *column = &l->table->columns[l->table->sort_cols[1]];

		hb_fetch(l->chunk, hb_reader_column(reader, column->number), row / HB_PAGE_ROWS,
				 &in_page, 1, &index);
	}
	l->found(l->arg, block, index.i, !index.isnull && index.isint);
}

/* All pages, or those in the set, value by value. */
static void
hb_hash_scan(HbHashLookup *l, int reader_col, const uint64_t *pages, HbSlice value)
{
	uint32		nrows = hb_reader_rows(l->chunk->reader);

	for (uint32 page = 0; page < hb_reader_pages(l->chunk->reader); page++)
	{
		uint16		rows[HB_PAGE_ROWS];
		HbFetched	values[HB_PAGE_ROWS];
		int			n = Min(HB_PAGE_ROWS, nrows - page * HB_PAGE_ROWS);

		CHECK_FOR_INTERRUPTS();
		if (pages != NULL && !((pages[page / 64] >> (page % 64)) & 1))
			continue;
		for (int i = 0; i < n; i++)
			rows[i] = i;
		hb_fetch(l->chunk, reader_col, page, rows, n, values);
		for (int i = 0; i < n; i++)
			if (!values[i].isnull && values[i].bytes.len == value.len &&
				memcmp(values[i].bytes.data, value.data, value.len) == 0)
				hb_hash_report(l, page * HB_PAGE_ROWS + i);
	}
}

static void
hb_hash_chunk(HbHashLookup *l, int col, HbSlice value)
{
	HbReader   *reader = l->chunk->reader;
	int			reader_col = hb_reader_column(reader, l->table->columns[col].number);
	const HbColumnInfo *info;

	if (reader_col < 0)
		return;
	info = hb_reader_info(reader, reader_col);
	if (info->stored == HB_STORED_NULL || info->stored == HB_STORED_DERIVED)
		return;
	if (info->has_hash_index)
	{
		uint32_t	rows[HB_LOOKUP_ROWS];
		int			n;

		if (!hb_reader_hash_find(reader, reader_col, value, rows, HB_LOOKUP_ROWS, &n))
			hb_chunk_damaged(l->chunk);
		if (n > HB_LOOKUP_ROWS)
			hb_hash_scan(l, reader_col, NULL, value);
		else
			for (int i = 0; i < n; i++)
				hb_hash_report(l, rows[i]);
	}
	else if (info->stored == HB_STORED_DICT)
	{
		uint64_t	pages[(HB_CHUNK_MAX_ROWS / HB_PAGE_ROWS + 64) / 64] = {0};
		uint32_t	code;

		if (!hb_reader_dict_find(reader, reader_col, value, &code))
			hb_chunk_damaged(l->chunk);
		if (code == 0)
			return;
		if (!hb_reader_code_pages(reader, reader_col, code, pages))
			hb_chunk_damaged(l->chunk);
		hb_hash_scan(l, reader_col, pages, value);
	}
	else
		hb_hash_scan(l, reader_col, NULL, value);
}

void
hb_lookup_hash(HbTable *table, Snapshot snapshot, int col, HbSlice value,
			   void (*found) (void *arg, int64 block, int64 index, bool has_index),
			   void *arg)
{
	HbChunkSet *set = hb_chunk_set_rows(table, snapshot, PG_INT64_MIN, PG_INT64_MAX,
										HB_ROWS_SOURCE);
	HbHashLookup l = {.table = table, .found = found, .arg = arg};
	uint64	   *chunks = palloc0_array(uint64, set->nchunks / 64 + 1);
	bool		known = hb_chunk_set_candidates(set, col, &value, 1, chunks);

	Assert(table->columns[col].value.phys == HB_PHYS_BYTES);
	for (int i = 0; i < set->nchunks; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (known && ((chunks[i / 64] >> (i % 64)) & 1) == 0)
			continue;
		l.chunk = hb_chunk_open(set, i);
		hb_hash_chunk(&l, col, value);
		hb_chunk_close(l.chunk);
	}
	pfree(chunks);
	hb_chunk_set_release(set);
}
