/* SPDX-License-Identifier: Apache-2.0 */
#include "lm/announce.h"

#include "common/base/array.h"
#include "common/base/limits.h"
#include "common/base/str.h"
#include "common/loop/loop.h"
#include "common/time/timebase.h"

#include <stdlib.h>
#include <string.h>

/* A change that is announced at the end of the turn; for a process only that it was removed. */
struct change {
	struct token token, parent;
	int32_t tid;
	bool is_gone;
};

struct announce {
	struct announce_conf conf;
	struct procs_listener listener;
	struct loop_job job;
	struct loop_timer *retry;
	/*
	 * owned: threads that started and ended and processes that were removed, in the order of
	 * the changes
	 */
	struct change *change;
	size_t n, cap;
	bool is_up, wants_all;
	struct buf services; /* of plug-ins */
};

/* A message under construction. */
struct part {
	struct announce *d;
	struct msg_object object[ANNOUNCE_PART_MAX];
	size_t n;
	bool is_full;
	int rc;
};

static const char *flavour_name(uint32_t flavour)
{
	switch (flavour) {
	case SEG_FLAVOUR_OPENMPI:
		return "openmpi";
	case SEG_FLAVOUR_MPICH:
		return "mpich";
	default:
		return "";
	}
}

static void send_part(struct part *p, bool more)
{
	struct msg m = { .type = MSG_DIRECTORY,
			 .directory = { .full = p->is_full,
					.node = procs_node(p->d->conf.procs),
					.object = p->object,
					.nobject = p->n,
					.more = more } };

	if (p->is_full && !more)
		m.directory.services = buf_bytes(&p->d->services);
	if (p->rc == 0)
		p->rc = p->d->conf.send(p->d->conf.arg, &m);
	p->n = 0;
}

static struct msg_object *next_object(struct part *p)
{
	struct msg_object *o;

	if (p->n == ANNOUNCE_PART_MAX)
		send_part(p, p->is_full);
	o = &p->object[p->n++];
	*o = (struct msg_object){ .parent = "",
				  .rank = -1,
				  .exit_status = -1,
				  .time_ns = timebase_at(p->d->conf.timebase,
							 loop_now(p->d->conf.loop)) };
	return o;
}

/* Returns the last part of a program's path; the kernel's name if the program has none. */
static const char *name_of(const struct proc *p)
{
	const char *base = str_base_name(p->own.program);

	return base[0] ? base : p->name;
}

static void put_proc(struct part *part, const struct proc *p)
{
	struct msg_object *o = next_object(part);

	o->token = p->token.s;
	o->parent = procs_node_token(part->d->conf.procs);
	o->name = name_of(p);
	o->pid = p->pid;
	o->rank = p->own.rank;
	o->world_size = p->own.world_size;
	o->job = p->own.job;
	o->flavour = flavour_name(p->own.flavour);
	o->state = p->state;
	o->exit_status = p->exit_status;
}

static void put_thread(struct part *part, const struct token *token, const struct token *parent,
		       int32_t tid)
{
	struct msg_object *o = next_object(part);

	o->token = token->s;
	o->parent = parent->s;
	o->pid = tid;
}

static void put_all(struct part *part)
{
	list_each (i, procs_all(part->d->conf.procs)) {
		const struct proc *p = list_entry(i, struct proc, link);

		put_proc(part, p);
		for (size_t k = 0; k < p->nthread; k++)
			put_thread(part, &p->thread[k].token, &p->token, p->thread[k].tid);
	}
}

static void put_changes(struct part *part)
{
	struct announce *d = part->d;

	list_each (i, procs_all(d->conf.procs)) {
		struct proc *p = list_entry(i, struct proc, link);

		if (p->is_news)
			put_proc(part, p);
	}
	for (size_t i = 0; i < d->n; i++) {
		put_thread(part, &d->change[i].token, &d->change[i].parent, d->change[i].tid);
		if (d->change[i].is_gone)
			part->object[part->n - 1].op = MSG_OP_GONE;
	}
}

