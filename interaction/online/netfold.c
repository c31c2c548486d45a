/* SPDX-License-Identifier: Apache-2.0 */
/* Removes the events of uses that begin and end inside one chain of a sub-task. */
#include "interaction/online/netchains.h"

/* events between a begin and its end; with more, they are sent unchanged */
#define FOLD_STEPS_MAX 64

/* A use whose begin is known and whose end is searched. */
struct fold {
	struct netchains *k;
	uint32_t object;
	bool is_inherited;
	uint32_t from; /* the first arc of the use: its head */
	uint32_t to; /* the last one */
	uint32_t end; /* index of the end among the changes of `to`; NETWORK_NONE: none */
};

/* Returns the index of the sub-task's first change of an object at v, or NETWORK_NONE. */
static uint32_t find_op(const struct netchains *k, uint32_t v, uint32_t object)
{
	for (uint32_t i = 0; i < k->node[v].nops; i++) {
		const struct network_use *op = netchains_op(k, v, i);

		if (op->object == object && !op->is_child)
			return i;
	}
	return NETWORK_NONE;
}

/* True if a use of that class may continue behind v: no other sub-task inherits it there. */
static bool may_pass(const struct netchains *k, uint32_t v, bool is_inherited)
{
	return k->node[v].kind == NETWORK_SIMPLE ||
	       (!is_inherited &&
		(k->node[v].kind == NETWORK_FORK || k->node[v].kind == NETWORK_JOIN));
}

/* True if v begins a use. One that begins at a sink counts for membership only. */
static bool begins_use(const struct netchains *k, uint32_t v)
{
	for (uint32_t i = 0; i < k->node[v].nops; i++)
		if (!netchains_op(k, v, i)->is_end)
			return true;
	return false;
}

/* Finds where the use ends that begins before f->from. */
static bool find_end(struct fold *f)
{
	const struct netchains *k = f->k;
	uint32_t v = f->from;

	for (int i = 0; i < FOLD_STEPS_MAX && v != NETWORK_NONE; i++, v = k->node[v].next) {
		uint32_t op = find_op(k, v, f->object);
		bool is_end = op != NETWORK_NONE && netchains_op(k, v, op)->is_end;

		f->to = v;
		f->end = op;
		if (!netchains_is_sound(k, v) || (op != NETWORK_NONE && !is_end))
			return false;
		if (k->node[v].kind == NETWORK_SINK)
			return !begins_use(k, v);
		if (!may_pass(k, v, f->is_inherited))
			return false;
		if (is_end)
			return true;
	}
	return false;
}

static bool mark_arc(const struct fold *f, uint32_t v, bool is_trial)
{
	struct netpieces p = netchains_no_pieces(f->k);

	netchains_pieces(f->k, v, false, &p);
	netpieces_use(&p, 1ull << f->object, f->is_inherited);
	if (!is_trial && !p.is_full)
		netchains_set_pieces(f->k, v, &p);
	return !p.is_full;
}

/* Moves the use into the pieces of its arcs; true if they have room. */
static bool mark(const struct fold *f)
{
	for (int is_trial = 1; is_trial >= 0; is_trial--)
		for (uint32_t v = f->from;; v = f->k->node[v].next) {
			if (!mark_arc(f, v, is_trial))
				return false;
			if (v == f->to)
				break;
		}
	return true;
}

static bool is_last_op(const struct netchains *k, uint32_t v, uint32_t i)
{
	const struct network_use *op = netchains_op(k, v, i);

	for (uint32_t j = i + 1; j < k->node[v].nops; j++)
		if (netchains_op(k, v, j)->object == op->object &&
		    netchains_op(k, v, j)->is_child == op->is_child)
			return false;
	return true;
}

/* The first event after v of the sub-task that has the use: its own one, or the created one. */
static uint32_t first_after(const struct netchains *k, uint32_t v, bool is_child)
{
	return is_child ? k->chain[k->w->v[v].other].first : k->node[v].next;
}

static bool fold_op(struct netchains *k, uint32_t v, uint32_t i)
{
	const struct network_use *op = netchains_op(k, v, i);
	struct fold f = { .k = k,
			  .object = op->object,
			  .is_inherited = netchains_is_inherited(k, op->object),
			  .from = first_after(k, v, op->is_child) };

	if (op->is_end || !is_last_op(k, v, i) || !find_end(&f) || !mark(&f))
		return false;
	netchains_remove_op(k, v, i);
	if (f.end != NETWORK_NONE)
		netchains_remove_op(k, f.to, f.end);
	return true;
}

void netchains_fold(struct netchains *k, uint32_t v)
{
	/* uses behind a sink count for membership only */
	if (k->node[v].kind == NETWORK_SINK && !k->has_members)
		k->node[v].nops = 0;
	for (uint32_t i = k->node[v].nops; i-- > 0 && !k->rc && k->node[v].kind != NETWORK_SINK;)
		fold_op(k, v, i);
}
