/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/interaction/online/hosts.h"

#include "common/base/buf.h"
#include "tests/unit/interaction/made.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEP 1000 /* ids of sub-tasks of one interaction */
#define HOSTS_MAX 6
#define SITES_MAX 3
#define QUEUE_MAX 16384

static void demand(bool truth, const char *what)
{
	if (truth)
		return;
	fprintf(stderr, "%s\n", what);
	abort();
}

struct message {
	struct buf bytes;
	unsigned from; /* a host, or HOSTS_MAX + a site */
	bool is_again;
};

struct run;

/* The end of a link: where batches of a contractor come from. */
struct link {
	struct run *run;
	unsigned from;
};

struct run {
	const struct hosts_plan *plan;
	struct rng *r;
	struct hosts_world *out;
	struct made made[HOSTS_NETWORKS];
	unsigned host_of[HOSTS_NETWORKS][MADE_MAX]; /* of each row */
	bool is_lost[HOSTS_NETWORKS][MADE_MAX];
	unsigned hosts, sites;
	unsigned site_of[HOSTS_MAX]; /* SITES_MAX: directly below the top */
	struct netonline *host[HOSTS_MAX], *site[SITES_MAX], *top;
	struct link link[HOSTS_MAX + SITES_MAX + 1]; /* the last one: the top */
	struct message queue[QUEUE_MAX];
	size_t nqueue;
	int64_t now;
	unsigned late;
};

/* --- declarations: the same everywhere */

static struct netuse *declare(const struct run *run)
{
	struct netuse *u = netuse_new();
	struct err e;
	uint32_t o[4];

	demand(u, "no memory");
	made_objects(u);
	for (int i = 0; i < 4; i++)
		demand(!netuse_object(u, (char[]){ (char)('a' + i), 0 }, 1, &o[i], &e), e.text);
	demand(!netuse_add_state(u, "ac", (uint32_t[]){ o[0], o[2] }, 2, &e), e.text);
	demand(!netuse_add_state(u, "b", &o[1], 1, &e), e.text);
	demand(!netuse_add_state(u, "c", &o[2], 1, &e), e.text);
	demand(!netuse_add_state(u, "cd", &o[2], 2, &e), e.text);
	if (run->plan->has_members) {
		demand(!netuse_add_member(u, (uint32_t[]){ o[1], o[2] }, 2, &e), e.text);
		demand(!netuse_add_member(u, (uint32_t[]){ o[0], o[3] }, 2, &e), e.text);
	}
	return u;
}

static void note(struct hosts_result *out, const struct network *w, const struct netanalysis *a)
{
	*out = (struct hosts_result){ .fate = HOSTS_WHOLE,
				      .response = a->path.length,
				      .is_unique = a->path.is_unique };
	demand(netuse_states(w->use) == 4, "four states");
	memcpy(out->state, a->spent.state, sizeof(out->state));
}

static size_t network_of(const struct network *w)
{
	return (size_t)(network_id(w, w->v[w->v0].task) / STEP);
}

/* --- off line */

static int on_part(void *arg, const struct netsplit_part *p, struct err *why)
{
	struct run *run = arg;
	struct netanalysis a;
	struct err e = { 0 };

	(void)why;
	if (p->outcome != NETSPLIT_WHOLE || network_build(p->w, &e))
		return 0;
	demand(!netanalysis_run(p->w, &a, &e), e.text);
	demand(!nettotal_add(run->out->off_total, p->name, p->w, &a, &e), e.text);
	if (a.spent.is_member)
		note(&run->out->off[network_of(p->w)], p->w, &a);
	netanalysis_done(&a);
	return 0;
}

/* --- events */

/* An event with its changes of use. */
struct drawn {
	struct network_event ev;
	struct network_use use[8];
};

static void fill_event(const struct run *run, struct netuse *u, size_t i, size_t row,
		       struct drawn *out)
{
	const struct made_event *m = &run->made[i].ev[row];
	struct err e;

	out->ev = (struct network_event){ .t = m->t,
					  .kind = m->kind,
					  .is_message = m->is_message,
					  .blocks = m->blocks,
					  .task = m->task + i * STEP,
					  .other = m->other + i * STEP,
					  .node = run->host_of[i][row],
					  .place = (uint32_t)row + 1,
					  .use = out->use };
	if (run->plan->moves || run->plan->reorders)
		out->ev.t = m->t * 256 + (int64_t)row;
	for (const char *s = m->use; *s; s += strcspn(s, " "), s += *s == ' ') {
		struct network_use *x = &out->use[out->ev.nuse++];

		x->is_child = *s == '>';
		x->is_end = s[x->is_child] == '-';
		demand(!netuse_object(u, s + x->is_child + 1, 1, &x->object, &e), e.text);
	}
}

static const char *name_of(size_t i, char name[16])
{
	snprintf(name, 16, "i%zu", i);
	return name;
}

