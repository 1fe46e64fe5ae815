/*
 * hb_bitpack.c
 *		Packing and unpacking; see hb_bitpack.h for the two layouts.
 *
 * The unpackers of full pages are written once, over gcc's vector types, and
 * compiled for several instruction sets; the first call picks one.
 */
#include "codec/hb_bitpack.h"

#if defined(__x86_64__) && defined(__GNUC__)
#define HB_PACK_DISPATCH 1
#endif

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define HB_PACK_VECTOR 1
#endif

static inline uint64_t
low_mask(int bits)
{
	return bits >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << bits) - 1;
}

/*
 * Packing a full page.  Each lane is written by itself; packing is not what
 * building a chunk waits for.
 */
static void
pack_full32(const uint64_t *values, int bits, uint8_t *dst)
{
	uint32_t	words[32];
	uint32_t	acc[32];
	int			fill = 0;
	int			k;
	int			l;

	memset(acc, 0, sizeof(acc));
	for (k = 0; k < 32; k++)
	{
		const uint64_t *v = values + k * 32;

		for (l = 0; l < 32; l++)
			acc[l] |= (uint32_t) v[l] << fill;
		fill += bits;
		if (fill >= 32)
		{
			int			used;

			fill -= 32;
			used = bits - fill;		/* bits of v that went into this word */
			for (l = 0; l < 32; l++)
				words[l] = acc[l];
			for (l = 0; l < 32; l++)
				hb_put32(dst + 4 * l, words[l]);
			dst += 128;
			if (used >= 32)
				memset(acc, 0, sizeof(acc));
			else
			{
				for (l = 0; l < 32; l++)
					acc[l] = (uint32_t) v[l] >> used;
			}
		}
	}
}

static void
pack_full64(const uint64_t *values, int bits, uint8_t *dst)
{
	uint64_t	acc[16];
	int			fill = 0;
	int			k;
	int			l;

	memset(acc, 0, sizeof(acc));
	for (k = 0; k < 64; k++)
	{
		const uint64_t *v = values + k * 16;

		for (l = 0; l < 16; l++)
			acc[l] |= v[l] << fill;
		fill += bits;
		if (fill >= 64)
		{
			int			used;

			fill -= 64;
			used = bits - fill;
			for (l = 0; l < 16; l++)
				hb_put64(dst + 8 * l, acc[l]);
			dst += 128;
			for (l = 0; l < 16; l++)
				acc[l] = used >= 64 ? 0 : v[l] >> used;
		}
	}
}

void
hb_pack(const uint64_t *values, uint32_t n, int bits, uint8_t *dst)
{
	uint64_t	acc = 0;
	int			fill = 0;
	uint32_t	i;

	if (bits == 0)
		return;
	if (n == HB_PACK_FULL)
	{
		if (bits <= 32)
			pack_full32(values, bits, dst);
		else
			pack_full64(values, bits, dst);
		return;
	}
	for (i = 0; i < n; i++)
	{
		acc |= values[i] << fill;
		if (fill + bits >= 64)
		{
			int			used = 64 - fill;

			hb_put64(dst, acc);
			dst += 8;
			acc = used >= 64 ? 0 : values[i] >> used;
			fill = bits - used;
		}
		else
			fill += bits;
	}
	while (fill > 0)
	{
		*dst++ = (uint8_t) acc;
		acc >>= 8;
		fill -= 8;
	}
}

/* Value i of the sequential layout; bytes behind the end may be read. */
static inline uint64_t
seq_get(const uint8_t *src, int bits, uint32_t i)
{
	size_t		bit = (size_t) i * (size_t) bits;
	const uint8_t *p = src + (bit >> 3);
	int			s = (int) (bit & 7);
	uint64_t	v = hb_get64(p) >> s;

	if (bits + s > 64)
		v |= (uint64_t) p[8] << (64 - s);
	return v & low_mask(bits);
}

