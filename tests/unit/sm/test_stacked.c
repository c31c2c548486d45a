/* SPDX-License-Identifier: Apache-2.0 */
/* sms below the sm of a site: messages through them, and the death of one of them. */
#include "tests/suite.h"
#include "tests/unit/sm/world.h"

#define BACK_NS (2 * SEC) /* full coverage after the death of an inner sm */
#define EVENT(objects) "thread_has_ended_lib_call([" objects "],\"MPI_Send\"): print([1])"

static struct world w;

static void set_up(void)
{
	world_open(&w);
}

static void clean_up(void)
{
	world_done(&w);
}

static void grow(size_t lms)
{
	below_start(&w, 0, NULL);
	below_start(&w, 1, NULL);
	world_run(&w, SEC);
	for (size_t i = 0; i < lms; i++)
		lm_climb(&w, i);
	world_run(&w, SEC);
	for (size_t i = 0; i < lms; i++)
		ck_assert_msg(w.lm[i].b.is_up, "lm %zu: %s", i, w.lm[i].b.why);
}

/* Returns the number of lms that are connected to that inner sm. */
static size_t lms_of(size_t below)
{
	return below_counts(&w, below).lms;
}

static void ask_all(uint32_t hosts)
{
	const struct reply *r = top_ask(&w, ":node_get_info([n_1,n_2,n_3,n_4],1)", 2 * SEC);

	ck_assert_uint_eq(r->coverage.asked, 4);
	ck_assert_uint_eq(r->coverage.answered, hosts);
}

TEST(hosts_are_spread_over_lower_sms_without_effect_at_the_top)
{
	unsigned parts;

	grow(LMS);
	ck_assert_uint_eq(lms_of(0), 2);
	ck_assert_uint_eq(lms_of(1), 2);
	ck_assert_uint_eq(world_counts(&w).nodes, 4);
	ck_assert_uint_eq(world_counts(&w).lms, 4);
	for (unsigned i = 1; i <= LMS; i++) {
		char token[TOKEN_BYTES];

		snprintf(token, sizeof(token), "n_%u", i);
		ck_assert_ptr_nonnull(top_find(&w, token));
		ck_assert_uint_eq(top_find(&w, token)->sub, MSG_NODE_UP);
		snprintf(token, sizeof(token), "p_%u_000002", i);
		ck_assert_ptr_nonnull(top_find(&w, token));
	}
	parts = w.top.parts;
	ask_all(4);
	ck_assert_uint_eq(w.top.parts, parts + 1); /* one message for any number below */
	for (size_t i = 0; i < LMS; i++)
		ck_assert_uint_eq(w.lm[i].b.requests, 1);
}

TEST(a_host_that_is_silent_below_is_missing_by_its_name)
{
	const struct reply *r;

	grow(LMS);
	lm_stop(&w, 2);
	world_run(&w, 100 * MS);
	ck_assert_uint_eq(top_find(&w, "n_3")->sub, MSG_NODE_SILENT);
	r = top_ask(&w, ":node_get_info([n_1,n_3],1)", SEC);
	ck_assert_uint_eq(r->coverage.answered, 1);
	ck_assert_str_eq(r->coverage.missing[0].object, "n_3");
}

static bool all_up(void)
{
	for (unsigned i = 1; i <= LMS; i++) {
		char token[TOKEN_BYTES];

		snprintf(token, sizeof(token), "n_%u", i);
		if (!top_find(&w, token) || top_find(&w, token)->sub != MSG_NODE_UP)
			return false;
	}
	return true;
}

static nsec_t until_all_up(void)
{
	nsec_t begin = loop_now(w.loop);

	while (!all_up() && loop_now(w.loop) < begin + 60 * SEC)
		world_run(&w, MS);
	return loop_now(w.loop) - begin;
}

TEST(hosts_of_a_dead_inner_sm_are_back_in_two_seconds)
{
	grow(LMS);
	below_kill(&w, 0);
	world_run(&w, 10 * MS);
	ck_assert(!all_up());
	ck_assert_int_le(until_all_up(), BACK_NS);
	ck_assert_uint_eq(lms_of(1), 4);
	ask_all(4);
	ck_assert_uint_eq(world_counts(&w).nodes, 4);
	/* No process was considered lost, and none is listed twice. */
	ck_assert_uint_eq(top_count(&w), 4 * (1 + 2 * 2));
	ck_assert_uint_eq(world_counts(&w).forged, 0);
}

