/*
 * gen_calls.c
 *		What transactions do: call data, and the logs that follow from it.
 */
#include <inttypes.h>
#include <string.h>

#include "gen.h"

Tx			tx;
int			log_index;
uint8_t		topic_transfer[32];
uint8_t		usdt[20];
uint8_t		rare_address[20];

static uint8_t topic_approval[32];
static uint8_t topic_approval_all[32];
static uint8_t topic_swap2[32];
static uint8_t topic_swap3[32];
static uint8_t topic_sync[32];
static uint8_t topic_deposit[32];
static uint8_t topic_withdrawal[32];
static uint8_t topic_order[32];

static uint8_t weth[20];
static uint8_t usdc[20];

/* Wallets: a third were seen lately, the rest are of a large population. */
void
pick_user(uint8_t out[20])
{
	static uint64_t recent[N_RECENT];
	static uint64_t n;
	uint64_t	id;

	if (n > 64 && chance(0.20))
		id = recent[below(n < N_RECENT ? n : N_RECENT)];
	else
	{
		id = zipf(N_USERS, 0.35);
		recent[n++ % N_RECENT] = id;
	}
	member(POP_USER, id, out, 20);
}

static void
pick_token(uint8_t out[20])
{
	double		u = uniform();

	if (u < 0.16)
		memcpy(out, weth, 20);
	else if (u < 0.275)
		memcpy(out, usdt, 20);
	else if (u < 0.365)
		memcpy(out, usdc, 20);
	else
		member(POP_TOKEN, 3 + zipf(N_TOKENS, 1.05), out, 20);
}

static void
pick_pool(uint8_t out[20])
{
	member(POP_POOL, zipf(N_POOLS, 1.05), out, 20);
}

/* Amounts are round in a token's decimals, or have as many digits as it has. */
static unsigned __int128
pick_amount(void)
{
	double		u = uniform();

	if (u < 0.22)
		return (unsigned __int128) (1 + zipf(2000, 1.0)) * UINT64_C(10000000000000000);
	if (u < 0.40)
		return (1 + zipf(20000, 1.0)) * UINT64_C(1000000);
	if (u < 0.60)
		return below(UINT64_C(200000000000));
	if (u < 0.95)
		return rnd() >> below(24);
	return (unsigned __int128) rnd() * (1 + below(1000000));
}

/* ---- call data: a selector and words ---- */

static void
add_bytes(const void *data, int len)
{
	memcpy(tx.input + tx.input_len, data, len);
	tx.input_len += len;
}

static void
add_random(int len)
{
	random_bytes(tx.input + tx.input_len, len);
	tx.input_len += len;
}

static void
add_selector(uint32_t selector)
{
	uint8_t		b[4] = {selector >> 24, selector >> 16, selector >> 8, selector};

	add_bytes(b, 4);
}

static void
word_number(uint8_t out[32], unsigned __int128 value)
{
	memset(out, 0, 16);
	for (int i = 31; i >= 16; i--, value >>= 8)
		out[i] = (uint8_t) value;
}

static void
word_address(uint8_t out[32], const uint8_t address[20])
{
	memset(out, 0, 12);
	memcpy(out + 12, address, 20);
}

static void
add_number(unsigned __int128 value)
{
	word_number(tx.input + tx.input_len, value);
	tx.input_len += 32;
}

static void
add_address(const uint8_t address[20])
{
	word_address(tx.input + tx.input_len, address);
	tx.input_len += 32;
}

/* Words of a call that nobody here knows: offsets, flags, amounts, hashes. */
static void
add_words(int n, double random_share)
{
	uint8_t		a[20];

	while (n-- > 0)
	{
		double		u = uniform();

		if (u < random_share)
			add_random(32);
		else if ((u = uniform()) < 0.30)
			add_number(32 * below(24));
		else if (u < 0.45)
			add_number(below(3));
		else if (u < 0.57)
		{
			pick_token(a);
			add_address(a);
		}
		else if (u < 0.72)
		{
			if (chance(0.5))
				add_address(tx.from);
			else
			{
				pick_user(a);
				add_address(a);
			}
		}
		else if (u < 0.80)
			add_number(tx.time + 600 + below(1200));
		else
			add_number(pick_amount());
	}
}

/* ---- logs ---- */

