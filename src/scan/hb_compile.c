/*
 * hb_compile.c
 *		A predicate to a tree of leaves with constants in physical form.
 *
 * Done once per scan and rescan, in pred_cxt.  Constants are brought to the
 * form in which chunks hold the column (hb_value.h), so that nothing is
 * converted per chunk.  Numeric constants are rounded to the integer that
 * bounds the same set of non-negative integers, which is what the num form
 * holds; values in no such form are compared as numerics.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "nodes/value.h"
#include "port/pg_bswap.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/fmgroids.h"
#include "utils/memutils.h"
#include "utils/numeric.h"
#include "utils/timestamp.h"

#include "scan/hb_scan_int.h"

typedef struct Compiler
{
	HbScan	   *scan;
	HbTable    *table;
	HbTree	   *tree;
} Compiler;

static HbNode *compile(Compiler *c, const HbPred *pred);

static HbNode *
new_node(Compiler *c, HbNodeKind kind)
{
	HbNode	   *node = palloc0(sizeof(HbNode));

	node->kind = kind;
	node->id = c->tree->nnodes++;
	return node;
}

static int
compare_int64(const void *a, const void *b)
{
	int64		x = *(const int64 *) a;
	int64		y = *(const int64 *) b;

	return (x > y) - (x < y);
}

/* A constant for an INT column. */
static int64
int_constant(const HbColumn *column, Oid type, Datum value)
{
	int64_t		i = 0;
	HbSlice		bytes;

	switch (type)
	{
		case INT2OID:
			return DatumGetInt16(value);
		case INT4OID:
			return DatumGetInt32(value);
		case INT8OID:
			return DatumGetInt64(value);
		default:
			hb_value_to_phys(unconstify(HbValueType *, &column->value), value,
							 &i, &bytes);
			return i;
	}
}

static void
int_form_compare(HbIntForm *f, HbCmpOp op, int64 v)
{
	f->kind = HB_FORM_RANGE;
	f->lo = PG_INT64_MIN;
	f->hi = PG_INT64_MAX;

	switch (op)
	{
		case HB_LT:
			if (v == PG_INT64_MIN)
				f->kind = HB_FORM_NONE;
			else
				f->hi = v - 1;
			break;
		case HB_LE:
			f->hi = v;
			break;
		case HB_EQ:
			f->lo = f->hi = v;
			break;
		case HB_GE:
			f->lo = v;
			break;
		case HB_GT:
			if (v == PG_INT64_MAX)
				f->kind = HB_FORM_NONE;
			else
				f->lo = v + 1;
			break;
		case HB_NE:
			f->kind = HB_FORM_NE;
			f->lo = v;
			break;
	}
	if (f->kind == HB_FORM_RANGE && f->lo == PG_INT64_MIN && f->hi == PG_INT64_MAX)
		f->kind = HB_FORM_ALL;
}

/* Takes over the array. */
static void
int_form_set(HbIntForm *f, int64 *values, int n)
{
	int			kept = 0;

	qsort(values, n, sizeof(int64), compare_int64);
	for (int i = 0; i < n; i++)
	{
		if (kept == 0 || values[kept - 1] != values[i])
			values[kept++] = values[i];
	}
	if (kept == 0)
		f->kind = HB_FORM_NONE;
	else if (kept == 1)
		int_form_compare(f, HB_EQ, values[0]);
	else
	{
		f->kind = HB_FORM_SET;
		f->n = kept;
		f->set = values;
	}
}

/* A comparison of byte strings; order as the bytes have it. */
static void
byte_form_compare(HbByteForm *f, HbCmpOp op, HbSlice v)
{
	f->kind = HB_FORM_RANGE;
	switch (op)
	{
		case HB_LT:
		case HB_LE:
			f->has_hi = true;
			f->hi_open = (op == HB_LT);
			f->hi = v;
			break;
		case HB_GE:
		case HB_GT:
			f->has_lo = true;
			f->lo_open = (op == HB_GT);
			f->lo = v;
			break;
		case HB_EQ:
			f->kind = HB_FORM_SET;
			f->set.slices = palloc(sizeof(HbSlice));
			f->set.slices[0] = v;
			f->set.n = 1;
			break;
		case HB_NE:
			f->kind = HB_FORM_NE;
			f->lo = v;
			break;
	}
}

