/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/why/gather.h"

#include "common/base/limits.h"
#include "common/base/str.h"
#include "tools/session/session.h"

#include <string.h>

/* --- one moment */

static int ask(const struct gather *g, Omis_reply *reply)
{
	struct buf request = BUF_INIT(OMIS_REQUEST_MAX_BYTES);
	int rc;

	buf_printf(&request, ":omig_calls_read([],%d)", EXCHANGE_FLAGS);
	figures_ask(&g->figures, &request);
	rc = request.failed ? cmd_fail(CMD_FAILURE, "out of memory")
			    : session_ask(reply, "%s", buf_str(&request));
	buf_done(&request);
	return rc;
}

static void note_coverage(struct gather *g, Omis_reply reply)
{
	Omis_coverage c = { 0 };

	omis_reply_coverage(reply, &c);
	g->asked = (int64_t)c.asked;
	g->answered = (int64_t)c.answered;
	g->silent_blocks += c.answered < c.asked;
}

static int read_moment(struct gather *g, struct moment *out)
{
	Omis_reply reply = NULL;
	int rc = ask(g, &reply);
	bool ok;

	*out = (struct moment){ 0 };
	if (rc != CMD_OK)
		return rc;
	out->at = clock_mono() + g->wall_offset;
	ok = exchange_read(&out->calls, &g->ranks, g->job, reply[0] ? reply[1] : NULL);
	ok = ok && figures_take(&out->figures, &g->figures, reply[0] && reply[1] ? reply[2] : NULL);
	note_coverage(g, reply);
	omis_reply_free(reply);
	if (ok)
		return CMD_OK;
	moment_done(out);
	return cmd_fail(CMD_FAILURE, "out of memory");
}

/* --- ranks */

static size_t count_ranks(const struct top_sample *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->nrank; i++)
		n += s->rank[i].rank >= 0 && !top_rank_has_ended(&s->rank[i]);
	return n;
}

static void note_program(struct gather *g)
{
	for (size_t i = 0; i < g->ranks.nrank && !g->program[0]; i++)
		if (g->ranks.rank[i].rank >= 0)
			str_copy(g->program, sizeof(g->program), g->ranks.rank[i].program);
}

/* Reads the ranks, and switches counting on for all of them: a host may have begun again. */
static int read_ranks(struct gather *g)
{
	struct top_sample s;
	int rc = top_sample_read(&s, g->job);

	if (rc == CMD_OK)
		rc = top_sample_enable(&s, NULL, "partner");
	if (rc == CMD_OK) {
		top_sample_done(&g->ranks);
		g->ranks = s;
		top_index(&g->ranks);
		note_program(g);
	} else {
		top_sample_done(&s);
	}
	return rc;
}

int gather_begin(struct gather *g, const char *job)
{
	int rc;

	*g = (struct gather){ .job = job, .wall_offset = clock_wall() - clock_mono() };
	rc = read_ranks(g);
	if (rc == CMD_OK && !count_ranks(&g->ranks))
		rc = cmd_fail(CMD_NOTFOUND,
			      "no process of the job is a rank that runs: it is not of MPI, has "
			      "not begun with it, or has ended");
	if (rc == CMD_OK)
		rc = figures_begin(&g->figures);
	if (rc == CMD_OK)
		rc = read_moment(g, &g->last);
	if (rc != CMD_OK)
		gather_end(g);
	return rc;
}

/* Some ranks were not there, or not with their host, when they were read. */
static bool has_missing(const struct gather *g, const struct moment *now)
{
	return g->answered < g->asked || !now->calls.n ||
	       (int64_t)now->calls.n < now->calls.world_size;
}

int gather_next(struct gather *g, struct blocks_block *out)
{
	struct moment now;
	int rc = read_moment(g, &now);

	*out = (struct blocks_block){ 0 };
	if (rc != CMD_OK)
		return rc;
	g->is_over = g->answered >= g->asked && !exchange_has_moved(&g->last.calls, &now.calls);
	if (!g->is_over && !blocks_make(out, &g->last, &now, &g->ranks, &g->hosts))
		rc = cmd_fail(CMD_FAILURE, "out of memory");
	moment_done(&g->last);
	g->last = now;
	return rc == CMD_OK && !g->is_over && has_missing(g, &g->last) ? read_ranks(g) : rc;
}

void gather_end(struct gather *g)
{
	if (session_link() == SESSION_UP) { /* a mainsm that is lost has ended all of it */
		figures_end(&g->figures);
		top_sample_stop();
	}
	moment_done(&g->last);
	hosts_done(&g->hosts);
	top_sample_done(&g->ranks);
	*g = (struct gather){ 0 };
}
