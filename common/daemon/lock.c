/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/file.h"
#include "common/base/str.h"
#include "common/daemon/daemon_internal.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define PID_BYTES 24

/*
 * True if the path still names the locked file, which may have been removed between our open and
 * our lock.
 */
static bool is_still_there(const char *path, int fd)
{
	struct stat a, b;

	return !fstat(fd, &a) && !lstat(path, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

static int notify_owner(const char *path, struct err *e)
{
	struct buf pid = BUF_INIT(PID_BYTES);
	int digits, rc;

	file_read(path, PID_BYTES, 0, &pid, NULL);
	digits = (int)strspn(buf_str(&pid), "0123456789");
	rc = err_set(e, ERR_EXISTS, "one is running already%s%.*s (lock %s)",
		     digits ? ": pid " : "", digits, buf_str(&pid), path);
	buf_done(&pid);
	return rc;
}

bool lock_is_of(const char *path, const char *program)
{
	struct buf text = BUF_INIT(PID_BYTES), name = BUF_INIT(64);
	char comm[48];
	int64_t pid;
	bool ok;

	file_read(path, PID_BYTES, 0, &text, NULL);
	pid = strtoll(buf_str(&text), NULL, 10);
	snprintf(comm, sizeof(comm), "/proc/%lld/comm", (long long)pid);
	ok = pid > 0 && !file_read_at(AT_FDCWD, comm, 64, &name, NULL) &&
	     strcspn(buf_str(&name), "\n") == strlen(program) &&
	     str_has_prefix(buf_str(&name), program);
	buf_done(&text);
	buf_done(&name);
	return ok;
}

static int open_locked(const char *path, int *out, struct err *e)
{
	int rc = file_lock(path, false, out, e);

	return rc == -ERR_AGAIN ? notify_owner(path, e) : rc;
}

static int adopt(const char *path, int fd, int *out, struct err *e)
{
	if (fcntl(fd, F_SETFD, FD_CLOEXEC))
		return err_sys(e, "lock descriptor %d", fd);
	if (!is_still_there(path, fd))
		return err_set(e, ERR_INVALID, "descriptor %d is not the lock %s", fd, path);
	if (flock(fd, LOCK_EX | LOCK_NB))
		return notify_owner(path, e);
	*out = fd;
	return 0;
}

int lock_take(const char *path, int inherited, int *out, struct err *e)
{
	char pid[PID_BYTES];
	int rc, fd = -1;

	if (inherited >= 0)
		rc = adopt(path, inherited, &fd, e);
	else
		rc = open_locked(path, &fd, e);
	if (rc)
		return rc;
	if (!is_still_there(path, fd)) {
		close(fd);
		return err_set(e, ERR_AGAIN, "the lock %s was removed meanwhile", path);
	}
	snprintf(pid, sizeof(pid), "%ld\n", (long)getpid());
	/* Writes before it truncates, so that no reader sees an empty file. */
	if (pwrite(fd, pid, strlen(pid), 0) < 0 || ftruncate(fd, (off_t)strlen(pid))) {
		err_sys(e, "%s", path);
		close(fd);
		return -ERR_SYS;
	}
	*out = fd;
	return 0;
}
