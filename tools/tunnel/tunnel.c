/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/tunnel/tunnel.h"

#include "common/base/buf.h"
#include "common/base/limits.h"
#include "proto/frame.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

struct tunnel {
	struct tunnel_conf conf;
	struct chan *chan; /* NULL: not joined yet, or it has ended */
	struct loop_fd *watch;
	struct buf out; /* the rest of a frame that the stream did not take */
	struct err why; /* of the channel's end */
	bool is_open;
	bool has_ended; /* the channel; `out` is still written */
	size_t n; /* of the chunk; > 0: the channel takes no more */
	uint8_t chunk[TUNNEL_CHUNK_BYTES];
};

/* --- from the stream to the channel */

static void watch(const struct tunnel *t)
{
	unsigned what = t->is_open && !t->n && !t->has_ended ? LOOP_READ : 0;

	loop_fd_set(t->watch, what | (t->out.n ? LOOP_WRITE : 0));
}

static void end(struct tunnel *t, const struct err *why)
{
	t->conf.on_end(t->conf.arg, t, why);
}

/* Sends the chunk; without room it waits for CHAN_WRITABLE. */
static int send_chunk(struct tunnel *t)
{
	struct buf b = BUF_INIT(TUNNEL_CHUNK_BYTES + FRAME_HEADER_BYTES);
	size_t mark = frame_begin(&b, TUNNEL_FRAME);
	int rc;

	buf_put(&b, t->chunk, t->n);
	rc = frame_end(&b, mark);
	rc = rc ? rc : chan_send(t->chan, b.p, b.n);
	buf_done(&b);
	if (!rc)
		t->n = 0;
	return rc == -ERR_LIMIT ? 0 : rc;
}

/* False: t has ended. */
static bool read_stream(struct tunnel *t)
{
	ssize_t n = recv(t->conf.fd, t->chunk, sizeof(t->chunk), MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return true;
	t->n = n > 0 ? (size_t)n : 0;
	if (n > 0 && !send_chunk(t))
		return true;
	end(t, NULL);
	return false;
}

/* --- from the channel to the stream */

/* False: the stream has ended. */
static bool write_rest(struct tunnel *t)
{
	while (t->out.n) {
		ssize_t n = send(t->conf.fd, t->out.p, t->out.n, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0)
			return errno == EAGAIN || errno == EINTR;
		buf_drop_front(&t->out, (size_t)n);
	}
	return true;
}

static void on_ready(void *arg, unsigned ready)
{
	struct tunnel *t = arg;

	if (ready & LOOP_WRITE && !write_rest(t)) {
		end(t, NULL);
		return;
	}
	if (t->has_ended && !t->out.n) {
		end(t, &t->why);
		return;
	}
	if (!t->has_ended && !t->out.n)
		chan_pause_reading(t->chan, false);
	if (ready & LOOP_READ && t->is_open && !t->n && !t->has_ended && !read_stream(t))
		return;
	watch(t);
}

static void on_frame(void *arg, struct chan *c, uint8_t type, const uint8_t *p, size_t n)
{
	struct tunnel *t = arg;
	struct err why = { 0 };

	if (type != TUNNEL_FRAME || n > TUNNEL_CHUNK_BYTES || buf_put(&t->out, p, n)) {
		err_set(&why, ERR_PROTO, "the peer does not speak as an event log");
		end(t, &why);
		return;
	}
	if (!write_rest(t)) {
		end(t, NULL);
		return;
	}
	if (t->out.n)
		chan_pause_reading(c, true);
	watch(t);
}

static void on_event(void *arg, struct chan *c, enum chan_event ev, const struct err *why)
{
	struct tunnel *t = arg;

	if (ev == CHAN_OPEN) {
		chan_role_known(c);
		t->is_open = true;
	}
	if (ev == CHAN_CLOSED || ev == CHAN_BROKEN) {
		t->has_ended = true;
		t->why = *why;
	}
	if (ev == CHAN_WRITABLE && t->n && send_chunk(t))
		end(t, NULL);
	else if (t->has_ended && !t->out.n)
		end(t, &t->why);
	else
		watch(t);
}

/* --- calls */

struct tunnel *tunnel_new(const struct tunnel_conf *conf)
{
	struct tunnel *t = calloc(1, sizeof(*t));
	const struct loop_watch w = { .fd = conf->fd, .what = 0, .fn = on_ready, .arg = t };

	if (!t)
		return NULL;
	t->conf = *conf;
	buf_init(&t->out, 2 * TUNNEL_CHUNK_BYTES);
	t->watch = loop_fd_new(conf->loop, &w, NULL);
	if (t->watch)
		return t;
	free(t);
	return NULL;
}

struct chan_handler tunnel_handler(struct tunnel *t)
{
	return (struct chan_handler){ on_frame, on_event, t };
}

void tunnel_join(struct tunnel *t, struct chan *c)
{
	const struct chan_handler h = tunnel_handler(t);

	t->chan = c;
	t->is_open = chan_peer(c) != NULL;
	chan_set_handler(c, &h);
	chan_set_cap(c, TUNNEL_QUEUE_MAX_BYTES);
	chan_set_stall_max(c, TUNNEL_STALL_MAX_NS);
	chan_role_known(c);
	watch(t);
}

void tunnel_free(struct tunnel *t)
{
	if (!t)
		return;
	chan_close(t->chan, "the stream has ended");
	loop_fd_free(t->watch);
	close(t->conf.fd);
	buf_done(&t->out);
	free(t);
}
