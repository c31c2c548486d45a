/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/array.h"
#include "common/base/file.h"
#include "common/base/str.h"
#include "common/link/connstr.h"
#include "tests/suite.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIN "0123456789abcdefghjkmnpqr0" /* 26 digits; the last leaves no spare bit set */

static void prints_as(const char *in, bool with_token, const char *want)
{
	struct connstr c;
	struct err e = { 0 };
	struct buf b = BUF_INIT(10000);

	ck_assert_msg(!connstr_parse(in, &c, &e), "%s: %s", in, e.text);
	ck_assert_int_eq(connstr_print(&c, with_token, &b), 0);
	ck_assert_str_eq(buf_str(&b), want);
	buf_done(&b);
}

TEST(print_of_parse_is_the_string)
{
	static const char *const good[] = {
		"omig1:localhost:4711:" PIN,
		"omig1:10.0.0.1:1:" PIN ":t1.abc",
		"omig1:a.example,b.example,192.168.1.1:65535:" PIN ":Tok-_9.Secret-_0",
		"omig1:[::1]:4711:" PIN,
		"omig1:[fe80::1%eth0],host,[2001:db8::2]:4711:" PIN ":x.y",
		"omig1:a,b,c,d,e,f,g,h:9:" PIN,
	};

	for (size_t i = 0; i < ARRAY_LEN(good); i++)
		prints_as(good[i], true, good[i]);
}

TEST(the_token_is_left_out_on_request)
{
	prints_as("omig1:h:1:" PIN ":a.b", false, "omig1:h:1:" PIN);
}

TEST(a_pasted_string_may_have_blanks_and_a_pin_in_capitals)
{
	prints_as("  omig1:h:1:" PIN "\n", true, "omig1:h:1:" PIN);
	prints_as("omig1:h:1:OL23456789abcdefghjkmnpqr0", true,
		  "omig1:h:1:0123456789abcdefghjkmnpqr0");
}

TEST(error_names_the_wrong_part_of_a_connection_string)
{
	static const struct {
		const char *in, *says;
	} bad[] = {
		{ "", "begin with" },
		{ "omig2:h:1:" PIN, "begin with" },
		{ "omig1::1:" PIN, "host" },
		{ "omig1:a b:1:" PIN, "port" },
		{ "omig1:a,:1:" PIN, "host" },
		{ "omig1:[::1:1:" PIN, "host" },
		{ "omig1:[host]:1:" PIN, "host" },
		{ "omig1:::1:1:" PIN, "host" },
		{ "omig1:a,b,c,d,e,f,g,h,i:9:" PIN, "host" },
		{ "omig1:h:0:" PIN, "port" },
		{ "omig1:h:65536:" PIN, "port" },
		{ "omig1:h:-1:" PIN, "port" },
		{ "omig1:h:99999999999999999999:" PIN, "port" },
		{ "omig1:h:1", "pin" },
		{ "omig1:h:1:abc", "pin" },
		{ "omig1:h:1:" PIN "0", "pin" },
		{ "omig1:h:1:u123456789abcdefghjkmnpqr0", "pin" },
		{ "omig1:h:1:" PIN ":", "token" },
		{ "omig1:h:1:" PIN ":abc", "token" },
		{ "omig1:h:1:" PIN ":.x", "token" },
		{ "omig1:h:1:" PIN ":x.", "token" },
		{ "omig1:h:1:" PIN ":x.y z", "something follows" },
		{ "omig1:h:1:" PIN ":x.$(reboot)", "token" },
	};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct connstr c = { .port = 77 };
		struct err e = { 0 };

		ck_assert_msg(connstr_parse(bad[i].in, &c, &e) == -ERR_PARSE, "%s", bad[i].in);
		ck_assert_msg(strstr(e.text, bad[i].says) != NULL, "%s: %s", bad[i].in, e.text);
		ck_assert_uint_eq(c.port, 77);
	}
}

