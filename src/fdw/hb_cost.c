/*
 * hb_cost.c
 *		How many rows a scan returns and what it costs.
 *
 * Rows: the chunk list tells exactly how many rows a constant block range
 * holds (hb_scan_estimate); what the other conditions let through comes from
 * the planner's own selectivity functions.  They need statistics, which a
 * foreign table has only after ANALYZE; for the others hb_stats.c gives what
 * the chunks' directories know.
 *
 * Costs are in the planner's units, of which one is about 5 microseconds of
 * work in memory.  A scan pays for each chunk that it opens, for each page of
 * a column that it tests, and for each row that it returns.  An equality on a
 * byte string column is answered from a dictionary, page lists or a hash
 * index, so it is paid once a chunk, and then only pages that have matches
 * are tested.
 */
#include "postgres.h"

#include <math.h>

#include "access/sysattr.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/plancat.h"
#include "optimizer/restrictinfo.h"
#include "utils/snapmgr.h"

#include "compat.h"
#include "fdw/hb_fdw.h"

#define HB_COST_STARTUP		1.0 /* the chunk list */
#define HB_COST_CHUNK		2.0 /* open a chunk: directory, block offsets */
#define HB_COST_LOOKUP		1.0 /* a value in a dictionary or hash index */
#define HB_COST_PAGE		0.5 /* read and test a page of one column */
#define HB_COST_VALUE		0.005	/* return one value */
#define HB_COST_LONG_VALUE	0.03	/* the same from a sub-block */
#define HB_COST_ORDERED_ROW	0.0025	/* merge overlapping chunks, per row */

/* The conditions of a scan, sorted by what they do for it. */
typedef struct ScanConditions
{
	List	   *rest;			/* all but the constant block range */
	List	   *lookups;		/* those that a dictionary or index answers */
	double		nlookups;		/* values looked up in each chunk */
	int			ntested;		/* pushed conditions that are tested */
	double		block_part;		/* of the range, by a block from elsewhere */
} ScanConditions;

/* Is this a bound on the block column, which the estimated range contains? */
static bool
is_constant_range(PlannerInfo *root, HbTable *table, const HbClause *clause)
{
	HbPred	   *pred = hb_clause_constant_pred(root, clause);

	return pred->kind == HB_PRED_CMP && pred->op != HB_NE &&
		pred->column == table->block_col;
}

Snapshot
hb_planning_snapshot(void)
{
	return ActiveSnapshotSet() ? GetActiveSnapshot() : GetTransactionSnapshot();
}

/*
 * The range of blocks that constants give, what is stored of it, and from
 * that the relation's size.  The conditions of a scan without parameters are
 * all in baserestrictinfo.
 */
void
hb_cost_rel_size(PlannerInfo *root, RelOptInfo *baserel)
{
	HbPlanRel  *plan_rel = baserel->fdw_private;
	HbTable    *table = plan_rel->foreign->table;
	int64		lo = PG_INT64_MIN;
	int64		hi = PG_INT64_MAX;
	HbChunkSet *set;
	ListCell   *lc;
	HbCost		cost;

	if (table == NULL)
	{
		baserel->tuples = 0;
		baserel->pages = 0;
		plan_rel->blocks = 1;
		set_baserel_size_estimates(root, baserel);
		return;
	}

	foreach(lc, plan_rel->pushed)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		HbClause   *clause = hb_clause_parse(plan_rel->foreign, baserel->relid,
											 rinfo->clause);
		int64		from;
		int64		to;

		if (!hb_pred_block_range(table, hb_clause_constant_pred(root, clause),
								 &from, &to))
			plan_rel->never = true;
		else
		{
			lo = Max(lo, from);
			hi = Min(hi, to);
		}
	}
	if (lo > hi)
		plan_rel->never = true;
	if (plan_rel->never)
	{
		lo = 1;
		hi = 0;
	}
	hb_scan_estimate(table, hb_planning_snapshot(), lo, hi, &plan_rel->estimate);

	plan_rel->blocks = 1;
	set = hb_chunk_set(table, hb_planning_snapshot(), PG_INT64_MIN, PG_INT64_MAX);
	for (int i = 0; i < set->nchunks; i++)
	{
		int64		blocks = set->chunks[i].last_block -
			set->chunks[0].first_block + 1;

		plan_rel->blocks = Max(plan_rel->blocks, blocks);
	}
	hb_chunk_set_release(set);

	baserel->tuples = plan_rel->estimate.rows_total;
	baserel->pages = ceil(plan_rel->estimate.bytes_total / BLCKSZ);
	set_baserel_size_estimates(root, baserel);
	hb_cost_scan(root, baserel, NULL, false, &cost);
	baserel->rows = cost.rows;
}

