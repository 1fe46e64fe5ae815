/*
 * hb_dataset_sql.c
 *		What SQL calls: the triggers that guard the catalogs and watch the
 *		datasets' tables, the event trigger that forgets dropped datasets, and
 *		the functions behind the views of chunks.
 */
#include "postgres.h"

#include "compat.h"
#include "store/hb_store_int.h"

#include "access/genam.h"
#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "commands/event_trigger.h"
#include "commands/trigger.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

PG_FUNCTION_INFO_V1(hotblocks_dataset_check);
PG_FUNCTION_INFO_V1(hotblocks_kind_check);
PG_FUNCTION_INFO_V1(hotblocks_storage_changed);
PG_FUNCTION_INFO_V1(hotblocks_forget_dropped);
PG_FUNCTION_INFO_V1(hotblocks_forget_dropped_datasets);
PG_FUNCTION_INFO_V1(hotblocks_set_linkage);
PG_FUNCTION_INFO_V1(hotblocks_chunk_list);
PG_FUNCTION_INFO_V1(hotblocks_chunk_columns);

/*
 * BEFORE INSERT OR UPDATE on hotblocks.dataset: the tables that the row names
 * are in one schema, have one owner, and the current user is that owner (or
 * has its rights).  The library writes them for whoever may write the chunk
 * table, so a row must not connect the tables of different owners.
 */
Datum
hotblocks_dataset_check(PG_FUNCTION_ARGS)
{
	TriggerData *trigger = (TriggerData *) fcinfo->context;
	HeapTuple	tuple;
	TupleDesc	desc;
	Oid			owner = InvalidOid;
	Oid			schema = InvalidOid;

	if (!CALLED_AS_TRIGGER(fcinfo))
		elog(ERROR, "dataset_check: not called by trigger manager");
	tuple = TRIGGER_FIRED_BY_UPDATE(trigger->tg_event) ? trigger->tg_newtuple :
		trigger->tg_trigtuple;
	desc = RelationGetDescr(trigger->tg_relation);

	for (AttrNumber attno = HB_DATASET_HEAD_TABLE; attno <= HB_DATASET_NATTS; attno++)
	{
		bool		isnull;
		Oid			relid = DatumGetObjectId(heap_getattr(tuple, attno, desc, &isnull));
		HeapTuple	class = isnull ? NULL : SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
		Form_pg_class form;

		if (!HeapTupleIsValid(class))
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_TABLE),
					 errmsg("column \"%s\" of a dataset must name an existing table",
							NameStr(TupleDescAttr(desc, attno - 1)->attname))));
		form = (Form_pg_class) GETSTRUCT(class);
		if (attno == HB_DATASET_HEAD_TABLE)
		{
			owner = form->relowner;
			schema = form->relnamespace;
		}
		if (form->relkind != RELKIND_RELATION || form->relowner != owner ||
			form->relnamespace != schema)
			ereport(ERROR,
					(errcode(ERRCODE_WRONG_OBJECT_TYPE),
					 errmsg("the tables of a dataset must be ordinary tables of one schema and one owner"),
					 errdetail("Table \"%s\" is not like the others.",
							   NameStr(form->relname))));
		if (!hb_class_ownercheck(relid, GetUserId()))
			ereport(ERROR,
					(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
					 errmsg("must be owner of table \"%s\" to make it part of a dataset",
							NameStr(form->relname)),
					 errhint("Use hotblocks.create_dataset to make a dataset.")));
		ReleaseSysCache(class);
	}
	return PointerGetDatum(tuple);
}

/*
 * BEFORE INSERT, UPDATE OR DELETE on the tables that describe kinds: only for
 * who owns them, and superusers.
 */
Datum
hotblocks_kind_check(PG_FUNCTION_ARGS)
{
	TriggerData *trigger = (TriggerData *) fcinfo->context;

	if (!CALLED_AS_TRIGGER(fcinfo))
		elog(ERROR, "kind_check: not called by trigger manager");
	if (!hb_class_ownercheck(RelationGetRelid(trigger->tg_relation), GetUserId()))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied to define kinds"),
				 errdetail("Kinds belong to the owner of the extension.")));
	return PointerGetDatum(TRIGGER_FIRED_BY_UPDATE(trigger->tg_event) ?
						   trigger->tg_newtuple : trigger->tg_trigtuple);
}

/*
 * AFTER each statement on a dataset's chunk, piece or column table: by-hand
 * changes raise the layout, and an invalidation of the column table makes
 * every backend forget what it has read.
 */
