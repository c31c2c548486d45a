/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of a virtual loop: faster and slower clocks, and held parts. */
#include "common/base/rng.h"
#include "common/base/array.h"
#include "common/loop/loop.h"
#include "tests/alloc_sweep.h"
#include "tests/suite.h"

#include <string.h>

#define FAST 100000 /* ppb: of a bad clock */
#define DAY_NS (INT64_C(86400) * NSEC_PER_SEC)

static struct loop *whole, *a, *b;
static struct loop_job job;
static char trace[64];

static void set_up(void)
{
	whole = loop_new_virtual();
	a = loop_new_part(whole);
	b = loop_new_part(whole);
	trace[0] = 0;
}

static void clean_up(void)
{
	loop_free(whole);
}

static void note(void *arg)
{
	strncat(trace, arg, sizeof(trace) - strlen(trace) - 1);
}

static struct loop_timer *timer(struct loop *l, const char *word, nsec_t after)
{
	struct loop_timer *t = loop_timer_new(l, note, (void *)(uintptr_t)word);

	loop_timer_arm(t, after);
	return t;
}

static void post(struct loop *l, const char *word)
{
	static struct loop_job jobs[16];
	static size_t n;

	ck_assert_uint_lt(n, ARRAY_LEN(jobs));
	loop_job_post(l, &jobs[n++], note, (void *)(uintptr_t)word);
}

TEST(monotonic_clocks_have_their_own_rates_and_never_step)
{
	nsec_t begun = loop_now(whole), before;

	loop_part_set_rate(a, FAST);
	loop_part_set_rate(b, -FAST);
	loop_advance(whole, DAY_NS);
	ck_assert_int_eq(loop_now(a) - begun, DAY_NS + DAY_NS / 10000);
	ck_assert_int_eq(loop_now(b) - begun, DAY_NS - DAY_NS / 10000);
	before = loop_now(a);
	loop_part_set_rate(a, 0);
	ck_assert_int_eq(loop_now(a), before);
	loop_advance(whole, NSEC_PER_SEC);
	ck_assert_int_eq(loop_now(a) - before, NSEC_PER_SEC);
	ck_assert_int_eq(loop_whole_now(a), loop_now(whole));
}

static struct loop *timed;
static nsec_t due;

static void not_early(void *arg)
{
	ck_assert_int_ge(loop_now(timed), due);
	ck_assert_int_le(loop_now(timed), due + 2);
	due = 0;
}

TEST(a_timer_of_any_clock_comes_when_it_is_due_and_not_before)
{
	struct rng rng;
	struct loop_timer *t[2] = { loop_timer_new(a, not_early, NULL),
				    loop_timer_new(b, not_early, NULL) };

	rng_init(&rng, suite_seed(1));
	for (int i = 0; i < 2000; i++) {
		timed = i % 2 ? b : a;
		loop_part_set_rate(timed, (int64_t)rng_below(&rng, 2 * FAST + 1) - FAST);
		due = loop_now(timed) +
		      (nsec_t)rng_below(&rng, (uint64_t)DAY_NS >> rng_below(&rng, 46));
		loop_timer_arm_at(t[i % 2], due);
		loop_advance(whole, due - loop_now(timed) + DAY_NS / 1000);
		ck_assert_int_eq(due, 0);
	}
	loop_timer_arm(t[0], INT64_MAX);
	loop_advance(whole, 365 * DAY_NS);
	ck_assert(loop_timer_is_armed(t[0]));
	loop_timer_free(t[0]);
	loop_timer_free(t[1]);
}

TEST(held_part_fires_later_without_delaying_other_parts)
{
	struct loop_timer *t[] = { timer(a, "1", 10), timer(b, "2", 20), timer(a, "3", 30),
				   timer(whole, "4", 40), timer(a, "6", 60) };

	loop_part_hold(a, 50);
	ck_assert_int_eq(loop_held_until(a), loop_now(whole) + 50);
	ck_assert_int_eq(loop_held_until(b), 0);
	post(a, "p");
	post(b, "q");
	loop_advance(whole, 49);
	ck_assert_str_eq(trace, "q24");
	ck_assert_int_eq(loop_now(a), loop_now(whole)); /* it continues */
	loop_advance(whole, 1);
	ck_assert_str_eq(trace, "q24p13");
	ck_assert_int_eq(loop_held_until(a), 0);
	loop_advance(whole, 50);
	ck_assert_str_eq(trace, "q24p136");
	for (size_t i = 0; i < ARRAY_LEN(t); i++)
		loop_timer_free(t[i]);
}

