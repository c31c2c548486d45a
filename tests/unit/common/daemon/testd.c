/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/common/daemon/testd.h"

#include "common/net/identity.h"
#include "common/base/file.h"
#include "common/base/str.h"
#include "common/daemon/daemon.h"
#include "common/loop/loop.h"

#include <check.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

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
	struct omis_writer w = OMIS_WRITER(out);

	buf_printf(out, "drawn=%llu\n", (unsigned long long)rng_next(daemon_rng(d)));
	daemon_write_health(d, NULL, &w);
	buf_puts(out, "\n");
	w = (struct omis_writer)OMIS_WRITER(out);
	daemon_write_health(
		d, &(struct identity){ .wall_not_after = clock_wall() + TESTD_CERTIFICATE_NS }, &w);
	buf_puts(out, "\n");
	for (int i = 0; i < 60; i++)
		buf_printf(out, "line=%d word=%s\n", i, v->word);
}

struct testd testd = { .notify_fd = -1 };

const struct daemon_spec testd_spec = { .program = "testd",
					.inherited_fd = &testd.kept_fd,
					.summary = "A daemon for tests.",
					.conf = &schema,
					.start = start,
					.reload = reload,
					.stop = stop,
					.status = status };

/* --- running it */

void testd_put_conf(const char *text)
{
	FILE *f = fopen(testd.conf, "w");

	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	fclose(f);
}

void testd_set_up(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };

	str_copy(testd.dir, sizeof(testd.dir), "/tmp/omig-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(testd.dir));
	snprintf(testd.state, sizeof(testd.state), "%s/state", testd.dir);
	snprintf(testd.conf, sizeof(testd.conf), "%s/testd.conf", testd.dir);
	snprintf(testd.notify, sizeof(testd.notify), "%s/notify", testd.dir);
	snprintf(testd.err, sizeof(testd.err), "%s/err", testd.dir);
	snprintf(testd.out, sizeof(testd.out), "%s/out", testd.dir);
	testd_put_conf("word = first\n");
	testd.notify_fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	str_copy(a.sun_path, sizeof(a.sun_path), testd.notify);
	ck_assert_int_eq(bind(testd.notify_fd, (struct sockaddr *)&a, sizeof(a)), 0);
	setenv("NOTIFY_SOCKET", testd.notify, 1);
}

void testd_clean_up(void)
{
	char host[256] = "", path[600];

	gethostname(host, sizeof(host) - 1);
	snprintf(path, sizeof(path), "%s/testd-%s.log", testd.state, host);
	unlink(path);
	snprintf(path, sizeof(path), "%s/testd.lock", testd.state);
	unlink(path);
	rmdir(testd.state);
	unlink(testd.conf);
	unlink(testd.notify);
	unlink(testd.err);
	unlink(testd.out);
	rmdir(testd.dir);
	close(testd.notify_fd);
}

pid_t testd_run(const char *a, const char *b)
{
	return testd_run_as(&testd_spec, a, b);
}

pid_t testd_run_as(const struct daemon_spec *spec, const char *a, const char *b)
{
	char *argv[] = { (char *)"testd",      (char *)"--config",
			 testd.conf,	       (char *)"--state-dir",
			 testd.state,	       (char *)(uintptr_t)a,
			 (char *)(uintptr_t)b, NULL };
	/* Appending, as one that runs already may still write to the same file. */
	pid_t pid = truncate(testd.err, 0) && errno != ENOENT ? -1 : fork();
	int argc = 5 + !!a + (a && b);

	ck_assert_int_ge(pid, 0);
	if (pid)
		return pid;
	ck_assert_ptr_nonnull(freopen(testd.out, "w", stdout));
	ck_assert_ptr_nonnull(freopen(testd.err, "a", stderr));
	setvbuf(stderr, NULL, _IONBF, 0);
	argc = daemon_main(spec, argc, argv);
	prctl(PR_SET_DUMPABLE, 1); /* for the search for leaks */
	exit(argc);
}

int testd_wait_exit(pid_t pid)
{
	int how = -1;

	while (waitpid(pid, &how, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(how) ? WEXITSTATUS(how) : 1000 + how;
}

const char *testd_next_notice(void)
{
	static char text[200];
	struct pollfd p = { testd.notify_fd, POLLIN, 0 };
	ssize_t n = poll(&p, 1, TESTD_PATIENCE_MS) > 0
			    ? recv(testd.notify_fd, text, sizeof(text) - 1, 0)
			    : 0;

	text[n > 0 ? n : 0] = 0;
	return text;
}

const char *testd_read_text(const char *path)
{
	static struct buf b;

	buf_done(&b);
	buf_init(&b, 1 << 20);
	file_read(path, 1 << 20, 0, &b, NULL);
	return buf_str(&b);
}

bool testd_has_soon(const char *path, const char *word)
{
	for (int i = 0; i < TESTD_PATIENCE_MS / 10; i++) {
		if (strstr(testd_read_text(path), word))
			return true;
		poll(NULL, 0, 10);
	}
	return false;
}

pid_t testd_background_pid(void)
{
	char path[100];
	int64_t pid = 0;
	char digits[24];

	snprintf(path, sizeof(path), "%s/testd.lock", testd.state);
	str_copy(digits, sizeof(digits), testd_read_text(path));
	digits[strcspn(digits, "\n")] = 0;
	ck_assert_int_eq(str_to_i64(digits, 2, INT32_MAX, &pid), 0);
	return (pid_t)pid;
}
