/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Real runs over several hosts. On each host a factory accepts requests to start processes. For
 * each process the master of a run has a TLS connection to the process's factory. Both present
 * certificates of one monitor's authority. The factory accepts only tools of its own user with the
 * right to manipulate.
 */
#ifndef NEKO_HOSTS_HOSTS_H
#define NEKO_HOSTS_HOSTS_H

#include "common/link/connstr.h"
#include "neko/run/run.h"

#define HOSTS_PORT 8765 /* the port of Neko */
#define HOSTS_MAX 256 /* hosts, each with at least one process */

/* Directory of key and certificates, and the pin of the authority. Borrowed. */
struct hosts_identity {
	const char *dir, *pin;
};

struct hosts_wanted {
	const char *list; /* "a:8765, b" */
	struct hosts_identity self;
};

/*
 * Calls run_real() with processes 1, 2, ... on the hosts of the list in turn. Fails with
 * ERR_INVALID for an error in the list. Fails with ERR_DENIED, ERR_CLOSED and others if a host has
 * another identity or does not answer. Blocks until it is done.
 */
int hosts_run(struct run *r, const struct run_options *w, const struct hosts_wanted *h,
	      struct run_counts *out, struct err *e);

/* --- a factory */

struct factory_conf {
	struct hosts_identity self;
	const char *address; /* IPv4, numeric */
	uint16_t port; /* 0: the system chooses */
	const struct connstr *mainsm; /* mainsm that renews its certificate; NULL: none */
	bool takes_objects; /* a run may use a shared object of this host (`application`) */
};

/* Opens a factory and reports its port by on_ready. Blocks until SIGTERM or SIGINT. */
int factory_run(const struct factory_conf *c, void (*on_ready)(void *arg, uint16_t port), void *arg,
		struct err *e);

#endif
