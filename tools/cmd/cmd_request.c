/* SPDX-License-Identifier: Apache-2.0 */
/* omig request: any OMIS request. */
#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/limits.h"
#include "common/base/str.h"
#include "tools/cmd/cmd.h"
#include "tools/session/object_names.h"
#include "tools/session/session.h"
#include "tools/session/show.h"
#include "tools/session/waiting.h"
#include "tools/term/signals.h"
#include "tools/term/wholefile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FOREVER INT64_MAX
#define STEPS_MAX 64 /* requests of one command: each has some KiB */
#define NAMES_NS NSEC_PER_SEC /* interval of requests for names while unknown objects appear */
#define VALUE_BYTES 64 /* of a token */

struct request_options {
	struct cmd_common common;
	int64_t follow_ns; /* 0 = one reply */
	Omis_wait wait;
	unsigned quorum;
	int64_t deadline_ms; /* 0 = as the time-out */
	bool no_attach, tokens;
	struct object_names *names; /* NULL: tokens are shown */
	const char *job; /* NULL: all */
};

/* State of a request in its callbacks, valid until the session ends. */
struct follow {
	const struct request_options *request_options;
	struct show shown;
	struct waiting waiting;
	char csr[64]; /* "" until defined */
	uint64_t seen;
	int status; /* exit status */
	nsec_t until; /* FOREVER, or the end of --follow */
	bool is_over;
	bool is_past; /* the next request runs: further reports of this one are not shown */
};

/* A request, and the first value of its reply, which later ones name by {N}. */
struct step {
	struct buf text; /* owned */
	struct follow follow;
	char value[VALUE_BYTES]; /* "" = none */
};

/* all, quorum=N, deadline=MS, now */
static int set_wait(void *into, const char *value, struct err *e)
{
	struct request_options *w = into;
	int64_t n;

	if (str_eq(value, "all")) {
		w->wait = OMIS_WAIT_ALL;
	} else if (str_eq(value, "now")) {
		w->wait = OMIS_WAIT_NOW;
	} else if (str_has_prefix(value, "quorum=") && !str_to_i64(value + 7, 1, INT32_MAX, &n)) {
		w->wait = OMIS_WAIT_QUORUM;
		w->quorum = (unsigned)n;
	} else if (str_has_prefix(value, "deadline=") && !str_to_i64(value + 9, 1, 3600000, &n)) {
		w->deadline_ms = n;
	} else {
		return err_set(e, ERR_INVALID, "all, now, quorum=N or deadline=MS, not '%s'",
			       value);
	}
	return 0;
}

static Omis_status first_status(Omis_reply r)
{
	return r[0] && r[0]->obj_list ? r[0]->status : OMIS_OK;
}

/* A reader that has closed the pipe (such as head) ends the program, as SIGPIPE would. */
static void show(struct follow *f, Omis_reply r)
{
	bool is_event = first_status(r) == OMIS_CSR_TRIGGERED;

	waiting_hide(&f->waiting);
	if (f->request_options->common.json ? show_reply_json(r)
	    : is_event			    ? show_event(&f->shown, r)
					    : show_reply(&f->shown, r))
		return;
	f->status = CMD_SIGNAL + SIGPIPE;
	f->is_over = true;
}

/* Effects of the request are known only after it. */
static void begin_show(struct follow *f)
{
	term_open(&f->shown.term, f->request_options->common.color);
	f->shown.names = f->request_options->names;
	if (f->shown.names)
		object_names_ask(f->shown.names);
}

/* --- one request, one reply */

static void note_value(struct step *s, Omis_reply r)
{
	for (size_t i = 0; r[i] && !s->value[0]; i++) {
		const Omis_object_result *o = r[i];
		Omis_value *v = o->obj_list && o->result
					? omis_value_parse(o->result, o->result_len)
					: NULL;

		str_copy(s->value, sizeof(s->value), value_text(v, 0));
		omis_value_free(v);
	}
}

