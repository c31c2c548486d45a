/* SPDX-License-Identifier: Apache-2.0 */
/* The subjects of a measurement's outputs: objects, partners, regions. */
#include "common/base/array.h"
#include "common/base/limits.h"
#include "common/base/str.h"
#include "common/omis/services/check.h"
#include "common/omis/text/arena.h"
#include "pmsl/dot.h"
#include "pmsl/pmsl.h"
#include "tests/suite.h"

#include <string.h>

static struct pmsl *text;
static struct pmsl_plan plan;
static struct world world;
static struct arena *arena;
static struct pmsl_diags diags;
static struct bind_arg args[PMSL_PARAMS_MAX];
static struct bind_options options;

static void set_up(void)
{
	struct err e = { 0 };

	arena = arena_new(1 << 20);
	ck_assert_msg(world_from_layout("s:a=p_1,p_2;b=p_3", arena, &world, &e) == 0, "%s", e.text);
	diags = PMSL_DIAGS_INIT;
	options = (struct bind_options){ .arg = args };
	memset(args, 0, sizeof(args));
}

static void clean_up(void)
{
	pmsl_plan_done(&plan);
	pmsl_free(text);
	arena_free(arena);
	text = NULL;
}

static int plan_builtin(const char *metric, bool has_partners, bool has_regions)
{
	struct buf b = BUF_INIT(1024);

	ck_assert_int_eq(pmsl_builtin_source(metric, has_partners, has_regions, &b), 0);
	ck_assert_int_eq(pmsl_compile("t", buf_str(&b), b.n, &diags, &text), 0);
	buf_done(&b);
	return pmsl_plan(&(struct pmsl_demand){ .text = text,
						.metric = pmsl_metric(text, "Measured", &diags),
						.world = &world,
						.options = &options,
						.measurement = 1 },
			 &diags, &plan);
}

/* The number of inputs of the graph for exactly this partner or region. */
static unsigned asked_for(const char *process, const char *partner, const char *region)
{
	unsigned n = 0;

	for (size_t i = 0; i < plan.bound.n; i++) {
		const struct flow_node *f = &plan.bound.node[i]->n;

		if (f->kind == FLOW_INPUT && str_eq(f->source.object, process))
			n += partner ? f->source.partners.n == 1 &&
					       str_eq(f->source.partners.v[0], partner)
				     : f->source.regions.n == 1 &&
					       str_eq(f->source.regions.v[0], region);
	}
	return n;
}

TEST(each_pair_of_processes_has_an_output)
{
	size_t k = 0;

	options.by = BIND_BY_PROCESS;
	options.each = BIND_EACH_PARTNER;
	ck_assert_int_eq(plan_builtin("Send_volume", true, false), 0);
	ck_assert_uint_eq(plan.outputs.n, 9);
	for (unsigned from = 1; from <= 3; from++)
		for (unsigned to = 1; to <= 3; to++, k++) {
			char process[8], partner[8];

			snprintf(process, sizeof(process), "p_%u", from);
			snprintf(partner, sizeof(partner), "p_%u", to);
			ck_assert_str_eq(world.v[plan.outputs.v[k].object].token, process);
			ck_assert_str_eq(world.v[plan.outputs.v[k].partner].token, partner);
			snprintf(partner, sizeof(partner), "%u", to - 1); /* its rank */
			ck_assert_uint_eq(asked_for(process, partner, NULL), 1);
		}
}

#define RANKS 64 /* of which the pairs are BIND_OUTPUTS_MAX */

/* A host with so many ranks, named as they are. */
static void one_host(unsigned ranks)
{
	struct buf b = BUF_INIT(1 << 16);
	struct err e = { 0 };

	buf_puts(&b, "s:a=");
	for (unsigned i = 0; i < ranks; i++)
		buf_printf(&b, "%sp_12_abcd%02u", i ? "," : "", i);
	ck_assert_msg(world_from_layout(buf_str(&b), arena, &world, &e) == 0, "%s", e.text);
	buf_done(&b);
}

/* Each part fits into one frame, and is read there unchanged. */
static void parts_can_be_read(void)
{
	for (size_t i = 0; i < plan.pieces.n; i++) {
		struct buf b = BUF_INIT(FRAME_MAX_BYTES - 64 * 1024);
		struct omis_values *v = NULL;
		struct flow_graph *g = NULL;
		struct err e = { 0 };

		flow_graph_print(&b, plan.pieces.v[i].graph);
		ck_assert_msg(!b.failed, "part %zu is too large", i);
		ck_assert_msg(omis_parse_values(buf_str(&b), b.n, &v, &e) == 0, "part %zu: %s", i,
			      e.text);
		ck_assert_msg(flow_graph_from_value(&v->v[0], &g, &e) == 0, "part %zu: %s", i,
			      e.text);
		ck_assert_uint_eq(g->nnode, plan.pieces.v[i].graph->nnode);
		flow_graph_free(g);
		omis_values_free(v);
		buf_done(&b);
	}
}

