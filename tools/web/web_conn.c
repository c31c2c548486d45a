/* SPDX-License-Identifier: Apache-2.0 */
/* A connection: receives a request, sends an answer and closes. */
#include "common/base/str.h"
#include "tools/web/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define REPLY_HEAD_BYTES 2048 /* with the headers of a page */
#define DRAIN_CHUNK_BYTES 4096

static const char *reason(int status)
{
	switch (status) {
	case 200:
		return "OK";
	case 400:
		return "Bad Request";
	case 401:
		return "Unauthorized";
	case 403:
		return "Forbidden";
	case 404:
		return "Not Found";
	case 405:
		return "Method Not Allowed";
	case 408:
		return "Request Timeout";
	case 409:
		return "Conflict";
	case 413:
		return "Content Too Large";
	case 415:
		return "Unsupported Media Type";
	case 429:
		return "Too Many Requests";
	case 431:
		return "Request Header Fields Too Large";
	case 503:
		return "Service Unavailable";
	case 505:
		return "HTTP Version Not Supported";
	default:
		return "Internal Server Error";
	}
}

static void watch(const struct web_conn *c, uint32_t what)
{
	struct epoll_event ev = { .events = what, .data.ptr = (void *)(uintptr_t)c };

	epoll_ctl(c->web->epoll, EPOLL_CTL_MOD, c->fd, &ev);
}

void web_conn_new(struct web *w, int fd)
{
	struct web_conn *c = calloc(1, sizeof(*c));
	struct epoll_event ev = { .events = EPOLLIN, .data.ptr = c };

	if (!c || epoll_ctl(w->epoll, EPOLL_CTL_ADD, fd, &ev) < 0) {
		free(c);
		close(fd);
		w->stats.cut++;
		return;
	}
	c->web = w;
	c->fd = fd;
	c->until = clock_mono() + WEB_TIME_MAX_NS;
	buf_init(&c->out, WEB_ANSWER_MAX_BYTES);
	buf_init(&c->body, WEB_BODY_MAX_BYTES);
	list_push_back(&w->conns, &c->item);
	w->stats.open++;
}

static void end_viewer(struct web_conn *c)
{
	void *viewer = c->viewer;

	c->viewer = NULL;
	if (viewer)
		c->web->conf.gone(c->web->conf.arg, viewer);
}

void web_conn_free(struct web_conn *c)
{
	c->web->stats.open--;
	list_del(&c->item);
	close(c->fd); /* takes it out of the epoll set */
	end_viewer(c);
	buf_done(&c->out);
	buf_done(&c->body);
	free(c);
}

/* --- the answer */

/* The one thing that people see of a refusal, if the answer has no words of its own. */
static void put_reason(struct web_answer *a)
{
	if (a->status == 200 || (a->body->n && !a->body->failed))
		return;
	buf_clear(a->body);
	a->type = "text/plain; charset=utf-8";
	buf_printf(a->body, "%d %s\n", a->status, reason(a->status));
}

/* A stream has no length: it ends with its connection. */
static void put_answer(struct web_conn *c, const struct web_answer *a, bool is_head)
{
	const char *page = c->web->conf.page_headers;

	buf_printf(&c->out, "HTTP/1.1 %d %s\r\nContent-Type: %s\r\n", a->status, reason(a->status),
		   a->type);
	if (!a->viewer)
		buf_printf(&c->out, "Content-Length: %zu\r\n", a->body->n);
	buf_printf(
		&c->out,
		"Connection: close\r\nCache-Control: %s\r\nX-Content-Type-Options: nosniff\r\n%s",
		a->is_lasting ? "private, max-age=31536000, immutable" : "no-store",
		page ? page : "Content-Security-Policy: default-src 'none'\r\n");
	if (a->status == 405)
		buf_printf(&c->out, "Allow: GET, HEAD%s\r\n", page ? ", POST" : "");
	if (a->status == 401)
		buf_puts(&c->out, "WWW-Authenticate: Bearer\r\n");
	buf_puts(&c->out, "\r\n");
	if (!is_head)
		buf_put(&c->out, a->body->p, a->body->n);
}

static void count_answer(struct web *w, int status)
{
	if (status == 200)
		w->stats.answered++;
	else
		w->stats.refused++;
}

static void ask_owner(struct web_conn *c, const struct web_head *h, struct web_answer *a)
{
	const struct web_conf *conf = &c->web->conf;
	const struct web_request q = { .path = h->path,
				       .accept = h->accept ? h->accept : "",
				       .bearer = web_bearer(h->authorization),
				       .is_post = h->is_post,
				       .body = c->body.p,
				       .nbody = c->body.n };

	conf->answer(conf->arg, &q, a);
	a->status = a->body->failed ? 500 : a->status ? a->status : 200;
	c->viewer = a->viewer;
	if (h->is_head) /* the head of a stream, and no stream */
		end_viewer(c);
}

/* status 0: the head was read and may be answered. */
static void answer(struct web_conn *c, int status, const struct web_head *h)
{
	struct buf body = BUF_INIT(WEB_ANSWER_MAX_BYTES - REPLY_HEAD_BYTES);
	struct web_answer a = { .status = status,
				.type = "text/plain; charset=utf-8",
				.body = &body };

	if (!status)
		ask_owner(c, h, &a);
	put_reason(&a);
	put_answer(c, &a, h && h->is_head);
	buf_done(&body);
	count_answer(c->web, a.status);
	c->state = c->viewer ? WEB_STREAMS : WEB_WRITES;
	if (c->viewer)
		c->until = clock_mono() + WEB_STALL_MAX_NS;
	watch(c, EPOLLOUT);
}