uint64_t
hb_unpack_one(const uint8_t *src, uint32_t n, int bits, uint32_t i)
{
	if (bits == 0)
		return 0;
	if (n != HB_PACK_FULL)
		return seq_get(src, bits, i);
	if (bits <= 32)
	{
		uint32_t	bit = (i / 32) * (uint32_t) bits;
		const uint8_t *p = src + (bit / 32) * 128 + (i % 32) * 4;
		int			s = (int) (bit % 32);
		uint64_t	v = hb_get32(p) >> s;

		if (s + bits > 32)
			v |= (uint64_t) hb_get32(p + 128) << (32 - s);
		return v & low_mask(bits);
	}
	else
	{
		uint32_t	bit = (i / 16) * (uint32_t) bits;
		const uint8_t *p = src + (size_t) (bit / 64) * 128 + (i % 16) * 8;
		int			s = (int) (bit % 64);
		uint64_t	v = hb_get64(p) >> s;

		if (s + bits > 64)
			v |= hb_get64(p + 128) << (64 - s);
		return v & low_mask(bits);
	}
}

#ifdef HB_PACK_VECTOR

typedef uint32_t V32 __attribute__((vector_size(32), aligned(1), may_alias));
typedef uint64_t V64 __attribute__((vector_size(32), aligned(1), may_alias));
typedef uint64_t W64 __attribute__((vector_size(64), aligned(1), may_alias));

static inline __attribute__((always_inline)) void
unpack_full32_32(const uint8_t *src, int bits, uint32_t base, uint32_t *out)
{
	const uint32_t mask = (uint32_t) low_mask(bits);
	int			k;
	int			j;

	for (k = 0; k < 32; k++)
	{
		int			bit = k * bits;
		const V32  *p = (const V32 *) (src + (bit >> 5) * 128);
		int			s = bit & 31;
		V32		   *o = (V32 *) (out + k * 32);

		if (s + bits > 32)
		{
			for (j = 0; j < 4; j++)
				o[j] = (((p[j] >> s) | (p[j + 4] << (32 - s))) & mask) + base;
		}
		else
		{
			for (j = 0; j < 4; j++)
				o[j] = ((p[j] >> s) & mask) + base;
		}
	}
}

static inline __attribute__((always_inline)) void
unpack_full32_64(const uint8_t *src, int bits, uint64_t base, uint64_t *out)
{
	const uint32_t mask = (uint32_t) low_mask(bits);
	int			k;
	int			j;

	for (k = 0; k < 32; k++)
	{
		int			bit = k * bits;
		const V32  *p = (const V32 *) (src + (bit >> 5) * 128);
		int			s = bit & 31;
		W64		   *o = (W64 *) (out + k * 32);

		if (s + bits > 32)
		{
			for (j = 0; j < 4; j++)
				o[j] = __builtin_convertvector(((p[j] >> s) | (p[j + 4] << (32 - s))) & mask, W64) + base;
		}
		else
		{
			for (j = 0; j < 4; j++)
				o[j] = __builtin_convertvector((p[j] >> s) & mask, W64) + base;
		}
	}
}

static inline __attribute__((always_inline)) void
unpack_full64_64(const uint8_t *src, int bits, uint64_t base, uint64_t *out)
{
	const uint64_t mask = low_mask(bits);
	int			k;
	int			j;

	for (k = 0; k < 64; k++)
	{
		int			bit = k * bits;
		const V64  *p = (const V64 *) (src + (size_t) (bit >> 6) * 128);
		int			s = bit & 63;
		V64		   *o = (V64 *) (out + k * 16);

		if (s + bits > 64)
		{
			for (j = 0; j < 4; j++)
				o[j] = (((p[j] >> s) | (p[j + 4] << (64 - s))) & mask) + base;
		}
		else
		{
			for (j = 0; j < 4; j++)
				o[j] = ((p[j] >> s) & mask) + base;
		}
	}
}

