/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of a conditional request at an inner node. Each branch that gets DISARM answers with the
 * number of events that it has lost. The parting is over when all have answered or are gone, or
 * after a bounded time.
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

/* The partings that have not ended: struct parting by in_all. */
struct partings {
	struct list all;
	struct loop *loop; /* borrowed */
	nsec_t wait_max;
};

/* Read only outside. */
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

/* Waits for no branch initially. -ERR_NOMEM. on_over may free the parting. */
int parting_init(struct parting *p, struct partings *in, void (*on_over)(void *arg), void *arg);

/* on_over is not called. */
void parting_done(struct parting *p);

/* Waits for the answer of the branch. Without memory it does not wait. */
void parting_await(struct parting *p, uint32_t branch);
bool parting_awaits(const struct parting *p, uint32_t branch);
bool parting_is_open(const struct parting *p);

/* The branch has answered. May call on_over. Returns false if no answer of it is awaited. */
bool parting_answered(struct parting *p, uint32_t branch);

/* The branch is lost and will not answer. May call on_over of each parting. */
void partings_forget(struct partings *ps, uint32_t branch);

/* Limits a number of lost events that a branch has reported. */
uint64_t parting_bounded(uint64_t lost);

#endif
