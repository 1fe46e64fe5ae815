/*
 * hb_builder_sort.c
 *		The sort key of a builder's rows.
 *
 * A natural merge sort of row numbers: rows usually come as a few sorted
 * runs, and it is stable.  Then every column is put into the new order.
 */
#include "chunk/hb_builder_int.h"

/* NULLs last. */
int
hb_builder_compare(const HbBuilder *b, uint32_t r1, uint32_t r2)
{
	int			i;

	for (i = 0; i < b->options.nsort; i++)
	{
		const HbBCol *c = &b->cols[b->options.sort_cols[i]];

		if (c->hold == HB_HOLD_INT)
		{
			int64_t		i1;
			int64_t		i2;
			bool		has1 = hb_seq_get(&c->vals, r1, &i1);
			bool		has2 = hb_seq_get(&c->vals, r2, &i2);

			if (!has1 || !has2)
			{
				if (has1 != has2)
					return has1 ? -1 : 1;
			}
			else if (i1 != i2)
				return i1 < i2 ? -1 : 1;
		}
		else
		{
			HbSlice		v1 = {NULL, 0};
			HbSlice		v2 = {NULL, 0};
			bool		has1;
			bool		has2;
			int			cmp;

			if (c->hold == HB_HOLD_CODES && hb_bcol_code(c, r1) == hb_bcol_code(c, r2))
				continue;
			has1 = hb_bcol_bytes(c, r1, &v1);
			has2 = hb_bcol_bytes(c, r2, &v2);
			if (!has1 || !has2)
			{
				if (has1 != has2)
					return has1 ? -1 : 1;
				continue;
			}
			cmp = memcmp(v1.data, v2.data, v1.len < v2.len ? v1.len : v2.len);
			if (cmp != 0)
				return cmp;
			if (v1.len != v2.len)
				return v1.len < v2.len ? -1 : 1;
		}
	}
	return 0;
}

/*
 * Merges neighbouring runs of a into d; ends[] holds where runs end.  Returns
 * the new number of runs.
 */
static uint32_t
merge_runs(const HbBuilder *b, const uint32_t *a, uint32_t *d, uint32_t *ends, uint32_t nruns)
{
	uint32_t	begin = 0;
	uint32_t	out = 0;
	uint32_t	r;

	for (r = 0; r < nruns; r += 2)
	{
		uint32_t	i = begin;
		uint32_t	mid = ends[r];
		uint32_t	j = mid;
		uint32_t	end = r + 1 < nruns ? ends[r + 1] : mid;
		uint32_t	k = begin;

		while (i < mid && j < end)
		{
			d[k++] = hb_builder_compare(b, a[i], a[j]) <= 0 ? a[i++] : a[j++];
			if (k % HB_CHECK_ROWS == 0)
				hb_check(b->mem);
		}
		while (i < mid)
			d[k++] = a[i++];
		while (j < end)
			d[k++] = a[j++];
		ends[out++] = end;
		begin = end;
	}
	return out;
}

void
hb_builder_sort(HbBuilder *b)
{
	uint32_t	n = b->nrows;
	uint32_t   *perm;
	uint32_t   *other;
	uint32_t   *ends;
	uint32_t	nruns = 0;
	uint32_t	i;
	int			k;

	if (b->sorted || n < 2)
		return;
	hb_builder_flush(b);
	perm = hb_alloc(b->mem, sizeof(uint32_t) * n);
	other = hb_alloc(b->mem, sizeof(uint32_t) * n);
	ends = hb_alloc(b->mem, sizeof(uint32_t) * n);
	for (i = 0; i < n; i++)
	{
		perm[i] = i;
		if (i > 0 && hb_builder_compare(b, i - 1, i) > 0)
			ends[nruns++] = i;
	}
	ends[nruns++] = n;
	while (nruns > 1)
	{
		uint32_t   *t = perm;

		nruns = merge_runs(b, perm, other, ends, nruns);
		perm = other;
		other = t;
	}
	hb_free(b->mem, other);
	hb_free(b->mem, ends);
	for (k = 0; k < b->ncols; k++)
	{
		hb_check(b->mem);
		hb_seq_permute(&b->cols[k].vals, perm, n);
		hb_seq_permute(&b->cols[k].lens, perm, n);
	}
	hb_free(b->mem, perm);
	b->sorted = true;
}
