/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/common/flow/graph/made.h"

#include "common/flow/graph/graph_limits.h"
#include "common/omis/text/value.h"
#include "tests/suite.h"

uint32_t made_node(struct flow_graph *g, struct flow_node n, size_t nin, ...)
{
	uint32_t in[4];
	struct err e = { 0 };
	va_list ap;
	int at;

	va_start(ap, nin);
	for (size_t k = 0; k < nin; k++)
		in[k] = va_arg(ap, uint32_t);
	va_end(ap);
	n.in = in;
	n.nin = nin;
	at = flow_graph_add(g, &n, &e);
	ck_assert_msg(at >= 0, "%s", e.text);
	return (uint32_t)at;
}

uint32_t made_const(struct flow_graph *g, double v)
{
	return made_node(g, (struct flow_node){ .kind = FLOW_CONST, .constant = v }, 0);
}

uint32_t made_event(struct flow_graph *g, unsigned rank, const char *probe)
{
	char process[32];

	snprintf(process, sizeof(process), "p_%u", rank);
	return made_node(g,
			 (struct flow_node){ .kind = FLOW_INPUT,
					     .source = { .kind = FLOW_SOURCE_PARAMETER,
							 .probe = probe,
							 .process = process,
							 .parameter = 1 } },
			 0);
}

uint32_t made_metric(struct flow_graph *g, unsigned rank, const char *metric)
{
	char object[32];

	snprintf(object, sizeof(object), "p_%u", rank);
	return made_node(g,
			 (struct flow_node){ .kind = FLOW_INPUT,
					     .source = { .kind = FLOW_SOURCE_METRIC,
							 .metric = metric,
							 .object = object,
							 .from_start = true } },
			 0);
}

uint32_t made_op(struct flow_graph *g, enum flow_op op, uint32_t a, uint32_t b)
{
	return made_node(g, (struct flow_node){ .kind = FLOW_OP, .op = op }, 2, a, b);
}

uint32_t made_op1(struct flow_graph *g, enum flow_op op, uint32_t a)
{
	return made_node(g, (struct flow_node){ .kind = FLOW_OP, .op = op }, 1, a);
}

uint32_t made_set(struct flow_graph *g, enum agg_kind agg, bool partial_out, const uint32_t *in,
		  size_t n)
{
	struct flow_node set = { .kind = FLOW_SET,
				 .fold = { .agg = agg, .q = 0.5, .partial_out = partial_out },
				 .in = in,
				 .nin = n };
	int at = flow_graph_add(g, &set, NULL);

	ck_assert_int_ge(at, 0);
	return (uint32_t)at;
}

uint32_t made_vt_agg(struct flow_graph *g, enum agg_kind agg, bool partial_out,
		     enum flow_since since, uint32_t in)
{
	struct flow_fold fold = {
		.agg = agg, .q = 0.5, .partial_out = partial_out, .since = since
	};

	return made_node(g, (struct flow_node){ .kind = FLOW_VT_AGG, .fold = fold }, 1, in);
}

uint32_t made_result(struct flow_graph *g, uint32_t output, uint32_t in)
{
	return made_node(g, (struct flow_node){ .kind = FLOW_RESULT, .output = output }, 1, in);
}

uint32_t made_link_out(struct flow_graph *g, const char *name, uint32_t in)
{
	return made_node(g, (struct flow_node){ .kind = FLOW_LINK_OUT, .link = { .name = name } },
			 1, in);
}

uint32_t made_link_in(struct flow_graph *g, struct flow_link link)
{
	link.fold.q = link.fold.agg == AGG_TOP ? 3 : 0.5;
	return made_node(g, (struct flow_node){ .kind = FLOW_LINK_IN, .link = link }, 0);
}

void made_is_read_as_written(struct flow_graph *g)
{
	struct flow_graph *same;
	struct buf first = BUF_INIT(1 << 16), second = BUF_INIT(1 << 16);
	struct omis_values *v;

	flow_graph_print(&first, g);
	ck_assert_int_eq(omis_parse_values(buf_str(&first), first.n, &v, NULL), 0);
	ck_assert_int_eq(flow_graph_from_value(&v->v[0], &same, NULL), 0);
	flow_graph_print(&second, same);
	ck_assert_str_eq(buf_str(&first), buf_str(&second));
	omis_values_free(v);
	flow_graph_free(g);
	flow_graph_free(same);
	buf_done(&first);
	buf_done(&second);
}
