/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/array.h"
#include "neko/core/world.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(NEKO_CLOSED == -ERR_CLOSED && NEKO_TIMEOUT == -ERR_TIMEOUT,
	       "an algorithm has words of its own for both");

uint32_t neko_id(const struct neko_process *p)
{
	return p->id;
}

uint32_t neko_count(const struct neko_process *p)
{
	return p->world->nprocess;
}

uint32_t neko_nets(const struct neko_process *p)
{
	return p->world->nnet;
}

void *neko_state(struct neko_layer *l)
{
	return l->state;
}

struct neko_process *neko_process(struct neko_layer *l)
{
	return l->process;
}

nsec_t neko_now(const struct neko_layer *l)
{
	return l->process->world->ops->now(l->process->world);
}

struct rng *neko_rng(struct neko_layer *l)
{
	return &l->process->rng;
}

double neko_random(struct neko_layer *l)
{
	return rng_double(neko_rng(l));
}

static int declare(struct neko_world *w, const struct neko_layer_ops *ops, struct err *e)
{
	for (const struct neko_type *t = ops->types; t && t->name; t++) {
		const char **known = &w->type_name[t->number < NEKO_TYPES_MAX ? t->number : 0];

		if (t->number >= NEKO_TYPES_MAX)
			return err_set(e, ERR_LIMIT,
				       "type %u of layer %s: types are numbers below %d", t->number,
				       ops->name, NEKO_TYPES_MAX);
		if (*known && strcmp(*known, t->name) != 0)
			return err_set(e, ERR_EXISTS, "type %u is %s and, in layer %s, %s too",
				       t->number, *known, ops->name, t->name);
		*known = t->name;
	}
	return 0;
}

int neko_push(struct neko_process *p, const struct neko_layer_ops *ops, void *out, struct err *e)
{
	struct neko_layer *l;
	void *state;
	int rc;

	if (p->nlayers == NEKO_LAYERS_MAX)
		return err_set(e, ERR_LIMIT, "a process has at most %d layers", NEKO_LAYERS_MAX);
	rc = declare(p->world, ops, e);
	if (rc)
		return rc;
	l = calloc(1, sizeof(*l) + ops->bytes);
	if (!l)
		return err_nomem(e);
	l->ops = ops;
	l->process = p;
	l->below = p->highest;
	if (p->highest)
		p->highest->above = l;
	else
		p->lowest = l;
	p->highest = l;
	p->nlayers++;
	state = ops->bytes ? l->state : NULL;
	if (out)
		memcpy(out, &state, sizeof(state));
	return 0;
}

static int check(const struct neko_process *p, const struct neko_msg *m)
{
	const struct neko_world *w = p->world;

	if (m->type >= NEKO_TYPES_MAX || !w->type_name[m->type] || m->net >= w->nnet)
		return -ERR_INVALID;
	if (!m->all)
		return m->to == NEKO_OTHERS || m->to - 1 < w->nprocess ? 0 : -ERR_INVALID;
	for (uint32_t i = 0; i < m->nto; i++)
		if (m->all[i] - 1 >= w->nprocess)
			return -ERR_INVALID;
	return 0;
}

static nsec_t error_of(const struct neko_world *w)
{
	return w->ops->error ? w->ops->error(w) : 0;
}

static uint32_t sent_error(const struct neko_world *w)
{
	nsec_t error = error_of(w);

	return error < UINT32_MAX ? (uint32_t)error : UINT32_MAX;
}

/* Returns false if layers pass messages to each other without end: the stack would overflow. */
static bool enter(struct neko_layer *l)
{
	const struct neko_world_ops *ops = l->process->world->ops;

	if (++l->process->depth <= NEKO_DEPTH_MAX)
		return true;
	l->process->depth--;
	if (ops->looped)
		ops->looped(l);
	return false;
}

static int to_network(struct neko_process *p, struct neko_msg *m)
{
	int rc = check(p, m);

	if (rc)
		return rc;
	if (m->to == NEKO_OTHERS)
		m->nto = p->world->nprocess - 1;
	m->from = p->id;
	m->sent_at = p->world->ops->now(p->world);
	m->sent_error = sent_error(p->world);
	return p->world->ops->transmit(p, m);
}

static int send_from(struct neko_process *p, struct neko_layer *below, struct neko_msg *m)
{
	for (; below; below = below->below)
		if (below->ops->send)
			return below->ops->send(below, m);
	return to_network(p, m);
}

int neko_send(struct neko_layer *l, struct neko_msg *m)
{
	int rc;

	if (!enter(l))
		return -ERR_LIMIT;
	rc = send_from(l->process, l->below, m);
	l->process->depth--;
	return rc;
}

/* six: layers of users call it, and the interface is fixed. */
int neko_send_to(struct neko_layer *l, uint32_t to, uint8_t net, uint16_t type, const void *content,
		 size_t n)
{
	struct neko_msg *m;
	int rc;

	if (n > NEKO_CONTENT_MAX_BYTES)
		return -ERR_LIMIT;
	m = neko_msg_many(l, &to, 1, type, content, n);
	if (!m)
		return -ERR_NOMEM;
	m->net = net;
	rc = neko_send(l, m);
	neko_msg_unref(l, m);
	return rc;
}

