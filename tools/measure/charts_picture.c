/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/measure/charts_picture.h"

#include "common/base/array.h"
#include "common/base/err.h"
#include "tools/chart/heat.h"
#include "tools/chart/lines.h"
#include "tools/term/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BINS 24 /* bins of a histogram of the values of objects */
#define VALUE_WORDS_BYTES (2 * TABLE_QUANTITY_BYTES + 4)
#define SPARK_SHARE 3 /* a name has at most a third of the columns */

static double value_in(const struct charts_view *v, size_t object, size_t read)
{
	return history_value(v->history, object, read);
}

/* Returns the known values of a read, ascending; *n: their number. NULL: no memory. */
static double *known(const struct charts_view *v, size_t read, size_t *n)
{
	double *out = malloc((history_objects(v->history) + 1) * sizeof(*out));

	*n = 0;
	for (size_t i = 0; out && i < history_objects(v->history); i++)
		if (isfinite(value_in(v, i, read)))
			out[(*n)++] = value_in(v, i, read);
	if (out)
		qsort(out, *n, sizeof(*out), array_order_double);
	return out;
}

/* Returns a quantile of n sorted values; NaN without any. */
static double quantile(const double *sorted, size_t n, double p)
{
	return n ? sorted[(size_t)lround(p * (double)(n - 1))] : NAN;
}

/* Writes the value of an object in the last read, and its bound. */
static const char *print_value(const struct charts_view *v, size_t object,
			       char out[VALUE_WORDS_BYTES])
{
	double bound = history_bound(v->history, object, v->end - 1);
	char value[TABLE_QUANTITY_BYTES], error[TABLE_QUANTITY_BYTES];

	table_quantity(value, value_in(v, object, v->end - 1), 4, v->unit);
	if (bound > 0)
		snprintf(out, VALUE_WORDS_BYTES, "%s +-%s", value,
			 table_quantity(error, bound, 2, v->unit));
	else
		snprintf(out, VALUE_WORDS_BYTES, "%s", value);
	return out;
}

/* --- words */

static size_t highest(const struct charts_view *v, size_t read)
{
	size_t best = 0;

	for (size_t i = 1; i < history_objects(v->history); i++)
		if (isfinite(value_in(v, i, read)) &&
		    !(value_in(v, i, read) <= value_in(v, best, read)))
			best = i;
	return best;
}

static void words_of_values(const struct charts_view *v, const double *sorted, size_t n,
			    struct buf *out)
{
	size_t all = history_objects(v->history), best = highest(v, v->end - 1);
	char value[TABLE_QUANTITY_BYTES], words[VALUE_WORDS_BYTES];

	if (!n) {
		buf_printf(out, "%s: no value is known in this read\n", v->metric);
		return;
	}
	buf_printf(out, "%s: %s %s %s", v->metric, history_name(v->history, best),
		   all > 1 ? "is highest with" : "is", print_value(v, best, words));
	if (all > 1)
		buf_printf(out, ", the median of %zu is %s", n,
			   table_quantity(value, quantile(sorted, n, 0.5), 4, v->unit));
	if (n < all)
		buf_printf(out, ", %zu unknown", all - n);
	if (history_left_out(v->history))
		buf_puts(out, "; objects beyond the limit are left out");
	buf_putc(out, '\n');
}

static void words_of_bins(const struct charts_view *v, struct buf *out)
{
	size_t best = 0;
	double n = 0;

	for (size_t i = 0; i < v->nbin; i++) {
		n += v->bin[i].count;
		best = v->bin[i].count > v->bin[best].count ? i : best;
	}
	if (!(n > 0))
		buf_printf(out, "%s: no value is known in this read\n", v->metric);
	else
		buf_printf(out, "%s: %.0f values, most of them (%.0f) from %.4g to %.4g %s\n",
			   v->metric, n, v->bin[best].count, v->bin[best].from, v->bin[best].to,
			   v->unit);
}

void charts_words(const struct charts_view *v, struct buf *out)
{
	double *sorted;
	size_t n = 0;

	if (v->bin) {
		words_of_bins(v, out);
		return;
	}
	if (!v->end)
		return;
	sorted = known(v, v->end - 1, &n);
	if (sorted)
		words_of_values(v, sorted, n, out);
	free(sorted);
}

