/* SPDX-License-Identifier: Apache-2.0 */
/* One rank that probes its own empty queue, between two marks that strace shows. */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int flag, sum = 0, one = 1;

	MPI_Init(&argc, &argv);
	MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
	MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
	sum += write(-1, "begin", 5) > 0;
	for (int i = 0; i < 10000; i++) {
		MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
		MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
	}
	sum += write(-1, "end", 3) > 0;
	MPI_Finalize();
	printf("loop %s\n", sum == 1 ? "done" : "wrong");
	return 0;
}
