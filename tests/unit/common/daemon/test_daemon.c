/* SPDX-License-Identifier: Apache-2.0 */
/* The skeleton as a process: its effects on its caller, systemd and signals. */
#include "common/base/array.h"
#include "common/base/file.h"
#include "common/base/str.h"
#include "common/daemon/daemon.h"
#include "common/loop/loop.h"
#include "tests/suite.h"
#include "tests/unit/common/daemon/testd.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * Above the descriptors that the daemon opens before it goes to the background; the lock is below.
 */
#define FAR_FD 60

TEST(a_daemon_reports_ready_and_ends_on_sigterm_with_0)
{
	pid_t pid = testd_run("--foreground", NULL);

	ck_assert_str_eq(testd_next_notice(), "READY=1");
	kill(pid, SIGTERM);
	ck_assert_str_eq(testd_next_notice(), "STOPPING=1");
	ck_assert_int_eq(testd_wait_exit(pid), DAEMON_OK);
	ck_assert_str_eq(testd_read_text(testd.out), "serving first\n");
}

TEST(a_second_signal_ends_a_stubborn_one_at_once)
{
	pid_t pid = testd_run("--stubborn", NULL);

	ck_assert_str_eq(testd_next_notice(), "READY=1");
	kill(pid, SIGINT);
	ck_assert_str_eq(testd_next_notice(), "STOPPING=1");
	kill(pid, SIGINT);
	ck_assert_int_eq(testd_wait_exit(pid), DAEMON_FAILED);
}

TEST(a_failed_start_gives_its_exit_code_and_one_line)
{
	ck_assert_int_eq(testd_wait_exit(testd_run("--fail", "3")), DAEMON_UNREACHABLE);
	ck_assert_str_eq(testd_read_text(testd.err), "testd: failing as told\n");
	ck_assert_int_eq(testd_wait_exit(testd_run("--fail=3", "--background")),
			 DAEMON_UNREACHABLE);
	ck_assert_str_eq(testd_read_text(testd.err), "testd: failing as told\n");
}

TEST(a_bad_configuration_is_exit_78_with_file_and_line)
{
	char want[200];

	testd_put_conf("word = first\nworm = second\n");
	ck_assert_int_eq(testd_wait_exit(testd_run(NULL, NULL)), DAEMON_BAD_CONFIG);
	snprintf(want, sizeof(want), "testd: %s:2: unknown key 'worm'; did you mean word?\n",
		 testd.conf);
	ck_assert_str_eq(testd_read_text(testd.err), want);
	ck_assert_int_eq(testd_wait_exit(testd_run("--check-config", NULL)), DAEMON_BAD_CONFIG);
	testd_put_conf("word = first\n");
	ck_assert_int_eq(testd_wait_exit(testd_run("--check-config", NULL)), DAEMON_OK);
	ck_assert_int_ne(access(testd.state, F_OK), 0); /* a check changes nothing */
}

TEST(a_bad_command_line_is_exit_2)
{
	ck_assert_int_eq(testd_wait_exit(testd_run("--nonsense", NULL)), DAEMON_USAGE);
	ck_assert_int_eq(testd_wait_exit(testd_run("operand", NULL)), DAEMON_USAGE);
	ck_assert_int_eq(testd_wait_exit(testd_run("--foreground", "--background")), DAEMON_USAGE);
	ck_assert_int_eq(testd_wait_exit(testd_run("--fail", "1000")), DAEMON_USAGE);
	ck_assert_ptr_nonnull(strstr(testd_read_text(testd.err), "option --fail: "));
	ck_assert_int_eq(testd_wait_exit(testd_run("--log-level", "loud")), DAEMON_USAGE);
	ck_assert_int_eq(testd_wait_exit(testd_run("--log-areas", "net=loud")), DAEMON_USAGE);
	ck_assert_ptr_nonnull(
		strstr(testd_read_text(testd.err), "option --log-areas: log-areas: at most 16 of"));
}

