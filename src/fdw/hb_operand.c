/*
 * hb_operand.c
 *		What of a column a condition is about, and comparisons with it as
 *		predicates of the stored column.
 *
 * Conditions are on columns, but also on expressions of one: lower() of an
 * address that is shown as text, the first bytes of an input, the address in a
 * topic, the amount in a log's data.  Those whose order or equality is that of
 * the stored bytes, or of their lengths, become predicates of the column, so
 * that the scan answers them from dictionaries, page lists and bounds:
 *
 *	 substr(x, 1, n) = c		c <= x < the first string after all those that
 *								start with c
 *	 topic_to_address(x) = c	x = c behind twelve zeros
 *	 uint256(x, 0) < c			x < c in 32 bytes, and x is not shorter
 *	 octet_length(x) = c		lengths alone
 *
 * Each predicate is true for the rows for which the condition is; where the
 * expression is NULL although the column is not, neither a comparison nor its
 * opposite may be.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"

#include "fdw/hb_fdw.h"
#include "store/hb_numeric.h"

#define WORD_LEN		32
#define ADDRESS_LEN		20
#define PAD_LEN			(WORD_LEN - ADDRESS_LEN)

static bool
is_integer(Oid type)
{
	return type == INT2OID || type == INT4OID || type == INT8OID;
}

static bool
is_text(Oid type)
{
	return type == TEXTOID || type == VARCHAROID;
}

static bool
is_hex_text(const HbOperand *operand)
{
	return operand->spelling == HB_SPELL_HEX ||
		operand->spelling == HB_SPELL_QUANTITY;
}

/*
 * Finding
 */

/*
 * The stored column that an expression is.  The type is the one under which
 * an operator sees it: a varchar is compared as text, a domain as its base
 * type.
 */
static bool
find_column(const HbForeign *foreign, Index relid, Node *node,
			HbOperand *operand)
{
	Oid			relabel = InvalidOid;
	Oid			base;
	Var		   *var;

	if (IsA(node, RelabelType))
	{
		relabel = ((RelabelType *) node)->resulttype;
		node = (Node *) ((RelabelType *) node)->arg;
	}
	if (!IsA(node, Var))
		return false;
	var = (Var *) node;
	if (var->varno != relid || var->varlevelsup != 0 ||
		var->varattno <= 0 || var->varattno > foreign->natts ||
		foreign->columns[var->varattno - 1] < 0)
		return false;
	base = getBaseType(var->vartype);
	if (OidIsValid(relabel) && relabel != base &&
		!(base == VARCHAROID && relabel == TEXTOID))
		return false;
	memset(operand, 0, sizeof(HbOperand));
	operand->column = foreign->columns[var->varattno - 1];
	operand->spelling = foreign->spellings[var->varattno - 1];
	operand->shape = HB_SHAPE_COLUMN;
	operand->stored_type = foreign->table->columns[operand->column].type;
	operand->type = OidIsValid(relabel) ? relabel : base;
	return true;
}

/* Is it the bytes of a column that are shown as they are stored? */
static bool
is_stored_bytea(const HbOperand *operand)
{
	return operand->type == BYTEAOID && operand->spelling == HB_SPELL_STORED;
}

/* The value of an int4 constant. */
static bool
int_constant(Node *node, int32 *value)
{
	Const	   *c = (Const *) node;

	if (!IsA(node, Const) || c->consttype != INT4OID || c->constisnull)
		return false;
	*value = DatumGetInt32(c->constvalue);
	return true;
}

/* The helper functions of the extension's schema, by name. */
static bool
find_helper(FuncExpr *func, HbOperand *operand)
{
	char	   *schema = get_namespace_name(get_func_namespace(func->funcid));
	char	   *name;
	int32		word;

	if (schema == NULL || strcmp(schema, "hotblocks") != 0)
		return false;
	name = get_func_name(func->funcid);
	if (name == NULL)
		return false;
	if (list_length(func->args) == 1 && strcmp(name, "topic_to_address") == 0)
		operand->shape = HB_SHAPE_ADDRESS;
	else if (list_length(func->args) != 2 ||
			 !int_constant(lsecond(func->args), &word) || word != 0)
		return false;
	else if (strcmp(name, "address") == 0)
		operand->shape = HB_SHAPE_FIRST_ADDRESS;
	else if (strcmp(name, "uint256") == 0)
		operand->shape = HB_SHAPE_FIRST_WORD;
	else
		return false;
	operand->type = func->funcresulttype;
	return true;
}

