/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations that processes have posted and not completed. The list costs nothing until a tool's
 * first request switches it on. It begins with the current blocking calls of threads, which the
 * rank always shows. Earlier requests are not known.
 */
#include "lm/service/families.h"

#include "common/base/limits.h"
#include "common/loop/loop.h"
#include "common/ring/calls.h"
#include "common/ring/calls_id.h"
#include "common/time/timebase.h"
#include "lm/proc/current.h"
#include "lm/proc/hooks.h"
#include "lm/proc/tickbase.h"

#include <stdlib.h>

enum {
	QUEUE_MESSAGE = 1 << 0,
	QUEUE_SENDER = 1 << 1,
	QUEUE_SIZE = 1 << 2,
	QUEUE_MONITOR_TAG = 1 << 3,
	QUEUE_RECEIVER = 1 << 4,
	QUEUE_TAG = 1 << 5,
	QUEUE_COMM = 1 << 6,
	QUEUE_CALL = 1 << 7,
	QUEUE_AGE = 1 << 8,
	QUEUE_BEFORE = 1 << 9,
	QUEUE_FLAGS = (1 << 10) - 1, /* flags of an entry */
	QUEUE_CALLS = 1 << 10, /* after the entries: the current calls of threads */
};

/* Calls that post, start and complete; the others have no cost. */
static bool is_needed(const struct call_desc *d)
{
	return ((d->class == CALL_SEND || d->class == CALL_RECV) && d->peer) ||
	       d->class == CALL_COMPLETE;
}

static int want_all(struct proc *p, uint32_t tool)
{
	int rc = 0;

	for (unsigned i = 0; !rc && i < segview_funcs(p->seg); i++)
		if (is_needed(call_get(i)))
			rc = hooks_add_interest(p, HOOKS_TOOL(tool), (int)i, HOOK_QUEUE, 0);
	return rc;
}

/* Called before the list begins: notes the current calls of threads, which it will not contain. */
static int note_before(struct proc *p)
{
	unsigned n = segview_threads(p->seg);
	uint64_t *before = calloc(n ? n : 1, sizeof(*before));
	struct segview_current c;

	if (!before)
		return -ERR_NOMEM;
	p->queue_is_late = false;
	for (unsigned i = 0; i < n; i++) {
		if (!segview_current(p->seg, i, &c))
			continue;
		p->queue_is_late = true;
		before[i] = c.is_inside ? c.number + 1 : 0;
	}
	free(p->queue_before);
	p->queue_before = before;
	return 0;
}

/* Another tool, or a process that called exec, finds or creates a list with a new begin. */
static int watch(struct service_call *c, struct proc *p)
{
	bool is_on = hooks_has(p, HOOK_QUEUE) && segview_posted_is_on(p->seg);
	int rc = want_all(p, c->tool);

	if (!rc && !is_on)
		rc = note_before(p);
	if (rc)
		return rc;
	if (!is_on) {
		segview_posted_start(p->seg);
		p->queue_since = loop_now(c->loop);
	}
	hooks_apply(p, HOOKS_ALL);
	return 0;
}

struct entry {
	struct segview_posted p;
	/* Begun before the list: the size is unknown, and the list's age is a lower bound. */
	bool is_before;
};

struct queue {
	struct entry at[SEG_POSTED + 2 * SEG_THREADS_MAX]; /* a Sendrecv has two */
	size_t n;
};

static int by_age(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return (x->p.ticks > y->p.ticks) - (x->p.ticks < y->p.ticks);
}

/* True: the call sends or receives, and has ended when it returns. */
static bool is_blocking(const struct call_desc *d)
{
	return (d->class == CALL_SEND || d->class == CALL_RECV) && d->peer && d->comm &&
	       d->param[d->nparam - 1].kind != CALL_P_REQUEST;
}

static void add_before(const struct proc *p, const struct segview_current *c, bool is_source,
		       struct queue *q)
{
	int32_t rank = current_world_rank(&p->own, c, is_source ? c->source : c->peer);
	int32_t tag = is_source ? c->source_tag : c->tag;

	if (rank == CALL_PARTNER_NONE)
		return;
	q->at[q->n++] = (struct entry){ .p = { .func = c->func,
					       .is_receive = is_source,
					       .ticks = c->begin,
					       .comm = current_comm(&p->own, c),
					       .tag = tag >= 0 ? tag : -1,
					       .partner = rank,
					       .bytes = -1 },
					.is_before = true };
}

