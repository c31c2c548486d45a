/* SPDX-License-Identifier: Apache-2.0 */
#include "stats/quantity.h"

#include "common/base/array.h"
#include "common/base/str.h"
#include "stats/series.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Owns all memory behind its pointers. If values are stored, `values` and `times` have the same
 * length. `sorted` is a copy that becomes stale when the values change.
 */
struct quantity {
	char *name, *unit;
	enum quantity_kind kind;
	FILE *file;
	struct stop stop;
	uint64_t left_to_drop, dropped, not_finite;
	nsec_t drop_before;
	struct moments m;
	struct batches b;
	struct sketch sketch;
	double *values;
	nsec_t *times; /* NULL if the first value had no time */
	size_t n, cap_values, cap_times;
	double *sorted; /* made when requested */
	size_t nsorted;
};

static int open_file(struct quantity *q, const char *path, struct err *e)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);

	if (fd < 0)
		return errno == EEXIST ? err_set(e, ERR_EXISTS, "%s exists already", path)
				       : err_sys(e, "%s", path);
	q->file = fdopen(fd, "w");
	if (q->file)
		return 0;
	close(fd);
	return err_nomem(e);
}

int quantity_open(const struct quantity_options *w, struct quantity **out, struct err *e)
{
	struct quantity *q = calloc(1, sizeof(*q));
	int rc = 0;

	if (!q)
		return err_nomem(e);
	q->name = str_dup(w->name);
	q->unit = str_dup(w->unit ? w->unit : "");
	q->kind = w->kind;
	q->stop = w->stop;
	q->left_to_drop = w->drop_count;
	q->drop_before = w->drop_before ? w->drop_before : QUANTITY_NO_TIME;
	sketch_init(&q->sketch);
	if (!q->name || !q->unit)
		rc = err_nomem(e);
	else if (q->kind == QUANTITY_ON_FILE)
		rc = open_file(q, w->path, e);
	if (rc)
		quantity_free(q);
	else
		*out = q;
	return rc;
}

void quantity_free(struct quantity *q)
{
	if (!q)
		return;
	if (q->file)
		fclose(q->file);
	free(q->name);
	free(q->unit);
	free(q->values);
	free(q->times);
	free(q->sorted);
	free(q);
}

/* --- adding values */

static int keep(struct quantity *q, nsec_t time, double v)
{
	int rc = array_grow(&q->values, &q->cap_values, q->n + 1, sizeof(*q->values),
			    QUANTITY_VALUES_MAX);

	if (!rc && (q->times || (!q->n && time != QUANTITY_NO_TIME)))
		rc = array_grow(&q->times, &q->cap_times, q->n + 1, sizeof(*q->times),
				QUANTITY_VALUES_MAX);
	if (rc)
		return rc;
	q->values[q->n] = v;
	if (q->times)
		q->times[q->n] = time;
	q->n++;
	return 0;
}

/* Writes a value to the file: CSV with a header if values have times, else one number per line. */
static int write_line(struct quantity *q, nsec_t time, double v)
{
	char text[STR_DOUBLE_BYTES];

	str_from_double(text, v);
	if (time == QUANTITY_NO_TIME)
		return fprintf(q->file, "%s\n", text) < 0 ? -ERR_SYS : 0;
	if (!q->m.n && fputs("time_ns,value\n", q->file) < 0)
		return -ERR_SYS;
	return fprintf(q->file, "%" PRId64 ",%s\n", time, text) < 0 ? -ERR_SYS : 0;
}

static int store(struct quantity *q, nsec_t time, double v)
{
	int rc = 0;

	if (q->kind == QUANTITY_VALUES)
		rc = keep(q, time, v);
	else if (q->kind == QUANTITY_ON_FILE)
		rc = write_line(q, time, v);
	if (rc)
		return rc;
	moments_add(&q->m, v);
	batches_add(&q->b, v);
	if (q->kind != QUANTITY_VALUES)
		sketch_add(&q->sketch, v);
	return 0;
}

int quantity_add_at(struct quantity *q, nsec_t time, double v)
{
	if (!isfinite(v)) {
		q->not_finite++;
		return -ERR_INVALID;
	}
	if (q->left_to_drop || (time != QUANTITY_NO_TIME && time < q->drop_before)) {
		q->left_to_drop -= q->left_to_drop > 0;
		q->dropped++;
		return 0;
	}
	return store(q, time, v);
}

