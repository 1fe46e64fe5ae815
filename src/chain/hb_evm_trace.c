/*
 * hb_evm_trace.c
 *		Traces and state diffs of a block document to rows.
 *
 * trace_block gives a flat list whose entries carry their address;
 * callTracer gives a tree of frames per transaction, from whose shape
 * trace_address and subtraces follow.  Values are stored as they came: the two
 * formats differ in the gas of root frames and in error texts, so a dataset
 * keeps to one (hb_feed_set_trace_format).  A portal gives a list like
 * trace_block's, of whatever its own source was, and state diffs as rows.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "chain/hb_evm.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"

typedef enum EvmTraceType
{
	TRACE_CREATE,
	TRACE_CALL,
	TRACE_SUICIDE,
	TRACE_REWARD
} EvmTraceType;

static const char *const trace_type_name[] = {
	"create", "call", "suicide", "reward"
};

static const HbEvmPlaceNo action_place[] = {
	EVM_CREATE_ACTION, EVM_CALL_ACTION, EVM_SUICIDE_ACTION, EVM_REWARD_ACTION
};
static const HbEvmPlaceNo result_place[] = {
	EVM_CREATE_RESULT, EVM_CALL_RESULT, EVM_SUICIDE_RESULT, EVM_REWARD_RESULT
};
static const HbEvmPlaceNo frame_place[] = {
	EVM_CREATE_FRAME, EVM_CALL_FRAME, EVM_SUICIDE_FRAME
};

static const HbEvmPlaceNo portal_action_place[] = {
	EVM_PORTAL_CREATE_ACTION, EVM_PORTAL_CALL_ACTION,
	EVM_PORTAL_SUICIDE_ACTION, EVM_PORTAL_REWARD_ACTION
};
static const HbEvmPlaceNo portal_result_place[] = {
	EVM_PORTAL_CREATE_RESULT, EVM_PORTAL_CALL_RESULT,
	EVM_PORTAL_SUICIDE_RESULT, EVM_PORTAL_REWARD_RESULT
};

/* A position in the tree of frames; grows with the depth. */
typedef struct EvmAddress
{
	int32	   *index;
	int			depth;
	int			max;
} EvmAddress;

static void
address_push(EvmAddress *address, int32 index)
{
	if (address->depth == address->max)
	{
		address->max = address->max == 0 ? 64 : address->max * 2;
		address->index = address->index == NULL ?
			palloc(address->max * sizeof(int32)) :
			repalloc(address->index, address->max * sizeof(int32));
	}
	address->index[address->depth++] = index;
}

static void
trace_set_address(HbFeedTable *ft, int col, const EvmAddress *address)
{
	Datum	   *elems;
	ArrayType  *array;

	if (col < 0)
		return;
	if (address->depth == 0)
		array = construct_empty_array(INT4OID);
	else
	{
		elems = palloc(address->depth * sizeof(Datum));
		for (int i = 0; i < address->depth; i++)
			elems[i] = Int32GetDatum(address->index[i]);
		array = construct_array(elems, address->depth, INT4OID, 4, true, TYPALIGN_INT);
		pfree(elems);
	}
	ft->row[col].isnull = false;
	hb_value_to_phys(&ft->table->columns[col].value, PointerGetDatum(array),
					 &ft->row[col].i, &ft->row[col].bytes);
}

static void
trace_set_text(HbFeedTable *ft, int col, const char *text)
{
	hb_feed_set_bytes(ft, col, text, strlen(text));
}

/* Call types are lower case in the table, whatever the format writes. */
static void
trace_lower_call_type(HbFeed *feed, HbFeedTable *ft, int col)
{
	HbSlice		value;
	uint8	   *lower;

	if (col < 0 || ft->row[col].isnull)
		return;
	value = ft->row[col].bytes;
	lower = hb_feed_alloc(feed, value.len);
	for (uint32 i = 0; i < value.len; i++)
		lower[i] = (uint8) pg_ascii_tolower(value.data[i]);
	ft->row[col].bytes.data = lower;
}

