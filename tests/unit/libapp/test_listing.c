/* SPDX-License-Identifier: Apache-2.0 */
/* The open operations of a rank, call by call, as its lm sees them. */
#include "common/ring/calls.h"
#include "common/base/array.h"
#include "common/ring/calls_id.h"
#include "tests/suite.h"
#include "tests/unit/libapp/fake_mpi.h"
#include "tests/unit/libapp/rank.h"

#include <string.h>

enum { WAIT_MANY = 200 }; /* more than WAIT_SET_MAX */

static int buf[64];

static void watch(uint32_t more)
{
	rank_up();
	segview_posted_start(rank_view);
	rank_hooks(HOOK_QUEUE | more);
}

/* Returns the number of entries of a function; *last is the last one. */
static unsigned open_of(unsigned func, struct segview_posted *last)
{
	struct segview_posted p;
	unsigned n = 0;

	for (unsigned i = 0; i < SEG_POSTED; i++)
		if (segview_posted(rank_view, i, &p) && p.func == func) {
			n++;
			*last = p;
		}
	return n;
}

static unsigned open_all(void)
{
	struct segview_posted p;
	unsigned n = 0;

	for (unsigned i = 0; i < SEG_POSTED; i++)
		n += segview_posted(rank_view, i, &p);
	return n;
}

static void wait_for(int32_t *request)
{
	struct fake_status status;

	fake_end = (struct fake_end){ .source = 2, .bytes = 8 };
	MPI_Wait(request, &status);
}

TEST(a_receive_is_listed_from_its_post_to_its_wait)
{
	const uint32_t words[] = { 0, HOOK_COUNT | HOOK_TIME,
				   HOOK_COUNT | HOOK_VOLUME | HOOK_PARTNER };
	struct segview_posted p;

	for (unsigned i = 0; i < ARRAY_LEN(words); i++) {
		int32_t request = 0x100 + (int32_t)i;
		uint64_t in;

		watch(words[i]);
		in = rank_call(CALL_ID_Irecv).bytes_in;
		MPI_Irecv(buf, 16, FAKE_INT, 3, 77, FAKE_WORLD, &request);
		ck_assert_uint_eq(open_of(CALL_ID_Irecv, &p), 1);
		ck_assert_int_eq(p.tag, 77);
		ck_assert_int_eq(p.partner, 3);
		ck_assert_int_eq(p.bytes, 64);
		ck_assert_uint_eq(p.comm, FAKE_WORLD);
		wait_for(&request);
		ck_assert_uint_eq(open_all(), 0);
		/* Bytes are counted as without a request for the list. */
		ck_assert_uint_eq(rank_call(CALL_ID_Irecv).bytes_in - in,
				  words[i] & HOOK_VOLUME ? 8 : 0);
		rank_down();
	}
}

TEST(any_source_and_any_tag_are_reported)
{
	struct segview_posted p;
	int32_t request = 0x110;

	watch(0);
	MPI_Irecv(buf, 1, FAKE_INT, FAKE_ANY_SOURCE, -1, FAKE_OTHER, &request);
	ck_assert_uint_eq(open_of(CALL_ID_Irecv, &p), 1);
	ck_assert_int_eq(p.tag, -1);
	ck_assert_int_eq(p.partner, -1);
	ck_assert_uint_eq(p.comm, FAKE_OTHER);
	wait_for(&request);
	request = 0x111;
	MPI_Irecv(buf, 1, FAKE_INT, FAKE_PROC_NULL, 3, FAKE_WORLD, &request);
	ck_assert_uint_eq(open_all(), 0);
	rank_down();
}

TEST(a_send_is_listed_until_it_is_complete)
{
	struct segview_posted p;
	int32_t request = 0x120;
	int flag = 0;

	watch(HOOK_COUNT | HOOK_VOLUME);
	MPI_Isend(buf, 4, FAKE_INT, 0, 5, FAKE_OTHER, &request);
	ck_assert_uint_eq(open_of(CALL_ID_Isend, &p), 1);
	ck_assert_int_eq(p.partner, FAKE_SIZE - 1); /* a rank of the world */
	ck_assert_int_eq(p.bytes, 16);
	fake_end = (struct fake_end){ .count = 0 };
	MPI_Test(&request, &flag, FAKE_STATUS_IGNORE);
	ck_assert_uint_eq(open_all(), flag ? 0 : 1);
	wait_for(&request);
	ck_assert_uint_eq(open_all(), 0);
	ck_assert_uint_eq(rank_call(CALL_ID_Isend).bytes_out, 16);
	ck_assert_uint_eq(rank_call(CALL_ID_Isend).bytes_in, 0);
	rank_down();
}

