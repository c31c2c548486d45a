/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NekoStat: handlers compute quantities from the events that an algorithm logs. In a simulation a
 * handler receives each event when it happens, and its stop rule may end the run.
 */
#ifndef NEKO_STAT_STAT_H
#define NEKO_STAT_STAT_H

#include "neko/core/event.h"
#include "neko/core/setup.h"
#include "neko/stat/statset.h"

struct stat_kind {
	const char *name;
	const struct neko_measure *measure; /* of stat_measured(): the measure */
	/* Called once for all runs: makes the quantities and stop rules. */
	int (*init)(const struct stat_kind *k, struct setup *s, uint32_t m, void **out,
		    struct err *e);
	int (*begin)(void *h, uint32_t m); /* of each run; -ERR_NOMEM */
	void (*handle)(void *h, const struct neko_event *v);
	bool (*should_stop)(void *h);
	bool (*has_rule)(const void *h); /* should_stop() may become true */
	void (*end)(void *h, nsec_t now); /* of each run: what is unfinished then does not count */
	/* Returns at most STAT_QUANTITIES_MAX. */
	size_t (*results)(void *h, struct stat_result *out);
	/*
	 * Returns the violated property of the algorithm, as text (borrowed), or NULL. A handler
	 * without this function checks no property.
	 */
	const char *(*broken)(const void *h);
	/* Once after all runs. NULL: nothing. The text of e has the reason of a failure. */
	int (*write_results)(void *h, struct err *e);
	void (*done)(void *h);
};

/* Returns a handler for a measure of an application. */
struct stat_kind stat_measured(const struct neko_measure *m);

#endif