TEST(a_part_that_is_held_twice_is_held_until_the_later_time)
{
	struct loop_timer *t = timer(a, "1", 10), *freed = timer(a, "never", 10),
			  *again = timer(a, "never", 10);
	struct loop_job gone = { 0 };

	loop_part_hold(a, 50);
	loop_part_hold(a, 20);
	loop_job_post(a, &gone, note, (void *)(uintptr_t) "never");
	loop_advance(whole, 30);
	loop_part_hold(a, 70);
	loop_job_cancel(&gone);
	ck_assert(loop_timer_is_armed(freed) && loop_timer_is_armed(again));
	loop_timer_free(freed);
	loop_timer_cancel(again);
	loop_advance(whole, 69);
	ck_assert_str_eq(trace, "");
	loop_advance(whole, 1);
	ck_assert_str_eq(trace, "1");
	loop_part_hold(a, 10);
	post(a, "2");
	loop_timer_arm(t, 5);
	loop_advance(whole, 6);
	loop_part_release(a);
	loop_advance(whole, 0);
	ck_assert_str_eq(trace, "121");
	loop_part_hold(a, 10);
	post(a, "dropped");
	loop_timer_free(t);
	loop_timer_free(again);
}

static void note_who(void *arg)
{
	const struct loop *l = loop_running(whole);

	note((void *)(uintptr_t)(l == a ? "a" : l == b ? "b" : "w"));
}

TEST(loop_running_returns_the_owner_of_the_callback)
{
	struct loop_timer *t[] = { loop_timer_new(a, note_who, NULL),
				   loop_timer_new(whole, note_who, NULL) };

	loop_timer_arm(t[0], 1);
	loop_timer_arm(t[1], 2);
	loop_job_post(b, &job, note_who, NULL);
	loop_advance(whole, 10);
	ck_assert_str_eq(trace, "baw");
	ck_assert_ptr_eq(loop_running(whole), whole);
	ck_assert_ptr_eq(loop_running(a), whole);
	loop_timer_free(t[0]);
	loop_timer_free(t[1]);
}

static void turn_and_note(void *arg)
{
	loop_turn(whole);
	note_who(NULL);
}

/* Also if the callback turns the loop itself. */
TEST(after_a_nested_part_the_outer_one_is_current_again)
{
	struct loop_timer *t = loop_timer_new(a, turn_and_note, NULL);

	ck_assert_ptr_eq(loop_enter(b), whole);
	ck_assert_ptr_eq(loop_enter(a), b);
	ck_assert_ptr_eq(loop_enter(b), a);
	for (int i = 0; i < 100; i++)
		loop_timer_free(loop_timer_new(i % 2 ? a : whole, note, NULL));
	ck_assert_ptr_eq(loop_running(a), b);
	loop_timer_arm(t, 1);
	loop_job_post(whole, &job, note_who, NULL);
	loop_advance(whole, 1);
	ck_assert_str_eq(trace, "wa");
	ck_assert_ptr_eq(loop_running(whole), b);
	ck_assert_ptr_null(loop_part_maker(a));
	loop_part_set_maker(a, t);
	ck_assert_ptr_eq(loop_part_maker(a), t);
	ck_assert_ptr_null(loop_part_maker(loop_running(whole)));
	loop_timer_free(t);
}

TEST(every_allocation_may_fail)
{
	ALLOC_SWEEP (k) {
		struct loop *l = loop_new_part(whole);

		alloc_sweep_pause();
		ck_assert(alloc_sweep_has_failed() == !l);
	}
}

SUITE_WITH("loop parts", set_up, clean_up)
