/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the skeleton by themselves: limits, notification, locks, log files and keys. */
#include "common/base/array.h"
#include "common/base/spawn_env.h"
#include "common/base/str.h"
#include "common/daemon/daemon_internal.h"
#include "tests/suite.h"
#include "tests/unit/common/daemon/testd.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOG_MAX_BYTES (8 * 1024 * 1024)

/* A path in the test's folder, valid until the fourth call from now. */
static const char *below(const char *name)
{
	static char path[4][160];
	static unsigned next;
	char *p = path[next++ % 4];

	snprintf(p, sizeof(path[0]), "%s/%s", testd.dir, name);
	return p;
}

static void make_file(const char *path, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT, 0600);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fchmod(fd, mode), 0);
	close(fd);
}

/* --- lag */

TEST(the_largest_lag_stays_for_half_a_minute_to_a_minute)
{
	struct lag g = { 0 };

	lag_note(&g, 5);
	ck_assert_int_eq(g.last, 5);
	ck_assert_int_eq(g.max[0], 5);
	lag_note(&g, -3); /* a timer that fired early is in time */
	ck_assert_int_eq(g.last, 0);
	ck_assert_int_eq(g.max[0], 5);
	for (int i = 2; i < 30; i++)
		lag_note(&g, 1);
	ck_assert_int_eq(g.max[0], 5);
	ck_assert_int_eq(g.max[1], 0);
	lag_note(&g, 2); /* the second half minute */
	ck_assert_int_eq(g.max[0], 2);
	ck_assert_int_eq(g.max[1], 5);
	for (int i = 31; i < 60; i++)
		lag_note(&g, 1);
	ck_assert_int_eq(g.max[1], 5);
	lag_note(&g, 1);
	ck_assert_int_eq(g.max[0], 1);
	ck_assert_int_eq(g.max[1], 2);
}

/* --- figures of the process */

TEST(health_counts_descriptors_and_memory_that_are_used)
{
	const size_t bytes = 64u << 20, slack = 8u << 20;
	const rlim_t files = 300;
	struct daemon_health before, after;
	struct rlimit r;
	int fd[5];
	char *p;

	getrlimit(RLIMIT_NOFILE, &r);
	r.rlim_cur = files;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &r), 0);
	health_measure(&before);
	ck_assert_int_eq(before.fd_limit, (int)files);
	for (size_t i = 0; i < ARRAY_LEN(fd); i++)
		fd[i] = dup(0);
	p = malloc(bytes);
	ck_assert_ptr_nonnull(p);
	memset(p, 1, bytes);
	health_measure(&after);
	ck_assert_int_eq(after.fds - before.fds, (int)ARRAY_LEN(fd));
	ck_assert_int_ge(after.rss_bytes - before.rss_bytes, (int64_t)(bytes - slack));
	ck_assert_int_lt(after.rss_bytes - before.rss_bytes, (int64_t)(2 * bytes));
	for (size_t i = 0; i < ARRAY_LEN(fd); i++)
		close(fd[i]);
	free(p);
}

/* The descriptors of a process that has closed all but some are known. */
TEST(health_counts_each_open_descriptor_once)
{
	struct daemon_health h;
	int n = 0;

	for (int i = 0; i < 1024; i++)
		n += fcntl(i, F_GETFD) >= 0;
	health_measure(&h);
	ck_assert_int_eq(h.fds, n);
}

TEST(a_hardened_process_protects_its_memory_and_knows_its_start)
{
	struct rlimit files = { 256, 1024 }, core = { 0, 0 }, now;
	struct sigaction a;
	char want[64];

	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &files), 0);
	getrlimit(RLIMIT_CORE, &core);
	core.rlim_cur = core.rlim_max < 4096 ? core.rlim_max : 4096;
	setrlimit(RLIMIT_CORE, &core);
	umask(022);
	unsetenv(ENV_SPAWN);
	process_harden();
#ifndef UNDER_SANITIZER
	ck_assert_int_eq(prctl(PR_GET_DUMPABLE), 0);
