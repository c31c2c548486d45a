/* SPDX-License-Identifier: Apache-2.0 */
#include "interaction/online/netchains.h"

#include "common/base/array.h"

#include <stdlib.h>
#include <string.h>

static void append(struct netchains *k, uint32_t task, uint32_t v)
{
	struct chain *c = &k->chain[task];

	k->node[v].prev = c->last;
	if (c->last == NETWORK_NONE)
		c->first = v;
	else
		k->node[c->last].next = v;
	c->last = v;
}

/* Fills chains, each in its order. */
static int link_chains(struct netchains *k)
{
	const struct network *w = k->w;
	uint32_t *order = w->is_unsorted ? network_by_task(w) : NULL;

	if (w->is_unsorted && !order)
		return -ERR_NOMEM;
	for (uint32_t i = 0; i < w->n; i++) {
		uint32_t v = order ? order[i] : i;

		append(k, w->v[v].task, v);
	}
	free(order);
	return 0;
}

static void fill_nodes(struct netchains *k)
{
	const struct network *w = k->w;

	for (uint32_t i = 0; i < w->n; i++) {
		const struct network_vertex *v = &w->v[i];
		const struct network_stretch *s = network_stretch(w, i);

		k->node[i] = (struct chain_node){ .prev = NETWORK_NONE,
						  .next = NETWORK_NONE,
						  .op = v->ops,
						  .nops = v->nops,
						  .kind = v->kind,
						  .blocks = v->blocks };
		if (s) {
			k->node[i].has_stretch = true;
			k->node[i].is_ambiguous = s->is_ambiguous;
			k->node[i].begin = s->begin;
			k->node[i].piece = s->first;
			k->node[i].npiece = k->node[i].piece_cap = s->n;
		}
		if (v->kind == NETWORK_SINK &&
		    (k->last_sink == NETWORK_NONE ||
		     network_ends_later(w, i, v->t, k->last_sink, w->v[k->last_sink].t)))
			k->last_sink = i;
	}
}

int netchains_init(struct netchains *k, const struct network *w)
{
	*k = (struct netchains){ .w = w,
				 .has_members = netuse_members(w->use) > 0,
				 .last_sink = NETWORK_NONE,
				 .node = calloc(w->n + 1, sizeof(*k->node)),
				 .chain = malloc((w->ntask + 1) * sizeof(*k->chain)),
				 .op = malloc((w->nop + 1) * sizeof(*k->op)) };
	k->rc = array_grow(&k->pool, &k->pool_cap, w->npiece + 1, sizeof(*k->pool), UINT32_MAX);
	if (!k->node || !k->chain || !k->op || k->rc)
		return -ERR_NOMEM;
	for (size_t i = 0; i < w->ntask; i++)
		k->chain[i] = (struct chain){ .first = NETWORK_NONE, .last = NETWORK_NONE };
	if (w->nop)
		memcpy(k->op, w->op, w->nop * sizeof(*k->op));
	if (w->npiece)
		memcpy(k->pool, w->piece, w->npiece * sizeof(*k->pool));
	k->npool = w->npiece;
	fill_nodes(k);
	return link_chains(k);
}

void netchains_done(struct netchains *k)
{
	free(k->node);
	free(k->chain);
	free(k->op);
	free(k->pool);
}

uint32_t netchains_tail(const struct netchains *k, uint32_t v)
{
	uint32_t prev = k->node[v].prev, creator = k->w->task[k->w->v[v].task].creator;

	if (prev != NETWORK_NONE)
		return prev;
	return creator != NETWORK_NONE && !k->chain[k->w->v[v].task].is_known &&
			       k->node[creator].kind == NETWORK_FORK &&
			       k->w->v[creator].other == k->w->v[v].task
		       ? creator
		       : NETWORK_NONE;
}

bool netchains_is_sound(const struct netchains *k, uint32_t v)
{
	uint32_t tail = netchains_tail(k, v);
	int64_t ns;

	if (tail == NETWORK_NONE || (!k->node[v].has_stretch && !k->is_lowest) ||
	    __builtin_sub_overflow(netchains_time(k, v), netchains_time(k, tail), &ns) || ns < 0)
		return false;
	return !k->node[v].has_stretch || k->node[v].begin == netchains_time(k, tail);
}

void netchains_pieces(const struct netchains *k, uint32_t v, bool is_child, struct netpieces *out)
{
	const struct chain_node *n = &k->node[v];
	struct network_piece whole = { .is_child = is_child };

	if (n->npiece) {
		netpieces_add_all(out, k->pool + n->piece, n->npiece, is_child);
		return;
	}
	whole.ns = netchains_time(k, v) - netchains_time(k, netchains_tail(k, v));
	netpieces_add(out, &whole);
}

void netchains_set_pieces(struct netchains *k, uint32_t v, const struct netpieces *p)
{
	struct chain_node *n = &k->node[v];

	if (p->n > n->piece_cap) {
		int rc = array_grow(&k->pool, &k->pool_cap, k->npool + p->n, sizeof(*k->pool),
				    UINT32_MAX);

		if (rc) {
			k->rc = rc;
			return;
		}
		n->piece = (uint32_t)k->npool;
		n->piece_cap = p->n;
		k->npool += p->n;
	}
	if (p->n)
		memcpy(k->pool + n->piece, p->piece, p->n * sizeof(*p->piece));
	n->npiece = p->n;
	n->begin = netchains_time(k, netchains_tail(k, v));
	n->has_stretch = true;
}

void netchains_remove(struct netchains *k, uint32_t v)
{
	struct chain_node *n = &k->node[v];
	struct chain *c = &k->chain[k->w->v[v].task];

	if (n->prev == NETWORK_NONE)
		c->first = n->next;
	else
		k->node[n->prev].next = n->next;
	if (n->next == NETWORK_NONE)
		c->last = n->prev;
	else
		k->node[n->next].prev = n->prev;
	n->is_gone = true;
	k->has_changed = true;
}

void netchains_remove_op(struct netchains *k, uint32_t v, uint32_t i)
{
	struct chain_node *n = &k->node[v];
	struct network_use *op = k->op + n->op;

	for (n->nops--; i < n->nops; i++)
		op[i] = op[i + 1];
	k->has_changed = true;
}
