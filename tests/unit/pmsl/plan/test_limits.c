/* SPDX-License-Identifier: Apache-2.0 */
/* As many objects and combinations of them as there may be, and one more. */
#include "common/omis/text/arena.h"
#include "pmsl/pmsl.h"
#include "tests/suite.h"

#include <stdlib.h>
#include <string.h>

#define PROCESSES 999
#define NODES 1001 /* with one combination of the output itself: BIND_COMBINATIONS_MAX */

static struct pmsl_diags diags;

/* A site, its nodes, and processes on the first of these. */
static struct world make_world(struct world_object *v, size_t nodes)
{
	v[0] = (struct world_object){ PMSL_T_SITE, "s_1", NULL, -1, WORLD_NONE, 0, false };
	for (size_t i = 1; i <= nodes; i++)
		v[i] = (struct world_object){ PMSL_T_NODE, "n_1", NULL, -1, 0, 0, false };
	for (size_t i = 0; i < PROCESSES; i++)
		v[nodes + 1 + i] = (struct world_object){ PMSL_T_PROCESS, "p_1", NULL,
							  (int64_t)i,	  1,	 0,
							  false };
	return (struct world){ v, 1 + nodes + PROCESSES };
}

static int plan_over(size_t nodes)
{
	static const char source[] =
		"M(Process[] ps) { Process p; Node n; RETURN SUM(p.rank + IF(n == n, 1, 0) "
		"WHERE p IN ps); }";
	static struct world_object v[1 + NODES + 1 + PROCESSES];
	static const struct bind_arg args[PMSL_PARAMS_MAX];
	const struct bind_options options = { .arg = args };
	const struct world w = make_world(v, nodes);
	struct pmsl *text = NULL;
	struct pmsl_plan plan;
	int rc;

	diags = PMSL_DIAGS_INIT;
	ck_assert_int_eq(pmsl_compile("t", source, strlen(source), &diags, &text), 0);
	ck_assert_msg(!diags.nerror, "%s", diags.v[0].text);
	rc = pmsl_plan(&(struct pmsl_demand){ .text = text,
					      .metric = pmsl_metric(text, "M", &diags),
					      .world = &w,
					      .options = &options,
					      .measurement = 1 },
		       &diags, &plan);
	if (!rc)
		pmsl_plan_done(&plan);
	pmsl_free(text);
	return rc;
}

TEST(a_metric_looks_at_so_many_combinations)
{
	ck_assert_uint_eq(PROCESSES * NODES + 1, BIND_COMBINATIONS_MAX);
	ck_assert_int_eq(plan_over(NODES), 0);
	ck_assert_int_eq(plan_over(NODES + 1), -ERR_LIMIT);
	ck_assert_ptr_nonnull(strstr(diags.v[0].text, "more than 1000000 combinations of objects"));
}

static int read_layout(size_t processes, struct err *e)
{
	struct arena *a = arena_new(256 << 20);
	struct buf b = BUF_INIT(16 << 20);
	struct world w;
	int rc;

	buf_puts(&b, "s:a=p_1");
	for (size_t i = 1; i < processes; i++)
		buf_puts(&b, ",p_1");
	rc = world_from_layout(buf_str(&b), a, &w, e);
	if (!rc)
		ck_assert_uint_eq(w.n, processes + 2);
	buf_done(&b);
	arena_free(a);
	return rc;
}

TEST(a_layout_has_so_many_objects)
{
	struct err e = { 0 };

	ck_assert_int_eq(read_layout(WORLD_OBJECTS_MAX - 2, &e), 0);
	ck_assert_int_eq(read_layout(WORLD_OBJECTS_MAX - 1, &e), -ERR_LIMIT);
	ck_assert_str_eq(e.text, "layout: too many objects");
}

SUITE("limits")
