/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stencil: heat in a square plate by a five-point stencil. The grid is cut into blocks of rows and
 * columns. The halo exchange uses MPI_Isend, MPI_Irecv and MPI_Waitall, the residual MPI_Allreduce.
 * The program records its MPI calls, for comparison (--report). It contains nothing of Omig.
 *
 *	mpirun -np 4 stencil --size 512 --steps 1000
 *
 *   --size N        grid of N x N cells (256)
 *   --steps N       maximum number of steps (500)
 *   --residual R    stop earlier when the largest change of a step is below R (0)
 *   --check N       compute the residual every N steps (10)
 *   --barrier       a barrier after each step
 *   --slow RANK     this rank does its work --factor times (4): an imbalance to find
 *   --pause MS      sleep after each step, for a program that runs long and lightly
 *   --report        each rank prints its number of calls of each kind,
 *                   and how many bytes it sent and received
 */
#include <getopt.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { UP, DOWN, LEFT, RIGHT, SIDES };

struct options {
	int size, steps, check, barrier, slow, factor, pause_ms, report;
	double residual;
};

/* This rank's calls of MPI; bytes of the data, without MPI's own. */
struct books {
	long isend, irecv, waitall, allreduce, barrier;
	long out, in; /* of the halo */
};

struct plate {
	MPI_Comm comm; /* Cartesian */
	int rank, ranks, side[SIDES]; /* neighbours, or MPI_PROC_NULL */
	int rows, cols; /* own cells, without the halo */
	double *now, *next; /* (rows + 2) x (cols + 2) */
	double *out[SIDES], *in[SIDES]; /* packed columns; rows go as they are */
	struct books books;
};

static double *cell(const struct plate *p, double *grid, int row, int col)
{
	return grid + (size_t)row * (size_t)(p->cols + 2) + (size_t)col;
}

static void *memory(size_t n)
{
	void *m = calloc(n, sizeof(double));

	if (!m) {
		fprintf(stderr, "stencil: out of memory\n");
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	return m;
}

/* Cells of `n` that the rank at place `at` of `parts` has. */
static int share(int n, int at, int parts)
{
	return n / parts + (at < n % parts);
}

static void plate_init(struct plate *p, int size)
{
	int dims[2] = { 0, 0 }, periods[2] = { 0, 0 }, at[2];

	MPI_Comm_size(MPI_COMM_WORLD, &p->ranks);
	MPI_Dims_create(p->ranks, 2, dims);
	MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &p->comm);
	MPI_Comm_rank(p->comm, &p->rank);
	MPI_Cart_coords(p->comm, p->rank, 2, at);
	MPI_Cart_shift(p->comm, 0, 1, &p->side[UP], &p->side[DOWN]);
	MPI_Cart_shift(p->comm, 1, 1, &p->side[LEFT], &p->side[RIGHT]);
	p->rows = share(size, at[0], dims[0]);
	p->cols = share(size, at[1], dims[1]);
	p->now = memory((size_t)(p->rows + 2) * (size_t)(p->cols + 2));
	p->next = memory((size_t)(p->rows + 2) * (size_t)(p->cols + 2));
	for (int s = 0; s < SIDES; s++) {
		p->out[s] = memory((size_t)(p->rows + p->cols));
		p->in[s] = memory((size_t)(p->rows + p->cols));
	}
	/* The upper edge is hot and stays so. */
	if (p->side[UP] == MPI_PROC_NULL)
		for (int c = 0; c < p->cols + 2; c++)
			*cell(p, p->now, 0, c) = *cell(p, p->next, 0, c) = 100;
}

static void plate_done(struct plate *p)
{
	for (int s = 0; s < SIDES; s++) {
		free(p->out[s]);
		free(p->in[s]);
	}
	free(p->now);
	free(p->next);
	MPI_Comm_free(&p->comm);
}

static int side_cells(const struct plate *p, int s)
{
	return s == UP || s == DOWN ? p->cols : p->rows;
}

/* Edge cell i of one side (halo: of the ring around). */
static double *edge(const struct plate *p, int s, int i, int halo)
{
	switch (s) {
	case UP:
		return cell(p, p->now, 1 - halo, i + 1);
	case DOWN:
		return cell(p, p->now, p->rows + halo, i + 1);
	case LEFT:
		return cell(p, p->now, i + 1, 1 - halo);
	default:
		return cell(p, p->now, i + 1, p->cols + halo);
	}
}

static void post(struct plate *p, int s, MPI_Request *recv, MPI_Request *send)
{
	int n = side_cells(p, s), there = p->side[s] != MPI_PROC_NULL;

	for (int i = 0; i < n; i++)
		p->out[s][i] = *edge(p, s, i, 0);
	MPI_Irecv(p->in[s], n, MPI_DOUBLE, p->side[s], s ^ 1, p->comm, recv);
	MPI_Isend(p->out[s], n, MPI_DOUBLE, p->side[s], s, p->comm, send);
	p->books.irecv++;
	p->books.isend++;
	p->books.in += there ? n * (long)sizeof(double) : 0;
	p->books.out += there ? n * (long)sizeof(double) : 0;
}

