/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The time of a call that waits for requests is of the partner of the request that ended last. MPI
 * does not report which one that was. So the time is certain where only one partner is possible;
 * otherwise it is shared out (struct partners). Hot: the law of hook.h.
 */
#ifndef LIBAPP_HOT_WAITED_H
#define LIBAPP_HOT_WAITED_H

#include "libapp/hot/args.h"

#pragma GCC visibility push(hidden)

/* Which of the requests of a->wait the call has waited for. */
enum waited {
	WAITED_ALL, /* for all that it was given */
	WAITED_ENDED, /* for those that ended */
	WAITED_OTHERS, /* for those that ended, some of which are not in the table */
};

/* Before the call, a->wait filled: notes the partner if there is one only, for readers of a call
 * that lasts. */
void waited_note(const struct hook_args *a);

/* After it: its time is added to the sums of the partners. */
void waited_add(const struct hook_args *a, enum waited waited);

/* Time of such a call that had begun before its hook was on. */
void waited_late(uint32_t func, uint64_t span);

/* The request was complete when it was made, so that no call waits for it. */
bool waited_is_done(uintptr_t request);

#pragma GCC visibility pop

#endif
