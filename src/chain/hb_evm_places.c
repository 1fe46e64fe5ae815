/*
 * hb_evm_places.c
 *		What kind evm finds in a document, and which columns it fills: made
 *		once for a feed.
 *
 * Members that fill a column are in kind_column; here are those that the code
 * looks at itself, those that are known and left aside, and which columns a
 * reader derives.
 */
#include "postgres.h"

#include "chain/hb_evm.h"

/*
 * The places in the order of HbEvmPlaceNo.  Those with sources are a portal's:
 * they take what these places take, and if flat any column by its name.
 */
typedef struct EvmPlaceDef
{
	const char *name;
	HbFeedTableNo table;		/* HB_FEED_NTABLES: none */
	bool		flat;
	const char *sources[3];
} EvmPlaceDef;

static const EvmPlaceDef evm_places[EVM_NPLACES] = {
	{"document", HB_FEED_NTABLES},
	{"block", HB_FEED_BLOCKS},
	{"transaction", HB_FEED_TRANSACTIONS},
	{"receipt", HB_FEED_TRANSACTIONS},
	{"log", HB_FEED_LOGS},
	{"trace", HB_FEED_TRACES},
	{"trace.create.action", HB_FEED_TRACES},
	{"trace.create.result", HB_FEED_TRACES},
	{"frame.create", HB_FEED_TRACES},
	{"trace.call.action", HB_FEED_TRACES},
	{"trace.call.result", HB_FEED_TRACES},
	{"frame.call", HB_FEED_TRACES},
	{"trace.suicide.action", HB_FEED_TRACES},
	{"trace.suicide.result", HB_FEED_TRACES},
	{"frame.suicide", HB_FEED_TRACES},
	{"trace.reward.action", HB_FEED_TRACES},
	{"trace.reward.result", HB_FEED_TRACES},
	{"transaction_trace", HB_FEED_NTABLES},
	{"transaction_state_diff", HB_FEED_NTABLES},
	{"account_state_diff", HB_FEED_NTABLES},
	{"header", HB_FEED_BLOCKS, true, {"block"}},
	{"portal.transaction", HB_FEED_TRANSACTIONS, true, {"transaction", "receipt"}},
	{"portal.log", HB_FEED_LOGS, true, {"log"}},
	{"portal.state_diff", HB_FEED_NTABLES},
	{"portal.trace", HB_FEED_TRACES, false, {"trace"}},
	{"portal.trace.create.action", HB_FEED_TRACES, false, {"trace.create.action"}},
	{"portal.trace.create.result", HB_FEED_TRACES, false, {"trace.create.result"}},
	{"portal.trace.call.action", HB_FEED_TRACES, false, {"trace.call.action"}},
	{"portal.trace.call.result", HB_FEED_TRACES, false, {"trace.call.result"}},
	{"portal.trace.suicide.action", HB_FEED_TRACES, false, {"trace.suicide.action"}},
	{"portal.trace.suicide.result", HB_FEED_TRACES, false, {"trace.suicide.result"}},
	{"portal.trace.reward.action", HB_FEED_TRACES, false, {"trace.reward.action"}},
	{"portal.trace.reward.result", HB_FEED_TRACES, false, {"trace.reward.result"}}
};

static void
evm_slots(HbFeed *feed, HbFeedPlace *place, const char *const *names, int first)
{
	for (int i = 0; names[i] != NULL; i++)
		hb_feed_place_slot(feed, place, names[i], first + i);
}

static void
evm_ignore(HbFeed *feed, HbFeedPlace *place, const char *const *names)
{
	for (int i = 0; names[i] != NULL; i++)
		hb_feed_place_ignore(feed, place, names[i]);
}

#define NAMES(...) ((const char *const[]) {__VA_ARGS__, NULL})

static void
evm_portal_slots(HbFeed *feed)
{
	HbFeedPlace **place = feed->places->place;

	evm_slots(feed, place[EVM_PORTAL_TRANSACTION],
			  NAMES("blockNumber", "blockHash", "hash", "transactionIndex"), 0);
	evm_slots(feed, place[EVM_PORTAL_LOG],
			  NAMES("blockNumber", "blockHash", "transactionHash",
					"transactionIndex", "logIndex", "topics", "removed",
					"topic0", "topic1", "topic2", "topic3"), 0);
	evm_slots(feed, place[EVM_PORTAL_TRACE],
			  NAMES("blockNumber", "blockHash", "transactionHash",
					"transactionIndex", "type", "action", "result",
					"subtraces", "traceAddress"), 0);
	evm_slots(feed, place[EVM_PORTAL_CALL_ACTION], NAMES("type"), 0);
	evm_slots(feed, place[EVM_PORTAL_REWARD_ACTION], NAMES("type"), 0);
	evm_slots(feed, place[EVM_PORTAL_STATE_DIFF],
			  NAMES("blockNumber", "blockHash", "transactionHash",
					"transactionIndex", "address", "key", "kind", "prev", "next"), 0);
}

