/*
 * hb_builder_finish.c
 *		Writing a chunk: block offsets, the storage of each column, order.
 *
 * The body goes to the sink as it is made; at most one column's integers, or
 * the order of one dictionary, is held in memory.
 */
#include "chunk/hb_builder_int.h"
#include "codec/hb_dict.h"
#include "codec/hb_hash.h"

void
hb_out_flush(HbOut *o)
{
	if (o->len > 0)
		o->sink->append(o->sink->arg, o->buf, o->len);
	o->len = 0;
}

void
hb_out_put(HbOut *o, const void *data, size_t len)
{
	const uint8_t *p = data;

	o->pos += len;
	while (len > 0)
	{
		size_t		n = HB_SINK_MAX - o->len < len ? HB_SINK_MAX - o->len : len;

		memcpy(o->buf + o->len, p, n);
		o->len += n;
		p += n;
		len -= n;
		if (o->len == HB_SINK_MAX)
			hb_out_flush(o);
	}
}

static bool
bad_blocks(HbWriter *w)
{
	hb_error_set(w->error, HB_ERR_LIMIT, "block offsets", HB_OWNER_NUMBERS, -1,
				 "block numbers are null, do not ascend or are too far apart");
	return false;
}

/*
 * Block offsets: needs a block column without NULLs whose values ascend and
 * differ by less than 2^63.  Leaves starts, and the two hidden columns written.
 */
static bool
write_blocks(HbWriter *w)
{
	HbBuilder  *b = w->b;
	HbDirectory *dir = &w->dir;
	HbBCol	   *c;
	int64_t    *numbers;
	int64_t    *firsts;
	int64_t    *v = w->tmp;
	uint32_t	nblocks = 1;
	uint32_t	r;
	bool		consecutive = true;

	dir->seq_col = -1;
	if (b->options.block_col < 0)
		return true;
	c = &b->cols[b->options.block_col];
	if (c->hold != HB_HOLD_INT || c->spec.phys != HB_PHYS_INT)
		return bad_blocks(w);
	if (hb_seq_count_nulls(&c->vals, w->nrows) > 0)
		return bad_blocks(w);
	hb_seq_load(&c->vals, w->nrows, v);
	for (r = 1; r < w->nrows; r++)
	{
		if (v[r] < v[r - 1])
			return bad_blocks(w);
		nblocks += v[r] != v[r - 1];
	}
	if (v[0] < 0 && v[w->nrows - 1] > INT64_MAX + v[0])
		return bad_blocks(w);
	w->starts = hb_alloc0(w->mem, sizeof(uint64_t) * HB_PAGE_WORDS * w->npages);
	numbers = hb_alloc(w->mem, sizeof(int64_t) * nblocks);
	firsts = hb_alloc(w->mem, sizeof(int64_t) * nblocks);
	nblocks = 0;
	for (r = 0; r < w->nrows; r++)
	{
		if (r > 0 && v[r] == v[r - 1])
			continue;
		w->starts[r / 64] |= UINT64_C(1) << (r % 64);
		consecutive = consecutive && v[r] == v[0] + (int64_t) nblocks;
		numbers[nblocks] = v[r];
		firsts[nblocks++] = r;
	}
	dir->has_blocks = true;
	dir->consecutive = consecutive;
	dir->dense = nblocks == w->nrows;
	dir->nblocks = nblocks;
	dir->first_block = v[0];
	dir->last_block = v[w->nrows - 1];
	if (b->options.nsort >= 2 && b->options.sort_cols[0] == b->options.block_col)
	{
		const HbBCol *s = &b->cols[b->options.sort_cols[1]];

		if (s->hold == HB_HOLD_INT && s->spec.phys == HB_PHYS_INT)
			dir->seq_col = b->options.sort_cols[1];
	}
	if (!dir->consecutive)
		hb_write_ints(w, numbers, nblocks, NULL, HB_OWNER_NUMBERS, false, false, &dir->numbers);
	if (!dir->dense)
		hb_write_ints(w, firsts, nblocks, NULL, HB_OWNER_FIRSTS, false, false, &dir->firsts);
	hb_free(w->mem, numbers);
	hb_free(w->mem, firsts);
	return true;
}

