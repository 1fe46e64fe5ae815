/*
 * hb_raise.c
 *		What a transaction has done to datasets, and what it owes them at its
 *		end.
 *
 * A transaction that has changed the chunk table must raise head.layout, and
 * one that has loaded rows by INSERT or COPY must record that, raise the
 * chain's head and note what was delivered.  Doing so as rows come would make
 * loaders wait for each other from their first row on; so it is done once, at
 * pre-commit (or pre-prepare), dataset by dataset in order of name, which
 * keeps two transactions that write the same datasets out of a deadlock here.
 *
 * Loads are remembered with their subtransaction, and forgotten with it.  That
 * a dataset is dirty (the backend's caches do not hold in this transaction) is
 * never forgotten before the transaction ends: it may cost a needless raise of
 * the layout, never a wrong answer.
 */
#include "postgres.h"

#include "compat.h"
#include "store/hb_store_int.h"

#include "access/parallel.h"
#include "access/table.h"
#include "access/xact.h"
#include "commands/sequence.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/inval.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

typedef struct HbLoad
{
	SubTransactionId subid;
	SubTransactionId truncated; /* the subtransaction that truncated the table
								 * since, and so took the load back */
	NameData	table;
	bool		has_blocks;
	int64		first;
	int64		last;
	bool		is_block_table;
	bool		is_item_table;
	HbBlockRef	lowest;
	HbBlockRef	highest;
} HbLoad;

typedef struct HbXactDataset
{
	Oid			chunk_relid;
	NameData	name;
	bool		dirty;
	List	   *loads;			/* HbLoad * */
} HbXactDataset;

/* All in TopTransactionContext. */
static List *hb_xact_datasets = NIL;

static void
hb_raise_load(HbDataset *ds, List *loads, HbHead *head)
{
	HbHead		old = *head;
	int64		from_block = PG_INT64_MIN;
	ListCell   *lc;

	foreach(lc, loads)
	{
		HbLoad	   *load = lfirst(lc);

		if (load->has_blocks && (from_block == PG_INT64_MIN || load->first < from_block))
			from_block = load->first;
		if (load->is_item_table)
			hb_coverage_add(ds, NameStr(load->table), "", load->first, load->last);
		if (!load->is_block_table)
			continue;
		if (head->empty || load->lowest.number < head->first_block)
		{
			head->first_block = load->lowest.number;
			head->has_anchor = true;
			head->anchor_number = load->lowest.number - 1;
			head->anchor_hash = load->lowest.parent_hash;
		}
		if (head->empty || load->highest.number > head->head_number)
		{
			head->head_number = load->highest.number;
			head->head_hash = load->highest.hash;
			head->head_parent_hash = load->highest.parent_hash;
		}
		head->empty = false;
	}
	head->version++;
	hb_head_update(ds, head);
	hb_transition_add(ds, "load", from_block, &old, head);
}

static int
hb_xact_name_cmp(const ListCell *a, const ListCell *b)
{
	return strcmp(NameStr(((HbXactDataset *) lfirst(a))->name),
				  NameStr(((HbXactDataset *) lfirst(b))->name));
}

static void
hb_raise_all(void)
{
	ListCell   *lc;

	list_sort(hb_xact_datasets, hb_xact_name_cmp);
	PushActiveSnapshot(GetTransactionSnapshot());
	foreach(lc, hb_xact_datasets)
	{
		HbXactDataset *xd = lfirst(lc);
		HbDataset  *ds;
		HbHead		head;
		ListCell   *lc2;

		foreach(lc2, xd->loads)
		{
			if (((HbLoad *) lfirst(lc2))->truncated != InvalidSubTransactionId)
				xd->loads = foreach_delete_current(xd->loads, lc2);
		}
		if (!xd->dirty && xd->loads == NIL)
			continue;
		/* dropped by this transaction, or even made again */
		ds = hb_dataset_open(NameStr(xd->name), true);
		if (ds == NULL || ds->chunk_relid != xd->chunk_relid)
			continue;

		hb_head_lock(ds, HB_HEAD_NO_KEY_UPDATE, &head);
		if (xd->loads != NIL)
			hb_raise_load(ds, xd->loads, &head);
		else if (!TransactionIdIsCurrentTransactionId(head.xmin))
			hb_head_update(ds, &head);
		xd->dirty = true;
		xd->loads = NIL;
	}
	PopActiveSnapshot();
}

static void
hb_raise_xact_callback(XactEvent event, void *arg)
{
	switch (event)
	{
		case XACT_EVENT_PRE_COMMIT:
		case XACT_EVENT_PRE_PREPARE:
			if (hb_xact_datasets != NIL)
				hb_raise_all();
			break;
		case XACT_EVENT_COMMIT:
		case XACT_EVENT_ABORT:
		case XACT_EVENT_PREPARE:
		case XACT_EVENT_PARALLEL_COMMIT:
		case XACT_EVENT_PARALLEL_ABORT:
			hb_xact_datasets = NIL;
			break;
		case XACT_EVENT_PARALLEL_PRE_COMMIT:
			break;
	}
}

