/*
 * hb_clause.c
 *		SQL conditions as predicates of the scan.
 *
 * An expression is parsed into a small tree of HbClause, whose leaves are
 * conditions on one column; a leaf's other side is any expression without
 * columns of the table that is the same for all rows of a scan: constants,
 * parameters, stable functions of them, and, in a join clause, columns of
 * other tables, which reach the executor as parameters.  When the scan begins
 * the values are computed and the tree becomes a HbPred.
 *
 * The predicate must be exact, since nobody checks again: a row passes when
 * the condition is true.  NOT is therefore moved down to the leaves, where it
 * becomes the opposite comparison (which is null for the same rows); above
 * them only AND and OR remain, in which null and false come to the same, so
 * that a comparison with NULL is a condition that never holds.
 *
 * An operator counts by its place in the column type's own btree operator
 * family, never by name; what the scan makes of it, for which types and
 * collations, is for hb_pred_supported to say.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "access/stratnum.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "fdw/hb_fdw.h"

typedef enum HbClauseKind
{
	HB_CLAUSE_AND,
	HB_CLAUSE_OR,
	HB_CLAUSE_CMP,				/* column op value */
	HB_CLAUSE_ANY,				/* column = ANY (array) */
	HB_CLAUSE_ALL,				/* column <> ALL (array) */
	HB_CLAUSE_DISTINCT,			/* column IS DISTINCT FROM value */
	HB_CLAUSE_NOT_DISTINCT,
	HB_CLAUSE_IS_NULL,
	HB_CLAUSE_IS_NOT_NULL,
	HB_CLAUSE_BOOL				/* boolean column is truth */
} HbClauseKind;

struct HbClause
{
	HbClauseKind kind;
	List	   *children;		/* AND, OR: HbClause * */
	HbOperand	operand;		/* leaves: what they are about */
	HbCmpOp		op;
	bool		truth;			/* BOOL */
	Expr	   *value;			/* CMP, ANY, ALL, (NOT_)DISTINCT */
	Oid			value_type;		/* of the value, or of the array's elements */
	ExprState  *state;			/* of value, once the scan begins */
};

struct HbFilter
{
	HbClause   *clause;
	const HbTable *table;
	bool		checked;		/* its values, for those that nothing equals */
};

typedef struct ParseContext
{
	const HbForeign *foreign;
	Index		relid;
} ParseContext;

static HbClause *parse(ParseContext *cxt, Node *node, bool negate);

/* Is there anything in a leaf's other side that differs between rows? */
static bool
varies_walker(Node *node, ParseContext *cxt)
{
	if (node == NULL)
		return false;
	switch (nodeTag(node))
	{
		case T_Var:
			return ((Var *) node)->varno == cxt->relid ||
				((Var *) node)->varlevelsup > 0;
		case T_SubLink:
		case T_SubPlan:
		case T_AlternativeSubPlan:
		case T_Aggref:
		case T_GroupingFunc:
		case T_WindowFunc:
		case T_CurrentOfExpr:
			return true;
		default:
			return expression_tree_walker(node, varies_walker, cxt);
	}
}

static bool
is_value(ParseContext *cxt, Node *node)
{
	return !varies_walker(node, cxt) && !contain_volatile_functions(node);
}

static bool
find_operand(ParseContext *cxt, Node *node, HbOperand *operand)
{
	return hb_operand_find(cxt->foreign, cxt->relid, node, operand);
}

static HbCmpOp
negate_op(HbCmpOp op)
{
	static const HbCmpOp negated[] = {
		[HB_LT] = HB_GE,
		[HB_LE] = HB_GT,
		[HB_EQ] = HB_NE,
		[HB_GE] = HB_LT,
		[HB_GT] = HB_LE,
		[HB_NE] = HB_EQ
	};

	return negated[op];
}

/*
 * What an operator does in the btree family of a type; false if it is none
 * of its comparisons.
 */
