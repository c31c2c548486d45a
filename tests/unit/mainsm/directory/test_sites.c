/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/array.h"
#include "mainsm/directory/sites.h"
#include "mainsm/start/template.h"
#include "tests/alloc_sweep.h"
#include "tests/suite.h"

#include <string.h>

#define S NSEC_PER_SEC

static bool matches(const char *pattern, const char *host)
{
	return site_pattern_matches(pattern, strlen(pattern), host);
}

TEST(patterns_know_stars_and_question_marks)
{
	ck_assert(matches("node01", "node01"));
	ck_assert(matches("NODE*", "node01"));
	ck_assert(matches("*", ""));
	ck_assert(matches("n??e*1", "node01"));
	ck_assert(matches("*a*b*c", "xaybzc"));
	ck_assert(!matches("*a*b*c", "xaybz"));
	ck_assert(!matches("node?", "node"));
	ck_assert(!matches("", "node"));
	ck_assert(!matches("[n]ode", "node"));
}

TEST(a_pattern_of_many_stars_takes_no_time)
{
	char pattern[512], host[256];

	for (size_t i = 0; i + 1 < sizeof(pattern); i++)
		pattern[i] = i % 2 ? '*' : 'a';
	pattern[510] = 'b';
	pattern[511] = 0;
	memset(host, 'a', 255);
	host[255] = 0;
	ck_assert(!matches(pattern, host));
}

TEST(a_host_goes_to_the_site_it_claims_or_that_claims_it)
{
	struct sites *s = sites_new("local");
	const char *name;

	ck_assert_int_eq(
		sites_configure(s, &(struct site_conf){ "a", "n0*, n1*", "", "", "" }, NULL), 0);
	ck_assert_int_eq(
		sites_configure(s, &(struct site_conf){ "b", "n*", "ssh", "head", "" }, NULL), 0);
	ck_assert_int_eq(sites_choose(s, "", "n07", &name, NULL), 0);
	ck_assert_str_eq(name, "a");
	ck_assert_int_eq(sites_choose(s, "", "n27", &name, NULL), 0);
	ck_assert_str_eq(name, "b");
	ck_assert_int_eq(sites_choose(s, "", "x", &name, NULL), 0);
	ck_assert_str_eq(name, "default");
	ck_assert_int_eq(sites_choose(s, "b", "n07", &name, NULL), 0);
	ck_assert_str_eq(name, "b");
	ck_assert_int_eq(sites_choose(s, "../x", "n07", &name, NULL), -ERR_INVALID);
	ck_assert_str_eq(site_launcher(s, sites_find(s, "a")), "local");
	ck_assert_str_eq(site_launcher(s, sites_find(s, "b")), "ssh");
	ck_assert_int_eq(sites_configure(s,
					 &(struct site_conf){ "c", "", "", "-oProxyCommand=x", "" },
					 NULL),
			 -ERR_INVALID);
	sites_free(s);
}

TEST(a_configuration_counts_whole_or_not_at_all)
{
	const struct site_conf good[] = { { "a", "n*", "ssh", "", "" },
					  { "b", "m*", "none", "", "" } };
	const struct site_conf bad[] = { { "a", "x*", "local", "", "" },
					 { "b", "", "", "-oProxyCommand=x", "" } };
	struct sites_change *change = NULL;

	ALLOC_SWEEP (k) {
		struct sites *s = sites_new("local");
		int rc = s ? sites_prepare(s, good, 2, &change, NULL) : -ERR_NOMEM;

		if (!rc)
			sites_commit(&change);
		alloc_sweep_pause();
		ck_assert(!rc || rc == -ERR_NOMEM);
		ck_assert_ptr_null(change);
		if (!rc) {
			ck_assert_int_eq(sites_prepare(s, bad, 2, &change, NULL) < 0, 1);
			ck_assert_str_eq(sites_find(s, "a")->hosts, "n*");
			ck_assert_str_eq(site_launcher(s, sites_find(s, "b")), "none");
		}
		sites_free(s);
	}
}

