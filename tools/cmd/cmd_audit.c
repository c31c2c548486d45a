/* SPDX-License-Identifier: Apache-2.0 */
/* omig audit: which identity did what to programs, as each daemon recorded it. */
#include "common/base/clock.h"
#include "common/base/str.h"
#include "common/container/map.h"
#include "tools/cmd/cmd.h"
#include "tools/session/session.h"
#include "tools/session/show.h"
#include "tools/session/site.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOLLOW_MS 1000
#define OVERLAP_NS (10 * NSEC_PER_SEC) /* clocks of hosts differ, and replies arrive late */

struct audit_options {
	struct cmd_common common;
	int64_t since_ns; /* ago; 0 = all entries */
	int64_t max;
	const char *node; /* token or name; NULL = all and mainsm */
	/* reads the audit of a shared sm at this site, which has no hosts; NULL = that of mainsm */
	const char *site;
	bool follow;
};

/* Fields of an entry, as omig_audit() has them. */
enum {
	NUMBER,
	TIME,
	DAEMON,
	HOST,
	WHO,
	SESSION,
	CSR,
	CALL,
	OBJECTS,
	FAILED,
	STATUS,
	WHY,
	LEFT_OUT,
	FIELDS
};
#define HEAD 4 /* values in front of the entries: daemon, host, left_out, more */

static const char *const names[FIELDS] = { "number",  "time", "daemon",	 "host",    "who",
					   "session", "csr",  "call",	 "objects", "failed",
					   "status",  "why",  "left_out" };

/* State of the output: entries of the current answer and those shown before. */
struct showing {
	const struct audit_options *options;
	struct term term;
	struct smap seen; /* "daemon host" -> int64_t *, the highest number; owned */
	const Omis_value **row;
	size_t n;
	int64_t newest;
};

static int compare_rows(const void *a, const void *b)
{
	int64_t x = value_int(*(const Omis_value *const *)a, NUMBER),
		y = value_int(*(const Omis_value *const *)b, NUMBER);

	return (x > y) - (x < y);
}

/* --- one entry */

static bool show_json_entry(const Omis_value *e)
{
	struct show_doc d;
	struct json *j = show_doc_open(&d);

	json_object(j);
	for (size_t i = 0; i < FIELDS; i++) {
		json_key(j, names[i]);
		show_value_json(j, value_at(e, i));
	}
	json_object_end(j);
	return show_doc_next(&d) == CMD_OK;
}

static void put(const Omis_value *e, size_t i, const char *before)
{
	const char *s = value_text(e, i);

	if (!s[0])
		return;
	fputs(before, stdout);
	term_put_safe(stdout, s, strlen(s));
}

static void show_entry_text(const struct term *t, const Omis_value *e)
{
	bool is_good = str_eq(value_text(e, STATUS), "OK");

	put(e, TIME, "");
	put(e, DAEMON, "  ");
	put(e, HOST, "@");
	if (value_int(e, LEFT_OUT))
		printf("  (%lld left out before)", (long long)value_int(e, LEFT_OUT));
	put(e, WHO, "  ");
	if (value_text(e, CALL)[0])
		printf("  #%lld", (long long)value_int(e, SESSION));
	put(e, CSR, " ");
	put(e, CALL, "  ");
	printf("  %s", term_paint(t, is_good ? TERM_GREEN : TERM_RED));
	put(e, STATUS, "");
	fputs(term_paint(t, TERM_PLAIN), stdout);
	put(e, FAILED, " ");
	put(e, WHY, ": ");
	putchar('\n');
}

static bool show_rows(struct showing *s)
{
	bool is_read = true;

	if (s->n)
		qsort(s->row, s->n, sizeof(*s->row), compare_rows);
	for (size_t i = 0; is_read && i < s->n; i++)
		if (s->options->common.json)
			is_read = show_json_entry(s->row[i]);
		else
			show_entry_text(&s->term, s->row[i]);
	return is_read && fflush(stdout) == 0;
}

/* --- an answer */

/* Returns where the highest number of that daemon is stored. NULL: no memory. */
static int64_t *seen_of(struct showing *s, const Omis_value *v)
{
	char key[1024];
	int64_t *p;

	snprintf(key, sizeof(key), "%.200s %.800s", value_text(v, 0), value_text(v, 1));
	p = smap_find(&s->seen, key);
	if (p)
		return p;
	p = calloc(1, sizeof(*p));
	if (p && smap_put(&s->seen, key, p, NULL)) {
		free(p);
		p = NULL;
	}
	return p;
}

static void report_gaps(const struct showing *s, const Omis_value *v)
{
	char host[256];

	str_show(host, sizeof(host), value_text(v, 1));
	if (value_int(v, 2) && !s->options->follow)
		cmd_warn("%s: %lld entries are left out since its last one", host,
			 (long long)value_int(v, 2));
	if (value_int(v, 3))
		cmd_warn("%s: there is more, ask with a later --since or a larger --max", host);
}

