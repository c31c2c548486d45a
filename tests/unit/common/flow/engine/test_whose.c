/* SPDX-License-Identifier: Apache-2.0 */
/* WHO_MAX, WHO_MIN and TOP in an engine: of reads, of virtual times, and of each virtual time. */
#include "common/base/array.h"
#include "common/omis/text/token.h"
#include "tests/alloc_sweep.h"
#include "tests/suite.h"
#include "tests/unit/common/flow/engine/world.h"
#include "tests/unit/common/flow/graph/made.h"

#include <math.h>
#include <string.h>

#define PROCESSES 3

static struct flow *engine;

/* The last result, with the objects of its aggregate. */
static struct got {
	struct flow_token t;
	struct who of[WHO_TOP_MAX];
	uint32_t n, results;
} got;

static void on_result(void *arg, const struct flow_result *r)
{
	const struct who *of;

	(void)arg;
	ck_assert_ptr_nonnull(r->a);
	of = agg_whos(r->a, r->q, &got.n);
	memcpy(got.of, of, got.n * sizeof(*of));
	got.t = r->t;
	got.results++;
}

static void on_batch(void *arg, const struct flow_batch *b)
{
	(void)arg;
	(void)b;
}

static void set_up(void)
{
	static const struct flow_limits limits = { 10, 1000, 1 << 24 };

	memset(&got, 0, sizeof(got));
	engine = flow_new(&limits, &(struct flow_out){ on_result, on_batch, NULL });
	ck_assert_ptr_nonnull(engine);
}

static void clean_up(void)
{
	flow_free(engine);
}

static const char *name(struct token *t, unsigned p)
{
	return token_print_process(t, 1, p);
}

/* The values of the processes with their objects; a value counts if it is not 900. */
static void made_whos(struct flow_graph *g, enum agg_kind kind, const uint32_t *value,
		      uint32_t *who)
{
	uint32_t limit = made_const(g, 900);
	struct token t;

	for (unsigned p = 0; p < PROCESSES; p++) {
		uint32_t x = made_op(g, FLOW_OP_WHERE, value[p],
				     made_op(g, FLOW_OP_NE, value[p], limit));

		who[p] =
			made_node(g,
				  (struct flow_node){ .kind = FLOW_WHO,
						      .who = { { .agg = kind, .partial_out = true },
							       name(&t, p) } },
				  1, x);
	}
}

static uint32_t made_fold(struct flow_graph *g, enum agg_kind kind, const uint32_t *in)
{
	struct flow_node n = { .kind = FLOW_SET,
			       .in = in,
			       .nin = PROCESSES,
			       .fold = { .agg = kind, .q = 2, .partial_out = true } };
	int at = flow_graph_add(g, &n, NULL);

	ck_assert_int_ge(at, 0);
	return (uint32_t)at;
}

static void load(struct flow_graph *g)
{
	struct err e = { 0 };
	size_t before = flow_size(engine).state_bytes;

	ck_assert_msg(!flow_load(engine, g, START, &e), "%s", e.text);
	ck_assert_uint_le(flow_size(engine).state_bytes - before, flow_graph_state_bytes(g));
	flow_graph_free(g);
}

static void push(uint32_t node, int64_t key, double v, nsec_t time)
{
	struct flow_token t = flow_token_make(key, v, 0, time);

	flow_push(engine, flow_input(engine, 1, node), &t);
}

static void is(size_t i, unsigned p, double value)
{
	struct token t;

	ck_assert_uint_lt(i, got.n);
	ck_assert_msg(got.of[i].value == value, "%g, not %g", got.of[i].value, value);
	ck_assert(got.of[i].object == who_pack(name(&t, p)));
}

