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
	unsigned limit; /* the first number beyond --until; 0: none */
	double first, last; /* throughput */
	struct progress progress;
};

static void note_point(struct sweep *s, unsigned n, const struct layered_result *r)
{
	double x = r->task_throughput[s->client], response = r->task_response[s->client];
	struct server_use full = model_bottleneck(s->m, r);
	char percent[TABLE_NUMBER_BYTES];

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
		table_cell(s->rows, "%s", table_percent(percent, 100 * full.share));
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
	if (s->client == s->m->ntask)
		return cmd_fail(CMD_USAGE, "the model has no clients (r), whose response is shown");
	if (s->task < s->m->ntask)
		return CMD_OK;
	return cmd_fail(CMD_NOTFOUND, "the model has no task '%s'%s%s", want,
			near.best ? "; did you mean " : "", near.best ? near.best : "");
}

static int show_sweep(struct sweep *s)
{
	const struct vary *v = &s->options->vary;
	struct buf text = BUF_INIT(MODEL_OUTPUT_MAX_BYTES);

	if (s->options->json) {
		json_array_end(&s->json);
		json_key_double(&s->json, "limit", s->limit ? s->limit : NAN);
		json_object_end(&s->json);
		return cmd_json_line(&s->json, &s->out);
	}
	if (s->options->csv)
		return model_print(&s->out);
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
	return model_print(&text);
}

int what_if_show(const struct solve_options *w, const char *path)
{
	static const char *const heads[] = { "THREADS", "THROUGHPUT", "RESPONSE", "BOTTLENECK",
					     "USE%" };
	struct layered m = { 0 };
	struct sweep s = { .options = w, .m = &m, .out = BUF_INIT(MODEL_OUTPUT_MAX_BYTES) };
	int status = model_read(path, &m);

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
