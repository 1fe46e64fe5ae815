/*
 * hb_feed_value.c
 *		One JSON value of a block document to one stored value, exactly.
 *
 * Hexadecimal is taken in any case, quantities with leading zeros too; what is
 * stored is the value, so what comes back is canonical.  A quantity may also
 * be a JSON integer, which trace_block and portals use.  Whatever else does
 * not fit is refused with the block's number and the member's path; paths are
 * worked out only then, by walking down from the document.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "chain/hb_feed.h"
#include "mb/pg_wchar.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"
#include "utils/timestamp.h"

#define UNIX_EPOCH_SECONDS \
	((int64) (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * SECS_PER_DAY)

/* Values of hexadecimal digits; -1 for other bytes. */
static const int8 hex_digit[256] = {
	-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
	-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
	-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
	0, 1, 2, 3, 4, 5, 6, 7, 8, 9, -1, -1, -1, -1, -1, -1,
	-1, 10, 11, 12, 13, 14, 15, -1, -1, -1, -1, -1, -1, -1, -1, -1,
	-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
	-1, 10, 11, 12, 13, 14, 15, -1, -1, -1, -1, -1, -1, -1, -1, -1,
	-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
	-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
	-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
	-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
	-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
	-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
	-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
	-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
	-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1
};

/*
 * Errors
 */

/* The text of a value, for a message: short and in plain ASCII. */
static char *
feed_excerpt(HbFeed *feed, uint32 node)
{
	const HbJsonNode *n = hb_feed_node(feed, node);
	StringInfoData buf;
	bool		quoted = n->type == HB_JSON_STRING;
	uint32		len = Min(n->len, 60);

	initStringInfo(&buf);
	if (quoted)
		appendStringInfoChar(&buf, '"');
	for (uint32 i = 0; i < len; i++)
	{
		char		c = feed->json.text[n->off + i];

		appendStringInfoChar(&buf, c >= ' ' && c < 0x7f ? c : '?');
	}
	if (len < n->len)
		appendStringInfoString(&buf, "...");
	if (quoted)
		appendStringInfoChar(&buf, '"');
	return buf.data;
}

/*
 * Where a node stands, such as receipts[3].logs[0].address: at every level,
 * the member or element whose run of nodes holds it.
 */
char *
hb_feed_path(HbFeed *feed, uint32 node)
{
	const HbJsonNode *nodes = feed->json.nodes;
	StringInfoData buf;
	uint32		at = 0;

	initStringInfo(&buf);
	while (at != node)
	{
		bool		object = nodes[at].type == HB_JSON_OBJECT;
		uint32		end = nodes[at].next;
		uint32		child = at + 1;
		uint32		index = 0;

		while (child < end)
		{
			uint32		value = object ? child + 1 : child;

			if (node < nodes[value].next)
				break;
			child = nodes[value].next;
			index++;
		}
		if (child >= end)
			break;
		if (object)
		{
			if (buf.len > 0)
				appendStringInfoChar(&buf, '.');
			for (uint32 i = 0; i < nodes[child].len; i++)
			{
				char		c = feed->json.text[nodes[child].off + i];

				appendStringInfoChar(&buf, c >= ' ' && c < 0x7f ? c : '?');
			}
			at = child + 1;
		}
		else
		{
			appendStringInfo(&buf, "[%u]", index);
			at = child;
		}
		if (node < at)
			break;				/* a member's name */
	}
	return buf.data;
}

static char *
feed_block_name(HbFeed *feed)
{
	if (feed->has_number)
		return psprintf("block " INT64_FORMAT, feed->number);
	return psprintf("block");
}

void
hb_feed_bad(HbFeed *feed, uint32 node, const char *detail,...)
{
	char	   *path = hb_feed_path(feed, node);
	StringInfoData buf;

	initStringInfo(&buf);
	for (;;)
	{
		va_list		args;
		int			needed;

		va_start(args, detail);
		needed = appendStringInfoVA(&buf, detail, args);
		va_end(args);
		if (needed == 0)
			break;
		enlargeStringInfo(&buf, needed);
	}
	ereport(ERROR,
			(errcode(HB_ERRCODE_MALFORMED_BLOCK),
			 errmsg("malformed %s: invalid value of \"%s\"",
					feed_block_name(feed), *path ? path : "document"),
			 errdetail("%s %s", feed_excerpt(feed, node), buf.data)));
}

