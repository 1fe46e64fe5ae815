/*
 * hb_chunk.h
 *		A chunk: an immutable run of rows of one table, built once from rows
 *		and read by parts.  Plain C; docs/format.md is the format.
 *
 * A chunk is two byte strings: its *directory* (small: what a reader must
 * know before it reads a page) and its *body* (everything else, one stream
 * of bytes that the store cuts into pieces).  The reader asks its source for
 * byte ranges of the body and never reads a part that the question does not
 * need.
 *
 * Physical values.  A column's SQL type is somebody else's business (store/
 * hb_value.h); here a value is NULL or
 *	 HB_PHYS_INT	 an int64; its order is the SQL order
 *	 HB_PHYS_BYTES	 a byte string; memcmp, shorter first on a tie
 *	 HB_PHYS_NUM	 a byte string in the "num" form: one length byte n (0..32)
 *					 and the n big-endian bytes of an integer in 0..2^256-1,
 *					 n minimal (zero: n = 0), so that memcmp is the order of
 *					 the numbers; or 0xFF and text for any other numeric,
 *					 which has no order here.  A chunk in which every
 *					 non-null value of such a column is below 2^63 stores it
 *					 as integers: the reader says which (hb_reader_phys).
 */
#ifndef HB_CHUNK_H
#define HB_CHUNK_H

#include "codec/hb_mem.h"

#define HB_FORMAT_VERSION	1
#define HB_PAGE_ROWS		1024	/* rows of a page; the last may be short */
#define HB_PAGE_WORDS		(HB_PAGE_ROWS / 64)
#define HB_CHUNK_MAX_ROWS	200000
#define HB_MAX_SORT_COLS	8

typedef enum HbPhys
{
	HB_PHYS_INT = 1,
	HB_PHYS_BYTES = 2,
	HB_PHYS_NUM = 3
} HbPhys;

/* What is to be known of a column before its first row. */
typedef struct HbColumnSpec
{
	uint16_t	column_no;		/* the number stored in the directory, unique
								 * in the chunk, ascending */
	uint8_t		phys;			/* HbPhys */
	uint8_t		domain;			/* columns of a chunk with the same nonzero
								 * domain may share one dictionary */
	uint16_t	width;			/* BYTES: the length that values ought to have
								 * (other lengths are still stored); 0: any */
	bool		hash_index;		/* BYTES: index by row where values are mostly
								 * distinct */
	bool		ordered;		/* byte order means something: keep min/max */
	int16_t		prev_of;		/* index in the spec array of the column whose
								 * value in the row before this one usually
								 * repeats (a parent hash); -1: none */
} HbColumnSpec;

typedef struct HbBuilderOptions
{
	int			block_col;		/* index of the INT column with the block
								 * number, the first sort column; -1: none */
	int			nsort;			/* sort key: indexes into the spec array */
	int16_t		sort_cols[HB_MAX_SORT_COLS];
	int			compression;	/* 0 none, 1 lz4 only, 2 lz4 and zstd */
	int			zstd_level;
} HbBuilderOptions;

typedef struct HbBuilder HbBuilder;

/*
 * Where a finished chunk's body goes: append is called with consecutive
 * ranges of the body, in order, each at most HB_SINK_MAX bytes.  It may
 * longjmp.
 */
#define HB_SINK_MAX (256 * 1024)
typedef struct HbSink
{
	void		(*append) (void *arg, const uint8_t *data, size_t len);
	void	   *arg;
} HbSink;

/* What the builder says of a finished chunk; dir belongs to the builder. */
typedef struct HbChunkInfo
{
	uint32_t	nrows;
	int64_t		first_block;	/* 0, 0 without a block column */
	int64_t		last_block;
	uint64_t	body_len;
	const uint8_t *dir;
	size_t		dir_len;
} HbChunkInfo;

/*
 * Building.  Rows are added in any order; columns of a row in any order,
 * each at most once, those not added are NULL.  The builder copies what it is
 * given.  hb_builder_sort sorts by the sort key (NULLs last, ties keep the
 * order of arrival; a no-op when rows came sorted).  finish requires sorted
 * rows and writes the first nrows of them.  A column marked derived before
 * finish is left out of the chunk: code (1..255) says how a reader gets it.
 * chunk_id goes into every checksum, so that parts of different chunks cannot
 * be mistaken for one another.
 */
extern HbBuilder *hb_builder_create(HbMem *mem, const HbColumnSpec *cols,
									int ncols, const HbBuilderOptions *options);
