/*
 * test_shapes.c
 *		Chunks of chosen shapes: which storage a column gets, rows that come
 *		unsorted, blocks cut between chunks, values of megabytes.
 */
#include "hb_test.h"

#include <cmocka.h>

static void
start(Model *m, uint32_t nrows)
{
	m->chunk_id = 4711;
	m->options.block_col = -1;
	m->options.compression = 2;
	model_cells(m, nrows);
}

static HbReader *
built(Model *m)
{
	HbReader   *r;

	model_build(m);
	r = model_open(m);
	check_chunk(m, r, true);
	return r;
}

static void
set_int(Model *m, uint32_t row, int col, int64_t v)
{
	Cell	   *c = cell(m, row, col);

	c->null = false;
	c->i = v;
}

/* A value from a number, the same for the same number. */
static void
set_bytes(Model *m, uint32_t row, int col, uint64_t number, uint32_t len)
{
	uint8_t		buf[256];
	uint64_t	keep = test_seed;

	test_seed = number * 2654435761u + 1;
	rnd();
	rnd();
	rnd_bytes(buf, len);
	test_seed = keep;
	cell_bytes(cell(m, row, col), buf, len);
}

static void
test_storage(void **state)
{
	Model		m = {0};
	HbReader   *r;
	uint32_t	i;

	(void) state;
	model_column(&m, HB_PHYS_INT, 0, 0, false, false);		/* 0 constant */
	model_column(&m, HB_PHYS_INT, 0, 0, false, false);		/* 1 all NULL */
	model_column(&m, HB_PHYS_BYTES, 0, 32, true, false);	/* 2 unique, indexed */
	model_column(&m, HB_PHYS_BYTES, 1, 20, false, false);	/* 3 address */
	model_column(&m, HB_PHYS_BYTES, 1, 32, false, false);	/* 4 topic: the same addresses */
	model_column(&m, HB_PHYS_BYTES, 0, 0, false, true);		/* 5 text, ordered */
	model_column(&m, HB_PHYS_NUM, 0, 0, false, true);		/* 6 small numbers */
	model_column(&m, HB_PHYS_NUM, 0, 0, false, true);		/* 7 large numbers */
	model_column(&m, HB_PHYS_BYTES, 0, 32, false, false);	/* 8 the one before in 2 */
	model_column(&m, HB_PHYS_BYTES, 0, 0, false, false);	/* 9 always empty */
	model_column(&m, HB_PHYS_INT, 0, 0, false, false);		/* 10 derived */
	model_column(&m, HB_PHYS_INT, 0, 0, false, false);		/* 11 a sequence */
	m.cols[8].prev_of = 2;
	start(&m, 5000);
	for (i = 0; i < m.nrows; i++)
	{
		uint8_t		num[33];
		uint8_t		topic[32];
		uint8_t		text[32];

		set_int(&m, i, 0, -3);
		set_bytes(&m, i, 2, i, 32);
		set_bytes(&m, i, 3, 100000 + i % 500, 20);
		memset(topic, 0, 32);
		memcpy(topic + 12, cell(&m, i, 3)->p, 20);
		cell_bytes(cell(&m, i, 4), topic, 32);
		cell_bytes(cell(&m, i, 5), text, (uint32_t) sprintf((char *) text, "row %u of all", i * 7919));
		num[0] = 2;
		num[1] = (uint8_t) (1 + i % 200);
		num[2] = (uint8_t) i;
		cell_bytes(cell(&m, i, 6), num, 3);
		num[0] = 32;
		rnd_bytes(num + 1, 32);
		num[1] |= 1;
		cell_bytes(cell(&m, i, 7), num, 33);
		if (i > 0)
			cell_bytes(cell(&m, i, 8), cell(&m, i - 1, 2)->p, 32);
		else
			cell_bytes(cell(&m, i, 8), topic, 32);
		cell_bytes(cell(&m, i, 9), "", 0);
		set_int(&m, i, 10, i);
		set_int(&m, i, 11, 40 + (int64_t) i);
	}
	m.builder = hb_builder_create(&test_mem, m.cols, m.ncols, &m.options);
	for (i = 0; i < m.nrows; i++)
		model_add_row(&m, i);
	hb_builder_mark_derived(m.builder, 10, 17);
	{
		HbError		error;

		assert_true(model_finish(&m, m.nrows, &error));
	}
	r = model_open(&m);
	check_chunk(&m, r, true);
	assert_int_equal(hb_reader_info(r, 0)->stored, HB_STORED_INT);
	assert_int_equal(hb_reader_info(r, 0)->bytes, 0);
	assert_int_equal(hb_reader_info(r, 1)->stored, HB_STORED_NULL);
	assert_int_equal(hb_reader_info(r, 1)->bytes, 0);
	assert_int_equal(hb_reader_info(r, 2)->stored, HB_STORED_FIXED);
	assert_true(hb_reader_info(r, 2)->has_hash_index);
	assert_int_equal(hb_reader_info(r, 3)->stored, HB_STORED_DICT);
	assert_int_equal(hb_reader_info(r, 4)->stored, HB_STORED_DICT);
	assert_int_equal(hb_reader_info(r, 3)->dict, hb_reader_info(r, 4)->dict);
	assert_int_equal(hb_reader_info(r, 3)->width, 20);
	assert_int_equal(hb_reader_info(r, 4)->width, 32);
	assert_int_equal(hb_reader_dict_size(r, 0), 500);
	assert_int_equal(hb_reader_info(r, 5)->stored, HB_STORED_VAR);
	assert_int_equal(hb_reader_info(r, 6)->stored, HB_STORED_INT);
	assert_int_equal(hb_reader_info(r, 6)->phys, HB_PHYS_INT);
	assert_int_equal(hb_reader_info(r, 7)->phys, HB_PHYS_NUM);
	assert_int_equal(hb_reader_info(r, 8)->bytes, 0);
	assert_int_equal(hb_reader_info(r, 8)->stored, HB_STORED_FIXED);
	assert_int_equal(hb_reader_info(r, 10)->stored, HB_STORED_DERIVED);
	assert_int_equal(hb_reader_info(r, 10)->derive_code, 17);
	assert_int_equal(hb_reader_info(r, 11)->bytes, 0);
	assert_int_equal(hb_reader_column(r, 12345), -1);
	/* twelve columns in a small directory */
	assert_true(m.dir_len < 300);
	hb_reader_free(r);
	model_free(&m);
}

