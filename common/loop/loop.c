/* SPDX-License-Identifier: Apache-2.0 */
#include "common/loop/internal.h"

#include <assert.h>
#include <event2/event.h>
#include <stdlib.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define VIRTUAL_START_NS NSEC_PER_SEC

static struct loop *loop_alloc(void)
{
	struct loop *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->whole = l->running = l;
	l->timerfd = -1;
	l->pollfd = -1;
	list_init(&l->posts);
	list_init(&l->reaps);
	list_init(&l->fds);
	list_init(&l->signals);
	list_init(&l->parts);
	return l;
}

struct loop *loop_new_virtual(void)
{
	struct loop *l = loop_alloc();

	if (l)
		l->virtual_now = VIRTUAL_START_NS;
	return l;
}

static void on_timerfd(evutil_socket_t fd, short what, void *arg)
{
	struct loop *l = arg;
	uint64_t fired;
	ssize_t n = read(fd, &fired, sizeof(fired));

	(void)n; /* EAGAIN if it was set to a later time meanwhile, which is no problem */
	l->wake_at = 0; /* due timers run at the end of the round */
}

static struct event_base *base_new(void)
{
	struct event_config *conf = event_config_new();
	struct event_base *base = NULL;

	if (!conf)
		return NULL;
	if (!event_config_set_flag(conf, EVENT_BASE_FLAG_NOLOCK) &&
	    !event_config_set_flag(conf, EVENT_BASE_FLAG_IGNORE_ENV))
		base = event_base_new_with_config(conf);
	event_config_free(conf);
	return base;
}

struct loop *loop_new(void)
{
	struct loop *l = loop_alloc();

	if (!l)
		return NULL;
	l->base = base_new();
	l->timerfd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (l->base && l->timerfd >= 0)
		l->timerfd_event =
			event_new(l->base, l->timerfd, EV_READ | EV_PERSIST, on_timerfd, l);
	if (!l->timerfd_event || event_add(l->timerfd_event, NULL)) {
		loop_free(l);
		return NULL;
	}
	return l;
}

static void reaps_run(struct loop *l)
{
	struct list *item;

	while ((item = list_pop_front(&l->reaps))) {
		struct loop_job *j = list_entry(item, struct loop_job, at);

		j->at.next = NULL;
		j->fn(j->arg);
	}
}

void posts_drop(struct list *posts)
{
	struct list *item;

	while ((item = list_pop_front(posts)))
		list_entry(item, struct loop_job, at)->at.next = NULL;
}

void loop_free(struct loop *l)
{
	if (!l)
		return;
	reaps_run(l);
	posts_drop(&l->posts);
	parts_free(l);
	assert(!l->timers && !l->nfds && !l->nsignals);
	if (l->timerfd_event)
		event_free(l->timerfd_event);
	if (l->timerfd >= 0)
		close(l->timerfd);
	if (l->pollfd >= 0)
		close(l->pollfd);
	if (l->base)
		event_base_free(l->base);
	free(l->heap);
	free(l);
}

bool loop_is_virtual(const struct loop *l)
{
	return !l->base;
}

nsec_t loop_now(const struct loop *l)
{
	if (l->whole != l)
		return part_from_whole(l, l->whole->virtual_now);
	return l->base ? clock_mono() : l->virtual_now;
}

void loop_stop(struct loop *l)
{
	l->whole->stopping = true;
	loop_rouse(l->whole);
}

void loop_job_post(struct loop *l, struct loop_job *j, void (*fn)(void *), void *arg)
{
	j->fn = fn;
	j->arg = arg;
	j->loop = l;
	if (j->at.next)
		return;
	list_push_back(loop_held_until(l) ? &l->part.posts : &l->whole->posts, &j->at);
	loop_rouse(l->whole);
}

void loop_job_cancel(struct loop_job *j)
{
	if (!j->at.next)
		return;
	list_del(&j->at);
	j->at.next = NULL;
}

void loop_reap(struct loop *l, struct loop_job *j, void (*free_fn)(void *), void *obj)
{
	assert(!j->at.next);
	j->fn = free_fn;
	j->arg = obj;
	list_push_back(&l->whole->reaps, &j->at);
	loop_rouse(l->whole);
}

