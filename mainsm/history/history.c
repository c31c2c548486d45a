/* SPDX-License-Identifier: Apache-2.0 */
#include "mainsm/history/history.h"

#include "common/base/log.h"
#include "common/base/str.h"
#include "common/loop/loop.h"
#include "common/omis/services/check.h"
#include "common/omis/text/value.h"
#include "mainsm/directory/numbers.h"
#include "mainsm/history/live.h"
#include "mainsm/tool/session.h"
#include "tree/executor.h"

#include <stdlib.h>

/* Deadline of a sample's request: hosts without an answer are missing in the sample. */
#define ANSWER_NS (3 * NSEC_PER_SEC)
#define NAMES_MAX_BYTES (OMIS_REQUEST_MAX_BYTES / 2)

struct history {
	struct history_conf conf;
	struct live live;
	struct history_store *store;
	struct session *self; /* owned: an observing tool */
	struct list runs; /* the request that is under way */
	bool is_asking, is_closing;
	struct loop_timer *timer; /* owned */
	nsec_t next; /* loop time of the next sample */
	nsec_t armed; /* loop time that the timer is armed for */
};

static nsec_t wall(const struct history *h)
{
	return h->conf.store.wall_now(h->conf.store.arg);
}

static nsec_t now(const struct history *h)
{
	return loop_now(h->conf.store.loop);
}

/* --- a sample */

/* each: this many ranks have a sample every HISTORY_SAMPLE_NS. */
static nsec_t period(const struct live_job *j, int64_t each)
{
	return HISTORY_SAMPLE_NS * ((j->ranks + each - 1) / each);
}

/* Samples are taken a little earlier or later than requested. */
static bool is_due(const struct history *h, nsec_t next)
{
	return now(h) + HISTORY_SAMPLE_NS / 2 >= next;
}

/* Returns the time since the last sample of the ranks, or since a known begin of the job. */
static int64_t ranks_span_ms(const struct live_job *j, nsec_t at)
{
	nsec_t from = j->ranks_at ? j->ranks_at : j->began >= j->live->started ? j->began : 0;

	return from && at > from ? (at - from) / NSEC_PER_MSEC : 0;
}

static void write_ranks(struct history *h, struct live_job *j, nsec_t at)
{
	size_t n = live_order_ranks(j);
	struct history_ranks ranks;

	for (size_t i = 0; i < n; i += HISTORY_RANKS_EACH_MAX) {
		if (live_ranks(j, h->conf.directory, i, &ranks))
			return;
		ranks.wall = at;
		ranks.span_ms = ranks_span_ms(j, at);
		history_store_ranks(h->store, &ranks);
		free((void *)ranks.rank);
		free((void *)ranks.nodes);
	}
	if (!n)
		return;
	j->ranks_at = at;
	j->ranks_next = now(h) + period(j, HISTORY_RANKS_EACH);
}

/* Writes a sample of a job. The first and the last one are written to disk at once. */
static void write_job(struct history *h, struct live_job *j, nsec_t at)
{
	bool is_edge = !j->sampled_at || !j->alive;
	struct history_job sample;

	live_sample(j, at, &sample);
	history_store_job(h->store, &sample);
	if (j->wants_ranks)
		write_ranks(h, j, at);
	live_next(j);
	j->next = now(h) + period(j, HISTORY_JOB_EACH);
	if (is_edge)
		history_store_cut(h->store);
}

static void write_all(struct history *h)
{
	nsec_t at = wall(h);

	for (struct smap_iter i = { 0 }; smap_next(&h->live.jobs, &i);) {
		struct live_job *j = i.value;

		if (!j->is_done && (!j->alive || is_due(h, j->next)))
			write_job(h, j, at);
	}
}

static void arm(struct history *h, nsec_t at)
{
	h->armed = at;
	loop_timer_arm_at(h->timer, at);
}

static void on_done(void *arg, struct reply *r)
{
	struct history *h = arg;

	h->is_asking = false;
	if (h->is_closing)
		return;
	if (r)
		live_add(&h->live, r, wall(h));
	write_all(h);
	reply_free(r);
	if (live_scan(&h->live, h->conf.directory))
		arm(h, now(h) + HISTORY_SOON_NS); /* a job has begun or ended meanwhile */
	else if (live_has_work(&h->live))
		arm(h, h->next);
}

/* --- asking */

/* Sends the request to hosts with jobs only. */
static int attach_hosts(struct history *h)
{
	int got = 0;

	list_each (i, directory_sites(h->conf.directory))
		list_each (k, &list_entry(i, struct object, sibling)->children) {
			const struct object *node = list_entry(k, struct object, sibling);

			if (list_is_empty(&node->children))
				scope_detach(h->self->scope, node);
			else if (got >= 0)
				got = scope_attach(h->self->scope, node);
		}
	return got < 0 ? got : 0;
}