/* Calls that threads were in when the list began, and are still in. */
static void take_before(const struct proc *p, struct queue *q)
{
	unsigned n = segview_threads(p->seg);
	struct segview_current c;

	for (unsigned i = 0; p->queue_before && i < n && i < SEG_THREADS_MAX; i++) {
		const struct call_desc *d;

		if (!segview_current(p->seg, i, &c) || !c.is_inside ||
		    c.number + 1 != p->queue_before[i])
			continue;
		d = call_get(c.func);
		if (!d || !is_blocking(d))
			continue;
		add_before(p, &c, false, q);
		if (d->volume == CALL_V_SENDRECV || d->volume == CALL_V_SENDRECV_REPLACE)
			add_before(p, &c, true, q);
	}
}

/* The oldest first, as a queue is. */
static void take(const struct proc *p, struct queue *q)
{
	q->n = 0;
	take_before(p, q);
	for (unsigned i = 0; i < SEG_POSTED; i++)
		if (segview_posted(p->seg, i, &q->at[q->n].p))
			q->at[q->n++].is_before = false;
	qsort(q->at, q->n, sizeof(q->at[0]), by_age);
}

static double age_s(struct service_call *c, const struct proc *p, const struct entry *e)
{
	uint64_t ticks = e->p.ticks, now = tickbase_now(c->of, p->own.tick_source);
	const struct ticks_scale *s = tickbase_scale(c->of, p->own.tick_source);

	if (e->is_before && !ticks)
		return (double)(loop_now(c->loop) - p->queue_since) / 1e9;
	return now > ticks ? (double)ticks_delta_to_nsec(s, now - ticks) / 1e9 : 0;
}

static void write_entry(struct service_call *c, struct omis_writer *w, const struct proc *p,
			const struct entry *entry)
{
	const struct segview_posted *e = &entry->p;
	const struct call_desc *d = call_get(e->func);
	int64_t flags = call_int(c, 1), partner = e->partner >= 0 ? e->partner : -1;
	bool is_send = d->class == CALL_SEND && !e->is_receive;

	omis_write_list(w);
	if (flags & QUEUE_MESSAGE)
		omis_write_token(w, "u_0");
	if (flags & QUEUE_SENDER)
		omis_write_int(w, is_send ? p->own.rank : partner);
	if (flags & QUEUE_SIZE)
		omis_write_int(w, e->bytes);
	if (flags & QUEUE_MONITOR_TAG)
		omis_write_int(w, 0);
	if (flags & QUEUE_RECEIVER)
		omis_write_int(w, is_send ? partner : p->own.rank);
	if (flags & QUEUE_TAG)
		omis_write_int(w, e->tag >= 0 ? e->tag : -1);
	if (flags & QUEUE_COMM)
		omis_write_int(w, (int64_t)e->comm);
	if (flags & QUEUE_CALL)
		omis_write_string(w, d->name);
	if (flags & QUEUE_AGE)
		omis_write_float(w, age_s(c, p, entry));
	if (flags & QUEUE_BEFORE)
		omis_write_int(w, entry->is_before);
	omis_write_list_end(w);
}

static int add_queue(struct service_call *c, struct proc *p, struct queue *q)
{
	struct buf b = BUF_INIT(FRAME_MAX_BYTES / 2);
	struct omis_writer w = OMIS_WRITER(&b);

	take(p, q);
	omis_write_int(&w, (int64_t)q->n);
	if (call_int(c, 1) & QUEUE_FLAGS)
		for (size_t i = 0; i < q->n; i++)
			write_entry(c, &w, p, &q->at[i]);
	OMIS_WRITE_INTS(&w, timebase_at(c->timebase, p->queue_since),
			(int64_t)segview_posted_lost(p->seg), p->queue_is_late);
	if (call_int(c, 1) & QUEUE_CALLS)
		call_write_calls_now(c, p, true, &w);
	return call_add_values(c, p->token.s, &b);
}

static int serve_one(struct service_call *c, struct proc *p, struct queue *q)
{
	struct err e = { 0 };
	int rc = proc_check_calls(p, &e);

	if (rc)
		return call_add_failure(c, p->token.s, rc, &e);
	rc = watch(c, p);
	return rc ? rc : add_queue(c, p, q);
}

static int serve_queue_get_info(struct service_call *c)
{
	struct queue *q = malloc(sizeof(*q));
	struct objects o = { 0 };
	int rc;

	if (!q)
		return -ERR_NOMEM;
	rc = call_resolve(c, 'p', &o);
	for (size_t i = 0; !rc && i < o.n; i++)
		rc = serve_one(c, o.v[i].proc, q);
	reply_add_time(c->reply, call_now(c), call_now(c));
	objects_done(&o);
	free(q);
	return rc;
}

const struct service queue_services[] = {
	{ "message_queue_get_info", serve_queue_get_info },
	{ NULL, NULL },
};