#endif
	prctl(PR_SET_DUMPABLE, 1); /* for the search for leaks */
	ck_assert_uint_eq(umask(022), 077);
	getrlimit(RLIMIT_NOFILE, &now);
	ck_assert_uint_eq(now.rlim_cur, 1024);
	ck_assert_uint_eq(now.rlim_max, 1024);
	getrlimit(RLIMIT_CORE, &now);
	ck_assert_uint_eq(now.rlim_cur, 0);
	ck_assert_uint_eq(now.rlim_max, core.rlim_max);
	ck_assert_int_eq(sigaction(SIGXFSZ, NULL, &a), 0);
	ck_assert(a.sa_handler == SIG_IGN);
	snprintf(want, sizeof(want), "22 256 %llu", (unsigned long long)core.rlim_cur);
	ck_assert_str_eq(getenv(ENV_SPAWN), want);
	/* A second call keeps the entry of the process that started this one. */
	process_harden();
	prctl(PR_SET_DUMPABLE, 1);
	ck_assert_str_eq(getenv(ENV_SPAWN), want);
}

TEST(a_hardened_process_limits_its_descriptors)
{
	struct rlimit files;

	getrlimit(RLIMIT_NOFILE, &files);
	files.rlim_cur = 256;
	setrlimit(RLIMIT_NOFILE, &files);
	process_harden();
	prctl(PR_SET_DUMPABLE, 1);
	getrlimit(RLIMIT_NOFILE, &files);
	ck_assert_uint_eq(files.rlim_cur, files.rlim_max < 65536 ? files.rlim_max : 65536);
}

/* --- notification */

static struct notify notify_with(const char *path, const char *usec, const char *pid)
{
	struct notify n;

	setenv("NOTIFY_SOCKET", path, 1);
	if (usec)
		setenv("WATCHDOG_USEC", usec, 1);
	if (pid)
		setenv("WATCHDOG_PID", pid, 1);
	notify_init(&n);
	ck_assert_ptr_null(getenv("NOTIFY_SOCKET"));
	ck_assert_ptr_null(getenv("WATCHDOG_USEC"));
	ck_assert_ptr_null(getenv("WATCHDOG_PID"));
	return n;
}

TEST(the_watchdog_is_that_of_this_process)
{
	char own[24], other[24];

	snprintf(own, sizeof(own), "%ld", (long)getpid());
	snprintf(other, sizeof(other), "%ld", (long)getpid() + 1);
	ck_assert_int_eq(notify_with("", NULL, NULL).watchdog, 0);
	ck_assert_int_eq(notify_with("", "3", NULL).watchdog, 3000);
	ck_assert_int_eq(notify_with("", "1", own).watchdog, 1000);
	ck_assert_int_eq(notify_with("", "3", other).watchdog, 0);
	ck_assert_int_eq(notify_with("", "3", "me").watchdog, 0);
	ck_assert_int_eq(notify_with("", "0", NULL).watchdog, 0);
	ck_assert_int_eq(notify_with("", "often", NULL).watchdog, 0);
	ck_assert_int_eq(notify_with("", "1099511627777", NULL).watchdog, 0);
	ck_assert_int_eq(notify_with("", "1099511627776", NULL).watchdog,
			 INT64_C(1099511627776) * NSEC_PER_USEC);
}

TEST(a_notification_goes_to_a_path_or_to_an_abstract_name_only)
{
	char fits[108], longer[109];
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	char name[64], text[64] = "";
	struct notify n;
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	socklen_t len;

	memset(fits, 'a', sizeof(fits));
	fits[0] = '/';
	fits[sizeof(fits) - 1] = 0;
	memcpy(longer, fits, sizeof(fits));
	longer[sizeof(fits) - 1] = 'a';
	longer[sizeof(longer) - 1] = 0;
	ck_assert_str_eq(notify_with(fits, NULL, NULL).path, fits);
	ck_assert_str_eq(notify_with(longer, NULL, NULL).path, "");
	ck_assert_str_eq(notify_with("relative", NULL, NULL).path, "");
	snprintf(name, sizeof(name), "@omig-test-%ld", (long)getpid());
	n = notify_with(name, NULL, NULL);
	memcpy(a.sun_path + 1, name + 1, strlen(name) - 1);
	len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name));
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&a, len), 0);
	notify_send(&n, "STATUS=well");
	ck_assert_int_eq(recv(fd, text, sizeof(text) - 1, MSG_DONTWAIT), 11);
	ck_assert_str_eq(text, "STATUS=well");
	close(fd);
	notify_send(&n, "READY=1"); /* not received: no harm */
}

