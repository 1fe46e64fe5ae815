/*
 * hb_lists.c
 *		Page lists; see hb_lists.h.
 */
#include "codec/hb_lists.h"

#define LIST_COUNT	196
#define LIST_BITMAP	254
#define LIST_ALL	255
#define LIST_MOST	(LIST_BITMAP - 1 - LIST_COUNT + 2)

void
hb_lists_put(HbBuf *buf, const uint8_t *pages, uint32_t n, uint32_t npages)
{
	if (n == 1)
		hb_buf_byte(buf, pages[0]);
	else if (n * 2 > npages)
		hb_buf_byte(buf, LIST_ALL);
	else if (n <= LIST_MOST && n <= (npages + 7) / 8)
	{
		hb_buf_byte(buf, (uint8_t) (LIST_COUNT + n - 2));
		hb_buf_put(buf, pages, n);
	}
	else
	{
		uint8_t    *bits;
		uint32_t	i;

		hb_buf_byte(buf, LIST_BITMAP);
		bits = hb_buf_room(buf, (npages + 7) / 8);
		memset(bits, 0, (npages + 7) / 8);
		for (i = 0; i < n; i++)
			bits[pages[i] / 8] |= (uint8_t) (1 << (pages[i] % 8));
		buf->len += (npages + 7) / 8;
	}
}

/* Bytes of a list that begins with b. */
static inline size_t
list_size(uint8_t b, uint32_t npages)
{
	if (b < LIST_COUNT || b == LIST_ALL)
		return 1;
	if (b == LIST_BITMAP)
		return 1 + (npages + 7) / 8;
	return 1 + (size_t) (b - LIST_COUNT + 2);
}

bool
hb_lists_get(const uint8_t *src, size_t len, uint32_t nslots,
			 uint32_t slot, uint32_t npages, uint64_t *pages)
{
	size_t		pos = (nslots + 7) / 8;
	uint32_t	i;
	uint8_t		b;

	if (len < pos || slot >= nslots)
		return false;
	if (!((src[slot / 8] >> (slot % 8)) & 1))
		return true;
	for (i = 0; i < slot; i++)
	{
		if (!((src[i / 8] >> (i % 8)) & 1))
			continue;
		if (pos >= len)
			return false;
		pos += list_size(src[pos], npages);
	}
	if (pos >= len || len - pos < list_size(src[pos], npages))
		return false;
	b = src[pos++];
	if (b < LIST_COUNT)
	{
		if (b >= npages)
			return false;
		pages[b / 64] |= UINT64_C(1) << (b % 64);
	}
	else if (b == LIST_ALL)
	{
		for (i = 0; i < npages; i++)
			pages[i / 64] |= UINT64_C(1) << (i % 64);
	}
	else if (b == LIST_BITMAP)
	{
		for (i = 0; i < npages; i++)
		{
			if ((src[pos + i / 8] >> (i % 8)) & 1)
				pages[i / 64] |= UINT64_C(1) << (i % 64);
		}
	}
	else
	{
		uint32_t	n = (uint32_t) (b - LIST_COUNT + 2);

		for (i = 0; i < n; i++)
		{
			uint8_t		page = src[pos + i];

			if (page >= npages)
				return false;
			pages[page / 64] |= UINT64_C(1) << (page % 64);
		}
	}
	return true;
}
