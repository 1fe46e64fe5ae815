/*
 * hb_filter.h
 *		A blocked Bloom filter over a dictionary's values.
 *
 * Blocks of 64 bytes: 480 bits and a checksum.  A value's hash picks a block
 * (its upper half, scaled) and HB_FILTER_PROBES bits in it, so that one read
 * of 64 bytes answers.  About 11 bits a value: one absent value in a hundred
 * passes.  (Putze, Sanders, Singler, "Cache-, Hash- and Space-Efficient Bloom
 * Filters", 2007.)
 */
#ifndef HB_FILTER_H
#define HB_FILTER_H

#include "codec/hb_mem.h"

#define HB_FILTER_BLOCK		64
#define HB_FILTER_BITS		480
#define HB_FILTER_PROBES	7
#define HB_FILTER_PER_VALUE	11

/* Blocks of a filter for n values. */
static inline uint32_t
hb_filter_blocks(uint32_t n)
{
	return (uint32_t) (((uint64_t) n * HB_FILTER_PER_VALUE + HB_FILTER_BITS - 1) / HB_FILTER_BITS);
}

static inline uint32_t
hb_filter_block_of(uint64_t hash, uint32_t nblocks)
{
	return (uint32_t) (((hash >> 32) * nblocks) >> 32);
}

/* Sets the bits of a value in its block (of HB_FILTER_BLOCK bytes). */
extern void hb_filter_add(uint8_t *block, uint64_t hash);

/* May a value with this hash be in it? */
extern bool hb_filter_test(const uint8_t *block, uint64_t hash);

#endif							/* HB_FILTER_H */
