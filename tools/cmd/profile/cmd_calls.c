/* SPDX-License-Identifier: Apache-2.0 */
/* omig calls: the profile of a job by call, rank, node, partner, call site or size. */
#include "common/base/str.h"
#include "tools/cmd/cmd.h"
#include "tools/profile/profile.h"
#include "tools/session/session.h"
#include "tools/session/show.h"
#include "tools/session/waiting.h"
#include "tools/term/moment.h"
#include "tools/term/signals.h"
#include "tools/view/jobs.h"
#include "tools/view/past.h"

#include <stdio.h>

/* the longest wait that a user accepts; one step takes less */
#define FOR_DEFAULT_NS (5 * NSEC_PER_SEC)

struct calls {
	struct cmd_common common;
	struct term term;
	const char *job; /* NULL: the only one */
	char chosen[JOB_NAME_BYTES];
	enum profile_by by;
	enum profile_sort sort;
	int64_t every_ns, for_ns, count, rows; /* 0: not given */
	struct profile_past past; /* from 0: the past is not requested */
	bool total, csv, has_head, sites;
	int64_t depth; /* of call sites */
	int status;
};

/* --- showing */

static void put_json(struct calls *c, const struct profile *p, Omis_reply r, struct buf *out)
{
	struct json j;

	json_init(&j, out);
	json_object(&j);
	json_key_str(&j, "job", c->job);
	profile_to_json(&j, p);
	show_coverage_json(&j, r);
	json_object_end(&j);
	if (!show_json_next(&j, out))
		c->status = CMD_FAILURE;
	buf_clear(out);
}

static int put_text(struct calls *c, const struct profile *p, struct buf *out)
{
	bool is_live = c->every_ns && c->term.is_tty;
	size_t rows = c->rows ? (size_t)c->rows : 0;
	int rc;

	if (is_live && !rows && c->term.rows > 5)
		rows = c->term.rows - 5;
	if (is_live)
		buf_puts(out, "\033[H\033[J");
	else if (c->has_head)
		buf_putc(out, '\n');
	rc = profile_show(&c->term, p, c->job, rows, out);
	c->has_head = true;
	return rc;
}

static void show(struct calls *c, struct profile *p, Omis_reply r)
{
	struct buf out = BUF_INIT(SHOW_MAX_BYTES);
	int rc = 0;

	profile_sort(p, c->sort);
	if (c->by == PROFILE_SITE)
		profile_ask_places(p, (size_t)c->rows);
	if (c->common.json) {
		put_json(c, p, r, &out);
	} else if (c->csv) {
		if (!c->has_head)
			profile_csv_head(c->by, &out);
		c->has_head = true;
		profile_to_csv(p, &out);
	} else {
		rc = put_text(c, p, &out);
	}
	if (rc || out.failed)
		c->status = cmd_fail(CMD_FAILURE, "no memory");
	fwrite(out.p, 1, out.n, stdout);
	if (fflush(stdout) != 0)
		c->status = CMD_FAILURE; /* the reader of the pipe has closed it */
	if (!c->common.json)
		show_missing(&c->term, stderr, r);
	buf_done(&out);
	if (c->status == CMD_OK)
		c->status = session_exit_status(r);
}

/* --- measuring */

/* False: the connection is lost, which is reported. */
static bool wait_until(struct calls *c, nsec_t end)
{
	waiting_until("measuring", c->every_ns ? "ends it" : "shows the results so far", end,
		      c->common.json || c->csv);
	if (session_link() != SESSION_UP)
		c->status = cmd_fail(CMD_UNREACHABLE, "the connection to mainsm is lost");
	return c->status == CMD_OK;
}

/*
 * True if the counts do not cover a running rank: counting is off by now, or has not begun. The
 * time of an open call then is unknown until the call ends.
 */
static bool is_unmeasured(const struct profile *p)
{
	size_t running = p->ranks - p->ended;

	if (p->by == PROFILE_PARTNER && running && !p->has_partners && !p->n)
		return true;
	if (p->by == PROFILE_SITE && running && !p->has_sites && !p->n)
		return true;
	if (p->by == PROFILE_SIZE && running && !p->has_bytes && !p->n)
		return true;
	return running && (!p->is_timed || p->untimed >= running);
}

