/*
 * hb_head.c
 *		The head row: reading it under a snapshot, locking it, writing it; and
 *		the rows of the small tables that a transition writes beside it.
 *
 * The head row is the dataset's lock.  It is a row lock, so that the server's
 * deadlock detector sees it and pg_locks shows it; whoever waits gets the
 * latest version when the wait is over.  Everything here that looks for rows
 * in order to change them reads as a catalog would: what is committed now and
 * this transaction's own changes, whatever the isolation level, since the
 * state that a transition starts from is the last one's.
 */
#include "postgres.h"

#include "compat.h"
#include "store/hb_store_int.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

static int64
hb_head_int(HeapTuple tuple, TupleDesc desc, AttrNumber attno, bool *isnull)
{
	Datum		datum = heap_getattr(tuple, attno, desc, isnull);

	return *isnull ? 0 : DatumGetInt64(datum);
}

static bytea *
hb_head_bytes(HeapTuple tuple, TupleDesc desc, AttrNumber attno)
{
	bool		isnull;
	Datum		datum = heap_getattr(tuple, attno, desc, &isnull);

	return isnull ? NULL : DatumGetByteaPCopy(datum);
}

static void
hb_head_fill(HeapTuple tuple, TupleDesc desc, HbHead *head)
{
	bool		isnull;

	memset(head, 0, sizeof(*head));
	head->version = hb_head_int(tuple, desc, HB_HEAD_VERSION, &isnull);
	head->layout = hb_head_int(tuple, desc, HB_HEAD_LAYOUT, &isnull);
	head->first_block = hb_head_int(tuple, desc, HB_HEAD_FIRST_BLOCK, &head->empty);
	head->head_number = hb_head_int(tuple, desc, HB_HEAD_NUMBER, &isnull);
	head->head_hash = hb_head_bytes(tuple, desc, HB_HEAD_HASH);
	head->head_parent_hash = hb_head_bytes(tuple, desc, HB_HEAD_PARENT_HASH);
	head->anchor_number = hb_head_int(tuple, desc, HB_HEAD_ANCHOR_NUMBER, &isnull);
	head->has_anchor = !isnull;
	head->anchor_hash = hb_head_bytes(tuple, desc, HB_HEAD_ANCHOR_HASH);
	head->finalized_number = hb_head_int(tuple, desc, HB_HEAD_FINALIZED_NUMBER, &isnull);
	head->has_finalized = !isnull;
	head->finalized_hash = hb_head_bytes(tuple, desc, HB_HEAD_FINALIZED_HASH);
	head->floor_block = hb_head_int(tuple, desc, HB_HEAD_FLOOR_BLOCK, &isnull);
	/* raw: freezing the row does not change what it names */
	head->xmin = HeapTupleHeaderGetRawXmin(tuple->t_data);
	head->tid = tuple->t_self;
}

static void
hb_head_missing(HbDataset *ds)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("dataset \"%s\" has no head row", NameStr(ds->name))));
}

/*
 * Scans the head table for its one row, under a snapshot (NULL: as a catalog).
 * The key makes it an index scan, which prunes the row's dead versions.
 */
static SysScanDesc
hb_head_scan(Relation rel, Snapshot snapshot, HeapTuple *tuple)
{
	Oid			pkey = hb_storage_pkey(rel);
	ScanKeyData key;
	SysScanDesc scan;

	ScanKeyInit(&key, HB_HEAD_ONE, BTEqualStrategyNumber, F_BOOLEQ,
				BoolGetDatum(true));
	scan = systable_beginscan(rel, pkey, OidIsValid(pkey), snapshot, 1, &key);
	*tuple = systable_getnext(scan);
	return scan;
}

void
hb_head_read(HbDataset *ds, Snapshot snapshot, HbHead *head)
{
	Relation	rel = hb_storage_open(ds, HB_STORAGE_HEAD, AccessShareLock);
	HeapTuple	tuple;
	SysScanDesc scan = hb_head_scan(rel, snapshot, &tuple);

	if (HeapTupleIsValid(tuple))
		hb_head_fill(tuple, RelationGetDescr(rel), head);
	systable_endscan(scan);
	table_close(rel, NoLock);

	/*
	 * A snapshot older than the dataset: it is empty, as a table that was
	 * made after the snapshot would be.
	 */
	if (!HeapTupleIsValid(tuple))
	{
		memset(head, 0, sizeof(*head));
		head->empty = true;
		head->layout = -1;
	}
}

