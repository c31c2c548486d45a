/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Repeats a message until the receiver acknowledges it. Gives up after a long silence, because the
 * receiver may have crashed.
 */
#include "neko/algorithms/broadcast.h"

#include "common/container/list.h"
#include "common/container/map.h"
#include "neko/core/limits.h"
#include "neko/core/setup.h"

#include <stdlib.h>
#include <string.h>

/* number and type of the carried message; an acknowledgement has nothing else */
#define HEAD_BYTES 10
#define TYPE_ACK NEKO_TYPES_MAX
#define SLOWER_MAX 8 /* largest interval between retries, as a multiple of link.retry */
#define TIME_MAX (INT64_C(1000000) * NSEC_PER_SEC)

struct parcel {
	struct list link; /* entry of stubborn.open, by age */
	struct neko_msg *msg; /* referenced: shared by all its destinations */
	uint64_t number;
	uint32_t to;
	nsec_t sent_at, next_at, wait;
};

struct stubborn {
	nsec_t retry, give_up;
	uint64_t number; /* number of the last message */
	struct map parcel; /* owned, by key_of() */
	struct list open;
};

static void put(uint8_t *p, unsigned bytes, uint64_t v)
{
	while (bytes--) {
		*p++ = (uint8_t)v;
		v >>= 8;
	}
}

static uint64_t get(const uint8_t *p, unsigned bytes)
{
	uint64_t v = 0;

	while (bytes--)
		v = v << 8 | p[bytes];
	return v;
}

_Static_assert(NEKO_PROCESSES_MAX < 1 << 20, "process ids take 20 bits of a key");
static uint64_t key_of(uint64_t number, uint32_t to)
{
	return number << 20 | to;
}

static void forget(struct neko_layer *l, struct stubborn *s, struct parcel *p)
{
	map_del(&s->parcel, key_of(p->number, p->to));
	list_del(&p->link);
	neko_msg_unref(l, p->msg);
	free(p);
}

static int await(struct neko_layer *l, struct stubborn *s, struct neko_msg *m, uint32_t to)
{
	struct parcel *p = calloc(1, sizeof(*p));
	nsec_t now = neko_now(l);

	if (!p || map_put(&s->parcel, key_of(s->number, to), p, NULL)) {
		free(p);
		return -ERR_NOMEM;
	}
	*p = (struct parcel){ .msg = m,
			      .number = s->number,
			      .to = to,
			      .sent_at = now,
			      .next_at = now + s->retry,
			      .wait = s->retry };
	neko_msg_ref(m);
	list_push_back(&s->open, &p->link);
	return 0;
}

static int await_all(struct neko_layer *l, struct stubborn *s, struct neko_msg *m)
{
	uint32_t n = m->to == NEKO_OTHERS ? neko_count(neko_process(l)) : m->nto;
	uint32_t self = neko_id(neko_process(l));
	int rc = 0;

	for (uint32_t i = 0; i < n && !rc; i++) {
		uint32_t to = m->to == NEKO_OTHERS ? i + 1 : m->all ? m->all[i] : m->to;

		if (m->to != NEKO_OTHERS || to != self)
			rc = await(l, s, m, to);
	}
	return rc;
}

static int stubborn_send(struct neko_layer *l, struct neko_msg *m)
{
	struct stubborn *s = neko_state(l);
	struct neko_msg *all;
	int rc;

	if (m->n > NEKO_CONTENT_MAX_BYTES - HEAD_BYTES)
		return -ERR_LIMIT;
	all = neko_msg_many(l, m->all ? m->all : &m->to, m->all ? m->nto : 1, BROADCAST_LINK, NULL,
			    HEAD_BYTES + m->n);
	if (!all)
		return -ERR_NOMEM;
	all->net = m->net;
	put(all->content, 8, ++s->number);
	put(all->content + 8, 2, m->type);
	memcpy(all->content + HEAD_BYTES, m->content, m->n);
	rc = neko_send(l, all);
	if (!rc)
		rc = await_all(l, s, all);
	neko_msg_unref(l, all);
	return rc;
}

static void acknowledge(struct neko_layer *l, const struct neko_msg *m)
{
	uint8_t ack[HEAD_BYTES];

	memcpy(ack, m->content, sizeof(ack));
	put(ack + 8, 2, TYPE_ACK);
	neko_send_to(l, m->from, m->net, BROADCAST_LINK, ack, sizeof(ack));
}

static void unpack(struct neko_layer *l, const struct neko_msg *m, uint16_t type)
{
	struct neko_msg *inner = neko_msg_new(l, type, m->content + HEAD_BYTES, m->n - HEAD_BYTES);

	if (!inner)
		return;
	inner->from = m->from;
	inner->to = neko_id(neko_process(l));
	inner->net = m->net;
	inner->sent_at = m->sent_at;
	neko_deliver(l, inner);
	neko_msg_unref(l, inner);
}

static void stubborn_deliver(struct neko_layer *l, struct neko_msg *m)
{
	struct stubborn *s = neko_state(l);
	struct parcel *p;
	uint64_t type;

	if (m->n < HEAD_BYTES)
		return;
	type = get(m->content + 8, 2);
	if (type == TYPE_ACK) {
		p = map_find(&s->parcel, key_of(get(m->content, 8), m->from));
		if (p)
			forget(l, s, p);
	} else if (type < NEKO_TYPES_MAX) {
		acknowledge(l, m);
		unpack(l, m, (uint16_t)type);
	}
}

static void send_again(struct neko_layer *l, struct stubborn *s, struct parcel *p, nsec_t now)
{
	if (now - p->sent_at >= s->give_up) {
		forget(l, s, p);
		return;
	}
	if (p->wait < SLOWER_MAX * s->retry)
		p->wait *= 2;
	p->next_at = now + p->wait;
	neko_send_to(l, p->to, p->msg->net, BROADCAST_LINK, p->msg->content, p->msg->n);
}

static void stubborn_run(struct neko_layer *l)
{
	struct stubborn *s = neko_state(l);

	while (neko_sleep(l, s->retry) == 0) {
		nsec_t now = neko_now(l);

		list_each_safe (i, &s->open) {
			struct parcel *p = list_entry(i, struct parcel, link);

			if (now >= p->next_at)
				send_again(l, s, p, now);
		}
	}
}

static void stubborn_done(struct neko_layer *l)
{
	struct stubborn *s = neko_state(l);
	struct map_iter i = { 0 };

	while (map_next(&s->parcel, &i)) {
		struct parcel *p = i.value;

		neko_msg_unref(l, p->msg);
		free(p);
	}
	map_done(&s->parcel);
}

static const struct neko_type types[] = { { BROADCAST_LINK, "link" }, { 0, NULL } };

static const struct neko_layer_ops stubborn_ops = {
	.name = "stubborn",
	.bytes = sizeof(struct stubborn),
	.types = types,
	.run = stubborn_run,
	.deliver = stubborn_deliver,
	.send = stubborn_send,
	.done = stubborn_done,
};

int stubborn_init(struct neko_process *p, struct setup *s, struct err *e)
{
	struct stubborn *b;
	int rc = neko_push(p, &stubborn_ops, &b, e);

	if (rc)
		return rc;
	map_init(&b->parcel);
	list_init(&b->open);
	b->retry = 100 * NSEC_PER_MSEC;
	b->give_up = 60 * NSEC_PER_SEC;
	rc = setup_nsec(s, "link.retry", NSEC_PER_USEC, TIME_MAX, &b->retry, e);
	return rc ? rc : setup_nsec(s, "link.give_up", 1, TIME_MAX, &b->give_up, e);
}
