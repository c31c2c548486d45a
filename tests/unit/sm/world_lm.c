/* SPDX-License-Identifier: Apache-2.0 */
/* The fake lms. */
#include "tests/unit/sm/world.h"

#include <stdio.h>
#include <stdlib.h>

static int lm_dial(void *arg, unsigned attempt, const struct chan_handler *h, struct chan **out,
		   struct err *e)
{
	struct lm *l = arg;
	const struct net_expect x = { .roles = ROLE_BIT(ROLE_SM) };

	return net_dial(
		l->ctx,
		&(struct net_target){ .host = "sm-a", .port = l->w->conf.port, .expect = &x }, h,
		out, e);
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
		reply_add(to, action, at < 0 ? "" : buf_str(&objects), STATUS_OK,
			  l->value ? l->value : "1");
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
	reply_add_time(reply, WORLD_WALL + l->number, WORLD_WALL + l->number);
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
	const struct msg ack = { .type = MSG_ARM_ACK,
				 .arm_ack = { .csr = m->csr, .version = m->version } };

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
		if (!l->no_part)
			lm_send(l, &(struct msg){ .type = MSG_LOSSES,
						  .losses = { m->disarm.csr, l->lost, true } });
		break;
	case MSG_TOOL_GONE:
		l->gones++;
		l->gone_tool = m->tool_gone.tool;
		break;
	case MSG_RELEASE:
		l->releases++;
		break;
	case MSG_LET_GO:
		l->let_gos++;
		break;
	case MSG_ENROL_ACK:
		ck_assert_ptr_nonnull(strstr(m->enrol_ack.error, "ask mainsm"));
		l->enrol_acks++;
		break;
	case MSG_FLOW_LOAD:
	case MSG_FLOW_READ:
	case MSG_FLOW_END:
	case MSG_EVENTS_OPEN:
	case MSG_EVENTS_ACK:
	case MSG_EVENTS_END:
		kept_add(&l->flows, m);
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

	*l = (struct lm){ .w = w,
			  .number = number,
			  .epoch = 1,
			  .procs = 2,
			  .id = world_identity(ROLE_LM, site, host) };
	str_copy(l->host, sizeof(l->host), host);
}

void lm_start(struct world *w, size_t i)
{
	struct lm *l = &w->lm[i];
	const struct link_dialer dialer = { lm_dial, l };
	const struct link_conf conf = {
		.loop = w->loop,
		.rng = &w->rng,
		.handler = { .on_up = lm_on_up,
			     .on_msg = lm_on_msg,
			     .on_down = lm_on_down,
			     .on_retry = lm_on_retry,
			     .arg = l },
	};
	const struct msg_hello hello = { .role = "lm",
					 .site = l->id.site,
					 .host = l->host,
					 .node = l->number,
					 .epoch = l->epoch };

	if (!l->ctx)
		ck_assert_int_eq(mem_ctx_open(w->net, &l->id, &l->ctx, NULL), 0);
	l->link = link_dial(&conf, &dialer, &hello);
	ck_assert_ptr_nonnull(l->link);
}

static void climb_up(void *arg, uint32_t node, bool is_other)
{
	struct lm *l = arg;

	l->link = parent_current_link(l->parent);
	l->is_up = true;
	l->ups++;
	ck_assert_uint_eq(node, l->number);
	lm_snapshot(l);
}

static void climb_down(void *arg, const struct err *why)
{
	lm_on_down(arg, NULL, why);
	((struct lm *)arg)->link = NULL;
}

static void climb_msg(void *arg, const struct msg *m)
{
	lm_on_msg(arg, NULL, m);
}

static void climb_trouble(void *arg, const struct err *why, nsec_t retry_in)
{
	lm_on_retry(arg, NULL, why, retry_in);
}

static void climb_writable(void *arg)
{
}

void lm_climb(struct world *w, size_t i)
{
	struct lm *l = &w->lm[i];
	struct connstr conn = { .nhost = 1, .port = TOP_PORT };
	struct parent_conf c = { .loop = w->loop,
				 .rng = &w->rng,
				 .conn = &conn,
				 .host = l->host,
				 .epoch = l->epoch,
				 .node = l->number,
				 .software = "omig test",
				 .on_up = climb_up,
				 .on_down = climb_down,
				 .on_msg = climb_msg,
				 .on_writable = climb_writable,
				 .on_trouble = climb_trouble,
				 .arg = l };

	str_copy(conn.host[0], sizeof(conn.host[0]), "top");
	if (!l->ctx)
		ck_assert_int_eq(mem_ctx_open(w->net, &l->id, &l->ctx, NULL), 0);
	c.ctx = l->ctx;
	l->parent = parent_new(&c);
	ck_assert_ptr_nonnull(l->parent);
}

void lm_stop(struct world *w, size_t i)
{
	struct lm *l = &w->lm[i];

	if (!l->parent)
		link_close(l->link, "the lm ends");
	parent_free(l->parent);
	l->parent = NULL;
	l->link = NULL;
	l->is_up = false;
}

void lm_free(struct world *w, size_t i)
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

void lm_report(struct lm *l, bool full, const struct msg_object *o, size_t n)
{
	const struct msg m = {
		.type = MSG_DIRECTORY,
		.directory = { .full = full, .node = l->number, .object = o, .nobject = n }
	};

	lm_send(l, &m);
}

void lm_snapshot(struct lm *l)
{
	struct msg_object *o = calloc(2 * l->procs + 1, sizeof(*o));
	char(*token)[TOKEN_BYTES] = calloc(2 * l->procs + 1, TOKEN_BYTES);
	char node[TOKEN_BYTES];

	snprintf(node, sizeof(node), "n_%u", l->number);
	o[0] = (struct msg_object){ .token = node, .parent = "", .name = l->host, .rank = -1 };
	for (size_t i = 0; i < l->procs; i++) {
		token_print_process((struct token *)token[2 * i], l->number, (uint32_t)i + 1);
		token_print_thread((struct token *)token[2 * i + 1], l->number, (uint32_t)i + 1);
		o[2 * i + 1] = (struct msg_object){
			.token = token[2 * i], .parent = node, .name = "heat", .rank = (int32_t)i
		};
		o[2 * i + 2] = (struct msg_object){ .token = token[2 * i + 1],
						    .parent = token[2 * i],
						    .name = "main",
						    .rank = -1 };
	}
	lm_report(l, true, o, 2 * l->procs + 1);
	free(o);
	free(token);
}

void lm_trigger(struct lm *l, const char *csr, const char *thread)
{
	static uint64_t seq;
	char node[TOKEN_BYTES];
	const struct msg m = { .type = MSG_TRIGGERED,
			       .triggered = { .csr = csr,
					      .tool = 3,
					      .seq = ++seq,
					      .time_ns = WORLD_WALL,
					      .node = node,
					      .thread = thread } };

	snprintf(node, sizeof(node), "n_%u", l->number);
	link_send(l->link, &m);
}

void lm_reply(struct lm *l, uint64_t id, uint32_t action, const char *objects)
{
	const struct msg_entry entry = { .action = action,
					 .objects = objects,
					 .value = { (const uint8_t *)"666", 3 } };
	const struct msg m = { .type = MSG_REPLY,
			       .reply = { .id = id, .entry = &entry, .nentry = 1 } };

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
