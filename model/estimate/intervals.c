/* SPDX-License-Identifier: Apache-2.0 */
#include "model/estimate/internal.h"
#include "stats/student.h"

#include <math.h>

#define ROUNDING 1e-9 /* of sums of requests: an exact fit has no smaller interval */

static void set_interval(struct estimate_service *s, double demand, double half)
{
	if (s->state != ESTIMATE_KNOWN)
		return;
	if (half < ROUNDING * fabs(demand))
		half = ROUNDING * fabs(demand);
	s->demand = demand;
	s->low = demand - half;
	s->high = demand + half;
}

void estimate_take(const struct least *l, const struct estimate_columns *c, const double *x,
		   double variance, struct estimate *out)
{
	double error[LEAST_COLUMNS_MAX], t = student_two_sided(out->level, out->df);

	least_errors(l, error);
	for (size_t j = 0; j < c->k; j++)
		set_interval(&out->service[c->which[j]], x[j], t * sqrt(variance) * error[j]);
}
