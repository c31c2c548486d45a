/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/cmd/metrics/registered.h"

#include "common/base/array.h"
#include "common/base/clock.h"
#include "common/base/limits.h"
#include "common/base/str.h"
#include "common/omis/text/value.h"
#include "pmsl/text/source.h"
#include "tools/cmd/cmd.h"
#include "tools/session/session.h"
#include "tools/session/show.h"
#include "tools/term/table.h"
#include "tools/term/wholefile.h"

#include <stdio.h>
#include <string.h>

struct registered_options {
	struct cmd_common common;
	const char *name;
};

/* A row of omig_metrics_list(). */
enum column { NAME, VERSION, ADDED, BYTES, METRICS, USES };

/* --- requests with a text, which may be longer than a line */

static int ask(Omis_value **out, const char *service, const char *name, const char *text)
{
	struct buf b = BUF_INIT(OMIS_REQUEST_MAX_BYTES);
	struct omis_writer w = OMIS_WRITER(&b);
	int rc;

	buf_printf(&b, ":%s(", service);
	omis_write_string(&w, name);
	if (text)
		omis_write_string(&w, text);
	buf_putc(&b, ')');
	rc = b.failed ? cmd_fail(CMD_USAGE, "%s is longer than a request may be (%d bytes)", name,
				 OMIS_REQUEST_MAX_BYTES)
		      : session_ask_long(out, buf_str(&b), b.n);
	buf_done(&b);
	return rc;
}

/* "loops" of "metrics/loops.pmsl". */
static bool name_of(const char *path, char *out, size_t size)
{
	const char *base = strrchr(path, '/'), *end;

	base = base ? base + 1 : path;
	end = strrchr(base, '.');
	if (!end || end == base)
		end = base + strlen(base);
	if ((size_t)(end - base) >= size || end == base || str_eq(base, "-"))
		return false;
	memcpy(out, base, (size_t)(end - base));
	out[end - base] = '\0';
	return true;
}

static int say_added(const struct registered_options *w, const Omis_value *v)
{
	struct show_doc d;
	struct json *j;

	if (!w->common.json) {
		printf("%s is version %lld\n", value_text(v, 0), (long long)value_int(v, 1));
		return CMD_OK;
	}
	j = show_doc_open(&d);
	json_object(j);
	json_key_str(j, "name", value_text(v, 0));
	json_key_i64(j, "version", value_int(v, 1));
	json_object_end(j);
	return show_doc_close(&d);
}

static int add(const struct registered_options *w, const char *path)
{
	char own[REGISTRY_NAME_MAX + 1];
	struct buf text = BUF_INIT(PMSL_SOURCE_MAX_BYTES + 1);
	struct err e = { 0 };
	Omis_value *v = NULL;
	const char *name = w->name;
	int rc = wholefile_read(path, PMSL_SOURCE_MAX_BYTES, &text, &e);

	if (rc)
		return cmd_fail(rc == -ERR_NOTFOUND ? CMD_NOTFOUND : CMD_FAILURE, "%s", e.text);
	if (!name && name_of(path, own, sizeof(own)))
		name = own;
	rc = name ? ask(&v, "omig_metrics_add", name, buf_str(&text))
		  : cmd_fail(CMD_USAGE, "%s makes no name: --name NAME", path);
	buf_done(&text);
	if (rc == CMD_OK)
		rc = say_added(w, v);
	omis_value_free(v);
	return rc;
}

static int drop(const struct registered_options *w, const char *name)
{
	Omis_value *v = NULL;
	int rc;

	(void)w;
	rc = ask(&v, "omig_metrics_remove", name, NULL);
	omis_value_free(v);
	return rc;
}

static int show(const struct registered_options *w, const char *name)
{
	struct show_doc d;
	struct json *j;
	Omis_value *v = NULL;
	int rc = ask(&v, "omig_metrics_get", name, NULL);

	if (rc == CMD_OK && !w->common.json)
		fputs(value_text(v, 2), stdout);
	if (rc == CMD_OK && w->common.json) {
		j = show_doc_open(&d);
		json_object(j);
		json_key_str(j, "name", value_text(v, 0));
		json_key_i64(j, "version", value_int(v, 1));
		json_key_str(j, "text", value_text(v, 2));
		json_object_end(j);
		rc = show_doc_close(&d);
	}
	omis_value_free(v);
	return rc;
}

/* --- the list */

static const Omis_value *names_at(const Omis_value *row, enum column i)
{
	return value_at(row, i);
}

