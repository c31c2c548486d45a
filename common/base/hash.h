/* SPDX-License-Identifier: Apache-2.0 */
/* Keyed hashes for tables with untrusted keys, and a plain one for numbers of our own. */
#ifndef COMMON_BASE_HASH_H
#define COMMON_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

struct hash_key {
	uint64_t k0, k1;
};

/* SipHash-1-3 (tables) and SipHash-2-4 (the published vectors). */
uint64_t hash_sip13(const struct hash_key *key, const void *p, size_t n);
/* SipHash-1-3 of the number's 8 bytes, little-endian */
uint64_t hash_sip13_u64(const struct hash_key *key, uint64_t n);
uint64_t hash_sip24(const struct hash_key *key, const void *p, size_t n);

/* A bijection that mixes all bits (splitmix64's finaliser). Not keyed. */
uint64_t hash_mix64(uint64_t v);

/* CRC-32C, as in records and segments. Start with crc 0, and pass pieces in order. */
uint32_t hash_crc32c(uint32_t crc, const void *p, size_t n);

/* CRC-32C without the processor's instruction, for processors that lack it, and for tests. */
uint32_t hash_crc32c_by_table(uint32_t crc, const void *p, size_t n);

#endif
