/* SPDX-License-Identifier: Apache-2.0 */
/* The time of calls that wait for requests, by partner. */
#include "common/base/array.h"
#include "common/ring/calls.h"
#include "common/ring/calls_id.h"
#include "libapp/app.h"
#include "libapp/hot/requests.h"
#include "tests/suite.h"
#include "tests/unit/libapp/fake_mpi.h"
#include "tests/unit/libapp/rank.h"

static const uint32_t all = HOOK_COUNT | HOOK_TIME | HOOK_VOLUME | HOOK_PARTNER;
static int buf[WAIT_EAGER_BYTES]; /* more bytes than a small send has */

static int32_t receive_from(int source, int tag)
{
	int32_t r;

	MPI_Irecv(buf, 16, FAKE_INT, source, tag, FAKE_WORLD, &r);
	return r;
}

static int32_t send_to(int dest, int count)
{
	int32_t r;

	MPI_Isend(buf, count, FAKE_INT, dest, 1, FAKE_WORLD, &r);
	return r;
}

static uint64_t certain(unsigned func, int32_t partner)
{
	return rank_partner(func, partner).delay;
}

static uint64_t shared(unsigned func, int32_t partner)
{
	return rank_partner(func, partner).shared;
}

/* Checks that all time of func is certain, and that partner's. */
static void all_is_of(unsigned func, int32_t partner)
{
	ck_assert_uint_gt(rank_call(func).delay, 0);
	ck_assert_uint_eq(certain(func, partner), rank_call(func).delay);
	ck_assert_uint_eq(rank_partner(func, partner).possible, 0);
}

static void wait_all(int n, int32_t *r)
{
	fake_end = (struct fake_end){ .bytes = 8 };
	MPI_Waitall(n, r, FAKE_STATUS_IGNORE);
	ck_assert(requests_are_none());
}

TEST(a_wait_for_one_is_of_its_partner)
{
	int32_t r;

	rank_hooks(all);
	r = receive_from(2, 7);
	fake_end = (struct fake_end){ .source = 2, .bytes = 8 };
	MPI_Wait(&r, FAKE_STATUS_IGNORE);
	all_is_of(CALL_ID_Wait, 2);
	ck_assert_uint_eq(rank_partner(CALL_ID_Wait, 2).count, 0); /* the receive has counted */
	ck_assert_uint_eq(rank_partner(CALL_ID_Wait, 2).kinds, SEG_FOR_RECEIVE);
	ck_assert_int_eq(rank_partner(CALL_ID_Wait, 2).tag, 7);
	r = receive_from(2, 8);
	MPI_Wait(&r, FAKE_STATUS_IGNORE);
	ck_assert_int_eq(rank_partner(CALL_ID_Wait, 2).tag, SEG_TAG_SEVERAL);
	r = send_to(2, 1);
	MPI_Wait(&r, FAKE_STATUS_IGNORE);
	all_is_of(CALL_ID_Wait, 2);
	ck_assert_uint_eq(rank_partner(CALL_ID_Wait, 2).kinds, SEG_FOR_RECEIVE | SEG_FOR_SEND);
}

TEST(requests_of_one_partner_are_certain_together)
{
	int32_t r[3];

	rank_hooks(all);
	r[0] = receive_from(3, 1);
	r[1] = send_to(3, WAIT_EAGER_BYTES);
	r[2] = receive_from(3, 1);
	wait_all(3, r);
	all_is_of(CALL_ID_Waitall, 3);
}

TEST(time_is_shared_out_among_those_that_are_possible)
{
	int32_t r[3];
	uint64_t time;

	rank_hooks(all);
	r[0] = receive_from(0, 1);
	r[1] = receive_from(2, 1);
	r[2] = receive_from(3, 1);
	wait_all(3, r);
	time = rank_call(CALL_ID_Waitall).delay;
	ck_assert_uint_eq(shared(CALL_ID_Waitall, 0) + shared(CALL_ID_Waitall, 2) +
				  shared(CALL_ID_Waitall, 3),
			  time);
	for (int p = 0; p < 4; p += p ? 1 : 2) {
		ck_assert_uint_eq(certain(CALL_ID_Waitall, p), 0);
		ck_assert_uint_ge(shared(CALL_ID_Waitall, p), time / 3);
		ck_assert_uint_eq(rank_partner(CALL_ID_Waitall, p).possible, time);
	}
}

