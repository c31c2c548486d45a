/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes that tools hold, on a leash. They run again when no tool can be asked (no link upwards
 * for a while). So they do when the tools that hold them are gone. After a crash of the lm,
 * lm-guard or the next lm finds them in the journal.
 *
 * A process is held in two independent ways. Stopped is reported to all tools and may be undone by
 * any. Suspended counts for each thread and tool and is not reported. A process runs when it is
 * neither.
 */
#ifndef LM_HOLD_HOLDS_H
#define LM_HOLD_HOLDS_H

#include "common/base/clock.h"
#include "lm/proc/proc.h"

#define HOLDS_TOOLS_MAX 64 /* that may hold one process: TOOLS_MAX */
/* of one thread by one tool: more is a loop that forgets to resume */
#define HOLDS_SUSPENDS_MAX 1000000

struct holds;

/*
 * A process was stopped by the monitor and stands, or was continued; at: the loop's time; depth: of
 * the deepest list whose action did it. Called from the loop.
 */
typedef void (*holds_on_change_fn)(void *arg, struct proc *p, bool is_stopped, nsec_t at,
				   unsigned depth);

struct holds_conf {
	struct loop *loop;
	struct host *host;
	struct procs *procs; /* all borrowed */
	const char *journal; /* a file in a private directory; copied; NULL = none is kept */
	const struct disk *disk; /* of it; borrowed; NULL = the system's */
	uint64_t epoch; /* of the lm, not 0 */
	const char *guard; /* path of lm-guard; copied; NULL = there is none */
};

/* Continues at once what the journal says. -ERR_NOMEM; as store_read() for a journal that cannot be
 * read. One that makes no sense is logged. */
int holds_open(const struct holds_conf *c, struct holds **out, struct err *e);

/* Everything that is held runs again. */
void holds_free(struct holds *s);

/* From now on actions of a list of that causal depth stop and continue; 0 = of no list. */
void holds_set_depth(struct holds *s, unsigned depth);

/* At most one listener. It is not called for suspends. */
void holds_on_change(struct holds *s, holds_on_change_fn fn, void *arg);

/* Idempotent. -ERR_NOTFOUND, -ERR_DENIED, -ERR_SYS (the journal cannot be written: nothing is
 * stopped then). */
int holds_stop(struct holds *s, struct proc *p, uint32_t tool, struct err *e);

/* As holds_stop() with a signal that stops unless the program catches it. */
int holds_signal(struct holds *s, struct proc *p, uint32_t tool, int sig, struct err *e);

/* Whichever tool stopped it. Idempotent. A process that is suspended stays so. */
int holds_continue(struct holds *s, struct proc *p, struct err *e);

/*
 * Holds the process of the thread (its id) until each suspend was resumed. -ERR_LIMIT
 * after HOLDS_SUSPENDS_MAX; else as holds_stop().
 */
int holds_suspend(struct holds *s, struct proc *p, uint32_t thread, uint32_t tool, struct err *e);

/* One suspend of that tool; harmless without one. */
int holds_resume(struct holds *s, struct proc *p, uint32_t thread, uint32_t tool, struct err *e);

/* The tool's stops and suspends are taken back; what others hold too stays. */
void holds_tool_gone(struct holds *s, uint32_t tool);

/* The daemons above say that mainsm cannot be asked. */
void holds_let_go(struct holds *s, const char *reason);

/* The link upwards came or went; STOP_LEASH_NS without it and everything runs again. */
void holds_link(struct holds *s, bool is_up);

/* Is it held, in either way? */
bool holds_has(const struct holds *s, const struct proc *p);

/* Processes that are held in either way. */
size_t holds_count(const struct holds *s);

#endif
