/*
 * hb_reader.c
 *		Opening a chunk, what is known of its columns, null flags and bounds.
 */
#include "chunk/hb_reader_int.h"

bool
hb_reader_fail(HbReader *r, const char *part, uint16_t owner, int64_t page, const char *detail)
{
	hb_error_set(&r->error, HB_ERR_CORRUPT, part, owner, page, detail);
	return false;
}

bool
hb_reader_read(HbReader *r, HbPartKind part, uint64_t off, uint32_t len, uint8_t *dst)
{
	if (r->source.read == NULL)
		return false;
	r->stats.reads[part]++;
	r->stats.bytes[part] += len;
	return r->source.read(r->source.arg, off, len, dst);
}

uint8_t *
hb_reader_scratch(HbReader *r, size_t len)
{
	if (r->scratch_cap < len)
	{
		size_t		cap = len + len / 2 + 256;

		hb_free(r->mem, r->scratch);
		r->scratch = NULL;
		r->scratch_cap = 0;
		r->scratch = hb_alloc(r->mem, cap);
		r->scratch_cap = cap;
	}
	return r->scratch;
}

bool
hb_reader_crc(const HbReader *r, const uint8_t *data, size_t len, uint16_t owner,
			  uint8_t kind, uint32_t index)
{
	return hb_crc_matches(hb_crc32c(hb_crc_seed(r->chunk_id, owner, kind, index), data, len),
						  data + len);
}

/* What a reader says of a column. */
static void
fill_info(HbReader *r, HbRCol *col)
{
	const HbColDesc *d = col->d;
	HbColumnInfo *info = &col->info;

	info->phys = d->phys;
	info->null_count = d->null_count;
	info->bytes = d->bytes;
	info->dict = -1;
	switch (d->kind)
	{
		case HB_COL_INT:
			info->stored = HB_STORED_INT;
			info->has_minmax = d->null_count < r->dir.nrows;
			info->int_min = d->ints.min;
			info->int_max = d->ints.max;
			break;
		case HB_COL_DICT:
			info->stored = HB_STORED_DICT;
			info->dict = (int) d->dict;
			info->width = d->width;
			break;
		case HB_COL_FIXED:
			info->stored = HB_STORED_FIXED;
			info->width = d->width;
			info->has_hash_index = d->hash_lines > 0;
			break;
		case HB_COL_VAR:
			info->stored = HB_STORED_VAR;
			break;
		case HB_COL_NULL:
			info->stored = HB_STORED_NULL;
			break;
		case HB_COL_DERIVED:
			info->stored = HB_STORED_DERIVED;
			info->derive_code = d->derive_code;
			break;
		case HB_COL_PREV:
			{
				const HbColDesc *s = &r->dir.cols[d->prev_col];

				info->stored = s->kind == HB_COL_FIXED ? HB_STORED_FIXED : HB_STORED_VAR;
				info->width = s->kind == HB_COL_FIXED ? s->width : 0;
				info->has_hash_index = s->kind == HB_COL_FIXED && s->hash_lines > 0;
				/* the first row may have a length of its own */
				if (info->width > 0 && d->first.data != NULL && d->first.len != info->width)
					info->stored = HB_STORED_VAR;
				if (info->stored == HB_STORED_VAR)
					info->width = 0;
				break;
			}
	}
}

HbReader *
hb_reader_open(HbMem *mem, const uint8_t *dir, size_t dir_len, uint64_t chunk_id, HbError *error)
{
	HbReader   *r = hb_alloc(mem, sizeof(HbReader));
	uint32_t	i;

	memset(r, 0, sizeof(*r));
	hb_account_init(&r->account, mem);
	r->mem = &r->account.mem;
	r->outer = *mem;
	r->chunk_id = chunk_id;
	r->starts_page = HB_NO_PAGE;
	r->dir_copy = hb_alloc(r->mem, dir_len + 1);
	memcpy(r->dir_copy, dir, dir_len);
	if (!hb_directory_get(r->mem, r->dir_copy, dir_len, chunk_id, &r->dir, error))
	{
		hb_free(r->mem, r->dir_copy);
		hb_free(mem, r);
		return NULL;
	}
	r->cols = hb_alloc0(r->mem, sizeof(HbRCol) * r->dir.ncols + sizeof(HbRDict) * r->dir.ndicts + 1);
	r->dicts = (HbRDict *) (r->cols + r->dir.ncols);
	for (i = 0; i < r->dir.ncols; i++)
	{
		HbRCol	   *col = &r->cols[i];

		col->d = &r->dir.cols[i];
		col->nulls_page = HB_NO_PAGE;
		hb_intcol_init(&col->ints, &col->d->ints, col->d->column_no, false);
		fill_info(r, col);
	}
	for (i = 0; i < r->dir.ndicts; i++)
		r->dicts[i].d = &r->dir.dicts[i];
	hb_intcol_init(&r->numbers, &r->dir.numbers, HB_OWNER_NUMBERS, true);
	hb_intcol_init(&r->firsts, &r->dir.firsts, HB_OWNER_FIRSTS, true);
	return r;
}

