/* SPDX-License-Identifier: Apache-2.0 */
/* Table 2: errors by service time distribution and number of services. */
#include "common/base/array.h"
#include "common/json/json.h"
#include "eventlog/lifeline/svgchart.h"
#include "model/experiment/fit.h"
#include "model/experiment/printed.h"
#include "stats/interval.h"
#include "stats/report.h"
#include "stats/student.h"
#include "tools/model/experiment.h"
#include "tools/term/say.h"
#include "tools/term/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEVEL 0.95 /* of the intervals that are shown */

struct cell {
	struct study study;
	struct study_result result;
	const struct printed_cell *printed; /* NULL: the paper has none */
	char law[64];
	double distance; /* of the printed mean; NaN */
};

struct table2 {
	const struct experiment_options *options;
	struct cell cell[PRINTED_CELLS];
	size_t n;
	struct fit fit;
};

static const char *outcome(const struct cell *c)
{
	if (isnan(c->distance))
		return "-";
	return fabs(c->distance) <= normal_two_sided(FIT_BAND) ? "fits"
	       : c->distance > 0			       ? "above"
							       : "below";
}

/* --- text */

/* The first line: the conclusion. */
static void put_conclusion(const struct table2 *t, struct buf *out)
{
	const struct fit *f = &t->fit;
	char p[EXPERIMENT_P_BYTES];

	if (!f->cells) {
		buf_puts(out, "The paper has no figures for these services.\n");
		return;
	}
	buf_printf(out,
		   f->p >= FIT_P_MIN
			   ? "The printed figures fit this setting: %u of %u lie outside of the "
			   : "The printed figures do not fit this setting: %u of %u lie outside of "
			     "the ",
		   f->outside, f->cells);
	buf_printf(out, "99.9 %% band (chi-square %.0f, p %s).\n", f->chi_square,
		   experiment_p(p, f->p));
	if (f->p < FIT_P_MIN)
		buf_puts(out, "--fit searches the settings that the text leaves open.\n");
}

static void put_row(struct table *rows, const struct cell *c)
{
	struct interval own = interval_of_mean(&c->result.error, LEVEL);

	table_cell(rows, "%u", c->study.server.services);
	table_cell(rows, "%s", c->law);
	if (c->printed) {
		table_cell(rows, "%.4f", c->printed->mean);
		table_cell(rows, "%.4f", c->printed->p90);
	} else {
		table_cell(rows, "-");
		table_cell(rows, "-");
	}
	if (isnan(own.half))
		table_cell(rows, "%s", c->result.error.n ? "one value" : "-");
	else
		table_cell(rows, "%.4f +- %.4f", own.mean, own.half);
	if (c->result.error.n)
		table_cell(rows, "%.4f", study_quantile(&c->result, 0.9));
	else
		table_cell(rows, "-");
	table_cell(rows, "%s", outcome(c));
	if (c->result.intervals)
		table_cell(rows, "%.1f",
			   100.0 * (double)c->result.covered / (double)c->result.intervals);
	else
		table_cell(rows, "-");
	table_cell(rows, "%u", c->result.refused);
}

static void put_notes(const struct table2 *t, struct buf *out)
{
	buf_printf(out,
		   "\nErrors are E_rel, with 95 %% intervals. PRINTED and OWN are means over "
		   "replications;\nP90 is what 90 %% of them do not exceed. COVERED: the share of "
		   "%.0f %% intervals that\ncontain the real demand. REFUSED: replications without "
		   "an estimate.\n",
		   100 * t->options->base.level);
	for (size_t i = 0; i < t->n; i++)
		if (t->cell[i].result.refused) {
			buf_printf(out, "! %u services, %s: %s\n", t->cell[i].study.server.services,
				   t->cell[i].law, t->cell[i].result.reason.text);
			break;
		}
}

