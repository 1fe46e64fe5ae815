/*
 * hb_pending.c
 *		Rows that a statement has written and not stored yet.
 *
 * A writer (hb_writer.c) collects the rows of a chunk in memory.  A heap shows
 * a row to every snapshot whose command id is above that of the statement
 * which inserted it, from the moment it is inserted: to AFTER triggers, and to
 * volatile functions that the same statement calls.  So must a table here.
 * Nobody but its own statement stores a writer's rows, since they must carry
 * that statement's command id and subtransaction; a reader reads them where
 * they are.
 *
 * The writers that hold rows are in a list.  For a reader, rows that it has
 * not been shown before are made into a chunk in memory, an *image*: the same
 * bytes as a stored chunk has, read by the same reader, so that nothing above
 * the chunk set knows the difference.  An image is of a range of the builder's
 * rows.  A row trigger that reads the table for each of n rows must not encode
 * n rows n times: a new image takes in the ones before it as long as they are
 * not more than twice its size, so that there are at most about log2(n) of
 * them, and a row is encoded about log2(n) times.
 *
 * When the writer stores rows, those that remain have other numbers, and all
 * of its images go.  An image is counted: it lives on in the chunk sets that
 * have it.  Images are below TopTransactionContext.
 *
 * An entry leaves the list when its writer finishes; with the writer's memory
 * (so that no error leaves it behind); and when the subtransaction is aborted
 * that it began in.
 */
#include "postgres.h"

#include "compat.h"
#include "store/hb_store_int.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "utils/memutils.h"

/* Images that are not more than so many times the size of the next join it. */
#define HB_PENDING_MERGE	2

static dlist_head hb_pendings = DLIST_STATIC_INIT(hb_pendings);
static int64 hb_pending_last_id = 0;	/* images count down from -1 */

/*
 * Images
 */

void
hb_pending_image_unref(HbPendingImage *image)
{
	Assert(image->refs > 0);
	if (--image->refs == 0)
		MemoryContextDelete(image->cxt);
}

static void
hb_pending_drop_images(HbPending *p)
{
	while (p->nimages > 0)
		hb_pending_image_unref(p->images[--p->nimages]);
}

/* The body on its way into memory. */
typedef struct HbPendingBody
{
	MemoryContext cxt;
	uint8	   *data;
	uint64		len;
	uint64		room;
} HbPendingBody;

static void
hb_pending_append(void *arg, const uint8_t *data, size_t len)
{
	HbPendingBody *body = arg;

	CHECK_FOR_INTERRUPTS();
	if (body->len + len > body->room)
	{
		body->room = Max(body->len + len, body->room * 2);
		if (body->data == NULL)
			body->data = MemoryContextAllocHuge(body->cxt, body->room);
		else
			body->data = repalloc_huge(body->data, body->room);
	}
	memcpy(body->data + body->len, data, len);
	body->len += len;
}

/* Copies row i of the writer's builder. */
static void
hb_pending_copy_row(HbPending *p, HbBuilder *to, uint32 i)
{
	HbTable    *table = p->table;

	hb_builder_begin_row(to);
	for (int col = 0; col < table->ncolumns; col++)
	{
		HbPhys		phys = table->columns[col].value.phys;
		int64_t		number;
		HbSlice		bytes;

		if (phys != HB_PHYS_BYTES && hb_builder_get_int(p->builder, col, i, &number))
			hb_builder_add_int(to, col, number);
		else if (phys != HB_PHYS_INT && hb_builder_get_bytes(p->builder, col, i, &bytes))
			hb_builder_add_bytes(to, col, bytes.data, bytes.len);
	}
	hb_builder_end_row(to);
}

/*
 * What was added last may still be waiting for its place in the builder, and
 * the first look at it brings it there.  If memory ran out in the middle of
 * that, in a reader whose subtransaction is rolled back, the statement must
 * not go on as if nothing had happened.
 */
static void
hb_pending_settle(HbPending *p)
{
	HbTable    *table = p->table;

	p->unsettled = true;
	for (int col = 0; col < table->ncolumns; col++)
	{
		int64_t		number;
		HbSlice		bytes;

		if (table->columns[col].value.phys != HB_PHYS_INT &&
			!hb_builder_get_int(p->builder, col, 0, &number))
			(void) hb_builder_get_bytes(p->builder, col, 0, &bytes);
	}
	p->unsettled = false;
}

