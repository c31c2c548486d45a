/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of each manipulation that a tool has requested with an id of its own. The effects on
 * the processes must be at least those done, and at most those done and unknown together. The
 * ledger also has the counters that the run prints.
 */
#ifndef SIM_WORLD_LEDGER_H
#define SIM_WORLD_LEDGER_H

#include "common/omis/reply/reply.h"

#include <stddef.h>
#include <stdint.h>

enum verdict { VERDICT_UNKNOWN, VERDICT_DONE, VERDICT_NOT_DONE };

struct ledger_counts {
	uint64_t requests, answers, lost; /* requests of tools; lost: with the connection */
	uint64_t manipulations, repeats, triggers, reads, infos;
	uint64_t kills, cuts, breaks, slow_links; /* faults */
	uint64_t pauses, steps; /* steps: of wall clocks */
	uint64_t full_disks, failing_disks, switched_off;
	uint64_t rogues, lies; /* worlds with a rogue, and frames that it altered or invented */
	uint64_t tokens; /* tokens received in replies, and valid */
	/* worlds with a subscription; its events, and those reported as lost */
	uint64_t kept, kept_events, kept_lost;
};

struct ledger {
	size_t n; /* number of ranks */
	uint32_t *done, *unknown; /* by rank */
	/* by rank: manipulations within the rights of their tool, with any result */
	uint32_t *asked;
	struct ledger_counts counts;
};

int ledger_open(struct ledger *l, size_t ranks);
void ledger_close(struct ledger *l);

/* Returns the result of a manipulation that the reply reports. */
enum verdict verdict_of(const struct reply *r);

#endif
