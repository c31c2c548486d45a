/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by input.c, input_cells.c (calls) and input_figure.c (the system). */
#ifndef LM_MEASURE_INPUT_INTERNAL_H
#define LM_MEASURE_INPUT_INTERNAL_H

#include "common/ring/calls.h"
#include "lm/measure/input.h"

/* The kernel counts processor time in hundredths of a second. */
#define CPU_STEP_S 0.01

struct measurement_value {
	double value, error;
	/* seconds of open calls that may be included when they end; part of the error */
	double open;
	struct input_parts parts; /* by partners only */
};

/* True if the input counts that call, or its class. */
static inline bool input_counts_call(const struct input *in, unsigned func)
{
	if (in->metric.call >= 0)
		return (unsigned)in->metric.call == func;
	return in->metric.classes >> call_table[func].class & 1;
}

/* --- input_cells.c: counts of calls in the rank. As input_open(), input_add_hooks(). */
int cells_open(struct input *in, struct err *e);
bool cells_sample(struct input *in, const struct input_moment *m, struct measurement_value *v);

/* The bound of what came between two values by partners. */
double cells_step_error(const struct input *in, const struct input_parts *before,
			const struct input_parts *now);

/* True: the metric counts what moves between two reads. */
bool cells_moves(const struct input *in);
/* True if a call whose bytes are known at its end has been open since the last sample. */
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

/* --- input_mount.c: reads and writes by file system */
struct mount_figure {
	bool is_write, is_volume; /* bytes; else calls */
};
int mounts_open(const struct input *in, struct err *e);
bool mounts_sample(struct input *in, const struct input_moment *m, const struct mount_figure *f,
		   struct measurement_value *v);
/* As input_fault(). */
const char *mounts_fault(const struct input *in);

/* --- input_plugin.c: metrics of plug-ins */
int plugged_open(struct input *in, struct err *e);
void plugged_done(struct input *in);
bool plugged_sample(struct input *in, struct measurement_value *v);
/* Sets the time of the value, which is used up. */
void plugged_used(struct input *in, struct flow_token *t);
/* As input_fault(). */
const char *plugged_fault(const struct input *in);

/* --- input_foreign.c: processors busy with processes that are not watched */
void foreign_free(struct foreign *f); /* NULL is fine */
bool foreign_sample(struct input *in, const struct input_moment *m, struct measurement_value *v);

/* --- input_figure.c: counters of the system. */
int figure_open(struct input *in, struct err *e);
bool figure_sample(struct input *in, const struct input_moment *m, struct measurement_value *v);
/* Returns the largest growth in that time, if there is a limit; else 0. */
double figure_growth(const struct input *in, const struct input_moment *m, nsec_t span);

#endif
