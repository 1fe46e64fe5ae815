/*
 * hb_json.c
 *		The parser of block documents: one pass, no recursion, no copies.
 *
 * The loop alternates between two places: before a value (after "[", ":" or
 * ",") and after one (where "," or a closing bracket must follow).  Strings
 * are skipped eight bytes at a time while a word holds no quote, backslash or
 * control character.
 */
#include "chain/hb_json.h"
#include "codec/hb_hex.h"

#define ONES	UINT64_C(0x0101010101010101)
#define HIGHS	UINT64_C(0x8080808080808080)

/* While a container is open, next of its node is its parent's number. */
#define NO_PARENT	UINT32_MAX

void
hb_json_init(HbJson *json, HbMem *mem)
{
	memset(json, 0, sizeof(*json));
	json->mem = mem;
}

void
hb_json_free(HbJson *json)
{
	hb_free(json->mem, json->nodes);
	json->nodes = NULL;
	json->nnodes = json->maxnodes = 0;
}

static bool
json_fail(HbJson *json, uint32_t off, const char *error)
{
	json->error = error;
	json->error_off = off;
	return false;
}

static HbJsonNode *
json_add(HbJson *json, HbJsonType type, uint32_t off)
{
	HbJsonNode *node;

	if (json->nnodes % HB_JSON_CHECK_NODES == 0)
		hb_check(json->mem);
	if (json->nnodes == json->maxnodes)
	{
		json->maxnodes = json->maxnodes == 0 ? 1024 : json->maxnodes * 2;
		json->nodes = hb_realloc(json->mem, json->nodes,
								 json->maxnodes * sizeof(HbJsonNode));
	}
	node = &json->nodes[json->nnodes++];
	node->off = off;
	node->len = 0;
	node->next = json->nnodes;
	node->type = (uint8_t) type;
	node->flags = 0;
	return node;
}