TEST(help_and_version_go_to_stdout_with_exit_0)
{
	ck_assert_int_eq(testd_wait_exit(testd_run("--help", NULL)), DAEMON_OK);
	ck_assert_ptr_nonnull(strstr(testd_read_text(testd.out), "--stubborn"));
	ck_assert_ptr_nonnull(strstr(testd_read_text(testd.out), "--fail"));
	ck_assert_ptr_nonnull(strstr(testd_read_text(testd.out), "--log-level"));
	ck_assert_int_eq(testd_wait_exit(testd_run("--version", NULL)), DAEMON_OK);
	ck_assert_ptr_nonnull(strstr(testd_read_text(testd.out), OMIG_VERSION));
}

TEST(the_dumped_configuration_can_be_read_again)
{
	struct buf text = BUF_INIT(1 << 20);

	ck_assert_int_eq(testd_wait_exit(testd_run("--dump-config", NULL)), DAEMON_OK);
	buf_puts(&text, testd_read_text(testd.out));
	ck_assert_ptr_nonnull(strstr(buf_str(&text), "word = first\n"));
	testd_put_conf(buf_str(&text));
	ck_assert_int_eq(testd_wait_exit(testd_run("--dump-config", NULL)), DAEMON_OK);
	ck_assert_str_eq(testd_read_text(testd.out), buf_str(&text));
	buf_done(&text);
}

TEST(a_second_one_is_refused_with_the_pid_of_the_first)
{
	pid_t pid = testd_run(NULL, NULL);
	char want[40];

	ck_assert_str_eq(testd_next_notice(), "READY=1");
	ck_assert_int_eq(testd_wait_exit(testd_run(NULL, NULL)), DAEMON_RUNNING);
	snprintf(want, sizeof(want), "running already: pid %ld ", (long)pid);
	ck_assert_msg(strstr(testd_read_text(testd.err), want) != NULL, "%s",
		      testd_read_text(testd.err));
	kill(pid, SIGTERM);
	ck_assert_int_eq(testd_wait_exit(pid), 0);
	/* The file remains after the end of the daemon, and is not locked. */
	pid = testd_run(NULL, NULL);
	ck_assert_str_eq(testd_next_notice(), "STOPPING=1");
	ck_assert_str_eq(testd_next_notice(), "READY=1");
	kill(pid, SIGTERM);
	ck_assert_int_eq(testd_wait_exit(pid), 0);
}

TEST(a_reload_swaps_all_or_nothing)
{
	pid_t pid = testd_run(NULL, NULL);

	ck_assert_str_eq(testd_next_notice(), "READY=1");
	testd_put_conf("word = second\n");
	kill(pid, SIGHUP);
	ck_assert_int_eq(strncmp(testd_next_notice(), "RELOADING=1\nMONOTONIC_USEC=", 27), 0);
	ck_assert_str_eq(testd_next_notice(), "READY=1");
	kill(pid, SIGUSR1);
	ck_assert(testd_has_soon(testd.err, "line=59 word=second"));
	ck_assert_ptr_nonnull(strstr(testd_read_text(testd.err), "uptime_s="));
	testd_put_conf("word = refused\n");
	kill(pid, SIGHUP);
	ck_assert(testd_has_soon(testd.err,
				 "reload refused, the old configuration stays: not this word"));
	testd_put_conf("word = third\nfail = 3\n");
	kill(pid, SIGHUP);
	ck_assert(
		testd_has_soon(testd.err, "fail changed in the configuration: it needs a restart"));
	testd_put_conf("word =\n");
	kill(pid, SIGHUP);
	ck_assert(testd_has_soon(testd.err, "testd.conf:1: "));
	kill(pid, SIGUSR1);
	ck_assert(testd_has_soon(testd.err, "line=59 word=third"));
	kill(pid, SIGTERM);
	ck_assert_int_eq(testd_wait_exit(pid), 0);
}

