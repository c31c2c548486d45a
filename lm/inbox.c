/* SPDX-License-Identifier: Apache-2.0 */
#include "lm/inbox.h"

#include "common/base/limits.h"
#include "common/base/map.h"
#include "common/daemon/wire.h"
#include "common/route/rights.h"
#include "lm/rights.h"

#include <stdlib.h>
#include <string.h>

/* A request under way. */
struct asked {
	struct inbox *inbox;
	uint64_t id;
	struct omis_request *request;
	struct task *task;
	bool keeps, is_over;
};

struct kept {
	uint64_t id; /* 0 = free */
	struct buf frames;
};

struct inbox {
	struct inbox_conf conf;
	struct map asked; /* id -> struct asked */
	struct kept kept[INBOX_KEPT_MAX];
	size_t next_kept;
	struct inbox_stats stats;
};

struct inbox *inbox_new(const struct inbox_conf *c)
{
	struct inbox *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->conf = *c;
	map_init(&b->asked);
	return b;
}

static void asked_free(struct asked *a)
{
	task_cancel(a->task);
	omis_request_free(a->request);
	free(a);
}

void inbox_link_lost(struct inbox *b)
{
	struct map_iter i = { 0 };

	while (map_next(&b->asked, &i))
		asked_free(i.value);
	map_done(&b->asked);
	map_init(&b->asked);
	for (size_t k = 0; k < INBOX_KEPT_MAX; k++) {
		buf_done(&b->kept[k].frames);
		b->kept[k].id = 0;
	}
	b->next_kept = 0;
}

void inbox_free(struct inbox *b)
{
	if (!b)
		return;
	inbox_link_lost(b);
	map_done(&b->asked);
	free(b);
}

static void keep(struct inbox *b, uint64_t id, const struct buf *frames)
{
	struct kept *k = &b->kept[b->next_kept++ % INBOX_KEPT_MAX];

	buf_done(&k->frames);
	buf_init(&k->frames, INBOX_KEPT_BYTES);
	k->id = buf_put(&k->frames, frames->p, frames->n) == 0 ? id : 0;
}

static const struct kept *find_kept(const struct inbox *b, uint64_t id)
{
	/* Where nobody manipulates none was ever kept, and none is looked at. */
	size_t n = b->next_kept < INBOX_KEPT_MAX ? b->next_kept : INBOX_KEPT_MAX;

	for (size_t k = 0; id && k < n; k++)
		if (b->kept[k].id == id)
			return &b->kept[k];
	return NULL;
}

static void answer(struct inbox *b, uint64_t id, struct reply *r, bool keeps)
{
	struct buf frames = BUF_INIT(REPLY_MAX_BYTES * 2);

	r->id = id;
	if (wire_put_reply(&frames, r) < 0 || b->conf.send(b->conf.arg, frames.p, frames.n) < 0)
		b->stats.unsent++;
	else if (keeps)
		keep(b, id, &frames);
	buf_done(&frames);
}

static void answer_error(struct inbox *b, uint64_t id, unsigned status, const struct err *why)
{
	struct reply *r = reply_new();

	if (r && reply_from_diag(r, status, why) == 0)
		answer(b, id, r, false);
	reply_free(r);
}

static void on_done(void *arg, struct reply *r)
{
	struct asked *a = arg;
	struct inbox *b = a->inbox;

	a->task = NULL;
	a->is_over = true;
	answer(b, a->id, r, a->keeps);
	reply_free(r);
	/* Before it was put into the table, its maker frees it. */
	if (map_del(&b->asked, a->id))
		asked_free(a);
}

static bool does_more_than_observe(const struct omis_request *r)
{
	return route_right_needed(r) > OMIS_OBSERVE;
}

static int read_request(const struct msg_request *m, struct omis_request **out, unsigned *status,
			struct err *e)
{
	struct omis_diag d;
	int rc = omis_read_inner((const char *)m->text.p, m->text.n, out, &d);

	if (rc == 0 && (*out)->event)
		rc = err_set(&d.err, ERR_INVALID, "a request with an event is armed, not executed");
	if (rc == 0 && m->naction && m->naction != (*out)->naction)
		rc = err_set(&d.err, ERR_INVALID, "%zu numbers for %zu actions", m->naction,
			     (*out)->naction);
	if (rc == 0)
		return 0;
	*status = d.status ? d.status : STATUS_SYNTAX_ERROR;
	*e = d.err;
	omis_request_free(*out);
	*out = NULL;
	return rc;
}

static nsec_t deadline_of(const struct msg_request *m)
{
	if (m->deadline_ns <= 0)
		return INBOX_DEADLINE_NS;
	return m->deadline_ns < INBOX_DEADLINE_MAX_NS ? m->deadline_ns : INBOX_DEADLINE_MAX_NS;
}

static void start(struct inbox *b, const struct msg_request *m, struct omis_request *r)
{
	struct asked *a = calloc(1, sizeof(*a));
	struct err e = { 0 };
	int rc;

	if (!a) {
		omis_request_free(r);
		return;
	}
	*a = (struct asked){
		.inbox = b, .id = m->id, .request = r, .keeps = does_more_than_observe(r)
	};
	rc = task_start(b->conf.tasks,
			&(struct task_spec){ .request = r,
					     .number = m->naction ? m->action : NULL,
					     .tool = m->tool,
					     .identity = m->identity,
					     .csr = m->csr,
					     .depth = m->depth,
					     .right = rights_least(m->identity, m->right),
					     .deadline = deadline_of(m),
					     .on_done = on_done,
					     .arg = a },
			&a->task);
	if (rc < 0) {
		err_set(&e, (enum err_code) - rc, "too much is going on here");
		answer_error(b, m->id, status_from_err(rc), &e);
	}
	if (rc < 0 || a->is_over || map_put(&b->asked, a->id, a, NULL) < 0)
		asked_free(a);
}

void inbox_request(struct inbox *b, const struct msg_request *m)
{
	const struct kept *k = find_kept(b, m->id);
	struct omis_request *r = NULL;
	struct err e = { 0 };
	unsigned status;

	b->stats.requests++;
	if (k || map_find(&b->asked, m->id)) {
		b->stats.repeated++;
		if (k)
			b->conf.send(b->conf.arg, k->frames.p, k->frames.n);
		return;
	}
	if (read_request(m, &r, &status, &e) < 0)
		answer_error(b, m->id, status, &e);
	else
		start(b, m, r);
}

void inbox_cancel(struct inbox *b, uint64_t id)
{
	struct asked *a = map_del(&b->asked, id);

	if (a)
		asked_free(a);
}

void inbox_stats(const struct inbox *b, struct inbox_stats *out)
{
	*out = b->stats;
	out->waiting = b->asked.n;
}
