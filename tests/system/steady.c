/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An MPI program for fault tests. Its results and output depend on the number of its ranks alone: a
 * checksum over messages that went around. Then it stays in MPI calls until FILE exists.
 *
 *	steady [--rounds N] [--hold FILE] [--beat FILE] [--pids PREFIX] [--flood N]
 *	       [--exit RANK:STATUS] [--abort RANK:CODE] [--raise RANK:SIGNAL]
 *	       [--results-at-2 FILE]
 *	       [--no-finalize] [--close-fds] [--fork] [--_exit] [--child PROGRAM]
 *
 * --rounds   calls of MPI_Sendrecv and of MPI_Allreduce for the checksum (100)
 * --hold     until FILE exists, or for 100 s, it continues with MPI_Barrier
 * --flood    so many more calls of MPI_Allreduce behind that, at full speed (0)
 * --beat     rank 0 writes its count there while it holds
 * --results-at-2   descriptor 2 is FILE before MPI_Init, and not the stderr that it was
 * --pids     each rank writes its pid into PREFIX.RANK when it begins to hold
 */
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WORDS 64
#define BEATS_MAX 5000 /* of at least 20 ms each */

struct wish {
	int rounds, flood;
	const char *hold, *beat, *pids, *child, *results;
	int exit_rank, exit_status, abort_rank, abort_code, raise_rank, raise_signal;
	bool no_finalize, close_fds, forks, quick_exit;
};

static uint64_t mix(uint64_t h, uint64_t v)
{
	return (h ^ v) * UINT64_C(0x100000001b3);
}

static uint64_t around(int rank, int size, int rounds)
{
	uint64_t out[WORDS], in[WORDS], h = UINT64_C(0xcbf29ce484222325), sum;

	for (int i = 0; i < WORDS; i++)
		out[i] = (uint64_t)rank * 1000 + (uint64_t)i;
	for (int r = 0; r < rounds; r++) {
		MPI_Sendrecv(out, WORDS, MPI_UINT64_T, (rank + 1) % size, 7, in, WORDS,
			     MPI_UINT64_T, (rank + size - 1) % size, 7, MPI_COMM_WORLD,
			     MPI_STATUS_IGNORE);
		for (int i = 0; i < WORDS; i++) {
			h = mix(h, in[i]);
			out[i] = in[i] + (uint64_t)r;
		}
		MPI_Allreduce(&h, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
		h = mix(h, sum);
	}
	return h;
}

static void put_number(const char *path, long n)
{
	char tmp[4096], text[32];
	int fd, len = snprintf(text, sizeof(text), "%ld\n", n);

	snprintf(tmp, sizeof(tmp), "%s.new", path);
	fd = open(tmp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0)
		return;
	if (write(fd, text, (size_t)len) == len)
		rename(tmp, path);
	close(fd);
}

/* Rank 0 alone examines the file, so that all ranks leave in the same beat. */
static void hold(const struct wish *w, int rank)
{
	const struct timespec nap = { 0, 20000000 };
	int go = 0;

	for (long beat = 1; !go && beat <= BEATS_MAX; beat++) {
		nanosleep(&nap, NULL);
		if (rank == 0)
			go = access(w->hold, F_OK) == 0;
		MPI_Bcast(&go, 1, MPI_INT, 0, MPI_COMM_WORLD);
		MPI_Barrier(MPI_COMM_WORLD);
		if (rank == 0 && w->beat)
			put_number(w->beat, beat);
	}
}

/*
 * Starts a child that makes no call and one that runs another program, and prints their exit
 * status.
 */
static void make_children(const struct wish *w, int rank)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0)
		_exit(5);
	waitpid(pid, &status, 0);
	printf("rank %d child %d\n", rank, WIFEXITED(status) ? WEXITSTATUS(status) : -1);
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		if (w->child)
			execlp(w->child, w->child, (char *)NULL);
		exit(6); /* with exit handlers, as careless programs do */
	}
	waitpid(pid, &status, 0);
	printf("rank %d program %d more %d\n", rank, WIFEXITED(status) ? WEXITSTATUS(status) : -1,
	       waitpid(-1, &status, WNOHANG) == -1 && errno == ECHILD ? 0 : 1);
	fflush(stdout);
}

