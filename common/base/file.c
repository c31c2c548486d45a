/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/file.h"

#include "common/base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define READ_STEP 4096

int file_join(char *out, size_t size, const char *a, const char *b, struct err *e)
{
	int n = snprintf(out, size, "%s/%s", a, b);

	if (n < 0 || (size_t)n >= size)
		return err_set(e, ERR_LIMIT, "path is too long: %.60s/%.60s", a, b);
	return 0;
}

/*
 * Converts errno of a failed open to the most specific code. ESRCH: a process has ended while /proc
 * was read.
 */
static int open_failed(const char *path, struct err *e)
{
	switch (errno) {
	case ENOENT:
	case ENOTDIR:
	case ESRCH:
		return err_set(e, ERR_NOTFOUND, "%s: not there", path);
	case EACCES:
	case EPERM:
		return err_set(e, ERR_DENIED, "%s: permission denied", path);
	case ELOOP:
		return err_set(e, ERR_DENIED, "%s: is a symbolic link", path);
	default:
		return err_sys(e, "%s", path);
	}
}

static int check_kind(const char *path, const struct stat *st, unsigned flags, struct err *e)
{
	uid_t me = geteuid();

	if (!S_ISREG(st->st_mode))
		return err_set(e, ERR_DENIED, "%s: not a regular file", path);
	if ((flags & FILE_SECRET) && st->st_uid != me)
		return err_set(e, ERR_DENIED, "%s: belongs to uid %u, not to this user", path,
			       st->st_uid);
	if ((flags & FILE_SECRET) && (st->st_mode & 077))
		return err_set(e, ERR_DENIED, "%s: mode %04o lets others in: close it by chmod 600",
			       path, st->st_mode & 07777u);
	if ((flags & FILE_OWNED) && st->st_uid != me && st->st_uid != 0)
		return err_set(e, ERR_DENIED, "%s: belongs to uid %u, not to this user or root",
			       path, st->st_uid);
	if ((flags & FILE_OWNED) && (st->st_mode & 022))
		return err_set(e, ERR_DENIED, "%s: mode %04o lets others write: chmod go-w it",
			       path, st->st_mode & 07777u);
	return 0;
}

/* Reads once into the free room of the buffer. If there is none, tests for the end of the file. */
static ssize_t read_some(int fd, struct buf *out)
{
	size_t room = out->max - out->n < READ_STEP ? out->max - out->n : READ_STEP;
	uint8_t probe, *to = &probe;
	ssize_t n;

	if (room) {
		if (buf_reserve(out, room)) {
			errno = ENOMEM;
			return -1;
		}
		to = out->p + out->n;
	}
	do {
		n = read(fd, to, room ? room : 1);
	} while (n < 0 && errno == EINTR);
	return n;
}

/* Reads up to the end of the file, at most max bytes. */
static int read_all(int fd, const char *path, size_t max, struct buf *out, struct err *e)
{
	size_t total = 0;

	for (;;) {
		ssize_t n = read_some(fd, out);

		if (n < 0 && errno == ENOMEM)
			return err_nomem(e);
		if (n < 0)
			return errno == ESRCH ? open_failed(path, e) : err_sys(e, "%s", path);
		if (n == 0)
			return 0;
		total += (size_t)n;
		if (total > max || (size_t)n > out->max - out->n)
			return err_set(e, ERR_LIMIT, "%s: larger than %zu bytes", path, max);
		out->n += (size_t)n;
		out->p[out->n] = 0;
	}
}

/* Reads like read_all(), but leaves *out unchanged on failure. */
static int read_or_undo(int fd, const char *path, size_t max, struct buf *out, struct err *e)
{
	struct buf before = *out;
	int rc = read_all(fd, path, max, out, e);

	if (rc) {
		out->n = before.n;
		out->failed = before.failed;
		if (out->p)
			out->p[out->n] = 0;
	}
	return rc;
}

int file_read(const char *path, size_t max, unsigned flags, struct buf *out, struct err *e)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	int rc;

	if (fd < 0)
		return open_failed(path, e);
	if (fstat(fd, &st))
		rc = err_sys(e, "%s", path);
	else
		rc = check_kind(path, &st, flags, e);
	if (!rc)
		rc = read_or_undo(fd, path, max, out, e);
	close(fd);
	return rc;
}