/*
 * Position and transaction of the row, which is then stored.  tx is the
 * block's transaction, NULL if not known; then index (-1 none) and hash are
 * what came.
 */
static void
trace_row(HbFeed *feed, EvmTraceType type, HbEvmTx *tx, int32 index,
		  const uint8 *hash, int64 subtraces, const EvmAddress *address)
{
	HbEvmPlaces *evm = feed->places;
	HbFeedTable *ft = &feed->tables[HB_FEED_TRACES];
	bool		derives;

	hb_feed_set_int(ft, evm->trace_block, feed->number);
	if (tx != NULL)
	{
		index = tx->index;
		hash = tx->hash;
	}
	if (index >= 0)
		hb_feed_set_int(ft, evm->trace_tx, index);
	if (hash != NULL)
		hb_feed_set_bytes(ft, evm->trace_tx_hash, hash, 32);
	if (subtraces >= 0)
		hb_feed_set_int(ft, evm->trace_subtraces, subtraces);
	trace_set_text(ft, evm->trace_type, trace_type_name[type]);
	trace_set_address(ft, evm->trace_address, address);
	trace_lower_call_type(feed, ft, evm->trace_call_type);
	derives = hb_evm_set_prefix(ft, evm->trace_call_sighash, evm->trace_call_input);
	derives &= tx != NULL || (hash == NULL && index < 0);
	hb_feed_row(feed, ft, derives);
}

/*
 * trace_block
 */

static EvmTraceType
trace_type(HbFeed *feed, uint32 entry, uint32 node)
{
	if (hb_feed_is_null(feed, node))
		hb_feed_missing(feed, entry, "type");
	for (int i = 0; i < lengthof(trace_type_name); i++)
	{
		if (hb_feed_string_is(feed, node, trace_type_name[i]))
			return (EvmTraceType) i;
	}
	if (hb_feed_string_is(feed, node, "selfdestruct"))
		return TRACE_SUICIDE;
	hb_feed_bad(feed, node, "is none of create, call, suicide, reward.");
}

static void
trace_address_of(HbFeed *feed, uint32 array, EvmAddress *address)
{
	const HbJsonNode *nodes = feed->json.nodes;

	address->depth = 0;
	hb_feed_expect(feed, array, HB_JSON_ARRAY);
	for (uint32 i = array + 1; i < nodes[array].next; i = nodes[i].next)
		address_push(address, (int32) hb_feed_int(feed, i, PG_INT32_MAX));
}

/*
 * Where an entry stands among the transactions, and its row.  A portal need
 * not deliver the transaction, other documents that have any must.
 */
static void
trace_place(HbFeed *feed, uint32 entry, const HbFeedFound *found,
			EvmTraceType type, const EvmAddress *address, bool portal)
{
	HbEvmPlaces *evm = feed->places;
	HbEvmTx    *tx = NULL;
	int32		index = -1;
	int64		subtraces = -1;
	const uint8 *hash = NULL;
	uint32		hash_node = found->node[ITEM_TX_HASH];
	uint32		index_node = found->node[ITEM_TX_INDEX];

	if (!hb_feed_is_null(feed, found->node[TRACE_SUBTRACES]))
		subtraces = hb_feed_int(feed, found->node[TRACE_SUBTRACES], PG_INT32_MAX);
	if (!portal)
		tx = hb_evm_item_tx(feed, entry, hash_node, index_node);
	if (!hb_feed_is_null(feed, hash_node))
		hash = hb_feed_data(feed, hash_node, 32).data;
	if (!hb_feed_is_null(feed, index_node))
	{
		index = (int32) hb_feed_int(feed, index_node, PG_INT32_MAX);
		if (tx == NULL)
			tx = hb_evm_tx_at(feed, index);
		if (tx == NULL && evm->has_txs && !portal)
			hb_feed_bad(feed, index_node, "is no transaction of the block.");
		if (tx != NULL && hash != NULL && memcmp(tx->hash, hash, 32) != 0)
			hb_feed_bad(feed, hash_node,
						"is not the hash of transaction %d of the block.", index);
	}
	else if (tx == NULL && type != TRACE_REWARD)
		hb_feed_missing(feed, entry,
						portal ? "transactionIndex" : "transactionPosition");
	trace_row(feed, type, tx, index, hash, subtraces, address);
	if (portal && tx == NULL && hash == NULL && index >= 0 &&
		evm->trace_tx_hash >= 0)
		hb_feed_incomplete(feed, &feed->tables[HB_FEED_TRACES], evm->trace_tx_hash);
}

