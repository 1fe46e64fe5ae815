/*
 * hb_plan.c
 *		What the planner asks first and last: the relation's size, and the
 *		plan of the path that it chose.
 *
 * The conditions on a relation are split once, in GetForeignRelSize: those
 * that the scan evaluates exactly ("pushed") and the others ("local"), which
 * the executor checks on the rows that the scan returns.  In the plan the
 * pushed ones are kept twice: as fdw_exprs, from which the executor builds the
 * scan's predicate, and as fdw_recheck_quals for EvalPlanQual.
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "access/table.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/planmain.h"
#include "optimizer/restrictinfo.h"

#include "fdw/hb_fdw.h"

bool		hb_enable_filter_pushdown = true;

/*
 * A condition that the scan evaluates comes before all that are left to the
 * executor, so that one of a lower security level (a security barrier view's)
 * must not wait behind it unless it leaks nothing.
 */
HbClause *
hb_plan_push(RelOptInfo *baserel, RestrictInfo *rinfo)
{
	HbPlanRel  *plan_rel = baserel->fdw_private;

	if (!hb_enable_filter_pushdown || rinfo->pseudoconstant ||
		!restriction_is_securely_promotable(rinfo, baserel))
		return NULL;
	return hb_clause_parse(plan_rel->foreign, baserel->relid, rinfo->clause);
}

void
hotblocksGetForeignRelSize(PlannerInfo *root, RelOptInfo *baserel,
						   Oid foreigntableid)
{
	HbPlanRel  *plan_rel = palloc0(sizeof(HbPlanRel));
	Relation	rel = table_open(foreigntableid, NoLock);
	ListCell   *lc;

	baserel->fdw_private = plan_rel;
	plan_rel->foreign = hb_foreign_open(rel, ACL_SELECT);
	table_close(rel, NoLock);

	/*
	 * The plan reads no column that is not stored.  Any foreign table over the
	 * same stored one may add it, in any session; that invalidates the table of
	 * stored columns, and with it a plan that is kept.
	 */
	root->glob->relationOids =
		list_append_unique_oid(root->glob->relationOids,
							   plan_rel->foreign->dataset->column_relid);

	pull_varattnos((Node *) baserel->reltarget->exprs, baserel->relid,
				   &plan_rel->attrs_used);
	foreach(lc, baserel->baserestrictinfo)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

		if (hb_plan_push(baserel, rinfo) != NULL)
			plan_rel->pushed = lappend(plan_rel->pushed, rinfo);
		else
		{
			plan_rel->local = lappend(plan_rel->local, rinfo);
			pull_varattnos((Node *) rinfo->clause, baserel->relid,
						   &plan_rel->attrs_used);
		}
	}
	hb_cost_rel_size(root, baserel);
}

/*
 * The attributes to read: those of the target list and of local conditions,
 * all of them for a whole-row reference, and those that are declared NOT NULL
 * without being stored so, which must be checked.
 */
static List *
attributes_to_read(const HbForeign *foreign, Bitmapset *used)
{
	List	   *attnums = NIL;
	bool		all = bms_is_member(0 - FirstLowInvalidHeapAttributeNumber,
									used);

	for (int attnum = 1; attnum <= foreign->natts; attnum++)
	{
		if (foreign->columns[attnum - 1] < 0 &&
			!bms_is_member(attnum, foreign->check_not_null))
			continue;
		if (all || bms_is_member(attnum, foreign->check_not_null) ||
			bms_is_member(attnum - FirstLowInvalidHeapAttributeNumber, used))
			attnums = lappend_int(attnums, attnum);
	}
	return attnums;
}

ForeignScan *
hotblocksGetForeignPlan(PlannerInfo *root, RelOptInfo *baserel,
						Oid foreigntableid, ForeignPath *best_path,
						List *tlist, List *scan_clauses, Plan *outer_plan)
{
	HbPlanRel  *plan_rel = baserel->fdw_private;
	Bitmapset  *used = bms_copy(plan_rel->attrs_used);
	List	   *pushed = NIL;
	List	   *local = NIL;
	List	   *private;
	ListCell   *lc;

	foreach(lc, scan_clauses)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

		if (rinfo->pseudoconstant)
			continue;
		if (list_member_ptr(plan_rel->pushed, rinfo) ||
			(!list_member_ptr(plan_rel->local, rinfo) &&
			 hb_plan_push(baserel, rinfo) != NULL))
			pushed = lappend(pushed, rinfo->clause);
		else
		{
			/* A join clause brought by the path's parameters adds columns. */
			local = lappend(local, rinfo->clause);
			pull_varattnos((Node *) rinfo->clause, baserel->relid, &used);
		}
	}

	private = list_make2(list_nth(best_path->fdw_private, HbPathPrivateOrder),
						 attributes_to_read(plan_rel->foreign, used));
	return make_foreignscan(tlist, local, baserel->relid, pushed, private,
							NIL, copyObject(pushed), outer_plan);
}
