/*
 * hb_builder_dict.c
 *		Which columns get a dictionary, which columns share one, and writing
 *		dictionaries, codes and page lists.
 */
#include "chunk/hb_builder_int.h"
#include "codec/hb_dict.h"
#include "codec/hb_filter.h"
#include "codec/hb_hash.h"
#include "codec/hb_lists.h"

#define SLICE_BYTES		2048	/* about as many in a slice */
#define AHEAD			16		/* entries asked for in advance */

static uint32_t
count_bits(const uint64_t *bits, uint32_t words)
{
	uint32_t	n = 0;
	uint32_t	i;

	for (i = 0; i < words; i++)
		n += (uint32_t) __builtin_popcountll(bits[i]);
	return n;
}

/* Which provisional codes occur in the rows to be written? */
static void
mark_used(HbWriter *w, HbWCol *wc)
{
	const HbBCol *c = wc->col;
	uint32_t	words = c->tab->n / 64 + 1;
	uint32_t	nulls = 0;
	uint64_t	bytes = 0;
	uint32_t	r;
	uint32_t	i;

	wc->used = hb_alloc0(w->mem, sizeof(uint64_t) * words);
	for (r = 0; r < w->nrows; r++)
	{
		uint32_t	code = hb_bcol_code(c, r);

		wc->used[code / 64] |= UINT64_C(1) << (code % 64);
		if (code == 0)
			nulls++;
		else
			wc->bytes += c->tab->entries[code]->len;
	}
	wc->used[0] &= ~UINT64_C(1);
	wc->desc->null_count = nulls;
	wc->distinct = count_bits(wc->used, words);
	for (i = 0; i < words; i++)
	{
		uint64_t	word = wc->used[i];

		while (word != 0)
		{
			bytes += c->tab->entries[i * 64 + (uint32_t) __builtin_ctzll(word)]->len;
			word &= word - 1;
		}
	}
	wc->avg_len = wc->distinct > 0 ? bytes / wc->distinct + 1 : 0;
}

/* Bits of a code in a dictionary of n entries. */
static inline uint64_t
code_bits(uint64_t n)
{
	return n == 0 ? 0 : 64 - (uint64_t) __builtin_clzll(n);
}

static int
dict_new(HbWriter *w, HbTab *tab)
{
	HbWDict    *d = &w->dicts[w->ndicts];

	memset(d, 0, sizeof(*d));
	d->tab = tab;
	d->used = hb_alloc0(w->mem, sizeof(uint64_t) * (tab->n / 64 + 1));
	return (int) w->ndicts++;
}

static void
dict_join(HbWriter *w, HbWCol *wc, int dict)
{
	HbWDict    *d = &w->dicts[dict];
	uint32_t	words = d->tab->n / 64 + 1;
	uint32_t	i;

	for (i = 0; i < words; i++)
		d->used[i] |= wc->used[i];
	wc->dict = dict;
}

/* Dictionaries are numbered in the order in which columns first use them. */
static void
renumber_dicts(HbWriter *w)
{
	HbWDict    *sorted = hb_alloc(w->mem, sizeof(HbWDict) * (w->ndicts + 1));
	int		   *map = hb_alloc(w->mem, sizeof(int) * (w->ndicts + 1));
	int			n = 0;
	uint32_t	i;

	for (i = 0; i < w->ndicts; i++)
		map[i] = -1;
	for (i = 0; i < w->dir.ncols; i++)
	{
		HbWCol	   *wc = &w->cols[i];

		if (wc->dict < 0)
			continue;
		if (map[wc->dict] < 0)
		{
			sorted[n] = w->dicts[wc->dict];
			map[wc->dict] = n++;
		}
		wc->dict = map[wc->dict];
	}
	memcpy(w->dicts, sorted, sizeof(HbWDict) * w->ndicts);
	hb_free(w->mem, sorted);
	hb_free(w->mem, map);
}

/*
 * Does a column repeat enough for a dictionary?  Less than 3/4 of its non-null
 * values are distinct; and where no other column could share it, it is not
 * twice what the values take in sub-blocks (blooms, data of events: they
 * repeat, but what repeats most are their parts).
 */
static bool
wants_dict(HbWriter *w, HbWCol *wc)
{
	uint64_t	nonnull = w->nrows - wc->desc->null_count;
	uint64_t	size = wc->distinct * wc->avg_len + w->nrows * code_bits(wc->distinct) / 8;

	if (wc->distinct == 0 || (uint64_t) wc->distinct * 4 >= nonnull * 3)
		return false;
	return wc->col->tab->domain != 0 || size < w->nrows ||
		size / 2 < hb_write_packed_size(w, wc, wc->bytes);
}

