/* SPDX-License-Identifier: Apache-2.0 */
#include "neko/cmd/neko_text.h"

#include "common/base/array.h"
#include "common/base/file.h"
#include "common/base/str.h"
#include "tools/term/say.h"
#include "tools/term/outfile.h"
#include "tools/term/term.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#define HEAD PLOT_HEAD
#define BLOCK 210 /* height of one quantity */
#define PLOT_TOP 40 /* top of the plot in its block */
#define PLOT_HIGH 130
#define LEFT 70
#define HALF 400
#define RIGHT 560 /* left edge of the second plot */
#define BINS_MAX 200
#define POINTS_MAX 4096

/* --- a quantity: frequencies of its values, and their times */

struct panel {
	struct json_object *quantity, *series;
	double formula; /* expected value by a formula; NaN: none */
	double top, bottom;
	unsigned logs;
};

static void vertical(struct buf *out, const struct axis *x, const struct panel *p, double v,
		     const char *class)
{
	if (!isfinite(v) || v < x->from || v > x->to)
		return;
	buf_printf(out, "<path class=\"%s\" d=\"M%.1f %.1fV%.1f\"/>\n", class, axis_place(x, v),
		   p->top, p->bottom);
}

static void bars(struct buf *out, struct json_object *bins, const struct axis *x,
		 const struct axis *y, double bottom)
{
	for (size_t k = 0; k < results_count(bins) && k < BINS_MAX; k++) {
		struct json_object *i = results_item(bins, k);
		double left = axis_place(x, results_member(i, "from"));
		double right = axis_place(x, results_member(i, "to")),
		       count = results_member(i, "count");
		double top = axis_place(y, count);

		if (count > 0)
			buf_printf(out,
				   "<rect class=\"bar\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
				   "height=\"%.1f\"/>\n",
				   left, top, fmax(right - left - 0.5, 0.8), bottom - top);
	}
}

static void draw_histogram(struct buf *out, const struct panel *p)
{
	struct json_object *bins = results_get(p->quantity, "histogram");
	double from = results_member(results_item(bins, 0), "from"), to = from, most = 0;
	bool is_log_x = p->logs & PLOT_LOG_X, is_log_y = p->logs & PLOT_LOG_Y;
	struct axis x, y;

	for (size_t k = 0; k < results_count(bins) && k < BINS_MAX; k++) {
		to = results_member(results_item(bins, k), "to");
		if (is_log_x && !(from > 0))
			from = to; /* A bar from 0 begins at the edge of the plot. */
		most = fmax(most, results_member(results_item(bins, k), "count"));
	}
	if (!results_count(bins))
		return;
	x = axis_of(from, to, LEFT, HALF, is_log_x);
	y = axis_of(is_log_y ? 0.5 : 0, most, p->bottom, p->top - p->bottom, is_log_y);
	svg_ticks_x(out, &x, p->top, p->bottom);
	svg_ticks_y(out, &y, LEFT, LEFT + HALF);
	bars(out, bins, &x, &y, p->bottom);
	vertical(out, &x, p, results_member(p->quantity, "mean"), "mean");
	vertical(out, &x, p, p->formula, "formula");
}

/* Reads the time and the value of a point. Returns false if the element is not a point. */
static bool point(struct json_object *i, double *at, double *v)
{
	*at = results_number(results_item(i, 0), NAN);
	*v = results_number(results_item(i, 1), NAN);
	return isfinite(*at) && isfinite(*v);
}

static void horizontal(struct buf *out, const struct axis *y, double v, const char *class)
{
	if (isfinite(v) && v >= y->from && v <= y->to)
		buf_printf(out, "<path class=\"%s\" d=\"M%d %.1fH%d\"/>\n", class, RIGHT,
			   axis_place(y, v), RIGHT + HALF);
}

static void draw_points(struct buf *out, const struct panel *p, const struct axis *x,
			const struct axis *y)
{
	double at, v;

	for (size_t i = 0; i < results_count(p->series) && i < POINTS_MAX; i++)
		if (point(results_item(p->series, i), &at, &v))
			buf_printf(out, "<circle class=\"dot\" cx=\"%.1f\" cy=\"%.1f\" r=\"2\"/>\n",
				   axis_place(x, at), axis_place(y, v));
}

static void draw_series(struct buf *out, const struct panel *p)
{
	double first = INFINITY, last = -INFINITY, least = INFINITY, most = -INFINITY, at, v;
	bool is_log = p->logs & PLOT_LOG_X; /* values have the vertical axis in this plot */
	struct axis x, y;

	for (size_t i = 0; i < results_count(p->series) && i < POINTS_MAX; i++)
		if (point(results_item(p->series, i), &at, &v)) {
			first = fmin(first, at);
			last = fmax(last, at);
			if (v > 0 || !is_log)
				least = fmin(least, v);
			most = fmax(most, v);
		}
	if (last < first) {
		svg_text(out, RIGHT + HALF, p->top + 12, "class=\"soft\" text-anchor=\"end\"",
			 "no values in range");
		return;
	}
	x = axis_linear(first, last, RIGHT, HALF);
	y = axis_of(least, most, p->bottom, p->top - p->bottom, is_log);
	svg_ticks_x(out, &x, p->top, p->bottom);
	svg_ticks_y(out, &y, RIGHT, RIGHT + HALF);
	draw_points(out, p, &x, &y);
	horizontal(out, &y, results_member(p->quantity, "mean"), "mean");
	horizontal(out, &y, p->formula, "formula");
}

