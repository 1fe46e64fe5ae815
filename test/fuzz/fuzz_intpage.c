/*
 * fuzz_intpage.c
 *		Any bytes as a page of integers, with or without a codec.
 */
#include "hb_fuzz.h"
#include "codec/hb_intpage.h"
#include "codec/hb_lz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t		mode = (uint8_t) fuzz_take(&data, &size, 1);
	uint32_t	n = 1 + (uint32_t) fuzz_take(&data, &size, 2) % 1024;
	int			codec = (int) fuzz_take(&data, &size, 1) % 3;
	int64_t		min = (int64_t) fuzz_take(&data, &size, 8);
	int64_t		out[1024];
	uint32_t	out32[1024];
	uint32_t	i;
	size_t		len;
	uint8_t    *buf;

	if (!hb_intpage_mode_valid(mode))
		return 0;
	len = hb_intpage_size(mode, n);
	if (codec != HB_CODEC_NONE)
	{
		uint8_t    *src = fuzz_copy(data, size, size, 0);

		buf = calloc(1, len + 8);
		if (!hb_lz_decompress(codec, src, size, buf, len))
			memset(buf, 0x55, len);
		free(src);
	}
	else
		buf = fuzz_copy(data, size, len, 7);
	hb_intpage_decode(buf, n, min, mode, out);
	if (hb_intpage_decode32(buf, n, min, mode, 1000000, out32))
	{
		for (i = 0; i < n; i++)
		{
			if (out32[i] > 1000000 || (int64_t) out32[i] != out[i])
				abort();
		}
	}
	free(buf);
	return 0;
}
