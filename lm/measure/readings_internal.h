/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by readings.c (their life), readings_load.c and readings_read.c. */
#ifndef LM_READINGS_INTERNAL_H
#define LM_READINGS_INTERNAL_H

#include "common/base/list.h"
#include "common/omis/reply.h"
#include "lm/measure/bases.h"
#include "lm/measure/input.h"
#include "lm/measure/readings.h"
#include "tree/flowbox.h"

struct readings {
	struct readings_conf conf;
	struct list all; /* struct reading */
	size_t n;
	struct flow *engine; /* made with the first measurement */
	struct sampler *sampler;
	struct bases *bases;
	struct procs_listener listener;
	struct loop_timer *restate; /* runs out when the parent has loaded all that it wants */
	struct list watches; /* readings_probe.c: struct watch */
	struct reading *current; /* that is being read; NULL: what comes out is for nobody */
	bool is_changed; /* while processes come and go: what is looked at at probes */
	bool is_watching, watch_again; /* readings_probe.c */
	uint64_t reads;
};

/* One measurement. */
struct reading {
	struct list link;
	struct readings *owner;
	uint32_t id, tool;
	uint64_t version;
	nsec_t start, every;
	struct flow_graph *graph; /* owned */
	struct input *input; /* owned; those that this host can tell */
	size_t ninput;
	bool has_begun;
	unsigned roots; /* of the time base (timebase.h), when it was known last which processes are
			   newer */
	bool is_stale; /* the parent that is there now has not loaded it */
	struct loop_timer *timer;
	struct flowbox *box;
};

nsec_t readings_now(const struct readings *r);
/* Bound of what our time is wrong by, in seconds; INFINITY: nobody knows. */
double readings_clock_error(const struct readings *r);
struct reading *readings_find(const struct readings *r, uint32_t measurement);
void reading_free(struct reading *g);
struct input_moment reading_moment(struct reading *g);

/* --- readings.c */
/* In the hook words of p stands what the inputs want. -ERR_NOMEM: not all of it. */
int reading_wish(struct reading *g, struct proc *p);
void reading_unwish(struct reading *g, struct proc *p);

/* Before a read: by the time that is known now. */
void reading_judge_again(struct reading *g);

/* Whether and where the input's process is here. */
void reading_attach(struct reading *g, struct input *in);

/* --- readings_probe.c */
/* After any change of measurements, their inputs or processes: what is looked at at probes is
 * theirs. */
void readings_watch(struct readings *r);
void readings_unwatch(struct readings *r);
/* Why an input at a probe has no values; NULL: it has, or its process is not here. */
const char *readings_watch_fault(const struct input *in);

/* --- readings_read.c */
void reading_arm(struct reading *g);
void reading_on_timer(void *arg);
/* All inputs begin to count. */
void reading_begin(struct reading *g);
/* As if read number `read` had been taken at t, of nothing: those to come are higher. */
void reading_skip(struct reading *g, int64_t read, nsec_t t);
/* Rings are read at any time: what is of the interval after the one under way is told apart. */
void reading_announce(struct reading *g);
void reading_take(struct reading *g, int64_t read, nsec_t t);
void readings_on_batch(void *arg, const struct flow_batch *b);
void readings_on_result(void *arg, const struct flow_result *r);

#endif