static void
test_large(void **state)
{
	Model		m = {0};
	HbReader   *r;
	uint32_t	i;

	(void) state;
	model_column(&m, HB_PHYS_INT, 0, 0, false, false);
	model_column(&m, HB_PHYS_INT, 0, 0, false, false);
	model_column(&m, HB_PHYS_INT, 0, 0, false, false);
	model_column(&m, HB_PHYS_BYTES, 0, 20, false, false);
	model_column(&m, HB_PHYS_BYTES, 0, 0, false, false);
	model_column(&m, HB_PHYS_BYTES, 0, 32, true, false);
	start(&m, HB_CHUNK_MAX_ROWS);
	m.options.block_col = 0;
	m.options.nsort = 2;
	m.options.sort_cols[0] = 0;
	m.options.sort_cols[1] = 1;
	for (i = 0; i < m.nrows; i++)
	{
		set_int(&m, i, 0, 1000000 + i / 130);
		set_int(&m, i, 1, (i % 130) / 3);
		set_int(&m, i, 2, i % 130);
		set_bytes(&m, i, 3, rnd_below(60000), 20);
		set_bytes(&m, i, 4, i, i % 100);
		set_bytes(&m, i, 5, i, 32);
	}
	r = built(&m);
	/* positions: a unary map of about a bit and a half a row, a sequence */
	assert_in_range(hb_reader_info(r, 1)->bytes, 1, m.nrows / 4);
	assert_int_equal(hb_reader_info(r, 0)->bytes, 0);
	assert_int_equal(hb_reader_info(r, 2)->bytes, 0);
	hb_reader_free(r);
	model_free(&m);
}

