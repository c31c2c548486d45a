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

static bool is_known(const struct measurement *m, const char *name)
{
	for (unsigned i = 0; i < m->nregion; i++)
		if (str_eq(m->region[i], name))
			return true;
	return false;
}

static int add(struct measurement *m, const char *name)
{
	if (is_known(m, name))
		return CMD_OK;
	if (m->nregion == MEASUREMENT_REGIONS_MAX)
		return cmd_fail(CMD_FAILURE,
				"the programs have more than %d regions: choose some with --region",
				MEASUREMENT_REGIONS_MAX);
	m->region[m->nregion] = str_dup(name);
	return m->region[m->nregion++] ? CMD_OK : cmd_fail(CMD_FAILURE, "out of memory");
}

static int add_beginning_with(struct measurement *m, const Omis_value *probes, const char *begin)
{
	struct region r;
	int rc = CMD_OK;

	for (unsigned way = 0; way < REGION_WAYS && rc == CMD_OK; way++)
		if (region_from_begin(begin, way, &r) && has_probe(probes, r.end))
			rc = add(m, r.name);
	return rc;
}

static int add_of_process(struct measurement *m, const Omis_value *probes)
{
	int rc = CMD_OK;

	for (size_t i = 1; i < probes->n && rc == CMD_OK; i++)
		rc = add_beginning_with(m, probes, value_text(&probes->list[i], 0));
	return rc;
}

static bool is_by_mount(const struct measurement *m)
{
	int id = m->options->file ? -1 : pmsl_builtin_find(m->options->metric);
	struct pmsl_builtin b;

	return id >= 0 && pmsl_builtin_get((unsigned)id, &b) && b.is_by_mount;
}

int measurement_regions(struct measurement *m)
{
	Omis_reply r;
	int rc;

	if (is_by_mount(m))
		return cmd_fail(CMD_USAGE, "%s by region: name them: " PMSL_BUILTIN_MOUNTS,
				m->options->metric);
	rc = session_ask(&r, ":proc_get_probes([])");
	if (rc != CMD_OK)
		return rc;
	for (const Omis_object_result *o = r[0] ? r[1] : NULL; o && o->obj_list && rc == CMD_OK;
	     o++) {
		Omis_value *v = o->status < OMIS_FIRST_ERROR && o->result
					? omis_value_parse(o->result, o->result_len)
					: NULL;

		if (v)
			rc = add_of_process(m, v);
		omis_value_free(v);
	}
	omis_reply_free(r);
	if (rc != CMD_OK || m->nregion)
		return rc;
	return cmd_fail(CMD_NOTFOUND,
			"no process has two probes that make a region, as NAME_begin and NAME_end; "
			"--region BEGIN..END takes any two (omig probes --list)");
}

void measurement_regions_free(struct measurement *m)
{
	for (unsigned i = 0; i < m->nregion; i++)
		free(m->region[i]);
	m->nregion = 0;
}
