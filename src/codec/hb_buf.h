/*
 * hb_buf.h
 *		A growing byte buffer, a bounded cursor, and variable-length integers.
 *
 * A varint is little-endian base 128 (seven bits a byte, the high bit says
 * that more follow, at most ten bytes); a signed one is zigzag-coded first.
 */
#ifndef HB_BUF_H
#define HB_BUF_H

#include "codec/hb_mem.h"

typedef struct HbBuf
{
	HbMem	   *mem;
	uint8_t    *data;
	size_t		len;
	size_t		cap;
} HbBuf;

static inline void
hb_buf_init(HbBuf *buf, HbMem *mem)
{
	buf->mem = mem;
	buf->data = NULL;
	buf->len = 0;
	buf->cap = 0;
}

/* Makes room for n more bytes and returns where they begin. */
static inline uint8_t *
hb_buf_room(HbBuf *buf, size_t n)
{
	if (buf->cap - buf->len < n)
	{
		size_t		cap = buf->cap * 2 + n + 64;

		if (buf->data == NULL)
			buf->data = hb_alloc(buf->mem, cap);
		else
			buf->data = hb_realloc(buf->mem, buf->data, cap);
		buf->cap = cap;
	}
	return buf->data + buf->len;
}

static inline void
hb_buf_put(HbBuf *buf, const void *data, size_t n)
{
	uint8_t    *p = hb_buf_room(buf, n);

	if (n > 0)
		memcpy(p, data, n);
	buf->len += n;
}

static inline void
hb_buf_byte(HbBuf *buf, uint8_t v)
{
	*hb_buf_room(buf, 1) = v;
	buf->len++;
}

static inline void
hb_buf_varint(HbBuf *buf, uint64_t v)
{
	uint8_t    *p = hb_buf_room(buf, 10);
	int			n = 0;

	while (v >= 0x80)
	{
		p[n++] = (uint8_t) (v | 0x80);
		v >>= 7;
	}
	p[n++] = (uint8_t) v;
	buf->len += n;
}

static inline void
hb_buf_svarint(HbBuf *buf, int64_t v)
{
	hb_buf_varint(buf, ((uint64_t) v << 1) ^ (uint64_t) (v >> 63));
}

static inline void
hb_buf_free(HbBuf *buf)
{
	hb_free(buf->mem, buf->data);
	buf->data = NULL;
	buf->len = 0;
	buf->cap = 0;
}

/*
 * A cursor over bytes of unknown worth.  Reading past the end sets bad and
 * yields zeros; the caller checks bad once at the end.
 */
typedef struct HbCursor
{
	const uint8_t *p;
	const uint8_t *end;
	bool		bad;
} HbCursor;

static inline uint8_t
hb_cursor_byte(HbCursor *c)
{
	if (c->p >= c->end)
	{
		c->bad = true;
		return 0;
	}
	return *c->p++;
}

static inline uint64_t
hb_cursor_varint(HbCursor *c)
{
	uint64_t	v = 0;
	int			shift = 0;

	for (;;)
	{
		uint8_t		b;

		if (c->p >= c->end || shift > 63)
		{
			c->bad = true;
			return 0;
		}
		b = *c->p++;
		v |= (uint64_t) (b & 0x7f) << shift;
		if (b < 0x80)
			return v;
		shift += 7;
	}
}

/* A varint that must not exceed max. */
static inline uint64_t
hb_cursor_varint_max(HbCursor *c, uint64_t max)
{
	uint64_t	v = hb_cursor_varint(c);

	if (v > max)
	{
		c->bad = true;
		return 0;
	}
	return v;
}

static inline int64_t
hb_cursor_svarint(HbCursor *c)
{
	uint64_t	v = hb_cursor_varint(c);

	return (int64_t) ((v >> 1) ^ (~(v & 1) + 1));
}

static inline const uint8_t *
hb_cursor_bytes(HbCursor *c, size_t n)
{
	const uint8_t *p = c->p;

	if ((size_t) (c->end - c->p) < n)
	{
		c->bad = true;
		return NULL;
	}
	c->p += n;
	return p;
}

#endif							/* HB_BUF_H */
