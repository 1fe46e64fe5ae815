/*
 * hb_chain.h
 *		What other layers may ask of the chain layer: feeding blocks into a
 *		dataset, and what a dataset knows it was never given.
 *
 * A feed is one transition: any number of block documents, all or nothing.
 * hb_feed_begin locks the dataset's head row (FOR NO KEY UPDATE, to the end
 * of the transaction) and reads the chain's state with a snapshot taken
 * after; documents are checked and their rows given to the tables' writers as
 * they come, so memory does not grow with the number of blocks;
 * hb_feed_finish stores what the writers hold, the head, coverage, gaps and
 * the transition.  An error leaves nothing behind but memory of the context
 * that was current at begin, and the (sub)transaction's abort undoes the
 * rest.
 */
#ifndef HB_CHAIN_H
#define HB_CHAIN_H

#include "postgres.h"

#include "store/hb_store.h"

/*
 * Where the text comes from.  SERVER text has been through the server's
 * encoding checks and is in its encoding.  RAW text was read by us (load_file)
 * and is taken as UTF-8: bytes that are not become U+FFFD and are counted.
 * An escape that no text can hold (\u0000, half of a surrogate pair) becomes
 * U+FFFD in both; "?" where the server's encoding has no such character.
 */
typedef enum HbFeedSource
{
	HB_FEED_SERVER,
	HB_FEED_RAW
} HbFeedSource;

typedef struct HbFeed HbFeed;

typedef struct HbFeedResult
{
	int64		documents;		/* given to hb_feed_text */
	int64		appended;		/* blocks that were new */
	int64		skipped;		/* redelivered: stored with the same hash */
	int64		rows;			/* of all tables */
	bool		changed;		/* there was a transition */
} HbFeedResult;

/*
 * Begin in the current memory context, which must outlive the feed.  The
 * caller has checked that the user may insert into the dataset
 * (hb_dataset_check_acl, ACL_INSERT).  tables: C strings, the item tables
 * that every document is complete for, or NIL when the documents themselves
 * tell.  cid and snapshot are the statement's, as for a writer: rows of the
 * feed are seen as an INSERT's are, the chain's state when the feed ends.
 */
extern HbFeed *hb_feed_begin(HbDataset *ds, HbFeedSource source, List *tables,
							 CommandId cid, Snapshot snapshot);

/*
 * One block document.  Need not be zero terminated, and is not kept.
 */
extern void hb_feed_text(HbFeed *feed, const char *text, size_t len);

/* Ends the feed and frees it.  result may be NULL. */
extern void hb_feed_finish(HbFeed *feed, HbFeedResult *result);

/*
 * Called when a scan of the table over blocks lo..hi (INT64_MIN and INT64_MAX
 * for an open end; clipped to the stored chain) begins: where part of that
 * range was never delivered for the table, an error or a warning that names
 * it, as hotblocks.missing_data says.  Does nothing for the block table and
 * for kinds without coverage.
 *
 * The check is the scan's, zeroed but for a context that lives as long: what
 * is missing is read once, as rescans (of a nested loop, by thousands) have
 * the same snapshot; and it warns once, not at each of them.
 */
typedef struct HbCoverageCheck
{
	MemoryContext cxt;
	bool		known;
	bool		said;			/* a warning was given */
	List	   *missing;		/* HbBlockRange *, ascending */
} HbCoverageCheck;

extern void hb_coverage_check(HbCoverageCheck *check, HbTable *table,
							  Snapshot snapshot, int64 lo, int64 hi);

/* hotblocks.missing_data */
typedef enum HbMissingData
{
	HB_MISSING_ERROR,
	HB_MISSING_WARNING,
	HB_MISSING_IGNORE
} HbMissingData;

extern int	hb_missing_data;

/* Defines the layer's GUCs; called once by _PG_init. */
extern void hb_chain_init(void);

#endif							/* HB_CHAIN_H */
