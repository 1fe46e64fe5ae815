/*
 * hb_builder_int.h
 *		What the files of the builder share.
 *
 * Rows are held by columns.  A column holds integers, or codes of a value
 * table (byte strings that repeat; columns of one domain share a table), or
 * pointers to values in an arena (byte strings that do not repeat).  All three
 * are integers by row (hb_hold.h), which take memory as they come: none for
 * rows that are NULL.  A column of byte strings begins with codes and changes
 * to plain values when most of them turn out to be new.
 */
#ifndef HB_BUILDER_INT_H
#define HB_BUILDER_INT_H

#include "chunk/hb_account.h"
#include "chunk/hb_chunk.h"
#include "chunk/hb_directory.h"
#include "chunk/hb_hold.h"
#include "codec/hb_crc32c.h"

#define HB_CHECK_ROWS	4096	/* between two looks for interrupts, about */

typedef struct HbTabEntry
{
	uint32_t	hash;
	uint32_t	code;
	uint32_t	len;			/* of the value as it is stored */
	uint8_t		data[];			/* stripped: padded to the table's width */
} HbTabEntry;

/*
 * Distinct values with provisional codes 1..n, in order of arrival.  A slot
 * is a pointer with 16 bits of the hash in its unused upper bits, so that a
 * value which is there costs two cache lines: its slot and its entry.
 */
typedef struct HbTab
{
	struct HbTab *next;			/* all tables of the builder */
	HbMem	   *mem;
	uint8_t		domain;			/* 0: one column's own */
	bool		stripped;		/* without leading zero bytes */
	uint16_t	width;			/* stripped: of the widest column */
	uint32_t	n;
	uint32_t	cap;
	HbTabEntry **entries;		/* [code] */
	uint64_t   *slots;			/* 0: free; NULL: closed */
	uint32_t	nslots;			/* power of two */
	HbArena		arena;
} HbTab;

#define HB_TAB_POINTER	((UINT64_C(1) << 48) - 1)

/* width: of the widest column that strips its values; 0: as they are. */
extern HbTab *hb_tab_create(HbMem *mem, uint8_t domain, uint16_t width);
extern uint32_t hb_tab_add(HbTab *tab, HbSlice value, bool *fresh);
extern uint32_t hb_tab_put(HbTab *tab, uint32_t hash, HbSlice value, bool *fresh);
extern void hb_tab_free(HbTab *tab);

/*
 * Without its slots, which whoever only looks at entries can do without, a
 * table takes no values until it is opened again.
 */
extern void hb_tab_close(HbTab *tab);
extern void hb_tab_open(HbTab *tab);

/* An entry's value as a dictionary stores it. */
static inline HbSlice
hb_tab_value(const HbTab *tab, const HbTabEntry *e)
{
	HbSlice		v = {e->data + (tab->width > 0 ? tab->width - e->len : 0), e->len};

	return v;
}

typedef enum HbHold
{
	HB_HOLD_INT,
	HB_HOLD_CODES,
	HB_HOLD_PLAIN
} HbHold;

typedef struct HbBCol
{
	HbColumnSpec spec;
	HbHold		hold;
	uint8_t		derived;		/* code given by mark_derived */
	HbSeq		vals;			/* INT: the integers, CODES: codes, PLAIN:
								 * pointers to the values */
	HbSeq		lens;			/* PLAIN */
	HbTab	   *tab;			/* CODES; NULL before the first value */
	uint32_t	adds;			/* values added as codes */
	uint32_t	news;			/* of them, those that were new in the table */
	uint32_t	check_at;		/* adds at which to look whether it repeats */
	uint64_t	new_bytes;		/* of the values that were new */
	HbArena		arena;			/* PLAIN */
	bool		strips;			/* codes stand for values without leading zeros */
	uint8_t    *nums;			/* HOLD_INT numbers as they were read back */
} HbBCol;

/*
 * Values that wait for their code.  Looking up one by one would wait for
 * memory twice each; a batch waits for all at once.
 */
#define HB_PENDING		64
#define HB_PENDING_LEN	64		/* longer values are looked up at once */

typedef struct HbPending
{
	HbBCol	   *col;
	uint32_t	row;
	uint32_t	hash;
	uint32_t	len;
	uint8_t		data[HB_PENDING_LEN];
} HbPending;

struct HbBuilder
{
	HbAccount	account;
	HbMem	   *mem;			/* &account.mem */
	HbMem		outer;
	HbBuilderOptions options;
	int			ncols;
	uint32_t	nrows;
	bool		sorted;
	HbBCol	   *cols;
	HbTab	   *tabs;
	HbPending  *pending;
	uint32_t	npending;
	bool		has_nums;		/* has any column nums? */
	bool		sort_bytes;		/* the sort key has a column of byte strings */
	HbBuf		dir;			/* of the last finish */
};

