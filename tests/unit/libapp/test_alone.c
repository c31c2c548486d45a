/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process with probes or events and without MPI, its children, and one that loads MPI later. This
 * program has no imitation of MPI. The lm is a socket of the test.
 */
#include "common/ring/segview.h"
#include "common/base/array.h"
#include "libapp/hot/app_state.h"
#include "libapp/setup/setup.h"
#include "libapp/wrap.h"
#include "tests/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE_MS 20000

static char dir[] = "/tmp/omig-test-XXXXXX", host[256];
static struct sockaddr_un to = { .sun_family = AF_UNIX };
static int listener = -1;

static void set_up(void)
{
	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(gethostname(host, sizeof(host)), 0);
	setenv("OMIG_RUNTIME_DIR", dir, 1);
	setenv("OMIG_MAINSM", "omig1:127.0.0.1:1:testtest00000000", 1);
	unsetenv("OMIG_DISABLE");
	ck_assert_int_ge(seg_lm_path(to.sun_path, sizeof(to.sun_path),
				     &(struct seg_lm_name){ dir, host, "testtest" }, ".sock"),
			 0);
	listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	ck_assert_int_eq(bind(listener, (const struct sockaddr *)&to, sizeof(to)), 0);
	ck_assert_int_eq(listen(listener, 8), 0);
}

static void clean_up(void)
{
	close(listener);
	unlink(to.sun_path);
	ck_assert_int_eq(rmdir(dir), 0);
}

/* The next message to the lm: the segment, or -1 when nothing has come. */
static int registered(struct seg_register *reg, int patience_ms)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec iov = { reg, sizeof(*reg) };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = control.bytes,
			      .msg_controllen = sizeof(control.bytes) };
	struct pollfd p = { listener, POLLIN, 0 };
	int conn, fd = -1;

	if (poll(&p, 1, patience_ms) != 1)
		return -1;
	conn = accept(listener, NULL, NULL);
	ck_assert_int_eq(recvmsg(conn, &msg, MSG_CMSG_CLOEXEC), sizeof(*reg));
	ck_assert_uint_eq(reg->magic, SEG_REGISTER_MAGIC);
	ck_assert_ptr_nonnull(CMSG_FIRSTHDR(&msg));
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(fd));
	close(conn);
	return fd;
}

static struct seg_own own_of(int segment)
{
	struct segview *v = NULL;
	struct seg_own own;
	struct err e = { 0 };

	ck_assert_msg(segview_open(segment, getuid(), &v, &e) == 0, "%s", e.text);
	segview_own(v, &own);
	segview_free(v);
	return own;
}

TEST(a_process_without_mpi_is_watched_and_has_no_rank)
{
	struct seg_register reg;
	struct seg_own own;
	int fd;

	setenv("PMI_RANK", "3", 1); /* its launcher's word is about MPI */
	setenv("PMI_SIZE", "4", 1);
	errno = 4711;
	setup_without_mpi();
	ck_assert_int_eq(errno, 4711);
	ck_assert_int_eq(app_state.life, APP_WITHOUT_MPI);
	fd = registered(&reg, PATIENCE_MS);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(reg.pid, getpid());
	ck_assert_uint_eq(reg.bytes, app_state.bytes);
	own = own_of(fd);
	ck_assert_uint_eq(own.state, SEG_WITHOUT_MPI);
	ck_assert_int_eq(own.rank, -1);
	ck_assert_int_eq(own.world_size, -1);
	ck_assert_uint_eq(own.pcontrol, 1);
	ck_assert_int_eq(own.pid, getpid());
	/* A second call registers nothing. */
	setup_without_mpi();
	ck_assert_int_eq(registered(&reg, 0), -1);
	close(fd);
}

TEST(without_a_monitor_it_stays_alone)
{
	struct seg_register reg;

	setenv("OMIG_DISABLE", "1", 1);
	setup_without_mpi();
	unsetenv("OMIG_DISABLE");
	unsetenv("OMIG_MAINSM");
	setup_without_mpi();
	ck_assert_int_eq(app_state.life, APP_NONE);
	ck_assert_ptr_null(app_state.base);
	ck_assert_int_eq(registered(&reg, 0), -1);
	/* The failed set-up left the state unchanged, so a later one succeeds. */
	setenv("OMIG_MAINSM", "omig1:127.0.0.1:1:testtest00000000", 1);
	setup_without_mpi();
	ck_assert_int_eq(app_state.life, APP_WITHOUT_MPI);
}

