/*
 * hb_spell.c
 *		One stored value, two spellings.
 *
 * A foreign table may declare a column under another type than the stored
 * one:
 *
 *	 stored						declared	shown as
 *	 bytea						text		0x and lower-case digits, two a byte
 *	 smallint, integer, bigint,	text		0x and the fewest lower-case digits;
 *	 numeric								zero is 0x0; -0x1 below zero
 *	 smallint, integer			bigint		the number
 *	 smallint, integer, bigint	numeric		the number
 *	 numeric					bigint		the number, or an error
 *
 * Each stored value has one text, which is what makes filters on it exact:
 * a text that is not of this form equals no value.  Written text may have
 * digits in either case and, in numbers, leading zeros.
 *
 * The scan knows nothing of it.  Where stored and declared type have the same
 * physical form (a numeric and a wide bigint), it is given a private copy of
 * the table in which the column has the declared type; everything else is
 * converted here, batch by batch on the way out, row by row on the way in.
 * Conditions are put in terms of the stored column by hb_operand.c.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/memutils.h"
#include "utils/numeric.h"

#include "codec/hb_hex.h"
#include "compat.h"
#include "fdw/hb_fdw.h"
#include "store/hb_numeric.h"

#define QUANTITY_DIGITS		64	/* of 2^256 - 1 */

/* Values converted in a batch, remembered by their datum: a power of two. */
#define MEMO_SLOTS			64

static bool
is_integer(Oid type)
{
	return type == INT2OID || type == INT4OID || type == INT8OID;
}

/*
 * How a column that is stored like this is shown under a type; false if it
 * cannot be.
 */
bool
hb_spell_find(const HbColumn *column, Oid type, int32 typmod,
			  HbSpelling *spelling)
{
	bool		number = is_integer(column->type) ||
		(column->type == NUMERICOID && column->typmod == -1);

	if (type == column->type && (typmod == column->typmod || typmod == -1))
		*spelling = HB_SPELL_STORED;
	else if (typmod != -1)
		return false;
	else if (type == TEXTOID && column->type == BYTEAOID)
		*spelling = HB_SPELL_HEX;
	else if (type == TEXTOID && number)
		*spelling = HB_SPELL_QUANTITY;
	else if (type == NUMERICOID && is_integer(column->type))
		*spelling = column->wide ? HB_SPELL_CAST : HB_SPELL_NUMERIC;
	else if (type == INT8OID && number)
		*spelling = column->type == NUMERICOID ? HB_SPELL_CAST :
			HB_SPELL_BIGINT;
	else
		return false;
	return true;
}

/* The types under which a column can be declared, for a hint. */
const char *
hb_spell_types(const HbColumn *column)
{
	const char *own = format_type_with_typemod(column->type, column->typmod);

	if (column->type == BYTEAOID)
		return "bytea or text";
	if (column->type == INT8OID)
		return "bigint, numeric or text";
	if (is_integer(column->type))
		return psprintf("%s, bigint, numeric or text", own);
	if (column->type == NUMERICOID && column->typmod == -1)
		return "numeric, bigint or text";
	return own;
}

/*
 * Gives the foreign table a private copy of its table where a column has
 * another type for the scan than for the dataset.
 */
void
hb_spell_adapt(HbForeign *foreign)
{
	HbTable    *table = foreign->table;
	HbTable    *copy = NULL;

	for (int i = 0; i < foreign->natts; i++)
	{
		int			col = foreign->columns[i];
		HbColumn   *column;

		if (col < 0 || !(foreign->spellings[i] == HB_SPELL_CAST ||
						 (foreign->spellings[i] == HB_SPELL_QUANTITY &&
						  table->columns[col].wide)))
			continue;
		if (copy == NULL)
		{
			copy = palloc(sizeof(HbTable));
			*copy = *table;
			copy->columns = palloc(sizeof(HbColumn) * table->ncolumns);
			memcpy(copy->columns, table->columns,
				   sizeof(HbColumn) * table->ncolumns);
		}
		column = &copy->columns[col];
		column->wide = !column->wide;
		column->type = column->wide ? INT8OID : NUMERICOID;
		column->typmod = -1;
		hb_value_type_init(&column->value, column->type, -1, column->wide,
						   CurrentMemoryContext);
	}
	if (copy != NULL)
		foreign->table = copy;
}

