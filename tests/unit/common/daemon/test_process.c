/* SPDX-License-Identifier: Apache-2.0 */
/* The skeleton as a process: its watchdog, its patience, its hooks, its figures and its places. */
#include "common/base/file.h"
#include "common/base/str.h"
#include "common/daemon/daemon.h"
#include "tests/suite.h"
#include "tests/unit/common/daemon/testd.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void end_well(pid_t pid)
{
	kill(pid, SIGTERM);
	ck_assert_int_eq(testd_wait_exit(pid), DAEMON_OK);
}

TEST(the_watchdog_is_notified_regularly)
{
	pid_t pid;

	setenv("WATCHDOG_USEC", "20000", 1);
	pid = testd_run(NULL, NULL);
	ck_assert_str_eq(testd_next_notice(), "READY=1");
	for (int i = 0; i < 5; i++)
		ck_assert_str_eq(testd_next_notice(), "WATCHDOG=1");
	end_well(pid);
}

TEST(a_stubborn_one_ends_by_itself_after_its_patience)
{
	pid_t pid = testd_run("--stubborn", NULL);

	ck_assert_str_eq(testd_next_notice(), "READY=1");
	kill(pid, SIGTERM);
	ck_assert_int_eq(testd_wait_exit(pid), DAEMON_FAILED);
	ck_assert_ptr_nonnull(
		strstr(testd_read_text(testd.err), "ending although not all is closed"));
}

/* Returns the number after a word of the file, which is written soon. */
static long long number_of(const char *path, const char *word)
{
	ck_assert_msg(testd_has_soon(path, word), "no %s", word);
	return strtoll(strstr(testd_read_text(path), word) + strlen(word), NULL, 10);
}

TEST(the_status_has_figures_of_the_process)
{
	const char *err = testd.err;
	pid_t pid = testd_run(NULL, NULL);
	long long fds;

	ck_assert_str_eq(testd_next_notice(), "READY=1");
	kill(pid, SIGUSR1);
	ck_assert(testd_has_soon(err, "line=59"));
	ck_assert_int_lt(number_of(err, "uptime_s="), 3600);
	ck_assert_int_ge(number_of(err, "lag_max_us="), number_of(err, " lag_us="));
	ck_assert_int_lt(number_of(err, "lag_max_us="), 3600 * INT64_C(1000000));
	ck_assert_int_gt(number_of(err, "rss_kib="), 500);
	ck_assert_int_lt(number_of(err, "rss_kib="), 500 * 1024);
	fds = number_of(err, " fds=");
	ck_assert_int_gt(fds, 3);
	ck_assert_int_lt(fds, number_of(err, "fd_limit="));
	/* The same values as counters of a reply. */
	ck_assert_int_eq(number_of(err, "[\"fds\","), fds);
	ck_assert_int_eq(number_of(err, "[\"fd_limit\","), number_of(err, "fd_limit="));
	ck_assert_int_gt(number_of(err, "[\"rss_bytes\","), 500 * 1024);
	ck_assert_int_ge(number_of(err, "[\"lag_max_ns\","), number_of(err, "[\"lag_ns\","));
	ck_assert_int_gt(number_of(err, "[\"certificate_expires_ns\","), clock_wall());
	/* The first line of health, without a certificate, has no such counter. */
	ck_assert_ptr_null(strstr(strstr(testd_read_text(err), "certificate_expires_ns") + 1,
				  "certificate_expires_ns"));
	end_well(pid);
}

static unsigned long long drawn(const char *seed)
{
	unsigned long long n;
	pid_t pid;

	setenv("OMIG_SEED", seed, 1);
	pid = testd_run(NULL, NULL);
	ck_assert(testd_has_soon(testd.out, "serving"));
	kill(pid, SIGUSR1);
	ck_assert(testd_has_soon(testd.err, "line=59"));
	n = strtoull(strstr(testd_read_text(testd.err), "drawn=") + 6, NULL, 10);
	end_well(pid);
	ck_assert_int_eq(unlink(testd.out), 0);
	return n;
}

TEST(one_seed_draws_the_same_numbers)
{
	unsigned long long first = drawn("7");

	ck_assert_uint_eq(drawn("7"), first);
	ck_assert_uint_ne(drawn("8"), first);
	ck_assert_uint_ne(drawn("seven"), drawn("seven"));
}

