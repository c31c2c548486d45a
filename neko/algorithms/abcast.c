/* SPDX-License-Identifier: Apache-2.0 */
/* The common parts of both atomic broadcasts: the messages, and the layer that creates them. */
#include "neko/algorithms/abcast.h"

#include "neko/algorithms/qosfd.h"
#include "neko/core/limits.h"
#include "neko/core/setup.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TIME_MAX (INT64_C(1000000) * NSEC_PER_SEC)
#define RATE_MAX 1e6
#define WAITING_MAX_BYTES ((size_t)1 << 30) /* enough for 100 million messages */

/* Values of a.seen: a message waits for its order, or is delivered. */
static const char marks[2];
#define WAITS ((void *)(uintptr_t)&marks[0])
#define IS_DELIVERED ((void *)(uintptr_t)&marks[1])

static void put_id(uint8_t *p, uint64_t id)
{
	for (unsigned i = 0; i < ABCAST_ID_BYTES; i++)
		p[i] = (uint8_t)(id >> 8 * i);
}

static uint64_t get_id(const uint8_t *p)
{
	uint64_t id = 0;

	for (unsigned i = ABCAST_ID_BYTES; i-- > 0;)
		id = id << 8 | p[i];
	return id;
}

struct bytes abcast_waiting(const struct abcast *a)
{
	size_t most = (size_t)ABCAST_BATCH_MAX * ABCAST_ID_BYTES;

	return bytes_at(a->waiting.p, a->waiting.n < most ? a->waiting.n : most);
}

/* --- delivery */

static void deliver_one(struct neko_layer *l, uint64_t id)
{
	struct abcast *a = neko_state(l);
	struct neko_msg *m;
	uint8_t content[ABCAST_ID_BYTES];

	if (map_find(&a->seen, id) == IS_DELIVERED || map_put(&a->seen, id, IS_DELIVERED, NULL))
		return;
	neko_log(l, ABCAST_DELIVERED, (double)id);
	put_id(content, id);
	m = neko_msg_new(l, ABCAST_TYPE, content, sizeof(content));
	if (!m)
		return;
	m->from = (uint32_t)(id >> 32);
	m->net = a->net;
	neko_deliver(l, m);
	neko_msg_unref(l, m);
}

/* Removes delivered messages from `waiting`, which has few others. */
static void drop_delivered(struct abcast *a)
{
	size_t n = 0;

	for (size_t i = 0; i + ABCAST_ID_BYTES <= a->waiting.n; i += ABCAST_ID_BYTES) {
		if (map_find(&a->seen, get_id(a->waiting.p + i)) == IS_DELIVERED)
			continue;
		memmove(a->waiting.p + n, a->waiting.p + i, ABCAST_ID_BYTES);
		n += ABCAST_ID_BYTES;
	}
	a->waiting.n = n;
}

void abcast_deliver_batch(struct neko_layer *l, struct bytes batch)
{
	struct abcast *a = neko_state(l);

	for (size_t i = 0; i + ABCAST_ID_BYTES <= batch.n; i += ABCAST_ID_BYTES)
		deliver_one(l, get_id(batch.p + i));
	drop_delivered(a);
}

/* --- the layer */

/* Lets a message wait for its order when the process receives it for the first time. */
static void take(struct neko_layer *l, uint64_t id)
{
	struct abcast *a = neko_state(l);
	uint8_t bytes[ABCAST_ID_BYTES];

	if (map_find(&a->seen, id) || map_put(&a->seen, id, WAITS, NULL))
		return;
	put_id(bytes, id);
	buf_put(&a->waiting, bytes, sizeof(bytes));
	a->algorithm->start(l);
}

static void change(struct neko_layer *l, const struct neko_msg *m)
{
	struct abcast *a = neko_state(l);
	bool is_suspected = m->n && m->content[0];

	if (a->suspected[m->from - 1] == is_suspected)
		return;
	a->suspected[m->from - 1] = is_suspected;
	if (is_suspected)
		consensus_suspect(l, a->consensus, m->from);
	a->algorithm->changed(l, m->from);
}

static void abcast_deliver(struct neko_layer *l, struct neko_msg *m)
{
	struct abcast *a = neko_state(l);
	uint64_t id;

	switch (m->type) {
	case ABCAST_TYPE:
		id = m->n == ABCAST_ID_BYTES ? get_id(m->content) : 0;
		if ((id >> 32) - 1 < a->m && (uint32_t)id)
			take(l, id);
		break;
	case CONSENSUS_TYPE:
		consensus_hear(l, a->consensus, m);
		break;
	case ABCAST_SEQUENCER:
		a->algorithm->hear(l, m);
		break;
	case QOSFD_CHANGE:
		change(l, m);
		break;
	}
}

/* Sends the number of a new message to all processes, before it has an order. */
static int abcast_send(struct neko_layer *l, struct neko_msg *m)
{
	struct abcast *a = neko_state(l);
	uint64_t id = (uint64_t)a->self << 32 | ++a->own;
	uint8_t content[ABCAST_ID_BYTES];

	put_id(content, id);
	neko_log(l, ABCAST_SENT, (double)id);
	neko_send_to(l, NEKO_OTHERS, a->net, ABCAST_TYPE, content, sizeof(content));
	take(l, id);
	return 0;
}

