/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/model/simulate_show.h"

#include "common/base/array.h"
#include "common/cli/endsignal.h"
#include "common/cli/progress.h"
#include "common/json/json.h"
#include "stats/report.h"
#include "tools/model/model_file.h"
#include "tools/term/say.h"
#include "tools/term/table.h"
#include "tools/term/wholefile.h"

#include <math.h>
#include <stdio.h>

/* the response within 1 %: some seconds for most models */
#define PRECISE "ci(0.95, batches) < 1%"

static bool on_turn(void *arg, uint64_t events, double time)
{
	struct progress *p = arg;

	if (progress_is_due(p))
		progress_show(p, "simulated %.3g time units, %.1f million events", time,
			      (double)events / 1e6);
	return end_signal != 0;
}

int simulate_model(const struct simulate_request *w, const struct layered *m, const char *path,
		   struct simulate_result *out)
{
	struct progress progress;
	struct simulate_options o = { .seed = w->seed, .events = w->events, .level = w->level };
	struct err e = { 0 };
	int rc = stop_parse(w->until ? w->until : PRECISE, &o.stop, &e);

	if (rc)
		return cmd_fail(CMD_USAGE, "--until: %s", e.text);
	o.on_turn = on_turn;
	o.arg = &progress;
	end_signal_catch();
	progress_begin(&progress, w->json);
	rc = simulate(m, &o, out, &e);
	progress_end(&progress);
	if (end_signal)
		return CMD_SIGNAL + end_signal;
	return rc ? cmd_fail(CMD_FAILURE, "%s: %s", wholefile_name(path), e.text) : CMD_OK;
}

/* --- text */

static void put_value(struct buf *out, const struct interval *i)
{
	buf_printf(out, isnan(i->half) ? "%.5g +-" : "%.5g +- %.2g", i->mean, i->half);
	if (isnan(i->half))
		buf_puts(out, " unknown");
}

static void cells(struct table *t, const struct interval *i)
{
	table_cell(t, isnan(i->mean) ? "-" : "%.5g", i->mean);
	table_cell(t, isnan(i->half) ? "-" : "%.2g", i->half);
}

static void put_precision(const struct simulate_result *r, struct buf *out)
{
	if (!r->is_precise)
		buf_puts(out, "! the intervals are wider than the stop rule permits: --events\n");
}

static void put_answer(const struct simulate_request *w, const struct layered *m,
		       const struct simulate_result *r, struct buf *out)
{
	for (size_t i = 0; i < m->ntask; i++) {
		if (!m->task[i].is_reference)
			continue;
		buf_printf(out, "%s: %u clients get ", m->task[i].name, m->task[i].threads);
		put_value(out, &r->task_throughput[i]);
		buf_puts(out, " cycles a time unit; a response takes ");
		put_value(out, &r->task_response[i]);
		buf_puts(out, ".\n");
	}
	for (size_t i = 0; i < m->nentry; i++) {
		if (!(m->entry[i].arrivals > 0))
			continue;
		buf_printf(out, "%s: a response to %g arrivals a time unit takes ",
			   m->entry[i].name, m->entry[i].arrivals);
		put_value(out, &r->entry_response[i]);
		buf_puts(out, ".\n");
	}
	buf_printf(out, "Intervals of %g %%: ", 100 * w->level);
	buf_printf(out, "%.3g time units with %.3g events were simulated, seed %llu.\n", r->time,
		   (double)r->events, (unsigned long long)r->seed);
	put_precision(r, out);
}

static void put_entries(const struct layered *m, const struct simulate_result *r, struct buf *out)
{
	static const char *const heads[] = { "TASK", "ENTRY", "THROUGHPUT", "+-", "SERVICE", "+-" };
	struct table *t = table_new(ARRAY_LEN(heads), heads, "llrrrr");

	for (size_t i = 0; t && i < m->nentry; i++) {
		table_cell(t, "%s", m->task[m->entry[i].task].name);
		table_cell(t, "%s", m->entry[i].name);
		cells(t, &r->entry_throughput[i]);
		cells(t, &r->entry_service[i]);
	}
	if (table_end(t, 0, out))
		out->failed = true;
}

