/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by input.c, input_cells.c (calls) and input_figure.c (the system). */
#ifndef LM_MEASURE_INPUT_INTERNAL_H
#define LM_MEASURE_INPUT_INTERNAL_H

#include "common/ring/calls.h"
#include "lm/measure/input.h"

struct measurement_value {
	double value, error;
	/* seconds of calls under way that may be in it when they end; they are in the error */
	double open;
	struct input_parts parts; /* by partners only */
};

/* It is about that call, or its class. */
static inline bool input_counts_call(const struct input *in, unsigned func)
{
	if (in->metric.call >= 0)
		return (unsigned)in->metric.call == func;
	return in->metric.classes >> call_table[func].class & 1;
}

/* --- input_cells.c: what the rank counts of its calls. As input_open(), input_add_hooks(). */
int cells_open(struct input *in, struct err *e);
bool cells_sample(struct input *in, const struct input_moment *m, struct measurement_value *v);

/* The bound of what came between two values by partners. */
double cells_step_error(const struct input *in, const struct input_parts *before,
			const struct input_parts *now);

/* True: the metric counts what moves between two reads. */
bool cells_moves(const struct input *in);
/* A call whose bytes are known at its end has been under way ever since the last sample here. */
bool cells_under_way(struct input *in);

/* --- input_region.c: calls between two probes */
int regions_open(struct input *in, struct err *e); /* behind cells_open() */
void regions_done(struct input *in);
void regions_attach(struct input *in, struct tickbase *ticks);
void regions_detach(struct input *in);
void regions_continue(struct input *in, struct input *from);
const char *regions_fault(const struct input *in);
bool regions_sample(const struct input *in, uint64_t now, const struct ticks_scale *scale,
		    struct measurement_value *v);

/* --- input_figure.c: what the system has. */
int figure_open(struct input *in, struct err *e);
bool figure_sample(struct input *in, const struct input_moment *m, struct measurement_value *v);
/* By how much it can grow in that time, where there is a limit; 0 elsewhere. */
double figure_growth(const struct input *in, const struct input_moment *m, nsec_t span);

#endif
