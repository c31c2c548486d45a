/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Output of OMIG_DEBUG about whether and how a process is watched. A process begins once: each case
 * is a child.
 */
#include "common/base/array.h"
#include "common/base/file.h"
#include "common/base/str.h"
#include "common/ring/seg.h"
#include "libapp/hot/app_state.h"
#include "tests/suite.h"
#include "tests/unit/libapp/fake_mpi.h"
#include "tests/unit/libapp/rank.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define SAID_BYTES 4096
/* this program as a rank, under a path of the test's */
#define AS_RANK "--as-rank"

static char dir[64], host[256];

static void set_up(void)
{
	str_copy(dir, sizeof(dir), "/tmp/omig-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(gethostname(host, sizeof(host)), 0);
	setenv("OMIG_RUNTIME_DIR", dir, 1);
	setenv("OMIG_MAINSM", "omig1:127.0.0.1:1:testtest00000000", 1);
	setenv("OMIG_LM", "/nonexistent/lm", 1);
	setenv("OMIG_DEBUG", "1", 1);
}

static const char *lm_path(const char *tail)
{
	static char path[300];

	ck_assert_int_ge(seg_lm_path(path, sizeof(path),
				     &(struct seg_lm_name){ dir, host, "testtest" }, tail),
			 0);
	return path;
}

static void clean_up(void)
{
	unlink(lm_path(".lock"));
	unlink(lm_path(".sock"));
	rmdir(dir);
}

/*
 * Runs prepare() and the set-up in a child, and returns its messages in said. True: the child
 * continued, watched or not as expected.
 */
static bool begins(bool (*prepare)(void), bool is_watched, char said[SAID_BYTES])
{
	char prefix[32], *at = said;
	size_t n = 0;
	ssize_t got;
	int ends[2], how = -1;
	pid_t pid;

	ck_assert_int_eq(pipe(ends), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		bool is_ready = dup2(ends[1], STDERR_FILENO) >= 0 && (!prepare || prepare());
		bool has_begun = is_ready && MPI_Init(NULL, NULL) == 0;

		_exit(has_begun && is_watched == (app_state.base != NULL) ? 0 : 1);
	}
	close(ends[1]);
	while (n < SAID_BYTES - 1 && (got = read(ends[0], said + n, SAID_BYTES - 1 - n)) > 0)
		n += (size_t)got;
	said[n] = 0;
	close(ends[0]);
	ck_assert_int_eq(waitpid(pid, &how, 0), pid);
	/* Each line names its process; the rest is compared. */
	n = (size_t)snprintf(prefix, sizeof(prefix), "omig[%d]: ", (int)pid);
	while ((at = strstr(at, prefix)))
		memmove(at, at + n, strlen(at + n) + 1);
	return how == 0;
}

static void says(bool (*prepare)(void), bool is_watched, const char *words)
{
	char said[SAID_BYTES];

	ck_assert_msg(begins(prepare, is_watched, said), "it did not begin so: %s", said);
	ck_assert_msg(str_eq(said, words), "[%s], not [%s]", said, words);
}

static bool without_debug(void)
{
	return unsetenv("OMIG_DEBUG") == 0;
}

static bool with_empty_debug(void)
{
	return setenv("OMIG_DEBUG", "", 1) == 0;
}

TEST(libomig_is_silent_unless_debug_is_set)
{
	says(without_debug, true, "");
	says(with_empty_debug, true, "");
}

TEST(without_a_program_of_the_lm_the_remedy_is_named)
{
	says(NULL, true, "no lm listens: No such file or directory\nno lm program: set OMIG_LM\n");
}

static bool without_mainsm(void)
{
	return unsetenv("OMIG_MAINSM") == 0;
}

TEST(without_a_monitor_nothing_is_looked_for)
{
	says(without_mainsm, true, "");
}

static bool with_small_files(void)
{
	const struct rlimit small = { 4096, 4096 };

	return setrlimit(RLIMIT_FSIZE, &small) == 0;
}

TEST(a_rank_without_memory_reports_that_it_is_not_watched)
{
	char said[SAID_BYTES];

	ck_assert(begins(with_small_files, false, said));
	ck_assert_msg(str_has_prefix(said, "no memory for the segment, not watched"), "%s", said);
}

/* Everything but the descriptors' numbers is there. */
static bool with_no_descriptor(void)
{
	const struct rlimit none = { 3, 3 };

	return setrlimit(RLIMIT_NOFILE, &none) == 0;
}

TEST(a_rank_without_descriptors_reports_that_it_is_not_watched)
{
	says(with_no_descriptor, false,
	     "no memory for the segment, not watched: Too many open files\n");
}

static char deep[200];

static bool in_a_deep_folder(void)
{
	return mkdir(deep, 0700) == 0 && setenv("OMIG_RUNTIME_DIR", deep, 1) == 0;
}

TEST(a_folder_that_is_too_deep_for_a_socket_is_reported)
{
	memset(deep, 'x', sizeof(deep) - 1);
	memcpy(deep, dir, strlen(dir));
	deep[strlen(dir)] = '/';
	says(in_a_deep_folder, true, "the runtime directory's path is too long for a socket\n");
	ck_assert_int_eq(rmdir(deep), 0); /* nothing was created in it */
}

static bool in_a_folder_of_all(void)
{
	return chmod(dir, 0777) == 0;
}

TEST(a_folder_that_others_may_write_is_not_used)
{
	says(in_a_folder_of_all, true, "no runtime directory\n");
	ck_assert_int_eq(access(lm_path(".lock"), F_OK), -1);
}

/* Messages wait in the listener's queue. */
static int listen_as_lm(void)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	str_copy(at.sun_path, sizeof(at.sun_path), lm_path(".sock"));
	ck_assert_int_eq(bind(fd, (const struct sockaddr *)&at, sizeof(at)), 0);
	ck_assert_int_eq(listen(fd, 4), 0);
	return fd;
}

