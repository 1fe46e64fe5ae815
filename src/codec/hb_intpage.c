/*
 * hb_intpage.c
 *		Encoding and decoding a page of integers; see hb_intpage.h.
 *
 * All arithmetic is modulo 2^64, so that pages with INT64_MIN and INT64_MAX
 * in them need no case of their own.
 */
#include "codec/hb_intpage.h"
#include "codec/hb_bitpack.h"

/* Least and greatest delta, as signed numbers; false when one overflows. */
static bool
delta_range(const int64_t *values, uint32_t n, int64_t *least, int64_t *most)
{
	int64_t		lo = INT64_MAX;
	int64_t		hi = INT64_MIN;
	uint32_t	i;

	for (i = 1; i < n; i++)
	{
		int64_t		d;

		if (__builtin_sub_overflow(values[i], values[i - 1], &d))
			return false;
		if (d < lo)
			lo = d;
		if (d > hi)
			hi = d;
	}
	*least = lo;
	*most = hi;
	return true;
}

uint8_t
hb_intpage_choose(const int64_t *values, uint32_t n, int64_t min, int64_t max)
{
	int			bits = hb_pack_bits((uint64_t) max - (uint64_t) min);
	int64_t		least;
	int64_t		most;

	if (bits > 1 && n > 16 && delta_range(values, n, &least, &most))
	{
		int			dbits = hb_pack_bits((uint64_t) most - (uint64_t) least);

		if (hb_intpage_size((uint8_t) (HB_INTPAGE_DELTA | dbits), n) <
			hb_intpage_size((uint8_t) bits, n) / 8 * 7)
			return (uint8_t) (HB_INTPAGE_DELTA | dbits);
	}
	return (uint8_t) bits;
}

void
hb_intpage_encode(const int64_t *values, uint32_t n, int64_t min,
				  uint8_t mode, uint8_t *dst)
{
	uint64_t	tmp[HB_INTPAGE_MAX_ROWS];
	int			bits = mode & HB_INTPAGE_BITS;
	uint32_t	i;

	if (mode & HB_INTPAGE_DELTA)
	{
		int64_t		least = 0;
		int64_t		most = 0;

		delta_range(values, n, &least, &most);
		hb_put64(dst, (uint64_t) values[0]);
		hb_put64(dst + 8, (uint64_t) least);
		tmp[0] = 0;
		for (i = 1; i < n; i++)
			tmp[i] = (uint64_t) values[i] - (uint64_t) values[i - 1] - (uint64_t) least;
		hb_pack(tmp, n, bits, dst + 16);
		return;
	}
	for (i = 0; i < n; i++)
		tmp[i] = (uint64_t) values[i] - (uint64_t) min;
	hb_pack(tmp, n, bits, dst);
}

void
hb_intpage_decode(const uint8_t *src, uint32_t n, int64_t min,
				  uint8_t mode, int64_t *out)
{
	int			bits = mode & HB_INTPAGE_BITS;

	if (mode & HB_INTPAGE_DELTA)
	{
		uint64_t   *o = (uint64_t *) out;
		uint64_t	v = hb_get64(src) - hb_get64(src + 8);
		uint32_t	i;

		hb_unpack64(src + 16, n, bits, hb_get64(src + 8), o);
		for (i = 0; i < n; i++)
		{
			v += o[i];
			o[i] = v;
		}
		return;
	}
	hb_unpack64(src, n, bits, (uint64_t) min, (uint64_t *) out);
}

/* Four values at once, from any address. */
typedef uint32_t HbFour __attribute__((vector_size(16), aligned(4), may_alias));

/*
 * Is one of n values above max (which is below 2^31)?  The sign of max - v, or
 * of v itself, tells.
 */
static bool
any_above(const uint32_t *v, uint32_t n, uint32_t max)
{
	const uint32_t *end = v + n;
	HbFour		limit = {max, max, max, max};
	HbFour		a = {0};
	HbFour		b = {0};
	uint32_t	acc = 0;

	for (; end - v >= 8; v += 8)
	{
		const HbFour x = *(const HbFour *) v;
		const HbFour y = *(const HbFour *) (v + 4);

		a |= (limit - x) | x;
		b |= (limit - y) | y;
	}
	for (; v < end; v++)
		acc |= (max - *v) | *v;
	a |= b;
	return ((acc | a[0] | a[1] | a[2] | a[3]) >> 31) != 0;
}

bool
hb_intpage_decode32(const uint8_t *src, uint32_t n, int64_t min,
					uint8_t mode, uint32_t max, uint32_t *out)
{
	int			bits = mode & HB_INTPAGE_BITS;

	if (mode == 0)
	{
		if (min < 0 || min > (int64_t) max)
			return false;
		hb_unpack32(src, n, 0, (uint32_t) min, out);
		return true;
	}
	if ((mode & HB_INTPAGE_DELTA) || bits > 31 || min < 0 || min > INT32_MAX ||
		max > INT32_MAX)
	{
		int64_t		tmp[HB_INTPAGE_MAX_ROWS];
		uint64_t	seen = 0;
		uint32_t	i;

		hb_intpage_decode(src, n, min, mode, tmp);
		for (i = 0; i < n; i++)
		{
			seen |= (uint64_t) tmp[i] > max;
			out[i] = (uint32_t) tmp[i];
		}
		return seen == 0;
	}
	hb_unpack32(src, n, bits, (uint32_t) min, out);
	if ((uint64_t) min + (UINT64_C(1) << bits) - 1 <= max)
		return true;
	return !any_above(out, n, max);
}