static void
emit_log(const uint8_t address[20], const uint8_t *topic0, const uint8_t *topic1,
		 const uint8_t *topic2, const uint8_t *topic3, const uint8_t *data, int len)
{
	const uint8_t *topics[4] = {topic0, topic1, topic2, topic3};

	if (tx.failed)
		return;
	put_format(&logs_out, "%" PRId64 ",%d,%d", tx.block, tx.index, log_index++);
	put_hex(&logs_out, tx.hash, 32);
	put_hex(&logs_out, address, 20);
	bloom_add(tx.bloom, address, 20);
	for (int i = 0; i < 4; i++)
	{
		if (topics[i] == NULL)
			put_null(&logs_out);
		else
		{
			put_hex(&logs_out, topics[i], 32);
			bloom_add(tx.bloom, topics[i], 32);
		}
	}
	put_hex(&logs_out, data, len);
	put_time(&logs_out, tx.time);
	putc('\n', logs_out.file);
	logs_out.rows++;
	tx.gas_used += 1500 + 375 * 3 + 8 * len + below(3) * 5000 + 20000 * chance(0.1);
}

/* An event of two addresses and a number: Transfer, Approval. */
static void
log_transfer(const uint8_t token[20], const uint8_t *topic0, const uint8_t from[20],
			 const uint8_t to[20], unsigned __int128 amount)
{
	uint8_t		t1[32];
	uint8_t		t2[32];
	uint8_t		data[32];

	word_address(t1, from);
	word_address(t2, to);
	word_number(data, amount);
	emit_log(token, topic0, t1, t2, NULL, data, 32);
}

static void
log_deposit(int deposit, const uint8_t who[20], unsigned __int128 amount)
{
	uint8_t		t1[32];
	uint8_t		data[32];

	word_address(t1, who);
	word_number(data, amount);
	emit_log(weth, deposit ? topic_deposit : topic_withdrawal, t1, NULL, NULL, data, 32);
}

/* The pool's events of a swap that moved amounts a and b. */
static void
log_pool(const uint8_t pool[20], int v3, const uint8_t *router,
		 const uint8_t *to, unsigned __int128 a, unsigned __int128 b)
{
	uint8_t		t1[32];
	uint8_t		t2[32];
	uint8_t		data[160];

	word_address(t1, router);
	word_address(t2, to);
	if (v3)
	{
		word_number(data, a);
		memset(data + 32, 0xff, 16);	/* a negative amount */
		word_number(data + 32, ~b);
		memset(data + 32, 0xff, 16);
		word_number(data + 64, ((unsigned __int128) rnd() << 24) | below(1 << 24));
		word_number(data + 96, (unsigned __int128) rnd());
		word_number(data + 128, 190000 + below(20000));
		emit_log(pool, topic_swap3, t1, t2, NULL, data, 160);
	}
	else
	{
		int			side = chance(0.5);

		word_number(data, (unsigned __int128) rnd() << below(16));
		word_number(data + 32, (unsigned __int128) rnd() >> below(20));
		emit_log(pool, topic_sync, NULL, NULL, NULL, data, 64);
		word_number(data, side ? a : 0);
		word_number(data + 32, side ? 0 : a);
		word_number(data + 64, side ? 0 : b);
		word_number(data + 96, side ? b : 0);
		emit_log(pool, topic_swap2, t1, t2, NULL, data, 128);
	}
}

static void
log_swap(int v3, const uint8_t *router, const uint8_t *from, const uint8_t *to,
		 const uint8_t *token_in, const uint8_t *token_out,
		 unsigned __int128 a, unsigned __int128 b)
{
	uint8_t		pool[20];

	pick_pool(pool);
	log_transfer(token_in, topic_transfer, from, pool, a);
	log_transfer(token_out, topic_transfer, pool, to, b);
	log_pool(pool, v3, router, to, a, b);
}

/* An event of the long tail: its shape goes with its topic. */
static void
log_misc(const uint8_t address[20])
{
	uint64_t	event = zipf(N_EVENTS, 0.9);
	uint64_t	shape = mix64(event * 31 + 7);
	int			ntopics = 1 + (int) (shape % 4 + (shape >> 8) % 3) / 2;
	static const int words[] = {0, 1, 1, 1, 1, 1, 1, 3, 4, 6, 2, 8, 12, 1};
	int			n = words[(shape >> 16) % 14];
	uint8_t		topic[4][32];
	uint8_t		data[32 * 12];

	member(POP_EVENT, event, topic[0], 32);
	for (int i = 1; i < 4; i++)
	{
		if ((shape >> (24 + i)) % 3 == 0)
			word_number(topic[i], zipf(50000, 0.8));
		else if ((shape >> (28 + i)) % 3 == 0)
			random_bytes(topic[i], 32);
		else
		{
			uint8_t		user[20];

			pick_user(user);
			word_address(topic[i], user);
		}
	}
	for (int i = 0; i < n; i++)
	{
		if (chance(0.08))
			random_bytes(data + 32 * i, 32);
		else if (chance(0.5))
			word_number(data + 32 * i, zipf(5000, 1.0));
		else if (chance(0.3))
			word_address(data + 32 * i, tx.from);
		else
			word_number(data + 32 * i, pick_amount());
	}
	emit_log(address, topic[0], ntopics > 1 ? topic[1] : NULL,
			 ntopics > 2 ? topic[2] : NULL, ntopics > 3 ? topic[3] : NULL, data, 32 * n);
}

