/*
 * hb_select.c
 *		The rows of a page that pass, as a bitmap.
 *
 * A page is looked at in two steps.  First page tables and byte bounds give
 * each leaf a verdict without reading the page; then the leaves that are left
 * are tested in the order of hb_bind.c, each on the rows that those before it
 * let pass.  Pages are decoded whole (integers, codes) or, for byte strings,
 * for the surviving rows only.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "scan/hb_scan_int.h"

/* Byte strings are fetched for this many rows at a time. */
#define HB_BYTES_GROUP	128

int64 *
hb_page_ints(HbCursor *cur, HbColumnState *cs, uint32 page)
{
	if (cs->ints_page != page)
	{
		if (cs->ints == NULL)
			cs->ints = MemoryContextAlloc(cur->scan->cxt,
										  HB_PAGE_ROWS * sizeof(int64));
		cs->ints_page = HB_NO_PAGE;
		HB_READ(cur, hb_reader_ints(cur->reader, cs->rcol, page, cs->ints));
		cs->ints_page = page;
	}
	return cs->ints;
}

uint32 *
hb_page_codes(HbCursor *cur, HbColumnState *cs, uint32 page)
{
	if (cs->codes_page != page)
	{
		if (cs->codes == NULL)
			cs->codes = MemoryContextAlloc(cur->scan->cxt,
										   HB_PAGE_ROWS * sizeof(uint32));
		cs->codes_page = HB_NO_PAGE;
		HB_READ(cur, hb_reader_codes(cur->reader, cs->rcol, page, cs->codes));
		cs->codes_page = page;
	}
	return cs->codes;
}

/* Null flags of a page, or NULL when it has none. */
const uint64 *
hb_page_nulls(HbCursor *cur, HbColumnState *cs, uint32 page)
{
	if (cs->info->null_count == 0)
		return NULL;
	if (cs->nulls_page != page)
	{
		if (cs->nulls == NULL)
			cs->nulls = MemoryContextAlloc(cur->scan->cxt,
										   HB_PAGE_WORDS * sizeof(uint64));
		cs->nulls_page = HB_NO_PAGE;
		HB_READ(cur, hb_reader_nulls(cur->reader, cs->rcol, page, cs->nulls,
									 &cs->any_null));
		cs->nulls_page = page;
	}
	return cs->any_null ? cs->nulls : NULL;
}

static inline bool
bits_empty(const uint64 *bits)
{
	uint64		any = 0;

	for (int w = 0; w < HB_PAGE_WORDS; w++)
		any |= bits[w];
	return any == 0;
}

static inline int
bits_count(const uint64 *bits)
{
	int			n = 0;

	for (int w = 0; w < HB_PAGE_WORDS; w++)
	{
		if (bits[w] != 0)
			n += pg_popcount64(bits[w]);
	}
	return n;
}

/* Row numbers of set bits, ascending. */
static int
bits_rows(const uint64 *bits, uint16 *rows)
{
	int			n = 0;

	for (int w = 0; w < HB_PAGE_WORDS; w++)
	{
		for (uint64 word = bits[w]; word != 0; word &= word - 1)
			rows[n++] = w * 64 + pg_rightmost_one_pos64(word);
	}
	return n;
}

static inline void
bits_set(uint64 *bits, int row)
{
	bits[row / 64] |= UINT64CONST(1) << (row % 64);
}

/* Sets bits first .. last - 1. */
static void
bits_set_range(uint64 *bits, uint32 first, uint32 last)
{
	for (uint32 w = first / 64; w < HB_PAGE_WORDS && w * 64 < last; w++)
	{
		uint64		word = ~UINT64CONST(0);

		if (w == first / 64)
			word &= ~UINT64CONST(0) << (first % 64);
		if (last < (w + 1) * 64)
			word &= ~(~UINT64CONST(0) << (last % 64));
		bits[w] |= word;
	}
}

/* 64 bytes that are 0 or 1 as the bits of a word. */
static inline uint64
pack_bytes(const uint8 *flags)
{
	uint64		word = 0;

	for (int i = 0; i < 8; i++)
		word |= ((hb_get64(flags + 8 * i) * UINT64CONST(0x0102040810204080)) >> 56)
			<< (8 * i);
	return word;
}

