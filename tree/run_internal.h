/* SPDX-License-Identifier: Apache-2.0 */
/* A request during execution: executor.c, and run_ask.c (requests to branches). */
#ifndef TREE_RUN_INTERNAL_H
#define TREE_RUN_INTERNAL_H

#include "common/container/map.h"
#include "tree/executor.h"

struct executor {
	struct executor_conf conf;
	struct map asked; /* id -> struct ask */
	struct list runs;
	size_t nrun;
	size_t bytes; /* bytes of all runs */
	uint64_t strays;
	uint64_t random[64];
	size_t nrandom;
};

/* A request to a branch that has not answered completely. */
struct ask {
	uint64_t id;
	uint32_t branch;
	struct run *run;
	struct reply *part; /* owned; NULL before the first part */
	struct list in_asks;
};

struct run {
	struct executor *x;
	struct run_spec spec;
	struct omis_request *request; /* owned */
	struct plan *plan; /* owned */
	struct gather *gather; /* owned; NULL unless the run waits for branches */
	struct reply *reply; /* owned */
	struct list asks;
	struct loop_timer *timer; /* owned */
	size_t bytes; /* bytes of the request and its answers */
	nsec_t deadline;
	const struct plan_step *step; /* the step has begun here, and its parts are not sent yet */
	uint32_t here_action;
	void (*abandon)(void *arg);
	void *abandon_arg;
	bool is_here; /* a step of this daemon is pending */
	bool is_going; /* run_go() is on the stack */
	bool is_over;
	struct list in_runs, in_owner;
};

/* --- run_ask.c */
/* Returns NULL without memory. */
struct ask *ask_new(struct run *run, uint32_t branch);
void ask_free(struct ask *a);
/*
 * Called when a branch will not answer. is_sent: the request was sent, so that its changes may have
 * been made.
 */

/*
 * True if only the outcome of a request is requested: then the original request may have run,
 * although this one was not sent.
 */
bool run_may_be_done(const struct run *run);
void run_lose(struct run *run, uint32_t branch, bool is_sent, const char *reason);

#endif
