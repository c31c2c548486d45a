/* SPDX-License-Identifier: Apache-2.0 */
/* Active layers of a simulation: flows of control that wait for virtual time and for messages. */
#include "neko/simulated/sim_internal.h"

#include <stdlib.h>

static void make_ready(struct sim *s, struct flow *f)
{
	if (f->is_ready)
		return;
	f->is_ready = true;
	f->next_ready = NULL;
	if (s->ready)
		s->ready_last->next_ready = f;
	else
		s->ready = f;
	s->ready_last = f;
}

static void live(void *arg)
{
	struct flow *f = arg;

	f->layer->ops->run(f->layer);
}

static size_t count_active(const struct sim *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->world.nprocess; i++)
		for (const struct neko_layer *l = s->world.process[i].lowest; l; l = l->above)
			n += l->ops->run != NULL;
	return n;
}

static int start(struct sim *s, struct neko_layer *l)
{
	struct flow *f = &s->flows[s->nflow];

	f->layer = l;
	f->coro = coro_new(s->stacks, live, f);
	if (!f->coro)
		return -ERR_NOMEM;
	s->nflow++;
	l->of_world = f;
	make_ready(s, f);
	return 0;
}

/* Starts each layer at the time 0, in the order of processes, the lowest layer first. */
int sim_flows_start(struct sim *s)
{
	size_t n = count_active(s);
	int rc = 0;

	s->stacks = coro_stacks_new(s->stack_bytes);
	s->flows = calloc(n ? n : 1, sizeof(*s->flows));
	if (!s->stacks || !s->flows)
		return -ERR_NOMEM;
	for (size_t i = 0; i < s->world.nprocess; i++)
		for (struct neko_layer *l = s->world.process[i].lowest; l && !rc; l = l->above)
			if (l->ops->run)
				rc = start(s, l);
	return rc;
}

void sim_flows_free(struct sim *s)
{
	for (size_t i = 0; i < s->nflow; i++)
		coro_free(s->stacks, s->flows[i].coro);
	coro_stacks_free(s->stacks);
	free(s->flows);
}

static bool is_stale(void *arg, const struct event *v)
{
	return v->kind == SIM_WAKE && ((const struct flow *)v->what)->queued_seq != v->seq;
}

/*
 * Counts queued timers that have moved to an earlier time. At most as many as all other events stay
 * in the queue.
 */
static void count_stale(struct sim *s)
{
	if (++s->nstale < 1024 || s->nstale < s->queue.n / 2)
		return;
	events_sift(&s->queue, is_stale, NULL);
	s->nstale = 0;
}

static int queue_timer(struct sim *s, struct flow *f)
{
	const struct event v = { f->wake_at, f->wake_seq, f, SIM_WAKE, 0 };

	if (f->queued_seq && f->queued_at <= f->wake_at)
		return 0;
	if (f->queued_seq) {
		f->queued_seq = 0;
		count_stale(s);
	}
	if (events_add(&s->queue, &v))
		return sim_fail(s, ERR_NOMEM, "out of memory for a timer");
	f->queued_at = v.at;
	f->queued_seq = v.seq;
	return 0;
}

/*
 * Returns -ERR_CLOSED to a layer. A layer that does not return after many of these is suspended for
 * ever.
 */
static int closed(struct sim *s, struct flow *f)
{
	if (++f->closed > NEKO_CLOSED_MAX)
		for (;;)
			coro_yield(f->coro);
	return -ERR_CLOSED;
}

static int give_up_turn(struct sim *s, struct flow *f, nsec_t until, bool for_message)
{
	f->polls = 0;
	f->wake_at = until;
	f->wake_seq = ++s->seq;
	if (until != NEKO_NEVER && queue_timer(s, f))
		return -ERR_CLOSED;
	f->is_waiting = true;
	f->is_for_message = for_message;
	f->is_timed_out = false;
	coro_yield(f->coro);
	if (s->is_closing)
		return closed(s, f);
	return f->is_timed_out ? -ERR_TIMEOUT : 0;
}

/* Refuses too many polls without a wait: no time passes in a loop that only polls. */
static int poll_once(struct sim *s, struct flow *f)
{
	if (++f->polls > NEKO_POLLS_MAX) {
		sim_fail(s, ERR_LIMIT, "process %u: layer %s polls endlessly: no time passes",
			 f->layer->process->id, f->layer->ops->name);
		return give_up_turn(s, f, NEKO_NEVER, false);
	}
	return -ERR_TIMEOUT;
}

int sim_flow_wait(struct neko_layer *l, nsec_t until, bool for_message)
{
	struct sim *s = sim_of(l->process->world);
	struct flow *f = l->of_world;

	if (s->is_closing)
		return closed(s, f);
	if (until <= s->now)
		return poll_once(s, f);
	return give_up_turn(s, f, until, for_message);
}

void sim_flow_arrived(struct neko_layer *l)
{
	struct flow *f = l->of_world;

	if (f && f->is_waiting && f->is_for_message)
		make_ready(sim_of(l->process->world), f);
}

void sim_flow_timer(struct sim *s, const struct event *v)
{
	struct flow *f = v->what;

	if (v->seq != f->queued_seq) {
		if (s->nstale)
			s->nstale--;
		return;
	}
	f->queued_seq = 0;
	if (!f->is_waiting || f->wake_at == NEKO_NEVER)
		return;
	if (v->seq != f->wake_seq) {
		queue_timer(s, f);
		return;
	}
	f->is_timed_out = true;
	make_ready(s, f);
}

static bool give_turn(struct sim *s, const struct flow *f)
{
	bool is_there;

	s->running = f;
	is_there = coro_turn(f->coro);
	s->running = NULL;
	return is_there;
}

static void take_turn(struct sim *s, struct flow *f)
{
	f->is_ready = false;
	if (f->layer->process->is_down && !s->is_closing)
		return;
	f->is_waiting = false;
	give_turn(s, f);
	if (coro_is_broken(f->coro))
		sim_fail(s, ERR_LIMIT,
			 "process %u: the stack of layer %s is too small: more than %zu bytes; "
			 "write "
			 "simulation.stack = %zu",
			 f->layer->process->id, f->layer->ops->name, s->stack_bytes,
			 2 * s->stack_bytes);
}

void sim_run_ready(struct sim *s)
{
	uint32_t turns = 0;
	struct flow *f;

	while ((f = s->ready) != NULL && !s->failure.code) {
		s->ready = f->next_ready;
		take_turn(s, f);
		/* Two layers that wake each other need no event for that. */
		if (++turns > NEKO_TURNS_MAX)
			sim_fail(s, ERR_LIMIT,
				 "process %u: layer %s and others wake each other endlessly: no "
				 "time passes",
				 f->layer->process->id, f->layer->ops->name);
	}
}

unsigned sim_flows_close(struct sim *s)
{
	unsigned left = 0;

	s->is_closing = true;
	simstack_enter(s->watch);
	for (size_t i = 0; i < s->nflow; i++)
		left += give_turn(s, &s->flows[i]);
	simstack_leave(s->watch);
	return left;
}
