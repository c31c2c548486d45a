/* SPDX-License-Identifier: Apache-2.0 */
/* What processes do in their library calls: measuring on and off for each tool, and the last values
 * of the dead. */
#ifndef LM_INSTRUMENT_CALLS_H
#define LM_INSTRUMENT_CALLS_H

#include "lm/proc/proc.h"

struct calls;
struct losses;
struct tickbase;
struct totals;

/* Both are borrowed. NULL: no memory. */
struct calls *calls_new(struct procs *p, struct tickbase *t);
void calls_free(struct calls *c);

/* What the tool had switched on is switched off, unless another tool wants it. Its marks go. */
void calls_tool_gone(struct calls *c, uint32_t tool);

/*
 * The values of a process at this moment, or at its end. with: enum totals_with. *out may be NULL:
 * nothing was ever read of it. The caller owns it.
 */
int calls_take(const struct calls *c, const struct proc *p, unsigned with, struct totals **out);

/* Ticks of a process in nanoseconds. */
const struct ticks_scale *calls_scale(const struct calls *c, const struct proc *p);

/* What the tool counts from: what it had when the tool set its mark. NULL: from the beginning. */
const struct totals *calls_mark(const struct proc *p, uint32_t tool);

/* Sets it, or replaces the earlier one. -ERR_NOMEM. */
int calls_set_mark(struct proc *p, uint32_t tool, struct totals **take);

/* The losses of all processes that this lm has watched, ended ones included. */
void calls_losses(const struct calls *c, struct losses *out);

#endif
