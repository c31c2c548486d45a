/* SPDX-License-Identifier: Apache-2.0 */
#include "common/flow/engine/partial.h"

#include "common/flow/graph/graph_limits.h"

_Static_assert(sizeof(struct flow_partial) <= FLOW_PARTIAL_BYTES, "the verifier counts so much");

/*
 * Flags that are kept as reasons for a missing result. EXCLUDED is not such a reason, because it is
 * intended.
 */
#define KEPT_FLAGS (FLOW_FLAGS_ALL & ~FLOW_EXCLUDED)

void partial_init(struct flow_partial *p, enum agg_kind kind, union agg_room *room)
{
	agg_init(&p->a, kind, room);
	p->t = (struct flow_token){ 0 };
	p->is_reported = false;
}

void partial_clear(struct flow_partial *p)
{
	agg_clear(&p->a);
	p->t = (struct flow_token){ 0 };
	p->is_reported = false;
}

void partial_copy(struct flow_partial *p, const struct flow_partial *from)
{
	p->t = from->t;
	p->is_reported = from->is_reported;
	agg_copy(&p->a, &from->a);
}

/* Computes the mean time, weighted by contributors, and the span of the data. */
static void fold_times(struct flow_token *into, const struct flow_token *t)
{
	uint32_t weight = t->n ? t->n : 1;

	if (!into->n) {
		into->key = t->key;
		into->requester = t->requester;
		into->time = t->time;
		into->oldest = t->oldest;
		into->newest = t->newest;
		return;
	}
	into->time +=
		(nsec_t)((double)(t->time - into->time) * weight / ((double)into->n + weight));
	into->oldest = t->oldest < into->oldest ? t->oldest : into->oldest;
	into->newest = t->newest > into->newest ? t->newest : into->newest;
}

static void fold_coverage(struct flow_token *into, const struct flow_token *t, uint32_t k,
			  enum partial_over over)
{
	if (over == PARTIAL_OVER_KEYS)
		return flow_coverage_worse(&into->k, &into->n, k, t->n);
	into->k += k;
	into->n += t->n;
}

void partial_fold(struct flow_partial *p, const struct flow_token *t, const struct agg *a,
		  enum partial_over over)
{
	bool counts = a || flow_token_has_value(t) || t->flags & FLOW_EXCLUDED;

	fold_times(&p->t, t);
	fold_coverage(&p->t, t, counts ? t->k : 0, over);
	p->t.flags |= t->flags & KEPT_FLAGS;
	p->is_reported |= t->flags & FLOW_EXCLUDED || (counts && t->k);
	if (a)
		agg_merge(&p->a, a);
	else
		agg_add(&p->a, t->value, t->error);
}

/*
 * Returns the flags for a missing value. If no member has arrived the result is unknown, even for a
 * kind with a value for the empty set. Only the whole set shows that it is empty: some processes
 * may have had nothing to report.
 */
static uint32_t why_not(const struct flow_partial *p, double value)
{
	if (!agg_count(&p->a))
		return isnan(value) ? FLOW_MISSING : 0;
	return isfinite(value) ? 0 : FLOW_NAN;
}

struct flow_token partial_finish(const struct flow_partial *p, double q, bool is_part)
{
	struct flow_token t = p->t;

	t.value = agg_value(&p->a, q, &t.error);
	if (t.k < t.n)
		t.flags |= FLOW_PARTIAL;
	if (t.n && !p->is_reported && !agg_count(&p->a))
		t.value = NAN;
	if (!is_part)
		t.flags |= why_not(p, t.value);
	if (isnan(t.value)) {
		t.error = 0;
		t.value = is_part ? 0 : NAN;
	}
	return t;
}
