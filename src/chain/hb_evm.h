/*
 * hb_evm.h
 *		Shared by hb_evm_block.c, hb_evm_trace.c and hb_evm_portal.c: places
 *		and columns of kind evm, and what is known of the block at hand.
 */
#ifndef HB_EVM_H
#define HB_EVM_H

#include "chain/hb_feed.h"

typedef enum HbEvmPlaceNo
{
	EVM_DOCUMENT,
	EVM_BLOCK,
	EVM_TRANSACTION,
	EVM_RECEIPT,
	EVM_LOG,
	EVM_TRACE,					/* an entry of trace_block */
	EVM_CREATE_ACTION,			/* per trace type: action, result, frame */
	EVM_CREATE_RESULT,
	EVM_CREATE_FRAME,
	EVM_CALL_ACTION,
	EVM_CALL_RESULT,
	EVM_CALL_FRAME,
	EVM_SUICIDE_ACTION,
	EVM_SUICIDE_RESULT,
	EVM_SUICIDE_FRAME,
	EVM_REWARD_ACTION,
	EVM_REWARD_RESULT,
	EVM_TRANSACTION_TRACE,		/* an entry of callTracer */
	EVM_TRANSACTION_DIFF,		/* an entry of stateDiffs */
	EVM_ACCOUNT_DIFF,			/* an account of one */
	EVM_PORTAL_HEADER,			/* of a portal's document, and its items */
	EVM_PORTAL_TRANSACTION,
	EVM_PORTAL_LOG,
	EVM_PORTAL_STATE_DIFF,
	EVM_PORTAL_TRACE,
	EVM_PORTAL_CREATE_ACTION,	/* in the order of those above */
	EVM_PORTAL_CREATE_RESULT,
	EVM_PORTAL_CALL_ACTION,
	EVM_PORTAL_CALL_RESULT,
	EVM_PORTAL_SUICIDE_ACTION,
	EVM_PORTAL_SUICIDE_RESULT,
	EVM_PORTAL_REWARD_ACTION,
	EVM_PORTAL_REWARD_RESULT,
	EVM_NPLACES
} HbEvmPlaceNo;

/* Slots: members that the code looks at itself. */
enum
{
	DOC_BLOCK, DOC_RECEIPTS, DOC_TRACES, DOC_TRACE_FORMAT, DOC_STATE_DIFFS,
	DOC_HEADER, DOC_TRANSACTIONS, DOC_LOGS
};
enum
{
	BLOCK_TRANSACTIONS
};
enum
{
	ITEM_BLOCK_NUMBER, ITEM_BLOCK_HASH, ITEM_TX_HASH, ITEM_TX_INDEX,
	RECEIPT_LOGS,
	LOG_INDEX = RECEIPT_LOGS, LOG_TOPICS, LOG_REMOVED,
	LOG_TOPIC0, LOG_TOPIC1, LOG_TOPIC2, LOG_TOPIC3,
	TRACE_TYPE = RECEIPT_LOGS, TRACE_ACTION, TRACE_RESULT, TRACE_SUBTRACES,
	TRACE_ADDRESS
};
enum
{
	FRAME_TYPE, FRAME_CALLS
};
enum
{
	TX_TRACE_HASH, TX_TRACE_RESULT, TX_TRACE_ERROR
};
enum
{
	TX_DIFF_HASH, TX_DIFF_STATE
};
enum
{
	ACTION_TYPE
};
enum
{
	DIFF_ADDRESS = RECEIPT_LOGS, DIFF_KEY, DIFF_KIND, DIFF_PREV, DIFF_NEXT
};
enum
{
	ACCOUNT_BALANCE, ACCOUNT_CODE, ACCOUNT_NONCE, ACCOUNT_STORAGE
};

typedef struct HbEvmTx
{
	const uint8 *hash;
	int32		index;
	uint32		node;
	uint8	   *bloom;			/* of its logs; a portal's documents only */
} HbEvmTx;

