/*
 * hb_builder_ints.c
 *		Writing integer columns and null bitmaps of a chunk.
 */
#include "chunk/hb_builder_int.h"
#include "codec/hb_intpage.h"
#include "codec/hb_lz.h"
#include "codec/hb_unary.h"

#define SAMPLE_PAGES	6
#define UNARY_MOST		8192	/* bytes of a page's unary payload */
#define ROUND_MODE(m)	((uint8_t) (((m) & HB_INTPAGE_DELTA) | ((((m) & HB_INTPAGE_BITS) + 7) & ~7)))

/* What is known of a page before it is encoded. */
typedef struct PagePlan
{
	int64_t		min;
	int64_t		max;
	uint32_t	nulls;
	uint8_t		mode;
} PagePlan;

/*
 * The null bitmaps of a column's pages, each with its checksum.  nulls has a
 * bit for each row.
 */
void
hb_write_null_bits(HbWriter *w, HbWCol *wc, const uint64_t *nulls)
{
	uint32_t	page;

	for (page = 0; page < w->npages; page++)
	{
		uint8_t		bytes[HB_PAGE_ROWS / 8];
		uint32_t	n = hb_page_rows(w->nrows, page);
		uint32_t	i;

		for (i = 0; i < (n + 63) / 64; i++)
			hb_put64(bytes + 8 * i, nulls[page * HB_PAGE_WORDS + i]);
		/* bits behind the last row are 0 */
		if (n % 8 != 0)
			bytes[n / 8] &= (uint8_t) ((1 << (n % 8)) - 1);
		hb_out_part(&w->out, bytes, (n + 7) / 8, wc->desc->column_no, HB_SEED_NULLS, page);
	}
}

/* Copies a page's values, NULLs replaced by the page's minimum. */
static void
load_page(const int64_t *values, const uint64_t *nulls, uint32_t page, uint32_t n,
		  int64_t min, int64_t *out)
{
	uint32_t	i;

	memcpy(out, values + (size_t) page * HB_PAGE_ROWS, sizeof(int64_t) * n);
	if (nulls == NULL)
		return;
	nulls += page * HB_PAGE_WORDS;
	for (i = 0; i < n; i++)
	{
		if ((nulls[i / 64] >> (i % 64)) & 1)
			out[i] = min;
	}
}

static void
plan_page(const int64_t *values, const uint64_t *nulls, uint32_t page, uint32_t n, PagePlan *p)
{
	const int64_t *v = values + (size_t) page * HB_PAGE_ROWS;
	int64_t		min = INT64_MAX;
	int64_t		max = INT64_MIN;
	uint32_t	i;

	p->nulls = 0;
	if (nulls == NULL)
	{
		for (i = 0; i < n; i++)
		{
			min = v[i] < min ? v[i] : min;
			max = v[i] > max ? v[i] : max;
		}
	}
	else
	{
		nulls += page * HB_PAGE_WORDS;
		for (i = 0; i < n; i++)
		{
			if ((nulls[i / 64] >> (i % 64)) & 1)
			{
				p->nulls++;
				continue;
			}
			min = v[i] < min ? v[i] : min;
			max = v[i] > max ? v[i] : max;
		}
	}
	p->min = min;
	p->max = max;
}

/*
 * Which codec pays for the packed pages, on a sample of them: lz4 if it saves
 * an eighth, zstd if it saves a quarter more (a page is unpacked at many times
 * the speed of either).  Codes of a dictionary are what filters test, on every
 * page of a chunk: a codec must halve them.  Codecs see values rounded to
 * whole bytes.
 */
