/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/array.h"
#include "common/base/limits.h"
#include "common/flow/graph/graph.h"
#include "common/flow/graph/graph_limits.h"
#include "common/omis/text/value.h"
#include "tests/alloc_sweep.h"
#include "tests/suite.h"
#include "tests/unit/common/flow/graph/made.h"

#include <string.h>

static struct flow_graph *graph(void)
{
	struct flow_graph *g = flow_graph_new(7);

	ck_assert_ptr_nonnull(g);
	return g;
}

/* max over vt of the max over processes of (end - begin), as a host has it. */
static struct flow_graph *host_piece(void)
{
	struct flow_graph *g = graph();
	uint32_t diff[3], set, agg;

	for (unsigned p = 0; p < ARRAY_LEN(diff); p++) {
		uint32_t begin = made_event(g, p, "begin"), end = made_event(g, p, "end");

		diff[p] = made_op(g, FLOW_OP_SUB, end, begin);
	}
	set = made_set(g, AGG_MAX, true, diff, ARRAY_LEN(diff));
	agg = made_vt_agg(g, AGG_MAX, true, FLOW_SINCE_LAST, set);
	made_link_out(g, "host 1", agg);
	return g;
}

static void accepted(struct flow_graph *g)
{
	struct err e = { 0 };
	int rc = flow_graph_verify(g, &e);

	ck_assert_msg(!rc, "%s", e.text);
}

/* Takes the graph over. */
static void refused(struct flow_graph *g, enum err_code code, const char *words)
{
	struct err e = { 0 };

	ck_assert_int_eq(flow_graph_verify(g, &e), -(int)code);
	ck_assert_msg(strstr(e.text, words) != NULL, "\"%s\" says nothing of \"%s\"", e.text,
		      words);
	flow_graph_free(g);
}

TEST(a_verified_node_reports_what_it_gives)
{
	struct flow_graph *g = host_piece();

	accepted(g);
	ck_assert_int_eq(g->node[2].domain, FLOW_VT);
	ck_assert_int_eq(g->node[9].domain, FLOW_VT);
	ck_assert(g->node[9].partial);
	ck_assert_uint_eq(g->node[9].behind, 3);
	ck_assert_int_eq(g->node[10].domain, FLOW_READ);
	ck_assert_int_eq(g->node[10].gives.agg, AGG_MAX);
	ck_assert_uint_eq(g->node[11].depth, 5);
	ck_assert_uint_eq(flow_graph_cost(g), 4);
	flow_graph_free(g);
}

TEST(an_input_that_does_not_come_before_its_node_is_refused)
{
	struct flow_graph *g = graph();
	uint32_t a = made_event(g, 0, "a");

	made_op(g, FLOW_OP_ADD, a, 1);
	refused(g, ERR_INVALID, "node 1: input 1 is node 1, which does not come before it");
	g = graph();
	a = made_event(g, 0, "a");
	made_op(g, FLOW_OP_ADD, a, UINT32_C(1) << 31);
	refused(g, ERR_INVALID, "node 1: input 1 is node 2147483648");
}

TEST(a_refusal_names_the_place_in_the_text)
{
	struct flow_graph *g = graph();
	struct err e = { 0 };

	made_node(g, (struct flow_node){ .kind = FLOW_SHIFT, .line = 3, .col = 14 }, 0);
	ck_assert_int_eq(flow_graph_verify(g, &e), -ERR_INVALID);
	ck_assert_uint_eq(e.line, 3);
	ck_assert_uint_eq(e.col, 14);
	ck_assert_str_eq(e.text, "node 0: a shift of 0 inputs");
	flow_graph_free(g);
}

TEST(virtual_time_and_reads_do_not_mix)
{
	struct flow_graph *g = graph();
	uint32_t a = made_event(g, 0, "a"), m = made_metric(g, 0, "Send_volume");

	made_result(g, 0, made_op(g, FLOW_OP_ADD, a, m));
	refused(g, ERR_INVALID, "node 2: its input is of domain read, not vt");
	g = graph();
	m = made_metric(g, 0, "Send_volume");
	made_result(g, 0, made_vt_agg(g, AGG_SUM, false, FLOW_SINCE_START, m));
	refused(g, ERR_INVALID, "node 1: its input is of domain read, not vt");
}