TEST(a_read_names_the_objects_of_its_values)
{
	struct flow_graph *g = flow_graph_new(1);
	uint32_t in[PROCESSES], who[PROCESSES];

	for (unsigned p = 0; p < PROCESSES; p++)
		in[p] = made_metric(g, p, "Send_volume");
	made_whos(g, AGG_TOP, in, who);
	made_result(g, 0, made_fold(g, AGG_TOP, who));
	load(g);
	push(in[0], 1, 5, START + 1);
	push(in[1], 1, 7, START + 1);
	push(in[2], 1, 7, START + 1);
	ck_assert_int_eq(flow_read(engine, 1, 1, START + SECOND, NULL), 0);
	ck_assert_uint_eq(got.n, 2);
	is(0, 1, 7);
	is(1, 2, 7);
	ck_assert_uint_eq(got.t.k, 3);
	ck_assert_uint_eq(got.t.flags, 0);
	push(in[0], 2, 5, START + SECOND + 1);
	push(in[1], 2, 900, START + SECOND + 1); /* excluded: complete, and not named */
	ck_assert_int_eq(flow_read(engine, 1, 2, START + 2 * SECOND, NULL), 0);
	ck_assert_uint_eq(got.n, 1);
	is(0, 0, 5);
	ck_assert_uint_eq(got.t.k, 2);
	ck_assert_uint_eq(got.t.n, 3);
	ck_assert(got.t.flags & FLOW_PARTIAL);
}

/* Three processes with a value at each virtual time; over all times, or at each. */
static void load_events(enum agg_kind kind, bool each, uint32_t *in)
{
	struct flow_graph *g = flow_graph_new(1);
	uint32_t who[PROCESSES];

	for (unsigned p = 0; p < PROCESSES; p++)
		in[p] = made_event(g, p, "loop");
	made_whos(g, kind, in, who);
	for (unsigned p = 0; p < PROCESSES && !each; p++)
		who[p] = made_vt_agg(g, kind, true, FLOW_SINCE_LAST, who[p]);
	made_result(g, 0, made_fold(g, kind, who));
	load(g);
}

TEST(each_virtual_time_has_its_own_object)
{
	uint32_t in[PROCESSES];

	load_events(AGG_WHO_MIN, true, in);
	for (int64_t vt = 1; vt <= 9; vt++)
		for (unsigned p = 0; p < PROCESSES; p++) {
			push(in[p], vt, (unsigned)vt % PROCESSES == p ? 1 : 2 + p, START + vt);
			ck_assert_uint_eq(got.results, (uint32_t)vt - (p + 1 < PROCESSES));
			if (p + 1 == PROCESSES) {
				ck_assert_int_eq(got.t.key, vt);
				is(0, (unsigned)vt % PROCESSES, 1);
			}
		}
}

TEST(over_virtual_times_the_object_of_the_greatest_value_remains)
{
	uint32_t in[PROCESSES];

	load_events(AGG_WHO_MAX, false, in);
	for (int64_t vt = 1; vt <= 9; vt++)
		for (unsigned p = 0; p < PROCESSES; p++)
			push(in[p], vt, vt == 4 && p == 1 ? 50 : vt, START + vt);
	ck_assert_int_eq(flow_read(engine, 1, 1, START + SECOND, NULL), 0);
	is(0, 1, 50);
	ck_assert_int_eq(flow_read(engine, 1, 2, START + 2 * SECOND, NULL), 0);
	ck_assert_uint_eq(got.n, 0); /* nothing since */
}

TEST(without_memory_there_is_no_node)
{
	struct flow_graph *g = flow_graph_new(1);
	uint32_t in[PROCESSES], who[PROCESSES];

	for (unsigned p = 0; p < PROCESSES; p++)
		in[p] = made_metric(g, p, "Send_volume");
	made_whos(g, AGG_TOP, in, who);
	made_result(g, 0, made_fold(g, AGG_TOP, who));
	ck_assert_int_eq(flow_graph_verify(g, NULL), 0);
	ALLOC_SWEEP (k) {
		int rc = flow_load(engine, g, START, NULL);

		alloc_sweep_pause();
		ck_assert(!rc || rc == -ERR_NOMEM);
		flow_remove(engine, 1);
	}
	flow_graph_free(g);
}

SUITE_WITH("whose", set_up, clean_up)
