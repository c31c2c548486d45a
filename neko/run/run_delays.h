/* SPDX-License-Identifier: Apache-2.0 */
/* Delays and losses of a real run's messages, for the replay in a simulation. */
#ifndef NEKO_RUN_RUN_DELAYS_H
#define NEKO_RUN_RUN_DELAYS_H

#include "neko/run/run.h"

/*
 * Two reports for each message: 640 MiB, enough for ten thousand messages a second for ten minutes.
 */
#define RUN_DELAYS_MAX (16u << 20)

/* Zero-initialise. */
struct run_delays {
	struct neko_delay *delay; /* owned */
	size_t n, cap;
	bool has_lost; /* delays were dropped for lack of room */
};

void run_delays_done(struct run_delays *d);

/* Returns false if there is no room. */
bool run_delays_add(struct run_delays *d, const struct neko_delay *v);

/*
 * Reports all messages in the order of sending. A message was lost if a later one of its link
 * arrived, otherwise it is UNKNOWN. A missing number means a lost message of unknown type, sent at
 * some time between its neighbours. If has_lost is set, some messages are not reported, and missing
 * numbers are ignored. Fails with ERR_NOMEM.
 */
int run_delays_report(struct run_delays *d, void (*fn)(void *arg, const struct neko_delay *v),
		      void *arg, struct err *e);

#endif
