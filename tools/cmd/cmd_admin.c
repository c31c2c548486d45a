/* SPDX-License-Identifier: Apache-2.0 */
/* omig admin: the users of an sm that serves many. Everything here is a request to that sm. */
#include "common/base/array.h"
#include "common/base/clock.h"
#include "common/base/str.h"
#include "tools/cmd/cmd.h"
#include "tools/session/session.h"
#include "tools/session/show.h"
#include "tools/session/site.h"
#include "tools/term/table.h"

#include <stdio.h>
#include <string.h>

#define PIN_SHOWN 8
#define NEAR 0.8 /* share of a limit above which the usage is reported */
#define ARGS_MAX 4
#define AS_CONFIGURED "default"

struct admin_options {
	struct cmd_common common;
	const char *site; /* NULL: the only one here */
	const char *arg[ARGS_MAX]; /* verb and what follows it; NULL = none */
	size_t narg;
};

/* The values of a user, as omig_site_users() has them. */
enum column {
	PIN,
	NAME,
	STATE,
	DRAINING,
	ADDRESS,
	PORT,
	SINCE,
	SEEN,
	HOSTS,
	PROCS,
	OBJECTS,
	CSRS,
	BYTES,
	MESSAGES,
	BYTES_READ,
	READ_LATER,
	REFUSED,
	LIMITS,
	TROUBLE,
	NCOLUMNS
};

static const char *const keys[NCOLUMNS] = {
	"pin",	      "name",	       "state",	    "draining", "mainsm",  "port",  "since_ns",
	"seen_ns",    "hosts",	       "processes", "objects",	"csrs",	   "bytes", "messages",
	"bytes_read", "read_later_ns", "refused",   "limits",	"trouble",
};

/* --- list */

static void time_cell(struct table *t, int64_t wall)
{
	char text[CLOCK_TEXT_BYTES];

	table_cell(t, "%s", wall > 0 ? clock_format_rfc3339(text, wall, 0) : "-");
}

static void count_cell(struct table *t, const Omis_value *v, enum column at)
{
	char text[TABLE_NUMBER_BYTES];

	table_cell(t, "%s", table_count(text, value_float(v, at)));
}

/* The limits in the order of LIMITS, each with its counter. Messages are limited per second. */
static const struct limit {
	const char *name;
	enum column used; /* NCOLUMNS: not known here */
} limits[] = {
	{ "hosts", HOSTS },	  { "objects", OBJECTS }, { "csrs", CSRS },
	{ "messages", NCOLUMNS }, { "bytes", BYTES },
};

/* Returns the used share of a limit if it is NEAR or above, else 0. */
static double near_share(const Omis_value *v, size_t i)
{
	double max = value_float(value_at(v, LIMITS), i);
	double share =
		limits[i].used < NCOLUMNS && max > 0 ? value_float(v, limits[i].used) / max : 0;

	return share >= NEAR ? share : 0;
}

static const char *user_name(const Omis_value *v)
{
	return *value_text(v, NAME) ? value_text(v, NAME) : value_text(v, PIN);
}

struct near {
	size_t users, lines;
};

/* Prints a user close to a limit. */
static void say_near(void *arg, const Omis_value *v)
{
	char has[TABLE_NUMBER_BYTES], max[TABLE_NUMBER_BYTES];
	struct near *n = arg;

	n->users++;
	for (size_t i = 0; i < ARRAY_LEN(limits); i++) {
		char *(*as)(char *, double) = limits[i].used == BYTES ? table_bytes : table_count;

		if (!near_share(v, i))
			continue;
		n->lines++;
		printf("! ");
		term_put_safe(stdout, user_name(v), strlen(user_name(v)));
		printf(" has %s of %s %s: omig admin limit\n",
		       as(has, value_float(v, limits[i].used)),
		       as(max, value_float(value_at(v, LIMITS), i)), limits[i].name);
	}
}

/* Prints usage and limit. */
static void limit_cell(struct table *t, const Omis_value *v, size_t i)
{
	char has[TABLE_NUMBER_BYTES], max[TABLE_NUMBER_BYTES];
	char *(*as)(char *, double) = limits[i].used == BYTES ? table_bytes : table_count;
	double most = value_float(value_at(v, LIMITS), i);

	as(has, value_float(v, limits[i].used));
	if (most > 0)
		table_cell(t, "%s/%s", has, as(max, most));
	else
		table_cell(t, "%s", has);
}