/* Bytes in use for a column: its value in row (false: NULL). */
extern bool hb_bcol_bytes(const HbBCol *c, uint32_t row, HbSlice *value);

/* The code of a row of a column that is held so; 0 for NULL. */
static inline uint32_t
hb_bcol_code(const HbBCol *c, uint32_t row)
{
	int64_t		code;

	(void) hb_seq_get(&c->vals, row, &code);
	return (uint32_t) code;
}

/* Gives all waiting values their codes; before anybody looks at codes. */
extern void hb_builder_flush(HbBuilder *b);

/* Changes how a column is held. */
extern void hb_bcol_to_plain(HbBuilder *b, HbBCol *c);
extern void hb_bcol_to_codes(HbBuilder *b, HbBCol *c);

/* The "num" form of a non-negative integer; returns its length (at most 9). */
extern uint32_t hb_num_put(int64_t value, uint8_t *dst);

/* Compares two rows by the sort key, for hb_builder_sort and end_row. */
extern int	hb_builder_compare(const HbBuilder *b, uint32_t r1, uint32_t r2);

/*
 * Output of hb_builder_finish.
 */
typedef struct HbOut
{
	HbMem	   *mem;
	HbSink	   *sink;
	uint8_t    *buf;			/* HB_SINK_MAX bytes */
	size_t		len;
	uint64_t	pos;			/* of the next byte in the body */
	uint64_t	chunk_id;
} HbOut;

extern void hb_out_put(HbOut *o, const void *data, size_t len);
extern void hb_out_flush(HbOut *o);

/* Writes a checksum. */
static inline void
hb_out_crc(HbOut *o, uint32_t crc)
{
	uint8_t		b[4];

	hb_put32(b, crc);
	hb_out_put(o, b, 4);
}

/* Writes a part and its checksum. */
static inline void
hb_out_part(HbOut *o, const void *data, size_t len, uint16_t owner, uint8_t kind, uint32_t index)
{
	hb_out_put(o, data, len);
	hb_out_crc(o, hb_crc32c(hb_crc_seed(o->chunk_id, owner, kind, index), data, len));
}

/* A column on its way into the chunk. */
typedef struct HbWCol
{
	HbBCol	   *col;
	HbColDesc  *desc;
	uint32_t	distinct;		/* values that occur, CODES only */
	uint64_t   *used;			/* CODES: provisional codes that occur */
	uint64_t	avg_len;		/* of the distinct values */
	uint64_t	bytes;			/* of all values */
	bool		wants_dict;
	int			dict;			/* index of the dictionary, -1: none */
} HbWCol;

/* A dictionary on its way into the chunk. */
typedef struct HbWDict
{
	HbTab	   *tab;
	uint32_t   *map;			/* provisional code -> code, 0 not used */
	uint64_t   *used;
	HbDictDesc	desc;
	bool		written;
} HbWDict;

/* What finish works on. */
typedef struct HbWriter
{
	HbBuilder  *b;
	HbMem	   *mem;
	HbOut		out;
	HbDirectory dir;
	HbWCol	   *cols;			/* dir.ncols */
	HbWDict    *dicts;
	uint32_t	ndicts;
	uint32_t	nrows;
	uint32_t	npages;
	uint64_t   *starts;			/* bit set where a row begins a block */
	int64_t    *tmp;			/* nrows integers */
	int			zstd_level;
	HbError    *error;
} HbWriter;

/* hb_builder_ints.c */
extern void hb_write_null_bits(HbWriter *w, HbWCol *wc, const uint64_t *nulls);
extern void hb_write_ints(HbWriter *w, const int64_t *values, uint32_t n, const uint64_t *nulls,
						  uint16_t owner, bool unary, bool codes, HbIntDesc *d);
extern bool hb_write_try_sequence(HbWriter *w, const int64_t *values, HbIntDesc *d);

/* hb_builder_dict.c */
extern void hb_write_judge_dicts(HbWriter *w);
extern void hb_write_dict_column(HbWriter *w, HbWCol *wc);

/* hb_builder_values.c */
extern void hb_write_fixed_column(HbWriter *w, HbWCol *wc);
extern void hb_write_var_column(HbWriter *w, HbWCol *wc);
extern bool hb_write_packs_well(HbWriter *w, HbWCol *wc);
extern uint64_t hb_write_packed_size(HbWriter *w, HbWCol *wc, uint64_t bytes);

#endif							/* HB_BUILDER_INT_H */
