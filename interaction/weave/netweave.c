/* SPDX-License-Identifier: Apache-2.0 */
#include "interaction/weave/netweave.h"

#include "common/base/array.h"
#include "interaction/weave/internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK_NS (NSEC_PER_SEC / 10) /* of the log: the walk is over all threads that wait */

/* --- made and freed */

static int make_objects(struct netweave *w)
{
	struct {
		uint32_t *into;
		const char *name;
	} const names[] = { { &w->message, "message" },	    { &w->queued, "queued" },
			    { &w->waiting, "wait" },	    { &w->before, "before" },
			    { &w->uncertain, "uncertain" }, { &w->unseen, "unseen" } };
	int rc = 0;

	for (size_t i = 0; i < ARRAY_LEN(names) && !rc; i++)
		rc = netuse_object(w->use, names[i].name, strlen(names[i].name), names[i].into,
				   NULL);
	return rc;
}

struct netweave *netweave_new(struct netuse *use, enum netweave_mode mode, netweave_fn fn,
			      void *arg)
{
	struct netweave *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	*w = (struct netweave){ .use = use, .mode = mode, .fn = fn, .arg = arg, .now = INT64_MIN };
	map_init(&w->threads);
	map_init(&w->messages);
	map_init(&w->meets);
	map_init(&w->steps);
	map_init(&w->own);
	map_init(&w->streams);
	list_init(&w->ended);
	list_init(&w->all);
	list_init(&w->held);
	list_init(&w->ready);
	list_init(&w->idle);
	if (make_objects(w)) {
		netweave_free(w);
		return NULL;
	}
	return w;
}

static void free_map(struct map *m)
{
	for (struct map_iter i = { 0 }; map_next(m, &i);)
		free(i.value);
	map_done(m);
}

void netweave_free(struct netweave *w)
{
	struct list *at;

	if (!w)
		return;
	while ((at = list_pop_front(&w->all))) {
		struct weave_thread *t = list_entry(at, struct weave_thread, all);

		free(t->queue);
		free(t->group);
		free(t);
	}
	for (struct map_iter i = { 0 }; map_next(&w->steps, &i);)
		free(((struct weave_step *)i.value)->name);
	free_map(&w->steps);
	free_map(&w->messages);
	free_map(&w->own);
	weave_meets_free(w);
	weave_streams_free(w);
	map_done(&w->threads);
	free(w);
}

const struct netweave_report *netweave_report(const struct netweave *w)
{
	return &w->report;
}

/* --- threads and their queues */

static struct weave_thread *find_thread(struct netweave *w, const struct netweave_thread *of)
{
	struct weave_thread *t = map_find(&w->threads, of->key);

	if (t)
		return t;
	if (w->threads.n == NETWEAVE_THREADS_MAX) {
		weave_fail(w,
			   err_set(w->e, ERR_LIMIT, "more than %u threads", NETWEAVE_THREADS_MAX));
		return NULL;
	}
	t = weave_make(w, &w->threads, of->key, sizeof(*t));
	if (!t)
		return NULL;
	*t = (struct weave_thread){ .key = of->key,
				    .node = of->node,
				    .object = NETWORK_NONE,
				    .last = INT64_MIN,
				    .wait = INT64_MIN,
				    .horizon = INT64_MIN };
	memcpy(t->label, of->label, sizeof(t->label));
	list_init(&t->held);
	list_init(&t->ready);
	list_init(&t->ended);
	list_push_back(&w->all, &t->all);
	if (*t->label)
		weave_fail(w, netuse_object(w->use, t->label, strlen(t->label), &t->object, w->e));
	return t;
}

/* A consumed front is used again before the array grows. */
static struct weave_event *push(struct netweave *w, struct weave_thread *t)
{
	if (t->first && t->first + t->n == t->cap) {
		memmove(t->queue, t->queue + t->first, t->n * sizeof(*t->queue));
		t->first = 0;
	}
	if (array_grow(&t->queue, &t->cap, t->first + t->n + 1, sizeof(*t->queue),
		       NETWEAVE_QUEUE_MAX)) {
		weave_fail(w, err_set(w->e, ERR_LIMIT, "a thread is more than %u events behind",
				      NETWEAVE_QUEUE_MAX));
		return NULL;
	}
	return &t->queue[t->first + t->n++];
}

/* --- events in the order of their thread */

static void begin(struct netweave *w, struct weave_thread *t, const struct weave_event *ev)
{
	char name[NAME_MAX_BYTES + 24];

	if (ev->step) {
		ev->step->queued--;
		weave_enter(w, t, ev->step, ev->t);
		return;
	}
	snprintf(name, sizeof(name), "%s %" PRIu64, netuse_object_name(w->use, ev->object), ev->id);
	weave_source(w, t, ev->t, name);
}

static bool is_over(const struct weave_thread *t, const struct weave_event *ev)
{
	return ev->kind == NETWEAVE_WAIT || (ev->kind != NETWEAVE_MEET && ev->t > t->wait);
}