TEST(the_command_returns_when_the_background_serves)
{
	pid_t pid = testd_run("--background", NULL), child;
	char host[256] = "", log[400];
	struct stat st;

	ck_assert_int_eq(testd_wait_exit(pid), 0);
	/* When the first process has ended, the output is complete and the daemon has the lock. */
	ck_assert_str_eq(testd_read_text(testd.out), "serving first\n");
	child = testd_background_pid();
	ck_assert_int_ne(child, pid);
	ck_assert_int_eq(kill(child, 0), 0);
	ck_assert_str_eq(testd_next_notice(), "READY=1");
	gethostname(host, sizeof(host) - 1);
	snprintf(log, sizeof(log), "%s/testd-%s.log", testd.state, host);
	kill(child, SIGUSR1);
	ck_assert(testd_has_soon(log, "line=59"));
	ck_assert_int_eq(stat(log, &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0600);
	kill(child, SIGTERM);
	ck_assert_str_eq(testd_next_notice(), "STOPPING=1");
	ck_assert(testd_has_soon(log, "ended exit=0"));
	ck_assert_str_eq(testd_read_text(testd.err), "");
}

/*
 * A process that waits for a lock, or for the end of a pipe, never waits for an unrelated daemon.
 */
TEST(the_background_holds_nothing_of_its_starter)
{
	char path[100], fd_text[24];
	struct pollfd p = { .events = POLLIN };
	int fd, ends[2], kept[2];
	pid_t child;

	ck_assert_int_eq(file_private_dir(testd.state, NULL), 0);
	snprintf(path, sizeof(path), "%s/testd.lock", testd.state);
	fd = open(path, O_RDWR | O_CREAT, 0600);
	snprintf(fd_text, sizeof(fd_text), "--lock-fd=%d", fd);
	ck_assert_int_eq(pipe(ends), 0);
	ck_assert_int_eq(pipe(kept), 0);
	testd.kept_fd = fcntl(kept[1], F_DUPFD, FAR_FD);
	ck_assert_int_eq(testd_wait_exit(testd_run("--background", fd_text)), 0);
	close((int)testd.kept_fd);
	testd.kept_fd = 0;
	child = testd_background_pid();
	close(ends[1]);
	close(kept[1]);
	close(fd);
	p.fd = ends[0];
	ck_assert_int_eq(poll(&p, 1, TESTD_PATIENCE_MS), 1);
	ck_assert(p.revents & POLLHUP);
	close(ends[0]);
	/* The daemon has kept the passed descriptor and the passed lock open. */
	p.fd = kept[0];
	ck_assert_int_eq(poll(&p, 1, 0), 0);
	close(kept[0]);
	ck_assert_int_eq(testd_wait_exit(testd_run(NULL, NULL)), DAEMON_RUNNING);
	ck_assert_ptr_nonnull(strstr(testd_read_text(testd.err), "running already"));
	ck_assert_int_eq(kill(child, SIGTERM), 0);
	ck_assert_str_eq(testd_next_notice(), "READY=1");
	ck_assert_str_eq(testd_next_notice(), "STOPPING=1");
	for (int i = 0; kill(child, 0) == 0 && i < TESTD_PATIENCE_MS / 10; i++)
		poll(NULL, 0, 10);
}

TEST(an_inherited_lock_is_taken_over_and_another_file_is_not)
{
	char path[100], fd_text[24];
	int fd;
	pid_t pid;

	ck_assert_int_eq(file_private_dir(testd.state, NULL), 0);
	snprintf(path, sizeof(path), "%s/testd.lock", testd.state);
	fd = open(path, O_RDWR | O_CREAT, 0600);
	snprintf(fd_text, sizeof(fd_text), "--lock-fd=%d", fd);
	pid = testd_run(fd_text, NULL);
	ck_assert_str_eq(testd_next_notice(), "READY=1");
	ck_assert_int_eq(testd_background_pid(), pid);
	kill(pid, SIGTERM);
	ck_assert_int_eq(testd_wait_exit(pid), 0);
	close(fd);
	fd = open(testd.conf, O_RDWR);
	ck_assert_int_eq(testd_wait_exit(testd_run(fd_text, NULL)), DAEMON_FAILED);
	ck_assert_ptr_nonnull(strstr(testd_read_text(testd.err), "is not the lock"));
	close(fd);
}

TEST(a_state_directory_that_is_open_to_others_is_refused)
{
	mkdir(testd.state, 0755);
	chmod(testd.state, 0755);
	ck_assert_int_eq(testd_wait_exit(testd_run(NULL, NULL)), DAEMON_BAD_CONFIG);
	ck_assert_ptr_nonnull(strstr(testd_read_text(testd.err), testd.state));
	ck_assert_int_eq(testd_wait_exit(testd_run("--check-config", NULL)), DAEMON_BAD_CONFIG);
	chmod(testd.state, 0700);
}

/* A start, a check and a reload find it; a key of another program is ignored. */
TEST(a_key_that_others_may_read_is_refused)
{
	char site[100], other[100], key[120], foreign[120], want[200];
	pid_t pid = testd_run(NULL, NULL);

	ck_assert_str_eq(testd_next_notice(), "READY=1");
	snprintf(site, sizeof(site), "%s/testd-east", testd.state);
	snprintf(other, sizeof(other), "%s/testdx", testd.state);
	snprintf(key, sizeof(key), "%s/key.pem", site);
	snprintf(foreign, sizeof(foreign), "%s/key.pem", other);
	mkdir(site, 0700);
	mkdir(other, 0700);
	close(open(foreign, O_WRONLY | O_CREAT, 0600));
	chmod(foreign, 0644);
	close(open(key, O_WRONLY | O_CREAT, 0600));
	ck_assert_int_eq(testd_wait_exit(testd_run("--check-config", NULL)), DAEMON_OK);
	chmod(key, 0644);
	snprintf(want, sizeof(want), "%s:1: mode 0644 lets others at the key: chmod 600", key);
	kill(pid, SIGHUP);
	ck_assert(testd_has_soon(testd.err, "reload refused"));
	ck_assert_ptr_nonnull(strstr(testd_read_text(testd.err), want));
	kill(pid, SIGTERM);
	ck_assert_int_eq(testd_wait_exit(pid), 0);
	ck_assert_int_eq(testd_wait_exit(testd_run("--check-config", NULL)), DAEMON_BAD_CONFIG);
	ck_assert_ptr_nonnull(strstr(testd_read_text(testd.err), want));
	ck_assert_int_eq(testd_wait_exit(testd_run(NULL, NULL)), DAEMON_BAD_CONFIG);
	ck_assert_ptr_nonnull(strstr(testd_read_text(testd.err), want));
	unlink(key);
	unlink(foreign);
	rmdir(site);
	rmdir(other);
}

TEST(values_are_printed_with_origins_and_keys_with_meanings)
{
	char want[200];

	setenv("OMIG_FAIL", "4", 1);
	ck_assert_int_eq(testd_wait_exit(testd_run("--print-config", "--stubborn")), DAEMON_OK);
	snprintf(want, sizeof(want), "word = first\t%s:1\n", testd.conf);
	ck_assert_ptr_nonnull(strstr(testd_read_text(testd.out), want));
	ck_assert_ptr_nonnull(
		strstr(testd_read_text(testd.out), "fail = 4\tenvironment OMIG_FAIL\n"));
	ck_assert_ptr_nonnull(
		strstr(testd_read_text(testd.out), "stubborn = yes\toption --stubborn\n"));
	ck_assert_ptr_nonnull(strstr(testd_read_text(testd.out), "log-level = notice\tdefault\n"));
	/* An error does not suppress the rest of the output. */
	testd_put_conf("nonsense\n");
	ck_assert_int_eq(testd_wait_exit(testd_run("--example-config", NULL)), DAEMON_OK);
	ck_assert_ptr_nonnull(strstr(testd_read_text(testd.out), "\n#word = none\n"));
	ck_assert_ptr_nonnull(strstr(testd_read_text(testd.out), "\n#log-level = notice\n"));
	ck_assert_int_eq(testd_wait_exit(testd_run("--print-config", NULL)), DAEMON_BAD_CONFIG);
	unsetenv("OMIG_FAIL");
}

int main(void)
{
	setenv("CK_DEFAULT_TIMEOUT", "60", 0);
	return suite_run("daemon", testd_set_up, testd_clean_up);
}