/* --- curves */

/* Seconds before the last read of the window. */
static double seconds_at(const struct charts_view *v, size_t read)
{
	return (double)(history_time(v->history, read) - history_time(v->history, v->end - 1)) /
	       1e9;
}

struct curves {
	struct lines_curve *curve;
	struct lines_point *point;
	size_t n;
};

static int curves_new(struct curves *c, size_t n, size_t points)
{
	c->n = n;
	c->curve = calloc(n + 1, sizeof(*c->curve));
	c->point = calloc(n * points + 1, sizeof(*c->point));
	for (size_t i = 0; c->curve && c->point && i < n; i++)
		c->curve[i] = (struct lines_curve){ "", c->point + i * points, points, false };
	return c->curve && c->point ? 0 : -ERR_NOMEM;
}

static void curves_done(struct curves *c)
{
	free(c->curve);
	free(c->point);
}

static int draw_curves(const struct charts_view *v, struct grid *g, struct grid_area area,
		       const struct curves *c)
{
	struct lines l = { .title = v->unit[0] ? v->unit : "1",
			   .x_name = "s before the last read",
			   .y_name = "",
			   .curve = c->curve,
			   .n = c->n,
			   .has_zero = true };

	return lines_draw(g, area, &l, &v->paint);
}

static int draw_lines(const struct charts_view *v, struct grid *g, struct grid_area area)
{
	struct curves c;
	int rc = curves_new(&c, history_objects(v->history), v->end);

	for (size_t i = 0; !rc && i < c.n; i++) {
		struct lines_point *point = c.point + i * v->end;

		c.curve[i].name = history_name(v->history, i);
		for (size_t k = 0; k < v->end; k++)
			point[k] = (struct lines_point){ seconds_at(v, k), value_in(v, i, k) };
	}
	if (!rc)
		rc = draw_curves(v, g, area, &c);
	curves_done(&c);
	return rc;
}

static int draw_bands(const struct charts_view *v, struct grid *g, struct grid_area area)
{
	static const char *const name[] = { "least", "25 %", "median", "75 %", "most" };
	struct curves c;
	int rc = curves_new(&c, ARRAY_LEN(name), v->end);

	for (size_t k = 0; !rc && k < v->end; k++) {
		size_t n;
		double *sorted = known(v, k, &n);

		for (size_t i = 0; sorted && i < c.n; i++) {
			c.curve[i].name = name[i];
			c.point[i * v->end + k] =
				(struct lines_point){ seconds_at(v, k),
						      quantile(sorted, n, (double)i / 4) };
		}
		rc = sorted ? 0 : -ERR_NOMEM;
		free(sorted);
	}
	if (!rc)
		rc = draw_curves(v, g, area, &c);
	curves_done(&c);
	return rc;
}

/* --- a map */

static void find_range(const struct heat *h, double *from, double *to)
{
	*from = 0;
	*to = 0;
	for (size_t i = 0; i < h->objects * h->reads; i++)
		if (isfinite(h->value[i])) {
			*from = fmin(*from, h->value[i]);
			*to = fmax(*to, h->value[i]);
		}
}

static int draw_heat(const struct charts_view *v, struct grid *g, struct grid_area area)
{
	struct heat h = { .objects = history_objects(v->history),
			  .reads = v->end,
			  .unit = v->unit };
	const char **name = calloc(h.objects + 1, sizeof(*name));
	double *value = malloc((h.objects * h.reads + 1) * sizeof(*value));
	int rc = name && value ? 0 : -ERR_NOMEM;

	for (size_t i = 0; !rc && i < h.objects; i++) {
		name[i] = history_name(v->history, i);
		for (size_t k = 0; k < h.reads; k++)
			value[i * h.reads + k] = value_in(v, i, k);
	}
	h.name = name;
	h.value = value;
	if (!rc) {
		find_range(&h, &h.from, &h.to);
		rc = heat_draw(g, area, &h, &v->paint);
	}
	free(value);
	free(name);
	return rc;
}

/* --- the last read */

