/*
 * hb_value.c
 *		SQL values to physical values and back.
 *
 * Which built-in types are stored by their own bytes is a list, not a rule:
 * types with OIDs inside (the reg* types, ranges, composites, enums) would not
 * survive a dump, types with a structure of their own (jsonb, tsvector, inet)
 * would have to be trusted when they are read, and everything that is not on
 * the list goes through its output and input functions, under the settings
 * that pg_dump uses.  What is stored by its bytes is checked when it is read:
 * lengths, an array's header, the encoding of text.
 */
#include "postgres.h"

#include "compat.h"
#include "store/hb_numeric.h"
#include "store/hb_store_int.h"
#include "store/hb_value.h"

#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/float.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#define HB_ARRAY_PLAIN	0x00
#define HB_ARRAY_TEXT	0xFF

/* Is a type, or an array's element type, stored by its bytes? */
static bool
hb_value_is_binary(Oid type)
{
	switch (type)
	{
		case BOOLOID:
		case BYTEAOID:
		case CHAROID:
		case INT8OID:
		case INT2OID:
		case INT4OID:
		case TEXTOID:
		case OIDOID:
		case TIDOID:
		case XIDOID:
		case CIDOID:
		case JSONOID:
		case XMLOID:
		case XID8OID:
		case POINTOID:
		case LSEGOID:
		case BOXOID:
		case LINEOID:
		case FLOAT4OID:
		case FLOAT8OID:
		case CIRCLEOID:
		case MONEYOID:
		case MACADDROID:
		case MACADDR8OID:
		case BPCHAROID:
		case VARCHAROID:
		case DATEOID:
		case TIMEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
		case INTERVALOID:
		case TIMETZOID:
		case NUMERICOID:
		case UUIDOID:
		case PG_LSNOID:
			return true;
		default:
			return false;
	}
}

/* Do the session's settings matter to what the type's functions write? */
static bool
hb_value_needs_settings(Oid type)
{
	switch (type)
	{
		case JSONBOID:
		case TSVECTOROID:
		case TSQUERYOID:
		case INETOID:
		case CIDROID:
		case BITOID:
		case VARBITOID:
		case NAMEOID:
		case BYTEAARRAYOID:
		case TEXTARRAYOID:
		case NUMERICARRAYOID:
			return false;
		default:
			return true;
	}
}

static HbValueClass
hb_value_class(HbValueType *vt, bool wide)
{
	Oid			element;

	if (vt->type == NUMERICOID || (vt->type == INT8OID && wide))
		return HB_VALUE_NUM;
	if (vt->type == FLOAT4OID || vt->type == FLOAT8OID)
		return HB_VALUE_FLOAT;
	if (vt->type == INT4ARRAYOID)
		return HB_VALUE_INT4_ARRAY;
	if (hb_value_is_binary(vt->type))
	{
		if (vt->typbyval)
			return HB_VALUE_INT;
		return vt->typlen == -1 ? HB_VALUE_VARLENA : HB_VALUE_FIXED;
	}
	/* an array holds its element type's OID, fixed where that is built in */
	element = get_element_type(vt->type);
	if (OidIsValid(element) && get_typbyval(element) && hb_value_is_binary(element))
		return HB_VALUE_ARRAY;
	return HB_VALUE_TEXT;
}

void
hb_value_type_init(HbValueType *vt, Oid type, int32 typmod, bool wide,
				   MemoryContext cxt)
{
	memset(vt, 0, sizeof(*vt));
	vt->typmod = typmod;
	vt->type = getBaseTypeAndTypmod(type, &vt->typmod);
	get_typlenbyval(vt->type, &vt->typlen, &vt->typbyval);
	vt->class = hb_value_class(vt, wide);
	switch (vt->class)
	{
		case HB_VALUE_INT:
		case HB_VALUE_FLOAT:
			vt->phys = HB_PHYS_INT;
			break;
		case HB_VALUE_NUM:
			vt->phys = HB_PHYS_NUM;
			break;
		case HB_VALUE_VARLENA:
		case HB_VALUE_FIXED:
		case HB_VALUE_INT4_ARRAY:
		case HB_VALUE_ARRAY:
			vt->phys = HB_PHYS_BYTES;
			break;
		case HB_VALUE_TEXT:
			{
				Oid			function;
				bool		is_varlena;

				vt->phys = HB_PHYS_BYTES;
				vt->settings = hb_value_needs_settings(vt->type);
				getTypeOutputInfo(vt->type, &function, &is_varlena);
				fmgr_info_cxt(function, &vt->out, cxt);
				getTypeInputInfo(vt->type, &function, &vt->ioparam);
				fmgr_info_cxt(function, &vt->in, cxt);
				break;
			}
	}
}

