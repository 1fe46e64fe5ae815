/*
 * hb_modify.c
 *		INSERT, COPY and TRUNCATE; and the refusal of the rest.
 *
 * Rows go to a writer of the store (or documents to a feed of the chain),
 * which keeps them until a chunk is full or the statement ends; they are
 * stored with the statement's own command id and subtransaction.  AFTER
 * triggers, which core runs before it ends a modification, and functions that
 * the statement calls find them in memory (store/hb_pending.c).  Core's
 * parallel workers could not, so a query that begins while there are such rows
 * runs without them.
 *
 * There is nothing that could conflict with a row, so ON CONFLICT DO NOTHING
 * inserts all of them, as it does into a heap without a unique index; a
 * conflict target is refused by core, which finds no index for it.
 *
 * Core checks no constraints of foreign tables: NOT NULL and CHECK, and the
 * partition's bound where the planner will trust it, are checked here.
 *
 * The state hangs on the ResultRelInfo and goes with the query; nothing in it
 * outlives an error.
 */
#include "postgres.h"

#include "access/table.h"
#include "access/xact.h"
#include "catalog/pg_type.h"
#include "commands/trigger.h"
#include "executor/executor.h"
#include "nodes/plannodes.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "compat.h"
#include "chain/hb_chain.h"
#include "fdw/hb_fdw.h"

typedef struct HbModifyState
{
	HbForeign  *foreign;
	MemoryContext cxt;			/* owns the writer or the feed */
	MemoryContext row_cxt;		/* reset for each row */
	HbWriter   *writer;			/* NULL until the first row */
	HbFeed	   *feed;
	CommandId	cid;			/* the statement's, and its snapshot */
	Snapshot	snapshot;
	Datum	   *values;			/* by column of the stored table */
	bool	   *isnull;
} HbModifyState;

/*
 * Nothing has to be planned for INSERT; this is where the statements that do
 * not work can be refused with more to say than core has.
 */
List *
hotblocksPlanForeignModify(PlannerInfo *root, ModifyTable *plan,
						   Index resultRelation, int subplan_index)
{
	char	   *relname = get_rel_name(planner_rt_fetch(resultRelation, root)->relid);

	if (plan->operation != CMD_INSERT)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 plan->operation == CMD_UPDATE ?
				 errmsg("cannot update foreign table \"%s\"", relname) :
				 errmsg("cannot delete from foreign table \"%s\"", relname),
				 errdetail("Stored rows of a dataset do not change."),
				 errhint("Use TRUNCATE to remove all rows of a table, or hotblocks.drop_dataset() to remove the dataset.")));
	return NIL;
}

int
hotblocksIsForeignRelUpdatable(Relation rel)
{
	return 1 << CMD_INSERT;
}

/*
 * FOR UPDATE promises that nobody changes the rows before this transaction
 * ends, which nothing here could keep.  Weaker locks only keep rows from
 * changing, and these do not change; a table that is merely joined to the one
 * that is locked or updated has its rows copied, as core does it.
 */
RowMarkType
hotblocksGetForeignRowMarkType(RangeTblEntry *rte, LockClauseStrength strength)
{
	if (strength == LCS_FORUPDATE || strength == LCS_FORNOKEYUPDATE)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot lock rows in foreign table \"%s\"",
						get_rel_name(rte->relid)),
				 errhint("Name the tables to lock with FOR UPDATE OF ...")));
	return ROW_MARK_COPY;
}

static void
begin_modify(ModifyTableState *mtstate, ResultRelInfo *rinfo, bool explain_only)
{
	EState	   *estate = mtstate->ps.state;
	HbForeign  *foreign = hb_foreign_open(rinfo->ri_RelationDesc, ACL_INSERT);
	HbModifyState *state;

	if (explain_only)
		return;
	state = palloc0(sizeof(HbModifyState));
	state->foreign = foreign;
	state->cxt = AllocSetContextCreate(estate->es_query_cxt,
									   "hotblocks insert",
									   ALLOCSET_DEFAULT_SIZES);
	state->row_cxt = AllocSetContextCreate(estate->es_query_cxt,
										   "hotblocks insert row",
										   ALLOCSET_DEFAULT_SIZES);

	/*
	 * A partition's first row may come when functions have run that raised the
	 * command id, but all rows of a statement have one.  COPY has no plan, and
	 * its active snapshot was taken for it.
	 */
	if (mtstate->ps.plan != NULL)
	{
		state->cid = estate->es_output_cid;
		state->snapshot = estate->es_snapshot;
	}
	else
	{
		state->snapshot = GetActiveSnapshot();
		state->cid = state->snapshot->curcid;
	}
	rinfo->ri_FdwState = state;
}