/* Returns false if the queue is held. */
static bool run_first(struct netweave *w, struct weave_thread *t)
{
	const struct weave_event ev = t->queue[t->first];
	bool is_mark = ev.kind == NETWEAVE_OTHER || ev.kind == NETWEAVE_SENT;

	if (ev.kind == NETWEAVE_RECEIVE)
		return weave_receive(w, t, &ev);
	if (ev.kind == NETWEAVE_READ)
		return weave_stream_read(w, t, &ev);
	if (ev.kind == NETWEAVE_REAP)
		return weave_reap(w, t, &ev);
	weave_see(t, ev.t);
	if (!is_mark)
		weave_group_end(w, t);
	if (!is_mark && ev.kind != NETWEAVE_END && is_over(t, &ev))
		t->wait = INT64_MIN;
	switch (ev.kind) {
	case NETWEAVE_SEND:
	case NETWEAVE_WRITE:
		weave_send(w, t, &ev);
		break;
	case NETWEAVE_SPAWN:
		weave_spawn(w, t, &ev);
		break;
	case NETWEAVE_EXEC:
		weave_exec(w, t, &ev);
		break;
	case NETWEAVE_EXIT:
		weave_exit(w, t, ev.t);
		break;
	case NETWEAVE_WAIT:
		t->wait = ev.t;
		t->wait_horizon = t->horizon;
		break;
	case NETWEAVE_REGION:
		weave_region(w, t, &ev);
		break;
	case NETWEAVE_BEGIN:
		begin(w, t, &ev);
		break;
	case NETWEAVE_END:
		weave_leave(w, t, ev.t);
		break;
	case NETWEAVE_VERTEX:
		weave_own_vertex(w, t, &ev);
		break;
	default:
		if (t->task && !t->is_own && ev.t > t->last)
			t->last = ev.t;
	}
	return true;
}

static void run_queue(struct netweave *w, struct weave_thread *t)
{
	t->is_unborn = t->is_unborn && !t->is_forced;
	while (t->n && !w->rc && !t->is_unborn) {
		if (t->queue[t->first].kind == NETWEAVE_MEET) {
			weave_group_end(w, t);
			if (!weave_meet(w, t, &t->queue[t->first]))
				break;
			continue;
		}
		if (!run_first(w, t))
			break;
		t->is_forced = false;
		t->first++;
		t->n--;
	}
	if (!t->n)
		t->first = 0;
	if (!t->n && t->reaper)
		weave_wake(w, t->reaper);
	if (t->n && list_is_empty(&t->held))
		list_push_back(&w->held, &t->held);
}

static void run_ready(struct netweave *w)
{
	struct list *at;

	while (!w->rc && (at = list_pop_front(&w->ready)))
		run_queue(w, list_entry(at, struct weave_thread, ready));
}

/* True if the thread waits for what is not in the log: it may be why others wait. */
static bool is_cause(const struct netweave *w, const struct weave_thread *t)
{
	const struct weave_event *ev = &t->queue[t->first];
	const struct weave_message *m =
		ev->kind == NETWEAVE_RECEIVE ? map_find(&w->messages, ev->id) : NULL;

	if (ev->kind == NETWEAVE_READ)
		return weave_stream_is_short(w, ev);
	return m && m->state != WEAVE_READ;
}

/*
 * Returns one that has waited since before that time; NULL: none. Without a cause it is the
 * earliest: the others may wait for it.
 */
static struct weave_thread *find_held(const struct netweave *w, int64_t before)
{
	struct weave_thread *first = NULL;

	list_each (at, &w->held) {
		struct weave_thread *t = list_entry(at, struct weave_thread, held);

		if (t->queue[t->first].t >= before)
			continue;
		if (is_cause(w, t))
			return t;
		if (!first || t->queue[t->first].t < first->queue[first->first].t)
			first = t;
	}
	return first;
}

static void close_idle(struct netweave *w, int64_t before)
{
	struct list *at;

	while (!w->rc && (at = list_first(&w->idle))) {
		struct weave_step *s = list_entry(at, struct weave_step, idle);

		if (s->left >= before)
			break;
		weave_step_close(w, s);
	}
}

/* Releases the threads that have waited long: the other end is not in the log. */
static void release(struct netweave *w, int64_t before)
{
	struct weave_thread *t;

	while (!w->rc && !list_is_empty(&w->held) && (t = find_held(w, before))) {
		t->is_forced = true;
		weave_wake(w, t);
		run_ready(w);
	}
	weave_forget_ended(w, before);
	close_idle(w, before);
}

/* --- events as they are read */

