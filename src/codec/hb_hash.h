/*
 * hb_hash.h
 *		The 64-bit hash of byte strings that filters and hash indexes store
 *		the results of.  It is part of the format (docs/format.md) and must
 *		not change.
 *
 * Multiply and fold: mum(a, b) is the exclusive or of the two halves of the
 * 128-bit product.  Sixteen bytes a step; the tail of 0..16 bytes is read as
 * two words that may overlap.
 */
#ifndef HB_HASH_H
#define HB_HASH_H

#include "codec/hb_mem.h"

#define HB_HASH_K0	UINT64_C(0x9E3779B97F4A7C15)
#define HB_HASH_K1	UINT64_C(0xD6E8FEB86659FD93)
#define HB_HASH_K2	UINT64_C(0xA0761D6478BD642F)
#define HB_HASH_K3	UINT64_C(0xE7037ED1A0B428DB)

static inline uint64_t
hb_hash_mum(uint64_t a, uint64_t b)
{
#ifdef __SIZEOF_INT128__
	unsigned __int128 m = (unsigned __int128) a * b;

	return (uint64_t) m ^ (uint64_t) (m >> 64);
#else
	uint64_t	ah = a >> 32;
	uint64_t	al = (uint32_t) a;
	uint64_t	bh = b >> 32;
	uint64_t	bl = (uint32_t) b;
	uint64_t	ll = al * bl;
	uint64_t	m1 = ah * bl + (ll >> 32);
	uint64_t	m2 = al * bh + (uint32_t) m1;

	return (a * b) ^ (ah * bh + (m1 >> 32) + (m2 >> 32));
#endif
}

static inline uint64_t
hb_hash64(const void *data, size_t len)
{
	const uint8_t *p = data;
	size_t		rem = len;
	uint64_t	h = HB_HASH_K0;
	uint64_t	a = 0;
	uint64_t	b = 0;

	while (rem > 16)
	{
		h = hb_hash_mum(hb_get64(p) ^ HB_HASH_K1, hb_get64(p + 8) ^ h);
		p += 16;
		rem -= 16;
	}
	if (rem >= 8)
	{
		a = hb_get64(p);
		b = hb_get64(p + rem - 8);
	}
	else if (rem >= 4)
	{
		a = hb_get32(p);
		b = hb_get32(p + rem - 4);
	}
	else if (rem > 0)
		a = ((uint64_t) p[0] << 16) | ((uint64_t) p[rem >> 1] << 8) | p[rem - 1];
	h = hb_hash_mum(a ^ HB_HASH_K2, b ^ h);
	return hb_hash_mum(h ^ HB_HASH_K3, (uint64_t) len ^ HB_HASH_K1);
}

#endif							/* HB_HASH_H */
