/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tail of Student's distribution is half of the regularised incomplete beta function: I_x(df /
 * 2, 1 / 2), x = df / (df + t^2). The continued fraction (DLMF 8.17.22) is evaluated by the
 * modified Lentz method.
 *
 * Quantiles are found by Newton's method from the left: the tail is convex there, so that no step
 * overshoots. For many degrees of freedom the Cornish-Fisher expansion (Abramowitz and Stegun
 * 26.7.5) is exact to double precision.
 */
#include "stats/student.h"

#include <math.h>
#include <stdbool.h>

/* from here on, the first omitted term is below 10^-15, and below 10^-13 at STUDENT_LEVEL_MAX */
#define DF_MANY 2500
#define FRACTION_STEPS 1000 /* usually about ten, and a hundred for many degrees of freedom */
/* usually a few, and some dozens far out in the tail for few degrees of freedom */
#define NEWTON_STEPS 200
/* from here on, the series of log_ratio() is exact to double precision */
#define STIRLING_FROM 16
#define TINY 1e-300

/* log(Gamma(a + 1/2) / Gamma(a)) without a difference of large numbers (DLMF 5.11.13, its
 * logarithm). */
static double log_ratio(double a)
{
	double u = 1 / (a * a);

	if (a < STIRLING_FROM)
		return lgamma(a + 0.5) - lgamma(a);
	return log(a) / 2 -
	       (1.0 / 8 -
		u * (1.0 / 192 - u * (1.0 / 640 - u * (17.0 / 14336 - u * 31.0 / 18432)))) /
		       a;
}

static double away_from_zero(double v)
{
	return fabs(v) < TINY ? TINY : v;
}

/* Evaluates the continued fraction of I_x(a, b), for x below (a + 1) / (a + b + 2). */
static double beta_fraction(double a, double b, double x)
{
	double c = 1, d = 1 / away_from_zero(1 - (a + b) * x / (a + 1)), f = d;

	for (int m = 1; m <= FRACTION_STEPS; m++) {
		double term = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)), step;

		d = 1 / away_from_zero(1 + term * d);
		c = away_from_zero(1 + term / c);
		f *= d * c;
		term = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		d = 1 / away_from_zero(1 + term * d);
		c = away_from_zero(1 + term / c);
		step = d * c;
		f *= step;
		if (fabs(step - 1) < 1e-16)
			break;
	}
	return f;
}

/* Returns x^a (1-x)^b / B(a, b) for a = df / 2, b = 1 / 2. */
static double beta_front(double square, double df)
{
	double a = df / 2;

	return exp(log_ratio(a) - a * log1p(square / df)) * sqrt(square / (df + square)) /
	       sqrt(M_PI);
}

double student_tail(double t, double df)
{
	double square = t * t, a = df / 2, x = df / (df + square), front = beta_front(square, df),
	       tail;

	if (t < 0)
		return 1 - student_tail(-t, df);
	if (x < (a + 1) / (a + 2.5))
		tail = front * beta_fraction(a, 0.5, x) / a;
	else
		tail = 1 - front * beta_fraction(0.5, a, square / (df + square)) / 0.5;
	return tail / 2;
}

static double student_density(double t, double df)
{
	return exp(log_ratio(df / 2) - (df + 1) / 2 * log1p(t * t / df)) / sqrt(df * M_PI);
}

/*
 * Returns the upper quantile, by Halley's method on erfc from a rough start (Abramowitz and Stegun
 * 26.2.23, 4.5 * 10^-4). p <= 1/2.
 */
static double normal_upper(double p)
{
	double r = sqrt(-2 * log(p));
	double z = r - (2.515517 + r * (0.802853 + r * 0.010328)) /
			       (1 + r * (1.432788 + r * (0.189269 + r * 0.001308)));

	for (int i = 0; i < 3; i++) {
		double off = (erfc(z * M_SQRT1_2) / 2 - p) * sqrt(2 * M_PI) * exp(z * z / 2);

		z += off / (1 - z * off / 2);
	}
	return z;
}

double normal_quantile(double p)
{
	return p < 0.5 ? -normal_upper(p) : normal_upper(1 - p);
}

static bool is_level(double level)
{
	return level >= STUDENT_LEVEL_MIN && level <= STUDENT_LEVEL_MAX;
}

double normal_two_sided(double level)
{
	return is_level(level) ? normal_upper((1 - level) / 2) : NAN;
}

static double cornish_fisher(double z, double df)
{
	double s = z * z, u = 1 / df;
	double g1 = (s + 1) / 4;
	double g2 = ((5 * s + 16) * s + 3) / 96;
	double g3 = (((3 * s + 19) * s + 17) * s - 15) / 384;
	double g4 = ((((79 * s + 776) * s + 1482) * s - 1920) * s - 945) / 92160;

	return z * (1 + u * (g1 + u * (g2 + u * (g3 + u * g4))));
}

static double newton(double t, double tail, double df)
{
	for (int i = 0; i < NEWTON_STEPS; i++) {
		double step = (student_tail(t, df) - tail) / student_density(t, df);

		t += step;
		if (fabs(step) <= 4e-16 * t)
			break;
	}
	return t;
}

double student_two_sided(double level, double df)
{
	double tail = (1 - level) / 2, z = normal_two_sided(level);

	if (isnan(z) || !(df > 0))
		return NAN;
	if (df >= DF_MANY)
		return cornish_fisher(z, df);
	if (df == 1)
		return 1 / tan(M_PI * tail);
	return newton(z, tail, df);
}
