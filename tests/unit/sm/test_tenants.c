/* SPDX-License-Identifier: Apache-2.0 */
/* Users of one process: apart from each other, coming and going. */
#include "tests/alloc_sweep.h"
#include "tests/suite.h"
#include "tests/unit/sm/users.h"

/* --- apart from each other */

TEST(each_user_has_a_port_and_its_own_hosts_only)
{
	join_both();
	ck_assert_uint_ne(w.top[0].sm_port, w.top[1].sm_port);
	ck_assert_uint_ge(w.top[0].sm_port, 9000);
	ck_assert_uint_le(w.top[1].sm_port, 9003);
	ck_assert(host_start(0, &w.top[0])->is_up);
	run(SEC);
	ck_assert_uint_gt(w.top[0].objects, 1);
	ck_assert_uint_eq(w.top[1].objects, 0);
	ck_assert(host_start(1, &w.top[1])->is_up);
	run(SEC);
	ck_assert_uint_eq(counters(0).hosts, 1);
	ck_assert_uint_eq(counters(0).procs, 1);
	ck_assert_uint_eq(counters(1).hosts, 1);
	/* Asked for by its exact name, an object of another is not there. */
	top_ask(&w.top[1], ":proc_get_info([p_1_000001],1)");
	run(3 * SEC);
	ck_assert_uint_eq(w.host[0].requests, 0);
	ck_assert_uint_eq(strtoul(w.top[1].text, NULL, 10), STATUS_UNKNOWN_OBJECT);
	top_ask(&w.top[0], ":proc_get_info([p_1_000001],1)");
	run(100 * MS);
	ck_assert_uint_eq(w.host[0].requests, 1);
	ck_assert_ptr_nonnull(strstr(w.top[0].text, "p_1_000001"));
}

TEST(a_flooding_user_is_read_later_and_the_other_at_once)
{
	unsigned before;

	join_both();
	host_start(0, &w.top[0]);
	host_start(1, &w.top[1]);
	for (int i = 0; i < 3000; i++)
		top_ask(&w.top[0], ":proc_get_info([p_1_000001],1)");
	run(50 * MS);
	before = w.top[1].replies;
	top_ask(&w.top[1], ":proc_get_info([p_2_000001],1)");
	run(5 * MS);
	ck_assert_uint_eq(w.top[1].replies, before + 1);
	ck_assert_uint_lt(w.top[0].replies, 600);
	ck_assert_int_gt(counters(0).read_later, 0);
	ck_assert_int_eq(counters(1).read_later, 0);
	run(20 * SEC);
	ck_assert_uint_eq(w.top[0].replies, 3000);
}

TEST(a_flooding_user_gains_nothing_by_a_new_policy)
{
	join_both();
	host_start(0, &w.top[0]);
	for (int i = 0; i < 3000; i++)
		top_ask(&w.top[0], ":proc_get_info([p_1_000001],1)");
	for (int i = 0; i < 50; i++) {
		ck_assert_int_eq(tenants_set_policy(w.tenants, w.user, w.nuser), 0);
		run(MS);
	}
	ck_assert_uint_lt(w.top[0].replies, 600);
	run(20 * SEC);
	ck_assert_uint_eq(w.top[0].replies, 3000);
}

TEST(a_quota_meets_one_user_and_its_change_too)
{
	join_both();
	host_start(1, &w.top[1]);
	host_start(2, &w.top[1]);
	ck_assert(!w.host[2].is_up);
	ck_assert_ptr_nonnull(strstr(w.host[2].why, "quota hosts"));
	ck_assert_uint_eq(counters(1).refused, 1);
	ck_assert_uint_eq(counters(0).refused, 0);
	tenant_limit(tenants_find(w.tenants, pins[1]), QUOTA_HOSTS, 2);
	run(30 * SEC);
	ck_assert(w.host[2].is_up);
	/* The limits that the admin has set survive a restart. */
	process_stop();
	process_start();
	run(30 * SEC);
	ck_assert_int_eq(counters(1).quota.max[QUOTA_HOSTS], 2);
	ck_assert_int_eq(counters(0).quota.max[QUOTA_HOSTS], 4);
}

/* --- coming and going */

