/* SPDX-License-Identifier: Apache-2.0 */
/* Losses from waits of pairs of ranks, and from instances of collectives compared one by one. */
#ifndef WHY_PARTNERS_H
#define WHY_PARTNERS_H

#include "why/symptom.h"

#define PARTNERS_LINKS_MIN 3 /* a link is slow in comparison: with two, either may be fast */
#define PARTNERS_SERVED_MIN 3 /* ranks that wait for a server: two are neighbours */

/* Names a link by its two hosts. */
static inline int64_t partners_link(uint32_t a, uint32_t b)
{
	return (int64_t)((uint64_t)(a < b ? a : b) << 32 | (a < b ? b : a));
}

/*
 * Sharpens a loss from totals of classes, where the block has more: the waits of instances for a
 * collective, and those of pairs for receives.
 */
void partners_refine(struct view *v, unsigned classes, double threshold, struct why_loss *l);

/* The loss by the slowest link, or by the rank for which most others wait. */
void partners_lose_by_link(struct view *v, double threshold, struct why_loss *l);
void partners_lose_by_server(struct view *v, double threshold, struct why_loss *l);

#endif