/* --- locks */

TEST(a_lock_has_the_pid_of_its_holder)
{
	struct err e = { 0 };
	int fd = -1, again = -1, other;
	char want[24];

	ck_assert_int_eq(lock_take(below("a.lock"), -1, &fd, &e), 0);
	snprintf(want, sizeof(want), "%ld\n", (long)getpid());
	ck_assert_str_eq(testd_read_text(below("a.lock")), want);
	ck_assert_int_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
	ck_assert_int_eq(lock_take(below("a.lock"), -1, &again, &e), -ERR_EXISTS);
	want[strlen(want) - 1] = 0;
	ck_assert_ptr_nonnull(strstr(e.text, "running already: pid "));
	ck_assert_ptr_nonnull(strstr(e.text, want));
	ck_assert_ptr_nonnull(strstr(e.text, "a.lock)"));
	/* An inherited descriptor of another open of the file is not the holder. */
	other = open(below("a.lock"), O_RDWR | O_CLOEXEC);
	ck_assert_int_eq(lock_take(below("a.lock"), other, &again, &e), -ERR_EXISTS);
	close(other);
	/* The lock is passed on. Longer old text is removed. */
	ck_assert_int_eq(pwrite(fd, "1234567890\nrest\n", 16, 0), 16);
	other = dup(fd);
	ck_assert_int_eq(lock_take(below("a.lock"), other, &again, &e), 0);
	ck_assert_int_eq(again, other);
	ck_assert_int_eq(fcntl(again, F_GETFD), FD_CLOEXEC);
	ck_assert_int_eq((int)strtol(testd_read_text(below("a.lock")), NULL, 10), (int)getpid());
	ck_assert_ptr_null(strstr(testd_read_text(below("a.lock")), "rest"));
	close(other);
	close(fd);
	unlink(below("a.lock"));
}

