/* SPDX-License-Identifier: Apache-2.0 */
/* Partial evaluation: what is known now is a number or an object, the rest a node. */
#include "pmsl/binding.h"

#include "common/base/str.h"
#include "common/flow/op.h"
#include "common/omis/arena.h"
#include "pmsl/function.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct known known_number(double v)
{
	return (struct known){ .kind = KNOWN_NUMBER, .number = v };
}

int bind_fail(struct binder *b, const struct dag_node *at, int code, const char *fmt, ...)
{
	char text[PMSL_DIAG_TEXT_BYTES];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	pmsl_error(b->d, at ? at->at : PMSL_NOWHERE, at ? at->len : 0, "%s", text);
	return code;
}

int bind_put(struct binder *b, const struct dag_node *at, struct flow_node *n,
	     const struct place *place, struct known *out)
{
	int rc;

	n->line = at->at + 1; /* an offset, until the graph is cut */
	*out = (struct known){ .kind = KNOWN_NODE };
	rc = bound_put(b->b, n, place, &out->node);
	return rc == -ERR_LIMIT
		       ? bind_fail(b, at, rc, "of these objects the graph has more than %d nodes",
				   BOUND_NODES_MAX)
		       : rc;
}

int bind_node(struct binder *b, const struct dag_node *at, const struct known *v, uint32_t *out)
{
	struct flow_node n = { .kind = FLOW_CONST, .constant = v->number };
	struct known made = *v;
	int rc = v->kind == KNOWN_NODE ? 0 : bind_put(b, at, &n, NULL, &made);

	*out = made.node;
	return rc;
}

/* Constants, as the engine would. */
static double apply(enum flow_op op, const struct known *in, size_t n)
{
	struct flow_token t[3], out;
	size_t i;

	for (i = 0; i < n; i++)
		t[i] = flow_token_constant(in[i].number);
	flow_op_eval(op, t, &out);
	return out.value;
}

/* AND and OR of what is known in part. False when both sides are nodes. */
static bool is_decided(enum flow_op op, const struct known *in, struct known *out)
{
	size_t i;

	if (op != FLOW_OP_AND && op != FLOW_OP_OR)
		return false;
	for (i = 0; i < 2; i++) {
		if (in[i].kind != KNOWN_NUMBER)
			continue;
		*out = (in[i].number != 0) == (op == FLOW_OP_OR) ? known_number(op == FLOW_OP_OR)
								 : in[1 - i];
		return true;
	}
	return false;
}

/* The time of an event, of whatever virtual time; else NULL. */
static const struct bound_node *time_behind(const struct binder *b, const struct known *v)
{
	const struct bound_node *n = v->kind == KNOWN_NODE ? b->b->node[v->node] : NULL;

	while (n && n->n.kind == FLOW_SHIFT)
		n = b->b->node[n->n.in[0]];
	return n && n->n.kind == FLOW_INPUT && n->n.source.kind == FLOW_SOURCE_TIME &&
			       n->place.kind == PLACE_NODE
		       ? n
		       : NULL;
}

static int put_local(struct binder *b, const struct dag_node *at, struct known *v)
{
	const struct bound_node *was = b->b->node[v->node];
	struct flow_node n = was->n;
	struct known in = { .kind = KNOWN_NODE };
	int rc = 0;

	if (n.kind == FLOW_INPUT) {
		n.source.from_start = false;
		return bind_put(b, at, &n, &was->place, v);
	}
	in.node = n.in[0];
	rc = put_local(b, at, &in);
	n.in = &in.node;
	return rc ? rc : bind_put(b, at, &n, NULL, v);
}

/* Of two times of one host the difference is that of its own clock, which is far better known. */
static int put_local_times(struct binder *b, const struct dag_node *at, struct known in[2])
{
	const struct bound_node *first = time_behind(b, &in[0]), *second = time_behind(b, &in[1]);
	int rc;

	if (!first || !second || !place_equal(first->place, second->place))
		return 0;
	rc = put_local(b, at, &in[0]);
	return rc ? rc : put_local(b, at, &in[1]);
}

