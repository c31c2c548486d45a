/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/array.h"
#include "common/base/str.h"
#include "common/cli/endsignal.h"
#include "common/cli/nearest.h"
#include "common/cli/progress.h"
#include "common/json/json.h"
#include "stats/report.h"
#include "tools/model/model_file.h"
#include "tools/model/solve_show.h"
#include "tools/term/say.h"
#include "tools/term/table.h"

#include <math.h>
#include <string.h>

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
	/* the first numbers whose response is beyond --until: perhaps, probably, surely. 0: none */
	unsigned limit_low, limit, limit_high;
	bool has_ranges, is_partial; /* of some point */
	double first, last; /* throughput */
	struct progress progress;
};

static void note_limits(struct sweep *s, unsigned n, double response, const struct range *v)
{
	double until = s->options->until;

	if (!s->limit_low && until > 0 && v->high > until)
		s->limit_low = n;
	if (!s->limit && until > 0 && response > until)
		s->limit = n;
	if (!s->limit_high && until > 0 && v->low > until)
		s->limit_high = n;
}

static void json_point(struct sweep *s, unsigned n, const struct layered_result *r,
		       const struct propagate_result *p)
{
	struct server_use full = model_bottleneck(s->m, r);
	struct json *j = &s->json;

	json_object(j);
	json_key_u64(j, "threads", n);
	json_key_double(j, "throughput", r->task_throughput[s->client]);
	demands_json(p, &p->task_throughput[s->client], "throughput", j);
	json_key_double(j, "response", r->task_response[s->client]);
	demands_json(p, &p->task_response[s->client], "response", j);
	json_key_str(j, "bottleneck", full.name);
	json_key_double(j, "use", full.share);
	if (p->reason.code)
		json_key_str(j, "reason", p->reason.text);
	json_object_end(j);
}

static void csv_point(struct sweep *s, unsigned n, const struct layered_result *r,
		      const struct propagate_result *p)
{
	struct server_use full = model_bottleneck(s->m, r);

	buf_printf(&s->out, "%u,%.10g,%.10g,", n, r->task_throughput[s->client],
		   r->task_response[s->client]);
	report_csv_text(full.name, &s->out);
	buf_printf(&s->out, ",%.10g", full.share);
	demands_csv(&p->task_throughput[s->client], &s->out);
	demands_csv(&p->task_response[s->client], &s->out);
	buf_putc(&s->out, '\n');
}

static void value_cells(struct sweep *s, double v, const struct range *ends)
{
	table_cell(s->rows, "%.5g", v);
	if (!s->has_ranges)
		return;
	table_cell(s->rows, isnan(ends->low) ? "-" : "%.5g", ends->low);
	table_cell(s->rows, isnan(ends->high) ? "-" : "%.5g", ends->high);
}

static void row_point(struct sweep *s, unsigned n, const struct layered_result *r,
		      const struct propagate_result *p)
{
	struct server_use full = model_bottleneck(s->m, r);
	char percent[TABLE_NUMBER_BYTES];

	table_cell(s->rows, "%u", n);
	value_cells(s, r->task_throughput[s->client], &p->task_throughput[s->client]);
	value_cells(s, r->task_response[s->client], &p->task_response[s->client]);
	table_cell(s->rows, "%s %s", full.what, full.name);
	table_cell(s->rows, "%s", table_percent(percent, 100 * full.share));
}

static void note_point(struct sweep *s, unsigned n, const struct layered_result *r,
		       const struct propagate_result *p)
{
	note_limits(s, n, r->task_response[s->client], &p->task_response[s->client]);
	if (n == s->options->vary.from)
		s->first = r->task_throughput[s->client];
	s->last = r->task_throughput[s->client];
	if (p->reason.code && !s->is_partial) {
		cmd_warn("%s=%u: ends of intervals are unknown: %s", s->options->vary.task, n,
			 p->reason.text);
		s->is_partial = true;
	}
	if (s->options->json)
		json_point(s, n, r, p);
	else if (s->options->csv)
		csv_point(s, n, r, p);
	else if (s->rows)
		row_point(s, n, r, p);
}

static int run_point(struct sweep *s, unsigned n)
{
	const char *task = s->options->vary.task;
	struct layered_result r = { 0 };
	struct propagate_result p = { 0 };
	struct err e = { 0 };
	int status = CMD_OK;

	s->m->task[s->task].threads = n;
	if (layered_solve(s->m, &r, &e))
		status = cmd_fail(CMD_FAILURE, "%s=%u: %s", task, n, e.text);
	if (status == CMD_OK)
		status = demands_propagate(s->m, &r, s->options->level, true, &p);
	if (status == CMD_OK)
		note_point(s, n, &r, &p);
	propagate_result_done(&p);
	layered_result_done(&r);
	return status;
}

/* The limit is known from both sides, unless a sure one cannot be. */
static bool is_beyond(const struct sweep *s)
{
	return s->limit && (s->limit_high || !s->has_ranges || s->is_partial);
}

