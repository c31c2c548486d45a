/* SPDX-License-Identifier: Apache-2.0 */
/* The main loop of lm-trace. */
#ifndef TRACER_TRACER_H
#define TRACER_TRACER_H

#include "common/base/clock.h"
#include "common/base/err.h"

struct loop;

/* The lm ends lm-trace sooner, unless the lm is stopped. */
#define TRACER_IDLE_NS (120 * NSEC_PER_SEC)

/* Blocks until the lm has ended or sent nothing for a while. fd: the socket, which stays open. */
int tracer_run(struct loop *loop, int fd, struct err *e);

#endif
