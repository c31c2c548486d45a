/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the search: places, changes, chains of waits, confidence sequences. */
#include "common/base/array.h"
#include "common/base/rng.h"
#include "stats/draw/normal.h"
#include "tests/suite.h"
#include "why/chain.h"
#include "why/change.h"
#include "why/place.h"
#include "why/sequence.h"

#include <math.h>

/* --- places */

static void add(struct place *p, int64_t last, size_t n)
{
	ck_assert_int_eq(place_reserve(p, 1, NULL), 0);
	place_add(p, &last, last >= 0, n);
}

TEST(a_suspect_that_comes_late_has_the_process_of_the_others_before)
{
	struct place p = { 0 };
	struct eprocess e = { 0 };

	for (int i = 0; i < 5; i++) {
		add(&p, i == 3 ? 7 : i == 4 ? 2 : -1, 8);
		eprocess_add_event(&e, i == 3, 0.125);
	}
	ck_assert_uint_eq(p.n, 2);
	ck_assert_int_eq(p.suspect[0].object, 7);
	ck_assert_double_eq(p.suspect[0].e.log_e, e.log_e);
	ck_assert_uint_eq(p.suspect[0].hits, 1);
	place_done(&p);
}

TEST(few_blocks_name_one_of_4096_ranks)
{
	struct place p = { 0 };
	const struct place_suspect *out[8];
	int blocks = 0;

	while (!place_culprits(&p, 0.02, 4096, out, 8) && blocks < 20) {
		add(&p, 17, 4096);
		blocks++;
	}
	ck_assert_int_eq(blocks, 2);
	ck_assert_int_eq(out[0]->object, 17);
	ck_assert_ptr_eq(place_likely(&p), out[0]);
	place_done(&p);
}

TEST(a_culprit_that_is_no_longer_last_is_not_named)
{
	struct place p = { 0 };
	const struct place_suspect *out[8];

	for (int i = 0; i < 20; i++)
		add(&p, 3, 64);
	for (int i = 0; i < 16; i++)
		add(&p, 5, 64);
	ck_assert_uint_eq(place_culprits(&p, 0.02, 64, out, 8), 1);
	ck_assert_int_eq(out[0]->object, 5);
	place_done(&p);
}

TEST(more_culprits_than_asked_for_leave_the_most_frequent)
{
	struct place p = { 0 };
	const struct place_suspect *out[2];

	for (int i = 0; i < 120; i++)
		add(&p, i % 4 == 0 ? 1 : i % 4 == 1 ? 2 : 3, 1000);
	ck_assert_uint_eq(place_culprits(&p, 0.02, 1000, out, 2), 2);
	ck_assert_int_eq(out[0]->object, 3);
	ck_assert_uint_eq(out[0]->hits, 60);
	place_done(&p);
}

TEST(ranks_that_are_all_alike_are_seldom_named)
{
	enum { RUNS = 500, BLOCKS = 100, RANKS = 16 };
	const struct place_suspect *out[1];
	struct place p = { 0 };
	struct rng r;
	int wrong = 0;

	rng_init(&r, suite_seed(3));
	for (int run = 0; run < RUNS; run++) {
		bool is_named = false;

		place_clear(&p);
		for (int i = 0; i < BLOCKS; i++) {
			add(&p, (int64_t)rng_below(&r, RANKS), RANKS);
			is_named = is_named || place_culprits(&p, 0.05, RANKS, out, 1);
		}
		wrong += is_named;
	}
	ck_assert_int_le(wrong, (int)(RUNS * 0.05 + 4 * sqrt(RUNS * 0.05 * 0.95)));
	place_done(&p);
}

TEST(two_that_are_late_together_are_both_named)
{
	struct place p = { 0 };
	const struct place_suspect *out[8];
	size_t blocks = 0;

	while (place_culprits(&p, 0.02, 6, out, 8) < 2 && blocks < 50) {
		ck_assert_int_eq(place_reserve(&p, 2, NULL), 0);
		place_add(&p, (int64_t[]){ 5, 2 }, 2, 6);
		blocks++;
	}
	ck_assert_uint_le(blocks, 8);
	place_done(&p);
}