static void put_text(const void *results, struct buf *out)
{
	static const char *const heads[] = { "SERVICES", "DISTRIBUTION", "PRINTED", "P90",    "OWN",
					     "P90",	 "PRINT",	 "COVERED", "REFUSED" };
	const struct table2 *t = results;
	struct table *rows = table_new(ARRAY_LEN(heads), heads, "rlrrrrlrr");

	put_conclusion(t, out);
	buf_printf(out, "Method %s: %s.\n\n", estimate_name(t->options->base.method),
		   estimate_words(t->options->base.method));
	for (size_t i = 0; rows && i < t->n; i++)
		put_row(rows, &t->cell[i]);
	if (table_end(rows, 0, out))
		out->failed = true;
	put_notes(t, out);
}

/* --- CSV and JSON */

static void put_csv(const void *results, struct buf *out)
{
	const struct table2 *t = results;

	buf_puts(out, "services,distribution,printed,printed_p90,own,own_half,own_p90,distance,"
		      "covered,intervals,replications,refused\n");
	for (size_t i = 0; i < t->n; i++) {
		const struct cell *c = &t->cell[i];
		struct interval own = interval_of_mean(&c->result.error, LEVEL);

		buf_printf(out, "%u,", c->study.server.services);
		report_csv_text(c->law, out);
		experiment_csv(out, c->printed ? c->printed->mean : NAN);
		experiment_csv(out, c->printed ? c->printed->p90 : NAN);
		experiment_csv(out, own.mean);
		experiment_csv(out, own.half);
		experiment_csv(out, study_quantile(&c->result, 0.9));
		experiment_csv(out, c->distance);
		buf_printf(out, ",%llu,%llu,%llu,%u\n", (unsigned long long)c->result.covered,
			   (unsigned long long)c->result.intervals,
			   (unsigned long long)c->result.error.n, c->result.refused);
	}
}

static void put_cell(const struct cell *c, struct json *j)
{
	struct interval own = interval_of_mean(&c->result.error, LEVEL);

	json_object(j);
	json_key_u64(j, "services", c->study.server.services);
	json_key_str(j, "distribution", c->law);
	json_key_double(j, "printed", c->printed ? c->printed->mean : NAN);
	json_key_double(j, "printed_p90", c->printed ? c->printed->p90 : NAN);
	json_key_double(j, "own", own.mean);
	json_key_double(j, "own_half", own.half);
	json_key_double(j, "own_p90", study_quantile(&c->result, 0.9));
	json_key_double(j, "distance", c->distance);
	json_key_u64(j, "covered", c->result.covered);
	json_key_u64(j, "intervals", c->result.intervals);
	json_key_u64(j, "replications", c->result.error.n);
	json_key_u64(j, "refused", c->result.refused);
	json_object_end(j);
}

static void put_json(const void *results, struct json *j)
{
	const struct table2 *t = results;

	json_key_str(j, "table", "table2");
	json_key_double(j, "interval_level", LEVEL);
	experiment_factors(&t->options->base, j);
	json_key_object(j, "fit");
	json_key_u64(j, "cells", t->fit.cells);
	json_key_u64(j, "outside", t->fit.outside);
	json_key_double(j, "chi_square", t->fit.cells ? t->fit.chi_square : NAN);
	json_key_double(j, "p", t->fit.p);
	json_object_end(j);
	json_key_array(j, "cells");
	for (size_t i = 0; i < t->n; i++)
		put_cell(&t->cell[i], j);
	json_array_end(j);
}

/* --- picture */

/* Adds the cells of one number of services: a curve as printed, and one of own, with intervals. */
static void make_curves(const struct table2 *t, size_t first, struct svg_curve *curve,
			struct svg_point (*point)[PRINTED_LAWS])
{
	size_t sizes = t->options->has_services ? 1 : PRINTED_SIZES, n = 0;

	for (size_t i = first; i < t->n; i += sizes, n++) {
		const struct cell *c = &t->cell[i];
		struct interval own = interval_of_mean(&c->result.error, LEVEL);
		double at = (double)n, printed = c->printed ? c->printed->mean : NAN;

		point[0][n] = (struct svg_point){ at, printed, NAN };
		point[1][n] = (struct svg_point){ at, own.mean, own.half };
	}
	for (size_t i = 0; i < 2; i++) {
		curve[i].point = point[i];
		curve[i].n = n;
	}
}

