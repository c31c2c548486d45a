/* SPDX-License-Identifier: Apache-2.0 */
#include "model/queue/source.h"

#include <math.h>

#define CUSTOMERS_MAX 200 /* more of them have about the factor of so many with the same load */
#define EXPONENTIAL 1e-3 /* a difference of cv2 that counts as none */
#define STAGES_MAX 100 /* a cv of 0.1; less counts as constant */
#define ENOUGH 1e15
#define ENDLESS 1e8 /* more customers come from an open class */

struct stages stages_of(double cv2)
{
	double k = ceil(1 / fmax(cv2, 1e-9) - 1e-9);
	double p = (k * cv2 - sqrt(fmax(k * (1 + cv2) - k * k * cv2, 0))) / (1 + cv2);

	return k > STAGES_MAX ? (struct stages){ 0 } : (struct stages){ (unsigned)k, fmax(p, 0) };
}

/* The Laplace transform, at v / mean, of a service with two moments (Tijms 1994). */
static double transform(double cv2, double v)
{
	struct stages s;
	double k, p;

	if (cv2 > 1) {
		p = (1 + sqrt((cv2 - 1) / (cv2 + 1))) / 2;
		return p / (1 + v / (2 * p)) + (1 - p) / (1 + v / (2 * (1 - p)));
	}
	s = stages_of(cv2);
	if (!s.longer)
		return exp(-v);
	k = s.longer;
	p = s.shorter;
	return pow(1 + v / (k - p), -k) * (1 + p * v / (k - p));
}

/* Services in a unit of time: from the number of them in a busy time. */
static double throughput(const struct source *s, double customers, double away)
{
	double services = 1, term = 1;

	for (double k = 1; k < customers && services < ENOUGH; k++) {
		double b = transform(s->cv2, k * s->service / away);

		term *= (customers - k) / k * (1 - b) / b;
		services += term;
	}
	return services / (services * s->service + away / customers);
}

/* Pollaczek and Khinchine; the wait by the number of requests, which Little's law gives. */
static double open_factor(const struct source *s, double use)
{
	double waits = use * (1 + s->cv2) / 2 / fmax(1 - use, 1e-6);

	return use > 0 ? waits / (use * (waits + 1)) : 1;
}

double source_factor(const struct source *s)
{
	double n = fmin(fmax(ceil(s->customers), 1), CUSTOMERS_MAX);
	double away = s->away * n / s->customers, wait, found;

	if (fabs(s->cv2 - 1) < EXPONENTIAL || s->customers < 2 || !(away > 0))
		return 1;
	if (s->customers >= ENDLESS)
		return open_factor(s, s->service * s->customers / s->away);
	wait = n / throughput(s, n, away) - away - s->service;
	found = n - 1 - throughput(s, n - 1, away) * away;
	return found > 1e-9 && wait > 0 ? wait / (found * s->service) : 1;
}
