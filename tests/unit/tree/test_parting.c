/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/err.h"
#include "common/loop/loop.h"
#include "tests/alloc_sweep.h"
#include "tests/suite.h"
#include "tree/parting.h"

#define WAIT_NS NSEC_PER_SEC

struct world {
	struct loop *loop;
	struct partings all;
	struct parting a, b;
	unsigned over;
};

static void on_over(void *arg)
{
	((struct world *)arg)->over++;
}

static int world_open(struct world *w)
{
	*w = (struct world){ .loop = loop_new_virtual() };
	if (!w->loop)
		return -ERR_NOMEM;
	partings_init(&w->all, w->loop, WAIT_NS);
	if (parting_init(&w->a, &w->all, on_over, w))
		return -ERR_NOMEM;
	return parting_init(&w->b, &w->all, on_over, w);
}

static void world_close(struct world *w)
{
	if (w->b.in)
		parting_done(&w->b);
	if (w->a.in)
		parting_done(&w->a);
	loop_free(w->loop);
}

TEST(a_parting_ends_with_the_answer_of_the_last_branch)
{
	struct world w;

	ck_assert_int_eq(world_open(&w), 0);
	parting_await(&w.a, 3);
	parting_await(&w.a, 5);
	parting_await(&w.a, 3);
	ck_assert(parting_is_open(&w.a) && !parting_is_open(&w.b));
	ck_assert(!parting_answered(&w.a, 4));
	ck_assert(parting_answered(&w.a, 3));
	ck_assert(!parting_answered(&w.a, 3));
	ck_assert(w.over == 0 && parting_awaits(&w.a, 5));
	ck_assert(parting_answered(&w.a, 5));
	ck_assert(w.over == 1 && !parting_is_open(&w.a));
	loop_advance(w.loop, 2 * WAIT_NS);
	ck_assert_uint_eq(w.over, 1);
	world_close(&w);
}

TEST(a_parting_ends_after_its_time)
{
	struct world w;

	ck_assert_int_eq(world_open(&w), 0);
	parting_await(&w.a, 1);
	loop_advance(w.loop, WAIT_NS - 1);
	ck_assert_uint_eq(w.over, 0);
	loop_advance(w.loop, 1);
	ck_assert(w.over == 1 && !parting_is_open(&w.a));
	ck_assert(!parting_answered(&w.a, 1));
	world_close(&w);
}

TEST(a_branch_that_is_gone_answers_none)
{
	struct world w;

	ck_assert_int_eq(world_open(&w), 0);
	parting_await(&w.a, 1);
	parting_await(&w.b, 1);
	parting_await(&w.b, 2);
	partings_forget(&w.all, 1);
	ck_assert(w.over == 1 && parting_awaits(&w.b, 2));
	partings_forget(&w.all, 2);
	ck_assert_uint_eq(w.over, 2);
	world_close(&w);
}

TEST(a_number_beyond_reason_is_bounded)
{
	ck_assert_uint_eq(parting_bounded(7), 7);
	ck_assert_uint_eq(parting_bounded(UINT64_MAX), PARTING_LOST_MAX);
}

TEST(without_memory_a_branch_is_not_waited_for)
{
	ALLOC_SWEEP (k) {
		struct world w;
		int rc = world_open(&w);

		if (!rc)
			parting_await(&w.a, 1);
		alloc_sweep_pause();
		ck_assert(!rc || rc == -ERR_NOMEM);
		ck_assert(rc || parting_is_open(&w.a) || alloc_sweep_has_failed());
		world_close(&w);
	}
}

SUITE("parting")
