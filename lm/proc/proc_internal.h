/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by proc.c and proc_poll.c. */
#ifndef LM_PROC_PROC_INTERNAL_H
#define LM_PROC_PROC_INTERNAL_H

#include "lm/proc/proc.h"

#include "common/container/map.h"
#include "common/loop/loop.h"

struct procs {
	struct loop *loop;
	struct host *host;
	struct tickbase *ticks;
	uint64_t epoch;
	struct list all, listeners;
	struct map threads; /* id -> struct proc: a token names one thread of the host */
	size_t alive, ended;
	uint32_t node;
	struct token node_token;
	char boot_id[HOST_BOOT_ID_BYTES];
	struct loop_timer *look, *forget;
	int thread_interests;
	uint64_t detached, mark;
};

void procs_notify(struct proc *p, enum proc_event what);
void procs_notify_thread(struct proc *p, const struct proc_thread *t, bool is_born);

/* Returns 30 bits that identify a process or thread, the same at each start of the lm. */
uint32_t procs_hash(const struct procs *s, const uint64_t words[4]);

/* Reads the counters of p from /proc to p->figures. */
int procs_note_figures(struct proc *p);

void procs_arm_poll(struct procs *s);
void procs_on_poll(void *arg);

/* Writes the clock's scale and a heartbeat to the segment. */
void procs_greet(struct proc *p);

/* Removes all threads and reports each. */
void procs_end_threads(struct proc *p);
void procs_name_threads(struct proc *p);

#endif
