/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The system's time: mainsm's clock, with a bound of the error. Every daemon
 * knows it through the heartbeats of the link to its parent. A real run of
 * neko has its master's clock the same way. Local times are loop_now() values
 * (monotonic). Pure: no clock is read here.
 */
#ifndef COMMON_TIME_TIMEBASE_H
#define COMMON_TIME_TIMEBASE_H

#include "common/base/clock.h"

#include <stdbool.h>

/* Largest drift between two clocks without discipline. The error bound grows with it. */
#define TIMEBASE_DRIFT_PPM 100

/* Error bound of a time base that has no sample yet. */
#define TIMEBASE_UNKNOWN_NS INT64_MAX

/* The largest age of two samples that give the drift, which changes with the host's temperature. */
#define TIMEBASE_DRIFT_WINDOW_NS (600 * NSEC_PER_SEC)

/* The result of a sample. */
struct timebase_mark {
	nsec_t at, offset, error; /* at 0: none */
};

struct timebase {
	nsec_t offset; /* system time - local time */
	nsec_t error; /* bound at `at`; TIMEBASE_UNKNOWN_NS before the first sample */
	nsec_t at; /* local time of the sample that is in use */
	nsec_t newest; /* latest value that timebase_now() returned */
	unsigned roots; /* how often a sample belonged to another root than the previous one */
	bool is_root;
	struct timebase_mark begin, middle; /* of the window of the drift */
	nsec_t drift_at; /* time of the estimate; 0: never */
	double drift_ppm, drift_error_ppm;
};

/* One exchange: sent and received are local, remote is the peer's system time in between. */
struct timebase_sample {
	nsec_t sent, received;
	nsec_t remote, remote_error;
};

/* Initialises without samples: time is wall_now of this host, its error unknown. */
void timebase_init(struct timebase *t, nsec_t local_now, nsec_t wall_now);

/*
 * For mainsm: its own clock is the system's time, error 0; later steps of the wall clock have no
 * effect.
 */
void timebase_init_root(struct timebase *t, nsec_t local_now, nsec_t wall_now);

/*
 * Uses the sample if its error bound is smaller than the current one, with its growth. A sample
 * that contradicts the current state is used too: that state was of another root. ERR_INVALID:
 * received before sent, or numbers out of range; the sample is ignored. The root ignores all.
 */
int timebase_update(struct timebase *t, const struct timebase_sample *s);

/* Converts a local time, past or present, to the system's. */
nsec_t timebase_at(const struct timebase *t, nsec_t local);

/* Returns the system time now; never less than it returned before. */
nsec_t timebase_now(struct timebase *t, nsec_t local_now);

/*
 * Returns how much faster the system's time runs than the local clock, and the bound of that, in
 * ppm: constant in the window. The error above does not rely on it. False: not known yet.
 */
bool timebase_drift(const struct timebase *t, double *ppm, double *error_ppm);

/* Returns the bound of the difference to the root's clock; TIMEBASE_UNKNOWN_NS without a sample. */
nsec_t timebase_error(const struct timebase *t, nsec_t local_now);

#endif
