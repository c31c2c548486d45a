/* SPDX-License-Identifier: Apache-2.0 */
/* The skeleton as a process: what its caller, systemd and signals see. */
#include "common/base/file.h"
#include "common/base/str.h"
#include "common/daemon/daemon.h"
#include "common/loop/loop.h"
#include "tests/suite.h"

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

#define PATIENCE_MS 20000 /* of the test, for what takes a moment; not a measure of anything */

struct values {
	int64_t fail; /* exit code to fail with; 0 = none */
	bool stubborn; /* does not end when asked */
	const char *word;
};

static const struct conf_key keys[] = {
	{ .name = "fail",
	  .kind = CONF_INT,
	  .offset = offsetof(struct values, fail),
	  .def = "0",
	  .max = 100,
	  .flags = CONF_OPTION,
	  .arg = "CODE",
	  .help = "fail" },
	{ .name = "stubborn",
	  .kind = CONF_BOOL,
	  .offset = offsetof(struct values, stubborn),
	  .def = "no",
	  .flags = CONF_OPTION,
	  .help = "do not end" },
	{ .name = "word",
	  .kind = CONF_STRING,
	  .offset = offsetof(struct values, word),
	  .def = "none",
	  .min = 1,
	  .max = 20,
	  .flags = CONF_RELOAD,
	  .help = "a word" },
	{ 0 },
};
static const struct conf_schema schema = { "testd", sizeof(struct values), keys, NULL };

static int start(struct daemon *d, int *exit_code, struct err *e)
{
	const struct values *v = daemon_conf(d);
	char path[FILE_PATH_BYTES];

	if (v->fail) {
		*exit_code = (int)v->fail;
		return err_set(e, ERR_INVALID, "failing as told");
	}
	if (file_join(path, sizeof(path), daemon_state_dir(d), "testd.lock", e) ||
	    daemon_lock(d, path, e))
		return -ERR_EXISTS;
	printf("serving %s\n", v->word);
	daemon_ready(d);
	return 0;
}

static int reload(struct daemon *d, const void *values, struct err *e)
{
	const struct values *v = values;

	return str_eq(v->word, "refused") ? err_set(e, ERR_INVALID, "not this word") : 0;
}

static void stop(struct daemon *d, const char *reason)
{
	const struct values *v = daemon_conf(d);

	if (!v->stubborn)
		daemon_end(d, DAEMON_OK);
}

static void status(struct daemon *d, struct buf *out)
{
	const struct values *v = daemon_conf(d);

	for (int i = 0; i < 60; i++)
		buf_printf(out, "line=%d word=%s\n", i, v->word);
}

/* above whatever the daemon opens before it goes to the background; the lock is below */
#define FAR_FD 60
static int64_t kept_fd;
static const struct daemon_spec spec = { .program = "testd",
					 .inherited_fd = &kept_fd,
					 .summary = "A daemon for tests.",
					 .conf = &schema,
					 .start = start,
					 .reload = reload,
					 .stop = stop,
					 .status = status };

/* --- running it */

static char dir[64], state[80], conf[80], notify_path[80], err_path[80], out_path[80];
static int notify_fd = -1;

static void put_conf(const char *text)
{
	FILE *f = fopen(conf, "w");

	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	fclose(f);
}

static void set_up(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };

	str_copy(dir, sizeof(dir), "/tmp/omig-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(state, sizeof(state), "%s/state", dir);
	snprintf(conf, sizeof(conf), "%s/testd.conf", dir);
	snprintf(notify_path, sizeof(notify_path), "%s/notify", dir);
	snprintf(err_path, sizeof(err_path), "%s/err", dir);
	snprintf(out_path, sizeof(out_path), "%s/out", dir);
	put_conf("word = first\n");
	notify_fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	str_copy(a.sun_path, sizeof(a.sun_path), notify_path);
	ck_assert_int_eq(bind(notify_fd, (struct sockaddr *)&a, sizeof(a)), 0);
	setenv("NOTIFY_SOCKET", notify_path, 1);
}

static void clean_up(void)
{
	char host[256] = "", path[600];

	gethostname(host, sizeof(host) - 1);
	snprintf(path, sizeof(path), "%s/testd-%s.log", state, host);
	unlink(path);
	snprintf(path, sizeof(path), "%s/testd.lock", state);
	unlink(path);
	rmdir(state);
	unlink(conf);
	unlink(notify_path);
	unlink(err_path);
	unlink(out_path);
	rmdir(dir);
	close(notify_fd);
}

