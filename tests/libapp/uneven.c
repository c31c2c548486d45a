/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Passes of work, each ended by MPI_Allreduce. Each rank writes when it entered and left it.
 *
 *	uneven WORK COUNT FROM LOG
 *
 * begins when the file FROM exists; rank k writes "ENTERED LEFT" into LOG.k. WORK is `one`: rank 0
 * always has three times as much as the others; or `turns`: the ranks take turns at that.
 */
#include "tests/libapp/spin.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WORK_S 0.003

int main(int argc, char **argv)
{
	int rank, ranks, count;
	char name[4096];
	FILE *log;

	MPI_Init(&argc, &argv);
	if (argc != 5)
		MPI_Abort(MPI_COMM_WORLD, 2);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	snprintf(name, sizeof(name), "%s.%d", argv[4], rank);
	count = (int)strtol(argv[2], NULL, 10);
	log = fopen(name, "w");
	if (!log)
		MPI_Abort(MPI_COMM_WORLD, 2);
	while (access(argv[3], F_OK))
		nanosleep(&(struct timespec){ 0, 10000000 }, NULL);
	for (int pass = 0; pass <= count; pass++) {
		int busy = strcmp(argv[1], "turns") ? 0 : pass % ranks;
		double in = compute(rank == busy ? 3 * WORK_S : WORK_S), out, begin = now();

		MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		fprintf(log, "%.9f %.9f\n", begin, now());
	}
	fclose(log);
	MPI_Finalize();
	return 0;
}
