/*
 * hb_feed.c
 *		A feed: documents in, one transition out.
 *
 * Locks: the head row FOR NO KEY UPDATE from begin to the end of the
 * transaction, before anything is read; what is stored is then read with a
 * snapshot taken after it, whatever the isolation level.
 *
 * Linkage.  A block is the next one if it stands above the head: strict needs
 * number head + 1 and its parent's hash to be the head's; links allows holes,
 * which are recorded, and checks the parent where the numbers touch; none
 * checks only that numbers ascend.  A block at or below the head is a
 * redelivery: with the stored hash it is skipped, with another it is a
 * conflict, which carries what the chain looks like below it.  Hashes for
 * that come from the blocks of this feed (the last HB_FEED_RECENT in memory,
 * older ones stored first) or from the block table, read ahead.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_type.h"
#include "chain/hb_feed.h"
#include "compat.h"
#include "miscadmin.h"
#include "scan/hb_scan.h"
#include "utils/builtins.h"
#include "utils/json.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#define ARENA_SIZE		(64 * 1024)
#define READ_AHEAD		1024	/* stored blocks read at once */
#define CONFLICT_HINTS	100		/* (number, hash) pairs of a conflict */

/*
 * Memory
 */

/* The parser's nodes are kept for the next document, as many as were needed. */
static void *
feed_mem_alloc(void *arg, size_t size)
{
	return MemoryContextAllocHuge(arg, size);
}

static void *
feed_mem_realloc(void *arg, void *ptr, size_t size)
{
	if (ptr == NULL)
		return MemoryContextAllocHuge(arg, size);
	return repalloc_huge(ptr, size);
}

static void
feed_mem_free(void *arg, void *ptr)
{
	pfree(ptr);
}

static void
feed_mem_check(void)
{
	CHECK_FOR_INTERRUPTS();
}

/* Memory of the document at hand, without alignment and without a header. */
void *
hb_feed_alloc(HbFeed *feed, Size size)
{
	char	   *p;

	if (size > ARENA_SIZE / 4)
		return MemoryContextAllocHuge(feed->doc_cxt, size);
	if (size > feed->arena_left)
	{
		feed->arena = MemoryContextAlloc(feed->doc_cxt, ARENA_SIZE);
		feed->arena_left = ARENA_SIZE;
	}
	p = feed->arena;
	feed->arena += size;
	feed->arena_left -= size;
	return p;
}

/*
 * Begin
 */

static void
feed_open_tables(HbFeed *feed, List *tables)
{
	static const char *const names[HB_FEED_NTABLES] = {
		"blocks", "transactions", "logs", "traces", "state_diffs"
	};
	ListCell   *lc;

	for (int t = 0; t < HB_FEED_NTABLES; t++)
	{
		HbFeedTable *ft = &feed->tables[t];

		ft->table = hb_table_open(feed->ds, names[t], true);
		if (ft->table == NULL)
			ereport(ERROR,
					(errcode(ERRCODE_WRONG_OBJECT_TYPE),
					 errmsg("dataset \"%s\" of kind \"%s\" takes no block documents",
							NameStr(feed->ds->name), NameStr(feed->ds->kind)),
					 errhint("Use INSERT or COPY into its tables.")));
		ft->row = palloc0(ft->table->ncolumns * sizeof(HbPhysValue));
		ft->present = palloc0(ft->table->ncolumns * sizeof(bool));
		ft->incomplete = palloc0(ft->table->ncolumns * sizeof(HbFeedRun));
		hb_feed_row_clear(ft);
	}

	foreach(lc, tables)
	{
		const char *name = lfirst(lc);
		int			t;

		for (t = 0; t < HB_FEED_NTABLES; t++)
		{
			if (strcmp(name, names[t]) == 0)
				break;
		}
		if (t == HB_FEED_NTABLES)
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_TABLE),
					 errmsg("dataset \"%s\" has no table \"%s\"",
							NameStr(feed->ds->name), name),
					 errhint("Tables of blocks are: transactions, logs, traces, state_diffs.")));
		feed->tables[t].declared = true;
	}
}

