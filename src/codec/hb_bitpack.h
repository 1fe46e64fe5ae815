/*
 * hb_bitpack.h
 *		Unsigned integers packed into a fixed number of bits each.
 *
 * Two layouts, told apart by the number of values alone.
 *
 * A full page (HB_PACK_FULL values) is interleaved so that unpacking needs
 * one shift for many values: with at most 32 bits, value i lies in lane i %
 * 32 of 32 lanes of 32-bit words, otherwise in lane i % 16 of 16 lanes of
 * 64-bit words; the k-th value of a lane begins at bit k * bits of the lane's
 * words, and word w of lane l is word w * lanes + l of the payload.  So bits *
 * 128 bytes exactly.  (The layout of Afroozeh and Boncz, "The FastLanes
 * Compression Layout", VLDB 2023, without its reordering of rows.)
 *
 * Fewer values are packed one behind the other, lowest bits first.
 */
#ifndef HB_BITPACK_H
#define HB_BITPACK_H

#include "codec/hb_mem.h"

#define HB_PACK_FULL	1024
#define HB_PACK_SLACK	8		/* readable bytes behind what is unpacked */

/* Bytes that n values of so many bits take. */
static inline size_t
hb_pack_size(uint32_t n, int bits)
{
	return ((size_t) n * (size_t) bits + 7) / 8;
}

/* Bits that v needs: 0 for 0. */
static inline int
hb_pack_bits(uint64_t v)
{
	return v == 0 ? 0 : 64 - __builtin_clzll(v);
}

/*
 * Packs n values, each below 2^bits, into hb_pack_size(n, bits) bytes at dst
 * (HB_PACK_SLACK more may be overwritten).
 */
extern void hb_pack(const uint64_t *values, uint32_t n, int bits, uint8_t *dst);

/*
 * Unpacks n <= HB_PACK_FULL values of 0..64 bits and adds base to each,
 * modulo 2^64.  src has hb_pack_size(n, bits) bytes and HB_PACK_SLACK more
 * that may be read.  unpack32 is for bits <= 32 and results below 2^32
 * (larger ones are cut).
 */
extern void hb_unpack64(const uint8_t *src, uint32_t n, int bits, uint64_t base, uint64_t *out);
extern void hb_unpack32(const uint8_t *src, uint32_t n, int bits, uint32_t base, uint32_t *out);

/* Value i of n packed values. */
extern uint64_t hb_unpack_one(const uint8_t *src, uint32_t n, int bits, uint32_t i);

#endif							/* HB_BITPACK_H */
