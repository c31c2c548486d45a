/* SPDX-License-Identifier: Apache-2.0 */
/* Arrivals and departures: greeting, redirection, rights, restart, revocation, the end. */
#include "common/base/array.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/route/rights.h"
#include "mainsm/services.h"
#include "tests/any_call.h"
#include "tests/suite.h"
#include "tests/unit/mainsm/world.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct world w;
static struct fake_branch a, b, lm;
static struct above t;

TEST(an_lm_is_sent_to_its_sm_which_is_started_for_it)
{
	world_open(&w);
	below_open(&w, &lm, ROLE_LM, "a", "h1");
	ck_assert(lm.is_up);
	ck_assert_str_eq(lm.redirect, "wait");
	ck_assert_uint_eq(w.starts, 1);
	ck_assert_str_eq(w.started, "a");
	ck_assert_uint_eq(lm.node, 1);
	below_close(&lm);
	below_open(&w, &lm, ROLE_LM, "a", "h1");
	ck_assert_uint_eq(w.starts, 1);
	below_close(&lm);
	below_open(&w, &a, ROLE_SM, "a", "sm-a");
	below_open(&w, &lm, ROLE_LM, "a", "h1");
	ck_assert_str_eq(lm.redirect, "10.0.0.1:99");
	ck_assert_uint_eq(lm.node, 1);
	below_close(&lm);
	below_close(&a);
	below_open(&w, &lm, ROLE_LM, "a", "h1");
	ck_assert_str_eq(lm.redirect, "wait");
	ck_assert_uint_eq(w.starts, 2);
	below_close(&lm);
	world_done(&w);
}

/* Connects as an sm below another sm. */
static void connect_stacked(struct fake_branch *sm)
{
	struct msg_hello hello = below_hello(sm);

	link_close(sm->link, "again");
	hello.want_redirect = true;
	fake_branch_dial(sm, &hello);
	world_run(&w, 300 * MS);
}

TEST(a_stacked_sm_is_sent_to_the_sm_of_its_site_and_is_no_child)
{
	world_open(&w);
	below_open(&w, &a, ROLE_SM, "a", "sm-a");
	below_open(&w, &b, ROLE_SM, "a", "sm-b");
	ck_assert(!b.is_up); /* a site has one sm */
	connect_stacked(&b);
	ck_assert(b.is_up);
	ck_assert_str_eq(b.redirect, "10.0.0.1:99");
	below_close(&a);
	world_run(&w, 100 * MS);
	connect_stacked(&b);
	ck_assert_str_eq(b.redirect, "wait"); /* and mainsm starts the sm of the site */
	ck_assert_uint_eq(w.starts, 1);
	above_open(&w, &t, ROLE_TOOL_ADMIN, "t");
	ck_assert_ptr_null(strstr(entry_of(above_ask(&t, ":omig_tree()"), 1, 0)->value, "sm-b"));
	above_close(&t);
	below_close(&b);
	world_done(&w);
}

TEST(an_lm_whose_sm_cannot_be_started_is_served_directly)
{
	const struct reply *r;

	world_open(&w);
	w.start_rc = -1;
	for (int i = 0; i < SITE_START_TRIES; i++) {
		below_open(&w, &lm, ROLE_LM, "a", "h1");
		ck_assert_int_eq(lm.redirect[0] != 0, i < SITE_START_TRIES - 1);
		if (i < SITE_START_TRIES - 1)
			below_close(&lm);
	}
	ck_assert_uint_eq(w.starts, SITE_START_TRIES);
	below_report(&lm, 1, "h1");
	above_open(&w, &t, ROLE_TOOL_OBSERVE, "t");
	above_attach_all(&t);
	r = above_ask(&t, ":proc_get_info([],1)");
	ck_assert_uint_eq(r->coverage.answered, 2);
	ck_assert_str_eq(lm.text, ":proc_get_info([p_1_a00000,p_1_b00000],1)");
	/* An lm may report its own host only. */
	below_report(&lm, 2, "h2");
	ck_assert_ptr_null(strstr(entry_of(above_ask(&t, ":omig_tree()"), 1, 0)->value, "n_2"));
	above_close(&t);
	below_close(&lm);
	world_done(&w);
}