extern void hb_builder_begin_row(HbBuilder *b);
extern void hb_builder_add_int(HbBuilder *b, int col, int64_t value);
extern void hb_builder_add_bytes(HbBuilder *b, int col, const void *data, uint32_t len);
extern void hb_builder_end_row(HbBuilder *b);
extern uint32_t hb_builder_rows(const HbBuilder *b);
extern size_t hb_builder_bytes(const HbBuilder *b);	/* memory held by rows */
extern void hb_builder_sort(HbBuilder *b);

/* Read back a row that was added: false when NULL.  Rows are numbered in the
 * present order.  Bytes stay valid until the next row is added. */
extern bool hb_builder_get_int(const HbBuilder *b, int col, uint32_t row, int64_t *value);
extern bool hb_builder_get_bytes(const HbBuilder *b, int col, uint32_t row, HbSlice *value);

extern void hb_builder_mark_derived(HbBuilder *b, int col, uint8_t code);
extern bool hb_builder_finish(HbBuilder *b, uint32_t nrows, uint64_t chunk_id,
							  HbSink *sink, HbChunkInfo *info, HbError *error);

/* Forget the first nrows rows (those that finish wrote); keeps the rest. */
extern void hb_builder_drop(HbBuilder *b, uint32_t nrows);
extern void hb_builder_free(HbBuilder *b);

/*
 * Reading.
 *
 * The source's read copies len bytes at offset off of the body to dst; it may
 * longjmp (the server's does, for missing or short pieces), or return false.
 * Functions below that return bool return false with reader->error filled
 * (hb_reader_error) when bytes are damaged.  A row is a position in the
 * chunk, a page number is row / HB_PAGE_ROWS.
 */
typedef struct HbSource
{
	bool		(*read) (void *arg, uint64_t off, uint32_t len, uint8_t *dst);
	void	   *arg;
} HbSource;

typedef struct HbReader HbReader;

/*
 * Opens a chunk from its directory (copied) and checks it whole.  Returns
 * NULL with *error filled when it is damaged.  Everything the reader caches
 * (page tables, fences, decoded pages) is allocated from mem and goes with
 * hb_reader_free or mem's owner.  A reader may be kept as long as the chunk
 * exists: chunks never change.  hb_reader_set_source gives it another source
 * (the next query's); hb_reader_memory is what it holds now.
 */
extern HbReader *hb_reader_open(HbMem *mem, const uint8_t *dir, size_t dir_len,
								uint64_t chunk_id, HbError *error);
extern void hb_reader_set_source(HbReader *r, const HbSource *source);
extern void hb_reader_free(HbReader *r);
extern size_t hb_reader_memory(const HbReader *r);
extern const HbError *hb_reader_error(const HbReader *r);

extern uint32_t hb_reader_rows(const HbReader *r);
extern uint32_t hb_reader_pages(const HbReader *r);

/* Index in the chunk of the stored column with this number, or -1. */
extern int	hb_reader_column(const HbReader *r, uint16_t column_no);

typedef enum HbStored
{
	HB_STORED_INT,				/* integers: hb_reader_ints */
	HB_STORED_DICT,				/* codes of a dictionary: hb_reader_codes */
	HB_STORED_FIXED,			/* fixed width bytes, row addressed */
	HB_STORED_VAR,				/* lengths and sub-blocks */
	HB_STORED_NULL,				/* every row is NULL */
	HB_STORED_DERIVED			/* not here: hb_reader_derive_code */
} HbStored;

typedef struct HbColumnInfo
{
	HbStored	stored;
	uint8_t		phys;			/* INT or BYTES or NUM (num form in bytes) */
	uint8_t		derive_code;
	bool		has_hash_index;
	uint16_t	width;			/* FIXED: the width; DICT: the width of every
								 * value if they all have one, else 0 */
	uint32_t	null_count;
	int			dict;			/* DICT: dictionary's index in the chunk */
	bool		has_minmax;		/* INT: int_min..int_max over non-null rows */
	int64_t		int_min;
	int64_t		int_max;
	uint64_t	bytes;			/* bytes of the body this column owns */
} HbColumnInfo;

extern const HbColumnInfo *hb_reader_info(const HbReader *r, int col);

/*
 * Null flags of a page: bit i of nulls is set when row page * 1024 + i is
 * NULL.  any_null tells without reading when the column has none.
 */
extern bool hb_reader_nulls(HbReader *r, int col, uint32_t page,
							uint64_t nulls[HB_PAGE_WORDS], bool *any_null);

/*
 * Integers of a page (STORED_INT): out[i] for every row of the page, an
 * arbitrary value where NULL.  minmax gives the bounds of the page's non-null
 * values from the page table alone; *valid false when it has none (all NULL).
 */
