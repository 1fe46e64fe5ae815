/*
 * hb_piece.c
 *		The frame of a piece.
 *
 * A chunk's body is one stream of bytes, cut into pieces of at most 2 MiB, each
 * a row (chunk_id, seq, data) of the piece table: 0, 1, 2 ... are the body, -1
 * a directory that is too large for the chunk's row.  All but the last are
 * full.  data is a header of 32 bytes and the payload:
 *
 *	 0	magic "HBP1"
 *	 4	format version (1), three zero bytes
 *	 8	chunk id, 64 bits
 *	16	seq, 32 bits
 *	20	length of the payload, 32 bits
 *	24	zero, 32 bits
 *	28	CRC-32C of the 28 bytes before
 *
 * all little-endian.  The payload has no checksum here: every part of a body
 * has its own (docs/format.md).
 */
#include "postgres.h"

#include "port/pg_crc32c.h"
#include "store/hb_store_int.h"

#define HB_PIECE_MAGIC "HBP1"
#define HB_PIECE_VERSION 1

static uint32
hb_piece_crc(const uint8_t *header)
{
	pg_crc32c	crc;

	INIT_CRC32C(crc);
	COMP_CRC32C(crc, header, HB_PIECE_HEADER - 4);
	FIN_CRC32C(crc);
	return crc;
}

void
hb_piece_frame(uint8_t *header, int64 chunk_id, int32 seq, uint32 len)
{
	memset(header, 0, HB_PIECE_HEADER);
	memcpy(header, HB_PIECE_MAGIC, 4);
	header[4] = HB_PIECE_VERSION;
	hb_put64(header + 8, (uint64_t) chunk_id);
	hb_put32(header + 16, (uint32_t) seq);
	hb_put32(header + 20, len);
	hb_put32(header + 28, hb_piece_crc(header));
}

/* What is wrong with the header, or NULL, and then the payload's length. */
const char *
hb_piece_check(const uint8_t *header, int64 chunk_id, int32 seq, uint32 *len)
{
	if (memcmp(header, HB_PIECE_MAGIC, 4) != 0)
		return "it does not begin with the magic number of a piece";
	if (hb_get32(header + 28) != hb_piece_crc(header))
		return "the checksum of its header does not match";
	if (header[4] != HB_PIECE_VERSION)
		return "its format version is unknown";
	if (hb_get64(header + 8) != (uint64_t) chunk_id ||
		hb_get32(header + 16) != (uint32_t) seq)
		return "it is another piece";
	*len = hb_get32(header + 20);
	if (*len > HB_PIECE_PAYLOAD)
		return "its length is impossible";
	return NULL;
}
