/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/stage.h"

#include "common/base/str.h"
#include "common/container/map.h"
#include "common/flow/batch/rest.h"
#include "common/flow/graph/graph_limits.h"
#include "common/omis/text/token.h"

#include <stdlib.h>

struct stage_link {
	char *name; /* owned */
	struct stage_sender *from;
	int64_t last; /* read of its newest batch */
	unsigned missed;
	bool is_open; /* open in the engine */
	uint64_t batches, strays;
};

struct stage_sender {
	char name[TOKEN_BYTES];
	struct stage_link *link; /* owned */
	size_t nlink;
	uint32_t branch;
	int64_t last; /* highest read of which it has sent a batch */
	bool is_old; /* not set since stage_begin() */
	void *user;
};

struct stage {
	uint32_t measurement;
	struct flow *flow; /* NULL: this stage has no graph */
	nsec_t start;
	int64_t read; /* last closed read */
	struct smap senders; /* owned; by name */
	struct smap links; /* links of all senders, by name */
	uint32_t *clock; /* owned; inputs of the graph that get the time of each read */
	size_t nclock;
	size_t nbehind; /* number of awaited links without a batch newer than `read` */
	bool is_counted; /* nbehind is up to date */
};

struct stage *stage_new(uint32_t measurement, int64_t read)
{
	struct stage *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->measurement = measurement;
	s->read = read;
	smap_init(&s->senders);
	smap_init(&s->links);
	return s;
}

/* --- links */

static bool is_awaited(const struct stage_link *l)
{
	return l->is_open && l->from->branch < STAGE_HERE;
}

static bool is_behind(const struct stage *s, const struct stage_link *l)
{
	return is_awaited(l) && l->last <= s->read;
}

static void set_open(struct stage *s, struct stage_link *l, bool is_open)
{
	if (l->is_open == is_open)
		return;
	l->is_open = is_open;
	s->is_counted = false;
	if (s->flow && is_open)
		flow_link_open(s->flow, s->measurement, l->name);
	else if (s->flow)
		flow_link_close(s->flow, s->measurement, l->name);
}

static void free_links(struct stage *s, struct stage_link *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (smap_find(&s->links, v[i].name) == &v[i]) {
			set_open(s, &v[i], false);
			smap_del(&s->links, v[i].name);
		}
		free(v[i].name);
	}
	free(v);
}

/*
 * Adds a link unless it belongs to this or another sender. The previous links are still in the map.
 */
static int add_link(struct stage *s, struct stage_sender *x, const char *name)
{
	struct stage_link *to = &x->link[x->nlink];
	const struct stage_link *old = smap_find(&s->links, name);

	*to = (struct stage_link){ .last = x->last, .from = x };
	if (old && old->from == x)
		*to = *old;
	to->name = str_dup(name);
	if (!to->name)
		return -ERR_NOMEM;
	x->nlink++;
	if (smap_put(&s->links, name, to, NULL))
		return -ERR_NOMEM;
	if (!old || old->from != x)
		set_open(s, to, x->branch != STAGE_NOWHERE);
	return 0;
}

static bool has_links_of(const struct stage_sender *x, const struct flow_graph *g)
{
	size_t n = 0;

	for (size_t i = 0; i < g->nnode; i++)
		if (g->node[i].kind == FLOW_LINK_OUT &&
		    (n == x->nlink || !str_eq(x->link[n++].name, g->node[i].link.name)))
			return false;
	return n == x->nlink;
}

/*
 * Replaces the links of a sender. The previous links are found until then, so that links of the
 * same name continue.
 */
static int set_links(struct stage *s, struct stage_sender *x, const struct flow_graph *g)
{
	struct stage_link *old = x->link;
	size_t nold = x->nlink;
	int rc = 0;

	x->link = calloc(g->nnode + 1, sizeof(*x->link));
	x->nlink = 0;
	for (size_t i = 0; x->link && !rc && i < g->nnode; i++)
		if (g->node[i].kind == FLOW_LINK_OUT)
			rc = add_link(s, x, g->node[i].link.name);
	free_links(s, old, nold);
	s->is_counted = false;
	return x->link ? rc : -ERR_NOMEM;
}

/* --- senders */

static struct stage_sender *sender_new(struct stage *s, const char *name)
{
	struct stage_sender *x = calloc(1, sizeof(*x));