/* The sm's report about host 1, with the time when the host connected to it. */
static void claim(struct fake_branch *sm, uint64_t attach, uint32_t sub)
{
	struct msg_object o[] = { below_object("n_1", "s_1", "h1"),
				  below_object("p_1_a00000", "n_1", "") };
	struct msg m = { .type = MSG_DIRECTORY,
			 .directory = { .full = true,
					.node = 1,
					.object = o,
					.nobject = ARRAY_LEN(o),
					.attach = attach } };

	o[0].sub = sub;
	ck_assert_int_eq(link_send(sm->link, &m), 0);
	world_run(&w, 50 * MS);
}

/* An sm was stopped, and its host connected to mainsm directly. Then the sm continues. */
TEST(an_sm_does_not_reclaim_a_host_that_mainsm_serves)
{
	world_open(&w);
	w.start_rc = -1;
	for (int i = 0; i < SITE_START_TRIES; i++) {
		below_open(&w, &lm, ROLE_LM, "a", "h1");
		if (i < SITE_START_TRIES - 1)
			below_close(&lm);
	}
	below_report(&lm, 1, "h1");
	above_open(&w, &t, ROLE_TOOL_OBSERVE, "t");
	above_attach_all(&t);
	below_open(&w, &a, ROLE_SM, "a", "sm-a");
	claim(&a, 76, MSG_NODE_UP);
	claim(&a, 76, MSG_NODE_LOST);
	ck_assert_uint_eq(above_ask(&t, ":proc_get_info([],1)")->coverage.answered, 2);
	ck_assert_str_eq(lm.text, ":proc_get_info([p_1_a00000,p_1_b00000],1)");
	ck_assert_uint_eq(a.requests, 0);
	/* The host connects to the sm. */
	claim(&a, 78, MSG_NODE_UP);
	ck_assert_uint_eq(above_ask(&t, ":proc_get_info([],1)")->coverage.answered, 1);
	ck_assert_uint_eq(a.requests, 1);
	/* A report on the old link is ignored. */
	below_report(&lm, 1, "h1");
	ck_assert_uint_eq(above_ask(&t, ":proc_get_info([],1)")->coverage.answered, 1);
	ck_assert_uint_eq(a.requests, 2);
	above_close(&t);
	below_close(&lm);
	below_close(&a);
	world_done(&w);
}

TEST(a_host_that_is_lost_belongs_to_any_sm_that_has_it)
{
	world_open(&w);
	w.start_rc = -1;
	for (int i = 0; i < SITE_START_TRIES; i++) {
		below_open(&w, &lm, ROLE_LM, "a", "h1");
		below_close(&lm);
	}
	below_open(&w, &lm, ROLE_LM, "a", "h1");
	below_report(&lm, 1, "h1");
	below_close(&lm);
	below_open(&w, &a, ROLE_SM, "a", "sm-a");
	claim(&a, 1, MSG_NODE_UP);
	above_open(&w, &t, ROLE_TOOL_OBSERVE, "t");
	above_attach_all(&t);
	ck_assert_uint_eq(above_ask(&t, ":proc_get_info([],1)")->coverage.answered, 1);
	ck_assert_uint_eq(a.requests, 1);
	above_close(&t);
	below_close(&a);
	world_done(&w);
}

TEST(a_second_sm_of_a_site_waits_until_the_first_is_gone)
{
	world_open(&w);
	below_open(&w, &a, ROLE_SM, "a", "sm-a");
	below_report(&a, 1, "h1");
	below_open(&w, &b, ROLE_SM, "a", "sm-b");
	world_run(&w, 20 * SEC);
	ck_assert(a.is_up && !b.is_up);
	below_close(&a);
	world_run(&w, 20 * SEC);
	ck_assert(b.is_up);
	below_report(&b, 1, "h1");
	above_open(&w, &t, ROLE_TOOL_OBSERVE, "t");
	above_attach_all(&t);
	ck_assert_uint_eq(above_ask(&t, ":node_get_info([],1)")->coverage.answered, 1);
	above_close(&t);
	below_close(&b);
	world_done(&w);
}

