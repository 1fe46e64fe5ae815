/*
 * hb_reader_dict.c
 *		Dictionaries: from values to codes and back, page lists.
 *
 * Finding a value reads one block of the filter, the keys of the fence groups
 * (once), one fence group (once each) and one slice (once each).
 */
#include "chunk/hb_reader_int.h"
#include "codec/hb_filter.h"
#include "codec/hb_hash.h"
#include "codec/hb_lists.h"

#define FILTER_WHOLE	4096	/* a filter of so many bytes is read at once */

/* A value as it is looked for in a dictionary. */
typedef struct Wanted
{
	HbSlice		stored;			/* stripped, if that is the form */
	HbSlice		shown;			/* as slices show entries: padded */
	uint64_t	key;
	uint8_t		buf[HB_DICT_MAX_STRIP];
} Wanted;

static HbRDict *
dict_of(HbReader *r, int col)
{
	const HbColDesc *d = r->cols[col].d;

	if (d->kind != HB_COL_DICT)
	{
		hb_reader_fail(r, "column", d->column_no, -1, "has no dictionary");
		return NULL;
	}
	return &r->dicts[d->dict];
}

static uint16_t
dict_index(HbReader *r, const HbRDict *rd)
{
	return (uint16_t) (rd - r->dicts);
}

uint32_t
hb_reader_dict_size(const HbReader *r, int dict)
{
	return r->dir.dicts[dict].n;
}

/* Fills w with value, which for a stripped form has at most its width. */
static void
want(const HbDictDesc *d, HbSlice value, Wanted *w)
{
	w->stored = value;
	w->shown = value;
	if (d->stripped)
	{
		w->stored = hb_dict_strip(value);
		memset(w->buf, 0, d->width - value.len);
		if (value.len > 0)
			memcpy(w->buf + d->width - value.len, value.data, value.len);
		w->shown.data = w->buf;
		w->shown.len = d->width;
	}
	w->key = hb_dict_key(w->stored, d->stripped);
}

static bool
load_top(HbReader *r, HbRDict *rd)
{
	uint32_t	len = rd->d->ngroups * 8;
	uint8_t    *top;

	if (rd->top != NULL || rd->d->ngroups <= 1)
		return true;
	top = hb_alloc(r->mem, len + 4);
	if (!hb_reader_read(r, HB_PART_DICT, rd->d->top_off, len + 4, top) ||
		!hb_reader_crc(r, top, len, dict_index(r, rd), HB_SEED_TOP, 0))
	{
		hb_free(r->mem, top);
		return hb_reader_fail(r, "dictionary fences", dict_index(r, rd), -1,
							  "checksum does not match");
	}
	rd->top = top;
	return true;
}

static bool
load_group(HbReader *r, HbRDict *rd, uint32_t g, const uint8_t **group)
{
	const HbDictDesc *d = rd->d;
	uint32_t	n = d->nslices - g * HB_FENCE_GROUP;
	uint32_t	len;
	uint8_t    *buf;

	if (rd->groups == NULL)
		rd->groups = hb_alloc0(r->mem, sizeof(uint8_t *) * d->ngroups);
	if (rd->groups[g] == NULL)
	{
		if (n > HB_FENCE_GROUP)
			n = HB_FENCE_GROUP;
		len = (uint32_t) hb_fence_group_size(n);
		buf = hb_alloc(r->mem, len);
		if (!hb_reader_read(r, HB_PART_DICT,
							d->fences_off + (uint64_t) g * hb_fence_group_size(HB_FENCE_GROUP),
							len, buf) ||
			!hb_reader_crc(r, buf, len - 4, dict_index(r, rd), HB_SEED_FENCES, g))
		{
			hb_free(r->mem, buf);
			return hb_reader_fail(r, "dictionary fences", dict_index(r, rd), g,
								  "checksum does not match");
		}
		rd->groups[g] = buf;
	}
	*group = rd->groups[g];
	return true;
}

