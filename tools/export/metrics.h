/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text of OpenMetrics 1.0.0, or of the older form 0.0.4 without units, times of creation and an
 * end. Families come one after the other, each with its samples.
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

/* A NULL name ends them; one whose value is NULL or "" is left out. */
struct metric_label {
	const char *name, *value;
};

/* What a scraper sends as Accept and Content-Type. */
const char *metrics_type(enum metrics_form form);

/* max: samples (with times of creation) beyond it are counted in left_out instead. */
void metrics_init(struct metrics *m, struct buf *b, enum metrics_form form, size_t max);

/* A family without samples leaves no trace. */
void metrics_family(struct metrics *m, const struct metric *family);

/* NaN says that the value is not known: nothing is written. */
void metrics_sample(struct metrics *m, const struct metric_label *labels, double v);

/* As above for a counter, with the wall time in seconds that it counts from; 0: not known. */
void metrics_count(struct metrics *m, const struct metric_label *labels, double v, double since);

/* What the limit may not take away: how much it took. */
void metrics_raise(struct metrics *m, size_t more);

void metrics_end(struct metrics *m);

#endif
