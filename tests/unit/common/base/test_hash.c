/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/hash.h"
#include "common/base/array.h"
#include "common/base/rng.h"
#include "tests/suite.h"

#include <string.h>

TEST(siphash_gives_the_published_vectors)
{
	static const struct {
		size_t n;
		uint64_t want;
	} vectors[] = {
		/* key and input are 00 01 02 ...: appendix of the paper, and the reference code's
		   list */
		{ 0, 0x726fdb47dd0e0e31 }, { 1, 0x74f839c593dc67fd },  { 7, 0xab0200f58b01d137 },
		{ 8, 0x93f5f5799a932462 }, { 15, 0xa129ca6149be45e5 },
	};
	struct hash_key key = { 0x0706050403020100, 0x0f0e0d0c0b0a0908 };
	uint8_t in[16];

	for (uint8_t i = 0; i < sizeof(in); i++)
		in[i] = i;
	for (size_t i = 0; i < ARRAY_LEN(vectors); i++)
		ck_assert_uint_eq(hash_sip24(&key, in, vectors[i].n), vectors[i].want);
	ck_assert_uint_ne(hash_sip13(&key, in, 15), hash_sip24(&key, in, 15));
}

TEST(another_key_gives_another_hash)
{
	struct hash_key a = { 1, 2 }, b = { 1, 3 };

	ck_assert_uint_ne(hash_sip13(&a, "x", 1), hash_sip13(&b, "x", 1));
	ck_assert_uint_ne(hash_sip13(&a, "x", 1), hash_sip13(&a, "x\0", 2));
}

TEST(a_number_hashes_as_its_little_endian_bytes)
{
	struct hash_key key = { 0x0706050403020100, 0x0f0e0d0c0b0a0908 };
	const uint8_t bytes[8] = { 1, 2, 3, 4, 5, 6, 7, 0xf8 };

	ck_assert_uint_eq(hash_sip13_u64(&key, 0xf807060504030201), hash_sip13(&key, bytes, 8));
}

TEST(no_two_tables_have_one_key)
{
	struct hash_key key[64];

	for (size_t i = 0; i < 64; i++) {
		rng_draw_key(&key[i]);
		ck_assert_uint_ne(key[i].k0, 0); /* 2^-64: the seed is random */
		for (size_t k = 0; k < i; k++)
			ck_assert(memcmp(&key[i], &key[k], sizeof(key[i])) != 0);
	}
}

TEST(crc32c_gives_the_published_vectors_in_any_chunks)
{
	uint8_t zeros[32] = { 0 }, ones[32];

	memset(ones, 0xff, sizeof(ones));
	ck_assert_uint_eq(hash_crc32c(0, "123456789", 9), 0xe3069283);
	ck_assert_uint_eq(hash_crc32c(0, zeros, 32), 0x8a9136aa); /* RFC 3720, B.4 */
	ck_assert_uint_eq(hash_crc32c(0, ones, 32), 0x62a8ab43);
	for (size_t cut = 0; cut <= 9; cut++)
		ck_assert_uint_eq(
			hash_crc32c(hash_crc32c(0, "123456789", cut), &"123456789"[cut], 9 - cut),
			0xe3069283);
}

/* Computed bit by bit, from the polynomial. */
static uint32_t crc_by_definition(const uint8_t *p, size_t n)
{
	uint32_t crc = UINT32_MAX;

	for (size_t i = 0; i < n; i++) {
		crc ^= p[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc & 1 ? crc >> 1 ^ 0x82f63b78 : crc >> 1;
	}
	return ~crc;
}

TEST(crc32c_is_the_same_at_every_length_and_place)
{
	uint8_t all[96];

	for (size_t i = 0; i < sizeof(all); i++)
		all[i] = (uint8_t)(i * 151 + 7);
	for (size_t from = 0; from < 16; from++)
		for (size_t n = 0; from + n <= sizeof(all); n++) {
			uint32_t want = crc_by_definition(all + from, n);

			ck_assert_uint_eq(hash_crc32c(0, all + from, n), want);
			ck_assert_uint_eq(hash_crc32c_by_table(0, all + from, n), want);
		}
}

TEST(mixing_loses_nothing)
{
	ck_assert_uint_eq(hash_mix64(0), 0);
	for (unsigned i = 0; i < 64; i++)
		for (unsigned k = 0; k < i; k++)
			ck_assert_uint_ne(hash_mix64(UINT64_C(1) << i),
					  hash_mix64(UINT64_C(1) << k));
}

TEST(the_generator_is_repeatable_and_even)
{
	unsigned count[7] = { 0 };
	struct rng a, b;
	uint64_t v;

	rng_init(&a, 0);
	rng_init(&b, 0);
	for (int i = 0; i < 70000; i++) {
		v = rng_below(&a, 7);
		ck_assert_uint_lt(v, 7);
		ck_assert_uint_eq(v, rng_below(&b, 7));
		count[v]++;
	}
	for (int i = 0; i < 7; i++)
		ck_assert_msg(count[i] > 9000 && count[i] < 11000, "%d came %u times", i, count[i]);
	for (int i = 0; i < 1000; i++) {
		double d = rng_double(&a);

		ck_assert(d >= 0 && d < 1);
	}
	ck_assert_uint_eq(rng_below(&a, 1), 0);
	rng_init(&b, 1);
	ck_assert_uint_ne(rng_next(&a), rng_next(&b));
}

/* Bound 3 * 2^62: a plain modulo would return the lowest third of the numbers twice as often. */
TEST(a_large_bound_favours_no_number)
{
	const uint64_t n = UINT64_C(3) << 62;
	unsigned low = 0;
	struct rng r;

	rng_init(&r, 5);
	for (int i = 0; i < 9000; i++) {
		uint64_t v = rng_below(&r, n);

		ck_assert_uint_lt(v, n);
		low += v < n / 3;
	}
	ck_assert_msg(low > 2700 && low < 3300, "%u of 9000", low);
}

TEST(doubles_are_even)
{
	unsigned count[8] = { 0 };
	struct rng r;

	rng_init(&r, 6);
	for (int i = 0; i < 8000; i++)
		count[(unsigned)(rng_double(&r) * 8)]++;
	for (int i = 0; i < 8; i++)
		ck_assert_msg(count[i] > 850 && count[i] < 1150, "%d: %u", i, count[i]);
}

TEST(xoshiro_gives_the_reference_sequence)
{
	/* From the state 1 2 3 4, by the authors' C code. */
	static const uint64_t want[] = { 11520, 0, 1509978240, 1215971899390074240 };
	struct rng r = { { 1, 2, 3, 4 } };

	for (size_t i = 0; i < ARRAY_LEN(want); i++)
		ck_assert_uint_eq(rng_next(&r), want[i]);
}

TEST(secret_bytes_differ)
{
	uint8_t a[300] = { 0 }, b[300] = { 0 };

	ck_assert_int_eq(rng_fill_random(a, sizeof(a), NULL), 0);
	ck_assert_int_eq(rng_fill_random(b, sizeof(b), NULL), 0);
	ck_assert(memcmp(a, b, sizeof(a)) != 0);
	ck_assert(memcmp(a + 256, (uint8_t[44]){ 0 }, 44) != 0);
}

SUITE("hash")