/*
 * Where a numeric stands among the integers 0..2^256-1 of the num form:
 * below and above all of them, or at form, or between form - 1 and form.
 */
typedef enum NumPlace
{
	NUM_BELOW,
	NUM_ABOVE,
	NUM_AT,
	NUM_BEFORE
} NumPlace;

static NumPlace
place_numeric(Compiler *c, Datum value, HbSlice *form)
{
	Numeric		num = DatumGetNumeric(value);
	Datum		zero = NumericGetDatum(int64_to_numeric(0));
	Datum		ceil;
	int64_t		unused;

	if (numeric_is_nan(num))
		return NUM_ABOVE;		/* NaN sorts after everything */
	if (numeric_is_inf(num))
		return DatumGetBool(DirectFunctionCall2(numeric_gt, value, zero)) ?
			NUM_ABOVE : NUM_BELOW;

	if (DatumGetBool(DirectFunctionCall2(numeric_lt, value, zero)))
		return NUM_BELOW;
	ceil = DirectFunctionCall1(numeric_ceil, value);
	hb_value_to_phys(&c->scan->numeric_type, ceil, &unused, form);
	if (hb_slice_exotic(*form))
		return NUM_ABOVE;
	return DatumGetBool(DirectFunctionCall2(numeric_eq, value, ceil)) ?
		NUM_AT : NUM_BEFORE;
}

/* A num form as int64; false when it is above. */
static bool
num_form_int(HbSlice form, int64 *value)
{
	uint64		v = 0;

	if (form.len > 9)
		return false;
	for (uint32 i = 1; i < form.len; i++)
		v = (v << 8) | form.data[i];
	if (v > (uint64) PG_INT64_MAX)
		return false;
	*value = (int64) v;
	return true;
}

static void
numeric_compare(Compiler *c, HbLeaf *leaf, HbCmpOp op, Datum value)
{
	HbSlice		form = {NULL, 0};
	NumPlace	place = place_numeric(c, value, &form);
	bool		less = (op == HB_LT || op == HB_LE);
	int64		i;

	if (place == NUM_BELOW || place == NUM_ABOVE || (place == NUM_BEFORE &&
													 (op == HB_EQ || op == HB_NE)))
	{
		HbFormKind	kind;

		if (op == HB_EQ)
			kind = HB_FORM_NONE;
		else if (op == HB_NE)
			kind = HB_FORM_ALL;
		else
			kind = (less == (place == NUM_ABOVE)) ? HB_FORM_ALL : HB_FORM_NONE;
		leaf->ints.kind = kind;
		leaf->bytes.kind = kind;
		return;
	}

	/* x below form is the same as x below any number just before it */
	if (place == NUM_BEFORE)
		op = less ? HB_LT : HB_GE;

	byte_form_compare(&leaf->bytes, op, form);
	if (num_form_int(form, &i))
		int_form_compare(&leaf->ints, op, i);
	else if (op == HB_EQ)
		leaf->ints.kind = HB_FORM_NONE;
	else if (op == HB_NE || less)
		leaf->ints.kind = HB_FORM_ALL;
	else
		leaf->ints.kind = HB_FORM_NONE;
}

static void
numeric_set(Compiler *c, HbLeaf *leaf)
{
	HbSlice    *slices = palloc(sizeof(HbSlice) * leaf->nconsts);
	int64	   *ints = palloc(sizeof(int64) * leaf->nconsts);
	int			nslices = 0;
	int			nints = 0;

	for (int i = 0; i < leaf->nconsts; i++)
	{
		if (place_numeric(c, leaf->consts[i], &slices[nslices]) != NUM_AT)
			continue;
		if (num_form_int(slices[nslices], &ints[nints]))
			nints++;
		nslices++;
	}
	int_form_set(&leaf->ints, ints, nints);
	leaf->bytes.kind = nslices > 0 ? HB_FORM_SET : HB_FORM_NONE;
	hb_slice_set_build(&leaf->bytes.set, slices, nslices);
}