static bool
load_slice(HbReader *r, HbRDict *rd, uint32_t i, const HbDictSlice **slice)
{
	const HbDictDesc *d = rd->d;
	uint32_t	g = i / HB_FENCE_GROUP;
	uint32_t	begin = 0;
	uint32_t	end = (uint32_t) d->slices_len;
	uint32_t	first = i << d->shift;
	uint32_t	n = d->n - first < (1U << d->shift) ? d->n - first : 1U << d->shift;
	HbDictSlice *s;
	HbDictSlice parsed;
	uint8_t    *buf;

	if (rd->slices == NULL)
		rd->slices = hb_alloc0(r->mem, sizeof(HbDictSlice *) * (d->ngroups > 0 ? d->ngroups : 1));
	if (rd->slices[g] == NULL)
		rd->slices[g] = hb_alloc0(r->mem, sizeof(HbDictSlice) * HB_FENCE_GROUP);
	s = &rd->slices[g][i % HB_FENCE_GROUP];
	*slice = s;
	if (s->n > 0)
		return true;
	if (d->ngroups > 0)
	{
		const uint8_t *group;

		if (!load_group(r, rd, g, &group))
			return false;
		begin = hb_fence_begin(group, i % HB_FENCE_GROUP);
		end = hb_fence_end(group, i % HB_FENCE_GROUP);
	}
	/* a slice is at most 64 entries of 4 KiB and what describes them */
	if (begin > end || end > d->slices_len || end - begin < 4 || end - begin > (1U << 20))
		return hb_reader_fail(r, "dictionary slice", dict_index(r, rd), i, "offset is out of range");
	buf = hb_reader_scratch(r, end - begin);
	if (!hb_reader_read(r, HB_PART_DICT, d->slices_off + begin, end - begin, buf))
		return hb_reader_fail(r, "dictionary slice", dict_index(r, rd), i, "could not be read");
	if (!hb_reader_crc(r, buf, end - begin - 4, dict_index(r, rd), HB_SEED_SLICE, i))
		return hb_reader_fail(r, "dictionary slice", dict_index(r, rd), i, "checksum does not match");
	if (!hb_dict_slice_get(r->mem, buf, end - begin - 4, n, d->stripped, d->width, &parsed))
		return hb_reader_fail(r, "dictionary slice", dict_index(r, rd), i, "entries are damaged");
	*s = parsed;
	return true;
}

/* Keys: of group g, of slice i. */
static bool
slice_key(HbReader *r, HbRDict *rd, uint32_t i, uint64_t *key)
{
	const uint8_t *group;

	if (!load_group(r, rd, i / HB_FENCE_GROUP, &group))
		return false;
	*key = hb_fence_key(group, i % HB_FENCE_GROUP);
	return true;
}

