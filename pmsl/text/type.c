/* SPDX-License-Identifier: Apache-2.0 */
#include "pmsl/text/type.h"

#include <stdio.h>
#include <string.h>

static const struct {
	const char *name;
	bool is_written; /* texts may use the name */
} kinds[PMSL_KINDS] = {
	[PMSL_T_NONE] = { "nothing", false },
	[PMSL_T_VALUE] = { "Value", true },
	[PMSL_T_BOOL] = { "truth", false },
	[PMSL_T_HISTOGRAM] = { "histogram", false },
	[PMSL_T_RANKING] = { "value with its object", false },
	[PMSL_T_PROCESS] = { "Process", true },
	[PMSL_T_NODE] = { "Node", true },
	[PMSL_T_SITE] = { "Site", true },
	[PMSL_T_REGION] = { "Region", true },
	[PMSL_T_VT] = { "VirtualTime", true },
	[PMSL_T_INTERVAL] = { "TimeInterval", true },
	[PMSL_T_TIME] = { "PointOfTime", true },
	[PMSL_T_KEY] = { "number of a virtual time", false },
	[PMSL_T_CHOICE] = { "choice of virtual times", false },
};

enum pmsl_kind pmsl_kind_find(const char *name, size_t n)
{
	for (unsigned k = 0; k < PMSL_KINDS; k++)
		if (kinds[k].is_written && strlen(kinds[k].name) == n &&
		    !memcmp(kinds[k].name, name, n))
			return (enum pmsl_kind)k;
	/* The grammar of the language writes Region in capitals. */
	return n == 6 && !memcmp(name, "REGION", 6) ? PMSL_T_REGION : PMSL_T_NONE;
}

const char *pmsl_kind_name(enum pmsl_kind k)
{
	return kinds[k].name;
}

const char *pmsl_type_name(struct pmsl_type t, char out[PMSL_TYPE_BYTES])
{
	int n = snprintf(out, PMSL_TYPE_BYTES, "%s", kinds[t.kind].name);

	for (unsigned i = 0; i < t.dims && n + 3 < PMSL_TYPE_BYTES; i++)
		n += snprintf(out + n, PMSL_TYPE_BYTES - (size_t)n, "[]");
	return out;
}

bool pmsl_is_result(enum pmsl_kind k)
{
	return k == PMSL_T_HISTOGRAM || k == PMSL_T_RANKING;
}

bool pmsl_is_object(enum pmsl_kind k)
{
	return k == PMSL_T_PROCESS || k == PMSL_T_NODE || k == PMSL_T_SITE;
}
