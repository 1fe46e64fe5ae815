/*
 * generate.c
 *		Makes block data that weighs and skews like Ethereum mainnet's.
 *
 *	generate DIR BLOCKS SEED TAIL
 *
 * writes DIR/blocks.csv, transactions.csv and logs.csv, for COPY and for
 * DuckDB alike (bytes as \x hex, NULL as nothing, no quotes), ordered by
 * block, and DIR/params: what the queries ask for, as shell assignments.
 * TAIL is a number of blocks at the head; params says how many rows of each
 * table stand before them.  The same arguments give the same bytes.  Nothing
 * but libc is needed.
 *
 * What was matched, against the 1,606 transactions and 4,695 logs of 12 real
 * blocks (share or mean, real / ours; bench/run weigh measures ours again):
 *	 transactions	159 a block, 2.09 logs each; no input 32 % / 30 %;
 *		distinct senders 0.83 of 1,606 rows in a row; value zero 55 %;
 *		type 2 85 %; status 1 96 %; transfer(address,uint256) 15 % of the
 *		selectors, then approve 6 %, then a tail of hundreds
 *	 zstd -3 over a column, bytes a row: input 279, r and s 64, hash 33 (here
 *		32), logs_bloom 22, from 18, to 12 (DESIGN.md section 13)
 *	 logs	topic0: Transfer 49 %, Approval 10 %, Swap (v3) 5 %, Sync 4 %,
 *		Swap (v2) 4 %, Deposit 3 %, Withdrawal 2 %, then a tail; topics: three
 *		66 %, two 14 %, four 11 %, one 9 %; data: 32 bytes 61 %, none 13 %,
 *		64 8 %, 160 5 %, 128 5 %, 192 3 %, mean 63, zstd 12 a row;
 *		addresses: WETH 14 %, USDT 7 %, USDC 5 %, then a tail of thousands;
 *		topic1 is an address in 92 % of the logs that have one
 * logs_bloom is the real construction (three bits of Keccak-256 per address
 * and topic), so that whoever derives it from the logs finds it equal.  One
 * address is planted: 204 logs in 10,000 blocks, spread evenly.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "gen.h"

#define FIRST_BLOCK		INT64_C(16000000)
#define FIRST_TIME		INT64_C(1668811907)
#define BLOCK_SECONDS	12
#define RARE_LOGS		204		/* per RARE_BLOCKS blocks */
#define RARE_BLOCKS		10000
#define MEAN_TXS		159.0

static uint8_t block_bloom[256];

