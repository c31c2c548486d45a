/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests that a watched call makes, starts or completes: see requests.h. Hot: the rules of
 * hook.h.
 */
#ifndef LIBAPP_HOT_WAIT_H
#define LIBAPP_HOT_WAIT_H

#include "libapp/hot/args.h"

#pragma GCC visibility push(hidden)

/*
 * Called before a completing call. Finds the tracked requests among its arguments, and makes it
 * fill statuses.
 */
void wait_prepare(struct hook_args *a);

/* Called after it. Counts the receives that ended, and continues to track the other requests. */
void wait_finish(struct hook_args *a, int rc);

/* Called after a call has marked partitions of a send as ready. */
void wait_ready(const struct hook_args *a);

/*
 * Called after a call has started or made a request. May clear a->in, which then counts at
 * completion.
 */
void wait_posted(struct hook *h, struct hook_args *a);

#pragma GCC visibility pop

#endif