TEST(without_any_inner_sm_the_sm_of_the_site_serves_them_itself)
{
	grow(LMS);
	below_kill(&w, 0);
	below_kill(&w, 1);
	world_run(&w, 10 * MS);
	ck_assert_int_le(until_all_up(), BACK_NS);
	ask_all(4);
	ck_assert_uint_eq(world_counts(&w).lms, 4);
}

TEST(csr_follows_hosts_to_another_sm)
{
	unsigned arms[LMS];

	grow(LMS);
	top_arm(&w, "c_1", 1, EVENT("p_1_000001,p_2_000001,p_3_000001,p_4_000001"), 0);
	world_run(&w, 100 * MS);
	ck_assert_uint_eq(w.top.acks, 1);
	ck_assert_uint_eq(w.top.ack_errors, 0);
	for (size_t i = 0; i < LMS; i++) {
		ck_assert_uint_eq(w.lm[i].b.arms, 1);
		arms[i] = w.lm[i].b.arms;
	}
	below_kill(&w, 0);
	world_run(&w, BACK_NS);
	ck_assert(all_up());
	for (size_t i = 0; i < LMS; i++) {
		char own[TOKEN_BYTES];

		snprintf(own, sizeof(own), "p_%zu_000001", i + 1);
		/* The moved hosts were reported again; the others need not be. */
		ck_assert_uint_eq(w.lm[i].b.arms, arms[i] + (w.lm[i].b.ups > 1));
		ck_assert_ptr_nonnull(strstr(w.lm[i].b.armed, own));
		ck_assert_uint_eq(w.lm[i].b.disarms, 0);
	}
	for (size_t i = 0; i < LMS; i++) {
		char thread[TOKEN_BYTES];
		unsigned before = w.top.triggers;

		snprintf(thread, sizeof(thread), "t_%zu_000001", i + 1);
		lm_trigger(&w.lm[i], "c_1", thread);
		world_run(&w, 20 * MS);
		ck_assert_uint_eq(w.top.triggers, before + 1);
	}
}

TEST(csr_ended_during_a_move_ends_at_the_moved_host)
{
	size_t mover = LMS;

	grow(LMS);
	top_arm(&w, "c_1", 1, EVENT("p_1_000001,p_2_000001,p_3_000001,p_4_000001"), 0);
	world_run(&w, 100 * MS);
	below_kill(&w, 0);
	ck_assert_int_eq(top_send(&w, &(struct msg){ .type = MSG_DISARM, .disarm = { "c_1" } }), 0);
	world_run(&w, BACK_NS);
	ck_assert(all_up());
	for (size_t i = 0; i < LMS; i++) {
		if (w.lm[i].b.ups > 1)
			mover = i;
		ck_assert_uint_ge(w.lm[i].b.disarms, 1);
	}
	ck_assert_uint_lt(mover, LMS);
	ck_assert_uint_eq(below_counts(&w, 1).csrs, 0);
}

TEST(a_counter_is_found_where_its_hosts_have_gone)
{
	const struct reply *r;

	grow(LMS);
	top_ask(&w, ":omig_pa_create([p_1_000001,p_2_000001,p_3_000001,p_4_000001],pa_cl_1)", SEC);
	r = top_ask(&w, ":pa_counter_read([pa_cl_1])", SEC);
	ck_assert_uint_eq(r->coverage.answered, r->coverage.asked);
	for (size_t i = 0; i < LMS; i++)
		w.lm[i].b.requests = 0;
	below_kill(&w, 0);
	world_run(&w, BACK_NS);
	r = top_ask(&w, ":pa_counter_read([pa_cl_1])", SEC);
	for (size_t i = 0; i < LMS; i++)
		ck_assert_uint_eq(w.lm[i].b.requests, 1);
	ck_assert_uint_eq(r->coverage.answered, r->coverage.asked);
}