static void put_servers(const struct layered *m, const struct simulate_result *r, struct buf *out)
{
	static const char *const heads[] = { "SERVER", "BUSY", "+-" };
	struct table *t = table_new(ARRAY_LEN(heads), heads, "lrr");

	for (size_t i = 0; t && i < m->ntask; i++) {
		table_cell(t, "task %s", m->task[i].name);
		cells(t, &r->task_busy[i]);
	}
	for (size_t i = 0; t && i < m->nprocessor; i++) {
		table_cell(t, "processor %s", m->processor[i].name);
		cells(t, &r->processor_busy[i]);
	}
	if (table_end(t, 0, out))
		out->failed = true;
}

static void put_csv(const struct layered *m, const struct simulate_result *r, struct buf *out)
{
	buf_puts(out, "task,entry,throughput,throughput_half,service,service_half\n");
	for (size_t i = 0; i < m->nentry; i++) {
		report_csv_text(m->task[m->entry[i].task].name, out);
		buf_putc(out, ',');
		report_csv_text(m->entry[i].name, out);
		buf_printf(out, ",%.10g,%.4g,%.10g,%.4g\n", r->entry_throughput[i].mean,
			   r->entry_throughput[i].half, r->entry_service[i].mean,
			   r->entry_service[i].half);
	}
}

/* --- JSON: a mean and a half-width are two members */

static void json_value(struct json *j, const char *key, const struct interval *i)
{
	json_key_array(j, key);
	json_double(j, i->mean);
	json_double(j, i->half);
	json_array_end(j);
}

void simulate_json(const struct layered *m, const struct simulate_result *r, struct json *j)
{
	json_key_u64(j, "seed", r->seed);
	json_key_u64(j, "events", r->events);
	json_key_double(j, "time", r->time);
	json_key_bool(j, "precise", r->is_precise);
	json_key_array(j, "tasks");
	for (size_t i = 0; i < m->ntask; i++) {
		json_object(j);
		json_key_str(j, "name", m->task[i].name);
		json_value(j, "throughput", &r->task_throughput[i]);
		json_value(j, "busy", &r->task_busy[i]);
		if (m->task[i].is_reference)
			json_value(j, "response", &r->task_response[i]);
		json_object_end(j);
	}
	json_array_end(j);
	json_key_array(j, "entries");
	for (size_t i = 0; i < m->nentry; i++) {
		json_object(j);
		json_key_str(j, "name", m->entry[i].name);
		json_value(j, "throughput", &r->entry_throughput[i]);
		json_value(j, "service", &r->entry_service[i]);
		if (m->entry[i].arrivals > 0)
			json_value(j, "response", &r->entry_response[i]);
		json_object_end(j);
	}
	json_array_end(j);
	json_key_array(j, "processors");
	for (size_t i = 0; i < m->nprocessor; i++) {
		json_object(j);
		json_key_str(j, "name", m->processor[i].name);
		json_value(j, "busy", &r->processor_busy[i]);
		json_object_end(j);
	}
	json_array_end(j);
}

static int show(const struct simulate_request *w, const struct layered *m,
		const struct simulate_result *r)
{
	struct buf b = BUF_INIT(MODEL_OUTPUT_MAX_BYTES);
	struct json j;

	if (w->csv) {
		put_csv(m, r, &b);
		return model_print(&b);
	}
	if (!w->json) {
		put_answer(w, m, r, &b);
		buf_putc(&b, '\n');
		put_entries(m, r, &b);
		buf_putc(&b, '\n');
		put_servers(m, r, &b);
		return model_print(&b);
	}
	json_init(&j, &b);
	json_object(&j);
	json_key_double(&j, "level", w->level);
	simulate_json(m, r, &j);
	json_object_end(&j);
	return cmd_json_line(&j, &b);
}