/* Constants of a NUM column: all as numerics. */
static void
numeric_leaf(Compiler *c, HbLeaf *leaf, const HbPred *pred)
{
	leaf->exotic = true;
	leaf->exotic_type = &c->scan->numeric_type;
	fmgr_info_cxt(F_NUMERIC_CMP, &leaf->cmp, CurrentMemoryContext);
	leaf->nconsts = pred->nvalues;
	leaf->consts = palloc(sizeof(Datum) * pred->nvalues);
	for (int i = 0; i < pred->nvalues; i++)
	{
		switch (pred->value_type)
		{
			case INT2OID:
				leaf->consts[i] =
					NumericGetDatum(int64_to_numeric(DatumGetInt16(pred->values[i])));
				break;
			case INT4OID:
				leaf->consts[i] =
					NumericGetDatum(int64_to_numeric(DatumGetInt32(pred->values[i])));
				break;
			case INT8OID:
				leaf->consts[i] =
					NumericGetDatum(int64_to_numeric(DatumGetInt64(pred->values[i])));
				break;
			default:
				leaf->consts[i] =
					NumericGetDatum(DatumGetNumericCopy(pred->values[i]));
				break;
		}
	}
	if (pred->kind == HB_PRED_IN)
		numeric_set(c, leaf);
	else
		numeric_compare(c, leaf, pred->op, leaf->consts[0]);
}

/* Constants of a BYTES column. */
static void
bytes_leaf(Compiler *c, HbLeaf *leaf, const HbPred *pred)
{
	HbColumn   *column = &c->table->columns[leaf->column];
	HbSlice    *slices = palloc(sizeof(HbSlice) * pred->nvalues);
	int			n = 0;
	int64_t		unused;

	if (column->type == INT4ARRAYOID)
	{
		leaf->exotic = true;
		leaf->exotic_type = &column->value;
		fmgr_info_cxt(F_BTARRAYCMP, &leaf->cmp, CurrentMemoryContext);
		leaf->nconsts = pred->nvalues;
		leaf->consts = palloc(sizeof(Datum) * pred->nvalues);
	}

	for (int i = 0; i < pred->nvalues; i++)
	{
		Datum		value = pred->values[i];

		if (leaf->exotic)
		{
			value = PointerGetDatum(PG_DETOAST_DATUM(value));
			leaf->consts[i] = value;
		}
		hb_value_to_phys(&column->value, value, &unused, &slices[n]);
		if (leaf->exotic && hb_slice_exotic(slices[n]))
		{
			/*
			 * An array that is not in the plain form equals no array that
			 * is; but its place among them is for the operator to say.
			 */
			if (pred->kind != HB_PRED_IN)
				leaf->by_datum = true;
			continue;
		}
		n++;
	}
	if (pred->kind == HB_PRED_IN)
	{
		leaf->bytes.kind = n > 0 ? HB_FORM_SET : HB_FORM_NONE;
		hb_slice_set_build(&leaf->bytes.set, slices, n);
	}
	else if (n > 0)
		byte_form_compare(&leaf->bytes, pred->op, slices[0]);
	else if (pred->op == HB_EQ)
		leaf->bytes.kind = HB_FORM_NONE;
	else
		leaf->bytes.kind = HB_FORM_ALL;
}

static HbPred *
new_pred(HbPredKind kind, int column, int nchildren)
{
	HbPred	   *pred = palloc0(sizeof(HbPred));

	pred->kind = kind;
	pred->column = column;
	pred->nchildren = nchildren;
	if (nchildren > 0)
		pred->children = palloc0(sizeof(HbPred *) * nchildren);
	return pred;
}

/*
 * The question asked of a coalescing column, asked of its sources: the i-th
 * answers where those before it are null.
 */
