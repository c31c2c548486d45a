/* SPDX-License-Identifier: Apache-2.0 */
/* Messages between a real process and its master; docs/neko.md describes a run. */
#include "neko/real/real_internal.h"

#include "common/base/clock.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <sys/socket.h>

#define BLOCK_NS (50 * NSEC_PER_MSEC) /* age of an event when the master receives it */

bool realtalk_is_sent(const struct realtalk *t)
{
	return t->at == t->out.n && !t->is_taken;
}

/* Sends as much as the stream accepts, or everything. Returns false if the master has closed. */
static bool push(struct realtalk *t, int flags)
{
	while (t->at < t->out.n) {
		ssize_t n = send(t->real->conf->master, t->out.p + t->at, t->out.n - t->at,
				 MSG_NOSIGNAL | flags);

		if (n > 0)
			t->at += (size_t)n;
		else if (n == 0 || errno != EINTR)
			return n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
	}
	return true;
}

/* Takes entries with the lock. They become blocks without the lock. */
static void take(struct realtalk *t)
{
	struct real *r = t->real;

	pthread_mutex_lock(&r->lock);
	t->events = reallog_take(&r->events);
	t->delays = reallog_take(&r->delays);
	t->until = real_now(r);
	pthread_mutex_unlock(&r->lock);
	t->event_at = t->delay_at = 0;
	t->is_taken = true;
}

static size_t count(const struct reallog_chunk *c, size_t at)
{
	size_t n = 0;

	for (; c && n < REALWIRE_BLOCK_ENTRIES; c = c->next) {
		n += c->n - at;
		at = 0;
	}
	return n < REALWIRE_BLOCK_ENTRIES ? n : REALWIRE_BLOCK_ENTRIES;
}

/* Returns the number of events that fit in a frame with their bytes; *all: no others follow. */
static uint32_t count_events(const struct realtalk *t, bool *all)
{
	const struct reallog_chunk *c = t->events;
	size_t at = t->event_at, bytes = 0;
	uint32_t n = 0;

	for (; c; c = c->next, at = 0)
		for (; at < c->n; at++, n++) {
			bytes += c->event[at].n;
			*all = false;
			if (n == REALWIRE_BLOCK_ENTRIES || (n && bytes > REALWIRE_BLOCK_BYTES))
				return n;
		}
	*all = true;
	return n;
}

static void put_event(struct realtalk *t, const struct neko_event *v)
{
	realwire_event(&t->out, v);
	if (!v->n)
		return;
	pthread_mutex_lock(&t->real->lock);
	t->real->events.bytes -= v->n;
	pthread_mutex_unlock(&t->real->lock);
	free((void *)(uintptr_t)v->bytes);
}

/* Returns the next entry of a list, and frees the chunk before it. */
static struct reallog_chunk *step(struct real *r, struct reallog *l, struct reallog_chunk *c,
				  size_t *at)
{
	struct reallog_chunk *next;

	if (++*at < c->n)
		return c;
	*at = 0;
	next = c->next;
	pthread_mutex_lock(&r->lock);
	reallog_give_back(l, c);
	pthread_mutex_unlock(&r->lock);
	return next;
}

static void fill_head(struct realtalk *t, struct realwire_block *b)
{
	struct real *r = t->real;
	nsec_t now = clock_mono();

	pthread_mutex_lock(&r->lock);
	b->sent = r->sent;
	b->delivered = r->delivered;
	b->stop_at = r->stop_at;
	b->has_lost = r->events.has_lost || r->delays.has_lost;
	b->offset = real_master_time(r, now, &b->error) - now;
	if (!timebase_drift(&r->clock, &b->drift, &b->drift_error))
		b->drift = b->drift_error = NAN;
	pthread_mutex_unlock(&r->lock);
	b->ndelay = (uint32_t)count(t->delays, t->delay_at);
}

/*
 * Moves as much of the list as fits a frame to a block. Later entries are not before the time of
 * the block.
 */
static bool make_block(struct realtalk *t, struct realwire_block *b)
{
	bool has_all;
	size_t mark;

	fill_head(t, b);
	b->count = count_events(t, &has_all);
	buf_clear(&t->out);
	t->at = 0;
	b->until = t->until;
	if (!has_all)
		b->until = t->events->event[t->event_at].at;
	mark = realwire_block(&t->out, b);
	for (uint32_t i = 0; i < b->count; i++) {
		put_event(t, &t->events->event[t->event_at]);
		t->events = step(t->real, &t->real->events, t->events, &t->event_at);
	}
	for (uint32_t i = 0; i < b->ndelay; i++) {
		realwire_delay(&t->out, &t->delays->delay[t->delay_at]);
		t->delays = step(t->real, &t->real->delays, t->delays, &t->delay_at);
	}
	t->is_taken = t->events || t->delays;
	return !frame_end(&t->out, mark);
}

