/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The times at which an inner node closes the reads of a measurement. Read r ends at start + r *
 * every, or at the time that a request names. It is closed when it is complete, or, as a late read,
 * when its grace period is over. Runs in the thread of its loop.
 */
#ifndef TREE_READ_CLOCK_H
#define TREE_READ_CLOCK_H

#include "common/base/clock.h"

#include <stdbool.h>
#include <stdint.h>

struct loop;
struct loop_timer;

/* Borrowed. Times are mainsm's times. */
struct read_clock_conf {
	struct loop *loop;
	nsec_t (*now)(void *arg);
	nsec_t (*grace)(void *arg);
	/*
	 * A complete read may be closed before its end, because clocks differ and all values have
	 * arrived.
	 */
	bool is_early;
	bool (*is_whole)(void *arg, int64_t read);
	/*
	 * Closes `read`, which ended at read_at; late: it is incomplete. Returns false if the reads
	 * were freed.
	 */
	bool (*close)(void *arg, bool is_late);
	void *arg;
};

/* The owner may read the members, but must not change them. */
struct read_clock {
	struct read_clock_conf conf;
	nsec_t start, every; /* every 0: reads are requested */
	int64_t read; /* the last closed read */
	nsec_t read_at;
	int64_t asked; /* the requested read that is still open; 0: none */
	nsec_t asked_at;
	/* start of the grace period: asked_at, or the time of the request by our clock */
	nsec_t asked_from;
	bool is_running;
	struct loop_timer *timer; /* owned */
};

/* Fails with ERR_NOMEM. */
int read_clock_init(struct read_clock *r, const struct read_clock_conf *conf);
void read_clock_done(struct read_clock *r);

/*
 * Starts with the read after `read`, which is the last one that has ended. The caller continues
 * with read_clock_tick().
 */
void read_clock_start(struct read_clock *r, nsec_t start, nsec_t every, int64_t read);
void read_clock_stop(struct read_clock *r);

/* Requests a read, which the loop closes later. Closes an earlier requested one now. */
void read_clock_ask(struct read_clock *r, int64_t read, nsec_t t);

/* Closes all due reads. May free the owner of the reads. */
void read_clock_tick(struct read_clock *r);

/* Returns the highest read that may have ended by any clock of the monitor. every must not be 0. */
int64_t read_clock_newest(const struct read_clock *r);

#endif
