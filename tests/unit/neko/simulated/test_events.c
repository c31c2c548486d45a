/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/rng.h"
#include "neko/simulated/events.h"
#include "tests/suite.h"

#include <stdlib.h>

#define N 5000

static int compare(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	return x->at != y->at ? (x->at < y->at ? -1 : 1) : x->seq < y->seq ? -1 : x->seq > y->seq;
}

static bool is_odd(void *arg, const struct event *v)
{
	return v->seq % 2 != 0;
}

TEST(events_come_by_time_and_then_by_number)
{
	static struct event expected[N];
	struct events q = { 0 };
	struct rng r;

	rng_init(&r, suite_seed(1));
	for (size_t i = 0; i < N; i++) {
		expected[i] = (struct event){ .at = (nsec_t)rng_below(&r, 50), .seq = i };
		ck_assert_int_eq(events_add(&q, &expected[i]), 0);
	}
	qsort(expected, N, sizeof(*expected), compare);
	for (size_t i = 0; i < N; i++) {
		struct event v = events_take(&q);

		ck_assert_uint_eq(v.seq, expected[i].seq);
	}
	ck_assert_ptr_null(events_first(&q));
	events_done(&q);
}

TEST(sift_removes_stale_events_and_keeps_the_order)
{
	struct events q = { 0 };
	struct event last = { 0 }, v;
	struct rng r;
	size_t n = 0;

	rng_init(&r, suite_seed(2));
	for (size_t i = 0; i < N; i++) {
		v = (struct event){ .at = (nsec_t)rng_below(&r, 50), .seq = i + 1 };
		ck_assert_int_eq(events_add(&q, &v), 0);
	}
	events_sift(&q, is_odd, NULL);
	for (; events_first(&q); n++, last = v) {
		v = events_take(&q);
		ck_assert_int_gt(compare(&v, &last), 0);
		ck_assert_uint_eq(v.seq % 2, 0);
	}
	ck_assert_uint_eq(n, N / 2);
	events_done(&q);
}

SUITE("events")
