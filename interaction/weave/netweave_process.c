/* SPDX-License-Identifier: Apache-2.0 */
/* Processes: one starts another, becomes another program, ends, and is waited for. */
#include "interaction/weave/internal.h"

#include "common/base/str.h"

#include <stdlib.h>

void weave_spawn(struct netweave *w, struct weave_thread *t, const struct weave_event *ev)
{
	struct weave_thread *c = map_find(&w->threads, ev->other);
	struct weave_uses child = { .n = 0 };
	struct weave_vertex v;

	if (!c || !c->is_unborn)
		return;
	c->is_unborn = false;
	if (c->n)
		weave_wake(w, c);
	if (!t->task)
		return;
	c->task = weave_id(w);
	c->inter = t->inter;
	c->step = t->step;
	c->last = ev->t;
	c->object = t->object;
	str_copy(c->label, sizeof(c->label), t->label);
	if (c->step)
		c->step->inside++;
	weave_use(&child, c->object, false, true);
	v = weave_vertex(t, NETWORK_FORK, ev->t);
	v.is_spawn = true;
	v.other = c->task;
	v.uses = &child;
	weave_put(w, &v);
	t->last = ev->t;
}

void weave_exec(struct netweave *w, struct weave_thread *t, const struct weave_event *ev)
{
	struct weave_uses uses = { .n = 0 };

	if (ev->object == t->object)
		return;
	weave_use(&uses, t->object, true, false);
	weave_use(&uses, ev->object, false, false);
	t->object = ev->object;
	str_copy(t->label, sizeof(t->label), netuse_object_name(w->use, ev->object));
	if (t->task && !t->is_own)
		weave_own_put(w, t, NETWORK_SIMPLE, ev->t, &uses);
}

void weave_exit(struct netweave *w, struct weave_thread *t, int64_t at)
{
	if (t->is_over)
		return;
	t->is_over = true;
	t->end = at > t->last ? at : t->last;
	list_push_back(&w->ended, &t->ended);
}

static void forget(struct netweave *w, struct weave_thread *t)
{
	map_del(&w->threads, t->key);
	list_del(&t->all);
	list_del(&t->held);
	list_del(&t->ready);
	list_del(&t->ended);
	free(t->queue);
	free(t->group);
	free(t);
}

void weave_forget_ended(struct netweave *w, int64_t before)
{
	struct list *at;

	while ((at = list_first(&w->ended))) {
		struct weave_thread *t = list_entry(at, struct weave_thread, ended);

		if (t->end >= before)
			break;
		list_del(&t->ended);
		weave_group_end(w, t);
		weave_leave(w, t, t->end);
		if (!t->n && !t->reaper && !t->is_kept)
			forget(w, t);
	}
}

/* Its last event is not an end: a signal has killed it, or it became a program that is not seen. */
static void put_unseen(struct netweave *w, struct weave_thread *c)
{
	struct weave_uses uses = { .n = 0 };

	w->report.unseen++;
	weave_use(&uses, c->object, true, false);
	weave_use(&uses, w->unseen, false, false);
	c->object = w->unseen;
	weave_own_put(w, c, NETWORK_SIMPLE, c->last, &uses);
}

static void take_task(struct netweave *w, struct weave_thread *t, struct weave_thread *c,
		      int64_t at)
{
	const struct weave_message m = { .id = c->task,
					 .inter = c->inter,
					 .t = c->is_over ? c->end : at,
					 .node = c->node,
					 .is_process = true,
					 .object = c->object };

	if (c->step)
		c->step->inside--;
	c->step = NULL;
	c->task = c->inter = 0;
	weave_group_add(w, t, &m, at);
}

/* The sub-task of the process joins that of t. Without a record of its end, it ends then. */
static void take_end(struct netweave *w, struct weave_thread *t, struct weave_thread *c, int64_t at)
{
	if (!c->is_over)
		put_unseen(w, c);
	take_task(w, t, c, at);
}

bool weave_reap(struct netweave *w, struct weave_thread *t, const struct weave_event *ev)
{
	struct weave_thread *c = map_find(&w->threads, ev->other);

	weave_group_end(w, t);
	if (c && c != t && c->n && !t->is_forced && (!c->reaper || c->reaper == t)) {
		c->reaper = t;
		return false;
	}
	if (c && c->reaper == t)
		c->reaper = NULL;
	if (c)
		weave_group_end(w, c);
	if (c && c != t && !c->n && t->task && c->task && c->inter == t->inter && !c->is_own)
		take_end(w, t, c, ev->t);
	else
		weave_wait_end(w, t, ev->t);
	if (c && c != t && !c->n && !c->is_over)
		weave_exit(w, c, ev->t);
	return true;
}