TEST(a_restarted_sm_replaces_its_dead_predecessor)
{
	world_open(&w);
	below_open(&w, &a, ROLE_SM, "a", "sm-a");
	ck_assert_int_eq(mem_net_set_link(w.net, "sm-a", "top", &(struct mem_link){ .cut = true }),
			 0);
	link_close(a.link, NULL);
	world_run(&w, 10 * MS);
	ck_assert_int_eq(mem_net_set_link(w.net, "sm-a", "top", &(struct mem_link){ 0 }), 0);
	below_again(&a);
	ck_assert(a.is_up);
	below_report(&a, 1, "h1");
	below_close(&a);
	world_done(&w);
}

TEST(an_sm_keeps_its_address_when_its_old_connection_ends)
{
	struct identity who;

	world_open(&w);
	below_open(&w, &a, ROLE_SM, "a", "sm-a");
	who = *net_ctx_self(a.ctx);
	below_init(&w, &b, &who);
	below_begin(&b);
	world_run(&w, RECONNECT_MIN_NS / 2); /* the replaced sm does not reconnect at once */
	ck_assert(b.is_up && !a.is_up);
	link_close(a.link, NULL);
	below_open(&w, &lm, ROLE_LM, "a", "h1");
	ck_assert_str_eq(lm.redirect, "10.0.0.1:99");
	ck_assert_uint_eq(w.starts, 0);
	below_close(&lm);
	below_close(&b);
	world_run(&w, 10 * MS);
	net_ctx_free(a.ctx);
	world_done(&w);
}

TEST(the_sixty_fifth_tool_gets_the_reason)
{
	static struct above many[TOOLS_MAX + 1];

	world_open(&w);
	for (size_t i = 0; i <= TOOLS_MAX; i++)
		above_open(&w, &many[i], ROLE_TOOL_ADMIN, "t");
	ck_assert(many[TOOLS_MAX - 1].is_up);
	ck_assert(!many[TOOLS_MAX].is_up);
	ck_assert_ptr_nonnull(strstr(many[TOOLS_MAX].why, "64 tools"));
	above_close(&many[0]);
	world_run(&w, 15 * SEC);
	ck_assert(many[TOOLS_MAX].is_up);
	ck_assert(many[TOOLS_MAX].number != many[1].number);
	for (size_t i = 1; i <= TOOLS_MAX; i++)
		above_close(&many[i]);
	world_done(&w);
}

#define OPEN_PLACES (TOOLS_MAX - TOOLS_ADMIN_PLACES)

TEST(an_observer_keeps_neither_an_admin_nor_another_user_out)
{
	static struct above many[OPEN_PLACES + 1], admin[TOOLS_ADMIN_PLACES], other;
	struct identity carol = fake_identity(ROLE_TOOL_OBSERVE, "", "carol@h"),
			bob = fake_identity(ROLE_TOOL_OBSERVE, "", "carol@h");

	str_copy(carol.owner, sizeof(carol.owner), "carol");
	str_copy(bob.owner, sizeof(bob.owner), "bob"); /* under the label of carol */
	world_open(&w);
	for (size_t i = 0; i <= OPEN_PLACES; i++)
		above_open_as(&w, &many[i], &carol);
	ck_assert(many[OPEN_PLACES - 1].is_up);
	ck_assert(!many[OPEN_PLACES].is_up);
	for (size_t i = 0; i < TOOLS_ADMIN_PLACES; i++) {
		above_open(&w, &admin[i], ROLE_TOOL_ADMIN, "a");
		ck_assert(admin[i].is_up);
	}
	ck_assert(many[OPEN_PLACES - 1].is_up);
	above_close(&many[OPEN_PLACES]); /* a refused tool would connect again and again */
	above_open_as(&w, &other, &bob);
	ck_assert(other.is_up);
	ck_assert(!many[OPEN_PLACES - 1].is_up);
	ck_assert(many[OPEN_PLACES - 2].is_up);
	world_run(&w, 60 * SEC); /* the disconnected tool connects again, and is refused */
	ck_assert(other.is_up && !many[OPEN_PLACES - 1].is_up);
	above_close(&other);
	for (size_t i = 0; i < OPEN_PLACES; i++)
		above_close(&many[i]);
	for (size_t i = 0; i < TOOLS_ADMIN_PLACES; i++)
		above_close(&admin[i]);
	world_done(&w);
}

