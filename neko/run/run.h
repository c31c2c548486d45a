/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run as its configuration describes it: processes with their layers, networks, crashes, and the
 * handler. docs/neko.md has the keys.
 */
#ifndef NEKO_RUN_RUN_H
#define NEKO_RUN_RUN_H

#include "neko/run/apps.h"
#include "neko/core/limits.h"
#include "neko/core/setup.h"
#include "neko/simulated/sim.h"
#include "neko/stat/stat.h"

#include <signal.h>

struct run;

/*
 * Checks the configuration except the keys of layers. s is borrowed for the life of the run. Fails
 * with ERR_INVALID, ERR_NOTFOUND and others; e has the line.
 */
int run_new(struct setup *s, struct run **out, struct err *e);
void run_free(struct run *r);

/* Progress of a run. */
struct run_turn {
	const struct run *run; /* run_results() returns the results so far */
	uint64_t done, runs; /* runs have different seeds */
	double seconds; /* time of the present run: virtual, or real */
	double wall_seconds; /* real time since the start of the first run */
};

struct run_options {
	nsec_t deadline; /* clock_mono() at which the run ends in any state; 0: never */
	/*
	 * The run ends, as at the deadline, when this is not 0. A signal handler may set it. NULL:
	 * none
	 */
	const volatile sig_atomic_t *interrupt;
	void (*on_message)(void *arg, const struct sim_step *t); /* NULL: none */
	void (*on_event)(void *arg, const struct neko_event *v); /* NULL: none */
	/*
	 * Called after a real run for each message in the order of sending, also for lost ones.
	 * NULL: none
	 */
	void (*on_delay)(void *arg, const struct neko_delay *d);
	/* Called some times a second during the run; must not block. NULL: none */
	void (*on_turn)(void *arg, const struct run_turn *t);
	void *arg;
};

struct run_counts {
	uint64_t runs, seed, events, sent, delivered, hash;
	double seconds; /* sum of all runs: virtual time, or real time */
	unsigned stuck; /* active layers that did not return at the end */
	unsigned missing; /* processes of a real run whose reports are incomplete */
	uint64_t seed_of_last; /* seed of the last run */
	/* the violated property of the algorithm, owned by the run; NULL: none */
	const char *broken;
	bool is_real;
	bool is_stopped; /* the stop rule was fulfilled */
	bool is_left; /* a layer called neko_stop() before a stop rule was fulfilled */
	bool is_cut; /* the deadline or an interrupt ended the run, so that results are partial */
	bool is_interrupted; /* an interrupt ended the run */
	/* there were more messages than room for delays: some are not reported */
	bool has_lost_delays;
	uint64_t whole_runs, runs_requested; /* completed runs; runs in the configuration */
};

/*
 * Simulates. Blocks until the end. Fails for configuration errors of layers and unknown keys before
 * the first run starts. The run itself fails with ERR_LIMIT, ERR_NOMEM.
 */
int run_simulate(struct run *r, const struct run_options *w, struct run_counts *out, struct err *e);

/*
 * Runs with a system process for each process, on this host, and datagrams on the loopback; a crash
 * is a real one. Each network is UDP, whatever its delays. Events are handled meanwhile. Blocks
 * until the end; the caller must have no threads. Also fails with ERR_SYS, and with ERR_TIMEOUT if
 * a process did not start.
 */
int run_real(struct run *r, const struct run_options *w, struct run_counts *out, struct err *e);

/* A process of a real run whose report is incomplete. */
struct run_missing {
	uint32_t id;
	char why[600]; /* host of the process, and the reason */
};

/* State of a process's clock at the end of a real run. */
struct run_clock {
	nsec_t offset, error; /* the master's time minus the process's, and its error bound */
	nsec_t worst_error; /* largest error that the process has reported */
	double drift, drift_error; /* ppm by which the master's clock is faster; NaN: not known */
};

/*
 * Called after run_real(); the results are borrowed. run_missing() returns n entries, run_clocks()
 * m entries, or NULL before a run.
 */
const struct run_missing *run_missing(const struct run *r, size_t *n);
const struct run_clock *run_clocks(const struct run *r, uint32_t *m);

/* Return the value of real.hosts (NULL: this host), and the name of network k, counted from 0. */
const char *run_hosts(const struct run *r);
const char *run_net_name(const struct run *r, unsigned k);

#define RUN_EVENT_TEXT_BYTES 128 /* text of a content; a longer one is cut */

/* Writes the content of an event as its handler prints it, with control characters escaped. */
void run_event_text(const struct run *r, const struct neko_event *v,
		    char out[RUN_EVENT_TEXT_BYTES]);

/* Returns the name of a type of messages, as layers declare it; "?" for an unknown one. */
const char *run_type_name(const struct run *r, unsigned type);

/*
 * Returns the number of results, at most STAT_QUANTITIES_MAX, including those without values. They
 * are borrowed.
 */
size_t run_results(const struct run *r, struct stat_result *out);

/*
 * Writes all values to their files (stat.files), and the files of the handler. Fails with ERR_SYS.
 */
int run_flush(const struct run *r, struct err *e);

#endif
