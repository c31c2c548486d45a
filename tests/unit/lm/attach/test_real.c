/* SPDX-License-Identifier: Apache-2.0 */
/* Registration of real processes. */
#include "tests/unit/lm/real.h"

#include "common/base/file.h"
#include "common/ring/seglisten.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOBODY 65534

TEST(a_process_registers_and_its_end_is_seen_with_its_status)
{
	struct proc *p;
	pid_t pid;

	pid = real_start_rank();
	WAIT_FOR(procs_alive(real.procs) == 1);
	p = procs_find_pid(real.procs, pid);
	ck_assert_ptr_nonnull(p);
	ck_assert_int_eq(p->own.rank, 3);
	ck_assert_uint_ge(p->nthread, 1); /* a sanitizer may have an own thread */
	ck_assert_uint_eq(real.refusals, 0);
	real_end(pid, SIGUSR2, NULL); /* Check has a handler for SIGTERM */
	WAIT_FOR(procs_alive(real.procs) == 0);
	ck_assert_int_eq(p->state, MSG_STATE_ENDED);
	/* A kernel before 6.15 forgets the status with the process. */
	ck_assert(p->exit_status == SIGUSR2 || p->exit_status == -1);
}

static struct proc *taken_in(pid_t pid)
{
	list_each (i, procs_all(real.procs))
		if (list_entry(i, struct proc, link)->pid == pid)
			return list_entry(i, struct proc, link);
	return NULL;
}