	if (!x)
		return NULL;
	str_copy(x->name, sizeof(x->name), name);
	x->branch = STAGE_NOWHERE;
	if (!smap_put(&s->senders, name, x, NULL))
		return x;
	free(x);
	return NULL;
}

static void sender_free(struct stage *s, struct stage_sender *x)
{
	smap_del(&s->senders, x->name);
	free_links(s, x->link, x->nlink);
	free(x);
	s->is_counted = false;
}

int stage_set_sender(struct stage *s, const char *name, const struct flow_graph *g, void *user)
{
	struct stage_sender *x = smap_find(&s->senders, name);

	if (!x)
		x = sender_new(s, name);
	if (!x)
		return -ERR_NOMEM;
	x->user = user;
	x->is_old = false;
	if (x->link && has_links_of(x, g))
		return 0;
	if (!set_links(s, x, g))
		return 0;
	sender_free(s, x);
	return -ERR_NOMEM;
}

void stage_place_sender(struct stage *s, const char *name, uint32_t branch)
{
	struct stage_sender *x = smap_find(&s->senders, name);

	if (!x || x->branch == branch)
		return;
	x->branch = branch;
	s->is_counted = false;
	for (size_t i = 0; i < x->nlink; i++) {
		x->link[i].missed = 0;
		set_open(s, &x->link[i], branch != STAGE_NOWHERE);
	}
}

void stage_drop_sender(struct stage *s, const char *name)
{
	struct stage_sender *x = smap_find(&s->senders, name);

	if (x)
		sender_free(s, x);
}

void stage_begin(struct stage *s)
{
	struct smap_iter i = { 0 };

	while (smap_next(&s->senders, &i))
		((struct stage_sender *)i.value)->is_old = true;
}

void stage_commit(struct stage *s)
{
	struct smap_iter i = { 0 };

	while (smap_next(&s->senders, &i)) {
		struct stage_sender *x = i.value;

		if (x->is_old)
			sender_free(s, x);
	}
}

void *stage_user(const struct stage *s, const char *link)
{
	const struct stage_link *l = smap_find(&s->links, link);

	return l ? l->from->user : NULL;
}

/* --- the graph */

static bool is_clock(const struct flow_node *n)
{
	return n->kind == FLOW_INPUT && n->source.kind == FLOW_SOURCE_TIME &&
	       n->domain == FLOW_READ;
}

/* Opens those links of a new graph that are open in the stage. */
static void open_links(struct stage *s, const struct flow_graph *g)
{
	for (size_t i = 0; i < g->nnode; i++) {
		const struct stage_link *l;

		if (g->node[i].kind != FLOW_LINK_IN)
			continue;
		l = smap_find(&s->links, g->node[i].link.name);
		if (l && l->is_open)
			flow_link_open(s->flow, s->measurement, g->node[i].link.name);
		else
			flow_link_close(s->flow, s->measurement, g->node[i].link.name);
	}
}

int stage_load(struct stage *s, struct flow *engine, struct flow_graph *g, nsec_t start,
	       struct err *e)
{
	uint32_t *clock = calloc(g->nnode + 1, sizeof(*clock));
	int rc = clock ? flow_load(engine, g, start, e) : err_nomem(e);

	if (rc) {
		free(clock);
		return rc;
	}
	free(s->clock);
	s->clock = clock;
	s->nclock = 0;
	s->flow = engine;
	s->start = start;
	for (uint32_t i = 0; i < g->nnode; i++)
		if (is_clock(&g->node[i]))
			clock[s->nclock++] = flow_input(engine, s->measurement, i);
	open_links(s, g);
	return 0;
}

void stage_unload(struct stage *s)
{
	if (s->flow)
		flow_remove(s->flow, s->measurement);
	s->flow = NULL;
	s->nclock = 0;
}

bool stage_is_loaded(const struct stage *s)
{
	return s->flow;
}

void stage_free(struct stage *s)
{
	struct smap_iter i = { 0 };

	if (!s)
		return;
	stage_unload(s);
	while (smap_next(&s->senders, &i))
		sender_free(s, i.value);
	smap_done(&s->senders);
	smap_done(&s->links);
	free(s->clock);
	free(s);
}

/* --- batches */

static void note(struct stage *s, struct stage_link *l, int64_t read)
{
	bool was = is_behind(s, l);

	l->missed = 0;
	if (read > l->last)
		l->last = read;
	if (read > l->from->last)
		l->from->last = read;
	set_open(s, l, true);
	s->nbehind -= s->is_counted && was && !is_behind(s, l);
}