/*
 * Resends own messages that have had no order since the last call: other processes may lack them.
 */
static void send_own_again(struct neko_layer *l)
{
	struct abcast *a = neko_state(l);

	for (size_t i = 0; i < abcast_waiting(a).n; i += ABCAST_ID_BYTES) {
		uint64_t id = get_id(a->waiting.p + i);

		if (id >> 32 == a->self && (uint32_t)id <= a->nudged)
			neko_send_to(l, NEKO_OTHERS, a->net, ABCAST_TYPE, a->waiting.p + i,
				     ABCAST_ID_BYTES);
	}
	a->nudged = a->own;
}

static void abcast_run(struct neko_layer *l)
{
	struct abcast *a = neko_state(l);

	while (neko_sleep(l, a->nudge) == 0) {
		send_own_again(l);
		consensus_nudge(l, a->consensus);
		a->algorithm->nudge(l);
	}
}

static void abcast_done(struct neko_layer *l)
{
	struct abcast *a = neko_state(l);

	if (a->algorithm)
		a->algorithm->done(l);
	consensus_free(l, a->consensus);
	buf_done(&a->waiting);
	map_done(&a->seen);
}

static const struct neko_type types[] = { { ABCAST_TYPE, "abcast" },
					  { CONSENSUS_TYPE, "consensus" },
					  { ABCAST_SEQUENCER, "sequencer" },
					  { QOSFD_CHANGE, "change" },
					  { 0, NULL } };

static const struct neko_layer_ops abcast_ops = {
	.name = "abcast",
	.bytes = sizeof(struct abcast),
	.types = types,
	.run = abcast_run,
	.deliver = abcast_deliver,
	.send = abcast_send,
	.done = abcast_done,
};

/* --- the layer that creates messages */

struct source {
	nsec_t every, until; /* every: mean time between messages; 0: none */
};

static nsec_t draw_wait(struct neko_layer *l, const struct source *s)
{
	return (nsec_t)(-(double)s->every * log1p(-neko_random(l)));
}

static void source_run(struct neko_layer *l)
{
	const struct source *s = neko_state(l);

	while (neko_sleep(l, s->every ? draw_wait(l, s) : NEKO_TIME_MAX) == 0 &&
	       (!s->until || neko_now(l) < s->until))
		neko_send_to(l, NEKO_OTHERS, 0, ABCAST_TYPE, NULL, 0);
}

/* Drops a delivered message: it has reached the application. */
static void source_deliver(struct neko_layer *l, struct neko_msg *m)
{
}

static const struct neko_type source_types[] = { { ABCAST_TYPE, "abcast" }, { 0, NULL } };

static const struct neko_layer_ops source_ops = {
	.name = "source",
	.bytes = sizeof(struct source),
	.types = source_types,
	.run = source_run,
	.deliver = source_deliver,
};

static int push_source(struct neko_process *p, struct setup *s, struct err *e)
{
	double rate = 100;
	struct source *v;
	int rc = neko_push(p, &source_ops, &v, e);

	if (!rc)
		rc = setup_double(s, "abcast.rate", 0, RATE_MAX, &rate, e);
	if (!rc)
		rc = setup_nsec(s, "abcast.until", 0, NEKO_TIME_MAX, &v->until, e);
	if (!rc && rate * TIME_MAX > neko_count(p) * 1e9)
		v->every = (nsec_t)(1e9 * neko_count(p) / rate);
	return rc;
}

static int configure(struct abcast *a, struct neko_process *p, struct setup *s, struct err *e)
{
	uint64_t net = 1, quorum = a->m / 2 + 1;
	int rc = setup_u64(s, "abcast.network", 1, neko_nets(p), &net, e);

	if (!rc)
		rc = setup_u64(s, "abcast.quorum", 1, a->m, &quorum, e);

	a->nudge = 500 * NSEC_PER_MSEC;
	if (!rc)
		rc = setup_nsec(s, "abcast.nudge", NSEC_PER_MSEC, TIME_MAX, &a->nudge, e);
	a->net = (uint8_t)(net - 1);
	a->quorum = (uint32_t)quorum;
	consensus_set(a->consensus, a->net, a->quorum);
	return rc;
}

int abcast_push(struct neko_process *p, struct setup *s, const struct abcast_algorithm *algorithm,
		struct abcast **out, struct err *e)
{
	struct abcast *a;
	int rc;

	if (neko_count(p) > CONSENSUS_PROCESSES_MAX)
		return neko_fail(e, "atomic broadcast has at most %d processes; lower process.num",
				 CONSENSUS_PROCESSES_MAX);
	rc = qosfd_init(p, s, e);
	if (!rc)
		rc = neko_push(p, &abcast_ops, &a, e);
	if (rc)
		return rc;
	map_init(&a->seen);
	a->waiting = BUF_INIT(WAITING_MAX_BYTES);
	a->m = neko_count(p);
	a->self = neko_id(p);
	a->consensus = consensus_new(a->m, a->self, a->suspected, algorithm->decided);
	if (!a->consensus)
		return err_nomem(e);
	a->algorithm = algorithm;
	*out = a;
	rc = configure(a, p, s, e);
	return rc ? rc : push_source(p, s, e);
}
