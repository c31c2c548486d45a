/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Barriers and reductions in which another rank is the last one each time, by some milliseconds.
 * Each rank writes when it entered and left each call, by the clock of the host.
 *
 *	lastcomer COUNT FROM LOG
 *
 * begins when the file FROM exists; rank k writes "FUNCTION NUMBER ENTERED LEFT" into LOG.k. A few
 * calls on a copy of MPI_COMM_WORLD are between them, which have no numbers.
 */
#include "tests/libapp/spin.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define LATE_S 0.004

/* The same in all ranks. */
static int last_of(int number, int ranks)
{
	return (int)((unsigned)number * 2654435761u >> 16) % ranks;
}

struct run {
	int rank, ranks;
	FILE *log;
};

static void one(const struct run *r, int number, int reduces)
{
	double begin, in = 1, out;

	if (last_of(number + reduces, r->ranks) == r->rank)
		compute(LATE_S);
	begin = now();
	if (reduces)
		MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	else
		MPI_Barrier(MPI_COMM_WORLD);
	fprintf(r->log, "%s %d %.9f %.9f\n", reduces ? "MPI_Allreduce" : "MPI_Barrier", number,
		begin, now());
}

int main(int argc, char **argv)
{
	struct run r;
	char name[4096];
	MPI_Comm copy;
	int count;

	MPI_Init(&argc, &argv);
	if (argc != 4)
		MPI_Abort(MPI_COMM_WORLD, 2);
	MPI_Comm_rank(MPI_COMM_WORLD, &r.rank);
	MPI_Comm_size(MPI_COMM_WORLD, &r.ranks);
	MPI_Comm_dup(MPI_COMM_WORLD, &copy);
	count = (int)strtol(argv[1], NULL, 10);
	snprintf(name, sizeof(name), "%s.%d", argv[3], r.rank);
	r.log = fopen(name, "w");
	if (!r.log)
		MPI_Abort(MPI_COMM_WORLD, 2);
	while (access(argv[2], F_OK))
		nanosleep(&(struct timespec){ 0, 10000000 }, NULL);
	for (int number = 1; number <= count; number++) {
		one(&r, number, 0);
		MPI_Barrier(copy);
		one(&r, number, 1);
	}
	fclose(r.log);
	MPI_Comm_free(&copy);
	MPI_Finalize();
	return 0;
}
