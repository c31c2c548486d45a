/* SPDX-License-Identifier: Apache-2.0 */
/* The port of the site: the rights of an admin, of a joining user, and of others. */
#include "common/audit/audit.h"
#include "common/base/array.h"
#include "tests/suite.h"
#include "tests/unit/sm/users.h"

static void guest_on_up(void *arg, struct link *l, const struct msg_hello_ack *ack)
{
	w.guest.is_up = true;
}

static void guest_on_retry(void *arg, struct link *l, const struct err *why, nsec_t in)
{
	str_copy(w.guest.why, sizeof(w.guest.why), why->text);
}

static void guest_on_msg(void *arg, struct link *l, const struct msg *m)
{
	if (m->type != MSG_REPLY)
		return;
	reply_free(w.guest.last);
	w.guest.last = reply_new();
	ck_assert_int_eq(wire_add_reply(w.guest.last, &m->reply), 0);
	w.guest.replies++;
}

static int guest_dial(void *arg, unsigned attempt, const struct chan_handler *h, struct chan **out,
		      struct err *e)
{
	const struct net_expect x = { .roles = ROLE_BIT(ROLE_MAINSM) };

	return net_dial(w.guest.ctx,
			&(struct net_target){ .host = "site",
					      .port = site_admin_port(w.site_admin),
					      .expect = &x },
			h, out, e);
}

static void guest_start(enum role role, const char *claims)
{
	const struct identity who = identity(role, "", "g@h");
	const struct link_conf conf = { .loop = w.loop,
					.rng = &w.rng,
					.handler = { .on_up = guest_on_up,
						     .on_msg = guest_on_msg,
						     .on_retry = guest_on_retry } };
	const struct msg_hello hello = { .role = claims, .host = "g@h" };

	ck_assert_int_eq(mem_ctx_open(w.net, &who, &w.guest.ctx, NULL), 0);
	w.guest.link = link_dial(&conf, &(struct link_dialer){ guest_dial, NULL }, &hello);
	run(300 * MS);
}

/*
 * Returns the status of the reply's first error entry; its text is in w.guest.last. `after`: time
 * for the effects.
 */
static unsigned ask_for(const char *text, nsec_t after)
{
	struct msg m = { .type = MSG_REQUEST };
	unsigned before = w.guest.replies;

	m.request = (struct msg_request){ .id = before + 1,
					  .text = { (const uint8_t *)text, strlen(text) } };
	ck_assert_int_eq(link_send(w.guest.link, &m), 0);
	run(after);
	ck_assert_uint_eq(w.guest.replies, before + 1);
	return reply_status(w.guest.last);
}

static unsigned ask(const char *text)
{
	return ask_for(text, SEC);
}

static bool last_says(const char *words)
{
	for (size_t i = 0; i < w.guest.last->nentry; i++)
		if (strstr(w.guest.last->entry[i].value, words))
			return true;
	return false;
}

TEST(an_admin_sees_how_much_and_never_what)
{
	join_both();
	host_start(0, &w.top[0]);
	run(SEC);
	guest_start(ROLE_TOOL_ADMIN, "tool");
	ck_assert_uint_eq(ask(":omig_site_users()"), STATUS_OK);
	ck_assert_uint_eq(w.guest.last->nentry, 2);
	ck_assert(last_says("alice") && last_says("bob") && last_says("top1:7000"));
	ck_assert(!last_says("secretprog") && !last_says("p_1_") && !last_says("h1"));
	ck_assert_uint_eq(ask(":omig_site_status()"), STATUS_OK);
	ck_assert(last_says("\"users\",2"));
	/* A request about programs is not answered at all. */
	ck_assert_uint_eq(ask(":proc_get_info([p_1_000001],1)"), STATUS_UNSUPPORTED_SERVICE);
	ck_assert_uint_eq(ask(":omig_tree()"), STATUS_UNSUPPORTED_SERVICE);
	ck_assert_uint_eq(ask(":thread_stop([])"), STATUS_UNSUPPORTED_SERVICE);
	ck_assert_uint_eq(ask("proc_has_terminated([]): print([1])"), STATUS_UNSUPPORTED_SERVICE);
	ck_assert_uint_eq(w.host[0].requests, 0);
}

