/* SPDX-License-Identifier: Apache-2.0 */
/* Settings of mainsm at both sides of each bound, and the names by which others find it. */
#include "common/base/array.h"
#include "common/base/str.h"
#include "mainsm/hosts.h"
#include "mainsm/settings.h"
#include "tests/suite.h"

#include <string.h>
#include <unistd.h>

#define DAY (86400 * NSEC_PER_SEC)

/* NULL when it is refused. */
static struct conf *load(const char *name, const char *value)
{
	const struct conf_set set = { name, value };
	const struct conf_input in = { .etc_dir = "/nonexistent",
				       .user_dir = "/nonexistent",
				       .set = &set,
				       .nset = name ? 1 : 0 };
	struct conf *c = NULL;

	return conf_load(&mainsm_settings_schema, &in, &c, NULL) ? NULL : c;
}

TEST(without_settings_it_serves_this_host_alone)
{
	struct conf *c = load(NULL, NULL);
	const struct settings *s;

	ck_assert_ptr_nonnull(c);
	s = conf_values(c);
	ck_assert_str_eq(s->listen, "127.0.0.1");
	ck_assert_str_eq(s->advertise, "");
	ck_assert_str_eq(s->launcher, "local");
	ck_assert_str_eq(s->site, "");
	ck_assert_str_eq(s->sm_command, "");
	ck_assert_int_eq(s->port, 0);
	ck_assert_int_eq(s->linger, 0);
	ck_assert_int_eq(s->token_lifetime, 7 * DAY);
	ck_assert_int_eq(s->cert_lifetime, 90 * DAY);
	ck_assert_uint_eq(s->nsites, 0);
	ck_assert_int_eq(mainsm_settings_check(s, NULL), 0);
	conf_free(c);
}

TEST(numbers_end_at_their_bounds)
{
	static const struct {
		const char *name, *value;
		bool is_good;
	} row[] = {
		{ "port", "65535", true },
		{ "port", "65536", false },
		{ "port", "-1", false },
		{ "linger", "365d", true },
		{ "linger", "366d", false },
		{ "token-lifetime", "60s", true },
		{ "token-lifetime", "59s", false },
		{ "token-lifetime", "366d", true },
		{ "token-lifetime", "367d", false },
		{ "cert-lifetime", "60s", true },
		{ "cert-lifetime", "59s", false },
		{ "cert-lifetime", "3650d", true },
		{ "cert-lifetime", "3651d", false },
	};

	for (size_t i = 0; i < ARRAY_LEN(row); i++) {
		struct conf *c = load(row[i].name, row[i].value);

		ck_assert_msg(!!c == row[i].is_good, "%s %s", row[i].name, row[i].value);
		conf_free(c);
	}
}

TEST(texts_end_at_their_bounds)
{
	static const struct {
		const char *name;
		size_t max;
	} row[] = { { "listen", NAME_MAX_BYTES },
		    { "advertise", 1024 },
		    { "launcher", 2048 },
		    { "site", 4096 },
		    { "sm-command", 1024 } };
	char text[4200];

	for (size_t i = 0; i < ARRAY_LEN(row); i++)
		for (size_t more = 0; more < 2; more++) {
			struct conf *c;

			memset(text, 'x', row[i].max + more);
			text[row[i].max + more] = 0;
			c = load(row[i].name, text);
			ck_assert_msg(!!c == !more, "%s %zu", row[i].name, more);
			conf_free(c);
		}
	ck_assert_ptr_null(load("listen", ""));
}

TEST(sites_of_the_option_follow_those_of_sections)
{
	struct site_conf of_file = { "f", "x*", "none", "h", "auto" }, *v = NULL;
	const struct settings s = { .site = "a=n0*,n1*; b=", .sites = &of_file, .nsites = 1 };
	char *text = NULL;
	size_t n = 0;

	ck_assert_int_eq(mainsm_settings_sites(&s, &v, &n, &text, NULL), 0);
	ck_assert_uint_eq(n, 3);
	ck_assert_mem_eq(&v[0], &of_file, sizeof(of_file));
	ck_assert_str_eq(v[1].name, "a");
	ck_assert_str_eq(v[1].hosts, "n0*,n1*");
	ck_assert_str_eq(v[1].launcher, "");
	ck_assert_str_eq(v[1].host, "");
	ck_assert_str_eq(v[1].listen, "");
	ck_assert_str_eq(v[2].name, "b");
	ck_assert_str_eq(v[2].hosts, "");
	free(v);
	free(text);
}

