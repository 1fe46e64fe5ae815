/*
 * fuzz_unary.c
 *		Any bytes as a unary page.
 */
#include "hb_fuzz.h"
#include "codec/hb_unary.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint32_t	n = 1 + (uint32_t) fuzz_take(&data, &size, 2) % 1024;
	uint64_t	starts[16];
	int64_t		out[1024];
	uint8_t    *buf;
	int			i;

	for (i = 0; i < 16; i++)
		starts[i] = fuzz_take(&data, &size, 8) & fuzz_take(&data, &size, 8);
	buf = malloc(size + 1);
	memcpy(buf, data, size);
	hb_unary_decode(buf, size, n, starts, out);
	free(buf);
	return 0;
}
