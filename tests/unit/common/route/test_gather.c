/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/array.h"
#include "common/base/err.h"
#include "tests/alloc_sweep.h"
#include "tests/suite.h"
#include "tests/unit/common/route/world.h"

#include <string.h>

#define DEADLINE 1000

static bool is_taken; /* the place of branch 1, by another peer */

static const char *name(void *arg, uint32_t branch)
{
	static const char *const names[] = { "s_1", "s_2", "s_3" };

	return branch == 1 && is_taken ? "s_9" : names[branch];
}

/* Branch k owns nodes whose number ends in k. */
static bool owns(void *arg, uint32_t branch, const char *token, size_t n)
{
	return n && token[n - 1] - '0' == (int)branch;
}

/* Three branches: 2 objects for actions 1 and 2; 1 for action 1; 3 for action 2. */
static const uint32_t first[] = { 1, 2 }, second[] = { 1 }, third[] = { 2 };
static const struct plan_part parts[] = {
	{ .branch = 0, .nobject = 2, .action = first, .naction = 2 },
	{ .branch = 1, .nobject = 1, .action = second, .naction = 1 },
	{ .branch = 2, .nobject = 3, .action = third, .naction = 1 },
};
static const struct plan_step step = { .part = parts, .npart = 3 };

static struct gather *gather(enum gather_policy policy, uint32_t quorum)
{
	const struct gather_conf conf = {
		.policy = policy, .quorum = quorum, .deadline = DEADLINE, .name = name
	};
	struct gather *g = NULL;

	ck_assert_int_eq(gather_new(&step, &conf, &g, NULL), 0);
	return g;
}

/* All objects answered, one OK entry of an action. */
static struct reply *answer(uint32_t action, const char *objects, const char *value,
			    uint32_t nobject)
{
	struct reply *r = reply_new();

	ck_assert_int_eq(reply_add(r, action, objects, STATUS_OK, value), 0);
	r->coverage.asked = r->coverage.answered = nobject;
	return r;
}

static int add(struct gather *g, uint32_t branch, struct reply *r)
{
	int rc = gather_add(g, branch, r, NULL);

	reply_free(r);
	return rc;
}

static void finishes(struct gather *g, const char *want)
{
	struct reply *into = reply_new();
	char *s;

	ck_assert_int_eq(gather_finish(g, into), 0);
	s = world_show(into);
	ck_assert_str_eq(s, want);
	free(s);
	reply_free(into);
	gather_free(g);
}

TEST(when_all_have_answered_it_is_done_and_whole)
{
	struct gather *g = gather(GATHER_ALL, 0);

	ck_assert(!gather_is_done(g, 0));
	ck_assert_int_eq(add(g, 2, answer(2, "n_3", "3", 3)), 0);
	ck_assert_int_eq(add(g, 0, answer(1, "n_1", "1", 2)), 0);
	ck_assert(!gather_is_done(g, DEADLINE - 1));
	ck_assert_int_eq(add(g, 1, answer(1, "n_2", "2", 1)), 0);
	ck_assert(gather_is_done(g, 0));
	finishes(g, "2 'n_3' OK '3'; 1 'n_1' OK '1'; 1 'n_2' OK '2' 6/6");
}

TEST(the_oldest_and_the_newest_time_are_those_of_all)
{
	static const char *const objects[] = { "n_1", "n_2", "n_3" };
	static const nsec_t oldest[] = { 300, 200, 250 }, newest[] = { 400, 900, 500 };
	struct gather *g = gather(GATHER_ALL, 0);
	struct reply *into = reply_new();

	for (uint32_t i = 0; i < 3; i++) {
		struct reply *r = answer(i == 2 ? 2 : 1, objects[i], "1", 1);

		r->coverage.oldest_ns = oldest[i];
		r->coverage.newest_ns = newest[i];
		ck_assert_int_eq(add(g, i, r), 0);
	}
	ck_assert_int_eq(gather_finish(g, into), 0);
	ck_assert_int_eq(into->coverage.oldest_ns, 200);
	ck_assert_int_eq(into->coverage.newest_ns, 900);
	reply_free(into);
	gather_free(g);
}

TEST(after_the_deadline_it_is_done_and_names_the_missing)
{
	struct gather *g = gather(GATHER_ALL, 0);

	ck_assert_int_eq(add(g, 0, answer(1, "n_1", "1", 2)), 0);
	ck_assert(!gather_is_done(g, DEADLINE - 1));
	ck_assert(gather_is_done(g, DEADLINE));
	gather_lost(g, 2, "connection lost");
	gather_lost(g, 0, "too late to be lost");
	gather_lost(g, 99, "nobody");
	finishes(
		g,
		"1 'n_1' OK '1' 2/6 missing s_2 (no answer in time) missing s_3 (connection lost)");
}

