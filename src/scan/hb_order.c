/*
 * hb_order.c
 *		Rows of overlapping chunks in the order of the sort key.
 *
 * Chunks that do not share blocks need no merge: hb_scan.c streams them.  A
 * cluster of chunks that do is merged row by row with a heap of cursors.  A
 * chunk joins the heap when the merge comes to its first block (descending:
 * its last), so only those that overlap at a point are open at a time.
 *
 * Keys are compared in physical form, NULLs after everything; equal keys by
 * chunk and row, so that descending is exactly the reverse.  A row taken from
 * a cursor is only noted; its output columns are made, for all rows of the
 * page that the batch took, before the cursor leaves the page.  A cursor that
 * has no more rows is released at the next call, since the batch may refer to
 * its datums.
 */
#include "postgres.h"

#include "lib/binaryheap.h"
#include "utils/memutils.h"

#include "scan/hb_scan_int.h"

typedef struct HbMerge
{
	HbScan	   *scan;
	MemoryContext cxt;
	bool		descending;
	int			nchunks;		/* of the cluster, in the order of joining */
	int		   *chunks;
	int			next;			/* the next to join */
	binaryheap *heap;
	List	   *done;			/* cursors to release at the next call */
} HbMerge;

static int
compare_rows(HbCursor *a, HbCursor *b)
{
	HbScan	   *scan = a->scan;
	int			i = a->pos;
	int			j = b->pos;

	for (int k = 0; k < scan->table->nsort; k++)
	{
		const HbSortKeys *x = &a->keys[k];
		const HbSortKeys *y = &b->keys[k];
		int			c;

		if (x->isnull[i] || y->isnull[j])
			c = (int) x->isnull[i] - (int) y->isnull[j];
		else if (x->bytes)
			c = hb_slice_cmp(x->slices[i], y->slices[j]);
		else
			c = (x->ints[i] > y->ints[j]) - (x->ints[i] < y->ints[j]);
		if (c != 0)
			return c;
	}
	if (a->chunk->row->chunk_id != b->chunk->row->chunk_id)
		return a->chunk->row->chunk_id < b->chunk->row->chunk_id ? -1 : 1;
	return (int) a->rows[i] - (int) b->rows[j];
}

/* The heap's top is its greatest. */
static int
compare_cursors(Datum a, Datum b, void *arg)
{
	HbMerge    *merge = arg;
	int			c = compare_rows((HbCursor *) DatumGetPointer(a),
								 (HbCursor *) DatumGetPointer(b));

	return merge->descending ? c : -c;
}

static int
compare_first(const void *a, const void *b, void *arg)
{
	const HbChunkRow *chunks = arg;
	const HbChunkRow *x = &chunks[*(const int *) a];
	const HbChunkRow *y = &chunks[*(const int *) b];

	return (x->first_block > y->first_block) - (x->first_block < y->first_block);
}

static int
compare_last(const void *a, const void *b, void *arg)
{
	const HbChunkRow *chunks = arg;
	const HbChunkRow *x = &chunks[*(const int *) a];
	const HbChunkRow *y = &chunks[*(const int *) b];

	return (x->last_block < y->last_block) - (x->last_block > y->last_block);
}

