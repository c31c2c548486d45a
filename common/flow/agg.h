/* SPDX-License-Identifier: Apache-2.0 */
/* Aggregates: what a set of values becomes. */
#ifndef COMMON_FLOW_AGG_H
#define COMMON_FLOW_AGG_H

#include <stdbool.h>

enum agg_kind {
	AGG_COUNT,
	AGG_SUM,
	AGG_MIN,
	AGG_MAX,
	AGG_PROD,
	AGG_MEAN,
	AGG_STDEV, /* of the values themselves: the root of M2 / n */
	AGG_UNIQUE,
	AGG_QUANTILE,
	AGG_HISTOGRAM,
	AGG_NKINDS
};

/* "MEAN"; NULL for a number that is no kind. */
const char *agg_kind_name(enum agg_kind kind);
/* The kind of that name in upper case; false: there is none. */
bool agg_kind_find(const char *name, enum agg_kind *out);

/* It needs a sketch: some kilobytes instead of a few numbers. */
static inline bool agg_kind_has_sketch(enum agg_kind kind)
{
	return kind == AGG_QUANTILE || kind == AGG_HISTOGRAM;
}

#endif