TEST(the_state_directory_is_by_default_that_of_the_environment)
{
	char log[200];
	pid_t pid;

	setenv("OMIG_STATE_DIR", testd.state, 1);
	ck_assert_int_eq(testd_wait_exit(testd_run("--state-dir=", "--check-config")), DAEMON_OK);
	ck_assert_int_ne(access(testd.state, F_OK), 0);
	pid = testd_run("--state-dir=", NULL);
	ck_assert_str_eq(testd_next_notice(), "READY=1");
	snprintf(log, sizeof(log), "%s/testd.lock", testd.state);
	ck_assert_int_eq(access(log, F_OK), 0);
	end_well(pid);
	setenv("OMIG_STATE_DIR", testd.conf, 1);
	ck_assert_int_eq(testd_wait_exit(testd_run("--state-dir=", NULL)), DAEMON_BAD_CONFIG);
	ck_assert_int_eq(testd_wait_exit(testd_run("--state-dir=", "--check-config")),
			 DAEMON_BAD_CONFIG);
	ck_assert_int_eq(testd_wait_exit(testd_run("--state-dir=/dev/null/a", NULL)),
			 DAEMON_BAD_CONFIG);
}

TEST(a_descriptor_of_the_lock_is_none_of_the_standard_ones)
{
	ck_assert_int_eq(testd_wait_exit(testd_run("--lock-fd=2", NULL)), DAEMON_USAGE);
	ck_assert_int_eq(testd_wait_exit(testd_run("--lock-fd=1048577", NULL)), DAEMON_USAGE);
	ck_assert_int_eq(testd_wait_exit(testd_run("--lock-fd=1048576", NULL)), DAEMON_FAILED);
	ck_assert_ptr_nonnull(strstr(testd_read_text(testd.err), "lock descriptor 1048576"));
}

/* --- hooks */

static int check_refuses(const void *values, struct err *e)
{
	return err_set(e, ERR_INVALID, "these values do not fit");
}

static int nchecks;
static int check_refuses_the_second(const void *values, struct err *e)
{
	return nchecks++ ? check_refuses(values, e) : 0;
}

static void done(struct daemon *d)
{
	puts("done");
}

TEST(values_that_the_program_refuses_are_a_bad_configuration)
{
	struct daemon_spec spec = testd_spec;

	spec.check = check_refuses;
	ck_assert_int_eq(testd_wait_exit(testd_run_as(&spec, NULL, NULL)), DAEMON_BAD_CONFIG);
	ck_assert_str_eq(testd_read_text(testd.err), "testd: these values do not fit\n");
	ck_assert_int_eq(testd_wait_exit(testd_run_as(&spec, "--check-config", NULL)),
			 DAEMON_BAD_CONFIG);
}

TEST(values_that_the_program_refuses_at_a_reload_change_nothing)
{
	struct daemon_spec spec = testd_spec;
	pid_t pid;

	spec.check = check_refuses_the_second;
	pid = testd_run_as(&spec, NULL, NULL);
	ck_assert_str_eq(testd_next_notice(), "READY=1");
	testd_put_conf("word = second\n");
	kill(pid, SIGHUP);
	ck_assert(testd_has_soon(testd.err, "these values do not fit"));
	kill(pid, SIGUSR1);
	ck_assert(testd_has_soon(testd.err, "line=59 word=first"));
	end_well(pid);
}

TEST(the_result_of_start_is_freed_once_also_on_failure)
{
	struct daemon_spec spec = testd_spec;
	pid_t pid;

	spec.done = done;
	ck_assert_int_eq(testd_wait_exit(testd_run_as(&spec, "--fail=4", NULL)), 4);
	ck_assert_str_eq(testd_read_text(testd.out), "done\n");
	pid = testd_run_as(&spec, NULL, NULL);
	ck_assert_str_eq(testd_next_notice(), "READY=1");
	end_well(pid);
	ck_assert_str_eq(testd_read_text(testd.out), "serving first\ndone\n");
}

TEST(one_without_hooks_reloads_prints_its_status_and_ends)
{
	struct daemon_spec spec = testd_spec;
	pid_t pid;

	spec.reload = NULL;
	spec.stop = NULL;
	spec.status = NULL;
	pid = testd_run_as(&spec, NULL, NULL);
	ck_assert_str_eq(testd_next_notice(), "READY=1");
	kill(pid, SIGHUP);
	ck_assert(testd_has_soon(testd.err, "configuration reloaded"));
	kill(pid, SIGUSR1);
	ck_assert(testd_has_soon(testd.err, "uptime_s="));
	end_well(pid);
}

