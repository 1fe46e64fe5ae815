/*
 * hb_reader_values.c
 *		Values of columns of byte strings without a dictionary.
 *
 * Only the groups or sub-blocks that hold the rows asked for are read, runs
 * of neighbours at once.  What was read of the last page stays, so that the
 * rows of a page may be asked for in several calls.
 */
#include "chunk/hb_reader_int.h"
#include "codec/hb_hash.h"
#include "codec/hb_hashindex.h"
#include "codec/hb_lz.h"
#include "codec/hb_subblock.h"

#define RUN_MOST	(1024 * 1024)	/* bytes read at once */
#define PROBE_FROM	(4 * 1024 * 1024)	/* longer: is its end there at all? */
#define LINES_FEW	16			/* of a hash index: read one by one */
#define LINES_PER_READ	128		/* of them read for what one read costs */
#define POOL_KEEP	(1024 * 1024)	/* a pool's block larger than this is freed */

static uint8_t *
pool_get(HbReader *r, HbPool *pool, size_t len)
{
	uint8_t    *p;

	len = len > 0 ? (len + 7) & ~(size_t) 7 : 8;
	if (pool->cap - pool->used < len)
	{
		size_t		cap = len > 4096 ? len : 4096;

		if (pool->block != NULL)
		{
			/* others still point into it: keep it until the reset */
			if (pool->nold % 8 == 0)
				pool->old = pool->old == NULL ? hb_alloc(r->mem, sizeof(HbSlice) * 8) :
					hb_realloc(r->mem, pool->old, sizeof(HbSlice) * (pool->nold + 8));
			pool->old[pool->nold].data = pool->block;
			pool->old[pool->nold++].len = 0;
			pool->block = NULL;
			pool->cap = pool->used = 0;
			if (cap < pool->total && pool->total < POOL_KEEP)
				cap = pool->total;
		}
		pool->block = hb_alloc(r->mem, cap);
		pool->cap = cap;
		pool->used = 0;
		pool->total += cap;
	}
	p = pool->block + pool->used;
	pool->used += len;
	return p;
}

static void
pool_reset(HbReader *r, HbPool *pool)
{
	uint32_t	i;

	for (i = 0; i < pool->nold; i++)
		hb_free(r->mem, (void *) pool->old[i].data);
	pool->nold = 0;
	pool->used = 0;
	pool->total = pool->cap;
	if (pool->cap > POOL_KEEP)
	{
		hb_free(r->mem, pool->block);
		pool->block = NULL;
		pool->cap = pool->total = 0;
	}
}

static HbValues *
values_of(HbReader *r, HbRCol *c)
{
	if (c->values == NULL)
	{
		c->values = hb_alloc0(r->mem, sizeof(HbValues));
		c->values->page = HB_NO_PAGE;
		c->values->edge_page = HB_NO_PAGE;
	}
	return c->values;
}

/* Reads groups from..to (inclusive) of a page of a FIXED column. */
static bool
load_groups(HbReader *r, const HbColDesc *d, HbValues *v, uint32_t page, uint32_t from, uint32_t to)
{
	uint32_t	per = HB_GROUP_ROWS * (uint32_t) d->width + 4;
	uint32_t	rows = hb_page_rows(r->dir.nrows, page);
	uint32_t	first = page * (HB_PAGE_ROWS / HB_GROUP_ROWS) + from;
	uint32_t	end = (to + 1) * HB_GROUP_ROWS < rows ? (to + 1) * HB_GROUP_ROWS : rows;
	uint32_t	len = (end - from * HB_GROUP_ROWS) * (uint32_t) d->width + (to + 1 - from) * 4;
	uint8_t    *p = pool_get(r, &v->pool, len);
	uint32_t	g;

	if (!hb_reader_read(r, HB_PART_VALUES, d->values_off + (uint64_t) first * per, len, p))
		return hb_reader_fail(r, "values", d->column_no, first, "could not be read");
	for (g = from; g <= to; g++)
	{
		uint32_t	n = rows - g * HB_GROUP_ROWS < HB_GROUP_ROWS ? rows - g * HB_GROUP_ROWS : HB_GROUP_ROWS;

		if (!hb_reader_crc(r, p, (size_t) n * d->width, d->column_no, HB_SEED_GROUP,
						   page * (HB_PAGE_ROWS / HB_GROUP_ROWS) + g))
			return hb_reader_fail(r, "values", d->column_no, page * (HB_PAGE_ROWS / HB_GROUP_ROWS) + g,
								  "checksum does not match");
		v->groups[g] = p;
		p += per;
	}
	return true;
}