static void
trace_entry(HbFeed *feed, uint32 entry, EvmAddress *address)
{
	HbEvmPlaces *evm = feed->places;
	HbFeedFound found;
	EvmTraceType type;

	hb_feed_row_clear(&feed->tables[HB_FEED_TRACES]);
	hb_feed_read(feed, evm->place[EVM_TRACE], entry, &found);
	hb_evm_check_block(feed, &found);
	type = trace_type(feed, entry, found.node[TRACE_TYPE]);
	if (hb_feed_is_null(feed, found.node[TRACE_ACTION]))
		hb_feed_missing(feed, entry, "action");
	hb_feed_read(feed, evm->place[action_place[type]], found.node[TRACE_ACTION], NULL);
	if (!hb_feed_is_null(feed, found.node[TRACE_RESULT]))
		hb_feed_read(feed, evm->place[result_place[type]], found.node[TRACE_RESULT], NULL);
	if (hb_feed_is_null(feed, found.node[TRACE_ADDRESS]))
		hb_feed_missing(feed, entry, "traceAddress");
	trace_address_of(feed, found.node[TRACE_ADDRESS], address);
	trace_place(feed, entry, &found, type, address, false);
}

/*
 * A portal writes call_type and reward_type as the action's type, and
 * call_type as its callType too.
 */
static void
portal_action_type(HbFeed *feed, HbFeedFound *action, int col)
{
	HbFeedTable *ft = &feed->tables[HB_FEED_TRACES];
	uint32		node = action->node[ACTION_TYPE];

	if (col < 0 || node == HB_JSON_NONE || ft->present[col])
		return;
	ft->present[col] = true;
	ft->row[col] = hb_feed_value(feed, node, HB_CONV_TEXT, &ft->table->columns[col]);
}

static void
portal_trace_entry(HbFeed *feed, uint32 entry, EvmAddress *address)
{
	HbEvmPlaces *evm = feed->places;
	HbFeedTable *ft = &feed->tables[HB_FEED_TRACES];
	HbFeedFound found;
	HbFeedFound action = {{0}};
	EvmTraceType type;
	uint32		result;

	hb_feed_row_clear(ft);
	hb_feed_read(feed, evm->place[EVM_PORTAL_TRACE], entry, &found);
	hb_evm_check_block(feed, &found);
	type = trace_type(feed, entry, found.node[TRACE_TYPE]);
	if (!hb_feed_is_null(feed, found.node[TRACE_ACTION]))
		hb_feed_read(feed, evm->place[portal_action_place[type]],
					 found.node[TRACE_ACTION], &action);
	portal_action_type(feed, &action, type == TRACE_CALL ? evm->trace_call_type :
					   type == TRACE_REWARD ? evm->trace_reward_type : -1);
	result = found.node[TRACE_RESULT];
	if (!hb_feed_is_null(feed, result))
		hb_feed_read(feed, evm->place[portal_result_place[type]], result, NULL);
	if (hb_feed_is_null(feed, found.node[TRACE_ADDRESS]))
		hb_feed_missing(feed, entry, "traceAddress");
	trace_address_of(feed, found.node[TRACE_ADDRESS], address);

	hb_evm_portal_missing(feed, EVM_PORTAL_TRACE);
	hb_evm_portal_missing(feed, portal_action_place[type]);
	/* null: the call failed; absent: it was not asked for */
	if (result == HB_JSON_NONE || !hb_feed_is_null(feed, result))
		hb_evm_portal_missing(feed, portal_result_place[type]);
	if (found.node[TRACE_SUBTRACES] == HB_JSON_NONE && evm->trace_subtraces >= 0)
		hb_feed_incomplete(feed, ft, evm->trace_subtraces);
	if (type == TRACE_CALL && evm->trace_call_sighash >= 0 &&
		!ft->present[evm->trace_call_sighash] &&
		evm->trace_call_input >= 0 && !ft->present[evm->trace_call_input])
		hb_feed_incomplete(feed, ft, evm->trace_call_sighash);
	trace_place(feed, entry, &found, type, address, true);
}

