/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/model/solve_show.h"

#include "common/base/array.h"
#include "common/json/json.h"
#include "stats/report.h"
#include "tools/model/model_file.h"
#include "tools/term/say.h"
#include "tools/term/table.h"
#include "tools/term/wholefile.h"

#include <math.h>

/* --- one solution as text */

static void put_answer(const struct layered *m, const struct layered_result *r, struct buf *out)
{
	struct server_use full = model_bottleneck(m, r);

	for (size_t i = 0; i < m->ntask; i++)
		if (m->task[i].is_reference)
			buf_printf(out,
				   "%s: %u clients get %.5g cycles a time unit, at most %.5g are "
				   "possible; a response takes %.5g.\n",
				   m->task[i].name, m->task[i].threads, r->task_throughput[i],
				   layered_bound(m, i), r->task_response[i]);
	for (size_t i = 0; i < m->nentry; i++)
		if (m->entry[i].arrivals > 0)
			buf_printf(out, "%s: a response to %g arrivals a time unit takes %.5g.\n",
				   m->entry[i].name, m->entry[i].arrivals, r->entry_response[i]);
	buf_printf(out,
		   full.share >= MODEL_FULL ? "The bottleneck is %s %s: %.1f %% in use.\n"
					    : "No server is full; the busiest is %s %s: %.1f %% in "
					      "use.\n",
		   full.what, full.name, 100 * full.share);
}

static void put_tasks(const struct layered *m, const struct layered_result *r, struct buf *out)
{
	static const char *const heads[] = { "TASK", "ENTRY", "THROUGHPUT", "SERVICE", "BUSY" };
	struct table *t = table_new(ARRAY_LEN(heads), heads, "llrrr");

	for (size_t i = 0; t && i < m->nentry; i++) {
		table_cell(t, "%s", m->task[m->entry[i].task].name);
		table_cell(t, "%s", m->entry[i].name);
		table_cell(t, "%.5g", r->entry_throughput[i]);
		table_cell(t, "%.5g", r->entry_service[i]);
		table_cell(t, "%.4g", r->entry_throughput[i] * r->entry_service[i]);
	}
	if (table_end(t, 0, out))
		out->failed = true;
}

static void put_servers(const struct layered *m, const struct layered_result *r, struct buf *out)
{
	static const char *const heads[] = { "SERVER", "SERVERS", "BUSY", "USE%" };
	struct table *t = table_new(ARRAY_LEN(heads), heads, "lrrr");
	char percent[TABLE_NUMBER_BYTES];

	for (size_t i = 0; t && i < m->nprocessor; i++) {
		bool is_delay = m->processor[i].kind == STATION_DELAY;

		table_cell(t, "processor %s", m->processor[i].name);
		table_cell(t, is_delay ? "-" : "%u", m->processor[i].servers);
		table_cell(t, "%.4g", r->processor_busy[i]);
		table_cell(
			t, "%s",
			table_percent(percent,
				      is_delay ? NAN : 100 * model_use(m, r, m->ntask + i).share));
	}
	if (table_end(t, 0, out))
		out->failed = true;
}

/* judge: NULL without --check */
static void put_text(const struct layered *m, const struct layered_result *r,
		     const struct simulate_result *judge, struct buf *out)
{
	put_answer(m, r, out);
	if (judge)
		simulate_differences(m, r, judge, out);
	buf_putc(out, '\n');
	put_tasks(m, r, out);
	buf_putc(out, '\n');
	put_servers(m, r, out);
	if (judge) {
		buf_putc(out, '\n');
		simulate_table(m, r, judge, out);
	}
	buf_puts(out, "\nSERVICE: how long an invocation holds a thread; BUSY: mean number in use. "
		      "Approximate, by layers.\n");
}

/* --- JSON */

static void json_solution(const struct layered *m, const struct layered_result *r, struct json *j)
{
	json_key_array(j, "tasks");
	for (size_t i = 0; i < m->ntask; i++) {
		json_object(j);
		json_key_str(j, "name", m->task[i].name);
		json_key_bool(j, "reference", m->task[i].is_reference);
		json_key_u64(j, "threads", m->task[i].threads);
		json_key_double(j, "throughput", r->task_throughput[i]);
		json_key_double(j, "busy", r->task_busy[i]);
		json_key_double(j, "response", m->task[i].is_reference ? r->task_response[i] : NAN);
		json_key_double(j, "bound", m->task[i].is_reference ? layered_bound(m, i) : NAN);
		json_object_end(j);
	}
	json_array_end(j);
	json_key_array(j, "entries");
	for (size_t i = 0; i < m->nentry; i++) {
		json_object(j);
		json_key_str(j, "name", m->entry[i].name);
		json_key_str(j, "task", m->task[m->entry[i].task].name);
		json_key_double(j, "throughput", r->entry_throughput[i]);
		json_key_double(j, "service", r->entry_service[i]);
		if (m->entry[i].arrivals > 0)
			json_key_double(j, "response", r->entry_response[i]);
		json_object_end(j);
	}
	json_array_end(j);
	json_key_array(j, "processors");
	for (size_t i = 0; i < m->nprocessor; i++) {
		json_object(j);
		json_key_str(j, "name", m->processor[i].name);
		json_key_double(j, "busy", r->processor_busy[i]);
		json_object_end(j);
	}
	json_array_end(j);
	json_key_str(j, "bottleneck", model_bottleneck(m, r).name);
}

static void put_csv(const struct layered *m, const struct layered_result *r, struct buf *out)
{
	buf_puts(out, "task,entry,throughput,service\n");
	for (size_t i = 0; i < m->nentry; i++) {
		report_csv_text(m->task[m->entry[i].task].name, out);
		buf_putc(out, ',');
		report_csv_text(m->entry[i].name, out);
		buf_printf(out, ",%.10g,%.10g\n", r->entry_throughput[i], r->entry_service[i]);
	}
}

static int show(const struct solve_options *w, const struct layered *m,
		const struct layered_result *r, const struct simulate_result *judge)
{
	struct buf b = BUF_INIT(MODEL_OUTPUT_MAX_BYTES);
	struct json j;

	if (!w->json) {
		if (w->csv)
			put_csv(m, r, &b);
		else
			put_text(m, r, judge, &b);
		return model_print(&b);
	}
	json_init(&j, &b);
	json_object(&j);
	json_solution(m, r, &j);
	if (judge) {
		json_key_object(&j, "simulated");
		simulate_json(m, judge, &j);
		json_object_end(&j);
	}
	json_object_end(&j);
	return cmd_json_line(&j, &b);
}

int solve_show(const struct solve_options *w, const char *path)
{
	struct layered m = { 0 };
	struct layered_result r = { 0 };
	struct simulate_result judge = { 0 };
	struct err e = { 0 };
	int status = model_read(path, &m);

	if (status == CMD_OK && layered_solve(&m, &r, &e))
		status = cmd_fail(CMD_FAILURE, "%s: %s", wholefile_name(path), e.text);
	if (status == CMD_OK && w->is_checked)
		status = simulate_model(&w->simulate, &m, path, &judge);
	if (status == CMD_OK)
		status = show(w, &m, &r, w->is_checked ? &judge : NULL);
	simulate_result_done(&judge);
	layered_result_done(&r);
	layered_done(&m);
	return status;
}
