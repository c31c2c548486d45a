/* SPDX-License-Identifier: Apache-2.0 */
/* Loads and removes graphs while others run. */
#include "common/base/array.h"
#include "common/base/buf.h"
#include "common/base/limits.h"
#include "common/base/str.h"
#include "common/flow/engine/flow_internal.h"
#include "common/flow/graph/graph_internal.h"

#include <stdlib.h>
#include <string.h>

#define MEASUREMENTS_MAX 65536 /* limit unless a higher one is given */
/* text of one node, whose names have arrived in a frame */
#define IDENTITY_MAX_BYTES (1024 * 1024)

struct flow *flow_new(const struct flow_limits *limits, const struct flow_out *out)
{
	struct flow *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->limits = *limits;
	f->out = *out;
	smap_init(&f->by_identity);
	return f;
}

static void meas_done(struct fmeas *m)
{
	smap_done(&m->link);
	free(m->node);
	free(m->pass);
	m->node = m->pass = NULL;
	m->npass = m->nnode = 0;
}

static void release_tables(struct flow *f)
{
	for (size_t i = 0; i < f->nnode; i++)
		flow_node_done(&f->node[i]);
	for (size_t i = 0; i < f->nmeas; i++)
		meas_done(&f->meas[i]);
	smap_done(&f->by_identity);
	free(f->node);
	free(f->meas);
	free(f->edge);
	free(f->order);
}

void flow_free(struct flow *f)
{
	if (!f)
		return;
	release_tables(f);
	free(f);
}

/* Frees tables, because the next measurement may be a small one. */
static void restart(struct flow *f)
{
	const struct flow_limits limits = f->limits;
	const struct flow_out out = f->out;

	release_tables(f);
	*f = (struct flow){ .limits = limits, .out = out };
	smap_init(&f->by_identity);
}

/* --- one node */

/* True for nodes that always belong to one measurement. */
static bool is_own(const struct flow_node *n)
{
	switch (n->kind) {
	case FLOW_INPUT:
		return n->domain == FLOW_READ;
	case FLOW_VT_AGG:
	case FLOW_LINK_IN:
	case FLOW_LINK_OUT:
	case FLOW_RESULT:
		return true;
	default:
		return false;
	}
}

/*
 * Returns the identity of a node, as text; nodes with the same identity are shared. It has the
 * node's description with the numbers of its inputs, and the measurement if the node belongs to
 * one. Sources that count from a start are shared if the start is the same.
 */
static char *identity_of(const struct flow_node *n, const uint32_t *in, const struct fmeas *m)
{
	struct buf b = BUF_INIT(IDENTITY_MAX_BYTES);
	struct flow_node plain = *n;
	char *text;

	plain.in = in;
	plain.line = plain.col = 0;
	if (is_own(n))
		buf_printf(&b, "m%u ", (unsigned)m->id);
	if (n->kind == FLOW_INPUT && n->source.from_start)
		buf_printf(&b, "from %lld ", (long long)m->start);
	graph_print_node(&b, &plain);
	text = (char *)buf_take(&b, NULL);
	buf_done(&b); /* of a text that has failed */
	return text;
}

static int place_new(struct flow *f, uint32_t *place)
{
	while (f->free_from < f->nnode && f->node[f->free_from].identity)
		f->free_from++;
	*place = (uint32_t)f->free_from;
	if (f->free_from < f->nnode)
		return 0;
	if (array_grow(&f->node, &f->node_cap, f->nnode + 1, sizeof(*f->node), f->limits.nodes_max))
		return -ERR_NOMEM;
	f->nnode++;
	return 0;
}

static struct flow_fold fold_of(const struct flow_node *g)
{
	if (g->kind == FLOW_SET || g->kind == FLOW_VT_AGG)
		return g->fold;
	if (g->kind == FLOW_STOP)
		return (struct flow_fold){ .agg = g->stop.agg, .q = g->stop.q };
	return g->gives;
}

static void describe(struct fnode *n, const struct flow_node *g, size_t meas)
{
	n->kind = g->kind;
	n->domain = g->domain;
	n->partial = g->partial;
	n->behind = g->behind;
	n->depth = g->depth;
	n->window = flow_node_window(g);
	n->measurement = (uint32_t)meas;
	n->fold = fold_of(g);
	n->nin = (uint32_t)g->nin;
	if (g->kind == FLOW_OP)
		n->op = g->op;
	else if (g->kind == FLOW_CONST)
		n->constant = g->constant;
	else if (g->kind == FLOW_SHIFT)
		n->shift = g->shift;
	else if (g->kind == FLOW_DELTA)
		n->per_second = g->per_second;
	else if (g->kind == FLOW_INPUT)
		n->bounds_steps = flow_source_bounds_steps(&g->source);
	else if (g->kind == FLOW_RATE)
		n->since = g->since;
	else if (g->kind == FLOW_RESULT)
		n->output = g->output;
}