/* Sets len to 0 where NULL; the bytes of such rows are zeros. */
static bool
clear_nulls(HbReader *r, int col, uint32_t page, const uint16_t *rows, int n, HbSlice *out)
{
	uint64_t	nulls[HB_PAGE_WORDS];
	bool		any;
	int			i;

	if (!hb_reader_nulls(r, col, page, nulls, &any))
		return false;
	for (i = 0; i < n && any; i++)
	{
		if ((nulls[rows[i] / 64] >> (rows[i] % 64)) & 1)
			out[i].len = 0;
	}
	return true;
}

static bool
fixed_bytes(HbReader *r, int src, HbValues *v, uint32_t page, const uint16_t *rows, int n,
			HbSlice *out)
{
	const HbColDesc *d = r->cols[src].d;
	uint32_t	width = d->width;
	uint32_t	run = width * HB_GROUP_ROWS < RUN_MOST ? RUN_MOST / (width * HB_GROUP_ROWS) : 1;
	int			i;

	if (v->page != page)
	{
		pool_reset(r, &v->pool);
		memset(v->groups, 0, sizeof(v->groups));
		v->page = page;
	}
	for (i = 0; i < n; i++)
	{
		uint32_t	g = rows[i] / HB_GROUP_ROWS;

		if (v->groups[g] == NULL)
		{
			uint32_t	to = g;
			int			k;

			/* neighbours that are wanted too */
			for (k = i + 1; k < n; k++)
			{
				uint32_t	next = rows[k] / HB_GROUP_ROWS;

				if (next == to)
					continue;
				if (next != to + 1 || v->groups[next] != NULL || next - g >= run)
					break;
				to = next;
			}
			if (!load_groups(r, d, v, page, g, to))
				return false;
		}
		out[i].data = v->groups[g] + (size_t) (rows[i] % HB_GROUP_ROWS) * width;
		out[i].len = width;
	}
	return d->null_count == 0 || clear_nulls(r, src, page, rows, n, out);
}

/* The page index of a VAR column; loaded once. */
static bool
load_index(HbReader *r, const HbColDesc *d, HbValues *v)
{
	uint32_t	len = r->dir.npages * 8;
	uint8_t    *buf;

	if (v->index != NULL || r->dir.npages == 1)
		return true;
	buf = hb_alloc(r->mem, len + 4);
	if (!hb_reader_read(r, HB_PART_PAGE_TABLE, d->index_off, len + 4, buf) ||
		!hb_reader_crc(r, buf, len, d->column_no, HB_SEED_PAGE_INDEX, 0))
	{
		hb_free(r->mem, buf);
		return hb_reader_fail(r, "page index", d->column_no, -1, "checksum does not match");
	}
	v->index = buf;
	return true;
}

static bool
sub_valid(const HbColDesc *d, const HbSub *s)
{
	return s->len >= 4 && s->off <= d->values_len && s->len <= d->values_len - s->off &&
		s->raw_len <= HB_MAX_VALUE + HB_SUB_CODED_MAX &&
		hb_subblock_plausible(s->len - 4, s->raw_len, s->flags);
}

