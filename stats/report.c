/* SPDX-License-Identifier: Apache-2.0 */
#include "stats/report.h"

#include "common/base/array.h"
#include "common/base/str.h"
#include "stats/histogram.h"
#include "stats/series.h"

#include <inttypes.h>
#include <string.h>

#define BAR_COLUMNS 50
#define WARNINGS_MAX 4
#define NAME_BYTES 300 /* longer names are cut in texts */

const struct report_options report_usual = { .level = 0.95,
					     .quantile = { 0.05, 0.25, 0.5, 0.75, 0.95, 0.99 },
					     .nquantile = 6 };

/* A statistic that depends on the moments only. */
struct figure {
	const char *key, *words;
	double (*of)(const struct moments *m);
};

static double least(const struct moments *m)
{
	return m->n ? m->min : NAN;
}

static double greatest(const struct moments *m)
{
	return m->n ? m->max : NAN;
}

static const struct figure figures[] = {
	{ "deviation", "std. deviation", moments_deviation },
	{ "variance", "variance", moments_variance },
	{ "skewness", "skewness", moments_skewness },
	{ "kurtosis", "kurtosis", moments_kurtosis },
	{ "min", "min", least },
	{ "max", "max", greatest },
	{ "serial_correlation", "serial correlation", moments_serial },
};

/* Returns the number of warnings. */
static unsigned warnings_of(const struct quantity *q, const char *out[WARNINGS_MAX])
{
	const struct batches *b = quantity_batches(q);
	const char *words = dependence_words(quantity_dependence(q));
	unsigned n = 0;

	if (!words)
		return 0;
	out[n++] = words;
	if (!batches_are_independent(b))
		out[n++] = b->n < BATCHES_MAX / 2
				   ? "too few values for an interval by batches"
				   : "and so are the means of batches: more values are needed";
	return n;
}

/* --- text */

/* Nine digits, as `omig measure` has them. */
static void put_number(struct buf *out, const char *before, double v)
{
	if (isnan(v))
		buf_printf(out, "%s-", before);
	else
		buf_printf(out, "%s%.9g", before, v);
}

static void put_line(struct buf *out, const char *words, double v)
{
	buf_printf(out, "  %-20s", words);
	put_number(out, "", v);
	buf_putc(out, '\n');
}

static void put_half(struct buf *out, double half, double mean)
{
	if (isnan(half)) {
		buf_puts(out, " +- -");
		return;
	}
	buf_printf(out, " +- %.4g", half);
	if (mean != 0)
		buf_printf(out, " (%.3g %%)", 100 * half / fabs(mean));
}

static void put_intervals(struct quantity *q, const struct report_options *w, struct buf *out)
{
	struct interval i = quantity_interval(q, w->level),
			b = quantity_interval_of_batches(q, w->level);
	unsigned n = quantity_batches(q)->n;

	buf_printf(out, "  %-20s", "mean");
	put_number(out, "", i.mean);
	put_half(out, i.half, i.mean);
	buf_printf(out, " at %g %%\n", 100 * w->level);
	buf_printf(out, "  %-20s", "by batches");
	put_number(out, "", b.mean);
	put_half(out, b.half, b.mean);
	buf_printf(out, ", %u batches of %" PRIu64 "\n", n, quantity_batches(q)->size);
}

static void put_quantiles(struct quantity *q, const struct report_options *w, struct buf *out)
{
	char words[40];

	for (unsigned i = 0; i < w->nquantile; i++) {
		double error, v = quantity_quantile(q, w->quantile[i], &error);

		snprintf(words, sizeof(words), w->quantile[i] == 0.5 ? "median" : "quantile %g",
			 w->quantile[i]);
		buf_printf(out, "  %-20s", words);
		put_number(out, "", v);
		if (!isnan(v) && error > 0)
			buf_printf(out, " within %.3g", error);
		buf_putc(out, '\n');
	}
}

static double autocorrelation(const struct quantity *q, unsigned lag)
{
	size_t n;
	const double *v = quantity_values(q, &n);

	return v	  ? series_autocorrelation(v, n, lag)
	       : lag == 1 ? moments_serial(quantity_moments(q))
			  : NAN;
}

static void put_lags(const struct quantity *q, unsigned lags, struct buf *out)
{
	char words[40];

	for (unsigned i = 1; i <= lags; i++) {
		snprintf(words, sizeof(words), "autocorrelation %u", i);
		put_line(out, words, autocorrelation(q, i));
	}
}

