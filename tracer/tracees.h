/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The threads that lm-trace traces. They are seized, never attached, so that
 * no other process notices. Each is released as soon as no request and no watch
 * needs it. When lm-trace dies the kernel lets them go, and kills the created
 * programs that it still holds.
 */
#ifndef TRACER_TRACEES_H
#define TRACER_TRACEES_H

#include "tracer/work.h"

#define TRACEES_MAX 8192 /* threads: those of two of the largest processes that are watched */
/* a thread that waits for a disk stops when the disk comes back */
#define TRACEES_STOP_MAX_NS (2 * NSEC_PER_SEC)

/* of a file on a slow server; the lm waits longer */
#define TRACEES_BIRTH_MAX_NS (8 * NSEC_PER_SEC)

struct tracees;

int tracees_open(struct loop *loop, struct line *line, struct tracees **out, struct err *e);

/* Kills what was created and never released; the kernel detaches the rest when we end. */
void tracees_close(struct tracees *s);

/* Takes *work when it returns 0: answers when it is done. */
int tracees_do(struct tracees *s, struct work **take, struct err *e);

/* Watches a process as m says, or ends that; again for threads that are new. */
int tracees_watch(struct tracees *s, const struct tracer_msg *m, struct err *e);

/* Starts a program: CREATED is said when it stands before its first instruction, FAILED when it
 * never will. */
int tracees_create(struct tracees *s, const struct tracer_msg *m, struct err *e);

/* A created program continues, into a stop signal that was sent to it before; m->what: it is
 * killed. -ERR_NOTFOUND. */
int tracees_let_go(struct tracees *s, const struct tracer_msg *m, struct err *e);

size_t tracees_count(const struct tracees *s);

#endif