TEST(a_site_that_cannot_work_is_refused)
{
	static const struct {
		struct site_conf site;
		const char *option;
		enum err_code code;
	} row[] = {
		{ { "f", "", "", "", "" }, "", 0 },
		{ { "f", "", "ssh", "h", "" }, "", 0 },
		{ { "f", "", "none", "", "" }, "", 0 },
		{ { "f", "", "shared", "", "" }, "", 0 },
		{ { "f", "", "rsh {host} {command}", "", "" }, "", 0 },
		{ { "f", "", "rsh {host}", "", "" }, "", ERR_PARSE },
		{ { "-f", "", "", "", "" }, "", ERR_INVALID },
		{ { "f", "", "", "a b", "" }, "", ERR_INVALID },
		{ { "f", "", "", "", "" }, "a", ERR_PARSE },
		{ { "f", "", "", "", "" }, "a=x;.b=y", ERR_INVALID },
	};

	for (size_t i = 0; i < ARRAY_LEN(row); i++) {
		struct site_conf site = row[i].site;
		const struct settings s = { .listen = "127.0.0.1",
					    .launcher = "local",
					    .site = row[i].option,
					    .sites = &site,
					    .nsites = 1 };

		ck_assert_msg(mainsm_settings_check(&s, NULL) == -(int)row[i].code, "%zu", i);
	}
}

TEST(a_monitor_that_cannot_work_is_refused)
{
	struct settings s = { .listen = "127.0.0.1", .launcher = "none", .site = "" };

	ck_assert_int_eq(mainsm_settings_check(&s, NULL), 0);
	s.launcher = "";
	ck_assert_int_eq(mainsm_settings_check(&s, NULL), 0);
	s.launcher = "{command} '";
	ck_assert_int_eq(mainsm_settings_check(&s, NULL), -ERR_PARSE);
	s.launcher = "ssh";
	ck_assert_int_eq(mainsm_settings_check(&s, NULL), 0); /* the site names the host */
	s.listen = "no host of ours";
	ck_assert_int_ne(mainsm_settings_check(&s, NULL), 0);
}

/* --- names for others */

static struct connstr advertised(const char *advertise, const char *listen)
{
	struct connstr c = { .nhost = 5 };

	ck_assert_int_eq(hosts_to_advertise(advertise, listen, &c, NULL), 0);
	return c;
}

TEST(given_names_are_advertised_once_each_and_up_to_eight)
{
	char text[NAME_MAX_BYTES + 8];
	struct connstr c = advertised("a, b,,a ,c", "0.0.0.0");

	ck_assert_uint_eq(c.nhost, 3);
	ck_assert_str_eq(c.host[0], "a");
	ck_assert_str_eq(c.host[1], "b");
	ck_assert_str_eq(c.host[2], "c");
	c = advertised("1,2,3,4,5,6,7,8,9", "::");
	ck_assert_uint_eq(c.nhost, CONNSTR_HOSTS_MAX);
	ck_assert_str_eq(c.host[7], "8");
	memset(text, 'x', sizeof(text));
	snprintf(text + NAME_MAX_BYTES, 4, ",y");
	c = advertised(text, "::");
	ck_assert_uint_eq(c.nhost, 2);
	ck_assert_uint_eq(strlen(c.host[0]), NAME_MAX_BYTES);
	snprintf(text + NAME_MAX_BYTES, 4, "x,y");
	c = advertised(text, "::");
	ck_assert_uint_eq(c.nhost, 1);
	ck_assert_str_eq(c.host[0], "y");
}

TEST(one_address_is_advertised_as_it_is)
{
	struct connstr c = advertised("", "127.0.0.1");

	ck_assert_uint_eq(c.nhost, 1);
	ck_assert_str_eq(c.host[0], "127.0.0.1");
	c = advertised(" ,", "fe80::1");
	ck_assert_uint_eq(c.nhost, 1);
	ck_assert_str_eq(c.host[0], "fe80::1");
}

TEST(all_addresses_are_those_that_other_hosts_may_know)
{
	static const char *const all[] = { "0.0.0.0", "::" };
	char name[NAME_MAX_BYTES + 1] = "";

	ck_assert_int_eq(gethostname(name, sizeof(name) - 1), 0);
	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		struct connstr c = advertised("", all[i]);

		ck_assert_uint_ge(c.nhost, 1);
		for (unsigned k = 0; k < c.nhost; k++) {
			ck_assert_str_ne(c.host[k], "127.0.0.1");
			ck_assert_str_ne(c.host[k], "::1");
			ck_assert(!str_has_prefix(c.host[k], "fe80:"));
			ck_assert(i || !strchr(c.host[k], ':'));
		}
		if (c.nhost < CONNSTR_HOSTS_MAX)
			ck_assert_str_eq(c.host[c.nhost - 1], name);
	}
}

SUITE("settings")
