/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by collect.c (processes) and collect_parts.c (what hosts have added up). */
#ifndef TOOLS_CMD_SUMMARY_COLLECT_INTERNAL_H
#define TOOLS_CMD_SUMMARY_COLLECT_INTERNAL_H

#include "tools/cmd/summary/collect.h"

#define NO_SECTION SIZE_MAX

/* A process of the job, and where its last slice ended. */
struct member {
	struct summary_process p;
	int64_t world_size;
	int64_t parent; /* pid of what started it; 0: not known */
	size_t section; /* NO_SECTION while it is not a rank */
	bool has_sibling; /* of the same parent: that is a launcher, and no wrapper of one rank */
	bool is_timed; /* began_s and seconds are known */
	bool has_ended; /* in the latest tree */
	double slice_end_s; /* its seconds at that time */
	double *before; /* owned: seconds by the section's names then */
	size_t nbefore, before_cap;
};

struct collect {
	char job[SUMMARY_NAME_BYTES];
	nsec_t begun;
	struct member *member; /* owned */
	size_t n, cap;
	struct summary world; /* sections with names and slices, and no process yet */
	size_t cursor; /* expected place of the next process of a reply */
	double now_s, slice_begin_s; /* times of the current reply, and of the previous one */
	double sized_calls, sited_calls; /* number of calls in world.size, and in world.site */
	bool failed;
};

/* Moves sizes and call sites into s. */
void collect_parts(struct collect *c, struct summary *s);

#endif
