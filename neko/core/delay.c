/* SPDX-License-Identifier: Apache-2.0 */
#include "neko/core/delay.h"

#include "common/base/array.h"
#include "common/base/str.h"
#include "common/cli/opt.h"
#include "stats/draw/normal.h"

#include <math.h>
#include <string.h>

#define DELAY_MAX_S 1e9 /* thirty years: the sum of several delays still fits into a time */
#define TEXT_MAX 96

struct form {
	const char *name;
	enum delay_kind kind;
	unsigned n; /* number of parameters in the brackets */
	const char *example;
};

static const struct form form[] = {
	{ "constant", DELAY_CONSTANT, 1, "constant(20ms)" },
	{ "uniform", DELAY_UNIFORM, 2, "uniform(10ms, 30ms)" },
	{ "exponential", DELAY_EXPONENTIAL, 1, "exponential(20ms)" },
	{ "normal", DELAY_NORMAL, 2, "normal(50ms, 5ms)" },
	{ "lognormal", DELAY_LOGNORMAL, 2, "lognormal(50ms, 20ms)" },
	{ "pareto", DELAY_PARETO, 2, "pareto(10ms, 2.5)" },
};

static int to_seconds(char *s, double *out, struct err *e)
{
	int64_t ns;

	s = str_trim(s);
	if (*s == '-')
		return err_set(e, ERR_INVALID,
			       "a delay of %s: a message cannot arrive before it is sent", s);
	if (opt_to_nsec_unit(s, 0, (int64_t)(DELAY_MAX_S * 1e9), &ns))
		return err_set(e, ERR_INVALID,
			       "'%s' is not a time; write it as 20ms, 1.5s or 250us", s);
	*out = (double)ns / 1e9;
	return 0;
}

static int to_power(char *s, double *out, struct err *e)
{
	s = str_trim(s);
	if (str_to_double(s, 1, 1000, out) || *out <= 1)
		return err_set(e, ERR_INVALID,
			       "a tail with the power '%s' has no mean; write a number above 1", s);
	return 0;
}

static int parse_pair(const struct form *f, char *inside, struct delay *d, struct err *e)
{
	char *comma = strchr(inside, ',');
	int rc;

	if ((f->n == 2) != (comma != NULL))
		return err_set(e, ERR_PARSE, "%s takes %u in its brackets: %s", f->name, f->n,
			       f->example);
	if (comma)
		*comma++ = 0;
	rc = to_seconds(inside, &d->a, e);
	if (rc || !comma)
		return rc;
	return f->kind == DELAY_PARETO ? to_power(comma, &d->b, e) : to_seconds(comma, &d->b, e);
}

/* Computes derived values, and checks that parameters are consistent. */
static int complete(struct delay *d, struct err *e)
{
	double ratio;

	if (d->kind == DELAY_UNIFORM && d->b < d->a)
		return err_set(e, ERR_INVALID,
			       "the second time of uniform is before the first; exchange them");
	if (d->kind == DELAY_LOGNORMAL || d->kind == DELAY_PARETO)
		if (d->a <= 0)
			return err_set(e, ERR_INVALID, "the first time must be more than 0");
	if (d->kind == DELAY_LOGNORMAL) {
		ratio = d->b / d->a;
		d->sigma = sqrt(log1p(ratio * ratio));
		d->mu = log(d->a) - d->sigma * d->sigma / 2;
	}
	return 0;
}

static const struct form *find_form(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(form); i++)
		if (str_eq(form[i].name, name))
			return &form[i];
	return NULL;
}

int delay_parse(const char *text, struct delay *out, struct err *e)
{
	struct delay d = { 0 };
	const struct form *f;
	char copy[TEXT_MAX], *open, *close, *after;
	int rc;

	if (!str_copy(copy, sizeof(copy), text))
		return err_set(e, ERR_PARSE, "a delay has fewer than %d letters", TEXT_MAX);
	open = strchr(copy, '(');
	close = open ? strchr(open, ')') : NULL;
	if (!close)
		return err_set(e, ERR_PARSE,
			       "'%s' is not a delay; write exponential(20ms), for instance", text);
	*open = *close = 0;
	f = find_form(str_trim(copy));
	if (!f)
		return err_set(e, ERR_PARSE,
			       "there is no delay '%s': constant, uniform, exponential, normal, "
			       "lognormal, pareto",
			       str_trim(copy));
	d.kind = f->kind;
	rc = parse_pair(f, open + 1, &d, e);
	after = str_trim(close + 1);
	if (!rc && *after == '+')
		rc = to_seconds(after + 1, &d.least, e);
	else if (!rc && *after)
		rc = err_set(e, ERR_PARSE, "only + and a time may follow the brackets, not '%s'",
			     after);
	if (!rc)
		rc = complete(&d, e);
	if (!rc)
		*out = d;
	return rc;
}

