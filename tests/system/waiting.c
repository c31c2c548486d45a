/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An MPI program of four ranks in which rank 2 comes late each time, so that others wait for it:
 *
 *	waiting MODE FOLDER
 *
 * It ends when the file FOLDER/enough exists. Then each rank writes FOLDER/RANK: the share of its
 * time that it spent in calls that wait for rank 2, as it measured them itself. Modes are the
 * members of `modes` below.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LATE = 2, LATE_US = 20000, LARGE = 1 << 22, TAG = 7, STEPS_MAX = 60000 };

static int rank, size;
static double waited; /* time of this rank's wait for the late one */
static char large[LARGE];
static MPI_Status statuses[4]; /* MPICH's header warns of arrays that are ignored */

static double begin(void)
{
	return MPI_Wtime();
}

static void end(double since)
{
	waited += MPI_Wtime() - since;
}

static void be_late(void)
{
	if (rank == LATE)
		usleep(LATE_US);
}

static int left(void)
{
	return rank ? rank - 1 : MPI_PROC_NULL;
}

static int right(void)
{
	return rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
}

/* Each with its neighbours: which of the two receives ends last is what no call reports. */
static void chain(void)
{
	static int in[2], out[2];
	MPI_Request r[4];
	double t;

	be_late();
	MPI_Irecv(&in[0], 1, MPI_INT, left(), TAG, MPI_COMM_WORLD, &r[0]);
	MPI_Irecv(&in[1], 1, MPI_INT, right(), TAG, MPI_COMM_WORLD, &r[1]);
	MPI_Isend(&out[0], 1, MPI_INT, left(), TAG, MPI_COMM_WORLD, &r[2]);
	MPI_Isend(&out[1], 1, MPI_INT, right(), TAG, MPI_COMM_WORLD, &r[3]);
	t = begin();
	MPI_Waitall(4, r, statuses);
	if (rank == LATE - 1 || rank == LATE + 1)
		end(t);
}

static void persistent(void)
{
	static MPI_Request r[2];
	static int in, out, is_made;
	double t;

	if (!is_made) {
		MPI_Recv_init(&in, 1, MPI_INT, (rank + size - 1) % size, TAG, MPI_COMM_WORLD,
			      &r[0]);
		MPI_Send_init(&out, 1, MPI_INT, (rank + 1) % size, TAG, MPI_COMM_WORLD, &r[1]);
		is_made = 1;
	}
	be_late();
	MPI_Startall(2, r);
	t = begin();
	MPI_Wait(&r[0], MPI_STATUS_IGNORE);
	if (rank == (LATE + 1) % size)
		end(t);
	MPI_Wait(&r[1], MPI_STATUS_IGNORE);
	MPI_Barrier(MPI_COMM_WORLD);
}

/* All send to rank 0, which receives from any. */
static void wildcard(void)
{
	int v = rank;
	double t;

	be_late();
	if (rank) {
		MPI_Send(&v, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD);
	} else {
		for (int i = 1; i < size; i++) {
			MPI_Request r;
			MPI_Status st;

			MPI_Irecv(&v, 1, MPI_INT, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &r);
			t = begin();
			MPI_Wait(&r, &st);
			if (st.MPI_SOURCE == LATE)
				end(t);
		}
	}
	MPI_Barrier(MPI_COMM_WORLD);
}

/* Probes for messages from any source before it receives them. */
static void probing(void)
{
	int v = rank;

	be_late();
	if (rank) {
		MPI_Send(&v, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD);
	} else {
		for (int i = 1; i < size; i++) {
			MPI_Status st;
			double t = begin();

			MPI_Probe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &st);
			if (st.MPI_SOURCE == LATE)
				end(t);
			MPI_Recv(&v, 1, MPI_INT, st.MPI_SOURCE, TAG, MPI_COMM_WORLD,
				 MPI_STATUS_IGNORE);
		}
	}
	MPI_Barrier(MPI_COMM_WORLD);
}

/* A message leaves when the late rank receives it. */
static void rendezvous(void)
{
	MPI_Request r;
	double t;

	be_late();
	if (rank == 0) {
		MPI_Isend(large, LARGE, MPI_BYTE, LATE, TAG, MPI_COMM_WORLD, &r);
		t = begin();
		MPI_Wait(&r, MPI_STATUS_IGNORE);
		end(t);
	} else if (rank == LATE) {
		MPI_Recv(large, LARGE, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	MPI_Barrier(MPI_COMM_WORLD);
}

/* Ranks 0 and 1 talk to 2 and 3 by a communicator in which these are 0 and 1. */
static void inter(void)
{
	static MPI_Comm half, comm = MPI_COMM_NULL;
	MPI_Request r[2];
	int in, out = rank;
	double t;

	if (comm == MPI_COMM_NULL) {
		MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &half);
		MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank < 2 ? 2 : 0, 1, &comm);
	}
	be_late();
	MPI_Irecv(&in, 1, MPI_INT, rank % 2, TAG, comm, &r[0]);
	MPI_Isend(&out, 1, MPI_INT, rank % 2, TAG, comm, &r[1]);
	t = begin();
	MPI_Waitall(2, r, statuses);
	if (rank == 0)
		end(t);
}

