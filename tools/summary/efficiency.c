/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/summary/efficiency.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct efficiency efficiency_of(const struct summary_section *of)
{
	struct efficiency e = { .ranks = of->n };
	double computed = 0, longest = 0, mpi = 0, time = 0;

	for (size_t i = 0; i < of->n; i++) {
		const struct summary_process *p = &of->process[i];
		double in_mpi = summary_mpi_seconds(p), computes = p->seconds - in_mpi;

		if (isnan(in_mpi))
			continue;
		e.known++;
		e.final += p->is_final;
		e.seconds = fmax(e.seconds, p->seconds);
		mpi += in_mpi;
		time += p->seconds;
		computed += computes;
		if (!e.most || computes > longest)
			e.most = p;
		longest = fmax(longest, computes);
	}
	e.mpi_share = time > 0 ? mpi / time : NAN;
	e.load_balance = longest > 0 ? computed / (double)e.known / longest : NAN;
	e.communication = e.seconds > 0 ? longest / e.seconds : NAN;
	e.parallel = e.load_balance * e.communication;
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
