/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/pmsl/walk.h"

#include "common/base/array.h"
#include "common/base/str.h"
#include "stats/student.h"

#include <math.h>

nsec_t walk_read_time(unsigned r)
{
	return (nsec_t)(r < WALK_READS ? r : r + WALK_READS) * 10 * INT64_C(1000000000);
}

/* The number of a value, NaN where there is none. */
struct answer {
	double v;
	double with; /* of a pair the second */
	double time; /* time of the latest data, NaN: none */
	bool is_excluded;
	unsigned round; /* round in which the last of its events was reported */
};

static struct answer walk(struct walk *w, uint32_t node);

const struct bind_range walk_list[WALK_RANGES] = { { 2, 2 }, { 5, 8 }, { 11, 11 } };

static struct answer constant(double v)
{
	return (struct answer){ .v = v, .time = NAN };
}

static struct answer no_value(void)
{
	return (struct answer){ .v = NAN, .time = NAN };
}

static struct answer walk_source(struct walk *w, const struct dag_node *n)
{
	unsigned span = w->g->node[n->in[n->nin - 1]].op;
	unsigned p = n->objects >= 0 ? w->run[w->g->node[n->in[n->objects]].variable] : 0;

	if (str_eq(n->name, "Time"))
		return constant((double)w->log->event[w->rank][w->vt].time / 1e9);
	if (w->rank >= 0)
		return constant(w->log->event[w->rank][w->vt].sent);
	if (span == DAG_AS_MEASURED && w->since == FLOW_SINCE_LAST && w->read > 1)
		return constant(w->log->sent_at_read[p][w->read] -
				w->log->sent_at_read[p][w->read - 1]);
	return constant(w->log->sent_at_read[p][w->read]);
}

static struct answer walk_at(struct walk *w, const struct dag_node *n)
{
	const struct dag_node *probe = &w->g->node[n->in[1]], *vt = &w->g->node[probe->in[1]];
	int rank = (int)w->run[w->g->node[probe->in[0]].variable];
	int64_t at = (int64_t)w->run[vt->variable] - vt->shift;
	struct answer a;

	if (at < 1 || at > WALK_VTS || w->log->event[rank][at].is_lost)
		return no_value();
	w->rank = rank;
	w->vt = (int)at;
	a = walk(w, n->in[0]);
	a.time = (double)w->log->event[rank][at].time;
	a.round = w->log->event[rank][at].round;
	w->rank = -1;
	return a;
}

static double apply(unsigned op, double a, double b)
{
	switch (op) {
	case PMSL_ADD:
		return a + b;
	case PMSL_SUB:
		return a - b;
	case PMSL_MUL:
		return a * b;
	case PMSL_DIV:
		return a / b;
	case PMSL_MOD:
		return fmod(a, b);
	case PMSL_GT:
		return a > b;
	case PMSL_LT:
		return a < b;
	case PMSL_EQ:
		return a == b;
	case PMSL_NE:
		return a != b;
	case PMSL_LE:
		return a <= b;
	case PMSL_GE:
		return a >= b;
	case PMSL_NOT:
		return a == 0;
	case PMSL_AND:
		return a != 0 && b != 0;
	default:
		return a != 0 || b != 0;
	}
}

/* Everything that an operation takes must be there: an IF, too, fires when all of it is. */
static struct answer walk_op(struct walk *w, const struct dag_node *n)
{
	struct answer a = walk(w, n->in[0]), b = n->nin > 1 ? walk(w, n->in[1]) : constant(0);
	struct answer c = n->kind == DAG_IF ? walk(w, n->in[2]) : b;

	if (isnan(a.v) || isnan(b.v) || isnan(c.v))
		return no_value();
	if (n->kind == DAG_IF)
		a.v = a.v != 0 ? b.v : c.v;
	else
		a.v = apply(n->op, a.v, b.v);
	a.time = fmax(fmax(a.time, b.time), c.time);
	a.round = b.round > a.round ? b.round : a.round;
	a.round = c.round > a.round ? c.round : a.round;
	return a;
}

/* --- folds */

#define VALUES_MAX (WALK_PROCS * (WALK_VTS + 4))

struct tally {
	double sum, min, max;
	double v[VALUES_MAX], with[VALUES_MAX]; /* with: the second of a pair */
	unsigned n, nexcluded;
};

static void count(struct tally *t, double v, double with)
{
	t->v[t->n] = v;
	t->with[t->n] = with;
	t->min = t->n && t->min < v ? t->min : v;
	t->max = t->n && t->max > v ? t->max : v;
	t->sum += v;
	t->n++;
}

/* The mean of the k-th powers of distances to the mean, which are distances to the first value
 * first. */
