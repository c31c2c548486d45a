/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A daemon of the test's own as a process: its main program runs in a child, with a folder for
 * its state, and with its output in files. The child ends by exit(), so that leaks are noticed.
 */
#ifndef TESTS_PROCESS_H
#define TESTS_PROCESS_H

#include "common/base/array.h"
#include "common/base/buf.h"
#include "common/base/file.h"
#include "common/base/str.h"
#include "common/daemon/daemon.h"
#include "common/link/connstr.h"
#include "tests/suite.h"

#include <errno.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROCESS_PATIENCE_MS 20000 /* for what takes a moment; not a measure of anything */
#define PROCESS_OPTIONS_MAX 16

struct process_files {
	char dir[64], state[80], conf[80], out[80], err[80];
	const char *in; /* standard input; NULL: as the test */
};
static struct process_files process_files;

static inline void process_put(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	fclose(f);
}

static inline void process_set_up(void)
{
	struct process_files *f = &process_files;

	str_copy(f->dir, sizeof(f->dir), "/tmp/omig-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(f->dir));
	snprintf(f->state, sizeof(f->state), "%s/state", f->dir);
	snprintf(f->conf, sizeof(f->conf), "%s/conf", f->dir);
	snprintf(f->out, sizeof(f->out), "%s/out", f->dir);
	snprintf(f->err, sizeof(f->err), "%s/err", f->dir);
	f->in = NULL;
	process_put(f->conf, "");
	unsetenv("NOTIFY_SOCKET");
}

static inline int process_unlink(const char *path, const struct stat *s, int what, struct FTW *at)
{
	return remove(path);
}

static inline void process_clean_up(void)
{
	ck_assert_int_eq(nftw(process_files.dir, process_unlink, 16, FTW_DEPTH | FTW_PHYS), 0);
}

static inline const char *process_says(const char *path, const char *word);
static inline const char *process_text(const char *path);

/* options: NULL-terminated, beside --config, --state-dir and --foreground. */
static inline pid_t process_start(const struct daemon_spec *spec, const char *const *options)
{
	const char *argv[PROCESS_OPTIONS_MAX + 7] = {
		spec->program, "--config",	    process_files.conf,
		"--state-dir", process_files.state, "--foreground",
	};
	int argc = 6;
	pid_t pid;

	while (*options && argc < (int)ARRAY_LEN(argv) - 1)
		argv[argc++] = *options++;
	process_put(process_files.out, "");
	process_put(process_files.err, "");
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid)
		return pid;
	if (!freopen(process_files.out, "a", stdout) || !freopen(process_files.err, "a", stderr))
		_exit(DAEMON_FAILED);
	if (process_files.in && !freopen(process_files.in, "r", stdin))
		_exit(DAEMON_FAILED);
	setvbuf(stdout, NULL, _IOLBF, 0);
	argc = daemon_main(spec, argc, (char **)(uintptr_t)argv);
	prctl(PR_SET_DUMPABLE, 1); /* for the search for leaks, in one that hides its memory */
	exit(argc);
}

/*
 * Starts a mainsm, from the built program, with a separate state directory. Its connection string
 * is valid until the next call.
 */
static inline pid_t process_top(const char *top, const char **conn)
{
	static char line[CONNSTR_MAX_BYTES];
	char program[FILE_PATH_BYTES], state[FILE_PATH_BYTES], out[FILE_PATH_BYTES];
	pid_t pid;

	ck_assert_int_eq(file_beside_program(program, top, NULL), 0);
	snprintf(state, sizeof(state), "%s/top", process_files.dir);
	snprintf(out, sizeof(out), "%s/top.out", process_files.dir);
	process_put(out, "");
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		if (freopen(out, "a", stdout))
			execl(program, "mainsm", "--config", process_files.conf, "--state-dir",
			      state, "--foreground", "--launcher", "none", (char *)NULL);
		_exit(127);
	}
	ck_assert_ptr_nonnull(process_says(out, "\n"));
	str_copy(line, sizeof(line), process_text(out));
	line[strcspn(line, "\n")] = 0;
	*conn = line;
	return pid;
}

/* The same without the part that lets a daemon enrol. */
static inline void process_no_token(const char *conn, char out[CONNSTR_MAX_BYTES])
{
	struct connstr c;
	struct buf b = BUF_INIT(CONNSTR_MAX_BYTES);

	ck_assert_int_eq(connstr_parse(conn, &c, NULL), 0);
	ck_assert_int_eq(connstr_print(&c, false, &b), 0);
	str_copy(out, CONNSTR_MAX_BYTES, buf_str(&b));
	buf_done(&b);
}

/* The exit status; of one that died by a signal 1000 and more. Kills one that does not end. */
static inline int process_wait(pid_t pid)
{
	int how = -1;

	for (int i = 0; i < PROCESS_PATIENCE_MS / 10; i++) {
		if (waitpid(pid, &how, WNOHANG) == pid)
			return WIFEXITED(how) ? WEXITSTATUS(how) : 1000 + how;
		poll(NULL, 0, 10);
	}
	kill(pid, SIGKILL);
	waitpid(pid, &how, 0);
	return -1;
}

static inline int process_end(pid_t pid)
{
	kill(pid, SIGTERM);
	return process_wait(pid);
}

/* Valid until the next call. */
static inline const char *process_text(const char *path)
{
	static char text[1 << 16];
	FILE *f = fopen(path, "r");
	size_t n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;

	if (f)
		fclose(f);
	text[n] = 0;
	return text;
}

/* Polls until the file has the word. Returns the contents, or NULL. */
static inline const char *process_says(const char *path, const char *word)
{
	for (int i = 0; i < PROCESS_PATIENCE_MS / 10; i++) {
		if (strstr(process_text(path), word))
			return process_text(path);
		poll(NULL, 0, 10);
	}
	return NULL;
}

#endif