static int ask_once(const struct request_options *w, struct step *s)
{
	struct follow *f = &s->follow;
	Omis_reply r = omis_request_n((const char *)s->text.p, s->text.n, NULL, NULL, 0);
	int rc;

	if (!r)
		return cmd_fail(CMD_FAILURE, "out of memory");
	*f = (struct follow){ .request_options = w };
	begin_show(f);
	show(f, r);
	note_value(s, r);
	rc = f->status ? f->status : session_exit_status(r);
	omis_reply_free(r);
	return rc;
}

/* --- a conditional request, followed */

static void on_enabled(Omis_reply r, void *arg)
{
	struct follow *f = arg;
	int rc = session_exit_status(r);

	if (rc != CMD_OK && rc != CMD_PARTIAL) {
		f->status = rc;
		f->is_over = true;
		show(f, r);
	}
	if (f->until != FOREVER)
		f->until = clock_mono() + f->request_options->follow_ns;
	omis_reply_free(r);
}

static void enable(struct follow *f, Omis_reply r)
{
	char text[128];
	Omis_value *v = r[0]->result ? omis_value_parse(r[0]->result, r[0]->result_len) : NULL;

	str_copy(f->csr, sizeof(f->csr), value_text(v, 0));
	omis_value_free(v);
	snprintf(text, sizeof(text), ":csr_enable([%s])", f->csr);
	r = omis_request(text, on_enabled, f, 0);
	if (r)
		on_enabled(r, f);
}

/* Reports objects that do not exist, hosts that cannot be armed and suspended requests. */
static void report_problems(struct follow *f, Omis_reply r)
{
	for (size_t i = 0; r[i]; i++)
		for (const Omis_object_result *o = r[i]; o->obj_list; o++) {
			bool is_reason = o->status == OMIS_CSR_DISABLED && o->result &&
					 strcmp(o->result, f->csr) != 0;

			if (o->status >= OMIS_FIRST_ERROR || is_reason)
				show_entry(&f->shown, stderr, o);
			if (!f->status)
				f->status = session_status_of(o->status);
		}
}

static void on_reply(Omis_reply r, void *arg)
{
	struct follow *f = arg;
	Omis_status s = r ? first_status(r) : OMIS_NO_MEMORY;

	if (f->is_past) {
		omis_reply_free(r);
		return;
	}
	if (s == OMIS_CSR_TRIGGERED) {
		f->seen++;
		show(f, r);
	} else if (s == OMIS_CSR_DEFINED) {
		enable(f, r);
	} else if (r &&
		   (s == OMIS_OK ||
		    s >= OMIS_FIRST_ERROR)) { /* the request is not conditional, or is invalid */
		f->status = session_exit_status(r);
		f->is_over = true;
		show(f, r);
	} else if (s == OMIS_CSR_DELETED) {
		f->is_over = true;
	} else if (r && (s == OMIS_CSR_ENABLED || s == OMIS_CSR_DISABLED)) {
		report_problems(f, r);
	}
	omis_reply_free(r);
}

/* Must not be called while a reply is shown, since it waits for another one. */
static void renew_names(struct object_names *n)
{
	if (n && n->is_old && clock_mono() - n->asked >= NAMES_NS)
		object_names_ask(n);
}

static void wait_for_replies(struct follow *f)
{
	nsec_t left = NSEC_PER_SEC;

	waiting_begin(&f->waiting, "waiting for events", "ends it",
		      f->until == FOREVER ? WAITING_FOREVER
					  : clock_mono() + f->request_options->follow_ns,
		      f->request_options->common.json);
	while (!f->is_over && !signals_last) {
		if (f->until != FOREVER)
			left = f->until - clock_mono();
		if (left <= 0)
			break;
		session_turn(left, false);
		waiting_show(&f->waiting);
		renew_names(f->shown.names);
	}
	waiting_end(&f->waiting);
}

