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

#define NUM_ROOM		9		/* bytes of an int64 in "num" form */
#define CHECK_FIRST		8192	/* values after which a column may turn plain */
#define CHECK_LEAST		256		/* as few, where they are large: */
#define CHECK_BYTES		(1024 * 1024)	/* bytes of new ones since the last look */

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
		hb_seq_init(&c->vals, b->mem);
		hb_seq_init(&c->lens, b->mem);
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

/* What was read back of numbers is valid until the next row comes. */
static void
free_nums(HbBuilder *b)
{
	int			i;

	for (i = 0; i < b->ncols; i++)
	{
		hb_free(b->mem, b->cols[i].nums);
		b->cols[i].nums = NULL;
	}
	b->has_nums = false;
}

void
hb_builder_begin_row(HbBuilder *b)
{
	/* before any column seals its segment */
	if (b->nrows % HB_SEG_ROWS == 0)
		hb_builder_flush(b);
	if (b->has_nums)
		free_nums(b);
}

void
hb_builder_add_int(HbBuilder *b, int col, int64_t value)
{
	HbBCol	   *c = &b->cols[col];

	if (c->hold == HB_HOLD_INT)
		hb_seq_put(&c->vals, b->nrows, value);
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

/* The table of a column that is to get a value. */
static inline HbTab *
open_tab(HbBuilder *b, HbBCol *c)
{
	if (c->tab == NULL)
		c->tab = tab_for(b, c);
	if (c->tab->slots == NULL)
		hb_tab_open(c->tab);
	return c->tab;
}

/* Puts a value's code; the caller knows that nothing waits. */
static inline void
put_code(HbBuilder *b, HbBCol *c, uint32_t row, uint32_t hash, HbSlice v)
{
	bool		fresh;

	hb_seq_put(&c->vals, row, hb_tab_put(open_tab(b, c), hash, v, &fresh));
	c->adds++;
	if (fresh)
	{
		c->news++;
		c->new_bytes += v.len;
	}
}

static inline void
put_plain(HbBCol *c, uint32_t row, HbSlice v)
{
	hb_seq_put(&c->vals, row, (int64_t) (uintptr_t) hb_arena_put(&c->arena, v.data, v.len));
	hb_seq_put(&c->lens, row, v.len);
}

/*
 * A column of numbers has met one that is no int64, or a column of width has
 * met another length: hold what was added so far in another way.
 */
static void
num_to_codes(HbBuilder *b, HbBCol *c)
{
	HbSeq		old = c->vals;
	uint32_t	i;

	hb_builder_flush(b);
	c->hold = HB_HOLD_CODES;
	hb_seq_init(&c->vals, b->mem);
	for (i = 0; i < hb_seq_rows(&old); i++)
	{
		uint8_t		num[NUM_ROOM];
		HbSlice		v;
		int64_t		value;

		if (!hb_seq_get(&old, i, &value))
			continue;
		v.data = num;
		v.len = hb_num_put(value, num);
		put_code(b, c, i, (uint32_t) hb_hash64(v.data, v.len), v);
	}
	hb_seq_free(&old);
}

static void
leave_strip(HbBuilder *b, HbBCol *c)
{
	HbTab	   *old_tab;
	HbSeq		old;
	uint32_t	i;

	hb_builder_flush(b);
	/* from now on values are held as they are */
	c->strips = false;
	if (c->hold != HB_HOLD_CODES || c->tab == NULL)
		return;
	old_tab = c->tab;
	old = c->vals;
	c->tab = NULL;
	hb_seq_init(&c->vals, b->mem);
	for (i = 0; i < hb_seq_rows(&old); i++)
	{
		int64_t		code;
		HbSlice		v;
		bool		fresh;

		if (!hb_seq_get(&old, i, &code))
			continue;
		v.data = old_tab->entries[code]->data + old_tab->width - c->spec.width;
		v.len = c->spec.width;
		hb_seq_put(&c->vals, i, hb_tab_add(open_tab(b, c), v, &fresh));
	}
	hb_seq_free(&old);
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
	HbSeq		codes = c->vals;
	uint32_t	i;

	c->hold = HB_HOLD_PLAIN;
	hb_seq_init(&c->vals, b->mem);
	for (i = 0; i < hb_seq_rows(&codes); i++)
	{
		int64_t		code;
		HbSlice		v;

		if (hb_seq_get(&codes, i, &code) && code_value(c, (uint32_t) code, &v))
			put_plain(c, i, v);
	}
	hb_seq_free(&codes);
	if (c->tab != NULL && c->tab->domain == 0)
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
	HbSeq		ptrs = c->vals;
	uint32_t	i;

	c->hold = HB_HOLD_CODES;
	hb_seq_init(&c->vals, b->mem);
	for (i = 0; i < hb_seq_rows(&ptrs); i++)
	{
		int64_t		at;
		int64_t		len;
		HbSlice		v;

		if (!hb_seq_get(&ptrs, i, &at))
			continue;
		(void) hb_seq_get(&c->lens, i, &len);
		v.data = (const uint8_t *) (uintptr_t) at;
		v.len = (uint32_t) len;
		if (c->strips)
			v = hb_dict_strip(v);
		put_code(b, c, i, (uint32_t) hb_hash64(v.data, v.len), v);
	}
	hb_arena_free(&c->arena);
	hb_seq_free(&ptrs);
	hb_seq_free(&c->lens);
	c->check_at = UINT32_MAX;
}

/*
 * Once in a while: should the column be held as plain values?  The share of
 * new ones falls as rows come, so be sure early on.  Large values are looked
 * at earlier, since both ways are held while one becomes the other.
 */
static void
col_check(HbBuilder *b, HbBCol *c)
{
	uint32_t	most = c->adds / 100 * (c->adds < 4 * CHECK_FIRST ? 92 : 84);

	if (c->hold != HB_HOLD_CODES || c->check_at == UINT32_MAX ||
		(c->adds < c->check_at &&
		 (c->adds < CHECK_LEAST || c->new_bytes < CHECK_BYTES)))
		return;
	c->new_bytes = 0;
	if (c->news > most)
		hb_bcol_to_plain(b, c);
	else if (c->adds >= c->check_at)
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

		hb_seq_change(&c->vals, p->row, hb_tab_put(c->tab, p->hash, v, &fresh));
		c->adds++;
		if (fresh)
		{
			c->news++;
			c->new_bytes += v.len;
		}
	}
	b->npending = 0;
	for (k = 0; k < b->ncols; k++)
		col_check(b, &b->cols[k]);
}