static bool
operator_meaning(Oid opno, Oid type, HbCmpOp *op)
{
	Oid			family = lookup_type_cache(type, TYPECACHE_BTREE_OPFAMILY)->btree_opf;

	if (!OidIsValid(family))
		return false;
	switch (get_op_opfamily_strategy(opno, family))
	{
		case BTLessStrategyNumber:
			*op = HB_LT;
			return true;
		case BTLessEqualStrategyNumber:
			*op = HB_LE;
			return true;
		case BTEqualStrategyNumber:
			*op = HB_EQ;
			return true;
		case BTGreaterEqualStrategyNumber:
			*op = HB_GE;
			return true;
		case BTGreaterStrategyNumber:
			*op = HB_GT;
			return true;
		default:
			break;
	}

	/* <> is in no family; it is known as the opposite of =. */
	opno = get_negator(opno);
	if (OidIsValid(opno) &&
		get_op_opfamily_strategy(opno, family) == BTEqualStrategyNumber)
	{
		*op = HB_NE;
		return true;
	}
	return false;
}

static HbClause *
make_leaf(HbClauseKind kind, const HbOperand *operand)
{
	HbClause   *clause = palloc0(sizeof(HbClause));

	clause->kind = kind;
	clause->operand = *operand;
	return clause;
}

/* operand op value, after the sides are known; NULL if not supported. */
static HbClause *
parse_comparison(ParseContext *cxt, HbClauseKind kind, Node *left, Oid opno,
				 Node *right, Oid collation, bool negate)
{
	HbClause   *clause;
	HbOperand	operand;
	HbCmpOp		op;

	if (!find_operand(cxt, left, &operand))
	{
		Node	   *swap = left;

		opno = get_commutator(opno);
		if (!OidIsValid(opno))
			return NULL;
		left = right;
		right = swap;
		if (!find_operand(cxt, left, &operand))
			return NULL;
	}
	if (!is_value(cxt, right) || !operator_meaning(opno, operand.type, &op))
		return NULL;
	if (negate)
		op = negate_op(op);
	if (!hb_operand_supported(cxt->foreign, &operand, op, exprType(right),
							  collation))
		return NULL;

	clause = make_leaf(kind, &operand);
	clause->op = op;
	clause->value = (Expr *) right;
	clause->value_type = exprType(right);
	return clause;
}

/*
 * The text that a LIKE pattern begins with, in *start, if that and perhaps one
 * "%" behind it is all of the pattern; *whole if there is none.
 */
static bool
pattern_start(const Const *pattern, bool fold, text **start, bool *whole)
{
	text	   *value;
	const char *s;
	int			len;

	if (!IsA(pattern, Const) || pattern->constisnull ||
		pattern->consttype != TEXTOID)
		return false;
	value = DatumGetTextPP(pattern->constvalue);
	s = VARDATA_ANY(value);
	len = VARSIZE_ANY_EXHDR(value);
	*whole = len == 0 || s[len - 1] != '%';
	if (!*whole)
		len--;
	*start = cstring_to_text_with_len(s, len);
	for (int i = 0; i < len; i++)
	{
		if (s[i] == '%' || s[i] == '_' || s[i] == '\\' ||
			(fold && IS_HIGHBIT_SET(s[i])))
			return false;
		if (fold)
			VARDATA(*start)[i] = pg_ascii_tolower((unsigned char) s[i]);
	}
	return true;
}

/*
 * LIKE with a pattern that only says how the text begins, ^@ and
 * starts_with().  ILIKE is the same for hexadecimal text, which has no upper
 * case.
 */
