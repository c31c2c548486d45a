/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/session/session.h"

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/str.h"
#include "tools/term/term.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* objects return one by one, as their daemons reconnect to mainsm */
#define GAP_TRY_NS (500 * NSEC_PER_MSEC)
#define TURN_MAX_NS (100 * NSEC_PER_MSEC) /* the longest time until a signal is handled */
#define ATTACH_ALL ":site_attach([]) node_attach([]) proc_attach([])"
#define DEADLINE_MS 2000
#define TIMEOUT_MAX_NS (3600 * NSEC_PER_SEC)
#define REQUEST_BYTES 4096
#define VALUES_MAX_BYTES (64 * 1024 * 1024) /* per answer: libomis accepts no larger one */

static int open_status(Omis_status s, bool is_given)
{
	if (s == OMIS_NO_PERMISSION)
		return CMD_DENIED;
	return s == OMIS_PARAMETER_ERROR && is_given ? CMD_USAGE : CMD_UNREACHABLE;
}

/* Sets the timeouts: --timeout, else OMIG_TIMEOUT, for all steps; else defaults for each step. */
static int patience(const struct cmd_common *c, int64_t *connect_ms, int64_t *answer_ms)
{
	const char *given = getenv("OMIG_TIMEOUT");
	int64_t ns = c->timeout_ns;
	bool is_default = ns == CMD_COMMON_INIT.timeout_ns;

	if (is_default && given && *given) {
		if (opt_to_nsec(given, NSEC_PER_MSEC, TIMEOUT_MAX_NS, &ns))
			return cmd_fail(
				CMD_USAGE,
				"OMIG_TIMEOUT: %.40s is not a time from 1ms to 1h, such as 5s",
				given);
		is_default = false;
	}
	*connect_ms = ns / NSEC_PER_MSEC;
	*answer_ms = is_default		   ? DEADLINE_MS
		     : ns > TIMEOUT_MAX_NS ? TIMEOUT_MAX_NS / NSEC_PER_MSEC
					   : *connect_ms;
	return CMD_OK;
}

/* --- the connection; its handler has no argument, and there is one per process */

static struct {
	enum session_link state;
	char why[256]; /* why the connection was lost */
	bool is_bridged; /* session_bridge() reports a loss, once */
} the_link;

static char the_job[256]; /* session_open_job() */

static void on_link(Omis_reply r)
{
	const char *words = r && r[0] && r[0]->obj_list && r[0]->result ? r[0]->result : "";

	if (omis_reply_status(r) == OMIS_OK) {
		the_link.state = SESSION_BACK;
	} else {
		the_link.state = SESSION_LOST;
		str_copy(the_link.why, sizeof(the_link.why), words);
	}
	omis_reply_free(r);
}

enum session_link session_link(void)
{
	return the_link.state;
}

void session_link_taken(void)
{
	the_link.state = SESSION_UP;
}

int session_open(const struct cmd_common *c)
{
	char name[] = "omig", o1[] = "--omis-timeout", o2[] = "--omis-mainsm", ms[24];
	char *words[] = { name, o1, ms, NULL, NULL, NULL }, **argv = words;
	int64_t connect_ms = 0, answer_ms = 0;
	int argc = 3, rc = patience(c, &connect_ms, &answer_ms);
	char *string = c->mainsm ? str_dup(c->mainsm) : NULL;
	Omis_status s;

	if (rc != CMD_OK) {
		free(string);
		return rc;
	}
	if (string) {
		words[3] = o2;
		words[4] = string;
		argc = 5;
	}
	snprintf(ms, sizeof(ms), "%lld", (long long)connect_ms);
	the_link.state = SESSION_UP;
	the_link.is_bridged = false;
	s = omis_init(&argc, &argv, on_link, NULL);
	free(string);
	if (s != OMIS_OK)
		return cmd_fail(open_status(s, c->mainsm != NULL), "%s", omis_last_error());
	omis_request_policy(OMIS_WAIT_ALL, 0, (unsigned)answer_ms);
	return CMD_OK;
}

/* --- continuing with the next mainsm */

