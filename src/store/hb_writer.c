/*
 * hb_writer.c
 *		Rows to chunks.
 *
 * Rows go into a builder until there are hotblocks.chunk_rows of them, or all
 * writers of the backend together hold hotblocks.build_memory; of those that
 * write for this statement the largest then makes room.  Then they are sorted (nothing to do where they came sorted) and
 * written as a chunk: all of them, or those up to the beginning of the last
 * block where that lies in the last quarter, in which case the rest is kept
 * for the next chunk.  So a block whose rows come together is in one chunk,
 * and chunks of a sorted load do not overlap.
 *
 * The body streams from the builder into one buffer of a piece's size, and
 * each full piece is inserted at once; a body that fits the chunk's row never
 * becomes a piece.  Rows of the dataset's tables are inserted with the command
 * id of the statement, as an INSERT's would be; until they are, hb_pending.c
 * shows them to those who may see them.
 *
 * Memory: the builder in a context of the writer, which goes with the memory
 * context that was current at begin, and the piece buffer while a chunk is
 * written.
 */
#include "postgres.h"

#include "compat.h"
#include "store/hb_store_int.h"

#include "access/table.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "nodes/value.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

struct HbWriter
{
	HbTable    *table;
	bool		transition;
	MemoryContext cxt;
	MemoryContext row_cxt;		/* reset for each row */
	HbMem		mem;
	HbBuilder  *builder;
	dlist_node	node;			/* in hb_writers */
	MemoryContextCallback leave;	/* takes it from there */
	size_t		bytes;			/* of the builder, as hb_writers_bytes has it */
	size_t		base_bytes;		/* the builder's after the last chunk */
	bool	   *assumed;		/* by column: derived without comparing */
	HbPending	pending;		/* where readers find the rows */
	CommandId	cid;
	int64		batch;
	Snapshot	snapshot;		/* the statement's, for comparing */
	HbWriterResult result;
	HbBlockRef	lowest;			/* block table of a load */
	HbBlockRef	highest;
	int			hash_col;		/* of the block table, -1: none */
	int			parent_col;
	HbPhysValue *values;		/* of the row at hand */

	/* the chunk being written */
	int64		chunk_id;
	Relation	pieces;
	int32		seq;
	uint64		body_len;
	struct varlena *piece;		/* header and payload */
	uint32		piece_len;		/* of the payload, so far */
};

/* All writers of the backend, and what their builders hold. */
static dlist_head hb_writers = DLIST_STATIC_INIT(hb_writers);
static size_t hb_writers_bytes = 0;

/* Brings the count up to date after the builder has changed. */
static void
hb_writer_count(HbWriter *w)
{
	size_t		bytes = hb_builder_bytes(w->builder);

	hb_writers_bytes = hb_writers_bytes - w->bytes + bytes;
	w->bytes = bytes;
}

/* What the rows of the next chunk have added to it. */
static size_t
hb_writer_gain(const HbWriter *w)
{
	return w->bytes > w->base_bytes ? w->bytes - w->base_bytes : 0;
}

static void
hb_writer_leave(void *arg)
{
	HbWriter   *w = arg;

	dlist_delete(&w->node);
	hb_writers_bytes -= w->bytes;
}

/* A builder of the table's rows; not packed: for speed, not for size. */
HbBuilder *
hb_table_builder(const HbTable *table, HbMem *mem, bool packed)
{
	HbBuilder  *builder;
	HbColumnSpec *specs = palloc0_array(HbColumnSpec, table->ncolumns);
	HbBuilderOptions options = {0};

	for (int i = 0; i < table->ncolumns; i++)
	{
		HbColumn   *column = &table->columns[i];

		specs[i].column_no = column->number;
		specs[i].phys = column->value.phys;
		specs[i].domain = column->domain;
		specs[i].width = column->width;
		specs[i].hash_index = column->hash_index;
		specs[i].ordered = column->value.class == HB_VALUE_VARLENA ||
			column->value.class == HB_VALUE_INT4_ARRAY;
		specs[i].prev_of = column->prev_of;
	}
	options.block_col = table->block_col;
	options.nsort = table->nsort;
	for (int i = 0; i < table->nsort; i++)
		options.sort_cols[i] = table->sort_cols[i];
	options.compression = packed ? hb_compression : 0;
	options.zstd_level = hb_compression_level;
	builder = hb_builder_create(mem, specs, table->ncolumns, &options);
	pfree(specs);
	return builder;
}

/* The rows do not fit a chunk. */
void
hb_table_limit_error(const HbTable *table, const HbError *error)
{
	ereport(ERROR,
			(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
			 errmsg("could not store rows of table \"%s\" of dataset \"%s\"",
					NameStr(table->name), NameStr(table->dataset->name)),
			 errdetail("%s", error->detail)));
}

