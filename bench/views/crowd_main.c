/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench-crowd COUNT SIZE: the ranks of one host of a job of SIZE ranks over an MPI that does
 * nothing. The host's number is the end of its name. Each rank is a process, and makes a call of
 * each of ten functions each second. They end with this process.
 */
#include "bench/bench.h"
#include "common/base/array.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROUND_S 1

int MPI_Init(int *argc, char ***argv);
int MPI_Send(const void *buf, int n, void *type, int to, int tag, void *comm);
int MPI_Recv(void *buf, int n, void *type, int from, int tag, void *comm, void *status);
int MPI_Isend(const void *buf, int n, void *type, int to, int tag, void *comm, void **request);
int MPI_Irecv(void *buf, int n, void *type, int from, int tag, void *comm, void **request);
int MPI_Iprobe(int source, int tag, void *comm, int *flag, void *status);
int MPI_Wait(void **request, void *status);
int MPI_Waitall(int n, void **request, void *status);
int MPI_Barrier(void *comm);
int MPI_Bcast(void *buf, int n, void *type, int root, void *comm);
int MPI_Allreduce(const void *in, void *out, int n, void *type, void *op, void *comm);

static void make_calls(void)
{
	void *request[2] = { NULL, NULL };
	int flag;

	MPI_Irecv(NULL, 0, NULL, 0, 0, NULL, &request[0]);
	MPI_Isend(NULL, 0, NULL, 0, 0, NULL, &request[1]);
	MPI_Waitall(2, request, NULL);
	MPI_Send(NULL, 0, NULL, 0, 0, NULL);
	MPI_Recv(NULL, 0, NULL, 0, 0, NULL, NULL);
	MPI_Iprobe(0, 0, NULL, &flag, NULL);
	MPI_Wait(request, NULL);
	MPI_Bcast(NULL, 0, NULL, 0, NULL);
	MPI_Allreduce(NULL, NULL, 0, NULL, NULL, NULL);
	MPI_Barrier(NULL);
}

static void set_number(const char *name, long v)
{
	char text[24];

	snprintf(text, sizeof(text), "%ld", v);
	setenv(name, text, 1);
}

static _Noreturn void be_rank(long rank, long size, int argc, char **argv)
{
	const struct timespec round = { .tv_sec = ROUND_S };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	set_number("OMPI_COMM_WORLD_RANK", rank);
	set_number("OMPI_COMM_WORLD_SIZE", size);
	setenv("OMIG_JOB", "crowd", 1);
	MPI_Init(&argc, &argv);
	for (;;) {
		make_calls();
		nanosleep(&round, NULL);
	}
}

static long number_of_host(void)
{
	char name[64] = "";

	gethostname(name, sizeof(name) - 1);
	return strtol(name + strcspn(name, "0123456789"), NULL, 10);
}

int main(int argc, char **argv)
{
	long count = argc == 3 ? strtol(argv[1], NULL, 10) : 0;
	long size = argc == 3 ? strtol(argv[2], NULL, 10) : 0;
	long first = number_of_host() * count;

	if (count <= 0 || size < first + count)
		bench_fail("bench-crowd COUNT SIZE");
	for (long i = 0; i < count; i++) {
		pid_t pid = fork();

		if (pid == 0)
			be_rank(first + i, size, argc, argv);
		if (pid < 0)
			bench_fail("no more processes");
	}
	while (wait(NULL) > 0)
		continue;
	return 0;
}
