/*
 * hb_builder_values.c
 *		Writing columns of byte strings that have no dictionary: fixed width
 *		with their hash index, and sub-blocks.
 */
#include "chunk/hb_builder_int.h"
#include "codec/hb_dict.h"
#include "codec/hb_hash.h"
#include "codec/hb_hashindex.h"
#include "codec/hb_lz.h"
#include "codec/hb_subblock.h"

#define TARGET_SMALL	(4 * 1024)	/* bytes of a sub-block: none, lz4 */
#define TARGET_LARGE	(16 * 1024) /* zstd */
#define RAW_MOST		(64 * 1024) /* of a trimmed sub-block, before trimming */
#define SAMPLE_RUNS		6
#define SAMPLE_RUN		(16 * 1024)
#define SAMPLE_LEAST	256		/* fewer raw bytes are not worth a codec */

/* Sub-blocks on their way out; dry only counts what they would take. */
typedef struct SubWriter
{
	HbWriter   *w;
	uint16_t	owner;
	bool		dry;
	bool		trim;
	int			codec;
	size_t		target;
	HbBuf		raw;			/* the open sub-block */
	HbBuf		trimmed;
	HbBuf		packed;
	uint32_t	lens[HB_PAGE_ROWS]; /* of its values, if trimmed */
	uint32_t	nlens;
	size_t		estimate;		/* its size, trimmed if trim */
	uint32_t	first_row;
	uint32_t	nsub;
	uint64_t	size;			/* bytes out so far */
	HbBuf		table;			/* entries and group heads, checksums too */
	size_t		group_start;
	uint32_t	last_raw_len;
	uint16_t	last_flags;
} SubWriter;

static void
sub_init(SubWriter *s, HbWriter *w, uint16_t owner, bool dry, bool trim, int codec)
{
	s->w = w;
	s->owner = owner;
	s->dry = dry;
	s->trim = trim;
	s->codec = codec;
	s->target = codec == HB_CODEC_ZSTD ? TARGET_LARGE : TARGET_SMALL;
	hb_buf_init(&s->raw, w->mem);
	hb_buf_init(&s->trimmed, w->mem);
	hb_buf_init(&s->packed, w->mem);
	hb_buf_init(&s->table, w->mem);
	s->nlens = 0;
	s->estimate = 0;
	s->first_row = 0;
	s->nsub = 0;
	s->size = 0;
	s->group_start = 0;
	s->last_raw_len = 0;
	s->last_flags = 0;
}

static void
sub_free(SubWriter *s)
{
	hb_buf_free(&s->raw);
	hb_buf_free(&s->trimmed);
	hb_buf_free(&s->packed);
	hb_buf_free(&s->table);
}

/* Puts the checksum behind the open group of the table. */
static void
sub_close_group(SubWriter *s)
{
	uint8_t		crc[4];

	if (s->table.len == s->group_start)
		return;
	hb_put32(crc, hb_crc32c(hb_crc_seed(s->w->out.chunk_id, s->owner, HB_SEED_SUBTABLE,
										(s->nsub - 1) / HB_SUB_GROUP),
							s->table.data + s->group_start, s->table.len - s->group_start));
	hb_buf_put(&s->table, crc, 4);
	s->group_start = s->table.len;
}

/* Writes out a sub-block of len stored bytes. */
static void
sub_emit(SubWriter *s, const uint8_t *data, size_t len, size_t raw_len, uint16_t flags)
{
	uint8_t    *e;

	if (s->dry)
	{
		s->size += len + 4 + HB_SUB_ENTRY;
		return;
	}
	if (s->nsub % HB_SUB_GROUP == 0)
	{
		sub_close_group(s);
		hb_put64(hb_buf_room(&s->table, 8), s->size);
		s->table.len += 8;
	}
	e = hb_buf_room(&s->table, HB_SUB_ENTRY);
	hb_put32(e, s->first_row);
	hb_put32(e + 4, (uint32_t) raw_len);
	hb_put32(e + 8, (uint32_t) (len + 4));
	hb_put16(e + 12, flags);
	s->table.len += HB_SUB_ENTRY;
	hb_out_part(&s->w->out, data, len, s->owner, HB_SEED_SUBBLOCK, s->nsub);
	s->size += len + 4;
	s->last_raw_len = (uint32_t) raw_len;
	s->last_flags = flags;
	s->nsub++;
}

