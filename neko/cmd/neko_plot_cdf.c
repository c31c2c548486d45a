/* SPDX-License-Identifier: Apache-2.0 */
/* Draws two runs in one chart: for each quantity the share of values up to each value. */
#include "neko/cmd/neko_plot.h"

#include "common/base/str.h"
#include "eventlog/lifeline/svgchart.h"
#include "neko/cmd/neko_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define LEFT 70
#define WIDE 640 /* width of the plot; names of curves are to its right */
#define POINTS_MAX 1024
#define NAME_BYTES 160

struct points {
	struct svg_point point[POINTS_MAX];
	size_t n;
};

static void add_point(struct points *to, double x, double y)
{
	if (to->n < POINTS_MAX)
		to->point[to->n++] = (struct svg_point){ x, y, NAN };
}

/*
 * Derives points from the bins of a histogram, exact at their edges. Older results contain no
 * shares.
 */
static void points_of_bins(struct points *to, struct json_object *quantity)
{
	struct json_object *bins = results_get(quantity, "histogram");
	double n = results_member(quantity, "n"), sum = 0;

	for (size_t i = 0; i < results_count(bins); i++) {
		struct json_object *b = results_item(bins, i);

		if (!i)
			add_point(to, results_member(b, "from"), 0);
		sum += results_member(b, "count");
		add_point(to, results_member(b, "to"), sum / n);
	}
}

/* Reads pairs of a value and a share. The curve is a straight line between two of them. */
static void points_of(struct points *to, struct json_object *quantity)
{
	struct json_object *cdf = results_get(quantity, "cdf");

	to->n = 0;
	for (size_t i = 0; i < results_count(cdf); i++)
		add_point(to, results_number(results_item(results_item(cdf, i), 0), NAN),
			  results_number(results_item(results_item(cdf, i), 1), NAN));
	if (!to->n)
		points_of_bins(to, quantity);
}

static struct json_object *find(struct json_object *results, const char *name)
{
	struct json_object *all = results_get(results, "quantities");

	for (size_t i = 0; i < results_count(all); i++) {
		struct json_object *q = results_item(all, i);

		if (str_eq(results_text(results_get(q, "name"), ""), name) &&
		    results_number(results_get(q, "n"), 0) > 0)
			return q;
	}
	return NULL;
}

static void name_curve(char out[NAME_BYTES], const struct plot_run *run, struct json_object *q)
{
	const char *slash = strrchr(run->name, '/');

	snprintf(out, NAME_BYTES, "%.60s: %.20s, n = %.0f", slash ? slash + 1 : run->name,
		 results_text(results_get(run->results, "world"), "?"),
		 results_number(results_get(q, "n"), 0));
}

static int draw(const struct plot_onto *onto, const struct plot_run run[2], const char *name,
		double at, struct err *e)
{
	struct points points[2];
	struct svg_curve curve[2];
	char words[2][NAME_BYTES], unit[NAME_BYTES] = "";
	struct svg_chart chart = { .left = LEFT,
				   .top = at + PLOT_CHART_TOP,
				   .wide = WIDE,
				   .high = PLOT_CHART_HIGH,
				   .x_words = unit,
				   .y_words = "share of values up to x",
				   .is_log_x = onto->logs & PLOT_LOG_X,
				   .is_log_y = onto->logs & PLOT_LOG_Y,
				   .curve = curve };

	for (size_t i = 0; i < 2; i++) {
		struct json_object *q = find(run[i].results, name);

		if (!q)
			continue;
		plot_name(unit, sizeof(unit), q);
		points_of(&points[i], q);
		name_curve(words[i], &run[i], q);
		curve[chart.n++] = (struct svg_curve){ words[i], points[i].point, points[i].n };
	}
	if (onto->page)
		return neko_text_curves(onto->page, unit, &chart, e);
	svg_text(onto->out, LEFT, at + 20, "class=\"name\"", unit);
	plot_left_out(onto->out, at + PLOT_CHART_TOP + PLOT_CHART_HIGH + 30,
		      svg_chart(onto->out, &chart));
	return 0;
}

/*
 * Returns the name of quantity k: first those of run 0, then those of run 1 only. Returns NULL at
 * the end, and "" if the quantity has no values or is in a previous chart.
 */
static const char *name_at(const struct plot_run run[2], size_t k)
{
	struct json_object *first = results_get(run[0].results, "quantities");
	struct json_object *second = results_get(run[1].results, "quantities");
	size_t n = results_count(first);
	bool is_second = k >= n;
	const char *name;

	if (is_second && k - n >= results_count(second))
		return NULL;
	name = results_text(
		results_get(is_second ? results_item(second, k - n) : results_item(first, k),
			    "name"),
		"");
	if ((is_second && find(run[0].results, name)) ||
	    (!find(run[0].results, name) && !find(run[1].results, name)))
		return "";
	return name;
}

int plot_cdf(const struct plot_onto *onto, const struct plot_run run[2], struct err *e)
{
	double at = PLOT_HEAD;
	const char *name;
	size_t charts = 0;
	char title[256];
	int rc = 0;

	for (size_t k = 0; (name = name_at(run, k)); k++)
		charts += *name != 0;
	if (!charts)
		return err_set(e, ERR_INVALID, "neither run has a quantity with values");
	snprintf(title, sizeof(title), "%.100s and %.100s", run[0].name, run[1].name);
	if (!onto->page)
		plot_begin(
			onto->out, PLOT_HEAD + (double)charts * PLOT_CHART, title,
			"share of the values that are at most x; omig neko compare tests whether the "
			"means differ");
	for (size_t k = 0; !rc && (name = name_at(run, k)); k++) {
		if (!*name)
			continue;
		rc = draw(onto, run, name, at, e);
		at += PLOT_CHART;
	}
	return rc;
}
