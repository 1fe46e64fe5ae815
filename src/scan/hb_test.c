/*
 * hb_test.c
 *		Single values against a leaf of the predicate.
 *
 * The tests on whole pages are in hb_select.c; this is for what has to be
 * looked at value by value: byte strings, values in an exotic form, values of
 * columns that a chunk leaves out.
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "utils/memutils.h"

#include "scan/hb_scan_int.h"

/* Sets up to this size are searched, larger ones hashed. */
#define HB_SET_SEARCH	4

static int
compare_slices(const void *a, const void *b)
{
	return hb_slice_cmp(*(const HbSlice *) a, *(const HbSlice *) b);
}

static inline uint32
slice_hash(HbSlice s)
{
	return hash_bytes(s.data, (int) s.len);
}

/*
 * Sorts slices, drops duplicates and makes them the set, which keeps the
 * array.  Allocates in the current context.
 */
void
hb_slice_set_build(HbSliceSet *set, HbSlice *slices, int n)
{
	int			kept = 0;

	qsort(slices, n, sizeof(HbSlice), compare_slices);
	for (int i = 0; i < n; i++)
	{
		if (kept == 0 || !hb_slice_eq(slices[kept - 1], slices[i]))
			slices[kept++] = slices[i];
	}
	set->n = kept;
	set->slices = slices;
	set->table = NULL;

	if (kept > HB_SET_SEARCH)
	{
		uint32		size = pg_nextpower2_32((uint32) kept * 2);

		set->mask = size - 1;
		set->table = MemoryContextAllocExtended(CurrentMemoryContext,
												sizeof(uint32) * (Size) size,
												MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
		for (int i = 0; i < kept; i++)
		{
			uint32		h = slice_hash(slices[i]) & set->mask;

			while (set->table[h] != 0)
				h = (h + 1) & set->mask;
			set->table[h] = (uint32) i + 1;
		}
	}
}

bool
hb_slice_set_has(const HbSliceSet *set, HbSlice value)
{
	if (set->table == NULL)
	{
		for (int i = 0; i < set->n; i++)
		{
			if (hb_slice_eq(set->slices[i], value))
				return true;
		}
		return false;
	}
	for (uint32 h = slice_hash(value) & set->mask; set->table[h] != 0;
		 h = (h + 1) & set->mask)
	{
		if (hb_slice_eq(set->slices[set->table[h] - 1], value))
			return true;
	}
	return false;
}

static bool
form_has_int(const HbLeaf *leaf, int64 value)
{
	const HbIntForm *f = &leaf->ints;
	int			lo = 0;
	int			hi;

	switch (f->kind)
	{
		case HB_FORM_NONE:
			return false;
		case HB_FORM_ALL:
			return true;
		case HB_FORM_RANGE:
			return value >= f->lo && value <= f->hi;
		case HB_FORM_NE:
			return value != f->lo;
		case HB_FORM_SET:
			break;
	}
	hi = f->n;
	while (lo < hi)
	{
		int			mid = (lo + hi) / 2;

		if (f->set[mid] < value)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < f->n && f->set[lo] == value;
}

static int
compare_consts(const void *a, const void *b, void *arg)
{
	HbLeaf	   *leaf = arg;

	return DatumGetInt32(FunctionCall2Coll(&leaf->cmp, InvalidOid,
										   *(const Datum *) a,
										   *(const Datum *) b));
}

/* A value that has to be compared as a datum; garbage stays in eval_cxt. */
static bool
test_as_datum(HbScan *scan, HbLeaf *leaf, HbSlice bytes)
{
	MemoryContext old = MemoryContextSwitchTo(scan->eval_cxt);
	const char *name = NameStr(scan->table->columns[leaf->column].name);
	Datum		value = hb_value_from_bytes(leaf->exotic_type, bytes, name);
	bool		result = false;

	if (leaf->pred->kind == HB_PRED_IN)
	{
		int			lo = 0;
		int			hi = leaf->nconsts;

		if (!leaf->consts_sorted)
		{
			qsort_arg(leaf->consts, leaf->nconsts, sizeof(Datum),
					  compare_consts, leaf);
			leaf->consts_sorted = true;
		}
		while (lo < hi)
		{
			int			mid = (lo + hi) / 2;

			if (compare_consts(&leaf->consts[mid], &value, leaf) < 0)
				lo = mid + 1;
			else
				hi = mid;
		}
		result = lo < leaf->nconsts &&
			compare_consts(&leaf->consts[lo], &value, leaf) == 0;
	}
	else
	{
		int			c = compare_consts(&value, &leaf->consts[0], leaf);

		switch (leaf->op)
		{
			case HB_LT:
				result = c < 0;
				break;
			case HB_LE:
				result = c <= 0;
				break;
			case HB_EQ:
				result = c == 0;
				break;
			case HB_GE:
				result = c >= 0;
				break;
			case HB_GT:
				result = c > 0;
				break;
			case HB_NE:
				result = c != 0;
				break;
		}
	}
	MemoryContextSwitchTo(old);
	return result;
}

bool
hb_leaf_test_int(const HbLeaf *leaf, int64 value)
{
	return form_has_int(leaf, value) != leaf->negated;
}

static bool
form_has_bytes(HbScan *scan, HbLeaf *leaf, HbSlice value)
{
	const HbByteForm *f = &leaf->bytes;
	int			c;

	if (leaf->of_length)
		return form_has_int(leaf, value.len);
	if (f->kind == HB_FORM_ALL && !leaf->exotic)
		return true;
	if (leaf->exotic && leaf->nconsts > 0 &&
		(leaf->by_datum || hb_slice_exotic(value)))
		return test_as_datum(scan, leaf, value);

	switch (f->kind)
	{
		case HB_FORM_NONE:
			return false;
		case HB_FORM_ALL:
			return true;
		case HB_FORM_RANGE:
			if (f->has_lo)
			{
				c = hb_slice_cmp(value, f->lo);
				if (c < 0 || (c == 0 && f->lo_open))
					return false;
			}
			if (f->has_hi)
			{
				c = hb_slice_cmp(value, f->hi);
				if (c > 0 || (c == 0 && f->hi_open))
					return false;
			}
			return true;
		case HB_FORM_NE:
			return !hb_slice_eq(value, f->lo);
		case HB_FORM_SET:
			return hb_slice_set_has(&f->set, value);
	}
	return false;
}

/* A non-null value in the byte form of its column. */
bool
hb_leaf_test_bytes(HbScan *scan, HbLeaf *leaf, HbSlice value)
{
	return form_has_bytes(scan, leaf, value) != leaf->negated;
}

/* A non-null datum of the column's type; garbage stays in eval_cxt. */
bool
hb_leaf_test_datum(HbScan *scan, HbLeaf *leaf, Datum value)
{
	MemoryContext old = MemoryContextSwitchTo(scan->eval_cxt);
	HbValueType *type = &scan->table->columns[leaf->column].value;
	int64_t		i = 0;
	HbSlice		bytes = {NULL, 0};
	bool		result;

	hb_value_to_phys(type, value, &i, &bytes);
	if (leaf->phys == HB_PHYS_INT)
		result = hb_leaf_test_int(leaf, i);
	else
		result = hb_leaf_test_bytes(scan, leaf, bytes);
	MemoryContextSwitchTo(old);
	return result;
}
