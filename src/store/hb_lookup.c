/*
 * hb_lookup.c
 *		Values of another table's rows by their position in the chain: the
 *		hash of a log's transaction, the time of its block, the bloom of a
 *		transaction's logs.
 *
 * A lookup holds the set of the source table's chunks and a few of them open.
 * Keys that ascend, as rows of a chunk do, go through the source like a merge:
 * the same chunk, the same page, usually the row after.
 *
 * Only chunks that count for the asking chunk's batch are looked at.  A chunk
 * that was written later, with rows that belong to the same position, would
 * otherwise change values that were compared without it.
 */
#include "postgres.h"

#include "compat.h"
#include "store/hb_store_int.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#define HB_LOOKUP_OPEN	4

typedef struct HbLookupChunk
{
	HbOpenChunk *chunk;
	int			index;			/* in the set; -1: slot is free */
	int			reader_col;
} HbLookupChunk;

struct HbLookup
{
	HbTable    *source;
	int			col;
	bool		by_item;
	MemoryContext cxt;
	MemoryContext values_cxt;	/* bytes of the values last returned */
	HbChunkSet *set;
	HbLookupChunk open[HB_LOOKUP_OPEN];
	int			next_slot;

	/* rows of one page that are to be fetched together */
	HbLookupChunk *run_chunk;
	uint32		run_page;
	int			run_n;
	uint16		run_rows[HB_PAGE_ROWS];
	int			run_keys[HB_PAGE_ROWS];	/* index of the key */
};

HbLookup *
hb_lookup_begin(HbTable *source, int col, bool by_item, Snapshot snapshot)
{
	MemoryContext cxt = AllocSetContextCreate(CurrentMemoryContext, "hotblocks lookup",
											  ALLOCSET_DEFAULT_SIZES);
	HbLookup   *lookup = MemoryContextAllocZero(cxt, sizeof(HbLookup));

	lookup->source = source;
	lookup->col = col;
	lookup->by_item = by_item;
	lookup->cxt = cxt;
	lookup->values_cxt = AllocSetContextCreate(cxt, "hotblocks lookup values",
											   ALLOCSET_DEFAULT_SIZES);
	for (int i = 0; i < HB_LOOKUP_OPEN; i++)
		lookup->open[i].index = -1;
	lookup->set = hb_chunk_set_rows(source, snapshot, PG_INT64_MIN, PG_INT64_MAX,
									HB_ROWS_SOURCE);
	return lookup;
}

void
hb_lookup_end(HbLookup *lookup)
{
	for (int i = 0; i < HB_LOOKUP_OPEN; i++)
		if (lookup->open[i].index >= 0)
			hb_chunk_close(lookup->open[i].chunk);
	hb_chunk_set_release(lookup->set);
	MemoryContextDelete(lookup->cxt);
}

static void
hb_lookup_flush(HbLookup *lookup, HbFetched *values)
{
	HbFetched	fetched[HB_PAGE_ROWS];
	MemoryContext old;

	if (lookup->run_n == 0)
		return;
	hb_fetch(lookup->run_chunk->chunk, lookup->run_chunk->reader_col, lookup->run_page,
			 lookup->run_rows, lookup->run_n, fetched);
	old = MemoryContextSwitchTo(lookup->values_cxt);
	for (int i = 0; i < lookup->run_n; i++)
	{
		HbFetched  *value = &values[lookup->run_keys[i]];

		*value = fetched[i];
		if (!value->isnull && !value->isint && value->bytes.len > 0)
		{
			uint8_t    *copy = palloc(value->bytes.len);

			memcpy(copy, value->bytes.data, value->bytes.len);
			value->bytes.data = copy;
		}
	}
	MemoryContextSwitchTo(old);
	lookup->run_n = 0;
}

/* The slot with the set's chunk open; takes the place of another one. */
static HbLookupChunk *
hb_lookup_open(HbLookup *lookup, int index, HbFetched *values)
{
	HbLookupChunk *slot;

	for (int i = 0; i < HB_LOOKUP_OPEN; i++)
		if (lookup->open[i].index == index)
			return &lookup->open[i];

	slot = &lookup->open[lookup->next_slot];
	lookup->next_slot = (lookup->next_slot + 1) % HB_LOOKUP_OPEN;
	if (slot->index >= 0)
	{
		/* its pending rows are to be fetched before it goes */
		if (lookup->run_n > 0 && lookup->run_chunk == slot)
			hb_lookup_flush(lookup, values);
		slot->index = -1;
		hb_chunk_close(slot->chunk);
	}
	slot->chunk = hb_chunk_open(lookup->set, index);
	slot->index = index;
	slot->reader_col = lookup->col < 0 ? -1 :
		hb_reader_column(slot->chunk->reader, lookup->source->columns[lookup->col].number);
	return slot;
}

/*
 * The first row with the key, in the order of chunks; NULL: none.  *last is
 * one behind the last in the same chunk.  from: where to begin in the set; it
 * is set to where to go on.
 */
static HbLookupChunk *
hb_lookup_find(HbLookup *lookup, int64 batch, int64 block, int64 item, int *from,
			   uint32 *first, uint32 *last, HbFetched *values)
{
	int			index = *from;

	while ((index = hb_chunk_set_find(lookup->set, block, index)) >= 0)
	{
		HbLookupChunk *slot;
		bool		good;

		*from = index + 1;
		if (hb_chunk_counts(&lookup->set->chunks[index], batch))
		{
			slot = hb_lookup_open(lookup, index, values);
			if (lookup->by_item)
				good = hb_reader_position(slot->chunk->reader, block, item, first, last);
			else
				good = hb_reader_block_rows(slot->chunk->reader, block, block, first, last);
			if (!good)
				hb_chunk_damaged(slot->chunk);
			if (*first < *last)
				return slot;
		}
		index++;
	}
	return NULL;
}

