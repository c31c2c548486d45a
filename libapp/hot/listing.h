/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sends and receives that have begun and are not complete, in the segment's list: only while the
 * queues of the process are requested (HOOK_QUEUE). Hot: the law of hook.h.
 */
#ifndef LIBAPP_HOT_LISTING_H
#define LIBAPP_HOT_LISTING_H

#include "libapp/hot/args.h"

#pragma GCC visibility push(hidden)

/* This call sends or receives with a partner and a tag, and is to be listed. */
bool listing_is_wanted(const struct hook_args *a);

/* Before a call that is over when it returns: into a->open. */
void listing_begin(struct hook_args *a);
void listing_end(struct hook_args *a);

/* A request, when what it is for begins. r->open is none when there was no room: that is
 * counted. */
void listing_put(struct request *r);
void listing_take(struct request *r);
/* The request is no longer followed: its end will not be seen. */
void listing_lose(struct request *r);

/* The tag in the form of the segment: -1 is any. */
int32_t listing_tag(int64_t tag);

#pragma GCC visibility pop

#endif
