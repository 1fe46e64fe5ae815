/*
 * hb_feed.h
 *		A feed from the inside: shared by the files that make it up.
 *
 *	 hb_feed.c			begin, text, finish: linkage, writers, coverage
 *	 hb_feed_place.c	which member of a document goes into which column
 *	 hb_feed_value.c	one JSON value to one stored value; errors with a path
 *	 hb_feed_fact.c		what the dataset remembers of its feeds
 *	 hb_evm_block.c		documents: blocks, transactions, receipts, logs
 *	 hb_evm_trace.c		traces and state diffs
 *	 hb_evm_portal.c	documents in the shape of SQD's portal
 *
 * Memory: everything that lives as long as the feed is in cxt, everything of
 * one document in doc_cxt, which is reset before the next one.  Small values
 * (a decoded hash) come out of an arena in doc_cxt.
 */
#ifndef HB_FEED_H
#define HB_FEED_H

#include "postgres.h"

#include "chain/hb_chain.h"
#include "chain/hb_json.h"
#include "utils/snapshot.h"

/* Own classes of failure; docs/dba.md is the list. */
#define HB_ERRCODE_CONFLICT			MAKE_SQLSTATE('H', 'B', '0', '0', '1')
#define HB_ERRCODE_MALFORMED_BLOCK	MAKE_SQLSTATE('H', 'B', '0', '0', '2')
#define HB_ERRCODE_NOT_NEXT			MAKE_SQLSTATE('H', 'B', '0', '0', '3')
#define HB_ERRCODE_TRACE_FORMAT		MAKE_SQLSTATE('H', 'B', '0', '0', '4')
#define HB_ERRCODE_MISSING_DATA		MAKE_SQLSTATE('H', 'B', '0', '0', '5')

/* How a member's value is read. */
typedef enum HbFeedConv
{
	HB_CONV_DATA,				/* 0x data, of exactly width bytes if given */
	HB_CONV_PADDED,				/* a quantity as width bytes */
	HB_CONV_INT,				/* a quantity within min..max */
	HB_CONV_NUM,				/* a quantity below 2^256 in the num form */
	HB_CONV_DECIMAL,			/* a decimal number, perhaps in quotes */
	HB_CONV_SECONDS,			/* a quantity of seconds to a timestamptz */
	HB_CONV_BOOL,
	HB_CONV_TEXT,
	HB_CONV_JSON,
	HB_CONV_HASHES				/* an array of 32-byte data */
} HbFeedConv;

/* Consecutive blocks that have not been written down yet. */
typedef struct HbFeedRun
{
	bool		open;
	int64		first;
	int64		last;
} HbFeedRun;

typedef struct HbFeedPlace HbFeedPlace;
typedef struct HbFeedTable HbFeedTable;

/*
 * A member that may stand in a place.  It fills a column, opens a nested
 * place, is handed to the code (slot), is known and left aside, or is unknown
 * and counted; the first three may come together.
 */
typedef struct HbFeedMember
{
	char	   *name;
	uint32		len;
	int16		column;			/* in the place's table; -1 none */
	int16		slot;			/* of HbFeedFound; -1 none */
	HbFeedConv	conv;
	bool		unknown;
	HbFeedPlace *nested;
	int64		count;			/* of an unknown one, in this feed */
	uint32		follower;		/* the member that came next the last time */
} HbFeedMember;

/*
 * A kind of object in a document.  Lookup guesses that members come in the
 * order they came in the last time, and else hashes.
 */
struct HbFeedPlace
{
	const char *name;			/* as in kind_column.json, unless portal */
	bool		portal;			/* its members are those of sources, and it
								 * says which columns it may fill */
	const char *const *sources; /* names of places, NULL at the end */
	bool		flat;			/* column names in camel case are members too */
	int			ncolumns;		/* if portal: that it may fill */
	int16	   *columns;
	HbFeedTable *table;			/* whose columns members fill; NULL none */
	uint32		nmembers;
	uint32		maxmembers;
	HbFeedMember *members;
	uint32		nbuckets;		/* a power of two; buckets hold number + 1 */
	uint32	   *buckets;
	uint32		first;			/* the member that came first the last time */
};

