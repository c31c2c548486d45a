/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of the writer are hot: no malloc, no lock, no system call, no errno, no call out of
 * this file. Words are accessed by atomic loads and stores, because the other side uses them at the
 * same time. On all supported processors these are plain moves.
 */
#include "common/ring/ring.h"

#include "common/base/err.h"

static void copy_in(uint64_t *to, const uint64_t *from, uint32_t words)
{
	for (uint32_t i = 0; i < words; i++)
		__atomic_store_n(&to[i], from[i], __ATOMIC_RELAXED);
}

bool ring_put(const struct ring *r, const void *record, uint32_t n)
{
	uint64_t at, *to = ring_reserve(r, n, &at);

	if (!to)
		return false;
	copy_in(to, record, n / 8);
	ring_commit(r, at, n);
	return true;
}

/* Progress of the reader, and its limit. */
struct take {
	const struct ring *r;
	const struct ring_taker *taker;
	uint64_t at, end;
	union {
		uint64_t word[RING_RECORD_MAX_BYTES / 8];
		struct ring_call call;
		struct ring_probe probe;
		struct ring_event event;
		uint64_t event_word[RING_EVENT_MAX_BYTES / 8];
	} rec;
};

/* The type has eight bits; an event has further data above them. */
static unsigned type_of(uint64_t word)
{
	return (uint8_t)(word >> 32);
}

/* Returns the size of the record at t->at; 0 if it breaks the rules. */
static uint32_t take_size(struct take *t)
{
	uint64_t word = __atomic_load_n(ring_word_at(t->r, t->at), __ATOMIC_RELAXED);
	uint32_t n = (uint32_t)word;
	uint64_t left = t->r->size - (t->at & (t->r->size - 1));

	if (n < 8 || n % 8 || n > t->end - t->at || n > left)
		return 0;
	if (type_of(word) != RING_PAD &&
	    n > (type_of(word) == RING_EVENT ? RING_EVENT_MAX_BYTES : RING_RECORD_MAX_BYTES))
		return 0;
	t->rec.word[0] = word;
	return n;
}

static void take_copy(struct take *t, uint32_t n)
{
	const uint64_t *from = ring_word_at(t->r, t->at);

	for (uint32_t i = 1; i < n / 8; i++)
		t->rec.word[i] = __atomic_load_n(&from[i], __ATOMIC_RELAXED);
}

static bool take_call(struct take *t, uint32_t n)
{
	if (n < sizeof(struct ring_call) || sizeof(struct ring_call) + t->rec.call.npar * 8u != n)
		return false;
	if (t->taker->on_call)
		t->taker->on_call(t->taker->arg, &t->rec.call);
	return true;
}

static bool take_probe(struct take *t, uint32_t n)
{
	const struct ring_probe *p = &t->rec.probe;

	if (n < sizeof(*p) || sizeof(*p) + (p->npar + (uint32_t)p->nread) * 8u != n)
		return false;
	if (t->taker->on_probe)
		t->taker->on_probe(t->taker->arg, p);
	return true;
}

static bool take_event(struct take *t, uint32_t n)
{
	const struct ring_event *e = &t->rec.event;
	uint32_t pad = e->word >> 56;

	if (n < sizeof(*e) + pad || pad > 7)
		return false;
	if (t->taker->on_event)
		t->taker->on_event(t->taker->arg, (uint16_t)(e->word >> 40), e,
				   n - (uint32_t)sizeof(*e) - pad);
	return true;
}

/* Takes one record. Returns 1 if it was taken, 0 if it was skipped, < 0 if it is invalid. */
static int take_one(struct take *t)
{
	uint32_t n = take_size(t);
	unsigned type = type_of(t->rec.word[0]);
	bool is_good;

	if (!n)
		return -ERR_PROTO;
	if (type != RING_CALL && type != RING_PROBE && type != RING_EVENT) {
		t->at += n;
		return 0;
	}
	take_copy(t, n);
	t->at += n;
	if (t->taker->place)
		*t->taker->place = t->at;
	is_good = type == RING_CALL    ? take_call(t, n)
		  : type == RING_PROBE ? take_probe(t, n)
				       : take_event(t, n);
	return is_good ? 1 : -ERR_PROTO;
}

int ring_take(const struct ring *r, unsigned max, const struct ring_taker *taker)
{
	struct take t;
	unsigned taken = 0;
	int got = 0;

	t.r = r; /* each record sets the other members, which are large */
	t.taker = taker;
	t.end = __atomic_load_n(r->head, __ATOMIC_ACQUIRE);
	t.at = __atomic_load_n(r->tail, __ATOMIC_RELAXED);
	if (t.end - t.at > r->size || t.end % 8 || t.at % 8)
		got = -ERR_PROTO;
	while (got >= 0 && t.at != t.end && taken < max) {
		got = take_one(&t);
		taken += got > 0;
	}
	if (taken && taker->on_taken)
		taker->on_taken(taker->arg);
	__atomic_store_n(r->tail, got < 0 ? t.end : t.at, __ATOMIC_RELEASE);
	return got < 0 ? got : (int)taken;
}
