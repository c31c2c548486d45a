/* SPDX-License-Identifier: Apache-2.0 */
/* omig selftest: runs every service on a scratch process on this host. */
#include "common/base/str.h"
#include "tools/cmd/cmd.h"
#include "tools/selftest/selftest.h"
#include "tools/session/session.h"
#include "tools/session/show.h"
#include "tools/term/signals.h"
#include "tools/term/table.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SERVICES_MAX 512
#define TIMEOUT_NS INT64_C(10000000000)

/* Rows to run, and their results. */
struct selftest {
	struct {
		Omis_service_info service;
		const struct selftest_row *row;
		struct selftest_result result;
	} v[SERVICES_MAX];
	size_t n;
};

static bool is_done(const Omis_service_info *s)
{
	return !str_eq(s->state, "unsupported");
}

static bool is_named(const char *name, int n, char **names)
{
	for (int i = 0; i < n; i++)
		if (str_eq(names[i], name))
			return true;
	return n == 0;
}

static bool is_known(const char *name)
{
	Omis_service_info s;

	for (unsigned i = 0; omis_service_info(i, &s); i++)
		if (str_eq(s.name, name))
			return is_done(&s) && selftest_row_find(name);
	return false;
}

/* Lists the rows in the order of the table, in which they must run. */
static int choose(struct selftest *t, int n, char **names)
{
	Omis_service_info s;

	for (int i = 0; i < n; i++)
		if (!is_known(names[i]))
			return cmd_fail(CMD_NOTFOUND, "'%s' is not a service that can be tried",
					names[i]);
	for (const struct selftest_row *r = selftest_rows; r->service; r++)
		for (unsigned i = 0; omis_service_info(i, &s) && t->n < SERVICES_MAX; i++)
			if (str_eq(s.name, r->service) && is_done(&s) &&
			    is_named(s.name, n, names)) {
				t->v[t->n].service = s;
				t->v[t->n++].row = r;
			}
	return CMD_OK;
}

/* --- output */

static const char *end_name(enum selftest_end end)
{
	static const char *const names[] = { "ok", "fails", "not here", "not tried" };

	return names[end];
}

static void put_result(struct json *j, const struct selftest_result *r)
{
	json_key_str(j, "result", end_name(r->end));
	json_key_str(j, "reason", r->why[0] ? r->why : NULL);
}

static void put_steps(struct json *j, const struct selftest_row *row)
{
	json_key_array(j, "steps");
	for (const struct selftest_step *s = row->step; s->kind != STEP_END; s++) {
		json_object(j);
		json_key_str(j, "kind", selftest_step_name(s->kind));
		json_key_str(j, "text", s->text);
		json_object_end(j);
	}
	json_array_end(j);
}

static int show_json(const struct selftest *t, bool is_list)
{
	struct show_doc d;
	struct json *j = show_doc_open(&d);

	json_array(j);
	for (size_t i = 0; i < t->n; i++) {
		json_object(j);
		json_key_str(j, "service", t->v[i].service.name);
		json_key_str(j, "extension", t->v[i].service.extension);
		json_key_str(j, "class", t->v[i].service.kind);
		json_key_str(j, "right", t->v[i].service.right);
		json_key_str(j, "state", t->v[i].service.state);
		if (is_list)
			put_steps(j, t->v[i].row);
		else
			put_result(j, &t->v[i].result);
		json_object_end(j);
	}
	json_array_end(j);
	return show_doc_close(&d);
}

static void put_row(struct table *to, const struct selftest *t, size_t i, bool is_list)
{
	struct buf steps = BUF_INIT(1 << 16);
	const struct selftest_result *r = &t->v[i].result;

	table_cell(to, "%s", t->v[i].service.name);
	table_cell(to, "%s", t->v[i].service.kind);
	table_cell(to, "%s", t->v[i].service.right);
	for (const struct selftest_step *s = t->v[i].row->step; is_list && s->kind != STEP_END; s++)
		buf_printf(&steps, "%s%s %s", s == t->v[i].row->step ? "" : " | ",
			   selftest_step_name(s->kind), s->text);
	if (is_list)
		table_cell(to, "%s", buf_str(&steps));
	else
		table_cell(to, "%s%s%s", end_name(r->end), r->why[0] ? ": " : "", r->why);
	buf_done(&steps);
}

