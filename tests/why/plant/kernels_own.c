/* SPDX-License-Identifier: Apache-2.0 */
/* plant: kernels with a plant of their own: a server, small messages, and files. */
#include "plant.h"

#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

enum { TAG_ASK = 1, TAG_ANSWER = 2, TAG_SMALL = 3, ROUNDS = 16, SMALL_BYTES = 96, CALIBRATE = 4 };

/* Rank 0 answers one request after the other; a round has ROUNDS requests of each client. */
static void serve(struct plant *p)
{
	const double healthy = 0.1 * p->work / (p->ranks - 1);

	for (int i = 0; i < ROUNDS * (p->ranks - 1); i++) {
		MPI_Status status;
		struct op *op = op_begin(p, OP_RECEIVE, -1);

		MPI_Recv(p->in, 1, MPI_INT, MPI_ANY_SOURCE, TAG_ASK, MPI_COMM_WORLD, &status);
		op_end(op);
		op->peer = status.MPI_SOURCE;
		work_for(p, planted_own(p, healthy), p->extra_by);
		op = op_begin(p, OP_POST, status.MPI_SOURCE);
		MPI_Send(p->out, 1, MPI_INT, status.MPI_SOURCE, TAG_ANSWER, MPI_COMM_WORLD);
		op_end(op);
	}
}

void kernel_server(struct plant *p)
{
	if (!p->rank) {
		serve(p);
		return;
	}
	for (int i = 0; i < ROUNDS; i++) {
		struct op *op;

		work_step(p);
		op = op_begin(p, OP_POST, 0);
		MPI_Send(p->out, 1, MPI_INT, 0, TAG_ASK, MPI_COMM_WORLD);
		op_end(op);
		op = op_begin(p, OP_RECEIVE, 0);
		MPI_Recv(p->in, 1, MPI_INT, 0, TAG_ANSWER, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		op_end(op);
	}
}

static void exchange(struct plant *p, int times)
{
	int with = p->rank ^ 1;

	for (int i = 0; i < times && with < p->ranks; i++)
		MPI_Sendrecv(p->out, SMALL_BYTES, MPI_BYTE, with, TAG_SMALL, p->in, SMALL_BYTES,
			     MPI_BYTE, with, TAG_SMALL, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* The even rank of a pair decides for both. */
static void agree(struct plant *p, int *times)
{
	int with = p->rank ^ 1;

	if (with >= p->ranks)
		return;
	if (p->rank % 2)
		MPI_Recv(times, 1, MPI_INT, with, TAG_ASK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	else
		MPI_Send(times, 1, MPI_INT, with, TAG_ASK, MPI_COMM_WORLD);
}

/* Pairs of ranks exchange messages for the extra time. The time of a message in earlier steps gives
 * their number. */
void kernel_small(struct plant *p)
{
	static double each;
	double seconds = planted_own(p, 0);
	int times = seconds > 0 && each > 0 ? (int)(seconds / each) : 0;
	struct op *op;

	if (seconds > 0 && times < CALIBRATE)
		times = CALIBRATE;
	work_step(p);
	op = op_begin(p, OP_SMALL, p->rank ^ 1);
	agree(p, &times);
	exchange(p, times);
	op_end(op);
	if (times)
		each = each > 0 ? 0.9 * each + 0.1 * (op->exit - op->enter) / times
				: (op->exit - op->enter) / times;
}

static MPI_File file;
static int is_open;

/* Each rank writes blocks of its own file to the disk, until the extra time has passed. */
void kernel_file(struct plant *p)
{
	double seconds = planted_own(p, 0), begin;

	if (!is_open) {
		char path[NAME_MAX_BYTES];

		snprintf(path, sizeof(path), "plant-%d-%d.tmp", (int)getpid(), p->rank);
		if (MPI_File_open(MPI_COMM_SELF, path,
				  MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
				  MPI_INFO_NULL, &file))
			fail("cannot be written", path);
		is_open = 1;
	}
	work_step(p);
	begin = now();
	while (now() - begin < seconds) {
		struct op *op = op_begin(p, OP_FILE, -1);

		MPI_File_write_at(file, 0, p->out, p->bytes, MPI_BYTE, MPI_STATUS_IGNORE);
		MPI_File_sync(file);
		op_end(op);
	}
}

void kernel_done(void)
{
	if (is_open)
		MPI_File_close(&file);
}