/* Is a column's stored order the one of its spelling? */
bool
hb_spell_keeps_order(HbSpelling spelling, Oid collation)
{
	switch (spelling)
	{
		case HB_SPELL_STORED:
		case HB_SPELL_CAST:
		case HB_SPELL_NUMERIC:
		case HB_SPELL_BIGINT:
			return true;
		case HB_SPELL_HEX:
			/* Digits sort as what they stand for, '9' before 'a'. */
			return OidIsValid(collation) && hb_collation_is_c(collation);
		case HB_SPELL_QUANTITY:
			break;
	}
	return false;
}

/*
 * Out
 */

/* The text of a bytea. */
static Datum
hex_from_bytea(Datum value, const char *column)
{
	bytea	   *bytes = DatumGetByteaPP(value);
	Size		len = VARSIZE_ANY_EXHDR(bytes);
	text	   *result;

	if (len > (MaxAllocSize - VARHDRSZ - 2) / 2)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("value of column \"%s\" is too long for its hexadecimal form",
						column),
				 errhint("Declare the column bytea in the foreign table.")));
	result = palloc(VARHDRSZ + 2 + len * 2);
	SET_VARSIZE(result, VARHDRSZ + 2 + len * 2);
	memcpy(VARDATA(result), "0x", 2);
	hex_encode(VARDATA_ANY(bytes), len, VARDATA(result) + 2);
	return PointerGetDatum(result);
}

static Datum
quantity_text(bool negative, const uint8 *bytes, int len)
{
	static const char digits[] = "0123456789abcdef";
	char		buf[QUANTITY_DIGITS + 4];
	int			n = 0;

	if (negative)
		buf[n++] = '-';
	buf[n++] = '0';
	buf[n++] = 'x';
	for (int i = 0; i < len; i++)
	{
		if (i > 0 || bytes[i] >= 16)
			buf[n++] = digits[bytes[i] >> 4];
		buf[n++] = digits[bytes[i] & 15];
	}
	if (len == 0)
		buf[n++] = '0';
	return PointerGetDatum(cstring_to_text_with_len(buf, n));
}

static Datum
quantity_from_int64(int64 value)
{
	uint64		left = value < 0 ? -(uint64) value : (uint64) value;
	uint8		bytes[8];
	int			n = 8;

	for (; left > 0; left >>= 8)
		bytes[--n] = (uint8) left;
	return quantity_text(value < 0, bytes + n, 8 - n);
}

static Datum
quantity_from_numeric(Datum value, const char *column)
{
	uint8_t		num[HB_NUM_MAX];
	int			len = hb_numeric_to_num(DatumGetNumeric(value), num);
	bool		negative = false;

	/* What is written with decimals, or below zero, has no such form. */
	if (len == 0)
	{
		Datum		whole;

		negative = DatumGetBool(DirectFunctionCall2(numeric_lt, value,
													NumericGetDatum(int64_to_numeric(0))));
		if (negative)
			value = DirectFunctionCall1(numeric_uminus, value);
		whole = DirectFunctionCall2(numeric_trunc, value, Int32GetDatum(0));
		if (DatumGetBool(DirectFunctionCall2(numeric_eq, value, whole)))
			len = hb_numeric_to_num(DatumGetNumeric(whole), num);
	}
	if (len == 0)
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("value of column \"%s\" has no hexadecimal form", column),
				 errdetail("It is not an integer below 2^256."),
				 errhint("Declare the column numeric in the foreign table.")));
	return quantity_text(negative, num + 1, len - 1);
}

