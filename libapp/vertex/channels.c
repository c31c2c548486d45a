/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The last channels of this process: the short way of MPI_Send and MPI_Recv. What both ends must
 * know of a message is found once. Later messages of the channel are counted there. Hot: the rules
 * of libapp/hot/hook.h.
 */
#include "common/ring/calls_id.h"
#include "libapp/hot/comm.h"
#include "libapp/vertex/internal.h"

/*
 * A send that takes longer has waited: 16 to 66 us at 1 to 4 GHz, and 66 us without a TSC. Others
 * return in 1 us. Shorter waits are shorter than a switch between processes, and need no event.
 */
#define LATE_TICKS 65536
#define CHANNELS 64 /* a power of two; ranks have some 26 neighbours, with a tag or two each */

struct channel {
	uintptr_t comm; /* handle; 0: none */
	int32_t peer, tag; /* as the program names them */
	uint32_t generation; /* of communicators */
	int32_t partner; /* world rank */
	uint64_t key;
	struct match_count *count;
};

/* One thread at a time uses them: MPI_THREAD_MULTIPLE takes the long way. */
static struct channel sends[CHANNELS], receives[CHANNELS];

enum { PEER = 3, TAG = 4, COMM = 5 }; /* places of the arguments of all these calls */

static uintptr_t comm_of(const struct hook_args *a)
{
	uintptr_t comm = (uintptr_t)a->par[COMM];

	return flavour->handle_bytes == 4 ? (uint32_t)comm : comm;
}

/* NULL: the call is not short. */
static struct channel *table_of(uint32_t func)
{
	switch (func) {
	case CALL_ID_Send:
	case CALL_ID_Ssend:
	case CALL_ID_Rsend:
		return sends;
	case CALL_ID_Recv:
		return receives;
	default:
		return NULL;
	}
}

static struct channel *place_of(const struct hook_args *a, struct channel *table)
{
	uint64_t at = comm_of(a) / 16 + (uint32_t)a->par[PEER] + (uint32_t)a->par[TAG] * 27;

	return &table[at % CHANNELS];
}

static struct channel *find(const struct hook_args *a, struct channel *table)
{
	struct channel *c = place_of(a, table);

	return c->comm == comm_of(a) && c->peer == (int32_t)a->par[PEER] &&
			       c->tag == (int32_t)a->par[TAG] && c->generation == comm_generation()
		       ? c
		       : NULL;
}

/* Its number is not known before those of earlier receives are. */
static bool has_open(const struct match_receives *r)
{
	return r->nopen || r->ndrop;
}

void messages_remember(const struct hook_args *a)
{
	const struct args_message *m = &a->message;
	struct channel *table = table_of(a->func);
	struct match_channel of = { m->comm_id, app_state.rank, m->to, (int32_t)a->par[TAG] };
	struct channel c = { .generation = comm_generation() };

	if (!table || messages.is_shared)
		return;
	if (table == sends ? !m->sent.id : !m->ticket.key || m->from < 0)
		return;
	if (table == receives) {
		of.source = m->from;
		of.dest = app_state.rank;
	}
	c.comm = comm_of(a);
	c.peer = (int32_t)a->par[PEER];
	c.tag = of.tag;
	c.partner = table == sends ? of.dest : of.source;
	c.key = match_key(&of);
	c.count = match_find(table == sends ? &messages.sends.table : &messages.receives.table,
			     c.key);
	if (c.count)
		*place_of(a, table) = c;
}

bool messages_begin_short(struct hook_args *a)
{
	struct channel *table = table_of(a->func), *c;
	struct args_message *m = &a->message;

	if (!table || messages.is_shared || messages.nlate)
		return false;
	c = find(a, table);
	if (!c || (table == receives && has_open(&messages.receives)))
		return false;
	m->begin = vertex_time(VERTEX_SEND, VERTEX_WAIT);
	m->to = c->partner;
	m->ticket.key = c->key;
	m->ticket.n = ++c->count->n;
	if (table == receives) {
		m->sent.id = match_id(m->ticket.key, m->ticket.n);
		vertex_put(VERTEX_WAIT, &(struct vertex_values){ .ticks = m->begin });
	}
	return true;
}

void messages_put_send(struct vertex_values *v, uint64_t now)
{
	if (!vertex_put(VERTEX_SEND, v) || now < v->ticks + LATE_TICKS)
		return;
	v->ticks = now;
	vertex_put(VERTEX_SENT, v);
}

static void end_send(const struct args_message *m)
{
	struct vertex_values v = { .ticks = m->begin,
				   .partner = m->to,
				   .last = messages.sends.in_doubt };
	uint64_t now = vertex_time(VERTEX_SENT, VERTEX_SENT);

	v.task = match_id(m->ticket.key, m->ticket.n);
	messages_put_send(&v, now);
}

/* Its sender may wait for an answer: the id is there already. */
static void end_receive(const struct args_message *m)
{
	vertex_put(VERTEX_RECEIVE,
		   &(struct vertex_values){ .ticks = vertex_time(VERTEX_RECEIVE, VERTEX_RECEIVE),
					    .task = m->sent.id,
					    .partner = m->to,
					    .last = messages.receives.in_doubt });
}

void messages_end_short(struct hook_args *a, int rc)
{
	bool is_send = a->func != CALL_ID_Recv;

	if (rc && is_send)
		vertex_miss();
	else if (rc)
		vertex_lose(VERTEX_RECEIVE);
	else if (is_send)
		end_send(&a->message);
	else
		end_receive(&a->message);
}