/*
 * Judges every column that is held as codes: does it get a dictionary?  Of the columns of one
 * table (a domain), the one with most rows begins and each other one joins it
 * where that takes fewer bytes than a dictionary of its own: its new entries
 * and all codes at the new width, against its entries and codes alone.
 */
void
hb_write_judge_dicts(HbWriter *w)
{
	uint32_t	i;
	HbTab	   *tab;

	for (i = 0; i < w->dir.ncols; i++)
	{
		HbWCol	   *wc = &w->cols[i];

		wc->dict = -1;
		if (wc->desc->kind == 0 && wc->col->hold == HB_HOLD_CODES)
		{
			hb_check(w->mem);
			mark_used(w, wc);
			wc->wants_dict = wants_dict(w, wc);
		}
	}
	for (tab = w->b->tabs; tab != NULL; tab = tab->next)
	{
		int			shared = -1;
		uint64_t	shared_rows = 0;
		uint64_t	shared_n = 0;

		for (;;)
		{
			HbWCol	   *best = NULL;
			uint64_t	rows;
			uint64_t	fresh;
			uint64_t	alone;
			uint64_t	together;
			uint32_t	k;

			for (i = 0; i < w->dir.ncols; i++)
			{
				HbWCol	   *wc = &w->cols[i];

				if (!wc->wants_dict || wc->dict >= 0 || wc->col->tab != tab)
					continue;
				if (best == NULL || best->desc->null_count > wc->desc->null_count)
					best = wc;
			}
			if (best == NULL)
				break;
			rows = w->nrows;
			if (shared < 0)
			{
				shared = dict_new(w, tab);
				dict_join(w, best, shared);
				shared_rows = rows;
				shared_n = best->distinct;
				continue;
			}
			fresh = 0;
			for (k = 0; k < tab->n / 64 + 1; k++)
				fresh += (uint64_t) __builtin_popcountll(best->used[k] & ~w->dicts[shared].used[k]);
			alone = best->distinct * best->avg_len + rows * code_bits(best->distinct) / 8 +
				shared_rows * code_bits(shared_n) / 8;
			together = fresh * best->avg_len + (rows + shared_rows) * code_bits(shared_n + fresh) / 8;
			if (together <= alone)
			{
				dict_join(w, best, shared);
				shared_rows += rows;
				shared_n += fresh;
			}
			else
				dict_join(w, best, dict_new(w, tab));
		}
	}
	renumber_dicts(w);
}

typedef struct SortEntry
{
	uint64_t	key;
	const HbTabEntry *e;
} SortEntry;

/* Insertion sort of entries whose keys are equal, or of few. */
static void
sort_few(SortEntry *e, uint32_t n, const HbTab *tab)
{
	uint32_t	i;

	for (i = 1; i < n; i++)
	{
		SortEntry	x = e[i];
		HbSlice		v = hb_tab_value(tab, x.e);
		uint32_t	j = i;

		while (j > 0)
		{
			HbSlice		u = hb_tab_value(tab, e[j - 1].e);

			if (e[j - 1].key < x.key ||
				(e[j - 1].key == x.key && hb_dict_cmp(u, v, tab->stripped) <= 0))
				break;
			e[j] = e[j - 1];
			j--;
		}
		e[j] = x;
	}
}

/* Merge sort of entries with the same key by their values. */
static void
sort_ties(SortEntry *e, SortEntry *tmp, uint32_t n, const HbTab *tab)
{
	uint32_t	half = n / 2;
	uint32_t	i = 0;
	uint32_t	j = half;
	uint32_t	k = 0;

	if (n <= 16)
	{
		sort_few(e, n, tab);
		return;
	}
	sort_ties(e, tmp, half, tab);
	sort_ties(e + half, tmp, n - half, tab);
	while (i < half && j < n)
	{
		HbSlice		u = hb_tab_value(tab, e[i].e);
		HbSlice		v = hb_tab_value(tab, e[j].e);

		tmp[k++] = hb_dict_cmp(u, v, tab->stripped) <= 0 ? e[i++] : e[j++];
	}
	while (i < half)
		tmp[k++] = e[i++];
	while (j < n)
		tmp[k++] = e[j++];
	memcpy(e, tmp, sizeof(SortEntry) * n);
}