/*
 * Keeps the selected rows i for which test (an expression over i) holds.
 * Words with nothing selected are not looked at; in the others all rows are,
 * into bytes and then bits, since such a loop is vectorized and picking rows
 * is not.
 */
#define KEEP_ROWS(sel, test) \
	do { \
		for (int w_ = 0; w_ < HB_PAGE_WORDS; w_++) \
		{ \
			uint8	flags_[64]; \
			if ((sel)[w_] == 0) \
				continue; \
			for (int bit_ = 0; bit_ < 64; bit_++) \
			{ \
				int		i = w_ * 64 + bit_; \
				flags_[bit_] = (test); \
			} \
			(sel)[w_] &= pack_bytes(flags_); \
		} \
	} while (0)

static void
drop_nulls(HbCursor *cur, HbColumnState *cs, uint32 page, uint64 *sel)
{
	const uint64 *nulls = hb_page_nulls(cur, cs, page);

	if (nulls != NULL)
	{
		for (int w = 0; w < HB_PAGE_WORDS; w++)
			sel[w] &= ~nulls[w];
	}
}

static bool
set_has_int(const int64 *set, int n, int64 value)
{
	int			lo = 0;

	while (n > 1)
	{
		int			half = n / 2;

		if (set[lo + half] <= value)
			lo += half;
		n -= half;
	}
	return set[lo] == value;
}

static void
test_ints(HbCursor *cur, HbColumnState *cs, const HbBound *b, uint32 page,
		  uint64 *sel)
{
	const int64 *v = hb_page_ints(cur, cs, page);
	uint64		lo = (uint64) b->lo;
	uint64		span = (uint64) b->hi - lo;

	drop_nulls(cur, cs, page, sel);
	switch (b->test)
	{
		case HB_BOUND_INT_RANGE:
			KEEP_ROWS(sel, (uint64) v[i] - lo <= span);
			break;
		case HB_BOUND_INT_NE:
			KEEP_ROWS(sel, v[i] != b->lo);
			break;
		case HB_BOUND_INT_BITMAP:
			{
				uint16		rows[HB_PAGE_ROWS];
				int			n = bits_rows(sel, rows);

				memset(sel, 0, HB_PAGE_WORDS * sizeof(uint64));
				for (int i = 0; i < n; i++)
				{
					uint64		at = (uint64) v[rows[i]] - lo;

					if (at <= span && (b->bitmap[at / 64] >> (at % 64)) & 1)
						bits_set(sel, rows[i]);
				}
				break;
			}
		default:
			{
				uint16		rows[HB_PAGE_ROWS];
				int			n = bits_rows(sel, rows);

				memset(sel, 0, HB_PAGE_WORDS * sizeof(uint64));
				for (int i = 0; i < n; i++)
				{
					if (set_has_int(b->set, b->nset, v[rows[i]]))
						bits_set(sel, rows[i]);
				}
				break;
			}
	}
}

static void
test_codes(HbCursor *cur, HbColumnState *cs, const HbBound *b, uint32 page,
		   uint64 *sel)
{
	const uint32 *c = hb_page_codes(cur, cs, page);
	uint32		lo = b->code_lo;
	uint32		span = b->code_hi - b->code_lo;

	switch (b->test)
	{
		case HB_BOUND_CODE_RANGE:
			if (span == 0)
				KEEP_ROWS(sel, c[i] == lo);
			else
				KEEP_ROWS(sel, c[i] - lo <= span);
			break;
		case HB_BOUND_CODE_NE:
			KEEP_ROWS(sel, (c[i] != lo) & (c[i] != 0));
			break;
		default:
			{
				uint16		rows[HB_PAGE_ROWS];
				int			n = bits_rows(sel, rows);

				memset(sel, 0, HB_PAGE_WORDS * sizeof(uint64));
				for (int i = 0; i < n; i++)
				{
					uint32		code = c[rows[i]];

					if ((b->bitmap[code / 64] >> (code % 64)) & 1)
						bits_set(sel, rows[i]);
				}
				break;
			}
	}
}