static HbClause *
parse_start(ParseContext *cxt, Oid function, List *args, Oid collation,
			bool negate)
{
	HbOperand	operand;
	HbClause   *clause;
	Node	   *value;
	bool		fold = false;
	bool		whole = false;
	text	   *start;

	if (list_length(args) != 2 ||
		!find_operand(cxt, linitial(args), &operand) ||
		operand.type != TEXTOID || operand.shape != HB_SHAPE_COLUMN ||
		operand.spelling == HB_SPELL_QUANTITY)
		return NULL;
	value = lsecond(args);
	switch (function)
	{
		case F_TEXTNLIKE:
		case F_TEXTICNLIKE:
			negate = !negate;
			/* FALLTHROUGH */
		case F_TEXTLIKE:
		case F_TEXTICLIKE:
			fold = function == F_TEXTICLIKE || function == F_TEXTICNLIKE;
			if ((fold && operand.spelling != HB_SPELL_HEX) ||
				!pattern_start((Const *) value, fold, &start, &whole))
				return NULL;
			value = (Node *) makeConst(TEXTOID, -1, collation, -1,
									   PointerGetDatum(start), false, false);
			break;
		default:				/* F_STARTS_WITH */
			if (!is_value(cxt, value) || exprType(value) != TEXTOID)
				return NULL;
			break;
	}
	if (!whole)
		operand.shape = HB_SHAPE_STARTS;
	if (!hb_operand_supported(cxt->foreign, &operand, HB_EQ, TEXTOID, collation))
		return NULL;
	clause = make_leaf(HB_CLAUSE_CMP, &operand);
	clause->op = negate ? HB_NE : HB_EQ;
	clause->value = (Expr *) value;
	clause->value_type = TEXTOID;
	return clause;
}

static bool
is_start(Oid function)
{
	return function == F_STARTS_WITH ||
		function == F_TEXTLIKE || function == F_TEXTNLIKE ||
		function == F_TEXTICLIKE || function == F_TEXTICNLIKE;
}

static HbClause *
parse_operator(ParseContext *cxt, OpExpr *expr, bool negate)
{
	Oid			function = get_opcode(expr->opno);

	if (list_length(expr->args) != 2)
		return NULL;
	if (is_start(function))
		return parse_start(cxt, function, expr->args, expr->inputcollid,
						   negate);
	return parse_comparison(cxt, HB_CLAUSE_CMP, linitial(expr->args),
							expr->opno, lsecond(expr->args),
							expr->inputcollid, negate);
}

/* IS DISTINCT FROM is never null, so that NOT is simply the other one. */
static HbClause *
parse_distinct(ParseContext *cxt, DistinctExpr *expr, bool negate)
{
	HbClause   *clause;

	clause = parse_comparison(cxt, HB_CLAUSE_NOT_DISTINCT,
							  linitial(expr->args), expr->opno,
							  lsecond(expr->args), expr->inputcollid, false);
	if (clause == NULL || clause->op != HB_EQ ||
		!hb_operand_is_strict(&clause->operand))
		return NULL;
	if (!negate)
	{
		if (!hb_operand_supported(cxt->foreign, &clause->operand, HB_NE,
								  clause->value_type, expr->inputcollid))
			return NULL;
		clause->kind = HB_CLAUSE_DISTINCT;
		clause->op = HB_NE;
	}
	return clause;
}

/* = ANY and <> ALL, which are each other's negation. */
static HbClause *
parse_array(ParseContext *cxt, ScalarArrayOpExpr *expr, bool negate)
{
	Node	   *array = lsecond(expr->args);
	Oid			element = get_base_element_type(exprType(array));
	HbClause   *clause;
	HbOperand	operand;
	HbCmpOp		op;
	bool		any = expr->useOr;

	if (!OidIsValid(element) ||
		!find_operand(cxt, linitial(expr->args), &operand) ||
		!is_value(cxt, array) ||
		!operator_meaning(expr->opno, operand.type, &op))
		return NULL;
	if (negate)
	{
		op = negate_op(op);
		any = !any;
	}
	if (op != (any ? HB_EQ : HB_NE) ||
		!hb_operand_supported(cxt->foreign, &operand, op, element,
							  expr->inputcollid))
		return NULL;

	clause = make_leaf(any ? HB_CLAUSE_ANY : HB_CLAUSE_ALL, &operand);
	clause->op = op;
	clause->value = (Expr *) array;
	clause->value_type = element;
	return clause;
}

