/* SPDX-License-Identifier: Apache-2.0 */
/* omig plugin: shared objects that add services to the lms of hosts. */
#include "common/base/array.h"
#include "common/base/limits.h"
#include "common/base/str.h"
#include "common/omis/text/value.h"
#include "tools/cmd/cmd.h"
#include "tools/session/reply_each.h"
#include "tools/session/session.h"
#include "tools/session/show.h"
#include "tools/term/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct plugin_options {
	struct cmd_common common;
	const char *nodes; /* "" or tokens separated by commas */
};

/* A row of omig_plugin_list(). */
enum column { NAME, PATH, SUMMARY, STATE, PID, CALLS, ERRORS, ENDS, ERROR, SERVICES };

/* The output of a reply, node by node. */
struct output {
	bool json;
	struct json *j;
	struct table *t;
	size_t n; /* rows */
};

/* --- requests */

/* Tokens of nodes alone, so that the text may stand in a request. */
static bool is_list_of_nodes(const char *s)
{
	return strspn(s, "n_0123456789,") == strlen(s);
}

static int ask(const struct plugin_options *w, Omis_reply *out, const char *service,
	       const char *text)
{
	struct buf b = BUF_INIT(OMIS_REQUEST_MAX_BYTES);
	struct omis_writer value = OMIS_WRITER(&b);
	int rc;

	buf_printf(&b, ":%s([%s]", service, w->nodes);
	if (text) {
		buf_putc(&b, ',');
		omis_write_string(&value, text);
	}
	buf_putc(&b, ')');
	rc = b.failed ? cmd_fail(CMD_USAGE, "%.80s is longer than a request may be", text)
		      : session_ask(out, "%s", buf_str(&b));
	buf_done(&b);
	return rc;
}

/* Errors are lines on stderr, whatever the form of the results. */
static int say_errors(Omis_reply r)
{
	int status = session_exit_status(r);
	bool is_empty = true;

	for (Omis_service_result s = r[0] && r[1] ? r[1] : NULL; s && s->obj_list; s++) {
		is_empty = false;
		if (s->status >= OMIS_FIRST_ERROR)
			cmd_fail(status, "%s: %.*s", s->obj_list, (int)s->result_len,
				 s->result ? s->result : "");
	}
	if (status == CMD_OK && is_empty)
		return cmd_fail(CMD_NOTFOUND,
				"no host is known: an lm starts with the first watched program");
	return status;
}

/* Runs fn for each node of a reply that has a value; frees the reply. */
static int take_reply(struct output *o, Omis_reply r, reply_each_fn fn)
{
	int status = say_errors(r);

	reply_each(r[0] && r[1] ? r[1] : NULL, fn, o);
	omis_reply_free(r);
	return status;
}

/* --- add */

static void names_json(struct json *j, const char *key, const Omis_value *names)
{
	json_key_array(j, key);
	for (size_t i = 0; names && i < names->n; i++)
		json_str(j, value_text(names, i));
	json_array_end(j);
}

static void show_names(const Omis_value *names)
{
	for (size_t i = 0; names && i < names->n; i++)
		printf("%s%s", i ? ", " : "", value_text(names, i));
}

static void show_added(void *arg, const char *token, const Omis_value *v)
{
	struct output *o = arg;

	o->n++;
	if (o->json) {
		json_object(o->j);
		json_key_str(o->j, "node", token);
		json_key_str(o->j, "name", value_text(v, 0));
		names_json(o->j, "services", value_at(v, 1));
		json_object_end(o->j);
		return;
	}
	printf("%s has plug-in %s: ", token, value_text(v, 0));
	show_names(value_at(v, 1));
	putchar('\n');
}

/* Ends the JSON of a reply. */
static int finish_json(struct show_doc *d, struct output *o, int status)
{
	int rc;

	json_array_end(o->j);
	rc = show_doc_close(d);
	return status == CMD_OK ? rc : status;
}

static int add(const struct plugin_options *w, const char *path)
{
	struct output o = { .json = w->common.json };
	char *whole = realpath(path, NULL);
	struct show_doc d;
	Omis_reply r;
	int rc = whole || path[0] == '/' ? ask(w, &r, "omig_plugin_add", whole ? whole : path)
					 : cmd_fail(CMD_NOTFOUND, "there is no %s", path);

	free(whole);
	if (rc != CMD_OK)
		return rc;
	if (o.json) {
		o.j = show_doc_open(&d);
		json_array(o.j);
	}
	rc = take_reply(&o, r, show_added);
	return o.json ? finish_json(&d, &o, rc) : rc;
}

/* --- list */

static void put_row(struct output *o, const char *token, const Omis_value *row)
{
	o->n++;
	table_cell(o->t, "%s", token);
	table_cell(o->t, "%s", value_text(row, NAME)[0] ? value_text(row, NAME) : "-");
	table_cell(o->t, "%s", value_text(row, STATE));
	table_cell(o->t, "%lld", (long long)value_int(row, CALLS));
	table_cell(o->t, "%lld", (long long)value_int(row, ERRORS));
	table_cell(o->t, "%lld", (long long)value_int(row, ENDS));
	table_cell(o->t, "%s", value_text(row, PATH));
	table_cell(o->t, "%s", value_text(row, ERROR)[0] ? value_text(row, ERROR) : "-");
}

