/* SPDX-License-Identifier: Apache-2.0 */
#include "neko/algorithms/broadcast.h"

#include "common/container/map.h"
#include "neko/core/limits.h"
#include "neko/core/setup.h"

#include <math.h>
#include <stdlib.h>

#define TIME_MAX (INT64_C(1000000) * NSEC_PER_SEC)

static const struct neko_type types[] = { { BROADCAST_TYPE, "broadcast" }, { 0, NULL } };

/* --- the layer that turns a send into a broadcast */

struct broadcast {
	bool relays;
	uint32_t own; /* number of the last own message */
	uint32_t m;
	uint32_t *low; /* owned, by origin: all messages up to this number were delivered */
	struct map beyond; /* numbers of delivered messages above `low`; values have no meaning */
};

static void put_id(uint8_t out[8], uint64_t id)
{
	for (unsigned i = 0; i < 8; i++)
		out[i] = (uint8_t)(id >> 8 * i);
}

static uint64_t get_id(const uint8_t *p)
{
	uint64_t id = 0;

	for (unsigned i = 8; i-- > 0;)
		id = id << 8 | p[i];
	return id;
}

/* Returns false if the message was seen before, or if there is no memory to note it. */
static bool is_new(struct broadcast *b, uint64_t id)
{
	uint32_t number = (uint32_t)id, *low = &b->low[(id >> 32) - 1];

	if (number <= *low || map_find(&b->beyond, id))
		return false;
	if (number > *low + 1)
		return !map_put(&b->beyond, id, b, NULL);
	++*low;
	while (map_del(&b->beyond, ++id))
		++*low;
	return true;
}

/* Relays a message to all before it is delivered here: this makes the broadcast reliable. */
static void pass_on(struct neko_layer *l, const struct neko_msg *m)
{
	neko_send_to(l, NEKO_OTHERS, m->net, BROADCAST_TYPE, m->content, m->n);
}

static void broadcast_deliver(struct neko_layer *l, struct neko_msg *m)
{
	struct broadcast *b = neko_state(l);
	uint64_t id = m->n < 8 ? 0 : get_id(m->content);

	if ((id >> 32) - 1 >= b->m || !(uint32_t)id || !is_new(b, id))
		return;
	if (b->relays)
		pass_on(l, m);
	neko_log(l, BROADCAST_DELIVERED, (double)id);
	neko_deliver(l, m);
}

static int broadcast_send(struct neko_layer *l, struct neko_msg *m)
{
	struct broadcast *b = neko_state(l);
	uint64_t id = (uint64_t)neko_id(neko_process(l)) << 32 | (b->own + 1);
	struct neko_msg *own = neko_msg_new(l, BROADCAST_TYPE, NULL, 8);

	if (!own)
		return -ERR_NOMEM;
	own->net = m->net;
	own->from = neko_id(neko_process(l));
	put_id(own->content, id);
	b->own++;
	neko_log(l, BROADCAST_SENT, (double)id);
	pass_on(l, own);
	if (is_new(b, id))
		neko_log(l, BROADCAST_DELIVERED, (double)id);
	neko_deliver(l, own);
	neko_msg_unref(l, own);
	return 0;
}

static void broadcast_done(struct neko_layer *l)
{
	struct broadcast *b = neko_state(l);

	free(b->low);
	map_done(&b->beyond);
}

static const struct neko_layer_ops broadcast_ops = {
	.name = "broadcast",
	.bytes = sizeof(struct broadcast),
	.types = types,
	.deliver = broadcast_deliver,
	.send = broadcast_send,
	.done = broadcast_done,
};

/* --- the layer that creates broadcasts */

struct source {
	nsec_t every, until;
	uint8_t net;
};

static nsec_t draw_wait(struct neko_layer *l, const struct source *s)
{
	return (nsec_t)(-(double)s->every * log1p(-neko_random(l)));
}

static void source_run(struct neko_layer *l)
{
	const struct source *s = neko_state(l);

	while (neko_sleep(l, draw_wait(l, s)) == 0 && (!s->until || neko_now(l) < s->until))
		neko_send_to(l, NEKO_OTHERS, s->net, BROADCAST_TYPE, NULL, 0);
}

static void source_deliver(struct neko_layer *l, struct neko_msg *m)
{
}

static const struct neko_layer_ops source_ops = {
	.name = "source",
	.bytes = sizeof(struct source),
	.types = types,
	.run = source_run,
	.deliver = source_deliver,
};

static int push_source(struct neko_process *p, struct setup *s, struct err *e)
{
	struct source *v;
	uint64_t net = 1;
	int rc = neko_push(p, &source_ops, &v, e);

	if (rc)
		return rc;
	v->every = 100 * NSEC_PER_MSEC;
	v->until = 10 * NSEC_PER_SEC;
	rc = setup_nsec(s, "broadcast.every", NSEC_PER_USEC, TIME_MAX, &v->every, e);
	if (!rc)
		rc = setup_nsec(s, "broadcast.until", 0, NEKO_TIME_MAX, &v->until, e);
	if (!rc)
		rc = setup_u64(s, "broadcast.network", 1, neko_nets(p), &net, e);
	v->net = (uint8_t)(net - 1);
	return rc;
}

int broadcast_init(struct neko_process *p, struct setup *s, struct err *e)
{
	struct broadcast *b;
	int rc = stubborn_init(p, s, e);

	if (!rc)
		rc = neko_push(p, &broadcast_ops, &b, e);
	if (rc)
		return rc;
	map_init(&b->beyond);
	b->m = neko_count(p);
	b->low = calloc(b->m, sizeof(*b->low));
	if (!b->low)
		return err_nomem(e);
	b->relays = true;
	rc = setup_bool(s, "broadcast.relay", &b->relays, e);
	return rc ? rc : push_source(p, s, e);
}
