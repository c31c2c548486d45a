/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program without MPI that meets a probe and an event 200 times a second until a file is there.
 *
 *	alone MODE FILE PIDFILE
 *
 * plain	as it is
 * threads	four threads, of which three begin later
 * fork		a child process does it, and the program waits for it
 * daemon	the program goes to the background: two forks, and all descriptors closed
 * exec		it replaces itself by the same program
 * mpi		after a second it loads an MPI library, becomes a rank, and continues with
 *		calls of MPI_Reduce_local
 *
 * Its pid is in PIDFILE when it meets the first one. Built with -DNO_EVENTS it has the probe only.
 */
#include "loops_probes.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef NO_EVENTS
#define OMIG_EVENT(name, text, level, ...)
#define omig_event(name, ...) ((void)0)
#else
#include <omig/event.h>
#endif

OMIG_EVENT(beat, "alone.beat", OMIG_INFO, (int32, number))

#define BEAT_US 5000
#define FDS_MAX 1024

static const char *until;
static int (*reduce)(const void *from, void *to, int n, void *type, void *op);
static void *type, *op;

static void put_pid(const char *path)
{
	char part[4096];
	FILE *f;

	snprintf(part, sizeof(part), "%s.part", path);
	f = fopen(part, "w");
	if (!f || fprintf(f, "%ld\n", (long)getpid()) < 0 || fclose(f) || rename(part, path))
		exit(4);
}

static void *work(void *arg)
{
	int one = 1, sum = 0;

	for (int i = 0; access(until, F_OK); i++) {
		iteration_end(i, 0.5 * i);
		omig_event(beat, i);
		if (reduce)
			reduce(&one, &sum, 1, type, op);
		usleep(BEAT_US);
	}
	return arg;
}

static void threads(void)
{
	pthread_t t[3];

	usleep(10 * BEAT_US);
	for (int i = 0; i < 3; i++)
		if (pthread_create(&t[i], NULL, work, NULL))
			exit(5);
	work(NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
}

static pid_t fork_or_die(void)
{
	pid_t pid = fork();

	if (pid < 0)
		exit(6);
	return pid;
}

/* As daemon(3), and closes all descriptors. The first process does not wait. */
static void go_to_background(void)
{
	if (fork_or_die())
		exit(0);
	setsid();
	if (fork_or_die())
		_exit(0);
	for (int fd = 0; fd < FDS_MAX; fd++)
		close(fd);
	if (open("/dev/null", O_RDWR) || dup(0) != 1 || dup(0) != 2)
		_exit(7);
}

static void *find(void *mpi, const char *name)
{
	void *p = dlsym(mpi, name);

	if (!p)
		exit(3);
	return p;
}

/* Uses the symbols of Open MPI. */
static void load_mpi(void)
{
	void *mpi = dlopen("libmpi.so.40", RTLD_NOW | RTLD_GLOBAL);
	int (*init)(int *, char ***);

	if (!mpi)
		exit(77);
	*(void **)&init = find(RTLD_DEFAULT, "MPI_Init");
	type = find(mpi, "ompi_mpi_int");
	op = find(mpi, "ompi_mpi_op_sum");
	for (int i = 0; i < 200; i++) {
		iteration_end(i, 0);
		usleep(BEAT_US);
	}
	if (init(NULL, NULL))
		exit(8);
	*(void **)&reduce = find(RTLD_DEFAULT, "MPI_Reduce_local");
}

static void finish_mpi(void)
{
	int (*finalize)(void);

	*(void **)&finalize = find(RTLD_DEFAULT, "MPI_Finalize");
	finalize();
}

static int run_child(const char *pidfile)
{
	pid_t pid = fork_or_die();
	int status;

	if (!pid) {
		put_pid(pidfile);
		work(NULL);
		_exit(3);
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return WEXITSTATUS(status);
}

int main(int argc, char **argv)
{
	const char *mode = argc == 4 ? argv[1] : "";

	if (!*mode)
		return 2;
	until = argv[2];
	if (!strcmp(mode, "exec")) {
		argv[1] = (char[]){ "plain" };
		execv("/proc/self/exe", argv);
		return 9;
	}
	if (!strcmp(mode, "fork")) {
		printf("child %d\n", run_child(argv[3]));
		return 0;
	}
	if (!strcmp(mode, "daemon"))
		go_to_background();
	put_pid(argv[3]);
	if (!strcmp(mode, "mpi"))
		load_mpi();
	if (!strcmp(mode, "threads"))
		threads();
	else
		work(NULL);
	if (reduce)
		finish_mpi();
	printf("%s done\n", mode);
	return 0;
}
