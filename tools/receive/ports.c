/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses where a receiver listens: TCP for connections, UDP for datagrams. */
#include "common/base/rng.h"
#include "common/base/str.h"
#include "tools/receive/receive_internal.h"
#include "tools/term/say.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define DATAGRAMS_MAX 64 /* datagrams of one turn, in which connections wait */
#define DATAGRAM_BYTES 65536 /* the longest datagram */
#define RECEIVE_BUFFER_BYTES (4 * 1024 * 1024) /* a burst; the kernel may grant less */

const char *port_name(const struct port *p, char out[PORT_NAME_BYTES])
{
	const char *host = p->url.host[0] ? p->url.host : "127.0.0.1";
	bool is_v6 = strchr(host, ':') != NULL;

	snprintf(out, PORT_NAME_BYTES, "%s://%s%s%s:%u",
		 p->inlet      ? "x-netlog-udp"
		 : p->listener ? "x-netlogs"
			       : "x-netlog",
		 is_v6 ? "[" : "", host, is_v6 ? "]" : "", (unsigned)p->number);
	return out;
}

/* --- TCP */

static void on_peer(void *arg, unsigned ready)
{
	struct port *p = arg;
	int fd = accept4(p->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	(void)ready;
	if (fd >= 0)
		conns_add(p->receiver, fd);
	else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
		loop_fd_set(p->watch, 0); /* until a connection has ended */
}

void ports_resume(struct receiver *r)
{
	for (size_t i = 0; i < r->nports; i++)
		if (r->port[i].watch)
			loop_fd_set(r->port[i].watch, LOOP_READ);
}

/* --- UDP */

static int on_block(void *arg, const uint8_t *p, const struct evblock *head, uint64_t place)
{
	struct port *port = arg;

	(void)place;
	return receiver_block(port->receiver, p, head);
}

/* The kernel counts the datagrams without room, and reports the sum with the next datagram. */
static void take_overflow(struct port *p, struct msghdr *m)
{
	uint32_t n;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SO_RXQ_OVFL)
			continue;
		memcpy(&n, CMSG_DATA(c), sizeof(n));
		p->receiver->counts.overflow += n - p->overflow;
		p->overflow = n;
	}
}

static bool read_datagram(struct port *p)
{
	uint8_t bytes[DATAGRAM_BYTES];
	union {
		char space[CMSG_SPACE(sizeof(uint32_t))];
		struct cmsghdr align;
	} control;
	struct iovec v = { bytes, sizeof(bytes) };
	struct msghdr m = { .msg_iov = &v,
			    .msg_iovlen = 1,
			    .msg_control = &control,
			    .msg_controllen = sizeof(control) };
	ssize_t n = recvmsg(p->fd, &m, MSG_DONTWAIT);
	struct err e = { 0 };

	if (n < 0)
		return false;
	take_overflow(p, &m);
	inlet_datagram(p->inlet, bytes, (size_t)n, &e);
	if (inlet_has_rest(p->inlet))
		receiver_wake(p->receiver);
	return true;
}

static void on_datagram(void *arg, unsigned ready)
{
	(void)ready;
	for (int i = 0; i < DATAGRAMS_MAX && read_datagram(arg); i++)
		;
}

/* --- opening */