int simulate_show(const struct simulate_request *w, const char *path)
{
	struct layered m = { 0 };
	struct simulate_result r = { 0 };
	int status = model_read(path, &w->demands, &m);

	if (status == CMD_OK)
		status = simulate_model(w, &m, path, &r);
	if (status == CMD_OK)
		status = show(w, &m, &r);
	simulate_result_done(&r);
	layered_done(&m);
	return status;
}

/* --- a solution beside its simulation */

static double percent_off(double solved, const struct interval *i)
{
	return 100 * (solved / i->mean - 1);
}

static void put_difference(struct buf *out, const char *what, double solved,
			   const struct interval *i)
{
	double off = percent_off(solved, i);

	if (isnan(i->half)) {
		buf_printf(out, "the %s %.4g cannot be judged", what, solved);
		return;
	}
	buf_printf(out, "the %s is %.2g %% %s that of the simulation, ", what, fabs(off),
		   off < 0 ? "below" : "above");
	put_value(out, i);
	buf_puts(out, fabs(solved - i->mean) <= i->half ? " (no sure difference)" : "");
}

void simulate_differences(const struct layered *m, const struct layered_result *solved,
			  const struct simulate_result *r, struct buf *out)
{
	for (size_t i = 0; i < m->ntask; i++) {
		if (!m->task[i].is_reference)
			continue;
		buf_printf(out, "Check of %s: ", m->task[i].name);
		put_difference(out, "throughput", solved->task_throughput[i],
			       &r->task_throughput[i]);
		buf_puts(out, "; ");
		put_difference(out, "response", solved->task_response[i], &r->task_response[i]);
		buf_puts(out, ".\n");
	}
	for (size_t i = 0; i < m->nentry; i++) {
		if (!(m->entry[i].arrivals > 0))
			continue;
		buf_printf(out, "Check of %s: ", m->entry[i].name);
		put_difference(out, "response", solved->entry_response[i], &r->entry_response[i]);
		buf_puts(out, ".\n");
	}
	put_precision(r, out);
}

static void row(struct table *t, const char *name, const char *what, double solved,
		const struct interval *i)
{
	char percent[TABLE_NUMBER_BYTES];

	table_cell(t, "%s", name);
	table_cell(t, "%s", what);
	table_cell(t, "%.5g", solved);
	cells(t, i);
	table_cell(t, "%s", table_percent(percent, i->mean > 0 ? percent_off(solved, i) : NAN));
}

void simulate_table(const struct layered *m, const struct layered_result *solved,
		    const struct simulate_result *r, struct buf *out)
{
	static const char *const heads[] = { "NAME", "VALUE", "SOLVED", "SIMULATED", "+-", "OFF%" };
	struct table *t = table_new(ARRAY_LEN(heads), heads, "llrrrr");

	for (size_t i = 0; t && i < m->ntask; i++) {
		row(t, m->task[i].name, "throughput", solved->task_throughput[i],
		    &r->task_throughput[i]);
		if (m->task[i].is_reference)
			row(t, m->task[i].name, "response", solved->task_response[i],
			    &r->task_response[i]);
		else
			row(t, m->task[i].name, "busy threads", solved->task_busy[i],
			    &r->task_busy[i]);
	}
	for (size_t i = 0; t && i < m->nentry; i++) {
		row(t, m->entry[i].name, "service", solved->entry_service[i], &r->entry_service[i]);
		if (m->entry[i].arrivals > 0)
			row(t, m->entry[i].name, "response", solved->entry_response[i],
			    &r->entry_response[i]);
	}
	for (size_t i = 0; t && i < m->nprocessor; i++)
		row(t, m->processor[i].name, "busy servers", solved->processor_busy[i],
		    &r->processor_busy[i]);
	if (table_end(t, 0, out))
		out->failed = true;
}
