/* SPDX-License-Identifier: Apache-2.0 */
/* Intervals of results: against formulas, and against independent random samples. */
#include "common/base/array.h"
#include "common/base/rng.h"
#include "model/propagate/propagate.h"
#include "stats/draw/normal.h"
#include "stats/student.h"
#include "tests/suite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void read_text(const char *text, struct layered *m)
{
	struct err e = { 0 };

	ck_assert_msg(!layered_read_lqn(text, strlen(text), m, &e), "%u:%u: %s", e.line, e.col,
		      e.text);
}

static struct propagate_result ranges(const struct layered *m, double level)
{
	const struct propagate_options o = { .level = level };
	struct layered_result middle = { 0 };
	struct propagate_result r = { 0 };
	struct err e = { 0 };

	ck_assert_msg(!layered_solve(m, &middle, &e), "%s", e.text);
	ck_assert_msg(!propagate(m, &middle, &o, &r, &e), "%s", e.text);
	layered_result_done(&middle);
	return r;
}

#define OPEN_QUEUE                                                                           \
	"P 0\np cpu f\n-1\nT 0\nt web i page -1 cpu\n-1\nE 0\na page 5\ns page 0.1 -1\n-1\n" \
	"#interval page 1 0.09 0.12 0.9\n"

/* The response 1 / (1 / demand - arrivals) grows with the demand: its quantiles are those. */
TEST(an_open_queue_has_the_quantiles_of_its_demand)
{
	struct layered m;
	struct propagate_result r;

	read_text(OPEN_QUEUE, &m);
	for (unsigned i = 0; i < 3; i++) {
		double level = (double[]){ 0.5, 0.9, 0.95 }[i], z = normal_two_sided(level);
		double low = propagate_demand(&m.entry[0].phase[0], -z);
		double high = propagate_demand(&m.entry[0].phase[0], z);

		r = ranges(&m, level);
		ck_assert_uint_eq(r.uncertain, 1);
		ck_assert(!r.reason.code);
		ck_assert_double_eq_tol(r.entry_response[0].low * (1 / low - 5), 1, 0.01);
		ck_assert_double_eq_tol(r.entry_response[0].high * (1 / high - 5), 1, 0.01);
		ck_assert_double_eq_tol(r.processor_busy[0].low, 5 * low, 1e-3);
		ck_assert_double_eq_tol(r.entry_throughput[0].high, 5, 1e-9);
		propagate_result_done(&r);
	}
	layered_done(&m);
}

TEST(the_ends_of_a_demand_are_its_own_quantiles)
{
	const struct layered_phase normal = { .demand = 3, .low = 2, .high = 5, .level = 0.9 };
	const struct layered_phase sure = { .demand = 3, .low = 2, .high = 4, .level = 1 };
	const struct layered_phase wide = { .demand = 1, .low = -2, .high = 4, .level = 0.9 };

	double z = normal_two_sided(0.9);

	ck_assert_double_eq_tol(propagate_demand(&normal, -z), 2, 1e-9);
	ck_assert_double_eq_tol(propagate_demand(&normal, 0), 3, 1e-9);
	ck_assert_double_eq_tol(propagate_demand(&normal, z), 5, 1e-9);
	ck_assert_double_eq_tol(propagate_demand(&sure, normal_quantile(0.25)), 2.5, 1e-9);
	ck_assert_double_eq(propagate_demand(&wide, -z), 0);
}

/* --- a closed model with three uncertain demands */

#define SHOP                                                                                     \
	"P 0\np desk i\np cpu p\np disk f\n-1\nT 0\nt user r go -1 desk z 1 m %u\n"              \
	"t server n buy look -1 cpu m 4\nt db n query -1 disk\n-1\nE 0\ny go buy 0.5 -1\n"       \
	"y go look 2 -1\ns buy 0.02 -1\ns look 0.01 -1\ny buy query 2 -1\ny look query 0.5 -1\n" \
	"s query 0.012 -1\n-1\n#interval buy 1 0.015 0.025 0.9\n#interval look 1 0.009 0.011 "   \
	"0.9\n#interval query 1 %g %g 0.9\n"

static void shop(unsigned clients, double half, struct layered *m)
{
	char text[1024];

	snprintf(text, sizeof(text), SHOP, clients, 0.012 - half, 0.012 + half);
	read_text(text, m);
}

#define BRUTE 1000

/* Plain random samples, each demand drawn by itself. */
static struct range brute_force(struct layered *m, double level)
{
	static double v[BRUTE];
	struct layered_entry *was = malloc(m->nentry * sizeof(*was));
	struct rng rng;

	rng_init(&rng, 77);
	memcpy(was, m->entry, m->nentry * sizeof(*was));
	for (unsigned i = 0; i < BRUTE; i++) {
		struct layered_result r = { 0 };
		struct err e = { 0 };

		for (size_t k = 0; k < m->nentry; k++)
			if (was[k].phase[0].level > 0)
				m->entry[k].phase[0].demand =
					propagate_demand(&was[k].phase[0], draw_normal(&rng));
		ck_assert_msg(!layered_solve(m, &r, &e), "%s", e.text);
		v[i] = r.task_response[0];
		layered_result_done(&r);
	}
	memcpy(m->entry, was, m->nentry * sizeof(*was));
	free(was);
	qsort(v, BRUTE, sizeof(*v), array_order_double);
	return (struct range){ v[(unsigned)((1 - level) / 2 * BRUTE)],
			       v[(unsigned)((1 + level) / 2 * BRUTE)] };
}