/* Names the event as it was requested: the text before the colon. */
static void say_nothing_came(const struct request_options *w, const struct step *s)
{
	const char *text = (const char *)s->text.p;
	char time[OPT_NSEC_BYTES];
	bool is_quoted = false;
	size_t n = 0;

	for (; n < s->text.n && (is_quoted || text[n] != ':'); n++)
		is_quoted ^= text[n] == '"';
	fputs("omig request: no ", stderr);
	term_put_safe(stderr, text, n);
	if (w->follow_ns != FOREVER)
		fprintf(stderr, " in %s", opt_from_nsec(time, w->follow_ns));
	putc('\n', stderr);
}

static int follow(const struct request_options *w, struct step *s, bool is_last)
{
	struct follow *f = &s->follow;
	Omis_reply r;

	*f = (struct follow){ .request_options = w, .until = FOREVER };
	if (w->follow_ns != FOREVER) /* a late answer is awaited without limit */
		f->until = clock_mono() + w->common.timeout_ns + w->follow_ns;
	begin_show(f);
	signals_catch(false);
	r = omis_request_n((const char *)s->text.p, s->text.n, on_reply, f, 0);
	if (r)
		on_reply(r, f);
	wait_for_replies(f);
	/* Only the last request reports that no event came: earlier ones act without output. */
	if (!f->seen && !f->status && !f->is_over && is_last)
		say_nothing_came(w, s);
	str_copy(s->value, sizeof(s->value), f->csr);
	f->is_past = true;
	if (signals_last == SIGINT) /* ends this request; later ones follow */
		signals_last = 0;
	return f->status;
}

/* --- reading the request */

static int read_stdin(struct buf *b)
{
	struct err e = { 0 };
	int rc = wholefile_read("-", OMIS_REQUEST_MAX_BYTES, b, &e);

	if (rc == -ERR_LIMIT)
		return cmd_fail(CMD_USAGE, "the request is longer than %d bytes",
				OMIS_REQUEST_MAX_BYTES);
	return rc ? cmd_fail(CMD_FAILURE, "%s", e.text) : CMD_OK;
}

static int read_request(const char *word, struct buf *b)
{
	if (str_eq(word, "-"))
		return read_stdin(b);
	return buf_puts(b, word) ? cmd_fail(CMD_USAGE, "the request is too long") : CMD_OK;
}

/* Replaces "{N}" by the result of an earlier request. Everything else remains. */
static int put_value(struct buf *out, const struct step *step, size_t n, const char **at)
{
	char *end;
	unsigned long k = strtoul(*at + 1, &end, 10);

	if (*end != '}' || end == *at + 1) {
		buf_putc(out, (uint8_t) * *at);
		++*at;
		return CMD_OK;
	}
	if (k < 1 || k > n || !step[k - 1].value[0])
		return cmd_fail(CMD_USAGE,
				"{%lu}: no request before this one has made a value of that number",
				k);
	buf_puts(out, step[k - 1].value);
	*at = end + 1;
	return CMD_OK;
}

static int fill_in(struct step *step, size_t n)
{
	struct buf out = BUF_INIT(OMIS_REQUEST_MAX_BYTES + 4096);
	const char *at = buf_str(&step[n].text), *end = at + step[n].text.n;
	int rc = CMD_OK;

	while (rc == CMD_OK && at < end)
		if (*at == '{')
			rc = put_value(&out, step, n, &at);
		else
			buf_putc(&out, (uint8_t)*at++);
	if (rc == CMD_OK && out.failed)
		rc = cmd_fail(CMD_USAGE, "the request is too long");
	if (rc == CMD_OK) {
		buf_done(&step[n].text);
		step[n].text = out;
	} else {
		buf_done(&out);
	}
	return rc;
}

/* An unconditional request begins with a colon; the other kind can be followed. */
static int take_step(const struct request_options *w, struct step *step, size_t n, bool is_last)
{
	const char *text;
	int rc = n ? fill_in(step, n) : CMD_OK;

	if (rc != CMD_OK)
		return rc;
	text = buf_str(&step[n].text);
	text += strspn(text, " \t\r\n");
	return w->follow_ns && *text != ':' ? follow(w, &step[n], is_last) : ask_once(w, &step[n]);
}