static void
evm_make_places(HbFeed *feed)
{
	HbFeedPlace **place = feed->places->place;

	for (int i = 0; i < EVM_NPLACES; i++)
	{
		const EvmPlaceDef *def = &evm_places[i];
		HbFeedTable *ft = def->table == HB_FEED_NTABLES ? NULL :
			&feed->tables[def->table];

		place[i] = def->sources[0] == NULL ?
			hb_feed_place(feed, def->name, ft) :
			hb_feed_portal_place(feed, def->name, ft, def->sources, def->flat);
	}

	evm_slots(feed, place[EVM_DOCUMENT],
			  NAMES("block", "receipts", "traces", "traceFormat", "stateDiffs",
					"header", "transactions", "logs"), 0);
	evm_ignore(feed, place[EVM_DOCUMENT], NAMES("chain", "source"));
	evm_slots(feed, place[EVM_BLOCK], NAMES("transactions"), 0);
	evm_slots(feed, place[EVM_TRANSACTION],
			  NAMES("blockNumber", "blockHash", "hash", "transactionIndex"), 0);
	evm_ignore(feed, place[EVM_TRANSACTION], NAMES("blockTimestamp"));
	evm_slots(feed, place[EVM_RECEIPT],
			  NAMES("blockNumber", "blockHash", "transactionHash",
					"transactionIndex", "logs"), 0);
	evm_ignore(feed, place[EVM_RECEIPT],
			   NAMES("from", "to", "type", "blockTimestamp"));
	evm_slots(feed, place[EVM_LOG],
			  NAMES("blockNumber", "blockHash", "transactionHash",
					"transactionIndex", "logIndex", "topics", "removed"), 0);
	evm_ignore(feed, place[EVM_LOG], NAMES("blockTimestamp"));
	evm_slots(feed, place[EVM_TRACE],
			  NAMES("blockNumber", "blockHash", "transactionHash",
					"transactionPosition", "type", "action", "result",
					"subtraces", "traceAddress"), 0);
	evm_slots(feed, place[EVM_CREATE_FRAME], NAMES("type", "calls"), 0);
	evm_slots(feed, place[EVM_CALL_FRAME], NAMES("type", "calls"), 0);
	evm_slots(feed, place[EVM_SUICIDE_FRAME], NAMES("type", "calls"), 0);
	evm_ignore(feed, place[EVM_SUICIDE_FRAME], NAMES("gas", "gasUsed", "input"));
	evm_slots(feed, place[EVM_TRANSACTION_TRACE],
			  NAMES("txHash", "result", "error"), 0);
	evm_slots(feed, place[EVM_TRANSACTION_DIFF],
			  NAMES("transactionHash", "stateDiff"), 0);
	evm_slots(feed, place[EVM_ACCOUNT_DIFF],
			  NAMES("balance", "code", "nonce", "storage"), 0);
	evm_portal_slots(feed);
	hb_feed_places_load(feed, place, EVM_NPLACES);
	/* derived here, and so not in kind_column */
	hb_feed_place_column(feed, place[EVM_PORTAL_TRANSACTION], "sighash",
						 feed->places->tx_sighash);
	hb_feed_place_column(feed, place[EVM_PORTAL_CALL_ACTION], "sighash",
						 feed->places->trace_call_sighash);
}

/* The column's index, -1 if the dataset does not have it. */
static int
evm_column(HbFeed *feed, HbFeedTableNo table, const char *name)
{
	return hb_table_column(feed->tables[table].table, name);
}