/* Runs the posts made before; a post of a post waits for the next turn. */
static void posts_run(struct loop *l)
{
	struct list now;
	struct list *item;
	struct loop *was = l->running;

	list_init(&now);
	list_splice_back(&now, &l->posts);
	while ((item = list_pop_front(&now))) {
		struct loop_job *j = list_entry(item, struct loop_job, at);

		j->at.next = NULL;
		l->called++;
		l->running = j->loop;
		j->fn(j->arg); /* j may be freed, or posted again */
	}
	l->running = was;
}

static void turn_end(struct loop *l)
{
	posts_run(l);
	reaps_run(l);
}

static void timerfd_set(struct loop *l, nsec_t at)
{
	struct itimerspec t = { 0 };

	if (at < 1)
		at = 1; /* 0 would switch the timerfd off */
	t.it_value.tv_sec = at / NSEC_PER_SEC;
	t.it_value.tv_nsec = at % NSEC_PER_SEC;
	if (!timerfd_settime(l->timerfd, TFD_TIMER_ABSTIME, &t, NULL))
		l->wake_at = at;
}

/* Sets the timerfd only to an earlier time: an unnecessary wake-up does no harm. */
static void wake_by(struct loop *l, nsec_t at)
{
	if (at >= 0 && (!l->wake_at || at < l->wake_at))
		timerfd_set(l, at);
}

void loop_rouse(struct loop *l)
{
	if (l->pollfd >= 0 && !l->in_turn)
		wake_by(l, loop_next_at(l));
}

static void timers_run(struct loop *l)
{
	uint64_t last = l->seq;
	nsec_t now = loop_now(l);

	while (timers_run_first(l, now, last))
		;
}

/* limit: latest time to return; < 0: none; 0: do not wait. */
static int turn_real(struct loop *l, nsec_t limit)
{
	bool block = limit && list_is_empty(&l->posts) && list_is_empty(&l->reaps) && !l->stopping;
	int got;

	l->in_turn = true;
	if (block) {
		wake_by(l, limit);
		wake_by(l, loop_next_at(l));
	}
	got = event_base_loop(l->base, EVLOOP_ONCE | (block ? 0 : EVLOOP_NONBLOCK));
	if (l->armed)
		timers_run(l);
	turn_end(l);
	l->in_turn = false;
	loop_rouse(l);
	return got < 0 ? -ERR_SYS : 0;
}

static void turn_virtual(struct loop *l)
{
	fds_poll_virtual(l);
	turn_end(l);
}

int loop_turn(struct loop *l)
{
	uint64_t last = l->seq;

	if (l->base)
		return turn_real(l, 0);
	turn_virtual(l);
	while (timers_run_first(l, l->virtual_now, last))
		turn_end(l);
	return 0;
}

/*
 * Runs everything that is due up to `until`, each callback at its time. Returns false if nothing
 * ran.
 */
static bool run_until(struct loop *l, nsec_t until, bool all)
{
	uint64_t before = l->called;
	nsec_t next;

	do {
		turn_virtual(l);
		next = loop_next_at(l);
		if (next < 0 || next > until)
			break;
		if (next > l->virtual_now)
			l->virtual_now = next;
		if (timers_run_first(l, l->virtual_now, UINT64_MAX))
			turn_end(l);
	} while (!l->stopping && (all || l->called == before));
	return l->called != before;
}

bool loop_advance(struct loop *l, nsec_t by)
{
	nsec_t until = l->virtual_now + by;
	bool ran;

	assert(!l->base && by >= 0);
	ran = run_until(l, until, true);
	if (!l->stopping && l->virtual_now < until)
		l->virtual_now = until;
	l->stopping = false;
	return ran;
}

int loop_wait(struct loop *l, nsec_t max)
{
	nsec_t now = loop_now(l);
	nsec_t limit = max < 0 ? INT64_MAX : max > INT64_MAX - now ? INT64_MAX : now + max;
	uint64_t before = l->called;
	int rc;

	if (!l->base) {
		if (!run_until(l, limit, false) && max > 0)
			l->virtual_now = limit;
		l->stopping = false;
		return 0;
	}
	do
		rc = turn_real(l, limit == INT64_MAX ? -1 : max ? limit : 0);
	while (!rc && l->called == before && !l->stopping && clock_mono() < limit);
	l->stopping = false;
	return rc;
}

int loop_run(struct loop *l)
{
	int rc = 0;

	if (!l->base)
		run_until(l, INT64_MAX, true);
	while (l->base && !l->stopping && !rc)
		rc = turn_real(l, -1);
	l->stopping = false;
	return rc;
}
