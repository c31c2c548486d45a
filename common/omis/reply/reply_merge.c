/* SPDX-License-Identifier: Apache-2.0 */
/* Merges entries of one action, from all sources, into as few as possible. */
#include "common/omis/reply/reply.h"

#include "common/base/array.h"
#include "common/base/err.h"
#include "common/omis/services/catalogue.h"
#include "common/omis/text/arena.h"

#include <stdlib.h>
#include <string.h>

/* A reply of one host mostly has one entry for each action, for which no memory is allocated. */
#define FEW 4

struct item {
	struct reply_entry e;
	size_t at; /* original index, for the order of equal entries */
};

struct merging {
	struct reply *r;
	struct item *v; /* all entries, sorted by action */
	size_t n;
	struct reply_entry *out; /* room for all entries, and one more for each action */
	size_t nout;
};

static void sort(struct item *v, size_t n, int (*order)(const void *, const void *))
{
	if (n > 1)
		qsort(v, n, sizeof(*v), order);
}

static int by_at(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	return (x->at > y->at) - (x->at < y->at);
}

static int by_action(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	int order = (x->e.action > y->e.action) - (x->e.action < y->e.action);

	return order ? order : by_at(a, b);
}

/* True for a part of a sum: the entry of a single object that is not in the hierarchy. */
static bool is_sum(const struct reply_entry *e)
{
	return e->status == STATUS_OK && !strncmp(e->objects, "pa_", 3) && !strchr(e->objects, ',');
}

/* Parts of one sum are adjacent. Errors of that object follow. */
static int by_objects(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	int order = strcmp(x->e.objects, y->e.objects);

	if (!order)
		order = is_sum(&y->e) - is_sum(&x->e);
	return order ? order : by_at(a, b);
}

static int compare_result(const struct reply_entry *x, const struct reply_entry *y)
{
	if (x->status != y->status)
		return x->status > y->status ? 1 : -1;
	if (x->nvalue != y->nvalue)
		return x->nvalue > y->nvalue ? 1 : -1;
	return memcmp(x->value, y->value, x->nvalue);
}

static int by_result(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	int order = compare_result(&x->e, &y->e);

	return order ? order : by_at(a, b);
}

/* --- sums over branches, of objects that are not in the hierarchy */

static bool add_counts(struct omis_value *to, const struct omis_value *v)
{
	int64_t sum;
	double a, b;

	if (to->kind == OMIS_INT && v->kind == OMIS_INT &&
	    !__builtin_add_overflow(to->i, v->i, &sum)) {
		to->i = sum;
		return true;
	}
	if (!omis_value_double(to, &a) || !omis_value_double(v, &b))
		return false;
	to->kind = OMIS_FLOAT;
	to->f = a + b;
	return true;
}

/* Adds integrators at the later of their times: I increases by v per second. */
static bool add_integrators(struct omis_value to[3], const struct omis_value v[3])
{
	double a[3], b[3], t;

	for (int i = 0; i < 3; i++)
		if (!omis_value_double(&to[i], &a[i]) || !omis_value_double(&v[i], &b[i]))
			return false;
	t = a[2] > b[2] ? a[2] : b[2];
	to[0].f = a[0] + a[1] * (t - a[2]) + b[0] + b[1] * (t - b[2]);
	to[1].f = a[1] + b[1];
	to[2].f = t;
	for (int i = 0; i < 3; i++)
		to[i].kind = OMIS_FLOAT;
	return true;
}

/* Adds numbers or rates over the same time, except for the differences between answers of hosts. */
static bool add_measures(struct omis_value to[3], const struct omis_value v[3])
{
	double a[3], b[3];

	for (int i = 0; i < 3; i++)
		if (!omis_value_double(&to[i], &a[i]) || !omis_value_double(&v[i], &b[i]))
			return false;
	if (!add_counts(&to[0], &v[0]))
		return false;
	to[1] = (struct omis_value){ .kind = OMIS_FLOAT, .f = a[1] < b[1] ? a[1] : b[1] };
	to[2] = (struct omis_value){ .kind = OMIS_FLOAT, .f = a[2] > b[2] ? a[2] : b[2] };
	return true;
}

static bool add_values(enum omis_merge how, struct omis_values *to, const struct omis_values *v)
{
	if (how == OMIS_MERGE_INTEGRATOR)
		return to->n == 3 && v->n == 3 && add_integrators(to->v, v->v);
	if (how == OMIS_MERGE_MEASURE)
		return to->n == 3 && v->n == 3 && add_measures(to->v, v->v);
	return to->n == 1 && v->n == 1 && add_counts(&to->v[0], &v->v[0]);
}

static int print_values(struct merging *m, const struct omis_values *v, struct reply_entry *e)
{
	struct buf b = BUF_INIT(REPLY_MAX_BYTES);
	struct omis_writer w = OMIS_WRITER(&b);
	char *text;

	for (size_t i = 0; i < v->n; i++)
		omis_write_value(&w, &v->v[i]);
	text = b.failed ? NULL : arena_copy(m->r->arena, buf_str(&b), b.n);
	if (text) {
		e->value = text;
		e->nvalue = b.n;
	}
	buf_done(&b);
	return text ? 0 : -ERR_NOMEM;
}

/*
 * Adds the value of `from` to that of `to`. *added is false if they are not sums: then both remain.
 */
