/* SPDX-License-Identifier: Apache-2.0 */
/* The values that a tool reads of a measurement of measured_hosts.h. */
#ifndef TESTS_UNIT_MAINSM_MEASURE_MEASURED_VALUES_H
#define TESTS_UNIT_MAINSM_MEASURE_MEASURED_VALUES_H

#include "tests/unit/mainsm/measure/measured_hosts.h"

static unsigned events(void)
{
	return above_count(&t, STATUS_CSR_TRIGGERED);
}

/* The values of the last read, as text. */
static const char *last(void)
{
	const struct reply *r = above_last(&t, STATUS_CSR_TRIGGERED);

	ck_assert_ptr_nonnull(r);
	return entry_of(r, 1, 0)->value;
}

struct value {
	char object[24], flags[64];
	double value;
	int64_t key, k, n;
};

/* Value number i of the last read. */
static struct value value_at(size_t i)
{
	struct omis_values *v = NULL;
	const struct omis_value *f, *list;
	struct value out;

	ck_assert_int_eq(omis_parse_values(last(), strlen(last()), &v, NULL), 0);
	/* print() puts the number of its values first; a list in a list is spliced into it. */
	list = &v->v[3];
	ck_assert_msg(list->kind == OMIS_LIST && list->list.n == 10, "%s", last());
	list = &v->v[3 + i];
	ck_assert_msg(list->kind == OMIS_LIST, "no value %zu in %s", i, last());
	f = list->list.v;
	str_copy(out.object, sizeof(out.object), f[0].s.p);
	str_copy(out.flags, sizeof(out.flags), f[9].s.p);
	ck_assert(omis_value_i64(&f[1], &out.key) && omis_value_double(&f[2], &out.value));
	ck_assert(omis_value_i64(&f[7], &out.k) && omis_value_i64(&f[8], &out.n));
	omis_values_free(v);
	return out;
}

#endif
