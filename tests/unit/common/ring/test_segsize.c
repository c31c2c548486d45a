/* SPDX-License-Identifier: Apache-2.0 */
/* Classes of sizes and the extents of calls, as the lm reads them, and as an enemy leaves them. */
#include "common/base/array.h"
#include "common/ring/calls_id.h"
#include "tests/suite.h"
#include "tests/unit/common/ring/made.h"

#include <string.h>

static struct made m;
static struct segview *view;
static struct segview_size last;

static void open_view(void)
{
	struct err e = { 0 };

	made_init(&m, 2, SEG_RING_MIN_BYTES);
	ck_assert_msg(!segview_over(m.p, m.n, &view, &e), "%s", e.text);
}

static void close_view(void)
{
	segview_free(view);
	made_done(&m);
}

static struct seg_size *size_at(unsigned i)
{
	return (struct seg_size *)(void *)((uint8_t *)made_thread(&m, 0) + m.plan.size_offset) + i;
}

static struct seg_extent *extent_at(unsigned thread, unsigned func)
{
	return (struct seg_extent *)(void *)((uint8_t *)made_thread(&m, thread) +
					     m.plan.extent_offset) +
	       func;
}

static void on_size(void *arg, const struct segview_size *s)
{
	last = *s;
}

static uint64_t key_of(uint64_t func, uint64_t class)
{
	return (func + 1) << 32 | class;
}

TEST(each_number_of_bytes_has_a_class_and_is_not_below_its_least)
{
	static const struct {
		uint64_t bytes;
		unsigned class;
	} row[] = { { 0, 0 },
		    { 1, 1 },
		    { 2, 2 },
		    { 3, 2 },
		    { 4, 3 },
		    { 1023, 10 },
		    { 1024, 11 },
		    { (UINT64_C(1) << 30) - 1, 30 },
		    { UINT64_C(1) << 30, 31 },
		    { UINT64_MAX, 31 } };

	for (size_t i = 0; i < ARRAY_LEN(row); i++) {
		ck_assert_uint_eq(seg_size_class(row[i].bytes), row[i].class);
		ck_assert_uint_le(seg_size_from(row[i].class), row[i].bytes);
		if (row[i].class + 1 < SEG_SIZE_CLASSES)
			ck_assert_uint_gt(seg_size_from(row[i].class + 1), row[i].bytes);
	}
}

TEST(a_size_is_what_its_thread_has_written)
{
	*size_at(9) = (struct seg_size){ key_of(CALL_ID_Send, 4), 3, 30, 5 };
	ck_assert_int_eq(segview_sizes(view, 0, on_size, NULL), 1);
	ck_assert_uint_eq(last.func, CALL_ID_Send);
	ck_assert_uint_eq(last.class, 4);
	ck_assert_uint_eq(last.count, 3);
	ck_assert_uint_eq(last.bytes, 30);
	ck_assert_uint_eq(last.delay, 5);
	ck_assert_int_eq(segview_sizes(view, 1, on_size, NULL), 0);
	ck_assert_int_eq(segview_sizes(view, 2, on_size, NULL), -ERR_INVALID);
}

TEST(sizes_that_make_no_sense_are_not_there)
{
	size_at(0)->key = key_of(CALL_COUNT, 1);
	size_at(1)->key = key_of(CALL_ID_Send, SEG_SIZE_CLASSES);
	size_at(2)->key = UINT64_MAX;
	size_at(3)->key = 7; /* of function -1 */
	ck_assert_int_eq(segview_sizes(view, 0, on_size, NULL), 0);
}

TEST(the_extent_of_a_call_is_that_of_all_threads)
{
	struct segview_call c;

	made_thread(&m, 0)->tid = 1;
	made_thread(&m, 1)->tid = 2;
	ck_assert_int_eq(segview_call(view, SEGVIEW_ALL, CALL_ID_Send, 0, &c), 0);
	ck_assert_uint_eq(c.shortest, 0);
	ck_assert_uint_eq(c.longest, 0);
	*extent_at(0, CALL_ID_Send) = (struct seg_extent){ 50, ~UINT64_C(20) };
	*extent_at(1, CALL_ID_Send) = (struct seg_extent){ 40, ~UINT64_C(10) };
	ck_assert_int_eq(segview_call(view, SEGVIEW_ALL, CALL_ID_Send, 0, &c), 0);
	ck_assert_uint_eq(c.shortest, 10);
	ck_assert_uint_eq(c.longest, 50);
	ck_assert_int_eq(segview_call(view, 0, CALL_ID_Send, 0, &c), 0);
	ck_assert_uint_eq(c.shortest, 20);
}

SUITE_WITH("segment sizes", open_view, close_view)