/* A pushed condition's part in the scan. */
static void
count_condition(PlannerInfo *root, RelOptInfo *baserel, RestrictInfo *rinfo,
				const HbClause *clause, ScanConditions *conditions)
{
	HbPlanRel  *plan_rel = baserel->fdw_private;
	HbTable    *table = plan_rel->foreign->table;
	Expr	   *value;
	int			column;
	bool		is_array;

	if (is_constant_range(root, table, clause))
		return;
	conditions->rest = lappend(conditions->rest, rinfo);
	if (!hb_clause_is_equality(clause, &column, &value, &is_array))
		conditions->ntested++;
	else if (column == table->block_col && !is_array)
		conditions->block_part = 1.0 / plan_rel->blocks;
	else if (table->columns[column].value.phys == HB_PHYS_BYTES)
	{
		conditions->lookups = lappend(conditions->lookups, rinfo);
		conditions->nlookups += is_array ?
			hb_estimate_array_length(root, (Node *) value) : 1;
	}
	else
		conditions->ntested++;
}

/* What it costs to return the values that a row of the result needs. */
static Cost
row_cost(const HbPlanRel *plan_rel)
{
	const HbForeign *foreign = plan_rel->foreign;
	Cost		cost = 0;

	for (int attnum = 1; attnum <= foreign->natts; attnum++)
	{
		const HbColumn *column;

		if (foreign->columns[attnum - 1] < 0 ||
			!bms_is_member(attnum - FirstLowInvalidHeapAttributeNumber,
						   plan_rel->attrs_used))
			continue;
		column = &foreign->table->columns[foreign->columns[attnum - 1]];
		cost += column->value.phys == HB_PHYS_BYTES && column->width == 0 ?
			HB_COST_LONG_VALUE : HB_COST_VALUE;
	}
	return cost;
}

/*
 * Rows and cost of a scan with all restrictions of the relation and the join
 * clauses of a parameterized path.
 */
void
hb_cost_scan(PlannerInfo *root, RelOptInfo *baserel,
			 ParamPathInfo *param_info, bool ordered, HbCost *cost)
{
	HbPlanRel  *plan_rel = baserel->fdw_private;
	const HbScanEstimate *estimate = &plan_rel->estimate;
	ScanConditions conditions = {NIL, NIL, 0, 0, 1.0};
	QualCost	local_cost;
	List	   *local = list_copy(plan_rel->local);
	List	   *clauses;
	ListCell   *lc;
	double		chunks;
	double		tested;
	double		passed;
	double		pages;
	Cost		values = row_cost(plan_rel);

	clauses = param_info == NULL ? plan_rel->pushed :
		list_concat_copy(plan_rel->pushed, param_info->ppi_clauses);
	foreach(lc, clauses)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		HbClause   *clause = hb_plan_push(baserel, rinfo);

		if (clause == NULL)
			local = lappend(local, rinfo);
		else
			count_condition(root, baserel, rinfo, clause, &conditions);
	}

	/* The part of the table that has to be looked at. */
	chunks = estimate->chunks;
	tested = estimate->rows * conditions.block_part;
	if (conditions.block_part < 1.0)
		chunks = Min(chunks, 1.0 + chunks * conditions.block_part);
	pages = ceil(tested / HB_PAGE_ROWS);
	if (conditions.lookups != NIL)
	{
		double		matches = tested *
			clauselist_selectivity(root, conditions.lookups, baserel->relid,
								   JOIN_INNER, NULL);

		pages = Min(pages, ceil(matches));
	}

	/* What comes out of it. */
	passed = estimate->rows *
		clauselist_selectivity(root, conditions.rest, baserel->relid,
							   JOIN_INNER, NULL);
	cost->rows = clamp_row_est(estimate->rows *
							   clauselist_selectivity(root,
													  list_concat_copy(conditions.rest, local),
													  baserel->relid,
													  JOIN_INNER, NULL));

	cost_qual_eval(&local_cost, local, root);
	cost->startup = HB_COST_STARTUP + local_cost.startup +
		baserel->reltarget->cost.startup;
	cost->total = cost->startup + chunks * HB_COST_CHUNK +
		chunks * conditions.nlookups * HB_COST_LOOKUP +
		pages * HB_COST_PAGE * (conditions.ntested + (values > 0 ? 1 : 0)) +
		passed * (cpu_tuple_cost + values + local_cost.per_tuple) +
		cost->rows * baserel->reltarget->cost.per_tuple;
	if (ordered && estimate->overlaps)
		cost->total += passed * HB_COST_ORDERED_ROW;
}