static HbNode *
compile_coalesce(Compiler *c, const HbPred *pred)
{
	HbColumn   *column = &c->table->columns[pred->column];
	int			n = list_length(column->source_columns);
	int		   *sources = palloc(sizeof(int) * n);
	HbPred	   *result;

	for (int i = 0; i < n; i++)
	{
		sources[i] = hb_table_column(c->table,
									 strVal(list_nth(column->source_columns, i)));
		if (sources[i] < 0 || sources[i] == pred->column ||
			c->table->columns[sources[i]].type != column->type ||
			c->table->columns[sources[i]].wide != column->wide ||
			c->table->columns[sources[i]].derive == HB_DERIVE_COALESCE)
			return NULL;
	}

	result = new_pred(pred->kind == HB_PRED_IS_NULL ? HB_PRED_AND : HB_PRED_OR,
					  -1, n);
	for (int i = 0; i < n; i++)
	{
		HbPred	   *asked = palloc(sizeof(HbPred));

		*asked = *pred;
		asked->column = sources[i];
		if (pred->kind != HB_PRED_IS_NULL && i > 0)
		{
			HbPred	   *both = new_pred(HB_PRED_AND, -1, i + 1);

			both->children[0] = asked;
			for (int j = 0; j < i; j++)
				both->children[j + 1] = new_pred(HB_PRED_IS_NULL, sources[j], 0);
			asked = both;
		}
		result->children[i] = asked;
	}
	return compile(c, result);
}

#define PREFIX_LEN		4		/* of HB_DERIVE_PREFIX4 */

/* More values than this are looked for among values that are made. */
#define MAX_PREFIXES	8

/* The column starts with these four bytes. */
static HbPred *
prefix_pred(Compiler *c, int column, Datum value)
{
	HbPred	   *pred;
	HbSlice		bytes;
	int64_t		unused;
	uint32		next;

	hb_value_to_phys(&c->table->columns[column].value, value, &unused, &bytes);
	if (bytes.len != PREFIX_LEN)
		return new_pred(HB_PRED_NEVER, -1, 0);
	pred = new_pred(HB_PRED_AND, -1, 2);
	for (int i = 0; i < 2; i++)
	{
		HbPred	   *bound = new_pred(HB_PRED_CMP, column, 0);

		bound->op = i == 0 ? HB_GE : HB_LT;
		bound->value_type = BYTEAOID;
		bound->nvalues = 1;
		bound->values = palloc(sizeof(Datum));
		bound->values[0] = value;
		pred->children[i] = bound;
	}

	/* Up to the next four bytes, if there are any. */
	memcpy(&next, bytes.data, sizeof(next));
	next = pg_hton32(pg_ntoh32(next) + 1);
	if (next == 0)
		return pred->children[0];
	pred->children[1]->values[0] =
		PointerGetDatum(cstring_to_text_with_len((char *) &next, sizeof(next)));
	return pred;
}

/*
 * The question asked of a column that has the first bytes of another one,
 * asked of that: it is NULL where that is shorter.
 */
static HbNode *
compile_prefix(Compiler *c, const HbPred *pred)
{
	HbColumn   *column = &c->table->columns[pred->column];
	int			source = hb_table_column(c->table,
										 strVal(linitial(column->source_columns)));
	HbPred	   *result;
	HbPred	   *length;

	if (source < 0 || source == pred->column || pred->of_length ||
		column->type != BYTEAOID ||
		c->table->columns[source].type != BYTEAOID)
		return NULL;

	switch (pred->kind)
	{
		case HB_PRED_IS_NULL:
		case HB_PRED_IS_NOT_NULL:
			length = new_pred(HB_PRED_CMP, source, 0);
			length->of_length = true;
			length->op = pred->kind == HB_PRED_IS_NULL ? HB_LT : HB_GE;
			length->value_type = INT4OID;
			length->nvalues = 1;
			length->values = palloc(sizeof(Datum));
			length->values[0] = Int32GetDatum(PREFIX_LEN);
			if (pred->kind == HB_PRED_IS_NOT_NULL)
				return compile(c, length);
			result = new_pred(HB_PRED_OR, -1, 2);
			result->children[0] = length;
			result->children[1] = new_pred(HB_PRED_IS_NULL, source, 0);
			return compile(c, result);
		case HB_PRED_CMP:
			return pred->op != HB_EQ ? NULL :
				compile(c, prefix_pred(c, source, pred->values[0]));
		case HB_PRED_IN:
			if (pred->negated || pred->nvalues > MAX_PREFIXES)
				return NULL;
			result = new_pred(HB_PRED_OR, -1, pred->nvalues);
			for (int i = 0; i < pred->nvalues; i++)
				result->children[i] = prefix_pred(c, source, pred->values[i]);
			return compile(c, result);
		default:
			return NULL;
	}
}

