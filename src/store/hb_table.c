/*
 * hb_table.c
 *		The tables of a dataset: their stored columns.
 *
 * stored_column has a row per column, numbered within its table; numbers go
 * into chunk directories and are never given again.  A dataset of a kind has
 * them from its creation; in kind free a foreign table registers them when it
 * first writes.  Loaded tables belong to the dataset's descriptor.
 */
#include "postgres.h"

#include "compat.h"
#include "store/hb_store_int.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "nodes/value.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

static const struct
{
	const char *name;
	HbDerive	derive;
}			hb_derive_names[] = {
	{"item", HB_DERIVE_LOOKUP_ITEM},
	{"block", HB_DERIVE_LOOKUP_BLOCK},
	{"prefix4", HB_DERIVE_PREFIX4},
	{"coalesce", HB_DERIVE_COALESCE},
	{"hex_word", HB_DERIVE_HEX_WORD},
	{"bloom_block", HB_DERIVE_BLOOM_BLOCK},
	{"bloom_item", HB_DERIVE_BLOOM_ITEM}
};

/* A row of stored_column while it is read: what HbColumn has no place for. */
typedef struct HbStoredColumn
{
	HbColumn	column;
	int			sort_position;
	bool		block_column;
	char	   *previous;		/* derive 'previous': the column repeated */
} HbStoredColumn;

int
hb_list_strcmp(const ListCell *a, const ListCell *b)
{
	return strcmp((const char *) lfirst(a), (const char *) lfirst(b));
}

static Datum
hb_table_attr(HeapTuple tuple, TupleDesc desc, AttrNumber attno)
{
	bool		isnull;
	Datum		datum = heap_getattr(tuple, attno, desc, &isnull);

	return isnull ? (Datum) 0 : datum;
}

/* The collation that a column is stored with; an unknown one is an error. */
static Oid
hb_table_collation(HeapTuple tuple, TupleDesc desc, Oid type)
{
	Datum		schema = hb_table_attr(tuple, desc, HB_COLUMN_COLLATION_SCHEMA);
	Datum		name = hb_table_attr(tuple, desc, HB_COLUMN_COLLATION_NAME);

	if (name == (Datum) 0 || schema == (Datum) 0)
		return get_typcollation(type);
	return get_collation_oid(list_make2(makeString(NameStr(*DatumGetName(schema))),
										makeString(NameStr(*DatumGetName(name)))),
							 false);
}

static void
hb_table_read_derive(HbStoredColumn *stored, HeapTuple tuple, TupleDesc desc)
{
	Datum		derive = hb_table_attr(tuple, desc, HB_COLUMN_DERIVE);
	Datum		source = hb_table_attr(tuple, desc, HB_COLUMN_SOURCE_TABLE);
	Datum		names = hb_table_attr(tuple, desc, HB_COLUMN_SOURCE_COLUMNS);
	char	   *word;

	if (source != (Datum) 0)
		namestrcpy(&stored->column.source_table, TextDatumGetCString(source));
	if (names != (Datum) 0)
	{
		Datum	   *elems;
		bool	   *nulls;
		int			n;

		deconstruct_array(DatumGetArrayTypeP(names), TEXTOID, -1, false,
						  TYPALIGN_INT, &elems, &nulls, &n);
		for (int i = 0; i < n; i++)
			if (!nulls[i])
				stored->column.source_columns =
					lappend(stored->column.source_columns,
							makeString(TextDatumGetCString(elems[i])));
	}
	if (derive == (Datum) 0)
		return;

	word = TextDatumGetCString(derive);
	if (strcmp(word, "previous") == 0)
	{
		if (stored->column.source_columns != NIL)
			stored->previous = strVal(linitial(stored->column.source_columns));
		return;
	}
	for (int i = 0; i < lengthof(hb_derive_names); i++)
		if (strcmp(word, hb_derive_names[i].name) == 0)
			stored->column.derive = hb_derive_names[i].derive;
	/* without a source there is nothing to derive from */
	if (stored->column.source_columns == NIL)
		stored->column.derive = HB_DERIVE_NONE;
}

