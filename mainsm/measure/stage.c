/* SPDX-License-Identifier: Apache-2.0 */
#include "mainsm/measure/stage.h"

#include "common/base/array.h"
#include "common/base/limits.h"
#include "common/base/str.h"
#include "common/container/map.h"
#include "common/flow/graph/graph_limits.h"

#include <stdlib.h>

/* One graph; its state is bounded by what a graph may have, twice while one takes the other's
 * place. */
#define STAGE_LIMITS                                            \
	{                                                       \
		1, 2 * FLOW_NODES_MAX, 2 * FLOW_STATE_MAX_BYTES \
	}

struct stage_link {
	char *name; /* owned */
	uint32_t child;
	int64_t last; /* read of its newest batch */
	unsigned missed;
	bool is_open; /* in the engine */
	bool is_new; /* of the graph that is being loaded */
	uint64_t batches, strays;
};

struct stage {
	uint32_t measurement;
	struct flow *flow;
	nsec_t start;
	struct stage_link *link;
	size_t nlink;
	struct smap by_name; /* -> link, its place + 1 */
	uint32_t *clock; /* nodes that want the time at each read */
	size_t nclock;
};

struct stage *stage_new(uint32_t measurement, const struct flow_out *out)
{
	static const struct flow_limits limits = STAGE_LIMITS;
	struct stage *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	smap_init(&s->by_name);
	s->measurement = measurement;
	s->flow = flow_new(&limits, out);
	if (s->flow)
		return s;
	free(s);
	return NULL;
}

static void free_links(struct stage_link *v, size_t n)
{
	for (size_t i = 0; v && i < n; i++)
		free(v[i].name);
	free(v);
}

void stage_free(struct stage *s)
{
	if (!s)
		return;
	flow_free(s->flow);
	free_links(s->link, s->nlink);
	smap_done(&s->by_name);
	free(s->clock);
	free(s);
}

static struct stage_link *find(const struct stage *s, const char *name)
{
	uintptr_t place = (uintptr_t)smap_find(&s->by_name, name);

	return place ? &s->link[place - 1] : NULL;
}

bool stage_has(const struct stage *s, const char *link)
{
	return find(s, link) != NULL;
}

/* --- loading */

static bool is_clock(const struct flow_node *n)
{
	return n->kind == FLOW_INPUT && n->source.kind == FLOW_SOURCE_TIME &&
	       n->domain == FLOW_READ;
}

struct loading {
	struct stage_link *link;
	struct smap by_name;
	uint32_t *clock;
	size_t nlink, nclock;
};

static int take_link(const struct stage *s, struct loading *l, const char *name)
{
	const struct stage_link *old = find(s, name);
	struct stage_link *to = &l->link[l->nlink];

	*to = old ? *old : (struct stage_link){ .child = STAGE_NOBODY, .is_new = true };
	to->name = str_dup(name);
	if (!to->name)
		return -ERR_NOMEM;
	l->nlink++;
	return smap_put(&l->by_name, name, (void *)(uintptr_t)l->nlink, NULL);
}

static int read_graph(const struct stage *s, const struct flow_graph *g, struct loading *l)
{
	int rc = 0;

	l->link = calloc(g->nnode + 1, sizeof(*l->link));
	l->clock = calloc(g->nnode + 1, sizeof(*l->clock));
	if (!l->link || !l->clock)
		return -ERR_NOMEM;
	for (size_t i = 0; !rc && i < g->nnode; i++) {
		if (g->node[i].kind == FLOW_LINK_IN)
			rc = take_link(s, l, g->node[i].link.name);
		else if (is_clock(&g->node[i]))
			l->clock[l->nclock++] = (uint32_t)i;
	}
	return rc;
}

static void free_loading(struct loading *l)
{
	free_links(l->link, l->nlink);
	smap_done(&l->by_name);
	free(l->clock);
}

/* The engine opens what it loads. */
static void set_open(struct stage *s, struct stage_link *l, bool is_open)
{
	if (l->is_open == is_open)
		return;
	l->is_open = is_open;
	if (is_open)
		flow_link_open(s->flow, s->measurement, l->name);
	else
		flow_link_close(s->flow, s->measurement, l->name);
}

