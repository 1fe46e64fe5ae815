/*
 * hb_chain.c
 *		SQL functions of the chain, and what a scan asks about coverage.
 *
 * Rights: functions that add blocks need INSERT on the dataset's chunk table,
 * those that read SELECT, others ownership; checked here, as EXECUTE is
 * granted to all.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "chain/hb_feed.h"
#include "chain/hb_load_file.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "nodes/value.h"
#include "scan/hb_scan.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

int			hb_missing_data = HB_MISSING_WARNING;

static const struct config_enum_entry missing_data_options[] = {
	{"error", HB_MISSING_ERROR, false},
	{"warning", HB_MISSING_WARNING, false},
	{"ignore", HB_MISSING_IGNORE, false},
	{NULL, 0, false}
};

void
hb_chain_init(void)
{
	DefineCustomEnumVariable("hotblocks.missing_data",
							 "Sets what a scan does when it reaches blocks for which its table was not delivered.",
							 NULL,
							 &hb_missing_data,
							 HB_MISSING_WARNING,
							 missing_data_options,
							 PGC_USERSET,
							 0,
							 NULL, NULL, NULL);
}

/*
 * Coverage
 */

#define MISSING_RANGES_SHOWN	10

static char *
range_text(const HbBlockRange *range)
{
	if (range->first == range->last)
		return psprintf("block " INT64_FORMAT, range->first);
	return psprintf("blocks " INT64_FORMAT " to " INT64_FORMAT, range->first, range->last);
}

/* Reads what was never delivered, into the check's context. */
static void
coverage_read(HbCoverageCheck *check, HbTable *table, Snapshot snapshot)
{
	HbDataset  *ds = table->dataset;
	MemoryContext old = MemoryContextSwitchTo(check->cxt);
	HbHead		head;

	hb_head_read(ds, snapshot, &head);
	check->missing = NIL;
	if (!head.empty)
	{
		int64		first = Max(head.first_block, head.floor_block);

		if (first <= head.head_number)
			check->missing = hb_coverage_missing(ds, snapshot, NameStr(table->name),
												 first, head.head_number);
	}
	check->known = true;
	MemoryContextSwitchTo(old);
}

/* The parts of the ranges, which ascend, that are in lo..hi. */
static List *
ranges_within(List *ranges, int64 lo, int64 hi)
{
	List	   *result = NIL;
	int			at = 0;
	int			end = list_length(ranges);

	while (at < end)
	{
		int			mid = (at + end) / 2;

		if (((HbBlockRange *) list_nth(ranges, mid))->last < lo)
			at = mid + 1;
		else
			end = mid;
	}
	for (; at < list_length(ranges); at++)
	{
		HbBlockRange *range = list_nth(ranges, at);
		HbBlockRange *part;

		if (range->first > hi)
			break;
		part = palloc(sizeof(HbBlockRange));
		part->first = Max(range->first, lo);
		part->last = Min(range->last, hi);
		result = lappend(result, part);
	}
	return result;
}

void
hb_coverage_check(HbCoverageCheck *check, HbTable *table, Snapshot snapshot,
				  int64 lo, int64 hi)
{
	HbDataset  *ds = table->dataset;
	List	   *missing;
	ListCell   *lc;
	StringInfoData rest;
	int			shown = 0;

	if (hb_missing_data == HB_MISSING_IGNORE || !table->is_item_table)
		return;
	if (check->said && hb_missing_data == HB_MISSING_WARNING)
		return;
	if (!check->known)
		coverage_read(check, table, snapshot);
	missing = ranges_within(check->missing, lo, hi);
	if (missing == NIL)
		return;
	check->said = true;

	initStringInfo(&rest);
	for_each_from(lc, missing, 1)
	{
		if (shown == MISSING_RANGES_SHOWN)
		{
			appendStringInfo(&rest, " and %d more ranges",
							 list_length(missing) - 1 - shown);
			break;
		}
		appendStringInfo(&rest, "%s%s", shown == 0 ? "" : ", ", range_text(lfirst(lc)));
		shown++;
	}
	ereport(hb_missing_data == HB_MISSING_ERROR ? ERROR : WARNING,
			(errcode(HB_ERRCODE_MISSING_DATA),
			 errmsg("table \"%s\" of dataset \"%s\" is not available for %s",
					NameStr(table->name), NameStr(ds->name),
					range_text(linitial(missing))),
			 rest.len > 0 ? errdetail("Nor is it for %s.", rest.data) : 0,
			 errhint("View hotblocks.coverage shows what was delivered; hotblocks.declare_coverage adds to it.")));
}

