/* SPDX-License-Identifier: Apache-2.0 */
/*
 * omig interaction watch: interactions of running programs, while they run. Each lm contracts its
 * part of an interaction (thread_writes_arcs); this command adds up the parts.
 */
#ifndef TOOLS_INTERACTION_NETWATCH_H
#define TOOLS_INTERACTION_NETWATCH_H

#include "tools/events/event_tail.h"
#include "tools/interaction/netread.h"

struct netwatch_options {
	struct event_tail_options tail; /* common, job, for_ns, reconnect_ns */
	const struct netread_terms *state, *member, *inherit;
	int64_t every_ns;
	bool is_verify; /* all events are fetched too, and analysed off line */
};

/*
 * Shows totals at each interval, and at the end. Returns an exit status: CMD_FAILURE if a
 * verification has found a difference.
 */
int netwatch_run(struct netwatch_options *w);

#endif
