/* SPDX-License-Identifier: Apache-2.0 */
/* plant: kernels whose ranks meet in messages. */
#include "plant.h"

#include <math.h>
#include <mpi.h>

enum { TAG = 7 };

static int left(const struct plant *p)
{
	return p->rank ? p->rank - 1 : MPI_PROC_NULL;
}

static int right(const struct plant *p)
{
	return p->rank + 1 < p->ranks ? p->rank + 1 : MPI_PROC_NULL;
}

/* An eager message, in which no time is lost. */
static void post(struct plant *p, int to)
{
	struct op *op;

	if (to == MPI_PROC_NULL)
		return;
	op = op_begin(p, OP_POST, to);
	MPI_Send(p->out, 1, MPI_INT, to, TAG, MPI_COMM_WORLD);
	op_end(op);
}

static void receive(struct plant *p, int from, int bytes)
{
	struct op *op;

	if (from == MPI_PROC_NULL)
		return;
	op = op_begin(p, OP_RECEIVE, from);
	MPI_Recv(p->in, bytes, MPI_BYTE, from, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	op_end(op);
}

/* Each with its neighbours in a line, by requests. */
void kernel_stencil(struct plant *p)
{
	MPI_Status status[4]; /* MPICH's header warns of arrays that are ignored */
	MPI_Request r[4];
	int side[2] = { left(p), right(p) };
	struct op *op;

	work_step(p);
	for (int i = 0; i < 2; i++)
		MPI_Irecv(&p->in[i], 1, MPI_INT, side[i], TAG, MPI_COMM_WORLD, &r[i]);
	for (int i = 0; i < 2; i++) {
		op = op_begin(p, OP_POST, side[i]);
		MPI_Isend(p->out, 1, MPI_INT, side[i], TAG, MPI_COMM_WORLD, &r[2 + i]);
		op_end(op);
	}
	op = op_begin(p, OP_RECEIVE, side[0]);
	op->peer2 = side[1];
	MPI_Waitall(4, r, status);
	op_end(op);
}

void kernel_ring(struct plant *p)
{
	work_step(p);
	post(p, (p->rank + 1) % p->ranks);
	receive(p, (p->rank + p->ranks - 1) % p->ranks, sizeof(int));
}

/* Large messages leave when the next rank receives them, so a late last rank delays all. */
void kernel_chain(struct plant *p)
{
	struct op *op;

	work_step(p);
	receive(p, left(p), p->bytes);
	if (right(p) == MPI_PROC_NULL)
		return;
	op = op_begin(p, OP_SEND, right(p));
	MPI_Send(p->out, p->bytes, MPI_BYTE, right(p), TAG, MPI_COMM_WORLD);
	op_end(op);
}

/* A sweep over blocks: each rank works on a block when the rank before it has done so. A step is a
 * sweep; the work of p->work is that of a block. All end together. */
void kernel_wavefront(struct plant *p)
{
	enum { HEALTHY = 50 }; /* blocks for each other rank: 2 % of the time is lost */
	int blocks = (int)lround(planted_own(p, (double)HEALTHY * (p->ranks - 1)));
	double in = 1, out;
	struct op *op;

	/* Of rank 0, since the plant may begin or end now. */
	op = op_begin(p, OP_FROM_ROOT, 0);
	MPI_Bcast(&blocks, 1, MPI_INT, 0, MPI_COMM_WORLD);
	op_end(op);
	for (int i = 0; i < (blocks > 1 ? blocks : 1); i++) {
		receive(p, left(p), sizeof(int));
		work_step(p);
		post(p, right(p));
	}
	op = op_begin(p, OP_NXN, -1);
	MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
	op_end(op);
}
