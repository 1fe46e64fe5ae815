/*
 * test_memory.c
 *		What a builder holds: for rows little more than their values, and while
 *		it sorts and writes them at most a piece (2 MiB) and two integers a row
 *		more.
 */
#include "hb_test.h"

#include <cmocka.h>

#define MIB		((size_t) 1024 * 1024)
#define PIECE	(2 * MIB)
#define ROWS	100000
#define SCRATCH 16				/* bytes a row for its integers, or its order */

typedef struct Counter
{
	uint64_t	bytes;
} Counter;

static void
count_append(void *arg, const uint8_t *data, size_t len)
{
	(void) data;
	((Counter *) arg)->bytes += len;
}

/* Which shape of values a column has. */
typedef enum Shape
{
	SHAPE_NULL,
	SHAPE_SMALL,				/* integers of two bytes */
	SHAPE_BLOCK,				/* ascending */
	SHAPE_RANDOM,				/* integers of eight bytes */
	SHAPE_HASH,					/* 32 random bytes */
	SHAPE_DATA,					/* 200 random bytes */
	SHAPE_WIDE,					/* 1,000 random bytes */
	SHAPE_WORDS					/* 40 bytes, of 60,000 distinct values */
} Shape;

static const uint32_t shape_len[] = {0, 2, 4, 8, 32, 200, 1000, 40};

static HbBuilder *
make(HbCounted *memory, const Shape *shapes, int ncols, uint32_t rows, bool sorted)
{
	HbColumnSpec specs[64] = {0};
	HbBuilderOptions options = {.block_col = -1, .compression = 2};
	HbBuilder  *b;
	uint8_t		value[1000];
	uint32_t	r;
	int			i;

	for (i = 0; i < ncols; i++)
	{
		specs[i].column_no = (uint16_t) (i + 1);
		specs[i].phys = shapes[i] < SHAPE_HASH ? HB_PHYS_INT : HB_PHYS_BYTES;
		specs[i].hash_index = shapes[i] == SHAPE_HASH;
		specs[i].width = shapes[i] == SHAPE_HASH ? 32 : 0;
		specs[i].prev_of = -1;
		if (shapes[i] == SHAPE_BLOCK)
		{
			options.block_col = i;
			options.nsort = 1;
			options.sort_cols[0] = (int16_t) i;
		}
	}
	b = hb_builder_create(&memory->mem, specs, ncols, &options);
	for (r = 0; r < rows; r++)
	{
		hb_builder_begin_row(b);
		for (i = 0; i < ncols; i++)
		{
			uint64_t	word = rnd_below(60000);

			switch (shapes[i])
			{
				case SHAPE_NULL:
					break;
				case SHAPE_SMALL:
					hb_builder_add_int(b, i, rnd_below(60000));
					break;
				case SHAPE_BLOCK:
					hb_builder_add_int(b, i, sorted ? r / 10 : (int64_t) rnd_below(rows));
					break;
				case SHAPE_RANDOM:
					hb_builder_add_int(b, i, (int64_t) rnd());
					break;
				case SHAPE_WORDS:
					memset(value, 'w', 40);
					memcpy(value + 3, &word, sizeof(word));
					hb_builder_add_bytes(b, i, value, 40);
					break;
				default:
					rnd_bytes(value, shape_len[shapes[i]]);
					hb_builder_add_bytes(b, i, value, shape_len[shapes[i]]);
					break;
			}
		}
		hb_builder_end_row(b);
	}
	return b;
}

/*
 * Adds, sorts, writes, drops.  overhead is how many bytes a row may take
 * besides its values.
 */