/* Encodes and writes the open sub-block, if there is one. */
static void
sub_flush(SubWriter *s)
{
	const uint8_t *data = s->raw.data;
	size_t		len = s->raw.len;
	uint16_t	flags = 0;

	if (len == 0)
		return;
	hb_check(s->w->mem);
	if (s->trim)
	{
		s->trimmed.len = 0;
		hb_subblock_trim(&s->trimmed, s->raw.data, s->lens, s->nlens);
		if (s->trimmed.len < len)
		{
			data = s->trimmed.data;
			len = s->trimmed.len;
			flags = HB_SUB_TRIM;
		}
	}
	if (s->codec != HB_CODEC_NONE)
	{
		size_t		head = flags & HB_SUB_TRIM ? 4 : 0;
		size_t		got;
		uint8_t    *dst;

		s->packed.len = 0;
		dst = hb_buf_room(&s->packed, len + 4);
		got = hb_lz_compress(s->codec, s->w->zstd_level, data, len, dst + head, len);
		if (got > 0 && got + head < len - len / 16)
		{
			/* a trimmed form's length must be told */
			if (head > 0)
				hb_put32(dst, (uint32_t) len);
			data = dst;
			len = got + head;
			flags |= (uint16_t) s->codec;
		}
	}
	sub_emit(s, data, len, s->raw.len, flags);
	s->raw.len = 0;
	s->nlens = 0;
	s->estimate = 0;
}

/* Adds a value that is not empty. */
static void
sub_add(SubWriter *s, uint32_t row, HbSlice v)
{
	size_t		size;

	if (v.len > HB_SUB_CODED_MAX)
	{
		/* alone, as it is, and without a copy */
		sub_flush(s);
		s->first_row = row;
		sub_emit(s, v.data, v.len, v.len, 0);
		return;
	}
	size = s->trim ? hb_subblock_trim_size(v.data, v.len) : v.len;
	if (s->raw.len > 0 && (s->estimate + size > s->target ||
						   (s->trim && s->raw.len + v.len > RAW_MOST)))
		sub_flush(s);
	if (s->raw.len == 0)
		s->first_row = row;
	hb_buf_put(&s->raw, v.data, v.len);
	if (s->trim)
		s->lens[s->nlens++] = v.len;
	s->estimate += size;
}

/* At the end of a page: does the open sub-block go on into the next one? */
static void
sub_page_end(SubWriter *s)
{
	if (s->trim || s->estimate >= s->target / 2)
		sub_flush(s);
}

/*
 * Tries {as it is, trimmed} x {no codec, lz4, zstd} on runs of rows spread
 * over the column.  From the fastest to the slowest, one is taken when it is
 * smaller than 7/8 of the best so far.  Returns the sample's size in that
 * way, *raw_size its size as it is.
 */
static uint64_t
judge(HbWriter *w, HbWCol *wc, bool *trim, int *codec, uint64_t *raw_size)
{
	static const uint8_t way_trim[6] = {0, 1, 0, 1, 0, 1};
	static const uint8_t way_codec[6] = {0, 0, 1, 1, 2, 2};
	uint64_t	best = 0;
	int			way;

	*trim = false;
	*codec = HB_CODEC_NONE;
	*raw_size = 0;
	for (way = 0; way < 6; way++)
	{
		SubWriter  *s;
		int			run;
		uint64_t	bytes = 0;

		if (way_codec[way] > w->b->options.compression)
			break;
		s = hb_alloc(w->mem, sizeof(SubWriter));
		sub_init(s, w, 0, true, way_trim[way] != 0, way_codec[way]);
		for (run = 0; run < SAMPLE_RUNS; run++)
		{
			uint32_t	row = (uint32_t) ((uint64_t) w->nrows * (uint64_t) run / SAMPLE_RUNS);
			uint32_t	end = (uint32_t) ((uint64_t) w->nrows * ((uint64_t) run + 1) / SAMPLE_RUNS);
			size_t		n = 0;

			for (; row < end && n < SAMPLE_RUN; row++)
			{
				HbSlice		v;

				if (row % HB_PAGE_ROWS == 0)
					sub_page_end(s);
				if (!hb_bcol_bytes(wc->col, row, &v) || v.len == 0)
					continue;
				if (v.len > HB_SUB_CODED_MAX)
					continue;
				if (s->nlens == HB_PAGE_ROWS)
					sub_flush(s);
				sub_add(s, row, v);
				n += v.len;
			}
			sub_flush(s);
			bytes += n;
		}
		if (way == 0)
		{
			*raw_size = best = s->size;
		}
		else if (s->size < best / 8 * 7)
		{
			best = s->size;
			*trim = way_trim[way] != 0;
			*codec = way_codec[way];
		}
		sub_free(s);
		hb_free(w->mem, s);
		if (bytes < SAMPLE_LEAST)
			break;
	}
	return best;
}

