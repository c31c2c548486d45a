/* SPDX-License-Identifier: Apache-2.0 */
#include "interaction/set/netsplit.h"

#include "common/base/array.h"
#include "common/base/limits.h"
#include "common/base/str.h"
#include "common/container/list.h"

#include <stdlib.h>
#include <string.h>

#define SPARE_MAX 64 /* networks whose memory is kept for further interactions */
#define SPARE_VERTICES 4096 /* a larger one is freed */

/* The events of an interaction so far. */
struct part {
	struct list all; /* by the first event */
	struct list over; /* in the queue of parts that seem to be over */
	bool is_wrong;
	int64_t over_at, begun, touched;
	char *name; /* owned; NULL */
	struct err why;
	struct network w;
	uint64_t *extra; /* owned: more sub-tasks of a wrong part, whose events are left out */
	size_t nextra, extra_cap;
};

struct netsplit {
	struct netuse *use;
	size_t most;
	netsplit_fn fn;
	void *arg;
	struct map task; /* id -> part */
	struct list all, over;
	size_t held; /* vertices */
	int64_t now; /* the largest time; live: the caller's */
	int64_t grace;
	bool is_live;
	struct part *spare[SPARE_MAX];
	size_t nspare;
	struct netsplit_report report;
};

struct netsplit *netsplit_new(struct netuse *use, size_t most, netsplit_fn fn, void *arg)
{
	struct netsplit *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	*s = (struct netsplit){ .use = use,
				.most = most,
				.fn = fn,
				.arg = arg,
				.now = INT64_MIN,
				.grace = NETSPLIT_GRACE_NS };
	map_init(&s->task);
	list_init(&s->all);
	list_init(&s->over);
	return s;
}

static void part_free(struct part *p)
{
	network_done(&p->w);
	free(p->name);
	free(p->extra);
	free(p);
}

void netsplit_free(struct netsplit *s)
{
	struct list *at;

	if (!s)
		return;
	while ((at = list_pop_front(&s->all)))
		part_free(list_entry(at, struct part, all));
	while (s->nspare)
		part_free(s->spare[--s->nspare]);
	map_done(&s->task);
	free(s);
}

static struct part *part_new(struct netsplit *s)
{
	struct part *p = s->nspare ? s->spare[--s->nspare] : calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	if (!p->w.use)
		network_init(&p->w, s->use);
	list_init(&p->over);
	p->begun = s->now;
	list_push_back(&s->all, &p->all);
	return p;
}

/* Removes a part; its memory may be used for another one. */
static void drop(struct netsplit *s, struct part *p)
{
	for (size_t i = 0; i < p->w.ntask; i++)
		map_del(&s->task, p->w.task[i].id);
	for (size_t i = 0; i < p->nextra; i++)
		map_del(&s->task, p->extra[i]);
	list_del(&p->all);
	list_del(&p->over);
	s->held -= p->w.n;
	if (s->nspare == SPARE_MAX || p->w.cap > SPARE_VERTICES) {
		part_free(p);
		return;
	}
	network_clear(&p->w);
	free(p->name);
	free(p->extra);
	p->name = NULL;
	p->extra = NULL;
	p->nextra = p->extra_cap = 0;
	p->is_wrong = false;
	s->spare[s->nspare++] = p;
}

static int give(struct netsplit *s, struct part *p, const struct err *why, struct err *e)
{
	struct netsplit_part out = { .name = p->name ? p->name : "", .w = &p->w, .why = why };
	int rc;

	out.outcome = p->is_wrong			? NETSPLIT_WRONG
		      : why || !network_is_whole(&p->w) ? NETSPLIT_INCOMPLETE
							: NETSPLIT_WHOLE;
	s->report.wrong += out.outcome == NETSPLIT_WRONG;
	s->report.incomplete += out.outcome == NETSPLIT_INCOMPLETE;
	s->report.interactions++;
	if (p->is_wrong)
		out.why = &p->why;
	rc = s->fn(s->arg, &out, e);
	drop(s, p);
	return rc;
}