/* At a light load and near saturation. Ends of so many samples vary by 3 % of the width. */
TEST_EACH(parabolas_agree_with_brute_force, i, 2)
{
	struct layered m;
	struct propagate_result r;
	struct range want;

	shop(i ? 25 : 5, 0.002, &m);
	r = ranges(&m, 0.9);
	want = brute_force(&m, 0.9);
	ck_assert_uint_eq(r.uncertain, 3);
	ck_assert_double_eq_tol(r.task_response[0].low, want.low, (want.high - want.low) / 10);
	ck_assert_double_eq_tol(r.task_response[0].high, want.high, (want.high - want.low) / 10);
	propagate_result_done(&r);
	layered_done(&m);
}

static double width(struct range r)
{
	return r.high - r.low;
}

TEST(wider_demands_and_higher_levels_make_wider_results)
{
	double last = 0, halves[] = { 0.0005, 0.001, 0.003 }, levels[] = { 0.5, 0.9, 0.99 };

	for (unsigned i = 0; i < ARRAY_LEN(halves); i++) {
		struct layered m;
		struct layered_result mid = { 0 };
		struct propagate_result r;
		double lower = 0;

		shop(25, halves[i], &m);
		ck_assert_int_eq(layered_solve(&m, &mid, NULL), 0);
		for (unsigned k = 0; k < ARRAY_LEN(levels); k++) {
			r = ranges(&m, levels[k]);
			ck_assert_double_gt(width(r.task_throughput[0]), lower);
			lower = width(r.task_throughput[0]);
			ck_assert(r.task_throughput[0].low < mid.task_throughput[0] &&
				  mid.task_throughput[0] < r.task_throughput[0].high);
			propagate_result_done(&r);
		}
		ck_assert_double_gt(lower, last);
		last = lower;
		layered_result_done(&mid);
		layered_done(&m);
	}
}

#define TWO                                                                              \
	"P 0\np cpu f\n-1\nT 0\nt web i page view -1 cpu\n-1\nE 0\na page 5\na view 5\n" \
	"s page 0.09 -1\ns view 0.09 -1\n-1\n"

static const struct {
	const char *text, *reason;
	bool is_low_known, is_high_known;
} full[] = {
	/* one demand alone is too large at its high end */
	{ TWO "#interval page 1 0.06 0.12 0.9\n", "demand 0.1257 of 'page': no steady state", false,
	  false },
	/* both together are, and neither alone */
	{ TWO "#interval page 1 0.08 0.105 0.9\n#interval view 1 0.08 0.105 0.9\n",
	  "utilisation of cpu may be 1.0", true, false },
	{ TWO "#interval page 1 0.085 0.095 0.9\n", "", true, true },
};

TEST_EACH(ends_without_a_steady_state_are_unknown, i, (int)ARRAY_LEN(full))
{
	struct layered m;
	struct propagate_result r;

	read_text(full[i].text, &m);
	r = ranges(&m, 0.95);
	ck_assert_msg(strstr(r.reason.text, full[i].reason), "%s", r.reason.text);
	ck_assert(isnan(r.entry_response[0].high) == !full[i].is_high_known);
	ck_assert(isnan(r.entry_response[0].low) == !full[i].is_low_known);
	propagate_result_done(&r);
	layered_done(&m);
}

TEST(an_unknown_end_makes_all_ranges_unknown)
{
	struct layered m;
	struct propagate_result r;

	read_text(OPEN_QUEUE, &m);
	m.entry[0].phase[0].high = NAN;
	r = ranges(&m, 0.9);
	ck_assert(strstr(r.reason.text, "demand of 'page' is unknown"));
	ck_assert(isnan(r.entry_response[0].low) && isnan(r.processor_busy[0].high));
	propagate_result_done(&r);
	layered_done(&m);
}

TEST(exact_demands_make_no_ranges)
{
	struct layered m;
	struct propagate_result r;

	read_text(OPEN_QUEUE, &m);
	m.entry[0].phase[0].level = 0;
	r = ranges(&m, 0.9);
	ck_assert_uint_eq(r.uncertain, 0);
	ck_assert(!r.reason.code && isnan(r.entry_response[0].low));
	propagate_result_done(&r);
	layered_done(&m);
}

static bool end_now(void *arg, size_t done, size_t all)
{
	size_t *calls = arg;

	ck_assert_uint_eq(done, 1);
	ck_assert_uint_eq(all, 3);
	++*calls;
	return true;
}

TEST(it_ends_early_without_ranges)
{
	size_t calls = 0;
	const struct propagate_options o = { .level = 0.9, .on_turn = end_now, .arg = &calls };
	struct layered m;
	struct layered_result middle = { 0 };
	struct propagate_result r = { 0 };

	shop(5, 0.001, &m);
	ck_assert_int_eq(layered_solve(&m, &middle, NULL), 0);
	ck_assert_int_eq(propagate(&m, &middle, &o, &r, NULL), 0);
	ck_assert_uint_eq(calls, 1);
	ck_assert(isnan(r.task_response[0].low));
	propagate_result_done(&r);
	layered_result_done(&middle);
	layered_done(&m);
}

TEST(a_wrong_level_is_refused)
{
	const struct propagate_options o = { .level = 1 };
	struct layered m;
	struct propagate_result r = { 0 };
	struct err e = { 0 };

	read_text(OPEN_QUEUE, &m);
	ck_assert_int_eq(propagate(&m, &(struct layered_result){ 0 }, &o, &r, &e), -ERR_INVALID);
	layered_done(&m);
}

SUITE("model/propagate")
