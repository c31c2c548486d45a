/* SPDX-License-Identifier: Apache-2.0 */
/* omig tree: what there is. */
#include "common/base/str.h"
#include "tools/cmd/cmd.h"
#include "tools/session/session.h"
#include "tools/session/show.h"
#include "tools/view/tree.h"

#include <stdio.h>

static int set_depth(void *into, const char *value, struct err *e)
{
	static const char *const names[] = { "sites", "nodes", "processes", "threads" };
	enum tree_depth *depth = into;

	for (size_t i = 0; i < 4; i++)
		if (str_eq(value, names[i])) {
			*depth = (enum tree_depth)(i + 1);
			return 0;
		}
	return err_set(e, ERR_INVALID, "sites, nodes, processes or threads, not '%s'", value);
}

static bool show_json(const struct tree *tree)
{
	struct buf b = BUF_INIT(SHOW_MAX_BYTES);
	struct json j;
	bool ok;

	json_init(&j, &b);
	tree_to_json(&j, tree);
	ok = show_json_line(&j, &b);
	buf_done(&b);
	return ok;
}

static int show(const struct cmd_common *c, const struct tree *tree, enum tree_depth depth)
{
	unsigned lost = tree_unreachable(tree);
	struct term t;

	if (c->json)
		return !show_json(tree) ? CMD_FAILURE : lost ? CMD_PARTIAL : CMD_OK;
	if (term_open(&t, c->color))
		return cmd_fail(CMD_USAGE, "--color takes auto, always or never");
	tree_show(&t, tree, depth);
	fflush(stdout);
	if (lost)
		fprintf(stderr, "%u node%s not up: what stands below is as it was last known\n",
			lost, lost == 1 ? " is" : "s are");
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
	enum tree_depth depth = TREE_THREADS;
	const char *job = NULL;
	const struct opt table[] = {
		CMD_OPTIONS(&c),
		OPTION_CALL("depth", 'd', "sites|nodes|processes|threads",
			    "lowest level (default threads)", &depth, set_depth),
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
	int first, exit_status = cmd_parse(&spec, argc, argv, &first);

	if (exit_status >= 0)
		return exit_status;
	if (first < argc)
		return cmd_usage(&spec, "unexpected '%s'", argv[first]);
	exit_status = session_open_job(&c, &job);
	if (exit_status != CMD_OK)
		return exit_status;
	exit_status = session_ask_value(&list, ":omig_tree()");
	if (exit_status == CMD_OK)
		exit_status = sort_and_show(&c, list, depth, job);
	omis_value_free(list);
	session_close();
	return exit_status;
}