static void
hb_table_read_column(HbStoredColumn *stored, HeapTuple tuple, TupleDesc desc,
					 MemoryContext cxt)
{
	HbColumn   *column = &stored->column;

	memset(stored, 0, sizeof(*stored));
	column->number = DatumGetInt16(hb_table_attr(tuple, desc, HB_COLUMN_NO));
	namestrcpy(&column->name,
			   TextDatumGetCString(hb_table_attr(tuple, desc, HB_COLUMN_NAME)));
	column->type = DatumGetObjectId(hb_table_attr(tuple, desc, HB_COLUMN_TYPE));
	if (!SearchSysCacheExists1(TYPEOID, ObjectIdGetDatum(column->type)))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("the type of stored column \"%s\" does not exist",
						NameStr(column->name))));
	column->typmod = DatumGetInt32(hb_table_attr(tuple, desc, HB_COLUMN_TYPMOD));
	column->collation = hb_table_collation(tuple, desc, column->type);
	column->not_null = DatumGetBool(hb_table_attr(tuple, desc, HB_COLUMN_NOT_NULL));
	column->width = DatumGetInt16(hb_table_attr(tuple, desc, HB_COLUMN_WIDTH));
	column->hash_index = DatumGetBool(hb_table_attr(tuple, desc, HB_COLUMN_HASH_INDEX));
	column->domain = DatumGetInt16(hb_table_attr(tuple, desc, HB_COLUMN_DOMAIN));
	column->wide = DatumGetBool(hb_table_attr(tuple, desc, HB_COLUMN_WIDE));
	column->prev_of = -1;
	hb_value_type_init(&column->value, column->type, column->typmod, column->wide, cxt);
	stored->sort_position = DatumGetInt16(hb_table_attr(tuple, desc, HB_COLUMN_SORT_POSITION));
	stored->block_column = DatumGetBool(hb_table_attr(tuple, desc, HB_COLUMN_BLOCK_COLUMN));
	hb_table_read_derive(stored, tuple, desc);
}

