/*
 * test_reads.c
 *		What a question may read of a chunk of 200,000 rows: never a whole
 *		part where a slice of it answers.
 */
#include "hb_test.h"

#include <cmocka.h>

static Model m;
static HbReader *r;
static HbReadStats stats;

static void
reset(void)
{
	/* a fresh reader has nothing cached */
	hb_reader_free(r);
	r = model_open(&m);
}

static uint64_t
total(void)
{
	uint64_t	n = 0;
	int			i;

	hb_reader_stats(r, &stats);
	for (i = 0; i < HB_NPARTS; i++)
		n += stats.bytes[i];
	return n;
}

static int
setup(void **state)
{
	uint32_t	i;

	(void) state;
	model_column(&m, HB_PHYS_INT, 0, 0, false, false);
	model_column(&m, HB_PHYS_INT, 0, 0, false, false);
	model_column(&m, HB_PHYS_BYTES, 0, 20, false, false);
	model_column(&m, HB_PHYS_BYTES, 0, 0, false, false);
	model_column(&m, HB_PHYS_BYTES, 0, 32, true, false);
	model_column(&m, HB_PHYS_BYTES, 0, 20, false, false);
	m.chunk_id = 99;
	m.options.block_col = 0;
	m.options.nsort = 2;
	m.options.sort_cols[0] = 0;
	m.options.sort_cols[1] = 1;
	m.options.compression = 2;
	model_cells(&m, HB_CHUNK_MAX_ROWS);
	for (i = 0; i < m.nrows; i++)
	{
		uint8_t		buf[100];
		uint64_t	keep;

		cell(&m, i, 0)->null = cell(&m, i, 1)->null = false;
		cell(&m, i, 0)->i = 5000 + i / 300;
		cell(&m, i, 1)->i = i % 300 / 2;
		keep = test_seed;
		test_seed = 1 + rnd_below(100000);
		rnd();
		rnd_bytes(buf, 20);
		test_seed = keep + i;
		rnd();
		cell_bytes(cell(&m, i, 2), buf, 20);
		rnd_bytes(buf, 100);
		cell_bytes(cell(&m, i, 3), buf, 64 + i % 32);
		cell_bytes(cell(&m, i, 4), buf, 32);
		memset(buf, (int) rnd_below(100), 20);
		cell_bytes(cell(&m, i, 5), buf, 20);
	}
	model_build(&m);
	r = model_open(&m);
	return 0;
}

static int
teardown(void **state)
{
	(void) state;
	hb_reader_free(r);
	model_free(&m);
	return 0;
}

static void
test_dict_lookup(void **state)
{
	HbSlice		v = {cell(&m, 12345, 2)->p, 20};
	uint32_t	code;
	uint64_t	pages[4] = {0};
	uint32_t	absent = 0;
	uint64_t	bytes;
	uint32_t	i;

	(void) state;
	reset();
	assert_true(hb_reader_dict_find(r, 2, v, &code));
	assert_int_not_equal(code, 0);
	/* a filter block, the keys of groups, a group, a slice */
	assert_in_range(total(), 64, 4096);
	assert_int_equal(stats.bytes[HB_PART_FILTER], 64);
	hb_reader_reset_stats(r);
	assert_true(hb_reader_code_pages(r, 2, code, pages));
	assert_in_range(total(), 8, 600);
	assert_int_equal(stats.reads[HB_PART_LISTS], 2);
	assert_true((pages[12345 / 1024 / 64] >> (12345 / 1024 % 64)) & 1);

	/* absent values: 64 bytes each, but for one in a hundred */
	reset();
	for (i = 0; i < 1000; i++)
	{
		uint8_t		buf[20];

		rnd_bytes(buf, 20);
		v.data = buf;
		assert_true(hb_reader_dict_find(r, 2, v, &code));
		assert_int_equal(code, 0);
		bytes = total();
		if (stats.bytes[HB_PART_DICT] == 0)
			absent++;
	}
	hb_reader_stats(r, &stats);
	assert_int_equal(stats.bytes[HB_PART_FILTER], 64000);
	assert_true(bytes < 64000 + 60 * 3000);
	(void) absent;

	/* a small dictionary */
	reset();
	v.data = cell(&m, 0, 5)->p;
	assert_true(hb_reader_dict_find(r, 5, v, &code));
	assert_in_range(total(), 1, 2500);
}

static void
test_code_page(void **state)
{
	uint32_t	codes[HB_PAGE_ROWS];

	(void) state;
	reset();
	assert_true(hb_reader_codes(r, 2, 100, codes));
	/* the page table and a page of 17-bit codes */
	assert_in_range(total(), 2000, 5000);
	hb_reader_reset_stats(r);
	assert_true(hb_reader_codes(r, 2, 100, codes));
	assert_int_equal(total(), 0);
	assert_true(hb_reader_codes(r, 2, 101, codes));
	assert_in_range(total(), 1000, 2300);
	assert_int_equal(stats.reads[HB_PART_PAGE], 1);
}