static bool
find_function(FuncExpr *func, HbOperand *operand)
{
	int32		first;
	int32		n;

	switch (func->funcid)
	{
		case F_LOWER_TEXT:
		case F_UPPER_TEXT:
			/* Texts of this kind are in lower case already. */
			if (!is_hex_text(operand) || !OidIsValid(func->inputcollid))
				return false;
			operand->shape = func->funcid == F_UPPER_TEXT ? HB_SHAPE_UPPER :
				HB_SHAPE_COLUMN;
			return true;

		case F_LENGTH_TEXT:
		case F_CHAR_LENGTH_TEXT:
		case F_CHARACTER_LENGTH_TEXT:
			if (operand->spelling != HB_SPELL_HEX)
				return false;
			break;
		case F_LENGTH_BYTEA:
		case F_OCTET_LENGTH_BYTEA:
			if (!is_stored_bytea(operand))
				return false;
			break;
		case F_OCTET_LENGTH_TEXT:
			if (operand->spelling != HB_SPELL_HEX &&
				operand->spelling != HB_SPELL_STORED)
				return false;
			break;

		case F_SUBSTR_BYTEA_INT4_INT4:
		case F_SUBSTRING_BYTEA_INT4_INT4:
			if (!is_stored_bytea(operand))
				return false;
			/* FALLTHROUGH */
		case F_SUBSTR_TEXT_INT4_INT4:
		case F_SUBSTRING_TEXT_INT4_INT4:
			if (!int_constant(lsecond(func->args), &first) ||
				!int_constant(lthird(func->args), &n) ||
				first != 1 || n < 1 ||
				operand->spelling == HB_SPELL_QUANTITY)
				return false;
			operand->shape = HB_SHAPE_PREFIX;
			operand->length = n;
			return true;
		case F_LEFT:
			if (!int_constant(lsecond(func->args), &n) || n < 1 ||
				operand->spelling == HB_SPELL_QUANTITY)
				return false;
			operand->shape = HB_SHAPE_PREFIX;
			operand->length = n;
			return true;

		default:
			return is_stored_bytea(operand) && find_helper(func, operand);
	}
	operand->shape = HB_SHAPE_LENGTH;
	operand->type = INT4OID;
	return true;
}

bool
hb_operand_find(const HbForeign *foreign, Index relid, Node *node,
				HbOperand *operand)
{
	FuncExpr   *func = (FuncExpr *) node;

	if (foreign->table == NULL)
		return false;
	if (find_column(foreign, relid, node, operand))
		return true;
	if (!IsA(node, FuncExpr) || func->args == NIL || func->funcretset ||
		func->funcvariadic)
		return false;
	return find_column(foreign, relid, linitial(func->args), operand) &&
		find_function(func, operand);
}

bool
hb_operand_is_strict(const HbOperand *operand)
{
	return operand->shape <= HB_SHAPE_PREFIX;
}

bool
hb_operand_supported(const HbForeign *foreign, const HbOperand *operand,
					 HbCmpOp op, Oid value_type, Oid collation)
{
	bool		equality = op == HB_EQ || op == HB_NE;
	bool		same_text = is_text(value_type) && OidIsValid(collation) &&
		get_collation_isdeterministic(collation);

	switch (operand->shape)
	{
		case HB_SHAPE_COLUMN:
			break;
		case HB_SHAPE_UPPER:
			return equality && same_text;
		case HB_SHAPE_LENGTH:
			return is_integer(value_type);
		case HB_SHAPE_PREFIX:
			return equality &&
				(operand->type == BYTEAOID ? value_type == BYTEAOID : same_text);
		case HB_SHAPE_STARTS:
			return equality && same_text;
		case HB_SHAPE_ADDRESS:
		case HB_SHAPE_FIRST_ADDRESS:
			return equality && value_type == BYTEAOID;
		case HB_SHAPE_FIRST_WORD:
			return is_integer(value_type) || value_type == NUMERICOID;
	}
	switch (operand->spelling)
	{
		case HB_SPELL_HEX:
			return same_text &&
				(equality || hb_spell_keeps_order(HB_SPELL_HEX, collation));
		case HB_SPELL_QUANTITY:
			return equality && same_text;
		case HB_SPELL_NUMERIC:
			return is_integer(value_type) || value_type == NUMERICOID;
		case HB_SPELL_BIGINT:
			return is_integer(value_type);
		case HB_SPELL_STORED:
		case HB_SPELL_CAST:
			break;
	}
	return hb_pred_supported(foreign->table, operand->column, op, value_type,
							 collation);
}

