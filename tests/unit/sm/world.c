/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/sm/world.h"

#include "common/base/log.h"

#include <stdio.h>
#include <stdlib.h>

#define START_WALL (INT64_C(1700000000) * SEC)

void world_run(struct world *w, nsec_t time)
{
	loop_advance(w->loop, time);
}

static struct identity identity(enum role role, const char *site, const char *host)
{
	static uint8_t serial;
	struct identity id = { .role = role, .wall_not_after = INT64_MAX };

	id.serial[SERIAL_BYTES - 1] = ++serial;
	str_copy(id.site, sizeof(id.site), site);
	str_copy(id.host, sizeof(id.host), host);
	return id;
}

/* --- the fake mainsm */

static int top_on_hello(void *arg, struct link *l, const struct msg_hello *h, struct msg_hello_ack *ack,
			struct err *why)
{
	struct top *t = arg;

	ck_assert_str_eq(h->role, "sm");
	ck_assert_str_eq(h->site, "a");
	str_copy(t->listen, sizeof(t->listen), h->listen);
	t->hellos++;
	ack->site_number = t->site_number;
	ack->site = "a";
	ack->name = "top";
	return 0;
}

static void top_on_up(void *arg, struct link *l, const struct msg_hello_ack *ack)
{
	struct top *t = arg;

	t->link = l;
}

static void top_on_down(void *arg, struct link *l, const struct err *why)
{
	struct top *t = arg;

	if (t->link == l)
		t->link = NULL;
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

/* A snapshot: what was there of the node and is not named is gone with its last part; node 0 = a new round. */
static void take_directory(struct top *t, const struct msg_directory *m)
{
	static bool named[OBJECTS_SEEN];
	static bool in_snapshot;
	uint32_t number;

	t->directories++;
	t->objects_told += (unsigned)m->nobject;
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
		if (!named[i] && token_node(t->seen[i].token, strlen(t->seen[i].token), &number) && number == m->node)
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
	t->ack_text[0] = 0;
	if (m->nentry)
		snprintf(t->ack_text, sizeof(t->ack_text), "%s: %.*s", m->entry[0].objects, (int)m->entry[0].value.n,
			 (const char *)m->entry[0].value.p);
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
	case MSG_TRIGGERED:
		t->triggers++;
		t->dropped += m->triggered.dropped;
		t->seq = m->triggered.seq;
		t->trigger_tool = m->triggered.tool;
		str_copy(t->csr, sizeof(t->csr), m->triggered.csr);
		str_copy(t->thread, sizeof(t->thread), m->triggered.thread);
		break;
	default:
		ck_abort_msg("the sm sent %s", msg_type_name(m->type));
	}
}

static void top_on_accept(void *arg, struct chan *c)
{
	struct top *t = arg;
	const struct link_conf conf = {
		.loop = t->w->loop,
		.rng = &t->w->rng,
		.timebase = &t->w->top_time,
		.epoch = t->epoch,
		.handler = { .on_hello = top_on_hello, .on_up = top_on_up, .on_msg = top_on_msg,
			     .on_down = top_on_down, .arg = t },
	};

	ck_assert_ptr_nonnull(link_accept(&conf, &c));
}

void top_start(struct world *w)
{
	struct top *t = &w->top;
	const struct identity who = identity(ROLE_MAINSM, "", "top");
	const struct net_listen_conf conf = { .port = TOP_PORT, .roles = ROLE_BIT(ROLE_SM) };
	const struct net_accept accept = { .on_accept = top_on_accept, .arg = t };
	struct err e = {0};

	t->w = w;
	t->epoch++;
	t->site_number = 5;
	ck_assert_int_eq(mem_ctx_open(w->net, &who, &t->ctx, &e), 0);
	ck_assert_msg(net_listen(t->ctx, &conf, &accept, &t->listener, &e) == 0, "%s", e.text);
}

void top_stop(struct world *w)
{
	struct top *t = &w->top;

	if (!t->ctx)
		return;
	net_listener_close(t->listener);
	link_close(t->link, "mainsm ends");
	t->link = NULL;
	world_run(w, MS);
	net_ctx_free(t->ctx);
	t->ctx = NULL;
	t->nseen = 0;
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
	ck_assert_ptr_nonnull(w->top.link);
	return link_send(w->top.link, m);
}

