/*
 * hb_evm_portal.c
 *		A block document in the shape that SQD's portal answers with.
 *
 *	 {"header": {"number", "hash", ...},
 *	  "transactions": [{"transactionIndex", "hash", ...}, ...],
 *	  "logs": [{"transactionIndex", "logIndex", "address", ...}, ...],
 *	  "traces": [{"transactionIndex", "traceAddress", "type",
 *				  "action": {...}, "result": {...}}, ...],
 *	  "stateDiffs": [{"transactionIndex", "address", "key", "kind",
 *					  "prev", "next"}, ...]}
 *
 * Items stand beside one another and name their transaction by its index; a
 * transaction has what its receipt has too.  A portal answers with what it was
 * asked for: an array that is absent was not delivered (unless the call says
 * that documents are complete), a transaction that an item names may be
 * absent, and so may members of an item.  Columns of these are NULL and noted,
 * by block, as incomplete; a member that is null is a value.
 */
#include "postgres.h"

#include "chain/hb_evm.h"
#include "miscadmin.h"
#include "store/hb_keccak.h"

/*
 * Notes the columns of the row at hand that a place may fill and did not.
 * Those that a reader makes from others of the row do not count.
 */
void
hb_evm_portal_missing(HbFeed *feed, HbEvmPlaceNo place)
{
	HbFeedPlace *p = feed->places->place[place];
	HbFeedTable *ft = p->table;

	for (int i = 0; i < p->ncolumns; i++)
	{
		int			col = p->columns[i];

		if (!ft->present[col] &&
			ft->table->columns[col].derive != HB_DERIVE_PREFIX4)
			hb_feed_incomplete(feed, ft, col);
	}
}

static bool
is_empty(HbFeed *feed, uint32 array)
{
	return hb_feed_is_null(feed, array) ||
		feed->json.nodes[array].next == array + 1;
}

static void
portal_log(HbFeed *feed, uint32 node, uint8 *block_bloom, HbEvmLogs *logs)
{
	HbEvmPlaces *evm = feed->places;
	HbFeedTable *ft = &feed->tables[HB_FEED_LOGS];
	HbFeedFound found;
	uint8		bloom[HB_BLOOM_LEN] = {0};
	const uint8 *hash = NULL;
	HbEvmTx    *tx;
	int32		index;
	bool		has_topics;

	hb_feed_row_clear(ft);
	hb_feed_read(feed, evm->place[EVM_PORTAL_LOG], node, &found);
	hb_evm_check_block(feed, &found);
	if (hb_feed_is_null(feed, found.node[ITEM_TX_INDEX]))
		hb_feed_missing(feed, node, "transactionIndex");
	index = (int32) hb_feed_int(feed, found.node[ITEM_TX_INDEX], PG_INT32_MAX);
	tx = hb_evm_tx_at(feed, index);
	if (!hb_feed_is_null(feed, found.node[ITEM_TX_HASH]))
		hash = hb_feed_data(feed, found.node[ITEM_TX_HASH], 32).data;
	if (tx != NULL)
	{
		if (hash != NULL && memcmp(hash, tx->hash, 32) != 0)
			hb_feed_bad(feed, found.node[ITEM_TX_HASH],
						"is not the hash of transaction %d of the block.", index);
		hash = tx->hash;
	}
	has_topics = hb_evm_log_row(feed, node, &found, index, hash, tx != NULL,
								bloom, logs);

	hb_evm_portal_missing(feed, EVM_PORTAL_LOG);
	if (!has_topics)
	{
		for (int i = 0; i < 4; i++)
		{
			if (evm->log_topic[i] >= 0)
				hb_feed_incomplete(feed, ft, evm->log_topic[i]);
		}
	}
	if (hash == NULL && evm->log_tx_hash >= 0)
		hb_feed_incomplete(feed, ft, evm->log_tx_hash);

	for (int b = 0; b < HB_BLOOM_LEN; b++)
		block_bloom[b] |= bloom[b];
	if (tx == NULL)
		return;
	if (tx->bloom == NULL)
	{
		tx->bloom = hb_feed_alloc(feed, HB_BLOOM_LEN);
		memset(tx->bloom, 0, HB_BLOOM_LEN);
	}
	for (int b = 0; b < HB_BLOOM_LEN; b++)
		tx->bloom[b] |= bloom[b];
}

