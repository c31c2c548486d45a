/* SPDX-License-Identifier: Apache-2.0 */
/* Sub-tasks of threads, and the vertices that they make. */
#include "common/base/str.h"
#include "interaction/weave/internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *weave_make(struct netweave *w, struct map *m, uint64_t key, size_t bytes)
{
	void *made = calloc(1, bytes);

	if (made && !map_put(m, key, made, NULL))
		return made;
	free(made);
	weave_fail(w, -ERR_NOMEM);
	return NULL;
}

uint64_t weave_id(struct netweave *w)
{
	/* Ids of recorders are hashes, too: two are equal with a probability of 2^-63. */
	return (hash_mix64(++w->made ^ UINT64_C(0x6f6d69672d776561)) & INT64_MAX) | 1;
}

void weave_use(struct weave_uses *u, uint32_t object, bool is_end, bool is_child)
{
	if (u->n < USES_MAX && object != NETWORK_NONE)
		u->op[u->n++] = (struct network_use){ object, is_end, is_child };
}

void weave_put(struct netweave *w, const struct weave_vertex *v)
{
	char name[NETWEAVE_LABEL_BYTES + 24];
	struct network_event ev = { .name = name,
				    .t = v->t,
				    .kind = v->kind,
				    .is_message =
					    v->kind == NETWORK_FORK && v->thread && !v->is_spawn,
				    .blocks = v->blocks,
				    .task = v->task,
				    .other = v->other,
				    .node = v->node,
				    .place = (uint32_t)w->vertices + 1,
				    .use = v->uses ? v->uses->op : NULL,
				    .nuse = v->uses ? v->uses->n : 0 };

	if (w->rc)
		return;
	ev.n = (size_t)snprintf(name, sizeof(name), "%s.%" PRIu64,
				v->thread ? v->thread->label : "step", ++w->vertices);
	weave_fail(w, w->fn(w->arg, &ev, v->name, w->e));
}

void weave_own_put(struct netweave *w, struct weave_thread *t, enum network_kind kind, int64_t at,
		   const struct weave_uses *uses)
{
	struct weave_vertex v = weave_vertex(t, kind, at);

	v.uses = uses;
	weave_put(w, &v);
	t->last = at;
}

void weave_join_put(struct netweave *w, struct weave_thread *t, int64_t at, uint64_t with,
		    const struct weave_uses *uses)
{
	struct weave_vertex v = weave_vertex(t, NETWORK_JOIN, at);

	v.other = with;
	v.uses = uses;
	weave_put(w, &v);
	t->last = at;
}

/* --- messages */

void weave_fork(struct netweave *w, struct weave_thread *t, const struct weave_message *m,
		bool blocks)
{
	struct weave_uses uses = { .n = 0 };
	struct weave_vertex v = weave_vertex(t, NETWORK_FORK, m->t);

	weave_use(&uses, w->message, false, true);
	if (m->is_uncertain)
		weave_use(&uses, w->uncertain, false, true);
	v.blocks = blocks;
	v.other = m->id;
	v.uses = &uses;
	weave_put(w, &v);
	t->last = m->t;
}

/* A vertex of the message itself. */
static void put_of_message(struct netweave *w, const struct weave_message *m, bool is_queued)
{
	struct weave_uses uses = { .n = 0 };
	const struct weave_thread names = { .label = "message" };

	if (is_queued) {
		weave_use(&uses, m->is_process ? m->object : w->message, true, false);
		weave_use(&uses, w->queued, false, false);
	}
	weave_put(w, &(struct weave_vertex){ .thread = &names,
					     .kind = is_queued ? NETWORK_SIMPLE : NETWORK_SINK,
					     .blocks = is_queued,
					     .t = m->t,
					     .node = m->node,
					     .task = m->id,
					     .uses = &uses });
}

void weave_queue(struct netweave *w, const struct weave_message *m)
{
	put_of_message(w, m, true);
}

/* From here on the kernel passes it on. */
void weave_ended(struct netweave *w, const struct weave_message *m)
{
	struct weave_uses uses = { .n = 0 };
	const struct weave_thread names = { .label = "exit" };

	weave_use(&uses, m->object, true, false);
	weave_use(&uses, w->message, false, false);
	weave_put(w, &(struct weave_vertex){ .thread = &names,
					     .kind = NETWORK_SIMPLE,
					     .t = m->t,
					     .node = m->node,
					     .task = m->id,
					     .uses = &uses });
}

void weave_drop(struct netweave *w, const struct weave_message *m)
{
	if (m->inter)
		put_of_message(w, m, false);
}

/* --- where a thread works */

static void use_here(struct weave_thread *t, struct weave_uses *uses)
{
	weave_use(uses, t->object, false, false);
	for (unsigned i = 0; i < t->nregion; i++)
		weave_use(uses, t->region[i], false, false);
}

void weave_leave(struct netweave *w, struct weave_thread *t, int64_t at)
{
	struct weave_step *s = t->step;

	if (t->is_over)
		at = t->end;
	if (t->task && !t->is_own)
		weave_own_put(w, t, NETWORK_SINK, at > t->last ? at : t->last, NULL);
	if (s && !--s->inside && !s->queued) {
		s->left = w->now;
		list_push_back(&w->idle, &s->idle);
	}
	t->task = t->inter = 0;
	t->step = NULL;
	t->is_own = false;
	t->wait = INT64_MIN;
}

void weave_adopt(struct netweave *w, struct weave_thread *t, const struct weave_message *m,
		 int64_t at)
{
	struct weave_uses uses = { .n = 0 };

	weave_leave(w, t, t->wait);
	t->task = m->id;
	t->inter = m->inter;
	weave_use(&uses, w->message, true, false);
	if (m->is_uncertain)
		weave_use(&uses, w->uncertain, true, false);
	use_here(t, &uses);
	weave_own_put(w, t, NETWORK_SIMPLE, at, &uses);
}