static void add_row(struct table *t, const Omis_value *v)
{
	table_cell(t, "%.*s", PIN_SHOWN, value_text(v, PIN));
	table_cell(t, "%s", value_text(v, NAME));
	table_cell(t, "%s%s", value_text(v, STATE), value_int(v, DRAINING) ? ",draining" : "");
	limit_cell(t, v, 0);
	count_cell(t, v, PROCS);
	limit_cell(t, v, 1);
	limit_cell(t, v, 2);
	limit_cell(t, v, 4);
	count_cell(t, v, MESSAGES);
	count_cell(t, v, REFUSED);
	time_cell(t, value_int(v, SINCE));
	table_cell(t, "%s", value_text(v, ADDRESS));
}

/* Calls fn for each user of the reply. */
static void each_user(Omis_reply r, void (*fn)(void *arg, const Omis_value *v), void *arg)
{
	for (Omis_service_result s = r[0] && r[1] ? r[1] : NULL; s && s->obj_list; s++) {
		Omis_value *v = s->result && s->result_len
					? omis_value_parse(s->result, s->result_len)
					: NULL;

		if (v)
			fn(arg, v);
		omis_value_free(v);
	}
}

static void on_row(void *arg, const Omis_value *v)
{
	add_row(arg, v);
}

static int show_table(Omis_reply r)
{
	static const char *const heads[] = { "USER",	 "NAME",    "STATE", "HOSTS",
					     "PROCS",	 "OBJECTS", "CSRS",  "BYTES",
					     "MESSAGES", "REFUSED", "SINCE", "MAINSM" };
	struct table *t = table_new(12, heads, "lllrrrrrrrll");
	struct near near = { 0 };

	each_user(r, say_near, &near);
	if (!near.lines)
		printf("%zu user%s, none near a limit\n", near.users, near.users == 1 ? "" : "s");

	if (t)
		each_user(r, on_row, t);
	return table_show(t, 0);
}

static void put_limits(struct json *j, const Omis_value *v)
{
	json_object(j);
	for (size_t i = 0; i < ARRAY_LEN(limits); i++)
		json_key_i64(j, limits[i].name, value_int(v, i));
	json_object_end(j);
}

static void on_json(void *arg, const Omis_value *v)
{
	struct json *j = arg;

	json_object(j);
	for (size_t i = 0; i < NCOLUMNS; i++) {
		json_key(j, keys[i]);
		if (i == LIMITS)
			put_limits(j, value_at(v, i));
		else if (i == DRAINING)
			json_bool(j, value_int(v, i));
		else if (value_at(v, i) && value_at(v, i)->s)
			json_str(j, value_text(v, i));
		else
			json_i64(j, value_int(v, i));
	}
	json_object_end(j);
}

static int show_users_json(Omis_reply r)
{
	struct show_doc d;
	struct json *j = show_doc_open(&d);

	json_array(j);
	each_user(r, on_json, j);
	json_array_end(j);
	return show_doc_close(&d);
}

static int list(const struct admin_options *w)
{
	Omis_reply r;
	int rc = session_ask(&r, ":omig_site_users()");

	if (rc != CMD_OK)
		return rc;
	rc = w->common.json ? show_users_json(r) : show_table(r);
	omis_reply_free(r);
	return rc;
}

/* --- status */

static int status(const struct admin_options *w)
{
	Omis_value *v;
	struct buf b = BUF_INIT(SHOW_MAX_BYTES);
	const Omis_value *pair;
	struct json j;
	int rc = session_ask_value(&v, ":omig_site_status()");

	if (rc != CMD_OK)
		return rc;
	json_init(&j, &b);
	json_object(&j);
	json_key_str(&j, "version", value_text(v, 1));
	json_key_i64(&j, "uptime_ns", value_int(v, 2));
	for (size_t i = 3; (pair = value_at(v, i)); i++) {
		json_key_i64(&j, value_text(pair, 0), value_int(pair, 1));
		if (!w->common.json)
			printf("%s = %lld\n", value_text(pair, 0), (long long)value_int(pair, 1));
	}
	json_object_end(&j);
	if (w->common.json && !show_json_line(&j, &b))
		rc = CMD_FAILURE;
	buf_done(&b);
	omis_value_free(v);
	return rc;
}

/* --- limit, drain, admit, drop */

