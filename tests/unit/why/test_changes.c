/* SPDX-License-Identifier: Apache-2.0 */
/* Findings over time: begin, end, return, several culprits; and searches without memory. */
#include "tests/alloc_sweep.h"
#include "tests/suite.h"
#include "why/search.h"
#include "why/simulated/simulated.h"

#include <math.h>
#include <stdlib.h>

static struct simulated_conf usual(enum simulated_plant plant)
{
	return (struct simulated_conf){ .ranks = 16,
					.hosts = 2,
					.iterations = 10,
					.noise = { LAW_NORMAL, 0.005, 0 },
					.plant = plant,
					.loss = 0.1,
					.seed = suite_seed(11) };
}

static void add(struct why *w, struct simulated *s, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		struct why_block b = simulated_next(s);

		ck_assert_int_eq(why_add(w, &b, NULL), 0);
	}
}

static const struct why_finding *find(const struct why *w, enum why_id id, bool is_gone)
{
	const struct why_finding *f;
	size_t n = why_findings(w, &f);

	for (size_t i = 0; i < n; i++)
		if (f[i].id == id && (f[i].state == WHY_GONE) == is_gone)
			return &f[i];
	return NULL;
}

TEST(a_loss_that_begins_and_ends_has_its_times)
{
	struct simulated_conf c = usual(SIMULATED_MORE_WORK);
	struct why *w = why_new(NULL, NULL);
	const struct why_finding *f;
	struct simulated s;
	nsec_t begin;

	c.from = 20;
	c.until = 50;
	ck_assert_int_eq(simulated_init(&s, &c, NULL), 0);
	add(w, &s, 20);
	begin = s.now;
	ck_assert_uint_eq(why_findings(w, &f), 0);
	add(w, &s, 30);
	f = find(w, WHY_W1, false);
	ck_assert_ptr_nonnull(f);
	ck_assert_int_eq(f->since, begin);
	ck_assert_int_eq(f->until, 0);
	ck_assert_uint_le(f->blocks_until_found, 32);
	ck_assert_double_eq_tol(f->severity.value, 0.1, 0.01);
	ck_assert(f->nrank == 1 && f->rank[0] == (int32_t)s.culprit);
	begin = s.now;
	add(w, &s, 10);
	ck_assert_ptr_null(find(w, WHY_W1, false));
	f = find(w, WHY_W1, true);
	ck_assert_ptr_nonnull(f);
	ck_assert_int_eq(f->until, begin);
	ck_assert_uint_eq(f->number, 1);
	why_free(w);
	simulated_done(&s);
}

TEST(a_loss_that_grows_becomes_stronger)
{
	struct simulated_conf c = usual(SIMULATED_MORE_WORK);
	struct why *w = why_new(NULL, NULL);
	const struct why_finding *f = NULL;
	struct simulated s;
	bool was_new = false, was_steady = false, was_stronger = false;

	ck_assert_int_eq(simulated_init(&s, &c, NULL), 0);
	for (int i = 0; i < 60; i++) {
		if (i == 30)
			s.late *= 2;
		add(w, &s, 1);
		f = find(w, WHY_W1, false);
		was_new = was_new || (f && f->state == WHY_NEW);
		was_steady = was_steady || (f && f->state == WHY_STEADY);
		was_stronger = was_stronger || (f && f->state == WHY_STRONGER);
	}
	ck_assert(was_new && was_steady && was_stronger);
	ck_assert_double_gt(f->severity.value, 0.16);
	why_free(w);
	simulated_done(&s);
}

TEST(both_of_two_culprits_are_named)
{
	struct simulated_conf c = usual(SIMULATED_TWO);
	struct why *w = why_new(NULL, NULL);
	const struct why_finding *f;
	bool is_named[2] = { false };
	struct simulated s;
	double sum = 0;
	size_t n;

	ck_assert_int_eq(simulated_init(&s, &c, NULL), 0);
	add(w, &s, 40);
	n = why_findings(w, &f);
	for (size_t i = 0; i < n; i++) {
		ck_assert_uint_eq(f[i].id, WHY_W1);
		sum += f[i].severity.value;
		for (size_t k = 0; k < f[i].nrank; k++) {
			is_named[0] = is_named[0] || f[i].rank[k] == (int32_t)s.culprit;
			is_named[1] =
				is_named[1] || f[i].rank[k] == (int32_t)((s.culprit + 1) % c.ranks);
		}
	}
	ck_assert(is_named[0] && is_named[1]);
	ck_assert_double_eq_tol(sum, 0.1, 0.015);
	why_free(w);
	simulated_done(&s);
}

TEST(a_culprit_that_moves_is_named_where_it_is)
{
	struct simulated_conf c = usual(SIMULATED_MORE_WORK);
	struct why *w = why_new(NULL, NULL);
	const struct why_finding *f;
	struct simulated s;

	ck_assert_int_eq(simulated_init(&s, &c, NULL), 0);
	add(w, &s, 25);
	s.culprit = (s.culprit + 5) % c.ranks;
	add(w, &s, 20);
	f = find(w, WHY_W1, false);
	ck_assert(f && f->nrank == 1 && f->rank[0] == (int32_t)s.culprit);
	why_free(w);
	simulated_done(&s);
}

TEST(a_block_without_memory_changes_nothing)
{
	struct simulated_conf c = usual(SIMULATED_MORE_WORK);
	struct simulated s;
	struct why_block b;

	ck_assert_int_eq(simulated_init(&s, &c, NULL), 0);
	b = simulated_next(&s);
	ALLOC_SWEEP (k) {
		struct why *w = why_new(NULL, NULL);
		int rc = w ? why_add(w, &b, NULL) : -ERR_NOMEM;
		struct why_summary sum;

		alloc_sweep_pause();
		ck_assert(!rc || rc == -ERR_NOMEM);
		if (w) {
			why_summary(w, &sum);
			ck_assert_uint_eq(sum.blocks, !rc);
			if (rc)
				ck_assert_int_eq(why_add(w, &b, NULL), 0);
		}
		why_free(w);
	}
	simulated_done(&s);
}

TEST(the_summary_has_a_verdict_for_each_hypothesis)
{
	struct simulated_conf c = usual(SIMULATED_DESCHEDULED);
	struct why *w = why_new(NULL, NULL);
	struct why_summary sum;
	struct simulated s;

	ck_assert_int_eq(simulated_init(&s, &c, NULL), 0);
	why_summary(w, &sum);
	ck_assert(!sum.is_done && isnan(sum.useful.value));
	add(w, &s, 40);
	why_summary(w, &sum);
	ck_assert_uint_eq(sum.of[WHY_W].verdict, WHY_FOUND);
	ck_assert_uint_eq(sum.of[WHY_W2].verdict, WHY_FOUND);
	ck_assert_uint_eq(sum.of[WHY_C2].verdict, WHY_FOUND);
	ck_assert_uint_eq(sum.of[WHY_C1].verdict, WHY_RULED_OUT);
	ck_assert_uint_eq(sum.of[WHY_W15].verdict, WHY_RULED_OUT);
	ck_assert_uint_eq(sum.of[WHY_W8].verdict, WHY_UNTESTABLE);
	for (size_t i = 0; i < WHY_IDS; i++)
		ck_assert((sum.of[i].verdict == WHY_UNTESTABLE) == (sum.of[i].reason != NULL));
	ck_assert_double_eq_tol(sum.useful.value, 0.9, 0.02);
	ck_assert(sum.is_done);
	why_free(w);
	simulated_done(&s);
}

SUITE("why/changes")