TEST(when_the_rest_is_lost_nothing_waits)
{
	struct gather *g = gather(GATHER_ALL, 0);

	gather_lost(g, 0, "x");
	gather_lost(g, 1, "y");
	ck_assert(!gather_is_done(g, 0));
	gather_lost(g, 2, "z");
	ck_assert(gather_is_done(g, 0));
	finishes(g, " 0/6 missing s_1 (x) missing s_2 (y) missing s_3 (z)");
}

TEST(a_lost_branch_is_named_as_when_it_was_lost)
{
	struct gather *g = gather(GATHER_ALL, 0);

	is_taken = false;
	gather_lost(g, 1, "y");
	is_taken = true;
	gather_lost(g, 0, "x");
	gather_lost(g, 2, "z");
	finishes(g, " 0/6 missing s_1 (x) missing s_2 (y) missing s_3 (z)");
}

TEST(a_quorum_counts_objects)
{
	struct gather *g = gather(GATHER_QUORUM, 3);

	ck_assert_int_eq(add(g, 0, answer(1, "n_1", "1", 2)), 0);
	ck_assert(!gather_is_done(g, 0));
	ck_assert_int_eq(add(g, 1, answer(1, "n_2", "2", 1)), 0);
	ck_assert(gather_is_done(g, 0));
	finishes(g, "1 'n_1' OK '1'; 1 'n_2' OK '2' 3/6 missing s_3 (no answer in time)");
}

TEST(an_impossible_quorum_ends_with_the_last_answer)
{
	struct gather *g = gather(GATHER_QUORUM, 100);

	gather_lost(g, 0, "x");
	gather_lost(g, 1, "y");
	ck_assert(!gather_is_done(g, 0));
	ck_assert_int_eq(add(g, 2, answer(2, "n_3", "3", 3)), 0);
	ck_assert(gather_is_done(g, 0));
	gather_free(g);
}

TEST(now_takes_the_first_answer)
{
	struct gather *g = gather(GATHER_NOW, 0);

	gather_lost(g, 0, "x");
	ck_assert(!gather_is_done(g, 0));
	ck_assert_int_eq(add(g, 1, answer(1, "n_2", "2", 1)), 0);
	ck_assert(gather_is_done(g, 0));
	gather_free(g);
}

TEST(a_partial_answer_of_a_branch_stays_partial)
{
	struct gather *g = gather(GATHER_ALL, 0);
	struct reply *r = answer(2, "n_3", "3", 3);

	r->coverage.answered = 2;
	reply_add_missing(r, "n_5", "silent");
	reply_add_time(r, 10, 20);
	ck_assert_int_eq(add(g, 2, r), 0);
	gather_lost(g, 0, "x");
	ck_assert_int_eq(add(g, 1, answer(1, "n_2", "2", 1)), 0);
	finishes(g, "2 'n_3' OK '3'; 1 'n_2' OK '2' 3/6 missing n_5 (silent) missing s_1 (x)");
}

TEST(counts_of_a_branch_are_corrected)
{
	static const struct {
		uint32_t asked, answered;
		const char *want;
	} cases[] = {
		{ 0, 0, "2 'n_3' OK '3' 0/3" }, /* less than it was */
		{ 3, 9, "2 'n_3' OK '3' 3/3" }, /* more answers than objects */
		{ 8, 8, "2 'n_3' OK '3' 8/8" }, /* it expanded further */
	};
	const struct plan_step one = { .part = &parts[2], .npart = 1 };
	const struct gather_conf conf = { .deadline = DEADLINE, .name = name };

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct reply *r = answer(2, "n_3", "3", 0);
		struct gather *g = NULL;

		ck_assert_int_eq(gather_new(&one, &conf, &g, NULL), 0);
		r->coverage.asked = cases[i].asked;
		r->coverage.answered = cases[i].answered;
		ck_assert_int_eq(add(g, 2, r), 0);
		finishes(g, cases[i].want);
	}
}

TEST(answers_that_nothing_waits_for_are_refused)
{
	struct gather *g = gather(GATHER_ALL, 0);

	ck_assert_int_eq(add(g, 7, answer(1, "n_1", "1", 1)), -ERR_NOTFOUND);
	ck_assert_int_eq(add(g, 1, answer(1, "n_1", "1", 1)), 0);
	ck_assert_int_eq(add(g, 1, answer(1, "n_1", "1", 1)), -ERR_NOTFOUND);
	gather_lost(g, 2, "x");
	ck_assert_int_eq(add(g, 2, answer(2, "n_1", "1", 1)), -ERR_NOTFOUND);
	gather_free(g);
}

