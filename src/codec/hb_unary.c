/*
 * hb_unary.c
 *		Unary gaps; see hb_unary.h.
 */
#include "codec/hb_unary.h"

static inline bool
starts_at(const uint64_t *starts, uint32_t i)
{
	return (starts[i / 64] >> (i % 64)) & 1;
}

uint64_t
hb_unary_bits(const int64_t *values, uint32_t n, const uint64_t *starts)
{
	uint64_t	bits = 0;
	uint32_t	i;

	if (values[0] < 0 || values[0] > UINT32_MAX)
		return UINT64_MAX;
	for (i = 1; i < n; i++)
	{
		int64_t		before = starts_at(starts, i) ? 0 : values[i - 1];

		if (values[i] < before || values[i] > UINT32_MAX)
			return UINT64_MAX;
		bits += (uint64_t) (values[i] - before) + 1;
	}
	return bits;
}

void
hb_unary_encode(const int64_t *values, uint32_t n, const uint64_t *starts, uint8_t *dst)
{
	uint64_t	bit = 0;
	uint32_t	i;
	uint64_t	bits = hb_unary_bits(values, n, starts);

	memset(dst, 0, hb_unary_size(bits));
	hb_put32(dst, (uint32_t) values[0]);
	dst += 4;
	for (i = 1; i < n; i++)
	{
		int64_t		before = starts_at(starts, i) ? 0 : values[i - 1];

		bit += (uint64_t) (values[i] - before);
		dst[bit / 8] |= (uint8_t) (1 << (bit % 8));
		bit++;
	}
}

bool
hb_unary_decode(const uint8_t *src, size_t len, uint32_t n,
				const uint64_t *starts, int64_t *out)
{
	const uint8_t *p = src + 4;
	const uint8_t *end = src + len;
	uint32_t	i = 1;
	int64_t		bit = 0;
	int64_t		base;

	if (len < 4)
		return false;
	out[0] = base = hb_get32(src);

	/* The k-th 1 bit stands at k plus the sum of the gaps so far. */
	while (i < n)
	{
		uint64_t	word;

		if (end - p >= 8)
		{
			word = hb_get64(p);
			p += 8;
		}
		else if (p < end)
		{
			int			k;

			word = 0;
			for (k = 0; p < end; k++)
				word |= (uint64_t) *p++ << (8 * k);
		}
		else
			return false;
		while (word != 0 && i < n)
		{
			out[i] = base + bit + __builtin_ctzll(word) - (int64_t) (i - 1);
			i++;
			word &= word - 1;
		}
		bit += 64;
	}

	/* From each block's first row on, take off the sum up to the row before. */
	i = 1;
	base = 0;
	while (i < n)
	{
		uint64_t	word = starts[i / 64] >> (i % 64);
		uint32_t	to;

		if (word & 1)
			base += out[i - 1];
		word &= ~UINT64_C(1);
		to = word != 0 ? i + (uint32_t) __builtin_ctzll(word) : (i / 64 + 1) * 64;
		if (to > n)
			to = n;
		if (base != 0)
		{
			for (; i < to; i++)
				out[i] -= base;
		}
		i = to;
	}
	return true;
}