/*
 * Arguments
 */

static HbDataset *
open_dataset_arg(FunctionCallInfo fcinfo, int arg, AclMode mode)
{
	HbDataset  *ds;

	if (PG_ARGISNULL(arg))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("dataset name must not be null")));
	ds = hb_dataset_open(text_to_cstring(PG_GETARG_TEXT_PP(arg)), false);
	hb_dataset_check_acl(ds, GetUserId(), mode);
	return ds;
}

/* A text[] as text datums. */
static int
text_array_arg(FunctionCallInfo fcinfo, int arg, const char *what, Datum **values)
{
	bool	   *nulls;
	int			n;

	if (PG_ARGISNULL(arg))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("%s must not be null", what)));
	deconstruct_array(PG_GETARG_ARRAYTYPE_P(arg), TEXTOID, -1, false,
					  TYPALIGN_INT, values, &nulls, &n);
	for (int i = 0; i < n; i++)
	{
		if (nulls[i])
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("%s must not contain nulls", what)));
	}
	return n;
}

/*
 * Status
 */

enum
{
	STATUS_DATASET,
	STATUS_KIND,
	STATUS_LINKAGE,
	STATUS_VERSION,
	STATUS_LAYOUT,
	STATUS_FIRST_BLOCK,
	STATUS_FIRST_HASH,
	STATUS_HEAD,
	STATUS_HEAD_HASH,
	STATUS_FINALIZED,
	STATUS_FINALIZED_HASH,
	STATUS_ANCHOR,
	STATUS_ANCHOR_HASH,
	STATUS_TRACE_FORMAT,
	STATUS_BLOCKS,
	STATUS_ROWS,
	STATUS_BYTES,
	STATUS_GAPS,
	STATUS_NATTS
};

/* Rows and bytes of a table's chunks. */
static void
count_table(HbTable *table, Snapshot snapshot, uint64 *rows, uint64 *bytes)
{
	HbChunkSet *set = hb_chunk_set(table, snapshot, PG_INT64_MIN, PG_INT64_MAX);

	*rows = set->total_rows;
	*bytes = set->total_bytes;
	hb_chunk_set_release(set);
}

/* The hash of one stored block, NULL when there is none. */
static bytea *
block_hash(HbTable *blocks, Snapshot snapshot, int64 number)
{
	int			hash_col = hb_table_column(blocks, "hash");
	Datum		value = Int64GetDatum(number);
	HbPred		pred = {0};
	HbScanSpec	spec = {0};
	HbScan	   *scan;
	HbBatch		batch;
	bytea	   *hash = NULL;

	if (hash_col < 0 || blocks->columns[hash_col].type != BYTEAOID)
		return NULL;
	pred.kind = HB_PRED_CMP;
	pred.column = blocks->block_col;
	pred.op = HB_EQ;
	pred.value_type = INT8OID;
	pred.nvalues = 1;
	pred.values = &value;
	spec.table = blocks;
	spec.snapshot = snapshot;
	spec.order = HB_ORDER_NONE;
	spec.ncolumns = 1;
	spec.columns = &hash_col;
	spec.pred = &pred;
	scan = hb_scan_begin(&spec);
	while (hash == NULL && hb_scan_next(scan, &batch))
	{
		if (batch.nrows > 0 && !batch.isnull[0][0])
			hash = DatumGetByteaPCopy(batch.values[0][0]);
	}
	hb_scan_end(scan);
	return hash;
}

static int64
count_gaps(HbDataset *ds, Snapshot snapshot)
{
	Relation	rel = table_open(ds->gap_relid, AccessShareLock);
	TableScanDesc scan = table_beginscan(rel, snapshot, 0, NULL);
	TupleTableSlot *slot = table_slot_create(rel, NULL);
	int64		n = 0;

	while (table_scan_getnextslot(scan, ForwardScanDirection, slot))
		n++;
	ExecDropSingleTupleTableSlot(slot);
	table_endscan(scan);
	table_close(rel, AccessShareLock);
	return n;
}

static void
set_ref(Datum *values, bool *nulls, int att, bool has, int64 number, bytea *hash)
{
	if (!has)
		return;
	values[att] = Int64GetDatum(number);
	nulls[att] = false;
	if (hash != NULL)
	{
		values[att + 1] = PointerGetDatum(hash);
		nulls[att + 1] = false;
	}
}

static void
set_text(Datum *values, bool *nulls, int att, const char *value)
{
	if (value == NULL)
		return;
	values[att] = CStringGetTextDatum(value);
	nulls[att] = false;
}

