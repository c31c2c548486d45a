/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/summary/efficiency.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool efficiency_add(struct efficiency_sum *sum, double seconds, double in_mpi)
{
	double computes = seconds - in_mpi;
	bool is_longest = !sum->known || computes > sum->longest;

	sum->known++;
	sum->seconds = fmax(sum->seconds, seconds);
	sum->mpi += in_mpi;
	sum->time += seconds;
	sum->computed += computes;
	sum->longest = fmax(sum->longest, computes);
	return is_longest;
}

void efficiency_close(struct efficiency *e, const struct efficiency_sum *sum)
{
	double mean = sum->computed / (double)sum->known;

	e->known = sum->known;
	e->seconds = sum->seconds;
	e->mpi_share = sum->time > 0 ? sum->mpi / sum->time : NAN;
	e->load_balance = sum->longest > 0 ? mean / sum->longest : NAN;
	e->communication = sum->seconds > 0 ? sum->longest / sum->seconds : NAN;
	e->parallel = e->load_balance * e->communication;
}

struct efficiency efficiency_of(const struct summary_section *of)
{
	struct efficiency e = { .ranks = of->n };
	struct efficiency_sum sum = { 0 };

	for (size_t i = 0; i < of->n; i++) {
		const struct summary_process *p = &of->process[i];
		double in_mpi = summary_mpi_seconds(p);

		if (isnan(in_mpi))
			continue;
		e.final += p->is_final;
		if (efficiency_add(&sum, p->seconds, in_mpi))
			e.most = p;
	}
	efficiency_close(&e, &sum);
	if (e.known < 2)
		e.most = NULL;
	return e;
}

static int by_seconds(const void *pa, const void *pb)
{
	const struct call_sum *a = pa, *b = pb;

	if (a->seconds != b->seconds)
		return a->seconds < b->seconds ? 1 : -1;
	if (a->count != b->count)
		return a->count < b->count ? 1 : -1;
	return strcmp(a->name->name, b->name->name);
}

static void add_call(struct call_sum *sum, const struct summary_process *p,
		     const struct summary_call *c)
{
	sum->count += c->count;
	sum->bytes_out += c->bytes_out;
	sum->bytes_in += c->bytes_in;
	sum->seconds += c->seconds;
	sum->ranks++;
	if (sum->most && c->seconds <= sum->most_seconds)
		return;
	sum->most = p;
	sum->most_seconds = c->seconds;
}

struct call_sum *efficiency_calls(const struct summary_section *of, size_t *n)
{
	struct call_sum *sum = of->nname ? calloc(of->nname, sizeof(*sum)) : NULL;

	*n = sum ? of->nname : 0;
	for (size_t i = 0; i < *n; i++)
		sum[i].name = &of->name[i];
	for (size_t i = 0; sum && i < of->n; i++)
		for (size_t k = 0; k < of->process[i].ncall; k++)
			add_call(&sum[of->process[i].call[k].of], &of->process[i],
				 &of->process[i].call[k]);
	if (*n > 1)
		qsort(sum, *n, sizeof(*sum), by_seconds);
	return sum;
}
