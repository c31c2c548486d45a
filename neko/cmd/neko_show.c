/* SPDX-License-Identifier: Apache-2.0 */
#include "neko/cmd/neko_show.h"

#include "common/base/array.h"
#include "common/json/json.h"
#include "stats/report.h"
#include "tools/term/table.h"

#include <inttypes.h>
#include <math.h>

#define LEVEL 0.95

static void cell(struct table *t, double v)
{
	if (isfinite(v))
		table_cell(t, "%.6g", v);
	else
		table_cell(t, "-");
}

/* True if the run had more than one clock, so that clock errors are shown. */
static bool has_clocks(const struct stat_result *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (v[i].clock_max > 0)
			return true;
	return false;
}

static bool has_formulas(const struct stat_result *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (isfinite(v[i].expected))
			return true;
	return false;
}

/* Columns that not all tables have. */
struct columns {
	bool clock, formula;
};

static void add_row(struct table *t, const struct stat_result *v, struct columns with)
{
	const struct moments *m = quantity_moments(v->quantity);
	struct interval i = quantity_interval(v->quantity, LEVEL);
	const char *unit = quantity_unit(v->quantity);

	table_cell(t, "%s%s%s%s", quantity_name(v->quantity), *unit ? " (" : "", unit,
		   *unit ? ")" : "");
	table_cell(t, "%" PRIu64, m->n);
	cell(t, moments_mean(m));
	cell(t, i.half);
	if (with.formula)
		cell(t, v->expected);
	cell(t, moments_deviation(m));
	cell(t, m->n ? m->min : NAN);
	cell(t, m->n ? m->max : NAN);
	if (with.clock)
		cell(t, v->clock_mean);
}

/* Lists the quantities without values, which a reader could otherwise miss. */
static void add_empty(struct buf *b, const struct stat_result *v, size_t n)
{
	const char *between = "no values: ";

	for (size_t i = 0; i < n; i++) {
		if (quantity_moments(v[i].quantity)->n)
			continue;
		buf_printf(b, "%s%s", between, quantity_name(v[i].quantity));
		between = ", ";
	}
	if (*between == ',')
		buf_putc(b, '\n');
}

static void add_table(struct buf *b, const struct stat_result *v, size_t n)
{
	const char *head[9] = { "QUANTITY", "N", "MEAN", "+-95%" };
	const struct columns with = { .clock = has_clocks(v, n), .formula = has_formulas(v, n) };
	size_t ncol = 4;
	struct table *t;

	if (with.formula)
		head[ncol++] = "FORMULA";
	head[ncol++] = "DEVIATION";
	head[ncol++] = "MIN";
	head[ncol++] = "MAX";
	if (with.clock)
		head[ncol++] = "CLOCK";
	t = table_new(ncol, head, "lrrrrrrrr");

	for (size_t i = 0; t && i < n; i++)
		if (quantity_moments(v[i].quantity)->n)
			add_row(t, &v[i], with);
	if (table_end(t, 0, b))
		b->failed = true;
}

/*
 * Warns if values depend on each other, so that the interval above is too narrow, with the factor.
 */
static void add_warnings(struct buf *b, const struct stat_result *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *words = dependence_words(quantity_dependence(v[i].quantity));
		double half = quantity_interval_of_batches(v[i].quantity, LEVEL).half;

		if (words)
			buf_printf(b, "%s: %s: use +- %.6g (batch means)\n",
				   quantity_name(v[i].quantity), words, half);
	}
}

static const char *end_of(const struct run_counts *f)
{
	if (f->broken)
		return "a property did not hold";
	if (f->is_interrupted)
		return "interrupted: partial results";
	if (f->missing)
		return "processes are missing: partial results";
	if (f->is_cut)
		return "deadline: partial results";
	if (f->is_left)
		return "ended by a layer";
	return f->is_stopped ? "stop rule reached" : "end of the run's time";
}

void neko_show_text(struct buf *b, const struct run *r, const struct run_counts *f)
{
	struct stat_result v[STAT_QUANTITIES_MAX];
	size_t n = run_results(r, v);

	buf_printf(b,
		   "%s, seed %" PRIu64 ", %" PRIu64 " %s, %.9g s, %" PRIu64 " messages, %" PRIu64
		   " delivered: %s\n",
		   f->is_real ? "real" : "simulated", f->seed, f->runs,
		   f->runs == 1 ? "run" : "runs", f->seconds, f->sent, f->delivered, end_of(f));
	if (f->is_interrupted)
		buf_printf(b, "partial: %" PRIu64 " of %" PRIu64 " runs are complete\n",
			   f->whole_runs, f->runs_requested);
	add_table(b, v, n);
	add_empty(b, v, n);
	add_warnings(b, v, n);
	if (f->broken)
		buf_printf(b, "BROKEN: %s; seed %" PRIu64 "\n", f->broken, f->seed_of_last);
	if (!f->is_real)
		buf_printf(b, "hash %016" PRIx64 "\n", f->hash);
}

