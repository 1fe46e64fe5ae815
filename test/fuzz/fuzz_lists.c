/*
 * fuzz_lists.c
 *		Any bytes as a slice of page lists.
 */
#include "hb_fuzz.h"
#include "codec/hb_lists.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint32_t	nslots = (uint32_t) fuzz_take(&data, &size, 1) % 65;
	uint32_t	npages = 2 + (uint32_t) fuzz_take(&data, &size, 1) % (HB_LISTS_MAX_PAGES - 1);
	uint8_t    *buf = malloc(size + 1);
	uint32_t	slot;

	memcpy(buf, data, size);
	for (slot = 0; slot < nslots; slot++)
	{
		uint64_t   *pages = calloc((npages + 63) / 64, sizeof(uint64_t));

		if (hb_lists_get(buf, size, nslots, slot, npages, pages) && npages % 64 != 0 &&
			(pages[npages / 64] >> (npages % 64)) != 0)
			abort();
		free(pages);
	}
	free(buf);
	return 0;
}
