/* SPDX-License-Identifier: Apache-2.0 */
#include "neko/cmd/neko_text.h"

#include "common/base/array.h"
#include "common/base/str.h"
#include "eventlog/lifeline/svgchart.h"
#include "tools/chart/bars.h"
#include "tools/chart/lines.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define HIGH 14 /* rows of one chart */
#define NARROWEST 40
#define BINS_MAX 200
#define POINTS_MAX 4096
#define CURVES_MAX 32
#define TITLE_BYTES 256

int neko_text_chart(void *into, const char *word, struct err *e)
{
	static const char *const words[] = { "none", "auto", "line", "hist" };

	for (size_t i = TEXT_AUTO; i < ARRAY_LEN(words); i++)
		if (str_eq(word, words[i])) {
			*(enum text_chart *)into = (enum text_chart)i;
			return 0;
		}
	return err_set(e, ERR_INVALID, "line, hist or auto, not '%.20s'", word);
}

int neko_text_glyphs(void *into, const char *word, struct err *e)
{
	struct text_form *form = into;

	form->has_glyphs = true;
	if (!paint_glyphs(word, &form->glyphs))
		return 0;
	return err_set(e, ERR_INVALID, "ascii, blocks, braille or auto, not '%.20s'", word);
}

static struct grid *grid_for(const struct text_page *page)
{
	return grid_new(HIGH, page->cols > NARROWEST ? page->cols : NARROWEST);
}

/* Consumes the grid. rc: of its drawing. */
static int print(const struct text_page *page, struct grid *g, int rc, struct err *e)
{
	if (!rc)
		rc = grid_print(g, page->paint.depth, page->out);
	grid_free(g);
	return rc ? err_set(e, -rc, "no room for the picture") : 0;
}

/* --- a run */

static int draw_histogram(const struct text_page *page, struct json_object *quantity, struct err *e)
{
	struct json_object *bins = results_get(quantity, "histogram");
	struct bars_bin bin[BINS_MAX];
	struct bars_histogram h = { .bin = bin };
	struct grid *g;

	for (size_t i = 0; i < results_count(bins) && h.n < BINS_MAX; i++) {
		struct json_object *b = results_item(bins, i);

		bin[h.n++] = (struct bars_bin){ results_member(b, "from"), results_member(b, "to"),
						results_member(b, "count") };
	}
	if (!h.n)
		return 0;
	h.names = (struct plot_frame){ .title = "",
				       .x_name = "",
				       .y_name = "number of values",
				       .is_log_x = page->logs & PLOT_LOG_X,
				       .is_log_y = page->logs & PLOT_LOG_Y };
	g = grid_for(page);
	if (!g)
		return err_nomem(e);
	return print(page, g, bars_histogram_draw(g, grid_all(g), &h, &page->paint), e);
}

static int draw_series(const struct text_page *page, struct json_object *series, struct err *e)
{
	struct lines_point *point = calloc(POINTS_MAX, sizeof(*point));
	struct lines_curve curve = { .name = "", .point = point, .is_points = true };
	/* The axis of values is vertical here. */
	const struct lines l = { .title = "values of the first run over its time",
				 .x_name = "s",
				 .y_name = "",
				 .curve = &curve,
				 .n = 1,
				 .is_log_y = page->logs & PLOT_LOG_X };
	struct grid *g = grid_for(page);
	int rc;

	if (!point || !g) {
		free(point);
		grid_free(g);
		return err_nomem(e);
	}
	for (size_t i = 0; i < results_count(series) && curve.n < POINTS_MAX; i++) {
		struct json_object *p = results_item(series, i);

		point[curve.n++] = (struct lines_point){ results_number(results_item(p, 0), NAN),
							 results_number(results_item(p, 1), NAN) };
	}
	rc = print(page, g, lines_draw(g, grid_all(g), &l, &page->paint), e);
	free(point);
	return rc;
}

