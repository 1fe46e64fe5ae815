/*
 * hb_json.h
 *		A JSON document as an array of nodes over its own text.  Plain C.
 *
 * PostgreSQL's parsers copy every string and refuse \u0000 and lone surrogates
 * before one can say where they stand; block documents are megabytes of
 * hexadecimal strings, and revert reasons hold anything.  So the document is
 * parsed once into nodes that point into the text, in document order:
 *
 *	 - a value is one node, followed by the nodes of what it contains;
 *	 - an object's members are a STRING node for the name and then the value;
 *	 - next is the number of the node after the value and all within it.
 *
 * Nothing is copied or decoded, and nothing recurses: an open container keeps
 * its parent's number in next until it is closed, so nesting costs no stack.
 * The grammar is that of RFC 8259, without exception.
 */
#ifndef HB_JSON_H
#define HB_JSON_H

#include "codec/hb_mem.h"

typedef enum HbJsonType
{
	HB_JSON_NULL,
	HB_JSON_FALSE,
	HB_JSON_TRUE,
	HB_JSON_NUMBER,
	HB_JSON_STRING,
	HB_JSON_ARRAY,
	HB_JSON_OBJECT
} HbJsonType;

/* A string with a backslash, and one with bytes that are not ASCII. */
#define HB_JSON_ESCAPED		0x01
#define HB_JSON_HIGH		0x02

typedef struct HbJsonNode
{
	uint32_t	off;			/* STRING: behind the quote, else first byte */
	uint32_t	len;			/* bytes: STRING between the quotes */
	uint32_t	next;
	uint8_t		type;
	uint8_t		flags;
} HbJsonNode;

typedef struct HbJson
{
	HbMem	   *mem;			/* owns nodes, which later parses use again */
	HbJsonNode *nodes;
	uint32_t	nnodes;
	uint32_t	maxnodes;
	const char *text;			/* the caller's */
	uint32_t	len;
	const char *error;			/* static string, when parse failed */
	uint32_t	error_off;		/* byte that it is about */
} HbJson;

/* Node 0 is the document, so no member or element has this number. */
#define HB_JSON_NONE	0

/*
 * The longest text: offsets are 32 bits wide, and no text of the server's is
 * longer.
 */
#define HB_JSON_MAX_LEN		0x7fffffffU
#define HB_JSON_CHECK_NODES	8192	/* between two looks for interrupts */

extern void hb_json_init(HbJson *json, HbMem *mem);

/*
 * Parses len bytes (at most HB_JSON_MAX_LEN), which must stay as they are while
 * nodes are used.  False, with error and error_off, when it is not JSON.
 */
extern bool hb_json_parse(HbJson *json, const char *text, size_t len);
extern void hb_json_free(HbJson *json);

/*
 * One step in the bytes of a string, whose escapes the parser has checked:
 * returns the code point that starts at *off and moves *off behind it.
 * HB_JSON_BAD for what no text can hold: U+0000, half of a surrogate pair, or
 * a byte that begins no valid UTF-8 sequence.  raw: bytes above 0x7f are
 * taken as UTF-8; without it only escapes are decoded, and other bytes are
 * returned as they are with *escape false.
 */
#define HB_JSON_BAD		0xffffffffU
extern uint32_t hb_json_char(const char *text, uint32_t end, uint32_t *off,
							 bool raw, bool *escape);

#endif							/* HB_JSON_H */
