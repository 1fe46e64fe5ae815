/*
 * hb_feed_place.c
 *		Places: which members the objects of a document have, and what becomes
 *		of each.
 *
 * The mapping is kind_column.json of the dataset's kind, so a column that a
 * kind adds is fed without code; members that the shape itself needs (numbers
 * to check, arrays to walk) are added by hb_evm_block.c.  A member that nobody
 * knows becomes one that is known to be unknown, and is counted.
 *
 * The places of a portal's documents are not in kind_column: they take the
 * members of others (an item there has what transaction and receipt have
 * here), and know their columns, since what a portal leaves out is missing.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "chain/hb_feed.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

/*
 * Distinct unknown members that a feed tells apart.  Objects keyed by hashes
 * would otherwise make it remember every one.
 */
#define MAX_UNKNOWN_NAMES	1000
#define OTHER_NAMES			"(other)"

/*
 * Building
 */

HbFeedPlace *
hb_feed_place(HbFeed *feed, const char *name, HbFeedTable *ft)
{
	HbFeedPlace *place = MemoryContextAllocZero(feed->cxt, sizeof(HbFeedPlace));

	place->name = MemoryContextStrdup(feed->cxt, name);
	place->table = ft;
	return place;
}

HbFeedPlace *
hb_feed_portal_place(HbFeed *feed, const char *name, HbFeedTable *ft,
					 const char *const *sources, bool flat)
{
	HbFeedPlace *place = hb_feed_place(feed, name, ft);

	place->portal = true;
	place->sources = sources;
	place->flat = flat;
	if (ft != NULL)
		place->columns = MemoryContextAlloc(feed->cxt,
											ft->table->ncolumns * sizeof(int16));
	return place;
}

static uint32
place_hash(const char *name, uint32 len)
{
	return hash_bytes((const unsigned char *) name, len);
}

static void
place_enter(HbFeedPlace *place, uint32 number)
{
	HbFeedMember *m = &place->members[number];
	uint32		b = place_hash(m->name, m->len) & (place->nbuckets - 1);

	while (place->buckets[b] != 0)
		b = (b + 1) & (place->nbuckets - 1);
	place->buckets[b] = number + 1;
}

static HbFeedMember *
place_find(HbFeedPlace *place, const char *name, uint32 len)
{
	uint32		b;

	if (place->nbuckets == 0)
		return NULL;
	b = place_hash(name, len) & (place->nbuckets - 1);
	for (; place->buckets[b] != 0; b = (b + 1) & (place->nbuckets - 1))
	{
		HbFeedMember *m = &place->members[place->buckets[b] - 1];

		if (m->len == len && memcmp(m->name, name, len) == 0)
			return m;
	}
	return NULL;
}

static HbFeedMember *
place_add(HbFeed *feed, HbFeedPlace *place, const char *name, uint32 len)
{
	HbFeedMember *m = place_find(place, name, len);

	if (m != NULL)
		return m;
	if (place->nmembers == place->maxmembers)
	{
		place->maxmembers = place->maxmembers == 0 ? 16 : place->maxmembers * 2;
		if (place->members == NULL)
			place->members = MemoryContextAlloc(feed->cxt,
												place->maxmembers * sizeof(HbFeedMember));
		else
			place->members = repalloc(place->members,
									  place->maxmembers * sizeof(HbFeedMember));
	}
	m = &place->members[place->nmembers++];
	memset(m, 0, sizeof(*m));
	m->name = MemoryContextAlloc(feed->cxt, len + 1);
	memcpy(m->name, name, len);
	m->name[len] = '\0';
	m->len = len;
	m->column = m->slot = -1;

	if (place->nmembers * 2 > place->nbuckets)
	{
		if (place->buckets != NULL)
			pfree(place->buckets);
		place->nbuckets = place->maxmembers * 4;
		place->buckets = MemoryContextAllocZero(feed->cxt,
												place->nbuckets * sizeof(uint32));
		for (uint32 i = 0; i < place->nmembers; i++)
			place_enter(place, i);
	}
	else
		place_enter(place, place->nmembers - 1);
	return m;
}

void
hb_feed_place_slot(HbFeed *feed, HbFeedPlace *place, const char *member, int slot)
{
	Assert(slot < HB_FEED_MAX_SLOTS);
	place_add(feed, place, member, strlen(member))->slot = slot;
}

void
hb_feed_place_ignore(HbFeed *feed, HbFeedPlace *place, const char *member)
{
	(void) place_add(feed, place, member, strlen(member));
}

