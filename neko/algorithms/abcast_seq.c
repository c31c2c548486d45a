/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Atomic broadcast by the sequencer of a view. The sequencer is the member that has been in the
 * view for the longest time. It sends the next batch after a majority has the previous one. At the
 * end of a view each process reports its last batch. In any majority, one process has each batch
 * that was delivered anywhere. The reported batch with the highest number is the last one of the
 * view.
 */
#include "neko/algorithms/abcast.h"

#include "common/base/array.h"
#include "common/base/err.h"
#include "neko/core/limits.h"

#include <stdlib.h>
#include <string.h>

#define HEAD_BYTES 9 /* kind: 1 byte; view, number of a batch: 4 bytes each */
#define BATCHES_MAX (1u << 28) /* memory ends before */
#define LATER_MAX 100000 /* waiting messages of later views */

enum kind {
	KIND_ORDER, /* sequencer to all: a batch */
	KIND_ACK, /* member to sequencer: the member has the batch */
	KIND_DELIVER, /* sequencer to all: a majority has the batch */
	KIND_FLUSH, /* the view ends: the last batch of the sender */
	KIND_FETCH, /* a process lacks this batch */
};

struct batch {
	uint32_t view, number, n;
	uint8_t *id; /* owned, n bytes */
};

struct seq {
	uint32_t view;
	uint8_t member[CONSENSUS_PROCESSES_MAX]; /* in the order of their seniority */
	uint32_t nmember;
	uint32_t delivered, deliverable; /* batches of this view */
	struct batch *log; /* owned: all batches of all views, in the order of their arrival */
	size_t nlog, cap_log;
	struct map index; /* by view and number: index in the log + 1 */
	size_t highest; /* index in the log + 1 of the highest batch of this view; 0: none */
	bool is_flushing; /* the view ends: this process acknowledges no further batch in it */
	bool is_on_way; /* for the sequencer: a batch waits for acknowledgements */
	uint64_t acks, flushed; /* bits of processes */
	uint32_t last; /* the highest number in a KIND_FLUSH */
	struct buf last_batch; /* owned */
	struct batch *end; /* owned, for each ended view: the decision is in `id` */
	size_t nend, cap_end;
	struct neko_msg **later; /* owned */
	size_t nlater, cap_later;
};

static struct seq *seq_of(struct neko_layer *l)
{
	return ((struct abcast *)neko_state(l))->more;
}

static uint64_t bit(uint32_t id)
{
	return UINT64_C(1) << (id - 1);
}

static bool is_member(const struct seq *s, uint32_t id)
{
	return memchr(s->member, (int)id, s->nmember) != NULL;
}

static bool is_sequencer(const struct abcast *a, const struct seq *s)
{
	return s->member[0] == a->self;
}

/* --- batches and messages */

