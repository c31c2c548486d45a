/* SPDX-License-Identifier: Apache-2.0 */
/* The current calls of processes. Needs no hook. */
#include "lm/service/families.h"

#include "common/base/limits.h"
#include "common/loop/loop.h"
#include "common/ring/calls.h"
#include "lm/proc/current.h"
#include "lm/proc/tickbase.h"

static void write_one(struct omis_writer *w, const struct proc *p, const struct current *c)
{
	const struct call_desc *d = call_get(c->call.func);

	omis_write_list(w);
	omis_write_int(w, c->tid);
	omis_write_string(w, d->name);
	omis_write_string(w, call_class_name(d->class));
	omis_write_int(w, c->state);
	omis_write_float(w, (double)c->since * 1e-9);
	OMIS_WRITE_INTS(w, c->is_exact, c->partner, d->tag && c->call.tag >= 0 ? c->call.tag : -1,
			d->comm ? (int64_t)current_comm(&p->own, &c->call) : 0,
			(int64_t)c->call.number, current_source(&p->own, &c->call),
			current_source_tag(&c->call), current_is_of_world(&p->own, &c->call));
	omis_write_list_end(w);
}

void call_write_calls_now(struct service_call *c, struct proc *p, bool is_under_way,
			  struct omis_writer *w)
{
	const struct current_moment now = { .time = loop_now(c->loop),
					    .ticks = tickbase_now(c->of, p->own.tick_source),
					    .scale = tickbase_scale(c->of, p->own.tick_source) };
	struct current one;

	current_sample(p, now.time);
	for (unsigned i = 0; i < segview_threads(p->seg); i++)
		if (current_get(p, i, &now, &one) && call_get(one.call.func) &&
		    !(is_under_way && one.state == CURRENT_OUT))
			write_one(w, p, &one);
}

static int add_calls(struct service_call *c, struct proc *p)
{
	struct buf b = BUF_INIT(FRAME_MAX_BYTES / 2);
	struct omis_writer w = OMIS_WRITER(&b);

	omis_write_int(&w, call_now(c));
	omis_write_string(&w, p->own.job);
	omis_write_int(&w, p->own.rank);
	omis_write_int(&w, p->own.world_size);
	call_write_calls_now(c, p, false, &w);
	return call_add_values(c, p->token.s, &b);
}

static int serve_one(struct service_call *c, const struct object *o)
{
	struct err e = { 0 };
	int rc = proc_check_calls(o->proc, &e);

	return rc ? call_add_failure(c, o->token, rc, &e) : add_calls(c, o->proc);
}

static int serve_calls_now(struct service_call *c)
{
	return call_each_object(c, 'p', serve_one);
}

const struct service current_services[] = {
	{ "omig_calls_now", serve_calls_now },
	{ NULL, NULL },
};
