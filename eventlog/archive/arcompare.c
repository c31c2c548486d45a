/* SPDX-License-Identifier: Apache-2.0 */
#include "eventlog/archive/arcompare.h"

#include "common/base/array.h"
#include "common/base/rng.h"
#include "common/base/str.h"
#include "eventlog/archive/arquery.h"

#include <inttypes.h>
#include <math.h>

#define CHANGES_MAX (4 * AR_TYPES_MAX)
#define SPAN_MAX 9e18 /* largest difference of times, in ns */

enum { NOW, BASE };

struct side {
	const struct archive *a;
	int64_t first, width; /* begin and width of the first window */
	double seconds; /* length of the archive; NaN if it has no time */
};

struct comparing {
	const struct arcompare_options *options;
	struct side side[2];
	struct archange *change; /* owned */
	size_t n, cap;
};

/* --- the time of an archive */

static void measure(struct side *s)
{
	const struct arcat *c = archive_cat(s->a);
	int64_t first = INT64_MAX, last = INT64_MIN;
	double span;

	for (size_t i = 0; i < c->n; i++) {
		if (!c->type[i]->n)
			continue;
		first = c->type[i]->first_ns < first ? c->type[i]->first_ns : first;
		last = c->type[i]->last_ns > last ? c->type[i]->last_ns : last;
	}
	span = (double)last - (double)first;
	s->first = first;
	s->seconds = span > 0 && span < SPAN_MAX ? span / 1e9 : NAN;
	s->width = isnan(s->seconds) ? 1 : (last - first) / ARCOMPARE_WINDOWS + 1;
}

/* --- rates */

static int take_window(void *arg, const struct arvalue *v, const char *const *names, unsigned n,
		       struct err *e)
{
	double *count = arg;

	if (v[0].class == AR_INT && v[1].class == AR_INT && v[0].i >= 0 &&
	    v[0].i < ARCOMPARE_WINDOWS)
		count[v[0].i] = (double)v[1].i;
	return 0;
}

static int count_windows(const struct side *s, const struct artype *t,
			 double count[ARCOMPARE_WINDOWS], struct err *e)
{
	const struct arsql *sql = archive_sql(s->a);
	char text[320];
	int rc;

	memset(count, 0, ARCOMPARE_WINDOWS * sizeof(*count));
	if (!t || isnan(s->seconds))
		return 0;
	snprintf(text, sizeof(text),
		 "SELECT (ts - (%" PRId64 ")) / %" PRId64 " AS w, count(*) AS n FROM %s GROUP BY 1",
		 s->first, s->width, t->tab);
	rc = sql->ops->run(sql->db, &(struct arsql_statement){ .text = text }, take_window, count,
			   e);
	for (int i = 0; i < ARCOMPARE_WINDOWS; i++)
		count[i] /= (double)s->width / 1e9;
	return rc;
}

/* Returns the probability that all of n independent events are in the time of one archive. */
static double chance_of_one_side(const struct comparing *c, int side, uint64_t n)
{
	double share = c->side[side].seconds / (c->side[NOW].seconds + c->side[BASE].seconds);

	return fmin(1, 2 * pow(share, (double)n));
}

static int compare_rates(struct comparing *c, struct archange *x, const struct artype *const t[2],
			 struct err *e)
{
	double rate[2][ARCOMPARE_WINDOWS];
	int rc = 0;

	for (int s = 0; !rc && s < 2; s++) {
		rc = count_windows(&c->side[s], t[s], rate[s], e);
		x->n[s] = t[s] ? t[s]->n : 0;
		x->value[s] = (double)x->n[s] / c->side[s].seconds;
	}
	if (rc)
		return rc;
	if (isnan(c->side[NOW].seconds) || isnan(c->side[BASE].seconds))
		x->p = NAN;
	else if (!x->n[NOW] || !x->n[BASE])
		x->p = chance_of_one_side(c, x->n[NOW] ? NOW : BASE, x->n[NOW] + x->n[BASE]);
	else
		x->p = arstat_means((struct arsample){ rate[NOW], ARCOMPARE_WINDOWS },
				    (struct arsample){ rate[BASE], ARCOMPARE_WINDOWS },
				    c->options->level, &x->ratio);
	if (!x->n[NOW] || !x->n[BASE])
		x->ratio = (struct arratio){ NAN, NAN, NAN };
	return 0;
}

/* --- durations */

struct sample {
	double *v; /* owned; seconds */
	size_t n, cap;
	uint64_t seen;
	struct rng rng;
};

/* Takes a sample: each value has the same probability (reservoir sampling). */
static int take_duration(void *arg, const struct arvalue *v, const char *const *names, unsigned n,
			 struct err *e)
{
	struct sample *s = arg;
	uint64_t at = s->seen++;

	if (v[0].class != AR_INT)
		return 0;
	if (s->n < ARCOMPARE_SAMPLES_MAX) {
		if (array_grow(&s->v, &s->cap, s->n + 1, sizeof(*s->v), ARCOMPARE_SAMPLES_MAX))
			return err_nomem(e);
		s->v[s->n++] = (double)v[0].i / 1e9;
		return 0;
	}
	at = rng_below(&s->rng, at + 1);
	if (at < ARCOMPARE_SAMPLES_MAX)
		s->v[at] = (double)v[0].i / 1e9;
	return 0;
}

static int sample_pairs(const struct side *s, const struct artype *start, const struct artype *end,
			struct sample *out, struct err *e)
{
	*out = (struct sample){ 0 };
	rng_init(&out->rng, 1);
	return start && end ? arquery_pairs(s->a, (const struct artype *const[]){ start, end },
					    take_duration, out, e)
			    : 0;
}

