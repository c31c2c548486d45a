/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NekoStat: handlers make quantities of the events that an algorithm logs. In a simulation a handler
 * hears each event at once, and its stop rule ends the run.
 */
#ifndef NEKO_STAT_H
#define NEKO_STAT_H

#include "neko/event.h"
#include "neko/setup.h"
#include "stats/quantity.h"

#define STAT_QUANTITIES_MAX 16 /* of one handler */

struct stat_result {
	struct quantity *quantity; /* borrowed */
	double expected; /* what a closed formula says; NaN for none */
};

struct stat_kind {
	const char *name;
	/* Quantities and stop rules are made; for all runs. */
	int (*init)(struct setup *s, uint32_t m, void **out, struct err *e);
	void (*begin)(void *h); /* of each run */
	void (*handle)(void *h, const struct neko_event *v);
	bool (*should_stop)(void *h);
	void (*end)(void *h, nsec_t now); /* of each run: what is unfinished then does not count */
	/* At most STAT_QUANTITIES_MAX; returns how many. */
	size_t (*results)(void *h, struct stat_result *out);
	void (*done)(void *h);
};

/*
 * fd: T_M, T_MR, P_A, T_D of failure detectors and the delay of heartbeats, over all processes that log.
 *
 *	stat.stop   = ci(0.95) < 5%    (of T_M and of T_MR; docs/stats.md has the words)
 *	stat.drop   = 100              (the first values of each quantity are not counted: initial transient)
 *	stat.files  = run7.            (each value is a line of run7.T_M and so on; none of them is there yet)
 *	stat.window = 100s             (P_A: a value for each window; default 100 fd.eta)
 */
extern const struct stat_kind stat_fd;

#endif
