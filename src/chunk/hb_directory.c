/*
 * hb_directory.c
 *		Writing and reading the directory; docs/format.md has its grammar.
 */
#include "chunk/hb_directory.h"
#include "codec/hb_crc32c.h"
#include "codec/hb_dict.h"
#include "codec/hb_filter.h"
#include "codec/hb_hashindex.h"
#include "codec/hb_intpage.h"
#include "codec/hb_subblock.h"

#define DIR_MAGIC0		'H'
#define DIR_MAGIC1		'B'
#define DIR_HEAD		3		/* magic and version */

#define DIR_BLOCKS		0x01	/* flags */
#define DIR_CONSECUTIVE	0x02
#define DIR_DENSE		0x04

#define DICT_STRIPPED	0x08	/* in the byte with shift */

#define COL_BOUNDS		0x01	/* flags of FIXED and VAR */

#define BODY_MAX		(UINT64_C(1) << 47)

void
hb_error_set(HbError *error, HbErrorCode code, const char *part,
			 int32_t column, int64_t page, const char *detail)
{
	size_t		n = strlen(detail);

	if (error == NULL)
		return;
	if (n >= sizeof(error->detail))
		n = sizeof(error->detail) - 1;
	error->code = code;
	error->part = part;
	error->column = column;
	error->page = page;
	memcpy(error->detail, detail, n);
	error->detail[n] = '\0';
}

void
hb_int_desc_derive(HbIntDesc *d)
{
	d->npages = (d->n + HB_PAGE_ROWS - 1) / HB_PAGE_ROWS;
	d->vbytes = hb_bytes_for((uint64_t) d->max - (uint64_t) d->min);
	d->table_len = 0;
	if (d->kind <= HB_INT_UNARY && d->npages > 1)
		d->table_len = d->npages * (3 + (d->nulls ? 2 : 0) + 2 * (uint32_t) d->vbytes) + 4;
}

void
hb_dict_desc_derive(HbDictDesc *d)
{
	d->nslices = (uint32_t) (((uint64_t) d->n + (UINT64_C(1) << d->shift) - 1) >> d->shift);
	d->ngroups = d->nslices > 1 ? (d->nslices + HB_FENCE_GROUP - 1) / HB_FENCE_GROUP : 0;
	d->filter_blocks = d->nslices > 1 ? hb_filter_blocks(d->n) : 0;
}

static void
put_int(HbBuf *buf, const HbIntDesc *d)
{
	hb_buf_byte(buf, (uint8_t) (d->kind | (d->codec << 3) | (d->nulls ? 0x20 : 0)));
	if (d->kind == HB_INT_BLOCKNUM)
		return;
	hb_buf_svarint(buf, d->min);
	if (d->kind == HB_INT_CONST)
		return;
	hb_buf_varint(buf, (uint64_t) d->max - (uint64_t) d->min);
	if (d->kind == HB_INT_SEQ)
	{
		hb_buf_svarint(buf, d->base);
		return;
	}
	hb_buf_varint(buf, d->pages_len);
	if (d->npages == 1)
		hb_buf_byte(buf, d->mode0);
}

static void
put_dict(HbBuf *buf, const HbDictDesc *d)
{
	hb_buf_byte(buf, (uint8_t) (d->shift | (d->stripped ? DICT_STRIPPED : 0)));
	hb_buf_varint(buf, d->n);
	hb_buf_varint(buf, d->width);
	hb_buf_varint(buf, d->slices_len);
}

