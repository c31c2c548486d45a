/* SPDX-License-Identifier: Apache-2.0 */
/* Operations, pairs, and values with their object: a node fires when all inputs of a key have
 * arrived. */
#include "common/flow/engine/flow_internal.h"
#include "common/flow/graph/op.h"

#include <stdlib.h>

static uint32_t varying(const struct flow *f, const struct fnode *n)
{
	uint32_t v = 0;

	for (uint32_t k = 0; k < n->nin; k++)
		v += f->node[n->in[k]].domain != FLOW_ANY;
	return v;
}

/* Writes constants, which are valid for every key, once into each slot. */
static void put_constants(const struct flow *f, struct fnode *n, size_t keys)
{
	for (uint32_t k = 0; k < n->nin; k++) {
		const struct fnode *in = &f->node[n->in[k]];

		for (size_t i = 0; in->domain == FLOW_ANY && i < keys; i++)
			n->op_state.in[i * n->nin + k] = flow_token_constant(in->constant);
	}
}

/* Evicts keys that lack values of a closed input, and counts them as incomplete. */
static void close_constants(const struct flow *f, struct fnode *n)
{
	for (uint32_t k = 0; k < n->nin; k++)
		if (f->node[n->in[k]].domain == FLOW_ANY)
			match_close(&n->op_state.m, k);
}

static int pair_init(struct fnode *n)
{
	struct op_state *s = &n->op_state;
	bool has_room = agg_kind_has_room(n->fold.agg);

	if (n->kind == FLOW_OP)
		return 0;
	s->pair = malloc(sizeof(*s->pair));
	if (has_room)
		s->room = malloc(sizeof(*s->room));
	if (!s->pair || (has_room && !s->room))
		return -ERR_NOMEM;
	agg_init(s->pair, n->fold.agg, s->room);
	return 0;
}

int op_init(struct flow *f, struct fnode *n)
{
	struct op_state *s = &n->op_state;
	size_t keys = 1;

	s->matched = n->domain == FLOW_VT && varying(f, n) > 1;
	if (s->matched) {
		if (match_init(&s->m, n->window, n->nin))
			return -ERR_NOMEM;
		keys = s->m.window;
	}
	s->in = calloc(keys * n->nin, sizeof(*s->in));
	if (!s->in || pair_init(n)) {
		op_done(n);
		return -ERR_NOMEM;
	}
	n->state_bytes = keys * n->nin * sizeof(*s->in) +
			 (s->matched ? match_bytes(n->window, n->nin) : 0) +
			 (s->pair ? sizeof(*s->pair) : 0) + (s->room ? sizeof(*s->room) : 0);
	put_constants(f, n, keys);
	if (s->matched)
		close_constants(f, n);
	return 0;
}

int who_init(struct flow *f, struct fnode *n, const struct flow_whose *of)
{
	n->op_state.object = who_pack(of->object);
	return op_init(f, n);
}

void op_done(struct fnode *n)
{
	match_done(&n->op_state.m);
	free(n->op_state.in);
	free(n->op_state.pair);
	free(n->op_state.room);
}

static void eval(struct fnode *n, const struct flow_token *in, struct flow_token *out)
{
	if (n->kind == FLOW_PAIR)
		flow_pair_eval(in, out, n->op_state.pair);
	else if (n->kind == FLOW_WHO)
		flow_who_eval(in, n->op_state.object, out, n->op_state.pair);
	else
		flow_op_eval(n->op, in, out);
}

static void fire(struct flow *f, struct fnode *n, const struct flow_token *in)
{
	struct flow_token t;

	eval(n, in, &t);
	flow_emit(f, n, &t, n->op_state.pair);
}

/* Puts a value. Keys that leave the window without all their inputs are counted and dropped. */
static enum match_what put(struct fnode *n, int64_t key, uint32_t input, uint32_t *slot)
{
	enum match_what what;

	while ((what = match_put(&n->op_state.m, key, input, slot)) == MATCH_FULL)
		n->count.unmatched += match_evict(&n->op_state.m, slot);
	n->count.late += what == MATCH_LATE;
	n->count.doubles += what == MATCH_DOUBLE;
	return what;
}

void op_take(struct flow *f, struct fnode *n, uint32_t input, const struct flow_token *t)
{
	struct op_state *s = &n->op_state;
	enum match_what what;
	uint32_t slot;

	if (!s->matched) {
		s->in[input] = *t;
		return fire(f, n, s->in);
	}
	what = put(n, t->key, input, &slot);
	if (what != MATCH_FIRST && what != MATCH_MORE)
		return;
	s->in[(size_t)slot * n->nin + input] = *t;
	if (!match_is_complete(&s->m, slot))
		return;
	match_fire(&s->m, t->key);
	fire(f, n, &s->in[(size_t)slot * n->nin]);
}

/* Evaluates the operation if all inputs of this read have arrived. */
void op_read(struct flow *f, struct fnode *n)
{
	for (uint32_t k = 0; k < n->nin; k++)
		if (f->node[n->in[k]].domain != FLOW_ANY)
			n->op_state.in[k] = f->node[n->in[k]].now;
	eval(n, n->op_state.in, &n->now);
	n->now_agg = n->op_state.pair;
}
