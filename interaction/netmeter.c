/* SPDX-License-Identifier: Apache-2.0 */
#include "interaction/netmeter.h"

#include <stdlib.h>
#include <string.h>

/* The time in one state: of a sub-task, or of its interaction so far. */
struct clock {
	int64_t entered, spent;
};

/* The meter of one sub-task, which each of its events changes. */
struct meter {
	bool is_member, blocks;
	uint32_t use;
	int64_t at; /* of the last event */
	uint64_t inside; /* states */
};

struct run {
	const struct network *w;
	struct meter *meter; /* of each sub-task */
	struct clock *clock; /* nstate of each sub-task, and of the last sink */
	unsigned nstate;
	uint32_t last; /* the sink with the largest time, sub-task */
	bool is_member;
};

static struct clock *clocks(const struct run *r, uint32_t task)
{
	return r->clock + (size_t)task * r->nstate;
}

/* Begins and ends states by the objects in use. */
static void check_state(const struct run *r, uint32_t task, int64_t now)
{
	struct meter *m = &r->meter[task];
	struct clock *c = clocks(r, task);
	uint64_t holds = netuse_holds(r->w->use, m->use), changed = holds ^ m->inside;

	for (; changed; changed &= changed - 1) {
		int i = __builtin_ctzll(changed);

		if (holds >> i & 1)
			c[i].entered = now;
		else
			c[i].spent += now - c[i].entered;
	}
	m->inside = holds;
	m->is_member |= netuse_is_member(r->w->use, m->use);
}

/* The pieces of a contracted arc replace the states that hold at its tail. */
static void pass_stretch(const struct run *r, const struct network_vertex *v,
			 const struct network_stretch *s)
{
	struct meter *m = &r->meter[v->task];
	struct clock *c = clocks(r, v->task);

	for (uint32_t i = 0; i < s->n; i++) {
		const struct network_piece *p = &r->w->piece[s->first + i];
		uint64_t holds = netuse_holds(r->w->use, p->use);

		m->is_member |= netuse_is_member(r->w->use, p->use);
		for (unsigned k = 0; k < r->nstate; k++)
			c[k].spent +=
				((int64_t)(holds >> k & 1) - (int64_t)(m->inside >> k & 1)) * p->ns;
	}
}

static void copy_clocks(const struct run *r, uint32_t to, uint32_t from)
{
	r->meter[to].inside = r->meter[from].inside;
	if (r->nstate)
		memcpy(clocks(r, to), clocks(r, from), r->nstate * sizeof(struct clock));
}

static void fork_event(const struct run *r, const struct network_vertex *v)
{
	r->meter[v->other] = r->meter[v->task];
	r->meter[v->other].blocks = false;
	r->meter[v->other].at = v->t;
	copy_clocks(r, v->other, v->task);
}

/* Takes over the times of the sub-task that does not wait. */
static void join_event(const struct run *r, const struct network_vertex *v)
{
	struct meter *own = &r->meter[v->task], *ending = &r->meter[v->other];

	own->is_member |= ending->is_member;
	if (own->blocks && (!ending->blocks || ending->at > own->at))
		copy_clocks(r, v->task, v->other);
}

static void sink_event(struct run *r, const struct network_vertex *v, uint32_t at)
{
	const struct network *w = r->w;

	r->is_member |= r->meter[v->task].is_member;
	if (r->last == NETWORK_NONE || network_ends_later(w, at, v->t, r->last, w->v[r->last].t))
		r->last = at;
}

static void event(struct run *r, uint32_t at)
{
	const struct network_vertex *v = &r->w->v[at];
	struct meter *m = &r->meter[v->task];

	if (v->stretch)
		pass_stretch(r, v, network_stretch(r->w, at));
	if (v->kind == NETWORK_FORK)
		fork_event(r, v);
	else if (v->kind == NETWORK_JOIN)
		join_event(r, v);
	m->blocks = v->blocks;
	m->at = v->t;
	m->use = v->use;
	check_state(r, v->task, v->t);
	if (v->kind == NETWORK_FORK) {
		r->meter[v->other].use = v->child_use;
		check_state(r, v->other, v->t);
	} else if (v->kind == NETWORK_SINK) {
		sink_event(r, v, at);
	}
}

/* A state that is open at the last sink ends there. */
static int add_totals(const struct run *r, struct netmeter *m, struct err *e)
{
	const struct network_vertex *f = &r->w->v[r->last];
	const struct meter *own = &r->meter[f->task];
	struct netmeter sum = *m;
	bool is_over = __builtin_add_overflow(sum.sum_response, f->t - r->w->v[r->w->v0].t,
					      &sum.sum_response);

	for (unsigned i = 0; i < r->nstate; i++) {
		const struct clock *c = &clocks(r, f->task)[i];
		int64_t open = own->inside >> i & 1 ? f->t - c->entered : 0;

		is_over |= __builtin_add_overflow(sum.sum_state[i], c->spent + open,
						  &sum.sum_state[i]);
	}
	if (is_over)
		return err_set(e, ERR_LIMIT, "a sum of 2^63 ns or more");
	sum.interactions++;
	*m = sum;
	return 0;
}

int netmeter_run(struct netmeter *m, const struct network *w, struct err *e)
{
	struct run r = { .w = w, .nstate = netuse_states(w->use), .last = NETWORK_NONE };
	int rc = 0;

	r.meter = calloc(w->ntask, sizeof(*r.meter));
	r.clock = calloc(w->ntask * r.nstate + 1, sizeof(*r.clock));
	if (!r.meter || !r.clock)
		rc = err_nomem(e);
	for (uint32_t i = 0; i < w->n && !rc; i++)
		event(&r, i);
	if (!rc && r.is_member)
		rc = add_totals(&r, m, e);
	else if (!rc)
		m->discarded++;
	free(r.meter);
	free(r.clock);
	return rc;
}