static void
test_hash_lookup(void **state)
{
	HbSlice		v = {cell(&m, 77777, 4)->p, 32};
	uint32_t	rows[4];
	int			n;
	uint8_t		buf[32];

	(void) state;
	reset();
	assert_true(hb_reader_hash_find(r, 4, v, rows, 4, &n));
	assert_int_equal(n, 1);
	assert_int_equal(rows[0], 77777);
	/* a line or two, a group of 64 hashes for each candidate */
	assert_in_range(total(), 64, 4500);
	reset();
	rnd_bytes(buf, 32);
	v.data = buf;
	assert_true(hb_reader_hash_find(r, 4, v, rows, 4, &n));
	assert_int_equal(n, 0);
	assert_in_range(total(), 64, 2500);
}

/* Who asks for one hash after the other gets the index whole. */
static void
test_hash_lookups(void **state)
{
	uint32_t	rows[4];
	int			n;

	(void) state;
	for (uint32_t i = 0; i < 3000; i++)
	{
		uint32_t	row = i * 37 % 200000;
		HbSlice		v = {cell(&m, row, 4)->p, 32};

		if (i == 2000)
			hb_reader_reset_stats(r);
		assert_true(hb_reader_hash_find(r, 4, v, rows, 4, &n));
		assert_int_equal(n, 1);
		assert_int_equal(rows[0], row);
	}
	(void) total();
	assert_int_equal(stats.bytes[HB_PART_HASH], 0);
}

static void
test_point_value(void **state)
{
	uint16_t	row = 500;
	HbSlice		out;

	(void) state;
	reset();
	assert_true(hb_reader_bytes(r, 3, 50, &row, 1, &out));
	assert_true(cell_is(cell(&m, 50 * 1024 + 500, 3), out));
	/* page index, page table and page of lengths, table slice, sub-block */
	assert_in_range(total(), 4000, 10000);
	hb_reader_reset_stats(r);
	row = 501;
	assert_true(hb_reader_bytes(r, 3, 50, &row, 1, &out));
	assert_in_range(total(), 0, 4200);
	hb_reader_reset_stats(r);
	row = 3;
	assert_true(hb_reader_bytes(r, 3, 90, &row, 1, &out));
	assert_in_range(total(), 4000, 6500);
	/* a hash */
	reset();
	assert_true(hb_reader_bytes(r, 4, 50, &row, 1, &out));
	assert_int_equal(total(), 64 * 32 + 4);
	/* nulls of a column that has none */
	reset();
	{
		uint64_t	nulls[HB_PAGE_WORDS];
		bool		any;

		assert_true(hb_reader_nulls(r, 4, 50, nulls, &any));
		assert_false(any);
		assert_int_equal(total(), 0);
	}
}

static void
test_position(void **state)
{
	uint32_t	first;
	uint32_t	last;

	(void) state;
	reset();
	assert_true(hb_reader_block_rows(r, 5100, 5200, &first, &last));
	assert_int_equal(first, 100 * 300);
	assert_int_equal(last, 201 * 300);
	/* consecutive numbers are not stored; first rows are one page */
	assert_in_range(total(), 1, 600);
	reset();
	assert_true(hb_reader_position(r, 5100, 7, &first, &last));
	assert_int_equal(first, 100 * 300 + 14);
	assert_int_equal(last, 100 * 300 + 16);
	assert_in_range(total(), 1, 2500);
}

/* A chunk of one block: a column costs one read. */
static void
test_small_chunk(void **state)
{
	Model		s = {0};
	HbReader   *q;
	int64_t		out[HB_PAGE_ROWS];
	uint32_t	i;
	int			c;

	(void) state;
	for (c = 0; c < 32; c++)
		model_column(&s, HB_PHYS_INT, 0, 0, false, false);
	s.options.block_col = 0;
	model_cells(&s, 150);
	for (i = 0; i < s.nrows; i++)
	{
		for (c = 0; c < s.ncols; c++)
		{
			cell(&s, i, c)->null = false;
			cell(&s, i, c)->i = c == 0 ? 5 : (int64_t) rnd_below(1000);
		}
	}
	model_build(&s);
	/* 10 bits a value and four bytes a column; about nine bytes a column */
	assert_true(s.body.len <= 31 * (150 * 10 / 8 + 1 + 4));
	assert_true(s.dir_len < 32 * 12 + 30);
	q = model_open(&s);
	check_chunk(&s, q, true);
	hb_reader_free(q);
	q = model_open(&s);
	assert_true(hb_reader_ints(q, 3, 0, out));
	hb_reader_stats(q, &stats);
	assert_int_equal(stats.reads[HB_PART_PAGE], 1);
	assert_int_equal(stats.reads[HB_PART_PAGE_TABLE], 0);
	hb_reader_free(q);
	model_free(&s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dict_lookup),
		cmocka_unit_test(test_code_page),
		cmocka_unit_test(test_hash_lookup),
		cmocka_unit_test(test_hash_lookups),
		cmocka_unit_test(test_point_value),
		cmocka_unit_test(test_position),
		cmocka_unit_test(test_small_chunk),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