extern bool hb_reader_ints(HbReader *r, int col, uint32_t page, int64_t *out);
extern bool hb_reader_page_minmax(HbReader *r, int col, uint32_t page,
								  int64_t *min, int64_t *max, bool *valid);

/*
 * Byte-wise bounds of a page of a FIXED or VAR column that is "ordered":
 * prefixes of the true bounds.  Every value v of the page has
 * v >= min and v's first max.len bytes <= max.  *valid false: unknown.
 */
extern bool hb_reader_page_bounds(HbReader *r, int col, uint32_t page,
								  HbSlice *min, HbSlice *max, bool *valid);

/*
 * Dictionaries.  Codes run from 1 to the number of entries; 0 is NULL.
 * find: *code 0 when the value is not in the dictionary (a filter usually
 * answers that with one small read).  The value is in the column's own form
 * (a 32-byte topic, a 20-byte address); col tells its width.  lower_bound:
 * the first code whose value is >= the given one in the byte order of the
 * column (number of entries + 1 if none), for ranges.
 * entry: a code's value in the form of column col; *value is valid until the
 * reader is freed (entries are cached as they are used).
 */
extern uint32_t hb_reader_dict_size(const HbReader *r, int dict);
extern bool hb_reader_dict_find(HbReader *r, int col, HbSlice value, uint32_t *code);
extern bool hb_reader_dict_lower_bound(HbReader *r, int col, HbSlice value, uint32_t *code);
extern bool hb_reader_dict_entry(HbReader *r, int col, uint32_t code, HbSlice *value);
extern bool hb_reader_codes(HbReader *r, int col, uint32_t page, uint32_t *out);

/*
 * The pages in which a code of column col occurs: sets bits in pages (an
 * array of (hb_reader_pages + 63) / 64 words that the caller zeroed).
 */
extern bool hb_reader_code_pages(HbReader *r, int col, uint32_t code, uint64_t *pages);

/*
 * Values of a FIXED or VAR column: for the n rows given (ascending, all of
 * one page), out[i] is the value (len 0 where NULL; ask hb_reader_nulls).
 * Bytes are in buffers owned by the reader, valid until the next call for
 * the same column.  Reads only the sub-blocks that hold these rows.
 * hb_reader_lengths gives the lengths of a VAR column's page without reading
 * values.
 */
extern bool hb_reader_bytes(HbReader *r, int col, uint32_t page,
							const uint16_t *rows_in_page, int n, HbSlice *out);
extern bool hb_reader_lengths(HbReader *r, int col, uint32_t page, uint32_t *out);

/*
 * Rows whose value of a hash-indexed column equals the given one, verified,
 * ascending.  *n is how many there are; at most max are written to rows
 * (more than max: *n > max, and the caller scans instead).
 */
extern bool hb_reader_hash_find(HbReader *r, int col, HbSlice value,
								uint32_t *rows, int max, int *n);

/*
 * Block offsets.  block_rows: the rows of blocks lo..hi (inclusive) are
 * *first .. *last - 1 (*first == *last: none).  row_blocks: the block numbers
 * of n rows from first on.
 */
extern bool hb_reader_block_rows(HbReader *r, int64_t lo, int64_t hi,
								 uint32_t *first, uint32_t *last);
extern bool hb_reader_row_blocks(HbReader *r, uint32_t first, uint32_t n, int64_t *out);

/*
 * The rows with this block number and this value of the sequence column (the
 * second sort column, an INT such as transaction_index): *first .. *last - 1.
 * Uses the encoding where it gives the answer at once, else searches.
 */
extern bool hb_reader_position(HbReader *r, int64_t block, int64_t index,
							   uint32_t *first, uint32_t *last);

/*
 * What was read, since the reader was opened or the counters were reset.
 * By kind of part: a test holds a query to what it may touch.
 */
typedef enum HbPartKind
{
	HB_PART_PAGE_TABLE,
	HB_PART_PAGE,
	HB_PART_NULLS,
	HB_PART_DICT,				/* slices, fences */
	HB_PART_FILTER,
	HB_PART_LISTS,
	HB_PART_HASH,
	HB_PART_VALUES,				/* sub-blocks and their table, fixed groups */
	HB_PART_BLOCKS,
	HB_NPARTS
} HbPartKind;

typedef struct HbReadStats
{
	uint64_t	reads[HB_NPARTS];
	uint64_t	bytes[HB_NPARTS];
} HbReadStats;

extern void hb_reader_stats(const HbReader *r, HbReadStats *stats);
extern void hb_reader_reset_stats(HbReader *r);

#endif							/* HB_CHUNK_H */
