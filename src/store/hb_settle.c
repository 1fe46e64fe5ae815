/*
 * hb_settle.c
 *		Is it settled from which rows of another table a chunk's values derive?
 *
 * A value that a chunk leaves out is looked up again by every reader, among
 * source chunks that count for it: those with a lower id than the chunk's
 * batch, and those of its own feed, which shares one batch.  Nothing may come
 * to be among them that the writer has not compared with.  So a writer takes
 * its batch, and then looks for chunks of the source that its snapshot does
 * not show: committed since, of transactions that still run, or of a command
 * of its own that began later.  If there is one in its range of blocks, the
 * values are stored.
 *
 * Between the time when a chunk gets its id and when its row can be found,
 * whoever looks must wait: writers of chunks hold a lock meanwhile that those
 * who look conflict with.  It is on an object of the chunk table that nothing
 * else locks, and who holds it waits for no other lock of ours.
 */
#include "postgres.h"

#include "store/hb_store_int.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/snapmgr.h"

/* The lock's part of the chunk table, which has no such column. */
#define HB_SETTLE_SUBID		0xFFFF

void
hb_settle_lock(HbDataset *ds, HbSettle who)
{
	LockDatabaseObject(RelationRelationId, ds->chunk_relid, HB_SETTLE_SUBID,
					   who == HB_SETTLE_WRITE ? RowExclusiveLock : ShareLock);
}

void
hb_settle_unlock(HbDataset *ds, HbSettle who)
{
	UnlockDatabaseObject(RelationRelationId, ds->chunk_relid, HB_SETTLE_SUBID,
						 who == HB_SETTLE_WRITE ? RowExclusiveLock : ShareLock);
}

/* Chunks of a table that touch blocks lo .. hi, under a snapshot. */
static SysScanDesc
hb_settle_scan(Relation rel, const char *table, int64 lo, int64 hi, Snapshot snapshot,
			   ScanKeyData keys[3])
{
	const AttrNumber attnums[3] = {
		HB_CHUNK_TABLE_NAME, HB_CHUNK_LAST_BLOCK, HB_CHUNK_FIRST_BLOCK
	};
	Oid			index = hb_storage_index(rel, attnums, 3);

	ScanKeyInit(&keys[0], HB_CHUNK_TABLE_NAME, BTEqualStrategyNumber, F_TEXTEQ,
				CStringGetTextDatum(table));
	ScanKeyInit(&keys[1], HB_CHUNK_LAST_BLOCK, BTGreaterEqualStrategyNumber, F_INT8GE,
				Int64GetDatum(lo));
	ScanKeyInit(&keys[2], HB_CHUNK_FIRST_BLOCK, BTLessEqualStrategyNumber, F_INT8LE,
				Int64GetDatum(hi));
	return systable_beginscan(rel, index, OidIsValid(index), snapshot, 3, keys);
}

static int64
hb_settle_int(Relation rel, HeapTuple tuple, AttrNumber attnum)
{
	bool		isnull;

	return DatumGetInt64(heap_getattr(tuple, attnum, RelationGetDescr(rel), &isnull));
}

static int
hb_settle_cmp(const void *a, const void *b)
{
	int64		x = *(const int64 *) a;
	int64		y = *(const int64 *) b;

	return x < y ? -1 : x > y;
}

/* The ids of the chunks that a snapshot shows, ascending. */
static int64 *
hb_settle_shown(Relation rel, const char *table, int64 lo, int64 hi, Snapshot snapshot,
				int *n)
{
	ScanKeyData keys[3];
	SysScanDesc scan = hb_settle_scan(rel, table, lo, hi, snapshot, keys);
	HeapTuple	tuple;
	int			room = 64;
	int64	   *ids = palloc_array(int64, room);

	*n = 0;
	while ((tuple = systable_getnext(scan)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		if (*n == room)
		{
			room *= 2;
			ids = repalloc_huge(ids, room * sizeof(int64));
		}
		ids[(*n)++] = hb_settle_int(rel, tuple, HB_CHUNK_ID);
	}
	systable_endscan(scan);
	qsort(ids, *n, sizeof(int64), hb_settle_cmp);
	return ids;
}

/*
 * May values of blocks lo .. hi derive from the table called source?  batch is
 * the writer's, snapshot what it compares under; NULL if it does not compare
 * with chunks of others at all.  The caller holds the lock.
 */
bool
hb_settled(HbDataset *ds, const char *source, int64 lo, int64 hi, Snapshot snapshot,
		   int64 batch)
{
	Relation	rel = hb_storage_open(ds, HB_STORAGE_CHUNK, AccessShareLock);
	SnapshotData dirty;
	ScanKeyData keys[3];
	SysScanDesc scan;
	HeapTuple	tuple;
	int64	   *shown = NULL;
	int			nshown = 0;
	bool		settled = true;

	if (snapshot != NULL)
		shown = hb_settle_shown(rel, source, lo, hi, snapshot, &nshown);
	InitDirtySnapshot(dirty);
	scan = hb_settle_scan(rel, source, lo, hi, &dirty, keys);
	while (settled && (tuple = systable_getnext(scan)) != NULL)
	{
		int64		id = hb_settle_int(rel, tuple, HB_CHUNK_ID);

		CHECK_FOR_INTERRUPTS();
		if (hb_settle_int(rel, tuple, HB_CHUNK_BATCH) != batch)
			settled = nshown > 0 &&
				bsearch(&id, shown, nshown, sizeof(int64), hb_settle_cmp) != NULL;
	}
	systable_endscan(scan);
	table_close(rel, NoLock);
	return settled;
}
