/*
 * hb_mem.h
 *		What every plain C layer of hotblocks shares: memory from an allocator
 *		that the caller gives, errors as values, little-endian access.
 *
 * Nothing here knows PostgreSQL.  The server passes an allocator that calls
 * palloc in a memory context (which may longjmp out of memory: plain C code
 * must therefore hold nothing outside the allocator across an allocation);
 * unit tests pass malloc, or a counting allocator.
 */
#ifndef HB_MEM_H
#define HB_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* After a function's declaration: it does not return. */
#define HB_NORETURN __attribute__((noreturn))

/*
 * An allocator.  alloc never returns NULL (it does not return at all when
 * memory is exhausted).  free takes what alloc or realloc returned; memory
 * that is not freed goes with the owner of the allocator (a memory context).
 * check, which may be NULL, is called now and then by what takes long, and does
 * not return when the work is no longer wanted.
 */
typedef struct HbMem
{
	void	   *(*alloc) (void *arg, size_t size);
	void	   *(*realloc) (void *arg, void *ptr, size_t size);
	void		(*free) (void *arg, void *ptr);
	void	   *arg;
	void		(*check) (void);
} HbMem;

static inline void *
hb_alloc(HbMem *mem, size_t size)
{
	return mem->alloc(mem->arg, size);
}

static inline void *
hb_alloc0(HbMem *mem, size_t size)
{
	void	   *ptr = mem->alloc(mem->arg, size);

	memset(ptr, 0, size);
	return ptr;
}

static inline void *
hb_realloc(HbMem *mem, void *ptr, size_t size)
{
	return mem->realloc(mem->arg, ptr, size);
}

static inline void
hb_free(HbMem *mem, void *ptr)
{
	if (ptr != NULL)
		mem->free(mem->arg, ptr);
}

static inline void
hb_check(const HbMem *mem)
{
	if (mem->check != NULL)
		mem->check();
}

/* A byte string that somebody else owns. */
typedef struct HbSlice
{
	const uint8_t *data;
	uint32_t	len;
} HbSlice;

/* memcmp, shorter first on a tie. */
static inline int
hb_slice_cmp(HbSlice a, HbSlice b)
{
	uint32_t	n = a.len < b.len ? a.len : b.len;
	int			c = n > 0 ? memcmp(a.data, b.data, n) : 0;

	return c != 0 ? c : (a.len > b.len) - (a.len < b.len);
}

typedef enum HbErrorCode
{
	HB_OK = 0,
	HB_ERR_CORRUPT,				/* the bytes are not what was written */
	HB_ERR_VERSION,				/* a format version this library cannot read */
	HB_ERR_LIMIT				/* a documented limit is exceeded */
} HbErrorCode;

/*
 * What went wrong and where.  column is the stored column's number, page the
 * page (or sub-block, slice, line) within the part; -1 where it does not
 * apply.  part is a static string such as "dictionary slice".
 */
typedef struct HbError
{
	HbErrorCode code;
	const char *part;
	int32_t		column;
	int64_t		page;
	char		detail[160];
} HbError;

/* Explicit little-endian loads and stores; alignment is not required. */
static inline void
hb_put16(uint8_t *p, uint16_t v)
{
	p[0] = (uint8_t) v;
	p[1] = (uint8_t) (v >> 8);
}

static inline void
hb_put32(uint8_t *p, uint32_t v)
{
	hb_put16(p, (uint16_t) v);
	hb_put16(p + 2, (uint16_t) (v >> 16));
}

static inline void
hb_put64(uint8_t *p, uint64_t v)
{
	hb_put32(p, (uint32_t) v);
	hb_put32(p + 4, (uint32_t) (v >> 32));
}

static inline uint16_t
hb_get16(const uint8_t *p)
{
	return (uint16_t) (p[0] | (p[1] << 8));
}

static inline uint32_t
hb_get32(const uint8_t *p)
{
	return (uint32_t) hb_get16(p) | ((uint32_t) hb_get16(p + 2) << 16);
}

static inline uint64_t
hb_get64(const uint8_t *p)
{
	return (uint64_t) hb_get32(p) | ((uint64_t) hb_get32(p + 4) << 32);
}

#endif							/* HB_MEM_H */