void
hotblocksBeginForeignModify(ModifyTableState *mtstate, ResultRelInfo *rinfo,
							List *fdw_private, int subplan_index, int eflags)
{
	begin_modify(mtstate, rinfo, (eflags & EXEC_FLAG_EXPLAIN_ONLY) != 0);
}

/* COPY, and rows routed to a foreign table that is a partition. */
void
hotblocksBeginForeignInsert(ModifyTableState *mtstate, ResultRelInfo *rinfo)
{
	begin_modify(mtstate, rinfo, false);
}

/* The first row makes the writer, and a table of kind free. */
static void
begin_writer(HbModifyState *state, Relation rel)
{
	HbForeign  *foreign = state->foreign;
	MemoryContext old;

	if (state->values == NULL && !foreign->feed)
	{
		int			n;

		old = MemoryContextSwitchTo(GetMemoryChunkContext(state));
		hb_foreign_register(foreign, rel);
		n = Max(foreign->table->ncolumns, 1);
		state->values = palloc0(sizeof(Datum) * n);
		state->isnull = palloc(sizeof(bool) * n);
		memset(state->isnull, true, sizeof(bool) * n);
		MemoryContextSwitchTo(old);
	}

	old = MemoryContextSwitchTo(state->cxt);
	if (foreign->feed)
		state->feed = hb_feed_begin(foreign->dataset, HB_FEED_SERVER, NIL,
									state->cid, state->snapshot);
	else
		state->writer = hb_writer_begin(foreign->table, state->cid, state->snapshot);
	MemoryContextSwitchTo(old);
}

/*
 * In a sort key, arrays other than one-dimensional ones from 1 without nulls
 * would be stored in an order that is not SQL's (hb_path.c relies on it).
 */
static void
check_sort_key_arrays(HbForeign *foreign, const Datum *values,
					  const bool *isnull)
{
	HbTable    *table = foreign->table;

	if (hb_foreign_is_free(foreign->dataset))
		return;
	for (int i = 0; i < table->nsort; i++)
	{
		int			col = table->sort_cols[i];
		ArrayType  *array;

		if (table->columns[col].type != INT4ARRAYOID || isnull[col])
			continue;
		array = DatumGetArrayTypeP(values[col]);
		if (ARR_NDIM(array) > 1 || array_contains_nulls(array) ||
			(ARR_NDIM(array) == 1 && ARR_LBOUND(array)[0] != 1))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("invalid value for column \"%s\" of table \"%s\" of dataset \"%s\"",
							NameStr(table->columns[col].name),
							NameStr(table->name),
							NameStr(foreign->dataset->name)),
					 errdetail("An array of the sort key has one dimension, from 1, and no nulls.")));
	}
}

static void
insert_row(HbModifyState *state, TupleTableSlot *slot)
{
	HbForeign  *foreign = state->foreign;

	for (int i = 0; i < foreign->natts; i++)
	{
		int			col = foreign->columns[i];

		if (col < 0)
			continue;
		state->isnull[col] = slot->tts_isnull[i];
		state->values[col] = slot->tts_isnull[i] ? (Datum) 0 :
			hb_spell_in(foreign, i + 1, slot->tts_values[i]);
	}
	check_sort_key_arrays(foreign, state->values, state->isnull);
	hb_writer_row(state->writer, state->values, state->isnull);
}

static void
insert_document(HbModifyState *state, Relation rel, TupleTableSlot *slot)
{
	for (int i = 0; i < state->foreign->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(RelationGetDescr(rel), i);
		text	   *document;

		if (att->attisdropped)
			continue;
		if (slot->tts_isnull[i])
			ereport(ERROR,
					(errcode(ERRCODE_NOT_NULL_VIOLATION),
					 errmsg("block document must not be null"),
					 errtablecol(rel, att->attnum)));
		document = DatumGetTextPP(slot->tts_values[i]);
		hb_feed_text(state->feed, VARDATA_ANY(document),
					 VARSIZE_ANY_EXHDR(document));
	}
}