/* A receive that is cancelled has no partner; the one beside it has. */
static void cancelled(void)
{
	MPI_Request r[2];
	int in[2], out = rank;
	double t;

	be_late();
	MPI_Irecv(&in[0], 1, MPI_INT, (rank + 1) % size, TAG + 1, MPI_COMM_WORLD, &r[0]);
	MPI_Irecv(&in[1], 1, MPI_INT, (rank + size - 1) % size, TAG, MPI_COMM_WORLD, &r[1]);
	MPI_Send(&out, 1, MPI_INT, (rank + 1) % size, TAG, MPI_COMM_WORLD);
	MPI_Cancel(&r[0]);
	t = begin();
	MPI_Waitall(2, r, statuses);
	if (rank == (LATE + 1) % size)
		end(t);
	MPI_Barrier(MPI_COMM_WORLD);
}

/* Polls with MPI_Test. */
static void polling(void)
{
	MPI_Request r;
	int in, out = rank, is_done = 0;
	double t;

	be_late();
	MPI_Irecv(&in, 1, MPI_INT, (rank + size - 1) % size, TAG, MPI_COMM_WORLD, &r);
	MPI_Send(&out, 1, MPI_INT, (rank + 1) % size, TAG, MPI_COMM_WORLD);
	t = begin();
	while (!is_done)
		MPI_Test(&r, &is_done, MPI_STATUS_IGNORE);
	if (rank == (LATE + 1) % size)
		end(t);
	MPI_Barrier(MPI_COMM_WORLD);
}

/* Two threads of rank 0 wait, each for another rank. */
static void *receive_of_1(void *arg)
{
	MPI_Request r;
	int in;

	(void)arg;
	MPI_Irecv(&in, 1, MPI_INT, 1, TAG + 1, MPI_COMM_WORLD, &r);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	return NULL;
}

static void threads(void)
{
	pthread_t other;
	MPI_Request r;
	int in, out = rank;
	double t;

	be_late();
	if (rank == 0) {
		pthread_create(&other, NULL, receive_of_1, NULL);
		MPI_Irecv(&in, 1, MPI_INT, LATE, TAG, MPI_COMM_WORLD, &r);
		t = begin();
		MPI_Wait(&r, MPI_STATUS_IGNORE);
		end(t);
		pthread_join(other, NULL);
	} else if (rank <= LATE) {
		MPI_Send(&out, 1, MPI_INT, 0, rank == LATE ? TAG : TAG + 1, MPI_COMM_WORLD);
	}
	MPI_Barrier(MPI_COMM_WORLD);
}

static void collective(void)
{
	MPI_Request r;
	double t;

	be_late();
	t = begin();
	MPI_Ibarrier(MPI_COMM_WORLD, &r);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	if (rank != LATE)
		end(t);
}

static void blocking(void)
{
	double t;

	be_late();
	t = begin();
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank != LATE)
		end(t);
}

static void nothing(void)
{
	usleep(LATE_US);
	MPI_Barrier(MPI_COMM_WORLD);
}

static const struct {
	const char *name;
	void (*step)(void);
} modes[] = { { "chain", chain },	    { "persistent", persistent },
	      { "wildcard", wildcard },	    { "rendezvous", rendezvous },
	      { "inter", inter },	    { "cancelled", cancelled },
	      { "polling", polling },	    { "threads", threads },
	      { "collective", collective }, { "blocking", blocking },
	      { "probing", probing },	    { "nothing", nothing } };

/* All ranks leave in the same round. */
static int is_enough(const char *folder)
{
	char path[512];
	int is_there = 0;

	snprintf(path, sizeof(path), "%s/enough", folder);
	if (!rank)
		is_there = !access(path, F_OK);
	MPI_Bcast(&is_there, 1, MPI_INT, 0, MPI_COMM_WORLD);
	return is_there;
}

static void write_result(const char *folder, double seconds)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%d", folder, rank);
	f = fopen(path, "w");
	if (!f)
		return;
	fprintf(f, "%.6f\n", waited / seconds);
	fclose(f);
}

int main(int argc, char **argv)
{
	void (*step)(void) = NULL;
	int provided;
	double since;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (size_t i = 0; argc == 3 && i < sizeof(modes) / sizeof(modes[0]); i++)
		if (!strcmp(modes[i].name, argv[1]))
			step = modes[i].step;
	if (!step || size != 4) {
		fprintf(stderr, "usage: waiting MODE FOLDER, with four ranks\n");
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	since = MPI_Wtime();
	for (int i = 0; i < STEPS_MAX; i++) {
		step();
		if (i % 16 == 0 && is_enough(argv[2]))
			break;
	}
	write_result(argv[2], MPI_Wtime() - since);
	MPI_Finalize();
	return 0;
}
