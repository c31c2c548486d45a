/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/log.h"
#include "common/net/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BACKLOG 1024 /* hosts of a site may reconnect at the same moment */
#define ACCEPT_TURN_MAX 16
/* time without a message from the peer: a round trip around the world */
#define SLOW_PEER_NS (250 * NSEC_PER_MSEC)
/* TLS clients send first, so the kernel holds a silent one, at no cost for us */
#define DEFER_S ((int)(HANDSHAKE_MAX_NS / NSEC_PER_SEC))
/* pause without descriptors: accepting in a loop would use a core */
#define REARM_NS (500 * NSEC_PER_MSEC)

struct tls_listener {
	struct net_listener l; /* first */
	struct net_listen_conf conf;
	int fd, spare_fd;
	struct loop_fd *watch;
	struct loop_timer *rearm;
	struct loop_job grave;
	struct list half_open; /* entries: struct tls_chan.half_open */
	struct sources *sources;
	struct net_listener_stats stats;
	uint16_t port;
};

bool tls_listener_enrols(const struct tls_listener *l)
{
	return l->conf.enrol_type != 0;
}

void tls_listener_release(struct tls_chan *t)
{
	if (!t->listener)
		return;
	t->listener->stats.half_open--;
	if (t->source)
		t->source->half_open--;
	list_del(&t->half_open);
	t->listener = NULL;
	t->source = NULL;
}

void tls_listener_accepted(struct tls_chan *t)
{
	struct tls_listener *l = t->listener;

	l->stats.accepted++;
	if (t->c.enrol) {
		t->c.only_type = l->conf.enrol_type; /* without an identity it stays half-open */
	} else {
		if (t->source)
			t->source->failures = 0;
		tls_listener_release(t);
	}
	l->l.accept.on_accept(l->l.accept.arg, &t->c);
}

static void report_refused(struct tls_listener *l, const char *remote, const struct err *why)
{
	log_debug("net", "refused peer=%s reason=\"%s\"", remote, why->text);
	if (l->l.accept.on_refused)
		l->l.accept.on_refused(l->l.accept.arg, remote, why);
}

void tls_listener_refused(struct tls_chan *t, const struct err *why)
{
	struct tls_listener *l = t->listener;
	char remote[REMOTE_BYTES];

	l->stats.refused++;
	if (t->source && tls_is_bad_auth(t, why))
		source_failed(t->source, loop_now(t->c.loop));
	memcpy(remote, t->c.remote, sizeof(remote));
	chan_close(&t->c, NULL);
	report_refused(l, remote, why);
}

static bool is_silent(const struct tls_chan *t)
{
	return t->hs && !t->hs->has_hello && !sock_has_input(t->sock.fd);
}

/*
 * True if the peer is slow; false if it waits for us: when all hosts of a site connect at once,
 * handshakes take long.
 */
static bool is_slow(const struct tls_chan *t, nsec_t now)
{
	return now - t->shook_at >= SLOW_PEER_NS && !sock_has_input(t->sock.fd);
}

/*
 * Finds a peer to disconnect: the oldest one without a complete ClientHello, of any age; otherwise
 * the oldest one whose next message is overdue. So peers without credentials cannot keep valid ones
 * out. Returns NULL if all handshakes make progress.
 */
static struct tls_chan *find_victim(struct tls_listener *l, nsec_t now)
{
	struct tls_chan *slow = NULL;

	list_each (item, &l->half_open) {
		struct tls_chan *t = list_entry(item, struct tls_chan, half_open);

		if (is_silent(t))
			return t;
		if (!slow && is_slow(t, now))
			slow = t;
	}
	return slow;
}

static bool make_room(struct tls_listener *l, nsec_t now)
{
	struct tls_chan *t = find_victim(l, now);
	struct err why = { 0 };

	if (!t)
		return false;
	err_set(&why, ERR_LIMIT, "too slow while others are waiting");
	tls_fail(t, &why);
	return l->fd >= 0; /* a callback may have closed the listener */
}

/*
 * Finds the source that counts the connection: NULL for loopback. Fails if the source is not
 * admitted now.
 */
static int admit_source(struct tls_listener *l, const struct sockaddr_storage *from,
			struct source **out, struct err *e)
{
	nsec_t now = loop_now(l->l.ctx->loop);
	struct source *s;

	if (l->stats.half_open >= l->conf.half_open_max && !make_room(l, now)) {
		l->stats.over_limit++;
		return err_set(e, ERR_LIMIT, "too many peers are in the middle of a handshake");
	}
	*out = NULL;
	if (!l->conf.strict_loopback && sock_is_loopback(from))
		return 0;
	s = sources_get(l->sources, sock_source_key(from), now);
	if (!s || s->half_open >= l->conf.per_source_max) {
		l->stats.over_limit++;
		return err_set(e, ERR_LIMIT, "too many handshakes from this address at once");
	}
	if (source_is_punished(s, now)) {
		l->stats.penalised++;
		return err_set(e, ERR_DENIED, "this address was refused too often and has to wait");
	}
	*out = s;
	return 0;
}

