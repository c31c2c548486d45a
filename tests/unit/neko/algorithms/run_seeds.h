/* SPDX-License-Identifier: Apache-2.0 */
/* For tests: simulates a configuration given as text, with many seeds. */
#ifndef TESTS_UNIT_NEKO_ALGORITHMS_RUN_SEEDS_H
#define TESTS_UNIT_NEKO_ALGORITHMS_RUN_SEEDS_H

#include "neko/run/run.h"
#include "tests/suite.h"

#include <string.h>

struct found {
	struct run_counts figures;
	char broken[ERR_TEXT_BYTES];
	uint64_t n[STAT_QUANTITIES_MAX];
	double mean[STAT_QUANTITIES_MAX], min[STAT_QUANTITIES_MAX], max[STAT_QUANTITIES_MAX];
	uint64_t hash;
};

static inline int run_text(const char *text, struct found *out, struct err *e)
{
	struct stat_result v[STAT_QUANTITIES_MAX];
	struct run_options w = { 0 };
	struct setup *s = NULL;
	struct run *r = NULL;
	size_t n;
	int rc = setup_parse(text, strlen(text), &s, e);

	*out = (struct found){ 0 };
	if (!rc)
		rc = run_new(s, &r, e);
	if (!rc)
		rc = run_simulate(r, &w, &out->figures, e);
	n = rc ? 0 : run_results(r, v);
	for (size_t i = 0; i < n; i++) {
		const struct moments *m = quantity_moments(v[i].quantity);

		out->n[i] = m->n;
		out->mean[i] = moments_mean(m);
		out->min[i] = m->min;
		out->max[i] = m->max;
	}
	if (!rc && out->figures.broken)
		snprintf(out->broken, sizeof(out->broken), "%s", out->figures.broken);
	run_free(r);
	setup_free(s);
	return rc;
}

static inline struct found run(const char *text)
{
	struct err e = { 0 };
	struct found f;

	ck_assert_msg(run_text(text, &f, &e) == 0, "%s", e.text);
	return f;
}

static inline struct found run_seeds(const char *text, const char *more, unsigned runs)
{
	static uint64_t seed;
	char whole[2048];

	if (!seed)
		seed = suite_seed(1);
	snprintf(whole, sizeof(whole), "%s%ssimulation.seed = %llu\nsimulation.runs = %u\n", text,
		 more, (unsigned long long)seed, runs);
	return run(whole);
}

#endif
