/*
 * hb_hold.c
 *		Arenas, and integers by row in packed segments.
 */
#include "chunk/hb_hold.h"

#define ARENA_FIRST		1024	/* with the heads of allocators */
#define ARENA_LARGEST	(64 * 1024)
#define ALLOC_HEADS		32		/* what allocators put before it */
#define OPEN_FIRST		8

void
hb_arena_init(HbArena *arena, HbMem *mem)
{
	arena->mem = mem;
	arena->blocks = NULL;
	arena->p = NULL;
	arena->left = 0;
	arena->block_size = ARENA_FIRST;
}

/* Room for len bytes; never NULL, also for none. */
uint8_t *
hb_arena_room(HbArena *arena, size_t len)
{
	uint8_t    *p;

	if (arena->left < len || arena->p == NULL)
	{
		/* a large value has a block of its own; the open one is not wasted */
		bool		alone = len >= ARENA_LARGEST / 4;
		size_t		size = len + 1;
		HbArenaBlock *block;

		if (!alone)
		{
			while (arena->block_size < ARENA_LARGEST && arena->block_size / 4 < len)
				arena->block_size *= 2;
			size = arena->block_size - ALLOC_HEADS - sizeof(HbArenaBlock);
			if (arena->block_size < ARENA_LARGEST)
				arena->block_size *= 2;
		}
		block = hb_alloc(arena->mem, sizeof(HbArenaBlock) + size);
		block->next = arena->blocks;
		arena->blocks = block;
		if (alone)
			return (uint8_t *) (block + 1);
		arena->p = (uint8_t *) (block + 1);
		arena->left = size;
	}
	p = arena->p;
	arena->p += len;
	arena->left -= len;
	return p;
}

uint8_t *
hb_arena_put(HbArena *arena, const void *data, size_t len)
{
	uint8_t    *p = hb_arena_room(arena, len);

	if (len > 0)
		memcpy(p, data, len);
	return p;
}

void
hb_arena_free(HbArena *arena)
{
	while (arena->blocks != NULL)
	{
		HbArenaBlock *block = arena->blocks;

		arena->blocks = block->next;
		hb_free(arena->mem, block);
	}
	arena->p = NULL;
	arena->left = 0;
	arena->block_size = ARENA_FIRST;
}

void
hb_seq_init(HbSeq *s, HbMem *mem)
{
	memset(s, 0, sizeof(*s));
	s->mem = mem;
	hb_arena_init(&s->arena, mem);
}

void
hb_seq_free(HbSeq *s)
{
	HbMem	   *mem = s->mem;

	hb_arena_free(&s->arena);
	hb_free(mem, s->segs);
	hb_free(mem, s->open);
	hb_seq_init(s, mem);
}

static void
push_seg(HbSeq *s, HbSeg *seg)
{
	if (s->nsegs == s->segs_cap)
	{
		s->segs_cap = s->segs_cap == 0 ? 8 : s->segs_cap * 2;
		s->segs = s->segs == NULL ? hb_alloc(s->mem, sizeof(HbSeg *) * s->segs_cap) :
			hb_realloc(s->mem, s->segs, sizeof(HbSeg *) * s->segs_cap);
	}
	s->segs[s->nsegs++] = seg;
	s->first += HB_SEG_ROWS;
}

/* Rows from nopen to n of the open segment are NULL. */
static void
pad_open(HbSeq *s, uint32_t n)
{
	uint32_t	i;

	if (s->nopen == n)
		return;
	s->open_nulls = true;
	for (i = s->nopen; i < n; i++)
	{
		s->nulls[i / 64] |= UINT64_C(1) << (i % 64);
		s->open[i] = 0;
	}
	s->nopen = n;
}

static void
grow_open(HbSeq *s, uint32_t n)
{
	uint32_t	cap = s->open_cap == 0 ? OPEN_FIRST : s->open_cap;

	while (cap < n)
		cap *= 2;
	if (cap == s->open_cap)
		return;
	s->open = s->open == NULL ? hb_alloc(s->mem, sizeof(int64_t) * cap) :
		hb_realloc(s->mem, s->open, sizeof(int64_t) * cap);
	s->open_cap = cap;
}

static uint8_t
width_for(uint64_t range)
{
	return range == 0 ? 0 : range <= UINT8_MAX ? 1 : range <= UINT16_MAX ? 2 :
		range <= UINT32_MAX ? 4 : 8;
}