TEST(an_error_never_shows_the_secret)
{
	struct connstr c;
	struct err e = { 0 };

	ck_assert_int_lt(connstr_parse("omig1:h:1:" PIN ":id.hushhush!", &c, &e), 0);
	ck_assert_ptr_null(strstr(e.text, "hushhush"));
}

TEST(lengths_end_at_their_limits)
{
	char in[CONNSTR_MAX_BYTES + 100], host[300];
	struct connstr c;

	for (size_t n = NAME_MAX_BYTES - 1; n <= NAME_MAX_BYTES + 1; n++) {
		memset(host, 'h', n);
		host[n] = 0;
		snprintf(in, sizeof(in), "omig1:%s:1:" PIN, host);
		ck_assert_int_eq(connstr_parse(in, &c, NULL), n > NAME_MAX_BYTES ? -ERR_PARSE : 0);
	}
	for (size_t n = CONNSTR_TOKEN_LEN_MAX - 1; n <= CONNSTR_TOKEN_LEN_MAX + 1; n++) {
		memset(host, 't', n);
		host[n] = 0;
		snprintf(in, sizeof(in), "omig1:h:1:" PIN ":a.%s", host);
		ck_assert_int_eq(connstr_parse(in, &c, NULL),
				 n > CONNSTR_TOKEN_LEN_MAX ? -ERR_PARSE : 0);
	}
	memset(in, ' ', sizeof(in) - 1);
	in[sizeof(in) - 1] = 0;
	ck_assert_int_eq(connstr_parse(in, &c, NULL), -ERR_PARSE);
}

/*
 * A program's string is for hosts alone: if the user's own string is present, tools and the lm use
 * that.
 */
TEST(the_users_own_string_goes_before_that_of_a_job)
{
	char dir[] = "/tmp/omig-test-XXXXXX", sub[64], path[80];
	static const char text[] = "omig1:state:3:" PIN ":own.secret\n";
	char other[] = PIN;
	struct connstr_source from = { .state_dir = dir };
	char env[128];
	struct connstr c;

	other[0]++;
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(sub, sizeof(sub), "%s/mainsm", dir);
	snprintf(path, sizeof(path), "%s/mainsm.conn", sub);
	mkdir(sub, 0700);
	ck_assert_int_eq(file_write_atomic(path, text, sizeof(text) - 1, NULL), 0);
	setenv("OMIG_MAINSM", "omig1:env:2:" PIN ":lm-abc.def", 1);
	ck_assert_int_eq(connstr_find(&from, &c, NULL), 0);
	ck_assert(connstr_is_for_lms(&c));
	from.prefers_own = true;
	ck_assert_int_eq(connstr_find(&from, &c, NULL), 0);
	ck_assert_str_eq(c.host[0], "state");
	ck_assert_str_eq(c.token_id, "own");
	ck_assert(!connstr_is_for_lms(&c));
	/* OMIG_MAINSM without a token gets the token of the user's own string. */
	from.prefers_own = false;
	setenv("OMIG_MAINSM", "omig1:env:2:" PIN, 1);
	ck_assert_int_eq(connstr_find(&from, &c, NULL), 0);
	ck_assert_str_eq(c.token_id, "own");
	/* The string of another monitor is not used. */
	from.prefers_own = true;
	snprintf(env, sizeof(env), "omig1:env:2:%s", other);
	setenv("OMIG_MAINSM", env, 1);
	ck_assert_int_eq(connstr_find(&from, &c, NULL), 0);
	ck_assert_str_eq(c.host[0], "env");
	ck_assert_str_eq(c.token_id, "");
	ck_assert_int_eq(connstr_own(dir, other, &c, NULL), -ERR_NOTFOUND);
	unsetenv("OMIG_MAINSM");
	unlink(path);
	rmdir(sub);
	rmdir(dir);
}

