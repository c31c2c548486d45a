/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by measurements.c (their life), measurements_load.c and measurements_read.c. */
#ifndef LM_MEASURE_MEASUREMENTS_INTERNAL_H
#define LM_MEASURE_MEASUREMENTS_INTERNAL_H

#include "common/container/list.h"
#include "tree/flowbox.h"
#include "common/omis/reply/reply.h"
#include "lm/measure/baselines.h"
#include "lm/measure/input.h"
#include "lm/measure/measurements.h"

/* A timer looks so often at the time, which may turn out to be another one. */
#define MEASUREMENTS_LOOK_NS NSEC_PER_SEC

/* An sm takes no read that is so far ahead, and an interval: it is above its time of grace. */
#define MEASUREMENTS_AHEAD_NS (20 * NSEC_PER_SEC)

struct measurements {
	struct measurements_conf conf;
	struct list all; /* struct measurement */
	size_t n;
	struct flow *engine; /* made with the first measurement */
	struct sampler *sampler;
	struct baselines *baselines;
	struct procs_listener listener;
	struct loop_timer *restate; /* runs out when the parent has loaded all that it wants */
	struct list watches; /* measurements_probe.c: struct watch */
	struct measurement *current; /* that is being read; NULL: what comes out is dropped */
	bool is_changed; /* while processes come and go: what is sampled at probes */
	bool is_watching, watch_again; /* measurements_probe.c */
	uint64_t reads;
};

/* One measurement. */
struct measurement {
	struct list link;
	struct measurements *owner;
	uint32_t id, tool;
	uint64_t version;
	nsec_t start, every;
	struct flow_graph *graph; /* owned */
	struct input *input; /* owned; those that this host has */
	size_t ninput;
	bool has_begun;
	unsigned roots; /* of the time base (timebase.h), when it was known last which processes are
			   newer */
	bool knows_time; /* of mainsm, likewise */
	bool is_stale; /* the parent that is there now has not loaded it */
	struct loop_timer *timer;
	struct flowbox *box;
};

nsec_t measurements_now(const struct measurements *r);
/* Bound of what our time is wrong by, in seconds; INFINITY: unknown. */
double measurements_clock_error(const struct measurements *r);
struct measurement *measurements_find(const struct measurements *r, uint32_t measurement);
void measurement_free(struct measurement *g);
struct input_moment measurement_moment(struct measurement *g);

/* --- measurements.c */
/* In the hook words of p stands what the inputs want. -ERR_NOMEM: not all of it. */
int measurement_add_interest(struct measurement *g, struct proc *p);

/* All inputs begin to count. */
void measurement_begin_inputs(struct measurement *g);

/* Before a read: by the time that is known now. */
void measurement_judge_again(struct measurement *g);
/* True: the system time has changed since the last judgement. */
bool measurement_has_other_time(const struct measurement *g);

/* Gives the inputs their places in the engine. */
void measurement_place_inputs(struct measurement *g);
/* The engine forgets all that it has of it, and has its graph again; negative: neither. */
int measurement_load_again(struct measurement *g, struct err *e);

/* --- measurements_load.c */
/* Whether and where the input's process is here. */
void measurement_attach_input(struct measurement *g, struct input *in);

/* --- measurements_probe.c */
/* After any change of measurements, their inputs or processes: what is sampled at probes is
 * theirs. */
void measurements_watch(struct measurements *r);
void measurements_unwatch(struct measurements *r);
/* Why an input at a probe has no values; NULL: it has, or its process is not here. */
const char *measurements_watch_fault(const struct input *in);

/* --- measurements_read.c */
void measurement_arm(struct measurement *g);
void measurement_on_timer(void *arg);
/* All inputs begin to count, and reads of them come. */
void measurement_begin_reads(struct measurement *g);
/* As if read number `read` had been taken at t, of nothing: those to come are higher. */
void measurement_skip(struct measurement *g, int64_t read, nsec_t t);
void measurements_on_batch(void *arg, const struct flow_batch *b);
void measurements_on_result(void *arg, const struct flow_result *r);

#endif
