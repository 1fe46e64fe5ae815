/*
 * hb_storage.c
 *		The tables of a dataset: opening them, and writing their rows.
 *
 * They are ordinary tables that belong to the dataset's owner, who may alter
 * them, add indexes, even drop columns.  So every open compares the columns
 * with what the library reads and writes by number (a mismatch is an error,
 * never a misread byte), and every write goes through the executor's index
 * maintenance, which knows expressions, predicates and constraints.  Triggers
 * do not fire for these writes: the trigger on them tells by-hand changes.
 */
#include "postgres.h"

#include "compat.h"
#include "store/hb_store_int.h"

#include "access/heapam.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/pg_am_d.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type_d.h"
#include "executor/tuptable.h"
#include "utils/lsyscache.h"
#include "utils/relcache.h"

typedef struct HbStorageColumn
{
	const char *name;
	Oid			type;
} HbStorageColumn;

static const HbStorageColumn hb_head_columns[HB_HEAD_NATTS] = {
	{"one", BOOLOID},
	{"version", INT8OID},
	{"layout", INT8OID},
	{"first_block", INT8OID},
	{"head_number", INT8OID},
	{"head_hash", BYTEAOID},
	{"head_parent_hash", BYTEAOID},
	{"anchor_number", INT8OID},
	{"anchor_hash", BYTEAOID},
	{"finalized_number", INT8OID},
	{"finalized_hash", BYTEAOID},
	{"floor_block", INT8OID},
	{"retention", TEXTOID},
	{"retention_blocks", INT8OID}
};

static const HbStorageColumn hb_chunk_columns[HB_CHUNK_NATTS] = {
	{"chunk_id", INT8OID},
	{"first_block", INT8OID},
	{"last_block", INT8OID},
	{"body_len", INT8OID},
	{"bytes", INT8OID},
	{"batch", INT8OID},
	{"nrows", INT4OID},
	{"level", INT2OID},
	{"format", INT2OID},
	{"table_name", TEXTOID},
	{"directory", BYTEAOID},
	{"body", BYTEAOID}
};

static const HbStorageColumn hb_piece_columns[HB_PIECE_NATTS] = {
	{"chunk_id", INT8OID},
	{"seq", INT4OID},
	{"data", BYTEAOID}
};

static const HbStorageColumn hb_column_columns[HB_COLUMN_NATTS] = {
	{"table_name", TEXTOID},
	{"column_no", INT2OID},
	{"name", TEXTOID},
	{"column_type", REGTYPEOID},
	{"typmod", INT4OID},
	{"collation_schema", NAMEOID},
	{"collation_name", NAMEOID},
	{"not_null", BOOLOID},
	{"sort_position", INT2OID},
	{"block_column", BOOLOID},
	{"width", INT2OID},
	{"hash_index", BOOLOID},
	{"domain", INT2OID},
	{"wide", BOOLOID},
	{"derive", TEXTOID},
	{"source_table", TEXTOID},
	{"source_columns", TEXTARRAYOID}
};

static const HbStorageColumn hb_coverage_columns[HB_COVERAGE_NATTS] = {
	{"table_name", TEXTOID},
	{"first_block", INT8OID},
	{"last_block", INT8OID},
	{"missing_column", TEXTOID}
};

static const HbStorageColumn hb_gap_columns[HB_GAP_NATTS] = {
	{"first_block", INT8OID},
	{"last_block", INT8OID}
};

static const HbStorageColumn hb_transition_columns[HB_TRANSITION_NATTS] = {
	{"version", INT8OID},
	{"kind", TEXTOID},
	{"from_block", INT8OID},
	{"old_head_number", INT8OID},
	{"old_head_hash", BYTEAOID},
	{"new_head_number", INT8OID},
	{"new_head_hash", BYTEAOID},
	{"removed_numbers", INT8ARRAYOID},
	{"removed_hashes", BYTEAARRAYOID},
	{"finalized_number", INT8OID},
	{"finalized_hash", BYTEAOID},
	{"at", TIMESTAMPTZOID}
};

static const HbStorageColumn hb_feed_columns[HB_FEED_NATTS] = {
	{"fact", TEXTOID},
	{"name", TEXTOID},
	{"count", INT8OID}
};