int bind_op(struct binder *b, const struct dag_node *at, enum flow_op op, const struct known *in,
	    size_t n, struct known *out)
{
	struct flow_node node = { .kind = FLOW_OP, .op = op, .nin = n };
	uint32_t ids[3];
	struct known own[2];
	bool is_constant = true;
	size_t i;
	int rc;

	if (is_decided(op, in, out))
		return 0;
	if (op == FLOW_OP_SUB) {
		own[0] = in[0];
		own[1] = in[1];
		rc = put_local_times(b, at, own);
		if (rc)
			return rc;
		in = own;
	}
	for (i = 0; i < n; i++)
		is_constant &= in[i].kind == KNOWN_NUMBER;
	if (is_constant) {
		*out = known_number(apply(op, in, n));
		return 0;
	}
	for (i = 0; i < n; i++) {
		rc = bind_node(b, at, &in[i], &ids[i]);
		if (rc)
			return rc;
	}
	node.in = ids;
	return bind_put(b, at, &node, NULL, out);
}

int bind_set(struct binder *b, const struct dag_node *at, const struct flow_fold *fold,
	     const uint32_t *in, size_t n, struct known *out)
{
	struct flow_node node = { .kind = FLOW_SET, .in = in, .nin = n, .fold = *fold };
	bool goes_through = fold->agg == AGG_SUM || fold->agg == AGG_PROD || fold->agg == AGG_MIN ||
			    fold->agg == AGG_MAX || fold->agg == AGG_MEAN ||
			    fold->agg == AGG_UNIQUE;

	if (n == 1 && goes_through && !b->b->node[in[0]]->n.partial && !fold->partial_out) {
		*out = (struct known){ .kind = KNOWN_NODE, .node = in[0] };
		return 0;
	}
	return bind_put(b, at, &node, NULL, out);
}

/* --- nodes of the template */

static int eval_param(struct binder *b, const struct dag_node *n, struct known *out)
{
	const struct bind_arg *a = &b->arg[n->param];

	*out = (struct known){ .kind = KNOWN_OBJECTS, .objects = a->object, .nobject = a->nobject };
	if (n->type.kind == PMSL_T_VALUE) {
		*out = known_number(a->value);
	} else if (n->type.kind == PMSL_T_REGION) {
		*out = (struct known){ .kind = KNOWN_REGIONS,
				       .region = a->region,
				       .nregion = a->nregion };
	} else if (!n->type.dims) {
		out->kind = KNOWN_OBJECT;
		out->object = a->object[0];
	}
	return 0;
}

static int eval_variable(struct binder *b, const struct dag_node *n, struct known *out)
{
	uint32_t *v = &b->run[n->variable];

	if (b->g->variable[n->variable].kind == PMSL_T_REGION)
		*out = (struct known){ .kind = KNOWN_REGIONS,
				       .region = &b->all_regions.v[*v],
				       .nregion = 1 };
	else
		*out = (struct known){ .kind = KNOWN_OBJECT, .object = *v };
	return 0;
}

static int eval_attr(struct binder *b, const struct dag_node *n, struct known *out)
{
	const struct world *w = b->b->world;
	struct known of;
	int rc = bind_eval(b, n->in[0], &of);

	if (rc)
		return rc;
	if (str_eq(n->name, "time"))
		return bind_op(b, n, FLOW_OP_TIME, &of, 1, out);
	if (str_eq(n->name, "rank")) {
		*out = known_number((double)w->v[of.object].rank);
		return 0;
	}
	*out = (struct known){ .kind = KNOWN_OBJECT };
	out->object = str_eq(n->name, "node") ? world_node(w, of.object) : world_site(w, of.object);
	if (out->object == WORLD_NONE)
		return bind_fail(b, n, -ERR_INVALID, "%s lies in no %s", w->v[of.object].token,
				 n->name);
	return 0;
}

