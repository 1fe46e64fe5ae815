/*
 * hb_reader_blocks.c
 *		Block offsets: from blocks to rows and back, sequences, positions.
 *
 * Two hidden integer columns have for each block its number and its first
 * row; neither is stored where it can be computed (consecutive numbers, one
 * row a block).  Look-ups decode one page of each and keep it.
 */
#include "chunk/hb_reader_int.h"

static bool
no_blocks(HbReader *r)
{
	return hb_reader_fail(r, "block offsets", HB_OWNER_NUMBERS, -1, "the chunk has none");
}

static bool
block_number(HbReader *r, uint32_t i, int64_t *number)
{
	const int64_t *v;

	if (r->dir.consecutive)
	{
		*number = r->dir.first_block + (int64_t) i;
		return true;
	}
	if (!hb_intcol_decoded(r, &r->numbers, i / HB_PAGE_ROWS, &v))
		return false;
	*number = v[i % HB_PAGE_ROWS];
	return true;
}

/* The first row of block i, the number of rows for i = nblocks. */
static bool
block_first(HbReader *r, uint32_t i, uint32_t *first)
{
	const int64_t *v;

	if (i >= r->dir.nblocks)
	{
		*first = r->dir.nrows;
		return true;
	}
	if (r->dir.dense)
	{
		*first = i;
		return true;
	}
	if (!hb_intcol_decoded(r, &r->firsts, i / HB_PAGE_ROWS, &v))
		return false;
	if (v[i % HB_PAGE_ROWS] < 0 || v[i % HB_PAGE_ROWS] >= (int64_t) r->dir.nrows)
		return hb_reader_fail(r, "block offsets", HB_OWNER_FIRSTS, i, "a row is out of range");
	*first = (uint32_t) v[i % HB_PAGE_ROWS];
	return true;
}

/*
 * The first of n ascending values that is >= value (n if none): the page by
 * the page table, then within it.
 */
static bool
lower_bound(HbReader *r, HbIntCol *ic, int64_t value, uint32_t n, uint32_t *index)
{
	uint32_t	lo = 0;
	uint32_t	hi = ic->d->npages;
	const int64_t *v;
	uint32_t	page;
	uint32_t	end;

	if (ic->d->kind == HB_INT_CONST)
	{
		*index = ic->d->min >= value ? 0 : n;
		return true;
	}
	/* the last page whose minimum is < value may hold it */
	while (lo < hi)
	{
		uint32_t	mid = (lo + hi) / 2;
		const HbPageEntry *e;

		if (!hb_intcol_entry(r, ic, mid, &e))
			return false;
		if (e->min < value)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == 0)
	{
		*index = 0;
		return true;
	}
	page = lo - 1;
	if (!hb_intcol_decoded(r, ic, page, &v))
		return false;
	end = hb_page_rows(n, page);
	lo = 0;
	while (lo < end)
	{
		uint32_t	mid = (lo + end) / 2;

		if (v[mid] < value)
			lo = mid + 1;
		else
			end = mid;
	}
	*index = page * HB_PAGE_ROWS + lo;
	return true;
}

/* The first block whose number is >= number. */
static bool
find_block(HbReader *r, int64_t number, uint32_t *i)
{
	if (number <= r->dir.first_block)
		*i = 0;
	else if (number > r->dir.last_block)
		*i = r->dir.nblocks;
	else if (r->dir.consecutive)
		*i = (uint32_t) (number - r->dir.first_block);
	else
		return lower_bound(r, &r->numbers, number, r->dir.nblocks, i);
	return true;
}

/* The block that has this row. */
static bool
block_of_row(HbReader *r, uint32_t row, uint32_t *i)
{
	if (r->dir.dense)
		*i = row;
	else
	{
		if (!lower_bound(r, &r->firsts, (int64_t) row + 1, r->dir.nblocks, i))
			return false;
		/* the first block begins at row 0, so there is one before */
		*i = *i > 0 ? *i - 1 : 0;
	}
	return true;
}

bool
hb_reader_block_rows(HbReader *r, int64_t lo, int64_t hi, uint32_t *first, uint32_t *last)
{
	uint32_t	i;
	uint32_t	j;

	if (!r->dir.has_blocks)
		return no_blocks(r);
	*first = *last = 0;
	if (lo > hi || hi < r->dir.first_block || lo > r->dir.last_block)
		return true;
	if (!find_block(r, lo, &i))
		return false;
	if (hi >= r->dir.last_block)
		j = r->dir.nblocks;
	else if (!find_block(r, hi + 1, &j))
		return false;
	if (i >= j)
		return true;
	if (!block_first(r, i, first) || !block_first(r, j, last))
		return false;
	if (*first > *last)
		return hb_reader_fail(r, "block offsets", HB_OWNER_FIRSTS, i, "rows do not ascend");
	return true;
}

/*
 * Walks over the blocks of a run of rows: *i is the block of row, *end where
 * it ends (at most limit).  False on damaged bytes.
 */
static bool
block_end(HbReader *r, uint32_t i, uint32_t row, uint32_t limit, uint32_t *end)
{
	if (!block_first(r, i + 1, end))
		return false;
	if (*end <= row)
		return hb_reader_fail(r, "block offsets", HB_OWNER_FIRSTS, i, "rows do not ascend");
	if (*end > limit)
		*end = limit;
	return true;
}

