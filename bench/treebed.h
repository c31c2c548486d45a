/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hierarchy of real daemons on this machine for benchmarks, all over TLS on the loopback. It has
 * one mainsm, the sm that it starts, and n lms. Each lm has a host name of its own (a UTS
 * namespace). Its files are in a temporary folder, which treebed_stop() removes.
 */
#ifndef BENCH_TREEBED_H
#define BENCH_TREEBED_H

#include "bench/bench.h"
#include "tools/libomis/omis.h"

#include <sys/types.h>

struct treebed;

/* Starts mainsm. On failure the program ends. */
struct treebed *treebed_start(void);

/*
 * Starts k sms below the sm of the site, which share the lms. Must precede the first lm. Blocks
 * until they are connected.
 */
void treebed_stack(struct treebed *t, unsigned k);

/* Starts lms until there are n, and waits until requests reach all of them. */
void treebed_grow(struct treebed *t, unsigned n);

/* Blocks until requests reach n hosts; returns the time in ns. */
int64_t treebed_wait(unsigned n);

/* Starts one of our programs on the host of the i-th lm; in: its standard input, -1 = ours. */
pid_t treebed_program(const struct treebed *t, unsigned i, const char *const argv[], int in);

/*
 * Adds a host of that site, with its own PID namespace: an lm, and n of our programs with arguments
 * that only it sees. Requires root; treebed_wait() returns when the lm is connected.
 */
void treebed_host(struct treebed *t, const char *site, const char *const argv[], unsigned n);

/* A path in the temporary folder. */
const char *treebed_path(const struct treebed *t, const char *name);

/* pid of the i-th sm below the sm of the site. */
pid_t treebed_below(const struct treebed *t, unsigned i);

/* pids of the i-th lm, of mainsm, and of the sm of the site (0: no sm runs). */
pid_t treebed_lm(const struct treebed *t, unsigned i);
pid_t treebed_mainsm(const struct treebed *t);
pid_t treebed_sm(const struct treebed *t);

/* Processor time of all threads of a process, in ns. */
int64_t treebed_cpu(pid_t pid);

/* Connects this program as a tool; sends a request. A refused request ends the program. The caller
 * frees the reply. */
void treebed_connect(void);
Omis_reply treebed_ask(const char *text);

/* NULL is fine. */
void treebed_stop(struct treebed *t);

/* The value of the pair [name, value] in a daemon's status; 0: there is no such pair. */
double treebed_fact(const Omis_value *status, const char *name);

#endif