/* Would a fixed-width column be an eighth smaller in sub-blocks? */
bool
hb_write_packs_well(HbWriter *w, HbWCol *wc)
{
	bool		trim;
	int			codec;
	uint64_t	raw;
	uint64_t	best = judge(w, wc, &trim, &codec, &raw);

	return best < raw / 8 * 7;
}

/* Bytes that a column's values, bytes as they are, will take in sub-blocks. */
uint64_t
hb_write_packed_size(HbWriter *w, HbWCol *wc, uint64_t bytes)
{
	bool		trim;
	int			codec;
	uint64_t	raw;
	uint64_t	best = judge(w, wc, &trim, &codec, &raw);

	return raw == 0 ? 0 : (uint64_t) ((double) bytes * (double) best / (double) raw);
}

/* Null bits of a column of byte strings, if it has NULLs. */
static void
put_nulls(HbWriter *w, HbWCol *wc)
{
	uint64_t   *nulls;

	if (wc->desc->null_count == 0)
		return;
	nulls = hb_alloc(w->mem, sizeof(uint64_t) * HB_PAGE_WORDS * w->npages);
	hb_seq_nulls(&wc->col->vals, w->nrows, nulls);
	hb_write_null_bits(w, wc, nulls);
	hb_free(w->mem, nulls);
}

static void
put_bound(uint8_t *dst, const HbSlice *v)
{
	uint32_t	n = v->len < HB_BOUND_LEN ? v->len : HB_BOUND_LEN;

	dst[0] = (uint8_t) n;
	memcpy(dst + 1, v->data, n);
}

/*
 * Bounds of each page, after the values: for min and max the length (255:
 * none, every row NULL) and up to 16 bytes.  A chunk of one page has them in
 * the directory.
 */
static void
put_bounds(HbWriter *w, HbWCol *wc)
{
	uint8_t    *entries;
	uint32_t	page;

	if (!wc->desc->bounds)
		return;
	entries = hb_alloc0(w->mem, (size_t) w->npages * HB_BOUND_ENTRY);
	for (page = 0; page < w->npages; page++)
	{
		uint8_t    *e = entries + (size_t) page * HB_BOUND_ENTRY;
		uint32_t	n = hb_page_rows(w->nrows, page);
		HbSlice		min = {NULL, 0};
		HbSlice		max = {NULL, 0};
		uint32_t	i;

		e[0] = e[HB_BOUND_LEN + 1] = 255;
		for (i = 0; i < n; i++)
		{
			HbSlice		v;

			if (!hb_bcol_bytes(wc->col, page * HB_PAGE_ROWS + i, &v))
				continue;
			if (min.data == NULL || hb_slice_cmp(v, min) < 0)
				min = v;
			if (max.data == NULL || hb_slice_cmp(v, max) > 0)
				max = v;
		}
		if (min.data != NULL)
		{
			put_bound(e, &min);
			put_bound(e + HB_BOUND_LEN + 1, &max);
		}
	}
	if (w->npages == 1)
	{
		/* kept until the directory is written */
		wc->desc->bound_entry.data = entries;
		wc->desc->bound_entry.len = HB_BOUND_ENTRY;
		return;
	}
	hb_out_part(&w->out, entries, (size_t) w->npages * HB_BOUND_ENTRY, wc->desc->column_no,
				HB_SEED_BOUNDS, 0);
	hb_free(w->mem, entries);
}

/* The row index in hash order; none if values repeat too much. */
static void
put_hash_index(HbWriter *w, HbWCol *wc)
{
	uint32_t	n = w->nrows - wc->desc->null_count;
	int			rowbits = hb_hashindex_rowbits(w->nrows);
	uint32_t	nlines = hb_hashindex_lines(n, rowbits);
	uint8_t    *lines = hb_alloc0(w->mem, (size_t) nlines * HB_HASHLINE);
	bool		fits = true;
	uint32_t	r;
	uint32_t	i;

	for (r = 0; r < w->nrows && fits; r++)
	{
		HbSlice		v;

		if (hb_bcol_bytes(wc->col, r, &v))
			fits = hb_hashindex_add(lines, nlines, rowbits, hb_hash64(v.data, v.len), r);
	}
	if (fits)
	{
		wc->desc->hash_lines = nlines;
		wc->desc->rowbits = (uint8_t) rowbits;
		for (i = 0; i < nlines; i++)
		{
			uint8_t    *line = lines + (size_t) i * HB_HASHLINE;
			uint32_t	crc = hb_crc_seed(w->out.chunk_id, wc->desc->column_no, HB_SEED_HASH, i);

			/* over the line with zeros in the checksum's place */
			hb_put32(line + 1, hb_crc32c(crc, line, HB_HASHLINE));
		}
		hb_out_put(&w->out, lines, (size_t) nlines * HB_HASHLINE);
	}
	hb_free(w->mem, lines);
}

