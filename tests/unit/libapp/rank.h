/* SPDX-License-Identifier: Apache-2.0 */
/* This process as a rank that is watched, seen as its lm sees it. */
#ifndef TESTS_UNIT_LIBAPP_RANK_H
#define TESTS_UNIT_LIBAPP_RANK_H

#include "common/ring/segview.h"

/* MPI_Init, and the segment that it made. rank_down() takes back the view only. */
extern struct segview *rank_view;
void rank_up(void);
void rank_down(void);

void rank_hooks(uint32_t word); /* of all functions */
struct segview_call rank_call(unsigned func); /* all threads */

/* The compiled form of a tool's request; partner < 0: any. See struct seg_action. */
void rank_action(struct seg_action a, int32_t partner);

/* The entry of (func, partner), summed over all threads; zeros when there is none. */
struct segview_partner rank_partner(unsigned func, int32_t partner);

#endif