TEST(a_matrix_of_as_many_pairs_as_may_be_on_one_host_is_loaded)
{
	static const struct bind_options cases[] = {
		{ .since = FLOW_SINCE_START },
		{ .since = FLOW_SINCE_LAST },
		{ .since = FLOW_SINCE_LAST, .per_second = true },
	};

	one_host(RANKS);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		options = cases[i];
		options.arg = args;
		options.by = BIND_BY_PROCESS;
		options.each = BIND_EACH_PARTNER;
		ck_assert_msg(plan_builtin("MPI_Rget_accumulate_volume_out", true, false) == 0,
			      "%s", diags.v[0].text);
		ck_assert_uint_eq(plan.outputs.n, BIND_OUTPUTS_MAX);
		parts_can_be_read();
		pmsl_plan_done(&plan);
		pmsl_free(text);
		text = NULL;
	}
}

TEST(each_partner_of_all_together_has_an_output)
{
	const uint32_t only[] = { world_find(&world, "p_3") };

	options.each = BIND_EACH_PARTNER;
	args[1] = (struct bind_arg){ .is_given = true, .object = only, .nobject = 1 };
	ck_assert_int_eq(plan_builtin("Send_volume", true, false), 0);
	ck_assert_uint_eq(plan.outputs.n, 1);
	ck_assert_uint_eq(plan.outputs.v[0].object, WORLD_NONE);
	ck_assert_uint_eq(plan.outputs.v[0].partner, only[0]);
	ck_assert_uint_eq(asked_for("p_1", "2", NULL), 1);
}

/* p_1 and p_2 are ranks 0 and 1 of one job, p_3 is rank 0 of another. */
static void two_jobs(void)
{
	struct world_object *v = arena_array(arena, world.n, sizeof(*v));

	ck_assert_ptr_nonnull(v);
	memcpy(v, world.v, world.n * sizeof(*v));
	v[world_find(&world, "p_3")].job = 1;
	v[world_find(&world, "p_3")].rank = 0;
	world.v = v;
}

TEST(only_pairs_of_one_job_have_an_output)
{
	two_jobs();
	options.by = BIND_BY_PROCESS;
	options.each = BIND_EACH_PARTNER;
	ck_assert_int_eq(plan_builtin("Send_volume", true, false), 0);
	ck_assert_uint_eq(plan.outputs.n, 4 + 1);
	ck_assert_str_eq(world.v[plan.outputs.v[4].object].token, "p_3");
	ck_assert_str_eq(world.v[plan.outputs.v[4].partner].token, "p_3");
	ck_assert_uint_eq(asked_for("p_1", "0", NULL), 1);
	ck_assert_uint_eq(asked_for("p_3", "0", NULL), 1);
	ck_assert_uint_eq(asked_for("p_3", "1", NULL), 0);
}

/* The order in which they arrive does not matter. */
TEST(outputs_are_in_the_order_of_jobs_and_ranks)
{
	static const int64_t rank[] = { 2, 0, 1 };
	struct world_object *v = arena_array(arena, world.n, sizeof(*v));

	memcpy(v, world.v, world.n * sizeof(*v));
	for (unsigned i = 0; i < 3; i++) {
		char token[8];

		snprintf(token, sizeof(token), "p_%u", i + 1);
		v[world_find(&world, token)].rank = rank[i];
	}
	world.v = v;
	options.by = BIND_BY_PROCESS;
	ck_assert_int_eq(plan_builtin("Send_volume", false, false), 0);
	ck_assert_uint_eq(plan.outputs.n, 3);
	for (size_t i = 0; i < 3; i++)
		ck_assert_int_eq(world.v[plan.outputs.v[i].object].rank, i);
}

/* Rank 0 of one job is not rank 0 of the other. */
TEST(partners_are_of_the_job_of_the_process)
{
	const uint32_t only[] = { world_find(&world, "p_3") };

	two_jobs();
	args[1] = (struct bind_arg){ .is_given = true, .object = only, .nobject = 1 };
	ck_assert_int_eq(plan_builtin("Send_volume", true, false), 0);
	ck_assert_uint_eq(asked_for("p_3", "0", NULL), 1);
	ck_assert_uint_eq(asked_for("p_1", "0", NULL) + asked_for("p_2", "0", NULL), 0);
}

