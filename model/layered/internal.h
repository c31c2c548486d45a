/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MODEL_LAYERED_INTERNAL_H
#define MODEL_LAYERED_INTERNAL_H

#include "model/layered/layered.h"

/* Requests of a client of a station in a cycle, or open requests of a task: [client * n + station].
 */
struct asked {
	double *visits; /* owned */
	double *service, *after; /* owned; of a visit: until the reply, and behind it */
	double *cv2; /* owned; of both together */
	double *wait; /* owned; of a visit, before the service. At PS: by service time */
};

/* A layer: its stations, its clients, and the network of both. */
struct layer {
	size_t nstation, nclient; /* clients: tasks, then stations with open requests */
	size_t *station, *client; /* owned */
	struct station *kind; /* owned */
	unsigned *population; /* owned */
	double *think, *visits, *service, *after, *cv2, *rate; /* owned */
	size_t groups;
	double *group_size, *group_share; /* owned */
	struct network_result result;
};

struct solver {
	const struct layered *m; /* given */
	struct layered_call *call; /* owned; without forwarded ones: callers call in their place */
	size_t ncall, call_cap;
	size_t *first, *order; /* owned; the calls of entry i are order[first[i]] and following */
	double *arrivals; /* owned; of each entry, with forwarded ones */
	struct layered_result *out;
	size_t n; /* stations: tasks, then processors */
	size_t nlayer;
	struct layer *layer; /* owned; 0 is unused */
	/* rows: tasks as clients, then open requests: [ntask + task] at station `task` */
	struct asked asked;
	/*
	 * The same where tasks without a limit of threads let requests pass through: their callers
	 * ask in their place. The arrays of `asked` if there is no such task.
	 */
	struct asked flat;
	bool *is_pass; /* owned; of each task */
	double *through; /* owned; [task * ntask + passed task]: invocations in a cycle */
	double *below; /* owned; the same for any task below, if it is waited for; NULL: too many */
	double *calls; /* owned; [entry * phases + phase]: sum in an invocation */
	double *hold, *spread; /* owned; the same: mean and variance of a phase */
	double *cycle; /* owned; of each task: how long an invocation holds a thread */
	double *rate; /* owned; of each task: open requests */
	bool *is_unbounded; /* owned; of each task: it has any number of threads in use */
	unsigned *threads; /* owned */
	double **slower; /* owned; of each task: see struct station; NULL: none */
	unsigned *levels; /* owned */
	double change; /* greatest relative one of a hold time in this round */
	double work; /* steps beside those of layers */
	double damping; /* share of a new waiting time: two layers may swing otherwise */
	size_t full; /* a station whose open requests were cut; n: none */
};

static inline size_t asked_at(const struct solver *w, size_t client, size_t station)
{
	return client * w->n + station;
}

int asking_init(struct asked *a, size_t size);
/* Sets all but the waits to 0. */
void asking_clear(struct asked *a, size_t size);
void asking_done(struct asked *a);

/* Requests of callers pass through, and wait in its place. */
int pass_init(struct solver *w);
/* Counts the invocations of tasks below, for pass_groups(). */
void pass_below(struct solver *w);
/* Groups of clients that cannot compete: they work for the same thread. */
void pass_groups(const struct solver *w, struct layer *l);
void pass_compute(struct solver *w); /* flat, from asked */
void pass_waits(struct solver *w); /* waits of asked, from flat */

bool solver_is_shared(const struct solver *w, size_t station);

/* Replaces forwarded calls. ERR_LIMIT, ERR_NOMEM. */
int forward_expand(struct solver *w, struct err *e);

/* Throughputs of entries and tasks, from those of the reference tasks and arrivals. */
void flow_compute(struct solver *w);
/* Holding times from waiting times, then what each task asks of each station. */
void flow_renew(struct solver *w);
double flow_own_time(const struct solver *w, size_t entry); /* of the processor, both phases */
/* How much time of a cycle a task spends at a station. */
double flow_at_station(const struct solver *w, size_t task, size_t station);
double flow_think(const struct solver *w, size_t task); /* delays in a cycle */

/* How many servers of a station the throughputs demand. */
double flow_busy(const struct solver *w, size_t station);

/* A station as a queue, with its profile. */
struct station solver_station(const struct solver *w, size_t station);

/* How the threads of a task slow one another down. ERR_NOMEM, ERR_LIMIT. */
int profile_compute(struct solver *w, size_t task, struct err *e);

#endif