/* Rows in any order; ties keep theirs. */
static void
test_unsorted(void **state)
{
	Model		m = {0};
	uint32_t	order[3000];
	HbReader   *r;
	HbError		error;
	uint32_t	i;

	(void) state;
	model_column(&m, HB_PHYS_INT, 0, 0, false, false);
	model_column(&m, HB_PHYS_INT, 0, 0, false, false);
	model_column(&m, HB_PHYS_BYTES, 0, 0, false, false);
	model_column(&m, HB_PHYS_BYTES, 0, 8, false, false);
	start(&m, 3000);
	m.options.block_col = 0;
	m.options.nsort = 3;
	m.options.sort_cols[0] = 0;
	m.options.sort_cols[1] = 1;
	m.options.sort_cols[2] = 3;
	for (i = 0; i < m.nrows; i++)
	{
		uint8_t		key[8] = {0};

		set_int(&m, i, 0, i / 100);
		if (i % 100 < 90)
			set_int(&m, i, 1, i % 100 / 10);
		set_bytes(&m, i, 2, i, 10 + i % 30);
		key[7] = (uint8_t) (i % 10 / 2);
		cell_bytes(cell(&m, i, 3), key, 8);
		order[i] = i;
	}
	/* shuffle, but keep the order of rows with equal keys */
	for (i = m.nrows - 1; i > 0; i--)
	{
		uint32_t	j = rnd_below(i + 1);
		uint32_t	t = order[i];

		order[i] = order[j];
		order[j] = t;
	}
	for (i = 0; i + 1 < m.nrows; i++)
	{
		uint32_t	j;

		for (j = i + 1; j < m.nrows; j++)
		{
			if (order[i] / 2 == order[j] / 2 && order[i] > order[j])
			{
				uint32_t	t = order[i];

				order[i] = order[j];
				order[j] = t;
			}
		}
	}
	m.builder = hb_builder_create(&test_mem, m.cols, m.ncols, &m.options);
	for (i = 0; i < m.nrows; i++)
		model_add_row(&m, order[i]);
	assert_false(model_finish(&m, m.nrows, &error));
	assert_int_equal(error.code, HB_ERR_LIMIT);
	/* rows whose second key is NULL come last in their block, by the third */
	hb_builder_sort(m.builder);
	assert_true(model_finish(&m, m.nrows, &error));
	r = model_open(&m);
	check_chunk(&m, r, true);
	hb_reader_free(r);
	model_free(&m);
}

/* A block that goes on in the next chunk: finish, drop, finish. */
static void
test_cut_blocks(void **state)
{
	Model		m = {0};
	Model		part;
	uint32_t	at = 0;
	uint32_t	i;

	(void) state;
	model_column(&m, HB_PHYS_INT, 0, 0, false, false);
	model_column(&m, HB_PHYS_INT, 0, 0, false, false);
	model_column(&m, HB_PHYS_INT, 0, 0, false, false);
	model_column(&m, HB_PHYS_BYTES, 1, 20, false, false);
	model_column(&m, HB_PHYS_BYTES, 1, 32, false, false);
	model_column(&m, HB_PHYS_BYTES, 0, 32, true, false);
	model_column(&m, HB_PHYS_NUM, 0, 0, false, false);
	start(&m, 9000);
	m.options.block_col = 0;
	m.options.nsort = 2;
	m.options.sort_cols[0] = 0;
	m.options.sort_cols[1] = 1;
	for (i = 0; i < m.nrows; i++)
	{
		uint8_t		num[4] = {3, 1, (uint8_t) (i >> 8), (uint8_t) i};

		set_int(&m, i, 0, 70 + i / 1000);
		set_int(&m, i, 1, i % 1000);
		if (i % 7 != 3)
			set_int(&m, i, 2, i % 1000 / 4);
		set_bytes(&m, i, 3, i % 300, 20);
		if (i % 3 != 0)
			set_bytes(&m, i, 4, 1000 + i % 800, 32);
		set_bytes(&m, i, 5, i, 32);
		if (i > 4000)
			cell_bytes(cell(&m, i, 6), num, 4);
	}
	m.builder = hb_builder_create(&test_mem, m.cols, m.ncols, &m.options);
	for (i = 0; i < m.nrows; i++)
		model_add_row(&m, i);
	while (at < m.nrows)
	{
		uint32_t	n = at == 0 ? 1500 : 1 + rnd_below(3000);
		HbReader   *r;
		HbError		error;

		if (n > m.nrows - at)
			n = m.nrows - at;
		assert_int_equal(hb_builder_rows(m.builder), m.nrows - at);
		assert_true(model_finish(&m, n, &error));
		part = m;
		part.nrows = n;
		part.cells = cell(&m, at, 0);
		r = model_open(&part);
		check_chunk(&part, r, true);
		/* the second sort column is a sequence although it begins anywhere */
		if (n > 1)
			assert_int_equal(hb_reader_info(r, 1)->bytes, 0);
		hb_reader_free(r);
		hb_builder_drop(m.builder, n);
		at += n;
	}
	model_free(&m);
}

