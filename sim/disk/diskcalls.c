/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What real code does to files of simulated disks: the calls of the system that common/base/file.c
 * and the daemons use for what they keep, linked with --wrap (module.mk). Files elsewhere are the
 * system's.
 */
#include "common/base/array.h"
#include "common/base/str.h"
#include "sim/disk/simdisk_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MADE_UP 6 /* X's of a temporary name */

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __real_mkostemp(char *path, int flags);
int __wrap_mkostemp(char *path, int flags);
int __real_close(int fd);
int __wrap_close(int fd);
ssize_t __real_read(int fd, void *p, size_t n);
ssize_t __wrap_read(int fd, void *p, size_t n);
ssize_t __real_pread(int fd, void *p, size_t n, off_t at);
ssize_t __wrap_pread(int fd, void *p, size_t n, off_t at);
ssize_t __real_write(int fd, const void *p, size_t n);
ssize_t __wrap_write(int fd, const void *p, size_t n);
ssize_t __real_pwrite(int fd, const void *p, size_t n, off_t at);
ssize_t __wrap_pwrite(int fd, const void *p, size_t n, off_t at);
int __real_ftruncate(int fd, off_t size);
int __wrap_ftruncate(int fd, off_t size);
int __real_posix_fallocate(int fd, off_t at, off_t n);
int __wrap_posix_fallocate(int fd, off_t at, off_t n);
int __real_fsync(int fd);
int __wrap_fsync(int fd);
int __real_fdatasync(int fd);
int __wrap_fdatasync(int fd);
int __real_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to);
int __real_unlink(const char *path);
int __wrap_unlink(const char *path);

/* Whose file each descriptor is. */
struct owned {
	struct simdisk *disk; /* NULL: none of ours */
	char *folder; /* owned; its path, if it is one */
};

static struct owned *of_fd;
static size_t fds;

struct simdisk *simdisk_behind(int fd)
{
	return fd >= 0 && (size_t)fd < fds ? of_fd[fd].disk : NULL;
}

const char *simdisk_folder(int fd)
{
	return simdisk_behind(fd) ? of_fd[fd].folder : NULL;
}

static int note(int fd, struct simdisk *d, const char *folder)
{
	if (fd < 0 || array_grow(&of_fd, &fds, (size_t)fd + 1, sizeof(*of_fd), INT32_MAX))
		return fd;
	free(of_fd[fd].folder); /* closedir() does not pass here */
	of_fd[fd] = (struct owned){ d, folder ? str_dup(folder) : NULL };
	return fd;
}

void simdisk_forget_descriptors(void)
{
	free(of_fd);
	of_fd = NULL;
	fds = 0;
}

static void forget(struct owned *o)
{
	free(o->folder);
	*o = (struct owned){ 0 };
}

void simdisk_leave(const struct simdisk *d)
{
	for (size_t i = 0; i < fds; i++)
		if (of_fd[i].disk == d)
			forget(&of_fd[i]);
}

static bool is_there(const char *path)
{
	struct stat st;

	return !lstat(path, &st);
}

static int make(struct simdisk *d, const char *path, int flags, mode_t mode)
{
	if (simdisk_refuses_change(d))
		return -1;
	simdisk_will_move(d, path);
	return note(__real_open(path, flags, mode), d, NULL);
}

int __wrap_open(const char *path, int flags, ...)
{
	struct simdisk *d = simdisk_of(path);
	mode_t mode = 0;
	va_list ap;

	va_start(ap, flags);
	if (flags & O_CREAT)
		mode = va_arg(ap, mode_t);
	va_end(ap);
	if (!d)
		return __real_open(path, flags, mode);
	if (flags & O_CREAT && !is_there(path))
		return make(d, path, flags, mode);
	return simdisk_fails(d)
		       ? -1
		       : note(__real_open(path, flags, mode), d, flags & O_DIRECTORY ? path : NULL);
}

/* The same names each time. */
int __wrap_mkostemp(char *path, int flags)
{
	struct simdisk *d = simdisk_of(path);

	if (!d)
		return __real_mkostemp(path, flags);
	snprintf(path + strlen(path) - MADE_UP, MADE_UP + 1, "%0*lu", MADE_UP,
		 simdisk_make_up(d) % 1000000);
	return make(d, path, flags | O_RDWR | O_CREAT | O_EXCL, 0600);
}