TEST(objects_of_different_sizes_have_their_own_chances)
{
	const double chance[] = { 0.9, 0.1 };
	const struct place_suspect *out[8];
	struct place p = { 0 };

	for (int i = 0; i < 20; i++) {
		ck_assert_int_eq(place_reserve(&p, 1, NULL), 0);
		place_add_sized(&p, i % 10 == 9 ? 1 : 0, chance, 2);
	}
	ck_assert_uint_eq(place_culprits(&p, 0.02, 2, out, 8), 0);
	for (int i = 0; i < 10; i++)
		place_add_sized(&p, 1, chance, 2);
	ck_assert_uint_eq(place_culprits(&p, 0.02, 2, out, 8), 1);
	ck_assert_int_eq(out[0]->object, 1);
	place_done(&p);
}

/* --- changes */

TEST(a_change_is_found_at_its_place)
{
	struct rng r;

	rng_init(&r, suite_seed(4));
	for (size_t at = CHANGE_SIDE_MIN; at <= 40 - CHANGE_SIDE_MIN; at++) {
		double x[40];

		for (size_t i = 0; i < 40; i++)
			x[i] = (i < at ? 0.02 : 0.12) + 0.005 * draw_normal(&r);
		ck_assert_uint_eq(change_find(x, 40, 0.01), at);
	}
}

TEST(constant_short_and_noisy_series_have_no_change)
{
	enum { RUNS = 2000 };
	double x[64] = { 0 };
	struct rng r;
	int found = 0;

	ck_assert_uint_eq(change_find(x, 64, 0.01), 0);
	ck_assert_uint_eq(change_find((double[]){ 0, 0, 0, 1, 1 }, 5, 0.01), 0);
	ck_assert_uint_eq(change_find((double[]){ 0, 0, 0, 1, 1, 1 }, 6, 0.01), 3);
	ck_assert_uint_eq(change_find((double[]){ 0, 0, 0, 1, 1, 1 }, 6, 1.1), 0);
	rng_init(&r, suite_seed(5));
	for (int run = 0; run < RUNS; run++) {
		for (int i = 0; i < 64; i++)
			x[i] = draw_normal(&r);
		found += change_find(x, 64, 0.01) > 0;
	}
	ck_assert_int_le(found, RUNS / 100);
}

/* --- chains */

#define RANKS 5

/* The blame by its definition: step by step with a full matrix. */
static void blame_by_matrix(const double *useful, const struct chain_wait *w, size_t n, double *out)
{
	double p[RANKS][RANKS] = { { 0 } }, waited[RANKS] = { 0 }, moving[RANKS];

	for (size_t k = 0; k < n; k++)
		waited[w[k].from] += w[k].seconds;
	for (size_t k = 0; k < n; k++)
		p[w[k].from][w[k].to] += w[k].seconds / waited[w[k].from];
	for (size_t i = 0; i < RANKS; i++) {
		moving[i] = waited[i];
		out[i] = 0;
	}
	for (int t = 0; t < CHAIN_STEPS; t++) {
		double next[RANKS] = { 0 };

		for (size_t i = 0; i < RANKS; i++)
			for (size_t k = 0; k < RANKS; k++) {
				double stays = waited[k] > 0 && t < CHAIN_STEPS - 1
						       ? useful[k] / (useful[k] + waited[k])
						       : 1;

				out[k] += moving[i] * p[i][k] * stays;
				next[k] += moving[i] * p[i][k] * (1 - stays);
			}
		memcpy(moving, next, sizeof(moving));
	}
}

static void blame(const double *useful, const struct chain_wait *w, size_t n, double *out)
{
	double waited[RANKS], moving[2 * RANKS];
	struct chain c = { .n = RANKS,
			   .useful = useful,
			   .wait = w,
			   .nwait = n,
			   .waited = waited,
			   .moving = moving,
			   .blame = out };

	chain_blame(&c);
}

TEST(the_end_of_a_chain_has_the_blame)
{
	/* 0 waits for 1, which waits for 2, which works: 2 costs the time of both. */
	const double useful[RANKS] = { 1, 0.1, 10, 1, 1 };
	const struct chain_wait w[] = { { 0, 1, 9 }, { 1, 2, 9.9 } };
	double out[RANKS], sum = 0;

	blame(useful, w, 2, out);
	ck_assert_double_eq_tol(out[1], 9 * 0.1 / 10, 1e-12);
	ck_assert_double_eq_tol(out[2], 9.9 + 9 * 9.9 / 10, 1e-12);
	for (int i = 0; i < RANKS; i++)
		sum += out[i];
	ck_assert_double_eq_tol(sum, 18.9, 1e-12);
}

