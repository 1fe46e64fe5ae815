/*
 * test_codec.c
 *		The codecs by themselves: golden values of checksum and hash, and
 *		round trips at the edges.
 */
#include "hb_test.h"

#include <cmocka.h>

#include "codec/hb_bitpack.h"
#include "codec/hb_buf.h"
#include "codec/hb_crc32c.h"
#include "codec/hb_dict.h"
#include "codec/hb_filter.h"
#include "codec/hb_hash.h"
#include "codec/hb_hashindex.h"
#include "codec/hb_intpage.h"
#include "codec/hb_lists.h"
#include "codec/hb_lz.h"
#include "codec/hb_subblock.h"
#include "codec/hb_unary.h"

static void
test_crc32c(void **state)
{
	uint8_t		buf[4096];
	uint32_t	len;

	(void) state;
	/* RFC 3720, B.4 */
	assert_int_equal(hb_crc32c(0, "123456789", 9), 0xE3069283);
	memset(buf, 0, 32);
	assert_int_equal(hb_crc32c(0, buf, 32), 0x8A9136AA);
	memset(buf, 0xff, 32);
	assert_int_equal(hb_crc32c(0, buf, 32), 0x62A8AB43);
	rnd_bytes(buf, sizeof(buf));
	for (len = 0; len < sizeof(buf); len += 1 + len / 9)
	{
		uint32_t	crc = hb_crc32c(0, buf, len);

		assert_int_equal(crc, hb_crc32c_soft(0, buf, len));
		assert_int_equal(crc, hb_crc32c(hb_crc32c(0, buf, len / 3), buf + len / 3, len - len / 3));
	}
	assert_int_equal(hb_crc_seed(0x0102030405060708ULL, 0x1112, 3, 0x21222324), 0x13EC274E);
}

static void
test_hash(void **state)
{
	static const struct
	{
		uint32_t	len;
		uint64_t	hash;
	}			golden[] = {
		{0, UINT64_C(0x8160CE8646C67AC4)},
		{1, UINT64_C(0xC799A3B10DC5287D)},
		{2, UINT64_C(0xBABE0505E4226ECC)},
		{3, UINT64_C(0x73F373CCF3D47A29)},
		{4, UINT64_C(0xBCB8AE8BE2036A53)},
		{7, UINT64_C(0x97B0B63FE7F2563F)},
		{8, UINT64_C(0xB9900BD1F7AA4133)},
		{15, UINT64_C(0xD71C09DD5FAEB536)},
		{16, UINT64_C(0x2B32BC7050145EBB)},
		{17, UINT64_C(0xD0E1BB0971DF1448)},
		{20, UINT64_C(0xF2A8084892467136)},
		{32, UINT64_C(0x4CAC8D4FFFD6B25B)},
		{33, UINT64_C(0xD1BA9199ABDF91BD)},
		{100, UINT64_C(0x981D18C8748EB455)}
	};
	uint8_t		buf[100];
	size_t		i;

	(void) state;
	for (i = 0; i < sizeof(buf); i++)
		buf[i] = (uint8_t) (i * 7 + 1);
	for (i = 0; i < sizeof(golden) / sizeof(golden[0]); i++)
		assert_true(hb_hash64(buf, golden[i].len) == golden[i].hash);
}

static void
test_bitpack(void **state)
{
	static const uint32_t counts[] = {1, 2, 7, 8, 63, 64, 1000, 1023, 1024};
	uint64_t	values[1024];
	uint64_t	out[1024];
	uint32_t	out32[1024];
	int			bits;
	size_t		k;
	uint32_t	i;

	(void) state;
	for (bits = 0; bits <= 64; bits++)
	{
		for (k = 0; k < sizeof(counts) / sizeof(counts[0]); k++)
		{
			uint32_t	n = counts[k];
			size_t		size = hb_pack_size(n, bits);
			uint8_t    *buf = calloc(1, size + HB_PACK_SLACK);
			uint64_t	base = k % 2 ? rnd() : 0;

			for (i = 0; i < n; i++)
				values[i] = bits == 0 ? 0 : rnd() >> (64 - bits);
			if (bits > 0)
				values[n / 2] = ~UINT64_C(0) >> (64 - bits);
			hb_pack(values, n, bits, buf);
			hb_unpack64(buf, n, bits, base, out);
			for (i = 0; i < n; i++)
			{
				assert_true(out[i] == values[i] + base);
				assert_true(hb_unpack_one(buf, n, bits, i) == values[i]);
			}
			if (bits <= 32)
			{
				hb_unpack32(buf, n, bits, (uint32_t) base, out32);
				for (i = 0; i < n; i++)
					assert_true(out32[i] == (uint32_t) (values[i] + base));
			}
			free(buf);
		}
	}
}

