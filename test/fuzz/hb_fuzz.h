/*
 * hb_fuzz.h
 *		What the fuzz targets share: memory with a bound, and input by bits.
 */
#ifndef HB_FUZZ_INPUT_H
#define HB_FUZZ_INPUT_H

#include <stdlib.h>

#include "codec/hb_mem.h"
#include "../hb_malloc.h"

extern int	LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static HbMem fuzz_mem = HB_MALLOC;

/* Takes bytes from the front of the input; zeros when there are none left. */
static inline uint64_t
fuzz_take(const uint8_t **data, size_t *size, int n)
{
	uint64_t	v = 0;

	while (n-- > 0 && *size > 0)
	{
		v = (v << 8) | *(*data)++;
		(*size)--;
	}
	return v;
}

/* A copy of exactly len bytes and slack more, so that the sanitizer sees. */
static inline uint8_t *
fuzz_copy(const uint8_t *data, size_t size, size_t len, size_t slack)
{
	uint8_t    *p = calloc(1, len + slack + 1);

	memcpy(p, data, size < len ? size : len);
	return p;
}

#endif							/* HB_FUZZ_INPUT_H */
