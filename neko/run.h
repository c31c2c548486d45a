/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run as its configuration describes it: processes with their layers, networks, crashes, the
 * handler. docs/neko.md has the keys.
 */
#ifndef NEKO_RUN_H
#define NEKO_RUN_H

#include "neko/setup.h"
#include "neko/sim.h"
#include "neko/stat.h"

/* What a process can be: process.N.initializer. */
struct run_app {
	const char *name;
	const char *summary;
	int (*init)(struct neko_process *p, struct setup *s, struct err *e);
};

/* Ends with a NULL name. */
extern const struct run_app run_apps[];

struct run;

/*
 * All but what layers want is looked at. s is borrowed for the life of the run. ERR_INVALID, ERR_NOTFOUND, ... with
 * the line.
 */
int run_new(struct setup *s, struct run **out, struct err *e);
void run_free(struct run *r);

struct run_wish {
	nsec_t deadline; /* clock_mono() at which it ends, wherever it is; 0: never */
	void (*on_message)(void *arg, const struct sim_step *t); /* NULL: none */
	void (*on_event)(void *arg, const struct neko_event *v); /* NULL: none */
	void *arg;
};

struct run_figures {
	uint64_t runs, seed, events, sent, delivered, hash;
	double virtual_s; /* of all runs */
	unsigned stuck; /* active layers that did not return at the end */
	bool is_stopped; /* by the handler or a layer, not because time was over */
	bool is_cut; /* the deadline came first: not all that was wished for was seen */
};

/*
 * Once; Blocks until it is done. Configuration errors of layers come here, before anything runs; keys that
 * nobody knows too. ERR_LIMIT, ERR_NOMEM from the run.
 */
int run_simulate(struct run *r, const struct run_wish *w, struct run_figures *out, struct err *e);

/* At most STAT_QUANTITIES_MAX, borrowed; those without values too. */
size_t run_results(const struct run *r, struct stat_result *out);

#endif
