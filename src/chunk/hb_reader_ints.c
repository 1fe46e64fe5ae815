/*
 * hb_reader_ints.c
 *		Reading integer columns: page tables and pages.
 *
 * The payload of the last page stays in memory, checked and with the codec
 * undone, so that asking for the same page again costs the unpacking only.
 */
#include "chunk/hb_reader_int.h"
#include "codec/hb_bitpack.h"
#include "codec/hb_intpage.h"
#include "codec/hb_lz.h"
#include "codec/hb_unary.h"

#define UNARY_MOST	8196		/* as the builder has it */

void
hb_intcol_init(HbIntCol *ic, const HbIntDesc *d, uint16_t owner, bool blocks)
{
	ic->d = d;
	ic->owner = owner;
	ic->table_part = blocks ? HB_PART_BLOCKS : HB_PART_PAGE_TABLE;
	ic->page_part = blocks ? HB_PART_BLOCKS : HB_PART_PAGE;
	ic->buf_page = HB_NO_PAGE;
	ic->decoded_page = HB_NO_PAGE;
}

void
hb_intcol_free(HbReader *r, HbIntCol *ic)
{
	hb_free(r->mem, ic->entries);
	hb_free(r->mem, ic->buf);
	hb_free(r->mem, ic->decoded);
}

/* Can a page have this payload? */
static bool
entry_valid(const HbIntDesc *d, const HbPageEntry *e, uint32_t rows)
{
	size_t		plain;

	if (e->nulls > rows || e->min > e->max || e->min < d->min || e->max > d->max)
		return false;
	if (d->kind == HB_INT_UNARY)
		return e->len >= 4 && e->len <= UNARY_MOST;
	if (!hb_intpage_mode_valid(e->mode))
		return false;
	plain = hb_intpage_size(e->mode, rows);
	return e->len == plain || (d->codec != HB_CODEC_NONE && e->len > 0 && e->len < plain);
}

static uint64_t
get_bytes(const uint8_t *p, int n)
{
	uint64_t	v = 0;
	int			i;

	for (i = 0; i < n; i++)
		v |= (uint64_t) p[i] << (8 * i);
	return v;
}

static bool
load_table(HbReader *r, HbIntCol *ic)
{
	const HbIntDesc *d = ic->d;
	HbPageEntry *entries;
	uint8_t    *table = NULL;
	const uint8_t *p;
	uint64_t	off = 0;
	uint32_t	page;

	if (d->npages > 1)
	{
		table = hb_reader_scratch(r, d->table_len);
		if (!hb_reader_read(r, ic->table_part, d->table_off, d->table_len, table))
			return hb_reader_fail(r, "page table", ic->owner, -1, "could not be read");
		if (!hb_reader_crc(r, table, d->table_len - 4, ic->owner, HB_SEED_TABLE, 0))
			return hb_reader_fail(r, "page table", ic->owner, -1, "checksum does not match");
	}
	entries = hb_alloc(r->mem, sizeof(HbPageEntry) * d->npages);
	p = table;
	for (page = 0; page < d->npages; page++)
	{
		HbPageEntry *e = &entries[page];

		if (table == NULL)
		{
			/* the only page: all is in the directory */
			e->mode = d->mode0;
			e->len = (uint16_t) (d->pages_len >= 4 ? d->pages_len - 4 : 0);
			e->nulls = 0;
			e->min = d->min;
			e->max = d->max;
		}
		else
		{
			e->mode = p[0];
			e->len = hb_get16(p + 1);
			p += 3;
			e->nulls = 0;
			if (d->nulls)
			{
				e->nulls = hb_get16(p);
				p += 2;
			}
			e->min = (int64_t) ((uint64_t) d->min + get_bytes(p, d->vbytes));
			p += d->vbytes;
			e->max = (int64_t) ((uint64_t) d->min + get_bytes(p, d->vbytes));
			p += d->vbytes;
		}
		e->off = (uint32_t) off;
		off += e->len > 0 ? (uint64_t) e->len + 4 : 0;
		if (!entry_valid(d, e, hb_page_rows(d->n, page)))
		{
			hb_free(r->mem, entries);
			return hb_reader_fail(r, "page table", ic->owner, page, "an entry is damaged");
		}
	}
	if (off != d->pages_len)
	{
		hb_free(r->mem, entries);
		return hb_reader_fail(r, "page table", ic->owner, -1, "lengths do not add up");
	}
	ic->entries = entries;
	return true;
}

