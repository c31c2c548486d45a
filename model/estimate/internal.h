/* SPDX-License-Identifier: Apache-2.0 */
/* For the files of this room. */
#ifndef MODEL_ESTIMATE_INTERNAL_H
#define MODEL_ESTIMATE_INTERNAL_H

#include "model/estimate/estimate.h"

/* The services that take part: column i is service which[i]. */
struct estimate_columns {
	size_t k;
	size_t which[LEAST_COLUMNS_MAX];
};

/* Sets the demands and intervals from least squares; variance: of a row. */
void estimate_take(const struct least *l, const struct estimate_columns *c, const double *x,
		   double variance, struct estimate *out);

/* Begin with a known solution x for the columns; they replace it. */
int estimate_generalised(const struct periods *p, const struct estimate_columns *c, double *x,
			 struct estimate *out, struct err *e);

int estimate_constant(const struct periods *p, const struct estimate_columns *c,
		      struct estimate *out, struct err *e);

#endif