/* One transaction of a block and its logs; returns the gas that it used. */
static int64_t
make_tx(int64_t base_fee, int64_t cumulative, int rare)
{
	int			type = chance(0.85) ? 2 : 0;
	int			trader = chance(0.13);
	uint64_t	sender = trader ? zipf(N_TRADERS, 0.9) : 0;
	int64_t		tip;
	int64_t		max_fee;
	int64_t		gas;
	int			parity = rnd() & 1;
	uint8_t		word[32];

	random_bytes(tx.hash, 32);
	if (trader)
		member(POP_TRADER, sender, tx.from, 20);
	else
		pick_user(tx.from);
	tx.has_to = 1;
	tx.input_len = 0;
	tx.value = 0;
	tx.failed = 0;
	memset(tx.bloom, 0, sizeof(tx.bloom));
	if (rare)
		make_rare();
	else
	{
		tx.failed = chance(0.05);
		make_body();
		if (tx.input_len == 0)
			tx.failed = 0;
	}
	tx.gas_used += tx.input_len ? 21000 + 10 * tx.input_len : 0;
	gas = tx.input_len == 0 && chance(0.8) ? 21000
		: chance(0.4) ? (tx.gas_used * 5 / 4 / 50000 + 1) * 50000
		: tx.gas_used + (int64_t) below(tx.gas_used / 2 + 1);
	switch (zipf(6, 1.0))
	{
		case 0:
			tip = INT64_C(1500000000);
			break;
		case 1:
			tip = INT64_C(1000000000);
			break;
		case 2:
			tip = INT64_C(2000000000);
			break;
		case 3:
			tip = 100000000 * (1 + below(30));
			break;
		default:
			tip = below(INT64_C(3000000000));
	}
	if (type == 0)
		tip = (base_fee / 1000000000 + 1 + zipf(8, 1.0)) * 1000000000 - base_fee;
	max_fee = chance(0.4) ? base_fee * 2 + tip : base_fee + tip + (int64_t) below(base_fee);

	put_format(&txs_out, "%" PRId64 ",%d", tx.block, tx.index);
	put_hex(&txs_out, tx.hash, 32);
	put_int(&txs_out, trader ? (int64_t) (1000000 / (sender + 1) + (tx.block - FIRST_BLOCK))
			: (int64_t) zipf(3000, 1.1));
	put_hex(&txs_out, tx.from, 20);
	if (tx.has_to)
		put_hex(&txs_out, tx.to, 20);
	else
		put_null(&txs_out);
	put_hex(&txs_out, tx.input, tx.input_len);
	put_u128(&txs_out, tx.value);
	put_int(&txs_out, type);
	put_int(&txs_out, gas);
	put_int(&txs_out, base_fee + tip);
	if (type == 2)
	{
		put_int(&txs_out, max_fee);
		put_int(&txs_out, tip);
	}
	else
	{
		put_null(&txs_out);
		put_null(&txs_out);
	}
	put_int(&txs_out, type == 2 ? parity : 37 + parity);
	random_bytes(word, 32);
	put_hex(&txs_out, word, 32);
	random_bytes(word, 32);
	word[0] &= 0x7f;			/* s is in the lower half of the group order */
	put_hex(&txs_out, word, 32);
	if (type == 2)
		put_int(&txs_out, parity);
	else
		put_null(&txs_out);
	put_int(&txs_out, 1);
	put_int(&txs_out, tx.gas_used);
	put_int(&txs_out, cumulative + tx.gas_used);
	put_int(&txs_out, base_fee + tip);
	if (tx.has_to)
		put_null(&txs_out);
	else
	{
		random_bytes(word, 20);
		put_hex(&txs_out, word, 20);
	}
	put_hex(&txs_out, tx.bloom, 256);
	put_int(&txs_out, !tx.failed);
	put_time(&txs_out, tx.time);
	putc('\n', txs_out.file);
	txs_out.rows++;
	for (int i = 0; i < 256; i++)
		block_bloom[i] |= tx.bloom[i];
	return tx.gas_used;
}

static void
put_id(int what, int64_t block)
{
	uint8_t		id[32];

	member(POP_ID, (uint64_t) block * 8 + what, id, 32);
	put_hex(&blocks_out, id, 32);
}

