/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MODEL_SIMULATE_INTERNAL_H
#define MODEL_SIMULATE_INTERNAL_H

#include "common/base/rng.h"
#include "model/simulate/simulate.h"
#include "neko/simulated/events.h"
#include "stats/draw/law.h"
#include "stats/draw/normal.h"

#include <string.h>

#define NO_JOB UINT32_MAX

/* A distribution with mean 1 and any squared coefficient of variation. */
struct shape {
	struct law law; /* LAW_ERLANG: with the stages of the longer one */
	double shorter; /* probability of one stage less */
};

void shape_init(struct shape *s, double cv2);
double shape_draw(const struct shape *s, struct rng *r);

/* An invocation of an entry, as a message and as a thread that serves it. */
struct job {
	uint32_t next; /* in a queue, or among the unused ones */
	uint32_t caller; /* it waits for the reply; NO_JOB: none */
	uint32_t entry;
	uint32_t origin; /* an open arrival at this entry; NO_JOB: none */
	uint32_t phase;
	uint32_t call; /* fixed calls: the current one, and how many are left of it */
	double left;
	double need; /* of the processor */
	double born, began; /* of the first message; when the thread took this one */
};

struct line {
	uint32_t first, last;
};

/* A phase of an entry: its calls are those of the array from `first` on. */
struct part {
	double slice, think, calls; /* means; calls: sum */
	struct shape shape;
	uint32_t first, n;
	bool is_fixed;
};

struct invoked {
	struct part part[LAYERED_PHASES];
	uint32_t forward, nforward;
	double forwards; /* probability */
};

/* An integral over time. */
struct level {
	double value, sum, since;
};

/* Sums of a window, with the means of all windows. */
struct count {
	double n;
	struct batches rates;
};

struct values {
	struct moments moments;
	struct batches batches;
};

struct server {
	uint32_t first, entries; /* of a task; they follow one another */
	struct line waiting;
	unsigned in_use; /* threads, or jobs at a processor */
	struct level busy;
	struct batches busies;
	/* processor sharing: how much each job has got since the last idle time, and completions */
	double served, since;
	struct events finish;
	uint64_t generation;
};

enum event_kind {
	EVENT_STEP, /* of a job: it begins a slice */
	EVENT_THOUGHT, /* of a job: its delay is over */
	EVENT_SERVED, /* of a job: its slice is over */
	EVENT_SHARED, /* of a processor: the first of its slices is over */
	EVENT_ARRIVAL, /* of an entry */
};

struct world {
	const struct layered *m;
	struct rng rng;
	struct events queue;
	uint64_t seq;
	double now;
	struct job *job; /* owned */
	size_t njob, job_cap;
	uint32_t unused;
	struct invoked *entry; /* owned */
	uint32_t *call; /* owned: indices of calls, by entry and phase */
	struct server *task, *processor; /* owned */
	struct count *entry_count, *task_count; /* owned; completions */
	struct values *hold; /* owned; of each entry */
	struct values *response; /* owned; tasks, then entries of open arrivals */
	uint64_t completions; /* of cycles and open arrivals */
	struct err *e;
};

/* Adds to the number in use, and to its integral over time. */
void server_add(struct world *w, struct server *s, unsigned most, int change);
/* Returns the integral since the last call. */
double level_take(const struct world *w, struct level *l);

/* Times are the bits of a double: those of positive numbers are in the order of the numbers. */
static inline double event_time(const struct event *v)
{
	double at;

	_Static_assert(sizeof(v->at) == sizeof(at), "a time is as long as its bits");
	memcpy(&at, &v->at, sizeof(at));
	return at;
}

static inline void event_set_time(struct event *v, double at)
{
	memcpy(&v->at, &at, sizeof(at));
}

int world_schedule(struct world *w, double at, enum event_kind kind, uint32_t to, uint64_t number);
/* The queue has an event. */
struct event world_next(struct world *w);

void line_put(struct world *w, struct line *q, uint32_t job);
uint32_t line_take(struct world *w, struct line *q); /* NO_JOB: it is empty */

/* Serves job->need time units of the processor; then there is an EVENT_SERVED or EVENT_SHARED. */
int processor_request(struct world *w, uint32_t job);
/* A slice is over; the next job begins. */
int processor_on_served(struct world *w, uint32_t job);
/* *job: it is over; NO_JOB: an event of the past. */
int processor_on_shared(struct world *w, uint32_t processor, uint64_t generation, uint32_t *job);

/* Begins a cycle of a thread of a reference task. */
int job_begin_cycle(struct world *w, uint32_t task);
int job_on_arrival(struct world *w, uint32_t entry);
int job_on_thought(struct world *w, uint32_t job);
int job_on_step(struct world *w, uint32_t job);
int job_on_served(struct world *w, uint32_t job);

#endif
