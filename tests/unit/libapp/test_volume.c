/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes of collective, one-sided and file calls: the rules at the head of calls.def. */
#include "common/ring/calls.h"
#include "common/ring/calls_id.h"
#include "tests/suite.h"
#include "tests/unit/libapp/fake_mpi.h"
#include "tests/unit/libapp/rank.h"

static int a[64], b[64];
static int counts[FAKE_SIZE + 2] = { 1, 2, 3, 4, 5, 6 }, displs[FAKE_SIZE + 2];
static const int32_t types[FAKE_SIZE + 2] = { FAKE_INT, FAKE_INT, FAKE_DOUBLE,
					      FAKE_INT, FAKE_INT, FAKE_INT };
static void *const w_types = (void *)(uintptr_t)types;

enum { ME = FAKE_RANK, LEAF = FAKE_RANK + 1, N = FAKE_SIZE, I = 4, ALL = (1 + 2 + 3 + 4) * I };

#define INT FAKE_INT
#define WORLD FAKE_WORLD
#define IN_PLACE FAKE_IN_PLACE
#define OWN_V ((ME + 1) * I)

/* The increment of this one call. */
#define MOVES(name, out, in, ...)                                           \
	do {                                                                \
		const struct segview_call was_ = rank_call(CALL_ID_##name); \
		struct segview_call is_;                                    \
		ck_assert_int_eq(MPI_##name(__VA_ARGS__), 0);               \
		is_ = rank_call(CALL_ID_##name);                            \
		ck_assert_uint_eq(is_.count - was_.count, 1);               \
		ck_assert_uint_eq(is_.bytes_out - was_.bytes_out, out);     \
		ck_assert_uint_eq(is_.bytes_in - was_.bytes_in, in);        \
	} while (0)

TEST(rooted_calls)
{
	MOVES(Bcast, 12, 0, a, 3, INT, ME, WORLD);
	MOVES(Bcast, 0, 12, a, 3, INT, LEAF, WORLD);
	MOVES(Gather, 12, N * 12, a, 3, INT, b, 3, INT, ME, WORLD);
	MOVES(Gather, 0, (N - 1) * 12, IN_PLACE, 3, INT, b, 3, INT, ME, WORLD);
	MOVES(Gather, 12, 0, a, 3, INT, b, 3, INT, LEAF, WORLD);
	MOVES(Gatherv, 12, ALL, a, 3, INT, b, counts, displs, INT, ME, WORLD);
	MOVES(Gatherv, 0, ALL - OWN_V, IN_PLACE, 3, INT, b, counts, displs, INT, ME, WORLD);
	MOVES(Gatherv, 12, 0, a, 3, INT, NULL, NULL, NULL, INT, LEAF, WORLD);
	MOVES(Scatter, N * 12, 12, a, 3, INT, b, 3, INT, ME, WORLD);
	MOVES(Scatter, (N - 1) * 12, 0, a, 3, INT, IN_PLACE, 3, INT, ME, WORLD);
	MOVES(Scatter, 0, 12, a, 3, INT, b, 3, INT, LEAF, WORLD);
	MOVES(Scatterv, ALL, 12, a, counts, displs, INT, b, 3, INT, ME, WORLD);
	MOVES(Scatterv, ALL - OWN_V, 0, a, counts, displs, INT, IN_PLACE, 3, INT, ME, WORLD);
	MOVES(Scatterv, 0, 12, NULL, NULL, NULL, INT, b, 3, INT, LEAF, WORLD);
	MOVES(Reduce, 12, 12, a, b, 3, INT, FAKE_SUM, ME, WORLD);
	MOVES(Reduce, 12, 0, a, b, 3, INT, FAKE_SUM, LEAF, WORLD);
}

TEST(calls_of_all_with_all)
{
	MOVES(Allgather, 8, N * 12, a, 2, INT, b, 3, INT, WORLD);
	MOVES(Allgather, 12, N * 12, IN_PLACE, 0, INT, b, 3, INT, WORLD);
	MOVES(Allgatherv, 8, ALL, a, 2, INT, b, counts, displs, INT, WORLD);
	MOVES(Allgatherv, OWN_V, ALL, IN_PLACE, 0, INT, b, counts, displs, INT, WORLD);
	MOVES(Alltoall, N * 8, N * 12, a, 2, INT, b, 3, INT, WORLD);
	MOVES(Alltoall, N * 12, N * 12, IN_PLACE, 0, INT, b, 3, INT, WORLD);
	MOVES(Alltoallv, ALL, ALL, a, counts, displs, INT, b, counts, displs, INT, WORLD);
	MOVES(Alltoallw, ALL + 12, ALL + 12, a, counts, displs, w_types, b, counts, displs, w_types,
	      WORLD);
	MOVES(Alltoallw, ALL + 12, ALL + 12, IN_PLACE, NULL, NULL, NULL, b, counts, displs, w_types,
	      WORLD);
	MOVES(Allreduce, 12, 12, a, b, 3, INT, FAKE_SUM, WORLD);
	MOVES(Reduce_scatter, ALL, OWN_V, a, b, counts, INT, FAKE_SUM, WORLD);
	MOVES(Reduce_scatter_block, N * 12, 12, a, b, 3, INT, FAKE_SUM, WORLD);
	MOVES(Barrier, 0, 0, WORLD);
}

TEST(between_two_groups_the_other_one_counts)
{
	const int n = FAKE_INTER_PEERS;

	MOVES(Bcast, 12, 0, a, 3, INT, FAKE_ROOT, FAKE_INTER);
	MOVES(Bcast, 0, 12, a, 3, INT, 0, FAKE_INTER);
	MOVES(Bcast, 0, 0, a, 3, INT, FAKE_PROC_NULL, FAKE_INTER);
	MOVES(Gather, 0, n * 12, a, 3, INT, b, 3, INT, FAKE_ROOT, FAKE_INTER);
	MOVES(Scatter, n * 12, 0, a, 3, INT, b, 3, INT, FAKE_ROOT, FAKE_INTER);
	MOVES(Allgather, 8, n * 12, a, 2, INT, b, 3, INT, FAKE_INTER);
	MOVES(Alltoall, n * 8, n * 12, a, 2, INT, b, 3, INT, FAKE_INTER);
}

TEST(neighbours)
{
	const int n = FAKE_NEIGHBOURS;

	MOVES(Neighbor_allgather, 8, 4 * 12, a, 2, INT, b, 3, INT, FAKE_CART);
	MOVES(Neighbor_allgather, 8, n * 12, a, 2, INT, b, 3, INT, FAKE_GRAPH);
	MOVES(Neighbor_allgather, 0, 0, a, 2, INT, b, 3, INT, WORLD); /* has none */
	MOVES(Neighbor_allgatherv, 8, 6 * I, a, 2, INT, b, counts, displs, INT, FAKE_GRAPH);
	MOVES(Neighbor_alltoall, n * 8, n * 12, a, 2, INT, b, 3, INT, FAKE_GRAPH);
	MOVES(Neighbor_alltoallv, 15 * I, 3 * I, a, counts, displs, INT, b, counts, displs, INT,
	      FAKE_DIST);
	MOVES(Neighbor_alltoallw, 15 * I + 12, 3 * I, a, counts, displs, w_types, b, counts, displs,
	      w_types, FAKE_DIST);
}

/* Blocks of MPI_PROC_NULL are in the buffers, and are not transferred. */
TEST(only_neighbours_that_are_there_move_bytes)
{
	static int many[FAKE_HOLES_BLOCKS], none[FAKE_HOLES_BLOCKS];
	const int n = FAKE_CHAIN_NEIGHBOURS, in = FAKE_HOLES_SOURCES;

	many[1] = 7; /* to no peer */
	many[2] = 2;
	many[FAKE_HOLES_BLOCKS - 1] = 1;
	MOVES(Neighbor_allgather, 8, n * 12, a, 2, INT, b, 3, INT, FAKE_CHAIN);
	MOVES(Neighbor_alltoall, n * 8, n * 12, a, 2, INT, b, 3, INT, FAKE_CHAIN);
	MOVES(Neighbor_allgatherv, 8, (1 + 2 + 4) * I, a, 2, INT, b, counts, displs, INT,
	      FAKE_CHAIN);
	MOVES(Neighbor_alltoallv, (1 + 2 + 4) * I, (1 + 2 + 4) * I, a, counts, displs, INT, b,
	      counts, displs, INT, FAKE_CHAIN);
	MOVES(Neighbor_alltoallw, (1 + 2 + 4) * I, (1 + 2 + 4) * I, a, counts, displs, w_types, b,
	      counts, displs, w_types, FAKE_CHAIN);
	MOVES(Neighbor_alltoall, (FAKE_HOLES_BLOCKS - 1) * 8, in * 12, a, 2, INT, b, 3, INT,
	      FAKE_HOLES);
	MOVES(Neighbor_alltoallv, (2 + 1) * I, (1 + 2 + 4) * I, a, many, none, INT, b, counts,
	      displs, INT, FAKE_HOLES);
}

TEST(one_sided_calls_and_the_partners_of_windows)
{
	MOVES(Put, 12, 0, a, 3, INT, 0, 0, 3, INT, FAKE_WIN);
	MOVES(Get, 0, 12, a, 3, INT, 0, 0, 3, INT, FAKE_WIN);
	MOVES(Get_accumulate, 8, 12, a, 2, INT, b, 3, INT, 0, 0, 3, INT, FAKE_SUM, FAKE_WIN);
	MOVES(Fetch_and_op, 4, 4, a, b, INT, 0, 0, FAKE_SUM, FAKE_WIN);
	MOVES(Compare_and_swap, 8, 4, a, b, b, INT, 0, 0, FAKE_WIN);
	ck_assert_uint_eq(rank_partner(CALL_ID_Put, FAKE_SIZE - 1).bytes_out, 12);
}

TEST(sendrecv_replace_counts_bytes_in_both_directions)
{
	struct fake_status status;
	int32_t request;

	fake_end.bytes = 8;
	fake_end.source = 3;
	MOVES(Sendrecv_replace, 12, 8, a, 3, INT, 2, 1, FAKE_ANY_SOURCE, 1, WORLD, &status);
	MOVES(Sendrecv_replace, 0, 8, a, 3, INT, FAKE_PROC_NULL, 1, 3, 1, WORLD, &status);
	ck_assert_uint_eq(rank_partner(CALL_ID_Sendrecv_replace, 2).bytes_out, 12);
	ck_assert_uint_eq(rank_partner(CALL_ID_Sendrecv_replace, 2).bytes_in, 0);
	ck_assert_uint_eq(rank_partner(CALL_ID_Sendrecv_replace, 3).bytes_in, 16);
	MOVES(Isendrecv_replace, 12, 12, a, 3, INT, 2, 1, 3, 1, WORLD, &request);
	MOVES(Isendrecv_replace, 0, 12, a, 3, INT, FAKE_PROC_NULL, 1, 3, 1, WORLD, &request);
	MOVES(Isendrecv_replace, 12, 0, a, 3, INT, 2, 1, FAKE_PROC_NULL, 1, WORLD, &request);
}

TEST(file_reads_count_the_bytes_of_their_status)
{
	fake_end.bytes = 20;
	MOVES(File_read_at, 0, 20, 1, 0, a, 16, INT, FAKE_STATUS_IGNORE);
	MOVES(File_write_at, 20, 0, 1, 0, a, 16, INT, FAKE_STATUS_IGNORE);
}

TEST(sizes_beyond_an_int_and_arguments_that_make_no_sense)
{
	MOVES(Send, 3ull << 33, 0, a, 3, FAKE_HUGE, 2, 1, WORLD);
	MOVES(Send, 0, 0, a, INT32_MAX, 0, 2, 1, WORLD);
	MOVES(Send, 0, 0, a, -1, INT, 2, 1, WORLD);
	MOVES(Bcast, 0, 0, a, 3, INT, ME, FAKE_COMM_NULL);
	MOVES(Bcast, 0, 0, a, 3, INT, ME, 0);
}

static void set_up(void)
{
	rank_up();
	rank_hooks(HOOK_COUNT | HOOK_VOLUME | HOOK_PARTNER);
}

SUITE_WITH("volume", set_up, rank_down)
