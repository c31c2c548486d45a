/* SPDX-License-Identifier: Apache-2.0 */
/* Links of plain values with late data. */
#include "common/base/array.h"
#include "pmsl/pmsl.h"
#include "tests/suite.h"
#include "tests/unit/pmsl/metrics.h"

#include <string.h>

/* The first link into a site of the metric, one process on each node, since the last read. */
static struct flow_link link_of(const char *value)
{
	static const struct bind_arg args[PMSL_PARAMS_MAX];
	const struct bind_options options = { .arg = args, .since = FLOW_SINCE_LAST };
	struct pmsl_diags d = PMSL_DIAGS_INIT;
	struct flow_link link = { 0 };
	struct pmsl_plan plan;
	struct pmsl *p = NULL;
	char text[512];

	snprintf(
		text, sizeof(text),
		"M(Process[] ps, TimeInterval t) { PROBE e(Process, VirtualTime, Value r); Process p; "
		"VirtualTime vt; Value[][] x; Value[] y; x[p][vt] = r AT e(p, vt); y[p] = %s; "
		"RETURN MEAN(y[p] WHERE p IN ps AND p.rank %% 2 == 0); }",
		value);
	ck_assert_msg(pmsl_compile("t", text, strlen(text), &d, &p) == 0, "%s", d.v[0].text);
	ck_assert_msg(pmsl_plan(&(struct pmsl_demand){ .text = p,
						       .metric = pmsl_metric(p, "M", &d),
						       .world = metrics_world(),
						       .options = &options,
						       .measurement = 1 },
				&d, &plan) == 0,
		      "%s", d.v[0].text);
	for (size_t i = 0; i < plan.pieces.n && !link.behind; i++) {
		const struct flow_graph *g = plan.pieces.v[i].graph;

		for (size_t k = 0; plan.pieces.v[i].place.kind == PLACE_SITE && k < g->nnode; k++)
			if (g->node[k].kind == FLOW_LINK_IN && !link.behind)
				link = g->node[k].link;
	}
	link.name = NULL;
	ck_assert_uint_eq(link.behind, 1);
	ck_assert(!link.partial);
	pmsl_plan_done(&plan);
	pmsl_free(p);
	return link;
}

static void is_merged(const char *value, enum agg_kind agg)
{
	struct flow_link l = link_of(value);

	ck_assert_msg(l.fold.since == FLOW_SINCE_LAST, "%s", value);
	ck_assert_msg(l.fold.agg == agg, "%s: %u", value, (unsigned)l.fold.agg);
}

TEST(late_values_are_merged_by_the_matching_aggregate)
{
	is_merged("Send_volume(p, t)", AGG_SUM);
	is_merged("SUM(x[p][vt] WHERE x[p][vt].time IN t)", AGG_SUM);
	is_merged("COUNT(x[p][vt] WHERE x[p][vt].time IN t)", AGG_SUM);
	is_merged("MIN(x[p][vt] WHERE x[p][vt].time IN t)", AGG_MIN);
	is_merged("MAX(x[p][vt] WHERE x[p][vt].time IN t)", AGG_MAX);
}

TEST(values_of_one_read_are_not_merged_with_late_ones)
{
	static const char *const values[] = {
		"Node_load(p.node, NOW)",
		"Send_volume(p, [START,NOW])",
		"Send_volume(p, t) * Send_volume(p, t)",
		"MEAN(x[p][vt] WHERE x[p][vt].time IN t)",
		"SUM(x[p][vt] WHERE x[p][vt].time IN [START,NOW])",
	};

	for (size_t i = 0; i < ARRAY_LEN(values); i++)
		ck_assert_msg(link_of(values[i]).fold.since == FLOW_SINCE_START, "%s", values[i]);
}

SUITE("late")
