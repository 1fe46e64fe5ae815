/*
 * hb_keccak.c
 *		Keccak-f[1600] on 64-bit lanes, after the Keccak reference (version 3.0,
 *		2011).
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

static inline uint64_t
rotate_left(uint64_t v, int n)
{
	return (v << n) | (v >> (64 - n));
}

/*
 * One round from lanes a to lanes b (rho and pi move the lanes, so chi reads
 * from a copy).  Written out, as a compiler at -O2 does not unroll it, and
 * lanes in an indexed array stay in memory.
 */
static void
keccak_permute(uint64_t a[25])
{
	for (int round = 0; round < KECCAK_ROUNDS; round++)
	{
		uint64_t	b[25];
		uint64_t	c0 = a[0] ^ a[5] ^ a[10] ^ a[15] ^ a[20];
		uint64_t	c1 = a[1] ^ a[6] ^ a[11] ^ a[16] ^ a[21];
		uint64_t	c2 = a[2] ^ a[7] ^ a[12] ^ a[17] ^ a[22];
		uint64_t	c3 = a[3] ^ a[8] ^ a[13] ^ a[18] ^ a[23];
		uint64_t	c4 = a[4] ^ a[9] ^ a[14] ^ a[19] ^ a[24];
		uint64_t	d0 = c4 ^ rotate_left(c1, 1);
		uint64_t	d1 = c0 ^ rotate_left(c2, 1);
		uint64_t	d2 = c1 ^ rotate_left(c3, 1);
		uint64_t	d3 = c2 ^ rotate_left(c4, 1);
		uint64_t	d4 = c3 ^ rotate_left(c0, 1);

		/* theta, rho and pi: lane (x, y) goes to (y, 2x + 3y) */
		b[0] = a[0] ^ d0;
		b[10] = rotate_left(a[1] ^ d1, 1);
		b[20] = rotate_left(a[2] ^ d2, 62);
		b[5] = rotate_left(a[3] ^ d3, 28);
		b[15] = rotate_left(a[4] ^ d4, 27);
		b[16] = rotate_left(a[5] ^ d0, 36);
		b[1] = rotate_left(a[6] ^ d1, 44);
		b[11] = rotate_left(a[7] ^ d2, 6);
		b[21] = rotate_left(a[8] ^ d3, 55);
		b[6] = rotate_left(a[9] ^ d4, 20);
		b[7] = rotate_left(a[10] ^ d0, 3);
		b[17] = rotate_left(a[11] ^ d1, 10);
		b[2] = rotate_left(a[12] ^ d2, 43);
		b[12] = rotate_left(a[13] ^ d3, 25);
		b[22] = rotate_left(a[14] ^ d4, 39);
		b[23] = rotate_left(a[15] ^ d0, 41);
		b[8] = rotate_left(a[16] ^ d1, 45);
		b[18] = rotate_left(a[17] ^ d2, 15);
		b[3] = rotate_left(a[18] ^ d3, 21);
		b[13] = rotate_left(a[19] ^ d4, 8);
		b[14] = rotate_left(a[20] ^ d0, 18);
		b[24] = rotate_left(a[21] ^ d1, 2);
		b[9] = rotate_left(a[22] ^ d2, 61);
		b[19] = rotate_left(a[23] ^ d3, 56);
		b[4] = rotate_left(a[24] ^ d4, 14);

		/* chi */
		for (int y = 0; y < 25; y += 5)
		{
			a[y] = b[y] ^ (~b[y + 1] & b[y + 2]);
			a[y + 1] = b[y + 1] ^ (~b[y + 2] & b[y + 3]);
			a[y + 2] = b[y + 2] ^ (~b[y + 3] & b[y + 4]);
			a[y + 3] = b[y + 3] ^ (~b[y + 4] & b[y]);
			a[y + 4] = b[y + 4] ^ (~b[y] & b[y + 1]);
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
hb_bloom_bits(const void *data, size_t len, uint16_t bits[3])
{
	uint8_t		hash[HB_KECCAK_LEN];

	hb_keccak256(data, len, hash);
	for (int i = 0; i < 3; i++)
		bits[i] = (uint16_t) (((hash[2 * i] << 8) | hash[2 * i + 1]) & 2047);
}

void
hb_bloom_add(uint8_t bloom[HB_BLOOM_LEN], const void *data, size_t len)
{
	uint16_t	bits[3];

	hb_bloom_bits(data, len, bits);
	hb_bloom_set(bloom, bits);
}
