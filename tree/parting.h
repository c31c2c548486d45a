/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of a conditional request at an inner node. Each branch that gets DISARM answers with the
 * number of events that it has lost. The parting is over when all branches have answered or are
 * lost, or after a bounded time.
 */
#ifndef TREE_PARTING_H
#define TREE_PARTING_H

#include "common/base/clock.h"
#include "common/container/list.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Losses of one branch between two reports: a larger number is invalid, and must not overflow. */
#define PARTING_LOST_MAX (UINT64_C(1) << 31)

struct loop;
struct loop_timer;

/* All partings that have not ended, as struct parting by in_all. */
struct partings {
	struct list all;
	struct loop *loop; /* borrowed */
	nsec_t wait_max;
};

/* Only parting.c changes the members. */
struct parting {
	struct partings *in;
	struct list in_all;
	uint32_t *branch; /* owned: branches that have not answered */
	size_t n, cap;
	struct loop_timer *timer; /* owned */
	void (*on_over)(void *arg);
	void *arg;
};

void partings_init(struct partings *ps, struct loop *loop, nsec_t wait_max);

/*
 * Initialises a parting that waits for no branch. Fails with ERR_NOMEM. on_over may free the
 * parting.
 */
int parting_init(struct parting *p, struct partings *in, void (*on_over)(void *arg), void *arg);

/* Ends a parting without calling on_over. */
void parting_done(struct parting *p);

/* Waits for the answer of the branch. Without memory it does not wait. */
void parting_await(struct parting *p, uint32_t branch);
bool parting_awaits(const struct parting *p, uint32_t branch);
bool parting_is_open(const struct parting *p);

/*
 * Notes the answer of a branch. May call on_over. Returns false if the parting does not wait for
 * that branch.
 */
bool parting_answered(struct parting *p, uint32_t branch);

/* Called when a branch is lost and will not answer. May call on_over of each parting. */
void partings_forget(struct partings *ps, uint32_t branch);

/* Returns the reported number of lost events, or the limit if it is larger. */
uint64_t parting_bounded(uint64_t lost);

#endif