static int add_one(struct stage *s, struct stage_link *l, const struct flow_batch *b, struct err *e)
{
	int rc = 0;

	l->batches++;
	l->strays += b->read <= l->last;
	note(s, l, b->read);
	if (s->flow)
		rc = flow_take(s->flow, b, e);
	if (rc)
		l->strays++;
	return rc;
}

struct taking {
	struct stage *s;
	struct stage_sender *from;
	struct err *e;
	int rc; /* the first error */
};

static const char *link_at(void *arg, size_t i)
{
	const struct stage_sender *x = ((struct taking *)arg)->from;

	return i < x->nlink ? x->link[i].name : NULL;
}

static bool has_reported(void *arg, const char *link, int64_t read)
{
	const struct stage *s = ((struct taking *)arg)->s;

	return flow_has_taken(s->flow, s->measurement, link, read);
}

static void add_of_rest(void *arg, const struct flow_batch *b)
{
	struct taking *t = arg;
	int rc = add_one(t->s, smap_find(&t->s->links, b->link), b, t->e);

	if (!t->rc)
		t->rc = rc;
}

/* Takes a rest: the sender has no further batch of this read. */
static int add_rest(struct stage *s, struct stage_sender *x, const struct flow_batch *b,
		    struct err *e)
{
	struct taking t = { .s = s, .from = x, .e = e };
	const struct flow_rest_links links = { link_at, has_reported, add_of_rest, &t };

	if (s->flow && flow_rest_apart(b, &links))
		t.rc = err_set(e, ERR_INVALID, "it belongs to other links");
	for (size_t i = 0; i < x->nlink; i++)
		if (x->link[i].last < b->read)
			note(s, &x->link[i], b->read);
	return t.rc;
}

int stage_take(struct stage *s, uint32_t branch, const struct flow_batch *b, struct err *e)
{
	struct stage_link *l = smap_find(&s->links, b->link);

	if (!l || l->from->branch != branch)
		return err_set(e, ERR_NOTFOUND, "no link of that name");
	if (s->flow && b->read > s->read + FLOW_READS_OPEN) {
		l->batches++;
		l->strays++;
		return err_set(e, ERR_INVALID, "too far ahead");
	}
	return b->rest ? add_rest(s, l->from, b, e) : add_one(s, l, b, e);
}

/* --- reads */

static void count_behind(struct stage *s)
{
	struct smap_iter i = { 0 };

	s->nbehind = 0;
	while (smap_next(&s->links, &i))
		s->nbehind += is_behind(s, i.value);
	s->is_counted = true;
}

int64_t stage_complete(struct stage *s)
{
	struct smap_iter i = { 0 };
	int64_t low = INT64_MAX;

	if (!s->is_counted)
		count_behind(s);
	if (s->nbehind)
		return s->read;
	while (smap_next(&s->links, &i)) {
		const struct stage_link *l = i.value;

		if (is_awaited(l) && l->last < low)
			low = l->last;
	}
	return low;
}

static void push_clocks(struct stage *s, int64_t read, nsec_t t)
{
	const struct flow_token now =
		flow_token_make(read, (double)(t - s->start) / (double)NSEC_PER_SEC, 0, t);

	for (size_t i = 0; i < s->nclock; i++)
		flow_push(s->flow, s->clock[i], &now);
}

void stage_pass(struct stage *s, int64_t read)
{
	struct smap_iter i = { 0 };

	while (smap_next(&s->links, &i)) {
		struct stage_link *l = i.value;

		if (is_awaited(l) && l->last < read && ++l->missed >= STAGE_MISSED_MAX)
			set_open(s, l, false);
	}
	s->read = read;
	s->is_counted = false;
}

int stage_read(struct stage *s, int64_t read, nsec_t t, struct err *e)
{
	push_clocks(s, read, t);
	stage_pass(s, read);
	return flow_read(s->flow, s->measurement, read, t, e);
}

/* --- inspection */

void stage_each_link(const struct stage *s,
		     void (*fn)(void *arg, const struct stage_link_counts *l), void *arg)
{
	struct smap_iter i = { 0 };

	while (smap_next(&s->links, &i)) {
		const struct stage_link *l = i.value;

		fn(arg, &(struct stage_link_counts){ l->name, l->from->name, l->is_open, l->batches,
						     l->strays });
	}
}