TEST(an_unlisted_user_is_refused_without_a_rule_for_all)
{
	ck_assert_int_eq(join(2), -ERR_DENIED);
	ck_assert_ptr_nonnull(strstr(w.joined_why, "ask its admin"));
	w.user[2] = (struct user_conf){ .name = "others", .pin = "", .max = { 7, 0, 0, 0, 0 } };
	ck_assert_int_eq(tenants_set_policy(w.tenants, w.user, 3), 0);
	ck_assert_int_eq(join(2), 0);
	ck_assert_int_eq(counters(2).quota.max[QUOTA_HOSTS], 7);
	ck_assert_str_eq(counters(2).name, "somebody@x");
	ck_assert_int_eq(tenants_set_policy(w.tenants, w.user, 2), 0);
	ck_assert_uint_eq(tenants_count(w.tenants), 0);
}

TEST(a_new_user_refused_by_its_mainsm_leaves_nothing)
{
	char path[FILE_PATH_BYTES];
	struct stat st;

	w.enrol_why = "no such token";
	ck_assert_int_eq(join(0), 0);
	ck_assert_uint_eq(w.refused, 1);
	ck_assert_str_eq(w.joined_why, "no such token");
	ck_assert_uint_eq(tenants_count(w.tenants), 0);
	snprintf(path, sizeof(path), "%s/%s", w.dir, pins[0]);
	ck_assert_int_ne(stat(path, &st), 0);
	/* A user that has enrolled remains known after its mainsm ends. */
	w.enrol_why = NULL;
	ck_assert_int_eq(join(0), 0);
	top_stop(&w.top[0]);
	run(20 * SEC);
	w.enrol_why = "no such token";
	ck_assert_int_eq(join(0), 0);
	ck_assert_uint_eq(tenants_count(w.tenants), 1);
	/* A user that is served needs no token. */
	top_start(&w.top[0]);
	run(70 * SEC);
	ck_assert_int_eq(join(0), 1);
}

TEST(a_member_whose_second_join_fails_late_is_served_again)
{
	join_both();
	top_stop(&w.top[0]);
	run(20 * SEC);
	w.cannot_open = true;
	ck_assert_int_eq(join(0), 0);
	ck_assert_str_eq(w.joined_why, "the key cannot be read");
	w.cannot_open = false;
	top_start(&w.top[0]);
	run(TENANT_WAKE_NS + 10 * SEC);
	ck_assert_str_eq(counters(0).state, "up");
}

/* Where users are forgotten after an hour. */
static void forget_after_an_hour(void)
{
	process_stop();
	w.conf.forget = 3600 * SEC;
	process_start();
}

TEST(a_mainsm_is_forgotten_by_the_time_that_it_was_away)
{
	forget_after_an_hour();
	join_both();
	run(2 * 3600 * SEC);
	top_stop(&w.top[0]);
	run(1200 * SEC);
	ck_assert_uint_eq(tenants_count(w.tenants), 2);
	run(3600 * SEC);
	ck_assert_uint_eq(tenants_count(w.tenants), 1);
	ck_assert_ptr_nonnull(tenants_find(w.tenants, pins[1]));
}

TEST(tenant_file_records_the_last_contact_of_mainsm)
{
	char path[FILE_PATH_BYTES], line[512];
	long long seen = 0;
	FILE *f;

	forget_after_an_hour();
	join_both();
	run(2 * 3600 * SEC);
	snprintf(path, sizeof(path), "%s/%s/user", w.dir, pins[0]);
	f = fopen(path, "r");
	ck_assert_ptr_nonnull(f);
	while (fgets(line, sizeof(line), f))
		sscanf(line, "seen %lld", &seen);
	fclose(f);
	ck_assert_int_lt(wall(NULL) - seen, 1200 * SEC);
}

TEST(a_member_that_was_never_up_has_as_long_as_others)
{
	forget_after_an_hour();
	top_stop(&w.top[0]);
	ck_assert_int_eq(join(0), 0);
	run(1200 * SEC);
	ck_assert_uint_eq(tenants_count(w.tenants), 1);
	run(3600 * SEC);
	ck_assert_uint_eq(tenants_count(w.tenants), 0);
}