/* All fields of a user, in the order of the catalogue. */
static void says_all_of(const struct tenant_counters *f)
{
	char want[512];
	int n;

	n = snprintf(want, sizeof(want),
		     "\"%s\",\"%s\",\"%s\",%d,\"%s\",%u,%lld,%lld,%zu,%zu,%zu,%zu,%zu", f->pin,
		     f->name, f->state, f->is_draining, f->address, f->port,
		     (long long)f->wall_since, (long long)f->wall_seen, f->hosts, f->procs,
		     f->objects, f->csrs, f->bytes);
	n += snprintf(want + n, sizeof(want) - (size_t)n, ",%llu,%llu,%lld,%llu,[",
		      (unsigned long long)f->messages, (unsigned long long)f->bytes_read,
		      (long long)f->read_later, (unsigned long long)f->refused);
	for (int i = 0; i < QUOTA_COUNT; i++)
		n += snprintf(want + n, sizeof(want) - (size_t)n, "%s%lld", i ? "," : "",
			      (long long)f->quota.max[i]);
	snprintf(want + n, sizeof(want) - (size_t)n, "],\"%s\"", f->trouble);
	ck_assert_msg(last_says(want), "%s\n%s", want, w.guest.last->entry[0].value);
}

TEST(an_admin_sees_all_figures_of_each_user)
{
	struct tenant_counters f;

	join_both();
	host_start(0, &w.top[0]);
	run(SEC);
	guest_start(ROLE_TOOL_ADMIN, "tool");
	ck_assert_uint_eq(ask(":omig_site_drain(\"bob\")"), STATUS_OK);
	ck_assert_uint_eq(ask_for(":omig_site_users()", 0), STATUS_OK);
	f = counters(0);
	ck_assert(f.hosts == 1 && f.procs == 1 && f.messages && f.bytes_read && f.port);
	says_all_of(&f);
	f = counters(1);
	ck_assert(f.is_draining && !f.hosts);
	says_all_of(&f);
}

TEST(an_admin_limits_drains_and_drops)
{
	join_both();
	guest_start(ROLE_TOOL_ADMIN, "tool");
	ck_assert_uint_eq(ask(":omig_site_limit(\"bob\",\"hosts\",3)"), STATUS_OK);
	ck_assert_int_eq(counters(1).quota.max[QUOTA_HOSTS], 3);
	ck_assert_uint_eq(ask(":omig_site_limit(\"bob\",\"hosts\",-1)"), STATUS_OK);
	ck_assert_int_eq(counters(1).quota.max[QUOTA_HOSTS], 1);
	ck_assert_uint_eq(ask(":omig_site_limit(\"bob\",\"wishes\",3)"), STATUS_PARAMETER_ERROR);
	ck_assert_uint_eq(ask(":omig_site_limit(\"bob\",\"hosts\",-2)"), STATUS_PARAMETER_ERROR);
	ck_assert_uint_eq(ask(":omig_site_drop(\"eve\")"), STATUS_UNKNOWN_OBJECT);
	ck_assert_uint_eq(ask(":omig_site_drop(\"\")"), STATUS_UNKNOWN_OBJECT);
	ck_assert_uint_eq(ask(":omig_site_drain(\"248h248h\")"), STATUS_OK);
	ck_assert(counters(0).is_draining);
	ck_assert(!host_start(0, &w.top[0])->is_up);
	ck_assert_uint_eq(ask(":omig_site_drain(\"alice\",0)"), STATUS_OK);
	run(30 * SEC);
	ck_assert(w.host[0].is_up);
	ck_assert_uint_eq(ask(":omig_site_drop(\"alice\")"), STATUS_OK);
	ck_assert(!w.host[0].is_up);
	ck_assert_uint_eq(tenants_count(w.tenants), 1);
}

TEST(a_joining_user_may_only_join)
{
	static const char *const others[] = { ":omig_site_users()", ":omig_site_status()",
					      ":omig_site_limit(\"alice\",\"hosts\",0)",
					      ":omig_site_drain(\"alice\")",
					      ":omig_site_drop(\"alice\")" };

	join_both();
	guest_start(ROLE_TOOL_OBSERVE, "tool");
	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		ck_assert_uint_eq(ask(others[i]), STATUS_NO_PERMISSION);
	ck_assert_uint_eq(tenants_count(w.tenants), 2);
	ck_assert_uint_eq(ask(":omig_site_join(\"nonsense\")"), STATUS_PARAMETER_ERROR);
	ck_assert_uint_eq(
		ask(":omig_site_join(\"omig1:top3:7000:6csk6csk6csk6csk6csk6csk6c:id.secret\")"),
		STATUS_NO_PERMISSION);
	ck_assert_uint_eq(ask(":omig_site_join(\"x\") omig_site_join(\"y\")"),
			  STATUS_PARAMETER_ERROR);
}

