/* SPDX-License-Identifier: Apache-2.0 */
#include "lm/proc/tickbase.h"

#define CALIBRATE_NS (2 * NSEC_PER_MSEC)
#define REFINE_NS NSEC_PER_SEC /* two points a second apart: the rate is known to some 1e-7 */

void tickbase_init(struct tickbase *t)
{
	*t = (struct tickbase){ .monotonic = { .mult = 1, .source = TICKS_MONOTONIC } };
	/* Ignores OMIG_TICKS in our environment: it is for the clock of a rank. */
	t->has_tsc = !ticks_calibrate(&t->tsc, TICKS_TSC, CALIBRATE_NS);
	if (t->has_tsc)
		ticks_sample(TICKS_TSC, &t->first_ticks, &t->first_ns);
	t->refined_at = t->first_ns;
}

static void refine(struct tickbase *t)
{
	uint64_t ticks[2] = { t->first_ticks, 0 };
	nsec_t ns[2] = { t->first_ns, 0 };
	struct ticks_scale better;

	if (clock_mono() - t->refined_at < REFINE_NS)
		return;
	ticks_sample(TICKS_TSC, &ticks[1], &ns[1]);
	t->refined_at = ns[1];
	if (ticks_scale_from_points(&better, ticks, ns))
		return;
	better.source = TICKS_TSC;
	t->tsc = better;
}

const struct ticks_scale *tickbase_scale(struct tickbase *t, uint32_t source)
{
	if (source != TICKS_TSC || !t->has_tsc)
		return &t->monotonic;
	refine(t);
	return &t->tsc;
}

uint64_t tickbase_now(const struct tickbase *t, uint32_t source)
{
	return ticks_now(source == TICKS_TSC && t->has_tsc ? TICKS_TSC : TICKS_MONOTONIC);
}
