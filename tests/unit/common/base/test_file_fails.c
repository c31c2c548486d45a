/* SPDX-License-Identifier: Apache-2.0 */
/* Files and directories that cannot be had, and a disk or kernel that refuses. */
#include "common/base/array.h"
#include "tests/unit/common/base/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/syscall.h>

static unsigned syncs_good; /* so many succeed before they fail */
static int sync_fails; /* errno */

/* In the place of libc's. */
int fsync(int fd)
{
	if (!sync_fails || syncs_good) {
		syncs_good -= syncs_good > 0;
		return 0;
	}
	errno = sync_fails;
	return -1;
}

static int lock_fails; /* errno; 0: it is the kernel's */

int flock(int fd, int how)
{
	errno = lock_fails;
	return lock_fails ? -1 : (int)syscall(SYS_flock, fd, how);
}

TEST(a_lock_that_fails_reports_the_reason)
{
	static const struct {
		int sys, rc;
	} known[] = {
		{ EWOULDBLOCK, -ERR_AGAIN },
		{ ENOSYS, -ERR_UNSUPPORTED },
		{ EOPNOTSUPP, -ERR_UNSUPPORTED },
		{ ENOLCK, -ERR_UNSUPPORTED },
		{ EIO, -ERR_SYS },
	};
	struct err e = { 0 };
	int fd = -7, free_fd = dup(STDIN_FILENO);

	close(free_fd);
	for (size_t i = 0; i < ARRAY_LEN(known); i++) {
		lock_fails = known[i].sys;
		ck_assert_int_eq(file_lock(at("f"), false, &fd, &e), known[i].rc);
	}
	lock_fails = 0;
	ck_assert_int_eq(fd, -7);
	ck_assert_int_eq(file_lock(at("f"), false, &fd, &e), 0);
	ck_assert_int_eq(fd, free_fd); /* those that failed are closed */
	close(fd);
	ck_assert_int_eq(symlink(at("f"), at("link")), 0);
	ck_assert_int_eq(file_lock(at("link"), false, &fd, &e), -ERR_DENIED);
}

static bool is_there(const char *name)
{
	return access(at(name), F_OK) == 0;
}

static void is_unchanged(const char *name, const char *want)
{
	struct buf b = BUF_INIT(100);

	ck_assert_int_eq(file_read(at(name), 100, 0, &b, NULL), 0);
	ck_assert_str_eq(buf_str(&b), want);
	buf_done(&b);
}

/* The file, then its directory: after the rename the new one is there, and not sure. */
TEST(a_disk_that_does_not_sync_is_an_error)
{
	struct err e = { 0 };

	make_file(at("f"), "old", 0600);
	sync_fails = EIO;
	ck_assert_int_eq(file_write_atomic(at("f"), "new", 3, &e), -ERR_SYS);
	is_unchanged("f", "old");
	syncs_good = 1;
	ck_assert_int_eq(file_write_atomic(at("f"), "new", 3, &e), -ERR_SYS);
	ck_assert_ptr_nonnull(strstr(e.text, "f: its directory: Input/output error"));
	is_unchanged("f", "new");
	ck_assert_int_eq(file_sync_name(at("f")), -ERR_SYS);
	sync_fails = 0;
	ck_assert_int_eq(file_sync_name(at("f")), 0);
	ck_assert_int_eq(file_sync_name("f"), 0);
	ck_assert_int_eq(file_sync_name(at("none/f")), -ERR_SYS);
	ck_assert_int_eq(file_remove(at("f"), &e), 0);
	ck_assert_int_eq(rmdir(dir), 0); /* nothing temporary is left */
}

/* If a parent cannot be synced for lack of permission, its child remains. */
TEST(a_directory_whose_name_cannot_be_synced_stays)
{
	sync_fails = EACCES;
	ck_assert_int_eq(file_private_dir(at("a"), NULL), 0);
	sync_fails = EINVAL;
	ck_assert_int_eq(file_private_dir(at("b"), NULL), 0);
	ck_assert(is_there("a") && is_there("b"));
}

TEST(a_file_that_cannot_grow_is_an_error)
{
	const struct sigaction ignore = { .sa_handler = SIG_IGN };
	const struct rlimit small = { 4, 1000 };
	struct err e = { 0 };

	make_file(at("f"), "old", 0600);
	ck_assert_int_eq(sigaction(SIGXFSZ, &ignore, NULL), 0);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
	ck_assert_int_eq(file_write_atomic(at("g"), "12345", 5, &e), -ERR_SYS);
	ck_assert_int_eq(e.sys, EFBIG);
	ck_assert(!is_there("g"));
	ck_assert_int_eq(file_remove(at("f"), &e), 0);
	ck_assert_int_eq(rmdir(dir), 0);
}