TEST(constants_fit_both_domains_but_not_alone)
{
	struct flow_graph *g = graph();
	uint32_t c = made_const(g, 2), a = made_event(g, 0, "a"), m = made_metric(g, 0, "Time");

	made_result(g, 0, made_op(g, FLOW_OP_MUL, a, c));
	made_result(g, 1, made_op(g, FLOW_OP_MUL, c, m));
	made_result(g, 2, c);
	accepted(g);
	flow_graph_free(g);
	g = graph();
	c = made_const(g, 2);
	made_result(g, 0, made_op(g, FLOW_OP_MUL, c, c));
	refused(g, ERR_INVALID, "all inputs are constants");
}

TEST(only_partial_aggregates_of_a_kind_are_merged)
{
	struct flow_graph *g = graph();
	uint32_t in[2];

	in[0] = made_link_in(
		g, (struct flow_link){ .name = "a",
				       .domain = FLOW_READ,
				       .partial = true,
				       .fold = { .agg = AGG_MAX, .since = FLOW_SINCE_LAST },
				       .behind = 4 });
	in[1] = made_link_in(
		g, (struct flow_link){ .name = "b",
				       .domain = FLOW_READ,
				       .partial = true,
				       .fold = { .agg = AGG_MIN, .since = FLOW_SINCE_LAST },
				       .behind = 4 });
	made_result(g, 0, made_set(g, AGG_MAX, false, in, 2));
	refused(g, ERR_INVALID, "node 2: input 1 is a partial MIN");
	g = graph();
	in[0] = made_link_in(
		g, (struct flow_link){ .name = "a",
				       .domain = FLOW_READ,
				       .partial = true,
				       .fold = { .agg = AGG_MAX, .since = FLOW_SINCE_LAST },
				       .behind = 4 });
	in[1] = made_metric(g, 0, "Time");
	made_result(g, 0, made_set(g, AGG_MAX, false, in, 2));
	refused(g, ERR_INVALID, "values and partial aggregates");
	g = graph();
	in[0] = made_link_in(
		g, (struct flow_link){ .name = "a",
				       .domain = FLOW_READ,
				       .partial = true,
				       .fold = { .agg = AGG_MAX, .since = FLOW_SINCE_LAST },
				       .behind = 4 });
	made_result(g, 0, made_op1(g, FLOW_OP_NEG, in[0]));
	refused(g, ERR_INVALID, "input 0 is a partial aggregate");
}

TEST(a_node_that_nothing_reads_is_refused)
{
	struct flow_graph *g = graph();
	uint32_t a = made_event(g, 0, "a");

	made_event(g, 0, "b");
	made_result(g, 0, a);
	refused(g, ERR_INVALID, "node 1: it has no reader");
}

TEST(names_and_outputs_are_there_once)
{
	struct flow_graph *g = graph();
	uint32_t a = made_event(g, 0, "a");

	made_result(g, 5, a);
	made_result(g, 5, a);
	refused(g, ERR_INVALID, "node 2: node 1 is the same result");
	g = graph();
	a = made_event(g, 0, "a");
	made_link_out(g, "x", a);
	made_result(g, 0, a);
	made_link_out(g, "x", a);
	refused(g, ERR_INVALID, "node 3: node 1 is the same link_out");
	g = graph();
	a = made_link_in(g,
			 (struct flow_link){ .name = "x",
					     .domain = FLOW_READ,
					     .fold = { .agg = AGG_SUM, .since = FLOW_SINCE_LAST },
					     .behind = 1 });
	made_link_out(g, "x", a); /* another end */
	made_result(g, 0,
		    made_link_in(g, (struct flow_link){
					    .name = "x",
					    .domain = FLOW_READ,
					    .fold = { .agg = AGG_SUM, .since = FLOW_SINCE_LAST },
					    .behind = 1 }));
	refused(g, ERR_INVALID, "node 2: node 0 is the same link_in");
}

/* A chain of n nodes above one event, and a result. */
static struct flow_graph *chain(size_t n)
{
	struct flow_graph *g = graph();
	uint32_t at = made_event(g, 0, "a");

