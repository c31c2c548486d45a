/* SPDX-License-Identifier: Apache-2.0 */
/* Table 2 in each setting that the paper's text leaves open, and the one that the print fits. */
#include "common/axis/axis.h"
#include "common/base/array.h"
#include "common/json/json.h"
#include "eventlog/lifeline/svgchart.h"
#include "model/experiment/fit.h"
#include "model/experiment/printed.h"
#include "stats/report.h"
#include "tools/model/experiment.h"
#include "tools/term/say.h"
#include "tools/term/table.h"

#include <math.h>
#include <stdlib.h>

struct fits {
	struct fit *fit; /* owned; of each setting */
	const struct experiment_options *options;
	size_t best;
};

/* --- output */

static void put_conclusion(const struct fits *t, struct buf *out)
{
	const struct fit *best = &t->fit[t->best], *stated = &t->fit[0];
	char p[EXPERIMENT_P_BYTES];
	char words[FIT_WORDS_BYTES];

	if (!best->cells) {
		buf_puts(out, "No setting can be compared: no cell has two estimates.\n\n");
		return;
	}
	buf_printf(out,
		   "The printed table 2 %s its stated setting: %u of %u cells lie outside of the "
		   "99.9 %% band.\n",
		   stated->p >= FIT_P_MIN ? "fits" : "does not fit", stated->outside,
		   stated->cells);
	buf_printf(out,
		   best->p >= FIT_P_MIN ? "It fits this one: %s (chi-square %.0f of %u cells, p "
					  "%s).\n\n"
					: "It fits none of these settings; the closest: %s "
					  "(chi-square %.0f of %u cells, p %s).\n\n",
		   fit_words(&fit_settings[t->best], words), best->chi_square, best->cells,
		   experiment_p(p, best->p));
}

static void put_text(const void *results, struct buf *out)
{
	static const char *const heads[] = { "SETTING", "CHI-SQUARE", "P", "OUTSIDE" };
	const struct fits *t = results;
	struct table *rows = table_new(ARRAY_LEN(heads), heads, "lrrr");
	char p[EXPERIMENT_P_BYTES];
	char words[FIT_WORDS_BYTES];

	put_conclusion(t, out);
	for (size_t i = 0; rows && i < fit_settings_count; i++) {
		table_cell(rows, "%s", fit_words(&fit_settings[i], words));
		table_cell(rows, t->fit[i].cells ? "%.0f" : "-", t->fit[i].chi_square);
		table_cell(rows, "%s", experiment_p(p, t->fit[i].p));
		table_cell(rows, "%u of %u", t->fit[i].outside, t->fit[i].cells);
	}
	if (table_end(rows, 0, out))
		out->failed = true;
}

static void put_csv(const void *results, struct buf *out)
{
	const struct fits *t = results;
	char words[FIT_WORDS_BYTES];

	buf_puts(out, "setting,chi_square,p,outside,cells\n");
	for (size_t i = 0; i < fit_settings_count; i++) {
		report_csv_text(fit_words(&fit_settings[i], words), out);
		experiment_csv(out, t->fit[i].cells ? t->fit[i].chi_square : NAN);
		experiment_csv(out, t->fit[i].p);
		buf_printf(out, ",%u,%u\n", t->fit[i].outside, t->fit[i].cells);
	}
}

static void put_json(const void *results, struct json *j)
{
	const struct fits *t = results;
	char words[FIT_WORDS_BYTES];

	json_key_str(j, "table", "fit");
	experiment_factors(&t->options->base, j);
	json_key_str(j, "best", fit_words(&fit_settings[t->best], words));
	json_key_bool(j, "fits", t->fit[t->best].p >= FIT_P_MIN);
	json_key_array(j, "settings");
	for (size_t i = 0; i < fit_settings_count; i++) {
		json_object(j);
		json_key_str(j, "setting", fit_words(&fit_settings[i], words));
		json_key_double(j, "chi_square", t->fit[i].cells ? t->fit[i].chi_square : NAN);
		json_key_double(j, "p", t->fit[i].p);
		json_key_u64(j, "outside", t->fit[i].outside);
		json_key_u64(j, "cells", t->fit[i].cells);
		json_object_end(j);
	}
	json_array_end(j);
}

static void put_svg(const void *results, struct buf *out)
{
	const struct fits *t = results;
	double y = 60;
	char words[FIT_WORDS_BYTES];

	buf_puts(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"1000\" height=\"420\">\n"
		      "<style>text{font:12px sans-serif}rect{fill:#4477aa}</style>\n");
	svg_text(out, 20, 24, "", "Distance of the printed table 2 from each setting, chi-square");
	for (size_t i = 0; i < fit_settings_count; i++, y += 24) {
		struct axis x = axis_of(1, 1e5, 480, 400, true);
		double to = axis_place(&x, t->fit[i].chi_square);
		char number[TABLE_NUMBER_BYTES];

		svg_text(out, 20, y + 12, "", fit_words(&fit_settings[i], words));
		buf_printf(out, "<rect x=\"480\" y=\"%g\" width=\"%.1f\" height=\"16\"/>\n", y,
			   to - 480);
		svg_text(out, to + 6, y + 12, "", table_count(number, t->fit[i].chi_square));
	}
	buf_puts(out, "</svg>\n");
}

/* --- the runs */

static int run_setting(struct experiment_options *w, size_t setting, struct fit *f)
{
	const struct fit_setting *at = &fit_settings[setting];
	struct study s;
	int status = CMD_OK;
	char words[FIT_WORDS_BYTES];

	fit_apply(at, &w->base, &s);
	for (size_t i = 0; i < PRINTED_CELLS && status == CMD_OK; i++) {
		struct study_result result = { 0 };

		law_parse(printed_laws[i / PRINTED_SIZES], &s.server.service, NULL);
		s.server.services = printed_sizes[i % PRINTED_SIZES];
		status = experiment_run(w, &s, fit_words(at, words), &result);
		if (status == CMD_OK)
			fit_add(f,
				study_distance(
					&result,
					printed_table2[i / PRINTED_SIZES][i % PRINTED_SIZES].mean,
					PRINTED_REPLICATIONS));
		study_done(&result);
	}
	fit_end(f);
	return status;
}

/* A fit of fewer cells has a smaller chi-square, and explains less. */
static bool is_better(const struct fit *a, const struct fit *b)
{
	return a->cells != b->cells ? a->cells > b->cells : a->chi_square < b->chi_square;
}

int experiment_fit(struct experiment_options *w)
{
	struct fits t = { .fit = calloc(fit_settings_count, sizeof(*t.fit)), .options = w };
	const struct experiment_form form = { put_text, put_csv, put_json, put_svg, &t };
	int status = t.fit ? CMD_OK : cmd_fail(CMD_FAILURE, "out of memory");

	for (size_t i = 0; i < fit_settings_count && status == CMD_OK; i++) {
		status = run_setting(w, i, &t.fit[i]);
		if (is_better(&t.fit[i], &t.fit[t.best]))
			t.best = i;
	}
	progress_end(&w->progress);
	if (status == CMD_OK)
		status = experiment_write(w, &form);
	free(t.fit);
	return status;
}
