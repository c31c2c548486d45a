/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of each kind of node: its inputs, domains, attributes and result. */
#include "common/base/array.h"
#include "common/base/limits.h"
#include "common/base/str.h"
#include "common/flow/graph/graph_internal.h"
#include "common/flow/graph/graph_limits.h"
#include "common/omis/text/token.h"
#include "stats/stop.h"

#include <math.h>
#include <string.h>

static const struct flow_node *input(const struct flow_graph *g, const struct flow_node *n,
				     size_t k)
{
	return &g->node[n->in[k]];
}

static int bad_domain(const struct flow_node *in, enum flow_domain wanted, struct err *e)
{
	return err_set(e, ERR_INVALID, "its input is of domain %s, not %s",
		       flow_domain_name(in->domain), flow_domain_name(wanted));
}

/*
 * Checks that the only input has domain d. The result has the same domain, unless the rule changes
 * that.
 */
static int one_input_of(const struct flow_graph *g, struct flow_node *n, enum flow_domain d,
			struct err *e)
{
	const struct flow_node *in = input(g, n, 0);

	if (in->domain != d)
		return bad_domain(in, d, e);
	n->domain = d;
	n->behind = in->behind;
	return 0;
}

static int scalars_only(const struct flow_graph *g, const struct flow_node *n, struct err *e)
{
	for (size_t k = 0; k < n->nin; k++)
		if (input(g, n, k)->partial)
			return err_set(e, ERR_INVALID, "input %zu is a partial aggregate", k);
	return 0;
}

/* Returns the common domain of all inputs that are not constants. */
static int common_domain(const struct flow_graph *g, const struct flow_node *n,
			 enum flow_domain *out, struct err *e)
{
	enum flow_domain d = FLOW_ANY;

	for (size_t k = 0; k < n->nin; k++) {
		const struct flow_node *in = input(g, n, k);

		if (in->domain == FLOW_ANY || in->domain == d)
			continue;
		if (d != FLOW_ANY)
			return bad_domain(in, d, e);
		d = in->domain;
	}
	if (d == FLOW_ANY)
		return err_set(e, ERR_INVALID,
			       "all inputs are constants: the node must be a constant");
	*out = d;
	return 0;
}

static int fold_is_sane(const struct flow_fold *f, struct err *e)
{
	if (!agg_kind_name(f->agg))
		return err_set(e, ERR_INVALID, "there is no aggregate %u", (unsigned)f->agg);
	if (!agg_share_is_fit(f->agg, f->q) && f->agg == AGG_TOP)
		return err_set(e, ERR_INVALID, "TOP of %g values, not of 1 to %d", f->q,
			       WHO_TOP_MAX);
	if (!agg_share_is_fit(f->agg, f->q))
		return err_set(e, ERR_INVALID,
			       f->agg == AGG_CI ? "a level of %g, not 0.95 or so"
						: "a quantile of %g, not of 0 to 1",
			       f->q);
	if (f->since != FLOW_SINCE_START && f->since != FLOW_SINCE_LAST)
		return err_set(e, ERR_INVALID, "there is no 'since' %u", (unsigned)f->since);
	return 0;
}

/*
 * True if the aggregates can be merged. The q of a QUANTILE may differ, because its sketch does not
 * depend on q.
 */
static bool are_of_a_kind(const struct flow_fold *a, const struct flow_fold *b)
{
	return a->agg == b->agg;
}

static int inputs_fit_fold(const struct flow_graph *g, const struct flow_node *n, struct err *e)
{
	bool partial = input(g, n, 0)->partial;

	for (size_t k = 0; k < n->nin; k++) {
		const struct flow_node *in = input(g, n, k);

		if (in->partial != partial)
			return err_set(e, ERR_INVALID, "values and partial aggregates go in");
		if (partial && !are_of_a_kind(&in->gives, &n->fold))
			return err_set(e, ERR_INVALID, "input %zu is a partial %s", k,
				       agg_kind_name(in->gives.agg));
	}
	return 0;
}

