/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the subscriptions of an sm: subscription.c (blocks and acknowledgements) and source.c
 * (their sources). */
#ifndef SM_SUBSCRIPTION_SUBSCRIPTION_INTERNAL_H
#define SM_SUBSCRIPTION_SUBSCRIPTION_INTERNAL_H

#include "common/base/buf.h"
#include "common/loop/loop.h"
#include "sm/subscription/subscription.h"
#include "tree/streams.h"

struct site_subscriptions {
	struct site_subscriptions_conf conf;
	struct keeps *keeps;
	struct loop_timer *retry; /* of streams that were shut for want of room */
	struct loop_timer *saving; /* of the lists of sources */
	/* the last opening; begins somewhere, so that none of an earlier sm is the same */
	uint64_t stream;
};

/* A source of blocks for a subscription: HOST, or "sm HOST" for a lower sm. It may be older than
 * this process. */
struct source {
	struct stream stream;
	uint64_t id; /* of the branch */
	struct map seqs; /* of streams that came from there: the next block + 1 as a pointer */
};

struct site_subscription {
	struct site_subscriptions *kt;
	struct keep *k;
	struct streams streams; /* struct source; the window is what is on its way to the disk */
	int sources; /* the last argument of keep_feed() */
	struct loop_timer *coming; /* while those that are away may come back */
	bool awaits; /* as long as it runs, and one is away: they count as one that is there */
	bool has_changed; /* since the list of sources was written */
	size_t nseq; /* streams of all feeds that are remembered */
};

/* --- source.c */

/* What was written of it; they are away. -ERR_NOMEM. */
int site_subscription_init_sources(struct site_subscription *s);
void site_subscription_free_sources(struct site_subscription *s);
void site_subscription_save_sources(struct site_subscription *s);

/* NULL: there is none at that branch. */
struct source *source_at(const struct site_subscription *s, const struct branch *b);

/* The one at that branch: a new one, or one that was away. NULL: no memory. */
struct source *source_come(struct site_subscription *s, const struct branch *b);

/* The branch is gone. */
void source_leave(struct site_subscription *s, struct source *f);

/* All of it comes by another way now. */
void source_forget_host(struct site_subscription *s, const char *host);

/* An end waits for those that are away, for STREAM_RETURN_NS at the most. */
void site_subscription_await(struct site_subscription *s);

#endif