int __wrap_close(int fd)
{
	if (simdisk_behind(fd))
		forget(&of_fd[fd]);
	return __real_close(fd);
}

ssize_t __wrap_read(int fd, void *p, size_t n)
{
	return simdisk_behind(fd) && simdisk_fails(simdisk_behind(fd)) ? -1 : __real_read(fd, p, n);
}

ssize_t __wrap_pread(int fd, void *p, size_t n, off_t at)
{
	return simdisk_behind(fd) && simdisk_fails(simdisk_behind(fd)) ? -1
								       : __real_pread(fd, p, n, at);
}

/* How much of it comes; at < 0: at the end. */
static size_t admitted(int fd, size_t n, off_t at, bool *is_reported)
{
	struct simdisk *d = simdisk_behind(fd);
	struct stat st;

	*is_reported = true;
	if (!d || fstat(fd, &st))
		return n;
	simdisk_will_write(d, &st);
	return simdisk_admits(d, (uint64_t)(at < 0 ? st.st_size : at), (uint64_t)st.st_size, n,
			      is_reported);
}

/* errno is that of the disk. */
static ssize_t result_of(ssize_t put, bool is_reported, int why)
{
	if (is_reported)
		return put;
	errno = why;
	return -1;
}

ssize_t __wrap_write(int fd, const void *p, size_t n)
{
	bool is_reported;
	size_t some = admitted(fd, n, -1, &is_reported);
	int why = errno;

	return result_of(some || is_reported ? __real_write(fd, p, some) : 0, is_reported, why);
}

ssize_t __wrap_pwrite(int fd, const void *p, size_t n, off_t at)
{
	bool is_reported;
	size_t some = admitted(fd, n, at, &is_reported);
	int why = errno;

	return result_of(some || is_reported ? __real_pwrite(fd, p, some, at) : 0, is_reported,
			 why);
}

int __wrap_ftruncate(int fd, off_t size)
{
	struct simdisk *d = simdisk_behind(fd);
	struct stat st;

	if (!d || fstat(fd, &st))
		return __real_ftruncate(fd, size);
	if (simdisk_refuses_change(d))
		return -1;
	simdisk_will_cut(d, &st, (uint64_t)size);
	return __real_ftruncate(fd, size);
}

int __wrap_posix_fallocate(int fd, off_t at, off_t n)
{
	struct simdisk *d = simdisk_behind(fd);
	struct stat st;

	if (!d || fstat(fd, &st))
		return __real_posix_fallocate(fd, at, n);
	if (simdisk_refuses_change(d))
		return errno;
	simdisk_will_write(d, &st);
	return simdisk_state(d) == SIMDISK_FULL && st.st_size < at + n
		       ? ENOSPC
		       : __real_posix_fallocate(fd, at, n);
}

/* Nothing has to reach a real disk. */
int __wrap_fsync(int fd)
{
	struct simdisk *d = simdisk_behind(fd);
	struct stat st;
	bool is_ok;

	if (!d || fstat(fd, &st))
		return __real_fsync(fd);
	is_ok = !simdisk_refuses_change(d);
	if (!S_ISDIR(st.st_mode))
		simdisk_synced(d, &st, is_ok);
	else if (is_ok)
		simdisk_names_synced(d, simdisk_folder(fd));
	return is_ok ? 0 : -1;
}

int __wrap_fdatasync(int fd)
{
	return simdisk_behind(fd) ? __wrap_fsync(fd) : __real_fdatasync(fd);
}

int __wrap_rename(const char *from, const char *to)
{
	struct simdisk *d = simdisk_of(to);

	if (!d || !is_there(from))
		return __real_rename(from, to);
	if (simdisk_refuses_change(d))
		return -1;
	simdisk_will_move(d, from);
	simdisk_will_end(d, to);
	if (__real_rename(from, to))
		return -1;
	simdisk_is_gone(d, from);
	return 0;
}

int __wrap_unlink(const char *path)
{
	struct simdisk *d = simdisk_of(path);

	if (!d || !is_there(path))
		return __real_unlink(path);
	if (simdisk_refuses_change(d))
		return -1;
	simdisk_will_end(d, path);
	if (__real_unlink(path))
		return -1;
	simdisk_is_gone(d, path);
	return 0;
}
