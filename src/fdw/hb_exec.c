/*
 * hb_exec.c
 *		Scanning: from the chunk scan's batches to the executor's slots.
 *
 * The scan starts at the first row that is asked for, not before, so that
 * EXPLAIN and plan nodes that are never run read nothing.  Values that the
 * pushed conditions compare with are computed once for each (re)scan.
 *
 * The slot is a virtual one of the table's row type.  Attributes that are not
 * read stay NULL in it from the beginning, so that a row costs one store for
 * each attribute that is.  Values point into the batch, which stays until the
 * next one is asked for, as long as a slot's contents must.
 *
 * Memory: scan_cxt, below the query's context, owns the scan; pred_cxt and
 * spare_cxt take turns in owning the predicate in use and the next one;
 * batch_cxt has the values of the batch that are shown in another spelling.
 * Chunks that are open are released by hb_scan_end, or by the resource owner
 * when the query fails.
 */
#include "postgres.h"

#include "access/table.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/memutils.h"

#include "chain/hb_chain.h"
#include "fdw/hb_fdw.h"

void
hotblocksBeginForeignScan(ForeignScanState *node, int eflags)
{
	ForeignScan *plan = (ForeignScan *) node->ss.ps.plan;
	Relation	rel = node->ss.ss_currentRelation;
	HbScanState *state = palloc0(sizeof(HbScanState));
	List	   *attnums = list_nth(plan->fdw_private, HbScanPrivateAttrs);
	ListCell   *lc;

	node->fdw_state = state;
	state->foreign = hb_foreign_open(rel, ACL_SELECT);
	state->order = intVal(list_nth(plan->fdw_private, HbScanPrivateOrder));
	if (state->foreign->feed)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot read from foreign table \"%s\"",
						RelationGetRelationName(rel)),
				 errdetail("It takes block documents, and stores their rows in the tables of dataset \"%s\".",
						   NameStr(state->foreign->dataset->name)),
				 errhint("Read the foreign tables of those tables.")));

	state->filter = hb_filter_init(state->foreign, plan->scan.scanrelid,
								   plan->fdw_exprs, (PlanState *) node);

	/* A column may be gone from the dataset since the query was planned. */
	state->attnums = palloc(sizeof(int) * Max(list_length(attnums), 1));
	state->columns = palloc(sizeof(int) * Max(list_length(attnums), 1));
	foreach(lc, attnums)
	{
		int			attnum = lfirst_int(lc);

		if (state->foreign->columns[attnum - 1] < 0)
			continue;
		state->attnums[state->nattrs] = attnum;
		state->columns[state->nattrs] = state->foreign->columns[attnum - 1];
		state->nattrs++;
	}

	if (eflags & EXEC_FLAG_EXPLAIN_ONLY)
		return;
	state->scan_cxt = AllocSetContextCreate(CurrentMemoryContext,
											"hotblocks scan",
											ALLOCSET_DEFAULT_SIZES);
	state->coverage.cxt = state->scan_cxt;
	state->pred_cxt = AllocSetContextCreate(CurrentMemoryContext,
											"hotblocks scan predicate",
											ALLOCSET_SMALL_SIZES);
	state->spare_cxt = AllocSetContextCreate(CurrentMemoryContext,
											 "hotblocks scan predicate",
											 ALLOCSET_SMALL_SIZES);
	state->batch_cxt = AllocSetContextCreate(CurrentMemoryContext,
											 "hotblocks scan spelling",
											 ALLOCSET_DEFAULT_SIZES);
}

/* The predicate for the (re)scan that begins, in a context of its own. */
static HbPred *
build_predicate(ForeignScanState *node)
{
	HbScanState *state = node->fdw_state;
	MemoryContext swap = state->pred_cxt;
	MemoryContext old;
	HbPred	   *pred;

	if (state->filter == NULL)
		return NULL;
	state->pred_cxt = state->spare_cxt;
	state->spare_cxt = swap;
	old = MemoryContextSwitchTo(state->pred_cxt);
	pred = hb_filter_build(state->filter, node->ss.ps.ps_ExprContext);
	MemoryContextSwitchTo(old);
	return pred;
}

/* Says so if the range that is going to be read was never delivered. */
static void
check_coverage(HbScanState *state, Snapshot snapshot, HbPred *pred)
{
	HbTable    *table = state->foreign->table;
	int64		lo = PG_INT64_MIN;
	int64		hi = PG_INT64_MAX;

	if (hb_missing_data == HB_MISSING_IGNORE || !table->is_item_table)
		return;
	if (pred != NULL && !hb_pred_block_range(table, pred, &lo, &hi))
		return;
	hb_coverage_check(&state->coverage, table, snapshot, lo, hi);
}

