/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A mainsm in a network of memory under a virtual clock. A test plays its sms, lms and tools. An sm
 * answers each action with the tokens of its request, unless it is silenced.
 */
#ifndef TESTS_UNIT_MAINSM_WORLD_H
#define TESTS_UNIT_MAINSM_WORLD_H

#include "common/base/hash.h"
#include "common/base/str.h"
#include "common/link/link.h"
#include "common/loop/loop.h"
#include "common/net/mem.h"
#include "common/omis/omis.h"
#include "mainsm/mainsm.h"
#include "tree/wire.h"

#include <check.h>
#include <string.h>

#define MS NSEC_PER_MSEC
#define SEC NSEC_PER_SEC
#define PART_LOG 512

struct world;

/* A fake sm or lm. */
struct below {
	struct world *w;
	char host[32];
	struct net_ctx *ctx;
	struct link *link;
	struct rng rng;
	bool is_up, is_mute, no_ack, no_part; /* no_part: it does not confirm the end of a csr */
	uint64_t lost; /* reported losses */
	bool is_stacked; /* an sm below another sm: it asks for the site's sm */
	unsigned requests, cancels, arms, disarms, releases, gones, stops, revoked;
	char text[PART_LOG], armed[PART_LOG], csr[40], redirect[64];
	uint32_t tool, version, prefix, right, node;
	bool wants_reply;
	uint32_t depth;
	char of_csr[40]; /* of the last request */
	uint64_t last_id, released, op_epoch, op;
	nsec_t deadline;
	const char *value; /* the value of each entry; NULL = "1" */
	const char *ended; /* a process that its replies report as ended */
	const char *refused, *refusal; /* objects that it cannot watch, and why; NULL = none */
	const char *take; /* the answer to omig_proc_take; NULL = there is no such process */
	/* The handler of messages about measurements; NULL: they are ignored. */
	void (*on_flow)(struct below *b, const struct msg *m);
	void *flow; /* the test's */
};

/* A tool that a test plays. */
struct above {
	struct world *w;
	struct net_ctx *ctx;
	struct link *link;
	struct rng rng;
	bool is_up;
	unsigned replies, downs; /* downs: the link then reconnects */
	uint64_t next_id;
	struct reply *last; /* the last complete reply; owned */
	unsigned kinds[16]; /* how many of each kind / 2 */
	struct reply *of_kind[16]; /* the last of each; owned */
	unsigned events[8]; /* kinds the kinds of the first replies that are not final, in order */
	size_t nevent;
	char why[ERR_TEXT_BYTES];
	uint32_t number;
	void (*on_events)(const struct msg_events *m); /* NULL: ignored */
};

struct world {
	struct loop *loop;
	struct mem_net *net;
	struct net_ctx *top;
	struct rng rng;
	struct timebase timebase;
	struct mainsm *m;
	struct mainsm_conf conf;
	uint16_t port;
	unsigned starts, ends;
	char started[64];
	int start_rc;
	char dir[64]; /* "" = nothing is stored */
	nsec_t wall_ahead;
};

/* The same random numbers in each run. */
static inline void world_dice(struct rng *r, const char *name)
{
	rng_init(r, hash_sip13(&(struct hash_key){ 0 }, name, strlen(name)));
}

static inline nsec_t world_wall(void *arg)
{
	struct world *w = arg;

	return INT64_C(1700000000) * SEC + w->wall_ahead + loop_now(w->loop);
}

static inline int world_start_sm(void *arg, const struct site *site, const char *launcher,
				 const struct token_text *token, struct err *e)
{
	struct world *w = arg;

	w->starts++;
	str_copy(w->started, sizeof(w->started), site->name);
	ck_assert_uint_eq(strlen(token->secret), TOKEN_SECRET_LEN);
	return w->start_rc ? err_set(e, ERR_SYS, "no such program") : 0;
}

static inline int world_connection(void *arg, const struct token_text *token, struct buf *out)
{
	return buf_printf(out, "omig1:h:1:pin:%s.%s", token->id, token->secret);
}

static inline void world_on_end(void *arg, const char *reason)
{
	struct world *w = arg;

	w->ends++;
}

static inline struct identity world_identity(enum role role, const char *site, const char *host)
{
	static uint8_t serial;
	struct identity id = { .role = role, .wall_not_after = INT64_MAX };

	id.serial[0] = ++serial;
	str_copy(id.site, sizeof(id.site), site);
	str_copy(id.host, sizeof(id.host), host);
	return id;
}

