/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/str.h"
#include "pmsl/check/builtin.h"
#include "tools/session/session.h"
#include "tools/why/report.h"

#include <stdio.h>
#include <string.h>

static void add(struct commands *c, const char *line)
{
	for (size_t i = 0; i < c->n; i++)
		if (str_eq(c->line[i], line))
			return;
	if (c->n < COMMANDS_MAX)
		str_copy(c->line[c->n++], COMMANDS_BYTES, line);
}

/* " --job NAME"; "" for a name that a shell would change. */
static const char *job_of(const struct report *r, char out[COMMANDS_BYTES])
{
	out[0] = '\0';
	if (r->job[0] && session_is_plain(r->job) && !strpbrk(r->job, " \t$`\\\"'*?[]()<>|&;!~#"))
		snprintf(out, COMMANDS_BYTES, " --job %s", r->job);
	return out;
}

/* A present value has no rate. */
static bool is_total(const char *metric)
{
	int id = pmsl_builtin_find(metric);
	struct pmsl_builtin b;

	return id >= 0 && pmsl_builtin_get((unsigned)id, &b) && b.is_total;
}

static void add_measure(const struct report *r, const char *metric, struct commands *out)
{
	char line[COMMANDS_BYTES], job[COMMANDS_BYTES];

	snprintf(line, sizeof(line), "omig measure %s --by process%s --count 3%.100s", metric,
		 is_total(metric) ? " --since-last --rate" : "", job_of(r, job));
	add(out, line);
}

static void add_waits(const struct report *r, struct commands *out)
{
	char line[COMMANDS_BYTES], job[COMMANDS_BYTES];

	snprintf(line, sizeof(line), "omig waits%.100s", job_of(r, job));
	add(out, line);
}

static void add_cause(const struct report *r, enum why_id id, struct commands *out)
{
	const char *evidence = why_hypothesis(id)->evidence;

	if (evidence)
		add_measure(r, evidence, out);
	if (id == WHY_C2)
		add(out, "omig measure Node_foreign_cpu --by node --count 3");
	if (id == WHY_C3) {
		add_measure(r, "Throttled_time", out);
		add(out, "omig measure Node_steal --by node --since-last --rate --count 3");
	}
	if (id == WHY_C4)
		add(out, "omig measure Node_memory_pressure --by node --count 3");
	if (id == WHY_C5)
		add(out, "omig measure Node_io_pressure --by node --count 3");
}

void commands_of(const struct report *r, const struct why_finding *f, struct commands *out)
{
	const char *evidence = why_hypothesis(f->id)->evidence;

	*out = (struct commands){ 0 };
	if (evidence)
		add_measure(r, evidence, out);
	if (f->npair || !evidence || f->id == WHY_W5 || f->id == WHY_W6)
		add_waits(r, out);
	for (size_t i = 0; i < f->ncause; i++)
		add_cause(r, f->cause[i].id, out);
}
