/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides sub-tasks that are wholly in one part: those that their creator joins, and those that
 * end before another one.
 */
#include "interaction/online/netchains.h"

/* A sub-task, from its fork to its end. */
struct branch {
	uint32_t task, fork, end; /* end: a join or a sink */
	uint32_t own; /* the event of the creator between fork and join; NETWORK_NONE */
	uint32_t inner; /* the event of the sub-task before a join; NETWORK_NONE */
	uint64_t whole, late; /* local uses in the whole chain, and behind `inner` */
};

/* Collects local begins of one event in *out; false if there are other changes. */
static bool collect(const struct netchains *k, uint32_t v, bool is_child, uint64_t *out)
{
	for (uint32_t i = 0; v != NETWORK_NONE && i < k->node[v].nops; i++) {
		const struct network_use *op = netchains_op(k, v, i);

		if (op->is_child != is_child)
			continue;
		if (op->is_end || netchains_is_inherited(k, op->object))
			return false;
		*out |= 1ull << op->object;
	}
	return true;
}

/* The fork's own changes do not reach the new sub-task, but its pieces count from behind them. */
static bool passes_own(const struct netchains *k, uint32_t fork)
{
	for (uint32_t i = 0; i < k->node[fork].nops; i++) {
		const struct network_use *op = netchains_op(k, fork, i);

		if (!op->is_child && netchains_is_inherited(k, op->object))
			return false;
	}
	return true;
}

static void make_simple(struct netchains *k, uint32_t v)
{
	struct network_use *op = k->op + k->node[v].op;
	uint32_t n = 0;

	for (uint32_t i = 0; i < k->node[v].nops; i++)
		if (!op[i].is_child)
			op[n++] = op[i];
	k->node[v].nops = n;
	k->node[v].kind = NETWORK_SIMPLE;
	k->has_changed = true;
}

/* --- a fork, and the join of its sub-task with its creator */

static bool is_idle(const struct netchains *k, uint32_t v)
{
	return v == NETWORK_NONE || (k->node[v].kind == NETWORK_SIMPLE && !k->node[v].nops);
}

static bool is_simple(const struct netchains *k, uint32_t v)
{
	return v == NETWORK_NONE || k->node[v].kind == NETWORK_SIMPLE;
}

static bool all_sound(const struct netchains *k, const struct branch *b)
{
	int64_t span;

	if (b->own != NETWORK_NONE && !netchains_is_sound(k, b->own))
		return false;
	if (b->inner != NETWORK_NONE && (!netchains_is_sound(k, b->inner) ||
					 netchains_time(k, b->inner) > netchains_time(k, b->end)))
		return false;
	return netchains_is_sound(k, b->end) &&
	       !__builtin_sub_overflow(netchains_time(k, b->end), netchains_time(k, b->fork),
				       &span) &&
	       span >= 0;
}

/* Both sub-tasks have at most one event between the fork and the join, without effects. */
static bool find_join(const struct netchains *k, struct branch *b)
{
	const struct network_vertex *f = &k->w->v[b->fork], *j = &k->w->v[b->end];
	const struct chain *c = &k->chain[b->task];

	b->own = k->node[b->fork].next;
	b->inner = c->first;
	if (f->task != j->task || b->own == NETWORK_NONE || c->first != c->last)
		return false;
	/* the message may have passed through another host before it returned */
	if (f->is_message && c->first == NETWORK_NONE)
		return false;
	if (b->own == b->end)
		b->own = NETWORK_NONE;
	else if (k->node[b->own].next != b->end)
		return false;
	return is_idle(k, b->own) && is_simple(k, b->inner) && passes_own(k, b->fork) &&
	       collect(k, b->fork, true, &b->whole) && collect(k, b->inner, false, &b->late) &&
	       all_sound(k, b);
}

/* Collects the times of the creator between fork and join. */
static void own_pieces(const struct netchains *k, const struct branch *b, struct netpieces *out)
{
	if (b->own != NETWORK_NONE)
		netchains_pieces(k, b->own, false, out);
	netchains_pieces(k, b->end, false, out);
}

