/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The replies of branches to one step. A gather ends when all have answered
 * or are lost, when its policy is fulfilled, or at its deadline. What is
 * missing then is named in the coverage.
 */
#ifndef COMMON_ROUTE_GATHER_H
#define COMMON_ROUTE_GATHER_H

#include "common/base/clock.h"
#include "common/omis/reply/reply.h"
#include "common/route/plan.h"

struct gather;

enum gather_policy {
	GATHER_ALL, /* all, or the deadline */
	GATHER_QUORUM, /* replies for `quorum` objects, or all, or the deadline */
	GATHER_NOW, /* the first branch that answers */
};

struct gather_conf {
	enum gather_policy policy;
	uint32_t quorum; /* objects */
	nsec_t deadline; /* on the caller's clock */
	void *arg;
	/* Returns the branch's token or name, for the list of missing objects. Never NULL. */
	const char *(*name)(void *arg, uint32_t branch);
	/* True if this branch may report that object. NULL = true. */
	bool (*owns)(void *arg, uint32_t branch, const char *token, size_t n);
};

/* Copies the data that it needs of the step; conf's arg must outlive it. */
int gather_new(const struct plan_step *step, const struct gather_conf *conf, struct gather **out,
	       struct err *e);
void gather_free(struct gather *g);

/*
 * Adds a branch's reply. -ERR_NOTFOUND: it was not asked, or has answered already (a late reply:
 * ignore it). -ERR_PROTO: the reply has actions or objects that are not the branch's; it is dropped
 * and the branch counts as lost.
 */
int gather_add(struct gather *g, uint32_t branch, const struct reply *r, struct err *e);

/* The branch will not answer. No effect if it has answered, or was not asked. */
void gather_lost(struct gather *g, uint32_t branch, const char *reason);

bool gather_is_done(const struct gather *g, nsec_t now);

/* Calls fn for each branch that has neither answered nor been lost: to send a CANCEL. */
void gather_each_waiting(const struct gather *g, void (*fn)(void *arg, uint32_t branch), void *arg);

/* Adds entries and coverage to `into`. May be called at any time, once. */
int gather_finish(struct gather *g, struct reply *into);

#endif
