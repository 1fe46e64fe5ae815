/*
 * hb_memory.c
 *		The allocator that the server gives to the plain C layers: palloc in
 *		one memory context, without palloc's limit of 1 GB, and a look for
 *		interrupts where they take long.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "store/hb_store_int.h"
#include "utils/memutils.h"

static void *
hb_mem_alloc(void *arg, size_t size)
{
	return MemoryContextAllocHuge((MemoryContext) arg, size);
}

static void *
hb_mem_realloc(void *arg, void *ptr, size_t size)
{
	if (ptr == NULL)
		return MemoryContextAllocHuge((MemoryContext) arg, size);
	return repalloc_huge(ptr, size);
}

static void
hb_mem_free(void *arg, void *ptr)
{
	pfree(ptr);
}

static void
hb_mem_check(void)
{
	CHECK_FOR_INTERRUPTS();
}

void
hb_mem_init(HbMem *mem, MemoryContext cxt)
{
	mem->alloc = hb_mem_alloc;
	mem->realloc = hb_mem_realloc;
	mem->free = hb_mem_free;
	mem->check = hb_mem_check;
	mem->arg = cxt;
}