/* Everything that is kept is stored now. */
static void
flush(HbModifyState *state)
{
	HbWriterResult result;
	bool		pushed = false;

	if (state->writer == NULL && state->feed == NULL)
		return;
	/* A portal that is dropped at commit ends its query without one. */
	if (!ActiveSnapshotSet())
	{
		PushActiveSnapshot(GetTransactionSnapshot());
		pushed = true;
	}
	if (state->writer != NULL)
		hb_writer_finish(state->writer, &result);
	else
		hb_feed_finish(state->feed, NULL);
	state->writer = NULL;
	state->feed = NULL;
	MemoryContextReset(state->cxt);
	if (pushed)
		PopActiveSnapshot();
}

TupleTableSlot *
hotblocksExecForeignInsert(EState *estate, ResultRelInfo *rinfo,
						   TupleTableSlot *slot, TupleTableSlot *planSlot)
{
	HbModifyState *state = rinfo->ri_FdwState;
	Relation	rel = rinfo->ri_RelationDesc;
	MemoryContext old = MemoryContextSwitchTo(state->row_cxt);
	bool		respelled = hb_spell_slot(state->foreign, slot);

	MemoryContextSwitchTo(old);
	slot_getallattrs(slot);
	if (RelationGetDescr(rel)->constr != NULL)
		ExecConstraints(rinfo, slot, estate);
	/* Routing has checked the bound; a direct INSERT has not. */
	if (rel->rd_rel->relispartition &&
		(rinfo->ri_RootResultRelInfo == NULL || respelled))
		ExecPartitionCheck(rinfo, slot, estate, true);

	if (state->writer == NULL && state->feed == NULL)
		begin_writer(state, rel);
	old = MemoryContextSwitchTo(state->row_cxt);
	if (state->feed != NULL)
		insert_document(state, rel, slot);
	else
		insert_row(state, slot);
	MemoryContextSwitchTo(old);
	MemoryContextReset(state->row_cxt);
	return slot;
}

void
hotblocksEndForeignModify(EState *estate, ResultRelInfo *rinfo)
{
	/* Absent under EXPLAIN. */
	if (rinfo->ri_FdwState != NULL)
		flush(rinfo->ri_FdwState);
}

void
hotblocksEndForeignInsert(EState *estate, ResultRelInfo *rinfo)
{
	if (rinfo->ri_FdwState != NULL)
		flush(rinfo->ri_FdwState);
}

/*
 * All relations are of one server, and so of one dataset; core has checked the
 * caller's rights and locked the foreign tables.
 */
void
hotblocksExecForeignTruncate(List *rels, DropBehavior behavior,
							 bool restart_seqs)
{
	HbDataset  *ds = NULL;
	List	   *tables = NIL;
	ListCell   *lc;

	foreach(lc, rels)
	{
		Relation	rel = lfirst(lc);
		HbForeign  *foreign = hb_foreign_open(rel, ACL_TRUNCATE);

		if (foreign->feed)
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("cannot truncate foreign table \"%s\"",
							RelationGetRelationName(rel)),
					 errdetail("It takes block documents and has no rows of its own.")));
		ds = foreign->dataset;
		if (foreign->table != NULL)
			tables = list_append_unique_ptr(tables,
											hb_table_open(ds, foreign->table_name,
														  false));
	}
	if (tables != NIL)
		hb_dataset_truncate(ds, tables);
}

/*
 * Queries of functions and triggers, while a statement holds rows.
 */

static ExecutorRun_hook_type hb_next_executor_run = NULL;

/* Telling the executor that it may have to stop and go on rules out workers. */
static void
hb_executor_run(HB_EXECUTOR_RUN_ARGS)
{
	if (queryDesc->plannedstmt->parallelModeNeeded && hb_pending_any())
		HB_EXECUTOR_RUN_SERIAL;
	if (hb_next_executor_run != NULL)
		hb_next_executor_run(HB_EXECUTOR_RUN_PASS);
	else
		standard_ExecutorRun(HB_EXECUTOR_RUN_PASS);
}

void
hb_modify_init(void)
{
	hb_next_executor_run = ExecutorRun_hook;
	ExecutorRun_hook = hb_executor_run;
}
