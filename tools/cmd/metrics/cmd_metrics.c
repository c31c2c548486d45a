/* SPDX-License-Identifier: Apache-2.0 */
/* omig metrics: what can be measured, built in and from files. */
#include "common/base/str.h"
#include "common/cli/nearest.h"
#include "pmsl/check/builtin.h"
#include "tools/cmd/cmd.h"
#include "tools/cmd/metrics/registered.h"
#include "tools/measure/pmsl_text.h"
#include "tools/session/show.h"
#include "tools/term/table.h"

#include <string.h>

#define FILES_MAX 64

struct listing {
	bool json, is_long;
	const char *word; /* NULL: all */
	const char *file[FILES_MAX];
	unsigned nfile;
	struct json out;
	struct table *table;
	unsigned n;
	struct nearest near; /* to the word, of names that are not listed */
	char best[PMSL_BUILTIN_NAME_BYTES]; /* storage of near.best */
};

static bool is_wanted(const struct listing *l, const char *name)
{
	return !l->word || strstr(name, l->word);
}

struct row {
	const char *name, *unit, *kind, *params, *text;
};

static void put_row(struct listing *l, const struct row *r)
{
	l->n++;
	table_cell(l->table, "%s", r->name);
	table_cell(l->table, "%s", r->unit);
	table_cell(l->table, "%s", r->kind);
	table_cell(l->table, "%s", r->text);
	if (l->is_long)
		table_cell(l->table, "%s", r->params);
}

static void put_json(struct listing *l, const struct pmsl_builtin *m)
{
	struct json *j = &l->out;

	l->n++;
	json_object(j);
	json_key_str(j, "name", m->name);
	json_key_str(j, "unit", m->unit);
	json_key_str(j, "kind", m->is_total ? "cumulative" : "sampled");
	json_key_str(j, "parameters", pmsl_builtin_params(m));
	json_key_str(j, "help", m->text);
	json_object_end(j);
}

/* Metrics of single calls are hundreds: they are listed on request only. */
static bool is_shown(const struct listing *l, const struct pmsl_builtin *m)
{
	return is_wanted(l, m->name) && (m->call < 0 || l->word || l->json || l->is_long);
}

static void list_builtins(struct listing *l)
{
	struct pmsl_builtin m;

	for (unsigned i = 0; i < pmsl_builtin_ids(); i++) {
		if (!pmsl_builtin_get(i, &m) || !is_shown(l, &m))
			continue;
		if (l->json)
			put_json(l, &m);
		else
			put_row(l, &(struct row){ .name = m.name,
						  .unit = m.unit,
						  .kind = m.is_total ? "cumulative" : "sampled",
						  .params = pmsl_builtin_params(&m),
						  .text = m.text });
	}
}

static void put_metric(struct listing *l, const struct pmsl *p, const struct pmsl_metric *m)
{
	struct buf params = BUF_INIT(1 << 16);
	char unit[PMSL_UNIT_TEXT_BYTES];

	if (l->json) {
		l->n++;
		pmsl_text_metric_json(&l->out, p, m);
	} else {
		pmsl_text_params(&params, m);
		put_row(l,
			&(struct row){ .name = m->name,
				       .unit = pmsl_unit_text(pmsl_units(p), m->unit, unit),
				       .kind = m->domain == PMSL_EACH_VT ? "each vt" : "each read",
				       .params = buf_str(&params),
				       .text = pmsl_source(p)->name });
	}
	buf_done(&params);
}

/* The texts of files are freed before the nearest name is shown. */
static void try_name(struct listing *l, const char *name)
{
	struct nearest before = l->near;

	nearest_try(&l->near, name);
	if (l->near.best != name)
		return;
	if (str_copy(l->best, sizeof(l->best), name))
		l->near.best = l->best;
	else
		l->near = before;
}

