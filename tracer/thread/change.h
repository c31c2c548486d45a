/* SPDX-License-Identifier: Apache-2.0 */
/* Waits for traced threads without the loop. */
#ifndef TRACER_THREAD_CHANGE_H
#define TRACER_THREAD_CHANGE_H

#include "common/base/clock.h"

/*
 * Blocks until a traced thread may have changed its state, at most `most`. Consumes SIGCHLD: after
 * the last call, change_repeat() gives the loop its signal again.
 */
void change_wait(nsec_t most);
void change_repeat(void);

#endif