static void put_histogram(struct quantity *q, unsigned bins, struct buf *out)
{
	struct histogram h;
	uint64_t most = 1;

	histogram_of(q, bins, &h);
	for (unsigned i = 0; i < h.n; i++)
		most = h.count[i] > most ? h.count[i] : most;
	for (unsigned i = 0; i < h.n; i++) {
		unsigned bar = (unsigned)((double)h.count[i] / (double)most * BAR_COLUMNS + 0.5);

		buf_printf(out, "  %12.6g  %12.6g  %10" PRIu64 " ", histogram_edge(&h, i),
			   histogram_edge(&h, i + 1), h.count[i]);
		while (bar--)
			buf_putc(out, '#');
		buf_putc(out, '\n');
	}
}

static void put_stop(const struct quantity *q, struct buf *out)
{
	if (!quantity_stop(q)->n)
		return;
	buf_printf(out, "  %-20s", quantity_is_done(q) ? "reached" : "not reached");
	stop_print(quantity_stop(q), out);
	buf_putc(out, '\n');
}

static void put_title(const struct quantity *q, struct buf *out)
{
	char name[NAME_BYTES], unit[NAME_BYTES];

	str_escape(name, sizeof(name), quantity_name(q), strlen(quantity_name(q)));
	str_escape(unit, sizeof(unit), quantity_unit(q), strlen(quantity_unit(q)));
	buf_printf(out, "%s%s%s%s: %" PRIu64 " values", name, *unit ? " [" : "", unit,
		   *unit ? "]" : "", quantity_moments(q)->n);
	if (quantity_dropped(q))
		buf_printf(out, ", %" PRIu64 " dropped", quantity_dropped(q));
	if (quantity_not_finite(q))
		buf_printf(out, ", %" PRIu64 " not finite", quantity_not_finite(q));
	buf_putc(out, '\n');
}

void report_text(struct quantity *q, const struct report_options *w, struct buf *out)
{
	const char *warning[WARNINGS_MAX];
	unsigned n = warnings_of(q, warning);

	put_title(q, out);
	put_intervals(q, w, out);
	for (size_t i = 0; i < ARRAY_LEN(figures); i++)
		put_line(out, figures[i].words, figures[i].of(quantity_moments(q)));
	put_quantiles(q, w, out);
	put_lags(q, w->lags, out);
	if (w->histogram)
		put_histogram(q, w->bins, out);
	put_stop(q, out);
	for (unsigned i = 0; i < n; i++)
		buf_printf(out, "  warning: %s\n", warning[i]);
}

/* --- CSV */

void report_csv_text(const char *s, struct buf *out)
{
	if (!s[strcspn(s, ",\"\r\n")]) {
		buf_puts(out, s);
		return;
	}
	buf_putc(out, '"');
	for (; *s; s++)
		buf_printf(out, *s == '"' ? "\"\"" : "%c", *s);
	buf_putc(out, '"');
}

void report_csv_head(const struct report_options *w, struct buf *out)
{
	buf_puts(out, "name,unit,n,dropped,not_finite,mean,level,half,half_by_batches");
	for (size_t i = 0; i < ARRAY_LEN(figures); i++)
		buf_printf(out, ",%s", figures[i].key);
	for (unsigned i = 0; i < w->nquantile; i++)
		buf_printf(out, ",q%g", w->quantile[i]);
	buf_puts(out, ",reached,dependence\n");
}

static void put_cell(struct buf *out, double v)
{
	char text[STR_DOUBLE_BYTES];

	buf_printf(out, ",%s", isnan(v) ? "" : str_from_double(text, v));
}

void report_csv(struct quantity *q, const struct report_options *w, struct buf *out)
{
	struct interval i = quantity_interval(q, w->level);

	report_csv_text(quantity_name(q), out);
	buf_putc(out, ',');
	report_csv_text(quantity_unit(q), out);
	buf_printf(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, quantity_moments(q)->n,
		   quantity_dropped(q), quantity_not_finite(q));
	put_cell(out, i.mean);
	put_cell(out, w->level);
	put_cell(out, i.half);
	put_cell(out, quantity_interval_of_batches(q, w->level).half);
	for (size_t k = 0; k < ARRAY_LEN(figures); k++)
		put_cell(out, figures[k].of(quantity_moments(q)));
	for (unsigned k = 0; k < w->nquantile; k++)
		put_cell(out, quantity_quantile(q, w->quantile[k], NULL));
	buf_printf(out, ",%s,%d\n",
		   !quantity_stop(q)->n	 ? ""
		   : quantity_is_done(q) ? "1"
					 : "0",
		   quantity_dependence(q) != DEPENDENCE_NONE);
}