/* The parts of a new node. `in` and `identity` are owned until the node has them. */
struct origin {
	const struct flow_node *node;
	size_t meas;
	uint32_t *in;
	char *identity;
};

/* Consumes in and identity of `o` on success. */
static int node_make(struct flow *f, struct fnode *n, struct origin *o)
{
	const struct flow_node *g = o->node;
	bool link = g->kind == FLOW_LINK_IN || g->kind == FLOW_LINK_OUT;
	char *name = link ? str_dup(g->link.name) : NULL;

	*n = (struct fnode){ 0 };
	describe(n, g, o->meas);
	n->in = o->in;
	if ((link && !name) || flow_node_init(f, n, g)) {
		free(name);
		*n = (struct fnode){ 0 };
		return -ERR_NOMEM;
	}
	n->link = name;
	n->identity = o->identity;
	o->in = NULL;
	o->identity = NULL;
	return 0;
}

static void node_drop(struct flow *f, uint32_t place)
{
	struct fnode *n = &f->node[place];

	smap_del(&f->by_identity, n->identity);
	f->state_bytes -= n->state_bytes;
	f->used--;
	if (place < f->free_from)
		f->free_from = place;
	flow_node_done(n);
}

static int node_new(struct flow *f, struct origin *o, uint32_t *place)
{
	struct fnode *n;

	if (place_new(f, place))
		return -ERR_NOMEM;
	if (smap_put(&f->by_identity, o->identity, (void *)((uintptr_t)*place + 1), NULL))
		return -ERR_NOMEM;
	n = &f->node[*place];
	if (node_make(f, n, o)) {
		smap_del(&f->by_identity, o->identity);
		return -ERR_NOMEM;
	}
	f->used++;
	f->state_bytes += n->state_bytes;
	return 0;
}

/* --- the nodes of a graph */

/* A graph under construction, while the current one runs. */
struct load {
	struct flow *f;
	const struct flow_graph *g;
	size_t meas;
	struct fmeas fresh;
};

static uint32_t *inputs_of(const struct load *l, const struct flow_node *n)
{
	uint32_t *in = calloc(n->nin ? n->nin : 1, sizeof(*in));

	for (size_t k = 0; in && k < n->nin; k++)
		in[k] = l->fresh.node[n->in[k]];
	return in;
}

static int find_or_make(struct load *l, const struct flow_node *n, uint32_t *place)
{
	struct origin o = { .node = n, .meas = l->meas, .in = inputs_of(l, n) };
	uintptr_t known;
	int rc = 0;

	o.identity = o.in ? identity_of(n, o.in, &l->fresh) : NULL;
	known = o.identity ? (uintptr_t)smap_find(&l->f->by_identity, o.identity) : 0;
	if (!o.identity)
		rc = -ERR_NOMEM;
	else if (known)
		*place = (uint32_t)(known - 1);
	else
		rc = node_new(l->f, &o, place);
	free(o.in);
	free(o.identity);
	return rc;
}

static int load_node(struct load *l, size_t i)
{
	const struct flow_node *n = &l->g->node[i];
	struct fmeas *m = &l->fresh;
	uint32_t place;
	int rc = find_or_make(l, n, &place);

	if (rc)
		return rc;
	m->node[i] = place;
	if (l->f->node[place].passed)
		return 0;
	l->f->node[place].passed = true;
	l->f->node[place].refs++;
	m->pass[m->npass++] = place;
	return n->kind == FLOW_LINK_IN
		       ? smap_put(&m->link, n->link.name, (void *)((uintptr_t)place + 1), NULL)
		       : 0;
}

static void let_go(struct flow *f, struct fmeas *m)
{
	for (size_t i = 0; i < m->npass; i++)
		if (!--f->node[m->pass[i]].refs)
			node_drop(f, m->pass[i]);
	meas_done(m);
}

static int load_nodes(struct load *l)
{
	struct fmeas *m = &l->fresh;
	int rc = 0;

	smap_init(&m->link);
	m->nnode = l->g->nnode;
	m->npass = 0;
	m->node = calloc(m->nnode, sizeof(*m->node));
	m->pass = calloc(m->nnode, sizeof(*m->pass));
	if (!m->node || !m->pass)
		rc = -ERR_NOMEM;
	for (size_t i = 0; i < m->nnode && !rc; i++)
		rc = load_node(l, i);
	for (size_t i = 0; i < m->npass; i++)
		l->f->node[m->pass[i]].passed = false;
	return rc;
}

/* --- edges from nodes to the nodes that read them, computed again after each change */

