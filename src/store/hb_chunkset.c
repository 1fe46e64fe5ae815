/*
 * hb_chunkset.c
 *		The chunks of a table under a snapshot.
 *
 * A chunk list is the whole table's, sorted, with sums, so that a block range
 * is answered by binary search: where chunks ascend in both bounds, the usual
 * case, a set is a part of the list and costs nothing by chunk.  A backend
 * keeps the latest list of each table under the name (layout, xmin) of the
 * head row: whoever changes the chunk table changes the head row in the same
 * transaction, so two snapshots that see the same version of the one see the
 * same rows of the other.
 *
 * The list is not used, and a private one made, in a transaction that has
 * itself written to the dataset (the head row is changed only at its end), in
 * serializable transactions (which must be seen to read the rows), and under
 * snapshots that are no MVCC snapshots.
 *
 * A set belongs to the resource owner that was current when it was made, and
 * is released with it: after an error too, so nothing in the caches stays
 * pinned.  Sets, and private lists, are in contexts below
 * TopTransactionContext.
 */
#include "postgres.h"

#include "compat.h"
#include "store/hb_store_int.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/resowner.h"

typedef struct HbListKey
{
	Oid			chunk_relid;
	Oid			column_relid;
	NameData	table;
} HbListKey;

typedef struct HbChunkList
{
	MemoryContext cxt;
	pg_uuid_t	dataset;
	int64		layout;
	TransactionId xmin;
	int			refs;			/* sets that use it, and the cache */
	bool		cached;			/* rows' entries may be kept */
	bool		ascending;		/* in both bounds */
	int			n;
	HbChunkRow *rows;
	int		   *overlaps;		/* how many of rows 1..i share a block with the
								 * one before; where ascending */
	uint64	   *sum_rows;		/* n + 1: of rows before i */
	uint64	   *sum_bytes;
	HbFilterMap *maps;
} HbChunkList;

typedef struct HbListEntry
{
	HbListKey	key;
	HbChunkList *list;
	HbFilter   *filters;
	bool		stale;
} HbListEntry;

typedef struct HbChunkSetImpl
{
	HbChunkSet	set;
	MemoryContext cxt;
	ResourceOwner owner;
	dlist_node	node;
	HbChunkList *list;
	bool		part;			/* set.chunks is in the list, not a copy */
	int			room;			/* of a copy */
	int64		lo;				/* what a copy is of */
	int64		hi;
	dlist_head	open;			/* HbOpenChunkImpl */
	bool		files_known;
	Oid			piece_file;
	Oid			toast_file;
} HbChunkSetImpl;

typedef struct HbOpenChunkImpl
{
	HbOpenChunk chunk;
	HbReaderHandle *handle;
	dlist_node	node;
} HbOpenChunkImpl;

/* Fewer chunks are sooner asked one by one. */
#define HB_FILTER_MIN_CHUNKS	16

static HTAB *hb_lists = NULL;
static dlist_head hb_sets = DLIST_STATIC_INIT(hb_sets);

static void
hb_list_unref(HbChunkList *list)
{
	Assert(list->refs > 0);
	if (--list->refs > 0)
		return;
	for (int i = 0; i < list->n; i++)
		if (list->rows[i].entry != NULL)
			hb_cache_entry_release(list->rows[i].entry);
	for (HbFilterMap *map = list->maps; map != NULL; map = map->next)
		hb_filter_unref(map->filter);
	MemoryContextDelete(list->cxt);
}

/* Filters are true of the chunks that were read, not of others of that name. */
static void
hb_entry_drop_filters(HbListEntry *entry)
{
	while (entry->filters != NULL)
	{
		HbFilter   *filter = entry->filters;

		entry->filters = hb_filter_next(filter);
		hb_filter_unref(filter);
	}
}