/* Writes jobs whose ranks are due, or which have ended. */
static void name_jobs(struct history *h, struct omis_writer *w)
{
	omis_write_list(w);
	for (struct smap_iter i = { 0 }; smap_next(&h->live.jobs, &i);) {
		struct live_job *j = i.value;

		live_ask(j);
		j->wants_ranks = !j->is_done && w->b->n < NAMES_MAX_BYTES &&
				 (!j->alive || (is_due(h, j->next) && is_due(h, j->ranks_next)));
		if (j->wants_ranks)
			omis_write_string(w, j->name);
	}
	omis_write_list_end(w);
}

static int make_request(struct history *h, struct omis_request **out)
{
	struct buf b = BUF_INIT(OMIS_REQUEST_MAX_BYTES);
	struct omis_writer w = OMIS_WRITER(&b);
	struct omis_diag diag;
	int rc;

	buf_puts(&b, ":omig_job_sample([],");
	name_jobs(h, &w);
	buf_putc(&b, ')');
	rc = b.failed ? -ERR_LIMIT : omis_parse(buf_str(&b), b.n, out, NULL);
	buf_done(&b);
	return rc || !omis_check(*out, &diag) ? rc : -ERR_INTERNAL;
}

static void ask(struct history *h)
{
	struct session *s = h->self;
	struct omis_request *request = NULL;
	struct run_spec spec = { .view = tool_view_now(&s->view),
				 .user = s,
				 .top = true,
				 .identity = s->identity,
				 .tool = s->number,
				 .right = s->right,
				 .deadline = ANSWER_NS,
				 .owner = &h->runs,
				 .on_done = on_done,
				 .arg = h };
	int rc = attach_hosts(h);

	h->is_asking = true;
	if (!rc)
		rc = make_request(h, &request);
	if (!rc)
		rc = executor_run(h->conf.executor, &request, &spec, NULL);
	omis_request_free(request);
	if (rc) {
		log_warn("history", "no request is sent to hosts: %s", err_name(rc));
		on_done(h, NULL);
	}
}

static void on_timer(void *arg)
{
	struct history *h = arg;
	bool has_due = live_scan(&h->live, h->conf.directory);

	if (h->is_asking || !live_has_work(&h->live) || !h->conf.store.keep)
		return;
	if (!has_due && now(h) < h->next) {
		arm(h, h->next);
		return;
	}
	h->next = now(h) + HISTORY_SAMPLE_NS;
	ask(h);
}

void history_follow(struct history *h)
{
	nsec_t soon;

	if (!h || !h->conf.store.keep)
		return;
	soon = now(h) + HISTORY_SOON_NS;
	if (!loop_timer_is_armed(h->timer) || h->armed > soon)
		arm(h, soon);
}

/* --- life */

struct history_store *history_store(struct history *h)
{
	return h ? h->store : NULL;
}

void history_limit(struct history *h, uint64_t max_bytes, nsec_t keep)
{
	if (!h)
		return;
	h->conf.store.keep = keep;
	history_store_limit(h->store, max_bytes, keep);
	history_follow(h);
}

void history_status(struct history *h, struct omis_writer *w)
{
	struct history_store_stats s;

	if (!h)
		return;
	history_store_stats(h->store, &s);
	omis_write_pair(w, "history_samples", (int64_t)s.samples);
	omis_write_pair(w, "history_lost", (int64_t)(s.lost + h->live.refused));
	omis_write_pair(w, "history_bytes", (int64_t)s.bytes);
	omis_write_pair(w, "history_damaged_bytes", (int64_t)s.damaged);
	omis_write_pair(w, "history_failing", s.is_failing);
}

static int make_session(struct history *h, struct err *e)
{
	struct identity id = { .role = ROLE_TOOL_OBSERVE };

	str_copy(id.owner, sizeof(id.owner), "mainsm");
	str_copy(id.host, sizeof(id.host), "history");
	h->self = session_new((uint32_t)numbers_mint(h->conf.numbers, NUMBER_TOOL), NULL, &id,
			      h->conf.directory, h->conf.branches);
	if (!h->self)
		return err_nomem(e);
	list_push_back(h->conf.sessions, &h->self->in_sessions);
	return 0;
}

int history_open(const struct history_conf *c, struct history **out, struct err *e)
{
	struct history *h = calloc(1, sizeof(*h));
	int rc;

	if (!h)
		return err_nomem(e);
	h->conf = *c;
	list_init(&h->runs);
	live_init(&h->live, wall(h));
	h->timer = loop_timer_new(c->store.loop, on_timer, h);
	rc = h->timer ? make_session(h, e) : err_nomem(e);
	if (!rc)
		rc = history_store_open(&c->store, &h->store, e);
	if (rc) {
		history_close(h);
		return rc;
	}
	*out = h;
	return 0;
}

void history_close(struct history *h)
{
	if (!h)
		return;
	h->is_closing = true;
	loop_timer_free(h->timer);
	if (h->self)
		executor_cancel(h->conf.executor, &h->runs);
	session_free(h->self);
	history_store_close(h->store);
	live_done(&h->live);
	free(h);
}
