/*
 * hb_dict.h
 *		Pieces of a sorted dictionary: slices of entries, and fences.
 *
 * A dictionary's values are in one of three forms.
 *	 stripped	all values are shown at a width W by padding with zero bytes
 *				on the left; stored without leading zero bytes, ordered by
 *				(length, bytes), which is the order of the padded values
 *	 fixed		all values have width W, in memcmp order
 *	 variable	W is 0: any lengths, in memcmp order, shorter first on a tie
 *
 * A slice holds 2^shift entries (the last slice fewer):
 *	 varint least length (of the suffixes), varint greatest - least,
 *	 varint length of the common prefix, the prefix,
 *	 if lengths differ: length - least of each entry (1 byte each, or 2 when
 *	 greatest - least > 255), then the suffixes one behind the other.
 * In a stripped slice whose lengths differ there is no prefix.
 *
 * A fence group: the offset of its first slice in the slices part (4 bytes),
 * then for each of up to 64 slices the key of its first entry (8 bytes, as a
 * big-endian number) and where it ends (4 bytes), then a checksum.  A key is
 * the first 8 bytes of the value padded with zeros on the right; in a
 * stripped dictionary the length and the first 7 bytes of the stripped value.
 */
#ifndef HB_DICT_H
#define HB_DICT_H

#include "codec/hb_buf.h"

#define HB_DICT_MAX_VALUE	4096	/* longer values are not in dictionaries */
#define HB_DICT_MAX_STRIP	64		/* widest stripped column */
#define HB_DICT_MAX_SHIFT	6
#define HB_FENCE_GROUP		64
#define HB_FENCE_ENTRY		12

static inline size_t
hb_fence_group_size(uint32_t n)
{
	return 4 + (size_t) n * HB_FENCE_ENTRY + 4;
}

/* Takes off leading zero bytes. */
static inline HbSlice
hb_dict_strip(HbSlice v)
{
	while (v.len > 0 && v.data[0] == 0)
	{
		v.data++;
		v.len--;
	}
	return v;
}

/* The fence key of a value (already stripped, if that is the form). */
extern uint64_t hb_dict_key(HbSlice value, bool stripped);

/* The order of a dictionary's values as they are stored. */
static inline int
hb_dict_cmp(HbSlice a, HbSlice b, bool stripped)
{
	if (stripped && a.len != b.len)
		return a.len < b.len ? -1 : 1;
	return hb_slice_cmp(a, b);
}

/* Appends a slice of n >= 1 ordered values. */
extern void hb_dict_slice_put(HbBuf *buf, const HbSlice *values, uint32_t n, bool stripped);

/*
 * A slice as it is used: entry i is data + off[i], of off[i + 1] - off[i]
 * bytes; off is NULL when all have the dictionary's width.
 */
typedef struct HbDictSlice
{
	uint32_t	n;
	uint32_t	width;
	uint32_t   *off;
	uint8_t    *data;
} HbDictSlice;

/*
 * Parses a slice of n entries of a dictionary of width W; allocates what it
 * points to from mem in one piece (at out->data if off is NULL, else at
 * out->off).  False when damaged, with nothing allocated.
 */
extern bool hb_dict_slice_get(HbMem *mem, const uint8_t *src, size_t len, uint32_t n,
							  bool stripped, uint32_t width, HbDictSlice *out);

static inline HbSlice
hb_dict_slice_entry(const HbDictSlice *s, uint32_t i)
{
	HbSlice		v;

	if (s->off != NULL)
	{
		v.data = s->data + s->off[i];
		v.len = s->off[i + 1] - s->off[i];
	}
	else
	{
		v.data = s->data + (size_t) i * s->width;
		v.len = s->width;
	}
	return v;
}

/* The first entry >= value (padded, if stripped); n if none. */
extern uint32_t hb_dict_slice_lower(const HbDictSlice *s, HbSlice value);

/* Fence group: the key of slice i, and where slices begin and end. */
static inline uint64_t
hb_fence_key(const uint8_t *group, uint32_t i)
{
	return hb_get64(group + 4 + i * HB_FENCE_ENTRY);
}

static inline uint32_t
hb_fence_end(const uint8_t *group, uint32_t i)
{
	return hb_get32(group + 4 + i * HB_FENCE_ENTRY + 8);
}

static inline uint32_t
hb_fence_begin(const uint8_t *group, uint32_t i)
{
	return i == 0 ? hb_get32(group) : hb_fence_end(group, i - 1);
}

#endif							/* HB_DICT_H */
