/*
 * hb_pred.c
 *		What predicates the scan takes, and the block range that one implies.
 *
 * Supported is what can be compared in physical form with the result that
 * SQL's operator has: see hb_value.h for the forms.
 */
#include "postgres.h"

#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "utils/lsyscache.h"

#include "compat.h"
#include "scan/hb_scan.h"

static bool
is_integer_type(Oid type)
{
	return type == INT2OID || type == INT4OID || type == INT8OID;
}

static bool
is_text_type(Oid type)
{
	return type == TEXTOID || type == VARCHAROID;
}

bool
hb_pred_supported(const HbTable *table, int column, HbCmpOp op,
				  Oid value_type, Oid collation)
{
	const HbColumn *c = &table->columns[column];
	bool		equality = (op == HB_EQ || op == HB_NE);

	switch (c->type)
	{
		case INT2OID:
		case INT4OID:
			return is_integer_type(value_type);
		case INT8OID:
			return is_integer_type(value_type) ||
				(c->wide && value_type == NUMERICOID);
		case NUMERICOID:
			return is_integer_type(value_type) || value_type == NUMERICOID;
		case BOOLOID:
		case DATEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
		case BYTEAOID:
		case UUIDOID:
		case INT4ARRAYOID:
			return value_type == c->type;
		case CHAROID:
		case OIDOID:
			return equality && value_type == c->type;
		case TEXTOID:
		case VARCHAROID:
			if (!is_text_type(value_type) || !OidIsValid(collation))
				return false;
			if (equality)
				return get_collation_isdeterministic(collation);
			return hb_collation_is_c(collation);
		default:
			return false;
	}
}

/* A constant compared with the block column, as int64. */
static int64
block_constant(Oid type, Datum value)
{
	switch (type)
	{
		case INT2OID:
			return DatumGetInt16(value);
		case INT4OID:
			return DatumGetInt32(value);
		case INT8OID:
			return DatumGetInt64(value);
		default:
			elog(ERROR, "unexpected type %u of a constant for a block number", type);
			return 0;			/* keep compiler quiet */
	}
}

static bool
compared_blocks(const HbPred *pred, int64 *lo, int64 *hi)
{
	int64		v = block_constant(pred->value_type, pred->values[0]);

	switch (pred->op)
	{
		case HB_LT:
			if (v == PG_INT64_MIN)
				return false;
			*hi = v - 1;
			break;
		case HB_LE:
			*hi = v;
			break;
		case HB_EQ:
			*lo = *hi = v;
			break;
		case HB_GE:
			*lo = v;
			break;
		case HB_GT:
			if (v == PG_INT64_MAX)
				return false;
			*lo = v + 1;
			break;
		case HB_NE:
			break;
	}
	return true;
}

bool
hb_pred_block_range(const HbTable *table, const HbPred *pred, int64 *lo, int64 *hi)
{
	*lo = PG_INT64_MIN;
	*hi = PG_INT64_MAX;

	if (pred == NULL)
		return true;

	switch (pred->kind)
	{
		case HB_PRED_AND:
			for (int i = 0; i < pred->nchildren; i++)
			{
				int64		l;
				int64		h;

				if (!hb_pred_block_range(table, pred->children[i], &l, &h))
					return false;
				*lo = Max(*lo, l);
				*hi = Min(*hi, h);
			}
			return *lo <= *hi;

		case HB_PRED_OR:
			{
				bool		any = false;

				for (int i = 0; i < pred->nchildren; i++)
				{
					int64		l;
					int64		h;

					if (!hb_pred_block_range(table, pred->children[i], &l, &h))
						continue;
					*lo = any ? Min(*lo, l) : l;
					*hi = any ? Max(*hi, h) : h;
					any = true;
				}
				return any;
			}

		case HB_PRED_CMP:
			if (pred->column == table->block_col)
				return compared_blocks(pred, lo, hi);
			return true;

		case HB_PRED_IN:
			if (pred->negated)
				return true;
			if (pred->nvalues == 0)
				return false;
			if (pred->column == table->block_col)
			{
				*lo = PG_INT64_MAX;
				*hi = PG_INT64_MIN;
				for (int i = 0; i < pred->nvalues; i++)
				{
					int64		v = block_constant(pred->value_type, pred->values[i]);

					*lo = Min(*lo, v);
					*hi = Max(*hi, v);
				}
			}
			return true;

		case HB_PRED_NEVER:
			return false;

		case HB_PRED_IS_NULL:
		case HB_PRED_IS_NOT_NULL:
		case HB_PRED_BOOL:
		case HB_PRED_ALWAYS:
			break;
	}
	return true;
}
