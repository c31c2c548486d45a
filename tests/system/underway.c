/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An MPI program whose ranks are in calls that began before any watch:
 *
 *	underway MODE FOLDER
 *
 *  dead     ranks 0 and 1 receive from each other (tags 5 and 7) without a send;
 *           the others are in a barrier
 *  cycle    a ring of MPI_Sendrecv: tag 5 is sent, tag 7 is received
 *  absent   rank 0 is in a barrier that the others never reach
 *  late     rank 0 receives from rank 1 (tag 5), which sends when FOLDER/go exists;
 *           then FOLDER/done is made
 *  thread   the same in a thread of rank 0, whose main thread sleeps meanwhile
 *  polls    the same, but rank 0 calls MPI_Test and sleeps
 *
 * Programs in the last three modes end when FOLDER/end exists.
 */
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *folder;
static int value;

static void await(const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	for (int i = 0; i < 10000 && access(path, F_OK); i++)
		usleep(20000);
}

static void made(const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	close(open(path, O_CREAT | O_WRONLY, 0600));
}

static void dead(int rank)
{
	if (rank > 1)
		MPI_Barrier(MPI_COMM_WORLD);
	else
		MPI_Recv(&value, 1, MPI_INT, 1 - rank, rank ? 7 : 5, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
}

static void cycle(int rank)
{
	int size, sent = 1;

	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Sendrecv(&sent, 1, MPI_INT, (rank + 1) % size, 5, &value, 1, MPI_INT,
		     (rank + size - 1) % size, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void *receive(void *arg)
{
	MPI_Recv(&value, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	return arg;
}

static void poll_for_it(void)
{
	MPI_Request r;
	int flag = 0;

	MPI_Irecv(&value, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, &r);
	while (!flag) {
		MPI_Test(&r, &flag, MPI_STATUS_IGNORE);
		usleep(10000);
	}
}

static void be_0(const char *mode)
{
	pthread_t t;

	if (!strcmp(mode, "polls")) {
		poll_for_it();
	} else if (!strcmp(mode, "thread")) {
		if (pthread_create(&t, NULL, receive, NULL) == 0)
			pthread_join(t, NULL);
	} else {
		receive(NULL);
	}
	made("done");
}

int main(int argc, char **argv)
{
	int rank, provided;

	if (argc != 3)
		return 2;
	folder = argv[2];
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (!strcmp(argv[1], "dead")) {
		dead(rank);
	} else if (!strcmp(argv[1], "cycle")) {
		cycle(rank);
	} else if (!strcmp(argv[1], "absent")) {
		if (rank == 0)
			MPI_Barrier(MPI_COMM_WORLD);
	} else if (rank == 0) {
		be_0(argv[1]);
	} else {
		await("go");
		MPI_Send(&rank, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
	}
	await("end");
	MPI_Finalize();
	return 0;
}
