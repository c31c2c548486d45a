/* SPDX-License-Identifier: Apache-2.0 */
#include "pmsl/plan/late.h"

/* True if the value of a read is the increase since the previous read, so that reads add up. */
static bool is_gain(const struct flow_node *n)
{
	return (n->kind == FLOW_DELTA && !n->per_second) ||
	       (n->kind == FLOW_VT_AGG && !n->partial && n->fold.since == FLOW_SINCE_LAST &&
		(n->fold.agg == AGG_SUM || n->fold.agg == AGG_COUNT));
}

/*
 * Returns whether a late part counts in the next read. Sums of increases do, and aggregates over
 * the time since the last read. Other sets belong to one read, and cannot be mixed.
 */
static enum flow_since since_of(const struct bound *b, const struct bound_node *v)
{
	const struct flow_node *first;
	size_t i;

	if (v->n.kind != FLOW_SET)
		return v->n.kind == FLOW_VT_AGG ? v->n.fold.since : v->n.gives.since;
	first = &b->node[v->n.in[0]]->n;
	if (first->partial)
		return since_of(b, b->node[v->n.in[0]]);
	for (i = 0; i < v->n.nin && is_gain(&b->node[v->n.in[i]]->n); i++)
		continue;
	return v->n.fold.agg == AGG_SUM && i == v->n.nin ? FLOW_SINCE_LAST : FLOW_SINCE_START;
}

struct flow_fold late_fold_of_part(const struct bound *b, const struct bound_node *v)
{
	struct flow_fold f =
		v->n.kind == FLOW_SET || v->n.kind == FLOW_VT_AGG ? v->n.fold : v->n.gives;

	f.partial_out = false;
	f.since = since_of(b, v);
	return f;
}

struct flow_fold late_fold_of_value(const struct bound *b, const struct bound_node *v)
{
	const struct flow_fold none = { .since = FLOW_SINCE_START };
	struct flow_fold f = { .agg = AGG_SUM, .since = FLOW_SINCE_LAST };

	if (v->n.kind != FLOW_SET && v->n.kind != FLOW_VT_AGG)
		return is_gain(&v->n) ? f : none;
	if (since_of(b, v) != FLOW_SINCE_LAST)
		return none;
	if (v->n.fold.agg == AGG_MIN || v->n.fold.agg == AGG_MAX)
		f.agg = v->n.fold.agg;
	else if (v->n.fold.agg != AGG_SUM && v->n.fold.agg != AGG_COUNT)
		return none;
	return f;
}
