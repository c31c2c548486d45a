/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Library calls of the processes: switches measuring on and off for each tool, and keeps the last
 * values of ended processes.
 */
#ifndef LM_INSTRUMENT_CALLS_H
#define LM_INSTRUMENT_CALLS_H

#include "lm/proc/proc.h"

struct calls;
struct losses;
struct tickbase;
struct totals;

/* Both are borrowed. Returns NULL without memory. */
struct calls *calls_new(struct procs *p, struct tickbase *t);
void calls_free(struct calls *c);

/* Switches off the tool's measuring, unless another tool needs it. Removes its marks. */
void calls_tool_gone(struct calls *c, uint32_t tool);

/*
 * Sets *out to the values of a process now, or at its end. with: enum totals_with. *out is NULL if
 * its calls were never read. The caller owns it.
 */
int calls_take(const struct calls *c, const struct proc *p, unsigned with, struct totals **out);

/* Returns the scale from ticks of a process to nanoseconds. */
const struct ticks_scale *calls_scale(const struct calls *c, const struct proc *p);

/* Returns the totals at the tool's mark, from which it counts. NULL: from the beginning. */
const struct totals *calls_mark(const struct proc *p, uint32_t tool);

/* Sets the mark, or replaces the earlier one. -ERR_NOMEM. */
int calls_set_mark(struct proc *p, uint32_t tool, struct totals **take);

/* Sums the losses of all processes that this lm has watched, with ended ones. */
void calls_losses(const struct calls *c, struct losses *out);

#endif
