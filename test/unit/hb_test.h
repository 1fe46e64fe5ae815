/*
 * hb_test.h
 *		What the tests of chunks share: memory, a body in memory, a model of
 *		rows, and a check of a chunk against the rows that it was built from.
 */
#ifndef HB_TEST_H
#define HB_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "chunk/hb_chunk.h"
#include "../hb_malloc.h"

static HbMem test_mem = HB_MALLOC;

/* A small random generator with a state of its own (xorshift64*). */
static uint64_t test_seed = 88172645463325252ULL;

static inline uint64_t
rnd(void)
{
	test_seed ^= test_seed >> 12;
	test_seed ^= test_seed << 25;
	test_seed ^= test_seed >> 27;
	return test_seed * UINT64_C(2685821657736338717);
}

static inline uint32_t
rnd_below(uint32_t n)
{
	return n == 0 ? 0 : (uint32_t) ((rnd() >> 16) % n);
}

static inline void
rnd_bytes(uint8_t *p, uint32_t n)
{
	uint32_t	i;

	for (i = 0; i < n; i++)
		p[i] = (uint8_t) (rnd() >> 40);
}

/* A body in memory, as sink and as source. */
typedef struct Body
{
	uint8_t    *data;
	size_t		len;
	size_t		cap;
	size_t		largest;		/* append */
} Body;

static inline void
body_append(void *arg, const uint8_t *data, size_t len)
{
	Body	   *b = arg;

	if (b->len + len > b->cap)
	{
		b->cap = (b->len + len) * 2;
		b->data = realloc(b->data, b->cap);
		if (b->data == NULL)
			abort();
	}
	memcpy(b->data + b->len, data, len);
	b->len += len;
	if (len > b->largest)
		b->largest = len;
}

static inline bool
body_read(void *arg, uint64_t off, uint32_t len, uint8_t *dst)
{
	Body	   *b = arg;

	if (off > b->len || len > b->len - off)
		return false;
	memcpy(dst, b->data + off, len);
	return true;
}

/* A model of rows: what was added, by row and column. */
typedef struct Cell
{
	bool		null;
	int64_t		i;
	uint8_t    *p;
	uint32_t	len;
} Cell;

typedef struct Model
{
	int			ncols;
	uint32_t	nrows;
	HbColumnSpec cols[32];
	HbBuilderOptions options;
	Cell	   *cells;			/* [row * ncols + col] */
	HbBuilder  *builder;
	Body		body;
	uint8_t    *dir;
	size_t		dir_len;
	HbChunkInfo info;
	uint64_t	chunk_id;
} Model;

static inline Cell *
cell(const Model *m, uint32_t row, int col)
{
	return &m->cells[(size_t) row * (size_t) m->ncols + (size_t) col];
}

static inline void
cell_bytes(Cell *c, const void *data, uint32_t len)
{
	c->null = false;
	c->p = malloc(len + 1);
	memcpy(c->p, data, len);
	c->len = len;
}

static inline int
cell_compare(const Model *m, const Cell *a, const Cell *b, int col)
{
	int			c;

	if (a->null || b->null)
		return a->null == b->null ? 0 : a->null ? 1 : -1;
	if (m->cols[col].phys == HB_PHYS_INT)
		return (a->i > b->i) - (a->i < b->i);
	c = memcmp(a->p, b->p, a->len < b->len ? a->len : b->len);
	return c != 0 ? c : (a->len > b->len) - (a->len < b->len);
}

static inline void
model_column(Model *m, uint8_t phys, uint8_t domain, uint16_t width, bool hash_index, bool ordered)
{
	HbColumnSpec *s = &m->cols[m->ncols];

	memset(s, 0, sizeof(*s));
	s->column_no = (uint16_t) (m->ncols * 3 + 1);
	s->phys = phys;
	s->domain = domain;
	s->width = width;
	s->hash_index = hash_index;
	s->ordered = ordered;
	s->prev_of = -1;
	m->ncols++;
}