TEST(the_old_parent_is_fenced_off)
{
	size_t old;

	grow(1);
	old = lms_of(0) ? 0 : 1;
	/*
	 * The lm is cut off from the old sm, the old sm is not cut off from us: both report the
	 * host.
	 */
	mem_net_set_link(w.net, "h1", old ? "b2" : "b1",
			 &(struct mem_link){ .delay = MS / 10, .cut = true });
	world_run(&w, 30 * SEC);
	ck_assert_uint_eq(w.lm[0].b.ups, 2);
	ck_assert_uint_eq(lms_of(!old), 1);
	ck_assert_uint_eq(lms_of(old), 0);
	ck_assert_uint_eq(top_find(&w, "n_1")->sub, MSG_NODE_UP);
	world_run(&w, 700 * SEC); /* the old one considers it lost, and removes it */
	ck_assert_ptr_nonnull(top_find(&w, "n_1"));
	ck_assert_uint_eq(top_find(&w, "n_1")->sub, MSG_NODE_UP);
	ck_assert_uint_eq(world_counts(&w).forged, 0);
	ck_assert_uint_eq(below_counts(&w, !old).lms, 1);
}

TEST(a_parent_whose_welcome_is_lost_does_not_keep_the_host)
{
	const char *deaf;
	size_t i;

	grow(1);
	i = lms_of(0) ? 0 : 1;
	deaf = i ? "b2" : "b1";
	mem_net_set_link(w.net, "h1", deaf, &(struct mem_link){ .delay = MS, .drop = 1 });
	while (w.lm[0].b.is_up || lms_of(i))
		world_run(&w, MS / 10);
	mem_net_set_link(w.net, "h1", deaf, &(struct mem_link){ .delay = MS });
	while (!lms_of(i))
		world_run(&w, MS / 10);
	ck_assert(!w.lm[0].b.is_up);
	/* The lm returns to the first sm, which has no state of it. */
	mem_net_set_link(w.net, "h1", deaf, &(struct mem_link){ .delay = MS, .cut = true });
	world_run(&w, 30 * SEC);
	ck_assert(w.lm[0].b.is_up);
	ck_assert_uint_eq(lms_of(!i), 1);
	ck_assert_uint_eq(world_counts(&w).lms, 1);
	ck_assert_uint_eq(top_find(&w, "n_1")->sub, MSG_NODE_UP);
}

TEST(a_restarted_sm_gets_hosts_again)
{
	grow(2);
	below_kill(&w, 0);
	world_run(&w, BACK_NS);
	ck_assert_uint_eq(lms_of(1), 2);
	below_start(&w, 0, NULL);
	world_run(&w, SEC);
	lm_climb(&w, 2);
	world_run(&w, SEC);
	ck_assert_uint_eq(lms_of(0), 1);
}

TEST(the_sm_of_the_site_may_be_started_again)
{
	grow(LMS);
	world_stop_sm(&w);
	world_run(&w, SEC);
	world_start_sm(&w);
	ck_assert_int_le(until_all_up(), 20 * SEC);
	world_run(&w, SEC);
	ck_assert_uint_eq(lms_of(0) + lms_of(1), 4);
	ask_all(4);
}

TEST(three_levels_hold_too)
{
	char address[64];

	below_start(&w, 0, NULL);
	world_run(&w, SEC);
	snprintf(address, sizeof(address), "b1:%u", sm_port(w.below[0].sm));
	below_start(&w, 1, address);
	world_run(&w, SEC);
	for (size_t i = 0; i < LMS; i++)
		lm_climb(&w, i);
	world_run(&w, SEC);
	ck_assert_uint_eq(lms_of(1), 4); /* sent on twice */
	ask_all(4);
	below_kill(&w, 0); /* the one in the middle: its host moves to the sm of the site */
	world_run(&w, 10 * MS);
	ck_assert_int_le(until_all_up(), BACK_NS);
	ask_all(4);
	for (size_t i = 0; i < LMS; i++)
		ck_assert_uint_eq(w.lm[i].b.ups, 1); /* stayed connected */
}

TEST(moves_of_an_sm_count_more_than_those_of_its_parent)
{
	char address[64];

	below_start(&w, 0, NULL);
	world_run(&w, SEC);
	snprintf(address, sizeof(address), "b1:%u", sm_port(w.below[0].sm));
	below_start(&w, 1, address);
	world_run(&w, SEC);
	for (size_t i = 0; i < LMS; i++)
		lm_climb(&w, i);
	world_run(&w, SEC);
	for (int i = 0; i < 3; i++) {
		mem_net_set_link(w.net, "b1", "sm-a", &(struct mem_link){ .drop = 1 });
		world_run(&w, 10 * SEC);
		mem_net_set_link(w.net, "b1", "sm-a", &(struct mem_link){ 0 });
		world_run(&w, 20 * SEC);
		ck_assert(all_up());
	}
	below_kill(&w, 0);
	world_run(&w, 20 * SEC);
	ck_assert(all_up());
	ask_all(4);
	for (size_t i = 0; i < LMS; i++)
		ck_assert_uint_eq(w.lm[i].b.ups, 1); /* stayed connected */
}

