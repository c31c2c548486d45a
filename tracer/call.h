/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inserts a call into a stopped thread, like a signal handler: afterwards the thread continues
 * where it was.
 */
#ifndef TRACER_CALL_H
#define TRACER_CALL_H

#include "common/base/err.h"

#include <stdint.h>

/*
 * Makes a stopped thread call the function at addr, without arguments. A frame on its stack lets
 * the kernel restore all its state afterwards. -ERR_UNSUPPORTED: not on this machine, or the
 * process has no C library through which to return.
 */
int call_insert(int32_t pid, int32_t tid, uint64_t addr, struct err *e);

#endif
