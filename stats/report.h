/* SPDX-License-Identifier: Apache-2.0 */
/* The results of a quantity, as text for people, CSV and JSON. Nothing is rounded in CSV and JSON.
 */
#ifndef STATS_REPORT_H
#define STATS_REPORT_H

#include "common/base/buf.h"
#include "common/json/json.h"
#include "stats/quantity.h"

#define REPORT_QUANTILES_MAX 32
#define REPORT_LAGS_MAX 1000

struct report_options {
	double level; /* level of the intervals */
	double quantile[REPORT_QUANTILES_MAX]; /* each of 0..1 */
	unsigned nquantile;
	unsigned lags; /* autocorrelation from lag 1 to this one; requires stored values */
	bool histogram;
	unsigned bins; /* number of bins of the histogram; 0 = automatic */
	bool cdf; /* in JSON: pairs of a value and the share of values up to it, ascending */
};

/* Level 0.95; the quartiles, and 5, 95 and 99 %. */
extern const struct report_options report_usual;

/* Writes a line with the quantity's name, lines `  name   value`, and its warnings at the end. */
void report_text(struct quantity *q, const struct report_options *w, struct buf *out);

/*
 * Write a line of column names, and one line per quantity, without lags and histogram. Columns
 * depend on w alone.
 */
void report_csv_head(const struct report_options *w, struct buf *out);
void report_csv(struct quantity *q, const struct report_options *w, struct buf *out);

/* Writes an object; null for undefined statistics. */
void report_json(struct quantity *q, const struct report_options *w, struct json *out);

/* Writes a name or a unit as a cell of CSV: quoted if needed. */
void report_csv_text(const char *s, struct buf *out);

#endif
