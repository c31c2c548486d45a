/* SPDX-License-Identifier: Apache-2.0 */
#include "sm/node/requests.h"

#include "common/base/str.h"
#include "common/container/list.h"
#include "common/container/map.h"
#include "common/omis/services/catalogue.h"
#include "common/omis/services/check.h"
#include "common/omis/text/token.h"
#include "sm/hosts/view.h"
#include "tree/executor.h"
#include "tree/refusal.h"
#include "tree/wire.h"

#include <stdlib.h>
#include <string.h>

#define FRAMES_MAX_BYTES (2 * REPLY_MAX_BYTES) /* per reply, with the overhead of encoding */

struct requests {
	struct requests_conf conf;
	struct executor *executor;
	struct map by_id; /* mainsm's id -> struct request */
	struct requests_stats stats;
};

/* A request under way. */
struct request {
	struct requests *rs;
	uint64_t id;
	char *identity; /* owned */
	struct token csr; /* csr of the actions; "" = none */
	uint32_t *number; /* owned; of the actions */
	struct site_view view;
	struct list runs; /* at most one */
	bool is_guess; /* hosts are asked about cells that they may not have */
};

/* --- callbacks of the executor */

static void late(void *arg, uint32_t branch)
{
	struct requests *rs = arg;
	struct branch *b = branches_at(nodes_branches(rs->conf.nodes), branch);

	if (b)
		branch_late(rs->conf.nodes, b);
}

static void forget_cells(struct requests *rs, const struct omis_call *call)
{
	const struct omis_value *v = &call->param[call->service->object_param];

	for (size_t i = 0; v->kind == OMIS_LIST && i < v->list.n; i++)
		if (v->list.v[i].kind == OMIS_TOKEN)
			placement_del(rs->conf.placement, v->list.v[i].s.p);
}

/* Executes services to whose result each daemon on the way contributes. */
static int do_here(void *arg, struct run *run, const struct plan_here *here, struct reply *into)
{
	struct requests *rs = arg;

	if (str_eq(here->call->name, "omig_status"))
		return rs->conf.status(rs->conf.arg, here->action, into);
	if (str_eq(here->call->name, "omig_dfg_look"))
		return rs->conf.look(rs->conf.arg, here, into);
	if (here->call->service->object == 'a' && here->call->service->object_param >= 0)
		forget_cells(rs, here->call);
	return 0;
}

/* --- life */

static bool has_room(void *arg, size_t bytes)
{
	const struct requests *rs = arg;

	return rs->conf.has_room(rs->conf.arg, bytes);
}

struct requests *requests_new(const struct requests_conf *conf)
{
	struct requests *rs = calloc(1, sizeof(*rs));

	if (!rs)
		return NULL;
	rs->conf = *conf;
	map_init(&rs->by_id);
	rs->executor =
		executor_new(&(struct executor_conf){ .loop = conf->loop,
						      .branches = nodes_branches(conf->nodes),
						      .late = late,
						      .here = do_here,
						      .has_room = has_room,
						      .arg = rs });
	if (rs->executor)
		return rs;
	free(rs);
	return NULL;
}

void requests_free(struct requests *rs)
{
	if (!rs)
		return;
	requests_drop_all(rs);
	executor_free(rs->executor);
	map_done(&rs->by_id);
	free(rs);
}

void requests_stats(const struct requests *rs, struct requests_stats *out)
{
	*out = rs->stats;
	out->active = rs->by_id.n;
	out->bytes = executor_bytes(rs->executor);
	out->strays = executor_strays(rs->executor);
}

static void request_free(struct request *q)
{
	if (!q)
		return;
	map_del(&q->rs->by_id, q->id);
	free(q->identity);
	free(q->number);
	free(q);
}

/* --- answering */

static void send_reply(struct requests *rs, const struct reply *r)
{
	struct buf b = BUF_INIT(FRAMES_MAX_BYTES);
	int rc = wire_put_reply(&b, r);

	if (!rc)
		rc = rs->conf.send(rs->conf.arg, b.p, b.n);
	if (rc)
		rs->stats.unsent++;
	else
		rs->stats.answered++;
	rs->stats.partial += reply_is_partial(r);
	buf_done(&b);
}

