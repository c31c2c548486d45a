/* SPDX-License-Identifier: Apache-2.0 */
#include "pmsl/plan/place.h"

#include "common/base/array.h"
#include "common/base/err.h"
#include "common/base/str.h"
#include "common/container/map.h"
#include "pmsl/plan/group.h"
#include "pmsl/plan/late.h"

#include <stdlib.h>
#include <string.h>

/* with a thousand links, two have the same name once in 10^11 measurements */
#define LINK_HASH_BYTES 7
#define LINK_NAME_BYTES (2 + STR_BASE32_LEN(LINK_HASH_BYTES))

/* A node in a piece: the piece's number + 1, and the node's. Most nodes are in one piece only. */
struct emitted {
	uint32_t piece, number;
};

/* By number in the piece: the hash of the node and all its inputs. */
struct hashes {
	uint64_t *v;
	size_t cap;
};

struct placer {
	const struct bound *b;
	const struct pmsl_source *text;
	struct pmsl_diags *d;
	struct pieces *pieces;
	uint32_t measurement;
	struct map piece_of; /* place -> its number + 1 */
	struct emitted *first; /* by node: the first piece that contains it */
	struct map others; /* piece and node -> number in the piece + 1 */
	struct map parts; /* piece and set -> number of its partial aggregate in the piece + 1 */
	/* piece below and node in it -> number of the link in the piece above + 1 */
	struct map links;
	struct hashes *hashes; /* by piece */
	size_t caphashes;
	struct map lines; /* offset in the text -> line and column */
	int rc;
};

#define NOTHING UINT32_MAX

static uint32_t fail(struct placer *p, int rc)
{
	if (!p->rc)
		p->rc = rc;
	return NOTHING;
}

static uint64_t pair(uint32_t a, uint32_t b)
{
	return (uint64_t)a << 32 | b;
}

static uint32_t recall(const struct map *m, uint64_t key)
{
	return (uint32_t)(uintptr_t)map_find(m, key) - 1;
}

static uint32_t where_is(const struct placer *p, uint32_t piece, uint32_t node)
{
	if (p->first[node].piece == piece + 1)
		return p->first[node].number;
	return p->first[node].piece ? recall(&p->others, pair(piece, node)) : NOTHING;
}

static uint32_t keep(struct placer *p, struct map *m, uint64_t key, uint32_t v)
{
	if (v == NOTHING)
		return v;
	return map_put(m, key, (void *)((uintptr_t)v + 1), NULL) ? fail(p, -ERR_NOMEM) : v;
}

static uint32_t is_at(struct placer *p, uint32_t piece, uint32_t node, uint32_t number)
{
	if (number == NOTHING || p->first[node].piece)
		return keep(p, &p->others, pair(piece, node), number);
	p->first[node] = (struct emitted){ piece + 1, number };
	return number;
}

/* --- pieces */

static uint64_t place_key(struct place at)
{
	return pair(at.kind, at.kind == PLACE_TOP ? 0 : at.object);
}

static uint32_t make_piece(struct placer *p, struct place at)
{
	struct pieces *all = p->pieces;
	int rc = array_grow(&all->v, &all->cap, all->n + 1, sizeof(*all->v), WORLD_OBJECTS_MAX + 1);

	if (!rc)
		rc = array_grow(&p->hashes, &p->caphashes, all->n + 1, sizeof(*p->hashes),
				WORLD_OBJECTS_MAX + 1);
	if (rc)
		return fail(p, rc);
	p->hashes[all->n] = (struct hashes){ NULL, 0 };
	all->v[all->n].place = at;
	all->v[all->n].graph = flow_graph_new(p->measurement);
	if (!all->v[all->n].graph)
		return fail(p, -ERR_NOMEM);
	return keep(p, &p->piece_of, place_key(at), (uint32_t)all->n++);
}

static struct place above(const struct placer *p, struct place at)
{
	uint32_t site = at.kind == PLACE_NODE ? world_site(p->b->world, at.object) : WORLD_NONE;

	if (site != WORLD_NONE)
		return (struct place){ PLACE_SITE, site };
	return (struct place){ PLACE_TOP, 0 };
}