/*
 * The layout, the row version's xmin and the retention floor; false when the
 * snapshot does not see the row.
 */
bool
hb_head_layout(HbDataset *ds, Snapshot snapshot, int64 *layout,
			   TransactionId *xmin, int64 *floor_block)
{
	Relation	rel = hb_storage_open(ds, HB_STORAGE_HEAD, AccessShareLock);
	HeapTuple	tuple;
	SysScanDesc scan = hb_head_scan(rel, snapshot, &tuple);
	bool		found = HeapTupleIsValid(tuple);
	bool		isnull;

	*layout = -1;
	*xmin = InvalidTransactionId;
	*floor_block = 0;
	if (found)
	{
		*layout = hb_head_int(tuple, RelationGetDescr(rel), HB_HEAD_LAYOUT, &isnull);
		*floor_block = hb_head_int(tuple, RelationGetDescr(rel), HB_HEAD_FLOOR_BLOCK,
								   &isnull);
		*xmin = HeapTupleHeaderGetRawXmin(tuple->t_data);
	}
	systable_endscan(scan);
	table_close(rel, NoLock);
	return found;
}

void
hb_head_lock(HbDataset *ds, HbHeadLock mode, HbHead *head)
{
	static const LockTupleMode modes[] = {
		[HB_HEAD_KEY_SHARE] = LockTupleKeyShare,
		[HB_HEAD_NO_KEY_UPDATE] = LockTupleNoKeyExclusive,
		[HB_HEAD_UPDATE] = LockTupleExclusive
	};
	Relation	rel = hb_storage_open(ds, HB_STORAGE_HEAD, RowShareLock);
	TupleTableSlot *slot = table_slot_create(rel, NULL);
	HeapTuple	tuple;
	SysScanDesc scan = hb_head_scan(rel, NULL, &tuple);
	ItemPointerData tid;
	Snapshot	snapshot;
	TM_FailureData tmfd;
	TM_Result	result;
	bool		should_free;

	if (XactReadOnly)
		ereport(ERROR,
				(errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION),
				 errmsg("cannot write to dataset \"%s\" in a read-only transaction",
						NameStr(ds->name))));
	if (!HeapTupleIsValid(tuple))
		hb_head_missing(ds);
	tid = tuple->t_self;
	systable_endscan(scan);

	snapshot = RegisterSnapshot(GetLatestSnapshot());
	result = table_tuple_lock(rel, &tid, snapshot, slot, GetCurrentCommandId(false),
							  modes[mode], LockWaitBlock,
							  TUPLE_LOCK_FLAG_LOCK_UPDATE_IN_PROGRESS |
							  TUPLE_LOCK_FLAG_FIND_LAST_VERSION, &tmfd);
	UnregisterSnapshot(snapshot);
	if (result == TM_Deleted)
		ereport(ERROR,
				(errcode(HB_ERRCODE_NO_DATASET),
				 errmsg("dataset \"%s\" was dropped concurrently", NameStr(ds->name))));
	if (result != TM_Ok)
		elog(ERROR, "could not lock the head row of dataset \"%s\": %d",
			 NameStr(ds->name), (int) result);

	if (head != NULL)
	{
		tuple = ExecFetchSlotHeapTuple(slot, false, &should_free);
		hb_head_fill(tuple, RelationGetDescr(rel), head);
		head->tid = slot->tts_tid;
		if (should_free)
			heap_freetuple(tuple);
	}
	ExecDropSingleTupleTableSlot(slot);
	table_close(rel, NoLock);
}

