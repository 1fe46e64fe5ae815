/*
 * gen.h
 *		What the parts of the data generator share; generate.c tells of it.
 *
 *	 gen_basic.c	random numbers, populations, Keccak and blooms, output
 *	 gen_calls.c	call data and logs of each kind of transaction
 *	 generate.c		rows of transactions and blocks, the program
 */
#ifndef GEN_H
#define GEN_H

#include <stdint.h>
#include <stdio.h>

#define N_TOKENS		20000
#define N_POOLS			9000
#define N_CONTRACTS		30000
#define N_USERS			600000
#define N_TRADERS		2500	/* bots and exchanges that send a lot */
#define N_EVENTS		700
#define N_SELECTORS		3000
#define N_RECENT		8192	/* wallets seen lately: they come again */

/* Populations: sets of byte strings, each known by its index. */
enum
{
	POP_USER = 1, POP_TRADER, POP_TOKEN, POP_POOL, POP_CONTRACT, POP_EVENT,
	POP_SELECTOR, POP_BUILDER, POP_ID, POP_CODE
};

extern uint64_t gen_seed;

extern void rnd_start(uint64_t seed);
extern uint64_t mix64(uint64_t x);
extern uint64_t rnd(void);
extern double uniform(void);
extern uint64_t below(uint64_t n);
extern int	chance(double p);
extern uint64_t zipf(uint64_t n, double s);
extern void random_bytes(uint8_t *out, int n);
extern void member(int population, uint64_t i, uint8_t *out, int n);

extern void keccak256(const uint8_t *data, size_t len, uint8_t out[32]);
extern void bloom_add(uint8_t bloom[256], const uint8_t *item, int len);

typedef struct Out
{
	FILE	   *file;
	uint64_t	rows;
} Out;

extern Out	blocks_out;
extern Out	txs_out;
extern Out	logs_out;

extern void out_open(Out *out, const char *dir, const char *name);
extern void out_close(Out *out);
extern void put_hex(Out *out, const uint8_t *data, int len);
extern void put_null(Out *out);
extern void put_format(Out *out, const char *format,...)
			__attribute__((format(printf, 2, 3)));
extern void put_int(Out *out, int64_t value);
extern void put_u128(Out *out, unsigned __int128 value);
extern void put_time(Out *out, int64_t t);

/* The transaction that is being made. */
typedef struct Tx
{
	int64_t		block;
	int64_t		time;
	int			index;
	uint8_t		hash[32];
	uint8_t		from[20];
	uint8_t		to[20];
	int			has_to;
	uint8_t		input[65536];
	int			input_len;
	unsigned __int128 value;
	int64_t		gas_used;
	int			failed;			/* reverted: it has no logs */
	uint8_t		bloom[256];
} Tx;

extern Tx	tx;
extern int	log_index;			/* in the block */
extern uint8_t topic_transfer[32];
extern uint8_t usdt[20];		/* the hot address that the queries ask for */
extern uint8_t rare_address[20];

extern void calls_start(void);
extern void pick_user(uint8_t out[20]);
extern void make_body(void);
extern void make_rare(void);

#endif							/* GEN_H */