TEST(mpi_init_makes_the_process_a_rank)
{
	struct seg_register reg;
	struct seg_own own;
	int first, fd;

	setenv("PMI_RANK", "3", 1);
	setup_without_mpi();
	first = registered(&reg, PATIENCE_MS);
	errno = 4711;
	setup_run(wrap_resolve_all);
	ck_assert_int_eq(errno, 4711);
	ck_assert_int_eq(app_state.life, APP_RANK);
	fd = registered(&reg, PATIENCE_MS);
	ck_assert_int_ge(fd, 0);
	own = own_of(first); /* the same memory */
	ck_assert_uint_eq(own.state, SEG_RUNNING);
	ck_assert_int_eq(own.rank, 3);
	ck_assert_uint_eq(own.flavour, SEG_FLAVOUR_NONE);
	setup_run(wrap_resolve_all);
	ck_assert_int_eq(registered(&reg, 0), -1);
	setup_finalize();
	ck_assert_uint_eq(own_of(first).state, SEG_FINALIZED);
	close(first);
	close(fd);
}

TEST(a_descriptor_reused_by_the_program_is_not_passed_on)
{
	struct seg_register reg;
	int first, null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	setup_without_mpi();
	first = registered(&reg, PATIENCE_MS);
	ck_assert(segment_is_held());
	ck_assert_int_eq(dup2(null, app_state.fd), app_state.fd);
	ck_assert(!segment_is_held());
	setup_run(wrap_resolve_all);
	ck_assert_int_eq(app_state.life, APP_RANK);
	ck_assert_int_eq(registered(&reg, 0), -1);
	ck_assert_uint_eq(own_of(first).state, SEG_RUNNING);
	close(first);
	close(null);
}

static int wait_for(pid_t pid)
{
	int how = -1;

	ck_assert_int_eq(waitpid(pid, &how, 0), pid);
	return WIFEXITED(how) ? WEXITSTATUS(how) : 1000 + how;
}

/* In a child of a process without MPI. Each fault has a number. */
static int child(int parents_fd)
{
	int saved;

	if (app_state.life != APP_FORKED || fcntl(parents_fd, F_GETFD) >= 0)
		return 1;
	if (app_header()->magic == SEG_MAGIC || app_header()->w.pid)
		return 2;
	errno = 4711;
	setup_without_mpi();
	saved = errno;
	if (saved != 4711 || app_state.life != APP_WITHOUT_MPI)
		return 3;
	if (app_header()->magic != SEG_MAGIC || app_header()->w.pid != getpid())
		return 4;
	setup_without_mpi();
	return app_state.life == APP_WITHOUT_MPI ? 0 : 5;
}

TEST(a_child_comes_to_life_by_itself_with_memory_of_its_own)
{
	struct seg_register reg;
	int first, fd;
	pid_t pid;

	setup_without_mpi();
	first = registered(&reg, PATIENCE_MS);
	pid = fork();
	if (pid == 0)
		exit(child(app_state.fd));
	fd = registered(&reg, PATIENCE_MS);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(reg.pid, pid);
	ck_assert_int_eq(wait_for(pid), 0);
	ck_assert_int_eq(own_of(fd).pid, pid);
	ck_assert_uint_eq(own_of(fd).state, SEG_WITHOUT_MPI);
	ck_assert_int_eq(own_of(first).pid, getpid());
	ck_assert_int_eq(registered(&reg, 0), -1); /* once */
	close(first);
	close(fd);
}

TEST(a_child_of_a_rank_stays_alone)
{
	struct seg_register reg;
	pid_t pid;

	setup_run(wrap_resolve_all);
	close(registered(&reg, PATIENCE_MS));
	ck_assert_int_eq(app_state.life, APP_RANK);
	pid = fork();
	if (pid == 0) {
		setup_without_mpi();
		setup_run(wrap_resolve_all);
		exit(app_state.life == APP_OVER && app_header()->magic != SEG_MAGIC ? 0 : 1);
	}
	ck_assert_int_eq(wait_for(pid), 0);
	ck_assert_int_eq(registered(&reg, 0), -1);
	ck_assert_uint_eq(app_header()->magic, SEG_MAGIC);
}

static int opened = -1;

static int open_one(void *arg)
{
	opened = open("/dev/null", O_RDONLY);
	return 0;
}

TEST(descriptors_of_a_thread_apart_are_its_own)
{
	sigset_t after;

	launch_apart(open_one);
	ck_assert_int_ge(opened, 0);
	ck_assert_int_lt(fcntl(opened, F_GETFD), 0);
	ck_assert_int_eq(sigprocmask(SIG_SETMASK, NULL, &after), 0);
	ck_assert_int_eq(sigismember(&after, SIGTERM), 0);
}

SUITE_WITH("alone", set_up, clean_up)
