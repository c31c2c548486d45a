/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports of a lower sm about its hosts. The test is that sm, so that it can send messages that a
 * real one never sends.
 */
#include "common/base/array.h"
#include "tests/suite.h"
#include "tests/unit/sm/world.h"

static struct world w;

/* An sm of site a on host r<n>, directly below the one under test. */
struct fake_sm {
	char host[8];
	struct identity id;
	struct net_ctx *ctx;
	struct link *link;
	bool is_up;
	unsigned downs;
	char why[ERR_TEXT_BYTES];
};

static struct fake_sm one, two;

static void set_up(void)
{
	world_open(&w);
	memset(&one, 0, sizeof(one));
	memset(&two, 0, sizeof(two));
}

static void fake_free(struct fake_sm *s)
{
	link_close(s->link, "the test is over");
	world_run(&w, MS);
	net_ctx_free(s->ctx);
}

static void clean_up(void)
{
	fake_free(&one);
	fake_free(&two);
	world_done(&w);
}

static void on_up(void *arg, struct link *l, const struct msg_hello_ack *ack)
{
	struct fake_sm *s = arg;

	s->is_up = true;
	ck_assert_uint_eq(ack->site_number, 5);
}

static void on_down(void *arg, struct link *l, const struct err *why)
{
	struct fake_sm *s = arg;

	s->is_up = false;
	s->downs++;
	str_copy(s->why, sizeof(s->why), why->text);
}

static void on_retry(void *arg, struct link *l, const struct err *why, nsec_t in)
{
	struct fake_sm *s = arg;

	str_copy(s->why, sizeof(s->why), why->text);
}

static void on_msg(void *arg, struct link *l, const struct msg *m)
{
}

static int dial(void *arg, unsigned attempt, const struct chan_handler *h, struct chan **out,
		struct err *e)
{
	const struct net_expect x = { .roles = ROLE_BIT(ROLE_SM) };

	return net_dial(((struct fake_sm *)arg)->ctx,
			&(struct net_target){ .host = "sm-a", .port = w.conf.port, .expect = &x },
			h, out, e);
}

static void fake_start(struct fake_sm *s, const char *host)
{
	const struct link_conf conf = { .loop = w.loop,
					.rng = &w.rng,
					.handler = { .on_up = on_up,
						     .on_msg = on_msg,
						     .on_down = on_down,
						     .on_retry = on_retry,
						     .arg = s } };
	const struct msg_hello hello = { .role = "sm", .host = s->host, .listen = "r:9000" };

	str_copy(s->host, sizeof(s->host), host);
	if (!s->id.host[0])
		s->id = fake_identity(ROLE_SM, "a", host);
	ck_assert_int_eq(mem_ctx_open(w.net, &s->id, &s->ctx, NULL), 0);
	s->link = link_dial(&conf, &(struct link_dialer){ dial, s }, &hello);
	world_run(&w, 100 * MS);
}

/* A snapshot of node 31 on host hx, with one process, as an honest sm sends it. */
struct report {
	struct msg_object o[2];
	struct msg_directory d;
};

static struct report report(uint64_t attach)
{
	return (struct report){
		.o = { { .token = "n_31", .parent = "s_5", .site = "a", .host = "hx" },
		       { .token = "p_31_000001", .parent = "n_31", .name = "x" } },
		.d = { .full = true, .node = 31, .nobject = 2, .attach = attach }
	};
}

static void send_report(struct fake_sm *s, struct report *r)
{
	struct msg m = { .type = MSG_DIRECTORY, .directory = r->d };

	m.directory.object = r->o;
	ck_assert_int_eq(link_send(s->link, &m), 0);
	world_run(&w, 20 * MS);
}

/* Attached by the counter, and with the process only if it is believed. */
static bool has_host(void)
{
	return top_find(&w, "n_31") && top_find(&w, "p_31_000001");
}

TEST(an_honest_sm_brings_its_hosts)
{
	struct report r = report(5);

	fake_start(&one, "r1");
	ck_assert(one.is_up);
	send_report(&one, &r);
	ck_assert(has_host());
	ck_assert_str_eq(top_find(&w, "n_31")->host, "hx");
	ck_assert_str_eq(top_find(&w, "n_31")->parent, "s_5");
	ck_assert_uint_eq(top_find(&w, "n_31")->sub, MSG_NODE_UP);
	for (uint32_t sub = MSG_NODE_SILENT; sub <= MSG_NODE_HUNG; sub++) {
		r.o[0].sub = sub;
		send_report(&one, &r);
		ck_assert_uint_eq(top_find(&w, "n_31")->sub, sub);
	}
	ck_assert_uint_eq(world_counts(&w).nodes, 1);
	ck_assert_uint_eq(world_counts(&w).forged, 0);
	/* It leaves, and its processes with it. */
	r.o[0].op = MSG_OP_GONE;
	r.d.full = false;
	r.d.nobject = 1;
	send_report(&one, &r);
	ck_assert_ptr_null(top_find(&w, "n_31"));
	ck_assert_uint_eq(world_counts(&w).nodes, 0);
	ck_assert_uint_eq(world_counts(&w).objects, 0);
	/* One that was never there leaves no trace. */
	send_report(&one, &r);
	ck_assert_uint_eq(world_counts(&w).nodes, 0);
	ck_assert(one.is_up);
}

static void without_a_head(struct report *r)
{
	r->o[0] = r->o[1];
	r->d.nobject = 1;
}

static void without_a_host(struct report *r)
{
	r->o[0].host = "";
}

static void without_a_number(struct report *r)
{
	r->d.node = 0;
	r->o[0].token = "n_0";
}

