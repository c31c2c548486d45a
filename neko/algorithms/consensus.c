/* SPDX-License-Identifier: Apache-2.0 */
#include "neko/algorithms/consensus.h"

#include "common/base/array.h"
#include "neko/core/limits.h"

#include <stdlib.h>
#include <string.h>

/* kind, has a value: 1 byte each; instance, round, timestamp of the value: 4 bytes each */
#define HEAD_BYTES 14
#define INSTANCES_MAX (1u << 28) /* memory ends before */
/* waiting messages of later instances: at this number the process has stopped */
#define LATER_MAX 100000

enum kind {
	KIND_PROPOSE, /* the coordinator's value of a round */
	KIND_ACK,
	KIND_NACK, /* refuses a proposal; timestamp: the sender's round */
	KIND_ESTIMATE, /* an estimate, to the coordinator of a round */
	KIND_DECIDE,
	KIND_ROUND, /* receivers go to this round */
};

struct head {
	uint8_t kind, has_value;
	uint32_t instance, round, stamp;
};

struct estimate {
	struct buf value; /* owned: index of the process that proposed the value, then the value */
	uint32_t stamp; /* round in which the value was acknowledged; 0: an own proposal */
	bool has_value;
};

struct decision {
	uint8_t *value; /* owned */
	uint32_t n, round;
};

struct consensus {
	consensus_decided_fn *decided;
	const bool *suspected; /* borrowed */
	uint32_t m, self, quorum, first; /* first: index of the first coordinator */
	uint8_t net;
	/* state of the current instance */
	uint32_t round;
	struct estimate own;
	/* this process has a value for the instance, or a message of it has arrived */
	bool is_begun;
	/* state as the coordinator of a round */
	/* rounds whose estimates were requested, and whose value was proposed; 0: none */
	uint32_t asked, proposed;
	struct estimate best; /* best of the received estimates */
	uint64_t has_estimate, acks, nacks; /* bits of processes */
	uint32_t nack_round; /* highest round in a refusal */
	struct decision *decision; /* owned: decisions of all instances so far */
	size_t n, cap;
	struct neko_msg **later; /* owned: messages of later instances */
	size_t nlater, cap_later;
	bool is_replaying;
	uint32_t nudged_at, nudged_round; /* instance and round at the last nudge */
};

static uint64_t bit(uint32_t id)
{
	return UINT64_C(1) << (id - 1);
}

static bool is_majority(const struct consensus *c, uint64_t set)
{
	return (uint32_t)__builtin_popcountll(set) >= c->quorum;
}

static uint32_t coordinator(const struct consensus *c, uint32_t round)
{
	return (c->first + round - 1) % c->m + 1;
}

uint32_t consensus_current(const struct consensus *c)
{
	return (uint32_t)c->n + 1;
}

struct consensus *consensus_new(uint32_t m, uint32_t self, const bool *suspected,
				consensus_decided_fn *decided)
{
	struct consensus *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	*c = (struct consensus){
		.decided = decided, .suspected = suspected, .m = m, .self = self, .round = 1
	};
	c->own.value = c->best.value = BUF_INIT(NEKO_CONTENT_MAX_BYTES);
	return c;
}

void consensus_free(struct neko_layer *l, struct consensus *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->n; i++)
		free(c->decision[i].value);
	for (size_t i = 0; i < c->nlater; i++)
		neko_msg_unref(l, c->later[i]);
	free(c->decision);
	free(c->later);
	buf_done(&c->own.value);
	buf_done(&c->best.value);
	free(c);
}

void consensus_set(struct consensus *c, uint8_t net, uint32_t quorum)
{
	c->net = net;
	c->quorum = quorum;
}

/* --- messages */

static void put32(uint8_t *p, uint32_t v)
{
	for (unsigned i = 0; i < 4; i++)
		p[i] = (uint8_t)(v >> 8 * i);
}

