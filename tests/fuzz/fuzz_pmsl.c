/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts of the metric language. Any text has a bounded number of diagnostics, each with a position
 * in the text. A text without an error is planned for objects; its length selects the options. Each
 * resulting piece passes the verifier of its receivers, through its own notation.
 */
#include "common/omis/text/arena.h"
#include "common/base/array.h"
#include "common/omis/text/value.h"
#include "pmsl/dot.h"
#include "pmsl/pmsl.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

static void demand(int truth)
{
	if (!truth)
		abort();
}

static void demand_diags(const struct pmsl *text, const struct pmsl_diags *d, size_t bytes)
{
	static struct buf out = BUF_INIT(1 << 20);

	demand(d->n <= PMSL_DIAGS_MAX && d->nerror <= d->n);
	buf_clear(&out);
	for (size_t i = 0; i < d->n; i++) {
		demand(d->v[i].at == PMSL_NOWHERE || d->v[i].at <= bytes);
		demand(d->v[i].text[0]);
		pmsl_diag_print(&out, pmsl_source(text), &d->v[i], &pmsl_no_colors);
	}
	demand(!memchr(buf_str(&out), 0x1b, out.n));
}

/* Encodes the piece as text and decodes it, as its receiver does. */
static void demand_piece(const struct flow_graph *g)
{
	static struct buf out = BUF_INIT(64 << 20);
	struct omis_values *v = NULL;
	struct flow_graph *again = NULL;
	struct err e = { 0 };

	buf_clear(&out);
	flow_graph_print(&out, g);
	demand(!out.failed);
	if (omis_parse_values(buf_str(&out), out.n, &v, &e))
		return; /* larger than a frame */
	demand(flow_graph_from_value(&v->v[0], &again, &e) == 0);
	demand(again->nnode == g->nnode && again->nedge == g->nedge);
	flow_graph_free(again);
	omis_values_free(v);
}

static void demand_plan(const struct pmsl *text, const struct pmsl_metric *m, size_t n)
{
	static struct bind_arg args[PMSL_PARAMS_MAX];
	static const struct world_object objects[] = {
		{ PMSL_T_SITE, "s_1", "one", -1, WORLD_NONE, 0, false },
		{ PMSL_T_NODE, "n_1", "a", -1, 0, 0, false },
		{ PMSL_T_PROCESS, "p_1", NULL, 0, 1, 0, false },
		{ PMSL_T_PROCESS, "p_2", NULL, 1, 1, 0, false },
		{ PMSL_T_NODE, "n_2", "b", -1, 0, 0, false },
		{ PMSL_T_PROCESS, "p_3", NULL, 2, 4, 0, false },
		{ PMSL_T_SITE, "s_2", "two", -1, WORLD_NONE, 0, false },
		{ PMSL_T_NODE, "n_3", "c", -1, 6, 0, false },
		{ PMSL_T_PROCESS, "p_4", NULL, 3, 7, 0, false },
	};
	static const char *const regions[] = { "solve", "exchange" };
	static const struct bind_range times[] = { { -3, -3 }, { 10, 1000000000000 } };
	const struct world w = { objects, ARRAY_LEN(objects) };
	const struct bind_options options = { .arg = args,
					      .since = n % 2 ? FLOW_SINCE_LAST : FLOW_SINCE_START,
					      .per_second = n % 7 == 0,
					      .by = (enum bind_by)(n / 2 % 4),
					      .is_central = n % 5 == 0 };
	struct pmsl_diags d = PMSL_DIAGS_INIT;
	struct pmsl_plan plan;
	const struct pmsl_decl *param = m ? m->param : NULL;

	for (size_t i = 0; i < PMSL_PARAMS_MAX; i++) {
		args[i] = (struct bind_arg){ .region = regions, .nregion = 2, .value = 2 };
		args[i].vt = times;
		args[i].nvt = n % 3 ? ARRAY_LEN(times) : 0;
		args[i].is_given = param && param->type.kind == PMSL_T_VALUE;
		param = param ? param->next : NULL;
	}
	if (pmsl_plan(&(struct pmsl_demand){ .text = text,
					     .metric = m,
					     .world = &w,
					     .options = &options,
					     .measurement = 1 },
		      &d, &plan)) {
		demand(d.nerror > 0);
		return;
	}
	for (size_t i = 0; i < plan.pieces.n; i++)
		demand_piece(plan.pieces.v[i].graph);
	pmsl_plan_done(&plan);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct pmsl_diags d = PMSL_DIAGS_INIT;
	struct pmsl *text = NULL;
	unsigned tried = 0;

	if (pmsl_compile("fuzz", (const char *)p, n, &d, &text))
		return 0; /* out of memory */
	demand_diags(text, &d, n);
	for (const struct pmsl_metric *m = pmsl_tree(text)->metric; m && !d.nerror && tried < 4;
	     m = m->next, tried++)
		demand_plan(text, m, n);
	pmsl_free(text);
	return 0;
}
