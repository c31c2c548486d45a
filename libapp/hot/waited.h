/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The time of a call that waits for requests belongs to the partner of the request that ended last.
 * MPI does not report which one that was. So the time is certain if only one partner is possible;
 * otherwise it is divided (struct partners). Hot: the rules of hook.h.
 */
#ifndef LIBAPP_HOT_WAITED_H
#define LIBAPP_HOT_WAITED_H

#include "libapp/hot/args.h"

#pragma GCC visibility push(hidden)

/* The requests of a->wait for which the call has waited. */
enum waited {
	WAITED_ALL, /* all of them */
	WAITED_ENDED, /* ended requests */
	WAITED_OTHERS, /* ended requests, some of which are not in the table */
};

/*
 * Called before the call, with a->wait filled. Notes the partner if there is only one, for readers
 * of a call in progress.
 */
void waited_note(const struct hook_args *a);

/* Called after it. Adds its time to the sums of the partners. */
void waited_add(const struct hook_args *a, enum waited waited);

/* As waited_add() for a call that began before its hook was on. */
void waited_late(uint32_t func, uint64_t span);

/* True if the request was complete when it was made, so that no call waits for it. */
bool waited_is_done(uintptr_t request);

#pragma GCC visibility pop

#endif
