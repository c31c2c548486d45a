/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run as its configuration describes it: processes with their layers, networks, crashes, the
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
 * Checks everything but the keys of layers. s is borrowed for the life of the run. ERR_INVALID,
 * ERR_NOTFOUND, ... with the line.
 */
int run_new(struct setup *s, struct run **out, struct err *e);
void run_free(struct run *r);

/* Progress of a run. */
struct run_turn {
	const struct run *run; /* run_results() are those so far */
	uint64_t done, runs; /* each with its own seed */
	double seconds; /* of the present one: virtual, or by the clock */
	double wall_seconds; /* wall time since the begin of the first one */
};

struct run_options {
	nsec_t deadline; /* clock_mono() at which it ends in any state; 0: never */
	/*
	 * Ends the run like the deadline once it is not 0, which a signal handler may set; NULL:
	 * none
	 */
	const volatile sig_atomic_t *interrupt;
	void (*on_message)(void *arg, const struct sim_step *t); /* NULL: none */
	void (*on_event)(void *arg, const struct neko_event *v); /* NULL: none */
	/*
	 * Real runs, after their end: called for each message, in the order of sending, also for
	 * lost ones. NULL: none
	 */
	void (*on_delay)(void *arg, const struct neko_delay *d);
	/* Called some times a second during the run; must not block. NULL: none */
	void (*on_turn)(void *arg, const struct run_turn *t);
	void *arg;
};

struct run_counts {
	uint64_t runs, seed, events, sent, delivered, hash;
	double seconds; /* of all runs: virtual, or by the clock */
	unsigned stuck; /* active layers that did not return at the end */
	unsigned missing; /* processes of a real run whose reports are incomplete */
	uint64_t seed_of_last; /* seed of the last of several runs */
	/* property of the algorithm that was violated; owned by the run. NULL: none */
	const char *broken;
	bool is_real;
	bool is_stopped; /* by the handler's rule, not because time was over */
	bool is_left; /* a layer called neko_stop(), before any rule was fulfilled */
	bool is_cut; /* the deadline passed first: the results are partial */
	bool is_interrupted; /* cut, and by no deadline */
	bool has_lost_delays; /* more messages than on_delay has room for: some are not reported */
	uint64_t whole_runs, runs_requested; /* completed runs; runs in the configuration */
};

/*
 * Runs once. Blocks until it is done. Reports configuration errors of layers and unknown keys
 * before anything runs. ERR_LIMIT, ERR_NOMEM from the run.
 */
int run_simulate(struct run *r, const struct run_options *w, struct run_counts *out, struct err *e);

/*
 * The same with a system process for each process, on this host, and datagrams on the loopback; a
 * crash is a real one. Each network is UDP, whatever its delays. Events are handled while it runs.
 * Blocks until it is done; the caller must have no threads. Also ERR_SYS, ERR_TIMEOUT (not all
 * started).
 */
int run_real(struct run *r, const struct run_options *w, struct run_counts *out, struct err *e);

/* A process of a real run whose report is incomplete. */
struct run_missing {
	uint32_t id;
	char why[600]; /* place and effect of the error */
};

/* State of a process's clock at the end of a real run. */
struct run_clock {
	nsec_t offset, error; /* the master's time minus its own, and the bound of that */
	nsec_t worst_error; /* of all that it reported */
	double drift, drift_error; /* ppm by which the master's is faster; NaN: not known */
};

/* After run_real(): n of them, borrowed. run_clocks: m, NULL without a run. */
const struct run_missing *run_missing(const struct run *r, size_t *n);
const struct run_clock *run_clocks(const struct run *r, uint32_t *m);

/* The value of real.hosts, NULL: this host. The name of network k, counted from 0. */
const char *run_hosts(const struct run *r);
const char *run_net_name(const struct run *r, unsigned k);

#define RUN_EVENT_TEXT_BYTES 128 /* of a content: the begin of a longer one */

/* Writes the content of an event as its handler prints it, with control characters escaped. */
void run_event_text(const struct run *r, const struct neko_event *v,
		    char out[RUN_EVENT_TEXT_BYTES]);

/* The name of a type of messages, as layers declare it; "?" for an unknown one. */
const char *run_type_name(const struct run *r, unsigned type);

/* Returns at most STAT_QUANTITIES_MAX, borrowed; also those without values. */
size_t run_results(const struct run *r, struct stat_result *out);

/* Writes all values to their files (stat.files), and what the handler writes; else ERR_SYS. */
int run_flush(const struct run *r, struct err *e);

#endif
