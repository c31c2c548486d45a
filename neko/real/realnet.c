/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The networks of a real process. Each one is a UDP socket, with a second one for a multicast
 * group; or streams (realstream.h), which send datagrams in order. All messages carry the key of
 * the run.
 */
#include "neko/real/real_internal.h"
#include "neko/core/net.h"
#include "neko/real/realstream.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

/* datagrams of a network per turn, so that other networks and the master have their turn */
#define DATAGRAMS_MAX 1024
/* longest time without identification: a connecting process may be suspended */
#define STRANGER_NS (30 * NSEC_PER_SEC)
/* Routers do not forward datagrams of a group: a run stays within its network. */
#define GROUP_TTL 1

struct line {
	struct realnet *net;
	uint8_t number;
	int fd; /* UDP socket; -1: none */
	int group_fd; /* socket for multicast to the group; -1: none */
	struct sockaddr_in group;
	struct sockaddr_in *address; /* owned, by process */
	uint32_t *sent; /* owned, by process: number of messages sent to it */
	struct realstream *stream; /* owned; NULL: no TCP */
	struct neko_net *own; /* owned; NULL: no network of a shared object */
	struct neko_peer *peer; /* owned, by process: ends of a network of a shared object */
};

struct realnet {
	struct real *real;
	uint64_t key;
	struct line line[NEKO_NETS_MAX];
	int wake; /* an eventfd: TCP has data to send */
	struct pollfd *polls; /* owned */
	uint8_t out[REALWIRE_DATAGRAM_MAX_BYTES], in[REALWIRE_DATAGRAM_MAX_BYTES];
};

/* --- opening */

static int open_socket(const struct real_conf *c, uint16_t *port, struct err *e)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(c->address) };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	socklen_t n = sizeof(a);

	if (fd < 0)
		return err_sys(e, "a socket for a process");
	if (bind(fd, (const void *)&a, sizeof(a)) || getsockname(fd, (void *)&a, &n)) {
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

	/* All processes of a host use this port, and each receives all messages. */
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
		       "network %s: it cannot receive from group %s port %u on %s (choose another "
		       "network.%s.group or .port, or transport = udp)",
		       net->name, group, net->port, host, net->name);
}

static void take_streamed(void *arg, uint32_t from, const uint8_t *p, size_t bytes);

static int open_stream(struct line *l, uint16_t *port, struct err *e)
{
	struct real *r = l->net->real;
	const struct realstream_conf c = { .m = r->conf->m,
					   .id = r->conf->id,
					   .address = r->conf->address,
					   .patience = STRANGER_NS,
					   .lock = &r->lock,
					   .on_datagram = take_streamed,
					   .arg = l };

	return realstream_open(&c, &l->stream, port, e);
}

static void take_own(struct neko_net *own, uint32_t from, const void *p, size_t bytes)
{
	take_streamed(own->owner, from, p, bytes);
}

static const struct net_world real_world = { .received = take_own };

static int open_own(struct line *l, uint16_t *port, struct err *e)
{
	const struct real_conf *c = l->net->real->conf;
	const struct real_net *net = &c->net[l->number];
	const struct net_conf conf = { .ops = net->own,
				       .world = &real_world,
				       .owner = l,
				       .name = net->name,
				       .setup = c->setup,
				       .m = c->m,
				       .id = c->id,
				       .number = l->number,
				       .seed = c->seed };
	int rc = net_check_real(net->own, net->name, e);

	l->peer = calloc(c->m, sizeof(*l->peer));
	if (!rc && !l->peer)
		rc = err_nomem(e);
	if (!rc)
		rc = net_new(&conf, &l->own, e);
	return rc ? rc : net->own->open(l->own, c->address, port, e);
}

static int open_line(struct realnet *n, unsigned k, uint16_t *port, struct err *e)
{
	const struct real_conf *c = n->real->conf;
	struct line *l = &n->line[k];

	l->net = n;
	l->number = (uint8_t)k;
	l->fd = l->group_fd = -1;
	l->address = calloc(c->m, sizeof(*l->address));
	l->sent = calloc(c->m, sizeof(*l->sent));
	if (!l->address || !l->sent)
		return err_nomem(e);
	if (c->net[k].own)
		return open_own(l, port, e);
	if (c->net[k].transport == REAL_TCP)
		return open_stream(l, port, e);
	l->fd = open_socket(c, port, e);
	if (l->fd < 0)
		return l->fd;
	return c->net[k].transport == REAL_MULTICAST ? join(l, &c->net[k], c->address, e) : 0;
}

