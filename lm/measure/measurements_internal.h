/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by measurements.c (creation and end), measurements_load.c and measurements_read.c. */
#ifndef LM_MEASURE_MEASUREMENTS_INTERNAL_H
#define LM_MEASURE_MEASUREMENTS_INTERNAL_H

#include "common/container/list.h"
#include "tree/flowbox.h"
#include "common/omis/reply/reply.h"
#include "lm/measure/baselines.h"
#include "lm/measure/input.h"
#include "lm/measure/measurements.h"

/* Interval at which the system time is checked for a correction. */
#define MEASUREMENTS_LOOK_NS NSEC_PER_SEC

/* An sm refuses a read this far ahead, plus an interval: it exceeds its grace. */
#define MEASUREMENTS_AHEAD_NS (20 * NSEC_PER_SEC)

/* So long before a read the plug-ins are asked, at most half of an interval. */
#define MEASUREMENTS_LEAD_NS (100 * NSEC_PER_MSEC)

struct measurements {
	struct measurements_conf conf;
	struct list all; /* struct measurement */
	size_t n;
	struct flow *engine; /* made with the first measurement */
	struct sampler *sampler;
	struct baselines *baselines;
	struct procs_listener listener;
	/* expires when the parent has had time to load its measurements */
	struct loop_timer *restate;
	struct list watches; /* measurements_probe.c: struct watch */
	struct measurement *current; /* being read; NULL: output is dropped */
	bool is_changed; /* processes have changed: sampling at probes is updated */
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
	struct input *input; /* owned; the inputs on this host */
	size_t ninput;
	bool has_begun;
	int64_t asked; /* plug-ins, for that read */
	/*
	 * version of the time base (timebase.h) at the last decision about which processes are
	 * newer
	 */
	unsigned roots;
	bool knows_time; /* the time of mainsm is known, too */
	bool is_stale; /* not loaded again by the current parent */
	struct loop_timer *timer;
	struct flowbox *box;
};

nsec_t measurements_now(const struct measurements *r);
/* Bound of the error of this host's time, in seconds; INFINITY: unknown. */
double measurements_clock_error(const struct measurements *r);
struct measurement *measurements_find(const struct measurements *r, uint32_t measurement);
void measurement_free(struct measurement *g);
struct input_moment measurement_moment(struct measurement *g);

/* --- measurements.c */
/* Adds the bits that the inputs need to the hook words of p. -ERR_NOMEM: not all were added. */
int measurement_add_interest(struct measurement *g, struct proc *p);

/* Finds the process of the input on this host. */
void measurement_attach_input(struct measurement *g, struct input *in);

/* A value of a plug-in has come: an input without a beginning begins with it. */
void measurement_begin_late(struct measurement *g, struct input *in);

/* All inputs begin to count. */
void measurement_begin_inputs(struct measurement *g);

/* Called before a read: judges with the time that is known now. */
void measurement_judge_again(struct measurement *g);
/* True if the system time has changed since the last judgement. */
bool measurement_has_other_time(const struct measurement *g);

/* Sets the positions of the inputs in the engine. */
void measurement_place_inputs(struct measurement *g);
/* Unloads the graph from the engine and loads it again; negative: it is not loaded. */
int measurement_load_again(struct measurement *g, struct err *e);

/* --- measurements_probe.c */
/* Updates the sampling at probes, after any change of measurements, inputs or processes. */
void measurements_watch(struct measurements *r);
void measurements_unwatch(struct measurements *r);
/* Returns why an input at a probe has no values; NULL: it has, or its process is not here. */
const char *measurements_watch_fault(const struct input *in);

/* --- measurements_read.c */
void measurement_arm(struct measurement *g);
/* Asks the plug-ins for the values of that read. */
void measurement_ask_plugins(struct measurement *g, int64_t read);
void measurement_on_timer(void *arg);
/* All inputs begin to count, and reads begin. */
void measurement_begin_reads(struct measurement *g);
/* Treats read number `read` as taken at t, empty: later reads have higher numbers. */
void measurement_skip(struct measurement *g, int64_t read, nsec_t t);
void measurements_on_batch(void *arg, const struct flow_batch *b);
void measurements_on_result(void *arg, const struct flow_result *r);

#endif