static int draw_bars(const struct charts_view *v, struct grid *g, struct grid_area area)
{
	size_t n = history_objects(v->history);
	struct bar *bar = calloc(n + 1, sizeof(*bar));
	char(*words)[VALUE_WORDS_BYTES] = calloc(n + 1, sizeof(*words));
	int rc = bar && words ? 0 : -ERR_NOMEM;

	for (size_t i = 0; !rc && i < n; i++)
		bar[i] = (struct bar){ history_name(v->history, i), value_in(v, i, v->end - 1),
				       print_value(v, i, words[i]) };
	if (!rc)
		bars_draw(g, area, bar, n, &v->paint);
	free(words);
	free(bar);
	return rc;
}

static int draw_bins(const struct charts_view *v, struct grid *g, struct grid_area area,
		     const struct bars_bin *bin, size_t n)
{
	struct bars_histogram h = { .names = { .title = "count", .x_name = v->unit, .y_name = "" },
				    .bin = bin,
				    .n = n };

	return bars_histogram_draw(g, area, &h, &v->paint);
}

/* Counts the objects by their values in the last read. */
static int draw_histogram(const struct charts_view *v, struct grid *g, struct grid_area area)
{
	struct bars_bin bin[BINS] = { 0 };
	double *sorted, wide;
	size_t n;

	if (v->bin)
		return draw_bins(v, g, area, v->bin, v->nbin);
	sorted = known(v, v->end - 1, &n);
	if (!sorted)
		return -ERR_NOMEM;
	wide = n ? (sorted[n - 1] - sorted[0]) / BINS : 0;
	wide = wide > 0 ? wide : 1;
	for (size_t i = 0; i < BINS && n; i++)
		bin[i] = (struct bars_bin){ sorted[0] + wide * (double)i,
					    sorted[0] + wide * (double)(i + 1), 0 };
	for (size_t i = 0; i < n; i++)
		bin[(size_t)fmin((sorted[i] - sorted[0]) / wide, BINS - 1)].count++;
	free(sorted);
	return draw_bins(v, g, area, bin, n ? BINS : 0);
}

/* --- sparks */

static double most_of(const double *value, size_t n)
{
	double most = 0;

	for (size_t i = 0; i < n; i++)
		most = isfinite(value[i]) ? fmax(most, value[i]) : most;
	return most;
}

/* One line: name, spark, the last value. All lines have the same scale. */
static void draw_spark(const struct charts_view *v, struct grid *g, struct grid_area row,
		       size_t object, const struct bars_spark *spark)
{
	unsigned third = row.cols / SPARK_SHARE;
	char words[VALUE_WORDS_BYTES];

	grid_text(g, (struct grid_span){ row.row, row.col, third },
		  history_name(v->history, object), PAINT_NO_INK);
	bars_spark_draw(g, (struct grid_span){ row.row, row.col + third + 1, third - 1 }, spark,
			&v->paint);
	grid_text(g, (struct grid_span){ row.row, row.col + 2 * third + 1, third },
		  print_value(v, object, words), PAINT_NO_INK);
}

static int draw_sparks(const struct charts_view *v, struct grid *g, struct grid_area area)
{
	size_t n = history_objects(v->history);
	double *value = malloc((n * v->end + 1) * sizeof(*value)), most;

	if (!value)
		return -ERR_NOMEM;
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < v->end; k++)
			value[i * v->end + k] = value_in(v, i, k);
	most = most_of(value, n * v->end);
	for (size_t i = 0; i < n && i < area.rows; i++) {
		struct grid_area row = { area.row + (unsigned)i, area.col, 1, area.cols };
		struct bars_spark spark = { value + i * v->end, v->end, most, paint_kind(1) };

		draw_spark(v, g, row, i, &spark);
	}
	free(value);
	return 0;
}

int charts_picture(const struct charts_view *v, struct grid *g, struct grid_area area)
{
	static int (*const draw[CHARTS_KINDS])(const struct charts_view *, struct grid *,
					       struct grid_area) = {
		[CHARTS_AUTO] = draw_lines,	[CHARTS_LINE] = draw_lines,
		[CHARTS_BAND] = draw_bands,	[CHARTS_HEAT] = draw_heat,
		[CHARTS_BAR] = draw_bars,	[CHARTS_SPARK] = draw_sparks,
		[CHARTS_HIST] = draw_histogram,
	};

	return v->end && history_objects(v->history) ? draw[v->kind](v, g, area) : 0;
}