/* Table entries of sub-blocks [from, to) into v->subs. */
static bool
load_subs(HbReader *r, const HbColDesc *d, HbValues *v, uint32_t from, uint32_t to)
{
	const uint32_t group_len = 8 + HB_SUB_GROUP * HB_SUB_ENTRY + 4;
	uint32_t	g0 = from / HB_SUB_GROUP;
	uint32_t	g1 = (to - 1) / HB_SUB_GROUP;
	uint32_t	last = (g1 + 1) * HB_SUB_GROUP < d->nsub ? (g1 + 1) * HB_SUB_GROUP : d->nsub;
	uint32_t	len = (g1 - g0) * group_len + 8 + (last - g1 * HB_SUB_GROUP) * HB_SUB_ENTRY + 4;
	uint8_t    *buf;
	uint32_t	g;
	uint32_t	i;

	if (v->subs_cap < to - from)
	{
		uint32_t	cap = (to - from) * 2;

		hb_free(r->mem, v->subs);
		v->subs = NULL;
		v->subs_cap = 0;
		v->subs = hb_alloc(r->mem, sizeof(HbSub) * cap);
		v->subs_cap = cap;
	}
	buf = hb_reader_scratch(r, len);
	if (!hb_reader_read(r, HB_PART_VALUES, d->subtable_off + (uint64_t) g0 * group_len, len, buf))
		return hb_reader_fail(r, "sub-block table", d->column_no, g0, "could not be read");
	for (g = g0; g <= g1; g++)
	{
		uint32_t	first = g * HB_SUB_GROUP;
		uint32_t	n = d->nsub - first < HB_SUB_GROUP ? d->nsub - first : HB_SUB_GROUP;
		uint64_t	off;

		if (!hb_reader_crc(r, buf, 8 + (size_t) n * HB_SUB_ENTRY, d->column_no, HB_SEED_SUBTABLE, g))
			return hb_reader_fail(r, "sub-block table", d->column_no, g, "checksum does not match");
		off = hb_get64(buf);
		for (i = 0; i < n; i++)
		{
			const uint8_t *e = buf + 8 + i * HB_SUB_ENTRY;
			HbSub		s;

			s.off = off;
			s.first_row = hb_get32(e);
			s.raw_len = hb_get32(e + 4);
			s.len = hb_get32(e + 8);
			s.flags = hb_get16(e + 12);
			s.data = NULL;
			if (!sub_valid(d, &s))
				return hb_reader_fail(r, "sub-block table", d->column_no, first + i,
									  "an entry is damaged");
			off += s.len;
			if (first + i >= from && first + i < to)
				v->subs[first + i - from] = s;
		}
		buf += group_len;
	}
	return true;
}

/* Makes page the one whose lengths and sub-blocks are at hand. */
static bool
var_page(HbReader *r, int src, HbValues *v, uint32_t page)
{
	HbRCol	   *c = &r->cols[src];
	const HbColDesc *d = c->d;
	uint32_t	rows = hb_page_rows(r->dir.nrows, page);
	uint32_t	from = 0;
	uint32_t	to = d->nsub;
	uint64_t	sum = 0;
	uint32_t	i;

	if (v->page == page)
		return true;
	v->page = HB_NO_PAGE;
	pool_reset(r, &v->pool);
	v->nsubs = 0;
	v->first_off = 0;
	if (v->offs == NULL)
	{
		/* a small chunk has small pages */
		uint32_t	most = hb_page_rows(r->dir.nrows, 0);

		v->offs = hb_alloc(r->mem, (sizeof(uint64_t) + sizeof(uint32_t)) * ((size_t) most + 1));
		v->lens = (uint32_t *) (v->offs + most + 1);
	}
	if (!hb_intcol_page32(r, &c->ints, page, (uint32_t) d->ints.max, v->lens))
		return false;
	for (i = 0; i < rows; i++)
	{
		v->offs[i] = sum;
		sum += v->lens[i];
	}
	v->offs[rows] = sum;
	if (d->nsub > 0 && sum > 0)
	{
		if (!load_index(r, d, v))
			return false;
		if (v->index != NULL)
		{
			from = hb_get32(v->index + 8 * page);
			v->first_off = hb_get32(v->index + 8 * page + 4);
			if (page + 1 < r->dir.npages)
			{
				to = hb_get32(v->index + 8 * page + 8);
				if (hb_get32(v->index + 8 * page + 12) > 0)
					to++;
			}
		}
		if (from >= to || to > d->nsub)
			return hb_reader_fail(r, "page index", d->column_no, page, "an entry is damaged");
		if (d->nsub == 1)
		{
			if (v->subs_cap == 0)
			{
				v->subs = hb_alloc(r->mem, sizeof(HbSub) * 4);
				v->subs_cap = 4;
			}
			v->subs[0].off = 0;
			v->subs[0].first_row = 0;
			v->subs[0].raw_len = d->sub_raw_len;
			v->subs[0].len = (uint32_t) d->values_len;
			v->subs[0].flags = d->sub_flags;
			v->subs[0].data = NULL;
			if (d->values_len > UINT32_MAX || !sub_valid(d, &v->subs[0]))
				return hb_reader_fail(r, "sub-block", d->column_no, 0, "an entry is damaged");
		}
		else if (!load_subs(r, d, v, from, to))
			return false;
		/* rows of the page must ascend from sub-block to sub-block */
		for (i = 1; i < to - from; i++)
		{
			uint32_t	before = i == 1 ? page * HB_PAGE_ROWS : v->subs[i - 1].first_row;

			if (v->subs[i].first_row < before || v->subs[i].first_row >= page * HB_PAGE_ROWS + rows)
				return hb_reader_fail(r, "sub-block table", d->column_no, from + i,
									  "rows do not ascend");
		}
		v->nsubs = to - from;
	}
	v->first_sub = from;
	v->page = page;
	return true;
}