/* Steps without numbers are counted by each thread. */
static void read_begin(struct netweave *w, const struct netweave_thread *thread,
		       const struct netweave_event *ev, struct weave_event *to)
{
	struct weave_thread *t = map_find(&w->threads, thread->key);
	char name[NAME_MAX_BYTES + 24];

	if (w->mode == NETWEAVE_REQUEST) {
		weave_fail(w, netuse_object(w->use, ev->name, ev->n, &to->object, w->e));
		to->id = ev->has_number ? ev->id : ++w->made;
		return;
	}
	snprintf(name, sizeof(name), "%.*s %" PRIu64, (int)ev->n, ev->name,
		 ev->has_number ? ev->id : ++t->begins);
	to->step = weave_step(w, name, thread, ev->t);
	if (!to->step)
		return;
	to->step->queued++;
	list_del(&to->step->idle);
}

/* Each job is one interaction. */
static void enter_job(struct netweave *w, const struct netweave_thread *thread,
		      struct weave_thread *t, int64_t at)
{
	const char *job = *thread->job ? thread->job : "all";
	struct weave_step *s;

	if (w->mode != NETWEAVE_ALL || t->step || t->n || t->is_unborn)
		return;
	s = weave_step(w, job, thread, at);
	if (s)
		weave_enter(w, t, s, at);
}

/* The events of a process wait until the one that starts it has come so far. */
static void read_spawn(struct netweave *w, const struct netweave_thread *thread, uint64_t key)
{
	struct netweave_thread child = *thread;
	struct weave_thread *t;

	if (key == thread->key)
		return;
	child.key = key;
	t = find_thread(w, &child);
	if (!t || t->n)
		return;
	weave_leave(w, t, t->last); /* the number of an earlier one is used again */
	list_del(&t->ended);
	t->is_over = false;
	t->is_unborn = true;
}

/* Some kinds count as soon as they are read. */
static void prepare(struct netweave *w, const struct netweave_thread *thread,
		    struct weave_thread *t, const struct netweave_event *ev, struct weave_event *to)
{
	switch (ev->kind) {
	case NETWEAVE_WRITE:
		to->id = weave_stream_wrote(w, ev->id, ev->other);
		weave_send_read(w, t, to->id, ev->t, to);
		break;
	case NETWEAVE_SEND:
		weave_send_read(w, t, ev->id, ev->t, to);
		break;
	case NETWEAVE_SENT:
		weave_sent_read(w, t, ev);
		break;
	case NETWEAVE_SPAWN:
		read_spawn(w, thread, ev->other);
		break;
	case NETWEAVE_EXEC:
		weave_fail(w, netuse_object(w->use, thread->label, strlen(thread->label),
					    &to->object, w->e));
		break;
	case NETWEAVE_BEGIN:
		read_begin(w, thread, ev, to);
		break;
	case NETWEAVE_REGION:
		weave_fail(w, netuse_object(w->use, ev->name, ev->n, &to->object, w->e));
		break;
	default:
		break;
	}
}

static bool is_step(const struct netweave *w, const struct netweave_event *ev)
{
	return ev->kind == NETWEAVE_BEGIN || ev->kind == NETWEAVE_END ? w->mode != NETWEAVE_ALL
								      : true;
}

static void put(struct netweave *w, const struct netweave_thread *thread,
		const struct netweave_event *ev)
{
	struct weave_thread *t = find_thread(w, thread);
	struct weave_event *to;

	if (!t)
		return;
	enter_job(w, thread, t, ev->t);
	to = is_step(w, ev) ? push(w, t) : NULL;
	if (!to)
		return;
	t->read++;
	weave_check_returned(w, t, ev->t);
	*to = (struct weave_event){ .kind = ev->kind,
				    .vertex = ev->vertex,
				    .t = ev->t,
				    .id = ev->id,
				    .other = ev->other,
				    .ranks = ev->ranks,
				    .roles = ev->roles,
				    .is_uncertain = ev->is_uncertain,
				    .is_unsent = ev->is_unsent,
				    .is_end = ev->is_end };
	prepare(w, thread, t, ev, to);
	if (t->n == 1 || !list_is_empty(&t->ready))
		weave_wake(w, t);
	if (t->watcher)
		weave_wake(w, t->watcher);
	t->watcher = NULL;
}

int netweave_add(struct netweave *w, const struct netweave_thread *thread,
		 const struct netweave_event *ev, struct err *e)
{
	w->e = e;
	w->now = ev->t > w->now ? ev->t : w->now;
	put(w, thread, ev);
	run_ready(w);
	if (w->now > INT64_MIN + NETWEAVE_GRACE_NS &&
	    (uint64_t)w->now - (uint64_t)w->checked > CHECK_NS) {
		w->checked = w->now;
		release(w, w->now - NETWEAVE_GRACE_NS);
	}
	return w->rc;
}

int netweave_end(struct netweave *w, struct err *e)
{
	w->e = e;
	release(w, INT64_MAX);
	list_each (at, &w->all) {
		struct weave_thread *t = list_entry(at, struct weave_thread, all);

		weave_group_end(w, t);
		weave_leave(w, t, t->wait);
	}
	for (struct map_iter i = { 0 }; !w->rc && map_next(&w->messages, &i);) {
		weave_drop(w, i.value);
		w->report.unreceived++;
	}
	release(w, INT64_MAX);
	return w->rc;
}
