/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/array.h"
#include "neko/core/delay.h"
#include "tests/suite.h"

#include <math.h>

static const char *const forms[] = {
	"constant(20ms)",	   "uniform(10ms, 30ms)",	  "exponential(20ms)",
	"exponential(20ms) + 5ms", "normal(50ms, 5ms)",		  "normal(5ms, 10ms)",
	"lognormal(50ms, 20ms)",   "lognormal(50ms, 20ms) + 1ms", "pareto(10ms, 4.5)",
};

static struct delay parsed(const char *text)
{
	struct err e = { 0 };
	struct delay d;

	ck_assert_msg(delay_parse(text, &d, &e) == 0, "%s: %s", text, e.text);
	return d;
}

/* Six deviations of the mean of N draws: once in 10^9 by chance, and the seed is fixed. */
TEST(draws_have_the_mean_and_the_deviation_that_formulas_say)
{
	enum { N = 20000 };

	for (size_t f = 0; f < ARRAY_LEN(forms); f++) {
		struct delay d = parsed(forms[f]);
		double sum = 0, squares = 0, mean, v;
		struct rng r;

		rng_init(&r, 7);
		for (size_t i = 0; i < N; i++) {
			v = (double)delay_draw(&d, &r) / 1e9;
			ck_assert(v >= 0);
			sum += v;
			squares += v * v;
		}
		mean = sum / N;
		ck_assert_msg(fabs(mean - delay_mean(&d)) <=
				      6 * delay_deviation(&d) / sqrt(N) + 1e-9,
			      "%s: mean %g, not %g", forms[f], mean, delay_mean(&d));
		ck_assert_msg(fabs(sqrt(fabs(squares / N - mean * mean)) - delay_deviation(&d)) <=
				      0.15 * delay_deviation(&d) + 1e-6,
			      "%s: deviation", forms[f]);
	}
}

/* The share of draws beyond y, at several y, within five of its own deviations. */
TEST(draws_have_the_tail_of_their_distribution)
{
	enum { N = 10000 };
	static const double at[] = { 0.0005, 0.004, 0.012, 0.021, 0.04, 0.055, 0.1 };

	for (size_t f = 0; f < ARRAY_LEN(forms); f++) {
		struct delay d = parsed(forms[f]);
		unsigned beyond[ARRAY_LEN(at)] = { 0 };
		struct rng r;

		rng_init(&r, 11);
		for (size_t i = 0; i < N; i++) {
			double v = (double)delay_draw(&d, &r) / 1e9;

			for (size_t k = 0; k < ARRAY_LEN(at); k++)
				beyond[k] += v > at[k];
		}
		for (size_t k = 0; k < ARRAY_LEN(at); k++) {
			double p = delay_tail(&d, at[k]);

			ck_assert_msg(
				fabs((double)beyond[k] / N - p) <= 5 * sqrt(p * (1 - p) / N) + 1e-9,
				"%s beyond %g: %u of %d, not %g", forms[f], at[k], beyond[k], N, p);
		}
	}
}

TEST(an_invalid_delay_is_refused_with_a_remedy)
{
	static const struct {
		const char *text, *says;
		enum err_code code;
	} bad[] = {
		{ "exponential(-20ms)", "before it is sent", ERR_INVALID },
		{ "exponential(20)", "write it as 20ms", ERR_INVALID },
		{ "exponential(20 apples)", "write it as 20ms", ERR_INVALID },
		{ "gamma(20ms)", "there is no delay 'gamma'", ERR_PARSE },
		{ "20ms", "write exponential(20ms)", ERR_PARSE },
		{ "uniform(10ms)", "uniform(10ms, 30ms)", ERR_PARSE },
		{ "uniform(30ms, 10ms)", "exchange them", ERR_INVALID },
		{ "exponential(10ms, 1ms)", "takes 1", ERR_PARSE },
		{ "pareto(10ms, 1)", "above 1", ERR_INVALID },
		{ "pareto(0ms, 2)", "more than 0", ERR_INVALID },
		{ "constant(1ms) - 1ms", "+ and a time", ERR_PARSE },
		{ "", "not a delay", ERR_PARSE },
	};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct err e = { 0 };
		struct delay d;

		ck_assert_msg(delay_parse(bad[i].text, &d, &e) == -(int)bad[i].code, "'%s': %s",
			      bad[i].text, e.text);
		ck_assert_msg(!bad[i].says || strstr(e.text, bad[i].says), "'%s' says: %s",
			      bad[i].text, e.text);
	}
}

SUITE("delay")