/*
 * Predicates
 */

static HbPred *
make_pred(HbPredKind kind, int column)
{
	HbPred	   *pred = palloc0(sizeof(HbPred));

	pred->kind = kind;
	pred->column = column;
	return pred;
}

static HbPred *
make_values(HbPredKind kind, int column, HbCmpOp op, Oid type, int n,
			Datum *values)
{
	HbPred	   *pred = make_pred(kind, column);

	pred->op = op;
	pred->value_type = type;
	pred->nvalues = n;
	pred->values = values;
	return pred;
}

static HbPred *
make_compare(int column, HbCmpOp op, Oid type, Datum value)
{
	Datum	   *values = palloc(sizeof(Datum));

	values[0] = value;
	return make_values(HB_PRED_CMP, column, op, type, 1, values);
}

static HbPred *
make_length(int column, HbCmpOp op, int64 length)
{
	HbPred	   *pred = make_compare(column, op, INT8OID, Int64GetDatum(length));

	pred->of_length = true;
	return pred;
}

static HbPred *
make_pair(HbPredKind kind, HbPred *one, HbPred *other)
{
	HbPred	   *pred = make_pred(kind, -1);

	pred->nchildren = 2;
	pred->children = palloc(sizeof(HbPred *) * 2);
	pred->children[0] = one;
	pred->children[1] = other;
	return pred;
}

/* What a comparison is when its value is above, or below, all there are. */
static HbPred *
make_beyond(int column, HbCmpOp op, bool above)
{
	bool		passes = op == HB_NE ||
		(above ? op == HB_LT || op == HB_LE : op == HB_GT || op == HB_GE);

	return make_pred(passes ? HB_PRED_IS_NOT_NULL : HB_PRED_NEVER, column);
}

static bytea *
make_bytea(const void *data, int len)
{
	bytea	   *result = palloc(VARHDRSZ + len);

	SET_VARSIZE(result, VARHDRSZ + len);
	memcpy(VARDATA(result), data, len);
	return result;
}

/*
 * The least byte string that is above all those that start with the given
 * one; NULL if there is none.
 */
static bytea *
after_prefix(const bytea *prefix)
{
	bytea	   *result = make_bytea(VARDATA_ANY(prefix),
									VARSIZE_ANY_EXHDR(prefix));
	uint8	   *bytes = (uint8 *) VARDATA(result);

	for (int len = VARSIZE(result) - VARHDRSZ; len > 0; len--)
	{
		if (bytes[len - 1] != 0xff)
		{
			bytes[len - 1]++;
			SET_VARSIZE(result, VARHDRSZ + len);
			return result;
		}
	}
	return NULL;
}

/*
 * Byte strings from lo on (included) up to hi (excluded; NULL: no end), or
 * all the others.
 */
static HbPred *
make_range(int column, HbCmpOp op, Oid type, bytea *lo, bytea *hi)
{
	HbPred	   *from = make_compare(column, op == HB_EQ ? HB_GE : HB_LT, type,
									PointerGetDatum(lo));

	if (hi == NULL)
		return from;
	return make_pair(op == HB_EQ ? HB_PRED_AND : HB_PRED_OR, from,
					 make_compare(column, op == HB_EQ ? HB_LT : HB_GE, type,
								  PointerGetDatum(hi)));
}

/* The column starts with these bytes, or does not. */
static HbPred *
compare_start(int column, HbCmpOp op, Oid type, bytea *start)
{
	if (VARSIZE_ANY_EXHDR(start) == 0)
		return make_pred(op == HB_EQ ? HB_PRED_IS_NOT_NULL : HB_PRED_NEVER,
						 column);
	return make_range(column, op, type, start, after_prefix(start));
}