static HbFeedConv
conv_of_column(const HbColumn *column, const char *suffix)
{
	if (strcmp(suffix, "padded") == 0)
		return HB_CONV_PADDED;
	if (strcmp(suffix, "decimal") == 0)
		return HB_CONV_DECIMAL;
	if (strcmp(suffix, "hashes") == 0)
		return HB_CONV_HASHES;
	if (*suffix != '\0')
		elog(ERROR, "column \"%s\" has an unknown reading \"%s\"",
			 NameStr(column->name), suffix);
	switch (column->type)
	{
		case BYTEAOID:
			return HB_CONV_DATA;
		case INT8OID:
			return column->wide ? HB_CONV_NUM : HB_CONV_INT;
		case INT4OID:
		case INT2OID:
			return HB_CONV_INT;
		case NUMERICOID:
			return HB_CONV_NUM;
		case TIMESTAMPTZOID:
			return HB_CONV_SECONDS;
		case BOOLOID:
			return HB_CONV_BOOL;
		case TEXTOID:
			return HB_CONV_TEXT;
		case JSONBOID:
			return HB_CONV_JSON;
		default:
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("column \"%s\" of type %s cannot be fed from JSON",
							NameStr(column->name), format_type_be(column->type))));
	}
}

static void
place_member_column(HbFeed *feed, HbFeedPlace *place, const char *member,
					int column, HbFeedConv conv)
{
	HbFeedMember *m = place_add(feed, place, member, strlen(member));

	m->column = column;
	m->conv = conv;
	if (!place->portal)
		return;
	for (int i = 0; i < place->ncolumns; i++)
	{
		if (place->columns[i] == column)
			return;
	}
	place->columns[place->ncolumns++] = column;
}

/* A member of this name gives the column too, if the dataset has it. */
void
hb_feed_place_column(HbFeed *feed, HbFeedPlace *place, const char *member, int col)
{
	if (col >= 0)
		place_member_column(feed, place, member, col,
							conv_of_column(&place->table->table->columns[col], ""));
}

/* A column's name as a portal writes it: base_fee_per_gas is baseFeePerGas. */
static char *
camel_case(const char *name)
{
	char	   *result = pstrdup(name);
	char	   *to = result;

	for (const char *from = name; *from != '\0'; from++)
	{
		if (*from == '_' && from[1] != '\0')
			*to++ = pg_toupper((unsigned char) *++from);
		else
			*to++ = *from;
	}
	*to = '\0';
	return result;
}

/* The same member in the portal's places that take those of place source. */
static void
place_map_portal(HbFeed *feed, HbFeedPlace **places, int nplaces,
				 const char *source, HbFeedTable *ft, int column,
				 const char *member, HbFeedConv conv)
{
	for (int i = 0; i < nplaces; i++)
	{
		const char *const *from = places[i]->sources;

		if (places[i]->table != ft)
			continue;
		while (from != NULL && *from != NULL && strcmp(*from, source) != 0)
			from++;
		if (from == NULL || *from == NULL)
			continue;
		if (strchr(member, '.') == NULL)
			place_member_column(feed, places[i], member, column, conv);
		if (places[i]->flat)
			place_member_column(feed, places[i],
								camel_case(NameStr(ft->table->columns[column].name)),
								column, conv);
	}
}

/*
 * One alternative of a column's json: PLACE.MEMBER or PLACE.MEMBER.MEMBER,
 * where PLACE (which may have dots) is one of places; else the column is not
 * fed from here.
 */
static void
place_map(HbFeed *feed, HbFeedPlace **places, int nplaces,
		  HbFeedTable *ft, int column, char *path)
{
	const char *suffix = "";
	char	   *colon = strchr(path, ':');
	HbFeedPlace *place = NULL;
	HbFeedConv	conv;
	char	   *name = NULL;
	char	   *dot;

	if (colon != NULL)
	{
		*colon = '\0';
		suffix = colon + 1;
	}
	for (int i = 0; i < nplaces; i++)
	{
		size_t		len = strlen(places[i]->name);

		/* the longest place that the path starts with */
		if (places[i]->table == ft && !places[i]->portal &&
			strncmp(path, places[i]->name, len) == 0 &&
			path[len] == '.' && (place == NULL || len > strlen(place->name)))
		{
			place = places[i];
			name = path + len + 1;
		}
	}
	if (place == NULL)
		return;
	conv = conv_of_column(&ft->table->columns[column], suffix);
	place_map_portal(feed, places, nplaces, place->name, ft, column, name, conv);
	dot = strchr(name, '.');
	if (dot != NULL)
	{
		HbFeedMember *m = place_add(feed, place, name, dot - name);

		if (m->nested == NULL)
		{
			*dot = '\0';
			m->nested = hb_feed_place(feed, path, ft);
			*dot = '.';
		}
		place = m->nested;
		name = dot + 1;
	}
	place_member_column(feed, place, name, column, conv);
}

