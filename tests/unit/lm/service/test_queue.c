/* SPDX-License-Identifier: Apache-2.0 */
/* Posted operations of ranks, as a tool gets them. */
#include "common/base/array.h"
#include "common/omis/text/status.h"
#include "common/ring/calls_id.h"
#include "common/ring/posted.h"
#include "lm/proc/hooks.h"
#include "tests/suite.h"
#include "tests/unit/lm/two_ranks.h"

static struct seg_posted *table(struct fake_segment *s)
{
	return (struct seg_posted *)(void *)(s->base + s->h->posted_offset);
}

static struct posted_ref put(struct fake_segment *s, unsigned func, int32_t partner, int32_t tag)
{
	const struct seg_posted e = { .func = (uint16_t)func,
				      .partner = partner,
				      .tag = tag,
				      .bytes = 64,
				      .comm = 17,
				      .ticks = (uint64_t)tag };
	struct posted_ref ref = { 0 };

	posted_put(table(s), s->h->l.posted_epoch, 0, &e, &ref);
	return ref;
}

static const char *ask(uint32_t tool, const char *token, const char *flags)
{
	const struct msg_reply *r;
	char text[96];

	snprintf(text, sizeof(text), ":message_queue_get_info([@],%s)", flags);
	r = world_ask_as(&w, tool, OBSERVER, with(text, token));
	ck_assert_uint_eq(r->nentry, 1);
	ck_assert_uint_eq(r->entry[0].status, STATUS_OK);
	return entry_text(&r->entry[0]);
}

/* `since` varies: the texts around it are "length and fields" and "lost" with "unknown". */
static bool is(const char *answer, const char *before, const char *lost)
{
	const char *end = strrchr(answer, ',');

	while (end && end > answer && *--end != ',')
		;
	return !strncmp(answer, before, strlen(before)) && end && !strcmp(end + 1, lost) &&
	       strspn(answer + strlen(before), "0123456789") ==
		       (size_t)(end - answer) - strlen(before);
}

TEST(the_first_request_begins_an_empty_list_that_later_ones_read)
{
	struct posted_ref a;

	ck_assert_uint_eq(fake_segment_hook(&seg, "MPI_Irecv"), 0);
	ck_assert_uint_eq(put(&seg, CALL_ID_Irecv, 1, 5).state, 0);
	ck_assert(is(ask(1, rank0, "0"), "0,", "0,0"));
	ck_assert_uint_eq(fake_segment_hook(&seg, "MPI_Irecv"), HOOK_QUEUE);
	ck_assert_uint_eq(fake_segment_hook(&seg, "MPI_Waitall"), HOOK_QUEUE);
	ck_assert_uint_eq(fake_segment_hook(&seg, "MPI_Bcast"), 0);
	ck_assert_uint_eq(fake_segment_hook(&other, "MPI_Irecv"), 0);
	put(&seg, CALL_ID_Isend, 3, 9);
	a = put(&seg, CALL_ID_Irecv, -1, 8);
	seg.h->w.posted_lost = 4;
	ck_assert(is(ask(1, rank0, "0"), "2,", "4,0"));
	ck_assert(is(ask(1, rank0, "255"),
		     "2,[u_0,-1,64,0,0,8,17,\"MPI_Irecv\"],[u_0,0,64,0,3,9,17,\"MPI_Isend\"],",
		     "4,0"));
	posted_take(table(&seg), &a);
	ck_assert(is(ask(1, rank0, "32"), "1,[9],", "4,0"));
}

/* As in a deadlock: the call began before any request. */
TEST(a_call_begun_earlier_is_in_the_first_answer)
{
	const struct msg gone = { .type = MSG_TOOL_GONE, .tool_gone = { .tool = 1 } };

	fake_segment_be_in(&seg, "MPI_Recv", 1);
	ck_assert(is(ask(1, rank0, "662"), "1,[1,-1,0,\"MPI_Recv\",1],", "0,1"));
	put(&seg, CALL_ID_Irecv, 3, 9);
	ck_assert(is(ask(1, rank0, "514"), "2,[1,1],[3,0],", "0,1"));
	fake_segment_be_in(&seg, NULL, 0);
	ck_assert(is(ask(1, rank0, "514"), "1,[3,0],", "0,1"));
	/* A call that began after the request is listed by itself, or not at all. */
	fake_segment_be_in(&seg, "MPI_Recv", 1);
	ck_assert(is(ask(1, rank0, "514"), "1,[3,0],", "0,1"));
	above_send(&w.mainsm, &gone);
	world_run(&w, 10 * MS);
	ck_assert(is(ask(2, rank0, "514"), "1,[1,1],", "0,1"));
}

BARE_TEST(posting_and_waiting_calls_are_not_among_earlier_calls)
{
	static const char *const name[] = { "MPI_Irecv", "MPI_Waitall", "MPI_Bcast", "MPI_Put" };

	for (unsigned i = 0; i < ARRAY_LEN(name); i++) {
		open_ranks();
		fake_segment_be_in(&seg, name[i], 1);
		ck_assert(is(ask(1, rank0, "514"), "0,", "0,1"));
		close_ranks();
	}
}

