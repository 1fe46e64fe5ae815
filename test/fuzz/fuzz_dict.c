/*
 * fuzz_dict.c
 *		Any bytes as a slice of a dictionary.
 */
#include "hb_fuzz.h"
#include "codec/hb_dict.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint32_t	n = (uint32_t) fuzz_take(&data, &size, 1) % 65;
	int			form = (int) fuzz_take(&data, &size, 1) % 3;
	uint32_t	width = form == 0 ? 1 + (uint32_t) fuzz_take(&data, &size, 1) % 64 :
		form == 1 ? (uint32_t) fuzz_take(&data, &size, 2) % 4097 : 0;
	uint8_t    *buf = malloc(size + 1);
	HbDictSlice s;

	memcpy(buf, data, size);
	if (hb_dict_slice_get(&fuzz_mem, buf, size, n, form == 0, width, &s))
	{
		uint32_t	i;
		uint32_t	sum = 0;

		for (i = 0; i < s.n; i++)
		{
			HbSlice		v = hb_dict_slice_entry(&s, i);
			uint32_t	k;

			for (k = 0; k < v.len; k++)
				sum += v.data[k];
			sum += hb_dict_slice_lower(&s, v);
		}
		if (sum == 0x12345678)
			abort();
		free(s.off != NULL ? (void *) s.off : (void *) s.data);
	}
	free(buf);
	return 0;
}
