/* SPDX-License-Identifier: Apache-2.0 */
/* Detection of programs that have stopped, by the calls of their ranks. */
#include "tests/suite.h"
#include "tools/view/top_waits.h"

#include <stdio.h>
#include <string.h>

#define RANKS 4

static struct top_rank rank[2 * RANKS];
static struct top_sample sample;
static char said[512];
static int n;

static void on_wait(void *arg, const struct top_wait *w)
{
	size_t had = strlen(said);

	n++;
	snprintf(said + had, sizeof(said) - had, "%s|%s|%.0f|%s\n", w->job,
		 w->kind == TOP_WAIT_ALL    ? "all"
		 : w->kind == TOP_WAIT_RING ? "ring"
					    : "others",
		 w->seconds, w->text);
}

static const char *waits(void)
{
	n = 0;
	said[0] = 0;
	top_waits(&sample, on_wait, NULL);
	return said;
}

static struct top_rank *is_in(int64_t r, const char *call, enum top_call_kind kind, int64_t partner,
			      int64_t tag)
{
	struct top_rank *at = &rank[r];

	at->rank = r % RANKS;
	snprintf(at->job, sizeof(at->job), "job%d", (int)(r / RANKS));
	at->world_size = RANKS;
	at->stuck_s = 10 + (double)r;
	at->call = (struct top_call){ .state = TOP_CALL_IN,
				      .kind = kind,
				      .seconds = at->stuck_s,
				      .partner = partner,
				      .tag = tag,
				      .source = TOP_PARTNER_UNKNOWN,
				      .source_tag = -1,
				      .is_of_world = true };
	snprintf(at->call.name, sizeof(at->call.name), "%s", call);
	return at;
}

static void computes(int64_t r)
{
	is_in(r, "MPI_Send", TOP_CALL_SENDS, -1, -1)->call.state = TOP_CALL_OUT;
	rank[r].stuck_s = 0;
}

/* 0 and 1 wait for each other, 2 and 3 for all. */
static void set_up(void)
{
	memset(rank, 0, sizeof(rank));
	sample = (struct top_sample){ .rank = rank, .nrank = RANKS };
	is_in(0, "MPI_Recv", TOP_CALL_RECEIVES, 1, 5);
	is_in(1, "MPI_Recv", TOP_CALL_RECEIVES, 0, 7);
	is_in(2, "MPI_Barrier", TOP_CALL_TOGETHER, -1, -1);
	is_in(3, "MPI_Barrier", TOP_CALL_TOGETHER, -1, -1);
}

static void nothing(void)
{
}

static char line[TOP_WAIT_LINE_BYTES];

static void on_line(void *arg, const struct top_wait *w)
{
	top_wait_line(line, sizeof(line), w);
}

/* A send that was posted before may still be on its way, in any of them. */
TEST(a_line_claims_no_more_than_is_known)
{
	top_waits(&sample, on_line, NULL);
	ck_assert_ptr_nonnull(
		strstr(line, "job0: no call has ended for 10.0s at least: 0 waits for 1 "));
	ck_assert_ptr_nonnull(strstr(line, "; data of earlier requests may still be moving"));
	for (int64_t r = 0; r < RANKS; r++)
		is_in(r, "MPI_Waitall", TOP_CALL_OTHER, -1, -1);
	top_waits(&sample, on_line, NULL);
	ck_assert_ptr_nonnull(strstr(line, "3 is in MPI_Waitall; data of earlier requests may"));
	computes(3);
	is_in(0, "MPI_Recv", TOP_CALL_RECEIVES, 1, 5);
	is_in(1, "MPI_Recv", TOP_CALL_RECEIVES, 0, 5);
	top_waits(&sample, on_line, NULL);
	ck_assert_ptr_nonnull(strstr(line, "job0: ranks wait in a ring for "));
	ck_assert_ptr_nonnull(strstr(line, "; data of earlier requests may still be moving"));
	computes(0);
	is_in(1, "MPI_Barrier", TOP_CALL_TOGETHER, -1, -1);
	top_waits(&sample, on_line, NULL);
	ck_assert_ptr_nonnull(strstr(line, "job0: ranks wait for others for "));
	ck_assert_ptr_null(strstr(line, "may still be moving"));
}

