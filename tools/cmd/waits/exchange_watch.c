/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/cmd/waits/exchange_watch.h"

#include "common/base/str.h"
#include "tools/session/session.h"
#include "tools/session/waiting.h"
#include "tools/term/signals.h"
#include "tools/view/jobs.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* --- intervals */

struct watching {
	struct exchange_watch *w;
	struct top_sample ranks;
};

static int read_now(struct watching *g, struct exchange *x, Omis_reply *reply)
{
	int rc = session_ask(reply, ":omig_calls_read([],%d)", EXCHANGE_FLAGS);

	if (rc == CMD_OK &&
	    !exchange_read(x, &g->ranks, g->w->job, (*reply)[0] ? (*reply)[1] : NULL)) {
		omis_reply_free(*reply);
		rc = cmd_fail(CMD_FAILURE, "out of memory");
	}
	return rc;
}

static void wait_for_interval(const struct exchange_watch *w)
{
	waiting_until("counting", w->count == 1 ? "shows the results so far" : "ends it",
		      clock_mono() + w->every_ns, w->common.json || w->is_quiet);
}

/* Replaces *before by the current state. */
static int one_interval(struct watching *g, struct exchange *before, bool *is_over)
{
	struct exchange now, x;
	Omis_reply reply;
	int rc;

	wait_for_interval(g->w);
	rc = read_now(g, &now, &reply);
	if (rc != CMD_OK)
		return rc;
	*is_over = !exchange_has_moved(before, &now);
	if (!exchange_difference(&x, before, &now))
		rc = cmd_fail(CMD_FAILURE, "out of memory");
	else if (*is_over)
		fprintf(stderr, "omig: the job has ended\n");
	if (rc == CMD_OK && !*is_over)
		rc = g->w->show(g->w->arg, &x, reply);
	exchange_done(&x);
	if (rc == CMD_OK)
		rc = session_exit_status(reply);
	omis_reply_free(reply);
	exchange_done(before);
	*before = now;
	return rc;
}

static int all_intervals(struct watching *g)
{
	struct exchange before;
	Omis_reply reply;
	bool is_over = false;
	int64_t n = 0;
	int rc = read_now(g, &before, &reply);

	if (rc != CMD_OK)
		return rc;
	omis_reply_free(reply);
	while ((rc == CMD_OK || rc == CMD_PARTIAL) && !is_over && !signals_last &&
	       (!g->w->count || n++ < g->w->count))
		rc = one_interval(g, &before, &is_over);
	exchange_done(&before);
	if (rc == CMD_OK && is_over && n <= 1)
		return cmd_fail(CMD_NOTFOUND, "the job ended before an interval did");
	return rc;
}

static bool has_ranks(const struct top_sample *s)
{
	for (size_t i = 0; i < s->nrank; i++)
		if (s->rank[i].rank >= 0)
			return true;
	return false;
}

static int watch(void *arg)
{
	struct exchange_watch *w = arg;
	struct watching g = { .w = w };
	int rc = top_sample_read(&g.ranks, w->job);

	if (rc == CMD_OK && !has_ranks(&g.ranks))
		rc = cmd_fail(CMD_NOTFOUND,
			      "no process of the job is a rank: it is not of MPI, or has not begun "
			      "with it");
	if (rc == CMD_OK)
		rc = top_sample_enable(&g.ranks, NULL, "partner");
	if (rc == CMD_OK) {
		top_index(&g.ranks);
		rc = all_intervals(&g);
		top_sample_stop();
	}
	top_sample_done(&g.ranks);
	return rc;
}

int exchange_watch_run(struct exchange_watch *w)
{
	return jobs_serve(&w->common, &w->job, watch, w);
}
