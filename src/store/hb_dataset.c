/*
 * hb_dataset.c
 *		Dataset descriptors.
 *
 * A backend keeps a descriptor for each dataset that it has opened, in a
 * memory context of its own, with the tables that were opened of it.  An open
 * looks at hotblocks.dataset's row each time (as a catalog: what is committed
 * now, and this transaction's own changes) and makes a new descriptor when the
 * row has changed, or when a relation that the descriptor was made from was
 * invalidated: hb_table_register and the trigger on the column table send an
 * invalidation of that table.  Descriptors that were replaced live on to the
 * end of the transaction, since somebody may still use them.
 *
 * Locks: AccessShareLock on each of the dataset's tables, at open, kept to the
 * end of the transaction.
 */
#include "postgres.h"

#include "compat.h"
#include "store/hb_store_int.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/indexing.h"
#include "catalog/namespace.h"
#include "catalog/pg_extension.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

typedef struct HbDatasetEntry
{
	NameData	name;			/* hash key */
	HbDataset  *ds;
	bool		stale;			/* something it was made from has changed */
} HbDatasetEntry;

static HTAB *hb_datasets = NULL;
static List *hb_replaced = NIL; /* HbDataset *: freed when the transaction ends */
static bool hb_version_checked = false; /* in this transaction */

static void
hb_dataset_relcache_callback(Datum arg, Oid relid)
{
	HASH_SEQ_STATUS seq;
	HbDatasetEntry *entry;

	hash_seq_init(&seq, hb_datasets);
	while ((entry = hash_seq_search(&seq)) != NULL)
	{
		if (entry->ds == NULL)
			continue;
		if (relid == InvalidOid || relid == entry->ds->column_relid)
			entry->stale = true;
	}
}

static void
hb_dataset_xact_callback(XactEvent event, void *arg)
{
	ListCell   *lc;

	switch (event)
	{
		case XACT_EVENT_COMMIT:
		case XACT_EVENT_ABORT:
		case XACT_EVENT_PREPARE:
		case XACT_EVENT_PARALLEL_COMMIT:
		case XACT_EVENT_PARALLEL_ABORT:
			hb_version_checked = false;
			foreach(lc, hb_replaced)
				MemoryContextDelete(((HbDataset *) lfirst(lc))->cxt);
			list_free(hb_replaced);
			hb_replaced = NIL;
			break;
		default:
			break;
	}
}

static void
hb_datasets_init(void)
{
	HASHCTL		ctl = {
		.keysize = sizeof(NameData),
		.entrysize = sizeof(HbDatasetEntry),
		.hcxt = CacheMemoryContext
	};

	hb_datasets = hash_create("hotblocks datasets", 16, &ctl,
							  HASH_ELEM | HASH_STRINGS | HASH_CONTEXT);
	CacheRegisterRelcacheCallback(hb_dataset_relcache_callback, (Datum) 0);
	RegisterXactCallback(hb_dataset_xact_callback, NULL);
}

/*
 * Once per transaction: pg_extension has no invalidations that would tell
 * when the version has changed, and one look costs a few microseconds.
 */
void
hb_check_version(void)
{
	Relation	rel;
	SysScanDesc scan;
	ScanKeyData key;
	HeapTuple	tuple;
	char	   *version = NULL;

	if (hb_version_checked)
		return;
	if (hb_datasets == NULL)
		hb_datasets_init();

	rel = table_open(ExtensionRelationId, AccessShareLock);
	ScanKeyInit(&key, Anum_pg_extension_extname, BTEqualStrategyNumber, F_NAMEEQ,
				CStringGetDatum("hotblocks"));
	scan = systable_beginscan(rel, ExtensionNameIndexId, true, NULL, 1, &key);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
	{
		bool		isnull;
		Datum		datum = heap_getattr(tuple, Anum_pg_extension_extversion,
										 RelationGetDescr(rel), &isnull);

		if (!isnull)
			version = TextDatumGetCString(datum);
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);

	if (version == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("extension \"hotblocks\" does not exist in this database"),
				 errhint("Run CREATE EXTENSION hotblocks.")));
	if (strcmp(version, HB_VERSION) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("hotblocks library version %s does not fit the extension's version %s",
						HB_VERSION, version),
				 errhint("Run ALTER EXTENSION hotblocks UPDATE, or, when the library was replaced while the server runs, restart the server.")));
	pfree(version);
	hb_version_checked = true;
}