static void
set_int64(Datum *values, bool *nulls, int att, int64 value)
{
	values[att] = Int64GetDatum(value);
	nulls[att] = false;
}

/* The row of hotblocks.status as of a snapshot. */
static Datum
status_row(FunctionCallInfo fcinfo, HbDataset *ds, Snapshot snapshot)
{
	TupleDesc	desc;
	Datum		values[STATUS_NATTS];
	bool		nulls[STATUS_NATTS];
	HbHead		head;
	List	   *names;
	ListCell   *lc;
	uint64		all_rows = 0;
	uint64		all_bytes = 0;
	bool		chain = false;

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE ||
		desc->natts != STATUS_NATTS)
		elog(ERROR, "return type must be hotblocks.dataset_status");
	memset(nulls, true, sizeof(nulls));

	hb_head_read(ds, snapshot, &head);
	set_text(values, nulls, STATUS_KIND, NameStr(ds->kind));
	values[STATUS_DATASET] = NameGetDatum(&ds->name);
	nulls[STATUS_DATASET] = false;
	set_int64(values, nulls, STATUS_VERSION, head.version);
	set_int64(values, nulls, STATUS_LAYOUT, head.layout);

	names = hb_dataset_table_names(ds);
	foreach(lc, names)
	{
		HbTable    *table = hb_table_open(ds, lfirst(lc), false);
		uint64		rows;
		uint64		bytes;

		count_table(table, snapshot, &rows, &bytes);
		all_rows += rows;
		all_bytes += bytes;
		if (!table->is_block_table)
			continue;
		chain = true;
		set_int64(values, nulls, STATUS_BLOCKS, (int64) rows);
		if (!head.empty)
			set_ref(values, nulls, STATUS_FIRST_BLOCK, true, head.first_block,
					block_hash(table, snapshot, head.first_block));
	}
	set_int64(values, nulls, STATUS_ROWS, (int64) all_rows);
	set_int64(values, nulls, STATUS_BYTES, (int64) all_bytes);
	if (chain)
	{
		set_text(values, nulls, STATUS_LINKAGE,
				 ds->linkage == 's' ? "strict" : ds->linkage == 'l' ? "links" : "none");
		set_ref(values, nulls, STATUS_HEAD, !head.empty, head.head_number, head.head_hash);
		set_ref(values, nulls, STATUS_FINALIZED, head.has_finalized,
				head.finalized_number, head.finalized_hash);
		set_ref(values, nulls, STATUS_ANCHOR, head.has_anchor,
				head.anchor_number, head.anchor_hash);
		set_text(values, nulls, STATUS_TRACE_FORMAT,
				 hb_trace_format_name(hb_fact_trace_format(ds, snapshot)));
		set_int64(values, nulls, STATUS_GAPS, count_gaps(ds, snapshot));
	}
	return HeapTupleGetDatum(heap_form_tuple(desc, values, nulls));
}

PG_FUNCTION_INFO_V1(hotblocks_status);
Datum
hotblocks_status(PG_FUNCTION_ARGS)
{
	return status_row(fcinfo, open_dataset_arg(fcinfo, 0, ACL_SELECT),
					  GetActiveSnapshot());
}

/* The state that this command has made. */
static Datum
status_now(FunctionCallInfo fcinfo, HbDataset *ds)
{
	Snapshot	snapshot = RegisterSnapshot(GetLatestSnapshot());
	Datum		result = status_row(fcinfo, ds, snapshot);

	UnregisterSnapshot(snapshot);
	return result;
}

/*
 * Feeding
 */

PG_FUNCTION_INFO_V1(hotblocks_extend);
Datum
hotblocks_extend(PG_FUNCTION_ARGS)
{
	HbDataset  *ds = open_dataset_arg(fcinfo, 0, ACL_INSERT);
	Datum	   *blocks;
	int			nblocks = text_array_arg(fcinfo, 1, "blocks", &blocks);
	List	   *tables = NIL;
	HbFeed	   *feed;

	if (PG_NARGS() > 2 && !PG_ARGISNULL(2))
	{
		Datum	   *names;
		int			nnames = text_array_arg(fcinfo, 2, "tables", &names);

		for (int i = 0; i < nnames; i++)
			tables = lappend(tables, TextDatumGetCString(names[i]));
	}

	feed = hb_feed_begin(ds, HB_FEED_SERVER, tables, GetCurrentCommandId(true),
						 GetActiveSnapshot());
	for (int i = 0; i < nblocks; i++)
	{
		text	   *block = DatumGetTextPP(blocks[i]);

		hb_feed_text(feed, VARDATA_ANY(block), VARSIZE_ANY_EXHDR(block));
	}
	hb_feed_finish(feed, NULL);
	return status_now(fcinfo, ds);
}

