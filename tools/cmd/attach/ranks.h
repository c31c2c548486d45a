/* SPDX-License-Identifier: Apache-2.0 */
/* The ranks of all nodes that are known, watched or not, and those that targets mean. */
#ifndef TOOLS_CMD_ATTACH_RANKS_H
#define TOOLS_CMD_ATTACH_RANKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum watched { UNWATCHED, STARTED_WATCHED, ATTACHED };

/* A rank, of any host. Texts are owned. */
struct rank {
	char node[64], *job, *program, *process, *origin, state[16], *why;
	bool is_near; /* its node's lm is in its namespaces */
	int64_t pid, rank, size, launcher, watched, stopped_ns;
	double attached_s; /* since it was attached; -1 */
	bool is_chosen;
};

struct ranks {
	struct rank *v;
	size_t n, cap;
	char here[64]; /* the node of this host; "": its lm has not replied */
};

void ranks_done(struct ranks *s);

/*
 * Asks all nodes; s is empty or of an earlier call. A process that several lms see is listed once,
 * at the node of the one in its own namespaces. Returns an exit status; failures are reported.
 */
int ranks_read(struct ranks *s);

struct ranks_choice {
	const char *missing; /* target without ranks; NULL: all have some */
	char launcher[32]; /* its name, if that is one; "" */
};

/*
 * Marks the ranks that are meant: by a pid, that of the launcher of their job, the name of the job
 * or of the program. Any other pid of this host becomes an entry of its own. Returns an exit
 * status.
 */
int ranks_choose(struct ranks *s, char *const *target, size_t n, struct ranks_choice *out);

#endif
