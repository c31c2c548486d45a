/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reads of a measurement at an inner node: which one is closed next, and when. Read r ends at
 * start + r * every, or at the time that a request names. It is closed when it is whole, or when
 * its time of grace is over: then it is late. Works in the thread of its loop.
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
	/* A whole read is closed before its end, too: clocks differ, and the values are there. */
	bool is_early;
	bool (*is_whole)(void *arg, int64_t read);
	/* Of `read`, which ended at read_at; late: it is not whole. False: the reads are gone. */
	bool (*close)(void *arg, bool is_late);
	void *arg;
};

/* The owner may read the members, and changes none. */
struct read_clock {
	struct read_clock_conf conf;
	nsec_t start, every; /* every 0: by request */
	int64_t read; /* the last one that was closed */
	nsec_t read_at;
	int64_t asked; /* by request, and still open; 0: none */
	nsec_t asked_at;
	nsec_t asked_from; /* the same, or now by our clock: the grace begins */
	bool is_running;
	struct loop_timer *timer; /* owned */
};

/* -ERR_NOMEM. */
int read_clock_init(struct read_clock *r, const struct read_clock_conf *conf);
void read_clock_done(struct read_clock *r);

/* From that read on, which is the last one that is over. read_clock_tick() begins. */
void read_clock_start(struct read_clock *r, nsec_t start, nsec_t every, int64_t read);
void read_clock_stop(struct read_clock *r);

/* A read by request; the loop closes it. One that is open is closed now. */
void read_clock_ask(struct read_clock *r, int64_t read, nsec_t t);

/* Closes what is due. The reads may be gone behind this. */
void read_clock_tick(struct read_clock *r);

/* The highest read that can have ended, by any clock of the monitor; every is not 0. */
int64_t read_clock_newest(const struct read_clock *r);

#endif