static void put_json(struct json *j, const char *token, const Omis_value *row)
{
	json_object(j);
	json_key_str(j, "node", token);
	json_key_str(j, "name", value_text(row, NAME));
	json_key_str(j, "path", value_text(row, PATH));
	json_key_str(j, "summary", value_text(row, SUMMARY));
	json_key_str(j, "state", value_text(row, STATE));
	if (value_int(row, PID))
		json_key_i64(j, "pid", value_int(row, PID));
	json_key_i64(j, "calls", value_int(row, CALLS));
	json_key_i64(j, "errors", value_int(row, ERRORS));
	json_key_i64(j, "ends", value_int(row, ENDS));
	json_key_str(j, "error", value_text(row, ERROR));
	names_json(j, "services", value_at(row, SERVICES));
	json_object_end(j);
}

static void show_rows(void *arg, const char *token, const Omis_value *v)
{
	struct output *o = arg;

	for (size_t i = 0; value_at(v, i); i++)
		if (o->json)
			put_json(o->j, token, value_at(v, i));
		else
			put_row(o, token, value_at(v, i));
}

static int list_json(Omis_reply r)
{
	struct output o = { .json = true };
	struct show_doc d;
	int rc;

	o.j = show_doc_open(&d);
	json_array(o.j);
	rc = take_reply(&o, r, show_rows);
	return finish_json(&d, &o, rc);
}

static int list_table(Omis_reply r)
{
	static const char *const heads[] = { "NODE",   "PLUG-IN", "STATE", "CALLS",
					     "ERRORS", "ENDS",	  "FILE",  "LAST ERROR" };
	struct output o = { .t = table_new(8, heads, "lllrrrll") };
	int rc;

	if (!o.t) {
		omis_reply_free(r);
		return cmd_fail(CMD_FAILURE, "out of memory");
	}
	rc = take_reply(&o, r, show_rows);
	if (o.n) {
		table_show(o.t, 0);
	} else {
		table_free(o.t);
		if (rc == CMD_OK)
			printf("no host has a plug-in\n");
	}
	return rc;
}

static int list(const struct plugin_options *w, const char *none)
{
	Omis_reply r;
	int rc = ask(w, &r, "omig_plugin_list", none);

	if (rc != CMD_OK)
		return rc;
	return w->common.json ? list_json(r) : list_table(r);
}

/* --- remove */

static int drop(const struct plugin_options *w, const char *name)
{
	Omis_reply r;
	int rc = ask(w, &r, "omig_plugin_remove", name);

	if (rc != CMD_OK)
		return rc;
	rc = say_errors(r);
	omis_reply_free(r);
	return rc;
}

/* --- the command line */

static const struct verb {
	const char *word, *takes; /* NULL: nothing behind it */
	int (*run)(const struct plugin_options *w, const char *what);
} verbs[] = {
	{ "add", "which file?", add },
	{ "list", NULL, list },
	{ "remove", "which plug-in?", drop },
};

static const struct verb *find_verb(const char *word)
{
	for (size_t i = 0; word && i < ARRAY_LEN(verbs); i++)
		if (str_eq(verbs[i].word, word))
			return &verbs[i];
	return NULL;
}

static int run(const struct plugin_options *w, const struct verb *v, const char *what)
{
	int rc = session_open(&w->common);

	if (rc != CMD_OK)
		return rc;
	rc = session_attach_all();
	if (rc == CMD_OK)
		rc = v->run(w, what);
	session_close();
	return rc;
}

int cmd_plugin(int argc, char **argv)
{
	struct plugin_options w = { .common = CMD_COMMON_INIT, .nodes = "" };
	const struct opt table[] = {
		CMD_OPTIONS(&w.common),
		OPTION("nodes", 0, "TOKENS", "these nodes alone, as n_1,n_2; else all", OPT_STR,
		       &w.nodes),
		{ 0 },
	};
	const struct opt_spec spec = {
		.program = "omig plugin",
		.usage = "add|list|remove [OPTION...] [FILE|NAME]",
		.verbs = "add list remove",
		.summary = "shared objects of yours that add services to the monitor of each host",
		.details =
			"A plug-in runs in a separate process on each host, so its failure harms nothing else. FILE\n"
			"must be yours, and on each host in the same place.",
		.table = table,
	};
	int first, n, status = cmd_parse(&spec, argc, argv, &first);
	const struct verb *v;

	if (status >= 0)
		return status;
	n = argc - first;
	v = find_verb(n ? argv[first] : NULL);
	if (!v)
		return cmd_usage(&spec, "add, list or remove?");
	if (v->takes ? n != 2 : n != 1)
		return cmd_usage(&spec, "%s", v->takes ? v->takes : "list takes nothing else");
	if (!is_list_of_nodes(w.nodes))
		return cmd_usage(&spec, "'%s' is not a list of nodes such as n_1,n_2", w.nodes);
	return run(&w, v, v->takes ? argv[first + 1] : NULL);
}
