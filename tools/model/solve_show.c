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

/* A solution, and the intervals of its values. */
struct solution {
	const struct solve_options *options;
	struct layered m;
	struct layered_result r;
	struct propagate_result p;
	struct simulate_result judge; /* with --check */
};

/* --- one solution as text */

static void put_reference(const struct solution *s, size_t i, struct buf *out)
{
	const struct layered_task *t = &s->m.task[i];

	buf_printf(out, "%s: %u clients get %.5g", t->name, t->threads, s->r.task_throughput[i]);
	demands_put_range(&s->p, &s->p.task_throughput[i], out);
	buf_printf(out, " cycles a time unit, at most %.5g are possible; a response takes %.5g",
		   layered_bound(&s->m, i), s->r.task_response[i]);
	demands_put_range(&s->p, &s->p.task_response[i], out);
	buf_puts(out, ".\n");
}

static void put_answer(const struct solution *s, struct buf *out)
{
	const struct layered *m = &s->m;
	struct server_use full = model_bottleneck(m, &s->r);

	for (size_t i = 0; i < m->ntask; i++)
		if (m->task[i].is_reference)
			put_reference(s, i, out);
	for (size_t i = 0; i < m->nentry; i++) {
		if (!(m->entry[i].arrivals > 0))
			continue;
		buf_printf(out, "%s: a response to %g arrivals a time unit takes %.5g",
			   m->entry[i].name, m->entry[i].arrivals, s->r.entry_response[i]);
		demands_put_range(&s->p, &s->p.entry_response[i], out);
		buf_puts(out, ".\n");
	}
	buf_printf(out,
		   full.share >= MODEL_FULL ? "The bottleneck is %s %s: %.1f %% in use.\n"
					    : "No server is full; the busiest is %s %s: %.1f %% in "
					      "use.\n",
		   full.what, full.name, 100 * full.share);
	demands_put_words(m, &s->p, s->options->level, out);
}

static void value_cells(struct table *t, const struct propagate_result *p, double v,
			const struct range *ends)
{
	table_cell(t, "%.5g", v);
	if (!p->uncertain)
		return;
	table_cell(t, isnan(ends->low) ? "-" : "%.5g", ends->low);
	table_cell(t, isnan(ends->high) ? "-" : "%.5g", ends->high);
}

static void put_tasks(const struct solution *s, struct buf *out)
{
	static const char *const heads[] = { "TASK", "ENTRY", "THROUGHPUT", "SERVICE", "BUSY" };
	static const char *const ranges[] = { "TASK",	 "ENTRY", "THROUGHPUT", "LOW", "HIGH",
					      "SERVICE", "LOW",	  "HIGH",	"BUSY" };
	const struct layered *m = &s->m;
	const struct layered_result *r = &s->r;
	struct table *t = s->p.uncertain ? table_new(ARRAY_LEN(ranges), ranges, "llrrrrrrr")
					 : table_new(ARRAY_LEN(heads), heads, "llrrr");

	for (size_t i = 0; t && i < m->nentry; i++) {
		table_cell(t, "%s", m->task[m->entry[i].task].name);
		table_cell(t, "%s", m->entry[i].name);
		value_cells(t, &s->p, r->entry_throughput[i], &s->p.entry_throughput[i]);
		value_cells(t, &s->p, r->entry_service[i], &s->p.entry_service[i]);
		table_cell(t, "%.4g", r->entry_throughput[i] * r->entry_service[i]);
	}
	if (table_end(t, 0, out))
		out->failed = true;
}

