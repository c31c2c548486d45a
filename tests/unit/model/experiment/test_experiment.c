/* SPDX-License-Identifier: Apache-2.0 */
/* The simulated server against queueing theory, and the errors of each method against goals. */
#include "model/experiment/anova.h"
#include "model/experiment/fit.h"
#include "model/experiment/printed.h"
#include "tests/suite.h"

#include <math.h>

static struct study study_of(const char *law, unsigned services, enum estimate_method m)
{
	struct study s = { .server = server_basic, .method = m, .seed = 3, .level = 0.9 };

	s.server.services = services;
	ck_assert_int_eq(law_parse(law, &s.server.service, NULL), 0);
	return s;
}

static double run_study(struct study *s, unsigned replications, unsigned cut,
			struct study_result *out)
{
	s->replications = replications;
	s->cut = cut;
	ck_assert_int_eq(study_begin(s, out), 0);
	for (unsigned i = 0; i < replications; i++)
		ck_assert_int_eq(study_replicate(s, i, out), 0);
	study_end(out);
	return moments_mean(&out->error);
}

/* The means and times between arrivals that section 5.1 prints for the basic case. */
TEST(the_basic_case_has_the_printed_rates)
{
	static const double mean[] = { 3, 5.4, 9.72, 17.496, 31.493 };
	static const double between[] = { 23.466, 39.111, 65.184, 108.641, 181.068 };
	double own_mean[SERVER_SERVICES_MAX], own_between[SERVER_SERVICES_MAX];

	server_means(&server_basic, own_mean, own_between);
	for (int i = 0; i < 5; i++) {
		ck_assert_double_eq_tol(own_mean[i], mean[i], 1e-3);
		ck_assert_double_eq_tol(own_between[i], between[i], 2e-3);
	}
}

TEST(a_run_accounts_for_every_request_and_all_its_time)
{
	static const enum server_credit credits[] = { SERVER_CREDIT_USE, SERVER_CREDIT_END,
						      SERVER_CREDIT_BEGIN };
	struct server s = server_basic;
	struct server_truth t;
	struct periods *p = NULL;
	struct rng r;

	law_parse("exponential", &s.service, NULL);
	ck_assert_int_eq(periods_new(5, true, true, &p), 0);
	for (size_t c = 0; c < ARRAY_LEN(credits); c++) {
		double begun = 0, completed = 0, busy = 0, real = 0, time = 0;

		s.credit = credits[c];
		rng_init(&r, 9);
		ck_assert_int_eq(server_run(&s, &r, p, &t), 0);
		ck_assert_uint_eq(p->n, 50);
		for (size_t i = 0; i < p->n * p->k; i++) {
			begun += p->begun[i];
			completed += p->completed[i];
		}
		for (size_t i = 0; i < p->n; i++) {
			busy += p->response[i];
			ck_assert(s.credit != SERVER_CREDIT_USE || p->response[i] <= 10000 + 1e-6);
		}
		for (int i = 0; i < 5; i++) {
			real += t.begun[i];
			time += t.time[i];
		}
		ck_assert_double_eq_tol(begun, real, 1e-12);
		ck_assert(begun - completed >= 0 && begun - completed <= 1);
		if (s.credit == SERVER_CREDIT_BEGIN)
			ck_assert_double_eq_tol(busy, time, 1e-3);
		ck_assert(busy <= time + 1e-3 && busy > 0.7 * 500000 && busy < 0.8 * 500000);
	}
	periods_free(p);
}

TEST(a_seed_repeats_a_study)
{
	struct study s = study_of("normal(0.15)", 5, ESTIMATE_OLS);
	struct study_result a, b;

	ck_assert(!(fabs(run_study(&s, 3, 1, &a) - run_study(&s, 3, 1, &b)) > 0));
	ck_assert_uint_eq(a.error.n, 3);
	study_done(&a);
	study_done(&b);
}

/* Jain 1991, example 18.1 (2^2, three replications): variation 5547 + 1083 + 300 + 102 of 7032. */
TEST(an_analysis_of_variance_of_a_textbook_is_repeated)
{
	const double y[] = { 15, 18, 12, 45, 48, 51, 25, 28, 19, 75, 75, 81 };
	struct anova a;

	anova_of(y, 2, 3, &a);
	ck_assert_double_eq_tol(a.squares, 27204, 1e-9);
	ck_assert_double_eq_tol(a.of_mean, 20172, 1e-9);
	ck_assert_double_eq_tol(a.total, 7032, 1e-9);
	ck_assert_double_eq_tol(a.effect[1], 5547, 1e-9);
	ck_assert_double_eq_tol(a.effect[2], 1083, 1e-9);
	ck_assert_double_eq_tol(a.effect[3], 300, 1e-9);
	ck_assert_double_eq_tol(a.error, 102, 1e-9);
	ck_assert_double_eq_tol(anova_interactions(&a), 300, 1e-9);
}