static void draw_words(struct buf *out, const struct panel *p)
{
	double half = results_member(p->quantity, "half");
	char words[512], name[160];
	int n;

	plot_name(name, sizeof(name), p->quantity);
	n = snprintf(words, sizeof(words), "%s: mean %.6g", name,
		     results_number(results_get(p->quantity, "mean"), 0));
	if (isfinite(half))
		n += snprintf(words + n, sizeof(words) - (size_t)n, " \xc2\xb1 %.3g (95 %%)", half);
	if (isfinite(p->formula))
		n += snprintf(words + n, sizeof(words) - (size_t)n, ", by formula %.6g",
			      p->formula);
	snprintf(words + n, sizeof(words) - (size_t)n, ", n = %.0f",
		 results_number(results_get(p->quantity, "n"), 0));
	svg_text(out, LEFT, p->top - 12, "class=\"name\"", words);
	svg_text(out, RIGHT + HALF, p->top - 12, "class=\"soft\" text-anchor=\"end\"",
		 "values of the first run over its time (s)");
}

static bool has_values(struct json_object *quantity)
{
	return results_member(quantity, "n") > 0;
}

/* Returns the top of the next block. */
static double draw_quantities(struct buf *out, struct json_object *results, unsigned logs)
{
	struct json_object *quantities = results_get(results, "quantities");
	struct json_object *formulas = results_get(results, "formulas");
	struct json_object *series = results_get(results, "series");
	double at = HEAD;

	for (size_t k = 0; k < results_count(quantities); k++) {
		struct json_object *i = results_item(quantities, k);
		const char *name = results_text(results_get(i, "name"), "");
		struct panel p = { i,
				   results_get(series, name),
				   results_member(formulas, name),
				   at + PLOT_TOP,
				   at + PLOT_TOP + PLOT_HIGH,
				   logs };

		if (!has_values(i))
			continue;
		draw_words(out, &p);
		draw_histogram(out, &p);
		draw_series(out, &p);
		at += BLOCK;
	}
	return at;
}

/* --- the whole picture */

static double height_of(struct json_object *results)
{
	struct json_object *quantities = results_get(results, "quantities");
	double high = HEAD;

	for (size_t k = 0; k < results_count(quantities); k++)
		if (has_values(results_item(quantities, k)))
			high += BLOCK;
	return high + plot_space_height(results_get(results, "trace")) + 10;
}

static void draw_head(struct buf *out, struct json_object *results)
{
	const char *broken = results_text(results_get(results, "broken"), NULL);
	uint64_t seed = results_u64(results_get(results, "seed"), 0);
	char words[256];

	snprintf(words, sizeof(words),
		 "%.20s, seed %llu, runs: %.0f, %.6g s, messages: %.0f; orange: mean, green: "
		 "formula",
		 results_text(results_get(results, "world"), "?"), (unsigned long long)seed,
		 results_number(results_get(results, "runs"), 0),
		 results_number(results_get(results, "seconds"), 0),
		 results_number(results_get(results, "sent"), 0));
	plot_begin(out, height_of(results),
		   results_text(results_get(results, "configuration"), "a run"), words);
	if (broken)
		svg_text(out, 12, 53, "class=\"bad\"", broken);
}

static bool is_run(struct json_object *results)
{
	return results_is_array(results_get(results, "quantities")) &&
	       results_text(results_get(results, "world"), NULL);
}

static int refuse(struct err *e)
{
	return err_set(e, ERR_INVALID,
		       "the file has no results of a run; write it with omig neko run -o");
}

static int finish(struct buf *out, struct err *e)
{
	buf_puts(out, "</svg>\n");
	return out->failed ? err_set(e, ERR_LIMIT, "no room for the picture") : 0;
}

int neko_plot_draw(struct json_object *results, unsigned logs, struct buf *out, struct err *e)
{
	double at;
	int rc;

	if (plot_is_sweep(results)) {
		rc = plot_sweep(&(struct plot_onto){ out, logs, NULL }, results, e);
		return rc ? rc : finish(out, e);
	}
	if (!is_run(results))
		return refuse(e);
	draw_head(out, results);
	at = draw_quantities(out, results, logs);
	plot_space(out, results_get(results, "trace"), at);
	return finish(out, e);
}