/* Do less than 3/4 of a plain column's n non-null values differ? */
static bool
plain_repeats(HbWriter *w, const HbBCol *c, uint32_t n)
{
	uint32_t	nslots = 16;
	uint32_t   *slots;
	uint32_t	distinct = 0;
	uint32_t	r;

	while (nslots < 2 * n)
		nslots *= 2;
	/* all rows get codes, those of the next chunk too */
	for (r = 0; r < w->b->nrows; r++)
	{
		int64_t		len;

		if (hb_seq_get(&c->lens, r, &len) && len > HB_DICT_MAX_VALUE)
			return false;
	}
	slots = hb_alloc0(w->mem, sizeof(uint32_t) * nslots);
	for (r = 0; r < w->nrows; r++)
	{
		HbSlice		v;
		uint64_t	hash;
		uint32_t	h;
		uint32_t	s;

		if (!hb_bcol_bytes(c, r, &v))
			continue;
		hash = hb_hash64(v.data, v.len);
		h = (uint32_t) hash | 1;
		s = (uint32_t) (hash >> 32) & (nslots - 1);
		while (slots[s] != 0 && slots[s] != h)
			s = (s + 1) & (nslots - 1);
		distinct += slots[s] == 0;
		slots[s] = h;
	}
	hb_free(w->mem, slots);
	return (uint64_t) distinct * 4 < (uint64_t) n * 3;
}

/* The width of all non-null values, 0 if they have several (or none). */
static uint32_t
common_width(HbWriter *w, const HbBCol *c, bool *exotic)
{
	uint32_t	width = 0;
	bool		first = true;
	bool		same = true;
	uint32_t	r;

	*exotic = false;
	for (r = 0; r < w->nrows; r++)
	{
		HbSlice		v;

		if (!hb_bcol_bytes(c, r, &v))
			continue;
		if (first)
			width = v.len;
		else if (width != v.len)
			same = false;
		first = false;
		if (v.len > 0 && v.data[0] == 0xFF)
			*exotic = true;
	}
	return same && width <= HB_MAX_WIDTH ? width : 0;
}

/* Is every value but the first that of another column, one row before? */
static bool
is_previous(HbWriter *w, const HbBCol *c, const HbBCol *source)
{
	uint32_t	r;

	for (r = 1; r < w->nrows; r++)
	{
		HbSlice		v;
		HbSlice		s;
		bool		has = hb_bcol_bytes(c, r, &v);

		if (has != hb_bcol_bytes(source, r - 1, &s))
			return false;
		if (has && (v.len != s.len || memcmp(v.data, s.data, v.len) != 0))
			return false;
	}
	return true;
}

/*
 * Decides how each column is stored; false when a value is too long.
 */
