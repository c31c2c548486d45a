/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An algorithm of your own: a token travels around a ring. Its holder may do something that only
 * one process may do at a time. When the token is lost, the first process makes another one after
 * ring.timeout. If it does so too early, there are two tokens, which the run detects.
 *
 *	make && omig neko run ring.conf --simulate
 */
#include <omig/neko.h>
#include <string.h>

#define TYPE_TOKEN 1
#define MS INT64_C(1000000)
#define HOUR (INT64_C(3600000) * MS)

enum { ROUND, ALONE };

struct ring {
	nsec_t hold, timeout;
};

static const struct neko_type types[] = { { TYPE_TOKEN, "token" }, { 0, NULL } };

/* Has the token, does what only one may do, and passes it on. */
static int use_token(struct neko_layer *l)
{
	struct ring *r = neko_state(l);
	struct neko_process *p = neko_process(l);
	int rc;

	neko_log(l, "enter", 0);
	rc = neko_sleep(l, r->hold);
	if (rc)
		return rc;
	neko_log(l, "leave", 0);
	return neko_send_to(l, neko_id(p) % neko_count(p) + 1, 0, TYPE_TOKEN, NULL, 0);
}

static void ring_run(struct neko_layer *l)
{
	struct ring *r = neko_state(l);
	int is_first = neko_id(neko_process(l)) == 1, rc;
	struct neko_msg *m;

	if (is_first && use_token(l))
		return;
	for (;;) {
		rc = neko_receive(l, is_first ? r->timeout : -1, &m);
		if (rc == NEKO_CLOSED)
			return;
		if (use_token(l)) /* received, or taken for lost */
			return;
	}
}

static const struct neko_layer_ops ring_ops = {
	.name = "ring",
	.bytes = sizeof(struct ring),
	.types = types,
	.run = ring_run,
};

static int ring_init(struct neko_process *p, struct setup *s, struct err *e)
{
	struct ring *r;
	int rc = neko_push(p, &ring_ops, &r, e);

	if (rc)
		return rc;
	if (neko_count(p) < 2)
		return neko_fail(e, "a ring has two processes or more; raise process.num");
	r->hold = 5 * MS;
	r->timeout = 1000 * MS;
	rc = neko_setup_nsec(s, "ring.hold", 0, HOUR, &r->hold, e);
	return rc ? rc : neko_setup_nsec(s, "ring.timeout", 1, HOUR, &r->timeout, e);
}

/* --- what a run of it measures, and what must hold */

struct watch {
	uint32_t inside; /* the holder of the token; 0: it is on its way */
	nsec_t first_at; /* when process 1 had it last; 0: not yet */
	nsec_t entered_at;
};

static int watch_begin(void *state, uint32_t m)
{
	memset(state, 0, sizeof(struct watch));
	(void)m;
	return 0;
}

static void enter(struct watch *w, struct neko_figures *f, const struct neko_event *v)
{
	if (w->inside)
		neko_broken(f, "processes %u and %u have a token", w->inside, v->process);
	w->inside = v->process;
	w->entered_at = v->at;
	if (v->process != 1)
		return;
	if (w->first_at)
		neko_figure_time(f, ROUND, v->at - w->first_at);
	w->first_at = v->at;
}

static void watch_handle(void *state, struct neko_figures *f, const struct neko_event *v)
{
	struct watch *w = state;

	if (strcmp(v->what, "enter") == 0) {
		enter(w, f, v);
	} else if (strcmp(v->what, "leave") == 0) {
		neko_figure(f, ALONE, (double)(v->at - w->entered_at) / 1e9, 0); /* by one clock */
		w->inside = 0;
	}
}

static const struct neko_row rows[] = { { "round", "s", true }, { "alone", "s", false }, { 0 } };

static const struct neko_measure ring_measure = {
	.name = "ring",
	.rows = rows,
	.bytes = sizeof(struct watch),
	.handle = watch_handle,
	.begin = watch_begin,
};

static const struct neko_kind kinds[] = {
	{ "ring", "passes a token round", ring_init, &ring_measure },
	{ 0 },
};
NEKO_APPLICATION(kinds)