void
hb_evm_portal_traces(HbFeed *feed, uint32 traces)
{
	const HbJsonNode *nodes = feed->json.nodes;
	EvmAddress	address = {0};

	hb_feed_expect(feed, traces, HB_JSON_ARRAY);
	if (nodes[traces].next == traces + 1)
		return;
	hb_feed_set_trace_format(feed, 'p');
	for (uint32 i = traces + 1; i < nodes[traces].next; i = nodes[i].next)
	{
		CHECK_FOR_INTERRUPTS();
		portal_trace_entry(feed, i, &address);
	}
}

/*
 * callTracer
 */

static EvmTraceType
frame_type(HbFeed *feed, uint32 frame, uint32 node)
{
	static const struct
	{
		const char *name;
		EvmTraceType type;
	}			types[] = {
		{"CALL", TRACE_CALL}, {"STATICCALL", TRACE_CALL},
		{"DELEGATECALL", TRACE_CALL}, {"CALLCODE", TRACE_CALL},
		{"CREATE", TRACE_CREATE}, {"CREATE2", TRACE_CREATE},
		{"SELFDESTRUCT", TRACE_SUICIDE}
	};

	if (hb_feed_is_null(feed, node))
		hb_feed_missing(feed, frame, "type");
	for (int i = 0; i < lengthof(types); i++)
	{
		if (hb_feed_string_is(feed, node, types[i].name))
			return types[i].type;
	}
	hb_feed_bad(feed, node, "is no type of frame.");
}

/* The frame's member type, before its place is known. */
static uint32
frame_type_node(HbFeed *feed, uint32 frame)
{
	const HbJsonNode *nodes = feed->json.nodes;

	hb_feed_expect(feed, frame, HB_JSON_OBJECT);
	for (uint32 i = frame + 1; i < nodes[frame].next; i = nodes[i + 1].next)
	{
		if (nodes[i].len == 4 && memcmp(feed->json.text + nodes[i].off, "type", 4) == 0)
			return i + 1;
	}
	return HB_JSON_NONE;
}

/* A frame and, below it, those that it called. */
static void
trace_frame(HbFeed *feed, uint32 frame, HbEvmTx *tx, int32 index,
			const uint8 *hash, EvmAddress *address)
{
	HbEvmPlaces *evm = feed->places;
	HbFeedTable *ft = &feed->tables[HB_FEED_TRACES];
	const HbJsonNode *nodes = feed->json.nodes;
	EvmTraceType type = frame_type(feed, frame, frame_type_node(feed, frame));
	HbFeedFound found;
	uint32		calls;
	int32		ncalls = 0;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	hb_feed_row_clear(ft);
	hb_feed_read(feed, evm->place[frame_place[type]], frame, &found);
	calls = found.node[FRAME_CALLS];
	if (!hb_feed_is_null(feed, calls))
	{
		hb_feed_expect(feed, calls, HB_JSON_ARRAY);
		for (uint32 i = calls + 1; i < nodes[calls].next; i = nodes[i].next)
			ncalls++;
	}
	trace_row(feed, type, tx, index, hash, ncalls, address);

	if (ncalls > 0)
	{
		int32		n = 0;

		for (uint32 i = calls + 1; i < nodes[calls].next; i = nodes[i].next)
		{
			address_push(address, n++);
			trace_frame(feed, i, tx, index, hash, address);
			address->depth--;
		}
	}
}

