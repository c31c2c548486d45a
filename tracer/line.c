/* SPDX-License-Identifier: Apache-2.0 */
#include "tracer/line.h"

#include "common/container/list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define MSGS_PER_TURN 64

struct packet {
	struct list link;
	size_t n;
	uint8_t p[];
};

struct line {
	struct line_conf conf;
	struct loop_fd *watch;
	struct list queue;
	size_t queued; /* bytes */
	struct loop_job ending;
	const char *why; /* NULL: it is up */
	struct tracer_msg msg; /* the last received message */
	uint8_t in[TRACER_MSG_MAX_BYTES];
};

static void report_end(void *arg)
{
	struct line *l = arg;

	l->conf.on_end(l->conf.arg, l->why);
}

static void end(struct line *l, const char *why)
{
	if (l->why)
		return;
	l->why = why;
	loop_job_post(l->conf.loop, &l->ending, report_end, l);
}

static int send_now(struct line *l, const void *p, size_t n)
{
	if (send(l->conf.fd, p, n, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)n)
		return 0;
	if (errno == EAGAIN || errno == EINTR || errno == ENOBUFS)
		return -ERR_AGAIN;
	end(l, "the lm is gone");
	return -ERR_CLOSED;
}

static void flush(struct line *l)
{
	while (!list_is_empty(&l->queue)) {
		struct packet *k = list_entry(list_first(&l->queue), struct packet, link);

		if (send_now(l, k->p, k->n))
			return;
		list_del(&k->link);
		l->queued -= k->n;
		free(k);
	}
	loop_fd_set(l->watch, LOOP_READ);
}

/* Returns false when nothing more has arrived, or the peer has closed. */
static bool receive(struct line *l)
{
	struct err e = { 0 };
	ssize_t n = recv(l->conf.fd, l->in, sizeof(l->in), MSG_DONTWAIT | MSG_TRUNC);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n <= 0)
		end(l, "the lm is gone");
	else if ((size_t)n > sizeof(l->in) || tracer_msg_decode(&l->msg, l->in, (size_t)n, &e) ||
		 l->msg.type >= TRACER_FRAMES)
		end(l, "what came is not a message of an lm");
	if (l->why)
		return false;
	l->conf.on_msg(l->conf.arg, &l->msg);
	return !l->why;
}

static void on_ready(void *arg, unsigned what)
{
	struct line *l = arg;

	if (what & LOOP_WRITE)
		flush(l);
	for (int i = 0; (what & LOOP_READ) && i < MSGS_PER_TURN && receive(l); i++)
		;
}

int line_open(const struct line_conf *c, struct line **out, struct err *e)
{
	struct line *l = calloc(1, sizeof(*l));

	if (!l)
		return err_nomem(e);
	l->conf = *c;
	list_init(&l->queue);
	l->watch = loop_fd_new(
		c->loop,
		&(struct loop_watch){ .fd = c->fd, .what = LOOP_READ, .fn = on_ready, .arg = l },
		e);
	if (!l->watch) {
		free(l);
		return -ERR_SYS;
	}
	*out = l;
	return 0;
}

void line_close(struct line *l)
{
	if (!l)
		return;
	list_each_safe (i, &l->queue)
		free(list_entry(i, struct packet, link));
	loop_job_cancel(&l->ending);
	loop_fd_free(l->watch);
	free(l);
}

static int keep(struct line *l, const struct buf *b)
{
	struct packet *k;

	if (l->queued + b->n > LINE_QUEUE_MAX_BYTES)
		return -ERR_LIMIT;
	k = malloc(sizeof(*k) + b->n);
	if (!k)
		return -ERR_NOMEM;
	k->n = b->n;
	memcpy(k->p, b->p, b->n);
	list_push_back(&l->queue, &k->link);
	l->queued += b->n;
	return loop_fd_set(l->watch, LOOP_READ | LOOP_WRITE);
}

static int put(struct line *l, const struct tracer_msg *m, bool may_queue)
{
	struct buf b = BUF_INIT(TRACER_MSG_MAX_BYTES);
	int rc = l->why ? -ERR_CLOSED : tracer_msg_encode(&b, m);

	if (!rc)
		rc = list_is_empty(&l->queue) ? send_now(l, b.p, b.n) : -ERR_AGAIN;
	if (rc == -ERR_AGAIN && may_queue)
		rc = keep(l, &b);
	buf_done(&b);
	return rc;
}

void line_answer(struct line *l, const struct tracer_msg *m)
{
	if (put(l, m, true))
		end(l, "an answer could not be given");
}

bool line_event(struct line *l, const struct tracer_msg *m)
{
	return !put(l, m, l->queued < LINE_EVENTS_MAX_BYTES);
}

void line_fail(struct line *l, uint32_t id, const struct err *e)
{
	struct tracer_msg *m = calloc(1, sizeof(*m));

	if (!m) {
		end(l, "no memory for an answer");
		return;
	}
	m->type = TRACER_FAILED;
	m->id = id;
	m->what = e->code ? (uint32_t)e->code : ERR_INTERNAL;
	m->text[m->ntext++] = e->text;
	line_answer(l, m);
	free(m);
}
