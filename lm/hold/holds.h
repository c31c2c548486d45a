/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Holds: processes that tools stop or suspend. A hold ends when its tool has left, or when the lm
 * has no parent for a while. After a crash of the lm, lm-guard or the next lm finds held processes
 * in the journal, and continues them.
 *
 * There are two independent ways. A stop is reported to all tools, and any tool may undo it. A
 * suspend is counted for each thread and tool, and is not reported. A process runs when it is
 * neither stopped nor suspended.
 */
#ifndef LM_HOLD_HOLDS_H
#define LM_HOLD_HOLDS_H

#include "common/base/clock.h"
#include "lm/proc/proc.h"

#define HOLDS_TOOLS_MAX 64 /* tools that may hold one process: TOOLS_MAX */
/* Suspends of one thread by one tool: a larger number is a loop without resumes. */
#define HOLDS_SUSPENDS_MAX 1000000

struct holds;

/*
 * The monitor has stopped or continued a process. at: the loop's time. depth: of the deepest list
 * whose action did it. Called from the loop.
 */
typedef void (*holds_on_change_fn)(void *arg, struct proc *p, bool is_stopped, nsec_t at,
				   unsigned depth);

struct holds_conf {
	struct loop *loop;
	struct host *host;
	struct procs *procs; /* all borrowed */
	const char *journal; /* a file in a private directory; copied; NULL = no journal */
	const struct disk *disk; /* for the journal; borrowed; NULL = the system's */
	uint64_t epoch; /* of the lm, not 0 */
	const char *guard; /* path of lm-guard; copied; NULL = not used */
};

/*
 * Continues the processes in the journal at once. -ERR_NOMEM; as store_read() for a journal that
 * cannot be read. An invalid journal is logged.
 */
int holds_open(const struct holds_conf *c, struct holds **out, struct err *e);

/* Releases all holds. */
void holds_free(struct holds *s);

/* Sets the causal depth of the list whose actions stop and continue from now on; 0 = no list. */
void holds_set_depth(struct holds *s, unsigned depth);

/* At most one listener. It is not called for suspends. */
void holds_on_change(struct holds *s, holds_on_change_fn fn, void *arg);

/* Idempotent. -ERR_NOTFOUND, -ERR_DENIED, -ERR_SYS (the journal cannot be written: nothing is
 * stopped then). */
int holds_stop(struct holds *s, struct proc *p, uint32_t tool, struct err *e);

/* As holds_stop(), with a signal that stops the process unless the program catches it. */
int holds_signal(struct holds *s, struct proc *p, uint32_t tool, int sig, struct err *e);

/* Undoes the stops of all tools. Idempotent. Suspends are not changed. */
int holds_continue(struct holds *s, struct proc *p, struct err *e);

/*
 * Holds the process of the thread (its id) until each suspend was resumed. -ERR_LIMIT
 * after HOLDS_SUSPENDS_MAX; else as holds_stop().
 */
int holds_suspend(struct holds *s, struct proc *p, uint32_t thread, uint32_t tool, struct err *e);

/* Undoes one suspend of that tool; no error without one. */
int holds_resume(struct holds *s, struct proc *p, uint32_t thread, uint32_t tool, struct err *e);

/* Undoes the tool's stops and suspends; those of other tools stay. */
void holds_tool_gone(struct holds *s, uint32_t tool);

/* Releases all holds, for example when mainsm cannot be reached. */
void holds_let_go(struct holds *s, const char *reason);

/* The link to the parent is up or down. All holds are released after STOP_LEASH_NS without it. */
void holds_link(struct holds *s, bool is_up);

/* True: the process is stopped or suspended. */
bool holds_has(const struct holds *s, const struct proc *p);

/* The number of processes that are stopped or suspended. */
size_t holds_count(const struct holds *s);

#endif