static int fold_rule(const struct flow_graph *g, struct flow_node *n, struct err *e)
{
	int rc = fold_is_sane(&n->fold, e);

	if (!rc)
		rc = inputs_fit_fold(g, n, e);
	if (rc)
		return rc;
	if (agg_kind_is_of_pairs(n->fold.agg) && !input(g, n, 0)->partial)
		return err_set(e, ERR_INVALID, "a %s of values that are not pairs",
			       agg_kind_name(n->fold.agg));
	if (agg_kind_is_of_objects(n->fold.agg) && !input(g, n, 0)->partial)
		return err_set(e, ERR_INVALID, "a %s of values without objects",
			       agg_kind_name(n->fold.agg));
	if ((n->fold.agg == AGG_HISTOGRAM || agg_kind_is_of_objects(n->fold.agg)) &&
	    !n->fold.partial_out)
		return err_set(e, ERR_INVALID, "a %s is not one number: partial_out is due",
			       agg_kind_name(n->fold.agg));
	n->partial = n->fold.partial_out;
	n->gives = n->fold;
	return 0;
}

static int const_rule(const struct flow_graph *g, struct flow_node *n, struct err *e)
{
	(void)g;
	(void)e;
	n->domain = FLOW_ANY;
	return 0;
}

static bool names_are_fit(const struct flow_names *names)
{
	for (size_t i = 0; i < names->n; i++)
		if (!str_is_name(names->v[i], strlen(names->v[i])))
			return false;
	return true;
}

static bool is_token(const char *s)
{
	return token_is_valid(s, strlen(s));
}

static bool is_name(const char *s)
{
	return str_is_name(s, strlen(s));
}

static int source_rule(const struct flow_graph *g, struct flow_node *n, struct err *e)
{
	const struct flow_source *s = &n->source;
	bool at_event = *s->probe || *s->process;

	(void)g;
	if (!flow_source_name(s->kind))
		return err_set(e, ERR_INVALID, "there is no source %u", (unsigned)s->kind);
	if (at_event && !(is_name(s->probe) && is_token(s->process)))
		return err_set(e, ERR_INVALID, "a probe has a name and a process");
	if (s->kind == FLOW_SOURCE_METRIC && !(is_name(s->metric) && is_token(s->object)))
		return err_set(e, ERR_INVALID, "a metric has a name and an object");
	if ((s->kind == FLOW_SOURCE_PARAMETER || s->kind == FLOW_SOURCE_EVENT) && !at_event)
		return err_set(e, ERR_INVALID, "a source '%s' has a probe",
			       flow_source_name(s->kind));
	if (!names_are_fit(&s->partners) || !names_are_fit(&s->regions))
		return err_set(e, ERR_INVALID, "a partner or region without a name");
	n->domain = at_event ? FLOW_VT : FLOW_READ;
	n->behind = 1;
	return 0;
}

/*
 * Checks a node that combines values of one key, some of them constants. Its `behind` is the
 * largest one of its inputs.
 */
static int values_of_a_key(const struct flow_graph *g, struct flow_node *n, struct err *e)
{
	int rc = common_domain(g, n, &n->domain, e);

	if (rc)
		return rc;
	for (size_t k = 0; k < n->nin; k++)
		if (input(g, n, k)->behind > n->behind)
			n->behind = input(g, n, k)->behind;
	return scalars_only(g, n, e);
}

static int op_rule(const struct flow_graph *g, struct flow_node *n, struct err *e)
{
	if (!flow_op_name(n->op))
		return err_set(e, ERR_INVALID, "there is no operation %u", (unsigned)n->op);
	if (n->nin != flow_op_arity(n->op))
		return err_set(e, ERR_INVALID, "'%s' of %zu inputs, not %zu", flow_op_name(n->op),
			       n->nin, flow_op_arity(n->op));
	return values_of_a_key(g, n, e);
}

static int pair_rule(const struct flow_graph *g, struct flow_node *n, struct err *e)
{
	if (!agg_kind_name(n->fold.agg) || !agg_kind_is_of_pairs(n->fold.agg))
		return err_set(e, ERR_INVALID, "aggregate %u is not of pairs",
			       (unsigned)n->fold.agg);
	n->partial = true;
	n->gives = n->fold;
	return values_of_a_key(g, n, e);
}

