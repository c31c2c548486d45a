/* SPDX-License-Identifier: Apache-2.0 */
/* omig show: a summary that `omig run --summary=FILE` wrote, as text, JSON or a page. */
#include "tools/cmd/summary/cmd_summary.h"
#include "tools/summary/summary_text.h"
#include "tools/term/outfile.h"
#include "tools/term/say.h"
#include "tools/term/wholefile.h"

#include <stdio.h>

struct show {
	bool json, html, all;
	const char *output;
};

int cmd_read_summary(const char *path, struct summary *s)
{
	struct buf text = BUF_INIT(SUMMARY_FILE_MAX_BYTES);
	struct err e = { 0 };
	int status = CMD_OK;

	/* A directory cannot be read, and a file that is too large is not a summary. */
	if (wholefile_read(path, SUMMARY_FILE_MAX_BYTES, &text, &e))
		status = cmd_fail(e.code == ERR_NOTFOUND ? CMD_NOTFOUND
				  : e.code == ERR_NOMEM	 ? CMD_FAILURE
							 : CMD_USAGE,
				  "%s", e.text);
	else if (summary_read(buf_str(&text), text.n, s, &e))
		status = wholefile_fail(path, &e);
	buf_done(&text);
	return status;
}

static int render(const struct show *w, const struct summary *s, struct buf *out)
{
	const struct summary_text_options options = { .prefix = "", .all = w->all };

	if (w->json)
		return summary_write(s, out);
	return w->html ? summary_html(s, out) : summary_text(s, &options, out);
}

static int show(const struct show *w, const char *path)
{
	struct buf out = BUF_INIT(2 * SUMMARY_FILE_MAX_BYTES);
	struct summary s = { 0 };
	int status = cmd_read_summary(path, &s);

	if (status == CMD_OK && render(w, &s, &out))
		status = cmd_fail(CMD_FAILURE, "out of memory");
	summary_done(&s);
	if (status == CMD_OK && !w->output && w->json)
		cmd_document();
	if (status == CMD_OK)
		status = outfile_write(w->output, &out);
	buf_done(&out);
	return status;
}

int cmd_show(int argc, char **argv)
{
	struct show w = { 0 };
	const struct opt table[] = {
		OPTION("json", 'j', NULL, "the file again, as this omig writes it", OPT_FLAG,
		       &w.json),
		OPTION("html", 0, NULL, "a page of HTML that needs no other file", OPT_FLAG,
		       &w.html),
		OPTION("output", 'o', "FILE", "output file (replaced only when complete)", OPT_STR,
		       &w.output),
		OPTION("all", 'a', NULL, "every rank, call and pair of ranks", OPT_FLAG, &w.all),
		{ 0 },
	};
	const struct opt_spec spec = {
		.program = "omig show",
		.usage = "[OPTION...] FILE",
		.summary = "shows a summary that omig run --summary=FILE wrote",
		.details =
			"FILE may be - for standard input. No monitor is needed. Exit status 2 when FILE is not a\n"
			"summary, or one that another version of omig wrote.",
		.table = table,
	};
	int first, exit_status = cmd_parse(&spec, argc, argv, &first);

	if (exit_status >= 0)
		return exit_status;
	if (first + 1 != argc)
		return cmd_usage(&spec, first == argc ? "which file?" : "one file at a time");
	if (w.json && w.html)
		return cmd_usage(&spec, "--json or --html, not both");
	return show(&w, argv[first]);
}
