/* SPDX-License-Identifier: Apache-2.0 */
/* Vertices of the messages of this process. Hot: the rules of libapp/hot/hook.h. */
#include "common/base/array.h"
#include "common/ring/calls_id.h"
#include "libapp/hot/comm.h"
#include "libapp/vertex/internal.h"

#include <string.h>

#define THREAD_MULTIPLE 3 /* of MPI_Query_thread */
#define THREAD_BITS 6 /* of a late receive: its thread is in the low bits of its time */

static_assert(1 << THREAD_BITS >= SEG_THREADS_MAX, "threads have numbers of that many bits");
static_assert(SEG_THREADS_MAX <= MATCH_THREADS, "each thread has a place");

static int32_t narrow(int64_t par)
{
	return (int32_t)par; /* an int in a whole word, with an undefined upper half */
}

static uint64_t comm_of(const struct hook_args *a)
{
	uintptr_t handle = a->desc->comm ? (uintptr_t)a->par[a->desc->comm - 1] : 0;
	struct match_comm *c = match_comm_find(&messages.comms, handle);

	return c ? c->id : 0;
}

/* --- sends */

static bool sends(const struct call_desc *d)
{
	return d->class == CALL_SEND && !d->persistent && d->peer;
}

static void begin_send(struct hook_args *a, int32_t tag)
{
	struct args_message *m = &a->message;
	const struct match_channel c = { m->comm_id, app_state.rank, m->to, tag };

	if (!m->comm_id || !messages_enter())
		return;
	m->sent = match_send(&messages.sends, &c, hook_thread.index);
	messages_leave();
}

/* MPI_Sendrecv may wait for either message, MPI_Bsend waits for none. */
static bool may_wait(const struct hook_args *a)
{
	return a->desc->volume == CALL_V_SEND && !call_posts(a->desc) && a->func != CALL_ID_Bsend;
}

static void end_send(struct hook_args *a, int rc)
{
	struct args_message *m = &a->message;
	struct vertex_values v = { m->begin, 0, m->to, 0 };
	uint64_t now = may_wait(a) ? vertex_time(VERTEX_SENT, VERTEX_SENT) : 0;

	if (messages.is_shared && m->sent.id && messages_enter()) {
		match_send_done(&messages.sends, hook_thread.index, &m->sent);
		messages_leave();
	}
	if (rc) {
		vertex_miss();
		return;
	}
	v.task = m->sent.id;
	v.last = m->sent.in_doubt;
	messages_put_send(&v, now);
}

/* --- receives */

static void put_received(uint64_t ticks, int32_t source, const struct match_sent *got)
{
	vertex_put(VERTEX_RECEIVE,
		   &(struct vertex_values){ ticks, got->id, source, got->in_doubt });
}

/* A receive of another thread belongs to the ring of that thread, which only it may write. */
static void put_late(uint64_t arg, int32_t source, const struct match_sent *got)
{
	unsigned thread = arg & ((1u << THREAD_BITS) - 1), n = messages.nlate;

	if (thread == hook_thread.index) {
		put_received(arg >> THREAD_BITS, source, got);
	} else if (n < ARRAY_LEN(messages.late)) {
		messages.late[n] =
			(struct message_late){ arg >> THREAD_BITS, source, thread, *got };
		messages.late[n].got.in_doubt = true; /* the thread may be another one by then */
		__atomic_store_n(&messages.nlate, n + 1, __ATOMIC_RELAXED);
	} else {
		vertex_lose(VERTEX_RECEIVE);
	}
}

/* Writes the receives of this thread that others have settled. */
static void take_late(void)
{
	unsigned kept = 0;

	if (!__atomic_load_n(&messages.nlate, __ATOMIC_RELAXED) || !messages_try())
		return;
	for (unsigned i = 0; i < messages.nlate; i++) {
		const struct message_late *l = &messages.late[i];

		if (l->thread == hook_thread.index)
			put_received(l->ticks, l->source, &l->got);
		else
			messages.late[kept++] = *l;
	}
	__atomic_store_n(&messages.nlate, kept, __ATOMIC_RELAXED);
	messages_leave();
}

/* Returns false if the communicator is not known. */
static bool pattern_of(const struct hook_args *a, int64_t source, int64_t tag,
		       struct match_pattern *out)
{
	*out = (struct match_pattern){ a->message.comm_id, MATCH_ANY, narrow(tag) };
	if (narrow(tag) < 0)
		out->tag = MATCH_ANY;
	if (!out->comm)
		return false;
	if (narrow(source) != flavour->any_source)
		out->source = (int32_t)comm_world_rank((uintptr_t)a->par[a->desc->comm - 1], false,
						       narrow(source));
	return true;
}

