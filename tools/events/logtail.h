/* SPDX-License-Identifier: Apache-2.0 */
/* omig log tail: the last events of logs, and those that are appended. */
#ifndef TOOLS_EVENTS_LOGTAIL_H
#define TOOLS_EVENTS_LOGTAIL_H

#include "tools/events/logread.h"
#include "tools/events/logwrite.h"

#include <signal.h>

#define LOGTAIL_FILES_MAX 1000 /* the usual limit of descriptors of a process */

struct logtail_options {
	uint64_t past; /* events that each file has already, to be shown first */
	nsec_t for_ns; /* 0: until a signal, or until all inputs have ended */
	const volatile sig_atomic_t *signal; /* ends when not 0 */
};

/*
 * Shows the files' events as they arrive, each file in its own order. A file that was replaced or
 * truncated is read from its start. Returns an exit status: CMD_DAMAGED when some input could not
 * be read.
 */
int logtail(const struct logread_options *read, const struct logtail_options *w, char **files,
	    struct logwrite *to);

#endif