typedef struct HbEvmBloomEntry
{
	uint8		len;			/* 0: unused */
	uint8		key[32];
	uint16		bits[3];
} HbEvmBloomEntry;

#define EVM_BLOOM_ENTRIES	4096

struct HbEvmPlaces
{
	HbFeedPlace *place[EVM_NPLACES];

	/* column indexes, -1 where the dataset does not have it */
	int			block_number;
	int			block_hash;
	int			block_parent;
	int			block_timestamp;
	int			block_bloom;
	int			tx_block;
	int			tx_index;
	int			tx_hash;
	int			tx_input;
	int			tx_sighash;
	int			tx_bloom;
	int			log_block;
	int			log_tx;
	int			log_index;
	int			log_tx_hash;
	int			log_address;
	int			log_topic[4];
	int			trace_block;
	int			trace_tx;
	int			trace_tx_hash;
	int			trace_address;
	int			trace_type;
	int			trace_subtraces;
	int			trace_call_type;
	int			trace_call_input;
	int			trace_call_sighash;
	int			trace_reward_type;
	int			diff_block;
	int			diff_tx;
	int			diff_tx_hash;
	int			diff_address;
	int			diff_key;
	int			diff_kind;
	int			diff_prev;
	int			diff_next;

	HbEvmBloomEntry *blooms;	/* by hash of the key */

	/* the block at hand */
	HbSlice		hash;
	bool		has_txs;		/* the transactions were delivered */
	int			ntxs;
	HbEvmTx    *txs;			/* in order of delivery */
	HbEvmTx   **by_hash;		/* sorted, made when it is first needed */
	HbEvmTx   **by_index;		/* likewise */
	int			last_tx;		/* found by the last lookup */
};

/* The logs of a block, as they come. */
typedef struct HbEvmLogRef
{
	int32		log_index;
	int32		tx_index;
	uint32		node;
} HbEvmLogRef;

typedef struct HbEvmLogs
{
	HbEvmLogRef *refs;
	int			n;
	int			max;
	bool		ascending;
} HbEvmLogs;

/* The columns of a row that the portal's document leaves out. */
extern void hb_evm_portal_missing(HbFeed *feed, HbEvmPlaceNo place);

/* The rows of a document's items, whose header is block. */
extern void hb_evm_portal_items(HbFeed *feed, const HbFeedFound *doc);

extern HbEvmTx *hb_evm_find_tx(HbFeed *feed, const uint8 *hash);
extern HbEvmTx *hb_evm_tx_at(HbFeed *feed, int32 index);
extern void hb_evm_list_txs(HbFeed *feed, uint32 array, bool portal);
extern bool hb_evm_delivered(HbFeed *feed, HbFeedTableNo table, uint32 node);
extern bool hb_evm_log_row(HbFeed *feed, uint32 node, const HbFeedFound *found,
						   int32 tx_index, const uint8 *tx_hash, bool derives,
						   uint8 *bloom, HbEvmLogs *logs);
extern void hb_evm_check_logs(HbFeed *feed, HbEvmLogs *logs);
extern bool hb_evm_bloom_derives(HbFeedTable *ft, int col, const uint8 *logs);
extern bool hb_evm_set_prefix(HbFeedTable *ft, int col, int source);
extern void hb_evm_check_block(HbFeed *feed, const HbFeedFound *found);
extern HbEvmTx *hb_evm_item_tx(HbFeed *feed, uint32 object, uint32 hash_node,
							   uint32 index_node);
extern void hb_evm_traces(HbFeed *feed, uint32 traces, uint32 format);
extern void hb_evm_portal_traces(HbFeed *feed, uint32 traces);
extern void hb_evm_state_diffs(HbFeed *feed, uint32 diffs);
extern void hb_evm_portal_state_diffs(HbFeed *feed, uint32 diffs);

#endif							/* HB_EVM_H */