uint64_t top_send_request(struct world *w, const char *text, nsec_t deadline)
{
	static const uint32_t numbers[] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	struct msg m = { .type = MSG_REQUEST };
	struct omis_request *r = NULL;
	struct err e = {0};

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
			       .arm = { .csr = csr, .tool = 3, .identity = "tool-observe//u@top", .version = version,
					.text = { (const uint8_t *)text, strlen(text) }, .local_prefix = prefix,
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

/* --- the fake lms */

static int lm_dial(void *arg, unsigned attempt, const struct chan_handler *h, struct chan **out, struct err *e)
{
	struct lm *l = arg;
	const struct net_expect x = { .roles = ROLE_BIT(ROLE_SM) };

	return net_dial(l->ctx, "sm-a", l->w->conf.port, &x, h, out, e);
}

static void add_objects(struct reply *to, const struct lm *l, const struct msg_request *q,
			const struct omis_call *call, uint32_t action)
{
	int at = call->service->object_param;
	const struct omis_value *list = at < 0 ? NULL : &call->param[at];
	struct buf objects = BUF_INIT(FRAME_MAX_BYTES);

	for (size_t k = 0; list && list->kind == OMIS_LIST && k < list->list.n; k++)
		buf_printf(&objects, "%s%s", k ? "," : "", list->list.v[k].s.p);
	if (l->denies_cells && call->service->object == 'a')
		reply_add(to, action, buf_str(&objects), STATUS_UNKNOWN_OBJECT, "no such counter");
	else
		reply_add(to, action, at < 0 ? "" : buf_str(&objects), STATUS_OK, l->value ? l->value : "1");
	to->coverage.asked += list && list->kind == OMIS_LIST ? (uint32_t)list->list.n : 0;
	buf_done(&objects);
}

static void pad(struct reply *to, const struct lm *l, uint32_t action)
{
	static char large[20000];
	char token[TOKEN_BYTES];

	memset(large, 'x', sizeof(large) - 1);
	large[0] = '"';
	large[sizeof(large) - 2] = '"';
	for (size_t i = 0; i < l->pad; i++) {
		snprintf(token, sizeof(token), "p_%u_%06zu", l->number, i);
		large[1] = (char)('a' + i % 26);
		large[2] = (char)('a' + i / 26 % 26);
		large[3] = (char)('a' + l->number);
		ck_assert_int_eq(reply_add(to, action, token, STATUS_OK, large), 0);
	}
	to->coverage.asked += (uint32_t)l->pad;
}

static void lm_answer(struct lm *l, const struct msg_request *q)
{
	struct omis_request *r = NULL;
	struct reply *reply = reply_new();
	struct buf out = BUF_INIT(8 * FRAME_MAX_BYTES);

	ck_assert_int_eq(omis_parse_inner((const char *)q->text.p, q->text.n, &r, NULL), 0);
	ck_assert_int_eq(omis_check(r, NULL), 0);
	ck_assert_uint_eq(r->naction, q->naction);
	reply->id = q->id;
	for (size_t i = 0; i < r->naction; i++)
		add_objects(reply, l, q, &r->action[i], q->action[i]);
	pad(reply, l, q->action[0]);
	reply->coverage.answered = reply->coverage.asked;
	reply_add_time(reply, START_WALL + l->number, START_WALL + l->number);
	ck_assert_int_eq(wire_put_reply(&out, reply), 0);
	ck_assert_int_eq(link_send_frames(l->link, out.p, out.n), 0);
	buf_done(&out);
	reply_free(reply);
	omis_request_free(r);
}

static void lm_got_request(struct lm *l, const struct msg_request *m)
{
	l->requests++;
	l->last_id = m->id;
	l->right = m->right;
	l->tool = m->tool;
	l->deadline = m->deadline_ns;
	str_copy(l->identity, sizeof(l->identity), m->identity);
	snprintf(l->text, sizeof(l->text), "%.*s", (int)m->text.n, (const char *)m->text.p);
	if (!l->is_mute)
		lm_answer(l, m);
}

static void lm_got_arm(struct lm *l, const struct msg_arm *m)
{
	const struct msg ack = { .type = MSG_ARM_ACK, .arm_ack = { .csr = m->csr, .version = m->version } };

	l->arms++;
	l->version = m->version;
	l->prefix = m->local_prefix;
	str_copy(l->csr, sizeof(l->csr), m->csr);
	snprintf(l->armed, sizeof(l->armed), "%.*s", (int)m->text.n, (const char *)m->text.p);
	if (!l->no_ack)
		lm_send(l, &ack);
}

static void lm_on_msg(void *arg, struct link *link, const struct msg *m)
{
	struct lm *l = arg;

	switch (m->type) {
	case MSG_REQUEST:
		lm_got_request(l, &m->request);
		break;
	case MSG_CANCEL:
		l->cancels++;
		break;
	case MSG_ARM:
		lm_got_arm(l, &m->arm);
		break;
	case MSG_DISARM:
		l->disarms++;
		str_copy(l->disarmed, sizeof(l->disarmed), m->disarm.csr);
		break;
	case MSG_TOOL_GONE:
		l->gones++;
		l->gone_tool = m->tool_gone.tool;
		break;
	case MSG_ENROL_ACK:
		ck_assert_ptr_nonnull(strstr(m->enrol_ack.error, "ask mainsm"));
		l->enrol_acks++;
		break;
	case MSG_STOP:
		l->stops++;
		if (l->says_bye)
			lm_stop(l->w, (size_t)(l - l->w->lm));
		break;
	default:
		ck_abort_msg("the sm sent %s", msg_type_name(m->type));
	}
}

static void lm_on_up(void *arg, struct link *link, const struct msg_hello_ack *ack)
{
	struct lm *l = arg;

	l->link = link;
	l->is_up = true;
	l->ups++;
	ck_assert_uint_eq(ack->node, l->number);
	ck_assert_str_eq(ack->site, "a");
	lm_snapshot(l);
}

static void lm_on_down(void *arg, struct link *link, const struct err *why)
{
	struct lm *l = arg;

	l->is_up = false;
	l->downs++;
	str_copy(l->why, sizeof(l->why), why->text);
}

static void lm_on_retry(void *arg, struct link *link, const struct err *why, nsec_t retry_in)
{
	struct lm *l = arg;

	l->retries++;
	str_copy(l->why, sizeof(l->why), why->text);
}

void lm_set(struct world *w, size_t i, const char *site, const char *host, uint32_t number)
{
	struct lm *l = &w->lm[i];

	*l = (struct lm){ .w = w, .number = number, .epoch = 1, .procs = 2, .id = identity(ROLE_LM, site, host) };
	str_copy(l->host, sizeof(l->host), host);
}

void lm_start(struct world *w, size_t i)
{
	struct lm *l = &w->lm[i];
	const struct link_dialer dialer = { lm_dial, l };
	const struct link_conf conf = {
		.loop = w->loop,
		.rng = &w->rng,
		.handler = { .on_up = lm_on_up, .on_msg = lm_on_msg, .on_down = lm_on_down, .on_retry = lm_on_retry,
			     .arg = l },
	};
	const struct msg_hello hello = { .role = "lm", .site = l->id.site, .host = l->host, .node = l->number,
					 .epoch = l->epoch };

	if (!l->ctx)
		ck_assert_int_eq(mem_ctx_open(w->net, &l->id, &l->ctx, NULL), 0);
	l->link = link_dial(&conf, &dialer, &hello);
	ck_assert_ptr_nonnull(l->link);
}

void lm_stop(struct world *w, size_t i)
{
	struct lm *l = &w->lm[i];

	link_close(l->link, "the lm ends");
	l->link = NULL;
	l->is_up = false;
}

static void lm_free(struct world *w, size_t i)
{
	lm_stop(w, i);
	world_run(w, MS);
	net_ctx_free(w->lm[i].ctx);
	w->lm[i].ctx = NULL;
}

void lm_send(struct lm *l, const struct msg *m)
{
	ck_assert_int_eq(link_send(l->link, m), 0);
}

void lm_tell(struct lm *l, bool full, const struct msg_object *o, size_t n)
{
	const struct msg m = { .type = MSG_DIRECTORY,
			       .directory = { .full = full, .node = l->number, .object = o, .nobject = n } };

	lm_send(l, &m);
}

void lm_snapshot(struct lm *l)
{
	struct msg_object *o = calloc(2 * l->procs + 1, sizeof(*o));
	char (*token)[TOKEN_BYTES] = calloc(2 * l->procs + 1, TOKEN_BYTES);
	char node[TOKEN_BYTES];

	snprintf(node, sizeof(node), "n_%u", l->number);
	o[0] = (struct msg_object){ .token = node, .parent = "", .name = l->host, .rank = -1 };
	for (size_t i = 0; i < l->procs; i++) {
		token_print_process((struct token *)token[2 * i], l->number, (uint32_t)i + 1);
		token_print_thread((struct token *)token[2 * i + 1], l->number, (uint32_t)i + 1);
		o[2 * i + 1] = (struct msg_object){ .token = token[2 * i], .parent = node, .name = "heat",
						    .rank = (int32_t)i };
		o[2 * i + 2] = (struct msg_object){ .token = token[2 * i + 1], .parent = token[2 * i], .name = "main",
						    .rank = -1 };
	}
	lm_tell(l, true, o, 2 * l->procs + 1);
	free(o);
	free(token);
}

void lm_trigger(struct lm *l, const char *csr, const char *thread)
{
	static uint64_t seq;
	char node[TOKEN_BYTES];
	const struct msg m = { .type = MSG_TRIGGERED,
			       .triggered = { .csr = csr, .tool = 3, .seq = ++seq, .time_ns = START_WALL, .node = node,
					      .thread = thread } };

	snprintf(node, sizeof(node), "n_%u", l->number);
	link_send(l->link, &m);
}

void lm_reply(struct lm *l, uint64_t id, uint32_t action, const char *objects)
{
	const struct msg_entry entry = { .action = action, .objects = objects, .value = { (const uint8_t *)"666", 3 } };
	const struct msg m = { .type = MSG_REPLY, .reply = { .id = id, .entry = &entry, .nentry = 1 } };

	lm_send(l, &m);
}

void lms_start(struct world *w, size_t n)
{
	for (size_t i = 0; i < n; i++)
		lm_start(w, i);
	world_run(w, 50 * MS);
	for (size_t i = 0; i < n; i++)
		ck_assert_msg(w->lm[i].is_up, "lm %zu: %s", i, w->lm[i].why);
}

void lm_cut(struct world *w, size_t i, bool cut)
{
	const struct mem_link how = { .delay = MS / 10, .cut = cut };

	ck_assert_int_eq(mem_net_set_link(w->net, w->lm[i].host, "sm-a", &how), 0);
}

/* --- the sm */

static int sm_dial(void *arg, unsigned attempt, const struct chan_handler *h, struct chan **out, struct err *e)
{
	struct world *w = arg;
	const struct net_expect x = { .roles = ROLE_BIT(ROLE_MAINSM) };

	return net_dial(w->ctx, "top", TOP_PORT, &x, h, out, e);
}

static void on_ready(void *arg)
{
	struct world *w = arg;

	w->ready++;
}

static void on_end(void *arg, const char *reason)
{
	struct world *w = arg;

	w->ends++;
	str_copy(w->end_reason, sizeof(w->end_reason), reason);
}

static void on_unreachable(void *arg, const struct err *why, bool was_up)
{
	struct world *w = arg;

	w->unreachable++;
	w->unreachable_was_up = was_up;
	str_copy(w->unreachable_why, sizeof(w->unreachable_why), why->text);
}

void world_start_sm(struct world *w)
{
	const struct identity who = identity(ROLE_SM, "a", "sm-a");
	struct err e = {0};

	ck_assert_int_eq(mem_ctx_open(w->net, &who, &w->ctx, &e), 0);
	timebase_init(&w->timebase, loop_now(w->loop), START_WALL);
	w->conf.ctx = w->ctx;
	w->conf.epoch++;
	ck_assert_msg(sm_open(&w->conf, &w->sm, &e) == 0, "%s", e.text);
	w->conf.port = sm_port(w->sm);
	world_run(w, 10 * MS);
}

void world_stop_sm(struct world *w)
{
	sm_free(w->sm);
	w->sm = NULL;
	world_run(w, MS);
	net_ctx_free(w->ctx);
	w->ctx = NULL;
}

void world_open_alone(struct world *w)
{
	char host[32];

	log_set_level(LOG_LEVEL_ERROR);
	*w = (struct world){ .loop = loop_new_virtual() };
	rng_init(&w->rng, 7);
	timebase_init_root(&w->top_time, loop_now(w->loop), START_WALL);
	w->net = mem_net_new(w->loop, 1);
	w->conf = (struct sm_conf){ .loop = w->loop,
				    .rng = &w->rng,
				    .timebase = &w->timebase,
				    .dialer = { sm_dial, w },
				    .site = "a",
				    .host = "sm-a",
				    .software = "omig test",
				    .linger = 60 * SEC,
				    .on_ready = on_ready,
				    .on_unreachable = on_unreachable,
				    .on_end = on_end,
				    .arg = w };
	for (size_t i = 0; i < LMS; i++) {
		snprintf(host, sizeof(host), "h%zu", i + 1);
		lm_set(w, i, "a", host, (uint32_t)i + 1);
	}
	world_start_sm(w);
}

void world_open(struct world *w)
{
	world_open_alone(w);
	top_start(w);
	world_run(w, SEC);
	ck_assert_ptr_nonnull(w->top.link);
}

void world_done(struct world *w)
{
	for (size_t i = 0; i < LMS; i++)
		if (w->lm[i].ctx)
			lm_free(w, i);
	if (w->sm)
		world_stop_sm(w);
	top_stop(w);
	reply_free(w->top.last);
	reply_free(w->top.part);
	world_run(w, 5 * SEC);
	mem_net_free(w->net);
	loop_free(w->loop);
}

struct sm_counts world_counts(const struct world *w)
{
	struct sm_counts c;

	sm_get_counts(w->sm, &c);
	return c;
}