TEST(a_user_joins_by_a_request)
{
	guest_start(ROLE_TOOL_OBSERVE, "tool");
	ck_assert_uint_eq(
		ask(":omig_site_join(\"omig1:top1:7000:248h248h248h248h248h248h24:id.secret\")"),
		STATUS_OK);
	ck_assert(last_says("\"a\",9000"));
	ck_assert_ptr_nonnull(w.top[0].link);
	ck_assert_uint_eq(
		ask(":omig_site_join(\"omig1:top1:7000:248h248h248h248h248h248h24:id.secret\")"),
		STATUS_OK);
	w.enrol_why = "no such token";
	ck_assert_uint_eq(
		ask(":omig_site_join(\"omig1:top2:7000:48h248h248h248h248h248h248:id.secret\")"),
		STATUS_NO_PERMISSION);
	ck_assert(last_says("no such token"));
}

TEST(daemons_are_not_let_in_by_the_port_of_the_site)
{
	guest_start(ROLE_LM, "lm");
	ck_assert(!w.guest.is_up);
	ck_assert(w.guest.why[0]);
}

TEST(a_user_that_disconnects_while_joining_gets_no_reply)
{
	const struct connstr c = conn_of(0);
	const struct msg m = {
		.type = MSG_REQUEST,
		.request = { .id = 1,
			     .text = { (const uint8_t *)":omig_site_join(\"omig1:top1:7000:"
							"248h248h248h248h248h248h24:id.secret\")",
				       70 } }
	};

	guest_start(ROLE_TOOL_OBSERVE, "tool");
	ck_assert_int_eq(link_send(w.guest.link, &m), 0);
	link_close(w.guest.link, "gone");
	w.guest.link = NULL;
	run(SEC);
	ck_assert_uint_eq(w.guest.replies, 0);
	ck_assert_int_ge(tenants_join(w.tenants, &c, "x", on_joined, &w, NULL), 0);
	run(SEC);
}

/* Silent visitors. */
static struct net_ctx *crowd_ctx[SITE_ADMIN_VISITORS_MAX];
static struct link *crowd[SITE_ADMIN_VISITORS_MAX];

static int crowd_dial(void *arg, unsigned attempt, const struct chan_handler *h, struct chan **out,
		      struct err *e)
{
	const struct net_expect x = { .roles = ROLE_BIT(ROLE_MAINSM) };

	return net_dial(arg,
			&(struct net_target){ .host = "site",
					      .port = site_admin_port(w.site_admin),
					      .expect = &x },
			h, out, e);
}

static void crowd_add(size_t i, const struct identity *who)
{
	const struct link_conf conf = { .loop = w.loop, .rng = &w.rng };
	const struct msg_hello hello = { .role = "tool", .host = who->host };

	ck_assert_int_eq(mem_ctx_open(w.net, who, &crowd_ctx[i], NULL), 0);
	crowd[i] = link_dial(&conf, &(struct link_dialer){ crowd_dial, crowd_ctx[i] }, &hello);
	run(100 * MS);
}

static void crowd_leave(size_t n)
{
	for (size_t i = 0; i < n; i++) {
		link_close(crowd[i], "the test is over");
		run(10 * MS);
		net_ctx_free(crowd_ctx[i]);
	}
}

TEST(silent_connections_keep_no_user_out)
{
	size_t up = 0;

	for (size_t i = 0; i < SITE_ADMIN_VISITORS_MAX; i++) {
		const struct identity who = identity(ROLE_TOOL_OBSERVE, "", "crowd@x");

		crowd_add(i, &who);
		ck_assert(link_identity(crowd[i])); /* the newest has a place */
	}
	for (size_t i = 0; i < SITE_ADMIN_VISITORS_MAX; i++)
		up += link_identity(crowd[i]) != NULL;
	ck_assert_uint_le(up, SITE_ADMIN_JOINERS_MAX);
	guest_start(ROLE_TOOL_ADMIN, "tool");
	ck_assert(w.guest.is_up);
	ck_assert_uint_eq(ask(":omig_site_status()"), STATUS_OK);
	crowd_leave(SITE_ADMIN_VISITORS_MAX);
}