static size_t count_edges(const struct flow *f)
{
	size_t n = 0;

	for (size_t i = 0; i < f->nnode; i++)
		n += f->node[i].nin;
	return n;
}

static int reserve(struct flow *f)
{
	if (array_grow(&f->edge, &f->edge_cap, count_edges(f), sizeof(*f->edge), SIZE_MAX) ||
	    array_grow(&f->order, &f->order_cap, f->nnode, sizeof(*f->order), SIZE_MAX))
		return -ERR_NOMEM;
	return 0;
}

static bool carries(const struct flow *f, const struct fnode *n, uint32_t k)
{
	return f->node[n->in[k]].domain == FLOW_VT;
}

static void connect(struct flow *f)
{
	uint32_t at = 0;

	for (size_t i = 0; i < f->nnode; i++)
		f->node[i].nedge = 0;
	for (size_t i = 0; i < f->nnode; i++)
		for (uint32_t k = 0; k < f->node[i].nin; k++)
			f->node[f->node[i].in[k]].nedge += carries(f, &f->node[i], k);
	for (size_t i = 0; i < f->nnode; i++) {
		f->node[i].edge = at;
		at += f->node[i].nedge;
		f->node[i].nedge = 0;
	}
	for (size_t i = 0; i < f->nnode; i++) {
		for (uint32_t k = 0; k < f->node[i].nin; k++) {
			struct fnode *from = &f->node[f->node[i].in[k]];

			if (carries(f, &f->node[i], k))
				f->edge[from->edge + from->nedge++] =
					(struct fedge){ (uint32_t)i, k };
		}
	}
}

static void sort_by_depth(struct flow *f)
{
	f->norder = 0;
	for (uint32_t depth = 1; depth <= FLOW_DEPTH_MAX; depth++)
		for (size_t i = 0; i < f->nnode; i++)
			if (f->node[i].refs && f->node[i].depth == depth)
				f->order[f->norder++] = (uint32_t)i;
}

static void rewire(struct flow *f)
{
	connect(f);
	sort_by_depth(f);
	flow_settle(f);
}

/* --- a measurement */

static size_t free_meas(const struct flow *f)
{
	size_t i = 0;

	while (i < f->nmeas && f->meas[i].id)
		i++;
	return i;
}

static int begin(struct load *l, nsec_t start, struct err *e)
{
	struct flow *f = l->f;
	struct fmeas *old = flow_meas(f, l->g->measurement);

	if (old) {
		l->meas = (size_t)(old - f->meas);
		l->fresh = *old;
		return 0;
	}
	l->meas = free_meas(f);
	if (l->meas >= f->limits.measurements_max)
		return err_set(e, ERR_LIMIT, "%zu measurements run already", l->meas);
	if (array_grow(&f->meas, &f->meas_cap, l->meas + 1, sizeof(*f->meas), MEASUREMENTS_MAX))
		return err_nomem(e);
	if (l->meas == f->nmeas)
		f->nmeas++;
	l->fresh = (struct fmeas){ .id = l->g->measurement, .start = start, .last_t = start };
	f->meas[l->meas] = (struct fmeas){ .start = start };
	return 0;
}

static int within_limits(const struct flow *f, struct err *e)
{
	if (f->state_bytes <= f->limits.state_max_bytes)
		return 0;
	return err_set(e, ERR_LIMIT, "with it %zu bytes of state, %zu are the limit",
		       f->state_bytes, f->limits.state_max_bytes);
}

int flow_load(struct flow *f, struct flow_graph *g, nsec_t start, struct err *e)
{
	struct load l = { .f = f, .g = g };
	struct fmeas old;
	int rc = flow_graph_verify(g, e);

	if (!rc && f->used + g->nnode > f->limits.nodes_max)
		rc = err_set(e, ERR_LIMIT, "with it %zu nodes, %zu are the limit",
			     f->used + g->nnode, f->limits.nodes_max);
	if (!rc)
		rc = begin(&l, start, e);
	if (rc)
		return rc;
	flow_settle_if_needed(f);
	if (load_nodes(&l) || reserve(f))
		rc = err_nomem(e);
	else
		rc = within_limits(f, e);
	if (rc) {
		let_go(f, &l.fresh);
		return rc;
	}
	old = f->meas[l.meas];
	f->meas[l.meas] = l.fresh;
	let_go(f, &old);
	rewire(f);
	return 0;
}

static bool has_any(const struct flow *f)
{
	for (size_t i = 0; i < f->nmeas; i++)
		if (f->meas[i].id)
			return true;
	return false;
}

void flow_remove(struct flow *f, uint32_t measurement)
{
	struct fmeas *m = flow_meas(f, measurement);

	if (!m)
		return;
	let_go(f, m);
	*m = (struct fmeas){ 0 };
	if (has_any(f))
		rewire(f);
	else
		restart(f);
}
