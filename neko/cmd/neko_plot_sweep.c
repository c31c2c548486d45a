/* SPDX-License-Identifier: Apache-2.0 */
/* A sweep: for each quantity its means with 95 % intervals over the first key. Each combination of
 * the other keys is a curve. */
#include "neko/cmd/neko_plot.h"

#include "common/base/clock.h"
#include "common/base/str.h"
#include "common/cli/opt.h"
#include "eventlog/lifeline/svgchart.h"
#include "neko/cmd/neko_sweep.h"
#include "neko/cmd/neko_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEFT 70
#define WIDE 640 /* width of the plot; names of curves are to its right */
#define CURVES_MAX 32 /* more curves cannot be distinguished */
#define NAME_BYTES 160

enum scale { SCALE_NUMBERS, SCALE_TIMES, SCALE_PLACES };

struct sweep {
	struct json_object *row, *keys;
	size_t n; /* number of rows */
	enum scale scale; /* scale of the axis for the first key */
	double x[NEKO_SWEEP_POINTS_MAX]; /* by row: position on the axis */
	const char *place[NEKO_SWEEP_POINTS_MAX]; /* distinct values of the first key */
	size_t nplace;
	size_t curve[NEKO_SWEEP_POINTS_MAX]; /* by row: index of its curve */
	char name[CURVES_MAX][NAME_BYTES];
	size_t ncurve, left_out;
	struct svg_point point[NEKO_SWEEP_POINTS_MAX];
};

bool plot_is_sweep(struct json_object *results)
{
	return results_is_array(results_get(results, "sweep"));
}

static const char *key(const struct sweep *s, size_t i)
{
	return results_text(results_item(s->keys, i), "");
}

static const char *value(const struct sweep *s, size_t row, size_t i)
{
	return results_text(results_get(results_get(results_item(s->row, row), "set"), key(s, i)),
			    "");
}

/* --- positions of rows */

static bool is_on(enum scale scale, const char *text, double *x)
{
	int64_t ns = 0;

	if (scale == SCALE_NUMBERS)
		return !str_to_double(text, -1e300, 1e300, x);
	if (opt_to_nsec(text, 0, INT64_MAX / 2, &ns))
		return false;
	*x = (double)ns / 1e9;
	return true;
}

static size_t place_of(struct sweep *s, const char *text)
{
	size_t i = 0;

	while (i < s->nplace && !str_eq(s->place[i], text))
		i++;
	if (i == s->nplace)
		s->place[s->nplace++] = text;
	return i;
}

/*
 * Finds the positions of the first key's values: as numbers, otherwise as times in seconds,
 * otherwise in the order of the sweep.
 */
static void find_places(struct sweep *s)
{
	for (s->scale = SCALE_NUMBERS; s->scale < SCALE_PLACES; s->scale++) {
		size_t i = 0;

		while (i < s->n && is_on(s->scale, value(s, i, 0), &s->x[i]))
			i++;
		if (i == s->n)
			return;
	}
	for (size_t i = 0; i < s->n; i++)
		s->x[i] = (double)place_of(s, value(s, i, 0));
}

/* Writes a name such as "loss=0.05, eta=1s" from the keys behind the first one. */
static void name_curve(const struct sweep *s, size_t row, char out[NAME_BYTES])
{
	int n = 0;

	out[0] = 0;
	for (size_t i = 1; i < results_count(s->keys) && n < NAME_BYTES; i++)
		n += snprintf(out + n, (size_t)(NAME_BYTES - n), "%s%s=%s", i > 1 ? ", " : "",
			      key(s, i), value(s, row, i));
}

static void find_curves(struct sweep *s)
{
	char name[NAME_BYTES];

	for (size_t row = 0; row < s->n; row++) {
		size_t i = 0;

		name_curve(s, row, name);
		while (i < s->ncurve && !str_eq(s->name[i], name))
			i++;
		s->curve[row] = i;
		if (i < s->ncurve)
			continue;
		if (i == CURVES_MAX)
			s->left_out++;
		else
			str_copy(s->name[s->ncurve++], NAME_BYTES, name);
	}
}

/* --- quantities */

static struct json_object *cell(const struct sweep *s, size_t row, const char *name)
{
	struct json_object *all = results_get(results_item(s->row, row), "quantities");

	for (size_t i = 0; i < results_count(all); i++)
		if (str_eq(results_text(results_get(results_item(all, i), "name"), ""), name))
			return results_item(all, i);
	return NULL;
}

/* Returns the quantities of the row that has the most. */
static struct json_object *quantities(const struct sweep *s)
{
	struct json_object *most = NULL;

	for (size_t i = 0; i < s->n; i++) {
		struct json_object *all = results_get(results_item(s->row, i), "quantities");

		if (results_count(all) > results_count(most))
			most = all;
	}
	return most;
}