	for (size_t i = 0; i < n; i++)
		at = made_op1(g, FLOW_OP_NEG, at);
	made_result(g, 0, at);
	return g;
}

TEST(depth_ends_at_the_limit)
{
	struct flow_graph *g = chain(FLOW_DEPTH_MAX - 2);

	accepted(g);
	flow_graph_free(g);
	refused(chain(FLOW_DEPTH_MAX - 1), ERR_LIMIT, "one above the other");
}

/* One event that n operations read. */
static struct flow_graph *broom(size_t n)
{
	struct flow_graph *g = graph();
	uint32_t a = made_event(g, 0, "a");

	for (size_t i = 0; i < n; i++)
		made_result(g, (uint32_t)i, a);
	return g;
}

TEST(an_event_may_wake_so_many_nodes_and_no_more)
{
	struct flow_graph *g = broom(FLOW_EVALS_PER_EVENT_MAX - 1);

	accepted(g);
	ck_assert_uint_eq(flow_graph_cost(g), FLOW_EVALS_PER_EVENT_MAX);
	flow_graph_free(g);
	refused(broom(FLOW_EVALS_PER_EVENT_MAX), ERR_LIMIT,
		"node 0: its event costs 257 evaluations");
}

/* Two events cost the same, and too much: the first of them is named. */
TEST(the_first_of_the_worst_events_is_named)
{
	struct flow_graph *g = graph();

	for (uint32_t output = 0, event = 0; event < 2; event++) {
		uint32_t a = made_event(g, event, "begin");

		for (unsigned i = 0; i < FLOW_EVALS_PER_EVENT_MAX; i++)
			made_result(g, output++, a);
	}
	refused(g, ERR_LIMIT, "node 0: its event costs 257 evaluations");
}

TEST(state_ends_at_the_limit)
{
	struct flow_graph *g = graph();
	uint32_t a = made_event(g, 0, "a"), b = made_event(g, 1, "a");
	struct flow_node sum = { .kind = FLOW_OP, .op = FLOW_OP_ADD, .window = FLOW_WINDOW_MAX };

	for (uint32_t i = 0; i <= FLOW_STATE_MAX_BYTES / FLOW_WINDOW_MAX / FLOW_TOKEN_BYTES / 2;
	     i++)
		made_result(g, i, made_node(g, sum, 2, a, b));
	refused(g, ERR_LIMIT, "bytes of state");
	g = graph();
	a = made_event(g, 0, "a");
	sum.window++;
	made_result(g, 0, made_node(g, sum, 2, a, a));
	refused(g, ERR_LIMIT, "a window of 16385 keys");
}

/* As many ways as a graph may have nodes fit with their window; a few have the maximum. */
TEST(ways_have_as_much_room_as_there_is)
{
	ck_assert_uint_eq(flow_link_window_most(1), FLOW_WINDOW_MAX);
	ck_assert_uint_eq(flow_link_window_most(16), FLOW_WINDOW_MAX);
	ck_assert_uint_eq(flow_link_window_most(17), FLOW_WINDOW_MAX / 2);
	ck_assert_uint_eq(flow_link_window_most(0), FLOW_WINDOW_MAX);
	ck_assert_uint_eq(flow_link_window_most(SIZE_MAX), 1);
	ck_assert_uint_eq(flow_link_window(0), 0); /* the default has room */
	ck_assert_uint_eq(flow_link_window(85), 0);
	ck_assert_uint_eq(flow_link_window(86), FLOW_WINDOW_LINK / 2);
	ck_assert_uint_eq(flow_link_window(171), FLOW_WINDOW_LINK / 4);
	ck_assert_uint_eq(flow_link_window(SIZE_MAX), 1);
	for (size_t links = 1; links <= FLOW_NODES_MAX; links++)
		ck_assert_uint_le(links * flow_link_window_most(links) * FLOW_TOKEN_BYTES,
				  FLOW_STATE_MAX_BYTES / 2);
}