int neko_plot_draw_two(const struct plot_run run[2], unsigned logs, struct buf *out, struct err *e)
{
	int rc;

	for (size_t i = 0; i < 2; i++)
		if (plot_is_sweep(run[i].results))
			return err_set(e, ERR_INVALID, "%s is a sweep: draw it alone", run[i].name);
		else if (!is_run(run[i].results))
			return refuse(e);
	rc = plot_cdf(&(struct plot_onto){ out, logs, NULL }, run, e);
	return rc ? rc : finish(out, e);
}

/* As the two above, as text. */
static int draw_text(const struct text_page *page, const struct plot_run run[2], size_t n,
		     struct err *e)
{
	const struct plot_onto onto = { page->out, page->logs, page };

	for (size_t i = 0; i < n; i++)
		if (n == 2 && plot_is_sweep(run[i].results))
			return err_set(e, ERR_INVALID, "%s is a sweep: draw it alone", run[i].name);
		else if (!plot_is_sweep(run[i].results) && !is_run(run[i].results))
			return refuse(e);
	if (n == 2)
		return plot_cdf(&onto, run, e);
	return plot_is_sweep(run[0].results) ? plot_sweep(&onto, run[0].results, e)
					     : neko_text_run(page, run[0].results, e);
}

int neko_plot_log(void *into, const char *text, struct err *e)
{
	static const char *const name[] = { "", "x", "y", "xy" };

	for (unsigned i = PLOT_LOG_X; i < ARRAY_LEN(name); i++)
		if (str_eq(text, name[i])) {
			*(unsigned *)into = i;
			return 0;
		}
	return err_set(e, ERR_INVALID, "--log %.20s: x, y or xy", text);
}

static int blame(const char *path, const struct err *e)
{
	int status = e->code == ERR_NOTFOUND			  ? CMD_NOTFOUND
		     : e->code == ERR_SYS || e->code == ERR_NOMEM ? CMD_FAILURE
								  : CMD_USAGE;

	return e->line ? cmd_fail(status, "%s:%u:%u: %s", path, e->line, e->col, e->text)
		       : cmd_fail(status, "%s: %s", path, e->text);
}

static int read_results(const char *path, struct json_object **out)
{
	struct buf text = BUF_INIT(RESULTS_MAX_BYTES + 1);
	struct err e = { 0 };
	int rc = file_read(path, RESULTS_MAX_BYTES, 0, &text, &e);

	if (!rc)
		rc = results_parse(buf_str(&text), text.n, out, &e);
	buf_done(&text);
	return rc ? blame(path, &e) : CMD_OK;
}

/* Draws onto the terminal, or as plain text of 80 columns. */
static int draw_page(const struct plot_options *w, const struct plot_run run[2], size_t n,
		     struct buf *out, struct err *e)
{
	struct text_page page = { .out = out, .logs = w->logs, .chart = w->form->chart };
	struct term term;

	if (term_open(&term, w->form->color))
		return err_set(e, ERR_INVALID, "--color: auto, always or never");
	page.cols = term.cols;
	paint_glyphs("auto", &page.paint.glyphs);
	if (w->form->has_glyphs)
		page.paint.glyphs = w->form->glyphs;
	page.paint.depth = paint_depth(term.has_color);
	return draw_text(&page, run, n, e);
}

static int draw_any(const struct plot_options *w, const struct plot_run run[2], size_t n,
		    struct buf *out, struct err *e)
{
	if (w->form->chart != TEXT_NONE || (!w->output && isatty(STDOUT_FILENO)))
		return draw_page(w, run, n, out, e);
	return n == 1 ? neko_plot_draw(run[0].results, w->logs, out, e)
		      : neko_plot_draw_two(run, w->logs, out, e);
}

static int plot(char *const *path, size_t n, const struct plot_options *w)
{
	struct buf picture = BUF_INIT(NEKO_PLOT_MAX_BYTES);
	struct plot_run run[2] = { { .name = path[0] }, { .name = path[n - 1] } };
	struct err e = { 0 };
	int status = CMD_OK, rc;

	for (size_t i = 0; i < n && status == CMD_OK; i++)
		status = read_results(path[i], &run[i].results);
	if (status == CMD_OK) {
		rc = draw_any(w, run, n, &picture, &e);
		status = rc ? blame(path[0], &e) : outfile_write(w->output, &picture);
	}
	for (size_t i = 0; i < 2; i++)
		results_free(run[i].results);
	buf_done(&picture);
	return status;
}

/*
 * Returns true for a name such as "rb.png", because no program opens an SVG with that name. A name
 * without an extension is accepted, such as that of a device.
 */
static bool is_other_kind(const char *output)
{
	const char *slash = output ? strrchr(output, '/') : NULL;
	const char *end = output ? strrchr(slash ? slash : output, '.') : NULL;

	return end && strcmp(end, ".svg") != 0;
}

int neko_plot(char *const *path, size_t n, const struct plot_options *w)
{
	if (w->form->chart == TEXT_NONE && is_other_kind(w->output))
		return cmd_fail(CMD_USAGE,
				"%s: the picture is an SVG; give the file a name that ends in .svg",
				w->output);
	return plot(path, n, w);
}
