/* SPDX-License-Identifier: Apache-2.0 */
/* Notes on counters of a daemon's status that need attention. */
#ifndef TOOLS_VIEW_HEALTH_H
#define TOOLS_VIEW_HEALTH_H

#include "tools/libomis/omis.h"

#include <stdbool.h>
#include <stddef.h>

/* renewed at two thirds of 90 days: the renewal is late */
#define HEALTH_EXPIRY_WARN_S (14 * 86400)
/* for shorter lives less than a fifth: those of jobs last 7 days, and are renewed at a third */
#define HEALTH_EXPIRY_WARN_SHARE 5
/* shorter ones were issued by hand */
#define HEALTH_EXPIRY_WARN_LEAST_S (86400)
#define HEALTH_LAG_WARN_NS 500e6 /* half of what omig top may wait for at one a second */
/* a quarter of the limit at which a slow peer is disconnected */
#define HEALTH_QUEUE_WARN_BYTES (8 << 20)

struct health_note {
	char text[160];
	const char *remedy; /* a literal */
};

/*
 * v: one daemon's omig_status, [program, version, uptime, [name, value]...]; now_s is the wall
 * time, version that of this program. Writes at most `max` notes, returns the total number.
 */
size_t health_notes(const Omis_value *v, double now_s, const char *version, struct health_note *out,
		    size_t max);

#endif