TEST(partners_of_many_processes_are_named_once)
{
	const char *const *first = NULL;
	unsigned n = 0;

	options.by = BIND_BY_PROCESS;
	ck_assert_int_eq(plan_builtin("Send_volume", true, false), 0);
	for (size_t i = 0; i < plan.bound.n; i++) {
		const struct flow_node *f = &plan.bound.node[i]->n;

		if (f->kind != FLOW_INPUT)
			continue;
		first = first ? first : f->source.partners.v;
		ck_assert_ptr_eq(f->source.partners.v, first);
		ck_assert_uint_eq(f->source.partners.n, 3);
		ck_assert_str_eq(f->source.partners.v[2], "2");
		n++;
	}
	ck_assert_uint_eq(n, 3);
}

TEST(each_region_has_an_output)
{
	const char *const regions[] = { "loop", "a..b" };

	options.by = BIND_BY_NODE;
	options.each = BIND_EACH_REGION;
	args[1] = (struct bind_arg){ .is_given = true, .region = regions, .nregion = 2 };
	ck_assert_int_eq(plan_builtin("Send_delay", false, true), 0);
	ck_assert_uint_eq(plan.outputs.n, 4);
	ck_assert_str_eq(plan.outputs.v[0].region, "loop");
	ck_assert_str_eq(plan.outputs.v[1].region, "a..b");
	ck_assert_uint_eq(plan.outputs.v[1].object, world_find(&world, "a"));
	ck_assert_uint_eq(plan.outputs.v[3].object, world_find(&world, "b"));
	ck_assert_uint_eq(asked_for("p_2", NULL, "a..b"), 1);
	ck_assert_uint_eq(asked_for("p_3", NULL, "loop"), 1);
}

/* Two sites with as many hosts of 16 processes, and some more on the last one. */
static void make_many(unsigned hosts, unsigned more)
{
	struct buf layout = BUF_INIT(1 << 20);
	struct err e = { 0 };

	arena_free(arena);
	arena = arena_new(64 << 20);
	for (unsigned h = 0; h < 2 * hosts; h++) {
		unsigned procs = 16 + (h + 1 == 2 * hosts ? more : 0);

		buf_printf(&layout, "%sh%u=", h == 0 ? "s:" : h == hosts ? "/t:" : ";", h);
		for (unsigned p = 0; p < procs; p++)
			buf_printf(&layout, "%sp_%u", p ? "," : "", h * 16 + p);
	}
	ck_assert_msg(world_from_layout(buf_str(&layout), arena, &world, &e) == 0, "%s", e.text);
	buf_done(&layout);
}

TEST(thousands_of_processes_have_an_output_each)
{
	options.by = BIND_BY_PROCESS;
	make_many(BIND_OUTPUTS_MAX / 32, 0);
	ck_assert_msg(plan_builtin("Send_volume", false, false) == 0, "%s",
		      diags.n ? diags.v[0].text : "");
	ck_assert_uint_eq(plan.outputs.n, BIND_OUTPUTS_MAX);
}

TEST(more_outputs_than_a_measurement_has_are_refused)
{
	options.by = BIND_BY_PROCESS;
	make_many(BIND_OUTPUTS_MAX / 32, 1);
	ck_assert_int_eq(plan_builtin("Send_volume", false, false), -ERR_LIMIT);
	ck_assert_ptr_nonnull(strstr(diags.v[0].text, "more than 4096 outputs"));
}

TEST(unnamed_regions_are_no_outputs)
{
	options.each = BIND_EACH_REGION;
	ck_assert_int_eq(plan_builtin("Send_delay", false, true), -ERR_INVALID);
	ck_assert_ptr_nonnull(strstr(diags.v[0].text, "Name them"));
}

TEST(split_by_partner_of_a_metric_without_any_is_refused)
{
	options.each = BIND_EACH_PARTNER;
	ck_assert_int_eq(plan_builtin("Send_volume", false, false), -ERR_INVALID);
	ck_assert_ptr_nonnull(strstr(diags.v[0].text, "has no partners to split it by"));
}

/* The metric of a text, of all processes. */
static int plan_of(const char *source)
{
	ck_assert_int_eq(pmsl_compile("t", source, strlen(source), &diags, &text), 0);
	ck_assert_msg(!diags.nerror, "%s: %s", source, diags.v[0].text);
	return pmsl_plan(&(struct pmsl_demand){ .text = text,
						.metric = pmsl_metric(text, "M", &diags),
						.world = &world,
						.options = &options,
						.measurement = 1 },
			 &diags, &plan);
}