static unsigned ask_service(struct above *tool, const struct omis_service *s)
{
	struct buf text = BUF_INIT(4096);
	unsigned status;

	any_request(&text, s, NULL);
	status = above_status(tool, buf_str(&text));
	buf_done(&text);
	return status;
}

TEST(every_service_is_denied_to_roles_below_its_right)
{
	static const enum role roles[] = { ROLE_TOOL_OBSERVE, ROLE_TOOL_MANIPULATE,
					   ROLE_TOOL_ADMIN };
	size_t cells = 0;

	for (size_t r = 0; r < ARRAY_LEN(roles); r++) {
		enum omis_right right = route_right_of_role(role_name(roles[r]));

		world_open(&w);
		above_open(&w, &t, roles[r], "t");
		for (size_t i = 0; i < omis_service_count(); i++) {
			const struct omis_service *s = omis_service_at(i);
			unsigned status = ask_service(&t, s);

			cells++;
			ck_assert(s->right != OMIS_NO_RIGHT);
			if (s->flags & OMIS_INTERNAL)
				ck_assert_msg(status == STATUS_UNKNOWN_SERVICE, "%s", s->name);
			else if (s->state == OMIS_UNSUPPORTED)
				ck_assert_msg(status == STATUS_UNSUPPORTED_SERVICE, "%s: %s",
					      s->name, status_name(status));
			else if (right < s->right)
				ck_assert_msg(status == STATUS_NO_PERMISSION, "%s: %s", s->name,
					      status_name(status));
			else
				ck_assert_msg(status != STATUS_NO_PERMISSION &&
						      status != STATUS_INTERNAL_ERROR &&
						      status != STATUS_UNSUPPORTED_SERVICE,
					      "%s: %s", s->name, status_name(status));
		}
		above_close(&t);
		world_done(&w);
	}
	ck_assert_uint_ge(cells, 60 * 3);
}

TEST(every_service_of_the_top_is_there)
{
	for (size_t i = 0; i < omis_service_count(); i++) {
		const struct omis_service *s = omis_service_at(i);

		if (s->class == OMIS_EVENT || s->state == OMIS_UNSUPPORTED)
			continue;
		ck_assert_msg((services_find(mainsm_services, s->name) != NULL) ==
				      (s->where == OMIS_AT_TOP || s->where == OMIS_AT_EACH ||
				       s->where == OMIS_AT_EVENT),
			      "%s", s->name);
	}
}

static unsigned disowned;

static void on_disown(struct fake_branch *s, const struct msg *m)
{
	disowned += m->type == MSG_DISOWN && m->disown.node == 3 && str_eq(m->disown.host, "h1");
}

/* The sm has only the host's claim to the number, and would refuse the true owner. */
TEST(the_sm_of_a_host_with_anothers_number_is_notified)
{
	world_open(&w);
	below_open(&w, &a, ROLE_SM, "a", "sm-a");
	a.on_other = on_disown;
	below_report(&a, 1, "h1");
	below_report(&a, 2, "h2");
	ck_assert_uint_eq(disowned, 0);
	below_report(&a, 3, "h1");
	ck_assert_uint_eq(disowned, 1);
	ck_assert(a.is_up);
	above_open(&w, &t, ROLE_TOOL_OBSERVE, "t");
	ck_assert_ptr_null(strstr(entry_of(above_ask(&t, ":omig_tree()"), 1, 0)->value, "n_3"));
	above_close(&t);
	below_close(&a);
	world_done(&w);
}