/* Names replace tokens on a terminal only: programs need the tokens for further requests. */
static bool is_for_people(const struct request_options *w)
{
	return isatty(STDOUT_FILENO) && !w->common.json && !w->tokens;
}

/* Runs the requests in order, until one fails. */
static int send_requests(struct request_options *w, struct step *step, size_t n)
{
	struct object_names names = { 0 };
	/* Without a job only the requests are sent, which also an sm answers. */
	int rc = w->no_attach && !w->job ? session_open(&w->common)
					 : session_open_job(&w->common, &w->job);

	if (rc != CMD_OK)
		return rc;
	if (!w->no_attach)
		rc = session_attach(w->job);
	if (rc == CMD_OK && (w->wait != OMIS_WAIT_ALL || w->deadline_ms))
		omis_request_policy(w->wait, w->quorum, (unsigned)w->deadline_ms);
	if (is_for_people(w))
		w->names = &names;
	for (size_t i = 0; i < n && rc == CMD_OK && !signals_last; i++)
		rc = take_step(w, step, i, i + 1 == n);
	object_names_done(&names);
	session_close();
	return rc;
}

static int set_follow(void *into, const char *value, struct err *e)
{
	struct request_options *w = into;

	if (str_eq(value, "forever")) {
		w->follow_ns = FOREVER;
		return 0;
	}
	if (opt_to_nsec(value, 1, FOREVER / 2, &w->follow_ns))
		return err_set(e, ERR_INVALID, "a time, or 'forever', not '%s'", value);
	return 0;
}

int cmd_request(int argc, char **argv)
{
	struct request_options w = { .common = CMD_COMMON_INIT };
	const struct opt table[] = {
		CMD_OPTIONS(&w.common),
		OPTION_CALL(
			"follow", 'f', "TIME",
			"enable a conditional request and show what it reports for TIME, or 'forever'",
			&w, set_follow),
		OPTION_CALL("wait", 'w', "HOW",
			    "all, quorum=N, deadline=MS or now: which objects to wait for", &w,
			    set_wait),
		OPTION("job", 0, "JOB", "attach the processes of this job only", OPT_STR, &w.job),
		OPTION("no-attach", 0, NULL, "attach nothing first", OPT_FLAG, &w.no_attach),
		OPTION("tokens", 0, NULL,
		       "on a terminal, show tokens, which requests take, in place of names",
		       OPT_FLAG, &w.tokens),
		{ 0 },
	};
	const struct opt_spec spec = {
		.program = "omig request",
		.usage = "[OPTION...] REQUEST...|-",
		.summary = "sends OMIS requests and shows the replies; - reads one from standard "
			   "input",
		.details = "All known objects are attached first, unless --no-attach is given. "
			   "Several requests are sent by one tool, one after the other, up to the "
			   "first that fails. {1} in a later one is the first value of the reply "
			   "to the first, for example a counter that it made. On a terminal, "
			   "ranks, hosts and sites have names in place of tokens: rank3@node1.",
		.table = table,
	};
	struct step *step;
	int first, status = cmd_parse(&spec, argc, argv, &first);
	size_t n = status >= 0 ? 0 : (size_t)(argc - first);

	if (status >= 0)
		return status;
	if (!n || n > STEPS_MAX)
		return cmd_usage(&spec, n ? "too many requests" : "which request?");
	step = calloc(n, sizeof(*step));
	status = step ? CMD_OK : cmd_fail(CMD_FAILURE, "out of memory");
	for (size_t i = 0; step && i < n; i++)
		buf_init(&step[i].text, OMIS_REQUEST_MAX_BYTES + 4096);
	for (size_t i = 0; i < n && status == CMD_OK; i++)
		status = read_request(argv[first + (int)i], &step[i].text);
	if (status == CMD_OK)
		status = send_requests(&w, step, n);
	for (size_t i = 0; step && i < n; i++)
		buf_done(&step[i].text);
	free(step);
	return status;
}