static double median_of(const struct sample *s)
{
	return s->n ? (s->v[(s->n - 1) / 2] + s->v[s->n / 2]) / 2 : NAN;
}

static int compare_durations(struct comparing *c, struct archange *x,
			     const struct artype *const start[2], const struct artype *const end[2],
			     struct err *e)
{
	struct sample s[2] = { 0 };
	double above;
	int rc = 0;

	for (int i = 0; !rc && i < 2; i++) {
		rc = sample_pairs(&c->side[i], start[i], end[i], &s[i], e);
		x->n[i] = s[i].seen;
	}
	if (!rc) {
		x->p = arstat_ranks(s[NOW].v, s[NOW].n, s[BASE].v, s[BASE].n, &above);
		x->ratio =
			arstat_medians(s[NOW].v, s[NOW].n, s[BASE].v, s[BASE].n, c->options->level);
		x->value[NOW] = median_of(&s[NOW]);
		x->value[BASE] = median_of(&s[BASE]);
	}
	free(s[NOW].v);
	free(s[BASE].v);
	return rc;
}

/* --- verdicts */

static enum archange_verdict judge(const struct arcompare_options *w, const struct archange *x)
{
	double far = log1p(w->least), by = fabs(log(x->ratio.value));
	bool is_sure = x->p < 1 - w->level;

	if (isnan(x->p))
		return ARCHANGE_FEW;
	if (!x->n[NOW] || !x->n[BASE])
		return !is_sure ? ARCHANGE_UNSURE : x->n[NOW] ? ARCHANGE_NEW : ARCHANGE_GONE;
	if (is_sure && by > far)
		return x->ratio.value > 1 ? ARCHANGE_MORE : ARCHANGE_LESS;
	if (log(x->ratio.low) > -far && log(x->ratio.high) < far)
		return ARCHANGE_SAME;
	return ARCHANGE_UNSURE;
}

static int by_verdict(const void *a, const void *b)
{
	const struct archange *x = a, *y = b;

	if (x->verdict != y->verdict)
		return x->verdict < y->verdict ? -1 : 1;
	return strcmp(x->name, y->name) ? strcmp(x->name, y->name) : (int)x->what - (int)y->what;
}

static int judge_all(struct comparing *c, struct err *e)
{
	double *p = calloc(c->n + 1, sizeof(*p));
	int rc;

	if (!p)
		return err_nomem(e);
	for (size_t i = 0; i < c->n; i++)
		p[i] = c->change[i].p;
	rc = arstat_holm(p, c->n) ? err_nomem(e) : 0;
	for (size_t i = 0; !rc && i < c->n; i++) {
		c->change[i].p = p[i];
		c->change[i].verdict = judge(c->options, &c->change[i]);
	}
	free(p);
	if (!rc && c->n)
		qsort(c->change, c->n, sizeof(*c->change), by_verdict);
	return rc;
}

/* --- the union of both sets of types */

/* Takes ownership of the name; NULL: there was no memory for it. */
static int add(struct comparing *c, enum archange_what what, char *name, struct archange **out,
	       struct err *e)
{
	struct archange *x;

	if (!name || array_grow(&c->change, &c->cap, c->n + 1, sizeof(*x), CHANGES_MAX)) {
		free(name);
		return err_nomem(e);
	}
	x = &c->change[c->n++];
	*x = (struct archange){ .name = name, .what = what, .p = NAN, .ratio = { NAN, NAN, NAN } };
	*out = x;
	return 0;
}

static int compare_type(struct comparing *c, const char *name, struct err *e)
{
	const struct artype *t[2], *end[2];
	size_t n = strlen(name), stem = n > 6 && str_eq(name + n - 6, ".start") ? n - 6 : 0;
	char other[NAME_MAX_BYTES + 8];
	struct archange *x;
	int rc = add(c, ARCHANGE_RATE, str_dup(name), &x, e);

	snprintf(other, sizeof(other), "%.*s.end", (int)stem, name);
	for (int s = 0; s < 2; s++) {
		t[s] = arcat_find(archive_cat(c->side[s].a), name);
		end[s] = arcat_find(archive_cat(c->side[s].a), other);
	}
	rc = rc ? rc : compare_rates(c, x, t, e);
	if (rc || !stem || !t[NOW] || !t[BASE] || !end[NOW] || !end[BASE])
		return rc;
	rc = add(c, ARCHANGE_DURATION, str_ndup(name, stem), &x, e);
	return rc ? rc : compare_durations(c, x, t, end, e);
}

static int compare_all(struct comparing *c, struct err *e)
{
	const struct arcat *cat[2] = { archive_cat(c->side[NOW].a), archive_cat(c->side[BASE].a) };
	int rc = 0;

	for (int s = 0; s < 2; s++)
		for (size_t i = 0; !rc && i < cat[s]->n; i++)
			if (s == NOW || !arcat_find(cat[NOW], cat[s]->type[i]->name))
				rc = compare_type(c, cat[s]->type[i]->name, e);
	return rc ? rc : judge_all(c, e);
}

int arcompare_run(const struct arcompared *of, const struct arcompare_options *w,
		  struct archange **out, size_t *n, struct err *e)
{
	struct comparing c = { .options = w, .side = { { .a = of->now }, { .a = of->base } } };
	int rc;

	measure(&c.side[NOW]);
	measure(&c.side[BASE]);
	rc = compare_all(&c, e);
	if (rc) {
		arcompare_free(c.change, c.n);
		return rc;
	}
	*out = c.change;
	*n = c.n;
	return 0;
}

void arcompare_free(struct archange *c, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(c[i].name);
	free(c);
}