TEST(the_string_comes_from_argument_environment_or_state)
{
	char dir[] = "/tmp/omig-test-XXXXXX", sub[64], path[80], at[96];
	static const char text[] = "omig1:state:3:" PIN "\n";
	struct connstr c;
	struct err e = { 0 };

	ck_assert_ptr_nonnull(mkdtemp(dir));
	unsetenv("OMIG_MAINSM");
	ck_assert_int_eq(
		connstr_find(&(struct connstr_source){ .given = NULL, .state_dir = dir }, &c, &e),
		-ERR_NOTFOUND);
	ck_assert_ptr_nonnull(strstr(e.text, "OMIG_MAINSM"));
	snprintf(sub, sizeof(sub), "%s/mainsm", dir);
	snprintf(path, sizeof(path), "%s/mainsm.conn", sub);
	mkdir(sub, 0700);
	ck_assert_int_eq(file_write_atomic(path, text, sizeof(text) - 1, &e), 0);
	ck_assert_int_eq(
		connstr_find(&(struct connstr_source){ .given = "", .state_dir = dir }, &c, &e), 0);
	ck_assert_str_eq(c.host[0], "state");
	setenv("OMIG_MAINSM", "omig1:env:2:" PIN ":a.b", 1);
	ck_assert_int_eq(
		connstr_find(&(struct connstr_source){ .given = NULL, .state_dir = dir }, &c, &e),
		0);
	ck_assert_str_eq(c.host[0], "env");
	ck_assert_int_eq(connstr_find(&(struct connstr_source){ .given = "omig1:given:1:" PIN,
								.state_dir = dir },
				      &c, &e),
			 0);
	ck_assert_str_eq(c.host[0], "given");
	setenv("OMIG_MAINSM", "nonsense", 1);
	ck_assert_int_eq(
		connstr_find(&(struct connstr_source){ .given = NULL, .state_dir = dir }, &c, &e),
		-ERR_PARSE);
	ck_assert_int_eq(strncmp(e.text, "OMIG_MAINSM: ", 13), 0);
	snprintf(at, sizeof(at), "@%s", path);
	ck_assert_int_eq(
		connstr_find(&(struct connstr_source){ .given = at, .state_dir = NULL }, &c, &e),
		0);
	ck_assert_str_eq(c.host[0], "state");
	unsetenv("OMIG_MAINSM");
	chmod(path, 0644);
	ck_assert_int_eq(
		connstr_find(&(struct connstr_source){ .given = at, .state_dir = NULL }, &c, &e),
		-ERR_DENIED);
	ck_assert_int_eq(
		connstr_find(&(struct connstr_source){ .given = NULL, .state_dir = dir }, &c, &e),
		-ERR_DENIED);
	unlink(path);
	rmdir(sub);
	rmdir(dir);
}

TEST(host_and_port_return_from_their_text)
{
	static const char *const good[] = { "h:1", "10.0.0.1:65535", "[::1]:80", "[fe80::1%lo]:7" };
	static const char *const bad[] = { "", "h", "h:", ":1", "h:1x", "[::1]", "::1:80", "h:0" };
	char host[NAME_MAX_BYTES + 1];
	uint16_t port;

	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		struct buf b = BUF_INIT(1000);

		ck_assert_int_eq(hostport_parse(good[i], host, &port, NULL), 0);
		ck_assert_int_eq(hostport_print(host, port, &b), 0);
		ck_assert_str_eq(buf_str(&b), good[i]);
		buf_done(&b);
	}
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		ck_assert_int_eq(hostport_parse(bad[i], host, &port, NULL), -ERR_PARSE);
}

TEST(the_ca_id_is_the_head_of_the_pin)
{
	struct connstr c;
	char id[CONNSTR_CAID_LEN + 1];

	ck_assert_int_eq(connstr_parse("omig1:h:1:" PIN, &c, NULL), 0);
	connstr_caid(&c, id);
	ck_assert_str_eq(id, "01234567");
}

SUITE("connstr")
