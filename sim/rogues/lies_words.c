/* SPDX-License-Identifier: Apache-2.0 */
/*
 * False messages with the right form: answers, events, directories and values of other peers, and
 * requests to branches.
 */
#include "common/base/array.h"
#include "common/base/clock.h"
#include "common/omis/reply/reply.h"
#include "common/omis/text/token.h"
#include "proto/frame.h"
#include "proto/msg.h"
#include "sim/rogues/lies_internal.h"

#include <stdio.h>
#include <string.h>

#define ENTRIES_MAX 8
#define MISSING_MAX 4
/* largest guessed number of a conditional request, measurement or request */
#define GUESS_MAX 40
#define VALUE_TEXT "\"" LIES_MARK "\""

/* Memory of an invented message. */
struct made {
	struct msg_entry entry[ENTRIES_MAX];
	struct msg_missing missing[MISSING_MAX];
	struct msg_coverage coverage;
	struct msg_object object[ENTRIES_MAX];
	struct msg_par par[4];
	struct bytes batch[2];
	uint32_t action[ENTRIES_MAX];
	char csr[24], event[2][64];
};

static struct bytes text_bytes(const char *s)
{
	return (struct bytes){ (const uint8_t *)s, strlen(s) };
}

static int64_t any_time(struct lies *l)
{
	static const int64_t some[] = { INT64_MIN, -1, 0, 1, INT64_MAX, INT64_MAX - 1 };

	return lies_one_in(l, 2) ? some[lies_below(l, ARRAY_LEN(some))]
				 : (int64_t)(rng_next(&l->dice) >> 2);
}

static const char *any_csr(struct lies *l, struct made *m)
{
	snprintf(m->csr, sizeof(m->csr), "c_%u", 1 + (unsigned)lies_below(l, GUESS_MAX));
	return m->csr;
}

/* Returns events that never occurred, of calls of some process. */
static struct bytes any_value(struct lies *l, struct made *m)
{
	char *text = m->event[lies_below(l, 2)];

	if (lies_one_in(l, 2))
		return text_bytes(VALUE_TEXT);
	snprintf(text, sizeof(m->event[0]), "3,%s,%u,%u", lies_token(l, 'p'),
		 (unsigned)lies_below(l, GUESS_MAX), 1 + (unsigned)lies_below(l, 1000000));
	return text_bytes(text);
}

static size_t make_entries(struct lies *l, struct made *m, const struct msg_entry *from,
			   size_t nfrom)
{
	size_t n = 1 + lies_below(l, ENTRIES_MAX - 1);

	for (size_t i = 0; i < n; i++)
		m->entry[i] = (struct msg_entry){
			.action = i < nfrom ? from[i].action : (uint32_t)lies_below(l, 4),
			.objects = i < nfrom && lies_one_in(l, 2) ? from[i].objects
				   : lies_one_in(l, 3)		  ? ""
								  : lies_token(l, 0),
			.status = lies_one_in(l, 3) ? STATUS_UNKNOWN_OBJECT : STATUS_OK,
			.value = any_value(l, m)
		};
	return n;
}

static const struct msg_coverage *make_coverage(struct lies *l, struct made *m)
{
	size_t n = lies_below(l, MISSING_MAX);

	m->coverage =
		(struct msg_coverage){ .asked =
					       lies_one_in(l, 2) ? 1 : (uint32_t)rng_next(&l->dice),
				       .answered = lies_one_in(l, 2) ? 1 : UINT32_MAX,
				       .missing = m->missing,
				       .nmissing = n,
				       .oldest_ns = any_time(l),
				       .newest_ns = any_time(l) };
	for (size_t i = 0; i < n; i++)
		m->missing[i] = (struct msg_missing){ lies_token(l, 0), LIES_MARK };
	return &m->coverage;
}

/* --- messages to the parent */

static void reply(struct lies *l, struct made *m, struct msg_reply *r)
{
	r->nentry = make_entries(l, m, r->entry, r->nentry);
	r->entry = m->entry;
	if (lies_one_in(l, 2))
		r->coverage = make_coverage(l, m);
	if (lies_one_in(l, 6))
		r->kind = (uint32_t)lies_below(l, STATUS_CSR_TRIGGERED + 1);
	if (lies_one_in(l, 6))
		r->csr = any_csr(l, m);
	r->more = lies_one_in(l, 6);
}

