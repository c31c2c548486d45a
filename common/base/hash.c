/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/hash.h"

#include <endian.h>
#include <string.h>

static inline uint64_t rotl(uint64_t v, unsigned n)
{
	return v << n | v >> (64 - n);
}

static inline void sip_round(uint64_t v[4])
{
	v[0] += v[1];
	v[1] = rotl(v[1], 13) ^ v[0];
	v[0] = rotl(v[0], 32);
	v[2] += v[3];
	v[3] = rotl(v[3], 16) ^ v[2];
	v[0] += v[3];
	v[3] = rotl(v[3], 21) ^ v[0];
	v[2] += v[1];
	v[1] = rotl(v[1], 17) ^ v[2];
	v[2] = rotl(v[2], 32);
}

static inline void sip_word(uint64_t v[4], uint64_t word, unsigned rounds)
{
	v[3] ^= word;
	for (unsigned r = 0; r < rounds; r++)
		sip_round(v);
	v[0] ^= word;
}

/*
 * SipHash by Aumasson and Bernstein, "SipHash: a fast short-input PRF". Inline, so that the numbers
 * of rounds are constants.
 */
static inline __attribute__((always_inline)) uint64_t sip(const struct hash_key *key, const void *p,
							  size_t n, unsigned rounds, unsigned final)
{
	uint64_t v[4] = { key->k0 ^ 0x736f6d6570736575, key->k1 ^ 0x646f72616e646f6d,
			  key->k0 ^ 0x6c7967656e657261, key->k1 ^ 0x7465646279746573 };
	uint64_t last = 0, word;
	const uint8_t *at = p;

	for (size_t left = n / 8; left; left--, at += 8) {
		memcpy(&word, at, 8);
		sip_word(v, le64toh(word), rounds);
	}
	memcpy(&last, at, n % 8);
	sip_word(v, le64toh(last) | (uint64_t)n << 56, rounds);
	v[2] ^= 0xff;
	for (unsigned r = 0; r < final; r++)
		sip_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

uint64_t hash_sip13(const struct hash_key *key, const void *p, size_t n)
{
	return sip(key, p, n, 1, 3);
}

uint64_t hash_sip13_u64(const struct hash_key *key, uint64_t n)
{
	n = htole64(n);
	return sip(key, &n, sizeof(n), 1, 3);
}

uint64_t hash_sip24(const struct hash_key *key, const void *p, size_t n)
{
	return sip(key, p, n, 2, 4);
}

uint64_t hash_mix64(uint64_t v)
{
	v = (v ^ v >> 30) * 0xbf58476d1ce4e5b9;
	v = (v ^ v >> 27) * 0x94d049bb133111eb;
	return v ^ v >> 31;
}

/*
 * A table of sixteen entries fits two cache lines, and needs two steps for each byte. Polynomial
 * 0x82f63b78.
 */
static const uint32_t crc_nibble[16] = {
	0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3,
	0x61c69362, 0x7198540d, 0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9,
	0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
};

uint32_t hash_crc32c_by_table(uint32_t crc, const void *p, size_t n)
{
	const uint8_t *b = p;

	crc = ~crc;
	for (size_t i = 0; i < n; i++) {
		crc ^= b[i];
		crc = crc >> 4 ^ crc_nibble[crc & 15];
		crc = crc >> 4 ^ crc_nibble[crc & 15];
	}
	return ~crc;
}

#if defined(__x86_64__)
/*
 * Uses the processor's instruction: 8 bytes in three cycles, for which the table needs about forty.
 */
__attribute__((target("sse4.2"))) static uint32_t crc_by_instruction(uint32_t crc, const uint8_t *b,
								     size_t n)
{
	uint64_t wide = crc, word;

	for (; n >= sizeof(word); b += sizeof(word), n -= sizeof(word)) {
		memcpy(&word, b, sizeof(word));
		wide = __builtin_ia32_crc32di(wide, word);
	}
	for (crc = (uint32_t)wide; n; b++, n--)
		crc = __builtin_ia32_crc32qi(crc, *b);
	return crc;
}
#endif

uint32_t hash_crc32c(uint32_t crc, const void *p, size_t n)
{
#if defined(__x86_64__)
	if (__builtin_cpu_supports("sse4.2"))
		return ~crc_by_instruction(~crc, p, n);
#endif
	return hash_crc32c_by_table(crc, p, n);
}