/* Which of the kind's tables has a row per block: its name, or "". */
static void
hb_table_block_table(HbDataset *ds, NameData *name)
{
	Relation	rel = table_open(hb_catalog_relid("kind"), AccessShareLock);
	SysScanDesc scan;
	HeapTuple	tuple;

	memset(name, 0, sizeof(*name));
	/* few rows, and columns found by name: no index needed */
	scan = systable_beginscan(rel, InvalidOid, false, NULL, 0, NULL);
	while ((tuple = systable_getnext(scan)) != NULL)
	{
		Datum		kind = hb_table_attr(tuple, RelationGetDescr(rel),
										 get_attnum(RelationGetRelid(rel), "kind"));
		Datum		block = hb_table_attr(tuple, RelationGetDescr(rel),
										  get_attnum(RelationGetRelid(rel), "block_table"));

		if (block != (Datum) 0 &&
			strcmp(TextDatumGetCString(kind), NameStr(ds->kind)) == 0)
			namestrcpy(name, TextDatumGetCString(block));
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
}

int
hb_table_column(const HbTable *table, const char *name)
{
	for (int i = 0; i < table->ncolumns; i++)
		if (strcmp(NameStr(table->columns[i].name), name) == 0)
			return i;
	return -1;
}

/*
 * Reads a table's columns, in order of number, into the dataset's context.
 * NULL if there are none.
 */
HbTable *
hb_table_load(HbDataset *ds, const char *name)
{
	static uint64 generations = 0;
	Relation	rel = hb_storage_open(ds, HB_STORAGE_COLUMN, AccessShareLock);
	Oid			pkey = hb_storage_pkey(rel);
	MemoryContext old;
	HbStoredColumn *stored = NULL;
	NameData	block_table;
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;
	HbTable    *table;
	int			n = 0;
	int			space = 0;

	hb_table_block_table(ds, &block_table);

	old = MemoryContextSwitchTo(ds->cxt);
	ScanKeyInit(&key, HB_COLUMN_TABLE_NAME, BTEqualStrategyNumber, F_TEXTEQ,
				CStringGetTextDatum(name));
	scan = systable_beginscan(rel, pkey, OidIsValid(pkey), NULL, 1, &key);
	while ((tuple = systable_getnext(scan)) != NULL)
	{
		if (n == space)
		{
			space = Max(16, space * 2);
			stored = stored == NULL ? palloc_array(HbStoredColumn, space) :
				repalloc(stored, space * sizeof(HbStoredColumn));
		}
		hb_table_read_column(&stored[n++], tuple, RelationGetDescr(rel), ds->cxt);
	}
	systable_endscan(scan);
	table_close(rel, NoLock);
	if (n == 0)
	{
		MemoryContextSwitchTo(old);
		return NULL;
	}

	/* the index gives them in order, a table scan may not */
	for (int i = 1; i < n; i++)
	{
		HbStoredColumn moved = stored[i];
		int			j = i;

		for (; j > 0 && stored[j - 1].column.number > moved.column.number; j--)
			stored[j] = stored[j - 1];
		stored[j] = moved;
	}

	table = palloc0_object(HbTable);
	table->dataset = ds;
	namestrcpy(&table->name, name);
	table->ncolumns = n;
	table->columns = palloc_array(HbColumn, n);
	table->block_col = -1;
	for (int i = 0; i < n; i++)
	{
		table->columns[i] = stored[i].column;
		if (stored[i].block_column)
			table->block_col = i;
	}
	for (int position = 1; position <= HB_MAX_SORT_COLS; position++)
	{
		int			col = -1;

		for (int i = 0; i < n; i++)
			if (stored[i].sort_position == position)
				col = i;
		if (col < 0)
			break;
		table->sort_cols[table->nsort++] = col;
	}
	for (int i = 0; i < n; i++)
		if (stored[i].previous != NULL)
			table->columns[i].prev_of = hb_table_column(table, stored[i].previous);
	if (NameStr(block_table)[0] != '\0' && table->block_col >= 0)
	{
		table->is_block_table = strcmp(NameStr(block_table), name) == 0;
		table->is_item_table = !table->is_block_table;
	}
	table->generation = ++generations;
	pfree(stored);
	MemoryContextSwitchTo(old);
	return table;
}

static HbTable *
hb_table_find(HbDataset *ds, const char *name)
{
	ListCell   *lc;

	foreach(lc, ds->tables)
	{
		HbTable    *table = lfirst(lc);

		if (strcmp(NameStr(table->name), name) == 0)
			return table;
	}
	return NULL;
}

static void
hb_table_remember(HbDataset *ds, HbTable *table)
{
	MemoryContext old = MemoryContextSwitchTo(ds->cxt);
	HbTable    *before = hb_table_find(ds, NameStr(table->name));

	/* the one before stays in the context: somebody may hold it */
	if (before != NULL)
		ds->tables = list_delete_ptr(ds->tables, before);
	ds->tables = lappend(ds->tables, table);
	MemoryContextSwitchTo(old);
}

HbTable *
hb_table_open(HbDataset *ds, const char *name, bool missing_ok)
{
	HbTable    *table = hb_table_find(ds, name);

	if (table != NULL)
		return table;
	table = hb_table_load(ds, name);
	if (table != NULL)
		hb_table_remember(ds, table);
	else if (!missing_ok)
	{
		List	   *names = hb_dataset_table_names(ds);
		StringInfoData list;
		ListCell   *lc;

		initStringInfo(&list);
		foreach(lc, names)
			appendStringInfo(&list, "%s%s", list.len > 0 ? ", " : "", (char *) lfirst(lc));
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("dataset \"%s\" has no table \"%s\"", NameStr(ds->name), name),
				 list.len > 0 ? errhint("Its tables are: %s.", list.data) :
				 errhint("It has no tables yet: the first write makes one.")));
	}
	return table;
}

