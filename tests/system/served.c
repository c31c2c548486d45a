/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests and a server, on two ranks: rank 0 asks, rank 1 uses the database and answers. The
 * sub-tasks travel in the messages. Until the file argv[1] exists; a tenth of a second between two
 * requests. Rank 0 prints how many interactions had begun while they were on.
 */
#include <mpi.h>
#include <omig/interaction.h>

#include <stdio.h>
#include <unistd.h>

#define DB_US 20000

static struct omig_task exchange(struct omig_task t)
{
	struct omig_task answer;

	MPI_Send(&t, sizeof(t), MPI_BYTE, 1, 0, MPI_COMM_WORLD);
	omig_interaction_wait();
	MPI_Recv(&answer, sizeof(answer), MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	return answer;
}

static void ask(const char *end)
{
	unsigned long n = 0;
	struct omig_task t = { 0, 0, 0 };

	for (int i = 0; access(end, F_OK); i++) {
		char name[32];

		snprintf(name, sizeof(name), "request%d", i);
		omig_interaction_source(name);
		omig_interaction_begin_use("ws1");
		t = omig_interaction_fork(OMIG_BY_MESSAGE);
		n += t.task != 0;
		omig_interaction_join(exchange(t));
		omig_interaction_end_use("ws1");
		omig_interaction_sink();
		usleep(100000);
	}
	t.high = t.low = t.task = UINT64_MAX;
	MPI_Send(&t, sizeof(t), MPI_BYTE, 1, 0, MPI_COMM_WORLD);
	printf("%lu\n", n);
}

static void serve(void)
{
	for (;;) {
		struct omig_task t;

		MPI_Recv(&t, sizeof(t), MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (t.high == UINT64_MAX)
			return;
		omig_interaction_receive(t);
		omig_interaction_begin_use("db");
		usleep(DB_US);
		omig_interaction_end_use("db");
		t = omig_interaction_fork(OMIG_BY_MESSAGE);
		omig_interaction_sink();
		MPI_Send(&t, sizeof(t), MPI_BYTE, 0, 0, MPI_COMM_WORLD);
	}
}

int main(int argc, char **argv)
{
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank)
		serve();
	else
		ask(argv[1]);
	MPI_Finalize();
	return 0;
}