static void
put_column(HbBuf *buf, const HbDirectory *dir, const HbColDesc *c, uint32_t *ndicts)
{
	if (c->kind == HB_COL_DERIVED)
	{
		hb_buf_byte(buf, c->derive_code);
		return;
	}
	if (c->kind == HB_COL_NULL)
		return;
	hb_buf_varint(buf, c->null_count);
	switch (c->kind)
	{
		case HB_COL_INT:
			put_int(buf, &c->ints);
			break;
		case HB_COL_DICT:
			hb_buf_varint(buf, c->dict);
			/* a dictionary is told where it comes for the first time */
			if (c->dict == *ndicts)
				put_dict(buf, &dir->dicts[(*ndicts)++]);
			hb_buf_varint(buf, c->width);
			put_int(buf, &c->ints);
			if (dir->npages > 1)
				hb_buf_varint(buf, c->lists_len);
			break;
		case HB_COL_FIXED:
			hb_buf_byte(buf, c->bounds ? COL_BOUNDS : 0);
			hb_buf_varint(buf, c->width);
			hb_buf_varint(buf, c->hash_lines);
			break;
		case HB_COL_VAR:
			hb_buf_byte(buf, c->bounds ? COL_BOUNDS : 0);
			put_int(buf, &c->ints);
			hb_buf_varint(buf, c->nsub);
			hb_buf_varint(buf, c->values_len);
			if (c->nsub == 1)
			{
				hb_buf_varint(buf, c->sub_raw_len);
				hb_buf_varint(buf, c->sub_flags);
			}
			break;
		case HB_COL_PREV:
			hb_buf_varint(buf, c->prev_col);
			if (c->first.data == NULL)
				hb_buf_varint(buf, 0);
			else
			{
				hb_buf_varint(buf, (uint64_t) c->first.len + 1);
				hb_buf_put(buf, c->first.data, c->first.len);
			}
			break;
	}
	if (c->bounds && dir->npages == 1)
		hb_buf_put(buf, c->bound_entry.data, HB_BOUND_ENTRY);
}

void
hb_directory_put(HbBuf *buf, const HbDirectory *dir, uint64_t chunk_id)
{
	size_t		start = buf->len;
	uint32_t	ndicts = 0;
	uint32_t	last_no = 0;
	uint32_t	i;
	uint8_t		crc[4];

	hb_buf_byte(buf, DIR_MAGIC0);
	hb_buf_byte(buf, DIR_MAGIC1);
	hb_buf_byte(buf, HB_FORMAT_VERSION);
	hb_buf_byte(buf, (uint8_t) ((dir->has_blocks ? DIR_BLOCKS : 0) |
								(dir->consecutive ? DIR_CONSECUTIVE : 0) |
								(dir->dense ? DIR_DENSE : 0)));
	hb_buf_varint(buf, dir->nrows);
	hb_buf_varint(buf, dir->ncols);
	hb_buf_varint(buf, dir->ndicts);
	if (dir->has_blocks)
	{
		hb_buf_svarint(buf, dir->first_block);
		hb_buf_varint(buf, (uint64_t) dir->last_block - (uint64_t) dir->first_block);
		hb_buf_varint(buf, (uint64_t) (dir->seq_col + 1));
		if (!dir->dense)
			hb_buf_varint(buf, dir->nblocks);
		if (!dir->consecutive)
			put_int(buf, &dir->numbers);
		if (!dir->dense)
			put_int(buf, &dir->firsts);
	}
	for (i = 0; i < dir->ncols; i++)
	{
		const HbColDesc *c = &dir->cols[i];

		hb_buf_byte(buf, (uint8_t) (c->kind | (c->phys << 4)));
		hb_buf_varint(buf, c->column_no - last_no);
		last_no = c->column_no;
		put_column(buf, dir, c, &ndicts);
	}
	hb_put32(crc, hb_crc32c(hb_crc_seed(chunk_id, 0, HB_SEED_DIRECTORY, 0),
							buf->data + start, buf->len - start));
	hb_buf_put(buf, crc, 4);
}

/* Takes len bytes of the body. */
static uint64_t
take(HbCursor *c, uint64_t *pos, uint64_t len)
{
	uint64_t	off = *pos;

	if (len > BODY_MAX || off > BODY_MAX)
	{
		c->bad = true;
		return 0;
	}
	*pos = off + len;
	return off;
}

