/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hook words of a process are the sum of all interests. An interest belongs to a tool's
 * measurement or to a conditional request. Dropping it leaves the others as they were.
 */
#ifndef LM_PROC_HOOKS_H
#define LM_PROC_HOOKS_H

#include "lm/proc/proc.h"

#include <stdint.h>

#define HOOKS_ALL (-1) /* for func: all calls that can be watched */

/* Owners: a tool's counting, a conditional request, a measurement. Each kind has numbers of its
 * own. */
#define HOOKS_TOOL(tool) ((uint64_t)(tool) << 2)
#define HOOKS_CSR(number) ((uint64_t)(number) << 2 | 1)
#define HOOKS_FLOW(number) ((uint64_t)(number) << 2 | 2)

/* Bits that measure; the others make events or run actions and belong to one lm's life. */
#define HOOKS_MEASURE (HOOK_COUNT | HOOK_TIME | HOOK_VOLUME | HOOK_PARTNER | HOOK_SITE)

/*
 * What to keep of a segment that an lm before had: what each tool measures, as that lm noted it,
 * and the rest. Without its notes all is the rest: the measuring bits of all words together, with
 * the finest sampling.
 */
void hooks_found(const struct segview *v, struct segview_interests *out);

/* Continues with that: each tool's part is an interest of the tool. The other interests stay. */
void hooks_take_over(struct proc *p, const struct segview_interests *left);

/* The bits that have been on since an earlier lm. */
uint32_t hooks_kept(const struct proc *p);

/*
 * Replaces an earlier interest of the same owner in the same function. Not in force before
 * hooks_apply(). -ERR_NOMEM.
 */
int hooks_add_interest(struct proc *p, uint64_t owner, int func, uint32_t bits, unsigned shift);

/* Callers that an owner of HOOK_SITE wants in each call site; the most that any wants are noted. */
void hooks_set_depth(struct proc *p, uint64_t owner, unsigned depth);

/* All interests of the owner in this process. True when there was one. */
bool hooks_drop_interests(struct proc *p, uint64_t owner);

/* All interests, and what an earlier lm had left; what the process requested itself stays. */
void hooks_clear(struct proc *p);

/*
 * Writes the word of func, or all, and the notes for the next lm. Without a segment: nothing.
 * O(interests) a word.
 */
void hooks_apply(struct proc *p, int func);

/* There is an interest in one of these bits in p. */
bool hooks_has(const struct proc *p, uint32_t bits);

#endif