#define DEFINE_UNPACKERS(suffix, attr) \
attr static void \
full32_32_##suffix(const uint8_t *src, int bits, uint32_t base, uint32_t *out) \
{ \
	unpack_full32_32(src, bits, base, out); \
} \
attr static void \
full64_##suffix(const uint8_t *src, int bits, uint64_t base, uint64_t *out) \
{ \
	if (bits <= 32) \
		unpack_full32_64(src, bits, base, out); \
	else \
		unpack_full64_64(src, bits, base, out); \
}

DEFINE_UNPACKERS(any, )
#ifdef HB_PACK_DISPATCH
DEFINE_UNPACKERS(avx2, __attribute__((target("avx2"))))
DEFINE_UNPACKERS(avx512, __attribute__((target("avx512f,avx512vl"))))
#endif

typedef void (*Full32) (const uint8_t *, int, uint32_t, uint32_t *);
typedef void (*Full64) (const uint8_t *, int, uint64_t, uint64_t *);

static void full32_first(const uint8_t *src, int bits, uint32_t base, uint32_t *out);
static void full64_first(const uint8_t *src, int bits, uint64_t base, uint64_t *out);

static Full32 full32 = full32_first;
static Full64 full64 = full64_first;

static void
unpackers_choose(void)
{
	Full32		f32 = full32_32_any;
	Full64		f64 = full64_any;

#ifdef HB_PACK_DISPATCH
	if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl"))
	{
		f32 = full32_32_avx512;
		f64 = full64_avx512;
	}
	else if (__builtin_cpu_supports("avx2"))
	{
		f32 = full32_32_avx2;
		f64 = full64_avx2;
	}
#endif
	full32 = f32;
	full64 = f64;
}

static void
full32_first(const uint8_t *src, int bits, uint32_t base, uint32_t *out)
{
	unpackers_choose();
	full32(src, bits, base, out);
}

static void
full64_first(const uint8_t *src, int bits, uint64_t base, uint64_t *out)
{
	unpackers_choose();
	full64(src, bits, base, out);
}

#else							/* !HB_PACK_VECTOR */

static void
full32(const uint8_t *src, int bits, uint32_t base, uint32_t *out)
{
	uint32_t	i;

	for (i = 0; i < HB_PACK_FULL; i++)
		out[i] = (uint32_t) hb_unpack_one(src, HB_PACK_FULL, bits, i) + base;
}

static void
full64(const uint8_t *src, int bits, uint64_t base, uint64_t *out)
{
	uint32_t	i;

	for (i = 0; i < HB_PACK_FULL; i++)
		out[i] = hb_unpack_one(src, HB_PACK_FULL, bits, i) + base;
}

#endif							/* HB_PACK_VECTOR */

void
hb_unpack64(const uint8_t *src, uint32_t n, int bits, uint64_t base, uint64_t *out)
{
	uint32_t	i;

	if (bits == 0)
	{
		for (i = 0; i < n; i++)
			out[i] = base;
	}
	else if (n == HB_PACK_FULL)
		full64(src, bits, base, out);
	else if (bits <= 56)
	{
		const uint64_t mask = low_mask(bits);
		size_t		bit = 0;

		for (i = 0; i < n; i++, bit += (size_t) bits)
			out[i] = ((hb_get64(src + (bit >> 3)) >> (bit & 7)) & mask) + base;
	}
	else
	{
		for (i = 0; i < n; i++)
			out[i] = seq_get(src, bits, i) + base;
	}
}

void
hb_unpack32(const uint8_t *src, uint32_t n, int bits, uint32_t base, uint32_t *out)
{
	uint32_t	i;

	if (bits == 0)
	{
		for (i = 0; i < n; i++)
			out[i] = base;
	}
	else if (n == HB_PACK_FULL)
		full32(src, bits, base, out);
	else
	{
		const uint64_t mask = low_mask(bits);
		size_t		bit = 0;

		for (i = 0; i < n; i++, bit += (size_t) bits)
			out[i] = (uint32_t) ((hb_get64(src + (bit >> 3)) >> (bit & 7)) & mask) + base;
	}
}
