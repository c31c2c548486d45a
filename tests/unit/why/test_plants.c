/* SPDX-License-Identifier: Apache-2.0 */
/* The whole search on simulated programs: power, place, causes, false findings. */
#include "tests/suite.h"
#include "why/search.h"
#include "why/simulated/simulated.h"

#include <math.h>
#include <stdlib.h>

static const struct simulated_conf usual = {
	.ranks = 64, .hosts = 8, .iterations = 10, .noise = { LAW_NORMAL, 0.005, 0 }, .loss = 0.1
};

/* Runs a search over n blocks. The caller frees both. */
static struct why *search(const struct simulated_conf *c, unsigned n, struct simulated *s)
{
	struct why *w = why_new(NULL, NULL);
	struct err e = { 0 };

	ck_assert_msg(!simulated_init(s, c, &e), "%s", e.text);
	for (unsigned i = 0; i < n; i++) {
		struct why_block b = simulated_next(s);

		ck_assert_msg(!why_add(w, &b, &e), "%s", e.text);
	}
	return w;
}

static const struct why_finding *find(const struct why *w, enum why_id id)
{
	const struct why_finding *f;
	size_t n = why_findings(w, &f);

	for (size_t i = 0; i < n; i++)
		if (f[i].id == id)
			return &f[i];
	return NULL;
}

TEST_EACH(each_plant_is_found_with_its_size_place_and_cause, plant, SIMULATED_PLANTS)
{
	struct simulated_conf c = usual;
	const struct simulated_name *n = simulated_name((enum simulated_plant)plant);
	const struct why_finding *f;
	struct simulated s;
	struct why *w;

	c.plant = (enum simulated_plant)plant;
	c.seed = suite_seed(7);
	w = search(&c, 20, &s);
	if (n->id == WHY_IDS) {
		ck_assert_uint_eq(why_findings(w, &f), 0);
	} else {
		f = find(w, n->id);
		ck_assert_ptr_nonnull(f);
		ck_assert_double_ge(f->severity.value, 0.085);
		ck_assert_double_le(f->severity.value, 0.12);
		ck_assert_double_le(f->severity.low, f->severity.value);
		ck_assert_double_ge(f->severity.high, f->severity.value);
		ck_assert(f->is_sure);
		ck_assert_uint_le(f->blocks_until_found, 10);
	}
	if (n->cause != WHY_IDS) {
		ck_assert_uint_ge(f->ncause, 1);
		ck_assert_uint_eq(f->cause[0].id, n->cause);
		ck_assert_double_ge(f->cause[0].share.value, 0.8);
		ck_assert(f->cause[0].is_sure);
		ck_assert(f->is_host == (plant == SIMULATED_SLOW_HOST));
		if (f->is_host)
			ck_assert(f->nhost == 1 && f->host[0] == s.culprit);
		else if (plant != SIMULATED_TWO)
			ck_assert(f->nrank == 1 && f->rank[0] == (int32_t)s.culprit);
		ck_assert_double_gt(f->ratio.value, 1.08);
	}
	why_free(w);
	simulated_done(&s);
}

SUITE("why/plants")