static void forget_changes(struct announce *d)
{
	d->n = 0;
	list_each (i, procs_all(d->conf.procs))
		list_entry(i, struct proc, link)->is_news = false;
}

static void flush(void *arg)
{
	struct announce *d = arg;
	struct part *part;

	if (!d->is_up)
		return;
	part = calloc(1, sizeof(*part));
	if (part) {
		part->d = d;
		part->is_full = d->wants_all;
		if (d->wants_all)
			put_all(part);
		else
			put_changes(part);
		if (part->n || part->is_full)
			send_part(part, false);
	}
	/* changes without memory are in the next snapshot */
	d->wants_all = !part || part->rc < 0;
	if (d->wants_all)
		loop_timer_arm(d->retry, ANNOUNCE_RETRY_NS);
	forget_changes(d);
	free(part);
}

static void soon(struct announce *d)
{
	if (d->is_up)
		loop_job_post(d->conf.loop, &d->job, flush, d);
}

static void add_change(struct announce *d, const struct change *c)
{
	if (!d->is_up || d->wants_all)
		return;
	if (array_grow(&d->change, &d->cap, d->n + 1, sizeof(*c), OMIS_OBJECTS_MAX))
		d->wants_all = true;
	else
		d->change[d->n++] = *c;
	soon(d);
}

static void on_proc(void *arg, struct proc *p, enum proc_event what)
{
	struct announce *d = arg;

	switch (what) {
	case PROC_BORN:
	case PROC_CHANGED:
	case PROC_RENEWED:
	case PROC_ENDED:
		p->is_news = true;
		soon(d);
		break;
	case PROC_FORGOTTEN:
		add_change(d, &(struct change){ .token = p->token, .is_gone = true });
		break;
	default:
		break;
	}
}

static void on_thread(void *arg, struct proc *p, const struct proc_thread *t, bool is_born)
{
	add_change(arg, &(struct change){ t->token, p->token, t->tid, !is_born });
}

static void on_retry(void *arg)
{
	soon(arg);
}

struct announce *announce_new(const struct announce_conf *c)
{
	struct announce *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->conf = *c;
	buf_init(&d->services, PLUGIN_TEXT_MAX_BYTES);
	d->retry = loop_timer_new(c->loop, on_retry, d);
	if (!d->retry) {
		free(d);
		return NULL;
	}
	d->listener =
		(struct procs_listener){ .on_proc = on_proc, .on_thread = on_thread, .arg = d };
	procs_listen(c->procs, &d->listener);
	return d;
}

void announce_free(struct announce *d)
{
	if (!d)
		return;
	procs_unlisten(&d->listener);
	loop_job_cancel(&d->job);
	loop_timer_free(d->retry);
	free(d->change);
	buf_done(&d->services);
	free(d);
}

int announce_services(struct announce *d, const struct buf *text)
{
	if (d->services.n == text->n && (!text->n || !memcmp(d->services.p, text->p, text->n)))
		return 0;
	buf_clear(&d->services);
	buf_put(&d->services, text->p, text->n);
	if (d->services.failed)
		return -ERR_NOMEM;
	d->wants_all |= d->is_up;
	soon(d);
	return 0;
}

void announce_link(struct announce *d, bool is_up)
{
	d->is_up = is_up;
	d->wants_all = is_up;
	forget_changes(d);
	loop_timer_cancel(d->retry);
	soon(d);
}

void announce_room(struct announce *d)
{
	if (d->wants_all)
		soon(d);
}

void announce_leave(struct announce *d)
{
	struct part *part = d->is_up ? calloc(1, sizeof(*part)) : NULL;
	struct msg_object *o;

	if (!part)
		return;
	part->d = d;
	o = next_object(part);
	o->token = procs_node_token(d->conf.procs);
	o->op = MSG_OP_GONE;
	send_part(part, false);
	free(part);
	announce_link(d, false);
}
