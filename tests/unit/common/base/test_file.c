/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/file.h"
#include "common/base/array.h"
#include "common/base/str.h"
#include "tests/alloc_sweep.h"
#include "tests/unit/common/base/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

TEST(atomic_write_is_read_back)
{
	struct buf b = BUF_INIT(1 << 20);
	struct stat st;
	size_t n = 300000;
	uint8_t *p = malloc(n);

	for (size_t i = 0; i < n; i++)
		p[i] = (uint8_t)(i * 7);
	ck_assert_int_eq(file_write_atomic(at("f"), "old", 3, NULL), 0);
	ck_assert_int_eq(file_write_atomic(at("f"), p, n, NULL), 0);
	ck_assert_int_eq(stat(at("f"), &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0600);
	buf_puts(&b, "front");
	ck_assert_int_eq(file_read(at("f"), 1 << 20, FILE_SECRET | FILE_OWNED, &b, NULL), 0);
	ck_assert_uint_eq(b.n, n + 5);
	ck_assert(memcmp(b.p + 5, p, n) == 0);
	buf_done(&b);
	free(p);
}

static unsigned syncs;
static int sync_fails; /* errno */

/* In the place of libc's. */
int fsync(int fd)
{
	syncs++;
	errno = sync_fails;
	return sync_fails ? -1 : 0;
}

TEST(a_file_is_on_the_disk_with_its_name)
{
	struct buf b = BUF_INIT(100);

	ck_assert_int_eq(file_write_atomic(at("f"), "old", 3, NULL), 0);
	ck_assert_uint_eq(syncs, 2); /* the file and its directory */
	ck_assert_int_eq(file_write_atomic(at("f"), "new", 3, NULL), 0);
	ck_assert_uint_eq(syncs, 4);
	ck_assert_int_eq(file_read(at("f"), 100, FILE_SECRET, &b, NULL), 0);
	ck_assert_str_eq(buf_str(&b), "new");
	ck_assert_int_eq(file_remove(at("f"), NULL), 0);
	ck_assert_int_eq(rmdir(dir), 0); /* nothing temporary is left */
	buf_done(&b);
}

/* Synced data in it survive a power loss only if the folder does. */
TEST(a_directory_that_was_made_is_on_the_disk)
{
	unsigned before = syncs;

	ck_assert_int_eq(file_private_dir(at("a/b"), NULL), 0);
	ck_assert_uint_eq(syncs, before + 2); /* the names a and b */
	ck_assert_int_eq(file_private_dir(at("a/b"), NULL), 0);
	ck_assert_uint_eq(syncs, before + 2);
	sync_fails = EIO;
	ck_assert_int_eq(file_private_dir(at("a/c"), NULL), -ERR_SYS);
	sync_fails = 0;
	ck_assert_int_ne(access(at("a/c"), F_OK), 0); /* a retry syncs again */
	ck_assert_int_eq(file_private_dir(at("a/c"), NULL), 0);
	ck_assert_uint_eq(syncs, before + 4);
}

TEST(a_limit_holds_exactly)
{
	struct err e = { 0 };

	make_file(at("f"), "0123456789", 0600);
	for (size_t max = 8; max <= 12; max++) {
		struct buf b = BUF_INIT(100), small = BUF_INIT(max);

		ck_assert_int_eq(file_read(at("f"), max, 0, &b, &e), max < 10 ? -ERR_LIMIT : 0);
		ck_assert_uint_eq(b.n, max < 10 ? 0 : 10);
		ck_assert(!b.failed);
		ck_assert_int_eq(file_read(at("f"), 100, 0, &small, &e), max < 10 ? -ERR_LIMIT : 0);
		ck_assert_uint_eq(small.n, max < 10 ? 0 : 10);
		ck_assert(!small.failed);
		buf_done(&b);
		buf_done(&small);
	}
}

TEST(links_fifos_and_directories_are_refused)
{
	struct buf b = BUF_INIT(100);
	struct err e = { 0 };

	make_file(at("f"), "x", 0600);
	ck_assert_int_eq(symlink(at("f"), at("link")), 0);
	ck_assert_int_eq(mkfifo(at("fifo"), 0600), 0);
	ck_assert_int_eq(file_read(at("link"), 100, 0, &b, &e), -ERR_DENIED);
	ck_assert_int_eq(file_read(at("fifo"), 100, 0, &b, &e), -ERR_DENIED);
	ck_assert_int_eq(file_read(dir, 100, 0, &b, &e), -ERR_DENIED);
	ck_assert_int_eq(file_read(at("none"), 100, 0, &b, &e), -ERR_NOTFOUND);
	ck_assert_int_eq(file_read(at("f/none"), 100, 0, &b, &e), -ERR_NOTFOUND);
	ck_assert_uint_eq(b.n, 0);
	buf_done(&b);
}

TEST(secrets_are_ours_alone)
{
	static const mode_t bad[] = { 0640, 0604, 0620, 0601, 0660 };
	struct buf b = BUF_INIT(100);
	struct err e = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		make_file(at("f"), "x", bad[i]);
		ck_assert_int_eq(file_read(at("f"), 100, FILE_SECRET, &b, &e), -ERR_DENIED);
		ck_assert_int_eq(file_read(at("f"), 100, FILE_OWNED, &b, &e),
				 (bad[i] & 022) ? -ERR_DENIED : 0);
	}
	make_file(at("f"), "x", 0400);
	ck_assert_int_eq(file_read(at("f"), 100, FILE_SECRET, &b, &e), 0);
	buf_done(&b);
}