TEST(names_of_sites_are_fit_for_paths_and_command_lines)
{
	static const char *const bad[] = { "",	  "-x",	  ".x", "a/b",	   "a b",
					   "a;b", "a\nb", "$x", "\xc3\xa4" };

	ck_assert(site_name_is_valid("cluster-2.example_x"));
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		ck_assert(!site_name_is_valid(bad[i]));
	ck_assert(!site_name_is_valid(
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"));
	ck_assert(site_host_is_valid("user@node-1.example:22"));
	ck_assert(!site_host_is_valid("-x"));
}

TEST(an_sm_is_started_three_times_and_then_done_without)
{
	struct sites *s = sites_new("local");
	struct site *a;
	nsec_t t = S;

	ck_assert_int_eq(sites_get(s, "a", &a, NULL), 0);
	for (int i = 0; i < SITE_START_TRIES; i++) {
		ck_assert_int_eq(site_ask(s, a, t), SITE_START);
		site_started(s, a, t);
		ck_assert_int_eq(site_ask(s, a, t + S), SITE_WAIT);
		ck_assert(site_start_failed(a, t + 2 * S) == (i == SITE_START_TRIES - 1));
		ck_assert(!site_start_failed(a, t + 2 * S));
		t += 3 * S;
	}
	ck_assert_int_eq(site_ask(s, a, t), SITE_DIRECT);
	ck_assert_int_eq(site_ask(s, a, t + SITE_REST_NS), SITE_START);
	sites_free(s);
}

/* A peer with the right for one host names sites: mainsm limits the number, and the rate. */
TEST(hosts_do_not_name_sites_without_end)
{
	struct sites *s = sites_new("local");
	struct site *site[SITES_CLAIMED_MAX], *other;
	struct err e = { 0 };
	const char *out;
	char name[16];
	nsec_t t = S;

	for (int i = 0; i < SITES_CLAIMED_MAX; i++) {
		snprintf(name, sizeof(name), "x%d", i);
		ck_assert_int_eq(sites_choose(s, name, "h", &out, NULL), 0);
		ck_assert_int_eq(sites_get(s, name, &site[i], NULL), 0);
	}
	ck_assert_int_eq(sites_choose(s, "one-more", "h", &out, &e), -ERR_LIMIT);
	ck_assert_ptr_nonnull(strstr(e.text, "[site one-more]"));
	ck_assert_ptr_null(sites_find(s, "one-more"));
	ck_assert_int_eq(sites_choose(s, "x3", "h", &out, NULL), 0);
	ck_assert_int_eq(sites_choose(s, "", "h", &out, NULL), 0);
	ck_assert_str_eq(out, SITE_DEFAULT);
	ck_assert_int_eq(site_ask(s, site[0], t), SITE_START);
	site_started(s, site[0], t);
	ck_assert_int_eq(site_ask(s, site[1], t), SITE_WAIT);
	ck_assert_int_eq(sites_get(s, SITE_DEFAULT, &other, NULL), 0);
	ck_assert_int_eq(site_ask(s, other, t), SITE_START);
	ck_assert_int_eq(site_ask(s, site[1], t + SITE_CLAIMED_START_NS), SITE_START);
	/* A name that the configuration has does not count towards the limit. */
	ck_assert_int_eq(sites_configure(s, &(struct site_conf){ "x0", "", "", "", "" }, NULL), 0);
	ck_assert_int_eq(sites_choose(s, "one-more", "h", &out, &e), -ERR_DENIED);
	ck_assert_ptr_nonnull(strstr(e.text, "[site NAME]"));
	ck_assert_int_eq(sites_choose(s, "x5", "h", &out, NULL), 0);
	sites_free(s);
}

TEST(an_sm_that_never_comes_counts_as_a_failed_start)
{
	struct sites *s = sites_new("local");
	struct site *a;

	ck_assert_int_eq(sites_get(s, "a", &a, NULL), 0);
	site_started(s, a, S);
	ck_assert_int_eq(site_ask(s, a, S + SITE_START_MAX_NS - 1), SITE_WAIT);
	ck_assert_int_eq(site_ask(s, a, S + SITE_START_MAX_NS), SITE_START);
	ck_assert_int_eq(site_set_address(a, "h:1"), 0);
	ck_assert_int_eq(site_ask(s, a, 100 * S), SITE_GO);
	ck_assert_uint_eq(a->tries, 0);
	ck_assert_int_eq(site_set_address(a, ""), 0);
	ck_assert_int_eq(site_ask(s, a, 100 * S), SITE_START);
	sites_free(s);
}

TEST(without_a_launcher_hosts_are_served_at_once)
{
	struct sites *s = sites_new("");
	struct site *a, *b;

	ck_assert_int_eq(sites_get(s, "a", &a, NULL), 0);
	ck_assert_int_eq(sites_configure(s, &(struct site_conf){ "b", "", "none", "", "" }, NULL),
			 0);
	ck_assert_int_eq(sites_get(s, "b", &b, NULL), 0);
	ck_assert_int_eq(site_ask(s, a, S), SITE_DIRECT);
	ck_assert_int_eq(site_ask(s, b, S), SITE_DIRECT);
	sites_free(s);
}

static const char *const command[] = { "/bin/sm", "--site", "a b", NULL };

static void check_words(const char *text, const char *const *expected, size_t n)
{
	const struct template_words w = { "a b", "h1", command };
	char **argv = NULL;

	ck_assert_int_eq(template_expand(text, &w, &argv, NULL), 0);
	for (size_t i = 0; i < n; i++)
		ck_assert_str_eq(argv[i], expected[i]);
	ck_assert_ptr_null(argv[n]);
	template_free(argv);
}

TEST(an_sm_that_the_admin_runs_is_waited_for_and_never_started)
{
	struct sites *s = sites_new(SITE_SHARED);
	struct site *a;

	ck_assert_int_eq(sites_get(s, "a", &a, NULL), 0);
	ck_assert_int_eq(site_ask(s, a, S), SITE_WAIT);
	ck_assert_int_eq(site_ask(s, a, SITE_SHARED_MAX_NS), SITE_WAIT);
	ck_assert_int_eq(site_ask(s, a, S + SITE_SHARED_MAX_NS), SITE_DIRECT);
	ck_assert_int_eq(site_set_address(a, "gate:1"), 0);
	ck_assert_int_eq(site_ask(s, a, 500 * S), SITE_GO);
	/* After each loss of its address the sm is awaited again. */
	ck_assert_int_eq(site_set_address(a, ""), 0);
	ck_assert_int_eq(site_ask(s, a, 600 * S), SITE_WAIT);
	ck_assert_int_eq(site_ask(s, a, 600 * S + SITE_SHARED_MAX_NS), SITE_DIRECT);
	sites_free(s);
}

TEST(words_of_a_template_are_never_split_again)
{
	static const char *const plain[] = { "/bin/sm", "--site", "a b" };
	static const char *const quoted[] = { "x",	     "one two", "",
					      "say \"a b\"", "{site}",	"n=h1;rm -rf",
					      "/bin/sm",     "--site",	"a b" };

	check_words(template_named("local"), plain, 3);
	check_words("x 'one two' \"\" 'say \"'{site}'\"' '{site}' \"n={host};rm -rf\" {command}",
		    quoted, 9);
}

TEST(the_known_launchers_are_good_templates)
{
	static const char *const ssh[] = {
		"ssh", "-o", "BatchMode=yes",	    "-o", "ConnectTimeout=10",
		"--",  "h1", "/bin/sm --site 'a b'"
	};
	static const char *const srun[] = { "srun",	     "--nodes=1", "--ntasks=1", "--overlap",
					    "--nodelist=h1", "/bin/sm",	  "--site",	"a b" };

	check_words(template_named("ssh"), ssh, ARRAY_LEN(ssh));
	check_words(template_named("srun"), srun, ARRAY_LEN(srun));
	ck_assert_str_eq(template_named("own {command}"), "own {command}");
}

/* Checks that a shell reads the quoted words as `want`. */
static void check_shell(const char *const *words, const char *want)
{
	const struct template_words w = { "a", "h", words };
	char **argv = NULL;

	ck_assert_int_eq(template_expand("rsh {shell_command}", &w, &argv, NULL), 0);
	ck_assert_str_eq(argv[1], want);
	ck_assert_ptr_null(argv[2]);
	template_free(argv);
}

TEST(a_command_for_a_shell_is_quoted)
{
	static const char *const plain[] = { "/opt/omig-1.0/bin/sm", "--listen=[::1]:7", "", NULL };
	static const char *const hostile[] = { "/a b/sm", "it's", "$(id);", "x\ny", NULL };

	check_shell(plain, "/opt/omig-1.0/bin/sm '--listen=[::1]:7' ''");
	check_shell(hostile, "'/a b/sm' 'it'\\''s' '$(id);' 'x\ny'");
}

TEST(a_wrong_template_is_refused)
{
	static const char *const bad[] = {
		"",	    "ssh {host}", "'open {command}", "{user} {command}",
		"{command", "x{command}", "{host {command}", "x{shell_command}"
	};
	const struct template_words w = { "a", "h", command }, no_host = { "a", "", command };
	char long_one[3 * TEMPLATE_WORDS_MAX + 16] = "{command}", **argv = NULL;

	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		ck_assert_int_eq(template_expand(bad[i], &w, &argv, NULL), -ERR_PARSE);
	ck_assert_int_eq(template_expand("ssh {host} {command}", &no_host, &argv, NULL),
			 -ERR_INVALID);
	for (int i = 0; i < TEMPLATE_WORDS_MAX; i++)
		strncat(long_one, " x", 3);
	ck_assert_int_eq(template_expand(long_one, &w, &argv, NULL), -ERR_LIMIT);
	ck_assert_ptr_null(argv);
}

SUITE("sites")