/* The first group whose key is >= key (or > key, if after). */
static uint32_t
group_bound(const HbRDict *rd, uint64_t key, bool after)
{
	uint32_t	lo = 0;
	uint32_t	hi = rd->d->ngroups;

	while (lo < hi)
	{
		uint32_t	mid = (lo + hi) / 2;
		uint64_t	k = hb_get64(rd->top + 8 * mid);

		if (k < key || (after && k == key))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* The first slice whose key is >= key (or > key), looking in one group only. */
static bool
slice_bound(HbReader *r, HbRDict *rd, uint64_t key, bool after, uint32_t *slice)
{
	uint32_t	g = 0;
	uint32_t	lo;
	uint32_t	hi;

	if (rd->d->ngroups > 1)
	{
		/* it is in the last group that begins before, or begins the next */
		g = group_bound(rd, key, after);
		if (g > 0)
			g--;
	}
	lo = g * HB_FENCE_GROUP;
	hi = lo + HB_FENCE_GROUP < rd->d->nslices ? lo + HB_FENCE_GROUP : rd->d->nslices;
	while (lo < hi)
	{
		uint32_t	mid = (lo + hi) / 2;
		uint64_t	k;

		if (!slice_key(r, rd, mid, &k))
			return false;
		if (k < key || (after && k == key))
			lo = mid + 1;
		else
			hi = mid;
	}
	*slice = lo;
	return true;
}

/* The last slice whose first entry is <= the value; 0 if none. */
static bool
find_slice(HbReader *r, HbRDict *rd, const Wanted *w, uint32_t *slice)
{
	uint32_t	lo;
	uint32_t	hi;

	*slice = 0;
	if (rd->d->nslices <= 1)
		return true;
	if (!load_top(r, rd) ||
		!slice_bound(r, rd, w->key, false, &lo) ||
		!slice_bound(r, rd, w->key, true, &hi))
		return false;
	/* between: slices that begin with the same key, to be compared whole */
	while (lo < hi)
	{
		uint32_t	mid = (lo + hi) / 2;
		const HbDictSlice *s;

		if (!load_slice(r, rd, mid, &s))
			return false;
		if (hb_slice_cmp(hb_dict_slice_entry(s, 0), w->shown) <= 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	*slice = lo > 0 ? lo - 1 : 0;
	return true;
}

/* *maybe false: certainly not in the dictionary. */
static bool
ask_filter(HbReader *r, HbRDict *rd, const Wanted *w, bool *maybe)
{
	uint32_t	nblocks = rd->d->filter_blocks;
	uint64_t	hash;
	uint32_t	block;
	uint8_t		one[HB_FILTER_BLOCK];
	const uint8_t *b;

	*maybe = true;
	if (nblocks == 0)
		return true;
	hash = hb_hash64(w->stored.data, w->stored.len);
	block = hb_filter_block_of(hash, nblocks);
	if (nblocks * HB_FILTER_BLOCK <= FILTER_WHOLE)
	{
		if (rd->filter == NULL)
		{
			uint8_t    *buf = hb_alloc(r->mem, (size_t) nblocks * HB_FILTER_BLOCK);

			if (!hb_reader_read(r, HB_PART_FILTER, rd->d->filter_off,
								nblocks * HB_FILTER_BLOCK, buf))
			{
				hb_free(r->mem, buf);
				return hb_reader_fail(r, "filter", dict_index(r, rd), -1, "could not be read");
			}
			rd->filter = buf;
		}
		b = rd->filter + (size_t) block * HB_FILTER_BLOCK;
	}
	else
	{
		if (!hb_reader_read(r, HB_PART_FILTER, rd->d->filter_off + (uint64_t) block * HB_FILTER_BLOCK,
							HB_FILTER_BLOCK, one))
			return hb_reader_fail(r, "filter", dict_index(r, rd), block, "could not be read");
		b = one;
	}
	if (!hb_reader_crc(r, b, HB_FILTER_BITS / 8, dict_index(r, rd), HB_SEED_FILTER, block))
		return hb_reader_fail(r, "filter", dict_index(r, rd), block, "checksum does not match");
	*maybe = hb_filter_test(b, hash);
	return true;
}

bool
hb_reader_dict_find(HbReader *r, int col, HbSlice value, uint32_t *code)
{
	HbRDict    *rd = dict_of(r, col);
	const HbDictSlice *s;
	Wanted		w;
	uint32_t	slice;
	uint32_t	i;
	bool		maybe;

	*code = 0;
	if (rd == NULL)
		return false;
	if (r->cols[col].d->width > 0 && value.len != r->cols[col].d->width)
		return true;
	want(rd->d, value, &w);
	if (!ask_filter(r, rd, &w, &maybe))
		return false;
	if (!maybe)
		return true;
	if (!find_slice(r, rd, &w, &slice) || !load_slice(r, rd, slice, &s))
		return false;
	i = hb_dict_slice_lower(s, w.shown);
	if (i < s->n && hb_slice_cmp(hb_dict_slice_entry(s, i), w.shown) == 0)
		*code = (slice << rd->d->shift) + i + 1;
	return true;
}

bool
hb_reader_dict_lower_bound(HbReader *r, int col, HbSlice value, uint32_t *code)
{
	HbRDict    *rd = dict_of(r, col);
	uint32_t	width = r->cols[col].d->width;
	const HbDictSlice *s;
	Wanted		w;
	uint8_t		buf[HB_DICT_MAX_STRIP];
	bool		longer = false;
	uint32_t	slice;
	uint32_t	i;

	*code = 0;
	if (rd == NULL)
		return false;
	if (rd->d->stripped && value.len != width)
	{
		/*
		 * Values of the column all have its width.  A shorter one stands
		 * where it would with zeros behind it; a longer one behind the value
		 * that is its beginning.
		 */
		longer = value.len > width;
		memset(buf, 0, width);
		if (value.len > 0)
			memcpy(buf, value.data, longer ? width : value.len);
		value.data = buf;
		value.len = width;
	}
	want(rd->d, value, &w);
	if (!find_slice(r, rd, &w, &slice) || !load_slice(r, rd, slice, &s))
		return false;
	i = hb_dict_slice_lower(s, w.shown);
	if (longer && i < s->n && hb_slice_cmp(hb_dict_slice_entry(s, i), w.shown) == 0)
		i++;
	*code = (slice << rd->d->shift) + i + 1;
	return true;
}

bool
hb_reader_dict_entry(HbReader *r, int col, uint32_t code, HbSlice *value)
{
	HbRDict    *rd = dict_of(r, col);
	const HbDictDesc *d;
	const HbDictSlice *s;
	uint32_t	slice;

	if (rd == NULL)
		return false;
	d = rd->d;
	if (code == 0 || code > d->n)
		return hb_reader_fail(r, "dictionary", dict_index(r, rd), -1, "code is out of range");
	slice = (code - 1) >> d->shift;
	if (rd->slices != NULL && rd->slices[slice / HB_FENCE_GROUP] != NULL &&
		rd->slices[slice / HB_FENCE_GROUP][slice % HB_FENCE_GROUP].n > 0)
		s = &rd->slices[slice / HB_FENCE_GROUP][slice % HB_FENCE_GROUP];
	else if (!load_slice(r, rd, slice, &s))
		return false;
	*value = hb_dict_slice_entry(s, (code - 1) & ((1U << d->shift) - 1));
	if (d->stripped)
	{
		uint32_t	cut = d->width - r->cols[col].d->width;
		uint32_t	i;

		/* what is left out must be the padding */
		for (i = 0; i < cut; i++)
		{
			if (value->data[i] != 0)
				return hb_reader_fail(r, "dictionary", dict_index(r, rd), slice,
									  "value is wider than its column");
		}
		value->data += cut;
		value->len -= cut;
	}
	return true;
}

bool
hb_reader_code_pages(HbReader *r, int col, uint32_t code, uint64_t *pages)
{
	HbRDict    *rd = dict_of(r, col);
	const HbColDesc *c = r->cols[col].d;
	uint32_t	slice;
	uint32_t	first;
	uint32_t	n;
	uint32_t	begin;
	uint32_t	end;
	uint64_t	base;
	uint8_t		offsets[8];
	uint8_t    *buf;

	if (rd == NULL)
		return false;
	if (code == 0 || code > rd->d->n)
		return hb_reader_fail(r, "page list", c->column_no, -1, "code is out of range");
	if (r->dir.npages == 1)
	{
		pages[0] |= 1;
		return true;
	}
	slice = (code - 1) >> rd->d->shift;
	first = slice << rd->d->shift;
	n = rd->d->n - first < (1U << rd->d->shift) ? rd->d->n - first : 1U << rd->d->shift;
	base = ((uint64_t) rd->d->nslices + 1) * 4;
	if (!hb_reader_read(r, HB_PART_LISTS, c->lists_off + (uint64_t) slice * 4, 8, offsets))
		return hb_reader_fail(r, "page list", c->column_no, slice, "could not be read");
	begin = hb_get32(offsets);
	end = hb_get32(offsets + 4);
	if (begin > end || end > c->lists_len - base || end - begin < 4 || end - begin > (1U << 16))
		return hb_reader_fail(r, "page list", c->column_no, slice, "offset is out of range");
	buf = hb_reader_scratch(r, end - begin);
	if (!hb_reader_read(r, HB_PART_LISTS, c->lists_off + base + begin, end - begin, buf))
		return hb_reader_fail(r, "page list", c->column_no, slice, "could not be read");
	if (!hb_reader_crc(r, buf, end - begin - 4, c->column_no, HB_SEED_LIST, slice))
		return hb_reader_fail(r, "page list", c->column_no, slice, "checksum does not match");
	if (!hb_lists_get(buf, end - begin - 4, n, code - 1 - first, r->dir.npages, pages))
		return hb_reader_fail(r, "page list", c->column_no, slice, "a list is damaged");
	return true;
}