static void
hb_set_release(HbChunkSetImpl *impl, bool keep)
{
	dlist_mutable_iter iter;

	dlist_delete(&impl->node);
	dlist_foreach_modify(iter, &impl->open)
	{
		HbOpenChunkImpl *open = dlist_container(HbOpenChunkImpl, node, iter.cur);

		hb_cache_put(open->handle, keep);
	}
	if (!impl->part)
		for (int i = 0; i < impl->set.nchunks; i++)
		{
			if (impl->set.chunks[i].entry != NULL)
				hb_cache_entry_release(impl->set.chunks[i].entry);
			if (impl->set.chunks[i].image != NULL)
				hb_pending_image_unref(impl->set.chunks[i].image);
		}
	hb_list_unref(impl->list);
	MemoryContextDelete(impl->cxt);
}

void
hb_chunk_set_release(HbChunkSet *set)
{
	hb_set_release((HbChunkSetImpl *) set, true);
}

static void
hb_set_resource_callback(ResourceReleasePhase phase, bool isCommit,
						 bool isTopLevel, void *arg)
{
	dlist_mutable_iter iter;

	if (phase != RESOURCE_RELEASE_AFTER_LOCKS)
		return;
	dlist_foreach_modify(iter, &hb_sets)
	{
		HbChunkSetImpl *impl = dlist_container(HbChunkSetImpl, node, iter.cur);

		if (impl->owner == CurrentResourceOwner)
			hb_set_release(impl, isCommit);
	}
}

