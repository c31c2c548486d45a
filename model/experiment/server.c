/* SPDX-License-Identifier: Apache-2.0 */
#include "model/experiment/server.h"

#include <math.h>
#include <string.h>

/* section 5.1, the basic case */
const struct server server_basic = {
	.services = 5,
	.mean = 3,
	.mean_growth = 1.8,
	.service = { .kind = LAW_CONSTANT },
	.utilisation = 0.75,
	.rate_growth = 0.6,
	.arrival = { .kind = LAW_EXPONENTIAL, .cv = 1 },
	.period = 10000,
	.periods = 50,
};

struct run {
	const struct server *s;
	struct rng *r;
	struct periods *out;
	struct server_truth *truth;
	double mean[SERVER_SERVICES_MAX], between[SERVER_SERVICES_MAX], next[SERVER_SERVICES_MAX];
	size_t at; /* the open period */
	double edge; /* its end */
};

static int check_range(const char *what, double v, const double range[2], struct err *e)
{
	if (v >= range[0] && v <= range[1])
		return 0;
	return err_set(e, ERR_INVALID, "%s: a number from %g to %g, not %g", what, range[0],
		       range[1], v);
}

int server_check(const struct server *s, struct err *e)
{
	const double services[] = { 1, SERVER_SERVICES_MAX }, positive[] = { 1e-6, 1e9 };
	const double growth[] = { 0.01, 100 }, share[] = { 0.001, 0.999 },
		     periods[] = { 1, SERVER_PERIODS_MAX };
	double mean[SERVER_SERVICES_MAX], between[SERVER_SERVICES_MAX], rate = 0;
	int rc = check_range("services", s->services, services, e);

	if (!rc)
		rc = check_range("the mean service time", s->mean, positive, e);
	if (!rc)
		rc = check_range("the growth of service times", s->mean_growth, growth, e);
	if (!rc)
		rc = check_range("the growth of rates", s->rate_growth, growth, e);
	if (!rc)
		rc = check_range("the utilisation", s->utilisation, share, e);
	if (!rc)
		rc = check_range("the period", s->period, positive, e);
	if (!rc)
		rc = check_range("periods", s->periods, periods, e);
	if (rc)
		return rc;
	server_means(s, mean, between);
	for (unsigned i = 0; i < s->services; i++)
		rate += 1 / between[i];
	if (rate * s->period * s->periods > SERVER_REQUESTS_MAX)
		return err_set(e, ERR_LIMIT, "%.2g requests are too many: at most %.2g",
			       rate * s->period * s->periods, SERVER_REQUESTS_MAX);
	return 0;
}

void server_means(const struct server *s, double *service, double *between)
{
	double used = 0, rate = 1;

	for (unsigned i = 0; i < s->services; i++) {
		service[i] = i ? service[i - 1] * s->mean_growth : s->mean;
		used += rate * service[i];
		rate *= s->rate_growth;
	}
	for (unsigned i = 0; i < s->services; i++)
		between[i] = i ? between[i - 1] / s->rate_growth : used / s->utilisation;
}

/*
 * Closes the open period; service: in service at its end since `begin`, or -1. Returns true if it
 * was the last one.
 */
static bool close_period(struct run *w, int service, double begin)
{
	w->out->elapsed[w->at++] = service >= 0 ? w->edge - begin : 0;
	w->edge = w->s->period * (double)(w->at + 1);
	return w->at == w->s->periods;
}

/* Serves one request. Returns true if the last period has ended. */
static bool serve(struct run *w, int service, double begin, double time)
{
	enum server_credit credit = w->s->credit;
	double from = begin, end = begin + time;

	if (w->s->count == SERVER_COUNT_BEGIN)
		w->out->begun[w->at * w->out->k + (size_t)service]++;
	if (credit == SERVER_CREDIT_BEGIN)
		w->out->response[w->at] += time;
	while (end > w->edge) {
		if (credit == SERVER_CREDIT_USE)
			w->out->response[w->at] += w->edge - from;
		from = w->edge;
		if (close_period(w, service, begin))
			return true;
	}
	w->out->completed[w->at * w->out->k + (size_t)service]++;
	if (w->s->count == SERVER_COUNT_END)
		w->out->begun[w->at * w->out->k + (size_t)service]++;
	if (credit == SERVER_CREDIT_USE)
		w->out->response[w->at] += end - from;
	else if (credit == SERVER_CREDIT_END)
		w->out->response[w->at] += time;
	return false;
}

/* Takes the next request by time of arrival. */
static int take_next(struct run *w, double *at)
{
	int best = 0, n = (int)w->s->services;

	for (int i = 1; i < n; i++)
		if (w->next[i] < w->next[best])
			best = i;
	*at = w->next[best];
	if (w->s->count == SERVER_COUNT_ARRIVAL && *at < w->s->period * w->s->periods)
		w->out->begun[(size_t)(*at / w->s->period) * w->out->k + (size_t)best]++;
	w->next[best] += w->between[best] * law_draw(&w->s->arrival, w->r);
	return best;
}

static int begin_run(struct run *w)
{
	size_t at;

	periods_clear(w->out);
	for (unsigned i = 0; i < w->s->periods; i++) {
		int rc = periods_add(w->out, &at);

		if (rc)
			return rc;
	}
	server_means(w->s, w->mean, w->between);
	for (unsigned i = 0; i < w->s->services; i++)
		w->next[i] = w->between[i] * law_draw(&w->s->arrival, w->r);
	if (w->truth)
		memset(w->truth, 0, sizeof(*w->truth));
	w->edge = w->s->period;
	return 0;
}

/* Serves all requests that begin before the end of the last period. */
static void run_all(struct run *w)
{
	double free_at = 0;

	for (;;) {
		double arrival, begin, time;
		int service = take_next(w, &arrival);

		begin = fmax(arrival, free_at);
		while (begin >= w->edge)
			if (close_period(w, -1, 0))
				return;
		time = w->mean[service] * law_draw(&w->s->service, w->r);
		if (w->truth) {
			w->truth->begun[service]++;
			w->truth->time[service] += time;
		}
		free_at = begin + time;
		if (serve(w, service, begin, time))
			return;
	}
}

/* Requests that still wait at the end have arrived, too. */
static void count_rest(struct run *w)
{
	double at = 0;

	while (at < w->s->period * w->s->periods)
		take_next(w, &at);
}

int server_run(const struct server *s, struct rng *r, struct periods *out,
	       struct server_truth *truth)
{
	struct run w = { .s = s, .r = r, .out = out, .truth = truth };
	int rc = begin_run(&w);

	if (rc)
		return rc;
	run_all(&w);
	if (s->count == SERVER_COUNT_ARRIVAL)
		count_rest(&w);
	return 0;
}
