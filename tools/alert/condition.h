/* SPDX-License-Identifier: Apache-2.0 */
/* Conditions of omig alert: "imbalance > 30 % for 1m". */
#ifndef TOOLS_ALERT_CONDITION_H
#define TOOLS_ALERT_CONDITION_H

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/err.h"

#include <stdbool.h>

#define CONDITION_TEXT_BYTES 1024
#define CONDITION_FOR_MAX_NS (INT64_C(7) * 86400 * NSEC_PER_SEC)

enum condition_kind {
	CONDITION_METRIC, /* a built-in metric, of all processes or nodes together */
	CONDITION_EXPRESSION, /* of each process; the greatest (or least) one counts */
	CONDITION_IMBALANCE,
	CONDITION_MPI,
	CONDITION_RSS,
	CONDITION_SILENT,
	CONDITION_HANG,
};

struct condition {
	enum condition_kind kind;
	char text[CONDITION_TEXT_BYTES]; /* the metric or the expression, as it was written */
	char unit[16]; /* unit as written; "" */
	const char *op; /* one of < <= > >= */
	double threshold; /* in the unit that values have */
	double scale; /* a value divided by it is in `unit` */
	bool per_second;
	nsec_t for_ns; /* time for which it must hold; 0: one value is enough */
};

/*
 * ERR_PARSE: e->col is the position in the text, from 1, and the text has the nearest name if there
 * is one.
 */
int condition_parse(const char *text, struct condition *out, struct err *e);

/* True if the condition holds above its threshold, not below. */
bool condition_is_above(const struct condition *c);

/*
 * Writes the PMSL text that computes it, "" for a built-in metric, whose name is *name then.
 * every_ns: the interval of its values. *out reports failure.
 */
void condition_metric(const struct condition *c, nsec_t every_ns, struct buf *out,
		      const char **name);

#define CONDITION_VALUE_BYTES 64
/* "34 %", "1.2 GB/s". Returns out. */
char *condition_value(const struct condition *c, double v, char out[CONDITION_VALUE_BYTES]);

/* "imbalance", "Send_volume". */
const char *condition_name(const struct condition *c);

#endif