static int bind_one(struct port *p, const struct addrinfo *a)
{
	const int on = 1, bytes = RECEIVE_BUFFER_BYTES;
	bool is_udp = p->url.kind == EVURL_UDP;

	p->fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (p->fd < 0)
		return -1;
	if (is_udp) {
		setsockopt(p->fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
		setsockopt(p->fd, SOL_SOCKET, SO_RXQ_OVFL, &on, sizeof(on));
	} else {
		setsockopt(p->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	}
	if (bind(p->fd, a->ai_addr, a->ai_addrlen) < 0)
		return -1;
	return is_udp ? 0 : listen(p->fd, RECEIVE_CONNS_MAX);
}

static uint16_t real_port(int fd)
{
	struct sockaddr_storage a = { 0 };
	socklen_t n = sizeof(a);

	if (getsockname(fd, (struct sockaddr *)&a, &n) < 0)
		return 0;
	return ntohs(a.ss_family == AF_INET ? ((struct sockaddr_in *)&a)->sin_port
					    : ((struct sockaddr_in6 *)&a)->sin6_port);
}

static int bind_port(struct port *p, const char *text)
{
	struct addrinfo hints = { .ai_flags = AI_NUMERICSERV | AI_PASSIVE,
				  .ai_socktype =
					  p->url.kind == EVURL_UDP ? SOCK_DGRAM : SOCK_STREAM };
	struct addrinfo *all;
	char number[8];
	int rc, keep;

	snprintf(number, sizeof(number), "%u", (unsigned)p->url.port);
	rc = getaddrinfo(p->url.host[0] ? p->url.host : "127.0.0.1", number, &hints, &all);
	if (rc)
		return cmd_fail(CMD_USAGE, "%s: %s", text, gai_strerror(rc));
	rc = bind_one(p, all);
	keep = errno;
	freeaddrinfo(all);
	errno = keep;
	if (rc)
		return cmd_fail(CMD_FAILURE, "%s: %m", text);
	p->number = real_port(p->fd);
	return CMD_OK;
}

static int make_inlet(struct port *p)
{
	struct inlet_conf conf = { .on_block = on_block, .arg = p, .line = p->receiver->line };

	if (p->url.kind != EVURL_UDP)
		return CMD_OK;
	if (!rng_fill_random(&conf.stream, sizeof(conf.stream), NULL))
		p->inlet = inlet_new(&conf);
	return p->inlet ? CMD_OK : cmd_fail(CMD_FAILURE, "out of memory");
}

static int open_one(struct port *p, const char *text)
{
	struct loop_watch w = { .what = LOOP_READ, .arg = p };
	struct err e = { 0 };
	int rc;

	p->fd = -1;
	if (evurl_parse(text, &p->url, &e) ||
	    (p->url.kind != EVURL_TCP && p->url.kind != EVURL_UDP && p->url.kind != EVURL_TLS))
		return cmd_fail(CMD_USAGE, "%s",
				e.code ? e.text : "an address begins with x-netlog://");
	if (p->url.kind == EVURL_TLS)
		return tls_listen_at(p, text);
	if (p->receiver->options->needs_tls)
		return cmd_fail(CMD_USAGE, "%s has no TLS: write x-netlogs://", text);
	rc = make_inlet(p);
	rc = rc == CMD_OK ? bind_port(p, text) : rc;
	if (rc != CMD_OK)
		return rc;
	w.fd = p->fd;
	w.fn = p->inlet ? on_datagram : on_peer;
	p->watch = loop_fd_new(p->receiver->loop, &w, &e);
	return p->watch ? CMD_OK : cmd_fail(CMD_FAILURE, "%s", e.text);
}

int ports_open(struct receiver *r)
{
	int rc = CMD_OK;

	for (char **url = r->options->urls; rc == CMD_OK && *url; url++) {
		if (r->nports == RECEIVE_PORTS_MAX)
			return cmd_fail(CMD_USAGE, "more than %d addresses", RECEIVE_PORTS_MAX);
		r->port[r->nports].receiver = r;
		rc = open_one(&r->port[r->nports++], *url);
	}
	return rc;
}

void ports_close(struct receiver *r)
{
	struct err e = { 0 };

	for (size_t i = 0; i < r->nports; i++) {
		struct port *p = &r->port[i];

		while (p->inlet && p->watch && read_datagram(p))
			;
		loop_fd_free(p->watch);
		p->watch = NULL;
		net_listener_close(p->listener);
		p->listener = NULL;
		if (p->fd >= 0)
			close(p->fd);
		p->fd = -1;
		if (!p->inlet)
			continue;
		if (r->spooler)
			inlet_push(p->inlet, 0, true, &e);
		receiver_count(r, inlet_report(p->inlet));
		inlet_free(p->inlet);
		p->inlet = NULL;
	}
}
