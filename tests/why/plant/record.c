/* SPDX-License-Identifier: Apache-2.0 */
/* plant: a record of each call. */
#include "plant.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { OPS_FIRST = 4096, OPS_MAX = 1 << 22 };

void fail(const char *what, const char *of)
{
	fprintf(stderr, "plant: %s: %s\n", of, what);
	MPI_Abort(MPI_COMM_WORLD, 2);
}

struct op *op_begin(struct plant *p, enum op_kind kind, int peer)
{
	struct op *op;

	if (p->nop == p->op_cap) {
		p->op_cap = p->op_cap ? 2 * p->op_cap : OPS_FIRST;
		if (p->op_cap > OPS_MAX)
			fail("too many calls: take longer steps", p->kernel->name);
		p->op = realloc(p->op, p->op_cap * sizeof(*p->op));
		if (!p->op)
			fail("no memory", p->kernel->name);
	}
	op = &p->op[p->nop++];
	*op = (struct op){ .kind = (int32_t)kind, .peer = peer, .peer2 = -1 };
	op->enter = now();
	return op;
}

void op_end(struct op *op)
{
	op->exit = now();
}