TEST(nodes_and_edges_end_at_the_limit)
{
	struct flow_graph *g = graph();
	struct flow_node n = { .kind = FLOW_CONST };
	uint32_t in[FLOW_INPUTS_MAX] = { 0 };

	for (size_t i = 0; i < FLOW_NODES_MAX; i++)
		made_const(g, 0);
	ck_assert_int_eq(flow_graph_add(g, &n, NULL), -ERR_LIMIT);
	flow_graph_free(g);
	g = graph();
	made_event(g, 0, "a");
	n = (struct flow_node){ .kind = FLOW_SET, .in = in, .nin = FLOW_INPUTS_MAX };
	for (size_t i = 0; i < FLOW_EDGES_MAX / FLOW_INPUTS_MAX; i++)
		ck_assert_int_gt(flow_graph_add(g, &n, NULL), 0);
	n.nin = 1;
	ck_assert_int_eq(flow_graph_add(g, &n, NULL), -ERR_LIMIT);
	flow_graph_free(g);
}

TEST(attributes_out_of_range_are_refused)
{
	static const struct choice_word negation = { CHOICE_OP, FLOW_OP_NOT, 0 };
	static const struct {
		struct flow_node n;
		const char *words;
	} bad[] = {
		{ { .kind = (enum flow_kind)255 }, "kind 255" },
		{ { .kind = FLOW_OP, .op = (enum flow_op)99 }, "operation 99" },
		{ { .kind = FLOW_OP, .op = FLOW_OP_ADD }, "'+' of 1 inputs, not 2" },
		{ { .kind = FLOW_SET, .fold = { .agg = (enum agg_kind)77 } }, "aggregate 77" },
		{ { .kind = FLOW_SET, .fold = { .agg = AGG_QUANTILE, .q = 1.5 } },
		  "quantile of 1.5" },
		{ { .kind = FLOW_SET, .fold = { .agg = AGG_CI, .q = 1 } }, "level of 1" },
		{ { .kind = FLOW_SET, .fold = { .agg = AGG_HISTOGRAM } }, "partial_out" },
		{ { .kind = FLOW_VT_AGG, .fold = { .since = (enum flow_since)2 } }, "'since' 2" },
		{ { .kind = FLOW_SHIFT, .shift = FLOW_SHIFT_MAX + 1 }, "a shift by" },
		{ { .kind = FLOW_CHOICE, .choice = { NULL, 0 } }, "a choice of 0 values" },
		{ { .kind = FLOW_CHOICE, .choice = { &negation, 1 } }, "no operands" },
		{ { .kind = FLOW_LINK_OUT, .link = { .name = "" } }, "a link without a name" },
		{ { .kind = FLOW_RESULT, .output = FLOW_OUTPUT_MAX + 1 }, "output 65536" },
	};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct flow_graph *g = graph();

		made_node(g, bad[i].n, 1, made_event(g, 0, "a"));
		refused(g,
			bad[i].n.kind == FLOW_SHIFT || bad[i].n.kind == FLOW_RESULT ? ERR_LIMIT
										    : ERR_INVALID,
			bad[i].words);
	}
}

TEST(a_difference_of_events_is_of_a_source)
{
	struct flow_graph *g = graph();
	uint32_t event = made_event(g, 0, "a");

	made_node(g, (struct flow_node){ .kind = FLOW_DELTA, .per_second = true }, 1, event);
	refused(g, ERR_INVALID, "differences of events are of one source");
	g = graph();
	event = made_op1(g, FLOW_OP_NEG, made_event(g, 0, "a"));
	made_node(g, (struct flow_node){ .kind = FLOW_DELTA }, 1, event);
	refused(g, ERR_INVALID, "differences of events are of one source");
}

TEST(a_source_without_its_names_is_refused)
{
	static const char *const nothing[] = { "" };
	static const struct {
		struct flow_source s;
		const char *words;
	} bad[] = {
		{ { .kind = (enum flow_source_kind)9 }, "source 9" },
		{ { .kind = FLOW_SOURCE_TIME, .probe = "a" }, "a probe has a name and a process" },
		{ { .kind = FLOW_SOURCE_TIME, .probe = "a", .process = "p 1" }, "a probe has" },
		{ { .kind = FLOW_SOURCE_METRIC, .metric = "M" },
		  "a metric has a name and an object" },
		{ { .kind = FLOW_SOURCE_METRIC, .metric = "\x1b[2J", .object = "p_1" },
		  "a metric has" },
		{ { .kind = FLOW_SOURCE_EVENT }, "a source 'event' has a probe" },
		{ { .kind = FLOW_SOURCE_TIME, .partners = { nothing, 1 } }, "a partner" },
	};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct flow_graph *g = graph();

		made_node(g, (struct flow_node){ .kind = FLOW_INPUT, .source = bad[i].s }, 0);
		refused(g, ERR_INVALID, bad[i].words);
	}
}