/*
 * For each of n keys the value of the lookup's column and whether there is a
 * row; bytes stay valid until the next call.  A key without an index (no_index)
 * is not found.
 */
void
hb_lookup_get(HbLookup *lookup, int64 batch, int n, const int64 *blocks,
			  const int64 *indexes, const bool *no_index, HbFetched *values, bool *found)
{
	int			same_as = -1;	/* key that the current one repeats */
	int		   *repeats = palloc_array(int, Max(n, 1));

	MemoryContextReset(lookup->values_cxt);
	lookup->run_n = 0;
	for (int i = 0; i < n; i++)
	{
		HbLookupChunk *slot;
		uint32		first;
		uint32		last;
		int			from = 0;

		repeats[i] = -1;
		found[i] = false;
		memset(&values[i], 0, sizeof(HbFetched));
		values[i].isnull = true;
		if (lookup->by_item && no_index[i])
			continue;
		if (same_as >= 0 && blocks[i] == blocks[same_as] &&
			(!lookup->by_item || indexes[i] == indexes[same_as]))
		{
			repeats[i] = same_as;
			continue;
		}
		same_as = i;
		slot = hb_lookup_find(lookup, batch, blocks[i], lookup->by_item ? indexes[i] : 0,
							  &from, &first, &last, values);
		if (slot == NULL)
			continue;
		/* a value that the source itself does not have is no source */
		if (slot->reader_col >= 0 &&
			hb_reader_info(slot->chunk->reader, slot->reader_col)->stored == HB_STORED_DERIVED)
			continue;
		found[i] = true;
		if (lookup->run_n > 0 &&
			(lookup->run_chunk != slot || lookup->run_page != first / HB_PAGE_ROWS ||
			 lookup->run_rows[lookup->run_n - 1] >= first % HB_PAGE_ROWS))
			hb_lookup_flush(lookup, values);
		lookup->run_chunk = slot;
		lookup->run_page = first / HB_PAGE_ROWS;
		lookup->run_rows[lookup->run_n] = first % HB_PAGE_ROWS;
		lookup->run_keys[lookup->run_n++] = i;
	}
	hb_lookup_flush(lookup, values);
	for (int i = 0; i < n; i++)
		if (repeats[i] >= 0)
		{
			values[i] = values[repeats[i]];
			found[i] = found[repeats[i]];
		}
	pfree(repeats);
}

/*
 * Blooms.  The columns of a log that go into it, by name.
 */
struct HbBloomLookup
{
	HbLookup   *rows;
	int			ncols;
	int		   *cols;
};

HbBloomLookup *
hb_bloom_begin(HbTable *source, List *columns, bool by_item, Snapshot snapshot)
{
	HbBloomLookup *bloom = palloc0_object(HbBloomLookup);
	ListCell   *lc;

	bloom->rows = hb_lookup_begin(source, -1, by_item, snapshot);
	bloom->cols = palloc_array(int, list_length(columns));
	foreach(lc, columns)
	{
		int			col = hb_table_column(source, strVal(lfirst(lc)));

		if (col >= 0)
			bloom->cols[bloom->ncols++] = col;
	}
	return bloom;
}

void
hb_bloom_end(HbBloomLookup *bloom)
{
	hb_lookup_end(bloom->rows);
	pfree(bloom->cols);
	pfree(bloom);
}

/* Adds rows first .. last - 1 of a chunk of logs to the bloom. */
static void
hb_bloom_rows(HbBloomLookup *bloom, HbLookupChunk *slot, uint32 first, uint32 last,
			  uint8_t bits[HB_BLOOM_LEN])
{
	while (first < last)
	{
		uint32		page = first / HB_PAGE_ROWS;
		uint32		end = Min(last, (page + 1) * HB_PAGE_ROWS);
		uint16		rows[HB_PAGE_ROWS];
		HbFetched	values[HB_PAGE_ROWS];
		int			n = 0;

		CHECK_FOR_INTERRUPTS();
		for (uint32 row = first; row < end; row++)
			rows[n++] = row % HB_PAGE_ROWS;
		for (int c = 0; c < bloom->ncols; c++)
		{
			HbColumn   *column = &bloom->rows->source->columns[bloom->cols[c]];

			hb_fetch(slot->chunk, hb_reader_column(slot->chunk->reader, column->number),
					 page, rows, n, values);
			for (int i = 0; i < n; i++)
				if (!values[i].isnull)
					hb_bloom_add(bits, values[i].bytes.data, values[i].bytes.len);
		}
		first = end;
	}
}

/* The bloom of the logs of a block or item; false when there are no logs. */
bool
hb_bloom_get(HbBloomLookup *bloom, int64 batch, int64 block, int64 index,
			 uint8_t bits[HB_BLOOM_LEN])
{
	bool		found = false;
	int			from = 0;
	uint32		first;
	uint32		last;
	HbLookupChunk *slot;

	memset(bits, 0, HB_BLOOM_LEN);
	while ((slot = hb_lookup_find(bloom->rows, batch, block, index, &from, &first, &last,
								  NULL)) != NULL)
	{
		found = true;
		hb_bloom_rows(bloom, slot, first, last, bits);
	}
	return found;
}