/* Sends a reply with only the reason of a refusal. */
static void refuse(struct requests *rs, uint64_t id, unsigned status, const char *why)
{
	struct reply *r = refusal_reply(id, status, why);

	if (r)
		send_reply(rs, r);
	else
		rs->stats.unsent++;
	reply_free(r);
}

static bool is_unknown_cell(const struct reply_entry *x)
{
	return x->status == STATUS_UNKNOWN_OBJECT &&
	       token_class(x->objects, strcspn(x->objects, ",")) == 'a';
}

static bool has_result(const struct reply *r, uint32_t action)
{
	for (size_t i = 0; i < r->nentry; i++)
		if (r->entry[i].action == action && !status_is_error(r->entry[i].status))
			return true;
	return false;
}

/*
 * Removes errors of hosts that were asked on a guess and have no such cell, if another host has
 * it.
 */
static void drop_wrong_guesses(struct reply *r)
{
	size_t kept = 0;

	for (size_t i = 0; i < r->nentry; i++)
		if (!is_unknown_cell(&r->entry[i]) || !has_result(r, r->entry[i].action))
			r->entry[kept++] = r->entry[i];
	r->nentry = kept;
}

/* Sends the reply. r NULL: the request was cancelled. */
static void on_done(void *arg, struct reply *r)
{
	struct request *q = arg;

	if (r) {
		r->id = q->id;
		if (q->is_guess)
			drop_wrong_guesses(r);
		send_reply(q->rs, r);
	}
	reply_free(r);
	request_free(q);
}

/* --- asking */

/* Subtracts the round trip from the time limit: half for the request, half for the reply. */
static nsec_t time_for_us(const struct requests *rs, int64_t given)
{
	nsec_t rtt = rs->conf.rtt(rs->conf.arg);

	if (given < 1)
		return 1;
	return rtt < given / 2 ? given - rtt : given / 2 + 1;
}

static struct request *request_new(struct requests *rs, const struct msg_request *m)
{
	struct request *q = calloc(1, sizeof(*q));

	if (!q)
		return NULL;
	q->rs = rs;
	q->id = m->id;
	list_init(&q->runs);
	q->identity = str_dup(m->identity);
	str_copy(q->csr.s, sizeof(q->csr.s), m->csr);
	q->number = calloc(m->naction + 1, sizeof(*q->number));
	q->view = (struct site_view){ rs->conf.nodes, rs->conf.placement,
				      branches_bound(nodes_branches(rs->conf.nodes)) };
	if (q->number && m->naction)
		memcpy(q->number, m->action, m->naction * sizeof(*q->number));
	if (q->identity && q->number && !map_put(&rs->by_id, q->id, q, NULL))
		return q;
	request_free(q);
	return NULL;
}

static int check_numbers(const struct msg_request *m, const struct omis_request *r, struct err *e)
{
	if (m->naction != r->naction)
		return err_set(e, ERR_PROTO, "%zu numbers for %zu actions", m->naction, r->naction);
	for (size_t i = 0; i < m->naction; i++)
		if (m->action[i] <= (i ? m->action[i - 1] : 0))
			return err_set(e, ERR_PROTO, "the numbers of actions do not ascend");
	return 0;
}

/* *d: the contents of the reply on failure. */
static int understand(const struct msg_request *m, struct omis_request **out, struct omis_diag *d)
{
	int rc = omis_read_inner((const char *)m->text.p, m->text.n, out, d);

	if (rc)
		return rc;
	d->status = m->identity[0] ? STATUS_PARAMETER_ERROR : STATUS_NO_PERMISSION;
	if (!m->identity[0])
		return err_set(&d->err, ERR_DENIED, "a request without an owner");
	if ((*out)->event)
		return err_set(&d->err, ERR_INVALID,
			       "a conditional request is armed, not executed");
	return check_numbers(m, *out, &d->err);
}

