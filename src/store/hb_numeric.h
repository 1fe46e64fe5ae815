/*
 * hb_numeric.h
 *		numeric and the num form (chunk/hb_chunk.h).
 */
#ifndef HB_NUMERIC_H
#define HB_NUMERIC_H

#include "postgres.h"
#include "utils/numeric.h"

#include "chunk/hb_chunk.h"

/* One length byte and 32 bytes of an integer. */
#define HB_NUM_MAX		33
#define HB_NUM_TEXT		0xFF

/*
 * The num form of an integer in 0..2^256-1 that was written without decimals,
 * into out; its length, or 0 for every other numeric.
 */
extern int	hb_numeric_to_num(Numeric value, uint8_t out[HB_NUM_MAX]);
extern int	hb_uint64_to_num(uint64 value, uint8_t out[HB_NUM_MAX]);

/* The numeric of an integer in big-endian bytes, at most 32; palloc'd. */
extern Numeric hb_numeric_from_bytes(const uint8_t *bytes, int len);
extern Numeric hb_numeric_from_uint64(uint64 value);

#endif							/* HB_NUMERIC_H */