static HbNode *
compile_leaf(Compiler *c, const HbPred *pred)
{
	HbColumn   *column = &c->table->columns[pred->column];
	HbNode	   *node;
	HbLeaf	   *leaf;

	if (pred->kind == HB_PRED_IN && pred->nvalues == 0 && !pred->negated)
		return new_node(c, HB_NODE_NEVER);

	node = new_node(c, HB_NODE_LEAF);
	leaf = palloc0(sizeof(HbLeaf));
	node->leaf = leaf;
	leaf->column = pred->column;
	leaf->pred = pred;
	leaf->op = pred->op;
	leaf->phys = column->value.phys;
	c->tree->columns = list_append_unique_int(c->tree->columns, pred->column);

	leaf->negated = pred->kind == HB_PRED_IN && pred->negated;
	if (pred->kind == HB_PRED_IS_NULL)
		leaf->is_null = true;
	else if (pred->kind == HB_PRED_IS_NOT_NULL)
	{
		leaf->ints.kind = HB_FORM_ALL;
		leaf->bytes.kind = HB_FORM_ALL;
	}
	else if (leaf->phys == HB_PHYS_INT || pred->of_length)
	{
		leaf->of_length = pred->of_length;
		if (pred->kind == HB_PRED_IN)
		{
			int64	   *values = palloc(sizeof(int64) * pred->nvalues);

			for (int i = 0; i < pred->nvalues; i++)
				values[i] = int_constant(column, pred->value_type, pred->values[i]);
			int_form_set(&leaf->ints, values, pred->nvalues);
		}
		else
			int_form_compare(&leaf->ints, pred->op,
							 int_constant(column, pred->value_type,
										  pred->values[0]));
	}
	else if (leaf->phys == HB_PHYS_NUM)
		numeric_leaf(c, leaf, pred);
	else
		bytes_leaf(c, leaf, pred);

	if (column->derive == HB_DERIVE_COALESCE)
		node->alt = compile_coalesce(c, pred);
	else if (column->derive == HB_DERIVE_PREFIX4)
		node->alt = compile_prefix(c, pred);
	return node;
}

/* Two ranges of one integer column in an AND become one. */
static bool
merge_int_ranges(HbNode **children, int n, HbNode *added)
{
	HbLeaf	   *b = added->leaf;

	if (added->kind != HB_NODE_LEAF || b->phys != HB_PHYS_INT || b->is_null ||
		b->negated || b->ints.kind != HB_FORM_RANGE || added->alt != NULL)
		return false;
	for (int i = 0; i < n; i++)
	{
		HbLeaf	   *a = children[i]->leaf;

		if (children[i]->kind != HB_NODE_LEAF || a->column != b->column ||
			a->is_null || a->negated || a->ints.kind != HB_FORM_RANGE)
			continue;
		a->ints.lo = Max(a->ints.lo, b->ints.lo);
		a->ints.hi = Min(a->ints.hi, b->ints.hi);
		a->pred = NULL;
		if (a->ints.lo > a->ints.hi)
			a->ints.kind = HB_FORM_NONE;
		return true;
	}
	return false;
}

/* Adds a child, or the children of a node of the same kind. */
static void
add_child(HbNode *node, HbNode *child, int *room)
{
	if (child->kind == node->kind)
	{
		for (int i = 0; i < child->nchildren; i++)
			add_child(node, child->children[i], room);
		return;
	}
	if (node->kind == HB_NODE_AND &&
		merge_int_ranges(node->children, node->nchildren, child))
		return;
	if (node->nchildren == *room)
	{
		*room *= 2;
		node->children = repalloc(node->children, sizeof(HbNode *) * *room);
	}
	node->children[node->nchildren++] = child;
}

static bool
is_not_equal(const HbPred *pred, const HbPred *like)
{
	return pred->kind == HB_PRED_CMP && pred->op == HB_NE &&
		pred->column == like->column && pred->value_type == like->value_type &&
		pred->of_length == like->of_length;
}

/*
 * The i-th child of a list; in an AND, it and the comparisons by <> of the
 * same column that follow it (<> ALL, NOT IN) as one.  Moves *i behind.
 */