/* ---- kinds of transaction ---- */

static void
to_contract(int population, uint64_t i)
{
	member(population, i, tx.to, 20);
}

static void
make_plain(void)
{
	if (chance(0.15))
		member(POP_TRADER, zipf(N_TRADERS, 0.9), tx.to, 20);
	else
		pick_user(tx.to);
	tx.value = chance(0.4) ? (unsigned __int128) (1 + zipf(5000, 1.0)) * UINT64_C(1000000000000000)
		: (unsigned __int128) (rnd() >> (4 + below(12)));
	tx.gas_used = 21000;
}

static void
make_token_transfer(int approve)
{
	uint8_t		user[20];
	unsigned __int128 amount = pick_amount();

	/* One in three goes to USDT alone, so do the exchanges' withdrawals. */
	if (chance(0.30))
		memcpy(tx.to, usdt, 20);
	else
		pick_token(tx.to);
	tx.gas_used = approve ? 25000 : 28000;
	if (approve)
	{
		to_contract(POP_TOKEN, 3 + zipf(N_TOKENS, 0.8));
		member(POP_CONTRACT, zipf(40, 1.0), user, 20);
		add_selector(0x095ea7b3);
		add_address(user);
		if (chance(0.6))
		{
			memset(tx.input + tx.input_len, 0xff, 32);
			tx.input_len += 32;
			amount = ~(unsigned __int128) 0;
		}
		else
			add_number(amount);
		log_transfer(tx.to, topic_approval, tx.from, user, amount);
		return;
	}
	pick_user(user);
	add_selector(0xa9059cbb);
	add_address(user);
	add_number(amount);
	log_transfer(tx.to, topic_transfer, tx.from, user, amount);
}

static void
make_swap(int v3)
{
	uint8_t		a[20];
	uint8_t		b[20];
	unsigned __int128 in = pick_amount();
	unsigned __int128 out = pick_amount();
	int			eth_in = chance(0.35);
	int			eth_out = !eth_in && chance(0.4);

	to_contract(POP_CONTRACT, zipf(12, 1.0));
	pick_token(a);
	member(POP_TOKEN, 3 + zipf(N_TOKENS, 1.0), b, 20);
	tx.gas_used = 60000 + below(60000);
	if (eth_in)
	{
		tx.value = in;
		memcpy(a, weth, 20);
	}
	if (v3)
	{
		static const uint32_t selectors[] = {0x3593564c, 0x3593564c, 0x5ae401dc, 0x24856bc3};
		int			commands = 1 + below(4);

		add_selector(selectors[below(4)]);
		add_number(96);
		add_number(160);
		add_number(tx.time + 600 + below(1800));
		add_number(commands);
		add_random(2);
		memset(tx.input + tx.input_len, 0, 30);
		tx.input_len += 30;
		for (int i = 0; i < commands; i++)
			add_number(32 * commands + 64 * i + 160);
		if (chance(0.45))		/* a permit, signed */
		{
			add_address(a);
			add_address(tx.to);
			add_number(tx.time + 2592000);
			add_number(below(8));
			add_number(65);
			add_random(65);
			memset(tx.input + tx.input_len, 0, 31);
			tx.input_len += 31;
		}
		for (int i = 0; i < commands; i++)
		{
			add_number(chance(0.5) ? 1 : 2);
			add_number(in);
			add_number(out);
			add_number(160);
			add_number(chance(0.5));
			add_number(43);
			add_bytes(a, 20);
			add_bytes("\0\x0b\xb8", 3);
			add_bytes(b, 20);
			memset(tx.input + tx.input_len, 0, 21);
			tx.input_len += 21;
		}
		add_words(4, 0.25);
	}
	else
	{
		static const uint32_t selectors[] = {0xb6f9de95, 0x791ac947, 0x38ed1739, 0x7ff36ab5, 0x18cbafe5};

		add_selector(selectors[zipf(5, 0.5)]);
		add_number(in);
		add_number(out);
		add_number(160);
		add_address(tx.from);
		add_number(tx.time + 600 + below(1200));
		add_number(2);
		add_address(a);
		add_address(b);
	}
	if (eth_in)
		log_deposit(1, tx.to, in);
	log_swap(v3, tx.to, tx.from, tx.from, a, b, in, out);
	if (chance(0.25))
		log_transfer(b, topic_transfer, tx.from, tx.to, out / 100);
	if (chance(0.5))
		log_transfer(a, topic_approval, tx.from, tx.to, in);
	if (eth_out)
		log_deposit(0, tx.to, out);
}

