/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hook words of a process are the sum of all interests. An interest belongs to a tool's
 * measurement or to a conditional request. Dropping it does not affect the others.
 */
#ifndef LM_PROC_HOOKS_H
#define LM_PROC_HOOKS_H

#include "lm/proc/proc.h"

#include <stdint.h>

#define HOOKS_ALL (-1) /* for func: all calls that can be watched */

/*
 * Owners: a tool's counting, a conditional request, a measurement. Each kind has its own range of
 * numbers.
 */
#define HOOKS_TOOL(tool) ((uint64_t)(tool) << 2)
#define HOOKS_CSR(number) ((uint64_t)(number) << 2 | 1)
#define HOOKS_FLOW(number) ((uint64_t)(number) << 2 | 2)

/* Bits that measure; the others make events or run actions and end with the lm. */
#define HOOKS_MEASURE (HOOK_COUNT | HOOK_TIME | HOOK_VOLUME | HOOK_PARTNER | HOOK_SITE)

/*
 * Reads the settings of an earlier lm from a segment: the words of each tool, as that lm noted
 * them, and the rest. Without notes, everything is the rest: the measuring bits of all words
 * together, with the finest sampling.
 */
void hooks_found(const struct segview *v, struct segview_interests *out);

/*
 * Continues with these settings: each tool's part becomes an interest of the tool. The other
 * interests stay.
 */
void hooks_take_over(struct proc *p, const struct segview_interests *left);

/* Returns the bits that have been on since an earlier lm. */
uint32_t hooks_kept(const struct proc *p);

/*
 * Replaces an earlier interest of the same owner in the same function. Takes effect with
 * hooks_apply(). -ERR_NOMEM.
 */
int hooks_add_interest(struct proc *p, uint64_t owner, int func, uint32_t bits, unsigned shift);

/*
 * Sets the number of callers per call site that an owner of HOOK_SITE needs; the largest number is
 * noted.
 */
void hooks_set_depth(struct proc *p, uint64_t owner, unsigned depth);

/* Drops all interests of the owner in this process. Returns true if there was one. */
bool hooks_drop_interests(struct proc *p, uint64_t owner);

/* Drops all interests and the settings of an earlier lm; the process's own requests stay. */
void hooks_clear(struct proc *p);

/*
 * Writes the word of func, or all words, and the notes for the next lm. No effect without a
 * segment. O(interests) per word.
 */
void hooks_apply(struct proc *p, int func);

/* True if p has an interest in one of these bits. */
bool hooks_has(const struct proc *p, uint32_t bits);

#endif