/* All tables' names, in the order of the alphabet, in the current context. */
List *
hb_dataset_table_names(HbDataset *ds)
{
	Relation	rel = hb_storage_open(ds, HB_STORAGE_COLUMN, AccessShareLock);
	SysScanDesc scan = systable_beginscan(rel, InvalidOid, false, NULL, 0, NULL);
	List	   *names = NIL;
	HeapTuple	tuple;

	while ((tuple = systable_getnext(scan)) != NULL)
	{
		char	   *name = TextDatumGetCString(hb_table_attr(tuple, RelationGetDescr(rel),
															 HB_COLUMN_TABLE_NAME));
		bool		known = false;
		ListCell   *lc;

		foreach(lc, names)
			known = known || strcmp(lfirst(lc), name) == 0;
		if (!known)
			names = lappend(names, name);
	}
	systable_endscan(scan);
	table_close(rel, NoLock);
	list_sort(names, hb_list_strcmp);
	return names;
}

/* The block column and sort key asked for must be the table's. */
static void
hb_table_check_key(HbTable *table, const char *block_column, List *sort_key)
{
	bool		same = list_length(sort_key) == table->nsort;
	StringInfoData key;

	initStringInfo(&key);
	for (int i = 0; i < table->nsort; i++)
	{
		const char *name = NameStr(table->columns[table->sort_cols[i]].name);

		same = same && strcmp(strVal(list_nth(sort_key, i)), name) == 0;
		appendStringInfo(&key, "%s%s", i > 0 ? "," : "", name);
	}
	if (table->block_col < 0)
		same = same && block_column == NULL;
	else
		same = same && block_column != NULL &&
			strcmp(block_column, NameStr(table->columns[table->block_col].name)) == 0;
	if (!same)
		ereport(ERROR,
				(errcode(ERRCODE_FDW_INVALID_OPTION_NAME),
				 errmsg("table \"%s\" of dataset \"%s\" was made with another block column or sort key",
						NameStr(table->name), NameStr(table->dataset->name)),
				 errhint("Its options are: block_column '%s', sort_key '%s'.",
						 table->block_col < 0 ? "" : NameStr(table->columns[table->block_col].name),
						 key.data)));
	pfree(key.data);
}

static void
hb_table_check_column(HbTable *table, int col, const HbColumnDef *def, Oid type)
{
	HbColumn   *column = &table->columns[col];

	if (column->type != type)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"%s\" is stored as %s, not as %s", def->name,
						format_type_be(column->type), format_type_be(type)),
				 errhint("Declare it %s, or store the values in a column of another name.",
						 format_type_be(column->type))));
	if (column->collation != def->collation)
		ereport(ERROR,
				(errcode(ERRCODE_COLLATION_MISMATCH),
				 errmsg("column \"%s\" is stored with collation \"%s\", not with \"%s\"",
						def->name, get_collation_name(column->collation),
						get_collation_name(def->collation))));
}

static void
hb_table_check_block_type(const char *name, Oid type)
{
	if (type != INT8OID && type != INT4OID && type != INT2OID)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("block column \"%s\" must be of type bigint, integer or smallint",
						name)));
}

static int
hb_key_position(List *sort_key, const char *name)
{
	int			position = 1;
	ListCell   *lc;

	foreach(lc, sort_key)
	{
		if (strcmp(strVal(lfirst(lc)), name) == 0)
			return position;
		position++;
	}
	return 0;
}

