/* SPDX-License-Identifier: Apache-2.0 */
/* Distributions: their texts, their means and deviations. */
#include "stats/draw/law.h"
#include "tests/suite.h"

#include <math.h>

#define DRAWS 200000

static const struct {
	const char *text;
	double mean, cv;
} laws[] = {
	{ "constant", 1, 0 },
	{ "exponential", 1, 1 },
	{ "erlang(4)", 1, 0.5 },
	{ "normal(0.25)", 1, 0.25 },
	{ "lognormal(0.5)", 1, 0.5 },
	{ "hyperexponential(2)", 1, 2 },
	/* the half normal above 0: mean 1 + phi(1) / Phi(1) */
	{ "normal(1)", 1.28760, 0.6173 },
};

TEST_EACH(draws_have_the_mean_and_cv_of_their_law, i, (int)ARRAY_LEN(laws))
{
	double sum = 0, squares = 0, mean, cv;
	struct law l;
	struct rng r;

	ck_assert_int_eq(law_parse(laws[i].text, &l, NULL), 0);
	rng_init(&r, 7);
	for (int n = 0; n < DRAWS; n++) {
		double v = law_draw(&l, &r);

		ck_assert(v > 0);
		sum += v;
		squares += v * v;
	}
	mean = sum / DRAWS;
	cv = sqrt(fmax(squares / DRAWS - mean * mean, 0)) / mean;
	ck_assert_double_eq_tol(mean, laws[i].mean, 5 * (laws[i].cv + 1e-9) / sqrt(DRAWS));
	ck_assert_double_eq_tol(cv, laws[i].cv, 0.03 * laws[i].cv + 1e-9);
}

TEST_EACH(a_printed_law_reads_back, i, (int)ARRAY_LEN(laws))
{
	struct buf b = BUF_INIT(100);
	struct law l;

	ck_assert_int_eq(law_parse(laws[i].text, &l, NULL), 0);
	law_print(&l, &b);
	ck_assert_str_eq(buf_str(&b), laws[i].text);
	buf_done(&b);
}

static const char *const wrong[] = { "",
				     "normal",
				     "normal()",
				     "normal(2)",
				     "constant(1)",
				     "erlang(0)",
				     "erlang(2.5)",
				     "erlang(1001)",
				     "normal(0.1",
				     "normal(-0.1)",
				     "pareto(2)",
				     "normal(nan)",
				     "exponential ",
				     "hyperexponential(0.5)" };

TEST_EACH(a_wrong_law_is_refused_with_a_text, i, (int)ARRAY_LEN(wrong))
{
	struct err e = { 0 };
	struct law l;

	ck_assert_int_lt(law_parse(wrong[i], &l, &e), 0);
	ck_assert(e.text[0]);
}

SUITE("law")