/* Radix sort by key, a byte a pass; passes in which all agree are left out. */
static void
sort_entries(SortEntry *e, SortEntry *tmp, uint32_t n, const HbTab *tab)
{
	SortEntry  *a = e;
	SortEntry  *b = tmp;
	uint32_t	i;
	uint32_t	from;
	int			shift;

	if (n <= 32)
	{
		sort_few(e, n, tab);
		return;
	}
	for (shift = 0; shift < 64; shift += 8)
	{
		uint32_t	count[256];
		uint32_t	sum = 0;
		SortEntry  *t;

		hb_check(tab->mem);
		memset(count, 0, sizeof(count));
		for (i = 0; i < n; i++)
			count[(a[i].key >> shift) & 0xff]++;
		if (count[(a[0].key >> shift) & 0xff] == n)
			continue;
		for (i = 0; i < 256; i++)
		{
			uint32_t	c = count[i];

			count[i] = sum;
			sum += c;
		}
		for (i = 0; i < n; i++)
			b[count[(a[i].key >> shift) & 0xff]++] = a[i];
		t = a;
		a = b;
		b = t;
	}
	if (a != e)
		memcpy(e, a, sizeof(SortEntry) * n);
	for (from = 0; from < n; from = i)
	{
		for (i = from + 1; i < n && e[i].key == e[from].key; i++)
			;
		if (i - from > 1)
			sort_ties(e + from, tmp, i - from, tab);
	}
}

/* Offsets of slices and the key of each first entry, as fence groups. */
static void
put_fences(HbWriter *w, uint16_t owner, const HbDictDesc *d, const uint64_t *keys,
		   const uint32_t *ends)
{
	uint8_t		group[4 + HB_FENCE_GROUP * HB_FENCE_ENTRY];
	uint32_t	g;

	if (d->ngroups > 1)
	{
		uint8_t    *top = hb_alloc(w->mem, (size_t) d->ngroups * 8);

		for (g = 0; g < d->ngroups; g++)
			hb_put64(top + 8 * g, keys[g * HB_FENCE_GROUP]);
		hb_out_part(&w->out, top, (size_t) d->ngroups * 8, owner, HB_SEED_TOP, 0);
		hb_free(w->mem, top);
	}
	for (g = 0; g < d->ngroups; g++)
	{
		uint32_t	first = g * HB_FENCE_GROUP;
		uint32_t	n = d->nslices - first < HB_FENCE_GROUP ? d->nslices - first : HB_FENCE_GROUP;
		uint32_t	i;

		hb_put32(group, first == 0 ? 0 : ends[first - 1]);
		for (i = 0; i < n; i++)
		{
			hb_put64(group + 4 + i * HB_FENCE_ENTRY, keys[first + i]);
			hb_put32(group + 4 + i * HB_FENCE_ENTRY + 8, ends[first + i]);
		}
		hb_out_part(&w->out, group, 4 + (size_t) n * HB_FENCE_ENTRY, owner, HB_SEED_FENCES, g);
	}
}

/* The filter's blocks from all values, in the order in which they lie. */
static void
put_filter(HbWriter *w, uint16_t owner, const HbWDict *wd)
{
	const HbDictDesc *d = &wd->desc;
	uint32_t	words = wd->tab->n / 64 + 1;
	uint8_t    *blocks;
	uint32_t	i;

	if (d->filter_blocks == 0)
		return;
	blocks = hb_alloc0(w->mem, (size_t) d->filter_blocks * HB_FILTER_BLOCK);
	for (i = 0; i < words; i++)
	{
		uint64_t	word = wd->used[i];

		for (; word != 0; word &= word - 1)
		{
			const HbTabEntry *t = wd->tab->entries[i * 64 + (uint32_t) __builtin_ctzll(word)];
			uint64_t	hash = hb_hash64(hb_tab_value(wd->tab, t).data, t->len);

			hb_filter_add(blocks + (size_t) hb_filter_block_of(hash, d->filter_blocks) *
						  HB_FILTER_BLOCK, hash);
		}
	}
	for (i = 0; i < d->filter_blocks; i++)
		hb_out_part(&w->out, blocks + (size_t) i * HB_FILTER_BLOCK, HB_FILTER_BITS / 8, owner,
					HB_SEED_FILTER, i);
	hb_free(w->mem, blocks);
}