/* Makes the pieces above a piece first, so that they precede it in the list. */
static uint32_t piece_at(struct placer *p, struct place at)
{
	uint32_t k = recall(&p->piece_of, place_key(at));

	if (k != NOTHING)
		return k;
	if (at.kind != PLACE_TOP && piece_at(p, above(p, at)) == NOTHING)
		return NOTHING;
	return make_piece(p, at);
}

static const char *piece_name(const struct placer *p, uint32_t piece)
{
	struct place at = p->pieces->v[piece].place;

	return at.kind == PLACE_TOP ? "the top" : p->b->world->v[at.object].token;
}

/* Sets the line of a node: it is found by a walk through the text, and many nodes share it. */
static void find_line(struct placer *p, uint32_t offset, struct flow_node *n)
{
	uint64_t known = (uintptr_t)map_find(&p->lines, offset);

	if (!known) {
		struct pmsl_place at = pmsl_source_place(p->text, offset);

		known = pair(at.line, at.col);
		/* A failure costs only another walk through the text. */
		map_put(&p->lines, offset, (void *)(uintptr_t)known, NULL);
	}
	n->line = (uint32_t)(known >> 32);
	n->col = (uint32_t)known;
}

/* Hashes the node and its inputs, down to the sources. */
static void remember(struct placer *p, uint32_t piece, uint32_t number, const struct flow_node *n)
{
	struct hashes *all = &p->hashes[piece];
	uint64_t h = bound_hash_own(n);

	for (size_t i = 0; i < n->nin; i++)
		h = bound_hash_mix(h, all->v[n->in[i]]);
	if (n->kind == FLOW_LINK_IN)
		h = bound_hash_text(bound_hash_mix(h, n->link.behind), n->link.name);
	if (array_grow(&all->v, &all->cap, (size_t)number + 1, sizeof(*all->v), BOUND_NODES_MAX))
		fail(p, -ERR_NOMEM);
	else
		all->v[number] = h ? h : 1;
}

static uint32_t add(struct placer *p, uint32_t piece, struct flow_node *n)
{
	uint32_t offset = n->line;
	struct err e = { 0 };
	int k;

	if (p->rc)
		return NOTHING;
	n->line = n->col = 0;
	if (offset && p->text)
		find_line(p, offset - 1, n);
	k = flow_graph_add(p->pieces->v[piece].graph, n, &e);
	if (k == -ERR_LIMIT)
		pmsl_error(p->d, PMSL_NOWHERE, 0, "the part for %s is too large: %s",
			   piece_name(p, piece), e.text);
	if (k < 0)
		return fail(p, k);
	remember(p, piece, (uint32_t)k, n);
	return p->rc ? NOTHING : (uint32_t)k;
}

/* --- links, one step up */

/*
 * The name is derived from the contents of the link: a link of another plan with the same name has
 * the same contents. So data in transit during a change of plan never reach another link.
 */
static void name_link(const struct placer *p, uint32_t below, uint32_t from,
		      char name[LINK_NAME_BYTES])
{
	uint64_t h = p->hashes[below].v[from];
	uint8_t bytes[LINK_HASH_BYTES];

	h = bound_hash_text(h, piece_name(p, below));
	memcpy(bytes, &h, sizeof(bytes));
	name[0] = 'l';
	str_base32(name + 1, bytes, sizeof(bytes));
}

/* A value that is sent up: node `from` of the piece `below`. */
struct crossing {
	uint32_t below, from;
	bool partial;
	uint32_t behind;
};

static uint32_t put_link(struct placer *p, const struct bound_node *v, const struct crossing *c)
{
	uint32_t below = c->below, from = c->from;
	uint32_t up = piece_at(p, above(p, p->pieces->v[below].place));
	uint32_t made = recall(&p->links, pair(below, from));
	char name[LINK_NAME_BYTES];
	struct flow_node out = { .kind = FLOW_LINK_OUT, .in = &from, .nin = 1, .line = v->n.line };
	struct flow_node in = { .kind = FLOW_LINK_IN, .line = v->n.line };

	if (made != NOTHING || up == NOTHING)
		return made;
	name_link(p, below, from, name);
	out.link.name = in.link.name = name;
	in.link.domain = v->n.domain;
	in.link.partial = c->partial;
	in.link.fold = c->partial ? late_fold_of_part(p->b, v) : late_fold_of_value(p->b, v);
	in.link.behind = c->behind;
	if (add(p, below, &out) == NOTHING)
		return NOTHING;
	return keep(p, &p->links, pair(below, from), add(p, up, &in));
}