void
hb_write_fixed_column(HbWriter *w, HbWCol *wc)
{
	uint32_t	width = wc->desc->width;
	uint8_t    *group = hb_alloc(w->mem, (size_t) HB_GROUP_ROWS * width);
	uint32_t	first;

	put_nulls(w, wc);
	for (first = 0; first < w->nrows; first += HB_GROUP_ROWS)
	{
		uint32_t	n = w->nrows - first < HB_GROUP_ROWS ? w->nrows - first : HB_GROUP_ROWS;
		uint32_t	i;

		for (i = 0; i < n; i++)
		{
			HbSlice		v;

			if (hb_bcol_bytes(wc->col, first + i, &v))
				memcpy(group + (size_t) i * width, v.data, width);
			else
				memset(group + (size_t) i * width, 0, width);
		}
		hb_out_part(&w->out, group, (size_t) n * width, wc->desc->column_no, HB_SEED_GROUP,
					first / HB_GROUP_ROWS);
	}
	hb_free(w->mem, group);
	if (wc->col->spec.hash_index)
		put_hash_index(w, wc);
	put_bounds(w, wc);
}

void
hb_write_var_column(HbWriter *w, HbWCol *wc)
{
	HbColDesc  *d = wc->desc;
	SubWriter  *s = hb_alloc(w->mem, sizeof(SubWriter));
	uint8_t    *index = hb_alloc0(w->mem, (size_t) w->npages * 8);
	bool	   *filled = hb_alloc0(w->mem, w->npages);
	uint64_t	raw_size;
	bool		trim;
	int			codec;
	uint32_t	r;
	uint32_t	page;

	put_nulls(w, wc);
	for (r = 0; r < w->nrows; r++)
	{
		HbSlice		v;

		w->tmp[r] = hb_bcol_bytes(wc->col, r, &v) ? v.len : 0;
	}
	hb_write_ints(w, w->tmp, w->nrows, NULL, d->column_no, false, false, &d->ints);

	judge(w, wc, &trim, &codec, &raw_size);
	sub_init(s, w, d->column_no, false, trim, codec);
	for (r = 0; r < w->nrows; r++)
	{
		HbSlice		v;

		page = r / HB_PAGE_ROWS;
		if (r > 0 && r % HB_PAGE_ROWS == 0)
			sub_page_end(s);
		if (!hb_bcol_bytes(wc->col, r, &v) || v.len == 0)
			continue;
		sub_add(s, r, v);
		if (!filled[page])
		{
			/* where the page's first value went */
			filled[page] = true;
			if (v.len > HB_SUB_CODED_MAX)
				hb_put32(index + 8 * page, s->nsub - 1);
			else
			{
				hb_put32(index + 8 * page, s->nsub);
				hb_put32(index + 8 * page + 4, (uint32_t) (s->raw.len - v.len));
			}
		}
	}
	sub_flush(s);
	sub_close_group(s);
	d->nsub = s->nsub;
	d->values_len = s->size;
	d->sub_raw_len = s->last_raw_len;
	d->sub_flags = s->last_flags;
	if (s->nsub > 1)
		hb_out_put(&w->out, s->table.data, s->table.len);
	if (s->nsub > 0 && w->npages > 1)
	{
		/* a page without values points where the next one does */
		uint32_t	sub = s->nsub;
		uint32_t	off = 0;

		for (page = w->npages; page-- > 0;)
		{
			if (filled[page])
			{
				sub = hb_get32(index + 8 * page);
				off = hb_get32(index + 8 * page + 4);
			}
			else
			{
				hb_put32(index + 8 * page, sub);
				hb_put32(index + 8 * page + 4, off);
			}
		}
		hb_out_part(&w->out, index, (size_t) w->npages * 8, d->column_no, HB_SEED_PAGE_INDEX, 0);
	}
	sub_free(s);
	hb_free(w->mem, s);
	hb_free(w->mem, index);
	hb_free(w->mem, filled);
	put_bounds(w, wc);
}