int quantity_add(struct quantity *q, double v)
{
	return quantity_add_at(q, QUANTITY_NO_TIME, v);
}

void quantity_set_stop(struct quantity *q, const struct stop *s)
{
	q->stop = *s;
}

void quantity_clear(struct quantity *q)
{
	q->m = (struct moments){ 0 };
	q->b = (struct batches){ 0 };
	sketch_init(&q->sketch);
	q->n = q->nsorted = 0;
	q->dropped = q->not_finite = 0;
}

int quantity_flush(struct quantity *q, struct err *e)
{
	if (q->file && (fflush(q->file) || ferror(q->file)))
		return err_sys(e, "the file does not have all values of %s", q->name);
	return 0;
}

static int add_all(struct quantity *q, const struct quantity *from)
{
	int rc = 0;

	for (size_t i = 0; i < from->n && !rc; i++)
		rc = store(q, from->times ? from->times[i] : QUANTITY_NO_TIME, from->values[i]);
	return rc;
}

int quantity_merge(struct quantity *q, const struct quantity *from, struct err *e)
{
	int rc = 0;

	if (from->kind == QUANTITY_VALUES)
		rc = add_all(q, from);
	else if (q->kind != QUANTITY_STATISTICS)
		return err_set(e, ERR_INVALID, "%s stores no values for %s", from->name, q->name);
	if (rc)
		return err_set(e, (enum err_code)(-rc), "the values of %s could not be added",
			       from->name);
	q->dropped += from->dropped;
	q->not_finite += from->not_finite;
	if (from->kind == QUANTITY_VALUES)
		return 0;
	moments_merge(&q->m, &from->m);
	batches_merge(&q->b, &from->b);
	sketch_merge(&q->sketch, &from->sketch);
	return 0;
}

/* --- values in order */

static bool sort_values(struct quantity *q)
{
	double *p;

	if (q->nsorted == q->n)
		return true;
	p = reallocarray(q->sorted, q->n, sizeof(*p));
	if (!p)
		return false;
	memcpy(p, q->values, q->n * sizeof(*p));
	qsort(p, q->n, sizeof(*p), array_order_double);
	q->sorted = p;
	q->nsorted = q->n;
	return true;
}

static double exact_quantile(struct quantity *q, double p)
{
	double rank = p * (double)(q->n - 1), below = floor(rank);
	size_t i = (size_t)below;

	if (!sort_values(q))
		return NAN;
	return i + 1 < q->n ? q->sorted[i] + (rank - below) * (q->sorted[i + 1] - q->sorted[i])
			    : q->sorted[i];
}

double quantity_quantile(struct quantity *q, double p, double *error)
{
	double v, off = 0;

	if (!q->m.n || !(p >= 0 && p <= 1))
		return NAN;
	if (q->kind == QUANTITY_VALUES)
		v = exact_quantile(q, p);
	else
		v = sketch_at(&q->sketch, (uint64_t)floor(p * (double)(q->m.n - 1) + 0.5), &off);
	if (error)
		*error = off;
	return v < q->m.min ? q->m.min : v > q->m.max ? q->m.max : v;
}

/* --- removing values */

/* Recomputes the statistics from the stored values. */
static void recompute(struct quantity *q, size_t n)
{
	q->dropped += q->n - n;
	q->n = n;
	q->nsorted = 0;
	q->m = (struct moments){ 0 };
	q->b = (struct batches){ 0 };
	for (size_t i = 0; i < n; i++) {
		moments_add(&q->m, q->values[i]);
		batches_add(&q->b, q->values[i]);
	}
}

int quantity_drop_ends(struct quantity *q, size_t first, size_t last)
{
	size_t left;

	if (q->kind != QUANTITY_VALUES)
		return -ERR_INVALID;
	first = first < q->n ? first : q->n;
	left = q->n - first;
	left -= last < left ? last : left;
	if (left) {
		memmove(q->values, q->values + first, left * sizeof(*q->values));
		if (q->times)
			memmove(q->times, q->times + first, left * sizeof(*q->times));
	}
	recompute(q, left);
	return 0;
}

