/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hierarchy of real daemons on this machine for benchmarks: one mainsm, the
 * sm that it starts, and n lms, each with a host name of its own (a UTS
 * namespace), all over TLS on the loopback. It lives in a temporary folder
 * and leaves nothing behind.
 */
#ifndef BENCH_TREEBED_H
#define BENCH_TREEBED_H

#include "bench/bench.h"

#include <sys/types.h>

struct treebed;

/* Starts mainsm; ends the program when that fails. */
struct treebed *treebed_start(void);

/* Starts lms until there are n, and waits until requests reach all of them. */
void treebed_grow(struct treebed *t, unsigned n);

/* pid of the i-th lm. */
pid_t treebed_lm(const struct treebed *t, unsigned i);

/* NULL is fine. */
void treebed_stop(struct treebed *t);

#endif