/* Makes an image of n rows from row first on. */
static HbPendingImage *
hb_pending_make_image(HbPending *p, uint32 first, uint32 n)
{
	MemoryContext cxt = AllocSetContextCreate(CurrentMemoryContext,
											  "hotblocks rows in memory",
											  ALLOCSET_SMALL_SIZES);
	MemoryContext tmp = AllocSetContextCreate(cxt, "hotblocks rows in memory, building",
											  ALLOCSET_DEFAULT_SIZES);
	HbPendingImage *image = MemoryContextAllocZero(cxt, sizeof(HbPendingImage));
	HbPendingBody body = {.cxt = cxt};
	HbSink		sink = {.append = hb_pending_append, .arg = &body};
	HbMem		mem;
	HbBuilder  *builder;
	HbChunkInfo info;
	HbError		error;
	HbChunkRow *row = &image->row;

	hb_mem_init(&mem, tmp);
	builder = hb_table_builder(p->table, &mem, false);
	for (uint32 i = 0; i < n; i++)
	{
		if (i % HB_PAGE_ROWS == 0)
			CHECK_FOR_INTERRUPTS();
		hb_pending_copy_row(p, builder, first + i);
	}
	hb_builder_sort(builder);
	for (int col = 0; col < p->table->ncolumns; col++)
		if (p->assumed[col])
			hb_builder_mark_derived(builder, col,
									(uint8_t) p->table->columns[col].derive);

	row->chunk_id = --hb_pending_last_id;
	if (!hb_builder_finish(builder, n, (uint64) row->chunk_id, &sink, &info, &error))
		hb_table_limit_error(p->table, &error);
	row->has_blocks = p->table->block_col >= 0;
	if (row->has_blocks)
	{
		row->first_block = info.first_block;
		row->last_block = info.last_block;
	}
	row->nrows = n;
	row->body_len = info.body_len;
	row->bytes = info.body_len + info.dir_len;
	row->batch = p->batch;
	row->directory_bytes = (int32) info.dir_len;
	row->format = HB_FORMAT_VERSION;
	row->image = image;
	image->first = first;
	image->body = body.data;
	image->dir = MemoryContextAlloc(cxt, info.dir_len);
	image->dir_len = info.dir_len;
	memcpy(image->dir, info.dir, info.dir_len);
	MemoryContextDelete(tmp);

	image->cxt = cxt;
	image->refs = 1;
	MemoryContextSetParent(cxt, TopTransactionContext);
	return image;
}

/* Makes sure that the images are of all rows. */
static void
hb_pending_complete(HbPending *p)
{
	uint32		nrows = hb_builder_rows(p->builder);
	uint32		first = 0;
	int			keep = p->nimages;
	HbPendingImage *image;

	if (keep > 0)
		first = p->images[keep - 1]->first + p->images[keep - 1]->row.nrows;
	if (first == nrows)
		return;
	while (keep > 0 &&
		   p->images[keep - 1]->row.nrows <= HB_PENDING_MERGE * (nrows - first))
		first = p->images[--keep]->first;

	hb_pending_settle(p);
	image = hb_pending_make_image(p, first, nrows - first);
	while (p->nimages > keep)
		hb_pending_image_unref(p->images[--p->nimages]);
	Assert(p->nimages < HB_PENDING_MAX_IMAGES);
	p->images[p->nimages++] = image;
}

/*
 * The list
 */

static bool
hb_pending_matches(const HbPending *p, const HbTable *table, Snapshot snapshot,
				   HbRows which)
{
	if (which == HB_ROWS_STORED || (which == HB_ROWS_SOURCE && !p->transition))
		return false;
	if (p->table->dataset->chunk_relid != table->dataset->chunk_relid ||
		strcmp(NameStr(p->table->name), NameStr(table->name)) != 0)
		return false;
	return !IsMVCCSnapshot(snapshot) || p->cid < snapshot->curcid;
}

/*
 * The rows in memory that a reader sees: adds the images, each with a
 * reference that is the caller's, by calling add.
 */
void
hb_pending_collect(HbTable *table, Snapshot snapshot, HbRows which,
				   void (*add) (void *arg, HbPendingImage *image), void *arg)
{
	dlist_iter	iter;

	dlist_foreach(iter, &hb_pendings)
	{
		HbPending  *p = dlist_container(HbPending, node, iter.cur);

		if (!hb_pending_matches(p, table, snapshot, which))
			continue;
		hb_pending_complete(p);
		for (int i = 0; i < p->nimages; i++)
		{
			p->images[i]->refs++;
			add(arg, p->images[i]);
		}
	}
}

