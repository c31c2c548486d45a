/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random graphs over random logs, with tokens lost and in any order. The engine's results equal
 * those of an interpreter that has the whole log and finds each key in it.
 */
#include "common/base/array.h"
#include "common/base/rng.h"
#include "common/flow/engine/flow.h"
#include "common/flow/engine/partial.h"
#include "common/flow/graph/op.h"
#include "tests/suite.h"
#include "tests/unit/common/flow/graph/made.h"

#include <string.h>

#define PROGRAMS 1000
#define EVENTS 5 /* inputs */
#define LEVELS 4 /* nodes one above the other */
#define KEYS 16 /* of the log, from 1 */
#define MARGIN 16 /* keys that shifts reach beyond it */
#define CELLS (KEYS + 2 * MARGIN)
#define NODES_MAX 64
#define FLUSH_FROM 1000 /* keys that drive out what waits: their times are beyond the read */
#define FLUSH_KEYS 220 /* more than the widest window and the log */
#define START NSEC_PER_SEC

/* --- a random graph */

struct program {
	struct flow_graph *g;
	uint32_t vt[NODES_MAX]; /* nodes of the VT domain except truths and partial ones */
	size_t nvt;
	uint32_t nodes; /* the others are aggregates and results */
};

static uint32_t any(struct rng *r, const struct program *p)
{
	return p->vt[rng_below(r, p->nvt)];
}

/* A separate window for each height: upper nodes hold their keys longer than lower ones. */
static void set_window(struct flow_graph *g, uint32_t node)
{
	uint32_t depth = 1;

	for (size_t k = 0; k < g->node[node].nin; k++)
		if (g->node[g->node[node].in[k]].depth >= depth)
			depth = g->node[g->node[node].in[k]].depth + 1;
	g->node[node].depth = depth;
	g->node[node].window = 8u << depth; /* twice that below, and the log, fits in */
}

/* Operations that round by the order of tokens are left out: a comparison would jump. */
static uint32_t random_op(struct rng *r, struct program *p)
{
	static const enum flow_op ops[] = { FLOW_OP_ADD, FLOW_OP_SUB, FLOW_OP_MUL,  FLOW_OP_DIV,
					    FLOW_OP_MIN, FLOW_OP_LT,  FLOW_OP_WHERE };
	enum flow_op op = ops[rng_below(r, ARRAY_LEN(ops))];
	uint32_t a = any(r, p),
		 b = rng_below(r, 4) ? any(r, p) : made_const(p->g, (double)rng_below(r, 4));

	return rng_below(r, 2) || op == FLOW_OP_WHERE ? made_op(p->g, op, a, b)
	       : p->g->node[b].kind == FLOW_CONST     ? made_op(p->g, op, b, a)
						      : made_op(p->g, op, a, b);
}

static uint32_t random_set(struct rng *r, struct program *p)
{
	static const enum agg_kind kinds[] = { AGG_COUNT, AGG_SUM, AGG_MIN, AGG_MAX, AGG_MEAN };
	uint32_t in[6];
	size_t n = 1 + rng_below(r, ARRAY_LEN(in));

	for (size_t k = 0; k < n; k++)
		in[k] = any(r, p);
	return made_set(p->g, kinds[rng_below(r, ARRAY_LEN(kinds))], false, in, n);
}

static void add_one(struct rng *r, struct program *p)
{
	uint32_t at;

	switch (rng_below(r, 5)) {
	case 0:
	case 1:
		at = random_op(r, p);
		break;
	case 2:
	case 3:
		at = random_set(r, p);
		break;
	default:
		at = made_node(p->g,
			       (struct flow_node){ .kind = FLOW_SHIFT,
						   .shift = (int64_t)rng_below(r, 5) - 2 },
			       1, any(r, p));
		break;
	}
	set_window(p->g, at);
	if (p->g->node[at].depth < LEVELS)
		p->vt[p->nvt++] = at;
}