bool
hb_reader_row_blocks(HbReader *r, uint32_t first, uint32_t n, int64_t *out)
{
	uint32_t	row = first;
	uint32_t	limit = first + n;
	uint32_t	i;

	if (!r->dir.has_blocks)
		return no_blocks(r);
	if (n == 0)
		return true;
	if (r->dir.dense && r->dir.consecutive)
	{
		for (i = 0; i < n; i++)
			out[i] = r->dir.first_block + (int64_t) (first + i);
		return true;
	}
	if (!block_of_row(r, first, &i))
		return false;
	while (row < limit)
	{
		uint32_t	end;
		int64_t		number;

		if (!block_number(r, i, &number) || !block_end(r, i, row, limit, &end))
			return false;
		for (; row < end; row++)
			*out++ = number;
		i++;
	}
	return true;
}

/* Bits set where a row of the page begins a block; kept for the next time. */
bool
hb_reader_page_starts(HbReader *r, uint32_t page, const uint64_t **starts)
{
	*starts = r->starts;
	if (r->starts_page == page)
		return true;
	r->starts_page = HB_NO_PAGE;
	if (!r->dir.has_blocks)
		return no_blocks(r);
	if (r->dir.dense)
		memset(r->starts, 0xff, sizeof(r->starts));
	else
	{
		uint32_t	row = page * HB_PAGE_ROWS;
		uint32_t	limit = row + hb_page_rows(r->dir.nrows, page);
		uint32_t	base = row;
		uint32_t	i;
		uint32_t	first;

		memset(r->starts, 0, sizeof(r->starts));
		if (!block_of_row(r, row, &i) || !block_first(r, i, &first))
			return false;
		if (first == row)
			r->starts[0] |= 1;
		for (;;)
		{
			uint32_t	end;

			if (!block_end(r, i, row, limit, &end))
				return false;
			if (end == limit)
				break;
			r->starts[(end - base) / 64] |= UINT64_C(1) << ((end - base) % 64);
			row = end;
			i++;
		}
	}
	r->starts_page = page;
	return true;
}

/* A page of a SEQ column. */
bool
hb_reader_sequence(HbReader *r, const HbIntDesc *d, uint32_t page, int64_t *out)
{
	uint32_t	row = page * HB_PAGE_ROWS;
	uint32_t	limit = row + hb_page_rows(r->dir.nrows, page);
	uint32_t	i;
	uint32_t	first;

	if (!r->dir.has_blocks)
	{
		/* the chunk counts as one block */
		for (; row < limit; row++)
			*out++ = (int64_t) ((uint64_t) d->base + row);
		return true;
	}
	if (!block_of_row(r, row, &i) || !block_first(r, i, &first))
		return false;
	while (row < limit)
	{
		uint32_t	end;
		uint64_t	v = (uint64_t) row - first + (i == 0 ? (uint64_t) d->base : 0);

		if (!block_end(r, i, row, limit, &end))
			return false;
		for (; row < end; row++)
			*out++ = (int64_t) v++;
		i++;
		first = row;
	}
	return true;
}

/* The part of a page's rows [lo, hi) whose value is index. */
static bool
search_page(HbReader *r, int col, uint32_t page, uint32_t lo, uint32_t hi, int64_t index,
			uint32_t *first, uint32_t *last)
{
	HbRCol	   *c = &r->cols[col];
	const int64_t *v;
	uint32_t	end = hi;

	*first = *last = lo;
	if (!hb_intcol_decoded(r, &c->ints, page, &v))
		return false;
	if (c->d->null_count > 0)
	{
		uint64_t	nulls[HB_PAGE_WORDS];
		bool		any;

		/* NULLs stand last in a block: leave them out */
		if (!hb_reader_nulls(r, col, page, nulls, &any))
			return false;
		while (any && end > lo && ((nulls[(end - 1) / 64] >> ((end - 1) % 64)) & 1))
			end--;
		hi = end;
	}
	while (lo < end)
	{
		uint32_t	mid = (lo + end) / 2;

		if (v[mid] < index)
			lo = mid + 1;
		else
			end = mid;
	}
	*first = lo;
	while (lo < hi && v[lo] == index)
		lo++;
	*last = lo;
	return true;
}

bool
hb_reader_position(HbReader *r, int64_t block, int64_t index, uint32_t *first, uint32_t *last)
{
	int			col = r->dir.seq_col;
	const HbIntDesc *d;
	uint32_t	begin;
	uint32_t	end;
	uint32_t	page;

	*first = *last = 0;
	if (col < 0)
	{
		hb_error_set(&r->error, HB_ERR_LIMIT, "position", -1, -1, "the chunk has no sequence column");
		return false;
	}
	if (!hb_reader_block_rows(r, block, block, &begin, &end))
		return false;
	if (begin == end || r->cols[col].d->kind == HB_COL_NULL)
		return true;
	d = &r->cols[col].d->ints;
	if (index < d->min || index > d->max)
		return true;
	if (d->kind == HB_INT_SEQ)
	{
		uint64_t	base = block == r->dir.first_block ? (uint64_t) d->base : 0;
		uint64_t	step = (uint64_t) index - base;

		if (step < end - begin)
		{
			*first = begin + (uint32_t) step;
			*last = *first + 1;
		}
		return true;
	}
	for (page = begin / HB_PAGE_ROWS; page <= (end - 1) / HB_PAGE_ROWS; page++)
	{
		uint32_t	base = page * HB_PAGE_ROWS;
		uint32_t	lo = begin > base ? begin - base : 0;
		uint32_t	hi = end - base < HB_PAGE_ROWS ? end - base : HB_PAGE_ROWS;
		uint32_t	from;
		uint32_t	to;
		int64_t		min;
		int64_t		max;
		bool		valid;

		if (!hb_reader_page_minmax(r, col, page, &min, &max, &valid))
			return false;
		if (!valid || index < min || index > max)
			continue;
		if (!search_page(r, col, page, lo, hi, index, &from, &to))
			return false;
		if (from < to)
		{
			if (*first == *last)
				*first = base + from;
			*last = base + to;
		}
	}
	return true;
}