int stage_load(struct stage *s, struct flow_graph *g, nsec_t start, struct err *e)
{
	struct loading l = { 0 }, old = { s->link, s->by_name, s->clock, s->nlink, s->nclock };
	int rc = flow_graph_verify(g, e);

	smap_init(&l.by_name);
	if (!rc && read_graph(s, g, &l))
		rc = err_nomem(e);
	if (!rc)
		rc = flow_load(s->flow, g, start, e);
	if (rc) {
		free_loading(&l);
		return rc;
	}
	s->start = start;
	s->link = l.link;
	s->nlink = l.nlink;
	s->by_name = l.by_name;
	s->clock = l.clock;
	s->nclock = l.nclock;
	for (size_t i = 0; i < s->nlink; i++) {
		if (!s->link[i].is_new)
			continue;
		s->link[i].is_new = false;
		s->link[i].is_open = true;
		set_open(s, &s->link[i], false);
	}
	free_loading(&old);
	return 0;
}

void stage_attach(struct stage *s, const char *link, uint32_t child)
{
	struct stage_link *l = find(s, link);

	if (!l || l->child == child)
		return;
	l->child = child;
	l->missed = 0;
	set_open(s, l, child != STAGE_NOBODY);
}

/* --- reads */

bool stage_has_taken(const struct stage *s, const char *link, int64_t read)
{
	return flow_has_taken(s->flow, s->measurement, link, read);
}

int stage_take(struct stage *s, uint32_t child, const struct flow_batch *b, struct err *e)
{
	struct stage_link *l = find(s, b->link);
	int rc;

	if (!l || l->child != child)
		return err_set(e, ERR_NOTFOUND, "no link of that name");
	l->batches++;
	if (b->read > flow_last_read(s->flow, s->measurement) + FLOW_READS_OPEN) {
		l->strays++;
		return err_set(e, ERR_INVALID, "too far ahead");
	}
	l->missed = 0;
	if (b->read <= l->last)
		l->strays++;
	else
		l->last = b->read;
	set_open(s, l, true);
	rc = flow_take(s->flow, b, e);
	if (rc)
		l->strays++;
	return rc;
}

/* A stage here sends when it is read, just before. */
static bool is_awaited(const struct stage_link *l)
{
	return l->is_open && l->child < STAGE_HERE;
}

bool stage_is_whole(const struct stage *s, int64_t read)
{
	for (size_t i = 0; i < s->nlink; i++)
		if (is_awaited(&s->link[i]) && s->link[i].last < read)
			return false;
	return true;
}

static void push_clocks(struct stage *s, int64_t read, nsec_t t)
{
	struct flow_token now =
		flow_token_make(read, (double)(t - s->start) / (double)NSEC_PER_SEC, 0, t);

	for (size_t i = 0; i < s->nclock; i++)
		flow_push(s->flow, flow_input(s->flow, s->measurement, s->clock[i]), &now);
}

static void count_missed(struct stage *s, int64_t read)
{
	for (size_t i = 0; i < s->nlink; i++) {
		struct stage_link *l = &s->link[i];

		if (is_awaited(l) && l->last < read && ++l->missed >= STAGE_MISSED_MAX)
			set_open(s, l, false);
	}
}

int stage_read(struct stage *s, int64_t read, nsec_t t, struct err *e)
{
	push_clocks(s, read, t);
	count_missed(s, read);
	return flow_read(s->flow, s->measurement, read, t, e);
}

/* --- looking */

int stage_look(const struct stage *s, uint32_t number, struct flow_look *out)
{
	return flow_look(s->flow, s->measurement, number, out);
}

bool stage_link_at(const struct stage *s, size_t i, struct stage_link_look *out)
{
	const struct stage_link *l = &s->link[i];

	if (i >= s->nlink)
		return false;
	*out = (struct stage_link_look){ l->name, l->child, l->is_open && l->child != STAGE_NOBODY,
					 l->batches, l->strays };
	return true;
}