/* Merges chunks from .. to of the set. */
HbMerge *
hb_merge_begin(HbScan *scan, int from, int to)
{
	MemoryContext cxt = AllocSetContextCreate(scan->cxt, "hotblocks merge",
											  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(cxt);
	HbMerge    *merge = palloc0(sizeof(HbMerge));

	merge->scan = scan;
	merge->cxt = cxt;
	merge->descending = scan->order == HB_ORDER_DESC;
	merge->nchunks = to - from + 1;
	merge->chunks = palloc(sizeof(int) * merge->nchunks);
	for (int i = from; i <= to; i++)
		merge->chunks[i - from] = i;
	qsort_arg(merge->chunks, merge->nchunks, sizeof(int),
			  merge->descending ? compare_last : compare_first,
			  scan->set->chunks);
	merge->heap = binaryheap_allocate(merge->nchunks, compare_cursors, merge);
	MemoryContextSwitchTo(old);
	return merge;
}

static void
keys_alloc(HbCursor *cur)
{
	HbScan	   *scan = cur->scan;
	HbTable    *table = scan->table;
	MemoryContext old;

	if (cur->keys != NULL)
		return;
	old = MemoryContextSwitchTo(scan->cxt);
	cur->keys = palloc0(sizeof(HbSortKeys) * table->nsort);
	for (int k = 0; k < table->nsort; k++)
	{
		HbSortKeys *keys = &cur->keys[k];

		keys->bytes = table->columns[table->sort_cols[k]].value.phys != HB_PHYS_INT;
		if (keys->bytes)
			keys->slices = palloc(sizeof(HbSlice) * HB_PAGE_ROWS);
		else
			keys->ints = palloc(sizeof(int64) * HB_PAGE_ROWS);
		keys->isnull = palloc(sizeof(bool) * HB_PAGE_ROWS);
	}
	cur->rows = palloc(sizeof(uint16) * HB_PAGE_ROWS);
	cur->outpos = palloc(sizeof(uint16) * HB_PAGE_ROWS);
	cur->weights = palloc(sizeof(uint64) * HB_PAGE_ROWS);
	cur->key_cxt = AllocSetContextCreate(scan->cxt, "hotblocks sort keys",
										 ALLOCSET_DEFAULT_SIZES);
	MemoryContextSwitchTo(old);
}

static HbSlice
copy_slice(HbSlice s)
{
	uint8	   *copy = palloc(Max(s.len, 1));

	memcpy(copy, s.data, s.len);
	s.data = copy;
	return s;
}

/* The num form of a non-negative integer, for a chunk that stores those. */
static HbSlice
num_form(int64 value)
{
	uint8	   *form = palloc(9);
	HbSlice		s;
	int			n = 0;

	for (int shift = 56; shift >= 0; shift -= 8)
	{
		uint8		byte = (uint8) ((uint64) value >> shift);

		if (n > 0 || byte != 0)
			form[++n] = byte;
	}
	form[0] = (uint8) n;
	s.data = form;
	s.len = n + 1;
	return s;
}

/* One sort column of the page's rows; rows ascending, into keys[at[i]]. */
static void
load_column(HbCursor *cur, int col, HbSortKeys *keys, const uint16 *rows, int n)
{
	HbScan	   *scan = cur->scan;
	bool		reversed = scan->order == HB_ORDER_DESC;
	HbColumnState *cs;
	const uint64 *nulls;
	HbStored	stored;

#define AT(i)	(reversed ? n - 1 - (i) : (i))

	if (col == scan->table->block_col)
	{
		HB_READ(cur, hb_reader_row_blocks(cur->reader,
										  cur->page * HB_PAGE_ROWS + rows[0],
										  rows[n - 1] - rows[0] + 1,
										  scan->int_buf));
		for (int i = 0; i < n; i++)
		{
			keys->ints[AT(i)] = scan->int_buf[rows[i] - rows[0]];
			keys->isnull[AT(i)] = false;
		}
		return;
	}

	cs = hb_cursor_column(cur, col);
	stored = cs->info != NULL ? cs->info->stored : HB_STORED_NULL;
	if (stored == HB_STORED_DERIVED)
	{
		HbValueType *type = &scan->table->columns[col].value;

		for (int i = 0; i < n; i++)
			scan->row_buf[i] = cur->page * HB_PAGE_ROWS + rows[i];
		hb_deriver_get(hb_scan_deriver(scan), cur->chunk, col, scan->row_buf, n,
					   scan->datum_buf, scan->null_buf);
		for (int i = 0; i < n; i++)
		{
			int64_t		value = 0;
			HbSlice		bytes = {NULL, 0};

			keys->isnull[AT(i)] = scan->null_buf[i];
			if (scan->null_buf[i])
				continue;
			hb_value_to_phys(type, scan->datum_buf[i], &value, &bytes);
			if (keys->bytes)
				keys->slices[AT(i)] = bytes;
			else
				keys->ints[AT(i)] = value;
		}
		return;
	}

	nulls = stored == HB_STORED_NULL ? NULL : hb_page_nulls(cur, cs, cur->page);
	for (int i = 0; i < n; i++)
		keys->isnull[AT(i)] = stored == HB_STORED_NULL ||
			(nulls != NULL && ((nulls[rows[i] / 64] >> (rows[i] % 64)) & 1) != 0);

	if (stored == HB_STORED_INT)
	{
		const int64 *v = hb_page_ints(cur, cs, cur->page);

		for (int i = 0; i < n; i++)
		{
			if (keys->bytes)
				keys->slices[AT(i)] = num_form(v[rows[i]]);
			else
				keys->ints[AT(i)] = v[rows[i]];
		}
	}
	else if (stored == HB_STORED_DICT)
	{
		const uint32 *codes = hb_page_codes(cur, cs, cur->page);

		for (int i = 0; i < n; i++)
		{
			if (codes[rows[i]] != 0)
				HB_READ(cur, hb_reader_dict_entry(cur->reader, cs->rcol,
												  codes[rows[i]],
												  &keys->slices[AT(i)]));
		}
	}
	else if (stored == HB_STORED_FIXED || stored == HB_STORED_VAR)
	{
		HB_READ(cur, hb_reader_bytes(cur->reader, cs->rcol, cur->page, rows, n,
									 scan->slice_buf));
		for (int i = 0; i < n; i++)
		{
			if (!keys->isnull[AT(i)])
				keys->slices[AT(i)] = copy_slice(scan->slice_buf[i]);
		}
	}
#undef AT
}

/* Puts the cursor at its next page's first row; false at its end. */
static bool
load_page(HbCursor *cur)
{
	HbScan	   *scan = cur->scan;
	HbTable    *table = scan->table;
	uint16	   *rows = scan->rows_buf;
	MemoryContext old;
	int			n;

	if (!hb_select_next_page(cur))
		return false;
	keys_alloc(cur);
	n = hb_select_take(cur, HB_PAGE_ROWS, rows);

	MemoryContextReset(cur->key_cxt);
	old = MemoryContextSwitchTo(cur->key_cxt);
	for (int k = 0; k < table->nsort; k++)
		load_column(cur, table->sort_cols[k], &cur->keys[k], rows, n);
	MemoryContextSwitchTo(old);

	for (int i = 0; i < n; i++)
		cur->rows[i] = rows[scan->order == HB_ORDER_DESC ? n - 1 - i : i];
	cur->weighed = hb_batch_weights(cur, cur->rows, n, cur->weights);
	cur->nrows_page = n;
	cur->pos = 0;
	cur->first_pending = 0;
	return true;
}

/* Makes the output columns of the rows that the batch took from the page. */
static void
flush_cursor(HbCursor *cur)
{
	HbScan	   *scan = cur->scan;
	int			n = cur->pos - cur->first_pending;
	const uint16 *rows = cur->rows + cur->first_pending;
	const uint16 *outpos = cur->outpos + cur->first_pending;

	if (n == 0)
		return;
	if (scan->order == HB_ORDER_DESC)
	{
		for (int i = 0; i < n; i++)
		{
			scan->rows_buf[i] = rows[n - 1 - i];
			scan->outpos_buf[i] = outpos[n - 1 - i];
		}
		rows = scan->rows_buf;
		outpos = scan->outpos_buf;
	}
	hb_batch_fill(cur, rows, n, outpos);
	cur->first_pending = cur->pos;
}

/* Does the merge come to the next chunk before the heap's top row? */
static bool
next_joins(HbMerge *merge)
{
	const HbChunkRow *row;
	HbCursor   *top;

	if (merge->next == merge->nchunks)
		return false;
	if (binaryheap_empty(merge->heap))
		return true;
	row = &merge->scan->set->chunks[merge->chunks[merge->next]];
	if (!row->has_blocks)
		return true;
	top = (HbCursor *) DatumGetPointer(binaryheap_first(merge->heap));
	if (merge->descending)
		return row->last_block >= top->keys[0].ints[top->pos];
	return row->first_block <= top->keys[0].ints[top->pos];
}

static void
open_chunks(HbMerge *merge)
{
	while (next_joins(merge))
	{
		int			index = merge->chunks[merge->next++];
		HbCursor   *cur;

		if (hb_scan_rules_out(merge->scan, index))
			continue;
		cur = hb_cursor_open(merge->scan, index);
		if (cur == NULL)
			continue;
		if (load_page(cur))
			binaryheap_add(merge->heap, PointerGetDatum(cur));
		else
			hb_cursor_release(cur);
	}
}

/* Fills the batch with up to max rows; 0 at the end. */
int
hb_merge_next(HbMerge *merge, int max)
{
	ListCell   *lc;
	uint64		bytes = 0;
	int			n = 0;

	foreach(lc, merge->done)
		hb_cursor_release(lfirst(lc));
	list_free(merge->done);
	merge->done = NIL;

	while (n < max && bytes <= HB_BATCH_BYTES)
	{
		HbCursor   *cur;

		open_chunks(merge);
		if (binaryheap_empty(merge->heap))
			break;
		cur = (HbCursor *) DatumGetPointer(binaryheap_first(merge->heap));
		if (cur->weighed)
			bytes += cur->weights[cur->pos];
		cur->outpos[cur->pos++] = n++;
		if (cur->pos == cur->nrows_page)
		{
			flush_cursor(cur);
			if (!load_page(cur))
			{
				MemoryContext old = MemoryContextSwitchTo(merge->cxt);

				binaryheap_remove_first(merge->heap);
				merge->done = lappend(merge->done, cur);
				MemoryContextSwitchTo(old);
				continue;
			}
		}
		binaryheap_replace_first(merge->heap, PointerGetDatum(cur));
	}
	for (int i = 0; i < merge->heap->bh_size; i++)
		flush_cursor((HbCursor *) DatumGetPointer(merge->heap->bh_nodes[i]));
	return n;
}

/* Releases the cursors that are still in the merge. */
void
hb_merge_end(HbMerge *merge)
{
	ListCell   *lc;

	foreach(lc, merge->done)
		hb_cursor_release(lfirst(lc));
	for (int i = 0; i < merge->heap->bh_size; i++)
		hb_cursor_release((HbCursor *) DatumGetPointer(merge->heap->bh_nodes[i]));
	MemoryContextDelete(merge->cxt);
}