/* Encodes slice i of the sorted entries e, and its checksum, into slice. */
static void
encode_slice(HbWriter *w, const HbWDict *wd, uint16_t owner, const SortEntry *e, uint32_t i,
			 HbBuf *slice)
{
	const HbDictDesc *d = &wd->desc;
	HbSlice		values[1 << HB_DICT_MAX_SHIFT];
	uint32_t	first = i << d->shift;
	uint32_t	count = d->n - first < (1U << d->shift) ? d->n - first : 1U << d->shift;
	uint8_t		crc[4];
	uint32_t	k;

	for (k = 0; k < count; k++)
	{
		/* sorted, entries lie anywhere: ask for them before they are used */
		if (first + k + AHEAD < d->n)
			__builtin_prefetch(e[first + k + AHEAD].e);
		values[k] = hb_tab_value(wd->tab, e[first + k].e);
	}
	slice->len = 0;
	hb_dict_slice_put(slice, values, count, wd->tab->stripped);
	hb_put32(crc, hb_crc32c(hb_crc_seed(w->out.chunk_id, owner, HB_SEED_SLICE, i),
							slice->data, slice->len));
	hb_buf_put(slice, crc, 4);
}

/*
 * Sorts and writes a dictionary; leaves its map for the columns.  Fences come
 * before the slices that they tell of: slices are encoded twice, since all of
 * them in memory would be the dictionary once more.
 */
static void
put_dict(HbWriter *w, int index)
{
	HbWDict    *wd = &w->dicts[index];
	HbTab	   *tab = wd->tab;
	HbDictDesc *d = &wd->desc;
	uint32_t	words = tab->n / 64 + 1;
	uint32_t	n = count_bits(wd->used, words);
	SortEntry  *e = hb_alloc(w->mem, sizeof(SortEntry) * n);
	SortEntry  *tmp = hb_alloc(w->mem, sizeof(SortEntry) * n);
	HbBuf		slice;
	uint64_t   *keys;
	uint32_t   *ends;
	uint64_t	total = 0;
	uint32_t	width = UINT32_MAX;
	uint32_t	k = 0;
	uint32_t	i;

	for (i = 0; i < words; i++)
	{
		uint64_t	word = wd->used[i];

		for (; word != 0; word &= word - 1)
		{
			const HbTabEntry *t = tab->entries[i * 64 + (uint32_t) __builtin_ctzll(word)];
			HbSlice		v = hb_tab_value(tab, t);

			e[k].e = t;
			e[k++].key = hb_dict_key(v, tab->stripped);
			total += v.len;
			if (width == UINT32_MAX)
				width = v.len;
			else if (width != v.len)
				width = 0;
		}
	}
	sort_entries(e, tmp, n, tab);
	hb_free(w->mem, tmp);

	d->n = n;
	d->stripped = tab->stripped;
	d->width = width == UINT32_MAX ? 0 : (uint16_t) width;
	if (tab->stripped)
	{
		/* the widest column that uses it */
		d->width = 0;
		for (i = 0; i < w->dir.ncols; i++)
		{
			if (w->cols[i].dict == index && w->cols[i].col->spec.width > d->width)
				d->width = w->cols[i].col->spec.width;
		}
	}
	d->shift = HB_DICT_MAX_SHIFT;
	while (d->shift > 0 && (total / n) << d->shift > SLICE_BYTES)
		d->shift--;
	hb_dict_desc_derive(d);

	wd->map = hb_alloc(w->mem, sizeof(uint32_t) * (tab->n + 1));
	wd->map[0] = 0;
	for (i = 0; i < n; i++)
		wd->map[e[i].e->code] = i + 1;
	hb_buf_init(&slice, w->mem);
	keys = hb_alloc(w->mem, sizeof(uint64_t) * d->nslices);
	ends = hb_alloc(w->mem, sizeof(uint32_t) * d->nslices);
	for (i = 0; i < d->nslices; i++)
	{
		encode_slice(w, wd, (uint16_t) index, e, i, &slice);
		d->slices_len += slice.len;
		keys[i] = e[i << d->shift].key;
		ends[i] = (uint32_t) d->slices_len;
	}
	put_fences(w, (uint16_t) index, d, keys, ends);
	put_filter(w, (uint16_t) index, wd);
	for (i = 0; i < d->nslices; i++)
	{
		encode_slice(w, wd, (uint16_t) index, e, i, &slice);
		hb_out_put(&w->out, slice.data, slice.len);
	}
	hb_buf_free(&slice);
	hb_free(w->mem, keys);
	hb_free(w->mem, ends);
	hb_free(w->mem, e);
	wd->written = true;
}