static void of_another_site(struct report *r)
{
	r->o[0].site = "b";
}

static void with_a_process_of_another_node(struct report *r)
{
	r->o[1].token = "p_32_000001";
}

static const struct {
	void (*change)(struct report *r);
	const char *why;
} lies[] = {
	{ without_a_head, "it names no host for node 31" },
	{ without_a_host, "it names no host for node 31" },
	{ without_a_number, "it names no host for node 0" },
	{ of_another_site, "node 31 is not of site a" },
	{ with_a_process_of_another_node, "'p_32_000001' is not of node n_31" },
};

TEST(an_sm_that_speaks_of_impossible_hosts_is_cut)
{
	fake_start(&one, "r1");
	for (size_t i = 0; i < ARRAY_LEN(lies); i++) {
		struct report r = report(5);

		lies[i].change(&r);
		send_report(&one, &r);
		ck_assert_msg(one.downs == i + 1, "lie %zu went through", i);
		ck_assert_msg(strstr(one.why, lies[i].why) != NULL, "%s", one.why);
		ck_assert_uint_eq(world_counts(&w).forged, i + 1);
		ck_assert_ptr_null(top_find(&w, "p_32_000001"));
		world_run(&w, 40 * SEC);
		ck_assert(one.is_up);
	}
}

TEST(a_claim_to_another_hosts_name_or_number_is_dropped_alone)
{
	struct report r = report(5), other = report(5);

	lms_start(&w, 2);
	fake_start(&one, "r1");
	r.o[0].host = "h1"; /* node 1 */
	send_report(&one, &r);
	ck_assert_ptr_null(top_find(&w, "n_31"));
	send_report(&one, &other);
	ck_assert(has_host());
	other.o[0].host = "hy"; /* the number is that of hx */
	send_report(&one, &other);
	ck_assert_str_eq(top_find(&w, "n_31")->host, "hx");
	ck_assert(one.is_up && w.lm[0].b.is_up && w.lm[1].b.is_up);
	ck_assert_uint_eq(world_counts(&w).forged, 0);
	ck_assert_str_eq(top_find(&w, "n_1")->host, "h1");
}

/* The process' name shows which of the two sms is believed. */
static const char *believed(void)
{
	return top_find(&w, "p_31_000001") ? top_find(&w, "p_31_000001")->name : "none";
}

TEST(a_host_is_served_where_it_looked_for_a_parent_last)
{
	struct report a = report(5), b = report(5);

	a.o[1].name = "from one";
	b.o[1].name = "from two";
	fake_start(&one, "r1");
	fake_start(&two, "r2");
	send_report(&one, &a);
	send_report(&two, &b); /* an equal number: the first keeps it while it is connected */
	ck_assert_str_eq(believed(), "from one");
	b.d.attach = 6;
	send_report(&two, &b);
	ck_assert_str_eq(believed(), "from two");
	a.d.attach = 6;
	send_report(&one, &a);
	ck_assert_str_eq(believed(), "from two");
	/* It is lost there: a host that is up elsewhere has precedence, whatever the number. */
	b.o[0].sub = MSG_NODE_LOST;
	send_report(&two, &b);
	a.d.attach = 1;
	send_report(&one, &a);
	ck_assert_str_eq(believed(), "from one");
	/* And one that is lost elsewhere stays. */
	b.d.attach = 9;
	send_report(&two, &b);
	ck_assert_str_eq(believed(), "from one");
	ck_assert_uint_eq(top_find(&w, "n_31")->sub, MSG_NODE_UP);
	ck_assert_uint_eq(world_counts(&w).nodes, 1);
}

TEST(an_equal_number_counts_when_the_owner_is_silent)
{
	struct report a = report(5), b = report(5);

	b.o[1].name = "from two";
	fake_start(&one, "r1");
	fake_start(&two, "r2");
	send_report(&one, &a);
	b.o[0].sub = MSG_NODE_SILENT;
	mem_net_kill_host(w.net, "r1");
	world_run(&w, 10 * MS);
	b.d.attach = 4;
	send_report(&two, &b);
	ck_assert_str_eq(believed(), "x");
	b.d.attach = 5;
	send_report(&two, &b);
	ck_assert_str_eq(believed(), "from two");
}

TEST(an_sm_is_not_its_own_parent)
{
	one.id = *net_ctx_self(w.ctx);
	fake_start(&one, one.id.host);
	ck_assert(!one.is_up);
	ck_assert_ptr_nonnull(strstr(one.why, "its own parent"));
	ck_assert_uint_ge(world_counts(&w).refused, 1);
}

TEST(an_sm_of_another_site_or_host_is_refused)
{
	one.id = fake_identity(ROLE_SM, "b", "r1");
	fake_start(&one, "r1");
	ck_assert(!one.is_up);
	ck_assert_ptr_nonnull(strstr(one.why, "the certificate is for site b"));
	two.id = fake_identity(ROLE_SM, "a", "r2");
	fake_start(&two, "r3");
	ck_assert(!two.is_up);
	ck_assert_ptr_nonnull(strstr(two.why, "the certificate is for host r2, not for r3"));
	ck_assert_uint_ge(world_counts(&w).refused, 2);
}

TEST(an_sm_without_a_way_to_mainsm_takes_no_sms)
{
	top_stop(&w);
	world_stop_sm(&w);
	world_start_sm(&w);
	fake_start(&one, "r1");
	ck_assert(!one.is_up);
	ck_assert_ptr_nonnull(strstr(one.why, "not connected to mainsm yet"));
}

SUITE_WITH("sm claims", set_up, clean_up)
