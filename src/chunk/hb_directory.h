/*
 * hb_directory.h
 *		The directory of a chunk: what its bytes say, as structs.
 *
 * The body is described in the order in which it lies; the directory holds
 * lengths only, and whatever follows from the number of rows is not stored
 * either.  Reading it assigns the offsets.
 */
#ifndef HB_DIRECTORY_H
#define HB_DIRECTORY_H

#include "chunk/hb_chunk.h"
#include "codec/hb_buf.h"

#define HB_GROUP_ROWS	64		/* rows of a group of fixed-width values */
#define HB_SUB_ENTRY	14		/* bytes of an entry of the sub-block table */
#define HB_SUB_GROUP	16		/* entries of a group: offset of the first
								 * sub-block (8 bytes), entries, checksum */
#define HB_BOUND_LEN	16		/* bytes kept of a page's min and max */
#define HB_BOUND_ENTRY	(2 * (HB_BOUND_LEN + 1))
#define HB_MAX_WIDTH	4096	/* width of any fixed-width value */
#define HB_MAX_FIXED	64		/* widest FIXED column without a hash index */
#define HB_MAX_COLUMNS	4096
#define HB_MAX_VALUE	(1U << 30)	/* bytes of one value */

/* What a checksum belongs to (hb_crc_seed). */
typedef enum HbSeed
{
	HB_SEED_DIRECTORY = 1,
	HB_SEED_TABLE,				/* page table of an integer column */
	HB_SEED_PAGE,
	HB_SEED_NULLS,
	HB_SEED_SLICE,				/* dictionary: owner is its index */
	HB_SEED_FENCES,
	HB_SEED_TOP,
	HB_SEED_FILTER,
	HB_SEED_LIST,
	HB_SEED_GROUP,
	HB_SEED_HASH,
	HB_SEED_SUBBLOCK,
	HB_SEED_SUBTABLE,
	HB_SEED_PAGE_INDEX,
	HB_SEED_BOUNDS
} HbSeed;

/* Owners of the two hidden columns of the block offsets. */
#define HB_OWNER_NUMBERS	0xFFFE
#define HB_OWNER_FIRSTS		0xFFFF

typedef enum HbIntKind
{
	HB_INT_PAGED,
	HB_INT_UNARY,				/* pages of hb_unary.h */
	HB_INT_CONST,				/* every row is min; no nulls */
	HB_INT_SEQ,					/* row - first row of its block, + base in the
								 * first block */
	HB_INT_BLOCKNUM				/* the block number */
} HbIntKind;

typedef struct HbIntDesc
{
	uint8_t		kind;			/* HbIntKind */
	uint8_t		codec;			/* HB_CODEC_xxx a page may have */
	uint8_t		mode0;			/* a single page's mode */
	uint8_t		vbytes;			/* bytes of a bound in the page table */
	bool		nulls;			/* page table has null counts */
	uint32_t	n;				/* rows */
	uint32_t	npages;
	uint32_t	table_len;		/* 0 when there is one page at most */
	int64_t		min;			/* over non-null rows */
	int64_t		max;
	int64_t		base;			/* SEQ */
	uint64_t	table_off;
	uint64_t	pages_off;
	uint64_t	pages_len;
} HbIntDesc;

typedef struct HbDictDesc
{
	uint32_t	n;				/* entries */
	uint16_t	width;			/* of every (padded) value, or 0 */
	uint8_t		shift;			/* 2^shift entries a slice */
	bool		stripped;
	uint32_t	nslices;
	uint32_t	ngroups;		/* of fences; 0 with a single slice */
	uint32_t	filter_blocks;	/* 0 with a single slice */
	uint64_t	top_off;		/* ngroups keys and a checksum, if ngroups > 1 */
	uint64_t	fences_off;
	uint64_t	filter_off;
	uint64_t	slices_off;
	uint64_t	slices_len;
} HbDictDesc;

typedef enum HbColKind
{
	HB_COL_INT = 1,
	HB_COL_DICT,
	HB_COL_FIXED,
	HB_COL_VAR,
	HB_COL_NULL,
	HB_COL_DERIVED,
	HB_COL_PREV
} HbColKind;

