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
 * Sets the three bits of an address or a topic in a logs bloom (yellow paper,
 * section 4.3.1).  The bloom of logs has the address and every topic of each.
 */
extern void hb_bloom_add(uint8_t bloom[HB_BLOOM_LEN], const void *data, size_t len);

#endif							/* HB_KECCAK_H */