/* The rows of the page [*begin, *end) that sub-block k of it holds. */
static void
sub_rows(const HbReader *r, const HbValues *v, uint32_t k, uint32_t *begin, uint32_t *end)
{
	uint32_t	base = v->page * HB_PAGE_ROWS;

	*begin = k == 0 ? 0 : v->subs[k].first_row - base;
	*end = k + 1 < v->nsubs ? v->subs[k + 1].first_row - base : hb_page_rows(r->dir.nrows, v->page);
}

/* Undoes codec and trimming of sub-block k of the page. */
static bool
decode_sub(HbReader *r, const HbColDesc *d, HbValues *v, uint32_t k, const uint8_t *src)
{
	HbSub	   *s = &v->subs[k];
	uint32_t	len = s->len - 4;
	int			codec = s->flags & HB_SUB_CODEC;
	uint8_t    *raw = pool_get(r, &v->pool, s->raw_len);

	if (!(s->flags & HB_SUB_TRIM))
	{
		if (codec == HB_CODEC_NONE)
			memcpy(raw, src, len);
		else if (!hb_lz_decompress(codec, src, len, raw, s->raw_len))
			return hb_reader_fail(r, "sub-block", d->column_no, v->first_sub + k, "cannot be decompressed");
	}
	else
	{
		uint32_t	begin;
		uint32_t	end;

		/* a trimmed sub-block never crosses the end of a page */
		if (k == 0 && v->first_off > 0)
			return hb_reader_fail(r, "sub-block", d->column_no, v->first_sub + k, "is not whole");
		sub_rows(r, v, k, &begin, &end);
		if (codec != HB_CODEC_NONE)
		{
			/* how long the trimmed form is follows from nothing: it says */
			size_t		trimmed_len;
			uint8_t    *trimmed;

			if (len < 4)
				return hb_reader_fail(r, "sub-block", d->column_no, v->first_sub + k, "is too short");
			trimmed_len = hb_get32(src);
			if (trimmed_len > s->raw_len)
				return hb_reader_fail(r, "sub-block", d->column_no, v->first_sub + k,
									  "length is out of range");
			trimmed = pool_get(r, &v->pool, trimmed_len);
			if (!hb_lz_decompress(codec, src + 4, len - 4, trimmed, trimmed_len))
				return hb_reader_fail(r, "sub-block", d->column_no, v->first_sub + k,
									  "cannot be decompressed");
			src = trimmed;
			len = (uint32_t) trimmed_len;
		}
		if (!hb_subblock_untrim(src, len, v->lens + begin, end - begin, raw, s->raw_len))
			return hb_reader_fail(r, "sub-block", d->column_no, v->first_sub + k, "words are damaged");
	}
	s->data = raw;
	return true;
}

