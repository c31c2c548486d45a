/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A helper's end of the line to its lm, which is its standard input. A helper of this kind handles
 * one request after the other.
 */
#ifndef LM_HELPER_HELPER_LINE_H
#define LM_HELPER_HELPER_LINE_H

#include "common/tracer/tracer_msg.h"

/*
 * Ends with the lm, even while this process hangs and does not read. -ERR_INVALID: an lm of this
 * user has not started it.
 */
int helper_line_open(struct err *e);

/* Blocks until a packet of at most max bytes has arrived. Returns its bytes; 0: the lm has ended.
 */
size_t helper_line_next(uint8_t *to, size_t max);

/* Blocks until the answer is sent. Exits if it cannot be: the lm has ended. */
void helper_line_answer(void *arg, const struct tracer_msg *m);

#endif
