/*
 * test_damage.c
 *		Damaged bytes: each byte of a small chunk's directory and body is
 *		changed in turn; every read fails or tells the truth.
 */
#include "hb_test.h"

#include <cmocka.h>

/* A chunk with every kind of part in as few bytes as can be. */
static void
small_chunk(Model *m, uint32_t nrows)
{
	uint32_t	i;

	memset(m, 0, sizeof(*m));
	m->chunk_id = 31337;
	m->options.block_col = 0;
	m->options.nsort = 2;
	m->options.sort_cols[0] = 0;
	m->options.sort_cols[1] = 1;
	m->options.compression = 2;
	model_column(m, HB_PHYS_INT, 0, 0, false, false);
	model_column(m, HB_PHYS_INT, 0, 0, false, false);
	model_column(m, HB_PHYS_INT, 0, 0, false, false);
	model_column(m, HB_PHYS_BYTES, 1, 20, false, false);
	model_column(m, HB_PHYS_BYTES, 1, 32, false, false);
	model_column(m, HB_PHYS_BYTES, 0, 8, true, true);
	model_column(m, HB_PHYS_BYTES, 0, 0, false, true);
	model_column(m, HB_PHYS_BYTES, 0, 8, false, false);
	model_column(m, HB_PHYS_BYTES, 0, 0, false, false);
	m->cols[7].prev_of = 5;
	model_cells(m, nrows);
	for (i = 0; i < nrows; i++)
	{
		uint8_t		buf[64] = {0};
		uint64_t	keep = test_seed;
		int			c;

		for (c = 0; c < 2; c++)
			cell(m, i, c)->null = false;
		cell(m, i, 0)->i = 50 + i / 30 * 2;
		cell(m, i, 1)->i = i % 30 / 2;
		if (i % 9 != 0)
		{
			cell(m, i, 2)->null = false;
			cell(m, i, 2)->i = (int64_t) rnd_below(5);
		}
		test_seed = 5 + rnd_below(nrows / 3 + 1);
		rnd();
		rnd_bytes(buf + 12, 20);
		test_seed = keep + i;
		rnd();
		cell_bytes(cell(m, i, 3), buf + 12, 20);
		if (i % 4 != 1)
			cell_bytes(cell(m, i, 4), buf, 32);
		rnd_bytes(buf, 8);
		cell_bytes(cell(m, i, 5), buf, 8);
		if (i % 5 != 0)
			cell_bytes(cell(m, i, 6), "some text that repeats itself", 5 + i % 24);
		if (i > 0)
			cell_bytes(cell(m, i, 7), cell(m, i - 1, 5)->p, 8);
		memset(buf, 0, sizeof(buf));
		rnd_bytes(buf + 28, 4);
		rnd_bytes(buf + 60, 4);
		cell_bytes(cell(m, i, 8), buf, 64);
	}
	model_build(m);
}

static void
read_damaged(Model *m, HbErrorCode *code)
{
	HbError		error;
	HbSource	source = {body_read, &m->body};
	HbReader   *r = hb_reader_open(&test_mem, m->dir, m->dir_len, m->chunk_id, &error);

	*code = HB_OK;
	if (r == NULL)
	{
		*code = error.code;
		return;
	}
	hb_reader_set_source(r, &source);
	check_chunk(m, r, false);
	*code = hb_reader_error(r)->code;
	hb_reader_free(r);
}

static void
test_directory_bytes(void **state)
{
	Model		m;
	size_t		i;

	(void) state;
	small_chunk(&m, 150);
	for (i = 0; i < m.dir_len; i++)
	{
		HbErrorCode code;
		uint8_t		was = m.dir[i];

		m.dir[i] ^= (uint8_t) (1 + rnd_below(255));
		read_damaged(&m, &code);
		assert_true(code == HB_ERR_CORRUPT || (i == 2 && code == HB_ERR_VERSION));
		m.dir[i] = was;
	}
	for (i = 0; i < m.dir_len; i++)
	{
		HbError		error;
		uint8_t    *copy = malloc(i + 1);

		memcpy(copy, m.dir, i);
		assert_null(hb_reader_open(&test_mem, copy, i, m.chunk_id, &error));
		free(copy);
	}
	/* another chunk's directory */
	{
		HbError		error;

		assert_null(hb_reader_open(&test_mem, m.dir, m.dir_len, m.chunk_id + 1, &error));
		assert_int_equal(error.code, HB_ERR_CORRUPT);
	}
	model_free(&m);
}

/* all: does every byte belong to what the check reads? */
static void
flip_body(uint32_t nrows, size_t step, bool all)
{
	Model		m;
	HbErrorCode code;
	size_t		i;

	small_chunk(&m, nrows);
	read_damaged(&m, &code);
	assert_int_equal(code, HB_OK);
	for (i = rnd_below((uint32_t) step); i < m.body.len; i += step)
	{
		uint8_t		was = m.body.data[i];

		m.body.data[i] ^= (uint8_t) (1 + rnd_below(255));
		read_damaged(&m, &code);
		assert_true(code == HB_ERR_CORRUPT || (code == HB_OK && !all));
		m.body.data[i] = was;
	}
	/* a body that ends early */
	while (m.body.len > 0)
	{
		m.body.len -= m.body.len / 20 + 1;
		read_damaged(&m, &code);
		assert_int_equal(code, HB_ERR_CORRUPT);
	}
	model_free(&m);
}

static void
test_body_bytes(void **state)
{
	(void) state;
	flip_body(100, 1, true);
}

static void
test_larger_body(void **state)
{
	(void) state;
	/* more than one page, more than one slice: page tables, fences, filters */
	flip_body(2500, 211, false);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_directory_bytes),
		cmocka_unit_test(test_body_bytes),
		cmocka_unit_test(test_larger_body),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
