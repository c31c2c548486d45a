/* SPDX-License-Identifier: Apache-2.0 */
/* Gains of counters and integrators over a time, and stored potential increments. */
#include "lm/instrument/pa_internal.h"

static double integral_now(struct pa *a, const struct pa_cell *c)
{
	struct pa_integral v;

	pa_integrator_value(a, c, &v);
	return v.integral;
}

static void mark(struct pa *a, const struct pa_object *o, struct pa_cell *c)
{
	c->mark_time = pa_now(a);
	if (o->is_integrator)
		c->mark_integral = integral_now(a, c);
	else
		c->mark_n = pa_counter_value(c);
}

void pa_gain_start(struct pa *a, struct pa_cell *c)
{
	c->start = c->mark_time = pa_now(a);
	c->mark_n = 0;
	c->mark_integral = 0;
}

void pa_gain_go_on(struct pa *a, const struct pa_object *o, struct pa_cell *c)
{
	c->start = pa_base_time(a, c);
	mark(a, o, c);
}

void pa_gain(struct pa *a, const struct pa_object *o, struct pa_cell *c, bool since_last,
	     struct pa_gain *out)
{
	*out = (struct pa_gain){ .from = since_last ? c->mark_time : c->start, .to = pa_now(a) };
	if (o->is_integrator)
		out->integral = integral_now(a, c) - (since_last ? c->mark_integral : 0);
	else
		out->n = (int64_t)((uint64_t)pa_counter_value(c) -
				   (since_last ? (uint64_t)c->mark_n : 0));
	if (since_last)
		mark(a, o, c);
}

/*
 * Adds a potential increment. There is one per process, because the thread of the call is unknown
 * here. A call with an accepted partner ends another call's potential increment.
 */
void pa_patop_add(struct pa_object *o, struct pa_cell *c, double delta, double time, bool potential)
{
	bool was_set = c->potential.is_set;

	c->potential.is_set = potential;
	if (potential) {
		c->potential.delta = delta;
		c->potential.time = time;
		return;
	}
	if (was_set && delta < 0)
		pa_integrator_add(o, c, c->potential.delta, c->potential.time);
	pa_integrator_add(o, c, delta, time);
}