static void
test_intpage(void **state)
{
	int			shape;
	uint32_t	n;

	(void) state;
	for (shape = 0; shape < 6; shape++)
	{
		for (n = 1; n <= 1024; n += 1 + n / 2)
		{
			int64_t		v[1024];
			int64_t		out[1024];
			int64_t		min = INT64_MAX;
			int64_t		max = INT64_MIN;
			uint8_t    *buf;
			uint8_t		mode;
			uint32_t	i;

			for (i = 0; i < n; i++)
			{
				switch (shape)
				{
					case 0:
						v[i] = i % 2 ? INT64_MIN : INT64_MAX;
						break;
					case 1:
						v[i] = INT64_MAX - (int64_t) i * 1000;
						break;
					case 2:
						v[i] = -5;
						break;
					case 3:
						v[i] = (int64_t) rnd();
						break;
					case 4:
						v[i] = (int64_t) i * 12345 - 99;
						break;
					default:
						v[i] = rnd_below(17);
				}
				min = v[i] < min ? v[i] : min;
				max = v[i] > max ? v[i] : max;
			}
			mode = hb_intpage_choose(v, n, min, max);
			if (shape == 4 && n > 100)
				assert_int_equal(mode, HB_INTPAGE_DELTA);
			buf = malloc(HB_INTPAGE_ROOM);
			hb_intpage_encode(v, n, min, mode, buf);
			hb_intpage_decode(buf, n, min, mode, out);
			assert_memory_equal(v, out, n * sizeof(int64_t));
			if (min >= 0 && max <= UINT32_MAX)
			{
				uint32_t	out32[1024];

				assert_true(hb_intpage_decode32(buf, n, min, mode, (uint32_t) max, out32));
				for (i = 0; i < n; i++)
					assert_true(out32[i] == v[i]);
				if (max > 0)
					assert_false(hb_intpage_decode32(buf, n, min, mode, (uint32_t) max - 1, out32));
			}
			free(buf);
		}
	}
}

static void
test_unary(void **state)
{
	int			round;

	(void) state;
	for (round = 0; round < 300; round++)
	{
		uint32_t	n = 1 + rnd_below(1024);
		uint32_t	per = 1 + rnd_below(300);
		int64_t		v[1024];
		int64_t		out[1024];
		uint64_t	starts[16];
		int64_t		x = rnd_below(100000);
		uint32_t	i;
		uint64_t	bits;
		uint8_t    *buf;

		memset(starts, 0, sizeof(starts));
		for (i = 0; i < n; i++)
		{
			if (rnd_below(per) == 0)
			{
				starts[i / 64] |= UINT64_C(1) << (i % 64);
				x = rnd_below(3) == 0 ? rnd_below(70) : 0;
			}
			v[i] = x;
			x += rnd_below(3) * rnd_below(3);
		}
		bits = hb_unary_bits(v, n, starts);
		assert_true(bits != UINT64_MAX);
		buf = malloc(hb_unary_size(bits));
		hb_unary_encode(v, n, starts, buf);
		assert_true(hb_unary_decode(buf, hb_unary_size(bits), n, starts, out));
		assert_memory_equal(v, out, n * sizeof(int64_t));
		if (n > 9)
			assert_false(hb_unary_decode(buf, hb_unary_size(bits) - 2, n, starts, out));
		free(buf);
	}
}

static void
test_lists(void **state)
{
	uint32_t	npages;

	(void) state;
	for (npages = 2; npages <= HB_LISTS_MAX_PAGES; npages += 1 + npages / 7)
	{
		HbBuf		buf;
		uint8_t		pages[64][HB_LISTS_MAX_PAGES];
		uint32_t	counts[64];
		uint32_t	k;
		uint32_t	i;

		hb_buf_init(&buf, &test_mem);
		memset(hb_buf_room(&buf, 8), 0, 8);
		buf.len = 8;
		for (k = 0; k < 64; k++)
		{
			uint32_t	odds = 1 + rnd_below(k % 5 == 0 ? 2 : npages * 2);

			counts[k] = 0;
			for (i = 0; i < npages; i++)
			{
				if (rnd_below(odds) == 0)
					pages[k][counts[k]++] = (uint8_t) i;
			}
			if (counts[k] == 0)
				continue;
			buf.data[k / 8] |= (uint8_t) (1 << (k % 8));
			hb_lists_put(&buf, pages[k], counts[k], npages);
		}
		for (k = 0; k < 64; k++)
		{
			uint64_t	got[HB_LISTS_WORDS] = {0};
			uint32_t	n = 0;

			assert_true(hb_lists_get(buf.data, buf.len, 64, k, npages, got));
			for (i = 0; i < npages; i++)
				n += (got[i / 64] >> (i % 64)) & 1;
			for (i = 0; i < counts[k]; i++)
				assert_true((got[pages[k][i] / 64] >> (pages[k][i] % 64)) & 1);
			/* exact, or all of them where it is more than half */
			assert_true(n == counts[k] || (n == npages && counts[k] * 2 > npages));
		}
		hb_buf_free(&buf);
	}
}