void
hb_feed_missing(HbFeed *feed, uint32 object, const char *member)
{
	char	   *path = hb_feed_path(feed, object);

	ereport(ERROR,
			(errcode(HB_ERRCODE_MALFORMED_BLOCK),
			 errmsg("malformed %s: \"%s%s%s\" is missing",
					feed_block_name(feed), path, *path ? "." : "", member)));
}

void
hb_feed_expect(HbFeed *feed, uint32 node, HbJsonType type)
{
	if (hb_feed_node(feed, node)->type != type)
		hb_feed_bad(feed, node, "is not %s.",
					type == HB_JSON_OBJECT ? "an object" :
					type == HB_JSON_ARRAY ? "an array" : "a string");
}

/*
 * Hexadecimal
 */

/* The digits behind 0x; false when the string does not start so. */
static bool
feed_digits(HbFeed *feed, const HbJsonNode *n, const uint8 **digits, uint32 *len)
{
	const char *s = feed->json.text + n->off;

	if (n->type != HB_JSON_STRING || n->len < 2 || s[0] != '0' ||
		(s[1] != 'x' && s[1] != 'X'))
		return false;
	*digits = (const uint8 *) s + 2;
	*len = n->len - 2;
	return true;
}

/* Byte strings: 0x and an even number of digits. */
HbSlice
hb_feed_data(HbFeed *feed, uint32 node, int width)
{
	const HbJsonNode *n = hb_feed_node(feed, node);
	const uint8 *digits;
	uint32		len;
	uint8	   *out;
	uint32		bad = 0;
	HbSlice		result;

	if (!feed_digits(feed, n, &digits, &len))
		hb_feed_bad(feed, node, "is not a string of \"0x\" and hexadecimal digits.");
	if (len % 2 != 0)
		hb_feed_bad(feed, node, "has an odd number of hexadecimal digits.");
	len /= 2;
	if (width > 0 && len != (uint32) width)
		hb_feed_bad(feed, node, "has %u bytes instead of %d.", len, width);

	out = hb_feed_alloc(feed, len);
	for (uint32 i = 0; i < len; i++)
	{
		uint32		v = ((uint32) hex_digit[digits[2 * i]] << 4) |
			(uint32) hex_digit[digits[2 * i + 1]];

		/* -1 for one of the two leaves bits above the byte */
		bad |= v;
		out[i] = (uint8) v;
	}
	if (bad & ~0xffU)
		hb_feed_bad(feed, node, "has a character that is not a hexadecimal digit.");
	result.data = out;
	result.len = len;
	return result;
}

/* A JSON integer as big-endian bytes in buf (32); their number, -1 too big. */
static int
feed_decimal_bytes(const char *s, uint32 len, uint8 buf[32])
{
	int			first;

	memset(buf, 0, 32);
	if (len > 78)				/* 2^256 has 78 digits */
		return -1;
	for (uint32 i = 0; i < len; i++)
	{
		uint32		carry = (uint32) (s[i] - '0');

		for (int b = 31; b >= 0; b--)
		{
			carry += (uint32) buf[b] * 10;
			buf[b] = (uint8) carry;
			carry >>= 8;
		}
		if (carry != 0)
			return -1;
	}
	for (first = 0; first < 32 && buf[first] == 0; first++)
		;
	return 32 - first;
}

/*
 * A quantity, 0 to 2^256 - 1, as big-endian bytes without leading zeros: none
 * for zero.
 */
