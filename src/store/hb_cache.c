/*
 * hb_cache.c
 *		Parsed chunks, kept per backend.
 *
 * Chunks never change, so a reader that was opened for one query serves the
 * next as well, with what it has parsed and decoded, and with the positions of
 * its pieces' rows.  Readers live in memory contexts of their own, so what
 * they hold is known; those that nobody uses are in a list in order of their
 * last use, and leave it from the far end when all of them together pass
 * hotblocks.directory_cache_size.
 *
 * An entry stands for a chunk (of a chunk table) and exists as long as a chunk
 * list names it (hb_chunkset.c) or it has readers.  A transaction that has
 * written to the dataset does not use entries: its readers are private, and
 * die when they are closed, so nothing that may be rolled back is ever kept.
 *
 * Chunks in memory (hb_pending.c) have no entries; each keeps a reader.
 *
 * A reader that was in use when an error struck is thrown away: it may have
 * been left in the middle of something.
 */
#include "postgres.h"

#include "compat.h"
#include "store/hb_store_int.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/memutils.h"

typedef struct HbChunkKey
{
	Oid			chunk_relid;
	Oid			column_relid;	/* tells invalidations; also fills the key */
	int64		chunk_id;
} HbChunkKey;

struct HbChunkEntry
{
	HbChunkKey	key;
	int			refs;			/* chunk lists that name it */
	HbReaderHandle *handles;
};

static HTAB *hb_entries = NULL;
static dlist_head hb_lru = DLIST_STATIC_INIT(hb_lru);	/* head: used last */
static Size hb_cached_bytes = 0;	/* of all handles that have an entry */
static uint32 hb_turned_away = 0;	/* new readers that found it full */

#define HB_ADMIT_EVERY	32

static void
hb_cache_relcache_callback(Datum arg, Oid relid)
{
	hb_cache_forget(relid);
	hb_chunk_lists_forget(relid);
}

static void
hb_cache_init(void)
{
	HASHCTL		ctl = {
		.keysize = sizeof(HbChunkKey),
		.entrysize = sizeof(HbChunkEntry),
		.hcxt = CacheMemoryContext
	};

	hb_entries = hash_create("hotblocks chunks", 256, &ctl,
							 HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	CacheRegisterRelcacheCallback(hb_cache_relcache_callback, (Datum) 0);
}

/* The entry of a chunk; the caller's reference is to be released. */
HbChunkEntry *
hb_cache_entry(HbDataset *ds, int64 chunk_id)
{
	HbChunkKey	key = {ds->chunk_relid, ds->column_relid, chunk_id};
	HbChunkEntry *entry;
	bool		found;

	if (hb_entries == NULL)
		hb_cache_init();
	entry = hash_search(hb_entries, &key, HASH_ENTER, &found);
	if (!found)
	{
		entry->refs = 0;
		entry->handles = NULL;
	}
	entry->refs++;
	return entry;
}

static void
hb_cache_entry_drop(HbChunkEntry *entry)
{
	if (entry->refs == 0 && entry->handles == NULL)
		hash_search(hb_entries, &entry->key, HASH_REMOVE, NULL);
}

static void
hb_handle_free(HbReaderHandle *handle)
{
	HbChunkEntry *entry = handle->entry;

	if (entry != NULL)
	{
		HbReaderHandle **link = &entry->handles;

		while (*link != handle)
			link = &(*link)->next;
		*link = handle->next;
		hb_cached_bytes -= handle->size;
		if (!handle->pinned)
			dlist_delete(&handle->lru);
	}
	MemoryContextDelete(handle->cxt);
	if (entry != NULL)
		hb_cache_entry_drop(entry);
}

/*
 * A list that named the chunk is gone.  Its readers stay for the next list,
 * and age.
 */
void
hb_cache_entry_release(HbChunkEntry *entry)
{
	Assert(entry->refs > 0);
	entry->refs--;
	hb_cache_entry_drop(entry);
}

/*
 * Somebody has changed the dataset's tables by hand: what was read of them
 * does not hold.  Called by invalidation, so it only marks.
 */
void
hb_cache_forget(Oid column_relid)
{
	HASH_SEQ_STATUS seq;
	HbChunkEntry *entry;

	if (hb_entries == NULL || hash_get_num_entries(hb_entries) == 0)
		return;
	hash_seq_init(&seq, hb_entries);
	while ((entry = hash_seq_search(&seq)) != NULL)
	{
		if (column_relid != InvalidOid && entry->key.column_relid != column_relid)
			continue;
		for (HbReaderHandle *h = entry->handles; h != NULL; h = h->next)
			h->doomed = true;
	}
}

static bool
hb_handle_source(void *arg, uint64_t off, uint32_t len, uint8_t *dst)
{
	HbReaderHandle *handle = arg;

	if (off > handle->body_len || len > handle->body_len - off)
		return false;
	if (handle->body != NULL)
		memcpy(dst, handle->body + off, len);
	else
		hb_piece_read(&handle->pieces, off, len, dst);
	return true;
}

/*
 * Reads the chunk's row: its directory, and its body where that is in the row.
 * The directory is palloc'd in the current context.
 */
static uint8_t *
hb_handle_read_row(HbReaderHandle *handle, const HbReaderAsk *ask, uint32 *dir_len)
{
	Relation	rel = hb_storage_open(ask->table->dataset, HB_STORAGE_CHUNK,
									  AccessShareLock);
	Oid			pkey = hb_storage_pkey(rel);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;
	bool		isnull;
	Datum		datum;
	uint8_t    *dir = NULL;

	ScanKeyInit(&key, HB_CHUNK_ID, BTEqualStrategyNumber, F_INT8EQ,
				Int64GetDatum(ask->row->chunk_id));
	scan = systable_beginscan(rel, pkey, OidIsValid(pkey), ask->snapshot, 1, &key);
	tuple = systable_getnext(scan);
	if (!HeapTupleIsValid(tuple))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("chunk " INT64_FORMAT " of table \"%s\" of dataset \"%s\" is missing",
						ask->row->chunk_id, NameStr(ask->table->name),
						NameStr(ask->table->dataset->name))));

	datum = heap_getattr(tuple, HB_CHUNK_DIRECTORY, RelationGetDescr(rel), &isnull);
	if (!isnull)
	{
		bytea	   *bytes = DatumGetByteaPP(datum);

		*dir_len = VARSIZE_ANY_EXHDR(bytes);
		dir = palloc(Max(*dir_len, 1));
		memcpy(dir, VARDATA_ANY(bytes), *dir_len);
	}
	datum = heap_getattr(tuple, HB_CHUNK_BODY, RelationGetDescr(rel), &isnull);
	if (!isnull)
	{
		bytea	   *bytes = DatumGetByteaPP(datum);

		handle->body_len = VARSIZE_ANY_EXHDR(bytes);
		handle->body = MemoryContextAlloc(handle->cxt, Max(handle->body_len, 1));
		memcpy(handle->body, VARDATA_ANY(bytes), handle->body_len);
	}
	systable_endscan(scan);
	table_close(rel, NoLock);
	return dir;
}

