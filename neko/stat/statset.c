/* SPDX-License-Identifier: Apache-2.0 */
#include "neko/stat/statset.h"

#include "common/base/file.h"
#include "common/base/str.h"

#include <math.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

/*
 * Returns the key of a setting: that of this quantity if it is configured, otherwise that of all.
 */
static const char *key_of(struct setup *s, const char *name, const char *what,
			  char key[SETUP_KEY_BYTES])
{
	snprintf(key, SETUP_KEY_BYTES, "stat.%s.%s", name, what);
	if (!setup_get(s, key))
		snprintf(key, SETUP_KEY_BYTES, "stat.%s", what);
	return key;
}

static int read_count(struct setup *s, const char *name, const char *what, uint64_t *out,
		      struct err *e)
{
	char key[SETUP_KEY_BYTES];

	return setup_u64(s, key_of(s, name, what, key), 0, UINT64_MAX, out, e);
}

/* Reads two numbers, such as "5, 5". */
static int read_trim(struct setup *s, const char *name, struct statset_trim *out, struct err *e)
{
	char key[SETUP_KEY_BYTES], copy[64], *comma;
	const char *text = setup_get(s, key_of(s, name, "trim", key));

	if (!text)
		return 0;
	str_copy(copy, sizeof(copy), text);
	comma = strchr(copy, ',');
	if (comma)
		*comma = 0;
	if (comma && !str_to_u64(str_trim(copy), 0, UINT64_MAX, &out->least) &&
	    !str_to_u64(str_trim(comma + 1), 0, UINT64_MAX, &out->greatest))
		return 0;
	err_set(e, ERR_INVALID, "'%s': write two numbers, of the least and greatest values: 5, 5",
		text);
	return setup_blame(s, key, e);
}

static int read_trims(struct setup *s, const char *name, struct statset_trim *out, struct err *e)
{
	char key[SETUP_KEY_BYTES];
	int rc = read_count(s, name, "drop_last", &out->last, e);

	if (!rc)
		rc = read_trim(s, name, out, e);
	return rc ? rc : setup_double(s, key_of(s, name, "fence", key), 0, 1e9, &out->fence, e);
}

static bool is_trimmed(const struct statset_trim *t)
{
	return t->last || t->least || t->greatest || t->fence > 0;
}

/* Sets the stop rule. The rule for all quantities applies to rows that are awaited. */
static int read_stop(struct setup *s, const struct neko_row *row, struct quantity_options *w,
		     struct err *e)
{
	char key[SETUP_KEY_BYTES];
	const char *rule = setup_get(s, key_of(s, row->name, "stop", key));
	bool is_general = strcmp(key, "stat.stop") == 0;

	if (!rule || (is_general && !row->is_awaited))
		return 0;
	return stop_parse(rule, &w->stop, e) ? setup_blame(s, key, e) : 0;
}

static int open_quantity(struct statset *t, struct quantity_options *w, struct err *e)
{
	struct statset_line *l = &t->line[t->n];
	const char *prefix = setup_get(t->setup, "stat.files");
	char path[FILE_PATH_BYTES];
	int rc;

	if (prefix)
		w->kind = QUANTITY_ON_FILE;
	if (w->kind == QUANTITY_ON_FILE &&
	    snprintf(path, sizeof(path), "%s%s", prefix ? prefix : "", w->name) >=
		    (int)sizeof(path))
		return err_set(e, ERR_LIMIT, "a path of more than %d bytes", FILE_PATH_BYTES);
	w->path = path;
	rc = quantity_open(w, &l->quantity, e);
	if (rc)
		return prefix ? setup_blame(t->setup, "stat.files", e) : rc;
	if (!is_trimmed(&l->trim))
		return 0;
	w->stop = (struct stop){ 0 };
	w->kind = QUANTITY_VALUES;
	rc = quantity_open(w, &l->of_run, e);
	w->drop_count = 0;
	w->kind = QUANTITY_STATISTICS;
	return rc ? rc : quantity_open(w, &l->kept, e);
}

static int check_line(const struct statset *t, const char *name, struct err *e)
{
	if (t->n == STAT_QUANTITIES_MAX)
		return err_set(e, ERR_LIMIT, "a handler has at most %d quantities",
			       STAT_QUANTITIES_MAX);
	for (unsigned i = 0; i < t->n; i++)
		if (str_eq(quantity_name(t->line[i].quantity), name))
			return err_set(e, ERR_EXISTS, "two quantities have the name %s", name);
	return 0;
}

static void close_line(struct statset_line *l)
{
	quantity_free(l->quantity);
	quantity_free(l->of_run);
	quantity_free(l->kept);
	*l = (struct statset_line){ 0 };
}

