/* SPDX-License-Identifier: Apache-2.0 */
/* Connections: bytes in, acknowledgements out. */
#include "common/base/rng.h"
#include "common/base/str.h"
#include "tools/receive/receive_internal.h"

#include "tools/term/say.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void free_conn(struct conn *c)
{
	struct receiver *r = c->receiver;

	list_del(&c->item);
	r->nconns--;
	receiver_count(r, inlet_report(c->inlet));
	loop_fd_free(c->watch);
	close(c->fd);
	inlet_free(c->inlet);
	free(c);
	if (!r->is_ending)
		ports_resume(r);
}

static void break_conn(struct conn *c, const struct err *why)
{
	struct receiver *r = c->receiver;

	if (!r->counts.broken++)
		str_copy(r->why_broken, sizeof(r->why_broken), why->text);
	free_conn(c);
}

static void watch(const struct conn *c)
{
	unsigned what = c->is_paused || c->has_ended ? 0 : LOOP_READ;

	loop_fd_set(c->watch, what | (c->nout ? LOOP_WRITE : 0));
}

/* --- acknowledgements */

static void write_ack(struct conn *c)
{
	uint64_t safe = htole64(c->safe);

	if (!c->nout && (c->safe > c->acked || !c->has_greeted)) {
		memcpy(c->out, &safe, sizeof(safe));
		c->nout = sizeof(c->out);
		c->acked = c->safe;
		c->has_greeted = true;
	}
	while (c->nout) {
		ssize_t n = send(c->fd, c->out + sizeof(c->out) - c->nout, c->nout,
				 MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0)
			return; /* the next read reports a lost connection */
		c->nout -= (size_t)n;
	}
}

static void take_settled(struct conn *c)
{
	while (c->n && c->ring[c->first].appended <= c->receiver->settled) {
		c->safe = c->ring[c->first].place;
		c->first = (c->first + 1) % RECEIVE_UNSETTLED_MAX;
		c->n--;
	}
	if (inlet_acknowledges(c->inlet))
		write_ack(c);
}

/* --- blocks */

static int on_block(void *arg, const uint8_t *p, const struct evblock *head, uint64_t place)
{
	struct conn *c = arg;
	struct receiver *r = c->receiver;
	int rc;

	if (r->is_full || (place && c->n == RECEIVE_UNSETTLED_MAX))
		return -ERR_AGAIN;
	rc = receiver_block(r, p, head);
	if (!rc && place)
		c->ring[(c->first + c->n++) % RECEIVE_UNSETTLED_MAX] =
			(struct unsettled){ r->appended, place };
	return rc;
}

/* Takes n bytes that have arrived. Returns false if the connection was ended. */
static bool push(struct conn *c, size_t n)
{
	struct err e = { 0 };
	int rc = inlet_push(c->inlet, n, c->has_ended, &e);

	c->is_paused = rc == -ERR_AGAIN;
	if (rc && !c->is_paused) {
		break_conn(c, &e);
		return false;
	}
	if (c->has_ended && !rc) {
		free_conn(c);
		return false;
	}
	take_settled(c);
	if (inlet_has_rest(c->inlet))
		receiver_wake(c->receiver);
	return true;
}

enum after { CONN_GONE, CONN_IDLE, CONN_READ }; /* gone: c was freed */

static enum after read_some(struct conn *c)
{
	size_t room;
	uint8_t *to = inlet_room(c->inlet, &room);
	ssize_t n = recv(c->fd, to, room, MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return CONN_IDLE;
	c->has_ended = n <= 0;
	if (!push(c, n > 0 ? (size_t)n : 0))
		return CONN_GONE;
	return n > 0 ? CONN_READ : CONN_IDLE;
}

static void on_ready(void *arg, unsigned ready)
{
	struct conn *c = arg;

	if (ready & LOOP_WRITE)
		write_ack(c);
	if (ready & LOOP_READ && !c->is_paused && !c->has_ended && read_some(c) == CONN_GONE)
		return;
	watch(c);
}

/* --- all of them */

static struct conn *new_conn(struct receiver *r, int fd)
{
	struct conn *c = calloc(1, sizeof(*c));
	struct loop_watch w = { .fd = fd, .what = LOOP_READ, .fn = on_ready, .arg = c };
	struct inlet_conf conf = { .on_block = on_block, .arg = c, .line = r->line };

	if (!c || rng_fill_random(&conf.stream, sizeof(conf.stream), NULL)) {
		free(c);
		return NULL;
	}
	c->receiver = r;
	c->fd = fd;
	c->inlet = inlet_new(&conf);
	c->watch = c->inlet ? loop_fd_new(r->loop, &w, NULL) : NULL;
	if (c->watch)
		return c;
	inlet_free(c->inlet);
	free(c);
	return NULL;
}

/* A connection without one whole event makes room, so that idle peers do not block others. */
static void make_room(struct receiver *r)
{
	list_each (i, &r->conns) {
		struct conn *c = list_entry(i, struct conn, item);

		if (inlet_is_known(c->inlet))
			continue;
		r->counts.refused++;
		free_conn(c);
		return;
	}
}

void conns_add(struct receiver *r, int fd)
{
	struct conn *c;

	if (r->nconns >= RECEIVE_CONNS_MAX)
		make_room(r);
	c = r->nconns < RECEIVE_CONNS_MAX ? new_conn(r, fd) : NULL;
	if (!c) {
		r->counts.refused++;
		close(fd);
		return;
	}
	list_push_back(&r->conns, &c->item);
	r->nconns++;
}

void conns_turn(struct receiver *r)
{
	list_each_safe (i, &r->conns) {
		struct conn *c = list_entry(i, struct conn, item);

		take_settled(c);
		if (!c->is_paused || push(c, 0))
			watch(c);
	}
}

/* Returns false if the connection was ended. */
static bool flush(struct conn *c)
{
	struct err e = { 0 };
	int rc = inlet_flush(c->inlet, &e);

	if (rc && rc != -ERR_AGAIN) {
		break_conn(c, &e);
		return false;
	}
	c->is_paused |= rc == -ERR_AGAIN; /* conns_turn() continues it */
	watch(c);
	return true;
}

bool conns_flush(struct receiver *r)
{
	bool is_left = false;

	list_each_safe (i, &r->conns) {
		struct conn *c = list_entry(i, struct conn, item);

		if (!c->is_paused && flush(c))
			is_left |= inlet_has_rest(c->inlet);
	}
	return is_left;
}

/*
 * Reads the bytes that the kernel has, as far as there is room. A sender with acknowledgements
 * sends unconfirmed blocks again.
 */
void conns_end(struct receiver *r)
{
	list_each_safe (i, &r->conns) {
		struct conn *c = list_entry(i, struct conn, item);
		enum after after = CONN_READ;

		while (after == CONN_READ && !c->is_paused && !inlet_acknowledges(c->inlet))
			after = read_some(c);
		if (after == CONN_GONE || c->has_ended)
			continue; /* or it waits for room */
		c->has_ended = !inlet_acknowledges(c->inlet);
		if (c->has_ended && push(c, 0))
			watch(c);
	}
}

bool conns_wait(const struct receiver *r)
{
	list_each (i, &r->conns)
		if (list_entry(i, struct conn, item)->is_paused)
			return true;
	return false;
}

void conns_close(struct receiver *r)
{
	list_each_safe (i, &r->conns)
		free_conn(list_entry(i, struct conn, item));
}
