/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A network of your own. Simulated, it is a bus whose stations send in turns: each has a slot, and
 * sends one message in it. Real, it is made of datagrams between Unix sockets of one host.
 *
 *	make && omig neko run bus.conf --simulate
 */
#include <omig/neko.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define MS INT64_C(1000000)
#define PORTS 60000 /* names of sockets to try */
#define DATAGRAM_MAX 65536

struct item {
	struct item *next;
	struct neko_msg *msg; /* with a reference */
	uint32_t to;
};

struct bus {
	nsec_t slot;
	struct item **first, **last; /* simulated: the queue of each station, owned */
	int fd; /* real */
	const struct neko_peer *all;
	uint8_t in[DATAGRAM_MAX];
};

static int bus_init(struct neko_net *n, struct setup *s, struct err *e)
{
	struct bus *b = neko_net_state(n);

	b->fd = -1;
	b->slot = MS;
	b->first = calloc(neko_net_count(n), sizeof(*b->first));
	b->last = calloc(neko_net_count(n), sizeof(*b->last));
	if (!b->first || !b->last)
		return neko_fail(e, "no memory for %u stations", neko_net_count(n));
	return neko_setup_nsec(s, neko_net_key(n, "slot"), 1, 1000 * MS, &b->slot, e);
}

/* --- simulated: slot k of each round is that of station k + 1 */

static nsec_t next_slot(struct neko_net *n, uint32_t station)
{
	const struct bus *b = neko_net_state(n);
	nsec_t round = b->slot * neko_net_count(n), own = (station - 1) * b->slot;
	nsec_t now = neko_net_now(n), rounds = now < own ? 0 : (now - own) / round + 1;

	return own + rounds * round;
}

static void bus_send(struct neko_net *n, struct neko_msg *m, uint32_t to)
{
	struct bus *b = neko_net_state(n);
	uint32_t at = m->from - 1;
	struct item *v = malloc(sizeof(*v));

	if (!v) {
		neko_net_lose(n, m, to);
		return;
	}
	*v = (struct item){ NULL, m, to };
	neko_msg_ref(m);
	if (b->first[at]) {
		b->last[at]->next = v;
	} else {
		b->first[at] = v;
		neko_net_wake(n, next_slot(n, m->from), m->from);
	}
	b->last[at] = v;
}

/* The first message of the station arrives at the end of its slot. */
static void bus_wake(struct neko_net *n, uint64_t station)
{
	struct bus *b = neko_net_state(n);
	struct item *v = b->first[station - 1];

	neko_net_arrive(n, v->msg, v->to, neko_net_now(n) + b->slot);
	neko_net_unref(n, v->msg);
	b->first[station - 1] = v->next;
	if (v->next)
		neko_net_wake(n, next_slot(n, (uint32_t)station), station);
	free(v);
}

/* --- real */

static socklen_t name_of(struct sockaddr_un *a, uint16_t port)
{
	memset(a, 0, sizeof(*a));
	a->sun_family = AF_UNIX;
	/* A first 0 makes a name that needs no file. */
	return (socklen_t)(sizeof(a->sun_family) + 1 +
			   (size_t)snprintf(a->sun_path + 1, sizeof(a->sun_path) - 1, "neko-bus-%u",
					    port));
}

static int bus_open(struct neko_net *n, uint32_t address, uint16_t *port, struct err *e)
{
	struct bus *b = neko_net_state(n);
	struct sockaddr_un a;

	(void)address;
	b->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (b->fd < 0)
		return neko_fail(e, "network %s: no socket", neko_net_name(n));
	for (uint32_t i = 0; i < PORTS; i++) {
		*port = (uint16_t)(1 + ((uint32_t)getpid() + i) % PORTS);
		if (bind(b->fd, (const void *)&a, name_of(&a, *port)) == 0)
			return 0;
	}
	return neko_fail(e, "network %s: all names of sockets are taken", neko_net_name(n));
}

static void bus_meet(struct neko_net *n, const struct neko_peer *all)
{
	((struct bus *)neko_net_state(n))->all = all;
}

static int bus_fd(struct neko_net *n)
{
	return ((struct bus *)neko_net_state(n))->fd;
}

static void bus_transmit(struct neko_net *n, uint32_t to, const void *p, size_t bytes)
{
	const struct bus *b = neko_net_state(n);
	struct sockaddr_un a;
	socklen_t len = name_of(&a, b->all[to - 1].port);

	/* A full buffer loses the message, as a network may. */
	if (sendto(b->fd, p, bytes, MSG_DONTWAIT, (const void *)&a, len) < 0)
		return;
}

/* Finds the process by the name of its socket. */
static uint32_t sender(struct neko_net *n, const struct sockaddr_un *a)
{
	const struct bus *b = neko_net_state(n);
	unsigned port = 0;

	if (sscanf(a->sun_path + 1, "neko-bus-%u", &port) != 1)
		return 0;
	for (uint32_t i = 0; i < neko_net_count(n); i++)
		if (b->all[i].port == port)
			return i + 1;
	return 0;
}

static void bus_receive(struct neko_net *n)
{
	struct bus *b = neko_net_state(n);
	struct sockaddr_un a;
	uint32_t from;
	ssize_t bytes;

	for (;;) {
		socklen_t len = sizeof(a);

		memset(&a, 0, sizeof(a));
		bytes = recvfrom(b->fd, b->in, sizeof(b->in), MSG_DONTWAIT, (void *)&a, &len);
		if (bytes < 0)
			return;
		from = sender(n, &a);
		if (from)
			neko_net_received(n, from, b->in, (size_t)bytes);
	}
}

static void bus_done(struct neko_net *n)
{
	struct bus *b = neko_net_state(n);

	for (uint32_t i = 0; b->first && i < neko_net_count(n); i++)
		while (b->first[i]) {
			struct item *v = b->first[i];

			b->first[i] = v->next;
			neko_net_unref(n, v->msg);
			free(v);
		}
	free(b->first);
	free(b->last);
	if (b->fd >= 0)
		close(b->fd);
}

static const struct neko_net_ops nets[] = {
	{
		.name = "bus",
		.summary = "stations that send in turns; as processes, Unix sockets",
		.bytes = sizeof(struct bus),
		.init = bus_init,
		.send = bus_send,
		.wake = bus_wake,
		.open = bus_open,
		.meet = bus_meet,
		.fd = bus_fd,
		.transmit = bus_transmit,
		.receive = bus_receive,
		.done = bus_done,
	},
	{ .name = NULL },
};
NEKO_NETWORKS(nets)
