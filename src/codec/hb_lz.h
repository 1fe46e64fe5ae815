/*
 * hb_lz.h
 *		The two general codecs, with one context a process each.
 */
#ifndef HB_LZ_H
#define HB_LZ_H

#include "codec/hb_mem.h"

#define HB_CODEC_NONE	0
#define HB_CODEC_LZ4	1
#define HB_CODEC_ZSTD	2

/* Larger inputs are not offered to a codec. */
#define HB_LZ_MAX_INPUT	(1024U * 1024 * 1024)

/*
 * Compresses src into dst of cap bytes; returns the compressed length, or 0
 * when it does not fit (or the codec failed): store it as it is then.
 */
extern size_t hb_lz_compress(int codec, int level, const uint8_t *src, size_t len,
							 uint8_t *dst, size_t cap);

/* Decompresses to exactly dst_len bytes; false when the input is damaged. */
extern bool hb_lz_decompress(int codec, const uint8_t *src, size_t len,
							 uint8_t *dst, size_t dst_len);

#endif							/* HB_LZ_H */