/* No host needs a request for it. */
TEST(plan_refuses_splits_that_no_process_supports)
{
	static const char *const one[] = { "loop" }, *const none[] = { "no.region" };
	static const struct {
		const char *source, *const *region, *words;
		int rc;
	} bad[] = {
		{ "M(Process p, Process[] q, Region[] r, TimeInterval t) { RETURN Wait_delay(p, q, r, t); }",
		  one, "not split by partners and regions at once", -ERR_UNSUPPORTED },
		{ "M(Process p, Process[] q, Region[] r, VirtualTime vt) { PROBE e(Process, VirtualTime); "
		  "RETURN Send_volume(p, r, [START,NOW]) AT e(p, vt); }",
		  one, "is not split by regions at a probe", -ERR_UNSUPPORTED },
		{ "M(Process p, Process[] q, Region[] r, TimeInterval t) { RETURN Send_volume(p, r, t); }",
		  none, "no.region: a region is", -ERR_INVALID },
	};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		args[2] = (struct bind_arg){ .is_given = true,
					     .region = bad[i].region,
					     .nregion = 1 };
		ck_assert_int_eq(plan_of(bad[i].source), bad[i].rc);
		ck_assert_msg(strstr(diags.v[diags.n - 1].text, bad[i].words), "%s",
			      diags.v[diags.n - 1].text);
		pmsl_free(text);
		text = NULL;
		diags = PMSL_DIAGS_INIT;
	}
	/* An omitted region means the whole program. */
	args[2] = (struct bind_arg){ .is_given = false };
	ck_assert_int_eq(plan_of(bad[0].source), 0);
}

static uint32_t object(const char *token)
{
	uint32_t i = 0;

	while (!str_eq(world.v[i].token, token))
		i++;
	return i;
}

/* p_2 and p_3 are without MPI. */
static int plan_alone(const char *value)
{
	static struct world_object v[16];
	char source[200];

	pmsl_plan_done(&plan);
	pmsl_free(text);
	arena_free(arena);
	set_up();
	ck_assert_uint_le(world.n, ARRAY_LEN(v));
	memcpy(v, world.v, world.n * sizeof(v[0]));
	v[object("p_2")].is_alone = v[object("p_3")].is_alone = true;
	world.v = v;
	options.by = BIND_BY_PROCESS;
	snprintf(source, sizeof(source),
		 "M(Process[] ps, TimeInterval t) { Process p; RETURN SUM(%s WHERE p IN ps); }",
		 value);
	return plan_of(source);
}

TEST(a_process_without_mpi_has_no_output_where_calls_are_counted)
{
	ck_assert_int_eq(plan_alone("CPU_usage(p, NOW)"), 0);
	ck_assert_uint_eq(plan.outputs.n, 3);
	ck_assert_int_eq(plan_alone("Send_count(p, t)"), 0);
	ck_assert_uint_eq(plan.outputs.n, 1);
	ck_assert_int_eq(plan_alone("(p.rank + 1) * CPU_usage(p, NOW) * Send_count(p, t)"), 0);
	ck_assert_uint_eq(plan.outputs.n, 1);
	ck_assert_str_eq(world.v[plan.outputs.v[0].object].token, "p_1");
}

/* Of both graphs: the bound one, and its pieces. */
static void drawing_has(const char *source, const char *words)
{
	struct buf b = BUF_INIT(1 << 16);

	pmsl_plan_done(&plan);
	pmsl_free(text);
	arena_free(arena);
	set_up();
	options.by = BIND_BY_PROCESS;
	ck_assert_int_eq(plan_of(source), 0);
	dot_bound(&b, &plan.bound);
	ck_assert_msg(strstr(buf_str(&b), words) != NULL, "%s: %s", words, buf_str(&b));
	buf_clear(&b);
	dot_pieces(&b, &plan.pieces, &world);
	ck_assert_msg(strstr(buf_str(&b), words) != NULL, "%s: %s", words, buf_str(&b));
	buf_done(&b);
}

TEST(a_drawing_names_what_its_sources_are_of)
{
	static const char sent[] =
		"M(Process[] ps, TimeInterval t) { Process p; RETURN SUM(Send_count(p, t) WHERE p IN ps); }";
	static const char read[] =
		"M(Process[] ps, TimeInterval t) { PROBE e(Process, VirtualTime, Value r); Process p; "
		"VirtualTime vt; Value[][] x; x[p][vt] = r AT e(p, vt); "
		"RETURN SUM(x[p][vt] WHERE p IN ps AND x[p][vt].time IN t); }";

	static const char share[] =
		"M(Process[] ps, TimeInterval t) { Process p; RETURN QUANTILE(0.75, Send_count(p, t) "
		"WHERE p IN ps); }";

	drawing_has(share, " 0.75");
	drawing_has(sent, "\\np_1");
	drawing_has(sent, "\\np_3");
	drawing_has(read, "\\nAT e of p_2");
}

SUITE_WITH("outputs", set_up, clean_up)