/* Drops rows whose length no wanted value has, before values are read. */
static int
keep_lengths(HbCursor *cur, HbLeaf *leaf, HbColumnState *cs, uint32 page,
			 uint16 *rows, int n)
{
	uint32	   *lengths = cur->scan->length_buf;
	const HbSliceSet *set = &leaf->bytes.set;
	int			kept = 0;

	HB_READ(cur, hb_reader_lengths(cur->reader, cs->rcol, page, lengths));
	for (int i = 0; i < n; i++)
	{
		for (int j = 0; j < set->n; j++)
		{
			if (lengths[rows[i]] == set->slices[j].len)
			{
				rows[kept++] = rows[i];
				break;
			}
		}
	}
	return kept;
}

static void
test_bytes(HbCursor *cur, HbLeaf *leaf, HbColumnState *cs, uint32 page, uint64 *sel)
{
	HbScan	   *scan = cur->scan;
	uint16		rows[HB_PAGE_ROWS];
	int			n;

	drop_nulls(cur, cs, page, sel);
	n = bits_rows(sel, rows);
	memset(sel, 0, HB_PAGE_WORDS * sizeof(uint64));
	if (leaf->of_length)
	{
		HB_READ(cur, hb_reader_lengths(cur->reader, cs->rcol, page,
									   scan->length_buf));
		for (int i = 0; i < n; i++)
		{
			if (hb_leaf_test_int(leaf, scan->length_buf[rows[i]]))
				bits_set(sel, rows[i]);
		}
		return;
	}
	if (cs->info->stored == HB_STORED_VAR && !leaf->exotic && !leaf->negated &&
		leaf->bytes.kind == HB_FORM_SET && leaf->bytes.set.n <= 4)
		n = keep_lengths(cur, leaf, cs, page, rows, n);

	for (int from = 0; from < n; from += HB_BYTES_GROUP)
	{
		int			m = Min(HB_BYTES_GROUP, n - from);

		HB_READ(cur, hb_reader_bytes(cur->reader, cs->rcol, page, rows + from, m,
									 scan->slice_buf));
		for (int i = 0; i < m; i++)
		{
			if (hb_leaf_test_bytes(scan, leaf, scan->slice_buf[i]))
				bits_set(sel, rows[from + i]);
		}
	}
}

static void
test_derived(HbCursor *cur, HbLeaf *leaf, uint32 page, uint64 *sel)
{
	HbScan	   *scan = cur->scan;
	uint16		rows[HB_PAGE_ROWS];
	int			n = bits_rows(sel, rows);
	MemoryContext old;

	memset(sel, 0, HB_PAGE_WORDS * sizeof(uint64));
	for (int i = 0; i < n; i++)
		scan->row_buf[i] = page * HB_PAGE_ROWS + rows[i];

	old = MemoryContextSwitchTo(scan->eval_cxt);
	hb_deriver_get(hb_scan_deriver(scan), cur->chunk, leaf->column, scan->row_buf,
				   n, scan->datum_buf, scan->null_buf);
	MemoryContextSwitchTo(old);
	for (int i = 0; i < n; i++)
	{
		if (scan->null_buf[i] ? leaf->is_null : !leaf->is_null &&
			hb_leaf_test_datum(scan, leaf, scan->datum_buf[i]))
			bits_set(sel, rows[i]);
	}
}

/* Rows of a bound's ranges in a page. */
static void
test_ranges(const HbBound *b, uint32 page, uint64 *sel)
{
	uint32		page_first = page * HB_PAGE_ROWS;
	uint32		page_last = page_first + HB_PAGE_ROWS;
	uint64		in[HB_PAGE_WORDS] = {0};
	int			lo = 0;
	int			hi = b->nranges;

	while (lo < hi)
	{
		int			mid = (lo + hi) / 2;

		if (b->ranges[mid].last <= page_first)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < b->nranges && b->ranges[lo].first < page_last; lo++)
		bits_set_range(in, Max(b->ranges[lo].first, page_first) - page_first,
					   Min(b->ranges[lo].last, page_last) - page_first);
	for (int w = 0; w < HB_PAGE_WORDS; w++)
		sel[w] &= in[w];
}

static void
test_nulls(HbCursor *cur, HbColumnState *cs, uint32 page, bool wanted, uint64 *sel)
{
	const uint64 *nulls = hb_page_nulls(cur, cs, page);

	for (int w = 0; w < HB_PAGE_WORDS; w++)
	{
		uint64		word = nulls != NULL ? nulls[w] : 0;

		sel[w] &= wanted ? word : ~word;
	}
}

