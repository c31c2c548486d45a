/* SPDX-License-Identifier: Apache-2.0 */
#include "lm/service/inbox.h"

#include "common/base/limits.h"
#include "common/container/map.h"
#include "common/route/rights.h"
#include "lm/task/rights.h"
#include "tree/wire.h"

#include <stdlib.h>
#include <string.h>

/* A request that is being executed. */
struct asked {
	struct inbox *inbox;
	uint64_t id;
	struct omis_request *request;
	struct task *task;
	uint32_t *number; /* owned; of the actions; NULL = 1, 2, ... */
	struct op op; /* id for all links, without an action; number 0 = none */
	bool keeps, is_over;
};

struct kept {
	uint64_t id; /* id of the request on this link; 0 = none */
	struct op op; /* the first action that manipulates; number 0 = none */
	struct reply *reply; /* owned; NULL = free */
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
	free(a->number);
	free(a);
}

static void forget(struct kept *k)
{
	reply_free(k->reply);
	memset(k, 0, sizeof(*k));
}

/* A reply with an op stays: a tool may repeat its request on another link. */
void inbox_link_lost(struct inbox *b)
{
	struct map_iter i = { 0 };

	while (map_next(&b->asked, &i))
		asked_free(i.value);
	map_done(&b->asked);
	map_init(&b->asked);
	for (size_t k = 0; k < INBOX_KEPT_MAX; k++) {
		b->kept[k].id = 0;
		if (!b->kept[k].op.number)
			forget(&b->kept[k]);
	}
}

void inbox_free(struct inbox *b)
{
	if (!b)
		return;
	inbox_link_lost(b);
	for (size_t k = 0; k < INBOX_KEPT_MAX; k++)
		forget(&b->kept[k]);
	map_done(&b->asked);
	free(b);
}

static const struct kept *find_kept(const struct inbox *b, uint64_t id)
{
	/* entries are used in order: those from next_kept on were never used */
	size_t n = b->next_kept < INBOX_KEPT_MAX ? b->next_kept : INBOX_KEPT_MAX;

	for (size_t k = 0; id && k < n; k++)
		if (b->kept[k].id == id)
			return &b->kept[k];
	return NULL;
}

static const struct kept *find_kept_op(const struct inbox *b, const struct op *op)
{
	for (size_t k = 0; k < INBOX_KEPT_MAX; k++)
		if (b->kept[k].op.number == op->number && b->kept[k].op.who == op->who &&
		    b->kept[k].op.action == op->action)
			return &b->kept[k];
	return NULL;
}

/* Sends a reply. Returns its bytes on the wire; 0: it could not be encoded. */
static size_t answer(struct inbox *b, uint64_t id, struct reply *r)
{
	struct buf frames = BUF_INIT(REPLY_MAX_BYTES * 2);
	size_t n = 0;

	r->id = id;
	if (!wire_put_reply(&frames, r))
		n = frames.n;
	if (!n || b->conf.send(b->conf.arg, frames.p, frames.n) < 0)
		b->stats.unsent++;
	buf_done(&frames);
	return n;
}

static void answer_error(struct inbox *b, uint64_t id, unsigned status, const struct err *why)
{
	struct reply *r = reply_new();

	if (r && !reply_from_diag(r, status, why))
		answer(b, id, r);
	reply_free(r);
}

static bool does_more_than_observe(const struct omis_request *r)
{
	return route_right_needed(r) > OMIS_OBSERVE;
}

static bool changes(const struct omis_request *r, size_t i)
{
	return r->action[i].service->right > OMIS_OBSERVE;
}

static uint32_t number_of(const struct asked *a, size_t i)
{
	return a->number ? a->number[i] : (uint32_t)i + 1;
}

/* The op of action i. */
static struct op op_of(const struct asked *a, size_t i)
{
	struct op op = a->op;

	op.action = number_of(a, i);
	return op;
}

static struct op first_op(const struct asked *a)
{
	for (size_t i = 0; i < a->request->naction; i++)
		if (changes(a->request, i))
			return op_of(a, i);
	return a->op;
}

static unsigned status_of(const struct reply *r, uint32_t action)
{
	for (size_t i = 0; i < r->nentry; i++)
		if (r->entry[i].action == action && status_is_error(r->entry[i].status))
			return r->entry[i].status;
	return STATUS_OK;
}

static void keep(struct inbox *b, const struct asked *a, struct reply **take)
{
	struct kept *k = &b->kept[b->next_kept++ % INBOX_KEPT_MAX];

	forget(k);
	*k = (struct kept){ a->id, a->op.number ? first_op(a) : a->op, *take };
	*take = NULL;
}

static void on_done(void *arg, struct reply *r)
{
	struct asked *a = arg;
	struct inbox *b = a->inbox;
	size_t n;

	a->task = NULL;
	a->is_over = true;
	for (size_t i = 0; a->op.number && i < a->request->naction; i++)
		if (changes(a->request, i)) {
			struct op op = op_of(a, i);

			done_log_end(b->conf.done, &op, status_of(r, op.action));
		}
	n = answer(b, a->id, r);
	if (a->keeps && n && n <= INBOX_KEPT_BYTES)
		keep(b, a, &r);
	reply_free(r);
	/* a request that ends before it is in the table is freed by start() */
	if (map_del(&b->asked, a->id))
		asked_free(a);
}

/* --- repeated requests */