/*
 * The same for hexadecimal text, in which a byte may be begun only: the
 * strings from the place of the text on up to the place of its successor.
 */
static HbPred *
compare_hex_start(int column, HbCmpOp op, text *start)
{
	const char *s = VARDATA_ANY(start);
	int			len = VARSIZE_ANY_EXHDR(start);
	bytea	   *lo;
	bytea	   *hi = NULL;
	bool		exact;
	char	   *next;

	if (len <= 2)
		return make_pred((memcmp(s, "0x", len) == 0) == (op == HB_EQ) ?
						 HB_PRED_IS_NOT_NULL : HB_PRED_NEVER, column);
	for (int i = 0; i < len; i++)
	{
		bool		good = i < 2 ? s[i] == "0x"[i] :
			(s[i] >= '0' && s[i] <= '9') || (s[i] >= 'a' && s[i] <= 'f');

		if (!good)
			return make_beyond(column, op, true);
	}

	/* A byte after f is above all digits, and so is what follows a text. */
	next = palloc(len + 1);
	memcpy(next, s, len);
	next[len] = 'g';
	(void) hb_spell_hex_bound(s, len, &lo, &exact);
	if (!hb_spell_hex_bound(next, len + 1, &hi, &exact))
		hi = NULL;
	return make_range(column, op, BYTEAOID, lo, hi);
}

/* A text in place of hexadecimal text. */
static HbPred *
compare_hex(int column, HbCmpOp op, text *value)
{
	bytea	   *bound;
	bool		exact;

	if (!hb_spell_hex_bound(VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value),
							&bound, &exact))
		return make_beyond(column, op, true);
	if (!exact)
	{
		/* Nothing is between it and the first string above it. */
		if (op == HB_EQ || op == HB_NE)
			return make_beyond(column, op, true);
		op = op == HB_LT || op == HB_LE ? HB_LT : HB_GE;
	}
	return make_compare(column, op, BYTEAOID, PointerGetDatum(bound));
}

static Numeric
as_numeric(Oid type, Datum value)
{
	switch (type)
	{
		case INT2OID:
			return int64_to_numeric(DatumGetInt16(value));
		case INT4OID:
			return int64_to_numeric(DatumGetInt32(value));
		case INT8OID:
			return int64_to_numeric(DatumGetInt64(value));
		default:
			return DatumGetNumeric(value);
	}
}

/* A number in place of an integer column. */
static HbPred *
compare_integer(int column, HbCmpOp op, Numeric number)
{
	int64		value = 0;
	bool		exact = true;
	int			beyond = hb_spell_floor(number, &value, &exact);

	if (beyond != 0)
		return make_beyond(column, op, beyond > 0);
	if (!exact)
	{
		/* It is between value and the next integer. */
		if (op == HB_EQ || op == HB_NE)
			return make_beyond(column, op, true);
		op = op == HB_LT || op == HB_LE ? HB_LE : HB_GT;
	}
	return make_compare(column, op, INT8OID, Int64GetDatum(value));
}

/* The text of a quantity: equality only. */
static HbPred *
compare_quantity(const HbOperand *operand, HbCmpOp op, text *value)
{
	Numeric		number = hb_spell_quantity(value);
	int			column = operand->column;

	if (number == NULL)
		return make_beyond(column, op, true);
	if (operand->stored_type == NUMERICOID)
		return make_compare(column, op, NUMERICOID, NumericGetDatum(number));
	return compare_integer(column, op, number);
}

/* What upper() makes of a text of digits is made of none but this one. */
static text *
lower_of_upper(text *value)
{
	const char *s = VARDATA_ANY(value);
	int			len = VARSIZE_ANY_EXHDR(value);
	text	   *result;

	for (int i = 0; i < len; i++)
	{
		if (s[i] >= 'a' && s[i] <= 'z')
			return NULL;
	}
	result = cstring_to_text_with_len(s, len);
	for (int i = 0; i < len; i++)
		VARDATA(result)[i] = pg_ascii_tolower((unsigned char) s[i]);
	return result;
}

