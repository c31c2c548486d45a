/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls from known places. Argument: FILE. In each round way_one() calls leaf() once, way_two()
 * twice. A barrier is in an inlined function. A thread has another place. The ranks end when FILE
 * exists.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#define FRAMED __attribute__((noinline, optimize("no-omit-frame-pointer")))
#define BARE __attribute__((noinline, optimize("omit-frame-pointer")))

static MPI_Comm comm_of_thread;

FRAMED static void leaf(void)
{
	double in = 1, out;

	MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	if (out < 0)
		abort();
}

FRAMED static void way_one(void)
{
	leaf();
	__asm__ volatile("");
}

FRAMED static void way_two(void)
{
	for (int i = 0; i < 2; i++)
		leaf();
	__asm__ volatile("");
}

static inline __attribute__((always_inline)) void inlined_barrier(void)
{
	MPI_Barrier(MPI_COMM_WORLD);
}

/* All registers contain numbers and pointers. The first rank reports the end. */
BARE static int without_frames(int round, const char *file)
{
	int all[64], mine = round;

	for (int i = 0; i < 64; i++)
		all[i] = mine * i;
	all[0] = access(file, F_OK) == 0;
	MPI_Bcast(all, 64, MPI_INT, 0, MPI_COMM_WORLD);
	if (all[1] < 0)
		abort();
	return all[0];
}

FRAMED static void *in_thread(void *arg)
{
	const char *file = arg;
	int is_over = 0;

	while (!is_over) {
		is_over = access(file, F_OK) == 0;
		MPI_Bcast(&is_over, 1, MPI_INT, 0, comm_of_thread);
		usleep(1000);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int provided, is_over = 0;
	pthread_t thread;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	if (argc != 2 || provided != MPI_THREAD_MULTIPLE)
		MPI_Abort(MPI_COMM_WORLD, 2);
	MPI_Comm_dup(MPI_COMM_WORLD, &comm_of_thread);
	if (pthread_create(&thread, NULL, in_thread, argv[1]) != 0)
		MPI_Abort(MPI_COMM_WORLD, 2);
	for (int i = 1; !is_over; i++) {
		way_one();
		way_two();
		inlined_barrier();
		is_over = without_frames(i, argv[1]);
		usleep(1000);
	}
	pthread_join(thread, NULL);
	MPI_Finalize();
	return 0;
}
