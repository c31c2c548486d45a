/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/model/solve_show.h"

#include "common/base/array.h"
#include "common/base/str.h"
#include "common/cli/endsignal.h"
#include "common/cli/nearest.h"
#include "common/cli/progress.h"
#include "common/json/json.h"
#include "stats/report.h"
#include "tools/term/say.h"
#include "tools/term/table.h"
#include "tools/term/wholefile.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define FILE_MAX_BYTES (16u << 20)
#define OUTPUT_MAX_BYTES (16 << 20)
#define FULL 0.95 /* a server that is busier holds up the others */

/* A server, by its use: threads of a task, or a processor. */
struct server_use {
	const char *name, *what;
	double share; /* of its servers in use, from 0 to 1 */
};

static struct server_use use_of(const struct layered *m, const struct layered_result *r, size_t i)
{
	if (i < m->ntask)
		return (struct server_use){ m->task[i].name, "the threads of",
					    m->task[i].is_reference || m->task[i].is_infinite
						    ? 0
						    : r->task_busy[i] / m->task[i].threads };
	i -= m->ntask;
	return (struct server_use){ m->processor[i].name, "processor",
				    m->processor[i].kind == STATION_DELAY
					    ? 0
					    : r->processor_busy[i] / m->processor[i].servers };
}

/*
 * Returns the busiest server. A task waits for what it calls, so that its threads count only if
 * nothing below is full.
 */
static struct server_use bottleneck(const struct layered *m, const struct layered_result *r)
{
	struct server_use best = { "none", "server", 0 };

	for (size_t i = m->ntask; i < m->ntask + m->nprocessor; i++)
		if (use_of(m, r, i).share > best.share)
			best = use_of(m, r, i);
	for (size_t i = 0; i < m->ntask && best.share < FULL; i++)
		if (use_of(m, r, i).share > fmax(best.share, FULL))
			best = use_of(m, r, i);
	return best;
}

/* --- one solution as text */

static void put_answer(const struct layered *m, const struct layered_result *r, struct buf *out)
{
	struct server_use full = bottleneck(m, r);

	for (size_t i = 0; i < m->ntask; i++)
		if (m->task[i].is_reference)
			buf_printf(out,
				   "%s: %u clients get %.5g cycles a time unit, at most %.5g are "
				   "possible; a response takes %.5g.\n",
				   m->task[i].name, m->task[i].threads, r->task_throughput[i],
				   layered_bound(m, i), r->task_response[i]);
	buf_printf(out,
		   full.share >= FULL ? "The bottleneck is %s %s: %.1f %% in use.\n"
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
		table_cell(t, "%s",
			   table_percent(percent,
					 is_delay ? NAN : 100 * use_of(m, r, m->ntask + i).share));
	}
	if (table_end(t, 0, out))
		out->failed = true;
}

