/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collective calls. The pivot is the last rank on whose arrival others depend. The others' messages
 * join it at its arrival, and its own messages release them. So a call is a chain of binary joins,
 * and one of forks, at one time. Calls from or to a root have messages of the root only.
 */
#include "common/base/array.h"
#include "interaction/weave/internal.h"

#include <stdlib.h>

struct member {
	struct weave_thread *thread;
	int64_t begin, end;
	int32_t roles;
	bool is_uncertain, is_done;
};

struct meeting {
	struct member *m; /* those of one interaction are together, from `first` on */
	size_t n;
	int64_t foreign; /* begin of the last one on which all depend, outside of the interaction */
};

static bool gives(const struct member *m)
{
	return m->roles & NETWEAVE_GIVES;
}

static bool takes(const struct member *m)
{
	return m->roles & NETWEAVE_TAKES;
}

/* False on one clock: these were different calls. */
static bool reaches(const struct member *from, const struct member *to)
{
	return from->begin <= to->end || from->thread->node != to->thread->node;
}

static struct weave_message send(struct netweave *w, const struct member *from, int64_t at,
				 bool blocks)
{
	struct weave_message m = { .id = weave_id(w),
				   .t = at,
				   .inter = from->thread->inter,
				   .node = from->thread->node,
				   .is_uncertain = from->is_uncertain };

	weave_fork(w, from->thread, &m, blocks);
	return m;
}

static struct member *find_pivot(struct meeting *g)
{
	struct member *last = NULL;

	for (size_t i = 0; i < g->n; i++)
		if (gives(&g->m[i]) && (!last || g->m[i].begin > last->begin))
			last = &g->m[i];
	return last;
}

/* The thread has waited for something outside of the interaction, or for no member of it. */
static void pass(struct netweave *w, const struct member *m)
{
	struct weave_join j = {
		.thread = m->thread, .wait = m->begin, .at = m->end, .foreign = INT64_MAX
	};

	weave_join(w, &j);
}

static void gather_at_pivot(struct netweave *w, struct meeting *g, struct member *pivot)
{
	for (size_t i = 0; i < g->n; i++) {
		struct member *m = &g->m[i];
		struct weave_message sent;

		if (m == pivot || !gives(m))
			continue;
		sent = send(w, m, m->begin, takes(m));
		if (!takes(pivot)) {
			weave_drop(w, &sent);
			continue;
		}
		weave_queue(w, &sent);
		weave_join_put(w, pivot->thread, pivot->begin, sent.id, NULL);
	}
}

static void release_from_pivot(struct netweave *w, struct meeting *g, struct member *pivot)
{
	struct weave_uses uses = { .n = 0 };

	for (size_t i = 0; i < g->n; i++) {
		struct member *m = &g->m[i];
		struct weave_message sent;
		struct weave_join j = { .thread = m->thread,
					.wait = m->begin,
					.at = m->end,
					.m = &sent,
					.n = 1,
					.foreign = INT64_MIN };

		if (m == pivot || !takes(m) || !reaches(pivot, m))
			continue;
		sent = send(w, pivot, pivot->begin, false);
		if (gives(m)) /* its fork has begun the wait */
			weave_join_put(w, m->thread, m->end, sent.id, NULL);
		else
			weave_join(w, &j);
	}
	weave_use(&uses, w->message, false, false);
	weave_own_put(w, pivot->thread, NETWORK_SIMPLE, pivot->begin, &uses);
	uses.op[0].is_end = true;
	weave_own_put(w, pivot->thread, NETWORK_SIMPLE, pivot->end, &uses);
}

static size_t count(const struct meeting *g, int32_t role)
{
	size_t n = 0;

	for (size_t i = 0; i < g->n; i++)
		n += (g->m[i].roles & role) != 0;
	return n;
}

/* To a root. */
static void gather(struct netweave *w, struct meeting *g, struct member *root)
{
	struct weave_join j = {
		.thread = root->thread, .wait = root->begin, .at = root->end, .foreign = INT64_MIN
	};

	j.m = calloc(g->n, sizeof(*j.m));
	if (!j.m) {
		weave_fail(w, -ERR_NOMEM);
		return;
	}
	for (size_t i = 0; i < g->n; i++)
		if (&g->m[i] != root && gives(&g->m[i]) && reaches(&g->m[i], root))
			j.m[j.n++] = send(w, &g->m[i], g->m[i].begin, false);
	weave_join(w, &j);
	free(j.m);
}

static struct member *find_taker(struct meeting *g)
{
	for (size_t i = 0; i < g->n; i++)
		if (takes(&g->m[i]))
			return &g->m[i];
	return NULL;
}

static void meet_all(struct netweave *w, struct meeting *g)
{
	struct member *pivot = find_pivot(g);
	bool is_to_root = count(g, NETWEAVE_TAKES) == 1 && count(g, NETWEAVE_GIVES) >= 1;

	if (pivot && is_to_root && g->foreign <= pivot->begin) {
		gather(w, g, find_taker(g));
	} else if (pivot && g->foreign <= pivot->begin) {
		gather_at_pivot(w, g, pivot);
		release_from_pivot(w, g, pivot);
	} else {
		for (size_t i = 0; i < g->n; i++)
			if (takes(&g->m[i]))
				pass(w, &g->m[i]);
	}
}