static int set_rule(const struct flow_graph *g, struct flow_node *n, struct err *e)
{
	int rc = common_domain(g, n, &n->domain, e);

	if (rc)
		return rc;
	for (size_t k = 0; k < n->nin; k++) {
		if (input(g, n, k)->domain == FLOW_ANY)
			return err_set(e, ERR_INVALID, "input %zu of a set is a constant", k);
		n->behind += input(g, n, k)->behind;
	}
	if (n->behind > FLOW_BEHIND_MAX)
		return err_set(e, ERR_LIMIT, "more than %d contributors", FLOW_BEHIND_MAX);
	return fold_rule(g, n, e);
}

static int vt_agg_rule(const struct flow_graph *g, struct flow_node *n, struct err *e)
{
	int rc = one_input_of(g, n, FLOW_VT, e);

	n->domain = FLOW_READ;
	return rc ? rc : fold_rule(g, n, e);
}

static int shift_rule(const struct flow_graph *g, struct flow_node *n, struct err *e)
{
	if (n->shift > FLOW_SHIFT_MAX || n->shift < -FLOW_SHIFT_MAX)
		return err_set(e, ERR_LIMIT, "a shift by %lld", (long long)n->shift);
	n->partial = input(g, n, 0)->partial;
	n->gives = input(g, n, 0)->gives;
	return one_input_of(g, n, FLOW_VT, e);
}

static int choice_rule(const struct flow_graph *g, struct flow_node *n, struct err *e)
{
	int rc = choice_check(&n->choice, e);

	n->partial = input(g, n, 0)->partial;
	n->gives = input(g, n, 0)->gives;
	return rc ? rc : one_input_of(g, n, FLOW_VT, e);
}

static int who_rule(const struct flow_graph *g, struct flow_node *n, struct err *e)
{
	const struct flow_node *in = input(g, n, 0);

	if (!agg_kind_name(n->who.fold.agg) || !agg_kind_is_of_objects(n->who.fold.agg))
		return err_set(e, ERR_INVALID, "aggregate %u is not of objects",
			       (unsigned)n->who.fold.agg);
	if (who_pack(n->who.object) == WHO_NONE)
		return err_set(e, ERR_INVALID, "'%.40s' is not a process, node or site",
			       n->who.object);
	if (in->domain == FLOW_ANY)
		return err_set(e, ERR_INVALID, "its input is a constant");
	n->domain = in->domain;
	n->behind = in->behind;
	n->partial = true;
	n->gives = n->who.fold;
	return scalars_only(g, n, e);
}

static int delta_rule(const struct flow_graph *g, struct flow_node *n, struct err *e)
{
	const struct flow_node *in = input(g, n, 0);
	int rc = one_input_of(g, n, in->domain == FLOW_VT ? FLOW_VT : FLOW_READ, e);

	if (!rc && in->domain == FLOW_VT && (in->kind != FLOW_INPUT || n->per_second))
		rc = err_set(e, ERR_INVALID, "differences of events are of one source");
	return rc ? rc : scalars_only(g, n, e);
}

static int rate_rule(const struct flow_graph *g, struct flow_node *n, struct err *e)
{
	int rc;

	if (n->since != FLOW_SINCE_START && n->since != FLOW_SINCE_LAST)
		return err_set(e, ERR_INVALID, "there is no 'since' %u", (unsigned)n->since);
	rc = one_input_of(g, n, FLOW_READ, e);
	return rc ? rc : scalars_only(g, n, e);
}

static int link_in_rule(const struct flow_graph *g, struct flow_node *n, struct err *e)
{
	const struct flow_link *l = &n->link;
	int rc = fold_is_sane(&l->fold, e);

	(void)g;
	if (rc)
		return rc;
	if (!is_name(l->name))
		return err_set(e, ERR_INVALID, "a link without a name");
	if (l->domain != FLOW_VT && l->domain != FLOW_READ)
		return err_set(e, ERR_INVALID, "a link of domain %u", (unsigned)l->domain);
	if (!l->behind || l->behind > FLOW_BEHIND_MAX)
		return err_set(e, ERR_LIMIT, "a link with %u contributors", (unsigned)l->behind);
	n->domain = l->domain;
	n->partial = l->partial;
	n->gives = l->fold;
	n->behind = l->behind;
	return 0;
}

