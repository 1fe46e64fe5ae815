/*
 * hb_builder.c
 *		Adding rows to a chunk that is being built, and reading them back.
 *
 * See hb_builder_int.h for how rows are held.  All memory is counted, so that
 * hb_builder_bytes tells the truth.
 */
#include "chunk/hb_builder_int.h"
#include "codec/hb_dict.h"
#include "codec/hb_hash.h"

#define ROWS_FIRST		64
#define NUM_ROOM		9		/* bytes of an int64 in "num" form */
#define CHECK_FIRST		8192	/* values after which a column may turn plain */

HbBuilder *
hb_builder_create(HbMem *mem, const HbColumnSpec *cols, int ncols,
				  const HbBuilderOptions *options)
{
	HbBuilder  *b = hb_alloc0(mem, sizeof(HbBuilder));
	int			i;

	hb_account_init(&b->account, mem);
	b->mem = &b->account.mem;
	b->outer = *mem;
	b->options = *options;
	b->ncols = ncols;
	b->sorted = true;
	b->cols = hb_alloc0(b->mem, sizeof(HbBCol) * (size_t) (ncols > 0 ? ncols : 1));
	b->pending = hb_alloc(b->mem, sizeof(HbPending) * HB_PENDING);
	for (i = 0; i < options->nsort; i++)
		b->sort_bytes = b->sort_bytes || cols[options->sort_cols[i]].phys != HB_PHYS_INT;
	hb_buf_init(&b->dir, b->mem);
	for (i = 0; i < ncols; i++)
	{
		HbBCol	   *c = &b->cols[i];

		c->spec = cols[i];
		hb_arena_init(&c->arena, b->mem);
		c->check_at = CHECK_FIRST;
		if (cols[i].phys != HB_PHYS_BYTES)
			c->hold = HB_HOLD_INT;
		else
		{
			c->hold = cols[i].hash_index ? HB_HOLD_PLAIN : HB_HOLD_CODES;
			if (cols[i].width > 0 && cols[i].width <= HB_DICT_MAX_STRIP)
				c->strips = true;
		}
	}
	return b;
}

/* The table for a column: the domain's, or its own. */
static HbTab *
tab_for(HbBuilder *b, const HbBCol *c)
{
	HbTab	   *tab;
	uint16_t	width = c->strips ? c->spec.width : 0;

	if (c->spec.domain != 0)
	{
		int			i;

		for (tab = b->tabs; tab != NULL; tab = tab->next)
		{
			if (tab->domain == c->spec.domain && tab->stripped == c->strips)
				return tab;
		}
		for (i = 0; i < b->ncols && c->strips; i++)
		{
			const HbBCol *o = &b->cols[i];

			if (o->strips && o->spec.domain == c->spec.domain && o->spec.width > width)
				width = o->spec.width;
		}
	}
	tab = hb_tab_create(b->mem, c->spec.domain, width);
	tab->next = b->tabs;
	b->tabs = tab;
	return tab;
}

/* (Re)allocates the arrays of the way the column is held for b->cap rows. */
static void
col_room(HbBuilder *b, HbBCol *c, uint32_t old_cap)
{
	size_t		n = b->cap;

	/* what was read back is valid until now */
	hb_free(b->mem, c->nums);
	c->nums = NULL;
	switch (c->hold)
	{
		case HB_HOLD_INT:
			c->ints = c->ints == NULL ? hb_alloc(b->mem, n * sizeof(int64_t)) :
				hb_realloc(b->mem, c->ints, n * sizeof(int64_t));
			if (c->nulls != NULL)
			{
				c->nulls = hb_realloc(b->mem, c->nulls, n / 8);
				if (n > old_cap)
					memset((uint8_t *) c->nulls + old_cap / 8, 0,
						   (n - old_cap) / 8);
			}
			break;
		case HB_HOLD_CODES:
			c->codes = c->codes == NULL ? hb_alloc(b->mem, n * sizeof(uint32_t)) :
				hb_realloc(b->mem, c->codes, n * sizeof(uint32_t));
			if (c->tab == NULL)
				c->tab = tab_for(b, c);
			break;
		case HB_HOLD_PLAIN:
			c->ptrs = c->ptrs == NULL ? hb_alloc(b->mem, n * sizeof(uint8_t *)) :
				hb_realloc(b->mem, c->ptrs, n * sizeof(uint8_t *));
			c->lens = c->lens == NULL ? hb_alloc(b->mem, n * sizeof(uint32_t)) :
				hb_realloc(b->mem, c->lens, n * sizeof(uint32_t));
			break;
	}
}