static HbPred *
compare_prefix(const HbOperand *operand, HbCmpOp op, Datum value)
{
	bytea	   *bytes = DatumGetByteaPP(value);
	bool		hex = operand->spelling == HB_SPELL_HEX;
	int			length = VARSIZE_ANY_EXHDR(bytes);

	/* Text counts by characters; hexadecimal text has but one-byte ones. */
	if (operand->shape == HB_SHAPE_PREFIX && operand->type != BYTEAOID && !hex)
		length = pg_mbstrlen_with_len(VARDATA_ANY(bytes), length);
	if (operand->shape == HB_SHAPE_PREFIX && length != operand->length)
	{
		if (length > operand->length)
			return make_beyond(operand->column, op, true);
		/* Then the whole value is no longer. */
		if (hex)
			return compare_hex(operand->column, op, (text *) bytes);
		return make_compare(operand->column, op, operand->type,
							PointerGetDatum(bytes));
	}
	if (hex)
		return compare_hex_start(operand->column, op, (text *) bytes);
	return compare_start(operand->column, op, operand->type, bytes);
}

/* An address behind the zeros that fill a word. */
static bytea *
address_word(bytea *address)
{
	uint8		word[WORD_LEN] = {0};

	memcpy(word + PAD_LEN, VARDATA_ANY(address), ADDRESS_LEN);
	return make_bytea(word, WORD_LEN);
}

/* The address in the column, or in its first word. */
static HbPred *
compare_address(const HbOperand *operand, HbCmpOp op, bytea *address)
{
	int			column = operand->column;
	bool		whole = operand->shape == HB_SHAPE_ADDRESS;
	bool		possible = VARSIZE_ANY_EXHDR(address) == ADDRESS_LEN;
	uint8		zeros[PAD_LEN] = {0};
	bytea	   *word;
	HbPred	   *pred;

	if (!possible && op == HB_EQ)
		return make_pred(HB_PRED_NEVER, column);
	if (op == HB_EQ)
	{
		word = address_word(address);
		return whole ? make_compare(column, HB_EQ, BYTEAOID,
									PointerGetDatum(word)) :
			compare_start(column, HB_EQ, BYTEAOID, word);
	}

	/* Another one: a word that holds an address, and not this. */
	pred = make_pair(HB_PRED_AND,
					 compare_start(column, HB_EQ, BYTEAOID,
								   make_bytea(zeros, PAD_LEN)),
					 make_length(column, whole ? HB_EQ : HB_GE, WORD_LEN));
	if (!possible)
		return pred;
	word = address_word(address);
	return make_pair(HB_PRED_AND, pred,
					 whole ? make_compare(column, HB_NE, BYTEAOID,
										  PointerGetDatum(word)) :
					 compare_start(column, HB_NE, BYTEAOID, word));
}

/*
 * The first word of values that have one, against a number that is the word,
 * or (not exact) between it and the word before.
 */
static HbPred *
compare_first_word(int column, HbCmpOp op, bytea *word, bool exact)
{
	bytea	   *after = after_prefix(word);

	if (!exact)
	{
		if (op == HB_EQ || op == HB_NE)
			return make_beyond(column, op, true);
		op = op == HB_LT || op == HB_LE ? HB_LT : HB_GE;
	}
	switch (op)
	{
		case HB_LT:
		case HB_GE:
			return make_compare(column, op, BYTEAOID, PointerGetDatum(word));
		case HB_LE:
		case HB_GT:
			if (after == NULL)
				return make_beyond(column, op, true);
			return make_compare(column, op == HB_LE ? HB_LT : HB_GE, BYTEAOID,
								PointerGetDatum(after));
		default:
			return make_range(column, op, BYTEAOID, word, after);
	}
}

/*
 * The number in the first word.  Bytes sort as the numbers do; what is shorter
 * than a word has none.
 */
static HbPred *
compare_word(int column, HbCmpOp op, Numeric number)
{
	Datum		datum = NumericGetDatum(number);
	Datum		ceil;
	uint8		word[WORD_LEN] = {0};
	uint8_t		num[HB_NUM_MAX];
	int			len;
	HbPred	   *pred;

	if (!numeric_is_nan(number) &&
		DatumGetBool(DirectFunctionCall2(numeric_lt, datum,
										 NumericGetDatum(int64_to_numeric(0)))))
		pred = make_beyond(column, op, false);
	else if (numeric_is_nan(number) || numeric_is_inf(number))
		pred = make_beyond(column, op, true);
	else
	{
		ceil = DirectFunctionCall1(numeric_ceil, datum);
		len = hb_numeric_to_num(DatumGetNumeric(ceil), num);
		if (len == 0)			/* 2^256 or more */
			pred = make_beyond(column, op, true);
		else
		{
			memcpy(word + WORD_LEN - num[0], num + 1, num[0]);
			pred = compare_first_word(column, op, make_bytea(word, WORD_LEN),
									  DatumGetBool(DirectFunctionCall2(numeric_eq,
																	   datum,
																	   ceil)));
		}
	}
	if (pred->kind == HB_PRED_NEVER)
		return pred;
	return make_pair(HB_PRED_AND, pred, make_length(column, HB_GE, WORD_LEN));
}

