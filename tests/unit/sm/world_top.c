/* SPDX-License-Identifier: Apache-2.0 */
/* The fake mainsm. */
#include "tests/unit/sm/world.h"

#include <stdio.h>

static int top_on_hello(void *arg, struct link *l, const struct msg_hello *h,
			struct msg_hello_ack *ack, struct err *why)
{
	struct top *t = arg;

	ck_assert_str_eq(h->site, "a");
	ack->site_number = t->site_number;
	ack->site = "a";
	ack->name = "top";
	ack->node = t->gives ? t->gives : h->node;
	if (h->want_redirect) {
		link_set_user(l, t);
		snprintf(t->to, sizeof(t->to), "sm-a:%u", t->w->conf.port);
		ack->redirect = t->up.link ? t->to : "wait";
		ack->retry_ms = 50;
		return 0;
	}
	ck_assert_str_eq(h->role, "sm");
	str_copy(t->listen, sizeof(t->listen), h->listen);
	t->hellos++;
	return 0;
}

static struct seen *slot_of(struct top *t, const char *token)
{
	for (size_t i = 0; i < t->nseen; i++)
		if (str_eq(t->seen[i].token, token))
			return &t->seen[i];
	ck_assert_uint_lt(t->nseen, OBJECTS_SEEN);
	str_copy(t->seen[t->nseen].token, TOKEN_BYTES, token);
	return &t->seen[t->nseen++];
}

static void take_object(struct top *t, const struct msg_object *o)
{
	struct seen *s = slot_of(t, o->token);

	s->is_there = o->op != MSG_OP_GONE;
	s->state = o->state;
	s->sub = o->sub;
	str_copy(s->parent, sizeof(s->parent), o->parent);
	str_copy(s->name, sizeof(s->name), o->name);
	str_copy(s->host, sizeof(s->host), o->host);
	if (token_class(o->token, strlen(o->token)) == 'n' && o->sub != MSG_NODE_UP)
		t->silent_at = loop_now(t->w->loop);
}

/* A snapshot: with its last part, unnamed objects of the node are gone; node 0 = a new round. */
static void take_directory(struct top *t, const struct msg_directory *m)
{
	static bool named[OBJECTS_SEEN];
	static bool in_snapshot;
	uint32_t number;

	t->directories++;
	t->objects_reported += (unsigned)m->nobject;
	if (m->full && !in_snapshot) {
		memset(named, 0, sizeof(named));
		t->fulls++;
	}
	in_snapshot = m->full && m->more;
	for (size_t i = 0; i < m->nobject; i++) {
		take_object(t, &m->object[i]);
		named[slot_of(t, m->object[i].token) - t->seen] = true;
	}
	for (size_t i = 0; m->full && !m->more && i < t->nseen; i++)
		if (!named[i] && token_node(t->seen[i].token, strlen(t->seen[i].token), &number) &&
		    number == m->node)
			t->seen[i].is_there = false;
}

static void take_reply(struct top *t, const struct msg_reply *m)
{
	t->parts++;
	if (!t->part)
		t->part = reply_new();
	ck_assert_int_eq(wire_add_reply(t->part, m), 0);
	if (m->more)
		return;
	t->replies++;
	reply_free(t->last);
	t->last = t->part;
	t->part = NULL;
}

static void take_ack(struct top *t, const struct msg_arm_ack *m)
{
	t->acks++;
	t->ack_version = m->version;
	t->ack_errors = (unsigned)m->nentry;
	str_copy(t->csr, sizeof(t->csr), m->csr);
	t->ack_status = m->nentry ? m->entry[0].status : STATUS_OK;
	t->ack_text[0] = 0;
	if (m->nentry)
		snprintf(t->ack_text, sizeof(t->ack_text), "%s: %.*s", m->entry[0].objects,
			 (int)m->entry[0].value.n, (const char *)m->entry[0].value.p);
}

