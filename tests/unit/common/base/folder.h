/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_COMMON_BASE_FOLDER_H
#define TESTS_UNIT_COMMON_BASE_FOLDER_H

#include "common/base/file.h"
#include "tests/suite.h"

#include <ftw.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A separate directory for each test: dir, and at() for a path in it. */
static char dir[] = "/tmp/omig-test-XXXXXX";

static inline const char *at(const char *name)
{
	static char path[4][FILE_PATH_BYTES];
	static int turn;
	char *p = path[turn++ % 4];

	ck_assert_int_eq(file_join(p, FILE_PATH_BYTES, dir, name, NULL), 0);
	return p;
}

static inline int remove_one(const char *path, const struct stat *st, int type, struct FTW *f)
{
	return remove(path);
}

static inline void set_up(void)
{
	memcpy(dir + sizeof(dir) - 7, "XXXXXX", 6);
	ck_assert_ptr_nonnull(mkdtemp(dir));
}

static inline void clean_up(void)
{
	nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static inline void make_file(const char *path, const char *text, mode_t mode)
{
	ck_assert_int_eq(file_write_atomic(path, text, strlen(text), NULL), 0);
	ck_assert_int_eq(chmod(path, mode), 0);
}

#endif