static HbWriter *
hb_writer_create(HbTable *table, bool transition, CommandId cid, Snapshot snapshot)
{
	MemoryContext cxt = AllocSetContextCreate(CurrentMemoryContext, "hotblocks writer",
											  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(cxt);
	HbWriter   *w = palloc0_object(HbWriter);

	w->table = table;
	w->transition = transition;
	w->cxt = cxt;
	w->row_cxt = AllocSetContextCreate(cxt, "hotblocks writer row",
									   ALLOCSET_DEFAULT_SIZES);
	hb_mem_init(&w->mem, cxt);
	w->cid = cid;
	w->snapshot = snapshot;
	w->assumed = palloc0_array(bool, table->ncolumns);
	w->values = palloc0_array(HbPhysValue, table->ncolumns);
	w->hash_col = hb_table_column(table, "hash");
	w->parent_col = hb_table_column(table, "parent_hash");
	w->builder = hb_table_builder(table, &w->mem, true);
	dlist_push_tail(&hb_writers, &w->node);
	w->leave.func = hb_writer_leave;
	w->leave.arg = w;
	MemoryContextRegisterResetCallback(cxt, &w->leave);
	hb_writer_count(w);
	w->base_bytes = w->bytes;
	w->pending.table = table;
	w->pending.cid = cid;
	w->pending.transition = transition;
	w->pending.builder = w->builder;
	w->pending.assumed = w->assumed;
	hb_pending_begin(&w->pending, cxt);
	MemoryContextSwitchTo(old);
	return w;
}

HbWriter *
hb_writer_begin(HbTable *table, CommandId cid, Snapshot snapshot)
{
	/* so that TRUNCATE or a fork waits for us, and we for it */
	hb_head_lock(table->dataset, HB_HEAD_KEY_SHARE, NULL);
	return hb_writer_create(table, false, cid, snapshot);
}

HbWriter *
hb_writer_begin_transition(HbTable *table, CommandId cid, Snapshot snapshot,
						   int64 batch)
{
	HbWriter   *w = hb_writer_create(table, true, cid, snapshot);

	w->batch = w->pending.batch = batch;
	return w;
}

void
hb_writer_assume_derived(HbWriter *w, int col)
{
	w->assumed[col] = true;
}

/* Inserts the piece at hand. */
static void
hb_writer_flush_piece(HbWriter *w)
{
	Datum		values[HB_PIECE_NATTS];
	bool		nulls[HB_PIECE_NATTS] = {false};

	hb_piece_frame((uint8_t *) VARDATA(w->piece), w->chunk_id, w->seq, w->piece_len);
	SET_VARSIZE(w->piece, VARHDRSZ + HB_PIECE_HEADER + w->piece_len);
	values[HB_PIECE_CHUNK_ID - 1] = Int64GetDatum(w->chunk_id);
	values[HB_PIECE_SEQ - 1] = Int32GetDatum(w->seq);
	values[HB_PIECE_DATA - 1] = PointerGetDatum(w->piece);
	if (w->pieces == NULL)
		w->pieces = hb_storage_open(w->table->dataset, HB_STORAGE_PIECE, RowExclusiveLock);
	hb_storage_insert(w->pieces, HB_STORAGE_PIECE, values, nulls, w->cid);
	w->seq++;
	w->piece_len = 0;
}

static void
hb_writer_append(void *arg, const uint8_t *data, size_t len)
{
	HbWriter   *w = arg;

	CHECK_FOR_INTERRUPTS();
	while (len > 0)
	{
		uint32		part = Min(len, HB_PIECE_PAYLOAD - w->piece_len);

		memcpy(VARDATA(w->piece) + HB_PIECE_HEADER + w->piece_len, data, part);
		w->piece_len += part;
		w->body_len += part;
		data += part;
		len -= part;
		if (w->piece_len == HB_PIECE_PAYLOAD)
			hb_writer_flush_piece(w);
	}
}

static bytea *
hb_make_bytea(const void *data, size_t len)
{
	bytea	   *result = palloc(VARHDRSZ + len);

	SET_VARSIZE(result, VARHDRSZ + len);
	memcpy(VARDATA(result), data, len);
	return result;
}

/* Inserts the chunk's row, and what of directory and body is not in it. */
static void
hb_writer_insert_chunk(HbWriter *w, const HbChunkInfo *info)
{
	Datum		values[HB_CHUNK_NATTS] = {0};
	bool		nulls[HB_CHUNK_NATTS];
	bool		small = w->seq == 0 && info->dir_len + w->piece_len <= HB_INLINE_MAX;
	Relation	rel;

	memset(nulls, true, sizeof(nulls));
#define SET(attno, datum) \
	(values[(attno) - 1] = (datum), nulls[(attno) - 1] = false)
	SET(HB_CHUNK_ID, Int64GetDatum(w->chunk_id));
	if (w->table->block_col >= 0)
	{
		SET(HB_CHUNK_FIRST_BLOCK, Int64GetDatum(info->first_block));
		SET(HB_CHUNK_LAST_BLOCK, Int64GetDatum(info->last_block));
	}
	SET(HB_CHUNK_BODY_LEN, Int64GetDatum((int64) info->body_len));
	SET(HB_CHUNK_BYTES, Int64GetDatum((int64) (info->body_len + info->dir_len)));
	SET(HB_CHUNK_BATCH, Int64GetDatum(w->batch));
	SET(HB_CHUNK_NROWS, Int32GetDatum((int32) info->nrows));
	SET(HB_CHUNK_LEVEL, Int16GetDatum(0));
	SET(HB_CHUNK_FORMAT, Int16GetDatum(HB_FORMAT_VERSION));
	SET(HB_CHUNK_TABLE_NAME, CStringGetTextDatum(NameStr(w->table->name)));
	if (small)
		SET(HB_CHUNK_BODY,
			PointerGetDatum(hb_make_bytea(VARDATA(w->piece) + HB_PIECE_HEADER, w->piece_len)));
	else if (w->piece_len > 0)
		hb_writer_flush_piece(w);
	if (info->dir_len <= HB_INLINE_MAX)
		SET(HB_CHUNK_DIRECTORY, PointerGetDatum(hb_make_bytea(info->dir, info->dir_len)));
	else
	{
		if (info->dir_len > HB_PIECE_PAYLOAD)
			ereport(ERROR,
					(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					 errmsg("directory of a chunk of table \"%s\" is too large",
							NameStr(w->table->name)),
					 errhint("The table has too many columns for one chunk.")));
		memcpy(VARDATA(w->piece) + HB_PIECE_HEADER, info->dir, info->dir_len);
		w->piece_len = info->dir_len;
		w->seq = HB_PIECE_DIRECTORY;
		hb_writer_flush_piece(w);
	}
#undef SET
	if (w->pieces != NULL)
		table_close(w->pieces, NoLock);
	w->pieces = NULL;

	rel = hb_storage_open(w->table->dataset, HB_STORAGE_CHUNK, RowExclusiveLock);
	hb_storage_insert(rel, HB_STORAGE_CHUNK, values, nulls, w->cid);
	table_close(rel, NoLock);
}

/* The block of a row of the sorted builder. */
static int64
hb_writer_block(HbWriter *w, uint32 row)
{
	int64		block;

	(void) hb_builder_get_int(w->builder, w->table->block_col, row, &block);
	return block;
}

static bool
hb_derives_from_table(const HbColumn *column)
{
	return column->derive == HB_DERIVE_LOOKUP_ITEM ||
		column->derive == HB_DERIVE_LOOKUP_BLOCK ||
		column->derive == HB_DERIVE_BLOOM_ITEM ||
		column->derive == HB_DERIVE_BLOOM_BLOCK;
}

/*
 * Takes the batch of the chunk that is to be written, unless it is a feed's,
 * and returns the names (String nodes) of the tables that its first nrows rows
 * may derive from.
 */
static List *
hb_writer_settle(HbWriter *w, uint32 nrows)
{
	HbTable    *table = w->table;
	HbDataset  *ds = table->dataset;
	List	   *asked = NIL;
	List	   *settled = NIL;
	int64		lo;
	int64		hi;

	for (int col = 0; col < table->ncolumns; col++)
	{
		if (hb_derives_from_table(&table->columns[col]))
			asked = list_append_unique(asked,
									   makeString(NameStr(table->columns[col].source_table)));
	}
	if (asked == NIL)
		return NIL;

	lo = hb_writer_block(w, 0);
	hi = hb_writer_block(w, nrows - 1);
	hb_settle_lock(ds, HB_SETTLE_LOOK);
	if (!w->transition)
		w->batch = hb_next_chunk_id(ds);
	for (int i = 0; i < list_length(asked); i++)
	{
		/* a feed's own rows are what it derives from, and no others */
		if (hb_settled(ds, strVal(list_nth(asked, i)), lo, hi,
					   w->transition ? NULL : w->snapshot, w->batch))
			settled = lappend(settled, list_nth(asked, i));
	}
	hb_settle_unlock(ds, HB_SETTLE_LOOK);
	return settled;
}

/* Leaves out what the chunk's first nrows rows can do without. */
static void
hb_writer_derive(HbWriter *w, uint32 nrows)
{
	HbTable    *table = w->table;
	HbComparer *comparer = NULL;
	List	   *settled = hb_writer_settle(w, nrows);

	for (int col = 0; col < table->ncolumns; col++)
	{
		HbColumn   *column = &table->columns[col];

		if (column->derive == HB_DERIVE_NONE)
			continue;
		if (hb_derives_from_table(column) &&
			!list_member(settled, makeString(NameStr(column->source_table))))
			continue;
		if (!w->assumed[col])
		{
			if (comparer == NULL)
				comparer = hb_comparer_begin(table, w->snapshot, w->batch);
			if (!hb_comparer_equal(comparer, w->builder, col, nrows))
				continue;
		}
		hb_builder_mark_derived(w->builder, col, (uint8_t) column->derive);
	}
	if (comparer != NULL)
		hb_comparer_end(comparer);
}

/* Writes the first nrows rows of the sorted builder as a chunk. */
static void
hb_writer_chunk(HbWriter *w, uint32 nrows)
{
	HbSink		sink = {.append = hb_writer_append, .arg = w};
	HbChunkInfo info;
	HbError		error;
	MemoryContext old = MemoryContextSwitchTo(w->row_cxt);

	hb_writer_derive(w, nrows);
	hb_xact_dirty(w->table->dataset);
	hb_settle_lock(w->table->dataset, HB_SETTLE_WRITE);
	w->chunk_id = hb_next_chunk_id(w->table->dataset);
	if (w->batch == 0)
		w->batch = w->chunk_id; /* it derives from nothing */
	w->seq = 0;
	w->body_len = 0;
	w->piece_len = 0;
	w->piece = MemoryContextAlloc(w->cxt, VARHDRSZ + HB_PIECE_MAX);
	if (!hb_builder_finish(w->builder, nrows, w->chunk_id, &sink, &info, &error))
		hb_table_limit_error(w->table, &error);
	hb_writer_insert_chunk(w, &info);
	hb_settle_unlock(w->table->dataset, HB_SETTLE_WRITE);
	if (!w->transition)
		w->batch = 0;
	hb_builder_drop(w->builder, nrows);
	pfree(w->piece);
	w->piece = NULL;
	hb_writer_count(w);
	w->base_bytes = w->bytes;
	w->result.chunks++;
	MemoryContextSwitchTo(old);
	MemoryContextReset(w->row_cxt);
}

/* The first of the nrows sorted rows whose block is not below the one given. */
static uint32
hb_writer_lower_bound(HbWriter *w, uint32 nrows, int64 block)
{
	uint32		lo = 0;
	uint32		hi = nrows;

	while (lo < hi)
	{
		uint32		mid = lo + (hi - lo) / 2;

		if (hb_writer_block(w, mid) < block)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/*
 * Rows that the next chunk takes: to the beginning of the last block, where
 * that is near the end, or all.  Blocks of one chunk differ by less than 2^63.
 */
static uint32
hb_writer_cut(HbWriter *w, uint32 nrows, bool all)
{
	int64		first = hb_writer_block(w, 0);
	int64		last = hb_writer_block(w, nrows - 1);

	if (first < 0 && last > PG_INT64_MAX + first)
		return hb_writer_lower_bound(w, nrows, 0);
	if (!all)
	{
		uint32		boundary = hb_writer_lower_bound(w, nrows, last);

		if (boundary >= nrows - nrows / 4)
			return boundary;
	}
	return nrows;
}

static void
hb_writer_flush(HbWriter *w, bool all)
{
	uint32		nrows = hb_builder_rows(w->builder);

	if (nrows == 0)
		return;
	hb_pending_check(&w->pending);
	hb_pending_changed(&w->pending);
	hb_builder_sort(w->builder);
	hb_writer_chunk(w, w->table->block_col >= 0 ?
					hb_writer_cut(w, nrows, all) : nrows);
}

/* Notes the row's block: for the result, and the chain's head. */
static void
hb_writer_note_block(HbWriter *w)
{
	int64		block = w->values[w->table->block_col].i;
	bool		lowest = !w->result.has_blocks || block < w->result.first_block;
	bool		highest = !w->result.has_blocks || block > w->result.last_block;

	w->result.has_blocks = true;
	if (lowest)
		w->result.first_block = block;
	if (highest)
		w->result.last_block = block;
	if (!w->table->is_block_table || w->transition)
		return;

	for (int i = 0; i < 2; i++)
	{
		HbBlockRef *ref = i == 0 ? &w->lowest : &w->highest;
		MemoryContext old;

		if (!(i == 0 ? lowest : highest))
			continue;
		if (ref->hash != NULL)
			pfree(ref->hash);
		if (ref->parent_hash != NULL)
			pfree(ref->parent_hash);
		memset(ref, 0, sizeof(*ref));
		ref->number = block;
		old = MemoryContextSwitchTo(w->cxt);
		if (w->hash_col >= 0 && !w->values[w->hash_col].isnull)
			ref->hash = hb_make_bytea(w->values[w->hash_col].bytes.data,
									  w->values[w->hash_col].bytes.len);
		if (w->parent_col >= 0 && !w->values[w->parent_col].isnull)
			ref->parent_hash = hb_make_bytea(w->values[w->parent_col].bytes.data,
											 w->values[w->parent_col].bytes.len);
		MemoryContextSwitchTo(old);
	}
}

/*
 * Are the rows of all writers more than the memory for them?  Then the largest
 * writes a chunk: of w's own statement and subtransaction, since rows must be
 * stored as what wrote them.  Rows that a writer kept after its last chunk do
 * not count for it, and a chunk is worth at least a quarter of the writers'
 * share, else each row would become one.
 */
static void
hb_writer_make_room(HbWriter *w)
{
	size_t		limit = (size_t) hb_build_memory * 1024;
	HbWriter   *largest = w;
	int			n = 0;
	dlist_iter	iter;

	if (hb_writers_bytes < limit)
		return;
	dlist_foreach(iter, &hb_writers)
	{
		HbWriter   *other = dlist_container(HbWriter, node, iter.cur);

		if (other->cid != w->cid || other->pending.subid != w->pending.subid)
			continue;
		n++;
		if (hb_writer_gain(other) > hb_writer_gain(largest))
			largest = other;
	}
	if (hb_writer_gain(largest) >= limit / 4 / n)
		hb_writer_flush(largest, false);
}

static void
hb_writer_add(HbWriter *w, const HbPhysValue *values)
{
	HbTable    *table = w->table;

	for (int i = 0; i < table->ncolumns; i++)
		if (values[i].isnull && (table->columns[i].not_null || i == table->block_col))
			ereport(ERROR,
					(errcode(ERRCODE_NOT_NULL_VIOLATION),
					 errmsg("null value in column \"%s\" of relation \"%s\" violates not-null constraint",
							NameStr(table->columns[i].name), NameStr(table->name)),
					 i == table->block_col ?
					 errdetail("It is the column with the block number.") : 0));
	hb_pending_check(&w->pending);
	if (table->block_col >= 0)
		hb_writer_note_block(w);

	hb_builder_begin_row(w->builder);
	for (int i = 0; i < table->ncolumns; i++)
	{
		if (values[i].isnull)
			continue;
		if (table->columns[i].value.phys == HB_PHYS_INT)
			hb_builder_add_int(w->builder, i, values[i].i);
		else
			hb_builder_add_bytes(w->builder, i, values[i].bytes.data, values[i].bytes.len);
	}
	hb_builder_end_row(w->builder);
	hb_writer_count(w);
	w->result.rows++;

	if (hb_builder_rows(w->builder) >= hb_chunk_rows)
		hb_writer_flush(w, false);
	else
		hb_writer_make_room(w);
}

void
hb_writer_row(HbWriter *w, const Datum *values, const bool *isnull)
{
	MemoryContext old = MemoryContextSwitchTo(w->row_cxt);

	for (int i = 0; i < w->table->ncolumns; i++)
	{
		w->values[i].isnull = isnull[i];
		if (!isnull[i])
			hb_value_to_phys(&w->table->columns[i].value, values[i],
							 &w->values[i].i, &w->values[i].bytes);
	}
	hb_writer_add(w, w->values);
	MemoryContextSwitchTo(old);
	MemoryContextReset(w->row_cxt);
}

void
hb_writer_row_phys(HbWriter *w, const HbPhysValue *values)
{
	memcpy(w->values, values, w->table->ncolumns * sizeof(HbPhysValue));
	hb_writer_add(w, w->values);
}

void
hb_writer_finish(HbWriter *w, HbWriterResult *result)
{
	while (hb_builder_rows(w->builder) > 0)
		hb_writer_flush(w, true);
	hb_pending_end(&w->pending);
	if (!w->transition && w->result.rows > 0)
		hb_xact_load(w->table, &w->result, &w->lowest, &w->highest);
	if (result != NULL)
		*result = w->result;
	MemoryContextDelete(w->cxt);
}