static void exchange(struct plate *p)
{
	MPI_Request r[2 * SIDES];

	for (int s = 0; s < SIDES; s++)
		post(p, s, &r[s], &r[SIDES + s]);
	MPI_Waitall(2 * SIDES, r, MPI_STATUSES_IGNORE);
	p->books.waitall++;
	for (int s = 0; s < SIDES; s++)
		if (p->side[s] != MPI_PROC_NULL)
			for (int i = 0; i < side_cells(p, s); i++)
				*edge(p, s, i, 1) = p->in[s][i];
}

/* Largest change of a cell. */
static double step(struct plate *p)
{
	double most = 0;

	for (int r = 1; r <= p->rows; r++)
		for (int c = 1; c <= p->cols; c++) {
			double v = 0.25 * (*cell(p, p->now, r - 1, c) + *cell(p, p->now, r + 1, c) +
					   *cell(p, p->now, r, c - 1) + *cell(p, p->now, r, c + 1));

			most = fmax(most, fabs(v - *cell(p, p->now, r, c)));
			*cell(p, p->next, r, c) = v;
		}
	return most;
}

static void turn(struct plate *p)
{
	double *old = p->now;

	p->now = p->next;
	p->next = old;
}

static void rest(int ms)
{
	struct timespec t = { ms / 1000, (long)(ms % 1000) * 1000000 };

	if (ms > 0)
		nanosleep(&t, NULL);
}

static double residual_of_all(struct plate *p, double mine)
{
	double all = 0;

	MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, p->comm);
	p->books.allreduce++;
	return all;
}

static int solve(struct plate *p, const struct options *o, double *residual)
{
	int times = p->rank == o->slow ? o->factor : 1, n;

	for (n = 0; n < o->steps; n++) {
		double mine = 0;

		exchange(p);
		for (int i = 0; i < times; i++)
			mine = step(p);
		turn(p);
		if (o->barrier) {
			MPI_Barrier(p->comm);
			p->books.barrier++;
		}
		rest(o->pause_ms);
		if ((n + 1) % o->check == 0 || n + 1 == o->steps) {
			*residual = residual_of_all(p, mine);
			if (*residual < o->residual)
				return n + 1;
		}
	}
	return n;
}

static void report(const struct plate *p)
{
	const struct books *b = &p->books;

	printf("report %d MPI_Isend %ld %ld MPI_Irecv %ld %ld MPI_Waitall %ld MPI_Allreduce %ld "
	       "MPI_Barrier %ld\n",
	       p->rank, b->isend, b->out, b->irecv, b->in, b->waitall, b->allreduce, b->barrier);
	fflush(stdout);
}

static int number(const char *text, int min)
{
	char *end;
	long v = strtol(text, &end, 10);

	if (*end || v < min || v > 1000000) {
		fprintf(stderr, "stencil: '%s' is not a number that fits\n", text);
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	return (int)v;
}

static void options_parse(struct options *o, int argc, char **argv)
{
	static const struct option table[] = {
		{ "size", 1, NULL, 's' },     { "steps", 1, NULL, 'n' },
		{ "residual", 1, NULL, 'r' }, { "check", 1, NULL, 'c' },
		{ "barrier", 0, NULL, 'b' },  { "slow", 1, NULL, 'w' },
		{ "factor", 1, NULL, 'f' },   { "pause", 1, NULL, 'p' },
		{ "report", 0, NULL, 'o' },   { NULL, 0, NULL, 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "", table, NULL)) >= 0)
		switch (c) {
		case 's':
			o->size = number(optarg, 8);
			break;
		case 'n':
			o->steps = number(optarg, 1);
			break;
		case 'r':
			o->residual = strtod(optarg, NULL);
			break;
		case 'c':
			o->check = number(optarg, 1);
			break;
		case 'b':
			o->barrier = 1;
			break;
		case 'w':
			o->slow = number(optarg, 0);
			break;
		case 'f':
			o->factor = number(optarg, 1);
			break;
		case 'p':
			o->pause_ms = number(optarg, 0);
			break;
		case 'o':
			o->report = 1;
			break;
		default:
			MPI_Abort(MPI_COMM_WORLD, 2);
		}
}

int main(int argc, char **argv)
{
	struct options o = { .size = 256, .steps = 500, .check = 10, .slow = -1, .factor = 4 };
	struct plate p = { 0 };
	double residual = 0;
	int steps;

	MPI_Init(&argc, &argv);
	options_parse(&o, argc, argv);
	plate_init(&p, o.size);
	steps = solve(&p, &o, &residual);
	if (p.rank == 0)
		printf("stencil: %d x %d, %d ranks, %d steps, residual %.6e\n", o.size, o.size,
		       p.ranks, steps, residual);
	if (o.report)
		report(&p);
	plate_done(&p);
	MPI_Finalize();
	return 0;
}
