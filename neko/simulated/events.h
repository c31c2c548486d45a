/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Future events by time. Events at equal times are in the order of numbers that the caller assigns.
 * The queue is a heap with four children per node, so that each level takes two cache lines.
 */
#ifndef NEKO_SIMULATED_EVENTS_H
#define NEKO_SIMULATED_EVENTS_H

#include "common/base/clock.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event {
	nsec_t at;
	uint64_t seq;
	void *what;
	uint32_t kind; /* for the owner */
	uint32_t to;
};

/* Zero-initialise. */
struct events {
	struct event *heap; /* owned */
	size_t n, cap;
};

void events_done(struct events *q);

/* Fails with ERR_NOMEM, ERR_LIMIT. */
int events_add(struct events *q, const struct event *v);

static inline const struct event *events_first(const struct events *q)
{
	return q->n ? q->heap : NULL;
}

/* The queue must not be empty. */
struct event events_take(struct events *q);

/* Removes all events for which is_stale() is true. O(n). */
void events_sift(struct events *q, bool (*is_stale)(void *arg, const struct event *v), void *arg);

#endif