static int64
integer_value(Oid type, Datum value)
{
	switch (type)
	{
		case INT2OID:
			return DatumGetInt16(value);
		case INT4OID:
			return DatumGetInt32(value);
		default:
			return DatumGetInt64(value);
	}
}

/* A stored value as it is shown. */
static Datum
spell_out(HbSpelling spelling, const HbColumn *column, Datum value)
{
	switch (spelling)
	{
		case HB_SPELL_HEX:
			return hex_from_bytea(value, NameStr(column->name));
		case HB_SPELL_QUANTITY:
			return column->type == NUMERICOID ?
				quantity_from_numeric(value, NameStr(column->name)) :
				quantity_from_int64(integer_value(column->type, value));
		case HB_SPELL_NUMERIC:
			return NumericGetDatum(int64_to_numeric(integer_value(column->type,
																  value)));
		case HB_SPELL_BIGINT:
			return Int64GetDatum(integer_value(column->type, value));
		case HB_SPELL_STORED:
		case HB_SPELL_CAST:
			break;
	}
	return value;
}

/*
 * Converts the values of a batch, in place, into memory of the context.
 * attnums: the attribute of each of its columns.
 */
void
hb_spell_batch(const HbForeign *foreign, int ncolumns, const int *attnums,
			   HbBatch *batch, MemoryContext cxt)
{
	MemoryContext old;

	if (!foreign->spelled)
		return;
	old = MemoryContextSwitchTo(cxt);
	for (int c = 0; c < ncolumns; c++)
	{
		int			i = attnums[c] - 1;
		HbSpelling	spelling = foreign->spellings[i];
		const HbColumn *column;
		Datum		stored[MEMO_SLOTS];
		Datum		shown[MEMO_SLOTS] = {0};

		if (spelling == HB_SPELL_STORED || spelling == HB_SPELL_CAST)
			continue;
		column = &foreign->table->columns[foreign->columns[i]];
		for (int row = 0; row < batch->nrows; row++)
		{
			Datum		value = batch->values[c][row];
			int			slot;

			if (batch->isnull[c][row])
				continue;
			if (spelling == HB_SPELL_BIGINT)
			{
				batch->values[c][row] = spell_out(spelling, column, value);
				continue;
			}
			/* Rows of a page share datums of dictionaries, and numbers. */
			slot = (int) (((uint64) value * UINT64CONST(0x9E3779B97F4A7C15)) >> 58);
			if (shown[slot] == 0 || stored[slot] != value)
			{
				shown[slot] = spell_out(spelling, column, value);
				stored[slot] = value;
			}
			batch->values[c][row] = shown[slot];
		}
	}
	MemoryContextSwitchTo(old);
}

/*
 * In
 */

/* What is wrong with text that is written to a column. */
static void
bad_text(const char *column, text *value, const char *detail)
{
	const char *s = VARDATA_ANY(value);
	int			len = VARSIZE_ANY_EXHDR(value);
	int			shown = pg_mbcliplen(s, len, 80);

	ereport(ERROR,
			(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
			 errmsg("invalid hexadecimal value for column \"%s\": \"%.*s%s\"",
					column, shown, s, shown < len ? "..." : ""),
			 errdetail("%s", detail)));
}

/* The digits behind 0x; false when the text does not start so. */
static bool
digits_of(const char *s, int len, bool upper, const char **digits, int *ndigits)
{
	if (len < 2 || s[0] != '0' || (s[1] != 'x' && !(upper && s[1] == 'X')))
		return false;
	*digits = s + 2;
	*ndigits = len - 2;
	return true;
}

