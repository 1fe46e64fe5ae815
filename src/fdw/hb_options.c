/*
 * hb_options.c
 *		Options of servers, foreign tables and columns.
 *
 * One table lists them all.  The validator sees one object's options at a
 * time and neither the dataset nor the foreign table's columns, so it checks
 * what can be checked there: names, forms, and options against each other.
 * The rest is checked when a foreign table is used (hb_relation.c).
 */
#include "postgres.h"

#include "access/reloptions.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_foreign_data_wrapper.h"
#include "catalog/pg_foreign_server.h"
#include "catalog/pg_foreign_table.h"
#include "catalog/pg_user_mapping.h"
#include "commands/defrem.h"
#include "fmgr.h"
#include "foreign/foreign.h"
#include "nodes/value.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/varlena.h"

#include "fdw/hb_fdw.h"

PG_FUNCTION_INFO_V1(hotblocks_fdw_validator);

/* Checks one value; raises an error that quotes the option. */
typedef void (*HbOptionCheck) (const char *option, const char *value);

typedef struct HbOption
{
	const char *name;
	Oid			catalog;		/* whose objects have it */
	bool		required;
	HbOptionCheck check;
} HbOption;

static void check_name(const char *option, const char *value);
static void check_sort_key(const char *option, const char *value);

static const HbOption hb_options[] = {
	{"dataset", ForeignServerRelationId, true, check_name},
	{"table", ForeignTableRelationId, false, check_name},
	{"block_column", ForeignTableRelationId, false, check_name},
	{"sort_key", ForeignTableRelationId, false, check_sort_key},
	{"column", AttributeRelationId, false, check_name},
};

/* A name as the catalogs can hold it. */
static void
check_name(const char *option, const char *value)
{
	if (value[0] == '\0')
		ereport(ERROR,
				(errcode(ERRCODE_FDW_INVALID_ATTRIBUTE_VALUE),
				 errmsg("value of option \"%s\" must not be empty", option)));
	if (strlen(value) >= NAMEDATALEN)
		ereport(ERROR,
				(errcode(ERRCODE_NAME_TOO_LONG),
				 errmsg("invalid value for option \"%s\": \"%s\"",
						option, value),
				 errdetail("Names have at most %d bytes.", NAMEDATALEN - 1)));
}

/*
 * The names of a sort key, as String nodes; quoted where SQL would quote
 * them.
 */
static List *
parse_sort_key(const char *option, const char *value)
{
	List	   *names;
	List	   *result = NIL;
	ListCell   *lc;

	if (!SplitIdentifierString(pstrdup(value), ',', &names) || names == NIL)
		ereport(ERROR,
				(errcode(ERRCODE_FDW_INVALID_ATTRIBUTE_VALUE),
				 errmsg("invalid value for option \"%s\": \"%s\"",
						option, value),
				 errhint("Give the names of columns, separated by commas.")));
	if (list_length(names) > HB_MAX_SORT_COLS)
		ereport(ERROR,
				(errcode(ERRCODE_FDW_INVALID_ATTRIBUTE_VALUE),
				 errmsg("invalid value for option \"%s\": \"%s\"",
						option, value),
				 errdetail("A sort key has at most %d columns.",
						   HB_MAX_SORT_COLS)));
	foreach(lc, names)
	{
		String	   *name = makeString(pstrdup(lfirst(lc)));

		if (list_member(result, name))
			ereport(ERROR,
					(errcode(ERRCODE_FDW_INVALID_ATTRIBUTE_VALUE),
					 errmsg("invalid value for option \"%s\": \"%s\"",
							option, value),
					 errdetail("Column \"%s\" is given twice.",
							   strVal(name))));
		result = lappend(result, name);
	}
	return result;
}

static void
check_sort_key(const char *option, const char *value)
{
	(void) parse_sort_key(option, value);
}

/* Options that belong together; both of one foreign table. */
static void
check_table_options(const char *block_column, const char *sort_key)
{
	List	   *names;

	if (block_column == NULL || sort_key == NULL)
		return;
	names = parse_sort_key("sort_key", sort_key);
	if (strcmp(strVal(linitial(names)), block_column) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_FDW_INVALID_ATTRIBUTE_VALUE),
				 errmsg("invalid value for option \"%s\": \"%s\"",
						"sort_key", sort_key),
				 errdetail("The sort key does not begin with the block column \"%s\".",
						   block_column),
				 errhint("Put the column of option \"%s\" first.",
						 "block_column")));
}

/* What messages call the objects of a catalog. */
static const char *
catalog_objects(Oid catalog)
{
	switch (catalog)
	{
		case ForeignServerRelationId:
			return "a server";
		case ForeignTableRelationId:
			return "a foreign table";
		case AttributeRelationId:
			return "a column of a foreign table";
		case UserMappingRelationId:
			return "a user mapping";
		default:
			return "a foreign-data wrapper";
	}
}