TEST(a_restart_brings_all_back_to_the_same_ports)
{
	uint16_t port[USERS];

	join_both();
	host_start(0, &w.top[0]);
	host_start(1, &w.top[1]);
	for (size_t i = 0; i < USERS; i++)
		port[i] = w.top[i].sm_port;
	process_stop();
	run(SEC);
	ck_assert(!w.host[0].is_up);
	process_start();
	run(20 * SEC);
	for (size_t i = 0; i < USERS; i++) {
		ck_assert_uint_eq(w.top[i].sm_port, port[i]);
		ck_assert(w.host[i].is_up);
		ck_assert_str_eq(counters(i).state, "up");
	}
}

TEST(files_that_others_can_write_are_refused)
{
	char path[FILE_PATH_BYTES];

	join_both();
	process_stop();
	snprintf(path, sizeof(path), "%s/%s/user", w.dir, pins[0]);
	ck_assert_int_eq(chmod(path, 0666), 0);
	process_start();
	run(5 * SEC);
	ck_assert_ptr_null(tenants_find(w.tenants, pins[0]));
	ck_assert_ptr_nonnull(tenants_find(w.tenants, pins[1]));
}

TEST(a_drop_hangs_up_one_and_the_other_does_not_notice)
{
	join_both();
	host_start(0, &w.top[0]);
	host_start(1, &w.top[1]);
	tenants_drop(w.tenants, tenants_find(w.tenants, pins[0]));
	run(SEC);
	ck_assert_ptr_null(w.top[0].link);
	ck_assert(!w.host[0].is_up);
	ck_assert_uint_eq(w.host[1].ups, 1);
	ck_assert(w.host[1].is_up);
	top_ask(&w.top[1], ":proc_get_info([p_2_000001],1)");
	run(100 * MS);
	ck_assert_ptr_nonnull(strstr(w.top[1].text, "p_2_000001"));
	process_stop();
	process_start();
	ck_assert_uint_eq(tenants_count(w.tenants), 1);
}

TEST(a_mainsm_that_ordered_a_stop_is_found_when_it_is_back)
{
	const struct msg stop = { .type = MSG_STOP, .stop = { .reason = "omig stop" } };

	join_both();
	ck_assert_int_eq(link_send(w.top[0].link, &stop), 0);
	run(100 * MS);
	top_stop(&w.top[0]);
	run(600 * SEC);
	ck_assert_str_eq(counters(0).state, "asleep");
	ck_assert_str_eq(counters(1).state, "up");
	top_start(&w.top[0]);
	run(TENANT_WAKE_NS + SEC);
	ck_assert_str_eq(counters(0).state, "up");
}

TEST(a_mainsm_that_revokes_us_is_rid_of_us)
{
	struct msg m = { .type = MSG_REVOKED };
	struct bytes serial;
	struct identity sm;

	join_both();
	sm = *link_identity(w.top[0].link);
	serial = (struct bytes){ sm.serial, SERIAL_BYTES };
	m.revoked = (struct msg_revoked){ &serial, 1 };
	ck_assert_int_eq(link_send(w.top[0].link, &m), 0);
	run(SEC);
	ck_assert_ptr_null(tenants_find(w.tenants, pins[0]));
	ck_assert_str_eq(counters(1).state, "up");
}

/* --- the addressed user, and room */

static const char *meant(const char *key)
{
	static struct err e;
	struct tenant *t = NULL;

	e = (struct err){ 0 };
	return tenants_meant(w.tenants, key, &t, &e) ? e.text : tenant_pin(t);
}

TEST(a_name_of_the_configuration_belongs_to_one_user)
{
	/* bob is not listed and calls himself alice before she is here. */
	w.user[1] = (struct user_conf){ .name = "others", .pin = "" };
	ck_assert_int_eq(tenants_set_policy(w.tenants, w.user, 2), 0);
	ck_assert_int_eq(join_as(1, "alice"), 0);
	ck_assert_str_eq(meant("alice"), "no user here is meant by 'alice'");
	ck_assert_str_eq(meant("48h248h2"), pins[1]);
	ck_assert_int_eq(join_as(0, "x"), 0);
	ck_assert_str_eq(meant("alice"), pins[0]);
	ck_assert_str_eq(meant(pins[1]), pins[1]);
	ck_assert_str_eq(meant("48h248h"), "no user here is meant by '48h248h'");
}

