/* SPDX-License-Identifier: Apache-2.0 */
/* Start and end of an sm, and revoked certificates. */
#include "common/net/net.h"
#include "tests/suite.h"
#include "tests/unit/sm/world.h"

static struct world w;

static void set_up(void)
{
	world_open(&w);
}

static void clean_up(void)
{
	world_done(&w);
}

TEST(without_mainsm_it_reports_that_and_tries_again)
{
	struct world v;

	world_open_alone(&v);
	world_run(&v, SEC);
	ck_assert_uint_gt(v.unreachable, 1);
	ck_assert(!v.unreachable_was_up);
	ck_assert_ptr_nonnull(strstr(v.unreachable_why, "Connection refused"));
	ck_assert_uint_eq(v.ready, 0);
	top_start(&v);
	world_run(&v, 15 * SEC);
	ck_assert_uint_eq(v.ready, 1);
	top_stop(&v);
	world_run(&v, 15 * SEC);
	ck_assert(v.unreachable_was_up);
	world_done(&v);
}

TEST(an_sm_without_lms_lingers_and_then_ends)
{
	world_run(&w, 57 * SEC);
	ck_assert_uint_eq(w.ends, 0);
	world_run(&w, 4 * SEC);
	ck_assert_uint_eq(w.ends, 1);
	ck_assert_str_eq(w.end_reason, "no lm is left to serve");
	world_run(&w, 100 * SEC);
	ck_assert_uint_eq(w.ends, 1);
}

TEST(an_lm_keeps_it_alive_and_the_last_one_starts_the_time)
{
	lms_start(&w, 2);
	world_run(&w, 200 * SEC);
	ck_assert_uint_eq(w.ends, 0);
	lm_stop(&w, 0);
	world_run(&w, 100 * SEC);
	ck_assert_uint_eq(w.ends, 0);
	lm_stop(&w, 1);
	world_run(&w, 50 * SEC);
	lm_start(&w, 1); /* in time */
	world_run(&w, 50 * SEC);
	ck_assert_uint_eq(w.ends, 0);
	lm_stop(&w, 1);
	world_run(&w, 61 * SEC);
	ck_assert_uint_eq(w.ends, 1);
}

TEST(a_linger_of_0_is_never)
{
	sm_set_times(w.sm, 0, 0);
	world_run(&w, 1000 * SEC);
	ck_assert_uint_eq(w.ends, 0);
	sm_set_times(w.sm, SEC, 0);
	world_run(&w, 2 * SEC);
	ck_assert_uint_eq(w.ends, 1);
}

TEST(a_stopping_sm_notifies_its_lms_and_ends_after_them)
{
	lms_start(&w, 3);
	for (size_t i = 0; i < 3; i++)
		w.lm[i].says_bye = true;
	ck_assert_int_eq(top_send(&w, &(struct msg){ .type = MSG_STOP, .stop = { "omig stop" } }),
			 0);
	world_run(&w, 20 * MS);
	for (size_t i = 0; i < 3; i++)
		ck_assert_uint_eq(w.lm[i].b.stops, 1);
	ck_assert_uint_eq(w.ends, 1);
	ck_assert_str_eq(w.end_reason, "omig stop");
}

TEST(ordered_to_stop_it_does_not_wait_long_for_one_that_stays)
{
	nsec_t begun;

	lms_start(&w, 2);
	w.lm[0].says_bye = true;
	begun = loop_now(w.loop);
	ck_assert_int_eq(top_send(&w, &(struct msg){ .type = MSG_STOP, .stop = { "" } }), 0);
	ck_assert_int_eq(top_send(&w, &(struct msg){ .type = MSG_STOP, .stop = { "again" } }), 0);
	world_run(&w, 20 * MS);
	ck_assert_uint_eq(w.ends, 0);
	lm_start(&w, 2); /* too late */
	while (!w.ends && loop_now(w.loop) < begun + 2 * SEC)
		world_run(&w, 10 * MS);
	ck_assert_int_le(loop_now(w.loop) - begun, SM_STOP_DRAIN_NS + 20 * MS);
	ck_assert_uint_eq(w.lm[1].b.stops, 1);
	ck_assert(!w.lm[2].b.is_up);
	ck_assert_ptr_nonnull(strstr(w.lm[2].b.why, "ending"));
}