void weave_source(struct netweave *w, struct weave_thread *t, int64_t at, const char *name)
{
	struct weave_uses uses = { .n = 0 };
	struct weave_vertex v;

	weave_leave(w, t, at);
	t->task = t->inter = weave_id(w);
	use_here(t, &uses);
	v = weave_vertex(t, NETWORK_SOURCE, at);
	v.uses = &uses;
	v.name = name;
	weave_put(w, &v);
	t->last = at;
}

void weave_region(struct netweave *w, struct weave_thread *t, const struct weave_event *ev)
{
	struct weave_uses uses = { .n = 0 };
	unsigned i = 0;

	while (i < t->nregion && t->region[i] != ev->object)
		i++;
	if ((i < t->nregion) != ev->is_end || (!ev->is_end && i == NETWEAVE_REGIONS_MAX))
		return;
	if (ev->is_end)
		t->region[i] = t->region[--t->nregion];
	else
		t->region[t->nregion++] = ev->object;
	weave_use(&uses, ev->object, ev->is_end, false);
	if (t->task && !t->is_own)
		weave_own_put(w, t, NETWORK_SIMPLE, ev->t, &uses);
}

/* --- sub-tasks that the program itself begins and ends */

static struct weave_own *own_of(struct netweave *w, uint64_t task, uint64_t inter)
{
	struct weave_own *o = map_find(&w->own, task);

	if (o)
		return o;
	o = weave_make(w, &w->own, task, sizeof(*o));
	if (o)
		o->inter = inter;
	return o;
}

static void forget(struct netweave *w, uint64_t task)
{
	struct weave_own *o = map_del(&w->own, task);

	if (o && o->at) {
		o->at->task = o->at->inter = 0;
		o->at->is_own = false;
	}
	free(o);
}

static void work_for(struct netweave *w, struct weave_thread *t, uint64_t task, int64_t at)
{
	struct weave_own *o = own_of(w, task, task), *was;

	if (!o || o->at == t)
		return;
	if (t->is_own) {
		was = map_find(&w->own, t->task);
		if (was)
			was->at = NULL;
	}
	weave_leave(w, t, at);
	if (o->at) {
		o->at->task = o->at->inter = 0;
		o->at->is_own = false;
	}
	o->at = t;
	t->task = task;
	t->inter = o->inter;
	t->is_own = t->is_kept = true;
}

void weave_own_vertex(struct netweave *w, struct weave_thread *t, const struct weave_event *ev)
{
	if (w->mode != NETWEAVE_REQUEST)
		return;
	work_for(w, t, ev->id, ev->t);
	if (ev->vertex == NETWORK_FORK)
		own_of(w, ev->other, t->inter);
	else if (ev->vertex == NETWORK_JOIN)
		forget(w, ev->other);
	else if (ev->vertex == NETWORK_SINK)
		forget(w, ev->id);
	t->last = ev->t;
}

/* --- steps */

/* Different jobs and names yield different keys, up to 2^-64. */
static uint64_t key_of(const char *job, const char *name)
{
	static const struct hash_key of_steps;

	return hash_mix64(hash_sip13(&of_steps, name, strlen(name))) +
	       hash_sip13(&of_steps, job, strlen(job));
}

struct weave_step *weave_step(struct netweave *w, const char *name,
			      const struct netweave_thread *thread, int64_t at)
{
	uint64_t key = key_of(thread->job, name);
	struct weave_step *s = map_find(&w->steps, key);

	if (s)
		return s;
	s = weave_make(w, &w->steps, key, sizeof(*s));
	if (!s)
		return NULL;
	s->name = str_dup(name);
	if (!s->name) {
		map_del(&w->steps, key);
		free(s);
		weave_fail(w, -ERR_NOMEM);
		return NULL;
	}
	list_init(&s->idle);
	s->key = key;
	s->id = weave_id(w);
	s->begin = at;
	s->node = thread->node;
	weave_put(w, &(struct weave_vertex){ .kind = NETWORK_SOURCE,
					     .t = at,
					     .node = s->node,
					     .task = s->id,
					     .name = s->name });
	return s;
}

void weave_step_close(struct netweave *w, struct weave_step *s)
{
	weave_put(w, &(struct weave_vertex){
			     .kind = NETWORK_SINK, .t = s->begin, .node = s->node, .task = s->id });
	map_del(&w->steps, s->key);
	list_del(&s->idle);
	free(s->name);
	free(s);
}

/* The first thread of a step begins it; the others are late by the time of their first arc. */
void weave_enter(struct netweave *w, struct weave_thread *t, struct weave_step *s, int64_t at)
{
	struct weave_uses child = { .n = 0 }, uses = { .n = 0 };
	struct weave_vertex v = {
		.kind = NETWORK_FORK, .t = s->begin, .node = s->node, .task = s->id, .uses = &child
	};

	weave_leave(w, t, at);
	t->task = weave_id(w);
	t->inter = s->id;
	t->step = s;
	s->inside++;
	s->entered++;
	list_del(&s->idle);
	weave_use(&child, t->object, false, true);
	weave_use(&child, w->before, false, true);
	v.other = t->task;
	weave_put(w, &v);
	weave_use(&uses, w->before, true, false);
	for (unsigned i = 0; i < t->nregion; i++)
		weave_use(&uses, t->region[i], false, false);
	weave_own_put(w, t, NETWORK_SIMPLE, at, &uses);
}