static HbClause *
parse_null_test(ParseContext *cxt, NullTest *expr, bool negate)
{
	HbOperand	operand;

	if (expr->argisrow || !find_operand(cxt, (Node *) expr->arg, &operand) ||
		!hb_operand_is_strict(&operand))
		return NULL;
	return make_leaf((expr->nulltesttype == IS_NULL) != negate ?
					 HB_CLAUSE_IS_NULL : HB_CLAUSE_IS_NOT_NULL, &operand);
}

/* A boolean column by itself. */
static HbClause *
parse_boolean(ParseContext *cxt, Node *node, bool truth)
{
	HbClause   *clause;
	HbOperand	operand;

	if (!find_operand(cxt, node, &operand) || operand.type != BOOLOID ||
		cxt->foreign->table->columns[operand.column].type != BOOLOID)
		return NULL;
	clause = make_leaf(HB_CLAUSE_BOOL, &operand);
	clause->truth = truth;
	return clause;
}

static HbClause *
make_branch(HbClauseKind kind, List *children)
{
	HbClause   *clause = palloc0(sizeof(HbClause));

	clause->kind = kind;
	clause->operand.column = -1;
	clause->children = children;
	return clause;
}

static HbClause *
parse_boolean_test(ParseContext *cxt, BooleanTest *expr, bool negate)
{
	HbClause   *clause = parse_boolean(cxt, (Node *) expr->arg, true);
	bool		other = negate; /* IS NOT ... */

	if (clause == NULL)
		return NULL;
	switch (expr->booltesttype)
	{
		case IS_NOT_TRUE:
			other = !other;
			break;
		case IS_TRUE:
			break;
		case IS_NOT_FALSE:
			other = !other;
			clause->truth = false;
			break;
		case IS_FALSE:
			clause->truth = false;
			break;
		case IS_NOT_UNKNOWN:
			other = !other;
			/* FALLTHROUGH */
		case IS_UNKNOWN:
			clause->kind = other ? HB_CLAUSE_IS_NOT_NULL : HB_CLAUSE_IS_NULL;
			return clause;
	}
	if (other)
	{
		clause->truth = !clause->truth;
		clause = make_branch(HB_CLAUSE_OR,
							 list_make2(clause,
										make_leaf(HB_CLAUSE_IS_NULL,
												  &clause->operand)));
	}
	return clause;
}

static HbClause *
parse_list(ParseContext *cxt, HbClauseKind kind, List *args, bool negate)
{
	List	   *children = NIL;
	ListCell   *lc;

	foreach(lc, args)
	{
		HbClause   *child = parse(cxt, lfirst(lc), negate);

		if (child == NULL)
			return NULL;
		children = lappend(children, child);
	}
	return make_branch(kind, children);
}

/*
 * (a, b) > (x, y) is a > x OR (a = x AND b > y), which is true for the same
 * rows, nulls included; its negation need not be null for the same ones.
 */
static HbClause *
parse_row_compare(ParseContext *cxt, RowCompareExpr *expr)
{
	HbClause   *result = NULL;
	int			n = list_length(expr->opnos);

	for (int i = n - 1; i >= 0; i--)
	{
		HbClause   *compare;
		HbClause   *equal;
		Oid			collation = list_nth_oid(expr->inputcollids, i);

		compare = parse_comparison(cxt, HB_CLAUSE_CMP,
								   list_nth(expr->largs, i),
								   list_nth_oid(expr->opnos, i),
								   list_nth(expr->rargs, i), collation, false);
		if (compare == NULL || compare->op == HB_EQ || compare->op == HB_NE)
			return NULL;
		if (i == n - 1)
		{
			result = compare;
			continue;
		}
		if (!hb_operand_supported(cxt->foreign, &compare->operand, HB_EQ,
								  compare->value_type, collation))
			return NULL;
		equal = make_leaf(HB_CLAUSE_CMP, &compare->operand);
		*equal = *compare;
		equal->op = HB_EQ;
		/* >= decides only in the last column. */
		if (compare->op == HB_LE)
			compare->op = HB_LT;
		else if (compare->op == HB_GE)
			compare->op = HB_GT;
		result = make_branch(HB_CLAUSE_OR,
							 list_make2(compare,
										make_branch(HB_CLAUSE_AND,
													list_make2(equal, result))));
	}
	return result;
}