static void post(struct hook_args *a, int64_t source, int64_t tag)
{
	struct match_pattern from;

	if (narrow(source) == flavour->proc_null)
		return;
	if (!pattern_of(a, source, tag, &from) || !messages_enter()) {
		vertex_lose(VERTEX_RECEIVE);
		return;
	}
	match_post(&messages.receives, &from, hook_thread.index, &a->message.ticket);
	messages_leave();
	a->message.from = from.source == MATCH_ANY ? -1 : from.source;
	a->message.has_ticket = true;
}

static void posted(struct hook_args *a)
{
	if (!messages.is_shared || !a->message.has_ticket || !messages_enter())
		return;
	match_posted(&messages.receives, hook_thread.index, &a->message.ticket);
	messages_leave();
}

struct arrived {
	const struct match_ticket *ticket;
	struct match_pattern from;
};

/* Under the lock. */
static void settle(const struct message_owed *o)
{
	uint64_t arg = o->ticks << THREAD_BITS | hook_thread.index;
	struct match_sent got;

	if (match_end(&messages.receives, &o->ticket, &o->from, arg, &got))
		put_received(o->ticks, o->from.source, &got);
}

/* Ends receives of this thread that could not be ended before. */
static void settle_owed(void)
{
	unsigned *n = &messages.nowed[hook_thread.index];

	for (unsigned i = 0; i < *n; i++)
		settle(&messages.owed[hook_thread.index][i]);
	*n = 0;
}

/* A message without a place in the list stays open: later numbers are unknown. */
static void owe(const struct message_owed *o)
{
	unsigned *n = &messages.nowed[hook_thread.index];

	if (*n < MESSAGES_OWED) {
		messages.owed[hook_thread.index][(*n)++] = *o;
		return;
	}
	vertex_miss();
	vertex_lose(VERTEX_RECEIVE);
}

static void end_receive(const struct arrived *m)
{
	const struct message_owed o = { *m->ticket, m->from,
					vertex_time(VERTEX_RECEIVE, VERTEX_RECEIVE) };

	if (!messages_try()) {
		owe(&o);
		return;
	}
	settle_owed();
	settle(&o);
	messages_leave();
}

/* Ends what was too early before, and takes what other threads have settled meanwhile. */
static void catch_up(void)
{
	if (messages.nowed[hook_thread.index] && messages_try()) {
		settle_owed();
		messages_leave();
	}
	take_late();
}

static void abandon(const struct match_ticket *t)
{
	vertex_lose(VERTEX_RECEIVE);
	if (!messages_enter())
		return;
	match_abandon(&messages.receives, t);
	messages_leave();
}

static void read_status(const struct hook_args *a, struct status_view *v)
{
	flavour->status_read((const void *)(uintptr_t)a->par[a->desc->status - 1], v);
}

/* A blocking receive, with its status. */
static void end_here(struct hook_args *a, int rc)
{
	struct arrived m = { .ticket = &a->message.ticket };
	struct status_view v;

	if (!a->message.has_ticket)
		return;
	if (rc) {
		abandon(m.ticket);
		return;
	}
	read_status(a, &v);
	if (a->message.from >= 0)
		m.from = (struct match_pattern){ a->message.comm_id, a->message.from, v.tag };
	else
		pattern_of(a, v.source, v.tag, &m.from);
	end_receive(&m);
}

/* --- matched probes: the receive gets the message that the probe has found */

/* Handles of messages have a name space of their own in Fortran. */
static uintptr_t message_at(const struct hook_args *a, unsigned place)
{
	uintptr_t key = handle_at(true, (const void *)(uintptr_t)a->par[place], 0, CALL_P_REQUEST);

	return a->lang == LANG_C || !key ? key : (uintptr_t)(uint32_t)key | (uintptr_t)1 << 62;
}

static bool has_found(const struct hook_args *a)
{
	int flag = 1;

	if (a->func == CALL_ID_Improbe)
		memcpy(&flag, (const void *)(uintptr_t)a->par[3], sizeof(flag));
	return flag != 0;
}

