/* SPDX-License-Identifier: Apache-2.0 */
#include "model/propagate/propagate.h"

#include "common/base/array.h"
#include "stats/student.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEVEL_MIN 0.01
#define LEVEL_MAX 0.9999

enum part_of { OF_TASK, OF_ENTRY, OF_PROCESSOR };

/* The arrays of results, in the order of their values. */
static const struct {
	size_t solved, range;
	enum part_of of;
} parts[] = {
#define PART(name, of)                                                                             \
	{                                                                                          \
		offsetof(struct layered_result, name), offsetof(struct propagate_result, name), of \
	}
	PART(task_throughput, OF_TASK),	    PART(task_busy, OF_TASK),
	PART(task_response, OF_TASK),	    PART(entry_service, OF_ENTRY),
	PART(entry_throughput, OF_ENTRY),   PART(entry_response, OF_ENTRY),
	PART(processor_busy, OF_PROCESSOR),
#undef PART
};

/* Cumulants of a sum of independent parabolas b z + c z^2. */
struct sum {
	double first, second, third, fourth;
};

/* A result: its middle, and the effects of all demands on it and on its logarithm. */
struct value {
	double middle, low, high; /* the last two: at the ends of one demand */
	bool is_positive; /* in all solutions */
	struct sum plain, logarithm;
};

struct spread {
	const struct propagate_options *options;
	const struct layered *given;
	struct layered m; /* shares all but `entry` with the given one */
	double z; /* of the ends of intervals */
	size_t nvalue;
	struct value *value; /* owned */
	size_t done;
};

static size_t size_of(const struct layered *m, enum part_of of)
{
	return of == OF_TASK ? m->ntask : of == OF_ENTRY ? m->nentry : m->nprocessor;
}

double propagate_demand(const struct layered_phase *v, double z)
{
	if (v->level >= 1)
		return fmax(v->low + erfc(-z / sqrt(2)) / 2 * (v->high - v->low), 0);
	z /= normal_two_sided(v->level);
	return fmax(v->demand + z * (z < 0 ? v->demand - v->low : v->high - v->demand), 0);
}

/* --- solutions at the ends of a demand */

/* Calls set for each value of a solution. */
static void each_value(struct spread *s, const struct layered_result *r,
		       void (*set)(struct value *v, double x))
{
	size_t at = 0;

	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		const double *from;

		memcpy(&from, (const char *)r + parts[i].solved, sizeof(from));
		for (size_t k = 0; k < size_of(s->given, parts[i].of); k++)
			set(&s->value[at++], from[k]);
	}
}

static void set_middle(struct value *v, double x)
{
	v->middle = x;
	v->is_positive = x > 0;
}

static void set_low(struct value *v, double x)
{
	v->low = x;
	v->is_positive = v->is_positive && x > 0;
}

static void set_high(struct value *v, double x)
{
	v->high = x;
	v->is_positive = v->is_positive && x > 0;
}

/* Adds the parabola through (-z, low), (0, middle), (z, high). */
static void add_parabola(struct sum *s, double z, double low, double middle, double high)
{
	double b = (high - low) / (2 * z), c = (high + low - 2 * middle) / (2 * z * z);

	s->first += c;
	s->second += b * b + 2 * c * c;
	s->third += 6 * b * b * c + 8 * c * c * c;
	s->fourth += 48 * c * c * (b * b + c * c);
}

static void add_effects(struct spread *s)
{
	for (size_t i = 0; i < s->nvalue; i++) {
		struct value *v = &s->value[i];

		add_parabola(&v->plain, s->z, v->low, v->middle, v->high);
		if (v->is_positive)
			add_parabola(&v->logarithm, s->z, log(v->low), log(v->middle),
				     log(v->high));
	}
}

static int solve_at(struct spread *s, size_t entry, bool is_high, struct err *e)
{
	struct layered_result r = { 0 };
	int rc;

	for (size_t k = 0; k < LAYERED_PHASES; k++) {
		const struct layered_phase *v = &s->given->entry[entry].phase[k];

		if (v->level > 0)
			s->m.entry[entry].phase[k].demand =
				propagate_demand(v, is_high ? s->z : -s->z);
	}
	rc = layered_solve(&s->m, &r, e);
	if (!rc)
		each_value(s, &r, is_high ? set_high : set_low);
	else if (rc != -ERR_NOMEM)
		err_add(e, "with the demand %.4g of '%s'", s->m.entry[entry].phase[0].demand,
			s->given->entry[entry].name);
	layered_result_done(&r);
	s->m.entry[entry] = s->given->entry[entry];
	return rc;
}

static bool is_uncertain(const struct layered_entry *v)
{
	return v->phase[0].level > 0 || v->phase[1].level > 0;
}

static int solve_all(struct spread *s, size_t uncertain, struct err *e)
{
	for (size_t i = 0; i < s->given->nentry; i++) {
		int rc;

		if (!is_uncertain(&s->given->entry[i]))
			continue;
		rc = solve_at(s, i, false, e);
		if (!rc)
			rc = solve_at(s, i, true, e);
		if (rc)
			return rc;
		add_effects(s);
		s->done++;
		if (s->options->on_turn && s->options->on_turn(s->options->arg, s->done, uncertain))
			return -ERR_CLOSED;
	}
	return 0;
}