HbFeed *
hb_feed_begin(HbDataset *ds, HbFeedSource source, List *tables, CommandId cid,
			  Snapshot snapshot)
{
	MemoryContext cxt = AllocSetContextCreate(CurrentMemoryContext,
											  "hotblocks feed",
											  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old_cxt = MemoryContextSwitchTo(cxt);
	HbFeed	   *feed = palloc0(sizeof(HbFeed));

	feed->ds = ds;
	feed->source = source;
	feed->cid = cid;
	feed->statement_snapshot = snapshot;
	feed->cxt = cxt;
	feed->doc_cxt = AllocSetContextCreate(cxt, "hotblocks block document",
										  ALLOCSET_DEFAULT_SIZES);
	feed->mem.alloc = feed_mem_alloc;
	feed->mem.realloc = feed_mem_realloc;
	feed->mem.free = feed_mem_free;
	feed->mem.check = feed_mem_check;
	feed->mem.arg = cxt;
	hb_json_init(&feed->json, &feed->mem);

	feed_open_tables(feed, tables);
	hb_head_lock(ds, HB_HEAD_NO_KEY_UPDATE, &feed->old);
	feed->batch = hb_next_chunk_id(ds);
	feed->head = feed->old;
	feed->snapshot = RegisterSnapshot(GetLatestSnapshot());
	feed->old_trace_format = feed->trace_format =
		hb_fact_trace_format(ds, feed->snapshot);
	feed->recent = palloc(HB_FEED_RECENT * sizeof(HbFeedRef));
	hb_evm_begin(feed);

	MemoryContextSwitchTo(old_cxt);
	return feed;
}

/*
 * Rows
 */

static void
feed_writer_end(HbFeed *feed, HbFeedTable *ft)
{
	HbWriterResult result;
	MemoryContext old_cxt;

	if (ft->writer == NULL)
		return;
	old_cxt = MemoryContextSwitchTo(feed->cxt);
	hb_writer_finish(ft->writer, &result);
	feed->result.rows += result.rows;
	ft->writer = NULL;
	MemoryContextSwitchTo(old_cxt);
}

/*
 * Stores the row that has been made.  derives: the columns of cond_cols are
 * what a reader would derive.
 */
void
hb_feed_row(HbFeed *feed, HbFeedTable *ft, bool derives)
{
	HbFeedTable *blocks = &feed->tables[HB_FEED_BLOCKS];

	CHECK_FOR_INTERRUPTS();
	if (ft->timestamp_col >= 0 && blocks->timestamp_col >= 0)
		ft->row[ft->timestamp_col] = blocks->row[blocks->timestamp_col];
	if (!derives && !ft->broken)
	{
		/* chunks so far may leave the columns out, the rest may not */
		feed_writer_end(feed, ft);
		ft->broken = true;
	}
	if (ft->writer == NULL)
	{
		MemoryContext old_cxt = MemoryContextSwitchTo(feed->cxt);

		ft->writer = hb_writer_begin_transition(ft->table, feed->cid,
												feed->statement_snapshot,
												feed->batch);
		for (int i = 0; i < ft->nsure; i++)
			hb_writer_assume_derived(ft->writer, ft->sure_cols[i]);
		if (!ft->broken)
		{
			for (int i = 0; i < ft->ncond; i++)
				hb_writer_assume_derived(ft->writer, ft->cond_cols[i]);
		}
		MemoryContextSwitchTo(old_cxt);
	}
	hb_writer_row_phys(ft->writer, ft->row);
}

static void
feed_run_end(HbFeed *feed, HbFeedTable *ft, HbFeedRun *run,
			 const char *missing_column)
{
	if (run->open)
		hb_coverage_add(feed->ds, NameStr(ft->table->name), missing_column,
						run->first, run->last);
	run->open = false;
}

/* The block at hand into a run; a hole ends the one before. */
static void
feed_run_add(HbFeed *feed, HbFeedTable *ft, HbFeedRun *run,
			 const char *missing_column)
{
	if (run->open && run->last >= feed->number - 1)
	{
		run->last = feed->number;
		return;
	}
	feed_run_end(feed, ft, run, missing_column);
	run->open = true;
	run->first = run->last = feed->number;
}

/* The block at hand was delivered with this table's rows, perhaps none. */
void
hb_feed_delivered(HbFeed *feed, HbFeedTable *ft)
{
	feed_run_add(feed, ft, &ft->delivered, "");
}

/* Rows of the block at hand came without values of this column. */
void
hb_feed_incomplete(HbFeed *feed, HbFeedTable *ft, int col)
{
	feed_run_add(feed, ft, &ft->incomplete[col],
				 NameStr(ft->table->columns[col].name));
}

/* The block at hand has no rows: what is missing from them goes on. */
void
hb_feed_no_rows(HbFeed *feed, HbFeedTable *ft)
{
	for (int c = 0; c < ft->table->ncolumns; c++)
	{
		if (ft->incomplete[c].open && ft->incomplete[c].last == feed->number - 1)
			ft->incomplete[c].last = feed->number;
	}
}

const char *
hb_trace_format_name(char format)
{
	switch (format)
	{
		case 't':
			return "trace_block";
		case 'c':
			return "callTracer";
		case 'p':
			return "portal";
		default:
			return NULL;
	}
}

void
hb_feed_set_trace_format(HbFeed *feed, char format)
{
	if (feed->trace_format != 0 && feed->trace_format != format)
		ereport(ERROR,
				(errcode(HB_ERRCODE_TRACE_FORMAT),
				 errmsg("traces of block " INT64_FORMAT " are in format %s, but dataset \"%s\" has traces in format %s",
						feed->number, hb_trace_format_name(format),
						NameStr(feed->ds->name),
						hb_trace_format_name(feed->trace_format)),
				 errdetail("The formats differ in gas and in error texts, so a dataset keeps to one.")));
	feed->trace_format = format;
}

/*
 * Stored blocks
 */

/*
 * Reads number and hash of stored blocks lo..hi (READ_AHEAD at most) into
 * feed->stored.
 */
static void
feed_read_stored(HbFeed *feed, int64 lo, int64 hi)
{
	HbTable    *table = feed->tables[HB_FEED_BLOCKS].table;
	int			number_col = table->block_col;
	int			columns[2] = {number_col, hb_table_column(table, "hash")};
	Datum		bounds[2] = {Int64GetDatum(lo), Int64GetDatum(hi)};
	HbPred		preds[2] = {{0}, {0}};
	HbPred	   *children[2] = {&preds[0], &preds[1]};
	HbPred		both = {0};
	HbScanSpec	spec = {0};
	HbScan	   *scan;
	HbBatch		batch;
	MemoryContext scan_cxt = AllocSetContextCreate(feed->doc_cxt,
												   "hotblocks stored blocks",
												   ALLOCSET_DEFAULT_SIZES);
	MemoryContext old_cxt;

	Assert(hi - lo < READ_AHEAD);
	if (feed->stored == NULL)
		feed->stored = MemoryContextAlloc(feed->cxt, READ_AHEAD * sizeof(HbFeedRef));
	feed->nstored = 0;
	feed->stored_first = lo;
	feed->stored_last = hi;

	old_cxt = MemoryContextSwitchTo(scan_cxt);
	for (int i = 0; i < 2; i++)
	{
		preds[i].kind = HB_PRED_CMP;
		preds[i].column = number_col;
		preds[i].op = i == 0 ? HB_GE : HB_LE;
		preds[i].value_type = INT8OID;
		preds[i].nvalues = 1;
		preds[i].values = &bounds[i];
	}
	both.kind = HB_PRED_AND;
	both.nchildren = 2;
	both.children = children;
	spec.table = table;
	spec.snapshot = feed->snapshot;
	spec.order = HB_ORDER_ASC;
	spec.ncolumns = 2;
	spec.columns = columns;
	spec.pred = &both;

	scan = hb_scan_begin(&spec);
	while (hb_scan_next(scan, &batch))
	{
		for (int r = 0; r < batch.nrows; r++)
		{
			HbFeedRef *ref;
			bytea	   *hash;

			/* two rows of one number, or other hashes, come from COPY */
			if (batch.isnull[1][r] || feed->nstored == READ_AHEAD)
				continue;
			hash = DatumGetByteaPP(batch.values[1][r]);
			if (VARSIZE_ANY_EXHDR(hash) != 32)
				continue;
			ref = &feed->stored[feed->nstored++];
			ref->number = DatumGetInt64(batch.values[0][r]);
			memcpy(ref->hash, VARDATA_ANY(hash), 32);
		}
	}
	hb_scan_end(scan);
	MemoryContextSwitchTo(old_cxt);
	MemoryContextDelete(scan_cxt);
}

/*
 * The hash of a block at or below the head, NULL when there is none of this
 * number.
 */
static const uint8 *
feed_stored_hash(HbFeed *feed, int64 number)
{
	int64		oldest = Max(feed->nrecent - HB_FEED_RECENT, 0);

	for (int64 i = feed->nrecent - 1; i >= oldest; i--)
	{
		HbFeedRef *ref = &feed->recent[i % HB_FEED_RECENT];

		if (ref->number == number)
			return ref->hash;
		if (ref->number < number)
			return NULL;
	}

	if (feed->nrecent > HB_FEED_RECENT && number >= feed->first_appended &&
		(!feed->flushed || number > feed->flushed_last))
	{
		/* one of ours that is no longer in memory */
		feed_writer_end(feed, &feed->tables[HB_FEED_BLOCKS]);
		CommandCounterIncrement();
		UnregisterSnapshot(feed->snapshot);
		feed->snapshot = RegisterSnapshot(GetLatestSnapshot());
		feed->flushed = true;
		feed->flushed_last = feed->head.head_number;
		feed->stored_last = feed->stored_first - 1;
	}
	if (feed->stored == NULL || number < feed->stored_first ||
		number > feed->stored_last)
		feed_read_stored(feed, number, number + READ_AHEAD - 1);
	for (int i = 0; i < feed->nstored; i++)
	{
		if (feed->stored[i].number == number)
			return feed->stored[i].hash;
	}
	return NULL;
}

/*
 * Linkage
 */

static void
append_ref(StringInfo buf, const HbFeedRef *ref)
{
	appendStringInfo(buf, "%s{\"number\": " INT64_FORMAT ", \"hash\": \"%s\"}",
					 buf->data[buf->len - 1] == '[' ? "" : ", ",
					 ref->number, hb_feed_hex(ref->hash, 32));
}

/*
 * A conflict, with the blocks that the dataset has at and below the place, as
 * committed (not those of this feed), ascending: who delivers finds the
 * common ancestor among them.  stored: what stands where the delivered hash
 * should be, NULL unknown.
 */
static void
feed_conflict(HbFeed *feed, const char *what, HbSlice delivered,
			  int64 at, const uint8 *stored, int stored_len)
{
	int64		top = Min(at, feed->old.head_number);
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfoString(&buf, "{\"dataset\": ");
	escape_json(&buf, NameStr(feed->ds->name));
	appendStringInfo(&buf, ", \"number\": " INT64_FORMAT ", \"delivered\": \"%s\", \"stored\": \"%s\", \"previous_blocks\": [",
					 feed->number, hb_feed_hex(delivered.data, delivered.len),
					 hb_feed_hex(stored, stored_len));
	if (!feed->old.empty && top >= feed->old.first_block)
	{
		int64		lo = Max(top - CONFLICT_HINTS + 1, feed->old.first_block);

		feed_read_stored(feed, lo, top);
		for (int i = 0; i < feed->nstored; i++)
			append_ref(&buf, &feed->stored[i]);
	}
	appendStringInfoString(&buf, "]}");

	ereport(ERROR,
			(errcode(HB_ERRCODE_CONFLICT),
			 errmsg("block " INT64_FORMAT " conflicts with dataset \"%s\": %s",
					feed->number, NameStr(feed->ds->name), what),
			 errdetail_internal("%s", buf.data)));
}

static bool
feed_redelivered(HbFeed *feed, HbSlice hash)
{
	const uint8 *stored;

	if (feed->number < feed->head.first_block)
		ereport(ERROR,
				(errcode(HB_ERRCODE_NOT_NEXT),
				 errmsg("block " INT64_FORMAT " is below block " INT64_FORMAT ", the first one of dataset \"%s\"",
						feed->number, feed->head.first_block,
						NameStr(feed->ds->name))));
	stored = feed_stored_hash(feed, feed->number);
	if (stored == NULL)
		ereport(ERROR,
				(errcode(HB_ERRCODE_NOT_NEXT),
				 errmsg("block " INT64_FORMAT " is below block " INT64_FORMAT ", the head of dataset \"%s\", and not stored",
						feed->number, feed->head.head_number,
						NameStr(feed->ds->name)),
				 errdetail("Numbers must ascend.")));
	if (memcmp(stored, hash.data, 32) != 0)
		feed_conflict(feed, "its hash differs from the stored one", hash,
					  feed->number, stored, 32);
	feed->result.skipped++;
	return false;
}

/*
 * Puts the block at hand (feed->number) on the chain: true when its rows are
 * to be stored, false when it was there already.  parent may be NULL where the
 * linkage does not need it.
 */
bool
hb_feed_link(HbFeed *feed, HbSlice hash, const HbSlice *parent)
{
	HbHead	   *head = &feed->head;
	int64		number = feed->number;
	HbFeedRef *ref;
	MemoryContext old_cxt;

	if (!head->empty && number <= head->head_number)
		return feed_redelivered(feed, hash);

	if (!head->empty)
	{
		bool		next = number == head->head_number + 1;

		if (!next && feed->ds->linkage == 's')
			ereport(ERROR,
					(errcode(HB_ERRCODE_NOT_NEXT),
					 errmsg("block " INT64_FORMAT " does not follow block " INT64_FORMAT ", the head of dataset \"%s\"",
							number, head->head_number, NameStr(feed->ds->name)),
					 errdetail("With linkage strict the next block is " INT64_FORMAT ".",
							   head->head_number + 1),
					 errhint("Datasets with linkage links or none take blocks with holes between them.")));
		if (next && feed->ds->linkage != 'n' && head->head_hash != NULL)
		{
			bytea	   *stored = head->head_hash;

			if (VARSIZE_ANY_EXHDR(stored) != parent->len ||
				memcmp(VARDATA_ANY(stored), parent->data, parent->len) != 0)
				feed_conflict(feed, "its parent hash differs from the head's hash",
							  *parent, head->head_number,
							  (uint8 *) VARDATA_ANY(stored), VARSIZE_ANY_EXHDR(stored));
		}
		if (!next)
			hb_gap_add(feed->ds, head->head_number + 1, number - 1);
	}

	old_cxt = MemoryContextSwitchTo(feed->cxt);
	if (feed->result.appended == 0)
		feed->first_appended = number;
	if (head->empty)
	{
		head->empty = false;
		head->first_block = number;
		head->has_anchor = true;
		head->anchor_number = number - 1;
		head->anchor_hash = NULL;
		if (parent != NULL)
		{
			head->anchor_hash = palloc(VARHDRSZ + parent->len);
			SET_VARSIZE(head->anchor_hash, VARHDRSZ + parent->len);
			memcpy(VARDATA(head->anchor_hash), parent->data, parent->len);
		}
	}
	head->head_number = number;
	if (feed->result.appended == 0)
	{
		head->head_hash = palloc(VARHDRSZ + 32);
		SET_VARSIZE(head->head_hash, VARHDRSZ + 32);
		head->head_parent_hash = NULL;
	}
	memcpy(VARDATA(head->head_hash), hash.data, 32);
	if (parent == NULL)
		head->head_parent_hash = NULL;
	else
	{
		if (head->head_parent_hash == NULL)
			head->head_parent_hash = palloc(VARHDRSZ + 32);
		SET_VARSIZE(head->head_parent_hash, VARHDRSZ + 32);
		memcpy(VARDATA(head->head_parent_hash), parent->data, 32);
	}
	MemoryContextSwitchTo(old_cxt);

	ref = &feed->recent[feed->nrecent++ % HB_FEED_RECENT];
	ref->number = number;
	memcpy(ref->hash, hash.data, 32);
	feed->result.appended++;
	return true;
}

/*
 * Documents
 */

static void
feed_error_context(void *arg)
{
	HbFeed	   *feed = arg;

	if (feed->node != HB_JSON_NONE && feed->has_number)
		errcontext("block " INT64_FORMAT ", \"%s\"", feed->number,
				   hb_feed_path(feed, feed->node));
	errcontext("block document " INT64_FORMAT, feed->result.documents);
}

void
hb_feed_text(HbFeed *feed, const char *text, size_t len)
{
	ErrorContextCallback callback;
	MemoryContext old_cxt;

	CHECK_FOR_INTERRUPTS();
	feed->result.documents++;
	feed->has_number = false;
	feed->node = HB_JSON_NONE;
	MemoryContextReset(feed->doc_cxt);
	feed->arena_left = 0;
	old_cxt = MemoryContextSwitchTo(feed->doc_cxt);

	callback.callback = feed_error_context;
	callback.arg = feed;
	callback.previous = error_context_stack;
	error_context_stack = &callback;

	if (!hb_json_parse(&feed->json, text, len))
		ereport(ERROR,
				(errcode(HB_ERRCODE_MALFORMED_BLOCK),
				 errmsg("malformed block document: %s", feed->json.error),
				 errdetail("The text is no JSON at byte %u.",
						   feed->json.error_off + 1)));
	hb_evm_document(feed);

	error_context_stack = callback.previous;
	MemoryContextSwitchTo(old_cxt);
}

static void
feed_runs_end(HbFeed *feed, HbFeedTable *ft)
{
	feed_run_end(feed, ft, &ft->delivered, "");
	for (int c = 0; c < ft->table->ncolumns; c++)
		feed_run_end(feed, ft, &ft->incomplete[c],
					 NameStr(ft->table->columns[c].name));
}

void
hb_feed_finish(HbFeed *feed, HbFeedResult *result)
{
	MemoryContext old_cxt = MemoryContextSwitchTo(feed->cxt);
	bool		changed = feed->result.appended > 0;

	for (int t = 0; t < HB_FEED_NTABLES; t++)
	{
		feed_writer_end(feed, &feed->tables[t]);
		feed_runs_end(feed, &feed->tables[t]);
	}
	hb_evm_end(feed);
	if (changed)
	{
		feed->head.version++;
		hb_transition_add(feed->ds, "extend", feed->first_appended,
						  &feed->old, &feed->head);
		hb_head_update(feed->ds, &feed->head);
	}
	feed->result.changed = changed;
	if (result != NULL)
		*result = feed->result;

	UnregisterSnapshot(feed->snapshot);
	MemoryContextSwitchTo(old_cxt);
	MemoryContextDelete(feed->cxt);
}
