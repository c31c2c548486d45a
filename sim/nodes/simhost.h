/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A simulated host: its processes begin, call, get signals and end. An lm sees them through a table
 * of functions. The host records the true history of each process for the judges.
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
	/* its lm was killed, and the next lm keeps the measuring that was switched on */
	bool was_left;
	nsec_t stopped_at;
	/* events in its rings when it ended without an lm, which are lost */
	uint64_t alone;
	unsigned counted; /* signals SIMHOST_COUNTED_SIGNAL that the process has got */
	unsigned stops; /* how often the process was stopped */
	struct simrank *mpi; /* NULL: the program does not use MPI */
	struct host_proc *held;
	bool is_waiting; /* the process has not registered, because the lm is held */
	bool is_unreported; /* the end is not reported, because the lm is held */
	int status;
	host_on_exit_fn on_exit;
	void *arg;
	char token[32]; /* the monitor's token, once a reply had it; before that "" */
};

struct loop;
struct simhost;

/* number: number of the host, with which the pids of its processes begin. */
int simhost_new(struct loop *l, unsigned number, struct simhost **out, struct err *e);
void simhost_free(struct simhost *h);

/* Returns the host for lm_conf. */
struct host *simhost_host(struct simhost *h);

/* Removes the effect of all calls of a killed lm, which only frees its memory. */
void simhost_ignore(struct simhost *h, bool is_ignored);

/*
 * Starts a process; rank < 0: without MPI. Returns NULL without memory or descriptors. Valid until
 * simhost_free().
 */
struct simproc *simhost_begin(struct simhost *h, int32_t rank);

/* Ends the process. The lm gets a notification, after simhost_resume() if it is held. */
void simhost_end(struct simproc *p, int status);

/* Called when a held lm continues. */
void simhost_resume(struct simhost *h);

/* Ends all processes; later ones belong to another boot. No lm may watch them. */
void simhost_switch_off(struct simhost *h);

size_t simhost_nproc(const struct simhost *h);
struct simproc *simhost_proc(struct simhost *h, size_t i);

#endif
