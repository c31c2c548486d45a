/* SPDX-License-Identifier: Apache-2.0 */
/* plant: kernels whose ranks meet in collectives, and the table of all. */
#include "plant.h"

#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void barrier(struct plant *p)
{
	struct op *op;

	work_step(p);
	op = op_begin(p, OP_BARRIER, -1);
	MPI_Barrier(MPI_COMM_WORLD);
	op_end(op);
}

/* As the method of conjugate gradients, which forms two dot products in an iteration. */
static void allreduce(struct plant *p)
{
	double in[2] = { 1, p->rank }, out[2];
	struct op *op;

	work_step(p);
	op = op_begin(p, OP_NXN, -1);
	MPI_Allreduce(in, out, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	op_end(op);
}

/* As a transform of Fourier, which transposes. */
static void alltoall(struct plant *p)
{
	int n = p->bytes / p->ranks;
	struct op *op;

	work_step(p);
	op = op_begin(p, OP_NXN, -1);
	MPI_Alltoall(p->out, n, MPI_BYTE, p->in, n, MPI_BYTE, MPI_COMM_WORLD);
	op_end(op);
}

static void bcast(struct plant *p)
{
	struct op *op;

	work_step(p);
	op = op_begin(p, OP_FROM_ROOT, 0);
	MPI_Bcast(p->out, 1, MPI_INT, 0, MPI_COMM_WORLD);
	op_end(op);
}

static void reduce(struct plant *p)
{
	struct op *op;

	work_step(p);
	op = op_begin(p, OP_TO_ROOT, 0);
	MPI_Reduce(p->out, p->in, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
	op_end(op);
}

#ifdef PLANT_FORTRAN
static void fortran(struct plant *p)
{
	double value = 1;
	struct op *op;

	work_step(p);
	op = op_begin(p, OP_NXN, -1);
	plant_fortran_allreduce(&value);
	op_end(op);
}
#endif

static const struct kernel kernels[] = {
	{ "barrier", barrier, "W5" },
	{ "allreduce", allreduce, "W5" },
	{ "alltoall", alltoall, "W5" },
	{ "bcast", bcast, "W5" },
	{ "reduce", reduce, "W5" },
	{ "stencil", kernel_stencil, "W5" },
	{ "ring", kernel_ring, "W5" },
	{ "chain", kernel_chain, "W5" },
	{ "wavefront", kernel_wavefront, "W8" },
	{ "server", kernel_server, "W11" },
	{ "small", kernel_small, "W5" },
	{ "file", kernel_file, "W5" },
#ifdef PLANT_FORTRAN
	{ "fortran", fortran, "W5" },
#endif
};

const struct kernel *kernel_find(const char *name)
{
	for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++)
		if (!strcmp(kernels[i].name, name))
			return &kernels[i];
	return NULL;
}

void kernel_print(void)
{
	for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++)
		printf(" %s", kernels[i].name);
	printf("\n");
}

/* The ranks ask every second, because ranks that are ahead would wait in the broadcast. Steps last
 * equally long, so all ranks know the steps in which they ask. */
int kernel_is_over(struct plant *p)
{
	static int every = 1, next;
	int state[2] = { 0, 1 };
	struct op *op;

	if (p->step < next)
		return 0;
	if (!p->rank) {
		double t = now() - p->begin;

		state[0] = t >= p->seconds || (p->enough && !access(p->enough, F_OK));
		state[1] = p->step ? (int)(p->step / t) : 1;
	}
	op = op_begin(p, OP_FROM_ROOT, 0);
	MPI_Bcast(state, 2, MPI_INT, 0, MPI_COMM_WORLD);
	op_end(op);
	every = state[1] > 1 ? state[1] : 1;
	next = p->step + every;
	return state[0];
}
