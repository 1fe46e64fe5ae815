/*
 * fuzz_reader.c
 *		The whole reader over a chunk with damaged bytes.  Built with HB_FUZZ
 *		the checksums pass, so that damage reaches the decoders.
 *
 * Input: one byte choosing a chunk, then edits of three bytes and more: where
 * (3 bytes, the top bit chooses the directory), how many bytes (1), bytes.
 */
#include "../unit/hb_test.h"
#include "hb_fuzz.h"

#define NCHUNKS	4

static Model chunks[NCHUNKS];
static bool ready = false;

static void
make_chunk(Model *m, int which)
{
	static const uint32_t rows[NCHUNKS] = {40, 300, 2500, 1100};
	uint32_t	nrows = rows[which];
	uint32_t	i;
	int			c;

	memset(m, 0, sizeof(*m));
	m->chunk_id = 7;
	m->options.block_col = 0;
	m->options.nsort = 2;
	m->options.sort_cols[0] = 0;
	m->options.sort_cols[1] = 1;
	m->options.compression = which == 3 ? 1 : 2;
	for (c = 0; c < 5; c++)
		model_column(m, HB_PHYS_INT, 0, 0, false, false);
	model_column(m, HB_PHYS_BYTES, 1, 20, false, false);
	model_column(m, HB_PHYS_BYTES, 1, 32, false, false);
	model_column(m, HB_PHYS_BYTES, 0, 0, false, true);
	model_column(m, HB_PHYS_BYTES, 0, 12, true, true);
	model_column(m, HB_PHYS_BYTES, 0, 12, false, false);
	model_column(m, HB_PHYS_BYTES, 0, 0, false, true);
	model_column(m, HB_PHYS_BYTES, 0, 0, false, false);
	model_column(m, HB_PHYS_NUM, 0, 0, false, true);
	m->cols[9].prev_of = 8;
	model_cells(m, nrows);
	for (i = 0; i < nrows; i++)
	{
		uint8_t		buf[128] = {0};
		uint64_t	keep = test_seed;

		for (c = 0; c < 5; c++)
			cell(m, i, c)->null = c == 3 && i % 7 == 0;
		cell(m, i, 0)->i = 50 + i / 30 * (which % 2 + 1);
		cell(m, i, 1)->i = i % 30 / 2;
		cell(m, i, 2)->i = i % 30;
		cell(m, i, 3)->i = (int64_t) rnd_below(500);
		cell(m, i, 4)->i = 1000 * (int64_t) i + rnd_below(3);
		test_seed = 5 + rnd_below(nrows / 3 + 1);
		rnd();
		rnd_bytes(buf + 12, 20);
		test_seed = keep + i;
		rnd();
		cell_bytes(cell(m, i, 5), buf + 12, 20);
		if (i % 4 != 1)
			cell_bytes(cell(m, i, 6), buf, 32);
		cell_bytes(cell(m, i, 7), buf + 16, i % 3 + (buf[16] & 7));
		rnd_bytes(buf, 12);
		cell_bytes(cell(m, i, 8), buf, 12);
		if (i > 0)
			cell_bytes(cell(m, i, 9), cell(m, i - 1, 8)->p, 12);
		if (i % 5 != 0)
			cell_bytes(cell(m, i, 10), "some text that repeats itself some text", 5 + i % 24);
		memset(buf, 0, sizeof(buf));
		rnd_bytes(buf + 32, 4);
		rnd_bytes(buf + 64, 4);
		cell_bytes(cell(m, i, 11), buf, 68);
		buf[0] = (uint8_t) (i % 30);
		rnd_bytes(buf + 1, 30);
		buf[1] |= 1;
		cell_bytes(cell(m, i, 12), buf, buf[0] + 1);
	}
	model_build(m);
}

