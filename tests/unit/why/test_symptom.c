/* SPDX-License-Identifier: Apache-2.0 */
/* Losses of single blocks, computed by hand. */
#include "tests/suite.h"
#include "why/cause.h"
#include "why/partners.h"

#include <math.h>

#define RANKS 8
#define THRESHOLD 0.02

static struct why_rank rank[RANKS];
static struct why_host host[4];
static struct why_block block;
static struct view view;

static void set_up(void)
{
	for (int i = 0; i < RANKS; i++) {
		why_rank_clear(&rank[i], i, (uint32_t)i / 2);
		rank[i].seconds = 1;
		for (int c = 0; c < WHY_CLASSES; c++)
			rank[i].delay[c] = rank[i].calls[c] = rank[i].bytes[c] = 0;
		for (int c = 0; c < WHY_FIGURES; c++)
			rank[i].figure[c] = 0;
		rank[i].figure[WHY_COMPUTE] = 1;
	}
	for (int i = 0; i < 4; i++)
		why_host_clear(&host[i]);
	block = (struct why_block){ .end = NSEC_PER_SEC,
				    .rank = rank,
				    .nrank = RANKS,
				    .host = host,
				    .nhost = 4,
				    .world_size = RANKS };
}

static void clean_up(void)
{
	view_done(&view);
}

static void spend(int i, enum why_class c, double seconds, double calls)
{
	rank[i].delay[c] = seconds;
	rank[i].calls[c] = calls;
}

static struct why_loss loss(enum why_id id)
{
	const struct why_explained none = { .n = 0 };

	ck_assert_int_eq(why_block_check(&block, NULL), 0);
	ck_assert_int_eq(view_reserve(&view, &block, NULL), 0);
	view_update(&view, &block);
	return why_loss(&view, id, &none, THRESHOLD);
}

TEST(the_wait_at_barriers_is_the_time_beyond_that_of_the_last)
{
	struct why_loss l;

	for (int i = 0; i < RANKS; i++)
		spend(i, WHY_BARRIER, i == 5 ? 0.01 : 0.11 + 0.01 * (i % 2), 10);
	l = loss(WHY_W1);
	/* Seven ranks wait 0.1, three of them (1, 3, 7) 0.01 more. */
	ck_assert_double_eq_tol(l.low, 0.73 / 8, 1e-12);
	ck_assert_double_eq_tol(l.high, (0.01 + 7 * 0.11 + 0.03) / 8, 1e-12);
	ck_assert(l.is_lower_bound);
	ck_assert_int_eq(l.last, 5);
	ck_assert_uint_eq(l.compared, 8);
	ck_assert_double_eq_tol(loss(WHY_W7).low, 0.01, 1e-12);
	ck_assert_double_eq(loss(WHY_W2).low, 0);
	ck_assert_double_eq_tol(loss(WHY_W).low, (0.01 + 7 * 0.11 + 0.03) / 8, 1e-12);
}

TEST(a_rank_that_came_late_without_more_work_is_not_named)
{
	for (int i = 0; i < RANKS; i++)
		spend(i, WHY_BARRIER, i == 5 ? 0 : 0.1, 10);
	spend(5, WHY_RECEIVE, 0.1, 10); /* it waited for a message instead */
	ck_assert_int_eq(loss(WHY_W1).last, -1);
	ck_assert_double_eq_tol(loss(WHY_W1).low, 0.7 / 8, 1e-12);
}

TEST(ranks_of_other_communicators_are_left_out)
{
	for (int i = 0; i < RANKS; i++)
		spend(i, WHY_BARRIER, 0.1, i < 2 ? 400 : 40);
	rank[0].delay[WHY_BARRIER] = 0;
	ck_assert_double_eq_tol(loss(WHY_W1).low, 0, 1e-12);
}

TEST(a_master_is_no_culprit)
{
	for (int i = 0; i < RANKS; i++) {
		spend(i, WHY_BARRIER, i ? 0.1 : 0, 10);
		spend(i, WHY_SEND, 0, i ? 20 : 400);
	}
	ck_assert_int_eq(loss(WHY_W1).last, -1);
	ck_assert_uint_eq(view.alike, 7);
	ck_assert_double_eq_tol(loss(WHY_W1).low, 0.7 / 8, 1e-12);
}

