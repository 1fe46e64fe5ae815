/*
 * hb_hashindex.c
 *		Lines of the row index in hash order; see hb_hashindex.h.
 */
#include "codec/hb_hashindex.h"

#define LINE_COUNT		0x7f
#define LINE_OVERFLOW	0x80

uint32_t
hb_hashindex_lines(uint32_t n, int rowbits)
{
	uint32_t	cap = hb_hashindex_line_cap(rowbits);
	uint64_t	lines;

	if (n <= cap)
		return 1;
	lines = ((uint64_t) n * 6 + (uint64_t) cap * 5 - 1) / ((uint64_t) cap * 5);
	return (uint32_t) lines + 1;
}

/* The eight bytes from p on, fewer at the end of the line. */
static inline uint64_t
line_word(const uint8_t *line, uint32_t byte)
{
	uint64_t	v = 0;
	int			k;

	if (byte + 8 <= HB_HASHLINE)
		return hb_get64(line + byte);
	for (k = 0; byte + (uint32_t) k < HB_HASHLINE; k++)
		v |= (uint64_t) line[byte + (uint32_t) k] << (8 * k);
	return v;
}

bool
hb_hashindex_add(uint8_t *lines, uint32_t nlines, int rowbits,
				 uint64_t hash, uint32_t row)
{
	uint32_t	cap = hb_hashindex_line_cap(rowbits);
	uint32_t	home = hb_hashindex_home(hash, nlines);
	uint32_t	i;

	for (i = 0; i < nlines && i < HB_HASH_PROBE_MAX; i++)
	{
		uint8_t    *line = lines + (size_t) ((home + i) % nlines) * HB_HASHLINE;
		uint32_t	count = line[0] & LINE_COUNT;
		uint32_t	bit;
		uint64_t	entry;
		int			left;

		if (count >= cap)
		{
			line[0] |= LINE_OVERFLOW;
			continue;
		}
		bit = HB_HASHLINE_HEAD * 8 + count * (uint32_t) (rowbits + 8);
		entry = ((uint64_t) row << 8) | (hash & 0xff);
		for (left = rowbits + 8; left > 0;)
		{
			uint32_t	s = bit % 8;

			line[bit / 8] |= (uint8_t) (entry << s);
			entry >>= 8 - s;
			bit += 8 - s;
			left -= 8 - (int) s;
		}
		line[0]++;
		return true;
	}
	return false;
}

int
hb_hashindex_match(const uint8_t *line, int rowbits, uint64_t hash,
				   uint32_t *rows, bool *more)
{
	uint32_t	count = line[0] & LINE_COUNT;
	uint32_t	width = (uint32_t) (rowbits + 8);
	uint32_t	i;
	int			n = 0;

	if (count > hb_hashindex_line_cap(rowbits))
		return -1;
	for (i = 0; i < count; i++)
	{
		uint32_t	bit = HB_HASHLINE_HEAD * 8 + i * width;
		uint64_t	entry = line_word(line, bit / 8) >> (bit % 8);

		if ((entry & 0xff) == (hash & 0xff))
			rows[n++] = (uint32_t) ((entry >> 8) & ((UINT64_C(1) << rowbits) - 1));
	}
	*more = (line[0] & LINE_OVERFLOW) != 0;
	return n;
}