/*
 * The table entry of a page of a PAGED or UNARY column.  A single page's null
 * count is the column's, which the caller knows: the entry has it too.
 */
bool
hb_intcol_entry(HbReader *r, HbIntCol *ic, uint32_t page, const HbPageEntry **entry)
{
	if (ic->entries == NULL)
	{
		if (!load_table(r, ic))
			return false;
		if (ic->d->npages == 1 && ic->d->nulls)
		{
			int			col = hb_reader_column(r, ic->owner);

			ic->entries[0].nulls = (uint16_t) r->dir.cols[col].null_count;
		}
	}
	*entry = &ic->entries[page];
	return true;
}

/* Brings a page's payload, codec undone, into ic->buf. */
static bool
load_page(HbReader *r, HbIntCol *ic, uint32_t page, const HbPageEntry *e, uint32_t rows)
{
	const HbIntDesc *d = ic->d;
	size_t		plain = d->kind == HB_INT_UNARY ? e->len : hb_intpage_size(e->mode, rows);
	uint32_t	need = (uint32_t) (plain > (size_t) e->len + 4 ? plain : (size_t) e->len + 4) +
		HB_PACK_SLACK;
	uint8_t    *src;

	if (ic->buf_page == page)
		return true;
	ic->buf_page = HB_NO_PAGE;
	if (ic->buf_cap < need)
	{
		uint32_t	cap = need + need / 4;

		hb_free(r->mem, ic->buf);
		ic->buf = NULL;
		ic->buf_cap = 0;
		ic->buf = hb_alloc(r->mem, cap);
		ic->buf_cap = cap;
	}
	src = e->len == plain ? ic->buf : hb_reader_scratch(r, (size_t) e->len + 4);
	if (!hb_reader_read(r, ic->page_part, d->pages_off + e->off, (uint32_t) e->len + 4, src))
		return hb_reader_fail(r, "page", ic->owner, page, "could not be read");
	if (!hb_reader_crc(r, src, e->len, ic->owner, HB_SEED_PAGE, page))
		return hb_reader_fail(r, "page", ic->owner, page, "checksum does not match");
	if (e->len != plain && !hb_lz_decompress(d->codec, src, e->len, ic->buf, plain))
		return hb_reader_fail(r, "page", ic->owner, page, "cannot be decompressed");
	/* what unpacking may read behind the payload */
	memset(ic->buf + plain, 0, HB_PACK_SLACK);
	ic->buf_page = page;
	return true;
}

bool
hb_intcol_page(HbReader *r, HbIntCol *ic, uint32_t page, int64_t *out)
{
	const HbIntDesc *d = ic->d;
	uint32_t	rows = hb_page_rows(d->n, page);
	const HbPageEntry *e;
	uint32_t	i;

	switch (d->kind)
	{
		case HB_INT_CONST:
			for (i = 0; i < rows; i++)
				out[i] = d->min;
			return true;
		case HB_INT_SEQ:
			return hb_reader_sequence(r, d, page, out);
		case HB_INT_BLOCKNUM:
			return hb_reader_row_blocks(r, page * HB_PAGE_ROWS, rows, out);
	}
	if (!hb_intcol_entry(r, ic, page, &e))
		return false;
	if (e->len > 0 && !load_page(r, ic, page, e, rows))
		return false;
	if (d->kind == HB_INT_UNARY)
	{
		const uint64_t *starts;

		if (!hb_reader_page_starts(r, page, &starts))
			return false;
		if (!hb_unary_decode(ic->buf, e->len, rows, starts, out))
			return hb_reader_fail(r, "page", ic->owner, page, "unary map is too short");
		return true;
	}
	hb_intpage_decode(ic->buf, rows, e->min, e->mode, out);
	return true;
}

