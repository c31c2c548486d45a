/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/world/disk.h"

#include "common/base/array.h"
#include "common/base/str.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/statvfs.h>

#define OPEN_FOLDERS 8

static int remove_one(const char *path, const struct stat *st, int what, struct FTW *where)
{
	return remove(path);
}

void disk_remove(const char *path)
{
	nftw(path, remove_one, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS);
}

const char *disk_failure(const char *path)
{
	struct statvfs fs;

	if (statvfs(path, &fs))
		return "was removed";
	/* Some file systems do not count files. */
	return fs.f_bavail && (fs.f_favail || !fs.f_files) ? NULL : "is full";
}

int disk_make(char out[DISK_PATH_BYTES], struct err *e)
{
	static const char *const where[] = { "/dev/shm/omig-sim-XXXXXX", "/tmp/omig-sim-XXXXXX" };

	for (size_t i = 0; i < ARRAY_LEN(where); i++) {
		str_copy(out, DISK_PATH_BYTES, where[i]);
		if (mkdtemp(out))
			return 0;
	}
	return err_sys(e, "a folder for the simulated disks");
}