/* --- sets over several nodes: each node has a part */

/* Returns the number of the node in that piece, and makes it there if needed. */
static uint32_t emit(struct placer *p, uint32_t node, uint32_t piece);

/* True for the place itself, and places below it. */
static bool is_within(const struct placer *p, struct place at, struct place in)
{
	return place_equal(at, in) || place_is_below(p->b->world, at, in);
}

/* True if more than one input comes from a node or site below: then parts reduce traffic. */
static bool is_worth_parts(const struct placer *p, const struct bound_node *set, struct place here)
{
	struct map seen;
	bool is_worth = false;

	map_init(&seen);
	for (size_t i = 0; i < set->n.nin && !is_worth; i++) {
		struct place at = p->b->node[set->n.in[i]]->place;

		if (!is_within(p, at, here) || place_equal(at, here))
			continue;
		at = place_step_down(p->b->world, at, here);
		is_worth = map_find(&seen, place_key(at)) != NULL;
		/* Without memory the inputs stay plain values. */
		if (map_put(&seen, place_key(at), (void *)set, NULL))
			break;
	}
	map_done(&seen);
	return is_worth;
}

static uint32_t behind_within(const struct placer *p, const struct bound_node *set,
			      struct place here)
{
	uint32_t behind = 0;

	for (size_t i = 0; i < set->n.nin; i++)
		if (is_within(p, p->b->node[set->n.in[i]]->place, here))
			behind += p->b->node[set->n.in[i]]->n.behind;
	return behind;
}

static bool has_partial_inputs(const struct placer *p, const struct bound_node *set)
{
	return p->b->node[set->n.in[0]]->n.partial;
}

/* Inputs of a set in one piece: its own values or partial aggregates, and links from below. */
struct gathered {
	uint32_t *v;
	size_t n;
};

static uint32_t emit_part(struct placer *p, const struct bound_node *set, uint32_t piece,
			  bool is_whole);

/* Adds a group's part, which arrives by one link. */
static void gather_part(struct placer *p, const struct bound_node *whole, const struct group *from,
			struct gathered *g)
{
	struct place below = from->at;
	struct bound_node own = *whole;
	const struct bound_node *set = &own;
	uint32_t piece = piece_at(p, below), part, link;

	if (piece == NOTHING)
		return;
	own.n.in = from->in;
	own.n.nin = from->n;
	part = emit_part(p, set, piece, false);
	if (part == NOTHING)
		return;
	link = put_link(p, p->b->node[set->id],
			&(struct crossing){ .below = piece,
					    .from = part,
					    .partial = true,
					    .behind = behind_within(p, set, below) });
	if (link != NOTHING)
		g->v[g->n++] = link;
}

/* Puts the piece's own values into a partial aggregate, so that all inputs are partial. */
static void gather_own(struct placer *p, const struct bound_node *set, uint32_t piece,
		       const struct gathered *own, struct gathered *g)
{
	struct flow_node n = set->n;

	n.in = own->v;
	n.nin = own->n;
	n.fold.partial_out = true;
	if (has_partial_inputs(p, set)) {
		memcpy(g->v + g->n, own->v, own->n * sizeof(*own->v));
		g->n += own->n;
	} else if (own->n) {
		g->v[g->n++] = add(p, piece, &n);
	}
}

/* Inputs of a set: partial aggregates from below, and values at the place of the set. */
struct parts {
	struct gathered all, own;
};

static void gather(struct placer *p, const struct bound_node *set, uint32_t piece, bool is_whole,
		   struct parts *to)
{
	struct place here = p->pieces->v[piece].place;
	struct groups all;

