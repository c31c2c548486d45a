/* SPDX-License-Identifier: Apache-2.0 */
/* Stops: the value of an aggregate of all ranks, and whether there are enough values. */
#include "common/flow/engine/flow_internal.h"
#include "stats/stop.h"

#include <stdlib.h>

_Static_assert(sizeof(struct stop) <= FLOW_RULE_BYTES, "the verifier counts so much");

int stop_init(struct fnode *n, const struct flow_stop *of)
{
	n->stop.rule = malloc(sizeof(*n->stop.rule));
	if (!n->stop.rule || stop_parse(of->until, n->stop.rule, NULL)) {
		stop_done(n);
		return -ERR_NOMEM;
	}
	n->state_bytes = sizeof(*n->stop.rule);
	return 0;
}

void stop_done(struct fnode *n)
{
	free(n->stop.rule);
	n->stop.rule = NULL;
}

/* True if the rule holds. An interval with infinite values is infinitely wide. */
static bool is_reached(const struct stop *rule, const struct agg *a)
{
	static const struct batches none;
	struct moments m = agg_moments(a);

	return !a->pinf && !a->ninf && stop_is_reached(rule, &m, &none);
}

/* Tests dependence within ranks: values of each rank with its previous ones. */
static enum dependence dependence_in(const struct flow *f, const struct fnode *n)
{
	const struct agg *a = n->nin > 1 ? f->node[n->in[1]].now_agg : NULL;

	return a && !a->pinf && !a->ninf
		       ? dependence_of_neighbours(pairs_correlation(&a->pairs.of, a->n), a->n)
		       : DEPENDENCE_NONE;
}

void stop_read(const struct flow *f, struct fnode *n)
{
	const struct fnode *in = &f->node[n->in[0]];
	struct flow_token t = in->now;

	t.value = agg_value_as(in->now_agg, n->fold.agg, n->fold.q, &t.error);
	if (isnan(t.value)) {
		t.error = 0;
		t.flags |= agg_count(in->now_agg) ? FLOW_NAN : FLOW_MISSING;
	}
	n->now = t;
	n->stop.dependence = dependence_in(f, n);
	n->stop.is_reached = is_reached(n->stop.rule, in->now_agg);
}

void stop_report(const struct flow *f, const struct fnode *n, struct flow_result *r)
{
	r->a = f->node[n->in[0]].now_agg;
	r->is_enough = n->stop.is_reached;
	r->dependence = n->stop.dependence;
}