static uint32_t get32(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static void send(struct neko_layer *l, const struct consensus *c, uint32_t to, const struct head *h,
		 struct bytes value)
{
	struct neko_msg *m = neko_msg_many(l, &to, 1, CONSENSUS_TYPE, NULL, HEAD_BYTES + value.n);

	if (!m)
		return;
	m->net = c->net;
	m->content[0] = h->kind;
	m->content[1] = h->has_value;
	put32(m->content + 2, h->instance);
	put32(m->content + 6, h->round);
	put32(m->content + 10, h->stamp);
	if (value.n)
		memcpy(m->content + HEAD_BYTES, value.p, value.n);
	neko_send(l, m);
	neko_msg_unref(l, m);
}

static struct head head_of(const struct consensus *c, enum kind kind, uint32_t round)
{
	return (struct head){ .kind = (uint8_t)kind,
			      .instance = consensus_current(c),
			      .round = round };
}

static void send_bare(struct neko_layer *l, const struct consensus *c, uint32_t to, enum kind kind,
		      uint32_t round)
{
	const struct head h = head_of(c, kind, round);

	send(l, c, to, &h, (struct bytes){ 0 });
}

static bool read_head(const struct neko_msg *m, struct head *h, struct bytes *value)
{
	if (m->n < HEAD_BYTES || m->content[0] > KIND_ROUND)
		return false;
	*h = (struct head){ m->content[0], m->content[1], get32(m->content + 2),
			    get32(m->content + 6), get32(m->content + 10) };
	*value = bytes_at(m->content + HEAD_BYTES, m->n - HEAD_BYTES);
	return h->instance && h->round;
}

/* --- decisions */

static void begin_next(struct consensus *c)
{
	buf_clear(&c->own.value);
	buf_clear(&c->best.value);
	c->own.has_value = c->best.has_value = false;
	c->own.stamp = c->best.stamp = 0;
	c->round = 1;
	c->is_begun = false;
	c->asked = c->proposed = c->nack_round = 0;
	c->has_estimate = c->acks = c->nacks = 0;
}

/* Handles stored messages of the instance that is now current. */
static void replay(struct neko_layer *l, struct consensus *c)
{
	bool has_moved = true;

	if (c->is_replaying)
		return;
	c->is_replaying = true;
	while (has_moved) {
		uint32_t before = consensus_current(c);
		size_t n = c->nlater;
		struct neko_msg **all = c->later;

		c->later = NULL;
		c->nlater = c->cap_later = 0;
		for (size_t i = 0; i < n; i++) {
			consensus_hear(l, c, all[i]);
			neko_msg_unref(l, all[i]);
		}
		free(all);
		has_moved = consensus_current(c) != before;
	}
	c->is_replaying = false;
}

static void decide(struct neko_layer *l, struct consensus *c, uint32_t round, struct bytes value)
{
	struct decision d = { malloc(value.n + 1), (uint32_t)value.n, round };
	uint32_t instance = consensus_current(c);

	if (!d.value || array_grow(&c->decision, &c->cap, c->n + 1, sizeof(d), INSTANCES_MAX)) {
		free(d.value);
		return;
	}
	if (value.n)
		memcpy(d.value, value.p, value.n);
	c->decision[c->n++] = d;
	c->first = d.n && d.value[0] < c->m ? d.value[0] : c->first;
	begin_next(c);
	if (d.n)
		c->decided(l, instance, bytes_at(d.value + 1, d.n - 1));
	replay(l, c);
}

void consensus_remind(struct neko_layer *l, const struct consensus *c, uint32_t to,
		      uint32_t instance)
{
	const struct decision *d = &c->decision[instance - 1];
	struct head h = head_of(c, KIND_DECIDE, 1);

	if (instance - 1 >= c->n)
		return;
	h.has_value = 1;
	h.instance = instance;
	h.round = d->round;
	send(l, c, to, &h, bytes_at(d->value, d->n));
}

/* --- the coordinator */

static void try_decide(struct neko_layer *l, struct consensus *c)
{
	struct head h = head_of(c, KIND_DECIDE, c->proposed);

	if (!c->proposed || !is_majority(c, c->acks))
		return;
	h.has_value = 1;
	send(l, c, NEKO_OTHERS, &h, buf_bytes(&c->own.value));
	decide(l, c, c->proposed, buf_bytes(&c->own.value));
}

/* Proposes the own estimate in this round. */
static void propose(struct neko_layer *l, struct consensus *c, uint32_t round)
{
	struct head h = head_of(c, KIND_PROPOSE, round);

	c->round = c->proposed = c->own.stamp = round;
	c->acks = bit(c->self);
	c->nacks = 0;
	h.has_value = 1;
	send(l, c, NEKO_OTHERS, &h, buf_bytes(&c->own.value));
	try_decide(l, c);
}

static void take_estimate(struct consensus *c, uint32_t from, uint32_t stamp, bool has_value,
			  struct bytes value)
{
	c->has_estimate |= bit(from);
	if (!has_value || (c->best.has_value && c->best.stamp >= stamp))
		return;
	buf_clear(&c->best.value);
	buf_put(&c->best.value, value.p, value.n);
	c->best.stamp = stamp;
	c->best.has_value = true;
}

static void ask(struct consensus *c, uint32_t round)
{
	if (c->asked == round)
		return;
	c->asked = round;
	c->has_estimate = 0;
	c->best.has_value = false;
}

/*
 * Proposes the best estimate in its round, when a majority has sent estimates and one has a value.
 */
static void try_propose(struct neko_layer *l, struct consensus *c)
{
	if (!c->asked || c->asked < c->round || c->proposed == c->asked ||
	    !is_majority(c, c->has_estimate | bit(c->self)))
		return;
	c->round = c->asked;
	take_estimate(c, c->self, c->own.stamp, c->own.has_value, buf_bytes(&c->own.value));
	if (!c->best.has_value)
		return;
	buf_clear(&c->own.value);
	buf_put(&c->own.value, c->best.value.p, c->best.value.n);
	c->own.has_value = true;
	propose(l, c, c->asked);
}

/* --- rounds */

static void send_estimate(struct neko_layer *l, const struct consensus *c, uint32_t to)
{
	struct head h = head_of(c, KIND_ESTIMATE, c->round);

	h.has_value = c->own.has_value;
	h.stamp = c->own.stamp;
	send(l, c, to, &h, buf_bytes(&c->own.value));
}

/* Goes to the first round, from this one on, whose coordinator is not suspected. */
static void go(struct neko_layer *l, struct consensus *c, uint32_t round)
{
	while (coordinator(c, round) != c->self && c->suspected[coordinator(c, round) - 1])
		round++;
	c->round = round;
	c->is_begun = true;
	if (coordinator(c, round) != c->self) {
		send_estimate(l, c, coordinator(c, round));
		return;
	}
	ask(c, round);
	send_bare(l, c, NEKO_OTHERS, KIND_ROUND, round);
	try_propose(l, c);
}

/* Gives a round up as its coordinator, when a majority can no longer acknowledge the proposal. */
static void check_lost(struct neko_layer *l, struct consensus *c)
{
	uint64_t replies = c->acks | c->nacks;

	if (!c->proposed || c->proposed != c->round || is_majority(c, c->acks))
		return;
	for (uint32_t id = 1; id <= c->m; id++)
		if (!(replies & bit(id)) && !c->suspected[id - 1])
			return;
	go(l, c, c->nack_round > c->round ? c->nack_round : c->round + 1);
}

void consensus_propose(struct neko_layer *l, struct consensus *c, struct bytes value)
{
	if (c->own.has_value)
		return;
	buf_putc(&c->own.value, (uint8_t)(c->self - 1));
	buf_put(&c->own.value, value.p, value.n);
	c->own.has_value = !c->own.value.failed;
	c->is_begun = true;
	if (coordinator(c, c->round) == c->self) {
		if (c->round == 1)
			propose(l, c, 1);
		else
			try_propose(l, c);
	} else if (c->round == 1 && c->suspected[coordinator(c, 1) - 1]) {
		go(l, c, 2);
	} else if (c->round > 1) {
		/* the previous estimate had no value */
		send_estimate(l, c, coordinator(c, c->round));
	}
}

void consensus_suspect(struct neko_layer *l, struct consensus *c, uint32_t id)
{
	if (!c->is_begun)
		return;
	if (coordinator(c, c->round) == id) {
		struct head h = head_of(c, KIND_NACK, c->round);

		h.stamp = c->round + 1;
		if (c->own.stamp != c->round)
			send(l, c, id, &h, (struct bytes){ 0 });
		go(l, c, c->round + 1);
		return;
	}
	check_lost(l, c);
}

/* --- input */

static void hear_proposal(struct neko_layer *l, struct consensus *c, const struct head *h,
			  struct bytes value)
{
	struct head nack = head_of(c, KIND_NACK, h->round);

	if (h->round < c->round) {
		nack.stamp = c->round;
		send(l, c, coordinator(c, h->round), &nack, (struct bytes){ 0 });
		return;
	}
	c->round = c->own.stamp = h->round;
	buf_clear(&c->own.value);
	buf_put(&c->own.value, value.p, value.n);
	c->own.has_value = true;
	send_bare(l, c, coordinator(c, h->round), KIND_ACK, h->round);
	if (c->suspected[coordinator(c, h->round) - 1])
		go(l, c, h->round + 1);
}

static void hear_estimate(struct neko_layer *l, struct consensus *c, uint32_t from,
			  const struct head *h, struct bytes value)
{
	if (coordinator(c, h->round) != c->self)
		return;
	if (h->round < c->round) {
		send_bare(l, c, from, KIND_ROUND, c->round);
		return;
	}
	if (h->round > c->asked)
		ask(c, h->round);
	if (h->round != c->asked)
		return;
	take_estimate(c, from, h->stamp, h->has_value, value);
	try_propose(l, c);
}

static void hear_reply(struct neko_layer *l, struct consensus *c, uint32_t from,
		       const struct head *h)
{
	if (h->round != c->proposed)
		return;
	if (h->kind == KIND_ACK) {
		c->acks |= bit(from);
		try_decide(l, c);
		return;
	}
	c->nacks |= bit(from);
	if (h->stamp > c->nack_round)
		c->nack_round = h->stamp;
	check_lost(l, c);
}

static void hear_current(struct neko_layer *l, struct consensus *c, uint32_t from,
			 const struct head *h, struct bytes value)
{
	c->is_begun = true;
	switch ((enum kind)h->kind) {
	case KIND_PROPOSE:
		hear_proposal(l, c, h, value);
		break;
	case KIND_ACK:
	case KIND_NACK:
		hear_reply(l, c, from, h);
		break;
	case KIND_ESTIMATE:
		hear_estimate(l, c, from, h, value);
		break;
	case KIND_ROUND:
		if (h->round > c->round)
			go(l, c, h->round);
		break;
	case KIND_DECIDE:
		decide(l, c, h->round, value);
		break;
	}
}

static void hold(struct consensus *c, struct neko_msg *m)
{
	if (array_grow(&c->later, &c->cap_later, c->nlater + 1, sizeof(struct neko_msg *),
		       LATER_MAX))
		return;
	neko_msg_ref(m);
	c->later[c->nlater++] = m;
}

void consensus_hear(struct neko_layer *l, struct consensus *c, struct neko_msg *m)
{
	struct bytes value;
	struct head h;

	if (!read_head(m, &h, &value))
		return;
	if (h.instance > consensus_current(c))
		hold(c, m);
	else if (h.instance == consensus_current(c))
		hear_current(l, c, m->from, &h, value);
	else if (h.kind == KIND_ESTIMATE || h.kind == KIND_ROUND || h.kind == KIND_PROPOSE)
		consensus_remind(l, c, m->from, h.instance);
}

void consensus_nudge(struct neko_layer *l, struct consensus *c)
{
	uint32_t current = consensus_current(c);

	if (c->is_begun && c->nudged_at == current && c->nudged_round == c->round) {
		send_bare(l, c, NEKO_OTHERS, KIND_ROUND, c->round);
		if (coordinator(c, c->round) != c->self)
			send_estimate(l, c, coordinator(c, c->round));
	}
	c->nudged_at = current;
	c->nudged_round = c->round;
}