/*
 * Page lists.  Pairs (code, page) are counted and laid out by code; a code's
 * pages come in ascending order because rows do.
 */
static void
put_lists(HbWriter *w, HbWCol *wc, const HbDictDesc *d)
{
	const int64_t *codes = w->tmp;
	uint32_t   *start = hb_alloc0(w->mem, sizeof(uint32_t) * (d->n + 2));
	uint8_t    *last = hb_alloc(w->mem, d->n + 1);
	uint8_t    *pages;
	HbBuf		lists;
	uint8_t    *offsets;
	uint32_t	r;
	uint32_t	i;

	memset(last, 0xff, d->n + 1);
	for (r = 0; r < w->nrows; r++)
	{
		uint32_t	code = (uint32_t) codes[r];
		uint8_t		page = (uint8_t) (r / HB_PAGE_ROWS);

		if (last[code] != page)
		{
			last[code] = page;
			start[code + 1]++;
		}
	}
	for (i = 0; i <= d->n; i++)
		start[i + 1] += start[i];
	pages = hb_alloc(w->mem, (size_t) start[d->n + 1] + 1);
	memset(last, 0xff, d->n + 1);
	for (r = 0; r < w->nrows; r++)
	{
		uint32_t	code = (uint32_t) codes[r];
		uint8_t		page = (uint8_t) (r / HB_PAGE_ROWS);

		if (last[code] != page)
		{
			last[code] = page;
			pages[start[code]++] = page;
		}
	}
	/* now start[code] is where the code's pages end */
	hb_buf_init(&lists, w->mem);
	offsets = hb_alloc(w->mem, sizeof(uint32_t) * (d->nslices + 1));
	for (i = 0; i < d->nslices; i++)
	{
		uint32_t	first = (i << d->shift) + 1;
		uint32_t	count = d->n - (first - 1) < (1U << d->shift) ? d->n - (first - 1) : 1U << d->shift;
		size_t		begin = lists.len;
		uint8_t		crc[4];
		uint32_t	k;

		hb_put32(offsets + 4 * i, (uint32_t) begin);
		memset(hb_buf_room(&lists, (count + 7) / 8), 0, (count + 7) / 8);
		lists.len += (count + 7) / 8;
		for (k = 0; k < count; k++)
		{
			uint32_t	from = start[first + k - 1];
			uint32_t	n = start[first + k] - from;

			if (n == 0)
				continue;
			lists.data[begin + k / 8] |= (uint8_t) (1 << (k % 8));
			hb_lists_put(&lists, pages + from, n, w->npages);
		}
		hb_put32(crc, hb_crc32c(hb_crc_seed(w->out.chunk_id, wc->desc->column_no, HB_SEED_LIST, i),
								lists.data + begin, lists.len - begin));
		hb_buf_put(&lists, crc, 4);
	}
	hb_put32(offsets + 4 * d->nslices, (uint32_t) lists.len);
	hb_out_put(&w->out, offsets, sizeof(uint32_t) * (d->nslices + 1));
	hb_out_put(&w->out, lists.data, lists.len);
	wc->desc->lists_len = sizeof(uint32_t) * (d->nslices + 1) + lists.len;
	hb_buf_free(&lists);
	hb_free(w->mem, offsets);
	hb_free(w->mem, pages);
	hb_free(w->mem, last);
	hb_free(w->mem, start);
}

void
hb_write_dict_column(HbWriter *w, HbWCol *wc)
{
	HbWDict    *wd = &w->dicts[wc->dict];
	HbColDesc  *desc = wc->desc;
	uint32_t	r;

	if (!wd->written)
	{
		/* dictionaries are numbered in the order in which they are written */
		put_dict(w, wc->dict);
		w->dir.dicts[w->dir.ndicts++] = wd->desc;
	}
	desc->dict = (uint32_t) wc->dict;
	desc->width = wd->desc.stripped ? wc->col->spec.width : wd->desc.width;
	for (r = 0; r < w->nrows; r++)
		w->tmp[r] = wd->map[hb_bcol_code(wc->col, r)];
	hb_write_ints(w, w->tmp, w->nrows, NULL, desc->column_no, false, true, &desc->ints);
	if (w->npages > 1)
		put_lists(w, wc, &wd->desc);
}