static uint8_t
judge_codec(HbWriter *w, const int64_t *values, const uint64_t *nulls, uint32_t n,
			const PagePlan *plans, uint32_t npages, bool codes)
{
	int64_t		tmp[HB_PAGE_ROWS];
	uint8_t		raw[HB_INTPAGE_ROOM];
	uint8_t		packed[HB_INTPAGE_ROOM];
	size_t		size[3] = {0, 0, 0};
	uint32_t	step = npages / SAMPLE_PAGES + 1;
	uint32_t	page;
	uint8_t		best = HB_CODEC_NONE;
	int			codec;

	if (w->b->options.compression == 0)
		return HB_CODEC_NONE;
	for (page = step / 2 < npages ? step / 2 : 0; page < npages; page += step)
	{
		uint32_t	rows = hb_page_rows(n, page);
		uint8_t		mode = plans[page].mode;
		size_t		plain = hb_intpage_size(mode, rows);
		size_t		len;

		if (plain < 128)
			continue;
		load_page(values, nulls, page, rows, plans[page].min, tmp);
		hb_intpage_encode(tmp, rows, plans[page].min, ROUND_MODE(mode), raw);
		len = hb_intpage_size(ROUND_MODE(mode), rows);
		for (codec = 0; codec < 3; codec++)
		{
			size_t		got = 0;

			if (codec > 0 && codec <= w->b->options.compression)
				got = hb_lz_compress(codec, w->zstd_level, raw, len, packed, plain);
			size[codec] += got > 0 && got < plain ? got : plain;
		}
	}
	if (size[HB_CODEC_LZ4] < size[HB_CODEC_NONE] / 8 * 7)
		best = HB_CODEC_LZ4;
	if (size[HB_CODEC_ZSTD] < size[best] / 4 * 3)
		best = HB_CODEC_ZSTD;
	if (codes && size[best] > size[HB_CODEC_NONE] / 2)
		best = HB_CODEC_NONE;
	return best;
}

/* The bits of starts for one page, from its first row on. */
static void
page_starts(const uint64_t *starts, uint32_t page, uint64_t out[HB_PAGE_WORDS])
{
	memcpy(out, starts + (size_t) page * HB_PAGE_WORDS, sizeof(uint64_t) * HB_PAGE_WORDS);
}

/* Is the column smaller as unary gaps?  Only without nulls. */
static bool
judge_unary(HbWriter *w, const int64_t *values, uint32_t n, const PagePlan *plans, uint32_t npages)
{
	uint64_t	packed = 0;
	uint64_t	unary = 0;
	uint64_t	starts[HB_PAGE_WORDS];
	uint32_t	page;

	for (page = 0; page < npages; page++)
	{
		uint32_t	rows = hb_page_rows(n, page);
		uint64_t	bits;

		page_starts(w->starts, page, starts);
		bits = hb_unary_bits(values + (size_t) page * HB_PAGE_ROWS, rows, starts);
		if (bits > UNARY_MOST * 8)
			return false;
		unary += hb_unary_size(bits);
		packed += hb_intpage_size(plans[page].mode, rows);
	}
	return unary < packed / 8 * 7;
}

/* Encodes one page; returns the bytes of its payload at dst. */
static size_t
encode_page(HbWriter *w, const int64_t *values, const uint64_t *nulls, uint32_t page,
			uint32_t rows, HbIntDesc *d, PagePlan *plan, uint8_t *dst)
{
	int64_t		tmp[HB_PAGE_ROWS];
	uint8_t		raw[HB_INTPAGE_ROOM];
	size_t		plain;

	if (d->kind == HB_INT_UNARY)
	{
		uint64_t	starts[HB_PAGE_WORDS];
		const int64_t *v = values + (size_t) page * HB_PAGE_ROWS;

		page_starts(w->starts, page, starts);
		hb_unary_encode(v, rows, starts, dst);
		return hb_unary_size(hb_unary_bits(v, rows, starts));
	}
	plain = hb_intpage_size(plan->mode, rows);
	if (plain == 0)
		return 0;
	load_page(values, nulls, page, rows, plan->min, tmp);
	if (d->codec != HB_CODEC_NONE)
	{
		uint8_t		mode = ROUND_MODE(plan->mode);
		size_t		got;

		hb_intpage_encode(tmp, rows, plan->min, mode, raw);
		got = hb_lz_compress(d->codec, w->zstd_level, raw, hb_intpage_size(mode, rows), dst, plain);
		if (got > 0 && got < plain)
		{
			plan->mode = mode;
			return got;
		}
	}
	hb_intpage_encode(tmp, rows, plan->min, plan->mode, dst);
	return plain;
}

static void
put_bytes(uint8_t *p, uint64_t v, int n)
{
	int			i;

	for (i = 0; i < n; i++)
		p[i] = (uint8_t) (v >> (8 * i));
}

/*
 * Writes n integers as pages (or as nothing, when all are the same).  nulls
 * has a bit for each row, or is NULL; not all rows are NULL.  unary: gaps may
 * be tried; codes: they are codes of a dictionary.  Fills *d but for the
 * offsets, which follow from the order.
 */
