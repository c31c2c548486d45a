/* SPDX-License-Identifier: Apache-2.0 */
/* omig tree: shows the objects of the monitor. */
#include "common/base/str.h"
#include "tools/cmd/cmd.h"
#include "tools/session/session.h"
#include "tools/session/show.h"
#include "tools/view/tree.h"

#include <stdio.h>

static bool show_json(const struct tree *tree)
{
	struct show_doc d;
	struct json *j = show_doc_open(&d);

	tree_to_json(j, tree);
	return show_doc_close(&d) == CMD_OK;
}

static int show(const struct cmd_common *c, const struct tree *tree, enum tree_depth depth)
{
	unsigned lost = tree_unreachable(tree);
	struct term t;

	if (c->json)
		return !show_json(tree) ? CMD_FAILURE : lost ? CMD_PARTIAL : CMD_OK;
	term_open(&t, c->color);
	tree_show(&t, tree, depth);
	fflush(stdout);
	if (lost)
		fprintf(stderr, "%u node%s not up: the state below is the last known one\n", lost,
			lost == 1 ? " is" : "s are");
	return lost ? CMD_PARTIAL : CMD_OK;
}

static int sort_and_show(const struct cmd_common *c, const Omis_value *list, enum tree_depth depth,
			 const char *job)
{
	struct tree tree;
	int rc;

	if (!tree_sort(&tree, list))
		return cmd_fail(CMD_FAILURE, "no memory");
	if (job)
		tree_select_job(&tree, job);
	rc = job && !tree.n ? cmd_fail(CMD_NOTFOUND, "no process is of a job '%s'", job)
			    : show(c, &tree, depth);
	tree_done(&tree);
	return rc;
}

int cmd_tree(int argc, char **argv)
{
	struct cmd_common c = CMD_COMMON_INIT;
	unsigned depth = TREE_THREADS - TREE_SITES;
	const char *job = NULL;
	const struct opt table[] = {
		CMD_OPTIONS(&c),
		OPTION("depth", 'd', "sites|nodes|processes|threads",
		       "lowest level (default threads)", OPT_CHOICE, &depth),
		OPTION("job", 0, "JOB", "processes of this job only", OPT_STR, &job),
		{ 0 },
	};
	const struct opt_spec spec = {
		.program = "omig tree",
		.usage = "[OPTION...]",
		.summary = "shows sites, nodes, processes and threads with their tokens and states",
		.details = "Exit status 6 when a node does not answer.",
		.table = table,
	};
	Omis_value *list;
	int exit_status = cmd_parse(&spec, argc, argv, NULL);

	if (exit_status >= 0)
		return exit_status;
	exit_status = session_open_job(&c, &job);
	if (exit_status != CMD_OK)
		return exit_status;
	exit_status = session_ask_value(&list, ":omig_tree()");
	if (exit_status == CMD_OK)
		exit_status = sort_and_show(&c, list, TREE_SITES + depth, job);
	omis_value_free(list);
	session_close();
	return exit_status;
}