HbSlice
hb_feed_quantity(HbFeed *feed, uint32 node)
{
	const HbJsonNode *n = hb_feed_node(feed, node);
	const uint8 *digits;
	uint32		len;
	uint8	   *out;
	uint32		bad = 0;
	uint32		pos = 0;
	HbSlice		result;

	if (n->type == HB_JSON_NUMBER)
	{
		const char *s = feed->json.text + n->off;
		uint8		buf[32];
		int			nbytes;

		if (strspn(s, "0123456789") < n->len)
			hb_feed_bad(feed, node, "is not an integer of zero or more.");
		nbytes = feed_decimal_bytes(s, n->len, buf);
		if (nbytes < 0)
			hb_feed_bad(feed, node, "is more than 2^256 - 1.");
		out = hb_feed_alloc(feed, nbytes);
		memcpy(out, buf + 32 - nbytes, nbytes);
		result.data = out;
		result.len = nbytes;
		return result;
	}

	if (!feed_digits(feed, n, &digits, &len))
		hb_feed_bad(feed, node, "is not a quantity, \"0x\" and hexadecimal digits.");
	if (len == 0)
		hb_feed_bad(feed, node, "has no digits.");
	for (uint32 i = 0; i < len; i++)
		bad |= (uint32) (int) hex_digit[digits[i]];
	if (bad & ~0xffU)
		hb_feed_bad(feed, node, "has a character that is not a hexadecimal digit.");
	while (len > 0 && digits[0] == '0')
	{
		digits++;
		len--;
	}
	if (len > 64)
		hb_feed_bad(feed, node, "is more than 2^256 - 1.");

	out = hb_feed_alloc(feed, (len + 1) / 2);
	if (len % 2 != 0)
		out[pos++] = (uint8) hex_digit[*digits++];
	for (uint32 i = 0; i < len / 2; i++)
		out[pos++] = (uint8) ((hex_digit[digits[2 * i]] << 4) | hex_digit[digits[2 * i + 1]]);
	result.data = out;
	result.len = pos;
	return result;
}

/* A quantity as exactly width bytes. */
HbSlice
hb_feed_padded(HbFeed *feed, uint32 node, int width)
{
	HbSlice		q = hb_feed_quantity(feed, node);
	uint8	   *out;

	if (q.len > (uint32) width)
		hb_feed_bad(feed, node, "is longer than %d bytes.", width);
	out = hb_feed_alloc(feed, width);
	memset(out, 0, width - q.len);
	memcpy(out + width - q.len, q.data, q.len);
	q.data = out;
	q.len = width;
	return q;
}

int64
hb_feed_int(HbFeed *feed, uint32 node, int64 max)
{
	HbSlice		q = hb_feed_quantity(feed, node);
	uint64		v = 0;

	for (uint32 i = 0; i < q.len && i < 8; i++)
		v = (v << 8) | q.data[i];
	if (q.len > 8 || v > (uint64) max)
		hb_feed_bad(feed, node, "is more than " INT64_FORMAT ".", max);
	return (int64) v;
}

/*
 * Text
 */

/* A character in the server's encoding, appended. */
static void
feed_append_char(HbFeed *feed, StringInfo buf, uint32 c)
{
	unsigned char out[MAX_UNICODE_EQUIVALENT_STRING + 1];

	if (c == HB_JSON_BAD)
	{
		feed->replaced++;
		if (GetDatabaseEncoding() != PG_UTF8)
		{
			appendStringInfoChar(buf, '?');
			return;
		}
		c = 0xfffd;
	}
	if (c < 0x80)
	{
		appendStringInfoChar(buf, (char) c);
		return;
	}
	pg_unicode_to_server(c, out);
	appendStringInfoString(buf, (char *) out);
}

/*
 * Decodes a string's bytes into buf.  json: write it as the inside of a JSON
 * string again.
 */
static void
feed_decode(HbFeed *feed, const HbJsonNode *n, StringInfo buf, bool json)
{
	const char *text = feed->json.text;
	uint32		end = n->off + n->len;
	uint32		p = n->off;
	bool		raw = feed->source == HB_FEED_RAW;

	while (p < end)
	{
		uint32		at = p;
		bool		escape;
		uint32		c = hb_json_char(text, end, &p, raw, &escape);

		if (json && c != HB_JSON_BAD && c < 0x80)
			appendBinaryStringInfo(buf, text + at, p - at);
		else if (!escape && !raw)
			appendStringInfoChar(buf, (char) c);	/* a byte, as it is */
		else
			feed_append_char(feed, buf, c);
	}
}

