/*
 * hb_subblock.c
 *		Trimming of 32-byte words; see hb_subblock.h.
 */
#include "codec/hb_subblock.h"

/* Leading zero bytes of a 32-byte word. */
static inline uint32_t
leading_zeros(const uint8_t *w)
{
	uint32_t	k;

	for (k = 0; k < 32; k += 8)
	{
		uint64_t	v = hb_get64(w + k);

		if (v != 0)
			return k + (uint32_t) __builtin_ctzll(v) / 8;
	}
	return 32;
}

size_t
hb_subblock_trim_size(const uint8_t *value, uint32_t len)
{
	size_t		size = len % 32;
	uint32_t	i;

	for (i = len % 32; i < len; i += 32)
		size += 33 - leading_zeros(value + i);
	return size;
}

void
hb_subblock_trim(HbBuf *buf, const uint8_t *raw, const uint32_t *lens, uint32_t n)
{
	const uint8_t *p = raw;
	uint32_t	i;
	uint32_t	k;

	for (i = 0; i < n; i++)
	{
		hb_buf_put(buf, p, lens[i] % 32);
		p += lens[i];
	}
	p = raw;
	for (i = 0; i < n; i++)
	{
		for (k = lens[i] % 32; k < lens[i]; k += 32)
			hb_buf_byte(buf, (uint8_t) (32 - leading_zeros(p + k)));
		p += lens[i];
	}
	p = raw;
	for (i = 0; i < n; i++)
	{
		for (k = lens[i] % 32; k < lens[i]; k += 32)
		{
			uint32_t	z = leading_zeros(p + k);

			hb_buf_put(buf, p + k + z, 32 - z);
		}
		p += lens[i];
	}
}

bool
hb_subblock_untrim(const uint8_t *src, size_t len, const uint32_t *lens,
				   uint32_t n, uint8_t *dst, size_t raw_len)
{
	const uint8_t *end = src + len;
	const uint8_t *heads = src;
	const uint8_t *counts;
	const uint8_t *bytes;
	size_t		nheads = 0;
	size_t		nwords = 0;
	size_t		total = 0;
	uint32_t	i;
	uint32_t	k;

	for (i = 0; i < n; i++)
	{
		nheads += lens[i] % 32;
		nwords += lens[i] / 32;
		total += lens[i];
	}
	if (total != raw_len || len < nheads || len - nheads < nwords)
		return false;
	counts = heads + nheads;
	bytes = counts + nwords;
	for (i = 0; i < n; i++)
	{
		uint32_t	head = lens[i] % 32;

		memcpy(dst, heads, head);
		dst += head;
		heads += head;
		for (k = lens[i] / 32; k > 0; k--)
		{
			uint32_t	keep = *counts++;

			if (keep > 32 || (size_t) (end - bytes) < keep)
				return false;
			memset(dst, 0, 32);
			memcpy(dst + 32 - keep, bytes, keep);
			bytes += keep;
			dst += 32;
		}
	}
	return bytes == end;
}
