/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Distributions with two given moments (Tijms, Stochastic Models, 1994). Below a coefficient of
 * variation of 1 that is a mixture of two Erlang distributions with neighbouring stages.
 */
#include "model/simulate/internal.h"

#include <math.h>

#define STAGES_MAX 100 /* a cv of 0.1; less counts as constant */

void shape_init(struct shape *s, double cv2)
{
	double k = ceil(1 / fmax(cv2, 1e-9) - 1e-9);

	*s = (struct shape){ .law = { .kind = LAW_CONSTANT, .cv = sqrt(cv2) } };
	if (cv2 == 1) {
		s->law.kind = LAW_EXPONENTIAL;
	} else if (cv2 > 1) {
		s->law.kind = LAW_HYPEREXPONENTIAL;
	} else if (k <= STAGES_MAX) {
		s->law.kind = LAW_ERLANG;
		s->law.stages = (unsigned)k;
		s->shorter = (k * cv2 - sqrt(fmax(k * (1 + cv2) - k * k * cv2, 0))) / (1 + cv2);
		s->shorter = fmax(s->shorter, 0);
	}
}

double shape_draw(const struct shape *s, struct rng *r)
{
	struct law law = s->law;

	if (law.kind != LAW_ERLANG)
		return law_draw(&law, r);
	law.stages -= s->shorter > 0 && rng_double(r) < s->shorter;
	return law_draw(&law, r) * law.stages / (s->law.stages - s->shorter);
}