void
hb_reader_set_source(HbReader *r, const HbSource *source)
{
	r->source = *source;
}

static void
free_values(HbReader *r, HbValues *v)
{
	uint32_t	i;

	if (v == NULL)
		return;
	for (i = 0; i < v->pool.nold; i++)
		hb_free(r->mem, (void *) v->pool.old[i].data);
	hb_free(r->mem, v->pool.old);
	hb_free(r->mem, v->pool.block);
	hb_free(r->mem, v->offs);
	hb_free(r->mem, v->index);
	hb_free(r->mem, v->subs);
	hb_free(r->mem, v->edge);
	hb_free(r->mem, v);
}

static void
free_dict(HbReader *r, HbRDict *rd)
{
	uint32_t	ngroups = rd->d->ngroups;
	uint32_t	i;
	uint32_t	k;

	hb_free(r->mem, rd->top);
	hb_free(r->mem, rd->filter);
	if (rd->groups != NULL)
	{
		for (i = 0; i < ngroups; i++)
			hb_free(r->mem, rd->groups[i]);
		hb_free(r->mem, rd->groups);
	}
	if (rd->slices == NULL)
		return;
	for (i = 0; i < (ngroups > 0 ? ngroups : 1); i++)
	{
		if (rd->slices[i] == NULL)
			continue;
		for (k = 0; k < HB_FENCE_GROUP; k++)
		{
			HbDictSlice *s = &rd->slices[i][k];

			if (s->n > 0)
				hb_free(r->mem, s->off != NULL ? (void *) s->off : (void *) s->data);
		}
		hb_free(r->mem, rd->slices[i]);
	}
	hb_free(r->mem, rd->slices);
}

void
hb_reader_free(HbReader *r)
{
	HbMem		outer = r->outer;
	uint32_t	i;

	for (i = 0; i < r->dir.ncols; i++)
	{
		hb_intcol_free(r, &r->cols[i].ints);
		free_values(r, r->cols[i].values);
		hb_free(r->mem, r->cols[i].bounds);
		hb_free(r->mem, r->cols[i].nulls);
		hb_free(r->mem, r->cols[i].lines);
	}
	for (i = 0; i < r->dir.ndicts; i++)
		free_dict(r, &r->dicts[i]);
	hb_intcol_free(r, &r->numbers);
	hb_intcol_free(r, &r->firsts);
	hb_free(r->mem, r->scratch);
	hb_free(r->mem, r->cols);
	hb_free(r->mem, r->dir.cols);
	hb_free(r->mem, r->dir_copy);
	hb_free(&outer, r);
}

size_t
hb_reader_memory(const HbReader *r)
{
	return r->account.used + sizeof(HbReader);
}

const HbError *
hb_reader_error(const HbReader *r)
{
	return &r->error;
}

uint32_t
hb_reader_rows(const HbReader *r)
{
	return r->dir.nrows;
}

uint32_t
hb_reader_pages(const HbReader *r)
{
	return r->dir.npages;
}