TEST(a_revoked_lm_is_cut_and_stays_out)
{
	struct bytes serial[2];
	const struct msg m = { .type = MSG_REVOKED, .revoked = { serial, 2 } };

	lms_start(&w, 2);
	serial[0] = (struct bytes){ w.lm[1].b.id.serial, SERIAL_BYTES };
	serial[1] = (struct bytes){ w.lm[1].b.id.serial, 3 }; /* not a serial */
	ck_assert_int_eq(top_send(&w, &m), 0);
	world_run(&w, 10 * MS);
	ck_assert(!w.lm[1].b.is_up);
	ck_assert(w.lm[0].b.is_up);
	ck_assert_uint_eq(top_find(&w, "n_2")->sub, MSG_NODE_SILENT);
	world_run(&w, 30 * SEC);
	ck_assert(!w.lm[1].b.is_up);
	ck_assert_uint_eq(w.lm[1].b.ups, 1);
	ck_assert_uint_eq(w.ends, 0);
}

TEST(an_sm_that_is_revoked_itself_ends)
{
	struct bytes serial = { net_ctx_self(w.ctx)->serial, SERIAL_BYTES };

	ck_assert_int_eq(
		top_send(&w, &(struct msg){ .type = MSG_REVOKED, .revoked = { &serial, 1 } }), 0);
	world_run(&w, 10 * MS);
	ck_assert_uint_eq(w.ends, 1);
	ck_assert_str_eq(w.end_reason, "our certificate was revoked");
}

TEST(requests_end_with_the_link_to_mainsm_and_lms_stay)
{
	lms_start(&w, 2);
	w.lm[0].b.is_mute = true;
	top_send_request(&w, ":node_get_info([n_1,n_2],1)", 60 * SEC);
	world_run(&w, 10 * MS);
	ck_assert_uint_eq(world_counts(&w).requests, 1);
	top_stop(&w);
	world_run(&w, 10 * MS);
	ck_assert_uint_eq(world_counts(&w).requests, 0);
	ck_assert_uint_eq(w.lm[0].b.cancels, 1);
	world_run(&w, 200 * SEC);
	ck_assert(w.lm[0].b.is_up && w.lm[1].b.is_up);
	ck_assert_uint_eq(w.ends, 0);
}

TEST(without_mainsm_stopped_processes_are_released_after_5_s)
{
	lms_start(&w, 2);
	top_stop(&w);
	world_run(&w, STOP_LEASH_NS - 500 * MS);
	ck_assert_uint_eq(w.lm[0].b.let_gos, 0);
	world_run(&w, SEC);
	ck_assert_uint_eq(w.lm[0].b.let_gos, 1);
	ck_assert_uint_eq(w.lm[1].b.let_gos, 1);
	ck_assert_uint_eq(w.lm[0].b.gones, 0);
}

TEST(a_restarted_mainsm_releases_holds_once)
{
	lms_start(&w, 1);
	top_stop(&w);
	world_run(&w, SEC);
	top_start(&w);
	world_run(&w, 2 * SEC);
	ck_assert_uint_eq(w.lm[0].b.let_gos, 1);
	world_run(&w, 10 * SEC);
	ck_assert_uint_eq(w.lm[0].b.let_gos, 1);
}

TEST(an_lm_that_wants_a_certificate_is_sent_to_mainsm)
{
	lms_start(&w, 1);
	lm_send(&w.lm[0], &(struct msg){ .type = MSG_ENROL, .enrol = { .role = "lm" } });
	world_run(&w, 10 * MS);
	ck_assert_uint_eq(w.lm[0].enrol_acks, 1);
	ck_assert(w.lm[0].b.is_up);
}

static void count_event(void *arg, struct chan *c, enum chan_event ev, const struct err *why)
{
	unsigned *closed = arg;

	*closed += ev == CHAN_CLOSED;
}

static void ignore_frame(void *arg, struct chan *c, uint8_t type, const uint8_t *p, size_t n)
{
}

