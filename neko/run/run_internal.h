/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NEKO_RUN_RUN_INTERNAL_H
#define NEKO_RUN_RUN_INTERNAL_H

#include "neko/real/real.h"
#include "neko/run/run.h"

struct run {
	struct setup *setup; /* borrowed */
	uint32_t m;
	uint64_t seed, runs, stack_bytes;
	nsec_t until;
	struct simnet_conf net[NEKO_NETS_MAX]; /* the names, cuts and traces in it are owned */
	unsigned nnet;
	const struct neko_clock_ops *clock_model; /* clock of a shared object; NULL: none */
	struct apps_object own; /* tables of a shared object; zeros: none */
	const struct neko_kind **app; /* owned, by process */
	nsec_t *crash,
		/* owned, by process; the crash is at a random time between both; -1: never */
		*crash_by;
	/* owned, by process: time of the crash in the current run, or NEKO_NEVER */
	nsec_t *crash_at;
	struct stat_kind stat;
	void *handler; /* owned; state of `stat` */
	const struct run_options *options; /* options of the current run */
	nsec_t begun; /* clock_mono() at the start */
	/* for a real run */
	struct real_net real_net[NEKO_NETS_MAX];
	nsec_t silence; /* a process that is silent for this time counts as lost */
	const char *hosts; /* borrowed; NULL: this host */
	struct run_missing *missing; /* owned */
	size_t nmissing;
	struct run_clock *clock; /* owned, by process */
	/* names of message types, as run_check() found them */
	const char *type_name[NEKO_TYPES_MAX];
	bool is_part; /* made for layers only: without handler and delays of networks */
	bool is_finished; /* all keys were requested */
	bool is_real;
};

/* Reads the networks of the configuration. */
int run_nets(struct run *r, struct err *e);
void run_nets_free(struct run *r);

/* Checks what a simulation needs: each network has a delay, a medium or a model. */
int run_check_delays(const struct run *r, struct err *e);

/* Draws crash_at for a run with that seed. */
void run_draw_crashes(struct run *r, uint64_t seed);

/* True if the run must end early, because of the deadline or an interrupt. */
bool run_is_late(const struct run *r);
bool run_is_interrupted(const struct run *r);

/* Calls options->on_turn. seconds: time of the current run. */
void run_report_turn(const struct run *r, uint64_t done, double seconds);

/* Returns the violated property that the handler has found, or NULL. */
const char *run_broken(const struct run *r);

/* Makes all layers of all processes once, and frees them, to find errors in the configuration. */
int run_check(struct run *r, struct err *e);

#endif