/*
 * The settings that decide what output functions write and input functions
 * understand, as pg_dump has them.  Returns what AtEOXact_GUC wants.
 */
static int
hb_value_text_settings(void)
{
	int			nestlevel = NewGUCNestLevel();

	if (DateStyle != USE_ISO_DATES)
		(void) set_config_option("datestyle", "ISO", PGC_USERSET, PGC_S_SESSION,
								 GUC_ACTION_SAVE, true, 0, false);
	if (IntervalStyle != INTSTYLE_POSTGRES)
		(void) set_config_option("intervalstyle", "postgres", PGC_USERSET,
								 PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
	if (extra_float_digits < 3)
		(void) set_config_option("extra_float_digits", "3", PGC_USERSET,
								 PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
	(void) set_config_option("search_path", "pg_catalog", PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
	return nestlevel;
}

static void
hb_value_text(HbSlice *bytes, uint8_t mark, const char *text)
{
	uint32		len = strlen(text);
	uint8_t    *data = palloc(1 + len);

	data[0] = mark;
	memcpy(data + 1, text, len);
	bytes->data = data;
	bytes->len = 1 + len;
}

/* The text behind the mark, as a C string. */
static char *
hb_value_cstring(HbSlice bytes)
{
	return pnstrdup((const char *) bytes.data + 1, bytes.len - 1);
}

static int64
hb_value_datum_to_int(HbValueType *vt, Datum value)
{
	switch (vt->type)
	{
		case PG_LSNOID:
		case XID8OID:
			/* unsigned: move the order of 2^63 and above into place */
			return (int64) (DatumGetUInt64(value) ^ (UINT64CONST(1) << 63));
		case OIDOID:
		case XIDOID:
		case CIDOID:
			return DatumGetUInt32(value);
		case BOOLOID:
			return DatumGetBool(value);
		case CHAROID:
			/* compared as unsigned */
			return (uint8) DatumGetChar(value);
		default:
			break;
	}
	switch (vt->typlen)
	{
		case 1:
			return DatumGetChar(value);
		case 2:
			return DatumGetInt16(value);
		case 4:
			return DatumGetInt32(value);
		default:
			return DatumGetInt64(value);
	}
}

static Datum
hb_value_int_to_datum(HbValueType *vt, int64 i)
{
	switch (vt->type)
	{
		case PG_LSNOID:
		case XID8OID:
			return UInt64GetDatum((uint64) i ^ (UINT64CONST(1) << 63));
		case OIDOID:
		case XIDOID:
		case CIDOID:
			return UInt32GetDatum((uint32) i);
		case BOOLOID:
			return BoolGetDatum(i != 0);
		default:
			break;
	}
	switch (vt->typlen)
	{
		case 1:
			return CharGetDatum((char) i);
		case 2:
			return Int16GetDatum((int16) i);
		case 4:
			return Int32GetDatum((int32) i);
		default:
			return Int64GetDatum(i);
	}
}

/* Negative floats: the bits below the sign turned over, so that order holds. */
static int64
hb_value_float_to_int(HbValueType *vt, Datum value)
{
	if (vt->type == FLOAT4OID)
	{
		float4		f = DatumGetFloat4(value);
		int32		bits;

		memcpy(&bits, &f, sizeof(bits));
		return bits < 0 ? bits ^ PG_INT32_MAX : bits;
	}
	else
	{
		float8		f = DatumGetFloat8(value);
		int64		bits;

		memcpy(&bits, &f, sizeof(bits));
		return bits < 0 ? bits ^ PG_INT64_MAX : bits;
	}
}

static Datum
hb_value_int_to_float(HbValueType *vt, int64 i)
{
	if (vt->type == FLOAT4OID)
	{
		int32		bits = (int32) i;
		float4		f;

		if (bits < 0)
			bits ^= PG_INT32_MAX;
		memcpy(&f, &bits, sizeof(f));
		return Float4GetDatum(f);
	}
	else
	{
		float8		f;

		if (i < 0)
			i ^= PG_INT64_MAX;
		memcpy(&f, &i, sizeof(f));
		return Float8GetDatum(f);
	}
}

static void
hb_value_num_to_phys(HbValueType *vt, Datum value, HbSlice *bytes)
{
	uint8_t    *num = palloc(HB_NUM_MAX);
	int			len;

	if (vt->type == INT8OID)
	{
		int64		i = DatumGetInt64(value);

		len = i < 0 ? 0 : hb_uint64_to_num((uint64) i, num);
	}
	else
	{
		value = PointerGetDatum(PG_DETOAST_DATUM_PACKED(value));
		len = hb_numeric_to_num((Numeric) DatumGetPointer(value), num);
	}
	if (len > 0)
	{
		bytes->data = num;
		bytes->len = len;
		return;
	}
	pfree(num);
	hb_value_text(bytes, HB_NUM_TEXT,
				  DatumGetCString(vt->type == INT8OID ?
								  DirectFunctionCall1(int8out, value) :
								  DirectFunctionCall1(numeric_out, value)));
}

static void
hb_value_array_to_phys(Datum value, HbSlice *bytes)
{
	ArrayType  *array = DatumGetArrayTypeP(value);
	int			n = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
	const int32 *elements;
	uint8_t    *data;

	if (ARR_HASNULL(array) || ARR_NDIM(array) > 1 ||
		(ARR_NDIM(array) == 1 && ARR_LBOUND(array)[0] != 1))
	{
		FmgrInfo	out;

		fmgr_info(F_ARRAY_OUT, &out);
		hb_value_text(bytes, HB_ARRAY_TEXT,
					  OutputFunctionCall(&out, PointerGetDatum(array)));
		return;
	}
	elements = (const int32 *) ARR_DATA_PTR(array);
	data = palloc(1 + 4 * (Size) n);
	data[0] = HB_ARRAY_PLAIN;
	for (int i = 0; i < n; i++)
	{
		uint32		v = (uint32) elements[i] ^ 0x80000000;

		data[1 + 4 * i] = (uint8_t) (v >> 24);
		data[2 + 4 * i] = (uint8_t) (v >> 16);
		data[3 + 4 * i] = (uint8_t) (v >> 8);
		data[4 + 4 * i] = (uint8_t) v;
	}
	bytes->data = data;
	bytes->len = 1 + 4 * n;
}

static Datum
hb_value_array_from_bytes(HbSlice bytes)
{
	int			n = (bytes.len - 1) / 4;
	int			size;
	ArrayType  *array;
	int32	   *elements;

	if (bytes.len >= 1 && bytes.data[0] == HB_ARRAY_TEXT)
	{
		FmgrInfo	in;

		fmgr_info(F_ARRAY_IN, &in);
		return InputFunctionCall(&in, hb_value_cstring(bytes), INT4OID, -1);
	}
	if (bytes.len < 1 || bytes.data[0] != HB_ARRAY_PLAIN || (bytes.len - 1) % 4 != 0)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("stored integer array is damaged")));
	if (n == 0)
		return PointerGetDatum(construct_empty_array(INT4OID));

	size = ARR_OVERHEAD_NONULLS(1) + 4 * n;
	array = palloc0(size);
	SET_VARSIZE(array, size);
	array->ndim = 1;
	array->dataoffset = 0;
	array->elemtype = INT4OID;
	ARR_DIMS(array)[0] = n;
	ARR_LBOUND(array)[0] = 1;
	elements = (int32 *) ARR_DATA_PTR(array);
	for (int i = 0; i < n; i++)
	{
		const uint8_t *p = bytes.data + 1 + 4 * i;

		elements[i] = (int32) (((uint32) p[0] << 24 | (uint32) p[1] << 16 |
								(uint32) p[2] << 8 | p[3]) ^ 0x80000000);
	}
	return PointerGetDatum(array);
}

void
hb_value_to_phys(HbValueType *vt, Datum value, int64_t *i, HbSlice *bytes)
{
	switch (vt->class)
	{
		case HB_VALUE_INT:
			*i = hb_value_datum_to_int(vt, value);
			break;
		case HB_VALUE_FLOAT:
			*i = hb_value_float_to_int(vt, value);
			break;
		case HB_VALUE_NUM:
			hb_value_num_to_phys(vt, value, bytes);
			break;
		case HB_VALUE_VARLENA:
		case HB_VALUE_ARRAY:
			{
				struct varlena *v = PG_DETOAST_DATUM_PACKED(value);

				bytes->data = (const uint8_t *) VARDATA_ANY(v);
				bytes->len = VARSIZE_ANY_EXHDR(v);
				break;
			}
		case HB_VALUE_FIXED:
			bytes->data = (const uint8_t *) DatumGetPointer(value);
			bytes->len = vt->typlen;
			break;
		case HB_VALUE_INT4_ARRAY:
			hb_value_array_to_phys(value, bytes);
			break;
		case HB_VALUE_TEXT:
			{
				int			nestlevel = vt->settings ? hb_value_text_settings() : 0;
				char	   *text = OutputFunctionCall(&vt->out, value);

				if (vt->settings)
					AtEOXact_GUC(true, nestlevel);
				bytes->data = (const uint8_t *) text;
				bytes->len = strlen(text);
				break;
			}
	}
}

Datum
hb_value_from_int(HbValueType *vt, int64_t i)
{
	switch (vt->class)
	{
		case HB_VALUE_INT:
			return hb_value_int_to_datum(vt, i);
		case HB_VALUE_FLOAT:
			return hb_value_int_to_float(vt, i);
		case HB_VALUE_NUM:
			if (vt->type == INT8OID)
				return Int64GetDatum(i);
			return PointerGetDatum(hb_numeric_from_uint64((uint64) i));
		default:
			elog(ERROR, "type %u is not stored as integers", vt->type);
			return (Datum) 0;	/* keep compiler quiet */
	}
}

static void
hb_value_out_of_range(const char *column)
{
	ereport(ERROR,
			(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
			 errmsg("value of column \"%s\" is out of range for type bigint", column),
			 errhint("Declare the column numeric in the foreign table.")));
}

/* A numeric that is no integer of the num form, as bigint. */
static Datum
hb_value_num_to_int8(Datum number, const char *column)
{
	Numeric		num = DatumGetNumeric(number);
	Datum		whole;

	if (numeric_is_nan(num) || numeric_is_inf(num) ||
		DatumGetBool(DirectFunctionCall2(numeric_gt, number,
										 NumericGetDatum(int64_to_numeric(PG_INT64_MAX)))) ||
		DatumGetBool(DirectFunctionCall2(numeric_lt, number,
										 NumericGetDatum(int64_to_numeric(PG_INT64_MIN)))))
		hb_value_out_of_range(column);
	whole = DirectFunctionCall1(numeric_floor, number);
	if (!DatumGetBool(DirectFunctionCall2(numeric_eq, number, whole)))
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("value of column \"%s\" is not an integer", column),
				 errhint("Declare the column numeric in the foreign table.")));
	return DirectFunctionCall1(numeric_int8, whole);
}