static int begin_gap(struct session_gap *g, nsec_t now)
{
	if (!g->limit_ns)
		return cmd_fail(CMD_UNREACHABLE, "%s", the_link.why);
	g->since = g->next = now;
	cmd_warn("%s; if mainsm is back within %.3g s, this continues", the_link.why,
		 (double)g->limit_ns * 1e-9);
	return CMD_OK;
}

static int try_again(struct session_gap *g, nsec_t now)
{
	char words[256] = "";
	int rc;

	session_link_taken();
	cmd_hush(words, sizeof(words));
	rc = g->again(g->arg);
	cmd_hush(NULL, 0);
	if (session_link() == SESSION_LOST)
		return CMD_OK;
	if (rc == CMD_OK) {
		cmd_warn("mainsm is back after %.3g s", (double)(clock_mono() - g->since) * 1e-9);
		g->since = 0;
	} else if (rc == CMD_USAGE || rc == CMD_DENIED || now - g->since >= g->limit_ns) {
		return cmd_fail(rc, "mainsm is back, but: %s", words);
	}
	g->next = now + GAP_TRY_NS;
	return CMD_OK;
}

int session_bridge(struct session_gap *g)
{
	nsec_t now = clock_mono();
	int rc = CMD_OK;

	the_link.is_bridged = g->limit_ns > 0;
	if (!g->since && session_link() != SESSION_UP)
		rc = begin_gap(g, now);
	if (rc != CMD_OK || !g->since)
		return rc;
	if (session_link() != SESSION_LOST)
		return now >= g->next ? try_again(g, now) : CMD_OK;
	if (now - g->since < g->limit_ns)
		return CMD_OK;
	return cmd_fail(CMD_UNREACHABLE, "mainsm was not back within %.3g s",
			(double)g->limit_ns * 1e-9);
}

void session_turn(nsec_t left, bool with_keys)
{
	struct pollfd p[2] = { { .fd = omis_fd(), .events = POLLIN },
			       { .fd = with_keys ? STDIN_FILENO : -1, .events = POLLIN } };

	left = left < TURN_MAX_NS ? left : TURN_MAX_NS;
	if (left > 0 && poll(p, 2, (int)(left / NSEC_PER_MSEC) + 1) < 0 && errno != EINTR)
		return;
	omis_handler();
}

void session_close(void)
{
	omis_finalize();
}

int session_status_of(Omis_status s)
{
	switch (s & ~OMIS_FATAL) {
	case OMIS_SYNTAX_ERROR:
	case OMIS_UNKNOWN_SERVICE:
	case OMIS_UNKNOWN_ECP:
	case OMIS_TYPE_MISMATCH:
	case OMIS_PARAMETER_ERROR:
		return CMD_USAGE;
	case OMIS_UNKNOWN_OBJECT:
		return CMD_NOTFOUND;
	case OMIS_NO_PERMISSION:
		return CMD_DENIED;
	default:
		return s < OMIS_FIRST_ERROR ? CMD_OK : CMD_FAILURE;
	}
}

int session_exit_status(Omis_reply r)
{
	Omis_coverage c;
	int rc = session_status_of(omis_reply_status(r));

	omis_reply_coverage(r, &c);
	return rc == CMD_OK && c.answered < c.asked ? CMD_PARTIAL : rc;
}

/* Returns the first entry that is an error; NULL when there is none. */
static const Omis_object_result *first_error(Omis_reply r)
{
	for (; *r; r++)
		for (Omis_service_result s = *r; s->obj_list; s++)
			if (s->status >= OMIS_FIRST_ERROR)
				return s;
	return NULL;
}

/* A text of several lines is the output of the PMSL compiler, with the lines of the metric. */
static void report(int rc, const Omis_object_result *bad)
{
	const char *words = bad->result ? bad->result : omis_strerror(bad->status);

	if (strchr(words, '\n')) {
		term_put_lines(stderr, words, strlen(words));
		cmd_note(rc, words);
	} else {
		cmd_fail(rc, "%s%s%s", words, bad->obj_list[0] ? ": " : "", bad->obj_list);
	}
}