void
hb_bcol_pad(HbBuilder *b, HbBCol *c, uint32_t n)
{
	if (c->n >= n)
		return;
	switch (c->hold)
	{
		case HB_HOLD_INT:
			if (c->nulls == NULL)
				c->nulls = hb_alloc0(b->mem, b->cap / 8);
			for (; c->n < n; c->n++)
			{
				c->ints[c->n] = 0;
				c->nulls[c->n / 64] |= UINT64_C(1) << (c->n % 64);
			}
			break;
		case HB_HOLD_CODES:
			memset(c->codes + c->n, 0, sizeof(uint32_t) * (n - c->n));
			c->n = n;
			break;
		case HB_HOLD_PLAIN:
			for (; c->n < n; c->n++)
			{
				c->ptrs[c->n] = NULL;
				c->lens[c->n] = 0;
			}
			break;
	}
}

void
hb_builder_begin_row(HbBuilder *b)
{
	if (b->nrows == b->cap)
	{
		uint32_t	old = b->cap;
		int			i;

		/* each doubling rounds to words of the null bitmaps */
		b->cap = old == 0 ? ROWS_FIRST : old * 2;
		for (i = 0; i < b->ncols; i++)
			col_room(b, &b->cols[i], old);
	}
}

void
hb_builder_add_int(HbBuilder *b, int col, int64_t value)
{
	HbBCol	   *c = &b->cols[col];

	if (c->n != b->nrows)
		hb_bcol_pad(b, c, b->nrows);
	if (c->hold == HB_HOLD_INT)
		c->ints[c->n++] = value;
	else
	{
		uint8_t		num[9];

		hb_builder_add_bytes(b, col, num, hb_num_put(value, num));
	}
}

uint32_t
hb_num_put(int64_t value, uint8_t *dst)
{
	uint64_t	v = (uint64_t) value;
	uint32_t	n = hb_bytes_for(v);
	uint32_t	i;

	dst[0] = (uint8_t) n;
	for (i = 0; i < n; i++)
		dst[1 + i] = (uint8_t) (v >> (8 * (n - 1 - i)));
	return n + 1;
}

/* The integer of a "num" form below 2^63; false for any other. */
static bool
num_get(const uint8_t *p, uint32_t len, int64_t *value)
{
	uint64_t	v = 0;
	uint32_t	i;

	if (len == 0 || p[0] > 8 || len != (uint32_t) p[0] + 1 || (len > 1 && p[1] == 0))
		return false;
	for (i = 1; i < len; i++)
		v = (v << 8) | p[i];
	if (v > INT64_MAX)
		return false;
	*value = (int64_t) v;
	return true;
}

/*
 * A column of numbers has met one that is no int64, or a column of width has
 * met another length: hold what was added so far in another way.
 */
static void
num_to_codes(HbBuilder *b, HbBCol *c)
{
	uint32_t	n = c->n;
	uint32_t	i;

	c->hold = HB_HOLD_CODES;
	col_room(b, c, 0);
	for (i = 0; i < n; i++)
	{
		uint8_t		num[9];
		HbSlice		v;
		bool		fresh;

		c->codes[i] = 0;
		if (c->nulls != NULL && ((c->nulls[i / 64] >> (i % 64)) & 1))
			continue;
		v.data = num;
		v.len = hb_num_put(c->ints[i], num);
		c->codes[i] = hb_tab_add(c->tab, v, &fresh);
		c->adds++;
		c->news += fresh;
	}
	hb_free(b->mem, c->ints);
	hb_free(b->mem, c->nulls);
	c->ints = NULL;
	c->nulls = NULL;
}

