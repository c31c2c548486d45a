/* SPDX-License-Identifier: Apache-2.0 */
/* omig top: ranks and nodes, live. */
#include "common/base/str.h"
#include "tools/cmd/cmd.h"
#include "tools/session/session.h"
#include "tools/session/waiting.h"
#include "tools/term/moment.h"
#include "tools/term/signals.h"
#include "tools/view/past.h"
#include "tools/view/top_rank.h"
#include "tools/view/top_screen.h"
#include "tools/view/top_show.h"
#include "tools/view/top_words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TRY_NS (100 * NSEC_PER_MSEC) /* interval of attempts to find the next mainsm */
#define REQUEST_MS 1000 /* a silent node must not freeze the screen */

struct top {
	struct cmd_common common;
	struct term term;
	int64_t every_ns, count; /* count 0 = until stopped */
	const char *job; /* NULL: all */
	struct top_screen screen;
	nsec_t at; /* wall time of the past; 0: now */
	double past_span_s; /* the interval of its rates */
	bool once, total, all;
	struct session_gap gap;
	struct top_sample now, before;
};

/* --- showing */

static void put_title(const struct top *t, struct buf *out)
{
	const struct top_screen *p = &t->screen;

	top_show_title(&t->term,
		       &(struct top_title){ .wall = t->now.wall,
					    .every_s = (double)t->every_ns / 1e9,
					    .sort = top_sort_names[p->sort],
					    .is_paused = p->is_paused,
					    .job = p->job,
					    .filter = p->filter },
		       out);
}

static struct top_look look_of(const struct top *t)
{
	return (struct top_look){ .is_total = t->total,
				  .rows = t->term.is_raw ? top_rows(&t->term) : 0,
				  .whole = &t->now,
				  .first = t->screen.first,
				  .row = t->screen.row };
}

static void put_list(struct top *t, struct buf *out)
{
	struct top_sample view;
	struct top_look look;

	if (!top_screen_view(&t->screen, &t->now, &view))
		return;
	look = look_of(t);
	top_show(&t->term, &view, &look, out);
	free(view.rank);
}

static void put_page(struct top *t, struct buf *out)
{
	size_t rows = t->term.is_raw ? top_rows(&t->term) : 0;

	switch (t->screen.page) {
	case TOP_PAGE_HELP:
		buf_puts(out, top_help);
		break;
	case TOP_PAGE_RANK:
		top_rank_show(&t->term, &t->now, t->screen.token, rows, out);
		buf_puts(out, "\nEsc goes back to all ranks\n");
		break;
	case TOP_PAGE_LIST:
		put_list(t, out);
		break;
	}
	if (t->screen.is_editing)
		buf_printf(out, "filter: %s_", t->screen.edit);
}

static void show(struct top *t)
{
	struct buf out = BUF_INIT(64 << 20);

	if (!t->all && !t->total)
		top_drop_ended(&t->now);
	top_mark_slow(&t->now);
	if (t->common.json) {
		t->screen.is_over = !top_show_json(&t->now);
		return;
	}
	top_sort(&t->now, t->screen.sort);
	if (t->term.is_raw)
		buf_puts(&out, "\033[H\033[J");
	put_title(t, &out);
	put_page(t, &out);
	if (!t->term.is_raw)
		buf_putc(&out, '\n');
	fwrite(out.p, 1, out.n, stdout);
	if (fflush(stdout) != 0)
		t->screen.is_over = true; /* the reader of the pipe has closed it */
	buf_done(&out);
}

static void on_key(struct top *t, int key)
{
	struct top_look look = look_of(t);
	struct top_sample view;
	bool is_changed;

	if (!top_screen_view(&t->screen, &t->now, &view))
		return;
	is_changed = top_screen_key(&t->screen, key, &view, &t->now,
				    top_rank_rows(&t->term, &view, &look));
	free(view.rank);
	if (is_changed)
		show(t);
}

/* Until the next sample is due; keys, resizing and the connection are served meanwhile. */
static void wait_until(struct top *t, nsec_t until)
{
	struct waiting waiting;
	int key;

	waiting_begin(&waiting, "sampling", "ends it", until, t->term.is_raw || t->common.json);
	while (!t->screen.is_over && !signals_last &&
	       (t->screen.is_paused || clock_mono() < until)) {
		waiting_show(&waiting);
		session_turn(t->screen.is_paused ? NSEC_PER_SEC : until - clock_mono(),
			     t->term.is_raw);
		while ((key = term_key(&t->term)) >= 0)
			on_key(t, key);
		if (signals_resize) {
			signals_resize = 0;
			term_measure(&t->term);
			show(t);
		}
	}
	waiting_end(&waiting);
}

/* --- sampling */

static int next_sample(struct top *t)
{
	top_sample_done(&t->before);
	t->before = t->now;
	top_index(&t->before);
	memset(&t->now, 0, sizeof(t->now));
	return top_sample_take(&t->now, t->before.reply ? &t->before : NULL, t->job);
}

