/*
 * hb_filter.c
 *		The bits of a filter block; see hb_filter.h.
 *
 * The positions come from seven groups of nine bits of hash * K2 (modulo
 * 2^64), each scaled from 512 to 480.
 */
#include "codec/hb_filter.h"
#include "codec/hb_hash.h"

static inline uint32_t
probe(uint64_t mixed, int i)
{
	return (uint32_t) (((mixed >> (9 * i)) & 511) * HB_FILTER_BITS) >> 9;
}

void
hb_filter_add(uint8_t *block, uint64_t hash)
{
	uint64_t	mixed = hash * HB_HASH_K2;
	int			i;

	for (i = 0; i < HB_FILTER_PROBES; i++)
	{
		uint32_t	bit = probe(mixed, i);

		block[bit / 8] |= (uint8_t) (1 << (bit % 8));
	}
}

bool
hb_filter_test(const uint8_t *block, uint64_t hash)
{
	uint64_t	mixed = hash * HB_HASH_K2;
	int			i;

	for (i = 0; i < HB_FILTER_PROBES; i++)
	{
		uint32_t	bit = probe(mixed, i);

		if (!((block[bit / 8] >> (bit % 8)) & 1))
			return false;
	}
	return true;
}