/* Everything is an output, and so is its sum over the keys. */
static void make(struct rng *r, struct program *p)
{
	size_t n = 1 + rng_below(r, 8), last;

	*p = (struct program){ .g = flow_graph_new(1) };
	for (unsigned i = 0; i < EVENTS; i++) {
		p->vt[p->nvt++] = made_event(p->g, i, "x");
		p->g->node[p->vt[i]].depth = 1;
	}
	for (size_t i = 0; i < n; i++)
		add_one(r, p);
	last = p->g->nnode;
	for (uint32_t i = 0; i < last; i++) {
		if (p->g->node[i].kind == FLOW_CONST)
			continue;
		made_result(p->g, 2 * i, i);
		made_result(p->g, 2 * i + 1,
			    made_vt_agg(p->g, AGG_SUM, false, FLOW_SINCE_START, i));
	}
	p->nodes = (uint32_t)last;
}

/* --- the interpreter: cell[node][key] */

struct cells {
	bool there[CELLS];
	struct flow_token t[CELLS];
};

static struct cells cell[NODES_MAX];

static bool look(const struct flow_graph *g, uint32_t node, size_t c, struct flow_token *out)
{
	if (g->node[node].kind == FLOW_CONST) {
		*out = flow_token_constant(g->node[node].constant);
		return true;
	}
	*out = cell[node].t[c];
	return cell[node].there[c];
}

static void direct_op(const struct flow_graph *g, uint32_t node, size_t c)
{
	const struct flow_node *n = &g->node[node];
	struct flow_token in[3];

	for (size_t k = 0; k < n->nin; k++)
		if (!look(g, n->in[k], c, &in[k]))
			return;
	flow_op_eval(n->op, in, &cell[node].t[c]);
	cell[node].there[c] = true;
}

static void direct_set(const struct flow_graph *g, uint32_t node, size_t c)
{
	const struct flow_node *n = &g->node[node];
	struct flow_partial p;
	struct flow_token t;

	partial_init(&p, n->fold.agg, NULL);
	for (size_t k = 0; k < n->nin; k++) {
		if (!look(g, n->in[k], c, &t))
			continue;
		partial_fold(&p, &t, NULL, PARTIAL_OVER_SET);
		cell[node].there[c] = true;
	}
	for (size_t k = 0; k < n->nin; k++)
		if (!look(g, n->in[k], c, &t))
			p.t.n += g->node[n->in[k]].behind;
	cell[node].t[c] = partial_finish(&p, 0, false);
}

static void direct_shift(const struct flow_graph *g, uint32_t node, size_t c)
{
	int64_t from = (int64_t)c - g->node[node].shift;

	if (from < 0 || from >= CELLS ||
	    !look(g, g->node[node].in[0], (size_t)from, &cell[node].t[c]))
		return;
	cell[node].there[c] = true;
}

static void interpret(const struct flow_graph *g, uint32_t nodes)
{
	for (uint32_t i = 0; i < nodes; i++) {
		if (g->node[i].kind == FLOW_CONST || g->node[i].kind == FLOW_INPUT)
			continue;
		memset(&cell[i], 0, sizeof(cell[i]));
		for (size_t c = 0; c < CELLS; c++) {
			if (g->node[i].kind == FLOW_OP)
				direct_op(g, i, c);
			else if (g->node[i].kind == FLOW_SET)
				direct_set(g, i, c);
			else
				direct_shift(g, i, c);
		}
	}
}

/* --- the log, for both */

struct event {
	uint32_t input;
	int64_t key;
	double v;
};

static size_t some_log(struct rng *r, struct event *v)
{
	size_t n = 0;

	for (uint32_t i = 0; i < EVENTS; i++) {
		memset(&cell[i], 0, sizeof(cell[i]));
		for (int64_t key = 1; key <= KEYS; key++) {
			struct event e = { i, key, (double)rng_below(r, 9) - 2 };

			if (rng_below(r, 8) == 0)
				continue; /* lost */
			v[n++] = e;
			cell[i].there[key + MARGIN - 1] = true;
			cell[i].t[key + MARGIN - 1] = flow_token_make(key, e.v, 0, START + key);
		}
	}
	for (size_t i = n; i > 1; i--) {
		size_t k = rng_below(r, i);
		struct event e = v[i - 1];

		v[i - 1] = v[k];
		v[k] = e;
	}
	return n;
}

/* --- the engine */

static struct cells got[NODES_MAX];
static struct flow_token total[NODES_MAX];

