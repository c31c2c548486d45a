/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An MPI program of two or more ranks for measure/pa-services: it stays inside calls that a test
 * examines, until the test ends it. Its output depends on nothing else.
 *
 *	measured PREFIX
 *
 * Rank 0 receives from any source; rank 1 sends when a file PREFIX.send exists. All end when
 * PREFIX.go exists. Without a PREFIX no rank waits.
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define NAPS_MAX 5000 /* of 20 ms each */

static void wait_for(const char *prefix, const char *what)
{
	const struct timespec nap = { 0, 20000000 };
	char path[4096];

	if (!prefix)
		return;
	snprintf(path, sizeof(path), "%s.%s", prefix, what);
	for (int i = 0; i < NAPS_MAX && access(path, F_OK) < 0; i++)
		nanosleep(&nap, NULL);
}

static int from_anybody(const char *prefix, int rank)
{
	int word = 0, answer = 41 + rank;

	if (rank == 0)
		MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (rank == 1) {
		wait_for(prefix, "send");
		MPI_Send(&answer, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
	}
	return word;
}

int main(int argc, char **argv)
{
	const char *prefix = argc > 1 ? argv[1] : NULL;
	int rank, word;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Barrier(MPI_COMM_WORLD);
	wait_for(prefix, "begin");
	word = from_anybody(prefix, rank);
	wait_for(prefix, "go");
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0)
		printf("received %d\n", word);
	return MPI_Finalize();
}
