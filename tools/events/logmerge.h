/* SPDX-License-Identifier: Apache-2.0 */
/* omig log merge: events of many logs in the order of time, with clocks corrected on request. */
#ifndef TOOLS_EVENTS_LOGMERGE_H
#define TOOLS_EVENTS_LOGMERGE_H

#include "tools/events/logread.h"
#include "tools/events/logwrite.h"

#define LOGMERGE_CLOCKS_MAX 256 /* options --clock of one command line; larger sites have NTP */

struct logmerge_clock {
	char node[NAME_MAX_BYTES + 1];
	/* difference to the true time, which is subtracted from the times of its events */
	nsec_t ahead;
	uint64_t events; /* corrected events */
};

/* All 0: no clock is corrected. */
struct logmerge_clocks {
	struct logmerge_clock clock[LOGMERGE_CLOCKS_MAX];
	size_t n;
};

/* Corrects and counts a time of that node. Returns false if its clock is not corrected. */
bool logmerge_correct(struct logmerge_clocks *clocks, const char *node, nsec_t *t);

/* Adds NODE=TIME or NODE=-TIME, as OPT_CALL has it. ERR_INVALID, ERR_LIMIT, ERR_EXISTS. */
int logmerge_add_clock(void *clocks, const char *text, struct err *e);

/*
 * Reads all files, then writes their events to `to` by time. Returns an exit status: CMD_DAMAGED
 * when some input could not be read, CMD_NOTFOUND when no event is of a node of clocks. Reports on
 * stderr whether times were corrected.
 */
int logmerge(const struct logread_options *read, struct logmerge_clocks *clocks, char **files,
	     struct logwrite *to);

#endif
