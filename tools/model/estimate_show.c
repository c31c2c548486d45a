/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/model/estimate_show.h"

#include "common/base/array.h"
#include "common/json/json.h"
#include "stats/report.h"
#include "tools/model/model_file.h"
#include "tools/term/say.h"
#include "tools/term/table.h"
#include "tools/term/wholefile.h"

#include <math.h>
#include <stdlib.h>

#define FILE_MAX_BYTES (1u << 30)
#define OUTPUT_MAX_BYTES (4 << 20)

static int choose(struct estimate_shown *t, struct err *e)
{
	return estimate_best(t->periods, t->options->level, &t->est, &t->reason, e);
}

int estimate_run(struct estimate_shown *t, struct err *e)
{
	const struct estimate_options *w = t->options;

	if (w->method >= ESTIMATE_METHODS)
		return choose(t, e);
	t->reason = NULL;
	return estimate(t->periods, w->method, w->level, &t->est, e);
}

/* --- text */

static double calls(const struct periods *p, size_t s)
{
	double sum = 0;

	for (size_t i = 0; i < p->n; i++)
		sum += p->begun[i * p->k + s];
	return sum;
}

static double all_busy(const struct periods *p)
{
	double sum = 0;

	for (size_t i = 0; i < p->n; i++)
		sum += p->response[i];
	return sum;
}

static double share(const struct estimate_shown *t, size_t s)
{
	double all = all_busy(t->periods);

	return all > 0 ? 100 * calls(t->periods, s) * t->est.service[s].demand / all : NAN;
}

/* Returns the service with the greatest share; k: none is known. */
static size_t greatest(const struct estimate_shown *t)
{
	size_t best = t->periods->k;

	for (size_t s = 0; s < t->periods->k; s++)
		if (!isnan(share(t, s)) && (best == t->periods->k || share(t, s) > share(t, best)))
			best = s;
	return best;
}

static void put_interval(const struct estimate_service *s, double level, struct buf *out)
{
	if (isnan(s->low) || isnan(s->high))
		buf_puts(out, "no interval: too few periods");
	else if (level >= 1)
		buf_printf(out, "surely %.4g to %.4g", s->low, s->high);
	else
		buf_printf(out, "%.4g to %.4g with %.0f %% confidence", s->low, s->high,
			   100 * level);
}

static void put_answer(const struct estimate_shown *t, struct buf *out)
{
	size_t s = greatest(t);

	if (s == t->periods->k) {
		buf_puts(out, "No demand is known.\n");
		return;
	}
	buf_printf(out, "%s takes most of the busy time, %.1f %%: a call of it needs %.4g (",
		   t->periods->name[s], share(t, s), t->est.service[s].demand);
	put_interval(&t->est.service[s], t->est.level, out);
	buf_puts(out, ").\n");
}

static void put_group(const struct estimate_shown *t, unsigned group, struct buf *out)
{
	bool is_first = true;

	for (size_t s = 0; s < t->periods->k; s++) {
		if (t->est.service[s].group != group)
			continue;
		buf_printf(out, "%s%s", is_first ? "! inseparable: " : ", ", t->periods->name[s]);
		is_first = false;
	}
	if (!is_first)
		buf_puts(out, ": their counts always come in a fixed ratio\n");
}

static void put_warnings(const struct estimate_shown *t, struct buf *out)
{
	const struct estimate *x = &t->est;

	for (size_t s = 0; s < t->periods->k; s++)
		if (x->service[s].state == ESTIMATE_NEVER_CALLED)
			buf_printf(out, "! never called: %s\n", t->periods->name[s]);
	for (unsigned group = 1; group <= t->periods->k; group++)
		put_group(t, group, out);
	if (x->k && x->n < x->k + ESTIMATE_SPARE_MIN)
		buf_printf(out, "! %zu periods are few for %zu services: measure more of them\n",
			   x->n, x->k);
	if (x->condition > ESTIMATE_CONDITION_HARD)
		buf_printf(out,
			   "! the counts of some services rise and fall together (condition %.3g): "
			   "their intervals are wide\n",
			   x->condition);
}

static const char *note(const struct estimate_service *s)
{
	if (s->state == ESTIMATE_NEVER_CALLED)
		return "never called";
	if (s->state == ESTIMATE_INSEPARABLE)
		return "inseparable";
	if (s->demand < 0)
		return "below 0: unusable";
	if (s->is_at_bound)
		return "at the bound 0";
	return !isnan(s->low) && isnan(s->high) ? "no upper bound" : "";
}

static void number(struct table *rows, double v)
{
	if (isnan(v))
		table_cell(rows, "-");
	else
		table_cell(rows, "%.5g", v);
}