static int list_file(struct listing *l, const char *path)
{
	struct pmsl_diags d;
	struct pmsl *p = NULL;
	int rc = pmsl_text_compile(path, &d, &p);

	if (rc != CMD_OK)
		return rc;
	if (d.nerror)
		rc = cmd_fail(CMD_FAILURE, "%s has errors: omig check %s", path, path);
	for (const struct pmsl_metric *m = pmsl_tree(p)->metric; m; m = m->next)
		if (m->is_good && is_wanted(l, m->name))
			put_metric(l, p, m);
		else if (m->is_good)
			try_name(l, m->name);
	pmsl_free(p);
	return rc;
}

static int no_such_metric(struct listing *l)
{
	const char *best;

	pmsl_builtin_try(&l->near, l->best);
	best = l->near.best;
	return cmd_fail(CMD_NOTFOUND, "there is no metric like '%s'%s%s%s", l->word,
			best ? "; did you mean " : "", best ? best : "", best ? "?" : "");
}

static int list(struct listing *l)
{
	int worst = CMD_OK, rc;

	if (l->word)
		l->near = nearest_to(l->word);
	for (unsigned i = 0; i < l->nfile; i++) {
		rc = list_file(l, l->file[i]);
		if (worst == CMD_OK)
			worst = rc;
	}
	list_builtins(l);
	return worst == CMD_OK && !l->n ? no_such_metric(l) : worst;
}

/* Lists all metrics or, when a file has errors, the errors only. */
static int list_json(struct listing *l)
{
	struct buf b = BUF_INIT(SHOW_MAX_BYTES);
	int rc;

	json_init(&l->out, &b);
	json_array(&l->out);
	rc = list(l);
	json_array_end(&l->out);
	if (rc == CMD_OK && !show_json_line(&l->out, &b))
		rc = CMD_FAILURE;
	buf_done(&b);
	return rc;
}

static int list_text(struct listing *l)
{
	static const char *const heads[] = { "METRIC", "UNIT", "KIND", "HELP", "PARAMETERS" };
	int rc;

	l->table = table_new(l->is_long ? 5 : 4, heads, "lllll");
	if (!l->table)
		return cmd_fail(CMD_FAILURE, "out of memory");
	rc = list(l);
	if (l->n)
		table_show(l->table, 0);
	else
		table_free(l->table);
	return rc;
}

static int take_file(void *into, const char *value, struct err *e)
{
	struct listing *l = into;

	if (l->nfile == FILES_MAX)
		return err_set(e, ERR_LIMIT, "more than %d files", FILES_MAX);
	l->file[l->nfile++] = value;
	return 0;
}

int cmd_metrics(int argc, char **argv)
{
	struct listing l = { .json = false };
	const struct opt table[] = {
		OPTION("json", 'j', NULL, "write JSON", OPT_FLAG, &l.json),
		OPTION("long", 'l', NULL, "with parameters, and those of single MPI calls",
		       OPT_FLAG, &l.is_long),
		OPTION_CALL("file", 'f', "FILE", "metrics of this file too; may be given again", &l,
			    take_file),
		{ 0 },
	};
	const struct opt_spec spec = {
		.program = "omig metrics",
		.usage = "[add|list|remove|show] [OPTION...] [WORD|FILE|NAME]",
		.verbs = "add list remove show",
		.summary = "lists metrics: all, or those with WORD in their name",
		.details =
			"omig metrics add FILE registers metrics in your monitor, so that later texts may\n"
			"use them; list, show NAME and remove NAME are for these. omig metrics add --help.",
		.table = table,
	};
	int first, status;

	if (metrics_is_verb(argc, argv))
		return metrics_registered(argc, argv);
	status = cmd_parse(&spec, argc, argv, &first);
	if (status >= 0)
		return status;
	if (argc - first > 1)
		return cmd_usage(&spec, "one word at most");
	l.word = argv[first];
	return l.json ? list_json(&l) : list_text(&l);
}
