/* SPDX-License-Identifier: Apache-2.0 */
/* What the outputs of a measurement are about: objects, partners, regions. */
#include "common/base/str.h"
#include "common/omis/arena.h"
#include "pmsl/pmsl.h"
#include "tests/suite.h"

#include <string.h>

static struct pmsl *text;
static struct pmsl_plan plan;
static struct world world;
static struct arena *arena;
static struct pmsl_diags diags;
static struct bind_arg args[PMSL_PARAMS_MAX];
static struct bind_wish wish;

static void set_up(void)
{
	struct err e = { 0 };

	arena = arena_new(1 << 20);
	ck_assert_msg(world_from_layout("s:a=p_1,p_2;b=p_3", arena, &world, &e) == 0, "%s", e.text);
	diags = PMSL_DIAGS_INIT;
	wish = (struct bind_wish){ .arg = args };
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
	return pmsl_plan(text, pmsl_metric(text, "Measured", &diags), &world, &wish, 1, &diags, &plan);
}

/* How many inputs of the graph ask for exactly this partner or region. */
static unsigned asked_for(const char *process, const char *partner, const char *region)
{
	unsigned n = 0;

	for (size_t i = 0; i < plan.bound.n; i++) {
		const struct flow_node *f = &plan.bound.node[i]->n;

		if (f->kind == FLOW_INPUT && str_eq(f->source.object, process))
			n += partner ? f->source.partners.n == 1 && str_eq(f->source.partners.v[0], partner)
				     : f->source.regions.n == 1 && str_eq(f->source.regions.v[0], region);
	}
	return n;
}

START_TEST(each_pair_of_processes_has_an_output)
{
	size_t k = 0;

	wish.by = BIND_BY_PROCESS;
	wish.each = BIND_EACH_PARTNER;
	ck_assert_int_eq(plan_builtin("Send_volume", true, false), 0);
	ck_assert_uint_eq(plan.noutput, 9);
	for (unsigned from = 1; from <= 3; from++)
		for (unsigned to = 1; to <= 3; to++, k++) {
			char process[8], partner[8];

			snprintf(process, sizeof(process), "p_%u", from);
			snprintf(partner, sizeof(partner), "p_%u", to);
			ck_assert_str_eq(world.v[plan.output[k].object].token, process);
			ck_assert_str_eq(world.v[plan.output[k].partner].token, partner);
			snprintf(partner, sizeof(partner), "%u", to - 1); /* its rank */
			ck_assert_uint_eq(asked_for(process, partner, NULL), 1);
		}
}
END_TEST

START_TEST(each_partner_of_all_together_has_an_output)
{
	const uint32_t only[] = { world_find(&world, "p_3") };

	wish.each = BIND_EACH_PARTNER;
	args[1] = (struct bind_arg){ .is_given = true, .object = only, .nobject = 1 };
	ck_assert_int_eq(plan_builtin("Send_volume", true, false), 0);
	ck_assert_uint_eq(plan.noutput, 1);
	ck_assert_uint_eq(plan.output[0].object, WORLD_NONE);
	ck_assert_uint_eq(plan.output[0].partner, only[0]);
	ck_assert_uint_eq(asked_for("p_1", "2", NULL), 1);
}
END_TEST

START_TEST(partners_of_many_processes_are_named_once)
{
	const char *const *first = NULL;
	unsigned n = 0;

	wish.by = BIND_BY_PROCESS;
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
END_TEST

START_TEST(each_region_has_an_output)
{
	const char *const regions[] = { "loop", "a..b" };

	wish.by = BIND_BY_NODE;
	wish.each = BIND_EACH_REGION;
	args[1] = (struct bind_arg){ .is_given = true, .region = regions, .nregion = 2 };
	ck_assert_int_eq(plan_builtin("Send_delay", false, true), 0);
	ck_assert_uint_eq(plan.noutput, 4);
	ck_assert_str_eq(plan.output[0].region, "loop");
	ck_assert_str_eq(plan.output[1].region, "a..b");
	ck_assert_uint_eq(plan.output[1].object, world_find(&world, "a"));
	ck_assert_uint_eq(plan.output[3].object, world_find(&world, "b"));
	ck_assert_uint_eq(asked_for("p_2", NULL, "a..b"), 1);
	ck_assert_uint_eq(asked_for("p_3", NULL, "loop"), 1);
}
END_TEST

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

START_TEST(thousands_of_processes_have_an_output_each)
{
	wish.by = BIND_BY_PROCESS;
	make_many(BIND_OUTPUTS_MAX / 32, 0);
	ck_assert_msg(plan_builtin("Send_volume", false, false) == 0, "%s", diags.n ? diags.v[0].text : "");
	ck_assert_uint_eq(plan.noutput, BIND_OUTPUTS_MAX);
}
END_TEST

START_TEST(more_outputs_than_a_measurement_has_are_refused)
{
	wish.by = BIND_BY_PROCESS;
	make_many(BIND_OUTPUTS_MAX / 32, 1);
	ck_assert_int_eq(plan_builtin("Send_volume", false, false), -ERR_LIMIT);
	ck_assert_ptr_nonnull(strstr(diags.v[0].text, "more than 4096 outputs"));
}
END_TEST

START_TEST(regions_that_nobody_has_named_are_no_outputs)
{
	wish.each = BIND_EACH_REGION;
	ck_assert_int_eq(plan_builtin("Send_delay", false, true), -ERR_INVALID);
	ck_assert_ptr_nonnull(strstr(diags.v[0].text, "Name them"));
}
END_TEST

START_TEST(what_has_no_partners_is_not_told_apart_by_them)
{
	wish.each = BIND_EACH_PARTNER;
	ck_assert_int_eq(plan_builtin("Send_volume", false, false), -ERR_INVALID);
	ck_assert_ptr_nonnull(strstr(diags.v[0].text, "has no partners to tell apart"));
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		each_pair_of_processes_has_an_output,
		each_partner_of_all_together_has_an_output,
		partners_of_many_processes_are_named_once,
		each_region_has_an_output,
		thousands_of_processes_have_an_output_each,
		more_outputs_than_a_measurement_has_are_refused,
		regions_that_nobody_has_named_are_no_outputs,
		what_has_no_partners_is_not_told_apart_by_them,
	};

	return suite_run_with("outputs", set_up, clean_up, tests, sizeof(tests) / sizeof(tests[0]));
}
