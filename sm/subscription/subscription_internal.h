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
	struct loop_timer *retry; /* for streams that were closed because there was no room */
	struct loop_timer *saving; /* of the lists of sources */
	/* number of the last opening; starts at random, to differ from an earlier sm's */
	uint64_t stream;
};

/* A source of blocks for a subscription: HOST, or "sm HOST" for a lower sm. It may be older than
 * this process. */
struct source {
	struct stream stream;
	uint64_t id; /* of the branch */
	struct map seqs; /* of streams from there: the next block + 1 as a pointer */
};

struct site_subscription {
	struct site_subscriptions *kt;
	struct keep *k;
	struct streams streams; /* struct source; the window counts bytes in transit to the disk */
	int sources; /* the last argument of keep_feed() */
	struct loop_timer *coming; /* while absent sources may return */
	bool awaits; /* set while it runs and a source is absent: absent ones count as present */
	bool has_changed; /* changed since the list of sources was written */
	size_t nseq; /* streams of all feeds that are remembered */
};

/* --- source.c */

/* Reads the stored sources, which are absent at first. -ERR_NOMEM. */
int site_subscription_init_sources(struct site_subscription *s);
void site_subscription_free_sources(struct site_subscription *s);
void site_subscription_save_sources(struct site_subscription *s);

/* Returns NULL if there is none at that branch. */
struct source *source_at(const struct site_subscription *s, const struct branch *b);

/* Returns the source at that branch: a new one, or an absent one that returns. NULL: no memory. */
struct source *source_come(struct site_subscription *s, const struct branch *b);

/* The branch has disconnected. */
void source_leave(struct site_subscription *s, struct source *f);

/* Another branch sends all its blocks now. */
void source_forget_host(struct site_subscription *s, const char *host);

/* The end waits for absent sources, at most STREAM_RETURN_NS. */
void site_subscription_await(struct site_subscription *s);

#endif
