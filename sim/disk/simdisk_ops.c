/* SPDX-License-Identifier: Apache-2.0 */
/* The operations of a simulated disk, on a real folder. */
#include "common/base/file.h"
#include "common/base/str.h"
#include "sim/disk/simdisk_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static int or_errno(int got)
{
	return got < 0 ? -errno : got;
}

static struct simdisk *path_of(const void *arg, const char *name, char out[FILE_PATH_BYTES])
{
	const struct place *at = arg;

	if (!at->folder)
		str_copy(out, FILE_PATH_BYTES, name);
	else
		file_join(out, FILE_PATH_BYTES, at->folder, name, NULL);
	return at->of;
}

static struct simdisk *disk_of(const void *arg)
{
	return ((const struct place *)arg)->of;
}

static bool is_there(const char *path)
{
	struct stat st;

	return !lstat(path, &st);
}

static int make(struct simdisk *d, const char *path, int flags)
{
	if (simdisk_refuses_change(d))
		return -errno;
	simdisk_will_move(d, path);
	return or_errno(open(path, O_RDWR | O_CREAT | O_CLOEXEC | flags, 0600));
}

static int do_create(void *arg, const char *name)
{
	char path[FILE_PATH_BYTES];
	struct simdisk *d = path_of(arg, name, path);

	return is_there(path) ? -EEXIST : make(d, path, O_EXCL);
}

static int do_open(void *arg, const char *name)
{
	char path[FILE_PATH_BYTES];
	struct simdisk *d = path_of(arg, name, path);

	return simdisk_fails(d) ? -errno : or_errno(open(path, O_RDWR | O_CLOEXEC));
}

static ssize_t do_read(void *arg, int fd, void *p, size_t n, uint64_t at)
{
	ssize_t got = simdisk_fails(disk_of(arg)) ? -1 : pread(fd, p, n, (off_t)at);

	return got < 0 ? -errno : got;
}

static ssize_t do_write(void *arg, int fd, const void *p, size_t n, uint64_t at)
{
	struct simdisk *d = disk_of(arg);
	struct stat st;
	bool is_reported;
	size_t some;
	ssize_t put = 0;
	int why;

	if (fstat(fd, &st))
		return -errno;
	simdisk_will_write(d, &st);
	some = simdisk_admits(d, at, (uint64_t)st.st_size, n, &is_reported);
	why = errno;
	if (some)
		put = pwrite(fd, p, some, (off_t)at);
	return !is_reported ? -why : put < 0 ? -errno : put;
}

static int64_t do_size(void *arg, int fd)
{
	struct stat st;

	return fstat(fd, &st) ? -errno : st.st_size;
}

static int do_cut(void *arg, int fd, uint64_t n)
{
	struct stat st;

	if (fstat(fd, &st) || simdisk_refuses_change(disk_of(arg)))
		return -errno;
	simdisk_will_cut(disk_of(arg), &st, n);
	return or_errno(ftruncate(fd, (off_t)n));
}

/* Does nothing: no real disk is involved. */
static int do_sync(void *arg, int fd)
{
	struct stat st;
	bool is_ok;

	if (fstat(fd, &st))
		return -errno;
	is_ok = !simdisk_refuses_change(disk_of(arg));
	simdisk_synced(disk_of(arg), &st, is_ok);
	return is_ok ? 0 : -errno;
}

static void do_close(void *arg, int fd)
{
	close(fd);
}

static int do_rename(void *arg, const char *from, const char *to)
{
	char was[FILE_PATH_BYTES], is[FILE_PATH_BYTES];
	struct simdisk *d = path_of(arg, from, was);

	path_of(arg, to, is);
	if (!is_there(was))
		return -ENOENT;
	if (simdisk_refuses_change(d))
		return -errno;
	simdisk_will_move(d, was);
	simdisk_will_end(d, is);
	if (rename(was, is))
		return -errno;
	simdisk_is_gone(d, was);
	return 0;
}

/*
 * The removal of a synced folder takes effect at once, and no power cut restores it: no code
 * depends on that.
 */
static int do_remove(void *arg, const char *name)
{
	char path[FILE_PATH_BYTES];
	struct simdisk *d = path_of(arg, name, path);
	struct stat st;

	if (lstat(path, &st))
		return -errno;
	if (simdisk_refuses_change(d))
		return -errno;
	if (S_ISDIR(st.st_mode))
		return or_errno(rmdir(path));
	simdisk_will_end(d, path);
	if (unlink(path))
		return -errno;
	simdisk_is_gone(d, path);
	return 0;
}

static int do_sync_names(void *arg, const char *name)
{
	char path[FILE_PATH_BYTES], *slash;
	struct simdisk *d = path_of(arg, name, path);

	if (simdisk_refuses_change(d))
		return -errno;
	slash = strrchr(path, '/');
	if (slash)
		*slash = 0;
	simdisk_names_synced(d, path);
	return 0;
}

static int do_list(void *arg, const char *folder, void (*each)(void *arg, const char *name),
		   void *each_arg)
{
	char path[FILE_PATH_BYTES];

	path_of(arg, folder, path);
	return disk_system.list(disk_system.arg, path, each, each_arg);
}

static int do_map(void *arg, int fd, size_t n, void **out)
{
	struct simdisk *d = disk_of(arg);
	struct stat st;

	if (fstat(fd, &st) || simdisk_refuses_change(d))
		return -errno;
	if (simdisk_state(d) == SIMDISK_FULL && st.st_size < (off_t)n)
		return -ENOSPC;
	simdisk_will_map(d, &st);
	return disk_system.map(disk_system.arg, fd, n, out);
}

/* Makes a folder and syncs it at once, or does neither. */
static int do_make_folder(void *arg, const char *path, struct err *e)
{
	struct simdisk *d = disk_of(arg);
	bool is_new = !is_there(path);

	if (is_new && simdisk_refuses_change(d))
		return err_sys(e, "%s", path);
	errno = ENOSPC;
	if (is_new && simdisk_state(d) == SIMDISK_FULL)
		return err_sys(e, "%s", path);
	return file_private_dir(path, e);
}

static int lock_folder(struct place *p, struct err *e)
{
	char path[FILE_PATH_BYTES];

	path_of(p, "lock", path);
	p->lock = is_there(path) ? or_errno(open(path, O_RDWR | O_CLOEXEC)) : make(p->of, path, 0);
	if (p->lock >= 0 && !flock(p->lock, LOCK_EX | LOCK_NB))
		return 0;
	errno = p->lock < 0 ? -p->lock : errno;
	return err_sys(e, "%s", path);
}

static void do_leave(void *arg)
{
	struct place *p = arg;

	if (p->lock >= 0)
		close(p->lock);
	free(p->folder);
	free(p);
}

static int do_enter(void *arg, const char *path, struct disk *out, struct err *e)
{
	struct place *p = calloc(1, sizeof(*p));
	int rc;

	if (!p)
		return err_nomem(e);
	*p = (struct place){ disk_of(arg), str_dup(path), -1 };
	rc = p->folder ? do_make_folder(arg, path, e) : err_nomem(e);
	rc = rc ? rc : lock_folder(p, e);
	if (rc) {
		do_leave(p);
		return rc;
	}
	*out = *simdisk_disk(p->of);
	out->arg = p;
	out->leave = do_leave;
	return 0;
}

const struct disk *simdisk_disk(const struct simdisk *d)
{
	struct simdisk_face *face = simdisk_face(d);

	face->ops = (struct disk){ .arg = &face->whole,
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
	return &face->ops;
}