/* Collects the times of the sub-task that ends. */
static void ending_pieces(const struct netchains *k, const struct branch *b, struct netpieces *out)
{
	uint32_t tail = b->inner == NETWORK_NONE ? b->fork : b->inner;
	struct network_piece last = { .with = b->whole | b->late, .is_child = true };
	struct netpieces first = netchains_no_pieces(k);

	if (b->inner != NETWORK_NONE) {
		netchains_pieces(k, b->inner, false, &first);
		netpieces_use(&first, b->whole, false);
	}
	netpieces_add_all(out, first.piece, first.n, true);
	out->is_full |= first.is_full;
	last.ns = netchains_time(k, b->end) - netchains_time(k, tail);
	netpieces_add(out, &last);
}

/* As network_takes_ending(). */
static bool takes_ending(const struct netchains *k, const struct branch *b, bool *is_sure)
{
	uint32_t tail = b->own == NETWORK_NONE ? b->fork : b->own;
	bool own = k->node[tail].blocks,
	     ending = b->inner != NETWORK_NONE && k->node[b->inner].blocks;

	*is_sure = own || ending;
	if (own != ending)
		return own;
	return own && netchains_time(k, b->inner) > netchains_time(k, tail);
}

static bool is_ambiguous(const struct netchains *k, const struct branch *b, bool is_ending)
{
	uint32_t before = is_ending ? b->inner : b->own;

	return (before != NETWORK_NONE && k->node[before].is_ambiguous) ||
	       (!is_ending && k->node[b->end].is_ambiguous);
}

static void decide_join(struct netchains *k, struct branch *b)
{
	struct netpieces own = netchains_no_pieces(k), ending = netchains_no_pieces(k);
	struct netpieces *taken, *other;
	bool is_sure, is_ending, is_odd;

	if (!find_join(k, b))
		return;
	is_ending = takes_ending(k, b, &is_sure);
	own_pieces(k, b, &own);
	ending_pieces(k, b, &ending);
	taken = is_ending ? &ending : &own;
	other = is_ending ? &own : &ending;
	netpieces_add_beside(taken, other->piece, other->n, false);
	if (own.is_full || ending.is_full)
		return;
	is_odd = is_ambiguous(k, b, is_ending) || !is_sure;
	if (b->own != NETWORK_NONE)
		netchains_remove(k, b->own);
	if (b->inner != NETWORK_NONE)
		netchains_remove(k, b->inner);
	k->chain[b->task].is_gone = true;
	make_simple(k, b->fork);
	make_simple(k, b->end);
	k->node[b->fork].blocks = false;
	netchains_set_pieces(k, b->end, taken);
	k->node[b->end].is_ambiguous = is_odd;
}

/* --- a sub-task whose sink is not the last of this part */

static bool is_over(const struct netchains *k, const struct branch *b)
{
	const struct chain *c = &k->chain[b->task];

	return c->first == b->end && c->last == b->end && b->end != k->last_sink &&
	       netchains_is_sound(k, b->end) && !k->node[b->end].nops;
}

/* Uses of the sub-task stay with the creator's arc behind the fork, for membership. */
static bool keep_uses(struct netchains *k, const struct branch *b, uint64_t child)
{
	struct netpieces p = netchains_no_pieces(k), beside = netchains_no_pieces(k);
	uint32_t next = k->node[b->fork].next;

	if (next == NETWORK_NONE || !netchains_is_sound(k, next) || !passes_own(k, b->fork))
		return false;
	netchains_pieces(k, next, false, &p);
	netchains_pieces(k, b->end, false, &beside);
	netpieces_use(&beside, child, false);
	netpieces_add_beside(&p, beside.piece, beside.n, true);
	if (!p.is_full && !beside.is_full)
		netchains_set_pieces(k, next, &p);
	return !p.is_full && !beside.is_full;
}

static void decide_sink(struct netchains *k, const struct branch *b)
{
	uint64_t child = 0;

	if (!is_over(k, b))
		return;
	if (k->has_members && (!collect(k, b->fork, true, &child) || !keep_uses(k, b, child)))
		return;
	netchains_remove(k, b->end);
	k->chain[b->task].is_gone = true;
	make_simple(k, b->fork);
}

void netchains_decide(struct netchains *k, uint32_t task)
{
	const struct network_task *t = &k->w->task[task];
	struct branch b = { .task = task, .fork = t->creator, .end = t->ender };

	if (k->chain[task].is_gone || k->chain[task].is_known || b.fork == NETWORK_NONE ||
	    b.end == NETWORK_NONE || k->node[b.fork].kind != NETWORK_FORK)
		return;
	if (k->w->v[b.end].kind == NETWORK_JOIN)
		decide_join(k, &b);
	else
		decide_sink(k, &b);
}