static void triggered(struct lies *l, struct made *m, struct msg_triggered *t)
{
	for (size_t i = 0; i < ARRAY_LEN(m->par); i++)
		m->par[i] = (struct msg_par){ 1 + (uint32_t)lies_below(l, 9),
					      text_bytes(lies_one_in(l, 2) ? "5" : VALUE_TEXT) };
	if (!t->npar || lies_one_in(l, 2)) {
		t->par = m->par;
		t->npar = ARRAY_LEN(m->par);
	}
	if (lies_one_in(l, 2)) {
		t->nentry = make_entries(l, m, t->entry, t->nentry);
		t->entry = m->entry;
	}
	if (lies_one_in(l, 3))
		t->node = lies_token(l, 'n');
	if (lies_one_in(l, 3))
		t->proc = lies_token(l, 'p');
	if (lies_one_in(l, 3))
		t->thread = lies_token(l, 't');
	t->held = lies_one_in(l, 2);
	t->dropped = lies_one_in(l, 4) ? rng_next(&l->dice) : 0;
	t->depth = (uint32_t)lies_below(l, 6);
	t->time_ns = any_time(l);
}

/* Alters announcements, also of the rogue's own host, which then seems to have no processes. */
static void directory(struct lies *l, struct made *m, struct msg_directory *d)
{
	size_t n = lies_below(l, ENTRIES_MAX);
	uint32_t node = d->node;
	const char *other = lies_token(l, 'n');

	if (!node || lies_one_in(l, 2))
		token_node(other, strlen(other), &node);
	for (size_t i = 0; i < n; i++)
		m->object[i] = (struct msg_object){
			.token = lies_token(l, 0),
			.parent = lies_token(l, lies_one_in(l, 2) ? 'n' : 0),
			.op = lies_one_in(l, 2) ? MSG_OP_GONE : MSG_OP_PRESENT,
			.name = LIES_MARK,
			.pid = (int64_t)lies_below(l, 100000),
			.rank = (int32_t)lies_below(l, GUESS_MAX) - 1,
			.world_size = (int32_t)lies_below(l, GUESS_MAX),
			.job = "job-1",
			.state = (uint32_t)lies_below(l, MSG_STATE_UNREACHABLE + 1),
			.time_ns = any_time(l),
			.sub = (uint32_t)lies_below(l, MSG_NODE_HUNG + 1),
			.site = l->site,
			.host = l->host
		};
	*d = (struct msg_directory){ .full = lies_one_in(l, 2),
				     .node = node,
				     .object = m->object,
				     .nobject = n,
				     .more = lies_one_in(l, 4),
				     .attach = lies_one_in(l, 2) ? UINT64_MAX : d->attach };
}

static void batch(struct lies *l, struct made *m, struct msg_flow_batch *b)
{
	if (!b->measurement || lies_one_in(l, 3))
		b->measurement = 1 + (uint32_t)lies_below(l, GUESS_MAX);
	if (lies_one_in(l, 3))
		b->object = lies_token(l, 'n');
	if (lies_one_in(l, 3))
		b->read = lies_one_in(l, 2) ? rng_next(&l->dice) : b->read + lies_below(l, 9);
	if (lies_one_in(l, 3))
		b->time_ns = any_time(l);
	m->batch[0] = m->batch[1] = text_bytes(VALUE_TEXT);
	if (!b->nbatch || lies_one_in(l, 4)) {
		b->batch = m->batch;
		b->nbatch = ARRAY_LEN(m->batch);
	}
	b->dropped = lies_one_in(l, 2) ? rng_next(&l->dice) : 0;
}

