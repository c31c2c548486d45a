/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The replies of branches to one step. A gather ends when all branches have answered or are lost,
 * when its policy is fulfilled, or at its deadline. The coverage names the missing objects.
 */
#ifndef COMMON_ROUTE_GATHER_H
#define COMMON_ROUTE_GATHER_H

#include "common/base/clock.h"
#include "common/omis/reply/reply.h"
#include "common/route/plan.h"

struct gather;

enum gather_policy {
	GATHER_ALL, /* ends with all replies, or at the deadline */
	/* ends with replies for `quorum` objects, with all replies, or at the deadline */
	GATHER_QUORUM,
	GATHER_NOW, /* ends with the first reply */
};

struct gather_conf {
	enum gather_policy policy;
	uint32_t quorum; /* number of objects */
	nsec_t deadline; /* on the caller's clock */
	void *arg;
	/* Returns the branch's token or name, for the list of missing objects. Never NULL. */
	const char *(*name)(void *arg, uint32_t branch);
	/* True if this branch may report that object. NULL: always true. */
	bool (*owns)(void *arg, uint32_t branch, const char *token, size_t n);
};

/* Copies the data of the step that it needs. conf's arg must outlive it. */
int gather_new(const struct plan_step *step, const struct gather_conf *conf, struct gather **out,
	       struct err *e);
void gather_free(struct gather *g);

/*
 * Adds a branch's reply. Fails with ERR_NOTFOUND if it was not asked, or has answered already:
 * ignore a late reply. Fails with ERR_PROTO if the reply has actions or objects of others: it is
 * dropped, and the branch counts as lost.
 */
int gather_add(struct gather *g, uint32_t branch, const struct reply *r, struct err *e);

/* Notes that the branch will not answer. Has no effect if it has answered, or was not asked. */
void gather_lost(struct gather *g, uint32_t branch, const char *reason);

bool gather_is_done(const struct gather *g, nsec_t now);

/* Calls fn for each branch that has neither answered nor been lost, for sending a CANCEL. */
void gather_each_waiting(const struct gather *g, void (*fn)(void *arg, uint32_t branch), void *arg);

/* Adds entries and coverage to `into`. May be called at any time, but once. */
int gather_finish(struct gather *g, struct reply *into);

#endif