static size_t npoll(const struct line *l)
{
	return l->stream ? realstream_npoll(l->net->real->conf->m) : 2;
}

int realnet_open(struct real *r, struct realwire_ready *out, struct err *e)
{
	const struct real_conf *c = r->conf;
	struct realnet *n = calloc(1, sizeof(*n));
	size_t npolls = 2; /* one for the eventfd, and one for the caller */
	int rc = 0;

	r->net = n;
	if (!n)
		return err_nomem(e);
	n->real = r;
	n->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (n->wake < 0)
		return err_sys(e, "an eventfd for a process");
	for (unsigned k = 0; k < c->nnet && !rc; k++) {
		rc = open_line(n, k, &out->port[k], e);
		npolls += npoll(&n->line[k]);
	}
	if (rc)
		return rc;
	out->n = c->nnet;
	n->polls = calloc(npolls, sizeof(*n->polls));
	return n->polls ? 0 : err_nomem(e);
}

/* --- sending, with the lock */

static void send_datagram(struct realnet *n, const struct line *l, size_t bytes,
			  const struct sockaddr_in *a)
{
	(void)!sendto(l->fd, n->out, bytes, MSG_DONTWAIT | MSG_NOSIGNAL, (const void *)a,
		      sizeof(*a));
}

static uint32_t sum_error(uint32_t sent, nsec_t received)
{
	nsec_t sum = sent + (received < UINT32_MAX ? received : UINT32_MAX);

	return sum < UINT32_MAX ? (uint32_t)sum : UINT32_MAX;
}

static void note(struct real *r, const struct neko_msg *m, const struct neko_delay *d)
{
	struct reallog_chunk *c = r->conf->wants_delays ? reallog_room(&r->delays) : NULL;

	if (!c)
		return;
	c->delay[c->n] = *d;
	c->delay[c->n].sent_at = m->sent_at;
	c->delay[c->n].from = m->from;
	c->delay[c->n].bytes = m->n;
	c->delay[c->n].net = m->net;
	c->delay[c->n++].type = m->type;
}

static void note_sent(struct realnet *n, const struct neko_msg *m, uint32_t to, uint32_t number)
{
	note(n->real, m,
	     &(struct neko_delay){ .to = to, .number = number, .delay = NEKO_DELAY_LOST });
}

static void note_received(struct real *r, const struct neko_msg *m, uint32_t number)
{
	nsec_t delay = real_now(r) - m->sent_at, error = r->world.ops->error(&r->world);

	note(r, m,
	     &(struct neko_delay){ .to = m->to,
				   .number = number,
				   .delay = delay > 0 ? delay : 0,
				   .error = sum_error(m->sent_error, error) });
}

static void send_one(struct realnet *n, struct line *l, const struct neko_msg *m, uint32_t to)
{
	size_t bytes = realwire_datagram(n->out, n->key, to, l->sent[to - 1]++, m);

	note_sent(n, m, to, l->sent[to - 1] - 1);
	if (l->own)
		l->own->ops->transmit(l->own, to, n->out, bytes);
	else if (!l->stream)
		send_datagram(n, l, bytes, &l->address[to - 1]);
	else if (realstream_send(l->stream, to, n->out, bytes))
		(void)!write(n->wake, &(uint64_t){ 1 }, sizeof(uint64_t));
}

/* Sends one datagram to all. A process that is named twice gets the second message separately. */
static void send_group(struct realnet *n, struct line *l, const struct neko_msg *m)
{
	uint32_t number[REAL_PROCESSES_MAX] = { 0 }, nprocess = n->real->conf->m;

	for (uint32_t i = 0; i < m->nto; i++) {
		uint32_t to = world_destination(m, i);

		if (number[to - 1]) {
			send_one(n, l, m, to);
			continue;
		}
		note_sent(n, m, to, l->sent[to - 1]);
		number[to - 1] = ++l->sent[to - 1];
	}
	send_datagram(n, l, realwire_group_datagram(n->out, n->key, number, nprocess, m),
		      &l->group);
}

void realnet_send(struct realnet *n, const struct neko_msg *m)
{
	struct line *l = &n->line[m->net];

	if (l->group_fd >= 0 && m->nto > 1) {
		send_group(n, l, m);
		return;
	}
	for (uint32_t i = 0; i < m->nto; i++)
		send_one(n, l, m, world_destination(m, i));
}

static void meet_own(struct line *l, uint32_t m)
{
	for (uint32_t i = 0; i < m; i++)
		l->peer[i] = (struct neko_peer){ ntohl(l->address[i].sin_addr.s_addr),
						 ntohs(l->address[i].sin_port) };
	l->own->ops->meet(l->own, l->peer);
}