/* Reads an integer column of n rows; says what is wrong by c->bad. */
static void
get_int(HbCursor *c, HbIntDesc *d, uint32_t n, const HbDirectory *dir, uint64_t *pos)
{
	uint8_t		b = hb_cursor_byte(c);

	d->kind = b & 7;
	d->codec = (b >> 3) & 3;
	d->nulls = (b & 0x20) != 0;
	d->n = n;
	if ((b & 0xc0) || d->kind > HB_INT_BLOCKNUM || d->codec == 3 ||
		(d->kind >= HB_INT_UNARY && (d->nulls || d->codec)))
		c->bad = true;
	if (d->kind == HB_INT_BLOCKNUM)
	{
		d->min = dir->first_block;
		d->max = dir->last_block;
	}
	else
	{
		d->min = d->max = hb_cursor_svarint(c);
		if (d->kind != HB_INT_CONST)
		{
			uint64_t	range = hb_cursor_varint(c);

			if (range > (uint64_t) INT64_MAX - (uint64_t) d->min)
				c->bad = true;
			d->max = (int64_t) ((uint64_t) d->min + range);
		}
	}
	if (d->kind == HB_INT_SEQ)
		d->base = hb_cursor_svarint(c);
	hb_int_desc_derive(d);
	if (d->kind <= HB_INT_UNARY)
	{
		d->pages_len = hb_cursor_varint(c);
		d->table_off = take(c, pos, d->table_len);
		d->pages_off = take(c, pos, d->pages_len);
		if (d->npages == 1)
		{
			d->mode0 = hb_cursor_byte(c);
			if (!hb_intpage_mode_valid(d->mode0) || d->pages_len > HB_INTPAGE_ROOM)
				c->bad = true;
		}
	}
	if ((d->kind == HB_INT_UNARY || d->kind == HB_INT_BLOCKNUM) && !dir->has_blocks)
		c->bad = true;
}

static void
get_dict(HbCursor *c, HbDictDesc *d, uint64_t *pos)
{
	uint8_t		b = hb_cursor_byte(c);

	d->shift = b & 7;
	d->stripped = (b & DICT_STRIPPED) != 0;
	if (b & 0xf0 || d->shift > HB_DICT_MAX_SHIFT)
		c->bad = true;
	d->n = (uint32_t) hb_cursor_varint_max(c, UINT32_C(1) << 28);
	d->width = (uint16_t) hb_cursor_varint_max(c, HB_DICT_MAX_VALUE);
	d->slices_len = hb_cursor_varint_max(c, UINT32_MAX);
	if (d->n == 0 || (d->stripped && (d->width == 0 || d->width > HB_DICT_MAX_STRIP)))
		c->bad = true;
	if (c->bad)
		return;
	hb_dict_desc_derive(d);
	d->top_off = take(c, pos, d->ngroups > 1 ? (uint64_t) d->ngroups * 8 + 4 : 0);
	d->fences_off = take(c, pos, d->ngroups == 0 ? 0 :
						 (uint64_t) d->ngroups * 8 + (uint64_t) d->nslices * HB_FENCE_ENTRY);
	d->filter_off = take(c, pos, (uint64_t) d->filter_blocks * HB_FILTER_BLOCK);
	d->slices_off = take(c, pos, d->slices_len);
}

