/* SPDX-License-Identifier: Apache-2.0 */
/* The socket to the lm. Nothing ever waits for the lm: answers queue up, and some events. */
#ifndef TRACER_LINE_H
#define TRACER_LINE_H

#include "common/loop/loop.h"
#include "common/tracer/tracer_msg.h"

#define LINE_QUEUE_MAX_BYTES (8 * 1024 * 1024) /* answers to an lm that does not read */
/* limit behind which events are dropped: some seconds of them */
#define LINE_EVENTS_MAX_BYTES (1024 * 1024)

struct line;

struct line_conf {
	struct loop *loop; /* borrowed */
	int fd; /* borrowed */
	void (*on_msg)(void *arg, const struct tracer_msg *m); /* m is valid for the call */
	/* The lm has ended, or breaks the protocol. */
	void (*on_end)(void *arg, const char *why);
	void *arg;
};

int line_open(const struct line_conf *c, struct line **out, struct err *e);
void line_close(struct line *l);

/* Queues an answer. Failure ends the connection: the loss of an answer would never be noticed. */
void line_answer(struct line *l, const struct tracer_msg *m);

/* Returns false if it was dropped, because too many wait already. */
bool line_event(struct line *l, const struct tracer_msg *m);

void line_fail(struct line *l, uint32_t id, const struct err *e);

#endif
