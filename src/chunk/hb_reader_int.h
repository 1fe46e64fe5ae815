/*
 * hb_reader_int.h
 *		What the files of the reader share.
 *
 * A reader owns everything that it has read and wants to keep: page tables,
 * the last page of each integer column, fences, small filters, dictionary
 * slices (they stay, because entries must), the values of the last page of
 * each column of byte strings, and hash indexes that are asked again and again.  All of it comes from one counted allocator.
 */
#ifndef HB_READER_INT_H
#define HB_READER_INT_H

#include "chunk/hb_account.h"
#include "chunk/hb_chunk.h"
#include "chunk/hb_directory.h"
#include "codec/hb_crc32c.h"
#include "codec/hb_dict.h"

#define HB_NO_PAGE	UINT32_MAX

typedef struct HbPageEntry
{
	int64_t		min;
	int64_t		max;
	uint32_t	off;			/* of the payload in the pages part */
	uint16_t	len;			/* of the payload; 0: none */
	uint16_t	nulls;
	uint8_t		mode;
} HbPageEntry;

/* An integer column as it is being read. */
typedef struct HbIntCol
{
	const HbIntDesc *d;
	uint16_t	owner;
	uint8_t		table_part;		/* HbPartKind for the counters */
	uint8_t		page_part;
	HbPageEntry *entries;		/* npages, once loaded */
	uint8_t    *buf;			/* payload of the last page, codec undone */
	uint32_t	buf_cap;
	uint32_t	buf_page;
	int64_t    *decoded;		/* a decoded page, for searches */
	uint32_t	decoded_page;
} HbIntCol;

/* Memory for the values of a page: given back all at once. */
typedef struct HbPool
{
	uint8_t    *block;
	size_t		cap;
	size_t		used;
	size_t		total;			/* of all blocks since the last reset */
	HbSlice    *old;			/* blocks that were too small */
	uint32_t	nold;
} HbPool;

typedef struct HbSub
{
	uint64_t	off;			/* in the values part */
	uint32_t	first_row;
	uint32_t	raw_len;
	uint32_t	len;			/* stored, with checksum */
	uint16_t	flags;
	const uint8_t *data;		/* decoded, or NULL */
} HbSub;

/* The page of byte strings that was read last. */
typedef struct HbValues
{
	uint32_t	page;
	HbPool		pool;
	const uint8_t *groups[HB_PAGE_ROWS / HB_GROUP_ROWS];	/* FIXED */
	uint64_t   *offs;			/* VAR: sums of lengths, rows + 1 */
	uint32_t   *lens;
	uint8_t    *index;			/* VAR: the page index, once loaded */
	uint32_t	first_off;		/* of the page's first value in its sub-block */
	HbSub	   *subs;			/* those of the page */
	uint32_t	nsubs;
	uint32_t	subs_cap;
	uint32_t	first_sub;
	uint32_t	edge_page;		/* PREV: page whose last value is in edge */
	uint8_t    *edge;
	uint32_t	edge_len;
	uint32_t	edge_cap;
} HbValues;

typedef struct HbRCol
{
	const HbColDesc *d;
	HbColumnInfo info;
	HbIntCol	ints;
	HbValues   *values;
	uint8_t    *bounds;			/* page bounds, once loaded */
	uint64_t   *nulls;			/* of nulls_page */
	uint32_t	nulls_page;
	uint32_t	probes;			/* lines of the hash index that were read */
	uint8_t    *lines;			/* all of them, once there were many */
} HbRCol;

typedef struct HbRDict
{
	const HbDictDesc *d;
	uint8_t    *top;			/* keys of groups, once loaded */
	uint8_t   **groups;			/* [ngroups], each once loaded */
	uint8_t    *filter;			/* a small one, once loaded */
	HbDictSlice **slices;		/* [ngroups or 1], each HB_FENCE_GROUP; n = 0:
								 * not loaded */
} HbRDict;

struct HbReader
{
	HbAccount	account;
	HbMem	   *mem;
	HbMem		outer;
	uint64_t	chunk_id;
	HbSource	source;
	HbDirectory dir;
	uint8_t    *dir_copy;
	HbRCol	   *cols;
	HbRDict    *dicts;
	HbIntCol	numbers;
	HbIntCol	firsts;
	uint64_t	starts[HB_PAGE_WORDS];	/* of starts_page */
	uint32_t	starts_page;
	uint8_t    *scratch;
	size_t		scratch_cap;
	HbReadStats stats;
	HbError		error;
};

/* Always returns false, with r->error filled. */
extern bool hb_reader_fail(HbReader *r, const char *part, uint16_t owner, int64_t page,
						   const char *detail);

/* Reads bytes of the body. */
extern bool hb_reader_read(HbReader *r, HbPartKind part, uint64_t off, uint32_t len, uint8_t *dst);

/* At least len bytes of scratch memory, valid until the next call. */
extern uint8_t *hb_reader_scratch(HbReader *r, size_t len);

/* Does the checksum at data + len belong to the len bytes before it? */
extern bool hb_reader_crc(const HbReader *r, const uint8_t *data, size_t len, uint16_t owner,
						  uint8_t kind, uint32_t index);

/* hb_reader_ints.c */
extern void hb_intcol_init(HbIntCol *ic, const HbIntDesc *d, uint16_t owner, bool blocks);
extern void hb_intcol_free(HbReader *r, HbIntCol *ic);
extern bool hb_intcol_entry(HbReader *r, HbIntCol *ic, uint32_t page, const HbPageEntry **entry);
extern bool hb_intcol_page(HbReader *r, HbIntCol *ic, uint32_t page, int64_t *out);
extern bool hb_intcol_page32(HbReader *r, HbIntCol *ic, uint32_t page, uint32_t max, uint32_t *out);
extern bool hb_intcol_decoded(HbReader *r, HbIntCol *ic, uint32_t page, const int64_t **out);

/* hb_reader_blocks.c */
extern bool hb_reader_page_starts(HbReader *r, uint32_t page, const uint64_t **starts);
extern bool hb_reader_sequence(HbReader *r, const HbIntDesc *d, uint32_t page, int64_t *out);

#endif							/* HB_READER_INT_H */