/* Says what the handle reads for now. */
static void
hb_handle_aim(HbReaderHandle *handle, const HbReaderAsk *ask)
{
	handle->pieces.ds = ask->table->dataset;
	handle->pieces.table = NameStr(ask->table->name);
	handle->pieces.snapshot = ask->snapshot;
	if (handle->piece_file != ask->piece_file || handle->toast_file != ask->toast_file)
	{
		hb_piece_reader_reset(&handle->pieces);
		handle->piece_file = ask->piece_file;
		handle->toast_file = ask->toast_file;
	}
}

/* No body is larger than a chunk's rows of the largest values could make it. */
#define HB_BODY_MAX	((uint64) 1 << 48)

static HbReaderHandle *
hb_handle_make(HbChunkEntry *entry, const HbReaderAsk *ask)
{
	MemoryContext cxt = AllocSetContextCreate(CurrentMemoryContext, "hotblocks chunk",
											  ALLOCSET_SMALL_SIZES);
	HbReaderHandle *handle = MemoryContextAllocZero(cxt, sizeof(HbReaderHandle));
	HbPendingImage *image = ask->row->image;
	HbError		error;
	uint8_t    *dir;
	uint32		dir_len = 0;

	if (ask->row->body_len > HB_BODY_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("chunk " INT64_FORMAT " of table \"%s\" of dataset \"%s\" is damaged",
						ask->row->chunk_id, NameStr(ask->table->name),
						NameStr(ask->table->dataset->name)),
				 errdetail("The length of its body is impossible.")));
	handle->cxt = cxt;
	handle->body_len = ask->row->body_len;
	hb_mem_init(&handle->mem, cxt);
	handle->pieces.cxt = cxt;
	handle->pieces.chunk_id = ask->row->chunk_id;
	hb_piece_reader_init(&handle->pieces, ask->row->body_len);
	handle->piece_file = ask->piece_file;
	handle->toast_file = ask->toast_file;
	hb_handle_aim(handle, ask);

	if (image != NULL)
	{
		dir = image->dir;
		dir_len = image->dir_len;
		handle->body = image->body;
	}
	else
		dir = hb_handle_read_row(handle, ask, &dir_len);
	if (dir == NULL)
		dir = hb_piece_read_directory(&handle->pieces, &dir_len);
	handle->reader = hb_reader_open(&handle->mem, dir, dir_len,
									(uint64_t) ask->row->chunk_id, &error);
	if (handle->reader == NULL)
		ereport(ERROR,
				(errcode(error.code == HB_ERR_VERSION ? ERRCODE_FEATURE_NOT_SUPPORTED :
						 ERRCODE_DATA_CORRUPTED),
				 errmsg("directory of chunk " INT64_FORMAT " of table \"%s\" of dataset \"%s\" is damaged",
						ask->row->chunk_id, NameStr(ask->table->name),
						NameStr(ask->table->dataset->name)),
				 errdetail("%s.", error.detail)));
	if (image == NULL)
		pfree(dir);
	if (hb_reader_rows(handle->reader) != ask->row->nrows)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("directory of chunk " INT64_FORMAT " of table \"%s\" of dataset \"%s\" is damaged",
						ask->row->chunk_id, NameStr(ask->table->name),
						NameStr(ask->table->dataset->name)),
				 errdetail("It has %u rows instead of %u.",
						   hb_reader_rows(handle->reader), ask->row->nrows)));
	handle->source.read = hb_handle_source;
	handle->source.arg = handle;
	hb_reader_set_source(handle->reader, &handle->source);

	/* from here on nothing fails: it is ours to keep */
	if (entry != NULL)
	{
		MemoryContextSetParent(cxt, CacheMemoryContext);
		handle->entry = entry;
		handle->next = entry->handles;
		entry->handles = handle;
		handle->size = MemoryContextMemAllocated(cxt, false);
		hb_cached_bytes += handle->size;
	}
	handle->image = image;
	handle->pinned = true;
	handle->fresh = true;
	return handle;
}