static void put_table(const struct estimate_shown *t, struct buf *out)
{
	static const char *const heads[] = { "SERVICE", "CALLS",  "DEMAND", "LOW",
					     "HIGH",	"SHARE%", "NOTE" };
	struct table *rows = table_new(ARRAY_LEN(heads), heads, "lrrrrrl");
	char percent[TABLE_NUMBER_BYTES];

	for (size_t s = 0; rows && s < t->periods->k; s++) {
		const struct estimate_service *x = &t->est.service[s];

		table_cell(rows, "%s", t->periods->name[s]);
		table_cell(rows, "%.0f", calls(t->periods, s));
		number(rows, x->demand);
		number(rows, x->low);
		number(rows, x->high);
		table_cell(rows, "%s", table_percent(percent, share(t, s)));
		table_cell(rows, "%s", note(x));
	}
	if (table_end(rows, 0, out))
		out->failed = true;
}

void estimate_put_text(const struct estimate_shown *t, struct buf *out)
{
	const struct estimate *x = &t->est;

	put_answer(t, out);
	put_warnings(t, out);
	buf_putc(out, '\n');
	put_table(t, out);
	buf_printf(out, "\n%zu periods. Method %s: %s%s%s.\n", x->n, estimate_name(x->method),
		   estimate_words(x->method), t->reason ? "; chosen because " : "",
		   t->reason ? t->reason : "");
	if (!isnan(x->deviation))
		buf_printf(out,
			   "The plain regression explains %.2f %% of the squared responses; a "
			   "period is off by %.3g.\n",
			   100 * x->explained, x->deviation);
	if (!isnan(x->cv))
		buf_printf(out, "The service times vary by %.2f of their means (cv).\n", x->cv);
}

/* --- CSV and JSON */

static void put_number(struct buf *out, double v)
{
	if (isnan(v))
		buf_putc(out, ',');
	else
		buf_printf(out, ",%.17g", v);
}

static void put_csv(const struct estimate_shown *t, struct buf *out)
{
	for (size_t s = 0; s < t->periods->k; s++) {
		const struct estimate_service *x = &t->est.service[s];

		report_csv_text(t->periods->name[s], out);
		buf_printf(out, ",%s,%.17g", estimate_name(t->est.method), calls(t->periods, s));
		put_number(out, x->demand);
		put_number(out, x->low);
		put_number(out, x->high);
		buf_putc(out, ',');
		report_csv_text(note(x), out);
		buf_putc(out, '\n');
	}
}

static void put_service(const struct estimate_shown *t, size_t s, struct json *j)
{
	const struct estimate_service *x = &t->est.service[s];
	static const char *const states[] = { "known", "never called", "inseparable" };

	json_object(j);
	json_key_str(j, "service", t->periods->name[s]);
	json_key_double(j, "calls", calls(t->periods, s));
	json_key_str(j, "state", states[x->state]);
	json_key_double(j, "demand", x->demand);
	json_key_double(j, "low", x->low);
	json_key_double(j, "high", x->high);
	json_key_double(j, "share", share(t, s) / 100);
	if (x->group)
		json_key_u64(j, "group", x->group);
	json_key_bool(j, "at_bound", x->is_at_bound);
	json_object_end(j);
}

void estimate_put_json(const struct estimate_shown *t, struct json *j)
{
	json_object(j);
	json_key_str(j, "method", estimate_name(t->est.method));
	if (t->reason)
		json_key_str(j, "reason", t->reason);
	json_key_double(j, "level", t->est.level);
	json_key_u64(j, "periods", t->est.n);
	json_key_double(j, "degrees_of_freedom", t->est.df);
	json_key_double(j, "condition", t->est.condition);
	json_key_double(j, "deviation", t->est.deviation);
	json_key_double(j, "explained", t->est.explained);
	json_key_double(j, "cv", t->est.cv);
	json_key_array(j, "services");
	for (size_t s = 0; s < t->periods->k; s++)
		put_service(t, s, j);
	json_array_end(j);
	json_object_end(j);
}

static int show_one(struct estimate_shown *t)
{
	struct buf b = BUF_INIT(OUTPUT_MAX_BYTES);
	struct json j;

	if (t->options->json) {
		json_init(&j, &b);
		estimate_put_json(t, &j);
		return cmd_json_line(&j, &b);
	}
	if (t->options->csv) {
		buf_puts(&b, "service,method,calls,demand,low,high,note\n");
		put_csv(t, &b);
	} else
		estimate_put_text(t, &b);
	return model_print(&b);
}

/* --- all methods */