void
hb_head_update(HbDataset *ds, HbHead *head)
{
	Relation	rel = hb_storage_open(ds, HB_STORAGE_HEAD, RowExclusiveLock);
	Datum	   *values = palloc0_array(Datum, RelationGetDescr(rel)->natts);
	bool	   *nulls = palloc0_array(bool, RelationGetDescr(rel)->natts);
	bool	   *replace = palloc0_array(bool, RelationGetDescr(rel)->natts);
	HeapTuple	old;
	HeapTuple	new;
	SysScanDesc scan = hb_head_scan(rel, NULL, &old);

	if (!HeapTupleIsValid(old))
		hb_head_missing(ds);

#define SET(attno, has, datum) \
	(replace[(attno) - 1] = true, nulls[(attno) - 1] = !(has), \
	 values[(attno) - 1] = (has) ? (datum) : (Datum) 0)
	head->layout++;
	SET(HB_HEAD_VERSION, true, Int64GetDatum(head->version));
	SET(HB_HEAD_LAYOUT, true, Int64GetDatum(head->layout));
	SET(HB_HEAD_FIRST_BLOCK, !head->empty, Int64GetDatum(head->first_block));
	SET(HB_HEAD_NUMBER, !head->empty, Int64GetDatum(head->head_number));
	SET(HB_HEAD_HASH, head->head_hash != NULL, PointerGetDatum(head->head_hash));
	SET(HB_HEAD_PARENT_HASH, head->head_parent_hash != NULL,
		PointerGetDatum(head->head_parent_hash));
	SET(HB_HEAD_ANCHOR_NUMBER, head->has_anchor, Int64GetDatum(head->anchor_number));
	SET(HB_HEAD_ANCHOR_HASH, head->anchor_hash != NULL, PointerGetDatum(head->anchor_hash));
	SET(HB_HEAD_FINALIZED_NUMBER, head->has_finalized,
		Int64GetDatum(head->finalized_number));
	SET(HB_HEAD_FINALIZED_HASH, head->finalized_hash != NULL,
		PointerGetDatum(head->finalized_hash));
	SET(HB_HEAD_FLOOR_BLOCK, true, Int64GetDatum(head->floor_block));
#undef SET

	new = heap_modify_tuple(old, RelationGetDescr(rel), values, nulls, replace);
	hb_storage_update(rel, &old->t_self, new, &head->tid);
	head->xmin = GetCurrentTransactionId();
	systable_endscan(scan);
	heap_freetuple(new);
	pfree(values);
	pfree(nulls);
	pfree(replace);
	table_close(rel, NoLock);
	hb_xact_dirty(ds);
	CommandCounterIncrement();
}

static bool
hb_coverage_is_of(HeapTuple tuple, TupleDesc desc, const char *missing_column)
{
	bool		isnull;
	Datum		value = heap_getattr(tuple, HB_COVERAGE_MISSING_COLUMN, desc,
									 &isnull);

	return !isnull && strcmp(TextDatumGetCString(value), missing_column) == 0;
}

/*
 * The range and all that touch or overlap it become one row.
 */
void
hb_coverage_add(HbDataset *ds, const char *table, const char *missing_column,
				int64 first, int64 last)
{
	Relation	rel = hb_storage_open(ds, HB_STORAGE_COVERAGE, RowExclusiveLock);
	TupleDesc	desc = RelationGetDescr(rel);
	Oid			pkey = hb_storage_pkey(rel);
	Datum		values[HB_COVERAGE_NATTS];
	bool		nulls[HB_COVERAGE_NATTS] = {false};
	List	   *absorbed = NIL;
	ListCell   *lc;
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;
	bool		covered = false;

	ScanKeyInit(&key, HB_COVERAGE_TABLE_NAME, BTEqualStrategyNumber, F_TEXTEQ,
				CStringGetTextDatum(table));
	scan = systable_beginscan(rel, pkey, OidIsValid(pkey), NULL, 1, &key);
	while ((tuple = systable_getnext(scan)) != NULL)
	{
		bool		isnull;
		int64		lo = hb_head_int(tuple, desc, HB_COVERAGE_FIRST_BLOCK, &isnull);
		int64		hi = hb_head_int(tuple, desc, HB_COVERAGE_LAST_BLOCK, &isnull);
		ItemPointer tid;

		CHECK_FOR_INTERRUPTS();
		if (!hb_coverage_is_of(tuple, desc, missing_column))
			continue;
		if (lo <= first && last <= hi)
			covered = true;
		/* apart, not even touching */
		if ((hi < first && hi != first - 1) || (lo > last && lo != last + 1))
			continue;
		tid = palloc_object(ItemPointerData);
		*tid = tuple->t_self;
		absorbed = lappend(absorbed, tid);
		first = Min(first, lo);
		last = Max(last, hi);
	}
	systable_endscan(scan);

	if (!covered)
	{
		foreach(lc, absorbed)
			hb_storage_delete(rel, lfirst(lc));
		/* the key of a deleted row may come again: let the index see it dead */
		if (absorbed != NIL)
			CommandCounterIncrement();
		values[HB_COVERAGE_TABLE_NAME - 1] = CStringGetTextDatum(table);
		values[HB_COVERAGE_FIRST_BLOCK - 1] = Int64GetDatum(first);
		values[HB_COVERAGE_LAST_BLOCK - 1] = Int64GetDatum(last);
		values[HB_COVERAGE_MISSING_COLUMN - 1] = CStringGetTextDatum(missing_column);
		hb_storage_insert(rel, HB_STORAGE_COVERAGE, values, nulls,
						  GetCurrentCommandId(true));
		CommandCounterIncrement();
	}
	list_free_deep(absorbed);
	table_close(rel, NoLock);
}

