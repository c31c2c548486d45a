/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The real world of one process of a run. Active layers are threads, one of which runs at a time.
 * Messages are UDP datagrams, or use TCP. Events are sent to the master in blocks, while the run
 * continues.
 */
#ifndef NEKO_REAL_REAL_H
#define NEKO_REAL_REAL_H

#include "common/base/err.h"
#include "neko/core/limits.h"
#include "neko/core/neko.h"

#define REAL_PROCESSES_MAX 256 /* each is a process of the system with some threads */

enum real_transport { REAL_UDP, REAL_TCP, REAL_MULTICAST };

struct real_net {
	const char *name; /* name of the network in messages; borrowed */
	enum real_transport transport;
	uint32_t group; /* multicast group: IPv4, host order */
	uint16_t port; /* port of the group */
	/* network of a shared object, in place of the transport; NULL: none */
	const struct neko_net_ops *own;
};

struct real_conf {
	uint32_t m, id;
	uint64_t seed;
	unsigned nnet;
	struct real_net net[NEKO_NETS_MAX];
	uint32_t address; /* IPv4, host order: address of its sockets */
	int master; /* stream to the master, or to its factory; borrowed */
	/* the master is on another host, so that samples of its clock arrive over the stream */
	bool is_remote;
	bool wants_delays; /* the master requests the delay of each message */
	struct setup *setup; /* borrowed: settings of networks and clocks of shared objects */
	const struct neko_clock_ops *clock; /* clock of a shared object; NULL: the clock of Omig */
	int (*build)(void *arg, struct neko_process *p, struct err *e); /* pushes the layers */
	void *arg;
};

/*
 * Waits for the master's REALWIRE_GO, then runs until the master stops it or disconnects. Blocks
 * until then. Returns the exit status, to be passed to _exit(): threads of layers that did not
 * return still exist.
 */
int real_live(const struct real_conf *c);

/* Refuses the run, and sends the reason to the master. */
void real_refuse(int master, const struct err *e);

#endif
