/* SPDX-License-Identifier: Apache-2.0 */
/* A watched program that switches its own hooks, through its segment, as an lm would. */
#ifndef BENCH_SELF_H
#define BENCH_SELF_H

#include "common/ring/segview.h"

/* The segment of this process, or NULL. The caller frees it. */
struct segview *self_open(void);

#endif