/* Enlarges the ring, and moves its oldest entry to the beginning. */
static int grow(struct neko_layer *l)
{
	uint32_t cap = l->queue_cap ? l->queue_cap * 2 : 4;
	struct neko_msg **grown;

	if (cap > NEKO_QUEUE_MAX)
		return -ERR_LIMIT;
	grown = malloc(cap * sizeof(struct neko_msg *));
	if (!grown)
		return -ERR_NOMEM;
	for (uint32_t i = 0; i < l->queue_n; i++)
		grown[i] = l->queue[(l->queue_at + i) % l->queue_cap];
	free(l->queue);
	l->queue = grown;
	l->queue_at = 0;
	l->queue_cap = cap;
	return 0;
}

/* Queues a message. A layer that does not receive loses messages, like a socket. */
static void enqueue(struct neko_layer *l, struct neko_msg *m)
{
	if (l->queue_n == l->queue_cap && grow(l))
		return;
	neko_msg_ref(m);
	l->queue[(l->queue_at + l->queue_n++) & (l->queue_cap - 1)] = m;
	l->process->world->ops->arrived(l);
}

static bool is_for(const struct neko_layer_ops *ops, uint16_t type)
{
	const struct neko_type *t = ops->types;

	if (!t)
		return true;
	for (; t->name; t++)
		if (t->number == type)
			return true;
	return false;
}

static void deliver_to(struct neko_layer *l, struct neko_msg *m)
{
	for (; l; l = l->above) {
		const struct neko_layer_ops *ops = l->ops;

		if ((!ops->deliver && !ops->run) || !is_for(ops, m->type))
			continue;
		if (ops->deliver)
			ops->deliver(l, m);
		else
			enqueue(l, m);
		return;
	}
}

void neko_deliver(struct neko_layer *l, struct neko_msg *m)
{
	if (!enter(l))
		return;
	deliver_to(l->above, m);
	l->process->depth--;
}

void world_hand_up(struct neko_process *p, struct neko_msg *m)
{
	if (!p->is_down)
		deliver_to(p->lowest, m);
}

static void forget_received(struct neko_layer *l)
{
	if (l->received)
		neko_msg_unref(l, l->received);
	l->received = NULL;
}

/* Returns the end of a wait: NEKO_NEVER for a negative duration, and if the sum overflows. */
static nsec_t end_of(const struct neko_layer *l, nsec_t duration)
{
	nsec_t now = neko_now(l);

	return duration < 0 || duration > NEKO_NEVER - now ? NEKO_NEVER : now + duration;
}

int neko_receive(struct neko_layer *l, nsec_t timeout, struct neko_msg **out)
{
	int rc;

	forget_received(l);
	rc = l->queue_n ? 0 : l->process->world->ops->wait(l, end_of(l, timeout), true);
	if (rc)
		return rc;
	l->received = l->queue[l->queue_at];
	l->queue_at = (l->queue_at + 1) & (l->queue_cap - 1);
	l->queue_n--;
	*out = l->received;
	return 0;
}

int neko_sleep_until(struct neko_layer *l, nsec_t at)
{
	int rc = l->process->world->ops->wait(l, at, false);

	return rc == -ERR_TIMEOUT ? 0 : rc;
}

int neko_sleep(struct neko_layer *l, nsec_t duration)
{
	return neko_sleep_until(l, end_of(l, duration < 0 ? 0 : duration));
}

void neko_log(struct neko_layer *l, const char *what, double content)
{
	struct neko_world *w = l->process->world;
	struct neko_event v = {
		.process = l->process->id, .at = w->ops->now(w), .what = what, .content = content
	};

	v.error = error_of(w);
	if (!l->process->is_down)
		w->ops->log(w, &v);
}

int neko_log_bytes(struct neko_layer *l, const char *what, const void *p, size_t n)
{
	struct neko_world *w = l->process->world;
	struct neko_event v = {
		.process = l->process->id, .at = w->ops->now(w), .what = what, .content = NAN
	};

	if (n > NEKO_EVENT_MAX_BYTES)
		return -ERR_LIMIT;
	v.error = error_of(w);
	v.bytes = n ? p : NULL;
	v.n = (uint32_t)n;
	if (!l->process->is_down)
		w->ops->log(w, &v);
	return 0;
}

void neko_log_delay(struct neko_layer *l, const char *what, const struct neko_msg *m)
{
	struct neko_world *w = l->process->world;
	nsec_t now = w->ops->now(w), error = error_of(w);
	const struct neko_event v = { .process = l->process->id,
				      .at = now,
				      .what = what,
				      .content = (double)(now - m->sent_at) / 1e9,
				      .error = error,
				      .content_error = error + m->sent_error };

	if (!l->process->is_down)
		w->ops->log(w, &v);
}

void neko_stop(struct neko_layer *l)
{
	l->process->world->ops->stop(l->process->world);
}
