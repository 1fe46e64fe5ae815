/*
 * hb_relation.c
 *		A foreign table, and the dataset's table that it shows.
 *
 * Data belongs to the dataset and a foreign table is a view of it, so nothing
 * keeps the two alike but the check made here, each time a foreign table is
 * used:
 *
 * - An attribute shows the stored column that its option "column" names, or
 *	 else the one of its own name.
 * - An attribute that finds none while a stored column is shown by no
 *	 attribute is most likely a renamed one, and silently reading NULL would be
 *	 wrong: an error, until option "column" says which column is meant (or
 *	 that a new one is).
 * - Otherwise, in a dataset of kind free, the attribute is new: it reads NULL,
 *	 and the first write adds it to the stored table.  Other kinds have fixed
 *	 columns.
 * - Types must be equal, or the declared one another spelling of the stored
 *	 one (hb_spell.c).
 *
 * Reading a table's options for each query takes longer than many a query, so
 * what came out is kept, per foreign table, until the relation or its server
 * is invalidated or the stored table has another descriptor.  Callers get
 * copies: what they hold may be forgotten under them.
 */
#include "postgres.h"

#include "access/table.h"
#include "catalog/pg_foreign_server.h"
#include "catalog/pg_type.h"
#include "foreign/foreign.h"
#include "nodes/value.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "fdw/hb_fdw.h"

/* What is remembered of a foreign table, in a context of its own. */
typedef struct HbForeignEntry
{
	Oid			relid;			/* hash key */
	MemoryContext cxt;			/* NULL: nothing is remembered */
	HbForeign  *foreign;		/* its dataset and table are not to be used */
	const char *dataset;		/* the option */
	uint64		generation;		/* of the stored table's descriptor */
} HbForeignEntry;

static HTAB *hb_foreigns = NULL;
static uint64 hb_foreign_invalidations = 0;

bool
hb_foreign_is_free(const HbDataset *ds)
{
	return strcmp(NameStr(ds->kind), HB_KIND_FREE) == 0;
}

/* The chunks hold a domain's base type. */
static Oid
attribute_type(Form_pg_attribute att, int32 *typmod)
{
	*typmod = att->atttypmod;
	return getBaseTypeAndTypmod(att->atttypid, typmod);
}

/* Type of one attribute against the stored column behind it. */
static void
check_type(HbForeign *foreign, Relation rel, Form_pg_attribute att, int col)
{
	HbColumn   *column = &foreign->table->columns[col];
	HbSpelling *spelling = &foreign->spellings[att->attnum - 1];
	int32		typmod;
	Oid			type = attribute_type(att, &typmod);

	if (hb_spell_find(column, type, typmod, spelling))
	{
		foreign->spelled |= *spelling != HB_SPELL_STORED &&
			*spelling != HB_SPELL_CAST;
		return;
	}
	ereport(ERROR,
			(errcode(ERRCODE_FDW_INVALID_DATA_TYPE),
			 errmsg("column \"%s\" of foreign table \"%s\" has type %s, but the stored column \"%s\" has type %s",
					NameStr(att->attname), RelationGetRelationName(rel),
					format_type_with_typemod(att->atttypid, att->atttypmod),
					NameStr(column->name),
					format_type_with_typemod(column->type, column->typmod)),
			 errhint("Declare the column as %s.", hb_spell_types(column))));
}

/* The names of stored columns that no attribute shows, for a message. */
static char *
unshown_columns(const HbForeign *foreign)
{
	StringInfoData buf;

	initStringInfo(&buf);
	for (int i = 0; i < foreign->table->ncolumns; i++)
	{
		if (foreign->attnums[i] == 0)
			appendStringInfo(&buf, "%s\"%s\"", buf.len > 0 ? ", " : "",
							 NameStr(foreign->table->columns[i].name));
	}
	return buf.len > 0 ? buf.data : NULL;
}

/*
 * Which stored column each attribute shows.  See the head of the file for the
 * rules.
 */