/* A test of integers or codes, of those in sel. */
static void
test_values(HbCursor *cur, HbColumnState *cs, const HbBound *b, uint32 page,
			uint64 *sel)
{
	uint64		passed[HB_PAGE_WORDS];
	uint64	   *out = sel;

	if (b->negated)
	{
		drop_nulls(cur, cs, page, sel);
		memcpy(passed, sel, sizeof(passed));
		out = passed;
	}
	if (b->test >= HB_BOUND_CODE_RANGE)
		test_codes(cur, cs, b, page, out);
	else
		test_ints(cur, cs, b, page, out);
	if (b->negated)
	{
		for (int w = 0; w < HB_PAGE_WORDS; w++)
			sel[w] &= ~passed[w];
	}
}

static void
test_leaf(HbCursor *cur, HbNode *node, const HbBound *b, uint32 page, uint64 *sel)
{
	HbColumnState *cs;

	if (b->has_ranges)
	{
		test_ranges(b, page, sel);
		if (b->test == HB_BOUND_ROWS || bits_empty(sel))
			return;
	}
	cs = hb_cursor_column(cur, node->leaf->column);
	switch (b->test)
	{
		case HB_BOUND_ROWS:
			break;
		case HB_BOUND_INT_RANGE:
		case HB_BOUND_INT_NE:
		case HB_BOUND_INT_SET:
		case HB_BOUND_INT_BITMAP:
		case HB_BOUND_CODE_RANGE:
		case HB_BOUND_CODE_NE:
		case HB_BOUND_CODE_SET:
			test_values(cur, cs, b, page, sel);
			break;
		case HB_BOUND_BYTES:
			test_bytes(cur, node->leaf, cs, page, sel);
			break;
		case HB_BOUND_NULL:
			test_nulls(cur, cs, page, true, sel);
			break;
		case HB_BOUND_NOT_NULL:
			test_nulls(cur, cs, page, false, sel);
			break;
		case HB_BOUND_DERIVED:
			test_derived(cur, node->leaf, page, sel);
			break;
	}
}

/* Leaves in sel, of the rows there, those for which the node is true. */
static void
test_node(HbCursor *cur, HbNode *node, uint32 page, uint64 *sel)
{
	HbBound    *b = &cur->bounds[node->id];

	if (b->verdict == HB_IS_TRUE || b->page_verdict == HB_IS_TRUE)
		return;
	if (b->page_verdict == HB_IS_FALSE)
		memset(sel, 0, HB_PAGE_WORDS * sizeof(uint64));
	else if (b->alt != NULL)
		test_node(cur, b->alt, page, sel);
	else if (node->kind == HB_NODE_LEAF)
		test_leaf(cur, node, b, page, sel);
	else if (node->kind == HB_NODE_AND)
	{
		for (int i = 0; i < b->nseq && !bits_empty(sel); i++)
			test_node(cur, b->seq[i], page, sel);
	}
	else
	{
		uint64		passed[HB_PAGE_WORDS] = {0};

		for (int i = 0; i < b->nseq && !bits_empty(sel); i++)
		{
			uint64		one[HB_PAGE_WORDS];

			memcpy(one, sel, sizeof(one));
			test_node(cur, b->seq[i], page, one);
			for (int w = 0; w < HB_PAGE_WORDS; w++)
			{
				passed[w] |= one[w];
				sel[w] &= ~one[w];
			}
		}
		memcpy(sel, passed, sizeof(passed));
	}
}

/* What a page's bounds say of an integer test. */
static HbVerdict
check_ints(HbCursor *cur, HbColumnState *cs, const HbBound *b, uint32 page)
{
	int64_t		min;
	int64_t		max;
	bool		valid;

	HB_READ(cur, hb_reader_page_minmax(cur->reader, cs->rcol, page, &min, &max,
									   &valid));
	if (!valid)
		return HB_IS_FALSE;		/* all null */
	if (b->negated)
		return HB_IS_TEST;
	switch (b->test)
	{
		case HB_BOUND_INT_RANGE:
			if (b->lo > max || b->hi < min)
				return HB_IS_FALSE;
			if (b->lo <= min && b->hi >= max && cs->info->null_count == 0)
				return HB_IS_TRUE;
			break;
		case HB_BOUND_INT_NE:
			if (min == max && min == b->lo)
				return HB_IS_FALSE;
			if ((b->lo < min || b->lo > max) && cs->info->null_count == 0)
				return HB_IS_TRUE;
			break;
		default:
			if (b->lo > max || b->hi < min)
				return HB_IS_FALSE;
			break;
	}
	return HB_IS_TEST;
}