static void
hb_raise_subxact_callback(SubXactEvent event, SubTransactionId subid,
						  SubTransactionId parent, void *arg)
{
	ListCell   *lc;

	if (event != SUBXACT_EVENT_ABORT_SUB && event != SUBXACT_EVENT_COMMIT_SUB)
		return;
	foreach(lc, hb_xact_datasets)
	{
		HbXactDataset *xd = lfirst(lc);
		ListCell   *lc2;

		foreach(lc2, xd->loads)
		{
			HbLoad	   *load = lfirst(lc2);

			if (load->truncated == subid)
				load->truncated = event == SUBXACT_EVENT_COMMIT_SUB ?
					parent : InvalidSubTransactionId;
			if (load->subid != subid)
				continue;
			if (event == SUBXACT_EVENT_COMMIT_SUB)
				load->subid = parent;
			else
				xd->loads = foreach_delete_current(xd->loads, lc2);
		}
	}
}

static HbXactDataset *
hb_xact_dataset(HbDataset *ds, bool create)
{
	static bool registered = false;
	MemoryContext old;
	HbXactDataset *xd;
	ListCell   *lc;

	foreach(lc, hb_xact_datasets)
	{
		xd = lfirst(lc);
		if (xd->chunk_relid == ds->chunk_relid)
			return xd;
	}
	if (!create)
		return NULL;
	if (!registered)
	{
		RegisterXactCallback(hb_raise_xact_callback, NULL);
		RegisterSubXactCallback(hb_raise_subxact_callback, NULL);
		registered = true;
	}
	old = MemoryContextSwitchTo(TopTransactionContext);
	xd = palloc0_object(HbXactDataset);
	xd->chunk_relid = ds->chunk_relid;
	xd->name = ds->name;
	hb_xact_datasets = lappend(hb_xact_datasets, xd);
	MemoryContextSwitchTo(old);
	return xd;
}

/* This transaction has changed the chunk table (or is about to). */
void
hb_xact_dirty(HbDataset *ds)
{
	hb_xact_dataset(ds, true)->dirty = true;
}

/*
 * A parallel worker does not know what its leader has written, so it trusts
 * no cache either.
 */
bool
hb_dataset_is_dirty(HbDataset *ds)
{
	HbXactDataset *xd;

	if (IsParallelWorker())
		return true;
	if (hb_xact_datasets == NIL)
		return false;
	xd = hb_xact_dataset(ds, false);
	return xd != NULL && xd->dirty;
}

/* The next number of the chunk table's sequence. */
int64
hb_next_chunk_id(HbDataset *ds)
{
	Relation	rel = hb_storage_open(ds, HB_STORAGE_CHUNK, AccessShareLock);
	Oid			sequence = hb_identity_sequence(rel, HB_CHUNK_ID);

	table_close(rel, NoLock);
	return nextval_internal(sequence, false);
}

static void
hb_block_ref_copy(HbBlockRef *to, const HbBlockRef *from)
{
	*to = *from;
	if (from->hash != NULL)
		to->hash = DatumGetByteaPCopy(PointerGetDatum(from->hash));
	if (from->parent_hash != NULL)
		to->parent_hash = DatumGetByteaPCopy(PointerGetDatum(from->parent_hash));
}

/* The subtransaction's load of the table, if it has one already. */
static HbLoad *
hb_find_load(HbXactDataset *xd, HbTable *table)
{
	ListCell   *lc;

	foreach(lc, xd->loads)
	{
		HbLoad	   *load = lfirst(lc);

		if (load->subid == GetCurrentSubTransactionId() &&
			load->truncated == InvalidSubTransactionId &&
			namestrcmp(&load->table, NameStr(table->name)) == 0)
			return load;
	}
	return NULL;
}

/*
 * Rows were loaded into the table by INSERT or COPY; lowest and highest are
 * blocks among them, for the block table.
 */
void
hb_xact_load(HbTable *table, const HbWriterResult *result,
			 const HbBlockRef *lowest, const HbBlockRef *highest)
{
	HbXactDataset *xd = hb_xact_dataset(table->dataset, true);
	MemoryContext old = MemoryContextSwitchTo(TopTransactionContext);
	HbLoad	   *load = hb_find_load(xd, table);
	bool		fresh = load == NULL;

	if (fresh)
	{
		load = palloc0_object(HbLoad);
		load->subid = GetCurrentSubTransactionId();
		load->table = table->name;
		xd->loads = lappend(xd->loads, load);
	}
	if (result->has_blocks)
	{
		bool		first = !load->has_blocks;

		if (first || result->first_block < load->first)
			load->first = result->first_block;
		if (first || result->last_block > load->last)
			load->last = result->last_block;
		load->is_item_table = table->is_item_table;
		load->is_block_table = table->is_block_table;
		if (table->is_block_table && (first || lowest->number < load->lowest.number))
			hb_block_ref_copy(&load->lowest, lowest);
		if (table->is_block_table && (first || highest->number > load->highest.number))
			hb_block_ref_copy(&load->highest, highest);
		load->has_blocks = true;
	}
	MemoryContextSwitchTo(old);
}

/* The table is truncated: what was loaded before never came. */
void
hb_xact_forget_load(HbTable *table)
{
	HbXactDataset *xd = hb_xact_dataset(table->dataset, true);
	ListCell   *lc;

	foreach(lc, xd->loads)
	{
		HbLoad	   *load = lfirst(lc);

		if (load->truncated == InvalidSubTransactionId &&
			namestrcmp(&load->table, NameStr(table->name)) == 0)
			load->truncated = GetCurrentSubTransactionId();
	}
}
