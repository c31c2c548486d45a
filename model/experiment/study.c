/* SPDX-License-Identifier: Apache-2.0 */
#include "model/experiment/study.h"

#include "common/base/array.h"

#include <math.h>
#include <stdlib.h>

/* Each replication has a seed of its own, so that studies of one seed differ in nothing else. */
static uint64_t seed_of(const struct study *s, unsigned i)
{
	return s->seed * 0x9e3779b97f4a7c15 + i;
}

int study_check(const struct study *s, struct err *e)
{
	double cut = s->cut > 1 ? s->cut : 1, periods = cut * s->server.periods;
	int rc = server_check(&s->server, e);

	if (rc)
		return rc;
	if (periods <= PERIODS_MAX && periods * (s->server.services + 1.0) <= PERIODS_CELLS_MAX)
		return 0;
	return err_set(e, ERR_LIMIT,
		       "%.0f periods, each cut into %.0f, are too many for %u services",
		       periods / cut, cut, s->server.services);
}

static void note_coverage(const struct estimate_service *s, double real, struct study_result *out)
{
	if (isnan(s->low) || isnan(s->high))
		return;
	out->intervals++;
	out->covered += s->low <= real && real <= s->high;
}

/* Returns E_rel; NaN if a demand is unknown. */
static double error_of(const struct server *s, const struct server_truth *t,
		       const struct estimate *est, struct study_result *out)
{
	double real[SERVER_SERVICES_MAX], between[SERVER_SERVICES_MAX], off = 0, all = 0;

	server_means(s, real, between);
	for (unsigned i = 0; i < s->services; i++) {
		note_coverage(&est->service[i], real[i], out);
		off += fabs(est->service[i].demand - real[i]) * t->begun[i];
		all += t->begun[i] * real[i];
	}
	return all > 0 ? off / all : NAN;
}

static void refuse(struct study_result *out, const struct err *e)
{
	if (!out->refused++)
		out->reason = *e;
}

static int replicate(const struct study *s, unsigned i, struct periods *p, struct study_result *out)
{
	struct server cut = s->server;
	struct server_truth truth;
	struct estimate est;
	struct rng r;
	struct err e = { 0 };
	double error;
	int rc;

	if (s->cut > 1) {
		cut.period /= s->cut;
		cut.periods *= s->cut;
	}
	rng_init(&r, seed_of(s, i));
	rc = server_run(&cut, &r, p, &truth);
	if (rc)
		return rc;
	if (estimate(p, s->method, s->level, &est, &e)) {
		refuse(out, &e);
		return 0;
	}
	error = error_of(&s->server, &truth, &est, out);
	if (isnan(error)) {
		err_set(&e, ERR_INVALID, "a service was never called, or is inseparable");
		refuse(out, &e);
	} else {
		out->sorted[out->error.n] = error;
		moments_add(&out->error, error);
	}
	return 0;
}

int study_replicate(const struct study *s, unsigned i, struct study_result *out)
{
	struct periods *p = NULL;
	int rc = periods_new(s->server.services, true, true, &p);

	if (!rc)
		rc = replicate(s, i, p, out);
	periods_free(p);
	return rc;
}

int study_begin(const struct study *s, struct study_result *out)
{
	*out = (struct study_result){ .sorted = calloc(s->replications + 1, sizeof(double)) };
	return out->sorted ? 0 : -ERR_NOMEM;
}

void study_end(struct study_result *out)
{
	qsort(out->sorted, out->error.n, sizeof(*out->sorted), array_order_double);
}

void study_done(struct study_result *out)
{
	free(out->sorted);
	out->sorted = NULL;
}

double study_quantile(const struct study_result *r, double p)
{
	size_t n = r->error.n, at = (size_t)ceil(p * (double)n);

	return n ? r->sorted[at ? at - 1 : 0] : NAN;
}

double study_distance(const struct study_result *r, double printed, unsigned printed_n)
{
	double own = 1.0 / (double)r->error.n, other = 1.0 / printed_n;

	return (printed - moments_mean(&r->error)) /
	       (moments_deviation(&r->error) * sqrt(own + other));
}