static Datum
hb_value_num_from_bytes(HbValueType *vt, HbSlice bytes, const char *column)
{
	const uint8_t *data = bytes.data;

	if (bytes.len >= 1 && data[0] == HB_NUM_TEXT)
	{
		Datum		number = DirectFunctionCall3(numeric_in,
												 CStringGetDatum(hb_value_cstring(bytes)),
												 ObjectIdGetDatum(InvalidOid),
												 Int32GetDatum(-1));

		if (vt->type != INT8OID)
			return number;
		/* below zero, or anything, where the column is stored as numeric */
		return hb_value_num_to_int8(number, column);
	}
	if (bytes.len < 1 || data[0] > 32 || bytes.len != 1 + (uint32) data[0])
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("stored number of column \"%s\" is damaged", column)));
	if (vt->type == INT8OID)
	{
		uint64		v = 0;

		if (data[0] > 8)
			hb_value_out_of_range(column);
		for (int i = 0; i < data[0]; i++)
			v = v << 8 | data[1 + i];
		if (v > (uint64) PG_INT64_MAX)
			hb_value_out_of_range(column);
		return Int64GetDatum((int64) v);
	}
	return PointerGetDatum(hb_numeric_from_bytes(data + 1, data[0]));
}

/* What is stored by its bytes and varies in length, but for bytea, is text. */
static void
hb_value_check_text(HbSlice bytes, const char *column)
{
	if (!pg_verifymbstr((const char *) bytes.data, bytes.len, true))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("stored value of column \"%s\" is not valid in encoding \"%s\"",
						column, GetDatabaseEncodingName())));
}

