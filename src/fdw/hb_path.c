/*
 * hb_path.c
 *		The ways to scan a table: in storage order, in sort key order forwards
 *		and backwards, for parameters from other relations, and in parallel.
 *
 * Rows of a chunk are sorted by the table's sort key, nulls last, and the
 * scan merges chunks that overlap; so a scan in order costs little more than
 * one without.  "Descending" is exactly the reverse, nulls first.  A column
 * without nulls has either order of nulls.
 *
 * Not every stored order is SQL's: text is stored by its bytes, and types
 * without a known order (hb_value.h) by whatever bytes they have.  The order
 * that the planner hears of ends before the first such column.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "compat.h"
#include "fdw/hb_fdw.h"

bool		hb_enable_ordered_scan = true;
bool		hb_enable_parameterized_scan = true;

/* A column of the sort key, as the planner sees it. */
typedef struct SortColumn
{
	AttrNumber	attnum;
	Var		   *var;
	Oid			family;			/* btree, of the column's type */
	Oid			less;
	Oid			greater;
	bool		not_null;
	bool		constant;		/* equal in all rows that are returned */
} SortColumn;

/*
 * Is the order in which values of the column are stored that of its type?
 * Arrays are, as long as they have one dimension, from 1, and no nulls; that
 * is sure where writing to the table's sort key refuses others (hb_modify.c),
 * which it does not in kind free.
 */
static bool
has_sql_order(const HbForeign *foreign, const HbColumn *column, Oid collation)
{
	switch (column->type)
	{
		case BOOLOID:
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case DATEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
		case BYTEAOID:
			/* A wide bigint may hold numbers that sort by another rule. */
			return !column->wide;
		case INT4ARRAYOID:
			return !hb_foreign_is_free(foreign->dataset);
		case TEXTOID:
			return OidIsValid(collation) && hb_collation_is_c(collation);
		default:
			return false;
	}
}

/*
 * Does an equivalence class hold this very column, under the order that the
 * storage has?  Members of a child of an inheritance or partition tree are
 * kept apart from the others.
 */
static bool
eclass_has_column(EquivalenceClass *ec, const SortColumn *column,
				  RelOptInfo *rel)
{
	return ec->ec_collation == column->var->varcollid &&
		list_member_oid(ec->ec_opfamilies, column->family) &&
		find_ec_member_matching_expr(ec, (Expr *) column->var,
									 rel->relids) != NULL;
}

/* Is the column equal to a constant in every row that passes? */
static bool
is_constant(PlannerInfo *root, const SortColumn *column, RelOptInfo *rel)
{
	ListCell   *lc;

	foreach(lc, root->eq_classes)
	{
		EquivalenceClass *ec = lfirst_node(EquivalenceClass, lc);

		if (ec->ec_merged == NULL && hb_eclass_is_constant(ec) &&
			eclass_has_column(ec, column, rel))
			return true;
	}
	return false;
}

/* The leading columns of the sort key that give an order known to SQL. */
static int
sort_columns(PlannerInfo *root, RelOptInfo *baserel, SortColumn *columns)
{
	HbPlanRel  *plan_rel = baserel->fdw_private;
	HbForeign  *foreign = plan_rel->foreign;
	HbTable    *table = foreign->table;
	int			n;

	if (table == NULL)
		return 0;
	for (n = 0; n < table->nsort; n++)
	{
		HbColumn   *stored = &table->columns[table->sort_cols[n]];
		SortColumn *column = &columns[n];
		AttrNumber	attnum = foreign->attnums[table->sort_cols[n]];
		HbSpelling	spelling;
		TypeCacheEntry *entry;
		Oid			vartype;
		int32		vartypmod;
		Oid			varcollid;

		if (attnum == 0)
			break;
		get_atttypetypmodcoll(foreign->relid, attnum,
							  &vartype, &vartypmod, &varcollid);
		spelling = foreign->spellings[attnum - 1];
		if ((spelling == HB_SPELL_STORED && vartype != stored->type) ||
			!hb_spell_keeps_order(spelling, varcollid) ||
			!has_sql_order(foreign, stored, varcollid))
			break;
		entry = lookup_type_cache(vartype, TYPECACHE_BTREE_OPFAMILY |
								  TYPECACHE_LT_OPR | TYPECACHE_GT_OPR);
		column->attnum = attnum;
		column->var = makeVar(baserel->relid, attnum, vartype, vartypmod,
							  varcollid, 0);
		column->family = entry->btree_opf;
		column->less = entry->lt_opr;
		column->greater = entry->gt_opr;
		/* Declared ones are checked as they are read. */
		column->not_null = stored->not_null ||
			bms_is_member(attnum, foreign->check_not_null);
		column->constant = is_constant(root, column, baserel);
	}
	return n;
}

