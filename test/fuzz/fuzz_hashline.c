/*
 * fuzz_hashline.c
 *		Any 64 bytes as a line of a hash index, and as a filter block.
 */
#include "hb_fuzz.h"
#include "codec/hb_filter.h"
#include "codec/hb_hashindex.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int			rowbits = 1 + (int) fuzz_take(&data, &size, 1) % 24;
	uint64_t	hash = fuzz_take(&data, &size, 8);
	uint8_t    *line = fuzz_copy(data, size, HB_HASHLINE, 0);
	uint32_t   *rows = malloc(sizeof(uint32_t) * HB_HASHLINE_MAX);
	bool		more;
	int			n = hb_hashindex_match(line, rowbits, hash, rows, &more);

	while (n-- > 0)
	{
		if (rows[n] >> rowbits)
			abort();
	}
	hb_filter_test(line, hash);
	free(rows);
	free(line);
	return 0;
}
