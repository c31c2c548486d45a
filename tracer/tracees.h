/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The threads that lm-trace traces. They are seized, never attached, so that no other process
 * notices. Each is released as soon as no request and no watch needs it. If lm-trace dies, the
 * kernel releases them, and kills the created programs that it still holds.
 */
#ifndef TRACER_TRACEES_H
#define TRACER_TRACEES_H

#include "tracer/work.h"

#define TRACEES_MAX 8192 /* threads: those of two of the largest processes that are watched */
/* a thread that waits for a disk stops when the disk responds */
#define TRACEES_STOP_MAX_NS (2 * NSEC_PER_SEC)

/* for a file on a slow server; the lm waits longer */
#define TRACEES_BIRTH_MAX_NS (8 * NSEC_PER_SEC)

struct tracees;

int tracees_open(struct loop *loop, struct line *line, struct tracees **out, struct err *e);

/*
 * Kills created programs that were never released; the kernel detaches the other threads when
 * lm-trace ends.
 */
void tracees_close(struct tracees *s);

/* Takes *work if it returns 0: the work answers when it is done. */
int tracees_do(struct tracees *s, struct work **take, struct err *e);

/* Starts or ends watching a process as m requests; repeated for new threads. */
int tracees_watch(struct tracees *s, const struct tracer_msg *m, struct err *e);

/*
 * Starts a program. Sends CREATED when it is held before its first instruction, FAILED if it cannot
 * start.
 */
int tracees_create(struct tracees *s, const struct tracer_msg *m, struct err *e);

/*
 * Continues a created program, into a stop signal that was sent to it before; m->what: kills it.
 * -ERR_NOTFOUND.
 */
int tracees_let_go(struct tracees *s, const struct tracer_msg *m, struct err *e);

size_t tracees_count(const struct tracees *s);

#endif
