/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rank 1 computes for 5 ms, then receives. Rank 0 sends before that, computes for 1 ms behind the
 * send, and is the last rank in a barrier. So rank 1 alone is slow: the send waits for it.
 */
#include "tests/libapp/spin.h"

#include <mpi.h>

#define PASSES 40
#define BYTES 65536 /* more than any MPI sends to a receiver that is not there */

/* MPI_Ssend waits for the receiver of a short message, too. */
static void send(int pass)
{
	static char block[BYTES];

	if (pass % 2)
		MPI_Send(block, BYTES, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
	else
		MPI_Ssend(block, 1, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
	compute(0.001);
}

static void receive(void)
{
	static char block[BYTES];

	compute(0.005);
	MPI_Recv(block, BYTES, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int pass = 0; pass < PASSES; pass++) {
		if (rank == 0)
			send(pass);
		else if (rank == 1)
			receive();
		MPI_Barrier(MPI_COMM_WORLD);
	}
	return MPI_Finalize();
}
