/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks for the search, from replies of daemons. */
#include "common/ring/calls_id.h"
#include "tests/unit/tools/waits/planted.h"
#include "tools/why/blocks.h"
#include "tools/why/class.h"

#include <math.h>

static const struct figures figures = { .dfg = { [FIGURE_COMPUTE] = "d_1",
						 [FIGURE_RUN_DELAY] = "d_2",
						 [FIGURE_BUSY] = "d_3",
						 [FIGURE_FREQUENCY] = "d_4" } };
static struct top_node nodes[2];

/* Two reads, 10 s apart: of rank 1 the run delay is unknown in the second one. */
static const char *const first_figures[] = {
	"1,5,[[p_0,1,3.0,0.0,0,0,0,1,1,\"\"],[p_1,1,3.0,0.0,0,0,0,1,1,\"\"]]",
	"1,5,[[p_0,1,0.5,0.0,0,0,0,1,1,\"\"],[p_1,1,0.5,0.0,0,0,0,1,1,\"\"]]",
	"1,5,[[n_1,1,nan,0.0,0,0,0,0,1,\"missing\"]]",
	"1,5,[]",
};
static const char *const second_figures[] = {
	"2,5,[[p_1,2,8.0,0.0,0,0,0,1,1,\"\"],[p_0,2,7.0,0.0,0,0,0,1,1,\"\"]]",
	"2,5,[[p_0,2,2.5,0.0,0,0,0,1,1,\"\"],[p_1,2,nan,0.0,0,0,0,0,1,\"missing\"]]",
	"2,5,[[n_1,2,50.0,0.0,0,0,0,1,1,\"\"]]",
	"2,5,[[p_0,2,2e9,0.0,0,0,0,1,1,\"\"],[p_1,2,4e9,0.0,0,0,0,1,1,\"\"]]",
};

static void read_figures(struct figures_read *out, const char *const value[4])
{
	Omis_object_result e[5] = { 0 };

	for (size_t i = 0; i < 4; i++) {
		e[i].obj_list = (char *)(uintptr_t)figures.dfg[(enum figure[]){
			FIGURE_COMPUTE, FIGURE_RUN_DELAY, FIGURE_BUSY, FIGURE_FREQUENCY }[i]];
		e[i].status = OMIS_OK;
		e[i].result = (char *)(uintptr_t)value[i];
		e[i].result_len = strlen(value[i]);
	}
	ck_assert(figures_take(out, &figures, e));
}

/* Ranks 0 and 1 are on n_1, the others on n_2. */
static void planted_nodes(void)
{
	for (int i = 0; i < PLANTED_RANKS; i++)
		snprintf(planted_rank[i].node, sizeof(planted_rank[i].node), "n_%d", 1 + i / 2);
	for (int i = 0; i < 2; i++) {
		nodes[i] = (struct top_node){ .cpus = 4 };
		snprintf(nodes[i].token, sizeof(nodes[i].token), "n_%d", 1 + i);
		snprintf(nodes[i].name, sizeof(nodes[i].name), "node%d", 1 + i);
	}
	planted_sample.node = nodes;
	planted_sample.nnode = 2;
}

static void make(struct blocks_block *out, struct hosts *hosts, const char *const calls[4])
{
	static const char *const nothing[PLANTED_RANKS] = { "1" SEC, "1" SEC, "1" SEC, "1" SEC };
	struct moment before = { .at = NSEC_PER_SEC }, now = { .at = 11 * NSEC_PER_SEC };

	planted_read(&before.calls, nothing);
	planted_read(&now.calls, calls);
	planted_nodes();
	read_figures(&before.figures, first_figures);
	read_figures(&now.figures, second_figures);
	ck_assert(blocks_make(out, &before, &now, &planted_sample, hosts));
	ck_assert_int_eq(why_block_check(&out->block, NULL), 0);
	moment_done(&before);
	moment_done(&now);
}

TEST(a_block_has_the_calls_of_each_rank_by_their_rule_of_waiting)
{
	static const char *const calls[] = { "11" SEC ",[\"MPI_Allreduce\",\"collective\",100,4" SEC
					     ",0,800,800],"
					     "[\"MPI_Bcast\",\"collective\",5,1" SEC ",0,7,0],"
					     "[\"MPI_Barrier\",\"barrier\",3,2" SEC ",0,0,0]",
					     "11" SEC, NULL, "11" SEC };
	struct hosts hosts = { 0 };
	struct blocks_block b;

	make(&b, &hosts, calls);
	ck_assert_uint_eq(b.block.nrank, 3); /* rank 2 did not reply */
	ck_assert_int_eq(b.block.world_size, PLANTED_RANKS);
	ck_assert_double_eq(b.rank[0].seconds, 10);
	ck_assert_double_eq_tol(b.rank[0].delay[WHY_NXN], 4, 1e-9);
	ck_assert_double_eq(b.rank[0].calls[WHY_NXN], 100);
	ck_assert_double_eq(b.rank[0].bytes[WHY_NXN], 1600);
	ck_assert_double_eq_tol(b.rank[0].delay[WHY_FROM_ROOT], 1, 1e-9);
	ck_assert_double_eq_tol(b.rank[0].delay[WHY_BARRIER], 2, 1e-9);
	ck_assert_double_eq(b.rank[1].delay[WHY_NXN], 0);
	ck_assert_int_eq(b.rank[2].rank, 3);
	ck_assert_str_eq(hosts.host[b.rank[2].host].name, "node2");
	ck_assert_int_eq(b.call[WHY_BARRIER], CALL_ID_Barrier);
	ck_assert_int_eq(b.call[WHY_SEND], -1);
	blocks_done(&b);
	hosts_done(&hosts);
}

