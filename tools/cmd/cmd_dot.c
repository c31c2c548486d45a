/* SPDX-License-Identifier: Apache-2.0 */
/* omig dot: draws how and where a metric is evaluated. No monitor is involved. */
#include "common/base/array.h"
#include "common/base/str.h"
#include "common/omis/text/arena.h"
#include "pmsl/dot.h"
#include "tools/cmd/cmd.h"
#include "tools/view/graphviz.h"
#include "tools/measure/pmsl_text.h"

#include <stdlib.h>
#include <string.h>

#define DRAWING_MAX_BYTES (64u << 20)

struct drawing {
	const char *objects, *layout, *by, *output;
	bool is_since_last, is_central;
	const struct pmsl *text;
	const struct pmsl_metric *metric;
	struct pmsl_diags d;
	struct arena *arena;
	struct world world;
	struct bind_arg arg[PMSL_PARAMS_MAX];
	struct bind_options options;
	struct buf out;
};

/* Takes p_1,p_2,... as the objects of the metric's first parameter of objects. */
static int choose_objects(struct drawing *g)
{
	const struct pmsl_decl *p = g->metric->param;
	char *names = arena_copy(g->arena, g->objects, strlen(g->objects)), *rest = NULL;
	uint32_t *v = arena_array(g->arena, strlen(g->objects) + 1, sizeof(*v));
	size_t n = 0;

	while (p && !pmsl_is_object(p->type.kind))
		p = p->next;
	if (!p)
		return cmd_fail(CMD_USAGE, "%s has no parameter for objects", g->metric->name);
	if (!names || !v)
		return cmd_fail(CMD_FAILURE, "out of memory");
	for (char *name = strtok_r(names, ",", &rest); name; name = strtok_r(NULL, ",", &rest)) {
		v[n] = world_find(&g->world, name);
		if (v[n++] == WORLD_NONE)
			return cmd_fail(CMD_NOTFOUND, "there is no %s in --layout", name);
	}
	g->arg[p->position] = (struct bind_arg){ .is_given = true, .object = v, .nobject = n };
	return CMD_OK;
}

static int choose_by(struct drawing *g)
{
	static const char *const words[] = { "nothing", "process", "node", "site" };

	for (unsigned i = 0; i < ARRAY_LEN(words); i++)
		if (str_eq(g->by, words[i])) {
			g->options.by = (enum bind_by)i;
			return CMD_OK;
		}
	return cmd_fail(CMD_USAGE, "--by is nothing, process, node or site");
}

static int options(struct drawing *g)
{
	struct err e = { 0 };
	int rc;

	g->options.arg = g->arg;
	g->options.since = g->is_since_last ? FLOW_SINCE_LAST : FLOW_SINCE_START;
	g->options.is_central = g->is_central;
	if (world_from_layout(g->layout, g->arena, &g->world, &e))
		return cmd_fail(CMD_USAGE, "%s", e.text);
	rc = g->objects ? choose_objects(g) : CMD_OK;
	return rc == CMD_OK ? choose_by(g) : rc;
}

/* A template that is too large to be drawn as it was written is still drawn with common parts
 * once. */
static void draw_templates(struct drawing *g)
{
	struct pmsl_diags unused = PMSL_DIAGS_INIT;
	struct dag *v = NULL;

	if (dag_build(g->metric, false, &unused, &v) == 0) {
		dot_template(&g->out, v, "dag", "as written");
		dag_free(v);
	}
	if (dag_build(g->metric, true, &g->d, &v) == 0) {
		dot_template(&g->out, v, "cse", "common parts once");
		dag_free(v);
	}
}

static int draw_plan(struct drawing *g)
{
	struct pmsl_plan plan;
	int rc = options(g);

	if (rc != CMD_OK)
		return rc;
	if (pmsl_plan(&(struct pmsl_demand){ .text = g->text,
					     .metric = g->metric,
					     .world = &g->world,
					     .options = &g->options,
					     .measurement = 1 },
		      &g->d, &plan))
		return g->d.nerror ? CMD_FAILURE : cmd_fail(CMD_FAILURE, "out of memory");
	dot_bound(&g->out, &plan.bound);
	dot_pieces(&g->out, &plan.pieces, &g->world);
	pmsl_plan_done(&plan);
	return CMD_OK;
}

static int draw(struct drawing *g)
{
	int rc = CMD_OK;

	dot_begin(&g->out, g->metric->name);
	draw_templates(g);
	if (g->layout)
		rc = draw_plan(g);
	dot_end(&g->out);
	if (rc == CMD_OK && g->out.failed)
		rc = cmd_fail(CMD_FAILURE, "the drawing is too large");
	return rc == CMD_OK ? graphviz_write(g->output, &g->out) : rc;
}

static int draw_text(struct drawing *g, const char *path, const char *metric)
{
	struct pmsl *text = NULL;
	struct term t;
	int rc = pmsl_text_compile(path, &g->d, &text);

	if (rc != CMD_OK)
		return rc;
	g->text = text;
	g->out = BUF_INIT(DRAWING_MAX_BYTES);
	g->arena = arena_new(DRAWING_MAX_BYTES);
	if (!g->d.nerror)
		g->metric = pmsl_metric(text, metric, &g->d);
	rc = !g->metric ? CMD_FAILURE : g->arena ? draw(g) : cmd_fail(CMD_FAILURE, "out of memory");
	term_open(&t, "never");
	if (g->d.nerror)
		pmsl_text_report(&t, stderr, text, &g->d);
	arena_free(g->arena);
	buf_done(&g->out);
	pmsl_free(text);
	return rc;
}

int cmd_dot(int argc, char **argv)
{
	struct drawing g = { .by = "nothing" };
	const struct opt table[] = {
		OPTION("output", 'o', "FILE",
		       "write there: .dot, .gv; .svg, .pdf, .png, .ps, .eps, .gif, .jpg, .json where graphviz is installed",
		       OPT_STR, &g.output),
		OPTION("layout", 0, "TEXT",
		       "sites, nodes and processes: 'site1:hostA=p_1,p_2;hostB=p_3/site2:hostC=p_4'",
		       OPT_STR, &g.layout),
		OPTION("objects", 0, "LIST",
		       "of the layout, what is measured: p_1,p_2 or hostA (default: all)", OPT_STR,
		       &g.objects),
		OPTION("by", 0, "KIND", "one result for each process, node or site", OPT_STR,
		       &g.by),
		OPTION("since-last", 0, NULL,
		       "an interval of the metric is since the last read, not since the start",
		       OPT_FLAG, &g.is_since_last),
		OPTION("central", 0, NULL, "all values go to the top, for comparing", OPT_FLAG,
		       &g.is_central),
		{ 0 },
	};
	const struct opt_spec spec = {
		.program = "omig dot",
		.usage = "[OPTION...] FILE METRIC",
		.summary = "draws how a metric is evaluated; with --layout also its graph, and "
			   "where the parts run",
		.table = table,
	};
	int first, status = cmd_parse(&spec, argc, argv, &first);

	if (status >= 0)
		return status;
	if (argc - first != 2)
		return cmd_usage(&spec, "one file and one metric");
	if (g.objects && !g.layout)
		return cmd_usage(&spec, "--objects are of a --layout");
	status = graphviz_check(g.output);
	return status == CMD_OK ? draw_text(&g, argv[first], argv[first + 1]) : status;
}
