/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An unprivileged process is not notified of another process's threads, or of its stop by others.
 * So they are polled, less often if there are many.
 */
#include "lm/proc/proc.h"

#include "common/base/array.h"
#include "lm/proc/current.h"
#include "lm/proc/proc_internal.h"
#include "lm/proc/tickbase.h"

#include <stdlib.h>
#include <string.h>

static void name_thread(const struct proc *p, struct proc_thread *t)
{
	t->token.s[0] = 0;
	if (p->owner->node)
		token_print_thread(&t->token, p->owner->node, t->id);
}

void procs_name_threads(struct proc *p)
{
	for (size_t i = 0; i < p->nthread; i++)
		name_thread(p, &p->thread[i]);
}

static uint32_t mint_thread_id(const struct proc *p, int32_t tid, uint64_t start)
{
	uint64_t words[4] = { (uint64_t)p->pid, p->start, (uint64_t)tid, start };
	uint32_t id = procs_hash(p->owner, words);

	while (map_find(&p->owner->threads, id)) {
		words[3] += UINT64_C(1) << 48;
		id = procs_hash(p->owner, words);
	}
	return id;
}

/* Without memory a later poll finds the thread. */
static void add_thread(struct proc *p, int32_t tid)
{
	struct proc_thread *t;
	struct host_figures f;
	uint32_t id;

	if (host_thread_figures(p->owner->host, p->pid, tid, HOST_FIGURES_STAT, &f))
		return; /* it has ended already */
	if (array_grow(&p->thread, &p->thread_cap, p->nthread + 1, sizeof(*t), HOST_THREADS_MAX))
		return;
	id = mint_thread_id(p, tid, f.start);
	if (map_put(&p->owner->threads, id, p, NULL))
		return;
	t = &p->thread[p->nthread];
	*t = (struct proc_thread){ .tid = tid, .id = id, .seen = true };
	name_thread(p, t);
	p->nthread++;
	procs_notify_thread(p, t, true);
}

/* Removes a thread from the table, then reports its end from a copy. */
static void del_thread(struct proc *p, size_t at)
{
	struct proc_thread gone = p->thread[at];

	map_del(&p->owner->threads, gone.id);
	p->nthread--;
	memmove(&p->thread[at], &p->thread[at + 1], (p->nthread - at) * sizeof(*p->thread));
	procs_notify_thread(p, &gone, false);
}

void procs_end_threads(struct proc *p)
{
	while (p->nthread)
		del_thread(p, p->nthread - 1);
}

static void poll_threads(struct proc *p)
{
	int32_t tid[HOST_THREADS_MAX];
	size_t n = HOST_THREADS_MAX;

	if (host_threads(p->owner->host, p->pid, tid, &n))
		return; /* the process is ending: its pidfd will report that */
	for (size_t i = 0; i < p->nthread; i++)
		p->thread[i].seen = false;
	for (size_t i = 0; i < n; i++) {
		struct proc_thread *t = (struct proc_thread *)proc_find_tid(p, tid[i]);

		if (t)
			t->seen = true;
		else
			add_thread(p, tid[i]);
	}
	for (size_t i = p->nthread; i-- > 0;)
		if (!p->thread[i].seen)
			del_thread(p, i);
}

/* If a process is suspended, a stop by another program cannot be detected. */
static void poll_state(struct proc *p, const struct host_figures *f)
{
	bool is_stopped = f->state == 'T' || f->state == 't';

	if (p->is_suspended)
		return;
	if (is_stopped != (p->state == MSG_STATE_STOPPED))
		procs_set_stopped(p, is_stopped);
}

void procs_greet(struct proc *p)
{
	segview_scale_set(p->seg, tickbase_scale(p->owner->ticks, p->own.tick_source));
	segview_lm_alive(p->seg, p->owner->epoch);
}

/* Returns true if the segment has new data about its process. */
static bool poll_segment(struct proc *p)
{
	struct seg_own now;

	if (!p->seg)
		return false;
	procs_greet(p);
	if (p->own.state == SEG_FINALIZED)
		return false;
	segview_own(p->seg, &now);
	if (now.state == p->own.state && now.rank == p->own.rank &&
	    now.world_size == p->own.world_size)
		return false;
	p->own = now;
	return true;
}

static void look_at(struct proc *p, bool always)
{
	if (!p->held)
		return;
	current_sample(p, loop_now(p->owner->loop));
	if (poll_segment(p))
		procs_notify(p, PROC_CHANGED);
	if (procs_note_figures(p))
		return;
	poll_state(p, &p->figures);
	/* Only the long poll detects a thread that replaced another one between two polls. */
	if (always || p->owner->thread_interests > 0 || p->figures.threads != (int64_t)p->nthread)
		poll_threads(p);
}

void procs_poll_one(struct proc *p)
{
	look_at(p, true);
}

static bool any_setting_up(const struct procs *s)
{
	list_each (i, &s->all) {
		const struct proc *p = list_entry(i, struct proc, link);

		if (p->held && p->seg && p->own.state == SEG_SETTING_UP)
			return true;
	}
	return false;
}

static nsec_t sample_period(const struct procs *s)
{
	nsec_t slow = (nsec_t)s->alive * PROCS_LOOK_EACH_NS;

	if (s->thread_interests > 0 || any_setting_up(s))
		return PROCS_LOOK_FAST_NS;
	return slow > PROCS_LOOK_MIN_NS ? slow : PROCS_LOOK_MIN_NS;
}

void procs_arm_poll(struct procs *s)
{
	if (s->alive)
		loop_timer_arm(s->look, sample_period(s));
	else
		loop_timer_cancel(s->look);
}

void procs_on_poll(void *arg)
{
	struct procs *s = arg;

	list_each_safe (i, &s->all)
		look_at(list_entry(i, struct proc, link), false);
	procs_arm_poll(s);
}

void procs_watch_threads(struct procs *s, int change)
{
	s->thread_interests += change;
	procs_arm_poll(s);
}
