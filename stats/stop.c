/* SPDX-License-Identifier: Apache-2.0 */
#include "stats/stop.h"

#include "stats/interval.h"
#include "stats/student.h"

int stop_on_interval(struct stop *s, double level, double width, struct err *e)
{
	double z = normal_two_sided(level);

	if (isnan(z))
		return err_set(e, ERR_INVALID, "a level is between %g and %.9f, 0.95 for instance",
			       STUDENT_LEVEL_MIN, STUDENT_LEVEL_MAX);
	if (!(width > 0 && width < 1))
		return err_set(e, ERR_INVALID,
			       "a width relative to the mean is between 0 and 1 (100%%)");
	*s = (struct stop){ .n = 1,
			    .term[0] = { .kind = STOP_ON_INTERVAL,
					 .level = level,
					 .width = width,
					 .is_relative = true,
					 .count_min = STOP_COUNT_MIN,
					 .z = z } };
	return 0;
}

bool stop_has_interval(const struct stop *s)
{
	for (unsigned i = 0; i < s->n; i++)
		if (s->term[i].kind == STOP_ON_INTERVAL)
			return true;
	return false;
}

bool stop_has_batches(const struct stop *s)
{
	for (unsigned i = 0; i < s->n; i++)
		if (s->term[i].kind == STOP_ON_INTERVAL && s->term[i].by_batches)
			return true;
	return false;
}

/* Returns the largest permitted half-width of the interval. */
static double half_allowed(const struct stop_term *t, double mean)
{
	if (!t->is_relative)
		return t->width;
	switch (t->reading) {
	case STOP_LAW_KELTON:
		return fabs(mean) * t->width / (1 + t->width);
	case STOP_PRINTED:
		return mean * t->width / (1 - t->width);
	case STOP_PLAIN:
		return fabs(mean) * t->width;
	}
	return NAN;
}

static bool is_narrow(const struct stop_term *t, const struct moments *m)
{
	double allowed = half_allowed(t, moments_mean(m));

	if (m->n < 2 || t->z * sqrt(moments_variance(m) / (double)m->n) > allowed)
		return false;
	return interval_of_mean(m, t->level).half <= allowed;
}

static bool holds(const struct stop_term *t, const struct moments *m, const struct batches *b)
{
	struct moments means;

	if (t->kind == STOP_ON_COUNT)
		return m->n >= t->count;
	if (m->n < t->count_min)
		return false;
	if (!t->by_batches)
		return is_narrow(t, m);
	batches_moments(b, &means);
	return is_narrow(t, &means) && batches_are_long(b, m) && batches_are_independent(b);
}

bool stop_is_reached(const struct stop *s, const struct moments *m, const struct batches *b)
{
	bool all = s->n > 0;

	for (unsigned i = 0; i < s->n; i++) {
		if (s->term[i].is_alternative) {
			if (all)
				return true;
			all = true;
		}
		all = all && holds(&s->term[i], m, b);
	}
	return all;
}