/* How many they are, and their writers' memory; nothing is made. */
uint64
hb_pending_count(HbTable *table, Snapshot snapshot, HbRows which, uint64 *bytes)
{
	uint64		rows = 0;
	dlist_iter	iter;

	*bytes = 0;
	dlist_foreach(iter, &hb_pendings)
	{
		HbPending  *p = dlist_container(HbPending, node, iter.cur);

		if (!hb_pending_matches(p, table, snapshot, which))
			continue;
		rows += hb_builder_rows(p->builder);
		*bytes += hb_builder_bytes(p->builder);
	}
	return rows;
}

bool
hb_pending_any(void)
{
	dlist_iter	iter;

	dlist_foreach(iter, &hb_pendings)
	{
		if (hb_builder_rows(dlist_container(HbPending, node, iter.cur)->builder) > 0)
			return true;
	}
	return false;
}

/*
 * TRUNCATE cannot remove rows that a running statement has yet to store.  Core
 * refuses it for the foreign table that the statement writes; this is for
 * another one of the same rows, and for feeds.
 */
void
hb_pending_forbid_truncate(HbTable *table)
{
	dlist_iter	iter;

	dlist_foreach(iter, &hb_pendings)
	{
		HbPending  *p = dlist_container(HbPending, node, iter.cur);

		if (p->table->dataset->chunk_relid == table->dataset->chunk_relid &&
			(p->transition || strcmp(NameStr(p->table->name), NameStr(table->name)) == 0))
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_IN_USE),
					 errmsg("cannot truncate table \"%s\" of dataset \"%s\" because a query of this session is writing to it",
							NameStr(table->name), NameStr(table->dataset->name))));
	}
}

static void
hb_pending_unlink(HbPending *p)
{
	if (!p->listed)
		return;
	dlist_delete(&p->node);
	p->listed = false;
	hb_pending_drop_images(p);
}

static void
hb_pending_reset_callback(void *arg)
{
	hb_pending_unlink(arg);
}

static void
hb_pending_xact_callback(XactEvent event, void *arg)
{
	if (event != XACT_EVENT_COMMIT && event != XACT_EVENT_ABORT &&
		event != XACT_EVENT_PREPARE)
		return;
	while (!dlist_is_empty(&hb_pendings))
		hb_pending_unlink(dlist_container(HbPending, node,
										  dlist_head_node(&hb_pendings)));
}

static void
hb_pending_subxact_callback(SubXactEvent event, SubTransactionId subid,
							SubTransactionId parent, void *arg)
{
	dlist_mutable_iter iter;

	if (event != SUBXACT_EVENT_ABORT_SUB && event != SUBXACT_EVENT_COMMIT_SUB)
		return;
	dlist_foreach_modify(iter, &hb_pendings)
	{
		HbPending  *p = dlist_container(HbPending, node, iter.cur);

		if (p->subid != subid)
			continue;
		if (event == SUBXACT_EVENT_COMMIT_SUB)
			p->subid = parent;
		else
			hb_pending_unlink(p);
	}
}

/*
 * Enters a writer, whose memory context is cxt.  What p says of the writer is
 * the caller's to fill in before.
 */
void
hb_pending_begin(HbPending *p, MemoryContext cxt)
{
	static bool registered = false;

	if (!registered)
	{
		RegisterXactCallback(hb_pending_xact_callback, NULL);
		RegisterSubXactCallback(hb_pending_subxact_callback, NULL);
		registered = true;
	}
	p->subid = GetCurrentSubTransactionId();
	p->callback.func = hb_pending_reset_callback;
	p->callback.arg = p;
	MemoryContextRegisterResetCallback(cxt, &p->callback);
	dlist_push_head(&hb_pendings, &p->node);
	p->listed = true;
}

/* The writer is going to store rows, which gives the others new numbers. */
void
hb_pending_changed(HbPending *p)
{
	hb_pending_drop_images(p);
}

/* The writer may not go on if a reader has left it in disorder. */
void
hb_pending_check(const HbPending *p)
{
	if (unlikely(p->unsettled))
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("rows of table \"%s\" of dataset \"%s\" are lost",
						NameStr(p->table->name), NameStr(p->table->dataset->name)),
				 errdetail("Memory ran out when a function read rows of the statement that calls it.")));
}

void
hb_pending_end(HbPending *p)
{
	hb_pending_unlink(p);
}