/* True if hosts have replied without any rank: that is not an empty profile. */
static bool has_no_mpi(const struct profile *p)
{
	return p->nodes && !p->ranks && !p->unread;
}

static bool ask(struct calls *c, enum profile_window window, struct profile *p, Omis_reply *r)
{
	c->status = profile_ask(p, c->by, window, r);
	if (c->status == CMD_OK && has_no_mpi(p)) {
		omis_reply_free(*r);
		c->status = cmd_fail(CMD_NOTFOUND,
				     "job %s has no rank: none of its processes has called "
				     "MPI_Init",
				     c->job);
	}
	if (c->status == CMD_OK)
		return true;
	profile_done(p);
	return false;
}

static bool show_now(struct calls *c, enum profile_window window)
{
	struct profile p;
	Omis_reply r;

	if (!ask(c, window, &p, &r))
		return false;
	show(c, &p, r);
	profile_done(&p);
	omis_reply_free(r);
	return c->status == CMD_OK || c->status == CMD_PARTIAL;
}

/* Sets the marks that the next values count from. */
static bool begin(struct calls *c)
{
	struct profile p;
	Omis_reply r;

	c->status = profile_enable(c->by, (int)c->depth);
	if (c->status != CMD_OK || !ask(c, PROFILE_ALL_AND_MARK, &p, &r))
		return false;
	profile_done(&p);
	omis_reply_free(r);
	return true;
}

static void measure_once(struct calls *c, int64_t ns)
{
	if (!begin(c))
		return;
	if (wait_until(c, clock_mono() + ns))
		show_now(c, PROFILE_SINCE_MARK);
}

/* Processes that start later are attached and counted from the next interval. */
static void measure_live(struct calls *c)
{
	nsec_t next = clock_mono();
	int64_t shown = 0;

	if (!begin(c))
		return;
	while (!signals_last && (!c->count || shown < c->count)) {
		next += c->every_ns;
		if (!wait_until(c, next) || signals_last || !show_now(c, PROFILE_SINCE_MARK))
			break;
		shown++;
		c->status = session_attach(c->job);
		if (c->status == CMD_OK)
			c->status = profile_enable(c->by, (int)c->depth);
		if (c->status != CMD_OK)
			break;
	}
}

/* Shows what is already counted, else counts for the next seconds. */
static void measure(struct calls *c)
{
	struct profile p;
	Omis_reply r;

	if (c->every_ns) {
		measure_live(c);
		return;
	}
	if (c->for_ns) {
		measure_once(c, c->for_ns);
		return;
	}
	if (!ask(c, PROFILE_ALL, &p, &r))
		return;
	if (!c->total && is_unmeasured(&p))
		measure_once(c, FOR_DEFAULT_NS);
	else
		show(c, &p, r);
	profile_done(&p);
	omis_reply_free(r);
}

/* Shows a profile of the past, from the history. */
static int run_past(struct calls *c)
{
	int rc = c->job ? CMD_OK : past_choose(c->chosen, c->past.from, c->past.to);
	struct profile p;
	Omis_reply r;

	if (!c->job)
		c->job = c->chosen;
	if (rc == CMD_OK)
		rc = profile_ask_past(&p, c->job, &c->past, &r);
	if (rc == CMD_OK) {
		show(c, &p, r);
		profile_done(&p);
		omis_reply_free(r);
		rc = c->status;
	}
	session_close();
	return rc;
}

static int run(struct calls *c)
{
	int rc = session_open_job(&c->common, &c->job);

	if (rc != CMD_OK)
		return rc;
	if (c->past.from)
		return run_past(c);
	if (!c->job) {
		rc = jobs_choose(c->chosen);
		c->job = c->chosen;
	}
	if (rc == CMD_OK)
		rc = session_attach(c->job);
	if (rc == CMD_OK) {
		/* the first signal ends the wait; the result so far is shown */
		signals_catch(true);
		measure(c);
		rc = c->status;
	}
	session_close();
	return signals_status(rc);
}

/* --- the command line */