TEST(where_an_lm_listens_it_registers)
{
	struct seg_register reg = { 0 };
	int fd = listen_as_lm(), conn;

	says(NULL, true, "registered\n");
	conn = accept(fd, NULL, NULL);
	ck_assert_int_eq(recv(conn, &reg, sizeof(reg), 0), sizeof(reg));
	ck_assert_uint_eq(reg.version, SEG_VERSION);
	ck_assert_uint_gt(reg.bytes, 0);
	close(conn);
	close(fd);
}

static bool with_a_program_of_the_lm(void)
{
	return setenv("OMIG_LM", "/bin/true", 1) == 0;
}

/* Its socket exists already. Whether the process registers depends on how soon it ends. */
TEST(a_started_lm_is_reported)
{
	char said[SAID_BYTES];

	ck_assert(begins(with_a_program_of_the_lm, true, said));
	ck_assert_msg(str_has_prefix(said, "no lm listens: No such file or directory\n"), "%s",
		      said);
	/* A sanitizer may print lines in between. */
	ck_assert_msg(strstr(said, "\nstarted an lm\n") != NULL, "%s", said);
}

TEST(where_another_process_holds_the_lock_it_waits_for_its_socket)
{
	int lock = -1;

	ck_assert_int_eq(file_lock(lm_path(".lock"), false, &lock, NULL), 0);
	says(with_a_program_of_the_lm, true,
	     "no lm listens: No such file or directory\nan lm is there, or starting\n"
	     "met no lm: No such file or directory\nan lm is there, or starting\n");
	close(lock);
}

/* --- search for the lm without OMIG_LM: beside the library, which is this program */

static const char *in_dir(const char *name)
{
	static char path[2][128];
	static unsigned turn;

	turn = !turn;
	snprintf(path[turn], sizeof(path[turn]), "%s/%s", dir, name);
	return path[turn];
}

static const char *own_name; /* name that it is started by */

static bool as_installed(void)
{
	unsetenv("OMIG_LM");
	execl("/proc/self/exe", own_name, AS_RANK, (char *)NULL);
	return false;
}

static void install_lm(const char *at, mode_t mode)
{
	FILE *f = fopen(in_dir(at), "w");

	ck_assert_ptr_nonnull(f);
	fprintf(f, "#!/bin/sh\n");
	ck_assert_int_eq(fchmod(fileno(f), mode), 0);
	fclose(f);
}

static void looks_beside(const char *name, bool is_found)
{
	char said[SAID_BYTES];

	own_name = in_dir(name);
	ck_assert_msg(begins(as_installed, true, said), "%s", said);
	ck_assert_msg((strstr(said, "\nstarted an lm\n") != NULL) == is_found, "%s: %s", name,
		      said);
	ck_assert_msg((strstr(said, "\nno lm program: set OMIG_LM\n") != NULL) == !is_found,
		      "%s: %s", name, said);
	unlink(lm_path(".lock"));
	unlink(lm_path(".sock"));
}

TEST(the_lm_is_that_of_the_same_install)
{
	static const char *const dirs[] = { "bin", "lib", "lib/x86_64-linux-gnu", "libexec",
					    "libexec/omig" };

	for (size_t i = 0; i < ARRAY_LEN(dirs); i++)
		ck_assert_int_eq(mkdir(in_dir(dirs[i]), 0700), 0);
	looks_beside("lib/libomig.so", false);
	install_lm("bin/lm", 0600);
	looks_beside("lib/libomig.so", false); /* not a program */
	install_lm("bin/lm", 0700);
	looks_beside("lib/libomig.so", true);
	looks_beside("lib/x86_64-linux-gnu/libomig.so", true);
	unlink(in_dir("bin/lm"));
	install_lm("libexec/omig/lm", 0700);
	looks_beside("lib/libomig.so", true);
	looks_beside("lib/x86_64-linux-gnu/libomig.so", true);
	looks_beside("libexec/omig/libomig.so", true);
	unlink(in_dir("libexec/omig/lm"));
	for (size_t i = ARRAY_LEN(dirs); i-- > 0;)
		ck_assert_int_eq(rmdir(in_dir(dirs[i])), 0);
}

static bool with_another_library(void)
{
	fake_version = "Fancy MPI 1.0";
	return true;
}

TEST(a_library_that_is_not_known_is_reported)
{
	char said[SAID_BYTES];

	ck_assert(begins(with_another_library, true, said));
	ck_assert_msg(str_has_prefix(said, "not an MPI library that omig knows: no bytes, no "
					   "partners\n"),
		      "%s", said);
}

int main(int argc, char **argv)
{

	if (argc == 2 && str_eq(argv[1], AS_RANK))
		return MPI_Init(NULL, NULL) == 0 && app_state.base ? 0 : 1;
	return suite_run("words", set_up, clean_up);
}
