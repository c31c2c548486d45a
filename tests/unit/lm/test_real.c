/* SPDX-License-Identifier: Apache-2.0 */
/* Real processes, a real socket, real pidfds. */
#include "common/base/str.h"
#include "common/loop/loop.h"
#include "lm/host_linux.h"
#include "lm/intake.h"
#include "lm/stops.h"
#include "lm/tickbase.h"
#include "tests/suite.h"
#include "tests/unit/lm/fake_segment.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define WAIT_TRIES 2500
#define WAIT_STEP_NS (20 * NSEC_PER_MSEC)
#define NOBODY 65534

static struct loop *loop;
static struct host *host;
static struct procs *procs;
static struct tickbase ticks;
static struct intake *intake;
static char dir[64], path[128];
static unsigned refusals;
static struct err last;

static void on_refused(void *arg, int32_t pid, const struct err *why)
{
	refusals++;
	last = *why;
}

static void make_dir(void)
{
	str_copy(dir, sizeof(dir), "/tmp/omig-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/lm.sock", dir);
}

static int open_intake(const char *memfd, int listener, struct err *e)
{
	return intake_open(&(struct intake_conf){ .loop = loop,
						  .host = host,
						  .procs = procs,
						  .memfd = memfd,
						  .socket = path,
						  .listener = listener,
						  .uid = getuid(),
						  .refused = on_refused },
			   &intake, e);
}

static int open_with(int listener, struct err *e)
{
	struct procs_conf c = { .epoch = 1 };

	loop = loop_new();
	tickbase_init(&ticks);
	ck_assert_int_eq(host_linux_open("/", loop, &host, e), 0);
	c.loop = loop;
	c.host = host;
	c.ticks = &ticks;
	ck_assert_int_eq(procs_open(&c, &procs, e), 0);
	return open_intake("omig-realtest", listener, e);
}

static void open_all(void)
{
	struct err e = { 0 };

	make_dir();
	ck_assert_msg(open_with(0, &e) == 0, "%s", e.text);
}

static void close_all(void)
{
	intake_close(intake);
	procs_free(procs);
	host_free(host);
	loop_free(loop);
	ck_assert_int_ne(access(path, F_OK), 0);
	rmdir(dir);
}

/* Lets the loop work until the condition holds; bounded. */
#define WAIT_FOR(condition)                                                      \
	do {                                                                     \
		for (int tries = 0; !(condition) && tries < WAIT_TRIES; tries++) \
			loop_wait(loop, WAIT_STEP_NS);                           \
		ck_assert(condition);                                            \
	} while (0)

/* --- the child's side */

static int dial(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);

	str_copy(a.sun_path, sizeof(a.sun_path), path);
	return connect(fd, (struct sockaddr *)&a, sizeof(a)) < 0 ? -errno : fd;
}

static void hand_over(int to, const void *p, size_t n, const int *fds, size_t nfd)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(4 * sizeof(int))];
	} control;
	struct iovec iov = { (void *)(uintptr_t)p, n };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct cmsghdr *c;

	memset(&control, 0, sizeof(control));
	if (nfd) {
		m.msg_control = control.bytes;
		m.msg_controllen = CMSG_SPACE(nfd * sizeof(int));
		c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(nfd * sizeof(int));
		memcpy(CMSG_DATA(c), fds, nfd * sizeof(int));
	}
	if (sendmsg(to, &m, MSG_NOSIGNAL) < 0)
		_exit(90);
}

static struct seg_register reg_of(const struct fake_segment *s)
{
	return (struct seg_register){ .magic = SEG_REGISTER_MAGIC,
				      .version = SEG_VERSION,
				      .pid = getpid(),
				      .bytes = s->bytes };
}

/* As who starts an lm makes it. */
static int listener_make(const char *at, int type)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, type, 0);

	str_copy(a.sun_path, sizeof(a.sun_path), at);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	ck_assert_int_eq(listen(fd, 8), 0);
	return fd;
}

static void register_now(int rank)
{
	struct fake_segment s;
	struct seg_register r;

	fake_segment_open(&s, getpid(), rank, (uint32_t)getpid());
	r = reg_of(&s);
	hand_over(dial(), &r, sizeof(r), &s.fd, 1);
}

static void wait_as_rank(void)
{
	register_now(3);
	for (;;)
		pause();
}

/* A rank that registers and then waits to be killed. */
static pid_t start_rank(void)
{
	pid_t pid = fork();

	if (pid == 0)
		wait_as_rank();
	return pid;
}

static void end(pid_t pid, int sig, int *status)
{
	kill(pid, sig);
	ck_assert_int_eq(waitpid(pid, status, 0), pid);
}

