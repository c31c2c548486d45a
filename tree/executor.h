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

#define EXECUTOR_DEADLINE_NS (2 * NSEC_PER_SEC) /* deadline of a request that has none */
#define EXECUTOR_DEADLINE_MAX_NS (600 * NSEC_PER_SEC)

#define RUN_ENDS 2 /* result of executor_conf.here */

struct branches;
struct executor;
struct loop;
struct run;

/* A request to run. identity, numbers, user and source must outlive the run. */
struct run_spec {
	struct route_view view;
	void *user; /* owner of the run, which the executor does not use */
	const void *source; /* event that led to this run, which the executor does not use */
	bool top; /* this daemon executes the services of mainsm */
	const uint32_t *numbers; /* numbers of the actions in replies; NULL = 1, 2, ... */
	const char *identity; /* identity of the tool, as sent by mainsm */
	uint32_t tool;
	enum omis_right right;
	uint32_t policy, quorum; /* enum msg_policy */
	nsec_t deadline; /* relative to now; <= 0 = the default */
	/* csr whose actions run; NULL or "" = a request of a tool; must outlive the run */
	const char *csr;
	uint64_t op_epoch, op; /* id of the tool's request: struct msg_request; 0 = none */
	uint32_t flags; /* enum msg_request_flags */
	/* number of events in a row that led to this run; 0 = a request of a tool */
	unsigned depth;
	size_t bytes; /* size of the request, which is charged during the run */
	struct list *owner; /* list that contains the run while it exists */
	/*
	 * Called once; the callee owns the merged reply. r is NULL if the run was cancelled, or if
	 * there is no memory. May be called before executor_run() returns.
	 */
	void (*on_done)(void *arg, struct reply *r);
	void *arg;
};

struct executor_conf {
	struct loop *loop;
	struct branches *branches; /* borrowed */
	/*
	 * Executes a step in this daemon, and adds entries to `into`. Returns\n- 0: the step is
	 * done,\n- 1: run_here_done() follows later,\n- RUN_ENDS: the remaining actions are not
	 * executed, and have no entries,\n- a negative value: the entry is an error with that code.
	 */
	int (*here)(void *arg, struct run *run, const struct plan_here *here, struct reply *into);
	/* Called if a branch had not answered at the deadline. May be NULL. */
	void (*late)(void *arg, uint32_t branch);
	/*
	 * Returns true if so many more bytes of replies may be stored; otherwise they are lost.
	 * NULL: always true.
	 */
	bool (*has_room)(void *arg, size_t bytes);
	void *arg; /* of all these functions */
};

struct executor *executor_new(const struct executor_conf *conf);

/* All runs must have ended or been cancelled. */
void executor_free(struct executor *x);

/* Returns the deadline that a run would have with this relative deadline. */
nsec_t executor_bounded(nsec_t deadline);

/* Consumes *request on success. Fails with ERR_NOMEM, ERR_INVALID; on_done is not called then. */
int executor_run(struct executor *x, struct omis_request **request, const struct run_spec *spec,
		 struct err *e);

/*
 * Handles a REPLY of a branch. Fails with ERR_NOTFOUND if it was not requested or is too late, and
 * with ERR_PROTO if it is invalid.
 */
int executor_reply(struct executor *x, uint32_t branch, const struct msg_reply *m, struct err *e);

/* Called when a branch is lost, so that no reply will arrive from it. */
void executor_branch_lost(struct executor *x, uint32_t branch, const char *reason);

/* Cancels all runs in the owner's list: on_done is called without a reply. */
void executor_cancel(struct executor *x, struct list *owner);

size_t executor_count(const struct executor *x);

/* Returns the bytes that the runs use for requests and answers of branches. */
size_t executor_bytes(const struct executor *x);

/* Returns the number of replies without a request. */
uint64_t executor_strays(const struct executor *x);

/* --- for steps that this daemon executes */

const struct run_spec *run_spec(const struct run *run);

/* Returns the entries so far, to which a pending step adds its own. */
struct reply *run_reply(struct run *run);

/* Returns the time until the deadline of the run. */
nsec_t run_remaining(const struct run *run);

/*
 * Sets a function that ends a pending step, because the deadline passed or the run was cancelled.
 * It is called at most once. run_here_done() must not be called after it.
 */
void run_set_abandon(struct run *run, void (*fn)(void *arg), void *arg);

void run_here_done(struct run *run);

#endif