static int end_rule(const struct flow_graph *g, struct flow_node *n, struct err *e)
{
	const struct flow_node *in = input(g, n, 0);

	if (n->kind == FLOW_LINK_OUT && !is_name(n->link.name))
		return err_set(e, ERR_INVALID, "a link without a name");
	if (n->kind == FLOW_LINK_OUT && in->domain == FLOW_ANY)
		return err_set(e, ERR_INVALID, "a link cannot carry a constant");
	if (n->kind == FLOW_RESULT && n->output > FLOW_OUTPUT_MAX)
		return err_set(e, ERR_LIMIT, "output %u", (unsigned)n->output);
	n->domain = in->domain;
	n->partial = in->partial;
	n->gives = in->gives;
	n->behind = in->behind;
	return 0;
}

/* Checks that the text is a stop rule that needs no sequence of values. */
static int rule_is_fit(const char *until, struct err *e)
{
	struct stop s;
	int rc = stop_parse(until, &s, e);

	if (!rc && stop_has_batches(&s))
		return err_set(e, ERR_INVALID,
			       "values of many ranks are not a sequence: they have no batches");
	return rc ? err_set(e, ERR_INVALID, "'%.60s' is not a rule", until) : 0;
}

/* Checks the second input of a stop: the correlation of the values with previous ones. */
static int neighbours_fit(const struct flow_node *in, struct err *e)
{
	if (in->domain != FLOW_READ)
		return bad_domain(in, FLOW_READ, e);
	if (!in->partial || in->gives.agg != AGG_CORRELATION)
		return err_set(e, ERR_INVALID, "its second input is not a partial %s",
			       agg_kind_name(AGG_CORRELATION));
	return 0;
}

static int stop_rule(const struct flow_graph *g, struct flow_node *n, struct err *e)
{
	const struct flow_node *in = input(g, n, 0);
	int rc = one_input_of(g, n, FLOW_READ, e);

	if (rc)
		return rc;
	if (!in->partial || !agg_kind_name(n->stop.agg) || !agg_gives(in->gives.agg, n->stop.agg))
		return err_set(e, ERR_INVALID, "its input has not the moments that it needs");
	if (!agg_share_is_fit(n->stop.agg, n->stop.q))
		return err_set(e, ERR_INVALID, "a level of %g, not 0.95 or so", n->stop.q);
	rc = n->nin > 1 ? neighbours_fit(input(g, n, 1), e) : 0;
	if (rc)
		return rc;
	return rule_is_fit(n->stop.until, e);
}

static const struct {
	size_t min, max; /* number of inputs */
	int (*rule)(const struct flow_graph *g, struct flow_node *n, struct err *e);
} kind_rule[FLOW_NKINDS] = {
	[FLOW_CONST] = { 0, 0, const_rule },	 [FLOW_INPUT] = { 0, 0, source_rule },
	[FLOW_OP] = { 1, 3, op_rule },		 [FLOW_SET] = { 1, FLOW_INPUTS_MAX, set_rule },
	[FLOW_VT_AGG] = { 1, 1, vt_agg_rule },	 [FLOW_SHIFT] = { 1, 1, shift_rule },
	[FLOW_DELTA] = { 1, 1, delta_rule },	 [FLOW_RATE] = { 1, 1, rate_rule },
	[FLOW_LINK_IN] = { 0, 0, link_in_rule }, [FLOW_LINK_OUT] = { 1, 1, end_rule },
	[FLOW_RESULT] = { 1, 1, end_rule },	 [FLOW_STOP] = { 1, 2, stop_rule },
	[FLOW_PAIR] = { 2, 2, pair_rule },	 [FLOW_CHOICE] = { 1, 1, choice_rule },
	[FLOW_WHO] = { 1, 1, who_rule },
};

int graph_rules(struct flow_graph *g, size_t i, struct err *e)
{
	struct flow_node *n = &g->node[i];

	n->partial = false;
	n->behind = 0;
	n->gives = (struct flow_fold){ 0 };
	if (n->nin < kind_rule[n->kind].min || n->nin > kind_rule[n->kind].max)
		return err_set(e, ERR_INVALID, "a %s of %zu inputs", flow_kind_name(n->kind),
			       n->nin);
	return kind_rule[n->kind].rule(g, n, e);
}
