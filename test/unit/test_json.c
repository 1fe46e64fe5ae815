/*
 * test_json.c
 *		The parser of block documents, and Keccak-256.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "chain/hb_json.h"
#include "store/hb_keccak.h"

static void *
mem_alloc(void *arg, size_t size)
{
	return malloc(size);
}

static void *
mem_realloc(void *arg, void *ptr, size_t size)
{
	return realloc(ptr, size);
}

static void
mem_free(void *arg, void *ptr)
{
	free(ptr);
}

static HbMem mem = {mem_alloc, mem_realloc, mem_free, NULL, NULL};

/* Parses a copy of exactly len bytes, so that a sanitizer sees reads past it. */
static bool
parses(HbJson *json, const char *text, size_t len)
{
	char	   *copy = malloc(len > 0 ? len : 1);
	bool		ok;

	memcpy(copy, text, len);
	ok = hb_json_parse(json, copy, len);
	free(copy);
	return ok;
}

static void
test_grammar(void **state)
{
	static const char *const good[] = {
		"null", " true\n", "\tfalse\r", "0", "-0", "12.50e-3", "1E+2", "\"\"",
		"[]", "{}", "[ ]", "{ }", "[1,2]", "{\"a\":1,\"b\":[{}]}", "\"\\u00e9\\/\"",
		"\"12345678\"", "\"1234567\\\"\"", "[[[[[[[[]]]]]]]]"
	};
	static const char *const bad[] = {
		"", " ", "nul", "nullx", "tru", "01", "-", "1.", ".5", "1e", "+1", "0x1",
		"\"", "\"\\\"", "\"\\u12\"", "\"\\u12g4\"", "\"\\x\"", "\"\t\"", "[", "]",
		"{", "}", "[1", "[1,", "[1,]", "[,1]", "[1 2]", "[1}", "{\"a\"}", "{\"a\":}",
		"{\"a\":1,}", "{a:1}", "{1:1}", "{\"a\":1]", "1 2", "{} {}", "'a'", "NaN",
		"[1]]", "{\"a\" 1}", "\"\\"
	};
	HbJson		json;
	size_t		i;

	hb_json_init(&json, &mem);
	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++)
	{
		if (!parses(&json, good[i], strlen(good[i])))
			fail_msg("refused: %s (%s)", good[i], json.error);
	}
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
	{
		if (parses(&json, bad[i], strlen(bad[i])))
			fail_msg("accepted: %s", bad[i]);
		assert_non_null(json.error);
	}
	/* a zero byte is a control character in a string, and nothing elsewhere */
	assert_false(parses(&json, "\"\0\"", 3));
	assert_false(parses(&json, "1\0", 2));
	/* every prefix of a document is refused */
	for (i = 0; i < strlen(good[13]); i++)
		assert_false(parses(&json, good[13], i));
	hb_json_free(&json);
}

static void
test_nodes(void **state)
{
	static const char text[] = "{\"a\": [1, \"xy\"], \"b\": {}, \"c\": null}";
	static const uint8_t types[] = {
		HB_JSON_OBJECT, HB_JSON_STRING, HB_JSON_ARRAY, HB_JSON_NUMBER, HB_JSON_STRING,
		HB_JSON_STRING, HB_JSON_OBJECT, HB_JSON_STRING, HB_JSON_NULL
	};
	static const uint32_t next[] = {9, 2, 5, 4, 5, 6, 7, 8, 9};
	HbJson		json;
	uint32_t	i;

	hb_json_init(&json, &mem);
	assert_true(hb_json_parse(&json, text, strlen(text)));
	assert_int_equal(json.nnodes, 9);
	for (i = 0; i < 9; i++)
	{
		assert_int_equal(json.nodes[i].type, types[i]);
		assert_int_equal(json.nodes[i].next, next[i]);
	}
	assert_int_equal(json.nodes[2].len, strlen("[1, \"xy\"]"));
	assert_memory_equal(text + json.nodes[4].off, "xy", 2);
	hb_json_free(&json);
}

/* Nesting costs memory, not stack. */
static void
test_deep(void **state)
{
	uint32_t	depth = 2000000;
	char	   *text = malloc(2 * depth);
	HbJson		json;

	memset(text, '[', depth);
	memset(text + depth, ']', depth);
	hb_json_init(&json, &mem);
	assert_true(hb_json_parse(&json, text, 2 * depth));
	assert_int_equal(json.nnodes, depth);
	assert_int_equal(json.nodes[depth - 1].len, 2);
	assert_false(hb_json_parse(&json, text, 2 * depth - 1));
	hb_json_free(&json);
	free(text);
}

static void
test_strings(void **state)
{
	static const char text[] = "a\\n\\u00e9\\ud83d\\ude00\\ud83dx\\udc00\\u0000\xc3\xa9\xed\xa0\x80\xc0\x80\xf0\x9f\x98\x80\xff\xe2\x82";
	static const uint32_t want[] = {
		'a', '\n', 0xe9, 0x1f600, HB_JSON_BAD, 'x', HB_JSON_BAD, HB_JSON_BAD, 0xe9,
		HB_JSON_BAD, HB_JSON_BAD, HB_JSON_BAD, HB_JSON_BAD, HB_JSON_BAD, 0x1f600,
		HB_JSON_BAD, HB_JSON_BAD, HB_JSON_BAD
	};
	uint32_t	end = sizeof(text) - 1;
	uint32_t	p = 0;
	size_t		n = 0;
	bool		escape;

	while (p < end)
	{
		assert_true(n < sizeof(want) / sizeof(want[0]));
		assert_int_equal(hb_json_char(text, end, &p, true, &escape), want[n]);
		n++;
	}
	assert_int_equal(n, sizeof(want) / sizeof(want[0]));
}

static void
test_keccak(void **state)
{
	static const uint8_t empty[32] = {
		0xc5, 0xd2, 0x46, 0x01, 0x86, 0xf7, 0x23, 0x3c, 0x92, 0x7e, 0x7d, 0xb2, 0xdc, 0xc7, 0x03, 0xc0,
		0xe5, 0x00, 0xb6, 0x53, 0xca, 0x82, 0x27, 0x3b, 0x7b, 0xfa, 0xd8, 0x04, 0x5d, 0x85, 0xa4, 0x70
	};
	uint8_t		bloom[HB_BLOOM_LEN] = {0};
	uint8_t		hash[32];
	int			bits = 0;
	int			i;

	hb_keccak256("", 0, hash);
	assert_memory_equal(hash, empty, 32);
	hb_bloom_add(bloom, "", 0);
	for (i = 0; i < HB_BLOOM_LEN; i++)
		bits += __builtin_popcount(bloom[i]);
	assert_int_equal(bits, 3);
	/* 0xc5d2 & 2047 = 1490: bit 2 of byte 255 - 186 */
	assert_true(bloom[69] & 4);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_grammar),
		cmocka_unit_test(test_nodes),
		cmocka_unit_test(test_deep),
		cmocka_unit_test(test_strings),
		cmocka_unit_test(test_keccak)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