Datum
hotblocks_storage_changed(PG_FUNCTION_ARGS)
{
	TriggerData *trigger = (TriggerData *) fcinfo->context;
	Oid			relid;
	List	   *names;
	ListCell   *lc;

	if (!CALLED_AS_TRIGGER(fcinfo))
		elog(ERROR, "storage_changed: not called by trigger manager");
	relid = RelationGetRelid(trigger->tg_relation);
	names = hb_dataset_names();
	foreach(lc, names)
	{
		HbDataset  *ds;

		if (!hb_dataset_has_table(lfirst(lc), relid))
			continue;
		ds = hb_dataset_open(lfirst(lc), false);
		hb_xact_dirty(ds);
		CacheInvalidateRelcacheByRelid(ds->column_relid);
	}
	return PointerGetDatum(NULL);
}

/*
 * Deletes the rows of datasets whose chunk table does not exist.  The caller
 * needs no right on hotblocks.dataset: it had the right to drop the table, and
 * a row without one is of no use to anybody.
 */
static void
hb_forget_dropped(void)
{
	Oid			schema = get_namespace_oid("hotblocks", true);
	Oid			relid = OidIsValid(schema) ? get_relname_relid("dataset", schema) : InvalidOid;
	Relation	rel;
	SysScanDesc scan;
	HeapTuple	tuple;
	bool		any = false;

	/* the extension itself may be what is being dropped */
	if (!OidIsValid(relid))
		return;
	rel = table_open(relid, RowExclusiveLock);
	scan = systable_beginscan(rel, InvalidOid, false, NULL, 0, NULL);
	while ((tuple = systable_getnext(scan)) != NULL)
	{
		bool		isnull;
		Datum		chunk = heap_getattr(tuple, HB_DATASET_CHUNK_TABLE,
										 RelationGetDescr(rel), &isnull);

		if (isnull || SearchSysCacheExists1(RELOID, chunk))
			continue;
		simple_heap_delete(rel, &tuple->t_self);
		any = true;
	}
	systable_endscan(scan);
	table_close(rel, NoLock);
	if (any)
		CommandCounterIncrement();
}

Datum
hotblocks_forget_dropped(PG_FUNCTION_ARGS)
{
	if (!CALLED_AS_EVENT_TRIGGER(fcinfo))
		elog(ERROR, "forget_dropped: not called by event trigger manager");
	hb_forget_dropped();
	PG_RETURN_NULL();
}

Datum
hotblocks_forget_dropped_datasets(PG_FUNCTION_ARGS)
{
	hb_forget_dropped();
	PG_RETURN_VOID();
}

/*
 * set_linkage(dataset, linkage): how the next blocks must be linked.  PUBLIC
 * may not update hotblocks.dataset, so the row is written here, after the check
 * that the caller owns the dataset.  The head row's lock lets a feed that runs
 * finish under the linkage that it began with.
 */
Datum
hotblocks_set_linkage(PG_FUNCTION_ARGS)
{
	HbDataset  *ds = hb_dataset_open(NameStr(*PG_GETARG_NAME(0)), false);
	char	   *linkage = text_to_cstring(PG_GETARG_TEXT_PP(1));

	hb_dataset_check_acl(ds, GetUserId(), 0);
	if (strcmp(linkage, "strict") != 0 && strcmp(linkage, "links") != 0 &&
		strcmp(linkage, "none") != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid linkage \"%s\"", linkage),
				 errhint("Available values are: strict, links, none.")));
	hb_head_lock(ds, HB_HEAD_NO_KEY_UPDATE, NULL);
	hb_dataset_store_linkage(ds, linkage);
	PG_RETURN_VOID();
}

