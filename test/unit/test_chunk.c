/*
 * test_chunk.c
 *		Property test: whatever rows a chunk is built from, the reader gives
 *		back, over thousands of random shapes.
 */
#include "hb_test.h"

#include <cmocka.h>

/* How the values of a column are made. */
typedef struct Shape
{
	int			kind;
	uint32_t	distinct;
	uint32_t	len;
	uint32_t	null_percent;
} Shape;

static void
make_num(Cell *c, int kind)
{
	uint8_t		buf[40];
	uint32_t	n = 0;

	switch (kind % 4)
	{
		case 0:
			n = rnd_below(4);
			break;
		case 1:
			n = rnd_below(9);
			break;
		case 2:
			n = rnd_below(33);
			break;
		case 3:
			if (rnd_below(20) == 0)
			{
				cell_bytes(c, "\377NaN", 4);
				return;
			}
			n = 1 + rnd_below(2);
			break;
	}
	buf[0] = (uint8_t) n;
	rnd_bytes(buf + 1, n);
	if (n > 0 && buf[1] == 0)
		buf[1] = 1;
	cell_bytes(c, buf, n + 1);
}

static void
make_bytes(Cell *c, const HbColumnSpec *s, const Shape *sh, uint32_t row)
{
	uint8_t		buf[4096];
	uint32_t	len = s->width > 0 ? s->width : sh->len;
	uint64_t	keep = test_seed;
	uint32_t	i;

	memset(buf, 0, sizeof(buf));
	switch (sh->kind % 7)
	{
		case 0:					/* unique */
			rnd_bytes(buf, len);
			break;
		case 1:					/* one of a few; shared between columns */
		case 2:
			test_seed = 77 + 1000003 * (uint64_t) rnd_below(sh->distinct);
			keep = rnd();
			rnd_bytes(buf + (len > 20 ? len - 20 : 0), len < 20 ? len : 20);
			test_seed = keep + row * 7919;
			rnd();
			break;
		case 3:					/* any length */
			len = rnd_below(len * 2 + 1);
			rnd_bytes(buf, len);
			break;
		case 4:					/* text that compresses */
			len = 10 + rnd_below(100);
			for (i = 0; i < len; i++)
				buf[i] = (uint8_t) "abcde fgh"[(i * i + row % 3) % 9];
			break;
		case 5:					/* words with leading zeros */
			len = 32 * rnd_below(4) + (row % 3 == 0 ? 4 : 0);
			if (s->width > 0)
				len = s->width;
			for (i = 0; i < len; i++)
				buf[i] = i % 32 < 26 ? 0 : (uint8_t) rnd();
			break;
		case 6:					/* small numbers, and now and then another width */
			for (i = 0; i < 2 && i < len; i++)
				buf[len - 1 - i] = (uint8_t) rnd_below(sh->distinct);
			if (rnd_below(300) == 0)
				len = rnd_below(40);
			break;
	}
	cell_bytes(c, buf, len);
}

