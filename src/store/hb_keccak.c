/*
 * hb_keccak.c
 *		Keccak-f[1600] on 64-bit lanes, after the Keccak reference (version 3.0,
 *		2011), with theta, rho, pi and chi joined over the lanes of a round.
 */
#include "store/hb_keccak.h"

#include <string.h>

#define KECCAK_RATE		136		/* bytes a block: 1600 - 2 * 256 bits */
#define KECCAK_ROUNDS	24

static const uint64_t round_constants[KECCAK_ROUNDS] = {
	0x0000000000000001, 0x0000000000008082, 0x800000000000808a,
	0x8000000080008000, 0x000000000000808b, 0x0000000080000001,
	0x8000000080008081, 0x8000000000008009, 0x000000000000008a,
	0x0000000000000088, 0x0000000080008009, 0x000000008000000a,
	0x000000008000808b, 0x800000000000008b, 0x8000000000008089,
	0x8000000000008003, 0x8000000000008002, 0x8000000000000080,
	0x000000000000800a, 0x800000008000000a, 0x8000000080008081,
	0x8000000000008080, 0x0000000080000001, 0x8000000080008008
};

/*
 * The walk of pi over the lanes that starts at lane 1, and the rotation of
 * rho for each step.
 */
static const uint8_t pi_lane[KECCAK_ROUNDS] = {
	10, 7, 11, 17, 18, 3, 5, 16, 8, 21, 24, 4,
	15, 23, 19, 13, 12, 2, 20, 14, 22, 9, 6, 1
};
static const uint8_t rho_bits[KECCAK_ROUNDS] = {
	1, 3, 6, 10, 15, 21, 28, 36, 45, 55, 2, 14,
	27, 41, 56, 8, 25, 43, 62, 18, 39, 61, 20, 44
};

static inline uint64_t
rotate_left(uint64_t v, int n)
{
	return (v << n) | (v >> (64 - n));
}

static void
keccak_permute(uint64_t a[25])
{
	for (int round = 0; round < KECCAK_ROUNDS; round++)
	{
		uint64_t	c[5];
		uint64_t	carry;

		/* theta */
		for (int x = 0; x < 5; x++)
			c[x] = a[x] ^ a[x + 5] ^ a[x + 10] ^ a[x + 15] ^ a[x + 20];
		for (int x = 0; x < 5; x++)
		{
			uint64_t	d = c[(x + 4) % 5] ^ rotate_left(c[(x + 1) % 5], 1);

			for (int y = 0; y < 25; y += 5)
				a[x + y] ^= d;
		}

		/* rho and pi */
		carry = a[1];
		for (int i = 0; i < KECCAK_ROUNDS; i++)
		{
			uint64_t	lane = a[pi_lane[i]];

			a[pi_lane[i]] = rotate_left(carry, rho_bits[i]);
			carry = lane;
		}

		/* chi */
		for (int y = 0; y < 25; y += 5)
		{
			for (int x = 0; x < 5; x++)
				c[x] = a[y + x];
			for (int x = 0; x < 5; x++)
				a[y + x] = c[x] ^ (~c[(x + 1) % 5] & c[(x + 2) % 5]);
		}

		/* iota */
		a[0] ^= round_constants[round];
	}
}

/* Lanes are little-endian whatever the machine is. */
static void
keccak_absorb(uint64_t a[25], const uint8_t *block)
{
	for (int i = 0; i < KECCAK_RATE / 8; i++)
	{
		uint64_t	lane = 0;

		for (int b = 7; b >= 0; b--)
			lane = (lane << 8) | block[i * 8 + b];
		a[i] ^= lane;
	}
	keccak_permute(a);
}

void
hb_keccak256(const void *data, size_t len, uint8_t out[HB_KECCAK_LEN])
{
	const uint8_t *p = data;
	uint64_t	a[25] = {0};
	uint8_t		last[KECCAK_RATE] = {0};

	for (; len >= KECCAK_RATE; p += KECCAK_RATE, len -= KECCAK_RATE)
		keccak_absorb(a, p);
	if (len > 0)
		memcpy(last, p, len);
	last[len] = 0x01;
	last[KECCAK_RATE - 1] |= 0x80;
	keccak_absorb(a, last);

	for (int i = 0; i < HB_KECCAK_LEN; i++)
		out[i] = (uint8_t) (a[i / 8] >> (8 * (i % 8)));
}

void
hb_bloom_add(uint8_t bloom[HB_BLOOM_LEN], const void *data, size_t len)
{
	uint8_t		hash[HB_KECCAK_LEN];

	hb_keccak256(data, len, hash);
	for (int i = 0; i < 6; i += 2)
	{
		int			bit = ((hash[i] << 8) | hash[i + 1]) & 2047;

		/* bit 0 is the lowest bit of the last byte */
		bloom[HB_BLOOM_LEN - 1 - bit / 8] |= (uint8_t) (1 << (bit % 8));
	}
}