/* The message, and the only one that the probe could take, is in front of all later receives. */
static void end_probe(struct hook_args *a)
{
	struct request r = { .kind = REQUEST_LISTED, .func = a->func, .has_ticket = true };
	struct status_view v;

	if (!has_found(a))
		return;
	read_status(a, &v);
	post(a, v.source, v.tag);
	posted(a);
	if (!a->message.has_ticket)
		return;
	r.key = message_at(a, a->func == CALL_ID_Improbe ? 4 : 3);
	r.ticket = a->message.ticket;
	r.comm_id = a->message.comm_id;
	r.source = a->message.from;
	r.partner = -1;
	if (!request_put(&r))
		abandon(&r.ticket);
}

/* A message of MPI_PROC_NULL is not known. */
static void begin_matched(struct hook_args *a)
{
	struct request r;

	if (!request_take(message_at(a, 3), &r) || !r.has_ticket)
		return;
	a->message.comm_id = r.comm_id;
	a->message.ticket = r.ticket;
	a->message.from = r.source;
	a->message.has_ticket = true;
}

/* --- in front of a call */

static void begin_receive(struct hook_args *a)
{
	const struct call_desc *d = a->desc;

	if (d->volume == CALL_V_MRECV || d->volume == CALL_V_MRECV_POST)
		begin_matched(a);
	else if (!d->persistent && d->peer)
		post(a, a->par[d->peer - 1], a->par[d->tag - 1]);
}

static void begin_second(struct hook_args *a)
{
	unsigned source = args_source_place(a->desc);

	if (source)
		post(a, a->par[source - 1], a->par[source]);
}

static bool blocks(const struct hook_args *a)
{
	const struct call_desc *d = a->desc;

	return a->message.has_ticket && d->status && d->volume != CALL_V_MRECV;
}

static bool waits_for_receives(const struct hook_args *a)
{
	switch (a->desc->volume) {
	case CALL_V_WAIT:
	case CALL_V_WAITALL:
	case CALL_V_WAITANY:
		break;
	default:
		if (a->func != CALL_ID_Waitsome)
			return a->func == CALL_ID_Mprobe || blocks(a);
	}
	for (unsigned i = 0; i < a->wait->n; i++)
		if (a->wait->entry[i].request.has_ticket)
			return true;
	return false;
}

static void begin_wait(const struct hook_args *a)
{
	vertex_put(VERTEX_WAIT, &(struct vertex_values){ .ticks = a->message.begin });
}

/* A send that is cancelled leaves a gap that its receiver does not know. */
static void begin_cancel(const struct hook_args *a)
{
	uintptr_t handle =
		handle_at(a->lang == LANG_C, (const void *)(uintptr_t)a->par[0], 0, CALL_P_REQUEST);
	struct request r;

	if (!request_take(handle, &r) || !r.has_ticket) {
		vertex_miss();
		return;
	}
	if (messages_enter()) {
		match_cancel(&messages.receives, &r.ticket);
		messages_leave();
	}
	request_put(&r);
}

static void begin(struct hook_args *a)
{
	const struct call_desc *d = a->desc;

	catch_up();
	a->message = (struct args_message){ .to = -1,
					    .from = -1,
					    .begin = vertex_time(VERTEX_SEND, VERTEX_WAIT) };
	a->message.comm_id = d->comm ? comm_of(a) : 0;
	if (sends(d)) {
		if (narrow(a->par[d->peer - 1]) != flavour->proc_null)
			a->message.to = (int32_t)comm_world_rank(
				(uintptr_t)a->par[d->comm - 1], false, narrow(a->par[d->peer - 1]));
		if (a->message.to >= 0)
			begin_send(a, narrow(a->par[d->tag - 1]));
		begin_second(a);
	} else if (d->class == CALL_RECV) {
		begin_receive(a);
	} else if (a->func == CALL_ID_Cancel) {
		begin_cancel(a);
	} else if (d->class == CALL_COMM && d->volume == CALL_V_FORGET) {
		groups_free(a);
	} else if (meets_are_seen(a)) {
		meets_begin(a);
	}
	if (waits_for_receives(a))
		begin_wait(a);
	messages_remember(a);
}

/* --- behind it */

