/* SPDX-License-Identifier: Apache-2.0 */
/* omig stacks: where all ranks are, as one tree. */
#include "common/base/str.h"
#include "tools/cmd/cmd.h"
#include "tools/session/session.h"
#include "tools/session/show.h"
#include "tools/view/stacks.h"

#include <stdio.h>

#define BATCH 100 /* threads in one request: its replies have some 400 KiB */

struct stacks_options {
	struct cmd_common common;
	struct stacks_wanted wanted;
	bool deep;
};

/* *worst: the exit status if no thread has a stack. */
static int read_batch(struct stacks *s, size_t first, size_t n, bool is_deep, int *worst)
{
	struct buf text = BUF_INIT(1 << 16);
	Omis_reply r;
	int rc = CMD_OK;

	buf_puts(&text, ":omig_backtrace([");
	for (size_t i = first; i < first + n; i++)
		buf_printf(&text, "%s%s", i > first ? "," : "", s->v[i].token);
	buf_puts(&text, "],0)");
	r = omis_request_n(buf_str(&text), text.n, NULL, NULL, 0);
	buf_done(&text);
	if (!r)
		return cmd_fail(CMD_FAILURE, "out of memory");
	for (size_t i = 0; i < 2 && r[i]; i++)
		if (!stacks_add(s, r[i], is_deep))
			rc = cmd_fail(CMD_FAILURE, "out of memory");
	if (omis_reply_status(r) >= OMIS_FIRST_ERROR)
		*worst = session_status_of(omis_reply_status(r));
	omis_reply_free(r);
	return rc;
}

static int read_all(struct stacks *s, const Omis_value *tree, const struct stacks_options *w)
{
	int rc = CMD_OK, worst = CMD_FAILURE;

	if (!stacks_choose(s, tree, &w->wanted))
		return cmd_fail(CMD_FAILURE, "out of memory");
	if (!s->n)
		return cmd_fail(CMD_NOTFOUND, s->ended ? "all ranks have ended: they have no stacks"
					      : w->wanted.ranks.n
						      ? "no such rank runs"
						      : "no process that is watched runs");
	for (size_t i = 0; i < s->n && rc == CMD_OK; i += BATCH)
		rc = read_batch(s, i, s->n - i < BATCH ? s->n - i : BATCH, w->deep, &worst);
	stacks_finish(s);
	if (rc == CMD_OK && !s->n)
		rc = cmd_fail(worst, "no stack could be read: %s",
			      s->ntrouble ? s->trouble[0].text : "no reply in time");
	return rc;
}

static int show_json(const struct stacks *s)
{
	struct show_doc d;
	struct json *j = show_doc_open(&d);

	json_object(j);
	stacks_to_json(j, s);
	json_object_end(j);
	return show_doc_close(&d);
}

static int show(const struct stacks_options *w, const struct stacks *s)
{
	struct buf out = BUF_INIT(64 << 20);
	struct term t;
	int rc = CMD_OK;

	term_open(&t, w->common.color);
	if (w->common.json)
		rc = show_json(s);
	else if (stacks_show(&t, s, &out))
		rc = cmd_fail(CMD_FAILURE, "out of memory");
	else
		fwrite(out.p, 1, out.n, stdout);
	buf_done(&out);
	if (rc != CMD_OK)
		return rc;
	return s->ntrouble ? CMD_PARTIAL : CMD_OK;
}

static int stacks(struct stacks_options *w)
{
	struct stacks s = { 0 };
	Omis_value *tree = NULL;
	int rc = session_open_job(&w->common, &w->wanted.job);

	if (rc != CMD_OK)
		return rc;
	rc = session_attach(w->wanted.job);
	if (rc == CMD_OK)
		rc = session_ask_value(&tree, ":omig_tree()");
	if (rc == CMD_OK)
		rc = read_all(&s, tree, w);
	if (rc == CMD_OK)
		rc = show(w, &s);
	stacks_done(&s);
	omis_value_free(tree);
	session_close();
	return rc;
}

int cmd_stacks(int argc, char **argv)
{
	struct stacks_options w = { .common = CMD_COMMON_INIT };
	const struct opt table[] = {
		CMD_OPTIONS(&w.common),
		OPTION("job", 0, "JOB", "processes of this job only", OPT_STR, &w.wanted.job),
		OPTION_CALL("ranks", 'r', "RANKS", "these ranks only, such as 0-15,20",
			    &w.wanted.ranks, ranges_option),
		OPTION("threads", 0, NULL, "all threads, not only the main one of each process",
		       OPT_FLAG, &w.wanted.threads),
		OPTION("deep", 0, NULL, "also the frames inside of the MPI library and libc",
		       OPT_FLAG, &w.deep),
		{ 0 },
	};
	const struct opt_spec spec = {
		.program = "omig stacks",
		.usage = "[OPTION...]",
		.summary = "shows where all ranks are, as one tree of their stacks",
		.details =
			"The first line is a summary. Each line of the tree has a number of ranks, which ones,\n"
			"and the calls that they have in common, with files and lines where the program has debug\n"
			"information. Each thread is held for less than a millisecond; that needs the right to\n"
			"manipulate. Exit status 6 when some stacks are missing; the reasons are below the tree.",
		.table = table,
	};
	int exit_status = cmd_parse(&spec, argc, argv, NULL);

	if (exit_status >= 0)
		return exit_status;
	return stacks(&w);
}
