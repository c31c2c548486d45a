/* SPDX-License-Identifier: Apache-2.0 */
/* A read of a measurement and its values. */
#include "common/base/str.h"
#include "tools/measure/measurement.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOST "lost" /* FLOW_LOST's name */

/* Sets the flag that hosts use for lost data: the values before the gap are missing. */
static void add_lost(struct measured *s)
{
	size_t n = strlen(s->flags);

	if (!strstr(s->flags, LOST))
		snprintf(s->flags + n, sizeof(s->flags) - n, "%s" LOST, n ? "," : "");
}

/* True for a list of values with their objects; false for the buckets of a histogram. */
static bool is_of_objects(const Omis_value *list)
{
	return list->n && list->list[0].kind == OMIS_VALUE_LIST && list->list[0].n &&
	       list->list[0].list[0].kind == OMIS_VALUE_TOKEN;
}

/* Takes a value that is a list. */
static void take_list(struct measured *s, const Omis_value *list)
{
	if (!is_of_objects(list)) {
		s->buckets = list;
		return;
	}
	s->objects = list;
	s->value = omis_list_float(&list->list[0], 1);
}

static struct measured measured_from(const Omis_value *v)
{
	const Omis_value *value = omis_list_at(v, VALUE_VALUE);
	struct measured s = { .object = omis_list_text(v, VALUE_OBJECT),
			      .key = omis_list_int(v, VALUE_KEY),
			      .value = omis_list_float(v, VALUE_VALUE),
			      .error = omis_list_float(v, VALUE_ERROR),
			      .time = omis_list_int(v, VALUE_TIME),
			      .oldest = omis_list_int(v, VALUE_OLDEST),
			      .newest = omis_list_int(v, VALUE_NEWEST),
			      .k = omis_list_int(v, VALUE_K),
			      .n = omis_list_int(v, VALUE_N),
			      .with = omis_list_text(v, VALUE_WITH),
			      .in = omis_list_text(v, VALUE_IN) };

	if (value && value->kind == OMIS_VALUE_LIST)
		take_list(&s, value);
	str_copy(s.flags, sizeof(s.flags), omis_list_text(v, VALUE_FLAGS));
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
	return r->before + omis_list_int(r->part[0], READ_NUMBER);
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
