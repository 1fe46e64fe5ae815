/*
 * hb_filter.c
 *		Which of many small chunks may hold a value of a hash-indexed column,
 *		answered for all of them at once.
 *
 * A stack of thousands of small chunks (one per block at the head of a chain)
 * must not cost a lookup by hash the opening of every chunk.  A backend that
 * looks values of a column up again and again therefore keeps, per table and
 * column, one hash table over the rows of all small chunks that it has seen:
 * from 32 bits of a value's hash to the chunk.  Chunks never change and their
 * numbers are never used twice, so what is in the table stays true; new chunks
 * are added as they appear.
 *
 * The answer may name a chunk in vain, never the other way round.  Chunks
 * that are not in the table (large ones, whose own index is one read; those
 * that store the column otherwise; those past the memory bound) are always
 * named.
 *
 * A filter numbers its chunks (slots).  A chunk list (hb_chunkset.c) keeps a
 * map from slots to its own rows, made once for each list.  Both are counted:
 * a filter lives as long as a list entry or a map names it.
 */
#include "postgres.h"

#include "codec/hb_hash.h"
#include "compat.h"
#include "store/hb_store_int.h"

#include "miscadmin.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"

#define HB_FILTER_CHUNK_ROWS	4096	/* larger chunks are asked themselves */
#define HB_FILTER_HEADS			(1 << 16)
#define HB_FILTER_SPARE			256 /* chunks gone that never matter */

typedef struct HbFilterRow
{
	uint32		next;			/* index + 1 in the chain; 0: its end */
	uint32		hash;
	uint32		slot;
} HbFilterRow;

typedef struct HbFilterChunk
{
	int64		chunk_id;
	uint32		slot;
} HbFilterChunk;

struct HbFilter
{
	HbFilter   *next;			/* of the same list entry */
	int			refs;
	int16		column;			/* its number */
	int			asked;
	MemoryContext cxt;
	HTAB	   *chunks;			/* HbFilterChunk */
	uint32		nslots;
	uint32		nrows;
	uint32		space;
	HbFilterRow *rows;
	uint32	   *heads;
};

