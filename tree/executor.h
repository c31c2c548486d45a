/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Executes checked requests at mainsm and at an sm. It plans them, does the local part, sends the
 * rest to the branches, and merges their replies into one. Every run ends: by its last step, by its
 * deadline, or because its owner cancels it.
 */
#ifndef TREE_EXECUTOR_H
#define TREE_EXECUTOR_H

#include "common/base/clock.h"
#include "common/container/list.h"
#include "common/omis/reply/reply.h"
#include "common/route/plan.h"
#include "proto/msg.h"

#include <stdbool.h>

#define EXECUTOR_DEADLINE_NS (2 * NSEC_PER_SEC) /* of a request that states none */
#define EXECUTOR_DEADLINE_MAX_NS (600 * NSEC_PER_SEC)

#define RUN_ENDS 2 /* of executor_conf.here */

struct branches;
struct executor;
struct loop;
struct run;

/* The origin of a run; identity, numbers, user and source live as long as the run does. */
struct run_spec {
	struct route_view view;
	void *user; /* whose run it is; only passed on */
	const void *source; /* the event that led to this run; only passed on */
	bool top; /* services of the top are executed here */
	const uint32_t *numbers; /* of the actions in replies; NULL = 1, 2, ... */
	const char *identity; /* of the tool, end to end */
	uint32_t tool;
	enum omis_right right;
	uint32_t policy, quorum; /* enum msg_policy */
	nsec_t deadline; /* relative; <= 0 = the default */
	/* whose actions it runs; NULL or "" = a request's; lives as long as the run */
	const char *csr;
	uint64_t op_epoch, op; /* id of the tool's request: struct msg_request; 0 = none */
	uint32_t flags; /* enum msg_request_flags */
	unsigned depth; /* events that led to this run: 0 = a tool's own request */
	size_t bytes; /* of the request: counted while the run lives */
	struct list *owner; /* the run is in this list while it lives */
	/*
	 * Once; the reply is merged and belongs to the callee. NULL: the run was cancelled, or no
	 * memory is left. May come before executor_run() returns.
	 */
	void (*on_done)(void *arg, struct reply *r);
	void *arg;
};

struct executor_conf {
	struct loop *loop;
	struct branches *branches; /* borrowed */
	/*
	 * Execute a step here, adding entries to `into`. It returns
	 * - 0: it is done,
	 * - 1: run_here_done() follows, later,
	 * - RUN_ENDS: the rest of the list is not executed, and no entry says so,
	 * - negative: an error of that code is the entry.
	 */
	int (*here)(void *arg, struct run *run, const struct plan_here *here, struct reply *into);
	/* The branch has not answered when the deadline passed. May be NULL. */
	void (*late)(void *arg, uint32_t branch);
	/* May so much more of replies be held? What is not taken is lost. NULL: yes. */
	bool (*has_room)(void *arg, size_t bytes);
	void *arg; /* of all of them */
};

struct executor *executor_new(const struct executor_conf *conf);

/* All runs must be over or cancelled. */
void executor_free(struct executor *x);

/* The relative deadline that a run with that of run_spec gets. */
nsec_t executor_bounded(nsec_t deadline);

/* Consumes *request on success. -ERR_NOMEM, -ERR_INVALID: on_done does not come then. */
int executor_run(struct executor *x, struct omis_request **request, const struct run_spec *spec,
		 struct err *e);

/* A REPLY from a branch. -ERR_NOTFOUND: it was not requested, or comes too late; -ERR_PROTO: it is
 * wrong. */
int executor_reply(struct executor *x, uint32_t branch, const struct msg_reply *m, struct err *e);

/* The branch is lost: no reply will come from it. */
void executor_branch_lost(struct executor *x, uint32_t branch, const char *reason);

/* Ends all runs in the owner's list: on_done comes without a reply. */
void executor_cancel(struct executor *x, struct list *owner);

size_t executor_count(const struct executor *x);

/* What the runs hold: the requests, and what branches have answered so far. */
size_t executor_bytes(const struct executor *x);

/* Replies without a request. */
uint64_t executor_strays(const struct executor *x);

/* --- for what is executed here */

const struct run_spec *run_spec(const struct run *run);

/* The entries so far, to add to while a step is pending. */
struct reply *run_reply(struct run *run);

/* The time that the run may still take. */
nsec_t run_remaining(const struct run *run);

/*
 * A pending step sets what is called when it need not continue: the deadline passed or the run was
 * cancelled. Called once; after it run_here_done() is not to be called.
 */
void run_set_abandon(struct run *run, void (*fn)(void *arg), void *arg);

void run_here_done(struct run *run);

#endif