/* A certificate admits a peer, but a silent one is cut; the sm can end meanwhile. */
TEST(a_peer_that_never_greets_takes_no_place)
{
	const struct net_expect x = { .roles = ROLE_BIT(ROLE_SM) };
	unsigned closed = 0;
	const struct chan_handler quiet = { ignore_frame, count_event, &closed };
	struct net_ctx *ctx = NULL;
	struct chan *c[3] = { 0 };

	ck_assert_int_eq(mem_ctx_open(w.net, &w.lm[0].b.id, &ctx, NULL), 0);
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(net_dial(ctx,
					  &(struct net_target){ .host = "sm-a",
								.port = w.conf.port,
								.expect = &x },
					  &quiet, &c[i], NULL),
				 0);
	world_run(&w, 3 * SEC);
	ck_assert_uint_eq(closed, 2);
	ck_assert_int_eq(
		net_dial(ctx,
			 &(struct net_target){ .host = "sm-a", .port = w.conf.port, .expect = &x },
			 &quiet, &c[2], NULL),
		0);
	world_run(&w, SEC);
	ck_assert_uint_eq(world_counts(&w).nodes, 0);
	world_stop_sm(&w);
	world_run(&w, SEC);
	ck_assert_uint_eq(closed, 3);
	for (int i = 0; i < 3; i++)
		chan_close(c[i], NULL);
	world_run(&w, MS);
	net_ctx_free(ctx);
}

TEST(advertised_names_carry_the_port)
{
	world_stop_sm(&w);
	w.conf.advertise = "node0,10.1.2.3,fe80::1";
	world_start_sm(&w);
	world_run(&w, 15 * SEC);
	ck_assert_str_eq(w.top.listen, "node0:40000,10.1.2.3:40000,[fe80::1]:40000");
	world_stop_sm(&w);
	w.conf.advertise = "";
	w.conf.listen = "0.0.0.0";
	world_start_sm(&w);
	world_run(&w, 15 * SEC);
	ck_assert_str_eq(w.top.listen, "sm-a:40000");
}

TEST(advertised_names_that_make_no_sense_are_refused)
{
	struct sm *sm = NULL;
	struct err e = { 0 };

	world_stop_sm(&w);
	world_start_sm(&w);
	world_stop_sm(&w);
	w.conf.advertise = "a,,b";
	ck_assert_int_eq(mem_ctx_open(w.net, &w.lm[0].b.id, &w.ctx, NULL), 0);
	w.conf.ctx = w.ctx;
	ck_assert_int_eq(sm_open(&w.conf, &sm, &e), -ERR_LIMIT);
	ck_assert_ptr_nonnull(strstr(e.text, "advertised"));
	world_run(&w, MS);
	net_ctx_free(w.ctx);
}

TEST(a_dump_names_its_figures)
{
	struct buf b = BUF_INIT(65536);

	lms_start(&w, 2);
	sm_dump(w.sm, &b);
	ck_assert_ptr_nonnull(strstr(buf_str(&b), "lms=2 nodes=2 objects=8"));
	ck_assert_ptr_nonnull(strstr(buf_str(&b), "parent_up=1"));
	buf_done(&b);
}

/* A mainsm that has lost its numbers assigns others. Also below an sm that is below another one. */
TEST(a_host_whose_number_is_anothers_asks_mainsm_for_its_own)
{
	const struct msg m = { .type = MSG_DISOWN, .disown = { .node = 1, .host = "h1" } };

	below_start(&w, 0, NULL);
	world_run(&w, SEC);
	lm_climb(&w, 0);
	lm_climb(&w, 1);
	world_run(&w, SEC);
	ck_assert_uint_eq(below_counts(&w, 0).lms, 2);
	w.top.gives = 6;
	w.lm[0].number = 6;
	top_send(&w, &m);
	world_run(&w, 5 * SEC);
	ck_assert(w.lm[0].b.is_up && w.lm[1].b.is_up);
	ck_assert_uint_eq(w.lm[0].b.ups, 2);
	ck_assert_uint_eq(w.lm[1].b.ups, 1);
	ck_assert_str_eq(top_find(&w, "n_6")->host, "h1");
	ck_assert_ptr_null(top_find(&w, "n_1"));
}

SUITE_WITH("sm life", set_up, clean_up)