/* Where sub-tasks are. */
struct homes {
	unsigned home[MADE_MAX], born[MADE_MAX];
	bool is_message[MADE_MAX], is_away[MADE_MAX];
};

/* A message goes anywhere. A thread stays; with `returns`, it may go and come back. */
static unsigned next_home(const struct run *run, struct homes *h, uint64_t task)
{
	unsigned to = (unsigned)rng_below(run->r, run->hosts);

	if (!run->plan->moves || rng_below(run->r, 8))
		return h->home[task];
	if (run->plan->returns)
		return to;
	if (h->is_away[task] || !h->is_message[task] || to == h->born[task])
		return h->home[task];
	h->is_away[task] = true;
	return to;
}

static void place_rows(struct run *run, size_t i)
{
	const struct made *m = &run->made[i];
	unsigned spread = (unsigned)rng_below(run->r, 3); /* 0: all on one host */
	struct homes h = { .home = { 0 } };

	h.home[1] = (unsigned)i % run->hosts;
	for (size_t row = 0; row < m->n; row++) {
		const struct made_event *ev = &m->ev[row];
		uint64_t other = ev->other;

		if (spread)
			h.home[ev->task] = next_home(run, &h, ev->task);
		run->host_of[i][row] = h.home[ev->task];
		run->is_lost[i][row] = run->plan->loses_events && !rng_below(run->r, 150);
		if (ev->kind != NETWORK_FORK)
			continue;
		h.is_message[other] = ev->is_message;
		h.home[other] = h.born[other] = h.home[ev->task];
		if (ev->is_message && spread)
			h.home[other] = (unsigned)rng_below(run->r, run->hosts);
		h.is_away[other] = h.home[other] != h.born[other];
	}
}

static void draw(struct run *run)
{
	const struct hosts_plan *p = run->plan;

	run->hosts = 1 + (unsigned)rng_below(run->r, HOSTS_MAX);
	run->sites = (unsigned)rng_below(run->r, SITES_MAX + 1);
	run->late = p->is_late ? (unsigned)rng_below(run->r, run->hosts) : HOSTS_MAX;
	for (unsigned i = 0; i < run->hosts; i++)
		run->site_of[i] = run->sites && rng_below(run->r, 4)
					  ? (unsigned)rng_below(run->r, run->sites)
					  : SITES_MAX;
	for (size_t i = 0; i < HOSTS_NETWORKS; i++) {
		made_draw(&run->made[i], run->r, 5 + (unsigned)rng_below(run->r, 60),
			  (unsigned)rng_below(run->r, 12));
		place_rows(run, i);
	}
}

/* --- links */

static void on_batch(void *arg, struct bytes batch)
{
	const struct link *l = arg;
	struct run *run = l->run;
	int copies = run->plan->repeats && !rng_below(run->r, 5) ? 2 : 1;

	run->out->repeated += copies == 2;
	for (int i = 0; i < copies; i++) {
		struct message *m = &run->queue[run->nqueue++];

		demand(run->nqueue < QUEUE_MAX, "the queue is full");
		*m = (struct message){ .from = l->from,
				       .bytes = BUF_INIT(1u << 20),
				       .is_again = i > 0 };
		buf_put(&m->bytes, batch.p, batch.n);
	}
}

static void on_whole(void *arg, const char *name, const struct network *w,
		     const struct netanalysis *a)
{
	const struct link *l = arg;
	char expected[16];
	size_t i = network_of(w);

	demand(!strcmp(name, name_of(i, expected)), "the name is another one");
	note(&l->run->out->on[i], w, a);
}

static struct netonline *make(struct run *run, unsigned from, bool is_top)
{
	struct netuse *u = declare(run);
	struct netonline_plan plan = {
		.sender = is_top ? 0 : from + 1,
		.is_lowest = from < HOSTS_MAX,
		.most = run->plan->is_small && !is_top ? 40 : NETSPLIT_VERTICES_MAX,
		.idle_ns = run->plan->is_hasty ? (int64_t)rng_below(run->r, 60) : INT64_MAX / 2,
		.age_ns = run->plan->is_hasty ? (int64_t)rng_below(run->r, 300) : INT64_MAX / 2,
		.grace_ns = INT64_MAX,
		.timeout_ns = INT64_MAX / 2,
		.send = is_top ? NULL : on_batch,
		.whole = is_top ? on_whole : NULL,
		.arg = &run->link[from]
	};
	struct netonline *o;
	struct err e;

	run->link[from] = (struct link){ run, from };
	demand(!netonline_new(&u, &plan, &o, &e), e.text);
	return o;
}

static struct netonline *above(const struct run *run, unsigned from)
{
	unsigned site = from < HOSTS_MAX ? run->site_of[from] : SITES_MAX;

	return site == SITES_MAX ? run->top : run->site[site];
}

