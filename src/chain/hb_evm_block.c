/*
 * hb_evm_block.c
 *		A block document in JSON-RPC shape: its block, transactions, receipts
 *		and logs to rows.
 *
 *	 {"block": eth_getBlockByNumber with full transactions,
 *	  "receipts": [eth_getTransactionReceipt, ...] or null,
 *	  "traces": [...], "traceFormat": "trace_block" or "callTracer",
 *	  "stateDiffs": [{"transactionHash", "stateDiff"}, ...]}
 *
 * A transaction's row takes members of the transaction and of its receipt, so
 * receipts are first matched by hash; where they come in the transactions'
 * order, as they do, without a lookup.
 *
 * logs_bloom is derived where the logs were delivered and give the delivered
 * bloom; a bloom that was not delivered, or whose logs were not, is stored as
 * it came, NULL too.
 */
#include "postgres.h"

#include "chain/hb_evm.h"
#include "miscadmin.h"
#include "nodes/bitmapset.h"
#include "store/hb_keccak.h"

/*
 * Places and columns
 */

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
evm_make_places(HbFeed *feed)
{
	static const char *const names[EVM_NPLACES] = {
		"document", "block", "transaction", "receipt", "log", "trace",
		"trace.create.action", "trace.create.result", "frame.create",
		"trace.call.action", "trace.call.result", "frame.call",
		"trace.suicide.action", "trace.suicide.result", "frame.suicide",
		"trace.reward.action", "trace.reward.result",
		"transaction_trace", "transaction_state_diff", "account_state_diff"
	};
	HbFeedPlace **place = feed->places->place;

	for (int i = 0; i < EVM_NPLACES; i++)
	{
		HbFeedTable *ft = NULL;

		if (i == EVM_BLOCK)
			ft = &feed->tables[HB_FEED_BLOCKS];
		else if (i == EVM_TRANSACTION || i == EVM_RECEIPT)
			ft = &feed->tables[HB_FEED_TRANSACTIONS];
		else if (i == EVM_LOG)
			ft = &feed->tables[HB_FEED_LOGS];
		else if (i >= EVM_TRACE && i <= EVM_REWARD_RESULT)
			ft = &feed->tables[HB_FEED_TRACES];
		place[i] = hb_feed_place(feed, names[i], ft);
	}

	evm_slots(feed, place[EVM_DOCUMENT],
			  NAMES("block", "receipts", "traces", "traceFormat", "stateDiffs"), 0);
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
	hb_feed_places_load(feed, place, EVM_NPLACES);
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
 * What a reader derives.  The block row is of this feed and transaction hashes
 * have been compared, so most always do; blooms, and the transaction hash of
 * traces and state diffs without transactions, are a matter of the row.
 */
static void
evm_find_derived(HbFeed *feed)
{
	HbEvmPlaces *evm = feed->places;

	for (int t = 0; t < HB_FEED_NTABLES; t++)
	{
		HbFeedTable *ft = &feed->tables[t];

		ft->sure_cols = palloc(ft->table->ncolumns * sizeof(int));
		ft->cond_cols = palloc(ft->table->ncolumns * sizeof(int));
		for (int c = 0; c < ft->table->ncolumns; c++)
		{
			bool		cond = (t == HB_FEED_BLOCKS && c == evm->block_bloom) ||
				(t == HB_FEED_TRANSACTIONS && c == evm->tx_bloom) ||
				(t == HB_FEED_TRACES && c == evm->trace_tx_hash) ||
				(t == HB_FEED_STATE_DIFFS && c == evm->diff_tx_hash);

			if (ft->table->columns[c].derive == HB_DERIVE_NONE)
				continue;
			if (cond)
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
	evm_make_places(feed);
	evm_find_columns(feed);
	evm_find_derived(feed);
}

void
hb_evm_end(HbFeed *feed)
{
	hb_fact_store(feed, feed->places->place, EVM_NPLACES);
}

/*
 * Items of the block at hand
 */

/* An item's own block number and hash, where given, are the block's. */
void
hb_evm_check_block(HbFeed *feed, const HbFeedFound *found)
{
	uint32		number = found->node[ITEM_BLOCK_NUMBER];
	uint32		hash = found->node[ITEM_BLOCK_HASH];

	if (!hb_feed_is_null(feed, number) &&
		hb_feed_int(feed, number, PG_INT64_MAX) != feed->number)
		hb_feed_bad(feed, number, "is not the number of the block.");
	if (!hb_feed_is_null(feed, hash) &&
		memcmp(hb_feed_data(feed, hash, 32).data, feed->places->hash.data, 32) != 0)
		hb_feed_bad(feed, hash, "is not the hash of the block.");
}

static int
evm_tx_cmp(const void *a, const void *b)
{
	return memcmp((*(HbEvmTx *const *) a)->hash, (*(HbEvmTx *const *) b)->hash, 32);
}

/* The block's transaction with this hash; NULL if there is none. */
HbEvmTx *
hb_evm_find_tx(HbFeed *feed, const uint8 *hash)
{
	HbEvmPlaces *evm = feed->places;
	HbEvmTx		key;
	HbEvmTx    *key_ptr = &key;
	HbEvmTx   **hit;

	/* mostly it is the one of the last time, or the next */
	for (int i = evm->last_tx; i < evm->ntxs && i <= evm->last_tx + 1; i++)
	{
		if (memcmp(evm->txs[i].hash, hash, 32) == 0)
		{
			evm->last_tx = i;
			return &evm->txs[i];
		}
	}
	if (evm->ntxs == 0)
		return NULL;
	if (evm->by_hash == NULL)
	{
		evm->by_hash = palloc(evm->ntxs * sizeof(HbEvmTx *));
		for (int i = 0; i < evm->ntxs; i++)
			evm->by_hash[i] = &evm->txs[i];
		qsort(evm->by_hash, evm->ntxs, sizeof(HbEvmTx *), evm_tx_cmp);
	}
	key.hash = hash;
	hit = bsearch(&key_ptr, evm->by_hash, evm->ntxs, sizeof(HbEvmTx *), evm_tx_cmp);
	if (hit == NULL)
		return NULL;
	evm->last_tx = *hit - evm->txs;
	return *hit;
}

/*
 * The transaction that an item (receipt, trace, state diff) belongs to, by its
 * hash, checked against its index where it has one too.  NULL when the
 * transactions were not delivered or the item names none by hash.
 */
HbEvmTx *
hb_evm_item_tx(HbFeed *feed, uint32 object, uint32 hash_node, uint32 index_node)
{
	HbEvmTx    *tx;

	if (!feed->places->has_txs || hb_feed_is_null(feed, hash_node))
		return NULL;
	tx = hb_evm_find_tx(feed, hb_feed_data(feed, hash_node, 32).data);
	if (tx == NULL)
		hb_feed_bad(feed, hash_node, "is no transaction of the block.");
	if (!hb_feed_is_null(feed, index_node) &&
		hb_feed_int(feed, index_node, PG_INT32_MAX) != tx->index)
		hb_feed_bad(feed, index_node, "is not the index of the transaction, which is %d.",
					tx->index);
	return tx;
}

/*
 * Blooms
 */

/* Addresses and topics repeat: most bits come out of the table. */
static void
evm_bloom_add(HbFeed *feed, uint8 *bloom, HbSlice value)
{
	HbEvmBloomEntry *e;
	uint64		tail[2];
	uint64		h;

	/* the last 16 of 20 or 32 bytes are what tells them apart */
	Assert(value.len >= sizeof(tail));
	memcpy(tail, value.data + value.len - sizeof(tail), sizeof(tail));
	h = (tail[0] ^ (tail[1] * UINT64CONST(0x9e3779b97f4a7c15))) * UINT64CONST(0xff51afd7ed558ccd);
	e = &feed->places->blooms[(h >> 32) % EVM_BLOOM_ENTRIES];
	if (e->len != value.len || memcmp(e->key, value.data, value.len) != 0)
	{
		Assert(value.len <= sizeof(e->key));
		e->len = (uint8) value.len;
		memcpy(e->key, value.data, value.len);
		hb_bloom_bits(value.data, value.len, e->bits);
	}
	hb_bloom_set(bloom, e->bits);
}

/* Is the row's bloom the one of its logs?  logs NULL: not known. */
static bool
evm_bloom_derives(HbFeedTable *ft, int col, const uint8 *logs)
{
	if (col < 0)
		return true;
	if (logs == NULL || ft->row[col].isnull)
		return false;
	return ft->row[col].bytes.len == HB_BLOOM_LEN &&
		memcmp(ft->row[col].bytes.data, logs, HB_BLOOM_LEN) == 0;
}

/*
 * Logs
 */

typedef struct EvmLogRef
{
	int32		log_index;
	int32		tx_index;
	uint32		node;
} EvmLogRef;

typedef struct EvmLogs
{
	EvmLogRef  *refs;
	int			n;
	int			max;
	bool		ascending;		/* as they came */
} EvmLogs;

static int
evm_log_cmp(const void *a, const void *b)
{
	const EvmLogRef *x = a;
	const EvmLogRef *y = b;

	if (x->log_index != y->log_index)
		return x->log_index < y->log_index ? -1 : 1;
	return x->node < y->node ? -1 : 1;
}

static void
evm_log_note(EvmLogs *logs, int32 log_index, int32 tx_index, uint32 node)
{
	EvmLogRef  *ref;

	if (logs->n == logs->max)
	{
		logs->max = logs->max == 0 ? 256 : logs->max * 2;
		logs->refs = logs->refs == NULL ?
			palloc(logs->max * sizeof(EvmLogRef)) :
			repalloc_huge(logs->refs, logs->max * sizeof(EvmLogRef));
	}
	ref = &logs->refs[logs->n++];
	ref->log_index = log_index;
	ref->tx_index = tx_index;
	ref->node = node;
	if (logs->n > 1 &&
		(ref[-1].log_index >= log_index || ref[-1].tx_index > tx_index))
		logs->ascending = false;
}

/* log_index is unique in the block and ascends with the transactions. */
static void
evm_check_logs(HbFeed *feed, EvmLogs *logs)
{
	if (logs->ascending)
		return;
	qsort(logs->refs, logs->n, sizeof(EvmLogRef), evm_log_cmp);
	for (int i = 1; i < logs->n; i++)
	{
		EvmLogRef  *ref = &logs->refs[i];

		if (ref[-1].log_index == ref->log_index)
			hb_feed_bad(feed, ref->node, "is the index of another log of the block too.");
		if (ref[-1].tx_index > ref->tx_index)
			hb_feed_bad(feed, ref->node, "does not ascend with the index of the transactions.");
	}
}

static void
evm_log(HbFeed *feed, uint32 node, HbEvmTx *tx, uint8 *bloom, EvmLogs *logs)
{
	HbEvmPlaces *evm = feed->places;
	HbFeedTable *ft = &feed->tables[HB_FEED_LOGS];
	const HbJsonNode *nodes = feed->json.nodes;
	HbFeedFound found;
	uint32		topics;
	int			ntopics = 0;
	int32		log_index;
	HbSlice		hash;

	hb_feed_row_clear(ft);
	hb_feed_read(feed, evm->place[EVM_LOG], node, &found);
	hb_evm_check_block(feed, &found);
	if (!hb_feed_is_null(feed, found.node[LOG_REMOVED]) &&
		nodes[found.node[LOG_REMOVED]].type != HB_JSON_FALSE)
		hb_feed_bad(feed, found.node[LOG_REMOVED],
					"marks a log that a fork removed; it belongs to no block.");
	if (!hb_feed_is_null(feed, found.node[ITEM_TX_HASH]))
	{
		hash = hb_feed_data(feed, found.node[ITEM_TX_HASH], 32);
		if (memcmp(hash.data, tx->hash, 32) != 0)
			hb_feed_bad(feed, found.node[ITEM_TX_HASH],
						"is not the transaction of the receipt.");
	}
	if (!hb_feed_is_null(feed, found.node[ITEM_TX_INDEX]) &&
		hb_feed_int(feed, found.node[ITEM_TX_INDEX], PG_INT32_MAX) != tx->index)
		hb_feed_bad(feed, found.node[ITEM_TX_INDEX],
					"is not the index of the transaction, which is %d.", tx->index);

	if (ft->row[evm->log_address].isnull)
		hb_feed_missing(feed, node, "address");
	if (hb_feed_is_null(feed, found.node[LOG_INDEX]))
		hb_feed_missing(feed, node, "logIndex");
	log_index = (int32) hb_feed_int(feed, found.node[LOG_INDEX], PG_INT32_MAX);
	evm_log_note(logs, log_index, tx->index, found.node[LOG_INDEX]);

	topics = found.node[LOG_TOPICS];
	if (hb_feed_is_null(feed, topics))
		hb_feed_missing(feed, node, "topics");
	hb_feed_expect(feed, topics, HB_JSON_ARRAY);
	evm_bloom_add(feed, bloom, ft->row[evm->log_address].bytes);
	for (uint32 i = topics + 1; i < nodes[topics].next; i = nodes[i].next)
	{
		HbSlice		topic;

		if (ntopics == 4)
			hb_feed_bad(feed, i, "is the fifth topic of a log.");
		topic = hb_feed_data(feed, i, 32);
		evm_bloom_add(feed, bloom, topic);
		hb_feed_set_bytes(ft, evm->log_topic[ntopics++], topic.data, topic.len);
	}

	hb_feed_set_int(ft, evm->log_block, feed->number);
	hb_feed_set_int(ft, evm->log_tx, tx->index);
	hb_feed_set_int(ft, evm->log_index, log_index);
	hb_feed_set_bytes(ft, evm->log_tx_hash, tx->hash, 32);
	hb_feed_row(feed, ft, true);
}

/*
 * Receipts and transactions
 */

typedef struct EvmReceipt
{
	uint32		node;
	bool		used;
	HbEvmTx    *tx;
} EvmReceipt;

/* An object's member, HB_JSON_NONE if it is not there or null. */
static uint32
evm_member(HbFeed *feed, uint32 object, const char *name)
{
	const HbJsonNode *nodes = feed->json.nodes;
	uint32		len = strlen(name);

	hb_feed_expect(feed, object, HB_JSON_OBJECT);
	for (uint32 i = object + 1; i < nodes[object].next; i = nodes[i + 1].next)
	{
		if (nodes[i].len == len &&
			memcmp(feed->json.text + nodes[i].off, name, len) == 0)
			return nodes[i + 1].type == HB_JSON_NULL ? HB_JSON_NONE : i + 1;
	}
	return HB_JSON_NONE;
}

static int
evm_count(HbFeed *feed, uint32 array)
{
	const HbJsonNode *nodes = feed->json.nodes;
	int			n = 0;

	for (uint32 i = array + 1; i < nodes[array].next; i = nodes[i].next)
		n++;
	return n;
}

/* Hash and index of every transaction, before rows are made. */
static void
evm_list_txs(HbFeed *feed, uint32 array)
{
	HbEvmPlaces *evm = feed->places;
	const HbJsonNode *nodes = feed->json.nodes;
	int			n;
	bool		ascending = true;

	evm->has_txs = !hb_feed_is_null(feed, array);
	evm->ntxs = 0;
	evm->txs = NULL;
	evm->by_hash = NULL;
	evm->last_tx = 0;
	if (!evm->has_txs)
		return;

	hb_feed_expect(feed, array, HB_JSON_ARRAY);
	n = evm_count(feed, array);
	evm->txs = MemoryContextAllocHuge(feed->doc_cxt, n * sizeof(HbEvmTx));
	for (uint32 i = array + 1; i < nodes[array].next; i = nodes[i].next)
	{
		HbEvmTx    *tx = &evm->txs[evm->ntxs];
		uint32		member;

		if (nodes[i].type == HB_JSON_STRING)
			hb_feed_bad(feed, i, "is the hash of a transaction; blocks are taken with full transactions only.");
		member = evm_member(feed, i, "hash");
		if (member == HB_JSON_NONE)
			hb_feed_missing(feed, i, "hash");
		tx->hash = hb_feed_data(feed, member, 32).data;
		tx->node = i;
		member = evm_member(feed, i, "transactionIndex");
		tx->index = member == HB_JSON_NONE ? evm->ntxs :
			(int32) hb_feed_int(feed, member, PG_INT32_MAX);
		if (evm->ntxs > 0 && tx[-1].index >= tx->index)
			ascending = false;
		evm->ntxs++;
	}
	if (!ascending)
	{
		Bitmapset  *seen = NULL;

		for (int i = 0; i < evm->ntxs; i++)
		{
			if (evm->txs[i].index >= 10000000)
				hb_feed_bad(feed, evm->txs[i].node, "has too high a transactionIndex.");
			if (bms_is_member(evm->txs[i].index, seen))
				hb_feed_bad(feed, evm->txs[i].node, "has the transactionIndex of another transaction.");
			seen = bms_add_member(seen, evm->txs[i].index);
		}
		bms_free(seen);
	}
}

/*
 * The receipts in the order of the transactions, one for each; NULL when they
 * were not delivered.
 */
static EvmReceipt *
evm_match_receipts(HbFeed *feed, uint32 array)
{
	HbEvmPlaces *evm = feed->places;
	const HbJsonNode *nodes = feed->json.nodes;
	EvmReceipt *receipts;
	int			n;

	if (hb_feed_is_null(feed, array))
		return NULL;
	hb_feed_expect(feed, array, HB_JSON_ARRAY);
	n = evm_count(feed, array);
	if (n != evm->ntxs)
		ereport(ERROR,
				(errcode(HB_ERRCODE_MALFORMED_BLOCK),
				 errmsg("malformed block " INT64_FORMAT ": \"%s\" has %d entries for %d transactions",
						feed->number, hb_feed_path(feed, array), n, evm->ntxs)));

	receipts = MemoryContextAllocHuge(feed->doc_cxt, (n + 1) * sizeof(EvmReceipt));
	memset(receipts, 0, (n + 1) * sizeof(EvmReceipt));
	for (uint32 i = array + 1; i < nodes[array].next; i = nodes[i].next)
	{
		uint32		hash = evm_member(feed, i, "transactionHash");
		HbEvmTx    *tx;
		EvmReceipt *r;

		if (hash == HB_JSON_NONE)
			hb_feed_missing(feed, i, "transactionHash");
		tx = hb_evm_item_tx(feed, i, hash, HB_JSON_NONE);
		r = &receipts[tx - evm->txs];
		if (r->used)
			hb_feed_bad(feed, hash, "is the transaction of another receipt too.");
		r->used = true;
		r->node = i;
		r->tx = tx;
	}
	evm->last_tx = 0;
	return receipts;
}

/* A receipt's members into the transaction's row, and its logs. */
static void
evm_receipt(HbFeed *feed, EvmReceipt *receipt, uint8 *bloom, EvmLogs *logs)
{
	HbEvmPlaces *evm = feed->places;
	const HbJsonNode *nodes = feed->json.nodes;
	HbEvmTx    *tx = receipt->tx;
	HbFeedFound found;
	uint32		array;

	hb_feed_read(feed, evm->place[EVM_RECEIPT], receipt->node, &found);
	hb_evm_check_block(feed, &found);
	if (!hb_feed_is_null(feed, found.node[ITEM_TX_INDEX]) &&
		hb_feed_int(feed, found.node[ITEM_TX_INDEX], PG_INT32_MAX) != tx->index)
		hb_feed_bad(feed, found.node[ITEM_TX_INDEX],
					"is not the index of the transaction, which is %d.", tx->index);
	array = found.node[RECEIPT_LOGS];
	if (hb_feed_is_null(feed, array))
		hb_feed_missing(feed, receipt->node, "logs");
	hb_feed_expect(feed, array, HB_JSON_ARRAY);
	for (uint32 i = array + 1; i < nodes[array].next; i = nodes[i].next)
		evm_log(feed, i, tx, bloom, logs);
}

/* Rows of transactions and logs; the block's bloom into block_bloom. */
static void
evm_transactions(HbFeed *feed, EvmReceipt *receipts, uint8 *block_bloom)
{
	HbEvmPlaces *evm = feed->places;
	HbFeedTable *ft = &feed->tables[HB_FEED_TRANSACTIONS];
	EvmLogs		logs = {0};

	logs.ascending = true;
	for (int i = 0; i < evm->ntxs; i++)
	{
		HbEvmTx    *tx = &evm->txs[i];
		uint8		bloom[HB_BLOOM_LEN] = {0};
		HbFeedFound found;

		CHECK_FOR_INTERRUPTS();
		hb_feed_row_clear(ft);
		hb_feed_read(feed, evm->place[EVM_TRANSACTION], tx->node, &found);
		hb_evm_check_block(feed, &found);
		if (receipts != NULL)
			evm_receipt(feed, &receipts[i], bloom, &logs);
		for (int b = 0; b < HB_BLOOM_LEN; b++)
			block_bloom[b] |= bloom[b];

		hb_feed_set_int(ft, evm->tx_block, feed->number);
		hb_feed_set_int(ft, evm->tx_index, tx->index);
		hb_feed_row(feed, ft, evm_bloom_derives(ft, evm->tx_bloom,
												receipts == NULL ? NULL : bloom));
	}
	evm_check_logs(feed, &logs);
}

/*
 * Documents
 */

/* The block's number, which every later error names. */
static void
evm_number(HbFeed *feed, uint32 block)
{
	uint32		number = evm_member(feed, block, "number");

	if (number == HB_JSON_NONE)
		hb_feed_missing(feed, block, "number");
	feed->number = hb_feed_int(feed, number, PG_INT64_MAX - 1);
	feed->has_number = true;
}

/* Was the table delivered?  absent: the member was not in the document. */
static bool
evm_delivered(HbFeed *feed, HbFeedTableNo table, uint32 node)
{
	return !hb_feed_is_null(feed, node) ||
		(node == HB_JSON_NONE && feed->tables[table].declared);
}

void
hb_evm_document(HbFeed *feed)
{
	HbEvmPlaces *evm = feed->places;
	HbFeedTable *blocks = &feed->tables[HB_FEED_BLOCKS];
	HbFeedFound doc;
	HbFeedFound found;
	uint32		block;
	uint32		txs;
	EvmReceipt *receipts;
	bool		has_logs;
	bool		has_parent;
	uint8		bloom[HB_BLOOM_LEN] = {0};

	hb_feed_read(feed, evm->place[EVM_DOCUMENT], 0, &doc);
	block = doc.node[DOC_BLOCK];
	if (hb_feed_is_null(feed, block))
		hb_feed_missing(feed, 0, "block");
	evm_number(feed, block);

	hb_feed_row_clear(blocks);
	hb_feed_read(feed, evm->place[EVM_BLOCK], block, &found);
	txs = found.node[BLOCK_TRANSACTIONS];
	has_parent = evm->block_parent >= 0 && !blocks->row[evm->block_parent].isnull;
	if (blocks->row[evm->block_hash].isnull)
		hb_feed_missing(feed, block, "hash");
	if (feed->ds->linkage != 'n' && !has_parent)
		hb_feed_missing(feed, block, "parentHash");
	if (feed->ds->linkage == 's' && evm->block_timestamp >= 0 &&
		blocks->row[evm->block_timestamp].isnull)
		hb_feed_missing(feed, block, "timestamp");

	evm->hash = blocks->row[evm->block_hash].bytes;
	if (!hb_feed_link(feed, evm->hash,
					  has_parent ? &blocks->row[evm->block_parent].bytes : NULL))
		return;

	evm_list_txs(feed, txs);
	receipts = evm_match_receipts(feed, doc.node[DOC_RECEIPTS]);
	has_logs = evm_delivered(feed, HB_FEED_LOGS, doc.node[DOC_RECEIPTS]);
	evm_transactions(feed, receipts, bloom);
	hb_feed_row(feed, blocks,
				evm_bloom_derives(blocks, evm->block_bloom, has_logs ? bloom : NULL));

	if (evm_delivered(feed, HB_FEED_TRANSACTIONS, txs))
		hb_feed_delivered(feed, &feed->tables[HB_FEED_TRANSACTIONS]);
	if (has_logs)
		hb_feed_delivered(feed, &feed->tables[HB_FEED_LOGS]);
	if (evm_delivered(feed, HB_FEED_TRACES, doc.node[DOC_TRACES]))
	{
		if (!hb_feed_is_null(feed, doc.node[DOC_TRACES]))
			hb_evm_traces(feed, doc.node[DOC_TRACES], doc.node[DOC_TRACE_FORMAT]);
		hb_feed_delivered(feed, &feed->tables[HB_FEED_TRACES]);
	}
	if (evm_delivered(feed, HB_FEED_STATE_DIFFS, doc.node[DOC_STATE_DIFFS]))
	{
		if (!hb_feed_is_null(feed, doc.node[DOC_STATE_DIFFS]))
			hb_evm_state_diffs(feed, doc.node[DOC_STATE_DIFFS]);
		hb_feed_delivered(feed, &feed->tables[HB_FEED_STATE_DIFFS]);
	}
}