typedef struct HbColDesc
{
	uint8_t		kind;			/* HbColKind */
	uint8_t		phys;			/* HbPhys as a reader sees it */
	uint8_t		derive_code;
	bool		bounds;			/* FIXED, VAR: page bounds are kept */
	uint8_t		rowbits;		/* of the hash index */
	uint16_t	column_no;
	uint16_t	width;			/* FIXED, DICT */
	uint16_t	sub_flags;		/* VAR with one sub-block */
	uint32_t	null_count;
	uint32_t	dict;
	uint32_t	hash_lines;		/* 0: no hash index */
	uint32_t	nsub;			/* VAR: sub-blocks */
	uint32_t	sub_raw_len;	/* VAR with one sub-block */
	uint32_t	prev_col;		/* PREV: index of the other column */
	HbIntDesc	ints;			/* INT values, DICT codes, VAR lengths */
	uint64_t	nulls_off;		/* INT, FIXED, VAR with nulls */
	uint64_t	lists_off;		/* DICT, with more than one page */
	uint64_t	lists_len;
	uint64_t	values_off;		/* FIXED groups, VAR sub-blocks */
	uint64_t	values_len;
	uint64_t	hash_off;
	uint64_t	subtable_off;	/* VAR, nsub > 1 */
	uint64_t	index_off;		/* VAR, nsub > 0 and npages > 1 */
	uint64_t	bounds_off;		/* with more than one page */
	uint64_t	bytes;			/* of the body */
	HbSlice		first;			/* PREV: the first row's value */
	HbSlice		bound_entry;	/* bounds of a single page */
} HbColDesc;

typedef struct HbDirectory
{
	uint32_t	nrows;
	uint32_t	npages;
	uint32_t	ncols;
	uint32_t	ndicts;
	bool		has_blocks;
	bool		consecutive;	/* block i has the number first_block + i */
	bool		dense;			/* one row a block */
	uint32_t	nblocks;
	int32_t		seq_col;		/* second sort column, -1: none */
	int64_t		first_block;
	int64_t		last_block;
	HbIntDesc	numbers;
	HbIntDesc	firsts;
	HbColDesc  *cols;
	HbDictDesc *dicts;
	uint64_t	body_len;
} HbDirectory;

/* Sizes that both sides compute. */
static inline uint32_t
hb_page_rows(uint32_t nrows, uint32_t page)
{
	uint32_t	left = nrows - page * HB_PAGE_ROWS;

	return left < HB_PAGE_ROWS ? left : HB_PAGE_ROWS;
}

static inline uint64_t
hb_nulls_size(uint32_t nrows)
{
	uint32_t	rest = nrows % HB_PAGE_ROWS;

	return (uint64_t) (nrows / HB_PAGE_ROWS) * (HB_PAGE_ROWS / 8 + 4) +
		(rest > 0 ? (rest + 7) / 8 + 4 : 0);
}

static inline uint64_t
hb_fixed_size(uint32_t nrows, uint32_t width)
{
	return (uint64_t) nrows * width +
		(uint64_t) ((nrows + HB_GROUP_ROWS - 1) / HB_GROUP_ROWS) * 4;
}

static inline uint64_t
hb_subtable_size(uint32_t nsub)
{
	return (uint64_t) nsub * HB_SUB_ENTRY + (uint64_t) ((nsub + HB_SUB_GROUP - 1) / HB_SUB_GROUP) * 12;
}

static inline uint8_t
hb_bytes_for(uint64_t v)
{
	return v == 0 ? 0 : (uint8_t) ((64 - __builtin_clzll(v) + 7) / 8);
}

/* Fills in what follows from n, min, max: npages, vbytes, table_len. */
extern void hb_int_desc_derive(HbIntDesc *d);
extern void hb_dict_desc_derive(HbDictDesc *d);

/*
 * The bytes of a directory, checksum included, appended to buf.  body_order
 * is the columns' and dictionaries' order: a dictionary stands before the
 * first column that uses it.
 */
extern void hb_directory_put(HbBuf *buf, const HbDirectory *dir, uint64_t chunk_id);

/*
 * Reads and checks a directory.  Allocates cols and dicts in one piece at
 * dir->cols; slices in it point into data.  False with *error filled when it
 * is damaged (nothing allocated then).
 */
extern bool hb_directory_get(HbMem *mem, const uint8_t *data, size_t len,
							 uint64_t chunk_id, HbDirectory *dir, HbError *error);

extern void hb_error_set(HbError *error, HbErrorCode code, const char *part,
						 int32_t column, int64_t page, const char *detail);

#endif							/* HB_DIRECTORY_H */