/* Reads sub-blocks from..to (inclusive) of the page, which lie together. */
static bool
load_run(HbReader *r, const HbColDesc *d, HbValues *v, uint32_t from, uint32_t to)
{
	uint64_t	off = v->subs[from].off;
	uint64_t	len = v->subs[to].off + v->subs[to].len - off;
	bool		plain = true;
	uint8_t    *buf;
	uint32_t	k;

	for (k = from; k <= to; k++)
		plain = plain && v->subs[k].flags == 0;
	if (len > PROBE_FROM)
	{
		uint8_t		last[4];

		/* do not ask for memory for bytes that do not exist */
		if (!hb_reader_read(r, HB_PART_VALUES, d->values_off + off + len - 4, 4, last))
			return hb_reader_fail(r, "sub-block", d->column_no, v->first_sub + from, "could not be read");
	}
	/* plain values are used where they were read to */
	buf = plain ? pool_get(r, &v->pool, len) : hb_reader_scratch(r, len);
	if (!hb_reader_read(r, HB_PART_VALUES, d->values_off + off, (uint32_t) len, buf))
		return hb_reader_fail(r, "sub-block", d->column_no, v->first_sub + from, "could not be read");
	for (k = from; k <= to; k++)
	{
		HbSub	   *s = &v->subs[k];
		const uint8_t *p = buf + (s->off - off);

		if (!hb_reader_crc(r, p, s->len - 4, d->column_no, HB_SEED_SUBBLOCK, v->first_sub + k))
			return hb_reader_fail(r, "sub-block", d->column_no, v->first_sub + k,
								  "checksum does not match");
		if (plain)
			s->data = p;
		else if (!decode_sub(r, d, v, k, p))
			return false;
	}
	return true;
}

static bool
var_bytes(HbReader *r, int src, HbValues *v, uint32_t page, const uint16_t *rows, int n,
		  HbSlice *out)
{
	const HbColDesc *d = r->cols[src].d;
	uint32_t	base = page * HB_PAGE_ROWS;
	uint32_t	k = 0;
	int			i;

	if (!var_page(r, src, v, page))
		return false;
	for (i = 0; i < n; i++)
	{
		uint32_t	row = rows[i];
		uint64_t	at;

		out[i].len = v->lens[row];
		out[i].data = (const uint8_t *) "";
		if (out[i].len == 0)
			continue;
		if (v->nsubs == 0)
			return hb_reader_fail(r, "page", d->column_no, page, "a length is damaged");
		while (k + 1 < v->nsubs && v->subs[k + 1].first_row <= base + row)
			k++;
		if (v->subs[k].data == NULL)
		{
			uint32_t	to = k;
			int			j;

			/* neighbours that are wanted too */
			for (j = i + 1; j < n && to + 1 < v->nsubs; j++)
			{
				if (v->lens[rows[j]] == 0 || v->subs[to + 1].first_row > base + rows[j])
					continue;
				/* row j lies behind sub-block to: in the next, or further on */
				if ((to + 2 < v->nsubs && v->subs[to + 2].first_row <= base + rows[j]) ||
					v->subs[to + 1].data != NULL ||
					v->subs[to + 1].off != v->subs[to].off + v->subs[to].len ||
					v->subs[to + 1].off + v->subs[to + 1].len - v->subs[k].off > RUN_MOST)
					break;
				to++;
			}
			if (!load_run(r, d, v, k, to))
				return false;
		}
		if (k == 0)
			at = v->first_off + v->offs[row];
		else
			at = v->offs[row] - v->offs[v->subs[k].first_row - base];
		if (at > v->subs[k].raw_len || out[i].len > v->subs[k].raw_len - at)
			return hb_reader_fail(r, "sub-block", d->column_no, v->first_sub + k,
								  "a value is out of range");
		out[i].data = v->subs[k].data + at;
	}
	return true;
}

static bool
source_bytes(HbReader *r, int src, HbValues *v, uint32_t page, const uint16_t *rows, int n,
			 HbSlice *out)
{
	if (r->cols[src].d->kind == HB_COL_FIXED)
		return fixed_bytes(r, src, v, page, rows, n, out);
	return var_bytes(r, src, v, page, rows, n, out);
}

/*
 * A PREV column: row i is row i - 1 of the other column, row 0 is in the
 * directory.  It reads with memory of its own, so that values handed out of
 * the other column stay.
 */
