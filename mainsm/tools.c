/* SPDX-License-Identifier: Apache-2.0 */
/* The tools: their requests, and the cleanup at their ends. */
#include "mainsm/mainsm_internal.h"

#include "common/base/log.h"
#include "common/omis/services/check.h"

#include <stdlib.h>

/* The share of one identity: all its sessions together have one. */
struct share {
	size_t nrun; /* requests that are executed, a large one as several */
	size_t nsession;
	struct list sessions;
};

struct tool_request {
	struct peer *peer;
	uint64_t id;
	size_t weight; /* of small requests */
	struct list runs; /* the one that executes it */
	struct list in_requests;
};

static void pause_session(struct session *s, bool pause)
{
	if (s->is_paused == pause || !s->link)
		return;
	s->is_paused = pause;
	link_pause_reading(s->link, pause);
}

static struct share *share_of(struct smap *shares, const char *principal)
{
	struct share *share = smap_find(shares, principal);

	if (share)
		return share;
	share = calloc(1, sizeof(*share));
	if (share)
		list_init(&share->sessions);
	if (share && smap_put(shares, principal, share, NULL)) {
		free(share);
		return NULL;
	}
	return share;
}

static int share_join(struct smap *shares, struct session *s)
{
	struct share *share = share_of(shares, s->principal);

	if (!share)
		return -ERR_NOMEM;
	share->nsession++;
	list_push_back(&share->sessions, &s->in_share);
	s->share = share;
	return 0;
}

/* Takes a session without requests out of its share. The last one frees the share. */
static void share_leave(struct smap *shares, struct session *s)
{
	list_del(&s->in_share);
	if (--s->share->nsession == 0)
		free(smap_del(shares, s->principal));
	s->share = NULL;
}

static void count_in(struct session *s, size_t weight)
{
	const struct share *share = s->share;

	s->nrun += weight;
	s->share->nrun += weight;
	if (share->nrun >= SESSION_RUNS_MAX &&
	    s->nrun * share->nsession >=
		    SESSION_RUNS_MAX) /* a tool with little to do is not delayed */
		pause_session(s, true);
}

static void count_out(struct session *s, size_t weight)
{
	s->nrun -= weight;
	s->share->nrun -= weight;
	if (s->share->nrun > SESSION_RUNS_MAX / 2)
		return;
	list_each (item, &s->share->sessions)
		pause_session(list_entry(item, struct session, in_share), false);
}

static void tool_request_free(struct tool_request *t)
{
	list_del(&t->in_requests);
	count_out(t->peer->session, t->weight);
	free(t);
}

/* Removes all holds, csrs and counters of the tool, whatever its role was. */
static void on_end(struct peer *p, const char *reason)
{
	struct mainsm *m = p->m;
	struct session *s = p->session;
	struct msg gone = { .type = MSG_TOOL_GONE, .tool_gone = { .tool = s->number } };

	log_info("tools", "tool %u has disconnected", s->number);
	s->link = NULL;
	for (struct list *i = list_first(&p->requests); i; i = list_first(&p->requests)) {
		struct tool_request *t = list_entry(i, struct tool_request, in_requests);

		locks_cancel(m->locks, &t->runs);
	}
	tool_csrs_drop(m->csrs, s);
	measures_drop(m->measures, s);
	subscriptions_tool_gone(m->subscriptions, s);
	branches_send_all(m->branches, &gone);
	missed_tool(&m->missed, s->number);
	p->session = NULL;
	m->nsession--;
	share_leave(&m->shares, s);
	session_free(s);
}

int mainsm_tool_up(struct peer *p, const struct identity *id, uint32_t number)
{
	struct mainsm *m = p->m;
	char text[ERR_TEXT_BYTES];

	p->session = session_new(number, p->link, id, m->directory, m->branches);
	if (!p->session || share_join(&m->shares, p->session)) {
		session_free(p->session);
		p->session = NULL;
		return -ERR_NOMEM;
	}
	p->on_end = on_end;
	list_push_back(&m->sessions, &p->session->in_sessions);
	m->nsession++;
	log_info("tools", "tool %u is %s", number, identity_describe(text, sizeof(text), id));
	return 0;
}