TEST(a_file_of_another_user_is_no_secret)
{
	struct buf b = BUF_INIT(100);
	struct err e = { 0 };

	if (geteuid() != 0)
		return;
	make_file(at("f"), "x", 0600);
	ck_assert_int_eq(chown(at("f"), 12345, 12345), 0);
	ck_assert_int_eq(file_read(at("f"), 100, FILE_SECRET, &b, &e), -ERR_DENIED);
	ck_assert_int_eq(file_read(at("f"), 100, FILE_OWNED, &b, &e), -ERR_DENIED);
	ck_assert_int_eq(chown(dir, 12345, 12345), 0);
	ck_assert_int_eq(file_private_dir(dir, &e), -ERR_DENIED);
	ck_assert_int_eq(chown(dir, 0, 0), 0);
	buf_done(&b);
}

TEST(an_atomic_write_that_fails_leaves_the_old_file)
{
	struct buf b = BUF_INIT(100);
	struct err e = { 0 };

	make_file(at("f"), "old", 0600);
	ck_assert_int_eq(mkdir(at("d"), 0700), 0);
	ck_assert_int_eq(file_write_atomic(at("d"), "x", 1, &e),
			 -ERR_SYS); /* a directory is in the way */
	ck_assert_int_eq(file_write_atomic(at("none/f"), "x", 1, &e), -ERR_SYS);
	ck_assert_int_eq(file_check_writable(at("f"), &e), 0);
	ck_assert_int_eq(file_check_writable(at("d"), &e), -ERR_SYS);
	ck_assert_int_eq(file_check_writable(at("none/f"), &e), -ERR_SYS);
	/* its own name, not that of a temporary file */
	ck_assert_ptr_nonnull(strstr(e.text, "none/f: "));
	ck_assert_int_eq(file_read(at("f"), 100, 0, &b, &e), 0);
	ck_assert_str_eq(buf_str(&b), "old");
	ck_assert_int_eq(file_remove(at("f"), &e), 0);
	ck_assert_int_eq(file_remove(at("f"), &e), 0);
	ck_assert_int_eq(rmdir(at("d")), 0);
	ck_assert_int_eq(rmdir(dir), 0); /* nothing temporary is left */
	buf_done(&b);
}