static bool
prev_bytes(HbReader *r, HbRCol *c, uint32_t page, const uint16_t *rows, int n, HbSlice *out)
{
	const HbColDesc *d = c->d;
	HbValues   *v = c->values;
	uint16_t	shifted[HB_PAGE_ROWS];
	int			skip = 0;
	int			i;

	if (n > 0 && rows[0] == 0)
	{
		skip = 1;
		if (page == 0)
			out[0] = d->first;
		else
		{
			if (v->edge_page != page - 1)
			{
				uint16_t	last = HB_PAGE_ROWS - 1;
				HbSlice		value;

				v->edge_page = HB_NO_PAGE;
				if (!source_bytes(r, (int) d->prev_col, v, page - 1, &last, 1, &value))
					return false;
				if (v->edge_cap < value.len + 1)
				{
					hb_free(r->mem, v->edge);
					v->edge = NULL;
					v->edge_cap = 0;
					v->edge = hb_alloc(r->mem, (size_t) value.len + 1);
					v->edge_cap = value.len + 1;
				}
				memcpy(v->edge, value.data, value.len);
				v->edge_len = value.len;
				v->edge_page = page - 1;
			}
			out[0].data = v->edge;
			out[0].len = v->edge_len;
		}
	}
	for (i = skip; i < n; i++)
		shifted[i - skip] = (uint16_t) (rows[i] - 1);
	return n == skip ||
		source_bytes(r, (int) d->prev_col, v, page, shifted, n - skip, out + skip);
}

bool
hb_reader_bytes(HbReader *r, int col, uint32_t page, const uint16_t *rows_in_page, int n,
				HbSlice *out)
{
	HbRCol	   *c = &r->cols[col];

	switch (c->d->kind)
	{
		case HB_COL_FIXED:
		case HB_COL_VAR:
			return source_bytes(r, col, values_of(r, c), page, rows_in_page, n, out);
		case HB_COL_PREV:
			values_of(r, c);
			return prev_bytes(r, c, page, rows_in_page, n, out);
	}
	return hb_reader_fail(r, "column", c->d->column_no, page, "is not stored as values");
}

bool
hb_reader_lengths(HbReader *r, int col, uint32_t page, uint32_t *out)
{
	HbRCol	   *c = &r->cols[col];
	const HbColDesc *d = c->d;
	uint32_t	rows = hb_page_rows(r->dir.nrows, page);
	uint32_t	i;

	if (d->kind == HB_COL_VAR)
		return hb_intcol_page32(r, &c->ints, page, (uint32_t) d->ints.max, out);
	if (d->kind == HB_COL_FIXED)
	{
		uint64_t	nulls[HB_PAGE_WORDS];
		bool		any;

		if (!hb_reader_nulls(r, col, page, nulls, &any))
			return false;
		for (i = 0; i < rows; i++)
			out[i] = (nulls[i / 64] >> (i % 64)) & 1 ? 0 : d->width;
		return true;
	}
	if (d->kind == HB_COL_PREV)
	{
		uint32_t	carry = d->first.len;

		if (page > 0)
		{
			if (!hb_reader_lengths(r, (int) d->prev_col, page - 1, out))
				return false;
			carry = out[HB_PAGE_ROWS - 1];
		}
		if (!hb_reader_lengths(r, (int) d->prev_col, page, out))
			return false;
		for (i = 0; i < rows; i++)
		{
			uint32_t	next = out[i];

			out[i] = carry;
			carry = next;
		}
		return true;
	}
	return hb_reader_fail(r, "column", d->column_no, page, "is not stored as values");
}

static void
add_row(uint32_t *rows, int max, int *n, uint32_t row)
{
	int			i;

	/* ascending; there are few */
	if (*n < max)
	{
		for (i = *n; i > 0 && rows[i - 1] > row; i--)
			rows[i] = rows[i - 1];
		rows[i] = row;
	}
	else if (max > 0 && row < rows[max - 1])
	{
		for (i = max - 1; i > 0 && rows[i - 1] > row; i--)
			rows[i] = rows[i - 1];
		rows[i] = row;
	}
	(*n)++;
}

/* Is the value of a row this one?  Reads one group. */
static bool
row_equals(HbReader *r, int col, HbValues *v, uint32_t row, HbSlice value, bool *equal)
{
	uint16_t	in_page = (uint16_t) (row % HB_PAGE_ROWS);
	HbSlice		got;

	if (!fixed_bytes(r, col, v, row / HB_PAGE_ROWS, &in_page, 1, &got))
		return false;
	*equal = got.len == value.len && memcmp(got.data, value.data, value.len) == 0;
	return true;
}