/* Rates require a sample after the gap, and counting must be switched on again. */
static int sample_again(void *arg)
{
	struct top *t = arg;

	top_sample_done(&t->before);
	top_sample_done(&t->now);
	return next_sample(t);
}

/*
 * Takes the next sample. When mainsm is lost, waits for the next mainsm until a signal arrives.
 * mainsm may be back before the request and would answer it.
 */
static int sample(struct top *t)
{
	int rc = session_link() == SESSION_UP ? next_sample(t) : CMD_OK;

	if (session_link() == SESSION_UP)
		return rc;
	while ((rc = session_bridge(&t->gap)) == CMD_OK && t->gap.since && !t->screen.is_over &&
	       !signals_last)
		wait_until(t, clock_mono() + TRY_NS);
	return rc;
}

static int watch(struct top *t)
{
	nsec_t next = clock_mono();
	int64_t shown = 0;
	int rc = next_sample(t); /* rates need two */

	t->gap.again = sample_again;
	t->gap.arg = t;
	if (rc == CMD_OK)
		rc = session_bridge(&t->gap);

	if (t->term.is_raw && rc == CMD_OK)
		show(t);
	while (rc == CMD_OK && !t->screen.is_over && !signals_last &&
	       (t->count == 0 || shown < t->count)) {
		next += t->every_ns;
		if (next < clock_mono())
			next = clock_mono();
		wait_until(t, next);
		if (t->screen.is_over || signals_last)
			break;
		rc = sample(t);
		if (rc == CMD_OK && !t->gap.since)
			show(t);
		shown++;
	}
	return rc;
}

/* Shows one sample of the past. */
static int show_past(struct top *t)
{
	int rc = past_ask_ranks(&t->now, t->job, t->at, &t->past_span_s);

	t->all = true;
	t->every_ns = t->past_span_s > 0 ? (int64_t)(t->past_span_s * 1e9) : 0;
	if (rc == CMD_OK)
		show(t);
	top_sample_done(&t->now);
	session_close();
	return rc;
}

static int run(struct top *t)
{
	int rc = session_open_job(&t->common, &t->job);

	if (rc != CMD_OK)
		return rc;
	if (t->at)
		return show_past(t);
	omis_request_policy(OMIS_WAIT_ALL, 0, REQUEST_MS);
	signals_catch(false);
	if (!t->common.json && t->count == 0)
		term_raw(&t->term);
	rc = watch(t);
	term_restore();
	top_sample_stop();
	top_sample_done(&t->now);
	top_sample_done(&t->before);
	session_close();
	return signals_status(rc);
}

int cmd_top(int argc, char **argv)
{
	struct top t = { .common = CMD_COMMON_INIT,
			 .every_ns = NSEC_PER_SEC,
			 .gap = { .limit_ns = SESSION_GAP_LIMIT_NS } };
	const struct opt table[] = {
		CMD_OPTIONS(&t.common),
		OPTION_RANGE("every", 'e', "TIME", "between two samples (default 1s)", OPT_NSEC,
			     &t.every_ns, 10 * NSEC_PER_MSEC, 3600 * NSEC_PER_SEC),
		OPTION_RANGE("count", 'n', "N", "end after N samples", OPT_I64, &t.count, 1,
			     INT64_MAX),
		OPTION("once", '1', NULL, "the same as --count=1", OPT_FLAG, &t.once),
		OPTION("sort", 's', "rank|mpi|for|calls|bytes|cpu|rss", "order of the ranks",
		       OPT_CHOICE, &t.screen.sort),
		OPTION("total", 0, NULL,
		       "totals since counting began, not rates; also of ranks that have ended",
		       OPT_FLAG, &t.total),
		OPTION("job", 0, "JOB", "ranks of this job only", OPT_STR, &t.job),
		OPTION_RANGE(
			"reconnect-for", 0, "TIME",
			"wait this long for a mainsm that is lost, and continue (default 1m; 0: end)",
			OPT_NSEC, &t.gap.limit_ns, 0, SESSION_GAP_MAX_NS),
		OPTION_CALL("at", 0, "TIME", "as it was then, from the history: " MOMENT_HELP,
			    &t.at, moment_option),
		OPTION("all", 'a', NULL, "also ranks that have ended", OPT_FLAG, &t.all),
		{ 0 },
	};
	const struct opt_spec spec = {
		.program = "omig top",
		.usage = "[OPTION...]",
		.summary =
			"shows ranks and nodes live: time in MPI by class of call, calls, bytes, CPU, memory",
		.details =
			"The first lines report problems: ranks that hang, a rank that the others wait for, a\n"
			"host without room. On a terminal ? shows the keys: scroll, sort, filter, one rank alone.\n"
			"Elsewhere it writes one block of lines a sample, with --json one object a line. Counting\n"
			"is on while it runs.",
		.table = table,
	};
	int status = cmd_parse(&spec, argc, argv, NULL);

	if (status >= 0)
		return status;
	term_open(&t.term, t.common.color);
	if (t.at && (t.count || t.once || t.total))
		return cmd_usage(&spec, "--at shows one moment: no --count, --once or --total");
	if (t.once)
		t.count = 1;
	return run(&t);
}
