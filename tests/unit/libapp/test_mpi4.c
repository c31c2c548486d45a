/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of MPI-4: large counts, and Isendrecv. */
#include "common/ring/calls_id.h"
#include "tests/suite.h"
#include "tests/unit/libapp/fake_mpi.h"
#include "tests/unit/libapp/rank.h"

static const uint32_t all = HOOK_COUNT | HOOK_TIME | HOOK_VOLUME | HOOK_PARTNER;
static int buf[16];

#define BYTES(id, out, in)                                                 \
	do {                                                               \
		ck_assert_uint_eq(rank_call(CALL_ID_##id).bytes_out, out); \
		ck_assert_uint_eq(rank_call(CALL_ID_##id).bytes_in, in);   \
	} while (0)

#define LARGE (INT64_C(3) << 30) /* more than an int holds */

TEST(calls_with_large_counts_count_as_the_others)
{
	const int64_t counts[FAKE_SIZE] = { LARGE, 1, 2, 3 };
	int64_t many = LARGE;
	int type = FAKE_INT, comm = FAKE_WORLD, root = FAKE_RANK, ierr = -1;
	int32_t r[2];

	rank_hooks(0);
	MPI_Send_init_c(buf, LARGE, FAKE_INT, 2, 1, FAKE_WORLD, &r[0]);
	rank_hooks(all);
	MPI_Send_c(buf, LARGE, FAKE_INT, 2, 5, FAKE_WORLD);
	BYTES(Send, 4 * LARGE, 0);
	ck_assert_uint_eq(rank_partner(CALL_ID_Send, 2).bytes_out, 4 * LARGE);
	MPI_Allgatherv_c(buf, 2, FAKE_INT, buf, (void *)(uintptr_t)counts, NULL, FAKE_INT,
			 FAKE_WORLD);
	BYTES(Allgatherv, 8, 4 * (LARGE + 6));
	MPI_Start(&r[0]);
	BYTES(Send_init, 4 * LARGE, 0);
	fake_end = (struct fake_end){ .source = 3, .bytes = 8 };
	MPI_Irecv_c(buf, LARGE, FAKE_INT, 3, 5, FAKE_WORLD, &r[1]);
	MPI_Wait(&r[1], FAKE_STATUS_IGNORE);
	BYTES(Irecv, 0, 8);
	mpi_bcast_f08ts_large_(&(void *){ buf }, &many, &type, &root, &comm, &ierr);
	BYTES(Bcast, 4 * LARGE, 0);
	rank_hooks(0);
}

static void isendrecv(int dest, int source)
{
	int32_t r;

	MPI_Isendrecv(buf, 3, FAKE_INT, dest, 1, buf, 2, FAKE_INT, source, 1, FAKE_WORLD, &r);
	MPI_Wait(&r, FAKE_STATUS_IGNORE);
}

/* The fake status contains 999 bytes: that of some libraries contains anything. */
TEST(isendrecv_counts_what_is_posted)
{
	rank_hooks(all);
	fake_end = (struct fake_end){ .source = 1, .bytes = 999 };
	isendrecv(2, 3);
	BYTES(Isendrecv, 12, 8);
	ck_assert_uint_eq(rank_call(CALL_ID_Isendrecv).count, 1);
	ck_assert_uint_eq(rank_partner(CALL_ID_Isendrecv, 2).bytes_out, 12);
	ck_assert_uint_eq(rank_partner(CALL_ID_Isendrecv, 2).bytes_in, 0);
	ck_assert_uint_eq(rank_partner(CALL_ID_Isendrecv, 3).bytes_in, 8);
	isendrecv(FAKE_PROC_NULL, FAKE_ANY_SOURCE);
	BYTES(Isendrecv, 12, 16);
	isendrecv(2, FAKE_PROC_NULL);
	BYTES(Isendrecv, 24, 16);
	ck_assert_uint_eq(rank_partner(CALL_ID_Isendrecv, 2).bytes_out, 24);
	rank_hooks(0);
}

SUITE_WITH("mpi4", rank_up, rank_down)