TEST(a_certificate_joins_once_at_a_time)
{
	static const char text[] =
		":omig_site_join(\"omig1:top1:7000:248h248h248h248h248h248h24:id.secret\")";
	const struct msg m = { .type = MSG_REQUEST,
			       .request = { .id = 1,
					    .text = { (const uint8_t *)text, sizeof(text) - 1 } } };

	w.enrol_waits = true;
	guest_start(ROLE_TOOL_OBSERVE, "tool");
	crowd_add(0, net_ctx_self(w.guest.ctx));
	ck_assert_int_eq(link_send(crowd[0], &m), 0);
	run(100 * MS);
	ck_assert_uint_eq(
		ask(":omig_site_join(\"omig1:top2:7000:48h248h248h248h248h248h248:id.secret\")"),
		STATUS_UNSPECIFIED_ERROR);
	ck_assert(last_says("you are joining already"));
	enrol_go();
	run(SEC);
	ck_assert_ptr_nonnull(w.top[0].link);
	crowd_leave(1);
}

TEST(users_that_a_name_may_mean_are_listed)
{
	w.user[0] = (struct user_conf){ .name = "others", .pin = "" };
	ck_assert_int_eq(tenants_set_policy(w.tenants, w.user, 1), 0);
	ck_assert_int_eq(join_as(0, "carol"), 0);
	ck_assert_int_eq(join_as(1, "carol"), 0);
	guest_start(ROLE_TOOL_ADMIN, "tool");
	ck_assert_uint_eq(ask(":omig_site_drop(\"carol\")"), STATUS_UNKNOWN_OBJECT);
	ck_assert(last_says("248h248h (carol) or 48h248h2 (carol)"));
	ck_assert_uint_eq(tenants_count(w.tenants), 2);
}

#define JOIN_1 ":omig_site_join(\"omig1:top1:7000:248h248h248h248h248h248h24:id.secret\")"
#define JOIN_2 ":omig_site_join(\"omig1:top2:7000:48h248h248h248h248h248h248:id.secret\")"

static void send_request(uint64_t id, const char *text)
{
	const struct msg m = { .type = MSG_REQUEST,
			       .request = { .id = id,
					    .text = { (const uint8_t *)text, strlen(text) } } };

	ck_assert_int_eq(link_send(w.guest.link, &m), 0);
	run(SEC);
}

static void cancel(uint64_t id)
{
	ck_assert_int_eq(
		link_send(w.guest.link, &(struct msg){ .type = MSG_CANCEL, .cancel = { id } }), 0);
	run(SEC);
}

TEST(a_join_that_is_cancelled_is_not_answered)
{
	w.enrol_waits = true;
	guest_start(ROLE_TOOL_OBSERVE, "tool");
	cancel(7); /* nothing is pending */
	send_request(7, JOIN_1);
	cancel(8); /* of another request */
	send_request(9, JOIN_2);
	ck_assert_uint_eq(w.guest.replies, 1);
	ck_assert(last_says("you are joining already"));
	cancel(7);
	send_request(10, JOIN_2);
	ck_assert_uint_eq(w.guest.replies, 1); /* taken: it waits, too */
	enrol_go();
	run(SEC);
	ck_assert_uint_eq(w.guest.replies, 2);
	ck_assert_uint_eq(w.guest.last->id, 10);
	ck_assert_uint_eq(reply_status(w.guest.last), STATUS_OK);
}

TEST(a_text_that_is_no_request_is_refused)
{
	guest_start(ROLE_TOOL_ADMIN, "tool");
	ck_assert_uint_eq(ask(":omig_site_users("), STATUS_SYNTAX_ERROR);
	ck_assert_uint_eq(ask(":no_such_service()"), STATUS_UNKNOWN_SERVICE);
	ck_assert_uint_eq(ask(":omig_site_limit(1,2,3)"), STATUS_TYPE_MISMATCH);
	/* All requests are counted, and refused ones separately. */
	ck_assert_uint_eq(ask(":omig_site_status()"), STATUS_OK);
	ck_assert(last_says("[\"requests\",4]"));
	ck_assert(last_says("[\"requests_refused\",3]"));
}

static void say_health(void *arg, struct omis_writer *out)
{
	omis_write_pair(out, "lag_ns", 17);
}

TEST(the_status_of_the_port_counts_its_peers)
{
	process_stop();
	w.health = say_health;
	process_start();
	guest_start(ROLE_TOOL_ADMIN, "tool");
	run(8 * SEC);
	ck_assert_uint_eq(ask(":omig_site_status()"), STATUS_OK);
	ck_assert(last_says("\"sm\",\"" OMIG_VERSION "\",8300"));
	ck_assert(last_says("[\"users\",0],[\"visitors\",1],[\"requests\",1],"
			    "[\"requests_refused\",0],[\"accepted\",1],[\"refused\",0],"
			    "[\"penalised\",0],[\"lag_ns\",17]"));
	ck_assert_uint_eq(ask(":omig_site_users()"), STATUS_OK);
	ck_assert_uint_eq(w.guest.last->nentry, 1);
	ck_assert_str_eq(w.guest.last->entry[0].value, "");
}