static int show_text(const struct selftest *t, const struct term *term, bool is_list)
{
	const char *heads[] = { "SERVICE", "CLASS", "RIGHT", is_list ? "STEPS" : "RESULT" };
	struct table *to = table_new(4, heads, "llll");

	for (size_t i = 0; to && i < t->n; i++)
		put_row(to, t, i, is_list);
	return table_show(to, term->is_tty && is_list ? term->cols : 0);
}

/* Overwrites one line on a terminal. */
static void show_progress(const struct selftest *t, size_t i)
{
	if (!isatty(STDERR_FILENO))
		return;
	if (i < t->n)
		fprintf(stderr, "\r%zu/%zu %-40s", i + 1, t->n, t->v[i].service.name);
	else
		fprintf(stderr, "\r%50s\r", "");
	fflush(stderr);
}

static size_t count(const struct selftest *t, enum selftest_end end)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n; i++)
		n += t->v[i].result.end == end;
	return n;
}

static void show_sum(const struct selftest *t, const struct term *term)
{
	size_t bad = count(t, SELFTEST_FAILS);

	printf("%s%zu ok, %zu fail, %zu not here, %zu not tried here%s\n",
	       term_paint(term, bad ? TERM_RED : TERM_GREEN), count(t, SELFTEST_OK), bad,
	       count(t, SELFTEST_NOT_HERE), count(t, SELFTEST_ELSEWHERE),
	       term_paint(term, TERM_PLAIN));
}

/* --- running */

static int run(struct selftest *t, const struct cmd_common *c)
{
	struct selftest_bed *bed = calloc(1, sizeof(*bed));
	int rc;

	if (!bed)
		return cmd_fail(CMD_FAILURE, "out of memory");
	signals_catch(false);
	rc = selftest_bed_open(bed, c, &signals_last);
	for (size_t i = 0; rc == CMD_OK && i < t->n && !signals_last; i++) {
		show_progress(t, i);
		selftest_row_run(bed, t->v[i].row, &t->v[i].result);
	}
	show_progress(t, t->n);
	selftest_bed_close(bed);
	free(bed);
	return signals_last ? CMD_SIGNAL + signals_last : rc;
}

static int judge(const struct selftest *t)
{
	if (count(t, SELFTEST_FAILS))
		return CMD_FAILURE;
	return count(t, SELFTEST_NOT_HERE) ? CMD_PARTIAL : CMD_OK;
}

static int try_services(const struct cmd_common *c, bool is_list, int n, char **names)
{
	struct selftest *t = calloc(1, sizeof(*t));
	struct term term;
	int rc = t ? choose(t, n, names) : cmd_fail(CMD_FAILURE, "out of memory");

	term_open(&term, c->color);
	if (rc == CMD_OK && !is_list)
		rc = run(t, c);
	if (rc == CMD_OK) {
		rc = c->json ? show_json(t, is_list) : show_text(t, &term, is_list);
		if (rc == CMD_OK && !is_list && !c->json)
			show_sum(t, &term);
		if (rc == CMD_OK && !is_list)
			rc = judge(t);
	}
	free(t);
	return rc;
}

int cmd_selftest(int argc, char **argv)
{
	struct cmd_common c = CMD_COMMON_INIT;
	bool is_list = false;
	const struct opt table[] = {
		CMD_OPTIONS(&c),
		OPTION("list", 'l', NULL, "show how each service would be tried, without doing it",
		       OPT_FLAG, &is_list),
		{ 0 },
	};
	const struct opt_spec spec = {
		.program = "omig selftest",
		.verbs = "services",
		.usage = "[OPTION...] services [NAME...]",
		.summary =
			"applies every service to a scratch process on this machine, and reports what works here",
		.details =
			"A mainsm of its own is started for that and ended again, unless --mainsm names another.\n"
			"Exit status 0 when all works, 1 when something fails, 6 when something cannot work here.",
		.table = table,
	};
	int first, exit_status = cmd_parse(&spec, argc, argv, &first);

	if (exit_status >= 0)
		return exit_status;
	if (first >= argc || !str_eq(argv[first], "services"))
		return cmd_usage(&spec, "name what to try: services");
	if (c.timeout_ns == CMD_COMMON_INIT.timeout_ns)
		c.timeout_ns = TIMEOUT_NS;
	return try_services(&c, is_list, argc - first - 1, argv + first + 1);
}
