/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The real world, of one process of a run: active layers are threads, one of which runs
 * at a time; messages are datagrams, or go over TCP; events go to the master in blocks, while the
 * run continues.
 */
#ifndef NEKO_REAL_REAL_H
#define NEKO_REAL_REAL_H

#include "common/base/err.h"
#include "neko/core/limits.h"
#include "neko/core/neko.h"

#define REAL_PROCESSES_MAX 256 /* each is a process of the system with some threads */

enum real_transport { REAL_UDP, REAL_TCP, REAL_MULTICAST };

struct real_net {
	const char *name; /* for words; borrowed */
	enum real_transport transport;
	uint32_t group; /* of multicast: IPv4, host order */
	uint16_t port; /* of the group */
};

struct real_conf {
	uint32_t m, id;
	uint64_t seed;
	unsigned nnet;
	struct real_net net[NEKO_NETS_MAX];
	uint32_t address; /* IPv4, host order: where its sockets are bound */
	int master; /* stream to the master, or to the factory before it; borrowed */
	bool is_remote; /* the master's clock is another one: samples of it come over the stream */
	bool wants_delays; /* the master wants to know the delay of each message */
	int (*build)(void *arg, struct neko_process *p, struct err *e); /* pushes the layers */
	void *arg;
};

/*
 * Waits for the master's go, runs until it says stop, or is gone. Blocks until then. Returns
 * the status to exit with; _exit() it: threads of layers that did not return are still there.
 */
int real_live(const struct real_conf *c);

/* Refuses the run: the words go up the stream. */
void real_refuse(int master, const struct err *e);

#endif
