/* SPDX-License-Identifier: Apache-2.0 */
/* Integrators at both ends of a call that was open when they were installed. */
#include "common/ring/calls.h"
#include "common/base/array.h"
#include "common/ring/calls_id.h"
#include "libapp/hot/app_state.h"
#include "tests/suite.h"
#include "tests/unit/libapp/fake_mpi.h"
#include "tests/unit/libapp/rank.h"

#define CELL 7
#define OTHER_CELL 9

static int buf[16];

static struct {
	bool is_without_end, is_without_start;
	int32_t partner; /* < 0: any */
} wish;

static unsigned made; /* actions */
static uint64_t on; /* ticks */
static struct segview_cell seen; /* 1000 ticks later, while the call continues */

static uint64_t now(void)
{
	return ticks_now(app_state.ticks);
}

static struct segview_cell cell(uint64_t at)
{
	struct segview_cell c;

	ck_assert_int_eq(segview_integrator(rank_view, SEGVIEW_ALL, CELL, at, &c), 0);
	return c;
}

/* As an lm does it. */
static unsigned add(enum call_phase phase, uint16_t at, double value)
{
	struct seg_action a = { .op = ACTION_INTEGRATOR_ADD,
				.func = CALL_ID_Send,
				.phase = (uint8_t)phase,
				.cell = at,
				.value = value,
				.since = phase == CALL_START ? on : 0,
				.partner_count = wish.partner >= 0 };
	unsigned index;

	ck_assert_int_eq(segview_action_add(rank_view, &a, &wish.partner, NULL, &index), 0);
	made++;
	return index;
}

static void switch_on(void)
{
	struct segview_current c;
	uint32_t word = segview_hook_get(rank_view, CALL_ID_Send);

	on = now();
	ck_assert(segview_current(rank_view, 0, &c) && c.is_inside);
	if (!wish.is_without_start) {
		unsigned start = add(CALL_START, CELL, 1);

		word |= HOOK_ACTION_START;
		segview_action_late(rank_view, start, 0, c.number);
	}
	if (!wish.is_without_end) {
		add(CALL_END, CELL, -1);
		word |= HOOK_ACTION_END;
	}
	segview_hook_set(rank_view, CALL_ID_Send, word, 0);
	seen = cell(on + 1000);
}

static void switch_off(void)
{
	for (unsigned i = 0; made; i++)
		made -= !segview_action_del(rank_view, i);
	rank_hooks(0);
}

static void send_to(int dest, uintptr_t comm)
{
	MPI_Send(buf, 3, FAKE_INT, dest, 5, comm);
}

/* The increment of a call to the integral: its view in the middle, and when it is over. */
static double late_call(int dest, uintptr_t comm)
{
	double before = cell(now()).integral, gained;

	seen = (struct segview_cell){ 0 };
	fake_end.inside = switch_on;
	send_to(dest, comm);
	fake_end.inside = NULL;
	gained = cell(now()).integral - before;
	ck_assert_double_eq(cell(now()).v, 0);
	ck_assert_double_ge(gained, 0);
	ck_assert(wish.is_without_start || gained <= (double)(now() - on));
	seen.integral -= before;
	return gained;
}

TEST(the_call_counts_since_the_integrator_was_there)
{
	static const uint32_t words[] = { 0,
					  HOOK_COUNT,
					  HOOK_COUNT | HOOK_TIME,
					  HOOK_COUNT | HOOK_TIME | HOOK_VOLUME | HOOK_PARTNER,
					  HOOK_EVENT_END,
					  HOOK_COUNT | HOOK_TIME |
						  HOOK_SAMPLE_MAX << HOOK_SAMPLE_SHIFT };
	double before;

	for (unsigned i = 0; i < ARRAY_LEN(words); i++) {
		rank_hooks(words[i]);
		send_to(2,
			FAKE_WORLD); /* of those that are sampled only the first one is measured */
		ck_assert_double_gt(late_call(2, FAKE_WORLD), 0);
		ck_assert_double_eq(seen.v, 1);
		ck_assert_double_eq(seen.integral, 1000);
		before = cell(now()).integral;
		send_to(2, FAKE_WORLD); /* it is watched from its beginning */
		ck_assert_double_gt(cell(now()).integral, before);
		ck_assert_double_eq(cell(now()).v, 0);
		switch_off();
	}
}

/* Another request has the start of that call already, or its end, or both. */
TEST(existing_actions_do_not_affect_a_late_one)
{
	struct segview_cell c;

	for (uint32_t k = 1; k < 4; k++) {
		on = now();
		if (k & 1)
			add(CALL_START, OTHER_CELL, 1);
		if (k & 2)
			add(CALL_END, OTHER_CELL, -1);
		rank_hooks((k & 1 ? HOOK_ACTION_START : 0) | (k & 2 ? HOOK_ACTION_END : 0));
		ck_assert_double_gt(late_call(2, FAKE_WORLD), 0);
		ck_assert_double_eq(seen.v, 1);
		segview_integrator(rank_view, SEGVIEW_ALL, OTHER_CELL, now(), &c);
		ck_assert_double_eq(c.v, k == 1); /* a start alone */
		switch_off();
	}
}

/* The end is installed while a call lasts whose start was watched. */
TEST(an_end_that_comes_later_ends_what_has_begun)
{
	on = now();
	add(CALL_START, CELL, 1);
	rank_hooks(HOOK_ACTION_START);
	wish.is_without_start = true;
	late_call(2, FAKE_WORLD);
	ck_assert_double_eq(seen.v, 1);
	switch_off();
}

TEST(without_an_end_nothing_begins)
{
	wish.is_without_end = true;
	ck_assert_double_eq(late_call(2, FAKE_WORLD), 0);
	ck_assert_double_eq(seen.v, 0);
	switch_off();
}

/* The lm notes such a thread only if it knows the partner; the rank knows it at the end. */
TEST(a_partner_is_asked_for_as_at_a_beginning)
{
	wish.partner = 2;
	ck_assert_double_eq(late_call(3, FAKE_WORLD), 0);
	switch_off();
	ck_assert_double_gt(late_call(2, FAKE_WORLD), 0);
	switch_off();
	wish.partner = 0;
	ck_assert_double_gt(late_call(3, FAKE_OTHER), 0); /* in reverse order */
	switch_off();
	ck_assert_double_eq(late_call(FAKE_PROC_NULL, FAKE_WORLD), 0);
	switch_off();
}

TEST(the_next_call_is_no_such_call)
{
	ck_assert_double_gt(late_call(2, FAKE_WORLD), 0);
	for (int i = 0; i < 3; i++) {
		double before = cell(now()).integral;
		uint64_t begin = now();

		send_to(2, FAKE_WORLD);
		ck_assert_double_le(cell(now()).integral - before, (double)(now() - begin));
	}
	switch_off();
}

static void set_up(void)
{
	rank_up();
	wish.is_without_end = wish.is_without_start = false;
	wish.partner = -1;
	fake_end.inside = NULL;
}

SUITE_WITH("late", set_up, rank_down)
