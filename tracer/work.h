/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One request to a thread, in two parts. The first needs the thread stopped
 * (registers, a copy of its stack); the rest is done after it continues.
 */
#ifndef TRACER_WORK_H
#define TRACER_WORK_H

#include "common/container/list.h"
#include "common/loop/loop.h"
#include "tracer/line.h"
#include "tracer/thread/stack.h"
#include "tracer/unwind.h"
#include "tracer/thread/who.h"

struct work {
	struct list link; /* in the list of works that wait for the stop */
	uint32_t id;
	uint8_t type; /* enum tracer_type */
	uint32_t what;
	struct who who;
	nsec_t until; /* fails if the thread stops later */
	size_t nvalue;
	uint64_t value[TRACER_VALUES_MAX];
	struct stack stack;
	int rc;
	struct err e;
};

/* NULL: no memory. */
struct work *work_new(const struct tracer_msg *m);
void work_free(struct work *w);

/* True if the work writes to the thread, which must be between two instructions. */
bool work_changes(const struct work *w);

/* Called while the thread is stopped. */
void work_collect(struct work *w);

/* Called when the thread has continued. Frees the work. */
void work_answer(struct work *w, struct unwinder *u, struct line *l);

#endif
