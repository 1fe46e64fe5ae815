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
 * A document with "header" is one of a portal (hb_evm_portal.c).
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

static int
evm_tx_index_cmp(const void *a, const void *b)
{
	int32		x = (*(HbEvmTx *const *) a)->index;
	int32		y = (*(HbEvmTx *const *) b)->index;

	return x < y ? -1 : x > y;
}

/* The block's transaction of this index; NULL if it was not delivered. */
HbEvmTx *
hb_evm_tx_at(HbFeed *feed, int32 index)
{
	HbEvmPlaces *evm = feed->places;
	HbEvmTx		key;
	HbEvmTx    *key_ptr = &key;
	HbEvmTx   **hit;

	if (index >= 0 && index < evm->ntxs && evm->txs[index].index == index)
		return &evm->txs[index];
	if (evm->ntxs == 0)
		return NULL;
	if (evm->by_index == NULL)
	{
		evm->by_index = MemoryContextAllocHuge(feed->doc_cxt,
											   evm->ntxs * sizeof(HbEvmTx *));
		for (int i = 0; i < evm->ntxs; i++)
			evm->by_index[i] = &evm->txs[i];
		qsort(evm->by_index, evm->ntxs, sizeof(HbEvmTx *), evm_tx_index_cmp);
	}
	key.index = index;
	hit = bsearch(&key_ptr, evm->by_index, evm->ntxs, sizeof(HbEvmTx *),
				  evm_tx_index_cmp);
	return hit == NULL ? NULL : *hit;
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
 * A column that repeats the first four bytes of another one: its value where
 * none was delivered.  False when one was that is not the derived one.
 */
bool
hb_evm_set_prefix(HbFeedTable *ft, int col, int source)
{
	bool		has;

	if (col < 0)
		return true;
	has = source >= 0 && !ft->row[source].isnull && ft->row[source].bytes.len >= 4;
	if (!ft->row[col].isnull)
		return has && ft->row[col].bytes.len == 4 &&
			memcmp(ft->row[col].bytes.data, ft->row[source].bytes.data, 4) == 0;
	if (has)
		hb_feed_set_bytes(ft, col, ft->row[source].bytes.data, 4);
	return true;
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
bool
hb_evm_bloom_derives(HbFeedTable *ft, int col, const uint8 *logs)
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

static int
evm_log_cmp(const void *a, const void *b)
{
	const HbEvmLogRef *x = a;
	const HbEvmLogRef *y = b;

	if (x->log_index != y->log_index)
		return x->log_index < y->log_index ? -1 : 1;
	return x->node < y->node ? -1 : 1;
}

static void
evm_log_note(HbEvmLogs *logs, int32 log_index, int32 tx_index, uint32 node)
{
	HbEvmLogRef  *ref;

	if (logs->n == logs->max)
	{
		logs->max = logs->max == 0 ? 256 : logs->max * 2;
		logs->refs = logs->refs == NULL ?
			palloc(logs->max * sizeof(HbEvmLogRef)) :
			repalloc_huge(logs->refs, logs->max * sizeof(HbEvmLogRef));
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
void
hb_evm_check_logs(HbFeed *feed, HbEvmLogs *logs)
{
	if (logs->ascending)
		return;
	qsort(logs->refs, logs->n, sizeof(HbEvmLogRef), evm_log_cmp);
	for (int i = 1; i < logs->n; i++)
	{
		HbEvmLogRef  *ref = &logs->refs[i];

		if (ref[-1].log_index == ref->log_index)
			hb_feed_bad(feed, ref->node, "is the index of another log of the block too.");
		if (ref[-1].tx_index > ref->tx_index)
			hb_feed_bad(feed, ref->node, "does not ascend with the index of the transactions.");
	}
}

/* A topic of the log at hand, into its column and the bloom. */
static void
evm_topic(HbFeed *feed, uint32 node, int number, uint8 *bloom)
{
	HbSlice		topic = hb_feed_data(feed, node, 32);

	evm_bloom_add(feed, bloom, topic);
	hb_feed_set_bytes(&feed->tables[HB_FEED_LOGS],
					  feed->places->log_topic[number], topic.data, topic.len);
}

/* Topics as an array, or one by one; false when there is neither. */
static bool
evm_topics(HbFeed *feed, const HbFeedFound *found, uint8 *bloom)
{
	const HbJsonNode *nodes = feed->json.nodes;
	uint32		topics = found->node[LOG_TOPICS];
	bool		given = false;
	int			n = 0;

	if (!hb_feed_is_null(feed, topics))
	{
		hb_feed_expect(feed, topics, HB_JSON_ARRAY);
		for (uint32 i = topics + 1; i < nodes[topics].next; i = nodes[i].next)
		{
			if (n == 4)
				hb_feed_bad(feed, i, "is the fifth topic of a log.");
			evm_topic(feed, i, n++, bloom);
		}
		given = true;
	}
	for (int i = 0; i < 4; i++)
	{
		uint32		node = found->node[LOG_TOPIC0 + i];

		if (node == HB_JSON_NONE)
			continue;
		if (given && n >= 0)
			hb_feed_bad(feed, node, "is given beside \"topics\".");
		n = -1;
		given = true;
		if (!hb_feed_is_null(feed, node))
			evm_topic(feed, node, i, bloom);
	}
	return given;
}

/*
 * The row of a log whose members have been read.  tx_hash is NULL when it is
 * not known; derives: a reader finds it under the transaction's index.
 * Returns whether the topics were given.
 */
bool
hb_evm_log_row(HbFeed *feed, uint32 node, const HbFeedFound *found,
			   int32 tx_index, const uint8 *tx_hash, bool derives,
			   uint8 *bloom, HbEvmLogs *logs)
{
	HbEvmPlaces *evm = feed->places;
	HbFeedTable *ft = &feed->tables[HB_FEED_LOGS];
	const HbJsonNode *nodes = feed->json.nodes;
	uint32		removed = found->node[LOG_REMOVED];
	int32		log_index;
	bool		has_topics;

	if (!hb_feed_is_null(feed, removed) && nodes[removed].type != HB_JSON_FALSE)
		hb_feed_bad(feed, removed,
					"marks a log that a fork removed; it belongs to no block.");
	if (ft->row[evm->log_address].isnull)
		hb_feed_missing(feed, node, "address");
	if (hb_feed_is_null(feed, found->node[LOG_INDEX]))
		hb_feed_missing(feed, node, "logIndex");
	log_index = (int32) hb_feed_int(feed, found->node[LOG_INDEX], PG_INT32_MAX);
	evm_log_note(logs, log_index, tx_index, found->node[LOG_INDEX]);

	evm_bloom_add(feed, bloom, ft->row[evm->log_address].bytes);
	has_topics = evm_topics(feed, found, bloom);

	hb_feed_set_int(ft, evm->log_block, feed->number);
	hb_feed_set_int(ft, evm->log_tx, tx_index);
	hb_feed_set_int(ft, evm->log_index, log_index);
	if (tx_hash != NULL)
		hb_feed_set_bytes(ft, evm->log_tx_hash, tx_hash, 32);
	hb_feed_row(feed, ft, derives);
	return has_topics;
}

/* A log of a receipt. */
static void
evm_log(HbFeed *feed, uint32 node, HbEvmTx *tx, uint8 *bloom, HbEvmLogs *logs)
{
	HbFeedFound found;

	hb_feed_row_clear(&feed->tables[HB_FEED_LOGS]);
	hb_feed_read(feed, feed->places->place[EVM_LOG], node, &found);
	hb_evm_check_block(feed, &found);
	if (!hb_feed_is_null(feed, found.node[ITEM_TX_HASH]) &&
		memcmp(hb_feed_data(feed, found.node[ITEM_TX_HASH], 32).data,
			   tx->hash, 32) != 0)
		hb_feed_bad(feed, found.node[ITEM_TX_HASH],
					"is not the transaction of the receipt.");
	if (!hb_feed_is_null(feed, found.node[ITEM_TX_INDEX]) &&
		hb_feed_int(feed, found.node[ITEM_TX_INDEX], PG_INT32_MAX) != tx->index)
		hb_feed_bad(feed, found.node[ITEM_TX_INDEX],
					"is not the index of the transaction, which is %d.", tx->index);
	if (!hb_evm_log_row(feed, node, &found, tx->index, tx->hash, true, bloom, logs))
		hb_feed_missing(feed, node, "topics");
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
void
hb_evm_list_txs(HbFeed *feed, uint32 array, bool portal)
{
	HbEvmPlaces *evm = feed->places;
	const HbJsonNode *nodes = feed->json.nodes;
	int			n;
	bool		ascending = true;

	evm->has_txs = !hb_feed_is_null(feed, array);
	evm->ntxs = 0;
	evm->txs = NULL;
	evm->by_hash = NULL;
	evm->by_index = NULL;
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
		tx->bloom = NULL;
		/* a portal may give some of them only */
		if (member == HB_JSON_NONE && portal)
			hb_feed_missing(feed, i, "transactionIndex");
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
evm_receipt(HbFeed *feed, EvmReceipt *receipt, uint8 *bloom, HbEvmLogs *logs)
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
	HbEvmLogs		logs = {0};

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
		(void) hb_evm_set_prefix(ft, evm->tx_sighash, evm->tx_input);
		hb_feed_row(feed, ft,
					hb_evm_bloom_derives(ft, evm->tx_bloom,
										 receipts == NULL ? NULL : bloom));
	}
	hb_evm_check_logs(feed, &logs);
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
bool
hb_evm_delivered(HbFeed *feed, HbFeedTableNo table, uint32 node)
{
	return !hb_feed_is_null(feed, node) ||
		(node == HB_JSON_NONE && feed->tables[table].declared);
}

/*
 * Reads the block's own members into its row and puts it on the chain: false
 * when it was there already.  found has BLOCK_TRANSACTIONS.
 */
static bool
evm_block(HbFeed *feed, HbEvmPlaceNo place, uint32 block, HbFeedFound *found)
{
	HbEvmPlaces *evm = feed->places;
	HbFeedTable *blocks = &feed->tables[HB_FEED_BLOCKS];
	bool		has_parent;

	evm_number(feed, block);
	hb_feed_row_clear(blocks);
	hb_feed_read(feed, evm->place[place], block, found);
	has_parent = evm->block_parent >= 0 && !blocks->row[evm->block_parent].isnull;
	if (blocks->row[evm->block_hash].isnull)
		hb_feed_missing(feed, block, "hash");
	if (feed->ds->linkage != 'n' && !has_parent)
		hb_feed_missing(feed, block, "parentHash");
	if (feed->ds->linkage == 's' && evm->block_timestamp >= 0 &&
		blocks->row[evm->block_timestamp].isnull)
		hb_feed_missing(feed, block, "timestamp");

	evm->hash = blocks->row[evm->block_hash].bytes;
	return hb_feed_link(feed, evm->hash,
						has_parent ? &blocks->row[evm->block_parent].bytes : NULL);
}

/* Members that belong to the other shape of document. */
static void
evm_refuse(HbFeed *feed, const HbFeedFound *doc, const int *slots, int n,
		   const char *beside)
{
	for (int i = 0; i < n; i++)
	{
		if (doc->node[slots[i]] != HB_JSON_NONE)
			hb_feed_bad(feed, doc->node[slots[i]],
						"is of the other shape of document than \"%s\".", beside);
	}
}

/* What a document in JSON-RPC shape has beside its block. */
static void
evm_items(HbFeed *feed, const HbFeedFound *doc, uint32 txs)
{
	HbEvmPlaces *evm = feed->places;
	HbFeedTable *blocks = &feed->tables[HB_FEED_BLOCKS];
	EvmReceipt *receipts;
	bool		has_logs;
	uint8		bloom[HB_BLOOM_LEN] = {0};

	hb_evm_list_txs(feed, txs, false);
	receipts = evm_match_receipts(feed, doc->node[DOC_RECEIPTS]);
	has_logs = hb_evm_delivered(feed, HB_FEED_LOGS, doc->node[DOC_RECEIPTS]);
	evm_transactions(feed, receipts, bloom);
	hb_feed_row(feed, blocks,
				hb_evm_bloom_derives(blocks, evm->block_bloom,
									 has_logs ? bloom : NULL));

	if (hb_evm_delivered(feed, HB_FEED_TRANSACTIONS, txs))
		hb_feed_delivered(feed, &feed->tables[HB_FEED_TRANSACTIONS]);
	if (has_logs)
		hb_feed_delivered(feed, &feed->tables[HB_FEED_LOGS]);
	if (hb_evm_delivered(feed, HB_FEED_TRACES, doc->node[DOC_TRACES]))
	{
		if (!hb_feed_is_null(feed, doc->node[DOC_TRACES]))
			hb_evm_traces(feed, doc->node[DOC_TRACES], doc->node[DOC_TRACE_FORMAT]);
		hb_feed_delivered(feed, &feed->tables[HB_FEED_TRACES]);
	}
	if (hb_evm_delivered(feed, HB_FEED_STATE_DIFFS, doc->node[DOC_STATE_DIFFS]))
	{
		if (!hb_feed_is_null(feed, doc->node[DOC_STATE_DIFFS]))
			hb_evm_state_diffs(feed, doc->node[DOC_STATE_DIFFS]);
		hb_feed_delivered(feed, &feed->tables[HB_FEED_STATE_DIFFS]);
	}
}

void
hb_evm_document(HbFeed *feed)
{
	static const int rpc_only[] = {DOC_BLOCK, DOC_RECEIPTS, DOC_TRACE_FORMAT};
	static const int portal_only[] = {DOC_TRANSACTIONS, DOC_LOGS};
	HbFeedFound doc;
	HbFeedFound found;

	hb_feed_read(feed, feed->places->place[EVM_DOCUMENT], 0, &doc);
	if (!hb_feed_is_null(feed, doc.node[DOC_HEADER]))
	{
		evm_refuse(feed, &doc, rpc_only, lengthof(rpc_only), "header");
		if (evm_block(feed, EVM_PORTAL_HEADER, doc.node[DOC_HEADER], &found))
			hb_evm_portal_items(feed, &doc);
		return;
	}
	if (hb_feed_is_null(feed, doc.node[DOC_BLOCK]))
		hb_feed_missing(feed, 0, "block");
	evm_refuse(feed, &doc, portal_only, lengthof(portal_only), "block");
	if (evm_block(feed, EVM_BLOCK, doc.node[DOC_BLOCK], &found))
		evm_items(feed, &doc, found.node[BLOCK_TRANSACTIONS]);
}