static int
hb_block_range_cmp(const ListCell *a, const ListCell *b)
{
	const HbBlockRange *ra = lfirst(a);
	const HbBlockRange *rb = lfirst(b);

	return ra->first < rb->first ? -1 : ra->first > rb->first;
}

static HbBlockRange *
hb_block_range(int64 first, int64 last)
{
	HbBlockRange *range = palloc_object(HbBlockRange);

	range->first = first;
	range->last = last;
	return range;
}

List *
hb_coverage_missing(HbDataset *ds, Snapshot snapshot, const char *table,
					int64 first, int64 last)
{
	Relation	rel = hb_storage_open(ds, HB_STORAGE_COVERAGE, AccessShareLock);
	TupleDesc	desc = RelationGetDescr(rel);
	Oid			pkey = hb_storage_pkey(rel);
	List	   *covered = NIL;
	List	   *missing = NIL;
	ListCell   *lc;
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key, HB_COVERAGE_TABLE_NAME, BTEqualStrategyNumber, F_TEXTEQ,
				CStringGetTextDatum(table));
	scan = systable_beginscan(rel, pkey, OidIsValid(pkey), snapshot, 1, &key);
	while ((tuple = systable_getnext(scan)) != NULL)
	{
		bool		isnull;

		if (!hb_coverage_is_of(tuple, desc, ""))
			continue;
		covered = lappend(covered,
						  hb_block_range(hb_head_int(tuple, desc, HB_COVERAGE_FIRST_BLOCK, &isnull),
										 hb_head_int(tuple, desc, HB_COVERAGE_LAST_BLOCK, &isnull)));
	}
	systable_endscan(scan);
	table_close(rel, NoLock);
	list_sort(covered, hb_block_range_cmp);

	/* what lies before each covered range, and after the last */
	foreach(lc, covered)
	{
		HbBlockRange *range = lfirst(lc);

		if (range->last < first)
			continue;
		if (range->first > last)
			break;
		if (range->first > first)
			missing = lappend(missing, hb_block_range(first, range->first - 1));
		if (range->last >= last)
		{
			list_free_deep(covered);
			return missing;
		}
		first = range->last + 1;
	}
	if (first <= last)
		missing = lappend(missing, hb_block_range(first, last));
	list_free_deep(covered);
	return missing;
}

void
hb_gap_add(HbDataset *ds, int64 first, int64 last)
{
	Relation	rel = hb_storage_open(ds, HB_STORAGE_GAP, RowExclusiveLock);
	Datum		values[HB_GAP_NATTS] = {Int64GetDatum(first), Int64GetDatum(last)};
	bool		nulls[HB_GAP_NATTS] = {false};

	hb_storage_insert(rel, HB_STORAGE_GAP, values, nulls, GetCurrentCommandId(true));
	table_close(rel, NoLock);
	CommandCounterIncrement();
}