int
hb_reader_column(const HbReader *r, uint16_t column_no)
{
	uint32_t	lo = 0;
	uint32_t	hi = r->dir.ncols;

	while (lo < hi)
	{
		uint32_t	mid = (lo + hi) / 2;

		if (r->dir.cols[mid].column_no < column_no)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < r->dir.ncols && r->dir.cols[lo].column_no == column_no ? (int) lo : -1;
}

const HbColumnInfo *
hb_reader_info(const HbReader *r, int col)
{
	return &r->cols[col].info;
}

/* Sets the first n bits. */
static void
set_bits(uint64_t *bits, uint32_t n)
{
	uint32_t	i;

	memset(bits, 0, sizeof(uint64_t) * HB_PAGE_WORDS);
	for (i = 0; i < n / 64; i++)
		bits[i] = ~UINT64_C(0);
	if (n % 64 != 0)
		bits[n / 64] = (UINT64_C(1) << (n % 64)) - 1;
}

/* The bitmap part of a page, kept for the next time. */
static bool
stored_nulls(HbReader *r, HbRCol *col, uint32_t page, uint64_t *nulls)
{
	uint32_t	rows = hb_page_rows(r->dir.nrows, page);
	uint32_t	len = (rows + 7) / 8;
	uint8_t		buf[HB_PAGE_ROWS / 8 + 4];
	uint32_t	i;

	if (col->nulls_page == page)
	{
		memcpy(nulls, col->nulls, sizeof(uint64_t) * HB_PAGE_WORDS);
		return true;
	}
	if (!hb_reader_read(r, HB_PART_NULLS,
						col->d->nulls_off + (uint64_t) page * (HB_PAGE_ROWS / 8 + 4), len + 4, buf))
		return hb_reader_fail(r, "null bitmap", col->d->column_no, page, "could not be read");
	if (!hb_reader_crc(r, buf, len, col->d->column_no, HB_SEED_NULLS, page))
		return hb_reader_fail(r, "null bitmap", col->d->column_no, page, "checksum does not match");
	memset(buf + len, 0, sizeof(buf) - len);
	if (col->nulls == NULL)
		col->nulls = hb_alloc(r->mem, sizeof(uint64_t) * HB_PAGE_WORDS);
	for (i = 0; i < HB_PAGE_WORDS; i++)
		nulls[i] = hb_get64(buf + 8 * i);
	if (rows % 64 != 0)
		nulls[rows / 64] &= (UINT64_C(1) << (rows % 64)) - 1;
	memcpy(col->nulls, nulls, sizeof(uint64_t) * HB_PAGE_WORDS);
	col->nulls_page = page;
	return true;
}

bool
hb_reader_nulls(HbReader *r, int col, uint32_t page, uint64_t nulls[HB_PAGE_WORDS], bool *any_null)
{
	HbRCol	   *c = &r->cols[col];
	const HbColDesc *d = c->d;
	uint32_t	rows = hb_page_rows(r->dir.nrows, page);
	const HbPageEntry *e;
	uint64_t	any = 0;
	uint32_t	i;

	*any_null = false;
	memset(nulls, 0, sizeof(uint64_t) * HB_PAGE_WORDS);
	if (d->null_count == 0)
		return true;
	switch (d->kind)
	{
		case HB_COL_NULL:
			set_bits(nulls, rows);
			break;
		case HB_COL_INT:
			if (!hb_intcol_entry(r, &c->ints, page, &e))
				return false;
			if (e->nulls == 0)
				return true;
			if (e->nulls >= rows)
				set_bits(nulls, rows);
			else if (!stored_nulls(r, c, page, nulls))
				return false;
			break;
		case HB_COL_FIXED:
		case HB_COL_VAR:
			if (!stored_nulls(r, c, page, nulls))
				return false;
			break;
		case HB_COL_DICT:
			{
				uint32_t	codes[HB_PAGE_ROWS];

				if (!hb_reader_codes(r, col, page, codes))
					return false;
				for (i = 0; i < rows; i++)
					nulls[i / 64] |= (uint64_t) (codes[i] == 0) << (i % 64);
				break;
			}
		case HB_COL_PREV:
			{
				uint64_t	carry = d->first.data == NULL;
				bool		ignored;

				if (page > 0)
				{
					if (!hb_reader_nulls(r, (int) d->prev_col, page - 1, nulls, &ignored))
						return false;
					carry = nulls[HB_PAGE_WORDS - 1] >> 63;
				}
				if (!hb_reader_nulls(r, (int) d->prev_col, page, nulls, &ignored))
					return false;
				for (i = 0; i < HB_PAGE_WORDS; i++)
				{
					uint64_t	out = nulls[i] >> 63;

					nulls[i] = (nulls[i] << 1) | carry;
					carry = out;
				}
				/* the last row's flag belongs to no row of this page */
				if (rows % 64 != 0)
					nulls[rows / 64] &= (UINT64_C(1) << (rows % 64)) - 1;
				for (i = (rows + 63) / 64; i < HB_PAGE_WORDS; i++)
					nulls[i] = 0;
				break;
			}
	}
	for (i = 0; i < HB_PAGE_WORDS; i++)
		any |= nulls[i];
	*any_null = any != 0;
	return true;
}

bool
hb_reader_page_bounds(HbReader *r, int col, uint32_t page, HbSlice *min, HbSlice *max, bool *valid)
{
	HbRCol	   *c = &r->cols[col];
	const HbColDesc *d = c->d;
	const uint8_t *e;

	*valid = false;
	if (!d->bounds || (d->kind != HB_COL_FIXED && d->kind != HB_COL_VAR))
		return true;
	if (r->dir.npages == 1)
		e = d->bound_entry.data;
	else
	{
		uint32_t	len = r->dir.npages * HB_BOUND_ENTRY;

		if (c->bounds == NULL)
		{
			uint8_t    *buf = hb_alloc(r->mem, len + 4);

			if (!hb_reader_read(r, HB_PART_PAGE_TABLE, d->bounds_off, len + 4, buf) ||
				!hb_reader_crc(r, buf, len, d->column_no, HB_SEED_BOUNDS, 0))
			{
				hb_free(r->mem, buf);
				return hb_reader_fail(r, "page bounds", d->column_no, -1, "checksum does not match");
			}
			c->bounds = buf;
		}
		e = c->bounds + (size_t) page * HB_BOUND_ENTRY;
	}
	if (e[0] == 255)
		return true;
	if (e[0] > HB_BOUND_LEN || e[HB_BOUND_LEN + 1] > HB_BOUND_LEN)
		return hb_reader_fail(r, "page bounds", d->column_no, page, "length is out of range");
	min->len = e[0];
	min->data = e + 1;
	max->len = e[HB_BOUND_LEN + 1];
	max->data = e + HB_BOUND_LEN + 2;
	*valid = true;
	return true;
}

void
hb_reader_stats(const HbReader *r, HbReadStats *stats)
{
	*stats = r->stats;
}

void
hb_reader_reset_stats(HbReader *r)
{
	memset(&r->stats, 0, sizeof(r->stats));
}