static struct segview_posted seen;
static unsigned nseen;

static void look_inside(void)
{
	nseen = open_of(CALL_ID_Send, &seen);
}

TEST(a_blocking_call_is_listed_while_it_blocks)
{
	watch(0);
	nseen = 0;
	fake_end = (struct fake_end){ .inside = look_inside };
	MPI_Send(buf, 2, FAKE_DOUBLE, 2, 9, FAKE_WORLD);
	ck_assert_uint_eq(nseen, 1);
	ck_assert_int_eq(seen.tag, 9);
	ck_assert_int_eq(seen.partner, 2);
	ck_assert_int_eq(seen.bytes, 16);
	ck_assert_uint_eq(open_all(), 0);
	fake_end = (struct fake_end){ .inside = look_inside };
	MPI_Send(buf, 2, FAKE_DOUBLE, FAKE_PROC_NULL, 9, FAKE_WORLD);
	ck_assert_uint_eq(nseen, 0);
	fake_end = (struct fake_end){ 0 };
	rank_down();
}

/* Entries while a call is inside: one of its send, one of its receive. */
static struct {
	struct segview_posted send, receive;
	unsigned sends, receives;
} inside;

static void look_at_both(void)
{
	struct segview_posted p;

	memset(&inside, 0, sizeof(inside));
	for (unsigned i = 0; i < SEG_POSTED; i++) {
		if (!segview_posted(rank_view, i, &p))
			continue;
		if (p.is_receive) {
			inside.receive = p;
			inside.receives++;
		} else {
			inside.send = p;
			inside.sends++;
		}
	}
}

TEST(a_sendrecv_is_listed_as_a_send_and_a_receive)
{
	struct fake_status status;

	watch(0);
	fake_end.inside = look_at_both;
	MPI_Sendrecv(buf, 3, FAKE_INT, 2, 11, buf, 5, FAKE_INT, 0, 12, FAKE_OTHER, &status);
	ck_assert_uint_eq(inside.sends, 1);
	ck_assert_uint_eq(inside.receives, 1);
	ck_assert_uint_eq(inside.send.func, CALL_ID_Sendrecv);
	ck_assert_int_eq(inside.send.partner, FAKE_SIZE - 1 - 2);
	ck_assert_int_eq(inside.send.tag, 11);
	ck_assert_int_eq(inside.send.bytes, 12);
	ck_assert_int_eq(inside.receive.partner, FAKE_SIZE - 1);
	ck_assert_int_eq(inside.receive.tag, 12);
	ck_assert_int_eq(inside.receive.bytes, 20);
	ck_assert_uint_eq(inside.receive.comm, FAKE_OTHER);
	ck_assert_uint_eq(open_all(), 0);
	MPI_Sendrecv_replace(buf, 3, FAKE_INT, 2, 11, FAKE_ANY_SOURCE, -1, FAKE_WORLD, &status);
	ck_assert_uint_eq(inside.sends, 1);
	ck_assert_uint_eq(inside.receives, 1);
	ck_assert_int_eq(inside.send.partner, 2);
	ck_assert_int_eq(inside.receive.partner, -1);
	ck_assert_int_eq(inside.receive.tag, -1);
	ck_assert_int_eq(inside.receive.bytes, 12);
	ck_assert_uint_eq(open_all(), 0);
	rank_down();
}

TEST(the_half_of_a_sendrecv_that_goes_nowhere_is_not_listed)
{
	struct fake_status status;

	watch(0);
	fake_end.inside = look_at_both;
	MPI_Sendrecv(buf, 3, FAKE_INT, FAKE_PROC_NULL, 11, buf, 5, FAKE_INT, 0, 12, FAKE_WORLD,
		     &status);
	ck_assert_uint_eq(inside.sends, 0);
	ck_assert_uint_eq(inside.receives, 1);
	MPI_Sendrecv(buf, 3, FAKE_INT, 2, 11, buf, 5, FAKE_INT, FAKE_PROC_NULL, 12, FAKE_WORLD,
		     &status);
	ck_assert_uint_eq(inside.sends, 1);
	ck_assert_uint_eq(inside.receives, 0);
	MPI_Sendrecv_replace(buf, 3, FAKE_INT, 2, 11, FAKE_PROC_NULL, 12, FAKE_WORLD, &status);
	ck_assert_uint_eq(inside.receives, 0);
	MPI_Send(buf, 3, FAKE_INT, 2, 11, FAKE_WORLD);
	ck_assert_uint_eq(inside.sends, 1);
	ck_assert_uint_eq(inside.receives, 0);
	ck_assert_uint_eq(open_all(), 0);
	rank_down();
}