void
hb_builder_add_bytes(HbBuilder *b, int col, const void *data, uint32_t len)
{
	HbBCol	   *c = &b->cols[col];
	HbSlice		v = {data, len};

	if (c->hold == HB_HOLD_INT)
	{
		int64_t		value;

		if (num_get(data, len, &value))
		{
			hb_seq_put(&c->vals, b->nrows, value);
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
		put_plain(c, b->nrows, v);
		return;
	}
	if (c->strips)
		v = hb_dict_strip(v);
	if (v.len <= HB_PENDING_LEN)
	{
		HbPending  *p = &b->pending[b->npending++];

		(void) open_tab(b, c);
		hb_seq_put(&c->vals, b->nrows, 0);
		p->col = c;
		p->row = b->nrows;
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
		put_code(b, c, b->nrows, (uint32_t) hb_hash64(v.data, v.len), v);
		if (c->adds >= c->check_at || c->new_bytes >= CHECK_BYTES)
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
	int64_t		at;
	int64_t		len;

	if (!hb_seq_get(&c->vals, row, &at))
		return false;
	if (c->hold != HB_HOLD_PLAIN)
		return code_value(c, (uint32_t) at, value);
	(void) hb_seq_get(&c->lens, row, &len);
	value->data = (const uint8_t *) (uintptr_t) at;
	value->len = (uint32_t) len;
	return true;
}

bool
hb_builder_get_int(const HbBuilder *b, int col, uint32_t row, int64_t *value)
{
	const HbBCol *c = &b->cols[col];

	return c->hold == HB_HOLD_INT && hb_seq_get(&c->vals, row, value);
}

bool
hb_builder_get_bytes(const HbBuilder *builder, int col, uint32_t row, HbSlice *value)
{
	HbBuilder  *b = (HbBuilder *) builder;
	HbBCol	   *c = &b->cols[col];
	int64_t		number;
	uint8_t    *num;

	hb_builder_flush(b);
	if (c->hold != HB_HOLD_INT)
		return hb_bcol_bytes(c, row, value);
	/* a number that is held as an integer */
	if (!hb_seq_get(&c->vals, row, &number))
		return false;
	if (c->nums == NULL)
		c->nums = hb_alloc(b->mem, (size_t) b->nrows * NUM_ROOM);
	b->has_nums = true;
	num = c->nums + (size_t) row * NUM_ROOM;
	value->data = num;
	value->len = hb_num_put(number, num);
	return true;
}

void
hb_builder_mark_derived(HbBuilder *b, int col, uint8_t code)
{
	b->cols[col].derived = code;
}

/* Puts the codes of a column's rows from `from` on into a new table. */
static void
shift_codes(HbBuilder *b, HbBCol *c, uint32_t from)
{
	HbTab	   *old_tab = c->tab;
	HbSeq		old = c->vals;
	uint32_t	r;

	hb_seq_init(&c->vals, b->mem);
	c->tab = NULL;
	for (r = from; r < b->nrows; r++)
	{
		int64_t		code;

		if (hb_seq_get(&old, r, &code))
		{
			const HbTabEntry *e = old_tab->entries[code];

			put_code(b, c, r - from, e->hash, hb_tab_value(old_tab, e));
		}
	}
	if (c->adds > c->check_at)
		c->check_at = 2 * c->adds;
	hb_seq_free(&old);
}

/* Copies the values of a column's rows from `from` on to a new arena. */
static void
shift_plain(HbBuilder *b, HbBCol *c, uint32_t from)
{
	HbBCol		old = *c;
	uint32_t	r;

	hb_arena_init(&c->arena, b->mem);
	hb_seq_init(&c->vals, b->mem);
	hb_seq_init(&c->lens, b->mem);
	for (r = from; r < b->nrows; r++)
	{
		HbSlice		v;

		if (hb_bcol_bytes(&old, r, &v))
			put_plain(c, r - from, v);
	}
	hb_arena_free(&old.arena);
	hb_seq_free(&old.vals);
	hb_seq_free(&old.lens);
}

void
hb_builder_drop(HbBuilder *b, uint32_t nrows)
{
	HbTab	   *old;
	int			i;

	if (nrows == 0)
		return;
	hb_builder_flush(b);
	free_nums(b);
	old = b->tabs;
	b->tabs = NULL;
	for (i = 0; i < b->ncols; i++)
	{
		HbBCol	   *c = &b->cols[i];

		c->derived = 0;
		c->adds = c->news = 0;
		c->new_bytes = 0;
		c->check_at = CHECK_FIRST;
		if (c->hold == HB_HOLD_INT)
			hb_seq_shift(&c->vals, nrows, b->nrows);
		else if (c->hold == HB_HOLD_CODES)
			shift_codes(b, c, nrows);
		else
			shift_plain(b, c, nrows);
	}
	while (old != NULL)
	{
		HbTab	   *next = old->next;

		hb_tab_free(old);
		old = next;
	}
	b->nrows -= nrows;
	if (b->nrows <= 1)
		b->sorted = true;
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

		hb_free(b->mem, c->nums);
		hb_seq_free(&c->vals);
		hb_seq_free(&c->lens);
		hb_arena_free(&c->arena);
	}
	hb_free(b->mem, b->cols);
	hb_free(b->mem, b->pending);
	hb_buf_free(&b->dir);
	hb_free(&outer, b);
}
