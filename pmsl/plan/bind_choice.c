/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Choices of virtual times. A condition becomes the words of a choice. A node of that choice is
 * inserted directly above each source of the values, below operations, sets and shifts. So an lm
 * drops values that are not chosen before it computes anything.
 *
 * A shift by s lowers the keys of a choice by s: key k above the shift is key k - s below it.
 */
#include "pmsl/plan/binding.h"

#include "common/omis/text/arena.h"

#include <math.h>
#include <string.h>

/* --- words of a choice */

/* Allocates room for the words of both choices, and for `more` others. */
static struct choice_word *join(struct binder *b, const struct flow_choice *x,
				const struct flow_choice *y, size_t more)
{
	struct choice_word *v = arena_array(b->arena, x->n + y->n + more, sizeof(*v));

	if (!v)
		return NULL;
	if (x->n)
		memcpy(v, x->v, x->n * sizeof(*v));
	if (y->n)
		memcpy(v + x->n, y->v, y->n * sizeof(*v));
	return v;
}

static int make(struct binder *b, const struct choice_word *v, size_t n,
		const struct flow_choice **out)
{
	struct flow_choice *c = arena_alloc(b->arena, sizeof(*c));

	if (!c)
		return -ERR_NOMEM;
	*c = (struct flow_choice){ v, n };
	*out = c;
	return 0;
}

static int check(struct binder *b, const struct dag_node *at, const struct flow_choice *c)
{
	struct err e = { 0 };

	return choice_check(c, &e) ? bind_fail(b, at, -ERR_LIMIT, "%s", e.text) : 0;
}

/* Joins both choices by `op`; without a second one, applies `op` to the first. */
static int join_by(struct binder *b, const struct dag_node *at, enum flow_op op,
		   const struct flow_choice *const in[2], const struct flow_choice **out)
{
	static const struct flow_choice none;
	const struct flow_choice *y = in[1] ? in[1] : &none;
	size_t n = in[0]->n + y->n;
	struct choice_word *v = join(b, in[0], y, 1);
	int rc;

	if (!v)
		return -ERR_NOMEM;
	v[n] = (struct choice_word){ .kind = CHOICE_OP, .op = op };
	rc = make(b, v, n + 1, out);
	return rc ? rc : check(b, at, *out);
}

int bind_choice_vt(struct binder *b, int64_t shift, struct known *out)
{
	struct choice_word *v = arena_alloc(b->arena, sizeof(*v));

	if (!v)
		return -ERR_NOMEM;
	*v = (struct choice_word){ .kind = CHOICE_VT, .number = -shift };
	*out = (struct known){ .kind = KNOWN_CHOICE };
	return make(b, v, 1, &out->choice);
}

/* Writes the words of a constant beside a virtual time. */
static int words_of_number(struct binder *b, const struct dag_node *at, double number,
			   const struct flow_choice **out)
{
	struct choice_word *v;

	if (!(fabs(number) <= (double)BIND_VT_MAX) || number != trunc(number))
		return bind_fail(b, at, -ERR_INVALID,
				 "%.17g is not a whole number: virtual times are", number);
	v = arena_alloc(b->arena, sizeof(*v));
	if (!v)
		return -ERR_NOMEM;
	*v = (struct choice_word){ .kind = CHOICE_NUMBER, .number = (int64_t)number };
	return make(b, v, 1, out);
}

static int words_of(struct binder *b, const struct dag_node *at, const struct known *k,
		    const struct flow_choice **out)
{
	if (k->kind == KNOWN_NUMBER)
		return words_of_number(b, at, k->number, out);
	*out = k->choice;
	return 0;
}

/*
 * Evaluates a condition on values joined to a choice: the condition, for the chosen virtual times.
 */
static int restrict_to(struct binder *b, const struct dag_node *n, const struct known in[2],
		       struct known *out)
{
	const struct flow_choice *of[2] = { in[0].choice, in[1].choice }, *both;
	struct known rest[2] = { in[0], in[1] };
	int rc;

	for (unsigned i = 0; i < 2; i++)
		if (rest[i].kind == KNOWN_CHOICE)
			rest[i] = known_number(1);
	rc = bind_op(b, n, FLOW_OP_AND, (struct known_list){ rest, 2 }, out);
	both = of[0] ? of[0] : of[1];
	if (!rc && of[0] && of[1])
		rc = join_by(b, n, FLOW_OP_AND, of, &both);
	out->choice = both;
	return rc;
}

int bind_choice_op(struct binder *b, const struct dag_node *n, enum flow_op op,
		   const struct known in[2], struct known *out)
{
	const struct flow_choice *of[2] = { NULL, NULL };
	bool are_choices = in[0].kind == KNOWN_CHOICE && (n->nin < 2 || in[1].kind == KNOWN_CHOICE);
	int rc = 0;

	if (op == FLOW_OP_AND && !are_choices)
		return restrict_to(b, n, in, out);
	for (unsigned i = 0; i < n->nin && !rc; i++)
		rc = words_of(b, n, &in[i], &of[i]);
	*out = (struct known){ .kind = KNOWN_CHOICE };
	return rc ? rc : join_by(b, n, op, of, &out->choice);
}

