/* SPDX-License-Identifier: Apache-2.0 */
/* Delays of a real run's messages, and their losses: input of a simulation. */
#ifndef NEKO_RUN_RUN_DELAYS_H
#define NEKO_RUN_RUN_DELAYS_H

#include "neko/run/run.h"

#define RUN_DELAYS_MAX (8u << 20) /* 320 MiB: ten thousand messages a second for ten minutes */

/* Zero-initialise. */
struct run_delays {
	struct neko_delay *delay; /* owned */
	size_t n, cap;
	bool has_lost; /* delays were dropped for lack of room */
};

void run_delays_done(struct run_delays *d);

/* False: no room. */
bool run_delays_add(struct run_delays *d, const struct neko_delay *v);

/*
 * Reports all messages in the order of sending. A missing number between others of its link is a
 * lost message, sent at some time between. Messages sent after the last one that arrived are not
 * known. ERR_NOMEM.
 */
int run_delays_report(struct run_delays *d, void (*fn)(void *arg, const struct neko_delay *v),
		      void *arg, struct err *e);

#endif