/* A bytea from hexadecimal text in any case. */
static Datum
bytea_from_hex(text *value, const char *column)
{
	const char *digits;
	int			n;
	bytea	   *result;
	uint8	   *out;

	if (!digits_of(VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value), true,
				   &digits, &n))
		bad_text(column, value, "It does not start with \"0x\".");
	for (int i = 0; i < n; i++)
	{
		if (hb_hex_digit((unsigned char) digits[i]) < 0)
			bad_text(column, value,
					 "It has a character that is not a hexadecimal digit.");
	}
	if (n % 2 != 0)
		bad_text(column, value,
				 "It has an odd number of hexadecimal digits.");
	result = palloc(VARHDRSZ + n / 2);
	SET_VARSIZE(result, VARHDRSZ + n / 2);
	out = (uint8 *) VARDATA(result);
	for (int i = 0; i < n; i += 2)
		*out++ = (uint8) (hb_hex_digit((unsigned char) digits[i]) << 4 |
						  hb_hex_digit((unsigned char) digits[i + 1]));
	return PointerGetDatum(result);
}

/*
 * A numeric from the text of a quantity, or NULL when it is none: canonical
 * is the form in which values are shown.
 */
static Numeric
numeric_from_quantity(const char *s, int len, bool canonical)
{
	const char *digits;
	int			n;
	uint8		bytes[QUANTITY_DIGITS / 2] = {0};
	bool		negative = len > 0 && s[0] == '-';
	Datum		result;

	if (negative)
	{
		s++;
		len--;
	}
	if (!digits_of(s, len, !canonical, &digits, &n) || n == 0)
		return NULL;
	if (canonical && digits[0] == '0' && (n > 1 || negative))
		return NULL;
	for (; n > 1 && digits[0] == '0'; n--)
		digits++;
	if (n > QUANTITY_DIGITS)
		return NULL;
	for (int i = 0; i < n; i++)
	{
		int			digit = hb_hex_digit((unsigned char) digits[n - 1 - i]);

		if (digit < 0 || (canonical && digits[n - 1 - i] < 'a' && digit >= 10))
			return NULL;
		bytes[QUANTITY_DIGITS / 2 - 1 - i / 2] |= digit << (i % 2 * 4);
	}
	result = NumericGetDatum(hb_numeric_from_bytes(bytes, QUANTITY_DIGITS / 2));
	if (negative)
		result = DirectFunctionCall1(numeric_uminus, result);
	return DatumGetNumeric(result);
}

static void
out_of_range(const HbColumn *column)
{
	ereport(ERROR,
			(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
			 errmsg("value for column \"%s\" is out of range for type %s",
					NameStr(column->name), format_type_be(column->type)),
			 errdetail("The stored column has that type.")));
}

/* A value for an integer column. */
static Datum
integer_datum(const HbColumn *column, int64 value)
{
	switch (column->type)
	{
		case INT2OID:
			if (value < PG_INT16_MIN || value > PG_INT16_MAX)
				out_of_range(column);
			return Int16GetDatum((int16) value);
		case INT4OID:
			if (value < PG_INT32_MIN || value > PG_INT32_MAX)
				out_of_range(column);
			return Int32GetDatum((int32) value);
		default:
			return Int64GetDatum(value);
	}
}

/*
 * The integer below or at a number, and whether it is the number itself.
 * Those that int64 does not have are given as -1 (below all of them) or 1
 * (above all, as NaN is); 0 is returned otherwise.
 */
int
hb_spell_floor(Numeric number, int64 *value, bool *exact)
{
	Datum		datum = NumericGetDatum(number);
	Datum		floor;

	if (numeric_is_nan(number))
		return 1;
	if (DatumGetBool(DirectFunctionCall2(numeric_lt, datum,
										 NumericGetDatum(int64_to_numeric(PG_INT64_MIN)))))
		return -1;
	if (numeric_is_inf(number))
		return 1;
	floor = DirectFunctionCall1(numeric_floor, datum);
	if (DatumGetBool(DirectFunctionCall2(numeric_gt, floor,
										 NumericGetDatum(int64_to_numeric(PG_INT64_MAX)))))
		return 1;
	*value = DatumGetInt64(DirectFunctionCall1(numeric_int8, floor));
	*exact = DatumGetBool(DirectFunctionCall2(numeric_eq, datum, floor));
	return 0;
}

