/* SPDX-License-Identifier: Apache-2.0 */
/* The search on whole blocks. */
#include "common/base/limits.h"
#include "tests/suite.h"
#include "why/search.h"

#include <math.h>

#define RANKS 8

static struct why_rank rank[RANKS];
static struct why_host host[2];

/* A block of one second in which rank i spends share[i] of its time in barriers. */
static struct why_block block_of(int number, const double *share)
{
	for (int i = 0; i < RANKS; i++) {
		why_rank_clear(&rank[i], i, (uint32_t)i / 4);
		rank[i].seconds = share[i] < 0 ? 0 : 1;
		for (int c = 0; c < WHY_CLASSES; c++)
			rank[i].delay[c] = rank[i].calls[c] = 0;
		rank[i].delay[WHY_BARRIER] = fmax(share[i], 0);
		rank[i].calls[WHY_BARRIER] = 10;
	}
	why_host_clear(&host[0]);
	why_host_clear(&host[1]);
	return (struct why_block){
		.begin = number * NSEC_PER_SEC,
		.end = (number + 1) * NSEC_PER_SEC,
		.rank = rank,
		.nrank = RANKS,
		.host = host,
		.nhost = 2,
		.world_size = RANKS,
	};
}

static const double lossy[RANKS] = { 0.3, 0.3, 0.3, 0, 0.3, 0.3, 0.3, 0.3 };

TEST(a_program_without_mpi_has_nothing_above_the_threshold)
{
	struct why *w = why_new(NULL, NULL);
	const struct why_finding *f;
	struct why_summary s;

	for (int i = 0; i < 20; i++) {
		struct why_block b = block_of(i, (double[RANKS]){ 0 });

		ck_assert_int_eq(why_add(w, &b, NULL), 0);
	}
	ck_assert_uint_eq(why_findings(w, &f), 0);
	why_summary(w, &s);
	ck_assert_uint_eq(s.of[WHY_W].verdict, WHY_RULED_OUT);
	ck_assert_double_eq(s.useful.value, 1);
	ck_assert_uint_eq(s.blocks, 20);
	why_free(w);
}

TEST(a_loss_of_a_quarter_is_found_within_six_blocks)
{
	struct why *w = why_new(NULL, NULL);
	const struct why_finding *f;
	struct why_summary s;

	for (int i = 0; i < 6; i++) {
		struct why_block b = block_of(i, lossy);

		ck_assert_int_eq(why_add(w, &b, NULL), 0);
	}
	ck_assert_uint_ge(why_findings(w, &f), 1);
	why_summary(w, &s);
	ck_assert_uint_eq(s.of[WHY_W].verdict, WHY_FOUND);
	ck_assert_double_eq_tol(s.useful.value, 1 - 0.3 * 7 / 8, 1e-12);
	why_free(w);
}

TEST(options_and_blocks_out_of_range_are_refused)
{
	struct err e = { 0 };
	struct why *w = why_new(NULL, NULL);
	struct why_block b = block_of(5, lossy);

	ck_assert_ptr_null(why_new(&(struct why_options){ 0.0009, 0.05 }, &e));
	ck_assert_ptr_null(why_new(&(struct why_options){ 0.02, 0.51 }, &e));
	ck_assert_ptr_null(why_new(&(struct why_options){ NAN, 0.05 }, &e));
	ck_assert_int_eq(e.code, ERR_INVALID);
	ck_assert_int_eq(why_add(w, &b, NULL), 0);
	ck_assert_int_eq(why_add(w, &b, &e), -ERR_INVALID); /* not after the last one */
	b = block_of(6, lossy);
	rank[3].rank = 1;
	ck_assert_int_eq(why_add(w, &b, &e), -ERR_INVALID);
	b = block_of(6, lossy);
	rank[3].delay[0] = -1;
	ck_assert_int_eq(why_add(w, &b, &e), -ERR_INVALID);
	b = block_of(6, lossy);
	rank[3].host = 2;
	ck_assert_int_eq(why_add(w, &b, &e), -ERR_INVALID);
	b = block_of(6, lossy);
	b.pair = &(struct why_pair){ .from = 0, .to = 8, .most = 1 };
	b.npair = 1;
	ck_assert_int_eq(why_add(w, &b, &e), -ERR_INVALID);
	b = block_of(6, lossy);
	b.nrank = WHY_RANKS_MAX + 1;
	ck_assert_int_eq(why_add(w, &b, &e), -ERR_LIMIT);
	b = block_of(6, lossy);
	ck_assert_int_eq(why_add(w, &b, &e), 0);
	why_free(w);
}

SUITE("why/search")
