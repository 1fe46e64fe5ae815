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

#define HB_MALLOC {hb_malloc_alloc, hb_malloc_realloc, hb_malloc_free, NULL, NULL}

/* The same, counting what is held and the most that ever was. */
typedef struct HbCounted
{
	HbMem		mem;			/* allocate from here */
	size_t		held;
	size_t		peak;
} HbCounted;

#define HB_COUNTED_HEAD 16

static inline void
hb_counted_add(HbCounted *c, size_t size)
{
	c->held += size;
	if (c->held > c->peak)
		c->peak = c->held;
}

static inline void *
hb_counted_alloc(void *arg, size_t size)
{
	uint8_t    *p = hb_malloc_alloc(NULL, size + HB_COUNTED_HEAD);

	memcpy(p, &size, sizeof(size));
	hb_counted_add(arg, size);
	return p + HB_COUNTED_HEAD;
}

static inline void
hb_counted_free(void *arg, void *ptr)
{
	HbCounted  *c = arg;
	uint8_t    *p = (uint8_t *) ptr - HB_COUNTED_HEAD;
	size_t		size;

	memcpy(&size, p, sizeof(size));
	c->held -= size;
	free(p);
}

/* Old and new are held together, as a realloc that moves holds them. */
static inline void *
hb_counted_realloc(void *arg, void *ptr, size_t size)
{
	void	   *p = hb_counted_alloc(arg, size);
	size_t		old;

	memcpy(&old, (uint8_t *) ptr - HB_COUNTED_HEAD, sizeof(old));
	memcpy(p, ptr, old < size ? old : size);
	hb_counted_free(arg, ptr);
	return p;
}

static inline void
hb_counted_init(HbCounted *c)
{
	c->mem.alloc = hb_counted_alloc;
	c->mem.realloc = hb_counted_realloc;
	c->mem.free = hb_counted_free;
	c->mem.arg = c;
	c->mem.check = NULL;
	c->held = c->peak = 0;
}

#endif							/* HB_MALLOC_H */
