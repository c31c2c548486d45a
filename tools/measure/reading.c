/* SPDX-License-Identifier: Apache-2.0 */
/* One read of a measurement, and the values in it. */
#include "common/base/str.h"
#include "tools/measure/measurement.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOST "lost" /* FLOW_LOST's name */

/* What came before the gap is not in it: the flag that hosts have for what they have lost. */
static void add_lost(struct measured *s)
{
	size_t n = strlen(s->flags);

	if (!strstr(s->flags, LOST))
		snprintf(s->flags + n, sizeof(s->flags) - n, "%s" LOST, n ? "," : "");
}

/* A value of dfg_has_read. */
enum {
	VALUE_OBJECT,
	VALUE_KEY,
	VALUE_VALUE, /* or the buckets of a histogram */
	VALUE_ERROR,
	VALUE_TIME,
	VALUE_OLDEST,
	VALUE_NEWEST,
	VALUE_K,
	VALUE_N,
	VALUE_FLAGS,
	VALUE_WITH
};

static struct measured measured_from(const Omis_value *v)
{
	const Omis_value *value = value_at(v, VALUE_VALUE);
	struct measured s = { .object = value_text(v, VALUE_OBJECT),
			      .key = value_int(v, VALUE_KEY),
			      .value = value_float(v, VALUE_VALUE),
			      .error = value_float(v, VALUE_ERROR),
			      .time = value_int(v, VALUE_TIME),
			      .oldest = value_int(v, VALUE_OLDEST),
			      .newest = value_int(v, VALUE_NEWEST),
			      .k = value_int(v, VALUE_K),
			      .n = value_int(v, VALUE_N),
			      .with = value_text(v, VALUE_WITH),
			      .buckets = value && value->kind == OMIS_VALUE_LIST ? value : NULL };

	str_copy(s.flags, sizeof(s.flags), value_text(v, VALUE_FLAGS));
	return s;
}

struct measured measured_at(const struct reading *r, size_t part, size_t i)
{
	struct measured s = measured_from(&r->part[part]->list[i]);

	if (r->is_cut)
		add_lost(&s);
	return s;
}

int64_t reading_number(const struct reading *r)
{
	return r->before + value_int(r->part[0], 1);
}

void reading_free(struct reading *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->npart; i++)
		omis_value_free(r->part[i]);
	free(r->part);
	free(r);
}