static void hello(struct lies *l, struct msg_hello *h)
{
	static const char *const role[] = { "lm", "sm", "tool", "factory", "mainsm", "" };

	if (lies_one_in(l, 4))
		h->role = role[lies_below(l, ARRAY_LEN(role))];
	if (lies_one_in(l, 4))
		h->host = l->host;
	if (lies_one_in(l, 4))
		h->site = l->site;
	if (lies_one_in(l, 2))
		h->node = (uint32_t)lies_below(l, GUESS_MAX);
	if (lies_one_in(l, 2))
		h->attach = lies_one_in(l, 2) ? UINT64_MAX : 0;
	if (lies_one_in(l, 2))
		h->epoch = rng_next(&l->dice);
	if (lies_one_in(l, 3))
		h->listen = "top:4700";
}

/* --- messages to branches */

#define ORDERS 8

/* Requests with the rights of an observing tool, which an lm must refuse. */
static const char *const order[ORDERS] = {
	":thread_stop([])",
	":thread_suspend([])",
	":proc_send_signal([],10)",
	":proc_send_signal([],9)",
	":{proc_send_signal([],10)}",
	":thread_stop([]) thread_suspend([]) proc_send_signal([],10)",
	":node_get_info([],1)",
	"thread_has_started_lib_call([],\"MPI_Send\"): thread_suspend([])"
};

static const char observer[] = "omig:tool-observe//t";

static void request(struct lies *l, struct made *m, struct msg_request *r)
{
	for (uint32_t i = 0; i < ENTRIES_MAX; i++)
		m->action[i] = i + 1;
	*r = (struct msg_request){ .id = r->id && lies_one_in(l, 2) ? r->id
								    : rng_next(&l->dice) >> 1,
				   .tool = (uint32_t)lies_below(l, GUESS_MAX),
				   .identity = observer,
				   .right = (uint32_t)lies_below(l, 5),
				   .deadline_ns = NSEC_PER_SEC,
				   .text = text_bytes(order[lies_below(l, ORDERS)]),
				   .action = m->action,
				   .naction = 1 + lies_below(l, 3),
				   .flags = (uint32_t)lies_below(l, 2),
				   .op = lies_below(l, 3),
				   .op_epoch = lies_below(l, 3) };
}

static void arm(struct lies *l, struct made *m, struct msg_arm *a)
{
	*a = (struct msg_arm){ .csr = any_csr(l, m),
			       .tool = (uint32_t)lies_below(l, GUESS_MAX),
			       .identity = observer,
			       .version = (uint32_t)lies_below(l, GUESS_MAX),
			       .text = text_bytes(order[ORDERS - 1]),
			       .local_prefix = (uint32_t)lies_below(l, 4),
			       .reply = true };
}

/* Returns a random one of these types; one of the rogue's subjects, if there is one among them. */
static uint8_t any_type(struct lies *l, const uint8_t *type, size_t n)
{
	uint8_t t = type[lies_below(l, n)];

	for (size_t tries = 0; tries < 4 * n && !(l->subjects >> t & 1); tries++)
		t = type[lies_below(l, n)];
	return t;
}

static void make_down(struct lies *l, struct made *made, struct msg *m)
{
	static const uint8_t type[] = { MSG_REQUEST,   MSG_REQUEST,  MSG_ARM,	 MSG_DISARM,
					MSG_TOOL_GONE, MSG_RELEASE,  MSG_DISOWN, MSG_FLOW_READ,
					MSG_CANCEL,    MSG_FLOW_END, MSG_LET_GO };

	m->type = any_type(l, type, sizeof(type));
	if (m->type == MSG_REQUEST)
		request(l, made, &m->request);
	else if (m->type == MSG_ARM)
		arm(l, made, &m->arm);
	else if (m->type == MSG_DISARM)
		m->disarm.csr = any_csr(l, made);
	else if (m->type == MSG_TOOL_GONE)
		m->tool_gone.tool = (uint32_t)lies_below(l, GUESS_MAX);
	else if (m->type == MSG_RELEASE)
		m->release = (struct msg_release){ any_csr(l, made), lies_below(l, GUESS_MAX),
						   lies_token(l, 'n') };
	else if (m->type == MSG_DISOWN)
		m->disown = (struct msg_disown){ 1 + (uint32_t)lies_below(l, GUESS_MAX), l->host };
	else if (m->type == MSG_FLOW_READ)
		m->flow_read = (struct msg_flow_read){ 1 + (uint32_t)lies_below(l, GUESS_MAX),
						       rng_next(&l->dice), any_time(l) };
	else if (m->type == MSG_CANCEL)
		m->cancel.id = lies_below(l, GUESS_MAX);
	else if (m->type == MSG_FLOW_END)
		m->flow_end.measurement = 1 + (uint32_t)lies_below(l, GUESS_MAX);
}