static double power(const struct tally *t, int k)
{
	long double mean = 0, sum = 0;

	for (unsigned i = 0; i < t->n; i++)
		mean += (long double)(t->v[i] - t->v[0]) / t->n;
	for (unsigned i = 0; i < t->n; i++)
		sum += powl((long double)(t->v[i] - t->v[0]) - mean, k) / t->n;
	return (double)sum;
}

/* The mean of the products of distances to the means. */
static double product(const struct tally *t, const double *x, const double *y)
{
	long double mx = 0, my = 0, sum = 0;

	for (unsigned i = 0; i < t->n; i++) {
		mx += (long double)(x[i] - x[0]) / t->n;
		my += (long double)(y[i] - y[0]) / t->n;
	}
	for (unsigned i = 0; i < t->n; i++)
		sum += ((long double)(x[i] - x[0]) - mx) * ((long double)(y[i] - y[0]) - my) / t->n;
	return (double)sum;
}

static double of_pairs(const struct tally *t, unsigned fold)
{
	double xy = product(t, t->v, t->with), xx = product(t, t->v, t->v),
	       yy = product(t, t->with, t->with);

	if (t->n < 2)
		return NAN;
	if (fold == PMSL_COVARIANCE)
		return xy * t->n / (t->n - 1);
	return xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : NAN;
}

/* STDEV of one value is 0, of the others there is none. */
static double of_powers(const struct tally *t, unsigned fold, double level)
{
	double n = t->n, variance = power(t, 2) * n / (n - 1);

	if (fold == PMSL_STDEV)
		return sqrt(power(t, 2));
	if (t->n < 2)
		return NAN;
	if (fold == PMSL_VARIANCE)
		return variance;
	if (fold == PMSL_CI)
		return student_two_sided(level, n - 1) * sqrt(variance / n);
	if (variance == 0)
		return NAN;
	return fold == PMSL_SKEWNESS ? power(t, 3) / pow(variance, 1.5)
				     : power(t, 4) / (variance * variance) - 3;
}

static bool is_over_vt(const struct walk *w, const struct dag_node *n)
{
	for (unsigned i = 0; i < w->g->nvariable; i++)
		if (n->bound >> i & 1 && w->g->variable[i].kind == PMSL_T_VT)
			return true;
	return false;
}

/* A value counts for the interval in which it is whole. */
static bool is_in_interval(const struct walk *w, double time)
{
	nsec_t from = w->since == FLOW_SINCE_LAST ? walk_read_time(w->read - 1) : 0;

	return time > (double)from && time <= (double)walk_read_time(w->read);
}

/* True if nothing in it has to be measured. */
static bool is_static(const struct dag *g, const struct dag_node *n)
{
	if (n->kind == DAG_METRIC || n->kind == DAG_CONTEXT || n->kind == DAG_AT ||
	    n->kind == DAG_FOLD || n->kind == DAG_TIMES)
		return false;
	for (size_t i = 0; i < n->nin; i++)
		if (!is_static(g, &g->node[n->in[i]]))
			return false;
	return true;
}

/* An object excluded by a condition is not a member. */
static bool is_none(struct walk *w, const struct dag_node *condition)
{
	if (condition->kind == DAG_OP && condition->op == PMSL_AND)
		return is_none(w, &w->g->node[condition->in[0]]) ||
		       is_none(w, &w->g->node[condition->in[1]]);
	return is_static(w->g, condition) && walk(w, (uint32_t)(condition - w->g->node)).v == 0;
}

/* Without a matching virtual time there is no value: AND joins the choice to the rest. */
static bool is_chosen(struct walk *w, const struct dag_node *condition)
{
	if (condition->type.kind == PMSL_T_CHOICE)
		return walk(w, (uint32_t)(condition - w->g->node)).v != 0;
	return condition->kind != DAG_OP || condition->op != PMSL_AND ||
	       (is_chosen(w, &w->g->node[condition->in[0]]) &&
		is_chosen(w, &w->g->node[condition->in[1]]));
}

static struct answer walk_one(struct walk *w, const struct dag_node *n)
{
	struct answer v = walk(w, n->in[0]),
		      condition = n->nin > 1 ? walk(w, n->in[1]) : constant(1);

	if (isnan(v.v) || isnan(condition.v) ||
	    (n->nin > 1 && !is_chosen(w, &w->g->node[n->in[1]])))
		return no_value();
	v.is_excluded = condition.v == 0;
	v.time = fmax(v.time, condition.time);
	v.round = condition.round > v.round ? condition.round : v.round;
	return v;
}

/* The object of the variable of that kind; -1: there is none. */
static int stands_for(const struct walk *w, enum pmsl_kind kind)
{
	for (unsigned i = 0; i < w->g->nvariable; i++)
		if (w->running >> i & 1 && w->g->variable[i].kind == kind)
			return (int)w->run[i];
	return -1;
}