static const struct
{
	const HbStorageColumn *columns;
	int			natts;
}			hb_storage_shapes[HB_NSTORAGE] = {
	[HB_STORAGE_HEAD] = {hb_head_columns, HB_HEAD_NATTS},
	[HB_STORAGE_CHUNK] = {hb_chunk_columns, HB_CHUNK_NATTS},
	[HB_STORAGE_PIECE] = {hb_piece_columns, HB_PIECE_NATTS},
	[HB_STORAGE_COLUMN] = {hb_column_columns, HB_COLUMN_NATTS},
	[HB_STORAGE_COVERAGE] = {hb_coverage_columns, HB_COVERAGE_NATTS},
	[HB_STORAGE_GAP] = {hb_gap_columns, HB_GAP_NATTS},
	[HB_STORAGE_TRANSITION] = {hb_transition_columns, HB_TRANSITION_NATTS},
	[HB_STORAGE_FEED] = {hb_feed_columns, HB_FEED_NATTS}
};

Oid
hb_storage_relid(const HbDataset *ds, HbStorage which)
{
	switch (which)
	{
		case HB_STORAGE_HEAD:
			return ds->head_relid;
		case HB_STORAGE_CHUNK:
			return ds->chunk_relid;
		case HB_STORAGE_PIECE:
			return ds->piece_relid;
		case HB_STORAGE_COLUMN:
			return ds->column_relid;
		case HB_STORAGE_COVERAGE:
			return ds->coverage_relid;
		case HB_STORAGE_GAP:
			return ds->gap_relid;
		case HB_STORAGE_TRANSITION:
			return ds->transition_relid;
		case HB_STORAGE_FEED:
			return ds->feed_relid;
		case HB_NSTORAGE:
			break;
	}
	elog(ERROR, "unrecognized storage table: %d", (int) which);
	return InvalidOid;			/* keep compiler quiet */
}

/*
 * Is a table of the dataset as the library made it?  If not, that is reported
 * at elevel, and false returned if that returns.
 */
bool
hb_storage_check(const HbDataset *ds, HbStorage which, Relation rel, int elevel)
{
	const HbStorageColumn *columns = hb_storage_shapes[which].columns;
	int			natts = hb_storage_shapes[which].natts;
	TupleDesc	desc = RelationGetDescr(rel);
	bool		good = rel->rd_rel->relkind == RELKIND_RELATION &&
		rel->rd_rel->relam == HEAP_TABLE_AM_OID && desc->natts >= natts;

	for (int i = 0; good && i < natts; i++)
	{
		Form_pg_attribute attr = TupleDescAttr(desc, i);

		good = attr->atttypid == columns[i].type && !attr->attisdropped &&
			strcmp(NameStr(attr->attname), columns[i].name) == 0;
	}
	if (!good)
		ereport(elevel,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("table \"%s.%s\" of dataset \"%s\" is not as hotblocks made it",
						get_namespace_name(RelationGetNamespace(rel)),
						RelationGetRelationName(rel), NameStr(ds->name)),
				 errhint("Undo what ALTER TABLE did to its columns.")));
	return good;
}

/*
 * Opens a table of the dataset.  The caller closes it with table_close and
 * NoLock: locks are kept to the end of the transaction.
 */
Relation
hb_storage_open(HbDataset *ds, HbStorage which, LOCKMODE lock)
{
	Relation	rel = table_open(hb_storage_relid(ds, which), lock);

	(void) hb_storage_check(ds, which, rel, ERROR);
	return rel;
}

/* The primary key's index, or InvalidOid, in which case one scans the table. */
Oid
hb_storage_pkey(Relation rel)
{
	List	   *indexes = RelationGetIndexList(rel);

	list_free(indexes);
	return rel->rd_pkindex;
}