TEST(an_answer_to_what_was_not_asked_is_dropped_whole)
{
	struct gather *g = gather(GATHER_ALL, 0);
	struct reply *r = answer(1, "n_2", "2", 1);

	reply_add(r, 2, "n_2", STATUS_OK, "not asked of this branch");
	ck_assert_int_eq(add(g, 1, r), -ERR_PROTO);
	ck_assert_int_eq(add(g, 0, answer(0, "n_1", "an OK about the whole", 2)), -ERR_PROTO);
	ck_assert_int_eq(add(g, 2, answer(2, "n_3", "3", 3)), 0);
	ck_assert(gather_is_done(g, 0));
	finishes(g, "2 'n_3' OK '3' 3/6 missing s_1 (its answer was wrong) missing s_2 (its answer "
		    "was wrong)");
}

TEST(a_branch_speaks_for_its_own_objects_only)
{
	const struct gather_conf conf = { .deadline = DEADLINE, .name = name, .owns = owns };
	struct gather *g = NULL;

	ck_assert_int_eq(gather_new(&step, &conf, &g, NULL), 0);
	ck_assert_int_eq(add(g, 0, answer(1, "n_10,n_21", "1", 2)), -ERR_PROTO);
	ck_assert_int_eq(add(g, 1, answer(1, "n_11,n_21", "1", 1)), 0);
	ck_assert_int_eq(add(g, 2, answer(2, "", "", 3)), 0);
	finishes(g, "1 'n_11,n_21' OK '1'; 2 '' OK '' 4/6 missing s_1 (its answer was wrong)");
}

/* A former object of its own may be missing, which does not invalidate the rest of the answer. */
TEST(foreign_missing_object_is_replaced_by_the_branch_name)
{
	const struct gather_conf conf = { .deadline = DEADLINE, .name = name, .owns = owns };
	struct gather *g = NULL;
	struct reply *r = answer(1, "n_11", "1", 1);

	ck_assert_int_eq(gather_new(&step, &conf, &g, NULL), 0);
	reply_add_missing(r, "n_21", "the host is lost");
	reply_add_missing(r, "n_12", "no answer in time");
	reply_add_missing(r, "n_12,n_11", "silent");
	ck_assert_int_eq(add(g, 1, r), 0);
	ck_assert_int_eq(add(g, 0, answer(1, "n_10", "0", 2)), 0);
	ck_assert_int_eq(add(g, 2, answer(2, "", "", 3)), 0);
	finishes(g,
		 "1 'n_11' OK '1'; 1 'n_10' OK '0'; 2 '' OK '' 6/6 missing n_21 (the host is lost) "
		 "missing s_2 (no answer in time) missing s_2 (silent)");
}

TEST(a_branch_that_refuses_the_text_refuses_each_action)
{
	struct gather *g = gather(GATHER_ALL, 0);
	struct reply *r = reply_new();

	reply_add(r, 0, "", STATUS_UNSUPPORTED_SERVICE, "another version");
	r->coverage.asked = r->coverage.answered = 2;
	ck_assert_int_eq(add(g, 0, r), 0);
	gather_lost(g, 1, "x");
	gather_lost(g, 2, "x");
	finishes(g, "1 '' UNSUPPORTED_SERVICE; 2 '' UNSUPPORTED_SERVICE 2/6 missing s_2 (x) "
		    "missing s_3 (x)");
}

static void collect(void *arg, uint32_t branch)
{
	*(unsigned *)arg |= 1u << branch;
}

TEST(awaited_branches_can_be_ordered_to_stop)
{
	struct gather *g = gather(GATHER_ALL, 0);
	unsigned waiting = 0;

	ck_assert_int_eq(add(g, 1, answer(1, "n_1", "1", 1)), 0);
	gather_each_waiting(g, collect, &waiting);
	ck_assert_uint_eq(waiting, 5);
	gather_free(g);
}

TEST(a_step_without_parts_is_done_at_once)
{
	const struct plan_step none = { 0 };
	const struct gather_conf conf = { .deadline = DEADLINE, .name = name };
	struct gather *g = NULL;

	ck_assert_int_eq(gather_new(&none, &conf, &g, NULL), 0);
	ck_assert(gather_is_done(g, 0));
	finishes(g, "");
}

TEST(every_failed_allocation_of_gathering_is_survived)
{
	struct reply *r = answer(1, "n_1", "1", 2);

	reply_add_missing(r, "n_5", "silent");
	ALLOC_SWEEP (k) {
		const struct gather_conf conf = { .deadline = DEADLINE, .name = name };
		struct reply *into = reply_new();
		struct gather *g = NULL;
		int rc = into ? gather_new(&step, &conf, &g, NULL) : -ERR_NOMEM;

		if (!rc) {
			rc = gather_add(g, 0, r, NULL);
			gather_lost(g, 1, "x");
		}
		if (!rc)
			rc = gather_finish(g, into);
		alloc_sweep_pause();
		ck_assert(!rc || rc == -ERR_NOMEM);
		gather_free(g);
		reply_free(into);
	}
	reply_free(r);
}

SUITE("route gather")
