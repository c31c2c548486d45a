/* SPDX-License-Identifier: Apache-2.0 */
#include "eventlog/lifeline/lifewords.h"

#include "common/base/array.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

char *lifewords_time(char *out, nsec_t ns)
{
	static const struct {
		double ns;
		const char *name;
	} unit[] = { { 1e9, "s" }, { 1e6, "ms" }, { 1e3, "\xc2\xb5s" }, { 1, "ns" } };
	unsigned i = 0;
	double v;
	int digits;

	while (i + 1 < ARRAY_LEN(unit) && fabs((double)ns) < unit[i].ns * 0.9995)
		i++;
	v = (double)ns / unit[i].ns;
	digits = fabs(v) >= 99.95 ? 0 : fabs(v) >= 9.995 ? 1 : 2;
	snprintf(out, LIFEWORDS_TIME_BYTES, "%.*f %s", unit[i].ns <= 1 ? 0 : digits, v,
		 unit[i].name);
	return out;
}

char *lifewords_count(char *out, uint64_t n)
{
	char plain[24];
	size_t len = (size_t)snprintf(plain, sizeof(plain), "%" PRIu64, n), at = 0;

	for (size_t i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			out[at++] = ',';
		out[at++] = plain[i];
	}
	out[at] = '\0';
	return out;
}

const char *lifewords_verdict(const struct life_model *m, struct buf *before, struct buf *behind)
{
	char median[LIFEWORDS_TIME_BYTES], p95[LIFEWORDS_TIME_BYTES], n[LIFEWORDS_TIME_BYTES + 8];
	const struct life_step *s = m->step;

	if (!m->nstep) {
		buf_puts(before,
			 m->nline ? "No line has two events, so that no step can be measured."
				  : "No event has a key: there are no lifelines.");
		return NULL;
	}
	buf_puts(before, "Slowest: ");
	buf_printf(behind, ", %.1f %% of the time of all lines: median %s, p95 %s, n = %s.",
		   s->share * 100, lifewords_time(median, s->median), lifewords_time(p95, s->p95),
		   lifewords_count(n, s->n));
	return s->name;
}

void lifewords_facts(const struct life_model *m, const char *key, struct buf *out)
{
	char n[LIFEWORDS_TIME_BYTES + 8], start[CLOCK_TEXT_BYTES];

	buf_printf(out, "%s events", lifewords_count(n, m->events));
	buf_printf(out, ", %s lifelines by %s", lifewords_count(n, m->nline), key);
	if (m->nline)
		buf_printf(out, " (%s complete)", lifewords_count(n, m->complete));
	buf_printf(out, ", %u stages", m->nstage);
	buf_printf(out, ", over %s", lifewords_time(n, m->end - m->start));
	buf_printf(out, " from %s", clock_format_rfc3339(start, m->start, 6));
	if (m->outside)
		buf_printf(out, "; %s events are outside of the requested part",
			   lifewords_count(n, m->outside));
}

void lifewords_doubts(const struct life_model *m, struct buf *out)
{
	char n[LIFEWORDS_TIME_BYTES + 8];

	if (m->backward)
		buf_printf(
			out,
			"%s lines go against the order of the stages: stages overlap or are repeated, clocks differ, or --stages has "
			"another order.",
			lifewords_count(n, m->backward));
	if (m->unshown)
		buf_printf(
			out,
			"%s%s events belong to stages or loads beyond the limit of a page (%d of each).",
			out->n ? " " : "", lifewords_count(n, m->unshown), LIFE_STAGES_MAX);
}