/*
 * Refuses an option, with the nearest name of the same catalog as a hint, or
 * where else it belongs.
 */
static void
unknown_option(const char *name, Oid catalog)
{
	const HbOption *near = NULL;
	int			distance = 0;
	bool		any = false;

	for (int i = 0; i < lengthof(hb_options); i++)
	{
		const HbOption *option = &hb_options[i];
		int			d;

		if (option->catalog != catalog)
		{
			if (strcmp(option->name, name) == 0)
				ereport(ERROR,
						(errcode(ERRCODE_FDW_INVALID_OPTION_NAME),
						 errmsg("invalid option \"%s\"", name),
						 errhint("Option \"%s\" belongs to %s, not to %s.",
								 name, catalog_objects(option->catalog),
								 catalog_objects(catalog))));
			continue;
		}
		any = true;
		if (strlen(name) >= NAMEDATALEN)
			continue;
		d = varstr_levenshtein(name, strlen(name),
							   option->name, strlen(option->name),
							   1, 1, 1, true);
		/* Near: at most half of the letters are wrong. */
		if (d <= (int) strlen(option->name) / 2 &&
			(near == NULL || d < distance))
		{
			near = option;
			distance = d;
		}
	}

	ereport(ERROR,
			(errcode(ERRCODE_FDW_INVALID_OPTION_NAME),
			 errmsg("invalid option \"%s\"", name),
			 near != NULL ?
			 errhint("Perhaps you meant the option \"%s\".", near->name) :
			 any ? 0 :
			 errhint("There are no valid options for %s.",
					 catalog_objects(catalog))));
}

Datum
hotblocks_fdw_validator(PG_FUNCTION_ARGS)
{
	List	   *options = untransformRelOptions(PG_GETARG_DATUM(0));
	Oid			catalog = PG_GETARG_OID(1);
	const char *block_column = NULL;
	const char *sort_key = NULL;
	ListCell   *lc;

	foreach(lc, options)
	{
		DefElem    *def = lfirst_node(DefElem, lc);
		const HbOption *option = NULL;
		const char *value;

		for (int i = 0; i < lengthof(hb_options); i++)
		{
			if (hb_options[i].catalog == catalog &&
				strcmp(hb_options[i].name, def->defname) == 0)
				option = &hb_options[i];
		}
		if (option == NULL)
			unknown_option(def->defname, catalog);

		value = defGetString(def);
		option->check(option->name, value);
		if (strcmp(option->name, "block_column") == 0)
			block_column = value;
		else if (strcmp(option->name, "sort_key") == 0)
			sort_key = value;
	}
	check_table_options(block_column, sort_key);

	for (int i = 0; i < lengthof(hb_options); i++)
	{
		bool		given = false;

		if (hb_options[i].catalog != catalog || !hb_options[i].required)
			continue;
		foreach(lc, options)
			given |= strcmp(lfirst_node(DefElem, lc)->defname,
							hb_options[i].name) == 0;
		if (!given)
			ereport(ERROR,
					(errcode(ERRCODE_FDW_DYNAMIC_PARAMETER_VALUE_NEEDED),
					 errmsg("option \"%s\" is required for %s",
							hb_options[i].name, catalog_objects(catalog)),
					 errhint("Name the dataset, as in OPTIONS (dataset 'eth').")));
	}

	PG_RETURN_VOID();
}

/* The value of an option in a list of them, or NULL. */
static const char *
find_option(List *options, const char *name)
{
	ListCell   *lc;

	foreach(lc, options)
	{
		DefElem    *def = lfirst_node(DefElem, lc);

		if (strcmp(def->defname, name) == 0)
			return defGetString(def);
	}
	return NULL;
}

const char *
hb_options_dataset(Oid serverid)
{
	ForeignServer *server = GetForeignServer(serverid);
	const char *dataset = find_option(server->options, "dataset");

	/* Possible only where the server was made without the validator. */
	if (dataset == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FDW_DYNAMIC_PARAMETER_VALUE_NEEDED),
				 errmsg("server \"%s\" has no option \"%s\"",
						server->servername, "dataset")));
	return dataset;
}

void
hb_options_get(Oid relid, HbTableOptions *options)
{
	ForeignTable *table = GetForeignTable(relid);

	options->dataset = hb_options_dataset(table->serverid);
	options->table = find_option(table->options, "table");
	if (options->table == NULL)
		options->table = get_rel_name(relid);
	options->block_column = find_option(table->options, "block_column");
	options->sort_key_text = find_option(table->options, "sort_key");
	options->sort_key = options->sort_key_text == NULL ? NIL :
		parse_sort_key("sort_key", options->sort_key_text);
}

const char *
hb_options_column(Oid relid, AttrNumber attnum)
{
	return find_option(GetForeignColumnOptions(relid, attnum), "column");
}
