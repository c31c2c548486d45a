/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An MPI program of two ranks whose rank 0 has sends and receives open, step by step:
 *
 *	queued FOLDER
 *
 * Step N begins when the file FOLDER/N exists, and makes FOLDER/N.done at its end:
 *
 *  1        rank 0 posts two receives (tag 71 from rank 1; tag 72 from any, over
 *           another communicator); a send too large to leave before it is received
 *           (tag 73); and a persistent receive (tag 74)
 *  2        all of it is completed
 *  3        rank 0 waits in MPI_Recv (tag 75) until step 4, when rank 1 sends
 */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { LARGE = 1 << 22, OPEN = 4 };

static const char *folder;
static int rank;

static void await(int step)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%d", folder, step);
	for (int i = 0; i < 5000 && access(path, F_OK); i++)
		usleep(20000);
}

static void done(int step)
{
	char path[512];

	if (rank)
		return;
	snprintf(path, sizeof(path), "%s/%d.done", folder, step);
	close(open(path, O_CREAT | O_WRONLY, 0600));
}

static void be_0(MPI_Comm other)
{
	static int small[3][16];
	static char large[LARGE];
	MPI_Status status[OPEN];
	MPI_Request r[OPEN];
	int last;

	await(1);
	MPI_Recv_init(small[2], 4, MPI_INT, 1, 74, MPI_COMM_WORLD, &r[3]);
	MPI_Irecv(small[0], 16, MPI_INT, 1, 71, MPI_COMM_WORLD, &r[0]);
	MPI_Irecv(small[1], 8, MPI_INT, MPI_ANY_SOURCE, 72, other, &r[1]);
	MPI_Isend(large, LARGE, MPI_BYTE, 1, 73, MPI_COMM_WORLD, &r[2]);
	MPI_Start(&r[3]);
	done(1);
	await(2);
	MPI_Waitall(OPEN, r, status);
	MPI_Request_free(&r[3]);
	done(2);
	await(3);
	MPI_Recv(&last, 1, MPI_INT, 1, 75, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	printf("sum %d\n", small[0][15] + small[1][7] + small[2][3] + last);
}

static void be_1(MPI_Comm other)
{
	static char large[LARGE];
	int small[16];

	for (int i = 0; i < 16; i++)
		small[i] = i;
	await(2);
	MPI_Send(small, 16, MPI_INT, 0, 71, MPI_COMM_WORLD);
	MPI_Send(small, 8, MPI_INT, 0, 72, other);
	MPI_Recv(large, LARGE, MPI_BYTE, 0, 73, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Send(small, 4, MPI_INT, 0, 74, MPI_COMM_WORLD);
	await(4);
	MPI_Send(small + 5, 1, MPI_INT, 0, 75, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
	MPI_Comm other;

	MPI_Init(&argc, &argv);
	folder = argc > 1 ? argv[1] : ".";
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_dup(MPI_COMM_WORLD, &other);
	(rank ? be_1 : be_0)(other);
	MPI_Comm_free(&other);
	MPI_Finalize();
	return 0;
}
