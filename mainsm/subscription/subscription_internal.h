/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside the subscriptions: subscription.c (creation and end), subscription_part.c (blocks of each
 * branch).
 */
#ifndef MAINSM_SUBSCRIPTION_SUBSCRIPTION_INTERNAL_H
#define MAINSM_SUBSCRIPTION_SUBSCRIPTION_INTERNAL_H

#include "common/base/limits.h"
#include "common/container/list.h"
#include "common/loop/loop.h"
#include "common/omis/text/token.h"
#include "mainsm/subscription/subscription.h"
#include "tree/streams.h"

#define SUBSCRIPTION_NAME_BYTES 64

struct subscriptions {
	struct subscriptions_conf conf;
	struct list all; /* of struct subscription */
	size_t n;
	nsec_t unsettled; /* time of the start, or of the last loss of a site, which may return */
	uint64_t stream; /* the last opening: of all branches and subscriptions */
};

struct subscription {
	struct list link;
	struct subscriptions *owner;
	char name[SUBSCRIPTION_NAME_BYTES];
	char job[NAME_MAX_BYTES + 1];
	struct msg_events_open opening;
	struct session *self; /* owned: the session that arms it */
	struct token csr; /* "" = the activation has ended */
	char *text; /* owned; text of its request; NULL: none */
	struct session *receiver; /* NULL: none */
	struct streams streams; /* by the token of the branch */
	struct loop_timer *lease;
	struct loop_timer *coming; /* while absent branches may return */
	bool has_waited; /* for them, since the end was requested */
	char fault[ERR_TEXT_BYTES]; /* the last error that a host reported */
};

/* --- subscription_part.c */
void subscription_branch_up(struct subscription *s, const struct branch *c);
void subscription_branch_lost(struct subscription *s,
			      uint32_t branch); /* s may be dead behind this */

/* Opens the subscription on all branches after a change. With `again`, blocks are repeated from the
 * last acknowledged one on. */
void subscription_open_all(struct subscription *s, bool again);
void subscription_events(struct subscription *s, uint32_t branch, const struct msg_events *m);
void subscription_acked(struct subscription *s, const struct msg_events_ack *m);

/*
 * Ends the subscription if all branches have reported its end; then s is freed. Waits a while for
 * absent branches. Then the receiver gets a list of them, and the subscription waits for the next
 * receiver.
 */
void subscription_check_end(struct subscription *s);

/* --- subscription.c */

/* missing: "" = none is missing, and s is freed. */
void subscription_report_end(struct subscription *s, const char *missing);

#endif