TEST(small_sends_are_possible_and_not_likely)
{
	int32_t r[2];
	uint64_t before;

	rank_hooks(all);
	r[0] = receive_from(2, 1);
	r[1] = send_to(3, 1);
	wait_all(2, r);
	before = rank_call(CALL_ID_Waitall).delay;
	ck_assert_uint_eq(shared(CALL_ID_Waitall, 2), before);
	ck_assert_uint_eq(shared(CALL_ID_Waitall, 3), 0);
	ck_assert_uint_eq(rank_partner(CALL_ID_Waitall, 3).possible, before);
	r[0] = receive_from(2, 1);
	r[1] = send_to(3, WAIT_EAGER_BYTES);
	wait_all(2, r);
	ck_assert_uint_gt(shared(CALL_ID_Waitall, 3), 0);
	/* With small sends only, all are equally likely. */
	r[0] = send_to(0, 1);
	r[1] = send_to(0, 1);
	before = certain(CALL_ID_Waitall, 0);
	wait_all(2, r);
	ck_assert_uint_gt(certain(CALL_ID_Waitall, 0), before);
}

TEST(of_any_and_some_those_that_ended_were_waited_for)
{
	int32_t r[4];
	int n, index[4];

	rank_hooks(all);
	for (int i = 0; i < 4; i++)
		r[i] = receive_from(i, 1);
	fake_end = (struct fake_end){ .bytes = 8, .first = 2, .count = 1 };
	MPI_Waitany(4, r, index, FAKE_STATUS_IGNORE);
	all_is_of(CALL_ID_Waitany, 2);
	fake_end.first = 0;
	fake_end.count = 2;
	MPI_Waitsome(4, r, &n, index, FAKE_STATUS_IGNORE);
	ck_assert_uint_eq(shared(CALL_ID_Waitsome, 0) + shared(CALL_ID_Waitsome, 1),
			  rank_call(CALL_ID_Waitsome).delay);
	ck_assert_uint_eq(rank_partner(CALL_ID_Waitsome, 3).possible, 0);
	wait_all(4, r);
	all_is_of(CALL_ID_Waitall, 3);
}

TEST(a_test_that_finds_nothing_has_looked_for_all)
{
	int32_t r[2];
	int flag, index;

	rank_hooks(all);
	r[0] = receive_from(0, 1);
	fake_end = (struct fake_end){ .bytes = 8 };
	MPI_Test(&r[0], &flag, FAKE_STATUS_IGNORE);
	all_is_of(CALL_ID_Test, 0);
	r[1] = receive_from(2, 1);
	MPI_Testany(2, r, &index, &flag, FAKE_STATUS_IGNORE);
	ck_assert_uint_eq(rank_partner(CALL_ID_Testany, 2).possible,
			  rank_call(CALL_ID_Testany).delay);
	wait_all(2, r);
}

TEST(of_any_source_the_one_that_came_was_waited_for)
{
	int32_t r;
	int flag;

	rank_hooks(all);
	r = receive_from(FAKE_ANY_SOURCE, 1);
	fake_end = (struct fake_end){ .source = 3, .bytes = 8 };
	MPI_Test(&r, &flag, FAKE_STATUS_IGNORE);
	all_is_of(CALL_ID_Test, CALL_PARTNER_UNKNOWN);
	MPI_Wait(&r, FAKE_STATUS_IGNORE);
	all_is_of(CALL_ID_Wait, 3);
}

TEST(cancelled_receive_has_no_partner)
{
	int32_t r;

	rank_hooks(all);
	r = receive_from(2, 1);
	fake_end = (struct fake_end){ .source = 2, .bytes = 8, .cancelled = true };
	MPI_Wait(&r, FAKE_STATUS_IGNORE);
	ck_assert_uint_eq(certain(CALL_ID_Wait, 2), 0);
	ck_assert_uint_eq(certain(CALL_ID_Wait, CALL_PARTNER_UNKNOWN), 0);
	ck_assert(requests_are_none());
}

