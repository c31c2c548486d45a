/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/selftest/selftest_keeper.h"

#include "common/base/buf.h"
#include "common/base/file.h"
#include "common/base/str.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ENVIRON_MAX_BYTES (2u << 20)
#define TMP_MAX_CHARS 48 /* a socket's path in the directory must fit into 108 bytes */
#define SWEEPS_MAX 100
#define SWEEP_US 50000

static bool has_environ(const char *pid, const char *want)
{
	struct buf b = BUF_INIT(ENVIRON_MAX_BYTES);
	char path[64];
	bool found = false;

	snprintf(path, sizeof(path), "/proc/%.20s/environ", pid);
	if (!file_read_at(AT_FDCWD, path, ENVIRON_MAX_BYTES, &b, NULL) && !buf_putc(&b, 0))
		for (const char *at = buf_str(&b); !found && at < (const char *)b.p + b.n;
		     at += strlen(at) + 1)
			found = str_eq(at, want);
	buf_done(&b);
	return found;
}

bool selftest_keeper_has(const char *dir, bool is_killing)
{
	char want[FILE_PATH_BYTES + 32];
	DIR *proc = opendir("/proc");
	struct dirent *d;
	bool found = false;

	snprintf(want, sizeof(want), "OMIG_STATE_DIR=%s/state", dir);
	while (proc && (d = readdir(proc))) {
		if (strspn(d->d_name, "0123456789") != strlen(d->d_name) ||
		    !has_environ(d->d_name, want))
			continue;
		found = true;
		if (is_killing)
			kill((pid_t)strtol(d->d_name, NULL, 10), SIGKILL);
	}
	if (proc)
		closedir(proc);
	return found;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	remove(path);
	return 0;
}

/* A process that is just being started is found by the next sweep. */
static void clean(const char *dir)
{
	for (int i = 0, quiet = 0; i < SWEEPS_MAX && quiet < 2; i++) {
		quiet = selftest_keeper_has(dir, true) ? 0 : quiet + 1;
		usleep(SWEEP_US);
	}
	nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* Runs without the terminal, its signals and our output. */
__attribute__((noreturn)) static void guard(const char *dir, int fd)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	char c;
	ssize_t n;

	setsid();
	for (int s = 1; s < NSIG; s++)
		if (s != SIGCHLD)
			sigaction(s, &ignore, NULL);
	for (int i = 0; i < 3; i++)
		dup2(null, i);
	do
		n = read(fd, &c, 1);
	while (n > 0 || (n < 0 && errno == EINTR));
	clean(dir);
	_exit(0);
}

static int make_folder(char *dir, size_t size, struct err *e)
{
	const char *tmp = getenv("TMPDIR");
	int n;

	if (!tmp || tmp[0] != '/' || strlen(tmp) > TMP_MAX_CHARS || strpbrk(tmp, "\"\\"))
		tmp = "/tmp";
	n = snprintf(dir, size, "%s/omig-selftest-XXXXXX", tmp);
	if (n < 0 || (size_t)n >= size)
		return err_set(e, ERR_LIMIT, "TMPDIR is too long");
	return mkdtemp(dir) ? 0 : err_sys(e, "%s", dir);
}

int selftest_keeper_start(char *dir, size_t size, int *fd, pid_t *pid, struct err *e)
{
	int p[2], rc = make_folder(dir, size, e);

	if (rc)
		return rc;
	if (pipe2(p, O_CLOEXEC) < 0) {
		rmdir(dir);
		return err_sys(e, "pipe");
	}
	*pid = fork();
	if (*pid == 0) {
		close(p[1]);
		guard(dir, p[0]);
	}
	close(p[0]);
	if (*pid < 0) {
		rc = err_sys(e, "fork");
		close(p[1]);
		rmdir(dir);
		return rc;
	}
	*fd = p[1];
	return 0;
}

void selftest_keeper_end(int fd, pid_t pid)
{
	close(fd);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		continue;
}