/* A length of the text in place of that of the bytes: 2 + 2n. */
static HbPred *
compare_length(const HbOperand *operand, HbCmpOp op, Oid type, Datum value)
{
	int64		length = type == INT2OID ? DatumGetInt16(value) :
		type == INT4OID ? DatumGetInt32(value) : DatumGetInt64(value);

	if (operand->spelling == HB_SPELL_HEX)
	{
		bool		odd = length % 2 != 0;

		if (length < 0)
			return make_beyond(operand->column, op, false);
		if (odd && (op == HB_EQ || op == HB_NE))
			return make_beyond(operand->column, op, true);
		/* The floor, with which < odd is <=, and >= is >. */
		length = (length - (odd ? 1 : 0)) / 2 - 1;
		if (odd && op == HB_LT)
			op = HB_LE;
		else if (odd && op == HB_GE)
			op = HB_GT;
	}
	return make_length(operand->column, op, length);
}

HbPred *
hb_operand_compare(const HbOperand *operand, HbCmpOp op, Oid value_type,
				   Datum value)
{
	int			column = operand->column;
	text	   *lower;

	switch (operand->shape)
	{
		case HB_SHAPE_COLUMN:
			break;
		case HB_SHAPE_UPPER:
			lower = lower_of_upper(DatumGetTextPP(value));
			if (lower == NULL)
				return make_beyond(column, op, true);
			value = PointerGetDatum(lower);
			break;
		case HB_SHAPE_LENGTH:
			return compare_length(operand, op, value_type, value);
		case HB_SHAPE_PREFIX:
		case HB_SHAPE_STARTS:
			return compare_prefix(operand, op, value);
		case HB_SHAPE_ADDRESS:
		case HB_SHAPE_FIRST_ADDRESS:
			return compare_address(operand, op, DatumGetByteaPP(value));
		case HB_SHAPE_FIRST_WORD:
			return compare_word(column, op, as_numeric(value_type, value));
	}
	switch (operand->spelling)
	{
		case HB_SPELL_HEX:
			return compare_hex(column, op, DatumGetTextPP(value));
		case HB_SPELL_QUANTITY:
			return compare_quantity(operand, op, DatumGetTextPP(value));
		case HB_SPELL_NUMERIC:
			if (value_type == NUMERICOID)
				return compare_integer(column, op, DatumGetNumeric(value));
			break;
		case HB_SPELL_STORED:
		case HB_SPELL_CAST:
		case HB_SPELL_BIGINT:
			break;
	}
	return make_compare(column, op, value_type, value);
}

/*
 * Where each value is equal to at most one stored value, which is all but
 * prefixes, words and lengths, the values are put in terms of these.
 */
