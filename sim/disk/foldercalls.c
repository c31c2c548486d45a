/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of the system with names in an open folder, and those that make and remove one: as
 * diskcalls.c has those with paths. */
#include "common/base/file.h"
#include "common/base/str.h"
#include "sim/disk/simdisk_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

int __wrap_open(const char *path, int flags, ...);
int __wrap_rename(const char *from, const char *to);
int __wrap_unlink(const char *path);
int __real_openat(int dir, const char *name, int flags, ...);
int __wrap_openat(int dir, const char *name, int flags, ...);
int __real_renameat(int from_dir, const char *from, int to_dir, const char *to);
int __wrap_renameat(int from_dir, const char *from, int to_dir, const char *to);
int __real_unlinkat(int dir, const char *name, int flags);
int __wrap_unlinkat(int dir, const char *name, int flags);
int __real_mkdir(const char *path, mode_t mode);
int __wrap_mkdir(const char *path, mode_t mode);
int __real_rmdir(const char *path);
int __wrap_rmdir(const char *path);

/* False: it is in no folder of ours. */
static bool path_of(int dir, const char *name, char out[FILE_PATH_BYTES])
{
	const char *folder = simdisk_folder(dir);

	if (dir == AT_FDCWD || (folder && str_eq(name, ".")))
		return str_copy(out, FILE_PATH_BYTES, folder ? folder : name) && simdisk_of(out);
	return folder && !file_join(out, FILE_PATH_BYTES, folder, name, NULL);
}

int __wrap_openat(int dir, const char *name, int flags, ...)
{
	char path[FILE_PATH_BYTES];
	mode_t mode = 0;
	va_list ap;

	va_start(ap, flags);
	if (flags & O_CREAT)
		mode = va_arg(ap, mode_t);
	va_end(ap);
	return path_of(dir, name, path) ? __wrap_open(path, flags, mode)
					: __real_openat(dir, name, flags, mode);
}

int __wrap_renameat(int from_dir, const char *from, int to_dir, const char *to)
{
	char was[FILE_PATH_BYTES], is[FILE_PATH_BYTES];

	return path_of(from_dir, from, was) && path_of(to_dir, to, is)
		       ? __wrap_rename(was, is)
		       : __real_renameat(from_dir, from, to_dir, to);
}

int __wrap_unlinkat(int dir, const char *name, int flags)
{
	char path[FILE_PATH_BYTES];

	return path_of(dir, name, path) ? __wrap_unlink(path) : __real_unlinkat(dir, name, flags);
}

int __wrap_mkdir(const char *path, mode_t mode)
{
	struct simdisk *d = simdisk_of(path);
	struct stat st;

	if (!d || !lstat(path, &st))
		return __real_mkdir(path, mode);
	if (simdisk_refuses_change(d))
		return -1;
	errno = ENOSPC;
	if (simdisk_state(d) == SIMDISK_FULL)
		return -1;
	simdisk_will_move(d, path);
	return __real_mkdir(path, mode);
}

/* A synced folder is gone at once, and no power cut restores it: no code depends on that. */
int __wrap_rmdir(const char *path)
{
	struct simdisk *d = simdisk_of(path);

	return d && simdisk_refuses_change(d) ? -1 : __real_rmdir(path);
}