static void on_result(void *arg, const struct flow_result *r)
{
	struct cells *c = &got[r->output / 2];
	int64_t at = r->t.key + MARGIN - 1;

	(void)arg;
	if (r->output % 2) {
		total[r->output / 2] = r->t;
		return;
	}
	if (r->t.key > FLUSH_FROM / 2)
		return;
	ck_assert(at >= 0 && at < CELLS);
	ck_assert(!c->there[at]);
	c->there[at] = true;
	c->t[at] = r->t;
}

static void push(struct flow *f, uint32_t i, int64_t key, double v, nsec_t time)
{
	struct flow_token t = flow_token_make(key, v, 0, time);

	flow_push(f, flow_input(f, 1, i), &t);
}

static void run(struct program *p, const struct event *v, size_t n)
{
	struct flow_limits limits = { 1, 1024, 16 << 20 };
	struct flow_out out = { on_result, NULL, NULL };
	struct flow *f = flow_new(&limits, &out);
	struct err e = { 0 };

	memset(got, 0, sizeof(got));
	ck_assert_msg(!flow_load(f, p->g, START, &e), "%s", e.text);
	ck_assert_int_eq(flow_announce(f, 1, START + NSEC_PER_SEC), 0);
	for (size_t i = 0; i < n; i++)
		push(f, v[i].input, v[i].key, v[i].v, START + v[i].key);
	for (int64_t key = FLUSH_FROM; key < FLUSH_FROM + FLUSH_KEYS; key++)
		for (uint32_t i = 0; i < EVENTS; i++)
			push(f, i, key, 1, START + 2 * NSEC_PER_SEC);
	ck_assert_msg(!flow_read(f, 1, 1, START + NSEC_PER_SEC, &e), "%s", e.text);
	flow_free(f);
}

/* --- both */

static void same_token(const struct flow_token *a, const struct flow_token *b)
{
	ck_assert_uint_eq(a->k, b->k);
	ck_assert_uint_eq(a->n, b->n);
	ck_assert_uint_eq(a->flags, b->flags);
	ck_assert_int_eq(a->key, b->key);
	if (isnan(b->value))
		ck_assert(isnan(a->value));
	else
		ck_assert_msg(fabs(a->value - b->value) <= 1e-9 * fabs(b->value) + 1e-12,
			      "%.17g, not %.17g", a->value, b->value);
}

/*
 * Excluded values are not in the result. A missing value is not in a sum, and a sum of missing
 * values only has no value.
 */
static void same_node(uint32_t node)
{
	double sum = 0;
	bool is_known = false, is_reported = true;

	for (size_t c = 0; c < CELLS; c++) {
		bool is_out = cell[node].t[c].flags & FLOW_EXCLUDED,
		     there = cell[node].there[c] && !is_out;

		is_known |= cell[node].there[c] && is_out;

		ck_assert_msg(got[node].there[c] == there, "node %u, key %d: %d, not %d",
			      (unsigned)node, (int)c - MARGIN + 1, got[node].there[c], there);
		if (!there)
			continue;
		cell[node].t[c].key = (int64_t)c - MARGIN + 1;
		same_token(&got[node].t[c], &cell[node].t[c]);
		sum += isnan(cell[node].t[c].value) ? 0 : cell[node].t[c].value;
		is_known |= !isnan(cell[node].t[c].value);
		is_reported &= !isnan(cell[node].t[c].value);
	}
	if (!is_known && !is_reported) {
		ck_assert(isnan(total[node].value) && total[node].k == 0);
		return;
	}
	ck_assert_double_eq_tol(total[node].value, sum, 1e-9 * fabs(sum) + 1e-9);
}

TEST(the_engine_gives_what_a_direct_interpreter_gives)
{
	static struct event v[EVENTS * KEYS];
	struct program p;
	struct rng r;

	rng_init(&r, suite_seed(41));
	for (int i = 0; i < PROGRAMS; i++) {
		size_t n = some_log(&r, v);

		make(&r, &p);
		run(&p, v, n);
		interpret(p.g, p.nodes);
		for (uint32_t node = 0; node < p.nodes; node++) {
			if (p.g->node[node].kind != FLOW_CONST)
				same_node(node);
		}
		flow_graph_free(p.g);
	}
}

SUITE("direct")