static void
test_filter(void **state)
{
	uint32_t	n = 20000;
	uint32_t	nblocks = hb_filter_blocks(n);
	uint8_t    *blocks = calloc(nblocks, HB_FILTER_BLOCK);
	uint32_t	passed = 0;
	uint32_t	i;

	(void) state;
	for (i = 0; i < n; i++)
	{
		uint64_t	h = hb_hash64(&i, sizeof(i));

		hb_filter_add(blocks + (size_t) hb_filter_block_of(h, nblocks) * HB_FILTER_BLOCK, h);
	}
	for (i = 0; i < 2 * n; i++)
	{
		uint64_t	h = hb_hash64(&i, sizeof(i));
		bool		may = hb_filter_test(blocks + (size_t) hb_filter_block_of(h, nblocks) * HB_FILTER_BLOCK, h);

		if (i < n)
			assert_true(may);
		else
			passed += may;
	}
	/* about one in a hundred */
	assert_in_range(passed, 0, n / 40);
	free(blocks);
}

static void
test_hash_lines(void **state)
{
	static const uint32_t counts[] = {1, 2, 100, 5000, 200000};
	size_t		k;

	(void) state;
	for (k = 0; k < sizeof(counts) / sizeof(counts[0]); k++)
	{
		uint32_t	n = counts[k];
		int			rowbits = hb_hashindex_rowbits(n);
		uint32_t	nlines = hb_hashindex_lines(n, rowbits);
		uint8_t    *lines = calloc(nlines, HB_HASHLINE);
		uint64_t	candidates = 0;
		uint32_t	i;

		for (i = 0; i < n; i++)
			assert_true(hb_hashindex_add(lines, nlines, rowbits, hb_hash64(&i, 4), i));
		for (i = 0; i < n; i++)
		{
			uint64_t	h = hb_hash64(&i, 4);
			uint32_t	line = hb_hashindex_home(h, nlines);
			bool		more = true;
			bool		found = false;

			while (more)
			{
				uint32_t	rows[HB_HASHLINE_MAX];
				int			m = hb_hashindex_match(lines + (size_t) line * HB_HASHLINE, rowbits, h, rows, &more);

				assert_true(m >= 0);
				candidates += (uint64_t) m;
				while (m-- > 0)
					found = found || rows[m] == i;
				line = (line + 1) % nlines;
			}
			assert_true(found);
		}
		assert_true(candidates < n + n / 5 + 10);
		/* about 4.3 bytes a row */
		if (n == 200000)
			assert_true((uint64_t) nlines * HB_HASHLINE < (uint64_t) n * 9 / 2);
		/* one value again and again does not fit */
		if (n > 5000)
		{
			bool		fits = true;

			memset(lines, 0, (size_t) nlines * HB_HASHLINE);
			for (i = 0; i < 5000; i++)
				fits = fits && hb_hashindex_add(lines, nlines, rowbits, 4711, i);
			assert_false(fits);
		}
		free(lines);
	}
}

static void
test_dict_slices(void **state)
{
	int			round;

	(void) state;
	for (round = 0; round < 200; round++)
	{
		uint8_t		bytes[64][300];
		HbSlice		values[64];
		uint32_t	n = 1 + rnd_below(64);
		bool		stripped = round % 3 == 0;
		uint32_t	width = round % 3 == 1 ? 20 : 0;
		HbBuf		buf;
		HbDictSlice s;
		uint32_t	i;

		for (i = 0; i < n; i++)
		{
			uint32_t	len = stripped ? rnd_below(33) : width > 0 ? width : rnd_below(300);

			rnd_bytes(bytes[i], 300);
			memset(bytes[i], 7, rnd_below(6));
			bytes[i][len > 3 ? len / 2 : 0] = (uint8_t) i;
			if (stripped && bytes[i][0] == 0)
				bytes[i][0] = 1;
			values[i].data = bytes[i];
			values[i].len = len;
		}
		/* a plain insertion sort */
		for (i = 1; i < n; i++)
		{
			HbSlice		x = values[i];
			uint32_t	j = i;

			for (; j > 0 && hb_dict_cmp(values[j - 1], x, stripped) > 0; j--)
				values[j] = values[j - 1];
			values[j] = x;
		}
		for (i = 1; i < n; i++)
			assert_true(hb_dict_key(values[i - 1], stripped) <= hb_dict_key(values[i], stripped));
		hb_buf_init(&buf, &test_mem);
		hb_dict_slice_put(&buf, values, n, stripped);
		if (stripped)
			width = 32;
		assert_true(hb_dict_slice_get(&test_mem, buf.data, buf.len, n, stripped, width, &s));
		for (i = 0; i < n; i++)
		{
			HbSlice		v = hb_dict_slice_entry(&s, i);
			uint32_t	at = hb_dict_slice_lower(&s, v);

			assert_true(hb_slice_cmp(stripped ? hb_dict_strip(v) : v, values[i]) == 0);
			assert_true(hb_slice_cmp(hb_dict_slice_entry(&s, at), v) == 0);
		}
		free(s.off != NULL ? (void *) s.off : (void *) s.data);
		assert_false(hb_dict_slice_get(&test_mem, buf.data, buf.len - 1, n, stripped, width, &s));
		hb_buf_free(&buf);
	}
}