static uint32_t get32(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static void put32(uint8_t *p, uint32_t v)
{
	for (unsigned i = 0; i < 4; i++)
		p[i] = (uint8_t)(v >> 8 * i);
}

static uint64_t key_of(uint32_t view, uint32_t number)
{
	return (uint64_t)view << 32 | number;
}

/* Returns NULL if this process does not have the batch. */
static const struct batch *find(const struct seq *s, uint32_t view, uint32_t number)
{
	uintptr_t at = (uintptr_t)map_find(&s->index, key_of(view, number));

	return at ? &s->log[at - 1] : NULL;
}

static bool add(struct batch **list, size_t *n, size_t *cap, struct batch v, struct bytes id)
{
	if (array_grow(list, cap, *n + 1, sizeof(v), BATCHES_MAX))
		return false;
	v.id = malloc(id.n + 1);
	if (!v.id)
		return false;
	v.n = (uint32_t)id.n;
	if (id.n)
		memcpy(v.id, id.p, id.n);
	(*list)[(*n)++] = v;
	return true;
}

static bool keep(struct seq *s, uint32_t number, struct bytes id)
{
	const struct batch v = { .view = s->view, .number = number };

	if (find(s, s->view, number))
		return true;
	if (!add(&s->log, &s->nlog, &s->cap_log, v, id) ||
	    map_put(&s->index, key_of(s->view, number), (void *)(uintptr_t)s->nlog, NULL))
		return false;
	if (!s->highest || s->log[s->highest - 1].number < number)
		s->highest = s->nlog;
	return true;
}

static void send(struct neko_layer *l, uint32_t to, enum kind kind, struct batch v)
{
	struct neko_msg *m = neko_msg_many(l, &to, 1, ABCAST_SEQUENCER, NULL, HEAD_BYTES + v.n);

	if (!m)
		return;
	m->net = ((struct abcast *)neko_state(l))->net;
	m->content[0] = (uint8_t)kind;
	put32(m->content + 1, v.view);
	put32(m->content + 5, v.number);
	if (v.n)
		memcpy(m->content + HEAD_BYTES, v.id, v.n);
	neko_send(l, m);
	neko_msg_unref(l, m);
}

static struct batch bare(const struct seq *s, uint32_t number)
{
	return (struct batch){ .view = s->view, .number = number };
}

/* --- within a view */

static void advance(struct neko_layer *l);

static void deliver_next(struct neko_layer *l, struct seq *s)
{
	uint32_t number = s->delivered + 1;

	s->is_on_way = false;
	s->deliverable = number;
	send(l, NEKO_OTHERS, KIND_DELIVER, bare(s, number));
	advance(l);
}

static void check_acks(struct neko_layer *l, struct seq *s)
{
	const struct abcast *a = neko_state(l);

	if (s->is_on_way && (uint32_t)__builtin_popcountll(s->acks) >= a->quorum)
		deliver_next(l, s);
}

/* Sends the next batch, if this process is the sequencer. */
static void start(struct neko_layer *l)
{
	struct abcast *a = neko_state(l);
	struct seq *s = a->more;
	uint32_t number = s->delivered + 1;

	if (!is_sequencer(a, s) || s->is_flushing || s->is_on_way || !a->waiting.n ||
	    !keep(s, number, abcast_waiting(a)))
		return;
	s->is_on_way = true;
	s->acks = bit(a->self);
	send(l, NEKO_OTHERS, KIND_ORDER, *find(s, s->view, number));
	check_acks(l, s);
}

static void hear_order(struct neko_layer *l, uint32_t number, struct bytes id)
{
	struct abcast *a = neko_state(l);
	struct seq *s = a->more;

	if (!keep(s, number, id))
		return;
	if (!s->is_flushing && is_member(s, a->self))
		send(l, s->member[0], KIND_ACK, bare(s, number));
	advance(l);
}

static void hear_fetch(struct neko_layer *l, uint32_t from, uint32_t view, uint32_t number)
{
	struct seq *s = seq_of(l);
	const struct batch *b = find(s, view, number);

	if (!b || (view == s->view && number > s->delivered))
		return;
	send(l, from, KIND_ORDER, *b);
	send(l, from, KIND_DELIVER, (struct batch){ .view = view, .number = number });
}

/* --- the end of a view */

/* Proposes the members of the next view, and the last batch of this one. */
static void propose_view(struct neko_layer *l, struct abcast *a, struct seq *s)
{
	struct buf b = BUF_INIT(NEKO_CONTENT_MAX_BYTES);
	uint64_t next = s->flushed;

	for (uint32_t id = 1; id <= a->m; id++)
		if (a->suspected[id - 1] &&
		    (uint32_t)__builtin_popcountll(next & ~bit(id)) > a->m / 2)
			next &= ~bit(id);
	buf_putc(&b, (uint8_t)__builtin_popcountll(next));
	for (uint32_t i = 0; i < s->nmember; i++)
		if (next & bit(s->member[i]))
			buf_putc(&b, s->member[i]);
	for (uint32_t id = 1; id <= a->m; id++)
		if (next & bit(id) && !is_member(s, id))
			buf_putc(&b, (uint8_t)id);
	buf_put_u32le(&b, s->last);
	buf_put(&b, s->last_batch.p, s->last_batch.n);
	if (!b.failed)
		consensus_propose(l, a->consensus, buf_bytes(&b));
	buf_done(&b);
}

static void check_flushed(struct neko_layer *l)
{
	struct abcast *a = neko_state(l);
	struct seq *s = a->more;

	if (!s->is_flushing || consensus_current(a->consensus) != s->view ||
	    (uint32_t)__builtin_popcountll(s->flushed) < a->quorum)
		return;
	for (uint32_t id = 1; id <= a->m; id++)
		if (!(s->flushed & bit(id)) && !a->suspected[id - 1])
			return;
	propose_view(l, a, s);
}

static void take_flush(struct seq *s, uint32_t from, uint32_t number, struct bytes id)
{
	s->flushed |= bit(from);
	if (number <= s->last)
		return;
	s->last = number;
	buf_clear(&s->last_batch);
	buf_put(&s->last_batch, id.p, id.n);
}

/* Returns the highest batch of this view that this process has; number 0: none. */
static struct batch last_of(const struct seq *s)
{
	return s->highest ? s->log[s->highest - 1] : bare(s, 0);
}

static void flush(struct neko_layer *l)
{
	struct abcast *a = neko_state(l);
	struct seq *s = a->more;
	struct batch v = last_of(s);

	if (s->is_flushing)
		return;
	s->is_flushing = true;
	take_flush(s, a->self, v.number, bytes_at(v.id, v.n));
	send(l, NEKO_OTHERS, KIND_FLUSH, v);
	check_flushed(l);
}

/* Ends the view, to leave a suspected member out of the next one. */
static void leave_out(struct neko_layer *l)
{
	struct abcast *a = neko_state(l);
	struct seq *s = a->more;
	bool is_due = false;

	if (s->nend >= s->view || !is_member(s, a->self))
		return;
	for (uint32_t i = 0; i < s->nmember; i++)
		is_due |= a->suspected[s->member[i] - 1];
	if (is_due)
		flush(l);
}

/* As the sequencer, ends the view between two batches, to include further processes. */
static void take_in(struct neko_layer *l)
{
	struct abcast *a = neko_state(l);
	struct seq *s = a->more;
	bool is_due = false;

	if (s->nend >= s->view || !is_sequencer(a, s) || s->is_on_way)
		return;
	for (uint32_t id = 1; id <= a->m; id++)
		is_due |= !is_member(s, id) && !a->suspected[id - 1];
	if (is_due)
		flush(l);
}

static void install(struct neko_layer *l, const struct batch *end)
{
	struct abcast *a = neko_state(l);
	struct seq *s = a->more;
	struct neko_msg **all = s->later;
	size_t n = s->nlater;

	s->nmember = end->id[0];
	memcpy(s->member, end->id + 1, s->nmember);
	s->view++;
	s->delivered = s->deliverable = s->last = 0;
	s->is_flushing = s->is_on_way = false;
	s->flushed = s->acks = 0;
	s->highest = 0;
	buf_clear(&s->last_batch);
	neko_log(l, ABCAST_VIEW, s->view);
	s->later = NULL;
	s->nlater = s->cap_later = 0;
	for (size_t i = 0; i < n; i++) {
		a->algorithm->hear(l, all[i]);
		neko_msg_unref(l, all[i]);
	}
	free(all);
	leave_out(l);
	start(l);
	take_in(l);
}

/*
 * Returns the message ids of the last batch, which follow the members and the number in a decision.
 */
static struct bytes ids_of(const struct batch *end)
{
	size_t at = (size_t)end->id[0] + 5;

	return bytes_at(end->id + at, end->n - at);
}

/* Delivers batches that a majority has, and begins the next view when this one is complete. */
static void advance(struct neko_layer *l)
{
	struct abcast *a = neko_state(l);
	struct seq *s = a->more;
	const struct batch *end = s->nend >= s->view ? &s->end[s->view - 1] : NULL, *b;
	uint32_t before = s->delivered;

	if (end && end->number > s->deliverable)
		s->deliverable = end->number;
	if (end && end->number)
		keep(s, end->number, ids_of(end));
	while (s->delivered < s->deliverable && (b = find(s, s->view, s->delivered + 1))) {
		s->delivered++;
		abcast_deliver_batch(l, bytes_at(b->id, b->n));
	}
	if (end && s->delivered >= end->number) {
		install(l, end);
	} else if (s->delivered > before) {
		take_in(l);
		start(l);
	}
}

static void decided(struct neko_layer *l, uint32_t instance, struct bytes value)
{
	struct seq *s = seq_of(l);
	uint32_t n = value.n ? value.p[0] : 0, number;

	if (!n || n > CONSENSUS_PROCESSES_MAX || value.n < n + 5)
		return;
	number = get32(value.p + 1 + n);
	if (!add(&s->end, &s->nend, &s->cap_end, (struct batch){ instance, number, 0, NULL },
		 value))
		return;
	if (instance == s->view)
		advance(l);
}

/* --- input */

static void hold(struct seq *s, struct neko_msg *m)
{
	if (array_grow(&s->later, &s->cap_later, s->nlater + 1, sizeof(struct neko_msg *),
		       LATER_MAX))
		return;
	neko_msg_ref(m);
	s->later[s->nlater++] = m;
}

static void hear_current(struct neko_layer *l, uint32_t from, enum kind kind, const struct batch *v)
{
	struct seq *s = seq_of(l);

	switch (kind) {
	case KIND_ORDER:
		hear_order(l, v->number, bytes_at(v->id, v->n));
		break;
	case KIND_ACK:
		if (v->number == s->delivered + 1)
			s->acks |= bit(from);
		check_acks(l, s);
		break;
	case KIND_DELIVER:
		if (v->number > s->deliverable)
			s->deliverable = v->number;
		advance(l);
		break;
	case KIND_FLUSH:
		take_flush(s, from, v->number, bytes_at(v->id, v->n));
		flush(l);
		check_flushed(l);
		break;
	case KIND_FETCH:
		break;
	}
}

static void hear(struct neko_layer *l, struct neko_msg *m)
{
	struct seq *s = seq_of(l);
	struct batch v;

	if (m->n < HEAD_BYTES || m->content[0] > KIND_FETCH)
		return;
	v = (struct batch){ get32(m->content + 1), get32(m->content + 5), m->n - HEAD_BYTES,
			    m->content + HEAD_BYTES };
	if (m->content[0] == KIND_FETCH)
		hear_fetch(l, m->from, v.view, v.number);
	else if (v.view > s->view)
		hold(s, m);
	else if (v.view < s->view && m->content[0] == KIND_FLUSH)
		consensus_remind(l, ((struct abcast *)neko_state(l))->consensus, m->from, v.view);
	else if (v.view == s->view)
		hear_current(l, m->from, (enum kind)m->content[0], &v);
}

static void changed(struct neko_layer *l, uint32_t id)
{
	leave_out(l);
	take_in(l);
	check_flushed(l);
}

/* Resends messages that a partition of the network may have withheld from other processes. */
static void nudge(struct neko_layer *l)
{
	struct abcast *a = neko_state(l);
	struct seq *s = a->more;
	bool has_ended = s->nend >= s->view;
	uint32_t end = has_ended ? s->end[s->view - 1].number : s->deliverable;

	if (s->delivered < end && !find(s, s->view, s->delivered + 1))
		send(l, NEKO_OTHERS, KIND_FETCH, bare(s, s->delivered + 1));
	if (has_ended)
		return;
	if (s->is_flushing || s->nlater)
		send(l, NEKO_OTHERS, KIND_FLUSH, last_of(s));
	if (s->is_on_way)
		send(l, NEKO_OTHERS, KIND_ORDER, *find(s, s->view, s->delivered + 1));
	else if (is_sequencer(a, s) && s->delivered)
		send(l, NEKO_OTHERS, KIND_DELIVER, bare(s, s->delivered));
}

static void done(struct neko_layer *l)
{
	struct seq *s = seq_of(l);

	if (!s)
		return;
	for (size_t i = 0; i < s->nlog; i++)
		free(s->log[i].id);
	for (size_t i = 0; i < s->nend; i++)
		free(s->end[i].id);
	for (size_t i = 0; i < s->nlater; i++)
		neko_msg_unref(l, s->later[i]);
	map_done(&s->index);
	free(s->log);
	free(s->end);
	free(s->later);
	buf_done(&s->last_batch);
	free(s);
}

static const struct abcast_algorithm sequencer = { .start = start,
						   .decided = decided,
						   .hear = hear,
						   .changed = changed,
						   .nudge = nudge,
						   .done = done };

int abcast_seq_init(struct neko_process *p, struct setup *s, struct err *e)
{
	struct seq *q = calloc(1, sizeof(*q));
	struct abcast *a;
	int rc = q ? abcast_push(p, s, &sequencer, &a, e) : err_nomem(e);

	if (rc) {
		free(q);
		return rc;
	}
	a->more = q;
	map_init(&q->index);
	q->view = 1;
	q->last_batch = BUF_INIT(NEKO_CONTENT_MAX_BYTES);
	q->nmember = a->m;
	for (uint32_t i = 0; i < a->m; i++)
		q->member[i] = (uint8_t)(i + 1);
	return 0;
}