/* Inserts the row of one new column. */
static void
hb_table_add_column(Relation rel, const char *table, int number,
					const HbColumnDef *def, Oid type, int32 typmod,
					int sort_position, bool block_column, bool not_null)
{
	Datum		values[HB_COLUMN_NATTS] = {0};
	bool		nulls[HB_COLUMN_NATTS];
	NameData	collation_schema;
	NameData	collation_name;

	memset(nulls, true, sizeof(nulls));
#define SET(attno, datum) \
	(values[(attno) - 1] = (datum), nulls[(attno) - 1] = false)
	SET(HB_COLUMN_TABLE_NAME, CStringGetTextDatum(table));
	SET(HB_COLUMN_NO, Int16GetDatum(number));
	SET(HB_COLUMN_NAME, CStringGetTextDatum(def->name));
	SET(HB_COLUMN_TYPE, ObjectIdGetDatum(type));
	SET(HB_COLUMN_TYPMOD, Int32GetDatum(typmod));
	if (OidIsValid(def->collation))
	{
		HeapTuple	tuple = SearchSysCache1(COLLOID, ObjectIdGetDatum(def->collation));
		Form_pg_collation form;

		if (!HeapTupleIsValid(tuple))
			elog(ERROR, "cache lookup failed for collation %u", def->collation);
		form = (Form_pg_collation) GETSTRUCT(tuple);
		namestrcpy(&collation_name, NameStr(form->collname));
		namestrcpy(&collation_schema, get_namespace_name(form->collnamespace));
		ReleaseSysCache(tuple);
		SET(HB_COLUMN_COLLATION_SCHEMA, NameGetDatum(&collation_schema));
		SET(HB_COLUMN_COLLATION_NAME, NameGetDatum(&collation_name));
	}
	SET(HB_COLUMN_NOT_NULL, BoolGetDatum(block_column || not_null));
	if (sort_position > 0)
		SET(HB_COLUMN_SORT_POSITION, Int16GetDatum(sort_position));
	SET(HB_COLUMN_BLOCK_COLUMN, BoolGetDatum(block_column));
	SET(HB_COLUMN_WIDTH, Int16GetDatum(0));
	SET(HB_COLUMN_HASH_INDEX, BoolGetDatum(def->hash_index));
	SET(HB_COLUMN_DOMAIN, Int16GetDatum(0));
	SET(HB_COLUMN_WIDE, BoolGetDatum(false));
#undef SET
	hb_storage_insert(rel, HB_STORAGE_COLUMN, values, nulls, GetCurrentCommandId(true));
}

/* Is the column stored as NOT NULL, and the definition lets nulls in? */
static bool
hb_table_allows_nulls(const HbTable *table, const HbColumnDef *def)
{
	int			col = hb_table_column(table, def->name);

	return col >= 0 && col != table->block_col &&
		table->columns[col].not_null && !def->not_null;
}

static void
hb_table_drop_not_null(Relation rel, const char *table, int number)
{
	Oid			pkey = hb_storage_pkey(rel);
	int			attno = HB_COLUMN_NOT_NULL;
	Datum		value = BoolGetDatum(false);
	bool		isnull = false;
	ScanKeyData key[2];
	SysScanDesc scan;
	HeapTuple	tuple;
	ItemPointerData newtid;

	ScanKeyInit(&key[0], HB_COLUMN_TABLE_NAME, BTEqualStrategyNumber, F_TEXTEQ,
				CStringGetTextDatum(table));
	ScanKeyInit(&key[1], HB_COLUMN_NO, BTEqualStrategyNumber, F_INT2EQ,
				Int16GetDatum(number));
	scan = systable_beginscan(rel, pkey, OidIsValid(pkey), NULL, 2, key);
	tuple = systable_getnext(scan);
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "stored column %d of table \"%s\" not found", number, table);
	hb_storage_update(rel, &tuple->t_self,
					  heap_modify_tuple_by_cols(tuple, RelationGetDescr(rel), 1,
												&attno, &value, &isnull),
					  &newtid);
	systable_endscan(scan);
}

