/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Subscriptions on their way through an sm. Blocks from hosts are checked and written to disk, then
 * acknowledged, and sent up from the disk. Lack of room loses nothing here: the branches store
 * their blocks until there is room.
 */
#ifndef SM_SUBSCRIPTION_SUBSCRIPTION_H
#define SM_SUBSCRIPTION_SUBSCRIPTION_H

#include "common/base/rng.h"
#include "eventlog/keep/keeps.h"
#include "sm/hosts/nodes.h"

#define SUBSCRIPTION_RETRY_NS (200 * NSEC_PER_MSEC) /* between two checks for room */
/* Delay of saving, so that changes of source lists are written together. */
#define SUBSCRIPTION_SAVE_NS (100 * NSEC_PER_MSEC)
/* streams whose last block is noted, so that none is stored twice */
#define SUBSCRIPTION_STREAMS_MAX 65536

struct site_subscriptions;

struct site_subscriptions_conf {
	struct loop *loop;
	struct rng *rng;
	struct nodes *nodes;
	const char *dir; /* NULL: nothing is kept */
	const struct disk *disk; /* as keeps_conf */
	const struct spooler_turns *turns; /* as keeps_conf */
	uint64_t max_bytes; /* both as in keeps_conf */
	struct keeps_all *all;
	int (*send)(void *arg, const struct msg *m); /* up */
	void *arg;
};

/* Borrowed pointers, the folder is copied. ERR_NOMEM, ERR_SYS, ERR_DENIED. */
int site_subscriptions_new(const struct site_subscriptions_conf *conf,
			   struct site_subscriptions **out, struct err *e);
void site_subscriptions_free(struct site_subscriptions *kt);

/* Handles events_open, events_ack and events_end from the parent. */
void site_subscriptions_msg(struct site_subscriptions *kt, const struct msg *m);
void site_subscriptions_link_down(struct site_subscriptions *kt);

/* The branch has connected (again): it gets all subscriptions; called before the csrs are sent. */
void site_subscriptions_branch_up(struct site_subscriptions *kt, const struct branch *b);

/*
 * The branch has disconnected, and may return. The end of a subscription waits for it for a while,
 * and then reports it as missing.
 */
void site_subscriptions_branch_down(struct site_subscriptions *kt, const struct branch *b);

/* The branch has no hosts left: its blocks are on its disk. */
void site_subscriptions_branch_gone(struct site_subscriptions *kt, const struct branch *b);

/* A lower sm sends the blocks of that host now. */
void site_subscriptions_host_moved(struct site_subscriptions *kt, const char *host);

/* Handles blocks from a branch. ERR_PROTO: they are invalid. */
int site_subscriptions_events(struct site_subscriptions *kt, struct branch *b,
			      const struct msg_events *m, struct err *e);

void site_subscriptions_stats(const struct site_subscriptions *kt, struct keeps_stats *out);

#endif
