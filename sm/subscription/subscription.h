/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Subscriptions on their way through an sm. Blocks from hosts are checked, written to our disk,
 * acknowledged when they are safe there, and sent up from there. Nothing is lost here for want of
 * room: the branches keep their blocks until there is some.
 */
#ifndef SM_SUBSCRIPTION_SUBSCRIPTION_H
#define SM_SUBSCRIPTION_SUBSCRIPTION_H

#include "common/base/rng.h"
#include "eventlog/keep/keeps.h"
#include "sm/hosts/nodes.h"

#define SUBSCRIPTION_RETRY_NS (200 * NSEC_PER_MSEC) /* between two checks for room */
/* the lists of sources are written once for all that come together */
#define SUBSCRIPTION_SAVE_NS (100 * NSEC_PER_MSEC)
#define SUBSCRIPTION_STREAMS_MAX \
	65536 /* whose last block is remembered, so that none is kept twice */

struct site_subscriptions;

struct site_subscriptions_conf {
	struct loop *loop;
	struct rng *rng;
	struct nodes *nodes;
	const char *dir; /* NULL: nothing is kept */
	const struct disk *disk; /* as keeps_conf */
	const struct spooler_turns *turns; /* as keeps_conf */
	uint64_t max_bytes; /* these two as keeps_conf */
	struct keeps_all *all;
	int (*send)(void *arg, const struct msg *m); /* up */
	void *arg;
};

/* Borrowed pointers, the folder is copied. ERR_NOMEM, ERR_SYS, ERR_DENIED. */
int site_subscriptions_new(const struct site_subscriptions_conf *conf,
			   struct site_subscriptions **out, struct err *e);
void site_subscriptions_free(struct site_subscriptions *kt);

/* From above: events_open, events_ack, events_end. */
void site_subscriptions_msg(struct site_subscriptions *kt, const struct msg *m);
void site_subscriptions_link_down(struct site_subscriptions *kt);

/* It is (again) connected: it gets all subscriptions; before conditional requests. */
void site_subscriptions_branch_up(struct site_subscriptions *kt, const struct branch *b);

/* It is not connected, and may come back; an end waits for it for a while, and then says that it is
 * missing. */
void site_subscriptions_branch_down(struct site_subscriptions *kt, const struct branch *b);

/* The branch has no hosts left: its blocks are on its disk. */
void site_subscriptions_branch_gone(struct site_subscriptions *kt, const struct branch *b);

/* What it has comes by an sm below us now. */
void site_subscriptions_host_moved(struct site_subscriptions *kt, const char *host);

/* From a branch. ERR_PROTO: those are no blocks. */
int site_subscriptions_events(struct site_subscriptions *kt, struct branch *b,
			      const struct msg_events *m, struct err *e);

void site_subscriptions_stats(const struct site_subscriptions *kt, struct keeps_stats *out);

#endif