static HbNode *
compile_child(Compiler *c, const HbPred *pred, int *i)
{
	HbPred	   *first = pred->children[*i];
	HbPred	   *all;
	int			n = 1;

	if (pred->kind == HB_PRED_AND)
	{
		while (*i + n < pred->nchildren && is_not_equal(first, first) &&
			   is_not_equal(pred->children[*i + n], first))
			n++;
	}
	if (n == 1)
		return compile(c, pred->children[(*i)++]);

	all = new_pred(HB_PRED_IN, first->column, 0);
	all->op = HB_EQ;
	all->value_type = first->value_type;
	all->of_length = first->of_length;
	all->negated = true;
	all->values = palloc(sizeof(Datum) * n);
	for (int k = 0; k < n; k++)
		all->values[all->nvalues++] = pred->children[(*i)++]->values[0];
	return compile_leaf(c, all);
}

static HbNode *
compile_list(Compiler *c, const HbPred *pred)
{
	bool		is_and = (pred->kind == HB_PRED_AND);
	HbNode	   *node = new_node(c, is_and ? HB_NODE_AND : HB_NODE_OR);
	int			room = Max(pred->nchildren, 1);

	node->children = palloc(sizeof(HbNode *) * room);
	for (int i = 0; i < pred->nchildren;)
	{
		HbNode	   *child = compile_child(c, pred, &i);

		if (child->kind == (is_and ? HB_NODE_NEVER : HB_NODE_ALWAYS))
			return child;
		if (child->kind == (is_and ? HB_NODE_ALWAYS : HB_NODE_NEVER))
			continue;
		add_child(node, child, &room);
	}
	if (node->nchildren == 0)
		node->kind = is_and ? HB_NODE_ALWAYS : HB_NODE_NEVER;
	else if (node->nchildren == 1)
		return node->children[0];
	return node;
}

static HbNode *
compile(Compiler *c, const HbPred *pred)
{
	if (pred == NULL)
		return new_node(c, HB_NODE_ALWAYS);

	switch (pred->kind)
	{
		case HB_PRED_ALWAYS:
			return new_node(c, HB_NODE_ALWAYS);
		case HB_PRED_NEVER:
			return new_node(c, HB_NODE_NEVER);
		case HB_PRED_AND:
		case HB_PRED_OR:
			return compile_list(c, pred);
		case HB_PRED_CMP:
		case HB_PRED_BOOL:
		case HB_PRED_IN:
		case HB_PRED_IS_NULL:
		case HB_PRED_IS_NOT_NULL:
			break;
	}
	return compile_leaf(c, pred);
}

static bool
is_block_range(const HbTable *table, const HbNode *node)
{
	return node->kind == HB_NODE_LEAF && !node->leaf->is_null &&
		!node->leaf->negated &&
		node->leaf->column == table->block_col &&
		node->leaf->ints.kind == HB_FORM_RANGE;
}

/*
 * The result, and what it refers to (constants of by-reference types too),
 * lives as long as the current context and pred.
 */
HbTree *
hb_tree_compile(HbScan *scan, const HbPred *pred)
{
	Compiler	c;
	HbTree	   *tree = palloc0(sizeof(HbTree));
	HbTable    *table = scan->table;
	HbNode	   *root;

	c.scan = scan;
	c.table = table;
	c.tree = tree;
	root = compile(&c, pred);
	tree->root = root;
	if (!hb_pred_block_range(table, pred, &tree->lo, &tree->hi))
		root->kind = HB_NODE_NEVER;

	tree->range_only = root->kind == HB_NODE_ALWAYS || is_block_range(table, root);
	if (root->kind == HB_NODE_AND && tree->lo == tree->hi && table->nsort > 1)
	{
		for (int i = 0; i < root->nchildren; i++)
		{
			HbLeaf	   *leaf = root->children[i]->leaf;

			if (root->children[i]->kind == HB_NODE_LEAF && !leaf->is_null &&
				!leaf->negated &&
				leaf->column == table->sort_cols[1] &&
				leaf->phys == HB_PHYS_INT &&
				leaf->ints.kind == HB_FORM_RANGE &&
				leaf->ints.lo == leaf->ints.hi)
				tree->position = leaf;
		}
	}
	return tree;
}