static bool
decide(HbWriter *w)
{
	uint32_t	i;

	for (i = 0; i < w->dir.ncols; i++)
	{
		HbBCol	   *c = w->cols[i].col;
		HbColDesc  *d = w->cols[i].desc;

		hb_check(w->mem);
		d->column_no = c->spec.column_no;
		d->phys = c->hold == HB_HOLD_INT ? HB_PHYS_INT : c->spec.phys;
		if (c->derived != 0)
		{
			d->kind = HB_COL_DERIVED;
			d->derive_code = c->derived;
			continue;
		}
		d->null_count = hb_seq_count_nulls(&c->vals, w->nrows);
		if (d->null_count == w->nrows)
			d->kind = HB_COL_NULL;
		else if (c->hold == HB_HOLD_INT)
			d->kind = HB_COL_INT;
		else if (c->hold == HB_HOLD_PLAIN)
		{
			uint32_t	r;

			for (r = 0; r < w->nrows; r++)
			{
				int64_t		len;

				if (hb_seq_get(&c->lens, r, &len) && len > HB_MAX_VALUE)
				{
					hb_error_set(w->error, HB_ERR_LIMIT, "value", c->spec.column_no, -1,
								 "a value is longer than 1 GiB");
					return false;
				}
			}
			if (plain_repeats(w, c, w->nrows - d->null_count))
				hb_bcol_to_codes(w->b, c);
		}
	}
	hb_write_judge_dicts(w);
	for (i = 0; i < w->dir.ncols; i++)
	{
		HbWCol	   *wc = &w->cols[i];
		HbColDesc  *d = wc->desc;
		bool		exotic;
		uint32_t	width;

		if (d->kind != 0)
			continue;
		if (wc->dict >= 0)
		{
			d->kind = HB_COL_DICT;
			continue;
		}
		width = common_width(w, wc->col, &exotic);
		d->bounds = wc->col->spec.ordered && !(wc->col->spec.phys == HB_PHYS_NUM && exotic);
		/* A fixed width is taken by NULLs too: only where they are few. */
		if (width > 0 && (wc->col->spec.hash_index ||
						  (width <= HB_MAX_FIXED && d->null_count < w->nrows / 8 &&
						   !hb_write_packs_well(w, wc))))
		{
			d->kind = HB_COL_FIXED;
			d->width = (uint16_t) width;
		}
		else
			d->kind = HB_COL_VAR;
	}
	for (i = 0; i < w->dir.ncols; i++)
	{
		HbWCol	   *wc = &w->cols[i];
		HbColDesc  *d = wc->desc;
		int			p = wc->col->spec.prev_of;
		HbSlice		v;
		bool		has;

		if (p < 0 || p >= (int) w->dir.ncols || p == (int) i ||
			(d->kind != HB_COL_FIXED && d->kind != HB_COL_VAR) ||
			(w->dir.cols[p].kind != HB_COL_FIXED && w->dir.cols[p].kind != HB_COL_VAR) ||
			w->dir.cols[p].phys != d->phys)
			continue;
		has = hb_bcol_bytes(wc->col, 0, &v);
		if ((has && v.len > HB_MAX_FIXED) || !is_previous(w, wc->col, w->cols[p].col))
			continue;
		d->kind = HB_COL_PREV;
		d->bounds = false;
		d->prev_col = (uint32_t) p;
		if (has)
		{
			uint8_t    *copy;

			copy = hb_alloc(w->mem, v.len + 1);
			memcpy(copy, v.data, v.len);
			d->first.data = copy;
			d->first.len = v.len;
		}
	}
	return true;
}

static void
write_int_column(HbWriter *w, HbWCol *wc, int col)
{
	HbBCol	   *c = wc->col;
	HbColDesc  *d = wc->desc;
	uint64_t   *nulls = NULL;

	if (w->dir.has_blocks && col == w->b->options.block_col)
	{
		d->ints.kind = HB_INT_BLOCKNUM;
		d->ints.n = w->nrows;
		d->ints.min = w->dir.first_block;
		d->ints.max = w->dir.last_block;
		hb_int_desc_derive(&d->ints);
		return;
	}
	hb_seq_load(&c->vals, w->nrows, w->tmp);
	if (d->null_count > 0)
	{
		nulls = hb_alloc(w->mem, sizeof(uint64_t) * HB_PAGE_WORDS * w->npages);
		hb_seq_nulls(&c->vals, w->nrows, nulls);
		hb_write_null_bits(w, wc, nulls);
	}
	else if (hb_write_try_sequence(w, w->tmp, &d->ints))
		return;
	hb_write_ints(w, w->tmp, w->nrows, nulls, d->column_no, w->dir.has_blocks, false, &d->ints);
	hb_free(w->mem, nulls);
}