TEST(private_directories_are_made_and_checked)
{
	struct err e = { 0 };
	struct stat st;

	ck_assert_int_eq(file_private_dir(at("a/b/c/"), &e), 0);
	ck_assert_int_eq(file_private_dir(at("a/b/c"), &e), 0);
	ck_assert_int_eq(stat(at("a/b"), &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0700);
	ck_assert_int_eq(chmod(at("a/b"), 0750), 0);
	ck_assert_int_eq(file_private_dir(at("a/b"), &e), -ERR_DENIED);
	ck_assert_int_eq(stat(at("a/b"), &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0750);
	ck_assert_int_eq(symlink(at("a/b/c"), at("link")), 0);
	ck_assert_int_eq(file_private_dir(at("link"), &e), -ERR_DENIED);
	ck_assert_int_eq(file_private_dir(at("link/"), &e), -ERR_DENIED);
	make_file(at("f"), "x", 0600);
	ck_assert_int_eq(file_private_dir(at("f"), &e), -ERR_DENIED);
	ck_assert_int_eq(file_private_dir(at("f/g"), &e), -ERR_SYS);
	ck_assert_int_eq(file_private_dir("", &e), -ERR_LIMIT);
}

TEST(directories_come_from_the_environment)
{
	char out[FILE_PATH_BYTES], tmp[64];
	struct err e = { 0 };

	unsetenv("OMIG_STATE_DIR");
	unsetenv("OMIG_RUNTIME_DIR");
	setenv("HOME", at("home"), 1);
	setenv("XDG_STATE_HOME", at("state"), 1);
	setenv("XDG_RUNTIME_DIR", at("run"), 1);
	ck_assert_int_eq(file_state_dir(out, &e), 0);
	ck_assert_str_eq(out, at("state/omig"));
	ck_assert_int_eq(file_runtime_dir(out, &e), 0);
	ck_assert_str_eq(out, at("run/omig"));
	unsetenv("XDG_STATE_HOME");
	ck_assert_int_eq(file_state_dir(out, &e), 0);
	ck_assert_str_eq(out, at("home/.local/state/omig"));
	setenv("OMIG_STATE_DIR", at("own"), 1);
	ck_assert_int_eq(file_state_dir(out, &e), 0);
	ck_assert_str_eq(out, at("own"));
	/* An explicit name must work; a default may fall back. */
	ck_assert_int_eq(chmod(at("own"), 0755), 0);
	ck_assert_int_eq(file_state_dir(out, &e), -ERR_DENIED);
	/* An existing, own and open folder is used by each of them. */
	unsetenv("OMIG_STATE_DIR");
	ck_assert_int_eq(chmod(at("home/.local/state/omig"), 0755), 0);
	ck_assert_int_eq(file_state_dir(out, &e), -ERR_DENIED);
	ck_assert_ptr_nonnull(strstr(e.text, "chmod -R go="));
	ck_assert_int_eq(file_state_dir_find(out, &e), -ERR_DENIED);
	ck_assert_int_eq(chmod(at("home/.local/state/omig"), 0700), 0);
	ck_assert_int_eq(file_state_dir(out, &e), 0);
	ck_assert_int_eq(chmod(at("run/omig"), 0711), 0);
	ck_assert_int_eq(file_runtime_dir(out, &e), -ERR_DENIED);
	setenv("XDG_RUNTIME_DIR", "/proc/nowhere", 1);
	snprintf(tmp, sizeof(tmp), "/tmp/omig-%u", (unsigned)geteuid());
	if (!file_private_dir(tmp, NULL)) {
		ck_assert_int_eq(file_runtime_dir(out, &e), 0);
		ck_assert_str_eq(out, tmp);
	}
}

/* As another user, whose name in /tmp is taken. */
static int use_what_is_left(void)
{
	char out[FILE_PATH_BYTES], taken[64];
	struct err e = { 0 };

	snprintf(taken, sizeof(taken), "/tmp/omig-%u: belongs to uid 0", (unsigned)geteuid());
	setenv("HOME", at("home"), 1);
	if (file_runtime_dir_find(out, &e) || !str_eq(out, at("home/.local/state/omig/run")))
		return 1;
	if (file_runtime_dir(out, &e) || !str_eq(out, at("home/.local/state/omig/run")))
		return 2;
	if (file_runtime_dir_taken(&e) != -ERR_DENIED || !strstr(e.text, taken) ||
	    !strstr(e.text, out))
		return 3;
	if (file_private_dir_look(out, &e))
		return 4;
	setenv("XDG_RUNTIME_DIR", at("home/run"), 1);
	if (file_runtime_dir(out, &e) || !str_eq(out, at("home/run/omig")) ||
	    file_runtime_dir_taken(&e))
		return 5;
	unsetenv("XDG_RUNTIME_DIR");
	setenv("HOME", "/proc/nowhere", 1); /* then there is no other state directory either */
	return file_runtime_dir(out, &e) != -ERR_DENIED || !strstr(e.text, taken) ? 6 : 0;
}

TEST(a_name_that_another_user_has_taken_is_passed_over)
{
	uid_t other = 2000000000u + (uid_t)getpid();
	char tmp[64];
	int status;
	pid_t pid;

	if (geteuid() != 0)
		return;
	snprintf(tmp, sizeof(tmp), "/tmp/omig-%u", (unsigned)other);
	ck_assert_int_eq(mkdir(tmp, 0755), 0);
	ck_assert_int_eq(mkdir(at("home"), 0700), 0);
	ck_assert_int_eq(chown(at("home"), other, other), 0);
	ck_assert_int_eq(chmod(dir, 0711), 0);
	unsetenv("OMIG_STATE_DIR");
	unsetenv("OMIG_RUNTIME_DIR");
	unsetenv("XDG_STATE_HOME");
	unsetenv("XDG_RUNTIME_DIR");
	pid = fork();
	if (pid == 0)
		_exit(setresuid(other, other, other)
			      ? 0
			      : use_what_is_left()); /* not every container has that user */
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(rmdir(tmp), 0);
	ck_assert_int_eq(WEXITSTATUS(status), 0);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(file_runtime_dir_taken(NULL), 0);
}

TEST(a_lock_has_one_owner_or_several_that_share_it)
{
	const char *path = at("lock");
	int a, b, c;

	ck_assert_int_eq(file_lock(path, true, &a, NULL), -ERR_NOTFOUND);
	ck_assert_int_eq(file_lock(path, false, &a, NULL), 0);
	ck_assert_int_eq(file_lock(path, false, &b, NULL), -ERR_AGAIN);
	ck_assert_int_eq(file_lock(path, true, &b, NULL), -ERR_AGAIN);
	close(a);
	ck_assert_int_eq(file_lock(path, true, &a, NULL), 0);
	ck_assert_int_eq(file_lock(path, true, &b, NULL), 0);
	ck_assert_int_eq(file_lock(path, false, &c, NULL), -ERR_AGAIN);
	close(a);
	close(b);
	ck_assert_int_eq(file_lock(path, false, &c, NULL), 0);
	close(c);
	ck_assert_int_eq(file_remove(path, NULL), 0);
}

TEST(files_that_know_no_size_are_read)
{
	struct buf b = BUF_INIT(1 << 16);
	struct err e = { 0 };
	int proc = open("/proc/self", O_RDONLY | O_DIRECTORY);

	ck_assert_int_ge(proc, 0);
	ck_assert_int_eq(file_read_at(proc, "stat", 1 << 16, &b, &e), 0);
	ck_assert_int_eq(strtol(buf_str(&b), NULL, 10), getpid());
	ck_assert_int_eq(file_read_at(proc, "none", 1 << 16, &b, &e), -ERR_NOTFOUND);
	ck_assert_int_eq(file_read_at(proc, "stat", 10, &b, &e), -ERR_LIMIT);
	close(proc);
	buf_done(&b);
}

TEST(out_of_memory_is_an_error)
{
	const char *path = at("f"); /* assertions allocate: none while a failure is armed */

	make_file(path, "0123456789", 0600);
	ALLOC_SWEEP (k) {
		struct buf b = BUF_INIT(100);
		int rc = file_read(path, 100, 0, &b, NULL);

		alloc_sweep_pause();
		ck_assert_int_eq(rc, alloc_sweep_has_failed() ? -ERR_NOMEM : 0);
		ck_assert_uint_eq(b.n, rc ? 0 : 10);
		buf_done(&b);
	}
}

static void has_mode(const char *path, mode_t mode)
{
	struct stat st;

	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, mode);
}

TEST(private_files_have_their_modes_with_any_umask)
{
	static const mode_t masks[] = { 0, 022, 077, 0177, 0377, 0777 };
	mode_t was = umask(022);

	for (size_t i = 0; i < ARRAY_LEN(masks); i++) {
		int fd;

		umask(masks[i]);
		ck_assert_int_eq(file_private_dir(at("a/b"), NULL), 0);
		has_mode(at("a"), FILE_DIR_MODE);
		has_mode(at("a/b"), FILE_DIR_MODE);
		ck_assert_int_eq(file_write_atomic(at("a/f"), "1", 1, NULL), 0);
		ck_assert_int_eq(file_lock(at("a/l"), false, &fd, NULL), 0);
		has_mode(at("a/f"), FILE_MODE);
		has_mode(at("a/l"), FILE_MODE);
		close(fd);
		ck_assert_int_eq(unlink(at("a/f")) | unlink(at("a/l")), 0);
		ck_assert_int_eq(rmdir(at("a/b")) | rmdir(at("a")), 0);
	}
	umask(was);
}

SUITE_WITH("file", set_up, clean_up)
