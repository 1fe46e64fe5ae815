/*
 * hb_account.c
 *		Counting allocator: a head of 16 bytes before each allocation keeps
 *		its size.
 */
#include "chunk/hb_account.h"

#define HEAD 16

static void *
account_alloc(void *arg, size_t size)
{
	HbAccount  *a = arg;
	uint8_t    *p = hb_alloc(&a->parent, size + HEAD);

	memcpy(p, &size, sizeof(size));
	a->used += size + HEAD;
	return p + HEAD;
}

static void *
account_realloc(void *arg, void *ptr, size_t size)
{
	HbAccount  *a = arg;
	uint8_t    *p = (uint8_t *) ptr - HEAD;
	size_t		old;

	memcpy(&old, p, sizeof(old));
	p = hb_realloc(&a->parent, p, size + HEAD);
	memcpy(p, &size, sizeof(size));
	a->used += size - old;
	return p + HEAD;
}

static void
account_free(void *arg, void *ptr)
{
	HbAccount  *a = arg;
	uint8_t    *p = (uint8_t *) ptr - HEAD;
	size_t		old;

	memcpy(&old, p, sizeof(old));
	a->used -= old + HEAD;
	hb_free(&a->parent, p);
}

void
hb_account_init(HbAccount *account, const HbMem *parent)
{
	account->parent = *parent;
	account->used = 0;
	account->mem.alloc = account_alloc;
	account->mem.realloc = account_realloc;
	account->mem.free = account_free;
	account->mem.check = parent->check;
	account->mem.arg = account;
}