static void
not_integer(const HbColumn *column, Oid stored)
{
	ereport(ERROR,
			(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
			 errmsg("value for column \"%s\" is not an integer",
					NameStr(column->name)),
			 errdetail("The stored column has type %s.",
					   format_type_be(stored))));
}

/* A number for an integer column. */
static Datum
integer_from_numeric(const HbColumn *column, Numeric number)
{
	int64		value;
	bool		exact;

	if (hb_spell_floor(number, &value, &exact) != 0)
		out_of_range(column);
	if (!exact)
		not_integer(column, column->type);
	return integer_datum(column, value);
}

/* A number for a wide bigint, which has integers of any size. */
static Datum
wide_from_numeric(const HbColumn *column, Datum number)
{
	Datum		whole;

	if (numeric_is_nan(DatumGetNumeric(number)) ||
		numeric_is_inf(DatumGetNumeric(number)))
		not_integer(column, INT8OID);
	whole = DirectFunctionCall2(numeric_trunc, number, Int32GetDatum(0));
	if (!DatumGetBool(DirectFunctionCall2(numeric_eq, number, whole)))
		not_integer(column, INT8OID);
	return whole;
}

static Datum
number_from_quantity(const HbColumn *column, text *value)
{
	Numeric		number = numeric_from_quantity(VARDATA_ANY(value),
											   VARSIZE_ANY_EXHDR(value), false);

	if (number == NULL)
		bad_text(NameStr(column->name), value,
				 "A quantity is \"0x\" and up to 64 hexadecimal digits that count.");
	if (column->type == NUMERICOID)
		return NumericGetDatum(number);
	return integer_from_numeric(column, number);
}

/* A value of the attribute as it is to be stored. */
Datum
hb_spell_in(const HbForeign *foreign, AttrNumber attnum, Datum value)
{
	const HbColumn *column =
		&foreign->table->columns[foreign->columns[attnum - 1]];

	switch (foreign->spellings[attnum - 1])
	{
		case HB_SPELL_HEX:
			return bytea_from_hex(DatumGetTextPP(value), NameStr(column->name));
		case HB_SPELL_QUANTITY:
			return number_from_quantity(column, DatumGetTextPP(value));
		case HB_SPELL_NUMERIC:
			return integer_from_numeric(column, DatumGetNumeric(value));
		case HB_SPELL_BIGINT:
			return integer_datum(column, DatumGetInt64(value));
		case HB_SPELL_CAST:
			if (column->type == NUMERICOID)
				return wide_from_numeric(column, value);
			break;
		case HB_SPELL_STORED:
			break;
	}
	return value;
}

/*
 * Puts the values of a row that is to be written into the form in which they
 * will be read, so that constraints, RETURNING and triggers see what is
 * stored.  True if anything is different then.  Garbage is left in the current
 * memory context.
 */
