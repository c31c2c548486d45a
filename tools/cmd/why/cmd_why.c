/* SPDX-License-Identifier: Apache-2.0 */
/* omig why: where a job loses time, which rank or host is late, and the cause. */
#include "tools/cmd/cmd.h"

#include "common/base/limits.h"
#include "common/base/str.h"
#include "tools/session/session.h"
#include "tools/session/show.h"
#include "tools/session/waiting.h"
#include "tools/term/signals.h"
#include "tools/view/jobs.h"
#include "tools/why/gather.h"
#include "tools/why/report.h"

#include <stdio.h>
#include <string.h>

#define FOR_NS (30 * NSEC_PER_SEC)
#define BLOCK_LEAST_NS (100 * NSEC_PER_MSEC) /* steps of the kernel's clocks are 10 ms */
#define SHARE_UNSET (-1)

struct why_run {
	struct cmd_common common;
	struct term term;
	const char *job; /* NULL: the one that runs */
	nsec_t every_ns, for_ns;
	double threshold, fail_above; /* shares; SHARE_UNSET */
	int64_t explain; /* 0: none */
	bool watch, all;
	struct why *why;
	struct gather gather;
	struct kept kept;
	bool is_gone[WHY_FINDINGS_MAX + 1]; /* --watch: by number; its end was shown */
	bool is_closed; /* the reader has closed the output */
};

/* --- showing */

static struct report report_of(const struct why_run *w)
{
	return (struct report){ .why = w->why,
				.kept = &w->kept,
				.hosts = &w->gather.hosts,
				.job = w->job,
				.program = w->gather.program,
				.threshold = w->threshold,
				.asked = w->gather.asked,
				.answered = w->gather.answered,
				.silent_blocks = w->gather.silent_blocks,
				.has_ended = w->gather.is_over };
}

/* Consumes the text. */
static int print(struct why_run *w, struct buf *out)
{
	int rc = CMD_OK;

	term_to_locale(out);
	if (out->failed)
		rc = cmd_fail(CMD_FAILURE, "out of memory");
	else if (fwrite(out->p, 1, out->n, stdout) != out->n || fflush(stdout))
		w->is_closed = true;
	buf_done(out);
	return rc;
}

static int print_finding_json(struct why_run *w, const struct why_finding *f)
{
	const struct report r = report_of(w);
	struct show_doc d;
	struct json *j = show_doc_open(&d);

	json_object(j);
	report_finding_json(&r, f, j);
	if ((int64_t)f->number == w->explain)
		report_explain_json(&r, f, j);
	json_object_end(j);
	return show_doc_next(&d);
}

static int print_summary_json(struct why_run *w)
{
	const struct report r = report_of(w);
	struct show_doc d;
	struct json *j = show_doc_open(&d);

	json_object(j);
	report_summary_json(&r, w->all, j);
	json_object_end(j);
	return show_doc_next(&d);
}

static int print_finding(struct why_run *w, const struct why_finding *f)
{
	const struct report r = report_of(w);
	struct buf out = BUF_INIT(SHOW_MAX_BYTES);

	if (w->common.json)
		return print_finding_json(w, f);
	buf_printf(&out, "%s ", why_state_name(f->state));
	report_finding(&r, &w->term, f, &out);
	return print(w, &out);
}

/* True once for each change of a finding. */
static bool is_news(struct why_run *w, const struct why_finding *f)
{
	bool *was_gone = &w->is_gone[f->number <= WHY_FINDINGS_MAX ? f->number : 0];
	bool is = f->state == WHY_GONE ? !*was_gone : f->state != WHY_STEADY;

	*was_gone = f->state == WHY_GONE;
	return is;
}

static int print_news(struct why_run *w)
{
	const struct why_finding *f;
	size_t n = why_findings(w->why, &f);
	int rc = CMD_OK;

	for (size_t i = 0; i < n && rc == CMD_OK && !w->is_closed; i++)
		if (is_news(w, &f[i]))
			rc = print_finding(w, &f[i]);
	return rc;
}