static inline void world_start(struct world *w)
{
	struct err e = { 0 };
	struct identity who = world_identity(ROLE_MAINSM, "", "top");

	ck_assert_int_eq(mem_ctx_open(w->net, &who, &w->top, &e), 0);
	w->conf.ctx = w->top;
	w->conf.epoch++;
	w->conf.state_dir = w->dir[0] ? w->dir : NULL;
	w->conf.port = w->port;
	ck_assert_msg(mainsm_open(&w->conf, &w->m, &e) == 0, "%s", e.text);
	w->port = mainsm_port(w->m);
}

static inline void world_open(struct world *w)
{
	*w = (struct world){ .loop = loop_new_virtual() };
	rng_init(&w->rng, 7);
	timebase_init_root(&w->timebase, loop_now(w->loop), world_wall(w));
	w->net = mem_net_new(w->loop, 1);
	w->conf = (struct mainsm_conf){ .loop = w->loop,
					.rng = &w->rng,
					.timebase = &w->timebase,
					.launcher = "local",
					.wall_now = world_wall,
					.start_sm = world_start_sm,
					.connection = world_connection,
					.on_end = world_on_end,
					.arg = w };
	world_start(w);
}

static inline void world_stop(struct world *w)
{
	mainsm_free(w->m);
	w->m = NULL;
	loop_advance(w->loop, MS);
	net_ctx_free(w->top);
	w->top = NULL;
}

static inline void world_done(struct world *w)
{
	if (w->m)
		world_stop(w);
	loop_advance(w->loop, SEC);
	mem_net_free(w->net);
	loop_free(w->loop);
}

static inline void world_run(struct world *w, nsec_t time)
{
	loop_advance(w->loop, time);
}

/* --- below */

static inline int below_dial(void *arg, unsigned attempt, const struct chan_handler *h,
			     struct chan **out, struct err *e)
{
	struct below *b = arg;
	const struct net_expect x = { .roles = ROLE_BIT(ROLE_MAINSM) };

	return net_dial(b->ctx,
			&(struct net_target){ .host = "top", .port = b->w->port, .expect = &x }, h,
			out, e);
}

/* One entry for each action, with the tokens of its object list. */
static inline void below_answer(struct below *b, const struct msg_request *q)
{
	struct omis_request *r = NULL;
	struct reply *reply = reply_new();
	struct buf out = BUF_INIT(FRAME_MAX_BYTES);

	ck_assert_int_eq(omis_parse_inner((const char *)q->text.p, q->text.n, &r, NULL), 0);
	ck_assert_int_eq(omis_check(r, NULL), 0);
	ck_assert_uint_eq(r->naction, q->naction);
	reply->id = q->id;
	for (size_t i = 0; i < r->naction; i++) {
		int at = r->action[i].service->object_param;
		const struct omis_value *list = at < 0 ? NULL : &r->action[i].param[at];
		struct buf objects = BUF_INIT(FRAME_MAX_BYTES);

		for (size_t k = 0; list && list->kind == OMIS_LIST && k < list->list.n; k++) {
			const char *object = list->list.v[k].s.p;

			if (b->ended && str_eq(object, b->ended))
				reply_add(reply, q->action[i], object, STATUS_UNKNOWN_OBJECT,
					  "the process has ended");
			else
				buf_printf(&objects, "%s%s", objects.n ? "," : "", object);
		}
		if (!str_eq(r->action[i].name, "omig_proc_take") && (objects.n || !b->ended))
			reply_add(reply, q->action[i], buf_str(&objects), STATUS_OK,
				  b->value ? b->value : "1");
		else if (objects.n)
			reply_add(reply, q->action[i], buf_str(&objects),
				  b->take ? STATUS_OK : STATUS_UNKNOWN_OBJECT,
				  b->take ? b->take : "words of the host");
		reply->coverage.asked += list ? (uint32_t)list->list.n : 0;
		buf_done(&objects);
	}
	reply->coverage.answered = reply->coverage.asked;
	ck_assert_int_eq(wire_put_reply(&out, reply), 0);
	ck_assert_int_eq(link_send_frames(b->link, out.p, out.n), 0);
	buf_done(&out);
	reply_free(reply);
	omis_request_free(r);
}