bool
hb_builder_finish(HbBuilder *b, uint32_t nrows, uint64_t chunk_id,
				  HbSink *sink, HbChunkInfo *info, HbError *error)
{
	HbWriter   *w;
	HbTab	   *tab;
	uint32_t	i;
	bool		ok;

	if (nrows == 0 || nrows > HB_CHUNK_MAX_ROWS || nrows > b->nrows || b->ncols > HB_MAX_COLUMNS)
	{
		hb_error_set(error, HB_ERR_LIMIT, "chunk", -1, -1, "number of rows or columns is out of range");
		return false;
	}
	if (!b->sorted)
	{
		hb_error_set(error, HB_ERR_LIMIT, "chunk", -1, -1, "rows are not sorted");
		return false;
	}
	hb_builder_flush(b);
	w = hb_alloc0(b->mem, sizeof(HbWriter));
	w->b = b;
	w->mem = b->mem;
	w->nrows = nrows;
	w->npages = (nrows + HB_PAGE_ROWS - 1) / HB_PAGE_ROWS;
	w->zstd_level = b->options.zstd_level > 0 ? b->options.zstd_level : 3;
	w->error = error;
	w->out.mem = b->mem;
	w->out.sink = sink;
	w->out.chunk_id = chunk_id;
	w->out.buf = hb_alloc(b->mem, HB_SINK_MAX);
	w->dir.nrows = nrows;
	w->dir.npages = w->npages;
	w->dir.ncols = (uint32_t) b->ncols;
	w->dir.cols = hb_alloc0(b->mem, sizeof(HbColDesc) * ((size_t) b->ncols + 1));
	w->dir.dicts = hb_alloc0(b->mem, sizeof(HbDictDesc) * ((size_t) b->ncols + 1));
	w->cols = hb_alloc0(b->mem, sizeof(HbWCol) * ((size_t) b->ncols + 1));
	w->dicts = hb_alloc0(b->mem, sizeof(HbWDict) * ((size_t) b->ncols + 1));
	w->tmp = hb_alloc(b->mem, sizeof(int64_t) * nrows);
	for (i = 0; i < w->dir.ncols; i++)
	{
		w->cols[i].col = &b->cols[i];
		w->cols[i].desc = &w->dir.cols[i];
		w->cols[i].dict = -1;
	}
	ok = decide(w);
	/* sorting dictionaries takes what their slots took */
	for (tab = b->tabs; tab != NULL; tab = tab->next)
		hb_tab_close(tab);
	ok = ok && write_blocks(w);
	if (ok)
	{
		for (i = 0; i < w->dir.ncols; i++)
		{
			HbWCol	   *wc = &w->cols[i];

			hb_check(w->mem);
			switch (wc->desc->kind)
			{
				case HB_COL_INT:
					write_int_column(w, wc, (int) i);
					break;
				case HB_COL_DICT:
					hb_write_dict_column(w, wc);
					break;
				case HB_COL_FIXED:
					hb_write_fixed_column(w, wc);
					break;
				case HB_COL_VAR:
					hb_write_var_column(w, wc);
					break;
			}
		}
		hb_out_flush(&w->out);
		/* a column that was left out cannot be searched */
		if (w->dir.seq_col >= 0 && w->dir.cols[w->dir.seq_col].kind != HB_COL_INT &&
			w->dir.cols[w->dir.seq_col].kind != HB_COL_NULL)
			w->dir.seq_col = -1;
		b->dir.len = 0;
		hb_directory_put(&b->dir, &w->dir, chunk_id);
		info->nrows = nrows;
		info->first_block = w->dir.first_block;
		info->last_block = w->dir.last_block;
		info->body_len = w->out.pos;
		info->dir = b->dir.data;
		info->dir_len = b->dir.len;
	}
	for (i = 0; i < w->dir.ncols; i++)
	{
		hb_free(w->mem, w->cols[i].used);
		hb_free(w->mem, (void *) w->dir.cols[i].first.data);
		hb_free(w->mem, (void *) w->dir.cols[i].bound_entry.data);
	}
	for (i = 0; i < w->ndicts; i++)
	{
		hb_free(w->mem, w->dicts[i].map);
		hb_free(w->mem, w->dicts[i].used);
	}
	hb_free(w->mem, w->starts);
	hb_free(w->mem, w->tmp);
	hb_free(w->mem, w->dicts);
	hb_free(w->mem, w->cols);
	hb_free(w->mem, w->dir.dicts);
	hb_free(w->mem, w->dir.cols);
	hb_free(w->mem, w->out.buf);
	hb_free(b->mem, w);
	return ok;
}