/*
 * An entry of callTracer, of the transaction that it names, else of the one at
 * its position (geth before 1.11 names none).
 */
static void
trace_transaction(HbFeed *feed, uint32 entry, int32 position, EvmAddress *address)
{
	HbEvmPlaces *evm = feed->places;
	HbFeedFound found;
	HbEvmTx    *tx;
	const uint8 *hash = NULL;

	hb_feed_read(feed, evm->place[EVM_TRANSACTION_TRACE], entry, &found);
	if (hb_feed_is_null(feed, found.node[TX_TRACE_RESULT]))
	{
		if (!hb_feed_is_null(feed, found.node[TX_TRACE_ERROR]))
			hb_feed_bad(feed, found.node[TX_TRACE_ERROR],
						"is an error of the tracer: the transaction was not traced.");
		hb_feed_missing(feed, entry, "result");
	}
	tx = hb_evm_item_tx(feed, entry, found.node[TX_TRACE_HASH], HB_JSON_NONE);
	if (!hb_feed_is_null(feed, found.node[TX_TRACE_HASH]))
		hash = hb_feed_data(feed, found.node[TX_TRACE_HASH], 32).data;
	else if (evm->has_txs)
	{
		tx = hb_evm_tx_at(feed, position);
		if (tx == NULL)
			hb_feed_missing(feed, entry, "txHash");
	}
	address->depth = 0;
	trace_frame(feed, found.node[TX_TRACE_RESULT], tx, position, hash, address);
}

/* Does an entry name its transaction as callTracer's do? */
static bool
traces_are_frames(HbFeed *feed, uint32 traces)
{
	const HbJsonNode *nodes = feed->json.nodes;
	uint32		entry = traces + 1;

	if (nodes[entry].type != HB_JSON_OBJECT)
		return false;
	for (uint32 i = entry + 1; i < nodes[entry].next; i = nodes[i + 1].next)
	{
		if (nodes[i].len == 6 && memcmp(feed->json.text + nodes[i].off, "txHash", 6) == 0)
			return true;
	}
	return false;
}

void
hb_evm_traces(HbFeed *feed, uint32 traces, uint32 format)
{
	const HbJsonNode *nodes = feed->json.nodes;
	EvmAddress	address = {0};
	int32		position = 0;
	bool		frames;

	hb_feed_expect(feed, traces, HB_JSON_ARRAY);
	if (hb_feed_is_null(feed, format))
		frames = nodes[traces].next > traces + 1 && traces_are_frames(feed, traces);
	else
	{
		frames = hb_feed_string_is(feed, format, "callTracer");
		if (!frames && !hb_feed_string_is(feed, format, "trace_block"))
			hb_feed_bad(feed, format, "is neither \"trace_block\" nor \"callTracer\".");
	}
	if (nodes[traces].next == traces + 1)
		return;					/* none, in whatever format */
	hb_feed_set_trace_format(feed, frames ? 'c' : 't');

	for (uint32 i = traces + 1; i < nodes[traces].next; i = nodes[i].next)
	{
		CHECK_FOR_INTERRUPTS();
		if (frames)
			trace_transaction(feed, i, position++, &address);
		else
			trace_entry(feed, i, &address);
	}
}

/*
 * State diffs
 */

typedef enum EvmDiffValue
{
	DIFF_QUANTITY,				/* balance, nonce: at least one byte */
	DIFF_DATA,					/* code */
	DIFF_SLOT					/* storage: 32 bytes */
} EvmDiffValue;

/* What all rows of an account have. */
typedef struct EvmAccount
{
	HbEvmTx    *tx;
	int32		index;
	const uint8 *hash;
	HbSlice		address;
} EvmAccount;