TEST(after_a_restart_everything_is_back_under_its_old_numbers)
{
	static const char *const files[] = { "names", "boot", "issued", "tokens" };
	char dir[] = "/tmp/omig-test-XXXXXX", path[64];
	uint32_t first;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	world_open(&w);
	world_stop(&w);
	str_copy(w.dir, sizeof(w.dir), dir);
	world_start(&w);
	below_open(&w, &lm, ROLE_LM, "z", "h9");
	below_close(&lm);
	below_open(&w, &b, ROLE_SM, "b", "sm-b");
	below_open(&w, &a, ROLE_SM, "a", "sm-a");
	below_report(&a, 2, "h1");
	above_open(&w, &t, ROLE_TOOL_OBSERVE, "t");
	ck_assert_ptr_nonnull(strstr(entry_of(above_ask(&t, ":omig_tree()"), 1, 0)->value,
				     "[n_2,s_3,\"h1\",\"up\""));
	first = t.number;
	world_run(&w, SEC);
	world_stop(&w);
	world_run(&w, SEC);
	ck_assert(!a.is_up && !t.is_up);
	world_start(&w);
	world_run(&w, 25 * SEC);
	ck_assert(a.is_up && b.is_up && t.is_up);
	ck_assert(t.number != first);
	below_report(&a, 2, "h1");
	ck_assert_ptr_nonnull(strstr(entry_of(above_ask(&t, ":omig_tree()"), 1, 0)->value,
				     "[n_2,s_3,\"h1\",\"up\""));
	above_close(&t);
	below_close(&a);
	below_close(&b);
	world_done(&w);
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, files[i]);
		file_remove(path, NULL);
	}
	ck_assert_int_eq(rmdir(dir), 0);
}

TEST(returning_branch_receives_the_ends_that_it_missed)
{
	world_open(&w);
	below_open(&w, &a, ROLE_SM, "a", "sm-a");
	below_report(&a, 1, "h1");
	above_open(&w, &t, ROLE_TOOL_OBSERVE, "t");
	above_attach_all(&t);
	above_send(&t, "thread_has_terminated([]): print([$proc])", 0);
	world_run(&w, 10 * MS);
	above_send(&t, ":csr_enable([])", 0);
	world_run(&w, 10 * MS);
	ck_assert_uint_eq(a.arms, 1);
	ck_assert_int_eq(mem_net_set_link(w.net, "sm-a", "top", &(struct mem_link){ .cut = true }),
			 0);
	world_run(&w, 10 * SEC);
	ck_assert(!a.is_up);
	above_close(&t);
	ck_assert_uint_eq(a.gones + a.disarms, 0);
	ck_assert_int_eq(mem_net_set_link(w.net, "sm-a", "top", &(struct mem_link){ 0 }), 0);
	world_run(&w, 15 * SEC);
	ck_assert(a.is_up);
	ck_assert_uint_ge(a.gones, 1);
	ck_assert_uint_ge(a.disarms, 1);
	below_close(&a);
	world_done(&w);
}

TEST(a_host_that_is_cut_off_is_noticed_in_seven_seconds)
{
	world_open(&w);
	below_open(&w, &a, ROLE_SM, "a", "sm-a");
	below_report(&a, 1, "h1");
	above_open(&w, &t, ROLE_TOOL_OBSERVE, "t");
	ck_assert_int_eq(mem_net_set_link(w.net, "sm-a", "top", &(struct mem_link){ .cut = true }),
			 0);
	world_run(&w, 7 * SEC);
	ck_assert_ptr_nonnull(strstr(entry_of(above_ask(&t, ":omig_tree()"), 1, 0)->value,
				     "[n_1,s_1,\"h1\",\"lost\""));
	ck_assert_ptr_nonnull(strstr(entry_of(t.last, 1, 0)->value, "unreachable"));
	above_close(&t);
	below_close(&a);
	world_done(&w);
}

TEST(certificates_can_be_asked_for_and_listed)
{
	const struct reply *r;

	world_open(&w);
	above_open(&w, &t, ROLE_TOOL_ADMIN, "t");
	r = above_ask(&t, ":omig_cert_token(\"tool\",60,1)");
	ck_assert_ptr_nonnull(strstr(entry_of(r, 1, 0)->value, "omig1:h:1:pin:"));
	ck_assert_uint_eq(tokens_count(mainsm_tokens(w.m), world_wall(&w)), 1);
	ck_assert_uint_eq(tokens_count(mainsm_tokens(w.m), world_wall(&w) + 61 * SEC), 0);
	ck_assert_uint_eq(above_status(&t, ":omig_cert_token(\"mainsm\",60,1)"),
			  STATUS_PARAMETER_ERROR);
	ck_assert_uint_eq(above_status(&t, ":omig_cert_token(\"lm\",0,1)"), STATUS_PARAMETER_ERROR);
	ck_assert_uint_eq(above_status(&t, ":omig_cert_token(\"lm\",60,-1)"),
			  STATUS_PARAMETER_ERROR);
	ck_assert_uint_eq(above_status(&t, ":omig_cert_list()"), STATUS_OK);
	ck_assert_str_eq(entry_of(above_ask(&t, ":omig_cert_revoke(\"nobody\")"), 1, 0)->value,
			 "0");
	above_close(&t);
	world_done(&w);
}

