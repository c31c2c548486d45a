/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measurements with a rule: the counts of the stop nodes of their graphs, and the decision that
 * the values are enough.
 */
#include "common/base/array.h"
#include "common/base/str.h"
#include "mainsm/measure/measure_internal.h"
#include "pmsl/plan/bind.h"

#include <stdlib.h>

void measure_count(struct measure *m, const struct flow_result *r)
{
	struct measure_counted c = { .output = r->output,
				     .is_enough = r->is_enough,
				     .dependence = r->dependence };

	if (!r->a || !agg_kind_powers(r->a->kind) ||
	    array_grow(&m->counted, &m->capcounted, m->ncounted + 1, sizeof(c), BIND_OUTPUTS_MAX))
		return;
	c.moments = agg_moments(r->a);
	m->counted[m->ncounted++] = c;
}

static const char *object_of(const struct measure *m, const struct measure_counted *c)
{
	return m->plan && c->output < m->plan->nlabel ? m->plan->label[c->output] : "";
}

static bool has_ended(const struct measure *m, const struct measure_counted *c)
{
	const struct object *o = directory_find(m->session->view.directory, object_of(m, c));

	return o && o->kind == OBJECT_PROC && o->state == MSG_STATE_ENDED;
}

bool measure_has_enough(const struct measure *m)
{
	bool some = false;

	for (size_t i = 0; i < m->ncounted; i++) {
		const struct measure_counted *c = &m->counted[i];

		if (!c->is_enough && !has_ended(m, c))
			return false;
		some |= c->is_enough;
	}
	return some;
}

static void write_counted(const struct measure *m, const struct measure_counted *c,
			  struct omis_writer *w)
{
	omis_write_list(w);
	if (object_of(m, c)[0])
		omis_write_token(w, object_of(m, c));
	else
		omis_write_string(w, "");
	if (m->plan && c->output < m->plan->nlabel && m->plan->with[c->output])
		omis_write_token(w, m->plan->with[c->output]);
	else
		omis_write_string(w, "");
	omis_write_int(w, (int64_t)c->moments.n);
	omis_write_float(w, moments_mean(&c->moments));
	omis_write_float(w, moments_variance(&c->moments));
	omis_write_int(w, c->is_enough);
	omis_write_int(w, c->dependence == DEPENDENCE_NEIGHBOURS);
	omis_write_list_end(w);
}

void measure_write_until(const struct measure *m, struct omis_writer *w)
{
	if (!m->asked.until)
		return;
	omis_write_string(w, m->asked.until);
	omis_write_int(w, m->has_enough);
	for (size_t i = 0; i < m->ncounted; i++)
		write_counted(m, &m->counted[i], w);
}
