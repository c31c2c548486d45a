/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Layered models: any text is a model, or is refused with a reason. A small model is solved, or
 * there is a reason why not; a solution is finite.
 */
#include "model/layered/layered.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#define BYTES_MAX 2048
#define TASKS_MAX 4

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

static void solve(const struct layered *m)
{
	struct layered_result r;
	struct err e = { 0 };

	if (layered_solve(m, &r, &e)) {
		if (!e.text[0])
			abort();
	} else {
		for (size_t i = 0; i < m->ntask; i++)
			if (!isfinite(r.task_throughput[i]))
				abort();
	}
	layered_result_done(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct layered m;
	struct err e = { 0 };

	if (n > BYTES_MAX)
		return 0;
	if (layered_read_lqn((const char *)p, n, &m, &e)) {
		if (!e.text[0])
			abort();
		return 0;
	}
	if (m.ntask <= TASKS_MAX && m.nentry <= TASKS_MAX)
		solve(&m);
	layered_done(&m);
	return 0;
}