BARE_TEST(the_current_call_of_a_thread_follows_on_request)
{
	static const char *const calls[][2] = {
		{ "MPI_Waitall", ",0,1,[100,\"MPI_Waitall\",\"wait\",0," },
		{ "MPI_Probe", ",0,1,[100,\"MPI_Probe\",\"message_probe\",0," },
		{ "MPI_Barrier", ",0,1,[100,\"MPI_Barrier\",\"barrier\",0," },
		{ "MPI_Allreduce", ",0,1,[100,\"MPI_Allreduce\",\"collective\",0," },
		{ "MPI_Recv", ",0,1,[100,\"MPI_Recv\",\"receive\",0," },
	};

	for (unsigned i = 0; i < ARRAY_LEN(calls); i++) {
		open_ranks();
		ck_assert_ptr_null(strchr(ask(1, rank0, "1024"), '['));
		fake_segment_be_in(&seg, calls[i][0], 1);
		put(&seg, CALL_ID_Irecv, 3, 9);
		ck_assert_msg(strstr(ask(2, rank1, "1024"), calls[i][0]) == NULL,
			      "of another rank");
		ck_assert_ptr_null(strstr(ask(1, rank0, "128"), calls[i][0]));
		ck_assert_ptr_nonnull(strstr(ask(1, rank0, "1152"), calls[i][0]));
		ck_assert_int_eq(strncmp(ask(1, rank0, "1152"), "1,[\"MPI_Irecv\"],", 16), 0);
		fake_segment_be_in(&seg, NULL, 0);
		ck_assert_ptr_null(strstr(ask(1, rank0, "1152"), calls[i][0]));
		fake_segment_be_in(&seg, calls[i][0], 1);
		world_ask_as(&w, 1, OBSERVER, with(":omig_calls_disable([@])", rank0));
		ck_assert_ptr_nonnull(strstr(ask(1, rank0, "1024"), calls[i][1]));
		close_ranks();
	}
}

TEST(a_call_with_two_partners_is_two_entries)
{
	fake_segment_be_in(&seg, "MPI_Sendrecv", 1);
	fake_segment_thread(&seg, 0)->current.source = 3;
	fake_segment_thread(&seg, 0)->current.source_tag = 8;
	ck_assert(is(ask(1, rank0, "0"), "2,", "0,1"));
	ck_assert_ptr_nonnull(strstr(ask(1, rank0, "178"), "[0,1,5,\"MPI_Sendrecv\"]"));
	ck_assert_ptr_nonnull(strstr(ask(1, rank0, "178"), "[3,0,8,\"MPI_Sendrecv\"]"));
}

TEST(posted_sendrecv_has_its_process_as_the_receiver)
{
	struct seg_posted e = {
		.func = CALL_ID_Sendrecv, .partner = 1, .tag = 5, .bytes = 64, .ticks = 1
	};
	struct posted_ref ref = { 0 };

	ask(1, rank0, "0");
	ck_assert(posted_put(table(&seg), seg.h->l.posted_epoch, 0, &e, &ref));
	e = (struct seg_posted){ .func = CALL_ID_Sendrecv,
				 .is_receive = 1,
				 .partner = 3,
				 .tag = 8,
				 .bytes = 32,
				 .ticks = 2 };
	ck_assert(posted_put(table(&seg), seg.h->l.posted_epoch, 0, &e, &ref));
	ck_assert(is(ask(1, rank0, "54"), "2,[0,64,1,5],[3,32,0,8],", "0,0"));
}

TEST(the_list_continues_until_its_last_tool_has_left)
{
	const struct msg gone[] = { { .type = MSG_TOOL_GONE, .tool_gone = { .tool = 1 } },
				    { .type = MSG_TOOL_GONE, .tool_gone = { .tool = 2 } } };

	ask(1, rank0, "0");
	put(&seg, CALL_ID_Isend, 3, 9);
	ck_assert(is(ask(2, rank0, "32"), "1,[9],", "0,0"));
	above_send(&w.mainsm, &gone[0]);
	world_run(&w, 10 * MS);
	ck_assert_uint_eq(fake_segment_hook(&seg, "MPI_Irecv"), HOOK_QUEUE);
	ck_assert(is(ask(2, rank0, "32"), "1,[9],", "0,0"));
	above_send(&w.mainsm, &gone[1]);
	world_run(&w, 10 * MS);
	ck_assert_uint_eq(fake_segment_hook(&seg, "MPI_Irecv"), 0);
	/* Later operations are in another list. */
	ck_assert(is(ask(3, rank0, "32"), "0,", "0,0"));
}

TEST(disable_ends_measuring_and_the_list)
{
	world_ask_as(&w, 1, OBSERVER, with(":omig_calls_enable([@],\"count\")", rank0));
	ask(1, rank0, "0");
	ck_assert_uint_eq(fake_segment_hook(&seg, "MPI_Irecv"), HOOK_QUEUE | HOOK_COUNT);
	ck_assert_uint_eq(fake_segment_hook(&seg, "MPI_Bcast"), HOOK_COUNT);
	world_ask_as(&w, 1, OBSERVER, with(":omig_calls_disable([@])", rank0));
	ck_assert_uint_eq(fake_segment_hook(&seg, "MPI_Irecv"), 0);
}

TEST(false_data_of_a_rank_are_shown_and_do_no_harm)
{
	ask(1, rank0, "0");
	for (unsigned i = 0; i < SEG_POSTED; i++)
		table(&seg)[i] = (struct seg_posted){ .state = seg.h->l.posted_epoch,
						      .func = (uint16_t)(i * 37),
						      .partner = INT32_MIN,
						      .tag = INT32_MIN,
						      .bytes = INT64_MIN,
						      .ticks = UINT64_MAX,
						      .comm = UINT64_MAX };
	ck_assert_uint_gt(strtoul(ask(1, rank0, "511"), NULL, 10), 0);
	ck_assert_ptr_nonnull(strstr(ask(1, rank0, "54"), ",[-1,0,0,-1]"));
}

SUITE_WITH("queue", open_ranks, close_ranks)
