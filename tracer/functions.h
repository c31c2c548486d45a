/* SPDX-License-Identifier: Apache-2.0 */
/* Entry and exit of a function of a running process, switched on and off by changes of its code. */
#ifndef TRACER_FUNCTIONS_H
#define TRACER_FUNCTIONS_H

#include "common/tracer/tracer_msg.h"
#include "tracer/tracees.h"

/*
 * As TRACER_FUNCTION_ON and TRACER_FUNCTION_OFF request. Blocks while files are read; the process
 * is stopped for less than a millisecond. -ERR_AGAIN: a thread was in the bytes that change, later
 * it may have left them. -ERR_INVALID, -ERR_UNSUPPORTED: as symbols.h and plan.h.
 */
int tracer_function_on(struct tracees *s, const struct tracer_msg *m, struct tracer_msg *answer,
		       struct err *e);
int tracer_function_off(struct tracees *s, const struct tracer_msg *m, struct err *e);

#endif
