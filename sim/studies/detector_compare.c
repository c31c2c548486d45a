/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/studies/detector_compare.h"

#include "common/base/array.h"
#include "common/base/limits.h"
#include "common/base/str.h"
#include "neko/algorithms/fd.h"
#include "neko/run/run.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define CRASHES 400 /* enough for a mean with two digits */
#define TEXT_BYTES 1024
#define ETA_S ((double)HEARTBEAT_PERIOD_NS / 1e9)
/* largest time until our own links detect a lost peer */
#define PATIENCE_S ((double)HEARTBEAT_MISSED_MAX * ETA_S)

/* Detectors with a parameter for the longest delay get the value of our links. */
static const struct {
	const char *layer, *key, *rule;
	double seconds; /* value of the key; 0: the detector has no key */
} kinds[] = {
	{ "silence", "timeout", "6 s after the last heartbeat", PATIENCE_S },
	{ "nfd-s", "delta", "freshness points, 3 s behind", PATIENCE_S - ETA_S },
	{ "nfd-e", "alpha", "3 s after the mean of 32", PATIENCE_S - ETA_S },
	{ "adaptive", NULL, "as the network behaved", 0 },
	{ "phi", NULL, "threshold 8", 0 },
};

static int setup_of(const struct detector_conf *c, unsigned k, const char *more, struct setup **out,
		    struct err *e)
{
	char text[TEXT_BYTES], own[64] = "";

	if (kinds[k].key)
		snprintf(own, sizeof(own), "fd.%s = %gs\n", kinds[k].key, kinds[k].seconds);
	snprintf(text, sizeof(text),
		 "process.num = 2\nprocess.1.initializer = heartbeat\nprocess.2.initializer = "
		 "%s\nfd.eta = %gs\n%s"
		 "fd.log_delay = false\nnetwork = tcp\nnetwork.tcp.delay = "
		 "%.200s\nnetwork.tcp.loss = %.17g\n"
		 "network.tcp.resend = %gs\nsimulation.seed = %" PRIu64 "\n%s",
		 kinds[k].layer, ETA_S, own, c->delay_text, c->loss,
		 (double)DETECTOR_RETRY_NS / 1e9, c->seed, more);
	return setup_parse(text, strlen(text), out, e);
}

static void on_event(void *arg, const struct neko_event *v)
{
	struct detector_compared *r = arg;

	r->suspicions += str_eq(v->what, FD_START);
}

static void take_found(const struct run *run, struct detector_compared *out)
{
	struct stat_result v[STAT_QUANTITIES_MAX];
	size_t n = run_results(run, v);

	for (size_t i = 0; i < n; i++)
		if (str_eq(quantity_name(v[i].quantity), "T_D"))
			out->found = *quantity_moments(v[i].quantity);
}

struct trial {
	char setup[160]; /* text that follows the common configuration */
	bool has_crashes;
};

/* Runs one configuration, which counts suspicions or measures the detection of crashes. */
static int simulate(const struct detector_conf *c, unsigned k, const struct trial *t,
		    struct detector_compared *out, struct err *e)
{
	const struct run_options w = { .on_event = t->has_crashes ? NULL : on_event, .arg = out };
	struct run_counts f;
	struct setup *s;
	struct run *run;
	int got = setup_of(c, k, t->setup, &s, e);

	if (got < 0)
		return got;
	got = run_new(s, &run, e);
	if (!got) {
		got = run_simulate(run, &w, &f, e);
		if (!got && t->has_crashes)
			take_found(run, out);
		run_free(run);
	}
	setup_free(s);
	return got;
}

/* Measures crashes at a random moment between two heartbeats, after a hundred heartbeats. */
static int measure(const struct detector_conf *c, unsigned k, struct detector_compared *out,
		   struct err *e)
{
	struct trial quiet = { .has_crashes = false }, crashes = { .has_crashes = true };
	int rc;

	snprintf(quiet.setup, sizeof(quiet.setup), "simulation.until = %.0fs\n",
		 (double)c->time / 1e9 * c->links);
	snprintf(crashes.setup, sizeof(crashes.setup),
		 "process.1.crash = %gs..%gs\nsimulation.runs = %d\nsimulation.until = %gs\n",
		 100 * ETA_S, 101 * ETA_S, CRASHES, 110 * ETA_S);
	rc = simulate(c, k, &quiet, out, e);
	return rc ? rc : simulate(c, k, &crashes, out, e);
}

int detectors_measure(const struct detector_conf *c, struct detector_compared *out, struct err *e)
{
	_Static_assert(ARRAY_LEN(kinds) <= DETECTORS_MAX, "the caller has room for all");
	for (unsigned k = 0; k < ARRAY_LEN(kinds); k++) {
		int got;

		out[k] = (struct detector_compared){ .name = kinds[k].layer,
						     .rule = kinds[k].rule,
						     .months = (double)c->time / DETECTOR_MONTH_NS *
							       c->links };
		got = measure(c, k, &out[k], e);
		if (got < 0)
			return got;
	}
	return ARRAY_LEN(kinds);
}

void detectors_print(const struct detector_compared *r, unsigned n, struct buf *out)
{
	buf_printf(out, "%-9s %-28s %12s %28s %9s %9s\n", "detector", "suspects", "suspicions",
		   "per link and month, 95 %", "T_D mean", "at most");
	for (unsigned i = 0; i < n; i++, r++) {
		char range[64];
		double k[2];

		detector_poisson(r->suspicions, 0.95, k);
		snprintf(range, sizeof(range), "%.3g (%.3g to %.3g)",
			 (double)r->suspicions / r->months, k[0] / r->months, k[1] / r->months);
		buf_printf(out, "%-9s %-28s %12" PRIu64 " %28s %7.2f s %7.2f s\n", r->name, r->rule,
			   r->suspicions, range, moments_mean(&r->found), r->found.max);
	}
}
