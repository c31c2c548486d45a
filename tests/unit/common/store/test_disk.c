/* SPDX-License-Identifier: Apache-2.0 */
/* A folder on a real disk: what each operation does, and how it fails. */
#include "common/base/array.h"
#include "common/store/disk.h"
#include "tests/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char dir[64], inside[80];
static struct disk disk;
static int sync_error; /* errno of each fsync(); 0: it is counted and holds */
static unsigned syncs;

/* Replaces libc's: a test cannot let a real disk fail. */
int fsync(int fd)
{
	syncs++;
	errno = sync_error;
	return sync_error ? -1 : 0;
}

int fdatasync(int fd)
{
	return fsync(fd);
}

static const char *path_of(const char *name)
{
	static char path[120];

	snprintf(path, sizeof(path), "%s/%s", inside, name);
	return path;
}

static void set_up(void)
{
	struct err e = { 0 };

	snprintf(dir, sizeof(dir), "/tmp/omig-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(inside, sizeof(inside), "%s/spool", dir);
	sync_error = 0;
	ck_assert_msg(!disk_enter(NULL, inside, &disk, &e), "%s", e.text);
}

static void clean_up(void)
{
	pid_t child;

	disk_leave(&disk);
	child = fork();
	if (!child)
		execlp("rm", "rm", "-rf", dir, (char *)NULL);
	waitpid(child, NULL, 0);
}

static int made(const char *name)
{
	int fd = disk.create(disk.arg, name);

	ck_assert_int_ge(fd, 0);
	return fd;
}

TEST(a_file_is_written_read_cut_and_measured)
{
	int fd = made("a"), again;
	char got[8] = "";

	ck_assert_int_eq(disk.write_at(disk.arg, fd, "hello", 5, 0), 5);
	ck_assert_int_eq(disk.write_at(disk.arg, fd, "p!", 2, 3), 2);
	ck_assert_int_eq(disk.size(disk.arg, fd), 5);
	disk.close(disk.arg, fd);
	fd = disk.open(disk.arg, "a");
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(disk.read_at(disk.arg, fd, got, sizeof(got), 0), 5);
	ck_assert_str_eq(got, "help!");
	ck_assert_int_eq(disk.read_at(disk.arg, fd, got, 2, 3), 2);
	ck_assert_int_eq(disk.read_at(disk.arg, fd, got, 2, 5), 0);
	ck_assert_int_eq(disk.cut(disk.arg, fd, 3), 0);
	ck_assert_int_eq(disk.size(disk.arg, fd), 3);
	disk.close(disk.arg, fd);
	again = made("b");
	ck_assert_int_eq(again, fd); /* it was closed */
	disk.close(disk.arg, again);
}

TEST(only_the_owner_may_read_what_is_made)
{
	struct stat st;

	disk.close(disk.arg, made("a"));
	ck_assert_int_eq(stat(path_of("a"), &st), 0);
	ck_assert_int_eq(st.st_mode & 07777, 0600);
	ck_assert_int_eq(stat(inside, &st), 0);
	ck_assert_int_eq(st.st_mode & 07777, 0700);
}

static void count_name(void *arg, const char *name)
{
	if (!strcmp(name, "a") || !strcmp(name, "b"))
		++*(unsigned *)arg;
}

TEST(names_are_listed_changed_and_removed)
{
	unsigned n = 0;

	disk.close(disk.arg, made("a"));
	disk.close(disk.arg, made("c"));
	ck_assert_int_eq(disk.create(disk.arg, "a"), -EEXIST);
	ck_assert_int_eq(disk.rename(disk.arg, "c", "b"), 0);
	ck_assert_int_eq(disk.rename(disk.arg, "c", "b"), -ENOENT);
	ck_assert_int_eq(disk.open(disk.arg, "c"), -ENOENT);
	ck_assert_int_eq(disk.list(disk.arg, ".", count_name, &n), 0);
	ck_assert_uint_eq(n, 2);
	ck_assert_int_eq(disk.remove(disk.arg, "a"), 0);
	ck_assert_int_eq(disk.remove(disk.arg, "a"), -ENOENT);
	ck_assert_int_eq(disk.list(disk.arg, ".", count_name, &n), 0);
	ck_assert_uint_eq(n, 3);
}

/* A file of another user is never taken for ours. */
TEST(only_a_regular_file_is_opened)
{
	ck_assert_int_eq(symlink("/etc/passwd", path_of("link")), 0);
	ck_assert_int_eq(mkfifo(path_of("pipe"), 0600), 0);
	ck_assert_int_eq(mkdir(path_of("dir"), 0700), 0);
	ck_assert_int_eq(disk.open(disk.arg, "link"), -ELOOP);
	ck_assert_int_eq(disk.open(disk.arg, "pipe"), -EPERM);
	ck_assert_int_eq(disk.open(disk.arg, "dir"), -EISDIR);
	ck_assert_int_eq(disk.create(disk.arg, "link"), -EEXIST);
	disk.close(disk.arg, made("open"));
	ck_assert_int_eq(chmod(path_of("open"), 0640), 0);
	ck_assert_int_eq(disk.open(disk.arg, "open"), -EPERM);
	if (!geteuid()) {
		disk.close(disk.arg, made("foreign"));
		ck_assert_int_eq(chown(path_of("foreign"), 65534, 65534), 0);
		ck_assert_int_eq(disk.open(disk.arg, "foreign"), -EPERM);
	}
}

TEST(each_failure_has_its_number)
{
	char c = 0;

	ck_assert_int_eq(disk.read_at(disk.arg, -1, &c, 1, 0), -EBADF);
	ck_assert_int_eq(disk.write_at(disk.arg, -1, &c, 1, 0), -EBADF);
	ck_assert_int_eq(disk.size(disk.arg, -1), -EBADF);
	ck_assert_int_eq(disk.cut(disk.arg, -1, 0), -EBADF);
}

TEST(contents_and_names_are_synced_or_that_fails)
{
	int fd = made("a");

	syncs = 0;
	ck_assert_int_eq(disk.sync(disk.arg, fd), 0);
	ck_assert_uint_eq(syncs, 1);
	ck_assert_int_eq(disk.sync_names(disk.arg, "a"), 0);
	ck_assert_uint_eq(syncs, 2);
	sync_error = EIO;
	ck_assert_int_eq(disk.sync(disk.arg, fd), -EIO);
	ck_assert_int_eq(disk.sync_names(disk.arg, "a"), -EIO);
	disk.close(disk.arg, fd);
}

TEST(a_folder_has_one_owner_and_is_private)
{
	struct disk other = { 0 };
	struct err e = { 0 };

	ck_assert_int_eq(disk_enter(NULL, inside, &other, &e), -ERR_EXISTS);
	ck_assert_ptr_nonnull(strstr(e.text, "another process has"));
	ck_assert_ptr_null(other.arg);
	disk_leave(&disk);
	disk_leave(&disk);
	ck_assert_int_eq(disk_enter(NULL, inside, &other, &e), 0);
	disk_leave(&other);
	ck_assert_int_eq(chmod(inside, 0750), 0);
	ck_assert_int_eq(disk_enter(NULL, inside, &other, &e), -ERR_DENIED);
	ck_assert_int_eq(chmod(inside, 0700), 0);
	ck_assert_int_eq(unlink(path_of("lock")), 0);
	ck_assert_int_eq(mkdir(path_of("lock"), 0700), 0);
	ck_assert_int_eq(disk_enter(NULL, inside, &other, &e), -ERR_SYS);
	ck_assert_ptr_nonnull(strstr(e.text, "/lock"));
}

/* With none, one and two descriptors that are left: the folder and the lock take one each. */
TEST(a_folder_needs_descriptors)
{
	struct disk other = { 0 };
	struct rlimit few = { 0, 1024 };
	struct err e = { 0 };
	int next;

	disk_leave(&disk);
	next = dup(STDIN_FILENO);
	close(next);
	for (int left = 0; left <= 2; left++) {
		few.rlim_cur = (rlim_t)(next + left);
		ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
		ck_assert_int_eq(disk_enter(NULL, inside, &other, &e), left < 2 ? -ERR_SYS : 0);
		ck_assert(left == 2 || e.sys == EMFILE);
	}
	few.rlim_cur = 1024;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
	disk_leave(&other);
}

SUITE_WITH("disk", set_up, clean_up)