/*
 * A line of the hash index, with its checksum taken out.  Who asks for the
 * rows of one value after the other gets the whole index read at once when as
 * many lines have been read as that is worth: the rest costs no read at all.
 */
static bool
hash_line(HbReader *r, HbRCol *c, uint32_t at, uint8_t line[HB_HASHLINE])
{
	const HbColDesc *d = c->d;
	uint8_t		stored[4];

	if (c->lines == NULL && c->probes++ >= LINES_FEW + d->hash_lines / LINES_PER_READ)
	{
		uint32_t	len = d->hash_lines * HB_HASHLINE;
		uint8_t    *lines = hb_alloc(r->mem, len);

		if (!hb_reader_read(r, HB_PART_HASH, d->hash_off, len, lines))
		{
			hb_free(r->mem, lines);
			return hb_reader_fail(r, "hash index", d->column_no, at, "could not be read");
		}
		c->lines = lines;
	}
	if (c->lines != NULL)
		memcpy(line, c->lines + (size_t) at * HB_HASHLINE, HB_HASHLINE);
	else if (!hb_reader_read(r, HB_PART_HASH, d->hash_off + (uint64_t) at * HB_HASHLINE,
							 HB_HASHLINE, line))
		return hb_reader_fail(r, "hash index", d->column_no, at, "could not be read");
	memcpy(stored, line + 1, 4);
	memset(line + 1, 0, 4);
	if (!hb_crc_matches(hb_crc32c(hb_crc_seed(r->chunk_id, d->column_no, HB_SEED_HASH, at),
								  line, HB_HASHLINE), stored))
		return hb_reader_fail(r, "hash index", d->column_no, at, "checksum does not match");
	return true;
}

bool
hb_reader_hash_find(HbReader *r, int col, HbSlice value, uint32_t *rows, int max, int *n)
{
	HbRCol	   *c = &r->cols[col];
	const HbColDesc *d = c->d;
	HbValues   *v;
	uint64_t	hash;
	uint32_t	home;
	uint32_t	i;

	*n = 0;
	if (d->kind == HB_COL_PREV && c->info.has_hash_index)
	{
		/* one row further than in the other column; the first row has its own */
		bool		first = d->first.data != NULL && hb_slice_cmp(d->first, value) == 0;
		int			k;

		if (!hb_reader_hash_find(r, (int) d->prev_col, value, rows, max, n))
			return false;
		for (k = 0; k < *n && k < max; k++)
			rows[k]++;
		/* what the last row of the other column has comes in no row here */
		if (*n > 0 && *n <= max && rows[*n - 1] == r->dir.nrows)
			(*n)--;
		if (first)
			add_row(rows, max, n, 0);
		return true;
	}
	if (d->kind != HB_COL_FIXED || d->hash_lines == 0)
		return hb_reader_fail(r, "hash index", d->column_no, -1, "the column has none");
	if (value.len != d->width)
		return true;
	v = values_of(r, c);
	hash = hb_hash64(value.data, value.len);
	home = hb_hashindex_home(hash, d->hash_lines);
	for (i = 0; i < HB_HASH_PROBE_MAX && i < d->hash_lines; i++)
	{
		uint32_t	at = (home + i) % d->hash_lines;
		uint8_t		line[HB_HASHLINE];
		uint32_t	found[HB_HASHLINE_MAX];
		bool		more;
		int			k;
		int			nfound;

		if (!hash_line(r, c, at, line))
			return false;
		nfound = hb_hashindex_match(line, d->rowbits, hash, found, &more);
		if (nfound < 0)
			return hb_reader_fail(r, "hash index", d->column_no, at, "a line is damaged");
		for (k = 0; k < nfound; k++)
		{
			bool		equal;

			if (found[k] >= r->dir.nrows)
				return hb_reader_fail(r, "hash index", d->column_no, at, "a row is out of range");
			if (!row_equals(r, col, v, found[k], value, &equal))
				return false;
			if (equal)
				add_row(rows, max, n, found[k]);
		}
		if (!more)
			break;
	}
	return true;
}
