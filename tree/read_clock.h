/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reads of a measurement at an inner node: the next one to close, and its time. Read r ends at
 * start + r * every, or at the time that a request names. It is closed when it is complete, or when
 * its grace is over: then it is late. Runs in the thread of its loop.
 */
#ifndef TREE_READ_CLOCK_H
#define TREE_READ_CLOCK_H

#include "common/base/clock.h"

#include <stdbool.h>
#include <stdint.h>

struct loop;
struct loop_timer;

/* Borrowed. Times are mainsm's. */
struct read_clock_conf {
	struct loop *loop;
	nsec_t (*now)(void *arg);
	nsec_t (*grace)(void *arg);
	/*
	 * A complete read may be closed before its end: clocks differ, and all values have arrived.
	 */
	bool is_early;
	bool (*is_whole)(void *arg, int64_t read);
	/*
	 * Closes `read`, which ended at read_at; late: it is not complete. False: the reads have
	 * been freed.
	 */
	bool (*close)(void *arg, bool is_late);
	void *arg;
};

/* The owner may read the members, but must not change them. */
struct read_clock {
	struct read_clock_conf conf;
	nsec_t start, every; /* every 0: by request */
	int64_t read; /* the last closed read */
	nsec_t read_at;
	int64_t asked; /* requested and still open; 0: none */
	nsec_t asked_at;
	nsec_t asked_from; /* as above, or now by our clock: the grace begins */
	bool is_running;
	struct loop_timer *timer; /* owned */
};

/* -ERR_NOMEM. */
int read_clock_init(struct read_clock *r, const struct read_clock_conf *conf);
void read_clock_done(struct read_clock *r);

/* Starts after that read, the last one that has ended. read_clock_tick() begins. */
void read_clock_start(struct read_clock *r, nsec_t start, nsec_t every, int64_t read);
void read_clock_stop(struct read_clock *r);

/* Requests a read, which the loop closes. An open one is closed now. */
void read_clock_ask(struct read_clock *r, int64_t read, nsec_t t);

/* Closes due reads. May free the reads. */
void read_clock_tick(struct read_clock *r);

/* Returns the highest read that can have ended, by any clock of the monitor; every is not 0. */
int64_t read_clock_newest(const struct read_clock *r);

#endif
