/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/str.h"
#include "stats/report.h"
#include "tools/model/model_file.h"
#include "tools/model/observe.h"
#include "tools/term/outfile.h"
#include "tools/term/table.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define PATH_BYTES 4096
#define FILE_MAX_BYTES (1u << 30)

/* --- text and JSON */

static double mean_time(const struct observed_counts *c)
{
	double n = isnan(c->completed) ? c->begun : c->completed;

	return n > 0 ? c->time / n : NAN;
}

static void put_number(struct table *t, double v)
{
	table_cell(t, isnan(v) ? "-" : "%.5g", v);
}

/* The last period: requests, and how long each took. */
static void put_counts(const struct observation *o, const struct observed_process *p,
		       struct buf *out)
{
	static const char *const heads[] = { "SERVICE", "BEGUN", "COMPLETED", "RESPONSE" };
	struct table *t = table_new(4, heads, "lrrr");

	for (size_t i = 0; t && i < o->nservice; i++) {
		table_cell(t, "%s", o->service[i].region.name);
		put_number(t, p->now[i].begun);
		put_number(t, p->now[i].completed);
		put_number(t, mean_time(&p->now[i]));
	}
	if (table_end(t, 0, out))
		out->failed = true;
}

static void put_process(const struct observation *o, const struct observed_process *p,
			struct buf *out)
{
	buf_printf(out, "%s, %zu periods of %g s", p->label, p->periods->n,
		   (double)o->options->every_ns / 1e9);
	if (p->skipped)
		buf_printf(out, ", and %zu without all counts", p->skipped);
	buf_puts(out, ". ");
	if (p->unknown.code || !p->periods->n)
		buf_printf(out, "No demand is known yet: %s.\n\n",
			   p->unknown.code ? p->unknown.text : "no period has all counts");
	else
		estimate_put_text(&p->shown, out);
	buf_printf(out, "The last period, busy for ");
	buf_printf(out, isnan(p->busy) ? "an unknown time:\n" : "%.4g s:\n", p->busy);
	put_counts(o, p, out);
	buf_putc(out, '\n');
}

static void json_process(const struct observation *o, const struct observed_process *p,
			 struct json *j)
{
	json_object(j);
	json_key_str(j, "process", p->label);
	json_key_u64(j, "periods", p->periods->n);
	json_key_u64(j, "skipped", p->skipped);
	json_key_double(j, "busy", p->busy);
	json_key_array(j, "last");
	for (size_t i = 0; i < o->nservice; i++) {
		json_object(j);
		json_key_str(j, "service", o->service[i].region.name);
		json_key_double(j, "begun", p->now[i].begun);
		json_key_double(j, "completed", p->now[i].completed);
		json_key_double(j, "response", mean_time(&p->now[i]));
		json_object_end(j);
	}
	json_array_end(j);
	json_key(j, "estimate");
	if (p->unknown.code || !p->periods->n)
		json_null(j);
	else
		estimate_put_json(&p->shown, j);
	if (p->unknown.code)
		json_key_str(j, "unknown", p->unknown.text);
	json_object_end(j);
}

static int put_json(const struct observation *o, int64_t until_ns)
{
	struct buf b = BUF_INIT(MODEL_OUTPUT_MAX_BYTES);
	struct json j;

	json_init(&j, &b);
	json_object(&j);
	json_key_u64(&j, "period", o->npast - 1);
	json_key_i64(&j, "until_ns", until_ns);
	json_key_double(&j, "length", (double)o->options->every_ns / 1e9);
	json_key_array(&j, "processes");
	for (size_t i = 0; i < o->nprocess; i++)
		json_process(o, &o->process[i], &j);
	json_array_end(&j);
	json_object_end(&j);
	return cmd_json_line(&j, &b);
}

int observe_put(const struct observation *o, int64_t until_ns)
{
	struct buf b = BUF_INIT(MODEL_OUTPUT_MAX_BYTES);
	int status;

	if (o->options->common.json)
		status = put_json(o, until_ns);
	else {
		for (size_t i = 0; i < o->nprocess; i++)
			put_process(o, &o->process[i], &b);
		status = model_print(&b);
	}
	fflush(stdout);
	return status;
}

/* --- files of periods */

static void put_heads(const struct observation *o, struct buf *out)
{
	char name[PERIODS_NAME_BYTES + 16];

	buf_puts(out, "period,busy");
	for (size_t i = 0; i < o->nservice; i++) {
		buf_putc(out, ',');
		snprintf(name, sizeof(name), "begun:%s", o->service[i].region.name);
		report_csv_text(name, out);
	}
	for (size_t i = 0; o->has_completed && i < o->nservice; i++) {
		buf_putc(out, ',');
		snprintf(name, sizeof(name), "completed:%s", o->service[i].region.name);
		report_csv_text(name, out);
	}
	buf_putc(out, '\n');
}

static void put_periods(const struct observation *o, const struct observed_process *p,
			struct buf *out)
{
	size_t k = o->nservice;

	buf_printf(out, "# %s, periods of %g s, times in seconds\n", p->label,
		   (double)o->options->every_ns / 1e9);
	put_heads(o, out);
	for (size_t at = 0; at < p->periods->n; at++) {
		buf_printf(out, "%zu,%.9g", at + 1, p->periods->response[at]);
		for (size_t i = 0; i < k; i++)
			buf_printf(out, ",%.17g", p->periods->begun[at * k + i]);
		for (size_t i = 0; o->has_completed && i < k; i++)
			buf_printf(out, ",%.17g", p->periods->completed[at * k + i]);
		buf_putc(out, '\n');
	}
}

/* FILE for one process; FILE.LABEL.csv in place of FILE.csv for each of several. */
static int path_of(const struct observation *o, const struct observed_process *p,
		   char out[PATH_BYTES])
{
	const char *path = o->options->output;
	size_t n = strlen(path) - (str_has_suffix(path, ".csv") ? strlen(".csv") : 0);
	int made = o->nprocess == 1 ? snprintf(out, PATH_BYTES, "%s", path)
				    : snprintf(out, PATH_BYTES, "%.*s.%s%s", (int)n, path, p->label,
					       path + n);

	if (made >= PATH_BYTES)
		return cmd_fail(CMD_USAGE, "the name of the file is too long");
	for (char *c = out + n; o->nprocess > 1 && *c; c++)
		*c = *c == '/' ? '_' : *c;
	return CMD_OK;
}

int observe_write(const struct observation *o)
{
	int status = CMD_OK;

	for (size_t i = 0; status == CMD_OK && i < o->nprocess; i++) {
		struct buf b = BUF_INIT(FILE_MAX_BYTES);
		char path[PATH_BYTES];

		status = path_of(o, &o->process[i], path);
		put_periods(o, &o->process[i], &b);
		if (status == CMD_OK)
			status = b.failed ? cmd_fail(CMD_FAILURE, "out of memory")
					  : outfile_write(path, &b);
		if (status == CMD_OK && o->nprocess > 1)
			fprintf(stderr, "omig: %s has the periods of %s\n", path,
				o->process[i].label);
		buf_done(&b);
	}
	return status;
}