/* ndicts: how many dictionaries have been told so far. */
static void
get_dict_column(HbCursor *c, HbDirectory *dir, HbColDesc *col, uint64_t *pos,
				uint32_t *ndicts)
{
	HbDictDesc *d;

	col->null_count = (uint32_t) hb_cursor_varint_max(c, dir->nrows);
	col->dict = (uint32_t) hb_cursor_varint(c);
	if (col->dict > *ndicts || col->dict >= dir->ndicts)
	{
		c->bad = true;
		return;
	}
	d = &dir->dicts[col->dict];
	if (col->dict == *ndicts)
	{
		(*ndicts)++;
		get_dict(c, d, pos);
	}
	col->width = (uint16_t) hb_cursor_varint_max(c, HB_DICT_MAX_VALUE);
	if (d->stripped ? (col->width == 0 || col->width > d->width) :
		col->width != d->width)
		c->bad = true;
	get_int(c, &col->ints, dir->nrows, dir, pos);
	if (col->ints.kind > HB_INT_CONST || col->ints.kind == HB_INT_UNARY ||
		col->ints.nulls || col->ints.min < 0 ||
		col->ints.max > (int64_t) d->n)
		c->bad = true;
	if (dir->npages > 1)
	{
		col->lists_len = hb_cursor_varint_max(c, UINT32_MAX);
		if (col->lists_len < 4 * ((uint64_t) d->nslices + 1))
			c->bad = true;
		col->lists_off = take(c, pos, col->lists_len);
	}
}

static void
get_var_column(HbCursor *c, HbDirectory *dir, HbColDesc *col, uint64_t *pos)
{
	get_int(c, &col->ints, dir->nrows, dir, pos);
	if (col->ints.kind > HB_INT_CONST || col->ints.kind == HB_INT_UNARY ||
		col->ints.nulls || col->ints.min < 0 || col->ints.max > HB_MAX_VALUE)
		c->bad = true;
	col->nsub = (uint32_t) hb_cursor_varint_max(c, dir->nrows);
	col->values_len = hb_cursor_varint(c);
	col->values_off = take(c, pos, col->values_len);
	if (col->nsub == 1)
	{
		uint64_t	flags;

		col->sub_raw_len = (uint32_t) hb_cursor_varint_max(c, HB_MAX_VALUE + HB_SUB_CODED_MAX);
		flags = hb_cursor_varint_max(c, UINT16_MAX);
		col->sub_flags = (uint16_t) flags;
		if (col->values_len < 4 ||
			!hb_subblock_plausible(col->values_len - 4, col->sub_raw_len, (uint32_t) flags))
			c->bad = true;
	}
	else if (col->nsub > 1)
		col->subtable_off = take(c, pos, hb_subtable_size(col->nsub));
	if (col->nsub > 0 && dir->npages > 1)
		col->index_off = take(c, pos, (uint64_t) dir->npages * 8 + 4);
}

/* Flags of a FIXED or VAR column. */
static void
get_flags(HbCursor *c, HbColDesc *col)
{
	uint8_t		flags = hb_cursor_byte(c);

	if (flags & ~COL_BOUNDS)
		c->bad = true;
	col->bounds = (flags & COL_BOUNDS) != 0;
}