START_TEST(a_process_registers_and_its_end_is_seen_with_its_status)
{
	struct proc *p;
	pid_t pid;

	open_all();
	pid = start_rank();
	WAIT_FOR(procs_alive(procs) == 1);
	p = procs_find_pid(procs, pid);
	ck_assert_ptr_nonnull(p);
	ck_assert_int_eq(p->own.rank, 3);
	ck_assert_uint_ge(p->nthread, 1); /* a sanitizer may have one of its own */
	ck_assert_uint_eq(refusals, 0);
	end(pid, SIGUSR2, NULL); /* Check has a handler for SIGTERM */
	WAIT_FOR(procs_alive(procs) == 0);
	ck_assert_int_eq(p->state, MSG_STATE_ENDED);
	/* A kernel before 6.15 forgets the status with the process. */
	ck_assert(p->exit_status == SIGUSR2 || p->exit_status == -1);
	close_all();
}
END_TEST

static struct proc *taken_in(pid_t pid)
{
	list_each (i, procs_all(procs))
		if (list_entry(i, struct proc, link)->pid == pid)
			return list_entry(i, struct proc, link);
	return NULL;
}

/* The lm is held up for as long as that: the counters are there, in what the process has left. */
START_TEST(a_process_that_is_over_before_the_lm_looks_is_seen_ended)
{
	struct proc *p;
	int status;
	pid_t pid;

	open_all();
	for (int i = 0; i < 2; i++) {
		pid = fork();
		if (pid == 0) {
			register_now(i);
			_exit(3);
		}
		/* once reaped, once a zombie */
		ck_assert_int_eq(i ? waitid(P_PID, (id_t)pid, &(siginfo_t){ 0 }, WEXITED | WNOWAIT)
				   : waitpid(pid, &status, 0) - pid,
				 0);
		WAIT_FOR((p = taken_in(pid)) && !p->held);
		ck_assert_int_eq(p->own.rank, i);
		ck_assert_int_eq(p->state, MSG_STATE_ENDED);
		if (i)
			ck_assert_int_eq(p->exit_status, 3 << 8);
	}
	waitpid(pid, NULL, 0);
	ck_assert_uint_eq(refusals, 0);
	close_all();
}
END_TEST

/* Of two that registered before there was an lm one is over, one lives: each comes once. */
START_TEST(who_registered_at_an_inherited_socket_is_taken_in)
{
	struct err e = { 0 };
	pid_t over, lives;
	int fd;

	make_dir();
	fd = listener_make(path, SOCK_SEQPACKET);
	over = fork();
	if (over == 0) {
		register_now(0);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(over, NULL, 0), over);
	lives = start_rank();
	ck_assert_msg(open_with(fd, &e) == 0, "%s", e.text);
	intake_adopt(intake);
	ck_assert_ptr_nonnull(taken_in(over));
	WAIT_FOR(taken_in(lives));
	WAIT_FOR(!taken_in(over)->held);
	ck_assert_uint_eq(procs_alive(procs), 1);
	ck_assert_uint_eq(refusals, 0);
	ck_assert_int_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
	end(lives, SIGKILL, NULL);
	WAIT_FOR(procs_alive(procs) == 0);
	close_all();
}
END_TEST

static void is_refused(int fd)
{
	struct err e = { 0 };

	ck_assert_int_eq(open_with(fd, &e), -ERR_INVALID);
	ck_assert_ptr_nonnull(strstr(e.text, "is not the socket"));
	procs_free(procs);
	host_free(host);
	loop_free(loop);
	ck_assert_int_eq(close(fd), 0); /* it is ours still */
}

START_TEST(a_descriptor_that_is_not_the_socket_is_refused)
{
	char other[sizeof(path) + 2];

	make_dir();
	snprintf(other, sizeof(other), "%s.2", path);
	is_refused(open("/dev/null", O_RDWR));
	is_refused(socket(AF_UNIX, SOCK_SEQPACKET, 0)); /* it does not listen */
	is_refused(listener_make(other, SOCK_SEQPACKET));
	is_refused(listener_make(path, SOCK_STREAM));
	unlink(other);
	unlink(path);
	ck_assert_int_eq(rmdir(dir), 0);
}
END_TEST

