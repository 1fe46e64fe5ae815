/*
 * fuzz_subblock.c
 *		Any bytes as a sub-block, under a codec or not, trimmed or not.
 */
#include "hb_fuzz.h"
#include "codec/hb_lz.h"
#include "codec/hb_subblock.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int			codec = (int) fuzz_take(&data, &size, 1) % 3;
	uint32_t	n = (uint32_t) fuzz_take(&data, &size, 1) % 64;
	size_t		packed_len = fuzz_take(&data, &size, 2);
	uint32_t	lens[64];
	size_t		total = 0;
	uint8_t    *src;
	uint8_t    *raw;
	uint32_t	i;

	for (i = 0; i < n; i++)
	{
		lens[i] = (uint32_t) fuzz_take(&data, &size, 1) * (i % 2 ? 1 : 32);
		total += lens[i];
	}
	src = malloc(size + 1);
	memcpy(src, data, size);
	raw = malloc(total + 1);
	if (codec == HB_CODEC_NONE)
		hb_subblock_untrim(src, size, lens, n, raw, total);
	else
	{
		uint8_t    *packed = malloc(packed_len + 1);

		if (hb_lz_decompress(codec, src, size, packed, packed_len))
			hb_subblock_untrim(packed, packed_len, lens, n, raw, total);
		hb_lz_decompress(codec, src, size, raw, total);
		free(packed);
	}
	free(raw);
	free(src);
	return 0;
}
