/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Partial evaluation of a template's nodes: known values become numbers or objects, the rest nodes.
 */
#include "pmsl/plan/binding.h"

#include "common/base/str.h"
#include "common/omis/text/arena.h"
#include "pmsl/check/function.h"

#include <string.h>

static int eval_param(struct binder *b, const struct dag_node *n, struct known *out)
{
	const struct bind_arg *a = &b->arg[n->param];

	*out = (struct known){ .kind = KNOWN_OBJECTS,
			       .objects = a->object,
			       .nobject = a->nobject,
			       .vt = a->vt,
			       .nvt = a->nvt };
	if (n->type.kind == PMSL_T_VALUE) {
		*out = known_number(a->value);
	} else if (n->type.kind == PMSL_T_REGION) {
		*out = (struct known){ .kind = KNOWN_REGIONS,
				       .region = a->region,
				       .nregion = a->nregion };
	} else if (!n->type.dims && pmsl_is_object(n->type.kind)) {
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
		return bind_op(b, n, FLOW_OP_TIME, (struct known_list){ &of, 1 }, out);
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
	int rc;

	for (unsigned i = 0; i < n->nin; i++) {
		rc = bind_eval(b, n->in[i], &in[i]);
		if (rc)
			return rc;
		/*
		 * A false side decides, even if the other one has no value, as in p.rank == 0 AND
		 * ...
		 */
		if (n->op == PMSL_AND && in[i].kind == KNOWN_NUMBER && in[i].number == 0) {
			*out = known_number(0);
			return 0;
		}
	}
	if (in[0].choice || in[1].choice)
		return bind_choice_op(b, n, ops[n->op], in, out);
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
	return bind_op(b, n, ops[n->op], (struct known_list){ in, n->nin }, out);
}

static int eval_if(struct binder *b, const struct dag_node *n, struct known *out)
{
	struct known in[3];
	int rc = bind_eval(b, n->in[0], &in[0]);

	if (rc)
		return rc;
	if (in[0].kind == KNOWN_NUMBER)
		return bind_eval(b, n->in[in[0].number != 0 ? 1 : 2], out);
	for (unsigned i = 1; i < 3; i++) {
		rc = bind_eval(b, n->in[i], &in[i]);
		if (rc)
			return rc;
	}
	return bind_op(b, n, FLOW_OP_IF, (struct known_list){ in, 3 }, out);
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
	return bind_op(b, n, pmsl_function_get(n->op)->op, (struct known_list){ in, i }, out);
}

/* Evaluates MAX(a, b, c) as operations of two, one after the other. */
static int eval_list(struct binder *b, const struct dag_node *n, struct known *out)
{
	static const enum flow_op ops[PMSL_FOLDS] = {
		[PMSL_SUM] = FLOW_OP_ADD,  [PMSL_MEAN] = FLOW_OP_ADD, [PMSL_COUNT] = FLOW_OP_ADD,
		[PMSL_PROD] = FLOW_OP_MUL, [PMSL_MIN] = FLOW_OP_MIN,  [PMSL_MAX] = FLOW_OP_MAX,
	};
	struct known in[2];
	int rc;

	if (n->op == PMSL_COUNT) {
		*out = known_number(n->nin);
		return 0;
	}
	rc = bind_eval(b, n->in[0], &in[0]);
	for (unsigned i = 1; i < n->nin && !rc; i++) {
		rc = bind_eval(b, n->in[i], &in[1]);
		if (!rc)
			rc = bind_op(b, n, ops[n->op], (struct known_list){ in, 2 }, out);
		in[0] = *out;
	}
	if (rc || n->op != PMSL_MEAN)
		return rc;
	in[1] = known_number(n->nin);
	return bind_op(b, n, FLOW_OP_DIV, (struct known_list){ in, 2 }, out);
}

static bool has_region(const struct known *of, const char *name)
{
	for (size_t i = 0; i < of->nregion; i++)
		if (str_eq(of->region[i], name))
			return true;
	return false;
}

/* Marks the objects of a list, because a running variable tests each object against it. */
static void mark(struct binder *b, const struct known *of)
{
	if (b->marked == of->objects && b->nmarked == of->nobject)
		return;
	memset(b->mark, 0, b->b->world->n * sizeof(*b->mark));
	for (size_t i = 0; i < of->nobject; i++)
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
	if (one.kind == KNOWN_CHOICE)
		return bind_choice_in(b, n, &one, &of, out);
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
	case DAG_REGION:
		*out = (struct known){ .kind = KNOWN_REGIONS, .region = &n->name, .nregion = 1 };
		return 0;
	case DAG_PARAM:
		return eval_param(b, n, out);
	case DAG_VARIABLE:
		return eval_variable(b, n, out);
	case DAG_VT:
		return bind_choice_vt(b, n->shift, out);
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
	case DAG_TIMES: /* the enclosing fold has evaluated it */
		*out = known_number(1);
		return 0;
	default:
		*out = (struct known){ .kind = KNOWN_NOTHING };
		return 0;
	}
}

static int find_builtins(struct binder *b)
{
	for (uint32_t i = 0; i < b->g->n; i++) {
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
	b->mark = arena_array(b->arena, b->b->world->n, sizeof(*b->mark));
	b->builtin = arena_array(b->arena, b->g->n, sizeof(*b->builtin));
	if (!b->mark || !b->builtin || bind_choose_remembered(b))
		return -ERR_NOMEM;
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
	const struct known *known = bind_recall(b, node);
	int rc;

	if (known) {
		*out = *known;
		return 0;
	}
	rc = eval_deeper(b, &b->g->node[node], out);
	return rc ? rc : bind_remember(b, node, out);
}