static void write_words(const struct text_page *page, struct json_object *quantity, double formula)
{
	double half = results_member(quantity, "half");
	char name[160];

	plot_name(name, sizeof(name), quantity);
	buf_printf(page->out, "%s: mean %.6g", name, results_member(quantity, "mean"));
	if (isfinite(half))
		buf_printf(page->out, " +-%.3g (95 %%)", half);
	if (isfinite(formula))
		buf_printf(page->out, ", by formula %.6g", formula);
	buf_printf(page->out, ", n = %.0f\n", results_member(quantity, "n"));
}

static int draw_quantity(const struct text_page *page, struct json_object *results,
			 struct json_object *quantity, struct err *e)
{
	const char *name = results_text(results_get(quantity, "name"), "");
	struct json_object *series = results_get(results_get(results, "series"), name);
	int rc = 0;

	write_words(page, quantity, results_member(results_get(results, "formulas"), name));
	if (page->chart != TEXT_LINE)
		rc = draw_histogram(page, quantity, e);
	if (!rc && page->chart != TEXT_HIST && results_count(series))
		rc = draw_series(page, series, e);
	buf_puts(page->out, "\n");
	return rc;
}

int neko_text_run(const struct text_page *page, struct json_object *results, struct err *e)
{
	struct json_object *all = results_get(results, "quantities");
	const char *broken = results_text(results_get(results, "broken"), NULL);
	int rc = 0;

	buf_printf(page->out, "%s: %s, runs: %.0f, %.6g s, messages: %.0f\n\n",
		   results_text(results_get(results, "configuration"), "a run"),
		   results_text(results_get(results, "world"), "?"),
		   results_member(results, "runs"), results_member(results, "seconds"),
		   results_member(results, "sent"));
	if (broken)
		buf_printf(page->out, "%s\n", broken);
	for (size_t i = 0; i < results_count(all) && !rc; i++)
		if (results_member(results_item(all, i), "n") > 0)
			rc = draw_quantity(page, results, results_item(all, i), e);
	return rc;
}

/* --- curves */

static size_t copy_points(const struct svg_curve *from, struct lines_point *to)
{
	for (size_t i = 0; i < from->n; i++)
		to[i] = (struct lines_point){ from->point[i].x, from->point[i].y };
	return from->n;
}

static void write_places(const struct text_page *page, const struct svg_chart *c)
{
	for (size_t i = 0; c->place && i < c->nplace; i++)
		buf_printf(page->out, "%s%zu = %s", i ? ", " : "  ", i, c->place[i]);
	if (c->place)
		buf_puts(page->out, "\n");
}

int neko_text_curves(const struct text_page *page, const char *title, const struct svg_chart *c,
		     struct err *e)
{
	struct lines_curve curve[CURVES_MAX];
	char words[TITLE_BYTES];
	struct lines l = { .title = words,
			   .x_name = c->x_words,
			   .y_name = c->y_words,
			   .curve = curve,
			   .is_log_x = c->is_log_x,
			   .is_log_y = c->is_log_y };
	struct lines_point *point, *at;
	struct grid *g = grid_for(page);
	size_t n = 0;
	int rc;

	snprintf(words, sizeof(words), "%s: %s", title, c->y_words);
	for (size_t i = 0; i < c->n; i++)
		n += c->curve[i].n;
	point = at = calloc(n + 1, sizeof(*point));
	if (!point || !g) {
		free(point);
		grid_free(g);
		return err_nomem(e);
	}
	for (; l.n < c->n && l.n < CURVES_MAX; l.n++) {
		curve[l.n] = (struct lines_curve){ .name = c->curve[l.n].name, .point = at };
		curve[l.n].n = copy_points(&c->curve[l.n], at);
		at += curve[l.n].n;
	}
	rc = print(page, g, lines_draw(g, grid_all(g), &l, &page->paint), e);
	write_places(page, c);
	buf_puts(page->out, "\n");
	free(point);
	return rc;
}
