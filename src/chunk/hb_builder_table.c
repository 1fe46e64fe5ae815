/*
 * hb_builder_table.c
 *		Tables of distinct values with provisional codes.
 *
 * A table is open addressing with linear probing, at most half full; a slot
 * keeps 16 bits of the hash so that few values are compared in vain.
 */
#include "chunk/hb_builder_int.h"
#include "codec/hb_hash.h"

#define TAB_FIRST		64

/* Entries are allocated in multiples of four bytes, which keeps them aligned. */
static HbTabEntry *
entry_new(HbTab *tab, uint32_t hash, HbSlice value)
{
	uint32_t	pad = tab->width > 0 ? tab->width - value.len : 0;
	size_t		size = (sizeof(HbTabEntry) + pad + value.len + 3) & ~(size_t) 3;
	HbTabEntry *e = (HbTabEntry *) hb_arena_room(&tab->arena, size);

	e->hash = hash;
	e->code = tab->n;
	e->len = value.len;
	memset(e->data, 0, pad);
	if (value.len > 0)
		memcpy(e->data + pad, value.data, value.len);
	return e;
}

static inline uint64_t
slot_make(const HbTabEntry *e)
{
	return ((uint64_t) (e->hash >> 16) << 48) | ((uint64_t) (uintptr_t) e & HB_TAB_POINTER);
}

HbTab *
hb_tab_create(HbMem *mem, uint8_t domain, uint16_t width)
{
	HbTab	   *tab = hb_alloc0(mem, sizeof(HbTab));

	tab->mem = mem;
	tab->domain = domain;
	tab->stripped = width > 0;
	tab->width = width;
	hb_arena_init(&tab->arena, mem);
	tab->cap = TAB_FIRST;
	tab->entries = hb_alloc(mem, sizeof(HbTabEntry *) * tab->cap);
	tab->entries[0] = NULL;
	tab->nslots = 2 * TAB_FIRST;
	tab->slots = hb_alloc0(mem, sizeof(uint64_t) * tab->nslots);
	return tab;
}

static void
slot_insert(HbTab *tab, const HbTabEntry *e)
{
	uint32_t	mask = tab->nslots - 1;
	uint32_t	s = e->hash & mask;

	while (tab->slots[s] != 0)
		s = (s + 1) & mask;
	tab->slots[s] = slot_make(e);
}

static void
fill_slots(HbTab *tab)
{
	uint32_t	i;

	tab->slots = hb_alloc0(tab->mem, sizeof(uint64_t) * tab->nslots);
	for (i = 1; i <= tab->n; i++)
		slot_insert(tab, tab->entries[i]);
}

static void
tab_grow(HbTab *tab)
{
	tab->cap *= 2;
	hb_free(tab->mem, tab->slots);
	tab->slots = NULL;
	tab->entries = hb_realloc(tab->mem, tab->entries, sizeof(HbTabEntry *) * tab->cap);
	tab->nslots *= 2;
	fill_slots(tab);
}

void
hb_tab_close(HbTab *tab)
{
	hb_free(tab->mem, tab->slots);
	tab->slots = NULL;
}

void
hb_tab_open(HbTab *tab)
{
	if (tab->slots == NULL)
		fill_slots(tab);
}

/* The provisional code of a value, which is copied when it is new. */
uint32_t
hb_tab_put(HbTab *tab, uint32_t hash, HbSlice value, bool *fresh)
{
	uint32_t	mask = tab->nslots - 1;
	uint32_t	s = hash & mask;
	HbTabEntry *e;

	*fresh = false;
	for (; tab->slots[s] != 0; s = (s + 1) & mask)
	{
		if ((tab->slots[s] >> 48) != hash >> 16)
			continue;
		e = (HbTabEntry *) (uintptr_t) (tab->slots[s] & HB_TAB_POINTER);
		if (e->hash == hash && e->len == value.len &&
			(value.len == 0 || memcmp(hb_tab_value(tab, e).data, value.data, value.len) == 0))
			return e->code;
	}
	*fresh = true;
	if (tab->n + 1 >= tab->cap)
		tab_grow(tab);
	tab->n++;
	e = entry_new(tab, hash, value);
	tab->entries[tab->n] = e;
	slot_insert(tab, e);
	return tab->n;
}

uint32_t
hb_tab_add(HbTab *tab, HbSlice value, bool *fresh)
{
	return hb_tab_put(tab, (uint32_t) hb_hash64(value.data, value.len), value, fresh);
}

void
hb_tab_free(HbTab *tab)
{
	hb_arena_free(&tab->arena);
	hb_free(tab->mem, tab->entries);
	hb_free(tab->mem, tab->slots);
	hb_free(tab->mem, tab);
}