/* True if it names counters whose hosts are unknown. */
static bool names_unknown_cells(const struct site_view *view, const struct omis_call *call)
{
	const struct omis_value *v;

	if (call->service->object != 'a' || call->service->object_param < 0)
		return false;
	v = &call->param[call->service->object_param];
	for (size_t i = 0; v->kind == OMIS_LIST && i < v->list.n; i++)
		if (v->list.v[i].kind == OMIS_TOKEN && site_view_guesses(view, v->list.v[i].s.p))
			return true;
	return v->kind == OMIS_TOKEN && site_view_guesses(view, v->s.p);
}

static int learn(struct request *q, uint32_t tool, const struct omis_request *r, struct err *e)
{
	struct placement *c = q->rs->conf.placement;
	int rc = 0;

	for (size_t i = 0; !rc && i < r->naction; i++) {
		q->is_guess |= names_unknown_cells(&q->view, &r->action[i]);
		rc = placement_learn(c, tool, &r->action[i], nodes_births(q->rs->conf.nodes));
	}
	return rc ? err_set(e, (enum err_code)(-rc), "too many counters and integrators") : 0;
}

static int execute(struct request *q, const struct msg_request *m, struct omis_request **r,
		   struct err *e)
{
	const struct run_spec spec = {
		.view = site_view_now(&q->view),
		.user = q,
		.numbers = q->number,
		.identity = q->identity,
		.tool = m->tool,
		.right = (enum omis_right)m->right,
		.policy = m->policy,
		.quorum = m->quorum,
		.deadline = time_for_us(q->rs, m->deadline_ns),
		.csr = q->csr.s,
		.op_epoch = m->op_epoch,
		.op = m->op,
		.flags = m->flags,
		.depth = m->depth,
		.bytes = m->text.n,
		.owner = &q->runs,
		.on_done = on_done,
		.arg = q,
	};

	return executor_run(q->rs->executor, r, &spec, e);
}

static void start(struct request *q, const struct msg_request *m)
{
	struct requests *rs = q->rs;
	struct omis_request *r = NULL;
	struct omis_diag d;
	int rc = understand(m, &r, &d);

	if (!rc) {
		rc = learn(q, m->tool, r, &d.err);
		if (!rc)
			rc = execute(q, m, &r, &d.err); /* q may be over already */
		d.status = status_from_err(rc);
	}
	if (rc) {
		request_free(q);
		refuse(rs, m->id, d.status, d.err.text);
	}
	omis_request_free(r);
}

void requests_ask(struct requests *rs, const struct msg_request *m)
{
	struct request *q;

	rs->stats.asked++;
	if (map_find(&rs->by_id, m->id)) {
		rs->stats.doubles++;
		return;
	}
	q = rs->by_id.n < REQUESTS_MAX ? request_new(rs, m) : NULL;
	if (q)
		start(q, m);
	else
		refuse(rs, m->id, STATUS_NO_MEMORY, "this sm works on too many requests");
}

/* --- replies from hosts */

static int check_missing(const struct branch *b, const struct msg_reply *m, struct err *e)
{
	for (size_t i = 0; m->coverage && i < m->coverage->nmissing; i++) {
		const char *object = m->coverage->missing[i].object;

		if (*object && !branch_owns(b, object, strlen(object)))
			return err_set(e, ERR_PROTO, "it misses an object of another host");
	}
	return 0;
}

int requests_reply(struct requests *rs, struct branch *b, const struct msg_reply *m, struct err *e)
{
	int rc = check_missing(b, m, e);

	branch_answered(rs->conf.nodes, b);
	return rc ? rc : executor_reply(rs->executor, b->index, m, e);
}

void requests_branch_lost(struct requests *rs, const struct branch *b, const char *reason)
{
	executor_branch_lost(rs->executor, b->index, reason);
}

/* --- ends by the parent */

void requests_cancel(struct requests *rs, uint64_t id)
{
	struct request *q = map_find(&rs->by_id, id);
	struct list runs;

	if (!q)
		return;
	list_init(&runs);
	list_splice_back(&runs, &q->runs); /* q is freed with its run */
	executor_cancel(rs->executor, &runs);
}

void requests_drop_all(struct requests *rs)
{
	struct map_iter i = { 0 };

	while (map_next(&rs->by_id, &i))
		requests_cancel(rs, i.key);
}