static int print_end_json(struct why_run *w)
{
	const struct why_finding *f;
	size_t n = why_findings(w->why, &f);
	int rc = CMD_OK;

	for (size_t i = 0; !w->watch && i < n && rc == CMD_OK; i++)
		if (!w->explain || (int64_t)f[i].number == w->explain)
			rc = print_finding_json(w, &f[i]);
	return rc == CMD_OK ? print_summary_json(w) : rc;
}

static int print_end_text(struct why_run *w)
{
	const struct report r = report_of(w);
	const struct why_finding *f = report_find(&r, w->explain);
	struct buf out = BUF_INIT(SHOW_MAX_BYTES);
	int rc = 0;

	if (f)
		rc = report_explain(&r, &w->term, f, &out);
	else
		report_show(&r, &w->term, &out);
	if (!rc && w->all && !f) {
		buf_puts(&out, "\n");
		rc = report_all(&r, &out);
	}
	if (rc)
		out.failed = true;
	return print(w, &out);
}

/* The exit status of a search that has ended. */
static int status_of(const struct why_run *w)
{
	const struct report r = report_of(w);

	if (w->explain && !report_find(&r, w->explain))
		return cmd_fail(CMD_NOTFOUND, "this search has no finding %lld",
				(long long)w->explain);
	if (w->fail_above >= 0 && report_above(&r, w->fail_above))
		return cmd_fail(CMD_FAILURE, "a finding is above the limit of --fail-above");
	return w->gather.silent_blocks ? cmd_note(CMD_PARTIAL, "some hosts did not reply") : CMD_OK;
}

/* rc: why the search has ended; the findings so far are shown if it is a failure, too. */
static int end(struct why_run *w, int rc)
{
	int shown = CMD_OK;

	if (w->kept.n)
		shown = w->common.json ? print_end_json(w) : print_end_text(w);
	else if (rc == CMD_OK)
		return cmd_fail(w->gather.silent_blocks ? CMD_PARTIAL : CMD_NOTFOUND, "%s",
				w->gather.silent_blocks ? "no rank has replied"
							: "the job ended before a block did");
	if (rc != CMD_OK || shown != CMD_OK)
		return rc != CMD_OK ? rc : shown;
	return status_of(w);
}

/* --- the search */

static int add_block(struct why_run *w, struct blocks_block *b)
{
	struct err e = { 0 };

	if (!b->block.nrank) {
		blocks_done(b);
		return CMD_OK;
	}
	if (why_add(w->why, &b->block, &e)) {
		blocks_done(b);
		return cmd_fail(CMD_FAILURE, "the search refuses a block: %s", e.text);
	}
	kept_add(&w->kept, b);
	return w->watch ? print_news(w) : CMD_OK;
}

static bool is_done(const struct why_run *w, nsec_t until)
{
	struct why_summary s;

	if (w->gather.is_over || w->is_closed || signals_last)
		return true;
	why_summary(w->why, &s);
	return clock_mono() >= until || (!w->watch && s.is_done && w->kept.n);
}

static int search(struct why_run *w)
{
	nsec_t begin = clock_mono(), until = w->for_ns ? begin + w->for_ns : INT64_MAX,
	       next = begin;
	int rc = CMD_OK;

	do {
		struct blocks_block b;
		nsec_t now = clock_mono();

		next = next + w->every_ns > now ? next + w->every_ns : now + w->every_ns;
		waiting_until("looking for causes", "shows the findings so far",
			      next < until ? next : until, w->common.json);
		/* A rest of a block is too short for its clocks. */
		if (w->kept.n && session_link() == SESSION_UP &&
		    clock_mono() < next - w->every_ns / 2)
			break;
		rc = session_link() == SESSION_UP
			     ? gather_next(&w->gather, &b)
			     : cmd_fail(CMD_UNREACHABLE, "the connection to mainsm is lost");
		if (rc == CMD_OK)
			rc = add_block(w, &b);
	} while (rc == CMD_OK && !is_done(w, until));
	return end(w, rc);
}