static void top_on_msg(void *arg, struct link *l, const struct msg *m)
{
	struct top *t = arg;

	switch (m->type) {
	case MSG_DIRECTORY:
		take_directory(t, &m->directory);
		break;
	case MSG_REPLY:
		take_reply(t, &m->reply);
		break;
	case MSG_ARM_ACK:
		take_ack(t, &m->arm_ack);
		break;
	case MSG_LOSSES:
		t->losses++;
		t->lasts += m->losses.is_last;
		t->lost += m->losses.dropped;
		break;
	case MSG_TRIGGERED:
		t->triggers++;
		t->dropped += m->triggered.dropped;
		t->seq = m->triggered.seq;
		t->trigger_tool = m->triggered.tool;
		str_copy(t->csr, sizeof(t->csr), m->triggered.csr);
		str_copy(t->thread, sizeof(t->thread), m->triggered.thread);
		break;
	case MSG_FLOW_ACK:
	case MSG_FLOW_BATCH:
	case MSG_EVENTS:
		messages_add(&t->flows, m);
		break;
	default:
		ck_abort_msg("the sm sent %s", msg_type_name(m->type));
	}
}

void top_start(struct world *w)
{
	struct top *t = &w->top;
	const struct identity who = fake_identity(ROLE_MAINSM, "", "top");
	uint16_t port = TOP_PORT;

	t->w = w;
	t->site_number = 5;
	t->up = (struct upper){ .loop = w->loop,
				.rng = &w->rng,
				.time = &w->top_time,
				.epoch = t->up.epoch + 1,
				.on_hello = top_on_hello,
				.on_msg = top_on_msg,
				.arg = t };
	upper_listen(&t->up, w->net, &who, &port);
}

void top_stop(struct world *w)
{
	if (!w->top.up.ctx)
		return;
	upper_close(&w->top.up, MS);
	w->top.nseen = 0;
}

struct seen *top_find(struct world *w, const char *token)
{
	for (size_t i = 0; i < w->top.nseen; i++)
		if (w->top.seen[i].is_there && str_eq(w->top.seen[i].token, token))
			return &w->top.seen[i];
	return NULL;
}

size_t top_count(const struct world *w)
{
	size_t n = 0;

	for (size_t i = 0; i < w->top.nseen; i++)
		n += w->top.seen[i].is_there;
	return n;
}

int top_send(struct world *w, const struct msg *m)
{
	ck_assert_ptr_nonnull(w->top.up.link);
	return link_send(w->top.up.link, m);
}

uint64_t top_send_request(struct world *w, const char *text, nsec_t deadline)
{
	static const uint32_t numbers[] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	struct msg m = { .type = MSG_REQUEST };
	struct omis_request *r = NULL;
	struct err e = { 0 };

	m.request = (struct msg_request){ .id = ++w->top.next_id + 1000,
					  .tool = 3,
					  .identity = "tool-manipulate//u@top",
					  .right = OMIS_MANIPULATE,
					  .deadline_ns = deadline,
					  .text = { (const uint8_t *)text, strlen(text) },
					  .action = numbers };
	m.request.naction = 1;
	if (!omis_parse_inner(text, strlen(text), &r, &e))
		m.request.naction = r->naction;
	omis_request_free(r);
	ck_assert_int_eq(top_send(w, &m), 0);
	return m.request.id;
}

const struct reply *top_ask(struct world *w, const char *text, nsec_t deadline)
{
	unsigned before = w->top.replies;
	uint64_t id = top_send_request(w, text, deadline);
	nsec_t until = loop_now(w->loop) + deadline + SEC;

	while (w->top.replies == before && loop_now(w->loop) < until)
		world_run(w, MS);
	ck_assert_msg(w->top.replies == before + 1, "no answer to %s", text);
	ck_assert_uint_eq(w->top.last->id, id);
	return w->top.last;
}

void top_arm(struct world *w, const char *csr, uint32_t version, const char *text, uint32_t prefix)
{
	const struct msg m = { .type = MSG_ARM,
			       .arm = { .csr = csr,
					.tool = 3,
					.identity = "tool-observe//u@top",
					.version = version,
					.text = { (const uint8_t *)text, strlen(text) },
					.local_prefix = prefix,
					.reply = true } };

	ck_assert_int_eq(top_send(w, &m), 0);
	world_run(w, MS);
}

const struct reply_entry *entry_of(const struct reply *r, uint32_t action, size_t n)
{
	for (size_t i = 0; i < r->nentry; i++)
		if (r->entry[i].action == action && !n--)
			return &r->entry[i];
	ck_abort_msg("no such entry of action %u", action);
	return NULL;
}

size_t entries_of(const struct reply *r, uint32_t action)
{
	size_t n = 0;

	for (size_t i = 0; i < r->nentry; i++)
		n += r->entry[i].action == action;
	return n;
}