/* Can the string's bytes be taken as they stand? */
static inline bool
feed_is_plain(HbFeed *feed, const HbJsonNode *n)
{
	if (n->flags & HB_JSON_ESCAPED)
		return false;
	return !(n->flags & HB_JSON_HIGH) || feed->source == HB_FEED_SERVER;
}

HbSlice
hb_feed_string(HbFeed *feed, uint32 node)
{
	const HbJsonNode *n = hb_feed_node(feed, node);
	StringInfoData buf;
	HbSlice		result;

	hb_feed_expect(feed, node, HB_JSON_STRING);
	if (feed_is_plain(feed, n))
	{
		result.data = (const uint8 *) feed->json.text + n->off;
		result.len = n->len;
		return result;
	}
	feed->node = node;
	initStringInfo(&buf);
	feed_decode(feed, n, &buf, false);
	feed->node = HB_JSON_NONE;
	result.data = (const uint8 *) buf.data;
	result.len = buf.len;
	return result;
}

/* Is the value this string? */
bool
hb_feed_string_is(HbFeed *feed, uint32 node, const char *value)
{
	HbSlice		s;

	if (hb_feed_node(feed, node)->type != HB_JSON_STRING)
		return false;
	s = hb_feed_string(feed, node);
	return s.len == strlen(value) && memcmp(s.data, value, s.len) == 0;
}

/*
 * A value as it stands, as jsonb.  Strings that hold what jsonb would refuse
 * are written anew; otherwise the text goes to the server's parser as it is.
 */
static Datum
feed_jsonb(HbFeed *feed, uint32 node)
{
	const HbJsonNode *nodes = feed->json.nodes;
	const char *text = feed->json.text;
	const HbJsonNode *top = &nodes[node];
	uint32		end = top->off + top->len;
	uint32		done = top->off;
	StringInfoData buf;
	Datum		result;

	if (top->type == HB_JSON_STRING)
	{
		done--;
		end++;
	}
	initStringInfo(&buf);
	for (uint32 i = node; i < top->next; i++)
	{
		if (nodes[i].type != HB_JSON_STRING || feed_is_plain(feed, &nodes[i]))
			continue;
		appendBinaryStringInfo(&buf, text + done, nodes[i].off - done);
		feed->node = i;
		feed_decode(feed, &nodes[i], &buf, true);
		done = nodes[i].off + nodes[i].len;
	}
	appendBinaryStringInfo(&buf, text + done, end - done);
	feed->node = node;
	result = DirectFunctionCall1(jsonb_in, CStringGetDatum(buf.data));
	feed->node = HB_JSON_NONE;
	pfree(buf.data);
	return result;
}

/*
 * Other types
 */

/* A decimal number, in quotes or not: l1FeeScalar is "0.684". */
static Datum
feed_decimal(HbFeed *feed, uint32 node)
{
	const HbJsonNode *n = hb_feed_node(feed, node);
	const char *s = feed->json.text + n->off;
	char	   *copy;
	Datum		result;

	if (n->type != HB_JSON_NUMBER && n->type != HB_JSON_STRING)
		hb_feed_bad(feed, node, "is not a number.");
	if (n->len == 0 || n->len > 100 || strspn(s, "0123456789.eE+-") < n->len)
		hb_feed_bad(feed, node, "is not a decimal number.");
	copy = pnstrdup(s, n->len);
	feed->node = node;
	result = DirectFunctionCall3(numeric_in, CStringGetDatum(copy),
								 ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1));
	feed->node = HB_JSON_NONE;
	return result;
}

