/* SPDX-License-Identifier: Apache-2.0 */
/* The port: where it may listen, and the life of its connections. */
#include "tools/web/web.h"

#include "common/base/str.h"
#include "tools/web/internal.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

/* all there can be: each request is read before a connection is ended for another */
#define EVENTS (WEB_PAGE_CONNS_MAX + 1)

static bool is_loopback(const struct sockaddr *a)
{
	if (a->sa_family == AF_INET)
		return ntohl(((const struct sockaddr_in *)(const void *)a)->sin_addr.s_addr) >>
			       24 ==
		       127;
	return IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)(const void *)a)->sin6_addr);
}

static int find_address(const struct web_conf *conf, struct addrinfo **out, struct err *e)
{
	struct addrinfo hints = { .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE,
				  .ai_socktype = SOCK_STREAM };
	char port[8];

	snprintf(port, sizeof(port), "%u", (unsigned)conf->port);
	if (getaddrinfo(conf->address, port, &hints, out))
		return err_set(e, ERR_INVALID, "'%s' is not a numeric address", conf->address);
	return 0;
}

static int listen_at(struct web *w, const struct addrinfo *a, struct err *e)
{
	const int on = 1;

	w->listener = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (w->listener < 0)
		return err_sys(e, "socket");
	setsockopt(w->listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(w->listener, a->ai_addr, a->ai_addrlen) < 0 ||
	    listen(w->listener, (int)w->conns_max) < 0)
		return err_sys(e, "%s port %u (choose another with --listen)", w->conf.address,
			       (unsigned)w->conf.port);
	return 0;
}

static int watch_listener(struct web *w, struct err *e)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.ptr = NULL };

	w->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (w->epoll < 0 || epoll_ctl(w->epoll, EPOLL_CTL_ADD, w->listener, &ev) < 0)
		return err_sys(e, "epoll");
	return 0;
}

static int open_port(struct web *w, struct err *e)
{
	struct addrinfo *a = NULL;
	int rc = find_address(&w->conf, &a, e);

	if (rc)
		return rc;
	w->is_loopback = is_loopback(a->ai_addr);
	if (!w->is_loopback && !w->token)
		rc = err_set(e, ERR_DENIED, "%s is reached from other machines: that needs a token",
			     w->conf.address);
	if (!rc)
		rc = listen_at(w, a, e);
	freeaddrinfo(a);
	return rc ? rc : watch_listener(w, e);
}

int web_open(const struct web_conf *conf, struct web **out, struct err *e)
{
	struct web *w = calloc(1, sizeof(*w));
	int rc;

	if (!w)
		return err_nomem(e);
	w->conf = *conf;
	w->conns_max = conf->page_headers ? WEB_PAGE_CONNS_MAX : WEB_CONNS_MAX;
	w->epoll = w->listener = -1;
	list_init(&w->conns);
	w->token = str_dup(conf->token);
	rc = conf->token && !w->token ? err_nomem(e) : open_port(w, e);
	w->conf.address = w->conf.token = NULL; /* the strings were borrowed */
	if (rc) {
		web_close(w);
		return rc;
	}
	*out = w;
	return 0;
}

void web_close(struct web *w)
{
	if (!w)
		return;
	list_each_safe (i, &w->conns)
		web_conn_free(list_entry(i, struct web_conn, item));
	if (w->listener >= 0)
		close(w->listener);
	if (w->epoll >= 0)
		close(w->epoll);
	if (w->token)
		str_wipe(w->token, strlen(w->token));
	free(w->token);
	free(w);
}

uint16_t web_port(const struct web *w)
{
	struct sockaddr_storage a = { 0 };
	socklen_t n = sizeof(a);

	if (getsockname(w->listener, (struct sockaddr *)&a, &n) < 0)
		return 0;
	return ntohs(a.ss_family == AF_INET ? ((struct sockaddr_in *)&a)->sin_port
					    : ((struct sockaddr_in6 *)&a)->sin6_port);
}

int web_fd(const struct web *w)
{
	return w->epoll;
}

void web_get_stats(const struct web *w, struct web_stats *out)
{
	*out = w->stats;
}

/* --- one turn */

static void refuse(struct web *w, int fd)
{
	static const char busy[] = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: "
				   "0\r\nConnection: close\r\n\r\n";

	(void)!send(fd, busy, sizeof(busy) - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
	close(fd);
	w->stats.cut++;
}

/* The smaller, the less is lost with the connection. */
enum loss { LOSS_SILENT, LOSS_ANSWERED, LOSS_INCOMPLETE, LOSS_UNREAD, LOSS_STREAM };

static enum loss loss_of(const struct web_conn *c)
{
	switch (c->state) {
	case WEB_READS:
		return c->n ? LOSS_INCOMPLETE : LOSS_SILENT;
	case WEB_WRITES:
		return LOSS_UNREAD;
	case WEB_DRAINS:
		return LOSS_ANSWERED;
	default:
		return LOSS_STREAM;
	}
}

/*
 * Returns the oldest connection of the least loss: a peer needs no key to keep connections open
 * that have their answer, or that do not read it. NULL: all are streams.
 */
static struct web_conn *find_victim(const struct web *w)
{
	enum loss least = LOSS_STREAM;
	struct web_conn *victim = NULL;

	list_each (i, &w->conns) {
		struct web_conn *c = list_entry(i, struct web_conn, item);

		if (loss_of(c) >= least)
			continue;
		least = loss_of(c);
		victim = c;
	}
	return victim;
}

/* Ends a connection, so that slow and idle peers do not block others. */
static void make_room(struct web *w)
{
	struct web_conn *c = w->stats.open >= w->conns_max ? find_victim(w) : NULL;

	if (!c)
		return;
	w->stats.cut++;
	web_conn_free(c);
}

static void take_in(struct web *w)
{
	int fd = accept4(w->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0)
		return;
	make_room(w);
	if (w->stats.open >= w->conns_max)
		refuse(w, fd);
	else
		web_conn_new(w, fd);
}

static void cut_slow(struct web *w)
{
	nsec_t now = clock_mono();

	list_each_safe (i, &w->conns) {
		struct web_conn *c = list_entry(i, struct web_conn, item);

		if (c->until <= now)
			web_conn_expire(c);
	}
}

void web_turn(struct web *w)
{
	struct epoll_event ev[EVENTS];
	int n = epoll_wait(w->epoll, ev, EVENTS, 0);
	bool has_peer = false;

	for (int i = 0; i < n; i++) {
		if (ev[i].data.ptr)
			web_conn_turn(ev[i].data.ptr);
		else
			has_peer = true;
	}
	if (has_peer) /* last: it may end a connection that has an event here */
		take_in(w);
	cut_slow(w);
}

void web_feed(struct web *w)
{
	list_each_safe (i, &w->conns)
		web_conn_feed(list_entry(i, struct web_conn, item));
}