/* Passes r to *out, or reports its error and frees it. */
static int take_reply(Omis_reply r, Omis_reply *out)
{
	const Omis_object_result *bad;
	int rc;

	*out = NULL;
	if (!r)
		return cmd_fail(CMD_FAILURE, "out of memory");
	rc = session_status_of(omis_reply_status(r));
	bad = first_error(r);
	if (rc == CMD_OK || !bad) {
		*out = r;
		return CMD_OK;
	}
	if (the_link.is_bridged && the_link.state != SESSION_UP)
		rc = CMD_UNREACHABLE;
	else
		report(rc, bad);
	omis_reply_free(r);
	return rc;
}

__attribute__((format(printf, 2, 0))) static int ask(Omis_reply *out, const char *fmt, va_list ap)
{
	char text[REQUEST_BYTES];
	int n = vsnprintf(text, sizeof(text), fmt, ap);

	*out = NULL;
	if (n < 0 || (size_t)n >= sizeof(text))
		return cmd_fail(CMD_FAILURE, "the request is too long");
	return take_reply(omis_request(text, NULL, NULL, 0), out);
}

int session_ask_long(Omis_value **out, const char *request, size_t n)
{
	Omis_reply r;
	int rc = take_reply(omis_request_n(request, n, NULL, NULL, 0), &r);

	*out = rc == CMD_OK ? session_values(r) : NULL;
	omis_reply_free(r);
	return rc;
}

int session_ask(Omis_reply *out, const char *fmt, ...)
{
	va_list ap;
	int rc;

	va_start(ap, fmt);
	rc = ask(out, fmt, ap);
	va_end(ap);
	return rc;
}

/* Returns one list of values from any number of entries. */
static Omis_value *joined(Omis_service_result parts)
{
	struct buf b = BUF_INIT(VALUES_MAX_BYTES);
	Omis_value *v;

	for (; parts->obj_list; parts++) {
		if (!parts->result_len)
			continue;
		if (b.n)
			buf_putc(&b, ',');
		buf_put(&b, parts->result, parts->result_len);
	}
	v = b.failed ? NULL : omis_value_parse(buf_str(&b), b.n);
	buf_done(&b);
	return v;
}

Omis_value *session_values(Omis_reply r)
{
	return r && r[0] && r[1] && r[1]->obj_list ? joined(r[1]) : NULL;
}

int session_ask_value(Omis_value **out, const char *fmt, ...)
{
	Omis_reply r;
	va_list ap;
	int rc;

	*out = NULL;
	va_start(ap, fmt);
	rc = ask(&r, fmt, ap);
	va_end(ap);
	if (rc != CMD_OK)
		return rc;
	*out = session_values(r);
	omis_reply_free(r);
	return *out ? CMD_OK : cmd_fail(CMD_FAILURE, "mainsm's answer cannot be read");
}

bool session_is_plain(const char *s)
{
	for (; *s; s++)
		if (*s == '"' || *s == '\\' || (unsigned char)*s < 0x20)
			return false;
	return true;
}

static int find_job(const char **job)
{
	Omis_value *v;
	int rc;

	if (*job && !session_is_plain(*job))
		return CMD_OK; /* session_attach() refuses it */
	rc = session_ask_value(&v, ":omig_job_find(\"%s\")", *job ? *job : "");
	if (rc != CMD_OK)
		return rc;
	if (omis_list_text(v, 0)[0] && str_copy(the_job, sizeof(the_job), omis_list_text(v, 0)))
		*job = the_job;
	omis_value_free(v);
	return CMD_OK;
}

int session_open_job(const struct cmd_common *c, const char **job)
{
	int rc = session_open(c);

	if (rc != CMD_OK)
		return rc;
	rc = find_job(job);
	if (rc != CMD_OK)
		session_close();
	return rc;
}

int session_attach(const char *job)
{
	Omis_reply r;
	int rc;

	if (!job)
		return session_attach_all();
	if (!session_is_plain(job))
		return cmd_fail(CMD_NOTFOUND, "no job has such a name");
	rc = session_ask(&r, ":omig_job_attach(\"%s\")", job);
	omis_reply_free(r);
	return rc;
}

int session_attach_all(void)
{
	Omis_reply r;
	int rc = session_ask(&r, ATTACH_ALL);

	omis_reply_free(r);
	return rc;
}