/* --- the part of an event */

static int belongs(struct netsplit *s, struct part *p, uint64_t id)
{
	int rc = map_put(&s->task, id, p, NULL);

	if (!rc && p->is_wrong) {
		rc = array_grow(&p->extra, &p->extra_cap, p->nextra + 1, sizeof(*p->extra),
				NETWORK_VERTICES_MAX);
		if (!rc)
			p->extra[p->nextra++] = id;
	}
	return rc;
}

static void spoil(struct part *p, const struct err *why)
{
	p->is_wrong = true;
	p->why = *why;
	list_del(&p->over);
}

/* All sub-tasks of a part: its events may have been added in part only. */
static int take_ids(struct netsplit *s, struct part *to, const struct part *from)
{
	int rc = 0;

	for (size_t i = 0; i < from->w.ntask && !rc; i++)
		rc = belongs(s, to, from->w.task[i].id);
	for (size_t i = 0; i < from->nextra && !rc; i++)
		rc = belongs(s, to, from->extra[i]);
	return rc;
}

/* Moves the smaller part into the larger one. */
static int unite(struct netsplit *s, struct part **a, struct part *b)
{
	struct part *to = (*a)->w.n >= b->w.n ? *a : b, *from = to == b ? *a : b;
	struct err e = { 0 };
	size_t before = to->w.n;
	int rc = 0;

	if (from->is_wrong)
		spoil(to, &from->why);
	else if (!to->is_wrong)
		rc = network_absorb(&to->w, &from->w, &e);
	if (rc == -ERR_NOMEM)
		return rc;
	if (rc)
		spoil(to, &e);
	rc = take_ids(s, to, from);
	if (rc)
		return rc;
	s->held += to->w.n - before;
	if (!to->name) {
		to->name = from->name;
		from->name = NULL;
	}
	s->held -= from->w.n;
	to->begun = from->begun < to->begun ? from->begun : to->begun;
	from->w.n = from->w.ntask = 0;
	from->nextra = 0;
	list_del(&to->over);
	drop(s, from);
	*a = to;
	return 0;
}

static int find_part(struct netsplit *s, const struct network_event *ev, struct part **out)
{
	bool is_pair = network_is_pair(ev->kind);
	struct part *a = map_find(&s->task, ev->task),
		    *b = is_pair ? map_find(&s->task, ev->other) : NULL;
	int rc = 0;

	if (!a && !b) {
		a = part_new(s);
		if (!a)
			return -ERR_NOMEM;
	}
	*out = a ? a : b;
	if (a && b && a != b)
		rc = unite(s, out, b);
	if (!rc && !map_find(&s->task, ev->task))
		rc = belongs(s, *out, ev->task);
	if (!rc && is_pair && !map_find(&s->task, ev->other))
		rc = belongs(s, *out, ev->other);
	return rc;
}

/* --- events that are there twice */

static uint32_t find_same(const struct network *w, const struct network_event *ev)
{
	bool is_pair = network_is_pair(ev->kind);
	void *known = map_find(&w->ids, is_pair ? ev->other : ev->task);
	char name[NAME_MAX_BYTES + 1];
	uint32_t v = NETWORK_NONE;

	if (ev->name && ev->n < sizeof(name)) {
		memcpy(name, ev->name, ev->n);
		name[ev->n] = '\0';
		return network_find(w, name);
	}
	if (known && (ev->kind == NETWORK_SOURCE || ev->kind == NETWORK_FORK))
		v = w->task[(uintptr_t)known - 1].creator;
	else if (known && (ev->kind == NETWORK_SINK || ev->kind == NETWORK_JOIN))
		v = w->task[(uintptr_t)known - 1].ender;
	return v;
}