/* A name that is too long for the folder, a file that may not be read, and a folder. */
TEST(a_file_that_cannot_be_opened_reports_the_reason)
{
	char name[300];
	struct buf b = BUF_INIT(100);
	struct err e = { 0 };
	int rc;

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	ck_assert_int_eq(file_read(at(name), 100, 0, &b, &e), -ERR_SYS);
	ck_assert_int_eq(e.sys, ENAMETOOLONG);
	ck_assert_int_eq(file_write_atomic(at(name), "x", 1, &e), -ERR_SYS);
	ck_assert_int_eq(file_check_writable(at(name), &e), -ERR_SYS);
	ck_assert_int_eq(file_read_at(AT_FDCWD, dir, 100, &b, &e), -ERR_SYS);
	ck_assert_int_eq(e.sys, EISDIR);
	ck_assert_int_eq(file_remove(dir, &e), -ERR_SYS);
	make_file(at("f"), "x", 0);
	ck_assert_int_eq(chmod(dir, 0755), 0);
	ck_assert(geteuid() || !seteuid(65534));
	rc = file_read(at("f"), 100, 0, &b, &e);
	ck_assert(getuid() || !seteuid(0));
	ck_assert_int_eq(rc, -ERR_DENIED);
	ck_assert_ptr_nonnull(strstr(e.text, "f: permission denied"));
	ck_assert_uint_eq(b.n, 0);
	buf_done(&b);
}

TEST(paths_have_a_limit)
{
	char out[8], path[FILE_PATH_BYTES + 8];
	struct err e = { 0 };
	int fd;

	ck_assert_int_eq(file_join(out, 8, "abc", "def", &e), 0);
	ck_assert_str_eq(out, "abc/def");
	ck_assert_int_eq(file_join(out, 7, "abc", "def", &e), -ERR_LIMIT);
	ck_assert_int_eq(e.code, ERR_LIMIT);
	memset(path, '/', sizeof(path));
	path[FILE_PATH_BYTES - 7] = '\0';
	ck_assert_int_eq(file_write_atomic(path, "x", 1, &e), -ERR_LIMIT);
	path[FILE_PATH_BYTES - 7] = '/';
	path[FILE_PATH_BYTES] = '\0';
	ck_assert_int_eq(file_private_dir(path, &e), -ERR_LIMIT);
	setenv("OMIG_STATE_DIR", path, 1);
	ck_assert_int_eq(file_state_dir_find(path, &e), -ERR_LIMIT);
	fd = -7;
	ck_assert_int_lt(file_lock(path, false, &fd, &e), 0);
}

TEST(places_are_found_and_not_made)
{
	char out[FILE_PATH_BYTES];
	struct err e = { 0 };

	ck_assert_int_eq(file_private_dir_look(at("none"), &e), 0);
	ck_assert(!is_there("none"));
	setenv("OMIG_RUNTIME_DIR", at("run"), 1);
	setenv("OMIG_STATE_DIR", at("state"), 1);
	ck_assert_int_eq(file_runtime_dir_find(out, &e), 0);
	ck_assert_str_eq(out, at("run"));
	ck_assert_int_eq(file_state_dir_find(out, &e), 0);
	ck_assert_str_eq(out, at("state"));
	ck_assert(!is_there("run") && !is_there("state"));
	ck_assert_int_eq(file_runtime_dir(out, &e), 0);
	ck_assert(is_there("run"));
	ck_assert_int_eq(chmod(at("run"), 0701), 0);
	ck_assert_int_eq(file_runtime_dir_find(out, &e), -ERR_DENIED);
	setenv("OMIG_STATE_DIR", "", 1); /* as if it were not set */
	setenv("XDG_STATE_HOME", "relative", 1);
	setenv("HOME", at("home"), 1);
	ck_assert_int_eq(file_state_dir_find(out, &e), 0);
	ck_assert_str_eq(out, at("home/.local/state/omig"));
	ck_assert_int_eq(file_private_dir_look(at("run/none/deeper"), &e), 0);
	make_file(at("f"), "x", 0600);
	ck_assert_int_lt(file_private_dir_look(at("f/g"), &e), 0);
}

TEST(a_file_is_beside_the_program)
{
	char out[FILE_PATH_BYTES], self[FILE_PATH_BYTES];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	struct err e = { 0 };

	ck_assert_int_gt(n, 0);
	self[n] = '\0';
	ck_assert_int_eq(file_beside_program(out, strrchr(self, '/') + 1, &e), 0);
	ck_assert_str_eq(out, self);
	memset(self, 'x', sizeof(self));
	self[FILE_PATH_BYTES - 2] = '\0';
	ck_assert_int_eq(file_beside_program(out, self, &e), -ERR_LIMIT);
}

SUITE_WITH("file fails", set_up, clean_up)
