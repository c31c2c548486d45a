/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text of OpenMetrics 1.0.0, or of the older form 0.0.4 without units, times of creation and an
 * end. Families are written one after the other, each with its samples.
 */
#ifndef TOOLS_EXPORT_METRICS_H
#define TOOLS_EXPORT_METRICS_H

#include "common/base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum metrics_form { METRICS_OPEN, METRICS_PLAIN };
enum metric_kind { METRIC_GAUGE, METRIC_COUNTER, METRIC_INFO };

/* Literals. The name has the unit at its end, and no _total or _info. */
struct metric {
	const char *name;
	enum metric_kind kind;
	const char *unit; /* "" = none */
	const char *help;
};

struct metrics {
	struct buf *b; /* borrowed */
	enum metrics_form form;
	const struct metric *family;
	bool is_headed; /* the family's head is written */
	size_t series, max, left_out;
};

/* A NULL name ends them; a label with the value NULL or "" is left out. */
struct metric_label {
	const char *name, *value;
};

/* Returns the media type of a scraper's Accept and of Content-Type. */
const char *metrics_type(enum metrics_form form);

/* max: further samples (with times of creation) are only counted in left_out. */
void metrics_init(struct metrics *m, struct buf *b, enum metrics_form form, size_t max);

/* A family without samples is not written. */
void metrics_family(struct metrics *m, const struct metric *family);

/* NaN means that the value is not known: nothing is written. */
void metrics_sample(struct metrics *m, const struct metric_label *labels, double v);

/* The same for a counter, with the wall time in seconds from which it counts; 0: not known. */
void metrics_count(struct metrics *m, const struct metric_label *labels, double v, double since);

/* Raises the limit for samples that must not be cut. */
void metrics_raise(struct metrics *m, size_t more);

void metrics_end(struct metrics *m);

#endif
