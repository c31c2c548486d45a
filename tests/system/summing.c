/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that checks each of its messages: for tests that change it while it runs. It ends when
 * the file named by its first argument exists, and prints how many messages were wrong. With a
 * second argument, rank 0 is in one MPI_Recv until then.
 */
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size;
static long wrong;

/* Takes the locks of malloc() and of the loader all the time. */
static void *busy(void *arg)
{
	for (;;) {
		void *p = malloc(4000), *h = dlopen("libm.so.6", RTLD_NOW);

		memset(p, 1, 4000);
		free(p);
		if (h)
			dlclose(h);
		usleep(100);
	}
	return arg;
}

static void step(MPI_Comm comm, long i)
{
	long out = i * 7 + rank, in = -1, sum = -1;
	int from = (rank + size - 1) % size;
	MPI_Request r[2];

	MPI_Irecv(&in, 1, MPI_LONG, from, 3, comm, &r[0]);
	MPI_Isend(&out, 1, MPI_LONG, (rank + 1) % size, 3, comm, &r[1]);
	MPI_Wait(&r[1], MPI_STATUS_IGNORE);
	MPI_Wait(&r[0], MPI_STATUS_IGNORE);
	MPI_Allreduce(&in, &sum, 1, MPI_LONG, MPI_SUM, comm);
	wrong += in != i * 7 + from;
	wrong += sum != i * 7 * size + (long)size * (size - 1) / 2;
}

static int must_end(MPI_Comm comm, const char *file)
{
	int is_there = !rank && access(file, F_OK) == 0;

	MPI_Bcast(&is_there, 1, MPI_INT, 0, comm);
	return is_there;
}

static void wait_in_a_call(MPI_Comm comm, const char *file)
{
	long v = 5;

	if (!rank)
		MPI_Recv(&v, 1, MPI_LONG, 1, 9, comm, MPI_STATUS_IGNORE);
	while (rank == 1 && access(file, F_OK) != 0)
		usleep(1000);
	if (rank == 1)
		MPI_Send(&v, 1, MPI_LONG, 0, 9, comm);
	wrong += v != 5;
}

int main(int argc, char **argv)
{
	pthread_t t;
	MPI_Comm comm;
	long all = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	pthread_create(&t, NULL, busy, NULL);
	if (argc > 2)
		wait_in_a_call(comm, argv[1]);
	for (long i = 0; i % 50 || !must_end(comm, argv[1]); i++) {
		step(comm, i);
		if (i % 10 == 0)
			usleep(1000);
	}
	MPI_Reduce(&wrong, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
	if (!rank)
		printf("%ld wrong\n", all);
	MPI_Finalize();
	return all != 0;
}
