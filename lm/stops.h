/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes that tools have stopped, on a leash: they run again when nobody
 * can be asked any more (no link upwards for a while), when the tools that stopped
 * them are gone, and after a crash of the lm, which finds them in its journal.
 */
#ifndef LM_STOPS_H
#define LM_STOPS_H

#include "common/base/clock.h"
#include "lm/proc.h"

#define STOPS_TOOLS_MAX 64 /* that may hold one process: TOOLS_MAX */

struct stops;

/* journal: a file in a private directory; NULL = none is kept. Continues at once what the journal says. */
int stops_open(struct loop *l, struct host *h, struct procs *p, const char *journal,
	       struct stops **out, struct err *e);

/* Everything that is stopped runs again. */
void stops_free(struct stops *s);

/* Idempotent. -ERR_NOTFOUND, -ERR_DENIED, -ERR_SYS (the journal cannot be written: nothing is stopped then). */
int stops_stop(struct stops *s, struct proc *p, uint32_t tool, struct err *e);

/* Whoever stopped it. Idempotent. */
int stops_continue(struct stops *s, struct proc *p, struct err *e);

/* The tool's stops are taken back; what others have stopped too stays. */
void stops_tool_gone(struct stops *s, uint32_t tool);

/* Those above tell that nobody can be asked. */
void stops_let_go(struct stops *s, const char *reason);

/* The link upwards came or went; STOP_LEASH_NS without it and everything runs again. */
void stops_link(struct stops *s, bool is_up);

size_t stops_count(const struct stops *s);

#endif