static HbSlice
diff_value(HbFeed *feed, uint32 node, EvmDiffValue kind)
{
	HbSlice		value;

	switch (kind)
	{
		case DIFF_SLOT:
			return hb_feed_padded(feed, node, 32);
		case DIFF_DATA:
			return hb_feed_data(feed, node, 0);
		case DIFF_QUANTITY:
			break;
	}
	value = hb_feed_quantity(feed, node);
	if (value.len == 0)
	{
		value.data = (const uint8 *) "";	/* zero is one zero byte */
		value.len = 1;
	}
	return value;
}

/* The value of the only member of an object, and the member's name. */
static uint32
diff_only_member(HbFeed *feed, uint32 object, char *sign)
{
	const HbJsonNode *nodes = feed->json.nodes;
	uint32		name = object + 1;

	if (nodes[object].type != HB_JSON_OBJECT || name >= nodes[object].next ||
		nodes[name + 1].next != nodes[object].next || nodes[name].len != 1)
		hb_feed_bad(feed, object, "is neither \"=\" nor an object of one of \"+\", \"-\", \"*\".");
	*sign = feed->json.text[nodes[name].off];
	if (*sign != '+' && *sign != '-' && *sign != '*')
		hb_feed_bad(feed, object, "is neither \"=\" nor an object of one of \"+\", \"-\", \"*\".");
	return name + 1;
}

/* The values of {"from": x, "to": y}. */
static void
diff_from_to(HbFeed *feed, uint32 object, uint32 *from, uint32 *to)
{
	const HbJsonNode *nodes = feed->json.nodes;

	*from = *to = HB_JSON_NONE;
	hb_feed_expect(feed, object, HB_JSON_OBJECT);
	for (uint32 i = object + 1; i < nodes[object].next; i = nodes[i + 1].next)
	{
		const char *name = feed->json.text + nodes[i].off;

		if (nodes[i].len == 4 && memcmp(name, "from", 4) == 0)
			*from = i + 1;
		else if (nodes[i].len == 2 && memcmp(name, "to", 2) == 0)
			*to = i + 1;
	}
	if (hb_feed_is_null(feed, *from))
		hb_feed_missing(feed, object, "from");
	if (hb_feed_is_null(feed, *to))
		hb_feed_missing(feed, object, "to");
}

/* A row of what changed; a node of null or none is a NULL. */
static void
diff_store(HbFeed *feed, const EvmAccount *account, HbSlice key, char sign,
		   uint32 from, uint32 to, EvmDiffValue kind)
{
	HbEvmPlaces *evm = feed->places;
	HbFeedTable *ft = &feed->tables[HB_FEED_STATE_DIFFS];
	HbSlice		bytes;

	hb_feed_row_clear(ft);
	hb_feed_set_int(ft, evm->diff_block, feed->number);
	hb_feed_set_int(ft, evm->diff_tx, account->index);
	if (account->hash != NULL)
		hb_feed_set_bytes(ft, evm->diff_tx_hash, account->hash, 32);
	hb_feed_set_bytes(ft, evm->diff_address, account->address.data, account->address.len);
	hb_feed_set_bytes(ft, evm->diff_key, key.data, key.len);
	hb_feed_set_bytes(ft, evm->diff_kind,
					  sign == '*' ? "*" : sign == '+' ? "+" : "-", 1);
	if (!hb_feed_is_null(feed, from))
	{
		bytes = diff_value(feed, from, kind);
		hb_feed_set_bytes(ft, evm->diff_prev, bytes.data, bytes.len);
	}
	if (!hb_feed_is_null(feed, to))
	{
		bytes = diff_value(feed, to, kind);
		hb_feed_set_bytes(ft, evm->diff_next, bytes.data, bytes.len);
	}
	hb_feed_row(feed, ft, account->tx != NULL);
}

static void
diff_row(HbFeed *feed, const EvmAccount *account, HbSlice key, uint32 node,
		 EvmDiffValue kind)
{
	char		sign;
	uint32		value;
	uint32		from = HB_JSON_NONE;
	uint32		to = HB_JSON_NONE;

	if (hb_feed_is_null(feed, node) || hb_feed_string_is(feed, node, "="))
		return;					/* as it was: not stored */
	value = diff_only_member(feed, node, &sign);
	if (sign == '*')
		diff_from_to(feed, value, &from, &to);
	else if (hb_feed_is_null(feed, value))
		hb_feed_bad(feed, value, "is no value.");
	else if (sign == '+')
		to = value;
	else
		from = value;

	diff_store(feed, account, key, sign, from, to, kind);
}

