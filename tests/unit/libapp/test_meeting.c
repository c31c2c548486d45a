/* SPDX-License-Identifier: Apache-2.0 */
/* A rank meets the lm of its host, or starts it. */
#include "libapp/hot/app_state.h"
#include "tests/suite.h"
#include "tests/unit/libapp/rank.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static char dir[] = "/tmp/omig-test-XXXXXX", host[256];

static void make_dir(void)
{
	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(gethostname(host, sizeof(host)), 0);
	setenv("OMIG_RUNTIME_DIR", dir, 1);
	setenv("OMIG_MAINSM", "omig1:127.0.0.1:1:testtest00000000", 1);
}

TEST(a_rank_hands_its_memory_to_the_lm_that_listens)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	struct seg_register reg = { 0 };
	int fd, conn;

	make_dir();
	ck_assert_int_ge(seg_lm_path(to.sun_path, sizeof(to.sun_path),
				     &(struct seg_lm_name){ dir, host, "testtest" }, ".sock"),
			 0);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	ck_assert_int_eq(bind(fd, (const struct sockaddr *)&to, sizeof(to)), 0);
	ck_assert_int_eq(listen(fd, 1), 0);
	rank_up();
	conn = accept(fd, NULL, NULL);
	ck_assert_int_eq(recv(conn, &reg, sizeof(reg), 0), sizeof(reg));
	ck_assert_uint_eq(reg.magic, SEG_REGISTER_MAGIC);
	ck_assert_int_eq(reg.pid, getpid());
	rank_down();
	close(conn);
	close(fd);
	unlink(to.sun_path);
	ck_assert_int_eq(rmdir(dir), 0);
}

static void script_make(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	ck_assert_ptr_nonnull(f);
	fprintf(f, "%s", text);
	ck_assert_int_eq(fchmod(fileno(f), 0700), 0);
	fclose(f);
}

static bool comes(const char *path)
{
	for (int i = 0; i < 3000; i++) {
		if (access(path, F_OK) == 0)
			return true;
		usleep(10000);
	}
	return false;
}

/* Checks the arguments of the program that replaces the lm. */
static void is_started_with(const char *args)
{
	char lm[100], came[100], said[64];
	FILE *f;

	snprintf(lm, sizeof(lm), "%s/lm", dir);
	snprintf(came, sizeof(came), "%s/came", dir);
	script_make(lm, "#!/bin/sh\necho \"$@\" >$0.said\nmv $0.said ${0%lm}came\n");
	setenv("OMIG_LM", lm, 1);
	errno = 4711;
	rank_up();
	ck_assert_int_eq(errno, 4711);
	ck_assert(comes(came));
	f = fopen(came, "r");
	ck_assert_ptr_nonnull(fgets(said, sizeof(said), f));
	fclose(f);
	ck_assert_str_eq(said, args);
	/* The lm is not a child of this process, which keeps none of its descriptors. */
	ck_assert_int_eq(waitpid(-1, NULL, __WALL), -1);
	ck_assert_int_eq(app_state.lm_lock, -1);
	ck_assert_int_eq(app_state.lm_listener, -1);
	rank_down();
	unlink(lm);
	unlink(came);
}

static void lm_path(char *out, size_t size, const char *tail)
{
	ck_assert_int_ge(
		seg_lm_path(out, size, &(struct seg_lm_name){ dir, host, "testtest" }, tail), 0);
}

TEST(a_rank_starts_the_lm_of_its_host)
{
	char lock[300], sock[300];
	struct stat st;

	make_dir();
	lm_path(lock, sizeof(lock), ".lock");
	lm_path(sock, sizeof(sock), ".sock");
	umask(0377); /* must not affect the socket */
	is_started_with("--lock-fd 3 --daemon --listen-fd 4\n");
	ck_assert_uint_eq(umask(022), 0377);
	ck_assert_int_eq(stat(sock, &st), 0);
	ck_assert_uint_eq(st.st_mode, S_IFSOCK | 0600);
	unlink(lock);
	unlink(sock);
	ck_assert_int_eq(rmdir(dir), 0);
}

TEST(where_no_socket_can_be_made_the_lm_is_started_nevertheless)
{
	char lock[300], sock[300];

	make_dir();
	lm_path(lock, sizeof(lock), ".lock");
	lm_path(sock, sizeof(sock), ".sock");
	ck_assert_int_eq(mkdir(sock, 0700), 0);
	is_started_with("--lock-fd 3 --daemon\n");
	unlink(lock);
	rmdir(sock);
	ck_assert_int_eq(rmdir(dir), 0);
}

TEST(a_child_has_nothing_of_an_lm_that_is_started)
{
	int ends[2], how;
	pid_t pid;

	rank_up();
	ck_assert_int_eq(pipe(ends), 0);
	app_state.lm_lock = ends[0];
	app_state.lm_listener = ends[1];
	pid = fork();
	if (pid == 0)
		_exit(fcntl(ends[0], F_GETFD) < 0 && fcntl(ends[1], F_GETFD) < 0 ? 0 : 1);
	ck_assert_int_eq(waitpid(pid, &how, 0), pid);
	ck_assert_int_eq(how, 0);
	ck_assert_int_ge(fcntl(ends[0], F_GETFD), 0);
	app_state.lm_lock = app_state.lm_listener = -1;
	close(ends[0]);
	close(ends[1]);
	rank_down();
}

SUITE("meeting")
