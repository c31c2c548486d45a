/* SPDX-License-Identifier: Apache-2.0 */
/* The settings of an sm, from both sides of each bound. */
#include "common/base/array.h"
#include "common/base/limits.h"
#include "common/base/str.h"
#include "sm/hosts/nodes.h"
#include "sm/node/sm.h"
#include "sm/settings.h"
#include "tests/suite.h"

#include <string.h>
#include <unistd.h>

#define DAY (86400 * NSEC_PER_SEC)

static struct conf *load_file(const char *text, const struct conf_set *set)
{
	char path[] = "/tmp/omig-test-XXXXXX";
	int fd = mkstemp(path);
	const struct conf_input in = { .file = path, .set = set, .nset = set ? 1 : 0 };
	struct conf *c = NULL;
	int rc;

	ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	rc = conf_load(&sm_settings_schema, &in, &c, NULL);
	unlink(path);
	return rc ? NULL : c;
}

TEST(without_settings_it_serves_this_host_alone)
{
	struct conf *c = load_file("", NULL);
	const struct settings *s;

	ck_assert_ptr_nonnull(c);
	s = conf_values(c);
	ck_assert_str_eq(s->mainsm, "");
	ck_assert_str_eq(s->site, "default");
	ck_assert_str_eq(s->listen, "127.0.0.1");
	ck_assert_str_eq(s->advertise, "");
	ck_assert_str_eq(s->parent, "");
	ck_assert_str_eq(s->user_ports, "");
	ck_assert_int_eq(s->port, 0);
	ck_assert_int_eq(s->fan_in, 0);
	ck_assert_int_eq(s->linger, 60 * NSEC_PER_SEC);
	ck_assert_int_eq(s->grace, 120 * NSEC_PER_SEC);
	ck_assert_int_eq(s->forget, 30 * DAY);
	ck_assert(!s->mainsm_stdin && !s->shared);
	ck_assert_uint_eq(s->nusers, 0);
	ck_assert_int_eq(sm_settings_check(s, NULL), 0);
	conf_free(c);
}

TEST(numbers_end_at_their_bounds)
{
	static const struct {
		struct conf_set set;
		bool is_good;
	} row[] = {
		{ { "port", "65535" }, true },
		{ { "port", "65536" }, false },
		{ { "port", "-1" }, false },
		{ { "linger", "0" }, true },
		{ { "linger", "365d" }, true },
		{ { "linger", "366d" }, false },
		{ { "grace", "1s" }, true },
		{ { "grace", "999ms" }, false },
		{ { "grace", "1d" }, true },
		{ { "grace", "25h" }, false },
		{ { "forget", "0" }, true },
		{ { "forget", "3650d" }, true },
		{ { "forget", "3651d" }, false },
		{ { "fan-in", "0" }, true },
		{ { "fan-in", "-1" }, false },
		{ { "site", "" }, false },
		{ { "listen", "" }, false },
		{ { "user-ports", "10000-20000" }, true },
		{ { "user-ports", "10000-200000" }, false },
	};
	char most[32];

	for (size_t i = 0; i < ARRAY_LEN(row); i++) {
		struct conf *c = load_file("", &row[i].set);

		ck_assert_msg(!!c == row[i].is_good, "%s %s", row[i].set.name, row[i].set.value);
		conf_free(c);
	}
	for (int more = 0; more < 2; more++) {
		const struct conf_set set = { "fan-in", most };
		struct conf *c;

		snprintf(most, sizeof(most), "%d", NODES_MAX + more);
		c = load_file("", &set);
		ck_assert_int_eq(!c, more);
		conf_free(c);
	}
}

TEST(texts_end_at_their_bounds)
{
	static const struct {
		const char *name;
		size_t max;
	} row[] = { { "mainsm", 4096 },
		    { "site", SITE_NAME_MAX_BYTES },
		    { "listen", NAME_MAX_BYTES },
		    { "advertise", 1024 },
		    { "parent", 1024 } };
	char text[4200];

	for (size_t i = 0; i < ARRAY_LEN(row); i++)
		for (size_t more = 0; more < 2; more++) {
			const struct conf_set set = { row[i].name, text };
			struct conf *c;

			memset(text, 'x', row[i].max + more);
			text[row[i].max + more] = 0;
			c = load_file("", &set);
			ck_assert_msg(!!c == !more, "%s %zu", row[i].name, more);
			conf_free(c);
		}
}

TEST(a_user_has_a_quota_that_a_section_may_change)
{
	struct conf *c = load_file(
		"[user a]\npin = 00000000000000000000000000\n"
		"[user b]\nusers = 3\nhosts = 4\nobjects = 5\ncsrs = 6\nmessages = 7\nbytes = 8k\n",
		NULL);
	const struct settings *s;

	ck_assert_ptr_nonnull(c);
	s = conf_values(c);
	ck_assert_uint_eq(s->nusers, 2);
	ck_assert_str_eq(s->users[0].pin, "00000000000000000000000000");
	ck_assert_int_eq(s->users[0].users, 64);
	ck_assert_int_eq(s->users[0].max[QUOTA_HOSTS], 256);
	ck_assert_int_eq(s->users[0].max[QUOTA_OBJECTS], 65536);
	ck_assert_int_eq(s->users[0].max[QUOTA_CSRS], 4096);
	ck_assert_int_eq(s->users[0].max[QUOTA_MESSAGES], 20000);
	ck_assert_int_eq(s->users[0].max[QUOTA_BYTES], 64 << 20);
	ck_assert_str_eq(s->users[1].pin, "");
	ck_assert_int_eq(s->users[1].users, 3);
	ck_assert_int_eq(s->users[1].max[QUOTA_HOSTS], 4);
	ck_assert_int_eq(s->users[1].max[QUOTA_OBJECTS], 5);
	ck_assert_int_eq(s->users[1].max[QUOTA_CSRS], 6);
	ck_assert_int_eq(s->users[1].max[QUOTA_MESSAGES], 7);
	ck_assert_int_eq(s->users[1].max[QUOTA_BYTES], 8192);
	ck_assert_int_eq(sm_settings_check(s, NULL), 0);
	conf_free(c);
}