PG_FUNCTION_INFO_V1(hotblocks_load_file);
Datum
hotblocks_load_file(PG_FUNCTION_ARGS)
{
	HbDataset  *ds = open_dataset_arg(fcinfo, 0, ACL_INSERT);

	if (PG_ARGISNULL(1))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("path must not be null")));
	hb_load_file(ds, text_to_cstring(PG_GETARG_TEXT_PP(1)), NULL);
	return status_now(fcinfo, ds);
}

PG_FUNCTION_INFO_V1(hotblocks_declare_coverage);
Datum
hotblocks_declare_coverage(PG_FUNCTION_ARGS)
{
	HbDataset  *ds = open_dataset_arg(fcinfo, 0, 0);
	HbTable    *table;
	int64		from;
	int64		to;

	if (PG_ARGISNULL(1) || PG_ARGISNULL(2) || PG_ARGISNULL(3))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("arguments of declare_coverage must not be null")));
	table = hb_table_open(ds, text_to_cstring(PG_GETARG_TEXT_PP(1)), false);
	from = PG_GETARG_INT64(2);
	to = PG_GETARG_INT64(3);
	if (!table->is_item_table)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("table \"%s\" of dataset \"%s\" has no coverage",
						NameStr(table->name), NameStr(ds->name)),
				 errdetail("Coverage is kept for tables whose rows belong to blocks.")));
	if (from > to)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("from_block must not be above to_block")));
	hb_head_lock(ds, HB_HEAD_NO_KEY_UPDATE, NULL);
	hb_coverage_add(ds, NameStr(table->name), "", from, to);
	CommandCounterIncrement();
	PG_RETURN_VOID();
}

/*
 * Small tables of all datasets
 */

static Oid
small_table(HbDataset *ds, const char *which)
{
	if (strcmp(which, "coverage") == 0)
		return ds->coverage_relid;
	if (strcmp(which, "gap") == 0)
		return ds->gap_relid;
	if (strcmp(which, "transition") == 0)
		return ds->transition_relid;
	if (strcmp(which, "feed") == 0)
		return ds->feed_relid;
	elog(ERROR, "unknown small table \"%s\"", which);
}

/*
 * The caller says what columns he expects, and the table's owner may have
 * altered it: both must agree before a datum goes from one to the other.
 * Columns that somebody added come last and are not shown.
 */
static void
check_small_columns(TupleDesc expected, TupleDesc actual)
{
	bool		same = expected->natts <= actual->natts + 1 &&
		TupleDescAttr(expected, 0)->atttypid == NAMEOID;

	for (int i = 0; same && i + 1 < expected->natts; i++)
		same = TupleDescAttr(expected, i + 1)->atttypid == TupleDescAttr(actual, i)->atttypid;
	if (!same)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("the columns expected are not those of the table"),
				 errhint("Use the views of schema hotblocks.")));
}

/*
 * The rows of a small table of every dataset that the user may read, behind
 * the dataset's name.
 */
PG_FUNCTION_INFO_V1(hotblocks_small_tables);
Datum
hotblocks_small_tables(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	char	   *which = text_to_cstring(PG_GETARG_TEXT_PP(0));
	Snapshot	snapshot = GetActiveSnapshot();
	ListCell   *lc;

	InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
	foreach(lc, hb_datasets_readable(GetUserId()))
	{
		HbDataset  *ds = lfirst(lc);
		Relation	rel;
		TableScanDesc scan;
		TupleTableSlot *slot;

		rel = table_open(small_table(ds, which), AccessShareLock);
		check_small_columns(rsinfo->setDesc, RelationGetDescr(rel));
		slot = table_slot_create(rel, NULL);
		scan = table_beginscan(rel, snapshot, 0, NULL);
		while (table_scan_getnextslot(scan, ForwardScanDirection, slot))
		{
			Datum		values[MaxHeapAttributeNumber + 1];
			bool		nulls[MaxHeapAttributeNumber + 1];
			int			natts = rsinfo->setDesc->natts - 1;

			CHECK_FOR_INTERRUPTS();
			slot_getallattrs(slot);
			values[0] = NameGetDatum(&ds->name);
			nulls[0] = false;
			memcpy(values + 1, slot->tts_values, natts * sizeof(Datum));
			memcpy(nulls + 1, slot->tts_isnull, natts * sizeof(bool));
			tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
		}
		table_endscan(scan);
		ExecDropSingleTupleTableSlot(slot);
		table_close(rel, AccessShareLock);
	}
	return (Datum) 0;
}