/* One node of every kind and attribute. */
static struct flow_graph *everything(void)
{
	struct flow_graph *g = host_piece();
	const char *partners[] = { "p_2", "p_3" }, *regions[] = { "main" };
	uint32_t in[2], m, c = made_const(g, 0.1);
	struct flow_source s = { .kind = FLOW_SOURCE_METRIC,
				 .metric = "Send_volume",
				 .object = "p_1",
				 .from_start = true,
				 .partners = { partners, 2 },
				 .regions = { regions, 1 } };

	m = made_node(g, (struct flow_node){ .kind = FLOW_INPUT, .source = s, .line = 1, .col = 2 },
		      0);
	m = made_op(g, FLOW_OP_DIV, m, c);
	in[0] = made_node(g, (struct flow_node){ .kind = FLOW_DELTA, .per_second = true }, 1, m);
	in[1] = made_node(g, (struct flow_node){ .kind = FLOW_RATE, .since = FLOW_SINCE_LAST }, 1,
			  m);
	made_result(g, 3, made_set(g, AGG_HISTOGRAM, true, in, 2));
	in[0] = made_link_in(
		g, (struct flow_link){ .name = "l",
				       .domain = FLOW_VT,
				       .partial = true,
				       .fold = { .agg = AGG_QUANTILE, .since = FLOW_SINCE_LAST },
				       .behind = 12 });
	in[0] = made_node(g, (struct flow_node){ .kind = FLOW_SHIFT, .shift = -5 }, 1, in[0]);
	in[0] = made_node(g,
			  (struct flow_node){ .kind = FLOW_CHOICE,
					      .choice = { (struct choice_word[]){
								  { CHOICE_VT, 0, 0 },
								  { CHOICE_NUMBER, 0, -10 },
								  { CHOICE_OP, FLOW_OP_MOD, 0 },
								  { CHOICE_OP, FLOW_OP_NOT, 0 } },
							  4 } },
			  1, in[0]);
	made_result(g, 4, in[0]);
	return g;
}

static struct omis_values *printed(const struct flow_graph *g)
{
	struct buf b = BUF_INIT(FRAME_MAX_BYTES);
	struct omis_values *v = NULL;

	flow_graph_print(&b, g);
	ck_assert(!b.failed);
	ck_assert_int_eq(omis_parse_values(buf_str(&b), b.n, &v, NULL), 0);
	ck_assert_uint_eq(v->n, 1);
	buf_done(&b);
	return v;
}

TEST(a_graph_reads_back_from_its_value)
{
	struct flow_graph *g = everything(), *again = NULL;
	struct omis_values *v = printed(g), *w;
	struct err e = { 0 };

	accepted(g);
	ck_assert_msg(!flow_graph_from_value(&v->v[0], &again, &e), "%s", e.text);
	w = printed(again);
	ck_assert(omis_value_equal(&v->v[0], &w->v[0]));
	ck_assert_uint_eq(again->measurement, 7);
	ck_assert_uint_eq(again->nnode, g->nnode);
	ck_assert_str_eq(again->node[13].source.partners.v[1], "p_3");
	omis_values_free(v);
	omis_values_free(w);
	flow_graph_free(g);
	flow_graph_free(again);
}

static void value_refused(const char *text, enum err_code code)
{
	struct flow_graph *g = NULL;
	struct omis_values *v = NULL;

	ck_assert_int_eq(omis_parse_values(text, strlen(text), &v, NULL), 0);
	ck_assert_msg(flow_graph_from_value(&v->v[0], &g, NULL) == -(int)code, "%s", text);
	ck_assert_ptr_null(g);
	omis_values_free(v);
}