static void
map_columns(HbForeign *foreign, Relation rel)
{
	TupleDesc	desc = RelationGetDescr(rel);
	HbTable    *table = foreign->table;
	Form_pg_attribute lost = NULL;
	char	   *unshown;

	foreign->attnums = palloc0(sizeof(int) * Max(table->ncolumns, 1));
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);
		const char *option;
		int			col;

		if (att->attisdropped)
			continue;
		option = hb_options_column(foreign->relid, att->attnum);
		col = hb_table_column(table,
							  option != NULL ? option : NameStr(att->attname));
		if (col < 0)
		{
			if (!hb_foreign_is_free(foreign->dataset))
				ereport(ERROR,
						(errcode(ERRCODE_FDW_COLUMN_NAME_NOT_FOUND),
						 errmsg("column \"%s\" of foreign table \"%s\" does not match a column of table \"%s\" of dataset \"%s\"",
								NameStr(att->attname),
								RelationGetRelationName(rel),
								NameStr(table->name),
								NameStr(foreign->dataset->name)),
						 errhint("Name the stored column with ALTER FOREIGN TABLE %s ALTER COLUMN %s OPTIONS (ADD column '...'), or drop the column.",
								 quote_identifier(RelationGetRelationName(rel)),
								 quote_identifier(NameStr(att->attname)))));
			if (option == NULL && lost == NULL)
				lost = att;
			continue;
		}
		if (foreign->attnums[col] != 0)
			ereport(ERROR,
					(errcode(ERRCODE_FDW_INVALID_COLUMN_NAME),
					 errmsg("columns \"%s\" and \"%s\" of foreign table \"%s\" both show the stored column \"%s\"",
							NameStr(TupleDescAttr(desc, foreign->attnums[col] - 1)->attname),
							NameStr(att->attname),
							RelationGetRelationName(rel),
							NameStr(table->columns[col].name)),
					 errhint("Option \"column\" of one of them must name another column.")));
		check_type(foreign, rel, att, col);
		foreign->columns[i] = col;
		foreign->attnums[col] = att->attnum;
		if (att->attnotnull && !table->columns[col].not_null)
			foreign->check_not_null = bms_add_member(foreign->check_not_null,
													 att->attnum);
	}

	unshown = lost == NULL ? NULL : unshown_columns(foreign);
	if (unshown != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FDW_COLUMN_NAME_NOT_FOUND),
				 errmsg("column \"%s\" of foreign table \"%s\" does not match a stored column",
						NameStr(lost->attname), RelationGetRelationName(rel)),
				 errdetail("Table \"%s\" of dataset \"%s\" has columns that no column of the foreign table shows: %s.",
						   NameStr(table->name),
						   NameStr(foreign->dataset->name), unshown),
				 errhint("If the column was renamed, name the stored one with ALTER FOREIGN TABLE %s ALTER COLUMN %s OPTIONS (ADD column '...'); if it is new, give its own name.",
						 quote_identifier(RelationGetRelationName(rel)),
						 quote_identifier(NameStr(lost->attname)))));
	hb_spell_adapt(foreign);
}

/* A declared NOT NULL attribute that is not stored has no value to read. */
static void
check_unstored_not_null(HbForeign *foreign, Relation rel)
{
	TupleDesc	desc = RelationGetDescr(rel);

	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);

		if (!att->attisdropped && att->attnotnull && foreign->columns[i] < 0)
			foreign->check_not_null = bms_add_member(foreign->check_not_null,
													 att->attnum);
	}
}

/* The feed takes documents: one column of text. */
static void
check_feed(HbForeign *foreign, Relation rel)
{
	TupleDesc	desc = RelationGetDescr(rel);
	int			live = 0;
	bool		text = true;

	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);

		if (att->attisdropped)
			continue;
		live++;
		text &= att->atttypid == TEXTOID;
	}
	if (live != 1 || !text)
		ereport(ERROR,
				(errcode(ERRCODE_FDW_INVALID_DATA_TYPE),
				 errmsg("foreign table \"%s\" must have one column of type text",
						RelationGetRelationName(rel)),
				 errdetail("It shows \"%s\", which takes block documents.",
						   HB_FEED_TABLE)));
}