/* --- members by interaction */

/* Threads without work get that of a root which sends to all. */
static void adopt_all(struct netweave *w, struct meeting *g)
{
	struct member *root = find_pivot(g);

	if (w->mode != NETWEAVE_REQUEST || count(g, NETWEAVE_GIVES) != 1 || !root->thread->task)
		return;
	for (size_t i = 0; i < g->n; i++) {
		struct member *m = &g->m[i];
		struct weave_message sent;

		if (m == root || !takes(m) || m->thread->is_own || !reaches(root, m) ||
		    m->thread->inter == root->thread->inter)
			continue;
		sent = send(w, root, root->begin, false);
		m->thread->wait = m->begin;
		weave_adopt(w, m->thread, &sent, m->end);
		m->is_done = true;
	}
}

static void meet_of(struct netweave *w, struct meeting *all, size_t first)
{
	uint64_t inter = all->m[first].thread->inter;
	struct meeting g = { .foreign = INT64_MIN };

	g.m = calloc(all->n, sizeof(*g.m));
	if (!g.m) {
		weave_fail(w, -ERR_NOMEM);
		return;
	}
	for (size_t i = 0; i < all->n; i++) {
		struct member *m = &all->m[i];

		if (m->thread->inter != inter) {
			if (gives(m) && m->begin > g.foreign)
				g.foreign = m->begin;
			continue;
		}
		if (!m->is_done)
			g.m[g.n++] = *m;
		m->is_done = true;
	}
	if (g.n && inter)
		meet_all(w, &g);
	free(g.m);
}

static void meet(struct netweave *w, struct meeting *all)
{
	adopt_all(w, all);
	for (size_t i = 0; i < all->n; i++)
		if (!all->m[i].is_done)
			meet_of(w, all, i);
}

/* --- ranks of a call as they arrive */

static void see(const struct meeting *all)
{
	int64_t horizon = INT64_MIN;

	for (size_t i = 0; i < all->n; i++)
		if (gives(&all->m[i]) && all->m[i].thread->horizon > horizon)
			horizon = all->m[i].thread->horizon;
	for (size_t i = 0; i < all->n; i++) {
		weave_see(all->m[i].thread, all->m[i].end);
		if (takes(&all->m[i]))
			weave_see(all->m[i].thread, horizon);
	}
}

static void run(struct netweave *w, struct weave_meet *g)
{
	struct meeting all = { .n = g->n, .foreign = INT64_MIN };

	all.m = calloc(g->n, sizeof(*all.m));
	if (!all.m) {
		weave_fail(w, -ERR_NOMEM);
		return;
	}
	for (size_t i = 0; i < g->n; i++) {
		struct weave_thread *t = g->member[i];
		const struct weave_event *ev = &t->queue[t->first];
		/* without a begin it is not a rank that others waited for */
		int64_t begin = t->wait != INT64_MIN   ? t->wait
				: t->last != INT64_MIN ? t->last
						       : ev->t;

		all.m[i] = (struct member){ .thread = t,
					    .begin = begin > t->last ? begin : t->last,
					    .end = ev->t,
					    .roles = ev->roles,
					    .is_uncertain = ev->is_uncertain };
		w->report.meets++;
		w->report.uncertain += ev->is_uncertain;
	}
	see(&all);
	meet(w, &all);
	free(all.m);
	for (size_t i = 0; i < g->n; i++) {
		struct weave_thread *t = g->member[i];

		t->wait = INT64_MIN;
		t->first++;
		t->n--;
		t->is_forced = t->meets = false;
		weave_wake(w, t);
	}
}

static void meet_free(struct netweave *w, struct weave_meet *g)
{
	map_del(&w->meets, g->id);
	free(g->member);
	free(g);
}

static struct weave_meet *find_meet(struct netweave *w, const struct weave_event *ev)
{
	struct weave_meet *g = map_find(&w->meets, ev->id);

	if (g)
		return g;
	g = weave_make(w, &w->meets, ev->id, sizeof(*g));
	if (!g)
		return NULL;
	g->id = ev->id;
	g->ranks = ev->ranks;
	return g;
}

bool weave_meet(struct netweave *w, struct weave_thread *t, const struct weave_event *ev)
{
	struct weave_meet *g = find_meet(w, ev);

	if (!g)
		return false;
	if (!t->meets) {
		if (array_grow(&g->member, &g->cap, g->n + 1, sizeof(*g->member),
			       NETWEAVE_THREADS_MAX)) {
			weave_fail(w, -ERR_NOMEM);
			return false;
		}
		g->member[g->n++] = t;
		t->meets = true;
	}
	if (g->n < (size_t)(g->ranks > 0 ? g->ranks : 1) && !t->is_forced)
		return false;
	w->report.partial += g->n < (size_t)(g->ranks > 0 ? g->ranks : 1);
	run(w, g);
	meet_free(w, g);
	return true;
}

void weave_meets_free(struct netweave *w)
{
	for (struct map_iter i = { 0 }; map_next(&w->meets, &i);) {
		struct weave_meet *g = i.value;

		free(g->member);
		free(g);
	}
	map_done(&w->meets);
}