/*
 * The part of the query's order that the scan gives, and in which direction;
 * NIL if none.  The query's pathkeys hold no column that is constant, the
 * sort key may.
 */
static List *
query_order(PlannerInfo *root, RelOptInfo *baserel, SortColumn *columns,
			int ncolumns, HbScanOrder *order)
{
	List	   *pathkeys = NIL;
	ListCell   *lc;
	int			i = 0;

	*order = HB_ORDER_NONE;
	foreach(lc, root->query_pathkeys)
	{
		PathKey    *pathkey = lfirst_node(PathKey, lc);
		bool		descending = hb_pathkey_is_descending(pathkey);
		HbScanOrder wanted = descending ? HB_ORDER_DESC : HB_ORDER_ASC;

		while (i < ncolumns && columns[i].constant &&
			   !eclass_has_column(pathkey->pk_eclass, &columns[i], baserel))
			i++;
		if (i == ncolumns ||
			pathkey->pk_eclass->ec_has_volatile ||
			pathkey->pk_opfamily != columns[i].family ||
			!eclass_has_column(pathkey->pk_eclass, &columns[i], baserel))
			break;
		if (*order != HB_ORDER_NONE && *order != wanted)
			break;
		if (!columns[i].not_null && pathkey->pk_nulls_first != descending)
			break;
		*order = wanted;
		pathkeys = lappend(pathkeys, pathkey);
		i++;
	}
	return pathkeys;
}

/* The whole sort key, as far as anything in the query may use it. */
static List *
natural_order(PlannerInfo *root, RelOptInfo *baserel, SortColumn *columns,
			  int ncolumns, HbScanOrder order)
{
	List	   *pathkeys = NIL;

	for (int i = 0; i < ncolumns; i++)
	{
		List	   *next;
		PathKey    *pathkey;
		ListCell   *lc;
		bool		redundant;

		if (columns[i].constant)
			continue;
		next = hb_build_expression_pathkey(root, (Expr *) columns[i].var,
										   order == HB_ORDER_ASC ?
										   columns[i].less : columns[i].greater,
										   baserel->relids);
		if (next == NIL)
			break;
		pathkey = linitial_node(PathKey, next);
		redundant = hb_eclass_is_constant(pathkey->pk_eclass);
		foreach(lc, pathkeys)
			redundant |= lfirst_node(PathKey, lc)->pk_eclass ==
				pathkey->pk_eclass;
		if (!redundant)
			pathkeys = lappend(pathkeys, pathkey);
	}
	return truncate_useless_pathkeys(root, baserel, pathkeys);
}

static ForeignPath *
make_path(PlannerInfo *root, RelOptInfo *baserel, HbScanOrder order,
		  List *pathkeys, Relids required_outer, const HbCost *cost)
{
	return hb_create_foreignscan_path(root, baserel, cost->rows,
									  cost->startup, cost->total, pathkeys,
									  required_outer,
									  list_make1(makeInteger(order)));
}

static void
add_scan_path(PlannerInfo *root, RelOptInfo *baserel, HbScanOrder order,
			  List *pathkeys, Relids required_outer)
{
	ParamPathInfo *param_info;
	HbCost		cost;

	param_info = get_baserel_parampathinfo(root, baserel, required_outer);
	hb_cost_scan(root, baserel, param_info, order != HB_ORDER_NONE, &cost);
	add_path(baserel, (Path *) make_path(root, baserel, order, pathkeys,
										 required_outer, &cost));
}

/* The rows dealt out among the leader and workers, if it is worth some. */
static void
add_parallel_path(PlannerInfo *root, RelOptInfo *baserel)
{
	ForeignPath *path;
	HbCost		cost;
	double		divisor;
	int			workers;

	if (!baserel->consider_parallel || !bms_is_empty(baserel->lateral_relids))
		return;
	workers = hb_parallel_workers(baserel, &divisor);
	if (workers == 0)
		return;

	hb_cost_scan(root, baserel, NULL, false, &cost);
	cost.rows = clamp_row_est(cost.rows / divisor);
	cost.total = cost.startup + (cost.total - cost.startup) / divisor;
	path = make_path(root, baserel, HB_ORDER_NONE, NIL, NULL, &cost);
	path->path.parallel_aware = true;
	path->path.parallel_workers = workers;
	add_partial_path(baserel, (Path *) path);
}

