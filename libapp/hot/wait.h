/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests that a watched call makes, starts or completes: see requests.h. Hot: the law of hook.h.
 */
#ifndef LIBAPP_HOT_WAIT_H
#define LIBAPP_HOT_WAIT_H

#include "libapp/hot/args.h"

#pragma GCC visibility push(hidden)

/*
 * Before a completing call: finds the tracked ones among its requests, and sees to it that it fills
 * statuses.
 */
void wait_prepare(struct hook_args *a);

/* After it: the receives that ended are counted, the other requests are tracked further. */
void wait_finish(struct hook_args *a, int rc);

/* After a call that marked partitions of a send as ready succeeded. */
void wait_ready(const struct hook_args *a);

/*
 * After a call that started or made a request succeeded. May take back a->in, to be counted at
 * completion.
 */
void wait_posted(struct hook *h, struct hook_args *a);

#pragma GCC visibility pop

#endif