static void
hb_cache_evict(void)
{
	Size		limit = (Size) hb_directory_cache_size * 1024;

	while (hb_cached_bytes > limit && !dlist_is_empty(&hb_lru))
		hb_handle_free(dlist_container(HbReaderHandle, lru, dlist_tail_node(&hb_lru)));
}

/*
 * A reader of the chunk for one user.  entry NULL: a private one, whose memory
 * belongs to the current context.  An image keeps one reader for the next
 * user.
 */
HbReaderHandle *
hb_cache_get(HbChunkEntry *entry, const HbReaderAsk *ask)
{
	HbPendingImage *image = ask->row->image;
	HbReaderHandle *handle;

	if (image != NULL && image->idle != NULL)
	{
		handle = image->idle;
		image->idle = NULL;
		return handle;
	}
	if (entry == NULL)
		return hb_handle_make(NULL, ask);
	for (handle = entry->handles; handle != NULL; handle = handle->next)
	{
		if (handle->pinned || handle->doomed)
			continue;
		handle->pinned = true;
		dlist_delete(&handle->lru);
		hb_handle_aim(handle, ask);
		return handle;
	}
	return hb_handle_make(entry, ask);
}

/* Gives a reader back; not to be kept when it was left by an error. */
void
hb_cache_put(HbReaderHandle *handle, bool keep)
{
	Size		size;

	if (handle->image != NULL && keep && handle->image->idle == NULL)
	{
		MemoryContextSetParent(handle->cxt, handle->image->cxt);
		handle->image->idle = handle;
		return;
	}
	if (handle->entry == NULL || !keep || handle->doomed)
	{
		hb_handle_free(handle);
		return;
	}
	size = MemoryContextMemAllocated(handle->cxt, false);
	hb_cached_bytes += size - handle->size;
	handle->size = size;
	handle->pinned = false;
	if (hb_cached_bytes <= (Size) hb_directory_cache_size * 1024)
	{
		dlist_push_head(&hb_lru, &handle->lru);
		handle->fresh = false;
		return;
	}

	/*
	 * Full.  Queries that go through more chunks than fit, one after the
	 * other, would find none of them again if each took the place of the one
	 * used longest ago.  So a new reader usually goes at once, and what is
	 * there stays; now and then one comes in, so that what is no longer asked
	 * for goes in the end.
	 */
	if (handle->fresh && ++hb_turned_away % HB_ADMIT_EVERY != 0)
		dlist_push_tail(&hb_lru, &handle->lru);
	else
		dlist_push_head(&hb_lru, &handle->lru);
	handle->fresh = false;
	hb_cache_evict();
}
