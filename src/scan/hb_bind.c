/*
 * hb_bind.c
 *		The predicate's tree against one chunk.
 *
 * hb_bind gives a node a verdict for the whole chunk, or a test on what the
 * chunk stores.  Most chunks of a point query end here, so the order is: what
 * the directory says, then dictionaries, then hash indexes, then columns that
 * the chunk leaves out; the first false child of an AND ends it.
 * hb_bind_pages then narrows the pages, which reads page lists, only for
 * chunks that are left.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "scan/hb_scan_int.h"

/* More codes than this: no look at their page lists, no list of them kept. */
#define HB_FEW_CODES		32

/* A set of integers whose span is below this is tested by a bitmap. */
#define HB_BITMAP_SPAN		(256 * 1024)

/* Costs of testing a row, relative to an integer comparison. */
#define COST_INT			1.0
#define COST_SET			4.0
#define COST_FIXED			20.0
#define COST_VAR			60.0

static void *
chunk_alloc(HbCursor *cur, Size size)
{
	return MemoryContextAlloc(cur->cxt, size);
}

static HbVerdict
is_false(HbCursor *cur, HbSkip why)
{
	cur->skip = why;
	return HB_IS_FALSE;
}

static void
set_rank(HbBound *b, double cost, double selectivity)
{
	b->rank = cost / Max(1.0 - selectivity, 0.01);
}

/* Rows that pass are those of non-null values. */
static HbVerdict
bind_not_null(HbCursor *cur, HbColumnState *cs, HbBound *b)
{
	if (cs->info->null_count == 0)
		return HB_IS_TRUE;
	if (cs->info->null_count >= cur->nrows)
		return is_false(cur, HB_SKIP_MINMAX);
	b->test = HB_BOUND_NOT_NULL;
	set_rank(b, COST_INT, 1.0 - (double) cs->info->null_count / cur->nrows);
	return HB_IS_TEST;
}

static HbVerdict
bind_null(HbCursor *cur, HbColumnState *cs, HbBound *b)
{
	if (cs->info->null_count == 0)
		return is_false(cur, HB_SKIP_MINMAX);
	if (cs->info->null_count >= cur->nrows)
		return HB_IS_TRUE;
	b->test = HB_BOUND_NULL;
	set_rank(b, COST_INT, (double) cs->info->null_count / cur->nrows);
	return HB_IS_TEST;
}

/* Rows of ranges, ascending and disjoint, in the cursor's context. */
HbVerdict
hb_bind_ranges(HbCursor *cur, HbBound *b, HbRowRange *ranges, int n)
{
	int			kept = 0;
	double		rows = 0;

	for (int i = 0; i < n; i++)
	{
		HbRowRange	r = ranges[i];

		r.first = Max(r.first, cur->row_lo);
		r.last = Min(r.last, cur->row_hi);
		if (r.first >= r.last)
			continue;
		if (kept > 0 && ranges[kept - 1].last >= r.first)
			ranges[kept - 1].last = Max(ranges[kept - 1].last, r.last);
		else
			ranges[kept++] = r;
	}
	if (kept == 0)
		return is_false(cur, HB_SKIP_RANGE);
	if (kept == 1 && ranges[0].first == cur->row_lo &&
		ranges[0].last == cur->row_hi)
		return HB_IS_TRUE;
	for (int i = 0; i < kept; i++)
		rows += ranges[i].last - ranges[i].first;
	b->test = HB_BOUND_ROWS;
	b->has_ranges = true;
	b->ranges = ranges;
	b->nranges = kept;
	set_rank(b, 0.1, rows / (cur->row_hi - cur->row_lo));
	return HB_IS_TEST;
}