/* --- JSON */

static void json_intervals(struct quantity *q, const struct report_options *w, struct json *j)
{
	struct interval b = quantity_interval_of_batches(q, w->level);

	json_key_double(j, "mean", moments_mean(quantity_moments(q)));
	json_key_double(j, "level", w->level);
	json_key_double(j, "half", quantity_interval(q, w->level).half);
	json_key_object(j, "batches");
	json_key_u64(j, "n", quantity_batches(q)->n);
	json_key_u64(j, "size", quantity_batches(q)->size);
	json_key_double(j, "mean", b.mean);
	json_key_double(j, "half", b.half);
	json_key_bool(j, "independent", batches_are_independent(quantity_batches(q)));
	json_object_end(j);
}

static void json_quantiles(struct quantity *q, const struct report_options *w, struct json *j)
{
	json_key_array(j, "quantiles");
	for (unsigned i = 0; i < w->nquantile; i++) {
		double error = NAN, v = quantity_quantile(q, w->quantile[i], &error);

		json_object(j);
		json_key_double(j, "p", w->quantile[i]);
		json_key_double(j, "value", v);
		json_key_double(j, "error", error);
		json_object_end(j);
	}
	json_array_end(j);
}

static void json_lags(const struct quantity *q, unsigned lags, struct json *j)
{
	json_key_array(j, "autocorrelation");
	for (unsigned i = 1; i <= lags; i++)
		json_double(j, autocorrelation(q, i));
	json_array_end(j);
}

static void json_histogram(struct quantity *q, unsigned bins, struct json *j)
{
	struct histogram h;

	histogram_of(q, bins, &h);
	json_key_array(j, "histogram");
	for (unsigned i = 0; i < h.n; i++) {
		json_object(j);
		json_key_double(j, "from", histogram_edge(&h, i));
		json_key_double(j, "to", histogram_edge(&h, i + 1));
		json_key_u64(j, "count", h.count[i]);
		json_object_end(j);
	}
	json_array_end(j);
}

static void json_stop(const struct quantity *q, struct json *j)
{
	struct buf rule = BUF_INIT(4096);

	stop_print(quantity_stop(q), &rule);
	json_key_object(j, "stop");
	json_key_str(j, "rule", buf_str(&rule));
	json_key_bool(j, "reached", quantity_is_done(q));
	json_object_end(j);
	buf_done(&rule);
}

static void json_warnings(const struct quantity *q, struct json *j)
{
	const char *warning[WARNINGS_MAX];
	unsigned n = warnings_of(q, warning);

	json_key_array(j, "warnings");
	for (unsigned i = 0; i < n; i++)
		json_str(j, warning[i]);
	json_array_end(j);
}

/* Each hundredth, and more points at both ends, which logarithmic axes show in detail. */
static void json_cdf(struct quantity *q, struct json *j)
{
	static const double end[] = { 0.0001, 0.001, 0.002, 0.005 };
	enum { ENDS = ARRAY_LEN(end), STEPS = 100 };

	json_key_array(j, "cdf");
	for (int i = 0; quantity_moments(q)->n && i <= STEPS + 2 * ENDS; i++) {
		double p = i == 0		  ? 0
			   : i <= ENDS		  ? end[i - 1]
			   : i < STEPS + ENDS	  ? (double)(i - ENDS) / STEPS
			   : i < STEPS + 2 * ENDS ? 1 - end[2 * ENDS + STEPS - 1 - i]
						  : 1;

		json_array(j);
		json_double(j, quantity_quantile(q, p, NULL));
		json_double(j, p);
		json_array_end(j);
	}
	json_array_end(j);
}

void report_json(struct quantity *q, const struct report_options *w, struct json *out)
{
	json_object(out);
	json_key_str(out, "name", quantity_name(q));
	json_key_str(out, "unit", quantity_unit(q));
	json_key_u64(out, "n", quantity_moments(q)->n);
	json_key_u64(out, "dropped", quantity_dropped(q));
	json_key_u64(out, "not_finite", quantity_not_finite(q));
	json_intervals(q, w, out);
	for (size_t i = 0; i < ARRAY_LEN(figures); i++)
		json_key_double(out, figures[i].key, figures[i].of(quantity_moments(q)));
	json_quantiles(q, w, out);
	if (w->lags)
		json_lags(q, w->lags, out);
	if (w->histogram)
		json_histogram(q, w->bins, out);
	if (w->cdf)
		json_cdf(q, out);
	if (quantity_stop(q)->n)
		json_stop(q, out);
	json_warnings(q, out);
	json_object_end(out);
}