TEST(posts_beyond_the_list_are_counted_as_lost)
{
	enum { POSTS = 2 * SEG_POSTED };

	watch(0);
	for (int32_t i = 0; i < POSTS; i++) {
		int32_t request = 0x1000 + i;

		MPI_Irecv(buf, 1, FAKE_INT, 3, 77, FAKE_WORLD, &request);
	}
	ck_assert_uint_gt(open_all(), SEG_POSTED / 2);
	ck_assert_uint_ge(open_all() + segview_posted_lost(rank_view), POSTS);
	rank_down();
}

TEST(a_persistent_one_is_listed_while_it_is_started)
{
	struct segview_posted p;
	int32_t request;

	for (int with_volume = 0; with_volume < 2; with_volume++) {
		watch(with_volume ? HOOK_COUNT | HOOK_VOLUME : 0);
		MPI_Recv_init(buf, 3, FAKE_INT, 2, 8, FAKE_WORLD, &request);
		ck_assert_uint_eq(open_all(), 0);
		for (int i = 0; i < 3; i++) {
			MPI_Start(&request);
			ck_assert_uint_eq(open_of(CALL_ID_Recv_init, &p), 1);
			ck_assert_int_eq(p.tag, 8);
			ck_assert_int_eq(p.bytes, 12);
			wait_for(&request);
			ck_assert_uint_eq(open_all(), 0);
		}
		MPI_Start(&request);
		MPI_Request_free(&request);
		ck_assert_uint_eq(open_all(), 0);
		ck_assert_uint_gt(segview_posted_lost(rank_view), 0);
		rank_down();
	}
}

TEST(an_earlier_persistent_request_is_listed_too)
{
	struct segview_posted p;
	int32_t r[2];

	watch(0);
	rank_hooks(0);
	MPI_Send_init(buf, 3, FAKE_INT, 2, 8, FAKE_WORLD, &r[0]);
	MPI_Psend_init(buf, 5, 2, FAKE_INT, 2, 9, FAKE_WORLD, 0, &r[1]);
	rank_hooks(HOOK_QUEUE);
	MPI_Startall(2, r);
	ck_assert_uint_eq(open_of(CALL_ID_Send_init, &p), 1);
	ck_assert_int_eq(p.tag, 8);
	ck_assert_int_eq(p.bytes, 12);
	ck_assert_int_eq(p.partner, 2);
	ck_assert_uint_eq(open_of(CALL_ID_Psend_init, &p), 1);
	ck_assert_int_eq(p.tag, 9);
	ck_assert_int_eq(p.bytes, 40);
	wait_for(&r[0]);
	wait_for(&r[1]);
	ck_assert_uint_eq(open_all(), 0);
	for (int i = 0; i < 2; i++)
		MPI_Request_free(&r[i]);
	rank_down();
}

TEST(more_than_a_wait_can_follow_are_counted_as_lost)
{
	static int32_t request[WAIT_MANY];
	uint64_t lost;

	watch(0);
	lost = segview_posted_lost(rank_view);
	for (int i = 0; i < WAIT_MANY; i++) {
		request[i] = 0x1000 + i;
		MPI_Irecv(buf, 1, FAKE_INT, 0, i, FAKE_WORLD, &request[i]);
	}
	ck_assert_uint_eq(open_all(), WAIT_MANY);
	MPI_Waitall(WAIT_MANY, request, FAKE_STATUS_IGNORE);
	ck_assert_uint_eq(open_all(), 0);
	ck_assert_uint_eq(segview_posted_lost(rank_view) - lost, WAIT_MANY);
	rank_down();
}

TEST(without_a_question_nothing_is_listed)
{
	int32_t request = 0x140;

	rank_up();
	segview_posted_start(rank_view);
	rank_hooks(HOOK_COUNT | HOOK_VOLUME | HOOK_PARTNER);
	MPI_Irecv(buf, 1, FAKE_INT, 3, 77, FAKE_WORLD, &request);
	ck_assert_uint_eq(open_all(), 0);
	wait_for(&request);
	rank_down();
}

SUITE("listing")