static pid_t run(const char *a, const char *b)
{
	char *argv[] = {
		(char *)"testd",      (char *)"--config",   conf, (char *)"--state-dir", state,
		(char *)(uintptr_t)a, (char *)(uintptr_t)b, NULL
	};
	/* Appending, as one that runs already may still write to the same file. */
	pid_t pid = truncate(err_path, 0) && errno != ENOENT ? -1 : fork();
	int argc = 5 + !!a + (a && b);

	ck_assert_int_ge(pid, 0);
	if (pid)
		return pid;
	ck_assert_ptr_nonnull(freopen(out_path, "w", stdout));
	ck_assert_ptr_nonnull(freopen(err_path, "a", stderr));
	setvbuf(stderr, NULL, _IONBF, 0);
	argc = daemon_main(&spec, argc, argv);
	fflush(stdout);
	_exit(argc);
}

static int wait_exit(pid_t pid)
{
	int how = -1;

	while (waitpid(pid, &how, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(how) ? WEXITSTATUS(how) : 1000 + how;
}

/* The next notification, "" when none came. */
static const char *next_notice(void)
{
	static char text[200];
	struct pollfd p = { notify_fd, POLLIN, 0 };
	ssize_t n = poll(&p, 1, PATIENCE_MS) > 0 ? recv(notify_fd, text, sizeof(text) - 1, 0) : 0;

	text[n > 0 ? n : 0] = 0;
	return text;
}

static const char *read_text(const char *path)
{
	static struct buf b;

	buf_done(&b);
	buf_init(&b, 1 << 20);
	file_read(path, 1 << 20, 0, &b, NULL);
	return buf_str(&b);
}

/* Polls until the file has the word. */
static bool has_soon(const char *path, const char *word)
{
	for (int i = 0; i < PATIENCE_MS / 10; i++) {
		if (strstr(read_text(path), word))
			return true;
		poll(NULL, 0, 10);
	}
	return false;
}

START_TEST(it_says_ready_then_ends_on_sigterm_with_0)
{
	pid_t pid = run("--foreground", NULL);

	ck_assert_str_eq(next_notice(), "READY=1");
	kill(pid, SIGTERM);
	ck_assert_str_eq(next_notice(), "STOPPING=1");
	ck_assert_int_eq(wait_exit(pid), DAEMON_OK);
	ck_assert_str_eq(read_text(out_path), "serving first\n");
}
END_TEST

START_TEST(a_second_signal_ends_a_stubborn_one_at_once)
{
	pid_t pid = run("--stubborn", NULL);

	ck_assert_str_eq(next_notice(), "READY=1");
	kill(pid, SIGINT);
	ck_assert_str_eq(next_notice(), "STOPPING=1");
	kill(pid, SIGINT);
	ck_assert_int_eq(wait_exit(pid), DAEMON_FAILED);
}
END_TEST

START_TEST(a_failed_start_gives_its_exit_code_and_one_line)
{
	ck_assert_int_eq(wait_exit(run("--fail", "3")), DAEMON_UNREACHABLE);
	ck_assert_str_eq(read_text(err_path), "testd: failing as told\n");
	ck_assert_int_eq(wait_exit(run("--fail=3", "--background")), DAEMON_UNREACHABLE);
	ck_assert_str_eq(read_text(err_path), "testd: failing as told\n");
}
END_TEST

START_TEST(a_bad_configuration_is_exit_78_with_file_and_line)
{
	char want[200];

	put_conf("word = first\nworm = second\n");
	ck_assert_int_eq(wait_exit(run(NULL, NULL)), DAEMON_BAD_CONFIG);
	snprintf(want, sizeof(want),
		 "testd: %s:2: unknown key 'worm'; --example-config shows all there are\n", conf);
	ck_assert_str_eq(read_text(err_path), want);
	ck_assert_int_eq(wait_exit(run("--check-config", NULL)), DAEMON_BAD_CONFIG);
	put_conf("word = first\n");
	ck_assert_int_eq(wait_exit(run("--check-config", NULL)), DAEMON_OK);
	ck_assert_int_ne(access(state, F_OK), 0); /* a look leaves nothing behind */
}
END_TEST

START_TEST(a_bad_command_line_is_exit_2)
{
	ck_assert_int_eq(wait_exit(run("--nonsense", NULL)), DAEMON_USAGE);
	ck_assert_int_eq(wait_exit(run("operand", NULL)), DAEMON_USAGE);
	ck_assert_int_eq(wait_exit(run("--foreground", "--background")), DAEMON_USAGE);
	ck_assert_int_eq(wait_exit(run("--fail", "1000")), DAEMON_USAGE);
	ck_assert_ptr_nonnull(strstr(read_text(err_path), "option --fail: "));
	ck_assert_int_eq(wait_exit(run("--log-level", "loud")), DAEMON_USAGE);
	ck_assert_int_eq(wait_exit(run("--log-areas", "net=loud")), DAEMON_USAGE);
	ck_assert_ptr_nonnull(
		strstr(read_text(err_path), "option --log-areas: log-areas: at most 16 of"));
}
END_TEST

START_TEST(help_and_version_go_to_stdout_with_exit_0)
{
	ck_assert_int_eq(wait_exit(run("--help", NULL)), DAEMON_OK);
	ck_assert_ptr_nonnull(strstr(read_text(out_path), "--stubborn"));
	ck_assert_ptr_nonnull(strstr(read_text(out_path), "--fail"));
	ck_assert_ptr_nonnull(strstr(read_text(out_path), "--log-level"));
	ck_assert_int_eq(wait_exit(run("--version", NULL)), DAEMON_OK);
	ck_assert_ptr_nonnull(strstr(read_text(out_path), OMIG_VERSION));
}
END_TEST

START_TEST(the_dumped_configuration_can_be_read_again)
{
	struct buf text = BUF_INIT(1 << 20);

	ck_assert_int_eq(wait_exit(run("--dump-config", NULL)), DAEMON_OK);
	buf_puts(&text, read_text(out_path));
	ck_assert_ptr_nonnull(strstr(buf_str(&text), "word = first\n"));
	put_conf(buf_str(&text));
	ck_assert_int_eq(wait_exit(run("--dump-config", NULL)), DAEMON_OK);
	ck_assert_str_eq(read_text(out_path), buf_str(&text));
	buf_done(&text);
}
END_TEST

START_TEST(a_second_one_is_refused_with_the_pid_of_the_first)
{
	pid_t pid = run(NULL, NULL);
	char want[40];

	ck_assert_str_eq(next_notice(), "READY=1");
	ck_assert_int_eq(wait_exit(run(NULL, NULL)), DAEMON_RUNNING);
	snprintf(want, sizeof(want), "running already: pid %ld ", (long)pid);
	ck_assert_msg(strstr(read_text(err_path), want) != NULL, "%s", read_text(err_path));
	kill(pid, SIGTERM);
	ck_assert_int_eq(wait_exit(pid), 0);
	/* The file stays, the lock does not. */
	pid = run(NULL, NULL);
	ck_assert_str_eq(next_notice(), "STOPPING=1");
	ck_assert_str_eq(next_notice(), "READY=1");
	kill(pid, SIGTERM);
	ck_assert_int_eq(wait_exit(pid), 0);
}
END_TEST

START_TEST(a_reload_swaps_all_or_nothing)
{
	pid_t pid = run(NULL, NULL);

	ck_assert_str_eq(next_notice(), "READY=1");
	put_conf("word = second\n");
	kill(pid, SIGHUP);
	ck_assert_int_eq(strncmp(next_notice(), "RELOADING=1\nMONOTONIC_USEC=", 27), 0);
	ck_assert_str_eq(next_notice(), "READY=1");
	kill(pid, SIGUSR1);
	ck_assert(has_soon(err_path, "line=59 word=second"));
	ck_assert_ptr_nonnull(strstr(read_text(err_path), "uptime_s="));
	put_conf("word = refused\n");
	kill(pid, SIGHUP);
	ck_assert(has_soon(err_path, "reload refused, the old configuration stays: not this word"));
	put_conf("word = third\nfail = 3\n");
	kill(pid, SIGHUP);
	ck_assert(has_soon(err_path, "fail changed in the configuration: it needs a restart"));
	put_conf("word =\n");
	kill(pid, SIGHUP);
	ck_assert(has_soon(err_path, "testd.conf:1: "));
	kill(pid, SIGUSR1);
	ck_assert(has_soon(err_path, "line=59 word=third"));
	kill(pid, SIGTERM);
	ck_assert_int_eq(wait_exit(pid), 0);
}
END_TEST

/* The pid in the lock file: that of the one in the background. */
static pid_t background_pid(void)
{
	char path[100];
	int64_t pid = 0;
	char digits[24];

	snprintf(path, sizeof(path), "%s/testd.lock", state);
	str_copy(digits, sizeof(digits), read_text(path));
	digits[strcspn(digits, "\n")] = 0;
	ck_assert_int_eq(str_to_i64(digits, 2, INT32_MAX, &pid), 0);
	return (pid_t)pid;
}

START_TEST(the_command_returns_when_the_background_serves)
{
	pid_t pid = run("--background", NULL), child;
	char host[256] = "", log[400];
	struct stat st;

	ck_assert_int_eq(wait_exit(pid), 0);
	/* No waiting: what it printed is there, and it has the lock. */
	ck_assert_str_eq(read_text(out_path), "serving first\n");
	child = background_pid();
	ck_assert_int_ne(child, pid);
	ck_assert_int_eq(kill(child, 0), 0);
	ck_assert_str_eq(next_notice(), "READY=1");
	gethostname(host, sizeof(host) - 1);
	snprintf(log, sizeof(log), "%s/testd-%s.log", state, host);
	kill(child, SIGUSR1);
	ck_assert(has_soon(log, "line=59"));
	ck_assert_int_eq(stat(log, &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0600);
	kill(child, SIGTERM);
	ck_assert_str_eq(next_notice(), "STOPPING=1");
	ck_assert(has_soon(log, "ended exit=0"));
	ck_assert_str_eq(read_text(err_path), "");
}
END_TEST

/*
 * A process that waits for a lock, or for the end of a pipe, never waits for an unrelated daemon.
 */
START_TEST(the_background_holds_nothing_of_its_starter)
{
	char path[100], fd_text[24];
	struct pollfd p = { .events = POLLIN };
	int fd, ends[2], kept[2];
	pid_t child;

	ck_assert_int_eq(file_private_dir(state, NULL), 0);
	snprintf(path, sizeof(path), "%s/testd.lock", state);
	fd = open(path, O_RDWR | O_CREAT, 0600);
	snprintf(fd_text, sizeof(fd_text), "--lock-fd=%d", fd);
	ck_assert_int_eq(pipe(ends), 0);
	ck_assert_int_eq(pipe(kept), 0);
	kept_fd = fcntl(kept[1], F_DUPFD, FAR_FD);
	ck_assert_int_eq(wait_exit(run("--background", fd_text)), 0);
	close((int)kept_fd);
	kept_fd = 0;
	child = background_pid();
	close(ends[1]);
	close(kept[1]);
	close(fd);
	p.fd = ends[0];
	ck_assert_int_eq(poll(&p, 1, PATIENCE_MS), 1);
	ck_assert(p.revents & POLLHUP);
	close(ends[0]);
	/* The descriptor and the lock that it was given it has kept. */
	p.fd = kept[0];
	ck_assert_int_eq(poll(&p, 1, 0), 0);
	close(kept[0]);
	ck_assert_int_eq(wait_exit(run(NULL, NULL)), DAEMON_RUNNING);
	ck_assert_ptr_nonnull(strstr(read_text(err_path), "running already"));
	ck_assert_int_eq(kill(child, SIGTERM), 0);
	ck_assert_str_eq(next_notice(), "READY=1");
	ck_assert_str_eq(next_notice(), "STOPPING=1");
	for (int i = 0; kill(child, 0) == 0 && i < PATIENCE_MS / 10; i++)
		poll(NULL, 0, 10);
}
END_TEST

START_TEST(an_inherited_lock_is_taken_over_and_another_file_is_not)
{
	char path[100], fd_text[24];
	int fd;
	pid_t pid;

	ck_assert_int_eq(file_private_dir(state, NULL), 0);
	snprintf(path, sizeof(path), "%s/testd.lock", state);
	fd = open(path, O_RDWR | O_CREAT, 0600);
	snprintf(fd_text, sizeof(fd_text), "--lock-fd=%d", fd);
	pid = run(fd_text, NULL);
	ck_assert_str_eq(next_notice(), "READY=1");
	ck_assert_int_eq(background_pid(), pid);
	kill(pid, SIGTERM);
	ck_assert_int_eq(wait_exit(pid), 0);
	close(fd);
	fd = open(conf, O_RDWR);
	ck_assert_int_eq(wait_exit(run(fd_text, NULL)), DAEMON_FAILED);
	ck_assert_ptr_nonnull(strstr(read_text(err_path), "is not the lock"));
	close(fd);
}
END_TEST

START_TEST(a_state_directory_that_is_open_to_others_is_refused)
{
	mkdir(state, 0755);
	chmod(state, 0755);
	ck_assert_int_eq(wait_exit(run(NULL, NULL)), DAEMON_BAD_CONFIG);
	ck_assert_ptr_nonnull(strstr(read_text(err_path), state));
	ck_assert_int_eq(wait_exit(run("--check-config", NULL)), DAEMON_BAD_CONFIG);
	chmod(state, 0700);
}
END_TEST

/* A start, a check and a reload find it; a key of another program is that one's business. */
START_TEST(a_key_that_others_may_read_is_refused)
{
	char site[100], other[100], key[120], foreign[120], want[200];
	pid_t pid = run(NULL, NULL);

	ck_assert_str_eq(next_notice(), "READY=1");
	snprintf(site, sizeof(site), "%s/testd-east", state);
	snprintf(other, sizeof(other), "%s/testdx", state);
	snprintf(key, sizeof(key), "%s/key.pem", site);
	snprintf(foreign, sizeof(foreign), "%s/key.pem", other);
	mkdir(site, 0700);
	mkdir(other, 0700);
	close(open(foreign, O_WRONLY | O_CREAT, 0600));
	chmod(foreign, 0644);
	close(open(key, O_WRONLY | O_CREAT, 0600));
	ck_assert_int_eq(wait_exit(run("--check-config", NULL)), DAEMON_OK);
	chmod(key, 0644);
	snprintf(want, sizeof(want), "%s:1: mode 0644 lets others at the key: chmod 600", key);
	kill(pid, SIGHUP);
	ck_assert(has_soon(err_path, "reload refused"));
	ck_assert_ptr_nonnull(strstr(read_text(err_path), want));
	kill(pid, SIGTERM);
	ck_assert_int_eq(wait_exit(pid), 0);
	ck_assert_int_eq(wait_exit(run("--check-config", NULL)), DAEMON_BAD_CONFIG);
	ck_assert_ptr_nonnull(strstr(read_text(err_path), want));
	ck_assert_int_eq(wait_exit(run(NULL, NULL)), DAEMON_BAD_CONFIG);
	ck_assert_ptr_nonnull(strstr(read_text(err_path), want));
	unlink(key);
	unlink(foreign);
	rmdir(site);
	rmdir(other);
}
END_TEST

START_TEST(each_value_is_printed_with_its_origin_and_each_key_with_its_meaning)
{
	char want[200];

	setenv("OMIG_FAIL", "4", 1);
	ck_assert_int_eq(wait_exit(run("--print-config", "--stubborn")), DAEMON_OK);
	snprintf(want, sizeof(want), "word = first\t%s:1\n", conf);
	ck_assert_ptr_nonnull(strstr(read_text(out_path), want));
	ck_assert_ptr_nonnull(strstr(read_text(out_path), "fail = 4\tenvironment OMIG_FAIL\n"));
	ck_assert_ptr_nonnull(strstr(read_text(out_path), "stubborn = yes\toption --stubborn\n"));
	ck_assert_ptr_nonnull(strstr(read_text(out_path), "log-level = notice\tdefault\n"));
	/* An error does not suppress the rest of the output. */
	put_conf("nonsense\n");
	ck_assert_int_eq(wait_exit(run("--example-config", NULL)), DAEMON_OK);
	ck_assert_ptr_nonnull(strstr(read_text(out_path), "\n#word = none\n"));
	ck_assert_ptr_nonnull(strstr(read_text(out_path), "\n#log-level = notice\n"));
	ck_assert_int_eq(wait_exit(run("--print-config", NULL)), DAEMON_BAD_CONFIG);
	unsetenv("OMIG_FAIL");
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		it_says_ready_then_ends_on_sigterm_with_0,
		a_second_signal_ends_a_stubborn_one_at_once,
		a_failed_start_gives_its_exit_code_and_one_line,
		a_bad_configuration_is_exit_78_with_file_and_line,
		a_bad_command_line_is_exit_2,
		help_and_version_go_to_stdout_with_exit_0,
		the_dumped_configuration_can_be_read_again,
		a_second_one_is_refused_with_the_pid_of_the_first,
		a_reload_swaps_all_or_nothing,
		the_command_returns_when_the_background_serves,
		the_background_holds_nothing_of_its_starter,
		an_inherited_lock_is_taken_over_and_another_file_is_not,
		a_state_directory_that_is_open_to_others_is_refused,
		a_key_that_others_may_read_is_refused,
		each_value_is_printed_with_its_origin_and_each_key_with_its_meaning,
	};

	setenv("CK_DEFAULT_TIMEOUT", "60", 0);
	return suite_run_with("daemon", set_up, clean_up, tests, sizeof(tests) / sizeof(tests[0]));
}