static void end(struct hook_args *a, int rc)
{
	const struct call_desc *d = a->desc;

	if (a->message.to >= 0)
		end_send(a, rc);
	if (a->message.role)
		meets_end(a, rc);
	if (a->message.has_ticket)
		posted(a);
	if (d->class == CALL_COMM && d->volume != CALL_V_FORGET)
		groups_made(a, rc);
	else if (a->func == CALL_ID_Mprobe || a->func == CALL_ID_Improbe)
		rc ? vertex_miss() : end_probe(a);
	else if (d->status && a->message.has_ticket)
		end_here(a, rc);
	else if (a->message.has_ticket && (rc || d->class == CALL_SEND))
		abandon(&a->message.ticket); /* of MPI_Isendrecv: MPICH 4.0 has an empty status */
}

/* --- requests */

static bool made(const struct hook_args *a, struct request *r)
{
	const struct call_desc *d = a->desc;

	r->comm_id = a->message.comm_id;
	r->ticket = a->message.ticket;
	r->source = a->message.from;
	r->has_ticket = a->message.has_ticket && d->class == CALL_RECV;
	return r->has_ticket;
}

static void start_send(const struct hook_args *a, const struct request *r)
{
	const struct match_channel c = { r->comm_id, app_state.rank, (int32_t)r->partner, r->tag };
	struct match_sent sent = { 0 };

	if (r->comm_id && messages_enter()) {
		sent = match_send(&messages.sends, &c, hook_thread.index);
		match_send_done(&messages.sends, hook_thread.index, &sent);
		messages_leave();
	}
	vertex_put(VERTEX_SEND,
		   &(struct vertex_values){ a->message.begin, sent.id, (int32_t)r->partner,
					    sent.in_doubt || messages.is_shared });
}

/* r->partner and r->tag are -1 where they are left open. */
static void start_receive(struct request *r)
{
	struct match_pattern from = { r->comm_id, (int32_t)r->partner, r->tag };

	if (r->partner < 0)
		from.source = MATCH_ANY;
	if (r->tag < 0)
		from.tag = MATCH_ANY;
	if (!r->comm_id || !messages_enter()) {
		vertex_lose(VERTEX_RECEIVE);
		return;
	}
	match_post(&messages.receives, &from, hook_thread.index, &r->ticket);
	match_posted(&messages.receives, hook_thread.index, &r->ticket);
	messages_leave();
	r->ticket.in_doubt |= messages.is_shared;
	r->source = from.source == MATCH_ANY ? -1 : from.source;
	r->has_ticket = true;
}

static void started(const struct hook_args *a, struct request *r)
{
	const struct call_desc *d = call_get(r->func);

	r->has_ticket = false;
	if (r->partner == CALL_PARTNER_NONE || !d->peer)
		return;
	if (d->volume == CALL_V_SEND_INIT)
		start_send(a, r);
	else if (d->volume == CALL_V_RECV_INIT)
		start_receive(r);
}

static void ended(struct request *r, const struct status_view *v)
{
	struct arrived m = { .ticket = &r->ticket, .from = { r->comm_id, -1, v->tag } };

	r->has_ticket = false;
	if (v->cancelled) {
		if (messages_enter()) {
			match_cancelled(&messages.receives, &r->ticket);
			messages_leave();
		}
		return;
	}
	m.from.source = r->source;
	if (r->source < 0 && r->generation == comm_generation())
		m.from.source = (int32_t)comm_world_rank(r->comm, false, v->source);
	if (m.from.source < 0) /* its communicator has been freed */
		abandon(&r->ticket);
	else
		end_receive(&m);
}

static void lost(struct request *r)
{
	r->has_ticket = false;
	abandon(&r->ticket);
}

/* --- the beginning */

static const struct args_message_ops ops = {
	begin, end, messages_begin_short, messages_end_short, made, started, ended, lost
};

static void announce_all(int (*announce)(const void *definition, size_t n))
{
	uint8_t text[VERTEX_DEFINITION_BYTES];

	for (unsigned v = 0; v < VERTEX_KINDS; v++)
		vertex_number[v] = announce(text, vertex_define(v, text));
}

void vertex_open(int (*announce)(const void *definition, size_t n))
{
	const struct seg_own *own = &app_header()->w;

	if (!flavour || !(own->start_word & HOOK_MESSAGE))
		return;
	announce_all(announce);
	messages.is_shared = own->thread_level >= THREAD_MULTIPLE;
	messages.sends.is_shared = messages.receives.is_shared = messages.is_shared;
	messages.receives.rank = app_state.rank;
	messages.receives.on_late = put_late;
	match_comm_put(&messages.comms, flavour->comm_world(), match_comm_first(own->job, 1));
	args_message_ops = &ops;
}