static void
portal_transactions(HbFeed *feed, bool has_logs)
{
	static const uint8 no_logs[HB_BLOOM_LEN];
	HbEvmPlaces *evm = feed->places;
	HbFeedTable *ft = &feed->tables[HB_FEED_TRANSACTIONS];

	for (int i = 0; i < evm->ntxs; i++)
	{
		HbEvmTx    *tx = &evm->txs[i];
		HbFeedFound found;
		const uint8 *bloom = NULL;
		bool		derives;

		CHECK_FOR_INTERRUPTS();
		hb_feed_row_clear(ft);
		hb_feed_read(feed, evm->place[EVM_PORTAL_TRANSACTION], tx->node, &found);
		hb_evm_check_block(feed, &found);
		hb_feed_set_int(ft, evm->tx_block, feed->number);
		hb_feed_set_int(ft, evm->tx_index, tx->index);
		hb_evm_portal_missing(feed, EVM_PORTAL_TRANSACTION);
		if (evm->tx_sighash >= 0 && !ft->present[evm->tx_sighash] &&
			evm->tx_input >= 0 && !ft->present[evm->tx_input])
			hb_feed_incomplete(feed, ft, evm->tx_sighash);
		if (has_logs)
			bloom = tx->bloom != NULL ? tx->bloom : no_logs;
		derives = hb_evm_set_prefix(ft, evm->tx_sighash, evm->tx_input);
		derives &= hb_evm_bloom_derives(ft, evm->tx_bloom, bloom);
		hb_feed_row(feed, ft, derives);
	}
}

/* The table was delivered, perhaps without rows. */
static void
portal_delivered(HbFeed *feed, HbFeedTableNo table, uint32 node)
{
	HbFeedTable *ft = &feed->tables[table];

	if (hb_evm_delivered(feed, table, node))
		hb_feed_delivered(feed, ft);
	if (is_empty(feed, node))
		hb_feed_no_rows(feed, ft);
}

void
hb_evm_portal_items(HbFeed *feed, const HbFeedFound *doc)
{
	HbEvmPlaces *evm = feed->places;
	HbFeedTable *blocks = &feed->tables[HB_FEED_BLOCKS];
	const HbJsonNode *nodes = feed->json.nodes;
	uint32		array = doc->node[DOC_LOGS];
	bool		has_logs = hb_evm_delivered(feed, HB_FEED_LOGS, array);
	HbEvmLogs	logs = {0};
	uint8		bloom[HB_BLOOM_LEN] = {0};

	logs.ascending = true;
	hb_evm_portal_missing(feed, EVM_PORTAL_HEADER);
	hb_evm_list_txs(feed, doc->node[DOC_TRANSACTIONS], true);
	if (!hb_feed_is_null(feed, array))
	{
		hb_feed_expect(feed, array, HB_JSON_ARRAY);
		for (uint32 i = array + 1; i < nodes[array].next; i = nodes[i].next)
		{
			CHECK_FOR_INTERRUPTS();
			portal_log(feed, i, bloom, &logs);
		}
		hb_evm_check_logs(feed, &logs);
	}
	portal_transactions(feed, has_logs);
	hb_feed_row(feed, blocks,
				hb_evm_bloom_derives(blocks, evm->block_bloom,
									 has_logs ? bloom : NULL));
	if (!hb_feed_is_null(feed, doc->node[DOC_TRACES]))
		hb_evm_portal_traces(feed, doc->node[DOC_TRACES]);
	if (!hb_feed_is_null(feed, doc->node[DOC_STATE_DIFFS]))
		hb_evm_portal_state_diffs(feed, doc->node[DOC_STATE_DIFFS]);

	portal_delivered(feed, HB_FEED_TRANSACTIONS, doc->node[DOC_TRANSACTIONS]);
	portal_delivered(feed, HB_FEED_LOGS, array);
	portal_delivered(feed, HB_FEED_TRACES, doc->node[DOC_TRACES]);
	portal_delivered(feed, HB_FEED_STATE_DIFFS, doc->node[DOC_STATE_DIFFS]);
}
