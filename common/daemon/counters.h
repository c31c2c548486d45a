/* SPDX-License-Identifier: Apache-2.0 */
/* Counters that several daemons report, so that each has one name and unit. */
#ifndef COMMON_DAEMON_COUNTERS_H
#define COMMON_DAEMON_COUNTERS_H

#include "common/daemon/daemon.h"

struct identity;
struct link_stats;

struct counter_sink {
	void (*number)(void *arg, const char *name, int64_t value);
	void *arg;
};

/* Writes nothing if self is NULL, because there is no certificate. */
void counters_of_certificate(const struct counter_sink *to, const struct identity *self);
void counters_of_process(const struct counter_sink *to, const struct daemon_health *h);

/*
 * Writes counters of the link to the parent, and the error of the time that the link distributes.
 */
void counters_of_parent(const struct counter_sink *to, const struct link_stats *l,
			nsec_t time_error);

#endif
