/* SPDX-License-Identifier: Apache-2.0 */
#include "lm/proc/current.h"

#include "common/base/array.h"
#include "common/base/str.h"
#include "common/ring/calls.h"
#include "common/ring/calls_id.h"

#include <stdlib.h>

/* State of one thread in the last polls. */
struct seen {
	uint64_t number; /* number of the current call; 0: none yet */
	nsec_t since; /* time at which that number was first seen */
	/* all polls since then have found a testing call; 0: the last one has not */
	nsec_t asks_since;
};

struct proc_current {
	struct seen thread[SEG_THREADS_MAX];
};

uint64_t current_comm(const struct seg_own *own, const struct segview_current *c)
{
	return c->is_fortran || own->flavour == SEG_FLAVOUR_MPICH ? (uint32_t)c->comm : c->comm;
}

static bool is_world(const struct seg_own *own, const struct segview_current *c)
{
	if (own->flavour == SEG_FLAVOUR_NONE)
		return false;
	if (c->is_fortran)
		return (int32_t)c->comm == own->f_world;
	return current_comm(own, c) ==
	       (own->flavour == SEG_FLAVOUR_MPICH ? (uint32_t)own->world : own->world);
}

int32_t current_world_rank(const struct seg_own *own, const struct segview_current *c, int32_t peer)
{
	const struct call_desc *d = call_get(c->func);

	if (own->flavour != SEG_FLAVOUR_NONE && peer == own->proc_null)
		return CALL_PARTNER_NONE;
	if (!d || !d->comm || d->param[d->comm - 1].kind != CALL_P_COMM || !is_world(own, c) ||
	    peer < 0 || peer >= own->world_size)
		return CALL_PARTNER_UNKNOWN;
	return peer;
}

int32_t current_partner(const struct seg_own *own, const struct segview_current *c)
{
	const struct call_desc *d = call_get(c->func);

	return d && d->peer ? current_world_rank(own, c, c->peer) : CALL_PARTNER_UNKNOWN;
}

int32_t current_awaited(const struct seg_own *own, const struct segview_current *c)
{
	const struct call_desc *d = call_get(c->func);

	return d && call_waits(d) ? c->wait_partner : current_partner(own, c);
}

static bool has_source(const struct call_desc *d)
{
	return d && (d->volume == CALL_V_SENDRECV || d->volume == CALL_V_SENDRECV_REPLACE);
}

int32_t current_source(const struct seg_own *own, const struct segview_current *c)
{
	return has_source(call_get(c->func)) ? current_world_rank(own, c, c->source)
					     : CALL_PARTNER_UNKNOWN;
}

int32_t current_source_tag(const struct segview_current *c)
{
	return has_source(call_get(c->func)) && c->source_tag >= 0 ? c->source_tag : -1;
}

bool current_is_of_world(const struct seg_own *own, const struct segview_current *c)
{
	const struct call_desc *d = call_get(c->func);

	return d && d->comm && d->param[d->comm - 1].kind == CALL_P_COMM && is_world(own, c);
}

/* --- durations */

static bool asks(unsigned func)
{
	static const char *const names[] = { "MPI_Test",     "MPI_Testany", "MPI_Testall",
					     "MPI_Testsome", "MPI_Iprobe",  "MPI_Improbe" };
	const struct call_desc *d = call_get(func);

	for (size_t i = 0; d && i < ARRAY_LEN(names); i++)
		if (str_eq(d->name, names[i]))
			return true;
	return false;
}

static void note(struct seen *s, const struct segview_current *c, nsec_t now)
{
	if (s->number != c->number || !s->since) {
		s->number = c->number;
		s->since = now;
	}
	if (!asks(c->func))
		s->asks_since = 0;
	else if (!s->asks_since)
		s->asks_since = now;
}

void current_sample(struct proc *p, nsec_t now)
{
	struct segview_current c;

	if (!p->seg)
		return;
	if (!p->current)
		p->current = calloc(1, sizeof(*p->current));
	for (unsigned i = 0; p->current && i < segview_threads(p->seg); i++)
		if (segview_current(p->seg, i, &c))
			note(&p->current->thread[i], &c, now);
}

/* Thread numbers are the kernel's if the process is in no separate pid namespace. */
static bool has_ended(const struct proc *p, uint32_t tid)
{
	if (p->own.pid != p->pid || !p->nthread)
		return false;
	for (size_t i = 0; i < p->nthread; i++)
		if ((uint32_t)p->thread[i].tid == tid)
			return false;
	return true;
}

static void judge(const struct seen *s, nsec_t now, struct current *out)
{
	bool is_asking = s->asks_since && now - s->since <= CURRENT_ASKS_NS;

	out->state = is_asking ? CURRENT_ASKS : out->call.is_inside ? CURRENT_IN : CURRENT_OUT;
	out->since = now - (is_asking ? s->asks_since : s->since);
}

bool current_get(struct proc *p, unsigned thread, const struct current_moment *now,
		 struct current *out)
{
	struct segview_thread t;

	*out = (struct current){ 0 };
	if (!p->current || segview_thread(p->seg, thread, &t) || !t.tid || has_ended(p, t.tid) ||
	    !segview_current(p->seg, thread, &out->call))
		return false;
	out->tid = t.tid;
	out->partner = current_partner(&p->own, &out->call);
	note(&p->current->thread[thread], &out->call, now->time);
	judge(&p->current->thread[thread], now->time, out);
	if (out->state == CURRENT_IN && out->call.begin && now->ticks > out->call.begin) {
		out->since = ticks_delta_to_nsec(now->scale, now->ticks - out->call.begin);
		out->is_exact = true;
	}
	return true;
}

void current_free(struct proc_current *c)
{
	free(c);
}
