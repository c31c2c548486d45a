/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that complete requests, and which of the requests each completes. */
#include "common/ring/calls.h"
#include "common/base/array.h"
#include "common/ring/calls_id.h"
#include "libapp/app.h"
#include "libapp/hot/comm.h"
#include "libapp/hot/requests.h"
#include "tests/suite.h"
#include "tests/unit/libapp/fake_mpi.h"
#include "tests/unit/libapp/rank.h"

static const uint32_t all = HOOK_COUNT | HOOK_TIME | HOOK_VOLUME | HOOK_PARTNER;
static int buf[16];
static int32_t r[FAKE_SIZE];

/* One receive from each rank of the world: the partner shows which of them has ended. */
static void post(void)
{
	rank_hooks(all);
	for (int i = 0; i < FAKE_SIZE; i++)
		MPI_Irecv(buf, 16, FAKE_INT, i, 1, FAKE_WORLD, &r[i]);
}

static void came(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	const uint64_t want[FAKE_SIZE] = { a, b, c, d };

	for (int i = 0; i < FAKE_SIZE; i++)
		ck_assert_uint_eq(rank_partner(CALL_ID_Irecv, i).bytes_in, want[i]);
}

TEST(any_is_the_one_that_the_index_names)
{
	struct fake_status st;
	int index, flag;

	post();
	fake_end = (struct fake_end){ .bytes = 8, .step = 1, .first = 2, .count = 1 };
	MPI_Waitany(4, r, &index, FAKE_STATUS_IGNORE);
	came(0, 0, 8, 0);
	fake_end.first = 0;
	MPI_Waitany(4, r, &index, &st);
	came(8, 0, 8, 0);
	fake_end.first = 3;
	MPI_Testany(4, r, &index, &flag, &st);
	came(8, 0, 8, 8);
	fake_end.first = 1;
	fake_end.count = 0;
	MPI_Testany(4, r, &index, &flag, FAKE_STATUS_IGNORE);
	came(8, 0, 8, 8);
	fake_end.count = 1;
	MPI_Testany(4, r, &index, &flag, FAKE_STATUS_IGNORE);
	came(8, 8, 8, 8);
	ck_assert(requests_are_none());
}

TEST(some_are_those_of_the_indices_with_a_status_each)
{
	struct fake_status st[4];
	int n, indices[4];

	post();
	fake_end = (struct fake_end){ .bytes = 8, .step = 1, .first = 1, .count = 2 };
	MPI_Waitsome(4, r, &n, indices, FAKE_STATUS_IGNORE);
	came(0, 8, 9, 0);
	fake_end.first = 3;
	fake_end.count = 1;
	MPI_Testsome(4, r, &n, indices, st);
	came(0, 8, 9, 8);
	fake_end.count = FAKE_UNDEFINED;
	MPI_Testsome(4, r, &n, indices, st);
	fake_end.count = 0;
	MPI_Testsome(4, r, &n, indices, st);
	came(0, 8, 9, 8);
	fake_end.first = 0;
	fake_end.count = 1;
	MPI_Waitsome(1, r, &n, indices, st);
	came(8, 8, 9, 8);
	ck_assert(requests_are_none());
}

TEST(all_have_a_status_each)
{
	struct fake_status st[4];
	int flag;

	post();
	fake_end = (struct fake_end){ .bytes = 8, .step = 1 };
	MPI_Testall(4, r, &flag, st);
	came(0, 0, 0, 0);
	fake_end.count = 1;
	MPI_Testall(2, r + 2, &flag, st);
	came(0, 0, 8, 9);
	MPI_Waitall(4, r, FAKE_STATUS_IGNORE); /* two of them are null */
	came(8, 9, 8, 9);
	ck_assert(requests_are_none());
}

