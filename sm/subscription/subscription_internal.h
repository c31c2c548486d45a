/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the kept subscriptions of an sm: kept.c (what comes, and acknowledgements), kept_feed.c
 * (from whom). */
#ifndef SM_SUBSCRIPTION_SUBSCRIPTION_INTERNAL_H
#define SM_SUBSCRIPTION_SUBSCRIPTION_INTERNAL_H

#include "common/base/buf.h"
#include "common/base/list.h"
#include "common/base/map.h"
#include "common/loop/loop.h"
#include "sm/subscription/subscription.h"

struct kept {
	struct kept_conf conf;
	struct keeps *keeps;
	struct loop_timer *retry; /* of streams that were shut for want of room */
	struct loop_timer *saving; /* of who feeds what */
	/* the last opening; begins somewhere, so that none of an sm before us is the same */
	uint64_t stream;
};

enum feed_state {
	FEED_HERE,
	FEED_AWAY, /* it may have something, and is not connected */
	FEED_ENDED, /* it has told that nothing more comes */
	FEED_STATES
};

/* Who makes blocks for a subscription: a host, or an sm below; it may have been before this sm was
 * started. */
struct feed {
	struct list link;
	char host[NAME_MAX_BYTES + 1];
	bool is_sm;
	enum feed_state state;
	bool has_branch, is_shut;
	uint32_t branch; /* index */
	uint64_t id; /* of the branch */
	uint64_t stream;
	struct map seqs; /* of streams that came from there: the next block + 1 as a pointer */
	char *missing; /* owned: what its end said; NULL: nobody */
};

/* A message whose blocks are on their way to the disk. */
struct ticket {
	uint64_t appended, stream, place;
	uint32_t branch;
	uint32_t bytes;
};

struct sub {
	struct kept *kt;
	struct keep *k;
	struct list all; /* of struct feed, owned */
	struct map feeds; /* of those that have a branch, by its index */
	unsigned n[FEED_STATES];
	int sources; /* as keep_feed() was told */
	struct loop_timer *coming; /* while those that are away may come back */
	bool awaits; /* as long as it runs, and one is away: they count as one that is there */
	bool has_changed; /* since it was written who feeds it */
	size_t nseq; /* streams of all feeds that are remembered */
	struct ticket *ticket; /* owned; the oldest first */
	size_t nticket, capticket;
	size_t unsafe; /* bytes of all tickets */
};

/* --- kept_feed.c */

/* What was written of it; they are away. -ERR_NOMEM. */
int sub_init_feeds(struct sub *s);
void sub_free_feeds(struct sub *s);
void sub_save_feeds(struct sub *s);

/* NULL: there is none at that branch. */
struct feed *feed_at(const struct sub *s, const struct branch *b);

/* The one at that branch: a new one, or one that was away. NULL: no memory. */
struct feed *feed_come(struct sub *s, const struct branch *b);
void feed_set(struct sub *s, struct feed *f, enum feed_state state);

/* The branch is gone. */
void feed_leave(struct sub *s, struct feed *f);

/* All of it comes by another way now. */
void feed_forget_host(struct sub *s, const char *host);
void feed_forget_seqs(struct sub *s, struct feed *f);

/* An end waits for those that are away, for KEPT_RETURN_NS at the most. */
void sub_await(struct sub *s);

/* Who is away, by commas. */
void sub_write_missing(const struct sub *s, struct buf *b);

#endif
