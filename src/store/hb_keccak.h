/*
 * hb_keccak.h
 *		Keccak-256 as Ethereum uses it, and the bloom of its logs.  Plain C.
 */
#ifndef HB_KECCAK_H
#define HB_KECCAK_H

#include <stddef.h>
#include <stdint.h>

#define HB_KECCAK_LEN	32
#define HB_BLOOM_LEN	256

/*
 * The hash of len bytes: Keccak[c=512] with the original padding (0x01), which
 * is not SHA3-256 of FIPS 202 (0x06).
 */
extern void hb_keccak256(const void *data, size_t len, uint8_t out[HB_KECCAK_LEN]);

/*
 * The three bits that an address or a topic sets in a logs bloom (yellow
 * paper, section 4.3.1): numbers of bits, 0 the lowest of the last byte.  The
 * bloom of logs has the address and every topic of each.
 */
extern void hb_bloom_bits(const void *data, size_t len, uint16_t bits[3]);

static inline void
hb_bloom_set(uint8_t bloom[HB_BLOOM_LEN], const uint16_t bits[3])
{
	for (int i = 0; i < 3; i++)
		bloom[HB_BLOOM_LEN - 1 - bits[i] / 8] |= (uint8_t) (1 << (bits[i] % 8));
}

extern void hb_bloom_add(uint8_t bloom[HB_BLOOM_LEN], const void *data, size_t len);

#endif							/* HB_KECCAK_H */
