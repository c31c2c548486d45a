/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/sm/world.h"

#include "common/base/array.h"

#include "common/base/log.h"

#include <stdio.h>
#include <stdlib.h>

void world_run(struct world *w, nsec_t time)
{
	loop_advance(w->loop, time);
}

static int sm_dial(void *arg, unsigned attempt, const struct chan_handler *h, struct chan **out,
		   struct err *e)
{
	struct world *w = arg;
	const struct net_expect x = { .roles = ROLE_BIT(ROLE_MAINSM) };

	return net_dial(w->ctx,
			&(struct net_target){ .host = "top", .port = TOP_PORT, .expect = &x }, h,
			out, e);
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
	const struct identity who = fake_identity(ROLE_SM, "a", "sm-a");
	struct err e = { 0 };

	ck_assert_int_eq(mem_ctx_open(w->net, &who, &w->ctx, &e), 0);
	timebase_init(&w->timebase, loop_now(w->loop), WORLD_WALL);
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
	timebase_init_root(&w->top_time, loop_now(w->loop), WORLD_WALL);
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

static void below_end(void *arg, const char *reason)
{
	struct below *b = arg;

	b->ends++;
}

static void below_lost(void *arg, const struct err *why, bool was_up)
{
	struct below *b = arg;

	b->lost++;
}

void below_start(struct world *w, size_t i, const char *parent)
{
	struct below *b = &w->below[i];
	struct connstr conn = { .nhost = 1, .port = TOP_PORT };
	char host[32];
	struct sm_conf c = { .loop = w->loop,
			     .rng = &w->rng,
			     .timebase = &b->timebase,
			     .is_stacked = true,
			     .parent = parent,
			     .conn = &conn,
			     .epoch = ++b->epoch,
			     .site = "a",
			     .host = host,
			     .advertise = host,
			     .software = "omig test",
			     .on_end = below_end,
			     .on_unreachable = below_lost,
			     .arg = b };
	struct err e = { 0 };

	snprintf(host, sizeof(host), "b%zu", i + 1);
	str_copy(conn.host[0], sizeof(conn.host[0]), "top");
	b->w = w;
	if (!b->id.host[0])
		b->id = fake_identity(ROLE_SM, "a", host);
	ck_assert_int_eq(mem_ctx_open(w->net, &b->id, &b->ctx, &e), 0);
	timebase_init(&b->timebase, loop_now(w->loop), WORLD_WALL);
	c.ctx = b->ctx;
	ck_assert_msg(sm_open(&c, &b->sm, &e) == 0, "%s", e.text);
}

/* No message is sent: peers see a reset. */
void below_kill(struct world *w, size_t i)
{
	struct below *b = &w->below[i];

	mem_net_kill_host(w->net, b->id.host);
	sm_free(b->sm);
	b->sm = NULL;
	world_run(w, MS);
	net_ctx_free(b->ctx);
	b->ctx = NULL;
}

struct sm_counts below_counts(const struct world *w, size_t i)
{
	struct sm_counts c;

	sm_get_counts(w->below[i].sm, &c);
	return c;
}

void world_open(struct world *w)
{
	world_open_alone(w);
	top_start(w);
	world_run(w, SEC);
	ck_assert_ptr_nonnull(w->top.up.link);
}

void world_done(struct world *w)
{
	for (size_t i = 0; i < LMS; i++)
		if (w->lm[i].b.ctx)
			lm_free(w, i);
	for (size_t i = 0; i < BELOWS; i++)
		if (w->below[i].sm)
			below_kill(w, i);
	if (w->sm)
		world_stop_sm(w);
	top_stop(w);
	reply_free(w->top.last);
	reply_free(w->top.part);
	messages_done(&w->top.flows);
	for (size_t i = 0; i < LMS; i++)
		messages_done(&w->lm[i].flows);
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
