/* SPDX-License-Identifier: Apache-2.0 */
/* Sorts the values of a read in the usual order. */
#include "tools/measure/measurement.h"

#include "common/base/str.h"

#include <stdlib.h>
#include <string.h>

struct keyed {
	struct measured value;
	struct object_name object, with;
	size_t place; /* place of the value in the read */
};

static void look_up(const struct measurement *m, const char *token, struct object_name *out)
{
	if (!measurement_name(m, token, out))
		*out = (struct object_name){
			.token = token, .parent = "", .name = token, .job = "", .rank = -1
		};
}

/* Values of all objects first, then objects by job, rank and name. */
static int compare_names(const struct object_name *a, const struct object_name *b)
{
	int d = strverscmp(a->job, b->job);

	if (d)
		return d;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	d = strverscmp(a->name, b->name);
	return d ? d : strcmp(a->token, b->token);
}

static int compare(const void *pa, const void *pb)
{
	const struct keyed *a = pa, *b = pb;
	int d = compare_names(&a->object, &b->object);

	if (!d)
		d = compare_names(&a->with, &b->with);
	if (!d)
		d = strcmp(a->value.in, b->value.in);
	if (d)
		return d;
	if (a->value.key != b->value.key)
		return a->value.key < b->value.key ? -1 : 1;
	return a->place < b->place ? -1 : a->place > b->place;
}

static size_t count_of(const struct reading *r)
{
	size_t n = 0;

	for (size_t p = 0; p < r->npart; p++)
		n += r->part[p]->n - READ_VALUES;
	return n;
}

int measurement_each(const struct measurement *m, const struct reading *r,
		     void (*fn)(void *arg, const struct measured *v), void *arg)
{
	size_t n = 0, all = count_of(r);
	struct keyed *k = calloc(all + 1, sizeof(*k));

	if (!k)
		return cmd_fail(CMD_FAILURE, "out of memory");
	for (size_t p = 0; p < r->npart; p++)
		for (size_t i = READ_VALUES; i < r->part[p]->n; i++, n++) {
			k[n].value = measured_at(r, p, i);
			k[n].place = n;
			look_up(m, k[n].value.object, &k[n].object);
			look_up(m, k[n].value.with, &k[n].with);
		}
	qsort(k, n, sizeof(*k), compare);
	for (size_t i = 0; i < n; i++)
		fn(arg, &k[i].value);
	free(k);
	return CMD_OK;
}
