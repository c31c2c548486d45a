/* SPDX-License-Identifier: Apache-2.0 */
/* An lm as a process, with a real mainsm above: enrolment, its socket and lock, its end. */
#include "common/ring/seg.h"
#include "lm/host/filelist.h"
#include "lm/lm_daemon.h"
#include "tests/process.h"

#define OPTIONS(...) ((const char *const[]){ __VA_ARGS__, NULL })
#define TOP "../../../bin/mainsm"

static const char *conn;
static pid_t top;

static void set_up(void)
{
	process_set_up();
	unsetenv("OMIG_MAINSM");
	setenv("OMIG_RUNTIME_DIR", process_files.dir, 1);
	top = process_top(TOP, &conn);
}

static void clean_up(void)
{
	ck_assert_int_eq(process_end(top), 0);
	process_clean_up();
}

static bool has_said(const char *word)
{
	return strstr(process_text(process_files.err), word) != NULL;
}

static pid_t start(const char *const *options)
{
	pid_t pid = process_start(&lm_daemon_spec, options);

	ck_assert_msg(process_says(process_files.err, "connected parent=mainsm") != NULL, "%s",
		      process_text(process_files.err));
	return pid;
}

/* A path of this host's lm of that mainsm. */
static bool has_file(const char *tail)
{
	char host[NAME_MAX_BYTES + 1] = "", caid[CONNSTR_CAID_LEN + 1], path[FILE_PATH_BYTES];
	struct connstr c;

	ck_assert_int_eq(connstr_parse(conn, &c, NULL), 0);
	connstr_caid(&c, caid);
	ck_assert_int_eq(gethostname(host, sizeof(host) - 1), 0);
	ck_assert_int_ge(seg_lm_path(path, sizeof(path),
				     &(struct seg_lm_name){ process_files.dir, host, caid }, tail),
			 0);
	return access(path, F_OK) == 0;
}

TEST(a_daemon_enrols_once_and_then_needs_no_token)
{
	const char *const with[] = {
		"--host", "h1", "--mainsm", conn, "--log-level", "info", NULL
	};
	char bare[CONNSTR_MAX_BYTES];
	const char *const without[] = { "--host",      "h1",   "--mainsm", bare,
					"--log-level", "info", NULL };
	pid_t pid;

	process_no_token(conn, bare);
	pid = process_start(&lm_daemon_spec, without);
	ck_assert_ptr_nonnull(
		process_says(process_files.err, "no token in the connection string to enrol with"));
	ck_assert_ptr_nonnull(process_says(process_files.err, "retrying in 1 s"));
	ck_assert_int_eq(process_end(pid), DAEMON_OK);
	ck_assert_int_eq(process_end(start(with)), DAEMON_OK);
	ck_assert_int_eq(process_end(start(without)), DAEMON_OK);
}

TEST(a_token_that_is_refused_is_tried_again_later_and_later)
{
	char bad[CONNSTR_MAX_BYTES];
	char *last;
	pid_t pid;

	str_copy(bad, sizeof(bad), conn);
	last = bad + strlen(bad) - 3;
	*last = *last == 'a' ? 'b' : 'a';
	pid = process_start(&lm_daemon_spec, OPTIONS("--mainsm", bad));
	ck_assert_ptr_nonnull(process_says(process_files.err, "retrying in 1 s"));
	ck_assert_ptr_nonnull(process_says(process_files.err, "retrying in 2 s"));
	ck_assert_int_eq(process_end(pid), DAEMON_OK);
}

TEST(without_a_mainsm_it_reports_that_and_ends)
{
	ck_assert_int_eq(process_wait(process_start(&lm_daemon_spec, OPTIONS("--host", "h1"))),
			 DAEMON_USAGE);
	ck_assert_int_eq(
		process_wait(process_start(&lm_daemon_spec, OPTIONS("--mainsm", "nonsense"))),
		DAEMON_USAGE);
}

TEST(one_lm_of_a_mainsm_runs_on_a_host)
{
	const char *const options[] = { "--mainsm", conn, "--log-level", "info", NULL };
	pid_t pid = start(options);
	char want[64];

	ck_assert(has_file(".sock"));
	ck_assert(has_file(".lock"));
	ck_assert_int_eq(process_wait(process_start(&lm_daemon_spec, options)), DAEMON_RUNNING);
	snprintf(want, sizeof(want), "pid %ld", (long)pid);
	ck_assert_msg(has_said(want), "%s", process_text(process_files.err));
	ck_assert_int_eq(process_end(pid), DAEMON_OK);
	ck_assert_int_eq(process_end(start(options)), DAEMON_OK);
}

TEST(an_lm_without_processes_lingers_and_removes_its_socket)
{
	ck_assert_int_eq(process_wait(process_start(
				 &lm_daemon_spec, OPTIONS("--mainsm", conn, "--linger", "100ms"))),
			 DAEMON_OK);
	ck_assert(!has_file(".sock"));
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

TEST(a_name_that_cannot_be_is_refused)
{
	ck_assert_int_eq(process_wait(process_start(&lm_daemon_spec,
						    OPTIONS("--mainsm", conn, "--host", "a b"))),
			 DAEMON_FAILED);
	ck_assert(has_said("this host's name is not a name"));
}

TEST(settings_end_at_their_bounds)
{
	static const struct {
		const char *text;
		int exit;
	} row[] = {
		{ "linger = 0\n", DAEMON_OK },
		{ "linger = 30d\n", DAEMON_OK },
		{ "linger = 31d\n", DAEMON_BAD_CONFIG },
		{ "manipulate = no\n", DAEMON_OK },
		{ "files = /proc/meminfo\n", DAEMON_OK },
		{ "files = meminfo\n", DAEMON_BAD_CONFIG },
	};

	for (size_t i = 0; i < ARRAY_LEN(row); i++) {
		process_put(process_files.conf, row[i].text);
		ck_assert_msg(process_wait(process_start(&lm_daemon_spec,
							 OPTIONS("--check-config"))) == row[i].exit,
			      "%s", row[i].text);
	}
	process_put(process_files.conf, "");
	ck_assert_int_eq(process_wait(process_start(&lm_daemon_spec, OPTIONS("--dump-config"))),
			 DAEMON_OK);
	ck_assert_ptr_nonnull(strstr(process_text(process_files.out), "\nlinger = 1m\n"));
	ck_assert_ptr_nonnull(strstr(process_text(process_files.out), "\nmanipulate = yes\n"));
}

SUITE_WITH("lm program", set_up, clean_up)
