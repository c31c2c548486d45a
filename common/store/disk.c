/* SPDX-License-Identifier: Apache-2.0 */
#include "common/store/disk.h"

#include "common/base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
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
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_uid == geteuid() && !(st.st_mode & 077))
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
	int rc = or_errno(unlinkat(f->dir, name, 0));

	return rc == -EISDIR ? or_errno(unlinkat(f->dir, name, AT_REMOVEDIR)) : rc;
}

static int open_folder(const struct folder *f, const char *name)
{
	return or_errno(openat(f->dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

static int do_sync_names(void *arg, const char *name)
{
	char folder[FILE_PATH_BYTES];
	const char *slash = strrchr(name, '/');
	int fd, rc;

	snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - name) + 1 : 1,
		 slash ? name : ".");
	fd = open_folder(arg, folder);
	if (fd < 0)
		return fd;
	rc = or_errno(fsync(fd));
	close(fd);
	return rc;
}

static int do_list(void *arg, const char *folder, void (*each)(void *arg, const char *name),
		   void *each_arg)
{
	int fd = open_folder(arg, folder), rc;
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (!d) {
		rc = fd < 0 ? fd : -errno;
		if (fd >= 0)
			close(fd);
		return rc;
	}
	errno = 0;
	for (struct dirent *i = readdir(d); i; i = readdir(d)) {
		each(each_arg, i->d_name);
		errno = 0;
	}
	rc = -errno;
	closedir(d);
	return rc;
}

/* Allocates space: on a full disk, a store into the mapping would otherwise end the process. */
static int do_map(void *arg, int fd, size_t n, void **out)
{
	int rc = -posix_fallocate(fd, 0, (off_t)n);
	void *p;

	if (!rc)
		rc = or_errno(ftruncate(fd, (off_t)n));
	if (rc)
		return rc;
	p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return -errno;
	*out = p;
	return 0;
}

static int do_make_folder(void *arg, const char *path, struct err *e)
{
	return file_private_dir(path, e);
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

static void do_leave(void *arg)
{
	struct folder *f = arg;

	if (f->lock >= 0)
		close(f->lock);
	if (f->dir >= 0)
		close(f->dir);
	free(f);
}

static int do_enter(void *arg, const char *path, struct disk *out, struct err *e)
{
	struct folder *f = calloc(1, sizeof(*f));
	int rc;

	if (!f)
		return err_nomem(e);
	f->dir = f->lock = -1;
	rc = take(f, path, e);
	if (rc) {
		do_leave(f);
		return rc;
	}
	*out = disk_system;
	out->arg = f;
	out->leave = do_leave;
	return 0;
}

/* Names are paths. */
static const struct folder everywhere = { AT_FDCWD, -1 };

const struct disk disk_system = { .arg = (void *)&everywhere,
				  .create = do_create,
				  .open = do_open,
				  .read_at = do_read,
				  .write_at = do_write,
				  .size = do_size,
				  .cut = do_cut,
				  .sync = do_sync,
				  .close = do_close,
				  .rename = do_rename,
				  .remove = do_remove,
				  .sync_names = do_sync_names,
				  .list = do_list,
				  .map = do_map,
				  .make_folder = do_make_folder,
				  .enter = do_enter };

const struct disk *disk_or_system(const struct disk *d)
{
	return d ? d : &disk_system;
}

int disk_enter(const struct disk *on, const char *path, struct disk *out, struct err *e)
{
	on = disk_or_system(on);
	return on->enter(on->arg, path, out, e);
}

void disk_leave(struct disk *d)
{
	if (d->leave)
		d->leave(d->arg);
	*d = (struct disk){ 0 };
}

int disk_fail(const char *name, int rc, struct err *e)
{
	if (rc == -ENOENT)
		return err_set(e, ERR_NOTFOUND, "%.100s: not there", name);
	if (rc == -EPERM || rc == -EACCES || rc == -ELOOP)
		return err_set(e, ERR_DENIED,
			       "%.100s: not a file of ours alone: remove it, or chmod 600 it",
			       name);
	errno = -rc;
	return err_sys(e, "%.100s", name);
}

int disk_write_all(const struct disk *d, int fd, const void *p, size_t n, uint64_t at)
{
	for (size_t done = 0; done < n;) {
		ssize_t put =
			d->write_at(d->arg, fd, (const uint8_t *)p + done, n - done, at + done);

		if (put <= 0)
			return put ? (int)put : -ENOSPC;
		done += (size_t)put;
	}
	return 0;
}
