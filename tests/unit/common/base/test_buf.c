/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/buf.h"
#include "common/base/array.h"
#include "common/base/cur.h"
#include "common/base/err.h"
#include "common/base/rng.h"
#include "tests/alloc_sweep.h"
#include "tests/suite.h"

#include <string.h>

TEST(the_cap_holds_exactly)
{
	for (size_t max = 0; max < 200; max++) {
		struct buf b = BUF_INIT(max);

		for (size_t i = 0; i < max; i++)
			ck_assert_int_eq(buf_putc(&b, 'x'), 0);
		ck_assert(!b.failed);
		ck_assert_uint_eq(b.n, max);
		ck_assert_int_eq(buf_putc(&b, 'x'), -ERR_LIMIT);
		ck_assert(b.failed);
		ck_assert_uint_eq(b.n, max);
		buf_done(&b);
	}
}

TEST(failure_sticks_until_the_buffer_is_cleared)
{
	struct buf b = BUF_INIT(4);

	ck_assert_int_eq(buf_puts(&b, "abc"), 0);
	ck_assert_int_lt(buf_puts(&b, "de"), 0);
	ck_assert_int_lt(buf_putc(&b, 'd'), 0); /* would fit */
	ck_assert_ptr_null(buf_take(&b, NULL));
	ck_assert_str_eq(buf_str(&b), "abc");
	buf_clear(&b);
	ck_assert_int_eq(buf_puts(&b, "wxyz"), 0);
	ck_assert_str_eq(buf_str(&b), "wxyz");
	buf_done(&b);
}

TEST(a_huge_request_does_not_wrap_around)
{
	struct buf b = BUF_INIT(SIZE_MAX - 1);

	buf_puts(&b, "abc");
	ck_assert_int_lt(buf_reserve(&b, SIZE_MAX), 0);
	buf_clear(&b);
	ck_assert_int_lt(buf_reserve(&b, SIZE_MAX - 2), 0);
	buf_done(&b);
}

TEST(a_buffer_can_put_its_own_bytes)
{
	struct buf b = BUF_INIT(1 << 20);

	buf_puts(&b, "0123456789");
	for (int i = 0; i < 12; i++)
		ck_assert_int_eq(buf_put(&b, b.p, b.n), 0);
	ck_assert_uint_eq(b.n, 10u << 12);
	for (size_t i = 0; i < b.n; i++)
		ck_assert_int_eq(b.p[i], '0' + (int)(i % 10));
	buf_done(&b);
}

TEST(taken_bytes_belong_to_the_caller)
{
	struct buf b = BUF_INIT(100);
	uint8_t *p;
	size_t n = 9;

	p = buf_take(&b, &n);
	ck_assert_ptr_nonnull(p);
	ck_assert_uint_eq(n, 0);
	ck_assert_int_eq(p[0], 0);
	free(p);
	buf_printf(&b, "%s-%d", "a", 5);
	p = buf_take(&b, &n);
	ck_assert_uint_eq(n, 3);
	ck_assert_str_eq((char *)p, "a-5");
	ck_assert_uint_eq(b.n, 0);
	ck_assert_str_eq(buf_str(&b), "");
	free(p);
	buf_done(&b);
}

TEST(the_front_can_be_dropped)
{
	struct buf b = BUF_INIT(100);

	buf_drop_front(&b, 3);
	buf_puts(&b, "abcdef");
	buf_drop_front(&b, 2);
	ck_assert_str_eq(buf_str(&b), "cdef");
	buf_drop_front(&b, 100);
	ck_assert_uint_eq(b.n, 0);
	ck_assert_str_eq(buf_str(&b), "");
	buf_done(&b);
}

/* Against a plain array, with random operations. */
TEST(random_operations_agree_with_a_model)
{
	enum { MAX = 3000 };
	static uint8_t model[MAX];
	struct buf b = BUF_INIT(MAX);
	struct rng r;
	size_t n = 0;

	rng_init(&r, suite_seed(1));
	for (int i = 0; i < 20000; i++) {
		uint8_t some[40];
		size_t len = rng_below(&r, sizeof(some));

		for (size_t k = 0; k < len; k++)
			some[k] = (uint8_t)rng_next(&r);
		if (rng_below(&r, 3) == 0) {
			size_t k = len < n ? len : n;

			buf_drop_front(&b, len);
			memmove(model, model + k, n - k);
			n -= k;
		} else if (n + len <= MAX) {
			ck_assert_int_eq(buf_put(&b, some, len), 0);
			memcpy(model + n, some, len);
			n += len;
		} else {
			ck_assert_int_eq(buf_put(&b, some, len), -ERR_LIMIT);
			buf_clear(&b);
			n = 0;
		}
		ck_assert_uint_eq(b.n, n);
		ck_assert(n == 0 || memcmp(b.p, model, n) == 0);
		ck_assert(!b.p || b.p[b.n] == 0);
		ck_assert_uint_le(b.n, b.max);
	}
	buf_done(&b);
}

TEST(numbers_return_through_a_cursor)
{
	static const uint64_t values[] = { 0,	      1,     127,	 128,
					   16383,     16384, UINT32_MAX, UINT64_MAX / 2,
					   UINT64_MAX };

	for (size_t i = 0; i < ARRAY_LEN(values); i++) {
		struct buf b = BUF_INIT(100);
		struct cur c;

		buf_putc(&b, (uint8_t)values[i]);
		buf_put_u16le(&b, (uint16_t)values[i]);
		buf_put_u32le(&b, (uint32_t)values[i]);
		buf_put_u64le(&b, values[i]);
		buf_put_varint(&b, values[i]);
		cur_init(&c, b.p, b.n);
		ck_assert_uint_eq(cur_u8(&c), (uint8_t)values[i]);
		ck_assert_uint_eq(cur_u16le(&c), (uint16_t)values[i]);
		ck_assert_uint_eq(cur_u32le(&c), (uint32_t)values[i]);
		ck_assert_uint_eq(cur_u64le(&c), values[i]);
		ck_assert_uint_eq(cur_varint(&c), values[i]);
		ck_assert(cur_is_done(&c));
		buf_done(&b);
	}
}

TEST(out_of_memory_leaves_the_bytes_as_they_were)
{
	ALLOC_SWEEP (k) {
		struct buf b = BUF_INIT(10000);
		size_t whole = 0;

		for (int i = 0; i < 100 && !b.failed; i++)
			if (!buf_printf(&b, "%064d", i))
				whole = b.n;
		alloc_sweep_pause();
		ck_assert_uint_eq(b.n, whole);
		ck_assert_int_eq(b.failed, alloc_sweep_has_failed());
		buf_done(&b);
	}
}

SUITE("buf")