TEST(a_request_of_several_services_is_answered_in_one_reply)
{
	join_both();
	guest_start(ROLE_TOOL_ADMIN, "tool");
	ck_assert_uint_eq(ask(":omig_site_drain(\"bob\") omig_site_limit(\"bob\",\"csrs\",9)"),
			  STATUS_OK);
	ck_assert_uint_eq(w.guest.last->nentry, 2);
	ck_assert_uint_eq(w.guest.last->entry[0].action, 1);
	ck_assert_uint_eq(w.guest.last->entry[1].action, 2);
	ck_assert(counters(1).is_draining);
	ck_assert_int_eq(counters(1).quota.max[QUOTA_CSRS], 9);
	ck_assert_uint_eq(ask(":omig_site_limit(\"bob\",\"csrs\",0)"), STATUS_OK);
	ck_assert_int_eq(counters(1).quota.max[QUOTA_CSRS], 0);
}

TEST(admins_fill_all_places_and_one_more_is_refused)
{
	for (size_t i = 0; i < SITE_ADMIN_VISITORS_MAX; i++) {
		const struct identity who = identity(ROLE_TOOL_ADMIN, "", "crowd@x");

		crowd_add(i, &who);
		ck_assert(link_identity(crowd[i]));
	}
	guest_start(ROLE_TOOL_ADMIN, "tool");
	ck_assert(!w.guest.is_up);
	link_close(crowd[5], "leaves");
	run(10 * MS);
	net_ctx_free(crowd_ctx[5]);
	run(30 * SEC);
	ck_assert(w.guest.is_up); /* in the place that is free */
	ck_assert_uint_eq(ask(":omig_site_status()"), STATUS_OK);
	ck_assert(last_says("[\"visitors\",64]"));
	crowd_ctx[5] = crowd_ctx[SITE_ADMIN_VISITORS_MAX - 1];
	crowd[5] = crowd[SITE_ADMIN_VISITORS_MAX - 1];
	crowd_leave(SITE_ADMIN_VISITORS_MAX - 1);
}

TEST(sm_audits_actions_and_refusals_of_admins)
{
	char path[FILE_PATH_BYTES], later[80];
	struct audit_conf c = { .path = path, .daemon = "sm", .host = "sm" };

	snprintf(path, sizeof(path), "%s/audit", w.dir);
	process_stop();
	ck_assert_int_eq(audit_open(&c, &w.audit), 0);
	process_start();
	join_both();
	guest_start(ROLE_TOOL_ADMIN, "tool");
	ck_assert_uint_eq(ask(":omig_site_drain(\"bob\")"), STATUS_OK);
	snprintf(later, sizeof(later), ":omig_audit([],%lld,10)", (long long)(wall(NULL) - MS));
	ck_assert_uint_eq(ask(":omig_site_drop(\"eve\")"), STATUS_UNKNOWN_OBJECT);
	ck_assert_uint_eq(ask(":omig_site_users()"), STATUS_OK);
	ck_assert_uint_eq(ask(":omig_audit([],0,10)"), STATUS_OK);
	ck_assert_uint_eq(w.guest.last->nentry, 1);
	ck_assert_msg(last_says("omig_site_drain"), "%s", w.guest.last->entry[0].value);
	ck_assert(last_says("omig_site_drop") && last_says("g@h"));
	ck_assert(!last_says("omig_site_users"));
	ck_assert_uint_eq(ask(":omig_audit([],0,1)"), STATUS_OK);
	ck_assert(!last_says("omig_site_drain") && last_says("omig_site_drop"));
	ck_assert_uint_eq(ask(later), STATUS_OK);
	ck_assert(!last_says("omig_site_drain") && last_says("omig_site_drop"));
	link_close(w.guest.link, "another one follows");
	run(10 * MS);
	net_ctx_free(w.guest.ctx);
	w.guest.ctx = NULL;
	w.guest.replies = 0;
	guest_start(ROLE_TOOL_OBSERVE, "tool");
	ck_assert_uint_eq(ask(":omig_site_drop(\"bob\")"), STATUS_NO_PERMISSION);
	ck_assert_uint_eq(tenants_count(w.tenants), 2);
	process_stop();
	audit_close(w.audit);
	w.audit = NULL;
	unlink(path);
}

SUITE_WITH("sm front", set_up, clean_up)