	if (groups_make(&all, p->b, set, here))
		fail(p, -ERR_NOMEM);
	for (size_t i = 0; i < set->n.nin && !p->rc; i++) {
		struct place at = p->b->node[set->n.in[i]]->place;
		struct group *from = groups_of(&all, i);

		if (from && !from->is_gathered) {
			from->is_gathered = true;
			gather_part(p, set, from, &to->all);
		} else if (place_equal(at, here) || (at.kind == PLACE_ANYWHERE && is_whole)) {
			to->own.v[to->own.n++] = emit(p, set->n.in[i], piece);
		}
	}
	groups_done(&all);
}

/* Adds the inputs within this piece as single values. */
static uint32_t emit_plain(struct placer *p, const struct bound_node *set, uint32_t piece,
			   bool is_whole)
{
	struct place here = p->pieces->v[piece].place;
	uint32_t *in = calloc(set->n.nin, sizeof(*in)), made;
	struct flow_node n = set->n;

	if (!in)
		return fail(p, -ERR_NOMEM);
	n.nin = 0;
	for (size_t i = 0; i < set->n.nin && !p->rc; i++) {
		struct place at = p->b->node[set->n.in[i]]->place;

		if (is_whole || is_within(p, at, here))
			in[n.nin++] = emit(p, set->n.in[i], piece);
	}
	n.in = in;
	n.fold.partial_out |= !is_whole;
	/* A single partial aggregate is the part already. */
	if (!is_whole && n.nin == 1 && has_partial_inputs(p, set))
		made = in[0];
	else
		made = add(p, piece, &n);
	free(in);
	return made;
}

static uint32_t merge(struct placer *p, const struct bound_node *set, uint32_t piece, bool is_whole,
		      const struct gathered *g)
{
	struct flow_node n = set->n;

	if (!is_whole && g->n == 1)
		return g->v[0];
	n.in = g->v;
	n.nin = g->n;
	n.fold.partial_out |= !is_whole;
	return add(p, piece, &n);
}

static uint32_t emit_parts(struct placer *p, const struct bound_node *set, uint32_t piece,
			   bool is_whole)
{
	struct parts in = { .all.v = calloc(set->n.nin + 1, sizeof(*in.all.v)),
			    .own.v = calloc(set->n.nin, sizeof(*in.own.v)) };
	uint32_t made = NOTHING;

	if (in.all.v && in.own.v) {
		gather(p, set, piece, is_whole, &in);
		if (!p->rc)
			gather_own(p, set, piece, &in.own, &in.all);
		if (!p->rc)
			made = merge(p, set, piece, is_whole, &in.all);
	} else {
		fail(p, -ERR_NOMEM);
	}
	free(in.all.v);
	free(in.own.v);
	return made;
}

/*
 * Emits the part of a set that is within a piece, or the whole set. If one level has partial
 * aggregates, all levels below have them, because values and partial aggregates do not mix.
 */
static uint32_t emit_part(struct placer *p, const struct bound_node *set, uint32_t piece,
			  bool is_whole)
{
	struct place here = p->pieces->v[piece].place;
	uint32_t known = recall(&p->parts, pair(piece, set->id));

	if (!is_whole && known != NOTHING)
		return known;
	if (here.kind == PLACE_NODE ||
	    (!is_worth_parts(p, set, here) && !has_partial_inputs(p, set)))
		known = emit_plain(p, set, piece, is_whole);
	else
		known = emit_parts(p, set, piece, is_whole);
	return is_whole ? known : keep(p, &p->parts, pair(piece, set->id), known);
}

/* --- all other nodes */

static uint32_t emit_here(struct placer *p, const struct bound_node *v, uint32_t piece)
{
	struct flow_node n = v->n;
	uint32_t *in = calloc(n.nin + 1, sizeof(*in)), made;

	if (!in)
		return fail(p, -ERR_NOMEM);
	for (size_t i = 0; i < n.nin && !p->rc; i++)
		in[i] = emit(p, v->n.in[i], piece);
	n.in = in;
	made = add(p, piece, &n);
	free(in);
	return made;
}

/* Emits a node that runs below: its value is sent up, step by step. */
static uint32_t emit_below(struct placer *p, const struct bound_node *v, uint32_t piece)
{
	struct place down = place_step_down(p->b->world, v->place, p->pieces->v[piece].place);
	uint32_t below = piece_at(p, down), from;

	if (below == NOTHING)
		return NOTHING;
	from = emit(p, v->id, below);
	return from == NOTHING ? NOTHING
			       : put_link(p, v,
					  &(struct crossing){ .below = below,
							      .from = from,
							      .partial = v->n.partial,
							      .behind = v->n.behind });
}

