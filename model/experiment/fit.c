/* SPDX-License-Identifier: Apache-2.0 */
#include "model/experiment/fit.h"

#include "common/base/array.h"
#include "common/base/str.h"
#include "stats/student.h"

#include <math.h>
#include <string.h>

#define SERIES_STEPS 10000

/*
 * The stated setting, then what the text leaves open: where a request counts, where its busy time
 * does, demands below 0, and the period.
 */
const struct fit_setting fit_settings[] = {
	{ 10000, ESTIMATE_OLS, SERVER_COUNT_BEGIN, SERVER_CREDIT_USE },
	{ 10000, ESTIMATE_NNLS, SERVER_COUNT_BEGIN, SERVER_CREDIT_USE },
	{ 10000, ESTIMATE_OLS, SERVER_COUNT_END, SERVER_CREDIT_USE },
	{ 10000, ESTIMATE_OLS, SERVER_COUNT_ARRIVAL, SERVER_CREDIT_USE },
	{ 10000, ESTIMATE_NNLS, SERVER_COUNT_ARRIVAL, SERVER_CREDIT_USE },
	{ 10000, ESTIMATE_OLS, SERVER_COUNT_BEGIN, SERVER_CREDIT_END },
	{ 10000, ESTIMATE_NNLS, SERVER_COUNT_BEGIN, SERVER_CREDIT_END },
	{ 20000, ESTIMATE_NNLS, SERVER_COUNT_BEGIN, SERVER_CREDIT_END },
	{ 20000, ESTIMATE_OLS, SERVER_COUNT_BEGIN, SERVER_CREDIT_USE },
	{ 5000, ESTIMATE_OLS, SERVER_COUNT_BEGIN, SERVER_CREDIT_USE },
	{ 5000, ESTIMATE_NNLS, SERVER_COUNT_BEGIN, SERVER_CREDIT_USE },
	{ 5000, ESTIMATE_OLS, SERVER_COUNT_BEGIN, SERVER_CREDIT_END },
	{ 5000, ESTIMATE_NNLS, SERVER_COUNT_BEGIN, SERVER_CREDIT_END },
};
const size_t fit_settings_count = ARRAY_LEN(fit_settings);

const char *fit_words(const struct fit_setting *w, char out[FIT_WORDS_BYTES])
{
	static const char *const counts[] = {
		[SERVER_COUNT_BEGIN] = "",
		[SERVER_COUNT_ARRIVAL] = ", counted at arrival",
		[SERVER_COUNT_END] = ", counted at completion",
	};
	static const char *const credits[] = {
		[SERVER_CREDIT_USE] = "",
		[SERVER_CREDIT_END] = ", busy time credited at completion",
		[SERVER_CREDIT_BEGIN] = ", busy time credited at the begin",
	};
	struct buf b = BUF_INIT(FIT_WORDS_BYTES);

	if (fabs(w->period - server_basic.period) > 0)
		buf_printf(&b, ", period %g", w->period);
	buf_puts(&b, counts[w->count]);
	buf_puts(&b, credits[w->credit]);
	if (w->method == ESTIMATE_NNLS)
		buf_puts(&b, ", no demand below 0");
	str_copy(out, FIT_WORDS_BYTES, b.n ? buf_str(&b) + strlen(", ") : "as stated");
	buf_done(&b);
	return out;
}

void fit_apply(const struct fit_setting *w, const struct study *base, struct study *out)
{
	*out = *base;
	out->server.period = w->period;
	out->server.count = w->count;
	out->server.credit = w->credit;
	out->method = w->method;
}

void fit_add(struct fit *f, double distance)
{
	if (isnan(distance))
		return;
	f->cells++;
	f->outside += fabs(distance) > normal_two_sided(FIT_BAND);
	f->chi_square += distance * distance;
}

void fit_end(struct fit *f)
{
	f->p = f->cells ? fit_tail(f->chi_square, f->cells) : NAN;
}

/* 1 minus the regularised lower incomplete gamma function, by its series (DLMF 8.11.4). */
static double by_series(double a, double x)
{
	double term = 1 / a, sum = term;

	for (unsigned n = 1; n < SERIES_STEPS && term > 1e-17 * sum; n++) {
		term *= x / (a + n);
		sum += term;
	}
	return 1 - sum * exp(a * log(x) - x - lgamma(a));
}

/* The upper one by its continued fraction (DLMF 8.9.2), by the modified Lentz method. */
static double by_fraction(double a, double x)
{
	double b = x + 1 - a, c = 1e300, d = 1 / b, h = d;

	for (unsigned n = 1; n < SERIES_STEPS; n++) {
		double an = n * (a - n), step;

		b += 2;
		d = 1 / (an * d + b);
		c = b + an / c;
		step = c * d;
		h *= step;
		if (fabs(step - 1) < 1e-15)
			break;
	}
	return h * exp(a * log(x) - x - lgamma(a));
}

double fit_tail(double x, unsigned df)
{
	double a = df / 2.0, half = x / 2;

	if (!(half > 0))
		return 1;
	return half < a + 1 ? by_series(a, half) : by_fraction(a, half);
}
