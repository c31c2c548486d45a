/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/hash.h"
#include "neko/simulated/sim_internal.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static nsec_t world_now(const struct neko_world *w)
{
	return ((const struct sim *)(const void *)w)->now;
}

static int transmit_to(struct sim *s, struct neko_msg *m, uint32_t to)
{
	nsec_t at[SIMNET_COPIES_MAX];
	struct event v = { 0, 0, m, SIM_MESSAGE, to };
	int n = simnet_pass(s->net[m->net], s->now, (struct simnet_frame){ m->from, to, m->n }, at),
	    rc = 0;

	s->counts.sent++;
	if (s->trace)
		sim_trace(s, SIM_SENT, m, to);
	if (n == 0 && s->trace)
		sim_trace(s, SIM_LOST, m, to);
	for (int i = 0; i < n && !rc; i++) {
		v.at = at[i];
		v.seq = ++s->seq;
		rc = events_add(&s->queue, &v);
		if (!rc)
			m->refs++;
	}
	return n < 0 || rc ? sim_fail(s, ERR_NOMEM, "out of memory for a message") : 0;
}

static int world_transmit(struct neko_process *p, struct neko_msg *m)
{
	struct sim *s = sim_of(p->world);
	int rc = 0;

	if (s->is_closing || s->failure.code)
		return -ERR_CLOSED;
	if (p->is_down)
		return 0;
	if (simnet_medium(s->net[m->net]))
		return sim_medium_send(s, m);
	if (s->own[m->net]) {
		for (uint32_t i = 0; i < m->nto; i++)
			sim_own_send(s, m, world_destination(m, i));
		return 0;
	}
	if (!m->all && m->to != NEKO_OTHERS)
		return transmit_to(s, m, m->to);
	for (uint32_t i = 0; i < m->nto && !rc; i++)
		rc = transmit_to(s, m, world_destination(m, i));
	return rc;
}

static void world_log(struct neko_world *w, const struct neko_event *v)
{
	struct sim *s = sim_of(w);
	const struct neko_handler *h = &s->handler;

	if (!h->handle || s->is_closing || s->is_stopped)
		return;
	h->handle(h->arg, v);
	if (h->should_stop && h->should_stop(h->arg))
		s->is_stopped = true;
}

static void world_stop(struct neko_world *w)
{
	struct sim *s = sim_of(w);

	s->is_left |= !s->is_stopped;
	s->is_stopped = true;
}

static void world_looped(struct neko_layer *l)
{
	sim_fail(sim_of(l->process->world), ERR_LIMIT,
		 "process %u: layer %s and others call each other endlessly: %d calls deep",
		 l->process->id, l->ops->name, NEKO_DEPTH_MAX);
}

static const struct neko_world_ops sim_ops = {
	.now = world_now,
	.transmit = world_transmit,
	.wait = sim_flow_wait,
	.arrived = sim_flow_arrived,
	.log = world_log,
	.stop = world_stop,
	.looped = world_looped,
};

int sim_new(uint32_t m, uint64_t seed, struct sim **out, struct err *e)
{
	struct sim *s = calloc(1, sizeof(*s));
	int rc = s ? world_init(&s->world, &sim_ops, m, seed, e) : err_nomem(e);

	if (rc) {
		sim_free(s);
		return rc;
	}
	s->seed = seed;
	s->stack_bytes = NEKO_STACK_BYTES;
	s->watch = simstack_new(s);
	*out = s;
	return 0;
}

static void drop_queue(struct sim *s)
{
	for (size_t i = 0; i < s->queue.n; i++)
		if (s->queue.heap[i].kind == SIM_MESSAGE)
			world_msg_unref(&s->world, s->queue.heap[i].what);
	sim_medium_drop(s);
	sim_own_drop(s);
	events_done(&s->queue);
}

void sim_free(struct sim *s)
{
	if (!s)
		return;
	sim_end_run(s);
	drop_queue(s);
	world_done(&s->world);
	sim_flows_free(s);
	simstack_free(s->watch);
	for (unsigned i = 0; i < NEKO_NETS_MAX; i++)
		simnet_free(s->net[i]);
	free(s);
}

int sim_add_net(struct sim *s, const struct simnet_conf *conf, struct err *e)
{
	unsigned i = s->world.nnet;
	int rc;

	if (i == NEKO_NETS_MAX)
		return err_set(e, ERR_LIMIT, "a run has at most %d networks", NEKO_NETS_MAX);
	rc = simnet_new(conf, s->world.nprocess, hash_mix64(s->seed + 1) ^ hash_mix64(~(uint64_t)i),
			&s->net[i], e);
	s->armed_at[i] = NEKO_NEVER;
	if (rc)
		return rc;
	s->world.nnet++;
	return conf->own ? sim_own_new(s, conf, i, e) : 0;
}