/* An array of elements of one length, all of whose parts are within it. */
static void
hb_value_check_array(HbValueType *vt, ArrayType *array, const char *column)
{
	Size		size = VARSIZE(array);
	Oid			element = get_element_type(vt->type);
	int16		typlen;
	bool		typbyval;
	char		typalign;
	int			nitems = 0;
	int			nulls = 0;
	Size		data;
	bool		good;

	get_typlenbyvalalign(element, &typlen, &typbyval, &typalign);
	good = size >= sizeof(ArrayType) && ARR_ELEMTYPE(array) == element &&
		ARR_NDIM(array) >= 0 && ARR_NDIM(array) <= MAXDIM &&
		size >= ARR_OVERHEAD_NONULLS(ARR_NDIM(array));
	if (good)
	{
		/* errors of their own for too many elements */
		nitems = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
		ArrayCheckBounds(ARR_NDIM(array), ARR_DIMS(array), ARR_LBOUND(array));
		data = ARR_HASNULL(array) ?
			ARR_OVERHEAD_WITHNULLS(ARR_NDIM(array), nitems) :
			ARR_OVERHEAD_NONULLS(ARR_NDIM(array));
		good = size >= data &&
			(!ARR_HASNULL(array) || array->dataoffset == (int32) data);
		for (int i = 0; good && ARR_HASNULL(array) && i < nitems; i++)
			nulls += !(ARR_NULLBITMAP(array)[i / 8] & (1 << (i % 8)));
		good = good && size - data == (Size) (nitems - nulls) * typlen;
	}
	if (!good)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("stored array of column \"%s\" is damaged", column)));
}