TEST(a_job_all_of_whose_ranks_wait_has_stopped)
{
	ck_assert_str_eq(
		waits(),
		"job0|all|10|0 waits for 1 (MPI_Recv, tag 5), 1 waits for 0 (MPI_Recv, tag 7), 2 is in MPI_Barrier, "
		"3 is in MPI_Barrier\n");
	rank[3].call.state = TOP_CALL_ASKS;
	ck_assert_ptr_nonnull(strstr(waits(), "3 asks by MPI_Barrier, partner unknown\n"));
}

TEST(ranks_that_wait_in_a_ring_have_stopped_whatever_others_do)
{
	computes(3);
	ck_assert_str_eq(
		waits(),
		"job0|ring|10|0 waits for 1 (MPI_Recv, tag 5), 1 waits for 0 (MPI_Recv, tag 7)\n");
	rank[1].call.partner = 2;
	is_in(2, "MPI_Recv", TOP_CALL_RECEIVES, 0, 9);
	ck_assert_str_eq(
		waits(),
		"job0|ring|10|0 waits for 1 (MPI_Recv, tag 5), 1 waits for 2 (MPI_Recv, tag 7), 2 waits for 0 "
		"(MPI_Recv, tag 9)\n");
	rank[2].call.partner = 3; /* the one that computes */
	ck_assert_str_eq(waits(), "");
}

/* Another communicator: the ranks that have not entered are unknown. */
static void barrier_of_few(void)
{
	rank[2].call.is_of_world = rank[3].call.is_of_world = false;
}

TEST(ranks_that_may_continue_are_not_reported)
{
	barrier_of_few();
	rank[2].stuck_s = TOP_WAITS_S - 1;
	rank[1].call.partner = -1;
	ck_assert_str_eq(waits(), "");
	set_up();
	barrier_of_few();
	sample.nrank = RANKS - 1; /* one is not seen */
	rank[1].call.partner = -1;
	ck_assert_str_eq(waits(), "");
	set_up();
	barrier_of_few();
	is_in(0, "MPI_Send", TOP_CALL_SENDS, 1, 7); /* to a rank that receives it */
	ck_assert_str_eq(waits(), "");
	rank[0].call.tag = 8;
	ck_assert_int_eq((waits(), n), 1);
	for (int64_t r = 0; r < RANKS; r++)
		is_in(r, "MPI_Barrier", TOP_CALL_TOGETHER, -1, -1);
	ck_assert_str_eq(waits(), "");
	for (int64_t r = 0; r < RANKS; r++)
		is_in(r, "MPI_Sendrecv", TOP_CALL_SENDS, (r + 1) % RANKS, 1);
	ck_assert_str_eq(waits(), "");
	is_in(0, "MPI_Send", TOP_CALL_SENDS, 1, 1); /* to a rank that may receive it */
	ck_assert_str_eq(waits(), "");
	for (int64_t r = 0; r < RANKS; r++)
		is_in(r, "MPI_Send", TOP_CALL_SENDS, (r + 1) % RANKS, 1);
	ck_assert_int_eq((waits(), n), 1);
	rank[2].state = TOP_STOPPED;
	ck_assert_str_eq(waits(), "");
}

/* Each sends to the next one, and receives from the one before. */
static void shift(int64_t tag, int64_t source_tag)
{
	for (int64_t r = 0; r < RANKS; r++) {
		struct top_call *c =
			&is_in(r, "MPI_Sendrecv", TOP_CALL_SENDS, (r + 1) % RANKS, tag)->call;

		c->source = (r + RANKS - 1) % RANKS;
		c->source_tag = source_tag;
	}
}

