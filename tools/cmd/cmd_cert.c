/* SPDX-License-Identifier: Apache-2.0 */
/* omig cert: certificates and tokens of the members of a monitor. */
#include "common/base/array.h"
#include "common/base/clock.h"
#include "common/base/str.h"
#include "tools/cmd/cmd.h"
#include "tools/session/session.h"
#include "tools/session/show.h"
#include "tools/term/table.h"

#include <stdio.h>

#define DAY_NS (86400 * NSEC_PER_SEC)
#define TOKEN_DEFAULT_NS (3600 * NSEC_PER_SEC)

struct cert_options {
	struct cmd_common common;
	const char *role, *name;
	int64_t lifetime_ns, usable_ns; /* 0 = not given */
	int64_t uses;
	int64_t expiring_ns; /* 0: all are listed */
};

/* A row of omig_cert_list(). */
enum column { SERIAL, ROLE, NAME, ISSUED, EXPIRES, REVOKED, SITE, CALLS_ITSELF, TOKEN };

static void time_cell(struct table *t, const Omis_value *row, size_t i)
{
	char text[CLOCK_TEXT_BYTES];

	table_cell(t, "%s",
		   value_int(row, i) > 0 ? clock_format_rfc3339(text, value_int(row, i), 0) : "-");
}

static void add_row(struct table *t, const Omis_value *row)
{
	const char *itself = value_text(row, CALLS_ITSELF);

	table_cell(t, "%s", value_text(row, SERIAL));
	table_cell(t, "%s", value_text(row, ROLE));
	table_cell(t, "%s", value_text(row, NAME));
	table_cell(t, "%s", str_eq(itself, value_text(row, NAME)) ? "" : itself);
	time_cell(t, row, ISSUED);
	time_cell(t, row, EXPIRES);
	table_cell(t, "%s", value_int(row, REVOKED) ? "revoked" : "valid");
}

/* True if the holder has a newer certificate, so that this one may expire. */
static bool is_renewed(const Omis_value *all, const Omis_value *row)
{
	static const enum column same[] = { ROLE, NAME, SITE, CALLS_ITSELF };
	const Omis_value *other;

	for (size_t i = 0, k; (other = value_at(all, i)); i++) {
		for (k = 0; k < ARRAY_LEN(same); k++)
			if (!str_eq(value_text(other, same[k]), value_text(row, same[k])))
				break;
		if (k == ARRAY_LEN(same) && !value_int(other, REVOKED) &&
		    value_int(other, EXPIRES) > value_int(row, EXPIRES))
			return true;
	}
	return false;
}

static bool is_listed(const struct cert_options *w, const Omis_value *all, const Omis_value *row)
{
	int64_t left = value_int(row, EXPIRES) - clock_wall();

	return !w->expiring_ns || (!value_int(row, REVOKED) && left > 0 && left <= w->expiring_ns &&
				   !is_renewed(all, row));
}

/* Prints the answer as text. all: certificates that expire, sorted or not. */
static void say_expiring(size_t n, int64_t first, nsec_t within)
{
	char span[TABLE_NUMBER_BYTES], when[CLOCK_TEXT_BYTES];

	if (within % DAY_NS)
		table_duration(span, (double)within / NSEC_PER_SEC);
	else
		snprintf(span, sizeof(span), "%lldd", (long long)(within / DAY_NS));
	if (n)
		printf("%zu certificate%s expire%s within %s, the first at %s\n", n,
		       n == 1 ? "" : "s", n == 1 ? "s" : "", span,
		       clock_format_rfc3339(when, first, 0));
	else
		printf("no certificate expires within %s\n", span);
}