static void put_svg(const void *results, struct buf *out)
{
	const struct table2 *t = results;
	struct svg_curve curve[2 * PRINTED_SIZES];
	struct svg_point point[2 * PRINTED_SIZES][PRINTED_LAWS];
	char name[2 * PRINTED_SIZES][64];
	const char *place[PRINTED_CELLS];
	size_t sizes = t->options->has_services ? 1 : PRINTED_SIZES;
	struct svg_chart chart = { .left = 70,
				   .top = 40,
				   .wide = 640,
				   .high = 300,
				   .x_words = "service time distribution",
				   .y_words = "E_rel",
				   .is_log_y = true,
				   .has_dots = true,
				   .curve = curve,
				   .place = place };

	for (size_t i = 0; i < sizes; i++) {
		make_curves(t, i, curve + 2 * i, point + 2 * i);
		for (size_t j = 0; j < 2; j++) {
			snprintf(name[2 * i + j], sizeof(*name), "%u services, %s",
				 t->cell[i].study.server.services, j ? "own" : "printed");
			curve[2 * i + j].name = name[2 * i + j];
		}
	}
	chart.n = 2 * sizes;
	chart.nplace = curve[0].n;
	for (size_t i = 0; i < chart.nplace; i++)
		place[i] = t->cell[i * sizes].law;
	buf_printf(out,
		   "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"1000\" height=\"420\">\n"
		   "<style>text{font:12px sans-serif}%s</style>\n",
		   svg_chart_style);
	svg_text(out, 70, 24, "", "Errors of estimated demands: printed figures and own");
	svg_chart(out, &chart);
	buf_puts(out, "</svg>\n");
}

/* --- the run */

static void set_law(struct cell *c)
{
	struct buf b = BUF_INIT(sizeof(c->law) - 1);

	law_print(&c->study.server.service, &b);
	snprintf(c->law, sizeof(c->law), "%s", buf_str(&b));
	buf_done(&b);
}

/* Adds a cell, with its printed figures if there are some. */
static void add_cell(struct table2 *t, const struct law *law, unsigned services)
{
	struct cell *c = &t->cell[t->n++];

	c->study = t->options->base;
	c->study.server.service = *law;
	c->study.server.services = services;
	c->distance = NAN;
	set_law(c);
	for (size_t i = 0; i < PRINTED_LAWS; i++)
		for (size_t j = 0; j < PRINTED_SIZES; j++)
			if (!strcmp(c->law, printed_laws[i]) && services == printed_sizes[j])
				c->printed = &printed_table2[i][j];
}

/* A law or a number of services that the user sets takes the place of the paper's. */
static void make_cells(struct table2 *t)
{
	const struct experiment_options *w = t->options;

	for (size_t i = 0; i < (w->has_law ? 1 : PRINTED_LAWS); i++) {
		struct law law = w->base.server.service;

		if (!w->has_law)
			law_parse(printed_laws[i], &law, NULL);
		for (size_t j = 0; j < (w->has_services ? 1 : PRINTED_SIZES); j++)
			add_cell(t, &law,
				 w->has_services ? w->base.server.services : printed_sizes[j]);
	}
}

static int run_cells(struct experiment_options *w, struct table2 *t)
{
	int status = CMD_OK;

	for (size_t i = 0; i < t->n && status == CMD_OK; i++) {
		struct cell *c = &t->cell[i];

		status = experiment_run(w, &c->study, c->law, &c->result);
		if (c->printed)
			c->distance =
				study_distance(&c->result, c->printed->mean, PRINTED_REPLICATIONS);
		fit_add(&t->fit, c->distance);
	}
	fit_end(&t->fit);
	return status;
}

int experiment_table2(struct experiment_options *w)
{
	struct table2 *t = calloc(1, sizeof(*t));
	const struct experiment_form form = { put_text, put_csv, put_json, put_svg, t };
	int status;

	if (!t)
		return cmd_fail(CMD_FAILURE, "out of memory");
	t->options = w;
	make_cells(t);
	status = run_cells(w, t);
	progress_end(&w->progress);
	if (status == CMD_OK)
		status = experiment_write(w, &form);
	for (size_t i = 0; i < t->n; i++)
		study_done(&t->cell[i].result);
	free(t);
	return status;
}