static void put_text(const struct layered *m, const struct layered_result *r, struct buf *out)
{
	put_answer(m, r, out);
	buf_putc(out, '\n');
	put_tasks(m, r, out);
	buf_putc(out, '\n');
	put_servers(m, r, out);
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
	json_key_str(j, "bottleneck", bottleneck(m, r).name);
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

/* --- files */

static int read_model(const char *path, struct layered *m)
{
	struct buf text = BUF_INIT(FILE_MAX_BYTES);
	struct err e = { 0 };
	int status = CMD_OK;

	if (wholefile_read(path, FILE_MAX_BYTES, &text, &e))
		status =
			cmd_fail(e.code == ERR_NOTFOUND ? CMD_NOTFOUND : CMD_FAILURE, "%s", e.text);
	else if (layered_read_lqn(buf_str(&text), text.n, m, &e))
		status = e.line ? cmd_fail(CMD_USAGE, "%s:%u:%u: %s", wholefile_name(path), e.line,
					   e.col, e.text)
				: cmd_fail(CMD_USAGE, "%s: %s", wholefile_name(path), e.text);
	buf_done(&text);
	return status;
}

static int print(struct buf *b, bool is_json)
{
	int status = CMD_OK;

	if (b->failed)
		status = cmd_fail(CMD_FAILURE, "out of memory");
	else
		fputs(buf_str(b), stdout);
	if (is_json && status == CMD_OK)
		cmd_document();
	buf_done(b);
	return status;
}

static int show(const struct solve_options *w, const struct layered *m,
		const struct layered_result *r)
{
	struct buf b = BUF_INIT(OUTPUT_MAX_BYTES);
	struct json j;

	if (!w->json) {
		if (w->csv)
			put_csv(m, r, &b);
		else
			put_text(m, r, &b);
		return print(&b, false);
	}
	json_init(&j, &b);
	json_object(&j);
	json_solution(m, r, &j);
	json_object_end(&j);
	cmd_document();
	return cmd_json_line(&j, &b);
}

int solve_show(const struct solve_options *w, const char *path)
{
	struct layered m = { 0 };
	struct layered_result r = { 0 };
	struct err e = { 0 };
	int status = read_model(path, &m);

	if (status == CMD_OK && layered_solve(&m, &r, &e))
		status = cmd_fail(CMD_FAILURE, "%s: %s", wholefile_name(path), e.text);
	if (status == CMD_OK)
		status = show(w, &m, &r);
	layered_result_done(&r);
	layered_done(&m);
	return status;
}

/* --- what-if */

int vary_option(void *into, const char *text, struct err *e)
{
	struct vary *v = into;
	char word[LAYERED_NAME_BYTES + 64], *equals, *dots, *colon;
	uint64_t from, to, step = 1;

	if (!str_copy(word, sizeof(word), text))
		return err_set(e, ERR_INVALID, "TASK=FROM..TO[:STEP], not '%.40s'", text);
	equals = strrchr(word, '=');
	dots = equals ? strstr(equals, "..") : NULL;
	if (!dots || equals - word >= LAYERED_NAME_BYTES)
		return err_set(e, ERR_INVALID, "TASK=FROM..TO[:STEP], not '%.40s'", text);
	colon = strchr(dots, ':');
	*equals = *dots = 0;
	if (colon)
		*colon = 0;
	if (str_to_u64(equals + 1, 1, NETWORK_POPULATION_MAX, &from) ||
	    str_to_u64(dots + 2, from, NETWORK_POPULATION_MAX, &to) ||
	    (colon && str_to_u64(colon + 1, 1, NETWORK_POPULATION_MAX, &step)) ||
	    (to - from) / step >= VARY_POINTS_MAX)
		return err_set(e, ERR_INVALID,
			       "TASK=FROM..TO[:STEP] with rising whole numbers and at most %d "
			       "points, not '%.40s'",
			       VARY_POINTS_MAX, text);
	str_copy(v->task, sizeof(v->task), word);
	v->from = (unsigned)from;
	v->to = (unsigned)to;
	v->step = (unsigned)step;
	return 0;
}

/* A row: the number, throughput and response of the first reference task, and the bottleneck. */
struct sweep {
	const struct solve_options *options;
	struct layered *m;
	size_t task, client; /* that varies; the first reference task */
	struct table *rows;
	struct json json;
	struct buf out;
	unsigned limit; /* the first number beyond --until; 0: none */
	double first, last; /* throughput */
	struct progress progress;
};

static void note_point(struct sweep *s, unsigned n, const struct layered_result *r)
{
	double x = r->task_throughput[s->client], response = r->task_response[s->client];
	struct server_use full = bottleneck(s->m, r);

	if (!s->limit && s->options->until > 0 && response > s->options->until)
		s->limit = n;
	if (n == s->options->vary.from)
		s->first = x;
	s->last = x;
	if (s->options->json) {
		json_object(&s->json);
		json_key_u64(&s->json, "threads", n);
		json_key_double(&s->json, "throughput", x);
		json_key_double(&s->json, "response", response);
		json_key_str(&s->json, "bottleneck", full.name);
		json_key_double(&s->json, "use", full.share);
		json_object_end(&s->json);
	} else if (s->options->csv) {
		buf_printf(&s->out, "%u,%.10g,%.10g,", n, x, response);
		report_csv_text(full.name, &s->out);
		buf_printf(&s->out, ",%.10g\n", full.share);
	} else if (s->rows) {
		table_cell(s->rows, "%u", n);
		table_cell(s->rows, "%.5g", x);
		table_cell(s->rows, "%.5g", response);
		table_cell(s->rows, "%s %s", full.what, full.name);
		table_cell(s->rows, "%.1f", 100 * full.share);
	}
}

static int run_points(struct sweep *s)
{
	const struct vary *v = &s->options->vary;

	for (unsigned n = v->from; n <= v->to; n += v->step) {
		struct layered_result r = { 0 };
		struct err e = { 0 };
		int rc;

		s->m->task[s->task].threads = n;
		rc = layered_solve(s->m, &r, &e);
		if (!rc)
			note_point(s, n, &r);
		layered_result_done(&r);
		if (rc)
			return cmd_fail(CMD_FAILURE, "%s=%u: %s", v->task, n, e.text);
		if (end_signal)
			return CMD_SIGNAL + end_signal;
		if (progress_is_due(&s->progress))
			progress_show(&s->progress, "%s=%u, up to %u", v->task, n, v->to);
		if (s->limit && !s->options->json && !s->options->csv)
			break;
	}
	return CMD_OK;
}

static int find_varied(struct sweep *s)
{
	const char *want = s->options->vary.task;
	struct nearest near = nearest_to(want);

	s->task = s->client = s->m->ntask;
	for (size_t i = s->m->ntask; i-- > 0;) {
		nearest_try(&near, s->m->task[i].name);
		if (str_eq(s->m->task[i].name, want))
			s->task = i;
		if (s->m->task[i].is_reference)
			s->client = i;
	}
	if (s->task < s->m->ntask)
		return CMD_OK;
	return cmd_fail(CMD_NOTFOUND, "the model has no task '%s'%s%s", want,
			near.best ? "; did you mean " : "", near.best ? near.best : "");
}

static int show_sweep(struct sweep *s)
{
	const struct vary *v = &s->options->vary;
	struct buf text = BUF_INIT(OUTPUT_MAX_BYTES);

	if (s->options->json) {
		json_array_end(&s->json);
		json_key_double(&s->json, "limit", s->limit ? s->limit : NAN);
		json_object_end(&s->json);
		cmd_document();
		return cmd_json_line(&s->json, &s->out);
	}
	if (s->options->csv)
		return print(&s->out, false);
	if (s->limit)
		buf_printf(&text, "The response of %s exceeds %g from %s=%u on.\n",
			   s->m->task[s->client].name, s->options->until, v->task, s->limit);
	else if (s->options->until > 0)
		buf_printf(&text, "The response of %s stays within %g up to %s=%u.\n",
			   s->m->task[s->client].name, s->options->until, v->task, v->to);
	else
		buf_printf(&text,
			   "From %s=%u to %u the throughput of %s changes from %.5g to %.5g.\n",
			   v->task, v->from, v->to, s->m->task[s->client].name, s->first, s->last);
	buf_putc(&text, '\n');
	if (table_end(s->rows, 0, &text))
		text.failed = true;
	s->rows = NULL;
	return print(&text, false);
}

int what_if_show(const struct solve_options *w, const char *path)
{
	static const char *const heads[] = { "THREADS", "THROUGHPUT", "RESPONSE", "BOTTLENECK",
					     "USE%" };
	struct layered m = { 0 };
	struct sweep s = { .options = w, .m = &m, .out = BUF_INIT(OUTPUT_MAX_BYTES) };
	int status = read_model(path, &m);

	if (status == CMD_OK)
		status = find_varied(&s);
	if (w->json) {
		json_init(&s.json, &s.out);
		json_object(&s.json);
		json_key_str(&s.json, "task", w->vary.task);
		json_key_array(&s.json, "points");
	} else if (w->csv)
		buf_puts(&s.out, "threads,throughput,response,bottleneck,use\n");
	else
		s.rows = table_new(ARRAY_LEN(heads), heads, "rrrlr");
	end_signal_catch();
	progress_begin(&s.progress, w->json);
	if (status == CMD_OK)
		status = run_points(&s);
	progress_end(&s.progress);
	if (status == CMD_OK)
		status = show_sweep(&s);
	table_free(s.rows);
	buf_done(&s.out);
	layered_done(&m);
	return status;
}