TEST(users_that_cannot_be_distinguished_are_refused)
{
	static const struct {
		const char *text;
		int rc;
	} row[] = {
		{ "[user a]\n", 0 },
		{ "[user a]\n[user b]\npin = 00000000000000000000000000\n", 0 },
		{ "[user a]\n[user b]\n", -ERR_INVALID },
		{ "[user a]\npin = abc\n", -ERR_INVALID },
		{ "[user a]\npin = 00000000000000000000000001\n", -ERR_INVALID },
	};

	for (size_t i = 0; i < ARRAY_LEN(row); i++) {
		struct conf *c = load_file(row[i].text, NULL);

		ck_assert_msg(c && sm_settings_check(conf_values(c), NULL) == row[i].rc, "%s",
			      row[i].text);
		conf_free(c);
	}
}

static struct settings sound(void)
{
	return (struct settings){
		.mainsm = "", .site = "s", .listen = "127.0.0.1", .parent = "", .user_ports = ""
	};
}

TEST(ports_of_users_are_a_range)
{
	static const struct {
		const char *text;
		int first, last; /* -1: refused */
	} row[] = {
		{ "", 0, 0 },	  { "1-65535", 1, 65535 }, { "7-7", 7, 7 },
		{ "8-7", -1, 0 }, { "0-7", -1, 0 },	   { "7-65536", -1, 0 },
		{ "7", -1, 0 },	  { "-7", -1, 0 },	   { "7-", -1, 0 },
		{ "a-7", -1, 0 }, { "7-9-11", -1, 0 },	   { "00000000000000000001-7", -1, 0 },
	};

	for (size_t i = 0; i < ARRAY_LEN(row); i++) {
		struct settings s = sound();
		uint16_t first = 9, last = 9;
		int rc;

		s.user_ports = row[i].text;
		rc = sm_settings_ports(&s, &first, &last, NULL);
		ck_assert_int_eq(sm_settings_check(&s, NULL), rc);
		ck_assert_msg(row[i].first < 0
				      ? rc == -ERR_INVALID
				      : !rc && first == row[i].first && last == row[i].last,
			      "%s", row[i].text);
	}
}

TEST(a_parent_is_the_sm_of_the_site_or_an_address)
{
	char longest[2 * NAME_MAX_BYTES];
	const struct {
		const char *parent, *address;
		bool is_stacked, is_good;
	} row[] = {
		{ "", "", false, true },
		{ "site", "", true, true },
		{ "host:1", "host:1", true, true },
		{ "host:1,[::1]:65535", "host:1,[::1]:65535", true, true },
		{ "host", "host", true, false },
		{ "host:0", "host:0", true, false },
		{ "host:1,,host:2", "host:1,,host:2", true, false },
		{ longest, longest, true, true },
	};
	struct settings s = sound();
	const char *address;

	memset(longest, 'x', NAME_MAX_BYTES);
	snprintf(longest + NAME_MAX_BYTES, 8, ":65535");
	for (size_t i = 0; i < ARRAY_LEN(row); i++) {
		s.parent = row[i].parent;
		ck_assert(sm_settings_parent(&s, &address) == row[i].is_stacked);
		ck_assert_str_eq(address, row[i].address);
		ck_assert_msg(sm_settings_check(&s, NULL) == (row[i].is_good ? 0 : -ERR_INVALID) ||
				      (!row[i].is_good && sm_settings_check(&s, NULL) < 0),
			      "%s", row[i].parent);
	}
	s.parent = "site";
	s.shared = true;
	ck_assert_int_eq(sm_settings_check(&s, NULL), -ERR_INVALID);
	s.parent = "";
	ck_assert_int_eq(sm_settings_check(&s, NULL), 0);
}

TEST(a_site_has_a_name_that_may_stand_in_a_path)
{
	static const char *const good[] = { "a", "A-1_b.c", "0" }, *const bad[] = { ".a", "-a",
										    "a/b", "a b",
										    "\xc3\xa4" };
	struct settings s = sound();

	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		s.site = good[i];
		ck_assert_msg(sm_settings_check(&s, NULL) == 0, "%s", s.site);
	}
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		s.site = bad[i];
		ck_assert_msg(sm_settings_check(&s, NULL) == -ERR_INVALID, "%s", s.site);
	}
	s = sound();
	s.listen = "no host of ours";
	ck_assert_int_ne(sm_settings_check(&s, NULL), 0);
}

SUITE("sm settings")