static inline void
model_cells(Model *m, uint32_t nrows)
{
	size_t		n = (size_t) nrows * (size_t) m->ncols;
	size_t		i;

	m->nrows = nrows;
	m->cells = calloc(n + 1, sizeof(Cell));
	for (i = 0; i < n; i++)
		m->cells[i].null = true;
}

static inline void
model_add_row(Model *m, uint32_t row)
{
	int			c;

	hb_builder_begin_row(m->builder);
	for (c = 0; c < m->ncols; c++)
	{
		Cell	   *x = cell(m, row, c);

		if (x->null)
			continue;
		if (m->cols[c].phys == HB_PHYS_INT)
			hb_builder_add_int(m->builder, c, x->i);
		else
			hb_builder_add_bytes(m->builder, c, x->p, x->len);
	}
	hb_builder_end_row(m->builder);
}

/* Finishes n rows of the builder into the model's body and directory. */
static inline bool
model_finish(Model *m, uint32_t n, HbError *error)
{
	HbSink		sink = {body_append, &m->body};

	m->body.len = 0;
	if (!hb_builder_finish(m->builder, n, m->chunk_id, &sink, &m->info, error))
		return false;
	m->dir = realloc(m->dir, m->info.dir_len);
	memcpy(m->dir, m->info.dir, m->info.dir_len);
	m->dir_len = m->info.dir_len;
	return true;
}

static inline void
model_build(Model *m)
{
	uint32_t	row;
	HbError		error;

	m->builder = hb_builder_create(&test_mem, m->cols, m->ncols, &m->options);
	for (row = 0; row < m->nrows; row++)
		model_add_row(m, row);
	hb_builder_sort(m->builder);
	if (!model_finish(m, m->nrows, &error))
	{
		fprintf(stderr, "finish: %s: %s\n", error.part, error.detail);
		abort();
	}
}

static inline HbReader *
model_open(Model *m)
{
	HbError		error;
	HbSource	source = {body_read, &m->body};
	HbReader   *r = hb_reader_open(&test_mem, m->dir, m->dir_len, m->chunk_id, &error);

	if (r == NULL)
	{
		fprintf(stderr, "open: %s: %s\n", error.part, error.detail);
		abort();
	}
	hb_reader_set_source(r, &source);
	return r;
}

static inline void
model_free(Model *m)
{
	size_t		n = (size_t) m->nrows * (size_t) m->ncols;
	size_t		i;

	for (i = 0; i < n; i++)
		free(m->cells[i].p);
	free(m->cells);
	if (m->builder != NULL)
		hb_builder_free(m->builder);
	free(m->body.data);
	free(m->dir);
	memset(m, 0, sizeof(*m));
}

/*
 * Checks.  strict: the chunk is whole, so everything must succeed and be
 * right; otherwise any call may fail, but what does not must be right.
 */