static void
make_block(int64_t number, int64_t *base_fee)
{
	static const uint8_t no_uncles[32] = {
		0x1d, 0xcc, 0x4d, 0xe8, 0xde, 0xc7, 0x5d, 0x7a, 0xab, 0x85, 0xb5,
		0x67, 0xb6, 0xcc, 0xd4, 0x1a, 0xd3, 0x12, 0x45, 0x1b, 0x94, 0x8a,
		0x74, 0x13, 0xf0, 0xa1, 0x42, 0xfd, 0x40, 0xd4, 0x93, 0x47
	};
	static const char *const extra[] = {"rsync-builder.xyz", "beaverbuild.org",
	"Illuminate Dmocratize Dstribute", "", "geth go1.19.3 linux"};
	static const uint8_t nonce[8] = {0};
	int64_t		i = number - FIRST_BLOCK;
	int			rare = (i + 1) * RARE_LOGS / RARE_BLOCKS > i * RARE_LOGS / RARE_BLOCKS;
	int			ntxs = (int) (MEAN_TXS * (0.25 + 1.5 * uniform()) + 0.5);
	int			rare_at = rare ? (int) below(ntxs) : -1;
	int			builder = (int) zipf(5, 1.0);
	uint8_t		miner[20];
	int64_t		gas = 0;

	memset(block_bloom, 0, sizeof(block_bloom));
	log_index = 0;
	tx.block = number;
	tx.time = FIRST_TIME + i * BLOCK_SECONDS;
	for (tx.index = 0; tx.index < ntxs; tx.index++)
		gas += make_tx(*base_fee, gas, tx.index == rare_at);

	put_format(&blocks_out, "%" PRId64, number);
	put_id(0, number);
	put_id(0, number - 1);
	put_time(&blocks_out, tx.time);
	put_id(1, number);
	put_id(2, number);
	put_id(3, number);
	put_hex(&blocks_out, block_bloom, 256);
	put_hex(&blocks_out, no_uncles, 32);
	put_hex(&blocks_out, (const uint8_t *) extra[builder], strlen(extra[builder]));
	member(POP_BUILDER, builder, miner, 20);
	put_hex(&blocks_out, miner, 20);
	put_hex(&blocks_out, nonce, 8);
	put_id(4, number);
	put_int(&blocks_out, 40000 + 380 * ntxs + below(20000));
	put_int(&blocks_out, 30000000);
	put_int(&blocks_out, gas);
	put_int(&blocks_out, 0);
	put_format(&blocks_out, ",58750003716598352816469");
	put_int(&blocks_out, *base_fee);
	putc('\n', blocks_out.file);
	blocks_out.rows++;
	*base_fee += (int64_t) (*base_fee / 8.0 * (ntxs / MEAN_TXS - 1.0) * 0.4)
		+ (INT64_C(14000000000) - *base_fee) / 40;
}

static void
print_hex(FILE *file, const char *name, const uint8_t *data, int len)
{
	fprintf(file, "%s=", name);
	for (int i = 0; i < len; i++)
		fprintf(file, "%02x", data[i]);
	putc('\n', file);
}

int
main(int argc, char **argv)
{
	int64_t		nblocks;
	int64_t		tail;
	int64_t		base_fee = INT64_C(14000000000);
	char		path[4096];
	FILE	   *params;
	uint8_t		hash[32];

	if (argc != 5 || (nblocks = atoll(argv[2])) < 1 || (tail = atoll(argv[4])) < 0 || tail > nblocks)
	{
		fprintf(stderr, "usage: generate DIR BLOCKS SEED TAIL\n");
		return 2;
	}
	rnd_start(strtoull(argv[3], NULL, 10));
	calls_start();

	snprintf(path, sizeof(path), "%s/params", argv[1]);
	params = fopen(path, "w");
	if (params == NULL)
	{
		perror(path);
		return 1;
	}
	out_open(&blocks_out, argv[1], "blocks");
	out_open(&txs_out, argv[1], "transactions");
	out_open(&logs_out, argv[1], "logs");
	memset(hash, 0, sizeof(hash));
	for (int64_t i = 0; i < nblocks; i++)
	{
		if (i == nblocks - tail)
			fprintf(params, "rows_before_tail='%" PRIu64 " %" PRIu64 " %" PRIu64 "'\n",
					blocks_out.rows, txs_out.rows, logs_out.rows);
		make_block(FIRST_BLOCK + i, &base_fee);
		if (i == nblocks / 3)
			memcpy(hash, tx.hash, 32);	/* its block's last transaction */
	}
	fprintf(params, "rows='%" PRIu64 " %" PRIu64 " %" PRIu64 "'\n",
			blocks_out.rows, txs_out.rows, logs_out.rows);
	fprintf(params, "first_block=%" PRId64 "\nlast_block=%" PRId64 "\n",
			FIRST_BLOCK, FIRST_BLOCK + nblocks - 1);
	print_hex(params, "rare_address", rare_address, 20);
	print_hex(params, "hot_address", usdt, 20);
	print_hex(params, "hot_topic0", topic_transfer, 32);
	print_hex(params, "tx_hash", hash, 32);
	out_close(&blocks_out);
	out_close(&txs_out);
	out_close(&logs_out);
	if (fclose(params) != 0)
	{
		perror(path);
		return 1;
	}
	return 0;
}