/* --- ranges */

static double quantile(const struct sum *s, double z)
{
	double deviation = sqrt(s->second), skew, excess;

	if (!(deviation > 0))
		return s->first;
	skew = s->third / (s->second * deviation);
	excess = s->fourth / (s->second * s->second);
	return s->first +
	       deviation * (z + (z * z - 1) * skew / 6 + (z * z * z - 3 * z) * excess / 24 -
			    (2 * z * z * z - 5 * z) * skew * skew / 36);
}

static double end_of(const struct value *v, double z)
{
	if (v->is_positive)
		return v->middle * exp(quantile(&v->logarithm, z));
	return v->middle + quantile(&v->plain, z);
}

/*
 * Arrivals do not wait for one another, so that a processor that may be full has no longest
 * response.
 */
static void check_full(const struct spread *s, struct propagate_result *out)
{
	const struct layered *m = s->given;
	bool is_open = false;

	for (size_t i = 0; i < m->nentry; i++)
		is_open = is_open || m->entry[i].arrivals > 0;
	for (size_t i = 0; is_open && i < m->nprocessor; i++) {
		double most = out->processor_busy[i].high / m->processor[i].servers;

		if (m->processor[i].kind == STATION_DELAY || !(most >= 1))
			continue;
		err_set(&out->reason, ERR_LIMIT, "utilisation of %s may be %.2f",
			m->processor[i].name, most);
		for (size_t k = 0; k < s->nvalue; k++)
			out->all[k].high = NAN;
		return;
	}
}

static void set_ranges(const struct spread *s, struct propagate_result *out)
{
	for (size_t i = 0; i < s->nvalue; i++) {
		out->all[i].low = fmin(end_of(&s->value[i], -s->z), s->value[i].middle);
		out->all[i].high = fmax(end_of(&s->value[i], s->z), s->value[i].middle);
	}
	check_full(s, out);
}

static int result_init(struct spread *s, struct propagate_result *out)
{
	size_t at = 0;

	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		s->nvalue += size_of(s->given, parts[i].of);
	out->all = malloc((s->nvalue + 1) * sizeof(*out->all));
	if (!out->all)
		return -ERR_NOMEM;
	for (size_t i = 0; i < s->nvalue; i++)
		out->all[i] = (struct range){ NAN, NAN };
	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		struct range *to = &out->all[at];

		memcpy((char *)out + parts[i].range, &to, sizeof(to));
		at += size_of(s->given, parts[i].of);
	}
	return 0;
}

static int spread_alloc(struct spread *s)
{
	const struct layered *m = s->given;

	s->m = *m;
	s->m.entry = calloc(m->nentry + 1, sizeof(*m->entry));
	s->value = calloc(s->nvalue + 1, sizeof(*s->value));
	if (!s->m.entry || !s->value)
		return -ERR_NOMEM;
	memcpy(s->m.entry, m->entry, m->nentry * sizeof(*m->entry));
	return 0;
}

static void find_uncertain(const struct layered *m, struct propagate_result *out)
{
	for (size_t i = 0; i < m->nentry; i++) {
		out->uncertain += is_uncertain(&m->entry[i]);
		for (size_t k = 0; k < LAYERED_PHASES; k++) {
			const struct layered_phase *p = &m->entry[i].phase[k];

			if (p->level > 0 && (isnan(p->low) || isnan(p->high)))
				err_set(&out->reason, ERR_NOTFOUND,
					"the interval of the demand of '%s' is unknown",
					m->entry[i].name);
		}
	}
}

static int spread(struct spread *s, const struct layered_result *middle,
		  struct propagate_result *out, struct err *e)
{
	struct err why = { 0 };
	int rc;

	if (!(s->options->level >= LEVEL_MIN && s->options->level <= LEVEL_MAX))
		return err_set(e, ERR_INVALID, "a level from %g to %g", LEVEL_MIN, LEVEL_MAX);
	s->z = normal_two_sided(s->options->level);
	if (result_init(s, out))
		return err_nomem(e);
	find_uncertain(s->given, out);
	if (!out->uncertain || out->reason.code)
		return 0;
	if (spread_alloc(s))
		return err_nomem(e);
	each_value(s, middle, set_middle);
	rc = solve_all(s, out->uncertain, &why);
	if (rc == -ERR_NOMEM)
		return err_nomem(e);
	if (!rc)
		set_ranges(s, out);
	else if (rc != -ERR_CLOSED)
		out->reason = why;
	return 0;
}

int propagate(const struct layered *m, const struct layered_result *middle,
	      const struct propagate_options *o, struct propagate_result *out, struct err *e)
{
	struct spread s = { .options = o, .given = m };
	struct propagate_result r = { 0 };
	int rc = spread(&s, middle, &r, e);

	free(s.m.entry);
	free(s.value);
	if (rc)
		propagate_result_done(&r);
	else
		*out = r;
	return rc;
}

void propagate_result_done(struct propagate_result *r)
{
	free(r->all);
	*r = (struct propagate_result){ 0 };
}
