/* SPDX-License-Identifier: Apache-2.0 */
/* omig jobs: shows the jobs that run, and the start of each. */
#include "tools/cmd/cmd.h"
#include "tools/session/session.h"
#include "tools/session/show.h"
#include "tools/view/jobs.h"
#include "tools/view/past.h"

#include <stdio.h>

static int show_json(const struct jobs *jobs, bool all, Omis_reply r)
{
	struct show_doc d;
	struct json *j = show_doc_open(&d);

	json_object(j);
	json_key(j, "jobs");
	jobs_to_json(j, jobs, all);
	show_coverage_json(j, r);
	json_object_end(j);
	return show_doc_close(&d);
}

static int show(const struct cmd_common *c, const struct jobs *jobs, bool all, Omis_reply r)
{
	struct buf out = BUF_INIT(SHOW_MAX_BYTES);
	struct term t;
	int rc;

	if (c->json)
		return show_json(jobs, all, r);
	term_open(&t, c->color);
	rc = jobs_show(&t, jobs, all, &out) || out.failed ? cmd_fail(CMD_FAILURE, "no memory")
							  : CMD_OK;
	fwrite(out.p, 1, out.n, stdout);
	fflush(stdout);
	show_missing(&t, stderr, r);
	buf_done(&out);
	return rc;
}

/* If mainsm keeps no history, only current jobs are shown. */
static bool add_past(struct jobs *jobs)
{
	Omis_reply r = omis_request_n(":omig_history_jobs()", 20, NULL, NULL, 0);
	Omis_value *v = omis_reply_status(r) == OMIS_OK ? session_values(r) : NULL;
	bool ok = !v || past_jobs(jobs, v, clock_wall());

	omis_value_free(v);
	omis_reply_free(r);
	return ok;
}

static int ask_and_show(const struct cmd_common *c, bool all)
{
	struct jobs jobs;
	Omis_value *tree;
	Omis_reply r;
	int rc = session_ask_value(&tree, ":omig_tree()");

	if (rc != CMD_OK)
		return rc;
	rc = session_attach_all();
	if (rc == CMD_OK)
		rc = session_ask(&r, ":proc_get_info([],%d) omig_calls_now([])", JOBS_PROC_FLAGS);
	if (rc == CMD_OK) {
		rc = jobs_read(&jobs, tree, r[1], r[1] ? r[2] : NULL) && (!all || add_past(&jobs))
			     ? show(c, &jobs, all, r)
			     : cmd_fail(CMD_FAILURE, "no memory");
		jobs_done(&jobs);
		if (rc == CMD_OK)
			rc = session_exit_status(r);
		omis_reply_free(r);
	}
	omis_value_free(tree);
	return rc;
}

int cmd_jobs(int argc, char **argv)
{
	struct cmd_common c = CMD_COMMON_INIT;
	const char *any = NULL;
	bool all = false;
	const struct opt table[] = {
		CMD_OPTIONS(&c),
		OPTION("all", 'a', NULL, "also jobs that have ended, those of the history too",
		       OPT_FLAG, &all),
		{ 0 },
	};
	const struct opt_spec spec = {
		.program = "omig jobs",
		.usage = "[OPTION...]",
		.summary = "shows the jobs that run: program, nodes, ranks, time and state",
		.details = "IN MPI has the ranks that are in an MPI call at this moment.\n"
			   "Exit status 6 when a node does not answer.",
		.table = table,
	};
	int exit_status = cmd_parse(&spec, argc, argv, NULL);

	if (exit_status >= 0)
		return exit_status;
	exit_status = session_open_job(&c, &any);
	if (exit_status != CMD_OK)
		return exit_status;
	exit_status = ask_and_show(&c, all);
	session_close();
	return exit_status;
}