static void
start_scan(ForeignScanState *node)
{
	HbScanState *state = node->fdw_state;
	Snapshot	snapshot = node->ss.ps.state->es_snapshot;
	TupleTableSlot *slot = node->ss.ss_ScanTupleSlot;
	HbPred	   *pred;
	MemoryContext old;

	state->started = true;
	state->row = 0;
	state->batch.nrows = 0;
	state->done = state->foreign->table == NULL;
	if (state->done)
		return;

	pred = build_predicate(node);
	if (hb_parallel_first(state))
		check_coverage(state, snapshot, pred);
	if (state->scan == NULL)
	{
		HbScanSpec	spec = {
			.table = state->foreign->table,
			.snapshot = snapshot,
			.order = state->order,
			.ncolumns = state->nattrs,
			.columns = state->columns,
			.pred = pred,
			.rows = HB_ROWS_ALL
		};

		old = MemoryContextSwitchTo(state->scan_cxt);
		state->scan = hb_scan_begin(&spec);
		MemoryContextSwitchTo(old);
	}
	else
		hb_scan_rescan(state->scan, pred);
	hb_parallel_start(state);
	MemoryContextReset(state->spare_cxt);

	memset(slot->tts_isnull, true,
		   sizeof(bool) * slot->tts_tupleDescriptor->natts);
}

/*
 * The planner takes a foreign table's NOT NULL for granted, so that a column
 * which is not stored under that rule has to be held to it here.
 */
static void
check_not_null(ForeignScanState *node)
{
	HbScanState *state = node->fdw_state;
	HbForeign  *foreign = state->foreign;
	TupleDesc	desc = RelationGetDescr(node->ss.ss_currentRelation);
	int			attnum = -1;

	while ((attnum = bms_next_member(foreign->check_not_null, attnum)) >= 0)
	{
		bool		found = foreign->columns[attnum - 1] < 0;

		for (int c = 0; c < state->nattrs && !found; c++)
		{
			if (state->attnums[c] != attnum)
				continue;
			for (int i = 0; i < state->batch.nrows && !found; i++)
				found = state->batch.isnull[c][i];
		}
		if (found)
			ereport(ERROR,
					(errcode(ERRCODE_NOT_NULL_VIOLATION),
					 errmsg("null value in column \"%s\" of foreign table \"%s\"",
							NameStr(TupleDescAttr(desc, attnum - 1)->attname),
							RelationGetRelationName(node->ss.ss_currentRelation)),
					 errdetail("The column is declared NOT NULL, but rows of dataset \"%s\" have no value for it.",
							   NameStr(foreign->dataset->name)),
					 errhint("Use ALTER FOREIGN TABLE ... ALTER COLUMN ... DROP NOT NULL."),
					 errtablecol(node->ss.ss_currentRelation, attnum)));
	}
}

TupleTableSlot *
hotblocksIterateForeignScan(ForeignScanState *node)
{
	HbScanState *state = node->fdw_state;
	TupleTableSlot *slot = node->ss.ss_ScanTupleSlot;
	HbBatch    *batch = &state->batch;
	int			row;

	ExecClearTuple(slot);
	if (!state->started)
		start_scan(node);
	if (state->done)
		return slot;
	if (state->row >= batch->nrows)
	{
		do
		{
			if (!hb_scan_next(state->scan, batch))
			{
				state->done = true;
				return slot;
			}
		} while (batch->nrows == 0);
		state->row = 0;
		MemoryContextReset(state->batch_cxt);
		hb_spell_batch(state->foreign, state->nattrs, state->attnums, batch,
					   state->batch_cxt);
		if (state->foreign->check_not_null != NULL)
			check_not_null(node);
	}

	row = state->row++;
	for (int c = 0; c < state->nattrs; c++)
	{
		int			i = state->attnums[c] - 1;

		slot->tts_values[i] = batch->values[c][row];
		slot->tts_isnull[i] = batch->isnull[c][row];
	}
	return ExecStoreVirtualTuple(slot);
}

/*
 * Nothing is done until a row is asked for: only then are the parameters sure
 * to be set.
 */
void
hotblocksReScanForeignScan(ForeignScanState *node)
{
	HbScanState *state = node->fdw_state;

	state->started = false;
}

void
hotblocksEndForeignScan(ForeignScanState *node)
{
	HbScanState *state = node->fdw_state;

	/* Absent if BeginForeignScan was not reached. */
	if (state == NULL || state->scan == NULL)
		return;
	hb_parallel_end(state);
	hb_scan_end(state->scan);
	state->scan = NULL;
}