static bool has_values(const struct sweep *s, const char *name)
{
	for (size_t i = 0; i < s->n; i++)
		if (results_number(results_get(cell(s, i, name), "n"), 0) > 0)
			return true;
	return false;
}

static int compare_points(const void *a, const void *b)
{
	const struct svg_point *x = a, *y = b;

	return (x->x > y->x) - (x->x < y->x);
}

/* Collects the points of each curve, adjacent and in ascending order. */
static size_t fill(struct sweep *s, const char *name, struct svg_curve curve[CURVES_MAX])
{
	size_t at = 0;

	for (size_t k = 0; k < s->ncurve; k++) {
		struct svg_point *first = &s->point[at];

		curve[k] = (struct svg_curve){ .name = s->name[k], .point = first };
		for (size_t row = 0; row < s->n; row++) {
			struct json_object *c = s->curve[row] == k ? cell(s, row, name) : NULL;

			if (!c || !(results_number(results_get(c, "n"), 0) > 0))
				continue;
			first[curve[k].n++] = (struct svg_point){
				.x = s->x[row],
				.y = results_member(c, "mean"),
				.half = results_member(c, "half_95"),
			};
			at++;
		}
		if (curve[k].n > 1)
			qsort(first, curve[k].n, sizeof(*first), compare_points);
	}
	return s->ncurve;
}

static int draw(const struct plot_onto *onto, struct sweep *s, struct json_object *quantity,
		double at, struct err *e)
{
	struct svg_curve curve[CURVES_MAX];
	char name[NAME_BYTES], x_words[NAME_BYTES];
	const struct svg_chart chart = {
		.left = LEFT,
		.top = at + PLOT_CHART_TOP,
		.wide = WIDE,
		.high = PLOT_CHART_HIGH,
		.x_words = x_words,
		.y_words = onto->page ? "mean" : "mean, 95 % interval",
		.is_log_x = (onto->logs & PLOT_LOG_X) && s->scale != SCALE_PLACES,
		.is_log_y = onto->logs & PLOT_LOG_Y,
		.has_dots = true,
		.curve = curve,
		.n = fill(s, results_text(results_get(quantity, "name"), ""), curve),
		.place = s->scale == SCALE_PLACES ? s->place : NULL,
		.nplace = s->nplace,
	};

	plot_name(name, sizeof(name), quantity);
	snprintf(x_words, sizeof(x_words), "%.100s%s", key(s, 0),
		 s->scale == SCALE_TIMES ? " (s)" : "");
	if (onto->page)
		return neko_text_curves(onto->page, name, &chart, e);
	svg_text(onto->out, LEFT, at + 20, "class=\"name\"", name);
	plot_left_out(onto->out, at + PLOT_CHART_TOP + PLOT_CHART_HIGH + 30,
		      svg_chart(onto->out, &chart) + s->left_out);
	return 0;
}

static int draw_all(const struct plot_onto *onto, struct sweep *s, struct json_object *results,
		    struct err *e)
{
	struct json_object *all = quantities(s);
	double at = PLOT_HEAD;
	size_t charts = 0;
	char words[128];
	int rc = 0;

	for (size_t i = 0; i < results_count(all); i++)
		charts +=
			has_values(s, results_text(results_get(results_item(all, i), "name"), ""));
	if (!charts)
		return err_set(e, ERR_INVALID, "no quantity of this sweep has values");
	snprintf(words, sizeof(words), "a sweep: %zu of %.0f runs%s", s->n,
		 results_member(results, "points"),
		 results_truth(results_get(results, "partial"), false) ? ", partial results" : "");
	if (onto->page)
		buf_printf(onto->page->out, "%s\n\n", words);
	else
		plot_begin(onto->out, PLOT_HEAD + (double)charts * PLOT_CHART,
			   results_text(results_get(results, "configuration"), "a sweep"), words);
	for (size_t i = 0; i < results_count(all) && !rc; i++) {
		struct json_object *q = results_item(all, i);

		if (!has_values(s, results_text(results_get(q, "name"), "")))
			continue;
		rc = draw(onto, s, q, at, e);
		at += PLOT_CHART;
	}
	return rc;
}

int plot_sweep(const struct plot_onto *onto, struct json_object *results, struct err *e)
{
	struct sweep *s = calloc(1, sizeof(*s));
	int rc;

	if (!s)
		return err_nomem(e);
	s->row = results_get(results, "sweep");
	s->keys = results_get(results, "keys");
	s->n = results_count(s->row);
	if (!results_count(s->keys) || results_count(s->keys) > NEKO_SWEEP_KEYS_MAX || !s->n ||
	    s->n > NEKO_SWEEP_POINTS_MAX) {
		free(s);
		return err_set(e, ERR_INVALID,
			       "this is not a sweep with 1 to %d runs; make one with omig neko run "
			       "--sweep -o",
			       NEKO_SWEEP_POINTS_MAX);
	}
	find_places(s);
	find_curves(s);
	rc = draw_all(onto, s, results, e);
	free(s);
	return rc;
}
