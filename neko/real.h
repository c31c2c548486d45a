/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The real world, of one process of a run: active layers are threads, one of which runs
 * at a time; messages are datagrams; events go to the master in blocks, while the run goes on.
 */
#ifndef NEKO_REAL_H
#define NEKO_REAL_H

#include "common/base/err.h"
#include "neko/limits.h"
#include "neko/neko.h"

#include <netinet/in.h>

#define REAL_PROCESSES_MAX 256 /* on one host; each is a process of the system with some threads */

struct real_conf {
	uint32_t m, id;
	uint64_t seed, key; /* key: of all datagrams of this run */
	unsigned nnet;
	int sock[NEKO_NETS_MAX]; /* UDP, bound; borrowed */
	const struct sockaddr_in
		*address; /* of process i in network k: [k * m + i - 1]; borrowed */
	int master; /* stream to the master; borrowed */
	int (*build)(void *arg, struct neko_process *p, struct err *e); /* pushes the layers */
	void *arg;
};

/* What the master says. */
struct real_go {
	int64_t epoch; /* clock_mono() at time 0 */
};
#define REAL_STOP 'S' /* one byte, after it */

/*
 * Waits for the master's go, runs until it says stop, or is gone. Blocks until then. Returns
 * the status to exit with; _exit() it: threads of layers that did not return are still there.
 */
int real_live(const struct real_conf *c);

#endif