#define CHECK(cond) \
	do { \
		if (!(cond)) \
		{ \
			fprintf(stderr, "%s:%d: %s (column %d, row or page %ld)\n", \
					__FILE__, __LINE__, #cond, check_col, (long) check_at); \
			abort(); \
		} \
	} while (0)

/* A call on the reader; skips the rest when it failed on a damaged chunk. */
#define CALL(expr) \
	do { \
		if (!(expr)) \
		{ \
			if (strict) \
				fprintf(stderr, "%s: %s\n", hb_reader_error(r)->part, hb_reader_error(r)->detail); \
			CHECK(!strict); \
			return; \
		} \
	} while (0)

static int	check_col = -1;
static int64_t check_at = -1;

/* The "num" form's integer, for columns that were stored as integers. */
static inline int64_t
num_value(const Cell *c)
{
	int64_t		v = 0;
	uint32_t	i;

	for (i = 1; i < c->len; i++)
		v = (v << 8) | c->p[i];
	return v;
}

static inline uint32_t
page_rows(const Model *m, uint32_t page)
{
	uint32_t	left = m->nrows - page * HB_PAGE_ROWS;

	return left < HB_PAGE_ROWS ? left : HB_PAGE_ROWS;
}

static inline bool
cell_is(const Cell *c, HbSlice v)
{
	return c->len == v.len && (v.len == 0 || memcmp(c->p, v.data, v.len) == 0);
}

static inline void
check_int_page(const Model *m, HbReader *r, int col, uint32_t page, bool strict)
{
	int64_t		out[HB_PAGE_ROWS];
	int64_t		min;
	int64_t		max;
	bool		valid;
	bool		seen = false;
	uint32_t	i;

	CALL(hb_reader_ints(r, col, page, out));
	for (i = 0; i < page_rows(m, page); i++)
	{
		Cell	   *c = cell(m, page * HB_PAGE_ROWS + i, col);

		check_at = page * HB_PAGE_ROWS + i;
		if (!c->null)
			CHECK(out[i] == (m->cols[col].phys == HB_PHYS_NUM ? num_value(c) : c->i));
	}
	CALL(hb_reader_page_minmax(r, col, page, &min, &max, &valid));
	for (i = 0; i < page_rows(m, page); i++)
	{
		Cell	   *c = cell(m, page * HB_PAGE_ROWS + i, col);

		if (c->null)
			continue;
		seen = true;
		CHECK(valid && out[i] >= min && out[i] <= max);
	}
	if (valid && !seen)
		CHECK(!"bounds of a page without values");
}

static inline void
check_dict_page(const Model *m, HbReader *r, int col, uint32_t page, bool strict)
{
	uint32_t	codes[HB_PAGE_ROWS];
	uint64_t	pages[8];
	uint32_t	i;

	CALL(hb_reader_codes(r, col, page, codes));
	for (i = 0; i < page_rows(m, page); i++)
	{
		Cell	   *c = cell(m, page * HB_PAGE_ROWS + i, col);
		HbSlice		v;
		uint32_t	code;

		check_at = page * HB_PAGE_ROWS + i;
		CHECK((codes[i] == 0) == c->null);
		if (c->null)
			continue;
		CALL(hb_reader_dict_entry(r, col, codes[i], &v));
		CHECK(cell_is(c, v));
		if (i % 16 != 0 && page_rows(m, page) > 64)
			continue;
		v.data = c->p;
		v.len = c->len;
		CALL(hb_reader_dict_find(r, col, v, &code));
		CHECK(code == codes[i]);
		CALL(hb_reader_dict_lower_bound(r, col, v, &code));
		CHECK(code == codes[i]);
		memset(pages, 0, sizeof(pages));
		CALL(hb_reader_code_pages(r, col, codes[i], pages));
		CHECK((pages[page / 64] >> (page % 64)) & 1);
	}
}

static inline void
check_values_page(const Model *m, HbReader *r, int col, uint32_t page, bool strict)
{
	uint16_t	rows[HB_PAGE_ROWS];
	HbSlice		out[HB_PAGE_ROWS];
	uint32_t	lens[HB_PAGE_ROWS];
	HbSlice		min;
	HbSlice		max;
	bool		valid;
	int			pass;
	uint32_t	i;

	CALL(hb_reader_lengths(r, col, page, lens));
	for (i = 0; i < page_rows(m, page); i++)
	{
		Cell	   *c = cell(m, page * HB_PAGE_ROWS + i, col);

		check_at = page * HB_PAGE_ROWS + i;
		CHECK(lens[i] == (c->null ? 0 : c->len));
	}
	for (pass = 0; pass < 3; pass++)
	{
		/* some rows, all rows, some rows again */
		uint32_t	step = pass == 1 ? 1 : 1 + rnd_below(200);
		int			n = 0;
		int			k;

		for (i = rnd_below(step); i < page_rows(m, page); i += step)
			rows[n++] = (uint16_t) i;
		CALL(hb_reader_bytes(r, col, page, rows, n, out));
		for (k = 0; k < n; k++)
		{
			Cell	   *c = cell(m, page * HB_PAGE_ROWS + rows[k], col);

			check_at = page * HB_PAGE_ROWS + rows[k];
			if (c->null)
				CHECK(out[k].len == 0);
			else
				CHECK(cell_is(c, out[k]));
		}
	}
	CALL(hb_reader_page_bounds(r, col, page, &min, &max, &valid));
	for (i = 0; valid && i < page_rows(m, page); i++)
	{
		Cell	   *c = cell(m, page * HB_PAGE_ROWS + i, col);
		uint32_t	n;
		int			cmp;

		if (c->null)
			continue;
		n = c->len < min.len ? c->len : min.len;
		cmp = n > 0 ? memcmp(c->p, min.data, n) : 0;
		CHECK(cmp > 0 || (cmp == 0 && c->len >= min.len));
		n = c->len < max.len ? c->len : max.len;
		cmp = n > 0 ? memcmp(c->p, max.data, n) : 0;
		CHECK(cmp <= 0);
	}
}

static inline void
check_hash(const Model *m, HbReader *r, int col, bool strict)
{
	uint32_t	step = m->nrows / 50 + 1;
	uint32_t	i;

	for (i = 0; i < m->nrows; i += step)
	{
		Cell	   *c = cell(m, i, col);
		HbSlice		v;
		uint32_t	rows[64];
		int			n;
		int			k;
		bool		found = false;

		if (c->null)
			continue;
		check_at = i;
		v.data = c->p;
		v.len = c->len;
		CALL(hb_reader_hash_find(r, col, v, rows, 64, &n));
		for (k = 0; k < n && k < 64; k++)
		{
			CHECK(k == 0 || rows[k] > rows[k - 1]);
			CHECK(cell_is(cell(m, rows[k], col), v) && !cell(m, rows[k], col)->null);
			found = found || rows[k] == i;
		}
		CHECK(found || n > 64);
	}
}

static inline void
check_absent(const Model *m, HbReader *r, int col, bool strict)
{
	int			k;

	for (k = 0; k < 20; k++)
	{
		uint8_t		buf[128];
		HbSlice		v = {buf, m->cols[col].width > 0 && k % 4 != 0 ? m->cols[col].width : rnd_below(40)};
		uint32_t	code;
		uint32_t	bound;
		uint32_t	n = hb_reader_dict_size(r, hb_reader_info(r, col)->dict);
		uint32_t	i;

		rnd_bytes(buf, sizeof(buf));
		if (k % 3 == 0)
			memset(buf, 0, rnd_below(33));
		if (k % 5 == 0)
		{
			/* near a value that is there */
			const Cell *c = cell(m, rnd_below(m->nrows), col);

			if (!c->null && c->len <= 60)
			{
				memcpy(buf, c->p, c->len);
				v.len = c->len + rnd_below(3);
				if (c->len > 0 && k % 2)
					v.len = rnd_below(c->len);
			}
		}
		CALL(hb_reader_dict_find(r, col, v, &code));
		CALL(hb_reader_dict_lower_bound(r, col, v, &bound));
		CHECK(bound >= 1 && bound <= n + 1);
		for (i = 0; i < m->nrows; i += 1 + m->nrows / 300)
		{
			const Cell *c = cell(m, i, col);
			uint32_t	own;
			HbSlice		x = {c->p, c->len};
			Cell		y = {false, 0, buf, v.len};
			int			cmp;

			if (c->null)
				continue;
			check_at = i;
			cmp = cell_compare(m, c, &y, col);
			if (cmp == 0)
				CHECK(code != 0);
			CALL(hb_reader_dict_find(r, col, x, &own));
			CHECK(own != 0);
			CHECK((own >= bound) == (cmp >= 0));
			CHECK((own == code) == (cmp == 0));
		}
	}
}

static inline void
check_nulls(const Model *m, HbReader *r, int col, uint32_t page, bool strict)
{
	uint64_t	nulls[HB_PAGE_WORDS];
	bool		any;
	bool		seen = false;
	uint32_t	i;

	CALL(hb_reader_nulls(r, col, page, nulls, &any));
	for (i = 0; i < HB_PAGE_ROWS; i++)
	{
		bool		flag = (nulls[i / 64] >> (i % 64)) & 1;

		check_at = page * HB_PAGE_ROWS + i;
		if (i >= page_rows(m, page))
			CHECK(!flag);
		else
			CHECK(flag == cell(m, page * HB_PAGE_ROWS + i, col)->null);
		seen = seen || flag;
	}
	CHECK(any == seen);
}

static inline void
check_blocks(const Model *m, HbReader *r, bool strict)
{
	int			bc = m->options.block_col;
	uint32_t	first;
	uint32_t	last;
	int64_t		out[700];
	uint32_t	i;
	int			k;

	check_col = bc;
	for (i = 0; i < m->nrows; i++)
	{
		if (cell(m, i, bc)->null)
			return;
	}
	for (k = 0; k < 30; k++)
	{
		int64_t		lo = cell(m, rnd_below(m->nrows), bc)->i + (int64_t) rnd_below(5) - 2;
		int64_t		hi = k % 2 ? lo + rnd_below(3) : cell(m, rnd_below(m->nrows), bc)->i;
		uint32_t	n = 0;
		uint32_t	at = 0;

		for (i = 0; i < m->nrows; i++)
		{
			if (cell(m, i, bc)->i < lo || cell(m, i, bc)->i > hi)
				continue;
			if (n++ == 0)
				at = i;
		}
		CALL(hb_reader_block_rows(r, lo, hi, &first, &last));
		CHECK(last - first == n && (n == 0 || first == at));
	}
	for (k = 0; k < 20; k++)
	{
		uint32_t	from = rnd_below(m->nrows);
		uint32_t	n = rnd_below(700);

		if (n > m->nrows - from)
			n = m->nrows - from;
		CALL(hb_reader_row_blocks(r, from, n, out));
		for (i = 0; i < n; i++)
			CHECK(out[i] == cell(m, from + i, bc)->i);
	}
	if (m->options.nsort < 2 || m->options.sort_cols[0] != bc ||
		m->cols[m->options.sort_cols[1]].phys != HB_PHYS_INT)
		return;
	for (k = 0; k < 60; k++)
	{
		uint32_t	row = rnd_below(m->nrows);
		int			sc = m->options.sort_cols[1];
		int64_t		block = cell(m, row, bc)->i;
		int64_t		index = cell(m, row, sc)->null ? 5 : cell(m, row, sc)->i;
		uint32_t	n = 0;
		uint32_t	at = 0;

		if (k % 4 == 0)
			index += (int64_t) rnd_below(3) - 1;
		for (i = 0; i < m->nrows; i++)
		{
			Cell	   *c = cell(m, i, sc);

			if (cell(m, i, bc)->i != block || c->null || c->i != index)
				continue;
			if (n++ == 0)
				at = i;
		}
		check_at = row;
		CALL(hb_reader_position(r, block, index, &first, &last));
		CHECK(last - first == n && (n == 0 || first == at));
	}
}

/* Everything that a reader says of a chunk, against the model. */
static inline void
check_chunk(const Model *m, HbReader *r, bool strict)
{
	uint32_t	npages = (m->nrows + HB_PAGE_ROWS - 1) / HB_PAGE_ROWS;
	uint32_t	page;
	int			col;

	check_col = -1;
	CHECK(hb_reader_rows(r) == m->nrows && hb_reader_pages(r) == npages);
	for (col = 0; col < m->ncols; col++)
	{
		const HbColumnInfo *info = hb_reader_info(r, col);

		check_col = col;
		CHECK(hb_reader_column(r, m->cols[col].column_no) == col);
		for (page = 0; page < npages; page++)
		{
			if (info->stored == HB_STORED_DERIVED)
				continue;
			check_nulls(m, r, col, page, strict);
			switch (info->stored)
			{
				case HB_STORED_INT:
					check_int_page(m, r, col, page, strict);
					break;
				case HB_STORED_DICT:
					check_dict_page(m, r, col, page, strict);
					break;
				case HB_STORED_FIXED:
				case HB_STORED_VAR:
					check_values_page(m, r, col, page, strict);
					break;
				default:
					break;
			}
		}
		if (info->has_hash_index)
			check_hash(m, r, col, strict);
		if (info->stored == HB_STORED_DICT)
			check_absent(m, r, col, strict);
	}
	if (m->options.block_col >= 0)
		check_blocks(m, r, strict);
}

#endif							/* HB_TEST_H */