/* --- a malicious lower sm */

struct liar {
	struct net_ctx *ctx;
	struct link *link;
	bool is_up;
	unsigned downs;
	char why[ERR_TEXT_BYTES];
};

static int liar_dial(void *arg, unsigned attempt, const struct chan_handler *h, struct chan **out,
		     struct err *e)
{
	struct liar *l = arg;
	const struct net_expect x = { .roles = ROLE_BIT(ROLE_SM) };

	return net_dial(l->ctx,
			&(struct net_target){ .host = "sm-a", .port = w.conf.port, .expect = &x },
			h, out, e);
}

static void liar_up(void *arg, struct link *l, const struct msg_hello_ack *ack)
{
	((struct liar *)arg)->is_up = true;
}

static void liar_msg(void *arg, struct link *l, const struct msg *m)
{
}

static void liar_down(void *arg, struct link *l, const struct err *why)
{
	struct liar *x = arg;

	x->is_up = false;
	x->downs++;
	str_copy(x->why, sizeof(x->why), why->text);
}

static void liar_start_on(struct liar *l, const char *site, const char *host)
{
	const struct identity id = fake_identity(ROLE_SM, site, host);
	const struct link_dialer dialer = { liar_dial, l };
	const struct link_conf conf = {
		.loop = w.loop,
		.rng = &w.rng,
		.handler = { .on_up = liar_up, .on_msg = liar_msg, .on_down = liar_down, .arg = l }
	};
	const struct msg_hello hello = {
		.role = "sm", .site = site, .host = host, .listen = "nowhere:77", .epoch = 9
	};

	*l = (struct liar){ 0 };
	ck_assert_int_eq(mem_ctx_open(w.net, &id, &l->ctx, NULL), 0);
	l->link = link_dial(&conf, &dialer, &hello);
	world_run(&w, 100 * MS);
}

static void liar_start(struct liar *l, const char *site)
{
	liar_start_on(l, site, "liar");
}

static void liar_free(struct liar *l)
{
	link_close(l->link, "the end");
	world_run(&w, MS);
	net_ctx_free(l->ctx);
}

/* six: one for each word of the report. */
static void liar_report_of(struct liar *l, uint32_t node, const char *host, uint64_t attach,
			   uint32_t op, enum msg_node_sub sub)
{
	char token[TOKEN_BYTES];
	const struct msg_object o = { .token = token,
				      .parent = "s_5",
				      .name = host,
				      .rank = -1,
				      .site = "a",
				      .host = host,
				      .op = op,
				      .sub = sub };
	const struct msg m = { .type = MSG_DIRECTORY,
			       .directory = { .full = true,
					      .node = node,
					      .object = &o,
					      .nobject = 1,
					      .attach = attach } };

	snprintf(token, sizeof(token), "n_%u", node);
	link_send(l->link, &m);
	world_run(&w, 10 * MS);
}

static void liar_report(struct liar *l, uint32_t node, const char *host, uint64_t attach,
			uint32_t op)
{
	liar_report_of(l, node, host, attach, op, MSG_NODE_UP);
}

/* The host's wall clock was set back before its lm was restarted, so its numbers begin lower. */
TEST(a_lost_host_is_taken_over_with_any_number)
{
	struct liar old, new;

	liar_start_on(&old, "a", "old");
	liar_start_on(&new, "a", "new");
	ck_assert(old.is_up && new.is_up);
	liar_report(&old, 7, "h7", 1000, MSG_OP_PRESENT);
	liar_report(&new, 7, "h7", 5, MSG_OP_PRESENT);
	liar_report_of(&old, 7, "h7", 1000, MSG_OP_PRESENT, MSG_NODE_LOST);
	/* the old one had it until now */
	ck_assert_uint_eq(top_find(&w, "n_7")->sub, MSG_NODE_LOST);
	liar_report(&new, 7, "h7", 5, MSG_OP_PRESENT);
	ck_assert_uint_eq(top_find(&w, "n_7")->sub, MSG_NODE_UP);
	/* The sm that lost the host does not take it from its owner. */
	liar_report_of(&old, 7, "h7", 1000, MSG_OP_PRESENT, MSG_NODE_LOST);
	liar_report(&old, 7, "h7", 0, MSG_OP_GONE);
	ck_assert_uint_eq(top_find(&w, "n_7")->sub, MSG_NODE_UP);
	/* Later reports are compared with the new number. */
	liar_report(&old, 7, "h7", 6, MSG_OP_PRESENT);
	liar_report_of(&new, 7, "h7", 5, MSG_OP_PRESENT, MSG_NODE_LOST);
	ck_assert_uint_eq(top_find(&w, "n_7")->sub, MSG_NODE_UP);
	liar_free(&old);
	liar_free(&new);
}