TEST(shutdown_replies_then_stops_all_daemons)
{
	world_open(&w);
	below_open(&w, &a, ROLE_SM, "a", "sm-a");
	above_open(&w, &t, ROLE_TOOL_ADMIN, "t");
	ck_assert_uint_eq(above_status(&t, ":omig_shutdown()"), STATUS_OK);
	ck_assert_uint_eq(w.ends, 0);
	world_run(&w, 300 * MS);
	ck_assert_uint_eq(w.ends, 1);
	ck_assert_uint_eq(a.stops, 1);
	above_close(&t);
	below_close(&a);
	world_done(&w);
}

TEST(a_reload_that_fails_changes_nothing)
{
	const struct pki_creds none = { 0 };
	const struct site_conf site = { "a", "n*", "none", "", "" };
	struct mainsm_conf conf;

	world_open(&w);
	conf = w.conf;
	conf.linger = 5 * SEC;
	conf.site = &site;
	conf.nsite = 1;
	ck_assert_int_lt(mainsm_reload(w.m, &conf, &none, NULL), 0);
	world_run(&w, 60 * SEC);
	ck_assert_uint_eq(w.ends, 0);
	below_open(&w, &a, ROLE_LM, "a", "n1");
	ck_assert_uint_eq(w.starts, 1); /* "none" is not reported */
	below_close(&a);
	world_done(&w);
}

TEST(a_lingering_mainsm_ends_without_connections)
{
	struct mainsm_conf conf;

	world_open(&w);
	conf = w.conf;
	conf.linger = 5 * SEC;
	ck_assert_int_eq(mainsm_reload(w.m, &conf, NULL, NULL), 0);
	above_open(&w, &t, ROLE_TOOL_OBSERVE, "t");
	world_run(&w, 60 * SEC);
	ck_assert_uint_eq(w.ends, 0);
	above_close(&t);
	world_run(&w, 4 * SEC);
	ck_assert_uint_eq(w.ends, 0);
	world_run(&w, 2 * SEC);
	ck_assert_uint_eq(w.ends, 1);
	world_done(&w);
}

static unsigned lines_of(const char *path, const char *words)
{
	struct buf text = BUF_INIT(1 << 20);
	unsigned n = 0;

	ck_assert_int_eq(file_read(path, 1 << 20, 0, &text, NULL), 0);
	for (const char *p = buf_str(&text); (p = strstr(p, words)) != NULL; p++)
		n++;
	buf_done(&text);
	return n;
}

TEST(a_full_disk_is_reported_once_and_its_end_too)
{
	static const char *const files[] = { "names", "boot", "issued", "tokens", "log" };
	char dir[] = "/tmp/omig-house-XXXXXX", names[64], log[64];
	int fd;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	world_open(&w);
	world_stop(&w);
	str_copy(w.dir, sizeof(w.dir), dir);
	world_start(&w);
	snprintf(names, sizeof(names), "%s/names", dir);
	snprintf(log, sizeof(log), "%s/log", dir);
	fd = open(log, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	log_open(&(struct log_conf){ .level = LOG_LEVEL_NOTICE, .format = LOG_PLAIN, .fd = fd });
	unlink(names);
	ck_assert_int_eq(mkdir(names, 0700), 0); /* it cannot be replaced */
	below_open(&w, &lm, ROLE_LM, "a", "h1");
	world_run(&w, 10 * SEC);
	ck_assert_uint_eq(lines_of(log, "are not saved"), 1);
	ck_assert_int_eq(rmdir(names), 0);
	world_run(&w, SEC);
	ck_assert_uint_eq(lines_of(log, "are saved again"), 1);
	ck_assert_int_eq(access(names, F_OK), 0);
	below_close(&lm);
	world_done(&w);
	log_close();
	close(fd);
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		snprintf(names, sizeof(names), "%s/%s", dir, files[i]);
		unlink(names);
	}
	rmdir(dir);
}

SUITE("house")