static int run_points(struct sweep *s)
{
	const struct vary *v = &s->options->vary;

	for (unsigned n = v->from; n <= v->to; n += v->step) {
		int status = run_point(s, n);

		if (status == CMD_OK && end_signal)
			status = CMD_SIGNAL + end_signal;
		if (status != CMD_OK)
			return status;
		if (progress_is_due(&s->progress))
			progress_show(&s->progress, "%s=%u, up to %u", v->task, n, v->to);
		if (is_beyond(s) && !s->options->json && !s->options->csv)
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
	if (s->client == s->m->ntask)
		return cmd_fail(CMD_USAGE, "the model has no clients (r), whose response is shown");
	if (s->task < s->m->ntask)
		return CMD_OK;
	return cmd_fail(CMD_NOTFOUND, "the model has no task '%s'%s%s", want,
			near.best ? "; did you mean " : "", near.best ? near.best : "");
}

static void put_limit_ends(const struct sweep *s, struct buf *out)
{
	const struct vary *v = &s->options->vary;

	if (!s->has_ranges || s->is_partial)
		return;
	if (s->limit && s->limit_low == s->limit_high) {
		buf_printf(out, "That holds with %g %% confidence.\n", 100 * s->options->level);
		return;
	}
	buf_printf(out, "With %g %% confidence it does so ", 100 * s->options->level);
	if (s->limit_low)
		buf_printf(out, "not before %s=%u", v->task, s->limit_low);
	if (s->limit_low && s->limit_high)
		buf_puts(out, ", and ");
	if (s->limit_high)
		buf_printf(out, "from %s=%u on at the latest", v->task, s->limit_high);
	if (!s->limit_low)
		buf_printf(out, "not up to %s=%u", v->task, v->to);
	buf_puts(out, ".\n");
}

static void put_answer(const struct sweep *s, struct buf *out)
{
	const struct vary *v = &s->options->vary;
	const char *client = s->m->task[s->client].name;

	if (!(s->options->until > 0)) {
		buf_printf(out,
			   "From %s=%u to %u the throughput of %s changes from %.5g to %.5g.\n",
			   v->task, v->from, v->to, client, s->first, s->last);
		return;
	}
	if (s->limit)
		buf_printf(out, "The response of %s exceeds %g from %s=%u on.\n", client,
			   s->options->until, v->task, s->limit);
	else
		buf_printf(out, "The response of %s stays within %g up to %s=%u.\n", client,
			   s->options->until, v->task, v->to);
	put_limit_ends(s, out);
}

static int json_end_sweep(struct sweep *s)
{
	json_array_end(&s->json);
	json_key_double(&s->json, "limit", s->limit ? s->limit : NAN);
	if (s->has_ranges) {
		json_key_double(&s->json, "limit_low", s->limit_low ? s->limit_low : NAN);
		json_key_double(&s->json, "limit_high", s->limit_high ? s->limit_high : NAN);
		json_key_double(&s->json, "level", s->options->level);
	}
	json_object_end(&s->json);
	return cmd_json_line(&s->json, &s->out);
}

static int show_sweep(struct sweep *s)
{
	struct buf text = BUF_INIT(MODEL_OUTPUT_MAX_BYTES);

	if (s->options->json)
		return json_end_sweep(s);
	if (s->options->csv)
		return model_print(&s->out);
	put_answer(s, &text);
	buf_putc(&text, '\n');
	if (table_end(s->rows, 0, &text))
		text.failed = true;
	s->rows = NULL;
	if (s->has_ranges)
		buf_printf(&text,
			   "\nLOW and HIGH: intervals of %g %%, from those of the demands.\n",
			   100 * s->options->level);
	return model_print(&text);
}

static void begin_form(struct sweep *s)
{
	static const char *const heads[] = { "THREADS", "THROUGHPUT", "RESPONSE", "BOTTLENECK",
					     "USE%" };
	static const char *const ranges[] = { "THREADS", "THROUGHPUT", "LOW",
					      "HIGH",	 "RESPONSE",   "LOW",
					      "HIGH",	 "BOTTLENECK", "USE%" };

	for (size_t i = 0; i < s->m->nentry; i++)
		for (size_t k = 0; k < LAYERED_PHASES; k++)
			s->has_ranges = s->has_ranges || s->m->entry[i].phase[k].level > 0;
	if (s->options->json) {
		json_init(&s->json, &s->out);
		json_object(&s->json);
		json_key_str(&s->json, "task", s->options->vary.task);
		json_key_array(&s->json, "points");
	} else if (s->options->csv)
		buf_puts(&s->out, "threads,throughput,response,bottleneck,use,throughput_low,"
				  "throughput_high,response_low,response_high\n");
	else if (s->has_ranges)
		s->rows = table_new(ARRAY_LEN(ranges), ranges, "rrrrrrrlr");
	else
		s->rows = table_new(ARRAY_LEN(heads), heads, "rrrlr");
}

int what_if_show(const struct solve_options *w, const char *path)
{
	struct layered m = { 0 };
	struct sweep s = { .options = w, .m = &m, .out = BUF_INIT(MODEL_OUTPUT_MAX_BYTES) };
	int status = model_read(path, &w->simulate.demands, &m);

	if (status == CMD_OK)
		status = find_varied(&s);
	begin_form(&s);
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
