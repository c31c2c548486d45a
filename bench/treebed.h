/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hierarchy of real daemons on this machine for benchmarks, all over TLS on the loopback. It has
 * one mainsm, the sm that it starts, and n lms. Each lm has a host name of its own (a UTS
 * namespace). It lives in a temporary folder and leaves nothing behind.
 */
#ifndef BENCH_TREEBED_H
#define BENCH_TREEBED_H

#include "bench/bench.h"
#include "tools/libomis/omis.h"

#include <sys/types.h>

struct treebed;

/* Starts mainsm; ends the program when that fails. */
struct treebed *treebed_start(void);

/*
 * Starts k sms that stand below that of the site, before the first lm: they share the lms. Blocks
 * until they are there.
 */
void treebed_stack(struct treebed *t, unsigned k);

/* Starts lms until there are n, and waits until requests reach all of them. */
void treebed_grow(struct treebed *t, unsigned n);

/* Blocks until requests reach n hosts; ns that it took. */
int64_t treebed_wait(unsigned n);

/* Starts one of our programs on the host of the i-th lm; in: its standard input, -1 = ours. */
pid_t treebed_program(const struct treebed *t, unsigned i, const char *const argv[], int in);

/*
 * One more host, of that site, with a PID namespace of its own: an lm, and n programs of ours with
 * these arguments that only it sees. Needs the rights of root; treebed_wait() says when the lm is
 * there.
 */
void treebed_host(struct treebed *t, const char *site, const char *const argv[], unsigned n);

/* A path in the folder of this tree, which goes with it. */
const char *treebed_path(const struct treebed *t, const char *name);

/* pid of the i-th sm below that of the site. */
pid_t treebed_below(const struct treebed *t, unsigned i);

/* pid of the i-th lm; of mainsm; of the sm of the site that runs now, 0 when none does. */
pid_t treebed_lm(const struct treebed *t, unsigned i);
pid_t treebed_mainsm(const struct treebed *t);
pid_t treebed_sm(const struct treebed *t);

/* Processor time of all threads of a process, in ns. */
int64_t treebed_cpu(pid_t pid);

/* This program becomes a tool, and asks; a request that is refused ends it. The caller frees the
 * reply. */
void treebed_connect(void);
Omis_reply treebed_ask(const char *text);

/* NULL is fine. */
void treebed_stop(struct treebed *t);

/* Number `name` in [name, value]... of a daemon's status; 0 when it does not say. */
double treebed_fact(const Omis_value *status, const char *name);

#endif