/* Passes its lock, gives it up, and checks that no other process can take it meanwhile. */
static int start_and_pass_the_lock(struct daemon *d, int *exit_code, struct err *e)
{
	char path[FILE_PATH_BYTES];
	int passed;

	*exit_code = 10;
	if (daemon_pass_lock(d) != -1)
		return err_set(e, ERR_INVALID, "a lock that is not held");
	snprintf(path, sizeof(path), "%s/testd.lock", daemon_state_dir(d));
	if (daemon_lock(d, path, e))
		return -ERR_EXISTS;
	*exit_code = 11;
	passed = daemon_pass_lock(d);
	if (passed < 0 || fcntl(passed, F_GETFD) != 0)
		return err_set(e, ERR_INVALID, "the lock is not passed on");
	daemon_unlock(d);
	*exit_code = 12;
	if (daemon_pass_lock(d) != -1 || daemon_lock(d, path, e) != -ERR_EXISTS)
		return err_set(e, ERR_INVALID, "a lock that was passed on is free");
	close(passed);
	*exit_code = 13;
	if (daemon_lock(d, path, e))
		return -ERR_EXISTS;
	daemon_ready(d);
	daemon_ready(d); /* once is enough */
	return 0;
}

TEST(a_lock_is_held_until_the_last_descriptor_of_it_is_closed)
{
	struct daemon_spec spec = testd_spec;
	pid_t pid;

	spec.start = start_and_pass_the_lock;
	pid = testd_run_as(&spec, NULL, NULL);
	ck_assert_str_eq(testd_next_notice(), "READY=1");
	kill(pid, SIGTERM);
	ck_assert_str_eq(testd_next_notice(), "STOPPING=1");
	ck_assert_int_eq(testd_wait_exit(pid), DAEMON_OK);
}

/* The first code counts. */
static int start_and_end(struct daemon *d, int *exit_code, struct err *e)
{
	daemon_end(d, 5);
	daemon_end(d, 6);
	return 0;
}

TEST(the_first_end_gives_the_exit_code)
{
	struct daemon_spec spec = testd_spec;

	spec.start = start_and_end;
	ck_assert_int_eq(testd_wait_exit(testd_run_as(&spec, NULL, NULL)), 5);
	ck_assert_ptr_nonnull(strstr(testd_read_text(testd.err), "ended exit=5"));
}

TEST(a_background_daemon_stays_in_the_foreground_on_request)
{
	struct daemon_spec spec = testd_spec;
	pid_t pid;

	spec.background = true;
	pid = testd_run_as(&spec, "--foreground", NULL);
	ck_assert_str_eq(testd_next_notice(), "READY=1");
	ck_assert_int_eq(testd_background_pid(), pid);
	end_well(pid);
	ck_assert_str_eq(testd_next_notice(), "STOPPING=1");
	ck_assert_int_eq(testd_wait_exit(testd_run_as(&spec, NULL, NULL)), DAEMON_OK);
	ck_assert_str_eq(testd_next_notice(), "READY=1");
	pid = testd_background_pid();
	ck_assert_int_eq(kill(pid, SIGTERM), 0);
	ck_assert_str_eq(testd_next_notice(), "STOPPING=1");
}

static const char *log_name(const char *suffix)
{
	static char path[2][400];
	static unsigned next;
	char host[256] = "", *p = path[next++ % 2];

	gethostname(host, sizeof(host) - 1);
	snprintf(p, sizeof(path[0]), "%s/testd-%s.log%s", testd.state, host, suffix);
	return p;
}

/* The log file is opened again even if the new configuration is refused. */
TEST(a_log_file_that_was_renamed_is_opened_again_by_a_sighup)
{
	struct daemon_spec spec = testd_spec;
	pid_t pid;

	spec.background = true;
	ck_assert_int_eq(testd_wait_exit(testd_run_as(&spec, NULL, NULL)), DAEMON_OK);
	ck_assert_str_eq(testd_next_notice(), "READY=1");
	pid = testd_background_pid();
	ck_assert(testd_has_soon(log_name(""), "ready version="));
	ck_assert_int_eq(rename(log_name(""), log_name(".old")), 0);
	testd_put_conf("nonsense = 1\n");
	kill(pid, SIGHUP);
	ck_assert(testd_has_soon(log_name(""), "reload refused"));
	ck_assert_ptr_null(strstr(testd_read_text(log_name(".old")), "reload refused"));
	/* A name that is taken by a folder: the file that was open is written to. */
	ck_assert_int_eq(unlink(log_name(".old")), 0);
	ck_assert_int_eq(rename(log_name(""), log_name(".old")), 0);
	ck_assert_int_eq(mkdir(log_name(""), 0700), 0);
	kill(pid, SIGHUP);
	ck_assert(testd_has_soon(log_name(".old"), "the log file cannot be opened again"));
	ck_assert_int_eq(rmdir(log_name("")), 0);
	unlink(log_name(".old"));
	ck_assert_int_eq(kill(pid, SIGTERM), 0);
}

SUITE_WITH("daemon process", testd_set_up, testd_clean_up)