/* The open segment is full: packs it. */
static void
seal(HbSeq *s)
{
	int64_t		min = INT64_MAX;
	int64_t		max = INT64_MIN;
	uint8_t		width;
	HbSeg	   *seg;
	uint64_t   *data;
	uint32_t	i;

	if (s->nopen == 0)
	{
		push_seg(s, NULL);
		return;
	}
	grow_open(s, HB_SEG_ROWS);
	pad_open(s, HB_SEG_ROWS);
	for (i = 0; i < HB_SEG_ROWS; i++)
	{
		if (s->open_nulls && ((s->nulls[i / 64] >> (i % 64)) & 1))
			continue;
		min = s->open[i] < min ? s->open[i] : min;
		max = s->open[i] > max ? s->open[i] : max;
	}
	width = width_for((uint64_t) max - (uint64_t) min);
	seg = (HbSeg *) hb_arena_room(&s->arena, sizeof(HbSeg) + (size_t) width * HB_SEG_ROWS +
								  (s->open_nulls ? sizeof(s->nulls) : 0));
	seg->base = min;
	seg->width = width;
	seg->has_nulls = s->open_nulls;
	data = seg->data;
	if (s->open_nulls)
	{
		memcpy(data, s->nulls, sizeof(s->nulls));
		data += HB_SEG_WORDS;
	}
	/* what is put where a NULL is does not matter */
	for (i = 0; i < HB_SEG_ROWS; i++)
	{
		uint64_t	d = (uint64_t) s->open[i] - (uint64_t) min;

		switch (width)
		{
			case 0:
				break;
			case 1:
				((uint8_t *) data)[i] = (uint8_t) d;
				break;
			case 2:
				((uint16_t *) data)[i] = (uint16_t) d;
				break;
			case 4:
				((uint32_t *) data)[i] = (uint32_t) d;
				break;
			default:
				data[i] = d;
				break;
		}
	}
	push_seg(s, seg);
	s->nopen = 0;
	s->open_nulls = false;
	memset(s->nulls, 0, sizeof(s->nulls));
}

void
hb_seq_room(HbSeq *s, uint32_t row)
{
	while (row - s->first >= HB_SEG_ROWS)
		seal(s);
	grow_open(s, row - s->first + 1);
	pad_open(s, row - s->first);
}

void
hb_seq_load(const HbSeq *s, uint32_t n, int64_t *out)
{
	uint32_t	r;

	for (r = 0; r < n; r++)
		(void) hb_seq_get(s, r, &out[r]);
}

/* Null flags of rows row .. row + 63. */
static uint64_t
null_word(const HbSeq *s, uint32_t row)
{
	const HbSeg *seg;

	if (row >= s->first)
	{
		uint32_t	i = row - s->first;
		uint64_t	word = i < HB_SEG_ROWS ? s->nulls[i / 64] : 0;

		if (i >= s->nopen)
			return ~UINT64_C(0);
		if (s->nopen - i < 64)
			word |= ~UINT64_C(0) << (s->nopen - i);
		return word;
	}
	seg = s->segs[row / HB_SEG_ROWS];
	if (seg == NULL)
		return ~UINT64_C(0);
	return seg->has_nulls ? seg->data[row % HB_SEG_ROWS / 64] : 0;
}

uint32_t
hb_seq_count_nulls(const HbSeq *s, uint32_t n)
{
	uint32_t	count = 0;
	uint32_t	r;

	for (r = 0; r < n; r += 64)
	{
		uint64_t	word = null_word(s, r);

		if (n - r < 64)
			word &= (UINT64_C(1) << (n - r)) - 1;
		count += (uint32_t) __builtin_popcountll(word);
	}
	return count;
}

void
hb_seq_nulls(const HbSeq *s, uint32_t n, uint64_t *bits)
{
	uint32_t	r;

	for (r = 0; r < n; r += 64)
	{
		uint64_t	word = null_word(s, r);

		if (n - r < 64)
			word &= (UINT64_C(1) << (n - r)) - 1;
		bits[r / 64] = word;
	}
}

void
hb_seq_permute(HbSeq *s, const uint32_t *perm, uint32_t n)
{
	HbSeq		old = *s;
	uint32_t	i;

	hb_seq_init(s, old.mem);
	for (i = 0; i < n; i++)
	{
		int64_t		value;

		if (hb_seq_get(&old, perm[i], &value))
			hb_seq_put(s, i, value);
	}
	hb_seq_free(&old);
}

void
hb_seq_shift(HbSeq *s, uint32_t from, uint32_t n)
{
	HbSeq		old = *s;
	uint32_t	r;

	hb_seq_init(s, old.mem);
	for (r = from; r < n; r++)
	{
		int64_t		value;

		if (hb_seq_get(&old, r, &value))
			hb_seq_put(s, r - from, value);
	}
	hb_seq_free(&old);
}