static void
evm_find_columns(HbFeed *feed)
{
	HbEvmPlaces *evm = feed->places;

	evm->block_number = evm_column(feed, HB_FEED_BLOCKS, "number");
	evm->block_hash = evm_column(feed, HB_FEED_BLOCKS, "hash");
	evm->block_parent = evm_column(feed, HB_FEED_BLOCKS, "parent_hash");
	evm->block_timestamp = evm_column(feed, HB_FEED_BLOCKS, "timestamp");
	evm->block_bloom = evm_column(feed, HB_FEED_BLOCKS, "logs_bloom");
	evm->tx_block = evm_column(feed, HB_FEED_TRANSACTIONS, "block_number");
	evm->tx_index = evm_column(feed, HB_FEED_TRANSACTIONS, "transaction_index");
	evm->tx_hash = evm_column(feed, HB_FEED_TRANSACTIONS, "hash");
	evm->tx_input = evm_column(feed, HB_FEED_TRANSACTIONS, "input");
	evm->tx_sighash = evm_column(feed, HB_FEED_TRANSACTIONS, "sighash");
	evm->tx_bloom = evm_column(feed, HB_FEED_TRANSACTIONS, "logs_bloom");
	evm->log_block = evm_column(feed, HB_FEED_LOGS, "block_number");
	evm->log_tx = evm_column(feed, HB_FEED_LOGS, "transaction_index");
	evm->log_index = evm_column(feed, HB_FEED_LOGS, "log_index");
	evm->log_tx_hash = evm_column(feed, HB_FEED_LOGS, "transaction_hash");
	evm->log_address = evm_column(feed, HB_FEED_LOGS, "address");
	evm->log_topic[0] = evm_column(feed, HB_FEED_LOGS, "topic0");
	evm->log_topic[1] = evm_column(feed, HB_FEED_LOGS, "topic1");
	evm->log_topic[2] = evm_column(feed, HB_FEED_LOGS, "topic2");
	evm->log_topic[3] = evm_column(feed, HB_FEED_LOGS, "topic3");
	evm->trace_block = evm_column(feed, HB_FEED_TRACES, "block_number");
	evm->trace_tx = evm_column(feed, HB_FEED_TRACES, "transaction_index");
	evm->trace_tx_hash = evm_column(feed, HB_FEED_TRACES, "transaction_hash");
	evm->trace_address = evm_column(feed, HB_FEED_TRACES, "trace_address");
	evm->trace_type = evm_column(feed, HB_FEED_TRACES, "type");
	evm->trace_subtraces = evm_column(feed, HB_FEED_TRACES, "subtraces");
	evm->trace_call_type = evm_column(feed, HB_FEED_TRACES, "call_type");
	evm->trace_call_input = evm_column(feed, HB_FEED_TRACES, "call_input");
	evm->trace_call_sighash = evm_column(feed, HB_FEED_TRACES, "call_sighash");
	evm->trace_reward_type = evm_column(feed, HB_FEED_TRACES, "reward_type");
	evm->diff_block = evm_column(feed, HB_FEED_STATE_DIFFS, "block_number");
	evm->diff_tx = evm_column(feed, HB_FEED_STATE_DIFFS, "transaction_index");
	evm->diff_tx_hash = evm_column(feed, HB_FEED_STATE_DIFFS, "transaction_hash");
	evm->diff_address = evm_column(feed, HB_FEED_STATE_DIFFS, "address");
	evm->diff_key = evm_column(feed, HB_FEED_STATE_DIFFS, "key");
	evm->diff_kind = evm_column(feed, HB_FEED_STATE_DIFFS, "kind");
	evm->diff_prev = evm_column(feed, HB_FEED_STATE_DIFFS, "prev");
	evm->diff_next = evm_column(feed, HB_FEED_STATE_DIFFS, "next");
	if (evm->block_number < 0 || evm->block_hash < 0 || evm->tx_hash < 0 ||
		evm->log_address < 0)
		elog(ERROR, "dataset \"%s\" lacks key columns of kind evm",
			 NameStr(feed->ds->name));
}

/*
 * What a reader derives.  The block row is of this feed, and columns that
 * repeat others of their row are made of these, so most always do; blooms, a
 * sighash that came without its input, and the hash of a transaction that did
 * not come are a matter of the row, which has their values in any case.
 */
static void
evm_find_derived(HbFeed *feed)
{
	for (int t = 0; t < HB_FEED_NTABLES; t++)
	{
		HbFeedTable *ft = &feed->tables[t];

		ft->timestamp_col = evm_column(feed, t, t == HB_FEED_BLOCKS ?
									   "timestamp" : "block_timestamp");
		ft->sure_cols = palloc(ft->table->ncolumns * sizeof(int));
		ft->cond_cols = palloc(ft->table->ncolumns * sizeof(int));
		for (int c = 0; c < ft->table->ncolumns; c++)
		{
			HbDerive	derive = ft->table->columns[c].derive;

			if (derive == HB_DERIVE_NONE)
				continue;
			if (derive == HB_DERIVE_LOOKUP_ITEM ||
				derive == HB_DERIVE_LOOKUP_BLOCK || derive == HB_DERIVE_PREFIX4 ||
				derive == HB_DERIVE_BLOOM_BLOCK || derive == HB_DERIVE_BLOOM_ITEM)
				ft->cond_cols[ft->ncond++] = c;
			else
				ft->sure_cols[ft->nsure++] = c;
		}
	}
}

void
hb_evm_begin(HbFeed *feed)
{
	feed->places = palloc0(sizeof(HbEvmPlaces));
	feed->places->blooms = palloc0(EVM_BLOOM_ENTRIES * sizeof(HbEvmBloomEntry));
	evm_find_columns(feed);
	evm_make_places(feed);
	evm_find_derived(feed);
}

void
hb_evm_end(HbFeed *feed)
{
	hb_fact_store(feed, feed->places->place, EVM_NPLACES);
}