HbFilter *
hb_filter_create(int16 column)
{
	MemoryContext cxt = AllocSetContextCreate(CacheMemoryContext, "hotblocks filter",
											  ALLOCSET_DEFAULT_SIZES);
	HbFilter   *filter = MemoryContextAllocZero(cxt, sizeof(HbFilter));
	HASHCTL		ctl = {
		.keysize = sizeof(int64),
		.entrysize = sizeof(HbFilterChunk),
		.hcxt = cxt
	};

	filter->refs = 1;
	filter->column = column;
	filter->cxt = cxt;
	filter->chunks = hash_create("hotblocks filter chunks", 256, &ctl,
								 HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	return filter;
}

void
hb_filter_unref(HbFilter *filter)
{
	Assert(filter->refs > 0);
	if (--filter->refs == 0)
		MemoryContextDelete(filter->cxt);
}

HbFilter *
hb_filter_find(HbFilter *filters, int16 column)
{
	while (filters != NULL && filters->column != column)
		filters = filters->next;
	return filters;
}

HbFilter *
hb_filter_push(HbFilter *filters, HbFilter *filter)
{
	filter->next = filters;
	return filter;
}

HbFilter *
hb_filter_next(const HbFilter *filter)
{
	return filter->next;
}

/*
 * Is it worth its making?  Not at the first question of a backend's life,
 * which opening each chunk answers sooner.
 */
bool
hb_filter_wanted(HbFilter *filter)
{
	return filter->asked++ > 0;
}

/*
 * Are most of its chunks gone (compaction, TRUNCATE), so that it is better made
 * anew for a table of nchunks?
 */
bool
hb_filter_crowded(const HbFilter *filter, int nchunks)
{
	return filter->nslots > 2 * (uint32) nchunks + HB_FILTER_SPARE;
}

static inline uint32
hb_filter_hash(HbSlice value)
{
	return (uint32) (hb_hash64(value.data, value.len) >> 32);
}

static bool
hb_filter_room(HbFilter *filter, uint32 more)
{
	uint32		need = filter->nrows + more;

	if ((Size) need * sizeof(HbFilterRow) > (Size) hb_directory_cache_size * 1024 / 2)
		return false;
	if (filter->heads == NULL)
		filter->heads = MemoryContextAllocZero(filter->cxt,
											   HB_FILTER_HEADS * sizeof(uint32));
	if (need > filter->space)
	{
		uint32		space = Max(need, Max(filter->space * 2, 4096));

		if (filter->rows == NULL)
			filter->rows = MemoryContextAllocHuge(filter->cxt, (Size) space * sizeof(HbFilterRow));
		else
			filter->rows = repalloc_huge(filter->rows, (Size) space * sizeof(HbFilterRow));
		filter->space = space;
	}
	return true;
}

/*
 * Adds the values of a chunk; leaves it out (and so always named) where that
 * cannot be done cheaply, or its bytes are damaged: whoever then asks the
 * chunk itself will say so.  A chunk counts as added only when all of it is.
 */
static void
hb_filter_add(HbFilter *filter, HbOpenChunk *chunk)
{
	HbReader   *reader = chunk->reader;
	int			col = hb_reader_column(reader, filter->column);
	uint32		nrows = hb_reader_rows(reader);
	HbFilterChunk *known;
	uint16_t	rows[HB_PAGE_ROWS];
	HbSlice    *values;
	bool		found;

	if (col < 0 || hb_reader_info(reader, col)->stored != HB_STORED_FIXED ||
		!hb_filter_room(filter, nrows))
		return;
	values = palloc_array(HbSlice, HB_PAGE_ROWS);
	for (uint32 page = 0; page < hb_reader_pages(reader); page++)
	{
		int			n = Min(HB_PAGE_ROWS, nrows - page * HB_PAGE_ROWS);

		for (int i = 0; i < n; i++)
			rows[i] = (uint16_t) i;
		if (!hb_reader_bytes(reader, col, page, rows, n, values))
		{
			pfree(values);
			return;
		}
		for (int i = 0; i < n; i++)
		{
			HbFilterRow *row = &filter->rows[filter->nrows++];
			uint32	   *head;

			row->hash = hb_filter_hash(values[i]);
			row->slot = filter->nslots;
			head = &filter->heads[row->hash % HB_FILTER_HEADS];
			row->next = *head;
			*head = filter->nrows;
		}
	}
	pfree(values);
	known = hash_search(filter->chunks, &chunk->row->chunk_id, HASH_ENTER, &found);
	known->slot = filter->nslots++;
}

/*
 * The filter's view of a list of n chunks, in a context that lives as long as
 * the list; adds those chunks that it does not know yet.
 */
HbFilterMap *
hb_filter_map(HbFilter *filter, HbChunkSet *set, MemoryContext cxt)
{
	HbFilterMap *map = MemoryContextAllocZero(cxt, sizeof(HbFilterMap));

	for (int i = 0; i < set->nchunks; i++)
	{
		HbOpenChunk *chunk;

		CHECK_FOR_INTERRUPTS();
		if (set->chunks[i].nrows > HB_FILTER_CHUNK_ROWS ||
			hash_search(filter->chunks, &set->chunks[i].chunk_id, HASH_FIND, NULL) != NULL)
			continue;
		chunk = hb_chunk_open(set, i);
		hb_filter_add(filter, chunk);
		hb_chunk_close(chunk);
	}

	map->nslots = filter->nslots;
	map->rows = MemoryContextAllocHuge(cxt, Max(map->nslots, 1) * sizeof(int));
	for (uint32 i = 0; i < map->nslots; i++)
		map->rows[i] = -1;
	map->others = MemoryContextAllocHuge(cxt, Max(set->nchunks, 1) * sizeof(int));
	for (int i = 0; i < set->nchunks; i++)
	{
		HbFilterChunk *known = hash_search(filter->chunks, &set->chunks[i].chunk_id,
										   HASH_FIND, NULL);

		if (known != NULL)
			map->rows[known->slot] = i;
		else
			map->others[map->nothers++] = i;
	}
	map->filter = filter;
	filter->refs++;
	return map;
}

/* Sets the bits of the chunks that may hold the value. */
void
hb_filter_probe(const HbFilterMap *map, HbSlice value, uint64 *chunks)
{
	const HbFilter *filter = map->filter;
	uint32		hash = hb_filter_hash(value);

	for (int i = 0; i < map->nothers; i++)
		chunks[map->others[i] / 64] |= UINT64CONST(1) << (map->others[i] % 64);
	if (filter->heads == NULL)
		return;
	for (uint32 at = filter->heads[hash % HB_FILTER_HEADS]; at != 0;
		 at = filter->rows[at - 1].next)
	{
		const HbFilterRow *row = &filter->rows[at - 1];
		int			i;

		if (row->hash != hash || row->slot >= map->nslots)
			continue;
		i = map->rows[row->slot];
		if (i >= 0)
			chunks[i / 64] |= UINT64CONST(1) << (i % 64);
	}
}