static void
get_column(HbCursor *c, HbDirectory *dir, HbColDesc *col, uint64_t *pos,
		   uint32_t *ndicts)
{
	uint64_t	n;

	switch (col->kind)
	{
		case HB_COL_INT:
			col->null_count = (uint32_t) hb_cursor_varint_max(c, dir->nrows);
			if (col->null_count > 0)
				col->nulls_off = take(c, pos, hb_nulls_size(dir->nrows));
			get_int(c, &col->ints, dir->nrows, dir, pos);
			if (col->ints.nulls != (col->null_count > 0))
				c->bad = true;
			break;
		case HB_COL_DICT:
			get_dict_column(c, dir, col, pos, ndicts);
			break;
		case HB_COL_FIXED:
			col->null_count = (uint32_t) hb_cursor_varint_max(c, dir->nrows);
			if (col->null_count > 0)
				col->nulls_off = take(c, pos, hb_nulls_size(dir->nrows));
			get_flags(c, col);
			col->width = (uint16_t) hb_cursor_varint_max(c, HB_MAX_WIDTH);
			col->hash_lines = (uint32_t) hb_cursor_varint_max(c, HB_CHUNK_MAX_ROWS);
			col->rowbits = (uint8_t) hb_hashindex_rowbits(dir->nrows);
			if (col->width == 0)
				c->bad = true;
			col->values_len = hb_fixed_size(dir->nrows, col->width);
			col->values_off = take(c, pos, col->values_len);
			col->hash_off = take(c, pos, (uint64_t) col->hash_lines * HB_HASHLINE);
			break;
		case HB_COL_VAR:
			col->null_count = (uint32_t) hb_cursor_varint_max(c, dir->nrows);
			if (col->null_count > 0)
				col->nulls_off = take(c, pos, hb_nulls_size(dir->nrows));
			get_flags(c, col);
			get_var_column(c, dir, col, pos);
			break;
		case HB_COL_NULL:
			col->null_count = dir->nrows;
			break;
		case HB_COL_DERIVED:
			col->derive_code = hb_cursor_byte(c);
			break;
		case HB_COL_PREV:
			col->null_count = (uint32_t) hb_cursor_varint_max(c, dir->nrows);
			col->prev_col = (uint32_t) hb_cursor_varint_max(c, dir->ncols - 1);
			n = hb_cursor_varint_max(c, HB_MAX_WIDTH + 1);
			if (n > 0)
			{
				col->first.len = (uint32_t) (n - 1);
				col->first.data = hb_cursor_bytes(c, n - 1);
			}
			break;
		default:
			c->bad = true;
	}
	if (col->bounds)
	{
		if (dir->npages == 1)
		{
			col->bound_entry.data = hb_cursor_bytes(c, HB_BOUND_ENTRY);
			col->bound_entry.len = HB_BOUND_ENTRY;
		}
		else
			col->bounds_off = take(c, pos, (uint64_t) dir->npages * HB_BOUND_ENTRY + 4);
	}
}

/* Blocks: after the head's counts. */
static void
get_blocks(HbCursor *c, HbDirectory *dir, uint64_t *pos)
{
	uint64_t	range;

	dir->first_block = hb_cursor_svarint(c);
	range = hb_cursor_varint(c);
	if (range > (uint64_t) INT64_MAX - (uint64_t) dir->first_block)
		c->bad = true;
	dir->last_block = (int64_t) ((uint64_t) dir->first_block + range);
	dir->seq_col = (int32_t) hb_cursor_varint_max(c, dir->ncols) - 1;
	dir->nblocks = dir->nrows;
	if (!dir->dense)
		dir->nblocks = (uint32_t) hb_cursor_varint_max(c, dir->nrows);
	if (dir->nblocks == 0 || range < (uint64_t) dir->nblocks - 1 ||
		(dir->consecutive && range != (uint64_t) dir->nblocks - 1))
		c->bad = true;
	if (c->bad)
		return;
	if (!dir->consecutive)
	{
		get_int(c, &dir->numbers, dir->nblocks, dir, pos);
		if (dir->numbers.kind != HB_INT_PAGED || dir->numbers.nulls)
			c->bad = true;
	}
	if (!dir->dense)
	{
		get_int(c, &dir->firsts, dir->nblocks, dir, pos);
		if ((dir->firsts.kind != HB_INT_PAGED && dir->firsts.kind != HB_INT_CONST) ||
			dir->firsts.nulls || dir->firsts.min != 0 ||
			dir->firsts.max >= (int64_t) dir->nrows)
			c->bad = true;
	}
}

