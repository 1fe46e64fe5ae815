/*
 * hb_intpage.h
 *		A page of integers: frame of reference, or deltas, bit-packed.
 *
 * A mode byte says how: the low seven bits are the number of bits (0..64),
 * the high bit chooses deltas.
 *	 FOR	value = base + packed; base is the page's minimum, which the page
 *			table holds; 0 bits: no payload
 *	 DELTA	payload = first value (8 bytes), least delta (8 bytes), packed
 *			(delta - least delta) of all n, 0 for the first; sums modulo 2^64
 */
#ifndef HB_INTPAGE_H
#define HB_INTPAGE_H

#include "codec/hb_mem.h"

#define HB_INTPAGE_DELTA	0x80
#define HB_INTPAGE_BITS		0x7f
#define HB_INTPAGE_MAX_ROWS	1024
/* The largest payload, with the bytes behind it that codecs may touch. */
#define HB_INTPAGE_ROOM		(16 + HB_INTPAGE_MAX_ROWS * 8 + 16)

static inline bool
hb_intpage_mode_valid(uint8_t mode)
{
	return (mode & HB_INTPAGE_BITS) <= 64;
}

/* Bytes of the payload (before any codec) of n values. */
static inline size_t
hb_intpage_size(uint8_t mode, uint32_t n)
{
	size_t		bits = mode & HB_INTPAGE_BITS;

	if (mode & HB_INTPAGE_DELTA)
		return 16 + ((size_t) n * bits + 7) / 8;
	return ((size_t) n * bits + 7) / 8;
}

/*
 * Chooses the mode for n >= 1 values with these bounds: deltas when that is
 * smaller than 7/8 of the frame of reference.
 */
extern uint8_t hb_intpage_choose(const int64_t *values, uint32_t n, int64_t min, int64_t max);

/*
 * Writes the payload (hb_intpage_size bytes, HB_INTPAGE_ROOM must be there)
 * in a mode that hb_intpage_choose gave; a FOR mode may have more bits.
 */
extern void hb_intpage_encode(const int64_t *values, uint32_t n, int64_t min,
							  uint8_t mode, uint8_t *dst);

/*
 * Decodes n values from a payload of hb_intpage_size bytes with 8 readable
 * bytes behind it.  Never fails: any bytes are some integers.
 */
extern void hb_intpage_decode(const uint8_t *src, uint32_t n, int64_t min,
							  uint8_t mode, int64_t *out);

/*
 * The same for unsigned values up to max (below 2^32): false when one is
 * larger, which only damaged bytes have.
 */
extern bool hb_intpage_decode32(const uint8_t *src, uint32_t n, int64_t min,
								uint8_t mode, uint32_t max, uint32_t *out);

#endif							/* HB_INTPAGE_H */
