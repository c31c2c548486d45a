/* SPDX-License-Identifier: Apache-2.0 */
/* The commands that analyse interactions: omig interaction analyze, path, states, what-if, clocks.
 */
#ifndef TOOLS_INTERACTION_NETJOB_H
#define TOOLS_INTERACTION_NETJOB_H

#include "tools/interaction/netread.h"

#define NETJOB_CHANGES_MAX 64 /* of --what-if */

enum netjob_kind { NETJOB_ANALYZE, NETJOB_PATH, NETJOB_STATES, NETJOB_WHAT_IF, NETJOB_CLOCKS };

struct netjob_options {
	struct netread_options read;
	const char *change[NETJOB_CHANGES_MAX]; /* V1,V2=NS or V1,V2@SUBTASK=NS; borrowed */
	unsigned nchange;
	uint64_t near; /* near-critical paths; 0: none */
	const char *only; /* the interaction of this name; NULL: all */
	bool json;
};

/* As the callback of an option: into is a struct netjob_options. */
int netjob_add_change(void *into, const char *text, struct err *e);

/* Returns an exit status. */
int netjob_run(enum netjob_kind kind, const struct netjob_options *w, char **files);

#endif
