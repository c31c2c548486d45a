/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drains buffers to blocks. The caller holds the lock, and may be the handler of a fatal signal, so
 * that nothing here allocates memory.
 */
#include "common/base/hash.h"
#include "eventlog/app/log.h"
#include "eventlog/evbytes.h"

#include <errno.h>
#include <unistd.h>

#define CLOCK_BYTES 36

/* Records for one block. The definitions before them are in s->front. */
struct piece {
	struct log_state *s;
	struct log_thread *t;
	size_t front; /* bytes of s->front in use, with the header */
	uint8_t *p; /* address of the records */
	size_t n, taken; /* bytes of the records; bytes that were examined */
	uint32_t events;
};

static void put_front(struct piece *b, const void *p, size_t n)
{
	memcpy(b->s->front + b->front, p, n);
	b->front += n;
}

static void put_clock(struct piece *b)
{
	const struct ticks_scale *c = &b->s->scale;
	uint8_t r[CLOCK_BYTES];

	ev_set16(r, EV_CLOCK, false);
	ev_set16(r + 2, CLOCK_BYTES, false);
	ev_set64(r + 4, c->base_ticks, false);
	ev_set64(r + 12, (uint64_t)c->base_ns, false);
	ev_set64(r + 20, c->mult, false);
	ev_set32(r + 28, c->shift, false);
	ev_set32(r + 32, c->source, false);
	put_front(b, r, sizeof(r));
}

/*
 * Writes the description of a type before its first event. Returns false if the block has no room
 * for it.
 */
static bool put_definition(struct piece *b, unsigned number)
{
	const struct log_type *type = &b->s->type[number];

	if (b->t->said[number / 8] & 1 << number % 8)
		return true;
	if (type->definition_bytes > sizeof(b->s->front) - b->front)
		return false;
	put_front(b, type->definition, type->definition_bytes);
	b->t->said[number / 8] |= (uint8_t)(1 << number % 8);
	return true;
}

/* True if the record's fields fulfil the conditions of the trigger. */
static bool passes(const struct log_type *type, const uint8_t *p, size_t n)
{
	return evtests_pass(&type->tests, &type->form, p + EV_RECORD_HEAD_BYTES,
			    n - EV_RECORD_HEAD_BYTES);
}

/* --- blocks */

/*
 * Takes records while their descriptions have room. Returns false for memory that contains no valid
 * record.
 */
static bool take_records(struct piece *b, size_t n)
{
	size_t most = b->s->send ? evsend_block_bytes(b->s->send) : SIZE_MAX;

	while (b->taken < n) {
		uint8_t *p = b->p + b->taken;
		unsigned number = ev_get16(p, false), bytes = ev_get16(p + 2, false);

		if (bytes < EV_RECORD_HEAD_BYTES || bytes > n - b->taken || !number ||
		    number >= b->s->ntype)
			return false;
		if (!b->s->type[number].tests.n || passes(&b->s->type[number], p, bytes)) {
			if (b->events && b->front + b->n + bytes > most)
				return true;
			if (!put_definition(b, number))
				return true;
			if (b->n != b->taken)
				memmove(b->p + b->n, p, bytes);
			b->n += bytes;
			b->events++;
		}
		b->taken += bytes;
	}
	return true;
}

static bool write_whole(int fd, struct iovec v[2])
{
	size_t left = v[0].iov_len + v[1].iov_len;

	while (left) {
		ssize_t n = inproc_writev(fd, v, 2);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		left -= (size_t)n;
		for (int i = 0; i < 2; i++) {
			size_t part = (size_t)n < v[i].iov_len ? (size_t)n : v[i].iov_len;

			v[i].iov_base = (uint8_t *)v[i].iov_base + part;
			v[i].iov_len -= part;
			n -= (ssize_t)part;
		}
	}
	return true;
}

static void forget_said(struct log_thread *t)
{
	t->has_said_who = false;
	memset(t->said, 0, sizeof(t->said));
}

/*
 * Writes a block. If that fails, its events count as lost, and the next block repeats all
 * descriptions. Over a network each block repeats them, because the previous one may be lost.
 */
