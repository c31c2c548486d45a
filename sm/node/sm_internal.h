/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For the files that wire the sm together: sm.c (creation and end), sm_parent.c (mainsm),
 * sm_branches.c (hosts), sm_end.c, sm_health.c.
 */
#ifndef SM_NODE_SM_INTERNAL_H
#define SM_NODE_SM_INTERNAL_H

#include "common/loop/loop.h"
#include "common/member/renew.h"
#include "sm/csr/csr.h"
#include "sm/hosts/nodes.h"
#include "sm/hosts/placement.h"
#include "sm/measure/measure.h"
#include "sm/node/announcer.h"
#include "sm/node/counters.h"
#include "sm/node/parent_link.h"
#include "sm/node/requests.h"
#include "sm/node/sessions.h"
#include "sm/node/sm.h"
#include "sm/subscription/subscription.h"
#include "tree/missed.h"

struct sm {
	struct sm_conf conf; /* its strings are the members below */
	char *site, *host, *software; /* owned */
	struct nodes *nodes;
	struct parent_link *parent;
	struct announcer *announcer;
	struct requests *requests;
	struct site_csrs *csrs;
	struct site_measures *measures;
	/* subscriptions whose events are stored on disk */
	struct site_subscriptions *subscriptions;
	struct placement *placement;
	struct sessions *sessions, *old_tools; /* of the current mainsm; of an earlier one */
	struct renew *renew; /* NULL: not renewed */
	struct missed missed;
	struct quota quota;
	struct quota_use use;
	struct loop_timer *linger, *grace, *drain;
	struct loop_timer *leash; /* limit of the time that processes stay stopped without mainsm */
	struct loop_job end;
	char reason[ERR_TEXT_BYTES];
	nsec_t started;
	nsec_t let_go_at; /* when all was released last; 0 = never */
	size_t nrevoked;
	uint64_t forged, strays;
	bool is_stopping, is_ending;
};

/* Calls on_end from the loop. */
void sm_end(struct sm *sm, const char *reason);

/* STOP has arrived: passes it on and waits a little. */
void sm_stop_all(struct sm *sm, const char *reason);

/* Handlers of both sides; arg is the sm. */
extern const struct parent_link_handler sm_from_parent;
extern const struct nodes_handler sm_from_branches;

/* Callbacks of timers. */
void sm_grace_over(void *arg);
void sm_leash_over(void *arg);
/* The branch was disconnected at the release of holds, and may still have some. */
void sm_let_go_late(struct sm *sm, struct branch *b);

/* Returns the bytes that count for QUOTA_BYTES. */
size_t sm_bytes(const struct sm *sm);

/*
 * Checks that this many more bytes may be held. Every fan-out checks, so that queues exceed the
 * limit by at most one. As quota_check().
 */
int sm_check_room(struct sm *sm, size_t bytes, struct err *e);

void sm_arm_linger(struct sm *sm);
void sm_collect(const struct sm *sm, struct sm_counters *out);

#endif