/* The head is there, and as much of the body as came with it. */
static void answer_whole(struct web_conn *c)
{
	if (c->body.n >= c->parsed.nbody)
		answer(c, 0, &c->parsed);
}

static void take_body(struct web_conn *c, const void *p, size_t n)
{
	size_t left = c->parsed.nbody - c->body.n;

	if (buf_put(&c->body, p, n < left ? n : left))
		answer(c, 500, NULL);
	else
		answer_whole(c);
}

static void answer_head(struct web_conn *c, size_t n)
{
	size_t more = c->n - n;
	char *rest = more ? malloc(more) : NULL; /* the end of the head is written over it */
	int status;

	if (rest)
		memcpy(rest, c->head + n, more);
	status = more && !rest ? 500 : web_head_read(c->head, n, &c->parsed);
	if (!status)
		status = web_judge(c->web, &c->parsed);
	c->has_head = true;
	if (status)
		answer(c, status, &c->parsed);
	else
		take_body(c, rest, more);
	free(rest);
}

/* --- bytes */

static bool is_later(ssize_t n)
{
	return n < 0 && (errno == EAGAIN || errno == EINTR);
}

static void cut(struct web_conn *c)
{
	c->web->stats.cut++;
	web_conn_free(c);
}

static void turn_body(struct web_conn *c)
{
	char part[DRAIN_CHUNK_BYTES];
	ssize_t n = recv(c->fd, part, sizeof(part), 0);

	if (is_later(n))
		return;
	if (n <= 0)
		cut(c);
	else
		take_body(c, part, (size_t)n);
}

static void turn_head(struct web_conn *c)
{
	ssize_t n = recv(c->fd, c->head + c->n, WEB_HEAD_MAX_BYTES - c->n, 0);
	size_t end;

	if (is_later(n))
		return;
	if (n <= 0) {
		cut(c);
		return;
	}
	c->n += (size_t)n;
	end = web_head_end(c->head, c->n);
	if (end)
		answer_head(c, end);
	else if (c->n == WEB_HEAD_MAX_BYTES)
		answer(c, 431, NULL);
}

static void turn_read(struct web_conn *c)
{
	if (c->has_head)
		turn_body(c);
	else
		turn_head(c);
}

/* Closing with bytes unread would make the kernel take our answer back. */
static void turn_drain(struct web_conn *c)
{
	char rest[DRAIN_CHUNK_BYTES];
	ssize_t n = recv(c->fd, rest, sizeof(rest), 0);

	if (!is_later(n) && n <= 0)
		web_conn_free(c);
}

/* True: all bytes have left. */
static bool write_out(struct web_conn *c)
{
	ssize_t n = send(c->fd, c->out.p + c->sent, c->out.n - c->sent, MSG_NOSIGNAL);

	if (is_later(n))
		return false;
	if (n < 0) {
		cut(c);
		return false;
	}
	c->sent += (size_t)n;
	if (c->state == WEB_STREAMS && n)
		c->until = clock_mono() + WEB_STALL_MAX_NS;
	return c->sent == c->out.n;
}

static void end_output(struct web_conn *c)
{
	end_viewer(c);
	shutdown(c->fd, SHUT_WR);
	c->state = WEB_DRAINS;
	c->until = clock_mono() + WEB_DRAIN_MAX_NS;
	watch(c, EPOLLIN);
}

static void turn_write(struct web_conn *c)
{
	if (write_out(c))
		end_output(c);
}

/* --- streams */

/* A viewer that has seen all waits without a deadline. It has nothing to send. */
static void rest(struct web_conn *c)
{
	c->until = INT64_MAX;
	watch(c, EPOLLIN);
}

void web_conn_feed(struct web_conn *c)
{
	const struct web_conf *conf = &c->web->conf;

	if (c->state != WEB_STREAMS || c->sent < c->out.n)
		return;
	buf_clear(&c->out);
	c->sent = 0;
	if (!conf->more(conf->arg, c->viewer, &c->out) || c->out.failed) {
		end_output(c);
	} else if (c->out.n) {
		c->until = clock_mono() + WEB_STALL_MAX_NS;
		watch(c, EPOLLOUT);
	} else {
		rest(c);
	}
}

static void turn_stream(struct web_conn *c)
{
	if (c->sent == c->out.n)
		turn_drain(c);
	else if (write_out(c))
		web_conn_feed(c);
}

void web_conn_turn(struct web_conn *c)
{
	static void (*const turn[])(struct web_conn *) = { turn_read, turn_write, turn_drain,
							   turn_stream };

	turn[c->state](c);
}

void web_conn_expire(struct web_conn *c)
{
	if (c->state == WEB_READS && c->n) {
		answer(c, 408, NULL);
		c->until = clock_mono() + WEB_DRAIN_MAX_NS;
	} else if (c->state == WEB_DRAINS) {
		web_conn_free(c);
	} else {
		cut(c);
	}
}