static void write_block(struct piece *b, uint16_t flags)
{
	struct log_thread *t = b->t;
	struct evblock *h = &t->head;
	struct iovec v[2] = { { b->s->front, b->front }, { b->p, b->n } };
	bool is_out = false;

	h->flags = flags;
	h->events = b->events;
	h->dropped = log_thread_lost(t);
	h->bytes = (uint32_t)(b->front + b->n);
	h->crc = hash_crc32c(0, b->s->front + EVBLOCK_HEAD_BYTES, b->front - EVBLOCK_HEAD_BYTES);
	h->crc = hash_crc32c(h->crc, b->p, b->n);
	evblock_encode(h, b->s->front);
	if (b->s->send || !(is_out = write_whole(b->s->fd, v)))
		forget_said(t);
	if (b->s->send)
		is_out = evsend_put(b->s->send, v, 2);
	h->seq += is_out;
	h->first += is_out ? b->events : 0;
	t->failed += is_out ? 0 : b->events;
}

static struct piece begin(struct log_state *s, struct log_thread *t, uint8_t *p)
{
	struct piece b = { .s = s, .t = t, .front = EVBLOCK_HEAD_BYTES, .p = p };

	put_clock(&b);
	if (!t->has_said_who && s->who_bytes) {
		memcpy(s->who + LOG_TID_AT, &t->tid, sizeof(t->tid));
		put_front(&b, s->who, s->who_bytes);
	}
	t->has_said_who = true;
	return b;
}

static void write_records(struct log_state *s, struct log_thread *t, uint8_t *p, size_t n)
{
	while (n) {
		struct piece b = begin(s, t, p);
		bool is_good = take_records(&b, n);

		if (b.events)
			write_block(&b, 0);
		if (!is_good || !b.taken)
			break;
		p += b.taken;
		n -= b.taken;
	}
}

/*
 * Returns how many bytes of the buffer have complete records. `shown` was read before `filled`. So
 * if `shown` is the end of this buffer, it is not the beginning of the next one.
 */
static size_t whole_bytes(const struct log_thread *t, uint64_t done, bool is_filled,
			  const uint8_t *shown)
{
	const uint8_t *buffer = t->buffer[done % LOG_BUFFERS];

	if (is_filled)
		return t->used[done % LOG_BUFFERS];
	return shown >= buffer && shown <= buffer + LOG_BUFFER_BYTES ? (size_t)(shown - buffer)
								     : t->written;
}

void log_drain(struct log_state *s, struct log_thread *t, bool all)
{
	for (;;) {
		uint64_t done = atomic_load_explicit(&t->done, memory_order_relaxed);
		const uint8_t *shown = __atomic_load_n(&t->at.shown, __ATOMIC_ACQUIRE);
		bool is_filled = done < atomic_load_explicit(&t->filled, memory_order_acquire);
		size_t n;

		if (!is_filled && !all)
			return;
		n = whole_bytes(t, done, is_filled, shown);
		if (n > t->written && s->is_open) {
			log_clock_look(s);
			write_records(s, t, t->buffer[done % LOG_BUFFERS] + t->written,
				      n - t->written);
		}
		t->written = n;
		if (!is_filled)
			return;
		t->written = 0;
		atomic_store_explicit(&t->done, done + 1, memory_order_release);
	}
}

static void end_stream(struct log_state *s, struct log_thread *t)
{
	struct piece b = begin(s, t, t->buffer[0]);

	if (s->is_open && (t->head.seq || log_thread_lost(t)))
		write_block(&b, EVBLOCK_LAST);
}

void log_drain_all(struct log_state *s, bool all)
{
	for (struct log_thread *t = s->threads; t; t = t->next) {
		bool has_ended = atomic_load_explicit(&t->has_ended, memory_order_acquire);

		log_drain(s, t, all || has_ended);
		if (has_ended && !t->is_over) {
			end_stream(s, t);
			t->is_over = true;
		}
	}
}

void log_end_all(struct log_state *s)
{
	for (struct log_thread *t = s->threads; t; t = t->next)
		if (!t->is_over)
			end_stream(s, t);
}