static int add_line(struct statset *t, const struct neko_row *row, enum quantity_kind kind,
		    bool is_own, struct err *e)
{
	struct quantity_options w = { .name = row->name, .unit = row->unit, .kind = kind };
	int rc = check_line(t, row->name, e);
	struct statset_line *l;

	if (rc)
		return rc;
	l = &t->line[t->n];
	rc = read_count(t->setup, row->name, "drop", &w.drop_count, e);
	if (!rc && !is_own)
		rc = read_trims(t->setup, row->name, &l->trim, e);
	if (!rc)
		rc = read_stop(t->setup, row, &w, e);
	l->is_awaited = w.stop.n > 0;
	l->is_own = is_own;
	if (!rc)
		rc = open_quantity(t, &w, e);
	if (rc)
		close_line(l);
	else
		t->n++;
	return rc;
}

int statset_open(struct statset *t, const struct neko_row *rows, struct setup *s, struct err *e)
{
	int rc = 0;

	setup_get(s, "stat.stop");
	t->setup = s;
	t->series = calloc(STAT_QUANTITIES_MAX, sizeof(*t->series));
	if (!t->series)
		return err_nomem(e);
	for (; rows && rows->name && !rc; rows++)
		rc = add_line(t, rows, QUANTITY_STATISTICS, false, e);
	return rc;
}

int statset_add_own(struct statset *t, const struct neko_row *row, enum quantity_kind kind,
		    struct err *e)
{
	return add_line(t, row, kind, true, e);
}

void statset_done(struct statset *t)
{
	for (unsigned i = 0; i < t->n; i++)
		close_line(&t->line[i]);
	free(t->series);
	*t = (struct statset){ 0 };
}

void statset_begin(struct statset *t)
{
	t->runs++;
	t->now = 0;
	t->is_running = true;
}

/*
 * Removes outliers of the values that transients have left. Without memory no values are removed.
 */
static void trim(struct statset_line *l)
{
	quantity_drop_ends(l->of_run, 0, l->trim.last);
	if (l->trim.fence > 0)
		quantity_trim_beyond(l->of_run, l->trim.fence);
	quantity_trim(l->of_run, l->trim.least, l->trim.greatest);
	quantity_merge(l->kept, l->of_run, NULL);
	quantity_clear(l->of_run);
}

void statset_end(struct statset *t)
{
	t->is_running = false;
	for (unsigned i = 0; i < t->n; i++)
		if (t->line[i].of_run)
			trim(&t->line[i]);
}

/* Halves a full series: drops every second point, and doubles the stride. */
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

void statset_note_own(struct statset *t)
{
	for (unsigned i = 0; t->runs == 1 && i < t->n; i++) {
		struct statset_line *l = &t->line[i];

		if (!l->is_own || quantity_count(l->quantity) <= l->seen)
			continue;
		l->seen = quantity_count(l->quantity);
		add_value(&t->series[i], t->now, quantity_moments(l->quantity)->last);
	}
}

static void note_clock(struct statset_line *l, nsec_t error)
{
	double seconds = (double)error / 1e9;

	l->clock_sum += seconds;
	if (seconds > l->clock_max)
		l->clock_max = seconds;
}

void statset_add(struct statset *t, unsigned row, double v, nsec_t error)
{
	struct statset_line *l = &t->line[row];

	if (row >= t->n)
		return;
	if (error > 0)
		note_clock(l, error);
	quantity_add(l->quantity, v);
	if (l->of_run)
		quantity_add(l->of_run, v);
	if (t->runs == 1)
		add_value(&t->series[row], t->now, v);
}

bool statset_has_rule(const struct statset *t)
{
	for (unsigned i = 0; i < t->n; i++)
		if (t->line[i].is_awaited)
			return true;
	return false;
}

bool statset_is_done(const struct statset *t)
{
	for (unsigned i = 0; i < t->n; i++)
		if (t->line[i].is_awaited && !quantity_is_done(t->line[i].quantity))
			return false;
	return statset_has_rule(t);
}

size_t statset_results(const struct statset *t, struct stat_result *out)
{
	for (unsigned i = 0; i < t->n; i++) {
		const struct statset_line *l = &t->line[i];
		uint64_t n = quantity_count(l->quantity);

		out[i] = (struct stat_result){ .quantity = l->kept && !t->is_running ? l->kept
										     : l->quantity,
					       .expected = NAN,
					       .series = &t->series[i],
					       .clock_mean = n ? l->clock_sum / (double)n : 0,
					       .clock_max = l->clock_max };
	}
	return t->n;
}
