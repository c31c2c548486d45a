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
#include "tests/fakes/branch.h"
#include "tests/fakes/identity.h"
#include "tree/wire.h"

#include <check.h>
#include <string.h>

#define MS NSEC_PER_MSEC
#define SEC NSEC_PER_SEC

struct world;

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

static inline void world_start(struct world *w)
{
	struct err e = { 0 };
	struct identity who = fake_identity(ROLE_MAINSM, "", "top");

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

static inline struct msg_hello below_hello(const struct fake_branch *b)
{
	bool is_lm = b->id.role == ROLE_LM;

	return (struct msg_hello){ .role = is_lm ? "lm" : "sm",
				   .site = b->id.site,
				   .host = b->host,
				   .listen = "10.0.0.1:99",
				   .attach = 77,
				   .want_redirect = is_lm };
}

/* Dials (again) with its certificate. */
static inline void below_begin(struct fake_branch *b)
{
	const struct msg_hello hello = below_hello(b);

	fake_branch_dial(b, &hello);
}

static inline void below_again(struct fake_branch *b)
{
	below_begin(b);
	loop_advance(b->loop, 300 * MS);
}

static inline void below_init(struct world *w, struct fake_branch *b, const struct identity *who)
{
	fake_branch_init(b, w->loop, w->net, who);
	b->to = "top";
	b->port = &w->port;
}

static inline void below_open(struct world *w, struct fake_branch *b, enum role role,
			      const char *site, const char *host)
{
	const struct identity who = fake_identity(role, site, host);

	below_init(w, b, &who);
	below_again(b);
}

static inline void below_close(struct fake_branch *b)
{
	fake_branch_close(b);
	loop_advance(b->loop, 10 * MS);
	fake_branch_done(b);
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
static inline void below_reply(struct fake_branch *b, const char *objects, const char *value)
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
	loop_advance(b->loop, 50 * MS);
}

/* A full snapshot: node N on `host` with processes p_N_a and p_N_b, each with a thread. */
static inline void below_report(struct fake_branch *b, uint32_t node, const char *host)
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
	fake_branch_report(b, node, true, o, 5);
	loop_advance(b->loop, 50 * MS);
}

/* One more process, with a thread t_... of the same id. */
static inline void below_report_proc(struct fake_branch *b, uint32_t node, const char *token,
				     int64_t pid)
{
	char up[24], thread[24];
	struct msg_object o[2];

	snprintf(up, sizeof(up), "n_%u", node);
	snprintf(thread, sizeof(thread), "t%s", token + 1);
	o[0] = below_object(token, up, "");
	o[0].pid = pid;
	o[1] = below_object(thread, token, "");
	fake_branch_report(b, node, false, o, 2);
	loop_advance(b->loop, 50 * MS);
}

/* Reports that the process has become a rank. */
static inline void below_report_rank(struct fake_branch *b, uint32_t node, const char *token,
				     int32_t rank, const char *job)
{
	char up[24];
	struct msg_object o;

	snprintf(up, sizeof(up), "n_%u", node);
	o = below_object(token, up, "");
	o.rank = rank;
	o.world_size = 10;
	o.job = job;
	fake_branch_report(b, node, false, &o, 1);
	loop_advance(b->loop, 50 * MS);
}

/* p_N_b00000 has ended; its thread is gone. */
static inline void below_report_end(struct fake_branch *b, uint32_t node)
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
	fake_branch_report(b, node, false, o, 2);
	loop_advance(b->loop, 50 * MS);
}

static inline void below_node_is(struct fake_branch *b, uint32_t node, uint32_t sub)
{
	char token[24];
	struct msg_object o;

	snprintf(token, sizeof(token), "n_%u", node);
	o = below_object(token, "s_1", "");
	o.sub = sub;
	fake_branch_report(b, node, false, &o, 1);
	loop_advance(b->loop, 50 * MS);
}

#include "tests/unit/mainsm/world_above.h" /* needs all of the above */

#endif