TEST(random_waits_have_the_blame_of_the_full_matrix)
{
	struct rng r;

	rng_init(&r, suite_seed(6));
	for (int run = 0; run < 500; run++) {
		struct chain_wait w[8];
		double useful[RANKS], out[RANKS], expected[RANKS];

		for (size_t i = 0; i < RANKS; i++)
			useful[i] = rng_double(&r);
		for (size_t k = 0; k < ARRAY_LEN(w); k++)
			w[k] = (struct chain_wait){ (uint32_t)rng_below(&r, RANKS),
						    (uint32_t)rng_below(&r, RANKS),
						    rng_double(&r) };
		blame(useful, w, ARRAY_LEN(w), out);
		blame_by_matrix(useful, w, ARRAY_LEN(w), expected);
		for (size_t i = 0; i < RANKS; i++)
			ck_assert_double_eq_tol(out[i], expected[i], 1e-9);
	}
}

/* --- confidence sequences */

static double draw(int kind, struct rng *r)
{
	double u = rng_double(r);

	switch (kind) {
	case 0:
		return 0.2 + 0.02 * draw_normal(r);
	case 1: /* skewed: mean 0.2 */
		return fmin(-0.2 * log(1 - u), 1) + 0.2 * exp(-5);
	default: /* rare large values: mean 0.2 */
		return u < 0.2 ? 1 : 0;
	}
}

TEST_EACH(a_guaranteed_interval_seldom_misses_the_mean_at_any_time, kind, 3)
{
	enum { RUNS = 300, VALUES = 64 };
	struct rng r;
	int missed = 0;

	rng_init(&r, suite_seed(8) + (uint64_t)kind);
	for (int run = 0; run < RUNS; run++) {
		double x[VALUES];
		bool has_missed = false;

		for (size_t i = 0; i < VALUES; i++) {
			struct why_range b;

			x[i] = draw(kind, &r);
			sequence_bounds(x, i + 1, 0.05, &b);
			has_missed = has_missed || b.low > 0.2 || b.high < 0.2;
		}
		missed += has_missed;
	}
	ck_assert_int_le(missed, (int)(RUNS * 0.05 + 4 * sqrt(RUNS * 0.05 * 0.95)));
}

TEST(a_guaranteed_interval_narrows)
{
	double x[200];
	struct why_range b;

	for (size_t i = 0; i < ARRAY_LEN(x); i++)
		x[i] = 0.18;
	sequence_bounds(x, 0, 0.05, &b);
	ck_assert_double_eq(b.low, 0);
	ck_assert_double_eq(b.high, 1);
	sequence_bounds(x, 12, 0.05, &b);
	ck_assert_double_ge(b.low, 0.08);
	ck_assert_double_le(b.high, 0.55);
	sequence_bounds(x, 200, 0.05, &b);
	ck_assert_double_ge(b.low, 0.15);
	ck_assert_double_le(b.low, 0.18);
	ck_assert_double_le(b.high, 0.25);
	ck_assert_double_ge(b.high, 0.18);
}

TEST(a_shown_interval_of_normal_values_seldom_misses_the_mean_at_any_time)
{
	enum { RUNS = 2000, VALUES = 60 };
	struct rng r;
	int missed = 0;

	rng_init(&r, suite_seed(9));
	for (int run = 0; run < RUNS; run++) {
		struct moments m = { 0 };
		bool has_missed = false;

		for (size_t i = 0; i < VALUES; i++) {
			moments_add(&m, draw(0, &r));
			has_missed = has_missed ||
				     fabs(moments_mean(&m) - 0.2) > sequence_width(&m, 0.05);
		}
		missed += has_missed;
	}
	printf("# missed %d of %d\n", missed, RUNS);
	ck_assert_int_le(missed, (int)(RUNS * 0.05 + 4 * sqrt(RUNS * 0.05 * 0.95)));
}

SUITE("why/parts")