static int eval_op(struct binder *b, const struct dag_node *n, struct known *out)
{
	static const enum flow_op ops[PMSL_OPS] = {
		[PMSL_NEG] = FLOW_OP_NEG, [PMSL_NOT] = FLOW_OP_NOT, [PMSL_ADD] = FLOW_OP_ADD,
		[PMSL_SUB] = FLOW_OP_SUB, [PMSL_MUL] = FLOW_OP_MUL, [PMSL_DIV] = FLOW_OP_DIV,
		[PMSL_MOD] = FLOW_OP_MOD, [PMSL_EQ] = FLOW_OP_EQ,   [PMSL_NE] = FLOW_OP_NE,
		[PMSL_LT] = FLOW_OP_LT,	  [PMSL_LE] = FLOW_OP_LE,   [PMSL_GT] = FLOW_OP_GT,
		[PMSL_GE] = FLOW_OP_GE,	  [PMSL_AND] = FLOW_OP_AND, [PMSL_OR] = FLOW_OP_OR,
	};
	struct known in[2] = { 0 };
	unsigned i;
	int rc;

	for (i = 0; i < n->nin; i++) {
		rc = bind_eval(b, n->in[i], &in[i]);
		if (rc)
			return rc;
		/* The other side need not be there: p.rank == 0 AND ... */
		if (n->op == PMSL_AND && in[i].kind == KNOWN_NUMBER && in[i].number == 0) {
			*out = known_number(0);
			return 0;
		}
	}
	if (in[0].kind == KNOWN_REGIONS) {
		bool same =
			in[0].nregion && in[1].nregion && str_eq(in[0].region[0], in[1].region[0]);

		*out = known_number(same == (n->op == PMSL_EQ));
		return 0;
	}
	if (in[0].kind == KNOWN_OBJECT) {
		*out = known_number((in[0].object == in[1].object) == (n->op == PMSL_EQ));
		return 0;
	}
	return bind_op(b, n, ops[n->op], in, n->nin, out);
}

static int eval_if(struct binder *b, const struct dag_node *n, struct known *out)
{
	struct known in[3];
	unsigned i;
	int rc = bind_eval(b, n->in[0], &in[0]);

	if (rc)
		return rc;
	if (in[0].kind == KNOWN_NUMBER)
		return bind_eval(b, n->in[in[0].number != 0 ? 1 : 2], out);
	for (i = 1; i < 3; i++) {
		rc = bind_eval(b, n->in[i], &in[i]);
		if (rc)
			return rc;
	}
	return bind_op(b, n, FLOW_OP_IF, in, 3, out);
}

static int eval_function(struct binder *b, const struct dag_node *n, struct known *out)
{
	struct known in[2];
	unsigned i;
	int rc;

	for (i = 0; i < n->nin && i < 2; i++) {
		rc = bind_eval(b, n->in[i], &in[i]);
		if (rc)
			return rc;
	}
	return bind_op(b, n, pmsl_function_get(n->op)->op, in, i, out);
}

/* MAX(a, b, c): operations of two, one after the other. */
static int eval_list(struct binder *b, const struct dag_node *n, struct known *out)
{
	static const enum flow_op ops[PMSL_FOLDS] = {
		[PMSL_SUM] = FLOW_OP_ADD,  [PMSL_MEAN] = FLOW_OP_ADD, [PMSL_COUNT] = FLOW_OP_ADD,
		[PMSL_PROD] = FLOW_OP_MUL, [PMSL_MIN] = FLOW_OP_MIN,  [PMSL_MAX] = FLOW_OP_MAX,
	};
	struct known in[2];
	unsigned i;
	int rc;

	if (n->op == PMSL_COUNT) {
		*out = known_number(n->nin);
		return 0;
	}
	rc = bind_eval(b, n->in[0], &in[0]);
	for (i = 1; i < n->nin && !rc; i++) {
		rc = bind_eval(b, n->in[i], &in[1]);
		if (!rc)
			rc = bind_op(b, n, ops[n->op], in, 2, out);
		in[0] = *out;
	}
	if (rc || n->op != PMSL_MEAN)
		return rc;
	in[1] = known_number(n->nin);
	return bind_op(b, n, FLOW_OP_DIV, in, 2, out);
}

