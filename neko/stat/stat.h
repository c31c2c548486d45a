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
	const struct neko_measure *measure; /* the measure, if stat_measured() made this */
	/* Called once for all runs: makes the quantities and stop rules. */
	int (*init)(const struct stat_kind *k, struct setup *s, uint32_t m, void **out,
		    struct err *e);
	/* called at the start of each run; fails with ERR_NOMEM */
	int (*begin)(void *h, uint32_t m);
	void (*handle)(void *h, const struct neko_event *v);
	bool (*should_stop)(void *h);
	bool (*has_rule)(const void *h); /* true if should_stop() may become true */
	/* called at the end of each run: intervals that have not ended do not count */
	void (*end)(void *h, nsec_t now);
	/* Returns the number of results, at most STAT_QUANTITIES_MAX. */
	size_t (*results)(void *h, struct stat_result *out);
	/*
	 * Returns the violated property of the algorithm, as text (borrowed), or NULL. A handler
	 * without this function checks no property.
	 */
	const char *(*broken)(const void *h);
	/* Called once after all runs. NULL: no files. On failure e has the reason. */
	int (*write_results)(void *h, struct err *e);
	void (*done)(void *h);
};

/* Returns the handler for a measure of an application. */
struct stat_kind stat_measured(const struct neko_measure *m);

#endif