static int take_daemon(struct showing *s, const Omis_value *v)
{
	int64_t *seen = seen_of(s, v), before;
	const Omis_value *e;

	if (!seen)
		return -1;
	before = *seen;
	for (size_t i = HEAD; (e = value_at(v, i)); i++) {
		const Omis_value **grown;

		if (value_int(e, NUMBER) <= before)
			continue;
		grown = realloc(s->row, (s->n + 1) * sizeof(*grown));
		if (!grown)
			return -1;
		s->row = grown;
		s->row[s->n++] = e;
		if (value_int(e, NUMBER) > *seen)
			*seen = value_int(e, NUMBER);
		if (*seen > s->newest)
			s->newest = *seen;
	}
	return 0;
}

static bool is_wanted(const struct audit_options *w, const Omis_object_result *o,
		      const Omis_value *v)
{
	return !w->node || str_eq(w->node, o->obj_list) ||
	       (o->obj_list[0] && str_eq(w->node, value_text(v, 1)));
}

/* Values live until all rows are shown. */
static int show_answer(struct showing *s, Omis_reply r)
{
	size_t n = 0, at = 0;
	Omis_value **v;
	int rc = CMD_OK;

	while (r[0] && r[1] && r[1][n].obj_list)
		n++;
	v = calloc(n + 1, sizeof(Omis_value *));
	s->n = 0;
	for (size_t i = 0; v && rc == CMD_OK && i < n; i++) {
		const Omis_object_result *o = &r[1][i];

		if (o->status >= OMIS_FIRST_ERROR || !o->result)
			continue;
		v[at] = omis_value_parse(o->result, o->result_len);
		if (v[at] && is_wanted(s->options, o, v[at])) {
			report_gaps(s, v[at]);
			rc = take_daemon(s, v[at]) ? CMD_FAILURE : CMD_OK;
		}
		at += v[at] != NULL;
	}
	if (!v || rc != CMD_OK)
		rc = cmd_fail(CMD_FAILURE, "out of memory");
	else if (!show_rows(s))
		rc = CMD_FAILURE;
	while (at > 0)
		omis_value_free(v[--at]);
	free(v);
	return rc;
}

static int ask_once(struct showing *s, int64_t since)
{
	Omis_reply r;
	int rc = session_ask(&r, ":omig_audit([],%lld,%lld)", (long long)since,
			     (long long)s->options->max);

	if (rc != CMD_OK)
		return rc;
	rc = session_exit_status(r);
	if (rc == CMD_OK || rc == CMD_PARTIAL) {
		int shown = show_answer(s, r);

		rc = shown != CMD_OK ? shown : rc;
	}
	if (!s->options->common.json && !s->options->follow)
		show_missing(&s->term, stderr, r);
	omis_reply_free(r);
	return rc;
}

static int attach(const struct audit_options *w)
{
	return w->site ? CMD_OK : session_attach_all();
}

static int audit(const struct audit_options *w)
{
	struct showing s = { .options = w };
	int64_t since = w->since_ns || w->follow ? clock_wall() - w->since_ns : 0;
	struct smap_iter i = { 0 };
	int rc = session_open(&w->common);

	if (rc != CMD_OK)
		return rc;
	smap_init(&s.seen);
	term_open(&s.term, w->common.color);
	rc = attach(w);
	if (rc == CMD_OK)
		rc = ask_once(&s, since);
	while (w->follow && (rc == CMD_OK || rc == CMD_PARTIAL)) {
		poll(NULL, 0, FOLLOW_MS);
		rc = attach(w); /* also hosts that have connected since */
		if (rc == CMD_OK)
			rc = ask_once(&s, s.newest - OVERLAP_NS > since ? s.newest - OVERLAP_NS
									: since);
	}
	session_close();
	while (smap_next(&s.seen, &i))
		free(i.value);
	smap_done(&s.seen);
	free(s.row);
	return rc;
}

int cmd_audit(int argc, char **argv)
{
	struct audit_options w = { .common = CMD_COMMON_INIT, .max = 100 };
	const struct opt table[] = {
		CMD_OPTIONS(&w.common),
		OPTION_RANGE("since", 's', "TIME", "entries of this time only, as 10m or 2h",
			     OPT_NSEC, &w.since_ns, 1, INT64_C(366) * 86400 * NSEC_PER_SEC),
		OPTION("follow", 'f', NULL, "continue with new entries", OPT_FLAG, &w.follow),
		OPTION("node", 'N', "NODE", "of this node only: its token or its name", OPT_STR,
		       &w.node),
		OPTION("site", 'S', "SITE",
		       "of the sm that serves many: its admin.conn, or the string in it", OPT_STR,
		       &w.site),
		OPTION_RANGE("max", 'n', "N", "at most N of each daemon, the newest (default 100)",
			     OPT_I64, &w.max, 1, 1000),
		{ 0 },
	};
	const struct opt_spec spec = {
		.program = "omig audit",
		.usage = "[OPTION...]",
		.summary =
			"lists requests that changed programs or administered the monitor, and refused ones",
		.details = "Needs the right admin. The oldest entry is first; with --json, an "
			   "object a line.",
		.table = table,
	};
	char string[SITE_STRING_BYTES];
	int status = cmd_parse(&spec, argc, argv, NULL);

	if (status >= 0)
		return status;
	if (w.site) {
		status = site_string(w.site, string);
		w.common.mainsm = string;
	}
	status = status > CMD_OK ? status : audit(&w);
	str_wipe(string, sizeof(string));
	return status;
}