/* Fills the places from the kind's columns. */
void
hb_feed_places_load(HbFeed *feed, HbFeedPlace **places, int nplaces)
{
	Oid			relid = get_relname_relid("kind_column",
										  get_namespace_oid("hotblocks", false));
	Relation	rel = table_open(relid, AccessShareLock);
	TupleDesc	desc = RelationGetDescr(rel);
	AttrNumber	kind_att = get_attnum(relid, "kind");
	AttrNumber	table_att = get_attnum(relid, "table_name");
	AttrNumber	column_att = get_attnum(relid, "column_name");
	AttrNumber	json_att = get_attnum(relid, "json");
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key, kind_att, BTEqualStrategyNumber, F_TEXTEQ,
				CStringGetTextDatum(NameStr(feed->ds->kind)));
	scan = systable_beginscan(rel, InvalidOid, false, feed->snapshot, 1, &key);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		bool		isnull;
		Datum		json = heap_getattr(tuple, json_att, desc, &isnull);
		char	   *table;
		char	   *column;
		char	   *path;
		char	   *bar;

		CHECK_FOR_INTERRUPTS();
		if (isnull)
			continue;
		table = TextDatumGetCString(heap_getattr(tuple, table_att, desc, &isnull));
		column = TextDatumGetCString(heap_getattr(tuple, column_att, desc, &isnull));
		path = TextDatumGetCString(json);
		for (int t = 0; t < HB_FEED_NTABLES; t++)
		{
			HbFeedTable *ft = &feed->tables[t];
			int			col;

			if (ft->table == NULL || strcmp(NameStr(ft->table->name), table) != 0)
				continue;
			col = hb_table_column(ft->table, column);
			if (col < 0)
				continue;		/* made before the kind had it */
			while ((bar = strchr(path, '|')) != NULL)
			{
				*bar = '\0';
				place_map(feed, places, nplaces, ft, col, path);
				path = bar + 1;
			}
			place_map(feed, places, nplaces, ft, col, path);
		}
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
}

/*
 * Reading
 */

/*
 * The number of the member of this name, an unknown one perhaps; before is the
 * number of the member before it in the object plus one, 0 at its beginning.
 */
static uint32
place_member(HbFeed *feed, HbFeedPlace *place, const HbJsonNode *name, uint32 before)
{
	const char *s = feed->json.text + name->off;
	uint32		len = name->len;
	uint32		guess;
	HbFeedMember *m;

	guess = before == 0 ? place->first : place->members[before - 1].follower;
	if (guess < place->nmembers)
	{
		m = &place->members[guess];
		if (m->len == len && memcmp(m->name, s, len) == 0)
			return guess;
	}
	if (name->flags != 0)
	{
		/* written with escapes, or not in ASCII */
		HbSlice		decoded = hb_feed_string(feed, name - feed->json.nodes);

		s = (const char *) decoded.data;
		len = decoded.len;
	}
	m = place_find(place, s, len);
	if (m == NULL)
	{
		if (feed->unknown_names >= MAX_UNKNOWN_NAMES || len > 200)
		{
			s = OTHER_NAMES;
			len = strlen(OTHER_NAMES);
		}
		else
			feed->unknown_names++;
		m = place_add(feed, place, s, len);
		m->unknown = true;
	}
	guess = m - place->members;
	if (before == 0)
		place->first = guess;
	else
		place->members[before - 1].follower = guess;
	return guess;
}

/*
 * Reads an object of a place: fills the columns of the table's row, follows
 * nested places, and notes the nodes of members with a slot (which may be
 * null values).  found may be NULL for places without slots.
 */
void
hb_feed_read(HbFeed *feed, HbFeedPlace *place, uint32 object, HbFeedFound *found)
{
	const HbJsonNode *nodes = feed->json.nodes;
	uint32		end;
	uint32		before = 0;

	hb_feed_expect(feed, object, HB_JSON_OBJECT);
	end = nodes[object].next;
	if (found != NULL)
		memset(found, 0, sizeof(*found));

	for (uint32 i = object + 1; i < end; i = nodes[i + 1].next)
	{
		uint32		value = i + 1;
		uint32		number = place_member(feed, place, &nodes[i], before);
		HbFeedMember *m = &place->members[number];

		before = number + 1;
		if (m->unknown)
			m->count++;
		if (m->slot >= 0)
		{
			if (found->node[m->slot] != HB_JSON_NONE)
				hb_feed_bad(feed, value, "is given twice.");
			found->node[m->slot] = value;
		}
		if (m->column >= 0)
		{
			HbFeedTable *ft = place->table;

			if (!ft->row[m->column].isnull)
				hb_feed_bad(feed, value, "is given twice.");
			ft->present[m->column] = true;
			ft->row[m->column] = hb_feed_value(feed, value, m->conv,
											   &ft->table->columns[m->column]);
		}
		if (m->nested != NULL && nodes[value].type != HB_JSON_NULL)
			hb_feed_read(feed, m->nested, value, NULL);
	}
}
