/* SPDX-License-Identifier: Apache-2.0 */
#include "common/omis/text/value.h"

#include <math.h>
#include <string.h>

static bool text_equal(const struct omis_value *a, const struct omis_value *b)
{
	return a->s.n == b->s.n && !memcmp(a->s.p, b->s.p, a->s.n);
}

static bool list_equal(const struct omis_value *a, const struct omis_value *b)
{
	if (a->list.n != b->list.n)
		return false;
	/*
	 * The depth is limited by the parser (OMIS_DEPTH_MAX), or by the code that made the value.
	 */
	for (size_t i = 0; i < a->list.n; i++)
		if (!omis_value_equal(&a->list.v[i], &b->list.v[i]))
			return false;
	return true;
}

bool omis_value_equal(const struct omis_value *a, const struct omis_value *b)
{
	if (a->kind != b->kind)
		return false;
	switch (a->kind) {
	case OMIS_INT:
		return a->i == b->i;
	case OMIS_FLOAT:
		return (isnan(a->f) && isnan(b->f)) ||
		       (a->f == b->f && !signbit(a->f) == !signbit(b->f));
	case OMIS_LIST:
		return list_equal(a, b);
	case OMIS_STRING:
	case OMIS_TOKEN:
	case OMIS_BINARY:
	case OMIS_ECP:
		return text_equal(a, b);
	}
	return false;
}

bool omis_value_i64(const struct omis_value *v, int64_t *out)
{
	if (v->kind != OMIS_INT)
		return false;
	*out = v->i;
	return true;
}

bool omis_value_double(const struct omis_value *v, double *out)
{
	if (v->kind == OMIS_FLOAT)
		*out = v->f;
	else if (v->kind == OMIS_INT)
		*out = (double)v->i;
	else
		return false;
	return true;
}

const char *omis_value_text(const struct omis_value *v, size_t *n)
{
	if (v->kind != OMIS_STRING && v->kind != OMIS_TOKEN && v->kind != OMIS_BINARY)
		return NULL;
	if (n)
		*n = v->s.n;
	return v->s.p;
}

bool omis_values_i64(const struct omis_values *v, size_t i, int64_t *out)
{
	return i < v->n && omis_value_i64(&v->v[i], out);
}

const char *omis_values_text(const struct omis_values *v, size_t i)
{
	return i < v->n ? omis_value_text(&v->v[i], NULL) : NULL;
}