static HbVerdict
check_bytes(HbCursor *cur, const HbLeaf *leaf, HbColumnState *cs, uint32 page)
{
	const HbByteForm *f = &leaf->bytes;
	HbSlice		lo;
	HbSlice		hi;
	bool		has_lo = true;
	bool		has_hi = true;
	HbSlice		min;
	HbSlice		max;
	bool		valid;

	if (leaf->by_datum || leaf->negated)
		return HB_IS_TEST;
	if (f->kind == HB_FORM_RANGE)
	{
		has_lo = f->has_lo;
		has_hi = f->has_hi;
		lo = f->lo;
		hi = f->hi;
	}
	else if (f->kind == HB_FORM_SET)
	{
		lo = f->set.slices[0];
		hi = f->set.slices[f->set.n - 1];
	}
	else
		return HB_IS_TEST;

	HB_READ(cur, hb_reader_page_bounds(cur->reader, cs->rcol, page, &min, &max,
									   &valid));
	/* exotic values are not where their bytes sort */
	if (!valid || (leaf->exotic && (max.len == 0 || hb_slice_exotic(max))))
		return HB_IS_TEST;
	if (has_hi && hb_slice_cmp(hi, min) < 0)
		return HB_IS_FALSE;
	/* a value's first max.len bytes are <= max */
	if (has_lo && Min(lo.len, max.len) > 0 &&
		memcmp(lo.data, max.data, Min(lo.len, max.len)) > 0)
		return HB_IS_FALSE;
	return HB_IS_TEST;
}

/* The page's verdict on a node, from page tables alone; kept in its bound. */
static HbVerdict
check_node(HbCursor *cur, HbNode *node, uint32 page)
{
	HbBound    *b = &cur->bounds[node->id];
	HbColumnState *cs;

	if (b->verdict != HB_IS_TEST)
		return b->verdict;

	b->page_verdict = HB_IS_TEST;
	if (b->alt != NULL)
		b->page_verdict = check_node(cur, b->alt, page);
	else if (node->kind == HB_NODE_LEAF)
	{
		switch (b->test)
		{
			case HB_BOUND_INT_RANGE:
			case HB_BOUND_INT_NE:
			case HB_BOUND_INT_SET:
			case HB_BOUND_INT_BITMAP:
				cs = hb_cursor_column(cur, node->leaf->column);
				b->page_verdict = check_ints(cur, cs, b, page);
				break;
			case HB_BOUND_BYTES:
				cs = hb_cursor_column(cur, node->leaf->column);
				b->page_verdict = check_bytes(cur, node->leaf, cs, page);
				break;
			default:
				break;
		}
	}
	else
	{
		HbVerdict	ends = node->kind == HB_NODE_AND ? HB_IS_FALSE : HB_IS_TRUE;
		bool		test = false;

		for (int i = 0; i < b->nseq; i++)
		{
			HbVerdict	v = check_node(cur, b->seq[i], page);

			if (v == ends)
			{
				b->page_verdict = v;
				return v;
			}
			test |= (v == HB_IS_TEST);
		}
		if (!test)
			b->page_verdict = ends == HB_IS_FALSE ? HB_IS_TRUE : HB_IS_FALSE;
	}
	return b->page_verdict;
}

/* Bounds are not asked: every node is to be tested. */
static void
check_nothing(HbCursor *cur)
{
	for (int i = 0; i < cur->tree->nnodes; i++)
		cur->bounds[i].page_verdict = HB_IS_TEST;
}

