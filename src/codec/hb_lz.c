/*
 * hb_lz.c
 *		lz4 blocks and zstd frames (without content size and checksum: both
 *		are ours).  The contexts live as long as the process.  The one to
 *		decompress is in static memory: without memory for it, what is read
 *		would look damaged.  Without one to compress, values stay as they are.
 */
#include "codec/hb_lz.h"

#include <lz4.h>
#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>

static ZSTD_CCtx *zstd_cctx = NULL;
static ZSTD_DCtx *zstd_dctx = NULL;
static uint64_t zstd_dctx_space[256 * 1024 / sizeof(uint64_t)];
static LZ4_stream_t lz4_state;

static size_t
zstd_compress(int level, const uint8_t *src, size_t len, uint8_t *dst, size_t cap)
{
	size_t		n;

	if (zstd_cctx == NULL)
	{
		zstd_cctx = ZSTD_createCCtx();
		if (zstd_cctx == NULL)
			return 0;
		ZSTD_CCtx_setParameter(zstd_cctx, ZSTD_c_format, ZSTD_f_zstd1_magicless);
		ZSTD_CCtx_setParameter(zstd_cctx, ZSTD_c_contentSizeFlag, 0);
	}
	ZSTD_CCtx_setParameter(zstd_cctx, ZSTD_c_compressionLevel, level);
	n = ZSTD_compress2(zstd_cctx, dst, cap, src, len);
	return ZSTD_isError(n) ? 0 : n;
}

size_t
hb_lz_compress(int codec, int level, const uint8_t *src, size_t len,
			   uint8_t *dst, size_t cap)
{
	if (len == 0 || cap == 0 || len > HB_LZ_MAX_INPUT)
		return 0;
	if (codec == HB_CODEC_LZ4)
	{
		int			n;

		if (cap > LZ4_MAX_INPUT_SIZE)
			cap = LZ4_MAX_INPUT_SIZE;
		n = LZ4_compress_fast_extState(&lz4_state, (const char *) src, (char *) dst,
									   (int) len, (int) cap, 1);
		return n > 0 ? (size_t) n : 0;
	}
	if (codec == HB_CODEC_ZSTD)
		return zstd_compress(level, src, len, dst, cap);
	return 0;
}

bool
hb_lz_decompress(int codec, const uint8_t *src, size_t len,
				 uint8_t *dst, size_t dst_len)
{
	if (len > HB_LZ_MAX_INPUT || dst_len > HB_LZ_MAX_INPUT)
		return false;
	if (codec == HB_CODEC_LZ4)
		return LZ4_decompress_safe((const char *) src, (char *) dst,
								   (int) len, (int) dst_len) == (int) dst_len;
	if (codec == HB_CODEC_ZSTD)
	{
		size_t		n;

		if (zstd_dctx == NULL)
		{
			zstd_dctx = ZSTD_initStaticDCtx(zstd_dctx_space, sizeof(zstd_dctx_space));
			if (zstd_dctx == NULL)
				zstd_dctx = ZSTD_createDCtx();
			if (zstd_dctx == NULL)
				return false;
			ZSTD_DCtx_setParameter(zstd_dctx, ZSTD_d_format, ZSTD_f_zstd1_magicless);
		}
		n = ZSTD_decompressDCtx(zstd_dctx, dst, dst_len, src, len);
		return !ZSTD_isError(n) && n == dst_len;
	}
	return false;
}