/* Does not block: a master that does not read delays only its own reports. */
bool realtalk_send(struct realtalk *t)
{
	if (realtalk_is_sent(t) && clock_mono() >= t->next) {
		t->next = clock_mono() + BLOCK_NS;
		take(t);
	}
	while (t->at == t->out.n && t->is_taken) {
		struct realwire_block b = { 0 };

		if (!make_block(t, &b) || !push(t, MSG_DONTWAIT))
			return false;
	}
	return push(t, MSG_DONTWAIT);
}

static bool report_all(struct realtalk *t)
{
	while (t->is_taken) {
		struct realwire_block b = { 0 };

		if (!push(t, 0) || !make_block(t, &b))
			return false;
	}
	return push(t, 0);
}

/* Blocks, because the process has nothing else to do. */
bool realtalk_end(struct realtalk *t, uint32_t stuck, bool is_crashed)
{
	struct realwire_block last = { .is_last = true, .stuck = stuck, .is_crashed = is_crashed };

	if (!report_all(t))
		return false;
	take(t);
	return report_all(t) && make_block(t, &last) && push(t, 0);
}

/* --- messages of the master */

static bool read_some(struct realtalk *t, int flags)
{
	int rc = realwire_recv(t->real->conf->master, &t->in, flags);

	return !rc || rc == -ERR_AGAIN;
}

static bool hear_sample(struct realtalk *t, const struct frame *f)
{
	nsec_t v[4];
	int rc;

	if (realwire_get_times(f->p, f->n, v, 4))
		return false;
	pthread_mutex_lock(&t->real->lock);
	rc = timebase_update(&t->real->clock, &(struct timebase_sample){ v[0], v[1], v[2], v[3] });
	if (!rc)
		real_sample(t->real, v[0], v[1], v[2]);
	pthread_mutex_unlock(&t->real->lock);
	return !rc;
}

/* Handles a frame. Returns false if the run ends here. */
static bool hear_frame(struct realtalk *t, const struct frame *f)
{
	switch (f->type) {
	case REALWIRE_SAMPLE:
		return hear_sample(t, f);
	case REALWIRE_PEERS:
		return !realnet_meet(t->real->net, f->p, f->n);
	case REALWIRE_GO:
		return !realwire_get_times(f->p, f->n, &t->real->epoch, 1) && t->real->epoch > 0;
	case REALWIRE_CRASH:
		t->is_to_crash = true;
		return false;
	default:
		return false;
	}
}

static bool is_for_running(uint8_t type)
{
	return type == REALWIRE_SAMPLE || type == REALWIRE_CRASH;
}

bool realtalk_hear(struct realtalk *t)
{
	struct frame f;
	int rc;

	if (!read_some(t, MSG_DONTWAIT))
		return false;
	while ((rc = frame_in_next(&t->in, &f, NULL)) == 1)
		if (!is_for_running(f.type) || !hear_frame(t, &f))
			return false;
	return !rc;
}

/* Reads until is_so() returns true; later frames stay queued. */
static bool hear_until(struct realtalk *t, bool (*is_so)(const struct real *r))
{
	struct frame f;
	int got = 0;

	while (!is_so(t->real)) {
		while (!is_so(t->real) && (got = frame_in_next(&t->in, &f, NULL)) == 1)
			if (!hear_frame(t, &f))
				return false;
		if (got < 0 || (!is_so(t->real) && !read_some(t, 0)))
			return false;
	}
	return true;
}

static bool knows_the_time(const struct real *r)
{
	return r->clock.is_root || r->clock.error != TIMEBASE_UNKNOWN_NS;
}

static bool is_to_go(const struct real *r)
{
	return r->epoch > 0;
}

bool realtalk_begin(struct realtalk *t, struct real *r, const struct realwire_ready *ready)
{
	t->real = r;
	t->out = BUF_INIT(2 * FRAME_MAX_BYTES);
	frame_in_init(&t->in, FRAME_MAX_BYTES);
	if (!hear_until(t, knows_the_time))
		return false;
	if (realwire_put_ready(&t->out, ready) || !push(t, 0))
		return false;
	return hear_until(t, is_to_go);
}
