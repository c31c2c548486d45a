/* SPDX-License-Identifier: Apache-2.0 */
#include "why/tested.h"

#include "why/search.h"

#include <math.h>

#define ALPHA_SHOWN 0.05 /* of intervals that users see */

void tested_add(struct tested *t, const struct why_loss *loss, double threshold)
{
	if (loss->reason)
		return;
	eprocess_add_share(&t->e, loss->low, threshold);
	sequence_add(&t->sequence, loss->low);
	moments_add(&t->low, loss->low);
	moments_add(&t->high, loss->high);
	t->held += loss->low >= threshold;
	t->is_lower_bound = t->is_lower_bound || loss->high > loss->low;
}

bool tested_has_passed(const struct tested *t, double alpha, double threshold)
{
	double low, high;

	sequence_bounds(&t->sequence, ALPHA_SHOWN, &low, &high);
	return eprocess_p(t->e.log_sup) <= alpha && low >= threshold / 2 && t->held >= WHY_HELD_MIN;
}

bool tested_is_ruled_out(const struct tested *t, double threshold)
{
	return t->high.n >= TESTED_RULED_OUT_MIN &&
	       moments_mean(&t->high) + sequence_width(&t->high, ALPHA_SHOWN) < threshold;
}

struct why_range tested_severity(const struct tested *t)
{
	double low = moments_mean(&t->low), high = moments_mean(&t->high);

	return (struct why_range){
		.value = low,
		.low = fmax(low - sequence_width(&t->low, ALPHA_SHOWN), 0),
		.high = fmin(high + sequence_width(&t->high, ALPHA_SHOWN), 1),
	};
}