/* The rows of one dataset's chunks. */
static void
hb_chunk_list_dataset(HbDataset *ds, ReturnSetInfo *rsinfo)
{
	List	   *tables = hb_dataset_table_names(ds);
	ListCell   *lc;

	foreach(lc, tables)
	{
		HbTable    *table = hb_table_open(ds, lfirst(lc), false);
		HbChunkSet *set = hb_chunk_set(table, GetActiveSnapshot(), PG_INT64_MIN,
									   PG_INT64_MAX);

		for (int i = 0; i < set->nchunks; i++)
		{
			HbChunkRow *row = &set->chunks[i];
			bool		inline_body = row->body_len + row->directory_bytes <= HB_INLINE_MAX;
			int			pieces = inline_body ? 0 :
				(int) ((row->body_len + HB_PIECE_PAYLOAD - 1) / HB_PIECE_PAYLOAD);
			Datum		values[12];
			bool		nulls[12] = {false};

			CHECK_FOR_INTERRUPTS();
			if (row->directory_bytes > HB_INLINE_MAX)
				pieces++;
			values[0] = NameGetDatum(&ds->name);
			values[1] = CStringGetTextDatum(NameStr(table->name));
			values[2] = Int64GetDatum(row->chunk_id);
			values[3] = Int64GetDatum(row->first_block);
			values[4] = Int64GetDatum(row->last_block);
			nulls[3] = nulls[4] = !row->has_blocks;
			values[5] = Int32GetDatum((int32) row->nrows);
			values[6] = Int64GetDatum((int64) row->bytes);
			values[7] = Int64GetDatum(row->directory_bytes);
			values[8] = Int64GetDatum((int64) row->body_len);
			values[9] = Int32GetDatum(pieces);
			values[10] = Int16GetDatum(row->level);
			values[11] = Int16GetDatum(row->format);
			tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
		}
		hb_chunk_set_release(set);
	}
}

/* chunk_list(dataset): NULL for all that the caller may read. */
Datum
hotblocks_chunk_list(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;

	hb_check_version();
	InitMaterializedSRF(fcinfo, 0);
	if (!PG_ARGISNULL(0))
	{
		HbDataset  *ds = hb_dataset_open(NameStr(*PG_GETARG_NAME(0)), false);

		hb_dataset_check_acl(ds, GetUserId(), ACL_SELECT);
		hb_chunk_list_dataset(ds, rsinfo);
	}
	else
	{
		ListCell   *lc;

		foreach(lc, hb_datasets_readable(GetUserId()))
			hb_chunk_list_dataset(lfirst(lc), rsinfo);
	}
	return (Datum) 0;
}

static const char *
hb_stored_name(const HbColumnInfo *info)
{
	switch (info->stored)
	{
		case HB_STORED_INT:
			return "integer";
		case HB_STORED_DICT:
			return "dictionary";
		case HB_STORED_FIXED:
			return "fixed";
		case HB_STORED_VAR:
			return "variable";
		case HB_STORED_NULL:
			return "null";
		case HB_STORED_DERIVED:
			return "derived";
	}
	return "unknown";
}

/* chunk_columns(dataset, table): how each chunk stores each column. */
Datum
hotblocks_chunk_columns(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	HbDataset  *ds = hb_dataset_open(NameStr(*PG_GETARG_NAME(0)), false);
	HbTable    *table;
	HbChunkSet *set;

	hb_dataset_check_acl(ds, GetUserId(), ACL_SELECT);
	table = hb_table_open(ds, text_to_cstring(PG_GETARG_TEXT_PP(1)), false);
	InitMaterializedSRF(fcinfo, 0);

	set = hb_chunk_set(table, GetActiveSnapshot(), PG_INT64_MIN, PG_INT64_MAX);
	for (int i = 0; i < set->nchunks; i++)
	{
		HbOpenChunk *chunk = hb_chunk_open(set, i);

		CHECK_FOR_INTERRUPTS();
		for (int col = 0; col < table->ncolumns; col++)
		{
			int			reader_col = hb_reader_column(chunk->reader,
													  table->columns[col].number);
			const HbColumnInfo *info;
			Datum		values[8];
			bool		nulls[8] = {false};

			if (reader_col < 0)
				continue;
			info = hb_reader_info(chunk->reader, reader_col);
			values[0] = Int64GetDatum(set->chunks[i].chunk_id);
			values[1] = CStringGetTextDatum(NameStr(table->columns[col].name));
			values[2] = CStringGetTextDatum(hb_stored_name(info));
			values[3] = Int32GetDatum((int32) set->chunks[i].nrows);
			values[4] = Int32GetDatum((int32) info->null_count);
			nulls[4] = info->stored == HB_STORED_DERIVED;
			values[5] = Int64GetDatum((int64) info->bytes);
			nulls[6] = info->stored != HB_STORED_DICT;
			values[6] = nulls[6] ? (Datum) 0 :
				Int32GetDatum((int32) hb_reader_dict_size(chunk->reader, info->dict));
			values[7] = BoolGetDatum(info->has_hash_index);
			tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
		}
		hb_chunk_close(chunk);
	}
	hb_chunk_set_release(set);
	return (Datum) 0;
}
