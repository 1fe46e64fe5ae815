/*
 * hb_malloc.h
 *		The allocator of unit tests and fuzz targets: malloc, or the end.
 */
#ifndef HB_MALLOC_H
#define HB_MALLOC_H

#include <stdlib.h>

#include "codec/hb_mem.h"

static inline void *
hb_malloc_alloc(void *arg, size_t size)
{
	void	   *p = malloc(size > 0 ? size : 1);

	(void) arg;
	if (p == NULL)
		abort();
	return p;
}

static inline void *
hb_malloc_realloc(void *arg, void *ptr, size_t size)
{
	void	   *p = realloc(ptr, size > 0 ? size : 1);

	(void) arg;
	if (p == NULL)
		abort();
	return p;
}

static inline void
hb_malloc_free(void *arg, void *ptr)
{
	(void) arg;
	free(ptr);
}

#define HB_MALLOC {hb_malloc_alloc, hb_malloc_realloc, hb_malloc_free, NULL}

#endif							/* HB_MALLOC_H */
