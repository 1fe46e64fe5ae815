/*
 * hb_feed_fact.c
 *		What a dataset remembers of its feeds beside the rows: table feed in
 *		the dataset's schema, a few rows of (fact, name, count).
 *
 *	 trace_format		name is the format that the dataset's traces are in
 *	 unknown_member		name is PLACE.MEMBER, count how often it was ignored
 *	 replaced_character	characters that became U+FFFD
 *
 * Written only by feeds, which hold the head row's lock, so nobody else
 * changes a row between our reading and writing it; rights were checked on the
 * dataset.  The table has few rows (hb_feed_place.c bounds the names), and is
 * read whole.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "chain/hb_feed.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

/* Columns of table feed that are read here. */
enum
{
	FEED_FACT = 1,
	FEED_NAME
};

#define FACT_TRACE_FORMAT	"trace_format"
#define FACT_UNKNOWN		"unknown_member"
#define FACT_REPLACED		"replaced_character"

static char *
fact_text(HeapTuple tuple, int att, TupleDesc desc)
{
	bool		isnull;
	Datum		value = heap_getattr(tuple, att, desc, &isnull);

	return isnull ? pstrdup("") : TextDatumGetCString(value);
}

/* 't', 'c' or 'p', 0 when the dataset has no traces yet. */
char
hb_fact_trace_format(HbDataset *ds, Snapshot snapshot)
{
	Relation	rel = hb_feed_table_open(ds, AccessShareLock);
	SysScanDesc scan = systable_beginscan(rel, InvalidOid, false, snapshot, 0, NULL);
	HeapTuple	tuple;
	char		format = 0;

	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		char	   *fact = fact_text(tuple, FEED_FACT, RelationGetDescr(rel));

		if (strcmp(fact, FACT_TRACE_FORMAT) == 0)
		{
			char	   *name = fact_text(tuple, FEED_NAME, RelationGetDescr(rel));

			format = strcmp(name, hb_trace_format_name('c')) == 0 ? 'c' :
				strcmp(name, hb_trace_format_name('p')) == 0 ? 'p' : 't';
		}
	}
	systable_endscan(scan);
	table_close(rel, NoLock);
	return format;
}

/* A count to be added to a row, that is made if it is not there. */
typedef struct FactAdd
{
	const char *fact;
	const char *name;
	int64		count;
} FactAdd;

static void
fact_collect(HbFeedPlace *place, List **adds)
{
	for (uint32 i = 0; i < place->nmembers; i++)
	{
		HbFeedMember *m = &place->members[i];

		if (m->nested != NULL)
			fact_collect(m->nested, adds);
		if (m->unknown && m->count > 0)
		{
			FactAdd    *add = palloc(sizeof(FactAdd));

			add->fact = FACT_UNKNOWN;
			add->name = psprintf("%s.%s", place->name, m->name);
			add->count = m->count;
			*adds = lappend(*adds, add);
		}
	}
}

/* Writes down what the feed has found; called once, at its end. */
void
hb_fact_store(HbFeed *feed, HbFeedPlace **places, int nplaces)
{
	List	   *adds = NIL;
	ListCell   *lc;

	for (int i = 0; i < nplaces; i++)
		fact_collect(places[i], &adds);
	if (feed->replaced > 0)
	{
		FactAdd    *add = palloc(sizeof(FactAdd));

		add->fact = FACT_REPLACED;
		add->name = "";
		add->count = feed->replaced;
		adds = lappend(adds, add);
	}
	if (feed->trace_format != feed->old_trace_format)
	{
		FactAdd    *add = palloc(sizeof(FactAdd));

		add->fact = FACT_TRACE_FORMAT;
		add->name = hb_trace_format_name(feed->trace_format);
		add->count = 1;
		adds = lappend(adds, add);
	}
	if (adds == NIL)
		return;

	foreach(lc, adds)
	{
		FactAdd    *add = lfirst(lc);

		CHECK_FOR_INTERRUPTS();
		hb_feed_table_put(feed->ds, add->fact, add->name, add->count);
	}
}