/*
 * A column that repeats among the rows of one chunk, but that has values among
 * those kept for the next one which are too long for a dictionary.
 */
static void
test_cut_long(void **state)
{
	Model		m = {0};
	Model		part;
	uint32_t	first = 2800;
	uint8_t		longer[3][5000];
	uint32_t	i;

	(void) state;
	rnd_bytes(longer[0], sizeof(longer));
	model_column(&m, HB_PHYS_INT, 0, 0, false, false);
	model_column(&m, HB_PHYS_BYTES, 0, 0, false, false);
	start(&m, 3000);
	m.options.block_col = 0;
	m.options.nsort = 1;
	m.options.sort_cols[0] = 0;
	for (i = 0; i < m.nrows; i++)
	{
		set_int(&m, i, 0, i);
		if (i < first)
			set_bytes(&m, i, 1, i % 300, 32);
		else
			cell_bytes(cell(&m, i, 1), longer[i % 3], sizeof(longer[0]));
	}
	m.builder = hb_builder_create(&test_mem, m.cols, m.ncols, &m.options);
	for (i = 0; i < m.nrows; i++)
		model_add_row(&m, i);
	for (i = 0; i < m.nrows; i += part.nrows)
	{
		uint32_t	n = i == 0 ? first : m.nrows - first;
		HbReader   *r;
		HbError		error;

		assert_true(model_finish(&m, n, &error));
		part = m;
		part.nrows = n;
		part.cells = cell(&m, i, 0);
		r = model_open(&part);
		check_chunk(&part, r, true);
		hb_reader_free(r);
		hb_builder_drop(m.builder, part.nrows);
	}
	model_free(&m);
}

static void
test_megabytes(void **state)
{
	static const uint32_t sizes[] = {5, 3 * 1024 * 1024, 70000, 0, 2 * 1024 * 1024, 100, 1024 * 1024};
	Model		m = {0};
	HbReader   *r;
	uint32_t	i;

	(void) state;
	model_column(&m, HB_PHYS_BYTES, 0, 0, false, true);
	start(&m, 2100);
	for (i = 0; i < m.nrows; i++)
	{
		uint32_t	n = i % 300 < 7 ? sizes[i % 300] : 20;
		uint8_t    *p;

		/* one that begins a page, one that is longer than any other */
		if (i == 1024)
			n = 2 * 1024 * 1024 + 1;
		if (i == 2050)
			n = 5 * 1024 * 1024;
		p = malloc(n + 1);
		rnd_bytes(p, n);
		if (i % 300 == 2)
			memset(p, 'x', n);
		cell_bytes(cell(&m, i, 0), p, n);
		free(p);
	}
	r = built(&m);
	assert_int_equal(hb_reader_info(r, 0)->stored, HB_STORED_VAR);
	assert_true(m.body.largest <= HB_SINK_MAX);
	hb_reader_free(r);
	model_free(&m);
}

/* All memory of a builder is given back, and counted while it is held. */
static void
test_memory(void **state)
{
	Model		m = {0};
	HbReader   *r;
	size_t		before;
	size_t		held;
	uint32_t	i;

	(void) state;
	model_column(&m, HB_PHYS_BYTES, 0, 0, false, false);
	start(&m, 20000);
	for (i = 0; i < m.nrows; i++)
		set_bytes(&m, i, 0, i, 100);
	m.builder = hb_builder_create(&test_mem, m.cols, m.ncols, &m.options);
	before = hb_builder_bytes(m.builder);
	for (i = 0; i < m.nrows; i++)
		model_add_row(&m, i);
	held = hb_builder_bytes(m.builder);
	assert_in_range(held - before, m.nrows * 100, m.nrows * 300);
	hb_builder_drop(m.builder, m.nrows);
	assert_true(hb_builder_bytes(m.builder) < held / 2);
	hb_builder_free(m.builder);
	m.builder = NULL;
	r = built(&m);
	assert_true(hb_reader_memory(r) < m.body.len / 2);
	hb_reader_free(r);
	model_free(&m);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_storage),
		cmocka_unit_test(test_large),
		cmocka_unit_test(test_unsorted),
		cmocka_unit_test(test_cut_blocks),
		cmocka_unit_test(test_cut_long),
		cmocka_unit_test(test_megabytes),
		cmocka_unit_test(test_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