/* Values to remove: those below (or above) `at`, and the first `ties` of those equal to it. */
struct cut {
	double at;
	size_t ties;
};

static bool is_cut(double beyond, double v, struct cut *c)
{
	if (v == c->at && c->ties) {
		c->ties--;
		return true;
	}
	return beyond > 0;
}

static void keep_between(struct quantity *q, struct cut least, struct cut greatest)
{
	size_t n = 0;

	for (size_t i = 0; i < q->n; i++) {
		double v = q->values[i];

		if (is_cut(least.at - v, v, &least) || is_cut(v - greatest.at, v, &greatest))
			continue;
		q->values[n] = v;
		if (q->times)
			q->times[n] = q->times[i];
		n++;
	}
	recompute(q, n);
}

int quantity_trim(struct quantity *q, size_t least, size_t greatest)
{
	struct cut low = { -INFINITY, 0 }, high = { INFINITY, 0 };

	if (q->kind != QUANTITY_VALUES)
		return -ERR_INVALID;
	if (least >= q->n || greatest >= q->n - least)
		return quantity_drop_ends(q, q->n, 0);
	if (!sort_values(q))
		return -ERR_NOMEM;
	if (least)
		low.at = q->sorted[least - 1];
	if (greatest)
		high.at = q->sorted[q->n - greatest];
	for (size_t i = least; i > 0 && q->sorted[i - 1] == low.at; i--)
		low.ties++;
	for (size_t i = q->n - greatest; i < q->n && q->sorted[i] == high.at; i++)
		high.ties++;
	keep_between(q, low, high);
	return 0;
}

int quantity_trim_beyond(struct quantity *q, double fence)
{
	size_t least = 0, greatest = 0;
	double low, high, range;

	if (q->kind != QUANTITY_VALUES)
		return -ERR_INVALID;
	if (!q->n)
		return 0;
	low = quantity_quantile(q, 0.25, NULL);
	high = quantity_quantile(q, 0.75, NULL);
	range = high - low;
	if (isnan(range))
		return -ERR_NOMEM;
	for (size_t i = 0; i < q->n; i++) {
		least += q->values[i] < low - fence * range;
		greatest += q->values[i] > high + fence * range;
	}
	return quantity_trim(q, least, greatest);
}

int quantity_drop_transient(struct quantity *q, struct err *e)
{
	size_t first;

	if (q->kind != QUANTITY_VALUES)
		return err_set(e, ERR_INVALID, "the values of %s are not stored", q->name);
	first = series_transient(q->values, q->n);
	if (first == SERIES_UNSETTLED)
		return err_set(e, ERR_NOTFOUND,
			       "%s has not settled: the initial transient has no end", q->name);
	return quantity_drop_ends(q, first, 0);
}

/* --- results */

bool quantity_is_done(const struct quantity *q)
{
	return stop_is_reached(&q->stop, &q->m, &q->b);
}

struct interval quantity_interval(const struct quantity *q, double level)
{
	return interval_of_mean(&q->m, level);
}

struct interval quantity_interval_of_batches(const struct quantity *q, double level)
{
	return interval_of_batches(&q->b, level);
}

enum dependence quantity_dependence(const struct quantity *q)
{
	return dependence_of(&q->m, &q->b);
}

const char *quantity_name(const struct quantity *q)
{
	return q->name;
}

const char *quantity_unit(const struct quantity *q)
{
	return q->unit;
}

enum quantity_kind quantity_kind(const struct quantity *q)
{
	return q->kind;
}

const struct moments *quantity_moments(const struct quantity *q)
{
	return &q->m;
}

const struct batches *quantity_batches(const struct quantity *q)
{
	return &q->b;
}

const struct sketch *quantity_sketch(const struct quantity *q)
{
	return &q->sketch;
}

const struct stop *quantity_stop(const struct quantity *q)
{
	return &q->stop;
}

const double *quantity_values(const struct quantity *q, size_t *n)
{
	*n = q->n;
	return q->values;
}

uint64_t quantity_dropped(const struct quantity *q)
{
	return q->dropped;
}

uint64_t quantity_not_finite(const struct quantity *q)
{
	return q->not_finite;
}