/* The process ends before the lm reads its message: the lm reads the counters from the segment. */
TEST(a_process_that_is_over_before_the_lm_looks_is_seen_ended)
{
	struct proc *p;
	int status;
	pid_t pid;

	for (int i = 0; i < 2; i++) {
		pid = fork();
		if (pid == 0) {
			real_register(i);
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
	ck_assert_uint_eq(real.refusals, 0);
}

static unsigned entries_of(pid_t pid)
{
	unsigned n = 0;

	list_each (i, procs_all(real.procs))
		n += list_entry(i, struct proc, link)->pid == pid;
	return n;
}

/*
 * Two processes registered before there was an lm. One has ended; one lives and has its memfd. Each
 * is found once.
 */
BARE_TEST(a_registration_at_an_inherited_socket_is_accepted)
{
	struct err e = { 0 };
	pid_t over, lives;
	int fd, ready[2];
	char c;

	real_dir();
	ck_assert_int_eq(pipe(ready), 0);
	fd = real_listener(real.path, SOCK_SEQPACKET);
	over = fork();
	if (over == 0) {
		real_register(0);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(over, NULL, 0), over);
	lives = fork();
	if (lives == 0) {
		real_register(1);
		while (write(ready[1], "x", 1) == 1)
			pause();
		_exit(0);
	}
	ck_assert_int_eq(read(ready[0], &c, 1), 1);
	ck_assert_msg(real_open_with("omig-testtest", fd, &e) == 0, "%s", e.text);
	registration_adopt(real.registration);
	WAIT_FOR(!taken_in(over)->held);
	ck_assert(taken_in(lives)->held);
	ck_assert_int_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
	real_end(lives, SIGKILL, NULL);
	WAIT_FOR(!taken_in(lives)->held);
	ck_assert_uint_eq(entries_of(over), 1);
	ck_assert_uint_eq(entries_of(lives), 1);
	ck_assert_uint_eq(real.refusals, 0);
	real_close();
}

/*
 * The lm finds the process by its memfd. A child sends the registration later, after the process
 * has ended.
 */
BARE_TEST(a_late_registration_is_accepted_once)
{
	int ready[2], go[2];
	pid_t pid;
	char c;

	real_dir();
	ck_assert_int_eq(pipe(ready), 0);
	ck_assert_int_eq(pipe(go), 0);
	ck_assert_int_eq(real_open_with("omig-testtest", 0, NULL), 0);
	pid = fork();
	if (pid == 0) {
		struct fake_segment s;
		struct seg_register r;
		int to = real_dial();

		fake_segment_open(&s, getpid(), 2, (uint32_t)getpid());
		r = real_reg_of(&s);
		if (fork() == 0) {
			if (read(go[0], &c, 1) == 1)
				real_hand_over(to, &r, sizeof(r), &s.fd, 1);
			_exit(write(ready[1], "x", 1) != 1);
		}
		while (write(ready[1], "x", 1) == 1)
			pause();
		_exit(0);
	}
	ck_assert_int_eq(read(ready[0], &c, 1), 1);
	registration_adopt(real.registration);
	ck_assert(taken_in(pid)->held);
	real_end(pid, SIGKILL, NULL);
	WAIT_FOR(!taken_in(pid)->held);
	ck_assert_int_eq(write(go[1], "x", 1), 1);
	ck_assert_int_eq(read(ready[0], &c, 1), 1);
	for (int i = 0; i < 3; i++)
		loop_wait(real.loop, WAIT_STEP_NS);
	ck_assert_uint_eq(entries_of(pid), 1);
	real_close();
}

static void is_refused(int fd)
{
	struct err e = { 0 };

	ck_assert_int_eq(real_open_with("omig-realtest", fd, &e), -ERR_INVALID);
	ck_assert_ptr_nonnull(strstr(e.text, "is not the socket"));
	procs_free(real.procs);
	host_free(real.host);
	loop_free(real.loop);
	ck_assert_int_eq(close(fd), 0); /* it is ours still */
}

BARE_TEST(a_descriptor_that_is_not_the_socket_is_refused)
{
	char other[sizeof(real.path) + 2];

	real_dir();
	snprintf(other, sizeof(other), "%s.2", real.path);
	is_refused(open("/dev/null", O_RDWR));
	is_refused(socket(AF_UNIX, SOCK_SEQPACKET, 0)); /* it does not listen */
	is_refused(real_listener(other, SOCK_SEQPACKET));
	is_refused(real_listener(real.path, SOCK_STREAM));
	unlink(other);
	unlink(real.path);
	ck_assert_int_eq(rmdir(real.dir), 0);
}

/* Other tests that run now may have segments of that name too. */
TEST(an_lm_finds_running_processes_by_their_memfd)
{
	struct fake_segment s;
	pid_t pid;
	int ready[2];
	char c;

	ck_assert_int_eq(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		fake_segment_open(&s, getpid(), 3, (uint32_t)getpid());
		/* The segment has a name of this test, so that other tests do not find it. */
		if (write(ready[1], "x", 1) == 1)
			for (;;)
				pause();
	}
	ck_assert_int_eq(read(ready[0], &c, 1), 1);
	ck_assert_uint_eq(registration_adopt(real.registration), 0);
	registration_close(real.registration);
	ck_assert_int_eq(real_registration("omig-testtest", 0, NULL), 0);
	ck_assert_uint_ge(registration_adopt(real.registration), 1);
	ck_assert_ptr_nonnull(procs_find_pid(real.procs, pid));
	registration_adopt(real.registration);
	ck_assert_uint_eq(entries_of(pid), 1); /* again: the same one, not twice */
	real_end(pid, SIGKILL, NULL);
	WAIT_FOR(!taken_in(pid)->held);
}

/* As after an upgrade while programs run. */
TEST(segments_of_another_build_are_found_with_one_report)
{
	enum { PROCESSES = 3 };
	struct registration_stats stats;
	struct fake_segment s;
	pid_t pid[PROCESSES];
	int ready[2];
	char c;

	ck_assert_int_eq(pipe(ready), 0);
	for (int i = 0; i < PROCESSES; i++) {
		pid[i] = fork();
		if (pid[i] == 0) {
			fake_segment_open(&s, getpid(), i, (uint32_t)getpid());
			s.h->version = SEG_VERSION + 1;
			if (write(ready[1], "x", 1) == 1)
				for (;;)
					pause();
		}
		ck_assert_int_eq(read(ready[0], &c, 1), 1);
	}
	registration_close(real.registration);
	ck_assert_int_eq(real_registration("omig-testtest", 0, NULL), 0);
	real.refusals = 0;
	ck_assert_uint_eq(registration_adopt(real.registration), 0);
	registration_stats(real.registration, &stats);
	ck_assert_uint_eq(stats.of_other_builds, PROCESSES);
	ck_assert_uint_eq(stats.refused, PROCESSES);
	ck_assert_uint_eq(real.refusals, 1);
	for (int i = 0; i < PROCESSES; i++)
		real_end(pid[i], SIGKILL, NULL);
}

BARE_TEST(another_user_is_refused)
{
	int status;
	pid_t pid;

	if (getuid() != 0)
		return; /* no other user to play */
	real_open();
	/*
	 * The directory normally excludes other users. Here it is open, so that only the check of
	 * credentials refuses them.
	 */
	ck_assert_int_eq(chmod(real.dir, 0755), 0);
	ck_assert_int_eq(chmod(real.path, 0777), 0);
	pid = fork();
	if (pid == 0) {
		if (setresuid(NOBODY, NOBODY, NOBODY) < 0)
			_exit(91);
		real_register(3);
		_exit(0);
	}
	WAIT_FOR(real.refusals == 1);
	ck_assert_int_eq(real.last.code, ERR_DENIED);
	ck_assert_ptr_nonnull(strstr(real.last.text, "user 65534"));
	ck_assert_uint_eq(procs_alive(real.procs), 0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	ck_assert_int_ne(WEXITSTATUS(status), 91); /* it was the other user */
	real_close();
}

TEST(the_socket_is_closed_to_others)
{
	struct stat st;

	ck_assert_int_eq(stat(real.path, &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0600);
}

TEST(messages_that_are_none_of_ours_are_refused)
{
	struct fake_segment s;
	struct seg_register r;

	fake_segment_open(&s, getpid(), 3, 1);
	for (int i = 0; i < 6; i++) {
		int two[2] = { s.fd, s.fd }, fd = real_dial();
		char long_one[64] = { 0 };

		r = real_reg_of(&s);
		r.magic += i == 0;
		r.version += i == 1;
		r.bytes += i == 2;
		memcpy(long_one, &r, sizeof(r));
		ck_assert_int_ge(fd, 0);
		if (i == 5)
			real_hand_over(fd, long_one, sizeof(long_one), two, 1);
		else
			real_hand_over(fd, &r, sizeof(r), two, i == 3 ? 0 : i == 4 ? 2 : 1);
		WAIT_FOR(real.refusals == (unsigned)i + 1);
		if (i == 1)
			ck_assert_ptr_nonnull(strstr(real.last.text, "`omig stop`"));
		close(fd);
	}
	ck_assert_uint_eq(procs_alive(real.procs), 0);
	fake_segment_close(&s);
}

/* Jobs have hundreds of ranks: each other build is reported once, and only a few builds are. */
TEST(processes_of_another_build_are_reported_once_for_a_build)
{
	struct registration_stats stats;
	struct fake_segment s;
	struct seg_register r;
	uint64_t sent = 0;

	fake_segment_open(&s, getpid(), 3, 1);
	r = real_reg_of(&s);
	for (unsigned build = 1; build <= REGISTRATION_VERSIONS_MAX + 2; build++) {
		unsigned most =
			build < REGISTRATION_VERSIONS_MAX ? build : REGISTRATION_VERSIONS_MAX;

		for (int again = 0; again < 3; again++) {
			int fd = real_dial();

			r.version = SEG_VERSION + build;
			ck_assert_int_ge(fd, 0);
			real_hand_over(fd, &r, sizeof(r), &s.fd, 1);
			sent++;
			WAIT_FOR((registration_stats(real.registration, &stats),
				  stats.refused == sent));
			close(fd);
		}
		ck_assert_uint_eq(real.refusals, most);
	}
	ck_assert_uint_eq(procs_alive(real.procs), 0);
	fake_segment_close(&s);
}

/* Programs of another build read the version while this lm listens. */
TEST(its_version_is_beside_its_socket)
{
	char path[FILE_PATH_BYTES];

	ck_assert_uint_eq(seg_lm_version(real.path), SEG_VERSION);
	ck_assert_int_eq(seg_lm_version_path(path, sizeof(path), real.path), 0);
	ck_assert_int_eq(truncate(path, 0), 0);
	ck_assert_uint_eq(seg_lm_version(real.path), 0);
}

TEST(silent_connections_delay_nothing)
{
	int fd[REGISTRATION_WAITING_MAX * 2];
	pid_t pid;

	for (int i = 0; i < REGISTRATION_WAITING_MAX * 2; i++) {
		fd[i] = real_dial();
		ck_assert_int_ge(fd[i], 0);
		loop_wait(real.loop, 0);
	}
	pid = real_start_rank();
	WAIT_FOR(procs_alive(real.procs) == 1);
	for (int i = 0; i < REGISTRATION_WAITING_MAX * 2; i++)
		close(fd[i]);
	real_end(pid, SIGKILL, NULL);
	WAIT_FOR(procs_alive(real.procs) == 0);
	ck_assert_uint_eq(real.refusals, 0);
}

TEST(a_socket_that_was_left_behind_is_taken_away)
{
	int fd;

	registration_close(real.registration);
	close(real_listener(real.path, SOCK_SEQPACKET));
	ck_assert_int_eq(real_registration("omig-x", 0, NULL), 0);
	fd = real_dial();
	ck_assert_int_ge(fd, 0);
	close(fd);
}

#define CROWD 12

/*
 * A process that connects when no descriptor is left waits, and is watched when others have ended.
 */
TEST(processes_wait_for_descriptors)
{
	struct rlimit before, few;
	pid_t pid[CROWD];
	int next, gate[2];
	char c;

	ck_assert_int_eq(pipe(gate), 0);
	for (int i = 0; i < CROWD; i++) {
		pid[i] = fork();
		if (pid[i] == 0) {
			if (read(gate[0], &c, 1) != 1)
				_exit(93);
			real_wait_as_rank();
		}
	}
	next = dup(STDIN_FILENO);
	close(next);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
	few = (struct rlimit){ (rlim_t)next + CROWD / 2, before.rlim_max };
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
	ck_assert_int_eq(write(gate[1], "xxxxxxxxxxxx", CROWD), CROWD);
	WAIT_FOR(registration_is_resting(real.registration));
	ck_assert_uint_gt(procs_alive(real.procs), 0);
	ck_assert_uint_lt(procs_alive(real.procs), CROWD);
	for (int i = 0; i < CROWD; i++)
		if (procs_find_pid(real.procs, pid[i])) {
			real_end(pid[i], SIGKILL, NULL);
			pid[i] = 0;
		}
	WAIT_FOR(!registration_is_resting(real.registration));
	for (int i = 0; i < CROWD; i++)
		WAIT_FOR(pid[i] == 0 || procs_find_pid(real.procs, pid[i]));
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
	ck_assert_uint_eq(real.refusals, 0);
	for (int i = 0; i < CROWD; i++)
		if (pid[i])
			real_end(pid[i], SIGKILL, NULL);
	WAIT_FOR(procs_alive(real.procs) == 0);
	close(gate[0]);
	close(gate[1]);
}

/* A TCP socket whose last close waits for minutes: its peer reads nothing. */
static int lingering_socket(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(a);
	int l = socket(AF_INET, SOCK_STREAM, 0), fd = socket(AF_INET, SOCK_STREAM, 0);
	const struct linger minutes = { 1, 300 };
	char much[65536] = { 0 };

	if (bind(l, (struct sockaddr *)&a, len) || listen(l, 1) ||
	    getsockname(l, (struct sockaddr *)&a, &len) ||
	    connect(fd, (struct sockaddr *)&a, len) || accept(l, NULL, NULL) < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_LINGER, &minutes, sizeof(minutes)))
		_exit(91);
	while (send(fd, much, sizeof(much), MSG_DONTWAIT) > 0)
		;
	return fd;
}

/* Ends with all its descriptors except the lingering socket. */
static pid_t start_lingerer(bool is_second)
{
	pid_t pid = fork();
	struct seg_register none = { .magic = SEG_REGISTER_MAGIC, .version = SEG_VERSION };
	int to, fd;

	if (pid)
		return pid;
	to = real_dial();
	fd = lingering_socket();
	if (is_second) /* the first message ends the connection: the second one is never received */
		real_hand_over(to, "x", 1, NULL, 0);
	real_hand_over(to, &none, sizeof(none), (int[]){ fd, fd }, is_second ? 1 : 2);
	close(fd);
	for (;;)
		pause();
}

TEST(a_descriptor_whose_close_waits_delays_nothing_else)
{
	pid_t pid[2], rank;

	for (int i = 0; i < 2; i++)
		pid[i] = start_lingerer(i == 1);
	WAIT_FOR(real.refusals == 2);
	rank = real_start_rank();
	WAIT_FOR(procs_alive(real.procs) == 1);
	real_end(rank, SIGKILL, NULL);
	WAIT_FOR(procs_alive(real.procs) == 0);
	for (int i = 0; i < 2; i++)
		real_end(pid[i], SIGKILL, NULL);
}

SUITE_WITH("lm and processes that come", real_open, real_close)
