/*
 * hb_unary.h
 *		A page of a column that does not descend within a block and starts
 *		again at each block (the transaction index of a log).
 *
 * Payload: the value of the page's first row (4 bytes), then for each other
 * row as many 0 bits as its value exceeds that of the row before (0 instead,
 * where the row begins a block) and a 1 bit; lowest bit of a byte first.
 */
#ifndef HB_UNARY_H
#define HB_UNARY_H

#include "codec/hb_mem.h"

/*
 * Bits that n >= 1 values take behind the first; starts has bit i set where
 * row i begins a block.  UINT64_MAX when they do not have the shape.
 */
extern uint64_t hb_unary_bits(const int64_t *values, uint32_t n, const uint64_t *starts);

/* Bytes of a payload with so many bits. */
static inline size_t
hb_unary_size(uint64_t bits)
{
	return 4 + (size_t) ((bits + 7) / 8);
}

extern void hb_unary_encode(const int64_t *values, uint32_t n,
							const uint64_t *starts, uint8_t *dst);

/* Decodes n <= 1024 values; false when there are fewer in src. */
extern bool hb_unary_decode(const uint8_t *src, size_t len, uint32_t n,
							const uint64_t *starts, int64_t *out);

#endif							/* HB_UNARY_H */