static inline bool
json_is_space(char c)
{
	return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

static inline bool
json_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/*
 * A string whose opening quote is at off; *end is behind the closing one.
 */
static bool
json_string(HbJson *json, uint32_t off, uint32_t *end)
{
	const char *text = json->text;
	uint32_t	len = json->len;
	uint32_t	p = off + 1;
	uint8_t		flags = 0;
	HbJsonNode *node;

	for (;;)
	{
		unsigned char c;

		while (p + 8 <= len)
		{
			uint64_t	w;
			uint64_t	quote;
			uint64_t	slash;

			memcpy(&w, text + p, 8);
			quote = w ^ (ONES * '"');
			slash = w ^ (ONES * '\\');
			if ((((quote - ONES) & ~quote) | ((slash - ONES) & ~slash) |
				 ((w - ONES * 0x20) & ~w)) & HIGHS)
				break;
			if (w & HIGHS)
				flags |= HB_JSON_HIGH;
			p += 8;
		}
		if (p >= len)
			return json_fail(json, off, "unterminated string");
		c = (unsigned char) text[p];
		if (c == '"')
			break;
		if (c < 0x20)
			return json_fail(json, p, "control character in a string");
		if (c >= 0x80)
			flags |= HB_JSON_HIGH;
		if (c != '\\')
		{
			p++;
			continue;
		}

		flags |= HB_JSON_ESCAPED;
		if (p + 1 >= len)
			return json_fail(json, off, "unterminated string");
		switch (text[p + 1])
		{
			case '"':
			case '\\':
			case '/':
			case 'b':
			case 'f':
			case 'n':
			case 'r':
			case 't':
				p += 2;
				break;
			case 'u':
				if (p + 6 > len)
					return json_fail(json, off, "unterminated string");
				for (int i = 2; i < 6; i++)
				{
					if (hb_hex_digit((unsigned char) text[p + i]) < 0)
						return json_fail(json, p, "\"\\u\" must be followed by four hexadecimal digits");
				}
				p += 6;
				break;
			default:
				return json_fail(json, p, "invalid escape sequence");
		}
	}

	node = json_add(json, HB_JSON_STRING, off + 1);
	node->len = p - (off + 1);
	node->flags = flags;
	*end = p + 1;
	return true;
}

static bool
json_number(HbJson *json, uint32_t off, uint32_t *end)
{
	const char *text = json->text;
	uint32_t	len = json->len;
	uint32_t	p = off;

	if (text[p] == '-')
		p++;
	if (p >= len || !json_is_digit(text[p]))
		return json_fail(json, off, "invalid number");
	if (text[p] == '0')
		p++;
	else
		while (p < len && json_is_digit(text[p]))
			p++;
	if (p < len && text[p] == '.')
	{
		p++;
		if (p >= len || !json_is_digit(text[p]))
			return json_fail(json, off, "invalid number");
		while (p < len && json_is_digit(text[p]))
			p++;
	}
	if (p < len && (text[p] == 'e' || text[p] == 'E'))
	{
		p++;
		if (p < len && (text[p] == '+' || text[p] == '-'))
			p++;
		if (p >= len || !json_is_digit(text[p]))
			return json_fail(json, off, "invalid number");
		while (p < len && json_is_digit(text[p]))
			p++;
	}
	json_add(json, HB_JSON_NUMBER, off)->len = p - off;
	*end = p;
	return true;
}

static bool
json_word(HbJson *json, uint32_t off, const char *word, HbJsonType type, uint32_t *end)
{
	uint32_t	n = (uint32_t) strlen(word);

	if (json->len - off < n || memcmp(json->text + off, word, n) != 0)
		return json_fail(json, off, "expected a value");
	json_add(json, type, off)->len = n;
	*end = off + n;
	return true;
}

/* A value that is not a container. */
static bool
json_scalar(HbJson *json, uint32_t off, uint32_t *end)
{
	switch (json->text[off])
	{
		case '"':
			return json_string(json, off, end);
		case 't':
			return json_word(json, off, "true", HB_JSON_TRUE, end);
		case 'f':
			return json_word(json, off, "false", HB_JSON_FALSE, end);
		case 'n':
			return json_word(json, off, "null", HB_JSON_NULL, end);
		case '-':
		case '0':
		case '1':
		case '2':
		case '3':
		case '4':
		case '5':
		case '6':
		case '7':
		case '8':
		case '9':
			return json_number(json, off, end);
		default:
			return json_fail(json, off, "expected a value");
	}
}

/* A member's name and its colon; *p is at the name's quote. */
static bool
json_name(HbJson *json, uint32_t *p)
{
	if (*p >= json->len || json->text[*p] != '"')
		return json_fail(json, *p, "expected a member name in quotes");
	if (!json_string(json, *p, p))
		return false;
	while (*p < json->len && json_is_space(json->text[*p]))
		(*p)++;
	if (*p >= json->len || json->text[*p] != ':')
		return json_fail(json, *p, "expected \":\" after a member name");
	(*p)++;
	return true;
}

bool
hb_json_parse(HbJson *json, const char *text, size_t len)
{
	uint32_t	p = 0;
	uint32_t	open = NO_PARENT;	/* the innermost open container */
	bool		before_value = true;
	bool		may_close = false;	/* just behind an opening bracket */

	json->text = text;
	json->nnodes = 0;
	json->error = NULL;
	json->error_off = 0;
	if (len > HB_JSON_MAX_LEN)
		return json_fail(json, 0, "the text is too long");
	json->len = (uint32_t) len;

	for (;;)
	{
		char		c;

		while (p < json->len && json_is_space(text[p]))
			p++;
		if (p >= json->len)
		{
			if (open == NO_PARENT && !before_value)
				return true;
			return json_fail(json, p, "unexpected end of the text");
		}
		c = text[p];

		/* a closing bracket: after a value, or at once */
		if ((c == '}' || c == ']') && open != NO_PARENT && (!before_value || may_close))
		{
			HbJsonNode *node = &json->nodes[open];

			if (node->type != (c == '}' ? HB_JSON_OBJECT : HB_JSON_ARRAY))
				return json_fail(json, p, "mismatched bracket");
			p++;
			open = node->next;
			node->next = json->nnodes;
			node->len = p - node->off;
			before_value = may_close = false;
			continue;
		}

		if (!before_value)
		{
			if (open == NO_PARENT)
				return json_fail(json, p, "unexpected text after the document");
			if (c != ',')
				return json_fail(json, p, "expected \",\" or a closing bracket");
			p++;
			before_value = true;
			continue;
		}

		may_close = false;
		if (open != NO_PARENT && json->nodes[open].type == HB_JSON_OBJECT)
		{
			if (!json_name(json, &p))
				return false;
			while (p < json->len && json_is_space(text[p]))
				p++;
			if (p >= json->len)
				return json_fail(json, p, "unexpected end of the text");
			c = text[p];
		}

		if (c == '{' || c == '[')
		{
			HbJsonNode *node;

			node = json_add(json, c == '{' ? HB_JSON_OBJECT : HB_JSON_ARRAY, p);
			node->next = open;
			open = json->nnodes - 1;
			may_close = true;
			p++;
		}
		else
		{
			if (!json_scalar(json, p, &p))
				return false;
			before_value = false;
		}
	}
}

static uint32_t
json_unicode(const char *digits)
{
	uint32_t	c = 0;

	for (int i = 0; i < 4; i++)
		c = (c << 4) | (uint32_t) hb_hex_digit((unsigned char) digits[i]);
	return c;
}

/*
 * A UTF-8 sequence at *off: shortest form, no surrogates, at most U+10FFFF.
 * A bad one moves *off by one byte, so that every byte of a longer bad run is
 * reported.
 */
static uint32_t
json_utf8(const char *text, uint32_t end, uint32_t *off)
{
	const unsigned char *s = (const unsigned char *) text + *off;
	uint32_t	left = end - *off;
	uint32_t	c;
	uint32_t	n;
	uint32_t	least;

	if (s[0] >= 0xc2 && s[0] <= 0xdf)
	{
		n = 2;
		c = s[0] & 0x1f;
		least = 0x80;
	}
	else if (s[0] >= 0xe0 && s[0] <= 0xef)
	{
		n = 3;
		c = s[0] & 0x0f;
		least = 0x800;
	}
	else if (s[0] >= 0xf0 && s[0] <= 0xf4)
	{
		n = 4;
		c = s[0] & 0x07;
		least = 0x10000;
	}
	else
		n = 0;

	if (n == 0 || n > left)
	{
		(*off)++;
		return HB_JSON_BAD;
	}
	for (uint32_t i = 1; i < n; i++)
	{
		if ((s[i] & 0xc0) != 0x80)
		{
			(*off)++;
			return HB_JSON_BAD;
		}
		c = (c << 6) | (s[i] & 0x3f);
	}
	if (c < least || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
	{
		(*off)++;
		return HB_JSON_BAD;
	}
	*off += n;
	return c;
}

uint32_t
hb_json_char(const char *text, uint32_t end, uint32_t *off, bool raw, bool *escape)
{
	unsigned char c = (unsigned char) text[*off];
	uint32_t	u;

	*escape = false;
	if (c != '\\')
	{
		if (c >= 0x80 && raw)
			return json_utf8(text, end, off);
		(*off)++;
		return c;
	}

	*escape = true;
	*off += 2;
	switch (text[*off - 1])
	{
		case 'b':
			return '\b';
		case 'f':
			return '\f';
		case 'n':
			return '\n';
		case 'r':
			return '\r';
		case 't':
			return '\t';
		case 'u':
			break;
		default:
			return (unsigned char) text[*off - 1];
	}

	u = json_unicode(text + *off);
	*off += 4;
	if (u == 0 || (u >= 0xdc00 && u <= 0xdfff))
		return HB_JSON_BAD;
	if (u >= 0xd800 && u <= 0xdbff)
	{
		uint32_t	low;

		if (end - *off < 6 || text[*off] != '\\' || text[*off + 1] != 'u')
			return HB_JSON_BAD;
		low = json_unicode(text + *off + 2);
		if (low < 0xdc00 || low > 0xdfff)
			return HB_JSON_BAD;
		*off += 6;
		u = 0x10000 + ((u - 0xd800) << 10) + (low - 0xdc00);
	}
	return u;
}