struct neko_process *sim_process(struct sim *s, uint32_t id)
{
	return world_process(&s->world, id);
}

void sim_set_handler(struct sim *s, const struct neko_handler *h)
{
	s->handler = *h;
}

void sim_set_trace(struct sim *s, void (*fn)(void *arg, const struct sim_step *t), void *arg)
{
	s->trace = fn;
	s->trace_arg = arg;
}

int sim_crash(struct sim *s, uint32_t id, nsec_t at)
{
	const struct event v = { at, ++s->seq, NULL, SIM_CRASH, id };

	return world_process(&s->world, id) ? events_add(&s->queue, &v) : -ERR_INVALID;
}

void sim_set_stack(struct sim *s, size_t bytes)
{
	s->stack_bytes = bytes;
}

static void note(struct sim *s, uint64_t word)
{
	s->hash = (s->hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
	s->hash ^= s->hash >> 29;
}

static void note_content(struct sim *s, const struct neko_msg *m)
{
	uint64_t word = 0;

	note(s, (uint64_t)m->from << 32 | (uint32_t)m->type << 8 | m->net);
	for (uint32_t i = 0; i < m->n; i += sizeof(word)) {
		memcpy(&word, m->content + i, m->n - i < sizeof(word) ? m->n - i : sizeof(word));
		note(s, word);
	}
}

static void receive(struct sim *s, const struct event *v)
{
	struct neko_msg *m = v->what;

	s->counts.delivered++;
	note_content(s, m);
	if (s->trace)
		sim_trace(s, SIM_DELIVERED, m, v->to);
	world_hand_up(&s->world.process[v->to - 1], m);
	world_msg_unref(&s->world, m);
}

static void crash(struct sim *s, uint32_t id)
{
	const struct neko_event v = { .process = id, .at = s->now, .what = NEKO_CRASHED };

	world_log(&s->world, &v);
	s->world.process[id - 1].is_down = true;
}

static void happen(struct sim *s, const struct event *v)
{
	if (v->at != s->now)
		s->same_time = 0;
	else if (++s->same_time > NEKO_SAME_TIME_MAX)
		sim_fail(s, ERR_LIMIT,
			 "no time passes: %d events at %.9f s, the last one of process %u",
			 NEKO_SAME_TIME_MAX, (double)s->now / 1e9, v->to);
	s->now = v->at;
	s->counts.events++;
	note(s, (uint64_t)v->at);
	note(s, (uint64_t)v->kind << 32 | v->to);
	if (v->kind == SIM_MESSAGE)
		receive(s, v);
	else if (v->kind == SIM_WAKE)
		sim_flow_timer(s, v);
	else if (v->kind == SIM_MEDIUM)
		sim_medium_due(s, v);
	else if (v->kind == SIM_OWN)
		sim_own_due(s, v);
	else
		crash(s, v->to);
	if (s->ready)
		sim_run_ready(s);
}

static int start(struct sim *s)
{
	if (s->is_started)
		return 0;
	s->is_started = true;
	if (sim_flows_start(s))
		return sim_fail(s, ERR_NOMEM, "out of memory for %u processes", s->world.nprocess);
	sim_run_ready(s);
	return 0;
}

static void run_until(struct sim *s, nsec_t until)
{
	uint64_t budget = s->counts.events + SIM_PAUSE_EVENTS;
	const struct event *first;

	start(s);
	while (s->counts.events < budget && !s->is_stopped && !s->failure.code &&
	       (first = events_first(&s->queue)) && first->at <= until) {
		const struct event v = events_take(&s->queue);

		happen(s, &v);
	}
}

int sim_run(struct sim *s, nsec_t until, enum sim_end *out, struct err *e)
{
	const struct event *first;

	until = until < NEKO_TIME_MAX ? until : NEKO_TIME_MAX;
	simstack_enter(s->watch);
	run_until(s, until);
	simstack_leave(s->watch);
	if (s->failure.code)
		return err_set(e, s->failure.code, "%s", s->failure.text);
	first = events_first(&s->queue);
	*out = s->is_left	   ? SIM_LEFT
	       : s->is_stopped	   ? SIM_STOPPED
	       : !first		   ? SIM_NOTHING_LEFT
	       : first->at > until ? SIM_TIME_OVER
				   : SIM_PAUSED;
	if (*out == SIM_TIME_OVER)
		s->now = until;
	return 0;
}

unsigned sim_end_run(struct sim *s)
{
	return s->is_closing ? 0 : sim_flows_close(s);
}

nsec_t sim_now(const struct sim *s)
{
	return s->now;
}

const struct sim_counts *sim_counts(const struct sim *s)
{
	return &s->counts;
}

uint64_t sim_hash(const struct sim *s)
{
	return s->hash;
}