int file_read_at(int dir, const char *path, size_t max, struct buf *out, struct err *e)
{
	int fd = openat(dir, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	int rc;

	if (fd < 0)
		return open_failed(path, e);
	rc = read_or_undo(fd, path, max, out, e);
	close(fd);
	return rc;
}

static int write_all(int fd, const uint8_t *p, size_t n)
{
	while (n) {
		ssize_t put = write(fd, p, n);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return -ERR_SYS;
		p += put;
		n -= (size_t)put;
	}
	return 0;
}

/* A rename survives a power loss only when the directory is on the disk, too. */
int file_sync_name(const char *path)
{
	char dir[FILE_PATH_BYTES];
	const char *slash = strrchr(path, '/');
	int fd, rc;

	snprintf(dir, sizeof(dir), "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -ERR_SYS;
	rc = fsync(fd) ? -ERR_SYS : 0;
	close(fd);
	return rc;
}

/* Restores the owner's rights: the umask of a user may remove rights that the next start needs. */
static void keep_owner(int fd)
{
	struct stat st;

	if (!fstat(fd, &st) && (st.st_mode & FILE_MODE) != FILE_MODE && st.st_uid == geteuid())
		fchmod(fd, FILE_MODE);
}

/* Returns a descriptor, or -code. */
static int make_temp(const char *path, char temp[FILE_PATH_BYTES], struct err *e)
{
	int fd;

	if ((size_t)snprintf(temp, FILE_PATH_BYTES, "%s.XXXXXX", path) >= FILE_PATH_BYTES)
		return err_set(e, ERR_LIMIT, "path is too long: %.100s", path);
	fd = mkostemp(temp, O_CLOEXEC);
	if (fd < 0)
		return err_sys(e, "%s", path);
	keep_owner(fd);
	return fd;
}

int file_check_writable(const char *path, struct err *e)
{
	char temp[FILE_PATH_BYTES];
	struct stat st;
	int fd;

	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		return err_set(e, ERR_SYS, "%s: is a directory", path);
	fd = make_temp(path, temp, e);
	if (fd < 0)
		return fd;
	close(fd);
	unlink(temp);
	return 0;
}

int file_write_atomic(const char *path, const void *p, size_t n, struct err *e)
{
	char temp[FILE_PATH_BYTES];
	int fd = make_temp(path, temp, e), rc;

	if (fd < 0)
		return fd;
	rc = write_all(fd, p, n);
	if (!rc && fsync(fd))
		rc = -ERR_SYS;
	if (rc)
		err_sys(e, "%s", temp);
	if (close(fd) && !rc)
		rc = err_sys(e, "%s", temp);
	if (!rc && rename(temp, path))
		rc = err_sys(e, "%s", path);
	if (rc)
		unlink(temp);
	else if (file_sync_name(path))
		rc = err_sys(e, "%s: its directory", path);
	return rc;
}

/* Reports a failed lock. File systems of clusters may have no locks, or no server of locks. */
static int lock_failed(const char *path, struct err *e)
{
	switch (errno) {
	case EWOULDBLOCK:
		return err_set(e, ERR_AGAIN, "%s is held by another process", path);
	case ENOSYS:
	case EOPNOTSUPP:
	case ENOLCK:
		return err_set(e, ERR_UNSUPPORTED, "lock %s: its file system has no locks", path);
	default:
		return err_sys(e, "lock %s", path);
	}
}

int file_lock(const char *path, bool is_shared, int *out, struct err *e)
{
	int how = (is_shared ? O_RDONLY : O_RDWR | O_CREAT) | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY |
		  O_NONBLOCK;
	int fd = open(path, how, FILE_MODE), rc;

	if (fd < 0)
		return open_failed(path, e);
	if (!is_shared)
		keep_owner(fd);
	if (!flock(fd, (is_shared ? LOCK_SH : LOCK_EX) | LOCK_NB)) {
		*out = fd;
		return 0;
	}
	rc = lock_failed(path, e);
	close(fd);
	return rc;
}

int file_remove(const char *path, struct err *e)
{
	if (unlink(path) && errno != ENOENT)
		return err_sys(e, "%s", path);
	return 0;
}