int realnet_meet(struct realnet *n, const uint8_t *p, size_t bytes)
{
	const struct real_conf *c = n->real->conf;
	struct sockaddr_in *all = calloc((size_t)c->m * c->nnet, sizeof(*all));
	int rc = all ? realwire_get_peers(p, bytes, &n->key, all, c->m * c->nnet) : -ERR_NOMEM;

	for (unsigned k = 0; k < c->nnet && !rc; k++) {
		for (uint32_t i = 0; i < c->m; i++)
			n->line[k].address[i] = all[k * c->m + i];
		if (n->line[k].own)
			meet_own(&n->line[k], c->m);
		if (n->line[k].stream)
			realstream_meet(n->line[k].stream, n->key, n->line[k].address);
	}
	free(all);
	return rc;
}

/* --- receiving */

/* True if the address is that of process `from`: the socket identifies the sender. */
static bool is_from(const struct line *l, uint32_t from, const struct sockaddr_in *a)
{
	const struct sockaddr_in *want = &l->address[from - 1];

	return a->sin_addr.s_addr == want->sin_addr.s_addr && a->sin_port == want->sin_port;
}

/* Handles a datagram from process `from`, or from the owner of the sending socket. */
static void take_datagram(struct line *l, const uint8_t *p, size_t bytes,
			  const struct sockaddr_in *a, uint32_t from)
{
	struct real *r = l->net->real;
	struct neko_msg *m;
	uint32_t number;

	pthread_mutex_lock(&r->lock);
	m = realwire_message(&r->world,
			     &(struct realwire_end){ l->net->key, r->conf->id, l->number },
			     bytes_at(p, bytes), &number);
	if (m && (a ? is_from(l, m->from, a) : m->from == from)) {
		r->delivered++;
		if (r->conf->wants_delays)
			note_received(r, m, number);
		world_hand_up(r->self, m);
	}
	if (m)
		world_msg_unref(&r->world, m);
	pthread_mutex_unlock(&r->lock);
}

static void take_streamed(void *arg, uint32_t from, const uint8_t *p, size_t bytes)
{
	take_datagram(arg, p, bytes, NULL, from);
}

static void take_datagrams(struct line *l, int fd)
{
	struct realnet *n = l->net;
	struct sockaddr_in a;

	for (unsigned i = 0; i < DATAGRAMS_MAX; i++) {
		socklen_t len = sizeof(a);
		ssize_t bytes = recvfrom(fd, n->in, sizeof(n->in), MSG_DONTWAIT, (void *)&a, &len);

		if (bytes < 0)
			return;
		if (len == sizeof(a) && a.sin_family == AF_INET)
			take_datagram(l, n->in, (size_t)bytes, &a, 0);
	}
}

/* --- polling */

size_t realnet_polls(struct realnet *n, struct pollfd **fd)
{
	const struct real_conf *c = n->real->conf;
	struct pollfd *f = n->polls;

	pthread_mutex_lock(&n->real->lock);
	for (unsigned k = 0; k < c->nnet; f += npoll(&n->line[k++])) {
		const struct line *l = &n->line[k];

		if (l->stream) {
			realstream_polls(l->stream, f);
			continue;
		}
		f[0] = (struct pollfd){ l->own ? l->own->ops->fd(l->own) : l->fd, POLLIN, 0 };
		f[1] = (struct pollfd){ l->group_fd, POLLIN, 0 };
	}
	pthread_mutex_unlock(&n->real->lock);
	*f++ = (struct pollfd){ n->wake, POLLIN, 0 };
	*fd = n->polls;
	return (size_t)(f - n->polls);
}

static void turn_line(struct line *l, const struct pollfd *f)
{
	if (l->stream) {
		realstream_turn(l->stream, f);
		return;
	}
	if (l->own && f[0].revents)
		l->own->ops->receive(l->own);
	else if (f[0].revents)
		take_datagrams(l, l->fd);
	if (f[1].revents)
		take_datagrams(l, l->group_fd);
}

void realnet_turn(struct realnet *n, const struct pollfd *fd, size_t nfd)
{
	const struct real_conf *c = n->real->conf;
	const struct pollfd *f = fd;
	uint64_t count;

	for (unsigned k = 0; k < c->nnet; f += npoll(&n->line[k++]))
		turn_line(&n->line[k], f);
	if (fd[nfd - 1].revents)
		(void)!read(n->wake, &count, sizeof(count));
}