static int run_search(void *run)
{
	struct why_run *w = run;
	struct err e = { 0 };
	int rc;

	w->why = why_new(
		&(struct why_options){ .threshold = w->threshold, .alpha = WHY_ALPHA_DEFAULT }, &e);
	if (!w->why)
		return cmd_fail(CMD_FAILURE, "%s", e.text);
	rc = gather_begin(&w->gather, w->job);
	if (rc == CMD_OK) {
		rc = search(w);
		gather_end(&w->gather);
	}
	kept_done(&w->kept);
	why_free(w->why);
	return rc;
}

/* --- the command line */

/* "10" or "10%". into: a share, a double *. */
static int share_option(void *into, const char *value, struct err *e)
{
	char number[32];
	size_t n = strlen(value);
	double percent;

	if (n && value[n - 1] == '%')
		n--;
	while (n && value[n - 1] == ' ')
		n--;
	if (!n || n >= sizeof(number))
		return err_set(e, ERR_INVALID, "'%s' is not a percentage", value);
	memcpy(number, value, n);
	number[n] = '\0';
	if (str_to_double(number, 0, 100, &percent))
		return err_set(e, ERR_INVALID, "'%s' is not a percentage", value);
	*(double *)into = percent / 100;
	return 0;
}

static const char details[] =
	"Searches while the program runs: counts all MPI calls of its ranks and reads figures of the\n"
	"system, block by block, and tests which losses of time are real. The search ends when each\n"
	"hypothesis is found or ruled out, or after --for. A finding has its share of the time of all\n"
	"ranks with an interval, the rank, host or pair that causes it, the cause, and commands that show\n"
	"it. 'At least' is a lower bound. --json writes an object a line: findings, then a summary. Exit\n"
	"status 1 with --fail-above when a finding is above that share; 6 when a host did not reply.";

int cmd_why(int argc, char **argv)
{
	struct why_run w = { .common = CMD_COMMON_INIT,
			     .every_ns = NSEC_PER_SEC,
			     .threshold = WHY_THRESHOLD_DEFAULT,
			     .fail_above = SHARE_UNSET };
	const struct opt table[] = {
		CMD_OPTIONS(&w.common),
		OPTION("job", 0, "NAME", "of this job", OPT_STR, &w.job),
		OPTION_RANGE("for", 'f', "TIME", "look for this long at most (default 30s)",
			     OPT_NSEC, &w.for_ns, BLOCK_LEAST_NS, 7 * 86400 * NSEC_PER_SEC),
		OPTION_RANGE("every", 'e', "TIME", "length of a block (default 1s)", OPT_NSEC,
			     &w.every_ns, BLOCK_LEAST_NS, 3600 * NSEC_PER_SEC),
		OPTION("watch", 'w', NULL,
		       "go on until ^C or the end of the job, and show each change", OPT_FLAG,
		       &w.watch),
		OPTION_CALL("threshold", 0, "PCT", "smaller losses do not matter (default 2%)",
			    &w.threshold, share_option),
		OPTION_CALL("fail-above", 0, "PCT", "exit status 1 if a finding is above",
			    &w.fail_above, share_option),
		OPTION("all", 'a', NULL, "also each hypothesis with its state", OPT_FLAG, &w.all),
		OPTION_RANGE("explain", 0, "N", "finding N with the figures of the last blocks",
			     OPT_I64, &w.explain, 1, WHY_FINDINGS_MAX),
		{ 0 },
	};
	const struct opt_spec spec = {
		.program = "omig why",
		.usage = "[OPTION...]",
		.summary = "finds where a job loses time, which rank or host is late, and why",
		.details = details,
		.table = table,
	};
	int exit_status = cmd_parse(&spec, argc, argv, NULL);

	if (exit_status >= 0)
		return exit_status;
	if (w.threshold < WHY_THRESHOLD_MIN || w.threshold > WHY_THRESHOLD_MAX)
		return cmd_usage(&spec, "--threshold: from %g%% to %g%%", WHY_THRESHOLD_MIN * 100,
				 WHY_THRESHOLD_MAX * 100);
	if (w.watch && w.explain)
		return cmd_usage(&spec, "--watch or --explain");
	if (!w.for_ns && !w.watch)
		w.for_ns = FOR_NS;
	term_open(&w.term, w.common.color);
	return jobs_serve(&w.common, &w.job, run_search, &w);
}