/* Marks the interactions that had arcs in a lost batch. */
static void note_loss(struct run *run, const struct message *m)
{
	static struct netarc a;
	struct netarc_reader r;
	struct err e;

	demand(!netarc_open(&r, buf_bytes(&m->bytes), 4, &e), e.text);
	while (netarc_next(&r, &a, &e) == 1) {
		run->out->is_hit[a.ev.task / STEP] = true;
		run->out->lost_arcs++;
	}
	run->out->lost++;
}

/* One batch goes up: the first one, or any with reordering. */
static void deliver(struct run *run)
{
	size_t window = run->nqueue < 3 ? run->nqueue : 3;
	size_t i = run->plan->reorders ? rng_below(run->r, window) : 0;
	struct message m = run->queue[i];
	struct err e;

	memmove(run->queue + i, run->queue + i + 1, (--run->nqueue - i) * sizeof(m));
	run->out->sent++;
	if (run->plan->loses_batches && !rng_below(run->r, 10))
		note_loss(run, &m);
	else
		demand(!netonline_take(above(run, m.from), buf_bytes(&m.bytes), &e), e.text);
	buf_done(&m.bytes);
}

/* Batches of the late host wait until the end. */
static bool is_held(const struct run *run)
{
	return run->nqueue && run->queue[0].from == run->late;
}

static void pass_time(struct run *run)
{
	struct err e;

	run->now += (int64_t)rng_below(run->r, 8);
	if (!rng_below(run->r, 4))
		demand(!netonline_tick(run->host[rng_below(run->r, run->hosts)], run->now, &e),
		       e.text);
	if (run->sites && !rng_below(run->r, 8))
		demand(!netonline_tick(run->site[rng_below(run->r, run->sites)], run->now, &e),
		       e.text);
	if (run->nqueue && !is_held(run) && !rng_below(run->r, 3))
		deliver(run);
}

static void finish(struct run *run)
{
	struct err e;

	for (unsigned i = 0; i < run->hosts; i++)
		demand(!netonline_end(run->host[i], &e), e.text);
	while (run->nqueue)
		deliver(run);
	for (unsigned i = 0; i < run->sites; i++)
		demand(!netonline_end(run->site[i], &e), e.text);
	while (run->nqueue)
		deliver(run);
	demand(!netonline_end(run->top, &e), e.text);
}

/* --- the run */

static void give_event(struct run *run, struct netsplit *off, struct netuse *u, size_t i,
		       size_t row)
{
	struct netonline *host = run->host[run->host_of[i][row]];
	struct drawn x = { .use = { { 0 } } };
	char text[16];
	const char *name = NULL;
	struct err e;

	fill_event(run, u, i, row, &x);
	if (x.ev.kind == NETWORK_SOURCE)
		name = name_of(i, text);
	if (run->is_lost[i][row])
		return;
	run->out->events++;
	demand(!netsplit_add(off, &x.ev, name, &e), e.text);
	demand(!netonline_add(host, &x.ev, name, &e), e.text);
}

static void give_events(struct run *run, struct netsplit *off, struct netuse *u)
{
	size_t at[HOSTS_NETWORKS] = { 0 }, left = 0;

	for (size_t i = 0; i < HOSTS_NETWORKS; i++)
		left += run->made[i].n;
	while (left) {
		size_t i = rng_below(run->r, HOSTS_NETWORKS);

		if (at[i] == run->made[i].n)
			continue;
		give_event(run, off, u, i, at[i]++);
		pass_time(run);
		left--;
	}
}

static void clean_up(struct run *run)
{
	for (unsigned i = 0; i < run->hosts; i++)
		netonline_free(run->host[i]);
	for (unsigned i = 0; i < run->sites; i++)
		netonline_free(run->site[i]);
	netonline_free(run->top);
}

void hosts_run(struct hosts_world *out, const struct hosts_plan *plan, struct rng *r)
{
	struct run *run = calloc(1, sizeof(*run));
	struct nettotal *total = calloc(1, sizeof(*total));
	struct netsplit *off;
	struct netuse *u;
	struct err e;

	demand(run && total, "no memory");
	nettotal_init(total);
	*out = (struct hosts_world){ .off_total = total };
	*run = (struct run){ .plan = plan, .r = r, .out = out };
	draw(run);
	u = declare(run);
	off = netsplit_new(u, NETSPLIT_VERTICES_MAX, on_part, run);
	demand(off, "no memory");
	for (unsigned i = 0; i < run->hosts; i++)
		run->host[i] = make(run, i, false);
	for (unsigned i = 0; i < run->sites; i++)
		run->site[i] = make(run, HOSTS_MAX + i, false);
	run->top = make(run, HOSTS_MAX + SITES_MAX, true);
	give_events(run, off, u);
	demand(!netsplit_end(off, &e), e.text);
	finish(run);
	out->report = netonline_report(run->top);
	clean_up(run);
	netsplit_free(off);
	netuse_free(u);
	free(run);
}
