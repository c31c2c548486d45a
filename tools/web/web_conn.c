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

#define REPLY_HEAD_BYTES 512
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
	case 413:
		return "Content Too Large";
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
	list_push_back(&w->conns, &c->item);
	w->stats.open++;
}

void web_conn_free(struct web_conn *c)
{
	c->web->stats.open--;
	list_del(&c->item);
	close(c->fd); /* takes it out of the epoll set */
	buf_done(&c->out);
	free(c);
}

/* --- the answer */

/* The one thing that people see of a refusal. */
static void put_reason(struct web_answer *a)
{
	if (a->status == 200)
		return;
	buf_clear(a->body);
	a->type = "text/plain; charset=utf-8";
	buf_printf(a->body, "%d %s\n", a->status, reason(a->status));
}

static void put_answer(struct web_conn *c, const struct web_answer *a, bool is_head)
{
	buf_printf(&c->out,
		   "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n"
		   "Connection: close\r\nCache-Control: no-store\r\nX-Content-Type-Options: "
		   "nosniff\r\n"
		   "Content-Security-Policy: default-src 'none'\r\n",
		   a->status, reason(a->status), a->type, a->body->n);
	if (a->status == 405)
		buf_puts(&c->out, "Allow: GET, HEAD\r\n");
	if (a->status == 401)
		buf_puts(&c->out, "WWW-Authenticate: Bearer\r\n");
	buf_puts(&c->out, "\r\n");
	if (!is_head)
		buf_put(&c->out, a->body->p, a->body->n);
}

/* Takes the same time for any wrong token of the right length; its length is not secret. */
static bool is_authorised(const struct web *w, const char *header)
{
	static const char scheme[] = "Bearer ";

	if (!w->token)
		return true;
	return header && !strncasecmp(header, scheme, sizeof(scheme) - 1) &&
	       strlen(header + sizeof(scheme) - 1) == strlen(w->token) &&
	       str_equal_ct(header + sizeof(scheme) - 1, w->token, strlen(w->token));
}

/*
 * A page in the operator's browser can reach loopback by a name that resolves to it. It cannot make
 * the browser send another name.
 */
static bool is_ours(const struct web *w, const struct web_head *h)
{
	const char *at = h->origin ? strstr(h->origin, "://") : NULL;

	if (h->origin && (!at || !web_is_local_name(at + 3)))
		return false;
	return !w->is_loopback || web_is_local_name(h->host);
}

static int judge(const struct web *w, const struct web_head *h)
{
	if (!is_ours(w, h))
		return 403;
	return is_authorised(w, h->authorization) ? 0 : 401;
}

/* status 0: the head was read and may be answered. */
static void answer(struct web_conn *c, int status, const struct web_head *h)
{
	struct buf body = BUF_INIT(WEB_ANSWER_MAX_BYTES - REPLY_HEAD_BYTES);
	struct web_answer a = { .status = status,
				.type = "text/plain; charset=utf-8",
				.body = &body };
	struct web *w = c->web;

	if (!status) {
		w->conf.answer(w->conf.arg,
			       &(struct web_request){ h->path, h->accept ? h->accept : "" }, &a);
		a.status = body.failed ? 500 : a.status ? a.status : 200;
	}
	put_reason(&a);
	put_answer(c, &a, h && h->is_head);
	buf_done(&body);
	if (a.status == 200)
		w->stats.answered++;
	else
		w->stats.refused++;
	c->state = WEB_WRITES;
	watch(c, EPOLLOUT);
}

static void answer_head(struct web_conn *c, size_t n)
{
	struct web_head h = { 0 };
	int status = web_head_read(c->head, n, &h);

	if (!status)
		status = judge(c->web, &h);
	answer(c, status, &h);
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

static void turn_read(struct web_conn *c)
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

/* Closing with bytes unread would make the kernel take our answer back. */
static void turn_drain(struct web_conn *c)
{
	char rest[DRAIN_CHUNK_BYTES];
	ssize_t n = recv(c->fd, rest, sizeof(rest), 0);

	if (!is_later(n) && n <= 0)
		web_conn_free(c);
}

static void turn_write(struct web_conn *c)
{
	ssize_t n = send(c->fd, c->out.p + c->sent, c->out.n - c->sent, MSG_NOSIGNAL);

	if (is_later(n))
		return;
	if (n < 0) {
		cut(c);
		return;
	}
	c->sent += (size_t)n;
	if (c->sent < c->out.n)
		return;
	shutdown(c->fd, SHUT_WR);
	c->state = WEB_DRAINS;
	c->until = clock_mono() + WEB_DRAIN_MAX_NS;
	watch(c, EPOLLIN);
}

void web_conn_turn(struct web_conn *c)
{
	static void (*const turn[])(struct web_conn *) = { turn_read, turn_write, turn_drain };

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