static HbSlice
diff_key(const char *name)
{
	HbSlice		key;

	key.data = (const uint8 *) name;
	key.len = strlen(name);
	return key;
}

/* The key of a slot: all 32 bytes of it in hexadecimal. */
static HbSlice
diff_slot_key(HbFeed *feed, uint32 node)
{
	HbSlice		slot = hb_feed_padded(feed, node, 32);
	char	   *key = hb_feed_alloc(feed, 2 + 64);

	key[0] = '0';
	key[1] = 'x';
	hex_encode((const char *) slot.data, 32, key + 2);
	slot.data = (const uint8 *) key;
	slot.len = 2 + 64;
	return slot;
}

static void
diff_account(HbFeed *feed, const EvmAccount *account, uint32 object)
{
	HbEvmPlaces *evm = feed->places;
	const HbJsonNode *nodes = feed->json.nodes;
	HbFeedFound found;
	uint32		storage;

	hb_feed_read(feed, evm->place[EVM_ACCOUNT_DIFF], object, &found);
	if (found.node[ACCOUNT_BALANCE] != HB_JSON_NONE)
		diff_row(feed, account, diff_key("balance"), found.node[ACCOUNT_BALANCE], DIFF_QUANTITY);
	if (found.node[ACCOUNT_CODE] != HB_JSON_NONE)
		diff_row(feed, account, diff_key("code"), found.node[ACCOUNT_CODE], DIFF_DATA);
	if (found.node[ACCOUNT_NONCE] != HB_JSON_NONE)
		diff_row(feed, account, diff_key("nonce"), found.node[ACCOUNT_NONCE], DIFF_QUANTITY);

	storage = found.node[ACCOUNT_STORAGE];
	if (hb_feed_is_null(feed, storage))
		return;
	hb_feed_expect(feed, storage, HB_JSON_OBJECT);
	for (uint32 i = storage + 1; i < nodes[storage].next; i = nodes[i + 1].next)
		diff_row(feed, account, diff_slot_key(feed, i), i + 1, DIFF_SLOT);
}

void
hb_evm_state_diffs(HbFeed *feed, uint32 diffs)
{
	HbEvmPlaces *evm = feed->places;
	const HbJsonNode *nodes = feed->json.nodes;
	int32		position = 0;

	hb_feed_expect(feed, diffs, HB_JSON_ARRAY);
	for (uint32 i = diffs + 1; i < nodes[diffs].next; i = nodes[i].next)
	{
		HbFeedFound found;
		EvmAccount	account = {0};
		uint32		state;

		CHECK_FOR_INTERRUPTS();
		hb_feed_read(feed, evm->place[EVM_TRANSACTION_DIFF], i, &found);
		account.tx = hb_evm_item_tx(feed, i, found.node[TX_DIFF_HASH], HB_JSON_NONE);
		if (account.tx == NULL && evm->has_txs)
		{
			account.tx = hb_evm_tx_at(feed, position);
			if (account.tx == NULL)
				hb_feed_missing(feed, i, "transactionHash");
		}
		account.index = account.tx != NULL ? account.tx->index : position;
		if (account.tx != NULL)
			account.hash = account.tx->hash;
		else if (!hb_feed_is_null(feed, found.node[TX_DIFF_HASH]))
			account.hash = hb_feed_data(feed, found.node[TX_DIFF_HASH], 32).data;
		position++;

		state = found.node[TX_DIFF_STATE];
		if (hb_feed_is_null(feed, state))
			continue;
		hb_feed_expect(feed, state, HB_JSON_OBJECT);
		for (uint32 a = state + 1; a < nodes[state].next; a = nodes[a + 1].next)
		{
			account.address = hb_feed_data(feed, a, 20);
			diff_account(feed, &account, a + 1);
		}
	}
}

