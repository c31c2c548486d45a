/* SPDX-License-Identifier: Apache-2.0 */
/* Delays of a real run's messages, and which of them were lost: what a simulation replays. */
#ifndef NEKO_RUN_RUN_DELAYS_H
#define NEKO_RUN_RUN_DELAYS_H

#include "neko/run/run.h"

#define RUN_DELAYS_MAX (8u << 20) /* 320 MiB: ten thousand messages a second for ten minutes */

/* Zero-initialise. */
struct run_delays {
	struct neko_delay *delay; /* owned */
	size_t n, cap;
	bool has_lost; /* there was no room */
};

void run_delays_done(struct run_delays *d);

/* False: no room. */
bool run_delays_add(struct run_delays *d, const struct neko_delay *v);

/*
 * All, in the order of their sending, and those whose numbers are missing between others of their
 * way: lost, and sent at some time between. What was sent after the last one that arrived is not
 * known. ERR_NOMEM.
 */
int run_delays_report(struct run_delays *d, void (*fn)(void *arg, const struct neko_delay *v),
		      void *arg, struct err *e);

#endif