/* Writes no key if there is no formula. */
static void add_formulas(struct json *j, const struct stat_result *v, size_t n)
{
	json_key_object(j, "formulas");
	for (size_t i = 0; i < n; i++)
		if (!isnan(v[i].expected))
			json_key_double(j, quantity_name(v[i].quantity), v[i].expected);
	json_object_end(j);
}

static void add_missing(struct json *j, const struct run *r)
{
	size_t n;
	const struct run_missing *m = run_missing(r, &n);

	json_key_array(j, "missing_processes");
	for (size_t i = 0; i < n; i++) {
		json_object(j);
		json_key_u64(j, "process", m[i].id);
		json_key_str(j, "why", m[i].why);
		json_object_end(j);
	}
	json_array_end(j);
}

/*
 * Writes the clocks of a real run: for each process, the master's time minus its own, and the
 * drift.
 */
static void add_clocks(struct json *j, const struct run *r)
{
	uint32_t m;
	const struct run_clock *c = run_clocks(r, &m);

	json_key_array(j, "clocks");
	for (uint32_t i = 0; c && i < m; i++) {
		json_object(j);
		json_key_u64(j, "process", i + 1);
		json_key_double(j, "offset", (double)c[i].offset / 1e9);
		json_key_double(j, "error", (double)c[i].error / 1e9);
		json_key_double(j, "worst_error", (double)c[i].worst_error / 1e9);
		json_key_double(j, "drift_ppm", c[i].drift);
		json_key_double(j, "drift_error_ppm", c[i].drift_error);
		json_object_end(j);
	}
	json_array_end(j);
}

/* Writes [[seconds, value], ...] of the first run, for a picture. */
static void add_series(struct json *j, const struct stat_result *v)
{
	json_key_array(j, quantity_name(v->quantity));
	for (uint32_t i = 0; i < v->series->n; i++) {
		json_array(j);
		json_double(j, (double)v->series->point[i].at / 1e9);
		json_double(j, v->series->point[i].v);
		json_array_end(j);
	}
	json_array_end(j);
}

static void add_all_series(struct json *j, const struct stat_result *v, size_t n)
{
	json_key_object(j, "series");
	for (size_t i = 0; i < n; i++)
		add_series(j, &v[i]);
	json_object_end(j);
}

/*
 * Writes the largest clock errors of values in seconds. A run with a single clock has no such key.
 */
static void add_clock_errors(struct json *j, const struct stat_result *v, size_t n)
{
	json_key_object(j, "clock_errors");
	for (size_t i = 0; i < n; i++) {
		if (!(v[i].clock_max > 0))
			continue;
		json_key_object(j, quantity_name(v[i].quantity));
		json_key_double(j, "mean", v[i].clock_mean);
		json_key_double(j, "max", v[i].clock_max);
		json_object_end(j);
	}
	json_object_end(j);
}

void neko_show_json(struct buf *b, const char *path, const struct run *r,
		    const struct run_counts *f, const struct neko_trace *trace)
{
	struct report_options options = report_usual;
	struct stat_result v[STAT_QUANTITIES_MAX];
	size_t n = run_results(r, v);
	char hash[20];
	struct json j;

	snprintf(hash, sizeof(hash), "%016" PRIx64, f->hash);
	options.histogram = true;
	options.cdf = true;
	json_init(&j, b);
	json_object(&j);
	json_key_str(&j, "configuration", path);
	json_key_str(&j, "world", f->is_real ? "real" : "simulated");
	json_key_u64(&j, "seed", f->seed);
	json_key_u64(&j, "runs", f->runs);
	json_key_double(&j, "seconds", f->seconds);
	json_key_u64(&j, "sent", f->sent);
	json_key_u64(&j, "delivered", f->delivered);
	json_key_u64(&j, "events", f->events);
	json_key_u64(&j, "stuck", f->stuck);
	json_key_u64(&j, "missing", f->missing);
	add_missing(&j, r);
	json_key_bool(&j, "stopped", f->is_stopped);
	json_key_bool(&j, "ended_by_layer", f->is_left);
	json_key_bool(&j, "cut", f->is_cut);
	json_key_bool(&j, "interrupted", f->is_interrupted);
	json_key_u64(&j, "whole_runs", f->whole_runs);
	json_key_u64(&j, "runs_requested", f->runs_requested);
	if (f->is_real) {
		add_clocks(&j, r);
		add_clock_errors(&j, v, n);
	} else {
		json_key_str(&j, "hash", hash);
	}
	json_key_array(&j, "quantities");
	for (size_t i = 0; i < n; i++)
		report_json(v[i].quantity, &options, &j);
	json_array_end(&j);
	add_formulas(&j, v, n);
	add_all_series(&j, v, n);
	neko_trace_json(trace, &j);
	json_object_end(&j);
	if (json_end(&j))
		b->failed = true;
	buf_putc(b, '\n');
}
