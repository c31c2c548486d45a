/* SPDX-License-Identifier: Apache-2.0 */
/* Detects that all processes of a measurement have ended and no others may start. */
#include "tools/measure/measurement.h"
#include "tools/measure/measurement_ended.h"

#include <math.h>
#include <string.h>

#define LOOK_NS NSEC_PER_SEC /* interval of reading the tree */

static bool has_flag(const char *flags, const char *name)
{
	size_t n = strlen(name);

	for (const char *at = flags; at; at = strchr(at, ',')) {
		at += *at == ',';
		if (!strncmp(at, name, n) && (at[n] == ',' || !at[n]))
			return true;
	}
	return false;
}

/* True if no value of the read was taken while its process ran. */
static bool is_quiet(const struct measurement *m, const struct reading *r)
{
	int64_t until = value_int(r->part[0], READ_UNTIL);

	for (size_t p = 0; p < r->npart; p++)
		for (size_t i = READ_VALUES; i < r->part[p]->n; i++) {
			struct measured s = measured_at(r, p, i);

			if (!isnan(s.value) && (!has_flag(s.flags, "ended") ||
						s.newest > until - m->options->every_ns))
				return false;
		}
	return true;
}

/*
 * True if processes of the requested job are running. Sets has_run once any of them has been
 * seen.
 */
static bool has_running(struct measurement *m)
{
	bool any = false;

	for (size_t i = 0; m->tree && i < m->tree->n; i++)
		any |= measurement_is_running(m, i);
	m->has_run |= any;
	return any;
}

bool measurement_is_too_late(struct measurement *m)
{
	const struct measurement_options *w = m->options;

	return w->job && m->is_of_processes && !w->count && !w->for_ns && !m->has_run &&
	       !has_running(m);
}

bool measurement_has_ended(struct measurement *m, const struct reading *r)
{
	nsec_t now = clock_mono();

	if (!m->is_of_processes || m->csr.gap.since)
		return false;
	if (!m->has_run)
		has_running(m);
	if (!is_quiet(m, r) || now < m->polled_at + LOOK_NS)
		return false;
	m->polled_at = now;
	measurement_poll_tree(m);
	return !has_running(m) && m->has_run;
}