/* The kind of value under a key, which is a name or a slot. */
static EvmDiffValue
portal_diff_key(HbFeed *feed, uint32 node, HbSlice *key)
{
	if (hb_feed_string_is(feed, node, "balance") ||
		hb_feed_string_is(feed, node, "nonce") ||
		hb_feed_string_is(feed, node, "code"))
	{
		*key = hb_feed_string(feed, node);
		return key->data[0] == 'c' ? DIFF_DATA : DIFF_QUANTITY;
	}
	*key = diff_slot_key(feed, node);
	return DIFF_SLOT;
}

static void
portal_diff(HbFeed *feed, uint32 entry)
{
	static const struct
	{
		int			slot;
		const char *name;
	}			required[] = {
		{ITEM_TX_INDEX, "transactionIndex"}, {DIFF_ADDRESS, "address"},
		{DIFF_KEY, "key"}, {DIFF_KIND, "kind"}
	};
	HbEvmPlaces *evm = feed->places;
	HbFeedTable *ft = &feed->tables[HB_FEED_STATE_DIFFS];
	HbFeedFound found;
	EvmAccount	account = {0};
	EvmDiffValue value;
	HbSlice		kind;
	HbSlice		key;

	hb_feed_read(feed, evm->place[EVM_PORTAL_STATE_DIFF], entry, &found);
	hb_evm_check_block(feed, &found);
	for (int i = 0; i < lengthof(required); i++)
	{
		if (hb_feed_is_null(feed, found.node[required[i].slot]))
			hb_feed_missing(feed, entry, required[i].name);
	}
	kind = hb_feed_string(feed, found.node[DIFF_KIND]);
	if (kind.len != 1 || strchr("=+-*", kind.data[0]) == NULL)
		hb_feed_bad(feed, found.node[DIFF_KIND], "is none of \"=\", \"+\", \"-\", \"*\".");
	if (kind.data[0] == '=')
		return;					/* as it was: not stored */

	account.index = (int32) hb_feed_int(feed, found.node[ITEM_TX_INDEX], PG_INT32_MAX);
	account.tx = hb_evm_tx_at(feed, account.index);
	if (!hb_feed_is_null(feed, found.node[ITEM_TX_HASH]))
		account.hash = hb_feed_data(feed, found.node[ITEM_TX_HASH], 32).data;
	if (account.tx != NULL)
	{
		if (account.hash != NULL && memcmp(account.hash, account.tx->hash, 32) != 0)
			hb_feed_bad(feed, found.node[ITEM_TX_HASH],
						"is not the hash of transaction %d of the block.",
						account.index);
		account.hash = account.tx->hash;
	}
	account.address = hb_feed_data(feed, found.node[DIFF_ADDRESS], 20);
	value = portal_diff_key(feed, found.node[DIFF_KEY], &key);
	diff_store(feed, &account, key, kind.data[0], found.node[DIFF_PREV],
			   found.node[DIFF_NEXT], value);

	if (account.hash == NULL && evm->diff_tx_hash >= 0)
		hb_feed_incomplete(feed, ft, evm->diff_tx_hash);
	if (found.node[DIFF_PREV] == HB_JSON_NONE && evm->diff_prev >= 0)
		hb_feed_incomplete(feed, ft, evm->diff_prev);
	if (found.node[DIFF_NEXT] == HB_JSON_NONE && evm->diff_next >= 0)
		hb_feed_incomplete(feed, ft, evm->diff_next);
}

void
hb_evm_portal_state_diffs(HbFeed *feed, uint32 diffs)
{
	const HbJsonNode *nodes = feed->json.nodes;

	hb_feed_expect(feed, diffs, HB_JSON_ARRAY);
	for (uint32 i = diffs + 1; i < nodes[diffs].next; i = nodes[i].next)
	{
		CHECK_FOR_INTERRUPTS();
		portal_diff(feed, i);
	}
}
