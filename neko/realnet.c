/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The networks of a real process: a UDP socket each, with multicast another one that hears the group, or a TCP
 * connection to each of the others and one from each. Datagrams carry the key of the run; over TCP each is a frame.
 */
#include "neko/real_internal.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define DATAGRAMS_MAX \
	1024 /* of a network, one after the other: others and the master have their turn */
#define TCP_QUEUE_BYTES (1024 * 1024) /* that wait for one process; then it loses, as UDP does */
#define TCP_FRAME 1 /* the one type of frames between processes */
#define READ_BYTES 65536
#define GROUP_TTL \
	1 /* no router passes a group's datagrams on: a run is not let loose on other networks */

/* To process i, or from one: which one its first frame tells. */
struct way {
	int fd; /* -1: none */
	struct sockaddr_in address; /* of who dialled */
	struct buf out; /* owned */
	struct frame_in in; /* owned */
};

struct line {
	int fd; /* UDP, or the TCP listener */
	int group_fd; /* of multicast: what comes to the group; -1 */
	struct sockaddr_in group;
	struct sockaddr_in *address; /* owned, m */
	uint32_t *sent; /* owned, m: messages to each */
	struct way *to, *from; /* owned, m each; NULL of UDP */
};

struct realnet {
	struct real *real;
	uint64_t key;
	struct line line[NEKO_NETS_MAX];
	int wake; /* an eventfd: TCP has something to say */
	struct pollfd *polls; /* owned */
	uint8_t out[REALWIRE_DATAGRAM_MAX_BYTES], in[REALWIRE_DATAGRAM_MAX_BYTES];
};

/* --- opening */

static int open_socket(const struct real_conf *c, bool is_tcp, uint16_t *port, struct err *e)
{
	int type = (is_tcp ? SOCK_STREAM : SOCK_DGRAM) | SOCK_CLOEXEC | SOCK_NONBLOCK;
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(c->address) };
	int fd = socket(AF_INET, type, 0);
	socklen_t n = sizeof(a);

	if (fd < 0)
		return err_sys(e, "a socket for a process");
	if (bind(fd, (const void *)&a, sizeof(a)) || getsockname(fd, (void *)&a, &n) ||
	    (is_tcp && listen(fd, (int)c->m))) {
		err_sys(e, "an address for a process");
		close(fd);
		return -ERR_SYS;
	}
	*port = ntohs(a.sin_port);
	return fd;
}

static int group_sockets(const struct line *l, struct in_addr own)
{
	const struct ip_mreqn member = { .imr_multiaddr = l->group.sin_addr, .imr_address = own };
	const struct sockaddr *to = (const void *)&l->group;

	/* All processes of a host share the port, and hear each other. */
	if (setsockopt(l->group_fd, SOL_SOCKET, SO_REUSEADDR, &(int){ 1 }, sizeof(int)) ||
	    bind(l->group_fd, to, sizeof(l->group)) ||
	    setsockopt(l->group_fd, IPPROTO_IP, IP_ADD_MEMBERSHIP, &member, sizeof(member)))
		return -1;
	if (setsockopt(l->fd, IPPROTO_IP, IP_MULTICAST_IF, &own, sizeof(own)) ||
	    setsockopt(l->fd, IPPROTO_IP, IP_MULTICAST_TTL, &(int){ GROUP_TTL }, sizeof(int)))
		return -1;
	return setsockopt(l->fd, IPPROTO_IP, IP_MULTICAST_LOOP, &(int){ 1 }, sizeof(int));
}

static int join(struct line *l, const struct real_net *net, uint32_t address, struct err *e)
{
	struct in_addr own = { htonl(address) };
	char group[INET_ADDRSTRLEN], host[INET_ADDRSTRLEN];

	l->group = (struct sockaddr_in){ .sin_family = AF_INET,
					 .sin_addr.s_addr = htonl(net->group),
					 .sin_port = htons(net->port) };
	l->group_fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (l->group_fd >= 0 && group_sockets(l, own) == 0)
		return 0;
	inet_ntop(AF_INET, &l->group.sin_addr, group, sizeof(group));
	inet_ntop(AF_INET, &own, host, sizeof(host));
	return err_sys(e,
		       "network %s: it cannot hear group %s port %u on %s (take another "
		       "network.%s.group or .port, or transport = udp)",
		       net->name, group, net->port, host, net->name);
}

