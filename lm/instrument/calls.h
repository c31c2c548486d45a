/* SPDX-License-Identifier: Apache-2.0 */
/* What processes do in their library calls: measuring on and off for each tool, and the last values
 * of the dead. */
#ifndef LM_INSTRUMENT_CALLS_H
#define LM_INSTRUMENT_CALLS_H

#include "lm/proc/proc.h"

struct calls;
struct losses;
struct tickbase;

/* Both are borrowed. NULL: no memory. */
struct calls *calls_new(struct procs *p, struct tickbase *t);
void calls_free(struct calls *c);

/* What the tool had switched on is switched off, unless another tool wants it. */
void calls_tool_gone(struct calls *c, uint32_t tool);

/* Of all processes that this lm has watched, those that ended too. */
void calls_losses(const struct calls *c, struct losses *out);

#endif
