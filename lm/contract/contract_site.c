/* SPDX-License-Identifier: Apache-2.0 */
/* Vertices of one process. */
#include "lm/contract/contract.h"

#include "common/time/timebase.h"
#include "lm/instrument/events.h"
#include "lm/proc/tickbase.h"

#include <stdlib.h>

struct contract_site {
	struct csr_site *site;
	unsigned nlooked; /* types of events that were examined */
	bool asked[SEG_EVENTS];
	uint64_t lost[SEG_EVENTS]; /* as seen last */
};

static struct contract_site *own(const struct csr_site *s)
{
	return s->own;
}

static struct contract *of(const struct csr_site *s)
{
	return s->csr->own;
}

/* Switches on the types of vertices that the process has announced since the last call. */
static void ask_events(struct contract_site *x)
{
	struct proc *p = x->site->proc;
	unsigned n = events_poll(p), first = x->nlooked;

	for (; x->nlooked < n && x->nlooked < SEG_EVENTS; x->nlooked++) {
		const struct evtype *t = events_type(p, x->nlooked);

		if (!t || !netlog_is_vertex(t->name))
			continue;
		x->asked[x->nlooked] = true;
		x->lost[x->nlooked] = segview_event_lost(p->seg, x->nlooked);
		events_add_interest(p, x->nlooked, 1);
	}
	if (first < x->nlooked)
		events_notify(p);
}

static int watch(struct csr_site *s, uint32_t bits)
{
	struct contract_site *x = calloc(1, sizeof(*x));

	(void)bits;
	if (!x)
		return -ERR_NOMEM;
	s->own = x;
	x->site = s;
	list_push_back(&s->proc->followers, &s->following);
	ask_events(x);
	return 0;
}

static void note_lost(struct contract_site *x)
{
	struct proc *p = x->site->proc;

	for (unsigned i = 0; p->seg && i < x->nlooked; i++) {
		uint64_t lost = x->asked[i] ? segview_event_lost(p->seg, i) : 0;

		if (lost <= x->lost[i])
			continue;
		netonline_lose(of(x->site)->online, lost - x->lost[i]);
		x->lost[i] = lost;
	}
}

void contract_note_losses(struct csr *c)
{
	list_each (i, &c->sites) {
		const struct csr_site *s = list_entry(i, struct csr_site, link);

		if (s->own)
			note_lost(own(s));
	}
}

/* Another process sends the next batches. Without one, the remaining arcs are sent now. */
static void pass_on(struct csr_site *s)
{
	struct contract *c = of(s);
	struct err e;

	if (c->proc && c->proc != s->proc)
		return;
	c->proc = s->proc;
	list_each (i, &s->csr->sites) {
		const struct csr_site *other = list_entry(i, struct csr_site, link);

		if (other != s && other->own)
			c->proc = other->proc;
	}
	if (c->proc == s->proc) {
		netonline_end(c->online, &e);
		c->proc = NULL;
	}
}

static void unwatch(struct csr_site *s)
{
	struct contract_site *x = own(s);

	if (!x)
		return;
	s->own = NULL;
	list_del(&s->following);
	note_lost(x);
	for (unsigned i = 0; i < x->nlooked; i++)
		if (x->asked[i])
			events_add_interest(s->proc, i, -1);
	events_notify(s->proc);
	pass_on(s);
	free(x);
}

/* Returns the wall time by the clock of the system. */
static nsec_t time_of(const struct csr_site *s, uint64_t ticks)
{
	const struct csrs_conf *conf = &s->csr->owner->conf;
	struct ticks_scale scale = *tickbase_scale(conf->ticks, s->proc->own.tick_source);

	scale.base_ns = timebase_at(conf->timebase, scale.base_ns);
	return ticks_to_nsec(&scale, ticks);
}

static void take(struct csr_site *s, const struct event *ev)
{
	struct contract *c = of(s);
	struct err e = { 0 };
	int got = netlog_vertex(&c->log, c->use, ev, &e);

	c->proc = s->proc;
	if (got == 1) {
		c->log.vertex.name = NULL;
		c->log.vertex.node = procs_node(s->csr->owner->conf.procs);
		got = netonline_add(c->online, &c->log.vertex, c->log.interaction, &e);
	}
	if (got < 0) /* it lacks a field, or there is no room for it */
		netonline_lose(c->online, 1);
}

static void on_event(struct csr_site *s, const struct segview_event *e)
{
	struct contract_site *x = own(s);
	struct evvalue value[EV_FIELDS_MAX];
	struct event ev = { .value = value, .ticks = e->ticks };

	if (e->number >= SEG_EVENTS || !x->asked[e->number])
		return;
	ev.type = events_type(s->proc, e->number);
	if (!ev.type || !evtype_get_fields(ev.type, e->value, e->n, value)) {
		netonline_lose(of(s)->online, 1); /* the program has overwritten its own memory */
		return;
	}
	ev.wall_ns = time_of(s, e->ticks);
	take(s, &ev);
}

static void on_poll(struct csr_site *s, nsec_t now)
{
	struct contract_site *x = own(s);
	struct contract *c = of(s);
	struct err e;

	if (s->proc->seg && segview_event_count(s->proc->seg) > x->nlooked)
		ask_events(x);
	if (now - c->ticked < CONTRACT_TICK_NS)
		return;
	contract_note_losses(s->csr);
	c->ticked = now;
	c->proc = c->proc ? c->proc : s->proc;
	netonline_tick(c->online, now, &e);
}

/* Library calls are not vertices, and this source stores no place in a ring. */
static void on_call(struct csr_site *s, const struct ring_call *r)
{
	(void)s;
	(void)r;
}

static void on_taken(struct csr_site *s, unsigned thread)
{
	(void)s;
	(void)thread;
}

static bool find(struct csr_site *s)
{
	(void)s;
	return true;
}

const struct site_ops contract_site = { .find = find,
					.watch = watch,
					.unwatch = unwatch,
					.on_call = on_call,
					.on_event = on_event,
					.on_taken = on_taken,
					.on_poll = on_poll };
