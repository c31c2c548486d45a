/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by input.c, input_cells.c (calls) and input_figure.c (the system). */
#ifndef LM_INPUT_INTERNAL_H
#define LM_INPUT_INTERNAL_H

#include "lm/input.h"

struct reading_value {
	double value, error;
	double open; /* seconds of calls under way that may be in it when they end; they are in the error */
};

/* --- input_cells.c: what the rank counts of its calls. As input_open(), input_add_hooks(). */
int cells_open(struct input *in, struct err *e);
bool cells_look(struct input *in, const struct input_moment *m, struct reading_value *v);

/* --- input_figure.c: what the system tells. */
int figure_open(struct input *in, struct err *e);
bool figure_look(struct input *in, const struct input_moment *m, struct reading_value *v);

#endif