TEST(figures_are_differences_and_unknown_where_one_of_two_is)
{
	static const char *const calls[] = { "11" SEC, "11" SEC, "11" SEC, "11" SEC };
	struct hosts hosts = { 0 };
	struct blocks_block b;

	make(&b, &hosts, calls);
	ck_assert_double_eq(b.rank[0].figure[WHY_COMPUTE], 4);
	ck_assert_double_eq(b.rank[1].figure[WHY_COMPUTE], 5);
	ck_assert_double_eq(b.rank[0].figure[WHY_RUN_DELAY], 2);
	ck_assert(isnan(b.rank[1].figure[WHY_RUN_DELAY]));
	ck_assert(isnan(b.rank[2].figure[WHY_COMPUTE]));
	ck_assert(isnan(b.rank[0].figure[WHY_FAULTS]));
	/* Two of four processors are busy, 0.9 of them with the two ranks. */
	ck_assert_double_eq(b.host[0].figure[WHY_PROCESSORS], 4);
	ck_assert_double_eq(b.host[0].figure[WHY_BUSY], 2);
	ck_assert_double_eq_tol(b.host[0].figure[WHY_FOREIGN], 1.1, 1e-9);
	ck_assert_double_eq(b.host[0].figure[WHY_FREQUENCY], 3e9);
	ck_assert(isnan(b.host[1].figure[WHY_BUSY]));
	ck_assert(isnan(b.host[1].figure[WHY_FOREIGN]));
	ck_assert(isnan(b.host[1].figure[WHY_FREQUENCY]));
	ck_assert(isnan(b.host[0].figure[WHY_STEAL]));
	blocks_done(&b);
	hosts_done(&hosts);
}

TEST(pairs_are_the_waits_between_two_ranks_with_their_bounds)
{
	struct hosts hosts = { 0 };
	struct blocks_block b;
	bool is_seen = false;

	make(&b, &hosts, planted_chain);
	for (size_t i = 0; i < b.block.npair; i++) {
		const struct why_pair *p = &b.pair[i];

		ck_assert_int_ge(p->to, 0);
		is_seen |= p->from == 0 && p->to == 1 && fabs(p->least - 6) < 1e-6 &&
			   p->messages == 100;
	}
	ck_assert(is_seen);
	blocks_done(&b);
	hosts_done(&hosts);
}

TEST(the_last_blocks_are_kept)
{
	static const char *const calls[] = { "11" SEC, "11" SEC, "11" SEC, "11" SEC };
	static struct kept kept;
	struct hosts hosts = { 0 };
	struct blocks_block b;

	for (int i = 0; i < KEPT_BLOCKS + 3; i++) {
		make(&b, &hosts, calls);
		b.block.begin = i;
		kept_add(&kept, &b);
		ck_assert_ptr_null(b.rank);
	}
	ck_assert_uint_eq(kept.n, KEPT_BLOCKS);
	ck_assert_int_eq(kept.block[0].block.begin, 3);
	kept_done(&kept);
	ck_assert_uint_eq(kept.n, 0);
	hosts_done(&hosts);
}

TEST(each_call_has_one_class)
{
	ck_assert_int_eq(class_of_call(CALL_ID_Alltoallv), WHY_NXN);
	ck_assert_int_eq(class_of_call(CALL_ID_Iallreduce), WHY_NXN);
	ck_assert_int_eq(class_of_call(CALL_ID_Neighbor_alltoall), WHY_OTHER);
	ck_assert_int_eq(class_of_call(CALL_ID_Gatherv), WHY_TO_ROOT);
	ck_assert_int_eq(class_of_call(CALL_ID_Scatter), WHY_FROM_ROOT);
	ck_assert_int_eq(class_of_call(CALL_ID_Probe), WHY_RECEIVE);
	ck_assert_int_eq(class_of_call(CALL_ID_Waitall), WHY_WAIT);
	ck_assert_int_eq(class_of_call(CALL_ID_Win_fence), WHY_RMA_SYNC);
	ck_assert_int_eq(class_of_call(CALL_ID_Put), WHY_RMA);
	ck_assert_int_eq(class_of_call(CALL_ID_File_write_all), WHY_FILE);
	ck_assert_int_eq(class_of_call(CALL_ID_Init), WHY_OTHER);
	ck_assert_int_eq(class_of_call(UINT32_MAX), WHY_OTHER);
}

/* Values of a daemon may be anything. */
TEST(malformed_figures_are_unknown)
{
	static const char *const odd[] = { "", "1,5,[5,[],[p_0],[p_0,1,\"x\",0,0,0,0,1,1,\"\"]]",
					   "1,5,[[n_1,1,-50.0,0.0,0,0,0,1,1,\"\"]]", "1,5,7" };
	struct figures_read r;

	read_figures(&r, odd);
	ck_assert(isnan(figures_value(&r, "n_1", FIGURE_BUSY)));
	ck_assert(isnan(figures_value(&r, "p_9", FIGURE_COMPUTE)));
	ck_assert(isnan(figures_increase(&r, &r, "p_9", FIGURE_COMPUTE)));
	figures_read_done(&r);
}

SUITE("blocks of a search")