Datum
hb_value_from_bytes(HbValueType *vt, HbSlice bytes, const char *column)
{
	char	   *result;

	switch (vt->class)
	{
		case HB_VALUE_NUM:
			return hb_value_num_from_bytes(vt, bytes, column);
		case HB_VALUE_VARLENA:
		case HB_VALUE_ARRAY:
			result = palloc(VARHDRSZ + (Size) bytes.len);
			SET_VARSIZE(result, VARHDRSZ + bytes.len);
			memcpy(VARDATA(result), bytes.data, bytes.len);
			if (vt->class == HB_VALUE_ARRAY)
				hb_value_check_array(vt, (ArrayType *) result, column);
			else if (vt->type != BYTEAOID)
				hb_value_check_text(bytes, column);
			return PointerGetDatum(result);
		case HB_VALUE_FIXED:
			if (bytes.len != vt->typlen)
				ereport(ERROR,
						(errcode(ERRCODE_DATA_CORRUPTED),
						 errmsg("stored value of column \"%s\" has a length of %u bytes instead of %d",
								column, bytes.len, vt->typlen)));
			result = palloc0(vt->typlen);
			memcpy(result, bytes.data, bytes.len);
			return PointerGetDatum(result);
		case HB_VALUE_INT4_ARRAY:
			return hb_value_array_from_bytes(bytes);
		case HB_VALUE_TEXT:
			{
				int			nestlevel = vt->settings ? hb_value_text_settings() : 0;
				Datum		value;

				/* the type's modifier was applied when the value was made */
				value = InputFunctionCall(&vt->in,
										  pnstrdup((const char *) bytes.data, bytes.len),
										  vt->ioparam, vt->typmod);
				if (vt->settings)
					AtEOXact_GUC(true, nestlevel);
				return value;
			}
		case HB_VALUE_INT:
		case HB_VALUE_FLOAT:
			break;
	}
	elog(ERROR, "type %u is not stored as bytes", vt->type);
	return (Datum) 0;			/* keep compiler quiet */
}