bool
hb_directory_get(HbMem *mem, const uint8_t *data, size_t len,
				 uint64_t chunk_id, HbDirectory *dir, HbError *error)
{
	HbCursor	c;
	uint64_t	pos = 0;
	uint8_t		flags;
	uint32_t	ndicts = 0;
	uint32_t	no = 0;
	uint32_t	i;

	memset(dir, 0, sizeof(*dir));
	if (len < DIR_HEAD + 4 || data[0] != DIR_MAGIC0 || data[1] != DIR_MAGIC1)
	{
		hb_error_set(error, HB_ERR_CORRUPT, "directory", -1, -1, "not a chunk directory");
		return false;
	}
	if (data[2] != HB_FORMAT_VERSION)
	{
		hb_error_set(error, HB_ERR_VERSION, "directory", -1, -1, "unknown format version");
		return false;
	}
	if (!hb_crc_matches(hb_crc32c(hb_crc_seed(chunk_id, 0, HB_SEED_DIRECTORY, 0),
								  data, len - 4), data + len - 4))
	{
		hb_error_set(error, HB_ERR_CORRUPT, "directory", -1, -1, "checksum does not match");
		return false;
	}
	c.p = data + DIR_HEAD;
	c.end = data + len - 4;
	c.bad = false;
	flags = hb_cursor_byte(&c);
	dir->has_blocks = (flags & DIR_BLOCKS) != 0;
	dir->consecutive = (flags & DIR_CONSECUTIVE) != 0;
	dir->dense = (flags & DIR_DENSE) != 0;
	dir->seq_col = -1;
	dir->nrows = (uint32_t) hb_cursor_varint_max(&c, HB_CHUNK_MAX_ROWS);
	dir->npages = (dir->nrows + HB_PAGE_ROWS - 1) / HB_PAGE_ROWS;
	dir->ncols = (uint32_t) hb_cursor_varint_max(&c, HB_MAX_COLUMNS);
	dir->ndicts = (uint32_t) hb_cursor_varint_max(&c, dir->ncols);
	/* a column takes two bytes at least */
	if (dir->nrows == 0 || dir->ncols > len / 2 ||
		(flags & ~(DIR_BLOCKS | DIR_CONSECUTIVE | DIR_DENSE)))
		c.bad = true;
	if (dir->has_blocks && !c.bad)
		get_blocks(&c, dir, &pos);
	if (c.bad)
	{
		hb_error_set(error, HB_ERR_CORRUPT, "directory", -1, -1, "head is damaged");
		return false;
	}
	dir->cols = hb_alloc0(mem, sizeof(HbColDesc) * dir->ncols + sizeof(HbDictDesc) * dir->ndicts + 1);
	dir->dicts = (HbDictDesc *) (dir->cols + dir->ncols);
	for (i = 0; i < dir->ncols && !c.bad; i++)
	{
		HbColDesc  *col = &dir->cols[i];
		uint8_t		b = hb_cursor_byte(&c);
		uint64_t	step = hb_cursor_varint_max(&c, UINT16_MAX);
		uint64_t	start = pos;

		col->kind = b & 15;
		col->phys = b >> 4;
		if ((i > 0 && step == 0) || step > UINT16_MAX - no ||
			col->phys < HB_PHYS_INT || col->phys > HB_PHYS_NUM ||
			((col->kind == HB_COL_INT) && col->phys != HB_PHYS_INT) ||
			(col->phys == HB_PHYS_INT && (col->kind == HB_COL_DICT || col->kind == HB_COL_FIXED ||
										  col->kind == HB_COL_VAR || col->kind == HB_COL_PREV)))
			c.bad = true;
		no += (uint32_t) step;
		col->column_no = (uint16_t) no;
		if (!c.bad)
			get_column(&c, dir, col, &pos, &ndicts);
		col->bytes = pos - start;
	}
	for (i = 0; i < dir->ncols && !c.bad; i++)
	{
		const HbColDesc *col = &dir->cols[i];

		if (col->kind == HB_COL_PREV &&
			dir->cols[col->prev_col].kind != HB_COL_FIXED &&
			dir->cols[col->prev_col].kind != HB_COL_VAR)
			c.bad = true;
	}
	dir->body_len = pos;
	if (c.bad || c.p != c.end || ndicts != dir->ndicts ||
		(dir->seq_col >= 0 && dir->cols[dir->seq_col].kind != HB_COL_INT &&
		 dir->cols[dir->seq_col].kind != HB_COL_NULL))
	{
		hb_free(mem, dir->cols);
		hb_error_set(error, HB_ERR_CORRUPT, "directory", -1, -1, "an entry is damaged");
		return false;
	}
	return true;
}