TEST(unknown_ranks_widen_the_bounds)
{
	struct why_loss l;

	for (int i = 0; i < RANKS; i++)
		spend(i, WHY_BARRIER, i ? 0.2 : 0, 10);
	rank[7].seconds = 0;
	l = loss(WHY_W1);
	ck_assert_double_eq_tol(l.low, 1.2 / 8, 1e-12);
	ck_assert_double_eq_tol(l.high, 2.2 / 8, 1e-12);
	for (int i = 0; i < RANKS; i++)
		rank[i].delay[WHY_BARRIER] = NAN;
	ck_assert_ptr_nonnull(loss(WHY_W1).reason);
	ck_assert_ptr_nonnull(loss(WHY_W9).reason);
	ck_assert_ptr_nonnull(loss(WHY_W8).reason);
}

TEST(compared_instances_replace_the_lower_bound)
{
	struct why_wait wait[RANKS];
	struct why_loss l;

	for (int i = 0; i < RANKS; i++) {
		spend(i, WHY_NXN, 0.2, 10); /* late in turn: totals show nothing */
		wait[i] = (struct why_wait){ i, WHY_NXN, 0.15, i == 3 ? 4 : 6.0 / 7, 10 };
	}
	ck_assert_double_eq_tol(loss(WHY_W2).low, 0, 1e-12);
	block.wait = wait;
	block.nwait = RANKS;
	l = loss(WHY_W2);
	ck_assert_double_eq_tol(l.low, 0.15, 1e-12);
	ck_assert_double_eq_tol(l.high, 0.15, 1e-12);
	ck_assert(!l.is_lower_bound);
	ck_assert_int_eq(l.last, 3);
}

TEST(a_late_sender_is_named_along_the_chain)
{
	/* 0 waits for 1, and 1 for 2, which works all the time. */
	const struct why_pair pair[] = {
		{ .from = 0, .to = 1, .least = 0.4, .most = 0.4, .messages = 10, .bytes = 1e4 },
		{ .from = 1, .to = 2, .least = 0.9, .most = 0.9, .messages = 10, .bytes = 1e4 },
	};
	const struct why_finding named = { .rank = { 2 }, .nrank = 1 };
	struct why_loss l;

	for (int i = 0; i < RANKS; i++)
		spend(i, WHY_RECEIVE, 0.1, 10);
	spend(0, WHY_RECEIVE, 0.5, 10);
	spend(1, WHY_RECEIVE, 0.9, 10);
	spend(2, WHY_RECEIVE, 0, 10);
	block.pair = pair;
	block.npair = 2;
	l = loss(WHY_W5);
	ck_assert_int_eq(l.last, 2);
	ck_assert_double_ge(l.low, 1.3 / 8 - 1e-12);
	/* Its cost is taken off when it is explained: the others wait for it alone. */
	l = why_loss(&view, WHY_W5, &(struct why_explained){ .by = { &named }, .n = 1 }, THRESHOLD);
	ck_assert_int_eq(l.last, -1);
	ck_assert_double_eq(loss(WHY_W11).low, 0);
}

TEST(a_rank_for_which_most_wait_is_a_server)
{
	struct why_pair pair[RANKS - 1];
	struct why_loss l;

	for (int i = 1; i < RANKS; i++) {
		pair[i - 1] = (struct why_pair){ .from = i, .to = 0, .least = 0.2, .most = 0.3 };
		spend(i, WHY_RECEIVE, 0.3, 10);
	}
	block.pair = pair;
	block.npair = RANKS - 1;
	l = loss(WHY_W11);
	ck_assert_double_eq_tol(l.low, 1.4 / 8, 1e-12);
	ck_assert_double_eq_tol(l.high, 2.1 / 8, 1e-12);
	ck_assert_int_eq(l.last, 0);
	ck_assert_double_eq_tol(loss(WHY_W5).low, 0, 1e-12); /* counted once */
}

