/* SPDX-License-Identifier: Apache-2.0 */
#include "why/symptom.h"

#include <math.h>

uint32_t why_covered(const struct why_block *b)
{
	uint32_t n = 0;

	for (size_t i = 0; i < b->nrank; i++)
		n += b->rank[i].seconds > 0;
	return n;
}

/* The share of its time that a rank spends in MPI calls; NaN if it is not known. */
static double share_in_mpi(const struct why_rank *r)
{
	double sum = 0;

	if (!(r->seconds > 0))
		return NAN;
	for (size_t i = 0; i < WHY_CLASSES; i++)
		sum += r->delay[i];
	return fmin(sum / r->seconds, 1);
}

static struct why_loss loss_in_mpi(const struct why_block *b)
{
	double sum = 0, known = 0, of = (double)b->world_size;

	for (size_t i = 0; i < b->nrank; i++) {
		double share = share_in_mpi(&b->rank[i]);

		if (isnan(share))
			continue;
		sum += share;
		known++;
	}
	if (!(known > 0))
		return (struct why_loss){ NAN, NAN, "times in MPI calls are not known" };
	return (struct why_loss){ .low = sum / of, .high = (sum + of - known) / of };
}

struct why_loss why_loss(const struct why_block *b, enum why_id id)
{
	if (id == WHY_W)
		return loss_in_mpi(b);
	return (struct why_loss){ NAN, NAN, "not tested by this version" };
}