static bool has_region(const struct known *of, const char *name)
{
	size_t i;

	for (i = 0; i < of->nregion; i++)
		if (str_eq(of->region[i], name))
			return true;
	return false;
}

/* A list is asked for each object that a variable runs over. */
static void mark(struct binder *b, const struct known *of)
{
	size_t i;

	if (b->marked == of->objects && b->nmarked == of->nobject)
		return;
	memset(b->mark, 0, b->b->world->n * sizeof(*b->mark));
	for (i = 0; i < of->nobject; i++)
		b->mark[of->objects[i]] = true;
	b->marked = of->objects;
	b->nmarked = of->nobject;
}

static bool has_object(struct binder *b, const struct known *of, uint32_t object)
{
	const struct world *w = b->b->world;

	if (of->kind == KNOWN_OBJECT)
		return world_is_in(w, object, of->object);
	mark(b, of);
	while (object != WORLD_NONE && !b->mark[object])
		object = w->v[object].parent;
	return object != WORLD_NONE;
}

static int eval_in(struct binder *b, const struct dag_node *n, struct known *out)
{
	struct known one, of;
	int rc = bind_eval(b, n->in[0], &one);

	if (!rc)
		rc = bind_eval(b, n->in[1], &of);
	if (rc)
		return rc;
	if (one.kind == KNOWN_REGIONS)
		*out = known_number(one.nregion && has_region(&of, one.region[0]));
	else
		*out = known_number(has_object(b, &of, one.object));
	return 0;
}

static int eval_kind(struct binder *b, const struct dag_node *n, struct known *out)
{
	switch (n->kind) {
	case DAG_NUMBER:
		*out = known_number(n->number);
		return 0;
	case DAG_PARAM:
		return eval_param(b, n, out);
	case DAG_VARIABLE:
		return eval_variable(b, n, out);
	case DAG_METRIC:
		return bind_source(b, n, out);
	case DAG_CONTEXT:
		return bind_context(b, n, out);
	case DAG_AT:
		return bind_at(b, n, out);
	case DAG_ATTR:
		return eval_attr(b, n, out);
	case DAG_OP:
		return eval_op(b, n, out);
	case DAG_IF:
		return eval_if(b, n, out);
	case DAG_FUNCTION:
		return eval_function(b, n, out);
	case DAG_LIST:
		return eval_list(b, n, out);
	case DAG_IN:
		return eval_in(b, n, out);
	case DAG_FOLD:
		return bind_fold(b, n, out);
	case DAG_TIMES: /* the fold around has looked at it */
		*out = known_number(1);
		return 0;
	default:
		*out = (struct known){ .kind = KNOWN_NOTHING };
		return 0;
	}
}

/* --- what has been evaluated for these objects */

struct remembered {
	uint32_t node, process;
	const char *probe;
	uint32_t *run; /* of the variables that are free in the node, in order */
	struct known known;
	struct remembered *next;
};

static uint64_t mix(uint64_t h, uint64_t v)
{
	return (h ^ v) * UINT64_C(1099511628211);
}

static uint64_t hash(const struct binder *b, uint32_t node)
{
	uint64_t h = mix(UINT64_C(14695981039346656037), node), set = b->g->node[node].free;
	unsigned i;

	h = mix(mix(h, b->process), (uintptr_t)b->probe);
	for (i = 0; set >> i && i < PMSL_VARIABLES_MAX; i++)
		if (set >> i & 1)
			h = mix(h, b->run[i]);
	return h;
}

static bool fits(const struct binder *b, const struct remembered *r, uint32_t node)
{
	uint64_t set = b->g->node[node].free;
	unsigned i, k = 0;

	if (r->node != node || r->process != b->process || !str_eq(r->probe, b->probe))
		return false;
	for (i = 0; i < b->g->nvariable; i++)
		if (set >> i & 1 && r->run[k++] != b->run[i])
			return false;
	return true;
}