static int start_peer(struct tls_listener *l, int fd, const char *remote, struct source *s,
		      struct err *e)
{
	struct net_expect who = { .roles = l->conf.roles };
	struct tls_chan *t = tls_chan_new(l->l.ctx, true, e);

	if (!t) {
		close(fd);
		return -ERR_NOMEM;
	}
	t->sock.fd = fd;
	memcpy(t->c.remote, remote, REMOTE_BYTES);
	t->listener = l;
	t->source = s;
	list_push_back(&l->half_open, &t->half_open);
	l->stats.half_open++;
	if (s)
		s->half_open++;
	if (!sock_tune(fd, e) && !admit_init(&t->hs->admit, &who, e) && !tls_shake_start(t, e))
		return 0;
	chan_close(&t->c, NULL);
	return -ERR_SYS;
}

static void on_peer(struct tls_listener *l, int fd, const struct sockaddr_storage *from)
{
	char remote[REMOTE_BYTES];
	struct source *source;
	struct err why = { 0 };
	int rc;

	sock_name(remote, from);
	rc = admit_source(l, from, &source, &why);
	if (rc)
		close(fd);
	else
		rc = start_peer(l, fd, remote, source, &why);
	if (rc)
		report_refused(l, remote, &why);
}

/*
 * Uses the spare descriptor to accept and close the first connection, because the listener stays
 * readable. Then accepts no connection for some time.
 */
static void out_of_descriptors(struct tls_listener *l)
{
	int fd;

	l->stats.fd_exhausted++;
	if (l->spare_fd >= 0) {
		close(l->spare_fd);
		fd = accept4(l->fd, NULL, NULL, SOCK_CLOEXEC);
		if (fd >= 0)
			close(fd);
		l->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	}
	loop_fd_set(l->watch, 0);
	loop_timer_arm(l->rearm, REARM_NS);
}

static void on_rearm(void *arg)
{
	struct tls_listener *l = arg;

	if (l->spare_fd < 0)
		l->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (loop_fd_set(l->watch, LOOP_READ))
		loop_timer_arm(l->rearm, REARM_NS);
}

static bool is_exhaustion(int err)
{
	return err == EMFILE || err == ENFILE || err == ENOBUFS || err == ENOMEM;
}

static void on_connection(void *arg, unsigned what)
{
	struct tls_listener *l = arg;

	/* l->fd is -1 when a callback has closed the listener; its memory is still valid. */
	for (int i = 0; i < ACCEPT_TURN_MAX && l->fd >= 0; i++) {
		struct sockaddr_storage from = { 0 };
		socklen_t n = sizeof(from);
		int fd = accept4(l->fd, (struct sockaddr *)&from, &n, SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd >= 0) {
			on_peer(l, fd, &from);
		} else if (is_exhaustion(errno)) {
			out_of_descriptors(l);
			return;
		} else if (errno == EAGAIN || errno == EWOULDBLOCK) {
			return;
		}
	}
}

static void listener_free(void *arg)
{
	struct tls_listener *l = arg;
	struct net_ctx *ctx = l->l.ctx;

	loop_timer_free(l->rearm);
	sources_free(l->sources);
	free(l);
	ctx_unuse(ctx);
}

static void close_fds(struct tls_listener *l)
{
	loop_fd_free(l->watch);
	l->watch = NULL;
	if (l->fd >= 0)
		close(l->fd);
	if (l->spare_fd >= 0)
		close(l->spare_fd);
	l->fd = l->spare_fd = -1;
}

static void op_close(struct net_listener *base)
{
	struct tls_listener *l = (struct tls_listener *)base;
	struct list *item;

	if (l->grave.at.next)
		return;
	l->l.accept.on_refused = NULL;
	while ((item = list_first(&l->half_open))) {
		struct tls_chan *t = list_entry(item, struct tls_chan, half_open);

		if (t->hs)
			chan_close(&t->c, "no longer listening");
		else
			tls_listener_release(t); /* an enrolling peer has an owner now */
	}
	if (l->rearm)
		loop_timer_cancel(l->rearm);
	close_fds(l);
	loop_reap(l->l.ctx->loop, &l->grave, listener_free, l);
}

static uint16_t op_port(const struct net_listener *base)
{
	return ((const struct tls_listener *)base)->port;
}

static void op_stats(const struct net_listener *base, struct net_listener_stats *out)
{
	*out = ((const struct tls_listener *)base)->stats;
}