static int add_entry(struct merging *m, enum omis_merge how, struct reply_entry *to,
		     const struct reply_entry *from, bool *added)
{
	struct omis_values *a = NULL, *b = NULL;
	int rc = omis_parse_values(to->value, to->nvalue, &a, NULL);

	*added = false;
	if (!rc)
		rc = omis_parse_values(from->value, from->nvalue, &b, NULL);
	if (!rc && add_values(how, a, b)) {
		rc = print_values(m, a, to);
		*added = !rc;
	}
	omis_values_free(a);
	omis_values_free(b);
	return rc == -ERR_NOMEM ? rc : 0;
}

static int sum_up(struct merging *m, enum omis_merge how, struct item *v, size_t *n)
{
	size_t kept = 0;
	bool added;
	int rc;

	sort(v, *n, by_objects);
	for (size_t i = 0; i < *n; i++) {
		added = false;
		if (kept && is_sum(&v[i].e) && !strcmp(v[i].e.objects, v[kept - 1].e.objects)) {
			rc = add_entry(m, how, &v[kept - 1].e, &v[i].e, &added);
			if (rc)
				return rc;
		}
		if (!added)
			v[kept++] = v[i];
	}
	*n = kept;
	sort(v, *n, by_at);
	return 0;
}

/* --- equal results */

/* Merges n equal results, which are in order: v[0] gets the objects of all of them. */
static int join(struct merging *m, struct item *v, size_t n)
{
	size_t length = 0, len;
	char *all, *at;

	for (size_t i = 0; i < n; i++)
		length += strlen(v[i].e.objects) + 1;
	all = at = arena_alloc(m->r->arena, length + 1);
	if (!all)
		return -ERR_NOMEM;
	for (size_t i = 0; i < n; i++) {
		len = strlen(v[i].e.objects);
		if (len && at > all)
			*at++ = ',';
		memcpy(at, v[i].e.objects, len);
		at += len;
	}
	v[0].e.objects = all;
	return 0;
}

static int join_equal(struct merging *m, struct item *v, size_t *n)
{
	size_t kept = 0, end;
	int rc = 0;

	sort(v, *n, by_result);
	for (size_t i = 0; !rc && i < *n; i = end) {
		for (end = i + 1; end < *n && !compare_result(&v[i].e, &v[end].e);)
			end++;
		if (end - i > 1)
			rc = join(m, &v[i], end - i);
		v[kept++] = v[i];
	}
	*n = kept;
	sort(v, *n, by_at);
	return rc;
}

/* --- one action */

static void put(struct merging *m, const struct reply_entry *e)
{
	m->out[m->nout++] = *e;
}

static int merge_action(struct merging *m, const struct omis_service *s, uint32_t action,
			struct item *v, size_t n)
{
	const struct reply_entry fine = {
		.action = action, .status = STATUS_OK, .objects = "", .value = ""
	};
	bool is_fine = !n && !reply_is_partial(m->r);
	size_t kept = 0;
	int rc = 0;

	if (s && !s->result) {
		for (size_t i = 0; i < n; i++) {
			if (v[i].e.status == STATUS_OK)
				is_fine = true;
			else
				v[kept++] = v[i];
		}
		n = kept;
	}
	if (s && s->merge != OMIS_MERGE_LIST)
		rc = sum_up(m, s->merge, v, &n);
	if (!rc)
		rc = join_equal(m, v, &n);
	for (size_t i = 0; i < n; i++)
		put(m, &v[i].e);
	if (is_fine)
		put(m, &fine);
	return rc;
}

static size_t count_action(const struct merging *m, size_t at, uint32_t action)
{
	size_t end = at;

	while (end < m->n && m->v[end].e.action == action)
		end++;
	return end - at;
}

/* Keeps entries of no action of the request (0, or an error) unchanged. */
static size_t pass_until(struct merging *m, size_t at, uint32_t action)
{
	while (at < m->n && m->v[at].e.action < action)
		put(m, &m->v[at++].e);
	return at;
}

static int merge_all(struct merging *m, const struct omis_request *request, const uint32_t *numbers)
{
	size_t at = 0, n;
	uint32_t action;
	int rc = 0;

	for (size_t i = 0; !rc && i < request->naction; i++) {
		action = numbers ? numbers[i] : (uint32_t)i + 1;
		at = pass_until(m, at, action);
		n = count_action(m, at, action);
		rc = merge_action(m, request->action[i].service, action, &m->v[at], n);
		at += n;
	}
	while (!rc && at < m->n)
		put(m, &m->v[at++].e);
	return rc;
}

static int merge_entries(struct merging *m, const struct omis_request *request,
			 const uint32_t *numbers)
{
	for (size_t i = 0; i < m->n; i++)
		m->v[i] = (struct item){ m->r->entry[i], i };
	sort(m->v, m->n, by_action);
	return merge_all(m, request, numbers);
}

int reply_merge(struct reply *r, const struct omis_request *request, const uint32_t *numbers)
{
	struct item v[FEW];
	struct reply_entry out[FEW];
	struct merging m = { .r = r, .v = v, .n = r->nentry, .out = out };
	size_t room = r->nentry + request->naction;
	int rc = array_grow(&r->entry, &r->cap, room, sizeof(*r->entry), room);

	if (rc)
		return rc;
	if (room > FEW) {
		m.v = calloc(room, sizeof(*m.v));
		m.out = calloc(room, sizeof(*m.out));
	}
	rc = m.v && m.out ? merge_entries(&m, request, numbers) : -ERR_NOMEM;
	if (!rc) {
		memcpy(r->entry, m.out, m.nout * sizeof(*m.out));
		r->nentry = m.nout;
	}
	if (room > FEW) {
		free(m.v);
		free(m.out);
	}
	return rc;
}
