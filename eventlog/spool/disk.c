/* SPDX-License-Identifier: Apache-2.0 */
#include "eventlog/spool/disk.h"

#include "common/base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define FLAGS (O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK)

struct folder {
	int dir, lock;
};

static int or_errno(int got)
{
	return got < 0 ? -errno : got;
}

static int do_create(void *arg, const char *name)
{
	const struct folder *f = arg;

	return or_errno(openat(f->dir, name, FLAGS | O_CREAT | O_EXCL, 0600));
}

static int do_open(void *arg, const char *name)
{
	const struct folder *f = arg;
	int fd = openat(f->dir, name, FLAGS);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_uid == geteuid())
		return fd;
	close(fd);
	return -EPERM;
}

static ssize_t do_read(void *arg, int fd, void *p, size_t n, uint64_t at)
{
	ssize_t got;

	do {
		got = pread(fd, p, n, (off_t)at);
	} while (got < 0 && errno == EINTR);
	return got < 0 ? -errno : got;
}

static ssize_t do_write(void *arg, int fd, const void *p, size_t n, uint64_t at)
{
	ssize_t put;

	do {
		put = pwrite(fd, p, n, (off_t)at);
	} while (put < 0 && errno == EINTR);
	return put < 0 ? -errno : put;
}

static int64_t do_size(void *arg, int fd)
{
	struct stat st;

	return fstat(fd, &st) ? -errno : st.st_size;
}

static int do_cut(void *arg, int fd, uint64_t n)
{
	return or_errno(ftruncate(fd, (off_t)n));
}

static int do_sync(void *arg, int fd)
{
	return or_errno(fdatasync(fd));
}

static void do_close(void *arg, int fd)
{
	close(fd);
}

static int do_rename(void *arg, const char *from, const char *to)
{
	const struct folder *f = arg;

	return or_errno(renameat(f->dir, from, f->dir, to));
}

static int do_remove(void *arg, const char *name)
{
	const struct folder *f = arg;

	return or_errno(unlinkat(f->dir, name, 0));
}

static int do_sync_names(void *arg)
{
	const struct folder *f = arg;

	return or_errno(fsync(f->dir));
}

static int do_list(void *arg, void (*each)(void *arg, const char *name), void *each_arg)
{
	const struct folder *f = arg;
	int fd = openat(f->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	int rc;

	if (!d) {
		rc = -errno;
		if (fd >= 0)
			close(fd);
		return rc;
	}
	errno = 0;
	for (struct dirent *i = readdir(d); i; i = readdir(d))
		each(each_arg, i->d_name);
	rc = -errno;
	closedir(d);
	return rc;
}

static int take(struct folder *f, const char *path, struct err *e)
{
	int rc = file_private_dir(path, e);

	if (rc)
		return rc;
	f->dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (f->dir < 0)
		return err_sys(e, "%s", path);
	f->lock = openat(f->dir, "lock", FLAGS | O_CREAT, 0600);
	if (f->lock < 0)
		return err_sys(e, "%s/lock", path);
	if (!flock(f->lock, LOCK_EX | LOCK_NB))
		return 0;
	if (errno == EWOULDBLOCK)
		return err_set(e, ERR_EXISTS, "another process has the folder %s", path);
	return err_sys(e, "%s/lock", path);
}

static void drop(struct folder *f)
{
	if (f->lock >= 0)
		close(f->lock);
	if (f->dir >= 0)
		close(f->dir);
	free(f);
}

int disk_open(const char *path, struct disk *out, struct err *e)
{
	struct folder *f = calloc(1, sizeof(*f));
	int rc;

	if (!f)
		return err_nomem(e);
	f->dir = f->lock = -1;
	rc = take(f, path, e);
	if (rc) {
		drop(f);
		return rc;
	}
	*out = (struct disk){ f,	 do_create,	do_open, do_read,  do_write,
			      do_size,	 do_cut,	do_sync, do_close, do_rename,
			      do_remove, do_sync_names, do_list };
	return 0;
}

void disk_close(struct disk *d)
{
	if (d->arg)
		drop(d->arg);
	d->arg = NULL;
}