static int remember(struct binder *b, uint64_t h, uint32_t node, const struct known *known)
{
	uint64_t set = b->g->node[node].free;
	struct remembered *r = arena_alloc(b->arena, sizeof(*r));
	unsigned i, k = 0;

	if (!r)
		return -ERR_NOMEM;
	r->node = node;
	r->process = b->process;
	r->probe = b->probe;
	r->known = *known;
	r->run = arena_array(b->arena, (size_t)__builtin_popcountll(set), sizeof(*r->run));
	if (!r->run)
		return -ERR_NOMEM;
	for (i = 0; i < b->g->nvariable; i++)
		if (set >> i & 1)
			r->run[k++] = b->run[i];
	r->next = map_find(&b->remembered, h);
	return map_put(&b->remembered, h, r, NULL);
}

/* Leaves cost less than a look at what is remembered. */
static bool is_leaf(const struct dag_node *n)
{
	return n->kind <= DAG_VT || n->kind == DAG_TIMES;
}

/* Variables that are given objects or regions here: virtual times do not run. */
static uint64_t that_run(const struct dag *g)
{
	uint64_t set = 0;
	unsigned i;

	for (i = 0; i < g->nvariable; i++)
		if (g->variable[i].kind != PMSL_T_VT)
			set |= UINT64_C(1) << i;
	return set;
}

/*
 * What one other node reads, with all the variables that are set there, is evaluated once for each of their
 * values. That is most of a template, and to remember it would cost more than all else.
 */
static void note_remembered(struct binder *b, bool *is_read)
{
	const struct dag *g = b->g;
	uint64_t run = that_run(g);
	uint32_t i;
	unsigned k;

	for (i = 0; i < g->n; i++) {
		const struct dag_node *n = &g->node[i];

		for (k = 0; k < n->nin; k++) {
			uint32_t in = n->in[k];

			b->is_remembered[in] |= is_read[in] ||
						(g->node[in].free & run) != ((n->free | n->bound) & run);
			is_read[in] = true;
		}
	}
	for (i = 0; i < g->n; i++)
		b->is_remembered[i] &= !is_leaf(&g->node[i]);
}

static int find_builtins(struct binder *b)
{
	uint32_t i;

	for (i = 0; i < b->g->n; i++) {
		struct pmsl_builtin *m;

		if (b->g->node[i].kind != DAG_METRIC)
			continue;
		m = arena_alloc(b->arena, sizeof(*m));
		if (!m)
			return -ERR_NOMEM;
		pmsl_builtin_get((unsigned)b->g->node[i].builtin, m);
		b->builtin[i] = m;
	}
	return 0;
}

int bind_prepare(struct binder *b)
{
	bool *is_read = arena_array(b->arena, b->g->n, sizeof(*is_read));

	b->is_remembered = arena_array(b->arena, b->g->n, sizeof(*b->is_remembered));
	b->mark = arena_array(b->arena, b->b->world->n, sizeof(*b->mark));
	b->builtin = arena_array(b->arena, b->g->n, sizeof(*b->builtin));
	if (!is_read || !b->is_remembered || !b->mark || !b->builtin)
		return -ERR_NOMEM;
	note_remembered(b, is_read);
	return find_builtins(b);
}

void bind_forget(struct binder *b)
{
	map_done(&b->remembered);
	b->marked = NULL;
	b->nmarked = 0;
}

static int eval_deeper(struct binder *b, const struct dag_node *n, struct known *out)
{
	int rc;

	if (b->depth == DAG_DEPTH_MAX)
		return bind_fail(b, n, -ERR_LIMIT, "expressions are nested too deep");
	b->depth++;
	rc = eval_kind(b, n, out);
	b->depth--;
	return rc;
}

int bind_eval(struct binder *b, uint32_t node, struct known *out)
{
	const struct dag_node *n = &b->g->node[node];
	const struct remembered *r;
	uint64_t h;
	int rc;

	if (!b->is_remembered[node])
		return eval_deeper(b, n, out);
	h = hash(b, node);
	for (r = map_find(&b->remembered, h); r; r = r->next)
		if (fits(b, r, node)) {
			*out = r->known;
			return 0;
		}
	rc = eval_deeper(b, n, out);
	return rc ? rc : remember(b, h, node, out);
}
