/* SPDX-License-Identifier: Apache-2.0 */
/* Commands for real runs over several hosts, with a certificate of the user's monitor. */
#ifndef NEKO_CMD_NEKO_HOSTS_H
#define NEKO_CMD_NEKO_HOSTS_H

#include "neko/hosts/hosts.h"

#include <stdint.h>

struct neko_hosts_options {
	const char *list; /* for a run: hosts, as in "a:8765, b" */
	const char *mainsm; /* connection string; NULL: chosen by libomis */
	int64_t timeout_ns; /* for obtaining a certificate */
	const char *listen; /* for a factory: address to listen on */
	bool takes_objects;
};

/* Runs omig neko factory. Blocks until it ends. Returns an exit status; reports failures. */
int neko_factory(const struct neko_hosts_options *w);

/* Calls hosts_run() with this user's certificate. */
int neko_hosts_run(const struct neko_hosts_options *h, struct run *r, const struct run_options *w,
		   struct run_counts *out, struct err *e);

#endif
