/* SPDX-License-Identifier: Apache-2.0 */
/* An sm as a process, with a real mainsm above: enrolment, its folder, its end. */
#include "sm/program.h"
#include "tests/process.h"

#define OPTIONS(...) ((const char *const[]){ __VA_ARGS__, NULL })
#define TOP "../../../bin/mainsm"

static const char *conn;
static pid_t top;

static void set_up(void)
{
	process_set_up();
	unsetenv("OMIG_MAINSM");
	top = process_top(TOP, &conn);
}

static void clean_up(void)
{
	ck_assert_int_eq(process_end(top), 0);
	process_clean_up();
}

static pid_t start(const char *const *options)
{
	pid_t pid = process_start(&sm_program_spec, options);

	ck_assert_msg(process_says(process_files.err, "listening site=") != NULL, "%s",
		      process_text(process_files.err));
	return pid;
}

static bool has_said(const char *word)
{
	return strstr(process_text(process_files.err), word) != NULL;
}

TEST(a_daemon_enrols_once_and_then_needs_no_token)
{
	const char *const with[] = { "--site", "a", "--mainsm", conn, "--log-level", "info", NULL };
	char bare[CONNSTR_MAX_BYTES];
	const char *const without[] = {
		"--site", "a", "--mainsm", bare, "--log-level", "info", NULL
	};

	process_no_token(conn, bare);
	ck_assert_int_eq(process_wait(process_start(&sm_program_spec, without)),
			 DAEMON_UNREACHABLE);
	ck_assert(has_said("no token in the connection string"));
	ck_assert_int_eq(process_end(start(with)), DAEMON_OK);
	ck_assert(has_said("enrolled site=a"));
	ck_assert_int_eq(process_end(start(without)), DAEMON_OK);
	ck_assert(!has_said("enrolled"));
	/* There is no certificate for another site. */
	ck_assert_int_eq(process_wait(process_start(&sm_program_spec,
						    OPTIONS("--site", "b", "--mainsm", bare))),
			 DAEMON_UNREACHABLE);
}

TEST(the_string_may_come_on_standard_input)
{
	char in[FILE_PATH_BYTES];
	const char *const options[] = { "--mainsm-stdin", "--log-level", "info", NULL };

	snprintf(in, sizeof(in), "%s/in", process_files.dir);
	process_files.in = in;
	process_put(in, "");
	ck_assert_int_eq(process_wait(process_start(&sm_program_spec, options)),
			 DAEMON_UNREACHABLE);
	ck_assert(has_said("no connection string came on standard input"));
	process_put(in, "nonsense\n");
	ck_assert_int_eq(process_wait(process_start(&sm_program_spec, options)),
			 DAEMON_UNREACHABLE);
	process_put(in, conn);
	ck_assert_int_eq(process_end(start(options)), DAEMON_OK);
	ck_assert(has_said("enrolled site=default"));
}

TEST(a_token_that_is_not_of_its_mainsm_is_the_end)
{
	char bad[CONNSTR_MAX_BYTES];
	char *last;

	str_copy(bad, sizeof(bad), conn);
	last = bad + strlen(bad) - 3;
	*last = *last == 'a' ? 'b' : 'a';
	ck_assert_int_eq(process_wait(process_start(&sm_program_spec, OPTIONS("--mainsm", bad))),
			 DAEMON_UNREACHABLE);
}

TEST(one_sm_of_a_site_runs_on_a_host)
{
	const char *const options[] = {
		"--site", "a", "--mainsm", conn, "--log-level", "info", NULL
	};
	const char *const other[] = {
		"--site", "b", "--mainsm", conn, "--log-level", "info", NULL
	};
	pid_t pid = start(options), second;

	ck_assert_int_eq(process_wait(process_start(&sm_program_spec, options)), DAEMON_RUNNING);
	ck_assert(has_said("an sm of site a runs here already"));
	second = start(other);
	ck_assert_int_eq(process_end(second), DAEMON_OK);
	ck_assert_int_eq(process_end(pid), DAEMON_OK);
}

static bool has_folder(const char *name)
{
	char path[FILE_PATH_BYTES];

	snprintf(path, sizeof(path), "%s/%s", process_files.state, name);
	return access(path, F_OK) == 0;
}

TEST(below_another_one_each_has_a_folder_of_its_own)
{
	const char *const options[] = { "--site",      "a",	      "--mainsm", conn, "--parent",
					"127.0.0.1:1", "--log-level", "info",	  NULL };
	pid_t one = start(options), two;

	ck_assert(has_folder("sm-a-1"));
	ck_assert(!has_folder("sm-a-2"));
	two = start(options);
	ck_assert(has_folder("sm-a-2"));
	ck_assert(!has_folder("sm-a"));
	ck_assert_int_eq(process_end(one), DAEMON_OK);
	ck_assert_int_eq(process_end(start(options)), DAEMON_OK);
	ck_assert(!has_said("enrolled")); /* it has the first one's certificate */
	ck_assert_int_eq(process_end(two), DAEMON_OK);
}

TEST(without_hosts_it_ends_after_its_linger)
{
	ck_assert_int_eq(process_wait(process_start(&sm_program_spec,
						    OPTIONS("--mainsm", conn, "--linger", "10ms"))),
			 DAEMON_OK);
}

TEST(a_reload_changes_its_linger)
{
	pid_t pid = start(OPTIONS("--mainsm", conn, "--log-level", "info"));

	kill(pid, SIGUSR1);
	process_put(process_files.conf, "linger = 10ms\n");
	kill(pid, SIGHUP);
	ck_assert_int_eq(process_wait(pid), DAEMON_OK);
	ck_assert(has_said("configuration reloaded"));
}

TEST(one_that_many_share_needs_no_mainsm)
{
	pid_t pid = process_start(&sm_program_spec, OPTIONS("--shared", "--log-level", "info"));

	for (int i = 0; i < PROCESS_PATIENCE_MS / 10 && !has_folder("site-default"); i++)
		poll(NULL, 0, 10);
	kill(pid, SIGUSR1);
	ck_assert_ptr_nonnull(process_says(process_files.err, "port"));
	process_put(process_files.conf, "[user a]\nhosts = 1\n");
	kill(pid, SIGHUP);
	ck_assert_ptr_nonnull(process_says(process_files.err, "configuration reloaded"));
	ck_assert_int_eq(process_end(pid), DAEMON_OK);
}

SUITE_WITH("sm program", set_up, clean_up)