static void
leave_strip(HbBuilder *b, HbBCol *c)
{
	HbTab	   *old;
	uint32_t	i;

	hb_builder_flush(b);
	old = c->tab;
	/* from now on values are held as they are */
	c->strips = false;
	if (c->hold == HB_HOLD_CODES)
	{
		uint32_t	width = c->spec.width;

		c->tab = tab_for(b, c);
		for (i = 0; i < c->n; i++)
		{
			HbSlice		v;
			bool		fresh;

			if (c->codes[i] == 0)
				continue;
			v.data = old->entries[c->codes[i]]->data + old->width - width;
			v.len = width;
			c->codes[i] = hb_tab_add(c->tab, v, &fresh);
		}
	}
}

/* A code's value in the column's own form; false for NULL. */
static inline bool
code_value(const HbBCol *c, uint32_t code, HbSlice *value)
{
	const HbTabEntry *e;

	if (code == 0)
		return false;
	e = c->tab->entries[code];
	if (c->strips)
	{
		value->data = e->data + c->tab->width - c->spec.width;
		value->len = c->spec.width;
	}
	else
	{
		value->data = e->data;
		value->len = e->len;
	}
	return true;
}

void
hb_bcol_to_plain(HbBuilder *b, HbBCol *c)
{
	uint32_t	n = c->n;
	uint32_t	i;

	c->hold = HB_HOLD_PLAIN;
	col_room(b, c, 0);
	for (i = 0; i < n; i++)
	{
		HbSlice		v = {NULL, 0};

		if (code_value(c, c->codes[i], &v))
			v.data = hb_arena_put(&c->arena, v.data, v.len);
		c->ptrs[i] = v.data;
		c->lens[i] = v.len;
	}
	hb_free(b->mem, c->codes);
	c->codes = NULL;
	if (c->tab->domain == 0)
	{
		/* nobody else's: free it */
		HbTab	  **link = &b->tabs;

		while (*link != c->tab)
			link = &(*link)->next;
		*link = c->tab->next;
		hb_tab_free(c->tab);
	}
	c->tab = NULL;
}

void
hb_bcol_to_codes(HbBuilder *b, HbBCol *c)
{
	uint32_t	i;

	c->hold = HB_HOLD_CODES;
	col_room(b, c, 0);
	for (i = 0; i < c->n; i++)
	{
		HbSlice		v;
		bool		fresh;

		c->codes[i] = 0;
		if (c->ptrs[i] == NULL)
			continue;
		v.data = c->ptrs[i];
		v.len = c->lens[i];
		if (c->strips)
			v = hb_dict_strip(v);
		c->codes[i] = hb_tab_add(c->tab, v, &fresh);
	}
	hb_arena_free(&c->arena);
	hb_free(b->mem, c->ptrs);
	hb_free(b->mem, c->lens);
	c->ptrs = NULL;
	c->lens = NULL;
	c->check_at = UINT32_MAX;
}

/*
 * Once in a while: should the column be held as plain values?  The share of
 * new ones falls as rows come, so be sure early on.
 */
static void
col_check(HbBuilder *b, HbBCol *c)
{
	uint32_t	most = c->adds / 100 * (c->adds < 4 * CHECK_FIRST ? 92 : 84);

	if (c->hold != HB_HOLD_CODES || c->adds < c->check_at)
		return;
	if (c->news > most)
		hb_bcol_to_plain(b, c);
	else
		c->check_at = c->adds * 2;
}

void
hb_builder_flush(HbBuilder *b)
{
	uint32_t	n = b->npending;
	uint32_t	i;
	int			k;

	if (n == 0)
		return;
	for (i = 0; i < n; i++)
	{
		const HbPending *p = &b->pending[i];
		const HbTab *tab = p->col->tab;
		uint64_t	slot = tab->slots[p->hash & (tab->nslots - 1)];

		if (slot != 0)
			__builtin_prefetch((const void *) (uintptr_t) (slot & HB_TAB_POINTER));
	}
	for (i = 0; i < n; i++)
	{
		const HbPending *p = &b->pending[i];
		HbBCol	   *c = p->col;
		HbSlice		v = {p->data, p->len};
		bool		fresh;

		c->codes[p->row] = hb_tab_put(c->tab, p->hash, v, &fresh);
		c->adds++;
		c->news += fresh;
	}
	b->npending = 0;
	for (k = 0; k < b->ncols; k++)
		col_check(b, &b->cols[k]);
}