TEST(an_sm_may_not_take_a_host_that_another_serves)
{
	struct liar l;

	lms_start(&w, 2);
	liar_start(&l, "a");
	ck_assert(l.is_up);
	/*
	 * The lm has reported number 1: a report with an older number does not remove its
	 * objects.
	 */
	liar_report(&l, 1, "h1", 1, MSG_OP_PRESENT);
	liar_report(&l, 1, "h1", 0, MSG_OP_GONE);
	ck_assert_ptr_nonnull(top_find(&w, "n_1"));
	ck_assert_ptr_nonnull(top_find(&w, "p_1_000001"));
	top_ask(&w, ":node_get_info([n_1],1)", SEC);
	ck_assert_uint_eq(w.lm[0].b.requests, 1);
	ck_assert_uint_eq(w.top.last->coverage.answered, 1);
	ck_assert(l.is_up);
	liar_free(&l);
}

/* An inner sm may pass on a false report of one host: its other hosts are still served. */
TEST(an_sm_that_renames_or_renumbers_a_host_is_passed_over)
{
	struct liar l;

	lms_start(&w, 2);
	liar_start(&l, "a");
	liar_report(&l, 1, "h9", 99, MSG_OP_PRESENT);
	liar_report(&l, 9, "h1", 99, MSG_OP_PRESENT);
	liar_report(&l, 1, "h9", 99, MSG_OP_GONE);
	world_run(&w, 50 * MS);
	ck_assert_uint_eq(l.downs, 0);
	ck_assert_ptr_nonnull(top_find(&w, "n_1"));
	ck_assert_str_eq(top_find(&w, "n_1")->host, "h1");
	ck_assert_ptr_null(top_find(&w, "n_9"));
	ck_assert_uint_eq(world_counts(&w).lms, 2);
	/* It is admitted with the objects of no other owner. */
	liar_report(&l, 9, "h9", 99, MSG_OP_PRESENT);
	ck_assert_str_eq(top_find(&w, "n_9")->host, "h9");
	liar_free(&l);
}

TEST(an_lm_redirected_to_a_silent_address_returns_and_stays)
{
	struct liar l;

	liar_start(&l, "a");
	lm_climb(&w, 0);
	world_run(&w, 20 * SEC);
	ck_assert(w.lm[0].b.is_up);
	ck_assert_uint_eq(world_counts(&w).lms, 1);
	top_ask(&w, ":node_get_info([n_1],1)", SEC);
	ck_assert_uint_eq(w.top.last->coverage.answered, 1);
	liar_free(&l);
}

TEST(an_sm_of_another_site_is_not_let_in)
{
	struct liar l;

	liar_start(&l, "b");
	ck_assert(!l.is_up);
	liar_free(&l);
}

TEST(an_event_of_a_host_that_another_serves_is_a_forgery)
{
	const struct msg m = { .type = MSG_TRIGGERED,
			       .triggered = { .csr = "c_1", .seq = 1, .node = "n_1" } };
	struct liar l;

	lms_start(&w, 1);
	top_arm(&w, "c_1", 1, EVENT("p_1_000001"), 0);
	liar_start(&l, "a");
	link_send(l.link, &m);
	world_run(&w, 50 * MS);
	ck_assert_uint_eq(w.top.triggers, 0);
	ck_assert_uint_eq(l.downs, 1);
	liar_free(&l);
}

TEST(an_sm_without_a_way_up_takes_no_sm)
{
	struct liar l;

	clean_up();
	world_open_alone(&w);
	liar_start(&l, "a");
	ck_assert(!l.is_up);
	liar_free(&l);
}

SUITE_WITH("sm stacked", set_up, clean_up)