TEST(a_link_on_which_all_messages_are_slow_is_named)
{
	struct why_pair pair[12];
	size_t n = 0;
	struct why_loss l;

	for (int i = 0; i < 4; i++)
		for (int k = 0; k < 4; k++)
			if (i < k)
				for (int z = 0; z < 2; z++)
					pair[n++] = (struct why_pair){
						.from = 2 * i + z,
						.to = 2 * k + z,
						.least = i == 1 && k == 3 ? 0.3 : 0.1,
						.most = i == 1 && k == 3 ? 0.3 : 0.1,
						.bytes = 1e6,
					};
	block.pair = pair;
	block.npair = n;
	l = loss(WHY_W9);
	ck_assert_int_eq(l.last, partners_link(3, 1));
	ck_assert_double_eq_tol(l.low, 0.4 / 8, 1e-12);
	/* Only one of its pairs is slow: no fault of the link. */
	for (size_t i = 0; i < n; i++)
		if (pair[i].from == 3 && pair[i].to == 7)
			pair[i].least = pair[i].most = 0.1;
	ck_assert_int_eq(loss(WHY_W9).last, -1);
	ck_assert_double_eq(loss(WHY_W9).low, 0);
}

TEST(small_messages_count_only_while_they_are_small)
{
	for (int i = 0; i < RANKS; i++) {
		spend(i, WHY_SEND, 0.1 + 0.01 * i, 1e4);
		rank[i].bytes[WHY_SEND] = 1e4 * 96;
	}
	ck_assert_double_eq_tol(loss(WHY_W13).low, 0.1, 1e-12);
	for (int i = 0; i < RANKS; i++) { /* 1 ms for a call: it waits */
		rank[i].calls[WHY_SEND] = 100;
		rank[i].bytes[WHY_SEND] = 100 * 96;
	}
	ck_assert_double_eq(loss(WHY_W13).low, 0);
	for (int i = 0; i < RANKS; i++)
		rank[i].calls[WHY_SEND] = 1e4;
	for (int i = 0; i < RANKS; i++)
		rank[i].bytes[WHY_SEND] = 1e4 * 1024;
	ck_assert_double_eq(loss(WHY_W13).low, 0);
	ck_assert_double_eq(loss(WHY_W13).high, 0);
}

TEST(a_root_that_waits_alone_came_early)
{
	for (int i = 0; i < RANKS; i++)
		spend(i, WHY_TO_ROOT, i == 6 ? 0.4 : 0.01, 20);
	ck_assert_int_eq(loss(WHY_W4).last, 6);
	ck_assert_double_eq_tol(loss(WHY_W4).low, 0.39 / 8, 1e-12);
	ck_assert_int_eq(loss(WHY_W2).last, -1);
}

TEST(small_messages_of_a_server_are_counted_once)
{
	struct why_pair pair[RANKS - 1];

	for (int i = 0; i < RANKS; i++) {
		if (i)
			pair[i - 1] =
				(struct why_pair){ .from = i, .to = 0, .least = 0.25, .most = 0.3 };
		spend(i, WHY_RECEIVE, 0.3, 1000);
		rank[i].bytes[WHY_RECEIVE] = 4;
	}
	ck_assert_double_eq_tol(loss(WHY_W13).low, 0.3, 1e-12);
	block.pair = pair;
	block.npair = RANKS - 1;
	ck_assert_double_eq_tol(loss(WHY_W13).low, 0.3 - 1.75 / 8, 1e-12);
}

TEST(the_only_writer_is_named)
{
	spend(4, WHY_FILE, 0.8, 100);
	spend(5, WHY_FILE, 0.1, 100);
	ck_assert_double_eq_tol(loss(WHY_W15).low, 0.9 / 8, 1e-12);
	ck_assert_int_eq(loss(WHY_W15).last, 4);
}

/* --- causes */

static struct cause_shares shares(const struct why_finding *f)
{
	loss(WHY_W1);
	return cause_shares(&view, f, THRESHOLD);
}

TEST(shares_of_causes_sum_up_to_the_excess)
{
	const struct why_finding named = { .rank = { 5 }, .nrank = 1 };
	struct cause_shares s;

	for (int i = 0; i < RANKS; i++)
		spend(i, WHY_BARRIER, i == 5 ? 0 : 0.4, 10);
	/* Rank 5: 0.2 ready, 0.1 paging (1000 faults), 0.05 on disk, 0.05 more work. */
	rank[5].figure[WHY_RUN_DELAY] = 0.2;
	rank[5].figure[WHY_FAULTS] = 1000;
	rank[5].figure[WHY_BLOCK_DELAY] = 0.15;
	s = shares(&named);
	ck_assert_double_eq_tol(s.of[WHY_C2 - WHY_C1], 0.5, 1e-9);
	ck_assert_double_eq_tol(s.of[WHY_C4 - WHY_C1], 0.25, 1e-9);
	ck_assert_double_eq_tol(s.of[WHY_C5 - WHY_C1], 0.125, 1e-9);
	ck_assert_double_eq_tol(s.of[WHY_C1 - WHY_C1], 0.125, 1e-9);
	ck_assert(isnan(s.of[WHY_C3 - WHY_C1])); /* no figures of hosts */
	ck_assert_double_eq_tol(s.ratio, 1 / 0.6, 1e-9);
}