static void
test_trim(void **state)
{
	int			round;

	(void) state;
	for (round = 0; round < 200; round++)
	{
		uint8_t		raw[8192];
		uint8_t		out[8192];
		uint32_t	lens[30];
		uint32_t	n = rnd_below(30);
		size_t		total = 0;
		size_t		size = 0;
		HbBuf		buf;
		uint32_t	i;

		memset(raw, 0, sizeof(raw));
		for (i = 0; i < n; i++)
		{
			lens[i] = rnd_below(round % 2 ? 200 : 8) * (round % 2 ? 1 : 32);
			if (lens[i] > 3)
				rnd_bytes(raw + total + rnd_below(lens[i]), 1);
			size += hb_subblock_trim_size(raw + total, lens[i]);
			total += lens[i];
		}
		hb_buf_init(&buf, &test_mem);
		hb_subblock_trim(&buf, raw, lens, n);
		assert_int_equal(buf.len, size);
		assert_true(hb_subblock_untrim(buf.data, buf.len, lens, n, out, total));
		assert_memory_equal(raw, out, total);
		if (buf.len > 0)
			assert_false(hb_subblock_untrim(buf.data, buf.len - 1, lens, n, out, total));
		hb_buf_free(&buf);
	}
}

static void
test_lz(void **state)
{
	uint8_t		raw[5000];
	uint8_t		packed[6000];
	uint8_t		out[5000];
	int			codec;
	size_t		i;

	(void) state;
	for (i = 0; i < sizeof(raw); i++)
		raw[i] = (uint8_t) (i % 50);
	for (codec = HB_CODEC_LZ4; codec <= HB_CODEC_ZSTD; codec++)
	{
		size_t		n = hb_lz_compress(codec, 3, raw, sizeof(raw), packed, sizeof(packed));

		assert_in_range(n, 1, 1000);
		assert_true(hb_lz_decompress(codec, packed, n, out, sizeof(out)));
		assert_memory_equal(raw, out, sizeof(raw));
		assert_false(hb_lz_decompress(codec, packed, n, out, sizeof(out) - 1));
		assert_false(hb_lz_decompress(codec, packed, n - 1, out, sizeof(out)));
		assert_int_equal(hb_lz_compress(codec, 3, raw, sizeof(raw), packed, n - 1), 0);
	}
}

static void
test_varints(void **state)
{
	static const int64_t values[] = {0, 1, -1, 63, 64, -64, -65, 127, 128, INT64_MAX, INT64_MIN};
	HbBuf		buf;
	HbCursor	c;
	size_t		i;

	(void) state;
	hb_buf_init(&buf, &test_mem);
	for (i = 0; i < sizeof(values) / sizeof(values[0]); i++)
	{
		hb_buf_svarint(&buf, values[i]);
		hb_buf_varint(&buf, (uint64_t) values[i]);
	}
	c.p = buf.data;
	c.end = buf.data + buf.len;
	c.bad = false;
	for (i = 0; i < sizeof(values) / sizeof(values[0]); i++)
	{
		assert_true(hb_cursor_svarint(&c) == values[i]);
		assert_true(hb_cursor_varint(&c) == (uint64_t) values[i]);
	}
	assert_false(c.bad);
	hb_cursor_byte(&c);
	assert_true(c.bad);
	hb_buf_free(&buf);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_crc32c),
		cmocka_unit_test(test_hash),
		cmocka_unit_test(test_bitpack),
		cmocka_unit_test(test_intpage),
		cmocka_unit_test(test_unary),
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_filter),
		cmocka_unit_test(test_hash_lines),
		cmocka_unit_test(test_dict_slices),
		cmocka_unit_test(test_trim),
		cmocka_unit_test(test_lz),
		cmocka_unit_test(test_varints),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
