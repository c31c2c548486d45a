/* SPDX-License-Identifier: Apache-2.0 */
/* Events of early and late processes, and of those without an order. */
#include "common/base/err.h"
#include "common/base/rng.h"
#include "neko/run/merge.h"
#include "tests/suite.h"

#include <string.h>

static int add(struct merge *g, uint32_t process, nsec_t at)
{
	return merge_add(g, &(struct neko_event){ .process = process, .at = at, .what = "e" });
}

static void is_next(struct merge *g, uint32_t process, nsec_t at)
{
	const struct neko_event *v = merge_next(g);

	ck_assert_ptr_nonnull(v);
	ck_assert_uint_eq(v->process, process);
	ck_assert_int_eq(v->at, at);
}

TEST(events_are_in_time_order_up_to_the_last_common_report)
{
	struct merge *g = merge_new(3, 100);

	ck_assert_int_eq(add(g, 1, 5) | add(g, 1, 7) | add(g, 2, 5) | add(g, 3, 1), 0);
	ck_assert_ptr_null(merge_next(g));
	ck_assert_int_eq(merge_advance(g, 1, 10) | merge_advance(g, 2, 6), 0);
	ck_assert_ptr_null(merge_next(g)); /* 3 may have more of the same time */
	ck_assert_int_eq(merge_advance(g, 3, 5), 0);
	is_next(g, 3, 1);
	ck_assert_ptr_null(merge_next(g)); /* of the time 5 there may be one of 3, too */
	ck_assert_int_eq(merge_advance(g, 3, NEKO_NEVER), 0);
	is_next(g, 1, 5);
	is_next(g, 2, 5);
	ck_assert_ptr_null(merge_next(g));
	ck_assert_int_eq(merge_advance(g, 2, 8), 0);
	is_next(g, 1, 7);
	ck_assert_ptr_null(merge_next(g));
	merge_free(g);
}

TEST(an_event_before_the_completed_time_is_refused)
{
	struct merge *g = merge_new(2, 100);

	ck_assert_int_eq(add(g, 1, 5), 0);
	ck_assert_int_eq(add(g, 1, 4), -ERR_INVALID);
	ck_assert_int_eq(merge_advance(g, 1, 9), 0);
	ck_assert_int_eq(merge_time(g, 1), 9);
	ck_assert_int_eq(add(g, 1, 8), -ERR_INVALID);
	ck_assert_int_eq(merge_advance(g, 1, 8), -ERR_INVALID);
	ck_assert_int_eq(add(g, 1, 9), 0);
	ck_assert_int_eq(add(g, 2, 0), 0);
	merge_free(g);
}

TEST(the_total_of_waiting_events_is_bounded)
{
	struct merge *g = merge_new(2, 3);

	ck_assert_int_eq(add(g, 1, 1) | add(g, 2, 2) | add(g, 1, 3), 0);
	ck_assert_int_eq(add(g, 1, 4), -ERR_LIMIT);
	ck_assert_int_eq(add(g, 2, 4), -ERR_LIMIT);
	ck_assert_int_eq(merge_advance(g, 1, 1000) | merge_advance(g, 2, 4), 0);
	is_next(g, 1, 1);
	is_next(g, 2, 2);
	is_next(g, 1, 3);
	/* However many have passed. */
	for (nsec_t i = 4; i < 1000; i++) {
		ck_assert_int_eq(add(g, 2, i) | merge_advance(g, 2, i + 1), 0);
		is_next(g, 2, i);
	}
	merge_free(g);
}

/* Each of the times 0, 1, 2, ... is the event of one process. */
TEST(nothing_is_lost_whoever_is_behind)
{
	enum { PROCESSES = 5, EVENTS = 5000 };
	struct merge *g = merge_new(PROCESSES, EVENTS);
	nsec_t reported[PROCESSES] = { 0 }, next = 0;
	uint8_t whose[EVENTS];
	struct rng rng;

	rng_init(&rng, suite_seed(1));
	for (nsec_t i = 0; i < EVENTS; i++)
		whose[i] = (uint8_t)rng_below(&rng, PROCESSES);
	while (next < EVENTS) {
		uint32_t p = (uint32_t)rng_below(&rng, PROCESSES);
		nsec_t until = reported[p] + (nsec_t)rng_below(&rng, 200);
		const struct neko_event *v;

		for (; reported[p] < until && reported[p] < EVENTS; reported[p]++)
			if (whose[reported[p]] == p)
				ck_assert_int_eq(add(g, p + 1, reported[p]), 0);
		ck_assert_int_eq(merge_advance(g, p + 1, reported[p]), 0);
		for (; (v = merge_next(g)) != NULL; next++)
			ck_assert(v->at == next && v->process == whose[next] + 1u);
		for (nsec_t i = 0; i < PROCESSES; i++)
			ck_assert_int_le(next, reported[i]);
	}
	merge_free(g);
}

TEST(bytes_of_events_are_copied_until_they_are_handled)
{
	struct merge *g = merge_new(1, 10);
	char bytes[] = "one";
	struct neko_event v = { .process = 1, .at = 1, .what = "e", .bytes = bytes, .n = 3 };
	const struct neko_event *got;

	ck_assert_int_eq(merge_add(g, &v), 0);
	memcpy(bytes, "two", 3);
	v.at = 2;
	ck_assert_int_eq(merge_add(g, &v), 0);
	v.at = 3; /* is not handled */
	ck_assert_int_eq(merge_add(g, &v), 0);
	memcpy(bytes, "xyz", 3);
	ck_assert_int_eq(merge_advance(g, 1, 3), 0);
	got = merge_next(g);
	ck_assert(got && got->n == 3 && memcmp(got->bytes, "one", 3) == 0);
	got = merge_next(g);
	ck_assert(got && got->n == 3 && memcmp(got->bytes, "two", 3) == 0);
	ck_assert(!merge_next(g));
	merge_free(g);
}

SUITE("merge")