static inline void below_got_arm(struct below *b, const struct msg_arm *m)
{
	static const char words[] = "the process has ended";
	struct msg_entry entry = { .objects = b->ended,
				   .status = STATUS_UNKNOWN_OBJECT,
				   .value = { (const uint8_t *)words, sizeof(words) - 1 } };
	struct msg ack = { .type = MSG_ARM_ACK,
			   .arm_ack = { .csr = m->csr,
					.version = m->version,
					.entry = &entry,
					.nentry = b->ended ? 1 : 0 } };

	if (b->refused) {
		entry = (struct msg_entry){ .objects = b->refused,
					    .status = STATUS_PARAMETER_ERROR,
					    .value = { (const uint8_t *)b->refusal,
						       strlen(b->refusal) } };
		ack.arm_ack.nentry = 1;
	}
	b->arms++;
	snprintf(b->armed, sizeof(b->armed), "%.*s", (int)m->text.n, (const char *)m->text.p);
	str_copy(b->csr, sizeof(b->csr), m->csr);
	b->version = m->version;
	b->prefix = m->local_prefix;
	b->tool = m->tool;
	b->wants_reply = m->reply;
	if (!b->no_ack)
		link_send(b->link, &ack);
}

static inline void below_on_msg(void *arg, struct link *l, const struct msg *m)
{
	struct below *b = arg;

	switch (m->type) {
	case MSG_REQUEST:
		b->requests++;
		b->last_id = m->request.id;
		b->right = m->request.right;
		b->deadline = m->request.deadline_ns;
		b->depth = m->request.depth;
		b->op_epoch = m->request.op_epoch;
		b->op = m->request.op;
		str_copy(b->of_csr, sizeof(b->of_csr), m->request.csr);
		snprintf(b->text, sizeof(b->text), "%.*s", (int)m->request.text.n,
			 (const char *)m->request.text.p);
		if (!b->is_mute)
			below_answer(b, &m->request);
		break;
	case MSG_ARM:
		below_got_arm(b, &m->arm);
		break;
	case MSG_DISARM:
		b->disarms++;
		if (!b->no_part)
			link_send(b->link,
				  &(struct msg){ .type = MSG_LOSSES,
						 .losses = { m->disarm.csr, b->lost, true } });
		break;
	case MSG_RELEASE:
		b->releases++;
		b->released = m->release.seq;
		break;
	case MSG_CANCEL:
		b->cancels++;
		break;
	case MSG_TOOL_GONE:
		b->gones++;
		break;
	case MSG_STOP:
		b->stops++;
		break;
	case MSG_REVOKED:
		b->revoked += (unsigned)m->revoked.nserial;
		break;
	default:
		if (b->on_flow)
			b->on_flow(b, m);
		break;
	}
}

static inline void below_on_up(void *arg, struct link *l, const struct msg_hello_ack *ack)
{
	struct below *b = arg;

	b->is_up = true;
	b->node = ack->node;
	str_copy(b->redirect, sizeof(b->redirect), ack->redirect);
}

static inline void below_on_down(void *arg, struct link *l, const struct err *why)
{
	struct below *b = arg;

	b->is_up = false;
}

/* Dials (again) with its certificate. */
static inline void below_begin(struct below *b)
{
	const struct identity *who = net_ctx_self(b->ctx);
	bool is_lm = who->role == ROLE_LM;
	const struct msg_hello hello = { .role = is_lm ? "lm" : "sm",
					 .site = who->site,
					 .host = b->host,
					 .listen = "10.0.0.1:99",
					 .attach = 77,
					 .want_redirect = is_lm || b->is_stacked };
	const struct link_conf conf = { .loop = b->w->loop,
					.rng = &b->rng,
					.handler = { .on_up = below_on_up,
						     .on_msg = below_on_msg,
						     .on_down = below_on_down,
						     .arg = b } };

	b->is_up = false;
	b->link = link_dial(&conf, &(struct link_dialer){ below_dial, b }, &hello);
}

static inline void below_again(struct below *b)
{
	below_begin(b);
	world_run(b->w, 300 * MS);
}

static inline void below_open(struct world *w, struct below *b, enum role role, const char *site,
			      const char *host)
{
	struct identity who = world_identity(role, site, host);

	*b = (struct below){ .w = w };
	world_dice(&b->rng, host);
	str_copy(b->host, sizeof(b->host), host);
	ck_assert_int_eq(mem_ctx_open(w->net, &who, &b->ctx, NULL), 0);
	below_again(b);
}

static inline void below_close(struct below *b)
{
	link_close(b->link, "the test is over");
	world_run(b->w, 10 * MS);
	net_ctx_free(b->ctx);
}