/* Bots and aggregators: packed calls, several pools, many transfers. */
static void
make_route(void)
{
	uint8_t		tokens[6][20];
	int			hops = 2 + below(3);
	unsigned __int128 amount = pick_amount();

	if (chance(0.5))
		member(POP_TRADER, zipf(N_TRADERS, 1.0), tx.from, 20);
	to_contract(POP_CONTRACT, 12 + zipf(400, 0.8));
	tx.gas_used = 90000 + below(90000);
	if (chance(0.5))
		add_selector((uint32_t) mix64(zipf(300, 1.0) + 1000));
	else
		add_random(4);
	for (int i = 0; i <= hops; i++)
		pick_token(tokens[i]);
	if (chance(0.5))
	{
		for (int i = 0; i < hops; i++)
		{
			add_bytes(tokens[i], 20);
			add_random(20 + below(60));
		}
	}
	else
		add_words(14 + below(40), 0.32);
	for (int i = 0; i < hops; i++)
	{
		unsigned __int128 next = pick_amount();

		log_swap(chance(0.55), tx.to, tx.to, tx.to, tokens[i], tokens[i + 1], amount, next);
		amount = next;
	}
	if (chance(0.3))
		log_deposit(0, tx.to, amount);
	if (chance(0.5))
		log_misc(tx.to);
}

static void
make_nft(void)
{
	uint8_t		user[20];
	uint8_t		zero[20] = {0};
	uint8_t		t1[32];
	uint8_t		t2[32];
	uint8_t		t3[32];
	uint64_t	collection = zipf(4000, 0.95);
	uint64_t	id = below(10000);
	int			minted = 1 + zipf(12, 1.0);

	to_contract(POP_TOKEN, N_TOKENS + collection);
	tx.gas_used = 50000 + below(40000);
	pick_user(user);
	word_address(t2, tx.from);
	if (chance(0.3))
	{
		/* A market: an order with its signature. */
		uint8_t		market[20];

		memcpy(t3, tx.to, 20);
		member(POP_CONTRACT, 500 + zipf(4, 1.0), market, 20);
		memcpy(tx.to, market, 20);
		add_selector(0xfb0f3ee1);
		add_number(32);
		add_words(17, 0.18);
		add_address(t3);
		add_number(id);
		add_random(64);
		add_words(3, 0);
		memcpy(market, t3, 20);
		word_address(t1, user);
		word_number(t3, id);
		emit_log(market, topic_transfer, t1, t2, t3, NULL, 0);
		word_address(t1, user);
		word_address(t3, zero);
		if (!tx.failed)
		{
			uint8_t		data[384];

			for (int i = 0; i < 12; i++)
				word_number(data + 32 * i, i % 3 ? (unsigned __int128) below(400) : pick_amount());
			random_bytes(data, 32);
			emit_log(tx.to, topic_order, t1, t3, NULL, data, 384);
		}
		tx.value = pick_amount();
	}
	else if (chance(0.35))
	{
		add_selector(0xa22cb465);
		member(POP_CONTRACT, 500 + zipf(4, 1.0), user, 20);
		add_address(user);
		add_number(1);
		word_address(t1, user);
		word_number(t3, 1);
		emit_log(tx.to, topic_approval_all, t2, t1, NULL, t3, 32);
	}
	else
	{
		if (minted == 1 && chance(0.5))
		{
			add_selector(0x42842e0e);
			add_address(tx.from);
			add_address(user);
			add_number(id);
			word_address(t1, tx.from);
			word_address(t2, user);
		}
		else
		{
			add_selector(0xa0712d68);
			add_number(minted);
			if (chance(0.4))
				add_words(6 + below(8), 0.8);	/* a Merkle proof */
			word_address(t1, zero);
		}
		for (int i = 0; i < minted; i++)
		{
			word_number(t3, id + i);
			emit_log(tx.to, topic_transfer, t1, t2, t3, NULL, 0);
			tx.gas_used += 2000;
		}
	}
}

