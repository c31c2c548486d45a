/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/interaction/made.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define USES_MAX 8

const struct made_event made_fig2c[MADE_FIG2C] = {
	{ "v0", 0, NETWORK_SOURCE, 1, 0, false, false, "+cpu +req" },
	{ "vR", 10, NETWORK_FORK, 1, 2, false, false, ">+cpu" },
	{ "v1", 20, NETWORK_FORK, 1, 3, true, false, ">+net" },
	{ "v2", 30, NETWORK_SIMPLE, 3, 0, false, true, "-net +queue" },
	{ "v3", 50, NETWORK_JOIN, 2, 3, false, false, "" },
	{ "vS", 60, NETWORK_SINK, 1, 0, false, false, "" },
	{ "vT", 90, NETWORK_SINK, 2, 0, false, false, "" },
};

static uint32_t declare(struct netuse *u, const char *name, enum netuse_class class)
{
	struct err e = { 0 };
	uint32_t object;

	if (netuse_object(u, name, strlen(name), &object, &e) ||
	    netuse_declare(u, object, class, &e))
		abort();
	return object;
}

void made_fig2c_objects(struct netuse *u)
{
	declare(u, "cpu", NETUSE_LOCAL);
	declare(u, "net", NETUSE_LOCAL);
	declare(u, "queue", NETUSE_LOCAL);
	declare(u, "req", NETUSE_INHERIT);
}

void made_objects(struct netuse *u)
{
	declare(u, "a", NETUSE_LOCAL);
	declare(u, "b", NETUSE_LOCAL);
	declare(u, "c", NETUSE_INHERIT);
	declare(u, "d", NETUSE_INHERIT);
}

int made_add(struct network *w, const struct made_event *m, uint32_t place, struct err *e)
{
	struct network_use use[USES_MAX];
	struct network_event ev = { .name = m->name,
				    .n = m->name ? strlen(m->name) : 0,
				    .t = m->t,
				    .kind = m->kind,
				    .is_message = m->is_message,
				    .blocks = m->blocks,
				    .task = m->task,
				    .other = m->other,
				    .node = NETWORK_NONE,
				    .place = place,
				    .use = use };

	for (const char *s = m->use; s && *s;) {
		size_t n = strcspn(s, " ");
		struct network_use *x = &use[ev.nuse++];

		if (ev.nuse > USES_MAX)
			abort();
		x->is_child = *s == '>';
		s += x->is_child;
		n -= x->is_child;
		x->is_end = *s == '-';
		if (netuse_object(w->use, s + 1, n - 1, &x->object, e))
			abort();
		s += n;
		s += *s == ' ';
	}
	return network_add(w, &ev, e);
}

/* --- random networks */

struct draw {
	struct made *m;
	struct rng *r;
	struct {
		uint64_t id;
		int64_t t;
		int last; /* own event; -1: only its fork */
	} live[MADE_MAX];
	size_t nlive;
	uint64_t ids;
};

static struct made_event *emit(struct draw *d, size_t who, int64_t t, enum network_kind kind)
{
	struct made *m = d->m;
	struct made_event *ev = &m->ev[m->n];

	if (m->n == MADE_MAX)
		abort();
	snprintf(m->name[m->n], sizeof(m->name[0]), "v%zu", m->n);
	*ev = (struct made_event){ .name = m->name[m->n],
				   .t = t,
				   .kind = kind,
				   .task = d->live[who].id,
				   .use = m->use[m->n] };
	m->use[m->n][0] = '\0';
	if (rng_below(d->r, 2))
		snprintf(m->use[m->n], sizeof(m->use[0]), "%c%c", rng_below(d->r, 3) ? '+' : '-',
			 "abcd"[rng_below(d->r, 4)]);
	d->live[who].t = t;
	d->live[who].last = (int)m->n++;
	return ev;
}

static void draw_fork(struct draw *d, size_t who, int64_t t)
{
	struct made_event *ev = emit(d, who, t, NETWORK_FORK);
	char *use = (char *)ev->use;

	ev->other = ++d->ids;
	ev->is_message = rng_below(d->r, 2);
	if (rng_below(d->r, 2))
		snprintf(use + strlen(use), 8, "%s>+%c", *use ? " " : "",
			 "abcd"[rng_below(d->r, 4)]);
	d->live[d->nlive].id = ev->other;
	d->live[d->nlive].t = t;
	d->live[d->nlive++].last = -1;
}

static void block(struct draw *d, size_t who)
{
	if (d->live[who].last < 0)
		emit(d, who, d->live[who].t, NETWORK_SIMPLE);
	d->m->ev[d->live[who].last].blocks = true;
}

static void draw_join(struct draw *d, size_t a, size_t b)
{
	uint64_t how = rng_below(d->r, 12);
	struct made_event *ev;
	int64_t t;

	if (how < 5 || how == 11)
		block(d, a);
	if (how >= 5 && how < 9)
		block(d, b);
	if (how == 11) {
		block(d, b);
		d->m->has_both_blocked = true;
	}
	t = d->live[a].t > d->live[b].t ? d->live[a].t : d->live[b].t;
	ev = emit(d, a, t + (int64_t)rng_below(d->r, 5), NETWORK_JOIN);
	ev->other = d->live[b].id;
	d->live[b] = d->live[--d->nlive];
}

void made_draw(struct made *m, struct rng *r, unsigned steps, unsigned joins)
{
	struct draw d = { .m = m, .r = r, .ids = 1, .nlive = 1 };

	m->n = 0;
	m->has_both_blocked = false;
	d.live[0].id = 1;
	emit(&d, 0, (int64_t)rng_below(r, 100) - 50, NETWORK_SOURCE);
	for (unsigned i = 0; i < steps && d.nlive; i++) {
		size_t who = rng_below(r, d.nlive), other = rng_below(r, d.nlive);
		int64_t t = d.live[who].t + (int64_t)rng_below(r, 6);
		uint64_t kind = rng_below(r, 10);

		if (kind < 4 && d.nlive < 12) {
			draw_fork(&d, who, t);
		} else if (kind < 7 && who != other && joins) {
			draw_join(&d, who, other);
			joins--;
		} else if (kind < 9 || d.nlive == 1) {
			emit(&d, who, t, NETWORK_SIMPLE);
		} else {
			emit(&d, who, t, NETWORK_SINK);
			d.live[who] = d.live[--d.nlive];
		}
	}
	while (d.nlive) {
		emit(&d, 0, d.live[0].t + (int64_t)rng_below(r, 4), NETWORK_SINK);
		d.live[0] = d.live[--d.nlive];
	}
}

void made_add_mixed(struct network *w, const struct made *m, struct rng *r)
{
	bool is_done[MADE_MAX] = { false };
	struct err e = { 0 };

	for (size_t left = m->n; left; left--) {
		size_t pick = rng_below(r, m->n), i;

		while (is_done[pick])
			pick = (pick + 1) % m->n;
		/* the first of that sub-task that is left */
		for (i = 0; is_done[i] || m->ev[i].task != m->ev[pick].task;)
			i++;
		is_done[i] = true;
		if (made_add(w, &m->ev[i], (uint32_t)i + 1, &e)) {
			fprintf(stderr, "%s\n", e.text);
			abort();
		}
	}
}