void
hb_builder_add_bytes(HbBuilder *b, int col, const void *data, uint32_t len)
{
	HbBCol	   *c = &b->cols[col];
	HbSlice		v;

	if (c->n != b->nrows)
		hb_bcol_pad(b, c, b->nrows);
	if (c->hold == HB_HOLD_INT)
	{
		int64_t		value;

		if (num_get(data, len, &value))
		{
			c->ints[c->n++] = value;
			return;
		}
		num_to_codes(b, c);
	}
	if (c->strips && len != c->spec.width)
		leave_strip(b, c);
	if (c->hold == HB_HOLD_CODES && len > HB_DICT_MAX_VALUE)
	{
		hb_builder_flush(b);
		if (c->hold == HB_HOLD_CODES)
			hb_bcol_to_plain(b, c);
	}
	if (c->hold == HB_HOLD_PLAIN)
	{
		c->ptrs[c->n] = hb_arena_put(&c->arena, data, len);
		c->lens[c->n++] = len;
		return;
	}
	v.data = data;
	v.len = len;
	if (c->strips)
		v = hb_dict_strip(v);
	if (v.len <= HB_PENDING_LEN)
	{
		HbPending  *p = &b->pending[b->npending++];

		p->col = c;
		p->row = c->n++;
		p->hash = (uint32_t) hb_hash64(v.data, v.len);
		p->len = v.len;
		if (v.len > 0)
			memcpy(p->data, v.data, v.len);
		__builtin_prefetch(&c->tab->slots[p->hash & (c->tab->nslots - 1)]);
		if (b->npending == HB_PENDING)
			hb_builder_flush(b);
	}
	else
	{
		bool		fresh;

		c->codes[c->n++] = hb_tab_add(c->tab, v, &fresh);
		c->adds++;
		c->news += fresh;
		if (c->adds >= c->check_at)
		{
			hb_builder_flush(b);
			col_check(b, c);
		}
	}
}

void
hb_builder_end_row(HbBuilder *b)
{
	uint32_t	row = b->nrows++;

	if (b->sort_bytes && b->sorted)
		hb_builder_flush(b);
	if (row > 0 && b->sorted && b->options.nsort > 0)
		b->sorted = hb_builder_compare(b, row - 1, row) <= 0;
}

uint32_t
hb_builder_rows(const HbBuilder *b)
{
	return b->nrows;
}

size_t
hb_builder_bytes(const HbBuilder *b)
{
	return b->account.used + sizeof(HbBuilder);
}

bool
hb_bcol_bytes(const HbBCol *c, uint32_t row, HbSlice *value)
{
	if (row >= c->n)
		return false;
	if (c->hold == HB_HOLD_PLAIN)
	{
		value->data = c->ptrs[row];
		value->len = c->lens[row];
		return value->data != NULL;
	}
	return code_value(c, c->codes[row], value);
}

bool
hb_builder_get_int(const HbBuilder *b, int col, uint32_t row, int64_t *value)
{
	const HbBCol *c = &b->cols[col];

	if (c->hold != HB_HOLD_INT || hb_bcol_int_null(c, row))
		return false;
	*value = c->ints[row];
	return true;
}

bool
hb_builder_get_bytes(const HbBuilder *b, int col, uint32_t row, HbSlice *value)
{
	HbBCol	   *c = &b->cols[col];

	if (c->hold == HB_HOLD_INT)
	{
		/* a number that is held as an integer */
		if (hb_bcol_int_null(c, row))
			return false;
		if (c->nums == NULL)
			c->nums = hb_alloc(b->mem, (size_t) b->cap * NUM_ROOM);
		value->data = c->nums + (size_t) row * NUM_ROOM;
		value->len = hb_num_put(c->ints[row], c->nums + (size_t) row * NUM_ROOM);
		return true;
	}
	hb_builder_flush((HbBuilder *) b);
	return hb_bcol_bytes(c, row, value);
}

void
hb_builder_mark_derived(HbBuilder *b, int col, uint8_t code)
{
	b->cols[col].derived = code;
}