static struct way *new_ways(uint32_t m)
{
	struct way *w = calloc(m, sizeof(*w));
	uint32_t i;

	for (i = 0; w && i < m; i++) {
		w[i].fd = -1;
		w[i].out = BUF_INIT(TCP_QUEUE_BYTES);
		frame_in_init(&w[i].in, FRAME_MAX_BYTES);
	}
	return w;
}

static int open_line(struct realnet *n, unsigned k, uint16_t *port, struct err *e)
{
	const struct real_conf *c = n->real->conf;
	struct line *l = &n->line[k];
	bool is_tcp = c->net[k].transport == REAL_TCP;

	l->group_fd = -1;
	l->address = calloc(c->m, sizeof(*l->address));
	l->sent = calloc(c->m, sizeof(*l->sent));
	if (is_tcp) {
		l->to = new_ways(c->m);
		l->from = new_ways(c->m);
	}
	if (!l->address || !l->sent || (is_tcp && (!l->to || !l->from)))
		return err_nomem(e);
	l->fd = open_socket(c, is_tcp, port, e);
	if (l->fd < 0)
		return l->fd;
	return c->net[k].transport == REAL_MULTICAST ? join(l, &c->net[k], c->address, e) : 0;
}

int realnet_open(struct real *r, struct realwire_ready *out, struct err *e)
{
	const struct real_conf *c = r->conf;
	struct realnet *n = calloc(1, sizeof(*n));
	int rc = 0;
	unsigned k;

	r->net = n;
	if (!n)
		return err_nomem(e);
	n->real = r;
	n->polls = calloc((size_t)c->nnet * (2 + 2 * c->m) + 2, sizeof(*n->polls));
	n->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (!n->polls || n->wake < 0)
		return err_nomem(e);
	for (k = 0; k < c->nnet && rc == 0; k++)
		rc = open_line(n, k, &out->port[k], e);
	out->n = c->nnet;
	return rc;
}

/* --- TCP, outwards: all with the lock */

static void close_way(struct way *w)
{
	if (w->fd >= 0)
		close(w->fd);
	w->fd = -1;
	buf_clear(&w->out);
}

static void dial(struct realnet *n, struct line *l, uint32_t to)
{
	struct sockaddr_in own = { .sin_family = AF_INET,
				   .sin_addr.s_addr = htonl(n->real->conf->address) };
	const struct sockaddr_in *a = &l->address[to - 1];
	struct way *w = &l->to[to - 1];

	w->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (w->fd < 0)
		return;
	setsockopt(w->fd, IPPROTO_TCP, TCP_NODELAY, &(int){ 1 }, sizeof(int));
	if (bind(w->fd, (const void *)&own, sizeof(own)) ||
	    (connect(w->fd, (const void *)a, sizeof(*a)) && errno != EINPROGRESS))
		close_way(w);
}

