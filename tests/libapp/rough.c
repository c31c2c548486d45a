/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs that do forbidden things, or things that libraries forget. Two ranks; argv[1] selects
 * the case. All output, and the end, must be the same with and without libapp.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static int rank;

static void work(int rounds)
{
	int x = rank, sum = 0;

	for (int i = 0; i < rounds; i++) {
		MPI_Sendrecv(&x, 1, MPI_INT, !rank, 1, &sum, 1, MPI_INT, !rank, 1, MPI_COMM_WORLD,
			     MPI_STATUS_IGNORE);
		MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	}
	if (rank == 0)
		printf("sum %d\n", sum);
	fflush(stdout);
}

static int wait_for(pid_t pid)
{
	int status = 0;

	if (waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

/*
 * A child that calls a function of MPI: whatever the call returns, the parent's counters do not
 * change.
 */
static int fork_child(void)
{
	int flag = 0;
	pid_t pid = fork();

	if (pid == 0) {
		for (int i = 0; i < 1000; i++)
			MPI_Initialized(&flag);
		_exit(flag == 1 ? 7 : 8);
	}
	printf("rank %d: child ended with %d\n", rank, wait_for(pid));
	work(100);
	return MPI_Finalize();
}

static int exec_child(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		execl("/bin/sh", "sh", "-c", "exit 5", (char *)NULL);
		_exit(9);
	}
	printf("rank %d: child ended with %d\n", rank, wait_for(pid));
	/* The program has no child that it did not start: wait() fails with ECHILD. */
	printf("rank %d: wait %d\n", rank, waitpid(-1, NULL, __WALL) < 0 ? errno == ECHILD : -1);
	work(100);
	return MPI_Finalize();
}

/* Closes everything but the three standard ones, once MPI needs them no more. */
static int close_all(void)
{
	pid_t pid;

	work(10);
	MPI_Finalize();
	for (int fd = 3; fd < 2000; fd++)
		close(fd);
	/*
	 * Other files have the number of the segment's old descriptor: a child must not close
	 * them.
	 */
	for (int fd = 3; fd < 1000; fd++)
		if (dup(0) < 0)
			break;
	pid = fork();
	if (pid == 0)
		_exit(fcntl(100, F_GETFD) >= 0 && fcntl(200, F_GETFD) >= 0 &&
		      fcntl(900, F_GETFD) >= 0);
	printf("rank %d: files of the child %d\n", rank, wait_for(pid));
	return 0;
}

static int low_fds(void)
{
	int first = open("/dev/null", O_RDONLY), taken = 0;

	/* Not one more low descriptor than the bare program has: the shell script checks that. */
	for (int fd = 3; fd < 200; fd++)
		taken += fcntl(fd, F_GETFD) >= 0;
	if (rank == 0)
		printf("first %d taken %d\n", first, taken);
	work(1);
	return MPI_Finalize();
}

static volatile sig_atomic_t in_handler;

static void on_prof(int sig)
{
	int flag, saved = errno;

	/*
	 * MPI forbids these calls; libapp must not crash in them. MPI_Initialized may be called at
	 * any time.
	 */
	MPI_Initialized(&flag);
	in_handler++;
	errno = saved;
}

static void on_alarm(int sig)
{
	in_handler++;
}

/* Sends signals permanently while MPI and its libraries initialise. */
static void begin_in_a_storm(int *argc, char ***argv)
{
	struct sigaction a = { .sa_handler = on_alarm, .sa_flags = SA_RESTART };
	struct itimerval fast = { { 0, 200 }, { 0, 200 } }, off = { { 0, 0 }, { 0, 0 } };

	sigaction(SIGALRM, &a, NULL);
	setitimer(ITIMER_REAL, &fast, NULL);
	MPI_Init(argc, argv);
	setitimer(ITIMER_REAL, &off, NULL);
}

static int storm(void)
{
	struct sigaction a = { .sa_handler = on_prof, .sa_flags = SA_RESTART };
	struct itimerval fast = { { 0, 500 }, { 0, 500 } }, off = { { 0, 0 }, { 0, 0 } };
	char *p;

	sigaction(SIGPROF, &a, NULL);
	setitimer(ITIMER_PROF, &fast, NULL);
	for (int i = 0; i < 200; i++) {
		/* Some of the signals arrive while malloc or stdio holds its lock. */
		for (int k = 0; k < 200; k++) {
			p = malloc(100 + (size_t)k * 50);
			memset(p, k, 100);
			free(p);
		}
		fflush(stdout);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	setitimer(ITIMER_PROF, &off, NULL);
	printf("rank %d: weathered\n", rank);
	work(10);
	return MPI_Finalize();
}

static void *sit_in_recv(void *arg)
{
	int x;

	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	for (;;)
		MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_SELF, &x, MPI_STATUS_IGNORE);
	return NULL;
}

static int cancel(void)
{
	pthread_t t;
	void *end;

	pthread_create(&t, NULL, sit_in_recv, NULL);
	usleep(20000);
	pthread_cancel(t);
	pthread_join(t, &end);
	printf("rank %d: cancelled %d\n", rank, end == PTHREAD_CANCELED);
	fflush(stdout);
	/* MPI may hold its own lock after the jump: this case makes no further call of MPI. */
	_exit(0);
}

static int small_memory(void)
{
	work(10);
	return MPI_Finalize();
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "no_mpi")) {
		printf("no MPI\n");
		return 3;
	}
	if (!strcmp(what, "early_storm"))
		begin_in_a_storm(&argc, &argv);
	else
		MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (!strcmp(what, "fork"))
		return fork_child();
	if (!strcmp(what, "exec"))
		return exec_child();
	if (!strcmp(what, "close_all"))
		return close_all();
	if (!strcmp(what, "low_fds"))
		return low_fds();
	if (!strcmp(what, "storm"))
		return storm();
	if (!strcmp(what, "cancel"))
		return cancel();
	if (!strcmp(what, "plain") || !strcmp(what, "early_storm"))
		return small_memory();
	work(10);
	if (!strcmp(what, "abort_mpi"))
		return MPI_Abort(MPI_COMM_WORLD, 17);
	if (!strcmp(what, "abort"))
		abort();
	if (!strcmp(what, "segv"))
		raise(SIGSEGV);
	if (!strcmp(what, "kill"))
		raise(SIGKILL);
	if (!strcmp(what, "_exit"))
		_exit(4);
	if (!strcmp(what, "exit"))
		exit(6);
	if (!strcmp(what, "dlclose")) {
		void *us = dlopen("libomig.so", RTLD_NOW | RTLD_NOLOAD);

		for (int i = 0; us && i < 100; i++)
			dlclose(us);
		work(10);
	}
	MPI_Finalize();
	if (!strcmp(what, "late"))
		printf("rank %d: after\n", rank);
	return 0;
}
