/* SPDX-License-Identifier: Apache-2.0 */
#include "common/route/predicate.h"

#include "common/base/array.h"
#include "common/base/str.h"
#include "common/omis/services/catalogue.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RATE_MIN 1e-6 /* one event in eleven days; the time of a lower rate would overflow */
#define RATE_MAX 1e6 /* more events than a daemon can report in a second */

/* The state of one predicate. */
struct predicate {
	/* omig_every: number of all events; omig_at_most: events that passed after `since` */
	uint64_t n;
	nsec_t since;
};

struct predicates {
	const struct omis_request *r;
	size_t leading;
	struct predicate state[]; /* by action */
};

static const char *const ops[] = { "==", "!=", "<", "<=", ">", ">=" };

bool predicate_is(const struct omis_call *call)
{
	return call->service && call->service->where == OMIS_AT_EVENT;
}

static bool op_of(const struct omis_value *v, enum predicate_op *out)
{
	const char *text = omis_value_text(v, NULL);

	for (size_t i = 0; text && i < ARRAY_LEN(ops); i++)
		if (str_eq(text, ops[i])) {
			*out = (enum predicate_op)i;
			return true;
		}
	return false;
}

/* Sets order to -1, 0 or 1. Returns false if the values have no order. */
static bool compare_numbers(const struct omis_value *a, const struct omis_value *b, int *order)
{
	double x, y;

	if (a->kind == OMIS_INT && b->kind == OMIS_INT) {
		*order = (a->i > b->i) - (a->i < b->i);
		return true;
	}
	if (!omis_value_double(a, &x) || !omis_value_double(b, &y) || isnan(x) || isnan(y))
		return false;
	*order = (x > y) - (x < y);
	return true;
}

static bool compare_texts(const struct omis_value *a, const struct omis_value *b, int *order)
{
	size_t n, m;
	const char *p = omis_value_text(a, &n), *q = omis_value_text(b, &m);

	if (!p || !q)
		return false;
	*order = memcmp(p, q, n < m ? n : m);
	if (!*order)
		*order = (n > m) - (n < m);
	return true;
}

static bool holds(const struct omis_value *a, enum predicate_op op, const struct omis_value *b)
{
	int order;

	if (!compare_numbers(a, b, &order) && !compare_texts(a, b, &order))
		return op == PREDICATE_NE;
	switch (op) {
	case PREDICATE_EQ:
		return order == 0;
	case PREDICATE_NE:
		return order != 0;
	case PREDICATE_LT:
		return order < 0;
	case PREDICATE_LE:
		return order <= 0;
	case PREDICATE_GT:
		return order > 0;
	case PREDICATE_GE:
		return order >= 0;
	}
	return false;
}

static bool passes_if(const struct omis_value *param)
{
	enum predicate_op op;

	return op_of(&param[1], &op) && holds(&param[0], op, &param[2]);
}

static bool passes_every(struct predicate *f, const struct omis_value *param)
{
	int64_t n;

	return omis_value_i64(&param[0], &n) && n > 0 && ++f->n % (uint64_t)n == 0;
}

static bool passes_at_most(struct predicate *f, const struct omis_value *param, nsec_t now)
{
	double rate = 0;
	nsec_t period = NSEC_PER_SEC;
	uint64_t most = 1;

	omis_value_double(&param[0], &rate);
	if (rate < 1)
		period = (nsec_t)((double)NSEC_PER_SEC / rate);
	else
		most = (uint64_t)rate;
	if (!f->n || now - f->since >= period) {
		f->since = now;
		f->n = 0;
	}
	if (f->n >= most)
		return false;
	f->n++;
	return true;
}

static bool passes(struct predicate *f, const char *name, const struct omis_value *param,
		   nsec_t now)
{
	if (str_eq(name, "omig_if"))
		return passes_if(param);
	if (str_eq(name, "omig_every"))
		return passes_every(f, param);
	return passes_at_most(f, param, now);
}

