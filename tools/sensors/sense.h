/* SPDX-License-Identifier: Apache-2.0 */
/*
 * omig log sense: samples of hosts and of their nets as events of a log. So lifelines show the load
 * under the lines (paper 001, Figure 2). The samples are those of omig_node_sample of omis(7).
 */
#ifndef TOOLS_SENSORS_SENSE_H
#define TOOLS_SENSORS_SENSE_H

#include "tools/term/say.h"

#include <signal.h>

#define SENSE_EVERY_MIN_NS INT64_C(10000000) /* a sample takes a millisecond on each host */
#define SENSE_EVERY_MAX_NS INT64_C(86400000000000)

struct sense_options {
	struct cmd_common common; /* json: events on standard output are objects */
	const char *to; /* a log, appended to, or the URL of a receiver; NULL: lines are printed */
	int64_t every_ns, for_ns; /* for_ns 0: until a signal */
	const volatile sig_atomic_t *signal; /* ends when not 0 */
};

/* Blocks until the end. Returns an exit status. */
int sense(const struct sense_options *w);

#endif