static int report_done(const struct admin_options *w, Omis_reply r)
{
	if (w->common.json)
		puts("{\"done\":true}");
	omis_reply_free(r);
	return CMD_OK;
}

static int change(const struct admin_options *w)
{
	const char *verb = w->arg[0], *user = w->arg[1];
	Omis_reply r;
	int rc;

	if (str_eq(verb, "limit"))
		rc = session_ask(&r, ":omig_site_limit(\"%s\",\"%s\",%s)", user, w->arg[2],
				 str_eq(w->arg[3], AS_CONFIGURED) ? "-1" : w->arg[3]);
	else if (str_eq(verb, "drop"))
		rc = session_ask(&r, ":omig_site_drop(\"%s\")", user);
	else
		rc = session_ask(&r, ":omig_site_drain(\"%s\",%d)", user, str_eq(verb, "drain"));
	return rc == CMD_OK ? report_done(w, r) : rc;
}

static const struct verb {
	const char *name;
	size_t narg; /* with the verb */
	int (*fn)(const struct admin_options *w);
} verbs[] = {
	{ "list", 1, list },	{ "status", 1, status }, { "limit", 4, change },
	{ "drain", 2, change }, { "admit", 2, change },	 { "drop", 2, change },
};

static bool is_verb(const char *word)
{
	for (size_t i = 0; i < ARRAY_LEN(verbs); i++)
		if (str_eq(verbs[i].name, word))
			return true;
	return false;
}

static const struct verb *verb_of(const struct admin_options *w)
{
	int64_t n;

	for (size_t i = 0; i < ARRAY_LEN(verbs); i++) {
		if (!str_eq(verbs[i].name, w->arg[0]) || verbs[i].narg != w->narg)
			continue;
		for (size_t k = 1; k < w->narg; k++)
			if (!session_is_plain(w->arg[k]))
				return NULL;
		if (w->narg == 4 && !str_eq(w->arg[3], AS_CONFIGURED) &&
		    str_to_i64(w->arg[3], 0, INT64_MAX, &n))
			return NULL;
		return &verbs[i];
	}
	return NULL;
}

static int run(struct admin_options *w, const struct verb *verb)
{
	char string[SITE_STRING_BYTES];
	int rc = CMD_OK;

	if (w->site || !w->common.mainsm) {
		rc = w->site ? site_string(w->site, string) : site_own_string(string);
		w->common.mainsm = string;
	}
	if (rc == CMD_OK)
		rc = session_open(&w->common);
	str_wipe(string, sizeof(string));
	w->common.mainsm = NULL;
	if (rc != CMD_OK)
		return rc;
	rc = verb->fn(w);
	session_close();
	return rc;
}

int cmd_admin(int argc, char **argv)
{
	struct admin_options w = { .common = CMD_COMMON_INIT };
	const struct opt table[] = {
		CMD_OPTIONS(&w.common),
		OPTION("site", 's', "SITE",
		       "the sm: its admin.conn, or the string in it (default: the one of this user)",
		       OPT_STR, &w.site),
		{ 0 },
	};
	const struct opt_spec spec = {
		.program = "omig admin",
		.verbs = "list status limit drain admit drop",
		.usage =
			"[OPTION...] [list | status | limit USER WHAT N | drain USER | admit USER | drop USER]",
		.summary = "lists, limits, drains and drops the users of an sm that serves many",
		.details =
			"USER is a name or the first 8 digits of a pin. WHAT: hosts, objects, csrs, messages (a second)\n"
			"or bytes; N: 0 no limit, default as the configuration says. drain accepts no new hosts, admit\n"
			"accepts them again, drop disconnects the user and removes its state.",
		.table = table,
	};
	const struct verb *verb;
	int first, exit_status = cmd_parse(&spec, argc, argv, &first);

	if (exit_status >= 0)
		return exit_status;
	for (int i = first; i < argc && w.narg < ARGS_MAX; i++)
		w.arg[w.narg++] = argv[i];
	if (!w.narg)
		w.arg[w.narg++] = "list";
	verb = argc - first > ARGS_MAX ? NULL : verb_of(&w);
	if (!verb && !is_verb(w.arg[0]))
		return cmd_usage_verb(&spec, w.arg[0]);
	if (!verb)
		return cmd_usage(&spec,
				 "list, status, limit USER WHAT N, drain, admit or drop USER?");
	return run(&w, verb);
}