void
hb_transition_add(HbDataset *ds, const char *kind, int64 from_block,
				  const HbHead *old, const HbHead *head)
{
	Relation	rel = hb_storage_open(ds, HB_STORAGE_TRANSITION, RowExclusiveLock);
	Datum		values[HB_TRANSITION_NATTS] = {0};
	bool		nulls[HB_TRANSITION_NATTS];

	memset(nulls, true, sizeof(nulls));
#define SET(attno, datum) \
	(values[(attno) - 1] = (datum), nulls[(attno) - 1] = false)
	SET(HB_TRANSITION_VERSION, Int64GetDatum(head->version));
	SET(HB_TRANSITION_KIND, CStringGetTextDatum(kind));
	if (from_block != PG_INT64_MIN)
		SET(HB_TRANSITION_FROM_BLOCK, Int64GetDatum(from_block));
	if (!old->empty)
		SET(HB_TRANSITION_OLD_HEAD_NUMBER, Int64GetDatum(old->head_number));
	if (old->head_hash != NULL)
		SET(HB_TRANSITION_OLD_HEAD_HASH, PointerGetDatum(old->head_hash));
	if (!head->empty)
		SET(HB_TRANSITION_NEW_HEAD_NUMBER, Int64GetDatum(head->head_number));
	if (head->head_hash != NULL)
		SET(HB_TRANSITION_NEW_HEAD_HASH, PointerGetDatum(head->head_hash));
	if (head->has_finalized)
		SET(HB_TRANSITION_FINALIZED_NUMBER, Int64GetDatum(head->finalized_number));
	if (head->finalized_hash != NULL)
		SET(HB_TRANSITION_FINALIZED_HASH, PointerGetDatum(head->finalized_hash));
	SET(HB_TRANSITION_AT, TimestampTzGetDatum(GetCurrentTimestamp()));
#undef SET
	hb_storage_insert(rel, HB_STORAGE_TRANSITION, values, nulls,
					  GetCurrentCommandId(true));
	table_close(rel, NoLock);
	CommandCounterIncrement();
}

Relation
hb_feed_table_open(HbDataset *ds, LOCKMODE lock)
{
	return hb_storage_open(ds, HB_STORAGE_FEED, lock);
}

void
hb_feed_table_put(HbDataset *ds, const char *fact, const char *name, int64 count)
{
	Relation	rel = hb_storage_open(ds, HB_STORAGE_FEED, RowExclusiveLock);
	TupleDesc	desc = RelationGetDescr(rel);
	Oid			pkey = hb_storage_pkey(rel);
	ScanKeyData keys[2];
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&keys[0], HB_FEED_FACT, BTEqualStrategyNumber, F_TEXTEQ,
				CStringGetTextDatum(fact));
	ScanKeyInit(&keys[1], HB_FEED_NAME, BTEqualStrategyNumber, F_TEXTEQ,
				CStringGetTextDatum(name));
	scan = systable_beginscan(rel, pkey, OidIsValid(pkey), NULL, 2, keys);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
	{
		Datum	   *values = palloc0_array(Datum, desc->natts);
		bool	   *nulls = palloc0_array(bool, desc->natts);
		bool	   *replace = palloc0_array(bool, desc->natts);
		bool		isnull;
		HeapTuple	changed;
		ItemPointerData tid;

		replace[HB_FEED_COUNT - 1] = true;
		values[HB_FEED_COUNT - 1] =
			Int64GetDatum(hb_head_int(tuple, desc, HB_FEED_COUNT, &isnull) + count);
		changed = heap_modify_tuple(tuple, desc, values, nulls, replace);
		hb_storage_update(rel, &tuple->t_self, changed, &tid);
		heap_freetuple(changed);
	}
	else
	{
		Datum		values[HB_FEED_NATTS];
		bool		nulls[HB_FEED_NATTS] = {false};

		values[HB_FEED_FACT - 1] = CStringGetTextDatum(fact);
		values[HB_FEED_NAME - 1] = CStringGetTextDatum(name);
		values[HB_FEED_COUNT - 1] = Int64GetDatum(count);
		hb_storage_insert(rel, HB_STORAGE_FEED, values, nulls, GetCurrentCommandId(true));
	}
	systable_endscan(scan);
	table_close(rel, NoLock);
	CommandCounterIncrement();
}
