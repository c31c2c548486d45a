/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The system's time: mainsm's clock, with a bound of the error. Every daemon estimates it by pings
 * on the link to its parent. Processes of a real neko run estimate their master's clock in the same
 * way. Local times are loop_now() values (monotonic). Pure: no clock is read here.
 */
#ifndef COMMON_TIME_TIMEBASE_H
#define COMMON_TIME_TIMEBASE_H

#include "common/base/clock.h"

#include <stdbool.h>

/* Largest assumed drift between two free-running clocks. The error bound grows with it. */
#define TIMEBASE_DRIFT_PPM 100

/* Error bound of a time base without a sample. */
#define TIMEBASE_UNKNOWN_NS INT64_MAX

/*
 * Longest time between two samples that determine the drift, which changes with the host's
 * temperature.
 */
#define TIMEBASE_DRIFT_WINDOW_NS (600 * NSEC_PER_SEC)

/* The result of a sample. */
struct timebase_mark {
	nsec_t at, offset, error; /* at 0: no sample */
};

struct timebase {
	nsec_t offset; /* system time - local time */
	nsec_t error; /* error at `at`; TIMEBASE_UNKNOWN_NS before the first sample */
	nsec_t at; /* local time of the sample that is in use */
	nsec_t newest; /* latest value that timebase_now() returned */
	unsigned roots; /* how often a sample belonged to another root than the previous one */
	bool is_root;
	struct timebase_mark begin, middle; /* samples of the window for the drift */
	nsec_t drift_at; /* time of the estimated drift; 0: none */
	double drift_ppm, drift_error_ppm;
};

/* One exchange: sent and received are local times, remote is the peer's system time in between. */
struct timebase_sample {
	nsec_t sent, received;
	nsec_t remote, remote_error;
};

/* Initialises without a sample: the time is wall_now of this host, with an unknown error. */
void timebase_init(struct timebase *t, nsec_t local_now, nsec_t wall_now);

/*
 * For mainsm: its own clock is the system's time, with the error 0. Later steps of the wall clock
 * have no effect.
 */
void timebase_init_root(struct timebase *t, nsec_t local_now, nsec_t wall_now);

/*
 * Uses the sample if its error bound is smaller than the current bound, which grows with time. Also
 * uses a sample that contradicts the state, because the state was of another root. The root ignores
 * all samples. Fails with ERR_INVALID if the sample was received before it was sent, or if numbers
 * are out of range.
 */
int timebase_update(struct timebase *t, const struct timebase_sample *s);

/* Converts a local time, past or present, to system time. */
nsec_t timebase_at(const struct timebase *t, nsec_t local);

/* Returns the present system time, which is never below an earlier result. */
nsec_t timebase_now(struct timebase *t, nsec_t local_now);

/*
 * Returns how much faster the system's time runs than the local clock, and the bound of that, in
 * ppm. It assumes a constant drift in the window; the other functions do not use it. Returns false
 * if the drift is not known yet.
 */
bool timebase_drift(const struct timebase *t, double *ppm, double *error_ppm);

/* Returns the bound of the difference to the root's clock; TIMEBASE_UNKNOWN_NS without a sample. */
nsec_t timebase_error(const struct timebase *t, nsec_t local_now);

#endif