/* Every column of the key must be there. */
static void
hb_table_check_key_columns(const char *table, const char *block_column,
						   List *sort_key, List *columns)
{
	ListCell   *lc;

	if (list_length(sort_key) > HB_MAX_SORT_COLS)
		ereport(ERROR,
				(errcode(ERRCODE_TOO_MANY_COLUMNS),
				 errmsg("sort key of table \"%s\" has more than %d columns",
						table, HB_MAX_SORT_COLS)));
	if (block_column != NULL &&
		(sort_key == NIL || strcmp(strVal(linitial(sort_key)), block_column) != 0))
		ereport(ERROR,
				(errcode(ERRCODE_FDW_INVALID_OPTION_NAME),
				 errmsg("the sort key of table \"%s\" must begin with its block column \"%s\"",
						table, block_column)));
	foreach(lc, sort_key)
	{
		bool		found = false;
		ListCell   *lc2;

		foreach(lc2, columns)
			found = found || strcmp(((HbColumnDef *) lfirst(lc2))->name,
									strVal(lfirst(lc))) == 0;
		if (!found)
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_COLUMN),
					 errmsg("sort key column \"%s\" of table \"%s\" does not exist",
							strVal(lfirst(lc)), table)));
	}
}

HbTable *
hb_table_register(HbDataset *ds, const char *name, const char *block_column,
				  List *sort_key, List *columns)
{
	Relation	rel = NULL;
	HbTable    *table = hb_table_open(ds, name, true);
	int			next_number = 1;
	bool		changed = false;
	ListCell   *lc;

	for (int pass = 0; pass < 2; pass++)
	{
		bool		missing = table == NULL;

		foreach(lc, columns)
			missing = missing ||
				hb_table_column(table, ((HbColumnDef *) lfirst(lc))->name) < 0 ||
				hb_table_allows_nulls(table, lfirst(lc));
		if (!missing || pass > 0)
			break;

		/* registrations go one after the other: look again under the lock */
		rel = hb_storage_open(ds, HB_STORAGE_COLUMN, ShareRowExclusiveLock);
		table = hb_table_load(ds, name);
		if (table != NULL)
			hb_table_remember(ds, table);
	}

	if (table != NULL)
	{
		hb_table_check_key(table, block_column, sort_key);
		for (int i = 0; i < table->ncolumns; i++)
			next_number = Max(next_number, table->columns[i].number + 1);
	}
	else
		hb_table_check_key_columns(name, block_column, sort_key, columns);

	foreach(lc, columns)
	{
		HbColumnDef *def = lfirst(lc);
		int32		typmod = def->typmod;
		Oid			type = getBaseTypeAndTypmod(def->type, &typmod);
		int			col = table == NULL ? -1 : hb_table_column(table, def->name);
		bool		is_block = block_column != NULL && strcmp(def->name, block_column) == 0;

		if (col >= 0)
		{
			hb_table_check_column(table, col, def, type);
			if (hb_table_allows_nulls(table, def))
			{
				hb_table_drop_not_null(rel, name, table->columns[col].number);
				changed = true;
			}
			continue;
		}
		if (strcmp(NameStr(ds->kind), "free") != 0)
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_COLUMN),
					 errmsg("table \"%s\" of kind \"%s\" has no column \"%s\"",
							name, NameStr(ds->kind), def->name),
					 errhint("Option \"column\" names the stored column that a column stands for.")));
		if (is_block)
			hb_table_check_block_type(def->name, type);
		if (next_number > PG_INT16_MAX)
			ereport(ERROR,
					(errcode(ERRCODE_TOO_MANY_COLUMNS),
					 errmsg("table \"%s\" has too many stored columns", name)));
		hb_table_add_column(rel, name, next_number++, def, type, typmod,
							table == NULL ? hb_key_position(sort_key, def->name) : 0,
							table == NULL && is_block,
							table == NULL && def->not_null);
		changed = true;
	}
	if (rel != NULL)
		table_close(rel, NoLock);
	if (changed)
	{
		CacheInvalidateRelcacheByRelid(ds->column_relid);
		CommandCounterIncrement();
		table = hb_table_load(ds, name);
		hb_table_remember(ds, table);
	}
	return table;
}
