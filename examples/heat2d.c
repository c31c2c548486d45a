/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heat2d: heat in a square plate, cut into stripes of rows, one a rank. In
 * each step the ranks swap their edge rows with their neighbours and agree on
 * how much still changes; now and then they meet at a barrier. With
 * --slow-rank one of them has more work than the others, which all of them
 * feel. Knows nothing of Omig.
 *
 *	heat2d [--seconds S] [--until FILE] [--slow-rank R]
 *
 * It ends after S seconds, or once there is FILE.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COLUMNS 512
#define ROWS 128 /* of each rank */
#define MEET 50 /* steps between two barriers */
#define WORK_US 10000 /* simulates work that needs no processor of this machine */
#define SLOW_US 40000

struct plate {
	double now[ROWS + 2][COLUMNS], next[ROWS + 2][COLUMNS];
	int up, down; /* neighbours, or MPI_PROC_NULL */
};

static void swap_edges(struct plate *p)
{
	MPI_Request r[4];
	MPI_Status done[4];

	MPI_Irecv(p->now[0], COLUMNS, MPI_DOUBLE, p->up, 1, MPI_COMM_WORLD, &r[0]);
	MPI_Irecv(p->now[ROWS + 1], COLUMNS, MPI_DOUBLE, p->down, 2, MPI_COMM_WORLD, &r[1]);
	MPI_Isend(p->now[ROWS], COLUMNS, MPI_DOUBLE, p->down, 1, MPI_COMM_WORLD, &r[2]);
	MPI_Isend(p->now[1], COLUMNS, MPI_DOUBLE, p->up, 2, MPI_COMM_WORLD, &r[3]);
	MPI_Waitall(4, r, done);
}

static double relax(struct plate *p)
{
	double change = 0, d;

	for (int y = 1; y <= ROWS; y++)
		for (int x = 1; x < COLUMNS - 1; x++) {
			p->next[y][x] = 0.25 * (p->now[y - 1][x] + p->now[y + 1][x] +
						p->now[y][x - 1] + p->now[y][x + 1]);
			d = p->next[y][x] - p->now[y][x];
			change += d * d;
		}
	for (int y = 1; y <= ROWS; y++)
		memcpy(p->now[y] + 1, p->next[y] + 1, (COLUMNS - 2) * sizeof(double));
	return change;
}

struct options {
	double seconds;
	const char *until; /* file; NULL = none */
	int slow; /* rank; -1 = none */
};

static struct options read_options(int argc, char **argv)
{
	struct options w = { 10, NULL, -1 };

	for (int i = 1; i + 1 < argc; i += 2) {
		if (strcmp(argv[i], "--seconds") == 0)
			w.seconds = strtod(argv[i + 1], NULL);
		else if (strcmp(argv[i], "--until") == 0)
			w.until = argv[i + 1];
		else if (strcmp(argv[i], "--slow-rank") == 0)
			w.slow = (int)strtol(argv[i + 1], NULL, 10);
	}
	return w;
}

static int is_over(const struct options *w, double start)
{
	return MPI_Wtime() - start >= w->seconds || (w->until && access(w->until, F_OK) == 0);
}

/* Runs steps until rank 0 reports the end. Returns their number. */
static int run(struct plate *p, const struct options *w, int rank, double *last_change)
{
	double start = MPI_Wtime(), change;
	int step, on = 1;

	for (step = 0; on; step++) {
		swap_edges(p);
		change = relax(p);
		usleep(rank == w->slow ? SLOW_US : WORK_US);
		MPI_Allreduce(&change, last_change, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		if (step % MEET == MEET - 1)
			MPI_Barrier(MPI_COMM_WORLD);
		on = rank != 0 || !is_over(w, start);
		MPI_Bcast(&on, 1, MPI_INT, 0, MPI_COMM_WORLD);
	}
	return step;
}

int main(int argc, char **argv)
{
	static struct plate plate;
	struct options w;
	double change = 0;
	int rank, size, steps;

	MPI_Init(&argc, &argv);
	w = read_options(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	plate.up = rank > 0 ? rank - 1 : MPI_PROC_NULL;
	plate.down = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
	for (int x = 0; x < COLUMNS && rank == 0; x++)
		plate.now[0][x] = 100;
	steps = run(&plate, &w, rank, &change);
	if (rank == 0)
		printf("%d steps on %d ranks, the last one changed %.6g\n", steps, size, change);
	MPI_Finalize();
	return 0;
}