static char *
table_names(HbDataset *ds)
{
	StringInfoData buf;
	ListCell   *lc;

	initStringInfo(&buf);
	foreach(lc, hb_dataset_table_names(ds))
		appendStringInfo(&buf, "%s\"%s\"", buf.len > 0 ? ", " : "",
						 (char *) lfirst(lc));
	return buf.data;
}

/* Does the dataset take whole block documents? */
bool
hb_foreign_has_feed(HbDataset *ds)
{
	return !hb_foreign_is_free(ds);
}

/*
 * The options that shape a table of kind free, against the kind or against
 * what the stored table was made with.
 */
static void
check_shape(const HbForeign *foreign, Relation rel,
			const HbTableOptions *options)
{
	const HbTable *table = foreign->table;
	ListCell   *lc;
	bool		same = true;
	int			i = 0;

	if (options->block_column == NULL && options->sort_key == NIL)
		return;
	if (!hb_foreign_is_free(foreign->dataset))
		ereport(ERROR,
				(errcode(ERRCODE_FDW_INVALID_OPTION_NAME),
				 errmsg("option \"%s\" of foreign table \"%s\" is for datasets of kind \"%s\"",
						options->block_column != NULL ? "block_column" : "sort_key",
						RelationGetRelationName(rel), HB_KIND_FREE),
				 errdetail("Dataset \"%s\" is of kind \"%s\", which fixes the sort keys of its tables.",
						   NameStr(foreign->dataset->name),
						   NameStr(foreign->dataset->kind))));
	if (table == NULL)
		return;

	if (options->block_column != NULL)
		same = table->block_col >= 0 &&
			strcmp(NameStr(table->columns[table->block_col].name),
				   options->block_column) == 0;
	if (options->sort_key != NIL)
		same &= list_length(options->sort_key) == table->nsort;
	foreach(lc, options->sort_key)
	{
		same = same &&
			strcmp(NameStr(table->columns[table->sort_cols[i]].name),
				   strVal(lfirst(lc))) == 0;
		i++;
	}
	if (!same)
	{
		StringInfoData key;

		initStringInfo(&key);
		for (i = 0; i < table->nsort; i++)
			appendStringInfo(&key, "%s%s", i > 0 ? "," : "",
							 quote_identifier(NameStr(table->columns[table->sort_cols[i]].name)));
		ereport(ERROR,
				(errcode(ERRCODE_FDW_INVALID_ATTRIBUTE_VALUE),
				 errmsg("options of foreign table \"%s\" do not match the stored table \"%s\"",
						RelationGetRelationName(rel), NameStr(table->name)),
				 errdetail("It was made with block column \"%s\" and sort key \"%s\".",
						   table->block_col < 0 ? "" :
						   NameStr(table->columns[table->block_col].name),
						   key.data),
				 errhint("Options \"block_column\" and \"sort_key\" may be left out once the table is stored.")));
	}
}

static void
forget(HbForeignEntry *entry)
{
	if (entry->cxt != NULL)
		MemoryContextDelete(entry->cxt);
	entry->cxt = NULL;
}

static void
forget_relation(Datum arg, Oid relid)
{
	HASH_SEQ_STATUS seq;
	HbForeignEntry *entry;

	hb_foreign_invalidations++;
	if (OidIsValid(relid))
	{
		entry = hash_search(hb_foreigns, &relid, HASH_FIND, NULL);
		if (entry != NULL)
			forget(entry);
		return;
	}
	hash_seq_init(&seq, hb_foreigns);
	while ((entry = hash_seq_search(&seq)) != NULL)
		forget(entry);
}

static void
forget_server(Datum arg, int cacheid, uint32 hashvalue)
{
	forget_relation(arg, InvalidOid);
}

