/*
 * hb_hashindex.h
 *		Rows of a column by the hash of their value.
 *
 * Lines of 64 bytes: one byte with the count of entries (low seven bits) and
 * an overflow flag (high bit), four bytes of checksum, and entries of rowbits
 * + 8 bits each: row << 8 | fingerprint, packed lowest bits first.  A value's
 * home line is its hash's upper half scaled to the number of lines, its
 * fingerprint the hash's lowest byte.  What does not fit in its home goes to
 * the next line (the first follows the last), and every full line on the way
 * has the overflow flag: a search goes on as long as it sees the flag.
 */
#ifndef HB_HASHINDEX_H
#define HB_HASHINDEX_H

#include "codec/hb_mem.h"

#define HB_HASHLINE			64
#define HB_HASHLINE_HEAD	5		/* count and flag, checksum */
#define HB_HASHLINE_MAX		59		/* entries of a line, at most */
#define HB_HASH_PROBE_MAX	64		/* lines from home; more: no index */

/* Bits of a row number, 1..24. */
static inline int
hb_hashindex_rowbits(uint32_t nrows)
{
	return nrows <= 2 ? 1 : 32 - __builtin_clz(nrows - 1);
}

/* Entries that fit in a line. */
static inline uint32_t
hb_hashindex_line_cap(int rowbits)
{
	return (HB_HASHLINE - HB_HASHLINE_HEAD) * 8 / (uint32_t) (rowbits + 8);
}

/* Lines for n values: five sixths full. */
extern uint32_t hb_hashindex_lines(uint32_t n, int rowbits);

static inline uint32_t
hb_hashindex_home(uint64_t hash, uint32_t nlines)
{
	return (uint32_t) (((hash >> 32) * nlines) >> 32);
}

/*
 * Adds a row to zeroed lines (checksums are put in later).  False when it
 * does not fit within HB_HASH_PROBE_MAX lines: the values repeat too much.
 */
extern bool hb_hashindex_add(uint8_t *lines, uint32_t nlines, int rowbits,
							 uint64_t hash, uint32_t row);

/*
 * Rows in a line whose fingerprint is the hash's; *more tells whether the
 * search goes on in the next line.  Returns their number (rows has room for
 * HB_HASHLINE_MAX), -1 when the line is damaged.
 */
extern int	hb_hashindex_match(const uint8_t *line, int rowbits, uint64_t hash,
							   uint32_t *rows, bool *more);

#endif							/* HB_HASHINDEX_H */
