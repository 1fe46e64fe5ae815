/*
 * hb_builder_table.c
 *		Arenas, and tables of distinct values with provisional codes.
 *
 * A table is open addressing with linear probing, at most half full; a slot
 * keeps 32 bits of the hash so that a value is compared once.
 */
#include "chunk/hb_builder_int.h"
#include "codec/hb_hash.h"

#define ARENA_FIRST		(4 * 1024)
#define ARENA_LARGEST	(1024 * 1024)
#define TAB_FIRST		64

void
hb_arena_init(HbArena *arena, HbMem *mem)
{
	arena->mem = mem;
	arena->blocks = NULL;
	arena->p = NULL;
	arena->left = 0;
	arena->block_size = ARENA_FIRST;
}

/* Copies len bytes; the result is never NULL, also for none. */
uint8_t *
hb_arena_put(HbArena *arena, const void *data, size_t len)
{
	uint8_t    *p;

	if (arena->left < len || arena->p == NULL)
	{
		HbArenaBlock *block;
		size_t		size = arena->block_size;

		if (len >= size / 4)
		{
			/* a block of its own, so that the open one is not wasted */
			block = hb_alloc(arena->mem, sizeof(HbArenaBlock) + len + 1);
			block->next = arena->blocks;
			arena->blocks = block;
			p = (uint8_t *) (block + 1);
			if (len > 0)
				memcpy(p, data, len);
			if (arena->block_size < ARENA_LARGEST)
				arena->block_size *= 2;
			return p;
		}
		block = hb_alloc(arena->mem, sizeof(HbArenaBlock) + size);
		block->next = arena->blocks;
		arena->blocks = block;
		arena->p = (uint8_t *) (block + 1);
		arena->left = size;
		if (arena->block_size < ARENA_LARGEST)
			arena->block_size *= 2;
	}
	p = arena->p;
	if (len > 0)
		memcpy(p, data, len);
	arena->p += len;
	arena->left -= len;
	return p;
}

void
hb_arena_free(HbArena *arena)
{
	while (arena->blocks != NULL)
	{
		HbArenaBlock *block = arena->blocks;

		arena->blocks = block->next;
		hb_free(arena->mem, block);
	}
	arena->p = NULL;
	arena->left = 0;
	arena->block_size = ARENA_FIRST;
}

HbTab *
hb_tab_create(HbMem *mem, uint8_t domain, bool stripped)
{
	HbTab	   *tab = hb_alloc0(mem, sizeof(HbTab));

	tab->mem = mem;
	tab->domain = domain;
	tab->stripped = stripped;
	hb_arena_init(&tab->arena, mem);
	tab->cap = TAB_FIRST;
	tab->entries = hb_alloc(mem, sizeof(HbTabEntry) * tab->cap);
	memset(&tab->entries[0], 0, sizeof(HbTabEntry));
	tab->nslots = 2 * TAB_FIRST;
	tab->slots = hb_alloc0(mem, sizeof(uint64_t) * tab->nslots);
	return tab;
}

static void
tab_grow(HbTab *tab)
{
	uint32_t	mask;
	uint32_t	i;

	tab->cap *= 2;
	tab->entries = hb_realloc(tab->mem, tab->entries, sizeof(HbTabEntry) * tab->cap);
	hb_free(tab->mem, tab->slots);
	tab->nslots *= 2;
	tab->slots = hb_alloc0(tab->mem, sizeof(uint64_t) * tab->nslots);
	mask = tab->nslots - 1;
	for (i = 1; i <= tab->n; i++)
	{
		uint32_t	hash = tab->entries[i].hash;
		uint32_t	s = hash & mask;

		while (tab->slots[s] != 0)
			s = (s + 1) & mask;
		tab->slots[s] = ((uint64_t) hash << 32) | i;
	}
}

/* The provisional code of a value, which is copied when it is new. */
uint32_t
hb_tab_add(HbTab *tab, HbSlice value, bool *fresh)
{
	uint32_t	hash = (uint32_t) hb_hash64(value.data, value.len);
	uint32_t	mask = tab->nslots - 1;
	uint32_t	s = hash & mask;
	HbTabEntry *e;

	*fresh = false;
	while (tab->slots[s] != 0)
	{
		if ((uint32_t) (tab->slots[s] >> 32) == hash)
		{
			uint32_t	code = (uint32_t) tab->slots[s];

			e = &tab->entries[code];
			if (e->len == value.len &&
				(value.len == 0 || memcmp(e->data, value.data, value.len) == 0))
				return code;
		}
		s = (s + 1) & mask;
	}
	*fresh = true;
	if (tab->n + 1 >= tab->cap)
	{
		tab_grow(tab);
		mask = tab->nslots - 1;
		s = hash & mask;
		while (tab->slots[s] != 0)
			s = (s + 1) & mask;
	}
	tab->n++;
	e = &tab->entries[tab->n];
	e->data = hb_arena_put(&tab->arena, value.data, value.len);
	e->len = value.len;
	e->hash = hash;
	tab->slots[s] = ((uint64_t) hash << 32) | tab->n;
	return tab->n;
}

void
hb_tab_free(HbTab *tab)
{
	hb_arena_free(&tab->arena);
	hb_free(tab->mem, tab->entries);
	hb_free(tab->mem, tab->slots);
	hb_free(tab->mem, tab);
}