/* Node numbers of the members that the code asked for; HB_JSON_NONE absent. */
#define HB_FEED_MAX_SLOTS	12
typedef struct HbFeedFound
{
	uint32		node[HB_FEED_MAX_SLOTS];
} HbFeedFound;

/*
 * A table that is fed.  The writer starts when the first row comes; while
 * assumed is true it leaves out the columns of cond_cols, which the rows so
 * far all derive.  A row that does not ends that for the rest of the feed.
 */
struct HbFeedTable
{
	HbTable    *table;
	HbWriter   *writer;
	HbPhysValue *row;			/* the row being made; .isnull when unset */
	bool	   *present;		/* by column: the document had it, maybe null */
	int			timestamp_col;	/* the block's time; -1: there is none */
	int			nsure;			/* columns that always derive */
	int		   *sure_cols;
	int			ncond;			/* columns that derive as a rule */
	int		   *cond_cols;
	bool		broken;			/* a row did not: store cond_cols */
	bool		declared;		/* the call says that documents are complete */
	HbFeedRun	delivered;
	HbFeedRun  *incomplete;		/* by column: rows came without it */
};

typedef enum HbFeedTableNo
{
	HB_FEED_BLOCKS,
	HB_FEED_TRANSACTIONS,
	HB_FEED_LOGS,
	HB_FEED_TRACES,
	HB_FEED_STATE_DIFFS,
	HB_FEED_NTABLES
} HbFeedTableNo;

/* A block's place in the chain. */
typedef struct HbFeedRef
{
	int64		number;
	uint8		hash[32];
} HbFeedRef;

#define HB_FEED_RECENT	1024	/* blocks of the feed kept in memory */

typedef struct HbEvmPlaces HbEvmPlaces;

struct HbFeed
{
	HbDataset  *ds;
	HbFeedSource source;
	CommandId	cid;			/* of the statement */
	Snapshot	statement_snapshot;
	MemoryContext cxt;
	MemoryContext doc_cxt;
	HbMem		mem;			/* palloc in cxt: the parser's nodes */
	HbJson		json;
	char	   *arena;			/* in doc_cxt */
	Size		arena_left;

	HbHead		old;			/* at begin */
	HbHead		head;			/* with the blocks of this feed */
	Snapshot	snapshot;		/* registered; taken after the lock */
	bool		flushed;		/* snapshot sees blocks of this feed, up to */
	int64		flushed_last;	/* this one */

	int64		batch;			/* of all its chunks */
	HbFeedTable tables[HB_FEED_NTABLES];
	HbEvmPlaces *places;

	/* the document at hand */
	bool		has_number;
	int64		number;
	uint32		node;			/* what an error is about */

	/* blocks of this feed, a ring by count */
	HbFeedRef *recent;
	int64		nrecent;		/* ever added */

	/* stored blocks, read ahead for redelivery */
	HbFeedRef *stored;
	int			nstored;
	int64		stored_first;	/* range that was read */
	int64		stored_last;

	char		trace_format;	/* 't'race_block, 'c'allTracer, 'p'ortal, 0 not
								 * yet */
	char		old_trace_format;
	int64		replaced;		/* characters that became U+FFFD */
	int64		unknown_names;	/* distinct unknown members */
	int64		first_appended;
	HbFeedResult result;
};

/* hb_feed.c */
extern void *hb_feed_alloc(HbFeed *feed, Size size);
extern bool hb_feed_link(HbFeed *feed, HbSlice hash, const HbSlice *parent);
extern void hb_feed_row(HbFeed *feed, HbFeedTable *ft, bool derives);
extern void hb_feed_delivered(HbFeed *feed, HbFeedTable *ft);
extern void hb_feed_incomplete(HbFeed *feed, HbFeedTable *ft, int col);
extern void hb_feed_no_rows(HbFeed *feed, HbFeedTable *ft);
extern void hb_feed_set_trace_format(HbFeed *feed, char format);
extern const char *hb_trace_format_name(char format);

