/*
 * hb_value.h
 *		SQL values to physical values (chunk/hb_chunk.h) and back.
 *
 * Storage classes:
 *	 bool, int2, int4, int8, date, timestamp, timestamptz, "char", oid, and
 *	 every other pass-by-value built-in type: HB_PHYS_INT (floats by their bits
 *	 made order-preserving)
 *	 numeric: HB_PHYS_NUM; also int8 columns that a kind declares wide
 *	 (quantities whose source is a 256-bit word)
 *	 bytea, text, varchar, bpchar, name: their bytes; int4[]: a zero byte and the
 *	 big-endian, sign-flipped elements (so that memcmp is array order), or 0xFF
 *	 and array_out's text when it has NULLs, more than one dimension or a lower
 *	 bound other than 1
 *	 other built-in types without embedded OIDs: their datum's bytes
 *	 all others: the text of their output function under pg_dump's settings
 */
#ifndef HB_VALUE_H
#define HB_VALUE_H

#include "postgres.h"
#include "fmgr.h"

#include "chunk/hb_chunk.h"

typedef enum HbValueClass
{
	HB_VALUE_INT,				/* int64 is the value (after a type's cast) */
	HB_VALUE_FLOAT,				/* float4/float8 bits, order preserving */
	HB_VALUE_NUM,				/* numeric or wide int8 */
	HB_VALUE_VARLENA,			/* the bytes behind the varlena header */
	HB_VALUE_FIXED,				/* typlen bytes behind the pointer */
	HB_VALUE_INT4_ARRAY,
	HB_VALUE_ARRAY,				/* of elements of one length: as VARLENA */
	HB_VALUE_TEXT				/* through output and input functions */
} HbValueClass;

/* How one SQL type is stored; filled once per column and table descriptor. */
typedef struct HbValueType
{
	Oid			type;
	int32		typmod;
	int16		typlen;
	bool		typbyval;
	HbValueClass class;
	HbPhys		phys;
	FmgrInfo	out;			/* TEXT: output and input */
	FmgrInfo	in;
	Oid			ioparam;
	bool		settings;		/* of the session matter to them */
} HbValueType;

/* wide: the column's physical class is NUM although its type is int8. */
extern void hb_value_type_init(HbValueType *vt, Oid type, int32 typmod, bool wide,
							   MemoryContext cxt);

/*
 * A non-null datum in physical form.  INT: *i.  Others: *bytes, which points
 * into the datum where it can, else into memory of the current context.
 */
extern void hb_value_to_phys(HbValueType *vt, Datum value, int64_t *i, HbSlice *bytes);

/*
 * Back to a datum.  from_int serves INT and FLOAT, and NUM where the chunk
 * stores integers; from_bytes the rest.  Results are palloc'd in the current
 * context.  A NUM value that an int8 column cannot hold raises
 * ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE naming the column, with the hint to
 * declare it numeric.
 */
extern Datum hb_value_from_int(HbValueType *vt, int64_t i);
extern Datum hb_value_from_bytes(HbValueType *vt, HbSlice bytes, const char *column);

#endif							/* HB_VALUE_H */