START_TEST(an_lm_finds_running_processes_by_their_memfd)
{
	struct fake_segment s;
	pid_t pid;
	int ready[2];
	char c;

	open_all();
	ck_assert_int_eq(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		fake_segment_open(&s, getpid(), 3, (uint32_t)getpid());
		/* The name is that of the test's segments, not of all of them. */
		if (write(ready[1], "x", 1) == 1)
			for (;;)
				pause();
	}
	ck_assert_int_eq(read(ready[0], &c, 1), 1);
	ck_assert_uint_eq(intake_adopt(intake), 0);
	intake_close(intake);
	ck_assert_int_eq(open_intake("omig-testtest", 0, NULL), 0);
	ck_assert_uint_ge(intake_adopt(intake), 1);
	ck_assert_ptr_nonnull(procs_find_pid(procs, pid));
	ck_assert_uint_eq(intake_adopt(intake), 1); /* again: the same one, not twice */
	ck_assert_uint_eq(procs_alive(procs), 1);
	end(pid, SIGKILL, NULL);
	WAIT_FOR(procs_alive(procs) == 0);
	close_all();
}
END_TEST

START_TEST(another_user_is_refused)
{
	int status;
	pid_t pid;

	if (getuid() != 0)
		return; /* nobody else to play */
	open_all();
	/* The directory keeps others out already; here it is left open, so that the credentials must do it. */
	ck_assert_int_eq(chmod(dir, 0755), 0);
	ck_assert_int_eq(chmod(path, 0777), 0);
	pid = fork();
	if (pid == 0) {
		if (setresuid(NOBODY, NOBODY, NOBODY) < 0)
			_exit(91);
		register_now(3);
		_exit(0);
	}
	WAIT_FOR(refusals == 1);
	ck_assert_int_eq(last.code, ERR_DENIED);
	ck_assert_ptr_nonnull(strstr(last.text, "user 65534"));
	ck_assert_uint_eq(procs_alive(procs), 0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	ck_assert_int_ne(WEXITSTATUS(status), 91); /* it was nobody */
	close_all();
}
END_TEST

START_TEST(the_socket_is_closed_to_others)
{
	struct stat st;

	open_all();
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0600);
	close_all();
}
END_TEST

START_TEST(messages_that_are_none_of_ours_are_refused)
{
	struct fake_segment s;
	struct seg_register r;

	open_all();
	fake_segment_open(&s, getpid(), 3, 1);
	for (int i = 0; i < 6; i++) {
		int two[2] = { s.fd, s.fd }, fd = dial();
		char long_one[64] = { 0 };

		r = reg_of(&s);
		r.magic += i == 0;
		r.version += i == 1;
		r.bytes += i == 2;
		memcpy(long_one, &r, sizeof(r));
		ck_assert_int_ge(fd, 0);
		if (i == 5)
			hand_over(fd, long_one, sizeof(long_one), two, 1);
		else
			hand_over(fd, &r, sizeof(r), two, i == 3 ? 0 : i == 4 ? 2 : 1);
		WAIT_FOR(refusals == (unsigned)i + 1);
		if (i == 1)
			ck_assert_ptr_nonnull(strstr(last.text, "install the same release"));
		close(fd);
	}
	ck_assert_uint_eq(procs_alive(procs), 0);
	fake_segment_close(&s);
	close_all();
}
END_TEST

START_TEST(silent_visitors_hold_nobody_up)
{
	int fd[INTAKE_WAITING_MAX * 2];
	pid_t pid;

	open_all();
	for (int i = 0; i < INTAKE_WAITING_MAX * 2; i++) {
		fd[i] = dial();
		ck_assert_int_ge(fd[i], 0);
		loop_wait(loop, 0);
	}
	pid = start_rank();
	WAIT_FOR(procs_alive(procs) == 1);
	for (int i = 0; i < INTAKE_WAITING_MAX * 2; i++)
		close(fd[i]);
	end(pid, SIGKILL, NULL);
	WAIT_FOR(procs_alive(procs) == 0);
	ck_assert_uint_eq(refusals, 0);
	close_all();
}
END_TEST

START_TEST(a_socket_that_was_left_behind_is_taken_away)
{
	int fd;

	open_all();
	intake_close(intake);
	close(listener_make(path, SOCK_SEQPACKET));
	ck_assert_int_eq(open_intake("omig-x", 0, NULL), 0);
	fd = dial();
	ck_assert_int_ge(fd, 0);
	close(fd);
	close_all();
}
END_TEST

#define CROWD 12