static void pair(const char *text, int *rank, int *value)
{
	char *end;

	*rank = (int)strtol(text, &end, 10);
	*value = *end == ':' ? (int)strtol(end + 1, NULL, 10) : 0;
}

static bool take_flag(struct wish *w, const char *name)
{
	struct {
		const char *name;
		bool *into;
	} flags[] = { { "--no-finalize", &w->no_finalize },
		      { "--close-fds", &w->close_fds },
		      { "--fork", &w->forks },
		      { "--_exit", &w->quick_exit } };

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (!strcmp(name, flags[i].name))
			return *flags[i].into = true;
	return false;
}

static void take_value(struct wish *w, const char *name, const char *value)
{
	if (!strcmp(name, "--rounds"))
		w->rounds = (int)strtol(value, NULL, 10);
	else if (!strcmp(name, "--flood"))
		w->flood = (int)strtol(value, NULL, 10);
	else if (!strcmp(name, "--hold"))
		w->hold = value;
	else if (!strcmp(name, "--beat"))
		w->beat = value;
	else if (!strcmp(name, "--pids"))
		w->pids = value;
	else if (!strcmp(name, "--results-at-2"))
		w->results = value;
	else if (!strcmp(name, "--child"))
		w->child = value;
	else if (!strcmp(name, "--exit"))
		pair(value, &w->exit_rank, &w->exit_status);
	else if (!strcmp(name, "--abort"))
		pair(value, &w->abort_rank, &w->abort_code);
	else if (!strcmp(name, "--raise"))
		pair(value, &w->raise_rank, &w->raise_signal);
	else
		exit(2);
}

static void take_words(struct wish *w, int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (take_flag(w, argv[i]))
			continue;
		if (i + 1 == argc)
			exit(2);
		take_value(w, argv[i], argv[i + 1]);
		i++;
	}
}

static void end_badly(const struct wish *w, int rank)
{
	if (rank == w->raise_rank) {
		kill(getpid(), w->raise_signal);
		pause(); /* a signal that only stops, or arrives late */
	}
	if (rank == w->abort_rank)
		MPI_Abort(MPI_COMM_WORLD, w->abort_code);
}

/* Imitates programs that close unused descriptors, and open a file of their results. */
static void open_results(const char *path)
{
	close(STDERR_FILENO);
	if (open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600) != STDERR_FILENO)
		exit(7);
}

int main(int argc, char **argv)
{
	struct wish w = { .rounds = 100, .exit_rank = -1, .abort_rank = -1, .raise_rank = -1 };
	char path[4096];
	uint64_t h;
	int rank, size, status, sum;

	take_words(&w, argc, argv);
	if (w.results)
		open_results(w.results);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	h = around(rank, size, w.rounds);
	if (w.forks)
		make_children(&w, rank);
	if (w.pids) {
		snprintf(path, sizeof(path), "%s.%d", w.pids, rank);
		put_number(path, (long)getpid());
	}
	if (w.hold)
		hold(&w, rank);
	for (int i = 0; i < w.flood; i++)
		MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	if (rank == 0)
		printf("steady: %d ranks, %d rounds, checksum %016llx\n", size, w.rounds,
		       (unsigned long long)h);
	fflush(stdout);
	end_badly(&w, rank);
	if (w.close_fds) /* of ours, as a daemon does; MPI's own it may need */
		for (int fd = 100; fd < 1024; fd++)
			close(fd);
	MPI_Barrier(MPI_COMM_WORLD);
	if (!w.no_finalize)
		MPI_Finalize();
	status = rank == w.exit_rank ? w.exit_status : 0;
	if (w.quick_exit)
		_exit(status);
	return status;
}
