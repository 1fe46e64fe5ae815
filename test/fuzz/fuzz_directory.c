/*
 * fuzz_directory.c
 *		Any bytes as a directory (built with HB_FUZZ, checksums pass).
 */
#include "hb_fuzz.h"
#include "chunk/hb_chunk.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	HbError		error;
	uint8_t    *buf = malloc(size + 1);
	HbReader   *r;

	memcpy(buf, data, size);
	r = hb_reader_open(&fuzz_mem, buf, size, 1, &error);
	free(buf);
	if (r != NULL)
	{
		int			col = hb_reader_column(r, 3);

		if (col >= 0)
			hb_reader_info(r, col);
		hb_reader_free(r);
	}
	return 0;
}
