/*
 * hb_subblock.h
 *		A sub-block: whole values of a variable-width column, one behind the
 *		other, as they are or with their 32-byte words trimmed, under a codec.
 *
 * Trimmed: for each value, its first length % 32 bytes as they are (the
 * selector of a call), the rest as 32-byte words without their leading zero
 * bytes.  The stream is
 *	 the heads of all values, the number of bytes kept of each word (1 byte
 *	 each), the bytes kept.
 * The lengths of the values are not in the sub-block; the reader has them.
 */
#ifndef HB_SUBBLOCK_H
#define HB_SUBBLOCK_H

#include "codec/hb_buf.h"

/* Flags in the table of sub-blocks; all other bits must be zero for now. */
#define HB_SUB_CODEC	0x0003		/* HB_CODEC_xxx of hb_lz.h */
#define HB_SUB_TRIM		0x0004

/*
 * A longer sub-block (a single value then) is stored as it is, so that
 * building one needs no second copy, and damaged flags claim no more memory.
 */
#define HB_SUB_CODED_MAX	(2U * 1024 * 1024)

/* Could len stored bytes with these flags decode to raw_len? */
static inline bool
hb_subblock_plausible(uint64_t len, uint64_t raw_len, uint32_t flags)
{
	if ((flags & ~(uint32_t) (HB_SUB_CODEC | HB_SUB_TRIM)) != 0 ||
		(flags & HB_SUB_CODEC) == HB_SUB_CODEC)
		return false;
	if (flags == 0)
		return len == raw_len;
	return raw_len <= HB_SUB_CODED_MAX && len <= 2 * (uint64_t) HB_SUB_CODED_MAX;
}

/* Appends the trimmed form of n values of these lengths. */
extern void hb_subblock_trim(HbBuf *buf, const uint8_t *raw, const uint32_t *lens, uint32_t n);

/* The length of a value's trimmed form. */
extern size_t hb_subblock_trim_size(const uint8_t *value, uint32_t len);

/*
 * Restores raw_len bytes (the sum of lens) to dst; false when damaged.
 */
extern bool hb_subblock_untrim(const uint8_t *src, size_t len, const uint32_t *lens,
							   uint32_t n, uint8_t *dst, size_t raw_len);

#endif							/* HB_SUBBLOCK_H */