/* --- messages to either side */

static void make_up(struct lies *l, struct made *made, struct msg *m)
{
	static const uint8_t type[] = { MSG_REPLY,     MSG_TRIGGERED,  MSG_TRIGGERED, MSG_DIRECTORY,
					MSG_DIRECTORY, MSG_FLOW_BATCH, MSG_ARM_ACK,   MSG_FLOW_ACK,
					MSG_PONG,      MSG_EVENTS };

	m->type = any_type(l, type, sizeof(type));
	if (m->type == MSG_REPLY) {
		m->reply.id = lies_below(l, 400);
		reply(l, made, &m->reply);
	} else if (m->type == MSG_TRIGGERED) {
		m->triggered.csr = any_csr(l, made);
		m->triggered.node = lies_token(l, 'n');
		triggered(l, made, &m->triggered);
	} else if (m->type == MSG_DIRECTORY) {
		directory(l, made, &m->directory);
	} else if (m->type == MSG_FLOW_BATCH) {
		batch(l, made, &m->flow_batch);
	} else if (m->type == MSG_ARM_ACK) {
		m->arm_ack = (struct msg_arm_ack){ any_csr(l, made), (uint32_t)lies_below(l, 9),
						   made->entry, make_entries(l, made, NULL, 0) };
	} else if (m->type == MSG_FLOW_ACK) {
		m->flow_ack = (struct msg_flow_ack){ 1 + (uint32_t)lies_below(l, GUESS_MAX),
						     lies_below(l, 9), made->entry,
						     make_entries(l, made, NULL, 0) };
	} else if (m->type == MSG_PONG) {
		m->pong =
			(struct msg_pong){ lies_below(l, GUESS_MAX), any_time(l), any_time(l), 0 };
	} else {
		m->events = (struct msg_events){ .sub = "s",
						 .stream = lies_below(l, 3),
						 .place = rng_next(&l->dice),
						 .blocks = text_bytes(VALUE_TEXT),
						 .end = lies_one_in(l, 2) };
	}
}

void lies_forge(struct lies *l, enum lies_to to, struct buf *out)
{
	struct made made = { 0 };
	struct msg m = { 0 };

	if (to == LIES_UP)
		make_up(l, &made, &m);
	else
		make_down(l, &made, &m);
	msg_put(out, &m);
}

static bool reword(struct lies *l, struct made *made, struct msg *m)
{
	if (!(l->subjects >> m->type & 1))
		return false;
	switch (m->type) {
	case MSG_REPLY:
		reply(l, made, &m->reply);
		return true;
	case MSG_TRIGGERED:
		triggered(l, made, &m->triggered);
		return true;
	case MSG_DIRECTORY:
		directory(l, made, &m->directory);
		return true;
	case MSG_FLOW_BATCH:
		batch(l, made, &m->flow_batch);
		return true;
	case MSG_HELLO:
		hello(l, &m->hello);
		return true;
	case MSG_PONG:
		m->pong.system_time_ns = any_time(l);
		m->pong.error_ns = (int64_t)lies_below(l, INT64_MAX);
		return true;
	default:
		return false;
	}
}

void lies_reword(struct lies *l, const uint8_t *p, size_t n, struct buf *out)
{
	struct made made = { 0 };
	struct msg *m = NULL;

	if (!msg_get(p[FRAME_HEADER_BYTES - 1], p + FRAME_HEADER_BYTES, n - FRAME_HEADER_BYTES, &m,
		     NULL) &&
	    reword(l, &made, m))
		msg_put(out, m);
	else
		buf_put(out, p, n);
	msg_free(m);
}