/* One of the extension's own tables, by name. */
Oid
hb_catalog_relid(const char *name)
{
	Oid			schema = get_namespace_oid("hotblocks", true);
	Oid			relid = OidIsValid(schema) ? get_relname_relid(name, schema) : InvalidOid;

	if (!OidIsValid(relid))
		elog(ERROR, "table hotblocks.%s does not exist", name);
	return relid;
}

/* A scan of hotblocks.dataset for the row of a name, as a catalog. */
static SysScanDesc
hb_dataset_scan(Relation rel, NameData *name)
{
	AttrNumber	attno = HB_DATASET_NAME;
	Oid			index = hb_storage_index(rel, &attno, 1);
	ScanKeyData key;

	ScanKeyInit(&key, HB_DATASET_NAME, BTEqualStrategyNumber, F_NAMEEQ,
				NameGetDatum(name));
	return systable_beginscan(rel, index, OidIsValid(index), NULL, 1, &key);
}

static Oid
hb_dataset_oid(HeapTuple tuple, TupleDesc desc, AttrNumber attno)
{
	bool		isnull;
	Datum		datum = heap_getattr(tuple, attno, desc, &isnull);

	return isnull ? InvalidOid : DatumGetObjectId(datum);
}

/* Reads the dataset's row into *ds, all that comes from it. */
static bool
hb_dataset_lookup(const char *name, HbDataset *ds)
{
	Relation	rel = table_open(hb_catalog_relid("dataset"), AccessShareLock);
	TupleDesc	desc = RelationGetDescr(rel);
	NameData	key_name;
	SysScanDesc scan;
	HeapTuple	tuple;
	bool		found;

	namestrcpy(&key_name, name);
	scan = hb_dataset_scan(rel, &key_name);
	tuple = systable_getnext(scan);
	found = HeapTupleIsValid(tuple);
	if (found)
	{
		bool		isnull;
		char	   *word;

		memset(ds, 0, sizeof(*ds));
		ds->id = *DatumGetUUIDP(heap_getattr(tuple, HB_DATASET_ID, desc, &isnull));
		ds->name = key_name;
		word = TextDatumGetCString(heap_getattr(tuple, HB_DATASET_KIND, desc, &isnull));
		namestrcpy(&ds->kind, word);
		pfree(word);
		word = TextDatumGetCString(heap_getattr(tuple, HB_DATASET_LINKAGE, desc, &isnull));
		ds->linkage = word[0];
		pfree(word);
		ds->head_relid = hb_dataset_oid(tuple, desc, HB_DATASET_HEAD_TABLE);
		ds->chunk_relid = hb_dataset_oid(tuple, desc, HB_DATASET_CHUNK_TABLE);
		ds->piece_relid = hb_dataset_oid(tuple, desc, HB_DATASET_PIECE_TABLE);
		ds->column_relid = hb_dataset_oid(tuple, desc, HB_DATASET_COLUMN_TABLE);
		ds->coverage_relid = hb_dataset_oid(tuple, desc, HB_DATASET_COVERAGE_TABLE);
		ds->gap_relid = hb_dataset_oid(tuple, desc, HB_DATASET_GAP_TABLE);
		ds->feed_relid = hb_dataset_oid(tuple, desc, HB_DATASET_FEED_TABLE);
		ds->transition_relid = hb_dataset_oid(tuple, desc, HB_DATASET_TRANSITION_TABLE);
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return found;
}

/* Are the rows that two descriptors were made from the same? */
static bool
hb_dataset_same(const HbDataset *a, const HbDataset *b)
{
	return memcmp(&a->id, &b->id, sizeof(a->id)) == 0 &&
		namestrcmp((Name) &a->kind, NameStr(b->kind)) == 0 &&
		a->linkage == b->linkage &&
		a->head_relid == b->head_relid &&
		a->chunk_relid == b->chunk_relid &&
		a->piece_relid == b->piece_relid &&
		a->column_relid == b->column_relid &&
		a->coverage_relid == b->coverage_relid &&
		a->gap_relid == b->gap_relid &&
		a->transition_relid == b->transition_relid &&
		a->feed_relid == b->feed_relid;
}

/*
 * Locks the dataset's tables and makes sure that they are still there.  That
 * they have one owner was checked when the row was inserted, but the owner of
 * one may have been changed since, and the library writes them all for whoever
 * may write the chunk table.  What is wrong is reported at elevel; false if
 * that returns.
 */
static bool
hb_dataset_lock(HbDataset *ds, int elevel)
{
	for (int i = 0; i < HB_NSTORAGE; i++)
	{
		Oid			relid = hb_storage_relid(ds, i);
		HeapTuple	tuple;
		Form_pg_class form;

		LockRelationOid(relid, AccessShareLock);
		tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
		if (!HeapTupleIsValid(tuple))
		{
			ereport(elevel,
					(errcode(HB_ERRCODE_NO_DATASET),
					 errmsg("a table of dataset \"%s\" does not exist", NameStr(ds->name)),
					 errhint("Drop what is left of the dataset with DROP SCHEMA, or restore it.")));
			return false;
		}
		form = (Form_pg_class) GETSTRUCT(tuple);
		if (i == HB_STORAGE_HEAD)
		{
			ds->owner = form->relowner;
			ds->schema = form->relnamespace;
		}
		else if (form->relowner != ds->owner || form->relnamespace != ds->schema)
		{
			ReleaseSysCache(tuple);
			ereport(elevel,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("tables of dataset \"%s\" differ in owner or schema",
							NameStr(ds->name)),
					 errhint("Give all tables of the dataset the same owner and schema.")));
			return false;
		}
		ReleaseSysCache(tuple);
	}
	return true;
}