/* The same for columns of values from 0 to max, which is checked. */
bool
hb_intcol_page32(HbReader *r, HbIntCol *ic, uint32_t page, uint32_t max, uint32_t *out)
{
	const HbIntDesc *d = ic->d;
	uint32_t	rows = hb_page_rows(d->n, page);
	const HbPageEntry *e;
	uint32_t	i;

	if (d->kind == HB_INT_CONST)
	{
		for (i = 0; i < rows; i++)
			out[i] = (uint32_t) d->min;
		return true;
	}
	if (!hb_intcol_entry(r, ic, page, &e))
		return false;
	if (e->len > 0 && !load_page(r, ic, page, e, rows))
		return false;
	if (!hb_intpage_decode32(ic->buf, rows, e->min, e->mode, max, out))
		return hb_reader_fail(r, "page", ic->owner, page, "a value is out of range");
	return true;
}

/* A decoded page that stays valid until another page of the column is asked. */
bool
hb_intcol_decoded(HbReader *r, HbIntCol *ic, uint32_t page, const int64_t **out)
{
	if (ic->decoded == NULL)
		ic->decoded = hb_alloc(r->mem, sizeof(int64_t) * hb_page_rows(ic->d->n, 0));
	if (ic->decoded_page != page)
	{
		ic->decoded_page = HB_NO_PAGE;
		if (!hb_intcol_page(r, ic, page, ic->decoded))
			return false;
		ic->decoded_page = page;
	}
	*out = ic->decoded;
	return true;
}

bool
hb_reader_ints(HbReader *r, int col, uint32_t page, int64_t *out)
{
	if (r->cols[col].d->kind != HB_COL_INT)
		return hb_reader_fail(r, "column", r->cols[col].d->column_no, page, "is not stored as integers");
	return hb_intcol_page(r, &r->cols[col].ints, page, out);
}

bool
hb_reader_codes(HbReader *r, int col, uint32_t page, uint32_t *out)
{
	const HbColDesc *d = r->cols[col].d;

	if (d->kind != HB_COL_DICT)
		return hb_reader_fail(r, "column", d->column_no, page, "has no dictionary");
	return hb_intcol_page32(r, &r->cols[col].ints, page, r->dir.dicts[d->dict].n, out);
}

bool
hb_reader_page_minmax(HbReader *r, int col, uint32_t page, int64_t *min, int64_t *max, bool *valid)
{
	HbRCol	   *c = &r->cols[col];
	const HbIntDesc *d = &c->d->ints;
	const HbPageEntry *e;

	*valid = false;
	if (c->d->kind != HB_COL_INT)
		return true;
	switch (d->kind)
	{
		case HB_INT_CONST:
			*min = *max = d->min;
			*valid = true;
			return true;
		case HB_INT_BLOCKNUM:
			{
				uint32_t	first = page * HB_PAGE_ROWS;

				if (!hb_reader_row_blocks(r, first, 1, min) ||
					!hb_reader_row_blocks(r, first + hb_page_rows(d->n, page) - 1, 1, max))
					return false;
				*valid = true;
				return true;
			}
		case HB_INT_SEQ:
			/* the column's bounds hold for every page */
			*min = d->min;
			*max = d->max;
			*valid = true;
			return true;
	}
	if (!hb_intcol_entry(r, &c->ints, page, &e))
		return false;
	*min = e->min;
	*max = e->max;
	*valid = e->nulls < hb_page_rows(d->n, page);
	return true;
}
