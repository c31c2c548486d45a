/* SPDX-License-Identifier: Apache-2.0 */
#include "neko/stat/statset.h"

#include "common/base/file.h"

#include <math.h>
#include <stdlib.h>
#include <stdio.h>

/* Settings shared by all quantities. */
struct plan {
	const char *files; /* NULL: none */
	struct quantity_options options;
};

static int open_quantity(struct statset *t, const struct plan *p, struct err *e)
{
	const struct neko_row *row = &t->rows[t->n];
	struct quantity_options w = p->options;
	char path[FILE_PATH_BYTES];
	int rc;

	if (t->n == STAT_QUANTITIES_MAX)
		return err_set(e, ERR_LIMIT, "a handler has at most %d quantities",
			       STAT_QUANTITIES_MAX);
	w.name = row->name;
	w.unit = row->unit;
	if (!row->is_awaited)
		w.stop = (struct stop){ 0 };
	if (p->files) {
		if (snprintf(path, sizeof(path), "%s%s", p->files, row->name) >= (int)sizeof(path))
			return err_set(e, ERR_LIMIT, "a path of more than %d bytes",
				       FILE_PATH_BYTES);
		w.kind = QUANTITY_ON_FILE;
		w.path = path;
	}
	rc = quantity_open(&w, &t->quantity[t->n], e);
	if (!rc)
		t->n++;
	return rc;
}

int statset_open(struct statset *t, const struct neko_row *rows, struct setup *s, struct err *e)
{
	const char *rule = setup_get(s, "stat.stop");
	struct plan p = { .files = setup_get(s, "stat.files") };
	int rc = setup_u64(s, "stat.drop", 0, UINT64_MAX, &p.options.drop_count, e);

	if (!rc && rule && stop_parse(rule, &p.options.stop, e))
		rc = setup_blame(s, "stat.stop", e);
	if (rc)
		return rc;
	t->series = calloc(STAT_QUANTITIES_MAX, sizeof(*t->series));
	if (!t->series)
		return err_nomem(e);
	t->rows = rows;
	t->has_stop = rule != NULL;
	while (rows[t->n].name && !rc)
		rc = open_quantity(t, &p, e);
	return rc && p.files ? setup_blame(s, "stat.files", e) : rc;
}

void statset_done(struct statset *t)
{
	for (unsigned i = 0; i < t->n; i++)
		quantity_free(t->quantity[i]);
	free(t->series);
	*t = (struct statset){ 0 };
}

void statset_begin(struct statset *t)
{
	t->runs++;
	t->now = 0;
}

/* The series is full: drops every second point, and doubles the stride. */
static void thin(struct statset_series *s)
{
	for (uint32_t i = 0; i < STATSET_POINTS_MAX / 2; i++)
		s->point[i] = s->point[2 * i];
	s->n = STATSET_POINTS_MAX / 2;
	s->stride *= 2;
}

static void add_value(struct statset_series *s, nsec_t at, double v)
{
	if (!s->stride)
		s->stride = 1;
	if (s->seen++ % s->stride || !isfinite(v))
		return;
	if (s->n == STATSET_POINTS_MAX) {
		thin(s);
		if ((s->seen - 1) % s->stride)
			return;
	}
	s->point[s->n++] = (struct statset_point){ at, v };
}

static void note_clock(struct statset *t, unsigned row, nsec_t error)
{
	double seconds = (double)error / 1e9;

	t->clock_sum[row] += seconds;
	if (seconds > t->clock_max[row])
		t->clock_max[row] = seconds;
}

void statset_add(struct statset *t, unsigned row, double v, nsec_t error)
{
	if (row < t->n && error > 0)
		note_clock(t, row, error);
	if (row < t->n)
		quantity_add(t->quantity[row], v);
	if (row < t->n && t->runs == 1)
		add_value(&t->series[row], t->now, v);
}

bool statset_is_done(const struct statset *t)
{
	for (unsigned i = 0; i < t->n; i++)
		if (t->rows[i].is_awaited && !quantity_is_done(t->quantity[i]))
			return false;
	return t->has_stop;
}

size_t statset_results(const struct statset *t, struct stat_result *out)
{
	for (unsigned i = 0; i < t->n; i++) {
		uint64_t n = quantity_moments(t->quantity[i])->n;

		out[i] = (struct stat_result){ .quantity = t->quantity[i],
					       .expected = NAN,
					       .series = &t->series[i],
					       .clock_mean = n ? t->clock_sum[i] / (double)n : 0,
					       .clock_max = t->clock_max[i] };
	}
	return t->n;
}