TEST(of_two_with_one_name_both_are_shown)
{
	w.user[0] = (struct user_conf){ .name = "others", .pin = "" };
	ck_assert_int_eq(tenants_set_policy(w.tenants, w.user, 1), 0);
	ck_assert_int_eq(join_as(0, "carol"), 0);
	ck_assert_str_eq(meant("carol"), pins[0]);
	ck_assert_int_eq(join_as(1, "carol"), 0);
	ck_assert_str_eq(
		meant("carol"),
		"'carol' may be 248h248h (carol) or 48h248h2 (carol): give more digits of the pin");
	ck_assert_str_eq(meant("48h248h2"), pins[1]);
}

TEST(a_name_that_looks_like_a_pin_makes_it_ambiguous_and_no_more)
{
	w.user[1] = (struct user_conf){ .name = "others", .pin = "" };
	ck_assert_int_eq(tenants_set_policy(w.tenants, w.user, 2), 0);
	ck_assert_int_eq(join_as(1, "248h248h"), 0);
	ck_assert_int_eq(join_as(0, "x"), 0);
	ck_assert_ptr_nonnull(strstr(meant("248h248h"), "give more digits of the pin"));
	ck_assert_str_eq(meant("248h248h2"), pins[0]);
}

TEST(unlisted_users_are_accepted_up_to_a_number)
{
	w.user[1] = (struct user_conf){ .name = "others", .pin = "", .users = 1 };
	ck_assert_int_eq(tenants_set_policy(w.tenants, w.user, 2), 0);
	ck_assert_int_eq(join(1), 0);
	ck_assert_int_eq(join(2), -ERR_LIMIT);
	ck_assert_ptr_nonnull(strstr(w.joined_why, "no more than 1 users that it does not know"));
	ck_assert_int_eq(join(0), 0); /* alice is in the configuration */
	ck_assert_int_eq(join(1), 1); /* bob is known already */
	ck_assert_uint_eq(tenants_count(w.tenants), 2);
}

TEST(unlisted_users_leave_places_for_listed_ones)
{
	struct connstr c = conn_of(2);

	w.user[1] = (struct user_conf){ .name = "others", .pin = "" };
	ck_assert_int_eq(tenants_set_policy(w.tenants, w.user, 2), 0);
	w.enrol_waits = true;
	w.enrol_why = "there is no such mainsm";
	for (int i = 0; i < TENANTS_STRANGERS_MAX; i++) {
		c.pin[0] = (char)('a' + i);
		ck_assert_int_eq(tenants_join(w.tenants, &c, "x", on_joined, &w, NULL), 0);
	}
	c.pin[0] = 'z';
	ck_assert_int_eq(tenants_join(w.tenants, &c, "x", on_joined, &w, NULL), -ERR_LIMIT);
	ck_assert_int_eq(join(0), 0);
	enrol_go();
	run(SEC);
	ck_assert_uint_eq(w.refused, TENANTS_STRANGERS_MAX + 1);
	ck_assert_uint_eq(tenants_count(w.tenants), 0);
}

/* --- without memory */

TEST(a_join_without_memory_leaves_a_member_or_nothing)
{
	const struct connstr c = conn_of(0);
	struct tenant *t;
	int got;

	ALLOC_SWEEP (k) {
		got = tenants_join(w.tenants, &c, "x", on_joined, &w, NULL);
		run(SEC);
		alloc_sweep_pause();
		t = tenants_find(w.tenants, pins[0]);
		ck_assert(got >= 0 || !t);
		if (t) {
			run(TENANT_WAKE_NS + 10 * SEC);
			ck_assert_str_eq(counters(0).state, "up");
			tenants_drop(w.tenants, t);
		}
		run(SEC);
		ck_assert_uint_eq(tenants_count(w.tenants), 0);
	}
}

TEST(a_start_without_memory_loses_no_user)
{
	struct tenants *ts = NULL;
	int rc;

	join_both();
	process_stop();
	ALLOC_SWEEP (k) {
		rc = tenants_open(&w.conf, w.user, w.nuser, &ts, NULL);
		alloc_sweep_pause();
		ck_assert(!rc || rc == -ERR_NOMEM);
		if (!rc)
			tenants_free(ts);
		run(10 * MS);
	}
	process_start();
	run(10 * SEC);
	ck_assert_str_eq(counters(0).state, "up");
	ck_assert_str_eq(counters(1).state, "up");
}

SUITE_WITH("sm users", set_up, clean_up)
