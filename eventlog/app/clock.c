/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records have ticks, and each block defines their scale by two points. The first point is one to
 * two seconds old: long enough for a good slope, short enough to follow a slewed clock. The second
 * point is now. The wall clock is read when the log is opened; later times are monotonic.
 */
#include "eventlog/app/log.h"

uint64_t omig_event_clock(void)
{
	return (uint64_t)clock_mono();
}

void log_clock_start(struct log_state *s)
{
	s->ticks = ticks_source_best();
	ticks_sample(s->ticks, &s->point_ticks[0], &s->point_ns[0]);
	s->wall_ahead = (uint64_t)(clock_wall() - clock_mono());
	s->point_ticks[1] = s->point_ticks[0];
	s->point_ns[1] = s->point_ns[0];
	/*
	 * The scale is 1 GHz until there are two points. No reader uses it, because blocks are
	 * written after the second point.
	 */
	s->scale = (struct ticks_scale){ .base_ticks = s->point_ticks[0],
					 .base_ns = s->point_ns[0],
					 .mult = 1,
					 .source = s->ticks };
	s->scale.base_ns += (nsec_t)s->wall_ahead;
}

void log_clock_look(struct log_state *s)
{
	uint64_t ticks[2] = { s->point_ticks[0] };
	nsec_t ns[2] = { s->point_ns[0] };
	struct ticks_scale scale;

	ticks_sample(s->ticks, &ticks[1], &ns[1]);
	if (s->ticks == TICKS_TSC && !ticks_scale_from_points(&scale, ticks, ns)) {
		s->scale = scale;
		s->scale.source = s->ticks;
		s->scale.base_ns += (nsec_t)s->wall_ahead;
	}
	if (ns[1] - s->point_ns[1] >= NSEC_PER_SEC) {
		s->point_ticks[0] = s->point_ticks[1];
		s->point_ns[0] = s->point_ns[1];
		s->point_ticks[1] = ticks[1];
		s->point_ns[1] = ns[1];
	}
}