/* Writes the words of vt == 7, or of vt >= 3 AND vt <= 7. */
static int put_range(struct binder *b, const struct dag_node *n, const struct known *vt,
		     const struct bind_range *r, struct known *out)
{
	struct known ends[2] = { *vt, known_number((double)r->from) }, half[2];
	int rc = bind_choice_op(b, n, r->from == r->to ? FLOW_OP_EQ : FLOW_OP_GE, ends, out);

	if (rc || r->from == r->to)
		return rc;
	half[0] = *out;
	ends[1] = known_number((double)r->to);
	rc = bind_choice_op(b, n, FLOW_OP_LE, ends, &half[1]);
	return rc ? rc : bind_choice_op(b, n, FLOW_OP_AND, half, out);
}

int bind_choice_in(struct binder *b, const struct dag_node *n, const struct known *vt,
		   const struct known *of, struct known *out)
{
	struct known either[2] = { 0 };
	int rc = put_range(b, n, vt, &of->vt[0], out);

	for (size_t i = 1; i < of->nvt && !rc; i++) {
		either[0] = *out;
		rc = put_range(b, n, vt, &of->vt[i], &either[1]);
		if (!rc)
			rc = bind_choice_op(b, n, FLOW_OP_OR, either, out);
	}
	return rc;
}

/* --- nodes with a choice */

/* A node of the graph, and its copy for this choice. */
struct chosen {
	const struct flow_choice *choice;
	uint32_t node, made;
	struct chosen *next;
};

static uint64_t hash_chosen(const struct flow_choice *c, uint32_t node)
{
	return bound_hash_mix(bound_hash_mix(UINT64_C(14695981039346656037), (uintptr_t)c), node);
}

static int note_chosen(struct binder *b, const struct flow_choice *c, uint32_t node, uint32_t made)
{
	uint64_t h = hash_chosen(c, node);
	struct chosen *k = arena_alloc(b->arena, sizeof(*k));

	if (!k)
		return -ERR_NOMEM;
	*k = (struct chosen){ c, node, made, map_find(&b->chosen, h) };
	return map_put(&b->chosen, h, k, NULL);
}

/* Makes the choice for keys that are `shift` higher. */
static int shifted(struct binder *b, const struct flow_choice *c, int64_t shift,
		   const struct flow_choice **out)
{
	struct choice_word *v = arena_array(b->arena, c->n, sizeof(*v));

	if (!v)
		return -ERR_NOMEM;
	for (size_t i = 0; i < c->n; i++) {
		v[i] = c->v[i];
		if (v[i].kind == CHOICE_VT)
			v[i].number += shift;
	}
	return make(b, v, c->n, out);
}

static int choose(struct binder *b, const struct flow_choice *c, uint32_t node, uint32_t *out);

/* Makes a copy of the node whose inputs are restricted to the choice. */
static int choose_inputs(struct binder *b, const struct flow_choice *c, uint32_t node,
			 uint32_t *out)
{
	struct flow_node n = b->b->node[node]->n;
	uint32_t *in = arena_array(b->arena, n.nin, sizeof(*in));
	int rc = in ? 0 : -ERR_NOMEM;

	if (!rc && n.kind == FLOW_SHIFT)
		rc = shifted(b, c, n.shift, &c);
	for (size_t i = 0; i < n.nin && !rc; i++)
		rc = choose(b, c, n.in[i], &in[i]);
	n.in = in;
	return rc ? rc : bound_put(b->b, &n, NULL, out);
}

static int choose_source(struct binder *b, const struct flow_choice *c, uint32_t node,
			 uint32_t *out)
{
	struct flow_node n = { .kind = FLOW_CHOICE,
			       .line = b->b->node[node]->n.line,
			       .in = &node,
			       .nin = 1,
			       .choice = *c };

	return bound_put(b->b, &n, NULL, out);
}

static int choose(struct binder *b, const struct flow_choice *c, uint32_t node, uint32_t *out)
{
	const struct bound_node *n = b->b->node[node];
	const struct chosen *k = map_find(&b->chosen, hash_chosen(c, node));
	int rc;

	while (k && (k->choice != c || k->node != node))
		k = k->next;
	if (k || n->n.domain != FLOW_VT) {
		*out = k ? k->made : node; /* a constant is the same for every virtual time */
		return 0;
	}
	/*
	 * A difference to the previous event needs every event, so that its input is not
	 * restricted.
	 */
	rc = n->n.nin && n->n.kind != FLOW_DELTA ? choose_inputs(b, c, node, out)
						 : choose_source(b, c, node, out);
	return rc ? rc : note_chosen(b, c, node, *out);
}

int bind_choose(struct binder *b, const struct flow_choice *c, struct known *v)
{
	int rc = 0;

	if (c && v->kind == KNOWN_NODE)
		rc = choose(b, c, v->node, &v->node);
	return rc == -ERR_LIMIT
		       ? bind_fail(b, NULL, rc, "the graph has more than %d nodes", BOUND_NODES_MAX)
		       : rc;
}