/* A complete btree index on just these columns, or InvalidOid. */
Oid
hb_storage_index(Relation rel, const AttrNumber *attnums, int n)
{
	List	   *indexes = RelationGetIndexList(rel);
	Oid			found = InvalidOid;
	ListCell   *lc;

	foreach(lc, indexes)
	{
		Relation	index = index_open(lfirst_oid(lc), AccessShareLock);
		Form_pg_index form = index->rd_index;
		bool		match = form->indisvalid && form->indnkeyatts == n &&
			index->rd_rel->relam == BTREE_AM_OID &&
			heap_attisnull(index->rd_indextuple, Anum_pg_index_indpred, NULL);

		for (int i = 0; match && i < n; i++)
			match = form->indkey.values[i] == attnums[i];
		index_close(index, NoLock);
		if (match)
		{
			found = lfirst_oid(lc);
			break;
		}
	}
	list_free(indexes);
	return found;
}

/*
 * The executor's way of maintaining a table's indexes outside of a plan.
 */
typedef struct HbModify
{
	EState	   *estate;
	ResultRelInfo *rri;
	TupleTableSlot *slot;
} HbModify;

static void
hb_modify_begin(HbModify *m, Relation rel)
{
	m->estate = CreateExecutorState();
	m->rri = makeNode(ResultRelInfo);
	InitResultRelInfo(m->rri, rel, 0, NULL, 0);
	ExecOpenIndices(m->rri, false);
	m->slot = MakeSingleTupleTableSlot(RelationGetDescr(rel), &TTSOpsHeapTuple);
}

static void
hb_modify_end(HbModify *m)
{
	ExecDropSingleTupleTableSlot(m->slot);
	ExecCloseIndices(m->rri);
	FreeExecutorState(m->estate);
	pfree(m->rri);
}

/*
 * Inserts a row, with command id cid.  values and nulls have an entry for
 * each column that the library knows; columns that somebody added are NULL.
 */
void
hb_storage_insert(Relation rel, HbStorage which, const Datum *values,
				  const bool *nulls, CommandId cid)
{
	TupleDesc	desc = RelationGetDescr(rel);
	int			known = hb_storage_shapes[which].natts;
	Datum	   *all_values = palloc0_array(Datum, desc->natts);
	bool	   *all_nulls = palloc_array(bool, desc->natts);
	HbModify	m;
	HeapTuple	tuple;

	memset(all_nulls, true, desc->natts);
	memcpy(all_values, values, known * sizeof(Datum));
	memcpy(all_nulls, nulls, known * sizeof(bool));

	hb_modify_begin(&m, rel);
	tuple = heap_form_tuple(desc, all_values, all_nulls);
	ExecStoreHeapTuple(tuple, m.slot, false);
	table_tuple_insert(rel, m.slot, cid, 0, NULL);
	if (m.rri->ri_NumIndices > 0)
		hb_insert_index_tuples(m.rri, m.slot, m.estate);
	hb_modify_end(&m);
	heap_freetuple(tuple);
	pfree(all_values);
	pfree(all_nulls);
}

/*
 * Replaces the row at tid, which the caller has locked or is alone to change,
 * with tuple, and says where the new version is.
 */
void
hb_storage_update(Relation rel, ItemPointer tid, HeapTuple tuple,
				  ItemPointer newtid)
{
	HbModify	m;
	TM_Result	result;
	TM_FailureData tmfd;
	LockTupleMode lockmode;
	HbUpdateIndexes update_indexes;

	hb_modify_begin(&m, rel);
	ExecStoreHeapTuple(tuple, m.slot, false);
	m.slot->tts_tableOid = RelationGetRelid(rel);
	result = table_tuple_update(rel, tid, m.slot, GetCurrentCommandId(true),
								InvalidSnapshot, InvalidSnapshot, true, &tmfd,
								&lockmode, &update_indexes);
	if (result != TM_Ok)
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("could not update table \"%s.%s\" due to a concurrent change",
						get_namespace_name(RelationGetNamespace(rel)),
						RelationGetRelationName(rel))));
	if (m.rri->ri_NumIndices > 0 && update_indexes != HB_UPDATE_NO_INDEXES)
		hb_update_index_tuples(m.rri, m.slot, m.estate, update_indexes);
	*newtid = m.slot->tts_tid;
	hb_modify_end(&m);
}

void
hb_storage_delete(Relation rel, ItemPointer tid)
{
	simple_heap_delete(rel, tid);
}
