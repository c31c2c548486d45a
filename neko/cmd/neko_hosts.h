/* SPDX-License-Identifier: Apache-2.0 */
/* Real runs over several hosts, as commands: with a certificate of the user's monitor. */
#ifndef TOOLS_NEKO_HOSTS_H
#define TOOLS_NEKO_HOSTS_H

#include "neko/hosts/hosts.h"

#include <stdint.h>

struct neko_hosts_wish {
	const char *mainsm; /* connection string; NULL as libomis finds it */
	int64_t timeout_ns; /* for a certificate */
	const char *listen; /* of a factory */
	bool takes_objects;
};

/* omig neko factory. Blocks until it is ended. An exit status; failures are told. */
int neko_factory(const struct neko_hosts_wish *w);

/* hosts_run() with this user's certificate. */
int neko_hosts_run(const struct neko_hosts_wish *h, struct run *r, const struct run_wish *w,
		   const char *list, struct run_figures *out, struct err *e);

#endif