HbDataset *
hb_dataset_open(const char *name, bool missing_ok)
{
	HbDataset	row;
	HbDatasetEntry *entry;
	NameData	key;
	bool		found;
	MemoryContext cxt;

	hb_check_version();
	if (!hb_dataset_lookup(name, &row))
	{
		if (missing_ok)
			return NULL;
		ereport(ERROR,
				(errcode(HB_ERRCODE_NO_DATASET),
				 errmsg("dataset \"%s\" does not exist", name),
				 errhint("Create it with SELECT hotblocks.create_dataset(%s, kind).",
						 quote_literal_cstr(name))));
	}
	(void) hb_dataset_lock(&row, ERROR);

	namestrcpy(&key, name);
	entry = hash_search(hb_datasets, &key, HASH_ENTER, &found);
	if (!found)
	{
		entry->ds = NULL;
		entry->stale = false;
	}
	if (entry->ds != NULL && !entry->stale && hb_dataset_same(entry->ds, &row))
	{
		entry->ds->owner = row.owner;
		entry->ds->schema = row.schema;
		return entry->ds;
	}

	if (entry->ds != NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(CacheMemoryContext);
		HbDataset  *replaced = entry->ds;

		hb_replaced = lappend(hb_replaced, replaced);
		entry->ds = NULL;
		MemoryContextSwitchTo(old);
	}
	cxt = AllocSetContextCreate(CacheMemoryContext, "hotblocks dataset",
								ALLOCSET_SMALL_SIZES);
	entry->ds = MemoryContextAlloc(cxt, sizeof(HbDataset));
	*entry->ds = row;
	entry->ds->cxt = cxt;
	MemoryContextCopyAndSetIdentifier(cxt, NameStr(row.name));
	entry->stale = false;
	return entry->ds;
}

