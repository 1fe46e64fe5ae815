/*
 * hb_truncate.c
 *		TRUNCATE: removes all rows of some of a dataset's tables.
 *
 * Chunk rows and pieces are deleted as any row is, so that older snapshots
 * keep seeing them and a rollback brings them back.  The head row is locked
 * FOR UPDATE first, which waits for everybody who is writing; what is deleted
 * is what a snapshot taken after that sees.  Under REPEATABLE READ and
 * SERIALIZABLE, chunks that the transaction's own snapshot does not see cannot
 * be deleted without showing rows that came in between twice, so that is a
 * serialization failure, before anything is written.
 */
#include "postgres.h"

#include "compat.h"
#include "store/hb_store_int.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "nodes/value.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/snapmgr.h"

static bool
is_among(const char *name, List *tables)
{
	ListCell   *lc;

	foreach(lc, tables)
	{
		if (strcmp(NameStr(((HbTable *) lfirst(lc))->name), name) == 0)
			return true;
	}
	return false;
}

static bool
has_rows(HbTable *table, Snapshot snapshot)
{
	HbChunkSet *set = hb_chunk_set(table, snapshot, PG_INT64_MIN, PG_INT64_MAX);
	bool		result = set->nchunks > 0;

	hb_chunk_set_release(set);
	return result;
}

/* Values that other tables may have left out must not lose their source. */
static void
check_dependents(HbDataset *ds, List *tables, Snapshot snapshot)
{
	ListCell   *lc;

	foreach(lc, hb_dataset_table_names(ds))
	{
		HbTable    *other;

		if (is_among(lfirst(lc), tables))
			continue;
		other = hb_table_open(ds, lfirst(lc), false);
		for (int i = 0; i < other->ncolumns; i++)
		{
			const char *source = NameStr(other->columns[i].source_table);

			if (!is_among(source, tables) || !has_rows(other, snapshot))
				continue;
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("cannot truncate table \"%s\" of dataset \"%s\" alone",
							source, NameStr(ds->name)),
					 errdetail("Values of column \"%s\" of table \"%s\" may be derived from it.",
							   NameStr(other->columns[i].name),
							   NameStr(other->name)),
					 errhint("Truncate table \"%s\" at the same time.",
							 NameStr(other->name))));
		}
	}
}

static void
delete_pieces(Relation rel, int64 chunk_id, Snapshot snapshot)
{
	Oid			pkey = hb_storage_pkey(rel);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key, HB_PIECE_CHUNK_ID, BTEqualStrategyNumber, F_INT8EQ,
				Int64GetDatum(chunk_id));
	scan = systable_beginscan(rel, pkey, OidIsValid(pkey), snapshot, 1, &key);
	while ((tuple = systable_getnext(scan)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		hb_storage_delete(rel, &tuple->t_self);
	}
	systable_endscan(scan);
}

/* The chunk table's rows of one table; also used for coverage. */
static SysScanDesc
scan_table_name(Relation rel, AttrNumber attnum, const HbTable *table,
				Snapshot snapshot, ScanKeyData *key)
{
	Oid			index = hb_storage_index(rel, &attnum, 1);

	ScanKeyInit(key, attnum, BTEqualStrategyNumber, F_TEXTEQ,
				CStringGetTextDatum(NameStr(table->name)));
	return systable_beginscan(rel, index, OidIsValid(index), snapshot, 1, key);
}

static void
check_visible(HbDataset *ds, const HbTable *table, Snapshot snapshot)
{
	Relation	rel = hb_storage_open(ds, HB_STORAGE_CHUNK, AccessShareLock);
	Snapshot	own = GetTransactionSnapshot();
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	scan = scan_table_name(rel, HB_CHUNK_TABLE_NAME, table, snapshot, &key);
	while ((tuple = systable_getnext(scan)) != NULL)
	{
		TransactionId xmin = HeapTupleHeaderGetXmin(tuple->t_data);

		CHECK_FOR_INTERRUPTS();
		if (!TransactionIdIsCurrentTransactionId(xmin) &&
			XidInMVCCSnapshot(xmin, own))
			ereport(ERROR,
					(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
					 errmsg("could not serialize access due to concurrent change of dataset \"%s\"",
							NameStr(ds->name))));
	}
	systable_endscan(scan);
	table_close(rel, NoLock);
}