/* One row a service, one column a method; the reason of a method that does not apply. */
static void put_all(struct estimate_shown *t, struct buf *out)
{
	const char *heads[ESTIMATE_METHODS + 1] = { "SERVICE" };
	struct table *rows;
	struct estimate *x = calloc(ESTIMATE_METHODS, sizeof(*x));
	struct err reason[ESTIMATE_METHODS] = { 0 };

	for (unsigned m = 0; m < ESTIMATE_METHODS; m++) {
		heads[m + 1] = estimate_name((enum estimate_method)m);
		if (x)
			estimate(t->periods, (enum estimate_method)m, t->options->level, &x[m],
				 &reason[m]);
	}
	rows = table_new(ESTIMATE_METHODS + 1, heads, "lrrrrrr");
	for (size_t s = 0; x && rows && s < t->periods->k; s++) {
		table_cell(rows, "%s", t->periods->name[s]);
		for (unsigned m = 0; m < ESTIMATE_METHODS; m++) {
			const struct estimate_service *v = &x[m].service[s];

			if (reason[m].code || isnan(v->demand))
				table_cell(rows, "-");
			else if (isnan(v->high))
				table_cell(rows, "%.4g +- -", v->demand);
			else
				table_cell(rows, "%.4g +- %.2g", v->demand, (v->high - v->low) / 2);
		}
	}
	if (table_end(rows, 0, out) || !x)
		out->failed = true;
	buf_putc(out, '\n');
	for (unsigned m = 0; m < ESTIMATE_METHODS; m++)
		if (reason[m].code)
			buf_printf(out, "- %s: %s\n", heads[m + 1], reason[m].text);
	free(x);
}

/* JSON of all methods: an array; what does not apply has its reason. */
static int all_json(struct estimate_shown *t)
{
	struct buf b = BUF_INIT(OUTPUT_MAX_BYTES);
	struct json j;

	json_init(&j, &b);
	json_array(&j);
	for (unsigned m = 0; m < ESTIMATE_METHODS; m++) {
		struct err e = { 0 };

		if (!estimate(t->periods, (enum estimate_method)m, t->options->level, &t->est,
			      &e)) {
			estimate_put_json(t, &j);
			continue;
		}
		json_object(&j);
		json_key_str(&j, "method", estimate_name((enum estimate_method)m));
		json_key_str(&j, "reason", e.text);
		json_object_end(&j);
	}
	json_array_end(&j);
	return cmd_json_line(&j, &b);
}

static int all_csv(struct estimate_shown *t, struct buf *out)
{
	buf_puts(out, "service,method,calls,demand,low,high,note\n");
	for (unsigned m = 0; m < ESTIMATE_METHODS; m++)
		if (!estimate(t->periods, (enum estimate_method)m, t->options->level, &t->est,
			      NULL))
			put_csv(t, out);
	return model_print(out);
}

static int show_all(struct estimate_shown *t)
{
	struct buf b = BUF_INIT(OUTPUT_MAX_BYTES);
	struct err e = { 0 };
	int status;

	if (t->options->json)
		return all_json(t);
	if (t->options->csv)
		status = all_csv(t, &b);
	else if (choose(t, &e))
		status = cmd_fail(CMD_USAGE, "%s", e.text);
	else {
		put_answer(t, &b);
		put_warnings(t, &b);
		buf_printf(&b, "That is by method %s: %s.\n\n", estimate_name(t->est.method),
			   t->reason);
		put_all(t, &b);
		status = model_print(&b);
	}
	buf_done(&b);
	return status;
}

static int show_periods(const struct estimate_options *w, const struct periods *p, const char *name)
{
	struct estimate_shown t = { .options = w, .periods = p };
	struct err e = { 0 };
	int rc;

	if (w->compare)
		return show_all(&t);
	rc = estimate_run(&t, &e);
	if (rc)
		return cmd_fail(rc == -ERR_NOMEM ? CMD_FAILURE : CMD_USAGE, "%s: %s", name, e.text);
	return show_one(&t);
}

static int read_periods(const char *path, struct periods **out)
{
	struct buf text = BUF_INIT(FILE_MAX_BYTES);
	struct err e = { 0 };
	int status = CMD_OK;

	if (wholefile_read(path, FILE_MAX_BYTES, &text, &e))
		status =
			cmd_fail(e.code == ERR_NOTFOUND ? CMD_NOTFOUND : CMD_FAILURE, "%s", e.text);
	else if (periods_read(buf_str(&text), text.n, out, &e))
		status = e.line ? wholefile_fail(path, &e) : cmd_fail(CMD_FAILURE, "%s", e.text);
	buf_done(&text);
	return status;
}

int estimate_show(const struct estimate_options *w, const char *path)
{
	struct periods *p = NULL;
	int status = read_periods(path, &p);

	if (status == CMD_OK)
		status = show_periods(w, p, wholefile_name(path));
	periods_free(p);
	return status;
}