bool
hb_spell_slot(const HbForeign *foreign, TupleTableSlot *slot)
{
	TupleDesc	desc = slot->tts_tupleDescriptor;
	Datum	   *values = NULL;
	bool	   *isnull;

	if (!foreign->spelled)
		return false;
	slot_getallattrs(slot);
	for (int i = 0; i < foreign->natts; i++)
	{
		HbSpelling	spelling = foreign->spellings[i];
		text	   *given;
		text	   *kept;

		if (slot->tts_isnull[i] || spelling == HB_SPELL_STORED ||
			spelling == HB_SPELL_CAST || spelling == HB_SPELL_BIGINT)
			continue;
		/* All of them are varlenas. */
		given = DatumGetTextPP(slot->tts_values[i]);
		kept = DatumGetTextPP(spell_out(spelling,
										&foreign->table->columns[foreign->columns[i]],
										hb_spell_in(foreign, i + 1,
													PointerGetDatum(given))));
		if (VARSIZE_ANY_EXHDR(given) == VARSIZE_ANY_EXHDR(kept) &&
			memcmp(VARDATA_ANY(given), VARDATA_ANY(kept),
				   VARSIZE_ANY_EXHDR(kept)) == 0)
			continue;

		if (values == NULL)
		{
			/* The slot may own what its values point to, so they are copied. */
			values = palloc(sizeof(Datum) * desc->natts);
			isnull = palloc(sizeof(bool) * desc->natts);
			memcpy(isnull, slot->tts_isnull, sizeof(bool) * desc->natts);
			for (int a = 0; a < desc->natts; a++)
			{
				Form_pg_attribute att = TupleDescAttr(desc, a);

				values[a] = isnull[a] ? (Datum) 0 :
					datumCopy(slot->tts_values[a], att->attbyval, att->attlen);
			}
		}
		values[i] = PointerGetDatum(kept);
	}
	if (values == NULL)
		return false;
	ExecClearTuple(slot);
	memcpy(slot->tts_values, values, sizeof(Datum) * desc->natts);
	memcpy(slot->tts_isnull, isnull, sizeof(bool) * desc->natts);
	ExecStoreVirtualTuple(slot);
	ExecMaterializeSlot(slot);
	return true;
}

/*
 * Text in terms of what is stored
 */

/*
 * The number whose text this is, or NULL: then it is no number's.
 */
Numeric
hb_spell_quantity(text *value)
{
	return numeric_from_quantity(VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value),
								 true);
}

/*
 * The place of a text among the texts of byte strings, in byte order: *bytes
 * is the least byte string whose text is not below it, *exact whether that is
 * the text itself.  False when there is none: every byte string's text is
 * below.
 *
 * Digits sort as what they stand for, so that texts sort as the byte strings
 * do.  A text that is none of a byte string's agrees with some of them up to a
 * point, and what follows there decides: either a next greater digit, behind
 * which zeros are the least, or none, and then the digits before it have to
 * give way to their successor.
 */
bool
hb_spell_hex_bound(const char *s, int len, bytea **bytes, bool *exact)
{
	int			room = Max(len, 2) / 2 + 1;
	uint8	   *out;
	int			n = 0;			/* digits so far */
	int			i;

	*bytes = palloc0(VARHDRSZ + room);
	SET_VARSIZE(*bytes, VARHDRSZ);
	*exact = false;
	out = (uint8 *) VARDATA(*bytes);

	/* All texts start with 0x. */
	for (i = 0; i < 2; i++)
	{
		if (i == len || (uint8) s[i] < (uint8) "0x"[i])
			return true;
		if ((uint8) s[i] > (uint8) "0x"[i])
			return false;
	}

	for (; i < len; i++)
	{
		uint8		c = (uint8) s[i];
		int			digit;

		if (c >= '0' && c <= '9')
			digit = c - '0';
		else if (c >= 'a' && c <= 'f')
			digit = c - 'a' + 10;
		else
			break;
		out[n / 2] |= n % 2 == 0 ? digit << 4 : digit;
		n++;
	}
	if (i < len && (uint8) s[i] < 'a')
	{
		/* The next greater digit is 0 or a. */
		out[n / 2] |= ((uint8) s[i] < '0' ? 0 : 10) << (n % 2 == 0 ? 4 : 0);
		n++;
	}
	else if (i < len)
	{
		/* There is none: the last digit that is no f goes up by one. */
		for (;;)
		{
			uint8		mask;

			if (n == 0)
				return false;
			n--;
			mask = n % 2 == 0 ? 0xf0 : 0x0f;
			if ((out[n / 2] & mask) != mask)
			{
				out[n / 2] += mask & 0x11;
				n++;
				break;
			}
			out[n / 2] &= ~mask;
		}
	}
	else
		*exact = n % 2 == 0;
	SET_VARSIZE(*bytes, VARHDRSZ + (n + 1) / 2);
	return true;
}