TEST(a_holder_that_wrote_no_number_is_refused_without_one)
{
	struct err e = { 0 };
	int fd, again = -1;

	fd = open(below("a.lock"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	ck_assert_int_eq(flock(fd, LOCK_EX), 0);
	ck_assert_int_eq(lock_take(below("a.lock"), -1, &again, &e), -ERR_EXISTS);
	ck_assert_ptr_nonnull(strstr(e.text, "one is running already (lock "));
	close(fd);
	unlink(below("a.lock"));
}

TEST(a_lock_whose_file_is_gone_or_another_is_refused)
{
	struct err e = { 0 };
	int fd, out = -1;

	fd = open(below("a.lock"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	unlink(below("a.lock"));
	ck_assert_int_eq(lock_take(below("a.lock"), fd, &out, &e), -ERR_INVALID);
	make_file(below("a.lock"), 0600);
	ck_assert_int_eq(lock_take(below("a.lock"), fd, &out, &e), -ERR_INVALID);
	close(fd);
	ck_assert_int_eq(lock_take(below("a.lock"), fd, &out, &e), -ERR_SYS);
	ck_assert_ptr_nonnull(strstr(e.text, "lock descriptor"));
	ck_assert_int_ne(lock_take(below("none/a.lock"), -1, &out, &e), 0);
	ck_assert_int_eq(out, -1);
	unlink(below("a.lock"));
}

/* --- the background */

/*
 * Returns the exit code of a child that goes to the background. Children end by exit(), as a
 * measurement of lines requires.
 */
static int in_background(void (*child)(int *ready), const int *keep, size_t n)
{
	struct err e = { 0 };
	int ready = -1, status = -1;
	int forked = background_fork(&ready, keep, n, &status, &e);

	if (!forked) {
		child(&ready);
		exit(0);
	}
	ck_assert_int_eq(forked, 1);
	ck_assert_int_eq(ready, -1);
	return status;
}

static void tells_7(int *ready)
{
	if (!background_report(ready, 7) || *ready != -1 || !background_report(ready, 8))
		exit(1);
}

static void ends_with_9(int *ready)
{
	exit(9);
}

static void ends_well_without_a_word(int *ready)
{
}

static void is_killed(int *ready)
{
	raise(SIGKILL);
}

static void has_its_own_session(int *ready)
{
	background_report(ready, getsid(0) == getpid() ? 0 : 5);
}

TEST(the_command_ends_with_the_status_of_its_background)
{
	ck_assert_int_eq(in_background(tells_7, NULL, 0), 7);
	ck_assert_int_eq(in_background(ends_with_9, NULL, 0), 9);
	ck_assert_int_eq(in_background(ends_well_without_a_word, NULL, 0), DAEMON_FAILED);
	ck_assert_int_eq(in_background(is_killed, NULL, 0), DAEMON_FAILED);
	ck_assert_int_eq(in_background(has_its_own_session, NULL, 0), 0);
	while (wait(NULL) > 0)
		;
}

#define FROM_FD 30

/* Returns one bit for each of the descriptors from FROM_FD on that is open. */
static void tells_open(int *ready)
{
	int bits = 0;

	for (int i = 0; i < 7; i++)
		if (fcntl(FROM_FD + i, F_GETFD) >= 0)
			bits |= 1 << i;
	background_report(ready, bits);
}

TEST(the_background_keeps_the_descriptors_that_it_names)
{
	const int two[] = { FROM_FD + 4, FROM_FD + 1 }, none[] = { 0, -1 };
	const int neighbours[] = { FROM_FD, FROM_FD + 1, FROM_FD + 6 };

	for (int i = 0; i < 7; i++)
		ck_assert_int_eq(dup2(0, FROM_FD + i), FROM_FD + i);
	ck_assert_int_eq(in_background(tells_open, two, 2), 1 << 4 | 1 << 1);
	ck_assert_int_eq(in_background(tells_open, none, 2), 0);
	ck_assert_int_eq(in_background(tells_open, neighbours, 3), 1 << 0 | 1 << 1 | 1 << 6);
	ck_assert_int_eq(in_background(tells_open, NULL, 0), 0);
	for (int i = 0; i < 7; i++)
		close(FROM_FD + i);
	while (wait(NULL) > 0)
		;
}

TEST(the_background_notices_that_its_command_is_gone)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	int ends[2];

	sigaction(SIGPIPE, &ignore, NULL);
	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	close(ends[0]);
	ck_assert(!background_report(&ends[1], 0));
	ck_assert_int_eq(ends[1], -1);
}

/* Writes "in\n" to what standard error is after it. */
static int detached(const char *log)
{
	pid_t pid = fork();
	struct err e = { 0 };
	struct stat null, st;

	if (pid)
		return testd_wait_exit(pid);
	if (background_detach(log, &e) != (access(log, W_OK) ? -ERR_SYS : 0))
		exit(2);
	stat("/dev/null", &null);
	for (int fd = 0; fd < 2; fd++)
		if (fstat(fd, &st) || st.st_rdev != null.st_rdev)
			exit(3);
	exit(write(2, "in\n", 3) == 3 ? 0 : 4);
}

TEST(the_log_file_is_appended_to_until_it_is_large)
{
	const char *log = below("a.log");
	struct stat st;

	ck_assert_int_eq(detached(log), 0);
	ck_assert_int_eq(detached(log), 0);
	ck_assert_str_eq(testd_read_text(log), "in\nin\n");
	ck_assert_int_eq(stat(log, &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0600);
	ck_assert_int_eq(truncate(log, LOG_MAX_BYTES - 1), 0);
	ck_assert_int_eq(detached(log), 0);
	ck_assert_int_eq(stat(log, &st), 0);
	ck_assert_int_eq(st.st_size, LOG_MAX_BYTES + 2);
	ck_assert_int_ne(access(below("a.log.1"), F_OK), 0);
	ck_assert_int_eq(truncate(log, LOG_MAX_BYTES), 0);
	ck_assert_int_eq(detached(log), 0);
	ck_assert_str_eq(testd_read_text(log), "in\n");
	ck_assert_int_eq(stat(below("a.log.1"), &st), 0);
	ck_assert_int_eq(st.st_size, LOG_MAX_BYTES);
	unlink(below("a.log.1"));
	unlink(log);
}

TEST(an_unusable_log_file_still_leaves_the_terminal)
{
	ck_assert_int_eq(detached(below("none/a.log")), 0);
	/* Another user may have put a symbolic link to the daemon's file there. */
	ck_assert_int_eq(symlink(testd.conf, below("a.log")), 0);
	ck_assert_int_eq(detached(below("none/a.log")), 0);
	ck_assert_str_eq(testd_read_text(testd.conf), "word = first\n");
	unlink(below("a.log"));
}

/* --- keys */

static void make_folders(const char *const *name, size_t n)
{
	for (size_t i = 0; i < n; i++)
		ck_assert_int_eq(mkdir(below(name[i]), 0700), 0);
}

static void remove_folders(const char *const *name, size_t n)
{
	while (n--)
		ck_assert_int_eq(rmdir(below(name[n])), 0);
}

/* Returns the result of the check for a key with that mode and place. */
static int key_check(const char *program, const char *place, mode_t mode)
{
	struct err e = { 0 };
	int rc;

	make_file(below(place), mode);
	rc = config_check_keys(program, testd.state, &e);
	if (rc) {
		char text[32];

		snprintf(text, sizeof(text), ":1: mode %04o lets", (unsigned)mode);
		ck_assert_ptr_nonnull(strstr(e.text, text));
		ck_assert_ptr_nonnull(strstr(e.text, below(place)));
	}
	unlink(below(place));
	return rc;
}

TEST(keys_are_looked_for_in_the_folders_of_their_program)
{
	static const char *const folders[] = {
		"state",	 "state/sm",
		"state/sm/own",	 "state/sm/own/old",
		"state/sm-east", "state/smart",
		"state/site-a",	 "state/site-a/users",
		"state/sm/.x",	 "state/site-a/users/p",
	};

	setenv("OMIG_RUNTIME_DIR", below("run"), 1);
	make_folders(folders, ARRAY_LEN(folders));
	ck_assert_int_eq(key_check("sm", "state/sm/key.pem", 0600), 0);
	ck_assert_int_eq(key_check("sm", "state/sm/key.pem", 0640), -ERR_DENIED);
	ck_assert_int_eq(key_check("sm", "state/sm/key.pem", 0601), -ERR_DENIED);
	ck_assert_int_eq(key_check("sm", "state/sm/ca.key", 0604), -ERR_DENIED);
	ck_assert_int_eq(key_check("sm", "state/sm/cert.pem", 0644), 0);
	ck_assert_int_eq(key_check("sm", "state/sm/own/key.pem", 0644), -ERR_DENIED);
	ck_assert_int_eq(key_check("sm", "state/sm/.x/key.pem", 0644), 0);
	ck_assert_int_eq(key_check("sm", "state/sm/own/old/key.pem", 0644), 0);
	ck_assert_int_eq(key_check("sm", "state/sm-east/key.pem", 0644), -ERR_DENIED);
	ck_assert_int_eq(key_check("sm", "state/smart/key.pem", 0644), 0);
	ck_assert_int_eq(key_check("sm", "state/site-a/users/p/key.pem", 0644), -ERR_DENIED);
	ck_assert_int_eq(key_check("lm", "state/site-a/users/p/key.pem", 0644), 0);
	ck_assert_int_eq(key_check("lm", "state/sm/key.pem", 0644), 0);
	remove_folders(folders, ARRAY_LEN(folders));
}

TEST(keys_of_the_runtime_directory_are_looked_at_too)
{
	static const char *const folders[] = { "run", "run/lm", "run/lm/own", "state" };

	make_folders(folders, ARRAY_LEN(folders));
	setenv("OMIG_RUNTIME_DIR", below("run"), 1);
	ck_assert_int_eq(key_check("lm", "run/lm/own/key.pem", 0644), -ERR_DENIED);
	ck_assert_int_eq(key_check("sm", "run/lm/own/key.pem", 0644), 0);
	ck_assert_int_eq(key_check("lm", "run/lm/own/key.pem", 0600), 0);
	remove_folders(folders, ARRAY_LEN(folders));
}

SUITE_WITH("daemon parts", testd_set_up, testd_clean_up)
