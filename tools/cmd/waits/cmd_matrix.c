/* SPDX-License-Identifier: Apache-2.0 */
/* omig matrix: a metric by pairs of ranks. */
#include "tools/cmd/cmd.h"

#include "common/base/limits.h"
#include "common/base/str.h"
#include "tools/session/show.h"
#include "tools/term/outfile.h"
#include "tools/cmd/waits/exchange_watch.h"
#include "tools/waits/matrix.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct matrix_options {
	struct exchange_watch watch;
	struct pmsl_builtin metric;
	struct term term;
	bool csv, is_plain;
	const char *output;
	int64_t shown;
};

static int show_json(const struct matrix *m, Omis_reply reply)
{
	struct show_doc d;
	struct json *j = show_doc_open(&d);

	json_object(j);
	matrix_json(j, m);
	show_coverage_json(j, reply);
	json_object_end(j);
	return show_doc_next(&d);
}

static int show_text(struct matrix_options *o, const struct matrix *m)
{
	struct buf out = BUF_INIT(SHOW_MAX_BYTES);
	int rc = 0;

	if (o->shown && !o->csv)
		buf_puts(&out, "\n");
	if (o->csv)
		matrix_csv(&out, m, !o->shown);
	else
		rc = matrix_show(&o->term, m, o->is_plain, &out);
	rc = rc || out.failed ? cmd_fail(CMD_FAILURE, "out of memory") : CMD_OK;
	fwrite(out.p, 1, out.n, stdout);
	if (fflush(stdout))
		rc = CMD_FAILURE;
	buf_done(&out);
	return rc;
}

static bool ends_with(const char *s, const char *end)
{
	size_t n = strlen(s), k = strlen(end);

	return n > k && str_eq(s + n - k, end);
}

/* Writes the picture of the last interval over the one before. */
static int write_picture(const struct matrix_options *o, const struct matrix *m)
{
	struct buf b = BUF_INIT(MATRIX_DRAW_MAX_BYTES);
	int rc;

	if (ends_with(o->output, ".svg"))
		matrix_svg(&b, m);
	else
		matrix_html(&b, m);
	rc = b.failed ? cmd_fail(CMD_FAILURE, "the picture is too large: %zu pairs", m->n)
		      : outfile_write(o->output, &b);
	buf_done(&b);
	return rc;
}

static int show(void *arg, const struct exchange *x, Omis_reply reply)
{
	struct matrix_options *o = arg;
	struct matrix m;
	int rc;

	if (!matrix_make(&m, &o->metric, x))
		return cmd_fail(CMD_FAILURE, "out of memory");
	rc = o->watch.common.json ? show_json(&m, reply) : show_text(o, &m);
	if (rc == CMD_OK && o->output)
		rc = write_picture(o, &m);
	if (!o->watch.common.json)
		show_missing(&o->term, stderr, reply);
	matrix_done(&m);
	o->shown++;
	return rc;
}

/* Digits where blocks may not be shown. */
static bool is_plain_wanted(void)
{
	const char *no_color = getenv("NO_COLOR");

	return (no_color && *no_color) || !term_is_utf8();
}

static const char details[] =
	"METRIC is one by partners that omig metrics lists (default Send_volume): how much, how often\n"
	"or how long each rank sends to, receives from or waits for each other one. Up to 24 ranks are\n"
	"shown as a table of numbers, more as shades; with NO_COLOR or without UTF-8, as digits from 1\n"
	"to 9. Pairs without a value are not shown. Times of calls that wait for several partners are\n"
	"divided among these; CSV and JSON have the bound as error. Exit status 6 when a node does not\n"
	"answer.";

static int run(struct matrix_options *o, const char *metric)
{
	struct err e = { 0 };
	int rc = matrix_metric(metric, &o->metric, &e);

	if (rc)
		return cmd_fail(rc == -ERR_NOTFOUND ? CMD_NOTFOUND : CMD_USAGE, "%s", e.text);
	rc = o->output ? outfile_check(o->output) : CMD_OK;
	if (rc != CMD_OK)
		return rc;
	o->is_plain = is_plain_wanted();
	o->watch.show = show;
	o->watch.arg = o;
	o->watch.is_quiet = o->csv;
	return exchange_watch_run(&o->watch);
}

int cmd_matrix(int argc, char **argv)
{
	struct matrix_options o = { .watch = EXCHANGE_WATCH_INIT };
	const struct opt table[] = {
		EXCHANGE_WATCH_OPTIONS(&o.watch),
		OPTION("csv", 0, NULL, "write CSV", OPT_FLAG, &o.csv),
		OPTION("output", 'o', "FILE",
		       "also draw it: FILE.svg, or FILE.html with a table behind it", OPT_STR,
		       &o.output),
		{ 0 },
	};
	const struct opt_spec spec = {
		.program = "omig matrix",
		.usage = "[OPTION...] [METRIC]",
		.summary = "shows how much each rank exchanges with each other one",
		.details = details,
		.table = table,
	};
	int first, exit_status = cmd_parse(&spec, argc, argv, &first);

	if (exit_status >= 0)
		return exit_status;
	if (argc - first > 1)
		return cmd_usage(&spec, "one metric");
	if (o.csv && o.watch.common.json)
		return cmd_usage(&spec, "--csv or --json");
	if (o.output && !ends_with(o.output, ".svg") && !ends_with(o.output, ".html"))
		return cmd_usage(&spec, "--output: a name that ends with .svg or .html, not '%s'",
				 o.output);
	term_open(&o.term, o.watch.common.color);
	return run(&o, first < argc ? argv[first] : "Send_volume");
}