static double draw_positive_normal(const struct delay *d, struct rng *r)
{
	double v;

	do {
		v = d->a + d->b * draw_normal(r);
	} while (v < 0);
	return v;
}

static double draw(const struct delay *d, struct rng *r)
{
	switch (d->kind) {
	case DELAY_CONSTANT:
		return d->a;
	case DELAY_UNIFORM:
		return d->a + (d->b - d->a) * rng_double(r);
	case DELAY_EXPONENTIAL:
		return d->a * draw_exponential(r);
	case DELAY_NORMAL:
		return draw_positive_normal(d, r);
	case DELAY_LOGNORMAL:
		return exp(d->mu + d->sigma * draw_normal(r));
	case DELAY_PARETO:
		return d->a * pow(1 - rng_double(r), -1 / d->b);
	}
	return 0;
}

nsec_t delay_draw(const struct delay *d, struct rng *r)
{
	double s = d->least + draw(d, r);

	return s < DELAY_MAX_S ? (nsec_t)(s * 1e9) : (nsec_t)(DELAY_MAX_S * 1e9);
}

/* Returns P(Z > z) of the standard normal distribution. */
static double normal_tail(double z)
{
	return 0.5 * erfc(z / sqrt(2));
}

double delay_tail(const struct delay *d, double seconds)
{
	double y = seconds - d->least;

	if (y < 0)
		return 1;
	switch (d->kind) {
	case DELAY_CONSTANT:
		return y < d->a;
	case DELAY_UNIFORM:
		return y < d->a ? 1 : y >= d->b ? 0 : (d->b - y) / (d->b - d->a);
	case DELAY_EXPONENTIAL:
		return d->a > 0 ? exp(-y / d->a) : 0;
	case DELAY_NORMAL:
		return d->b > 0 ? normal_tail((y - d->a) / d->b) / normal_tail(-d->a / d->b)
				: y < d->a;
	case DELAY_LOGNORMAL:
		return y <= 0	      ? 1
		       : d->sigma > 0 ? normal_tail((log(y) - d->mu) / d->sigma)
				      : y < d->a;
	case DELAY_PARETO:
		return y <= d->a ? 1 : pow(y / d->a, -d->b);
	}
	return 0;
}

nsec_t delay_draw_resends(double loss, nsec_t first, struct rng *r)
{
	nsec_t later = 0;

	for (; rng_double(r) < loss;
	     first = first < DELAY_RESEND_MAX / 2 ? 2 * first : DELAY_RESEND_MAX)
		later += first;
	return later;
}

unsigned delay_corners(const struct delay *d, double out[2])
{
	bool is_bounded =
		d->kind == DELAY_CONSTANT || d->kind == DELAY_UNIFORM || d->kind == DELAY_PARETO;

	out[0] = d->least + (is_bounded ? d->a : 0);
	if (d->kind != DELAY_UNIFORM)
		return 1;
	out[1] = d->least + d->b;
	return 2;
}

/* Returns the mean of a normal distribution without its negative part, which is larger than a. */
static double positive_normal_mean(const struct delay *d)
{
	double z = d->b > 0 ? -d->a / d->b : -INFINITY;

	return d->b > 0 ? d->a + d->b * exp(-z * z / 2) / sqrt(2 * M_PI) / normal_tail(z) : d->a;
}

double delay_mean(const struct delay *d)
{
	switch (d->kind) {
	case DELAY_UNIFORM:
		return d->least + (d->a + d->b) / 2;
	case DELAY_NORMAL:
		return d->least + positive_normal_mean(d);
	case DELAY_PARETO:
		return d->least + d->a * d->b / (d->b - 1);
	default:
		return d->least + d->a;
	}
}

double delay_deviation(const struct delay *d)
{
	double z, h;

	switch (d->kind) {
	case DELAY_UNIFORM:
		return (d->b - d->a) / sqrt(12);
	case DELAY_EXPONENTIAL:
		return d->a;
	case DELAY_NORMAL:
		if (d->b <= 0)
			return 0;
		z = -d->a / d->b;
		h = exp(-z * z / 2) / sqrt(2 * M_PI) / normal_tail(z);
		return d->b * sqrt(fmax(0, 1 + z * h - h * h));
	case DELAY_LOGNORMAL:
		return d->b;
	case DELAY_PARETO:
		return d->b > 2 ? d->a / (d->b - 1) * sqrt(d->b / (d->b - 2)) : INFINITY;
	default:
		return 0;
	}
}