static void names_cell(struct table *t, const Omis_value *names)
{
	struct buf b = BUF_INIT(1 << 16);

	for (size_t i = 0; names && i < names->n; i++)
		buf_printf(&b, "%s%s", i ? ", " : "", value_text(names, i));
	table_cell(t, "%s", b.n ? buf_str(&b) : "-");
	buf_done(&b);
}

static int list_table(const Omis_value *v)
{
	static const char *const heads[] = { "TEXT", "VERSION", "ADDED", "METRICS", "USES" };
	char when[CLOCK_TEXT_BYTES];
	struct table *t;

	if (!value_at(v, 0)) {
		printf("no metrics have been added\n");
		return CMD_OK;
	}
	t = table_new(5, heads, "lrlll");
	for (size_t i = 0; t && value_at(v, i); i++) {
		const Omis_value *row = value_at(v, i);

		table_cell(t, "%s", value_text(row, NAME));
		table_cell(t, "%lld", (long long)value_int(row, VERSION));
		table_cell(t, "%s", clock_format_rfc3339(when, value_int(row, ADDED), 0));
		names_cell(t, names_at(row, METRICS));
		names_cell(t, names_at(row, USES));
	}
	return table_show(t, 0);
}

static void names_json(struct json *j, const char *key, const Omis_value *names)
{
	json_key_array(j, key);
	for (size_t i = 0; names && i < names->n; i++)
		json_str(j, value_text(names, i));
	json_array_end(j);
}

static int list_json(const Omis_value *v)
{
	struct show_doc d;
	struct json *j = show_doc_open(&d);

	json_array(j);
	for (size_t i = 0; value_at(v, i); i++) {
		const Omis_value *row = value_at(v, i);

		json_object(j);
		json_key_str(j, "name", value_text(row, NAME));
		json_key_i64(j, "version", value_int(row, VERSION));
		json_key_i64(j, "added_ns", value_int(row, ADDED));
		json_key_i64(j, "bytes", value_int(row, BYTES));
		names_json(j, "metrics", names_at(row, METRICS));
		names_json(j, "uses", names_at(row, USES));
		json_object_end(j);
	}
	json_array_end(j);
	return show_doc_close(&d);
}

static int list(const struct registered_options *w, const char *none)
{
	Omis_value *v = NULL;
	Omis_reply r;
	int rc = session_ask(&r, ":omig_metrics_list()");

	(void)none;
	if (rc != CMD_OK)
		return rc;
	v = session_values(r);
	rc = w->common.json ? list_json(v) : list_table(v);
	omis_value_free(v);
	omis_reply_free(r);
	return rc;
}

/* --- the command line */

static const struct verb {
	const char *word, *takes; /* NULL: nothing behind it */
	int (*run)(const struct registered_options *w, const char *what);
} verbs[] = {
	{ "add", "which file?", add },
	{ "list", NULL, list },
	{ "remove", "which text?", drop },
	{ "show", "which text, or which metric?", show },
};

static const struct verb *find_verb(const char *word)
{
	for (size_t i = 0; i < ARRAY_LEN(verbs); i++)
		if (str_eq(verbs[i].word, word))
			return &verbs[i];
	return NULL;
}

bool metrics_is_verb(int argc, char **argv)
{
	return argc > 1 && find_verb(argv[1]);
}

int metrics_registered(int argc, char **argv)
{
	struct registered_options w = { .common = CMD_COMMON_INIT };
	const struct opt table[] = {
		CMD_OPTIONS(&w.common),
		OPTION("name", 0, "NAME", "with add: the name of the text, instead of the file's",
		       OPT_STR, &w.name),
		{ 0 },
	};
	const struct opt_spec spec = {
		.program = "omig metrics",
		.usage = "add|list|remove|show [OPTION...] [FILE|NAME]",
		.verbs = "add list remove show",
		.summary = "metrics that your monitor keeps: later texts use them, and omig "
			   "measure by name",
		.table = table,
	};
	const struct verb *v = find_verb(argv[1]);
	int first, rc, status = cmd_parse(&spec, argc - 1, argv + 1, &first);
	int n = argc - 1 - first;

	if (status >= 0)
		return status;
	if (v->takes ? n != 1 : n)
		return cmd_usage(&spec, "%s", v->takes ? v->takes : "list takes nothing else");
	rc = session_open(&w.common);
	if (rc != CMD_OK)
		return rc;
	rc = v->run(&w, v->takes ? argv[1 + first] : NULL);
	session_close();
	return rc;
}
