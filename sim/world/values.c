/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/world/values.h"

#include "common/base/str.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* of a value: object, read, value, bound, time, oldest, newest, k, n, flags */
#define FIELDS 10

static bool read_times(const struct omis_value *v, struct value *out)
{
	return omis_value_i64(&v[4], &out->time) && omis_value_i64(&v[5], &out->oldest) &&
	       omis_value_i64(&v[6], &out->newest);
}

static bool read_value(const struct omis_value *list, struct value *out)
{
	const struct omis_value *v =
		list->kind == OMIS_LIST && list->list.n >= FIELDS ? list->list.v : NULL;
	const char *object = v ? omis_value_text(&v[0], NULL) : NULL,
		   *flags = v ? omis_value_text(&v[9], NULL) : NULL;

	if (!object || !flags)
		return false;
	str_copy(out->object, sizeof(out->object), object);
	str_copy(out->flags, sizeof(out->flags), flags);
	return omis_value_i64(&v[1], &out->read) && omis_value_double(&v[2], &out->value) &&
	       omis_value_double(&v[3], &out->bound) && read_times(v, out) &&
	       omis_value_i64(&v[7], &out->k) && omis_value_i64(&v[8], &out->n);
}

/* head: number and end of the read. */
static int take(const struct omis_value *head, const struct omis_value *v, size_t n,
		struct values *out)
{
	struct values vs = { 0 };

	if (!omis_value_i64(&head[0], &vs.read) || !omis_value_i64(&head[1], &vs.until))
		return -ERR_PARSE;
	vs.v = calloc(n + 1, sizeof(*vs.v));
	if (!vs.v)
		return -ERR_NOMEM;
	for (; vs.n < n; vs.n++)
		if (!read_value(&v[vs.n], &vs.v[vs.n])) {
			free(vs.v);
			return -ERR_PARSE;
		}
	*out = vs;
	return 0;
}

int values_parse(const char *text, struct values *out)
{
	struct omis_values *l = NULL;
	int rc = omis_parse_values(text, strlen(text), &l, NULL);

	if (!rc)
		rc = l->n == 3 && l->v[2].kind == OMIS_LIST
			     ? take(l->v, l->v[2].list.v, l->v[2].list.n, out)
			     : -ERR_PARSE;
	omis_values_free(l);
	return rc;
}

int values_parse_print(const char *text, struct values *out)
{
	struct omis_values *l = NULL;
	int rc = omis_parse_values(text, strlen(text), &l, NULL);

	if (!rc)
		rc = l->n >= 3 ? take(l->v + 1, l->v + 3, l->n - 3, out) : -ERR_PARSE;
	omis_values_free(l);
	return rc;
}

void values_done(struct values *vs)
{
	free(vs->v);
	*vs = (struct values){ 0 };
}

static bool value_has_flag(const struct value *v, const char *name)
{
	size_t n = strlen(name);

	for (const char *at = v->flags; (at = strstr(at, name)); at += n)
		if ((at == v->flags || at[-1] == ',') && (!at[n] || at[n] == ','))
			return true;
	return false;
}

bool value_is_within(const struct value *v, double least, double most)
{
	return v->value + v->bound >= least && v->value - v->bound <= most;
}

const char *value_fault(const struct values *vs, const struct value *v)
{
	if (v->read != vs->read)
		return "belongs to another read";
	if (v->k > v->n || v->k < 0)
		return "has more contributors than there are";
	if ((v->k < v->n) != value_has_flag(v, "partial"))
		return "has a wrong flag `partial`";
	if (isnan(v->value) && !v->flags[0])
		return "is missing without a reason";
	if (!(v->bound >= 0))
		return "has a bound below 0";
	return v->oldest > v->newest || v->oldest > v->time || v->time > v->newest
		       ? "is not between its oldest and newest data"
		       : NULL;
}