static void
random_model(Model *m, uint32_t nrows, int nbytes)
{
	Shape		shapes[32];
	int64_t		block = (int64_t) rnd_below(1000000);
	uint32_t	per_block = 1 + rnd_below(rnd_below(2) ? 3 : 400);
	uint32_t	gap = rnd_below(3) == 0 ? 3 : 1;
	int64_t		tx = rnd_below(5);
	int64_t		log = rnd_below(3);
	uint32_t	row;
	int			c;
	int			ints;
	int			i;

	memset(m, 0, sizeof(*m));
	m->chunk_id = rnd();
	m->options.block_col = 0;
	m->options.nsort = 3;
	m->options.sort_cols[0] = 0;
	m->options.sort_cols[1] = (int16_t) (1 + rnd_below(2));
	m->options.sort_cols[2] = 2;
	m->options.compression = (int) rnd_below(3);
	m->options.zstd_level = 1 + (int) rnd_below(4);
	for (i = 0; i < 3; i++)
		model_column(m, HB_PHYS_INT, 0, 0, false, false);
	ints = 3 + (int) rnd_below(5);
	for (i = 3; i < ints; i++)
		model_column(m, HB_PHYS_INT, 0, 0, false, false);
	for (i = 0; i < nbytes; i++)
	{
		static const uint16_t widths[] = {0, 0, 20, 32, 32, 8, 64, 100};
		uint16_t	width = widths[rnd_below(8)];

		model_column(m, rnd_below(5) == 0 ? HB_PHYS_NUM : HB_PHYS_BYTES, (uint8_t) rnd_below(3),
					 width, rnd_below(3) == 0, rnd_below(2) == 0);
		if (m->cols[m->ncols - 1].phys == HB_PHYS_NUM)
			m->cols[m->ncols - 1].width = 0;
		if (i > 0 && rnd_below(4) == 0)
			m->cols[m->ncols - 1].prev_of = (int16_t) (m->ncols - 2);
	}
	for (c = 0; c < m->ncols; c++)
	{
		shapes[c].kind = (int) rnd_below(28);
		shapes[c].distinct = 1 + rnd_below(rnd_below(2) ? 4 : nrows + 1);
		shapes[c].len = rnd_below(rnd_below(4) == 0 ? 300 : 40);
		shapes[c].null_percent = rnd_below(3) == 0 ? rnd_below(102) : 0;
	}
	model_cells(m, nrows);
	for (row = 0; row < nrows; row++)
	{
		if (row > 0 && (per_block == 1 || rnd_below(per_block) == 0))
		{
			block += gap == 1 ? 1 : 1 + (int64_t) rnd_below(gap);
			tx = log = 0;
			if (shapes[1].kind % 3 == 0)
				tx = rnd_below(2);
		}
		for (c = 0; c < m->ncols; c++)
		{
			Cell	   *x = cell(m, row, c);
			Shape	   *s = &shapes[c];

			if (c == 0)
			{
				x->null = false;
				x->i = block;
				continue;
			}
			if (c == 1)
			{
				x->null = false;
				x->i = tx;
				if (rnd_below(3) == 0)
					tx += 1 + (rnd_below(30) == 0 ? rnd_below(20) : 0);
				continue;
			}
			if (c == 2)
			{
				x->null = false;
				x->i = log++;
				continue;
			}
			if (rnd_below(100) < s->null_percent)
				continue;
			if (m->cols[c].phys == HB_PHYS_NUM)
				make_num(x, s->kind);
			else if (m->cols[c].phys == HB_PHYS_BYTES)
			{
				int			p = m->cols[c].prev_of;

				if (p >= 0 && row > 0 && s->kind % 5 != 0)
				{
					if (!cell(m, row - 1, p)->null)
						cell_bytes(x, cell(m, row - 1, p)->p, cell(m, row - 1, p)->len);
				}
				else
					make_bytes(x, &m->cols[c], s, row);
			}
			else
			{
				x->null = false;
				switch (s->kind % 8)
				{
					case 0:
						x->i = 42;
						break;
					case 1:
						x->i = (int64_t) rnd();
						break;
					case 2:
						x->i = -(int64_t) rnd_below(1000);
						break;
					case 3:
						x->i = (int64_t) row * 1000003 + rnd_below(100);
						break;
					case 4:
						x->i = row % 2 ? INT64_MAX : INT64_MIN;
						break;
					case 5:
						x->i = rnd_below(50) == 0 ? (int64_t) rnd() : rnd_below(3);
						break;
					case 6:
						x->i = (int64_t) (row / 100) * 7;
						break;
					case 7:
						x->i = (int64_t) (rnd() >> rnd_below(64));
						break;
				}
			}
		}
	}
}

static uint32_t
random_rows(void)
{
	switch (rnd_below(8))
	{
		case 0:
			return 1;
		case 1:
			return 1 + rnd_below(10);
		case 2:
			return 1023 + rnd_below(3);
		case 3:
			return 2048 + rnd_below(2000);
		default:
			return 1 + rnd_below(400);
	}
}

static void
check_readback(Model *m)
{
	uint32_t	row;
	int			c;

	for (row = 0; row < m->nrows; row += 1 + m->nrows / 100)
	{
		for (c = 0; c < m->ncols; c++)
		{
			Cell	   *x = cell(m, row, c);
			int64_t		i = 0;
			HbSlice		v = {NULL, 0};

			if (m->cols[c].phys == HB_PHYS_INT)
			{
				assert_int_equal(!x->null, hb_builder_get_int(m->builder, c, row, &i));
				if (!x->null)
					assert_true(i == x->i);
			}
			else
			{
				assert_int_equal(!x->null, hb_builder_get_bytes(m->builder, c, row, &v));
				/* both stay valid */
				if (row > 0 && !cell(m, row - 1, c)->null)
				{
					HbSlice		before;

					assert_true(hb_builder_get_bytes(m->builder, c, row - 1, &before));
					assert_true(cell_is(cell(m, row - 1, c), before));
				}
				if (!x->null)
					assert_true(cell_is(x, v));
			}
		}
	}
}

static void
test_random_chunks(void **state)
{
	const char *env = getenv("HB_TEST_CHUNKS");
	int			n = env != NULL ? atoi(env) : 2500;
	int			i;

	(void) state;
	for (i = 0; i < n; i++)
	{
		Model		m;
		HbReader   *r;

		test_seed = 1000003 * (uint64_t) (i + 1);
		rnd();
		random_model(&m, random_rows(), 1 + (int) rnd_below(8));
		model_build(&m);
		assert_true(m.body.largest <= HB_SINK_MAX);
		assert_int_equal(m.info.body_len, m.body.len);
		check_readback(&m);
		r = model_open(&m);
		check_chunk(&m, r, true);
		/* and again, now that much is cached */
		check_chunk(&m, r, true);
		hb_reader_free(r);
		model_free(&m);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_chunks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