static uint32_t emit(struct placer *p, uint32_t node, uint32_t piece)
{
	const struct bound_node *v = p->b->node[node];
	struct place here = p->pieces->v[piece].place;
	uint32_t known = where_is(p, piece, node);

	if (known != NOTHING || p->rc)
		return known;
	if (v->place.kind != PLACE_ANYWHERE && !place_equal(v->place, here))
		known = emit_below(p, v, piece);
	else if (v->n.kind == FLOW_SET && !p->b->is_central)
		known = emit_part(p, v, piece, true);
	else
		known = emit_here(p, v, piece);
	return is_at(p, piece, node, known);
}

static bool may_be_long(const struct flow_node *n)
{
	return n->kind == FLOW_LINK_IN && n->link.domain == FLOW_VT &&
	       !(n->link.partial && agg_kind_has_room(n->link.fold.agg));
}

/* Gives each link the largest window, because a central graph sends all events to the top. */
static void widen_links(struct flow_graph *g)
{
	size_t links = 0;
	uint32_t window;

	for (size_t i = 0; i < g->nnode; i++)
		links += g->node[i].kind == FLOW_LINK_IN || g->node[i].kind == FLOW_LINK_OUT;
	window = flow_link_window_most(links);
	for (size_t i = 0; i < g->nnode; i++)
		if (g->node[i].kind == FLOW_LINK_IN || g->node[i].kind == FLOW_LINK_OUT)
			g->node[i].window = window;
}

/* Reduces the room of each link if many nodes send; otherwise the graph would be refused. */
static void fit_links(struct flow_graph *g)
{
	size_t links = 0;
	uint32_t window;

	for (size_t i = 0; i < g->nnode; i++)
		links += may_be_long(&g->node[i]);
	window = flow_link_window(links);
	for (size_t i = 0; i < g->nnode && window; i++)
		if (may_be_long(&g->node[i]))
			g->node[i].window = window;
}

static void verify(struct placer *p)
{
	struct err e = { 0 };
	int rc = 0;

	for (uint32_t i = 0; i < p->pieces->n && !p->rc; i++) {
		(p->b->is_central ? widen_links : fit_links)(p->pieces->v[i].graph);
		rc = flow_graph_verify(p->pieces->v[i].graph, &e);
		if (!rc)
			continue;
		if (rc != -ERR_NOMEM)
			pmsl_error(p->d, PMSL_NOWHERE, 0, "the part for %s is refused: %s",
				   piece_name(p, i), e.text);
		fail(p, rc);
	}
}

int place_graph(const struct placed *what, struct pmsl_diags *d, struct pieces *pieces)
{
	struct placer p = { .b = what->b,
			    .text = what->text,
			    .d = d,
			    .pieces = pieces,
			    .measurement = what->measurement };

	memset(pieces, 0, sizeof(*pieces));
	map_init(&p.piece_of);
	map_init(&p.others);
	map_init(&p.parts);
	map_init(&p.links);
	map_init(&p.lines);
	p.first = calloc(what->b->n + 1, sizeof(*p.first));
	if (p.first)
		piece_at(&p, (struct place){ PLACE_TOP, 0 });
	else
		p.rc = -ERR_NOMEM;
	for (size_t i = 0; i < what->outputs.n && !p.rc; i++)
		emit(&p, what->outputs.v[i].node, 0);
	verify(&p);
	for (size_t i = 0; i < p.caphashes && i < pieces->n; i++)
		free(p.hashes[i].v);
	free(p.hashes);
	free(p.first);
	map_done(&p.piece_of);
	map_done(&p.others);
	map_done(&p.parts);
	map_done(&p.links);
	map_done(&p.lines);
	if (p.rc)
		pieces_done(pieces);
	return p.rc;
}

void pieces_done(struct pieces *p)
{
	for (size_t i = 0; i < p->n; i++)
		flow_graph_free(p->v[i].graph);
	free(p->v);
	memset(p, 0, sizeof(*p));
}