static HbClause *
parse(ParseContext *cxt, Node *node, bool negate)
{
	BoolExpr   *expr;

	check_stack_depth();
	switch (nodeTag(node))
	{
		case T_BoolExpr:
			expr = (BoolExpr *) node;
			if (expr->boolop == NOT_EXPR)
				return parse(cxt, linitial(expr->args), !negate);
			return parse_list(cxt,
							  (expr->boolop == AND_EXPR) != negate ?
							  HB_CLAUSE_AND : HB_CLAUSE_OR,
							  expr->args, negate);
		case T_OpExpr:
			return parse_operator(cxt, (OpExpr *) node, negate);
		case T_DistinctExpr:
			return parse_distinct(cxt, (DistinctExpr *) node, negate);
		case T_ScalarArrayOpExpr:
			return parse_array(cxt, (ScalarArrayOpExpr *) node, negate);
		case T_NullTest:
			return parse_null_test(cxt, (NullTest *) node, negate);
		case T_BooleanTest:
			return parse_boolean_test(cxt, (BooleanTest *) node, negate);
		case T_RowCompareExpr:
			return negate ? NULL :
				parse_row_compare(cxt, (RowCompareExpr *) node);
		case T_FuncExpr:
			if (!is_start(((FuncExpr *) node)->funcid))
				return NULL;
			return parse_start(cxt, ((FuncExpr *) node)->funcid,
							   ((FuncExpr *) node)->args,
							   ((FuncExpr *) node)->inputcollid, negate);
		case T_Var:
		case T_RelabelType:
			return parse_boolean(cxt, node, !negate);
		default:
			return NULL;
	}
}

HbClause *
hb_clause_parse(const HbForeign *foreign, Index relid, Expr *expr)
{
	ParseContext cxt = {foreign, relid};

	if (foreign->table == NULL)
		return NULL;
	return parse(&cxt, (Node *) expr, false);
}

bool
hb_clause_is_equality(const HbClause *clause, int *column, Expr **value,
					  bool *is_array)
{
	if (clause->kind != HB_CLAUSE_ANY &&
		!(clause->kind == HB_CLAUSE_CMP && clause->op == HB_EQ))
		return false;
	if (clause->operand.shape != HB_SHAPE_COLUMN &&
		clause->operand.shape != HB_SHAPE_UPPER &&
		clause->operand.shape != HB_SHAPE_ADDRESS)
		return false;
	*column = clause->operand.column;
	*value = clause->value;
	*is_array = clause->kind == HB_CLAUSE_ANY;
	return true;
}

/*
 * Predicates.
 */
static HbPred *
make_pred(HbPredKind kind)
{
	HbPred	   *pred = palloc0(sizeof(HbPred));

	pred->kind = kind;
	pred->column = -1;
	return pred;
}

static HbPred *
make_null_pred(HbPredKind kind, const HbClause *clause)
{
	HbPred	   *pred = make_pred(kind);

	pred->column = clause->operand.column;
	return pred;
}

static HbPred *
make_branch_pred(HbPredKind kind, int nchildren, HbPred **children)
{
	HbPred	   *pred;

	if (nchildren == 1)
		return children[0];
	pred = make_pred(kind);
	pred->nchildren = nchildren;
	pred->children = children;
	return pred;
}

/* The values of an array that are not null; *n is how many there are of both. */
static Datum *
array_values(Datum value, int *n, int *kept)
{
	ArrayType  *array = DatumGetArrayTypeP(value);
	Datum	   *elements;
	bool	   *nulls;
	int16		typlen;
	bool		typbyval;
	char		typalign;

	get_typlenbyvalalign(ARR_ELEMTYPE(array), &typlen, &typbyval, &typalign);
	deconstruct_array(array, ARR_ELEMTYPE(array), typlen, typbyval, typalign,
					  &elements, &nulls, n);
	*kept = 0;
	for (int i = 0; i < *n; i++)
	{
		if (!nulls[i])
			elements[(*kept)++] = elements[i];
	}
	return elements;
}

