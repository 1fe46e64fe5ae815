/*
 * hb_crc32c.h
 *		CRC-32C (Castagnoli) and the seeds of checksums.
 */
#ifndef HB_CRC32C_H
#define HB_CRC32C_H

#include "codec/hb_mem.h"

/*
 * The plain CRC-32C of len bytes, continued from crc (0 to begin):
 * hb_crc32c(0, "123456789", 9) is 0xE3069283.
 */
extern uint32_t hb_crc32c(uint32_t crc, const void *data, size_t len);

/* The same by tables only, for tests and for processors without SSE 4.2. */
extern uint32_t hb_crc32c_soft(uint32_t crc, const void *data, size_t len);

/*
 * What a part's checksum starts from, so that a part which is found in
 * another place than its own does not pass: the CRC of chunk id, owner (a
 * column's number, or a dictionary's index), kind of part, and index in it.
 */
static inline uint32_t
hb_crc_seed(uint64_t chunk_id, uint16_t owner, uint8_t kind, uint32_t index)
{
	uint8_t		b[16];

	hb_put64(b, chunk_id);
	hb_put16(b + 8, owner);
	b[10] = kind;
	b[11] = 0;
	hb_put32(b + 12, index);
	return hb_crc32c(0, b, 16);
}

/*
 * Does the checksum in the four bytes at p match?  A fuzzer that wants to get
 * below the checksums compiles with HB_FUZZ.
 */
static inline bool
hb_crc_matches(uint32_t crc, const uint8_t *p)
{
#ifdef HB_FUZZ
	(void) crc;
	(void) p;
	return true;
#else
	return crc == hb_get32(p);
#endif
}

#endif							/* HB_CRC32C_H */