static void
hb_lists_init(void)
{
	HASHCTL		ctl = {
		.keysize = sizeof(HbListKey),
		.entrysize = sizeof(HbListEntry),
		.hcxt = CacheMemoryContext
	};

	hb_lists = hash_create("hotblocks chunk lists", 16, &ctl,
						   HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	RegisterResourceReleaseCallback(hb_set_resource_callback, NULL);
}

/* Called by invalidation, so it only marks. */
void
hb_chunk_lists_forget(Oid column_relid)
{
	HASH_SEQ_STATUS seq;
	HbListEntry *entry;

	if (hb_lists == NULL)
		return;
	hash_seq_init(&seq, hb_lists);
	while ((entry = hash_seq_search(&seq)) != NULL)
		if (column_relid == InvalidOid || entry->key.column_relid == column_relid)
			entry->stale = true;
}

static int
hb_chunk_row_cmp(const void *a, const void *b)
{
	const HbChunkRow *ra = a;
	const HbChunkRow *rb = b;

	if (ra->first_block != rb->first_block)
		return ra->first_block < rb->first_block ? -1 : 1;
	if (ra->last_block != rb->last_block)
		return ra->last_block < rb->last_block ? -1 : 1;
	return ra->chunk_id < rb->chunk_id ? -1 : ra->chunk_id > rb->chunk_id;
}

static void
hb_list_read_row(HbChunkRow *row, HeapTuple tuple, TupleDesc desc)
{
	bool		isnull;
	Datum		first;
	Datum		last;

	memset(row, 0, sizeof(*row));
	row->chunk_id = DatumGetInt64(heap_getattr(tuple, HB_CHUNK_ID, desc, &isnull));
	first = heap_getattr(tuple, HB_CHUNK_FIRST_BLOCK, desc, &isnull);
	row->has_blocks = !isnull;
	last = heap_getattr(tuple, HB_CHUNK_LAST_BLOCK, desc, &isnull);
	if (isnull)
		row->has_blocks = false;
	if (row->has_blocks)
	{
		row->first_block = DatumGetInt64(first);
		row->last_block = DatumGetInt64(last);
	}
	row->body_len = DatumGetInt64(heap_getattr(tuple, HB_CHUNK_BODY_LEN, desc, &isnull));
	row->bytes = DatumGetInt64(heap_getattr(tuple, HB_CHUNK_BYTES, desc, &isnull));
	row->directory_bytes = (int32) (row->bytes - row->body_len);
	row->batch = DatumGetInt64(heap_getattr(tuple, HB_CHUNK_BATCH, desc, &isnull));
	row->nrows = DatumGetInt32(heap_getattr(tuple, HB_CHUNK_NROWS, desc, &isnull));
	row->level = DatumGetInt16(heap_getattr(tuple, HB_CHUNK_LEVEL, desc, &isnull));
	row->format = DatumGetInt16(heap_getattr(tuple, HB_CHUNK_FORMAT, desc, &isnull));
}

/*
 * Reads the rows of the table's chunks that the snapshot sees.  Those that end
 * below lo may be missing from the result.
 */
static HbChunkList *
hb_list_read(HbTable *table, Snapshot snapshot, int64 lo, MemoryContext parent)
{
	static const AttrNumber attnums[] = {
		HB_CHUNK_TABLE_NAME, HB_CHUNK_LAST_BLOCK, HB_CHUNK_FIRST_BLOCK
	};
	Relation	rel = hb_storage_open(table->dataset, HB_STORAGE_CHUNK, AccessShareLock);
	Oid			index = hb_storage_index(rel, attnums, lengthof(attnums));
	MemoryContext cxt = AllocSetContextCreate(parent, "hotblocks chunk list",
											  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(cxt);
	HbChunkList *list = palloc0_object(HbChunkList);
	ScanKeyData keys[2];
	int			nkeys = 1;
	int			space = 16;
	SysScanDesc scan;
	HeapTuple	tuple;

	list->cxt = cxt;
	list->dataset = table->dataset->id;
	list->rows = palloc_array(HbChunkRow, space);
	ScanKeyInit(&keys[0], HB_CHUNK_TABLE_NAME, BTEqualStrategyNumber, F_TEXTEQ,
				CStringGetTextDatum(NameStr(table->name)));
	if (lo > PG_INT64_MIN && table->block_col >= 0)
		ScanKeyInit(&keys[nkeys++], HB_CHUNK_LAST_BLOCK, BTGreaterEqualStrategyNumber,
					F_INT8GE, Int64GetDatum(lo));
	scan = systable_beginscan(rel, index, OidIsValid(index), snapshot, nkeys, keys);
	while ((tuple = systable_getnext(scan)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		if (list->n == space)
		{
			space *= 2;
			list->rows = repalloc_huge(list->rows, space * sizeof(HbChunkRow));
		}
		hb_list_read_row(&list->rows[list->n++], tuple, RelationGetDescr(rel));
	}
	systable_endscan(scan);
	table_close(rel, NoLock);

	qsort(list->rows, list->n, sizeof(HbChunkRow), hb_chunk_row_cmp);
	list->ascending = true;
	list->overlaps = MemoryContextAllocHuge(cxt, (list->n + 1) * sizeof(int));
	list->sum_rows = MemoryContextAllocHuge(cxt, (list->n + 1) * sizeof(uint64));
	list->sum_bytes = MemoryContextAllocHuge(cxt, (list->n + 1) * sizeof(uint64));
	list->overlaps[0] = 0;
	list->sum_rows[0] = list->sum_bytes[0] = 0;
	for (int i = 0; i < list->n; i++)
	{
		list->sum_rows[i + 1] = list->sum_rows[i] + list->rows[i].nrows;
		list->sum_bytes[i + 1] = list->sum_bytes[i] + list->rows[i].bytes;
		if (i == 0)
			continue;
		list->ascending = list->ascending &&
			list->rows[i].last_block >= list->rows[i - 1].last_block;
		list->overlaps[i] = list->overlaps[i - 1] +
			(list->rows[i].first_block <= list->rows[i - 1].last_block);
	}
	MemoryContextSwitchTo(old);
	list->refs = 1;
	return list;
}

/* The list for a snapshot, with a reference for the caller. */
static HbChunkList *
hb_list_get(HbTable *table, Snapshot snapshot, int64 lo, int64 *floor_block)
{
	HbDataset  *ds = table->dataset;
	HbListKey	key;
	HbListEntry *entry;
	HbChunkList *list;
	int64		layout;
	TransactionId xmin;
	bool		found;

	if (!hb_head_layout(ds, snapshot, &layout, &xmin, floor_block) ||
		!IsMVCCSnapshot(snapshot) || IsolationIsSerializable() ||
		hb_dataset_is_dirty(ds))
		return hb_list_read(table, snapshot, lo, TopTransactionContext);

	memset(&key, 0, sizeof(key));
	key.chunk_relid = ds->chunk_relid;
	key.column_relid = ds->column_relid;
	key.table = table->name;
	entry = hash_search(hb_lists, &key, HASH_ENTER, &found);
	if (!found)
	{
		entry->list = NULL;
		entry->filters = NULL;
		entry->stale = false;
	}
	list = entry->list;
	if (list != NULL && !entry->stale && list->layout == layout && list->xmin == xmin &&
		memcmp(&list->dataset, &ds->id, sizeof(ds->id)) == 0)
	{
		list->refs++;
		return list;
	}

	/*
	 * An invalidation that comes while the rows are read marks the entry, and
	 * so makes the next one read again.
	 */
	if (entry->stale || (list != NULL &&
						 memcmp(&list->dataset, &ds->id, sizeof(ds->id)) != 0))
		hb_entry_drop_filters(entry);
	entry->stale = false;
	list = hb_list_read(table, snapshot, PG_INT64_MIN, TopTransactionContext);
	list->layout = layout;
	list->xmin = xmin;
	list->cached = true;
	MemoryContextSetParent(list->cxt, CacheMemoryContext);
	if (entry->list != NULL)
		hb_list_unref(entry->list);
	entry->list = list;
	list->refs++;
	return list;
}

/* The first row that ends at lo or above, where rows ascend. */
static int
hb_list_first(const HbChunkList *list, int64 block)
{
	int			lo = 0;
	int			hi = list->n;

	while (lo < hi)
	{
		int			mid = lo + (hi - lo) / 2;

		if (list->rows[mid].last_block < block)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* The first row that begins above hi. */
static int
hb_list_above(const HbChunkList *list, int64 block)
{
	int			lo = 0;
	int			hi = list->n;

	while (lo < hi)
	{
		int			mid = lo + (hi - lo) / 2;

		if (list->rows[mid].first_block <= block)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* A row of the set's own. */
static void
hb_set_add(HbChunkSetImpl *impl, const HbChunkRow *row)
{
	HbChunkSet *set = &impl->set;

	if (set->nchunks == impl->room)
	{
		impl->room = Max(impl->room * 2, 16);
		set->chunks = set->chunks == NULL ?
			MemoryContextAllocHuge(impl->cxt, impl->room * sizeof(HbChunkRow)) :
			repalloc_huge(set->chunks, impl->room * sizeof(HbChunkRow));
	}
	set->chunks[set->nchunks] = *row;
	set->chunks[set->nchunks++].entry = NULL;
	set->total_rows += row->nrows;
	set->total_bytes += row->bytes;
}

/* An image, with the caller's reference. */
static void
hb_set_add_image(void *arg, HbPendingImage *image)
{
	HbChunkSetImpl *impl = arg;

	if (image->row.has_blocks &&
		(image->row.first_block > impl->hi || image->row.last_block < impl->lo))
		hb_pending_image_unref(image);
	else
		hb_set_add(impl, &image->row);
}

/*
 * Copies the rows that touch lo..hi: where they do not ascend, or where there
 * are also chunks in memory.
 */
static void
hb_set_copy(HbChunkSetImpl *impl, HbRows which)
{
	HbChunkList *list = impl->list;
	HbChunkSet *set = &impl->set;
	int			nstored;
	int64		last = 0;

	for (int i = 0; i < list->n; i++)
		if (!list->rows[i].has_blocks ||
			(list->rows[i].first_block <= impl->hi && list->rows[i].last_block >= impl->lo))
			hb_set_add(impl, &list->rows[i]);
	nstored = set->nchunks;
	hb_pending_collect(set->table, set->snapshot, which, hb_set_add_image, impl);
	if (set->nchunks > nstored)
		qsort(set->chunks, set->nchunks, sizeof(HbChunkRow), hb_chunk_row_cmp);

	for (int i = 0; i < set->nchunks; i++)
	{
		HbChunkRow *row = &set->chunks[i];

		if (i > 0 && row->first_block <= last)
			set->overlaps = true;
		last = i > 0 ? Max(last, row->last_block) : row->last_block;
	}
}

HbChunkSet *
hb_chunk_set(HbTable *table, Snapshot snapshot, int64 lo, int64 hi)
{
	return hb_chunk_set_rows(table, snapshot, lo, hi, HB_ROWS_STORED);
}

HbChunkSet *
hb_chunk_set_rows(HbTable *table, Snapshot snapshot, int64 lo, int64 hi, HbRows which)
{
	HbChunkList *list;
	MemoryContext cxt;
	HbChunkSetImpl *impl;
	HbChunkSet *set;
	int64		floor_block;
	uint64		pending_bytes;
	int			first;
	int			end;

	if (hb_lists == NULL)
		hb_lists_init();
	list = hb_list_get(table, snapshot, lo, &floor_block);

	cxt = AllocSetContextCreate(TopTransactionContext, "hotblocks chunk set",
								ALLOCSET_SMALL_SIZES);
	impl = MemoryContextAllocZero(cxt, sizeof(HbChunkSetImpl));
	set = &impl->set;
	impl->cxt = cxt;
	impl->owner = CurrentResourceOwner;
	impl->list = list;
	dlist_init(&impl->open);
	dlist_push_head(&hb_sets, &impl->node);
	set->table = table;
	set->snapshot = snapshot;
	set->floor_block = floor_block;

	if ((table->block_col >= 0 && !list->ascending) ||
		hb_pending_count(table, snapshot, which, &pending_bytes) > 0)
	{
		impl->lo = lo;
		impl->hi = hi;
		hb_set_copy(impl, which);
		return set;
	}
	first = 0;
	end = list->n;
	if (table->block_col >= 0)
	{
		first = hb_list_first(list, lo);
		end = Max(first, hb_list_above(list, hi));
	}
	impl->part = true;
	set->chunks = list->rows + first;
	set->nchunks = end - first;
	set->total_rows = list->sum_rows[end] - list->sum_rows[first];
	set->total_bytes = list->sum_bytes[end] - list->sum_bytes[first];
	set->overlaps = set->nchunks > 1 &&
		list->overlaps[end - 1] > list->overlaps[first];
	return set;
}

/*
 * The index of the first chunk, from index from on, that has rows of the block
 * within its bounds; -1: none.
 */
int
hb_chunk_set_find(HbChunkSet *set, int64 block, int from)
{
	HbChunkSetImpl *impl = (HbChunkSetImpl *) set;

	if (impl->part && from == 0)
		from = Max(0, hb_list_first(impl->list, block) -
				   (int) (set->chunks - impl->list->rows));
	for (; from < set->nchunks && set->chunks[from].first_block <= block; from++)
		if (set->chunks[from].last_block >= block)
			return from;
	return -1;
}

/* The list's map of a column's filter, made if need be; NULL: not yet. */
static HbFilterMap *
hb_set_filter_map(HbChunkSetImpl *impl, int col)
{
	HbTable    *table = impl->set.table;
	HbChunkList *list = impl->list;
	int16		column = table->columns[col].number;
	HbListEntry *entry;
	HbFilter   *filter;
	HbFilterMap *map;
	HbListKey	key;

	for (map = list->maps; map != NULL; map = map->next)
		if (map->column == column)
			return map;

	memset(&key, 0, sizeof(key));
	key.chunk_relid = table->dataset->chunk_relid;
	key.column_relid = table->dataset->column_relid;
	key.table = table->name;
	entry = hash_search(hb_lists, &key, HASH_FIND, NULL);
	if (entry == NULL || entry->list != list || entry->stale)
		return NULL;
	filter = hb_filter_find(entry->filters, column);
	if (filter != NULL && hb_filter_crowded(filter, list->n))
	{
		hb_entry_drop_filters(entry);
		filter = NULL;
	}
	if (filter == NULL)
	{
		filter = hb_filter_create(column);
		entry->filters = hb_filter_push(entry->filters, filter);
	}
	if (!hb_filter_wanted(filter))
		return NULL;
	map = hb_filter_map(filter, &impl->set, list->cxt);
	map->column = column;
	map->next = list->maps;
	list->maps = map;
	return map;
}

bool
hb_chunk_set_candidates(HbChunkSet *set, int col, const HbSlice *values, int nvalues,
						uint64 *chunks)
{
	HbChunkSetImpl *impl = (HbChunkSetImpl *) set;
	HbFilterMap *map;

	if (!set->table->columns[col].hash_index || !impl->list->cached || !impl->part ||
		set->nchunks != impl->list->n || set->nchunks < HB_FILTER_MIN_CHUNKS)
		return false;
	map = hb_set_filter_map(impl, col);
	if (map == NULL)
		return false;
	for (int i = 0; i < nvalues; i++)
		hb_filter_probe(map, values[i], chunks);
	return true;
}

/* Which files the pieces are in: positions that were kept hold for these. */
static void
hb_set_know_files(HbChunkSetImpl *impl)
{
	Relation	rel = hb_storage_open(impl->set.table->dataset, HB_STORAGE_PIECE,
									  AccessShareLock);
	Oid			toastrelid = rel->rd_rel->reltoastrelid;

	impl->piece_file = HB_RELFILENUMBER(rel);
	table_close(rel, NoLock);
	if (OidIsValid(toastrelid))
	{
		Relation	toast = table_open(toastrelid, AccessShareLock);

		impl->toast_file = HB_RELFILENUMBER(toast);
		table_close(toast, NoLock);
	}
	impl->files_known = true;
}

HbOpenChunk *
hb_chunk_open(HbChunkSet *set, int index)
{
	HbChunkSetImpl *impl = (HbChunkSetImpl *) set;
	MemoryContext old = MemoryContextSwitchTo(impl->cxt);
	HbOpenChunkImpl *open = palloc0_object(HbOpenChunkImpl);
	HbChunkRow *row = &set->chunks[index];
	HbReaderAsk ask;

	if (!impl->files_known)
		hb_set_know_files(impl);
	ask.table = set->table;
	ask.snapshot = set->snapshot;
	ask.row = row;
	ask.piece_file = impl->piece_file;
	ask.toast_file = impl->toast_file;
	/* the reference is the list's, or the set's where it has its own rows */
	if (impl->list->cached && row->image == NULL && row->entry == NULL)
		row->entry = hb_cache_entry(set->table->dataset, row->chunk_id);
	open->handle = hb_cache_get(row->entry, &ask);
	open->chunk.set = set;
	open->chunk.row = row;
	open->chunk.reader = open->handle->reader;
	open->chunk.private_data = NULL;
	dlist_push_head(&impl->open, &open->node);
	MemoryContextSwitchTo(old);
	return &open->chunk;
}

void
hb_chunk_close(HbOpenChunk *chunk)
{
	HbOpenChunkImpl *open = (HbOpenChunkImpl *) chunk;

	dlist_delete(&open->node);
	hb_cache_put(open->handle, true);
	pfree(open);
}

void
hb_chunk_damaged(HbOpenChunk *chunk)
{
	HbTable    *table = chunk->set->table;
	const HbError *error = hb_reader_error(chunk->reader);
	const char *column = NULL;
	StringInfoData place;
	/* parts that columns may share go by a number of their own */
	bool		shared = error->part != NULL && strncmp(error->part, "dictionary", 10) == 0;

	for (int i = 0; i < table->ncolumns; i++)
		if (table->columns[i].number == error->column)
			column = NameStr(table->columns[i].name);
	initStringInfo(&place);
	if (shared)
		appendStringInfo(&place, "Dictionary %d", error->column);
	else if (column != NULL)
		appendStringInfo(&place, "Column \"%s\"", column);
	else if (error->column >= 0)
		appendStringInfo(&place, "Column %d", error->column);
	if (error->part != NULL)
		appendStringInfo(&place, "%s%s", place.len > 0 ? ", " : "In ", error->part);
	if (error->page >= 0)
		appendStringInfo(&place, "%spage " INT64_FORMAT, place.len > 0 ? ", " : "In ",
						 error->page);
	ereport(ERROR,
			(errcode(error->code == HB_ERR_VERSION ? ERRCODE_FEATURE_NOT_SUPPORTED :
					 ERRCODE_DATA_CORRUPTED),
			 errmsg("chunk " INT64_FORMAT " of table \"%s\" of dataset \"%s\" is damaged",
					chunk->row->chunk_id, NameStr(table->name),
					NameStr(table->dataset->name)),
			 errdetail("%s%s%s.", place.data, place.len > 0 ? ": " : "", error->detail)));
}