static Datum
feed_hashes(HbFeed *feed, uint32 node)
{
	const HbJsonNode *nodes = feed->json.nodes;
	int			n = 0;
	Datum	   *elems;

	hb_feed_expect(feed, node, HB_JSON_ARRAY);
	for (uint32 i = node + 1; i < nodes[node].next; i = nodes[i].next)
		n++;
	if (n == 0)
		return PointerGetDatum(construct_empty_array(BYTEAOID));
	elems = palloc(n * sizeof(Datum));
	n = 0;
	for (uint32 i = node + 1; i < nodes[node].next; i = nodes[i].next)
	{
		HbSlice		hash = hb_feed_data(feed, i, 32);
		bytea	   *b = palloc(VARHDRSZ + hash.len);

		SET_VARSIZE(b, VARHDRSZ + hash.len);
		memcpy(VARDATA(b), hash.data, hash.len);
		elems[n++] = PointerGetDatum(b);
	}
	return PointerGetDatum(construct_array(elems, n, BYTEAOID, -1, false, TYPALIGN_INT));
}

static int64
feed_timestamp(HbFeed *feed, uint32 node)
{
	int64		seconds = hb_feed_int(feed, node, PG_INT64_MAX);
	int64		since = seconds - UNIX_EPOCH_SECONDS;

	if (since > PG_INT64_MAX / USECS_PER_SEC ||
		!IS_VALID_TIMESTAMP(since * USECS_PER_SEC))
		hb_feed_bad(feed, node, "is past the last timestamp.");
	return since * USECS_PER_SEC;
}

static int64
feed_int_max(Oid type)
{
	return type == INT2OID ? PG_INT16_MAX :
		type == INT4OID ? PG_INT32_MAX : PG_INT64_MAX;
}

/* A member's value for a column.  Memory is of the document. */
HbPhysValue
hb_feed_value(HbFeed *feed, uint32 node, HbFeedConv conv, HbColumn *column)
{
	HbPhysValue v = {0};
	HbSlice		q;
	uint8	   *out;

	if (hb_feed_node(feed, node)->type == HB_JSON_NULL)
	{
		v.isnull = true;
		return v;
	}

	switch (conv)
	{
		case HB_CONV_DATA:
			v.bytes = hb_feed_data(feed, node, column->width);
			break;
		case HB_CONV_PADDED:
			v.bytes = hb_feed_padded(feed, node, column->width);
			break;
		case HB_CONV_INT:
			v.i = hb_feed_int(feed, node, feed_int_max(column->type));
			break;
		case HB_CONV_NUM:
			q = hb_feed_quantity(feed, node);
			out = hb_feed_alloc(feed, q.len + 1);
			out[0] = (uint8) q.len;
			memcpy(out + 1, q.data, q.len);
			v.bytes.data = out;
			v.bytes.len = q.len + 1;
			break;
		case HB_CONV_DECIMAL:
			hb_value_to_phys(&column->value, feed_decimal(feed, node), &v.i, &v.bytes);
			break;
		case HB_CONV_SECONDS:
			v.i = feed_timestamp(feed, node);
			break;
		case HB_CONV_BOOL:
			if (hb_feed_node(feed, node)->type != HB_JSON_TRUE &&
				hb_feed_node(feed, node)->type != HB_JSON_FALSE)
				hb_feed_bad(feed, node, "is not true or false.");
			v.i = hb_feed_node(feed, node)->type == HB_JSON_TRUE;
			break;
		case HB_CONV_TEXT:
			v.bytes = hb_feed_string(feed, node);
			break;
		case HB_CONV_JSON:
			hb_value_to_phys(&column->value, feed_jsonb(feed, node), &v.i, &v.bytes);
			break;
		case HB_CONV_HASHES:
			hb_value_to_phys(&column->value, feed_hashes(feed, node), &v.i, &v.bytes);
			break;
	}
	return v;
}

/* 0x-hex of bytes, for messages and keys. */
char *
hb_feed_hex(const void *data, uint32 len)
{
	char	   *out = palloc(2 + (Size) len * 2 + 1);

	out[0] = '0';
	out[1] = 'x';
	hex_encode(data, len, out + 2);
	out[2 + (Size) len * 2] = '\0';
	return out;
}
