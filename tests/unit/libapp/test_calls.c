/* SPDX-License-Identifier: Apache-2.0 */
/* Sends, receives and requests: counts, bytes, partners. */
#include "common/ring/calls.h"
#include "common/base/array.h"
#include "common/ring/calls_id.h"
#include "libapp/app.h"
#include "tests/suite.h"
#include "tests/unit/libapp/fake_mpi.h"
#include "tests/unit/libapp/rank.h"

#include <errno.h>

static const uint32_t all = HOOK_COUNT | HOOK_TIME | HOOK_VOLUME | HOOK_PARTNER;
static int buf[16];

static int send_to(int dest, uintptr_t comm)
{
	return MPI_Send(buf, 3, FAKE_INT, dest, 5, comm);
}

static int recv_from(int source, uintptr_t comm, void *status)
{
	return MPI_Recv(buf, 16, FAKE_INT, source, 5, comm, status);
}

#define BYTES(id, out, in)                                                 \
	do {                                                               \
		ck_assert_uint_eq(rank_call(CALL_ID_##id).bytes_out, out); \
		ck_assert_uint_eq(rank_call(CALL_ID_##id).bytes_in, in);   \
	} while (0)

TEST(nothing_is_counted_before_a_request)
{
	struct seg_own own;

	send_to(2, FAKE_WORLD);
	ck_assert_uint_eq(rank_call(CALL_ID_Send).count, 0);
	segview_own(rank_view, &own);
	ck_assert_int_eq(own.rank, FAKE_RANK);
	ck_assert_int_eq(own.world_size, FAKE_SIZE);
	ck_assert_uint_eq(own.flavour, SEG_FLAVOUR_MPICH);
	ck_assert_uint_eq(own.state, SEG_RUNNING);
	ck_assert_str_eq(own.library, "MPICH Version: 4.0.2");
	ck_assert_int_eq(omig_app_attached(), OMIG_READY);
	segview_lm_alive(rank_view, 7);
	ck_assert_int_eq(omig_app_attached(), OMIG_ATTACHED);
	ck_assert_int_eq(MPI_Finalize(), 0);
	segview_own(rank_view, &own);
	ck_assert_uint_eq(own.state, SEG_FINALIZED);
}

TEST(sends_count_with_bytes_and_the_partners_rank_in_the_world)
{
	rank_hooks(all);
	send_to(2, FAKE_WORLD);
	send_to(0, FAKE_OTHER); /* 3 in the world */
	send_to(1, FAKE_INTER); /* 2 */
	send_to(FAKE_PROC_NULL, FAKE_WORLD);
	send_to(FAKE_SIZE, FAKE_WORLD); /* no such rank */
	ck_assert_uint_eq(rank_call(CALL_ID_Send).count, 5);
	BYTES(Send, 48, 0);
	ck_assert_uint_eq(rank_partner(CALL_ID_Send, 2).count, 2);
	ck_assert_uint_eq(rank_partner(CALL_ID_Send, 2).bytes_out, 24);
	ck_assert_uint_eq(rank_partner(CALL_ID_Send, 3).count, 1);
}

/* Checks that the delays of partners a and b add up to the delay of the function. */
static void all_time_has_a_partner(unsigned func, int32_t a, int32_t b)
{
	uint64_t of_a = rank_partner(func, a).delay, of_b = rank_partner(func, b).delay;

	ck_assert_uint_gt(of_a, 0);
	ck_assert_uint_gt(of_b, 0);
	ck_assert_uint_eq(of_a + of_b, rank_call(func).delay);
}

TEST(the_time_of_a_call_is_its_partners)
{
	int32_t r;

	rank_hooks(HOOK_COUNT | HOOK_VOLUME | HOOK_PARTNER);
	send_to(2, FAKE_WORLD);
	ck_assert_uint_eq(rank_partner(CALL_ID_Send, 2).delay, 0);
	rank_hooks(all);
	send_to(2, FAKE_WORLD);
	send_to(1, FAKE_WORLD);
	send_to(2, FAKE_WORLD);
	all_time_has_a_partner(CALL_ID_Send, 1, 2);
	for (int source = 0; source < 2; source++) {
		fake_end = (struct fake_end){ .source = source, .bytes = 8 };
		recv_from(FAKE_ANY_SOURCE, FAKE_WORLD, FAKE_STATUS_IGNORE);
		MPI_Irecv(buf, 16, FAKE_INT, FAKE_ANY_SOURCE, 1, FAKE_WORLD, &r);
		ck_assert_uint_eq(rank_partner(CALL_ID_Irecv, source).delay, 0);
		MPI_Wait(&r, FAKE_STATUS_IGNORE);
	}
	all_time_has_a_partner(CALL_ID_Recv, 0, 1);
	all_time_has_a_partner(CALL_ID_Irecv, 0, 1);
}

TEST(the_time_of_a_measured_call_stands_for_those_that_are_not)
{
	rank_hooks(all | 3 << HOOK_SAMPLE_SHIFT);
	for (int i = 0; i < 1000; i++)
		send_to(1 + i % 2, FAKE_WORLD);
	all_time_has_a_partner(CALL_ID_Send, 1, 2);
	ck_assert_uint_lt(rank_call(CALL_ID_Send).sampled, 1000);
}

TEST(a_communicator_with_the_handle_of_a_freed_one_has_its_ranks)
{
	int32_t comm = (int32_t)FAKE_OTHER;

	rank_hooks(all);
	send_to(0, FAKE_OTHER);
	MPI_Comm_free(&comm);
	send_to(0, FAKE_OTHER);
	ck_assert_uint_eq(rank_partner(CALL_ID_Send, 3).count, 1);
	ck_assert_uint_eq(rank_partner(CALL_ID_Send, 0).count, 1);
}

TEST(receives_count_arrived_bytes_and_their_source)
{
	struct fake_status st = { 0 };

	rank_hooks(all);
	fake_end = (struct fake_end){ .source = 0, .bytes = 20 };
	recv_from(0, FAKE_WORLD, FAKE_STATUS_IGNORE);
	recv_from(FAKE_ANY_SOURCE, FAKE_OTHER, FAKE_STATUS_IGNORE); /* 0 there is 3 */
	recv_from(FAKE_ANY_SOURCE, FAKE_WORLD, &st);
	ck_assert_int_eq(st.count_low, 20);
	BYTES(Recv, 0, 60);
	ck_assert_uint_eq(rank_partner(CALL_ID_Recv, 0).count, 2);
	ck_assert_uint_eq(rank_partner(CALL_ID_Recv, 3).bytes_in, 20);
}

TEST(a_send_and_receive_in_one_has_two_partners)
{
	rank_hooks(all);
	fake_end = (struct fake_end){ .source = 3, .bytes = 8 };
	MPI_Sendrecv(buf, 3, FAKE_INT, 2, 1, buf, 16, FAKE_INT, FAKE_ANY_SOURCE, 1, FAKE_WORLD,
		     FAKE_STATUS_IGNORE);
	BYTES(Sendrecv, 12, 8);
	ck_assert_uint_eq(rank_partner(CALL_ID_Sendrecv, 2).bytes_out, 12);
	ck_assert_uint_eq(rank_partner(CALL_ID_Sendrecv, 2).bytes_in, 0);
	ck_assert_uint_eq(rank_partner(CALL_ID_Sendrecv, 3).bytes_in, 8);
	ck_assert_uint_eq(rank_partner(CALL_ID_Sendrecv, 3).bytes_out, 0);
	ck_assert_uint_eq(rank_partner(CALL_ID_Sendrecv, 2).count, 1);
	ck_assert_uint_eq(rank_partner(CALL_ID_Sendrecv, 3).count, 1);
	ck_assert_uint_eq(rank_partner(CALL_ID_Sendrecv, 2).possible,
			  rank_call(CALL_ID_Sendrecv).delay);
	/* A small send ends at once, so the time belongs to the receive. */
	ck_assert_uint_eq(rank_partner(CALL_ID_Sendrecv, 2).shared, 0);
	ck_assert_uint_eq(rank_partner(CALL_ID_Sendrecv, 3).shared,
			  rank_call(CALL_ID_Sendrecv).delay);
}

static void send_inside(void)
{
	fake_end.inside = NULL;
	send_to(3, FAKE_WORLD);
}

TEST(only_the_outermost_call_counts)
{
	static const uint32_t words[] = { HOOK_COUNT, HOOK_COUNT | HOOK_TIME, all };

	for (unsigned i = 0; i < 3; i++) {
		rank_hooks(words[i]);
		send_to(3, FAKE_WORLD); /* the thread has its block now */
		fake_end.inside = send_inside;
		send_to(2, FAKE_WORLD);
		ck_assert_ptr_null(fake_end.inside);
		ck_assert_uint_eq(rank_call(CALL_ID_Send).count, 2 * i + 2);
	}
	ck_assert_uint_eq(rank_call(CALL_ID_Send).in_call, 0);
}

TEST(an_error_is_handed_on_and_moves_nothing)
{
	rank_hooks(all);
	errno = 4711;
	fake_end = (struct fake_end){ .result = 15, .bytes = 20 };
	ck_assert_int_eq(send_to(2, FAKE_WORLD), 15);
	ck_assert_int_eq(recv_from(2, FAKE_WORLD, FAKE_STATUS_IGNORE), 15);
	ck_assert_int_eq(errno, 4711);
	ck_assert_uint_eq(rank_call(CALL_ID_Send).count, 1);
	BYTES(Send, 0, 0);
	BYTES(Recv, 0, 0);
}

/* --- requests */

static int32_t irecv(void)
{
	int32_t r;

	MPI_Irecv(buf, 16, FAKE_INT, FAKE_ANY_SOURCE, 1, FAKE_WORLD, &r);
	return r;
}

TEST(a_started_receive_counts_when_any_call_completes_it)
{
	int32_t r[4];
	int index, n, flag, indices[4];

	rank_hooks(all);
	fake_end = (struct fake_end){ .source = 2, .bytes = 8 };
	for (int i = 0; i < 4; i++)
		r[i] = irecv();
	ck_assert_uint_eq(rank_call(CALL_ID_Irecv).count, 4);
	BYTES(Irecv, 0, 0);
	MPI_Wait(&r[0], FAKE_STATUS_IGNORE);
	BYTES(Irecv, 0, 8);
	MPI_Test(&r[1], &flag, FAKE_STATUS_IGNORE); /* not yet */
	BYTES(Irecv, 0, 8);
	fake_end.count = 1;
	MPI_Test(&r[1], &flag, FAKE_STATUS_IGNORE);
	BYTES(Irecv, 0, 16);
	fake_end.first = 3;
	MPI_Waitany(4, r, &index, FAKE_STATUS_IGNORE);
	BYTES(Irecv, 0, 24);
	fake_end.first = 2;
	MPI_Waitsome(4, r, &n, indices, FAKE_STATUS_IGNORE);
	BYTES(Irecv, 0, 32);
	ck_assert_uint_eq(rank_partner(CALL_ID_Irecv, 2).bytes_in, 32);
	MPI_Waitall(4, r, FAKE_STATUS_IGNORE);
	BYTES(Irecv, 0, 32);
}

TEST(a_test_counts_what_it_completes)
{
	int32_t r[5];
	int index, n, flag, indices[5];

	rank_hooks(all);
	fake_end = (struct fake_end){ .source = 2, .bytes = 8, .first = 1 };
	for (int i = 0; i < 5; i++)
		r[i] = irecv();
	MPI_Testany(5, r, &index, &flag, FAKE_STATUS_IGNORE); /* none yet */
	MPI_Testall(5, r, &flag, FAKE_STATUS_IGNORE);
	MPI_Testsome(5, r, &n, indices, FAKE_STATUS_IGNORE);
	BYTES(Irecv, 0, 0);
	fake_end.count = 1;
	MPI_Testany(5, r, &index, &flag, FAKE_STATUS_IGNORE);
	BYTES(Irecv, 0, 8);
	fake_end = (struct fake_end){ .source = 3, .bytes = 8, .first = 2, .count = 2 };
	MPI_Testsome(5, r, &n, indices, FAKE_STATUS_IGNORE);
	BYTES(Irecv, 0, 24);
	MPI_Testall(5, r, &flag, FAKE_STATUS_IGNORE);
	BYTES(Irecv, 0, 40);
	ck_assert_uint_eq(rank_partner(CALL_ID_Irecv, 2).bytes_in, 8);
	ck_assert_uint_eq(rank_partner(CALL_ID_Irecv, 3).bytes_in, 32);
}

TEST(a_cancelled_receive_moves_nothing)
{
	struct fake_status st[2];
	int32_t r[2] = { 0 };

	rank_hooks(all);
	r[0] = irecv();
	r[1] = irecv();
	fake_end = (struct fake_end){ .source = 2, .bytes = 8, .cancelled = true };
	MPI_Waitall(2, r, st);
	ck_assert_int_eq(st[1].count_low, 8);
	BYTES(Irecv, 0, 0);
}

TEST(more_requests_than_one_call_has_room_for_count_as_posted)
{
	static int32_t r[130];

	rank_hooks(all);
	fake_end.bytes = 8;
	for (int i = 0; i < 128; i++)
		r[i] = irecv();
	MPI_Waitall(128, r, FAKE_STATUS_IGNORE);
	BYTES(Irecv, 0, 128 * 8);
	for (int i = 0; i < 129; i++)
		r[i] = irecv();
	MPI_Waitall(129, r, FAKE_STATUS_IGNORE);
	BYTES(Irecv, 0, 128 * 8 + 129 * 64);
}

TEST(more_open_receives_than_the_table_holds_count_as_posted)
{
	enum { MANY = 6000 };
	static int32_t r[MANY];

	rank_hooks(all);
	fake_end.bytes = 64; /* posted receives complete: the sum does not depend on the room */
	for (int i = 0; i < MANY; i++)
		r[i] = irecv();
	ck_assert_uint_gt(rank_call(CALL_ID_Irecv).bytes_in, (MANY - 4096) * 64 - 1);
	for (int i = 0; i < MANY; i++)
		MPI_Wait(&r[i], FAKE_STATUS_IGNORE);
	BYTES(Irecv, 0, MANY * 64);
}

TEST(persistent_requests_count_each_time)
{
	struct fake_status st[2];
	int32_t r[2];

	rank_hooks(all);
	fake_end = (struct fake_end){ .source = 3, .bytes = 8 };
	MPI_Send_init(buf, 3, FAKE_INT, 2, 1, FAKE_WORLD, &r[0]);
	MPI_Recv_init(buf, 16, FAKE_INT, 3, 1, FAKE_WORLD, &r[1]);
	MPI_Start(&r[0]);
	MPI_Start(&r[1]);
	MPI_Waitall(2, r, st);
	MPI_Startall(2, r);
	MPI_Waitall(2, r, FAKE_STATUS_IGNORE);
	BYTES(Start, 0, 0);
	BYTES(Startall, 0, 0);
	BYTES(Send_init, 24, 0);
	BYTES(Recv_init, 0, 16);
	ck_assert_uint_eq(rank_partner(CALL_ID_Send_init, 2).bytes_out, 24);
	ck_assert_uint_eq(rank_partner(CALL_ID_Send_init, 2).count, 1);
	ck_assert_uint_eq(rank_partner(CALL_ID_Recv_init, 3).bytes_in, 16);
	ck_assert_uint_eq(rank_partner(CALL_ID_Recv_init, 3).count, 1);
	for (int i = 0; i < 2; i++)
		MPI_Request_free(&r[i]);
	ck_assert_int_eq(r[1], FAKE_REQUEST_NULL);
}

/* The persistent request is made before the hooks are on, and freed after they are off. */
TEST(persistent_requests_are_known_whenever_they_were_made)
{
	int32_t r[2], old;

	rank_hooks(0);
	fake_end = (struct fake_end){ .source = 3, .bytes = 8 };
	MPI_Send_init(buf, 3, FAKE_INT, 2, 1, FAKE_WORLD, &r[0]);
	MPI_Recv_init(buf, 16, FAKE_INT, 3, 1, FAKE_WORLD, &r[1]);
	MPI_Startall(2, r);
	MPI_Waitall(2, r, FAKE_STATUS_IGNORE);
	ck_assert_uint_eq(rank_call(CALL_ID_Send_init).count, 0);
	BYTES(Send_init, 0, 0);
	BYTES(Recv_init, 0, 0);
	rank_hooks(all);
	MPI_Startall(2, r);
	MPI_Waitall(2, r, FAKE_STATUS_IGNORE);
	ck_assert_uint_eq(rank_call(CALL_ID_Send_init).count, 0);
	BYTES(Send_init, 12, 0);
	BYTES(Recv_init, 0, 8);
	ck_assert_uint_eq(rank_partner(CALL_ID_Send_init, 2).bytes_out, 12);
	rank_hooks(0);
	old = r[0];
	MPI_Request_free(&r[0]);
	MPI_Request_free(&r[1]);
	rank_hooks(all);
	MPI_Start(&old);
	BYTES(Send_init, 12, 0);
}

TEST(persistent_collectives_count_each_time)
{
	int32_t r[3];

	rank_hooks(all);
	fake_end = (struct fake_end){ .source = 3, .bytes = 8 };
	MPI_Allreduce_init(buf, buf, 3, FAKE_INT, FAKE_SUM, FAKE_WORLD, 0, &r[0]);
	MPIX_Neighbor_alltoall_init(buf, 2, FAKE_INT, buf, 3, FAKE_INT, FAKE_CHAIN, 0, &r[1]);
	MPI_Barrier_init(FAKE_WORLD, 0, &r[2]);
	BYTES(Allreduce_init, 0, 0);
	for (int i = 0; i < 2; i++) {
		MPI_Startall(3, r);
		MPI_Waitall(3, r, FAKE_STATUS_IGNORE);
	}
	BYTES(Allreduce_init, 24, 24);
	BYTES(Neighbor_alltoall_init, 2 * FAKE_CHAIN_NEIGHBOURS * 8,
	      2 * FAKE_CHAIN_NEIGHBOURS * 12);
	BYTES(Startall, 0, 0);
	ck_assert_uint_eq(rank_call(CALL_ID_Barrier_init).count, 1);
}

TEST(partitions_count_when_they_are_ready)
{
	int parts[2] = { 4, 5 };
	int32_t r[2];

	rank_hooks(0);
	fake_end = (struct fake_end){ .source = 3, .bytes = 6 * 3 * 4 };
	MPI_Psend_init(buf, 6, 3, FAKE_INT, 2, 1, FAKE_WORLD, 0, &r[0]);
	MPI_Precv_init(buf, 6, 3, FAKE_INT, 3, 1, FAKE_WORLD, 0, &r[1]);
	rank_hooks(all);
	for (int i = 1; i <= 2; i++) {
		MPI_Startall(2, r);
		BYTES(Psend_init, (uint64_t)(i - 1) * 72, 0);
		MPI_Pready(0, (uintptr_t)r[0]);
		BYTES(Psend_init, (uint64_t)(i - 1) * 72 + 12, 0);
		fake_end.count = 0;
		MPI_Test(&r[0], &(int){ 0 }, FAKE_STATUS_IGNORE);
		MPI_Pready_range(1, 3, (uintptr_t)r[0]);
		MPI_Pready_list(2, parts, (uintptr_t)r[0]);
		BYTES(Psend_init, (uint64_t)i * 72, 0);
		MPI_Waitall(2, r, FAKE_STATUS_IGNORE);
		BYTES(Precv_init, 0, (uint64_t)i * 72);
	}
	ck_assert_uint_eq(rank_partner(CALL_ID_Psend_init, 2).bytes_out, 144);
	MPI_Request_free(&r[0]);
	MPI_Request_free(&r[1]);
}

TEST(fortran_partitions_count_as_those_of_c)
{
	int parts = 6, type = FAKE_INT, peer = 2, tag = 1, comm = FAKE_WORLD, hints = 0, part = 0,
	    ierr = -1;
	int64_t n = 3;
	int32_t r;

	rank_hooks(all);
	mpi_psend_init_(buf, &parts, &n, &type, &peer, &tag, &comm, &hints, &r, &ierr);
	ck_assert_int_eq(ierr, 0);
	MPI_Start(&r);
	mpi_pready_(&part, &r, &ierr);
	BYTES(Psend_init, 12, 0);
}

TEST(persistent_requests_without_room_are_counted_as_lost)
{
	enum { MANY = 6000 };
	static int32_t r[MANY];
	uint64_t lost;
	struct seg_own own;

	rank_hooks(all);
	for (int i = 0; i < MANY; i++)
		MPI_Send_init(buf, 1, FAKE_INT, 2, 1, FAKE_WORLD, &r[i]);
	MPI_Startall(MANY, r);
	segview_own(rank_view, &own);
	lost = own.requests_lost;
	ck_assert_uint_ge(lost, MANY - 4096);
	ck_assert_uint_eq(rank_call(CALL_ID_Send_init).bytes_out, 4 * (MANY - lost));
	fake_end = (struct fake_end){ .source = 3, .bytes = 8 };
	for (int i = 0; i < 129; i++) {
		MPI_Request_free(&r[i]);
		MPI_Recv_init(buf, 16, FAKE_INT, 3, 1, FAKE_WORLD, &r[i]);
	}
	MPI_Startall(129, r);
	MPI_Waitall(129, r, FAKE_STATUS_IGNORE);
	segview_own(rank_view, &own);
	ck_assert_uint_gt(own.requests_lost, lost);
}

/* A start of several requests counts once for each partner. */
TEST(starting_requests_is_of_their_partners)
{
	int32_t r[4];

	rank_hooks(all);
	fake_end = (struct fake_end){ .source = 3, .bytes = 8 };
	for (int i = 0; i < 3; i++)
		MPI_Send_init(buf, 3, FAKE_INT, i == 1 ? 1 : 2, 1, FAKE_WORLD, &r[i]);
	MPI_Recv_init(buf, 16, FAKE_INT, 3, 1, FAKE_WORLD, &r[3]);
	for (int i = 0; i < 2; i++) {
		MPI_Startall(4, r);
		MPI_Waitall(4, r, FAKE_STATUS_IGNORE);
	}
	ck_assert_uint_eq(rank_partner(CALL_ID_Startall, 2).count, 2);
	ck_assert_uint_eq(rank_partner(CALL_ID_Startall, 2).bytes_out, 0);
	ck_assert_uint_eq(rank_partner(CALL_ID_Send_init, 2).bytes_out, 48);
	ck_assert_uint_eq(rank_partner(CALL_ID_Send_init, 1).bytes_out, 24);
	for (int partner = 1; partner <= 3; partner++)
		ck_assert_uint_eq(rank_partner(CALL_ID_Startall, partner).delay,
				  rank_call(CALL_ID_Startall).delay);
	ck_assert_uint_eq(rank_partner(CALL_ID_Startall, 3).count, 2);
	ck_assert_uint_eq(rank_partner(CALL_ID_Startall, 3).bytes_out, 0);
	MPI_Start(&r[1]);
	MPI_Wait(&r[1], FAKE_STATUS_IGNORE);
	ck_assert_uint_gt(rank_call(CALL_ID_Start).delay, 0);
	ck_assert_uint_eq(rank_partner(CALL_ID_Start, 1).delay, rank_call(CALL_ID_Start).delay);
	ck_assert_uint_eq(rank_partner(CALL_ID_Start, 1).count, 1);
}

/* --- Fortran */

TEST(fortran_calls_count_as_those_of_c)
{
	extern void *MPI_F_STATUS_IGNORE;
	int n = 3, type = FAKE_INT, peer = 2, tag = 1, comm = FAKE_WORLD, ierr = -1,
	    root = FAKE_RANK;

	rank_hooks(all);
	fake_end = (struct fake_end){ .source = 2, .bytes = 8 };
	mpi_send_(buf, &n, &type, &peer, &tag, &comm, &ierr);
	ck_assert_int_eq(ierr, 0);
	ck_assert_uint_eq(rank_call(CALL_ID_Send).count, 1);
	BYTES(Send, 12, 0);
	mpi_recv_(buf, &n, &type, &peer, &tag, &comm, MPI_F_STATUS_IGNORE, &ierr);
	BYTES(Recv, 0, 8);
	mpi_bcast_f08ts_(&(void *){ buf }, &n, &type, &root, &comm, &ierr);
	BYTES(Bcast, 12, 0);
}

/* The mpi_f08 of some libraries counts indices from 0, of others from 1. */
static void waitsome_from(int base)
{
	extern void *MPI_F08_STATUSES_IGNORE;
	int n = 3, type = FAKE_INT, peer = 2, tag = 1, comm = FAKE_WORLD, ierr, done, indices[3];
	int32_t r[3];

	rank_hooks(all);
	for (int i = 0; i < 3; i++)
		mpi_irecv_f08_(buf, &n, &type, &peer, &tag, &comm, &r[i], &ierr);
	fake_end = (struct fake_end){
		.source = 2, .bytes = 4, .first = 1, .count = 2, .fortran_base = base
	};
	mpi_waitsome_f08_(&n, r, &done, indices, MPI_F08_STATUSES_IGNORE, &ierr);
	ck_assert_int_eq(done, 2);
	BYTES(Irecv, 0, 8);
	fake_end.first = 0;
	fake_end.count = 1;
	mpi_waitsome_f08_(&n, r, &done, indices, MPI_F08_STATUSES_IGNORE, &ierr);
	BYTES(Irecv, 0, 12);
}

TEST(fortran_indices_from_0_are_understood)
{
	waitsome_from(0);
}

TEST(fortran_indices_from_1_are_understood)
{
	waitsome_from(1);
}

SUITE_WITH("calls", rank_up, rank_down)