/* Quantiles of chi-square from tables. */
TEST(the_tail_of_chi_square_is_that_of_tables)
{
	ck_assert_double_eq_tol(fit_tail(3.841459, 1), 0.05, 1e-6);
	ck_assert_double_eq_tol(fit_tail(28.869299, 18), 0.05, 1e-6);
	ck_assert_double_eq_tol(fit_tail(42.312396, 18), 0.001, 1e-7);
	ck_assert_double_eq_tol(fit_tail(9.390455, 18), 0.95, 1e-6);
	ck_assert_double_eq_tol(fit_tail(0, 18), 1, 1e-12);
}

/*
 * Means of E_rel of 2000 replications with other seeds, and deviations of one replication. Plain
 * least squares with another 100 lie inside of the 99.9 % band.
 */
#include "tests/unit/model/experiment/long_run.h"

TEST_EACH(least_squares_lie_in_the_band_of_the_long_run, i, PRINTED_CELLS)
{
	const struct long_run *at = &long_run[i];
	struct study s = study_of(printed_laws[i / 3], printed_sizes[i % 3], ESTIMATE_OLS);
	struct study_result r;
	double mean = run_study(&s, 100, 1, &r), covered;

	ck_assert_double_eq_tol(mean, at->mean,
				3.29 * at->deviation * sqrt(1.0 / 100 + 1.0 / 2000));
	covered = (double)r.covered / (double)r.intervals;
	ck_assert_msg(covered >= 0.85 && covered <= 0.95, "%s, %u services: %.3f",
		      printed_laws[i / 3], printed_sizes[i % 3], covered);
	study_done(&r);
}

TEST_EACH(constant_services_are_almost_exact, i, PRINTED_SIZES)
{
	static const double goal[] = { 0.001, 0.001, 0.005 };
	struct study s = study_of("constant", printed_sizes[i], ESTIMATE_CONSTANT);
	struct study_result r;

	ck_assert_double_le(run_study(&s, 30, 1, &r), goal[i]);
	ck_assert_uint_eq(r.refused, 0);
	ck_assert_uint_eq(r.covered, r.intervals);
	study_done(&r);
}

/* With 500 periods of the same run the best method halves each printed error. */
TEST_EACH(the_best_method_halves_each_printed_error, i, PRINTED_CELLS)
{
	struct study s = study_of(printed_laws[i / 3], printed_sizes[i % 3], ESTIMATE_GLS);
	struct study_result r;

	ck_assert_double_le(run_study(&s, 12, 10, &r), printed_table2[i / 3][i % 3].mean / 2);
	ck_assert_uint_eq(r.refused, 0);
	study_done(&r);
}

/* Constant services are left out: their intervals are those of rounding. */
TEST_EACH(intervals_cover_as_stated, m, ESTIMATE_METHODS)
{
	uint64_t intervals = 0, covered = 0;
	double share;

	if (m == ESTIMATE_CONSTANT || m == ESTIMATE_NNLS)
		return;
	for (int i = 3; i < PRINTED_CELLS; i++) {
		struct study s = study_of(printed_laws[i / 3], printed_sizes[i % 3],
					  (enum estimate_method)m);
		struct study_result r;

		run_study(&s, 12, 1, &r);
		intervals += r.intervals;
		covered += r.covered;
		study_done(&r);
	}
	share = (double)covered / (double)intervals;
	ck_assert_msg(share >= 0.85 && share <= 0.95, "%s: %.3f",
		      estimate_name((enum estimate_method)m), share);
}

/* 5000 sub-periods with the elapsed service; the noise of exponential times is the floor of 3, 5.
 */
TEST_EACH(known_ends_reach_a_tenth, i, PRINTED_CELLS)
{
	struct study s = study_of(printed_laws[i / 3], printed_sizes[i % 3], ESTIMATE_ELAPSED);
	double share = i / 3 == 5 && i % 3 < 2 ? 0.15 : 0.1;
	struct study_result r;

	ck_assert_double_le(run_study(&s, 2, 100, &r),
			    share * 1.5 * printed_table2[i / 3][i % 3].mean);
	study_done(&r);
}

TEST(factors_out_of_range_are_refused_by_name)
{
	struct server s = server_basic;
	struct err e = { 0 };

	s.utilisation = 1;
	ck_assert_int_eq(server_check(&s, &e), -ERR_INVALID);
	ck_assert(strstr(e.text, "utilisation"));
	s = server_basic;
	s.period = NAN;
	ck_assert_int_eq(server_check(&s, &e), -ERR_INVALID);
	ck_assert(strstr(e.text, "period"));
	s = server_basic;
	s.periods = 1000000;
	s.period = 1e9;
	ck_assert_int_eq(server_check(&s, &e), -ERR_LIMIT);
	ck_assert_int_eq(server_check(&server_basic, &e), 0);
}

SUITE("experiment")