static const char *contradicts_past(const struct calls *c)
{
	if (!c->past.from)
		return "--to needs --from";
	if (c->past.to && c->past.to <= c->past.from)
		return "--to is not after --from";
	if (!c->past.to && c->past.from > clock_wall() - NSEC_PER_SEC)
		return "--from is now: nothing was since then";
	if (c->by != PROFILE_CALL)
		return "the history has sums by call only: no --by";
	if (c->for_ns || c->every_ns || c->total)
		return "--from is of the past: no --for, --every or --total";
	return NULL;
}

static const char *contradiction(const struct calls *c)
{
	if (c->past.from || c->past.to)
		return contradicts_past(c);
	if (c->csv && c->common.json)
		return "--csv or --json";
	if (c->total && (c->for_ns || c->every_ns))
		return "--total counts from the beginning, --for and --every from now on";
	if (c->for_ns && c->every_ns)
		return "--for or --every";
	if (c->count && !c->every_ns)
		return "--count is of intervals: give --every too";
	return NULL;
}

static const char details[] =
	"Values count since counting began. If no running rank is counted, counting is switched on for\n"
	"5s, or for --for. % MPI is of the time in all MPI calls, % WALL of the time for which ranks\n"
	"were measured, of all threads of a rank together. MOST is of the rank with most time in the\n"
	"call, MIN and MAX of one call. They are - when an earlier call hides them: with --for and\n"
	"--every, if no call since then was shorter, or longer. SENT and RECEIVED are bytes. SIZE is\n"
	"the larger of both in one call, by powers of two; calls that move no bytes are not in it.\n"
	"Callers (--depth) are found by frame pointers: compile with -fno-omit-frame-pointer, and with\n"
	"-g for lines. Values of ended ranks stay for 10 minutes. Exit status 6 when a node does not\n"
	"answer.";

int cmd_calls(int argc, char **argv)
{
	struct calls c = { .common = CMD_COMMON_INIT, .depth = 1 };
	const struct opt table[] = {
		CMD_OPTIONS(&c.common),
		OPTION("job", 0, "NAME", "of this job; needed where several run", OPT_STR, &c.job),
		OPTION("by", 'b', "call|rank|node|partner|site|size",
		       "what a row is (default call)", OPT_CHOICE, &c.by),
		OPTION("callsites", 'c', NULL, "the same as --by site", OPT_FLAG, &c.sites),
		OPTION_RANGE("depth", 'd', "N", "callers that distinguish sites, 1 (default) to 4",
			     OPT_I64, &c.depth, 1, PROFILE_FRAMES),
		OPTION("sort", 's', "time|calls|bytes|mean|name",
		       "order of the rows (default time)", OPT_CHOICE, &c.sort),
		OPTION_RANGE("rows", 'r', "N", "show only the first N rows", OPT_I64, &c.rows, 1,
			     INT64_MAX),
		OPTION_RANGE("for", 'f', "TIME", "measure for this time from now on", OPT_NSEC,
			     &c.for_ns, 10 * NSEC_PER_MSEC, 86400 * NSEC_PER_SEC),
		OPTION_RANGE("every", 'e', "TIME", "show each interval of this time", OPT_NSEC,
			     &c.every_ns, 10 * NSEC_PER_MSEC, 3600 * NSEC_PER_SEC),
		OPTION_RANGE("count", 'n', "N", "end after N intervals", OPT_I64, &c.count, 1,
			     INT64_MAX),
		OPTION_CALL("from", 0, "TIME", "values from then on, of the history: " MOMENT_HELP,
			    &c.past.from, moment_option),
		OPTION_CALL("to", 0, "TIME", "... until then (default now)", &c.past.to,
			    moment_option),
		OPTION("total", 0, NULL, "since counting began, also where nothing was counted",
		       OPT_FLAG, &c.total),
		OPTION("csv", 0, NULL, "write CSV", OPT_FLAG, &c.csv),
		{ 0 },
	};
	const struct opt_spec spec = {
		.program = "omig calls",
		.usage = "[OPTION...]",
		.summary = "shows which MPI calls take the time, and on which ranks",
		.details = details,
		.table = table,
	};
	int status = cmd_parse(&spec, argc, argv, NULL);
	const char *wrong;

	if (status >= 0)
		return status;
	if (c.sites)
		c.by = PROFILE_SITE;
	wrong = contradiction(&c);
	if (wrong)
		return cmd_usage(&spec, "%s", wrong);
	term_open(&c.term, c.common.color);
	return run(&c);
}