static void op_penalise(struct net_listener *base, const struct chan *c)
{
	struct tls_listener *l = (struct tls_listener *)base;
	const struct tls_chan *t = (const struct tls_chan *)c;
	nsec_t now = loop_now(l->l.ctx->loop);
	struct sockaddr_storage from = { 0 };
	socklen_t n = sizeof(from);
	struct source *s;

	if (t->sock.fd < 0 || getpeername(t->sock.fd, (struct sockaddr *)&from, &n) ||
	    (!l->conf.strict_loopback && sock_is_loopback(&from)))
		return;
	s = sources_get(l->sources, sock_source_key(&from), now);
	if (s)
		source_punish(s, now, PENALTY_CRASH_NS);
}

static const struct listener_ops tls_listener_ops = {
	.close = op_close,
	.port = op_port,
	.stats = op_stats,
	.penalise = op_penalise,
};

static int bind_failed(const char *addr, uint16_t port, struct err *e)
{
	switch (errno) {
	case EADDRINUSE:
		return err_sys(e,
			       "cannot listen on %s port %u (is one running already? choose "
			       "another --port)",
			       addr, port);
	case EADDRNOTAVAIL:
		return err_sys(e, "cannot listen on %s (it is not an address of this host)", addr);
	case EACCES:
		return err_sys(e, "cannot listen on port %u (choose one above 1023)", port);
	default:
		return err_sys(e, "cannot listen on %s port %u", addr, port);
	}
}

int net_check_port(const char *address, uint16_t port, struct err *e)
{
	char addr[NET_ADDR_BYTES];
	struct sockaddr_storage a = { 0 };
	socklen_t n;
	int on = 1, fd, rc = net_own_address(address, addr, e);

	if (!rc)
		rc = sock_addr(&a, &n, addr, port, e);
	if (rc || !port)
		return rc;
	fd = socket(a.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return err_sys(e, "cannot make a socket");
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) || sock_tune(fd, NULL) ||
	    bind(fd, (struct sockaddr *)&a, n) || listen(fd, 1)) {
		rc = errno == EADDRINUSE ? -ERR_EXISTS : -ERR_SYS;
		bind_failed(addr, port, e);
	}
	close(fd);
	return rc;
}

static uint16_t bound_port(int fd)
{
	struct sockaddr_storage a = { 0 };
	socklen_t n = sizeof(a);

	if (getsockname(fd, (struct sockaddr *)&a, &n))
		return 0;
	return ntohs(a.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&a)->sin6_port
					     : ((struct sockaddr_in *)&a)->sin_port);
}

static int open_socket(struct tls_listener *l, const char *addr, struct err *e)
{
	struct sockaddr_storage a = { 0 };
	socklen_t n;
	int on = 1, defer = DEFER_S, rc = sock_addr(&a, &n, addr, l->conf.port, e);

	if (rc)
		return rc;
	l->fd = socket(a.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (l->fd < 0)
		return err_sys(e, "cannot make a socket");
	if (setsockopt(l->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) ||
	    setsockopt(l->fd, IPPROTO_TCP, TCP_DEFER_ACCEPT, &defer, sizeof(defer)) ||
	    sock_tune(l->fd, NULL) || bind(l->fd, (struct sockaddr *)&a, n) ||
	    listen(l->fd, BACKLOG))
		return bind_failed(addr, l->conf.port, e);
	l->port = bound_port(l->fd);
	return 0;
}

static int fill(struct tls_listener *l, const char *addr, struct err *e)
{
	struct loop *loop = l->l.ctx->loop;
	int rc = open_socket(l, addr, e);

	if (rc)
		return rc;
	l->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	l->rearm = loop_timer_new(loop, on_rearm, l);
	l->sources = sources_new();
	if (!l->rearm || !l->sources)
		return err_nomem(e);
	l->watch =
		loop_fd_new(loop,
			    &(struct loop_watch){
				    .fd = l->fd, .what = LOOP_READ, .fn = on_connection, .arg = l },
			    e);
	return l->watch ? 0 : -ERR_SYS;
}

int tls_listen(struct net_ctx *ctx, const struct net_listen_conf *conf, const struct net_accept *a,
	       struct net_listener **out, struct err *e)
{
	struct tls_listener *l = calloc(1, sizeof(*l));
	int rc;

	if (!l)
		return err_nomem(e);
	*l = (struct tls_listener){
		.l = { &tls_listener_ops, ctx, *a }, .conf = *conf, .fd = -1, .spare_fd = -1
	};
	l->conf.addr = NULL;
	if (!l->conf.half_open_max)
		l->conf.half_open_max = HALF_OPEN_MAX;
	if (!l->conf.per_source_max)
		l->conf.per_source_max = HALF_OPEN_PER_SOURCE_MAX;
	list_init(&l->half_open);
	ctx_use(ctx);
	rc = fill(l, conf->addr ? conf->addr : "127.0.0.1", e);
	if (rc)
		op_close(&l->l);
	else
		*out = &l->l;
	return rc;
}