/* Returns NULL if the event has no such parameter. */
static const struct omis_value *value_of(const struct omis_value *v, const struct omis_ecps *ecps)
{
	if (v->kind != OMIS_ECP)
		return v;
	for (size_t i = 0; i < ecps->n; i++)
		if (str_eq(ecps->v[i].name, v->s.p))
			return &ecps->v[i].value;
	return NULL;
}

static bool asks(struct predicates *f, size_t i, const struct omis_ecps *ecps, nsec_t now)
{
	const struct omis_call *call = &f->r->action[i];
	struct omis_value param[OMIS_PARAMS_MAX];

	for (size_t k = 0; k < call->nparam; k++) {
		const struct omis_value *v = value_of(&call->param[k], ecps);

		if (!v)
			return false;
		param[k] = *v;
	}
	return passes(&f->state[i], call->name, param, now);
}

size_t predicates_leading(const struct predicates *f)
{
	return f ? f->leading : 0;
}

bool predicates_pass(struct predicates *f, const struct omis_ecps *ecps, nsec_t now)
{
	for (size_t i = 0; i < predicates_leading(f); i++)
		if (!asks(f, i, ecps, now))
			return false;
	return true;
}

bool predicate_passes(struct predicates *f, size_t i, const struct omis_call *bound, nsec_t now)
{
	return f && i < f->r->naction && passes(&f->state[i], bound->name, bound->param, now);
}

void predicates_continue(struct predicates *f, const struct predicates *from)
{
	for (size_t i = 0; f && from && i < f->r->naction && i < from->r->naction; i++)
		f->state[i] = from->state[i];
}

/* --- checks of parameters */

static int check_if(const struct omis_call *call, struct err *e)
{
	enum predicate_op op;

	if (op_of(&call->param[1], &op))
		return 0;
	return err_set(e, ERR_INVALID,
		       "omig_if compares with \"==\" \"!=\" \"<\" \"<=\" \">\" \">=\"");
}

static int check_every(const struct omis_call *call, struct err *e)
{
	int64_t n;

	if (omis_value_i64(&call->param[0], &n) && n > 0)
		return 0;
	return err_set(e, ERR_INVALID, "omig_every takes a number from 1 up");
}

static int check_at_most(const struct omis_call *call, struct err *e)
{
	double rate;

	if (omis_value_double(&call->param[0], &rate) && rate >= RATE_MIN && rate <= RATE_MAX)
		return 0;
	return err_set(e, ERR_INVALID, "omig_at_most takes a number a second, from 1e-6 to 1e6");
}

static int check(const struct omis_call *call, struct err *e)
{
	if (!predicate_is(call))
		return 0;
	if (str_eq(call->name, "omig_if"))
		return check_if(call, e);
	return str_eq(call->name, "omig_every") ? check_every(call, e) : check_at_most(call, e);
}

int predicates_new(const struct omis_request *r, struct predicates **out, struct err *e)
{
	struct predicates *f;
	size_t n = 0;
	int rc = 0;

	*out = NULL;
	for (size_t i = 0; !rc && i < r->naction; i++) {
		rc = check(&r->action[i], e);
		n += predicate_is(&r->action[i]);
	}
	if (rc || !n)
		return rc;
	f = calloc(1, sizeof(*f) + r->naction * sizeof(f->state[0]));
	if (!f)
		return err_nomem(e);
	f->r = r;
	while (f->leading < r->naction && predicate_is(&r->action[f->leading]))
		f->leading++;
	*out = f;
	return 0;
}

void predicates_free(struct predicates *f)
{
	free(f);
}

bool predicates_simple(const struct predicates *f, struct predicate_test *out)
{
	const struct omis_value *param;
	int par;

	if (predicates_leading(f) != 1 || !str_eq(f->r->action[0].name, "omig_if"))
		return false;
	param = f->r->action[0].param;
	if (param[0].kind != OMIS_ECP || !omis_value_double(&param[2], &out->value))
		return false;
	par = omis_par_number(param[0].s.p, param[0].s.n);
	out->par = (unsigned)par;
	return par >= 1 && op_of(&param[1], &out->op);
}
