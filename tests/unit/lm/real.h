/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A registration with real processes, a real socket and real pidfds, and the code of that process.
 */
#ifndef TESTS_UNIT_LM_REAL_H
#define TESTS_UNIT_LM_REAL_H

#include "common/loop/loop.h"
#include "lm/host/host_linux.h"
#include "lm/attach/registration.h"
#include "lm/proc/tickbase.h"
#include "tests/suite.h"
#include "tests/unit/lm/fake_segment.h"

#include <sys/types.h>

#define WAIT_TRIES 2500
#define WAIT_STEP_NS (20 * NSEC_PER_MSEC)

struct real {
	struct loop *loop;
	struct host *host;
	struct procs *procs;
	struct tickbase ticks;
	struct registration *registration;
	char dir[64], path[128]; /* path: of the socket in dir */
	unsigned refusals;
	struct err last;
};
extern struct real real;

/* real_dir() and real_open_with() in one, for segments of a name that nothing in the tests has. */
void real_open(void);
void real_dir(void);
int real_open_with(const char *memfd, int listener, struct err *e);
int real_registration(const char *memfd, int listener, struct err *e);
void real_close(void);

/* Lets the loop work until the condition holds; bounded. */
#define WAIT_FOR(condition)                                                      \
	do {                                                                     \
		for (int tries = 0; !(condition) && tries < WAIT_TRIES; tries++) \
			loop_wait(real.loop, WAIT_STEP_NS);                      \
		ck_assert(condition);                                            \
	} while (0)

/* As its starter makes it: bound there, and listening. */
int real_listener(const char *at, int type);

/* --- the process's side */

/* Connected to the socket, else a negative errno. */
int real_dial(void);
void real_hand_over(int to, const void *p, size_t n, const int *fds, size_t nfd);
struct seg_register real_reg_of(const struct fake_segment *s);
void real_register(int rank);
void real_wait_as_rank(void);

/* A rank that registers and then waits to be killed. */
pid_t real_start_rank(void);
void real_end(pid_t pid, int sig, int *status);

#endif