/* = ANY and <> ALL, once the array is there. */
static HbPred *
make_array_pred(const HbClause *clause, Datum value)
{
	int			n;
	int			kept;
	Datum	   *elements = array_values(value, &n, &kept);

	if (clause->kind == HB_CLAUSE_ANY)
		return kept == 0 ? make_pred(HB_PRED_NEVER) :
			hb_operand_in(&clause->operand, clause->value_type, kept,
						  elements, false);

	/* <> ALL: a null among the elements leaves every row null. */
	if (kept < n)
		return make_pred(HB_PRED_NEVER);
	if (n == 0)
		return make_pred(HB_PRED_ALWAYS);
	return hb_operand_in(&clause->operand, clause->value_type, n,
						 elements, true);
}

/* A leaf with its value. */
static HbPred *
make_leaf_pred(const HbClause *clause, Datum value, bool isnull)
{
	HbPred	  **children;

	switch (clause->kind)
	{
		case HB_CLAUSE_CMP:
			return isnull ? make_pred(HB_PRED_NEVER) :
				hb_operand_compare(&clause->operand, clause->op,
								   clause->value_type, value);
		case HB_CLAUSE_ANY:
		case HB_CLAUSE_ALL:
			return isnull ? make_pred(HB_PRED_NEVER) :
				make_array_pred(clause, value);
		case HB_CLAUSE_NOT_DISTINCT:
			return isnull ?
				make_null_pred(HB_PRED_IS_NULL, clause) :
				hb_operand_compare(&clause->operand, clause->op,
								   clause->value_type, value);
		case HB_CLAUSE_DISTINCT:
			if (isnull)
				return make_null_pred(HB_PRED_IS_NOT_NULL, clause);
			children = palloc(sizeof(HbPred *) * 2);
			children[0] = hb_operand_compare(&clause->operand, clause->op,
								   clause->value_type, value);
			children[1] = make_null_pred(HB_PRED_IS_NULL, clause);
			return make_branch_pred(HB_PRED_OR, 2, children);
		default:
			elog(ERROR, "unexpected kind of condition: %d",
				 (int) clause->kind);
			return NULL;
	}
}

/* Gives a leaf's value; false if it cannot be known yet. */
typedef bool (*HbValueOf) (void *arg, const HbClause *clause, Datum *value,
						   bool *isnull);

static HbPred *
build(const HbClause *clause, HbValueOf value_of, void *arg)
{
	HbPred	  **children;
	Datum		value;
	bool		isnull;
	ListCell   *lc;
	int			n = 0;

	switch (clause->kind)
	{
		case HB_CLAUSE_AND:
		case HB_CLAUSE_OR:
			children = palloc(sizeof(HbPred *) *
							  list_length(clause->children));
			foreach(lc, clause->children)
				children[n++] = build(lfirst(lc), value_of, arg);
			return make_branch_pred(clause->kind == HB_CLAUSE_AND ?
									HB_PRED_AND : HB_PRED_OR, n, children);
		case HB_CLAUSE_IS_NULL:
			return make_null_pred(HB_PRED_IS_NULL, clause);
		case HB_CLAUSE_IS_NOT_NULL:
			return make_null_pred(HB_PRED_IS_NOT_NULL, clause);
		case HB_CLAUSE_BOOL:
			{
				HbPred	   *pred = make_null_pred(HB_PRED_BOOL, clause);

				pred->op = HB_EQ;
				pred->value_type = BOOLOID;
				pred->nvalues = 1;
				pred->values = palloc(sizeof(Datum));
				pred->values[0] = BoolGetDatum(clause->truth);
				return pred;
			}
		default:
			if (!value_of(arg, clause, &value, &isnull))
				return make_pred(HB_PRED_ALWAYS);
			return make_leaf_pred(clause, value, isnull);
	}
}