/* Selects the rows of a page; false when none passes. */
static bool
select_page(HbCursor *cur, uint32 page)
{
	HbScan	   *scan = cur->scan;
	HbNode	   *root = cur->tree->root;
	uint32		first = page * HB_PAGE_ROWS;
	uint32		from = Max(first, cur->row_lo);
	uint32		to = Min(first + HB_PAGE_ROWS, cur->row_hi);

	cur->page = page;
	memset(cur->selected, 0, sizeof(cur->selected));
	bits_set_range(cur->selected, from - first, to - first);

	if (cur->bounds[root->id].verdict == HB_IS_TEST)
	{
		if (!hb_enable_page_skipping)
			check_nothing(cur);
		else if (check_node(cur, root, page) == HB_IS_FALSE)
		{
			scan->stats.pages_skipped_minmax++;
			cur->nselected = 0;
			return false;
		}
		scan->stats.rows_tested += to - from;
		test_node(cur, root, page, cur->selected);
		cur->nselected = bits_count(cur->selected);
		MemoryContextReset(scan->eval_cxt);
	}
	else
		cur->nselected = to - from;

	if (cur->nselected == 0)
	{
		scan->stats.pages_skipped_filter++;
		return false;
	}
	scan->stats.pages_read++;
	return true;
}

/*
 * The cursor's pages, from the first in the scan's order on: of those, the
 * ones of the part that the scan has taken.
 */
void
hb_select_rewind(HbCursor *cur)
{
	HbScan	   *scan = cur->scan;
	uint32		pages = Min(cur->npages, scan->page_to) -
		Min(cur->npages, scan->page_from);
	uint32		from = Max(cur->row_lo / HB_PAGE_ROWS, scan->page_from);
	uint32		to = Min((cur->row_hi - 1) / HB_PAGE_ROWS + 1, scan->page_to);
	HbScanStats *stats = &scan->stats;
	int			left = 0;

	to = Max(from, to);
	memset(cur->mask, 0, sizeof(cur->mask));
	for (uint32 p = from; p < to; p++)
		cur->mask[p / 64] |= UINT64CONST(1) << (p % 64);
	hb_bind_pages(cur, cur->tree->root, cur->mask);
	for (int w = 0; w < HB_MASK_WORDS; w++)
		left += pg_popcount64(cur->mask[w]);

	cur->nselected = 0;
	stats->pages_total += pages;
	stats->pages_skipped_range += pages - (to - from);
	stats->pages_skipped_list += (to - from) - left;
}

/* Goes to the next page that has rows to return. */
bool
hb_select_next_page(HbCursor *cur)
{
	bool		descending = cur->scan->order == HB_ORDER_DESC;

	for (;;)
	{
		int			w = descending ? HB_MASK_WORDS - 1 : 0;
		int			bit;

		CHECK_FOR_INTERRUPTS();
		while (w >= 0 && w < HB_MASK_WORDS && cur->mask[w] == 0)
			w += descending ? -1 : 1;
		if (w < 0 || w >= HB_MASK_WORDS)
			return false;
		bit = descending ? pg_leftmost_one_pos64(cur->mask[w]) :
			pg_rightmost_one_pos64(cur->mask[w]);
		cur->mask[w] &= ~(UINT64CONST(1) << bit);
		if (select_page(cur, w * 64 + bit))
			return true;
	}
}

/*
 * Takes up to max selected rows off the page, the first in the scan's order;
 * rows gets them ascending.  Returns their number.
 */
int
hb_select_take(HbCursor *cur, int max, uint16 *rows)
{
	int			n = Min(max, cur->nselected);
	int			at = n;

	if (n == cur->nselected)
	{
		bits_rows(cur->selected, rows);
		memset(cur->selected, 0, sizeof(cur->selected));
	}
	else if (cur->scan->order == HB_ORDER_DESC)
	{
		for (int w = HB_PAGE_WORDS - 1; at > 0; w--)
		{
			while (cur->selected[w] != 0 && at > 0)
			{
				int			bit = pg_leftmost_one_pos64(cur->selected[w]);

				cur->selected[w] &= ~(UINT64CONST(1) << bit);
				rows[--at] = w * 64 + bit;
			}
		}
	}
	else
	{
		at = 0;
		for (int w = 0; at < n; w++)
		{
			while (cur->selected[w] != 0 && at < n)
			{
				rows[at++] = w * 64 + pg_rightmost_one_pos64(cur->selected[w]);
				cur->selected[w] &= cur->selected[w] - 1;
			}
		}
	}
	cur->nselected -= n;
	return n;
}