static void put_servers(const struct solution *s, struct buf *out)
{
	const struct layered *m = &s->m;
	const struct layered_result *r = &s->r;
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

static void put_text(const struct solution *s, struct buf *out)
{
	bool is_checked = s->options->is_checked;

	put_answer(s, out);
	if (is_checked)
		simulate_differences(&s->m, &s->r, &s->judge, out);
	buf_putc(out, '\n');
	put_tasks(s, out);
	buf_putc(out, '\n');
	put_servers(s, out);
	if (is_checked) {
		buf_putc(out, '\n');
		simulate_table(&s->m, &s->r, &s->judge, out);
	}
	buf_puts(out, "\nSERVICE: how long an invocation holds a thread; BUSY: mean number in use. "
		      "Approximate, by layers.\n");
}

/* --- JSON */

static void json_task(const struct solution *s, size_t i, struct json *j)
{
	const struct layered_task *t = &s->m.task[i];

	json_object(j);
	json_key_str(j, "name", t->name);
	json_key_bool(j, "reference", t->is_reference);
	json_key_u64(j, "threads", t->threads);
	json_key_double(j, "throughput", s->r.task_throughput[i]);
	demands_json(&s->p, &s->p.task_throughput[i], "throughput", j);
	json_key_double(j, "busy", s->r.task_busy[i]);
	demands_json(&s->p, &s->p.task_busy[i], "busy", j);
	json_key_double(j, "response", t->is_reference ? s->r.task_response[i] : NAN);
	if (t->is_reference)
		demands_json(&s->p, &s->p.task_response[i], "response", j);
	json_key_double(j, "bound", t->is_reference ? layered_bound(&s->m, i) : NAN);
	json_object_end(j);
}

static void json_entry(const struct solution *s, size_t i, struct json *j)
{
	const struct layered_entry *v = &s->m.entry[i];

	json_object(j);
	json_key_str(j, "name", v->name);
	json_key_str(j, "task", s->m.task[v->task].name);
	json_key_double(j, "throughput", s->r.entry_throughput[i]);
	demands_json(&s->p, &s->p.entry_throughput[i], "throughput", j);
	json_key_double(j, "service", s->r.entry_service[i]);
	demands_json(&s->p, &s->p.entry_service[i], "service", j);
	if (v->arrivals > 0) {
		json_key_double(j, "response", s->r.entry_response[i]);
		demands_json(&s->p, &s->p.entry_response[i], "response", j);
	}
	json_object_end(j);
}

static void json_solution(const struct solution *s, struct json *j)
{
	const struct layered *m = &s->m;

	demands_json_level(&s->p, s->options->level, j);
	json_key_array(j, "tasks");
	for (size_t i = 0; i < m->ntask; i++)
		json_task(s, i, j);
	json_array_end(j);
	json_key_array(j, "entries");
	for (size_t i = 0; i < m->nentry; i++)
		json_entry(s, i, j);
	json_array_end(j);
	json_key_array(j, "processors");
	for (size_t i = 0; i < m->nprocessor; i++) {
		json_object(j);
		json_key_str(j, "name", m->processor[i].name);
		json_key_double(j, "busy", s->r.processor_busy[i]);
		demands_json(&s->p, &s->p.processor_busy[i], "busy", j);
		json_object_end(j);
	}
	json_array_end(j);
	json_key_str(j, "bottleneck", model_bottleneck(m, &s->r).name);
}

static void put_csv(const struct solution *s, struct buf *out)
{
	const struct layered *m = &s->m;

	buf_puts(out, "task,entry,throughput,service,throughput_low,throughput_high,service_low,"
		      "service_high\n");
	for (size_t i = 0; i < m->nentry; i++) {
		report_csv_text(m->task[m->entry[i].task].name, out);
		buf_putc(out, ',');
		report_csv_text(m->entry[i].name, out);
		buf_printf(out, ",%.10g,%.10g", s->r.entry_throughput[i], s->r.entry_service[i]);
		demands_csv(&s->p.entry_throughput[i], out);
		demands_csv(&s->p.entry_service[i], out);
		buf_putc(out, '\n');
	}
}

static int show(const struct solution *s)
{
	struct buf b = BUF_INIT(MODEL_OUTPUT_MAX_BYTES);
	struct json j;

	if (!s->options->json) {
		if (s->options->csv)
			put_csv(s, &b);
		else
			put_text(s, &b);
		return model_print(&b);
	}
	json_init(&j, &b);
	json_object(&j);
	json_solution(s, &j);
	if (s->options->is_checked) {
		json_key_object(&j, "simulated");
		simulate_json(&s->m, &s->judge, &j);
		json_object_end(&j);
	}
	json_object_end(&j);
	return cmd_json_line(&j, &b);
}

int solve_show(const struct solve_options *w, const char *path)
{
	struct solution s = { .options = w };
	struct err e = { 0 };
	int status = model_read(path, &w->simulate.demands, &s.m);

	if (status == CMD_OK && layered_solve(&s.m, &s.r, &e))
		status = cmd_fail(CMD_FAILURE, "%s: %s", wholefile_name(path), e.text);
	if (status == CMD_OK)
		status = demands_propagate(&s.m, &s.r, w->level, w->json, &s.p);
	if (status == CMD_OK && w->is_checked)
		status = simulate_model(&w->simulate, &s.m, path, &s.judge);
	if (status == CMD_OK)
		status = show(&s);
	simulate_result_done(&s.judge);
	propagate_result_done(&s.p);
	layered_result_done(&s.r);
	layered_done(&s.m);
	return status;
}