/* For the planner and for EXPLAIN: constants only. */
static bool
constant_value(void *arg, const HbClause *clause, Datum *value, bool *isnull)
{
	PlannerInfo *root = arg;
	Node	   *node = (Node *) clause->value;

	if (root != NULL && !IsA(node, Const))
		node = estimate_expression_value(root, node);
	if (!IsA(node, Const))
		return false;
	*value = ((Const *) node)->constvalue;
	*isnull = ((Const *) node)->constisnull;
	return true;
}

HbPred *
hb_clause_constant_pred(PlannerInfo *root, const HbClause *clause)
{
	return build(clause, constant_value, root);
}

/* Is there anything in an expression that may differ between rescans? */
static bool
rescanned_walker(Node *node, void *arg)
{
	if (node == NULL)
		return false;
	if (IsA(node, Param))
		return ((Param *) node)->paramkind != PARAM_EXTERN;
	return IsA(node, Var) || expression_tree_walker(node, rescanned_walker, arg);
}

/*
 * Warns of a value that nothing can be equal to, which is most likely not what
 * was meant: text that is not as the column shows it, bytes of another length.
 * Values from other tables may well be so.
 */
static void
warn_value(const HbTable *table, const HbClause *clause, Datum value)
{
	Datum	   *values = &value;
	int			n = 1;
	int			kept = 1;

	if (clause->op != HB_EQ || !hb_operand_may_warn(table, &clause->operand) ||
		rescanned_walker((Node *) clause->value, NULL))
		return;
	if (clause->kind == HB_CLAUSE_ANY)
		values = array_values(value, &n, &kept);
	for (int i = 0; i < kept; i++)
	{
		/* One warning for a condition is enough. */
		if (hb_operand_warn(table, &clause->operand, values[i]))
			break;
	}
}

/* For the executor: whatever the expression gives now. */
typedef struct CurrentContext
{
	const HbFilter *filter;
	ExprContext *econtext;
} CurrentContext;

static bool
current_value(void *arg, const HbClause *clause, Datum *value, bool *isnull)
{
	CurrentContext *cxt = arg;

	*value = ExecEvalExpr(clause->state, cxt->econtext, isnull);
	if (!cxt->filter->checked && !*isnull)
		warn_value(cxt->filter->table, clause, *value);
	return true;
}

static void
init_values(HbClause *clause, PlanState *parent)
{
	ListCell   *lc;

	if (clause->value != NULL)
		clause->state = ExecInitExpr(clause->value, parent);
	foreach(lc, clause->children)
		init_values(lfirst(lc), parent);
}

HbFilter *
hb_filter_init(const HbForeign *foreign, Index relid, List *exprs,
			   PlanState *parent)
{
	HbFilter   *filter;
	List	   *children = NIL;
	ListCell   *lc;

	if (exprs == NIL)
		return NULL;
	foreach(lc, exprs)
	{
		HbClause   *child = hb_clause_parse(foreign, relid, lfirst(lc));

		/*
		 * Foreign table and server are as they were when it was planned, or
		 * the plan would be gone; but a dataset may have been dropped and
		 * made anew with other columns under the same name.
		 */
		if (child == NULL)
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("dataset \"%s\" has changed since the query was planned",
							NameStr(foreign->dataset->name)),
					 errhint("Prepare the statement again, or use DISCARD PLANS.")));
		init_values(child, parent);
		children = lappend(children, child);
	}
	filter = palloc0(sizeof(HbFilter));
	filter->table = foreign->table;
	filter->checked = IsParallelWorker();	/* the leader's part */
	filter->clause = list_length(children) == 1 ? linitial(children) :
		make_branch(HB_CLAUSE_AND, children);
	return filter;
}

/*
 * The predicate with this moment's values, in the current memory context,
 * in which by-reference values are computed as well.
 */
HbPred *
hb_filter_build(HbFilter *filter, ExprContext *econtext)
{
	CurrentContext cxt = {filter, econtext};
	HbPred	   *pred = build(filter->clause, current_value, &cxt);

	filter->checked = true;
	return pred;
}

HbPred *
hb_filter_constant_pred(const HbFilter *filter)
{
	return build(filter->clause, constant_value, NULL);
}