/* Moves n null bits from position from on to position 0. */
static void
shift_bits(uint64_t *bits, uint32_t from, uint32_t n, uint32_t cap)
{
	uint32_t	word = from / 64;
	uint32_t	s = from % 64;
	uint32_t	words = cap / 64;
	uint32_t	i;

	for (i = 0; i < words; i++)
	{
		uint64_t	v = 0;

		if (word + i < words)
			v = bits[word + i] >> s;
		if (s > 0 && word + i + 1 < words)
			v |= bits[word + i + 1] << (64 - s);
		bits[i] = v;
	}
	if (n % 64 != 0)
		bits[n / 64] &= (UINT64_C(1) << (n % 64)) - 1;
	for (i = (n + 63) / 64; i < words; i++)
		bits[i] = 0;
}

/*
 * Gives room back that the remaining rows do not need: who bounds the builder
 * by hb_builder_bytes would else find it full forever.
 */
static void
shrink(HbBuilder *b)
{
	uint32_t	old = b->cap;
	uint32_t	cap = ROWS_FIRST;
	int			i;

	while (cap < b->nrows)
		cap *= 2;
	if (cap >= old)
		return;
	b->cap = cap;
	for (i = 0; i < b->ncols; i++)
		col_room(b, &b->cols[i], old);
}

void
hb_builder_drop(HbBuilder *b, uint32_t nrows)
{
	uint32_t	keep = b->nrows - nrows;
	HbTab	   *old;
	int			i;

	if (nrows == 0)
		return;
	hb_builder_flush(b);
	old = b->tabs;
	b->tabs = NULL;
	for (i = 0; i < b->ncols; i++)
	{
		HbBCol	   *c = &b->cols[i];
		HbTab	   *old_tab = c->tab;
		uint32_t	r;

		c->derived = 0;
		c->adds = c->news = 0;
		c->check_at = CHECK_FIRST;
		if (c->hold == HB_HOLD_CODES || c->tab != NULL)
			c->tab = NULL;
		if (b->cap == 0)
			continue;
		hb_bcol_pad(b, c, b->nrows);
		if (c->hold == HB_HOLD_INT)
		{
			memmove(c->ints, c->ints + nrows, sizeof(int64_t) * keep);
			if (c->nulls != NULL)
				shift_bits(c->nulls, nrows, keep, b->cap);
		}
		else if (c->hold == HB_HOLD_CODES)
		{
			c->tab = tab_for(b, c);
			for (r = 0; r < keep; r++)
			{
				uint32_t	code = c->codes[nrows + r];
				HbSlice		v;
				bool		fresh = false;

				c->codes[r] = 0;
				if (code == 0)
					continue;
				v = hb_tab_value(old_tab, old_tab->entries[code]);
				c->codes[r] = hb_tab_add(c->tab, v, &fresh);
				c->adds++;
				c->news += fresh;
			}
			if (c->adds > c->check_at)
				c->check_at = 2 * c->adds;
		}
		else
		{
			HbArena		arena = c->arena;

			hb_arena_init(&c->arena, b->mem);
			for (r = 0; r < keep; r++)
			{
				c->lens[r] = c->lens[nrows + r];
				c->ptrs[r] = c->ptrs[nrows + r] == NULL ? NULL :
					hb_arena_put(&c->arena, c->ptrs[nrows + r], c->lens[r]);
			}
			hb_arena_free(&arena);
		}
		c->n = keep;
	}
	while (old != NULL)
	{
		HbTab	   *next = old->next;

		hb_tab_free(old);
		old = next;
	}
	b->nrows = keep;
	if (keep <= 1)
		b->sorted = true;
	shrink(b);
}

void
hb_builder_free(HbBuilder *b)
{
	HbMem		outer = b->outer;
	int			i;

	while (b->tabs != NULL)
	{
		HbTab	   *next = b->tabs->next;

		hb_tab_free(b->tabs);
		b->tabs = next;
	}
	for (i = 0; i < b->ncols; i++)
	{
		HbBCol	   *c = &b->cols[i];

		hb_free(b->mem, c->ints);
		hb_free(b->mem, c->nulls);
		hb_free(b->mem, c->codes);
		hb_free(b->mem, c->ptrs);
		hb_free(b->mem, c->lens);
		hb_free(b->mem, c->nums);
		hb_arena_free(&c->arena);
	}
	hb_free(b->mem, b->cols);
	hb_free(b->mem, b->pending);
	hb_buf_free(&b->dir);
	hb_free(&outer, b);
}