static int show_list(const struct cert_options *w, const Omis_value *v)
{
	static const char *const heads[] = { "SERIAL", "ROLE",	  "NAME", "CALLS ITSELF",
					     "ISSUED", "EXPIRES", "STATE" };
	struct table *t = table_new(7, heads, "lllllll");
	int64_t first = INT64_MAX;
	size_t n = 0;
	int rc;

	for (size_t i = 0; t && value_at(v, i); i++) {
		const Omis_value *row = value_at(v, i);

		if (!is_listed(w, v, row))
			continue;
		n++;
		if (value_int(row, EXPIRES) < first)
			first = value_int(row, EXPIRES);
		add_row(t, row);
	}
	if (t && w->expiring_ns)
		say_expiring(n, first, w->expiring_ns);
	if (t && w->expiring_ns && !n) {
		table_free(t);
		return CMD_OK;
	}
	rc = table_show(t, 0);
	return rc == CMD_OK && w->expiring_ns ? CMD_FAILURE : rc;
}

static void put_row(struct json *j, const Omis_value *row)
{
	static const char *const keys[] = { "serial",	 "role",	 "name",
					    "issued_ns", "expires_ns",	 "revoked",
					    "site",	 "calls_itself", "token" };

	json_object(j);
	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		if (i == REVOKED)
			continue;
		if (i == ISSUED || i == EXPIRES)
			json_key_i64(j, keys[i], value_int(row, i));
		else
			json_key_str(j, keys[i], value_text(row, i));
	}
	json_object_end(j);
}

static int expiring_json(const struct cert_options *w, const Omis_value *v)
{
	struct buf b = BUF_INIT(SHOW_MAX_BYTES);
	struct json j;
	size_t n = 0;
	bool ok;

	json_init(&j, &b);
	json_object(&j);
	json_key_i64(&j, "within_ns", w->expiring_ns);
	json_key(&j, "expiring");
	json_array(&j);
	for (size_t i = 0; value_at(v, i); i++)
		if (is_listed(w, v, value_at(v, i))) {
			put_row(&j, value_at(v, i));
			n++;
		}
	json_array_end(&j);
	json_object_end(&j);
	ok = show_json_line(&j, &b);
	buf_done(&b);
	return ok && !n ? CMD_OK : CMD_FAILURE;
}

static int list(const struct cert_options *w)
{
	Omis_value *v;
	Omis_reply r;
	int rc = session_ask(&r, ":omig_cert_list()");

	if (rc != CMD_OK)
		return rc;
	v = session_values(r);
	if (!w->common.json)
		rc = show_list(w, v);
	else if (w->expiring_ns)
		rc = expiring_json(w, v);
	else
		rc = show_reply_json(r) ? CMD_OK : CMD_FAILURE;
	omis_value_free(v);
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
	if (!value_int(v, 0))
		rc = cmd_fail(CMD_NOTFOUND, "nothing has the serial or name '%s'", what);
	else if (w->common.json)
		printf("{\"revoked\":%lld}\n", (long long)value_int(v, 0));
	else
		printf("%lld revoked\n", (long long)value_int(v, 0));
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
		       "of a token: lm, sm, factory, receiver, tool-observe, tool-manipulate, tool-admin or tool (default)",
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
		OPTION_RANGE(
			"expiring", 'e', "TIME",
			"list: only those that expire within this time and were not renewed; exit status 1 if there "
			"are some",
			OPT_NSEC, &w.expiring_ns, NSEC_PER_SEC, 3650 * 86400 * NSEC_PER_SEC),
		{ 0 },
	};
	const struct opt_spec spec = {
		.program = "omig cert",
		.verbs = "list token revoke",
		.usage = "[OPTION...] list | token [ROLE] | revoke SERIAL|NAME|TOKEN",
		.summary = "lists and revokes certificates, and makes tokens with which others "
			   "enrol",
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
	if (w.expiring_ns && !str_eq(verb, "list"))
		return cmd_usage(&spec, "--expiring is for list");
	if (argc - first > (str_eq(verb, "list") ? 1 : 2) || !session_is_plain(w.role) ||
	    (w.name && !session_is_plain(w.name)))
		return cmd_usage(&spec, "unexpected '%s'", argv[argc - 1]);
	return dispatch(&w, verb, argv[first + 1]);
}