static inline struct msg_object below_object(const char *token, const char *parent,
					     const char *host)
{
	return (struct msg_object){ .token = token,
				    .parent = parent,
				    .name = "prog",
				    .pid = 42,
				    .rank = -1,
				    .flavour = "openmpi",
				    .host = host };
}

/* Answers the request that it kept silent about: one entry of action 1. */
static inline void below_reply(struct below *b, const char *objects, const char *value)
{
	struct reply *r = reply_new();
	struct buf out = BUF_INIT(FRAME_MAX_BYTES);

	r->id = b->last_id;
	reply_add(r, 1, objects, STATUS_OK, value);
	r->coverage.asked = r->coverage.answered = 1;
	ck_assert_int_eq(wire_put_reply(&out, r), 0);
	ck_assert_int_eq(link_send_frames(b->link, out.p, out.n), 0);
	buf_done(&out);
	reply_free(r);
	world_run(b->w, 50 * MS);
}

/* A full snapshot: node N on `host` with processes p_N_a and p_N_b, each with a thread. */
static inline void below_report(struct below *b, uint32_t node, const char *host)
{
	char t[5][24];
	struct msg_object o[5];

	snprintf(t[0], 24, "n_%u", node);
	for (int i = 0; i < 2; i++) {
		snprintf(t[1 + i], 24, "p_%u_%c00000", node, 'a' + i);
		snprintf(t[3 + i], 24, "t_%u_%c00000", node, 'a' + i);
	}
	o[0] = below_object(t[0], "s_1", host);
	o[1] = below_object(t[1], t[0], "");
	o[2] = below_object(t[2], t[0], "");
	o[3] = below_object(t[3], t[1], "");
	o[4] = below_object(t[4], t[2], "");
	ck_assert_int_eq(
		link_send(b->link, &(struct msg){ .type = MSG_DIRECTORY,
						  .directory = { true, node, o, 5, false } }),
		0);
	world_run(b->w, 50 * MS);
}

/* One more process, with a thread t_... of the same id. */
static inline void below_report_proc(struct below *b, uint32_t node, const char *token, int64_t pid)
{
	char up[24], thread[24];
	struct msg_object o[2];

	snprintf(up, sizeof(up), "n_%u", node);
	snprintf(thread, sizeof(thread), "t%s", token + 1);
	o[0] = below_object(token, up, "");
	o[0].pid = pid;
	o[1] = below_object(thread, token, "");
	ck_assert_int_eq(
		link_send(b->link, &(struct msg){ .type = MSG_DIRECTORY,
						  .directory = { false, node, o, 2, false } }),
		0);
	world_run(b->w, 50 * MS);
}

/* Reports that the process has become a rank. */
static inline void below_report_rank(struct below *b, uint32_t node, const char *token,
				     int32_t rank, const char *job)
{
	char up[24];
	struct msg_object o;

	snprintf(up, sizeof(up), "n_%u", node);
	o = below_object(token, up, "");
	o.rank = rank;
	o.world_size = 10;
	o.job = job;
	ck_assert_int_eq(
		link_send(b->link, &(struct msg){ .type = MSG_DIRECTORY,
						  .directory = { false, node, &o, 1, false } }),
		0);
	world_run(b->w, 50 * MS);
}

/* p_N_b00000 has ended; its thread is gone. */
static inline void below_report_end(struct below *b, uint32_t node)
{
	char token[3][24];
	struct msg_object o[2];

	snprintf(token[0], 24, "n_%u", node);
	snprintf(token[1], 24, "p_%u_b00000", node);
	snprintf(token[2], 24, "t_%u_b00000", node);
	o[0] = below_object(token[1], token[0], "");
	o[0].state = MSG_STATE_ENDED;
	o[1] = below_object(token[2], token[1], "");
	o[1].op = MSG_OP_GONE;
	ck_assert_int_eq(
		link_send(b->link, &(struct msg){ .type = MSG_DIRECTORY,
						  .directory = { false, node, o, 2, false } }),
		0);
	world_run(b->w, 50 * MS);
}

static inline void below_node_is(struct below *b, uint32_t node, uint32_t sub)
{
	char token[24];
	struct msg_object o;

	snprintf(token, sizeof(token), "n_%u", node);
	o = below_object(token, "s_1", "");
	o.sub = sub;
	ck_assert_int_eq(
		link_send(b->link, &(struct msg){ .type = MSG_DIRECTORY,
						  .directory = { false, node, &o, 1, false } }),
		0);
	world_run(b->w, 50 * MS);
}

#include "tests/unit/mainsm/world_above.h" /* needs all of the above */

#endif
