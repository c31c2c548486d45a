/* SPDX-License-Identifier: Apache-2.0 */
/* Distributions with two given moments. */
#include "model/queue/source.h"
#include "model/simulate/internal.h"

#include <math.h>

void shape_init(struct shape *s, double cv2)
{
	struct stages mixed = stages_of(fmin(cv2, 1));

	*s = (struct shape){ .law = { .kind = LAW_CONSTANT, .cv = sqrt(cv2) } };
	if (cv2 == 1) {
		s->law.kind = LAW_EXPONENTIAL;
	} else if (cv2 > 1) {
		s->law.kind = LAW_HYPEREXPONENTIAL;
	} else if (mixed.longer) {
		s->law.kind = LAW_ERLANG;
		s->law.stages = mixed.longer;
		s->shorter = mixed.shorter;
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