static void on_done(void *arg, struct reply *r)
{
	struct tool_request *t = arg;
	struct session *s = t->peer->session;

	if (r) {
		r->id = t->id;
		r->kind = 0;
		session_reply(s, r);
	} else if (s->link) {
		session_reply_error(s, t->id, STATUS_NO_MEMORY, "the request was cancelled");
	}
	reply_free(r);
	tool_request_free(t);
}

static void refuse(struct session *s, uint64_t id, unsigned status, const struct err *why)
{
	session_reply_error(s, id, status, why->text[0] ? why->text : "refused");
}

static void execute(struct peer *p, const struct msg_request *q, struct omis_request **request)
{
	struct session *s = p->session;
	struct tool_request *t = calloc(1, sizeof(*t));
	struct run_spec spec = {
		.view = tool_view_now(&s->view),
		.user = s,
		.top = true,
		.identity = s->identity,
		.tool = s->number,
		.right = s->right,
		.policy = q->policy,
		.quorum = q->quorum,
		.deadline = q->deadline_ns,
		.op_epoch = p->epoch,
		.op = p->epoch ? q->id : 0,
		.flags = q->flags & MSG_REQUEST_OUTCOME,
		.on_done = on_done,
		.arg = t,
	};
	struct err e = { 0 };
	int rc;

	if (!t) {
		session_reply_error(s, q->id, STATUS_NO_MEMORY, "no memory");
		return;
	}
	t->peer = p;
	t->id = q->id;
	t->weight = 1 + q->text.n / SESSION_RUN_UNIT_BYTES;
	list_init(&t->runs);
	list_push_back(&p->requests, &t->in_requests);
	spec.owner = &t->runs;
	count_in(s, t->weight);
	rc = locks_run(p->m->locks, request, &spec, &e);
	if (rc) {
		refuse(s, q->id, status_from_err(rc), &e);
		tool_request_free(t);
	}
}

static void define(struct peer *p, const struct msg_request *q, struct omis_request **request)
{
	struct session *s = p->session;
	struct reply *r = reply_new();
	const char *token = NULL;
	struct err e = { 0 };
	int rc = r ? tool_csr_define(p->m->csrs, s, request, q->id, &token, &e) : err_nomem(&e);

	if (rc) {
		refuse(s, q->id, rc == -ERR_NOTFOUND ? STATUS_UNKNOWN_OBJECT : status_from_err(rc),
		       &e);
	} else {
		r->id = q->id;
		r->kind = STATUS_CSR_DEFINED;
		if (!reply_set_csr(r, token) && !reply_add(r, 0, NULL, STATUS_CSR_DEFINED, token) &&
		    !reply_add(r, 1, NULL, STATUS_OK, NULL))
			session_reply(s, r);
	}
	reply_free(r);
}

/* The entry of an error in the check is in element 0, for any action. */
static void got_request(struct peer *p, const struct msg_request *q)
{
	struct session *s = p->session;
	struct omis_request *request = NULL;
	struct omis_diag diag = { 0 };
	struct err e = { 0 };

	if (omis_parse((const char *)q->text.p, q->text.n, &request, &e)) {
		refuse(s, q->id, e.code == ERR_NOMEM ? STATUS_NO_MEMORY : STATUS_SYNTAX_ERROR, &e);
		return;
	}
	if (omis_check_added(request, directory_added(p->m->directory), &diag)) {
		refuse(s, q->id, diag.status ? diag.status : STATUS_NO_MEMORY, &diag.err);
		omis_request_free(request);
		return;
	}
	mainsm_audit_refused(p->m, s, request);
	if (request->event)
		define(p, q, &request);
	else
		execute(p, q, &request);
	omis_request_free(request);
}

static void got_cancel(struct peer *p, uint64_t id)
{
	list_each (i, &p->requests) {
		struct tool_request *t = list_entry(i, struct tool_request, in_requests);

		if (t->id == id) {
			locks_cancel(p->m->locks, &t->runs);
			return;
		}
	}
}

void mainsm_tool_msg(struct peer *p, const struct msg *msg)
{
	switch (msg->type) {
	case MSG_REQUEST:
		got_request(p, &msg->request);
		break;
	case MSG_CANCEL:
		got_cancel(p, msg->cancel.id);
		break;
	case MSG_EVENTS_ACK:
		subscriptions_ack(p->m->subscriptions, p->session, &msg->events_ack);
		break;
	case MSG_ENROL:
		peer_renew(p, &msg->enrol);
		break;
	default:
		break;
	}
}