TEST(a_cycle_of_sendrecv_has_stopped_if_no_message_matches)
{
	shift(3, 4);
	ck_assert_ptr_eq(strstr(waits(),
				"job0|all|10|0 sends to 1, tag 3, and receives from 3, tag 4 "
				"(MPI_Sendrecv), 1 sends to 2, tag 3, and receives from 0, "),
			 said);
	shift(3, 3);
	ck_assert_str_eq(waits(), "");
	shift(3, -1); /* of any tag */
	ck_assert_str_eq(waits(), "");
	shift(3, 4);
	rank[2].call.source = TOP_PARTNER_UNKNOWN;
	rank[2].call.source_tag = -1;
	ck_assert_str_eq(waits(), "");
	rank[2].call.source = -2; /* MPI_PROC_NULL */
	ck_assert_int_eq((waits(), n), 1);
}

/* Its sends may be over: the sender of its receive computes. */
TEST(a_sendrecv_with_two_partners_makes_no_ring)
{
	shift(3, 4);
	computes(2);
	computes(3);
	rank[1].call.partner = 0;
	rank[1].call.source = 2;
	ck_assert_str_eq(waits(), "");
	rank[1].call.source = 0;
	ck_assert_str_eq(waits(), "");
	rank[0].call.source = 1;
	ck_assert_int_eq((waits(), n), 1);
	ck_assert_ptr_nonnull(strstr(waits(), "job0|ring|10|0 sends to 1, tag 3, and receives"));
}

TEST(ranks_that_have_not_come_to_a_barrier_are_named)
{
	is_in(0, "MPI_Barrier", TOP_CALL_TOGETHER, -1, -1);
	computes(1);
	computes(3);
	ck_assert_str_eq(waits(), "job0|others|12|2 of 4 are in MPI_Barrier, without 1, 3\n");
	rank[0].call.is_of_world = rank[2].call.is_of_world = false;
	ck_assert_str_eq(waits(), "");
	is_in(0, "MPI_Bcast", TOP_CALL_TOGETHER, -1, -1); /* others may have been there */
	ck_assert_str_eq(waits(), "");
	is_in(0, "MPI_Allreduce", TOP_CALL_TOGETHER, -1, -1);
	ck_assert_str_eq(waits(), "job0|others|10|1 of 4 are in MPI_Allreduce, without 1, 2, 3\n");
	rank[0].stuck_s = TOP_WAITS_S - 1;
	ck_assert_str_eq(waits(), "");
	for (int64_t r = 0; r < RANKS; r++)
		is_in(r, "MPI_Barrier", TOP_CALL_TOGETHER, -1, -1);
	rank[2].stuck_s = 1; /* all have come */
	ck_assert_str_eq(waits(), "");
}

TEST(each_job_is_looked_at_by_itself)
{
	sample.nrank = 2 * RANKS;
	for (int64_t r = RANKS; r < 2 * RANKS; r++)
		computes(r);
	rank[0].rank = 1; /* the order does not matter, and what computes may come first */
	rank[1].rank = 0;
	rank[0].call.partner = 0;
	rank[1].call.partner = 1;
	ck_assert_int_eq((waits(), n), 1);
	rank[RANKS] = rank[0];
	/* a second rank of that number */
	snprintf(rank[RANKS].job, sizeof(rank[RANKS].job), "job0");
	ck_assert_str_eq(waits(), "");
}

TEST(calls_are_shown_with_their_partners)
{
	char text[TOP_CALL_TEXT_BYTES];

	ck_assert_str_eq(top_call_text(text, &rank[0].call), "MPI_Recv from 1");
	ck_assert_str_eq(top_call_text(text, &is_in(0, "MPI_Send", TOP_CALL_SENDS, 3, 1)->call),
			 "MPI_Send to 3");
	ck_assert_str_eq(top_call_text(text, &rank[2].call), "MPI_Barrier");
	rank[2].call.state = TOP_CALL_ASKS;
	ck_assert_str_eq(top_call_text(text, &rank[2].call), "MPI_Barrier ...");
	rank[2].call.state = TOP_CALL_OUT;
	ck_assert_str_eq(top_call_text(text, &rank[2].call), "-");
}

SUITE_WITH("top waits", set_up, nothing)