static void
check(const char *name, const Shape *shapes, int ncols, uint32_t rows, bool sorted,
	  double overhead)
{
	HbCounted	memory;
	HbBuilder  *b;
	Counter		counter = {0};
	HbSink		sink = {count_append, &counter};
	HbChunkInfo info;
	HbError		error;
	size_t		raw = 0;
	size_t		held;
	size_t		counted;
	size_t		adding;
	int			i;

	hb_counted_init(&memory);
	b = make(&memory, shapes, ncols, rows, sorted);
	for (i = 0; i < ncols; i++)
		raw += (size_t) shape_len[shapes[i]] * rows;
	held = memory.held;
	counted = hb_builder_bytes(b);
	adding = memory.peak;
	/* it knows what it holds */
	assert_in_range(counted, held - held / 50, held + held / 50);
	memory.peak = held;
	hb_builder_sort(b);
	assert_true(hb_builder_finish(b, rows, 1, &sink, &info, &error));
	print_message("%s: %.1f MiB of values, %.1f held (%.1f when most), %.1f more to write\n",
				  name, (double) raw / MIB, (double) held / MIB, (double) adding / MIB,
				  (double) (memory.peak - held) / MIB);
	assert_true(held < raw + (size_t) (overhead * rows) + MIB / 2);
	assert_true(adding < held + PIECE);
	/* values that turn out to repeat late are held once more as a table */
	assert_true(memory.peak < held + PIECE +
				(shapes[ncols - 1] == SHAPE_WORDS ? held : (size_t) SCRATCH * rows));
	assert_true(info.body_len == counter.bytes);
	/* what a later row finds again */
	hb_builder_drop(b, rows);
	assert_true(memory.held < MIB / 4);
	hb_builder_free(b);
	assert_true(memory.held == 0);
}

#define CHECK_SHAPES(name, rows, sorted, overhead, ...) \
	do { \
		static const Shape shapes[] = {__VA_ARGS__}; \
		check(name, shapes, sizeof(shapes) / sizeof(shapes[0]), rows, sorted, overhead); \
	} while (0)

static void
test_shapes(void **state)
{
	(void) state;
	CHECK_SHAPES("integers", ROWS, true, 2, SHAPE_BLOCK, SHAPE_SMALL, SHAPE_RANDOM, SHAPE_SMALL);
	CHECK_SHAPES("integers, not sorted", ROWS, false, 2, SHAPE_BLOCK, SHAPE_SMALL, SHAPE_RANDOM);
	CHECK_SHAPES("hashes", ROWS, true, 12, SHAPE_BLOCK, SHAPE_HASH, SHAPE_HASH);
	CHECK_SHAPES("hashes, not sorted", ROWS, false, 12, SHAPE_BLOCK, SHAPE_HASH, SHAPE_HASH);
	CHECK_SHAPES("data", ROWS, true, 10, SHAPE_BLOCK, SHAPE_DATA, SHAPE_SMALL);
	CHECK_SHAPES("data, not sorted", ROWS, false, 10, SHAPE_BLOCK, SHAPE_DATA, SHAPE_SMALL);
	CHECK_SHAPES("wide", ROWS / 4, true, 40, SHAPE_WIDE);
	CHECK_SHAPES("words", ROWS, true, 16, SHAPE_BLOCK, SHAPE_WORDS);
	CHECK_SHAPES("words, not sorted", ROWS, false, 16, SHAPE_BLOCK, SHAPE_WORDS);
	CHECK_SHAPES("all NULL", ROWS, true, 1, SHAPE_BLOCK, SHAPE_NULL, SHAPE_NULL, SHAPE_NULL, SHAPE_NULL,
		  SHAPE_NULL, SHAPE_NULL, SHAPE_NULL, SHAPE_NULL, SHAPE_NULL, SHAPE_NULL, SHAPE_NULL);
}

/* A value of 64 MiB is held once, and written without another copy. */
static void
test_huge(void **state)
{
	HbColumnSpec spec = {.column_no = 1, .phys = HB_PHYS_BYTES, .prev_of = -1};
	HbBuilderOptions options = {.block_col = -1, .compression = 2};
	size_t		len = 64 * MIB;
	uint8_t    *value = malloc(len);
	HbCounted	memory;
	HbBuilder  *b;
	Counter		counter = {0};
	HbSink		sink = {count_append, &counter};
	HbChunkInfo info;
	HbError		error;
	int			r;

	(void) state;
	memset(value, 'x', len);
	hb_counted_init(&memory);
	b = hb_builder_create(&memory.mem, &spec, 1, &options);
	for (r = 0; r < 3; r++)
	{
		hb_builder_begin_row(b);
		hb_builder_add_bytes(b, 0, value, r == 1 ? (uint32_t) len : 100);
		hb_builder_end_row(b);
	}
	assert_true(memory.peak < len + MIB / 4);
	assert_true(hb_builder_finish(b, 3, 1, &sink, &info, &error));
	assert_true(memory.peak < len + PIECE);
	hb_builder_free(b);
	assert_true(memory.held == 0);
	free(value);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shapes),
		cmocka_unit_test(test_huge),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