/* Whoever comes when no descriptor is left waits, and is watched when others have gone. */
START_TEST(processes_wait_for_descriptors)
{
	struct rlimit before, few;
	pid_t pid[CROWD];
	int next, gate[2];
	char c;

	open_all();
	ck_assert_int_eq(pipe(gate), 0);
	for (int i = 0; i < CROWD; i++) {
		pid[i] = fork();
		if (pid[i] == 0) {
			if (read(gate[0], &c, 1) != 1)
				_exit(93);
			wait_as_rank();
		}
	}
	next = dup(STDIN_FILENO);
	close(next);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
	few = (struct rlimit){ (rlim_t)next + CROWD / 2, before.rlim_max };
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
	ck_assert_int_eq(write(gate[1], "xxxxxxxxxxxx", CROWD), CROWD);
	WAIT_FOR(intake_is_resting(intake));
	ck_assert_uint_gt(procs_alive(procs), 0);
	ck_assert_uint_lt(procs_alive(procs), CROWD);
	for (int i = 0; i < CROWD; i++)
		if (procs_find_pid(procs, pid[i])) {
			end(pid[i], SIGKILL, NULL);
			pid[i] = 0;
		}
	WAIT_FOR(!intake_is_resting(intake));
	for (int i = 0; i < CROWD; i++)
		WAIT_FOR(pid[i] == 0 || procs_find_pid(procs, pid[i]));
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
	ck_assert_uint_eq(refusals, 0);
	for (int i = 0; i < CROWD; i++)
		if (pid[i])
			end(pid[i], SIGKILL, NULL);
	WAIT_FOR(procs_alive(procs) == 0);
	close(gate[0]);
	close(gate[1]);
	close_all();
}
END_TEST

/* A child with a pid of our choice, when we may choose. */
static pid_t fork_as(pid_t wanted)
{
	struct clone_args a = { .exit_signal = SIGCHLD,
				.set_tid = (uintptr_t)&wanted,
				.set_tid_size = 1 };

	return (pid_t)syscall(SYS_clone3, &a, sizeof(a));
}

static atomic_int *hits;

static void on_hit(int sig)
{
	atomic_fetch_add(hits, 1);
}

START_TEST(a_recycled_pid_is_never_signalled)
{
	struct sigaction count = { .sa_handler = on_hit };
	unsigned recycled = 0;

	open_all();
	hits = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	sigaction(SIGUSR1, &count, NULL); /* inherited: a wrong signal is counted */
	for (int i = 0; i < 200; i++) {
		struct host_proc *held;
		pid_t first = fork(), second;

		if (first == 0)
			for (;;)
				pause();
		ck_assert_int_eq(host_proc_open(host, first, &held, NULL), 0);
		end(first, SIGKILL, NULL);
		second = fork_as(first);
		if (second == 0)
			for (;;)
				pause();
		if (second < 0) {
			ck_assert_int_eq(host_proc_signal(held, SIGUSR1, NULL), -ERR_NOTFOUND);
			host_proc_close(held);
			continue; /* choosing a pid needs a privilege, or somebody was faster */
		}
		ck_assert_int_eq(second, first);
		recycled++;
		ck_assert_int_eq(host_proc_signal(held, SIGUSR1, NULL), -ERR_NOTFOUND);
		ck_assert_int_eq(host_proc_signal(held, SIGKILL, NULL), -ERR_NOTFOUND);
		ck_assert_int_eq(kill(second, 0), 0);
		host_proc_close(held);
		end(second, SIGKILL, NULL);
	}
	ck_assert_int_eq(atomic_load(hits), 0);
	ck_assert(getuid() != 0 || recycled > 100 || errno == EPERM);
	close_all();
}
END_TEST

START_TEST(stop_and_continue_reach_a_real_process)
{
	struct stops *s;
	struct proc *p;
	int status;
	pid_t pid;

	open_all();
	ck_assert_int_eq(stops_open(&(struct stops_conf){ loop, host, procs, NULL, 1, NULL }, &s, NULL), 0);
	stops_link(s, true);
	pid = start_rank();
	WAIT_FOR(procs_find_pid(procs, pid));
	p = procs_find_pid(procs, pid);
	ck_assert_int_eq(stops_stop(s, p, 1, NULL), 0);
	ck_assert_int_eq(waitpid(pid, &status, WUNTRACED), pid);
	ck_assert(WIFSTOPPED(status));
	stops_tool_gone(s, 1);
	ck_assert_int_eq(waitpid(pid, &status, WCONTINUED), pid);
	ck_assert(WIFCONTINUED(status));
	end(pid, SIGKILL, NULL);
	WAIT_FOR(procs_alive(procs) == 0);
	stops_free(s);
	close_all();
}
END_TEST

SUITE("lm with real processes",
      a_process_registers_and_its_end_is_seen_with_its_status,
      a_process_that_is_over_before_the_lm_looks_is_seen_ended, who_registered_at_an_inherited_socket_is_taken_in,
      a_descriptor_that_is_not_the_socket_is_refused, an_lm_finds_running_processes_by_their_memfd,
      another_user_is_refused, the_socket_is_closed_to_others, messages_that_are_none_of_ours_are_refused,
      silent_visitors_hold_nobody_up, a_socket_that_was_left_behind_is_taken_away, processes_wait_for_descriptors,
      a_recycled_pid_is_never_signalled, stop_and_continue_reach_a_real_process)
