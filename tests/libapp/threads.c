/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MPI_THREAD_MULTIPLE: waves of threads, more in all than the segment has blocks. They exchange
 * messages with their partners on the other rank; some of them are cancelled. Counts as in calls.c.
 * usage: threads FILE WAVES THREADS
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define MESSAGES 200
#define THREADS_MAX 64

static int rank, size;
static pthread_barrier_t together;

static void *talk(void *arg)
{
	int tag = (int)(long)arg, out[4] = { 0 }, in[4], peer = rank ^ 1;
	MPI_Request r;

	for (int i = 0; i < MESSAGES; i++) {
		MPI_Irecv(in, 4, MPI_INT, peer, tag, MPI_COMM_WORLD, &r);
		MPI_Send(out, 3, MPI_INT, peer, tag, MPI_COMM_WORLD);
		MPI_Wait(&r, MPI_STATUS_IGNORE);
		/* All of a wave are alive at once, and each has called MPI. */
		if (i == 0)
			pthread_barrier_wait(&together);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[THREADS_MAX];
	long waves, threads, n;
	int provided;
	char name[4096];
	FILE *f;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (argc != 4 || provided != MPI_THREAD_MULTIPLE || size % 2)
		MPI_Abort(MPI_COMM_WORLD, 2);
	waves = strtol(argv[2], NULL, 10);
	threads = strtol(argv[3], NULL, 10);
	pthread_barrier_init(&together, NULL, (unsigned)threads);
	for (long w = 0; w < waves; w++) {
		for (long i = 0; i < threads; i++)
			pthread_create(&t[i], NULL, talk, (void *)(w * threads + i));
		for (long i = 0; i < threads; i++)
			pthread_join(t[i], NULL);
	}
	n = waves * threads * MESSAGES;
	snprintf(name, sizeof(name), "%s.%d", argv[1], rank);
	f = fopen(name, "w");
	fprintf(f, "call %d MPI_Irecv count %ld out 0 in %ld\n", rank, n, n * 12);
	fprintf(f, "call %d MPI_Send count %ld out %ld in 0\n", rank, n, n * 12);
	fprintf(f, "call %d MPI_Wait count %ld out 0 in 0\n", rank, n);
	fprintf(f, "call %d MPI_Finalize count 1 out 0 in 0\n", rank);
	fclose(f);
	return MPI_Finalize();
}