static const char *const outcome[] = {
	[OP_NEW] = "not done, and it never will be",
	[OP_BEGUN] = "outcome unknown: it was begun, and its end is not known",
	[OP_ENDED] = "done before, with the status",
	[OP_FORGOTTEN] = "outcome unknown: it is older than what is remembered; it is not done now",
	[OP_REFUSED] = "not done, and it never will be",
};

static int add_outcome(const struct asked *a, size_t i, struct reply *r)
{
	struct done_log *done = a->inbox->conf.done;
	struct op op = op_of(a, i);
	unsigned status = STATUS_OK;
	enum op_state state = done_log_find(done, &op, &status);
	struct err e = { 0 };

	if (!changes(a->request, i))
		return reply_add_error(r, op.action, "", STATUS_UNSPECIFIED_ERROR,
				       "not asked again: the request was sent before");
	if (state == OP_NEW && done_log_refuse(done, &op, &e))
		return reply_add_error(r, op.action, "", STATUS_OS_ERROR, "%s", e.text);
	return reply_add_error(r, op.action, "", STATUS_UNSPECIFIED_ERROR, "%s%s%s", outcome[state],
			       state == OP_ENDED ? " " : "",
			       state == OP_ENDED ? status_name(status) : "");
}

/* Executes nothing. Sends the stored reply, else the known state of each action. */
static void answer_outcome(const struct asked *a)
{
	struct op first = first_op(a);
	const struct kept *k = find_kept_op(a->inbox, &first);
	struct reply *r = k ? NULL : reply_new();
	int rc = 0;

	a->inbox->stats.repeated++;
	for (size_t i = 0; r && !rc && i < a->request->naction; i++)
		rc = add_outcome(a, i, r);
	if (k || (r && !rc))
		answer(a->inbox, a->id, k ? k->reply : r);
	reply_free(r);
}

static bool is_known(const struct asked *a)
{
	unsigned status;

	for (size_t i = 0; i < a->request->naction; i++) {
		struct op op = op_of(a, i);

		if (changes(a->request, i) &&
		    done_log_find(a->inbox->conf.done, &op, &status) != OP_NEW)
			return true;
	}
	return false;
}

static int begin(const struct asked *a, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; a->op.number && !rc && i < a->request->naction; i++) {
		struct op op = op_of(a, i);

		if (changes(a->request, i))
			rc = done_log_begin(a->inbox->conf.done, &op, e);
	}
	return rc;
}

static int read_request(const struct msg_request *m, struct omis_request **out, unsigned *status,
			struct err *e)
{
	struct omis_diag d;
	int rc = omis_read_inner((const char *)m->text.p, m->text.n, out, &d);

	if (!rc && (*out)->event)
		rc = err_set(&d.err, ERR_INVALID, "a request with an event is armed, not executed");
	if (!rc && m->naction && m->naction != (*out)->naction)
		rc = err_set(&d.err, ERR_INVALID, "%zu numbers for %zu actions", m->naction,
			     (*out)->naction);
	if (!rc)
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

static int execute(struct asked *a, const struct msg_request *m)
{
	return task_start(a->inbox->conf.tasks,
			  &(struct task_spec){ .request = a->request,
					       .number = a->number,
					       .tool = m->tool,
					       .identity = m->identity,
					       .csr = m->csr,
					       .depth = m->depth,
					       .right = rights_least(m->identity, m->right),
					       .deadline = deadline_of(m),
					       .on_done = on_done,
					       .arg = a },
			  &a->task);
}

/* Consumes *request on success. */
static struct asked *asked_new(struct inbox *b, const struct msg_request *m,
			       struct omis_request **request)
{
	struct asked *a = calloc(1, sizeof(*a));
	uint32_t *number = m->naction ? calloc(m->naction, sizeof(*number)) : NULL;

	if (!a || (m->naction && !number)) {
		free(a);
		free(number);
		return NULL;
	}
	if (number)
		memcpy(number, m->action, m->naction * sizeof(*number));
	*a = (struct asked){ .inbox = b, .id = m->id, .request = *request, .number = number };
	*request = NULL;
	a->keeps = does_more_than_observe(a->request);
	if (a->keeps && m->op)
		a->op = (struct op){ done_log_who(b->conf.done, m->identity, m->op_epoch), m->op,
				     0 };
	return a;
}

static void start(struct inbox *b, const struct msg_request *m, struct omis_request **request)
{
	struct asked *a = asked_new(b, m, request);
	struct err e = { 0 };
	int rc;

	if (!a)
		return;
	if (m->flags & MSG_REQUEST_OUTCOME && !a->op.number) {
		err_set(&e, ERR_INVALID,
			"a request that manipulates nothing, or has no id, has no recorded outcome");
		answer_error(b, m->id, STATUS_PARAMETER_ERROR, &e);
		asked_free(a);
		return;
	}
	if (m->flags & MSG_REQUEST_OUTCOME || (a->op.number && is_known(a))) {
		answer_outcome(a);
		asked_free(a);
		return;
	}
	rc = begin(a, &e);
	if (!rc) {
		rc = execute(a, m);
		if (rc)
			err_set(&e, (enum err_code)(-rc),
				"not done: the host executes too many requests");
	}
	if (rc)
		answer_error(b, m->id, status_from_err(rc), &e);
	if (rc || a->is_over || map_put(&b->asked, a->id, a, NULL))
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
			answer(b, m->id, k->reply);
		return;
	}
	if (read_request(m, &r, &status, &e))
		answer_error(b, m->id, status, &e);
	else
		start(b, m, &r);
	omis_request_free(r);
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