static void flush(struct way *w)
{
	while (w->fd >= 0 && w->out.n) {
		ssize_t k = send(w->fd, w->out.p, w->out.n, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (k > 0)
			buf_drop_front(&w->out, (size_t)k);
		else if (k < 0 && (errno == EAGAIN || errno == ENOTCONN))
			return;
		else if (k == 0 || errno != EINTR)
			close_way(w);
	}
}

static void send_stream(struct realnet *n, struct way *w, const uint8_t *p, size_t bytes)
{
	size_t mark;

	if (w->fd < 0 || w->out.n + bytes + FRAME_HEADER_BYTES > TCP_QUEUE_BYTES)
		return;
	mark = frame_begin(&w->out, TCP_FRAME);
	buf_put(&w->out, p, bytes);
	if (frame_end(&w->out, mark)) {
		close_way(w); /* half a frame would be the end anyway */
		return;
	}
	flush(w);
	if (w->out.n)
		(void)!write(n->wake, &(uint64_t){ 1 }, sizeof(uint64_t));
}

static void send_datagram(struct realnet *n, const struct line *l, size_t bytes,
			  const struct sockaddr_in *a)
{
	(void)!sendto(l->fd, n->out, bytes, MSG_DONTWAIT | MSG_NOSIGNAL, (const void *)a,
		      sizeof(*a));
}

static void send_one(struct realnet *n, struct line *l, const struct neko_msg *m, uint32_t to)
{
	size_t bytes = realwire_datagram(n->out, n->key, to, l->sent[to - 1]++, m);

	if (l->to)
		send_stream(n, &l->to[to - 1], n->out, bytes);
	else
		send_datagram(n, l, bytes, &l->address[to - 1]);
}

/* One datagram for all; who is to have it twice gets the second one alone. */
static void send_group(struct realnet *n, struct line *l, const struct neko_msg *m)
{
	uint32_t number[REAL_PROCESSES_MAX] = { 0 }, nprocess = n->real->conf->m, i;

	for (i = 0; i < m->nto; i++) {
		uint32_t to = world_destination(m, i);

		if (number[to - 1])
			send_one(n, l, m, to);
		else
			number[to - 1] = ++l->sent[to - 1];
	}
	send_datagram(n, l, realwire_group_datagram(n->out, n->key, number, nprocess, m),
		      &l->group);
}

void realnet_send(struct realnet *n, const struct neko_msg *m)
{
	struct line *l = &n->line[m->net];
	uint32_t i;

	if (l->group_fd >= 0 && m->nto > 1) {
		send_group(n, l, m);
		return;
	}
	for (i = 0; i < m->nto; i++)
		send_one(n, l, m, world_destination(m, i));
}

int realnet_meet(struct realnet *n, const uint8_t *p, size_t bytes)
{
	const struct real_conf *c = n->real->conf;
	struct sockaddr_in *all = calloc((size_t)c->m * c->nnet, sizeof(*all));
	int rc = all ? realwire_get_peers(p, bytes, &n->key, all, c->m * c->nnet) : -ERR_NOMEM;
	uint32_t i;
	unsigned k;

	for (k = 0; k < c->nnet && rc == 0; k++)
		for (i = 0; i < c->m; i++) {
			n->line[k].address[i] = all[k * c->m + i];
			if (n->line[k].to)
				dial(n, &n->line[k], i + 1);
		}
	free(all);
	return rc;
}

/* --- inwards */

/* A datagram's port is the sender's too; who dials has another one. */
static bool is_from(const struct line *l, uint32_t from, const struct sockaddr_in *a)
{
	const struct sockaddr_in *want = &l->address[from - 1];

	return a->sin_addr.s_addr == want->sin_addr.s_addr &&
	       (l->from || a->sin_port == want->sin_port);
}

static void note_delay(struct real *r, const struct neko_msg *m, uint32_t number)
{
	struct reallog_chunk *c = reallog_room(&r->delays);
	nsec_t delay = real_now(r) - m->sent_at;

	if (c)
		c->delay[c->n++] = (struct neko_delay){ m->sent_at, delay > 0 ? delay : 0,
							m->from,    m->to,
							number,	    m->net };
}

static void take_datagram(struct realnet *n, unsigned k, const uint8_t *p, size_t bytes,
			  const struct sockaddr_in *a)
{
	struct real *r = n->real;
	struct neko_msg *m;
	uint32_t number;

	pthread_mutex_lock(&r->lock);
	m = realwire_message(&r->world, n->key, r->conf->id, (uint8_t)k, p, bytes, &number);
	if (m && is_from(&n->line[k], m->from, a)) {
		r->delivered++;
		if (r->conf->wants_delays)
			note_delay(r, m, number);
		world_hand_up(r->self, m);
	}
	if (m)
		world_msg_unref(&r->world, m);
	pthread_mutex_unlock(&r->lock);
}

static void take_datagrams(struct realnet *n, unsigned k, int fd)
{
	struct sockaddr_in a;
	unsigned i;

	for (i = 0; i < DATAGRAMS_MAX; i++) {
		socklen_t len = sizeof(a);
		ssize_t bytes = recvfrom(fd, n->in, sizeof(n->in), MSG_DONTWAIT, (void *)&a, &len);

		if (bytes < 0)
			return;
		if (len == sizeof(a) && a.sin_family == AF_INET)
			take_datagram(n, k, n->in, (size_t)bytes, &a);
	}
}

static void answer(struct realnet *n, struct line *l)
{
	struct sockaddr_in a;
	socklen_t len = sizeof(a);
	int fd = accept4(l->fd, (void *)&a, &len, SOCK_CLOEXEC | SOCK_NONBLOCK);
	uint32_t i;

	for (i = 0; fd >= 0 && i < n->real->conf->m; i++)
		if (l->from[i].fd < 0) {
			l->from[i].fd = fd;
			l->from[i].address = a;
			return;
		}
	if (fd >= 0)
		close(fd);
}

static void take_frames(struct realnet *n, unsigned k, struct way *w)
{
	struct frame f;
	int rc = -ERR_CLOSED;
	ssize_t bytes = recv(w->fd, n->in, READ_BYTES, MSG_DONTWAIT);

	if (bytes < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (bytes > 0)
		rc = frame_in_add(&w->in, n->in, (size_t)bytes, NULL);
	while (rc == 0 && (rc = frame_in_next(&w->in, &f, NULL)) == 1) {
		take_datagram(n, k, f.p, f.n, &w->address);
		rc = 0;
	}
	if (rc == 0)
		return;
	close_way(w);
	frame_in_done(&w->in);
	frame_in_init(&w->in, FRAME_MAX_BYTES);
}

/* --- turns */

static size_t poll_ways(struct pollfd *f, const struct line *l, uint32_t m)
{
	uint32_t i;

	for (i = 0; i < m; i++) {
		f[2 * i] = (struct pollfd){ l->from[i].fd, POLLIN, 0 };
		f[2 * i + 1] = (struct pollfd){ l->to[i].out.n ? l->to[i].fd : -1, POLLOUT, 0 };
	}
	return (size_t)2 * m;
}

size_t realnet_polls(struct realnet *n, struct pollfd **fd)
{
	const struct real_conf *c = n->real->conf;
	size_t at = 0;
	unsigned k;

	pthread_mutex_lock(&n->real->lock);
	for (k = 0; k < c->nnet; k++) {
		n->polls[at++] = (struct pollfd){ n->line[k].fd, POLLIN, 0 };
		n->polls[at++] = (struct pollfd){ n->line[k].group_fd, POLLIN, 0 };
		if (n->line[k].to)
			at += poll_ways(n->polls + at, &n->line[k], c->m);
	}
	pthread_mutex_unlock(&n->real->lock);
	n->polls[at++] = (struct pollfd){ n->wake, POLLIN, 0 };
	*fd = n->polls;
	return at;
}

static void turn_stream(struct realnet *n, unsigned k, const struct pollfd *f)
{
	struct line *l = &n->line[k];
	uint32_t i, m = n->real->conf->m;

	for (i = 0; i < m; i++) {
		if (f[2 + 2 * i].revents)
			take_frames(n, k, &l->from[i]);
		if (!f[3 + 2 * i].revents)
			continue;
		pthread_mutex_lock(&n->real->lock);
		flush(&l->to[i]);
		pthread_mutex_unlock(&n->real->lock);
	}
	if (f[0].revents)
		answer(n, l);
}

void realnet_turn(struct realnet *n, const struct pollfd *fd, size_t nfd)
{
	const struct real_conf *c = n->real->conf;
	const struct pollfd *f = fd;
	uint64_t count;
	unsigned k;

	for (k = 0; k < c->nnet; k++) {
		if (n->line[k].to)
			turn_stream(n, k, f);
		else if (f[0].revents)
			take_datagrams(n, k, n->line[k].fd);
		if (f[1].revents)
			take_datagrams(n, k, n->line[k].group_fd);
		f += n->line[k].to ? 2 + 2 * c->m : 2;
	}
	if (fd[nfd - 1].revents)
		(void)!read(n->wake, &count, sizeof(count));
}
