/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/cur.h"
#include "common/base/rng.h"
#include "tests/suite.h"

#include <string.h>

TEST(little_endian_is_read_byte_by_byte)
{
	static const uint8_t raw[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };
	struct cur c;

	cur_init(&c, raw, sizeof(raw));
	ck_assert_uint_eq(cur_u8(&c), 1);
	ck_assert_uint_eq(cur_u16le(&c), 0x0302);
	ck_assert_uint_eq(cur_u32le(&c), 0x07060504);
	ck_assert_uint_eq(cur_u64le(&c), 0x0f0e0d0c0b0a0908);
	ck_assert(cur_is_done(&c));
}

TEST(a_short_read_fails_for_good)
{
	struct cur c;

	cur_init(&c, "abc", 3);
	ck_assert_uint_eq(cur_u32le(&c), 0);
	ck_assert(c.failed);
	ck_assert_uint_eq(cur_u8(&c), 0); /* would fit */
	ck_assert_ptr_null(cur_bytes(&c, 0));
	ck_assert_uint_eq(cur_left(&c), 0);
	ck_assert(!cur_is_done(&c));
}

TEST(a_length_near_the_end_of_memory_does_not_wrap)
{
	struct cur c;

	cur_init(&c, "abcdef", 6);
	cur_bytes(&c, 2);
	ck_assert_ptr_null(cur_bytes(&c, SIZE_MAX));
	cur_init(&c, "abcdef", 6);
	cur_bytes(&c, 2);
	ck_assert_ptr_null(cur_bytes(&c, SIZE_MAX - 1));
	ck_assert(c.failed);
}

TEST(no_input_is_an_empty_input)
{
	struct cur c;

	cur_init(&c, NULL, 5);
	ck_assert(cur_is_done(&c));
	ck_assert_ptr_nonnull(cur_bytes(&c, 0));
	cur_bytes(&c, 1);
	ck_assert(c.failed);
}

static bool varint_is(const void *p, size_t n, uint64_t want)
{
	struct cur c;
	uint64_t v;

	cur_init(&c, p, n);
	v = cur_varint(&c);
	return cur_is_done(&c) && v == want;
}

TEST(varints_have_ten_bytes_at_most)
{
	ck_assert(varint_is("\x00", 1, 0));
	ck_assert(varint_is("\xac\x02", 2, 300));
	ck_assert(varint_is("\x80\x00", 2, 0)); /* padded */
	ck_assert(varint_is("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10, UINT64_MAX));
	ck_assert(!varint_is("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10,
			     UINT64_MAX)); /* bit 64 */
	ck_assert(!varint_is("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x81\x00", 11, UINT64_MAX));
	ck_assert(!varint_is("\x80", 1, 0));
	ck_assert(!varint_is("", 0, 0));
}

/* In any order, reads never pass the end and return the bytes there. */
TEST(random_reads_agree_with_a_model)
{
	struct rng r;

	rng_init(&r, suite_seed(2));
	for (int round = 0; round < 2000; round++) {
		size_t n = rng_below(&r, 64), at = 0;
		uint8_t *raw = malloc(n + 1);
		bool failed = false;
		struct cur c;

		for (size_t i = 0; i < n; i++)
			raw[i] = (uint8_t)rng_next(&r);
		cur_init(&c, raw, n);
		for (int i = 0; i < 20; i++) {
			size_t want = rng_below(&r, 12);
			const uint8_t *p = cur_bytes(&c, want);

			failed |= want > n - at;
			ck_assert_int_eq(c.failed, failed);
			ck_assert_ptr_eq(p, failed ? NULL : raw + at);
			at += failed ? 0 : want;
			ck_assert_uint_eq(cur_left(&c), failed ? 0 : n - at);
		}
		free(raw);
	}
}

SUITE("cur")
