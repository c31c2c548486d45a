/* SPDX-License-Identifier: Apache-2.0 */
#include "interaction/online/netcontract.h"

#include "interaction/online/netchains.h"

/* Each round contracts what the round before has made simple. The rest is sent unchanged. */
#define ROUNDS_MAX 16

/* True if no other event depends on v. */
static bool is_empty(const struct netchains *k, uint32_t v)
{
	const struct chain_node *n = &k->node[v];

	if (n->kind != NETWORK_SIMPLE || n->nops || n->next == NETWORK_NONE)
		return false;
	if (n->blocks && k->node[n->next].kind == NETWORK_JOIN)
		return false;
	return netchains_is_sound(k, v) && netchains_is_sound(k, n->next);
}

/* Joins the arcs before and behind v. */
static void shorten(struct netchains *k, uint32_t v)
{
	struct netpieces p = netchains_no_pieces(k);
	uint32_t next = k->node[v].next;
	int64_t span;

	if (!is_empty(k, v) ||
	    __builtin_sub_overflow(netchains_time(k, next), netchains_time(k, netchains_tail(k, v)),
				   &span))
		return;
	netchains_pieces(k, v, false, &p);
	netchains_pieces(k, next, false, &p);
	if (p.is_full)
		return;
	netchains_remove(k, v);
	netchains_set_pieces(k, next, &p);
	k->node[next].is_ambiguous |= k->node[v].is_ambiguous;
}

static void shorten_chain(struct netchains *k, uint32_t task)
{
	uint32_t next;

	for (uint32_t v = k->chain[task].first; v != NETWORK_NONE && !k->rc; v = next) {
		next = k->node[v].next;
		netchains_fold(k, v);
		shorten(k, v);
	}
}

/* The sub-tasks that were created last are the inner ones. */
static void contract(struct netchains *k)
{
	k->has_changed = true;
	for (int i = 0; i < ROUNDS_MAX && k->has_changed && !k->rc; i++) {
		k->has_changed = false;
		for (uint32_t task = (uint32_t)k->w->ntask; task-- > 0 && !k->rc;) {
			shorten_chain(k, task);
			netchains_decide(k, task);
		}
	}
}

static int give(const struct netchains *k, uint32_t at, netcontract_fn fn, void *arg, struct err *e)
{
	const struct network_vertex *v = &k->w->v[at];
	const struct chain_node *n = &k->node[at];
	struct network_stretch s = { .piece = k->pool + n->piece,
				     .n = n->npiece,
				     .begin = n->begin,
				     .is_ambiguous = n->is_ambiguous };
	bool is_sound = netchains_is_sound(k, at);
	struct network_event ev = { .t = v->t,
				    .kind = (enum network_kind)n->kind,
				    .is_message = v->is_message,
				    .blocks = n->blocks,
				    .task = network_id(k->w, v->task),
				    .node = v->node,
				    .place = v->place,
				    .use = k->op + n->op,
				    .nuse = n->nops,
				    .stretch = n->has_stretch || is_sound ? &s : NULL };

	/* the begin, so that a lost event before this one is noticed above */
	if (is_sound)
		s.begin = netchains_time(k, netchains_tail(k, at));
	if (network_is_pair(ev.kind))
		ev.other = network_id(k->w, v->other);
	return fn(arg, &ev, e);
}

static int give_all(const struct netchains *k, netcontract_fn fn, void *arg, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; i < k->w->ntask; i++)
		for (uint32_t v = k->chain[i].first; v != NETWORK_NONE && !rc; v = k->node[v].next)
			rc = give(k, v, fn, arg, e);
	return rc;
}

static void apply(struct netchains *k, const struct netcontract_plan *plan)
{
	k->is_lowest = plan->is_lowest;
	for (uint32_t i = 0; plan->is_known && i < k->w->ntask; i++)
		k->chain[i].is_known = plan->is_known(plan->arg, network_id(k->w, i));
}

int netcontract_run(const struct network *w, const struct netcontract_plan *plan, netcontract_fn fn,
		    void *arg, struct err *e)
{
	struct netchains k;
	int rc = netchains_init(&k, w);

	if (!rc) {
		apply(&k, plan);
		contract(&k);
	}
	if (rc || k.rc)
		rc = err_nomem(e);
	else
		rc = give_all(&k, fn, arg, e);
	netchains_done(&k);
	return rc;
}