static void
add_ordered_paths(PlannerInfo *root, RelOptInfo *baserel)
{
	SortColumn	columns[HB_MAX_SORT_COLS];
	int			ncolumns = sort_columns(root, baserel, columns);
	List	   *wanted;
	HbScanOrder order;

	wanted = query_order(root, baserel, columns, ncolumns, &order);
	if (wanted != NIL)
		add_scan_path(root, baserel, order, wanted, baserel->lateral_relids);

	for (order = HB_ORDER_ASC; order <= HB_ORDER_DESC; order++)
	{
		List	   *natural = natural_order(root, baserel, columns, ncolumns,
											order);

		if (natural != NIL && !equal(natural, wanted))
			add_scan_path(root, baserel, order, natural,
						  baserel->lateral_relids);
	}
}

/*
 * Parameters.  A join clause that the scan can evaluate, once the other side's
 * columns are given, is worth a path that requires the other side; as
 * postgres_fdw does, one for each distinct set of relations.
 */
typedef struct EclassContext
{
	Expr	   *current;		/* the member being looked at, or NULL */
	List	   *done;			/* members already used */
} EclassContext;

static bool
eclass_member_matches(PlannerInfo *root, RelOptInfo *rel,
					  EquivalenceClass *ec, EquivalenceMember *em, void *arg)
{
	EclassContext *cxt = arg;
	HbPlanRel  *plan_rel = rel->fdw_private;
	HbOperand	operand;

	if (cxt->current != NULL)
		return equal(em->em_expr, cxt->current);
	if (!hb_operand_find(plan_rel->foreign, rel->relid, (Node *) em->em_expr,
						 &operand))
		return false;
	if (list_member(cxt->done, em->em_expr))
		return false;
	cxt->current = em->em_expr;
	return true;
}

/* Adds the relations that a clause needs beside ours to the distinct sets. */
static List *
add_outer_relids(List *sets, RelOptInfo *baserel, RestrictInfo *rinfo)
{
	Relids		outer;
	ListCell   *lc;

	if (!join_clause_is_movable_to(rinfo, baserel) ||
		hb_plan_push(baserel, rinfo) == NULL)
		return sets;
	outer = bms_union(rinfo->clause_relids, baserel->lateral_relids);
	outer = bms_del_member(outer, baserel->relid);
	if (bms_is_empty(outer))
		return sets;
	foreach(lc, sets)
	{
		if (bms_equal(lfirst(lc), outer))
			return sets;
	}
	return lappend(sets, outer);
}

static void
add_parameterized_paths(PlannerInfo *root, RelOptInfo *baserel)
{
	List	   *sets = NIL;
	Relids		all = NULL;
	ListCell   *lc;

	foreach(lc, baserel->joininfo)
		sets = add_outer_relids(sets, baserel, lfirst_node(RestrictInfo, lc));

	if (baserel->has_eclass_joins)
	{
		EclassContext cxt = {NULL, NIL};

		for (;;)
		{
			List	   *clauses;

			cxt.current = NULL;
			clauses = generate_implied_equalities_for_column(root, baserel,
															 eclass_member_matches,
															 &cxt,
															 baserel->lateral_referencers);
			if (cxt.current == NULL)
				break;
			foreach(lc, clauses)
				sets = add_outer_relids(sets, baserel,
										lfirst_node(RestrictInfo, lc));
			cxt.done = lappend(cxt.done, cxt.current);
		}
	}

	/*
	 * Conditions from different relations work together (the block from one
	 * and a hash from another), so try all of them at once as well.
	 */
	foreach(lc, sets)
		all = bms_add_members(all, lfirst(lc));
	if (list_length(sets) > 1)
	{
		bool		among = false;

		foreach(lc, sets)
			among |= bms_equal(lfirst(lc), all);
		if (!among)
			sets = lappend(sets, all);
	}

	foreach(lc, sets)
		add_scan_path(root, baserel, HB_ORDER_NONE, NIL, lfirst(lc));
}

void
hotblocksGetForeignPaths(PlannerInfo *root, RelOptInfo *baserel,
						 Oid foreigntableid)
{
	add_scan_path(root, baserel, HB_ORDER_NONE, NIL, baserel->lateral_relids);
	if (hb_enable_ordered_scan)
		add_ordered_paths(root, baserel);
	if (hb_enable_parameterized_scan)
		add_parameterized_paths(root, baserel);
	add_parallel_path(root, baserel);
}