TEST(one_is_the_one_that_is_given)
{
	struct fake_status st;
	int flag;

	post();
	fake_end = (struct fake_end){ .bytes = 8, .step = 1 };
	MPI_Wait(&r[1], &st);
	came(0, 8, 0, 0);
	MPI_Test(&r[2], &flag, &st);
	came(0, 8, 0, 0);
	fake_end.count = 1;
	MPI_Test(&r[2], &flag, FAKE_STATUS_IGNORE);
	came(0, 8, 8, 0);
	MPI_Request_free(&r[0]);
	MPI_Wait(&r[3], FAKE_STATUS_IGNORE);
	came(0, 8, 8, 8);
	ck_assert(requests_are_none());
}

TEST(after_an_error_each_request_is_still_known)
{
	int index;

	post();
	fake_end = (struct fake_end){ .bytes = 8, .first = 2, .result = 5 };
	ck_assert_int_eq(MPI_Waitany(4, r, &index, FAKE_STATUS_IGNORE), 5);
	came(0, 0, 0, 0);
	ck_assert(!requests_are_none());
}

/* Too many for one call: receives count as posted, persistent requests remain known. */
TEST(too_many_for_one_call_are_given_up)
{
	enum { MANY = WAIT_SET_MAX + 1 };
	static int32_t many[MANY];
	struct seg_own own;
	int32_t persistent[2];

	rank_hooks(all);
	MPI_Send_init(buf, 3, FAKE_INT, 2, 1, FAKE_WORLD, &many[0]);
	MPI_Recv_init(buf, 16, FAKE_INT, 3, 1, FAKE_WORLD, &many[1]);
	MPI_Isend(buf, 3, FAKE_INT, 2, 1, FAKE_WORLD, &many[2]);
	persistent[0] = many[0];
	persistent[1] = many[1];
	MPI_Startall(2, many);
	ck_assert_uint_eq(rank_call(CALL_ID_Send_init).bytes_out, 12);
	for (int i = 3; i < MANY; i++)
		MPI_Irecv(buf, 16, FAKE_INT, i % FAKE_SIZE, 1, FAKE_WORLD, &many[i]);
	fake_end.bytes = 8;
	MPI_Waitall(MANY, many, FAKE_STATUS_IGNORE);
	ck_assert_uint_eq(rank_call(CALL_ID_Irecv).bytes_in, (MANY - 3) * 64);
	ck_assert_uint_eq(rank_call(CALL_ID_Recv_init).bytes_in, 0);
	segview_own(rank_view, &own);
	ck_assert_uint_eq(own.requests_lost, 1);
	MPI_Startall(2, persistent);
	MPI_Waitall(2, persistent, FAKE_STATUS_IGNORE);
	ck_assert_uint_eq(rank_call(CALL_ID_Send_init).bytes_out, 24);
	ck_assert_uint_eq(rank_call(CALL_ID_Recv_init).bytes_in, 8);
	segview_own(rank_view, &own);
	ck_assert_uint_eq(own.requests_lost, 1);
}

TEST(a_receive_of_any_source_has_the_partner_that_came)
{
	int32_t request, comm = (int32_t)FAKE_OTHER;

	rank_hooks(all);
	fake_end = (struct fake_end){ .source = 0, .bytes = 8 };
	MPI_Irecv(buf, 16, FAKE_INT, FAKE_ANY_SOURCE, 1, FAKE_OTHER, &request);
	MPI_Wait(&request, FAKE_STATUS_IGNORE);
	ck_assert_uint_eq(rank_partner(CALL_ID_Irecv, 3).bytes_in, 8);
	MPI_Irecv(buf, 16, FAKE_INT, FAKE_ANY_SOURCE, 1, FAKE_OTHER, &request);
	MPI_Comm_free(&comm);
	MPI_Wait(&request, FAKE_STATUS_IGNORE);
	ck_assert_uint_eq(rank_call(CALL_ID_Irecv).bytes_in, 16);
	for (int i = 0; i < FAKE_SIZE; i++)
		ck_assert_uint_eq(rank_partner(CALL_ID_Irecv, i).bytes_in, i == 3 ? 8 : 0);
}

/* --- communicators */

