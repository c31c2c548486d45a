/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sends and receives that have begun and are not complete, in the segment's list. Used only while
 * the queues of the process are requested (HOOK_QUEUE). Hot: the rules of hook.h.
 */
#ifndef LIBAPP_HOT_LISTING_H
#define LIBAPP_HOT_LISTING_H

#include "libapp/hot/args.h"

#pragma GCC visibility push(hidden)

/* True if the call sends or receives with a partner and a tag, so that it must be listed. */
bool listing_is_wanted(const struct hook_args *a);

/* Called before a call that is complete when it returns. Writes to a->open. */
void listing_begin(struct hook_args *a);
void listing_end(struct hook_args *a);

/*
 * Lists a request when its operation begins. r->open is empty if there was no room, which is
 * counted.
 */
void listing_put(struct request *r);
void listing_take(struct request *r);
/* The request is no longer tracked, so its end cannot be detected. */
void listing_lose(struct request *r);

/* Converts the tag to the form of the segment: -1 is any. */
int32_t listing_tag(int64_t tag);

#pragma GCC visibility pop

#endif