TEST(persistent_requests_are_waited_for_while_they_are_started)
{
	int32_t r[2];
	uint64_t time;

	rank_hooks(all);
	MPI_Recv_init(buf, 16, FAKE_INT, 3, 1, FAKE_WORLD, &r[0]);
	MPI_Recv_init(buf, 16, FAKE_INT, 2, 1, FAKE_WORLD, &r[1]);
	MPI_Startall(2, r);
	fake_end = (struct fake_end){ .source = 3, .bytes = 8 };
	MPI_Wait(&r[0], FAKE_STATUS_IGNORE);
	all_is_of(CALL_ID_Wait, 3);
	/* The first request is inactive now. */
	MPI_Waitall(2, r, FAKE_STATUS_IGNORE);
	all_is_of(CALL_ID_Waitall, 2);
	time = certain(CALL_ID_Waitall, 2);
	MPI_Waitall(2, r, FAKE_STATUS_IGNORE);
	ck_assert_uint_eq(certain(CALL_ID_Waitall, 2), time);
	for (int i = 0; i < 2; i++)
		MPI_Request_free(&r[i]);
}

TEST(a_request_without_a_partner_is_not_waited_for)
{
	int32_t r[2];

	rank_hooks(all);
	MPI_Send_init(buf, 16, FAKE_INT, FAKE_PROC_NULL, 1, FAKE_WORLD, &r[0]);
	MPI_Recv_init(buf, 16, FAKE_INT, 2, 1, FAKE_WORLD, &r[1]);
	MPI_Startall(2, r);
	fake_end = (struct fake_end){ .source = 2, .bytes = 8 };
	MPI_Waitall(2, r, FAKE_STATUS_IGNORE);
	all_is_of(CALL_ID_Waitall, 2);
	ck_assert_uint_eq(rank_call(CALL_ID_Send_init).bytes_out, 0);
	for (int i = 0; i < 2; i++)
		MPI_Request_free(&r[i]);
}

TEST(a_wait_for_unknown_requests_has_an_unknown_partner)
{
	int32_t old, r[WAIT_SET_MAX + 1];
	uint64_t before;

	rank_hooks(0);
	old = receive_from(2, 1);
	rank_hooks(all);
	wait_all(1, &old);
	all_is_of(CALL_ID_Waitall, CALL_PARTNER_UNKNOWN);
	before = certain(CALL_ID_Waitall, CALL_PARTNER_UNKNOWN);
	for (int i = 0; i < WAIT_SET_MAX + 1; i++)
		r[i] = receive_from(2, 1);
	wait_all(WAIT_SET_MAX + 1, r);
	ck_assert_uint_gt(certain(CALL_ID_Waitall, CALL_PARTNER_UNKNOWN), before);
	ck_assert_uint_eq(certain(CALL_ID_Waitall, 2), 0);
}

TEST(a_collective_has_no_partner_of_its_own)
{
	int32_t r;

	rank_hooks(all);
	MPI_Allreduce_init(buf, buf + 16, 1, FAKE_INT, FAKE_SUM, FAKE_WORLD, 0, &r);
	MPI_Start(&r);
	fake_end = (struct fake_end){ 0 };
	MPI_Wait(&r, FAKE_STATUS_IGNORE);
	all_is_of(CALL_ID_Wait, CALL_PARTNER_ALL);
	ck_assert_uint_eq(rank_partner(CALL_ID_Wait, CALL_PARTNER_ALL).kinds, SEG_FOR_COLLECTIVE);
	MPI_Request_free(&r);
}

TEST(partners_are_ranks_of_the_world_in_any_communicator)
{
	int32_t r[2];

	rank_hooks(all);
	MPI_Irecv(buf, 16, FAKE_INT, 0, 1, FAKE_INTER, &r[0]); /* 1 in the world */
	MPI_Irecv(buf, 16, FAKE_INT, 2, 1, FAKE_OTHER, &r[1]); /* 1, too */
	wait_all(2, r);
	all_is_of(CALL_ID_Waitall, 1);
}

TEST(only_measured_waits_keep_track_of_sends)
{
	int32_t r;

	rank_hooks(HOOK_COUNT | HOOK_TIME | HOOK_VOLUME);
	r = send_to(2, 16);
	ck_assert(requests_are_none());
	MPI_Wait(&r, FAKE_STATUS_IGNORE);
	ck_assert_uint_eq(rank_partner(CALL_ID_Wait, 2).delay, 0);
	ck_assert_uint_eq(rank_partner(CALL_ID_Wait, CALL_PARTNER_UNKNOWN).delay, 0);
}

SUITE_WITH("waited", rank_up, rank_down)
