/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Table 1: analysis of variance of a 2^5 experiment with three replications. The experiment is
 * repeated with other seeds, because the shares of one experiment vary by chance.
 */
#include "common/base/array.h"
#include "common/json/json.h"
#include "eventlog/lifeline/svgchart.h"
#include "model/experiment/anova.h"
#include "model/experiment/printed.h"
#include "stats/report.h"
#include "tools/model/experiment.h"
#include "tools/term/say.h"
#include "tools/term/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define RUNS (1u << PRINTED_FACTORS)
#define REPLICATIONS 3
#define REPEATS_USUAL 20 /* a twentieth of the values is outside of their range, by chance */
#define ROWS (PRINTED_SOURCES + 2) /* shares, and the two sums of squares */

struct row {
	const char *words;
	double printed;
	double *own; /* owned; of each repeat, then rising */
};

struct table1 {
	const struct experiment_options *options;
	unsigned repeats, outside;
	struct row row[ROWS];
};

static double median(const struct table1 *t, const struct row *r)
{
	return (r->own[(t->repeats - 1) / 2] + r->own[t->repeats / 2]) / 2;
}

static bool fits(const struct table1 *t, const struct row *r)
{
	return r->own[0] <= r->printed && r->printed <= r->own[t->repeats - 1];
}

/* --- output */

static void put_text(const void *results, struct buf *out)
{
	static const char *const heads[] = { "SOURCE", "PRINTED", "OWN MEDIAN", "OWN RANGE",
					     "PRINT" };
	const struct table1 *t = results;
	struct table *rows = table_new(ARRAY_LEN(heads), heads, "lrrrl");
	const struct row *first = &t->row[0];

	for (size_t i = 1; i < PRINTED_FACTORS; i++)
		if (median(t, &t->row[i]) > median(t, first))
			first = &t->row[i];
	buf_printf(out,
		   "The %s explains most of the variation of the error: %.1f %% (%.1f to %.1f), "
		   "printed %.1f %%.\n",
		   first->words, median(t, first), first->own[0], first->own[t->repeats - 1],
		   first->printed);
	buf_printf(out, "%u of %u printed figures lie outside of the range of %u experiments.\n\n",
		   t->outside, ROWS, t->repeats);
	for (size_t i = 0; rows && i < ROWS; i++) {
		const struct row *r = &t->row[i];

		table_cell(rows, "%s", r->words);
		table_cell(rows, i < PRINTED_SOURCES ? "%.1f %%" : "%.4f", r->printed);
		table_cell(rows, i < PRINTED_SOURCES ? "%.1f %%" : "%.4f", median(t, r));
		table_cell(rows, i < PRINTED_SOURCES ? "%.1f to %.1f" : "%.4f to %.4f", r->own[0],
			   r->own[t->repeats - 1]);
		table_cell(rows, "%s", fits(t, r) ? "fits" : "outside");
	}
	if (table_end(rows, 0, out))
		out->failed = true;
}

static void put_csv(const void *results, struct buf *out)
{
	const struct table1 *t = results;

	buf_puts(out, "source,printed,median,least,most,experiments\n");
	for (size_t i = 0; i < ROWS; i++) {
		const struct row *r = &t->row[i];

		report_csv_text(r->words, out);
		buf_printf(out, ",%.10g,%.10g,%.10g,%.10g,%u\n", r->printed, median(t, r),
			   r->own[0], r->own[t->repeats - 1], t->repeats);
	}
}

static void put_json(const void *results, struct json *j)
{
	const struct table1 *t = results;

	json_key_str(j, "table", "table1");
	experiment_factors(&t->options->base, j);
	json_key_u64(j, "experiments", t->repeats);
	json_key_u64(j, "outside", t->outside);
	json_key_array(j, "sources");
	for (size_t i = 0; i < ROWS; i++) {
		const struct row *r = &t->row[i];

		json_object(j);
		json_key_str(j, "source", r->words);
		json_key_double(j, "printed", r->printed);
		json_key_double(j, "median", median(t, r));
		json_key_double(j, "least", r->own[0]);
		json_key_double(j, "most", r->own[t->repeats - 1]);
		json_object_end(j);
	}
	json_array_end(j);
}

