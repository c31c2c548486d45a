/* SPDX-License-Identifier: Apache-2.0 */
/* Regions that the programs have, by the names of their probes: for requests without a name. */
#include "common/base/str.h"
#include "common/omis/text/value.h"
#include "common/ring/region.h"
#include "pmsl/check/builtin.h"
#include "tools/measure/measurement.h"

#include <stdlib.h>
#include <string.h>

/* [n, [name, types]...] of one process, from proc_get_probes(). */
static bool has_probe(const Omis_value *probes, const char *name)
{
	for (size_t i = 1; i < probes->n; i++)
		if (str_eq(value_text(&probes->list[i], 0), name))
			return true;
	return false;
}

struct found {
	measurement_region_fn fn;
	void *arg;
	const char *processes;
};

static void each_beginning_with(const struct found *f, const Omis_value *probes, const char *begin)
{
	struct region r;

	for (unsigned way = 0; way < REGION_WAYS; way++)
		if (region_from_begin(begin, way, &r) && has_probe(probes, r.end))
			f->fn(f->arg, f->processes, &r);
}

static void each_of_process(struct found *f, const Omis_object_result *o)
{
	Omis_value *v = o->status < OMIS_FIRST_ERROR && o->result
				? omis_value_parse(o->result, o->result_len)
				: NULL;

	f->processes = o->obj_list;
	for (size_t i = 1; v && i < v->n; i++)
		each_beginning_with(f, v, value_text(&v->list[i], 0));
	omis_value_free(v);
}

int measurement_regions_each(measurement_region_fn fn, void *arg)
{
	struct found f = { .fn = fn, .arg = arg };
	Omis_reply r;
	int rc = session_ask(&r, ":proc_get_probes([])");

	if (rc != CMD_OK)
		return rc;
	for (const Omis_object_result *o = r[0] ? r[1] : NULL; o && o->obj_list; o++)
		each_of_process(&f, o);
	omis_reply_free(r);
	return CMD_OK;
}

struct adding {
	struct measurement *m;
	int rc;
};

static bool is_known(const struct measurement *m, const char *name)
{
	for (unsigned i = 0; i < m->nregion; i++)
		if (str_eq(m->region[i], name))
			return true;
	return false;
}

static void add(void *arg, const char *processes, const struct region *r)
{
	struct adding *a = arg;
	struct measurement *m = a->m;

	if (a->rc != CMD_OK || is_known(m, r->name))
		return;
	if (m->nregion == MEASUREMENT_REGIONS_MAX) {
		a->rc = cmd_fail(CMD_FAILURE,
				 "the programs have more than %d regions: choose some with "
				 "--region",
				 MEASUREMENT_REGIONS_MAX);
		return;
	}
	m->region[m->nregion] = str_dup(r->name);
	a->rc = m->region[m->nregion++] ? CMD_OK : cmd_fail(CMD_FAILURE, "out of memory");
}

static bool is_by_mount(const struct measurement *m)
{
	int id = m->options->file ? -1 : pmsl_builtin_find(m->options->metric);
	struct pmsl_builtin b;

	return id >= 0 && pmsl_builtin_get((unsigned)id, &b) && b.is_by_mount;
}

int measurement_no_regions(void)
{
	return cmd_fail(CMD_NOTFOUND,
			"no process has two probes that make a region, as NAME_begin and NAME_end; "
			"--region BEGIN..END takes any two (omig probes --list)");
}

int measurement_regions(struct measurement *m)
{
	struct adding a = { m, CMD_OK };
	int rc;

	if (is_by_mount(m))
		return cmd_fail(CMD_USAGE, "%s by region: name them: " PMSL_BUILTIN_MOUNTS,
				m->options->metric);
	rc = measurement_regions_each(add, &a);
	if (rc == CMD_OK)
		rc = a.rc;
	return rc != CMD_OK || m->nregion ? rc : measurement_no_regions();
}

void measurement_regions_free(struct measurement *m)
{
	for (unsigned i = 0; i < m->nregion; i++)
		free(m->region[i]);
	m->nregion = 0;
}
