/*
 * hb_import.c
 *		IMPORT FOREIGN SCHEMA: the foreign tables of a dataset.
 *
 * The remote schema is the dataset's kind, so that a statement says what it
 * expects to find.  Options "table" and "column" are always written: foreign
 * tables and columns may then be renamed at will.  Option "spelling" declares
 * the columns that are bytea as text (hb_spell.c).
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "foreign/foreign.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/ruleutils.h"

#include "fdw/hb_fdw.h"

/* OPTIONS (name 'value'), the value quoted as the grammar wants it. */
static void
append_option(StringInfo buf, const char *name, const char *value)
{
	appendStringInfo(buf, "OPTIONS (%s %s)", name, quote_literal_cstr(value));
}

static char *
create_table_command(const HbTable *table, const char *server, bool hex)
{
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfo(&buf, "CREATE FOREIGN TABLE %s (",
					 quote_identifier(NameStr(table->name)));
	for (int i = 0; i < table->ncolumns; i++)
	{
		HbColumn   *column = &table->columns[i];
		Oid			type = hex && column->type == BYTEAOID ? TEXTOID :
			column->type;

		appendStringInfo(&buf, "%s\n\t%s %s ", i > 0 ? "," : "",
						 quote_identifier(NameStr(column->name)),
						 format_type_extended(type, column->typmod,
											  FORMAT_TYPE_TYPEMOD_GIVEN |
											  FORMAT_TYPE_FORCE_QUALIFY));
		append_option(&buf, "column", NameStr(column->name));
		if (OidIsValid(column->collation) &&
			column->collation != get_typcollation(column->type))
			appendStringInfo(&buf, " COLLATE %s",
							 generate_collation_name(column->collation));
		if (column->not_null)
			appendStringInfoString(&buf, " NOT NULL");
	}
	appendStringInfo(&buf, "\n) SERVER %s\n", quote_identifier(server));
	append_option(&buf, "table", NameStr(table->name));
	return buf.data;
}

static char *
create_feed_command(const char *server)
{
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfo(&buf, "CREATE FOREIGN TABLE %s (block text) SERVER %s\n",
					 HB_FEED_TABLE, quote_identifier(server));
	append_option(&buf, "table", HB_FEED_TABLE);
	return buf.data;
}

/*
 * The core checks USAGE on the server; what a dataset has stored is shown to
 * those who may read it.
 */
List *
hotblocksImportForeignSchema(ImportForeignSchemaStmt *stmt, Oid serverOid)
{
	ForeignServer *server = GetForeignServer(serverOid);
	HbDataset  *ds;
	List	   *commands = NIL;
	ListCell   *lc;
	bool		hex = false;

	foreach(lc, stmt->options)
	{
		DefElem    *def = lfirst_node(DefElem, lc);

		if (strcmp(def->defname, "spelling") != 0)
			ereport(ERROR,
					(errcode(ERRCODE_FDW_INVALID_OPTION_NAME),
					 errmsg("invalid option \"%s\"", def->defname),
					 errhint("The option of IMPORT FOREIGN SCHEMA here is \"spelling\".")));
		hex = strcmp(defGetString(def), "hex") == 0;
		if (!hex && strcmp(defGetString(def), "stored") != 0)
			ereport(ERROR,
					(errcode(ERRCODE_FDW_INVALID_ATTRIBUTE_VALUE),
					 errmsg("invalid value for option \"%s\": \"%s\"",
							def->defname, defGetString(def)),
					 errhint("It is \"hex\" (text in place of bytea) or \"stored\".")));
	}

	ds = hb_dataset_open(hb_options_dataset(serverOid), false);
	hb_dataset_check_acl(ds, GetUserId(), ACL_SELECT);
	if (strcmp(stmt->remote_schema, NameStr(ds->kind)) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_FDW_SCHEMA_NOT_FOUND),
				 errmsg("schema \"%s\" is not the kind of dataset \"%s\"",
						stmt->remote_schema, NameStr(ds->name)),
				 errhint("Use IMPORT FOREIGN SCHEMA %s FROM SERVER %s INTO %s.",
						 quote_identifier(NameStr(ds->kind)),
						 quote_identifier(server->servername),
						 quote_identifier(stmt->local_schema))));

	foreach(lc, hb_dataset_table_names(ds))
	{
		char	   *name = lfirst(lc);

		if (IsImportableForeignTable(name, stmt))
			commands = lappend(commands,
							   create_table_command(hb_table_open(ds, name, false),
													server->servername, hex));
	}
	if (hb_foreign_has_feed(ds) && IsImportableForeignTable(HB_FEED_TABLE, stmt))
		commands = lappend(commands, create_feed_command(server->servername));
	return commands;
}
