/*
 * hb_dict.c
 *		Slices and keys of a sorted dictionary; see hb_dict.h.
 */
#include "codec/hb_dict.h"

uint64_t
hb_dict_key(HbSlice value, bool stripped)
{
	uint64_t	key = 0;
	uint32_t	take = stripped ? 7 : 8;
	uint32_t	i;

	if (value.len < take)
		take = value.len;
	for (i = 0; i < take; i++)
		key |= (uint64_t) value.data[i] << (56 - 8 * i);
	if (stripped)
		key = (key >> 8) | ((uint64_t) value.len << 56);
	return key;
}

void
hb_dict_slice_put(HbBuf *buf, const HbSlice *values, uint32_t n, bool stripped)
{
	uint32_t	least = UINT32_MAX;
	uint32_t	most = 0;
	uint32_t	prefix = 0;
	uint32_t	i;

	for (i = 0; i < n; i++)
	{
		if (values[i].len < least)
			least = values[i].len;
		if (values[i].len > most)
			most = values[i].len;
	}

	/* In order, what the first and the last share is shared by all. */
	if (n > 1 && (!stripped || least == most))
	{
		while (prefix < least &&
			   values[0].data[prefix] == values[n - 1].data[prefix])
			prefix++;
	}
	hb_buf_varint(buf, least - prefix);
	hb_buf_varint(buf, most - least);
	hb_buf_varint(buf, prefix);
	hb_buf_put(buf, values[0].data, prefix);
	if (most != least)
	{
		for (i = 0; i < n; i++)
		{
			hb_buf_byte(buf, (uint8_t) (values[i].len - least));
			if (most - least > 255)
				hb_buf_byte(buf, (uint8_t) ((values[i].len - least) >> 8));
		}
	}
	for (i = 0; i < n; i++)
	{
		if (values[i].len > prefix)
			hb_buf_put(buf, values[i].data + prefix, values[i].len - prefix);
	}
}

bool
hb_dict_slice_get(HbMem *mem, const uint8_t *src, size_t len, uint32_t n,
				  bool stripped, uint32_t width, HbDictSlice *out)
{
	HbCursor	c = {src, src + len, false};
	uint32_t	least = (uint32_t) hb_cursor_varint_max(&c, HB_DICT_MAX_VALUE);
	uint32_t	spread = (uint32_t) hb_cursor_varint_max(&c, HB_DICT_MAX_VALUE);
	uint32_t	plen = (uint32_t) hb_cursor_varint_max(&c, HB_DICT_MAX_VALUE);
	const uint8_t *prefix = hb_cursor_bytes(&c, plen);
	const uint8_t *lens = NULL;
	uint32_t	lenbytes = spread > 255 ? 2 : 1;
	uint64_t	total = 0;
	uint8_t    *dst;
	uint32_t	i;

	if (spread > 0)
		lens = hb_cursor_bytes(&c, (size_t) n * lenbytes);
	if (c.bad || n == 0)
		return false;

	/* Lengths first: their sum must be what is left. */
	for (i = 0; i < n; i++)
	{
		uint32_t	l = least;

		if (lens != NULL)
			l += lenbytes == 2 ? hb_get16(lens + 2 * i) : lens[i];
		if (l > HB_DICT_MAX_VALUE)
			return false;
		if (width > 0 && (stripped ? l + plen > width : l + plen != width))
			return false;
		total += l;
	}
	if (total != (uint64_t) (c.end - c.p))
		return false;

	out->n = n;
	out->width = width;
	if (width > 0)
	{
		out->off = NULL;
		out->data = dst = hb_alloc(mem, (size_t) n * width);
	}
	else
	{
		size_t		head = sizeof(uint32_t) * ((size_t) n + 1);

		out->off = hb_alloc(mem, head + total + (size_t) n * plen);
		out->data = dst = (uint8_t *) out->off + head;
	}
	for (i = 0; i < n; i++)
	{
		uint32_t	l = least;

		if (lens != NULL)
			l += lenbytes == 2 ? hb_get16(lens + 2 * i) : lens[i];
		if (out->off != NULL)
			out->off[i] = (uint32_t) (dst - out->data);
		else if (l + plen < width)
		{
			memset(dst, 0, width - l - plen);
			dst += width - l - plen;
		}
		if (plen > 0)
			memcpy(dst, prefix, plen);
		dst += plen;
		if (l > 0)
			memcpy(dst, c.p, l);
		dst += l;
		c.p += l;
	}
	if (out->off != NULL)
		out->off[n] = (uint32_t) (dst - out->data);
	return true;
}

uint32_t
hb_dict_slice_lower(const HbDictSlice *s, HbSlice value)
{
	uint32_t	lo = 0;
	uint32_t	hi = s->n;

	while (lo < hi)
	{
		uint32_t	mid = (lo + hi) / 2;

		if (hb_slice_cmp(hb_dict_slice_entry(s, mid), value) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}