void
hb_dataset_check_acl(HbDataset *ds, Oid role, uint64 mode)
{
	bool		allowed;

	if (mode == 0)
		allowed = hb_class_ownercheck(ds->chunk_relid, role);
	else
		allowed = pg_class_aclcheck(ds->chunk_relid, role, (AclMode) mode) == ACLCHECK_OK;
	if (allowed)
		return;

	if (mode == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("must be owner of dataset \"%s\"", NameStr(ds->name))));
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("permission denied for dataset \"%s\"", NameStr(ds->name)),
			 errdetail("Role \"%s\" lacks a privilege on table \"%s.%s\".",
					   GetUserNameFromId(role, false),
					   get_namespace_name(ds->schema), get_rel_name(ds->chunk_relid))));
}

void
hb_dataset_store_linkage(HbDataset *ds, const char *linkage)
{
	Relation	rel = table_open(hb_catalog_relid("dataset"), RowExclusiveLock);
	SysScanDesc scan = hb_dataset_scan(rel, &ds->name);
	HeapTuple	tuple = systable_getnext(scan);
	Datum		values[HB_DATASET_NATTS] = {0};
	bool		nulls[HB_DATASET_NATTS] = {false};
	bool		replace[HB_DATASET_NATTS] = {false};
	ItemPointerData tid;

	if (!HeapTupleIsValid(tuple))
		ereport(ERROR,
				(errcode(HB_ERRCODE_NO_DATASET),
				 errmsg("dataset \"%s\" was dropped concurrently", NameStr(ds->name))));
	values[HB_DATASET_LINKAGE - 1] = CStringGetTextDatum(linkage);
	replace[HB_DATASET_LINKAGE - 1] = true;
	hb_storage_update(rel, &tuple->t_self,
					  heap_modify_tuple(tuple, RelationGetDescr(rel), values, nulls,
										replace), &tid);
	systable_endscan(scan);
	table_close(rel, NoLock);
	CommandCounterIncrement();
}

/* The names of all datasets, in order. */
List *
hb_dataset_names(void)
{
	Relation	rel;
	SysScanDesc scan;
	HeapTuple	tuple;
	List	   *names = NIL;

	hb_check_version();
	rel = table_open(hb_catalog_relid("dataset"), AccessShareLock);
	scan = systable_beginscan(rel, InvalidOid, false, NULL, 0, NULL);
	while ((tuple = systable_getnext(scan)) != NULL)
	{
		bool		isnull;
		Datum		name = heap_getattr(tuple, HB_DATASET_NAME, RelationGetDescr(rel), &isnull);

		names = lappend(names, pstrdup(NameStr(*DatumGetName(name))));
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	list_sort(names, hb_list_strcmp);
	return names;
}

/* Is a relation one of the dataset's tables? */
bool
hb_dataset_has_table(const char *name, Oid relid)
{
	HbDataset	row;

	if (!hb_dataset_lookup(name, &row))
		return false;
	for (int i = 0; i < HB_NSTORAGE; i++)
		if (hb_storage_relid(&row, i) == relid)
			return true;
	return false;
}

/*
 * One that an owner has taken apart is left out, with a warning: views of all
 * datasets are everybody's, and nobody's dataset must make them fail.
 */
List *
hb_datasets_readable(Oid role)
{
	List	   *names = hb_dataset_names();
	List	   *result = NIL;
	ListCell   *lc;

	foreach(lc, names)
	{
		HbDataset	row;
		bool		whole;

		if (!hb_dataset_lookup(lfirst(lc), &row) ||
			!SearchSysCacheExists1(RELOID, ObjectIdGetDatum(row.chunk_relid)) ||
			pg_class_aclcheck(row.chunk_relid, role, ACL_SELECT) != ACLCHECK_OK)
			continue;
		whole = hb_dataset_lock(&row, WARNING);
		for (int i = 0; whole && i < HB_NSTORAGE; i++)
		{
			Relation	rel = table_open(hb_storage_relid(&row, i), AccessShareLock);

			whole = hb_storage_check(&row, i, rel, WARNING);
			table_close(rel, NoLock);
		}
		if (whole)
			result = lappend(result, hb_dataset_open(lfirst(lc), false));
	}
	list_free_deep(names);
	return result;
}