/* First element of a sorted array that is >= value. */
static int
lower_bound(const int64 *set, int n, int64 value)
{
	int			lo = 0;
	int			hi = n;

	while (lo < hi)
	{
		int			mid = lo + (hi - lo) / 2;

		if (set[mid] < value)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* The block column: block offsets turn blocks into rows. */
static HbVerdict
bind_blocks(HbCursor *cur, HbLeaf *leaf, HbBound *b)
{
	const HbChunkRow *row = cur->chunk->row;
	const HbIntForm *f = &leaf->ints;
	HbTree	   *tree = cur->tree;
	int64		lo = Max(row->first_block, tree->lo);
	int64		hi = Min(row->last_block, tree->hi);
	HbRowRange *ranges;
	int			n = 0;
	int			from;
	uint32		first;
	uint32		last;

	if (leaf->is_null)
		return is_false(cur, HB_SKIP_RANGE);

	switch (f->kind)
	{
		case HB_FORM_NONE:
			return is_false(cur, HB_SKIP_RANGE);
		case HB_FORM_ALL:
			return HB_IS_TRUE;
		case HB_FORM_RANGE:
			if (f->lo <= lo && f->hi >= hi)
				return HB_IS_TRUE;
			if (f->lo > hi || f->hi < lo)
				return is_false(cur, HB_SKIP_RANGE);
			ranges = chunk_alloc(cur, sizeof(HbRowRange));
			HB_READ(cur, hb_reader_block_rows(cur->reader, f->lo, f->hi,
											  &ranges[0].first, &ranges[0].last));
			return hb_bind_ranges(cur, b, ranges, 1);
		case HB_FORM_NE:
			if (f->lo < lo || f->lo > hi)
				return HB_IS_TRUE;
			HB_READ(cur, hb_reader_block_rows(cur->reader, f->lo, f->lo,
											  &first, &last));
			ranges = chunk_alloc(cur, 2 * sizeof(HbRowRange));
			ranges[0].first = 0;
			ranges[0].last = first;
			ranges[1].first = last;
			ranges[1].last = cur->nrows;
			if (first == last)
				return HB_IS_TRUE;
			return hb_bind_ranges(cur, b, ranges, 2);
		case HB_FORM_SET:
			break;
	}
	from = lower_bound(f->set, f->n, lo);
	if (from == f->n || f->set[from] > hi)
		return is_false(cur, HB_SKIP_RANGE);
	ranges = chunk_alloc(cur, sizeof(HbRowRange) *
						 (lower_bound(f->set, f->n, hi) - from + 1));
	for (int i = from; i < f->n && f->set[i] <= hi; i++)
	{
		HB_READ(cur, hb_reader_block_rows(cur->reader, f->set[i], f->set[i],
										  &ranges[n].first, &ranges[n].last));
		if (ranges[n].first < ranges[n].last)
			n++;
	}
	return hb_bind_ranges(cur, b, ranges, n);
}

/* A column stored as integers. */
static HbVerdict
bind_ints(HbCursor *cur, HbLeaf *leaf, HbColumnState *cs, HbBound *b)
{
	const HbIntForm *f = &leaf->ints;
	const HbColumnInfo *info = cs->info;
	bool		bounded = info->has_minmax && hb_enable_page_skipping;
	int64		min = bounded ? info->int_min : PG_INT64_MIN;
	int64		max = bounded ? info->int_max : PG_INT64_MAX;
	double		span = (double) info->int_max - (double) info->int_min + 1.0;
	int			from;
	int			to;

	switch (f->kind)
	{
		case HB_FORM_NONE:
			return is_false(cur, HB_SKIP_MINMAX);
		case HB_FORM_ALL:
			return bind_not_null(cur, cs, b);
		case HB_FORM_RANGE:
			if (f->lo > max || f->hi < min)
				return is_false(cur, HB_SKIP_MINMAX);
			if (f->lo <= min && f->hi >= max)
				return bind_not_null(cur, cs, b);
			b->test = HB_BOUND_INT_RANGE;
			b->lo = f->lo;
			b->hi = f->hi;
			set_rank(b, COST_INT,
					 ((double) Min(f->hi, info->int_max) -
					  (double) Max(f->lo, info->int_min) + 1.0) / span);
			return HB_IS_TEST;
		case HB_FORM_NE:
			if (f->lo < min || f->lo > max)
				return bind_not_null(cur, cs, b);
			if (min == max)
				return is_false(cur, HB_SKIP_MINMAX);
			b->test = HB_BOUND_INT_NE;
			b->lo = f->lo;
			set_rank(b, COST_INT, 0.99);
			return HB_IS_TEST;
		case HB_FORM_SET:
			break;
	}

	from = lower_bound(f->set, f->n, min);
	to = lower_bound(f->set, f->n, max);
	if (to < f->n && f->set[to] == max)
		to++;
	if (from == to)
		return is_false(cur, HB_SKIP_MINMAX);
	b->set = f->set + from;
	b->nset = to - from;
	b->lo = b->set[0];
	b->hi = b->set[b->nset - 1];
	set_rank(b, COST_SET, Min((double) b->nset / span, 1.0));
	if (b->nset == 1)
		b->test = HB_BOUND_INT_RANGE;
	else if ((uint64) b->hi - (uint64) b->lo < HB_BITMAP_SPAN)
	{
		Size		words = ((uint64) b->hi - (uint64) b->lo) / 64 + 1;

		b->test = HB_BOUND_INT_BITMAP;
		b->bitmap = MemoryContextAllocZero(cur->cxt, words * sizeof(uint64));
		for (int i = 0; i < b->nset; i++)
		{
			uint64		bit = (uint64) b->set[i] - (uint64) b->lo;

			b->bitmap[bit / 64] |= UINT64CONST(1) << (bit % 64);
		}
	}
	else
		b->test = HB_BOUND_INT_SET;
	return HB_IS_TEST;
}

/* Codes being collected for a CODE_SET. */
typedef struct CodeSet
{
	HbCursor   *cur;
	uint64	   *bitmap;
	uint32		size;
	uint32	   *codes;			/* the first HB_FEW_CODES */
	uint32		n;
} CodeSet;

static void
code_set_add(CodeSet *set, uint32 code)
{
	if (set->bitmap == NULL)
	{
		set->bitmap = MemoryContextAllocZero(set->cur->cxt,
											 (set->size / 64 + 1) * sizeof(uint64));
		set->codes = chunk_alloc(set->cur, HB_FEW_CODES * sizeof(uint32));
	}
	set->bitmap[code / 64] |= UINT64CONST(1) << (code % 64);
	if (set->n < HB_FEW_CODES)
		set->codes[set->n] = code;
	set->n++;
}

static HbVerdict
bind_code_set(HbCursor *cur, HbBound *b, const CodeSet *set)
{
	if (set->n == 0)
		return is_false(cur, HB_SKIP_DICTIONARY);
	if (set->n <= HB_FEW_CODES)
	{
		b->codes = set->codes;
		b->ncodes = set->n;
	}
	if (set->n == 1)
	{
		b->test = HB_BOUND_CODE_RANGE;
		b->code_lo = b->code_hi = set->codes[0];
	}
	else
	{
		b->test = HB_BOUND_CODE_SET;
		b->bitmap = set->bitmap;
	}
	set_rank(b, set->n == 1 ? COST_INT : COST_SET, (double) set->n / set->size);
	return HB_IS_TEST;
}

/*
 * The first code that a lower bound lets pass (upper: the first that an upper
 * bound does not).
 */
static uint32
range_code(HbCursor *cur, HbColumnState *cs, HbSlice value, bool after_equal)
{
	uint32		code;
	uint32		equal;

	HB_READ(cur, hb_reader_dict_lower_bound(cur->reader, cs->rcol, value, &code));
	if (after_equal)
	{
		HB_READ(cur, hb_reader_dict_find(cur->reader, cs->rcol, value, &equal));
		if (equal != 0)
			code = equal + 1;
	}
	return code;
}

/*
 * Looks at dictionary entries from code `from` on, one by one.  A shared
 * dictionary ends with values that are wider than the column's own.
 */
static void
test_entries(HbCursor *cur, HbLeaf *leaf, HbColumnState *cs, uint32 from,
			 CodeSet *set)
{
	uint32		to = set->size;

	if (cs->info->width > 0)
	{
		HbSlice		greatest = {NULL, cs->info->width};
		uint8	   *bytes = chunk_alloc(cur, greatest.len);

		memset(bytes, 0xFF, greatest.len);
		greatest.data = bytes;
		to = range_code(cur, cs, greatest, true) - 1;
	}
	for (uint32 code = from; code <= to; code++)
	{
		HbSlice		value;

		if (code % HB_PAGE_ROWS == 0)
			CHECK_FOR_INTERRUPTS();
		HB_READ(cur, hb_reader_dict_entry(cur->reader, cs->rcol, code, &value));
		if (hb_leaf_test_bytes(cur->scan, leaf, value))
			code_set_add(set, code);
	}
}

/* A column with a dictionary. */
static HbVerdict
bind_codes(HbCursor *cur, HbLeaf *leaf, HbColumnState *cs, HbBound *b)
{
	HbByteForm *f = &leaf->bytes;
	uint32		size = hb_reader_dict_size(cur->reader, cs->info->dict);
	CodeSet		set = {cur, NULL, size, NULL, 0};
	uint32		exotic_from = size + 1;
	uint32		code;

	if (f->kind == HB_FORM_ALL && !leaf->exotic)
		return bind_not_null(cur, cs, b);

	if (leaf->of_length && cs->info->width > 0)
		return hb_leaf_test_int(leaf, cs->info->width) ?
			bind_not_null(cur, cs, b) : is_false(cur, HB_SKIP_DICTIONARY);
	if (!hb_enable_dictionary_filter || leaf->by_datum || leaf->of_length ||
		(f->kind == HB_FORM_SET && (uint32) f->set.n > size / 4))
	{
		test_entries(cur, leaf, cs, 1, &set);
		return bind_code_set(cur, b, &set);
	}

	if (leaf->exotic)
	{
		static const uint8 mark = 0xFF;
		HbSlice		exotic = {&mark, 1};

		HB_READ(cur, hb_reader_dict_lower_bound(cur->reader, cs->rcol, exotic,
												&exotic_from));
	}

	switch (f->kind)
	{
		case HB_FORM_NONE:
			break;
		case HB_FORM_SET:
			for (int i = 0; i < f->set.n; i++)
			{
				if (i % HB_PAGE_ROWS == HB_PAGE_ROWS - 1)
					CHECK_FOR_INTERRUPTS();
				if (cs->info->width != 0 && !leaf->exotic &&
					f->set.slices[i].len != cs->info->width)
					continue;
				HB_READ(cur, hb_reader_dict_find(cur->reader, cs->rcol,
												 f->set.slices[i], &code));
				if (code != 0)
					code_set_add(&set, code);
			}
			break;
		case HB_FORM_NE:
			HB_READ(cur, hb_reader_dict_find(cur->reader, cs->rcol, f->lo, &code));
			if (exotic_from <= size)
			{
				test_entries(cur, leaf, cs, 1, &set);
				return bind_code_set(cur, b, &set);
			}
			if (code == 0)
				return bind_not_null(cur, cs, b);
			b->test = HB_BOUND_CODE_NE;
			b->code_lo = code;
			set_rank(b, COST_INT, 0.99);
			return HB_IS_TEST;
		case HB_FORM_ALL:
		case HB_FORM_RANGE:
			b->code_lo = 1;
			b->code_hi = exotic_from - 1;
			if (f->has_lo)
				b->code_lo = range_code(cur, cs, f->lo, f->lo_open);
			if (f->has_hi)
				b->code_hi = Min(b->code_hi,
								 range_code(cur, cs, f->hi, !f->hi_open) - 1);
			if (exotic_from <= size)
			{
				for (code = b->code_lo; code <= b->code_hi; code++)
					code_set_add(&set, code);
				break;
			}
			if (b->code_lo > b->code_hi)
				return is_false(cur, HB_SKIP_DICTIONARY);
			if (b->code_lo == 1 && b->code_hi == size)
				return bind_not_null(cur, cs, b);
			b->test = HB_BOUND_CODE_RANGE;
			set_rank(b, COST_INT, (double) (b->code_hi - b->code_lo + 1) / size);
			return HB_IS_TEST;
	}
	if (exotic_from <= size)
		test_entries(cur, leaf, cs, exotic_from, &set);
	return bind_code_set(cur, b, &set);
}

static int
compare_ranges(const void *a, const void *b)
{
	uint32		x = ((const HbRowRange *) a)->first;
	uint32		y = ((const HbRowRange *) b)->first;

	return (x > y) - (x < y);
}

/*
 * Equality through the hash index.  False when it does not pay, or there are
 * too many rows: then the values are compared.
 */
static bool
bind_hash(HbCursor *cur, HbLeaf *leaf, HbColumnState *cs, HbBound *b,
		  HbVerdict *verdict)
{
	HbSliceSet *set = &leaf->bytes.set;
	uint32		room = Min(64, cur->nrows);
	HbRowRange *ranges;
	uint32		found[64];
	uint32		nranges = 0;

	if (set->n > cur->nrows / 32 + 1)
		return false;
	ranges = chunk_alloc(cur, sizeof(HbRowRange) * room);
	for (int i = 0; i < set->n; i++)
	{
		int			n;

		if (i % HB_PAGE_ROWS == HB_PAGE_ROWS - 1)
			CHECK_FOR_INTERRUPTS();
		HB_READ(cur, hb_reader_hash_find(cur->reader, cs->rcol, set->slices[i],
										 found, lengthof(found), &n));
		if (n > lengthof(found))
			return false;
		if (nranges + n > room)
		{
			room = Max(room * 2, nranges + n);
			ranges = repalloc(ranges, sizeof(HbRowRange) * room);
		}
		for (int j = 0; j < n; j++)
		{
			ranges[nranges].first = found[j];
			ranges[nranges++].last = found[j] + 1;
		}
	}
	if (nranges == 0)
		*verdict = is_false(cur, HB_SKIP_HASH);
	else
	{
		if (set->n > 1)
			qsort(ranges, nranges, sizeof(HbRowRange), compare_ranges);
		*verdict = hb_bind_ranges(cur, b, ranges, nranges);
	}
	return true;
}

/* A column stored as byte strings by row. */
static HbVerdict
bind_bytes(HbCursor *cur, HbLeaf *leaf, HbColumnState *cs, HbBound *b)
{
	HbByteForm *f = &leaf->bytes;
	bool		fixed = cs->info->stored == HB_STORED_FIXED;
	HbVerdict	verdict;

	if (leaf->of_length && fixed)
		return hb_leaf_test_int(leaf, cs->info->width) ?
			bind_not_null(cur, cs, b) : is_false(cur, HB_SKIP_MINMAX);
	if (!leaf->exotic && !leaf->negated && !leaf->of_length)
	{
		if (f->kind == HB_FORM_NONE)
			return is_false(cur, HB_SKIP_MINMAX);
		if (f->kind == HB_FORM_ALL)
			return bind_not_null(cur, cs, b);
		if (f->kind == HB_FORM_SET && fixed)
		{
			bool		possible = false;

			for (int i = 0; i < f->set.n && !possible; i++)
				possible = f->set.slices[i].len == cs->info->width;
			if (!possible)
				return is_false(cur, HB_SKIP_MINMAX);
		}
		if (f->kind == HB_FORM_SET && cs->info->has_hash_index &&
			hb_enable_hash_index && bind_hash(cur, leaf, cs, b, &verdict))
			return verdict;
	}
	b->test = HB_BOUND_BYTES;
	set_rank(b, leaf->of_length ? COST_SET : fixed ? COST_FIXED : COST_VAR,
			 f->kind == HB_FORM_SET ? 0.01 : f->kind == HB_FORM_RANGE ? 0.3 : 0.9);
	return HB_IS_TEST;
}

/*
 * What a verdict on the values of a negated leaf's forms makes of the leaf,
 * for a column whose null flags cs knows (NULL: it has none).
 */
static HbVerdict
negate(HbCursor *cur, HbColumnState *cs, HbBound *b, HbVerdict verdict)
{
	HbRowRange *others;
	uint32		at = cur->row_lo;
	int			n = 0;

	if (verdict == HB_IS_FALSE)
		return cs != NULL ? bind_not_null(cur, cs, b) : HB_IS_TRUE;
	if (verdict == HB_IS_TRUE || b->test == HB_BOUND_NOT_NULL)
		return is_false(cur, HB_SKIP_MINMAX);
	b->ncodes = 0;
	b->negated = true;
	set_rank(b, COST_SET, 0.9);
	if (b->test != HB_BOUND_ROWS)
		return HB_IS_TEST;

	/* the rows between the ranges */
	others = chunk_alloc(cur, sizeof(HbRowRange) * (b->nranges + 1));
	for (int i = 0; i < b->nranges; i++)
	{
		others[n].first = at;
		others[n++].last = b->ranges[i].first;
		at = b->ranges[i].last;
	}
	others[n].first = at;
	others[n++].last = cur->row_hi;
	b->has_ranges = false;
	return hb_bind_ranges(cur, b, others, n);
}

static HbVerdict
bind_leaf(HbCursor *cur, HbNode *node, HbBound *b)
{
	HbLeaf	   *leaf = node->leaf;
	HbColumnState *cs;
	HbVerdict	verdict;

	if (leaf->column == cur->scan->table->block_col)
	{
		verdict = bind_blocks(cur, leaf, b);
		return leaf->negated ? negate(cur, NULL, b, verdict) : verdict;
	}

	cs = hb_cursor_column(cur, leaf->column);
	if (cs->info == NULL || cs->info->stored == HB_STORED_NULL)
		return leaf->is_null ? HB_IS_TRUE : is_false(cur, HB_SKIP_MINMAX);
	if (cs->info->stored == HB_STORED_DERIVED)
		return hb_bind_derived(cur, node, b);
	if (leaf->is_null)
		return bind_null(cur, cs, b);

	switch (cs->info->stored)
	{
		case HB_STORED_INT:
			verdict = bind_ints(cur, leaf, cs, b);
			return leaf->negated ? negate(cur, cs, b, verdict) : verdict;
		case HB_STORED_DICT:
			if (leaf->negated)
			{
				HbLeaf		plain = *leaf;

				plain.negated = false;
				return negate(cur, cs, b, bind_codes(cur, &plain, cs, b));
			}
			return bind_codes(cur, leaf, cs, b);
		case HB_STORED_FIXED:
		case HB_STORED_VAR:
			return bind_bytes(cur, leaf, cs, b);
		case HB_STORED_NULL:
		case HB_STORED_DERIVED:
			break;
	}
	elog(ERROR, "unexpected storage %d of a column", (int) cs->info->stored);
	return HB_IS_FALSE;			/* keep compiler quiet */
}

/* What binding a node costs: it is done in this order. */
#define BIND_CLASSES	4

static int
bind_class(HbCursor *cur, HbNode *node)
{
	HbColumnState *cs;

	if (node->kind != HB_NODE_LEAF)
		return 2;
	if (node->leaf->column == cur->scan->table->block_col)
		return 0;
	cs = hb_cursor_column(cur, node->leaf->column);
	if (cs->info == NULL)
		return 0;
	switch (cs->info->stored)
	{
		case HB_STORED_DICT:
			return 1;
		case HB_STORED_FIXED:
		case HB_STORED_VAR:
			return 2;
		case HB_STORED_DERIVED:
			return 3;
		default:
			return 0;
	}
}

/* Children that are still to be tested go to b->seq, cheapest first. */
static HbVerdict
bind_list(HbCursor *cur, HbNode *node, HbBound *b)
{
	bool		is_and = (node->kind == HB_NODE_AND);
	HbVerdict	ends = is_and ? HB_IS_FALSE : HB_IS_TRUE;

	b->nseq = 0;
	b->seq = chunk_alloc(cur, sizeof(HbNode *) * node->nchildren);
	b->rank = 0;
	for (int class = 0; class < BIND_CLASSES; class++)
	{
		for (int i = 0; i < node->nchildren; i++)
		{
			HbNode	   *child = node->children[i];
			HbVerdict	verdict;
			int			at;

			if (bind_class(cur, child) != class)
				continue;
			verdict = hb_bind(cur, child);
			if (verdict == ends)
				return verdict;
			if (verdict != HB_IS_TEST)
				continue;
			for (at = b->nseq; at > 0 && cur->bounds[b->seq[at - 1]->id].rank >
				 cur->bounds[child->id].rank; at--)
				b->seq[at] = b->seq[at - 1];
			b->seq[at] = child;
			b->nseq++;
			b->rank += cur->bounds[child->id].rank;
		}
	}
	if (b->nseq == 0)
		return is_and ? HB_IS_TRUE : HB_IS_FALSE;
	return HB_IS_TEST;
}

/*
 * Binds a node to the cursor's chunk and rows row_lo .. row_hi - 1.  When the
 * result is false, cur->skip says why.
 */
HbVerdict
hb_bind(HbCursor *cur, HbNode *node)
{
	HbBound    *b = &cur->bounds[node->id];

	b->alt = NULL;
	b->negated = false;
	b->has_ranges = false;
	b->ncodes = 0;

	switch (node->kind)
	{
		case HB_NODE_NEVER:
			b->verdict = is_false(cur, HB_SKIP_RANGE);
			break;
		case HB_NODE_ALWAYS:
			b->verdict = HB_IS_TRUE;
			break;
		case HB_NODE_AND:
		case HB_NODE_OR:
			b->verdict = bind_list(cur, node, b);
			break;
		case HB_NODE_LEAF:
			if (cur->tree->position == node->leaf)
				b->verdict = HB_IS_TRUE;	/* row_lo .. row_hi has it */
			else
				b->verdict = bind_leaf(cur, node, b);
			break;
	}
	return b->verdict;
}

static inline void
mask_add(uint64 *mask, uint32 page)
{
	mask[page / 64] |= UINT64CONST(1) << (page % 64);
}

static int
mask_count(const uint64 *mask)
{
	int			n = 0;

	for (int i = 0; i < HB_MASK_WORDS; i++)
		n += pg_popcount64(mask[i]);
	return n;
}

static void
leaf_pages(HbCursor *cur, HbNode *node, const HbBound *b, uint64 *mask)
{
	uint64		pages[HB_MASK_WORDS];

	if (b->has_ranges)
	{
		memset(pages, 0, sizeof(pages));
		for (int i = 0; i < b->nranges; i++)
		{
			for (uint32 p = b->ranges[i].first / HB_PAGE_ROWS;
				 p <= (b->ranges[i].last - 1) / HB_PAGE_ROWS; p++)
				mask_add(pages, p);
		}
	}
	else if (b->ncodes > 0 && hb_enable_page_lists &&
			 mask_count(mask) > b->ncodes + 1)
	{
		HbColumnState *cs = hb_cursor_column(cur, node->leaf->column);

		memset(pages, 0, sizeof(pages));
		for (int i = 0; i < b->ncodes; i++)
			HB_READ(cur, hb_reader_code_pages(cur->reader, cs->rcol, b->codes[i],
											  pages));
	}
	else
		return;
	for (int i = 0; i < HB_MASK_WORDS; i++)
		mask[i] &= pages[i];
}

/* Takes the pages out of mask in which a bound node cannot be true. */
void
hb_bind_pages(HbCursor *cur, HbNode *node, uint64 *mask)
{
	HbBound    *b = &cur->bounds[node->id];

	if (b->verdict != HB_IS_TEST)
		return;
	if (b->alt != NULL)
		hb_bind_pages(cur, b->alt, mask);
	else if (node->kind == HB_NODE_LEAF)
		leaf_pages(cur, node, b, mask);
	else if (node->kind == HB_NODE_AND)
	{
		for (int i = 0; i < b->nseq; i++)
			hb_bind_pages(cur, b->seq[i], mask);
	}
	else
	{
		uint64		any[HB_MASK_WORDS] = {0};

		for (int i = 0; i < b->nseq; i++)
		{
			uint64		one[HB_MASK_WORDS];

			memcpy(one, mask, sizeof(one));
			hb_bind_pages(cur, b->seq[i], one);
			for (int w = 0; w < HB_MASK_WORDS; w++)
				any[w] |= one[w];
		}
		memcpy(mask, any, sizeof(any));
	}
}