/* Every call there is, whatever it answers. */
static void
use_reader(HbReader *r)
{
	static uint32_t u32[HB_PAGE_ROWS];
	static int64_t i64[HB_PAGE_ROWS];
	static uint16_t rows[HB_PAGE_ROWS];
	static HbSlice out[HB_PAGE_ROWS];
	uint64_t	nulls[HB_PAGE_WORDS];
	uint64_t	pages[4] = {0};
	uint64_t	sum = 0;
	bool		any;
	uint32_t	first;
	uint32_t	last;
	uint32_t	page;
	int			no;

	for (no = 0; no < 64; no++)
	{
		int			col = hb_reader_column(r, (uint16_t) no);
		const HbColumnInfo *info;

		if (col < 0)
			continue;
		info = hb_reader_info(r, col);
		for (page = 0; page < hb_reader_pages(r); page += 1 + page / 3)
		{
			uint32_t	n = hb_reader_rows(r) - page * HB_PAGE_ROWS;
			HbSlice		min;
			HbSlice		max;
			uint32_t	i;

			if (n > HB_PAGE_ROWS)
				n = HB_PAGE_ROWS;
			if (info->stored != HB_STORED_DERIVED)
				hb_reader_nulls(r, col, page, nulls, &any);
			hb_reader_page_minmax(r, col, page, &i64[0], &i64[1], &any);
			if (hb_reader_page_bounds(r, col, page, &min, &max, &any) && any)
				sum += (min.len > 0 ? min.data[min.len - 1] : 0) + (max.len > 0 ? max.data[max.len - 1] : 0);
			if (info->stored == HB_STORED_INT)
				hb_reader_ints(r, col, page, i64);
			if (info->stored == HB_STORED_DICT && hb_reader_codes(r, col, page, u32))
			{
				for (i = 0; i < n; i++)
				{
					HbSlice		v;

					if (u32[i] > hb_reader_dict_size(r, info->dict))
						abort();
					if (i % 7 != 0 || u32[i] == 0)
						continue;
					if (hb_reader_dict_entry(r, col, u32[i], &v))
					{
						if (v.len > 0)
							sum += v.data[0] + v.data[v.len - 1];
						hb_reader_dict_find(r, col, v, &first);
						hb_reader_dict_lower_bound(r, col, v, &first);
					}
					hb_reader_code_pages(r, col, u32[i], pages);
				}
			}
			if (info->stored == HB_STORED_FIXED || info->stored == HB_STORED_VAR)
			{
				int			k = 0;

				hb_reader_lengths(r, col, page, u32);
				for (i = 0; i < n; i += 1 + page)
					rows[k++] = (uint16_t) i;
				if (hb_reader_bytes(r, col, page, rows, k, out))
				{
					while (k-- > 0)
					{
						if (out[k].len > 0)
							sum += out[k].data[0] + out[k].data[out[k].len - 1];
					}
				}
				if (info->has_hash_index)
				{
					uint8_t		value[12] = "abcdefghijk";
					HbSlice		v = {value, 12};
					int			found;

					hb_reader_hash_find(r, col, v, u32, 10, &found);
				}
			}
		}
	}
	hb_reader_block_rows(r, 52, 60, &first, &last);
	for (page = 0; page < hb_reader_rows(r); page += 100)
	{
		hb_reader_row_blocks(r, page, hb_reader_rows(r) - page > 50 ? 50 : hb_reader_rows(r) - page, i64);
		hb_reader_position(r, 50 + page / 30, 3, &first, &last);
	}
	if (sum == 0x123456789)
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Model	   *m;
	Body		body;
	HbSource	source = {body_read, &body};
	HbError		error;
	HbReader   *r;
	uint8_t    *dir;
	int			i;

	if (!ready)
	{
		for (i = 0; i < NCHUNKS; i++)
			make_chunk(&chunks[i], i);
		ready = true;
	}
	m = &chunks[fuzz_take(&data, &size, 1) % NCHUNKS];
	dir = malloc(m->dir_len);
	memcpy(dir, m->dir, m->dir_len);
	body = m->body;
	body.data = malloc(body.len);
	memcpy(body.data, m->body.data, body.len);
	while (size > 4)
	{
		uint32_t	at = (uint32_t) fuzz_take(&data, &size, 3);
		uint32_t	n = 1 + (uint32_t) fuzz_take(&data, &size, 1) % 8;
		uint8_t    *p = at & 0x800000 ? dir : body.data;
		size_t		len = at & 0x800000 ? m->dir_len : body.len;

		at = (at & 0x7fffff) % (uint32_t) len;
		while (n-- > 0 && at < len)
			p[at++] = (uint8_t) fuzz_take(&data, &size, 1);
	}
	r = hb_reader_open(&fuzz_mem, dir, m->dir_len, m->chunk_id, &error);
	if (r != NULL)
	{
		hb_reader_set_source(r, &source);
		use_reader(r);
		hb_reader_free(r);
	}
	free(body.data);
	free(dir);
	return 0;
}