TEST(a_value_that_is_no_graph_is_refused)
{
	value_refused("3", ERR_PARSE);
	value_refused("[]", ERR_PARSE);
	value_refused("[\"flow\",2,7,[]]", ERR_PARSE);
	value_refused("[\"flow\",1,7,[],0]", ERR_PARSE);
	value_refused("[\"flow\",1,7,[]]", ERR_INVALID);
	value_refused("[\"flow\",1,0,[[\"const\",0,0,0,[],1]]]", ERR_INVALID);
	value_refused("[\"flow\",1,7,[[\"const\",0,0,0,[]]]]", ERR_PARSE);
	value_refused("[\"flow\",1,7,[[\"const\",0,0,0,[],1,2]]]", ERR_PARSE);
	value_refused("[\"flow\",1,7,[[\"const\",0,0,4294967296,[],1]]]", ERR_PARSE);
	value_refused("[\"flow\",1,7,[[\"op\",0,0,0,[0],\"neg\"]]]", ERR_INVALID);
	value_refused("[\"flow\",1,7,[[\"op\",0,0,0,[-1],\"neg\"]]]", ERR_PARSE);
	value_refused(
		"[\"flow\",1,7,[[\"input\",0,0,0,[],\"metric\",\"Send_count\",\"p_1\",\"\",\"\",0,1,[3],[]],"
		"[\"result\",0,0,0,[0],0]]]",
		ERR_PARSE);
	value_refused("[\"flow\",1,7,[[]]]", ERR_PARSE);
	value_refused("[\"flow\",1,7,[1]]", ERR_PARSE);
}

/* As of a newer build, which has more. */
TEST(unknown_kind_in_a_graph_is_refused_by_name)
{
	static const struct {
		const char *node, *words;
	} more[] = {
		{ "[\"zip\",0,0,0,[],1]", "node 0: 'zip' is not known here" },
		{ "[\"set\",0,0,0,[0],\"MEDIAN\",0,1]", "'MEDIAN' is not known here" },
		{ "[\"link_in\",0,0,0,[],\"l\",\"vt\",1,\"MODE\",0,0,3]",
		  "'MODE' is not known here" },
		{ "[\"stop\",0,0,0,[0],\"MODE\",0,\"n >= 2\"]", "'MODE' is not known here" },
		{ "[\"pair\",0,0,0,[0,0],\"DISTANCE\"]", "'DISTANCE' is not known here" },
		{ "[\"op\",0,0,0,[0],\"sin\"]", "'sin' is not known here" },
		{ "[\"input\",0,0,0,[],\"guess\",\"\",\"\",\"\",\"\",0,0,[],[]]",
		  "'guess' is not known here" },
		/* no word of any build, and nothing to print */
		{ "[\"\x1b[2J\",0,0,0,[],1]", "its element 1 does not fit" },
		{ "[\"\",0,0,0,[],1]", "its element 1 does not fit" },
	};

	for (size_t i = 0; i < ARRAY_LEN(more); i++) {
		struct err e = { 0 };
		struct flow_graph *g = NULL;
		struct omis_values *v = NULL;
		char text[200];

		snprintf(text, sizeof(text), "[\"flow\",1,7,[%s]]", more[i].node);
		ck_assert_int_eq(omis_parse_values(text, strlen(text), &v, NULL), 0);
		ck_assert_int_lt(flow_graph_from_value(&v->v[0], &g, &e), 0);
		ck_assert_msg(strstr(e.text, more[i].words), "'%s', not '%s'", e.text,
			      more[i].words);
		omis_values_free(v);
	}
}

TEST(without_memory_nothing_is_left_behind)
{
	struct flow_graph *whole = everything();
	struct omis_values *v = printed(whole);

	ALLOC_SWEEP (k) {
		struct flow_graph *g = NULL;
		int rc = flow_graph_from_value(&v->v[0], &g, NULL);

		alloc_sweep_pause();
		ck_assert(!rc || rc == -ERR_NOMEM);
		ck_assert((!rc) == (g != NULL));
		flow_graph_free(g);
	}
	omis_values_free(v);
	flow_graph_free(whole);
}

SUITE("graph")