static bool has_come(const struct walk *w, const struct answer *a)
{
	int p = stands_for(w, PMSL_T_PROCESS), vt = stands_for(w, PMSL_T_VT);

	return !w->is_gone || p < 0 || vt < 0 ||
	       !w->is_gone(w->arg, (unsigned)p, (unsigned)vt, a->round);
}

static void run_over(struct walk *w, const struct dag_node *n, unsigned from, struct tally *t)
{
	bool is_vt;

	while (from < w->g->nvariable && !(n->bound >> from & 1))
		from++;
	if (from == w->g->nvariable) {
		struct answer v = walk_one(w, n);

		t->nexcluded += v.is_excluded && !is_none(w, &w->g->node[n->in[1]]);
		if (!isnan(v.v) && !v.is_excluded && has_come(w, &v) &&
		    (!is_over_vt(w, n) || is_in_interval(w, v.time)))
			count(t, v.v, v.with);
		return;
	}
	is_vt = w->g->variable[from].kind == PMSL_T_VT;
	w->running |= 1u << from;
	for (unsigned i = is_vt ? 1 : 0; i < (is_vt ? WALK_VTS + 4u : WALK_PROCS); i++) {
		w->run[from] = i;
		run_over(w, n, from + 1, t);
	}
	w->running &= ~(1u << from);
}

/* Returns the time of the last value of a fold over objects. */
static double last_time(struct walk *w, const struct dag_node *n)
{
	double last = NAN;
	unsigned v = 0;

	while (!(n->bound >> v & 1))
		v++;
	for (unsigned i = 0; i < WALK_PROCS; i++) {
		struct answer a;

		w->run[v] = i;
		a = walk_one(w, n);
		if (!isnan(a.v) && !a.is_excluded)
			last = fmax(last, a.time);
	}
	return last;
}

static struct answer walk_fold(struct walk *w, const struct dag_node *n)
{
	struct tally t = { 0 };
	struct answer a = no_value();

	run_over(w, n, 0, &t);
	if (n->op == PMSL_COUNT || n->op == PMSL_SUM)
		a.v = n->op == PMSL_COUNT ? t.n : t.sum;
	else if (t.n && pmsl_fold_is_of_pairs(n->op))
		a.v = of_pairs(&t, n->op);
	else if (t.n && n->op != PMSL_MEAN && n->op != PMSL_MIN && n->op != PMSL_MAX)
		a.v = of_powers(&t, n->op, n->number);
	else if (t.n)
		a.v = n->op == PMSL_MEAN ? t.sum / t.n : n->op == PMSL_MIN ? t.min : t.max;
	/*
	 * Objects without any value yield an unknown result; an object that WHERE excludes has
	 * reported.
	 */
	if (!is_over_vt(w, n) && !t.n && (n->free || !t.nexcluded))
		a.v = NAN;
	if (!is_over_vt(w, n))
		a.time = last_time(w, n);
	return a;
}

static struct answer walk_pair(struct walk *w, const struct dag_node *n)
{
	struct answer a = walk(w, n->in[0]), b = walk(w, n->in[1]);

	if (isnan(a.v) || isnan(b.v))
		return no_value();
	a.with = b.v;
	a.time = fmax(a.time, b.time);
	a.round = b.round > a.round ? b.round : a.round;
	return a;
}

bool walk_is_listed(double vt)
{
	for (size_t i = 0; i < ARRAY_LEN(walk_list); i++)
		if (vt >= (double)walk_list[i].from && vt <= (double)walk_list[i].to)
			return true;
	return false;
}

static struct answer walk(struct walk *w, uint32_t node)
{
	const struct dag_node *n = &w->g->node[node];

	switch (n->kind) {
	case DAG_NUMBER:
		return constant(n->number);
	case DAG_METRIC:
		return walk_source(w, n);
	case DAG_CONTEXT:
		return constant(w->log->event[w->rank][w->vt].extra);
	case DAG_AT:
		return walk_at(w, n);
	case DAG_ATTR:
		return constant(w->run[w->g->node[n->in[0]].variable]);
	case DAG_OP:
	case DAG_IF:
		return walk_op(w, n);
	case DAG_FOLD:
		return walk_fold(w, n);
	case DAG_PAIR:
		return walk_pair(w, n);
	case DAG_VT:
		return constant((double)((int64_t)w->run[n->variable] - n->shift));
	case DAG_IN:
		return constant(n->type.kind != PMSL_T_CHOICE ||
				walk_is_listed(walk(w, n->in[0]).v));
	default: /* p IN ps, .time IN t: all are, and the fold looks */
		return constant(1);
	}
}

unsigned walk_count(struct walk *w)
{
	struct tally t = { 0 };

	run_over(w, &w->g->node[w->g->root], 0, &t);
	return t.n;
}

double walk_metric(struct walk *w)
{
	return walk(w, w->g->root).v;
}