static void
delete_chunks(HbDataset *ds, const HbTable *table, Snapshot snapshot)
{
	Relation	rel = hb_storage_open(ds, HB_STORAGE_CHUNK, RowExclusiveLock);
	Relation	pieces = hb_storage_open(ds, HB_STORAGE_PIECE, RowExclusiveLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	scan = scan_table_name(rel, HB_CHUNK_TABLE_NAME, table, snapshot, &key);
	while ((tuple = systable_getnext(scan)) != NULL)
	{
		bool		isnull;
		Datum		id = heap_getattr(tuple, HB_CHUNK_ID,
									  RelationGetDescr(rel), &isnull);

		CHECK_FOR_INTERRUPTS();
		delete_pieces(pieces, DatumGetInt64(id), snapshot);
		hb_storage_delete(rel, &tuple->t_self);
	}
	systable_endscan(scan);
	table_close(pieces, NoLock);
	table_close(rel, NoLock);
}

static void
delete_coverage(HbDataset *ds, const HbTable *table, Snapshot snapshot)
{
	Relation	rel = hb_storage_open(ds, HB_STORAGE_COVERAGE, RowExclusiveLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	scan = scan_table_name(rel, HB_COVERAGE_TABLE_NAME, table, snapshot, &key);
	while ((tuple = systable_getnext(scan)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		hb_storage_delete(rel, &tuple->t_self);
	}
	systable_endscan(scan);
	table_close(rel, NoLock);
}

static void
delete_gaps(HbDataset *ds, Snapshot snapshot)
{
	Relation	rel = hb_storage_open(ds, HB_STORAGE_GAP, RowExclusiveLock);
	SysScanDesc scan;
	HeapTuple	tuple;

	scan = systable_beginscan(rel, InvalidOid, false, snapshot, 0, NULL);
	while ((tuple = systable_getnext(scan)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		hb_storage_delete(rel, &tuple->t_self);
	}
	systable_endscan(scan);
	table_close(rel, NoLock);
}

/* Without blocks there is no chain: the next block may be any. */
static void
forget_chain(HbDataset *ds, HbHead *head, Snapshot snapshot)
{
	head->empty = true;
	head->head_hash = NULL;
	head->head_parent_hash = NULL;
	head->has_anchor = false;
	head->anchor_hash = NULL;
	head->has_finalized = false;
	head->finalized_hash = NULL;
	delete_gaps(ds, snapshot);
}

void
hb_dataset_truncate(HbDataset *ds, List *tables)
{
	HbHead		head;
	HbHead		old;
	Snapshot	snapshot;
	ListCell   *lc;

	foreach(lc, tables)
		hb_pending_forbid_truncate(lfirst(lc));
	hb_head_lock(ds, HB_HEAD_UPDATE, &head);
	old = head;
	hb_xact_dirty(ds);
	snapshot = RegisterSnapshot(GetLatestSnapshot());
	check_dependents(ds, tables, snapshot);
	if (IsolationUsesXactSnapshot())
	{
		foreach(lc, tables)
			check_visible(ds, lfirst(lc), snapshot);
	}

	foreach(lc, tables)
	{
		HbTable    *table = lfirst(lc);

		delete_chunks(ds, table, snapshot);
		delete_coverage(ds, table, snapshot);
		hb_xact_forget_load(table);
		if (table->is_block_table)
			forget_chain(ds, &head, snapshot);
	}
	UnregisterSnapshot(snapshot);
	CommandCounterIncrement();

	head.version++;
	hb_head_update(ds, &head);
	hb_transition_add(ds, "truncate", PG_INT64_MIN, &old, &head);
}