TEST(time_without_a_processor_or_a_reason_is_sleep)
{
	const struct why_finding named = { .rank = { 5 }, .nrank = 1 };
	struct cause_shares s;

	for (int i = 0; i < RANKS; i++)
		spend(i, WHY_BARRIER, i == 5 ? 0 : 0.4, 10);
	/* Of the excess of 0.4, rank 5 sleeps 0.3 and works 0.1. */
	rank[5].figure[WHY_COMPUTE] = 0.7;
	s = shares(&named);
	ck_assert_double_eq_tol(s.of[WHY_C8 - WHY_C1], 0.75, 1e-9);
	ck_assert_double_eq_tol(s.of[WHY_C1 - WHY_C1], 0.25, 1e-9);
	/* Without the processor time of a rank, neither is known. */
	rank[5].figure[WHY_COMPUTE] = NAN;
	s = shares(&named);
	ck_assert(isnan(s.of[WHY_C8 - WHY_C1]));
	ck_assert(isnan(s.of[WHY_C1 - WHY_C1]));
}

TEST(without_culprits_the_covariance_explains)
{
	const struct why_finding no_one = { .nrank = 0 };
	struct cause_shares s;

	for (int i = 0; i < RANKS; i++) {
		spend(i, WHY_BARRIER, 0.05 * i, 10);
		/* useful = 1 - 0.05 i; three quarters of the difference is time without a processor
		 */
		rank[i].figure[WHY_RUN_DELAY] = 0.0375 * (RANKS - i) / (1 - 0.05 * i);
	}
	s = shares(&no_one);
	ck_assert_double_eq_tol(s.of[WHY_C2 - WHY_C1], 0.75, 1e-9);
	ck_assert_double_eq_tol(s.of[WHY_C1 - WHY_C1], 0.25, 1e-9);
	ck_assert(isnan(s.ratio));
}

TEST(a_slow_or_throttled_host_differs_from_more_work)
{
	const struct why_finding named = { .host = { 2 }, .nhost = 1, .is_host = true };
	struct cause_shares s;

	for (int i = 0; i < RANKS; i++)
		spend(i, WHY_BARRIER, i / 2 == 2 ? 0 : 0.5, 10);
	s = shares(&named);
	ck_assert_double_eq_tol(s.of[WHY_C3 - WHY_C1], 1, 1e-9); /* all its ranks, by more work */
	for (int i = 0; i < 4; i++) {
		host[i].figure[WHY_STEAL] = i == 2 ? 2 : 0;
		host[i].figure[WHY_PROCESSORS] = 4;
	}
	s = shares(&named);
	ck_assert_double_eq_tol(s.of[WHY_C3 - WHY_C1], 1,
				1e-9); /* half of 1, of an excess of 0.5 */
	ck_assert_double_eq_tol(s.of[WHY_C1 - WHY_C1], 0, 1e-9);
}

TEST(without_any_figure_the_causes_are_untestable)
{
	const struct why_finding named = { .rank = { 5 }, .nrank = 1 };

	for (int i = 0; i < RANKS; i++) {
		spend(i, WHY_BARRIER, i == 5 ? 0 : 0.4, 10);
		for (int c = 0; c < WHY_FIGURES; c++)
			rank[i].figure[c] = NAN;
	}
	loss(WHY_W1);
	for (enum why_id id = WHY_C1; id < WHY_IDS; id++)
		ck_assert_ptr_nonnull(cause_reason(&view, id));
	ck_assert(isnan(cause_shares(&view, &named, THRESHOLD).of[0]));
	rank[5].figure[WHY_COMPUTE] = 0.6; /* off its processor for two fifths of the time */
	for (int i = 0; i < RANKS; i++)
		if (i != 5)
			rank[i].figure[WHY_COMPUTE] = 1;
	loss(WHY_W1);
	ck_assert_double_eq_tol(cause_shares(&view, &named, THRESHOLD).of[WHY_C2 - WHY_C1], 1,
				1e-9);
}

SUITE_WITH("why/symptom", set_up, clean_up)
