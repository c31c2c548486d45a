/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A simulated host: processes that begin, call, are signalled and end, and the table of functions
 * by which an lm sees them. It records the true history of each process for the judges.
 */
#ifndef SIM_NODES_SIMHOST_H
#define SIM_NODES_SIMHOST_H

#include "common/base/clock.h"
#include "lm/host/host.h"
#include "sim/nodes/simrank.h"

#define SIMHOST_MEMFD "omig-simworld"
#define SIMHOST_COUNTED_SIGNAL 10

struct simproc {
	int32_t pid, rank;
	uint64_t start;
	bool is_alive, is_stopped;
	bool was_left; /* an lm was killed: the next one keeps its measuring switched on */
	nsec_t stopped_at;
	/* events in its rings when it ended without an lm: lost with them */
	uint64_t alone;
	unsigned counted; /* signals SIMHOST_COUNTED_SIGNAL that it got */
	unsigned stops; /* times that it was stopped */
	struct simrank *mpi; /* NULL: no MPI program */
	struct host_proc *held;
	bool is_waiting; /* for a held lm to register it */
	bool is_unreported; /* ended without a report: the lm is held */
	int status;
	host_on_exit_fn on_exit;
	void *arg;
	char token[32]; /* the monitor's, from the first answer that has it; before that "" */
};

struct loop;
struct simhost;

/* number: of the host; part of its processes' pids. */
int simhost_new(struct loop *l, unsigned number, struct simhost **out, struct err *e);
void simhost_free(struct simhost *h);

/* Returns the host for lm_conf. */
struct host *simhost_host(struct simhost *h);

/* Makes all calls of a killed lm without effect: it only frees its memory. */
void simhost_ignore(struct simhost *h, bool is_ignored);

/*
 * Starts a process. rank < 0: no MPI program. NULL: no memory or no descriptor. Valid until
 * simhost_free().
 */
struct simproc *simhost_begin(struct simhost *h, int32_t rank);

/* Ends the process. Its lm is notified: now, or after simhost_resume() if the lm is held. */
void simhost_end(struct simproc *p, int status);

/* Called when the held lm continues. */
void simhost_resume(struct simhost *h);

/* Ends all processes; later ones belong to another boot. No lm watches them now. */
void simhost_switch_off(struct simhost *h);

size_t simhost_nproc(const struct simhost *h);
struct simproc *simhost_proc(struct simhost *h, size_t i);

#endif
