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

#define EXECUTOR_DEADLINE_NS (2 * NSEC_PER_SEC) /* for a request without a deadline */
#define EXECUTOR_DEADLINE_MAX_NS (600 * NSEC_PER_SEC)

#define RUN_ENDS 2 /* of executor_conf.here */

struct branches;
struct executor;
struct loop;
struct run;

/* The origin of a run; identity, numbers, user and source must outlive the run. */
struct run_spec {
	struct route_view view;
	void *user; /* owner of the run; only passed on */
	const void *source; /* the event that led to this run; only passed on */
	bool top; /* services of the top are executed here */
	const uint32_t *numbers; /* of the actions in replies; NULL = 1, 2, ... */
	const char *identity; /* of the tool, end to end */
	uint32_t tool;
	enum omis_right right;
	uint32_t policy, quorum; /* enum msg_policy */
	nsec_t deadline; /* relative; <= 0 = the default */
	/* csr of the actions; NULL or "" = of a request; must outlive the run */
	const char *csr;
	uint64_t op_epoch, op; /* id of the tool's request: struct msg_request; 0 = none */
	uint32_t flags; /* enum msg_request_flags */
	unsigned depth; /* events that led to this run: 0 = a tool's own request */
	size_t bytes; /* size of the request: counted during the run */
	struct list *owner; /* list that contains the run while it exists */
	/*
	 * Called once; the callee owns the merged reply. NULL: the run was cancelled, or no memory
	 * is left. May be called before executor_run() returns.
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
	/* The branch had not answered at the deadline. May be NULL. */
	void (*late)(void *arg, uint32_t branch);
	/* True if that many more bytes of replies may be held; else they are lost. NULL: true. */
	bool (*has_room)(void *arg, size_t bytes);
	void *arg; /* of all of them */
};

struct executor *executor_new(const struct executor_conf *conf);

/* All runs must have ended or been cancelled. */
void executor_free(struct executor *x);

/* Limits a relative deadline as for a run. */
nsec_t executor_bounded(nsec_t deadline);

/* Consumes *request on success. -ERR_NOMEM, -ERR_INVALID: on_done is not called. */
int executor_run(struct executor *x, struct omis_request **request, const struct run_spec *spec,
		 struct err *e);

/*
 * Handles a REPLY of a branch. -ERR_NOTFOUND: it was not requested, or is too late; -ERR_PROTO: it
 * is invalid.
 */
int executor_reply(struct executor *x, uint32_t branch, const struct msg_reply *m, struct err *e);

/* The branch is lost: no reply will arrive from it. */
void executor_branch_lost(struct executor *x, uint32_t branch, const char *reason);

/* Ends all runs in the owner's list: on_done is called without a reply. */
void executor_cancel(struct executor *x, struct list *owner);

size_t executor_count(const struct executor *x);

/* Returns the bytes held by the runs: the requests, and the answers of branches so far. */
size_t executor_bytes(const struct executor *x);

/* Replies without a request. */
uint64_t executor_strays(const struct executor *x);

/* --- for steps that are executed here */

const struct run_spec *run_spec(const struct run *run);

/* Returns the entries so far; a pending step adds to them. */
struct reply *run_reply(struct run *run);

/* Returns the time that the run may still take. */
nsec_t run_remaining(const struct run *run);

/*
 * Sets a function for a pending step, called if it need not continue: the deadline passed or the
 * run was cancelled. Called once; after it run_here_done() must not be called.
 */
void run_set_abandon(struct run *run, void (*fn)(void *arg), void *arg);

void run_here_done(struct run *run);

#endif