void
hb_write_ints(HbWriter *w, const int64_t *values, uint32_t n, const uint64_t *nulls,
			  uint16_t owner, bool unary, bool codes, HbIntDesc *d)
{
	uint32_t	npages = (n + HB_PAGE_ROWS - 1) / HB_PAGE_ROWS;
	PagePlan   *plans = hb_alloc(w->mem, sizeof(PagePlan) * npages);
	uint32_t   *lens;
	HbBuf		pages;
	uint32_t	page;
	int64_t		tmp[HB_PAGE_ROWS];

	memset(d, 0, sizeof(*d));
	d->n = n;
	d->nulls = nulls != NULL;
	d->min = INT64_MAX;
	d->max = INT64_MIN;
	for (page = 0; page < npages; page++)
	{
		plan_page(values, nulls, page, hb_page_rows(n, page), &plans[page]);
		if (plans[page].nulls < hb_page_rows(n, page))
		{
			d->min = plans[page].min < d->min ? plans[page].min : d->min;
			d->max = plans[page].max > d->max ? plans[page].max : d->max;
		}
	}
	if (d->min == d->max && nulls == NULL)
	{
		d->kind = HB_INT_CONST;
		hb_int_desc_derive(d);
		hb_free(w->mem, plans);
		return;
	}
	for (page = 0; page < npages; page++)
	{
		uint32_t	rows = hb_page_rows(n, page);
		PagePlan   *p = &plans[page];

		if (p->nulls == rows)
			p->min = p->max = d->min;
		load_page(values, nulls, page, rows, p->min, tmp);
		p->mode = hb_intpage_choose(tmp, rows, p->min, p->max);
	}
	d->kind = HB_INT_PAGED;
	if (unary && nulls == NULL && w->starts != NULL &&
		judge_unary(w, values, n, plans, npages))
		d->kind = HB_INT_UNARY;
	else
		d->codec = judge_codec(w, values, nulls, n, plans, npages, codes);

	hb_buf_init(&pages, w->mem);
	lens = hb_alloc(w->mem, sizeof(uint32_t) * npages);
	for (page = 0; page < npages; page++)
	{
		uint8_t    *dst = hb_buf_room(&pages, HB_INTPAGE_ROOM + 4);
		size_t		len = encode_page(w, values, nulls, page, hb_page_rows(n, page),
									  d, &plans[page], dst);

		lens[page] = (uint32_t) len;
		if (len > 0)
		{
			hb_put32(dst + len, hb_crc32c(hb_crc_seed(w->out.chunk_id, owner, HB_SEED_PAGE, page),
										  dst, len));
			pages.len += len + 4;
		}
	}
	d->pages_len = pages.len;
	d->mode0 = plans[0].mode;
	hb_int_desc_derive(d);
	if (npages > 1)
	{
		uint8_t    *table = hb_alloc(w->mem, d->table_len);
		uint8_t    *p = table;

		for (page = 0; page < npages; page++)
		{
			p[0] = plans[page].mode;
			hb_put16(p + 1, (uint16_t) lens[page]);
			p += 3;
			if (d->nulls)
			{
				hb_put16(p, (uint16_t) plans[page].nulls);
				p += 2;
			}
			put_bytes(p, (uint64_t) plans[page].min - (uint64_t) d->min, d->vbytes);
			p += d->vbytes;
			put_bytes(p, (uint64_t) plans[page].max - (uint64_t) d->min, d->vbytes);
			p += d->vbytes;
		}
		hb_out_part(&w->out, table, d->table_len - 4, owner, HB_SEED_TABLE, 0);
		hb_free(w->mem, table);
	}
	hb_out_put(&w->out, pages.data, pages.len);
	hb_buf_free(&pages);
	hb_free(w->mem, lens);
	hb_free(w->mem, plans);
}

/*
 * Is value = row - first row of its block (+ a base in the first block)?
 * Fills *d then; nothing is written.
 */
bool
hb_write_try_sequence(HbWriter *w, const int64_t *values, HbIntDesc *d)
{
	uint64_t	next = (uint64_t) values[0];
	int64_t		min = values[0];
	int64_t		max = values[0];
	uint32_t	i;

	for (i = 0; i < w->nrows; i++)
	{
		if (i > 0 && w->starts != NULL && ((w->starts[i / 64] >> (i % 64)) & 1))
			next = 0;
		if ((uint64_t) values[i] != next)
			return false;
		next++;
		min = values[i] < min ? values[i] : min;
		max = values[i] > max ? values[i] : max;
	}
	if (w->nrows < 2)
		return false;
	memset(d, 0, sizeof(*d));
	d->kind = HB_INT_SEQ;
	d->n = w->nrows;
	d->min = min;
	d->max = max;
	d->base = values[0];
	hb_int_desc_derive(d);
	return true;
}