static bool is_repeated(const struct network *w, const struct network_event *ev)
{
	uint32_t at = find_same(w, ev);
	const struct network_vertex *v = at == NETWORK_NONE ? NULL : &w->v[at];

	return v && v->t == ev->t && v->kind == ev->kind && v->node == ev->node &&
	       network_id(w, v->task) == ev->task &&
	       (v->other == NETWORK_NONE || network_id(w, v->other) == ev->other);
}

/* --- interactions that are over */

static int give_over(struct netsplit *s, bool is_all, struct err *e)
{
	struct list *at;
	int rc = 0;

	while (!rc && (at = list_first(&s->over))) {
		struct part *p = list_entry(at, struct part, over);
		int64_t age;

		if (__builtin_sub_overflow(s->now, p->over_at, &age))
			age = INT64_MAX;
		if (!is_all && age <= s->grace)
			break;
		rc = give(s, p, NULL, e);
	}
	return rc;
}

/* Makes room: gives out completed interactions, or else the oldest one, incomplete. */
static int make_room(struct netsplit *s, struct err *e)
{
	struct err why = { 0 };
	int rc = give_over(s, s->held >= s->most, e);

	if (rc || s->held < s->most)
		return rc;
	err_set(&why, ERR_LIMIT, "more than %zu events of open interactions", s->most);
	return give(s, list_entry(list_first(&s->all), struct part, all), &why, e);
}

static int note_name(struct part *p, const char *name)
{
	if (!name || !*name || p->name)
		return 0;
	p->name = str_dup(name);
	return p->name ? 0 : -ERR_NOMEM;
}

static int add(struct netsplit *s, struct part *p, const struct network_event *ev)
{
	struct err why = { 0 };
	int rc = p->is_wrong ? 0 : network_add(&p->w, ev, &why);

	p->touched = s->now;
	if (rc == -ERR_EXISTS && is_repeated(&p->w, ev)) {
		s->report.repeated++;
		return 0;
	}
	if (rc == -ERR_NOMEM)
		return rc;
	if (rc) {
		spoil(p, &why);
		rc = belongs(s, p, ev->task);
		return rc || !network_is_pair(ev->kind) ? rc : belongs(s, p, ev->other);
	}
	s->report.events++;
	s->held += !p->is_wrong;
	list_del(&p->over);
	if (!p->is_wrong && network_is_whole(&p->w)) {
		p->over_at = s->now;
		list_push_back(&s->over, &p->over);
	}
	return 0;
}

int netsplit_add(struct netsplit *s, const struct network_event *ev, const char *name,
		 struct err *e)
{
	struct part *p;
	int rc;

	if (!s->is_live && ev->t > s->now)
		s->now = ev->t;
	rc = find_part(s, ev, &p);
	rc = rc ? rc : note_name(p, name);
	rc = rc ? rc : add(s, p, ev);
	return rc ? err_set(e, (enum err_code) - rc, "no room for more interactions")
		  : make_room(s, e);
}

int netsplit_end(struct netsplit *s, struct err *e)
{
	struct list *at;
	int rc = 0;

	while (!rc && (at = list_first(&s->all)))
		rc = give(s, list_entry(at, struct part, all), NULL, e);
	return rc;
}

void netsplit_live(struct netsplit *s, int64_t grace_ns)
{
	s->is_live = true;
	s->grace = grace_ns;
	s->now = 0;
}

int netsplit_tick(struct netsplit *s, int64_t now, struct err *e)
{
	s->now = now;
	return give_over(s, false, e);
}

int netsplit_give_older(struct netsplit *s, int64_t idle, int64_t begun, struct err *e)
{
	int rc = 0;

	list_each_safe (at, &s->all) {
		struct part *p = list_entry(at, struct part, all);

		if (!rc && (p->touched <= idle || p->begun <= begun))
			rc = give(s, p, NULL, e);
	}
	return rc;
}

size_t netsplit_held(const struct netsplit *s)
{
	return s->held;
}

const struct netsplit_report *netsplit_report(const struct netsplit *s)
{
	return &s->report;
}