static void
make_call(void)
{
	uint64_t	contract = zipf(N_CONTRACTS, 0.97);
	int			logs = chance(0.18) ? 0 : 1 + (int) zipf(10, 0.75);

	to_contract(POP_CONTRACT, 600 + contract);
	add_selector((uint32_t) mix64(zipf(N_SELECTORS, 0.9) + (contract % 7) * 5000));
	if (chance(0.3))
		add_words(1 + below(3), 0.05);
	else
		add_words(4 + (int) zipf(110, 0.62), 0.36);
	tx.gas_used = 30000 + below(120000);
	if (chance(0.2))
		tx.value = pick_amount();
	for (int i = 0; i < logs; i++)
	{
		uint8_t		other[20];

		if (chance(0.33))
		{
			pick_token(other);
			if (chance(0.6))
				log_transfer(other, topic_transfer, tx.from, tx.to, pick_amount());
			else
				log_transfer(other, topic_approval, tx.from, tx.to, pick_amount());
		}
		else
			log_misc(tx.to);
	}
}

/* Batches of rollups, proofs: incompressible, some kilobytes. */
static void
make_batch(void)
{
	int			words = 50 + (int) zipf(450, 0.5);

	to_contract(POP_CONTRACT, 590 + zipf(8, 1.0));
	add_selector((uint32_t) mix64(below(6)));
	add_words(8, 0.2);
	add_random(words / 2 * 32);
	add_words(words / 2, 0.15);
	tx.gas_used = 100000 + 16 * tx.input_len;
	log_misc(tx.to);
}

/* New contracts: code of which large parts have been seen before. */
static void
make_creation(void)
{
	uint64_t	library = below(40);
	int			len = 1200 + (int) below(7000);

	tx.has_to = 0;
	member(POP_CODE, library, tx.input, len);
	tx.input_len = len;
	for (int i = 0; i < len / 96; i++)
		random_bytes(tx.input + below(len - 8), 8);
	add_words(3, 0);
	tx.gas_used = 300000 + 200 * len;
	if (chance(0.5))
		log_misc(tx.from);
}

/* Shares that give mainnet's mix of selectors and topics. */
void
make_body(void)
{
	double		u = uniform();

	if (u < 0.305)
		make_plain();
	else if (u < 0.460)
		make_token_transfer(0);
	else if (u < 0.550)
		make_token_transfer(1);
	else if (u < 0.595)
		make_swap(0);
	else if (u < 0.655)
		make_swap(1);
	else if (u < 0.700)
		make_route();
	else if (u < 0.805)
		make_nft();
	else if (u < 0.964)
		make_call();
	else if (u < 0.9975)
		make_batch();
	else
		make_creation();
}

/* One log of the planted address. */
void
make_rare(void)
{
	to_contract(POP_USER, below(N_USERS));
	add_selector(0xb88d4fde);
	add_words(3, 0);
	tx.gas_used = 60000;
	log_transfer(rare_address, topic_transfer, tx.from, tx.to, pick_amount());
}

static void
topic_of(const char *signature, uint8_t out[32])
{
	keccak256((const uint8_t *) signature, strlen(signature), out);
}

void
calls_start(void)
{
	topic_of("Transfer(address,address,uint256)", topic_transfer);
	topic_of("Approval(address,address,uint256)", topic_approval);
	topic_of("ApprovalForAll(address,address,bool)", topic_approval_all);
	topic_of("Swap(address,uint256,uint256,uint256,uint256,address)", topic_swap2);
	topic_of("Swap(address,address,int256,int256,uint160,uint128,int24)", topic_swap3);
	topic_of("Sync(uint112,uint112)", topic_sync);
	topic_of("Deposit(address,uint256)", topic_deposit);
	topic_of("Withdrawal(address,uint256)", topic_withdrawal);
	topic_of("OrderFulfilled(bytes32,address,address,address)", topic_order);
	member(POP_TOKEN, 0, weth, 20);
	member(POP_TOKEN, 1, usdt, 20);
	member(POP_TOKEN, 2, usdc, 20);
	member(POP_TOKEN, UINT64_C(1) << 40, rare_address, 20);
}