static inline void
hb_feed_row_clear(HbFeedTable *ft)
{
	for (int i = 0; i < ft->table->ncolumns; i++)
		ft->row[i].isnull = true;
	memset(ft->present, 0, ft->table->ncolumns * sizeof(bool));
}

static inline void
hb_feed_set_int(HbFeedTable *ft, int col, int64 value)
{
	if (col >= 0)
	{
		ft->row[col].isnull = false;
		ft->row[col].i = value;
	}
}

static inline void
hb_feed_set_bytes(HbFeedTable *ft, int col, const void *data, uint32 len)
{
	if (col >= 0)
	{
		ft->row[col].isnull = false;
		ft->row[col].bytes.data = data;
		ft->row[col].bytes.len = len;
	}
}

/* hb_feed_place.c */
extern HbFeedPlace *hb_feed_place(HbFeed *feed, const char *name, HbFeedTable *ft);
extern HbFeedPlace *hb_feed_portal_place(HbFeed *feed, const char *name,
										 HbFeedTable *ft,
										 const char *const *sources, bool flat);
extern void hb_feed_place_column(HbFeed *feed, HbFeedPlace *place,
								 const char *member, int col);
extern void hb_feed_place_slot(HbFeed *feed, HbFeedPlace *place, const char *member, int slot);
extern void hb_feed_place_ignore(HbFeed *feed, HbFeedPlace *place, const char *member);
extern void hb_feed_places_load(HbFeed *feed, HbFeedPlace **places, int nplaces);
extern void hb_feed_read(HbFeed *feed, HbFeedPlace *place, uint32 object, HbFeedFound *found);

/* hb_feed_value.c */
extern HbPhysValue hb_feed_value(HbFeed *feed, uint32 node, HbFeedConv conv,
								 HbColumn *column);
extern HbSlice hb_feed_data(HbFeed *feed, uint32 node, int width);
extern HbSlice hb_feed_quantity(HbFeed *feed, uint32 node);
extern HbSlice hb_feed_padded(HbFeed *feed, uint32 node, int width);
extern int64 hb_feed_int(HbFeed *feed, uint32 node, int64 max);
extern HbSlice hb_feed_string(HbFeed *feed, uint32 node);
extern bool hb_feed_string_is(HbFeed *feed, uint32 node, const char *value);
extern void hb_feed_expect(HbFeed *feed, uint32 node, HbJsonType type);
extern void hb_feed_bad(HbFeed *feed, uint32 node, const char *detail,...) HB_NORETURN pg_attribute_printf(3, 4);
extern void hb_feed_missing(HbFeed *feed, uint32 object, const char *member) HB_NORETURN;
extern char *hb_feed_path(HbFeed *feed, uint32 node);
extern char *hb_feed_hex(const void *data, uint32 len);

static inline const HbJsonNode *
hb_feed_node(const HbFeed *feed, uint32 node)
{
	return &feed->json.nodes[node];
}

/* Absent and null are the same to most members. */
static inline bool
hb_feed_is_null(const HbFeed *feed, uint32 node)
{
	return node == HB_JSON_NONE || feed->json.nodes[node].type == HB_JSON_NULL;
}

/* hb_feed_fact.c */
extern char hb_fact_trace_format(HbDataset *ds, Snapshot snapshot);
extern void hb_fact_store(HbFeed *feed, HbFeedPlace **places, int nplaces);

/* hb_evm_block.c */
extern void hb_evm_begin(HbFeed *feed);
extern void hb_evm_document(HbFeed *feed);
extern void hb_evm_end(HbFeed *feed);

#endif							/* HB_FEED_H */
