/*
 * fuzz_json.c
 *		Any bytes as a block document: nodes stay within the text and within
 *		each other, and what a string holds can be walked.
 */
#include "hb_fuzz.h"
#include "chain/hb_json.h"

static void
check(bool ok)
{
	if (!ok)
		abort();
}

static void
check_string(const HbJson *json, const HbJsonNode *node)
{
	uint32_t	end = node->off + node->len;
	uint32_t	raw = node->off;
	uint32_t	p = node->off;
	bool		escape;

	check(node->off > 0 && json->text[node->off - 1] == '"' && json->text[end] == '"');
	while (raw < end)
	{
		uint32_t	before = raw;
		uint32_t	c = hb_json_char(json->text, end, &raw, true, &escape);

		check(raw > before && raw <= end);
		check(c == HB_JSON_BAD || (c > 0 && c <= 0x10ffff && (c < 0xd800 || c > 0xdfff)));
		check(!escape || (node->flags & HB_JSON_ESCAPED));
	}
	while (p < end)
		hb_json_char(json->text, end, &p, false, &escape);
	check(p == end);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t    *copy = malloc(size > 0 ? size : 1);	/* of exactly its size */
	HbJson		json;
	uint32_t	i;

	memcpy(copy, data, size);
	hb_json_init(&json, &fuzz_mem);
	if (!hb_json_parse(&json, (const char *) copy, size))
	{
		check(json.error != NULL && json.error_off <= size);
		hb_json_free(&json);
		free(copy);
		return 0;
	}

	check(json.nnodes > 0 && json.nodes[0].next == json.nnodes);
	for (i = 0; i < json.nnodes; i++)
	{
		const HbJsonNode *node = &json.nodes[i];
		uint32_t	child = i + 1;

		check(node->off + node->len <= size && node->next > i && node->next <= json.nnodes);
		if (node->type == HB_JSON_STRING)
			check_string(&json, node);
		if (node->type != HB_JSON_ARRAY && node->type != HB_JSON_OBJECT)
		{
			check(node->next == i + 1);
			continue;
		}
		while (child < node->next)
		{
			check(json.nodes[child].off > node->off &&
				  json.nodes[child].off + json.nodes[child].len < node->off + node->len);
			if (node->type == HB_JSON_OBJECT)
			{
				check(json.nodes[child].type == HB_JSON_STRING);
				child++;
				check(child < node->next);
			}
			child = json.nodes[child].next;
		}
		check(child == node->next);
	}
	hb_json_free(&json);
	free(copy);
	return 0;
}
