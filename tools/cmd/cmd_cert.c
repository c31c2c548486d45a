/* SPDX-License-Identifier: Apache-2.0 */
/* omig cert: certificates and tokens of the members of a monitor. */
#include "common/base/clock.h"
#include "common/base/str.h"
#include "tools/cmd/cmd.h"
#include "tools/session/session.h"
#include "tools/session/show.h"
#include "tools/term/table.h"

#include <stdio.h>

#define TOKEN_DEFAULT_NS (3600 * NSEC_PER_SEC)

struct cert_options {
	struct cmd_common common;
	const char *role, *name;
	int64_t lifetime_ns, usable_ns; /* 0 = not said */
	int64_t uses;
};

static void time_cell(struct table *t, const Omis_value *row, size_t i)
{
	char text[CLOCK_TEXT_BYTES];

	table_cell(t, "%s",
		   value_int(row, i) > 0 ? clock_format_rfc3339(text, value_int(row, i), 0) : "-");
}

static void add_row(struct table *t, const Omis_value *row)
{
	table_cell(t, "%s", value_text(row, 0));
	table_cell(t, "%s", value_text(row, 1));
	table_cell(t, "%s", value_text(row, 2));
	table_cell(t, "%s",
		   str_eq(value_text(row, 7), value_text(row, 2)) ? "" : value_text(row, 7));
	time_cell(t, row, 3);
	time_cell(t, row, 4);
	table_cell(t, "%s", value_int(row, 5) ? "revoked" : "valid");
}

static int show_list(Omis_reply r)
{
	static const char *const heads[] = { "SERIAL", "ROLE",	  "NAME", "CALLS ITSELF",
					     "ISSUED", "EXPIRES", "STATE" };
	struct table *t = table_new(7, heads, "lllllll");
	Omis_value *v = session_values(r);

	for (size_t i = 0; t && value_at(v, i); i++)
		add_row(t, value_at(v, i));
	omis_value_free(v);
	return table_show(t, 0);
}

static int list(const struct cert_options *w)
{
	Omis_reply r;
	int rc = session_ask(&r, ":omig_cert_list()");

	if (rc != CMD_OK)
		return rc;
	if (w->common.json)
		rc = show_reply_json(r) ? CMD_OK : CMD_FAILURE;
	else
		rc = show_list(r);
	omis_reply_free(r);
	return rc;
}

static int issue_json(const Omis_value *v)
{
	struct show_doc d;
	struct json *j = show_doc_open(&d);

	json_object(j);
	json_key_str(j, "connection_string", value_text(v, 0));
	json_object_end(j);
	return show_doc_close(&d);
}

/*
 * A tool's certificate ends when its owner requests, by default after an hour; a daemon's is
 * renewed.
 */
static int issue(const struct cert_options *w)
{
	bool is_tool = str_has_prefix(w->role, "tool");
	int64_t life = w->lifetime_ns, usable = w->usable_ns;
	Omis_value *v;
	int rc;

	if (!life && is_tool)
		life = usable ? usable : TOKEN_DEFAULT_NS;
	if (!life && !usable)
		usable = TOKEN_DEFAULT_NS;
	rc = session_ask_value(&v, ":omig_cert_token(\"%s\",%lld,%lld,\"%s\",%lld)", w->role,
			       (long long)(life / NSEC_PER_SEC), (long long)w->uses,
			       w->name ? w->name : "", (long long)(usable / NSEC_PER_SEC));

	if (rc != CMD_OK)
		return rc;
	if (w->common.json) {
		rc = issue_json(v);
	} else {
		term_put_safe(stdout, value_text(v, 0), strlen(value_text(v, 0)));
		putchar('\n');
	}
	omis_value_free(v);
	return rc;
}

static int revoke_cert(const struct cert_options *w, const char *what)
{
	Omis_value *v;
	int rc;

	if (!what || !session_is_plain(what))
		return cmd_fail(CMD_USAGE, "revoke which serial or name? (omig cert list)");
	rc = session_ask_value(&v, ":omig_cert_revoke(\"%s\")", what);
	if (rc != CMD_OK)
		return rc;
	if (w->common.json)
		printf("{\"revoked\":%lld}\n", (long long)value_int(v, 0));
	else
		printf("%lld revoked\n", (long long)value_int(v, 0));
	rc = value_int(v, 0) > 0
		     ? CMD_OK
		     : cmd_fail(CMD_NOTFOUND, "nothing has the serial or name '%s'", what);
	omis_value_free(v);
	return rc;
}

static int dispatch(const struct cert_options *w, const char *verb, const char *what)
{
	int rc = session_open(&w->common);

	if (rc != CMD_OK)
		return rc;
	if (str_eq(verb, "list"))
		rc = list(w);
	else if (str_eq(verb, "token"))
		rc = issue(w);
	else
		rc = revoke_cert(w, what);
	session_close();
	return rc;
}

int cmd_cert(int argc, char **argv)
{
	struct cert_options w = { .common = CMD_COMMON_INIT, .role = "tool", .uses = 1 };
	const struct opt table[] = {
		CMD_OPTIONS(&w.common),
		OPTION("role", 'r', "ROLE",
		       "of a token: lm, sm, factory, tool-observe, tool-manipulate, tool-admin or tool (default)",
		       OPT_STR, &w.role),
		OPTION("name", 0, "NAME",
		       "the holder of a tool's token, as lists, audit and revoke name it (default: the token's id)",
		       OPT_STR, &w.name),
		OPTION_RANGE(
			"lifetime", 'l', "TIME",
			"no certificate by the token lasts longer (default: of tools 1h, of daemons as long as "
			"they serve)",
			OPT_NSEC, &w.lifetime_ns, NSEC_PER_SEC, 366 * 86400 * NSEC_PER_SEC),
		OPTION_RANGE("within", 0, "TIME",
			     "how long the token may be used (default: its lifetime, else 1h)",
			     OPT_NSEC, &w.usable_ns, NSEC_PER_SEC, 366 * 86400 * NSEC_PER_SEC),
		OPTION_RANGE("uses", 'n', "N", "how often a token may be used (default 1)", OPT_I64,
			     &w.uses, 1, 1000000),
		{ 0 },
	};
	const struct opt_spec spec = {
		.program = "omig cert",
		.verbs = "list token revoke",
		.usage = "[OPTION...] list | token [ROLE] | revoke SERIAL|NAME|TOKEN",
		.summary = "lists certificates, makes tokens that let others enrol, revokes",
		.details =
			"token prints a connection string. Treat it like a password: with -m @FILE it stays out of lists of processes.",
		.table = table,
	};
	const char *verb;
	int first, status = cmd_parse(&spec, argc, argv, &first);

	if (status >= 0)
		return status;
	verb = argv[first];
	if (!verb || (!str_eq(verb, "list") && !str_eq(verb, "token") && !str_eq(verb, "revoke")))
		return cmd_usage_verb(&spec, first < argc ? argv[first] : NULL);
	if (str_eq(verb, "token") && argv[first + 1])
		w.role = argv[first + 1];
	if (argc - first > (str_eq(verb, "list") ? 1 : 2) || !session_is_plain(w.role) ||
	    (w.name && !session_is_plain(w.name)))
		return cmd_usage(&spec, "unexpected '%s'", argv[argc - 1]);
	return dispatch(&w, verb, argv[first + 1]);
}