static void put_svg(const void *results, struct buf *out)
{
	const struct table1 *t = results;
	struct svg_point point[2][PRINTED_SOURCES];
	const struct svg_curve curve[] = { { "printed", point[0], PRINTED_SOURCES },
					   { "own, with its range", point[1], PRINTED_SOURCES } };
	const char *place[PRINTED_SOURCES];
	const struct svg_chart chart = { .left = 70,
					 .top = 40,
					 .wide = 1000,
					 .high = 300,
					 .x_words = "source",
					 .y_words = "% of the variation",
					 .has_dots = true,
					 .curve = curve,
					 .n = 2,
					 .place = place,
					 .nplace = PRINTED_SOURCES };

	for (size_t i = 0; i < PRINTED_SOURCES; i++) {
		const struct row *r = &t->row[i];
		double least = r->own[0], most = r->own[t->repeats - 1], at = (double)i;

		point[0][i] = (struct svg_point){ at, r->printed, NAN };
		point[1][i] = (struct svg_point){ at, (least + most) / 2, (most - least) / 2 };
		place[i] = r->words;
	}
	buf_printf(out,
		   "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"1300\" height=\"420\">\n"
		   "<style>text{font:12px sans-serif}%s</style>\n",
		   svg_chart_style);
	svg_text(out, 70, 24, "", "Shares of the variation of errors: printed figures and own");
	svg_chart(out, &chart);
	buf_puts(out, "</svg>\n");
}

/* --- the experiment */

/* Bit i of `run` is the level of factor i, in the order of enum printed_source. */
static void set_levels(const struct study *base, unsigned run, struct study *out)
{
	*out = *base;
	law_parse(run & 1u << PRINTED_SERVICE_LAW ? "normal(0.3)" : "normal(0.1)",
		  &out->server.service, NULL);
	out->server.mean_growth = run & 1u << PRINTED_SERVICE_PATTERN ? 1.8 : 1.2;
	law_parse(run & 1u << PRINTED_ARRIVAL_LAW ? "exponential" : "erlang(2)",
		  &out->server.arrival, NULL);
	out->server.rate_growth = run & 1u << PRINTED_ARRIVAL_PATTERN ? 1.2 : 0.8;
	out->server.services = run & 1u << PRINTED_SERVICES ? 5 : 3;
	out->replications = REPLICATIONS;
}

static int run_once(struct experiment_options *w, unsigned repeat, double *y)
{
	struct study s;
	int status = CMD_OK;

	for (unsigned run = 0; run < RUNS && status == CMD_OK; run++) {
		struct study_result result = { 0 };

		set_levels(&w->base, run, &s);
		s.seed = w->base.seed + ((uint64_t)repeat * RUNS + run + 1) * 0x1000193;
		status = experiment_run(w, &s, "table 1", &result);
		if (status == CMD_OK && result.refused)
			status = cmd_fail(CMD_FAILURE, "%s", result.reason.text);
		for (size_t i = 0; i < result.error.n; i++)
			y[run * REPLICATIONS + i] = result.sorted[i];
		study_done(&result);
	}
	return status;
}

static void note(struct table1 *t, unsigned repeat, const struct anova *a)
{
	for (size_t i = 0; i < PRINTED_FACTORS; i++)
		t->row[i].own[repeat] = 100 * a->effect[1u << i] / a->total;
	t->row[PRINTED_INTERACTIONS].own[repeat] = 100 * anova_interactions(a) / a->total;
	t->row[PRINTED_ERROR].own[repeat] = 100 * a->error / a->total;
	t->row[PRINTED_SOURCES].own[repeat] = a->squares;
	t->row[PRINTED_SOURCES + 1].own[repeat] = a->of_mean;
}

static int begin(struct table1 *t)
{
	for (size_t i = 0; i < ROWS; i++) {
		struct row *r = &t->row[i];

		if (i < PRINTED_SOURCES) {
			r->words = printed_table1[i].words;
			r->printed = printed_table1[i].percent;
		} else {
			r->words = i == PRINTED_SOURCES ? "sum of squared errors"
							: "the same of the mean";
			r->printed = i == PRINTED_SOURCES ? printed_squares : printed_of_mean;
		}
		r->own = calloc(t->repeats, sizeof(*r->own));
		if (!r->own)
			return cmd_fail(CMD_FAILURE, "out of memory");
	}
	return CMD_OK;
}

static int run_all(struct experiment_options *w, struct table1 *t)
{
	double y[RUNS * REPLICATIONS];
	struct anova a;
	int status = begin(t);

	for (unsigned i = 0; i < t->repeats && status == CMD_OK; i++) {
		status = run_once(w, i, y);
		if (status != CMD_OK)
			break;
		anova_of(y, PRINTED_FACTORS, REPLICATIONS, &a);
		note(t, i, &a);
	}
	for (size_t i = 0; i < ROWS && status == CMD_OK; i++) {
		qsort(t->row[i].own, t->repeats, sizeof(double), array_order_double);
		t->outside += !fits(t, &t->row[i]);
	}
	return status;
}

int experiment_table1(struct experiment_options *w)
{
	struct table1 t = {
		.options = w,
		.repeats = w->has_replications ? w->base.replications : REPEATS_USUAL,
	};
	const struct experiment_form form = { put_text, put_csv, put_json, put_svg, &t };
	int status = run_all(w, &t);

	progress_end(&w->progress);
	if (status == CMD_OK)
		status = experiment_write(w, &form);
	for (size_t i = 0; i < ROWS; i++)
		free(t.row[i].own);
	return status;
}
