/* SPDX-License-Identifier: Apache-2.0 */
/*
 * omig services: services and events that requests may use, as known to this build and to mainsm.
 */
#include "common/base/str.h"
#include "common/cli/nearest.h"
#include "tools/cmd/cmd.h"
#include "tools/session/session.h"
#include "tools/session/show.h"
#include "tools/term/table.h"

#include <stdio.h>
#include <string.h>

static bool is_wanted(const Omis_service_info *s, const char *word)
{
	return !word || strstr(s->name, word) || str_eq(s->extension, word);
}

static void show_long(const Omis_service_info *s)
{
	printf("%s\n    %s, right %s, %s\n    %s\n\n", s->signature, s->kind, s->right, s->state,
	       s->help);
}

static void show_json(struct json *j, const Omis_service_info *s)
{
	json_object(j);
	json_key_str(j, "name", s->name);
	json_key_str(j, "extension", s->extension);
	json_key_str(j, "kind", s->kind);
	json_key_str(j, "right", s->right);
	json_key_str(j, "state", s->state);
	json_key_str(j, "where", s->where);
	json_key_str(j, "signature", s->signature);
	json_key_str(j, "help", s->help);
	json_object_end(j);
}

static int unknown_service(const char *word)
{
	struct nearest near = nearest_to(word);
	Omis_service_info s;

	for (unsigned i = 0; omis_service_info(i, &s); i++)
		nearest_try(&near, s.name);
	return cmd_fail(CMD_NOTFOUND, "there is no service like '%s'%s%s%s", word,
			near.best ? "; did you mean " : "", near.best ? near.best : "",
			near.best ? "?" : "");
}

static int list_json(const char *word)
{
	struct show_doc d;
	struct json *j = show_doc_open(&d);
	Omis_service_info s;
	unsigned n = 0;

	json_array(j);
	for (unsigned i = 0; omis_service_info(i, &s); i++) {
		if (!is_wanted(&s, word))
			continue;
		show_json(j, &s);
		n++;
	}
	json_array_end(j);
	if (n)
		return show_doc_close(&d);
	buf_done(&d.b);
	return unknown_service(word ? word : "");
}

static int list_text(const char *word, bool is_long)
{
	static const char *const heads[] = { "SERVICE", "KIND", "STATE", "HELP" };
	struct table *t = table_new(4, heads, "llll");
	Omis_service_info s;
	unsigned n = 0;

	for (unsigned i = 0; t && omis_service_info(i, &s); i++) {
		if (!is_wanted(&s, word))
			continue;
		n++;
		if (is_long) {
			show_long(&s);
			continue;
		}
		table_cell(t, "%s", s.name);
		table_cell(t, "%s", s.kind);
		table_cell(t, "%s", s.state);
		table_cell(t, "%.*s", (int)strcspn(s.help, "."), s.help);
	}
	if (n && !is_long)
		return table_show(t, 0);
	table_free(t);
	return n ? CMD_OK : unknown_service(word ? word : "");
}

/* Prints the names that the running mainsm offers, extension by extension. */
static int ask_mainsm(const struct cmd_common *c)
{
	Omis_reply r;
	struct show w = { 0 };
	int rc = session_open(c);

	if (rc != CMD_OK)
		return rc;
	rc = session_ask(
		&r,
		":services(\"\") services(\"ocmg\") services(\"site\") services(\"pa\") services(\"patop\") services(\"trace\") "
		"services(\"omig\") services(\"plugin\")");
	if (rc == CMD_OK) {
		term_open(&w.term, c->color);
		if (!(c->json ? show_reply_json(r) : show_reply(&w, r)))
			rc = CMD_FAILURE;
		omis_reply_free(r);
	}
	session_close();
	return rc;
}

int cmd_services(int argc, char **argv)
{
	struct cmd_common c = CMD_COMMON_INIT;
	bool is_long = false, ask = false;
	const struct opt table[] = {
		CMD_OPTIONS(&c),
		OPTION("long", 'l', NULL, "with parameters, rights and all help", OPT_FLAG,
		       &is_long),
		OPTION("ask", 'a', NULL,
		       "list the services of the running mainsm, instead of those of this omig",
		       OPT_FLAG, &ask),
		{ 0 },
	};
	const struct opt_spec spec = {
		.program = "omig services",
		.usage = "[OPTION...] [WORD]",
		.summary =
			"lists services: all, those with WORD in their name, or those of the extension WORD",
		.table = table,
	};
	int first, status = cmd_parse(&spec, argc, argv, &first);

	if (status >= 0)
		return status;
	if (argc - first > 1)
		return cmd_usage(&spec, "one word at most");
	if (ask)
		return ask_mainsm(&c);
	return c.json ? list_json(argv[first]) : list_text(argv[first], is_long || argv[first]);
}