TEST(a_communicator_is_asked_once)
{
	unsigned before;

	rank_hooks(all);
	ck_assert_int_eq(comm_world_rank(FAKE_OTHER, false, 0), 3);
	before = fake_asked;
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(comm_world_rank(FAKE_OTHER, false, 0), 3);
	ck_assert_uint_eq(fake_asked, before);
	ck_assert_int_eq(comm_world_rank(FAKE_OTHER, false, 1), 2);
	ck_assert_uint_eq(fake_asked, before + 1); /* its group */
	ck_assert_int_eq(comm_world_rank(FAKE_WIN, true, 1), 2);
	before = fake_asked;
	ck_assert_int_eq(comm_world_rank(FAKE_WIN, true, 1), 2);
	ck_assert_uint_eq(fake_asked, before);
	ck_assert_int_eq(comm_world_rank(FAKE_WORLD, false, 2), 2);
	ck_assert_uint_eq(fake_asked, before);
}

TEST(a_rank_that_is_not_there_is_none)
{
	ck_assert_int_eq(comm_world_rank(FAKE_WORLD, false, FAKE_SIZE - 1), FAKE_SIZE - 1);
	ck_assert_int_eq(comm_world_rank(FAKE_WORLD, false, FAKE_SIZE), -1);
	ck_assert_int_eq(comm_world_rank(FAKE_WORLD, false, -1), -1);
	ck_assert_int_eq(comm_world_rank(FAKE_OTHER, false, FAKE_SIZE - 1), 0);
	ck_assert_int_eq(comm_world_rank(FAKE_OTHER, false, FAKE_SIZE), -1);
	ck_assert_int_eq(comm_world_rank(FAKE_INTER, false, FAKE_INTER_PEERS - 1), 3);
	ck_assert_int_eq(comm_world_rank(FAKE_INTER, false, FAKE_INTER_PEERS), -1);
	ck_assert_int_eq(comm_world_rank(FAKE_COMM_NULL, false, 0), -1);
	ck_assert_int_eq(comm_world_rank(0, false, 0), -1);
}

TEST(neighbours_are_asked_once)
{
	const struct comm_facts *f = comm_neighbours(FAKE_CHAIN);
	unsigned before = fake_asked;

	ck_assert_ptr_nonnull(f);
	ck_assert_int_eq(f->sources.blocks, 4);
	ck_assert_int_eq(f->sources.real, FAKE_CHAIN_NEIGHBOURS);
	ck_assert_int_eq(f->destinations.real, FAKE_CHAIN_NEIGHBOURS);
	ck_assert_uint_eq(f->sources.null[0], 1 << 2);
	ck_assert_int_eq(f->size, FAKE_SIZE);
	ck_assert_ptr_eq(comm_neighbours(FAKE_CHAIN), f);
	ck_assert_uint_eq(fake_asked, before);
	f = comm_neighbours(FAKE_GRAPH);
	ck_assert_int_eq(f->sources.blocks, FAKE_NEIGHBOURS);
	ck_assert_int_eq(f->destinations.real, FAKE_NEIGHBOURS);
	f = comm_neighbours(FAKE_DIST);
	ck_assert_int_eq(f->sources.blocks, FAKE_DIST_SOURCES);
	ck_assert_int_eq(f->destinations.blocks, FAKE_DIST_DESTINATIONS);
	f = comm_neighbours(FAKE_HOLES);
	ck_assert_int_eq(f->sources.blocks, FAKE_HOLES_SOURCES + 1);
	ck_assert_int_eq(f->sources.real, FAKE_HOLES_SOURCES);
	ck_assert_uint_eq(f->sources.null[0], 1 << 2);
	ck_assert_int_eq(f->destinations.blocks, FAKE_HOLES_BLOCKS);
	ck_assert_int_eq(f->destinations.real, FAKE_HOLES_BLOCKS - 1);
	ck_assert_uint_eq(f->destinations.null[0], 1 << 1);
	f = comm_neighbours(FAKE_OTHER);
	ck_assert_int_eq(f->sources.blocks, 0);
	ck_assert_ptr_null(comm_neighbours(FAKE_COMM_NULL));
}

SUITE_WITH("waits", rank_up, rank_down)
