/* SPDX-License-Identifier: Apache-2.0 */
/* omig check: finds errors in texts of the metric language, without any monitor. */
#include "tools/cmd/cmd.h"
#include "tools/measure/pmsl_text.h"
#include "tools/session/show.h"

struct checking {
	bool json;
	struct term term;
	struct json out;
	unsigned nread; /* files */
};

static void show_json(struct checking *c, const char *path, const struct pmsl *p,
		      const struct pmsl_diags *d)
{
	json_object(&c->out);
	json_key_str(&c->out, "file", path);
	json_key_array(&c->out, "metrics");
	for (const struct pmsl_metric *m = pmsl_tree(p)->metric; m; m = m->next)
		if (m->is_good)
			pmsl_text_metric_json(&c->out, p, m);
	json_array_end(&c->out);
	pmsl_text_report_json(&c->out, p, d);
	json_object_end(&c->out);
}

/* Adds the file's object to the array. */
static void show_unread_json(struct checking *c, const char *path, int status)
{
	json_object(&c->out);
	json_key_str(&c->out, "file", path);
	cmd_put_error(&c->out, status);
	json_object_end(&c->out);
}

static int check_file(struct checking *c, const char *path)
{
	struct pmsl_diags d;
	struct pmsl *p = NULL;
	int rc = pmsl_text_compile(path, &d, &p);

	if (rc != CMD_OK) {
		if (c->json)
			show_unread_json(c, path, rc);
		return rc;
	}
	c->nread++;
	if (c->json)
		show_json(c, path, p, &d);
	else
		pmsl_text_report(&c->term, stdout, p, &d);
	pmsl_free(p);
	return d.nerror ? CMD_FAILURE : CMD_OK;
}

static int check_files(struct checking *c, char **path)
{
	struct buf b = BUF_INIT(SHOW_MAX_BYTES);
	int worst = CMD_OK, rc;

	json_init(&c->out, &b);
	if (c->json)
		json_array(&c->out);
	for (; *path; path++) {
		rc = check_file(c, *path);
		if (worst == CMD_OK)
			worst = rc;
	}
	if (c->json) {
		json_array_end(&c->out);
		if (c->nread && !show_json_line(&c->out, &b))
			worst = CMD_FAILURE;
	}
	buf_done(&b);
	return worst;
}

int cmd_check(int argc, char **argv)
{
	struct checking c = { .json = false };
	const char *color = "auto";
	const struct opt table[] = {
		OPTION("json", 'j', NULL, "write JSON", OPT_FLAG, &c.json),
		OPTION("color", 0, "auto|always|never", "colour (default auto)", OPT_WORD, &color),
		{ 0 },
	};
	const struct opt_spec spec = {
		.program = "omig check",
		.usage = "[OPTION...] FILE...",
		.summary =
			"reports errors of metrics in files ('-': standard input), without a monitor",
		.table = table,
	};
	int first, status = cmd_parse(&spec, argc, argv, &first);

	if (status >= 0)
		return status;
	if (first == argc)
		return cmd_usage(&spec, "which file?");
	term_open(&c.term, color);
	return check_files(&c, argv + first);
}