HbPred *
hb_operand_in(const HbOperand *operand, Oid value_type, int nvalues,
			  Datum *values, bool negated)
{
	HbPred	   *result;
	HbPred	  **children;
	Datum	   *found;
	Oid			type = value_type;
	bool		simple = true;
	int			n = 0;

	if (operand->shape == HB_SHAPE_COLUMN &&
		(operand->spelling == HB_SPELL_STORED ||
		 operand->spelling == HB_SPELL_CAST ||
		 operand->spelling == HB_SPELL_BIGINT))
	{
		result = make_values(HB_PRED_IN, operand->column, HB_EQ, value_type,
							 nvalues, values);
		result->negated = negated;
		return result;
	}

	children = palloc(sizeof(HbPred *) * nvalues);
	found = palloc(sizeof(Datum) * nvalues);
	for (int i = 0; i < nvalues; i++)
	{
		HbPred	   *pred = hb_operand_compare(operand, negated ? HB_NE : HB_EQ,
											  value_type, values[i]);

		CHECK_FOR_INTERRUPTS();
		children[i] = pred;
		if (pred->kind == HB_PRED_CMP && !pred->of_length &&
			pred->op == (negated ? HB_NE : HB_EQ))
		{
			type = pred->value_type;
			found[n++] = pred->values[0];
		}
		else if (pred->kind != HB_PRED_NEVER &&
				 pred->kind != HB_PRED_IS_NOT_NULL)
			simple = false;
	}
	if (simple)
	{
		if (n == 0)
			return make_pred(negated ? HB_PRED_IS_NOT_NULL : HB_PRED_NEVER,
							 operand->column);
		result = make_values(HB_PRED_IN, operand->column, HB_EQ, type, n, found);
		result->negated = negated;
		return result;
	}
	result = make_pred(negated ? HB_PRED_AND : HB_PRED_OR, -1);
	result->nchildren = nvalues;
	result->children = children;
	return result;
}

/*
 * Warnings
 */

/* The text as a message may show it. */
static char *
excerpt(text *value)
{
	int			len = VARSIZE_ANY_EXHDR(value);
	int			shown = pg_mbcliplen(VARDATA_ANY(value), len, 80);

	return psprintf("%.*s%s", shown, VARDATA_ANY(value),
					shown < len ? "..." : "");
}

/* Values of this column have one form, and others can be told. */
bool
hb_operand_may_warn(const HbTable *table, const HbOperand *operand)
{
	const HbColumn *column = &table->columns[operand->column];

	return operand->shape == HB_SHAPE_COLUMN &&
		(is_hex_text(operand) ||
		 (column->type == BYTEAOID && column->width > 0));
}

/* Text that is not as the column shows its values. */
static bool
warn_text(const HbColumn *column, text *value, const char *form)
{
	bool		upper = false;

	for (int i = 0; i < VARSIZE_ANY_EXHDR(value); i++)
		upper |= VARDATA_ANY(value)[i] >= 'A' && VARDATA_ANY(value)[i] <= 'Z';
	ereport(WARNING,
			(errmsg("value \"%s\" can never be equal to column \"%s\"",
					excerpt(value), NameStr(column->name)),
			 errdetail("Values of the column are %s.", form),
			 upper ? errhint("Use lower() for the value.") : 0));
	return true;
}

/*
 * Bytes of another length than the column's kind gives it, which it has unless
 * somebody wrote others.
 */
static bool
warn_bytes(const HbColumn *column, bytea *value, text *shown)
{
	int			len = VARSIZE_ANY_EXHDR(value);

	if (column->width == 0 || len == column->width)
		return false;
	ereport(WARNING,
			(errmsg_plural("value compared with column \"%s\" has %d byte instead of %d",
						   "value compared with column \"%s\" has %d bytes instead of %d",
						   len, NameStr(column->name), len, column->width),
			 shown != NULL ? errdetail("The value is \"%s\".", excerpt(shown)) : 0,
			 len >= 2 && memcmp(VARDATA_ANY(value), "0x", 2) == 0 ?
			 errhint("A bytea constant starts with \"\\x\", not with \"0x\"; hotblocks.hex() takes both.") : 0));
	return true;
}

bool
hb_operand_warn(const HbTable *table, const HbOperand *operand, Datum value)
{
	const HbColumn *column = &table->columns[operand->column];
	bytea	   *bytes;
	bool		exact;
	text	   *shown;

	switch (operand->spelling)
	{
		case HB_SPELL_HEX:
			shown = DatumGetTextPP(value);
			if (!hb_spell_hex_bound(VARDATA_ANY(shown),
									VARSIZE_ANY_EXHDR(shown), &bytes,
									&exact) || !exact)
				return warn_text(column, shown,
								 "\"0x\" and an even number of lower-case hexadecimal digits");
			return warn_bytes(column, bytes, shown);
		case HB_SPELL_QUANTITY:
			shown = DatumGetTextPP(value);
			return hb_spell_quantity(shown) == NULL &&
				warn_text(column, shown,
						  "\"0x\" and lower-case hexadecimal digits without leading zeros");
		default:
			return warn_bytes(column, DatumGetByteaPP(value), NULL);
	}
}
