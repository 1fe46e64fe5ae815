/*
 * hb_hold.h
 *		How a builder holds the values of a column: integers by row, packed,
 *		and byte strings.
 *
 * What grows by doubling and copying holds up to three times what is in it.
 * Here nothing that is full is ever moved: rows are cut into segments, byte
 * strings into blocks, and only the newest of each grows.
 */
#ifndef HB_HOLD_H
#define HB_HOLD_H

#include "codec/hb_mem.h"

#define HB_SEG_ROWS		1024
#define HB_SEG_WORDS	(HB_SEG_ROWS / 64)

/*
 * Byte strings that stay where they are; freed all at once.  Blocks grow to
 * 64 kB and have sizes that leave palloc nothing to round up.
 */
typedef struct HbArenaBlock
{
	struct HbArenaBlock *next;
} HbArenaBlock;

typedef struct HbArena
{
	HbMem	   *mem;
	HbArenaBlock *blocks;
	uint8_t    *p;				/* free space of the newest block */
	size_t		left;
	size_t		block_size;		/* of the next block */
} HbArena;

extern void hb_arena_init(HbArena *arena, HbMem *mem);
extern uint8_t *hb_arena_room(HbArena *arena, size_t len);
extern uint8_t *hb_arena_put(HbArena *arena, const void *data, size_t len);
extern void hb_arena_free(HbArena *arena);

/*
 * A full segment: values as differences from the least one, in as many bytes
 * (0, 1, 2, 4, 8) as the greatest needs.
 */
typedef struct HbSeg
{
	int64_t		base;
	uint8_t		width;
	bool		has_nulls;		/* then HB_SEG_WORDS words stand before data */
	uint64_t	data[];
} HbSeg;

/*
 * Integers by row, in rising order of rows; a row that is left out, or has not
 * come yet, is NULL.  A stretch of NULLs takes no memory.
 */
typedef struct HbSeq
{
	HbMem	   *mem;
	HbArena		arena;			/* of full segments */
	HbSeg	  **segs;			/* NULL: every row of it is NULL */
	uint32_t	nsegs;
	uint32_t	segs_cap;
	uint32_t	first;			/* row of the open segment: nsegs * HB_SEG_ROWS */
	uint32_t	nopen;			/* rows in it */
	uint32_t	open_cap;
	int64_t    *open;
	bool		open_nulls;		/* has any been left out? */
	uint64_t	nulls[HB_SEG_WORDS];	/* of the open segment */
} HbSeq;

extern void hb_seq_init(HbSeq *s, HbMem *mem);
extern void hb_seq_free(HbSeq *s);	/* it is empty, and usable, afterwards */

/* Makes room for a row that is not the open segment's next one. */
extern void hb_seq_room(HbSeq *s, uint32_t row);

static inline void
hb_seq_put(HbSeq *s, uint32_t row, int64_t value)
{
	uint32_t	i = row - s->first;

	if (i != s->nopen || i >= s->open_cap)
	{
		hb_seq_room(s, row);
		i = row - s->first;
	}
	s->open[i] = value;
	s->nopen = i + 1;
}

/* Changes the value of a row that is in the open segment. */
static inline void
hb_seq_change(HbSeq *s, uint32_t row, int64_t value)
{
	s->open[row - s->first] = value;
}

/* Rows behind this many are NULL. */
static inline uint32_t
hb_seq_rows(const HbSeq *s)
{
	return s->first + s->nopen;
}

/* The value of a row; false for NULL, and then *value is 0. */
static inline bool
hb_seq_get(const HbSeq *s, uint32_t row, int64_t *value)
{
	const HbSeg *seg;
	const uint64_t *data;
	uint32_t	i;

	*value = 0;
	if (row >= s->first)
	{
		i = row - s->first;
		if (i >= s->nopen || (s->open_nulls && ((s->nulls[i / 64] >> (i % 64)) & 1)))
			return false;
		*value = s->open[i];
		return true;
	}
	seg = s->segs[row / HB_SEG_ROWS];
	if (seg == NULL)
		return false;
	i = row % HB_SEG_ROWS;
	data = seg->data;
	if (seg->has_nulls)
	{
		if ((data[i / 64] >> (i % 64)) & 1)
			return false;
		data += HB_SEG_WORDS;
	}
	switch (seg->width)
	{
		case 0:
			*value = seg->base;
			break;
		case 1:
			*value = (int64_t) ((uint64_t) seg->base + ((const uint8_t *) data)[i]);
			break;
		case 2:
			*value = (int64_t) ((uint64_t) seg->base + ((const uint16_t *) data)[i]);
			break;
		case 4:
			*value = (int64_t) ((uint64_t) seg->base + ((const uint32_t *) data)[i]);
			break;
		default:
			*value = (int64_t) ((uint64_t) seg->base + data[i]);
			break;
	}
	return true;
}

/* The values of rows 0 .. n - 1, 0 for NULLs. */
extern void hb_seq_load(const HbSeq *s, uint32_t n, int64_t *out);

/* Of rows 0 .. n - 1: how many are NULL; and a bit set for each that is. */
extern uint32_t hb_seq_count_nulls(const HbSeq *s, uint32_t n);
extern void hb_seq_nulls(const HbSeq *s, uint32_t n, uint64_t *bits);

/* Puts rows 0 .. n - 1 into the order of perm. */
extern void hb_seq_permute(HbSeq *s, const uint32_t *perm, uint32_t n);

/* Forgets the first `from` of n rows. */
extern void hb_seq_shift(HbSeq *s, uint32_t from, uint32_t n);

#endif							/* HB_HOLD_H */