static void
init_memory(void)
{
	HASHCTL		ctl = {
		.keysize = sizeof(Oid),
		.entrysize = sizeof(HbForeignEntry),
		.hcxt = CacheMemoryContext
	};

	hb_foreigns = hash_create("hotblocks foreign tables", 64, &ctl,
							  HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	CacheRegisterRelcacheCallback(forget_relation, (Datum) 0);
	CacheRegisterSyscacheCallback(FOREIGNSERVEROID, forget_server, (Datum) 0);
}

static HbForeign *
copy_foreign(const HbForeign *foreign, int ncolumns)
{
	HbForeign  *copy = palloc(sizeof(HbForeign));
	Size		columns = sizeof(int) * Max(foreign->natts, 1);
	Size		spellings = sizeof(HbSpelling) * Max(foreign->natts, 1);
	Size		attnums = sizeof(int) * Max(ncolumns, 1);

	*copy = *foreign;
	copy->table_name = pstrdup(foreign->table_name);
	copy->columns = palloc(columns);
	memcpy(copy->columns, foreign->columns, columns);
	copy->spellings = palloc(spellings);
	memcpy(copy->spellings, foreign->spellings, spellings);
	copy->attnums = palloc(attnums);
	memcpy(copy->attnums, foreign->attnums, attnums);
	copy->check_not_null = bms_copy(foreign->check_not_null);
	return copy;
}

/* What is remembered, if it still holds; else NULL. */
static HbForeign *
recall(Relation rel, uint64 mode)
{
	Oid			relid = RelationGetRelid(rel);
	HbForeignEntry *entry;
	HbForeign  *foreign;
	HbDataset  *ds;
	HbTable    *table;
	char	   *table_name;

	entry = hash_search(hb_foreigns, &relid, HASH_FIND, NULL);
	if (entry == NULL || entry->cxt == NULL)
		return NULL;

	/* Opening the dataset takes locks, so the entry may go meanwhile. */
	table_name = pstrdup(entry->foreign->table_name);
	ds = hb_dataset_open(pstrdup(entry->dataset), true);
	if (ds != NULL)
		hb_dataset_check_acl(ds, rel->rd_rel->relowner, mode);
	table = ds == NULL ? NULL : hb_table_open(ds, table_name, true);
	entry = hash_search(hb_foreigns, &relid, HASH_FIND, NULL);
	if (table == NULL || entry == NULL || entry->cxt == NULL ||
		entry->generation != table->generation)
		return NULL;

	foreign = copy_foreign(entry->foreign, table->ncolumns);
	foreign->owner = rel->rd_rel->relowner;
	foreign->dataset = ds;
	foreign->table = table;
	hb_spell_adapt(foreign);
	return foreign;
}

static void
remember(const HbForeign *foreign, const char *dataset)
{
	HbForeignEntry *entry;
	MemoryContext old;
	HbTable    *stored = hb_table_open(foreign->dataset, foreign->table_name,
									   false);

	entry = hash_search(hb_foreigns, &foreign->relid, HASH_FIND, NULL);
	if (entry != NULL)
		forget(entry);
	else
	{
		entry = hash_search(hb_foreigns, &foreign->relid, HASH_ENTER, NULL);
		entry->cxt = NULL;
	}

	old = MemoryContextSwitchTo(AllocSetContextCreate(CacheMemoryContext,
													  "hotblocks foreign table",
													  ALLOCSET_SMALL_SIZES));
	entry->foreign = copy_foreign(foreign, stored->ncolumns);
	entry->dataset = pstrdup(dataset);
	entry->generation = stored->generation;
	entry->cxt = CurrentMemoryContext;
	MemoryContextSwitchTo(old);
}

HbForeign *
hb_foreign_open(Relation rel, uint64 mode)
{
	HbForeign  *foreign;
	HbTableOptions options;
	uint64		invalidations;

	if (hb_foreigns == NULL)
		init_memory();
	foreign = recall(rel, mode);
	if (foreign != NULL)
		return foreign;

	invalidations = hb_foreign_invalidations;
	foreign = palloc0(sizeof(HbForeign));
	hb_options_get(RelationGetRelid(rel), &options);
	foreign->relid = RelationGetRelid(rel);
	foreign->owner = rel->rd_rel->relowner;
	foreign->dataset = hb_dataset_open(options.dataset, false);
	hb_dataset_check_acl(foreign->dataset, foreign->owner, mode);
	foreign->table_name = options.table;
	foreign->natts = RelationGetNumberOfAttributes(rel);
	foreign->columns = palloc(sizeof(int) * Max(foreign->natts, 1));
	foreign->spellings = palloc0(sizeof(HbSpelling) * Max(foreign->natts, 1));
	for (int i = 0; i < foreign->natts; i++)
		foreign->columns[i] = -1;

	foreign->table = hb_table_open(foreign->dataset, options.table, true);
	if (foreign->table != NULL)
		map_columns(foreign, rel);
	else if (hb_foreign_has_feed(foreign->dataset) &&
			 strcmp(options.table, HB_FEED_TABLE) == 0)
	{
		foreign->feed = true;
		check_feed(foreign, rel);
	}
	else if (!hb_foreign_is_free(foreign->dataset))
		ereport(ERROR,
				(errcode(ERRCODE_FDW_TABLE_NOT_FOUND),
				 errmsg("dataset \"%s\" has no table \"%s\"",
						options.dataset, options.table),
				 errdetail("Tables of kind \"%s\" are %s.",
						   NameStr(foreign->dataset->kind),
						   table_names(foreign->dataset)),
				 errhint("Option \"table\" of foreign table \"%s\" names the dataset's table.",
						 RelationGetRelationName(rel))));
	check_unstored_not_null(foreign, rel);
	check_shape(foreign, rel, &options);
	if (foreign->table != NULL && invalidations == hb_foreign_invalidations)
		remember(foreign, options.dataset);
	return foreign;
}

/* Must run before rows are written, with the owner's INSERT checked. */
void
hb_foreign_register(HbForeign *foreign, Relation rel)
{
	TupleDesc	desc = RelationGetDescr(rel);
	HbTableOptions options;
	List	   *columns = NIL;
	List	   *sort_key;
	bool		missing = foreign->table == NULL;

	if (foreign->feed || !hb_foreign_is_free(foreign->dataset))
		return;
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);
		HbColumnDef *column;
		const char *option;

		if (att->attisdropped)
			continue;
		missing |= foreign->columns[i] < 0 ||
			(!att->attnotnull &&
			 foreign->columns[i] != foreign->table->block_col &&
			 foreign->table->columns[foreign->columns[i]].not_null);
		option = hb_options_column(foreign->relid, att->attnum);
		column = palloc0(sizeof(HbColumnDef));
		column->name = option != NULL ? option : pstrdup(NameStr(att->attname));
		column->type = attribute_type(att, &column->typmod);
		column->collation = att->attcollation;
		if (foreign->spellings[i] != HB_SPELL_STORED)
		{
			/* Another spelling, and the column is as it was made. */
			const HbColumn *stored = &hb_table_open(foreign->dataset,
													foreign->table_name,
													false)->columns[foreign->columns[i]];

			column->type = stored->type;
			column->typmod = stored->typmod;
			column->collation = stored->collation;
		}
		column->not_null = att->attnotnull;
		columns = lappend(columns, column);
	}
	if (!missing)
		return;

	hb_options_get(foreign->relid, &options);
	sort_key = options.sort_key;
	if (sort_key == NIL && options.block_column != NULL)
		sort_key = list_make1(makeString(pstrdup(options.block_column)));
	if (foreign->table != NULL)
	{
		/* What it was made with stands; the options only repeat it. */
		HbTable    *table = foreign->table;

		options.block_column = table->block_col < 0 ? NULL :
			NameStr(table->columns[table->block_col].name);
		sort_key = NIL;
		for (int i = 0; i < table->nsort; i++)
			sort_key = lappend(sort_key,
							   makeString(NameStr(table->columns[table->sort_cols[i]].name)));
	}
	foreign->table = hb_table_register(foreign->dataset, foreign->table_name,
									   options.block_column, sort_key,
									   columns);
	for (int i = 0; i < foreign->natts; i++)
		foreign->columns[i] = -1;
	foreign->spelled = false;
	map_columns(foreign, rel);

	/* Plans made while columns were missing could not push conditions. */
	CacheInvalidateRelcache(rel);
}
